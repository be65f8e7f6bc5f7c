//! How well a release answers questions: counts and sums, from the release and from its source,
//! side by side.
//!
//! A query is COUNT(*) or SUM(column) over the rows that satisfy a conjunction of conditions, one a
//! column. The truth is counted in the source. The estimate is made from the released cells alone,
//! as if the values behind a cell were spread evenly over what it shows: a row counts as the
//! product, over the conditions, of the share of its cell that satisfies the condition.
//!
//! # What share of a cell satisfies a condition
//! - Whole numbers, dates and ordinal labels: points in both / points in the cell.
//! - Decimals and timestamps: length of the overlap / length of the cell; a single value is in or
//!   out.
//! - Categories: leaves in both / leaves below the published node, or values in both / values of a
//!   set `{a,b}`.
//! - `*` is the whole domain: that of the column's hierarchy, else the values of the source, or the
//!   stretch from its least to its greatest. `<20` and `>=80` end there too.
//! - Columns published as they are (`keep`, `sensitive`) are exact: in or out.
//!
//! A sum takes, beside these shares, the mean of the summed column's cell: the middle of the range,
//! or of its overlap with the condition if there is one on that column too.
//!
//! # Missing values
//! A missing value satisfies no range, and of the values only the missing one (`""`). It adds
//! nothing to a sum. In a tree it is a leaf like any other, so `*` counts it as one. On an ordered
//! column `*` shows a class that may mix missing and present cells: the missing value then has the
//! weight of one of the column's distinct values, 1/(d+1) of the cell where the source has d
//! others, and the rest of the cell is spread over the range.
//!
//! # Complexity
//! A query takes O(t + r) steps times its columns, with t and r distinct rows of source and release
//! in the columns that any of the queries use. Queries are answered in parallel; each sums in the
//! order of the tables, so the number of threads does not show.
//!
//! # Reference
//! Xu, Wang, Pei, Wang, Shi, Fu: Utility-Based Anonymization Using Local Recoding, KDD 2006.
//! LeFevre, DeWitt, Ramakrishnan: Workload-Aware Anonymization, KDD 2006.
//!
//! # Departures from the paper
//! The papers have whole numbers and trees; decimals, sets, bounds and missing values are ours.

mod columns;
mod draw;
mod field;
mod weigh;
mod written;

#[cfg(test)]
mod tests;

pub use columns::{Bin, Certainty, Detail, certainty, columns};
pub use draw::{Workload, draw, summable};
pub use written::{parse, read};

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use serde::Serialize;

use crate::audit::{Cell, Fold, Shown, cells, coded, surface};
use crate::codes::Codes;
use crate::error::{Error, Result};
use crate::request::{Request, did_you_mean, list};
use crate::table::Table;
use field::{Field, Form};
use weigh::{Reach, Test, weights};

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

/// What a column must satisfy. Values are texts, as in a file: a number, a date, a label.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Condition {
    /// From here to there, both included; an absent end is open. For ordered columns.
    Range {
        /// The least value.
        from: Option<String>,
        /// The greatest value.
        to: Option<String>,
    },
    /// One of these; an empty text, or one that the configuration calls missing, is the missing
    /// value.
    Values(Vec<String>),
    /// Everything below a node of the column's hierarchy.
    Node {
        /// The node's label.
        node: String,
    },
}

/// What the source says and what the release lets one believe.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Answer {
    /// From the source.
    pub truth: f64,
    /// From the release.
    pub estimate: f64,
}

impl Answer {
    /// The distance of the two.
    pub fn absolute(&self) -> f64 {
        (self.estimate - self.truth).abs()
    }

    /// The distance over the truth; none where the truth is 0.
    pub fn error(&self) -> Option<f64> {
        (self.truth != 0.0).then(|| self.absolute() / self.truth.abs())
    }
}

/// The errors of a workload.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// How many queries there are.
    pub queries: usize,
    /// Those whose truth is 0: they have no relative error and stand in the absolute one only.
    pub undefined: usize,
    /// The mean relative error; none when no query has one.
    pub mean_error: Option<f64>,
    /// The median of the relative errors.
    pub median_error: Option<f64>,
    /// Nine in ten relative errors are at most this.
    pub p90_error: Option<f64>,
    /// The mean of the distances of estimate and truth; none without queries.
    pub mean_absolute: Option<f64>,
}

/// Sums up the errors of some answers.
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
/// The reader must have been told [`treatments`](crate::audit::treatments) with
/// [`View::Source`](crate::audit::View::Source) and
/// [`View::ReleaseAgainstSource`](crate::audit::View::ReleaseAgainstSource).
///
/// ```
/// use lookalike::{Request, audit::{View, treatments, unguard}, table, evaluate::query};
///
/// # fn main() -> lookalike::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let (data, safe) = (folder.path().join("data.csv"), folder.path().join("safe.csv"));
/// # std::fs::write(&data, "age,sex\n34,f\n37,f\n51,m\n58,m\n").unwrap();
/// # std::fs::write(&safe, "age,sex\n[34-37],f\n[34-37],f\n[51-58],m\n[51-58],m\n").unwrap();
/// let request = Request::parse("k = 2\ncolumns.age.role = 'quasi'\ncolumns.sex.role = 'quasi'")?;
/// let read = |path, view| {
///     let table = io::open(path, None)?;
///     let treatments = treatments(table.names(), &request, view);
///     let mut table = table.read(&treatments)?;
///     // Both are text files; only the release may have guards before formulas.
///     if view != View::Source {
///         unguard(&mut table);
///     }
///     lookalike::Result::Ok(table)
/// };
/// let queries = query::parse("[[query]]\nwhere = { age = [30, 35], sex = 'f' }")?;
/// let answers = query::answer(&read(&data, View::Source)?, &read(&safe, View::ReleaseAgainstSource)?, &request, &queries)?;
/// assert_eq!((answers[0].truth, answers[0].estimate), (1.0, 2.0 * 2.0 / 4.0));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// When a query asks for a column that is not released or for what its column does not have, when a
/// cell of the release cannot be read, or when the two tables do not fit the configuration.
pub fn answer(
    source: &Table,
    release: &Table,
    request: &Request,
    queries: &[Query],
) -> Result<Vec<Answer>> {
    let used: BTreeSet<&str> = queries.iter().flat_map(Query::columns).collect();
    let names: Vec<&str> = used.into_iter().collect();
    let shown = surface(release, request)?;
    let exact =
        |name: &str| shown.roles.keep.iter().chain(&shown.roles.sensitive).any(|kept| kept == name);
    let quasi = |name: &str| shown.quasi.iter().find(|shown| shown.name() == name);
    for (number, query) in (1..).zip(queries) {
        if let Some(name) = query.columns().find(|name| quasi(name).is_none() && !exact(name)) {
            let released: Vec<String> =
                shown.quasi.iter().map(|shown| shown.name().to_string()).collect();
            let released =
                [released, shown.roles.sensitive.clone(), shown.roles.keep.clone()].concat();
            return Err(Error::request(format!(
                "query {number}: {}",
                not_released(name, &released)
            )));
        }
    }
    let fields =
        names.iter().map(|name| Field::new(name, source, request)).collect::<Result<Vec<_>>>()?;
    let truth = originals(&fields, source)?;
    let columns = fields.iter().map(|field| match quasi(field.name) {
        Some(shown) => released(field, shown, release),
        None => released(field, &Shown::Label(field.name.to_string()), release),
    });
    let columns = columns.collect::<Result<Vec<_>>>()?;
    let estimate = Side::new(columns, release.rows());
    let answers: Vec<Result<Answer>> = (1usize..=queries.len())
        .into_par_iter()
        .map(|number| {
            let tests = tests(&queries[number - 1], &fields).map_err(|(column, why)| {
                Error::request(format!("query {number}, column `{column}`: {why}"))
            })?;
            Ok(Answer { truth: total(&truth, &tests), estimate: total(&estimate, &tests) })
        })
        .collect();
    // One after the other: of several faults the first is told, whichever thread was faster.
    answers.into_iter().collect()
}

impl Query {
    /// The columns that the query looks at.
    fn columns(&self) -> impl Iterator<Item = &str> {
        self.conditions.keys().chain(&self.sum).map(String::as_str)
    }
}

fn not_released(name: &str, released: &[String]) -> String {
    format!(
        "column `{name}` is not in the release{} (it can be asked about {})",
        did_you_mean(name, released),
        list(released)
    )
}

/// The different rows of a table in the columns that queries use, and what the cells of these
/// columns say.
#[derive(Debug)]
struct Side {
    /// By column, by cell.
    reaches: Vec<Vec<Reach>>,
    /// By column, by cell: how many rows have it.
    rows_of: Vec<Vec<u64>>,
    /// Row by row, a cell a column.
    cells: Vec<u32>,
    /// How many rows are equal to each.
    counts: Vec<u32>,
}

impl Side {
    /// From the cells of each column and, by row, which one it has.
    fn new(columns: Vec<(Vec<Reach>, Codes)>, rows: usize) -> Side {
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
            of.iter().for_each(|cell| rows[cell as usize] += 1);
            rows
        });
        let rows_of = rows_of.collect();
        Side {
            reaches: columns.into_iter().map(|(cells, _)| cells).collect(),
            rows_of,
            cells,
            counts: classes.sizes,
        }
    }
}

/// The source as a table whose every cell shows one value.
fn originals(fields: &[Field<'_>], source: &Table) -> Result<Side> {
    let columns = fields.iter().map(|field| {
        let codes = coded(source, field.name)?.codes();
        Ok((field.values(), codes.iter().map(|code| field.codes[code as usize]).collect()))
    });
    Ok(Side::new(columns.collect::<Result<Vec<_>>>()?, source.rows()))
}

/// What the released cells of a column say, and which one each row has.
fn released(field: &Field<'_>, shown: &Shown, release: &Table) -> Result<(Vec<Reach>, Codes)> {
    let (of, cells) = cells(shown, release)?;
    let reach = |(at, cell): (u32, &Cell<'_>)| {
        field.reach(*cell).ok_or_else(|| {
            let row = of.iter().position(|other| other == at).map_or(0, |row| row + 1);
            let what = match field.form {
                Form::Generalized => "says nothing that the source and the hierarchy of the column allow",
                Form::Exact => "is no value of the source, although the column is published as it is",
            };
            Error::data(format!(
                "the release, column `{}`, data row {row}: the cell {what}; is this the release of that source, made with this \
                 configuration? (lookalike verify RELEASE --source SOURCE tells)",
                field.name
            ))
        })
    };
    let reaches = (0..).zip(&cells).map(reach).collect::<Result<Vec<_>>>()?;
    Ok((reaches, of.into_owned()))
}

/// What a query wants of each of the fields that it is about: by field, its test and whether it is
/// summed.
type Tests = Vec<(usize, Option<Test>, Part)>;

/// What a column adds to a row's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// The share of it that satisfies the condition.
    Share,
    /// That share times its mean value.
    Value,
}

/// Meets a query with the columns; else the column at fault and why.
fn tests<'q>(
    query: &'q Query,
    fields: &[Field<'_>],
) -> std::result::Result<Tests, (&'q str, String)> {
    let place = |name: &str| {
        fields.iter().position(|field| field.name == name).expect("every used column has a field")
    };
    let mut tests = Tests::new();
    for (name, condition) in &query.conditions {
        let at = place(name);
        let test = fields[at].test(condition).map_err(|why| (name.as_str(), why))?;
        tests.push((at, Some(test), Part::Share));
    }
    if let Some(name) = &query.sum {
        let at = place(name);
        if !fields[at].is_number() {
            return Err((name, "only numbers can be summed".to_string()));
        }
        match tests.iter_mut().find(|(other, ..)| *other == at) {
            Some((_, _, part)) => *part = Part::Value,
            None => tests.push((at, None, Part::Value)),
        }
    }
    Ok(tests)
}

/// The sum over the rows of the products of their cells' weights.
fn total(side: &Side, tests: &Tests) -> f64 {
    let weigh = |(at, test, part): &(usize, Option<Test>, Part)| {
        (*at, weights(&side.reaches[*at], test.as_ref(), *part))
    };
    let mut tables: Vec<(usize, Vec<f64>)> = tests.iter().map(weigh).collect();
    // The column that rules out most goes first.
    tables.sort_by_cached_key(|(at, table)| {
        side.rows_of[*at]
            .iter()
            .zip(table)
            .filter(|(_, weight)| **weight != 0.0)
            .map(|(rows, _)| *rows)
            .sum::<u64>()
    });
    let width = side.reaches.len();
    let mut sum = 0.0;
    for (row, &count) in side.counts.iter().enumerate() {
        let cells = &side.cells[row * width..][..width];
        let mut weight = f64::from(count);
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
