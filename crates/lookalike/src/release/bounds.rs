//! Columns of bounds: `age_min` and `age_max`, on request their middle `age_center`, and
//! `age_missing`. Typed like the values of the attribute.

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
use crate::domain::attribute::{Attribute, Ordered, Unit};
use crate::domain::parse::nanoseconds;
use crate::error::{Error, Result};
use crate::request::Publish;

/// A column of bounds: its cells, and for each its place in the order of the domain.
pub(crate) struct Bound {
    pub(crate) field: Field,
    pub(crate) cells: ArrayRef,
    pub(crate) places: Vec<u32>,
}

/// `age_min`, `age_max`, where asked for `age_center`, and where the column has missing values
/// `age_missing`: no, yes, or maybe (then there are no bounds).
pub(crate) fn bounds(
    attribute: &Attribute,
    ordered: &Ordered,
    ranges: &[CodeRange],
    publish: Publish,
) -> Result<Vec<Bound>> {
    let missing = Code::try_from(ordered.values().len()).expect("fewer values than rows");
    let ends = |end: fn(&CodeRange) -> Code| -> Vec<Option<usize>> {
        ranges.iter().map(|range| (range.hi < missing).then(|| end(range) as usize)).collect()
    };
    let (lows, highs) = (ends(|range| range.lo), ends(|range| range.hi));
    if ordered.unit() == Unit::Second {
        if ordered.texts().iter().any(|text| nanoseconds(text).is_none()) {
            return Err(Error::data(
                "time-out-of-range",
                "a time is beyond the range of a typed column of times, such as the end of the \
                 year 9999; publish labels",
            )
            .at_column(&attribute.name));
        }
        let ends = lows.iter().zip(&highs).filter_map(|(lo, hi)| {
            Some((
                micros(ordered, (*lo)?, OutwardRounding::Down),
                micros(ordered, (*hi)?, OutwardRounding::Up),
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
        named(
            "min",
            typed(ordered, &lows, OutwardRounding::Down),
            ranges.iter().map(|range| range.lo).collect(),
        ),
        named(
            "max",
            typed(ordered, &highs, OutwardRounding::Up),
            ranges.iter().map(|range| range.hi).collect(),
        ),
    ];
    if publish == Publish::Center {
        let middles = middle(&columns[0].cells, &columns[1].cells);
        columns.extend(middles.map(|(cells, places)| named("center", cells, places)));
    }
    if ordered.has_missing() {
        let state = |range: &CodeRange| match (range.lo == missing, range.hi == missing) {
            (true, _) => 2,
            (false, true) => 1,
            (false, false) => 0,
        };
        let states: Vec<u32> = ranges.iter().map(state).collect();
        let words = |&state: &u32| Some(["no", "maybe", "yes"][state as usize]);
        let cells: StringArray = states.iter().map(words).collect();
        columns.push(named("missing", Arc::new(cells), states));
    }
    Ok(columns)
}

/// The middle of two columns of bounds, and for each cell its place among the middles; none for
/// labels, which have no middle. It is made of the bounds as they are published and of nothing else:
///
/// - numbers: half of their sum, as a number of 64 bits, rounded once;
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

/// Half of the sum of two numbers, which may itself be too large.
fn half_of_sum(lo: f64, hi: f64) -> f64 {
    let sum = lo + hi;
    if sum.is_finite() { sum / 2.0 } else { lo / 2.0 + hi / 2.0 }
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

/// The instant of a code, exact except for the rounding.
fn micros(ordered: &Ordered, code: usize, rounding: OutwardRounding) -> i64 {
    let exact = nanoseconds(&ordered.texts()[code]).expect("it was read as an instant");
    let rounded = match rounding {
        OutwardRounding::Down => exact.div_euclid(1_000),
        OutwardRounding::Up => -(-exact).div_euclid(1_000),
    };
    i64::try_from(rounded).expect("the instants that can be read fit in microseconds")
}

/// Cells of the type that the attribute's numbers have.
#[allow(
    clippy::cast_possible_truncation,
    reason = "whole numbers, days and microseconds were read from their texts"
)]
fn typed(ordered: &Ordered, ends: &[Option<usize>], rounding: OutwardRounding) -> ArrayRef {
    let numbers = ends.iter().map(|end| end.map(|code| ordered.values()[code]));
    match ordered.unit() {
        Unit::Whole => {
            Arc::new(numbers.map(|number| number.map(|x| x as i64)).collect::<Int64Array>())
        }
        Unit::Decimal => Arc::new(numbers.collect::<Float64Array>()),
        Unit::Day => {
            Arc::new(numbers.map(|number| number.map(|x| x as i32)).collect::<Date32Array>())
        }
        Unit::Second => {
            let micros = ends.iter().map(|end| end.map(|code| micros(ordered, code, rounding)));
            Arc::new(
                micros.collect::<TimestampMicrosecondArray>().with_timezone_opt(ordered.zone()),
            )
        }
        Unit::Place => Arc::new(
            ends.iter().map(|end| end.map(|code| &ordered.texts()[code])).collect::<StringArray>(),
        ),
    }
}
