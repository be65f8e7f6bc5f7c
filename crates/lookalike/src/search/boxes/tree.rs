//! A k-d tree over groups. Its nodes know, for each attribute, how far every group below them
//! reaches at least and at most; searches in it (`nearest.rs`) skip nodes by that.
//!
//! Groups may grow, shrink and vanish: [`BoxTree::touch`] loosens the nodes above so that they stay
//! true. A caller that finds them too loose builds the tree anew.

use rayon::prelude::*;

use crate::codes::{Code, CodeRange, real};
use crate::search::boxes::{Boxes, bit};

/// Groups in a leaf: so many are not split further. Greater: a smaller tree, less pruning.
const LEAF: usize = if cfg!(test) { 2 } else { 6 };

/// From this many groups on the two sides of a split are built in parallel. Smaller under test, so
/// that small tables come here.
const PARALLEL: usize = if cfg!(test) { 16 } else { 4096 };

/// Weight of a cut on a line against one on another attribute: the two sides of a cut on a line are
/// not as far apart as their ends, most rows lie nearer to it.
const LINE_WEIGHT: f64 = 0.3;

/// The tree. Nodes in preorder: the left child follows its parent.
#[derive(Debug)]
pub(crate) struct BoxTree {
    pub(super) nodes: Vec<BoxNode>,
    /// One a node and attribute.
    pub(super) reaches: Vec<NodeReach>,
    /// One a node and attribute; empty where the groups' values are not known.
    contents: Vec<NodeContent>,
    /// The groups, leaf by leaf.
    pub(super) order: Vec<u32>,
    /// The leaf of each group.
    leaf_of: Vec<u32>,
}

/// A node of the tree. Its numbers are bounds that hold for all of its groups; they need not be
/// sharp.
#[derive(Clone, Debug)]
pub(crate) struct BoxNode {
    /// The distance to its right child in nodes; 0 for a leaf.
    pub(super) right: u32,
    /// The distance back to its parent in nodes; 0 for the root.
    up: u32,
    /// The groups of a leaf in `order`.
    pub(super) first: u32,
    pub(super) count: u32,
    /// The groups that have rows.
    pub(super) alive: u32,
    pub(crate) least_group: u32,
    pub(super) least_rows: u64,
    pub(crate) most_rows: u64,
    /// The least loss of a row of a group.
    pub(super) least_own: f64,
}

/// The reach of the groups below a node on one attribute. A tree of many groups has many of these,
/// so they are kept small.
#[derive(Clone, Copy, Debug)]
pub(super) struct NodeReach {
    /// No group begins later.
    pub(super) last_lo: Code,
    /// No group ends sooner.
    pub(super) first_hi: Code,
    /// The least and the greatest loss of a row of a group on this attribute.
    pub(super) least: f32,
    pub(super) most: f32,
    /// The values of groups that publish one value, each as one of 64 bits: no group publishes a
    /// value alone whose bit is not set.
    pub(super) alone: u64,
}

/// The values of the rows below a node on one attribute.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NodeContent {
    pub(crate) range: CodeRange,
    /// Each value as one of 64 bits.
    pub(crate) values: u64,
}

impl BoxTree {
    /// The tree of all groups that have rows.
    pub(crate) fn build(boxes: &Boxes) -> BoxTree {
        let mut order: Vec<u32> =
            (0u32..).take(boxes.len()).filter(|&group| boxes.rows(group) > 0).collect();
        let nodes = if order.is_empty() { Vec::new() } else { grow(boxes, &mut order) };
        let width = boxes.penalty.width();
        let contents = if boxes.has_values() {
            vec![NodeContent::NONE; nodes.len() * width]
        } else {
            Vec::new()
        };
        let reaches = vec![NodeReach::NONE; nodes.len() * width];
        let mut tree = BoxTree { nodes, reaches, contents, order, leaf_of: vec![0; boxes.len()] };
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
                let BoxNode { first, count, .. } = tree.nodes[at];
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

    /// Updates the tree after a group changed its ranges or rows.
    pub(crate) fn touch(&mut self, boxes: &Boxes, group: u32) {
        let mut next = Some(self.leaf_of[group as usize] as usize);
        while let Some(at) = next {
            self.loosen(boxes, at, group);
            next = self.parent(at);
        }
    }

    /// Updates the tree after a group lost all rows.
    pub(crate) fn remove(&mut self, group: u32) {
        self.climb(group, |node| node.alive -= 1);
    }

    /// Updates the tree after a group without rows got some again.
    pub(crate) fn revive(&mut self, boxes: &Boxes, group: u32) {
        self.climb(group, |node| node.alive += 1);
        self.touch(boxes, group);
    }

    /// Changes every node above a group.
    fn climb(&mut self, group: u32, mut change: impl FnMut(&mut BoxNode)) {
        let mut next = Some(self.leaf_of[group as usize] as usize);
        while let Some(at) = next {
            change(&mut self.nodes[at]);
            next = self.parent(at);
        }
    }

    fn parent(&self, at: usize) -> Option<usize> {
        (self.nodes[at].up > 0).then(|| at - self.nodes[at].up as usize)
    }

    /// Loosens the bounds of a node until they hold for a group.
    fn loosen(&mut self, boxes: &Boxes, at: usize, group: u32) {
        let node = &mut self.nodes[at];
        node.least_rows = node.least_rows.min(boxes.rows(group));
        node.most_rows = node.most_rows.max(boxes.rows(group));
        node.least_own = node.least_own.min(boxes.own(group));
        let width = boxes.penalty.width();
        for (attribute, &range) in boxes.ranges(group).iter().enumerate() {
            self.reaches[at * width + attribute]
                .join(&NodeReach::of(range, boxes.penalty.of(attribute, range)));
            if let Some(content) = self.contents.get_mut(at * width + attribute) {
                content.join(&NodeContent { range, values: boxes.values(group, attribute) });
            }
        }
    }

    /// Loosens the bounds of a node until they hold for all groups below another.
    fn join(&mut self, at: usize, other: usize, width: usize) {
        let BoxNode { least_rows, most_rows, least_own, .. } = self.nodes[other];
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
    pub(crate) fn node(&self, at: usize) -> &BoxNode {
        &self.nodes[at]
    }

    /// The values of the rows below a node, by attribute; only where the groups' values are known.
    pub(crate) fn contents(&self, at: usize, width: usize) -> &[NodeContent] {
        &self.contents[at * width..][..width]
    }
}

impl NodeReach {
    /// The reach before any group is joined.
    const NONE: NodeReach =
        NodeReach { last_lo: 0, first_hi: Code::MAX, least: f32::INFINITY, most: 0.0, alone: 0 };

    #[allow(clippy::cast_possible_truncation, reason = "rounded towards where it stays true")]
    fn of(range: CodeRange, loss: f64) -> NodeReach {
        let near = loss as f32;
        let least = if f64::from(near) > loss { near.next_down() } else { near };
        let most = if f64::from(near) < loss { near.next_up() } else { near };
        NodeReach { last_lo: range.lo, first_hi: range.hi, least, most, alone: alone(range) }
    }

    fn join(&mut self, other: &NodeReach) {
        self.last_lo = self.last_lo.max(other.last_lo);
        self.first_hi = self.first_hi.min(other.first_hi);
        self.least = self.least.min(other.least);
        self.most = self.most.max(other.most);
        self.alone |= other.alone;
    }
}

impl NodeContent {
    /// The content before any group is joined.
    const NONE: NodeContent = NodeContent { range: CodeRange { lo: Code::MAX, hi: 0 }, values: 0 };

    fn join(&mut self, other: &NodeContent) {
        self.range = self.range.join(other.range);
        self.values |= other.values;
    }
}

/// The bit of a range that is one value, none for any other.
pub(super) fn alone(range: CodeRange) -> u64 {
    if range.is_one() { bit(range.lo) } else { 0 }
}

/// The nodes over these groups, root first, as if their groups had no rows yet; puts the groups in
/// the order of the leaves.
fn grow(boxes: &Boxes, groups: &mut [u32]) -> Vec<BoxNode> {
    let size = |len: usize| u32::try_from(len).expect("there are fewer groups than rows");
    let alive = size(groups.len());
    let mut root = BoxNode {
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

/// Splits the groups in two near the median: by their place on an attribute or by their loss on it,
/// whichever sets more groups farther apart. Returns the number of groups on the first side.
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
                * if boxes.penalty.is_line(key % width) { LINE_WEIGHT } else { 1.0 },
            balance,
            key,
            middle,
        )
    };
    // Where any two values lose the same, the place of a group decides its loss.
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
    /// The sort keys of a group: for each attribute its place, then for each the loss of its rows
    /// on it.
    fn key(&self, group: u32, key: usize) -> u64 {
        let width = self.penalty.width();
        let range = self.ranges(group)[key % width];
        if key >= width {
            // Numbers of one sign sort like their bits.
            self.penalty.of(key - width, range).abs().to_bits()
        } else if self.penalty.is_flat(key) && !range.is_one() {
            // Where any two values lose the same, all ranges are as good as one.
            u64::MAX
        } else {
            u64::from(range.lo) + u64::from(range.hi)
        }
    }

    /// How far apart two keys are, in penalty.
    fn apart(&self, key: usize, least: u64, most: u64) -> f64 {
        let width = self.penalty.width();
        let code =
            |centre: u64| Code::try_from(centre / 2).expect("a centre lies between two codes");
        if key >= width {
            f64::from_bits(most) - f64::from_bits(least)
        } else if self.penalty.is_flat(key) {
            self.penalty.step(key, 0)
        } else {
            self.penalty.of(key, CodeRange { lo: code(least), hi: code(most) })
        }
    }
}
