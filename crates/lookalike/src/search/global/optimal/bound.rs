//! A lower bound on the cost of all partitions between a finest and a coarsest one.
//!
//! A row whose class is too small even in the coarsest partition is suppressed in all of them, and
//! has the full cost. Any other row costs at least as much as in the finest partition: costs never
//! fall as blocks grow, and for DM a class has at least as many rows as the rules require. The cost
//! beyond that, of rows whose classes do not satisfy the rules yet, is bounded in `extra.rs`.

use std::sync::Arc;

use super::extra::{ExtraCost, extra_cost};
use super::node::SearchNode;
use super::reach::{BlockRuns, Gains, gains};
use super::{Branching, Techniques};
use crate::codes::real;
use crate::domain::scheme::{BlockExtent, ChoiceState, Decision};
use crate::search::global::{ClassBuffers, ClassTable, EntryClasses, PartitionCost, Parts, Space};

/// The bounds of a node: of all partitions that its choices leave open.
#[derive(Debug)]
pub(super) struct NodeBounds {
    /// The class table of the finest partition.
    pub(super) table: Arc<ClassTable>,
    pub(super) fine: Parts,
    pub(super) coarse: Parts,
    pub(super) block_costs: Vec<Vec<f64>>,
    /// By entry of the table.
    pub(super) entries: Vec<EntryBounds>,
    /// The bound without the extra cost.
    pub(super) plain: f64,
    pub(super) bound: f64,
    extra: Vec<ExtraCost>,
    /// By attribute, the rise when a choice is kept apart: of the plain bound, and of the bound
    /// with the extra cost.
    gains: Vec<[Gains; 2]>,
    /// The exact costs of the finest and the coarsest partition.
    pub(super) finest: PartitionCost,
    pub(super) coarsest: PartitionCost,
}

/// The bounds of an entry of the table.
#[derive(Clone, Copy, Debug)]
pub(super) struct EntryBounds {
    /// Its least cost, without the extra cost.
    pub(super) least: f64,
    /// Its cost in the coarsest partition, if it is not suppressed: its greatest cost.
    pub(super) most: f64,
    /// Its class satisfies the rules in the finest partition.
    pub(super) holds: bool,
    /// It is suppressed in every partition.
    pub(super) is_suppressed: bool,
    /// The attributes on which its block must be joined, or it is suppressed; one bit for each.
    pub(super) must_join: u64,
    /// The attributes that share the cost of suppressing it; one bit for each.
    pub(super) shared_by: u64,
    /// The share of each of them.
    pub(super) share: f64,
}

/// One attribute of a node, with everything that its extra cost and its gains are computed from.
#[derive(Clone, Copy)]
pub(super) struct AttributeView<'a> {
    pub(super) space: &'a Space<'a>,
    pub(super) state: &'a ChoiceState,
    pub(super) bounds: &'a NodeBounds,
    pub(super) runs: &'a BlockRuns,
    pub(super) at: usize,
}

impl NodeBounds {
    /// Bounds a node. When the plain bound shows already that nothing is below `best`, the extra
    /// cost and the gains are not computed.
    pub(super) fn new(
        space: &Space,
        techniques: &Techniques,
        SearchNode { state, table, .. }: &SearchNode,
        best: f64,
        buffers: &mut ClassBuffers,
    ) -> NodeBounds {
        let width = space.shapes.len();
        let (mut bounds, coarse_classes) =
            NodeBounds::of_ends(space, techniques, table, state, buffers);
        let runs: Vec<BlockRuns> =
            (0..width).map(|at| BlockRuns::new(&bounds, at, &coarse_classes)).collect();
        for (at, runs) in runs.iter().enumerate() {
            runs.mark(space, techniques, state, &mut bounds, at);
        }
        let suppressed_rows = bounds.add_up(space);
        let cannot = suppressed_rows > space.allowance
            || (!space.is_by_size() && space.allowance == 0 && bounds.coarsest.suppressed > 0);
        if cannot {
            (bounds.plain, bounds.bound) = (f64::INFINITY, f64::INFINITY);
        }
        let best = best.min(bounds.finest.cost).min(bounds.coarsest.cost);
        if super::is_no_better(bounds.bound, best) {
            return bounds;
        }
        let view = |at: usize| AttributeView { space, state, bounds: &bounds, runs: &runs[at], at };
        let extra: Vec<ExtraCost> =
            (0..width).map(|at| extra_cost(&view(at), techniques)).collect();
        bounds.bound += extra.iter().map(ExtraCost::sum).sum::<f64>();
        bounds.extra = extra;
        if techniques.useful || techniques.branching == Branching::Halves {
            let left = space.allowance - suppressed_rows;
            let view =
                |at: usize| AttributeView { space, state, bounds: &bounds, runs: &runs[at], at };
            bounds.gains = (0..width).map(|at| gains(&view(at), left)).collect();
        }
        bounds
    }

    /// The exact costs of the finest and the coarsest partition, overall and by entry, and the
    /// classes of the coarsest one. The bound itself is still 0.
    fn of_ends(
        space: &Space,
        techniques: &Techniques,
        table: &ClassTable,
        state: &ChoiceState,
        buffers: &mut ClassBuffers,
    ) -> (NodeBounds, EntryClasses) {
        let fine = space.choices.all_blocks(state, BlockExtent::Joined);
        let coarse = space.choices.all_blocks(state, BlockExtent::JoinedAndOpen);
        let table = table.rolled_up(&fine, buffers);
        let block_costs = space.block_costs(&fine);
        let (mut small, mut large) = (EntryClasses::default(), EntryClasses::default());
        table.classify_all(&fine, buffers, &mut small);
        table.classify(&coarse, buffers, &mut large);
        let holds = space.holding(&table, &small);
        let finest = space.value_of(&table, &block_costs, &small, &holds);
        let coarse_costs = space.block_costs(&coarse);
        let coarsest =
            space.value_of(&table, &coarse_costs, &large, &space.holding(&table, &large));
        let is_separable = space.costing.is_separable();
        let entry = |at: usize| {
            let size = small.sizes[small.of[at] as usize];
            let (atoms, rows, sums) = (table.atoms_of(at), table.rows[at], table.sums_of(at));
            let cost = |costs: &[Vec<f64>]| space.costing.entry_cost(costs, atoms, rows, sums);
            let least_of_dm = f64::from(rows) * real(size.max(space.least_rows));
            EntryBounds {
                least: if is_separable { cost(&block_costs) } else { least_of_dm },
                most: if is_separable { cost(&coarse_costs) } else { least_of_dm },
                holds: holds[small.of[at] as usize],
                is_suppressed: techniques.both_sides
                    && large.sizes[large.of[at] as usize] < space.least_rows,
                must_join: 0,
                shared_by: 0,
                share: 0.0,
            }
        };
        let entries = (0..table.len()).map(entry).collect();
        let bounds = NodeBounds {
            table: Arc::new(table),
            fine,
            coarse,
            block_costs,
            entries,
            plain: 0.0,
            bound: 0.0,
            extra: Vec::new(),
            gains: Vec::new(),
            finest,
            coarsest,
        };
        (bounds, large)
    }

    /// Sums up the plain bound, shares the cost of suppression among the attributes, and counts the
    /// rows that are suppressed in every partition.
    fn add_up(&mut self, space: &Space) -> u64 {
        let mut suppressed_rows = 0;
        self.plain = space.mandatory;
        let all = u64::MAX >> 64usize.saturating_sub(space.shapes.len());
        for (entry, &rows) in self.entries.iter_mut().zip(&self.table.rows) {
            let full = f64::from(rows) * space.costing.full;
            suppressed_rows += u64::from(if entry.is_suppressed { rows } else { 0 });
            self.plain += if entry.is_suppressed { full } else { entry.least };
            // Under rules on sensitive values a class that satisfies them may still be suppressed,
            // joined with another that does not.
            if entry.is_suppressed || (entry.holds && (space.is_by_size() || space.allowance == 0))
            {
                continue;
            }
            if space.allowance == 0 {
                // Where no row may be suppressed, a share only marks that there are rows.
                (entry.shared_by, entry.share) = (entry.must_join, f64::from(rows));
            } else {
                entry.shared_by = if entry.must_join == 0 { all } else { entry.must_join };
                entry.share = (full - entry.least) / f64::from(entry.shared_by.count_ones());
            }
        }
        self.bound = self.plain;
        suppressed_rows
    }

    /// An estimate of the rise when a choice is kept apart: not a bound, because the extra cost may
    /// be counted twice, but better for selecting a choice.
    pub(super) fn guess(&self, space: &Space, choice: u32) -> f64 {
        let at = space.choices.attribute(choice);
        let block = |atom: u32| self.fine[at][atom as usize];
        let gain = |&(one, other): &(u32, u32)| self.gains[at][0].of(block(one), block(other));
        space.choices.links(choice).iter().map(gain).fold(0.0, f64::max)
    }

    /// A bound for the node with one more decision.
    pub(super) fn probe(
        &self,
        space: &Space,
        state: &ChoiceState,
        choice: u32,
        decision: Decision,
    ) -> f64 {
        let at = space.choices.attribute(choice);
        let links = space
            .choices
            .links(choice)
            .iter()
            .map(|&(one, other)| (self.fine[at][one as usize], self.fine[at][other as usize]));
        let links = links.filter(|(one, other)| one != other);
        match decision {
            Decision::Joined => {
                let mut next = state.clone();
                if !space.choices.settle(&mut next, choice, decision) {
                    return f64::INFINITY;
                }
                let blocks = space.choices.blocks(&next, at, BlockExtent::Joined);
                let extra =
                    links.map(|(one, other)| self.extra[at].joined(one, other)).fold(0.0, f64::max);
                (self.bound + extra).max(self.plain + self.extra[at].rise(space, self, at, &blocks))
            }
            Decision::Apart => {
                let mut bound = self.bound;
                for (one, other) in links {
                    let [plain, with_extra] = &self.gains[at];
                    bound = bound.max(self.plain + plain.of(one, other));
                    bound = bound.max(
                        self.bound
                            + with_extra.of(one, other).max(self.extra[at].apart(one, other)),
                    );
                }
                bound
            }
        }
    }
}
