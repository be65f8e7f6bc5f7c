//! The default: the best start that the other algorithms find, and then refinement as long as the
//! loss falls.
//!
//! A table of some ten thousand tuples is solved by all of them. A larger one by those whose time
//! grows least with its size: `peel` on the whole, and meanwhile `top-down` and `cluster` on cells
//! of some thousand tuples, cut coarsely, each in two around two rows far apart. The start that
//! loses least is kept, and all its classes are refined together, across the borders of the cells.
//!
//! # Guarantee
//! Every class satisfies every rule. The answer never loses more than the best of its starts;
//! `mondrian` on the whole is always among them.
//!
//! # Complexity
//! That of `peel`, O(n) for n tuples in cells, and of as many steps of refinement as the time
//! allows.
//!
//! # Reference
//! Ours.

use super::cells::{in_cells, least};
use super::{bottom_up, cluster, mondrian, peel, refine, top_down};
use crate::domain::penalty::Penalty;
use crate::problem::partition::Partition;
use crate::search::boxes::Objective;
use crate::search::task::Task;

/// Classes with as little loss as the time allows.
pub(crate) fn auto(task: &Task, steps: Option<u64>) -> Partition {
    let penalty = Penalty::new(task.problem.attributes(), task.attributes);
    // The quickest first: if time runs out, there is this one.
    let quickest = mondrian::mondrian(task, mondrian::Ties::Together);
    task.keep(task.loss(&penalty, &quickest), || quickest.clone());
    let mut found = vec![quickest];
    let is_small = task.pieces.len() <= task.tuning.small_tuples;
    if is_small {
        found.push(cluster::cluster(&Task { rounds: task.tuning.cluster_tries, ..*task }));
    }
    let time = task.budget.part(if is_small {
        task.tuning.starts_share
    } else {
        task.tuning.large_starts_share
    });
    let start = Task { budget: &time, ..*task };
    // The first takes longest, and mostly one thread.
    let (peeled, others) = rayon::join(
        || peel::peel(&start),
        || {
            if is_small {
                vec![
                    top_down::top_down(&start, Objective::Table),
                    bottom_up::bottom_up(&start, Objective::Table),
                ]
            } else {
                vec![in_cells(&start, &penalty)]
            }
        },
    );
    found.extend(others);
    found.push(peeled);
    let (least, best) = least(task, &penalty, found);
    task.budget.report_loss(least);
    task.keep(least, || best.clone());
    refine::refine(task, &best, steps)
}
