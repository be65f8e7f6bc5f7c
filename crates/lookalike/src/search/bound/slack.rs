//! How much a group of equal rows can be asked to pay, when it is known what the others are asked
//! for: a search over boxes.
//!
//! All rows of the group are to pay the same `v`. For any k rows, m of them of the group, what they
//! are asked for in sum must not exceed what they pay in their box. The most that all k-sets allow
//! is
//!
//! ```text
//! min over boxes around the group, over m from 1 to its rows:  (k * price of the box - the k - m greatest y of others within) / m
//! ```
//!
//! The search is that of `search.rs`, with floors on chains, but a wider box may be better than one
//! inside it if it has rows that are asked for more. Let `v` be the least that was found. A box is
//! better if k times its price is below the sum of its k greatest values, the group's own being
//! `v`; so a step is over when its floors cost as much as the greatest values on its list come to,
//! and a row leaves when the box that has it costs as much as it and the greatest others. The list
//! stands by falling y. Rows that lie within the floors are in every box of the step: when there
//! are k - 1 of them, all that stand behind the last of these are of no use.

use crate::codes::{CodeRange, real};
use crate::search::boxes::Boxes;

use super::chains::{Branch, Chains, Near};
use super::index::{Index, Prices, size};
use super::plane::{Group, Plane};
use super::reach::{Far, Reach};
use super::tops::Tops;

/// What a search looks through.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field<'a> {
    /// Groups of equal rows, each the box of its value.
    pub(super) boxes: &'a Boxes<'a>,
    pub(super) index: &'a Index,
    pub(super) k: u64,
    /// After so many looks at a row a search gives up.
    pub(super) patience: u64,
    /// What a row of each group is asked for.
    pub(super) asked: &'a [f64],
    /// Groups among which are all that are asked for more than `rest`.
    pub(super) high: &'a [u32],
    pub(super) rest: f64,
    /// Less is not worth a search.
    pub(super) slip: f64,
}

/// What came of a search.
#[derive(Clone, Debug)]
pub(super) struct Allowed {
    /// What a row of the group can be asked for, but for rounding. When the search gave up, what is
    /// proved.
    pub(super) most: f64,
    /// The box that forbids more, if it is another one than was known.
    pub(super) box_of: Option<Vec<CodeRange>>,
}

/// A search, and what it sets aside for the next one.
#[derive(Debug, Default)]
pub(super) struct Slack {
    /// The chains of the group that is searched for: those of one chain an attribute first, then
    /// lines, side by side.
    chains: Chains,
    /// For each other group in reach and each chain, the price of the first range that has it.
    prices: Vec<f64>,
    rows: Vec<u64>,
    asked: Vec<f64>,
    groups: Vec<u32>,
    /// What it costs to have each of them.
    far: Vec<(f64, u32)>,
    reach: Far,
    /// The groups of the steps under way, step behind step, each step's by falling y.
    list: Vec<u32>,
    /// The group, what is known of it and the floors of the box that says so.
    own: Group,
    best: Vec<f64>,
    steps: u64,
    patience: u64,
    /// What the parts that were given up allow at least.
    given_up: f64,
    tops: Tops,
    plane: Plane,
}

impl Slack {
    /// What a row of the group can be asked for at most, if that is less than `cap`; `known` is a
    /// box around it with at least k rows.
    pub(super) fn run(
        &mut self,
        field: &Field,
        group: u32,
        known: &[CodeRange],
        cap: f64,
    ) -> Allowed {
        let prices = field.index.prices(field.boxes, group);
        self.chains.of(field.boxes, group);
        self.own = Group { rows: field.boxes.rows(group), k: field.k, allowed: cap };
        self.within_box(field, &prices, group, known);
        let none = |most| Allowed { most, box_of: None };
        if self.own.allowed - field.slip <= field.asked[group as usize] {
            return none(self.own.allowed);
        }
        let reach = self.reach.run(field, &prices, group, &self.own);
        self.gather(field, &prices, group, reach);
        self.trim();
        (self.steps, self.patience, self.given_up) = (0, field.patience, f64::INFINITY);
        self.best.clear();
        self.step(0, self.chains.own(field.boxes, group));
        if self.best.is_empty() {
            return none(self.own.allowed.min(self.given_up));
        }
        Allowed {
            most: self.own.allowed.min(self.given_up),
            box_of: Some(self.box_of(field, group)),
        }
    }

    /// What a known box says.
    fn within_box(&mut self, field: &Field, prices: &Prices, group: u32, known: &[CodeRange]) {
        let penalty = field.boxes.penalty;
        let price = penalty.of_box(known);
        self.tops.clear(self.own.others());
        let limit = price + 4.0 * penalty.rounding();
        field.index.within(
            prices,
            &mut self.tops,
            |_| limit,
            |tops, place| {
                let codes = field.index.codes(place);
                let (other, rows) = field.index.group(place);
                if other != group
                    && known.iter().zip(codes).all(|(range, &code)| range.contains(code))
                {
                    tops.add(field.asked[other as usize], rows);
                }
            },
        );
        self.own.learn(price, &self.tops);
    }

    /// Notes what all groups that a better box may have cost on every chain.
    fn gather(&mut self, field: &Field, prices: &Prices, group: u32, reach: Reach) {
        let own = field.boxes.ranges(group);
        let k = real(field.k);
        self.prices.clear();
        self.rows.clear();
        self.asked.clear();
        self.groups.clear();
        self.far.clear();
        field.index.within(
            prices,
            &mut *self,
            |_| reach.price,
            |slack, place| {
                let (other, rows) = field.index.group(place);
                let asked = field.asked[other as usize];
                let limit = reach.price.min(reach.greatest.with(asked) / k);
                let codes = field.index.codes(place);
                let mut sum = 0.0;
                for (at, &code) in codes.iter().enumerate() {
                    sum += prices.of(at, code);
                    if sum >= limit {
                        return;
                    }
                }
                if other == group || slack.reach.is_out(other) {
                    return;
                }
                slack.far.push((sum, size(slack.rows.len())));
                slack.prices.extend(slack.chains.single.iter().map(|&at| prices.of(at, codes[at])));
                for &(at, _) in &slack.chains.lines {
                    let price = prices.of(at, codes[at]);
                    slack.prices.extend(if codes[at] < own[at].lo {
                        [price, 0.0]
                    } else {
                        [0.0, price]
                    });
                }
                slack.rows.push(rows);
                slack.asked.push(asked);
                slack.groups.push(other);
            },
        );
    }

    /// Lists the groups that a better box may have, by falling y. None costs more to have than the
    /// last one that is worth it beside the greatest of those that cost no more.
    fn trim(&mut self) {
        self.far.sort_unstable_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
        self.own.start(&mut self.tops);
        let mut kept = 0;
        for (at, &(price, row)) in self.far.iter().enumerate() {
            self.tops.add(self.asked[row as usize], self.rows[row as usize]);
            if self.tops.is_full() && real(self.own.k) * price < self.own.allowed + self.tops.sum()
            {
                kept = at + 1;
            }
        }
        self.list.clear();
        self.list.extend(self.far[..kept].iter().map(|far| far.1));
        let asked = |row: u32| self.asked[row as usize];
        self.list.sort_unstable_by(|&one, &other| {
            asked(other).total_cmp(&asked(one)).then(one.cmp(&other))
        });
    }

    /// The best box as the box around all groups that it has.
    fn box_of(&self, field: &Field, group: u32) -> Vec<CodeRange> {
        let mut ranges = field.boxes.ranges(group).to_vec();
        let price = self.chains.price(&self.best);
        for (prices, &other) in self.prices.chunks_exact(self.chains.len()).zip(&self.groups) {
            if self.chains.joined(&self.best, prices) <= price {
                ranges
                    .iter_mut()
                    .zip(field.boxes.ranges(other))
                    .for_each(|(range, other)| *range = range.join(*other));
            }
        }
        ranges
    }

    /// Looks for better boxes that have these floors at least, among the groups of the list from
    /// `start` on.
    fn step(&mut self, start: usize, mut floors: Vec<f64>) {
        let (width, k) = (self.chains.len(), real(self.own.k));
        // For each chain the rows within its floor, and the least price above.
        let (mut within, mut next) = (Vec::new(), Vec::new());
        loop {
            let before = self.list.len();
            let price = self.chains.price(&floors);
            let values = self.list[start..]
                .iter()
                .map(|&row| (self.asked[row as usize], self.rows[row as usize]));
            let Some(greatest) = self.own.greatest(values) else { return };
            if k * price >= greatest.sum {
                return;
            }
            self.steps += (before - start) as u64;
            if self.steps > self.patience {
                return self.give_up(start, price);
            }
            // Those leave that cost too much, or are no better than enough others within the
            // floors.
            self.tops.clear(self.own.others());
            let (mut kept, mut total, mut last) = (start, 0, start);
            for place in start..before {
                let row = self.list[place];
                let (rows, asked) = (self.rows[row as usize], self.asked[row as usize]);
                let joined =
                    self.chains.joined(&floors, &self.prices[row as usize * width..][..width]);
                if k * joined >= greatest.with(asked) {
                    continue;
                }
                self.list[kept] = row;
                kept += 1;
                total += rows;
                if joined <= price {
                    self.tops.add(asked, rows);
                    if self.tops.is_full() {
                        break;
                    }
                } else {
                    last = kept;
                }
            }
            self.list.truncate(kept);
            if self.own.learn(price, &self.tops) {
                self.best.clone_from(&floors);
            }
            if last == start {
                return;
            }
            if (kept - start) * 4 < (before - start) * 3 {
                continue;
            }
            self.near(start).count(&floors, self.own.rows, &mut within, &mut next);
            let total = total + self.own.rows;
            let lacking =
                (0..width).find(|&chain| within[chain] < self.own.k && next[chain].is_finite());
            if let Some(chain) = lacking {
                floors[chain] = next[chain];
                continue;
            }
            let (chain, bar) = match self.near(start).branch(&floors, &within, &next, total) {
                Branch::Rise { chain, bar } => (chain, bar),
                Branch::Settle(lines) => return self.settle(start, &floors, &lines),
            };
            let from = self.list.len();
            for place in start..from {
                let row = self.list[place];
                if self.prices[row as usize * width + chain] < bar {
                    self.list.push(row);
                }
            }
            self.step(from, floors.clone());
            self.list.truncate(from);
            floors[chain] = bar;
        }
    }

    /// The groups of the list from `start` on.
    fn near(&self, start: usize) -> Near<'_> {
        Near {
            chains: &self.chains,
            prices: &self.prices,
            rows: &self.rows,
            list: &self.list[start..],
        }
    }

    /// Notes what boxes of the list from `start` on, none cheaper than this, allow at least.
    fn give_up(&mut self, start: usize, price: f64) {
        self.tops.clear(self.own.others());
        for &row in &self.list[start..] {
            self.tops.add(self.asked[row as usize], self.rows[row as usize]);
        }
        self.given_up = self.given_up.min(self.own.value(price, &self.tops));
    }

    /// Finds the best box of all when only these lines, one or two, are undecided.
    fn settle(&mut self, start: usize, floors: &[f64], lines: &[usize]) {
        let rest = self.chains.price_beside(floors, lines);
        self.plane.clear();
        let width = self.chains.len();
        for &row in &self.list[start..] {
            let prices = &self.prices[row as usize * width..][..width];
            self.plane.add(
                self.chains.places(floors, lines, prices),
                self.asked[row as usize],
                self.rows[row as usize],
            );
        }
        let patience = self.patience.saturating_sub(self.steps);
        let found =
            self.plane.run(self.chains.undecided(floors, lines), rest, &mut self.own, patience);
        self.steps += found.steps;
        if found.is_cut {
            self.give_up(start, self.chains.price(floors));
        }
        if let Some(ends) = found.best {
            self.chains.settle(&mut self.best, floors, lines, ends);
        }
    }
}
