//! Labels: the text that is published for a range of codes.
//!
//! `[6-13]` is made here, by [`Attribute::label`], out of the texts of the least and the greatest
//! value of the range; `*` stands for a range that mixes present and missing values. A run of whole months
//! (`[2023-02-01 .. 2023-05-31]`) has its first and its last day. The labels of
//! intervals (`[20-24]`) and of groups are made with the hierarchy, in
//! [`hierarchy`](crate::domain::hierarchy). `release/published.rs` puts labels into cells.

use jiff::Span;
use jiff::civil::Date;

use crate::codes::CodeRange;
use crate::domain::attribute::{Attribute, Domain, Ordered, Snapped, Unit};
use crate::domain::parse::DAY;

/// The label that is published where a class may have any value.
pub const ANY: &str = "*";

impl Attribute {
    /// The text of a range that [`cover`](Attribute::cover) returned: `[6-13]`, `7`, the label of a
    /// group, or `*`. Two different covers never share a label.
    pub fn label(&self, range: CodeRange) -> String {
        match &self.domain {
            Domain::Tree(tree) => set_label(std::iter::once(tree.label(tree.cover(range)))),
            Domain::Ordered(ordered) => of_ordered(ordered, range),
        }
    }
}

fn of_ordered(ordered: &Ordered, range: CodeRange) -> String {
    if ordered.mixes_missing(range) {
        return ANY.to_string();
    }
    match ordered.snapped(range) {
        Some((tree, Snapped::Node(node))) => return tree.taxonomy().label(node).to_string(),
        Some((tree, run)) => return run_label(ordered.unit(), run.ends(tree)),
        None => {}
    }
    if range.is_one() {
        return ordered.texts().get(range.lo as usize).cloned().unwrap_or_default();
    }
    format!(
        "[{}{}{}]",
        ordered.texts()[range.lo as usize],
        ordered.between,
        ordered.texts()[range.hi as usize]
    )
}

/// The text of a run of whole units: its first and its last day, of times its first second and the
/// first one after it.
fn run_label(unit: Unit, (lo, hi): (f64, f64)) -> String {
    if unit == Unit::Day {
        return format!("[{} .. {}]", day(lo), day(hi));
    }
    // The last second of a day, or the first of the next.
    let after = (hi / DAY).ceil();
    format!("[{}T00:00:00 .. {}T00:00:00)", day(lo / DAY), day(after))
}

/// The date of a number of days since 1970.
#[allow(clippy::cast_possible_truncation, reason = "days of ten thousand years")]
fn day(days: f64) -> Date {
    let first = Date::constant(1970, 1, 1);
    first.checked_add(Span::new().days(days as i64)).unwrap_or(Date::MAX)
}

/// The text of a set of values or groups: `{a, b}`. A single member has no braces, unless it has
/// some itself, which only a set may.
pub(crate) fn set_label<'a>(members: impl ExactSizeIterator<Item = &'a str>) -> String {
    let members: Vec<&str> = members.collect();
    match *members {
        [alone] if !is_in_braces(alone) => alone.to_string(),
        _ => format!("{{{}}}", members.into_iter().map(member).collect::<Vec<_>>().join(", ")),
    }
}

/// True for a label that reads like a set.
pub(crate) fn is_in_braces(label: &str) -> bool {
    label.starts_with('{') && label.ends_with('}')
}

/// A member of a set: quoted where it would read like several members or like a set.
fn member(label: &str) -> String {
    if label.is_empty() || label.starts_with(' ') || label.contains([',', '{', '}', '"']) {
        format!("\"{}\"", label.replace('"', "\"\""))
    } else {
        label.to_string()
    }
}
