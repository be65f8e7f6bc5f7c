//! The tree of an attribute for walks from the root down: from a node to the child above a code.
//!
//! A taxonomy is taken as it is, and so are the intervals of an ordered attribute with a hierarchy,
//! whether they are published or not. Without a hierarchy the values of an ordered attribute are
//! halved, and the halves again. A missing value of an ordered attribute lies directly below the
//! root.

use std::ops::Range;

use crate::codes::{Code, CodeRange};
use crate::domain::attribute::{Attribute, Domain};

/// A node of a [`Descent`]: its number in this tree, not in the taxonomy.
pub(crate) type DescentNode = u32;

/// The root of every [`Descent`].
pub(crate) const ROOT: DescentNode = 0;

/// A tree in which the children of each node are numbered one after the other, from left to right,
/// level by level.
#[derive(Debug)]
pub(crate) struct Descent {
    /// By node, its least code.
    los: Vec<Code>,
    /// By node, its first child; the children of the next node begin where its own end.
    firsts: Vec<DescentNode>,
}

impl Descent {
    /// The tree of an attribute.
    pub(crate) fn of(attribute: &Attribute) -> Descent {
        let (tree, missing) = match &attribute.domain {
            Domain::Tree(tree) => (tree, None),
            Domain::Ordered(ordered) => {
                let all = number(ordered.values().len());
                let missing = ordered.has_missing().then_some(all);
                let Some(intervals) = ordered.intervals() else {
                    return grow((0, all), missing, halves, |&(lo, _)| lo);
                };
                (intervals.taxonomy(), missing)
            }
        };
        grow(
            tree.root(),
            missing,
            |&node| tree.children(node).collect(),
            |&node| tree.range(node).lo,
        )
    }

    /// The children of a node; a leaf has none.
    pub(crate) fn children(&self, node: DescentNode) -> Range<DescentNode> {
        self.firsts[node as usize]..self.firsts[node as usize + 1]
    }

    /// The child under which a code of the node lies. The node is not a leaf.
    #[inline]
    pub(crate) fn child(&self, node: DescentNode, code: Code) -> DescentNode {
        let children = self.children(node);
        let los = &self.los[children.start as usize..children.end as usize];
        // Where the children before it are leaves it is found at once.
        let guess = (code - los[0]) as usize;
        let place = if los.get(guess) == Some(&code) {
            guess
        } else {
            los.partition_point(|&lo| lo <= code) - 1
        };
        children.start + number(place)
    }

    /// The lowest node under which all codes of a range lie that lies under this one.
    pub(crate) fn settle(&self, mut node: DescentNode, range: CodeRange) -> DescentNode {
        while !self.children(node).is_empty() {
            let child = self.child(node, range.lo);
            if self.child(node, range.hi) != child {
                break;
            }
            node = child;
        }
        node
    }

    /// The most children that a node has.
    pub(crate) fn widest(&self) -> usize {
        self.firsts.windows(2).map(|pair| (pair[1] - pair[0]) as usize).max().unwrap_or(0)
    }
}

/// The tree below a root whose nodes know their children and their least codes, and a missing value
/// right of all others.
fn grow<T: Copy>(
    root: T,
    missing: Option<Code>,
    children: impl Fn(&T) -> Vec<T>,
    least: impl Fn(&T) -> Code,
) -> Descent {
    // None is the missing value.
    let mut nodes = vec![Some(root)];
    let mut firsts = Vec::new();
    while let Some(&node) = nodes.get(firsts.len()) {
        firsts.push(number(nodes.len()));
        nodes.extend(node.iter().flat_map(&children).map(Some));
        if let (1, Some(code)) = (firsts.len(), missing) {
            // One value and the missing one are two branches.
            if nodes.len() == 1 && code > 0 {
                nodes.push(node);
            }
            nodes.push(None);
        }
    }
    firsts.push(number(nodes.len()));
    let los = nodes.iter().map(|node| node.as_ref().map_or(missing.unwrap_or(0), &least)).collect();
    Descent { los, firsts }
}

/// The two halves of a stretch of codes, given by its first code and the first one behind it.
fn halves(&(lo, hi): &(Code, Code)) -> Vec<(Code, Code)> {
    let middle = lo + (hi - lo).div_ceil(2);
    if hi - lo > 1 { vec![(lo, middle), (middle, hi)] } else { Vec::new() }
}

fn number(index: usize) -> u32 {
    u32::try_from(index).expect("a tree has fewer than 2^32 nodes")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::taxonomy::tests::random_tree;

    #[test]
    fn every_code_goes_down_through_its_ancestors() {
        for seed in 0..100 {
            let tree = random_tree(seed);
            let attribute =
                Attribute { name: "a".into(), weight: 1.0, domain: Domain::Tree(tree.clone()) };
            let descent = Descent::of(&attribute);
            for code in 0..number(tree.leaves()) {
                let mut ancestors: Vec<u32> =
                    std::iter::successors(Some(code), |&node| tree.parent(node)).collect();
                let mut node = ROOT;
                while let Some(above) = ancestors.pop() {
                    assert_eq!(
                        descent.children(node).len(),
                        tree.children(above).count(),
                        "seed {seed}, code {code}"
                    );
                    assert_eq!(descent.los[node as usize], tree.range(above).lo);
                    assert_eq!(descent.settle(node, tree.range(above)), lowest(&descent, node));
                    if !ancestors.is_empty() {
                        node = descent.child(node, code);
                    }
                }
            }
            assert_eq!(descent.los.len(), tree.nodes());
        }
    }

    /// The end of the chain that begins at a node.
    fn lowest(descent: &Descent, mut node: DescentNode) -> DescentNode {
        while descent.children(node).len() == 1 {
            node = descent.children(node).start;
        }
        node
    }
}
