//! Which algorithm runs on which rows: stage by stage for local ones, at once for global recodings
//! and rings.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use crate::codes::{CodeRange, real};
use crate::domain::penalty::Penalty;
use crate::problem::partition::{Partition, Piece, rows};
use crate::problem::{Problem, Stage};
use crate::rng::Rng;
use crate::search::boxes::Objective;
use crate::search::budget::Budget;
use crate::search::global::{Optimum, incognito, optimal};
use crate::search::local::ring::TupleRing;
use crate::search::local::{auto, bottom_up, cluster, mondrian, peel, ring, specialize, top_down};
use crate::search::ranges::total_loss;
#[cfg(test)]
use crate::search::task::ENDLESS;
use crate::search::task::{Task, discriminating_first};
use crate::search::{Algorithm, SearchOptions};

/// Equivalence classes and the exact range of each class on every attribute of the problem, class
/// by class.
#[derive(Debug, Default)]
pub(crate) struct RangedClasses {
    pub(crate) partition: Partition,
    pub(crate) ranges: Vec<CodeRange>,
}

/// The algorithms that go through all stages before `auto` does, each in a part of the time at
/// most: the best classes of the first stage, which is all that a search in stages looks at, need
/// not be best in the end.
pub(crate) const STAGED: [Algorithm; 5] = [
    Algorithm::Mondrian,
    Algorithm::Cluster,
    Algorithm::TopDown,
    Algorithm::BottomUp,
    Algorithm::Peel,
];

/// Runs the algorithm on the given pieces, which together satisfy every rule.
pub(crate) fn run(
    problem: &Problem,
    search: SearchOptions,
    pieces: &[Piece],
    budget: &Budget,
) -> RangedClasses {
    let apart = by_changes(problem, pieces);
    let [_, _, ..] = apart[..] else { return run_together(problem, search, pieces, budget) };
    let mut all = RangedClasses::default();
    let mut left = rows(pieces);
    for part in apart {
        let share = real(rows(&part)) / real(left);
        left -= rows(&part);
        // The loss of a part is no loss of the release.
        let RangedClasses { partition, ranges } =
            run_together(problem, search, &part, &budget.part(share).silent());
        all.partition.append(partition);
        all.ranges.extend(ranges);
    }
    all
}

/// The pieces, apart by the quasi-identifiers that change much over the rows of their persons: such
/// a person costs every other one of the class those values. Parts that do not satisfy the rules
/// alone are joined; the union of releases is a release.
fn by_changes(problem: &Problem, pieces: &[Piece]) -> Vec<Vec<Piece>> {
    if !problem.has_changing_persons() {
        return Vec::new();
    }
    let mut parts: BTreeMap<Vec<usize>, Vec<Piece>> = BTreeMap::new();
    for &piece in pieces {
        parts.entry(problem.changes(piece.tuple)).or_default().push(piece);
    }
    let privacy = &problem.stages_in_order()[0].privacy;
    let mut tally = problem.tally();
    let mut holds = |part: &Vec<Piece>| {
        tally.clear();
        problem.count_into(&mut tally, part);
        privacy.holds(&tally)
    };
    let (mut apart, rest): (Vec<Vec<Piece>>, Vec<Vec<Piece>>) =
        parts.into_values().partition(&mut holds);
    let mut rest = rest.concat();
    apart.sort_by_key(|part| rows(part));
    while !rest.is_empty() && !holds(&rest) {
        // The largest part takes them; all together satisfy the rules.
        rest.append(&mut apart.pop().expect("all pieces together satisfy the rules"));
    }
    if !rest.is_empty() {
        rest.sort_unstable();
        apart.push(rest);
    }
    apart
}

fn run_together(
    problem: &Problem,
    search: SearchOptions,
    pieces: &[Piece],
    budget: &Budget,
) -> RangedClasses {
    if !search.algorithm.is_anytime() || problem.stages_in_order().len() == 1 {
        return run_stages(problem, search, pieces, budget);
    }
    let all: Vec<usize> = (0..problem.attributes().len()).collect();
    let penalty = Penalty::new(problem.attributes(), &all);
    let loss = |groups: &RangedClasses| -> f64 {
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
) -> RangedClasses {
    let all = problem.ranges(pieces);
    let mut groups = RangedClasses { partition: Partition::default(), ranges: all };
    groups.partition.push(pieces.iter().copied());
    for (number, stage) in (0..).zip(problem.stages_in_order()) {
        let shared = StageTime::new(problem, number, pieces, budget);
        let cut_group = |at: usize| {
            let cut = cut_group(problem, search, stage, (number, at), &groups, &shared);
            let ranges = stage_ranges(problem, stage, groups.ranges_of(problem, at), &cut);
            (cut, ranges)
        };
        let cuts: Vec<(Partition, Vec<CodeRange>)> =
            (0..groups.partition.len()).into_par_iter().map(cut_group).collect();
        groups = RangedClasses::default();
        for (cut, ranges) in cuts {
            groups.partition.append(cut);
            groups.ranges.extend(ranges);
        }
    }
    groups
}

impl RangedClasses {
    fn ranges_of(&self, problem: &Problem, group: usize) -> &[CodeRange] {
        let width = problem.attributes().len();
        &self.ranges[group * width..][..width]
    }
}

/// The time of a stage. Stages share the time, and so do the groups of a stage by their rows.
struct StageTime<'a> {
    whole: &'a Budget,
    time: Budget,
    /// Rows of all stages' groups.
    rows: u64,
    /// Rows of the groups that have not begun.
    waiting: AtomicU64,
}

impl StageTime<'_> {
    fn new<'a>(
        problem: &Problem,
        number: u64,
        pieces: &[Piece],
        budget: &'a Budget,
    ) -> StageTime<'a> {
        let stages = problem.stages_in_order().len() as u64;
        let time = budget.part(1.0 / real(stages - number));
        // The loss of one of several groups is no loss of the release.
        let time = if stages > 1 { time.silent() } else { time };
        let rows = rows(pieces);
        StageTime { whole: budget, time, rows, waiting: AtomicU64::new(rows) }
    }

    fn of_group(&self, group: &[Piece]) -> Budget {
        let rows = rows(group);
        let all = self.waiting.fetch_sub(rows, Ordering::Relaxed);
        self.time.part(real(rows) / real(all) * real(rayon::current_num_threads() as u64))
    }

    /// A group's part of a number of steps.
    fn steps(&self, steps: Option<u64>, group: &[Piece]) -> Option<u64> {
        let share = real(rows(group)) / real(self.rows);
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a share of a count"
        )]
        steps.map(|steps| (real(steps) * share).ceil() as u64)
    }
}

/// Runs the algorithm on one group of a stage.
fn cut_group(
    problem: &Problem,
    search: SearchOptions,
    stage: &Stage,
    (number, group): (u64, usize),
    groups: &RangedClasses,
    shared: &StageTime,
) -> Partition {
    let pieces = groups.partition.class(group);
    let attributes = match search.algorithm {
        Algorithm::Mondrian | Algorithm::MondrianRelaxed | Algorithm::Specialize => {
            stage.attributes.clone()
        }
        _ => discriminating_first(problem, &stage.attributes, pieces),
    };
    // Each group of each stage has random numbers of its own.
    let seed = Rng::at(search.seed ^ number, group as u64).next_u64();
    #[cfg(test)]
    let seed = if search.seed == ENDLESS { ENDLESS } else { seed };
    let time = shared.of_group(pieces);
    let task = Task {
        problem,
        attributes: &attributes,
        privacy: &stage.privacy,
        pieces,
        seed,
        key: search.key,
        rounds: search.rounds,
        budget: if search.algorithm.is_anytime() { &time } else { shared.whole },
        tuning: &search.tuning,
    };
    match search.algorithm {
        Algorithm::Auto => auto::auto(&task, shared.steps(search.steps, pieces)),
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
    }
}

/// The ranges of the classes of a group: on the attributes of the stage those of their rows, on the
/// others those of the group.
fn stage_ranges(
    problem: &Problem,
    stage: &Stage,
    of_group: &[CodeRange],
    classes: &Partition,
) -> Vec<CodeRange> {
    let ranges_of = |class: usize| {
        let exact = problem.ranges(classes.class(class));
        let mut ranges = of_group.to_vec();
        stage.attributes.iter().for_each(|&attribute| ranges[attribute] = exact[attribute]);
        ranges
    };
    (0..classes.len()).into_par_iter().flat_map_iter(ranges_of).collect()
}

/// The best global recoding that the algorithm finds.
pub(crate) fn run_global(problem: &Problem, search: SearchOptions, budget: &Budget) -> Optimum {
    let mut found = match search.algorithm {
        Algorithm::Incognito => incognito::incognito(problem, search.cost, budget),
        _ => optimal::optimal(problem, search.cost, &search.techniques, search.seed, budget),
    };
    // Rules on fewer columns were applied to the classes of all columns, which is enough but more
    // than was wanted; and mandatory suppression was decided before the search. So nothing is known
    // of the least loss under the rules as they were given.
    if problem.stages_in_order().len() > 1 || !problem.mandatory().is_empty() {
        (found.is_proven, found.bound) = (false, 0.0);
    }
    found
}

/// Rings of the given pieces, which together satisfy every rule, and for each place the box that
/// begins there. Every window satisfies the rules on all columns, whatever columns a rule is on.
pub(crate) fn run_rings(
    problem: &Problem,
    search: SearchOptions,
    pieces: &[Piece],
    budget: &Budget,
    draw: impl Fn(u64) -> u64 + Sync,
) -> (Vec<TupleRing>, Vec<CodeRange>) {
    let all: Vec<usize> = (0..problem.attributes().len()).collect();
    let attributes = discriminating_first(problem, &all, pieces);
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
    let rings = ring::rings(&task, &top_down::top_down(&task, Objective::Table), draw);
    let boxes = |ring: &TupleRing| -> Vec<CodeRange> {
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
