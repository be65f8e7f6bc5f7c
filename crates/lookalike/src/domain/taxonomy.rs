//! A tree of values whose leaves are numbered from left to right, so that every node is one range
//! of codes.
//!
//! The least common ancestor of any set of leaves is that of its least and its greatest code: a
//! node that contains both ends contains everything between them. The published value of a class is
//! therefore found from two codes.

use rustc_hash::FxHashMap;

use crate::codes::{Code, CodeRange};

/// The number of a node of a [`Taxonomy`]. The leaf with code `c` is node `c`; a parent has a
/// greater number than its children.
pub type Node = u32;

/// Steps from a leaf to the root of a tree that was stored: searches walk trees by recursion.
const MOST_STEPS: u32 = 1_000;

/// A value generalization hierarchy. A missing value is a leaf with an empty label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taxonomy {
    leaves: usize,
    /// By node.
    labels: Vec<String>,
    /// By node; the root is its own parent.
    parents: Vec<Node>,
    /// By inner node, the first one at 0.
    ranges: Vec<CodeRange>,
    /// By inner node, the first one at 0.
    levels: Vec<u32>,
}

impl Taxonomy {
    /// All leaves under one root, whose label must not be that of a leaf. Panics without leaves.
    pub fn flat(leaves: Vec<String>, root: &str) -> Taxonomy {
        assert!(!leaves.is_empty(), "a tree has leaves");
        let count = leaves.len();
        let top = node(count);
        let mut labels = leaves;
        labels.push(root.to_owned());
        labels.shrink_to_fit();
        let ranges = vec![CodeRange { lo: 0, hi: top - 1 }];
        Taxonomy { leaves: count, labels, parents: vec![top; count + 1], ranges, levels: vec![1] }
    }

    /// The tree of these parts: labels and parents by node, levels by inner node. The reason why
    /// they are no tree otherwise.
    pub(super) fn from_parts(
        leaves: usize,
        labels: Vec<String>,
        parents: Vec<Node>,
        levels: Vec<u32>,
    ) -> std::result::Result<Taxonomy, &'static str> {
        let nodes = labels.len();
        if leaves == 0 || leaves > nodes || parents.len() != nodes || levels.len() != nodes - leaves
        {
            return Err("a tree has leaves, a parent for each node, a level for each inner node");
        }
        let root = nodes - 1;
        let is_below = |(node, &parent): (usize, &Node)| {
            let parent = parent as usize;
            if node == root {
                parent == root
            } else {
                node < parent && leaves <= parent && parent < nodes
            }
        };
        if u32::try_from(nodes).is_err() || !parents.iter().enumerate().all(is_below) {
            return Err("a parent in a tree comes after its children, and the root is the last");
        }
        let mut found: Vec<Option<CodeRange>> = vec![None; nodes];
        let mut sizes = vec![0_usize; nodes];
        let mut steps = vec![0; nodes];
        for at in 0..nodes {
            if at < leaves {
                (found[at], sizes[at]) = (Some(CodeRange::one(node(at))), 1);
            }
            let Some(range) = found[at] else { return Err("an inner node of a tree has children") };
            if sizes[at] != (range.hi - range.lo) as usize + 1 {
                return Err("the leaves below a node of a tree stand side by side");
            }
            let above = parents[at] as usize;
            if at == root {
                break;
            }
            let level = |at: usize| at.checked_sub(leaves).map_or(0, |inner| levels[inner]);
            if level(above) <= level(at) {
                return Err("a parent in a tree has a greater level than its children");
            }
            found[above] = Some(found[above].map_or(range, |joined| joined.join(range)));
            sizes[above] += sizes[at];
            steps[above] = steps[above].max(steps[at] + 1);
            if steps[above] > MOST_STEPS {
                return Err("a tree has at most 1000 levels");
            }
        }
        let mut values: Vec<&String> = labels[..leaves].iter().collect();
        values.sort_unstable();
        if values.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err("the leaves of a tree have different labels");
        }
        let ranges = found[leaves..].iter().flatten().copied().collect();
        Ok(Taxonomy { leaves, labels, parents, ranges, levels })
    }

    /// The number of leaves; all codes are below it.
    pub fn leaves(&self) -> usize {
        self.leaves
    }

    /// The number of nodes, with the leaves and the root.
    pub fn nodes(&self) -> usize {
        self.labels.len()
    }

    /// The node above all others.
    pub fn root(&self) -> Node {
        node(self.labels.len() - 1)
    }

    /// The label of a leaf: the value itself.
    pub fn leaf_label(&self, code: Code) -> &str {
        debug_assert!((code as usize) < self.leaves, "a code is a leaf");
        self.label(code)
    }

    /// The label of a node: the published value for its range.
    pub fn label(&self, node: Node) -> &str {
        &self.labels[node as usize]
    }

    /// The leaves below a node.
    pub fn range(&self, node: Node) -> CodeRange {
        match (node as usize).checked_sub(self.leaves) {
            None => CodeRange::one(node),
            Some(inner) => self.ranges[inner],
        }
    }

    /// The node one step up; none for the root.
    pub fn parent(&self, node: Node) -> Option<Node> {
        let parent = self.parents[node as usize];
        (parent != node).then_some(parent)
    }

    /// The nodes one step down, from left to right.
    pub fn children(&self, node: Node) -> impl Iterator<Item = Node> + '_ {
        let range = self.range(node);
        // A leaf has no children: start it behind its end.
        let mut next = if (node as usize) < self.leaves { range.hi + 1 } else { range.lo };
        std::iter::from_fn(move || {
            if next > range.hi {
                return None;
            }
            let mut child = next;
            while self.parents[child as usize] != node {
                child = self.parents[child as usize];
            }
            next = self.range(child).hi + 1;
            Some(child)
        })
    }

    /// The smallest node whose leaves include the range: for one code the leaf, else the least
    /// common ancestor of its ends. Takes as many steps as the tree is deep.
    pub fn cover(&self, range: CodeRange) -> Node {
        debug_assert!(
            range.lo <= range.hi && (range.hi as usize) < self.leaves,
            "a range of codes of this tree"
        );
        let mut node = range.lo;
        while self.range(node).hi < range.hi {
            node = self.parents[node as usize];
        }
        node
    }

    /// Levels from a leaf to the root.
    pub fn height(&self) -> u32 {
        self.level(self.root())
    }

    /// The level of a node: 0 for a leaf, more for a parent than for its children. For
    /// a file, the first column that has it, so that a path padded by repetition skips levels.
    pub fn level(&self, node: Node) -> u32 {
        match (node as usize).checked_sub(self.leaves) {
            None => 0,
            Some(inner) => self.levels[inner],
        }
    }

    /// The number of levels from a leaf up to `node`, one of its ancestors or itself.
    pub fn levels_up(&self, code: Code, node: Node) -> u32 {
        debug_assert!(self.range(node).contains(code), "only to an ancestor of the leaf");
        self.level(node)
    }

    /// The published value of a leaf when the whole column is generalized to `level`: its highest
    /// ancestor at or below that level.
    pub fn at_level(&self, code: Code, level: u32) -> Node {
        let mut node = code;
        while let Some(parent) = self.parent(node)
            && self.level(parent) <= level
        {
            node = parent;
        }
        node
    }

    /// The labels and parents of all nodes, and the levels of the inner ones.
    pub(super) fn parts(&self) -> (&[String], &[Node], &[u32]) {
        (&self.labels, &self.parents, &self.levels)
    }

    /// True when every leaf lies directly below the root.
    pub fn is_flat(&self) -> bool {
        self.labels.len() == self.leaves + 1
    }

    /// The leaf of each value, none where the tree does not have it. A missing value is the leaf
    /// with the empty label.
    pub fn codes(&self, values: &[Option<String>]) -> Vec<Option<Code>> {
        let of_label: FxHashMap<&str, Code> =
            (0..self.leaves).map(|leaf| (self.labels[leaf].as_str(), node(leaf))).collect();
        values.iter().map(|value| of_label.get(value.as_deref().unwrap_or("")).copied()).collect()
    }
}

/// A tree under construction: every parent before its children, siblings from left to right.
#[derive(Debug, Default)]
pub(crate) struct TreeBuilder {
    pub(crate) labels: Vec<String>,
    /// The root, at 0, is its own parent.
    pub(crate) parents: Vec<u32>,
    /// Greater for a parent than for its children. Of no effect for a node without children: it is
    /// a leaf, at level 0.
    pub(crate) levels: Vec<u32>,
}

impl TreeBuilder {
    /// Adds a node and returns its place.
    pub(crate) fn push(&mut self, label: &str, parent: u32, level: u32) -> u32 {
        let place = node(self.labels.len());
        debug_assert!(parent < place || place == 0, "a parent comes first");
        self.labels.push(label.to_owned());
        self.parents.push(parent);
        self.levels.push(level);
        place
    }

    /// The tree, and for each place in the builder its node. The numbers of the nodes depend on the
    /// tree alone, not on the order of `push`.
    pub(crate) fn build(mut self) -> (Taxonomy, Vec<Node>) {
        let count = self.labels.len();
        let parent = |place: usize| self.parents[place] as usize;
        let mut inner = vec![false; count];
        (1..count).for_each(|place| inner[parent(place)] = true);
        // Leaves below each place: children come after their parents, so one pass backwards sums
        // them up.
        let mut sizes: Vec<u32> = inner.iter().map(|&inner| u32::from(!inner)).collect();
        (1..count).rev().for_each(|place| sizes[parent(place)] += sizes[place]);
        // The first leaf of each place: one pass forwards hands every child the next free stretch
        // of its parent.
        let mut los = vec![0; count];
        let mut free = vec![0; count];
        for place in 1..count {
            los[place] = free[parent(place)];
            free[parent(place)] += sizes[place];
            free[place] = los[place];
        }
        let range = |place: usize| CodeRange { lo: los[place], hi: los[place] + sizes[place] - 1 };
        let mut inner: Vec<usize> = (0..count).filter(|&place| inner[place]).collect();
        inner.sort_by_key(|&place| {
            (std::cmp::Reverse(los[place]), sizes[place], self.levels[place])
        });

        let leaves = count - inner.len();
        let mut nodes = los.clone();
        inner.iter().enumerate().for_each(|(rank, &place)| nodes[place] = node(leaves + rank));
        let mut labels = vec![String::new(); count];
        let mut parents = vec![0; count];
        for place in 0..count {
            labels[nodes[place] as usize] = std::mem::take(&mut self.labels[place]);
            parents[nodes[place] as usize] = nodes[self.parents[place] as usize];
        }
        let ranges = inner.iter().map(|&place| range(place)).collect();
        let levels = inner.iter().map(|&place| self.levels[place]).collect();
        (Taxonomy { leaves, labels, parents, ranges, levels }, nodes)
    }
}

fn node(index: usize) -> Node {
    Node::try_from(index).expect("a tree has fewer than 2^32 nodes")
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Numbers below `below`, the same for the same seed.
    pub(crate) struct Dice(pub(crate) u64);

    impl Dice {
        pub(crate) fn roll(&mut self, below: u32) -> u32 {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            u32::try_from((self.0 >> 33) % u64::from(below)).unwrap()
        }
    }

    /// A tree of random shape, unary chains and leaves at several depths among it.
    pub(crate) fn random_tree(seed: u64) -> Taxonomy {
        let mut dice = Dice(seed);
        let mut builder = TreeBuilder::default();
        builder.push("n0", 0, 40);
        let nodes = 2 + dice.roll(40);
        for place in 1..nodes {
            let parent = dice.roll(place);
            let level = builder.levels[parent as usize]
                - 1
                - dice.roll(2).min(builder.levels[parent as usize] - 1);
            // Levels run out below a deep chain: hang the node from the root instead.
            let (parent, level) = if level == 0 { (0, 39) } else { (parent, level) };
            builder.push(&format!("n{place}"), parent, level);
        }
        builder.build().0
    }

    fn ancestors(tree: &Taxonomy, node: Node) -> Vec<Node> {
        std::iter::successors(Some(node), |&node| tree.parent(node)).collect()
    }

    #[test]
    fn cover_is_the_first_ancestor_that_all_leaves_share() {
        for seed in 0..200 {
            let tree = random_tree(seed);
            let leaves = node(tree.leaves());
            for lo in 0..leaves {
                for hi in lo..leaves {
                    let lists: Vec<Vec<Node>> =
                        (lo..=hi).map(|leaf| ancestors(&tree, leaf)).collect();
                    let shared =
                        lists[0].iter().find(|node| lists.iter().all(|list| list.contains(node)));
                    assert_eq!(
                        Some(&tree.cover(CodeRange { lo, hi })),
                        shared,
                        "seed {seed}, {lo} to {hi}"
                    );
                }
            }
        }
    }

    #[test]
    fn any_set_of_leaves_meets_where_its_ends_meet() {
        for seed in 0..300 {
            let tree = random_tree(seed);
            let mut dice = Dice(seed + 1000);
            let set: Vec<Code> =
                (0..=dice.roll(6)).map(|_| dice.roll(node(tree.leaves()))).collect();
            let lists: Vec<Vec<Node>> = set.iter().map(|&leaf| ancestors(&tree, leaf)).collect();
            let shared = lists[0].iter().find(|node| lists.iter().all(|list| list.contains(node)));
            let ends = CodeRange { lo: *set.iter().min().unwrap(), hi: *set.iter().max().unwrap() };
            assert_eq!(Some(&tree.cover(ends)), shared, "seed {seed}, {set:?}");
        }
    }

    #[test]
    fn children_split_the_range_of_their_parent_from_left_to_right() {
        for seed in 0..200 {
            let tree = random_tree(seed);
            let mut seen = vec![tree.root()];
            for node in 0..node(tree.nodes()) {
                let children: Vec<Node> = tree.children(node).collect();
                seen.extend(&children);
                assert_eq!(children.is_empty(), (node as usize) < tree.leaves());
                let Some(&first) = children.first() else { continue };
                assert_eq!(tree.range(first).lo, tree.range(node).lo);
                assert_eq!(tree.range(*children.last().unwrap()).hi, tree.range(node).hi);
                assert!(
                    children
                        .windows(2)
                        .all(|pair| tree.range(pair[0]).hi + 1 == tree.range(pair[1]).lo)
                );
                for child in children {
                    assert_eq!(tree.parent(child), Some(node));
                    assert!(child < node && tree.level(child) < tree.level(node));
                }
            }
            seen.sort_unstable();
            assert!(seen.into_iter().eq(0..node(tree.nodes())), "every node is a child once");
        }
    }

    #[test]
    fn siblings_keep_the_order_in_which_they_were_written() {
        let mut builder = TreeBuilder::default();
        builder.push("*", 0, 2);
        let b = builder.push("b", 0, 1);
        builder.push("b1", b, 0);
        let a = builder.push("a", 0, 1);
        builder.push("a1", a, 0);
        builder.push("b2", b, 0);
        builder.push("c", 0, 0);
        let (tree, nodes) = builder.build();
        let labels: Vec<&str> = (0..4).map(|code| tree.leaf_label(code)).collect();
        assert_eq!(labels, ["b1", "b2", "a1", "c"]);
        assert_eq!((tree.leaves(), tree.nodes(), tree.height()), (4, 7, 2));
        assert_eq!(tree.label(nodes[b as usize]), "b");
        assert_eq!(tree.range(nodes[b as usize]), CodeRange { lo: 0, hi: 1 });
        assert_eq!(tree.label(tree.at_level(1, 1)), "b");
        assert_eq!(tree.label(tree.at_level(3, 1)), "c", "a short path waits at its leaf");
        assert_eq!((tree.levels_up(3, tree.root()), tree.levels_up(3, 3)), (2, 0));
        assert!(!tree.is_flat());
    }

    #[test]
    fn a_flat_tree_of_a_million_leaves_answers_at_once() {
        let tree = Taxonomy::flat((0..1_000_000).map(|n| n.to_string()).collect(), "*");
        assert!(tree.is_flat());
        assert_eq!((tree.leaves(), tree.nodes(), tree.height()), (1_000_000, 1_000_001, 1));
        assert_eq!(tree.cover(CodeRange { lo: 5, hi: 999_999 }), tree.root());
        assert_eq!(tree.cover(CodeRange::one(5)), 5);
        assert!(tree.children(tree.root()).eq(0..1_000_000));
        assert_eq!(tree.codes(&[Some("7".into()), None, Some("x".into())]), [Some(7), None, None]);
    }
}
