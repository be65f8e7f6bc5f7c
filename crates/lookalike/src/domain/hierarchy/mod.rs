//! Where trees come from: files in the form of ARX, their text or their rows in the request,
//! ready-made ones, and one-line specifications for numbers, dates and codes.
//!
//! Everything is checked here, with the line of the file or the row of the data at fault, so that a
//! tree cannot be wrong later. Two nodes with different leaves never share a label, so a published
//! label always means one set of values.
//!
//! # Example
//! ```
//! use lookalike::domain::hierarchy::{intervals, to_text};
//! use lookalike::request::IntervalsSpec;
//!
//! let widths = IntervalsSpec { intervals: vec![5.0, 10.0], origin: 0.0, bottom: None, top: None };
//! let texts = ["21", "27"].map(String::from);
//! let tree = intervals("age", &widths, &[21.0, 27.0], &texts)?;
//! assert_eq!(to_text(tree.taxonomy()), "21;[20-24];[20-29];*\n27;[25-29];[20-29];*\n");
//! # Ok::<(), lookalike::Error>(())
//! ```

mod builtin;
mod date;
mod differences;
mod file;
mod file_intervals;
mod intervals;
mod listed;
mod prefix;

pub use builtin::{builtin, example};
pub use date::date_intervals;
pub use differences::{Differences, differences};
pub use file::{HierarchyFile, read, taxonomy};
pub use file_intervals::file_intervals;
pub use intervals::intervals;
pub(crate) use listed::listed;
pub use listed::read_for;
pub use prefix::prefix;

use std::fmt::Write as _;

use crate::domain::taxonomy::{Node, Taxonomy, TreeBuilder};
use crate::error::Error;

/// The label of the root of every tree that a specification makes.
const ROOT: &str = "*";

/// The ends of a label that allows any number.
const ANY: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

/// A tree over the sorted distinct numbers of an ordered column: the leaf with code `i` is the
/// `i`-th number. Without numbers it is the root alone.
///
/// Invariant: every node has ends, and they contain the ends of its children.
#[derive(Clone, Debug, PartialEq)]
pub struct IntervalTree {
    taxonomy: Taxonomy,
    /// By node.
    ends: Vec<(f64, f64)>,
}

impl IntervalTree {
    /// The tree with the ends of each node; the caller keeps the invariant.
    pub(super) fn from_parts(taxonomy: Taxonomy, ends: Vec<(f64, f64)>) -> IntervalTree {
        IntervalTree { taxonomy, ends }
    }

    /// The tree.
    pub fn taxonomy(&self) -> &Taxonomy {
        &self.taxonomy
    }

    /// The tree alone.
    pub fn into_taxonomy(self) -> Taxonomy {
        self.taxonomy
    }

    /// The least and the greatest number that the label of a node allows. Where a specification
    /// makes half-open intervals (not all numbers are whole) the greatest is the first number that
    /// does not belong. Infinite for the root of a specification and beyond bottom and top coding;
    /// in a file, the least and the greatest leaf below.
    pub fn ends(&self, node: Node) -> (f64, f64) {
        self.ends[node as usize]
    }

    /// The least and the greatest whole number that the label of a node of a specification allows:
    /// 3 and 4 of `[2.5-5)`. Infinite where the label has no end.
    pub(crate) fn whole_ends(&self, node: Node) -> (f64, f64) {
        let (lo, hi) = self.ends(node);
        let label = self.taxonomy.label(node);
        let below = |end: f64| end.ceil() - 1.0;
        let limit = label.strip_prefix('<').and_then(|limit| limit.parse().ok());
        let hi = match limit {
            Some(limit) => below(limit),
            None if label.ends_with(')') => below(hi),
            None => hi,
        };
        (lo.ceil(), hi)
    }
}

/// A node between a leaf and the root.
struct Ancestor {
    label: String,
    level: u32,
    ends: (f64, f64),
}

/// An [`IntervalTree`] under construction, leaf by leaf from left to right.
struct IntervalTreeBuilder {
    tree: TreeBuilder,
    /// By place in the tree.
    ends: Vec<(f64, f64)>,
    /// The path from the root to the parent of the latest leaf.
    open: Vec<u32>,
}

impl IntervalTreeBuilder {
    fn new(root: &str, height: u32, ends: (f64, f64)) -> IntervalTreeBuilder {
        let mut tree = TreeBuilder::default();
        tree.push(root, 0, height);
        IntervalTreeBuilder { tree, ends: vec![ends], open: vec![0] }
    }

    /// Adds the next leaf; `path` leads from its parent up to the child of the root. Ancestors with
    /// the same label and parent are one node.
    fn leaf(&mut self, label: &str, number: f64, path: &[Ancestor]) {
        let mut depth = 1;
        for ancestor in path.iter().rev() {
            let label_of = |&place: &u32| &self.tree.labels[place as usize];
            if self.open.get(depth).map(label_of) != Some(&ancestor.label) {
                self.open.truncate(depth);
                let parent = self.open[depth - 1];
                self.open.push(self.tree.push(&ancestor.label, parent, ancestor.level));
                self.ends.push(ancestor.ends);
            }
            depth += 1;
        }
        self.open.truncate(depth);
        self.tree.push(label, self.open[depth - 1], 0);
        self.ends.push((number, number));
    }

    fn build(self) -> IntervalTree {
        let (taxonomy, nodes) = self.tree.build();
        let mut ends = vec![ANY; nodes.len()];
        nodes.iter().zip(&self.ends).for_each(|(&node, &of_node)| ends[node as usize] = of_node);
        IntervalTree { taxonomy, ends }
    }
}

/// A level of a tree, from a count of columns or steps.
fn level(index: usize) -> u32 {
    u32::try_from(index).expect("a path has fewer than 2^32 steps")
}

/// The error of a one-line specification.
fn fault(column: &str, why: impl Into<String>) -> Error {
    Error::hierarchy("bad-hierarchy", why).at_column(column)
}

/// The tree as the lines of a file: each leaf, then its published value at every level up to the
/// root.
/// [`taxonomy`] reads the same tree from them.
pub fn to_rows(taxonomy: &Taxonomy) -> Vec<Vec<String>> {
    let leaves = level(taxonomy.leaves());
    let path = |leaf| {
        (0..=taxonomy.height())
            .map(move |level| taxonomy.label(taxonomy.at_level(leaf, level)).to_owned())
    };
    (0..leaves).map(|leaf| path(leaf).collect()).collect()
}

/// The lines of [`to_rows`] as the text of a file, `;` between, quoted where needed.
pub fn to_text(taxonomy: &Taxonomy) -> String {
    rows_to_text(&[], &to_rows(taxonomy))
}

/// The lines of a hierarchy file, all equally long, as its text, below these comments.
pub fn rows_to_text(comments: &[String], rows: &[Vec<String>]) -> String {
    let comment = |line: &String| format!("# {}\n", line.replace(['\r', '\n'], " "));
    let comments: String = comments.iter().map(comment).collect();
    let mut writer =
        csv::WriterBuilder::new().delimiter(b';').comment(Some(b'#')).from_writer(Vec::new());
    for row in rows {
        writer.write_record(row).expect("memory takes every line, and all lines are equally long");
    }
    let bytes = writer.into_inner().expect("memory takes every line");
    comments + std::str::from_utf8(&bytes).expect("labels and quotes are UTF-8")
}

/// The tree for people to read: a node a line, children indented, with the number of values below.
/// Children after the first `max_children` are only counted.
pub fn outline(taxonomy: &Taxonomy, max_children: usize) -> String {
    enum OutlineLine {
        Node(Node),
        More(usize),
    }
    let mut text = String::new();
    let mut stack = vec![(0, OutlineLine::Node(taxonomy.root()))];
    while let Some((indent, line)) = stack.pop() {
        let pad = " ".repeat(2 * indent);
        let written = match line {
            OutlineLine::More(more) => writeln!(text, "{pad}... {more} more"),
            OutlineLine::Node(node) => {
                let label = if taxonomy.label(node).is_empty() {
                    "(missing)"
                } else {
                    taxonomy.label(node)
                };
                let children: Vec<Node> = taxonomy.children(node).take(max_children).collect();
                let more = taxonomy.children(node).skip(max_children).count();
                if more > 0 {
                    stack.push((indent + 1, OutlineLine::More(more)));
                }
                stack.extend(
                    children.into_iter().rev().map(|child| (indent + 1, OutlineLine::Node(child))),
                );
                let range = taxonomy.range(node);
                match (range.hi - range.lo + 1, taxonomy.level(node)) {
                    (_, 0) => writeln!(text, "{pad}{label}"),
                    (1, _) => writeln!(text, "{pad}{label}  (1 value)"),
                    (values, _) => writeln!(text, "{pad}{label}  ({values} values)"),
                }
            }
        };
        written.expect("memory takes every line");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::taxonomy::tests::random_tree;

    #[test]
    fn a_tree_written_as_a_file_reads_as_the_same_tree() {
        for seed in 0..100 {
            let tree = random_tree(seed);
            let text = to_text(&tree);
            let rows = file::parse("made.csv", text.as_bytes()).unwrap();
            assert_eq!(rows.rows, to_rows(&tree));
            assert_eq!(taxonomy(&rows, "made", &[], &[]).unwrap(), tree, "seed {seed}:\n{text}");
        }
        let quoted = Taxonomy::flat(
            ["# 1", "a;b", "say \"c\"", "two\nlines", " d ", ""].map(String::from).to_vec(),
            "*",
        );
        let rows = file::parse("made.csv", to_text(&quoted).as_bytes()).unwrap();
        assert_eq!(taxonomy(&rows, "made", &[None], &[0]).unwrap(), quoted);
    }

    #[test]
    fn intervals_written_as_a_file_are_the_same_intervals() {
        let request = crate::request::IntervalsSpec {
            intervals: vec![5.0, 10.0],
            origin: 2.0,
            bottom: Some(-8.0),
            top: Some(31.0),
        };
        let numbers: Vec<f64> = (-20..40).map(f64::from).collect();
        let texts: Vec<String> = numbers.iter().map(f64::to_string).collect();
        let made = intervals("age", &request, &numbers, &texts).unwrap();
        let rows = file::parse("age.csv", to_text(&made.taxonomy).as_bytes()).unwrap();
        assert_eq!(file_intervals(&rows, "age", &numbers, &texts).unwrap().taxonomy, made.taxonomy);
        let none = intervals("age", &request, &[], &[]).unwrap();
        assert_eq!((none.taxonomy.label(none.taxonomy.root()), none.ends.len()), ("*", 1));
    }

    #[test]
    fn an_outline_counts_values_and_cuts_long_lists() {
        let rows = file::parse("w.csv", b"a;X;*\nb;X;*\nc;X;*\nd;Y;*\n;*;*\n").unwrap();
        let tree = taxonomy(&rows, "w", &[], &[]).unwrap();
        assert_eq!(
            outline(&tree, 9),
            "*  (5 values)\n  X  (3 values)\n    a\n    b\n    c\n  Y  (1 value)\n    d\n  (missing)\n"
        );
        assert_eq!(
            outline(&tree, 2),
            "*  (5 values)\n  X  (3 values)\n    a\n    b\n    ... 1 more\n  Y  (1 value)\n    d\n  ... 1 more\n"
        );
    }
}
