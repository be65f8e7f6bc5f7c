//! Texts that mean "missing" among numbers and dates: `NA`, `?`, `-`. They are named all at once,
//! with their counts, so that one look at the table is enough.

use std::collections::BTreeMap;

use arrow_schema::DataType;

use crate::domain::parse::{number, seconds};
use crate::error::{Error, Hint, Result};
use crate::forms::is_missing;
use crate::request::{Kind, Request, Role};
use crate::table::{Coded, Table};

/// Refuses a table where common texts for "missing" stand in columns of numbers or dates and the
/// request does not name them.
pub(crate) fn refuse_missing_texts(table: &Table, request: &Request) -> Result<()> {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    let mut columns = Vec::new();
    for column in table.columns() {
        let is_of_values = request.column(&column.name).is_some_and(|line| {
            line.role == Role::Quasi
                && line.order.is_none()
                && !matches!(line.kind, Some(Kind::Ordinal | Kind::Categorical))
        });
        // A number that is no number has a type, and is no text.
        let is_text =
            matches!(column.data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
        let Some(coded) = column.coded.as_ref().filter(|_| is_of_values && is_text) else {
            continue;
        };
        let found = unnamed(coded, &request.missing);
        if !found.is_empty() {
            columns.push(format!("`{}`", column.name));
        }
        for (text, count) in found {
            *counts.entry(text).or_default() += count;
        }
    }
    if counts.is_empty() {
        return Ok(());
    }
    let cells = |(text, count): (&String, &u64)| {
        format!("`{text}` ({} {})", count, if *count == 1 { "cell" } else { "cells" })
    };
    let reason = format!(
        "texts that commonly mean missing stand among numbers or dates: {}; in {}",
        counts.iter().map(cells).collect::<Vec<_>>().join(", "),
        columns.join(", ")
    );
    // A list replaces the one before it, so it has those too that are named already.
    let mut texts = request.missing.clone();
    texts.extend(counts.into_keys());
    Err(Error::data("missing-texts", reason).hint(Hint::NameMissing { texts }))
}

/// True for a text that means nothing else. `-`, `.` and words such as `none` or `unknown` may be
/// values of labels.
pub(crate) fn is_certain(text: &str) -> bool {
    let is_word = |text: &str| text.bytes().filter(u8::is_ascii_alphabetic).count() > 4;
    is_missing(text)
        && !is_word(text)
        && !matches!(text.to_lowercase().as_str(), "none" | "nil" | "-" | "--" | "---" | "." | "..")
        || text.eq_ignore_ascii_case("keine angabe")
}

/// The common texts for "missing" that the request does not name, with their counts, where all other
/// values are numbers or all are dates.
pub(crate) fn unnamed(coded: &Coded, named: &[String]) -> BTreeMap<String, u64> {
    let is_named = |text: &str| named.iter().any(|marker| marker.trim() == text);
    let texts: Vec<Option<&str>> = coded
        .values()
        .iter()
        .map(|value| {
            value.as_deref().map(str::trim).filter(|text| !text.is_empty() && !is_named(text))
        })
        .collect();
    let others = || texts.iter().flatten().filter(|text| !is_missing(text));
    let is_plain = others().next().is_some()
        && (others().all(|text| number(text).is_some())
            || others().all(|text| seconds(text).is_some()));
    if !is_plain || texts.iter().flatten().all(|text| !is_missing(text)) {
        return BTreeMap::new();
    }
    let mut counts = vec![0_u64; texts.len()];
    coded.codes().iter().for_each(|code| counts[code as usize] += 1);
    let mut found = BTreeMap::new();
    for (text, count) in texts.iter().zip(counts) {
        if let Some(text) = text.filter(|text| is_missing(text)) {
            *found.entry(text.to_owned()).or_default() += count;
        }
    }
    found
}
