//! What the prices of a node say about its decisions: bounds for either half, and a partition.

use super::column::Column;
use super::pairs::add_joined;
use super::{AIM, Buffers, Dual, SHORTER};
use crate::domain::scheme::Decision;
use crate::search::global::optimal::bound::NodeBounds;
use crate::search::global::optimal::is_no_better;
use crate::search::global::{Parts, Space};

/// Trials of more steps of dynamic programming take too long.
const MOST_OF_TRIALS: usize = 100_000;

/// The first step of a trial.
const TRIAL_LENGTH: f64 = 0.3;

impl Dual {
    /// Computes the bounds of all decisions, under the best prices.
    pub(super) fn find_ways(&mut self, buffers: &mut Buffers) {
        self.fill_buckets(buffers);
        self.pairs.fill(&self.columns, &mut buffers.joined);
        let prices = buffers.buckets.iter_mut().zip(&buffers.joined);
        for (column, (buckets, joined)) in self.columns.iter().zip(prices) {
            column.costs(buckets, &mut buffers.costs);
            add_joined(column, joined, &mut buffers.costs);
            let (least, _) = column.cheapest(&buffers.costs, &mut buffers.memory);
            let mut ways = column.both_ways(&buffers.costs, &mut buffers.memory);
            let above = |value: f64| if value.is_finite() { value - least } else { f64::INFINITY };
            ways.iter_mut().for_each(|way| {
                *way = (self.bound + above(way.0), self.bound + above(way.1));
            });
            self.ways.push(ways);
        }
    }

    /// The cheapest partition of each attribute under the best prices, as a partition of atoms;
    /// attributes that take no part stay as they are.
    pub(in super::super) fn parts(&self, bounds: &NodeBounds) -> Parts {
        let mut parts = bounds.fine.clone();
        for ((column, blocks), parts) in self.columns.iter().zip(&self.cheapest).zip(&mut parts) {
            for (&element, part) in column.rank.iter().zip(parts) {
                let first = blocks[element as usize].trailing_zeros() as usize;
                *part = column.atoms[first].trailing_zeros();
            }
        }
        parts
    }

    /// The two elements of a column that two atoms are in, in order; none when it is one.
    fn pair(&self, at: usize, one: u32, other: u32) -> Option<(usize, usize)> {
        let column = &self.columns[at];
        if column.rank.is_empty() {
            return None;
        }
        let (one, other) = (column.rank[one as usize], column.rank[other as usize]);
        (one != other).then(|| (one.min(other) as usize, one.max(other) as usize))
    }

    /// A bound for the node with one more decision.
    pub(in super::super) fn probe(&self, space: &Space, choice: u32, decision: Decision) -> f64 {
        let at = space.choices.attribute(choice);
        let pairs = space.choices.links(choice).iter().filter_map(|&(a, b)| self.pair(at, a, b));
        let way = |(one, other): (usize, usize)| {
            let (joined, apart) = self.ways[at][one * self.columns[at].count + other];
            if decision == Decision::Joined { joined } else { apart }
        };
        pairs.map(way).fold(self.bound, f64::max)
    }

    /// The weight with which the average partition joins a choice, from 0 to 1.
    pub(in super::super) fn joined_weight(&self, space: &Space, choice: u32) -> f64 {
        let at = space.choices.attribute(choice);
        let pairs = space.choices.links(choice).iter().filter_map(|&(a, b)| self.pair(at, a, b));
        pairs.map(|(one, other)| self.average.joined(at, one, other)).fold(1.0, f64::min)
    }

    /// A bound for the node with one more decision, after some steps with better prices for it.
    pub(in super::super) fn trial(
        &mut self,
        space: &Space,
        choice: u32,
        decision: Decision,
        best: f64,
        steps: usize,
    ) -> f64 {
        let at = space.choices.attribute(choice);
        let links = space.choices.links(choice).iter();
        let pairs: Vec<_> = links.filter_map(|&(a, b)| self.pair(at, a, b)).collect();
        if pairs.is_empty() {
            return self.bound;
        }
        let restricted = self.columns[at].restricted(&pairs, decision);
        let base = std::mem::replace(&mut self.columns[at].base, restricted);
        let prices = self.cuts.prices.clone();
        let pairs = self.pairs.prices.clone();
        let mut buffers = Buffers::default();
        let (mut top, mut length, mut since) = (self.bound, TRIAL_LENGTH, 0);
        for _ in 0..steps {
            let (value, partitions) = self.evaluate(&mut buffers);
            since = if value > top { 0 } else { since + 1 };
            top = top.max(value);
            if since > 1 {
                (length, since) = (length * SHORTER, 0);
            }
            if is_no_better(top, best)
                || !self.step(&partitions, length * (best * AIM - value), &mut buffers)
            {
                break;
            }
        }
        self.columns[at].base = base;
        self.cuts.prices = prices;
        self.pairs.prices = pairs;
        top
    }

    /// True when a step takes long, because attributes of sets have many elements.
    pub(in super::super) fn is_slow(&self) -> bool {
        let places = |column: &Column| {
            if column.is_of_sets {
                3usize.pow(u32::try_from(column.count).expect("few"))
            } else {
                0
            }
        };
        self.columns.iter().map(places).sum::<usize>() > MOST_OF_TRIALS
    }
}
