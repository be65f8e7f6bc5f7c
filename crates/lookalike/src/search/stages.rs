//! Which algorithm runs on which rows: stage by stage for local ones, at once for global recodings
//! and rings.

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use crate::codes::{CodeRange, real};
use crate::domain::penalty::Penalty;
use crate::problem::Problem;
use crate::problem::partition::{Partition, Piece, rows};
use crate::rng::Rng;
use crate::search::boxes::Objective;
use crate::search::budget::Budget;
use crate::search::global::{Optimum, incognito, optimal};
use crate::search::local::ring::Ring;
use crate::search::local::{auto, bottom_up, cluster, mondrian, peel, ring, specialize, top_down};
use crate::search::ranges::total_loss;
#[cfg(test)]
use crate::search::task::ENDLESS;
use crate::search::task::{Task, telling_first};
use crate::search::{Algorithm, SearchOptions};

/// Groups of pieces and the exact range of each group on every attribute of the problem, group by
/// group.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    pub(crate) partition: Partition,
    pub(crate) ranges: Vec<CodeRange>,
}

/// What goes through all stages before `auto` does, each in a part of the time at most: what is
/// best for the first stage alone, which is all that a search in stages looks at, need not be best
/// in the end.
pub(crate) const STAGED: [Algorithm; 5] = [
    Algorithm::Mondrian,
    Algorithm::Cluster,
    Algorithm::TopDown,
    Algorithm::BottomUp,
    Algorithm::Peel,
];

/// Runs the algorithm on the given pieces, which together hold every rule.
pub(crate) fn run(
    problem: &Problem,
    search: SearchOptions,
    pieces: &[Piece],
    budget: &Budget,
) -> Groups {
    if !search.algorithm.is_anytime() || problem.stages_in_order().len() == 1 {
        return run_stages(problem, search, pieces, budget);
    }
    let all: Vec<usize> = (0..problem.attributes().len()).collect();
    let penalty = Penalty::new(problem.attributes(), &all);
    let loss = |groups: &Groups| -> f64 {
        let boxes = groups.ranges.chunks_exact(all.len()).zip(groups.partition.iter());
        total_loss(boxes.map(|(ranges, class)| (rows(class), penalty.of_box(ranges))))
    };
    let other = |algorithm: Algorithm| {
        let search = SearchOptions {
            algorithm,
            rounds: SearchOptions::new(algorithm, search.seed).rounds,
            ..search
        };
        run_stages(problem, search, pieces, &budget.part(search.tuning.staged_share))
    };
    let found = STAGED
        .into_iter()
        .map(other)
        .chain(std::iter::once_with(|| run_stages(problem, search, pieces, budget)));
    let found = found.map(|groups| (loss(&groups), groups));
    found.min_by(|one, other| one.0.total_cmp(&other.0)).expect("there are some").1
}

/// Runs the algorithm stage by stage.
fn run_stages(
    problem: &Problem,
    search: SearchOptions,
    pieces: &[Piece],
    budget: &Budget,
) -> Groups {
    let width = problem.attributes().len();
    let all = problem.ranges(pieces);
    let mut groups = Groups { partition: Partition::default(), ranges: all };
    groups.partition.push(pieces.iter().copied());
    for (step, stage) in (0..).zip(problem.stages_in_order()) {
        // Stages share the time, and so do the groups of a stage by their rows.
        let stages_left = real(problem.stages_in_order().len() as u64 - step);
        let time = budget.part(1.0 / stages_left);
        // What one of several groups loses would tell a watcher nothing.
        let time = if problem.stages_in_order().len() > 1 { time.silent() } else { time };
        let waiting = AtomicU64::new(rows(pieces));
        let time_of = |group: &[Piece]| {
            let rows = rows(group);
            let all = waiting.fetch_sub(rows, Ordering::Relaxed);
            time.part(real(rows) / real(all) * real(rayon::current_num_threads() as u64))
        };
        // Steps too.
        let steps_of = |group: &[Piece]| {
            let share = real(rows(group)) / real(rows(pieces));
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a share of a count"
            )]
            search.steps.map(|steps| (real(steps) * share).ceil() as u64)
        };
        // Each group of each stage draws its own lots.
        let seed_of = |group: usize| Rng::at(search.seed ^ step, group as u64).next_u64();
        #[cfg(test)]
        let seed_of = |group: usize| if search.seed == ENDLESS { ENDLESS } else { seed_of(group) };
        let cut_group = |at: usize| {
            let shown = &groups.ranges[at * width..][..width];
            let attributes = match search.algorithm {
                Algorithm::Mondrian | Algorithm::MondrianRelaxed | Algorithm::Specialize => {
                    stage.attributes.clone()
                }
                _ => telling_first(
                    problem,
                    &stage.attributes,
                    groups.partition.class(at),
                    &search.tuning,
                ),
            };
            let time = time_of(groups.partition.class(at));
            let task = Task {
                problem,
                attributes: &attributes,
                privacy: &stage.privacy,
                pieces: groups.partition.class(at),
                seed: seed_of(at),
                key: search.key,
                rounds: search.rounds,
                budget: if search.algorithm.is_anytime() { &time } else { budget },
                tuning: &search.tuning,
            };
            let cut = match search.algorithm {
                Algorithm::Auto => auto::auto(&task, steps_of(task.pieces)),
                Algorithm::Mondrian => mondrian::mondrian(&task, mondrian::Ties::Together),
                Algorithm::MondrianRelaxed => mondrian::mondrian(&task, mondrian::Ties::Dealt),
                Algorithm::BottomUp => bottom_up::bottom_up(&task, Objective::Table),
                Algorithm::BottomUpRow => bottom_up::bottom_up(&task, Objective::Row),
                Algorithm::TopDown => top_down::top_down(&task, Objective::Table),
                Algorithm::TopDownRow => top_down::top_down(&task, Objective::Row),
                Algorithm::Peel => peel::peel(&task),
                Algorithm::Cluster => cluster::cluster(&task),
                Algorithm::Ring => unreachable!("rings are no classes: see run_rings"),
                Algorithm::Specialize => specialize::specialize(&task),
                Algorithm::Optimal | Algorithm::Incognito => {
                    unreachable!("a global recoding is no partition of rows: see run_global")
                }
            };
            let ranges_of = |class: usize| {
                let exact = problem.ranges(cut.class(class));
                let mut ranges = shown.to_vec();
                stage.attributes.iter().for_each(|&attribute| ranges[attribute] = exact[attribute]);
                ranges
            };
            let ranges: Vec<CodeRange> =
                (0..cut.len()).into_par_iter().flat_map_iter(ranges_of).collect();
            (cut, ranges)
        };
        let cuts: Vec<(Partition, Vec<CodeRange>)> =
            (0..groups.partition.len()).into_par_iter().map(cut_group).collect();
        groups = Groups::default();
        for (cut, ranges) in cuts {
            groups.partition.append(cut);
            groups.ranges.extend(ranges);
        }
    }
    groups
}

/// The best global recoding that the algorithm finds.
pub(crate) fn run_global(problem: &Problem, search: SearchOptions, budget: &Budget) -> Optimum {
    let mut found = match search.algorithm {
        Algorithm::Incognito => incognito::incognito(problem, search.cost, budget),
        _ => optimal::optimal(problem, search.cost, &search.techniques, search.seed, budget),
    };
    // Rules on fewer columns were asked of the classes of all, which is enough but more than was
    // wanted; and which rows go without whom no rule can be met was settled before the search. So
    // nothing is known of the least that was asked for.
    if problem.stages_in_order().len() > 1 || !problem.mandatory().is_empty() {
        (found.is_proven, found.bound) = (false, 0.0);
    }
    found
}

/// Rings of the given pieces, which together hold every rule, and for each place the box that
/// begins there. Every window holds the rules on all columns, whatever columns a rule was asked
/// for.
pub(crate) fn run_rings(
    problem: &Problem,
    search: SearchOptions,
    pieces: &[Piece],
    budget: &Budget,
    lot: impl Fn(u64) -> u64 + Sync,
) -> (Vec<Ring>, Vec<CodeRange>) {
    let all: Vec<usize> = (0..problem.attributes().len()).collect();
    let attributes = telling_first(problem, &all, pieces, &search.tuning);
    let privacy = &problem.stages_in_order()[0].privacy;
    let SearchOptions { seed, key, rounds, tuning, .. } = search;
    let task = Task {
        problem,
        attributes: &attributes,
        privacy,
        pieces,
        seed,
        key,
        rounds,
        budget,
        tuning: &tuning,
    };
    let rings = ring::rings(&task, &top_down::top_down(&task, Objective::Table), lot);
    let boxes = |ring: &Ring| -> Vec<CodeRange> {
        let codes = |&at: &usize| {
            ring.tuples.iter().map(|&tuple| problem.code(at, tuple)).collect::<Vec<_>>()
        };
        let columns: Vec<Vec<CodeRange>> =
            all.iter().map(|at| ring::ranges(&codes(at), ring.window)).collect();
        (0..ring.tuples.len())
            .flat_map(|place| columns.iter().map(move |column| column[place]))
            .collect()
    };
    let ranges = rings.par_iter().flat_map_iter(boxes).collect();
    (rings, ranges)
}
