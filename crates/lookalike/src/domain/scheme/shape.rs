//! The tree over those values of an attribute that occur: the domain that the schemes partition.
//!
//! Subtrees without a value that occurs are removed, and a node with one child is replaced by the
//! child: neither changes the partitions of the values.

use super::Scheme;
use crate::codes::{Code, CodeRange};
use crate::domain::attribute::{Attribute, Domain, Ordered};
use crate::domain::taxonomy::{Node, Taxonomy};

/// A tree over atoms: values, or runs of values that no recoding can distinguish.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The codes of each atom, in ascending order; codes between two atoms do not occur.
    pub(crate) atoms: Vec<CodeRange>,
    /// The inner nodes, children before their parents, so that the root, if there are two atoms,
    /// comes last.
    pub(crate) inner: Vec<Inner>,
    /// True when blocks are sets or intervals of values: then the label of a group is published
    /// only for a block with all values of the group, all of which occur. Otherwise blocks are
    /// groups, which may have values that do not occur.
    pub(crate) is_of_values: bool,
}

/// An inner node of a [`Shape`]: at least two children.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Inner {
    /// Its level in the hierarchy, at least 1; leaves are at level 0.
    pub(crate) level: u32,
    /// From left to right.
    pub(crate) children: Vec<Child>,
}

/// A child of an inner node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Child {
    /// Its least atom.
    pub(crate) first: u32,
    /// The inner node that it is, if it is not an atom.
    pub(crate) inner: Option<u32>,
}

impl Shape {
    /// The tree over the given codes of an attribute, in ascending order.
    pub fn new(attribute: &Attribute, present: &[Code]) -> Shape {
        let mut shape = Shape { atoms: Vec::new(), inner: Vec::new(), is_of_values: false };
        for &code in present {
            let alone = |code| attribute.cover(CodeRange::one(code));
            match shape.atoms.last_mut() {
                Some(last) if alone(last.lo) == alone(code) => last.hi = code,
                _ => shape.atoms.push(CodeRange::one(code)),
            }
        }
        let all = 0..shape.atoms.len();
        match &attribute.domain {
            Domain::Tree(tree) if all.len() > 1 => drop(shape.grow(tree, tree.root(), all)),
            Domain::Tree(_) => {}
            Domain::Ordered(ordered) => shape.grow_line(ordered),
        }
        shape
    }

    /// The same tree for a scheme, which decides whether blocks are groups or sets of values.
    pub(crate) fn under(self, scheme: Scheme) -> Shape {
        Shape { is_of_values: !matches!(scheme, Scheme::Bhs | Scheme::Ghs), ..self }
    }

    /// Puts all atoms directly under one root.
    pub(super) fn flat(&mut self) {
        let atoms = 0..u32::try_from(self.atoms.len()).expect("fewer atoms than codes");
        if atoms.len() > 1 {
            self.inner.push(Inner {
                level: 1,
                children: atoms.map(|first| Child { first, inner: None }).collect(),
            });
        }
    }

    fn grow_line(&mut self, ordered: &Ordered) {
        let Some(intervals) = ordered.intervals() else { return self.flat() };
        let missing =
            self.atoms.last().filter(|atom| atom.hi as usize == ordered.values().len()).copied();
        let numbers = self.atoms.len() - usize::from(missing.is_some());
        let tree = intervals.taxonomy();
        let top = (numbers > 0).then(|| self.grow(tree, tree.root(), 0..numbers));
        let Some((top, _)) = top.zip(missing) else { return };
        // A missing value lies directly below the root.
        let last =
            Child { first: u32::try_from(numbers).expect("fewer atoms than codes"), inner: None };
        match top
            .inner
            .map(|at| &mut self.inner[at as usize])
            .filter(|inner| inner.level == tree.height())
        {
            Some(root) => root.children.push(last),
            None => self.inner.push(Inner { level: tree.height(), children: vec![top, last] }),
        }
    }

    /// Adds the subtree of a node over these atoms, at least one, all of which lie under the node.
    fn grow(&mut self, tree: &Taxonomy, node: Node, atoms: std::ops::Range<usize>) -> Child {
        let first = u32::try_from(atoms.start).expect("fewer atoms than codes");
        if atoms.len() == 1 {
            return Child { first, inner: None };
        }
        let mut children = Vec::new();
        let mut from = atoms.start;
        for child in tree.children(node) {
            let to = from
                + self.atoms[from..atoms.end]
                    .partition_point(|atom| atom.lo <= tree.range(child).hi);
            if to > from {
                children.push((child, from..to));
                from = to;
            }
        }
        if let [(only, _)] = children[..] {
            return self.grow(tree, only, atoms);
        }
        let children =
            children.into_iter().map(|(child, atoms)| self.grow(tree, child, atoms)).collect();
        self.inner.push(Inner { level: tree.level(node), children });
        Child {
            first,
            inner: Some(u32::try_from(self.inner.len() - 1).expect("fewer nodes than codes")),
        }
    }

    /// The atoms of an inner node: the first, and one beyond the last.
    pub(crate) fn range(&self, inner: usize) -> (usize, usize) {
        let children = &self.inner[inner].children;
        let end = self.child_ranges(inner).last().map_or(0, |(_, end)| end);
        (children.first().map_or(0, |child| child.first as usize), end)
    }

    /// The atoms of each of its children, in the same form.
    pub(crate) fn child_ranges(&self, inner: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.inner[inner].children.iter().map(|child| match child.inner {
            None => (child.first as usize, child.first as usize + 1),
            Some(inner) => self.range(inner as usize),
        })
    }

    /// The partitions of full-domain recoding, from single atoms to one block, one for each level
    /// at which something changes. A partition is given by the least atom of each atom's block.
    pub(crate) fn ladder(&self) -> Vec<Vec<u32>> {
        let mut ladder: Vec<Vec<u32>> = vec![(0..).take(self.atoms.len()).collect()];
        for level in self.levels() {
            let mut least = ladder[0].clone();
            for inner in (0..self.inner.len()).filter(|&inner| self.inner[inner].level <= level) {
                let (from, to) = self.range(inner);
                let first = least[from];
                least[from..to].fill(first);
            }
            ladder.push(least);
        }
        ladder
    }

    /// The levels at which something changes, in ascending order.
    pub(crate) fn levels(&self) -> Vec<u32> {
        let mut levels: Vec<u32> = self.inner.iter().map(|inner| inner.level).collect();
        levels.sort_unstable();
        levels.dedup();
        levels
    }
}
