//! A good answer to begin with: a quick way down from one block, by levels or by halving; then,
//! where the table is not too large, a greedy way up from single values, one choice at a time, and
//! its best partition improved by changing one choice after the other.

use rayon::prelude::*;

use crate::domain::scheme::{Scheme, State, Verdict};
use crate::rng::Rng;
use crate::search::budget::Budget;
use crate::search::global::{ClassTable, Parts, Scratch, Space, Value};

/// The best partition found so far.
#[derive(Clone, Debug)]
pub(super) struct Incumbent {
    pub(super) cost: f64,
    pub(super) parts: Parts,
}

/// The way up takes a step for each entry, for each choice, for each choice: no more than this.
const MOST_STEPS: usize = 2_000_000_000;

/// With no more choices than this the search itself is as fast.
const FEW: usize = 24;

/// How often a good answer is shaken and improved again.
const SHAKES: u64 = 2;

/// A start's order among others: rows that may not be left out weigh like any that are, so that a
/// way leads to what is allowed.
fn rank(space: &Space, value: Value) -> f64 {
    let over = value.left_out.saturating_sub(space.allowance);
    value.lax + space.costing.full * crate::codes::real(over)
}

pub(super) fn seed(
    space: &Space,
    table: &ClassTable,
    start: &Incumbent,
    lots: u64,
    budget: &Budget,
    scratch: &mut Scratch,
) -> Incumbent {
    let mut best = start.clone();
    descend(space, table, &mut best, budget);
    if table.len() * space.choices.count() * space.choices.count() > MOST_STEPS {
        return best;
    }
    let mut at = climb(space, table, &mut best, budget, scratch);
    improve(space, table, &mut at, &mut best, budget, scratch);
    let mut rng = Rng::new(lots);
    let settled = at;
    for _ in 0..if space.choices.count() > FEW { SHAKES } else { 0 } {
        let mut at = settled.clone();
        for _ in 0..3 {
            let open: Vec<u32> = space.choices.open_in(&space.choices.open()).collect();
            if open.is_empty() || budget.is_spent() {
                return best;
            }
            let choice = open[usize::try_from(rng.below(open.len() as u64)).expect("an index")];
            at = changed(space, &at, choice);
        }
        improve(space, table, &mut at, &mut best, budget, scratch);
    }
    best
}

fn keep(best: &mut Incumbent, value: Value, parts: &Parts) {
    if value.cost < best.cost {
        *best = Incumbent { cost: value.cost, parts: parts.clone() };
    }
}

/// For an attribute ever coarser partitions, from single atoms to one block: its levels, or where
/// any intervals are valid runs of about as many rows, twice as many from step to step.
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
                reason = "a share of a few runs"
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

/// From one block for each attribute down the ladders, always to what costs least.
fn descend(space: &Space, table: &ClassTable, best: &mut Incumbent, budget: &Budget) {
    let ladders: Vec<Parts> = (0..space.shapes.len()).map(|at| ladder(space, at)).collect();
    let mut rungs: Vec<usize> = ladders.iter().map(|ladder| ladder.len() - 1).collect();
    loop {
        let lower = |scratch: &mut Scratch, at: usize| {
            if rungs[at] == 0 || budget.is_spent() {
                return None;
            }
            let rung = |of: usize| rungs[of] - usize::from(of == at);
            let parts: Parts = (0..ladders.len()).map(|of| ladders[of][rung(of)].clone()).collect();
            let value = space.value(table, &parts, scratch);
            Some((rank(space, value), at, value, parts))
        };
        let tried: Vec<_> =
            (0..ladders.len()).into_par_iter().map_init(Scratch::default, lower).collect();
        let next = tried.into_iter().flatten().min_by(|one, other| one.0.total_cmp(&other.0));
        // Far above the best there is nothing to be found further down: ever more rows are left
        // out.
        let Some((_, at, value, parts)) = next.filter(|next| next.0 <= 2.0 * best.cost) else {
            return;
        };
        keep(best, value, &parts);
        rungs[at] -= 1;
    }
}

/// Joins what costs least, step by step, to the end; returns the best state on the way.
fn climb(
    space: &Space,
    table: &ClassTable,
    best: &mut Incumbent,
    budget: &Budget,
    scratch: &mut Scratch,
) -> State {
    let mut state = space.choices.open();
    let mut rolled: Option<ClassTable> = None;
    let mut on_the_way = (f64::INFINITY, state.clone());
    loop {
        let table = rolled.as_ref().unwrap_or(table);
        let here = space.choices.all_blocks(&state, false);
        let value = space.value(table, &here, scratch);
        keep(best, value, &here);
        if rank(space, value) < on_the_way.0 {
            on_the_way = (rank(space, value), state.clone());
        }
        let joined = |scratch: &mut Scratch, choice: u32| {
            let mut joined = state.clone();
            if budget.is_spent() || !space.choices.settle(&mut joined, choice, Verdict::Joined) {
                return None;
            }
            let at = space.choices.attribute(choice);
            let mut parts = here.clone();
            parts[at] = space.choices.blocks(&joined, at, false);
            Some((rank(space, space.value(table, &parts, scratch)), joined))
        };
        let tried: Vec<Option<(f64, State)>> = distinct(space, &state, &here)
            .into_par_iter()
            .map_init(Scratch::default, joined)
            .collect();
        let next = tried.into_iter().flatten().min_by(|one, other| one.0.total_cmp(&other.0));
        if budget.is_spent() {
            return on_the_way.1;
        }
        let Some((_, joined)) = next else { return on_the_way.1 };
        state = joined;
        rolled = Some(table.rolled_up(&space.choices.all_blocks(&state, false), scratch));
    }
}

/// The open choices, but of those that would join the same two blocks only the first.
pub(super) fn distinct(space: &Space, state: &State, fine: &Parts) -> Vec<u32> {
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

/// The same state but for one choice and what follows from it.
fn changed(space: &Space, state: &State, choice: u32) -> State {
    let mut next = space.choices.open();
    let verdict = if state.is(choice, Verdict::Joined) { Verdict::Apart } else { Verdict::Joined };
    let is_settled = space.choices.settle(&mut next, choice, verdict);
    debug_assert!(is_settled, "nothing contradicts a first choice");
    let all: Vec<u32> =
        space.choices.open_in(&next).filter(|&other| state.is(other, Verdict::Joined)).collect();
    for other in all {
        if next.is_open(other) {
            space.choices.settle(&mut next, other, Verdict::Joined);
        }
    }
    next
}

/// Changes one choice after the other as long as that lowers the cost.
fn improve(
    space: &Space,
    table: &ClassTable,
    state: &mut State,
    best: &mut Incumbent,
    budget: &Budget,
    scratch: &mut Scratch,
) {
    let mut here =
        rank(space, space.value(table, &space.choices.all_blocks(state, false), scratch));
    loop {
        let mut is_better = false;
        for choice in space.choices.open_in(&space.choices.open()).collect::<Vec<_>>() {
            if budget.is_spent() {
                return;
            }
            let next = changed(space, state, choice);
            let parts = space.choices.all_blocks(&next, false);
            let value = space.value(table, &parts, scratch);
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
