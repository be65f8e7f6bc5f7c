//! The coarser values of an attribute. The next ones: the level above in its hierarchy, or about ten
//! intervals of a number without one. All of them: every level, or ever fewer intervals.

use super::attribute::{Attribute, Domain, Ordered, Unit};
use super::taxonomy::{Node, Taxonomy};
use crate::codes::Code;

/// Intervals that a number without a hierarchy gets, about.
const INTERVALS: f64 = 10.0;

/// Coarser values of an attribute, each shown by the least code of those that become one.
#[derive(Clone, Debug, PartialEq)]
pub struct Coarser {
    /// For each code the least code of its group.
    pub codes: Vec<Code>,
    /// How the values are grouped.
    pub by: CoarserBy,
}

/// The way values are grouped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CoarserBy {
    /// The next level of the hierarchy.
    Hierarchy,
    /// Intervals of this width.
    Width(f64),
    /// So many intervals of equal length.
    Intervals(u32),
}

impl Attribute {
    /// The next coarser values; none when that would be a single one, or when nothing is coarser.
    pub fn coarser(&self) -> Option<Coarser> {
        let found = match &self.domain {
            Domain::Tree(tree) => of_tree(tree, self.codes())?,
            Domain::Ordered(ordered) => match ordered.intervals() {
                Some(intervals) => of_tree(intervals.taxonomy(), self.codes())?,
                None => of_line(ordered, self.codes())?,
            },
        };
        let mut groups = found.codes.clone();
        groups.dedup();
        (groups.len() > 1 && groups.len() < found.codes.len()).then_some(found)
    }

    /// All degrees of coarseness, the finest first and the whole column last: for each code the least
    /// code of its group. Missing numbers are apart until the last.
    pub(crate) fn levels(&self) -> Vec<Vec<Code>> {
        let codes = self.codes();
        let mut levels: Vec<Vec<Code>> = match &self.domain {
            Domain::Tree(tree) => levels_of(tree, codes),
            Domain::Ordered(ordered) => match ordered.intervals() {
                Some(intervals) => levels_of(intervals.taxonomy(), codes),
                None => halves(ordered, codes),
            },
        };
        levels.push(vec![0; codes]);
        levels.retain(|groups| groups.windows(2).any(|pair| pair[0] == pair[1]));
        levels.dedup();
        levels
    }
}

/// The groups of each level of a tree.
fn levels_of(tree: &Taxonomy, codes: usize) -> Vec<Vec<Code>> {
    let of_level = |level: u32| {
        let above = |leaf: Code| tree.range(tree.at_level(leaf, level)).lo;
        let leaves = (0u32..).take(tree.leaves()).map(above);
        leaves.chain((0u32..).take(codes).skip(tree.leaves())).collect()
    };
    (1..=tree.height()).map(of_level).collect()
}

/// 32, 16, 8, 4 and 2 intervals of equal length.
fn halves(ordered: &Ordered, codes: usize) -> Vec<Vec<Code>> {
    let values = ordered.values();
    let Some((&least, &greatest)) = values.first().zip(values.last()) else { return Vec::new() };
    let into = |intervals: f64| {
        let width = (greatest - least) / intervals;
        let interval = |value: f64| ((value - least) / width).floor().min(intervals - 1.0);
        let mut groups: Vec<Code> = Vec::with_capacity(codes);
        for (code, &value) in (0u32..).zip(values) {
            let is_same = code > 0 && interval(values[code as usize - 1]) >= interval(value);
            groups.push(if is_same { groups[code as usize - 1] } else { code });
        }
        groups.extend((0u32..).take(codes).skip(values.len()));
        groups
    };
    [32.0, 16.0, 8.0, 4.0, 2.0].map(into).into()
}

/// The groups of the lowest level on which there are fewer groups than leaves. Codes beyond the
/// leaves (the missing value of numbers) stay as they are.
fn of_tree(tree: &Taxonomy, codes: usize) -> Option<Coarser> {
    let leaves: Vec<Code> = (0u32..).take(tree.leaves()).collect();
    for up in 1..=tree.height() {
        let above = |leaf: Code| -> Node {
            let nodes = std::iter::successors(Some(leaf), |&node| tree.parent(node));
            nodes.take(up as usize + 1).last().expect("the leaf itself")
        };
        let mut groups: Vec<Code> = leaves.iter().map(|&leaf| tree.range(above(leaf)).lo).collect();
        if groups != leaves {
            groups.extend((0u32..).take(codes).skip(leaves.len()));
            return Some(Coarser { codes: groups, by: CoarserBy::Hierarchy });
        }
    }
    None
}

/// Intervals of a width of 1, 2 or 5 times a power of ten; of days, seconds and places a tenth of
/// all.
fn of_line(ordered: &Ordered, codes: usize) -> Option<Coarser> {
    let values = ordered.values();
    let (least, greatest) = (*values.first()?, *values.last()?);
    let tenth = (greatest - least) / INTERVALS;
    if tenth <= 0.0 || !tenth.is_finite() {
        return None;
    }
    let (origin, width, by) = match ordered.unit() {
        Unit::Whole | Unit::Decimal => {
            let width = round_up(tenth);
            (0.0, width, CoarserBy::Width(width))
        }
        // The greatest value is in the last interval.
        Unit::Day | Unit::Second | Unit::Place => {
            (least, tenth * (1.0 + 1e-9), CoarserBy::Intervals(10))
        }
    };
    let interval = |value: f64| ((value - origin) / width).floor();
    let mut groups: Vec<Code> = Vec::with_capacity(codes);
    for (code, &value) in (0u32..).zip(values) {
        let is_same = code > 0 && interval(values[code as usize - 1]) >= interval(value);
        groups.push(if is_same { groups[code as usize - 1] } else { code });
    }
    groups.extend((0u32..).take(codes).skip(values.len()));
    Some(Coarser { codes: groups, by })
}

/// The least of 1, 2, 5, 10, 20, ... and their tenths that is no less.
fn round_up(width: f64) -> f64 {
    let power = 10f64.powf(width.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * power);
    steps.into_iter().find(|&step| step >= width * (1.0 - 1e-9)).unwrap_or(10.0 * power)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    fn coarser(cells: &[&str], keys: &str) -> Option<Coarser> {
        let toml = format!("k = 1\nrest = 'drop'\ncolumns.v = {{ role = 'quasi'{keys} }}");
        let lines: String = cells.iter().map(|cell| format!("\"{cell}\",-\n")).collect();
        let problem = testing::problem(&format!("v,x\n{lines}"), &toml).unwrap();
        problem.attributes()[0].coarser()
    }

    #[test]
    fn numbers_get_round_intervals_and_the_missing_value_stays() {
        let ages = coarser(&["17", "19", "20", "29", "31", "90", ""], "").unwrap();
        assert_eq!(ages.by, CoarserBy::Width(10.0));
        assert_eq!(ages.codes, [0, 0, 2, 2, 4, 5, 6]);
        assert_eq!(coarser(&["1", "2", "3"], ""), None, "every value is an interval");
        assert_eq!(coarser(&["7"], ""), None);
        let days = coarser(&["2020-01-01", "2020-01-02", "2020-12-31"], "").unwrap();
        assert_eq!((days.by, days.codes), (CoarserBy::Intervals(10), vec![0, 0, 2]));
        for (width, round) in [(7.3, 10.0), (0.11, 0.2), (5.0, 5.0), (20.1, 50.0)] {
            assert!((round_up(width) - round).abs() < 1e-12, "{width}");
        }
    }

    #[test]
    fn all_levels_end_with_the_whole_column() {
        let levels = |cells: &[&str], keys: &str| {
            let toml = format!("k = 1\nrest = 'drop'\ncolumns.v = {{ role = 'quasi'{keys} }}");
            let lines: String = cells.iter().map(|cell| format!("\"{cell}\",-\n")).collect();
            let problem = testing::problem(&format!("v,x\n{lines}"), &toml).unwrap();
            problem.attributes()[0].levels()
        };
        let text = ", hierarchy = { rows = [['a', 'ab', '*'], ['b', 'ab', '*'], ['c', 'c', '*']] }";
        assert_eq!(levels(&["a", "b", "c"], text), [vec![0, 0, 2], vec![0, 0, 0]]);
        assert_eq!(levels(&["a", "b"], ""), [vec![0, 0]]);
        let numbers = levels(&["0", "1", "6", "8", ""], "");
        assert_eq!(numbers, [vec![0, 0, 2, 2, 4], vec![0; 5]], "16 intervals keep all apart");
        assert_eq!(levels(&["7"], ""), Vec::<Vec<Code>>::new(), "one value has nothing coarser");
    }

    #[test]
    fn a_hierarchy_gives_the_first_level_that_groups_anything() {
        let text = ", hierarchy = { text = 'a;ab;*\nb;ab;*\nc;cd;*\n' }";
        let found = coarser(&["a", "b", "c"], &text.replace('\n', "\\n").replace('\'', "\""));
        let found = found.unwrap();
        assert_eq!((found.by, found.codes), (CoarserBy::Hierarchy, vec![0, 0, 2]));
        assert_eq!(coarser(&["a", "b", "c"], ""), None, "only `*` is coarser");
        let ages = coarser(&["1", "2", "7", "8"], ", hierarchy = { intervals = [5] }").unwrap();
        assert_eq!((ages.by, ages.codes), (CoarserBy::Hierarchy, vec![0, 0, 2, 2]));
    }
}
