//! The lower bound on the loss of a release: how much effort to take, and for which releases it is
//! valid.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::names::names;
use crate::problem::Problem;
use crate::problem::bound::{Bound, BoundKind};
use crate::search::Algorithm;
use crate::search::bound::{bound, tight};
use crate::search::budget::Budget;

/// The effort for the lower bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Effort {
    /// No bound.
    None,
    /// About as much time as the search takes.
    #[default]
    Quick,
    /// Until for every row the box that loses least is found.
    Full,
    /// The sharper dual bound: a minute at most, or as long as the search took.
    Tight,
}

names!(Effort, "effort", {
    None => "none",
    Quick => "quick",
    Full => "full",
    Tight => "tight",
});

impl Effort {
    /// The effort that is valid for the releases of an algorithm: those that are not homogeneous
    /// may lose less than the tight bound, and global recodings, which may publish sets of values,
    /// less than any.
    pub fn with(self, algorithm: Algorithm) -> Effort {
        match self {
            _ if algorithm.is_global() => Effort::None,
            Effort::Tight if !algorithm.is_homogeneous() => Effort::Full,
            _ => self,
        }
    }

    /// The part of the effort that comes before a long search, which can then report its gap; the
    /// rest waits until after it.
    pub fn before(self) -> Effort {
        if self == Effort::None { Effort::None } else { Effort::Quick }
    }
}

/// The least time for a quick bound, in case the search takes no time at all.
const LEAST: Duration = Duration::from_millis(200);

/// The time for a tight bound, unless the search took longer. It ends by itself where it finds no
/// more, and is a bound whenever it is stopped.
const TIGHT: Duration = Duration::from_secs(60);

/// The lower bound for a problem; none without effort. It depends on the table and on k alone, but
/// for a tight one, which knows a rule on shares. `quick` is the time limit of [`Effort::Quick`];
/// `cancel` stops every effort.
///
/// # Example
/// ```
/// use std::time::Duration;
///
/// use lookalike::run::{Effort, lower_bound};
/// use lookalike::{BoundKind, Problem, Request, table, table::Treatment};
///
/// # fn main() -> lookalike::Result<()> {
/// let request = Request::parse("k = 2\ncolumns.age.role = 'quasi'")?;
/// let source = table::open_text("age\n34\n36\n51\n58\n".into(), "ages".as_ref())?;
/// let roles = request.roles(source.names())?;
/// let problem = Problem::new(&source.read(&[Treatment::Code])?, &roles, &request)?;
/// let bound = |effort| lower_bound(&problem, 1, effort, Duration::ZERO, Default::default());
/// assert_eq!(bound(Effort::None), None);
/// assert_eq!(bound(Effort::Full).map(|bound| bound.kind), Some(BoundKind::Exact));
/// # Ok(())
/// # }
/// ```
pub fn lower_bound(
    problem: &Problem,
    seed: u64,
    effort: Effort,
    quick: Duration,
    cancel: Arc<AtomicBool>,
) -> Option<Bound> {
    let time = match effort {
        Effort::None => return None,
        Effort::Quick => Some(quick.max(LEAST)),
        Effort::Full => None,
        Effort::Tight => Some(quick.max(TIGHT)),
    };
    let budget = Budget::new(time, cancel);
    Some(if effort == Effort::Tight {
        tight(problem, seed, &budget)
    } else {
        bound(problem, seed, &budget)
    })
}

/// The sharper of two bounds: a certain one before an estimate, then the greater.
pub fn sharper(one: Option<Bound>, other: Option<Bound>) -> Option<Bound> {
    let worth = |bound: &Bound| match bound.kind {
        BoundKind::Estimate { .. } => -1.0,
        _ => bound.value,
    };
    one.into_iter().chain(other).max_by(|one, other| worth(one).total_cmp(&worth(other)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_of_rings_take_no_bound_that_is_not_valid_for_them() {
        for algorithm in Algorithm::ALL.into_iter().filter(|algorithm| !algorithm.is_global()) {
            let sharpest = if algorithm == Algorithm::Ring { Effort::Full } else { Effort::Tight };
            assert_eq!(Effort::Tight.with(algorithm), sharpest);
            assert_eq!(Effort::Full.with(Algorithm::Optimal), Effort::None);
            for effort in [Effort::None, Effort::Quick, Effort::Full] {
                assert_eq!(effort.with(algorithm), effort);
            }
        }
    }
}
