//! A tree over groups that finds the cheapest partner of a group without looking at all of them,
//! exactly.
//!
//! A k-d tree whose nodes know, for each attribute, how far every group below them reaches at least
//! and at most. The penalty never falls as a range grows, so from these a node says what joining
//! any of its groups costs at least; it is skipped when that is no better than what was found.
//! Groups may grow, shrink and vanish: [`Tree::touch`] loosens the nodes above so that they stay
//! true, and whoever finds them too loose builds the tree anew.

use rayon::prelude::*;

use crate::codes::{Code, CodeRange, real};
use crate::rng::Rng;
use crate::search::boxes::{Boxes, Objective, bit};

/// Up to this many groups a node is not split further.
const LEAF: usize = if cfg!(test) { 2 } else { 6 };

/// From this many groups on the two sides of a split are built in parallel.
const PARALLEL: usize = if cfg!(test) { 16 } else { 4096 };

/// On a line, the two sides of a cut are not as far apart as their ends: most rows lie nearer to
/// it.
const NEAR: f64 = 0.3;

/// A bound on what all rows of a union pay more is a sum of products: it may come out greater than
/// the exact value by a few units in the last place. So much less is believed.
const ROUNDING: f64 = 1.0 - 1e-12;

/// A partner that was found: the least value first, then fewer rows, then the lower number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Partner {
    pub(crate) value: f64,
    pub(crate) rows: u64,
    pub(crate) group: u32,
}

impl Partner {
    /// How good a group is as partner of another.
    pub(crate) fn of(boxes: &Boxes, objective: Objective, group: u32, with: u32) -> Partner {
        Partner { value: boxes.value(objective, group, with), rows: boxes.rows(with), group: with }
    }

    /// The best of a partner and of some other groups, as far as they are not gone.
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

/// Who looks for groups to join.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seeker<'a> {
    /// The group it belongs to, which is not among those it looks for.
    pub(crate) group: u32,
    pub(crate) objective: Objective,
    pub(crate) rows: u64,
    pub(crate) ranges: &'a [CodeRange],
    pub(crate) lots: u64,
}

/// The tree. Nodes in preorder: the left child follows its parent.
#[derive(Debug)]
pub(crate) struct Tree {
    nodes: Vec<Node>,
    /// One a node and attribute.
    reaches: Vec<Reach>,
    /// One a node and attribute; empty where the groups' values are not known.
    contents: Vec<Content>,
    /// The groups, leaf by leaf.
    order: Vec<u32>,
    /// The leaf of each group.
    leaf_of: Vec<u32>,
}

/// A node of the tree. What it says of its groups is true of all of them, perhaps more than true.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// How many nodes behind this one its right child stands; 0 for a leaf.
    right: u32,
    /// How many nodes before this one its parent stands; 0 for the root.
    up: u32,
    /// The groups of a leaf in `order`.
    first: u32,
    count: u32,
    /// How many groups are not gone.
    alive: u32,
    pub(crate) least_group: u32,
    least_rows: u64,
    pub(crate) most_rows: u64,
    /// No row of a group pays less.
    least_own: f64,
}

/// How far the groups below a node reach on one attribute. A tree of many groups has many of these,
/// so they are kept small.
#[derive(Clone, Copy, Debug)]
struct Reach {
    /// No group begins later.
    last_lo: Code,
    /// No group ends sooner.
    first_hi: Code,
    /// What a row of a group pays on this attribute, at least and at most.
    least: f32,
    most: f32,
    /// The values of groups that show one value, each as one of 64 bits: what is not here, no group
    /// shows alone.
    alone: u64,
}

/// Which values the rows below a node have on one attribute.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Content {
    pub(crate) range: CodeRange,
    /// As bits.
    pub(crate) values: u64,
}

impl Tree {
    /// The tree of all groups that have rows.
    pub(crate) fn build(boxes: &Boxes) -> Tree {
        let mut order: Vec<u32> =
            (0u32..).take(boxes.len()).filter(|&group| boxes.rows(group) > 0).collect();
        let nodes = if order.is_empty() { Vec::new() } else { grow(boxes, &mut order) };
        let width = boxes.penalty.width();
        let contents =
            if boxes.has_values() { vec![Content::NONE; nodes.len() * width] } else { Vec::new() };
        let reaches = vec![Reach::NONE; nodes.len() * width];
        let mut tree = Tree { nodes, reaches, contents, order, leaf_of: vec![0; boxes.len()] };
        let mut first = 0;
        for (at, node) in (0u32..).zip(&mut tree.nodes).filter(|(_, node)| node.right == 0) {
            node.first = first;
            for &group in &tree.order[first as usize..][..node.count as usize] {
                tree.leaf_of[group as usize] = at;
            }
            first += node.count;
        }
        // Children stand behind their parents.
        for at in (0..tree.nodes.len()).rev() {
            if tree.nodes[at].right == 0 {
                let Node { first, count, .. } = tree.nodes[at];
                for place in first..first + count {
                    tree.loosen(boxes, at, tree.order[place as usize]);
                }
            }
            if let Some(parent) = tree.parent(at) {
                tree.join(parent, at, width);
            }
        }
        tree
    }

    /// Takes note that a group shows something else or has other rows than before.
    pub(crate) fn touch(&mut self, boxes: &Boxes, group: u32) {
        let mut next = Some(self.leaf_of[group as usize] as usize);
        while let Some(at) = next {
            self.loosen(boxes, at, group);
            next = self.parent(at);
        }
    }

    /// Takes note that a group is gone.
    pub(crate) fn remove(&mut self, group: u32) {
        self.climb(group, |node| node.alive -= 1);
    }

    /// Takes note that a group that was gone has rows again.
    pub(crate) fn revive(&mut self, boxes: &Boxes, group: u32) {
        self.climb(group, |node| node.alive += 1);
        self.touch(boxes, group);
    }

    /// Does something to every node above a group.
    fn climb(&mut self, group: u32, mut change: impl FnMut(&mut Node)) {
        let mut next = Some(self.leaf_of[group as usize] as usize);
        while let Some(at) = next {
            change(&mut self.nodes[at]);
            next = self.parent(at);
        }
    }

    fn parent(&self, at: usize) -> Option<usize> {
        (self.nodes[at].up > 0).then(|| at - self.nodes[at].up as usize)
    }

    /// Makes what a node says true of a group.
    fn loosen(&mut self, boxes: &Boxes, at: usize, group: u32) {
        let node = &mut self.nodes[at];
        node.least_rows = node.least_rows.min(boxes.rows(group));
        node.most_rows = node.most_rows.max(boxes.rows(group));
        node.least_own = node.least_own.min(boxes.own(group));
        let width = boxes.penalty.width();
        for (attribute, &range) in boxes.ranges(group).iter().enumerate() {
            self.reaches[at * width + attribute]
                .join(&Reach::of(range, boxes.penalty.of(attribute, range)));
            if let Some(content) = self.contents.get_mut(at * width + attribute) {
                content.join(&Content { range, values: boxes.values(group, attribute) });
            }
        }
    }

    /// Makes what a node says true of all that another says.
    fn join(&mut self, at: usize, other: usize, width: usize) {
        let Node { least_rows, most_rows, least_own, .. } = self.nodes[other];
        let node = &mut self.nodes[at];
        node.least_rows = node.least_rows.min(least_rows);
        node.most_rows = node.most_rows.max(most_rows);
        node.least_own = node.least_own.min(least_own);
        for attribute in 0..width {
            let reach = self.reaches[other * width + attribute];
            self.reaches[at * width + attribute].join(&reach);
            if !self.contents.is_empty() {
                let content = self.contents[other * width + attribute];
                self.contents[at * width + attribute].join(&content);
            }
        }
    }

    /// A node of the tree.
    pub(crate) fn node(&self, at: usize) -> &Node {
        &self.nodes[at]
    }

    /// Which values the rows below a node have; only where the groups' values are known.
    pub(crate) fn contents(&self, at: usize, width: usize) -> &[Content] {
        &self.contents[at * width..][..width]
    }

    /// The best partner of a group; none when there is no other.
    pub(crate) fn partner(
        &self,
        boxes: &Boxes,
        objective: Objective,
        group: u32,
    ) -> Option<Partner> {
        let probes: Vec<Probe> = boxes
            .ranges(group)
            .iter()
            .enumerate()
            .map(|(at, &range)| Probe::new(boxes, at, range))
            .collect();
        let limit = |best: &Option<Partner>| best.map_or(f64::INFINITY, |best| best.value);
        let rows = boxes.rows(group);
        let bound = |best: &Option<Partner>, at: usize| {
            self.least_value(boxes, objective, rows, &probes, at, limit(best))
        };
        let skips = |best: &Option<Partner>, value: f64, at: usize| {
            let Node { least_rows, least_group, .. } = self.nodes[at];
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

    /// A few groups that it costs least to join for so many rows with these ranges, the cheapest
    /// first. Each cost is first made dearer or cheaper by lot, by up to half of `noise`: who asks
    /// again gets others.
    pub(crate) fn several(
        &self,
        boxes: &Boxes,
        seeker: &Seeker,
        noise: f64,
        most: usize,
    ) -> Vec<u32> {
        let Seeker { group, objective, rows, ranges, lots } = *seeker;
        let probes: Vec<Probe> =
            ranges.iter().enumerate().map(|(at, &range)| Probe::new(boxes, at, range)).collect();
        let (mut best, least) = (Vec::new(), 1.0 - noise / 2.0);
        let limit = |best: &Vec<(f64, u32)>| {
            if best.len() == most { best[most - 1].0 } else { f64::INFINITY }
        };
        let bound = |best: &Vec<(f64, u32)>, at: usize| {
            self.least_value(boxes, objective, rows, &probes, at, limit(best) / least) * least
        };
        let skips = |best: &Vec<(f64, u32)>, value: f64, _| value >= limit(best);
        self.seek(boxes, &mut best, &bound, &skips, &mut |best, other| {
            let factor = least + noise * Rng::unit_of(lots, u64::from(other));
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

    /// Meets every group that is not gone, but for those below nodes that are skipped: `bound` says
    /// what a node can offer at best, `skips` whether that is too little after all that was met.
    /// The side that promises more comes first.
    pub(crate) fn seek<S>(
        &self,
        boxes: &Boxes,
        found: &mut S,
        bound: &impl Fn(&S, usize) -> f64,
        skips: &impl Fn(&S, f64, usize) -> bool,
        meet: &mut impl FnMut(&mut S, u32),
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
                        meet(found, group);
                    }
                }
                continue;
            }
            let (left, right) = (at + 1, at + node.right as usize);
            let (of_left, of_right) = (bound(found, left), bound(found, right));
            // The last one in is the first one out; of two that promise the same, the one with the
            // lower number.
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

    /// What joining a group of so many rows with any group below a node costs at least; when that
    /// is more than `limit`, perhaps less than it could say.
    fn least_value(
        &self,
        boxes: &Boxes,
        objective: Objective,
        rows: u64,
        probes: &[Probe],
        at: usize,
        limit: f64,
    ) -> f64 {
        let node = &self.nodes[at];
        let (rows, there, own, sure) = match objective {
            Objective::Table => (real(rows), real(node.least_rows), node.least_own, ROUNDING),
            // No more than the sum itself, to the last bit.
            Objective::Row => (1.0, 0.0, 0.0, 1.0),
        };
        // What many rows pay more is a difference, and its rounding grows with what they paid
        // before.
        let slack = if objective == Objective::Table {
            real(node.most_rows) * boxes.penalty.rounding()
        } else {
            0.0
        };
        let (mut value, mut more) = (0.0, 0.0);
        for (reach, probe) in self.reaches[at * probes.len()..].iter().zip(probes) {
            let pays = probe.least(boxes, reach);
            let grows = (pays - f64::from(reach.most)).max(0.0);
            value += rows * pays + there * grows;
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

/// What a group that looks for a partner shows on one attribute.
struct Probe {
    attribute: usize,
    range: CodeRange,
    bit: u64,
    /// What it pays at least with a group that does not show just the same value.
    step: f64,
    is_flat: bool,
}

impl Probe {
    fn new(boxes: &Boxes, attribute: usize, range: CodeRange) -> Probe {
        let step = if range.is_one() {
            boxes.penalty.step(attribute, range.lo)
        } else {
            boxes.penalty.of(attribute, range)
        };
        Probe {
            attribute,
            range,
            bit: alone(range),
            step,
            is_flat: boxes.penalty.is_flat(attribute),
        }
    }

    /// What a row pays at least on this attribute if the group joins any that reaches so far.
    #[inline]
    fn least(&self, boxes: &Boxes, reach: &Reach) -> f64 {
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
        let pays = boxes.penalty.of(self.attribute, least).max(f64::from(reach.least));
        if is_alone { pays.max(self.step) } else { pays }
    }
}

impl Reach {
    /// Of no group.
    const NONE: Reach =
        Reach { last_lo: 0, first_hi: Code::MAX, least: f32::INFINITY, most: 0.0, alone: 0 };

    #[allow(clippy::cast_possible_truncation, reason = "rounded towards where it stays true")]
    fn of(range: CodeRange, pays: f64) -> Reach {
        let near = pays as f32;
        let least = if f64::from(near) > pays { near.next_down() } else { near };
        let most = if f64::from(near) < pays { near.next_up() } else { near };
        Reach { last_lo: range.lo, first_hi: range.hi, least, most, alone: alone(range) }
    }

    fn join(&mut self, other: &Reach) {
        self.last_lo = self.last_lo.max(other.last_lo);
        self.first_hi = self.first_hi.min(other.first_hi);
        self.least = self.least.min(other.least);
        self.most = self.most.max(other.most);
        self.alone |= other.alone;
    }
}

impl Content {
    /// Of no group.
    const NONE: Content = Content { range: CodeRange { lo: Code::MAX, hi: 0 }, values: 0 };

    fn join(&mut self, other: &Content) {
        self.range = self.range.join(other.range);
        self.values |= other.values;
    }
}

/// The bit of a range that is one value, none for any other.
fn alone(range: CodeRange) -> u64 {
    if range.is_one() { bit(range.lo) } else { 0 }
}

/// The nodes over these groups, root first, as if their groups had no rows yet; puts the groups in
/// the order of the leaves.
fn grow(boxes: &Boxes, groups: &mut [u32]) -> Vec<Node> {
    let size = |len: usize| u32::try_from(len).expect("there are fewer groups than rows");
    let alive = size(groups.len());
    let mut root = Node {
        right: 0,
        up: 0,
        first: 0,
        count: alive,
        alive,
        least_group: *groups.iter().min().expect("a node has groups"),
        least_rows: u64::MAX,
        most_rows: 0,
        least_own: f64::INFINITY,
    };
    if groups.len() <= LEAF {
        return vec![root];
    }
    let middle = cut(boxes, groups);
    let (left, right) = groups.split_at_mut(middle);
    let (mut left, mut right) = if left.len() + right.len() < PARALLEL {
        (grow(boxes, left), grow(boxes, right))
    } else {
        rayon::join(|| grow(boxes, left), || grow(boxes, right))
    };
    root.count = 0;
    root.right = size(left.len() + 1);
    left[0].up = 1;
    right[0].up = root.right;
    let mut nodes = Vec::with_capacity(1 + left.len() + right.len());
    nodes.push(root);
    nodes.append(&mut left);
    nodes.append(&mut right);
    nodes
}

/// Splits the groups in two as near to the median as can be: by where they lie on an attribute or
/// by what they pay on it, whichever sets more groups further apart. Says how many groups come
/// first.
fn cut(boxes: &Boxes, groups: &mut [u32]) -> usize {
    let width = boxes.penalty.width();
    let half = groups.len() / 2;
    let of_key = |key: usize| {
        let mut keys: Vec<u64> = groups.iter().map(|&group| boxes.key(group, key)).collect();
        let median = *keys.select_nth_unstable(half).1;
        let (mut below, mut up_to, mut least, mut most) = (0, 0, median, median);
        for key in keys {
            below += usize::from(key < median);
            up_to += usize::from(key <= median);
            least = least.min(key);
            most = most.max(key);
        }
        let middle = if half - below <= up_to - half && below > 0 || up_to == groups.len() {
            below
        } else {
            up_to
        };
        let balance = real(middle.min(groups.len() - middle) as u64);
        (
            boxes.apart(key, least, most)
                * balance
                * if boxes.penalty.is_line(key % width) { NEAR } else { 1.0 },
            balance,
            key,
            middle,
        )
    };
    // Where any two values cost the same, where a group lies says what it pays.
    let keys: Vec<usize> =
        (0..2 * width).filter(|&key| key < width || !boxes.penalty.is_flat(key - width)).collect();
    let cuts: Vec<(f64, f64, usize, usize)> = if groups.len() < PARALLEL {
        keys.into_iter().map(of_key).collect()
    } else {
        keys.into_par_iter().map(of_key).collect()
    };
    let best = cuts
        .into_iter()
        .reduce(|best, other| if (other.0, other.1) > (best.0, best.1) { other } else { best });
    match best {
        Some((_, balance, key, middle)) if balance > 0.0 => {
            groups.select_nth_unstable_by_key(middle, |&group| (boxes.key(group, key), group));
            middle
        }
        // All lie in one place.
        _ => {
            groups.sort_unstable();
            half
        }
    }
}

impl Boxes<'_> {
    /// What a group is sorted by: for each attribute where it lies, then for each what its rows pay
    /// on it.
    fn key(&self, group: u32, key: usize) -> u64 {
        let width = self.penalty.width();
        let range = self.ranges(group)[key % width];
        match key < width {
            // Where any two values cost the same, all ranges are as good as one.
            true if self.penalty.is_flat(key) && !range.is_one() => u64::MAX,
            true => u64::from(range.lo) + u64::from(range.hi),
            // Numbers of one sign stand in the order of their bits.
            false => self.penalty.of(key - width, range).abs().to_bits(),
        }
    }

    /// How far apart two keys are, in penalty.
    fn apart(&self, key: usize, least: u64, most: u64) -> f64 {
        let width = self.penalty.width();
        let code =
            |centre: u64| Code::try_from(centre / 2).expect("a centre lies between two codes");
        match key < width {
            true if self.penalty.is_flat(key) => self.penalty.step(key, 0),
            true => self.penalty.of(key, CodeRange { lo: code(least), hi: code(most) }),
            false => f64::from_bits(most) - f64::from_bits(least),
        }
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
            let mut tree = Tree::build(&boxes);
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
    fn several_are_the_cheapest_of_all_after_groups_have_gone_and_come_back() {
        for seed in 0..30 {
            let problem = problem(seed);
            let penalty = Penalty::new(problem.attributes(), &[0, 1, 2]);
            let mut boxes = points(&problem, &penalty);
            let mut tree = Tree::build(&boxes);
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
                    let seeker = Seeker { group: other, objective, rows, ranges: &ranges, lots: 7 };
                    let found: Vec<f64> =
                        tree.several(&boxes, &seeker, 0.0, 4).into_iter().map(value).collect();
                    assert_eq!(
                        found,
                        all[..all.len().min(4)],
                        "seed {seed}, step {step}, {objective:?}"
                    );
                    // With noise they are others, but none much dearer.
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
        assert!(Tree::build(&boxes).partner(&boxes, Objective::Table, 0).is_none());
        assert!(
            Tree::build(&Boxes::of(&penalty, Vec::new(), std::iter::empty()))
                .partner(&boxes, Objective::Table, 0)
                .is_none()
        );
    }

    #[test]
    fn most_of_the_tree_is_skipped() {
        let problem = problem(2);
        let penalty = Penalty::new(problem.attributes(), &[0, 1, 2]);
        let boxes = points(&problem, &penalty);
        let tree = Tree::build(&boxes);
        let mut met = 0;
        for group in (0u32..).take(boxes.len()) {
            let probes: Vec<Probe> =
                (0..3).map(|at| Probe::new(&boxes, at, boxes.ranges(group)[at])).collect();
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
