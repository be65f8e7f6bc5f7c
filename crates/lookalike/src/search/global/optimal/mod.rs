//! The global recoding of least cost, with a proof that there is no better one.
//!
//! Branch and bound over the choices of the schemes ([`crate::domain::scheme`]). A node of the
//! search leaves some choices open; what is joined and what may yet be joined bound the cost of all
//! its partitions from both sides (`bound.rs`). It starts from a good answer (`seed.rs`), takes the
//! node with the least bound first, tries open choices both ways to see whether one of them is
//! settled already, and divides the node by the choice that raises the bounds of both halves most.
//! Nodes are looked at in batches, in parallel, and their outcomes taken in order, so that the
//! answer does not depend on threads.
//!
//! # Reference
//! T. Li, N. Li: Towards Optimal k-Anonymization, DKE 2008. Its techniques can be switched off one
//! by one ([`Techniques`]), its enumeration tree taken in either direction. Where we depart from
//! it: the default divides in halves instead of enumerating; both directions bound from both sides;
//! useful applicators are told by their bound, which is sound with suppression too.
//!
//! # Complexity
//! Exponential in the number of values. One look costs as many steps as the class table has
//! entries.

mod bound;
mod charge;
mod reach;
mod seed;
mod sets;

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::sync::Arc;

use rayon::prelude::*;

use self::bound::Look;
use self::seed::{Incumbent, distinct};
use crate::domain::scheme::{Direction, Generalization, Shape, State, Verdict};
use crate::problem::Problem;
use crate::search::budget::Budget;
use crate::search::global::{ClassTable, Classes, Cost, Scratch, Space, space};

/// How the search goes about it. All on is fastest; each can be switched off to see what it saves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Techniques {
    /// How a node is divided.
    pub branching: Branching,
    /// Begin with a good answer.
    pub seeding: bool,
    /// Charge rows that no partition of a node can keep, not only what its finest one costs.
    pub both_sides: bool,
    /// Charge rows that must go at least one step further.
    pub charge: bool,
    /// Refuse choices that cannot lead to a better answer.
    pub useless: bool,
    /// Take choices without which there is no better answer.
    pub useful: bool,
    /// Take the node with the least bound first, not the oldest.
    pub nodes: bool,
    /// Take the choice first that tells most, not the next in order.
    pub applicators: bool,
    /// Put a node back after it was looked at, so that it may be dropped before it is divided.
    pub deferred: bool,
    /// End with what there is after so many nodes: unlike a time limit, the same on every machine.
    pub most_nodes: u64,
}

/// How a node of the search is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Branching {
    /// One choice made both ways.
    Halves,
    /// The enumeration tree from single values: each choice joined in turn.
    BottomUp,
    /// The enumeration tree from one block: each choice kept apart in turn.
    TopDown,
}

impl Default for Techniques {
    fn default() -> Techniques {
        Techniques {
            branching: Branching::Halves,
            seeding: true,
            both_sides: true,
            charge: true,
            useless: true,
            useful: true,
            nodes: true,
            applicators: true,
            deferred: true,
            most_nodes: u64::MAX,
        }
    }
}

/// What a search found.
#[derive(Clone, Debug)]
pub struct Optimum {
    /// How values are published.
    pub generalization: Generalization,
    /// What was made small.
    pub cost: Cost,
    /// What the release costs.
    pub value: f64,
    /// No release of these schemes costs less.
    pub bound: f64,
    /// True when there is no better release of these schemes.
    pub is_proven: bool,
    /// True when the search ended before it was done.
    pub was_stopped: bool,
    /// How many nodes of the search were looked at.
    pub nodes: u64,
    /// The level of each attribute in its hierarchy, in the problem's order, when all values of an
    /// attribute are at one level: of `incognito`, otherwise empty.
    pub levels: Vec<u32>,
    /// The same for every choice of levels that holds although no lower one does.
    pub minimal: Vec<Vec<u32>>,
}

impl Optimum {
    /// Everything as one block: valid, and all there is where combinations of values are too many
    /// to be counted.
    pub(crate) fn of_one_block(problem: &Problem, shapes: &[Shape], cost: Cost) -> Optimum {
        Optimum {
            generalization: space::generalization(problem, shapes, &space::one_block(shapes)),
            cost,
            value: f64::NAN,
            bound: 0.0,
            is_proven: false,
            was_stopped: true,
            nodes: 0,
            levels: Vec::new(),
            minimal: Vec::new(),
        }
    }
}

/// A part of the search space.
#[derive(Debug)]
struct Node {
    state: State,
    table: Arc<ClassTable>,
    bound: f64,
    depth: u32,
    /// How many nodes were made before.
    number: u64,
    /// How it is to be divided, once it was looked at.
    plan: Option<Plan>,
}

#[derive(Debug)]
enum Plan {
    /// By a choice, and bounds for when it is joined and when it is kept apart.
    Halves(u32, f64, f64),
    /// Choice after choice, in this order.
    Steps(Vec<u32>),
}

/// What became of a node.
struct Examined {
    better: Option<Incumbent>,
    /// The node as far as choices were settled, with a plan unless the budget was spent; none when
    /// nothing in it can be better.
    node: Option<Node>,
}

/// As many nodes are looked at before their outcomes are taken, whatever the number of threads.
const BATCH: usize = 16;

/// Of more open choices than this only the weightiest are tried.
const PROBES: usize = 64;

/// The search gives up, keeping its best, when so many nodes wait.
const MOST_WAITING: usize = 4_000_000;

/// A bound that is below the best cost by less than this share is rounding.
const ROUNDING: f64 = 1e-12;

fn is_no_better(bound: f64, best: f64) -> bool {
    bound >= best - best.abs() * ROUNDING
}

/// Searches the problem's schemes for the least cost.
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
    let mut scratch = Scratch::default();
    let mut best = Incumbent { cost: space.value(&table, &whole, &mut scratch).cost, parts: whole };
    debug_assert!(best.cost.is_finite(), "everything in one class holds");
    if techniques.seeding {
        best = seed::seed(&space, &table, &best, seed, budget, &mut scratch);
    }
    let search = Search { space: &space, techniques, budget };
    let (best, bound, nodes) = search.run(table, best);
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

struct Search<'a> {
    space: &'a Space<'a>,
    techniques: &'a Techniques,
    budget: &'a Budget,
}

impl Search<'_> {
    /// Searches to the end or until the budget is spent: the best, a bound, and how many nodes it
    /// took.
    fn run(&self, table: ClassTable, mut best: Incumbent) -> (Incumbent, f64, u64) {
        let mut looked_at = 0;
        let mut number = 1;
        let root = Node {
            state: self.space.choices.open(),
            table: Arc::new(table),
            bound: f64::NEG_INFINITY,
            depth: 0,
            number: 0,
            plan: None,
        };
        let queued = |node: Node| Queued { node, by_bound: self.techniques.nodes };
        let mut queue = BinaryHeap::from([queued(root)]);
        while !queue.is_empty() {
            if self.budget.is_spent()
                || queue.len() > MOST_WAITING
                || looked_at >= self.techniques.most_nodes
            {
                let bound = queue.iter().map(|queued| queued.node.bound).fold(best.cost, f64::min);
                return (best, bound, looked_at);
            }
            let (mut fresh, mut planned) = (Vec::new(), Vec::new());
            while fresh.len() + planned.len() < BATCH
                && let Some(Queued { mut node, .. }) = queue.pop()
            {
                if is_no_better(node.bound, best.cost) {
                    continue;
                }
                match node.plan.take() {
                    Some(plan) => planned.push((node, plan)),
                    None => fresh.push(node),
                }
            }
            looked_at += fresh.len() as u64;
            let snapshot = best.cost;
            let examine = |scratch: &mut Scratch, node: Node| self.examine(node, snapshot, scratch);
            let examined: Vec<Examined> =
                fresh.into_par_iter().map_init(Scratch::default, examine).collect();
            for Examined { better, node } in examined {
                if let Some(better) = better.filter(|better| better.cost < best.cost) {
                    best = better;
                }
                match node {
                    // There was no time to look at it, or it waits to be divided.
                    Some(node) if node.plan.is_none() || self.techniques.deferred => {
                        queue.push(queued(node))
                    }
                    Some(mut node) => {
                        let plan = node.plan.take().expect("a node that was looked at has a plan");
                        planned.push((node, plan));
                    }
                    None => {}
                }
            }
            for (node, plan) in planned {
                for mut child in self.divide(&node, plan) {
                    if !is_no_better(child.bound, best.cost) {
                        child.number = number;
                        number += 1;
                        queue.push(queued(child));
                    }
                }
            }
        }
        let bound = best.cost;
        (best, bound, looked_at)
    }

    /// Bounds a node, settles what can be settled, and says how to divide it.
    fn examine(&self, mut node: Node, mut best: f64, scratch: &mut Scratch) -> Examined {
        let (space, techniques) = (self.space, self.techniques);
        let mut better: Option<Incumbent> = None;
        loop {
            if self.budget.is_spent() {
                return Examined { better, node: Some(node) };
            }
            let look = Look::at(space, techniques, &node.table, &node.state, best, scratch);
            for (value, parts) in [(look.finest, &look.fine), (look.coarsest, &look.coarse)] {
                if value.cost < best {
                    best = value.cost;
                    better = Some(Incumbent { cost: best, parts: parts.clone() });
                }
            }
            node.bound = node.bound.max(look.bound);
            // Kept by all that descend from here, so it must be worth its memory.
            if look.table.len() * 4 <= node.table.len() * 3 {
                node.table = Arc::clone(&look.table);
            }
            let open = distinct(space, &node.state, &look.fine);
            if is_no_better(node.bound, best) || open.is_empty() {
                return Examined { better, node: None };
            }
            let weight = |&choice: &u32| self.weight(&look, choice);
            let mut tried = open.clone();
            if tried.len() > PROBES {
                tried.sort_by(|one, other| {
                    weight(other).total_cmp(&weight(one)).then(one.cmp(other))
                });
                tried.truncate(PROBES);
            }
            let mut settled = Vec::new();
            let mut probes = Vec::with_capacity(tried.len());
            for &choice in &tried {
                let probe = |verdict| look.probe(space, &node.state, choice, verdict);
                let joined = if techniques.useless || techniques.branching == Branching::Halves {
                    probe(Verdict::Joined)
                } else {
                    node.bound
                };
                let apart = if techniques.useful || techniques.branching == Branching::Halves {
                    probe(Verdict::Apart)
                } else {
                    node.bound
                };
                match (
                    techniques.useless && is_no_better(joined, best),
                    techniques.useful && is_no_better(apart, best),
                ) {
                    (true, true) => return Examined { better, node: None },
                    (true, false) => settled.push((choice, Verdict::Apart)),
                    (false, true) => settled.push((choice, Verdict::Joined)),
                    (false, false) => probes.push((choice, joined, apart)),
                }
            }
            if !settled.is_empty() {
                if !settled
                    .into_iter()
                    .all(|(choice, verdict)| space.choices.settle(&mut node.state, choice, verdict))
                {
                    return Examined { better, node: None };
                }
                continue;
            }
            node.plan = Some(self.plan(&look, &node, &open, &probes, scratch));
            return Examined { better, node: Some(node) };
        }
    }

    /// Rows of the two blocks that a choice would join, multiplied.
    fn weight(&self, look: &Look, choice: u32) -> f64 {
        let at = self.space.choices.attribute(choice);
        let rows =
            |atom: u32| self.space.costing.rows_of[at][look.fine[at][atom as usize] as usize];
        self.space.choices.links(choice).iter().map(|&(one, other)| rows(one) * rows(other)).sum()
    }

    fn plan(
        &self,
        look: &Look,
        node: &Node,
        open: &[u32],
        probes: &[(u32, f64, f64)],
        scratch: &mut Scratch,
    ) -> Plan {
        match self.techniques.branching {
            Branching::Halves => {
                // The choice both ways of which raise the bound most.
                let telling = |&(choice, joined, apart): &(u32, f64, f64)| {
                    let rise = |bound: f64| {
                        (bound - node.bound).min(node.bound.abs() + 1.0) + node.bound.abs() * 1e-6
                    };
                    rise(joined) * rise(apart.max(node.bound + look.guess(self.space, choice)))
                };
                let first = probes.first().copied().unwrap_or((open[0], node.bound, node.bound));
                let (choice, joined, apart) = if self.techniques.applicators {
                    probes.iter().copied().fold(first, |best, probe| {
                        if telling(&probe) > telling(&best) { probe } else { best }
                    })
                } else {
                    first
                };
                Plan::Halves(choice, joined, apart)
            }
            Branching::BottomUp | Branching::TopDown if self.techniques.applicators => {
                let mut classes = Classes::default();
                let mut by_classes: Vec<(usize, u32)> = Vec::with_capacity(open.len());
                for &choice in open {
                    let at = self.space.choices.attribute(choice);
                    let mut next = node.state.clone();
                    self.space.choices.settle(&mut next, choice, Verdict::Joined);
                    let mut parts = look.fine.clone();
                    parts[at] = self.space.choices.blocks(&next, at, false);
                    look.table.classify(&parts, scratch, &mut classes);
                    by_classes.push((look.table.len() - classes.sizes.len(), choice));
                }
                by_classes.sort_unstable();
                Plan::Steps(by_classes.into_iter().map(|(_, choice)| choice).collect())
            }
            Branching::BottomUp | Branching::TopDown => Plan::Steps(open.to_vec()),
        }
    }

    fn divide(&self, node: &Node, plan: Plan) -> Vec<Node> {
        let child = |state: State, bound: f64| Node {
            state,
            table: Arc::clone(&node.table),
            bound: bound.max(node.bound),
            depth: node.depth + 1,
            number: 0,
            plan: None,
        };
        let choices = &self.space.choices;
        match plan {
            Plan::Halves(choice, joined, apart) => {
                let half = |(verdict, bound): (Verdict, f64)| {
                    let mut state = node.state.clone();
                    choices.settle(&mut state, choice, verdict).then(|| child(state, bound))
                };
                [(Verdict::Joined, joined), (Verdict::Apart, apart)]
                    .into_iter()
                    .filter_map(half)
                    .collect()
            }
            Plan::Steps(order) => {
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

/// A node in the queue: the greatest is taken first.
struct Queued {
    node: Node,
    by_bound: bool,
}

impl Ord for Queued {
    fn cmp(&self, other: &Queued) -> Ordering {
        let by_age = other.node.number.cmp(&self.node.number);
        if self.by_bound {
            other
                .node
                .bound
                .total_cmp(&self.node.bound)
                .then(self.node.depth.cmp(&other.node.depth))
                .then(by_age)
        } else {
            by_age
        }
    }
}

impl PartialOrd for Queued {
    fn partial_cmp(&self, other: &Queued) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Queued {
    fn eq(&self, other: &Queued) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Queued {}
