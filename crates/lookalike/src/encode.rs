//! From the texts of a column to a quasi-identifier: which kind it is, what its values are worth, which code each text gets.

use rustc_hash::FxHashMap;

use crate::attribute::{ANY, Attribute, Domain, Ordered, Unit};
use crate::code::Code;
use crate::config::{ColumnConfig, Config, HierarchyConfig, Kind, Output, Publish};
use crate::error::{Error, Result};
use crate::hierarchy::{self, Steps};
use crate::table::Coded;
use crate::taxonomy::Taxonomy;

/// What a column needs beside its cells.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wish<'a> {
    pub(crate) name: &'a str,
    pub(crate) column: Option<&'a ColumnConfig>,
    /// Texts that mean "missing" beside the empty cell.
    pub(crate) missing: &'a [String],
    pub(crate) publish: Publish,
    pub(crate) snap: bool,
}

impl<'a> Wish<'a> {
    pub(crate) fn new(name: &'a str, config: &'a Config) -> Wish<'a> {
        let Output { publish, snap, .. } = config.output;
        Wish { name, column: config.column(name), missing: &config.missing, publish, snap }
    }
}

/// The attribute, and for each value of the column's dictionary its code in it.
pub(crate) fn attribute(wish: Wish, coded: &Coded) -> Result<(Attribute, Vec<Code>)> {
    let values = present(wish, coded);
    let (domain, codes) = match kind(wish, &values, coded)? {
        Kind::Categorical => tree(wish, &values, coded)?,
        Kind::Ordinal => ordinal(wish, &values, coded)?,
        kind @ (Kind::Numeric | Kind::Date) => line(wish, kind, &values, coded)?,
    };
    let weight = wish.column.and_then(|column| column.weight).unwrap_or(1.0);
    Ok((Attribute { name: wish.name.to_string(), weight, domain }, codes))
}

/// The dictionary with every text that means "missing" taken as such. So is an empty text beside a null: as CSV they are one.
pub(crate) fn present(wish: Wish, coded: &Coded) -> Vec<Option<String>> {
    let is_missing = |text: &String| text.is_empty() || wish.missing.iter().any(|marker| marker.trim() == text.trim());
    coded.values.iter().map(|value| value.as_ref().filter(|text| !is_missing(text)).cloned()).collect()
}

/// A finite number written in digits.
pub(crate) fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    let starts = text.trim_start_matches(['+', '-']).starts_with(|c: char| c.is_ascii_digit() || c == '.');
    text.parse().ok().filter(|number: &f64| starts && number.is_finite())
}

/// Codes in the order of the values, the missing value last, and how many there are. For sensitive columns whose order matters.
pub(crate) fn ordered_codes(wish: Wish, coded: &Coded) -> Result<(usize, Vec<Code>)> {
    let values = present(wish, coded);
    let (domain, codes) = match kind(wish, &values, coded)? {
        Kind::Ordinal => ordinal(wish, &values, coded)?,
        kind @ (Kind::Numeric | Kind::Date) => line(wish, kind, &values, coded)?,
        Kind::Categorical => {
            return Err(Error::config(format!(
                "column `{0}`: the ordered distance needs numbers, dates, or an order (--order {0}=low,high)",
                wish.name
            )));
        }
    };
    Ok((Attribute { name: wish.name.to_string(), weight: 1.0, domain }.codes(), codes))
}

fn kind(wish: Wish, values: &[Option<String>], coded: &Coded) -> Result<Kind> {
    let column = wish.column;
    if let Some(kind) = column.and_then(|column| column.kind) {
        return Ok(kind);
    }
    if column.is_some_and(|column| column.order.is_some()) {
        return Ok(Kind::Ordinal);
    }
    match column.and_then(|column| column.hierarchy.as_ref()) {
        Some(HierarchyConfig::File(_) | HierarchyConfig::Prefix(_)) => return Ok(Kind::Categorical),
        Some(HierarchyConfig::Intervals(_)) => return Ok(Kind::Numeric),
        Some(HierarchyConfig::Date(_)) => return Ok(Kind::Date),
        None => {}
    }
    match guess(values) {
        Guess::Kind(kind) => Ok(kind),
        Guess::Slip(at) => Err(Error::data(format!(
            "column `{0}` looks numeric, but data row {1} has text: mend the cell, name a text that means missing \
             (--missing TEXT), or say --kind {0}=categorical",
            wish.name,
            coded.first_row[at] + 1
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
    let padded = texts().any(|text| text.len() > 1 && text.starts_with('0') && text.bytes().all(|b| b.is_ascii_digit()));
    if count == 0 || padded {
        Guess::Kind(Kind::Categorical)
    } else if numbers == count {
        Guess::Kind(Kind::Numeric)
    } else if numbers * 10 >= count * 9 {
        let slip = values.iter().position(|value| value.as_ref().is_some_and(|text| number(text).is_none()));
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
    #[allow(clippy::cast_precision_loss, reason = "instants that this cannot tell apart are refused")]
    Some((Unit::Second, seconds as f64 + f64::from(rest) / 1e9))
}

/// A date or timestamp as seconds since 1970, as a column with both has them.
pub(crate) fn seconds(text: &str) -> Option<f64> {
    instant(text).map(|(unit, at)| if unit == Unit::Day { at * DAY } else { at })
}

/// Seconds of a day.
pub(crate) const DAY: f64 = 86_400.0;

/// The instant of a timestamp or date, to the nanosecond.
fn nanoseconds(text: &str) -> Option<i128> {
    // With an offset first: read as civil time, the offset would be passed over.
    let timestamp = match text.parse::<jiff::Timestamp>() {
        Ok(timestamp) => timestamp,
        Err(_) => jiff::tz::TimeZone::UTC.to_timestamp(text.parse::<jiff::civil::DateTime>().ok()?).ok()?,
    };
    Some(timestamp.as_nanosecond())
}

/// Numbers and dates: sorted by value, equal values under one code.
fn line(wish: Wish, kind: Kind, values: &[Option<String>], coded: &Coded) -> Result<(Domain, Vec<Code>)> {
    let mut unit = if kind == Kind::Date { Unit::Day } else { Unit::Whole };
    let mut parsed: Vec<(f64, &str, usize)> = Vec::with_capacity(values.len());
    for (at, value) in values.iter().enumerate() {
        let Some(text) = value else { continue };
        let read = if kind == Kind::Date { instant(text) } else { number(text).map(|number| (Unit::Whole, number)) };
        let Some((as_unit, value)) = read else {
            let row = coded.first_row[at] + 1;
            let (what, other) = if kind == Kind::Date { ("a date", "2024-03-17") } else { ("a number", "12.5") };
            return Err(Error::data(format!(
                "column `{}`, data row {row}: not {what} (as in {other}); mend the cell, name a text that means missing \
                 (--missing TEXT), or choose another --kind",
                wish.name
            )));
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
    if kind == Kind::Numeric && parsed.iter().any(|(value, ..)| value.fract() != 0.0 || value.abs() >= 9e15) {
        unit = Unit::Decimal;
    }
    // Of several spellings of one number the shortest is published.
    parsed.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.len().cmp(&b.1.len())).then(a.1.cmp(b.1)));
    let mut codes = vec![0; values.len()];
    let (mut numbers, mut texts): (Vec<f64>, Vec<String>) = (Vec::new(), Vec::new());
    for (value, text, at) in parsed {
        match (numbers.last(), texts.last()) {
            (Some(&last), Some(spelt)) if value <= last => {
                let differ = match kind {
                    Kind::Numeric => digits(text).zip(digits(spelt)).is_some_and(|(a, b)| a != b),
                    _ => nanoseconds(text) != nanoseconds(spelt),
                };
                if differ {
                    return Err(Error::data(format!(
                        "column `{0}`, data row {1}: numbers or times with more digits than can be told apart; say --kind {0}=categorical",
                        wish.name,
                        coded.first_row[at] + 1
                    )));
                }
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
    if numbers.first().zip(numbers.last()).is_some_and(|(least, greatest)| !(greatest - least).is_finite()) {
        return Err(Error::data(format!(
            "column `{0}`: its numbers lie too far apart to be reckoned with; say --kind {0}=categorical",
            wish.name
        )));
    }
    let steps = steps(wish, &numbers, &texts)?;
    let (missing, between) = (values.contains(&None), between(&texts));
    Ok((Domain::Ordered(Ordered { values: numbers, between, texts, missing, unit, steps, snap: wish.snap }), codes))
}

/// The digits of a number without sign of plus, padding zeros or exponent: equal for equal numbers; none with an exponent.
fn digits(text: &str) -> Option<String> {
    if text.contains(['e', 'E']) {
        return None;
    }
    let (sign, text) = text.strip_prefix('-').map_or(("", text.trim_start_matches('+')), |rest| ("-", rest));
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let (whole, part) = (whole.trim_start_matches('0'), part.trim_end_matches('0'));
    Some(if whole.is_empty() && part.is_empty() { "0.".to_string() } else { format!("{sign}{whole}.{part}") })
}

/// The intervals of a numeric column, if it has a hierarchy.
fn steps(wish: Wish, numbers: &[f64], texts: &[String]) -> Result<Option<Steps>> {
    let Some(config) = wish.column.and_then(|column| column.hierarchy.as_ref()) else {
        return Ok(None);
    };
    match config {
        HierarchyConfig::File(path) => {
            hierarchy::file_steps(&hierarchy::read_of(path, wish.name)?, wish.name, numbers, texts).map(Some)
        }
        HierarchyConfig::Intervals(config) => hierarchy::intervals(wish.name, config, numbers, texts).map(Some),
        HierarchyConfig::Date(config) => hierarchy::date_steps(wish.name, config, numbers, texts).map(Some),
        HierarchyConfig::Prefix(_) => Err(Error::config(format!(
            "column `{0}` is numeric, a prefix hierarchy is for codes: say --kind {0}=categorical, or use intervals",
            wish.name
        ))),
    }
}

/// Labels in a given order: the numbers are their places in it.
fn ordinal(wish: Wish, values: &[Option<String>], coded: &Coded) -> Result<(Domain, Vec<Code>)> {
    let name = wish.name;
    let Some(order) = wish.column.and_then(|column| column.order.as_ref()) else {
        return Err(Error::config(format!(
            "column `{name}` is ordinal but has no order: order = [\"low\", \"high\"], or --order {name}=low,high"
        )));
    };
    let mut places: FxHashMap<&str, usize> = FxHashMap::default();
    for (place, label) in order.iter().enumerate() {
        if places.insert(label, place).is_some() {
            return Err(Error::config(format!("the order of column `{name}` names `{label}` twice")));
        }
        if label.contains(" .. ") || label == ANY || (label.starts_with('[') && label.ends_with(']')) {
            return Err(Error::config(format!("the order of column `{name}` has a label that reads like a range: `{label}`")));
        }
    }
    let mut used = vec![false; order.len()];
    for (at, value) in values.iter().enumerate() {
        let Some(text) = value else { continue };
        let Some(&place) = places.get(text.as_str()) else {
            return Err(Error::data(format!(
                "column `{name}`, data row {}: the value is not in the column's order; add it there",
                coded.first_row[at] + 1
            )));
        };
        used[place] = true;
    }
    let here: Vec<usize> = (0..order.len()).filter(|&place| used[place]).collect();
    let code_of = |text: &String| here.binary_search(&places[text.as_str()]).expect("a used place");
    let codes = values.iter().map(|value| code(value.as_ref().map_or(here.len(), code_of))).collect();
    let texts: Vec<String> = here.iter().map(|&place| order[place].clone()).collect();
    let ordered = Ordered {
        values: here.iter().map(|&place| f64::from(code(place))).collect(),
        between: between(&texts),
        texts,
        missing: values.contains(&None),
        unit: Unit::Place,
        steps: None,
        snap: wish.snap,
    };
    Ok((Domain::Ordered(ordered), codes))
}

fn between(texts: &[String]) -> &'static str {
    if texts.iter().any(|text| text.contains('-')) { " .. " } else { "-" }
}

/// Labels under a taxonomy: the given one, or all under one root.
fn tree(wish: Wish, values: &[Option<String>], coded: &Coded) -> Result<(Domain, Vec<Code>)> {
    let name = wish.name;
    let taxonomy = match wish.column.and_then(|column| column.hierarchy.as_ref()) {
        Some(HierarchyConfig::File(path)) => {
            hierarchy::taxonomy(&hierarchy::read_of(path, name)?, name, values, &coded.first_row)?
        }
        Some(HierarchyConfig::Prefix(config)) => hierarchy::prefix(name, &config.prefix, values, &coded.first_row)?,
        Some(HierarchyConfig::Intervals(_) | HierarchyConfig::Date(_)) => {
            return Err(Error::config(format!("column `{name}` is categorical: intervals and dates need kind numeric or date")));
        }
        None => flat(wish, values, coded)?,
    };
    let codes = leaf_codes(&taxonomy, values);
    Ok((Domain::Tree(taxonomy), codes))
}

/// The leaf of each value; every value has one, the tree was built for them.
pub(crate) fn leaf_codes(taxonomy: &Taxonomy, values: &[Option<String>]) -> Vec<Code> {
    taxonomy.codes(values).into_iter().map(|leaf| leaf.expect("every value is a leaf")).collect()
}

fn flat(wish: Wish, values: &[Option<String>], coded: &Coded) -> Result<Taxonomy> {
    let reads_like_a_label =
        |text: &str| text == ANY || (wish.publish == Publish::Set && text.starts_with('{') && text.ends_with('}'));
    if let Some(at) = values.iter().position(|value| value.as_deref().is_some_and(reads_like_a_label)) {
        return Err(Error::data(format!(
            "column `{}`, data row {}: the cell reads like a generalized value (`*`, or a set in braces), which would be \
             published for any value; give the column a hierarchy whose root has another label, or mend the cell",
            wish.name,
            coded.first_row[at] + 1
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
