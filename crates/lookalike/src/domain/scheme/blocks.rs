//! The published values of a global recoding: for each attribute blocks of values, each with its
//! label and its loss.

use super::Shape;
use crate::codes::{Code, CodeRange};
use crate::domain::attribute::{Attribute, Domain};
use crate::domain::label::set_label;
use crate::domain::taxonomy::{Node, Taxonomy};

/// A global recoding: for each attribute the published blocks of its values.
#[derive(Clone, Debug, PartialEq)]
pub struct Generalization {
    /// One partition for each attribute, in the problem's order.
    pub attributes: Vec<Blocks>,
}

/// A partition of the values of an attribute into published blocks.
#[derive(Clone, Debug, PartialEq)]
pub struct Blocks {
    /// For each code its block; none for a value that does not occur and that no label covers.
    pub of_code: Vec<Option<u32>>,
    /// The blocks, in the order of their least values.
    pub blocks: Vec<ValueBlock>,
    /// True when blocks are sets or intervals of values, false when they are groups of the
    /// hierarchy.
    pub is_of_values: bool,
}

/// Values that are published by one label.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueBlock {
    /// The published value.
    pub label: String,
    /// The least and the greatest code of those that occur.
    pub ends: CodeRange,
    /// The certainty penalty of the label, 0 to 1.
    pub loss: f64,
    /// Levels of the hierarchy from a value up to the block, and up to the root.
    pub levels_up: (u32, u32),
}

impl Blocks {
    /// The block of a code; none for a value that does not occur and that no label covers.
    pub fn of(&self, code: Code) -> Option<&ValueBlock> {
        self.of_code[code as usize].map(|block| &self.blocks[block as usize])
    }

    /// The blocks of these atoms: for each atom the least one of its block.
    pub(crate) fn new(attribute: &Attribute, shape: &Shape, least: &[u32]) -> Blocks {
        let mut together: Vec<Vec<usize>> = vec![Vec::new(); least.len()];
        least.iter().enumerate().for_each(|(atom, &first)| together[first as usize].push(atom));
        let mut blocks = Blocks {
            of_code: vec![None; attribute.codes()],
            blocks: Vec::new(),
            is_of_values: shape.is_of_values,
        };
        together
            .iter()
            .filter(|atoms| !atoms.is_empty())
            .for_each(|atoms| blocks.push(attribute, shape, atoms));
        // A label may cover values of another block that occur: they keep their own block.
        for (place, atoms) in (0..).zip(together.iter().filter(|atoms| !atoms.is_empty())) {
            for CodeRange { lo, hi } in atoms.iter().map(|&atom| shape.atoms[atom]) {
                blocks.of_code[lo as usize..=hi as usize].fill(Some(place));
            }
        }
        blocks
    }

    /// The same blocks restricted to these codes, given in ascending order; the labels disclose no
    /// other value.
    pub(crate) fn restricted(&self, attribute: &Attribute, codes: &[Code]) -> Blocks {
        let shape = Shape { is_of_values: self.is_of_values, ..Shape::new(attribute, codes) };
        let mut firsts: Vec<Option<u32>> = vec![None; self.blocks.len()];
        let mut first = |(atom, range): (u32, &CodeRange)| match self.of_code[range.lo as usize] {
            Some(block) => *firsts[block as usize].get_or_insert(atom),
            None => atom,
        };
        let least: Vec<u32> = (0..).zip(&shape.atoms).map(&mut first).collect();
        Blocks::new(attribute, &shape, &least)
    }

    fn push(&mut self, attribute: &Attribute, shape: &Shape, atoms: &[usize]) {
        let ends =
            CodeRange { lo: shape.atoms[atoms[0]].lo, hi: shape.atoms[atoms[atoms.len() - 1]].hi };
        let place = u32::try_from(self.blocks.len()).expect("fewer blocks than codes");
        let label = match &attribute.domain {
            Domain::Ordered(_) => attribute.label(ends),
            Domain::Tree(tree) => {
                let tiles = tiles(tree, shape, atoms);
                for range in tiles.iter().map(|&node| tree.range(node)) {
                    (range.lo..=range.hi)
                        .for_each(|code| self.of_code[code as usize] = Some(place));
                }
                set_label(tiles.iter().map(|&node| tree.label(node)))
            }
        };
        let levels_up = attribute.levels_up(ends.lo, ends);
        let loss = block_loss(attribute, shape, atoms);
        self.blocks.push(ValueBlock { label, ends, loss, levels_up });
    }
}

/// The certainty penalty, 0 to 1, of a block of atoms, given in ascending order. In a taxonomy it
/// is the share of the leaves under the published nodes, of a set the sum over its nodes. It never
/// falls as a block grows.
pub(crate) fn block_loss(attribute: &Attribute, shape: &Shape, atoms: &[usize]) -> f64 {
    let ends =
        CodeRange { lo: shape.atoms[atoms[0]].lo, hi: shape.atoms[atoms[atoms.len() - 1]].hi };
    match &attribute.domain {
        Domain::Tree(_) if atoms.len() == 1 => 0.0,
        Domain::Tree(tree) => {
            let leaves = |node: Node| f64::from(tree.range(node).hi - tree.range(node).lo + 1);
            tiles(tree, shape, atoms).into_iter().map(leaves).sum::<f64>() / leaves(tree.root())
        }
        Domain::Ordered(_) => attribute.loss(ends),
    }
}

/// The greatest nodes whose occurring leaves are all among the atoms: together they publish exactly
/// these. One value is published as itself. Where blocks are sets of values, all leaves of a node
/// must be among the atoms: a list of values loses less than a group with further values.
fn tiles(tree: &Taxonomy, shape: &Shape, atoms: &[usize]) -> Vec<Node> {
    let mut tiles = Vec::new();
    let mut from = 0;
    while from < atoms.len() {
        let lo = shape.atoms[atoms[from]].lo;
        let (mut node, mut to) = (lo, from + 1);
        while let Some(parent) = tree.parent(node) {
            let range = tree.range(parent);
            let first = shape.atoms.partition_point(|atom| atom.hi < range.lo);
            let end = shape.atoms.partition_point(|atom| atom.lo <= range.hi);
            let is_full = || end - first == (range.hi - range.lo + 1) as usize;
            if (shape.is_of_values && !is_full())
                || first != atoms[from]
                || !atoms[from..].iter().take(end - first).copied().eq(first..end)
            {
                break;
            }
            (node, to) = (parent, from + end - first);
        }
        tiles.push(tree.cover(CodeRange { lo, hi: shape.atoms[atoms[to - 1]].hi }));
        from = to;
    }
    tiles
}
