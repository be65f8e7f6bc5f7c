//! Columns of bounds: `age_min` and `age_max`, on request their middle `age_center`, and
//! `age_missing`. Typed like the values of the attribute.
//!
//! Under `snap` the bounds are those of the interval that the label would show: `[30-39]` becomes 30
//! and 39, `2024-03` the first and the last day of March. Where the label has no end (`<20`, `>=80`,
//! `*`) the cell is empty.

use std::cmp::Ordering;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, Float64Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{
    Array, ArrayRef, Date32Array, Float64Array, Int64Array, StringArray, TimestampMicrosecondArray,
};
use arrow_schema::{DataType, Field};
use rustc_hash::FxHashSet;

use crate::codes::{Code, CodeRange};
use crate::domain::attribute::{Attribute, Ordered, Snapped, Unit};
use crate::domain::parse::nanoseconds;
use crate::error::{Error, Result};
use crate::request::Publish;

/// A column of bounds: its cells, and for each its place in the order of the domain.
pub(crate) struct Bound {
    pub(crate) field: Field,
    pub(crate) cells: ArrayRef,
    pub(crate) places: Vec<u32>,
}

/// An end of a published range.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    /// A value of the column, by its code.
    Value(usize),
    /// The end of an interval of the hierarchy, in the unit of the column.
    Interval(f64),
    /// No end: any value beyond, or no value at all.
    None,
}

/// `age_min`, `age_max`, where asked for `age_center`, and `age_missing` where the column has missing
/// values or publishes intervals: no, yes, or maybe (then there are no bounds).
pub(crate) fn bounds(
    attribute: &Attribute,
    ordered: &Ordered,
    ranges: &[CodeRange],
    publish: Publish,
) -> Result<Vec<Bound>> {
    let missing = Code::try_from(ordered.values().len()).expect("fewer values than rows");
    let (lows, highs): (Vec<End>, Vec<End>) =
        ranges.iter().map(|&range| ends(ordered, range)).unzip();
    if ordered.unit() == Unit::Second {
        let is_beyond = |end: &End| matches!(end, End::Interval(second) if !is_instant(*second));
        if ordered.texts().iter().any(|text| nanoseconds(text).is_none())
            || lows.iter().chain(&highs).any(is_beyond)
        {
            return Err(Error::data(
                "time-out-of-range",
                "a time is beyond the range of a typed column of times, such as the end of the \
                 year 9999; publish labels",
            )
            .at_column(&attribute.name));
        }
        let ends = lows.iter().zip(&highs).filter_map(|(&lo, &hi)| {
            Some((
                micros(ordered, lo, OutwardRounding::Down)?,
                micros(ordered, hi, OutwardRounding::Up)?,
            ))
        });
        let mut seen = FxHashSet::default();
        if !ends.into_iter().all(|ends| seen.insert(ends)) {
            return Err(Error::data(
                "same-bounds",
                "times that are less than a microsecond apart would have the same bounds; publish \
                 labels",
            )
            .at_column(&attribute.name));
        }
    }
    if ordered.unit() == Unit::Decimal && ordered.texts().iter().any(|text| is_rounded(text)) {
        return Err(Error::data(
            "bounds-rounded",
            "a whole number is too large for a typed column of bounds, which would round it; \
             publish labels",
        )
        .at_column(&attribute.name));
    }
    let named = |suffix: &str, cells: ArrayRef, places: Vec<u32>| {
        let name = format!("{}_{suffix}", attribute.name);
        Bound { field: Field::new(name, cells.data_type().clone(), true), cells, places }
    };
    let mut columns = vec![
        named("min", typed(ordered, &lows, OutwardRounding::Down), places(ordered, &lows)),
        named("max", typed(ordered, &highs, OutwardRounding::Up), places(ordered, &highs)),
    ];
    if publish == Publish::Center {
        let middles = middle(&columns[0].cells, &columns[1].cells);
        columns.extend(middles.map(|(cells, places)| named("center", cells, places)));
    }
    // The label `*` has no ends: without this column it would read like a missing value.
    if ordered.has_missing() || ordered.published().is_some() {
        let state = |(range, ends): (&CodeRange, (&End, &End))| match ends {
            _ if range.lo == missing => 2,
            (End::None, End::None) => 1,
            _ => 0,
        };
        let states: Vec<u32> = ranges.iter().zip(lows.iter().zip(&highs)).map(state).collect();
        let words = |&state: &u32| Some(["no", "maybe", "yes"][state as usize]);
        let cells: StringArray = states.iter().map(words).collect();
        columns.push(named("missing", Arc::new(cells), states));
    }
    Ok(columns)
}

/// The ends of a published range: its least and its greatest value, or those of the interval that is
/// published instead.
fn ends(ordered: &Ordered, range: CodeRange) -> (End, End) {
    if range.hi as usize >= ordered.values().len() {
        return (End::None, End::None);
    }
    let Some((tree, snapped)) = ordered.snapped(range) else {
        return (End::Value(range.lo as usize), End::Value(range.hi as usize));
    };
    let (lo, hi) = match (ordered.unit(), snapped) {
        (Unit::Whole, Snapped::Node(node)) => tree.whole_ends(node),
        // The offset from UTC is in the ends, and may have been rounded with fractions of a second.
        (Unit::Second, _) => (snapped.ends(tree).0.round(), snapped.ends(tree).1.round()),
        _ => snapped.ends(tree),
    };
    let end = |end: f64| if end.is_finite() { End::Interval(end) } else { End::None };
    (end(lo), end(hi))
}

/// For each end its place in the order of the ends, none last.
fn places(ordered: &Ordered, ends: &[End]) -> Vec<u32> {
    let numbers: Vec<Option<f64>> = ends.iter().map(|&end| number(ordered, end)).collect();
    places_of(&numbers, f64::total_cmp)
}

/// An end as a number in the unit of the column.
fn number(ordered: &Ordered, end: End) -> Option<f64> {
    match end {
        End::Value(code) => Some(ordered.values()[code]),
        End::Interval(number) => Some(number),
        End::None => None,
    }
}

/// True when a typed column of times can have this second, and every reader its text.
#[allow(clippy::cast_precision_loss, reason = "the seconds of ten thousand years are exact")]
fn is_instant(second: f64) -> bool {
    let [least, greatest] = [jiff::Timestamp::MIN, jiff::Timestamp::MAX].map(|at| at.as_second());
    (least as f64..=greatest as f64).contains(&second)
}

/// The middle of two columns of bounds, and for each cell its place among the middles; none for
/// labels, which have no middle. It is made of the bounds as they are published and of nothing else:
///
/// - numbers: half of the sum of the two decimals, as the nearest number of 64 bits;
/// - dates: the day in the middle, the earlier of two;
/// - times: the microsecond in the middle, the earlier of two.
#[allow(clippy::cast_precision_loss, reason = "rounded once, to the nearest")]
fn middle(lows: &ArrayRef, highs: &ArrayRef) -> Option<(ArrayRef, Vec<u32>)> {
    let half = |lo: i64, hi: i64| (i128::from(lo) + i128::from(hi)).div_euclid(2);
    Some(match lows.data_type() {
        DataType::Int64 => {
            let both =
                lows.as_primitive::<Int64Type>().iter().zip(highs.as_primitive::<Int64Type>());
            let half = |(lo, hi): (Option<i64>, Option<i64>)| {
                Some((i128::from(lo?) + i128::from(hi?)) as f64 / 2.0)
            };
            let middles: Vec<Option<f64>> = both.map(half).collect();
            (Arc::new(Float64Array::from(middles.clone())), places_of(&middles, f64::total_cmp))
        }
        DataType::Float64 => {
            let both =
                lows.as_primitive::<Float64Type>().iter().zip(highs.as_primitive::<Float64Type>());
            let middles: Vec<Option<f64>> =
                both.map(|(lo, hi)| Some(half_of_sum(lo?, hi?))).collect();
            (Arc::new(Float64Array::from(middles.clone())), places_of(&middles, f64::total_cmp))
        }
        DataType::Date32 => {
            let both =
                lows.as_primitive::<Date32Type>().iter().zip(highs.as_primitive::<Date32Type>());
            let middles: Vec<Option<i32>> = both
                .map(|(lo, hi)| i32::try_from(half(i64::from(lo?), i64::from(hi?))).ok())
                .collect();
            (Arc::new(Date32Array::from(middles.clone())), places_of(&middles, i32::cmp))
        }
        DataType::Timestamp(_, zone) => {
            let lows = lows.as_primitive::<TimestampMicrosecondType>();
            let both = lows.iter().zip(highs.as_primitive::<TimestampMicrosecondType>());
            let middles: Vec<Option<i64>> =
                both.map(|(lo, hi)| i64::try_from(half(lo?, hi?)).ok()).collect();
            let cells = TimestampMicrosecondArray::from(middles.clone());
            (Arc::new(cells.with_timezone_opt(zone.clone())), places_of(&middles, i64::cmp))
        }
        _ => return None,
    })
}

/// Half of the sum of two numbers, exact in their decimals: 56.65 for 50.1 and 63.2. Numbers of very
/// many digits are added as they are; their sum may itself be too large.
fn half_of_sum(lo: f64, hi: f64) -> f64 {
    exact_half(lo, hi).unwrap_or_else(|| {
        let sum = lo + hi;
        if sum.is_finite() { sum / 2.0 } else { lo / 2.0 + hi / 2.0 }
    })
}

/// The most digits that are added one by one.
const DIGITS: usize = 30;

/// The number nearest to half of the sum of two decimals in their shortest texts.
fn exact_half(lo: f64, hi: f64) -> Option<f64> {
    let texts = [lo.to_string(), hi.to_string()];
    let decimals = |text: &String| text.split_once('.').map_or(0, |(_, part)| part.len());
    let places = texts.iter().map(decimals).max()?;
    let scaled = |text: &String| {
        let zeros = "0".repeat(places - decimals(text));
        let digits = text.replace('.', "") + &zeros;
        if digits.len() > DIGITS { None } else { digits.parse::<i128>().ok() }
    };
    let sum = scaled(&texts[0])? + scaled(&texts[1])?;
    format!("{}e-{}", sum * 5, places + 1).parse().ok()
}

/// For each cell its place among the distinct ones, missing cells last.
fn places_of<T: Copy>(cells: &[Option<T>], compared: fn(&T, &T) -> Ordering) -> Vec<u32> {
    let mut distinct: Vec<T> = cells.iter().flatten().copied().collect();
    distinct.sort_by(compared);
    distinct.dedup_by(|a, b| compared(a, b).is_eq());
    let place = |cell: &Option<T>| match cell {
        Some(cell) => distinct.partition_point(|other| compared(other, cell).is_lt()),
        None => distinct.len(),
    };
    cells.iter().map(|cell| u32::try_from(place(cell)).expect("fewer cells than rows")).collect()
}

/// True for a whole number that no number with a fraction of 64 bits equals.
#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "that is the question"
)]
fn is_rounded(text: &str) -> bool {
    text.trim().parse::<i128>().is_ok_and(|whole| whole as f64 as i128 != whole)
}

/// Times are rounded to microseconds outwards, so that the bounds still include every value.
#[derive(Clone, Copy)]
enum OutwardRounding {
    Down,
    Up,
}

/// The instant of an end, exact except for the rounding.
#[allow(clippy::cast_possible_truncation, reason = "ends of intervals are whole seconds")]
fn micros(ordered: &Ordered, end: End, rounding: OutwardRounding) -> Option<i64> {
    let exact = match end {
        End::Value(code) => nanoseconds(&ordered.texts()[code]).expect("it was read as an instant"),
        End::Interval(second) => (second as i128) * 1_000_000_000,
        End::None => return None,
    };
    let rounded = match rounding {
        OutwardRounding::Down => exact.div_euclid(1_000),
        OutwardRounding::Up => -(-exact).div_euclid(1_000),
    };
    Some(i64::try_from(rounded).expect("the instants that can be read fit in microseconds"))
}

/// Cells of the type that the attribute's numbers have.
#[allow(
    clippy::cast_possible_truncation,
    reason = "whole numbers, days and microseconds were read from their texts"
)]
fn typed(ordered: &Ordered, ends: &[End], rounding: OutwardRounding) -> ArrayRef {
    let numbers = ends.iter().map(|&end| number(ordered, end));
    match ordered.unit() {
        Unit::Whole => {
            Arc::new(numbers.map(|number| number.map(|x| x as i64)).collect::<Int64Array>())
        }
        Unit::Decimal => Arc::new(numbers.collect::<Float64Array>()),
        Unit::Day => {
            Arc::new(numbers.map(|number| number.map(|x| x as i32)).collect::<Date32Array>())
        }
        Unit::Second => {
            let micros = ends.iter().map(|&end| micros(ordered, end, rounding));
            Arc::new(
                micros.collect::<TimestampMicrosecondArray>().with_timezone_opt(ordered.zone()),
            )
        }
        Unit::Place => {
            let text = |end: &End| match end {
                End::Value(code) => Some(&ordered.texts()[*code]),
                End::Interval(_) | End::None => None,
            };
            Arc::new(ends.iter().map(text).collect::<StringArray>())
        }
    }
}
