//! One quasi-identifier: its values in order, and for any range of them what is published, what it
//! costs and how it is written.
//!
//! The law that every search relies on: a range inside another never costs more.

use crate::codes::{Code, CodeRange};
use crate::domain::hierarchy::Steps;
use crate::domain::taxonomy::{Node, Taxonomy};

/// What is published where a class has any value at all.
pub const ANY: &str = "*";

/// A quasi-identifier.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// The column's name.
    pub name: String,
    /// How much its loss counts.
    pub weight: f64,
    /// Its values.
    pub domain: Domain,
}

/// The values of a quasi-identifier.
#[derive(Clone, Debug)]
pub enum Domain {
    /// Numbers, dates, or labels in a given order.
    Ordered(Ordered),
    /// Labels under a taxonomy.
    Tree(Taxonomy),
}

/// Values on a line; code i is the i-th least, and the missing value, if the column has one, comes
/// after the greatest.
#[derive(Clone, Debug)]
pub struct Ordered {
    /// The values as numbers, rising: the number itself, days or seconds since 1970, or the place
    /// in the given order.
    pub values: Vec<f64>,
    /// How each value is written.
    pub texts: Vec<String>,
    /// True when the column has a missing value: code `values.len()`, written as an empty cell.
    pub missing: bool,
    /// What stands between the ends of a range: a dash, unless some value has one itself.
    pub between: &'static str,
    /// What the numbers are.
    pub unit: Unit,
    /// The intervals of its hierarchy, if it has one.
    pub steps: Option<Steps>,
    /// True when these intervals are published instead of exact ends.
    pub snap: bool,
    /// The time zone in which instants are shown as bounds: an offset such as `+02:00`, a name, or
    /// none where the column has none.
    pub zone: Option<String>,
}

/// What the numbers of an ordered attribute are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Whole numbers.
    Whole,
    /// Numbers.
    Decimal,
    /// Days since 1970-01-01.
    Day,
    /// Seconds since 1970-01-01.
    Second,
    /// Places in a given order.
    Place,
}

impl Attribute {
    /// How many codes there are.
    pub fn codes(&self) -> usize {
        match &self.domain {
            Domain::Ordered(ordered) => ordered.values.len() + usize::from(ordered.missing),
            Domain::Tree(tree) => tree.leaves(),
        }
    }

    /// The smallest publishable range that contains `range`.
    pub fn cover(&self, range: CodeRange) -> CodeRange {
        match &self.domain {
            Domain::Tree(tree) => tree.range(tree.cover(range)),
            Domain::Ordered(ordered) if ordered.mixes_missing(range) => {
                CodeRange { lo: 0, hi: range.hi }
            }
            Domain::Ordered(ordered) => ordered.cover(range),
        }
    }

    /// The certainty penalty of showing `range` instead of one value: 0 is exact, 1 is anything.
    /// Not weighted.
    pub fn loss(&self, range: CodeRange) -> f64 {
        match &self.domain {
            Domain::Tree(_) if range.is_one() => 0.0,
            Domain::Tree(tree) => span(tree.range(tree.cover(range))) / size(tree.leaves()),
            Domain::Ordered(ordered) if ordered.mixes_missing(range) => 1.0,
            Domain::Ordered(ordered) => ordered.loss(range),
        }
    }

    /// How much of the line of values the range takes, 0 to 1; categories stand on it in tree
    /// order. A yardstick for choosing where to cut, not what is lost.
    pub(crate) fn width(&self, range: CodeRange) -> f64 {
        match &self.domain {
            Domain::Tree(tree) if range.is_one() || tree.leaves() < 2 => 0.0,
            Domain::Tree(tree) => f64::from(range.hi - range.lo) / (size(tree.leaves()) - 1.0),
            Domain::Ordered(_) => self.loss(range),
        }
    }

    /// Where a value stands on the line from 0 to 1: a number by its size, a category by its place
    /// in tree order. A missing value stands apart, as far from the greatest as that is from the
    /// least.
    pub(crate) fn place(&self, code: Code) -> f64 {
        match &self.domain {
            Domain::Tree(tree) if tree.leaves() < 2 => 0.0,
            Domain::Tree(tree) => f64::from(code) / (size(tree.leaves()) - 1.0),
            Domain::Ordered(Ordered { values, .. }) => {
                match (values.first(), values.get(code as usize)) {
                    (Some(least), Some(value)) if value > least => {
                        (value - least) / (values[values.len() - 1] - least)
                    }
                    (_, Some(_)) => 0.0,
                    (_, None) => 2.0,
                }
            }
        }
    }

    /// How the range is written. Two different covers never share a label.
    pub fn label(&self, range: CodeRange) -> String {
        match &self.domain {
            Domain::Tree(tree) => set_label(std::iter::once(tree.label(tree.cover(range)))),
            Domain::Ordered(ordered) => ordered.label(range),
        }
    }

    /// How many levels `code` rises when `range` is shown, and the most it can rise: for the
    /// distortion ratio. A column without a taxonomy is a tree of height 1.
    pub fn risen(&self, code: Code, range: CodeRange) -> (u32, u32) {
        match &self.domain {
            Domain::Tree(tree) => (tree.risen(code, tree.cover(range)), tree.height()),
            Domain::Ordered(ordered) => match ordered.published() {
                None => (u32::from(!range.is_one()), 1),
                Some(Steps { taxonomy, .. }) if ordered.mixes_missing(range) => {
                    (taxonomy.height(), taxonomy.height())
                }
                Some(Steps { taxonomy, .. }) if code as usize == ordered.values.len() => {
                    (0, taxonomy.height())
                }
                Some(Steps { taxonomy, .. }) => {
                    (taxonomy.risen(code, taxonomy.cover(range)), taxonomy.height())
                }
            },
        }
    }

    /// True when a range shows nothing but `*`, so that listing its values says more.
    pub fn is_flat(&self) -> bool {
        matches!(&self.domain, Domain::Tree(tree) if tree.is_flat())
    }
}

impl Ordered {
    /// The intervals that are published instead of exact ends, if any are.
    pub(crate) fn published(&self) -> Option<&Steps> {
        self.steps.as_ref().filter(|_| self.snap)
    }

    fn mixes_missing(&self, range: CodeRange) -> bool {
        self.missing && !range.is_one() && range.hi as usize == self.values.len()
    }

    /// The interval that is published for a range, if one is: one value stands as it is, unless top
    /// or bottom coding hides it.
    fn interval(&self, range: CodeRange) -> Option<Node> {
        let Steps { taxonomy, ends } = self.published()?;
        if !range.is_one() {
            return Some(taxonomy.cover(range));
        }
        let is_number = (range.lo as usize) < self.values.len();
        let above =
            std::iter::successors(is_number.then_some(range.lo), |&node| taxonomy.parent(node));
        let is_open = |node: &Node| {
            let (lo, hi) = ends[*node as usize];
            *node != taxonomy.root() && !(lo.is_finite() && hi.is_finite())
        };
        above.skip(1).find(is_open)
    }

    fn cover(&self, range: CodeRange) -> CodeRange {
        let (Some(node), Some(Steps { taxonomy, .. })) = (self.interval(range), &self.steps) else {
            return range;
        };
        // The root of the intervals is written `*`, like a class that mixes missing and present:
        // make them the same range.
        let missing = u32::from(self.missing && node == taxonomy.root());
        CodeRange { hi: taxonomy.range(node).hi + missing, ..taxonomy.range(node) }
    }

    fn loss(&self, range: CodeRange) -> f64 {
        let Some((&least, &greatest)) = self.values.first().zip(self.values.last()) else {
            return 0.0;
        };
        let (lo, hi) = match (self.interval(range), &self.steps) {
            (Some(node), Some(steps)) => steps.ends[node as usize],
            _ if range.is_one() => return 0.0,
            _ => (self.values[range.lo as usize], self.values[range.hi as usize]),
        };
        if greatest > least { (hi.min(greatest) - lo.max(least)) / (greatest - least) } else { 0.0 }
    }

    fn label(&self, range: CodeRange) -> String {
        if self.mixes_missing(range) {
            return ANY.to_string();
        }
        if let (Some(node), Some(steps)) = (self.interval(range), &self.steps) {
            return steps.taxonomy.label(node).to_string();
        }
        if range.is_one() {
            return self.texts.get(range.lo as usize).cloned().unwrap_or_default();
        }
        format!(
            "[{}{}{}]",
            self.texts[range.lo as usize], self.between, self.texts[range.hi as usize]
        )
    }
}

/// How a set of values or nodes is written: `{a, b}`, and one alone as it is; unless it stands in
/// braces itself, which only a set may.
pub(crate) fn set_label<'a>(members: impl ExactSizeIterator<Item = &'a str>) -> String {
    let members: Vec<&str> = members.collect();
    match *members {
        [alone] if !is_in_braces(alone) => alone.to_string(),
        _ => format!("{{{}}}", members.into_iter().map(member).collect::<Vec<_>>().join(", ")),
    }
}

/// True for what a reader takes for a set.
pub(crate) fn is_in_braces(label: &str) -> bool {
    label.starts_with('{') && label.ends_with('}')
}

/// A member of a set: quoted where it would be mistaken for something else.
fn member(label: &str) -> String {
    if label.is_empty() || label.starts_with(' ') || label.contains([',', '{', '}', '"']) {
        format!("\"{}\"", label.replace('"', "\"\""))
    } else {
        label.to_string()
    }
}

fn span(range: CodeRange) -> f64 {
    f64::from(range.hi - range.lo) + 1.0
}

#[allow(clippy::cast_precision_loss, reason = "there are fewer than 2^32 codes")]
fn size(codes: usize) -> f64 {
    codes as f64
}
