//! How ranges are written: labels, sets, or bounds.

use std::sync::Arc;

use arrow_array::{ArrayRef, Date32Array, Float64Array, Int64Array, StringArray, TimestampMicrosecondArray};
use arrow_schema::{DataType, Field};
use rustc_hash::FxHashMap;

use crate::attribute::{Attribute, Domain, Ordered, Unit, set_label};
use crate::code::{Code, CodeRange, Codes};
use crate::config::Publish;
use crate::partition::Piece;
use crate::problem::Problem;
use crate::recode::Recoding;

/// A released column: its distinct cells, and for each class which of them it shows.
#[derive(Debug)]
pub(crate) struct Shown {
    pub(crate) field: Field,
    pub(crate) cells: ArrayRef,
    pub(crate) of_class: Codes,
}

/// The columns that an attribute is released as: one, or with bounds two or three.
pub(crate) fn columns(problem: &Problem, recoding: &Recoding, at: usize, publish: Publish) -> Vec<Shown> {
    let attribute = &problem.attributes()[at];
    match (publish, &attribute.domain) {
        (Publish::Bounds, Domain::Ordered(ordered)) => {
            let (ranges, of_class) = ranges(recoding, at);
            bounds(attribute, ordered, &ranges)
                .into_iter()
                .map(|(field, cells)| Shown { field, cells, of_class: of_class.clone() })
                .collect()
        }
        _ if let Some(all) = recoding.published() => {
            let blocks = &all.attributes[at];
            let labels = blocks.blocks.iter().map(|block| Some(block.label.as_str()).filter(|label| !label.is_empty()));
            let block_of = |class: &[Piece]| blocks.of_code[problem.code(at, class[0].tuple) as usize];
            let of_class = recoding.classes().iter().map(|class| block_of(class).expect("every value that occurs has a block"));
            vec![Shown {
                field: text(&attribute.name),
                cells: Arc::new(labels.collect::<StringArray>()),
                of_class: of_class.collect(),
            }]
        }
        (Publish::Set, Domain::Tree(_)) if attribute.is_flat() && !recoding.is_of_rings() => vec![sets(problem, recoding, at)],
        _ => {
            let (ranges, of_class) = ranges(recoding, at);
            let labels = ranges.iter().map(|&range| Some(attribute.label(range)).filter(|label| !label.is_empty()));
            vec![Shown { field: text(&attribute.name), cells: Arc::new(labels.collect::<StringArray>()), of_class }]
        }
    }
}

/// The distinct ranges that classes show on an attribute, rising, and which one each class shows.
fn ranges(recoding: &Recoding, at: usize) -> (Vec<CodeRange>, Codes) {
    let of_class: Vec<CodeRange> = (0..recoding.classes().len()).map(|class| recoding.shown(class)[at]).collect();
    let mut distinct = of_class.clone();
    distinct.sort_unstable();
    distinct.dedup();
    let place =
        |range| Code::try_from(distinct.binary_search(range).expect("it is one of them")).expect("fewer ranges than rows");
    let codes = of_class.iter().map(place).collect();
    (distinct, codes)
}

fn text(name: &str) -> Field {
    Field::new(name, DataType::Utf8, true)
}

/// The values present in each class, `{a, b}`; one value alone stands as it is.
fn sets(problem: &Problem, recoding: &Recoding, at: usize) -> Shown {
    let attribute = &problem.attributes()[at];
    let mut known: FxHashMap<Vec<Code>, Code> = FxHashMap::default();
    let mut cells: Vec<Option<String>> = Vec::new();
    let mut of_class = Codes::new();
    // Where a rule stands on fewer columns, the classes of those columns must go on looking alike: they show one set.
    let decided = problem.decided_with(at);
    let shown = |class: usize| -> Vec<CodeRange> { decided.iter().map(|&attribute| recoding.shown(class)[attribute]).collect() };
    let mut alike: FxHashMap<Vec<CodeRange>, Vec<Code>> = FxHashMap::default();
    for (class, pieces) in recoding.classes().iter().enumerate() {
        alike.entry(shown(class)).or_default().extend(pieces.iter().map(|piece| problem.code(at, piece.tuple)));
    }
    alike.values_mut().for_each(|codes| {
        codes.sort_unstable();
        codes.dedup();
    });
    for class in 0..recoding.classes().len() {
        let codes = alike[&shown(class)].clone();
        let next = Code::try_from(cells.len()).expect("fewer sets than rows");
        let index = *known.entry(codes).or_insert_with_key(|codes| {
            let labels: Vec<String> = codes.iter().map(|&code| attribute.label(CodeRange::one(code))).collect();
            let cell = set_label(labels.iter().map(String::as_str));
            cells.push(Some(cell).filter(|cell| !cell.is_empty()));
            next
        });
        of_class.push(index);
    }
    Shown { field: text(&attribute.name), cells: Arc::new(StringArray::from(cells)), of_class }
}

/// `age_min`, `age_max`, and where the column has missing values `age_missing`: no, yes, or maybe (then the bounds say nothing).
fn bounds(attribute: &Attribute, ordered: &Ordered, ranges: &[CodeRange]) -> Vec<(Field, ArrayRef)> {
    let missing = Code::try_from(ordered.values.len()).expect("fewer values than rows");
    let ends: Vec<Option<(f64, f64)>> = ranges
        .iter()
        .map(|&range| (range.hi < missing).then(|| (ordered.values[range.lo as usize], ordered.values[range.hi as usize])))
        .collect();
    let lows: Vec<Option<f64>> = ends.iter().map(|ends| ends.map(|(lo, _)| lo)).collect();
    let highs: Vec<Option<f64>> = ends.iter().map(|ends| ends.map(|(_, hi)| hi)).collect();
    let mut columns = Vec::new();
    // Times are cut to microseconds outwards, so that the bounds still hold every value.
    for (suffix, cells) in [("min", typed(ordered, &lows, f64::floor)), ("max", typed(ordered, &highs, f64::ceil))] {
        columns.push((Field::new(format!("{}_{suffix}", attribute.name), cells.data_type().clone(), true), cells));
    }
    if ordered.missing {
        let state = |range: &CodeRange| match (range.lo == missing, range.hi == missing) {
            (true, _) => "yes",
            (false, true) => "maybe",
            (false, false) => "no",
        };
        let cells: StringArray = ranges.iter().map(|range| Some(state(range))).collect();
        columns.push((text(&format!("{}_missing", attribute.name)), Arc::new(cells)));
    }
    columns
}

/// Cells of the type that the attribute's numbers have.
#[allow(clippy::cast_possible_truncation, reason = "whole numbers, days and microseconds were read from their texts")]
fn typed(ordered: &Ordered, ends: &[Option<f64>], round: fn(f64) -> f64) -> ArrayRef {
    let numbers = ends.iter().copied();
    match ordered.unit {
        Unit::Whole => Arc::new(numbers.map(|number| number.map(|x| x as i64)).collect::<Int64Array>()),
        Unit::Decimal => Arc::new(numbers.collect::<Float64Array>()),
        Unit::Day => Arc::new(numbers.map(|number| number.map(|x| x as i32)).collect::<Date32Array>()),
        Unit::Second => {
            let micros = numbers.map(|number| number.map(|x| round(x * 1e6) as i64));
            Arc::new(micros.collect::<TimestampMicrosecondArray>())
        }
        Unit::Place => {
            let text =
                |place: f64| ordered.values.binary_search_by(|value| value.total_cmp(&place)).ok().map(|at| &ordered.texts[at]);
            Arc::new(numbers.map(|number| number.and_then(text)).collect::<StringArray>())
        }
    }
}
