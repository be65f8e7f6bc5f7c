//! One quasi-identifier: its values in order, and for any range of codes the range that is
//! published instead ([`Attribute::cover`]), its loss ([`Attribute::loss`]) and its text
//! ([`Attribute::label`], in `label.rs`).
//!
//! All searches rely on this law: a range inside another one never has a greater loss.

use serde::{Deserialize, Serialize};

use super::hierarchy::IntervalTree;
use super::taxonomy::{Node, Taxonomy};
use crate::codes::{Code, CodeRange};

/// A quasi-identifier.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    /// The column's name.
    pub name: String,
    /// The factor of its loss, from 0 to 10^9.
    pub weight: f64,
    /// Its values.
    pub domain: Domain,
}

/// The values of a quasi-identifier.
#[derive(Clone, Debug, PartialEq)]
pub enum Domain {
    /// Numbers, dates, or labels in a given order.
    Ordered(Ordered),
    /// Labels under a taxonomy.
    Tree(Taxonomy),
}

/// Values on a line; code i is the i-th least, and the missing value, if the column has one, comes
/// after the greatest.
///
/// Invariant: the values rise, and there are as many texts.
#[derive(Clone, Debug, PartialEq)]
pub struct Ordered {
    values: Vec<f64>,
    texts: Vec<String>,
    has_missing: bool,
    /// The text between the ends of a range: a dash, unless some value has one itself.
    pub(super) between: &'static str,
    unit: Unit,
    intervals: Option<IntervalTree>,
    snap: bool,
    /// Runs of whole calendar units are published instead of single ones.
    has_runs: bool,
    zone: Option<String>,
}

/// What is published for a range of an ordered attribute instead of its exact ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Snapped {
    /// A node of the hierarchy.
    Node(Node),
    /// All from the first unit to the last, which are two: nodes of the hierarchy.
    Run(Node, Node),
}

/// The unit of the numbers of an ordered attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Whole numbers, all below 9 * 10^15.
    Whole,
    /// Any finite numbers.
    Decimal,
    /// Days since 1970-01-01.
    Day,
    /// Seconds since 1970-01-01T00:00:00 UTC.
    Second,
    /// Places in a given order, from 0.
    Place,
}

impl Domain {
    /// The unit of ordered values; none for a tree.
    pub(crate) fn unit(&self) -> Option<Unit> {
        match self {
            Domain::Ordered(ordered) => Some(ordered.unit),
            Domain::Tree(_) => None,
        }
    }
}

impl Attribute {
    /// The number of codes: of values, with the missing one.
    pub fn codes(&self) -> usize {
        match &self.domain {
            Domain::Ordered(ordered) => ordered.values.len() + usize::from(ordered.has_missing),
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

    /// The normalized certainty penalty (NCP) of publishing `range` instead of one value, not
    /// weighted: 0 is exact, 1 is any value.
    pub fn loss(&self, range: CodeRange) -> f64 {
        match &self.domain {
            Domain::Tree(_) if range.is_one() => 0.0,
            Domain::Tree(tree) => span(tree.range(tree.cover(range))) / size(tree.leaves()),
            Domain::Ordered(ordered) if ordered.mixes_missing(range) => 1.0,
            Domain::Ordered(ordered) => ordered.loss(range),
        }
    }

    /// The part of the line of values that the range takes, 0 to 1; categories lie on it in tree
    /// order. A measure for choosing where to cut, not a loss.
    pub(crate) fn width(&self, range: CodeRange) -> f64 {
        match &self.domain {
            Domain::Tree(tree) if range.is_one() || tree.leaves() < 2 => 0.0,
            Domain::Tree(tree) => f64::from(range.hi - range.lo) / (size(tree.leaves()) - 1.0),
            Domain::Ordered(_) => self.loss(range),
        }
    }

    /// The place of a value on the line from 0 to 1: a number by its size, a category by its order
    /// in the tree. A missing value is at 2, as far from the greatest as that is from the least.
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

    /// The number of levels from `code` up to the published `range`, and from `code` up to the
    /// root: for the distortion ratio. A column without a taxonomy is a tree of height 1.
    pub fn levels_up(&self, code: Code, range: CodeRange) -> (u32, u32) {
        match &self.domain {
            Domain::Tree(tree) => (tree.levels_up(code, tree.cover(range)), tree.height()),
            Domain::Ordered(ordered) => {
                let Some(tree) = ordered.published() else {
                    return (u32::from(!range.is_one()), 1);
                };
                let taxonomy = tree.taxonomy();
                let levels = if ordered.mixes_missing(range) {
                    taxonomy.height()
                } else if code as usize == ordered.values.len() {
                    0
                } else {
                    taxonomy.levels_up(code, taxonomy.cover(range))
                };
                (levels, taxonomy.height())
            }
        }
    }

    /// True when every range of several values is published as `*`, so that the list of its values
    /// says more.
    pub fn is_flat(&self) -> bool {
        matches!(&self.domain, Domain::Tree(tree) if tree.is_flat())
    }
}

impl Ordered {
    /// Values without a missing one, intervals or a time zone. Panics unless the values rise and
    /// there are as many texts.
    pub(crate) fn new(values: Vec<f64>, texts: Vec<String>, unit: Unit) -> Ordered {
        assert!(values.windows(2).all(|pair| pair[0] < pair[1]), "the values rise");
        assert_eq!(values.len(), texts.len(), "every value has a text");
        let has_dash = texts.iter().any(|text| text.contains('-'));
        Ordered {
            values,
            texts,
            has_missing: false,
            between: if has_dash { " .. " } else { "-" },
            unit,
            intervals: None,
            snap: false,
            has_runs: false,
            zone: None,
        }
    }

    pub(crate) fn with_missing(self, has_missing: bool) -> Ordered {
        Ordered { has_missing, ..self }
    }

    /// `snap` publishes these intervals instead of exact ends. Of a calendar with one unit it
    /// publishes runs of whole units: from the first of a month to the last of one. Times with an
    /// offset from UTC have none, because the ends of their months differ.
    pub(crate) fn with_intervals(self, intervals: Option<IntervalTree>, snap: bool) -> Ordered {
        let is_calendar = match self.unit {
            Unit::Day => true,
            Unit::Second => self.texts.iter().all(|text| !has_offset(text)),
            Unit::Whole | Unit::Decimal | Unit::Place => false,
        };
        // A file has the ends of its leaves, a calendar has none.
        let has_one_unit = intervals.as_ref().is_some_and(|tree| {
            let taxonomy = tree.taxonomy();
            taxonomy.height() == 2 && tree.ends(taxonomy.root()).0.is_infinite()
        });
        Ordered { intervals, snap, has_runs: is_calendar && has_one_unit, ..self }
    }

    pub(crate) fn set_zone(&mut self, zone: Option<String>) {
        self.zone = zone;
    }

    /// The values as numbers, rising: the number itself, days or seconds since 1970, or the place
    /// in the given order.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The text of each value.
    pub fn texts(&self) -> &[String] {
        &self.texts
    }

    /// True when the column has a missing value: code `values().len()`, published as an empty cell.
    pub fn has_missing(&self) -> bool {
        self.has_missing
    }

    /// The unit of the values.
    pub fn unit(&self) -> Unit {
        self.unit
    }

    /// The intervals of its hierarchy, if it has one.
    pub fn intervals(&self) -> Option<&IntervalTree> {
        self.intervals.as_ref()
    }

    /// The time zone in which instants are published as bounds: an offset such as `+02:00`, a name,
    /// or none where the column has none.
    pub fn zone(&self) -> Option<&str> {
        self.zone.as_deref()
    }

    /// True when intervals are published instead of exact ends.
    pub(super) fn snaps(&self) -> bool {
        self.snap
    }

    /// True when runs of whole calendar units are published.
    pub(crate) fn has_runs(&self) -> bool {
        self.snap && self.has_runs
    }

    /// The begin and the end of the calendar unit that a value lies in, where units are published.
    pub(crate) fn unit_ends(&self, code: Code) -> (f64, f64) {
        let Some(tree) = self.published() else { return (f64::NEG_INFINITY, f64::INFINITY) };
        let taxonomy = tree.taxonomy();
        let unit = taxonomy.parent(code).filter(|&node| node != taxonomy.root()).unwrap_or(code);
        tree.ends(unit)
    }

    /// The intervals that are published instead of exact ends, if any are.
    pub(crate) fn published(&self) -> Option<&IntervalTree> {
        self.intervals.as_ref().filter(|_| self.snap)
    }

    pub(super) fn mixes_missing(&self, range: CodeRange) -> bool {
        self.has_missing && !range.is_one() && range.hi as usize == self.values.len()
    }

    /// What is published for a range, with its tree, unless that is exact: a single value is
    /// published unchanged, unless top or bottom coding hides it.
    pub(crate) fn snapped(&self, range: CodeRange) -> Option<(&IntervalTree, Snapped)> {
        let tree = self.published()?;
        let taxonomy = tree.taxonomy();
        if !range.is_one() {
            let cover = taxonomy.cover(range);
            let is_run = self.has_runs && cover == taxonomy.root();
            let unit = |code| taxonomy.parent(code).filter(|&node| node != cover).unwrap_or(code);
            return Some((
                tree,
                match is_run {
                    true => Snapped::Run(unit(range.lo), unit(range.hi)),
                    false => Snapped::Node(cover),
                },
            ));
        }
        let is_number = (range.lo as usize) < self.values.len();
        let above =
            std::iter::successors(is_number.then_some(range.lo), |&node| taxonomy.parent(node));
        let is_open = |node: &Node| {
            let (lo, hi) = tree.ends(*node);
            *node != taxonomy.root() && !(lo.is_finite() && hi.is_finite())
        };
        above.skip(1).find(is_open).map(|node| (tree, Snapped::Node(node)))
    }

    /// True when a published range is one value as it is, or the missing one.
    pub(crate) fn is_exact(&self, range: CodeRange) -> bool {
        range.is_one() && self.snapped(range).is_none()
    }

    fn cover(&self, range: CodeRange) -> CodeRange {
        let Some((tree, snapped)) = self.snapped(range) else { return range };
        let taxonomy = tree.taxonomy();
        match snapped {
            Snapped::Run(first, last) => {
                CodeRange { lo: taxonomy.range(first).lo, hi: taxonomy.range(last).hi }
            }
            // The root of the intervals has the label `*`, like a class that mixes missing and
            // present: make them the same range.
            Snapped::Node(node) => {
                let missing = u32::from(self.has_missing && node == taxonomy.root());
                CodeRange { hi: taxonomy.range(node).hi + missing, ..taxonomy.range(node) }
            }
        }
    }

    fn loss(&self, range: CodeRange) -> f64 {
        let Some((&least, &greatest)) = self.values.first().zip(self.values.last()) else {
            return 0.0;
        };
        let (lo, hi) = match self.snapped(range) {
            Some((tree, snapped)) => snapped.ends(tree),
            None if range.is_one() => return 0.0,
            None => (self.values[range.lo as usize], self.values[range.hi as usize]),
        };
        if greatest > least { (hi.min(greatest) - lo.max(least)) / (greatest - least) } else { 0.0 }
    }
}

impl Snapped {
    /// The least and the greatest number of what is published.
    pub(crate) fn ends(self, tree: &IntervalTree) -> (f64, f64) {
        match self {
            Snapped::Node(node) => tree.ends(node),
            Snapped::Run(first, last) => (tree.ends(first).0, tree.ends(last).1),
        }
    }
}

/// True for a time with an offset from UTC.
fn has_offset(text: &str) -> bool {
    let time = text.trim().split_once(['T', 't', ' ']).map_or("", |(_, time)| time);
    time.contains(['Z', 'z', '+', '-'])
}

fn span(range: CodeRange) -> f64 {
    f64::from(range.hi - range.lo) + 1.0
}

#[allow(clippy::cast_precision_loss, reason = "there are fewer than 2^32 codes")]
fn size(codes: usize) -> f64 {
    codes as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::{Interval, ValueScale, interval};
    use crate::domain::label::set_label;
    use crate::rng::Rng;
    use crate::testing;

    /// The quasi-identifier of one column with these cells and keys; `snap` publishes intervals.
    fn attribute(cells: &[&str], keys: &str, snap: bool) -> Attribute {
        let toml = format!(
            "k = 1\nrest = 'drop'\noutput.snap = {snap}\ncolumns.v = {{ role = 'quasi'{keys} }}"
        );
        let lines: String = cells.iter().map(|cell| format!("\"{cell}\",-\n")).collect();
        let problem = testing::problem(&format!("v,x\n{lines}"), &toml).unwrap();
        problem.attributes()[0].clone()
    }

    fn range(lo: Code, hi: Code) -> CodeRange {
        CodeRange { lo, hi }
    }

    fn assert_loss(attribute: &Attribute, range: CodeRange, expected: f64) {
        let loss = attribute.loss(range);
        assert!((loss - expected).abs() < 1e-12, "{range:?}: {loss}, not {expected}");
    }

    #[test]
    fn a_range_of_numbers_loses_its_share_of_the_whole_range() {
        let age = attribute(&["6", "13", "8", "26", ""], "", false);
        assert_eq!(age.codes(), 5);
        assert_eq!(age.label(range(0, 2)), "[6-13]");
        assert_eq!((age.label(range(1, 1)), age.label(range(4, 4))), ("8".into(), String::new()));
        assert_loss(&age, range(0, 2), 7.0 / 20.0);
        assert_loss(&age, range(0, 3), 1.0);
        assert_loss(&age, range(1, 1), 0.0);
        assert_loss(&age, range(4, 4), 0.0);
        assert_eq!(age.cover(range(0, 2)), range(0, 2), "any range can be published");
    }

    #[test]
    fn present_and_missing_together_are_published_as_any_value() {
        let age = attribute(&["6", "13", "26", ""], "", false);
        assert_eq!(age.cover(range(2, 3)), range(0, 3));
        assert_eq!(age.label(range(0, 3)), "*");
        assert_loss(&age, range(2, 3), 1.0);
        assert_eq!(age.levels_up(2, range(2, 3)), (1, 1));
    }

    #[test]
    fn the_dash_between_two_ends_gives_way_to_one_in_a_value() {
        let label = |cells: &[&str]| attribute(cells, "", false).label(range(0, 1));
        assert_eq!(label(&["-3", "4"]), "[-3 .. 4]");
        assert_eq!(label(&["2024-03-17", "2023-01-01"]), "[2023-01-01 .. 2024-03-17]");
        assert_eq!(label(&["1.5", "2"]), "[1.5-2]");
        let order = attribute(&["low", "high"], ", order = ['low', 'high']", false);
        assert_eq!(order.label(range(0, 1)), "[low-high]");
    }

    #[test]
    fn a_single_number_or_none_loses_nothing() {
        let one = attribute(&["7", "7"], "", false);
        assert_loss(&one, range(0, 0), 0.0);
        let none = attribute(&["", ""], ", kind = 'numeric'", false);
        assert_eq!((none.codes(), none.label(range(0, 0))), (1, String::new()));
        assert_loss(&none, range(0, 0), 0.0);
    }

    #[test]
    fn intervals_are_published_only_by_snap() {
        let keys = ", hierarchy = { intervals = [10, 20] }";
        let cells = ["3", "12", "17", "35", ""];
        let exact = attribute(&cells, keys, false);
        assert_eq!(
            (exact.cover(range(1, 2)), exact.label(range(1, 2))),
            (range(1, 2), "[12-17]".into())
        );
        let snapped = attribute(&cells, keys, true);
        let published = |of: CodeRange| snapped.label(snapped.cover(of));
        assert_eq!(published(range(1, 2)), "[10-19]");
        assert_eq!(snapped.cover(range(0, 1)), range(0, 2), "[0-19] has 17 too");
        assert_eq!(
            (published(range(0, 1)), published(range(1, 1))),
            ("[0-19]".into(), "12".into())
        );
        assert_eq!(snapped.cover(range(0, 3)), range(0, 4), "the root takes the missing value");
        assert_eq!((published(range(0, 3)), published(range(3, 4))), ("*".into(), "*".into()));
        // The numbers lie from 3 to 35: of [0-19] they take 3 to 19.
        assert_loss(&snapped, range(0, 1), 16.0 / 32.0);
        assert_loss(&snapped, range(1, 2), 9.0 / 32.0);
        assert_eq!(snapped.levels_up(1, range(1, 2)), (1, 3));
        assert_eq!(snapped.levels_up(4, range(4, 4)), (0, 3));
        assert_eq!(snapped.levels_up(4, range(3, 4)), (3, 3));
    }

    #[test]
    fn labels_lose_the_share_of_leaves_under_their_group() {
        let zip =
            attribute(&["11", "12", "21", "22", "23"], ", hierarchy = { prefix = [1] }", false);
        assert_eq!(zip.cover(range(0, 1)), range(0, 1));
        assert_eq!((zip.label(range(0, 1)), zip.label(range(2, 3))), ("1*".into(), "2*".into()));
        assert_eq!(zip.cover(range(1, 2)), range(0, 4));
        assert_loss(&zip, range(2, 3), 3.0 / 5.0);
        assert_loss(&zip, range(1, 2), 1.0);
        assert_loss(&zip, range(4, 4), 0.0);
        assert_eq!((zip.levels_up(0, range(0, 1)), zip.is_flat()), ((1, 2), false));
        let city = attribute(&["Ulm", "Bonn"], "", false);
        assert_eq!((city.label(range(0, 1)), city.is_flat()), ("*".into(), true));
    }

    #[test]
    fn a_set_is_written_so_that_its_members_can_be_read() {
        let set = |members: &[&str]| set_label(members.iter().copied());
        assert_eq!(set(&["a", "b"]), "{a, b}");
        assert_eq!((set(&["a"]), set(&["{a}"])), ("a".into(), "{\"{a}\"}".into()));
        assert_eq!(
            set(&["", "a, b", "say \"c\"", " d"]),
            "{\"\", \"a, b\", \"say \"\"c\"\"\", \" d\"}"
        );
    }

    #[test]
    #[should_panic(expected = "the values rise")]
    fn values_that_do_not_rise_are_a_bug() {
        Ordered::new(vec![1.0, 1.0], vec!["1".into(), "1.0".into()], Unit::Whole);
    }

    /// The audit has a parser of its own: it must read every label as the range it was made from.
    #[test]
    fn the_audit_reads_every_label_as_its_range() {
        let mut rng = Rng::new(11);
        let mut with_dash = 0;
        for round in 0..300 {
            let cell = |rng: &mut Rng| {
                let number =
                    i32::try_from(rng.below(400)).unwrap() - if round % 2 == 0 { 0 } else { 200 };
                match round % 3 {
                    0 => number.to_string(),
                    1 => format!("{}", f64::from(number) / 8.0),
                    _ => format!("20{:02}-0{}-1{}", rng.below(40), 1 + rng.below(9), rng.below(10)),
                }
            };
            let cells: Vec<String> = (0..2 + rng.below(12)).map(|_| cell(&mut rng)).collect();
            let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
            let attribute = attribute(&cells, "", false);
            let Domain::Ordered(ordered) = &attribute.domain else { panic!("a line") };
            let scale = if round % 3 == 2 { ValueScale::Instants } else { ValueScale::Numbers };
            let codes = u32::try_from(ordered.values().len()).unwrap();
            for lo in 0..codes {
                for hi in lo..codes {
                    let label = attribute.label(attribute.cover(range(lo, hi)));
                    let place = |code: Code| scale.place(&ordered.texts()[code as usize]);
                    let expected = Interval { lo: place(lo), hi: place(hi), closed: true };
                    assert_eq!(interval(&label, scale), Some(expected), "round {round}");
                    with_dash += u32::from(label.contains(" .. "));
                }
            }
        }
        assert!(with_dash > 1_000, "{with_dash}");
    }

    #[test]
    fn a_range_inside_another_never_loses_more() {
        let mut rng = Rng::new(3);
        for round in 0..60 {
            let keys = [
                "",
                ", hierarchy = { intervals = [3, 9], bottom = 10, top = 40 }",
                ", kind = 'categorical'",
                ", kind = 'categorical', hierarchy = { prefix = [1] }",
            ][round % 4];
            let cells: Vec<String> = (0..10)
                .map(|_| if rng.below(8) == 0 { String::new() } else { rng.below(60).to_string() })
                .collect();
            let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
            let attribute = attribute(&cells, keys, round % 8 < 4);
            let codes = u32::try_from(attribute.codes()).unwrap();
            for (lo, hi) in (0..codes).flat_map(|lo| (lo..codes).map(move |hi| (lo, hi))) {
                let outer = attribute.loss(range(lo, hi));
                assert!((0.0..=1.0).contains(&outer), "round {round}");
                let cover = attribute.cover(range(lo, hi));
                assert!(cover.contains(lo) && cover.contains(hi));
                assert_eq!(attribute.cover(cover), cover, "round {round}");
                for (a, b) in (lo..=hi).flat_map(|a| (a..=hi).map(move |b| (a, b))) {
                    assert!(attribute.loss(range(a, b)) <= outer + 1e-12, "round {round}");
                }
            }
        }
    }
}
