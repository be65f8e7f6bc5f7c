//! How well a release answers queries: counts and sums, estimated from the release and counted in
//! its source.
//!
//! A query is COUNT(*) or SUM(column) over the rows that satisfy a conjunction of conditions, at
//! most one per column. The truth is counted in the source. The estimate uses the released cells
//! alone, as if the values behind a cell were spread evenly over its extent: a row counts as the
//! product, over the conditions, of the share of its cell that satisfies the condition.
//!
//! # Share of a cell that satisfies a condition
//! - Whole numbers, dates and ordinal labels: points in both / points in the cell.
//! - Decimals and timestamps: length of the overlap / length of the cell; a single value is in or
//!   out.
//! - Categories: leaves in both / leaves below the published node, or values in both / values of a
//!   set `{a,b}`.
//! - `*` is the whole domain: that of the column's hierarchy, else the values of the source, or the
//!   range from its least to its greatest. `<20` and `>=80` end there too.
//! - Passed-through columns (`keep`, `sensitive`) are exact: in or out.
//!
//! A sum takes, beside these shares, the mean of the summed column's cell: the middle of the range,
//! or of its overlap with the condition if there is one on that column too.
//!
//! # Missing values
//! A missing value satisfies no range, and of the values only the missing one (`""`). It adds
//! nothing to a sum. In a tree it is a leaf like any other, so `*` counts it as one. On an ordered
//! column `*` is published for classes that may mix missing and present cells: the missing value
//! then has the weight of one of the column's distinct values, 1/(d+1) of the cell where the source
//! has d others, and the rest of the cell is spread over the range.
//!
//! # Complexity
//! A query takes O(t + r) steps times its columns, with t and r distinct rows of source and release
//! in the columns that any of the queries use. Queries are answered in parallel; each sums in the
//! order of the tables, so the number of threads does not matter.
//!
//! # Reference
//! Xu, Wang, Pei, Wang, Shi, Fu: Utility-Based Anonymization Using Local Recoding, KDD 2006.
//! LeFevre, DeWitt, Ramakrishnan: Workload-Aware Anonymization, KDD 2006.
//!
//! # Departures from the paper
//! The papers have whole numbers and trees; decimals, sets, bounds and missing values are ours.

mod columns;
mod condition;
mod draw;
mod field;
mod shares;
mod typical;
mod weigh;
mod written;

#[cfg(test)]
mod tests;

pub use columns::{Bin, Certainty, Detail, certainty, columns};
pub use draw::{Workload, draw, summable};
pub(in crate::evaluate) use shares::{ColumnGroups, GroupShares};
pub use typical::{RowLoss, typical_rows};
pub use written::{parse, read};

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use serde::Serialize;

use crate::audit::{Fold, QuasiColumns, ReleasedCell, cells, coded, surface};
use crate::codes::{Codes, real};
use crate::error::{Error, Hint, Place, Result};
use crate::problem::CountColumn;
use crate::request::{Request, did_you_mean, list};
use crate::table::Table;
use field::{Form, QueryField};
use weigh::{Extent, Test, weights};

/// COUNT(*), or SUM of a column, over the rows that satisfy all conditions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Query {
    /// The summed column; rows are counted when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sum: Option<String>,
    /// The condition on each column that has one.
    #[serde(rename = "where")]
    pub conditions: BTreeMap<String, Condition>,
}

/// A condition on a column. Values are texts, as in a file: a number, a date, a label.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Condition {
    /// A range of an ordered column, both ends included; an absent end is open.
    Range {
        /// The least value that satisfies it.
        from: Option<String>,
        /// The greatest value that satisfies it.
        to: Option<String>,
    },
    /// One of these values; an empty text, or one that the request calls missing, is the missing
    /// value.
    Values(Vec<String>),
    /// Everything below a node of the column's hierarchy.
    Node {
        /// The node's label.
        node: String,
    },
}

/// The answer to a query, from the source and from the release.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Answer {
    /// The number of rows, or the sum, in the source.
    pub truth: f64,
    /// The estimate of the same number from the release.
    pub estimate: f64,
}

impl Answer {
    /// The absolute error of the estimate.
    pub fn absolute(&self) -> f64 {
        (self.estimate - self.truth).abs()
    }

    /// The relative error of the estimate; none where the truth is 0.
    pub fn error(&self) -> Option<f64> {
        (self.truth != 0.0).then(|| self.absolute() / self.truth.abs())
    }
}

/// The errors of the answers to a workload.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// The number of queries.
    pub queries: usize,
    /// Queries whose truth is 0: they have no relative error and count in `mean_absolute` only.
    pub undefined: usize,
    /// The mean relative error; none when no query has one.
    pub mean_error: Option<f64>,
    /// The median of the relative errors.
    pub median_error: Option<f64>,
    /// The 90th percentile of the relative errors.
    pub p90_error: Option<f64>,
    /// The mean absolute error; none without queries.
    pub mean_absolute: Option<f64>,
}

/// The errors of some answers, summarized.
pub fn summarize(answers: &[Answer]) -> Summary {
    let mut errors: Vec<f64> = answers.iter().filter_map(Answer::error).collect();
    errors.sort_by(f64::total_cmp);
    let distances: Vec<f64> = answers.iter().map(Answer::absolute).collect();
    let middle = errors.len() / 2;
    let median_error = match errors.len() {
        0 => None,
        odd if odd % 2 == 1 => Some(errors[middle]),
        _ => Some(f64::midpoint(errors[middle - 1], errors[middle])),
    };
    let p90_error = (errors.len() * 9).div_ceil(10).checked_sub(1).map(|at| errors[at]);
    Summary {
        queries: answers.len(),
        undefined: answers.len() - errors.len(),
        mean_error: mean(&errors),
        median_error,
        p90_error,
        mean_absolute: mean(&distances),
    }
}

#[allow(clippy::cast_precision_loss, reason = "far fewer than 2^53 queries")]
fn mean(numbers: &[f64]) -> Option<f64> {
    (!numbers.is_empty()).then(|| numbers.iter().sum::<f64>() / numbers.len() as f64)
}

/// Answers every query from the source and from the release.
///
/// The tables must be read with the [`treatments`](crate::audit::treatments) of
/// [`AuditView::Source`](crate::audit::AuditView::Source) and
/// [`AuditView::ReleaseAgainstSource`](crate::audit::AuditView::ReleaseAgainstSource).
///
/// # Example
/// ```
/// # use lookalike::{Request, audit::{AuditView, treatments}, evaluate::query, table};
/// # let request = Request::parse("k = 2\ncolumns.age.role = 'quasi'")?;
/// # let read = |text: &str, view| {
/// #     let treatments = treatments(&["age".into()], &request, view);
/// #     table::open_text(text.into(), "data.csv".as_ref())?.read(&treatments)
/// # };
/// let source = read("age\n34\n37\n51\n58\n", AuditView::Source)?;
/// let release = "age\n[34-37]\n[34-37]\n[51-58]\n[51-58]\n";
/// let release = read(release, AuditView::ReleaseAgainstSource)?;
/// let queries = query::parse("[[query]]\nwhere = { age = [30, 35] }")?;
/// let answers = query::answer(&source, &release, &request, &queries)?;
/// // Two of the four ages from 34 to 37 satisfy the condition, in two rows.
/// assert_eq!((answers[0].truth, answers[0].estimate), (1.0, 2.0 * 2.0 / 4.0));
/// # Ok::<(), lookalike::Error>(())
/// ```
///
/// # Errors
/// When a query uses a column that is not released or a value that its column does not have, when a
/// cell of the release cannot be read, or when the two tables do not fit the request.
pub fn answer(
    source: &Table,
    release: &Table,
    request: &Request,
    queries: &[Query],
) -> Result<Vec<Answer>> {
    let used: BTreeSet<&str> = queries.iter().flat_map(Query::columns).collect();
    let names: Vec<&str> = used.into_iter().collect();
    let surface = surface(release, request)?;
    let exact = |name: &str| {
        surface.roles.keep.iter().chain(&surface.roles.sensitive).any(|kept| kept == name)
    };
    let quasi = |name: &str| surface.quasi.iter().find(|quasi| quasi.name() == name);
    for (number, query) in (1..).zip(queries) {
        if let Some(name) = query.columns().find(|name| quasi(name).is_none() && !exact(name)) {
            let released: Vec<String> =
                surface.quasi.iter().map(|quasi| quasi.name().to_string()).collect();
            let released =
                [released, surface.roles.sensitive.clone(), surface.roles.keep.clone()].concat();
            return Err(not_released(name, &released, &format!("query {number}: ")));
        }
    }
    let fields = names
        .iter()
        .map(|name| QueryField::new(name, source, request))
        .collect::<Result<Vec<_>>>()?;
    let truth = originals(&fields, source, request)?;
    let columns = fields.iter().map(|field| match quasi(field.name) {
        Some(columns) => released(field, columns, release),
        None => released(field, &QuasiColumns::Label(field.name.to_string()), release),
    });
    let columns = columns.collect::<Result<Vec<_>>>()?;
    let counts = CountColumn::new(release, request.count.as_ref())?;
    let estimate = DistinctRows::new(columns, release.rows(), &counts);
    let answers: Vec<Result<Answer>> = (1usize..=queries.len())
        .into_par_iter()
        .map(|number| {
            let tests = tests(&queries[number - 1], &fields).map_err(|(column, why)| {
                Error::request("bad-condition", format!("query {number}, column `{column}`: {why}"))
                    .about_column(column)
            })?;
            Ok(Answer { truth: total(&truth, &tests), estimate: total(&estimate, &tests) })
        })
        .collect();
    // In the order of the queries: of several faults the first is reported.
    answers.into_iter().collect()
}

impl Query {
    /// The columns that the query uses.
    fn columns(&self) -> impl Iterator<Item = &str> {
        self.conditions.keys().chain(&self.sum).map(String::as_str)
    }
}

fn not_released(name: &str, released: &[String], query: &str) -> Error {
    let list = list(released);
    let reason = format!("{query}column `{name}` is not in the release (it has {list})");
    let error = Error::request("column-not-released", reason).about_column(name);
    did_you_mean(name, released).into_iter().fold(error, Error::hint)
}

/// The distinct rows of a table in the columns that queries use, and the extents of their cells.
#[derive(Debug)]
struct DistinctRows {
    /// By column, by cell.
    extents: Vec<Vec<Extent>>,
    /// By column, by cell: how many rows have it.
    rows_of: Vec<Vec<u64>>,
    /// The cells of the distinct rows, row by row.
    cells: Vec<u32>,
    /// For each distinct row the number of rows equal to it.
    counts: Vec<u64>,
}

impl DistinctRows {
    /// From the cells of each column, and for each row the cell that it has.
    fn new(
        columns: Vec<(Vec<Extent>, Codes)>,
        rows: usize,
        of_rows: &CountColumn<'_>,
    ) -> DistinctRows {
        let mut fold = Fold::new(rows);
        fold.refine(
            &columns
                .iter()
                .map(|(cells, of)| (cells.len(), |row: usize| of.get(row)))
                .collect::<Vec<_>>(),
        );
        let classes = fold.finish();
        let cells = classes
            .first
            .iter()
            .flat_map(|&row| columns.iter().map(move |(_, of)| of.get(row as usize)));
        let cells = cells.collect();
        let rows_of = columns.iter().map(|(cells, of)| {
            let mut rows = vec![0; cells.len()];
            of.iter().enumerate().for_each(|(row, cell)| rows[cell as usize] += of_rows.of(row));
            rows
        });
        let rows_of = rows_of.collect();
        let counts = if of_rows.is_counted() {
            let mut counts = vec![0; classes.first.len()];
            for (row, &class) in classes.of.iter().enumerate() {
                counts[class as usize] += of_rows.of(row);
            }
            counts
        } else {
            classes.sizes.iter().map(|&size| u64::from(size)).collect()
        };
        DistinctRows {
            extents: columns.into_iter().map(|(cells, _)| cells).collect(),
            rows_of,
            cells,
            counts,
        }
    }
}

/// The source, each cell with the extent of one value.
fn originals(fields: &[QueryField<'_>], source: &Table, request: &Request) -> Result<DistinctRows> {
    let columns = fields.iter().map(|field| {
        let codes = coded(source, field.name)?.codes();
        Ok((field.values(), codes.iter().map(|code| field.codes[code as usize]).collect()))
    });
    let counts = CountColumn::new(source, request.count.as_ref())?;
    Ok(DistinctRows::new(columns.collect::<Result<Vec<_>>>()?, source.rows(), &counts))
}

/// The extents of the released cells of a column, and for each row the cell that it has.
fn released(
    field: &QueryField<'_>,
    columns: &QuasiColumns,
    release: &Table,
) -> Result<(Vec<Extent>, Codes)> {
    let (of, cells) = cells(columns, release)?;
    let extent = |(at, cell): (u32, &ReleasedCell<'_>)| {
        field.extent(*cell).ok_or_else(|| {
            let row = of.iter().position(|other| other == at).map_or(0, |row| row + 1);
            let what = match field.form {
                Form::Generalized => "does not fit the source and the hierarchy of the column",
                Form::Exact => "is no value of the source, although the column is passed through",
            };
            Error::data(
                "not-of-this-source",
                format!(
                    "the release, column `{}`, data row {row}: the cell {what}: perhaps this is \
                     not the release of that source, or was made with another configuration",
                    field.name
                ),
            )
            .about(Place {
                column: Some(field.name.into()),
                row: Some(row as u64),
                ..Place::default()
            })
            .hint(Hint::CheckSource)
        })
    };
    let extents = (0..).zip(&cells).map(extent).collect::<Result<Vec<_>>>()?;
    Ok((extents, of.into_owned()))
}

/// The tests of a query: the field, its test, and whether the field is summed.
type Tests = Vec<(usize, Option<Test>, Weighting)>;

/// The weight of a column in the answer of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Weighting {
    /// The share of the cell that satisfies the condition.
    Share,
    /// That share times the mean of its values, for the summed column.
    Value,
}

/// The tests of a query; else the column at fault and why.
fn tests<'q>(
    query: &'q Query,
    fields: &[QueryField<'_>],
) -> std::result::Result<Tests, (&'q str, String)> {
    let place = |name: &str| {
        fields.iter().position(|field| field.name == name).expect("every used column has a field")
    };
    let mut tests = Tests::new();
    for (name, condition) in &query.conditions {
        let at = place(name);
        let test = fields[at].test(condition).map_err(|why| (name.as_str(), why))?;
        tests.push((at, Some(test), Weighting::Share));
    }
    if let Some(name) = &query.sum {
        let at = place(name);
        if !fields[at].is_number() {
            return Err((name, "only numbers can be summed".to_string()));
        }
        match tests.iter_mut().find(|(other, ..)| *other == at) {
            Some((_, _, part)) => *part = Weighting::Value,
            None => tests.push((at, None, Weighting::Value)),
        }
    }
    Ok(tests)
}

/// The sum over the rows of the products of their cells' weights.
fn total(rows: &DistinctRows, tests: &Tests) -> f64 {
    let weigh = |(at, test, weighting): &(usize, Option<Test>, Weighting)| {
        (*at, weights(&rows.extents[*at], test.as_ref(), *weighting))
    };
    let mut tables: Vec<(usize, Vec<f64>)> = tests.iter().map(weigh).collect();
    // The column that rules out most rows comes first.
    tables.sort_by_cached_key(|(at, table)| {
        rows.rows_of[*at]
            .iter()
            .zip(table)
            .filter(|(_, weight)| **weight != 0.0)
            .map(|(rows, _)| *rows)
            .sum::<u64>()
    });
    let width = rows.extents.len();
    let mut sum = 0.0;
    for (row, &count) in rows.counts.iter().enumerate() {
        let cells = &rows.cells[row * width..][..width];
        let mut weight = real(count);
        for (at, table) in &tables {
            weight *= table[cells[*at] as usize];
            if weight == 0.0 {
                break;
            }
        }
        sum += weight;
    }
    sum
}
