//! Bounds under `snap`: where they are not one value, they must be the ends of an interval of the
//! column's hierarchy, as the request says it. Other ends would be exact values of somebody.
//!
//! Hierarchies of intervals and of calendar units are checked. Times with an offset from UTC are not:
//! where offsets differ, an interval has no ends in one of them.

use jiff::Span;
use jiff::civil::{Date, DateTime, Time};
use rustc_hash::FxHashMap;

use super::coded;
use super::path::unit_label;
use super::reading::{number, present};
use super::surface::QuasiColumns;
use crate::error::Result;
use crate::request::{DateUnit, HierarchySpec, IntervalsSpec, Request};
use crate::table::Table;

/// How far two ends may be apart and still be the same number, as a share of the greater one.
const TOLERANCE: f64 = 1e-9;

/// The ways to write the upper end of an interval. One of them holds for a whole column.
const UPPER_ENDS: [UpperEnd; 3] = [UpperEnd::Last, UpperEnd::LastSecond, UpperEnd::Next];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UpperEnd {
    /// The last whole number or day.
    Last,
    /// The last second of the last day.
    LastSecond,
    /// The first number, day or second after it.
    Next,
}

/// A sentence for each column of bounds that has other ends than its intervals.
pub(super) fn leaks(
    quasi: &[QuasiColumns],
    release: &Table,
    request: &Request,
) -> Result<Vec<String>> {
    let mut leaks = Vec::new();
    for columns in quasi.iter().filter(|_| request.output.snap) {
        let QuasiColumns::Bounds { name, min, max, .. } = columns else { continue };
        let hierarchy = request.column(name).and_then(|column| column.hierarchy.as_ref());
        let Some(hierarchy) = hierarchy else { continue };
        let (min, max) = (coded(release, min)?, coded(release, max)?);
        let mut known: FxHashMap<[u32; 2], [bool; 3]> = FxHashMap::default();
        let mut wrong = [0u64; 3];
        for row in 0..release.rows() {
            let codes = [min, max].map(|column| column.codes().get(row));
            let is_right = *known.entry(codes).or_insert_with(|| {
                let [min, max] = [(min, codes[0]), (max, codes[1])].map(|(column, code)| {
                    present(column.values()[code as usize].as_deref(), &request.missing)
                });
                UPPER_ENDS.map(|upper| is_interval(hierarchy, min, max, upper))
            });
            wrong.iter_mut().zip(is_right).for_each(|(wrong, right)| *wrong += u64::from(!right));
        }
        let wrong = wrong.into_iter().min().unwrap_or_default();
        if wrong > 0 {
            leaks.push(format!(
                "rows whose bounds of `{name}` are no interval of its hierarchy, although snap asks \
                 for one: {wrong}"
            ));
        }
    }
    Ok(leaks)
}

/// True when these bounds are one value, no value, or an interval of the hierarchy. True also for what
/// is not checked here.
fn is_interval(
    hierarchy: &HierarchySpec,
    min: Option<&str>,
    max: Option<&str>,
    upper: UpperEnd,
) -> bool {
    let is_same = min == max;
    match hierarchy {
        _ if is_same => true,
        HierarchySpec::Intervals(spec) => {
            let read = |end: Option<&str>| end.map_or(Some(None), |text| number(text).map(Some));
            let (Some(min), Some(max)) = (read(min), read(max)) else { return false };
            is_of_numbers(spec, min, max, upper)
        }
        HierarchySpec::Date(spec) => match (min, max) {
            (Some(min), Some(max)) if has_offset(min) || has_offset(max) => true,
            (Some(min), Some(max)) => is_of_dates(&spec.date, min, max, upper).unwrap_or(false),
            _ => false,
        },
        _ => true,
    }
}

fn is_of_numbers(
    spec: &IntervalsSpec,
    min: Option<f64>,
    max: Option<f64>,
    upper: UpperEnd,
) -> bool {
    let near = |a: f64, b: f64| (a - b).abs() <= TOLERANCE * a.abs().max(b.abs()).max(1.0);
    // The greatest number of an interval that ends before this one.
    let last = |end: f64| match upper {
        UpperEnd::Last => end.ceil() - 1.0,
        UpperEnd::LastSecond | UpperEnd::Next => end,
    };
    let first = |begin: f64| if upper == UpperEnd::Last { begin.ceil() } else { begin };
    match (min, max) {
        (None, None) => true,
        (None, Some(max)) => spec.bottom.is_some_and(|bottom| near(max, last(bottom))),
        (Some(min), None) => spec.top.is_some_and(|top| near(min, first(top))),
        (Some(min), Some(max)) if near(min, max) => true,
        (Some(min), Some(max)) => spec.intervals.iter().any(|width| {
            let steps = (min - spec.origin) / width;
            let is_whole = (steps - steps.round()).abs() < 1e-6;
            let steps = if is_whole { steps.round() } else { steps.floor() };
            let begin = spec.origin + steps * width;
            let lo = first(spec.bottom.map_or(begin, |bottom| begin.max(bottom)));
            let hi = last(spec.top.map_or(begin + width, |top| (begin + width).min(top)));
            near(min, lo) && near(max, hi)
        }),
    }
}

/// True for a time with an offset from UTC.
fn has_offset(text: &str) -> bool {
    let time = text.trim().split_once(['T', 't', ' ']).map_or("", |(_, time)| time);
    time.contains(['Z', 'z', '+', '-'])
}

/// True when the first and the last day are those of a unit, or, of a calendar with one unit, of any
/// two; none where a text is no date.
fn is_of_dates(units: &[DateUnit], min: &str, max: &str, upper: UpperEnd) -> Option<bool> {
    let [min, max]: [DateTime; 2] = [min.trim().parse().ok()?, max.trim().parse().ok()?];
    let is_midnight = |moment: DateTime| moment.time() == Time::midnight();
    let (is_end, last) = match upper {
        UpperEnd::Last => (is_midnight(max), Some(max.date())),
        UpperEnd::LastSecond => (max.time() == Time::constant(23, 59, 59, 0), Some(max.date())),
        UpperEnd::Next => (is_midnight(max), max.date().yesterday().ok()),
    };
    let (first, Some(last)) = (min.date(), last) else { return Some(false) };
    let label =
        |date: Option<Date>, unit| date.and_then(|date| unit_label(&date.to_string(), units, unit));
    let is_unit = |&unit: &DateUnit| {
        let [of_first, of_last] = [first, last].map(|day| label(Some(day), unit));
        let before = first.checked_sub(Span::new().days(1)).ok();
        let after = last.checked_add(Span::new().days(1)).ok();
        of_first.is_some()
            && of_last.is_some()
            && (of_first == of_last || (units.len() == 1 && first <= last))
            && of_first != label(before, unit)
            && of_last != label(after, unit)
    };
    Some(min == max || (is_midnight(min) && is_end && units.iter().any(is_unit)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(text: &str, min: &str, max: &str, upper: UpperEnd) -> bool {
        let line = format!("k = 2\ncolumns.a = {{ role = 'quasi', hierarchy = {{ {text} }} }}");
        let request = Request::parse(&line).unwrap();
        let hierarchy = request.column("a").unwrap().hierarchy.clone().unwrap();
        let end = |text: &'static str| Some(text).filter(|text| !text.is_empty());
        is_interval(&hierarchy, end(min.to_string().leak()), end(max.to_string().leak()), upper)
    }

    #[test]
    fn intervals_of_numbers_are_told_from_exact_ends() {
        let spec = "intervals = [5, 10], bottom = 18, top = 63";
        for (min, max) in [
            ("20", "24"),
            ("20", "29"),
            ("18", "19"),
            ("60", "62"),
            ("", "17"),
            ("63", ""),
            ("7", "7"),
        ] {
            assert!(numbers(spec, min, max, UpperEnd::Last), "{min} {max}");
        }
        for (min, max) in [
            ("21", "24"),
            ("20", "25"),
            ("20", "34"),
            ("18", "21"),
            ("", "19"),
            ("64", ""),
            ("x", "9"),
        ] {
            assert!(!numbers(spec, min, max, UpperEnd::Last), "{min} {max}");
        }
        let tenths = "intervals = [0.1, 0.5], origin = -0.2";
        for (min, max) in [("0.3", "0.4"), ("0.3", "0.8"), ("-0.2", "-0.1"), ("0.25", "0.25")] {
            assert!(numbers(tenths, min, max, UpperEnd::Next), "{min} {max}");
        }
        assert!(!numbers(tenths, "0.31", "0.4", UpperEnd::Next));
        assert!(numbers("intervals = [2.5]", "3", "4", UpperEnd::Last));
    }

    #[test]
    fn calendar_units_are_told_from_exact_ends() {
        use UpperEnd::{Last, LastSecond, Next};
        let spec = "date = ['month', 'year', 'decade']";
        for (min, max, upper) in [
            ("2024-02-01", "2024-02-29", Last),
            ("2024-01-01", "2024-12-31", Last),
            ("2020-01-01", "2029-12-31", Last),
            ("2024-02-01T00:00:00", "2024-02-29T00:00:00", Last),
            ("2024-02-01T00:00:00", "2024-02-29T23:59:59", LastSecond),
            ("2024-02-01T00:00:00", "2024-03-01T00:00:00", Next),
            ("2024-02-03", "2024-02-03", Last),
            ("2024-02-01T00:00:00+01:00", "2024-02-09T00:00:00+01:00", Last),
        ] {
            assert!(numbers(spec, min, max, upper), "{min} {max}");
        }
        for (min, max, upper) in [
            ("2024-02-02", "2024-02-29", Last),
            ("2024-02-01", "2024-02-28", Last),
            ("2024-01-01", "2024-03-31", Last),
            ("2024-02-01T00:00:00", "2024-02-29T23:59:58", LastSecond),
            ("2024-02-01T00:00:01", "2024-03-01T00:00:00", Next),
            ("x", "2024-02-29", Last),
        ] {
            assert!(!numbers(spec, min, max, upper), "{min} {max}");
        }
        assert!(numbers("date = ['week', 'year']", "2024-12-30", "2025-01-05", Last));
        // One unit: runs of it.
        assert!(numbers("date = ['month']", "2024-02-01", "2024-04-30", Last));
        assert!(!numbers("date = ['month']", "2024-02-02", "2024-04-30", Last));
        assert!(!numbers("date = ['month']", "2024-02-01", "2024-04-29", Last));
    }
}
