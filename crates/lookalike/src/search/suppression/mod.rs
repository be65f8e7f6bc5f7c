//! Suppression of rows that makes the rest finer, within the allowance and at a price.
//!
//! One search finds the classes, as without an allowance. Then rows are left out of them, one step
//! after the other, the step first that gains most for each row (`path.rs`): some tuples at the end
//! of a class (`ends.rs`), a whole class, or a few tuples of a class whose others join the classes
//! around it (`dissolve.rs`). What a step gains is the fall of the
//!
//! ```text
//! objective = loss of the published rows + price * (loss of a row of `*`) * suppressed rows
//! ```
//!
//! and only steps that gain are taken.
//!
//! # Guarantee
//! Every class satisfies every rule. More allowance never gives a greater objective: the steps and
//! their order do not depend on it, the allowance only says how many of them are taken; and the rows
//! that it leaves over go to one more step that gains no more for each row than the next one of the
//! order would. (A budget that is spent on the way ends the order early.)
//!
//! # Reference
//! Ours.

mod dissolve;
mod ends;
mod path;
#[cfg(test)]
mod tests;

use crate::codes::real;
use crate::domain::penalty::Penalty;
use crate::problem::Problem;
use crate::problem::partition::{self, Piece};
use crate::rng::SUPPRESSING;
use crate::search::SearchOptions;
use crate::search::budget::Budget;
use crate::search::ranges::total_loss;
use crate::search::stages::{self, RangedClasses};

/// The classes to publish, the rows to suppress, and what that bought.
#[derive(Debug)]
pub(crate) struct Lightened {
    pub(crate) classes: RangedClasses,
    pub(crate) suppressed: Vec<Piece>,
    /// The mean loss of a published row, from 0 to 1, if only the rows of mandatory suppression
    /// were left out.
    pub(crate) loss_before: f64,
}

/// The classes to publish and the rows to suppress.
pub(crate) fn with_suppression(
    problem: &Problem,
    search: SearchOptions,
    budget: &Budget,
) -> Lightened {
    let mandatory = problem.mandatory().to_vec();
    let allowance = problem.allowance() - partition::rows(&mandatory);
    // With rules on several column sets a class cannot give up a row alone: the classes it came
    // from have rules too.
    let is_used = allowance > 0 && problem.stages_in_order().len() == 1;
    let share = if is_used && search.algorithm.is_anytime() {
        search.tuning.suppress_search_share
    } else {
        1.0
    };
    let pieces = problem.pieces_without(&mandatory);
    let classes = stages::run(problem, search, &pieces, &budget.part(share));
    let all: Vec<usize> = (0..problem.attributes().len()).collect();
    let penalty = Penalty::new(problem.attributes(), &all);
    let greatest = real(partition::rows(&pieces)) * penalty.most();
    let lost = loss(&penalty, &classes);
    let loss_before = if greatest > 0.0 { lost / greatest } else { 0.0 };
    if !is_used {
        return Lightened { classes, suppressed: mandatory, loss_before };
    }
    let mut draws = search.key.draws(SUPPRESSING);
    let (classes, left_out) =
        path::lighten(problem, &penalty, search, &classes, allowance, &mut draws, budget);
    let suppressed = partition::joined(&mut [left_out, mandatory].concat()).collect();
    Lightened { classes, suppressed, loss_before }
}

/// The loss of all rows of the classes.
fn loss(penalty: &Penalty, classes: &RangedClasses) -> f64 {
    let ranges = classes.ranges.chunks_exact(penalty.width());
    total_loss(
        classes
            .partition
            .iter()
            .zip(ranges)
            .map(|(class, ranges)| (partition::rows(class), penalty.of_box(ranges))),
    )
}
