//! The codebook of a release: for every column what is published, how a cell is read, which labels
//! there are in which order, and how much of it is generalized.
//!
//! It goes wherever the release goes, so it says nothing that the release does not say: labels are
//! those of released rows, and every number can be computed from the released cells. The loss of a
//! run is not in it, because it is a share of the source's range and counts suppressed rows.

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_schema::DataType;
use serde::Serialize;

use super::Release;
use super::passthrough::passed_through;
use super::published::{PublishedColumn, published_columns};
use crate::domain::attribute::{Attribute, Domain, Ordered, Unit};
use crate::domain::label::ANY;
use crate::error::Result;
use crate::forms::Form;
use crate::problem::Problem;
use crate::problem::recoding::Recoding;
use crate::request::{ColumnRequest, Dialect, HierarchySpec, Publish, Request, Role, Roles};
use crate::table::Table;

/// The most labels of a column that are listed.
const LISTED: usize = 1_000;

/// The codebook of a release.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Codebook {
    /// The version of this form.
    pub version: u32,
    /// The name of the file of the release; none for a release in memory.
    pub release: Option<String>,
    /// The rows of the release; with a count column, those that its rows stand for.
    pub rows: u64,
    /// What is true of all columns; a sentence each.
    pub notes: Vec<String>,
    /// The columns in the order of the release.
    pub columns: Vec<CodebookColumn>,
}

/// A released column.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CodebookColumn {
    /// Its name.
    pub name: String,
    /// The column of the source that it publishes; several columns may publish one.
    pub source: String,
    /// The role in the request; `count` for the number of rows that a row stands for.
    pub role: &'static str,
    /// `numbers`, `dates`, `times`, `ordered labels` or `categories`, for quasi-identifiers.
    pub kind: Option<&'static str>,
    /// The type of its cells: `text`, `whole number` and so on.
    pub cells: String,
    /// `labels`, `least value`, `greatest value`, `middle`, `missing or not`, `unchanged`, `count` or
    /// `pseudonyms`.
    pub published: &'static str,
    /// How a cell is read; a sentence each.
    pub reading: Vec<String>,
    /// The share of the rows in which the value is generalized: a range, a group, a set or `*`.
    pub generalized: Option<f64>,
    /// The mean width of the published ranges of numbers, or of dates in days; an exact value has
    /// width 0. Only where a range shows its exact ends.
    pub mean_width: Option<f64>,
    /// The number of different labels.
    pub label_count: Option<usize>,
    /// The labels of categories and of ordered labels, in the order of the domain, `*` last, up to a thousand.
    pub labels: Vec<LabelRows>,
}

/// A label, and how often it is published.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LabelRows {
    /// The label; none where the cell is missing.
    pub label: Option<String>,
    /// The rows that have it.
    pub rows: u64,
}

impl Codebook {
    /// The same codebook for a text file, whose cells may have a guarding apostrophe.
    pub(crate) fn guarded(mut self) -> Codebook {
        self.notes.push(
            "a text that begins like a formula has one apostrophe in front, which is not part of \
             the value"
                .into(),
        );
        self
    }

    /// The same codebook for a text file with this sign between its cells; forms of numbers and dates
    /// are those of the request, unless it asks for plain ones.
    pub(crate) fn in_text(mut self, delimiter: char, request: &Request) -> Codebook {
        let between = match delimiter {
            '\t' => "tabs".to_owned(),
            sign => format!("`{sign}`"),
        };
        let forms = || {
            let is_quasi = |column: &&ColumnRequest| column.role == Role::Quasi;
            let forms =
                request.columns.values().filter(is_quasi).filter_map(|it| it.format.as_ref());
            forms.filter(|_| request.output.dialect == Dialect::Input)
        };
        let has_comma = forms().any(|form| matches!(form, Form::Number(it) if it.decimal == ','));
        let sign = if has_comma { "`,` in the columns of generalized numbers" } else { "`.`" };
        let mut note = format!("text in UTF-8, {between} between the cells; decimal sign {sign}");
        if let Some(form) = forms().find(|form| matches!(form, Form::Date(_))) {
            note += &format!("; generalized dates are written {form}");
        }
        self.notes.insert(0, note);
        self
    }

    /// The text of the file: JSON.
    ///
    /// # Panics
    /// Never: it is plain data.
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).expect("plain data") + "\n"
    }
}

impl Release {
    /// The codebook of this release.
    ///
    /// # Errors
    /// Those of [`published_columns`].
    pub(crate) fn codebook(
        &self,
        problem: &Problem,
        recoding: &Recoding,
        table: &Table,
        roles: &Roles,
        request: &Request,
    ) -> Result<Codebook> {
        let (_, classes, counts) = self.placed();
        let mut rows_of = vec![0u64; recoding.classes().len()];
        for (at, &class) in classes.iter().enumerate() {
            rows_of[class as usize] += counts.get(at).map_or(1, |&count| u64::from(count));
        }
        let pseudonym = request.pseudonym_column();
        let mut columns = Vec::new();
        for column in table.columns() {
            if let Some(at) = roles.quasi.iter().position(|name| *name == column.name) {
                let published = published_columns(problem, recoding, at, request)?;
                columns.extend(quasi(problem, recoding, at, request, &published, &rows_of));
            } else if passed_through(column, roles).is_some() {
                columns.push(unchanged(&column.name, &column.data_type, roles, request));
            } else if let Some(name) =
                pseudonym.as_ref().filter(|_| roles.person.first() == Some(&column.name))
            {
                columns.push(pseudonyms(name, &column.name));
            } else if roles.count.as_ref() == Some(&column.name) {
                columns.push(counted(&column.name));
            }
        }
        let rows = rows_of.iter().sum();
        Ok(Codebook { version: 1, release: None, rows, notes: notes(request), columns })
    }
}

fn notes(request: &Request) -> Vec<String> {
    let mut notes = Vec::new();
    if request.output.order == crate::request::Order::Canonical {
        notes.push("rows are sorted by what they show: their order has no meaning".to_string());
    }
    notes.push(
        "a generalized value is true but not exact: it says which values are possible, and not \
         which of them is more likely"
            .into(),
    );
    notes
}

/// A column about which there is no more to say than its name and how it is read.
fn plain(name: &str, source: &str, role: &'static str, published: &'static str) -> CodebookColumn {
    CodebookColumn {
        name: name.to_string(),
        source: source.to_string(),
        role,
        kind: None,
        cells: "whole number".to_string(),
        published,
        reading: Vec::new(),
        generalized: None,
        mean_width: None,
        label_count: None,
        labels: Vec::new(),
    }
}

fn unchanged(name: &str, data_type: &DataType, roles: &Roles, request: &Request) -> CodebookColumn {
    let role = match request.column(name).map(|column| column.role) {
        Some(role) => role.name(),
        None if roles.sensitive.iter().any(|other| other == name) => Role::Sensitive.name(),
        None => Role::Keep.name(),
    };
    let line = request.column(name);
    if line.is_some_and(|line| line.hash) {
        let reading = "a keyed hash of the identifier (half of HMAC-SHA-256): it names the row, and \
                       the person only to those who have the key";
        let column = plain(name, name, role, "hashes");
        return CodebookColumn { cells: "text".into(), reading: vec![reading.into()], ..column };
    }
    if let Some(words) = line.and_then(ColumnRequest::coarsening_words) {
        let column = plain(name, name, role, "coarser numbers");
        return CodebookColumn { cells: type_name(data_type), reading: vec![words], ..column };
    }
    let mut reading = vec!["the value of the source, unchanged".to_string()];
    if role == Role::Weight.name() {
        reading.push("how many persons of the population the row stands for".into());
    }
    CodebookColumn { cells: type_name(data_type), reading, ..plain(name, name, role, "unchanged") }
}

fn pseudonyms(name: &str, key: &str) -> CodebookColumn {
    let reading = "a random number for each person, the same in all rows of the person; it means \
                   nothing in another release";
    let column = plain(name, key, Role::Person.name(), "pseudonyms");
    CodebookColumn { reading: vec![reading.to_string()], ..column }
}

fn counted(name: &str) -> CodebookColumn {
    let reading = "how many rows the row stands for: add it up instead of counting rows";
    CodebookColumn { reading: vec![reading.to_string()], ..plain(name, name, "count", "count") }
}

/// The released columns of a quasi-identifier.
fn quasi(
    problem: &Problem,
    recoding: &Recoding,
    at: usize,
    request: &Request,
    published: &[PublishedColumn],
    rows_of: &[u64],
) -> Vec<CodebookColumn> {
    let attribute = &problem.attributes()[at];
    let shown = Shown::new(attribute, &published[0], rows_of);
    let mean_width = match &attribute.domain {
        Domain::Ordered(ordered) if shows_ends(ordered, recoding) => {
            mean_width(ordered, recoding, at, rows_of)
        }
        _ => None,
    };
    published
        .iter()
        .map(|column| {
            let name = column.field.name();
            let is_label = name == &attribute.name;
            let what = part(name, &attribute.name);
            CodebookColumn {
                kind: Some(kind(attribute)),
                cells: type_name(column.field.data_type()),
                reading: if is_label {
                    label_reading(attribute, request, &shown)
                } else {
                    bounds_reading(what, &attribute.name, &attribute.domain)
                },
                generalized: Some(shown.generalized),
                mean_width: mean_width.filter(|_| what != "missing or not"),
                label_count: is_label.then_some(shown.labels.len()),
                labels: if is_label && is_listed(attribute) {
                    shown.labels.iter().take(LISTED).cloned().collect()
                } else {
                    Vec::new()
                },
                ..plain(name, &attribute.name, Role::Quasi.name(), what)
            }
        })
        .collect()
}

/// What a column of a quasi-identifier has.
fn part(name: &str, attribute: &str) -> &'static str {
    match name.strip_prefix(attribute) {
        Some("_min") => "least value",
        Some("_max") => "greatest value",
        Some("_center") => "middle",
        Some("_missing") => "missing or not",
        _ => "labels",
    }
}

/// Labels of numbers and dates are ranges of any ends: a list of them helps nobody.
fn is_listed(attribute: &Attribute) -> bool {
    matches!(attribute.domain.unit(), None | Some(Unit::Place))
}

/// True where the label or the bounds of a range have its exact ends: not those of an interval of a
/// hierarchy, nor of a block of a global recoding.
fn shows_ends(ordered: &Ordered, recoding: &Recoding) -> bool {
    ordered.published().is_none() && recoding.published().is_none()
}

/// What the released rows show of a quasi-identifier.
struct Shown {
    /// The cells in the order of the domain, `*` last, with their rows.
    labels: Vec<LabelRows>,
    generalized: f64,
    has_any: bool,
    has_missing: bool,
}

impl Shown {
    /// From the first of the published columns: the labels, or the least values.
    #[allow(clippy::cast_precision_loss, reason = "a share, for display")]
    fn new(attribute: &Attribute, column: &PublishedColumn, rows_of: &[u64]) -> Shown {
        let mut rows = vec![0u64; column.cells.len()];
        for (class, &some) in rows_of.iter().enumerate() {
            rows[column.of_class.get(class) as usize] += some;
        }
        let texts = column.cells.as_string_opt::<i32>().filter(|_| {
            *column.field.name() == attribute.name // or the least value of ordered labels
        });
        let mut cells: Vec<usize> = (0..rows.len()).filter(|&cell| rows[cell] > 0).collect();
        // Anything comes last, after what says more.
        let is_any = |cell: usize| texts.is_some_and(|texts| texts.value(cell) == ANY);
        cells.sort_by_key(|&cell| (is_any(cell), column.places[cell]));
        let label = |cell: usize| {
            texts.filter(|texts| texts.is_valid(cell)).map(|texts| texts.value(cell).to_string())
        };
        let labels: Vec<LabelRows> =
            cells.iter().map(|&cell| LabelRows { label: label(cell), rows: rows[cell] }).collect();
        let all: u64 = rows.iter().sum();
        let inexact = cells.iter().filter(|&&cell| !column.is_exact[cell]);
        let inexact: u64 = inexact.map(|&cell| rows[cell]).sum();
        Shown {
            generalized: if all == 0 { 0.0 } else { inexact as f64 / all as f64 },
            has_any: labels.iter().any(|shown| shown.label.as_deref() == Some(ANY)),
            has_missing: texts.is_some() && labels.iter().any(|shown| shown.label.is_none()),
            labels,
        }
    }
}

/// The mean width of the ranges, over the rows whose range is known.
#[allow(clippy::cast_precision_loss, reason = "a mean, for display")]
fn mean_width(ordered: &Ordered, recoding: &Recoding, at: usize, rows_of: &[u64]) -> Option<f64> {
    if matches!(ordered.unit(), Unit::Place | Unit::Second) {
        return None;
    }
    let (mut sum, mut rows) = (0.0, 0u64);
    for (class, &some) in rows_of.iter().enumerate().filter(|(_, some)| **some > 0) {
        let range = recoding.ranges(class)[at];
        let value = |code: u32| ordered.values().get(code as usize);
        if let (Some(lo), Some(hi)) = (value(range.lo), value(range.hi)) {
            sum += (hi - lo) * some as f64;
            rows += some;
        }
    }
    (rows > 0).then(|| sum / rows as f64)
}

fn kind(attribute: &Attribute) -> &'static str {
    match attribute.domain.unit() {
        Some(Unit::Whole | Unit::Decimal) => "numbers",
        Some(Unit::Day) => "dates",
        Some(Unit::Second) => "times",
        Some(Unit::Place) => "ordered labels",
        None => "categories",
    }
}

/// How a label is read, of those forms that the column can have.
fn label_reading(attribute: &Attribute, request: &Request, shown: &Shown) -> Vec<String> {
    let has_calendar = request
        .column(&attribute.name)
        .is_some_and(|column| matches!(column.hierarchy, Some(HierarchySpec::Date(_))));
    let exact = match has_calendar {
        true => "a whole date or time: it is exact",
        false => "one value: it is exact",
    };
    let mut reading = vec![exact.to_string()];
    if shown.generalized > 0.0 {
        match &attribute.domain {
            Domain::Ordered(ordered) => {
                let ends = match ordered.unit() {
                    Unit::Place => "in the order of the labels",
                    Unit::Second if ordered.has_runs() => "both ends included; with `)` without b",
                    _ => "both ends included",
                };
                reading.push(format!(
                    "a range such as `[a-b]` or `[a .. b]`: some value from a to b, {ends}"
                ));
                let is_calendar = matches!(ordered.unit(), Unit::Day | Unit::Second);
                if ordered.intervals().is_some() && is_calendar {
                    reading.push(
                        "`2023-12` is a month, `2023-Q4` a quarter, `2023-H1` a half-year, `2023` a \
                         year, `2020-2024` five years, `2020s` a decade: some day or time in it"
                            .into(),
                    );
                } else if ordered.intervals().is_some() {
                    reading.push(
                        "`[a-b)` is without b, `<a` is any value below a, `>=a` is a or any value \
                         above it"
                            .into(),
                    );
                }
            }
            Domain::Tree(tree) if tree.is_flat() => {
                if request.output.publish == Publish::Set || shown.has_set() {
                    reading.push("a set such as `{a, b}`: one of the values listed".into());
                }
            }
            Domain::Tree(_) => {
                reading.push("the label of a group: some value of the group".into());
                if shown.has_set() {
                    reading
                        .push("a set such as `{a, b}`: one of the values or groups listed".into());
                }
            }
        }
    }
    if shown.has_any {
        reading.push(format!("`{ANY}`: any value, also a missing one"));
    }
    if shown.has_missing {
        reading.push("an empty cell: the value is missing in the source".into());
    }
    reading
}

impl Shown {
    fn has_set(&self) -> bool {
        self.labels
            .iter()
            .filter_map(|shown| shown.label.as_ref())
            .any(|label| label.starts_with('{'))
    }
}

/// How a column of bounds is read.
fn bounds_reading(what: &str, name: &str, domain: &Domain) -> Vec<String> {
    let exact = format!("where `{name}_min` and `{name}_max` are equal, the value is exact");
    let mut reading = match what {
        "least value" => vec!["the value is at least this".to_string(), exact],
        "greatest value" => vec!["the value is at most this".to_string(), exact],
        "middle" => vec![format!(
            "the middle of `{name}_min` and `{name}_max`, and no more: not the mean or the median of \
             the values behind it"
        )],
        _ => vec![
            "`no`: the value is between the bounds; `yes`: it is missing in the source".to_string(),
            "`maybe`: with empty bounds, any value at all, also a missing one".to_string(),
        ],
    };
    let Domain::Ordered(ordered) = domain else { return reading };
    if let ("least value" | "greatest value", Some(_)) = (what, ordered.published()) {
        let last = match ordered.unit() {
            Unit::Decimal => ", without its upper end",
            _ => "",
        };
        reading.push(format!(
            "where they differ, they are the ends of an interval of the hierarchy{last}"
        ));
        reading.push(format!(
            "an empty cell where `{name}_missing` is `no`: there is no limit on this side"
        ));
    }
    if (ordered.has_missing() || ordered.published().is_some()) && what != "missing or not" {
        reading.push(format!("an empty cell: `{name}_missing` says why"));
    }
    reading
}

/// The type of cells in words.
fn type_name(data_type: &DataType) -> String {
    match data_type {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => "text".into(),
        DataType::Dictionary(_, values) => type_name(values),
        other if other.is_integer() => "whole number".into(),
        other if other.is_floating() || other.is_decimal() => "number".into(),
        DataType::Date32 | DataType::Date64 => "date".into(),
        DataType::Timestamp(..) => "time".into(),
        DataType::Boolean => "true or false".into(),
        other => other.to_string(),
    }
}
