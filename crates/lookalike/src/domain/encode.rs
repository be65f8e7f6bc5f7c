//! Texts to codes: the attribute of a quasi-identifier, and the code of each text of its column.
//!
//! [`kind`] decides which of three forms a column has. Numbers and dates become a [`line`], sorted
//! by value. Labels with a given order become an [`ordinal`] line. All other labels become the
//! leaves of a [`tree`]. Texts are parsed in [`parse`](super::parse); every error names a data row,
//! never a cell.

use rustc_hash::FxHashMap;

use super::attribute::{Attribute, Domain, Ordered, Unit};
use super::hierarchy::{self, IntervalTree};
use super::kind::{kind, requested};
use super::label::{ANY, is_in_braces};
use super::parse::{DAY, TimeScale, as_written, instant, number, spelling, zone};
use super::taxonomy::Taxonomy;
use crate::codes::{Code, RowId};
use crate::error::{Error, Hint, Result};
use crate::numbers;
use crate::request::{ColumnRequest, DateSpec, DateUnit, HierarchySpec, Kind, Request, Role};
use crate::table::Coded;

/// The parts of a request that the encoding of one column needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ColumnSpec<'a> {
    pub(crate) name: &'a str,
    pub(crate) column: Option<&'a ColumnRequest>,
    /// Texts that mean "missing" beside the empty cell.
    pub(crate) missing: &'a [String],
    /// Publish intervals of the hierarchy instead of exact ends.
    pub(crate) snap: bool,
}

impl<'a> ColumnSpec<'a> {
    pub(crate) fn new(name: &'a str, request: &'a Request) -> ColumnSpec<'a> {
        ColumnSpec {
            name,
            column: request.column(name),
            missing: &request.missing,
            snap: request.output.snap,
        }
    }

    fn hierarchy(&self) -> Option<&'a HierarchySpec> {
        self.column.and_then(|column| column.hierarchy.as_ref())
    }
}

/// The attribute, and for each value of the column's dictionary its code in it.
pub(crate) fn attribute(spec: ColumnSpec, coded: &Coded) -> Result<(Attribute, Vec<Code>)> {
    let values = present(spec, coded);
    let (domain, codes) = match kind(spec, &values, coded.first_row())? {
        Kind::Categorical => tree(spec, &values, coded.first_row())?,
        Kind::Ordinal => ordinal(spec, &values, coded.first_row())?,
        kind @ (Kind::Numeric | Kind::Date) => line(spec, kind, &values, coded.first_row())?,
    };
    let weight = spec.column.and_then(|column| column.weight).unwrap_or(1.0);
    Ok((Attribute { name: spec.name.to_string(), weight, domain }, codes))
}

/// The dictionary with every text that means "missing" as none. The empty text is one of them: in
/// CSV it is the same as a null.
pub(crate) fn present(spec: ColumnSpec, coded: &Coded) -> Vec<Option<String>> {
    let is_missing = |text: &String| {
        text.is_empty() || spec.missing.iter().any(|marker| marker.trim() == text.trim())
    };
    coded
        .values()
        .iter()
        .map(|value| value.as_ref().filter(|text| !is_missing(text)).cloned())
        .collect()
}

/// The kind of a sensitive column whose order matters, the number of its values, and the code of
/// each text in the order of the values, the missing value last.
pub(crate) fn ordered_codes(spec: ColumnSpec, coded: &Coded) -> Result<(Kind, usize, Vec<Code>)> {
    let values = present(spec, coded);
    let kind = kind(spec, &values, coded.first_row())?;
    let (domain, codes) = match kind {
        Kind::Ordinal => ordinal(spec, &values, coded.first_row())?,
        kind @ (Kind::Numeric | Kind::Date) => line(spec, kind, &values, coded.first_row())?,
        Kind::Categorical => {
            return Err(Error::request(
                "no-order",
                "the ordered distance needs numbers, dates, or an order",
            )
            .at_column(spec.name)
            .hint(Hint::SetOrder { column: spec.name.into() }));
        }
    };
    Ok((kind, Attribute { name: spec.name.to_string(), weight: 1.0, domain }.codes(), codes))
}

/// For each value of a sensitive column the value that the rules count: its number or instant where
/// the request gives the column such a kind, else its text.
pub(crate) fn counted(spec: ColumnSpec, coded: &Coded) -> Result<Vec<Option<String>>> {
    let kind = requested(spec);
    let one = |(value, &row): (Option<String>, &RowId)| {
        let Some(text) = value else { return Ok(None) };
        let fits = match kind {
            Kind::Numeric => number(&text).is_some(),
            Kind::Date => instant(&text).is_some(),
            Kind::Ordinal | Kind::Categorical => true,
        };
        if fits { Ok(Some(spelling(kind, &text))) } else { Err(misfit(spec, kind, row)) }
    };
    present(spec, coded).into_iter().zip(coded.first_row()).map(one).collect()
}

/// True when the dates of a column can be published by month and year.
pub(crate) fn has_calendar(name: &str, coded: &Coded) -> bool {
    let months = HierarchySpec::Date(DateSpec { date: vec![DateUnit::Month, DateUnit::Year] });
    let column = ColumnRequest {
        kind: Some(Kind::Date),
        hierarchy: Some(months),
        ..ColumnRequest::new(Role::Quasi)
    };
    attribute(ColumnSpec { name, column: Some(&column), missing: &[], snap: false }, coded).is_ok()
}

/// A text of the dictionary that is present, and its number.
struct ParsedValue<'a> {
    number: f64,
    text: &'a str,
    /// Its place in the dictionary.
    at: usize,
}

/// Numbers and dates: sorted by value, equal values under one code, the missing value last.
fn line(
    spec: ColumnSpec,
    kind: Kind,
    values: &[Option<String>],
    first_row: &[RowId],
) -> Result<(Domain, Vec<Code>)> {
    let (unit, mut parsed) = match kind {
        Kind::Date => parse_dates(spec, values, first_row)?,
        _ => parse_numbers(spec, values, first_row)?,
    };
    // Of several spellings of one number the shortest is published.
    parsed.sort_by(|a, b| {
        let by_text = || a.text.len().cmp(&b.text.len()).then(a.text.cmp(b.text));
        a.number.total_cmp(&b.number).then_with(by_text)
    });
    let (mut numbers, mut texts): (Vec<f64>, Vec<String>) = (Vec::new(), Vec::new());
    let mut codes = vec![0; values.len()];
    for ParsedValue { number, text, at } in parsed {
        match (numbers.last(), texts.last()) {
            (Some(&last), Some(spelt)) if number <= last => {
                is_one_value(spec, kind, (text, spelt), first_row[at])?;
            }
            _ => {
                numbers.push(number);
                texts.push(text.to_string());
            }
        }
        codes[at] = code(numbers.len() - 1);
    }
    for (at, value) in values.iter().enumerate() {
        if value.is_none() {
            codes[at] = code(numbers.len());
        }
    }
    check_span(spec, &numbers)?;
    let tree = interval_tree(spec, &numbers, &texts)?;
    let zone = if unit == Unit::Second { zone(&texts) } else { None };
    let mut ordered = Ordered::new(numbers, texts, unit)
        .with_missing(values.contains(&None))
        .with_intervals(tree, spec.snap);
    ordered.set_zone(zone);
    Ok((Domain::Ordered(ordered), codes))
}

fn parse_numbers<'v>(
    spec: ColumnSpec,
    values: &'v [Option<String>],
    first_row: &[RowId],
) -> Result<(Unit, Vec<ParsedValue<'v>>)> {
    let mut parsed = Vec::with_capacity(values.len());
    let mut unit = Unit::Whole;
    for (at, text) in present_texts(values) {
        let number = number(text).ok_or_else(|| misfit(spec, Kind::Numeric, first_row[at]))?;
        // Beyond this, not every whole number is a floating-point number.
        if number.fract() != 0.0 || number.abs() >= 9e15 {
            unit = Unit::Decimal;
        }
        parsed.push(ParsedValue { number, text: text.trim(), at });
    }
    Ok((unit, parsed))
}

/// All in days, or all in seconds when one has a time of day.
fn parse_dates<'v>(
    spec: ColumnSpec,
    values: &'v [Option<String>],
    first_row: &[RowId],
) -> Result<(Unit, Vec<ParsedValue<'v>>)> {
    let mut parsed = Vec::with_capacity(values.len());
    let mut scales = Vec::with_capacity(values.len());
    for (at, text) in present_texts(values) {
        let (scale, number) =
            instant(text).ok_or_else(|| misfit(spec, Kind::Date, first_row[at]))?;
        scales.push(scale);
        parsed.push(ParsedValue { number, text: text.trim(), at });
    }
    if !scales.contains(&TimeScale::Seconds) {
        return Ok((Unit::Day, parsed));
    }
    for (value, scale) in parsed.iter_mut().zip(scales) {
        if scale == TimeScale::Days {
            value.number *= DAY;
        }
    }
    Ok((Unit::Second, parsed))
}

fn present_texts(values: &[Option<String>]) -> impl Iterator<Item = (usize, &str)> {
    values.iter().enumerate().filter_map(|(at, value)| Some((at, value.as_deref()?)))
}

/// Refuses two texts with equal numbers that are not spellings of one value, and two spellings of
/// one instant whose calendar days differ where days are published: one label would be false for
/// the other.
fn is_one_value(
    spec: ColumnSpec,
    kind: Kind,
    (text, spelt): (&str, &str),
    row: RowId,
) -> Result<()> {
    let name = spec.name;
    if spelling(kind, text) != spelling(kind, spelt) {
        return Err(Error::data(
            "too-many-digits",
            "a number or time has more digits than can be computed with",
        )
        .at_row(name, row)
        .hint(categorical(spec)));
    }
    let is_by_calendar = matches!(spec.hierarchy(), Some(HierarchySpec::Date(_)));
    if is_by_calendar && as_written(text) != as_written(spelt) {
        return Err(Error::data(
            "mixed-time-zones",
            "another row has the same instant in another time zone, so their calendar days \
             differ; convert the column to one time zone",
        )
        .at_row(name, row));
    }
    Ok(())
}

/// Losses divide by the range of a column, so it must be finite.
fn check_span(spec: ColumnSpec, numbers: &[f64]) -> Result<()> {
    match (numbers.first(), numbers.last()) {
        (Some(least), Some(greatest)) if !(greatest - least).is_finite() => Err(Error::data(
            "range-too-large",
            "the range of this column is too large to compute with",
        )
        .at_column(spec.name)
        .hint(categorical(spec))),
        _ => Ok(()),
    }
}

/// The way out for values that are no numbers to compute with.
pub(super) fn categorical(spec: ColumnSpec) -> Hint {
    Hint::SetKind { column: spec.name.into(), kind: "categorical".into() }
}

fn misfit(spec: ColumnSpec, kind: Kind, row: RowId) -> Error {
    let error = match kind {
        Kind::Date => Error::data("not-a-date", "not a date (as in 2024-03-17)"),
        _ => Error::data("not-a-number", "not a number (as in 12.5)"),
    };
    error
        .at_row(spec.name, row)
        .hint(Hint::plain("fix the cell"))
        .hint(Hint::NameMissing { texts: Vec::new() })
        .hint(categorical(spec))
}

/// The intervals of a line, if the column has a hierarchy.
fn interval_tree(
    spec: ColumnSpec,
    numbers: &[f64],
    texts: &[String],
) -> Result<Option<IntervalTree>> {
    let Some(request) = spec.hierarchy() else { return Ok(None) };
    let tree = match request {
        HierarchySpec::File(_) | HierarchySpec::Rows(_) | HierarchySpec::Text(_) => {
            let file = hierarchy::listed(request, spec.name, spec.missing)?;
            hierarchy::file_intervals(&file, spec.name, numbers, texts)
        }
        HierarchySpec::Intervals(request) => {
            hierarchy::intervals(spec.name, request, numbers, texts)
        }
        HierarchySpec::Date(request) => {
            hierarchy::date_intervals(spec.name, request, numbers, texts)
        }
        HierarchySpec::Prefix(_) => Err(of_codes(spec, "a prefix hierarchy")),
        HierarchySpec::Builtin(_) => Err(of_codes(spec, "this ready-made hierarchy")),
    };
    tree.map(Some)
}

/// The error for numbers with a hierarchy that is not for numbers.
fn of_codes(spec: ColumnSpec, what: &str) -> Error {
    Error::request(
        "hierarchy-misfit",
        format!("column `{}` is numeric, and {what} is for codes", spec.name),
    )
    .about_column(spec.name)
    .hint(categorical(spec))
    .hint(Hint::plain("use intervals"))
}

/// Labels in a given order: the numbers are their places in it.
fn ordinal(
    spec: ColumnSpec,
    values: &[Option<String>],
    first_row: &[RowId],
) -> Result<(Domain, Vec<Code>)> {
    let name = spec.name;
    let Some(order) = spec.column.and_then(|column| column.order.as_ref()) else {
        return Err(Error::request(
            "no-order",
            format!("column `{name}` is ordinal but has no order"),
        )
        .about_column(name)
        .hint(Hint::SetOrder { column: name.into() }));
    };
    let places = places(name, order)?;
    let mut used = vec![false; order.len()];
    for (at, text) in present_texts(values) {
        let Some(&place) = places.get(text) else {
            let absent = present_texts(values).filter(|(_, text)| !places.contains_key(text));
            let others = match absent.count() - 1 {
                0 => String::new(),
                more => {
                    let values = numbers::counted(more as u64, "other value", "other values");
                    format!("; {values} of the column have no place in it either")
                }
            };
            let reason =
                format!("the value is not in the order of the column; add it there{others}");
            return Err(Error::data("not-in-order", reason).at_row(name, first_row[at]));
        };
        used[place] = true;
    }
    let here: Vec<usize> = (0..order.len()).filter(|&place| used[place]).collect();
    let code_of = |text: &String| here.binary_search(&places[text.as_str()]).expect("a used place");
    let codes =
        values.iter().map(|value| code(value.as_ref().map_or(here.len(), code_of))).collect();
    let numbers = here.iter().map(|&place| f64::from(code(place))).collect();
    let texts = here.iter().map(|&place| order[place].clone()).collect();
    let ordered = Ordered::new(numbers, texts, Unit::Place)
        .with_missing(values.contains(&None))
        .with_intervals(None, spec.snap);
    Ok((Domain::Ordered(ordered), codes))
}

/// The place of each label in a given order, which has each label once and none like a range.
fn places<'o>(name: &str, order: &'o [String]) -> Result<FxHashMap<&'o str, usize>> {
    let mut places: FxHashMap<&str, usize> = FxHashMap::default();
    for (place, label) in order.iter().enumerate() {
        if places.insert(label, place).is_some() {
            return Err(Error::request(
                "order-names-twice",
                format!("the order of column `{name}` names `{label}` twice"),
            )
            .about_column(name));
        }
        let is_range = format!(" {label} ").contains(" .. ")
            || (label.starts_with('[') && label.ends_with(']'));
        if is_range || label == ANY || is_in_braces(label) {
            return Err(Error::request(
                "order-label-reserved",
                format!(
                    "the order of column `{name}` has a label that reads like a range or a set: \
                     `{label}`"
                ),
            )
            .about_column(name));
        }
    }
    Ok(places)
}

/// Labels under a taxonomy: that of the request, or all under one root.
fn tree(
    spec: ColumnSpec,
    values: &[Option<String>],
    first_row: &[RowId],
) -> Result<(Domain, Vec<Code>)> {
    if let Some(HierarchySpec::Intervals(_) | HierarchySpec::Date(_)) = spec.hierarchy() {
        return Err(Error::request(
            "hierarchy-misfit",
            format!(
                "column `{}` is categorical: intervals and dates need kind numeric or date",
                spec.name
            ),
        )
        .about_column(spec.name));
    }
    let taxonomy = match requested_taxonomy(spec, values, first_row)? {
        Some(taxonomy) => taxonomy,
        None => flat(spec, values, first_row)?,
    };
    let codes = leaf_codes(&taxonomy, values);
    Ok((Domain::Tree(taxonomy), codes))
}

/// The taxonomy of a hierarchy file or of prefixes; none where the request has neither.
pub(crate) fn requested_taxonomy(
    spec: ColumnSpec,
    values: &[Option<String>],
    first_row: &[RowId],
) -> Result<Option<Taxonomy>> {
    let name = spec.name;
    match spec.hierarchy() {
        Some(
            request @ (HierarchySpec::File(_) | HierarchySpec::Rows(_) | HierarchySpec::Text(_)),
        ) => {
            let file = hierarchy::listed(request, name, spec.missing)?;
            hierarchy::taxonomy(&file, name, values, first_row).map(Some)
        }
        Some(HierarchySpec::Prefix(request)) => {
            hierarchy::prefix(name, &request.prefix, values, first_row).map(Some)
        }
        Some(&HierarchySpec::Builtin(which)) => {
            hierarchy::builtin(which, name, values, first_row).map(Some)
        }
        Some(HierarchySpec::Intervals(_) | HierarchySpec::Date(_)) | None => Ok(None),
    }
}

/// The leaf of each value. Panics for a value that is none of the tree's.
pub(crate) fn leaf_codes(taxonomy: &Taxonomy, values: &[Option<String>]) -> Vec<Code> {
    taxonomy.codes(values).into_iter().map(|leaf| leaf.expect("every value is a leaf")).collect()
}

/// All labels under one root, in the order of their texts, the missing value last.
fn flat(spec: ColumnSpec, values: &[Option<String>], first_row: &[RowId]) -> Result<Taxonomy> {
    if let Some(at) = values.iter().position(|value| value.as_deref() == Some(ANY)) {
        return Err(Error::data(
            "reserved-star",
            "the cell is `*`, which is published for any value; if the table is a release, begin with \
             its source, else write another text in the source",
        )
        .at_row(spec.name, first_row[at]));
    }
    let mut leaves: Vec<String> = values.iter().flatten().cloned().collect();
    leaves.sort_unstable();
    if values.contains(&None) {
        leaves.push(String::new());
    }
    Ok(Taxonomy::flat(leaves, ANY))
}

fn code(index: usize) -> Code {
    Code::try_from(index).expect("a column has fewer values than the table may have rows")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codes::CodeRange;
    use crate::testing;

    /// The attribute of a column with these cells under these keys, and the code of each cell. The
    /// empty cell and `?` are missing.
    fn encoded(cells: &[&str], keys: &str) -> Result<(Attribute, Vec<Code>)> {
        let toml = format!("missing = ['?']\n[columns]\nv = {{ role = 'quasi'{keys} }}");
        let request = Request::parse(&toml).unwrap();
        // A second column, so that a row with an empty cell is no empty line.
        let lines: String = cells.iter().map(|cell| format!("\"{cell}\",-\n")).collect();
        let table = testing::table(&format!("v,x\n{lines}"));
        let coded = table.coded("v");
        let (attribute, of_value) = attribute(ColumnSpec::new("v", &request), coded)?;
        let codes = coded.codes().iter().map(|code| of_value[code as usize]).collect();
        Ok((attribute, codes))
    }

    fn ordered(cells: &[&str], keys: &str) -> (Ordered, Vec<Code>) {
        let (attribute, codes) = encoded(cells, keys).unwrap();
        let Domain::Ordered(ordered) = attribute.domain else { panic!("a line") };
        (ordered, codes)
    }

    fn refused(cells: &[&str], keys: &str) -> String {
        encoded(cells, keys).unwrap_err().to_string()
    }

    #[test]
    fn numbers_are_coded_by_value_and_the_missing_one_is_last() {
        let (line, codes) = ordered(&["30", "-2", "", "7", "?", "30"], "");
        assert_eq!(line.values(), [-2.0, 7.0, 30.0]);
        assert_eq!(line.texts(), ["-2", "7", "30"]);
        assert_eq!(codes, [2, 0, 3, 1, 3, 2]);
        assert_eq!((line.unit(), line.has_missing()), (Unit::Whole, true));
        assert_eq!(line.zone(), None);
    }

    #[test]
    fn spellings_of_one_number_are_one_code_and_the_shortest_is_published() {
        let (line, codes) = ordered(&["30.0", "4", "+30", "30", " 30 ", "3e1"], "");
        assert_eq!(
            (line.texts(), codes),
            (&["4", "30"].map(String::from)[..], vec![1, 0, 1, 1, 1, 1])
        );
        let (zeros, codes) = ordered(&["-0", "0.0", "0"], "");
        assert_eq!((zeros.values().len(), codes), (1, vec![0, 0, 0]));
    }

    #[test]
    fn fractions_and_very_large_numbers_are_decimals() {
        assert_eq!(ordered(&["1", "2.5"], "").0.unit(), Unit::Decimal);
        assert_eq!(ordered(&["1", "9e15"], "").0.unit(), Unit::Decimal);
        assert_eq!(ordered(&["1.0", "8e15"], "").0.unit(), Unit::Whole);
    }

    #[test]
    fn numbers_that_cannot_be_computed_with_are_refused() {
        let close = refused(&["1", "9007199254740993", "9007199254740992"], "");
        assert_eq!(
            close,
            "column `v`, data row 2: a number or time has more digits than can be computed with; \
             set `kind` of column `v` to \"categorical\""
        );
        assert_eq!(
            refused(&["-1e308", "1e308"], ""),
            "column `v`: the range of this column is too large to compute with; set `kind` of \
             column `v` to \"categorical\""
        );
        assert_eq!(
            refused(&["1", "x"], ", kind = 'numeric'"),
            "column `v`, data row 2: not a number (as in 12.5); fix the cell, name a text that \
             means missing in `missing`, or set `kind` of column `v` to \"categorical\""
        );
        let nearly = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "secret"];
        assert_eq!(
            refused(&nearly, ""),
            "column `v`, data row 10: text in a column that looks numeric; fix the cell, name a \
             text that means missing in `missing`, or set `kind` of column `v` to \"categorical\""
        );
    }

    #[test]
    fn dates_count_days_and_with_a_time_among_them_seconds() {
        let (days, codes) = ordered(&["1970-01-03", "1969-12-31", ""], "");
        assert_eq!((days.values(), days.unit()), (&[-1.0, 2.0][..], Unit::Day));
        assert_eq!((codes, days.zone()), (vec![1, 0, 2], None));
        let (times, codes) = ordered(&["1970-01-02", "1970-01-01T00:00:09.5"], "");
        assert_eq!((times.values(), times.unit()), (&[9.5, 86_400.0][..], Unit::Second));
        assert_eq!(codes, [1, 0]);
        let (zoned, _) = ordered(&["1970-01-01T02:00:00+02:00", "1970-01-01T03:00:00+02:00"], "");
        assert_eq!((zoned.values(), zoned.zone()), (&[0.0, 3600.0][..], Some("+02:00")));
    }

    #[test]
    fn one_instant_in_two_zones_is_one_value_unless_days_are_published() {
        let cells = ["2024-03-01T00:30:00+02:00", "2024-02-29T22:30:00Z"];
        assert_eq!(ordered(&cells, "").1, [0, 0]);
        assert_eq!(
            refused(&cells, ", hierarchy = { date = ['month'] }"),
            "column `v`, data row 1: another row has the same instant in another time zone, so \
             their calendar days differ; convert the column to one time zone"
        );
        let close = ["2024-01-01T00:00:00.000000001", "2024-01-01T00:00:00.000000002"];
        assert!(refused(&close, "").contains("more digits than can be computed with"));
        let message = refused(&["2024-03-17", "soon"], ", kind = 'date'");
        assert!(message.starts_with("column `v`, data row 2: not a date (as in 2024-03-17)"));
    }

    #[test]
    fn labels_in_an_order_are_coded_by_place_and_unused_ones_have_no_code() {
        let (line, codes) = ordered(&["high", "", "low"], ", order = ['low', 'mid', 'high']");
        assert_eq!((line.values(), line.unit()), (&[0.0, 2.0][..], Unit::Place));
        assert_eq!((line.texts().join(" "), codes), ("low high".into(), vec![1, 2, 0]));
    }

    #[test]
    fn an_order_that_does_not_fit_is_refused() {
        assert_eq!(
            refused(&["a"], ", kind = 'ordinal'"),
            "column `v` is ordinal but has no order: set `order` of column `v`, as in [\"low\", \
             \"high\"]"
        );
        assert_eq!(
            refused(&["a", "secret"], ", order = ['a']"),
            "column `v`, data row 2: the value is not in the order of the column; add it there"
        );
        assert_eq!(
            refused(&["a", "secret", "hidden", "a", "b"], ", order = ['a']"),
            "column `v`, data row 2: the value is not in the order of the column; add it there; 2 \
             other values of the column have no place in it either"
        );
        assert_eq!(
            refused(&["a"], ", order = ['a', 'a']"),
            "the order of column `v` names `a` twice"
        );
        for label in ["*", "[a]", "{a}", "a .. b", ".. b"] {
            assert_eq!(
                refused(&["a"], &format!(", order = ['a', '{label}']")),
                format!(
                    "the order of column `v` has a label that reads like a range or a set: \
                     `{label}`"
                )
            );
        }
    }

    #[test]
    fn other_labels_are_leaves_in_the_order_of_their_texts() {
        let (attribute, codes) = encoded(&["b", "", "a", "02", "?"], "").unwrap();
        assert!(attribute.is_flat());
        assert_eq!((attribute.codes(), codes), (4, vec![2, 3, 1, 0, 3]));
        let labels: Vec<String> =
            (0..4).map(|code| attribute.label(CodeRange::one(code))).collect();
        assert_eq!(labels, ["02", "a", "b", ""]);
        assert_eq!(
            refused(&["a", "*"], ""),
            "column `v`, data row 2: the cell is `*`, which is published for any value; if the \
             table is a release, begin with its source, else write another text in the source"
        );
    }

    #[test]
    fn a_hierarchy_of_another_kind_is_refused() {
        assert_eq!(
            refused(&["a"], ", kind = 'categorical', hierarchy = { intervals = [5] }"),
            "column `v` is categorical: intervals and dates need kind numeric or date"
        );
        assert_eq!(
            refused(&["1"], ", kind = 'numeric', hierarchy = { prefix = [2] }"),
            "column `v` is numeric, and a prefix hierarchy is for codes: set `kind` of column `v` \
             to \"categorical\" or use intervals"
        );
        let message = refused(&["a"], ", hierarchy = '/nowhere/v.csv'");
        assert!(message.contains("column `v` names it as its hierarchy"), "{message}");
    }

    #[test]
    fn a_hierarchy_gives_codes_in_tree_order() {
        let (attribute, codes) =
            encoded(&["21", "12", "11", ""], ", hierarchy = { prefix = [1] }").unwrap();
        assert_eq!((codes, attribute.codes()), (vec![2, 1, 0, 3], 4));
        assert_eq!(attribute.label(CodeRange { lo: 0, hi: 1 }), "1*");
        let (line, _) = ordered(&["21", "12"], ", hierarchy = { intervals = [10] }");
        let tree = line.intervals().unwrap();
        assert_eq!(tree.taxonomy().label(tree.taxonomy().parent(0).unwrap()), "[10-19]");
    }

    #[test]
    fn sensitive_values_are_counted_in_one_spelling_where_the_request_gives_a_kind() {
        let table = testing::table("v\n30\n30.0\nx\n?\n");
        let counted = |keys: &str| {
            let toml = format!("missing = ['?']\n[columns]\nv = {{ role = 'sensitive'{keys} }}");
            let request = Request::parse(&toml).unwrap();
            counted(ColumnSpec::new("v", &request), table.coded("v"))
        };
        let texts = counted("").unwrap();
        assert_eq!(
            texts,
            ["30", "30.0", "x", ""]
                .map(|text| { Some(text.to_string()).filter(|text| !text.is_empty()) })
        );
        let error = counted(", kind = 'numeric'").unwrap_err().to_string();
        assert!(error.starts_with("column `v`, data row 3: not a number"), "{error}");
    }
}
