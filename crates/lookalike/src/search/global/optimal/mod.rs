//! The global recoding of least cost, with a proof that there is no better one.
//!
//! Branch and bound over the choices of the schemes (`domain/scheme/choices.rs`). A node of the
//! search leaves some choices open; the joined choices and the ones that may still be joined bound
//! the cost of all its partitions from both sides (`bound.rs`). The search starts from a good
//! answer (`seed.rs`) and takes the node with the least bound first. It tries the open choices both
//! ways: where one way cannot be better, the choice is settled. Then it divides the node by the
//! choice that raises the bounds of both halves most. A search that does not end soon begins again
//! and bounds its nodes by a linear relaxation too (`dual/`), which is far tighter and slower. Nodes are examined in batches, in parallel,
//! and their results are taken in order, so that the answer does not depend on the number of
//! threads.
//!
//! # Guarantee
//! At any time the best partition found satisfies the rules and suppresses no more rows than
//! allowed. A search that ends by itself returns the least cost of all partitions that the columns'
//! schemes allow ([`Optimum::is_proven`]), up to a relative rounding of 1e-12. A search that is
//! stopped returns the best partition so far, and a bound that no such partition is below. Rules on
//! several sets of columns are applied to the classes of all columns together; then, and where
//! suppression is mandatory, nothing is claimed to be proven.
//!
//! # Complexity
//! Exponential in the number of values. Bounding a node takes time proportional to the entries of
//! its class table, for each attribute.
//!
//! # Reference
//! T. Li, N. Li: Towards Optimal k-Anonymization, DKE 2008. Its techniques can be switched off one
//! by one ([`Techniques`]), and its enumeration tree can be searched in either direction.
//!
//! # Departures from the paper
//! The default divides in halves instead of enumerating; both directions are bounded from both
//! sides; useful applicators are recognized by their bound, which is sound with suppression too.

mod bound;
mod dual;
mod extra;
mod node;
mod price;
mod reach;
mod seed;
mod sets;
mod techniques;

pub use techniques::{Branching, Techniques};

use std::sync::Arc;

use rayon::prelude::*;

use self::bound::NodeBounds;
use self::node::{Division, NodeQueue, Probe, SearchNode};
use self::seed::{Incumbent, distinct};
use crate::domain::scheme::{BlockExtent, ChoiceState, Decision, Direction};
use crate::problem::Problem;
use crate::search::budget::Budget;
use crate::search::global::{ClassBuffers, ClassTable, Cost, EntryClasses, Optimum, Space, space};

/// The result of examining a node.
struct Examined {
    /// The best so far, or a better one.
    best: Incumbent,
    /// The node with choices settled as far as possible, and its division unless the budget was
    /// spent; none when nothing in it can be better.
    node: Option<SearchNode>,
}

/// The result of trying open choices both ways.
enum Probed {
    /// Nothing in the node can be better.
    Nothing,
    /// Choices of which only one way can be better.
    Settled(Vec<(u32, Decision)>),
    /// Both ways of all of them can.
    Open(Vec<Probe>),
}

/// Number of nodes that are examined before their results are taken, on any number of threads.
const BATCH: usize = 16;

/// Of more open choices only those of greatest weight are tried.
const PROBES: usize = 64;

/// In the score of a choice no rise is less than this share of the bound, so that one half without
/// a rise does not hide the other.
const LEAST_RISE: f64 = 1e-6;

/// With more nodes in its queue the search stops and returns its best.
const MOST_WAITING: usize = 4_000_000;

/// With more nodes in the queue, new ones begin with the prices of the first node: prices of their
/// own take up to a megabyte.
const MOST_PRICED: usize = 1_000;

/// A bound below the best cost by less than this share counts as equal: the difference is rounding.
const ROUNDING: f64 = 1e-12;

/// How well a choice divides a node, by the bounds of the node and of its two halves.
fn score(bound: f64, joined: f64, apart: f64) -> f64 {
    let rise = |half: f64| (half - bound).min(bound.abs() + 1.0) + bound.abs() * LEAST_RISE;
    rise(joined) * rise(apart)
}

/// True when nothing with this bound can cost less than the best.
fn is_no_better(bound: f64, best: f64) -> bool {
    bound >= best - best.abs() * ROUNDING
}

/// Searches the partitions that the columns' schemes allow for the least cost.
pub(crate) fn optimal(
    problem: &Problem,
    cost: Cost,
    techniques: &Techniques,
    seed: u64,
    budget: &Budget,
) -> Optimum {
    let shapes: Vec<_> = space::shapes(problem)
        .into_iter()
        .zip(problem.schemes())
        .map(|(shape, &scheme)| shape.under(scheme))
        .collect();
    let Some((space, table)) = Space::new(problem, &shapes, problem.schemes(), cost) else {
        return Optimum::of_one_block(problem, &shapes, cost);
    };
    let whole = space::one_block(&shapes);
    let mut buffers = ClassBuffers::default();
    let mut best = Incumbent { cost: space.value(&table, &whole, &mut buffers).cost, parts: whole };
    debug_assert!(best.cost.is_finite(), "the whole table as one class satisfies the rules");
    if techniques.seeding {
        best = seed::seed(&space, &table, &best, seed, budget, &mut buffers);
    }
    let table = Arc::new(table);
    let search = |is_priced: bool, most_nodes: u64, best: Incumbent| {
        let search = BranchAndBound { space: &space, techniques, budget, is_priced, most_nodes };
        search.run(Arc::clone(&table), best)
    };
    // Most small tables need no prices.
    let few = techniques.unpriced.min(techniques.most_nodes);
    let (mut best, mut bound, mut nodes) = search(false, few, best);
    if !is_no_better(bound, best.cost) && nodes < techniques.most_nodes && !budget.is_spent() {
        let (priced, priced_bound, more) = search(true, techniques.most_nodes - nodes, best);
        (best, bound, nodes) = (priced, bound.max(priced_bound), nodes + more);
    }
    let is_proven = is_no_better(bound, best.cost);
    Optimum {
        generalization: space::generalization(problem, &shapes, &best.parts),
        cost,
        value: space.costing.reported(best.cost),
        bound: if is_proven {
            space.costing.reported(best.cost)
        } else {
            space.costing.reported(bound)
        },
        is_proven,
        was_stopped: !is_proven,
        nodes,
        levels: Vec::new(),
        minimal: Vec::new(),
    }
}

/// The search itself.
struct BranchAndBound<'a> {
    space: &'a Space<'a>,
    techniques: &'a Techniques,
    budget: &'a Budget,
    /// Nodes are bounded by their duals too.
    is_priced: bool,
    most_nodes: u64,
}

impl BranchAndBound<'_> {
    /// Searches to the end or until the budget is spent. Returns the best, a bound, and the number
    /// of examined nodes.
    fn run(&self, table: Arc<ClassTable>, mut best: Incumbent) -> (Incumbent, f64, u64) {
        let mut examined_nodes = 0;
        let mut first_prices = None;
        let root = SearchNode::root(self.space.choices.open(), table);
        let mut queue = NodeQueue::new(root, self.techniques.nodes);
        while queue.len() > 0 {
            if self.budget.is_spent()
                || queue.len() > MOST_WAITING
                || examined_nodes >= self.most_nodes
            {
                let bound = queue.least_bound().min(best.cost);
                return (best, bound, examined_nodes);
            }
            let (fresh, mut divided) = queue.take(BATCH, |bound| !is_no_better(bound, best.cost));
            examined_nodes += fresh.len() as u64;
            let examine = |buffers: &mut ClassBuffers, node: SearchNode| {
                self.examine(node, best.clone(), buffers)
            };
            let examined: Vec<Examined> =
                fresh.into_par_iter().map_init(ClassBuffers::default, examine).collect();
            for Examined { best: found, node } in examined {
                if found.cost < best.cost {
                    best = found;
                }
                let Some(mut node) = node else { continue };
                if first_prices.is_none() {
                    first_prices.clone_from(&node.prices);
                }
                match node.division.take_if(|_| !self.techniques.deferred) {
                    Some(division) => divided.push((node, division)),
                    // The budget was spent, or the node waits to be divided.
                    None => queue.push(node),
                }
            }
            for (node, division) in divided {
                for mut child in self.divide(&node, division) {
                    if queue.len() > MOST_PRICED {
                        child.prices.clone_from(&first_prices);
                    }
                    if !is_no_better(child.bound, best.cost) {
                        queue.push_child(child);
                    }
                }
            }
        }
        let bound = best.cost;
        (best, bound, examined_nodes)
    }

    /// Bounds a node, settles choices as far as possible, and plans its division.
    fn examine(
        &self,
        mut node: SearchNode,
        mut best: Incumbent,
        buffers: &mut ClassBuffers,
    ) -> Examined {
        let space = self.space;
        loop {
            if self.budget.is_spent() {
                return Examined { best, node: Some(node) };
            }
            let bounds = NodeBounds::new(space, self.techniques, &node, best.cost, buffers);
            for (value, parts) in [(bounds.finest, &bounds.fine), (bounds.coarsest, &bounds.coarse)]
            {
                if value.cost < best.cost {
                    best = Incumbent { cost: value.cost, parts: parts.clone() };
                }
            }
            node.bound = node.bound.max(bounds.bound);
            // All descendants keep the table, so it must be worth its memory.
            if bounds.table.len() * 4 <= node.table.len() * 3 {
                node.table = Arc::clone(&bounds.table);
            }
            let open = distinct(space, &node.state, &bounds.fine);
            if is_no_better(node.bound, best.cost) || open.is_empty() {
                return Examined { best, node: None };
            }
            let mut probed = self.probe_all(&bounds, &node, &open, best.cost);
            if self.is_priced
                && let Probed::Open(probes) = &probed
            {
                probed = self.price(&bounds, &mut node, &open, probes, &mut best, buffers);
            }
            match probed {
                Probed::Nothing => return Examined { best, node: None },
                Probed::Settled(settled) => {
                    let settle = |(choice, decision): (u32, Decision)| {
                        space.choices.settle(&mut node.state, choice, decision)
                    };
                    if !settled.into_iter().all(settle) {
                        return Examined { best, node: None };
                    }
                }
                Probed::Open(probes) => {
                    node.division = Some(self.plan(&bounds, &node, &open, &probes, buffers));
                    return Examined { best, node: Some(node) };
                }
            }
        }
    }

    /// Bounds both halves of a node for its open choices.
    fn probe_all(&self, bounds: &NodeBounds, node: &SearchNode, open: &[u32], best: f64) -> Probed {
        let techniques = self.techniques;
        let is_halving = techniques.branching == Branching::Halves;
        let mut tried = open.to_vec();
        if tried.len() > PROBES {
            let weight = |&choice: &u32| self.weight(bounds, choice);
            tried.sort_by(|one, other| weight(other).total_cmp(&weight(one)).then(one.cmp(other)));
            tried.truncate(PROBES);
        }
        let (mut settled, mut probes) = (Vec::new(), Vec::with_capacity(tried.len()));
        for choice in tried {
            let probe = |decision, is_wanted: bool| {
                if is_wanted {
                    bounds.probe(self.space, &node.state, choice, decision)
                } else {
                    node.bound
                }
            };
            let joined = probe(Decision::Joined, techniques.useless || is_halving);
            let apart = probe(Decision::Apart, techniques.useful || is_halving);
            let is_useless = techniques.useless && is_no_better(joined, best);
            let is_useful = techniques.useful && is_no_better(apart, best);
            if is_useless && is_useful {
                return Probed::Nothing;
            } else if is_useless {
                settled.push((choice, Decision::Apart));
            } else if is_useful {
                settled.push((choice, Decision::Joined));
            } else {
                probes.push(Probe { choice, joined, apart });
            }
        }
        if settled.is_empty() { Probed::Open(probes) } else { Probed::Settled(settled) }
    }

    /// The product of the rows of the two blocks that a choice would join.
    fn weight(&self, bounds: &NodeBounds, choice: u32) -> f64 {
        let at = self.space.choices.attribute(choice);
        let rows =
            |atom: u32| self.space.costing.rows_of[at][bounds.fine[at][atom as usize] as usize];
        self.space.choices.links(choice).iter().map(|&(one, other)| rows(one) * rows(other)).sum()
    }

    /// The division of a node into children.
    fn plan(
        &self,
        bounds: &NodeBounds,
        node: &SearchNode,
        open: &[u32],
        probes: &[Probe],
        buffers: &mut ClassBuffers,
    ) -> Division {
        match self.techniques.branching {
            Branching::Halves => {
                // The choice that raises the bounds of both halves most.
                let score = |&Probe { choice, joined, apart }: &Probe| {
                    let guess = if self.is_priced { 0.0 } else { bounds.guess(self.space, choice) };
                    score(node.bound, joined, apart.max(node.bound + guess))
                };
                let unknown = Probe { choice: open[0], joined: node.bound, apart: node.bound };
                let first = probes.first().copied().unwrap_or(unknown);
                Division::Halves(if self.techniques.applicators {
                    probes.iter().copied().fold(first, |best, probe| {
                        if score(&probe) > score(&best) { probe } else { best }
                    })
                } else {
                    first
                })
            }
            Branching::BottomUp | Branching::TopDown if self.techniques.applicators => {
                let mut classes = EntryClasses::default();
                let mut by_classes: Vec<(usize, u32)> = Vec::with_capacity(open.len());
                for &choice in open {
                    let at = self.space.choices.attribute(choice);
                    let mut next = node.state.clone();
                    self.space.choices.settle(&mut next, choice, Decision::Joined);
                    let mut parts = bounds.fine.clone();
                    parts[at] = self.space.choices.blocks(&next, at, BlockExtent::Joined);
                    bounds.table.classify(&parts, buffers, &mut classes);
                    by_classes.push((bounds.table.len() - classes.sizes.len(), choice));
                }
                by_classes.sort_unstable();
                Division::Steps(by_classes.into_iter().map(|(_, choice)| choice).collect())
            }
            Branching::BottomUp | Branching::TopDown => Division::Steps(open.to_vec()),
        }
    }

    /// The children of a node.
    fn divide(&self, node: &SearchNode, division: Division) -> Vec<SearchNode> {
        let child = |state: ChoiceState, bound: f64| SearchNode {
            state,
            table: Arc::clone(&node.table),
            bound: bound.max(node.bound),
            depth: node.depth + 1,
            number: 0,
            division: None,
            prices: node.prices.clone(),
        };
        let choices = &self.space.choices;
        match division {
            Division::Halves(Probe { choice, joined, apart }) => {
                let half = |(decision, bound): (Decision, f64)| {
                    let mut state = node.state.clone();
                    choices.settle(&mut state, choice, decision).then(|| child(state, bound))
                };
                [(Decision::Joined, joined), (Decision::Apart, apart)]
                    .into_iter()
                    .filter_map(half)
                    .collect()
            }
            Division::Steps(order) => {
                let direction = match self.techniques.branching {
                    Branching::TopDown => Direction::TopDown,
                    Branching::BottomUp | Branching::Halves => Direction::BottomUp,
                };
                let (steps, rest) = choices.steps(&node.state, direction, &order);
                steps.into_iter().chain([rest]).map(|state| child(state, node.bound)).collect()
            }
        }
    }
}
