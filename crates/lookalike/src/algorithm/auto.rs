//! What runs when nobody chooses: the best start that the other algorithms find, and then refinement as long as it pays.
//!
//! A table of some ten thousand tuples is solved by `peel` and `top-down` alone, whose time grows least with its size. A larger one is first cut coarsely into cells of some thousand tuples, each cell in two around two rows far apart. Cells are solved one
//! by one, in parallel, by several algorithms, and the one that loses least is kept for each. Then all classes are refined
//! together, across the borders of the cells.
//!
//! # Guarantee
//! Every class holds every rule. The answer never loses more than the best of its starts: of the whole table, or of its cells put
//! together and `mondrian` on the whole.
//!
//! # Complexity
//! That of its starts on cells, O(n) for n tuples, and of as many steps of refinement as the time allows.
//!
//! # Reference
//! Ours.

use rayon::prelude::*;

use super::{Task, bottom_up, cluster, mondrian, peel, refine, top_down};
use crate::boxes::Aim;
use crate::budget::Budget;
use crate::code::{CodeRange, real};
use crate::halve::{self, Block};
use crate::partition::{Partition, joined, rows};
use crate::penalty::Penalty;

/// Up to so many tuples all starts are tried, and cells have no more.
const CELL: usize = if cfg!(test) { 60 } else { 30_000 };

/// Up to so many, those that go on with a large table; a table of more tuples is cut into cells.
const WHOLE: usize = if cfg!(test) { 100 } else { 400_000 };

/// The starts may take this share of the time.
const STARTS: f64 = 0.5;

/// A start on a large table may take this share of the time.
const FIRST: f64 = 0.7;

/// Classes with as little loss as the time allows.
pub(super) fn auto(task: &Task, steps: Option<u64>) -> Partition {
    let penalty = Penalty::new(task.problem.attributes(), task.attributes);
    let time = task.budget.part(STARTS);
    let whole = if (CELL + 1..=WHOLE).contains(&task.pieces.len()) {
        // One after the other, each on all threads: the second only if the first has left enough time.
        let cut = top_down::top_down(&Task { budget: &task.budget.part(FIRST), ..*task }, Aim::Table);
        let peeled = (task.budget.share() < FIRST / 2.0).then(|| peel::peel(&Task { budget: &time, ..*task }));
        peeled.into_iter().fold(cut, |best, other| better(task, &penalty, best, other))
    } else {
        let cells = cells(task, &penalty);
        let solved: Vec<Partition> = cells.into_par_iter().map(|cell| start(task, &penalty, cell, &time)).collect();
        let mut whole = Partition::default();
        solved.into_iter().for_each(|part| whole.append(part));
        whole
    };
    let whole = better(task, &penalty, whole, mondrian::mondrian(task, mondrian::Ties::Together));
    task.budget.tell(loss(task, &penalty, &whole));
    refine::refine(task, &whole, steps, task.budget)
}

/// The best start for one cell.
fn start(task: &Task, penalty: &Penalty, cell: Block, budget: &Budget) -> Partition {
    let mut pieces = cell.pieces;
    let pieces: Vec<_> = joined(&mut pieces).collect();
    let task = Task { pieces: &pieces, budget, ..*task };
    // The first takes longest and one thread.
    let (peeled, others) = rayon::join(
        || peel::peel(&task),
        || {
            let bottom_up = bottom_up::bottom_up(&task, Aim::Table);
            let top_down = top_down::top_down(&task, Aim::Table);
            let cluster = cluster::cluster(&Task { rounds: 15, ..task });
            [bottom_up, top_down, cluster, mondrian::mondrian(&task, mondrian::Ties::Together)]
        },
    );
    let first_best = |best: Partition, other: Partition| better(&task, penalty, best, other);
    others.into_iter().fold(peeled, first_best)
}

/// The one that loses less, the first of equals.
fn better(task: &Task, penalty: &Penalty, one: Partition, other: Partition) -> Partition {
    if loss(task, penalty, &other) < loss(task, penalty, &one) { other } else { one }
}

/// What all rows pay.
fn loss(task: &Task, penalty: &Penalty, partition: &Partition) -> f64 {
    let of_class = |class: &[_]| {
        let ranges = task.problem.ranges(class);
        let shown: Vec<CodeRange> = task.attributes.iter().map(|&at| ranges[at]).collect();
        real(rows(class)) * penalty.of_box(&shown)
    };
    // Summed in one order, whatever the threads.
    let costs: Vec<f64> = (0..partition.len()).into_par_iter().map(|class| of_class(partition.class(class))).collect();
    costs.iter().sum()
}

/// Cells of not too many tuples that each hold, as far as they can be had.
fn cells(task: &Task, penalty: &Penalty) -> Vec<Block> {
    let whole = Block::shuffled(task.problem, task.attributes, task.pieces.to_vec(), task.seed);
    super::cut_to_the_end(
        whole,
        || task.problem.tally(),
        |block: &Block| block.pieces.len() > 4 * CELL,
        |block, tally, done| {
            let is_small = block.pieces.len() <= CELL || task.budget.is_spent();
            let halves = if is_small { None } else { halve::halves(penalty, Aim::Table, task.rounds, &block, 0) };
            match halves.filter(|(one, other)| task.holds(tally, &one.pieces) && task.holds(tally, &other.pieces)) {
                Some((one, other)) => vec![one, other],
                None => {
                    done.push(block);
                    Vec::new()
                }
            }
        },
    )
}
