//! The lower bound on the loss, and how it came about.

/// What no release can go below.
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
    /// Every row's cheapest box was found.
    Exact,
    /// Rows were asked for more than their cheapest boxes, as far as no class is asked for more
    /// than it pays. It holds for homogeneous releases.
    Tight,
    /// For so many rows the search was given up: what was proved until then stands for them, at
    /// least what it costs to show them with the last of their k nearest rows, or 0 where the
    /// budget was spent before. Weaker, still a bound.
    Weaker {
        /// How many rows.
        rows: u64,
    },
    /// From a random sample of rows, scaled: no bound, but an estimate of it.
    Estimate {
        /// How many rows were looked at.
        sample: u64,
        /// The lower end of an interval that has the bound in 95 of 100 cases.
        low: f64,
        /// Its upper end.
        high: f64,
    },
}

impl Bound {
    /// How many times the bound a release loses; none when the bound says nothing.
    pub fn gap(&self, loss: f64) -> Option<f64> {
        (self.value > 0.0).then(|| loss / self.value)
    }
}

impl BoundKind {
    /// The name in files.
    pub fn name(self) -> &'static str {
        match self {
            BoundKind::Exact => "exact",
            BoundKind::Tight => "tight",
            BoundKind::Weaker { .. } => "weaker",
            BoundKind::Estimate { .. } => "estimate",
        }
    }
}
