//! The greatest dual value of a group of equal rows, given those of all others: the search of
//! `box_search.rs` with this value as its goal.
//!
//! All rows of the group get the same dual value `v`. For any k rows, m of them of the group, the
//! sum of their dual values must not exceed their loss in their box. So the greatest `v` that all
//! k-sets allow is
//!
//! ```text
//! min over boxes around the group, over m from 1 to its rows:
//!     (k * loss of the box - the k - m greatest y of others within) / m
//! ```
//!
//! A wider box may allow less than one inside it if it has rows with greater dual values. Let `v`
//! be the least that was found. A box allows less if k times its loss is below the sum of its k
//! greatest values, the group's own being `v`; so a step is over when its floors lose as much as
//! the greatest values on its list, and a candidate leaves when the box with it loses as much as
//! its value and the greatest others. The list is sorted by falling y. Candidates within the floors
//! are in every box of the step: when they have k - 1 rows, all behind the last of these are of no
//! use.

use crate::codes::{CodeRange, real};
use crate::search::boxes::Boxes;

use super::box_search::{BoxSearch, Goal, Pruned};
use super::candidates::{Candidates, ChainCounts};
use super::dual_group::DualGroup;
use super::dual_rectangle::DualRectangle;
use super::index::{Index, JoinLosses};
use super::reach::{DualReach, ReachSearch};
use super::rectangle::BestRectangle;
use super::top_k::TopK;

/// A step is pruned again, before a chain is decided, when less than this share of its candidates
/// was left, as numerator and denominator. Greater: more pruning, fewer decisions.
const SHRUNK: (usize, usize) = (3, 4);

/// The table and the dual values that a search looks through.
#[derive(Clone, Copy, Debug)]
pub(super) struct DualSpace<'a> {
    /// Groups of equal rows, each the box of its values.
    pub(super) boxes: &'a Boxes<'a>,
    pub(super) index: &'a Index,
    pub(super) k: u64,
    /// A search gives up after this many looks at a candidate.
    pub(super) patience: u64,
    /// The dual value of a row of each group.
    pub(super) duals: &'a [f64],
    /// Groups among which are all with a dual value above `rest`.
    pub(super) high: &'a [u32],
    pub(super) rest: f64,
    /// A raise by less is not worth a search.
    pub(super) tolerance: f64,
}

/// The result of a search for one group.
#[derive(Clone, Debug)]
pub(super) struct DualLimit {
    /// The greatest dual value of a row of the group, but for rounding; a lower bound on it when
    /// the search gave up.
    pub(super) most: f64,
    /// The box that forbids more, if it is another one than was known.
    pub(super) ranges: Option<Vec<CodeRange>>,
}

/// A search for the greatest dual value, with buffers that the next search uses again.
#[derive(Debug, Default)]
pub(super) struct DualLimitSearch {
    search: BoxSearch,
    goal: LeastDual,
    /// The loss of the group with each candidate, and the candidate.
    joined: Vec<(f64, u32)>,
    reach: ReachSearch,
}

/// The goal: the least dual value that a box allows.
#[derive(Debug, Default)]
pub(super) struct LeastDual {
    /// The group, with the least value that was found.
    pub(super) group: DualGroup,
    /// The dual value of each candidate.
    duals: Vec<f64>,
    top: TopK,
    rectangle: DualRectangle,
}

impl DualLimitSearch {
    /// The greatest dual value of a row of the group, if less than `cap`; `known` is a box around
    /// it with at least k rows.
    pub(super) fn run(
        &mut self,
        space: &DualSpace,
        group: u32,
        known: &[CodeRange],
        cap: f64,
    ) -> DualLimit {
        let joins = space.index.joins(space.boxes, group);
        self.search.candidates.chains.set_group(space.boxes, group);
        self.goal.group = DualGroup { rows: space.boxes.rows(group), k: space.k, limit: cap };
        self.look_within(space, &joins, group, known);
        if self.goal.group.limit - space.tolerance <= space.duals[group as usize] {
            return DualLimit { most: self.goal.group.limit, ranges: None };
        }
        let reach = self.reach.run(space, &joins, group, &self.goal.group);
        self.gather(space, &joins, group, reach);
        let total = self.list_useful();
        (self.search.steps, self.search.patience) = (0, space.patience);
        self.search.restart();
        let own = self.search.candidates.chains.own_floors(space.boxes, group);
        self.search.step(&mut Goal::LeastDual(&mut self.goal), 0, own, total);
        let BoxSearch { candidates, best, given_up, .. } = &self.search;
        DualLimit {
            most: self.goal.group.limit.min(*given_up),
            ranges: (!best.is_empty()).then(|| candidates.box_within(best, space.boxes, group).0),
        }
    }

    /// Lowers the limit to what a known box allows.
    fn look_within(
        &mut self,
        space: &DualSpace,
        joins: &JoinLosses,
        group: u32,
        known: &[CodeRange],
    ) {
        let penalty = space.boxes.penalty;
        let loss = penalty.of_box(known);
        let LeastDual { group: own, top, .. } = &mut self.goal;
        top.clear(own.others());
        let limit = loss + 4.0 * penalty.rounding();
        space.index.within(
            joins,
            &mut *top,
            |_| limit,
            |top, place| {
                let codes = space.index.codes(place);
                let (other, rows) = space.index.group(place);
                let mut pairs = known.iter().zip(codes);
                if other != group && pairs.all(|(range, &code)| range.contains(code)) {
                    top.add(space.duals[other as usize], rows);
                }
            },
        );
        own.lower(loss, top);
    }

    /// Makes all other groups candidates that a better box may contain.
    fn gather(&mut self, space: &DualSpace, joins: &JoinLosses, group: u32, reach: DualReach) {
        let own = space.boxes.ranges(group);
        let k = real(space.k);
        self.search.candidates.clear();
        self.goal.duals.clear();
        self.joined.clear();
        space.index.within(
            joins,
            &mut *self,
            |_| reach.loss,
            |this, place| {
                let (other, rows) = space.index.group(place);
                let dual = space.duals[other as usize];
                let limit = reach.loss.min(reach.greatest.with(dual) / k);
                let codes = space.index.codes(place);
                let mut sum = 0.0;
                for (at, &code) in codes.iter().enumerate() {
                    sum += joins.of(at, code);
                    if sum >= limit {
                        return;
                    }
                }
                if other == group || this.reach.is_out(other) {
                    return;
                }
                let candidates = &mut this.search.candidates;
                this.joined.push((sum, candidates.next_place()));
                candidates.push_below(f64::INFINITY, joins, own, codes, (other, rows));
                this.goal.duals.push(dual);
            },
        );
    }

    /// Lists the candidates that a better box may contain, by falling dual value: those that lose
    /// no more than the last one that is worth it beside the greatest of those nearer. Returns
    /// their rows and the group's.
    fn list_useful(&mut self) -> u64 {
        let LeastDual { group, duals, top, .. } = &mut self.goal;
        let Candidates { rows, list, .. } = &mut self.search.candidates;
        self.joined
            .sort_unstable_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
        group.start(top);
        let mut kept = 0;
        for (at, &(loss, candidate)) in self.joined.iter().enumerate() {
            top.add(duals[candidate as usize], rows[candidate as usize]);
            if top.is_full() && real(group.k) * loss < group.limit + top.sum() {
                kept = at + 1;
            }
        }
        list.clear();
        list.extend(self.joined[..kept].iter().map(|joined| joined.1));
        let dual = |candidate: u32| duals[candidate as usize];
        list.sort_unstable_by(|&one, &other| {
            dual(other).total_cmp(&dual(one)).then(one.cmp(&other))
        });
        group.rows + list.iter().map(|&candidate| rows[candidate as usize]).sum::<u64>()
    }
}

impl LeastDual {
    /// See [`Goal`].
    pub(super) fn prune(
        &mut self,
        search: &mut BoxSearch,
        start: usize,
        floors: &[f64],
        total: &mut u64,
    ) -> Pruned {
        let k = real(self.group.k);
        let Candidates { chains, rows, list, .. } = &search.candidates;
        let loss = chains.loss(floors);
        let values = list[start..]
            .iter()
            .map(|&candidate| (self.duals[candidate as usize], rows[candidate as usize]));
        let Some(greatest) = self.group.greatest(values) else { return Pruned::Over };
        if k * loss >= greatest.sum {
            return Pruned::Over;
        }
        if !search.has_patience(start) {
            return Pruned::GivenUp;
        }
        let candidates = &mut search.candidates;
        let before = candidates.list.len();
        self.top.clear(self.group.others());
        *total = self.group.rows;
        // The end of the list, and the place behind the last candidate that is not within the
        // floors.
        let (mut kept, mut outside) = (start, start);
        for place in start..before {
            let candidate = candidates.list[place];
            let (rows, dual) =
                (candidates.rows[candidate as usize], self.duals[candidate as usize]);
            let joined = candidates.chains.joined(floors, candidates.losses(candidate));
            if k * joined >= greatest.with(dual) {
                continue;
            }
            candidates.list[kept] = candidate;
            kept += 1;
            *total += rows;
            if joined <= loss {
                self.top.add(dual, rows);
                if self.top.is_full() {
                    break;
                }
            } else {
                outside = kept;
            }
        }
        candidates.list.truncate(kept);
        if self.group.lower(loss, &self.top) {
            search.best.clear();
            search.best.extend_from_slice(floors);
        }
        if outside == start {
            Pruned::Over
        } else if (kept - start) * SHRUNK.1 < (before - start) * SHRUNK.0 {
            Pruned::Shrunk
        } else {
            Pruned::Open
        }
    }

    /// See [`Goal`]: raises the first floor within which fewer than k rows lie to the next loss.
    pub(super) fn raise(&self, counts: &ChainCounts, floors: &mut [f64]) -> bool {
        let is_low =
            |&chain: &usize| counts.within[chain] < self.group.k && counts.next[chain].is_finite();
        let chain = (0..floors.len()).find(is_low);
        if let Some(chain) = chain {
            floors[chain] = counts.next[chain];
        }
        chain.is_some()
    }

    /// See [`Goal`]: as if the box of the floors had all candidates of the step.
    pub(super) fn lower_bound(
        &mut self,
        candidates: &Candidates,
        start: usize,
        floors: &[f64],
    ) -> f64 {
        self.top.clear(self.group.others());
        for &candidate in &candidates.list[start..] {
            self.top.add(self.duals[candidate as usize], candidates.rows[candidate as usize]);
        }
        self.group.allowed(candidates.chains.loss(floors), &self.top)
    }

    /// See [`Goal`].
    pub(super) fn best_rectangle(
        &mut self,
        candidates: &Candidates,
        start: usize,
        floors: &[f64],
        lines: &[usize],
        patience: u64,
    ) -> BestRectangle {
        let chains = &candidates.chains;
        self.rectangle.clear();
        for &candidate in &candidates.list[start..] {
            let places = chains.places(floors, lines, candidates.losses(candidate));
            self.rectangle.add(
                places,
                self.duals[candidate as usize],
                candidates.rows[candidate as usize],
            );
        }
        let rest = chains.loss_beside(floors, lines);
        self.rectangle.run(chains.open_lines(floors, lines), rest, &mut self.group, patience)
    }
}
