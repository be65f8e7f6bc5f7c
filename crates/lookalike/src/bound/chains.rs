//! A group of equal rows seen as chains of ever wider ranges around its values, and how their prices add up.

use crate::boxes::Boxes;

/// How prices on chains add up.
#[derive(Debug, Default)]
pub(super) struct Chains {
    /// The attributes of one chain.
    pub(super) single: Vec<usize>,
    /// Attributes of two chains, the side of lesser values first, and the most that both sides cost together.
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

/// The greater one of two prices. No price is not a number, which makes this faster than [`f64::max`].
#[inline]
fn greater(one: f64, other: f64) -> f64 {
    if one > other { one } else { other }
}
