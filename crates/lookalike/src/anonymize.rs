//! The one call: search, leave out what may be left out, recode.

use crate::algorithm::Search;
use crate::budget::Budget;
use crate::problem::Problem;
use crate::recode::Recoding;
use crate::suppress;

/// How sure the answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    /// The algorithm ended; no claim about the best release.
    Heuristic,
    /// The budget ran out first: valid, but coarser than it would have been.
    Stopped,
}

/// A release in codes, and how the search ended.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The classes and what they show.
    pub recoding: Recoding,
    /// How the search ended.
    pub status: Status,
}

/// Finds classes that hold every rule. It cannot fail: [`Problem::new`] has seen to it that there is an answer.
pub fn anonymize(problem: &Problem, search: Search, budget: &Budget) -> Outcome {
    let (groups, suppressed) = suppress::with_suppression(problem, search, budget);
    let status = if budget.is_spent() { Status::Stopped } else { Status::Heuristic };
    Outcome { recoding: Recoding::new(problem, &groups.partition, &groups.ranges, suppressed), status }
}
