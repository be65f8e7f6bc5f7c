//! The section of the page about the columns that are published unchanged. All of its numbers are
//! counted in the release: whoever has it can count them.

use lookalike::audit::CountUnit;

use super::numbers::ReportNumbers;
use super::page::table;
use crate::words::{MANY_UNIQUE, UNIQUE_MEANING, ratio, unchanged_columns as columns};
use lookalike::numbers::{count, percent};

/// Number and words of the tile; none when no column is published unchanged.
pub(super) fn tile(report: &ReportNumbers) -> Option<(String, String)> {
    let found = report.unique.as_ref()?;
    let words = format!("of the rows are unique on {} published unchanged", columns(found));
    Some((percent(found.share()), words))
}

/// The words of the tile with the highest risk.
pub(super) fn risk_words(report: &ReportNumbers) -> String {
    let of = if report.unit == CountUnit::Persons { "a person" } else { "a row" };
    let knows = match report.unique {
        Some(_) => ", for who knows only the quasi-identifiers",
        None => "",
    };
    format!("highest remaining risk of {of}{knows}")
}

/// The alarm at the head of the page; none when few rows are unique.
pub(super) fn alarm(report: &ReportNumbers) -> Option<String> {
    let found = report.unique.as_ref().filter(|found| found.share() > MANY_UNIQUE)?;
    Some(format!(
        "{} of {} rows are unique on {} published unchanged: {UNIQUE_MEANING}.",
        count(found.together),
        count(found.rows),
        columns(found)
    ))
}

/// The section; empty when no column is published unchanged.
pub(super) fn section(report: &ReportNumbers) -> String {
    let Some(found) = &report.unique else { return String::new() };
    let of = |unique: u64| format!("{} ({})", count(unique), percent(ratio(unique, found.rows)));
    let mut rows: Vec<Vec<String>> = found
        .alone
        .iter()
        .map(|alone| vec![format!("{} alone", alone.column), of(alone.unique)])
        .collect();
    if found.alone.len() > 1 {
        rows.push(vec![format!("{} together", columns(found)), of(found.together)]);
    }
    let with_quasi = found.with_quasi.unwrap_or(found.together);
    rows.push(vec!["with the published quasi-identifiers".to_string(), of(with_quasi)]);
    format!(
        "<h2>Columns published unchanged</h2>\n<p>A row is unique on a column when no other released \
         row has its value there. k is no protection against somebody who knows such a value of a \
         person. Kept and sensitive columns are counted; who could know them is for people to \
         decide.</p>\n{}",
        table(&["columns", ">unique rows"], &rows)
    )
}
