//! A lower bound on the certainty penalty of a release: the least loss of every row, summed up.
//!
//! In a k-anonymous release a row publishes a box (a range on every attribute) that contains the
//! row itself and at least k rows of the table. So its loss is no less than that of the best such
//! box:
//!
//! ```text
//! B(k) = sum over rows t of  min { penalty of a box : t in the box, at least k rows in the box }
//! ```
//!
//! # Guarantee
//! The bound holds whatever other rules are set. Further rules (on sensitive values, on shares)
//! only remove releases. With rules on several column sets, an equivalence class of the last stage
//! publishes all attributes and has k rows, and wider values from earlier stages only lose more. A
//! suppressed row loses as much as the widest box; the others have k rows of the table around them
//! all the same. Rings too publish boxes of at least k rows. Only a global recoding that publishes
//! sets of values, which are no ranges, may lose less.
//!
//! # How it works
//! The best release is hard to find because classes must be disjoint sets of rows; the bound lets
//! boxes overlap, and so it falls into one search a row (`least_box.rs`). Rows are taken in a
//! random order, in batches. A box that was found for one row is a box for every row in it, so
//! later searches start with a loss to beat. When the time is spent before all rows are done, those
//! that are done are a random sample of all, and the sum is estimated.

mod box_search;
mod candidates;
mod cell_scan;
mod chains;
mod greatest;
mod index;
mod least_box;
mod least_rectangle;
mod published_ranges;
mod rectangle;
mod row_bounds;
mod space;
#[cfg(test)]
mod tests;
mod tight;

use crate::problem::Problem;
use crate::problem::bound::{Bound, BoundKind};
use crate::search::budget::Budget;

use row_bounds::row_bounds;

pub use tight::tight;

/// Looks at a candidate row after which the search for one row's box gives up and counts as weaker.
/// Greater: fewer weaker rows, more time for hard ones.
const PATIENCE: u64 = 2_000_000;

/// A lower bound on the weighted certainty penalty of a release, for the greatest k on all
/// quasi-identifiers together; it holds under every other rule, in several stages and with
/// suppressed rows too (see the [module](self)). Work goes on until it is done or the budget
/// is spent; then the seed decides which rows are in the sample. With budget left, the value
/// depends on the problem and the seed alone, and on the seed only where searches are given up.
///
/// # Example
/// Each row has to share its age with the nearest other row: 2 + 2 + 7 + 7 years of a span of 24.
/// ```
/// use lookalike::{BoundKind, Budget, Problem, Request, bound, table, table::Treatment};
///
/// # fn main() -> lookalike::Result<()> {
/// let request = Request::parse("k = 2\ncolumns.age.role = 'quasi'")?;
/// let source = table::open_text("age\n34\n36\n51\n58\n".into(), "ages".as_ref())?;
/// let roles = request.roles(source.names())?;
/// let problem = Problem::new(&source.read(&[Treatment::Code])?, &roles, &request)?;
/// let bound = bound(&problem, 1, &Budget::unlimited());
/// assert_eq!(bound.kind, BoundKind::Exact);
/// assert!((bound.value - 18.0 / 24.0).abs() < 1e-9);
/// # Ok(())
/// # }
/// ```
pub fn bound(problem: &Problem, seed: u64, budget: &Budget) -> Bound {
    row_bounds(problem, seed, PATIENCE, budget)
        .map_or_else(|| no_bound(problem), |row_bounds| row_bounds.sum())
}

/// The bound of a budget that was spent at once.
fn no_bound(problem: &Problem) -> Bound {
    Bound { value: 0.0, kind: BoundKind::Weaker { rows: problem.row_count() } }
}
