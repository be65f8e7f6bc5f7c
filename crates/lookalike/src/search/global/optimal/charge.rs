//! What rows whose classes do not hold yet must cost, be it them or others.
//!
//! Take one attribute, all others being as coarse as they can be. A row that has too few beside it
//! as long as its block is not joined with others is left out, or its block is joined, which all
//! rows of the block pay for that are not left out, above all those whose classes hold already. So
//! whatever the others do, this attribute costs at least as much as the best of its partitions, a
//! block paying the rise of the price for its rows and the full price for rows that are still too
//! few in it. What leaving a row out costs is shared out among the attributes that it needs, or
//! among all if it needs none, and the sum over all attributes is a bound. A row that may be left
//! out pays for its blocks too, but no more than its share.
//!
//! For blocks that are intervals the best partition is found by dynamic programming, and with it
//! what it would be with a border kept or with it gone. So it is for sets of few blocks. Of many
//! blocks each is reckoned by itself: it stays alone, or pays at least for the cheapest block to
//! join.

use super::Techniques;
use super::bound::Look;
use super::reach::Runs;
use super::sets;
use crate::domain::scheme::State;
use crate::search::global::Space;

/// What one attribute is charged beyond the plain prices.
#[derive(Debug)]
pub(super) struct Charge {
    sum: f64,
    /// By atom, how much a rise of its block's price counts over all rows that are not lost.
    live: Vec<f64>,
    changes: Changes,
}

/// How much more it would be.
#[derive(Debug)]
enum Changes {
    None,
    /// By block: when it is joined with the one before, and when it is kept from it.
    Borders(Vec<(f64, f64)>),
    /// For each two blocks: when they are joined, and when they are kept apart.
    Pairs(usize, Vec<(f64, f64)>),
    /// By block what it is charged alone, and for each two what the first pays when they are
    /// joined.
    Sets(Vec<f64>, usize, Vec<f64>),
}

impl Charge {
    pub(super) fn sum(&self) -> f64 {
        self.sum
    }

    /// By how much the charge rises when two blocks are joined.
    pub(super) fn joined(&self, one: u32, other: u32) -> f64 {
        match &self.changes {
            Changes::None => 0.0,
            Changes::Borders(changes) => changes[one.max(other) as usize].0,
            Changes::Pairs(width, changes) => {
                changes[one.min(other) as usize * width + one.max(other) as usize].0
            }
            Changes::Sets(alone, width, joined) => {
                let pays = |a: u32, b: u32| {
                    (joined[a as usize * width + b as usize] - alone[a as usize]).max(0.0)
                };
                pays(one, other) + pays(other, one)
            }
        }
    }

    /// By how much the charge rises when two blocks are kept apart.
    pub(super) fn apart(&self, one: u32, other: u32) -> f64 {
        match &self.changes {
            Changes::Borders(changes) => changes[one.max(other) as usize].1,
            Changes::Pairs(width, changes) => {
                changes[one.min(other) as usize * width + one.max(other) as usize].1
            }
            Changes::None | Changes::Sets(..) => 0.0,
        }
    }

    /// By how much the plain bound rises when the blocks become coarser; for DM nothing is known.
    pub(super) fn rise(&self, space: &Space, look: &Look, at: usize, blocks: &[u32]) -> f64 {
        if !space.costing.is_separable() {
            return 0.0;
        }
        let prices = space.costing.prices(at, blocks);
        (0..prices.len()).map(|atom| (prices[atom] - look.prices[at][atom]) * self.live[atom]).sum()
    }
}

pub(super) fn charge(
    space: &Space,
    techniques: &Techniques,
    state: &State,
    look: &Look,
    at: usize,
    runs: &Runs,
) -> Charge {
    let live = if space.costing.is_separable() {
        weights(look, at, |entry| f64::from(!look.entries[entry].is_lost))
    } else {
        Vec::new()
    };
    let mut charge = Charge { sum: 0.0, live, changes: Changes::None };
    let pays = |entry: usize| {
        let of = &look.entries[entry];
        !of.is_lost
            && (of.holds && space.is_by_size()
                || space.allowance == 0 && (of.holds || space.costing.is_separable()))
    };
    // As much of what the others pay as cannot be more than their share, whatever it is.
    let part = |entry: usize| {
        let of = &look.entries[entry];
        let most = f64::from(look.table.rows[entry]) * space.costing.full_of[at];
        match () {
            () if pays(entry) => 1.0,
            // One that needs a block to be joined may be lost in what it is joined to, and then
            // owes its share already.
            () if space.allowance > 0
                && of.must == 0
                && of.charged >> at & 1 == 1
                && most > 0.0 =>
            {
                (of.share / most).clamp(0.0, 1.0)
            }
            () => 0.0,
        }
    };
    // More values than this would take too long, and shares are noted for the first 64 attributes
    // only.
    if !techniques.charge || at >= 64 || look.fine[at].len() > MOST_ATOMS {
        return charge;
    }
    let atoms = look.fine[at].len();
    let blocks: Vec<usize> =
        (0..atoms).filter(|&atom| look.fine[at][atom] as usize == atom).collect();
    if space.choices.is_of_sets(at) && blocks.len() > sets::FEW {
        let paid = paid(space, look, at, runs, &blocks, pays, part);
        let mut shares = vec![0.0; atoms];
        for (entry, of) in look.entries.iter().enumerate().filter(|(_, of)| of.must >> at & 1 == 1)
        {
            shares[look.table.atoms_of(entry)[at] as usize] += of.share;
        }
        let mut least = vec![0.0; atoms];
        for &block in blocks.iter().filter(|&&block| shares[block] > 0.0) {
            let mates = blocks.iter().filter(|&&other| {
                other != block && space.choices.may_join(state, at, block, other)
            });
            let alone = if space.allowance == 0 { f64::INFINITY } else { shares[block] };
            least[block] = mates.map(|other| paid[block * atoms + other]).fold(alone, f64::min);
        }
        charge.sum = least.iter().sum();
        charge.changes = Changes::Sets(least, atoms, paid);
        return charge;
    }
    let payers = if space.costing.is_separable() {
        Payers::Weights(weights(look, at, part))
    } else {
        Payers::Pairs(paid(space, look, at, runs, &blocks, pays, part))
    };
    let blocks = Ranked::new(blocks, atoms);
    if space.choices.is_of_sets(at) {
        let (sum, changes) = sets::best(space, state, look, at, runs, &payers, &blocks);
        charge.sum = sum;
        charge.changes = Changes::Pairs(atoms, changes);
    } else {
        borders(space, look, at, runs, &payers, &blocks, &mut charge);
    }
    charge
}

/// The blocks of an attribute by their least atoms, and for each of these atoms its place among
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

/// Who pays for sure when blocks are joined.
pub(super) enum Payers {
    /// By block, how much a rise of its price counts.
    Weights(Vec<f64>),
    /// For each two blocks what the first pays.
    Pairs(Vec<f64>),
}

/// Attributes of more atoms than this are not charged.
const MOST_ATOMS: usize = crate::search::global::MOST_IN_INTERVALS;

/// By atom, how much a rise of its block's price counts over the entries, each to some part.
fn weights(look: &Look, at: usize, counts: impl Fn(usize) -> f64) -> Vec<f64> {
    let mut weights = vec![0.0; look.fine[at].len()];
    for entry in 0..look.table.len() {
        let part = counts(entry);
        if part <= 0.0 {
            continue;
        }
        let rows = f64::from(look.table.rows[entry]);
        let weight = part * look.table.sums_of(entry).get(at).copied().unwrap_or(rows);
        weights[look.fine[at][look.table.atoms_of(entry)[at] as usize] as usize] += weight;
    }
    // Every atom has the weight of its block only once: at the block's least.
    weights
}

/// For each two blocks what the rows of the first pay for sure when the two are joined: a square of
/// atoms. For DM that is how many pairs of rows come to share a class, counting pairs of classes
/// that differ in nothing else.
fn paid(
    space: &Space,
    look: &Look,
    at: usize,
    runs: &Runs,
    blocks: &[usize],
    pays: impl Fn(usize) -> bool,
    part: impl Fn(usize) -> f64,
) -> Vec<f64> {
    let atoms = look.fine[at].len();
    let mut paid = vec![0.0; atoms * atoms];
    if space.costing.is_separable() {
        let weights = weights(look, at, part);
        for &block in blocks.iter().filter(|&&block| weights[block] > 0.0) {
            for &other in blocks.iter().filter(|&&other| other != block) {
                let together: Vec<usize> = (0..atoms)
                    .filter(|&atom| [block, other].contains(&(look.fine[at][atom] as usize)))
                    .collect();
                let rise = space.costing.block_price(at, &together) - look.prices[at][block];
                paid[block * atoms + other] = rise.max(0.0) * weights[block];
            }
        }
        return paid;
    }
    // Classes that differ on this attribute alone lie in one coarsest class: sort each by a number
    // of the other attributes.
    let mut others: Vec<(u64, u32, u32, f64)> = Vec::new();
    for class in runs.classes().filter(|class| class.len() > 1) {
        others.clear();
        for part in class {
            for entry in runs.entries(part) {
                let rows = f64::from(look.table.rows[entry]);
                others.push((
                    context(look, at, entry),
                    part.block,
                    u32::try_from(entry).expect("fewer entries than rows"),
                    rows,
                ));
            }
        }
        others.sort_unstable_by_key(|&(context, block, ..)| (context, block));
        for alike in others.chunk_by(|one, other| one.0 == other.0).filter(|alike| alike.len() > 1)
        {
            for &(_, block, entry, paying) in
                alike.iter().filter(|&&(_, _, entry, _)| pays(entry as usize))
            {
                for &(_, other, mate, rows) in
                    alike.iter().filter(|&&(_, other, ..)| other != block)
                {
                    if are_alike(look, at, entry as usize, mate as usize) {
                        paid[block as usize * atoms + other as usize] += paying * rows;
                    }
                }
            }
        }
    }
    paid
}

/// A number that entries share which differ on one attribute alone; others may share it by chance.
fn context(look: &Look, at: usize, entry: usize) -> u64 {
    let mix = |hash: u64, (place, &atom): (usize, &u32)| {
        if place == at {
            hash
        } else {
            (hash ^ u64::from(atom)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
        }
    };
    look.table.atoms_of(entry).iter().enumerate().fold(0, mix)
}

fn are_alike(look: &Look, at: usize, one: usize, other: usize) -> bool {
    let (one, other) = (look.table.atoms_of(one), look.table.atoms_of(other));
    one[..at] == other[..at] && one[at + 1..] == other[at + 1..]
}

/// Charges an attribute whose blocks are intervals.
fn borders(
    space: &Space,
    look: &Look,
    at: usize,
    runs: &Runs,
    payers: &Payers,
    ranked: &Ranked,
    charge: &mut Charge,
) {
    let Ranked { blocks, rank } = ranked;
    let (atoms, count) = (rank.len(), blocks.len());
    let costs = interval_costs(space, look, at, runs, payers, ranked);
    // Blocks of one coarsest block may come together, others not.
    let coarse = |place: usize| look.coarse[at][blocks[place]];
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
        charge.sum = f64::INFINITY;
        return;
    }
    let mut changes = vec![(0.0, 0.0); atoms];
    for border in 1..count {
        let mut joined = f64::INFINITY;
        for from in (0..border).rev().take_while(|&from| coarse(from) == coarse(border)) {
            for to in (border..count).take_while(|&to| coarse(to) == coarse(border)) {
                joined = joined.min(before[from] + cost(from, to) + behind[to + 1]);
            }
        }
        // Sums in another order differ in their last digits.
        let more = |cost: f64| ((cost - best) - best.abs() * 1e-12).max(0.0);
        changes[blocks[border]] = (more(joined), more(before[border] + behind[border]));
    }
    charge.sum = best;
    charge.changes = Changes::Borders(changes);
}

/// What each interval of blocks costs: those who pay for the rise, and rows that are too few in it.
fn interval_costs(
    space: &Space,
    look: &Look,
    at: usize,
    runs: &Runs,
    payers: &Payers,
    Ranked { blocks, rank }: &Ranked,
) -> Vec<f64> {
    let (atoms, count) = (rank.len(), blocks.len());
    // Rows that are too few, as differences in both directions: what begins in (from, begin] and
    // ends in [end, to).
    let mut lost = vec![0.0; (count + 1) * (count + 1)];
    for class in runs.classes() {
        for first in 0..class.len() {
            let (mut rows, mut sum) = (0, 0.0);
            let low = if first == 0 { 0 } else { rank[class[first - 1].block as usize] + 1 };
            for (last, part) in class.iter().enumerate().skip(first) {
                rows += part.rows;
                if rows >= space.least_rows {
                    break;
                }
                sum += runs.entries(part).map(|entry| look.entries[entry].share).sum::<f64>();
                if sum > 0.0 {
                    let (begin, end) =
                        (rank[class[first].block as usize], rank[part.block as usize]);
                    let next = class.get(last + 1).map_or(count, |next| rank[next.block as usize]);
                    lost[low * (count + 1) + end] += sum;
                    lost[(begin + 1) * (count + 1) + end] -= sum;
                    lost[low * (count + 1) + next] -= sum;
                    lost[(begin + 1) * (count + 1) + next] += sum;
                }
            }
        }
    }
    for from in 0..=count {
        for to in 1..=count {
            lost[from * (count + 1) + to] += lost[from * (count + 1) + to - 1];
        }
    }
    for from in 1..=count {
        for to in 0..=count {
            lost[from * (count + 1) + to] += lost[(from - 1) * (count + 1) + to];
        }
    }
    let mut costs = vec![0.0; count * count];
    for from in 0..count {
        let (mut rise, mut weight, mut had) = (0.0, 0.0, 0.0);
        for to in (from..count)
            .take_while(|&to| look.coarse[at][blocks[from]] == look.coarse[at][blocks[to]])
        {
            let last = blocks.get(to + 1).copied().unwrap_or(atoms) - 1;
            let price = space.interval_price(at, blocks[from], last);
            match payers {
                Payers::Weights(weights) => {
                    weight += weights[blocks[to]];
                    had += weights[blocks[to]] * look.prices[at][blocks[to]];
                    rise = if to > from { (weight * price - had) * (1.0 - 1e-9) } else { 0.0 };
                }
                Payers::Pairs(pairs) => {
                    let pair =
                        |one: usize, other: usize| pairs[blocks[one] * atoms + blocks[other]];
                    rise += (from..to).map(|place| pair(place, to) + pair(to, place)).sum::<f64>();
                }
            }
            if to > from && price.is_infinite() {
                costs[from * count + to] = f64::INFINITY;
                continue;
            }
            let lost = lost[from * (count + 1) + to];
            costs[from * count + to] = match space.allowance {
                0 if lost > 0.5 => f64::INFINITY,
                0 => rise.max(0.0),
                _ => rise.max(0.0) + (lost * (1.0 - 1e-9)).max(0.0),
            };
        }
    }
    costs
}
