//! The groups that a box around one group may contain: their losses on every chain, and the lists
//! of the steps of a search.

use crate::codes::{Code, CodeRange};
use crate::search::boxes::Boxes;

use super::chains::Chains;
use super::index::JoinLosses;

/// Groups near one group. They are addressed by their place in `rows` and `groups`.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    /// The chains of the group that the search is for.
    pub(super) chains: Chains,
    /// For each candidate and each chain, the loss of the first range that contains it.
    losses: Vec<f64>,
    pub(super) rows: Vec<u64>,
    groups: Vec<u32>,
    /// The candidates of the steps under way, one step after the other.
    pub(super) list: Vec<u32>,
}

/// Rows within the floor of each chain, and the least loss above the floor.
#[derive(Debug, Default)]
pub(super) struct ChainCounts {
    pub(super) within: Vec<u64>,
    pub(super) next: Vec<f64>,
}

/// The next decision of a step.
#[derive(Debug)]
pub(super) enum CandidateDecision {
    /// Either the box stays below `bar` on this chain, or its floor rises to it.
    Rise { chain: usize, bar: f64 },
    /// Only these lines are open, two at most.
    Settle(Vec<usize>),
}

impl Candidates {
    pub(super) fn clear(&mut self) {
        self.losses.clear();
        self.rows.clear();
        self.groups.clear();
    }

    /// Adds a group with these codes unless a box with both loses `limit` or more; `own` are the
    /// ranges of the group that the search is for.
    #[inline(always)]
    pub(super) fn push_below(
        &mut self,
        limit: f64,
        joins: &JoinLosses,
        own: &[CodeRange],
        codes: &[Code],
        (group, rows): (u32, u64),
    ) {
        let start = self.losses.len();
        let mut sum = 0.0;
        for &at in &self.chains.single {
            let loss = joins.of(at, codes[at]);
            sum += loss;
            if sum >= limit {
                return self.losses.truncate(start);
            }
            self.losses.push(loss);
        }
        for &(at, _) in &self.chains.lines {
            let loss = joins.of(at, codes[at]);
            sum += loss;
            if sum >= limit {
                return self.losses.truncate(start);
            }
            self.losses.extend(if codes[at] < own[at].lo { [loss, 0.0] } else { [0.0, loss] });
        }
        self.rows.push(rows);
        self.groups.push(group);
    }

    /// Puts all candidates on the list, in the order in which they were added.
    pub(super) fn list_all(&mut self) {
        self.list.clear();
        self.list.extend((0u32..).take(self.rows.len()));
    }

    /// The losses of a candidate on all chains.
    #[inline]
    pub(super) fn losses(&self, candidate: u32) -> &[f64] {
        let width = self.chains.len();
        &self.losses[candidate as usize * width..][..width]
    }

    /// The losses on a chain of the candidates of the list from `start` on.
    pub(super) fn on_chain(&self, start: usize, chain: usize) -> impl Iterator<Item = f64> {
        let width = self.chains.len();
        self.list[start..]
            .iter()
            .map(move |&candidate| self.losses[candidate as usize * width + chain])
    }

    /// Appends those of the list from `start` on that lose less than `bar` on a chain. Returns
    /// their rows.
    pub(super) fn list_below(&mut self, start: usize, chain: usize, bar: f64) -> u64 {
        let width = self.chains.len();
        let mut rows = 0;
        for place in start..self.list.len() {
            let candidate = self.list[place];
            if self.losses[candidate as usize * width + chain] < bar {
                self.list.push(candidate);
                rows += self.rows[candidate as usize];
            }
        }
        rows
    }

    /// The smallest box around a group and all candidates within these floors, and the groups of
    /// these.
    pub(super) fn box_within(
        &self,
        floors: &[f64],
        boxes: &Boxes,
        group: u32,
    ) -> (Vec<CodeRange>, Vec<u32>) {
        let mut ranges = boxes.ranges(group).to_vec();
        let mut groups = Vec::new();
        let loss = self.chains.loss(floors);
        for (losses, &other) in self.losses.chunks_exact(self.chains.len()).zip(&self.groups) {
            // Not chain by chain: with a missing value the loss of a whole line is that of any
            // part of it.
            if self.chains.joined(floors, losses) <= loss {
                groups.push(other);
                for (range, other) in ranges.iter_mut().zip(boxes.ranges(other)) {
                    *range = range.join(*other);
                }
            }
        }
        (ranges, groups)
    }

    /// Counts the rows of the list from `start` on within each floor.
    pub(super) fn count(&self, start: usize, floors: &[f64], counts: &mut ChainCounts) {
        let ChainCounts { within, next } = counts;
        within.clear();
        within.resize(floors.len(), 0);
        next.clear();
        next.resize(floors.len(), f64::INFINITY);
        for &candidate in &self.list[start..] {
            let rows = self.rows[candidate as usize];
            for ((within, next), (loss, floor)) in
                within.iter_mut().zip(&mut *next).zip(self.losses(candidate).iter().zip(floors))
            {
                *within += if loss <= floor { rows } else { 0 };
                let above = if loss > floor { *loss } else { f64::INFINITY };
                *next = if above < *next { above } else { *next };
            }
        }
    }

    /// The chain to decide next: of the attributes with one chain the one with the widest gap
    /// above its floor, then the line that extends farthest. `total` rows are in the step.
    pub(super) fn decide(
        &self,
        start: usize,
        floors: &[f64],
        ChainCounts { within, next }: &ChainCounts,
        total: u64,
    ) -> CandidateDecision {
        let singles = self.chains.single.len();
        let is_open = |chain: &usize| within[*chain] < total;
        let gap = |chain: usize| next[chain] - floors[chain];
        let wider = |one: &usize, other: &usize| {
            gap(*one).total_cmp(&gap(*other)).then(within[*other].cmp(&within[*one]))
        };
        if let Some(chain) = (0..singles).filter(is_open).max_by(wider) {
            return CandidateDecision::Rise { chain, bar: next[chain] };
        }
        let is_open_line =
            |line: &usize| (0..2).any(|side| is_open(&(self.chains.sides(*line) + side)));
        let lines: Vec<usize> = (0..self.chains.lines.len()).filter(is_open_line).collect();
        if lines.len() <= 2 {
            return CandidateDecision::Settle(lines);
        }
        let extent = |chain: usize| self.on_chain(start, chain).fold(0.0, f64::max) - floors[chain];
        let chain = (singles..self.chains.len())
            .filter(is_open)
            .max_by(|&one, &other| extent(one).total_cmp(&extent(other)))
            .expect("a line is open");
        CandidateDecision::Rise { chain, bar: self.median_above(start, chain, floors[chain]) }
    }

    /// The median of the losses above a floor.
    fn median_above(&self, start: usize, chain: usize, floor: f64) -> f64 {
        let mut above: Vec<f64> =
            self.on_chain(start, chain).filter(|&loss| loss > floor).collect();
        let middle = above.len() / 2;
        *above.select_nth_unstable_by(middle, f64::total_cmp).1
    }
}
