//! Global recoding: a value is published the same way in every row. A scheme is the set of
//! partitions of a domain that are allowed.
//!
//! A partition consists of blocks; all values of a block are published by one label. Here are the
//! schemes themselves, the tree of values that they partition ([`Shape`]), their partitions as
//! single choices (`choices.rs`), and the published blocks ([`Blocks`]).
//!
//! # References
//! T. Li, N. Li: Towards Optimal k-Anonymization, DKE 2008, sections 2 and 3: the six schemes,
//! their counts, their enumeration. BHS is Samarati and Sweeney's, GHS Iyengar's, OPS Bayardo and
//! Agrawal's.

mod blocks;
mod choices;
mod shape;

pub(crate) use blocks::block_loss;
pub use blocks::{Blocks, Generalization, ValueBlock};
pub(crate) use choices::{BlockExtent, ChoiceState, Choices, Decision, Direction};
pub use shape::Shape;

use crate::names::names;

/// The set of valid partitions of a domain. The ordered schemes use the order of the codes: that of
/// the values, or that of the leaves of the taxonomy.
///
/// # Example
/// ```
/// use lookalike::domain::scheme::Scheme;
///
/// let scheme: Scheme = "gops".parse()?;
/// assert_eq!(scheme, Scheme::Gops);
/// assert_eq!(scheme.to_string(), "gops");
/// let why = "gop".parse::<Scheme>().unwrap_err().to_string();
/// assert_eq!(why, "there is no scheme `gop`; there are bhs, ghs, gops, ops, gsps, sps");
/// # Ok::<(), lookalike::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// Basic hierarchical: all values at one level of the hierarchy.
    Bhs,
    /// Group hierarchical: a cut through the hierarchy.
    Ghs,
    /// Ordered partitioning: any intervals.
    Ops,
    /// Set partitioning: any sets.
    Sps,
    /// Guided set partitioning: sets, but a set with values of two groups contains both groups
    /// entirely.
    Gsps,
    /// Guided ordered partitioning: intervals, but one that crosses the border of two groups
    /// contains both groups entirely.
    Gops,
}

names!(Scheme, "scheme", {
    Bhs => "bhs",
    Ghs => "ghs",
    Gops => "gops",
    Ops => "ops",
    Gsps => "gsps",
    Sps => "sps",
});

impl Scheme {
    /// The scheme for ordered values, where sets become intervals: `sps` is `ops` and `gsps` is
    /// `gops`; the others stay.
    #[must_use]
    pub fn on_a_line(self) -> Scheme {
        match self {
            Scheme::Sps => Scheme::Ops,
            Scheme::Gsps => Scheme::Gops,
            other => other,
        }
    }

    /// True when a set of atoms, one bit for each, may be a block; for the schemes of sets.
    pub(crate) fn allows_set(self, shape: &Shape, set: u64) -> bool {
        let bits = |(first, end): (usize, usize)| (u64::MAX >> (64 - (end - first))) << first;
        let is_closed = |at: usize| {
            let touched = || shape.child_ranges(at).map(bits).filter(|child| child & set != 0);
            touched().count() < 2 || touched().all(|child| child & !set == 0)
        };
        self == Scheme::Sps || (0..shape.inner.len()).all(is_closed)
    }

    /// True when the atoms from one to another, both included, may be a block.
    pub(crate) fn allows_interval(self, shape: &Shape, from: usize, to: usize) -> bool {
        let is_inside = |(first, end): (usize, usize)| from <= first && end <= to + 1;
        let is_outside = |(first, end): (usize, usize)| end <= from || to < first;
        match self {
            Scheme::Ops | Scheme::Sps => true,
            Scheme::Bhs | Scheme::Ghs => {
                from == to
                    || shape
                        .inner
                        .iter()
                        .enumerate()
                        .any(|(at, _)| shape.range(at) == (from, to + 1))
            }
            // Of the children of a node, the block touches one, or it contains all that it touches.
            Scheme::Gops | Scheme::Gsps => shape.inner.iter().enumerate().all(|(at, _)| {
                let touched = || shape.child_ranges(at).filter(|&child| !is_outside(child));
                touched().count() < 2 || touched().all(is_inside)
            }),
        }
    }
}

#[cfg(test)]
mod tests;
