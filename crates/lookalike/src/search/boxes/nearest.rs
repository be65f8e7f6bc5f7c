//! The nearest groups of a group in a tree, without a look at all of them, exactly.
//!
//! The penalty never falls as a range grows, so a node of the tree (`tree.rs`) gives a lower bound
//! on the loss of joining any of its groups; it is skipped when that is no better than the best
//! found.

use crate::codes::{CodeRange, real};
use crate::rng::Rng;
use crate::search::boxes::tree::{BoxNode, BoxTree, NodeReach, alone};
use crate::search::boxes::{Boxes, Objective};

/// Factor on a lower bound of the loss that a union adds. It is a sum of products and may come out
/// greater than the exact value by a few units in the last place.
const ROUNDING: f64 = 1.0 - 1e-12;

/// A group to join. Order: the least value first, then fewer rows, then the lower number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Partner {
    pub(crate) value: f64,
    pub(crate) rows: u64,
    pub(crate) group: u32,
}

impl Partner {
    /// Another group as the partner of a group.
    pub(crate) fn of(boxes: &Boxes, objective: Objective, group: u32, with: u32) -> Partner {
        Partner { value: boxes.value(objective, group, with), rows: boxes.rows(with), group: with }
    }

    /// The best of a partner and of some other groups, as far as they have rows.
    pub(crate) fn best_of(
        boxes: &Boxes,
        objective: Objective,
        group: u32,
        partner: Partner,
        others: &[u32],
    ) -> Partner {
        let others = others.iter().filter(|&&other| other != group && boxes.rows(other) > 0);
        others
            .map(|&other| Partner::of(boxes, objective, group, other))
            .fold(partner, |best, other| if other.is_before(&best) { other } else { best })
    }

    /// True when this one comes first.
    pub(crate) fn is_before(&self, other: &Partner) -> bool {
        let order = self
            .value
            .total_cmp(&other.value)
            .then(self.rows.cmp(&other.rows))
            .then(self.group.cmp(&other.group));
        order.is_lt()
    }
}

/// Rows that look for groups to join.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seeker<'a> {
    /// The group it belongs to, which is not among those it looks for.
    pub(crate) group: u32,
    pub(crate) objective: Objective,
    pub(crate) rows: u64,
    pub(crate) ranges: &'a [CodeRange],
    /// Seed of the noise on the values.
    pub(crate) seed: u64,
}

impl BoxTree {
    /// The best partner of a group; none when there is no other.
    pub(crate) fn partner(
        &self,
        boxes: &Boxes,
        objective: Objective,
        group: u32,
    ) -> Option<Partner> {
        let probes: Vec<SeekerRange> = boxes
            .ranges(group)
            .iter()
            .enumerate()
            .map(|(at, &range)| SeekerRange::new(boxes, at, range))
            .collect();
        let limit = |best: &Option<Partner>| best.map_or(f64::INFINITY, |best| best.value);
        let rows = boxes.rows(group);
        let bound = |best: &Option<Partner>, at: usize| {
            self.least_value(boxes, objective, rows, &probes, at, limit(best))
        };
        let skips = |best: &Option<Partner>, value: f64, at: usize| {
            let BoxNode { least_rows, least_group, .. } = self.nodes[at];
            best.is_some_and(|best| {
                !Partner { value, rows: least_rows, group: least_group }.is_before(&best)
            })
        };
        let mut best = None;
        self.seek(boxes, &mut best, &bound, &skips, &mut |best, other| {
            let value = boxes.value_up_to(objective, group, other, limit(best));
            let partner = Partner { value, rows: boxes.rows(other), group: other };
            if other != group && best.is_none_or(|best| partner.is_before(&best)) {
                *best = Some(partner);
            }
        });
        best
    }

    /// The `most` best groups to join, the best first. Each value is first changed at random by up
    /// to half of `noise`, as a share of it, so that another seed gives others.
    pub(crate) fn several(
        &self,
        boxes: &Boxes,
        seeker: &Seeker,
        noise: f64,
        most: usize,
    ) -> Vec<u32> {
        let Seeker { group, objective, rows, ranges, seed } = *seeker;
        let probes: Vec<SeekerRange> = ranges
            .iter()
            .enumerate()
            .map(|(at, &range)| SeekerRange::new(boxes, at, range))
            .collect();
        let (mut best, least) = (Vec::new(), 1.0 - noise / 2.0);
        let limit = |best: &Vec<(f64, u32)>| {
            if best.len() == most { best[most - 1].0 } else { f64::INFINITY }
        };
        let bound = |best: &Vec<(f64, u32)>, at: usize| {
            self.least_value(boxes, objective, rows, &probes, at, limit(best) / least) * least
        };
        let skips = |best: &Vec<(f64, u32)>, value: f64, _| value >= limit(best);
        self.seek(boxes, &mut best, &bound, &skips, &mut |best, other| {
            let factor = least + noise * Rng::unit_of(seed, u64::from(other));
            let limit = limit(best);
            let (mut then, stop) = (
                0.0,
                limit / factor / if objective == Objective::Table { real(rows) } else { 1.0 },
            );
            for (at, (one, other)) in ranges.iter().zip(boxes.ranges(other)).enumerate() {
                then += boxes.penalty.of(at, one.join(*other));
                if then > stop {
                    return;
                }
            }
            let value = objective.value(rows, boxes.rows(other), boxes.own(other), then) * factor;
            if other != group && value < limit {
                best.truncate(most - 1);
                best.insert(best.partition_point(|&(before, _)| before <= value), (value, other));
            }
        });
        best.into_iter().map(|(_, group)| group).collect()
    }

    /// Visits every group that has rows, but for those below nodes that are skipped: `bound` is a
    /// lower bound on the value of the groups below a node, `skips` is true when that is no better
    /// than the best found. The side with the lesser bound comes first.
    pub(crate) fn seek<S>(
        &self,
        boxes: &Boxes,
        found: &mut S,
        bound: &impl Fn(&S, usize) -> f64,
        skips: &impl Fn(&S, f64, usize) -> bool,
        visit: &mut impl FnMut(&mut S, u32),
    ) {
        let mut open = vec![(0, 0.0)];
        while let Some((at, least)) = open.pop() {
            let Some(node) = self.nodes.get(at) else { continue };
            if node.alive == 0 || skips(found, least, at) {
                continue;
            }
            if node.right == 0 {
                for &group in &self.order[node.first as usize..][..node.count as usize] {
                    if boxes.rows(group) > 0 {
                        visit(found, group);
                    }
                }
                continue;
            }
            let (left, right) = (at + 1, at + node.right as usize);
            let (of_left, of_right) = (bound(found, left), bound(found, right));
            // The last one in is the first one out; of two equal bounds, the one with the lower
            // number.
            let is_left_first = of_left < of_right
                || (of_left <= of_right
                    && self.nodes[left].least_group < self.nodes[right].least_group);
            let (near, far) = if is_left_first {
                ((left, of_left), (right, of_right))
            } else {
                ((right, of_right), (left, of_left))
            };
            open.push(far);
            open.push(near);
        }
    }

    /// A lower bound on the value of joining a group of so many rows with any group below a node.
    /// It need not be sharp above `limit`.
    fn least_value(
        &self,
        boxes: &Boxes,
        objective: Objective,
        rows: u64,
        probes: &[SeekerRange],
        at: usize,
        limit: f64,
    ) -> f64 {
        let node = &self.nodes[at];
        let (rows, there, own, sure) = match objective {
            Objective::Table => (real(rows), real(node.least_rows), node.least_own, ROUNDING),
            // No more than the sum itself, to the last bit.
            Objective::Row => (1.0, 0.0, 0.0, 1.0),
        };
        // The loss that many rows gain is a difference, and its rounding grows with their loss
        // before.
        let slack = if objective == Objective::Table {
            real(node.most_rows) * boxes.penalty.rounding()
        } else {
            0.0
        };
        let (mut value, mut more) = (0.0, 0.0);
        for (reach, probe) in self.reaches[at * probes.len()..].iter().zip(probes) {
            let loss = probe.least(boxes, reach);
            let grows = (loss - f64::from(reach.most)).max(0.0);
            value += rows * loss + there * grows;
            if value * sure - slack > limit {
                return value * sure - slack;
            }
            more += grows;
        }
        match objective {
            Objective::Table => {
                (value.max(rows * (own + more) + there * more) * sure - slack).max(0.0)
            }
            Objective::Row => value,
        }
    }
}

/// The range of a seeker on one attribute.
struct SeekerRange {
    attribute: usize,
    range: CodeRange,
    bit: u64,
    /// The least loss with a group that does not publish just the same value.
    step: f64,
    is_flat: bool,
}

impl SeekerRange {
    fn new(boxes: &Boxes, attribute: usize, range: CodeRange) -> SeekerRange {
        let step = if range.is_one() {
            boxes.penalty.step(attribute, range.lo)
        } else {
            boxes.penalty.of(attribute, range)
        };
        SeekerRange {
            attribute,
            range,
            bit: alone(range),
            step,
            is_flat: boxes.penalty.is_flat(attribute),
        }
    }

    /// The least loss of a row on this attribute if the seeker joins any group of this reach.
    #[inline]
    fn least(&self, boxes: &Boxes, reach: &NodeReach) -> f64 {
        let value = self.range.lo;
        let is_alone =
            self.bit & reach.alone == 0 || value > reach.last_lo || value < reach.first_hi;
        if self.is_flat {
            return if is_alone { self.step } else { 0.0 };
        }
        let least = CodeRange {
            lo: self.range.lo.min(reach.last_lo),
            hi: self.range.hi.max(reach.first_hi),
        };
        let loss = boxes.penalty.of(self.attribute, least).max(f64::from(reach.least));
        if is_alone { loss.max(self.step) } else { loss }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::penalty::Penalty;
    use crate::problem::Problem;
    use crate::rng::Rng;
    use crate::testing;

    fn problem(seed: u64) -> Problem {
        let toml = "k = 1\nrest = \"drop\"\n[columns]\nage = { role = \"quasi\", weight = 2 }\nheight = { role = \"quasi\" }\ncity = { role = \"quasi\" }\n";
        testing::problem(&testing::random_table(seed, 150), toml).unwrap()
    }

    fn points<'a>(problem: &Problem, penalty: &'a Penalty) -> Boxes<'a> {
        let tuples = (0u32..).take(problem.tuples());
        let ranges = tuples
            .clone()
            .flat_map(|tuple| (0..3).map(move |at| CodeRange::one(problem.code(at, tuple))))
            .collect();
        Boxes::of(penalty, ranges, tuples.map(|tuple| u64::from(problem.count(tuple))))
    }

    /// The best of all others.
    fn scan(boxes: &Boxes, objective: Objective, group: u32) -> Option<Partner> {
        let others =
            (0u32..).take(boxes.len()).filter(|&other| other != group && boxes.rows(other) > 0);
        others
            .map(|other| Partner::of(boxes, objective, group, other))
            .reduce(|best, other| if other.is_before(&best) { other } else { best })
    }

    #[test]
    fn the_tree_finds_what_a_scan_finds_after_any_history() {
        for seed in 0..40 {
            let problem = problem(seed);
            let penalty = Penalty::new(problem.attributes(), &[0, 1, 2]);
            let mut boxes = points(&problem, &penalty);
            let mut tree = BoxTree::build(&boxes);
            let mut rng = Rng::new(seed);
            for step in 0..120 {
                let mut any = || u32::try_from(rng.below(boxes.len() as u64)).unwrap();
                let (one, other) = (any(), any());
                if boxes.rows(one) == 0 || boxes.rows(other) == 0 || one == other {
                    continue;
                }
                for objective in [Objective::Table, Objective::Row] {
                    assert_eq!(
                        tree.partner(&boxes, objective, one),
                        scan(&boxes, objective, one),
                        "seed {seed}, step {step}, {objective:?}"
                    );
                }
                if step % 3 == 0 {
                    // A group shrinks to one end of another's box.
                    let shrunk: Vec<CodeRange> =
                        boxes.ranges(other).iter().map(|range| CodeRange::one(range.hi)).collect();
                    boxes.set(one, &shrunk, 1);
                    tree.touch(&boxes, one);
                } else {
                    boxes.merge(one, other);
                    tree.remove(one);
                    tree.touch(&boxes, other);
                }
            }
        }
    }

    #[test]
    fn several_are_the_best_of_all_after_groups_have_vanished_and_come_back() {
        for seed in 0..30 {
            let problem = problem(seed);
            let penalty = Penalty::new(problem.attributes(), &[0, 1, 2]);
            let mut boxes = points(&problem, &penalty);
            let mut tree = BoxTree::build(&boxes);
            let mut rng = Rng::new(seed);
            for step in 0..60 {
                let mut any = || u32::try_from(rng.below(boxes.len() as u64)).unwrap();
                let (one, other) = (any(), any());
                if boxes.rows(one) > 0 {
                    boxes.clear(one);
                    tree.remove(one);
                } else {
                    let ranges: Vec<CodeRange> = boxes
                        .ranges(one)
                        .iter()
                        .zip(boxes.ranges(other))
                        .map(|(a, b)| a.join(*b))
                        .collect();
                    boxes.set(one, &ranges, 3);
                    tree.revive(&boxes, one);
                }
                for (objective, rows) in [(Objective::Table, 4), (Objective::Row, 1)] {
                    let ranges = boxes.ranges(other).to_vec();
                    let value = |group: u32| {
                        objective.value(
                            rows,
                            boxes.rows(group),
                            boxes.own(group),
                            penalty.of_join(&ranges, boxes.ranges(group)),
                        )
                    };
                    let mut all: Vec<f64> = (0u32..)
                        .take(boxes.len())
                        .filter(|&group| group != other && boxes.rows(group) > 0)
                        .map(value)
                        .collect();
                    all.sort_by(f64::total_cmp);
                    let seeker = Seeker { group: other, objective, rows, ranges: &ranges, seed: 7 };
                    let found: Vec<f64> =
                        tree.several(&boxes, &seeker, 0.0, 4).into_iter().map(value).collect();
                    assert_eq!(
                        found,
                        all[..all.len().min(4)],
                        "seed {seed}, step {step}, {objective:?}"
                    );
                    // With noise they are others, but none with much more loss.
                    let noisy = tree.several(&boxes, &seeker, 0.2, 4);
                    assert!(
                        noisy
                            .iter()
                            .all(|&group| value(group) * 0.9
                                <= all[all.len().min(4) - 1] * 1.1 + 1e-9)
                    );
                }
            }
        }
    }

    #[test]
    fn a_tree_of_one_group_or_none_has_no_partner() {
        let problem = problem(1);
        let penalty = Penalty::new(problem.attributes(), &[0, 1, 2]);
        let mut boxes = points(&problem, &penalty);
        (1..).take(boxes.len() - 1).for_each(|group| boxes.merge(group, 0));
        assert!(BoxTree::build(&boxes).partner(&boxes, Objective::Table, 0).is_none());
        assert!(
            BoxTree::build(&Boxes::of(&penalty, Vec::new(), std::iter::empty()))
                .partner(&boxes, Objective::Table, 0)
                .is_none()
        );
    }

    #[test]
    fn most_of_the_tree_is_skipped() {
        let problem = problem(2);
        let penalty = Penalty::new(problem.attributes(), &[0, 1, 2]);
        let boxes = points(&problem, &penalty);
        let tree = BoxTree::build(&boxes);
        let mut met = 0;
        for group in (0u32..).take(boxes.len()) {
            let probes: Vec<SeekerRange> =
                (0..3).map(|at| SeekerRange::new(&boxes, at, boxes.ranges(group)[at])).collect();
            let nearest = scan(&boxes, Objective::Table, group).unwrap().value;
            let bound = |_: &usize, at: usize| {
                tree.least_value(&boxes, Objective::Table, boxes.rows(group), &probes, at, nearest)
            };
            tree.seek(&boxes, &mut met, &bound, &|_, bound, _| bound > nearest, &mut |met, _| {
                *met += 1
            });
        }
        assert!(met * 3 < boxes.len() * boxes.len(), "{met} of {}", boxes.len() * boxes.len());
    }
}
