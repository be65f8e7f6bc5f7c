//! Pairs of entries that may come to share a class, for DM: the cost of an entry that is never
//! suppressed grows by the rows of every entry that joins its class.
//!
//! Two entries that differ on d attributes are in one class when all d join them. So the number of
//! those that do, less d - 1, is at most 1 then and at most 0 otherwise: under a price of at most
//! the rows that come to share a class, each attribute that joins them is charged the price, and
//! the sum loses it d - 1 times.

use super::build::NodeView;
use super::column::{Blocks, Column};

/// No more pairs have a price than this.
const MOST_PAIRS: usize = 40_000;

/// The scale of a price, as a share of its greatest value.
const SCALE: f64 = 0.01;

/// Pairs of entries that differ on two or more attributes.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    pub(super) entries: Vec<(u32, u32)>,
    /// The columns on which they differ, one bit for each.
    differ: Vec<u64>,
    /// The rows that come to share a class, counted for each row that bears the cost.
    pub(super) most: Vec<f64>,
    pub(super) prices: Vec<f64>,
    gradients: Vec<f64>,
}

impl Pairs {
    /// The pairs of a node that share a class in the best partition so far.
    pub(super) fn new(node: &NodeView, columns: &[Column]) -> Pairs {
        let table = &node.bounds.table;
        if node.space.costing.is_separable() || table.width > 64 {
            return Pairs::default();
        }
        let class = |entry: &u32| {
            let atoms = table.atoms_of(*entry as usize).iter().zip(node.guide);
            atoms.map(|(&atom, guide)| guide[atom as usize])
        };
        let mut order: Vec<u32> = (0..).take(table.len()).collect();
        order.sort_unstable_by(|one, other| class(one).cmp(class(other)));
        let mut found: Vec<(f64, u32, u32, u64)> = Vec::new();
        for group in order.chunk_by(|one, other| class(one).eq(class(other))) {
            for (place, &one) in group.iter().enumerate() {
                for &other in &group[place + 1..] {
                    let bearers = u32::from(node.is_certain(one as usize))
                        + u32::from(node.is_certain(other as usize));
                    let rows =
                        f64::from(table.rows[one as usize]) * f64::from(table.rows[other as usize]);
                    if bearers > 0
                        && let Some(differ) = differing(node, columns, one, other)
                    {
                        found.push((
                            f64::from(bearers) * rows,
                            one.min(other),
                            one.max(other),
                            differ,
                        ));
                    }
                }
            }
        }
        found.sort_unstable_by(|one, other| {
            other.0.total_cmp(&one.0).then((one.1, one.2).cmp(&(other.1, other.2)))
        });
        found.truncate(MOST_PAIRS);
        Pairs {
            entries: found.iter().map(|pair| (pair.1, pair.2)).collect(),
            differ: found.iter().map(|pair| pair.3).collect(),
            most: found.iter().map(|pair| pair.0).collect(),
            prices: vec![0.0; found.len()],
            gradients: Vec::new(),
        }
    }

    /// The sum that the prices lose, and for each column the prices of every two elements.
    pub(super) fn fill(&self, columns: &[Column], joined: &mut Vec<Vec<f64>>) -> f64 {
        joined.resize_with(columns.len(), Vec::new);
        for (column, joined) in columns.iter().zip(joined.iter_mut()) {
            joined.clear();
            if !self.entries.is_empty() {
                joined.resize(column.count * column.count, 0.0);
            }
        }
        let mut lost = 0.0;
        for (pair, &price) in self.prices.iter().enumerate().filter(|(_, price)| **price > 0.0) {
            lost += price * f64::from(self.differ[pair].count_ones() - 1);
            for at in super::column::members(self.differ[pair]) {
                let (one, other) = self.elements(columns, pair, at);
                joined[at][one.min(other) * columns[at].count + one.max(other)] += price;
            }
        }
        lost
    }

    fn elements(&self, columns: &[Column], pair: usize, at: usize) -> (usize, usize) {
        let (one, other) = self.entries[pair];
        let of = &columns[at].of;
        (of[one as usize] as usize, of[other as usize] as usize)
    }

    /// The subgradient under the cheapest partitions; its part of the squared norm.
    pub(super) fn find_gradients(&mut self, columns: &[Column], partitions: &[Blocks]) -> f64 {
        self.gradients.clear();
        let mut norm = 0.0;
        for pair in 0..self.entries.len() {
            let mut gradient = 1.0;
            for at in super::column::members(self.differ[pair]) {
                let (one, other) = self.elements(columns, pair, at);
                if partitions[at][one] >> other & 1 == 0 {
                    gradient -= 1.0;
                }
            }
            let is_at_end = gradient < 0.0 && self.prices[pair] <= 0.0
                || gradient > 0.0 && self.prices[pair] >= self.most[pair];
            let gradient = if is_at_end { 0.0 } else { gradient };
            norm += gradient * gradient * self.most[pair] * SCALE;
            self.gradients.push(gradient);
        }
        norm
    }

    /// Changes the prices along the subgradient.
    pub(super) fn step(&mut self, length: f64) {
        for (pair, gradient) in self.gradients.iter().enumerate() {
            let most = self.most[pair];
            let price = &mut self.prices[pair];
            *price = (*price + length * gradient * most * SCALE).clamp(0.0, most);
        }
    }
}

/// The columns on which two entries differ, if they are two or more, all take part, and may join
/// them.
fn differing(node: &NodeView, columns: &[Column], one: u32, other: u32) -> Option<u64> {
    let table = &node.bounds.table;
    let mut differ = 0u64;
    for (at, column) in columns.iter().enumerate() {
        if table.atoms_of(one as usize)[at] != table.atoms_of(other as usize)[at] {
            let (one, other) = (column.of[one as usize], column.of[other as usize]);
            if one == other || column.reach[one as usize] >> other & 1 == 0 {
                return None;
            }
            differ |= 1 << at;
        }
    }
    (differ.count_ones() > 1).then_some(differ)
}

/// Adds the prices of every two elements of a block to its cost.
pub(super) fn add_joined(column: &Column, joined: &[f64], costs: &mut [f64]) {
    let n = column.count;
    if joined.is_empty() {
        return;
    }
    if column.is_of_sets {
        let mut sums = vec![0.0; costs.len()];
        for set in 1..costs.len() {
            let first = set.trailing_zeros() as usize;
            let rest = set & (set - 1);
            let own = super::column::members(rest as u64).map(|other| joined[first * n + other]);
            sums[set] = sums[rest] + own.sum::<f64>();
            costs[set] += sums[set];
        }
        return;
    }
    for from in 0..n {
        let mut sum = 0.0;
        for to in from..n {
            sum += (from..to).map(|one| joined[one * n + to]).sum::<f64>();
            costs[from * n + to] += sum;
        }
    }
}
