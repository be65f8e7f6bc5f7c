//! What runs when nobody chooses: the best start that the other algorithms find, and then refinement as long as it pays.
//!
//! A table of some ten thousand tuples is solved by all of them. A larger one by those whose time grows least with its size:
//! `peel` on the whole, and meanwhile `top-down` and `cluster` on cells of some thousand tuples, cut coarsely, each in two around two rows
//! far apart. What loses least is kept, and all its classes are refined together, across the borders of the cells.
//!
//! # Guarantee
//! Every class holds every rule. The answer never loses more than the best of its starts; `mondrian` on the whole is always among them.
//!
//! # Complexity
//! That of `peel`, O(n) for n tuples in cells, and of as many steps of refinement as the time allows.
//!
//! # Reference
//! Ours.

use rayon::prelude::*;

use super::{Task, bottom_up, cluster, mondrian, peel, refine, top_down};
use crate::boxes::Aim;
use crate::code::real;
use crate::halve::{self, Block};
use crate::partition::{Partition, joined, rows};
use crate::penalty::Penalty;

/// Up to so many tuples all starts are tried.
const SMALL: usize = if cfg!(test) { 60 } else { 30_000 };

/// A cell has no more tuples than this.
const CELL: usize = if cfg!(test) { 20 } else { 10_000 };

/// So many tries `cluster` takes for each cut, as in its paper.
const TRIES: u32 = 15;

/// The starts may take this share of the time, and cells, of which each that is done pays at once, this one.
const STARTS: f64 = 0.5;
const CELLS: f64 = 0.8;

/// Classes with as little loss as the time allows.
pub(super) fn auto(task: &Task, steps: Option<u64>) -> Partition {
    let penalty = Penalty::new(task.problem.attributes(), task.attributes);
    // The quickest first: whatever happens, there is this one.
    let quick = mondrian::mondrian(task, mondrian::Ties::Together);
    let (time, longer) = (task.budget.part(STARTS), task.budget.part(CELLS));
    let start = Task { budget: &time, ..*task };
    let in_cells = || vec![in_cells(&Task { budget: &longer, ..*task }, &penalty)];
    // The first takes longest, and mostly one thread.
    let (peeled, mut others) =
        rayon::join(|| peel::peel(&start), || if task.pieces.len() <= SMALL { by_all_others(&start) } else { in_cells() });
    others.extend([quick, peeled]);
    let (least, best) = least(task, &penalty, others);
    task.budget.tell(least);
    refine::refine(task, &best, steps)
}

/// The one that loses least, the first of equals, and what it loses.
fn least(task: &Task, penalty: &Penalty, partitions: Vec<Partition>) -> (f64, Partition) {
    let with_loss = |partition: Partition| (loss(task, penalty, &partition), partition);
    partitions.into_iter().map(with_loss).min_by(|one, other| one.0.total_cmp(&other.0)).expect("there are some")
}

/// What the algorithms make of a small table that take longer than others on a large one, too.
fn by_all_others(task: &Task) -> Vec<Partition> {
    let bottom_up = bottom_up::bottom_up(task, Aim::Table);
    let top_down = top_down::top_down(task, Aim::Table);
    vec![bottom_up, top_down, cluster::cluster(&Task { rounds: TRIES, ..*task })]
}

/// What all rows pay.
fn loss(task: &Task, penalty: &Penalty, partition: &Partition) -> f64 {
    let of_class = |class: &[_]| real(rows(class)) * penalty.of_box(&task.ranges(class));
    // Summed in one order, whatever the threads.
    let costs: Vec<f64> = (0..partition.len()).into_par_iter().map(|class| of_class(partition.class(class))).collect();
    costs.iter().sum()
}

/// Classes by `top-down` or `cluster`, whatever is better, cell by cell; in cells for which no time is left, by `mondrian`.
fn in_cells(task: &Task, penalty: &Penalty) -> Partition {
    let solve = |cell: Block| {
        let mut pieces = cell.pieces;
        let task = Task { pieces: &joined(&mut pieces).collect::<Vec<_>>(), ..*task };
        if task.budget.is_spent() {
            return mondrian::mondrian(&task, mondrian::Ties::Together);
        }
        least(&task, penalty, vec![top_down::top_down(&task, Aim::Table), cluster::cluster(&Task { rounds: TRIES, ..task })]).1
    };
    let solved: Vec<Partition> = cells(task, penalty).into_par_iter().map(solve).collect();
    let mut whole = Partition::default();
    solved.into_iter().for_each(|part| whole.append(part));
    whole
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
