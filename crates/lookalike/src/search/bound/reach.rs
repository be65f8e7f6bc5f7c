//! How far from a group a box can reach that allows it less, by what the groups say that are asked
//! for much.
//!
//! The farther a box reaches, the more it must have that are asked for much. These are few, so they
//! are looked at before all others: of those within a price the greatest k - 1 must come to more
//! than k times that price. A group that is asked for very much is tried by itself: must the box
//! have it, others come to be farther away. If no such box is worth it, that group is out, and all
//! boxes reach less far.

use crate::codes::{CodeRange, real};
use crate::search::boxes::Boxes;

use super::index::Prices;
use super::plane::{Greatest, Group};
use super::slack::Field;
use super::tops::Tops;

/// So many groups are tried at most.
const TRIES: usize = 64;

/// With no more groups than this within reach none is tried.
const FEW: usize = if cfg!(test) { 1 } else { 16 };

/// How far better boxes reach.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reach {
    /// They cost less than this.
    pub(super) price: f64,
    /// The greatest values that k rows within can have.
    pub(super) greatest: Greatest,
}

/// What is set aside from one group to the next.
#[derive(Debug, Default)]
pub(super) struct Far {
    /// What it costs to have the groups that are asked for much, rising.
    far: Vec<(f64, u32)>,
    /// The same beside one of them.
    beside: Vec<(f64, u32)>,
    tried: Vec<u32>,
    /// No better box has these.
    out: Vec<u32>,
    tops: Tops,
}

impl Far {
    /// How far better boxes reach.
    pub(super) fn run(&mut self, field: &Field, prices: &Prices, group: u32, own: &Group) -> Reach {
        let boxes = field.boxes;
        self.far.clear();
        self.tried.clear();
        self.out.clear();
        for &other in field.high.iter().filter(|&&other| other != group) {
            let price = boxes
                .ranges(other)
                .iter()
                .enumerate()
                .map(|(at, range)| prices.of(at, range.lo))
                .sum();
            self.far.push((price, other));
        }
        sort(&mut self.far);
        let asked = |other: u32| field.asked[other as usize];
        loop {
            own.start(&mut self.tops);
            self.tops.add(field.rest, field.k);
            let reach =
                extent(&self.far, field, &mut self.tops, own.allowed, 0.0).unwrap_or_default();
            let within = &self.far[..self.far.partition_point(|far| far.0 < reach.price)];
            let is_worth_it = |far: &&(f64, u32)| {
                asked(far.1) >= reach.greatest.last
                    && asked(far.1) > field.rest
                    && !self.tried.contains(&far.1)
            };
            let next = within
                .iter()
                .filter(is_worth_it)
                .max_by(|one, other| asked(one.1).total_cmp(&asked(other.1)));
            let Some(&next) = next.filter(|_| within.len() > FEW && self.tried.len() < TRIES)
            else {
                break reach;
            };
            self.tried.push(next.1);
            if !self.can_have(field, group, own, next, reach.price) {
                self.far.retain(|far| far.1 != next.1);
                self.out.push(next.1);
            }
        }
    }

    /// True when no better box has this group.
    pub(super) fn is_out(&self, group: u32) -> bool {
        self.out.contains(&group)
    }

    /// False when no box below a limit is better that has this other group.
    fn can_have(
        &mut self,
        field: &Field,
        group: u32,
        own: &Group,
        (price, other): (f64, u32),
        limit: f64,
    ) -> bool {
        let boxes: &Boxes = field.boxes;
        let both: Vec<CodeRange> = boxes
            .ranges(group)
            .iter()
            .zip(boxes.ranges(other))
            .map(|(one, other)| one.join(*other))
            .collect();
        self.beside.clear();
        for &(far, third) in &self.far {
            if far >= limit {
                break;
            }
            let joined = boxes.penalty.of_join(&both, boxes.ranges(third));
            if third != other && joined < limit {
                self.beside.push((joined, third));
            }
        }
        sort(&mut self.beside);
        let asked = field.asked[other as usize];
        self.tops.clear(own.others() - 1);
        self.tops.add(own.allowed, own.rows - 1);
        self.tops.add(asked, boxes.rows(other) - 1);
        self.tops.add(field.rest, field.k);
        extent(&self.beside, field, &mut self.tops, own.allowed + asked, price).is_some()
    }
}

fn sort(far: &mut [(f64, u32)]) {
    far.sort_unstable_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
}

/// How far boxes can reach that cost no less than `from` and have rows that are asked for `sum` and
/// the greatest of these, which come by rising price; none when no box is worth it.
fn extent(
    far: &[(f64, u32)],
    field: &Field,
    tops: &mut Tops,
    sum: f64,
    mut from: f64,
) -> Option<Reach> {
    let k = real(field.k);
    let mut reach = None;
    for at in 0..=far.len() {
        // From here to the next one the greatest values are those so far.
        let to = far.get(at).map_or(f64::INFINITY, |next| next.0);
        let all = sum + tops.sum();
        if all > k * from {
            let last = tops.values().last().copied().unwrap_or_default();
            reach = Some(Reach { price: (all / k).min(to), greatest: Greatest { sum: all, last } });
        }
        if let Some(&(price, other)) = far.get(at) {
            from = from.max(price);
            tops.add(field.asked[other as usize], field.boxes.rows(other));
        }
    }
    reach
}
