//! From the texts of a column to a quasi-identifier: which kind it is, what its values are worth,
//! which code each text gets.

use rustc_hash::FxHashMap;

use crate::codes::Code;
use crate::domain::attribute::{ANY, Attribute, Domain, Ordered, Unit, is_in_braces};
use crate::domain::hierarchy::{self, Steps};
use crate::domain::taxonomy::Taxonomy;
use crate::error::{Error, Result};
use crate::request::{ColumnRequest, DateSpec, DateUnit, HierarchySpec, Kind, Request, Role};
use crate::table::Coded;

/// What a column needs beside its cells.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ColumnSpec<'a> {
    pub(crate) name: &'a str,
    pub(crate) column: Option<&'a ColumnRequest>,
    /// Texts that mean "missing" beside the empty cell.
    pub(crate) missing: &'a [String],
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
}

/// The attribute, and for each value of the column's dictionary its code in it.
pub(crate) fn attribute(spec: ColumnSpec, coded: &Coded) -> Result<(Attribute, Vec<Code>)> {
    let values = present(spec, coded);
    let (domain, codes) = match kind(spec, &values, coded)? {
        Kind::Categorical => tree(spec, &values, coded)?,
        Kind::Ordinal => ordinal(spec, &values, coded)?,
        kind @ (Kind::Numeric | Kind::Date) => line(spec, kind, &values, coded)?,
    };
    let weight = spec.column.and_then(|column| column.weight).unwrap_or(1.0);
    Ok((Attribute { name: spec.name.to_string(), weight, domain }, codes))
}

/// The dictionary with every text that means "missing" taken as such. So is an empty text beside a
/// null: as CSV they are one.
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

/// A finite number written in digits.
pub(crate) fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    let starts =
        text.trim_start_matches(['+', '-']).starts_with(|c: char| c.is_ascii_digit() || c == '.');
    text.parse().ok().filter(|number: &f64| starts && number.is_finite())
}

/// Codes in the order of the values, the missing value last, how many there are, and of which kind.
/// For sensitive columns whose order matters.
pub(crate) fn ordered_codes(spec: ColumnSpec, coded: &Coded) -> Result<(Kind, usize, Vec<Code>)> {
    let values = present(spec, coded);
    let kind = kind(spec, &values, coded)?;
    let (domain, codes) = match kind {
        Kind::Ordinal => ordinal(spec, &values, coded)?,
        kind @ (Kind::Numeric | Kind::Date) => line(spec, kind, &values, coded)?,
        Kind::Categorical => {
            return Err(Error::request(format!(
                "column `{0}`: the ordered distance needs numbers, dates, or an order (--order {0}=low,high)",
                spec.name
            )));
        }
    };
    Ok((kind, Attribute { name: spec.name.to_string(), weight: 1.0, domain }.codes(), codes))
}

fn kind(spec: ColumnSpec, values: &[Option<String>], coded: &Coded) -> Result<Kind> {
    let column = spec.column;
    if let Some(kind) = column.and_then(|column| column.kind) {
        return Ok(kind);
    }
    if column.is_some_and(|column| column.order.is_some()) {
        return Ok(Kind::Ordinal);
    }
    match column.and_then(|column| column.hierarchy.as_ref()) {
        Some(HierarchySpec::File(_) | HierarchySpec::Prefix(_)) => return Ok(Kind::Categorical),
        Some(HierarchySpec::Intervals(_)) => return Ok(Kind::Numeric),
        Some(HierarchySpec::Date(_)) => return Ok(Kind::Date),
        None => {}
    }
    match guess(values) {
        Guess::Kind(kind) => Ok(kind),
        Guess::Slip(at) => Err(Error::data(format!(
            "column `{0}` looks numeric, but data row {1} has text: mend the cell, name a text that means missing \
             (--missing TEXT), or say --kind {0}=categorical",
            spec.name,
            coded.first_row()[at] + 1
        ))),
    }
}

/// What the values of a column look like when nobody says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Guess {
    /// All of them agree.
    Kind(Kind),
    /// Nearly all are numbers; this one is not.
    Slip(usize),
}

/// Numbers, dates, or labels; at least nine in ten numbers make the others slips.
pub(crate) fn guess(values: &[Option<String>]) -> Guess {
    let texts = || values.iter().flatten();
    let count = texts().count();
    let numbers = texts().filter(|text| number(text).is_some()).count();
    // 02139 is a code, not a number: as a number it would lose its zero.
    let padded = texts().any(|text| {
        text.len() > 1 && text.starts_with('0') && text.bytes().all(|b| b.is_ascii_digit())
    });
    if count == 0 || padded {
        Guess::Kind(Kind::Categorical)
    } else if numbers == count {
        Guess::Kind(Kind::Numeric)
    } else if numbers * 10 >= count * 9 {
        let slip = values
            .iter()
            .position(|value| value.as_ref().is_some_and(|text| number(text).is_none()));
        Guess::Slip(slip.expect("some value is no number"))
    } else if texts().all(|text| instant(text).is_some()) {
        Guess::Kind(Kind::Date)
    } else {
        Guess::Kind(Kind::Categorical)
    }
}

/// A date as days, or a timestamp as seconds, since 1970.
fn instant(text: &str) -> Option<(Unit, f64)> {
    let text = text.trim();
    let epoch = jiff::civil::date(1970, 1, 1);
    if text.len() == 10 {
        let date: jiff::civil::Date = text.parse().ok()?;
        return Some((Unit::Day, f64::from(epoch.until(date).ok()?.get_days())));
    }
    let exact = nanoseconds(text)?;
    let seconds = i64::try_from(exact.div_euclid(1_000_000_000)).ok()?;
    let rest = i32::try_from(exact.rem_euclid(1_000_000_000)).ok()?;
    #[allow(
        clippy::cast_precision_loss,
        reason = "instants that this cannot tell apart are refused"
    )]
    Some((Unit::Second, seconds as f64 + f64::from(rest) / 1e9))
}

/// A date or timestamp as seconds since 1970, as a column with both has them.
pub(crate) fn seconds(text: &str) -> Option<f64> {
    instant(text).map(|(unit, at)| if unit == Unit::Day { at * DAY } else { at })
}

/// Seconds of a day.
pub(crate) const DAY: f64 = 86_400.0;

/// The instant of a timestamp or date, to the nanosecond; a time without an offset is taken as UTC.
pub(crate) fn nanoseconds(text: &str) -> Option<i128> {
    // With an offset first: read as civil time, the offset would be passed over.
    let timestamp = match text.parse::<jiff::Timestamp>() {
        Ok(timestamp) => timestamp,
        Err(_) => jiff::tz::TimeZone::UTC
            .to_timestamp(text.parse::<jiff::civil::DateTime>().ok()?)
            .ok()?,
    };
    Some(timestamp.as_nanosecond())
}

/// Numbers and dates: sorted by value, equal values under one code.
fn line(
    spec: ColumnSpec,
    kind: Kind,
    values: &[Option<String>],
    coded: &Coded,
) -> Result<(Domain, Vec<Code>)> {
    let mut unit = if kind == Kind::Date { Unit::Day } else { Unit::Whole };
    let mut parsed: Vec<(f64, &str, usize)> = Vec::with_capacity(values.len());
    for (at, value) in values.iter().enumerate() {
        let Some(text) = value else { continue };
        let read = if kind == Kind::Date {
            instant(text)
        } else {
            number(text).map(|number| (Unit::Whole, number))
        };
        let Some((as_unit, value)) = read else {
            return Err(misfit(spec, kind, coded.first_row()[at]));
        };
        if as_unit == Unit::Second {
            unit = Unit::Second;
        }
        parsed.push((value, text.trim(), at));
    }
    if unit == Unit::Second {
        for (value, text, _) in &mut parsed {
            if text.len() == 10 {
                *value *= DAY;
            }
        }
    }
    if kind == Kind::Numeric
        && parsed.iter().any(|(value, ..)| value.fract() != 0.0 || value.abs() >= 9e15)
    {
        unit = Unit::Decimal;
    }
    // Of several spellings of one number the shortest is published.
    parsed.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.len().cmp(&b.1.len())).then(a.1.cmp(b.1)));
    let mut codes = vec![0; values.len()];
    let (mut numbers, mut texts): (Vec<f64>, Vec<String>) = (Vec::new(), Vec::new());
    for (value, text, at) in parsed {
        match (numbers.last(), texts.last()) {
            (Some(&last), Some(spelt)) if value <= last => {
                if spelling(kind, text) != spelling(kind, spelt) {
                    return Err(Error::data(format!(
                        "column `{0}`, data row {1}: numbers or times with more digits than can be told apart; say --kind {0}=categorical",
                        spec.name,
                        coded.first_row()[at] + 1
                    )));
                }
                has_one_calendar(spec, text, spelt, coded.first_row()[at])?;
            }
            _ => {
                numbers.push(value);
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
    if numbers
        .first()
        .zip(numbers.last())
        .is_some_and(|(least, greatest)| !(greatest - least).is_finite())
    {
        return Err(Error::data(format!(
            "column `{0}`: its numbers lie too far apart to be reckoned with; say --kind {0}=categorical",
            spec.name
        )));
    }
    let steps = steps(spec, &numbers, &texts)?;
    let (missing, between) = (values.contains(&None), between(&texts));
    let zone = if unit == Unit::Second { hierarchy::zone(&texts) } else { None };
    Ok((
        Domain::Ordered(Ordered {
            values: numbers,
            between,
            texts,
            missing,
            unit,
            steps,
            snap: spec.snap,
            zone,
        }),
        codes,
    ))
}

fn misfit(spec: ColumnSpec, kind: Kind, row: u32) -> Error {
    let (what, other) =
        if kind == Kind::Date { ("a date", "2024-03-17") } else { ("a number", "12.5") };
    Error::data(format!(
        "column `{}`, data row {}: not {what} (as in {other}); mend the cell, name a text that means missing \
         (--missing TEXT), or choose another --kind",
        spec.name,
        row + 1
    ))
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

/// Refuses two spellings of one instant whose calendar days differ, where days are published: the
/// one label would be untrue of the other.
fn has_one_calendar(spec: ColumnSpec, text: &str, spelt: &str, row: u32) -> Result<()> {
    let by_calendar = matches!(
        spec.column.and_then(|column| column.hierarchy.as_ref()),
        Some(HierarchySpec::Date(_))
    );
    if by_calendar && hierarchy::as_written(text) != hierarchy::as_written(spelt) {
        return Err(Error::data(format!(
            "column `{}`, data row {}: another row has the same instant in another time zone, so their calendar days differ; convert \
             the column to one time zone",
            spec.name,
            row + 1
        )));
    }
    Ok(())
}

/// One spelling for each number or instant, so that equal ones are equal texts and no others are; a
/// text that is neither stays as it is.
pub(crate) fn spelling(kind: Kind, text: &str) -> String {
    let one = match kind {
        Kind::Numeric => decimal(text.trim()),
        Kind::Date => nanoseconds(text.trim()).map(|instant| instant.to_string()),
        Kind::Ordinal | Kind::Categorical => None,
    };
    one.unwrap_or_else(|| text.to_string())
}

/// A decimal as its digits without zeros at either end, and the power of ten of the last one.
fn decimal(text: &str) -> Option<String> {
    number(text)?;
    let sign = if text.starts_with('-') { "-" } else { "" };
    let (mantissa, power) = text
        .trim_start_matches(['+', '-'])
        .split_once(['e', 'E'])
        .unwrap_or((text.trim_start_matches(['+', '-']), "0"));
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all: String = whole.chars().chain(part.chars()).collect();
    let ended = all.trim_end_matches('0');
    if ended.is_empty() {
        return Some("0".to_string());
    }
    let zeros = i64::try_from(all.len() - ended.len()).ok()?;
    let power = power
        .parse::<i64>()
        .ok()?
        .checked_add(zeros)?
        .checked_sub(i64::try_from(part.len()).ok()?)?;
    Some(format!("{sign}{} {power}", ended.trim_start_matches('0')))
}

/// For each value of a sensitive column what the rules count it as: its number or instant where the
/// column's kind says so, else its text.
pub(crate) fn counted(spec: ColumnSpec, coded: &Coded) -> Result<Vec<Option<String>>> {
    let kind = said(spec);
    let one = |(value, &row): (Option<String>, &u32)| {
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

/// The kind of a column as far as the request says it; categorical where it does not.
pub(crate) fn said(spec: ColumnSpec) -> Kind {
    let of_hierarchy = |column: &ColumnRequest| match column.hierarchy {
        Some(HierarchySpec::Intervals(_)) => Some(Kind::Numeric),
        Some(HierarchySpec::Date(_)) => Some(Kind::Date),
        _ => None,
    };
    let of = |column: &ColumnRequest| {
        column.kind.or(if column.order.is_some() { None } else { of_hierarchy(column) })
    };
    spec.column.and_then(of).unwrap_or(Kind::Categorical)
}

/// The intervals of a numeric column, if it has a hierarchy.
fn steps(spec: ColumnSpec, numbers: &[f64], texts: &[String]) -> Result<Option<Steps>> {
    let Some(request) = spec.column.and_then(|column| column.hierarchy.as_ref()) else {
        return Ok(None);
    };
    match request {
        HierarchySpec::File(path) => hierarchy::file_steps(
            &hierarchy::read_of(path, spec.name, spec.missing)?,
            spec.name,
            numbers,
            texts,
        )
        .map(Some),
        HierarchySpec::Intervals(request) => {
            hierarchy::intervals(spec.name, request, numbers, texts).map(Some)
        }
        HierarchySpec::Date(request) => {
            hierarchy::date_steps(spec.name, request, numbers, texts).map(Some)
        }
        HierarchySpec::Prefix(_) => Err(Error::request(format!(
            "column `{0}` is numeric, a prefix hierarchy is for codes: say --kind {0}=categorical, or use intervals",
            spec.name
        ))),
    }
}

/// Labels in a given order: the numbers are their places in it.
fn ordinal(
    spec: ColumnSpec,
    values: &[Option<String>],
    coded: &Coded,
) -> Result<(Domain, Vec<Code>)> {
    let name = spec.name;
    let Some(order) = spec.column.and_then(|column| column.order.as_ref()) else {
        return Err(Error::request(format!(
            "column `{name}` is ordinal but has no order: order = [\"low\", \"high\"], or --order {name}=low,high"
        )));
    };
    let mut places: FxHashMap<&str, usize> = FxHashMap::default();
    for (place, label) in order.iter().enumerate() {
        if places.insert(label, place).is_some() {
            return Err(Error::request(format!(
                "the order of column `{name}` names `{label}` twice"
            )));
        }
        let is_range = format!(" {label} ").contains(" .. ")
            || (label.starts_with('[') && label.ends_with(']'));
        if is_range || label == ANY || is_in_braces(label) {
            return Err(Error::request(format!(
                "the order of column `{name}` has a label that reads like a range or a set: `{label}`"
            )));
        }
    }
    let mut used = vec![false; order.len()];
    for (at, value) in values.iter().enumerate() {
        let Some(text) = value else { continue };
        let Some(&place) = places.get(text.as_str()) else {
            return Err(Error::data(format!(
                "column `{name}`, data row {}: the value is not in the column's order; add it there",
                coded.first_row()[at] + 1
            )));
        };
        used[place] = true;
    }
    let here: Vec<usize> = (0..order.len()).filter(|&place| used[place]).collect();
    let code_of = |text: &String| here.binary_search(&places[text.as_str()]).expect("a used place");
    let codes =
        values.iter().map(|value| code(value.as_ref().map_or(here.len(), code_of))).collect();
    let texts: Vec<String> = here.iter().map(|&place| order[place].clone()).collect();
    let ordered = Ordered {
        values: here.iter().map(|&place| f64::from(code(place))).collect(),
        between: between(&texts),
        texts,
        missing: values.contains(&None),
        unit: Unit::Place,
        steps: None,
        snap: spec.snap,
        zone: None,
    };
    Ok((Domain::Ordered(ordered), codes))
}

fn between(texts: &[String]) -> &'static str {
    if texts.iter().any(|text| text.contains('-')) { " .. " } else { "-" }
}

/// Labels under a taxonomy: the given one, or all under one root.
fn tree(spec: ColumnSpec, values: &[Option<String>], coded: &Coded) -> Result<(Domain, Vec<Code>)> {
    let name = spec.name;
    let taxonomy = match spec.column.and_then(|column| column.hierarchy.as_ref()) {
        Some(HierarchySpec::File(path)) => hierarchy::taxonomy(
            &hierarchy::read_of(path, name, spec.missing)?,
            name,
            values,
            coded.first_row(),
        )?,
        Some(HierarchySpec::Prefix(request)) => {
            hierarchy::prefix(name, &request.prefix, values, coded.first_row())?
        }
        Some(HierarchySpec::Intervals(_) | HierarchySpec::Date(_)) => {
            return Err(Error::request(format!(
                "column `{name}` is categorical: intervals and dates need kind numeric or date"
            )));
        }
        None => flat(spec, values, coded)?,
    };
    let codes = leaf_codes(&taxonomy, values);
    Ok((Domain::Tree(taxonomy), codes))
}

/// The leaf of each value; every value has one, the tree was built for them.
pub(crate) fn leaf_codes(taxonomy: &Taxonomy, values: &[Option<String>]) -> Vec<Code> {
    taxonomy.codes(values).into_iter().map(|leaf| leaf.expect("every value is a leaf")).collect()
}

fn flat(spec: ColumnSpec, values: &[Option<String>], coded: &Coded) -> Result<Taxonomy> {
    if let Some(at) = values.iter().position(|value| value.as_deref() == Some(ANY)) {
        return Err(Error::data(format!(
            "column `{}`, data row {}: the cell is `*`, which is published for any value; write it otherwise in the source",
            spec.name,
            coded.first_row()[at] + 1
        )));
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
