//! What runs when nobody chooses: the best start that the other algorithms find, and then refinement as long as it pays.
//!
//! A table of some ten thousand tuples is solved by all of them. A larger one by those whose time grows least with its size:
//! `peel` on the whole, and meanwhile `top-down` on cells of some thousand tuples, cut coarsely, each in two around two rows far apart. The
//! one that loses least is kept, and all its classes are refined together, across the borders of the cells.
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

/// The starts may take this share of the time.
const STARTS: f64 = 0.5;

/// Classes with as little loss as the time allows.
pub(super) fn auto(task: &Task, steps: Option<u64>) -> Partition {
    let penalty = Penalty::new(task.problem.attributes(), task.attributes);
    // The quickest first: whatever happens, there is this one.
    let quick = mondrian::mondrian(task, mondrian::Ties::Together);
    let time = task.budget.part(STARTS);
    let starts = Task { budget: &time, ..*task };
    // The first takes longest, and mostly one thread.
    let (peeled, mut others) = rayon::join(
        || peel::peel(&starts),
        || if task.pieces.len() <= SMALL { by_all_others(&starts) } else { vec![in_cells(&starts, &penalty)] },
    );
    others.extend([quick, peeled]);
    let losses: Vec<f64> = others.iter().map(|partition| loss(task, &penalty, partition)).collect();
    let best = (0..others.len()).min_by(|&one, &other| losses[one].total_cmp(&losses[other])).expect("there are some");
    task.budget.tell(losses[best]);
    refine::refine(task, &others[best], steps)
}

/// What the algorithms make of a small table that take longer than others on a large one, too.
fn by_all_others(task: &Task) -> Vec<Partition> {
    let bottom_up = bottom_up::bottom_up(task, Aim::Table);
    let top_down = top_down::top_down(task, Aim::Table);
    vec![bottom_up, top_down, cluster::cluster(&Task { rounds: 15, ..*task })]
}

/// What all rows pay.
fn loss(task: &Task, penalty: &Penalty, partition: &Partition) -> f64 {
    let of_class = |class: &[_]| real(rows(class)) * penalty.of_box(&task.ranges(class));
    // Summed in one order, whatever the threads.
    let costs: Vec<f64> = (0..partition.len()).into_par_iter().map(|class| of_class(partition.class(class))).collect();
    costs.iter().sum()
}

/// Classes by `top-down`, cell by cell; in cells for which no time is left, by `mondrian`.
fn in_cells(task: &Task, penalty: &Penalty) -> Partition {
    let solve = |cell: Block| {
        let mut pieces = cell.pieces;
        let task = Task { pieces: &joined(&mut pieces).collect::<Vec<_>>(), ..*task };
        if task.budget.is_spent() {
            mondrian::mondrian(&task, mondrian::Ties::Together)
        } else {
            top_down::top_down(&task, Aim::Table)
        }
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
