//! The nodes of the exact search, and their order in its queue.

use std::cmp::Ordering;
use std::sync::Arc;

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

/// A node in the queue; the greatest is taken first.
pub(super) struct Queued {
    pub(super) node: SearchNode,
    /// False when the oldest node is taken first.
    pub(super) by_bound: bool,
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
