//! A sharper bound: rows of a class share their loss, so the lower bounds of rows can be raised
//! beyond their best boxes.
//!
//! A release is a partition of the rows into equivalence classes of at least k. Give every row t a
//! dual value y(t), such that the sum of y over any class is at most the loss of the class: its
//! rows times the loss of their box. Then no release loses less than the sum of all y. (This is the
//! dual of the linear program of set partitioning, and every such y is a feasible solution of it.)
//! Only sets of just k rows need to be looked at: of a larger class every k-subset has a box that
//! loses no more, and the mean over all of its k-subsets is the mean over the class.
//!
//! The lower bounds of `row_bounds.rs` are such a y. From there dual ascent raises groups of equal
//! rows one after another, those with the least lower bounds first: to the limit that all k-sets
//! allow (`dual_limit.rs`), or a share of the way. In the first round a third of the way, then
//! half, then all of it. Where the share is 1/q, q groups are raised at once: each takes no more
//! than a q-th of the slack of a k-set, so no k-set is exceeded, and q searches run in parallel.
//! Every y on the way is feasible, so the work can end at any time.
//!
//! # Guarantee
//! Further rules only remove releases, and with several stages the classes of the last one have k
//! rows on all attributes. A suppressed row is in no class and loses the most that a row can lose,
//! so where rows may be suppressed no dual value is greater than that; the rows that stay are in
//! classes of k rows all the same. The bound does not hold for rings: their rows publish boxes of k
//! rows that are no classes, and k such boxes may share rows. For them only the plain bound holds.
//! A global recoding that publishes sets of values may lose less than either.
//!
//! Sums of floating-point numbers may be off. Each raise stops short of its limit by more than all
//! its sums can be off, and so does the sum of all rows.

use rayon::prelude::*;

use crate::codes::{CodeRange, real};
use crate::domain::penalty::Penalty;
use crate::problem::Problem;
use crate::problem::bound::{Bound, BoundKind};
use crate::search::boxes::Boxes;
use crate::search::budget::Budget;

use super::dual_limit::{DualLimit, DualLimitSearch, DualSpace};
use super::index::Index;
use super::row_bounds::{BoundQuality, RowBounds, groups, row_bounds};
use super::{PATIENCE, no_bound};

/// The rounds of the ascent: each raises every group by one part of so many of the way to its
/// limit. More rounds: a sharper bound, more time.
const ROUNDS: [usize; 3] = [3, 2, 1];

/// Looks at a candidate row after which the search for the limit of a group gives up and takes what
/// is proved. Greater: a sharper bound, more time for hard groups.
const DUAL_PATIENCE: u64 = 300_000;

/// Raises after which the groups with the greatest dual values are chosen again. Greater: fewer
/// sorts, a longer list of them in between.
const REFRESH: usize = 256;

/// One of so many groups is among those with the greatest dual values, from which the reach of a
/// search is found. Greater: a quicker estimate of the reach, which is then wider.
const HIGH_SHARE: usize = 16;

/// Groups among those with the greatest dual values at least.
const LEAST_HIGH: usize = 64;

/// A lower bound on the weighted quality penalty of a homogeneous release: at least
/// [`bound`](super::bound), and as a rule a good deal more, after a longer search. Rings may lose
/// less: their boxes are no equivalence classes. When the budget is spent before every row's best
/// box is found it is the plain bound; after that, the value that was reached.
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
    let Some(bounds) = row_bounds(problem, seed, PATIENCE, budget) else {
        return no_bound(problem);
    };
    let plain = bounds.sum();
    if bounds.quality.contains(&BoundQuality::Unsearched) {
        return plain;
    }
    let Some(duals) = raised(problem, &bounds, &ROUNDS, DUAL_PATIENCE, budget) else {
        return plain;
    };
    let value: f64 = duals.iter().zip(&bounds.rows).map(|(dual, &rows)| real(rows) * dual).sum();
    let value = value * (1.0 - 2.0 * real(duals.len() as u64) * f64::EPSILON);
    if value > plain.value { Bound { value, kind: BoundKind::Tight } } else { plain }
}

/// The dual value of a row of each group after the ascent; none when the budget was spent before
/// anything was raised.
pub(super) fn raised(
    problem: &Problem,
    bounds: &RowBounds,
    rounds: &[usize],
    patience: u64,
    budget: &Budget,
) -> Option<Vec<f64>> {
    let chosen: Vec<usize> = (0..problem.attributes().len()).collect();
    let penalty = Penalty::new(problem.attributes(), &chosen);
    let boxes = groups(problem, &penalty);
    let index = Index::build(&boxes, budget)?;
    let mut ascent = DualAscent::new(problem, &boxes, &index, bounds);
    let mut order: Vec<u32> =
        (0u32..).take(boxes.len()).filter(|&group| boxes.rows(group) < ascent.k).collect();
    order.sort_by(|&one, &other| {
        bounds.least[one as usize].total_cmp(&bounds.least[other as usize])
    });
    let mut searches: Vec<DualLimitSearch> = Vec::new();
    for &parts in rounds {
        searches.resize_with(parts, DualLimitSearch::default);
        for batch in order.chunks(parts) {
            if budget.is_spent() {
                return Some(ascent.duals);
            }
            let space = ascent.space(patience);
            let search = |(search, &group): (&mut DualLimitSearch, &u32)| {
                search.run(&space, group, ascent.box_of(group), ascent.cap)
            };
            let found: Vec<DualLimit> = match parts {
                1 => searches.iter_mut().zip(batch).map(search).collect(),
                _ => searches.par_iter_mut().zip(batch).with_max_len(1).map(search).collect(),
            };
            for (&group, found) in batch.iter().zip(found) {
                ascent.raise(group, found, parts);
            }
        }
    }
    Some(ascent.duals)
}

/// The dual values during the ascent.
struct DualAscent<'a> {
    boxes: &'a Boxes<'a>,
    index: &'a Index,
    k: u64,
    /// The dual value of a row of each group.
    duals: Vec<f64>,
    /// For each group the box that allows it least, range by range.
    known: Vec<CodeRange>,
    /// No dual value is greater.
    cap: f64,
    /// Greatest error of the sums.
    tolerance: f64,
    /// Groups among which are all with a dual value above `rest`, and whether each group is among
    /// them.
    high: Vec<u32>,
    is_high: Vec<bool>,
    rest: f64,
    raises: usize,
}

impl<'a> DualAscent<'a> {
    fn new(
        problem: &Problem,
        boxes: &'a Boxes<'a>,
        index: &'a Index,
        bounds: &RowBounds,
    ) -> DualAscent<'a> {
        let (k, most, rounding) = (problem.k(), boxes.penalty.most(), boxes.penalty.rounding());
        let terms = real(k) + real(problem.row_count());
        let mut ascent = DualAscent {
            boxes,
            index,
            k,
            duals: bounds.least.clone(),
            known: bounds
                .box_of
                .iter()
                .flat_map(|&at| bounds.boxes[at as usize].iter().copied())
                .collect(),
            cap: if problem.allowance() > 0 { most } else { f64::INFINITY },
            tolerance: real(k) * (4.0 * rounding + terms * most * 4.0 * f64::EPSILON),
            high: Vec::new(),
            is_high: vec![false; boxes.len()],
            rest: 0.0,
            raises: 0,
        };
        ascent.refresh();
        ascent
    }

    fn space(&self, patience: u64) -> DualSpace<'_> {
        let DualAscent { boxes, index, k, rest, tolerance, .. } = *self;
        let (duals, high) = (&self.duals[..], &self.high[..]);
        DualSpace { boxes, index, k, patience, duals, high, rest, tolerance }
    }

    fn box_of(&self, group: u32) -> &[CodeRange] {
        let width = self.boxes.penalty.width();
        &self.known[group as usize * width..][..width]
    }

    /// Raises a group by one part of so many of the way to its limit.
    fn raise(&mut self, group: u32, found: DualLimit, parts: usize) {
        let at = group as usize;
        if let Some(ranges) = found.ranges {
            let width = ranges.len();
            self.known[at * width..][..width].copy_from_slice(&ranges);
        }
        let more = (found.most - self.tolerance - self.duals[at]) / real(parts as u64);
        if more <= 0.0 {
            return;
        }
        self.duals[at] += more;
        if !self.is_high[at] {
            self.is_high[at] = true;
            self.high.push(group);
        }
        self.raises += 1;
        if self.raises.is_multiple_of(REFRESH) {
            self.refresh();
        }
    }

    /// Chooses the groups with the greatest dual values.
    fn refresh(&mut self) {
        let count = (self.boxes.len() / HIGH_SHARE).max(LEAST_HIGH);
        let mut all: Vec<u32> = (0u32..).take(self.boxes.len()).collect();
        self.rest = 0.0;
        if count < all.len() {
            let dual = |group: u32| self.duals[group as usize];
            let falling =
                |one: &u32, other: &u32| dual(*other).total_cmp(&dual(*one)).then(one.cmp(other));
            let (_, &mut next, _) = all.select_nth_unstable_by(count, falling);
            self.rest = self.duals[next as usize];
            all.truncate(count);
        }
        self.high = all;
        self.is_high.fill(false);
        self.high.iter().for_each(|&group| self.is_high[group as usize] = true);
    }
}
