//! The lattice of levels of some attributes, and the class tables kept for its nodes.

use std::sync::Arc;

use crate::search::global::{ClassTable, Parts};

/// The nodes over some attributes. They are numbered so that a node above another has the greater
/// number.
pub(super) struct Lattice {
    pub(super) attributes: Vec<usize>,
    /// The number of levels of each attribute.
    pub(super) sizes: Vec<usize>,
    /// For each attribute, the difference of the numbers from one level to the next.
    strides: Vec<usize>,
    pub(super) len: usize,
}

impl Lattice {
    pub(super) fn new(attributes: &[usize], ladders: &[Parts]) -> Lattice {
        let sizes: Vec<usize> = attributes.iter().map(|&at| ladders[at].len()).collect();
        let strides = (0..sizes.len()).map(|at| sizes[at + 1..].iter().product()).collect();
        Lattice { attributes: attributes.to_vec(), len: sizes.iter().product(), sizes, strides }
    }

    pub(super) fn level(&self, node: usize, at: usize) -> usize {
        node / self.strides[at] % self.sizes[at]
    }

    fn height(&self, node: usize) -> usize {
        (0..self.sizes.len()).map(|at| self.level(node, at)).sum()
    }

    /// The direct specializations: one level of one attribute lower.
    pub(super) fn below(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.sizes.len())
            .filter(move |&at| self.level(node, at) > 0)
            .map(move |at| node - self.strides[at])
    }

    /// The projection of a node: its number in the lattice without one of the attributes.
    pub(super) fn without(&self, node: usize, at: usize) -> usize {
        node / self.strides[at] / self.sizes[at] * self.strides[at] + node % self.strides[at]
    }

    /// The nodes by the sum of their levels.
    pub(super) fn by_height(&self, nodes: impl Iterator<Item = usize>) -> Vec<Vec<usize>> {
        let mut heights =
            vec![Vec::new(); self.sizes.iter().map(|size| size - 1).sum::<usize>() + 1];
        nodes.for_each(|node| heights[self.height(node)].push(node));
        heights
    }
}

/// The class tables of the nodes of one height, from which those of the next are rolled up.
pub(super) struct HeightTables {
    /// For nodes without a table of a direct specialization.
    pub(super) base: Arc<ClassTable>,
    /// By node.
    pub(super) of: Vec<Option<Arc<ClassTable>>>,
}

impl HeightTables {
    /// The smallest table that a node can be rolled up from.
    pub(super) fn source(&self, lattice: &Lattice, node: usize) -> &Arc<ClassTable> {
        lattice
            .below(node)
            .filter_map(|below| self.of[below].as_ref())
            .min_by_key(|table| table.len())
            .unwrap_or(&self.base)
    }

    pub(super) fn forget(&mut self, nodes: &[usize]) {
        nodes.iter().for_each(|&node| self.of[node] = None);
    }
}

/// The table that the nodes above are rolled up from: the new one only if it is worth its memory.
pub(super) fn kept(source: &Arc<ClassTable>, rolled: ClassTable) -> Arc<ClassTable> {
    if rolled.len() * 4 <= source.len() * 3 { Arc::new(rolled) } else { Arc::clone(source) }
}
