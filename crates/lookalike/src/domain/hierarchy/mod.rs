//! Where trees come from: files in the form the field already uses, and one-line specifications for
//! numbers, dates and codes.
//!
//! Everything is checked here, with the line of the file or the row of the data at fault; behind
//! this door a tree cannot be wrong. Two nodes with different leaves never share a label, so a
//! published label always says one thing.

mod date;
mod file;
mod intervals;
mod prefix;

pub use date::date_steps;
pub(crate) use date::{as_written, zone};
pub(crate) use file::read_of;
pub use file::{Rows, file_steps, read, read_for, taxonomy};
pub use intervals::intervals;
pub use prefix::prefix;

use std::fmt::Write as _;

use crate::domain::taxonomy::{Node, Sketch, Taxonomy};
use crate::error::Error;

/// The label of the root of every tree that a specification makes.
const ROOT: &str = "*";

/// What a label that says nothing allows.
const ANY: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

/// A tree over the sorted distinct numbers of an ordered column: the leaf with code `i` is the
/// `i`-th number. Without numbers it is the root alone.
#[derive(Clone, Debug, PartialEq)]
pub struct Steps {
    /// The tree.
    pub taxonomy: Taxonomy,
    /// For each node the least and the greatest number that its label allows. Where a specification
    /// makes half-open intervals (not all numbers are whole) the greatest is the first number that
    /// does not belong. Infinite for the root of a specification and beyond bottom and top coding;
    /// in a file, the least and the greatest leaf below.
    pub ends: Vec<(f64, f64)>,
}

/// A node on the way from a leaf to the root.
struct Step {
    label: String,
    level: u32,
    ends: (f64, f64),
}

/// A tree that is written down leaf by leaf, from left to right.
struct Trunk {
    sketch: Sketch,
    /// By place in the sketch.
    ends: Vec<(f64, f64)>,
    /// The path from the root to the parent of the latest leaf.
    open: Vec<u32>,
}

impl Trunk {
    fn new(root: &str, height: u32, ends: (f64, f64)) -> Trunk {
        let mut sketch = Sketch::default();
        sketch.push(root, 0, height);
        Trunk { sketch, ends: vec![ends], open: vec![0] }
    }

    /// Adds the next leaf; `path` leads from its parent up to the child of the root. Labels tell
    /// nodes apart.
    fn leaf(&mut self, label: &str, number: f64, path: &[Step]) {
        let mut depth = 1;
        for step in path.iter().rev() {
            if self
                .open
                .get(depth)
                .is_none_or(|&place| self.sketch.labels[place as usize] != step.label)
            {
                self.open.truncate(depth);
                self.open.push(self.sketch.push(&step.label, self.open[depth - 1], step.level));
                self.ends.push(step.ends);
            }
            depth += 1;
        }
        self.open.truncate(depth);
        self.sketch.push(label, self.open[depth - 1], 0);
        self.ends.push((number, number));
    }

    fn grow(self) -> Steps {
        let (taxonomy, nodes) = self.sketch.grow();
        let mut ends = vec![ANY; nodes.len()];
        nodes.iter().zip(&self.ends).for_each(|(&node, &of_node)| ends[node as usize] = of_node);
        Steps { taxonomy, ends }
    }
}

/// A level of a tree, from a count of columns or steps.
fn level(index: usize) -> u32 {
    u32::try_from(index).expect("a path has fewer than 2^32 steps")
}

/// The fault of a one-line specification.
fn fault(column: &str, why: impl Into<String>) -> Error {
    Error::hierarchy(format!("column `{column}`"), 0, why)
}

/// The tree as the lines of a file: each leaf, then what it shows at every level up to the root.
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
    let mut writer = csv::WriterBuilder::new().delimiter(b';').from_writer(Vec::new());
    for row in to_rows(taxonomy) {
        writer.write_record(&row).expect("memory takes every line, and all lines are equally long");
    }
    let bytes = writer.into_inner().expect("memory takes every line");
    String::from_utf8(bytes).expect("labels are UTF-8 and so is what quotes them")
}

/// The tree for people to read: a node a line, children indented, with the number of values below.
/// Of more than `max_children` children the rest is only counted.
pub fn outline(taxonomy: &Taxonomy, max_children: usize) -> String {
    enum Line {
        Node(Node),
        More(usize),
    }
    let mut text = String::new();
    let mut stack = vec![(0, Line::Node(taxonomy.root()))];
    while let Some((indent, line)) = stack.pop() {
        let pad = " ".repeat(2 * indent);
        let written = match line {
            Line::More(more) => writeln!(text, "{pad}... {more} more"),
            Line::Node(node) => {
                let label = if taxonomy.label(node).is_empty() {
                    "(missing)"
                } else {
                    taxonomy.label(node)
                };
                let children: Vec<Node> = taxonomy.children(node).take(max_children).collect();
                let left_out = taxonomy.children(node).skip(max_children).count();
                if left_out > 0 {
                    stack.push((indent + 1, Line::More(left_out)));
                }
                stack.extend(
                    children.into_iter().rev().map(|child| (indent + 1, Line::Node(child))),
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
            ["a;b", "say \"c\"", "two\nlines", " d ", ""].map(String::from).to_vec(),
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
        assert_eq!(file_steps(&rows, "age", &numbers, &texts).unwrap().taxonomy, made.taxonomy);
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
