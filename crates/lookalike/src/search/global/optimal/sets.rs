//! The least extra cost of an attribute whose blocks are sets, over all partitions of a few blocks.

use super::bound::AttributeView;
use super::extra::{JoinCosts, Ranked, SAFETY, rise_above};

/// Up to so many blocks all partitions are tried.
pub(super) const FEW: usize = 7;

/// The least extra cost, and for every two blocks its rise when they are joined and when they are
/// kept apart.
pub(super) fn best(
    view: &AttributeView,
    join_costs: &JoinCosts,
    ranked: &Ranked,
) -> (f64, Vec<(f64, f64)>) {
    let Ranked { blocks, rank } = ranked;
    let (atoms, count) = (rank.len(), blocks.len());
    let costs = set_costs(view, join_costs, ranked);
    let least = least_partition(&costs, |_| true);
    let mut changes = vec![(0.0, 0.0); atoms * atoms];
    for one in 0..count {
        for other in one + 1..count {
            if may_join(view, blocks[one], blocks[other]) {
                let (a, b) = (1 << one, 1 << other);
                let joined = least_partition(&costs, |set| (set & a == 0) == (set & b == 0));
                let apart = least_partition(&costs, |set| set & a == 0 || set & b == 0);
                changes[blocks[one] * atoms + blocks[other]] =
                    (rise_above(least, joined), rise_above(least, apart));
            }
        }
    }
    (least, changes)
}

fn may_join(view: &AttributeView, one: usize, other: usize) -> bool {
    view.space.choices.may_join(view.state, view.at, one, other)
}

/// The least cost of a partition of all blocks into wanted sets, by dynamic programming over
/// subsets.
fn least_partition(costs: &[f64], is_wanted: impl Fn(usize) -> bool) -> f64 {
    let mut least = vec![f64::INFINITY; costs.len()];
    least[0] = 0.0;
    for all in 1..costs.len() {
        let first = all & all.wrapping_neg();
        // Every set with the first block.
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

/// The extra cost of each set of blocks, by its bits: the certain rise, and the shares of rows
/// whose class is too small in it.
fn set_costs(view: &AttributeView, join_costs: &JoinCosts, ranked: &Ranked) -> Vec<f64> {
    let space = view.space;
    let blocks = &ranked.blocks;
    let shares = set_shares(view, ranked);
    let of_set = |set: usize| {
        let members: Vec<usize> = (0..blocks.len()).filter(|place| set >> place & 1 == 1).collect();
        let fits =
            |one: usize, other: usize| one == other || may_join(view, blocks[one], blocks[other]);
        let is_possible = members.iter().all(|&one| members.iter().all(|&other| fits(one, other)));
        if !is_possible || (space.allowance == 0 && shares[set] > 0.0) {
            return f64::INFINITY;
        }
        let rise: f64 =
            if members.len() < 2 { 0.0 } else { rise_of_set(view, join_costs, ranked, &members) };
        rise.max(0.0) * (1.0 - SAFETY) + if space.allowance == 0 { 0.0 } else { shares[set] }
    };
    (0..1 << blocks.len()).map(|set| if set == 0 { 0.0 } else { of_set(set) }).collect()
}

/// The certain rise of cost when these blocks, given by their ranks, become one.
fn rise_of_set(
    view: &AttributeView,
    join_costs: &JoinCosts,
    Ranked { blocks, rank }: &Ranked,
    members: &[usize],
) -> f64 {
    let AttributeView { space, bounds, at, .. } = *view;
    let atoms = rank.len();
    match join_costs {
        JoinCosts::Weights(weights) => {
            let is_member = |atom: &usize| members.contains(&rank[bounds.fine[at][*atom] as usize]);
            let together =
                space.costing.block_cost(at, &(0..atoms).filter(is_member).collect::<Vec<_>>());
            let rise = |&place: &usize| {
                (together - bounds.block_costs[at][blocks[place]]) * weights[blocks[place]]
            };
            members.iter().map(rise).sum()
        }
        JoinCosts::Pairs(pairs) => {
            let rise = |&one: &usize| {
                let pair = |&other: &usize| pairs[blocks[one] * atoms + blocks[other]];
                members.iter().map(pair).sum::<f64>()
            };
            members.iter().map(rise).sum()
        }
    }
}

/// For each set of blocks, the shares of the rows whose class is too small in it.
fn set_shares(view: &AttributeView, Ranked { blocks, rank }: &Ranked) -> Vec<f64> {
    let AttributeView { space, bounds, runs, .. } = *view;
    let sets = 1 << blocks.len();
    let mut too_small = vec![0.0; sets];
    let (mut rows, mut shares) = (vec![0u64; sets], vec![0.0; sets]);
    for class in runs.classes() {
        let share = |entry: usize| bounds.entries[entry].share;
        let of: Vec<(usize, u64, f64)> = class
            .iter()
            .map(|run| (rank[run.block as usize], run.rows, runs.entries(run).map(share).sum()))
            .collect();
        if of.iter().all(|&(_, rows, share)| rows >= space.least_rows || share <= 0.0) {
            continue;
        }
        for set in 1..sets {
            let rest = set & (set - 1);
            let place = (set ^ rest).trailing_zeros() as usize;
            let (more, share) = of
                .iter()
                .find(|&&(rank, ..)| rank == place)
                .map_or((0, 0.0), |&(_, rows, share)| (rows, share));
            rows[set] = rows[rest] + more;
            shares[set] = shares[rest] + share;
            if rows[set] < space.least_rows {
                too_small[set] += shares[set];
            }
        }
    }
    too_small
}
