//! A table whose tuples do not fit one machine: cells, each planned under the domain of the whole.
//!
//! 1. [`domain_of_columns`]: the domain, from the distinct values of each column with counts.
//! 2. [`cuts`]: cells, from a sample of the tuples.
//! 3. [`merge_cells`]: exact counts of the cells decide which satisfy the rules.
//! 4. [`Run::within`]: the plan of one cell.
//!
//! The union of the plans is a plan of the whole table.

use std::collections::BTreeMap;

use arrow_schema::DataType;

use crate::audit::WholeDistribution;
use crate::domain::{TableDomain, ValueCounts};
use crate::error::{Error, Hint, Result};
use crate::problem::{PartRules, Problem, ruled_columns, treatments};
use crate::request::{Limits, Output, Request, Rest, Role};
use crate::search::cuts::{self, Cuts};
use crate::table::{Source, Table, Treatment};

use super::options::search_options;
use super::read::forget_absent;
use super::{Product, Run};

pub use crate::search::cuts::CellSize;

impl<'a> Run<'a> {
    /// Plans a part of a table under the domain of the whole: its codes and losses, and the
    /// distributions that t-closeness compares with. The union of the plans of all parts satisfies
    /// every rule, and its loss is the sum of theirs. Of each part its own share of rows may be
    /// suppressed.
    ///
    /// Whoever plans parts on several machines may plan one twice, so a part is planned in the same
    /// way each time: the request has a `seed`, and `steps` in place of `time`.
    ///
    /// # Example
    /// ```
    /// use lookalike::{Request, run::{Run, domain_of_columns}, table};
    ///
    /// let request = Request::parse(
    ///     "k = 2\nseed = 1\ncount = 'n'\nalgorithm = 'mondrian'\ncolumns.age.role = 'quasi'",
    /// )?;
    /// let open = |text: &str| table::open_text(text.into(), "counts".as_ref());
    /// let whole = domain_of_columns(vec![open("age,n\n20,1\n30,1\n40,2\n60,1\n")?], &request)?;
    /// let plan = Run::new(&request).within(&whole).plan_in_memory(open("age,n\n20,1\n30,1\n")?)?;
    /// // Two rows with a quarter of the ages of the whole table.
    /// assert_eq!(plan.report.found.loss.ncp, 0.5);
    /// # Ok::<(), lookalike::Error>(())
    /// ```
    pub fn within(mut self, domain: &'a TableDomain) -> Run<'a> {
        domain.settle_kinds(&mut self.request);
        Run { domain: Some(domain), ..self }
    }
}

/// Refuses what makes no sense for a part of a table.
pub(super) fn refuse(run: &Run, product: Product) -> Result<()> {
    if run.domain.is_none() {
        return Ok(());
    }
    if product == Product::Release {
        let reason = "a part of a table is planned, not released: its rows are those of all parts \
                      together";
        return Err(Error::request("release-of-part", reason));
    }
    refuse_unrepeatable(&run.request)
}

/// A part may be planned twice, by a machine that takes over from another.
fn refuse_unrepeatable(request: &Request) -> Result<()> {
    let options = search_options(request, 0, Default::default())?;
    let reason = if request.seed.is_none() {
        "a part of a table must be planned in the same way each time: set `seed`"
    } else if request.limits.time.is_some() {
        "a part of a table must be planned in the same way each time, and time is never the same: \
         set `steps`, not `time`"
    } else if options.algorithm.is_anytime() && options.steps.is_none() {
        "a part of a table must be planned in the same way each time: set `steps`"
    } else {
        return Ok(());
    };
    Err(Error::request("not-repeatable", reason))
}

/// The distributions of the sensitive columns, for the audit of a part.
pub(super) fn distributions(domain: &TableDomain) -> Vec<WholeDistribution> {
    let of = |column: &crate::domain::SensitiveDomain| WholeDistribution {
        column: column.name().to_string(),
        values: column.values(),
    };
    domain.sensitive().iter().map(of).collect()
}

/// The domain of a table from the distinct values of its columns. Each source has two columns: one
/// of the table with its values, each once, and the count column of the request. There is one for
/// each quasi-identifier and for each sensitive column under a rule; others are ignored.
///
/// # Errors
/// As [`TableDomain::new`]; when a source has other columns, or a count is none.
pub fn domain_of_columns(columns: Vec<Source>, request: &Request) -> Result<TableDomain> {
    let count = count_column(request)?;
    let mut found = Vec::new();
    for source in columns {
        let is_value = |name: &&String| *name != count;
        let names: Vec<String> = source.names().iter().filter(is_value).cloned().collect();
        let [name] = &names[..] else {
            let reason = "the values of a column are in a table of two columns: the values, and \
                          the count column of the request";
            return Err(Error::data("not-value-counts", reason));
        };
        if names.len() == source.names().len() {
            return Err(no_count_column(count));
        }
        if request.column(name).is_some() {
            found.push(value_counts(source, name, count)?);
        }
    }
    let mut request = request.clone();
    let names: Vec<String> =
        found.iter().map(|column| column.name.clone()).chain([count.clone()]).collect();
    forget_absent(&mut request, &names);
    let roles = request.roles(&names)?;
    TableDomain::new(&found, &roles, &request)
}

fn count_column(request: &Request) -> Result<&String> {
    let missing = || {
        let reason = "the values and tuples of a table need their numbers of rows";
        Error::request("no-count", reason).hint(Hint::NameCount)
    };
    request.count.as_ref().ok_or_else(missing)
}

fn no_count_column(name: &str) -> Error {
    let reason = format!("the table has no count column `{name}`, or it was not read");
    Error::data("no-count-column", reason).about_column(name)
}

/// The values of a column with their counts, which may be beyond 32 bits.
fn value_counts(source: Source, name: &str, count: &str) -> Result<ValueCounts> {
    let place = source.names().iter().position(|other| other == name);
    let zone = match place.map(|at| &source.data_types()[at]) {
        Some(DataType::Timestamp(_, Some(zone))) => Some(zone.to_string()),
        _ => None,
    };
    let table = source.read(&[Treatment::Code, Treatment::Code])?;
    let (values, counts) = (table.coded(name), table.coded(count));
    let mut numbers = Vec::with_capacity(counts.values().len());
    for (text, &row) in counts.values().iter().zip(counts.first_row()) {
        let digits = text.as_deref().map(str::trim).unwrap_or_default();
        let is_whole = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let number = digits.parse::<u64>().ok().filter(|&number| is_whole && number > 0);
        numbers.push(number.ok_or_else(|| {
            let reason = "not a count; a count is a whole number from 1, written in digits alone";
            Error::data("not-a-count", reason).at_row(count, row)
        })?);
    }
    let value = |row: usize| {
        let value = values.values()[values.codes().get(row) as usize].clone();
        (value, numbers[counts.codes().get(row) as usize])
    };
    let values = (0..table.rows()).map(value).collect();
    Ok(ValueCounts { name: name.to_string(), values, zone })
}

/// The cells of a table by a sample of its tuples, or by all of them: coarse, and cut where little
/// is lost. The sample has the quasi-identifiers and the count column of the request; others are
/// ignored. Some hundred thousand tuples are enough.
///
/// # Errors
/// As [`Problem::within`]; for algorithms that publish a value in one way in the whole table.
pub fn cuts(
    sample: Source,
    request: &Request,
    domain: &TableDomain,
    size: CellSize,
) -> Result<Cuts> {
    count_column(request)?;
    let options = search_options(request, 0, Default::default())?;
    if options.algorithm.is_global() {
        let reason = format!(
            "{} publishes a value in one way in the whole table, which cells cannot: plan the \
             table as a whole",
            options.algorithm
        );
        return Err(Error::request("cells-of-global", reason));
    }
    let mut request = request.clone();
    domain.settle_kinds(&mut request);
    let ks = request.k.into_iter().chain(request.rules.iter().map(|rule| rule.k));
    let k = ks.max().unwrap_or(1);
    request.columns.retain(|_, column| column.role == Role::Quasi);
    let request = Request {
        // Replaced below, once the number of tuples is known.
        k: Some(1),
        seed: Some(request.seed.unwrap_or(1)),
        rest: Some(Rest::Drop),
        rules: Vec::new(),
        output: Output::default(),
        limits: Limits::default(),
        columns: request.columns,
        missing: request.missing,
        count: request.count,
        ..Request::default()
    };
    let roles = request.roles(sample.names())?;
    let treatments = treatments(sample.names(), &roles);
    let table = sample.read(&treatments)?;
    // The fewer tuples, the farther apart: a class of a sample has as many of its rows as a class of
    // the whole would have.
    let whole = size.whole.max(table.rows() as u64);
    let k = (u128::from(k) * table.rows() as u128).div_ceil(u128::from(whole));
    let k = u64::try_from(k).unwrap_or(u64::MAX).max(2).min(rows(&table, &request)?);
    let request = Request { k: Some(k), ..request };
    let problem = Problem::within(domain, &table, &roles, &request)?;
    Ok(cuts::cuts(&problem, size, request.seed.unwrap_or(1)))
}

/// The rows that a table of tuples stands for, at least 1.
fn rows(table: &Table, request: &Request) -> Result<u64> {
    Ok(crate::problem::row_count(table, request)?.max(1))
}

/// The column of exact counts that has the number of the cell.
const CELL: &str = "cell";

/// Unites cells until each of them satisfies the rules on its own, by exact counts. The source has
/// a column `cell`, the sensitive columns under a rule, and the count column of the request; of
/// each combination that occurs it has the rows, in one row or several.
///
/// # Example
/// ```
/// use lookalike::{Request, run::{domain_of_columns, merge_cells}, search::cuts::Cuts, table};
///
/// let request = Request::parse("k = 3\ncount = 'n'\ncolumns.age.role = 'quasi'")?;
/// let open = |text: &str| table::open_text(text.into(), "counts".as_ref());
/// let domain = domain_of_columns(vec![open("age,n\n20,2\n40,5\n60,4\n")?], &request)?;
/// let text = r#"{"version": 1, "cells": 3, "tree": {
///     "column": "age", "kind": "number", "limit": "40", "missing": "right",
///     "left": {"column": "age", "kind": "number", "limit": "20", "missing": "right",
///              "left": {"cell": 0}, "right": {"cell": 1}},
///     "right": {"cell": 2}}}"#;
/// let cuts = Cuts::from_json(text)?;
/// let merged = merge_cells(cuts, open("cell,n\n0,2\n1,5\n2,4\n")?, &request, &domain)?;
/// assert_eq!(merged.rows(), Some(&[7, 4][..]));
/// # Ok::<(), lookalike::Error>(())
/// ```
///
/// # Errors
/// [`Infeasible`](crate::ErrorKind::Infeasible) when no release of the table satisfies the rules;
/// when the source lacks a column or has a number that is no cell's.
pub fn merge_cells(
    cells: Cuts,
    counts: Source,
    request: &Request,
    domain: &TableDomain,
) -> Result<Cuts> {
    let count = count_column(request)?;
    let mut wanted: BTreeMap<&str, Treatment> = BTreeMap::new();
    wanted.insert(CELL, Treatment::Code);
    wanted.insert(count, Treatment::Code);
    wanted.extend(ruled_columns(request).map(|name| (name.as_str(), Treatment::Code)));
    if let Some(absent) =
        wanted.keys().find(|name| !counts.names().iter().any(|other| other == *name))
    {
        let reason = format!("exact counts of cells need column `{absent}`");
        return Err(Error::data("table-lacks-column", reason).about_column(*absent));
    }
    let of = |name: &String| *wanted.get(name.as_str()).unwrap_or(&Treatment::Skip);
    let treatments: Vec<Treatment> = counts.names().iter().map(of).collect();
    let table = counts.read(&treatments)?;
    let (rules, parts) = PartRules::new(domain, &table, CELL, cells.cells(), request)?;
    cuts::merge(cells, &rules, &parts)
}
