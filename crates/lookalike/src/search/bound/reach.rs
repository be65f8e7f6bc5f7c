//! How far a box can reach that allows a group less: an upper bound on its loss from the groups
//! with great dual values.
//!
//! The farther a box reaches, the greater dual values it must contain. Groups with great values are
//! few, so they are looked at before all others: of those within a loss, the greatest k - 1 values
//! must sum up to more than k times that loss. A group with a very great value is tried by itself:
//! if the box must contain it, the others are farther away. If no such box is worth it, that group
//! is out, and all boxes reach less far.

use crate::codes::{CodeRange, real};
use crate::search::boxes::Boxes;

use super::dual_group::{DualGroup, GreatestDuals};
use super::dual_limit::DualSpace;
use super::index::JoinLosses;
use super::top_k::TopK;

/// Groups that are tried at most for one search. Greater: a shorter reach, more time before the
/// search.
const TRIES: usize = 64;

/// With no more groups than this within reach none is tried: a search through them is quick.
const FEW: usize = if cfg!(test) { 1 } else { 16 };

/// The reach of boxes that allow less than the limit of a group.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DualReach {
    /// They lose less than this.
    pub(super) loss: f64,
    /// The greatest values that k rows within can have.
    pub(super) greatest: GreatestDuals,
}

/// The search for the reach, with buffers that the next group uses again.
#[derive(Debug, Default)]
pub(super) struct ReachSearch {
    /// The loss of a box with each of the groups with great dual values, rising.
    far: Vec<(f64, u32)>,
    /// The same for boxes with one of them.
    beside: Vec<(f64, u32)>,
    tried: Vec<u32>,
    /// No better box contains these.
    out: Vec<u32>,
    top: TopK,
}

impl ReachSearch {
    /// The reach of better boxes.
    pub(super) fn run(
        &mut self,
        space: &DualSpace,
        joins: &JoinLosses,
        group: u32,
        own: &DualGroup,
    ) -> DualReach {
        let boxes = space.boxes;
        self.far.clear();
        self.tried.clear();
        self.out.clear();
        for &other in space.high.iter().filter(|&&other| other != group) {
            let loss = boxes
                .ranges(other)
                .iter()
                .enumerate()
                .map(|(at, range)| joins.of(at, range.lo))
                .sum();
            self.far.push((loss, other));
        }
        sort(&mut self.far);
        let dual = |other: u32| space.duals[other as usize];
        loop {
            own.start(&mut self.top);
            self.top.add(space.rest, space.k);
            let reach = extent(&self.far, space, &mut self.top, own.limit, 0.0).unwrap_or_default();
            let within = &self.far[..self.far.partition_point(|far| far.0 < reach.loss)];
            let is_worth_it = |far: &&(f64, u32)| {
                dual(far.1) >= reach.greatest.last
                    && dual(far.1) > space.rest
                    && !self.tried.contains(&far.1)
            };
            let next = within
                .iter()
                .filter(is_worth_it)
                .max_by(|one, other| dual(one.1).total_cmp(&dual(other.1)));
            let Some(&next) = next.filter(|_| within.len() > FEW && self.tried.len() < TRIES)
            else {
                break reach;
            };
            self.tried.push(next.1);
            if !self.can_contain(space, group, own, next, reach.loss) {
                self.far.retain(|far| far.1 != next.1);
                self.out.push(next.1);
            }
        }
    }

    /// True when no better box contains this group.
    pub(super) fn is_out(&self, group: u32) -> bool {
        self.out.contains(&group)
    }

    /// False when no box that loses less than `limit` and contains this other group is better.
    fn can_contain(
        &mut self,
        space: &DualSpace,
        group: u32,
        own: &DualGroup,
        (loss, other): (f64, u32),
        limit: f64,
    ) -> bool {
        let boxes: &Boxes = space.boxes;
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
        let dual = space.duals[other as usize];
        self.top.clear(own.others() - 1);
        self.top.add(own.limit, own.rows - 1);
        self.top.add(dual, boxes.rows(other) - 1);
        self.top.add(space.rest, space.k);
        extent(&self.beside, space, &mut self.top, own.limit + dual, loss).is_some()
    }
}

fn sort(far: &mut [(f64, u32)]) {
    far.sort_unstable_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
}

/// The reach of boxes that lose no less than `from` and contain rows whose dual values are `sum`
/// and the greatest of these, which come by rising loss; none when no box is worth it.
fn extent(
    far: &[(f64, u32)],
    space: &DualSpace,
    top: &mut TopK,
    sum: f64,
    mut from: f64,
) -> Option<DualReach> {
    let k = real(space.k);
    let mut reach = None;
    for at in 0..=far.len() {
        // From here to the next one the greatest values are those so far.
        let to = far.get(at).map_or(f64::INFINITY, |next| next.0);
        let all = sum + top.sum();
        if all > k * from {
            let last = top.values().last().copied().unwrap_or_default();
            reach = Some(DualReach {
                loss: (all / k).min(to),
                greatest: GreatestDuals { sum: all, last },
            });
        }
        if let Some(&(loss, other)) = far.get(at) {
            from = from.max(loss);
            top.add(space.duals[other as usize], space.boxes.rows(other));
        }
    }
    reach
}
