//! The lower bound on the loss, and how it came about.

/// A lower bound on the loss of every release.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// The weighted certainty penalty of the table: comparable to
    /// [`Loss::ncp`](crate::evaluate::loss::Loss::ncp).
    pub value: f64,
    /// How far it can be trusted, and how good it is.
    pub kind: BoundKind,
}

/// How a bound came about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BoundKind {
    /// For every row the box that loses least was found.
    Exact,
    /// The sum of dual values of the rows, which in no equivalence class add up to more than its
    /// loss: greater than the plain bound. It holds for homogeneous releases.
    Tight,
    /// The search gave up for some rows. They count with the lower bound that was proved until
    /// then, at least the loss with the last of their k nearest rows, or 0 where the budget was
    /// spent before. Weaker, still a bound.
    Weaker {
        /// The rows whose search gave up or did not start.
        rows: u64,
    },
    /// From a random sample of rows, scaled: no bound, but an estimate of it.
    Estimate {
        /// The rows in the sample.
        sample: u64,
        /// The lower end of a 95 % confidence interval of the bound.
        low: f64,
        /// Its upper end.
        high: f64,
    },
}

impl Bound {
    /// The gap of a release: its loss as a multiple of the bound, 1 or more for a bound that is no
    /// estimate; none when the bound is 0.
    pub fn gap(&self, loss: f64) -> Option<f64> {
        (self.value > 0.0).then(|| loss / self.value)
    }
}

impl BoundKind {
    /// The name in files and reports, such as `exact`.
    pub fn name(self) -> &'static str {
        match self {
            BoundKind::Exact => "exact",
            BoundKind::Tight => "tight",
            BoundKind::Weaker { .. } => "weaker",
            BoundKind::Estimate { .. } => "estimate",
        }
    }
}
