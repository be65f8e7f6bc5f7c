//! A large set of tuples, cut coarsely into cells that are solved one by one, in parallel: the time
//! grows with the number of cells.
//!
//! # Guarantee
//! Every class satisfies every rule, whatever the budget: a cell is cut only into halves that both
//! do, and each cell is a task of its own. A cell has at most `Tuning::cell_tuples` tuples, but for
//! one that cannot be cut into such halves. In a cell the classes lose no more than those of
//! `top-down` and those of `cluster`, unless its time was over before it began.
//!
//! # Complexity
//! O(d n log(n/c)) for the cuts of n tuples into cells of c, with d attributes, and for each cell
//! the time of `top-down` and `cluster` on c tuples; O(d n) space.
//!
//! # Reference
//! Ours.

use rayon::prelude::*;

use super::{cluster, mondrian, top_down};
use crate::domain::penalty::Penalty;
use crate::problem::partition::{Partition, joined};
use crate::search::boxes::Objective;
use crate::search::boxes::split::{self, Block};
use crate::search::budget::Budget;
use crate::search::task::{Next, Task, cut_to_the_end};

/// Classes by `top-down` or `cluster`, whichever loses less, cell by cell; in cells for which no
/// time is left, by `mondrian`, which takes hardly any.
pub(crate) fn in_cells(task: &Task, penalty: &Penalty) -> Partition {
    let solve = |cell: Block| {
        let mut pieces = cell.pieces;
        let task = Task { pieces: &joined(&mut pieces).collect::<Vec<_>>(), ..*task };
        if task.budget.is_spent() {
            let unlimited = Budget::unlimited();
            return mondrian::mondrian(
                &Task { budget: &unlimited, ..task },
                mondrian::Ties::Together,
            );
        }
        least(
            &task,
            penalty,
            vec![
                top_down::top_down(&task, Objective::Table),
                cluster::cluster(&Task { rounds: task.tuning.cluster_tries, ..task }),
            ],
        )
        .1
    };
    let solved: Vec<Partition> = cells(task, penalty).into_par_iter().map(solve).collect();
    let mut whole = Partition::default();
    solved.into_iter().for_each(|part| whole.append(part));
    whole
}

/// The partition that loses least, the first of equals, with its loss.
pub(crate) fn least(
    task: &Task,
    penalty: &Penalty,
    partitions: Vec<Partition>,
) -> (f64, Partition) {
    let with_loss = |partition: Partition| (task.loss(penalty, &partition), partition);
    partitions
        .into_iter()
        .map(with_loss)
        .min_by(|one, other| one.0.total_cmp(&other.0))
        .expect("there are some")
}

/// Cells of not too many tuples that each satisfy the rules, as far as they can be had.
fn cells(task: &Task, penalty: &Penalty) -> Vec<Block> {
    let whole = Block::shuffled(task.problem, task.attributes, task.pieces.to_vec(), task.seed);
    cut_to_the_end(
        whole,
        Next::Last,
        || task.problem.tally(),
        |block: &Block| block.pieces.len() > task.tuning.cell_levels * task.tuning.cell_tuples,
        |block, tally, done| {
            let is_small = block.pieces.len() <= task.tuning.cell_tuples || task.budget.is_spent();
            let halves = if is_small {
                None
            } else {
                split::halves(penalty, Objective::Table, task.rounds, &block, 0)
            };
            match halves.filter(|(one, other)| {
                task.holds(tally, &one.pieces) && task.holds(tally, &other.pieces)
            }) {
                Some((one, other)) => vec![one, other],
                None => {
                    done.push(block);
                    Vec::new()
                }
            }
        },
    )
}
