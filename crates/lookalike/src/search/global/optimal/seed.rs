//! A good answer to start from. First a quick descent from one block, by levels or by halving.
//! Then, where the table is not too large, a greedy ascent from single values, one choice at a
//! time; its best partition is improved by changing one choice after the other.

use rayon::prelude::*;

use crate::domain::scheme::{BlockExtent, ChoiceState, Decision, Scheme};
use crate::rng::Rng;
use crate::search::budget::Budget;
use crate::search::global::{ClassBuffers, ClassTable, PartitionCost, Parts, Space};

/// The best partition found so far.
#[derive(Clone, Debug)]
pub(super) struct Incumbent {
    pub(super) cost: f64,
    pub(super) parts: Parts,
}

/// The ascent takes entries x choices x choices steps; it is skipped if they are more than this.
const MOST_STEPS: usize = 2_000_000_000;

/// The descent ends when its next partition costs more than this many times the best.
const FAR: f64 = 2.0;

/// With no more choices than this no perturbation is tried: the search itself is as fast.
const FEW: usize = 24;

/// A perturbation changes so many choices.
const CHANGES: u64 = 3;

/// How often the ascent's answer is perturbed at random and improved again.
const SHAKES: u64 = 2;

/// The objective of the descent and the ascent: the cost with unlimited suppression, where every
/// row beyond the allowance counts twice, so that the steps lead to allowed partitions.
fn rank(space: &Space, value: PartitionCost) -> f64 {
    let over = value.suppressed.saturating_sub(space.allowance);
    value.unlimited + space.costing.full * crate::codes::real(over)
}

/// The best partition of the descent, the ascent and its perturbations, no worse than the start.
pub(super) fn seed(
    space: &Space,
    table: &ClassTable,
    start: &Incumbent,
    seed: u64,
    budget: &Budget,
    buffers: &mut ClassBuffers,
) -> Incumbent {
    let mut best = start.clone();
    descend(space, table, &mut best, budget);
    if table.len() * space.choices.count() * space.choices.count() > MOST_STEPS {
        return best;
    }
    let mut at = climb(space, table, &mut best, budget, buffers);
    improve(space, table, &mut at, &mut best, budget, buffers);
    let mut rng = Rng::new(seed);
    let settled = at;
    for _ in 0..if space.choices.count() > FEW { SHAKES } else { 0 } {
        let mut at = settled.clone();
        for _ in 0..CHANGES {
            let open: Vec<u32> = space.choices.open_in(&space.choices.open()).collect();
            if open.is_empty() || budget.is_spent() {
                return best;
            }
            let choice = open[usize::try_from(rng.below(open.len() as u64)).expect("an index")];
            at = changed(space, &at, choice);
        }
        improve(space, table, &mut at, &mut best, budget, buffers);
    }
    best
}

/// Replaces the best partition by one that costs less.
fn keep(best: &mut Incumbent, value: PartitionCost, parts: &Parts) {
    if value.cost < best.cost {
        *best = Incumbent { cost: value.cost, parts: parts.clone() };
    }
}

/// For an attribute ever coarser partitions, from single atoms to one block: its levels, or, where
/// all intervals are valid, intervals of about equally many rows, twice as many in each step.
fn ladder(space: &Space, at: usize) -> Parts {
    let shape = &space.shapes[at];
    let atoms = shape.atoms.len();
    if space.schemes[at] != Scheme::Ops {
        return shape.ladder();
    }
    let mut ladder: Parts = vec![(0..).take(atoms).collect()];
    let rows: f64 = space.costing.rows_of[at].iter().sum();
    let mut runs = atoms.next_power_of_two();
    while runs > 1 {
        runs /= 2;
        let (mut below, mut first, mut last) = (0.0, 0, usize::MAX);
        let mut least = Vec::with_capacity(atoms);
        for (atom, own) in (0u32..).zip(&space.costing.rows_of[at]) {
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a share of a small number of runs"
            )]
            let run = ((below + own / 2.0) / rows * crate::codes::real(runs as u64)) as usize;
            if run != last {
                (first, last) = (atom, run);
            }
            least.push(first);
            below += own;
        }
        ladder.push(least);
    }
    ladder.dedup();
    ladder
}

/// From one block for each attribute down the ladders, always to the partition that costs least.
fn descend(space: &Space, table: &ClassTable, best: &mut Incumbent, budget: &Budget) {
    let ladders: Vec<Parts> = (0..space.shapes.len()).map(|at| ladder(space, at)).collect();
    let mut rungs: Vec<usize> = ladders.iter().map(|ladder| ladder.len() - 1).collect();
    loop {
        let lower = |buffers: &mut ClassBuffers, at: usize| {
            if rungs[at] == 0 || budget.is_spent() {
                return None;
            }
            let rung = |of: usize| rungs[of] - usize::from(of == at);
            let parts: Parts = (0..ladders.len()).map(|of| ladders[of][rung(of)].clone()).collect();
            let value = space.value(table, &parts, buffers);
            Some((rank(space, value), at, value, parts))
        };
        let tried: Vec<_> =
            (0..ladders.len()).into_par_iter().map_init(ClassBuffers::default, lower).collect();
        let next = tried.into_iter().flatten().min_by(|one, other| one.0.total_cmp(&other.0));
        // Further down ever more rows are suppressed.
        let Some((_, at, value, parts)) = next.filter(|next| next.0 <= FAR * best.cost) else {
            return;
        };
        keep(best, value, &parts);
        rungs[at] -= 1;
    }
}

/// Joins the choice that costs least, step by step, to the end; returns the best state visited.
fn climb(
    space: &Space,
    table: &ClassTable,
    best: &mut Incumbent,
    budget: &Budget,
    buffers: &mut ClassBuffers,
) -> ChoiceState {
    let mut state = space.choices.open();
    let mut rolled: Option<ClassTable> = None;
    let mut on_the_way = (f64::INFINITY, state.clone());
    loop {
        let table = rolled.as_ref().unwrap_or(table);
        let here = space.choices.all_blocks(&state, BlockExtent::Joined);
        let value = space.value(table, &here, buffers);
        keep(best, value, &here);
        if rank(space, value) < on_the_way.0 {
            on_the_way = (rank(space, value), state.clone());
        }
        let joined = |buffers: &mut ClassBuffers, choice: u32| {
            let mut joined = state.clone();
            if budget.is_spent() || !space.choices.settle(&mut joined, choice, Decision::Joined) {
                return None;
            }
            let at = space.choices.attribute(choice);
            let mut parts = here.clone();
            parts[at] = space.choices.blocks(&joined, at, BlockExtent::Joined);
            Some((rank(space, space.value(table, &parts, buffers)), joined))
        };
        let tried: Vec<Option<(f64, ChoiceState)>> = distinct(space, &state, &here)
            .into_par_iter()
            .map_init(ClassBuffers::default, joined)
            .collect();
        let next = tried.into_iter().flatten().min_by(|one, other| one.0.total_cmp(&other.0));
        if budget.is_spent() {
            return on_the_way.1;
        }
        let Some((_, joined)) = next else { return on_the_way.1 };
        state = joined;
        rolled =
            Some(table.rolled_up(&space.choices.all_blocks(&state, BlockExtent::Joined), buffers));
    }
}

/// The open choices; of several that would join the same two blocks only the first.
pub(super) fn distinct(space: &Space, state: &ChoiceState, fine: &Parts) -> Vec<u32> {
    let mut seen = rustc_hash::FxHashSet::default();
    let is_new = |&choice: &u32| {
        let at = space.choices.attribute(choice);
        match space.choices.links(choice) {
            &[(one, other)] => seen.insert((at, fine[at][one as usize], fine[at][other as usize])),
            _ => true,
        }
    };
    space.choices.open_in(state).filter(is_new).collect()
}

/// The same state with one choice changed, and everything that follows from it.
fn changed(space: &Space, state: &ChoiceState, choice: u32) -> ChoiceState {
    let mut next = space.choices.open();
    let decision =
        if state.is(choice, Decision::Joined) { Decision::Apart } else { Decision::Joined };
    let is_settled = space.choices.settle(&mut next, choice, decision);
    debug_assert!(is_settled, "nothing contradicts a first choice");
    let all: Vec<u32> =
        space.choices.open_in(&next).filter(|&other| state.is(other, Decision::Joined)).collect();
    for other in all {
        if next.is_open(other) {
            space.choices.settle(&mut next, other, Decision::Joined);
        }
    }
    next
}

/// Changes one choice after the other as long as that lowers the objective.
fn improve(
    space: &Space,
    table: &ClassTable,
    state: &mut ChoiceState,
    best: &mut Incumbent,
    budget: &Budget,
    buffers: &mut ClassBuffers,
) {
    let mut here = rank(
        space,
        space.value(table, &space.choices.all_blocks(state, BlockExtent::Joined), buffers),
    );
    loop {
        let mut is_better = false;
        for choice in space.choices.open_in(&space.choices.open()).collect::<Vec<_>>() {
            if budget.is_spent() {
                return;
            }
            let next = changed(space, state, choice);
            let parts = space.choices.all_blocks(&next, BlockExtent::Joined);
            let value = space.value(table, &parts, buffers);
            keep(best, value, &parts);
            if rank(space, value) < here {
                (here, *state, is_better) = (rank(space, value), next, true);
            }
        }
        if !is_better {
            return;
        }
    }
}
