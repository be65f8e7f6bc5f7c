//! The default: the best start that the other algorithms find, and then refinement as long as the
//! loss falls.
//!
//! A table of some ten thousand tuples is solved by all of them. A larger one by those whose time
//! grows least with its size: `peel` on the whole, and meanwhile `top-down` and `cluster` on cells
//! of some thousand tuples, cut coarsely, each in two around two rows far apart. The start that
//! loses least is kept, and all its classes are refined together, across the borders of the cells.
//! Under rules on sensitive values no algorithm is best for most tables, and refinement gains less:
//! there every local algorithm runs on the whole, each for a tenth of the time at most.
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
use super::{bottom_up, cluster, mondrian, peel, refine, specialize, top_down};
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
    if task.privacy.needs_sensitive() {
        found.push(under_rules(task, &penalty, is_small));
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
                // The best for small k first: time may be short.
                vec![
                    bottom_up::bottom_up(&start, Objective::Table),
                    top_down::top_down(&start, Objective::Table),
                    cluster::cluster(&Task { rounds: task.tuning.cluster_tries, ..start }),
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

/// The best classes of the local algorithms that `auto` does not run on the whole anyway, each in a
/// share of the time at most; the quickest come first. A large table without a time limit gets those
/// alone that take no longer than reading it.
fn under_rules(task: &Task, penalty: &Penalty, is_small: bool) -> Partition {
    let quick: [fn(&Task) -> Partition; 2] =
        [specialize::specialize, |task| mondrian::mondrian(task, mondrian::Ties::Dealt)];
    let by_row: [fn(&Task) -> Partition; 2] = [
        |task| top_down::top_down(task, Objective::Row),
        |task| bottom_up::bottom_up(task, Objective::Row),
    ];
    let on_whole: [fn(&Task) -> Partition; 3] = [
        |task| cluster::cluster(&Task { rounds: task.tuning.cluster_tries, ..*task }),
        |task| top_down::top_down(task, Objective::Table),
        |task| bottom_up::bottom_up(task, Objective::Table),
    ];
    let whole = task.budget.left();
    let mut starts = quick.to_vec();
    if !is_small && whole.is_some() {
        starts.extend(on_whole);
    }
    if is_small || whole.is_some() {
        starts.extend(by_row);
    }
    // As these two take them: by their place in the table.
    let mut in_order = task.attributes.to_vec();
    in_order.sort_unstable();
    let run = |(turn, start): (usize, fn(&Task) -> Partition)| {
        // A share of the whole time, not of what the starts before have left.
        let share = match (whole, task.budget.left()) {
            (Some(whole), Some(left)) if !left.is_zero() => {
                task.tuning.rules_share * whole.as_secs_f64() / left.as_secs_f64()
            }
            _ => 1.0,
        };
        let attributes = if turn < quick.len() { &in_order[..] } else { task.attributes };
        start(&Task { attributes, budget: &task.budget.part(share).silent(), ..*task })
    };
    least(task, penalty, starts.into_iter().enumerate().map(run).collect()).1
}
