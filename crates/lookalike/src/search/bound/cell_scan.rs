//! Visits every cell that could bind: the constraints of the dual that `tight.rs` raises.
//!
//! A *cell* is a published range for each attribute; it has a loss and the rows that lie in it. A
//! class publishes a cell, and its rows are among the rows of the cell. Dual values y of the rows
//! are feasible when for every cell with at least k rows the k greatest of them add up to at most k
//! times its loss. The *ratio* of a cell is k times its loss over that sum: below 1 it is violated,
//! at 1 tight.
//!
//! # How it works
//! Attribute by attribute a list of rows is cut into the rows of each range. The list is sorted by
//! falling dual value and every cut keeps the order, so the k greatest stand at its front. A part
//! of a list has no greater sum than the list, and a further attribute adds loss: where the ratio
//! of a list with the loss so far is above the limit, no cell below it is visited. Trees come first,
//! those that cost most before; on the last attribute, if it is a line, the greatest values are kept
//! up to date while a range grows.
//!
//! # Scales
//! Each row gets the least ratio of all cells with it that bind it. If every y is multiplied by its
//! scale (or by 1, if that is less), they are feasible. In a cell of ratio q < 1, let t be the least
//! of its k greatest values. Only rows with y >= q t take the scale q. Any k rows then add up to at
//! most q times (those of them that took it, and t for each of the others), and that is at most q
//! times the k greatest: each of the others can be replaced by one of these, which is at least t.
//!
//! # Rules on shares
//! Where no value of a sensitive column may fill more than a share of a class, of the k greatest
//! values at most that share may belong to one value. Sums stay bounds if rows are divisible: with
//! the number of rows both the size and the allowance of a value grow in proportion, so larger
//! classes have no greater mean. Taking the greatest first is best (rows under a limit for each
//! value and one for all are a polymatroid), and the replacement above holds there too.

use rayon::prelude::*;

use crate::codes::real;
use crate::search::budget::Budget;

use super::greatest::{Greatest, Growing};
use super::published_ranges::PublishedRanges;

/// Rows by groups that are interchangeable for the bound, and the ranges of their attributes.
#[derive(Debug)]
pub(super) struct CellSpace {
    /// Trees first.
    pub(super) ranges: Vec<PublishedRanges>,
    /// The place of each group on each attribute.
    pub(super) places: Vec<Vec<u32>>,
    /// The rows of each group.
    pub(super) rows: Vec<f64>,
    /// The least size of a class.
    pub(super) k: f64,
    /// A limit on the rows of each value among the k greatest.
    pub(super) shares: Option<ValueShares>,
}

/// A rule on the share of a value.
#[derive(Debug)]
pub(super) struct ValueShares {
    /// For each group the number of its value; values that no rule is about have none.
    pub(super) value: Vec<Option<u32>>,
    pub(super) values: usize,
    /// The most rows of one value among k.
    pub(super) most: f64,
}

/// A cell near its limit.
#[derive(Clone, Debug)]
pub(super) struct TightCell {
    pub(super) loss: f64,
    ratio: f64,
    /// Its groups with the greatest dual values.
    pub(super) groups: Vec<u32>,
}

/// The findings of a visit.
#[derive(Debug)]
pub(super) struct Scan {
    /// For each group the least ratio of the cells that bind it, at most the limit.
    pub(super) scale: Vec<f64>,
    /// The cells below the ratio that was asked for that are the tightest for one of their groups:
    /// of many cells that hardly differ, as on lines, those few say all.
    pub(super) cells: Vec<TightCell>,
}

/// Rows whose dual value is below this share of the least of the k greatest of a cell are not kept
/// with it.
const KEPT_WITH_CELL: f64 = 0.7;

/// Lists to begin with, for the threads to share. They are the same for any number of threads.
const LISTS: usize = 256;

/// A list of groups by falling dual value, with the loss of the attributes that are decided.
struct Open {
    attribute: usize,
    groups: Vec<u32>,
    loss: f64,
}

/// Visits all cells whose ratio is below `limit`; those below `kept` are returned. None when the
/// budget was spent before the end.
pub(super) fn scan(
    space: &CellSpace,
    duals: &[f64],
    limit: f64,
    kept: f64,
    budget: &Budget,
) -> Option<Scan> {
    let visit = Visit { space, duals, limit, kept, budget };
    let count = u32::try_from(duals.len()).expect("there are fewer than 2^32 groups");
    let mut all: Vec<u32> = (0..count).collect();
    let dual = |group: u32| duals[group as usize];
    all.par_sort_by(|&one, &other| dual(other).total_cmp(&dual(one)).then(one.cmp(&other)));
    let mut found = Found::new(space, limit);
    let mut open = vec![Open { attribute: 0, groups: all, loss: 0.0 }];
    let mut attribute = 0;
    while attribute < space.ranges.len() && !open.is_empty() && open.len() < LISTS {
        let mut next = Vec::new();
        for list in open {
            visit.attribute(&mut found, Some(&mut next), attribute, &list.groups, list.loss);
        }
        (open, attribute) = (next, attribute + 1);
    }
    // Large lists first: the last ones to end are small.
    open.sort_by_key(|list| std::cmp::Reverse(list.groups.len()));
    let threads = rayon::current_num_threads().max(1);
    let parts: Vec<Vec<&Open>> =
        (0..threads).map(|part| open.iter().skip(part).step_by(threads).collect()).collect();
    let visit_part = |(part, lists): (usize, Vec<&Open>)| {
        let mut found = Found::new(space, limit);
        let mut cells = Vec::new();
        for (turn, list) in lists.into_iter().enumerate() {
            visit.attribute(&mut found, None, list.attribute, &list.groups, list.loss);
            cells.push((turn * threads + part, std::mem::take(&mut found.cells)));
        }
        (found.scale, cells)
    };
    let done: Vec<_> = parts.into_par_iter().enumerate().map(visit_part).collect();
    if budget.is_spent() {
        return None;
    }
    let mut by_list = Vec::new();
    for (scales, cells) in done {
        for (scale, other) in found.scale.iter_mut().zip(scales) {
            *scale = scale.min(other);
        }
        by_list.extend(cells);
    }
    by_list.sort_by_key(|&(list, _)| list);
    found.cells.extend(by_list.into_iter().flat_map(|(_, cells)| cells));
    let Found { scale, mut cells, .. } = found;
    cells.retain(|cell| cell.groups.iter().any(|&group| scale[group as usize] >= cell.ratio));
    Some(Scan { scale, cells })
}

struct Visit<'a> {
    space: &'a CellSpace,
    duals: &'a [f64],
    limit: f64,
    kept: f64,
    budget: &'a Budget,
}

/// The findings of one thread, and its memory.
struct Found {
    scale: Vec<f64>,
    cells: Vec<TightCell>,
    /// Rows of each value so far, under a rule on shares.
    taken: Vec<f64>,
    counts: Vec<u32>,
}

impl Found {
    fn new(space: &CellSpace, limit: f64) -> Found {
        let values = space.shares.as_ref().map_or(0, |shares| shares.values);
        Found {
            scale: vec![limit; space.rows.len()],
            cells: Vec::new(),
            taken: vec![0.0; values],
            counts: Vec::new(),
        }
    }
}

impl CellSpace {
    /// The greatest dual values of k rows of a list that is sorted by them; none when it has no
    /// such rows. `taken` has a place for each value of a rule on shares, all 0.
    pub(super) fn greatest(
        &self,
        taken: &mut [f64],
        duals: &[f64],
        list: &[u32],
    ) -> Option<Greatest> {
        let (mut left, mut sum, mut least) = (self.k, 0.0, f64::INFINITY);
        for &group in list {
            let group = group as usize;
            let mut rows = self.rows[group].min(left);
            if let Some(shares) = &self.shares
                && let Some(value) = shares.value[group]
            {
                let of_value = &mut taken[value as usize];
                rows = rows.min(shares.most - *of_value);
                *of_value += rows;
            }
            if rows > 0.0 {
                (sum, least, left) = (sum + rows * duals[group], duals[group], left - rows);
                if left <= 0.0 {
                    break;
                }
            }
        }
        if !taken.is_empty() {
            taken.fill(0.0);
        }
        (left <= self.k * 1e-12).then_some(Greatest { sum, least })
    }
}

impl Visit<'_> {
    fn greatest(&self, found: &mut Found, list: &[u32]) -> Option<Greatest> {
        self.space.greatest(&mut found.taken, self.duals, list)
    }

    /// True when cells with this loss and these greatest values are above the limit.
    fn is_above(&self, loss: f64, greatest: Greatest) -> bool {
        self.space.k * loss >= self.limit * greatest.sum
    }

    /// Decides an attribute. With `next` the lists of the attribute behind it go there.
    fn attribute(
        &self,
        found: &mut Found,
        next: Option<&mut Vec<Open>>,
        at: usize,
        list: &[u32],
        loss: f64,
    ) {
        if self.budget.is_spent() {
            return;
        }
        match &self.space.ranges[at] {
            PublishedRanges::Tree { .. } => self.below(found, next, (at, 0), list, loss),
            PublishedRanges::Line { bins, loss: losses } => {
                self.line(found, next, at, (*bins, losses), list, loss);
            }
        }
    }

    /// Goes on with a list whose ranges are decided up to an attribute.
    fn decided(
        &self,
        found: &mut Found,
        next: Option<&mut Vec<Open>>,
        at: usize,
        list: &[u32],
        loss: f64,
        greatest: Greatest,
    ) {
        if self.is_above(loss, greatest) {
            return;
        }
        if at + 1 == self.space.ranges.len() {
            return self.cell(found, list, loss, greatest);
        }
        match next {
            Some(next) => next.push(Open { attribute: at + 1, groups: list.to_vec(), loss }),
            None => self.attribute(found, None, at + 1, list, loss),
        }
    }

    /// The node of a tree that all groups of a list are in, and the nodes below it. A node with all
    /// its rows below one child is skipped: the child has the same rows and loses no more.
    fn below(
        &self,
        found: &mut Found,
        mut next: Option<&mut Vec<Open>>,
        (at, depth): (usize, usize),
        list: &[u32],
        loss: f64,
    ) {
        let PublishedRanges::Tree { depths } = &self.space.ranges[at] else {
            unreachable!("a line has no nodes")
        };
        let Some(greatest) = self.greatest(found, list) else { return };
        if self.is_above(loss, greatest) {
            return;
        }
        let places = &self.space.places[at];
        let first = places[list[0] as usize] as usize;
        let mut depth = depth;
        let cut = loop {
            let Some(below) = depths.get(depth + 1) else { break None };
            let node = |group: u32| below.node[places[group as usize] as usize];
            if list.iter().any(|&group| node(group) != below.node[first]) {
                break Some(below);
            }
            depth += 1;
        };
        let own = loss + depths[depth].loss[first];
        self.decided(found, next.as_deref_mut(), at, list, own, greatest);
        let Some(below) = cut else { return };
        let node = |group: u32| below.node[places[group as usize] as usize];
        for part in parts(&mut found.counts, list, below.nodes, node) {
            self.below(found, next.as_deref_mut(), (at, depth + 1), &part, loss);
        }
    }

    /// All ranges of a line that begin and end at a bin with rows.
    fn line(
        &self,
        found: &mut Found,
        mut next: Option<&mut Vec<Open>>,
        at: usize,
        (bins, losses): (usize, &[f64]),
        list: &[u32],
        loss: f64,
    ) {
        let Some(greatest) = self.greatest(found, list) else { return };
        if self.is_above(loss, greatest) {
            return;
        }
        let places = &self.space.places[at];
        let place = |group: u32| places[group as usize];
        let by_bin = parts(&mut found.counts, list, bins, place);
        let is_last = at + 1 == self.space.ranges.len() && self.space.shares.is_none();
        let mut growing = Growing::default();
        for from in 0..by_bin.len() {
            let lo = place(by_bin[from][0]);
            growing.clear();
            for to in from..by_bin.len() {
                let hi = place(by_bin[to][0]);
                let own = loss + losses[lo as usize * bins + hi as usize];
                if self.is_above(own, greatest) {
                    break;
                }
                if is_last {
                    self.grown(found, &mut growing, &by_bin[from..=to], own);
                    continue;
                }
                let within: Vec<u32> = list
                    .iter()
                    .copied()
                    .filter(|&group| (lo..=hi).contains(&place(group)))
                    .collect();
                if let Some(greatest) = self.greatest(found, &within) {
                    self.decided(found, next.as_deref_mut(), at, &within, own, greatest);
                }
            }
        }
    }

    /// The dual value and the rows of each group of a list.
    fn values<'a>(&'a self, list: &'a [u32]) -> impl Iterator<Item = (f64, f64)> + 'a {
        list.iter().map(|&group| (self.duals[group as usize], self.space.rows[group as usize]))
    }

    /// A cell on the last line, grown by the last of its bins.
    fn grown(&self, found: &mut Found, growing: &mut Growing, bins: &[Vec<u32>], loss: f64) {
        let k = self.space.k;
        let has_changed = growing.grow(k, self.values(bins.last().expect("it has grown by one")));
        let Some(greatest) = growing.greatest(k) else { return };
        let ratio = k * loss / greatest.sum.max(f64::MIN_POSITIVE);
        // The range without its last bin has the same values and binds more.
        if ratio >= self.limit || ratio >= 1.0 && !has_changed {
            return;
        }
        let bound = greatest.least * ratio.min(1.0);
        for bin in bins {
            found.bind(self.duals, bin, bound, ratio);
        }
        if ratio < self.kept {
            let least = KEPT_WITH_CELL * greatest.least;
            let is_kept = |group: &u32| self.duals[*group as usize] >= least;
            let groups = bins.iter().flatten().copied().filter(is_kept).collect();
            found.cells.push(TightCell { loss, ratio, groups });
        }
    }

    fn cell(&self, found: &mut Found, list: &[u32], loss: f64, greatest: Greatest) {
        let ratio = self.space.k * loss / greatest.sum.max(f64::MIN_POSITIVE);
        found.bind(self.duals, list, greatest.least * ratio.min(1.0), ratio);
        if ratio < self.kept {
            let least = KEPT_WITH_CELL * greatest.least;
            let kept = list.partition_point(|&group| self.duals[group as usize] >= least);
            found.cells.push(TightCell { loss, ratio, groups: list[..kept].to_vec() });
        }
    }
}

impl Found {
    /// Lowers the scale of the groups of a sorted list down to a dual value.
    fn bind(&mut self, duals: &[f64], list: &[u32], least: f64, ratio: f64) {
        for &group in list {
            if duals[group as usize] < least {
                break;
            }
            let scale = &mut self.scale[group as usize];
            *scale = scale.min(ratio);
        }
    }
}

/// The parts of a list by their number, in its order; empty ones are left out.
fn parts(
    counts: &mut Vec<u32>,
    list: &[u32],
    numbers: usize,
    number: impl Fn(u32) -> u32,
) -> Vec<Vec<u32>> {
    // A short list under many numbers is sorted: counting would look at every number.
    if list.len() * 4 < numbers {
        let mut sorted = list.to_vec();
        sorted.sort_by_key(|&group| number(group));
        return sorted
            .chunk_by(|&one, &other| number(one) == number(other))
            .map(<[u32]>::to_vec)
            .collect();
    }
    counts.clear();
    counts.resize(numbers, 0);
    list.iter().for_each(|&group| counts[number(group) as usize] += 1);
    let mut place = vec![0; numbers];
    let mut parts: Vec<Vec<u32>> = Vec::new();
    for (at, &count) in counts.iter().enumerate().filter(|&(_, &count)| count > 0) {
        place[at] = parts.len();
        parts.push(Vec::with_capacity(count as usize));
    }
    list.iter().for_each(|&group| parts[place[number(group) as usize]].push(group));
    parts
}

/// The sum of dual values over all rows.
pub(super) fn total(space: &CellSpace, duals: impl Iterator<Item = f64>) -> f64 {
    space.rows.iter().zip(duals).map(|(rows, dual)| rows * dual).sum::<f64>()
        * (1.0 - 8.0 * (space.k + real(space.rows.len() as u64)) * f64::EPSILON)
}
