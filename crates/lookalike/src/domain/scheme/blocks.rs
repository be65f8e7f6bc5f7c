//! What a global recoding publishes: for each attribute blocks of values, each with its label and
//! its price.

use super::Shape;
use crate::codes::{Code, CodeRange};
use crate::domain::attribute::{Attribute, Domain, set_label};
use crate::domain::taxonomy::{Node, Taxonomy};

/// For each attribute how its values are published.
#[derive(Clone, Debug, PartialEq)]
pub struct Generalization {
    /// One an attribute, in the problem's order.
    pub attributes: Vec<Blocks>,
}

/// A partition of the values of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub struct Blocks {
    /// For each code its block; none for a value that does not occur and that no label covers.
    pub of_code: Vec<Option<u32>>,
    /// The blocks, in the order of their least values.
    pub blocks: Vec<Block>,
    /// True when blocks are sets or runs of values, false when they are groups of the hierarchy.
    pub is_of_values: bool,
}

/// Values that are published alike.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// What is published for them.
    pub label: String,
    /// The least and the greatest code of those that occur.
    pub ends: CodeRange,
    /// The certainty penalty of the label, 0 to 1.
    pub loss: f64,
    /// How many levels of the hierarchy a value rises to it, and how many it could at most.
    pub risen: (u32, u32),
}

impl Blocks {
    /// The block of a code, if it has one.
    pub fn of(&self, code: Code) -> Option<&Block> {
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
        // A label may cover values of another block that occur: these have their own.
        for (place, atoms) in (0..).zip(together.iter().filter(|atoms| !atoms.is_empty())) {
            for CodeRange { lo, hi } in atoms.iter().map(|&atom| shape.atoms[atom]) {
                blocks.of_code[lo as usize..=hi as usize].fill(Some(place));
            }
        }
        blocks
    }

    /// The same blocks as far as they have these codes, which rise; with labels that say no more
    /// than these.
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
        let risen = attribute.levels_up(ends.lo, ends);
        self.blocks.push(Block { label, ends, loss: price(attribute, shape, atoms), risen });
    }
}

/// The certainty penalty of a block of atoms, which rise. Of a taxonomy it is the share of the
/// leaves under what is shown, a set of nodes being its nodes together; it never falls as a block
/// grows.
pub(crate) fn price(attribute: &Attribute, shape: &Shape, atoms: &[usize]) -> f64 {
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

/// The greatest nodes whose occurring leaves are all among the atoms: together they show exactly
/// these. One value shows itself. Where blocks are sets of values, all leaves of a node must be
/// among them: listed one by one they cost less than a group that has others.
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
