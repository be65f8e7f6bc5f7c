//! How low the certainty penalty of a release can be at all: what every row pays at least, added
//! up.
//!
//! In a k-anonymous release a row shows a box (a range on every attribute) that has the row itself
//! and at least k rows of the table. So it pays no less than the cheapest such box:
//!
//! ```text
//! B(k) = sum over rows t of  min { penalty of a box : t in the box, at least k rows in the box }
//! ```
//!
//! That holds whatever else is asked for. Further rules (on sensitive values, on shares) only take
//! releases away. With rules on several column sets, a class of the last stage shows all attributes
//! and has k rows, and what earlier stages left wider only costs more. A row that is left out pays
//! for showing nothing, as much as the dearest box; the others have k rows of the table around them
//! all the same. Rings too show boxes of at least k rows. Only a global recoding that shows sets of
//! values, which are no ranges, may be cheaper.
//!
//! Finding the best release is hard because boxes must be disjoint sets of rows; the bound lets
//! them overlap, and so it falls into one search a row (`search.rs`). Rows are taken in a random
//! order, in batches. A box that was found for one row is no less a box for every row in it, so
//! later searches begin with something to beat. When the time is spent before all rows are done,
//! those that are done are a random sample of all, and the sum is estimated.

mod chains;
mod index;
mod plane;
mod reach;
mod search;
mod slack;
mod sweep;
#[cfg(test)]
mod tests;
mod tight;
mod tops;

use rayon::prelude::*;

use crate::codes::{CodeRange, real};
use crate::domain::penalty::Penalty;
use crate::problem::Problem;
use crate::problem::bound::{Bound, BoundKind};
use crate::rng::Rng;
use crate::search::boxes::Boxes;
use crate::search::budget::Budget;

use index::Index;
use search::{Ground, Search};

pub use tight::tight;

/// What the weighted certainty penalty of a release cannot go below, for the greatest k asked for
/// on all quasi-identifiers together; it holds under every other rule, in several stages and with
/// rows left out too (see the [module](self)). Work goes on until it is done or the budget is
/// spent; the seed decides which rows are in the sample if it is spent too soon. Not spent, the
/// value depends on the problem and the seed alone, and on the seed only where searches are given
/// up.
pub fn bound(problem: &Problem, seed: u64, budget: &Budget) -> Bound {
    let nothing = Bound { value: 0.0, kind: BoundKind::Weaker { rows: problem.row_count() } };
    floors(problem, seed, PATIENCE, budget).map_or(nothing, |floors| floors.sum())
}

/// After so many looks at a row, the search for one row's box is given up.
const PATIENCE: u64 = 2_000_000;

/// How many groups are in the first batch, and in a batch at most: each is twice the one before.
const BATCHES: (usize, usize) = (32, 1024);

/// What the rows of a table pay at least, by groups of rows with equal quasi-identifiers.
#[derive(Debug)]
pub(crate) struct Floors {
    /// How many rows each group has.
    pub(crate) rows: Vec<u64>,
    /// What a row of each group pays at least.
    pub(crate) least: Vec<f64>,
    /// How that is known.
    pub(crate) state: Vec<State>,
    /// For each group the cheapest box with k rows that is known.
    pub(crate) box_of: Vec<u32>,
    /// These boxes; the first has everything.
    pub(crate) boxes: Vec<Vec<CodeRange>>,
    /// The groups that are no box of k rows by themselves, in the order in which they were or would
    /// have been done.
    order: Vec<u32>,
}

/// What is known of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Nobody looked.
    Open,
    /// The search was given up.
    Weaker,
    /// Its box costs just what its rows pay at least.
    Exact,
}

/// What each row pays at least; none when the budget was spent before anything could be said.
pub(crate) fn floors(
    problem: &Problem,
    seed: u64,
    patience: u64,
    budget: &Budget,
) -> Option<Floors> {
    if budget.is_spent() {
        return None;
    }
    let chosen: Vec<usize> = (0..problem.attributes().len()).collect();
    let penalty = Penalty::new(problem.attributes(), &chosen);
    let boxes = groups(problem, &penalty);
    let index = Index::build(&boxes, budget)?;
    let all = (0u32..).take(boxes.len());
    let mut whole = boxes.ranges(0).to_vec();
    for group in all.clone() {
        whole
            .iter_mut()
            .zip(boxes.ranges(group))
            .for_each(|(range, other)| *range = range.join(*other));
    }
    let most = penalty.of_box(&whole);
    let ground = Ground { boxes: &boxes, index: &index, k: problem.k(), most, patience };
    let mut known = vec![most; boxes.len()];
    let mut floors = Floors {
        rows: all.clone().map(|group| boxes.rows(group)).collect(),
        least: vec![0.0; boxes.len()],
        state: vec![State::Open; boxes.len()],
        box_of: vec![0; boxes.len()],
        boxes: vec![whole],
        order: Vec::new(),
    };
    for group in all {
        if boxes.rows(group) < ground.k {
            floors.order.push(group);
            continue;
        }
        floors.least[group as usize] = boxes.own(group);
        known[group as usize] = boxes.own(group);
        floors.state[group as usize] = State::Exact;
        floors.box_of[group as usize] = floors.add_box(boxes.ranges(group).to_vec());
    }
    Rng::new(seed).shuffle(&mut floors.order);
    let (mut done, mut size) = (0, BATCHES.0);
    while done < floors.order.len() {
        let batch = &floors.order[done..][..size.min(floors.order.len() - done)];
        // What is found meanwhile does not count in the same batch: which searches run first must
        // not show.
        let found: Option<Vec<_>> = batch
            .par_iter()
            .map_init(Search::default, |search, &group| {
                (!budget.is_spent())
                    .then(|| (group, search.run(&ground, group, known[group as usize])))
            })
            .collect();
        // A batch that was cut short is no random sample: its easy rows are done.
        let Some(found) = found else { break };
        done += found.len();
        size = (size * 2).min(BATCHES.1);
        for (group, found) in found {
            floors.least[group as usize] = found.least;
            floors.state[group as usize] =
                if found.is_exact { State::Exact } else { State::Weaker };
            if let Some(cheapest) = found.cheapest {
                let place = floors.add_box(cheapest.ranges);
                for inside in cheapest.groups {
                    if cheapest.price < known[inside as usize] {
                        known[inside as usize] = cheapest.price;
                        floors.box_of[inside as usize] = place;
                    }
                }
            }
        }
    }
    Some(floors)
}

impl Floors {
    fn add_box(&mut self, ranges: Vec<CodeRange>) -> u32 {
        self.boxes.push(ranges);
        u32::try_from(self.boxes.len() - 1).expect("there are fewer boxes than rows")
    }

    /// All rows together.
    fn sum(&self) -> Bound {
        let pays = |group: usize| real(self.rows[group]) * self.least[group];
        // No more than it is, however the sum was rounded.
        let value = (0..self.rows.len()).map(pays).sum::<f64>()
            * (1.0 - 2.0 * real(self.rows.len() as u64) * f64::EPSILON);
        let rows_in = |state: State| -> u64 {
            self.rows
                .iter()
                .zip(&self.state)
                .filter(|(_, other)| **other == state)
                .map(|(rows, _)| rows)
                .sum()
        };
        let sample: Vec<u32> = self
            .order
            .iter()
            .copied()
            .take_while(|&group| self.state[group as usize] != State::Open)
            .collect();
        let kind = match (rows_in(State::Open), rows_in(State::Weaker)) {
            (0, 0) => BoundKind::Exact,
            (0, rows) => BoundKind::Weaker { rows },
            (rows, _) if sample.len() < 2 => BoundKind::Weaker { rows },
            _ => return self.estimate(&sample, value),
        };
        Bound { value, kind }
    }

    /// From groups drawn at random and what all rows that were looked at pay, what all rows would
    /// pay.
    fn estimate(&self, sample: &[u32], so_far: f64) -> Bound {
        let pays = || {
            sample.iter().map(|&group| real(self.rows[group as usize]) * self.least[group as usize])
        };
        let (drawn, all) = (real(sample.len() as u64), real(self.order.len() as u64));
        let mean = pays().sum::<f64>() / drawn;
        let variance = pays().map(|pays| (pays - mean).powi(2)).sum::<f64>() / (drawn - 1.0);
        // Drawn without putting back: nothing is uncertain when all are drawn.
        let off = 1.96 * all * (variance / drawn * (1.0 - drawn / all)).sqrt();
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
fn groups<'a>(problem: &Problem, penalty: &'a Penalty) -> Boxes<'a> {
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
