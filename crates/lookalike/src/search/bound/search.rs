//! The cheapest box around one group of equal rows that holds at least k rows: a search over boxes.
//!
//! Seen from a row, an attribute is a chain of ever wider ranges around its value, each with its
//! price: the value itself, the nodes above it, everything. A line is two chains, one a side, whose
//! prices add up. A box is a place on every chain (its floors), and another row is inside when on
//! each chain the first range that has it is no dearer than the floor. So the search knows of other
//! rows only how dear they are on each chain, and never looks at codes.
//!
//! A step of the search has floors and a list of rows. Rows that would cost too much beside the
//! floors leave the list; where fewer than k rows are left the step is over. Where fewer than k
//! rows lie within a floor, the floor rises. If k rows lie within all floors, a box is found. Else
//! one chain is chosen: either its floor is the last word and dearer rows leave, or it rises. When
//! only lines are undecided, and no more than two, a sweep over them settles the rest.

use std::collections::BinaryHeap;

use crate::codes::CodeRange;
use crate::search::boxes::Boxes;

use super::chains::{Branch, Chains, Near};
use super::index::{Index, Prices};
use super::sweep::Sweep;

/// What was found out about a group of equal rows.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    /// No box of k rows around it costs less.
    pub(crate) least: f64,
    /// The cheapest box that was met, if it is better than what was known before; it costs `least`
    /// when the search came to its end.
    pub(crate) cheapest: Option<Cheapest>,
    /// False when the search gave up: a cheaper box than any known may exist.
    pub(crate) is_exact: bool,
}

/// A box with at least k rows.
#[derive(Clone, Debug)]
pub(crate) struct Cheapest {
    pub(crate) price: f64,
    pub(crate) ranges: Vec<CodeRange>,
    /// The groups inside.
    pub(crate) groups: Vec<u32>,
}

/// What a search looks through.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ground<'a> {
    /// Groups of equal rows, each the box of its value.
    pub(crate) boxes: &'a Boxes<'a>,
    pub(crate) index: &'a Index,
    pub(crate) k: u64,
    /// What the box of all rows costs.
    pub(crate) most: f64,
    /// After so many looks at a row a search gives up.
    pub(crate) patience: u64,
}

/// A search, and what it sets aside for the next one.
#[derive(Debug, Default)]
pub(crate) struct Search {
    /// The chains of the group that is searched for: those of one chain an attribute first, then
    /// lines, side by side.
    chains: Chains,
    /// For each row in reach and each chain, the price of the first range that has it.
    prices: Vec<f64>,
    rows: Vec<u64>,
    groups: Vec<u32>,
    /// The rows of the steps under way, step behind step.
    list: Vec<u32>,
    /// Only boxes below this price are looked for.
    limit: f64,
    /// The floors of the best box.
    best: Vec<f64>,
    steps: u64,
    patience: u64,
    /// No box in the parts that were given up costs less.
    given_up: f64,
    k: u64,
    sweep: Sweep,
}

impl Search {
    /// The cheapest box around a group, if it costs less than `known`, the price of a box that was
    /// found before.
    pub(crate) fn run(&mut self, ground: &Ground, group: u32, known: f64) -> Found {
        self.chains.of(ground.boxes, group);
        (self.steps, self.patience, self.k) = (0, ground.patience, ground.k);
        let prices = ground.index.prices(ground.boxes, group);
        let own = self.chains.own(ground.boxes, group);
        let mut gathered = 0.0;
        let mut proved = if known < ground.most * WIDE {
            gathered = known;
            self.gather(ground, &prices, group, gathered);
            self.least(0, &own).min(known)
        } else {
            nearest(ground, &prices, known).unwrap_or(known)
        };
        if proved >= known {
            return Found { least: known, cheapest: None, is_exact: true };
        }
        let mut reach = proved * FIRST_REACH + ground.boxes.penalty.rounding();
        loop {
            self.limit = reach.min(known);
            if self.limit > gathered {
                gathered = self.limit;
                self.gather(ground, &prices, group, gathered);
            }
            self.best.clear();
            self.given_up = f64::INFINITY;
            self.list_all();
            let sought = self.limit;
            self.step(0, own.clone(), self.rows.iter().sum());
            let cheapest = (!self.best.is_empty()).then(|| self.cheapest(ground, group));
            let upper = cheapest.as_ref().map_or(known, |cheapest| cheapest.price);
            let is_exact = self.given_up >= self.limit;
            if !is_exact {
                return Found { least: proved.max(self.given_up.min(upper)), cheapest, is_exact };
            }
            if cheapest.is_some() || sought >= known {
                return Found { least: upper, cheapest, is_exact };
            }
            proved = sought;
            reach = sought * NEXT_REACH;
        }
    }

    /// Notes what all rows within a limit cost on every chain.
    fn gather(&mut self, ground: &Ground, prices: &Prices, group: u32, limit: f64) {
        let own = ground.boxes.ranges(group);
        self.prices.clear();
        self.rows.clear();
        self.groups.clear();
        ground.index.within(
            prices,
            &mut *self,
            |_| limit,
            |search, place| {
                let codes = ground.index.codes(place);
                let start = search.prices.len();
                let mut sum = 0.0;
                for &at in &search.chains.single {
                    let price = prices.of(at, codes[at]);
                    sum += price;
                    if sum >= limit {
                        return search.prices.truncate(start);
                    }
                    search.prices.push(price);
                }
                for &(at, _) in &search.chains.lines {
                    let price = prices.of(at, codes[at]);
                    sum += price;
                    if sum >= limit {
                        return search.prices.truncate(start);
                    }
                    search.prices.extend(if codes[at] < own[at].lo {
                        [price, 0.0]
                    } else {
                        [0.0, price]
                    });
                }
                let (group, rows) = ground.index.group(place);
                search.rows.push(rows);
                search.groups.push(group);
            },
        );
        self.list_all();
    }

    /// Puts all rows that were gathered on the list.
    fn list_all(&mut self) {
        self.list.clear();
        self.list.extend((0u32..).take(self.rows.len()));
    }

    /// The best box as the box around all groups that it has.
    fn cheapest(&self, ground: &Ground, group: u32) -> Cheapest {
        let mut ranges = ground.boxes.ranges(group).to_vec();
        let mut groups = Vec::new();
        let price = self.chains.price(&self.best);
        for (at, prices) in self.prices.chunks_exact(self.chains.len()).enumerate() {
            // Not chain by chain: beside a missing value a whole line costs no more than a part of
            // it.
            if self.chains.joined(&self.best, prices) <= price {
                groups.push(self.groups[at]);
                for (range, other) in ranges.iter_mut().zip(ground.boxes.ranges(self.groups[at])) {
                    *range = range.join(*other);
                }
            }
        }
        Cheapest { price: ground.boxes.penalty.of_box(&ranges), ranges, groups }
    }

    /// Looks for better boxes that have these floors at least, among the rows of the list from
    /// `start` on, so many in all.
    fn step(&mut self, start: usize, mut floors: Vec<f64>, mut total: u64) {
        let width = self.chains.len();
        // For each chain the rows within its floor, and the least price above.
        let (mut within, mut next) = (Vec::new(), Vec::new());
        while total >= self.k {
            self.steps += (self.list.len() - start) as u64;
            if self.steps > self.patience {
                let least = self.least(start, &floors);
                self.given_up = self.given_up.min(least);
                return;
            }
            let price = self.chains.price(&floors);
            if price >= self.limit {
                return;
            }
            // Rows that cost too much leave.
            let (mut kept, mut inside) = (start, 0);
            for place in start..self.list.len() {
                let row = self.list[place];
                let joined =
                    self.chains.joined(&floors, &self.prices[row as usize * width..][..width]);
                if joined < self.limit {
                    self.list[kept] = row;
                    kept += 1;
                    inside += if joined <= price { self.rows[row as usize] } else { 0 };
                } else {
                    total -= self.rows[row as usize];
                    if total < self.k {
                        return;
                    }
                }
            }
            self.list.truncate(kept);
            if inside >= self.k {
                self.limit = price;
                self.best.clone_from(&floors);
                return;
            }
            self.near(start).count(&floors, 0, &mut within, &mut next);
            let mut has_risen = false;
            for chain in 0..width {
                if within[chain] < self.k {
                    floors[chain] = self.rise(start, chain, floors[chain], self.k - within[chain]);
                    has_risen = true;
                }
            }
            if has_risen {
                continue;
            }
            let (chain, bar) = match self.near(start).branch(&floors, &within, &next, total) {
                Branch::Rise { chain, bar } => (chain, bar),
                Branch::Settle(lines) => return self.settle(start, &floors, &lines),
            };
            let from = self.list.len();
            let mut rows = 0;
            for place in start..from {
                let row = self.list[place];
                if self.prices[row as usize * width + chain] < bar {
                    self.list.push(row);
                    rows += self.rows[row as usize];
                }
            }
            if rows >= self.k {
                self.step(from, floors.clone(), rows);
            }
            self.list.truncate(from);
            floors[chain] = bar;
        }
    }

    /// The rows of the list from `start` on.
    fn near(&self, start: usize) -> Near<'_> {
        Near {
            chains: &self.chains,
            prices: &self.prices,
            rows: &self.rows,
            list: &self.list[start..],
        }
    }

    /// The price on a chain at which so many more rows come within it.
    fn rise(&self, start: usize, chain: usize, floor: f64, mut lacking: u64) -> f64 {
        let mut floor = floor;
        loop {
            let (mut next, mut rows) = (f64::INFINITY, 0);
            for (price, &row) in self.near(start).on(chain).zip(&self.list[start..]) {
                if price > floor && price <= next {
                    rows = self.rows[row as usize] + if price < next { 0 } else { rows };
                    next = price;
                }
            }
            if rows >= lacking || next.is_infinite() {
                return next;
            }
            lacking -= rows;
            floor = next;
        }
    }

    /// What a box with these floors costs at least if it has k rows of the list.
    fn least(&self, start: usize, floors: &[f64]) -> f64 {
        let width = self.chains.len();
        let of_row = |&row: &u32| {
            let joined = self.chains.joined(floors, &self.prices[row as usize * width..][..width]);
            (joined, self.rows[row as usize])
        };
        let mut all: Vec<(f64, u64)> = self.list[start..].iter().map(of_row).collect();
        all.sort_unstable_by(|one, other| one.0.total_cmp(&other.0));
        let mut rows = 0;
        for (price, more) in all {
            rows += more;
            if rows >= self.k {
                return price;
            }
        }
        f64::INFINITY
    }

    /// Finds the best box of all when only these lines, one or two, are undecided.
    fn settle(&mut self, start: usize, floors: &[f64], lines: &[usize]) {
        let rest = self.chains.price_beside(floors, lines);
        self.sweep.clear();
        let width = self.chains.len();
        for &row in &self.list[start..] {
            let prices = &self.prices[row as usize * width..][..width];
            self.sweep.add(self.chains.places(floors, lines, prices), self.rows[row as usize]);
        }
        let patience = self.patience.saturating_sub(self.steps);
        let found = self.sweep.run(
            self.chains.undecided(floors, lines),
            self.k,
            self.limit - rest,
            patience,
        );
        self.steps += found.steps;
        if found.is_cut {
            let least = self.least(start, floors);
            self.given_up = self.given_up.min(least);
        }
        if let Some((price, ends)) = found.best {
            self.limit = rest + price;
            self.chains.settle(&mut self.best, floors, lines, ends);
        }
    }
}

/// Rows are noted as far as the box that is known reaches if that costs less than this share of
/// all; else the nearest k rows are looked for before.
const WIDE: f64 = 0.5;

/// How far a search looks at first, over the price of the nearest k rows, and each time it found
/// nothing, over the time before.
const FIRST_REACH: f64 = 1.25;
const NEXT_REACH: f64 = 1.4;

/// What a box around a group with any k rows costs at least: what it costs to have the last of the
/// nearest k rows. None when that is not below `known`.
fn nearest(ground: &Ground, prices: &Prices, known: f64) -> Option<f64> {
    struct Near {
        /// Prices as bits, which stand in the order of the prices, and rows.
        heap: BinaryHeap<(u64, u64)>,
        rows: u64,
        limit: f64,
    }
    let near = Near { heap: BinaryHeap::new(), rows: 0, limit: known };
    let near = ground.index.within(
        prices,
        near,
        |near| near.limit,
        |near, place| {
            let mut price = 0.0;
            for (at, &code) in ground.index.codes(place).iter().enumerate() {
                price += prices.of(at, code);
                if price >= near.limit {
                    return;
                }
            }
            let (_, rows) = ground.index.group(place);
            near.heap.push((price.abs().to_bits(), rows));
            near.rows += rows;
            while let Some(&(price, rows)) = near.heap.peek() {
                if near.rows < ground.k {
                    break;
                }
                near.limit = f64::from_bits(price);
                if near.rows - rows < ground.k {
                    break;
                }
                near.rows -= rows;
                near.heap.pop();
            }
        },
    );
    (near.rows >= ground.k).then_some(near.limit)
}
