//! The box around one group of equal rows that has at least k rows and loses least: the search of
//! `box_search.rs` with the loss as its goal.
//!
//! A candidate leaves a step when a box with these floors and with it loses as much as the best
//! box. A box is found when k rows lie within all floors.

use std::collections::BinaryHeap;

use crate::codes::CodeRange;
use crate::search::boxes::Boxes;

use super::box_search::{BoxSearch, Pruned};
use super::candidates::{Candidates, ChainCounts};
use super::index::{Index, JoinLosses};
use super::least_rectangle::LeastRectangle;
use super::rectangle::BestRectangle;

/// Share of the loss of the box of all rows. If the best known box loses less, candidates are
/// gathered up to its loss; else the nearest k rows are looked for first.
const WIDE: f64 = 0.5;

/// The first radius of a search, as a multiple of the loss with the nearest k rows. Greater: more
/// candidates in the first round, fewer rounds.
const FIRST_REACH: f64 = 1.25;

/// The next radius when a round found no box, as a multiple of the radius before.
const NEXT_REACH: f64 = 1.4;

/// The result of a search for one group.
#[derive(Clone, Debug)]
pub(super) struct LeastBox {
    /// No box of k rows around the group loses less.
    pub(super) least: f64,
    /// The best box that was found, if it is better than the one known before; it loses `least`
    /// when the search is exact.
    pub(super) best: Option<FoundBox>,
    /// False when the search gave up: a better box than any known may exist.
    pub(super) is_exact: bool,
}

/// A box with at least k rows.
#[derive(Clone, Debug)]
pub(super) struct FoundBox {
    pub(super) loss: f64,
    pub(super) ranges: Vec<CodeRange>,
    /// The groups inside.
    pub(super) groups: Vec<u32>,
}

/// The table that a search looks through.
#[derive(Clone, Copy, Debug)]
pub(super) struct LossSpace<'a> {
    /// Groups of equal rows, each the box of its values.
    pub(super) boxes: &'a Boxes<'a>,
    pub(super) index: &'a Index,
    pub(super) k: u64,
    /// The loss of a row in the box of all rows.
    pub(super) most: f64,
    /// A search gives up after this many looks at a candidate.
    pub(super) patience: u64,
}

/// A search for the box that loses least, with buffers that the next search uses again.
#[derive(Debug, Default)]
pub(super) struct LeastBoxSearch {
    search: BoxSearch,
    goal: LeastLoss,
}

/// The goal: the least loss of a box with at least k rows.
#[derive(Debug, Default)]
pub(super) struct LeastLoss {
    pub(super) k: u64,
    /// Only boxes that lose less are looked for.
    limit: f64,
    rectangle: LeastRectangle,
}

impl LeastBoxSearch {
    /// The box around a group that loses least, if less than `known`, the loss of a box that was
    /// found before.
    pub(super) fn run(&mut self, space: &LossSpace, group: u32, known: f64) -> LeastBox {
        self.search.candidates.chains.set_group(space.boxes, group);
        (self.search.steps, self.search.patience, self.goal.k) = (0, space.patience, space.k);
        let joins = space.index.joins(space.boxes, group);
        let own = self.search.candidates.chains.own_floors(space.boxes, group);
        let mut gathered = 0.0;
        let mut proved = if known < space.most * WIDE {
            gathered = known;
            self.gather(space, &joins, group, gathered);
            self.goal.lower_bound(&self.search.candidates, 0, &own).min(known)
        } else {
            nearest(space, &joins, known).unwrap_or(known)
        };
        if proved >= known {
            return LeastBox { least: known, best: None, is_exact: true };
        }
        let mut reach = proved * FIRST_REACH + space.boxes.penalty.rounding();
        loop {
            let sought = reach.min(known);
            if sought > gathered {
                gathered = sought;
                self.gather(space, &joins, group, gathered);
            }
            let best = self.round(space, group, &own, sought);
            let upper = best.as_ref().map_or(known, |best| best.loss);
            let is_exact = self.search.given_up >= self.goal.limit;
            if !is_exact {
                let least = proved.max(self.search.given_up.min(upper));
                return LeastBox { least, best, is_exact };
            }
            if best.is_some() || sought >= known {
                return LeastBox { least: upper, best, is_exact };
            }
            proved = sought;
            reach = sought * NEXT_REACH;
        }
    }

    /// The best box that loses less than `sought`, which is no more than was gathered.
    fn round(
        &mut self,
        space: &LossSpace,
        group: u32,
        own: &[f64],
        sought: f64,
    ) -> Option<FoundBox> {
        self.goal.limit = sought;
        self.search.restart();
        self.search.candidates.list_all();
        let total = self.search.candidates.rows.iter().sum();
        self.search.step(&mut self.goal, 0, own.to_vec(), total);
        (!self.search.best.is_empty()).then(|| {
            let (ranges, groups) =
                self.search.candidates.box_within(&self.search.best, space.boxes, group);
            FoundBox { loss: space.boxes.penalty.of_box(&ranges), ranges, groups }
        })
    }

    /// Makes all groups candidates with which the group loses less than `limit`, itself among
    /// them.
    fn gather(&mut self, space: &LossSpace, joins: &JoinLosses, group: u32, limit: f64) {
        let own = space.boxes.ranges(group);
        let candidates = &mut self.search.candidates;
        candidates.clear();
        space.index.within(
            joins,
            &mut *candidates,
            |_| limit,
            |candidates, place| {
                let codes = space.index.codes(place);
                candidates.push_below(limit, joins, own, codes, space.index.group(place));
            },
        );
        candidates.list_all();
    }
}

impl LeastLoss {
    /// Removes candidates that no better box of a step contains, and keeps the box of the floors if it
    /// is better than all before. The box of the floors is the best of the step when it has k rows.
    pub(super) fn prune(
        &mut self,
        search: &mut BoxSearch,
        start: usize,
        floors: &[f64],
        total: &mut u64,
    ) -> Pruned {
        if !search.has_patience(start) {
            return Pruned::GivenUp;
        }
        let candidates = &mut search.candidates;
        let loss = candidates.chains.loss(floors);
        if loss >= self.limit {
            return Pruned::Over;
        }
        let (mut kept, mut inside) = (start, 0);
        for place in start..candidates.list.len() {
            let candidate = candidates.list[place];
            let joined = candidates.chains.joined(floors, candidates.losses(candidate));
            if joined < self.limit {
                candidates.list[kept] = candidate;
                kept += 1;
                inside += if joined <= loss { candidates.rows[candidate as usize] } else { 0 };
            } else {
                *total -= candidates.rows[candidate as usize];
                if *total < self.k {
                    return Pruned::Over;
                }
            }
        }
        candidates.list.truncate(kept);
        if inside >= self.k {
            self.limit = loss;
            search.best.clear();
            search.best.extend_from_slice(floors);
            return Pruned::Over;
        }
        Pruned::Open
    }

    /// Raises every floor to the loss at which k rows lie within it.
    pub(super) fn raise(
        &self,
        candidates: &Candidates,
        start: usize,
        counts: &ChainCounts,
        floors: &mut [f64],
    ) -> bool {
        let mut has_risen = false;
        for (chain, floor) in floors.iter_mut().enumerate() {
            if counts.within[chain] < self.k {
                let deficit = self.k - counts.within[chain];
                *floor = floor_with(candidates, start, chain, *floor, deficit);
                has_risen = true;
            }
        }
        has_risen
    }

    /// A lower bound on the value of every box of a step: the least loss with which k rows of the list can be joined one by one.
    pub(super) fn lower_bound(&self, candidates: &Candidates, start: usize, floors: &[f64]) -> f64 {
        let of_candidate = |&candidate: &u32| {
            let joined = candidates.chains.joined(floors, candidates.losses(candidate));
            (joined, candidates.rows[candidate as usize])
        };
        let mut all: Vec<(f64, u64)> = candidates.list[start..].iter().map(of_candidate).collect();
        all.sort_unstable_by(|one, other| one.0.total_cmp(&other.0));
        let mut rows = 0;
        for (loss, more) in all {
            rows += more;
            if rows >= self.k {
                return loss;
            }
        }
        f64::INFINITY
    }

    /// Settles a step with one or two open lines.
    pub(super) fn best_rectangle(
        &mut self,
        candidates: &Candidates,
        start: usize,
        floors: &[f64],
        lines: &[usize],
        patience: u64,
    ) -> BestRectangle {
        let chains = &candidates.chains;
        let rest = chains.loss_beside(floors, lines);
        self.rectangle.clear();
        for &candidate in &candidates.list[start..] {
            let places = chains.places(floors, lines, candidates.losses(candidate));
            self.rectangle.add(places, candidates.rows[candidate as usize]);
        }
        let mut limit = self.limit - rest;
        let lines = chains.open_lines(floors, lines);
        let found = self.rectangle.run(lines, self.k, &mut limit, patience);
        if found.sides.is_some() {
            self.limit = rest + limit;
        }
        found
    }
}

/// The floor of a chain within which `deficit` more rows lie.
fn floor_with(
    candidates: &Candidates,
    start: usize,
    chain: usize,
    mut floor: f64,
    mut deficit: u64,
) -> f64 {
    loop {
        let (mut next, mut rows) = (f64::INFINITY, 0);
        let listed = candidates.on_chain(start, chain).zip(&candidates.list[start..]);
        for (loss, &candidate) in listed {
            if loss > floor && loss <= next {
                rows = candidates.rows[candidate as usize] + if loss < next { 0 } else { rows };
                next = loss;
            }
        }
        if rows >= deficit || next.is_infinite() {
            return next;
        }
        deficit -= rows;
        floor = next;
    }
}

/// A lower bound on the loss of every box around a group with k rows: the loss with the last of
/// its k nearest rows. None when that is not below `known`.
fn nearest(space: &LossSpace, joins: &JoinLosses, known: f64) -> Option<f64> {
    struct NearestRows {
        /// Losses as bits, which sort like the losses, and rows.
        heap: BinaryHeap<(u64, u64)>,
        rows: u64,
        limit: f64,
    }
    let nearest = NearestRows { heap: BinaryHeap::new(), rows: 0, limit: known };
    let nearest = space.index.within(
        joins,
        nearest,
        |nearest| nearest.limit,
        |nearest, place| {
            let mut loss = 0.0;
            for (at, &code) in space.index.codes(place).iter().enumerate() {
                loss += joins.of(at, code);
                if loss >= nearest.limit {
                    return;
                }
            }
            let (_, rows) = space.index.group(place);
            nearest.heap.push((loss.abs().to_bits(), rows));
            nearest.rows += rows;
            while let Some(&(loss, rows)) = nearest.heap.peek() {
                if nearest.rows < space.k {
                    break;
                }
                nearest.limit = f64::from_bits(loss);
                if nearest.rows - rows < space.k {
                    break;
                }
                nearest.rows -= rows;
                nearest.heap.pop();
            }
        },
    );
    (nearest.rows >= space.k).then_some(nearest.limit)
}
