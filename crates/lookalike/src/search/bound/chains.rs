//! A group of equal rows seen as chains of ever wider ranges around its values, and how their
//! prices add up.

use crate::search::boxes::Boxes;

use super::sweep::Line;

/// How prices on chains add up.
#[derive(Debug, Default)]
pub(super) struct Chains {
    /// The attributes of one chain.
    pub(super) single: Vec<usize>,
    /// Attributes of two chains, the side of lesser values first, and the most that both sides cost
    /// together.
    pub(super) lines: Vec<(usize, f64)>,
}

impl Chains {
    /// The chains of a group.
    pub(super) fn of(&mut self, boxes: &Boxes, group: u32) {
        let penalty = boxes.penalty;
        self.single.clear();
        self.lines.clear();
        for (at, &range) in boxes.ranges(group).iter().enumerate() {
            // A missing value is no place on the line: any other value beside it costs all.
            if penalty.is_line(at) && penalty.step(at, range.lo) <= 0.0 {
                self.lines.push((at, penalty.weight(at)));
            } else {
                self.single.push(at);
            }
        }
    }

    /// The floors of the group itself.
    pub(super) fn own(&self, boxes: &Boxes, group: u32) -> Vec<f64> {
        let ranges = boxes.ranges(group);
        let single = self.single.iter().map(|&at| boxes.penalty.of(at, ranges[at]));
        single.chain(self.lines.iter().flat_map(|_| [0.0; 2])).collect()
    }

    pub(super) fn len(&self) -> usize {
        self.single.len() + 2 * self.lines.len()
    }

    /// What a box costs.
    pub(super) fn price(&self, floors: &[f64]) -> f64 {
        self.joined(floors, floors)
    }

    /// What it costs to widen a box so that it has a row.
    #[inline]
    pub(super) fn joined(&self, floors: &[f64], prices: &[f64]) -> f64 {
        let (single, sides) = floors.split_at(self.single.len());
        let (of_single, of_sides) = prices.split_at(self.single.len());
        let mut sum = 0.0;
        for (floor, price) in single.iter().zip(of_single) {
            sum += greater(*floor, *price);
        }
        let pairs = sides.chunks_exact(2).zip(of_sides.chunks_exact(2));
        for ((floor, price), (_, most)) in pairs.zip(&self.lines) {
            let both = greater(floor[0], price[0]) + greater(floor[1], price[1]);
            sum += if both < *most { both } else { *most };
        }
        sum
    }
}

/// When only lines are undecided, and no more than two: how a sweep over them sees the rest.
impl Chains {
    /// The chains of a line's two sides.
    fn sides(&self, line: usize) -> usize {
        self.single.len() + 2 * line
    }

    /// What a box with these floors costs on all attributes but these lines.
    pub(super) fn price_beside(&self, floors: &[f64], lines: &[usize]) -> f64 {
        (0..self.lines.len())
            .filter(|line| !lines.contains(line))
            .map(|line| {
                (floors[self.sides(line)] + floors[self.sides(line) + 1]).min(self.lines[line].1)
            })
            .chain(floors[..self.single.len()].iter().copied())
            .sum()
    }

    /// The lines as they are paid for already; a second one that costs nothing where there is one
    /// alone.
    pub(super) fn undecided(&self, floors: &[f64], lines: &[usize]) -> [Line; 2] {
        let line = |line: usize| {
            let at = self.sides(line);
            ([floors[at], floors[at + 1]], self.lines[line].1)
        };
        [line(lines[0]), lines.get(1).map_or(([0.0; 2], 0.0), |&other| line(other))]
    }

    /// Where a row with these prices stands on the lines.
    pub(super) fn places(&self, floors: &[f64], lines: &[usize], prices: &[f64]) -> [f64; 2] {
        let place = |line: usize| {
            let at = self.sides(line);
            match () {
                () if prices[at] > floors[at] => -prices[at],
                () if prices[at + 1] > floors[at + 1] => prices[at + 1],
                () => 0.0,
            }
        };
        [place(lines[0]), lines.get(1).map_or(0.0, |&line| place(line))]
    }

    /// Makes `best` the floors, but on these lines what their sides cost in the end.
    pub(super) fn settle(
        &self,
        best: &mut Vec<f64>,
        floors: &[f64],
        lines: &[usize],
        ends: [[f64; 2]; 2],
    ) {
        best.clear();
        best.extend_from_slice(floors);
        for (&line, ends) in lines.iter().zip(ends) {
            best[self.sides(line)..][..2].copy_from_slice(&ends);
        }
    }
}

/// Rows that may be in a box: what each costs on every chain, and how many rows it stands for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Near<'a> {
    pub(super) chains: &'a Chains,
    pub(super) prices: &'a [f64],
    pub(super) rows: &'a [u64],
    /// Those that are looked at.
    pub(super) list: &'a [u32],
}

/// How a step of a search goes on.
#[derive(Debug)]
pub(super) enum Branch {
    /// Either the floor of this chain is the last word, or it rises to the bar.
    Rise { chain: usize, bar: f64 },
    /// Only these lines are undecided, two at most.
    Settle(Vec<usize>),
}

impl Near<'_> {
    pub(super) fn prices_of(&self, row: u32) -> &[f64] {
        let width = self.chains.len();
        &self.prices[row as usize * width..][..width]
    }

    /// What the listed rows cost on a chain.
    pub(super) fn on(&self, chain: usize) -> impl Iterator<Item = f64> {
        self.list.iter().map(move |&row| self.prices[row as usize * self.chains.len() + chain])
    }

    /// For each chain the rows within its floor, beside so many that are within all, and the least
    /// price above.
    pub(super) fn count(
        &self,
        floors: &[f64],
        own: u64,
        within: &mut Vec<u64>,
        next: &mut Vec<f64>,
    ) {
        within.clear();
        within.resize(floors.len(), own);
        next.clear();
        next.resize(floors.len(), f64::INFINITY);
        for &row in self.list {
            let rows = self.rows[row as usize];
            for ((within, next), (price, floor)) in
                within.iter_mut().zip(&mut *next).zip(self.prices_of(row).iter().zip(floors))
            {
                *within += if price <= floor { rows } else { 0 };
                let above = if price > floor { *price } else { f64::INFINITY };
                *next = if above < *next { above } else { *next };
            }
        }
    }

    /// Where to go on when each chain has so many rows of all within its floor, and these prices
    /// next above.
    pub(super) fn branch(
        &self,
        floors: &[f64],
        within: &[u64],
        next: &[f64],
        total: u64,
    ) -> Branch {
        let singles = self.chains.single.len();
        let open = |chain: &usize| within[*chain] < total;
        let gap = |chain: usize| next[chain] - floors[chain];
        let wider = |one: &usize, other: &usize| {
            gap(*one).total_cmp(&gap(*other)).then(within[*other].cmp(&within[*one]))
        };
        if let Some(chain) = (0..singles).filter(open).max_by(wider) {
            return Branch::Rise { chain, bar: next[chain] };
        }
        let is_open = |line: &usize| (0..2).any(|side| open(&(self.chains.sides(*line) + side)));
        let lines: Vec<usize> = (0..self.chains.lines.len()).filter(is_open).collect();
        if lines.len() <= 2 {
            return Branch::Settle(lines);
        }
        let extent = |chain: usize| self.on(chain).fold(0.0, f64::max) - floors[chain];
        let sides = (singles..self.chains.len()).filter(open);
        let chain = sides
            .max_by(|&one, &other| extent(one).total_cmp(&extent(other)))
            .expect("a line is open");
        Branch::Rise { chain, bar: self.middle(chain, floors[chain]) }
    }

    /// The middle one of the prices above a floor.
    fn middle(&self, chain: usize, floor: f64) -> f64 {
        let mut above: Vec<f64> = self.on(chain).filter(|&price| price > floor).collect();
        let middle = above.len() / 2;
        *above.select_nth_unstable_by(middle, f64::total_cmp).1
    }
}

/// The greater one of two prices. No price is not a number, which makes this faster than
/// [`f64::max`].
#[inline]
fn greater(one: f64, other: f64) -> f64 {
    if one > other { one } else { other }
}
