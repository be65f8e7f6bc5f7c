//! The switches of the exact search, for experiments that measure each technique.

/// The techniques of `optimal`. The default, all switched on, is fastest; every switch leaves the
/// cost of a proven answer unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Techniques {
    /// How a node is divided.
    pub branching: Branching,
    /// Start from a good answer instead of one block for each attribute.
    pub seeding: bool,
    /// Bound by the coarsest partition of a node too: rows whose class is too small even there have
    /// the full cost.
    pub both_sides: bool,
    /// Add the extra cost of rows whose blocks must still be joined, or which are suppressed.
    pub charge: bool,
    /// Keep a choice apart when joining it cannot lead to a better answer.
    pub useless: bool,
    /// Join a choice when keeping it apart cannot lead to a better answer.
    pub useful: bool,
    /// Take the node with the least bound first, not the oldest.
    pub nodes: bool,
    /// Divide by the choice that raises the bounds most, not by the next in order.
    pub applicators: bool,
    /// Return an examined node to the queue, so that it may be dropped before it is divided.
    pub deferred: bool,
    /// After so many nodes the search begins again, with the best so far, and bounds nodes by prices
    /// on boxes with too few rows too.
    pub unpriced: u64,
    /// Stop after so many nodes with the best so far: unlike a time limit, the same on every
    /// machine.
    pub most_nodes: u64,
}

/// How a node of the search is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Branching {
    /// One choice decided both ways.
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
            unpriced: 200,
            useless: true,
            useful: true,
            nodes: true,
            applicators: true,
            deferred: true,
            most_nodes: u64::MAX,
        }
    }
}
