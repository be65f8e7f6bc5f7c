//! How people write numbers and dates: `1.234,5`, `26.12.2014`. What is computed has plain numbers
//! and dates of ISO 8601; a [`Form`] goes from one to the other.
//!
//! A form is applied to the texts of a column when a table is read, and undone when its labels are
//! written to a text file. Both directions are here, a file for numbers and one for dates;
//! [`find`] tells the form of a column from its texts.

mod date;
mod find;
mod missing;
mod number;

pub use date::DateForm;
pub use find::{Doubt, Found, Given, Wanted, find, find_all, text_among};
pub use missing::{MISSING_TEXTS, is_missing, missing_texts};
pub use number::NumberForm;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// How the numbers or the dates of a column are written. In a request it is an example of a number,
/// `1.234,5`, or the parts of a date, `dd.mm.yyyy`.
///
/// ```
/// use lookalike::forms::Form;
///
/// let number: Form = "1.234,5".parse()?;
/// assert_eq!(number.plain("12.345,70").as_deref(), Some("12345.70"));
/// assert_eq!(number.local_label("[12.5-20]"), "[12,5-20]");
/// let date: Form = "dd.mm.yyyy".parse()?;
/// assert_eq!(date.plain("26.12.2014").as_deref(), Some("2014-12-26"));
/// assert_eq!(date.local_label("[2014-12-26 .. 2015-01-31]"), "[26.12.2014 .. 31.01.2015]");
/// # Ok::<(), lookalike::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub enum Form {
    /// Of numbers.
    Number(NumberForm),
    /// Of dates, with a time of day or without.
    Date(DateForm),
}

impl Form {
    /// The plain text of a cell; none when the cell is not written so.
    pub fn plain(&self, cell: &str) -> Option<String> {
        match self {
            Form::Number(form) => form.plain(cell),
            Form::Date(form) => form.plain(cell),
        }
    }

    /// A label of plain numbers or dates as people write it. Separators of thousands are left out.
    /// What is neither a number nor a whole date (`*`, a month, a year) stays as it is.
    pub fn local_label(&self, label: &str) -> String {
        match self {
            Form::Number(form) => form.local_label(label),
            Form::Date(form) => pieces(label, |piece| form.local(piece)),
        }
    }

    /// The label that [`Form::local_label`] makes this one of.
    pub fn plain_label(&self, label: &str) -> String {
        match self {
            Form::Number(form) => form.plain_label(label),
            Form::Date(form) => pieces(label, |piece| form.plain(piece)),
        }
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Form::Number(form) => form.fmt(f),
            Form::Date(form) => form.fmt(f),
        }
    }
}

impl std::str::FromStr for Form {
    type Err = Error;

    fn from_str(text: &str) -> Result<Form> {
        if text.starts_with('1') {
            return text.parse().map(Form::Number);
        }
        text.parse().map(Form::Date)
    }
}

impl TryFrom<String> for Form {
    type Error = Error;

    fn try_from(text: String) -> Result<Form> {
        text.parse()
    }
}

impl From<Form> for String {
    fn from(form: Form) -> String {
        form.to_string()
    }
}

/// The label with other texts for its values: the ends of a range, the members of a set. Values for
/// which there is no other text stay.
fn pieces(label: &str, other: impl Fn(&str) -> Option<String>) -> String {
    let inner = label.trim_start_matches(['[', '(', '{', '<', '>', '=']);
    let (before, rest) = label.split_at(label.len() - inner.len());
    let inner = rest.trim_end_matches([']', ')', '}']);
    let after = &rest[inner.len()..];
    let mut all = before.to_owned();
    for ends in inner.split_inclusive(" .. ") {
        let mut rest = ends.trim_end_matches(" .. ");
        let after_end = &ends[rest.len()..];
        while !rest.is_empty() {
            // A value may have a comma of its own: `August 9, 2015`.
            let commas: Vec<usize> = rest.match_indices(", ").map(|(at, _)| at).take(2).collect();
            let cuts = [
                commas.get(1).copied().unwrap_or(rest.len()),
                commas.first().copied().unwrap_or(rest.len()),
            ];
            let read = cuts.into_iter().find_map(|cut| Some((cut, other(&rest[..cut])?)));
            let (cut, text) = read.unwrap_or_else(|| (cuts[1], rest[..cuts[1]].to_owned()));
            all.push_str(&text);
            let separator = if rest[cut..].starts_with(", ") { ", " } else { "" };
            all.push_str(separator);
            rest = &rest[cut + separator.len()..];
        }
        all.push_str(after_end);
    }
    all.push_str(after);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(text: &str) -> Form {
        text.parse().unwrap()
    }

    #[test]
    fn a_form_is_written_as_it_is_read() {
        for text in [
            "1234,5",
            "1.234,5",
            "1,234.5",
            "1 234,5",
            "1'234.5",
            "dd.mm.yyyy",
            "mm/dd/yyyy hh:mm",
            "d-mon-yyyy",
            "dd/mm/yy",
            "yyyy/mm/dd hh:mm:ss",
            "m/d/yyyy hh:mm ampm",
        ] {
            assert_eq!(form(text).to_string(), text);
            assert_eq!(serde_json::to_string(&form(text)).unwrap(), format!("\"{text}\""));
        }
        for bad in ["", "x", "1.5.5", "1234", "dd.mm", "dd.mm.yyyy, hh", "yyyy", "1,234,5", "%d"] {
            assert!(bad.parse::<Form>().is_err(), "{bad}");
        }
    }

    #[test]
    fn labels_go_there_and_back() {
        for (kind, plain, local) in [
            ("1.234,5", "152.3", "152,3"),
            ("1.234,5", "[152.3-167.3]", "[152,3-167,3]"),
            ("1.234,5", "[-5.25 .. 30]", "[-5,25 .. 30]"),
            ("1.234,5", "<20.5", "<20,5"),
            ("1.234,5", "[20-30.5)", "[20-30,5)"),
            ("1.234,5", "{1.5, 2.5, 3}", "{1,5, 2,5, 3}"),
            ("1.234,5", "*", "*"),
            ("1.234,5", "1e-3", "1e-3"),
            ("1,234.5", "[1234.5-2000]", "[1234.5-2000]"),
            ("dd.mm.yyyy", "2014-12-26", "26.12.2014"),
            ("dd.mm.yyyy", "[2014-12-26 .. 2015-01-31]", "[26.12.2014 .. 31.01.2015]"),
            ("dd.mm.yyyy", "{2014-12-26, 2015-01-31}", "{26.12.2014, 31.01.2015}"),
            ("dd.mm.yyyy", ">=2014-12-26", ">=26.12.2014"),
            ("dd.mm.yyyy", "2014-12", "2014-12"),
            ("dd.mm.yyyy", "2014", "2014"),
            ("dd.mm.yyyy", "[2014-01 .. 2014-03]", "[2014-01 .. 2014-03]"),
            ("d.m.yyyy", "2014-02-01", "1.2.2014"),
            ("dd-mon-yyyy", "2014-12-26", "26-Dec-2014"),
            ("month d, yyyy", "2015-08-09", "August 9, 2015"),
            ("month d, yyyy", "[2015-08-09 .. 2015-10-31]", "[August 9, 2015 .. October 31, 2015]"),
            ("month d, yyyy", "{2015-08-09, 2015-10-31}", "{August 9, 2015, October 31, 2015}"),
            ("month d, yyyy", "2015-08", "2015-08"),
            ("yyyymmdd", "[2015-08-09 .. 2015-10-31]", "[20150809 .. 20151031]"),
            ("dd/mm/yy", "1931-12-26", "26/12/31"),
            ("dd.mm.yyyy hh:mm", "2014-12-26T09:30:00", "26.12.2014 09:30"),
            ("dd.mm.yyyy hh:mm", "2014-12-26", "2014-12-26"),
            ("dd.mm.yyyy hh:mm", "2014-12-26T09:30:15", "2014-12-26T09:30:15"),
        ] {
            assert_eq!(form(kind).local_label(plain), local, "{kind}");
            assert_eq!(form(kind).plain_label(local), plain, "{kind}");
        }
    }
}
