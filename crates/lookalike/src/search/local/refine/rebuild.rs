//! Dissolving the classes of a pool and building others out of their rows: one class around a row,
//! then the next.
//!
//! A class either grows from its row, each time by what costs least, or all rows of the pool shrink
//! to it, each time by those that cost most. Growing sees what is near; shrinking sees which
//! attributes are worth giving up, and finds cheaper boxes of many rows. Neither is best
//! everywhere, so it is drawn by lot.

use super::pool::{Judge, Member, Part, Pool, equal, index, make_room};
use crate::codes::{Code, CodeRange, real};
use crate::domain::penalty::Penalty;
use crate::rng::Rng;
use crate::search::ranges::range_of;

/// Where classes begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seeds {
    Anywhere,
    /// Far from any row.
    Far,
    /// Far from the class before.
    FarFromLast,
}

/// What is used again for every class.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// The rows of each tuple that are in no class yet.
    left: Vec<u32>,
    /// How much dearer each tuple looks.
    dearer: Vec<f64>,
    /// The tuples of which some are.
    open: Vec<u32>,
    /// Their codes, attribute by attribute.
    columns: Vec<Code>,
    /// What a row pays on each attribute when the tuple has entered the class.
    pays: Vec<f64>,
    /// The sums over the attributes; infinite for those that have entered.
    sums: Vec<f64>,
    ranges: Vec<CodeRange>,
    grown: Vec<Member>,
    best: Vec<Member>,
    /// Of each chain, the places of the tuples that cost something on it, the dearest first.
    chains: Vec<Vec<u32>>,
    is_out: Vec<bool>,
}

/// After so many tuples it is asked whether there is time to go on.
const PATIENCE: usize = 64;

/// New classes out of the rows of the pool, in an order that the lots decide: how many, or none
/// when some rows fit nowhere.
pub(super) fn rebuild(
    penalty: &Penalty,
    judge: &mut Judge,
    pool: &Pool,
    lots: &mut Rng,
    scratch: &mut Scratch,
    parts: &mut Vec<Part>,
) -> Option<usize> {
    scratch.left.clear();
    scratch.left.extend(pool.pieces.iter().map(|piece| piece.count));
    let noise = if lots.below(2) == 0 { 0.0 } else { judge.tuning().grow_noise };
    scratch.dearer.clear();
    scratch.dearer.extend(pool.pieces.iter().map(|_| 1.0 + noise * lots.unit()));
    scratch.open.clear();
    scratch.open.extend(0..index(pool.pieces.len()));
    lots.shuffle(&mut scratch.open);
    let mut rows: u64 = scratch.left.iter().map(|&count| u64::from(count)).sum();
    let seeds = [Seeds::Anywhere, Seeds::Far, Seeds::FarFromLast][lots.place(3)];
    let is_shrunk = lots.unit() < shrink_share(judge);
    // As many classes as there can be, or one less: what would be the last then stays with the
    // rest, or is dealt out to the others.
    let (room, is_dealt) = if lots.below(judge.tuning().rebuild_fewer) == 0 {
        (3, lots.below(2) == 0)
    } else {
        (2, false)
    };
    let mut made = 0;
    while rows >= room * judge.least {
        make_room(parts, made);
        let last = made.checked_sub(1).map(|last| &parts[last]);
        let seed = scratch.seed(penalty, pool, seeds, last, lots);
        let is_found = match is_shrunk {
            true => scratch.shrink(penalty, judge, pool, seed, lots),
            false => scratch.grow(penalty, judge, pool, seed),
        };
        if judge.is_late() {
            return None;
        }
        if !is_found {
            break;
        }
        parts[made].set(penalty, pool, scratch.best.iter().copied());
        rows -= parts[made].rows;
        made += 1;
        for member in &scratch.best {
            scratch.left[member.at as usize] -= member.count;
        }
        scratch.open.retain(|&at| scratch.left[at as usize] > 0);
    }
    let rest: Vec<Member> =
        scratch.open.iter().map(|&at| Member { at, count: scratch.left[at as usize] }).collect();
    if (!is_dealt || made == 0) && judge.holds(pool, &rest) {
        make_room(parts, made);
        parts[made].set(penalty, pool, rest.into_iter());
        return Some(made + 1);
    }
    // What is left goes, tuple by tuple, where it costs least, or where the rules forbid that, as a
    // whole.
    for (at, &member) in rest.iter().enumerate() {
        let row = pool.row(member.at);
        let mut best = (f64::INFINITY, None);
        for (to, part) in parts[..made].iter().enumerate() {
            let cost = part.cost_of_entry(penalty, row, member.count);
            if cost < best.0 && judge.holds_after(pool, parts, to, None, Some(member)) {
                best = (cost, Some(to));
            }
        }
        let Some(to) = best.1 else {
            return put_together(penalty, judge, pool, &rest[at..], &mut parts[..made])
                .then_some(made);
        };
        parts[to].add(penalty, pool, member);
    }
    Some(made)
}

/// How often classes are shrunk, not grown.
fn shrink_share(judge: &Judge) -> f64 {
    let tuning = judge.tuning();
    if judge.least >= tuning.shrink_rows { tuning.shrink_many } else { tuning.shrink_few }
}

/// Puts all of these into the class where that costs least, of those that then hold; false when
/// there is none.
fn put_together(
    penalty: &Penalty,
    judge: &mut Judge,
    pool: &Pool,
    rest: &[Member],
    parts: &mut [Part],
) -> bool {
    let mut best: Option<(f64, usize, Part)> = None;
    for (to, part) in parts.iter().enumerate() {
        let mut with = part.clone();
        rest.iter().for_each(|&member| with.add(penalty, pool, member));
        let cost = with.cost() - part.cost();
        if best.as_ref().is_none_or(|best| cost < best.0) && judge.holds(pool, &with.members) {
            best = Some((cost, to, with));
        }
    }
    let Some((_, to, with)) = best else { return false };
    parts[to] = with;
    true
}

impl Scratch {
    /// The row around which the next class grows.
    fn seed(
        &self,
        penalty: &Penalty,
        pool: &Pool,
        seeds: Seeds,
        last: Option<&Part>,
        lots: &mut Rng,
    ) -> u32 {
        let chosen = self.open[lots.place(self.open.len())];
        let from: Vec<CodeRange> = match (seeds, last) {
            (Seeds::Anywhere, _) | (Seeds::FarFromLast, None) => return chosen,
            (Seeds::Far, _) => pool.row(chosen).iter().map(|&code| CodeRange::one(code)).collect(),
            (Seeds::FarFromLast, Some(part)) => {
                (0..pool.width()).map(|at| part.range(at)).collect()
            }
        };
        let mut best = (chosen, -1.0);
        for &at in &self.open {
            let apart = penalty.of_join_row(&from, pool.row(at));
            if apart > best.1 {
                best = (at, apart);
            }
        }
        best.0
    }

    /// Grows a class around a row, always by the tuple with which a row pays least, until it holds;
    /// false when it cannot.
    ///
    /// What the class gave up of its hierarchies in the end it could have given up at once, and
    /// been narrower on its lines: so it is grown a second time with these given up from the start.
    fn grow(&mut self, penalty: &Penalty, judge: &mut Judge, pool: &Pool, seed: u32) -> bool {
        self.columns.clear();
        for at in 0..pool.width() {
            self.columns.extend(self.open.iter().map(|&tuple| pool.row(tuple)[at]));
        }
        self.ranges.clear();
        self.ranges.extend(pool.row(seed).iter().map(|&code| CodeRange::one(code)));
        if !self.grow_from(penalty, judge, pool, seed) {
            return false;
        }
        let pays = penalty.of_box(&self.ranges);
        std::mem::swap(&mut self.best, &mut self.grown);
        for (at, (range, &code)) in self.ranges.iter_mut().zip(pool.row(seed)).enumerate() {
            if penalty.is_line(at) {
                *range = CodeRange::one(code);
            }
        }
        if self.grow_from(penalty, judge, pool, seed)
            && penalty.of_box(&self.ranges) < pays - equal(penalty)
        {
            std::mem::swap(&mut self.best, &mut self.grown);
        }
        true
    }

    /// Grows a class from the ranges that it may show at no further cost, and then says what it
    /// does show.
    fn grow_from(&mut self, penalty: &Penalty, judge: &mut Judge, pool: &Pool, seed: u32) -> bool {
        self.sums.clear();
        self.sums.extend(self.open.iter().map(|&at| if at == seed { f64::INFINITY } else { 0.0 }));
        self.pays.clear();
        self.pays.resize(self.columns.len(), 0.0);
        (0..pool.width()).for_each(|at| self.reprice(penalty, at));
        let mut pays = penalty.of_box(&self.ranges);
        let (wanted, mut rows) = (u32::try_from(judge.least).unwrap_or(u32::MAX), 0);
        self.grown.clear();
        let mut next = Some(seed);
        while let Some(at) = next {
            // A class that has enough rows but does not hold takes one row at a time.
            let count = self.left[at as usize].min((wanted - rows).max(1));
            rows = (rows + count).min(wanted);
            self.grown.push(Member { at, count });
            if rows >= wanted && judge.holds(pool, &self.grown) {
                return self.tighten(pool);
            }
            // The last row that is needed, and any after it, should make it hold.
            let choice = match rows + 1 < wanted || (rows < wanted && judge.is_by_size()) {
                true => self.cheapest(pays + equal(penalty)),
                false => self.cheapest_that_helps(judge, pool),
            };
            let Some(place) =
                choice.filter(|_| !self.grown.len().is_multiple_of(PATIENCE) || !judge.is_late())
            else {
                return false;
            };
            let then = std::mem::replace(&mut self.sums[place], f64::INFINITY);
            let at = self.open[place];
            if then > pays + equal(penalty) {
                for (attribute, &code) in pool.row(at).iter().enumerate() {
                    if !self.ranges[attribute].contains(code) {
                        self.ranges[attribute] = self.ranges[attribute].join(CodeRange::one(code));
                        self.reprice(penalty, attribute);
                    }
                }
                pays = penalty.of_box(&self.ranges);
            }
            next = Some(at);
        }
        false
    }

    /// Shrinks all tuples to a class around a row, always by those that cost the class most for
    /// each of their rows, until it would not hold; false when not even all hold.
    ///
    /// What tuples cost on an attribute is a chain of ever wider ranges around the row's value; on
    /// a line there are two, one for each side.
    fn shrink(
        &mut self,
        penalty: &Penalty,
        judge: &mut Judge,
        pool: &Pool,
        seed: u32,
        lots: &mut Rng,
    ) -> bool {
        let chance = judge.tuning().shrink_noise;
        let (count, row) = (self.open.len(), pool.row(seed));
        let mut rows: u64 = self.open.iter().map(|&at| u64::from(self.left[at as usize])).sum();
        self.pays.clear();
        let mut chains = 0;
        for (at, &own) in row.iter().enumerate() {
            for side in 0..if penalty.is_line(at) { 2 } else { 1 } {
                let costs = |code: Code| !penalty.is_line(at) || (code < own) == (side == 0);
                let pays = |&tuple: &u32| pool.row(tuple)[at];
                let price = |code: Code| {
                    if costs(code) {
                        penalty.of(at, CodeRange::one(own).join(CodeRange::one(code)))
                    } else {
                        0.0
                    }
                };
                self.pays.extend(self.open.iter().map(pays).map(price));
                if chains == self.chains.len() {
                    self.chains.push(Vec::new());
                }
                let prices = &self.pays[chains * count..];
                let chain = &mut self.chains[chains];
                chain.clear();
                chain.extend((0..index(count)).filter(|&place| prices[place as usize] > 0.0));
                chain.sort_unstable_by(|&one, &other| {
                    prices[one as usize].total_cmp(&prices[other as usize]).then(other.cmp(&one))
                });
                chains += 1;
            }
        }
        self.is_out.clear();
        self.is_out.resize(count, false);
        let mut is_done = vec![false; chains];
        loop {
            let mut best = (0.0, None);
            for (chain, is_done) in is_done.iter_mut().enumerate().filter(|(_, is_done)| !**is_done)
            {
                while self.chains[chain].last().is_some_and(|&place| self.is_out[place as usize]) {
                    self.chains[chain].pop();
                }
                let price = |place: u32| self.pays[chain * count + place as usize];
                let there = self.chains[chain]
                    .iter()
                    .rev()
                    .copied()
                    .filter(|&place| !self.is_out[place as usize]);
                let Some(dearest) = there.clone().next().map(price) else { continue };
                let next = there.clone().map(price).find(|&price| price < dearest).unwrap_or(0.0);
                let going = there.take_while(|&place| price(place) >= dearest);
                let gone: u64 = going
                    .map(|place| u64::from(self.left[self.open[place as usize] as usize]))
                    .sum();
                *is_done = rows < judge.least + gone;
                let gain = (dearest - next) / real(gone) * (1.0 + chance * (lots.unit() - 0.5));
                if !*is_done && gain > best.0 {
                    best = (gain, Some((chain, dearest, gone)));
                }
            }
            let Some((chain, dearest, gone)) = best.1.filter(|_| !judge.is_late()) else { break };
            let going = |place: u32, out: &[bool]| {
                !out[place as usize] && self.pays[chain * count + place as usize] >= dearest
            };
            let leaving: Vec<u32> = self.chains[chain]
                .iter()
                .copied()
                .filter(|&place| going(place, &self.is_out))
                .collect();
            leaving.iter().for_each(|&place| self.is_out[place as usize] = true);
            if judge.is_by_size() || self.holds_inside(judge, pool) {
                rows -= gone;
            } else {
                leaving.iter().for_each(|&place| self.is_out[place as usize] = false);
                is_done[chain] = true;
            }
        }
        self.take_inside(judge, pool, seed)
    }

    /// True when what is not out holds as a class.
    fn holds_inside(&mut self, judge: &mut Judge, pool: &Pool) -> bool {
        self.grown.clear();
        let inside = self.open.iter().zip(&self.is_out).filter(|&(_, &is_out)| !is_out);
        self.grown.extend(inside.map(|(&at, _)| Member { at, count: self.left[at as usize] }));
        judge.holds(pool, &self.grown)
    }

    /// Makes a class of what is not out: as many rows as it takes, or all where it takes more than
    /// rows.
    fn take_inside(&mut self, judge: &mut Judge, pool: &Pool, seed: u32) -> bool {
        if !self.holds_inside(judge, pool) {
            return false;
        }
        std::mem::swap(&mut self.best, &mut self.grown);
        if judge.is_by_size() {
            let first = self
                .best
                .iter()
                .position(|member| member.at == seed)
                .expect("the row itself is inside");
            self.best.swap(0, first);
            let mut wanted = judge.least;
            self.best.retain_mut(|member| {
                member.count = u32::try_from(wanted).unwrap_or(u32::MAX).min(member.count);
                wanted -= u64::from(member.count);
                member.count > 0
            });
        }
        true
    }

    /// The box of what was grown, no wider than it must be.
    fn tighten(&mut self, pool: &Pool) -> bool {
        for (at, range) in self.ranges.iter_mut().enumerate() {
            *range = range_of(self.grown.iter().map(|member| pool.row(member.at)[at]));
        }
        true
    }

    /// What every tuple would pay on an attribute, now that the class shows another range.
    fn reprice(&mut self, penalty: &Penalty, at: usize) {
        let (range, count) = (self.ranges[at], self.open.len());
        let (columns, pays) =
            (&self.columns[at * count..][..count], &mut self.pays[at * count..][..count]);
        for ((sum, pays), &code) in self.sums.iter_mut().zip(pays).zip(columns) {
            let then = penalty.of(at, range.join(CodeRange::one(code)));
            *sum += then - *pays;
            *pays = then;
        }
    }

    /// The tuple with which a row pays least; one with which it pays no more than this is good
    /// enough.
    fn cheapest(&self, good: f64) -> Option<usize> {
        let mut best = (f64::INFINITY, None);
        for (place, &sum) in self.sums.iter().enumerate() {
            let looks = sum * self.dearer[self.open[place] as usize];
            if looks < best.0 {
                best = (looks, Some(place));
                if sum <= good {
                    break;
                }
            }
        }
        best.1
    }

    /// The cheapest of those that bring the class nearer to holding; if some make it hold, the
    /// cheapest of these.
    fn cheapest_that_helps(&self, judge: &mut Judge, pool: &Pool) -> Option<usize> {
        let lacks = judge.lacks(pool, &self.grown);
        let (mut best, mut best_holds) = ((f64::INFINITY, None), false);
        for (place, &sum) in self.sums.iter().enumerate() {
            let looks = sum * self.dearer[self.open[place] as usize];
            if looks >= best.0 && best_holds || looks == f64::INFINITY {
                continue;
            }
            let then = judge.lacks_with(pool, self.open[place]);
            let holds = then <= 0.0;
            if then < lacks && (holds && !best_holds || holds == best_holds && looks < best.0) {
                (best, best_holds) = ((looks, Some(place)), holds);
            }
        }
        best.1
    }
}
