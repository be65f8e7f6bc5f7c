//! The ranges that a class can publish on one attribute, for a visit of all cells
//! (`cell_scan.rs`): the nodes of a tree, or all ranges of a line.
//!
//! Long lines are looked at in bins of neighbouring values. A range from one bin to another costs
//! no more here than any range of values that begins in the first and ends in the second, so a
//! bound with bins is a bound; with a bin for each value nothing is lost.

use crate::codes::{Code, CodeRange};
use crate::domain::attribute::{Attribute, Domain};
use crate::domain::penalty::Penalty;
use crate::domain::taxonomy::Taxonomy;

/// The ranges of one attribute.
#[derive(Debug)]
pub(super) enum PublishedRanges {
    /// Depth by depth, the whole first: the node of each code, numbered within its depth, and the
    /// loss of that node.
    Tree { depths: Vec<Depth> },
    /// Bins in order: `loss[from * bins + to]` is the least loss of a range from one to the other.
    Line { bins: usize, loss: Vec<f64> },
}

/// One depth of a tree. A leaf above this depth stands for itself.
#[derive(Debug)]
pub(super) struct Depth {
    pub(super) nodes: usize,
    /// By code.
    pub(super) node: Vec<u32>,
    /// By code.
    pub(super) loss: Vec<f64>,
}

/// Entries of the tables of a tree at most: a tree that is deep and wide at once has no table.
const MOST_ENTRIES: usize = 20_000_000;

/// The ranges of an attribute, and for each of its codes the place by which cells know it: itself
/// in a tree, its bin on a line. None where the tables would be too large.
pub(super) fn published_ranges(
    attribute: &Attribute,
    penalty: &Penalty,
    at: usize,
    most_bins: usize,
) -> Option<(PublishedRanges, Vec<u32>)> {
    let codes = attribute.codes();
    let tree = match &attribute.domain {
        Domain::Tree(tree) => Some(tree),
        Domain::Ordered(ordered) => ordered.published().map(|intervals| intervals.taxonomy()),
    };
    let Some(tree) = tree else { return Some(line(penalty, at, codes, most_bins)) };
    let paths: Vec<Vec<CodeRange>> = (0..codes).map(|code| path(tree, code, codes)).collect();
    let deepest = paths.iter().map(Vec::len).max().unwrap_or(1);
    if deepest * codes > MOST_ENTRIES {
        return None;
    }
    let depths = (0..deepest).map(|depth| Depth::new(&paths, depth, penalty, at)).collect();
    let itself = (0u32..).take(codes).collect();
    Some((PublishedRanges::Tree { depths }, itself))
}

/// The nodes that contain a code, from the whole column to the code. A missing value beside
/// intervals is below the whole column alone.
fn path(tree: &Taxonomy, code: usize, codes: usize) -> Vec<CodeRange> {
    let one = CodeRange::one(place(code));
    let mut path = vec![one];
    if code < tree.leaves() {
        let above = std::iter::successors(tree.parent(one.lo), |&node| tree.parent(node));
        path.extend(above.map(|node| tree.range(node)));
    }
    let whole = CodeRange { lo: 0, hi: place(codes - 1) };
    if path.last() != Some(&whole) {
        path.push(whole);
    }
    path.reverse();
    path
}

impl Depth {
    fn new(paths: &[Vec<CodeRange>], depth: usize, penalty: &Penalty, at: usize) -> Depth {
        let range = |path: &Vec<CodeRange>| path[depth.min(path.len() - 1)];
        let mut node = Vec::with_capacity(paths.len());
        let (mut nodes, mut before) = (0, None);
        // Codes of one node stand side by side.
        for path in paths {
            if before != Some(range(path)) {
                (nodes, before) = (nodes + 1, Some(range(path)));
            }
            node.push(place(nodes - 1));
        }
        let loss = paths.iter().map(|path| penalty.of(at, range(path))).collect();
        Depth { nodes, node, loss }
    }
}

fn line(
    penalty: &Penalty,
    at: usize,
    codes: usize,
    most_bins: usize,
) -> (PublishedRanges, Vec<u32>) {
    let bins = codes.min(most_bins.max(1));
    let bin_of = |code: usize| code * bins / codes;
    let places: Vec<u32> = (0..codes).map(|code| place(bin_of(code))).collect();
    let mut ends = vec![(usize::MAX, 0); bins];
    for code in 0..codes {
        let (first, last) = &mut ends[bin_of(code)];
        (*first, *last) = ((*first).min(code), code);
    }
    let mut loss = vec![0.0; bins * bins];
    for from in 0..bins {
        // One value alone may have a loss, and a range within a bin has that of its cheapest value.
        let alone = (ends[from].0..=ends[from].1)
            .map(|code| penalty.of(at, CodeRange::one(place(code))))
            .fold(f64::INFINITY, f64::min);
        loss[from * bins + from] = alone;
        for to in from + 1..bins {
            let range = CodeRange { lo: place(ends[from].1), hi: place(ends[to].0) };
            loss[from * bins + to] = penalty.of(at, range);
        }
    }
    (PublishedRanges::Line { bins, loss }, places)
}

fn place(index: usize) -> Code {
    Code::try_from(index).expect("a column has fewer than 2^32 values")
}
