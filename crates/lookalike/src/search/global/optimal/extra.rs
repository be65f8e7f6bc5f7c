//! The extra cost of rows whose classes do not satisfy the rules yet: a lower bound on the rise
//! that they or other rows must bear.
//!
//! Take one attribute, with all others as coarse as they can be. A row whose class stays too small
//! as long as its block is not joined with others is suppressed, or its block is joined. Joining
//! raises the cost of all rows of the block that are not suppressed, above all of those whose
//! classes satisfy the rules already. So whatever the other attributes do, this attribute costs at
//! least as much as the best of its partitions, where a block counts the rise for its rows and the
//! full cost for the rows whose class is still too small in it. The cost of suppressing a row is
//! shared among the attributes that must be joined for it, or among all if there is none, and the
//! sum over all attributes is a bound. A row that may be suppressed counts in its blocks too, but
//! with no more than its share.
//!
//! For blocks that are intervals the best partition is found by dynamic programming, together with
//! the best partition that keeps, or joins, a given border. The same is done for sets of few blocks
//! (`sets.rs`). With many blocks each is bounded by itself: it stays alone, or it is joined with
//! the block where the rise is least.

use super::Techniques;
use super::bound::{AttributeView, NodeBounds};
use super::sets;
use crate::search::global::{MOST_ATOMS, Space};
use crate::search::grouping::hash;

/// The extra cost of one attribute, beyond the plain bound.
#[derive(Debug)]
pub(super) struct ExtraCost {
    sum: f64,
    /// By atom, the weight of a rise of its block's cost over all rows that are not suppressed in
    /// every partition.
    weights: Vec<f64>,
    changes: Changes,
}

/// The rise of the extra cost when blocks are joined or kept apart.
#[derive(Debug)]
enum Changes {
    None,
    /// By block: when it is joined with the one before, and when it is kept apart from it.
    Borders(Vec<(f64, f64)>),
    /// For every two blocks: when they are joined, and when they are kept apart.
    Pairs(usize, Vec<(f64, f64)>),
    /// By block its extra cost alone, and for every two blocks the rise of the first when they are
    /// joined.
    Sets(Vec<f64>, usize, Vec<f64>),
}

/// The certain rise of cost when blocks are joined.
pub(super) enum JoinCosts {
    /// By block, the weight of a rise of its cost.
    Weights(Vec<f64>),
    /// For every two blocks the rise of the first.
    Pairs(Vec<f64>),
}

/// The blocks of an attribute by their least atoms, and for each of these atoms its index among
/// them.
pub(super) struct Ranked {
    pub(super) blocks: Vec<usize>,
    pub(super) rank: Vec<usize>,
}

impl Ranked {
    fn new(blocks: Vec<usize>, atoms: usize) -> Ranked {
        let mut rank = vec![0; atoms];
        blocks.iter().enumerate().for_each(|(place, &block)| rank[block] = place);
        Ranked { blocks, rank }
    }
}

/// Sums of the same costs in two orders differ by less than this share.
pub(super) const SUM_ROUNDING: f64 = 1e-12;

/// Bounds from differences of sums are lowered by this share, so that rounding never raises them.
pub(super) const SAFETY: f64 = 1e-9;

/// The rise from the least cost to another one, 0 if it is rounding.
pub(super) fn rise_above(least: f64, cost: f64) -> f64 {
    ((cost - least) - least.abs() * SUM_ROUNDING).max(0.0)
}

impl ExtraCost {
    pub(super) fn sum(&self) -> f64 {
        self.sum
    }

    /// The rise of the extra cost when two blocks are joined.
    pub(super) fn joined(&self, one: u32, other: u32) -> f64 {
        match &self.changes {
            Changes::None => 0.0,
            Changes::Borders(changes) => changes[one.max(other) as usize].0,
            Changes::Pairs(width, changes) => {
                changes[one.min(other) as usize * width + one.max(other) as usize].0
            }
            Changes::Sets(alone, width, joined) => {
                let rise = |a: u32, b: u32| {
                    (joined[a as usize * width + b as usize] - alone[a as usize]).max(0.0)
                };
                rise(one, other) + rise(other, one)
            }
        }
    }

    /// The rise of the extra cost when two blocks are kept apart.
    pub(super) fn apart(&self, one: u32, other: u32) -> f64 {
        match &self.changes {
            Changes::Borders(changes) => changes[one.max(other) as usize].1,
            Changes::Pairs(width, changes) => {
                changes[one.min(other) as usize * width + one.max(other) as usize].1
            }
            Changes::None | Changes::Sets(..) => 0.0,
        }
    }

    /// The rise of the plain bound when the blocks become coarser; 0 for DM, where none is known.
    pub(super) fn rise(
        &self,
        space: &Space,
        bounds: &NodeBounds,
        at: usize,
        blocks: &[u32],
    ) -> f64 {
        if !space.costing.is_separable() {
            return 0.0;
        }
        let costs = space.costing.block_costs(at, blocks);
        let rise = |atom: usize| (costs[atom] - bounds.block_costs[at][atom]) * self.weights[atom];
        (0..costs.len()).map(rise).sum()
    }
}

/// The extra cost of an attribute, given the plain bounds of a node.
pub(super) fn extra_cost(view: &AttributeView, techniques: &Techniques) -> ExtraCost {
    let AttributeView { space, bounds, at, .. } = *view;
    let weights = if space.costing.is_separable() {
        weights(view, |entry| f64::from(!bounds.entries[entry].is_suppressed))
    } else {
        Vec::new()
    };
    let mut extra = ExtraCost { sum: 0.0, weights, changes: Changes::None };
    // More atoms would take too long, and only the first 64 attributes have a bit in a share.
    if !techniques.charge || at >= 64 || bounds.fine[at].len() > MOST_ATOMS {
        return extra;
    }
    let atoms = bounds.fine[at].len();
    let blocks: Vec<usize> =
        (0..atoms).filter(|&atom| bounds.fine[at][atom] as usize == atom).collect();
    if space.choices.is_of_sets(at) && blocks.len() > sets::FEW {
        let pairs = pair_costs(view, &blocks);
        let least = least_of_each(view, &blocks, &pairs);
        extra.sum = least.iter().sum();
        extra.changes = Changes::Sets(least, atoms, pairs);
        return extra;
    }
    let join_costs = if space.costing.is_separable() {
        JoinCosts::Weights(self::weights(view, |entry| certain_part(view, entry)))
    } else {
        JoinCosts::Pairs(pair_costs(view, &blocks))
    };
    let ranked = Ranked::new(blocks, atoms);
    if space.choices.is_of_sets(at) {
        let (sum, changes) = sets::best(view, &join_costs, &ranked);
        extra.sum = sum;
        extra.changes = Changes::Pairs(atoms, changes);
    } else {
        (extra.sum, extra.changes) = best_intervals(view, &join_costs, &ranked);
    }
    extra
}

/// True when an entry certainly bears the whole rise of its block's cost.
fn is_certain(view: &AttributeView, entry: usize) -> bool {
    let (space, of) = (view.space, &view.bounds.entries[entry]);
    !of.is_suppressed
        && (of.holds && space.is_by_size()
            || space.allowance == 0 && (of.holds || space.costing.is_separable()))
}

/// The part of a rise that an entry certainly bears, 0 to 1: so much of it that it is never more
/// than the entry's share.
fn certain_part(view: &AttributeView, entry: usize) -> f64 {
    let AttributeView { space, bounds, at, .. } = *view;
    let of = &bounds.entries[entry];
    let most = f64::from(bounds.table.rows[entry]) * space.costing.full_of[at];
    if is_certain(view, entry) {
        1.0
    } else if space.allowance > 0 && of.must_join == 0 && of.shared_by >> at & 1 == 1 && most > 0.0
    {
        // An entry that needs a block to be joined may be suppressed in the joined block, and then
        // its share is counted already.
        (of.share / most).clamp(0.0, 1.0)
    } else {
        0.0
    }
}

/// By block its least extra cost alone: its shares, or the rise with the block where that is least.
fn least_of_each(view: &AttributeView, blocks: &[usize], pairs: &[f64]) -> Vec<f64> {
    let AttributeView { space, state, bounds, at, .. } = *view;
    let atoms = bounds.fine[at].len();
    let mut shares = vec![0.0; atoms];
    let entries = bounds.entries.iter().enumerate();
    for (entry, of) in entries.filter(|(_, of)| of.must_join >> at & 1 == 1) {
        shares[bounds.table.atoms_of(entry)[at] as usize] += of.share;
    }
    let mut least = vec![0.0; atoms];
    for &block in blocks.iter().filter(|&&block| shares[block] > 0.0) {
        let may_join = |other: usize| space.choices.may_join(state, at, block, other);
        let mates = blocks.iter().filter(|&&other| other != block && may_join(other));
        let alone = if space.allowance == 0 { f64::INFINITY } else { shares[block] };
        least[block] = mates.map(|other| pairs[block * atoms + other]).fold(alone, f64::min);
    }
    least
}

/// By atom, the weight of a rise of its block's cost over the entries, each with a part from 0 to
/// 1. The weight of a block is at its least atom; all other atoms have 0.
fn weights(view: &AttributeView, part: impl Fn(usize) -> f64) -> Vec<f64> {
    let AttributeView { bounds, at, .. } = *view;
    let mut weights = vec![0.0; bounds.fine[at].len()];
    for entry in 0..bounds.table.len() {
        let part = part(entry);
        if part <= 0.0 {
            continue;
        }
        let rows = f64::from(bounds.table.rows[entry]);
        let weight = part * bounds.table.sums_of(entry).get(at).copied().unwrap_or(rows);
        weights[bounds.fine[at][bounds.table.atoms_of(entry)[at] as usize] as usize] += weight;
    }
    weights
}

/// For every two blocks the certain rise of the first when the two are joined: a square of atoms.
fn pair_costs(view: &AttributeView, blocks: &[usize]) -> Vec<f64> {
    let AttributeView { space, bounds, at, .. } = *view;
    if !space.costing.is_separable() {
        return pair_costs_of_dm(view);
    }
    let atoms = bounds.fine[at].len();
    let mut pairs = vec![0.0; atoms * atoms];
    let weights = weights(view, |entry| certain_part(view, entry));
    for &block in blocks.iter().filter(|&&block| weights[block] > 0.0) {
        for &other in blocks.iter().filter(|&&other| other != block) {
            let together: Vec<usize> = (0..atoms)
                .filter(|&atom| [block, other].contains(&(bounds.fine[at][atom] as usize)))
                .collect();
            let rise = space.costing.block_cost(at, &together) - bounds.block_costs[at][block];
            pairs[block * atoms + other] = rise.max(0.0) * weights[block];
        }
    }
    pairs
}

/// The same for DM: the pairs of rows that come to share a class, counted over pairs of classes
/// that differ on this attribute alone.
fn pair_costs_of_dm(view: &AttributeView) -> Vec<f64> {
    let AttributeView { bounds, runs, at, .. } = *view;
    let atoms = bounds.fine[at].len();
    let mut pairs = vec![0.0; atoms * atoms];
    // Such classes lie in one coarsest class: sort its entries by a hash of the other attributes.
    let mut others: Vec<(u64, u32, u32, f64)> = Vec::new();
    for class in runs.classes().filter(|class| class.len() > 1) {
        others.clear();
        for run in class {
            for entry in runs.entries(run) {
                let rows = f64::from(bounds.table.rows[entry]);
                let number = u32::try_from(entry).expect("fewer entries than rows");
                others.push((context(bounds, at, entry), run.block, number, rows));
            }
        }
        others.sort_unstable_by_key(|&(context, block, ..)| (context, block));
        for alike in others.chunk_by(|one, other| one.0 == other.0).filter(|alike| alike.len() > 1)
        {
            let bearers =
                alike.iter().filter(|&&(_, _, entry, _)| is_certain(view, entry as usize));
            for &(_, block, entry, rows) in bearers {
                for &(_, other, mate, mates) in
                    alike.iter().filter(|&&(_, other, ..)| other != block)
                {
                    if are_alike(bounds, at, entry as usize, mate as usize) {
                        pairs[block as usize * atoms + other as usize] += rows * mates;
                    }
                }
            }
        }
    }
    pairs
}

/// A hash of all attributes but one.
fn context(bounds: &NodeBounds, at: usize, entry: usize) -> u64 {
    let mix = |mixed: u64, (place, &atom): (usize, &u32)| {
        if place == at { mixed } else { hash(mixed ^ u64::from(atom)).rotate_left(29) }
    };
    bounds.table.atoms_of(entry).iter().enumerate().fold(0, mix)
}

/// True when two entries are equal on all attributes but one.
fn are_alike(bounds: &NodeBounds, at: usize, one: usize, other: usize) -> bool {
    let (one, other) = (bounds.table.atoms_of(one), bounds.table.atoms_of(other));
    one[..at] == other[..at] && one[at + 1..] == other[at + 1..]
}

/// The least extra cost of an attribute whose blocks are intervals, by dynamic programming.
fn best_intervals(view: &AttributeView, join_costs: &JoinCosts, ranked: &Ranked) -> (f64, Changes) {
    let Ranked { blocks, rank } = ranked;
    let (atoms, count) = (rank.len(), blocks.len());
    let costs = interval_costs(view, join_costs, ranked);
    // Only blocks of one coarsest block can be joined.
    let coarse = |place: usize| view.bounds.coarse[view.at][blocks[place]];
    let cost = |from: usize, to: usize| costs[from * count + to];
    let mut before = vec![f64::INFINITY; count + 1];
    let mut behind = vec![f64::INFINITY; count + 1];
    (before[0], behind[count]) = (0.0, 0.0);
    for to in 0..count {
        for from in (0..=to).rev().take_while(|&from| coarse(from) == coarse(to)) {
            before[to + 1] = before[to + 1].min(before[from] + cost(from, to));
        }
    }
    for from in (0..count).rev() {
        for to in (from..count).take_while(|&to| coarse(to) == coarse(from)) {
            behind[from] = behind[from].min(cost(from, to) + behind[to + 1]);
        }
    }
    let best = before[count];
    if !best.is_finite() {
        return (f64::INFINITY, Changes::None);
    }
    let mut changes = vec![(0.0, 0.0); atoms];
    for border in 1..count {
        let mut joined = f64::INFINITY;
        for from in (0..border).rev().take_while(|&from| coarse(from) == coarse(border)) {
            for to in (border..count).take_while(|&to| coarse(to) == coarse(border)) {
                joined = joined.min(before[from] + cost(from, to) + behind[to + 1]);
            }
        }
        let apart = before[border] + behind[border];
        changes[blocks[border]] = (rise_above(best, joined), rise_above(best, apart));
    }
    (best, Changes::Borders(changes))
}

/// The extra cost of each interval of blocks, a square: the certain rise, and the shares of rows
/// whose class is too small in it.
fn interval_costs(view: &AttributeView, join_costs: &JoinCosts, ranked: &Ranked) -> Vec<f64> {
    let AttributeView { space, bounds, at, .. } = *view;
    let Ranked { blocks, rank } = ranked;
    let (atoms, count) = (rank.len(), blocks.len());
    let shares = interval_shares(view, ranked);
    let mut costs = vec![0.0; count * count];
    for from in 0..count {
        let (mut rise, mut weight, mut had) = (0.0, 0.0, 0.0);
        for to in (from..count)
            .take_while(|&to| bounds.coarse[at][blocks[from]] == bounds.coarse[at][blocks[to]])
        {
            let last = blocks.get(to + 1).copied().unwrap_or(atoms) - 1;
            let block_cost = space.interval_cost(at, blocks[from], last);
            match join_costs {
                JoinCosts::Weights(weights) => {
                    weight += weights[blocks[to]];
                    had += weights[blocks[to]] * bounds.block_costs[at][blocks[to]];
                    rise =
                        if to > from { (weight * block_cost - had) * (1.0 - SAFETY) } else { 0.0 };
                }
                JoinCosts::Pairs(pairs) => {
                    let pair =
                        |one: usize, other: usize| pairs[blocks[one] * atoms + blocks[other]];
                    rise += (from..to).map(|place| pair(place, to) + pair(to, place)).sum::<f64>();
                }
            }
            if to > from && block_cost.is_infinite() {
                costs[from * count + to] = f64::INFINITY;
                continue;
            }
            let share = shares[from * (count + 1) + to];
            costs[from * count + to] = match space.allowance {
                0 if share > 0.5 => f64::INFINITY,
                0 => rise.max(0.0),
                _ => rise.max(0.0) + (share * (1.0 - SAFETY)).max(0.0),
            };
        }
    }
    costs
}

/// For each interval of blocks, the shares of the rows whose class is too small in it: a square of
/// one more than the blocks.
fn interval_shares(view: &AttributeView, Ranked { blocks, rank }: &Ranked) -> Vec<f64> {
    let AttributeView { space, bounds, runs, .. } = *view;
    let count = blocks.len();
    // First as differences in both directions: all intervals that begin in [low, begin] and end in
    // [end, next) have these shares.
    let mut shares = vec![0.0; (count + 1) * (count + 1)];
    for class in runs.classes() {
        for first in 0..class.len() {
            let (mut rows, mut sum) = (0, 0.0);
            let low = if first == 0 { 0 } else { rank[class[first - 1].block as usize] + 1 };
            for (last, run) in class.iter().enumerate().skip(first) {
                rows += run.rows;
                if rows >= space.least_rows {
                    break;
                }
                sum += runs.entries(run).map(|entry| bounds.entries[entry].share).sum::<f64>();
                if sum > 0.0 {
                    let (begin, end) =
                        (rank[class[first].block as usize], rank[run.block as usize]);
                    let next = class.get(last + 1).map_or(count, |next| rank[next.block as usize]);
                    shares[low * (count + 1) + end] += sum;
                    shares[(begin + 1) * (count + 1) + end] -= sum;
                    shares[low * (count + 1) + next] -= sum;
                    shares[(begin + 1) * (count + 1) + next] += sum;
                }
            }
        }
    }
    for from in 0..=count {
        for to in 1..=count {
            shares[from * (count + 1) + to] += shares[from * (count + 1) + to - 1];
        }
    }
    for from in 1..=count {
        for to in 0..=count {
            shares[from * (count + 1) + to] += shares[(from - 1) * (count + 1) + to];
        }
    }
    shares
}
