//! Global recoding: a value is always published the same way. A scheme says which partitions of a
//! domain are allowed.
//!
//! # References
//! T. Li, N. Li: Towards Optimal k-Anonymization, DKE 2008, sections 2 and 3: the six schemes,
//! their counts, their enumeration. BHS is Samarati and Sweeney's, GHS Iyengar's, OPS Bayardo and
//! Agrawal's.

mod blocks;
mod choices;
mod count;
mod shape;

pub(crate) use blocks::price;
pub use blocks::{Block, Blocks, Generalization};
pub(crate) use choices::{Choices, Direction, State, Verdict};
pub use shape::Shape;

use std::fmt;
use std::str::FromStr;

/// Which partitions of a domain are valid. The order that the ordered schemes use is that of the
/// codes: of the values, or of the leaves of the taxonomy.
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
    /// Guided set partitioning: sets, but values of two groups are together only if both groups are
    /// whole.
    Gsps,
    /// Guided ordered partitioning: intervals, but none goes over the border of two groups unless
    /// both are whole.
    Gops,
}

impl Scheme {
    /// Every scheme.
    pub const ALL: [Scheme; 6] =
        [Scheme::Bhs, Scheme::Ghs, Scheme::Gops, Scheme::Ops, Scheme::Gsps, Scheme::Sps];

    /// The name in configurations and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Scheme::Bhs => "bhs",
            Scheme::Ghs => "ghs",
            Scheme::Gops => "gops",
            Scheme::Ops => "ops",
            Scheme::Gsps => "gsps",
            Scheme::Sps => "sps",
        }
    }

    /// The scheme for values on a line: sets of numbers are intervals.
    #[must_use]
    pub fn on_a_line(self) -> Scheme {
        match self {
            Scheme::Sps => Scheme::Ops,
            Scheme::Gsps => Scheme::Gops,
            other => other,
        }
    }

    /// True when a block may go from one atom to another.
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
            // Of every node the block has one child at most in part, and then no other.
            Scheme::Gops | Scheme::Gsps => shape.inner.iter().enumerate().all(|(at, _)| {
                let touched = || shape.child_ranges(at).filter(|&child| !is_outside(child));
                touched().count() < 2 || touched().all(is_inside)
            }),
        }
    }

    /// How many partitions of this domain are valid; none when there are 2^128 or more.
    pub fn count(self, shape: &Shape) -> Option<u128> {
        count::count(self, shape)
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Scheme {
    type Err = String;

    fn from_str(text: &str) -> Result<Scheme, String> {
        let names = || Scheme::ALL.map(Scheme::name).join(", ");
        let found = Scheme::ALL.into_iter().find(|scheme| scheme.name() == text);
        found.ok_or_else(|| format!("there is no scheme `{text}`; there are {}", names()))
    }
}

#[cfg(test)]
mod tests;
