//! The node of least cost among those that satisfy the rules.

use std::sync::Arc;

use rayon::prelude::*;

use super::lattice::{HeightTables, Lattice, kept};
use super::{BestNode, LatticeSearch};
use crate::codes::real;
use crate::search::global::{ClassTable, EntryClasses, PartitionCost};

/// Number of minimal nodes whose costs are computed before the best is updated, on any number of
/// threads.
const BATCH: usize = 16;

/// A bound below the least cost by less than this share counts as equal: the difference is
/// rounding.
const ROUNDING: f64 = 1e-12;

impl LatticeSearch<'_> {
    /// A greedy descent from the top: always to the direct specialization of least cost that
    /// satisfies the rules, as long as it costs no more and is not finer than the table.
    pub(super) fn descend(&self, table: &ClassTable, least: &[usize], top: BestNode) -> BestNode {
        let mut best = top;
        loop {
            let below = |at: usize| {
                let mut levels = best.levels.clone();
                levels[at] = levels[at]
                    .checked_sub(1)
                    .filter(|&level| level >= least[at] && !self.budget.is_spent())?;
                Some(BestNode { cost: self.value(table, &levels).cost, levels })
            };
            let next: Vec<Option<BestNode>> =
                (0..best.levels.len()).into_par_iter().map(below).collect();
            match next.into_iter().flatten().min_by(|one, other| one.cost.total_cmp(&other.cost)) {
                Some(next) if next.cost <= best.cost => best = next,
                _ => return best,
            }
        }
    }

    /// For each attribute of the lattice and each level, the cost of all rows if none were
    /// suppressed; and the part of the cost that all nodes share.
    fn level_costs(&self, lattice: &Lattice, table: &ClassTable) -> (f64, Vec<Vec<f64>>) {
        let costing = &self.space.costing;
        if !costing.is_separable() {
            return (0.0, lattice.sizes.iter().map(|&levels| vec![0.0; levels]).collect());
        }
        let block_costs =
            |at: usize, level: usize| costing.block_costs(at, &self.ladders[at][level]);
        let alone: Vec<Vec<f64>> =
            self.ladders.iter().map(|ladder| vec![0.0; ladder[0].len()]).collect();
        let of = |block_costs: &[Vec<f64>]| -> f64 {
            (0..table.len())
                .map(|entry| {
                    costing.entry_cost(
                        block_costs,
                        table.atoms_of(entry),
                        table.rows[entry],
                        table.sums_of(entry),
                    )
                })
                .sum()
        };
        let nothing = of(&alone);
        let of_levels = |&at: &usize| {
            let with = |level: usize| {
                let mut all = alone.clone();
                all[at] = block_costs(at, level);
                of(&all) - nothing
            };
            (0..self.ladders[at].len()).map(with).collect::<Vec<f64>>()
        };
        let fixed = (0..self.ladders.len()).filter(|at| !lattice.attributes.contains(at));
        let fixed: f64 = fixed.map(|at| of_levels(&at).iter().sum::<f64>()).sum();
        (self.space.mandatory + nothing + fixed, lattice.attributes.iter().map(of_levels).collect())
    }

    /// The node of least cost among minimal nodes, in the order of their lower bounds; the number
    /// of computed costs; and false when the budget was spent.
    pub(super) fn cheapest_minimal(
        &self,
        lattice: &Lattice,
        nodes: &[usize],
        table: &ClassTable,
        top: BestNode,
    ) -> (BestNode, u64, bool) {
        let (common, costs) = self.level_costs(lattice, table);
        let bound = |node: usize| {
            common + (0..costs.len()).map(|at| costs[at][lattice.level(node, at)]).sum::<f64>()
        };
        let mut order: Vec<(f64, usize)> = nodes.iter().map(|&node| (bound(node), node)).collect();
        order.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
        let (mut best, mut valued) = (None::<BestNode>, 0);
        for batch in order.chunks(BATCH) {
            if self.budget.is_spent() {
                return (best.unwrap_or(top), valued, false);
            }
            let least = best.as_ref().map_or(f64::INFINITY, |best| best.cost * (1.0 - ROUNDING));
            let value = |&(_, node): &(f64, usize)| {
                let levels = self.levels(lattice, node);
                BestNode { cost: self.value(table, &levels).cost, levels }
            };
            let values: Vec<BestNode> =
                batch.par_iter().filter(|(bound, _)| *bound < least).map(value).collect();
            valued += values.len() as u64;
            for value in values {
                best = Some(best.filter(|best| best.cost <= value.cost).unwrap_or(value));
            }
        }
        (best.unwrap_or(top), valued, true)
    }

    /// The same among all nodes that satisfy the rules, where class sizes alone decide and rows may
    /// be suppressed.
    pub(super) fn cheapest_of_all(
        &self,
        lattice: &Lattice,
        holds: &[bool],
        table: ClassTable,
        mut best: BestNode,
    ) -> (BestNode, u64, bool) {
        let (common, costs) = self.level_costs(lattice, &table);
        let mut tables = HeightTables { base: Arc::new(table), of: vec![None; lattice.len] };
        // The best known lower bound of each node.
        let mut known = vec![0.0f64; lattice.len];
        let (mut before, mut valued) = (Vec::new(), 0);
        for mut nodes in lattice.by_height((0..lattice.len).filter(|&node| holds[node])) {
            for &node in &nodes {
                let own = common
                    + (0..costs.len()).map(|at| costs[at][lattice.level(node, at)]).sum::<f64>();
                known[node] = lattice.below(node).map(|below| known[below]).fold(own, f64::max);
            }
            nodes.retain(|&node| known[node] < best.cost * (1.0 - ROUNDING));
            let value = |&node: &usize| {
                let source = tables.source(lattice, node);
                (!self.budget.is_spent()).then(|| self.valued(&self.levels(lattice, node), source))
            };
            let Some(values) = nodes
                .par_iter()
                .map(value)
                .collect::<Option<Vec<(PartitionCost, f64, Arc<ClassTable>)>>>()
            else {
                return (best, valued, false);
            };
            valued += nodes.len() as u64;
            tables.forget(&before);
            for (&node, (value, bound, table)) in nodes.iter().zip(values) {
                if value.cost < best.cost {
                    best = BestNode { cost: value.cost, levels: self.levels(lattice, node) };
                }
                known[node] = known[node].max(bound);
                tables.of[node] = Some(table);
            }
            before = nodes;
        }
        (best, valued, true)
    }

    /// The cost of a node, a lower bound for all nodes above it under DM, and the table that they
    /// can be rolled up from.
    fn valued(
        &self,
        levels: &[usize],
        source: &Arc<ClassTable>,
    ) -> (PartitionCost, f64, Arc<ClassTable>) {
        let parts = self.parts(levels);
        let rolled = self.with_buffers(|buffers| source.rolled_up(&parts, buffers));
        let size = |&rows: &u32| f64::from(rows) * real(u64::from(rows).max(self.space.least_rows));
        let bound = if self.space.costing.is_separable() {
            0.0
        } else {
            rolled.rows.iter().map(size).sum()
        };
        let mut classes = EntryClasses::default();
        self.with_buffers(|buffers| rolled.classify_all(&parts, buffers, &mut classes));
        let holds = self.space.holding(&rolled, &classes);
        let value = self.space.value_of(&rolled, &self.space.block_costs(&parts), &classes, &holds);
        (value, bound, kept(source, rolled))
    }
}
