//! The nodes of the exact search, and their order in its queue.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::sync::Arc;

use super::dual::Prices;
use crate::domain::scheme::ChoiceState;
use crate::search::global::ClassTable;

/// A subset of the partitions: all that its decisions leave open.
#[derive(Debug)]
pub(super) struct SearchNode {
    pub(super) state: ChoiceState,
    /// A class table that is no coarser than any of its partitions.
    pub(super) table: Arc<ClassTable>,
    /// No partition of the node costs less.
    pub(super) bound: f64,
    pub(super) depth: u32,
    /// Nodes that were made before.
    pub(super) number: u64,
    /// How it will be divided; none before it was examined.
    pub(super) division: Option<Division>,
    /// The prices of the dual, of the node itself or of the one above; none at first.
    pub(super) prices: Option<Arc<Prices>>,
}

/// A choice with the bounds of the two nodes in which it is joined and kept apart.
#[derive(Clone, Copy, Debug)]
pub(super) struct Probe {
    pub(super) choice: u32,
    pub(super) joined: f64,
    pub(super) apart: f64,
}

/// A way to divide a node into children.
#[derive(Debug)]
pub(super) enum Division {
    /// One choice decided both ways.
    Halves(Probe),
    /// Choice after choice, in this order.
    Steps(Vec<u32>),
}

impl SearchNode {
    /// The node of all partitions.
    pub(super) fn root(state: ChoiceState, table: Arc<ClassTable>) -> SearchNode {
        let bound = f64::NEG_INFINITY;
        SearchNode { state, table, bound, depth: 0, number: 0, division: None, prices: None }
    }
}

/// The nodes that wait to be examined or divided.
pub(super) struct NodeQueue {
    heap: BinaryHeap<Queued>,
    by_bound: bool,
    /// Nodes made so far.
    made: u64,
}

impl NodeQueue {
    /// A queue that takes the node with the least bound first, or otherwise the oldest.
    pub(super) fn new(root: SearchNode, by_bound: bool) -> NodeQueue {
        NodeQueue { heap: BinaryHeap::from([Queued { node: root, by_bound }]), by_bound, made: 1 }
    }

    pub(super) fn len(&self) -> usize {
        self.heap.len()
    }

    /// Returns a node to the queue.
    pub(super) fn push(&mut self, node: SearchNode) {
        self.heap.push(Queued { node, by_bound: self.by_bound });
    }

    /// Adds a new node.
    pub(super) fn push_child(&mut self, mut child: SearchNode) {
        child.number = self.made;
        self.made += 1;
        self.push(child);
    }

    /// Infinite when the queue is empty.
    pub(super) fn least_bound(&self) -> f64 {
        self.heap.iter().map(|queued| queued.node.bound).fold(f64::INFINITY, f64::min)
    }

    /// Takes up to so many nodes of wanted bounds, those to examine and those to divide; others
    /// before them are dropped.
    pub(super) fn take(
        &mut self,
        most: usize,
        is_wanted: impl Fn(f64) -> bool,
    ) -> (Vec<SearchNode>, Vec<(SearchNode, Division)>) {
        let (mut fresh, mut divided) = (Vec::new(), Vec::new());
        while fresh.len() + divided.len() < most
            && let Some(Queued { mut node, .. }) = self.heap.pop()
        {
            if !is_wanted(node.bound) {
                continue;
            }
            match node.division.take() {
                Some(division) => divided.push((node, division)),
                None => fresh.push(node),
            }
        }
        (fresh, divided)
    }
}

/// A node in the heap; the greatest is taken first.
struct Queued {
    node: SearchNode,
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
