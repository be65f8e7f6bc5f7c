//! The lower bounds of all rows, by groups of equal rows, and their sum.

use rayon::prelude::*;

use crate::codes::{CodeRange, real};
use crate::domain::penalty::Penalty;
use crate::problem::Problem;
use crate::problem::bound::{Bound, BoundKind};
use crate::rng::Rng;
use crate::search::boxes::Boxes;
use crate::search::budget::Budget;

use super::index::Index;
use super::least_box::{LeastBox, LeastBoxSearch, LossSpace};

/// Groups in the first batch. Each batch is twice as large as the one before: the first boxes are
/// to be known early, because searches of one batch do not see each other's.
const FIRST_BATCH: usize = 32;

/// Groups in a batch at most. Greater: less waiting for the slowest search of a batch, fewer boxes
/// known to later searches.
const LARGEST_BATCH: usize = 1024;

/// Standard deviations on each side of an estimate: 95 of 100 cases of a normal distribution.
const DEVIATIONS: f64 = 1.96;

/// The lower bounds of the rows of a table, by groups of rows with equal quasi-identifiers.
#[derive(Clone, Debug)]
pub(super) struct RowBounds {
    /// The rows of each group.
    pub(super) rows: Vec<u64>,
    /// The lower bound on the loss of a row of each group.
    pub(super) least: Vec<f64>,
    /// How good each lower bound is.
    pub(super) quality: Vec<BoundQuality>,
    /// For each group the best box with k rows that is known.
    pub(super) box_of: Vec<u32>,
    /// These boxes; the first contains all rows.
    pub(super) boxes: Vec<Vec<CodeRange>>,
    /// The groups with fewer than k rows, in the order of their searches.
    pub(super) order: Vec<u32>,
}

/// How good the lower bound of a group is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BoundQuality {
    /// There was no search: the lower bound is 0.
    Unsearched,
    /// The search gave up: the best box may lose more.
    Weaker,
    /// Its box loses just the lower bound.
    Exact,
}

/// The lower bound of every row; none when the budget was spent before any search.
pub(super) fn row_bounds(
    problem: &Problem,
    seed: u64,
    patience: u64,
    budget: &Budget,
) -> Option<RowBounds> {
    if budget.is_spent() {
        return None;
    }
    let chosen: Vec<usize> = (0..problem.attributes().len()).collect();
    let penalty = Penalty::new(problem.attributes(), &chosen);
    let boxes = groups(problem, &penalty);
    let index = Index::build(&boxes, budget)?;
    let whole = box_of_all(&boxes);
    let most = penalty.of_box(&whole);
    let space = LossSpace { boxes: &boxes, index: &index, k: problem.k(), most, patience };
    let mut known = vec![most; boxes.len()];
    let mut bounds = RowBounds::start(&boxes, whole, space.k, &mut known);
    Rng::new(seed).shuffle(&mut bounds.order);
    let (mut done, mut size) = (0, FIRST_BATCH);
    while done < bounds.order.len() {
        let batch = &bounds.order[done..][..size.min(bounds.order.len() - done)];
        // Boxes that are found meanwhile are not used in the same batch: the result must not
        // depend on which search runs first.
        let found: Option<Vec<_>> = batch
            .par_iter()
            .map_init(LeastBoxSearch::default, |search, &group| {
                (!budget.is_spent())
                    .then(|| (group, search.run(&space, group, known[group as usize])))
            })
            .collect();
        // A batch that was cut short is no random sample: its easy rows are done.
        let Some(found) = found else { break };
        done += found.len();
        size = (size * 2).min(LARGEST_BATCH);
        for (group, found) in found {
            bounds.set(group, found, &mut known);
        }
    }
    Some(bounds)
}

/// The smallest box around all groups.
fn box_of_all(boxes: &Boxes) -> Vec<CodeRange> {
    let mut whole = boxes.ranges(0).to_vec();
    for group in (0u32..).take(boxes.len()) {
        for (range, other) in whole.iter_mut().zip(boxes.ranges(group)) {
            *range = range.join(*other);
        }
    }
    whole
}

impl RowBounds {
    /// The bounds before any search: groups with at least k rows are boxes by themselves. `known`
    /// is the loss of each group's best known box.
    fn start(boxes: &Boxes, whole: Vec<CodeRange>, k: u64, known: &mut [f64]) -> RowBounds {
        let all = (0u32..).take(boxes.len());
        let mut bounds = RowBounds {
            rows: all.clone().map(|group| boxes.rows(group)).collect(),
            least: vec![0.0; boxes.len()],
            quality: vec![BoundQuality::Unsearched; boxes.len()],
            box_of: vec![0; boxes.len()],
            boxes: vec![whole],
            order: Vec::new(),
        };
        for group in all {
            if boxes.rows(group) < k {
                bounds.order.push(group);
                continue;
            }
            bounds.least[group as usize] = boxes.own(group);
            known[group as usize] = boxes.own(group);
            bounds.quality[group as usize] = BoundQuality::Exact;
            bounds.box_of[group as usize] = bounds.add_box(boxes.ranges(group).to_vec());
        }
        bounds
    }

    /// Takes the result of a search, and its box for all groups inside.
    fn set(&mut self, group: u32, found: LeastBox, known: &mut [f64]) {
        self.least[group as usize] = found.least;
        self.quality[group as usize] =
            if found.is_exact { BoundQuality::Exact } else { BoundQuality::Weaker };
        if let Some(best) = found.best {
            let place = self.add_box(best.ranges);
            for inside in best.groups {
                if best.loss < known[inside as usize] {
                    known[inside as usize] = best.loss;
                    self.box_of[inside as usize] = place;
                }
            }
        }
    }

    fn add_box(&mut self, ranges: Vec<CodeRange>) -> u32 {
        self.boxes.push(ranges);
        u32::try_from(self.boxes.len() - 1).expect("there are fewer boxes than rows")
    }

    /// The lower bound on the loss of all rows.
    pub(super) fn sum(&self) -> Bound {
        let total_loss = |group: usize| real(self.rows[group]) * self.least[group];
        // Never above the true sum, however it was rounded.
        let value = (0..self.rows.len()).map(total_loss).sum::<f64>()
            * (1.0 - 2.0 * real(self.rows.len() as u64) * f64::EPSILON);
        let rows_with = |quality: BoundQuality| -> u64 {
            self.rows
                .iter()
                .zip(&self.quality)
                .filter(|(_, other)| **other == quality)
                .map(|(rows, _)| rows)
                .sum()
        };
        let sample: Vec<u32> = self
            .order
            .iter()
            .copied()
            .take_while(|&group| self.quality[group as usize] != BoundQuality::Unsearched)
            .collect();
        let kind = match (rows_with(BoundQuality::Unsearched), rows_with(BoundQuality::Weaker)) {
            (0, 0) => BoundKind::Exact,
            (0, rows) => BoundKind::Weaker { rows },
            (rows, _) if sample.len() < 2 => BoundKind::Weaker { rows },
            _ => return self.estimate(&sample, value),
        };
        Bound { value, kind }
    }

    /// An estimate of the sum of all rows from a random sample of the groups and the sum of all
    /// rows that are done.
    fn estimate(&self, sample: &[u32], so_far: f64) -> Bound {
        let losses = || {
            sample.iter().map(|&group| real(self.rows[group as usize]) * self.least[group as usize])
        };
        let (drawn, all) = (real(sample.len() as u64), real(self.order.len() as u64));
        let mean = losses().sum::<f64>() / drawn;
        let variance = losses().map(|loss| (loss - mean).powi(2)).sum::<f64>() / (drawn - 1.0);
        // Drawn without replacement: nothing is uncertain when all are drawn.
        let off = DEVIATIONS * all * (variance / drawn * (1.0 - drawn / all)).sqrt();
        let value = so_far + (all - drawn) * mean;
        let rows = sample.iter().map(|&group| self.rows[group as usize]).sum();
        Bound {
            value,
            kind: BoundKind::Estimate {
                sample: rows,
                low: (value - off).max(so_far),
                high: value + off,
            },
        }
    }
}

/// Rows with equal quasi-identifiers as groups. Tuples are sorted by quasi-identifiers, so those
/// that differ in sensitive values alone follow each other.
pub(super) fn groups<'a>(problem: &Problem, penalty: &'a Penalty) -> Boxes<'a> {
    let width = penalty.width();
    let (mut ranges, mut rows) = (Vec::<CodeRange>::new(), Vec::<u64>::new());
    for tuple in (0u32..).take(problem.tuples()) {
        let point = (0..width).map(|at| CodeRange::one(problem.code(at, tuple)));
        if !rows.is_empty() && ranges[ranges.len() - width..].iter().copied().eq(point.clone()) {
            *rows.last_mut().expect("not empty") += u64::from(problem.count(tuple));
        } else {
            ranges.extend(point);
            rows.push(u64::from(problem.count(tuple)));
        }
    }
    Boxes::of(penalty, ranges, rows.into_iter())
}
