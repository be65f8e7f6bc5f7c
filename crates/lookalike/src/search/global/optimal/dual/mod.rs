//! A dual bound on the cost of all partitions of a node, and of those that join two blocks or keep
//! them apart.
//!
//! An entry that is in a box with too few rows is suppressed, or its block on one of the attributes
//! is not inside the box (`cuts.rs`). Give each of these cuts a price, and charge it to the entry:
//! an attribute whose block leaves the box gets it back. So for all prices, as long as those of an
//! entry are no more than what its suppression costs, the sum of all prices and of the cheapest
//! partition of each attribute by itself, with the prices that it gets back, is a lower bound. The
//! best prices are the dual solution of a linear program; here they are approached by subgradient
//! steps, with new cuts where the average of the cheapest partitions violates them.
//!
//! The rise of a block's cost is charged to its entries as well. An entry that may be suppressed is
//! charged up to a cap, which is taken from its budget for prices (`build.rs`).
//!
//! # References
//! M. Fisher: The Lagrangian Relaxation Method for Solving Integer Programming Problems, Management
//! Science 1981; A. Lucena: Non Delayed Relax-and-Cut Algorithms, Annals of OR 2005.

mod build;
mod column;
mod cuts;
mod pairs;
mod prices;
mod ways;

use self::build::NodeView;
use self::column::{Blocks, Column};
use self::cuts::{Average, Cuts, Occurrences, grown_box};
use self::pairs::{Pairs, add_joined};
pub(super) use self::prices::Prices;
use super::bound::NodeBounds;
use super::extra::SAFETY;
use crate::domain::scheme::ChoiceState;
use crate::search::budget::Budget;
use crate::search::global::{Parts, Space};
use crate::search::grouping::hash;

/// So many of the last partitions are kept.
const RECENT: usize = 4;

/// A cut is added if less than this weight of the average partition satisfies it.
const VIOLATED: f64 = 0.95;

/// The weight of the last partition in the average.
const LAST: f64 = 0.05;

/// The factor of the step length after steps without a higher bound, and after one with it.
const SHORTER: f64 = 0.6;
const LONGER: f64 = 1.1;

/// Steps aim at so many times the best cost: to show that a node has nothing better, the bound must
/// pass it.
const AIM: f64 = 1.03;

/// A rise by less than this share of the gap is none.
const NOTICEABLE: f64 = 1e-3;

/// How much is done for the bound of a node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effort {
    /// New cuts are added so often,
    pub(super) rounds: usize,
    /// followed by so many steps.
    pub(super) steps: usize,
    /// It ends with a round that closes less than this share of the gap.
    pub(super) least_gain: f64,
    /// The first step, as a share of the way to its aim if the bound were linear.
    pub(super) length: f64,
    /// After so many steps without a higher bound they become shorter.
    pub(super) patience: usize,
}

/// The dual of a node.
#[derive(Debug)]
pub(super) struct Dual {
    columns: Vec<Column>,
    rows: Vec<u32>,
    /// The most that each entry can pay as the prices of its cuts; 0 for entries that are never
    /// suppressed, or always.
    budgets: Vec<f64>,
    /// The cost that needs no price.
    plain: f64,
    occurrences: Occurrences,
    cuts: Cuts,
    pairs: Pairs,
    average: Average,
    /// The cheapest partitions of the last steps.
    recent: [Vec<Blocks>; RECENT],
    pub(super) bound: f64,
    /// By column, for every two elements the bounds when they are joined and when they are kept
    /// apart.
    ways: Vec<Vec<(f64, f64)>>,
    /// The cheapest partition of each attribute under the best prices.
    cheapest: Vec<Blocks>,
}

/// Memory that is reused from step to step.
#[derive(Debug, Default)]
struct Buffers {
    buckets: Vec<Vec<f64>>,
    joined: Vec<Vec<f64>>,
    costs: Vec<f64>,
    memory: Vec<f64>,
    gradients: Vec<f64>,
    spent: Vec<f64>,
}

impl Dual {
    /// The dual of a node, with the prices of the node above.
    pub(super) fn new(
        space: &Space,
        state: &ChoiceState,
        bounds: &NodeBounds,
        guide: &Parts,
        prices: Option<&Prices>,
    ) -> Dual {
        let node = NodeView { space, state, bounds, guide };
        let mut budgets = node.budgets();
        let columns: Vec<Column> =
            (0..space.shapes.len()).map(|at| node.column(at, &mut budgets)).collect();
        let mut dual = Dual {
            occurrences: Occurrences::new(&columns, &bounds.table.rows, space.least_rows),
            average: Average::new(columns.len()),
            pairs: Pairs::new(&node, &columns),
            recent: Default::default(),
            columns,
            rows: bounds.table.rows.clone(),
            budgets,
            plain: bounds.plain,
            cuts: Cuts::default(),
            bound: f64::NEG_INFINITY,
            ways: Vec::new(),
            cheapest: Vec::new(),
        };
        if let Some(prices) = prices {
            dual.take(prices);
            dual.keep_budgets(&mut Vec::new());
        }
        dual
    }

    /// Raises the bound by better prices. Returns when it reaches `best`.
    pub(super) fn ascend(&mut self, best: f64, effort: Effort, budget: &Budget) {
        let mut buffers = Buffers::default();
        let (mut kept, mut kept_pairs) = (Vec::new(), self.pairs.prices.clone());
        for round in 0..effort.rounds {
            let before = self.bound;
            let mut length = effort.length;
            let mut since = 0;
            if round > 0 || self.cuts.len() == 0 {
                if round == 0 {
                    let (_, partitions) = self.evaluate(&mut buffers);
                    self.average.add(&partitions, 1.0);
                    self.recent[0] = partitions;
                }
                self.separate(round, budget);
            }
            for step in 0..effort.steps {
                let (value, partitions) = self.evaluate(&mut buffers);
                self.recent[step % RECENT].clone_from(&partitions);
                self.average.add(&partitions, if round + step == 0 { 1.0 } else { LAST });
                if value > self.bound {
                    if value > self.bound + (best - value) * NOTICEABLE {
                        (length, since) = ((length * LONGER).min(1.0), 0);
                    }
                    self.bound = value;
                    kept.clone_from(&self.cuts.prices);
                    kept_pairs.clone_from(&self.pairs.prices);
                    self.cheapest.clone_from(&partitions);
                } else {
                    since += 1;
                }
                if since > effort.patience {
                    (length, since) = (length * SHORTER, 0);
                }
                if super::is_no_better(self.bound, best) || budget.is_spent() {
                    break;
                }
                if !self.step(&partitions, length * (best * AIM - value), &mut buffers) {
                    break;
                }
            }
            // New cuts have no price in the best prices, if these are older.
            kept.resize(self.cuts.len(), 0.0);
            self.cuts.prices.clone_from(&kept);
            self.pairs.prices.clone_from(&kept_pairs);
            self.cuts.purge(self.columns.len());
            kept.clone_from(&self.cuts.prices);
            let is_slow =
                round > 0 && self.bound - before < effort.least_gain * (best - self.bound);
            if is_slow || super::is_no_better(self.bound, best) || budget.is_spent() {
                break;
            }
        }
        self.find_ways(&mut buffers);
    }

    /// The bound under the prices of the cuts, with the cheapest partition of each column.
    fn evaluate(&self, buffers: &mut Buffers) -> (f64, Vec<Blocks>) {
        self.fill_buckets(buffers);
        let lost = self.pairs.fill(&self.columns, &mut buffers.joined);
        let prices: f64 = self.cuts.prices.iter().sum();
        // Rounded down, by the size of the sums that it is the difference of.
        let mut value = self.plain + prices - lost - (self.plain + prices + lost) * SAFETY;
        let mut partitions = Vec::with_capacity(self.columns.len());
        let prices = buffers.buckets.iter_mut().zip(&buffers.joined);
        for (column, (buckets, joined)) in self.columns.iter().zip(prices) {
            column.costs(buckets, &mut buffers.costs);
            add_joined(column, joined, &mut buffers.costs);
            let (cost, blocks) = column.cheapest(&buffers.costs, &mut buffers.memory);
            value += cost;
            partitions.push(blocks);
        }
        (value, partitions)
    }

    /// Sums up the prices that each column gives back.
    fn fill_buckets(&self, buffers: &mut Buffers) {
        let width = self.columns.len();
        buffers.buckets.resize_with(width, Vec::new);
        for (column, buckets) in self.columns.iter().zip(&mut buffers.buckets) {
            buckets.clear();
            buckets.resize(column.buckets(), 0.0);
        }
        for (cut, &price) in self.cuts.prices.iter().enumerate().filter(|(_, price)| **price > 0.0)
        {
            for (buckets, &bucket) in
                buffers.buckets.iter_mut().zip(&self.cuts.buckets[cut * width..])
            {
                buckets[bucket as usize] += price;
            }
        }
    }

    /// Changes the prices along the subgradient; false when it is 0.
    fn step(&mut self, partitions: &[Blocks], gap: f64, buffers: &mut Buffers) -> bool {
        let width = self.columns.len();
        let mut norm = self.pairs.find_gradients(&self.columns, partitions);
        buffers.gradients.clear();
        for (cut, sides) in self.cuts.sides.chunks_exact(width).enumerate() {
            let entry = self.cuts.entry[cut] as usize;
            let leaves =
                |at: usize| partitions[at][self.columns[at].of[entry] as usize] & !sides[at] != 0;
            let left: f64 = (0..width).map(|at| f64::from(leaves(at))).sum();
            let is_at_end = left > 1.0 && self.cuts.prices[cut] <= 0.0;
            let gradient = if is_at_end { 0.0 } else { 1.0 - left };
            norm += gradient * gradient * f64::from(self.rows[entry]);
            buffers.gradients.push(gradient);
        }
        if norm <= 0.0 {
            return false;
        }
        let length = gap.max(0.0) / norm;
        for (cut, gradient) in buffers.gradients.iter().enumerate() {
            let rows = f64::from(self.rows[self.cuts.entry[cut] as usize]);
            let price = &mut self.cuts.prices[cut];
            *price = (*price + length * gradient * rows).max(0.0);
        }
        self.keep_budgets(&mut buffers.spent);
        self.pairs.step(length);
        true
    }

    /// Lowers the prices of entries that would pay more than their budget.
    fn keep_budgets(&mut self, spent: &mut Vec<f64>) {
        spent.clear();
        spent.resize(self.rows.len(), 0.0);
        for (&entry, price) in self.cuts.entry.iter().zip(&self.cuts.prices) {
            spent[entry as usize] += price;
        }
        for (&entry, price) in self.cuts.entry.iter().zip(&mut self.cuts.prices) {
            let (spent, budget) = (spent[entry as usize], self.budgets[entry as usize]);
            if spent > budget {
                *price *= budget / spent;
            }
        }
    }

    /// Adds cuts that the average partition violates.
    fn separate(&mut self, turn: usize, budget: &Budget) {
        let width = self.columns.len();
        let mut known = rustc_hash::FxHashSet::default();
        for (entry, sides) in self.cuts.entry.iter().zip(self.cuts.sides.chunks_exact(width)) {
            known.insert((*entry, sides.to_vec()));
        }
        let is_small = self.small_entries();
        for (number, entry) in (0u32..).zip(0..self.rows.len()) {
            if self.budgets[entry] <= 0.0 || !is_small[entry] {
                continue;
            }
            if entry % 64 == 0 && budget.is_spent() {
                return;
            }
            let (columns, average) = (&self.columns, &self.average);
            let Some((sides, escaping)) =
                grown_box(columns, &self.occurrences, average, entry, turn + entry)
            else {
                continue;
            };
            if escaping < VIOLATED && known.insert((number, sides.clone())) {
                self.cuts.push(&self.columns, entry, &sides, 0.0);
            }
        }
    }

    /// The entries whose class was too small in one of the last partitions. Classes are told apart
    /// by a hash: two that are taken for one cost a cut, no more.
    fn small_entries(&self) -> Vec<bool> {
        let mut is_small = vec![false; self.rows.len()];
        for partition in self.recent.iter().filter(|partition| !partition.is_empty()) {
            let key = |entry: usize| {
                let blocks = self.columns.iter().zip(partition);
                blocks.fold(0, |key, (column, blocks)| {
                    hash(key ^ blocks[column.of[entry] as usize]).rotate_left(23)
                })
            };
            let keys: Vec<u64> = (0..self.rows.len()).map(key).collect();
            let mut sizes: rustc_hash::FxHashMap<u64, u64> = rustc_hash::FxHashMap::default();
            for (key, &rows) in keys.iter().zip(&self.rows) {
                *sizes.entry(*key).or_default() += u64::from(rows);
            }
            for (is_small, key) in is_small.iter_mut().zip(&keys) {
                *is_small |= sizes[key] < self.occurrences.least_rows;
            }
        }
        is_small
    }
}
