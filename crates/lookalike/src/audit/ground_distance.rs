//! The distance between a class and the whole table, for t-closeness, as an exact fraction.
//!
//! # Reference
//! N. Li, T. Li, S. Venkatasubramanian, t-Closeness: Privacy Beyond k-Anonymity and l-Diversity,
//! ICDE 2007.

use rustc_hash::FxHashMap;

use super::path::{AuditHierarchy, open};
use super::reading::{place_of_instant, place_of_number};
use super::rules::{ClassCounts, Sameness, Sensitive};
use crate::error::{Error, Result};
use crate::request::{Distance, Request};

/// The ground distance between the values of one sensitive column.
#[derive(Debug)]
pub(super) enum GroundDistance {
    Equal,
    Ordered {
        /// For each value its place among the values of the table; values that spell one number
        /// share a place.
        place: Vec<u32>,
        /// Rows up to and including each place.
        up_to: Vec<i128>,
        /// Sums of `up_to` before each place.
        sums: Vec<i128>,
    },
    Tree {
        /// For each value its node.
        leaf: Vec<usize>,
        /// For each node its parent and its height; children come before parents, the root last.
        nodes: Vec<(usize, i128)>,
    },
}

/// A distance `num / den`, `den > 0`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fraction {
    pub(super) num: u128,
    pub(super) den: u128,
}

impl Fraction {
    /// `self <= other`, exactly and without overflow: whole parts first, then the remainders turned
    /// over.
    pub(super) fn at_most(self, other: Fraction) -> bool {
        let (mut a, mut b, mut c, mut d) = (self.num, self.den, other.num, other.den);
        loop {
            match (a / b).cmp(&(c / d)) {
                std::cmp::Ordering::Less => return true,
                std::cmp::Ordering::Greater => return false,
                std::cmp::Ordering::Equal => {}
            }
            let (left, right) = (a % b, c % d);
            if left == 0 || right == 0 {
                return left == 0;
            }
            // left/b <= right/d exactly when d/right <= b/left.
            (a, b, c, d) = (d, right, b, left);
        }
    }

    #[allow(clippy::cast_precision_loss, reason = "for display")]
    pub(super) fn to_f64(self) -> f64 {
        self.num as f64 / self.den as f64
    }
}

pub(super) fn ground_distance(
    distance: Distance,
    column: &str,
    sensitive: &Sensitive<'_>,
    request: &Request,
) -> Result<GroundDistance> {
    match distance {
        Distance::Equal => Ok(GroundDistance::Equal),
        Distance::Ordered => ordered(column, sensitive, request),
        Distance::Hierarchical => tree(column, sensitive, request),
    }
}

/// Values in the order of their numbers, of the configured list, or of time; the missing value
/// comes last.
fn ordered(column: &str, sensitive: &Sensitive<'_>, request: &Request) -> Result<GroundDistance> {
    let line = request.column(column);
    let order = line.and_then(|line| line.order.as_ref());
    // An explicit kind goes before an order, and an order before the form of the texts.
    let key = |text: &str| match (sensitive.sameness, order) {
        (Sameness::Number, _) => place_of_number(text),
        (Sameness::Instant, _) => place_of_instant(text),
        (Sameness::Text, Some(order)) => {
            order.iter().position(|label| label == text).and_then(|at| i128::try_from(at).ok())
        }
        (Sameness::Text, None) => None,
    };
    let mut keys = Vec::with_capacity(sensitive.values.len());
    for (text, row) in sensitive.values.iter().zip(&sensitive.first_row) {
        let key = text.as_ref().map(|text| {
            let why = || {
                Error::data(
                    "no-place-in-order",
                    "the cell has no place in an order, which the ordered distance needs; set \
                     order = [...] or distance = \"equal\"",
                )
                .at_row(column, *row)
            };
            key(text).ok_or_else(why)
        });
        keys.push(key.transpose()?.unwrap_or(i128::MAX));
    }
    let mut places = keys.clone();
    places.sort_unstable();
    places.dedup();
    let place: Vec<u32> = keys
        .iter()
        .map(|key| u32::try_from(places.partition_point(|p| p < key)).unwrap_or(u32::MAX))
        .collect();
    let mut up_to = vec![0i128; places.len()];
    place
        .iter()
        .zip(&sensitive.totals)
        .for_each(|(&place, &rows)| up_to[place as usize] += i128::from(rows));
    let mut sums = vec![0];
    for at in 0..up_to.len() {
        if at > 0 {
            up_to[at] += up_to[at - 1];
        }
        sums.push(sums[at] + up_to[at]);
    }
    Ok(GroundDistance::Ordered { place, up_to, sums })
}

/// The column's hierarchy as nodes with heights: a leaf has 0, any other node one more than its
/// highest child.
fn tree(column: &str, sensitive: &Sensitive<'_>, request: &Request) -> Result<GroundDistance> {
    let Some(hierarchy) = request.column(column).and_then(|line| line.hierarchy.as_ref()) else {
        return Err(Error::request("no-hierarchy", "the hierarchical distance needs a hierarchy")
            .at_column(column));
    };
    let hierarchy = open(hierarchy, sensitive.values.iter().filter_map(|value| value.as_deref()))?;
    let mut tree = Nodes::default();
    // For each line of a file its leaf.
    let mut leaves = Vec::new();
    if let AuditHierarchy::File(lines) = &hierarchy {
        let rooted = lines.root().is_some();
        for (_, labels) in &lines.lines {
            let above: Vec<&str> =
                labels.iter().map(String::as_str).chain((!rooted).then_some("*")).collect();
            let at = tree.add(&above).ok_or_else(|| {
                Error::hierarchy("hierarchy-not-a-tree", "a label has two parents")
                    .at_column(column)
            })?;
            leaves.push(at);
        }
    }
    let mut leaf = Vec::with_capacity(sensitive.values.len());
    for (text, row) in sensitive.values.iter().zip(&sensitive.first_row) {
        let listed = match (text, &hierarchy) {
            (Some(text), AuditHierarchy::File(lines)) => lines.find(text).map(|line| leaves[line]),
            (Some(text), _) => hierarchy.nodes(text).and_then(|nodes| {
                let above =
                    nodes.iter().filter(|node| *node != text).map(String::as_str).chain(["*"]);
                tree.add(&above.collect::<Vec<_>>())
            }),
            (None, AuditHierarchy::File(lines))
                if lines.find_missing(&request.missing).is_some() =>
            {
                lines.find_missing(&request.missing).map(|line| leaves[line])
            }
            // Without a line of its own the missing value is a child of the root.
            (None, _) => {
                let root = tree.root.clone().unwrap_or("*".to_string());
                tree.add(&[&root])
            }
        };
        leaf.push(listed.ok_or_else(|| {
            Error::hierarchy("hierarchy-lacks-value", "it does not list the value of this row")
                .at_row(column, *row)
        })?);
    }
    Ok(tree.finish(leaf))
}

/// A tree under construction: parents by label.
#[derive(Default)]
struct Nodes {
    by_label: FxHashMap<String, usize>,
    parent: Vec<Option<usize>>,
    height: Vec<i128>,
    root: Option<String>,
}

impl Nodes {
    /// Adds a leaf below these labels, the last of which is the root; none when a label has two
    /// parents.
    fn add(&mut self, above: &[&str]) -> Option<usize> {
        self.root = above.last().map(|root| (*root).to_string());
        let leaf = self.node();
        let mut below = leaf;
        for label in above {
            let at = match self.by_label.get(*label) {
                Some(&at) => at,
                None => {
                    let at = self.node();
                    self.by_label.insert((*label).to_string(), at);
                    at
                }
            };
            if self.parent[below].is_some_and(|parent| parent != at) {
                return None;
            }
            self.parent[below] = Some(at);
            self.height[at] = self.height[at].max(self.height[below] + 1);
            below = at;
        }
        self.parent[below].is_none().then_some(leaf)
    }

    fn node(&mut self) -> usize {
        self.parent.push(None);
        self.height.push(0);
        self.parent.len() - 1
    }

    fn finish(self, leaf: Vec<usize>) -> GroundDistance {
        let mut order: Vec<usize> = (0..self.parent.len()).collect();
        order.sort_by_key(|&node| (self.height[node], self.parent[node].is_none()));
        let mut at = vec![0; order.len()];
        order.iter().enumerate().for_each(|(place, &node)| at[node] = place);
        let nodes = order
            .iter()
            .map(|&node| {
                (self.parent[node].map_or(usize::MAX, |parent| at[parent]), self.height[node])
            })
            .collect();
        GroundDistance::Tree { leaf: leaf.into_iter().map(|node| at[node]).collect(), nodes }
    }
}

/// The earth mover's distance from the class to the whole table.
pub(super) fn distance(
    ground: &GroundDistance,
    class: &ClassCounts<'_>,
    sensitive: &Sensitive<'_>,
) -> Fraction {
    let (size, rows) = (i128::from(class.whole), i128::from(sensitive.rows));
    let total = |value: u32| i128::from(sensitive.totals[value as usize]);
    let count = |value: u32| i128::from(class.counts[value as usize]);
    let (moved, longest) = match ground {
        // The surplus of the class equals its deficit elsewhere.
        GroundDistance::Equal => (
            class
                .present
                .iter()
                .map(|&value| (count(value) * rows - total(value) * size).max(0))
                .sum(),
            1,
        ),
        GroundDistance::Ordered { place, up_to, sums } => {
            let mut steps: Vec<(usize, i128)> = class
                .present
                .iter()
                .map(|&value| (place[value as usize] as usize, count(value)))
                .collect();
            steps.sort_unstable();
            // Between two values of the class its cumulative share is constant while that of the
            // table grows: the sum of the absolute differences splits where the table overtakes the
            // class.
            let between = |from: usize, to: usize, class_up_to: i128| {
                let mine = class_up_to * rows;
                let turn = from + up_to[from..to].partition_point(|table| table * size <= mine);
                let length = |from: usize, to: usize| i128::try_from(to - from).unwrap_or(0);
                let (before, after) = (sums[turn] - sums[from], sums[to] - sums[turn]);
                (mine * length(from, turn) - before * size)
                    + (after * size - mine * length(turn, to))
            };
            let last = up_to.len() - 1;
            let (mut at, mut so_far, mut moved) = (0, 0, 0);
            for (place, count) in steps {
                moved += between(at, place, so_far);
                (at, so_far) = (place, so_far + count);
            }
            (moved + between(at, last, so_far), i128::try_from(last).unwrap_or(0).max(1))
        }
        GroundDistance::Tree { leaf, nodes } => {
            let mut extra = vec![0i128; nodes.len()];
            for (value, &leaf) in (0..).zip(leaf) {
                extra[leaf] += count(value) * rows - total(value) * size;
            }
            let mut surplus = vec![0i128; nodes.len()];
            let mut deficit = vec![0i128; nodes.len()];
            let mut moved = 0;
            for (node, &(parent, height)) in nodes.iter().enumerate() {
                moved += height * surplus[node].min(deficit[node]);
                if parent != usize::MAX {
                    surplus[parent] += extra[node].max(0);
                    deficit[parent] += (-extra[node]).max(0);
                    extra[parent] += extra[node];
                }
            }
            (moved, nodes.last().map_or(1, |root| root.1).max(1))
        }
    };
    Fraction { num: moved.unsigned_abs(), den: (size * rows * longest).unsigned_abs() }
}
