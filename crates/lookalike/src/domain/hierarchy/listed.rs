//! Hierarchies that list their values: the file, the text or the rows that a request names, for one
//! column. All three mean the same.

use std::path::Path;

use super::file::{HierarchyFile, NUL, Origin, finish, parse_from, read};
use crate::error::{Error, Hint, Result};
use crate::request::HierarchySpec;

/// The rows of a hierarchy that lists its values, for a column in which these texts mean "missing".
/// Panics for a specification without rows.
pub(crate) fn listed(
    request: &HierarchySpec,
    column: &str,
    missing: &[String],
) -> Result<HierarchyFile> {
    let place = |what: &str| format!("{what} of column `{column}`");
    match request {
        HierarchySpec::File(path) => read_for(path, missing).map_err(|error| match error.code() {
            "not-found" => {
                let why = format!(
                    "there is no such file, and column `{column}` names it as its hierarchy"
                );
                error
                    .because("no-hierarchy-file", why)
                    .about_column(column)
                    .hint(Hint::MakeHierarchy { column: column.into() })
                    .hint(Hint::plain("write intervals, prefix or date"))
            }
            _ => error,
        }),
        HierarchySpec::Text(text) => {
            let rows = parse_from(Origin::Request, &place("text"), text.text.as_bytes());
            with_missing(rows?, missing)
        }
        HierarchySpec::Rows(rows) => with_missing(from_rows(place("rows"), &rows.rows)?, missing),
        HierarchySpec::Intervals(_)
        | HierarchySpec::Prefix(_)
        | HierarchySpec::Date(_)
        | HierarchySpec::Builtin(_) => {
            unreachable!("a specification without rows lists no values")
        }
    }
}

/// Reads a hierarchy file for a column in which these texts mean "missing". A line for one of them
/// is the line of the missing value.
///
/// # Errors
/// As [`read`], and when a group has the name of a missing value: it would be published as one.
pub fn read_for(path: &Path, missing: &[String]) -> Result<HierarchyFile> {
    with_missing(read(path)?, missing)
}

/// The rows under the checks of a file; a row is a line.
fn from_rows(place: String, rows: &[Vec<String>]) -> Result<HierarchyFile> {
    for (line, row) in (1..).zip(rows) {
        if row.is_empty() {
            let why = "no value: write the value and its ancestors";
            return Err(Error::hierarchy("hierarchy-no-value", why).at_file(&place).at_line(line));
        }
        if row.iter().any(|label| label.contains('\0')) {
            return Err(Error::hierarchy("hierarchy-has-nul", NUL).at_file(&place).at_line(line));
        }
    }
    let lines = (1..).take(rows.len()).collect();
    finish(HierarchyFile { place, origin: Origin::Request, rows: rows.to_vec(), lines })
}

/// The rows with the empty label for the missing value.
fn with_missing(mut rows: HierarchyFile, missing: &[String]) -> Result<HierarchyFile> {
    let is_missing = |label: &str| missing.iter().any(|marker| marker.trim() == label.trim());
    for (row, &line) in rows.rows.iter_mut().zip(&rows.lines) {
        let value = row[0].clone();
        let blank = row.iter_mut().take_while(|label| is_missing(&value) && **label == value);
        let padding = blank.map(|label| label.clear()).count();
        if let Some(column) = row.iter().skip(padding.max(1)).position(|label| is_missing(label)) {
            let why = format!(
                "the group in column {} has a name that means missing: rename the group, or remove \
                 the text from missing",
                column + padding.max(1) + 1
            );
            return Err(Error::hierarchy("group-means-missing", why)
                .at_file(&rows.place)
                .at_line(line));
        }
    }
    Ok(rows)
}
