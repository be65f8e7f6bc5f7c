//! A sharper bound: rows of a class pay for each other, so what each pays at least can be raised
//! beyond its cheapest box.
//!
//! A release is a partition of the rows into classes of at least k. Let every row t be asked for
//! some y(t), such that no class is asked for more than it pays: the sum of y over its rows is at
//! most their number times the price of their box. Then no release costs less than the sum of all
//! y. (This is the dual of the linear program of set partitioning, and every such y is a solution
//! of it.) Only sets of just k rows need to be looked at: of a larger class every k-subset has a
//! box that is no dearer, and the mean over all of its k-subsets is the mean over the class.
//!
//! The cheapest boxes of `floors` are such a y. From there groups of equal rows are raised one
//! after another, those first that pay least: to what all k-sets allow (`slack.rs`), or a share of
//! the way. In the first round a third of the way, then half, then all of it. Where a share 1/q of
//! the way is gone, q groups are raised at once: a k-set lends each no more than a q-th of what it
//! has left, so it cannot be overdrawn, and q searches run in parallel. Every y on the way is a
//! solution, so the work can end at any time.
//!
//! What it holds for: further rules only take releases away, and with several stages the classes of
//! the last one have k rows on all attributes. A row that is left out is in no class and pays for
//! showing nothing, so where rows may be left out no row is asked for more than that; those that
//! stay are in classes of k rows all the same. Not so rings: their rows show boxes of k rows that
//! are no classes, and k such boxes may share rows. For them only the plain bound holds. The same
//! goes as for the plain bound for a global recoding that shows sets of values.
//!
//! Sums of floating-point numbers may be off. Each raise stops short of what is allowed by more
//! than all its sums can be, and so does the sum of all rows.

use rayon::prelude::*;

use crate::codes::{CodeRange, real};
use crate::domain::penalty::Penalty;
use crate::problem::Problem;
use crate::search::boxes::Boxes;
use crate::search::budget::Budget;

use super::index::Index;
use super::slack::{Allowed, Field, Slack};
use super::{Floors, PATIENCE, State, floors, groups};
use crate::problem::bound::{Bound, BoundKind};

/// What share of the way rows are raised in each round: one part of so many.
const ROUNDS: [usize; 3] = [3, 2, 1];

/// After so many looks at a row, the search for what a group can be asked for ends with what is
/// proved.
const SLACK_PATIENCE: u64 = 300_000;

/// After so many raises it is looked again which groups are asked for most.
const REFRESH: usize = 256;

/// What the weighted certainty penalty of a homogeneous release cannot go below: at least
/// [`bound`](super::bound), and as a rule a good deal more, after a longer search. Rings may go
/// below: their boxes are no classes. When the budget is spent before every row's cheapest box is
/// found it is the plain bound; after that, what was reached.
pub fn tight(problem: &Problem, seed: u64, budget: &Budget) -> Bound {
    let Some(floors) = floors(problem, seed, PATIENCE, budget) else {
        return Bound { value: 0.0, kind: BoundKind::Weaker { rows: problem.row_count() } };
    };
    let plain = floors.sum();
    if floors.state.contains(&State::Open) {
        return plain;
    }
    let Some(asked) = raised(problem, &floors, &ROUNDS, SLACK_PATIENCE, budget) else {
        return plain;
    };
    let value: f64 = asked.iter().zip(&floors.rows).map(|(asked, &rows)| real(rows) * asked).sum();
    let value = value * (1.0 - 2.0 * real(asked.len() as u64) * f64::EPSILON);
    if value > plain.value { Bound { value, kind: BoundKind::Tight } } else { plain }
}

/// What a row of each group is asked for in the end; none when the budget was spent before anything
/// was raised.
pub(super) fn raised(
    problem: &Problem,
    floors: &Floors,
    rounds: &[usize],
    patience: u64,
    budget: &Budget,
) -> Option<Vec<f64>> {
    let chosen: Vec<usize> = (0..problem.attributes().len()).collect();
    let penalty = Penalty::new(problem.attributes(), &chosen);
    let boxes = groups(problem, &penalty);
    let index = Index::build(&boxes, budget)?;
    let mut ascent = Ascent::new(problem, &boxes, &index, floors);
    let mut order: Vec<u32> =
        (0u32..).take(boxes.len()).filter(|&group| boxes.rows(group) < ascent.k).collect();
    order.sort_by(|&one, &other| {
        floors.least[one as usize].total_cmp(&floors.least[other as usize])
    });
    let mut searches: Vec<Slack> = Vec::new();
    for &parts in rounds {
        searches.resize_with(parts, Slack::default);
        for batch in order.chunks(parts) {
            if budget.is_spent() {
                return Some(ascent.asked);
            }
            let field = ascent.field(patience);
            let search = |(search, &group): (&mut Slack, &u32)| {
                search.run(&field, group, ascent.box_of(group), ascent.cap)
            };
            let found: Vec<Allowed> = match parts {
                1 => searches.iter_mut().zip(batch).map(search).collect(),
                _ => searches.par_iter_mut().zip(batch).with_max_len(1).map(search).collect(),
            };
            for (&group, found) in batch.iter().zip(found) {
                ascent.raise(group, found, parts);
            }
        }
    }
    Some(ascent.asked)
}

/// What rows are asked for, on the way up.
struct Ascent<'a> {
    boxes: &'a Boxes<'a>,
    index: &'a Index,
    k: u64,
    asked: Vec<f64>,
    /// For each group the box that allowed it least, range by range.
    known: Vec<CodeRange>,
    /// No row is asked for more.
    cap: f64,
    /// By how much sums may be off.
    slip: f64,
    /// Groups among which are all that are asked for more than `rest`, and which groups these are.
    high: Vec<u32>,
    is_high: Vec<bool>,
    rest: f64,
    raises: usize,
}

impl<'a> Ascent<'a> {
    fn new(
        problem: &Problem,
        boxes: &'a Boxes<'a>,
        index: &'a Index,
        floors: &Floors,
    ) -> Ascent<'a> {
        let (k, most, rounding) = (problem.k(), boxes.penalty.most(), boxes.penalty.rounding());
        let terms = real(k) + real(problem.row_count());
        let mut ascent = Ascent {
            boxes,
            index,
            k,
            asked: floors.least.clone(),
            known: floors
                .box_of
                .iter()
                .flat_map(|&at| floors.boxes[at as usize].iter().copied())
                .collect(),
            cap: if problem.allowance() > 0 { most } else { f64::INFINITY },
            slip: real(k) * (4.0 * rounding + terms * most * 4.0 * f64::EPSILON),
            high: Vec::new(),
            is_high: vec![false; boxes.len()],
            rest: 0.0,
            raises: 0,
        };
        ascent.refresh();
        ascent
    }

    fn field(&self, patience: u64) -> Field<'_> {
        let Ascent { boxes, index, k, rest, slip, .. } = *self;
        Field { boxes, index, k, patience, asked: &self.asked, high: &self.high, rest, slip }
    }

    fn box_of(&self, group: u32) -> &[CodeRange] {
        let width = self.boxes.penalty.width();
        &self.known[group as usize * width..][..width]
    }

    /// Raises a group one part of so many towards what it is allowed.
    fn raise(&mut self, group: u32, found: Allowed, parts: usize) {
        let at = group as usize;
        if let Some(ranges) = found.box_of {
            let width = ranges.len();
            self.known[at * width..][..width].copy_from_slice(&ranges);
        }
        let more = (found.most - self.slip - self.asked[at]) / real(parts as u64);
        if more <= 0.0 {
            return;
        }
        self.asked[at] += more;
        if !self.is_high[at] {
            self.is_high[at] = true;
            self.high.push(group);
        }
        self.raises += 1;
        if self.raises.is_multiple_of(REFRESH) {
            self.refresh();
        }
    }

    /// Looks which groups are asked for most.
    fn refresh(&mut self) {
        let count = (self.boxes.len() / 16).max(64);
        let mut all: Vec<u32> = (0u32..).take(self.boxes.len()).collect();
        self.rest = 0.0;
        if count < all.len() {
            let asked = |group: u32| self.asked[group as usize];
            let falling =
                |one: &u32, other: &u32| asked(*other).total_cmp(&asked(*one)).then(one.cmp(other));
            let (_, &mut next, _) = all.select_nth_unstable_by(count, falling);
            self.rest = self.asked[next as usize];
            all.truncate(count);
        }
        self.high = all;
        self.is_high.fill(false);
        self.high.iter().for_each(|&group| self.is_high[group as usize] = true);
    }
}
