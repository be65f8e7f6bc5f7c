//! Dissolving the classes of a pool and building others out of their rows: one class around a row,
//! then the next.
//!
//! A class either grows from its row, each time by the tuple that adds least loss, or all rows of
//! the pool shrink to it, each time by those that add most. Growing sees what is near; shrinking
//! sees which attributes are worth giving up, and finds better boxes of many rows. Neither is best
//! everywhere, so it is decided at random.

use super::leftover::deal_rest;
use super::pool::{Member, Pool, PoolClass, RuleCheck, equal, index, make_room};
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

/// Memory that is used again for every class.
#[derive(Debug, Default)]
pub(super) struct BuildScratch {
    /// The rows of each tuple that are in no class yet.
    left: Vec<u32>,
    /// Factors from 1 on by which the loss of each tuple looks greater.
    noise_factors: Vec<f64>,
    /// The tuples of which some rows are in no class yet.
    open: Vec<u32>,
    /// Their codes, attribute by attribute.
    columns: Vec<Code>,
    /// By attribute and tuple, the loss of a row when the tuple has entered the class.
    losses: Vec<f64>,
    /// The sums over the attributes; infinite for those that have entered.
    sums: Vec<f64>,
    ranges: Vec<CodeRange>,
    grown: Vec<Member>,
    best: Vec<Member>,
    /// Of each chain, the places of the tuples that lose something on it, the greatest loss last.
    chains: Vec<Vec<u32>>,
    is_out: Vec<bool>,
}

/// After so many tuples the clock is read. No tuned number: it only bounds how late a search ends.
const PATIENCE: usize = 64;

/// Makes new classes out of the rows of the pool, in random order; returns their number, or none
/// when some rows fit nowhere.
pub(super) fn rebuild(
    penalty: &Penalty,
    rules: &mut RuleCheck,
    pool: &Pool,
    rng: &mut Rng,
    scratch: &mut BuildScratch,
    parts: &mut Vec<PoolClass>,
) -> Option<usize> {
    scratch.open_all(rules, pool, rng);
    let mut rows: u64 = scratch.left.iter().map(|&count| u64::from(count)).sum();
    let seeds = [Seeds::Anywhere, Seeds::Far, Seeds::FarFromLast][rng.place(3)];
    let is_shrunk = rng.unit() < shrink_share(rules);
    // As many classes as there can be, or one less: what would be the last then stays with the
    // rest, or is dealt out to the others.
    let (room, is_dealt) = if rng.below(rules.tuning().rebuild_fewer) == 0 {
        (3, rng.below(2) == 0)
    } else {
        (2, false)
    };
    let mut made = 0;
    while rows >= room * rules.least {
        make_room(parts, made);
        let last = made.checked_sub(1).map(|last| &parts[last]);
        let seed = scratch.seed(penalty, pool, seeds, last, rng);
        let is_found = if is_shrunk {
            scratch.shrink(penalty, rules, pool, seed, rng)
        } else {
            scratch.grow(penalty, rules, pool, seed)
        };
        if rules.is_late() {
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
    if (!is_dealt || made == 0) && rules.holds(pool, &rest) {
        make_room(parts, made);
        parts[made].set(penalty, pool, rest.into_iter());
        return Some(made + 1);
    }
    deal_rest(penalty, rules, pool, &rest, &mut parts[..made]).then_some(made)
}

/// How often classes are shrunk, not grown.
fn shrink_share(rules: &RuleCheck) -> f64 {
    let tuning = rules.tuning();
    if rules.least >= tuning.shrink_rows { tuning.shrink_many } else { tuning.shrink_few }
}

impl BuildScratch {
    /// All tuples of the pool are in no class, in random order.
    fn open_all(&mut self, rules: &RuleCheck, pool: &Pool, rng: &mut Rng) {
        self.left.clear();
        self.left.extend(pool.pieces.iter().map(|piece| piece.count));
        let noise = if rng.below(2) == 0 { 0.0 } else { rules.tuning().grow_noise };
        self.noise_factors.clear();
        self.noise_factors.extend(pool.pieces.iter().map(|_| 1.0 + noise * rng.unit()));
        self.open.clear();
        self.open.extend(0..index(pool.pieces.len()));
        rng.shuffle(&mut self.open);
    }

    /// The row around which the next class grows.
    fn seed(
        &self,
        penalty: &Penalty,
        pool: &Pool,
        seeds: Seeds,
        last: Option<&PoolClass>,
        rng: &mut Rng,
    ) -> u32 {
        let chosen = self.open[rng.place(self.open.len())];
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

    /// Grows a class around a row, always by the tuple with which a row loses least, until it
    /// satisfies the rules; false when it cannot.
    ///
    /// The hierarchy levels that the class gave up in the end it could have given up at once, and
    /// been narrower on its lines: so it is grown a second time with these given up from the start.
    fn grow(&mut self, penalty: &Penalty, rules: &mut RuleCheck, pool: &Pool, seed: u32) -> bool {
        self.columns.clear();
        for at in 0..pool.width() {
            self.columns.extend(self.open.iter().map(|&tuple| pool.row(tuple)[at]));
        }
        self.ranges.clear();
        self.ranges.extend(pool.row(seed).iter().map(|&code| CodeRange::one(code)));
        if !self.grow_from(penalty, rules, pool, seed) {
            return false;
        }
        let row_loss = penalty.of_box(&self.ranges);
        std::mem::swap(&mut self.best, &mut self.grown);
        for (at, (range, &code)) in self.ranges.iter_mut().zip(pool.row(seed)).enumerate() {
            if penalty.is_line(at) {
                *range = CodeRange::one(code);
            }
        }
        if self.grow_from(penalty, rules, pool, seed)
            && penalty.of_box(&self.ranges) < row_loss - equal(penalty)
        {
            std::mem::swap(&mut self.best, &mut self.grown);
        }
        true
    }

    /// Grows a class from ranges within which tuples add no loss, and then makes the ranges those
    /// of its tuples.
    fn grow_from(
        &mut self,
        penalty: &Penalty,
        rules: &mut RuleCheck,
        pool: &Pool,
        seed: u32,
    ) -> bool {
        self.sums.clear();
        self.sums.extend(self.open.iter().map(|&at| if at == seed { f64::INFINITY } else { 0.0 }));
        self.losses.clear();
        self.losses.resize(self.columns.len(), 0.0);
        (0..pool.width()).for_each(|at| self.update_losses(penalty, at));
        let mut row_loss = penalty.of_box(&self.ranges);
        let (wanted, mut rows) = (u32::try_from(rules.least).unwrap_or(u32::MAX), 0);
        self.grown.clear();
        let mut next = Some(seed);
        while let Some(at) = next {
            // A class that has enough rows but breaks a rule takes one row at a time.
            let count = self.left[at as usize].min((wanted - rows).max(1));
            rows = (rows + count).min(wanted);
            self.grown.push(Member { at, count });
            if rows >= wanted && rules.holds(pool, &self.grown) {
                return self.tighten(pool);
            }
            // The last row that is needed, and any after it, should make it satisfy the rules.
            let choice = if rows + 1 < wanted || (rows < wanted && rules.is_by_size()) {
                self.least_loss(row_loss + equal(penalty))
            } else {
                self.least_loss_that_helps(rules, pool)
            };
            let Some(place) =
                choice.filter(|_| !self.grown.len().is_multiple_of(PATIENCE) || !rules.is_late())
            else {
                return false;
            };
            let then = std::mem::replace(&mut self.sums[place], f64::INFINITY);
            let at = self.open[place];
            if then > row_loss + equal(penalty) {
                for (attribute, &code) in pool.row(at).iter().enumerate() {
                    if !self.ranges[attribute].contains(code) {
                        self.ranges[attribute] = self.ranges[attribute].join(CodeRange::one(code));
                        self.update_losses(penalty, attribute);
                    }
                }
                row_loss = penalty.of_box(&self.ranges);
            }
            next = Some(at);
        }
        false
    }

    /// Shrinks all tuples to a class around a row, always by those that add most loss for each of
    /// their rows, until it would break a rule; false when not even all together satisfy the rules.
    ///
    /// The losses on an attribute are a chain of ever wider ranges around the row's value; on a
    /// line there are two, one for each side.
    fn shrink(
        &mut self,
        penalty: &Penalty,
        rules: &mut RuleCheck,
        pool: &Pool,
        seed: u32,
        rng: &mut Rng,
    ) -> bool {
        let count = self.open.len();
        let mut rows: u64 = self.open.iter().map(|&at| u64::from(self.left[at as usize])).sum();
        let chains = self.make_chains(penalty, pool, seed);
        self.is_out.clear();
        self.is_out.resize(count, false);
        let mut is_done = vec![false; chains];
        loop {
            let best = self.best_step(rules, rows, &mut is_done, rng);
            let Some((chain, greatest, leaving_rows)) = best.filter(|_| !rules.is_late()) else {
                break;
            };
            let going = |place: u32, out: &[bool]| {
                !out[place as usize] && self.losses[chain * count + place as usize] >= greatest
            };
            let leaving: Vec<u32> = self.chains[chain]
                .iter()
                .copied()
                .filter(|&place| going(place, &self.is_out))
                .collect();
            leaving.iter().for_each(|&place| self.is_out[place as usize] = true);
            if rules.is_by_size() || self.holds_inside(rules, pool) {
                rows -= leaving_rows;
            } else {
                leaving.iter().for_each(|&place| self.is_out[place as usize] = false);
                is_done[chain] = true;
            }
        }
        self.take_inside(rules, pool, seed)
    }

    /// For each attribute, or each side of a line, the tuples that lose something beside a row, by
    /// their loss; returns the number of chains.
    fn make_chains(&mut self, penalty: &Penalty, pool: &Pool, seed: u32) -> usize {
        let count = self.open.len();
        self.losses.clear();
        let mut chains = 0;
        for (at, &own) in pool.row(seed).iter().enumerate() {
            for side in 0..if penalty.is_line(at) { 2 } else { 1 } {
                let is_there = |code: Code| !penalty.is_line(at) || (code < own) == (side == 0);
                let loss = |&tuple: &u32| {
                    let code = pool.row(tuple)[at];
                    if is_there(code) {
                        penalty.of(at, CodeRange::one(own).join(CodeRange::one(code)))
                    } else {
                        0.0
                    }
                };
                self.losses.extend(self.open.iter().map(loss));
                if chains == self.chains.len() {
                    self.chains.push(Vec::new());
                }
                let losses = &self.losses[chains * count..];
                let chain = &mut self.chains[chains];
                chain.clear();
                chain.extend((0..index(count)).filter(|&place| losses[place as usize] > 0.0));
                chain.sort_unstable_by(|&one, &other| {
                    losses[one as usize].total_cmp(&losses[other as usize]).then(other.cmp(&one))
                });
                chains += 1;
            }
        }
        chains
    }

    /// The chain whose last tuples add most loss for each of their rows, more or less at random,
    /// the loss from which on they leave, and their rows. A chain whose last tuples cannot be
    /// spared is done.
    fn best_step(
        &mut self,
        rules: &RuleCheck,
        rows: u64,
        is_done: &mut [bool],
        rng: &mut Rng,
    ) -> Option<(usize, f64, u64)> {
        let (count, noise) = (self.open.len(), rules.tuning().shrink_noise);
        let mut best = (0.0, None);
        for (chain, is_done) in is_done.iter_mut().enumerate().filter(|(_, is_done)| !**is_done) {
            while self.chains[chain].last().is_some_and(|&place| self.is_out[place as usize]) {
                self.chains[chain].pop();
            }
            let loss = |place: u32| self.losses[chain * count + place as usize];
            let there = self.chains[chain]
                .iter()
                .rev()
                .copied()
                .filter(|&place| !self.is_out[place as usize]);
            let Some(greatest) = there.clone().next().map(loss) else { continue };
            let next = there.clone().map(loss).find(|&loss| loss < greatest).unwrap_or(0.0);
            let leaving: u64 = there
                .take_while(|&place| loss(place) >= greatest)
                .map(|place| u64::from(self.left[self.open[place as usize] as usize]))
                .sum();
            *is_done = rows < rules.least + leaving;
            let gain = (greatest - next) / real(leaving) * (1.0 + noise * (rng.unit() - 0.5));
            if !*is_done && gain > best.0 {
                best = (gain, Some((chain, greatest, leaving)));
            }
        }
        best.1
    }

    /// True when the tuples that are not out satisfy the rules as a class.
    fn holds_inside(&mut self, rules: &mut RuleCheck, pool: &Pool) -> bool {
        self.grown.clear();
        let inside = self.open.iter().zip(&self.is_out).filter(|&(_, &is_out)| !is_out);
        self.grown.extend(inside.map(|(&at, _)| Member { at, count: self.left[at as usize] }));
        rules.holds(pool, &self.grown)
    }

    /// Makes a class of the tuples that are not out: as many rows as k wants, or all where there
    /// are other rules.
    fn take_inside(&mut self, rules: &mut RuleCheck, pool: &Pool, seed: u32) -> bool {
        if !self.holds_inside(rules, pool) {
            return false;
        }
        std::mem::swap(&mut self.best, &mut self.grown);
        if rules.is_by_size() {
            let first = self
                .best
                .iter()
                .position(|member| member.at == seed)
                .expect("the row itself is inside");
            self.best.swap(0, first);
            let mut wanted = rules.least;
            self.best.retain_mut(|member| {
                member.count = u32::try_from(wanted).unwrap_or(u32::MAX).min(member.count);
                wanted -= u64::from(member.count);
                member.count > 0
            });
        }
        true
    }

    /// Makes the box no wider than its tuples.
    fn tighten(&mut self, pool: &Pool) -> bool {
        for (at, range) in self.ranges.iter_mut().enumerate() {
            *range = range_of(self.grown.iter().map(|member| pool.row(member.at)[at]));
        }
        true
    }

    /// Updates the losses on an attribute whose range has changed.
    fn update_losses(&mut self, penalty: &Penalty, at: usize) {
        let (range, count) = (self.ranges[at], self.open.len());
        let (columns, row_loss) =
            (&self.columns[at * count..][..count], &mut self.losses[at * count..][..count]);
        for ((sum, row_loss), &code) in self.sums.iter_mut().zip(row_loss).zip(columns) {
            let then = penalty.of(at, range.join(CodeRange::one(code)));
            *sum += then - *row_loss;
            *row_loss = then;
        }
    }

    /// The tuple with which a row loses least; one with which it loses no more than this is good
    /// enough.
    fn least_loss(&self, good: f64) -> Option<usize> {
        let mut best = (f64::INFINITY, None);
        for (place, &sum) in self.sums.iter().enumerate() {
            let looks = sum * self.noise_factors[self.open[place] as usize];
            if looks < best.0 {
                best = (looks, Some(place));
                if sum <= good {
                    break;
                }
            }
        }
        best.1
    }

    /// The same among those that bring the class nearer to satisfying the rules; if some make it do
    /// so, among these.
    fn least_loss_that_helps(&self, rules: &mut RuleCheck, pool: &Pool) -> Option<usize> {
        let lacks = rules.lacks(pool, &self.grown);
        let (mut best, mut best_holds) = ((f64::INFINITY, None), false);
        for (place, &sum) in self.sums.iter().enumerate() {
            let looks = sum * self.noise_factors[self.open[place] as usize];
            if looks >= best.0 && best_holds || looks == f64::INFINITY {
                continue;
            }
            let then = rules.lacks_with(pool, self.open[place]);
            let holds = then <= 0.0;
            if then < lacks && (holds && !best_holds || holds == best_holds && looks < best.0) {
                (best, best_holds) = ((looks, Some(place)), holds);
            }
        }
        best.1
    }
}
