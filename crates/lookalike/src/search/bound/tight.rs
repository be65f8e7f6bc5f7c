//! A sharper bound: rows of a class share their loss, so the lower bounds of rows can be raised
//! beyond their best boxes.
//!
//! A release is a partition of the rows into equivalence classes of at least k. Give every row t a
//! dual value y(t), such that the sum of y over any class is at most the loss of the class: its
//! rows times the loss of their box. Then no release loses less than the sum of all y. (This is the
//! dual of the linear program of set partitioning, and every such y is a feasible solution of it.)
//! It is enough that in each cell (`cell_scan.rs`) the k greatest y add up to at most k times its
//! loss: a class is within a cell that loses as much, and of a larger class the mean of y is no
//! greater than that of its k greatest.
//!
//! # How it works
//! One visit of the cells tells how much each y must fall, and how much it may rise. Multiplied by
//! their scales, if those are below 1, any y are feasible: so there is a bound after every visit.
//!
//! 1. *Start*: the square root of the least loss of each row, the visit with y = 1 tells it.
//! 2. *Ascent*: y is multiplied by the root of its scale, until that adds next to nothing. The end
//!    is a feasible y that no single step raises, not the best.
//! 3. *Subgradient steps* on the cells that are nearly tight (a working set): a violated cell draws
//!    the rows that it would take; rows that no cell draws rise, those that several draw fall. After
//!    some steps a visit finds the bound and the cells that have become violated.
//!
//! Lines are looked at in few bins first. The y of bins are feasible without them, so the finer
//! space begins where the coarse one ended.
//!
//! # Guarantee
//! Further rules only remove releases, and with several stages the classes of the last one have k
//! rows on all attributes. A rule on the share of one sensitive column is part of the bound. A
//! suppressed row is in no class and loses the most that a row can lose, so where rows may be
//! suppressed no dual value is greater than that; the rows that stay are in classes of k rows all
//! the same. The bound does not hold for rings: their rows publish boxes of k rows that are no
//! classes, and k such boxes may share rows. A global recoding that publishes sets of values may
//! lose less too.
//!
//! # Complexity
//! A visit looks at every cell whose k greatest values exceed a share of its loss, in the worst case
//! the product of the ranges of all attributes.
//!
//! # Reference
//! Ours. Subgradient steps: Held, Wolfe, Crowder, Mathematical Programming 6 (1974).

use rayon::prelude::*;

use crate::domain::penalty::Penalty;
use crate::problem::Problem;
use crate::problem::bound::{Bound, BoundKind};
use crate::search::budget::Budget;

use super::bound;
use super::cell_scan::{CellSpace, TightCell, scan, total};
use super::space::{cell_space, resolutions};

/// The factor of the roots of the least losses at the start.
const START: f64 = 1.3;

/// Groups from which on the start is found for nearly all of them (all but one in so many), not for
/// all.
const LARGE: [(usize, usize); 2] = [(2_000, 50), (100_000, 10)];

/// Visits of an ascent at most, and the gain of a visit below which it ends.
const ASCENTS: usize = 30;
const LEAST_ASCENT: f64 = 0.002;

/// Cells up to this ratio are visited in the ascent: a y rises by no more than the root of it. The
/// second one is for spaces that begin where a coarser one ended.
const ASCENT_LIMIT: f64 = 1.25;
const NEXT_ASCENT_LIMIT: f64 = 1.06;

/// Cells up to this ratio are in the first working set, and join it later.
const WORKING_SET: f64 = 1.04;
const JOINING: f64 = 1.01;

/// Rounds of subgradient steps at most, in coarse spaces too, and the steps between two visits.
const ROUNDS: usize = 100;
const COARSE_ROUNDS: usize = 10;
const STEPS: usize = 50;

/// The gap that a step of full length would close, as a share of the bound; the factor of the
/// length after a round without a gain of `GAIN`; the length at which the rounds end.
const STEP_GAP: f64 = 0.004;
const SHORTER: f64 = 0.8;
const GAIN: f64 = 5e-4;
const SHORTEST: f64 = 0.01;

/// The part of the direction of a step that comes from the steps before.
const INERTIA: f64 = 0.7;

/// Parts of a working set that threads take: a fixed number, so that sums do not depend on them.
const SET_PARTS: usize = 8;

/// A lower bound on the weighted quality penalty of a homogeneous release: sharper than
/// [`bound`](super::bound) as a rule, by a good deal. Rings may lose less: their boxes are no
/// equivalence classes. When the budget is spent it is the value that was reached until then.
///
/// # Example
/// The best boxes of three rows span 4 years, that of the last row 6: the plain bound is 4 + 4 + 4
/// + 6 years of a span of 8. But four rows make one class of at least three, which loses 4 * 8 of
/// 8.
/// ```
/// use lookalike::{BoundKind, Budget, Problem, Request, bound, table, table::Treatment, tight};
///
/// # fn main() -> lookalike::Result<()> {
/// let request = Request::parse("k = 3\ncolumns.age.role = 'quasi'")?;
/// let source = table::open_text("age\n34\n36\n38\n42\n".into(), "ages".as_ref())?;
/// let roles = request.roles(source.names())?;
/// let problem = Problem::new(&source.read(&[Treatment::Code])?, &roles, &request)?;
/// let plain = bound(&problem, 1, &Budget::unlimited());
/// let tight = tight(&problem, 1, &Budget::unlimited());
/// assert_eq!(tight.kind, BoundKind::Tight);
/// assert!(tight.value > plain.value && tight.value <= 4.0);
/// # Ok(())
/// # }
/// ```
pub fn tight(problem: &Problem, seed: u64, budget: &Budget) -> Bound {
    match dual_values(problem, budget) {
        Some((_, value)) if value > 0.0 => Bound { value, kind: BoundKind::Tight },
        _ => bound(problem, seed, budget),
    }
}

/// Feasible dual values by groups of the finest space that was finished, and their sum; none where
/// the cells of the problem cannot be listed.
pub(super) fn dual_values(problem: &Problem, budget: &Budget) -> Option<(Vec<f64>, f64)> {
    let attributes: Vec<usize> = (0..problem.attributes().len()).collect();
    let penalty = Penalty::new(problem.attributes(), &attributes);
    let cap = if problem.allowance() > 0 { penalty.most() } else { f64::INFINITY };
    let mut best: Option<Best> = None;
    let resolutions = resolutions(problem, &penalty);
    for (at, &bins) in resolutions.iter().enumerate() {
        let space = cell_space(problem, &penalty, bins)?;
        let unit = penalty.most() / crate::codes::real(penalty.width() as u64);
        let mut ascent =
            Ascent { space: &space, cap, limit: ASCENT_LIMIT, budget, best: Best::default() };
        let start = match best.take() {
            Some(before) => {
                ascent.limit = NEXT_ASCENT_LIMIT;
                ascent.best = before;
                Some(ascent.best.feasible.clone())
            }
            None => ascent.least_losses(penalty.most()).map(|least| {
                ascent.take(&least, |_| 1.0);
                least.iter().map(|least| (START * (least * unit).sqrt()).min(cap)).collect()
            }),
        };
        let is_finest = at + 1 == resolutions.len();
        if let Some(start) = start {
            ascent.run(start, if is_finest { ROUNDS } else { COARSE_ROUNDS });
        }
        best = Some(ascent.best);
        if budget.is_spent() {
            break;
        }
    }
    best.map(|best| (best.feasible, best.value))
}

/// The best bound so far.
#[derive(Clone, Debug, Default)]
struct Best {
    value: f64,
    /// Dual values, perhaps not feasible, and what their scales make of them.
    duals: Vec<f64>,
    feasible: Vec<f64>,
}

struct Ascent<'a> {
    space: &'a CellSpace,
    /// No dual value is greater.
    cap: f64,
    /// Cells up to this ratio are visited in the ascent.
    limit: f64,
    budget: &'a Budget,
    best: Best,
}

impl Ascent<'_> {
    /// The least loss of a row of each group: with y = 1 the ratio of a cell is its loss.
    fn least_losses(&self, most: f64) -> Option<Vec<f64>> {
        let ones = vec![1.0; self.space.rows.len()];
        let mut limit = most / 16.0;
        loop {
            let found = scan(self.space, &ones, limit, 0.0, self.budget)?.scale;
            let open = found.iter().filter(|&&loss| loss >= limit).count();
            // In a large table a few rows far from all others keep the limit as their bound.
            let large = LARGE.iter().rev().find(|&&(groups, _)| found.len() > groups);
            let is_enough = large
                .is_some_and(|(_, one_in)| open * one_in <= found.len() || limit >= most / 4.0);
            if open == 0 || limit >= most || is_enough {
                return Some(found);
            }
            limit *= 2.0;
        }
    }

    /// Keeps feasible dual values if their sum is the greatest; returns the sum.
    fn take(&mut self, duals: &[f64], scale: impl Fn(usize) -> f64) -> f64 {
        let feasible: Vec<f64> =
            duals.iter().enumerate().map(|(at, dual)| dual * scale(at).min(1.0)).collect();
        let value = total(self.space, feasible.iter().copied());
        if value.is_finite() && (value > self.best.value || self.best.feasible.is_empty()) {
            self.best = Best { value, duals: duals.to_vec(), feasible };
        }
        value
    }

    fn run(&mut self, start: Vec<f64>, rounds: usize) {
        let Some(duals) = self.ascend(start, ASCENTS) else { return };
        if self.improve(duals, rounds).is_some() {
            let best = self.best.duals.clone();
            self.ascend(best, 4);
        }
    }

    /// Multiplies by the roots of scales; none when the budget is spent.
    fn ascend(&mut self, mut duals: Vec<f64>, visits: usize) -> Option<Vec<f64>> {
        let mut before = 0.0;
        for _ in 0..visits {
            let scale = scan(self.space, &duals, self.limit, 0.0, self.budget)?.scale;
            let value = self.take(&duals, |at| scale[at]);
            if value < before * (1.0 + LEAST_ASCENT) {
                break;
            }
            before = value;
            for (dual, scale) in duals.iter_mut().zip(&scale) {
                *dual = (*dual * scale.sqrt()).min(self.cap);
            }
        }
        Some(self.best.feasible.clone())
    }

    /// Subgradient steps, round after round; none when the budget is spent.
    fn improve(&mut self, mut duals: Vec<f64>, rounds: usize) -> Option<()> {
        let mut set = scan(self.space, &duals, WORKING_SET, WORKING_SET, self.budget)?.cells;
        let mut direction = vec![0.0; duals.len()];
        let mut length = 1.0;
        for _ in 0..rounds {
            for _ in 0..STEPS {
                if self.budget.is_spent() {
                    return None;
                }
                let gap = length * STEP_GAP * self.best.value;
                step(self.space, &set, self.cap, gap, &mut duals, &mut direction);
            }
            let found = scan(self.space, &duals, JOINING, JOINING, self.budget)?;
            let before = self.best.value;
            let value = self.take(&duals, |at| found.scale[at]);
            set.extend(found.cells);
            without_copies(&mut set);
            if value > before * (1.0 + GAIN) {
                continue;
            }
            length *= SHORTER;
            if length < SHORTEST {
                break;
            }
            if value < before * 0.995 {
                duals.copy_from_slice(&self.best.duals);
                direction.fill(0.0);
            }
        }
        Some(())
    }
}

/// One step along the rows that no violated cell draws, against those that several draw; long
/// enough to close a gap if the direction were right.
fn step(
    space: &CellSpace,
    set: &[TightCell],
    cap: f64,
    gap: f64,
    duals: &mut [f64],
    direction: &mut [f64],
) {
    let part = set.len().div_ceil(SET_PARTS).max(1);
    let drawn: Vec<Vec<f64>> =
        set.par_chunks(part).map(|cells| drawn_rows(space, cells, duals)).collect();
    let mut norm = 0.0;
    for (at, direction) in direction.iter_mut().enumerate() {
        let taken: f64 = drawn.iter().map(|part| part[at]).sum();
        let gradient = 1.0 - taken / space.rows[at];
        *direction = INERTIA * *direction + (1.0 - INERTIA) * gradient;
        norm += space.rows[at] * *direction * *direction;
    }
    // Where all rows are drawn once the direction vanishes: no step is longer than the mean value.
    let mean = total(space, duals.iter().copied()) / space.rows.iter().sum::<f64>();
    let length = (gap / norm.max(f64::MIN_POSITIVE)).min(mean);
    for (dual, direction) in duals.iter_mut().zip(direction) {
        *dual = (*dual + length * *direction).clamp(0.0, cap);
    }
}

/// The rows of each group that violated cells draw: those whose dual value is above the loss of the
/// cell, and the next ones up to k.
fn drawn_rows(space: &CellSpace, cells: &[TightCell], duals: &[f64]) -> Vec<f64> {
    let mut drawn = vec![0.0; duals.len()];
    let mut list: Vec<u32> = Vec::new();
    let mut taken: Vec<(usize, f64)> = Vec::new();
    let values = space.shares.as_ref().map_or(0, |shares| shares.values);
    let mut of_value = vec![0.0; values];
    for cell in cells {
        let dual = |group: u32| duals[group as usize];
        if cell.groups.iter().all(|&group| dual(group) <= cell.loss) {
            continue;
        }
        list.clear();
        list.extend_from_slice(&cell.groups);
        list.sort_unstable_by(|&one, &other| {
            dual(other).total_cmp(&dual(one)).then(one.cmp(&other))
        });
        let (mut rows, mut sum) = (0.0, 0.0);
        taken.clear();
        for &group in &list {
            let group = group as usize;
            let gain = duals[group] - cell.loss;
            let room = if gain > 0.0 && values == 0 { f64::INFINITY } else { space.k - rows };
            let mut own = space.rows[group].min(room);
            if let Some(shares) = &space.shares
                && let Some(value) = shares.value[group]
            {
                own = own.min(shares.most - of_value[value as usize]);
                of_value[value as usize] += own;
            }
            if own > 0.0 {
                (rows, sum) = (rows + own, sum + own * gain);
                taken.push((group, own));
            } else if room <= 0.0 {
                break;
            }
        }
        of_value.fill(0.0);
        if sum > 0.0 {
            taken.iter().for_each(|&(group, rows)| drawn[group] += rows);
        }
    }
    drawn
}

/// Removes cells that are in the set already: equal in loss, number, least and sum of their groups.
/// A cell that is lost by mistake only costs guidance.
fn without_copies(set: &mut Vec<TightCell>) {
    let key = |cell: &TightCell| {
        let sum: u64 = cell.groups.iter().map(|&group| u64::from(group)).sum();
        (cell.loss.to_bits(), cell.groups.len(), cell.groups.iter().min().copied(), sum)
    };
    set.sort_by_cached_key(key);
    set.dedup_by_key(|cell| key(cell));
}
