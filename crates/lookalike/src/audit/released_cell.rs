//! Released cells as text: labels, intervals, sets and bounds.

use std::borrow::Cow;

use super::classes::Fold;
use super::coded;
use super::reading::{place_of_instant, place_of_number};
use super::surface::QuasiColumns;
use crate::codes::Codes;
use crate::error::Result;
use crate::request::{ColumnRequest, HierarchySpec, Kind};
use crate::table::{Coded, Table};

/// The published value of one row for a quasi-identifier.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ReleasedCell<'a> {
    Label(Option<&'a str>),
    Bounds {
        min: Option<&'a str>,
        max: Option<&'a str>,
        /// `no`, `yes` or `maybe`; none where the release has no such column.
        missing: Option<&'a str>,
    },
}

/// For each released row the code of its cell of a quasi-identifier, and these cells.
pub(crate) fn cells<'a>(
    columns: &QuasiColumns,
    release: &'a Table,
) -> Result<(Cow<'a, Codes>, Vec<ReleasedCell<'a>>)> {
    match columns {
        QuasiColumns::Label(name) => {
            let labels = coded(release, name)?;
            let cells = labels.values().iter().map(|label| ReleasedCell::Label(label.as_deref()));
            Ok((Cow::Borrowed(labels.codes()), cells.collect()))
        }
        QuasiColumns::Bounds { min, max, missing, .. } => {
            let min = coded(release, min)?;
            let max = coded(release, max)?;
            let missing = missing.as_ref().map(|missing| coded(release, missing)).transpose()?;
            let mut fold = Fold::new(release.rows());
            let columns = [Some(min), Some(max), missing].into_iter().flatten();
            fold.refine(
                &columns
                    .map(|column| (column.values().len(), |row: usize| column.codes().get(row)))
                    .collect::<Vec<_>>(),
            );
            let classes = fold.finish();
            let cells = classes.first.iter().map(|&row| {
                let text = |column: &'a Coded| {
                    column.values()[column.codes().get(row as usize) as usize].as_deref()
                };
                ReleasedCell::Bounds {
                    min: text(min),
                    max: text(max),
                    missing: missing.map(|missing| text(missing).unwrap_or_default()),
                }
            });
            let cells = cells.collect();
            Ok((Cow::Owned(classes.of.into_iter().collect()), cells))
        }
    }
}

/// How the values of a column are ordered, so that an interval can be read.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ValueScale<'a> {
    Numbers,
    /// Nanoseconds since 1970.
    Instants,
    /// Places in this order.
    Order(&'a [String]),
    Unordered,
}

impl ValueScale<'_> {
    pub(crate) fn place(self, text: &str) -> Option<i128> {
        match self {
            ValueScale::Numbers => place_of_number(text),
            ValueScale::Instants => place_of_instant(text),
            ValueScale::Order(labels) => {
                labels.iter().position(|label| label == text).and_then(|at| i128::try_from(at).ok())
            }
            ValueScale::Unordered => None,
        }
    }
}

/// The scale of a column, by its line in the request, else by the form of its values.
pub(super) fn scale<'a>(values: &[Option<&str>], column: &'a ColumnRequest) -> ValueScale<'a> {
    let all =
        |place: fn(&str) -> Option<i128>| values.iter().flatten().all(|text| place(text).is_some());
    // Digits behind a leading zero are a code: 02139 is not 2139.
    let is_code = |text: &&str| {
        text.len() > 1 && text.starts_with('0') && text.chars().all(|c| c.is_ascii_digit())
    };
    let codes = values.iter().flatten().any(is_code);
    match (column.kind, &column.order, &column.hierarchy) {
        (Some(Kind::Numeric), ..) => ValueScale::Numbers,
        (Some(Kind::Date), ..) => ValueScale::Instants,
        (Some(Kind::Categorical), ..) => ValueScale::Unordered,
        (_, Some(order), _) => ValueScale::Order(order),
        (Some(Kind::Ordinal), ..)
        | (_, _, Some(HierarchySpec::Prefix(_) | HierarchySpec::Builtin(_))) => {
            ValueScale::Unordered
        }
        (_, _, Some(HierarchySpec::Intervals(_))) => ValueScale::Numbers,
        (_, _, Some(HierarchySpec::Date(_))) => ValueScale::Instants,
        _ if !codes && all(place_of_number) => ValueScale::Numbers,
        _ if all(place_of_instant) => ValueScale::Instants,
        _ => ValueScale::Unordered,
    }
}

/// Places from `lo` to `hi`; an absent end is open.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Interval {
    pub(crate) lo: Option<i128>,
    pub(crate) hi: Option<i128>,
    pub(crate) closed: bool,
}

/// Reads `[20-30]`, `[20-30)`, `[-5 .. 5]`, `<20`, `>=80`, or a single value of the scale.
pub(crate) fn interval(text: &str, scale: ValueScale<'_>) -> Option<Interval> {
    if let Some(place) = scale.place(text) {
        return Some(Interval { lo: Some(place), hi: Some(place), closed: true });
    }
    if let Some(end) = text.strip_prefix('<') {
        return scale.place(end).map(|hi| Interval { lo: None, hi: Some(hi), closed: false });
    }
    if let Some(end) = text.strip_prefix(">=") {
        return scale.place(end).map(|lo| Interval { lo: Some(lo), hi: None, closed: true });
    }
    let inside = text.strip_prefix('[')?;
    let (inside, closed) = match inside.strip_suffix(']') {
        Some(inside) => (inside, true),
        None => (inside.strip_suffix(')')?, false),
    };
    let separator = if inside.contains(" .. ") { " .. " } else { "-" };
    let mut readings = inside.match_indices(separator).filter_map(|(at, _)| {
        let lo = scale.place(&inside[..at])?;
        let hi = scale.place(&inside[at + separator.len()..])?;
        (lo <= hi).then_some(Interval { lo: Some(lo), hi: Some(hi), closed })
    });
    // A label that can be read in two ways covers nothing.
    readings.next().filter(|_| readings.next().is_none())
}

/// Reads `{a, b, "c,d"}`, with or without the blanks; the member `""` is the missing value.
pub(crate) fn members(text: &str) -> Option<Vec<Option<String>>> {
    let mut rest = text.strip_prefix('{')?.strip_suffix('}')?;
    let mut all = Vec::new();
    loop {
        let (member, after) = match rest.strip_prefix('"') {
            Some(quoted) => {
                let mut end = quoted.find('"')?;
                while quoted[end + 1..].starts_with('"') {
                    end += 2 + quoted[end + 2..].find('"')?;
                }
                (quoted[..end].replace("\"\"", "\""), &quoted[end + 1..])
            }
            None => {
                let end = rest.find(',').unwrap_or(rest.len());
                (Some(rest[..end].to_string()).filter(|member| !member.is_empty())?, &rest[end..])
            }
        };
        all.push(Some(member).filter(|member| !member.is_empty()));
        if after.is_empty() {
            return Some(all);
        }
        let next = after.strip_prefix(',')?;
        rest = next.strip_prefix(' ').unwrap_or(next);
    }
}
