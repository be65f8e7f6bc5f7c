//! The least charge of an attribute whose blocks are sets, over all partitions of a few blocks.

use super::bound::Look;
use super::charge::{Payers, Ranked};
use super::reach::Runs;
use crate::domain::scheme::State;
use crate::search::global::Space;

/// Of so many blocks all partitions are tried.
pub(super) const FEW: usize = 7;

/// The least charge, and for each two blocks how much more it is when they are joined and when they
/// are kept apart.
pub(super) fn best(
    space: &Space,
    state: &State,
    look: &Look,
    at: usize,
    runs: &Runs,
    payers: &Payers,
    ranked: &Ranked,
) -> (f64, Vec<(f64, f64)>) {
    let Ranked { blocks, rank } = ranked;
    let (atoms, count) = (rank.len(), blocks.len());
    let may_join =
        |one: usize, other: usize| space.choices.may_join(state, at, blocks[one], blocks[other]);
    let costs = costs(space, look, at, runs, payers, ranked, may_join);
    let least = partition(&costs, |_| true);
    let mut changes = vec![(0.0, 0.0); atoms * atoms];
    for one in 0..count {
        for other in one + 1..count {
            if may_join(one, other) {
                let (a, b) = (1 << one, 1 << other);
                let joined = partition(&costs, |set| (set & a == 0) == (set & b == 0));
                let apart = partition(&costs, |set| set & a == 0 || set & b == 0);
                // Sums in another order differ in their last digits.
                let more = |cost: f64| ((cost - least) - least.abs() * 1e-12).max(0.0);
                changes[blocks[one] * atoms + blocks[other]] = (more(joined), more(apart));
            }
        }
    }
    (least, changes)
}

/// The partition of all blocks into sets of least cost, of sets that are wanted.
fn partition(costs: &[f64], is_wanted: impl Fn(usize) -> bool) -> f64 {
    let mut least = vec![f64::INFINITY; costs.len()];
    least[0] = 0.0;
    for all in 1..costs.len() {
        let first = all & all.wrapping_neg();
        // Every set that has the first block.
        let mut rest = all ^ first;
        loop {
            let set = rest | first;
            if is_wanted(set) {
                least[all] = least[all].min(least[all ^ set] + costs[set]);
            }
            if rest == 0 {
                break;
            }
            rest = (rest - 1) & (all ^ first);
        }
    }
    least[costs.len() - 1]
}

/// What each set of blocks costs: those who pay for the rise, and rows that are too few in it.
fn costs(
    space: &Space,
    look: &Look,
    at: usize,
    runs: &Runs,
    payers: &Payers,
    Ranked { blocks, rank }: &Ranked,
    may_join: impl Fn(usize, usize) -> bool,
) -> Vec<f64> {
    let (atoms, count) = (rank.len(), blocks.len());
    let mut lost = vec![0.0; 1 << count];
    let (mut rows, mut shares) = (vec![0u64; 1 << count], vec![0.0; 1 << count]);
    for class in runs.classes() {
        let share = |entry: usize| look.entries[entry].share;
        let of: Vec<(usize, u64, f64)> = class
            .iter()
            .map(|part| (rank[part.block as usize], part.rows, runs.entries(part).map(share).sum()))
            .collect();
        if of.iter().all(|&(_, rows, share)| rows >= space.least_rows || share <= 0.0) {
            continue;
        }
        for set in 1..1usize << count {
            let first = set & (set - 1);
            let top = set ^ first;
            let place = top.trailing_zeros() as usize;
            let (more, share) = of
                .iter()
                .find(|&&(rank, ..)| rank == place)
                .map_or((0, 0.0), |&(_, rows, share)| (rows, share));
            rows[set] = rows[first] + more;
            shares[set] = shares[first] + share;
            if rows[set] < space.least_rows {
                lost[set] += shares[set];
            }
        }
    }
    let of_set = |set: usize| {
        let members: Vec<usize> = (0..count).filter(|place| set >> place & 1 == 1).collect();
        let is_possible = members
            .iter()
            .all(|&one| members.iter().all(|&other| one == other || may_join(one, other)));
        if !is_possible || (space.allowance == 0 && lost[set] > 0.0) {
            return f64::INFINITY;
        }
        let rise: f64 = if members.len() < 2 {
            0.0
        } else {
            match payers {
                Payers::Weights(weights) => {
                    let is_member =
                        |atom: &usize| members.contains(&rank[look.fine[at][*atom] as usize]);
                    let together = space
                        .costing
                        .block_price(at, &(0..atoms).filter(is_member).collect::<Vec<_>>());
                    let rise = |&place: &usize| {
                        (together - look.prices[at][blocks[place]]) * weights[blocks[place]]
                    };
                    members.iter().map(rise).sum()
                }
                Payers::Pairs(pairs) => {
                    let pays = |&one: &usize| {
                        members
                            .iter()
                            .map(|&other| pairs[blocks[one] * atoms + blocks[other]])
                            .sum::<f64>()
                    };
                    members.iter().map(pays).sum()
                }
            }
        };
        rise.max(0.0) * (1.0 - 1e-9) + if space.allowance == 0 { 0.0 } else { lost[set] }
    };
    (0..1 << count).map(|set| if set == 0 { 0.0 } else { of_set(set) }).collect()
}
