//! From code ranges to published cells: labels, sets, or bounds.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, Date32Array, Float64Array, Int64Array, StringArray, TimestampMicrosecondArray,
    UInt32Array,
};
use arrow_schema::{DataType, Field};
use arrow_select::take::take;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::codes::{Code, CodeRange, Codes};
use crate::domain::attribute::{Attribute, Domain, Ordered, Unit};
use crate::domain::label::set_label;
use crate::domain::parse::nanoseconds;
use crate::domain::taxonomy::Taxonomy;
use crate::error::{Error, Result};
use crate::problem::Problem;
use crate::problem::partition::Piece;
use crate::problem::recoding::Recoding;
use crate::request::{Publish, Request};

/// A released column: its distinct cells, and for each class which of them it publishes.
#[derive(Debug)]
pub struct PublishedColumn {
    /// Name and type of the column.
    pub field: Field,
    /// The distinct cells.
    pub cells: ArrayRef,
    /// For each class of the recoding the number of its cell.
    pub of_class: Codes,
    /// For each cell its place in the order of the domain: by the least value it stands for, then by
    /// the greatest. Cells of bounds that are equal have the same place.
    pub places: Vec<u32>,
}

impl PublishedColumn {
    /// The cells of some classes, one after the other; null where there is none.
    ///
    /// # Errors
    /// When the cells cannot be gathered.
    pub fn of_classes(&self, classes: impl Iterator<Item = Option<u32>>) -> Result<ArrayRef> {
        let cell = |class: Option<u32>| class.map(|class| self.of_class.get(class as usize));
        let indices: UInt32Array = classes.map(cell).collect();
        take(&self.cells, &indices, None).map_err(super::gathering)
    }
}

/// The released columns of a quasi-identifier by its number: one, or with bounds two or three. All
/// of them have the types of the source, not those of a text file.
///
/// # Example
/// ```
/// # use lookalike::{*, release::published_columns, table::Treatment};
/// # let request = Request::parse("k = 2\ncolumns.age.role = 'quasi'")?;
/// # let source = table::open_text("age\n30\n35\n50\n50\n".into(), "data.csv".as_ref())?;
/// # let roles = request.roles(source.names())?;
/// # let problem = Problem::new(&source.read(&[Treatment::Code])?, &roles, &request)?;
/// # let options = SearchOptions::new(Algorithm::Mondrian, 1);
/// # let recoding = solve(&problem, options, &Budget::unlimited()).recoding;
/// let [age] = &published_columns(&problem, &recoding, 0, &request)?[..] else { panic!() };
/// let cells = age.of_classes([Some(0), Some(1), None].into_iter())?;
/// assert_eq!((age.field.name().as_str(), cells.len()), ("age", 3));
/// # Ok::<(), lookalike::Error>(())
/// ```
///
/// # Errors
/// When two generalizations would have the same label, or one would have a label that means
/// missing.
pub fn published_columns(
    problem: &Problem,
    recoding: &Recoding,
    at: usize,
    request: &Request,
) -> Result<Vec<PublishedColumn>> {
    let attribute = &problem.attributes()[at];
    let publish = request.output.publish;
    if let (Publish::Bounds, Domain::Ordered(ordered)) = (publish, &attribute.domain) {
        let (ranges, of_class) = ranges(recoding, at);
        let columns = bounds(attribute, ordered, &ranges)?.into_iter();
        // In this order: the least value, the greatest, and whether one is missing.
        let missing = Code::try_from(ordered.values().len()).expect("fewer values than rows");
        let places: [fn(&CodeRange, Code) -> u32; 3] = [
            |range, _| range.lo,
            |range, _| range.hi,
            |range, missing| u32::from(range.hi == missing) + u32::from(range.lo == missing),
        ];
        return Ok(columns
            .zip(places)
            .map(|((field, cells), place)| PublishedColumn {
                field,
                cells,
                of_class: of_class.clone(),
                places: ranges.iter().map(|range| place(range, missing)).collect(),
            })
            .collect());
    }
    let (cells, of_class, places) = labels(problem, recoding, at, publish);
    check(&attribute.name, &cells, &request.missing)?;
    let (field, cells) = (text(&attribute.name), Arc::new(cells));
    Ok(vec![PublishedColumn { field, cells, of_class, places }])
}

/// For each key its place among all of them, ascending.
fn ranked<K: Ord>(keys: &[K]) -> Vec<u32> {
    let mut order: Vec<usize> = (0..keys.len()).collect();
    order.sort_by_key(|&at| &keys[at]);
    let mut places = vec![0; keys.len()];
    (0u32..).zip(order).for_each(|(place, at)| places[at] = place);
    places
}

/// The label of each generalization of an attribute, for each class which of them it has, and for
/// each label its place in the order of the domain.
fn labels(
    problem: &Problem,
    recoding: &Recoding,
    at: usize,
    publish: Publish,
) -> (StringArray, Codes, Vec<u32>) {
    let attribute = &problem.attributes()[at];
    match (publish, &attribute.domain) {
        _ if let Some(all) = recoding.published() => {
            let blocks = &all.attributes[at];
            let labels = blocks
                .blocks
                .iter()
                .map(|block| Some(block.label.as_str()).filter(|label| !label.is_empty()));
            let block_of =
                |class: &[Piece]| blocks.of_code[problem.code(at, class[0].tuple) as usize];
            let of_class = recoding
                .classes()
                .iter()
                .map(|class| block_of(class).expect("every value that occurs has a block"));
            let ends: Vec<CodeRange> = blocks.blocks.iter().map(|block| block.ends).collect();
            (labels.collect(), of_class.collect(), ranked(&ends))
        }
        (Publish::Set, Domain::Tree(tree)) if tree.is_flat() && !recoding.is_of_rings() => {
            sets(problem, recoding, at, tree)
        }
        _ => {
            let (ranges, of_class) = ranges(recoding, at);
            let labels = ranges
                .iter()
                .map(|&range| Some(attribute.label(range)).filter(|label| !label.is_empty()));
            (labels.collect(), of_class, ranked(&ranges))
        }
    }
}

/// Readers of the release distinguish generalizations by their labels: no two may have the same
/// label, and none may read as a missing value. Hierarchies and orders are checked when they are
/// read, so this finds nothing; no release is written without it.
fn check(name: &str, labels: &StringArray, missing: &[String]) -> Result<()> {
    let mut seen = FxHashSet::default();
    let is_missing = |label: &str| missing.iter().any(|marker| marker.trim() == label.trim());
    for label in labels.iter().flatten() {
        if is_missing(label) {
            return Err(Error::request(
                "label-means-missing",
                "a generalized value would be written as a text that means missing: rename the \
                 group, or remove the text from missing",
            )
            .at_column(name));
        }
        if !seen.insert(label) {
            return Err(same_label(name));
        }
    }
    if labels.null_count() > 1 { Err(same_label(name)) } else { Ok(()) }
}

fn same_label(name: &str) -> Error {
    Error::request(
        "same-label",
        "two different generalizations would be written alike, so nothing was written: rename the \
         value or the group that reads like a set, a range or another group",
    )
    .at_column(name)
}

/// The distinct ranges of the classes on an attribute, ascending, and for each class its range.
fn ranges(recoding: &Recoding, at: usize) -> (Vec<CodeRange>, Codes) {
    let of_class: Vec<CodeRange> =
        (0..recoding.classes().len()).map(|class| recoding.ranges(class)[at]).collect();
    let mut distinct = of_class.clone();
    distinct.sort_unstable();
    distinct.dedup();
    let place = |range| {
        Code::try_from(
            distinct
                .binary_search(range)
                .expect("every range of a class is among the distinct ones"),
        )
        .expect("fewer ranges than rows")
    };
    let codes = of_class.iter().map(place).collect();
    (distinct, codes)
}

fn text(name: &str) -> Field {
    Field::new(name, DataType::Utf8, true)
}

/// The values present in each class, `{a, b}`; one value alone is written without braces.
fn sets(
    problem: &Problem,
    recoding: &Recoding,
    at: usize,
    tree: &Taxonomy,
) -> (StringArray, Codes, Vec<u32>) {
    let mut known: FxHashMap<Vec<Code>, Code> = FxHashMap::default();
    let mut cells: Vec<Option<String>> = Vec::new();
    let mut listed: Vec<Vec<Code>> = Vec::new();
    let mut of_class = Codes::new();
    // Where a rule is on fewer columns, the classes of those columns must stay indistinguishable:
    // they publish one set.
    let decided = problem.decided_with(at);
    let ranges = |class: usize| -> Vec<CodeRange> {
        decided.iter().map(|&attribute| recoding.ranges(class)[attribute]).collect()
    };
    let mut codes_of: FxHashMap<Vec<CodeRange>, Vec<Code>> = FxHashMap::default();
    for (class, pieces) in recoding.classes().iter().enumerate() {
        codes_of
            .entry(ranges(class))
            .or_default()
            .extend(pieces.iter().flat_map(|piece| problem.codes(at, piece.tuple)));
    }
    codes_of.values_mut().for_each(|codes| {
        codes.sort_unstable();
        codes.dedup();
    });
    for class in 0..recoding.classes().len() {
        let codes = codes_of[&ranges(class)].clone();
        let next = Code::try_from(cells.len()).expect("fewer sets than rows");
        let index = *known.entry(codes).or_insert_with_key(|codes| {
            let cell = set_label(codes.iter().map(|&code| tree.leaf_label(code)));
            cells.push(Some(cell).filter(|cell| !cell.is_empty()));
            listed.push(codes.clone());
            next
        });
        of_class.push(index);
    }
    (StringArray::from(cells), of_class, ranked(&listed))
}

/// `age_min`, `age_max`, and where the column has missing values `age_missing`: no, yes, or maybe
/// (then there are no bounds).
pub(crate) fn bounds(
    attribute: &Attribute,
    ordered: &Ordered,
    ranges: &[CodeRange],
) -> Result<Vec<(Field, ArrayRef)>> {
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
    let mut columns = Vec::new();
    for (suffix, cells) in [
        ("min", typed(ordered, &lows, OutwardRounding::Down)),
        ("max", typed(ordered, &highs, OutwardRounding::Up)),
    ] {
        columns.push((
            Field::new(format!("{}_{suffix}", attribute.name), cells.data_type().clone(), true),
            cells,
        ));
    }
    if ordered.has_missing() {
        let state = |range: &CodeRange| match (range.lo == missing, range.hi == missing) {
            (true, _) => "yes",
            (false, true) => "maybe",
            (false, false) => "no",
        };
        let cells: StringArray = ranges.iter().map(|range| Some(state(range))).collect();
        columns.push((text(&format!("{}_missing", attribute.name)), Arc::new(cells)));
    }
    Ok(columns)
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
