//! The truth of a release: every released row has a source row of its own that it covers, and
//! nothing else was changed.
//!
//! A released row does not say which source row it came from. Rows are therefore grouped by the
//! cells that were passed through unchanged; within a group each released row must be matched with
//! a source row of its own, so that all cells cover. Where a match exists the release is a true
//! statement about the source, however it was made.

use std::borrow::Cow;

use arrow_schema::DataType;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;

use super::coarsening::coarsened;
use super::coded;
use super::cover::Cover;
use super::hashes::hash;
use super::join::Quasi;
use super::reading::{exact_number, place_of_instant, present};
use super::released_cell::cells;
use super::row_counts::RowCounts;
use super::source_match::by_matching;
use super::surface::{QuasiColumns, surface};
use crate::codes::{Codes, RowId};
use crate::error::{Error, Result};
use crate::request::{Order, Request, Rest, Role, list};
use crate::table::{Column, Table};

/// Limits on the effort of the comparison with the source.
#[derive(Clone, Copy, Debug)]
pub(super) struct CheckLimits {
    /// In a group with at most so many pairs of box and tuple they are listed; in a larger one an
    /// index finds them.
    pub(super) pairs: u64,
    /// Steps of the search in a group with an index, and further ones for each released row. A step
    /// is a look at a node or a tuple of the index.
    pub(super) steps: u64,
    pub(super) steps_per_row: u64,
}

/// A step takes some ten nanoseconds: about an hour for ten million rows, if all are used.
pub(super) const LIMITS: CheckLimits =
    CheckLimits { pairs: 4096, steps: 1_000_000_000, steps_per_row: 30_000 };

/// How released rows were compared with the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Method {
    /// Row by row: the release is in the order of the source and has all of its rows.
    #[serde(rename = "cell by cell")]
    CellByCell,
    /// Some assignment of released rows to source rows covers every cell.
    #[serde(rename = "by matching")]
    ByMatching,
    /// Along the rings of a proof.
    #[serde(rename = "by proof")]
    ByProof,
    /// Row by row along the origins that the run recorded.
    #[serde(rename = "along origins")]
    AlongOrigins,
    /// Piece by piece of a plan.
    #[serde(rename = "piece by piece")]
    PieceByPiece,
}

/// The comparison of a release with its source, in the field `truth` of a verdict. Where a column
/// has counts, rows are counted by them.
#[derive(Clone, Debug, Serialize)]
pub struct SourceCheck {
    /// Source rows that are not in the release.
    pub suppressed: u64,
    /// True when the request allows so many, and no row was added.
    pub suppression_allowed: bool,
    /// The method of the comparison.
    pub cells_checked: Method,
    /// Released rows that have a source row of their own.
    pub rows_matched: u64,
    /// Released rows for which the search was ended before it was known whether they have a source
    /// row of their own.
    pub rows_undecided: u64,
    /// Released rows for which there is no source row of their own that they cover: all released
    /// rows but the greatest number that can be matched at once.
    pub violations: u64,
    /// True when the cells of all passed-through columns are the same in release and source.
    pub carried_unchanged: bool,
    /// Checks that were made, checks that were not, and findings; a sentence each.
    pub statements: Vec<Statement>,
}

/// One sentence about the comparison.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Statement {
    /// Its meaning for the release.
    pub finding: Finding,
    /// The sentence, without any value of a cell.
    pub text: String,
}

/// The result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Finding {
    /// Checked; no fault found.
    Ok,
    /// Checked in part; no fault found.
    Partly,
    /// A fault: the release is not true.
    Broken,
}

impl SourceCheck {
    /// True when nothing was found against the release.
    pub fn holds(&self) -> bool {
        self.violations == 0 && self.carried_unchanged && self.suppression_allowed
    }
}

/// A passed-through column, which must be unchanged: for each code of either table the number of
/// its text, common to both.
pub(super) struct Passthrough<'a> {
    release: (&'a Codes, Vec<u32>),
    source: (&'a Codes, Vec<u32>),
    pub(super) distinct: usize,
}

impl Passthrough<'_> {
    pub(super) fn in_release(&self, row: usize) -> u32 {
        self.release.1[self.release.0.get(row) as usize]
    }

    pub(super) fn in_source(&self, row: usize) -> u32 {
        self.source.1[self.source.0.get(row) as usize]
    }
}

/// Both tables side by side, and the findings before any row is compared.
pub(super) struct Sides<'a> {
    pub(super) truth: SourceCheck,
    /// For how many rows each row stands, in the release and in the source.
    pub(super) row_counts: (RowCounts<'a>, RowCounts<'a>),
    pub(super) passthrough: Vec<Passthrough<'a>>,
    pub(super) quasi: Vec<Quasi<'a>>,
}

pub(super) fn check(
    release: &Table,
    source: &Table,
    request: &Request,
    limits: CheckLimits,
) -> Result<SourceCheck> {
    number_together(release, source)?;
    let mut sides = sides(release, source, request)?;
    compare(&mut sides, (release.rows(), source.rows()), request.output.order, limits);
    Ok(sides.truth)
}

/// Compares the rows; `rows` are the numbers of released and of source rows.
pub(super) fn compare(
    sides: &mut Sides<'_>,
    rows: (usize, usize),
    order: Order,
    limits: CheckLimits,
) {
    let Sides { truth, row_counts, passthrough, quasi } = sides;
    if order == Order::Input && rows.0 == rows.1 && !row_counts.0.is_counted() {
        cell_by_cell(quasi, passthrough, truth);
    } else {
        by_matching(quasi, passthrough, rows, row_counts, limits, truth);
    }
}

/// Refuses tables whose rows together have no row numbers.
pub(super) fn number_together(release: &Table, source: &Table) -> Result<()> {
    match RowId::try_from(release.rows() + source.rows()) {
        Ok(_) => Ok(()),
        Err(_) => Err(Error::data(
            "too-many-rows",
            "release and source have more than 4,294,967,295 rows together",
        )),
    }
}

pub(super) fn sides<'a>(
    release: &'a Table,
    source: &'a Table,
    request: &Request,
) -> Result<Sides<'a>> {
    let released = surface(release, request)?;
    if let Some(name) = request.count.as_ref().filter(|name| source.column(name).is_none()) {
        let reason = format!("the source has no count column `{name}`");
        return Err(Error::data("no-count-column", reason).about_column(name));
    }
    let row_counts = (RowCounts::new(release, request)?, RowCounts::new(source, request)?);
    let (rows, source_rows) = (row_counts.0.total, row_counts.1.total);
    let suppressed = source_rows.saturating_sub(rows);
    let suppression_allowed =
        rows <= source_rows && request.suppress()?.at_least_share(suppressed, source_rows);
    let mut truth = SourceCheck {
        suppressed,
        suppression_allowed,
        cells_checked: Method::ByMatching,
        rows_matched: 0,
        rows_undecided: 0,
        violations: 0,
        carried_unchanged: true,
        statements: vec![suppression(rows, source_rows, suppression_allowed)],
    };
    let mut passthrough = Vec::new();
    for name in released.roles.sensitive.iter().chain(&released.roles.keep) {
        match (release.column(name), source.column(name)) {
            (Some(column), Some(original)) => passthrough.push(alike(column, original, request)?),
            _ => truth.reject(format!("column `{name}` of the release is not in the source")),
        }
    }
    for name in &released.roles.hashed {
        match (release.column(name), source.column(name)) {
            (Some(column), Some(original)) if request.output.hash_secret.is_some() => {
                passthrough.push(alike(column, original, request)?);
            }
            (Some(column), Some(original)) if is_shared(column, original) => {
                truth.reject(format!("column `{name}` has identifiers of the source"));
            }
            (Some(_), Some(_)) => truth.state(
                Finding::Partly,
                format!(
                    "the hashes in column `{name}` are not compared with the source: the key is not \
                     known"
                ),
            ),
            _ => truth.reject(format!("column `{name}` of the release is not in the source")),
        }
    }
    let lost: Vec<String> = source
        .columns()
        .iter()
        .map(|column| column.name.clone())
        .filter(|name| is_lost(name, release, request))
        .collect();
    if !lost.is_empty() {
        truth.reject(format!(
            "not in the release, although the request keeps them: {}",
            list(&lost)
        ));
    }
    let quasi = released
        .quasi
        .iter()
        .map(|columns| quasi(columns, release, source, request))
        .collect::<Result<Vec<_>>>()?;
    Ok(Sides { truth, row_counts, passthrough, quasi })
}

impl SourceCheck {
    /// Notes that a passed-through column was changed.
    pub(super) fn reject(&mut self, text: String) {
        self.carried_unchanged = false;
        self.state(Finding::Broken, text);
    }

    pub(super) fn state(&mut self, finding: Finding, text: impl Into<String>) {
        self.statements.push(Statement { finding, text: text.into() });
    }
}

fn suppression(rows: u64, source_rows: u64, allowed: bool) -> Statement {
    let finding = if allowed { Finding::Ok } else { Finding::Broken };
    let text = match source_rows.checked_sub(rows) {
        None => format!("the release has {} more rows than the source", rows - source_rows),
        Some(0) => "no row was suppressed".to_string(),
        Some(suppressed) if allowed => {
            format!(
                "{suppressed} of {source_rows} rows were suppressed, within the limit of the \
                 request"
            )
        }
        Some(suppressed) => format!(
            "{suppressed} of {source_rows} rows were suppressed, more than the request allows \
             (`suppress`)"
        ),
    };
    Statement { finding, text }
}

/// True for a column of the source that should be passed through, and is not in the release.
fn is_lost(name: &str, release: &Table, request: &Request) -> bool {
    let kept = match request.column(name) {
        Some(column) => {
            column.hash || matches!(column.role, Role::Keep | Role::Sensitive | Role::Weight)
        }
        None => request.rest == Some(Rest::Keep),
    };
    kept && release.column(name).is_none()
}

/// True when a cell of the one column is a cell of the other.
fn is_shared(one: &Column, other: &Column) -> bool {
    let texts = |column| coded_texts(column).collect::<FxHashSet<&str>>();
    !texts(one).is_disjoint(&texts(other))
}

fn coded_texts(column: &Column) -> impl Iterator<Item = &str> {
    column.coded.iter().flat_map(|coded| coded.values()).flatten().map(String::as_str)
}

/// Numbers the texts of a passed-through column in the same way in both tables. Cells are equal
/// when their texts are; only between files that type the column differently may one number or
/// instant have two spellings. Where the request wants coarser numbers or hashes, the released cells
/// must be those of the source's cells.
pub(super) fn alike<'a>(
    released: &'a Column,
    original: &'a Column,
    request: &Request,
) -> Result<Passthrough<'a>> {
    let line = request.column(&released.name);
    let coarse = line.filter(|line| line.is_coarsened());
    let secret = request.output.hash_secret.as_ref().filter(|_| line.is_some_and(|line| line.hash));
    let missing: &[String] = if secret.is_some() { &[] } else { &request.missing };
    let is_text = |column: &Column| {
        matches!(column.data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
    };
    let respelt =
        released.data_type != original.data_type && !(is_text(released) && is_text(original));
    let name = &released.name;
    let codes = |column: &'a Column| {
        column.coded.as_ref().ok_or_else(|| {
            Error::data(
                "column-not-coded",
                format!("column `{name}` was read without codes: the audit needs them"),
            )
            .about_column(name)
        })
    };
    let (released, original) = (codes(released)?, codes(original)?);
    let mut numbers: FxHashMap<Option<Cow<'a, str>>, u32> = FxHashMap::default();
    let mut next = 0;
    let spelt = |text: &'a str| {
        if coarse.is_some() {
            return exact_number(text).map_or(Cow::Borrowed(text), Cow::Owned);
        }
        if !respelt {
            return Cow::Borrowed(text);
        }
        exact_number(text)
            .or_else(|| Some(format!("\0{}", place_of_instant(text)?)))
            .map_or(Cow::Borrowed(text), Cow::Owned)
    };
    // What is published for a cell of the source.
    let published = |text: &'a str| match (coarse, secret) {
        (Some(line), _) => coarsened(text, line).map_or_else(|| spelt(text), Cow::Owned),
        (None, Some(secret)) => Cow::Owned(hash(secret, text)),
        (None, None) => spelt(text),
    };
    let mut number = |cell: &'a Option<String>, spelt: &dyn Fn(&'a str) -> Cow<'a, str>| {
        let text = present(cell.as_deref(), missing).map(spelt);
        *numbers.entry(text).or_insert_with(|| {
            next += 1;
            next - 1
        })
    };
    let release = released.values().iter().map(|cell| number(cell, &spelt)).collect();
    let source = original.values().iter().map(|cell| number(cell, &published)).collect();
    Ok(Passthrough {
        release: (released.codes(), release),
        source: (original.codes(), source),
        distinct: next as usize,
    })
}

/// One quasi-identifier on both sides, its released cells read against its original values.
fn quasi<'a>(
    columns: &QuasiColumns,
    release: &'a Table,
    source: &'a Table,
    request: &Request,
) -> Result<Quasi<'a>> {
    let name = columns.name();
    let column = request.column(name).ok_or_else(|| {
        Error::request("no-role", format!("column `{name}` has no role")).about_column(name)
    })?;
    if source.column(name).is_none() {
        return Err(Error::data(
            "table-lacks-column",
            format!("the source has no column `{name}`"),
        )
        .about_column(name));
    }
    let original = coded(source, name)?;
    let (cells, texts) = cells(columns, release)?;
    let cover = Cover::new(original, &texts, column, &request.missing)?;
    Ok(Quasi {
        cells,
        distinct_cells: texts.len(),
        values: original.codes(),
        distinct_values: original.values().len(),
        cover,
    })
}

fn cell_by_cell(quasi: &[Quasi<'_>], passthrough: &[Passthrough<'_>], truth: &mut SourceCheck) {
    let rows = quasi[0].cells.len();
    let mut changed = 0u64;
    for row in 0..rows {
        let same = passthrough.iter().all(|column| column.in_release(row) == column.in_source(row));
        let covered = quasi
            .iter()
            .all(|quasi| quasi.cover.covers(quasi.cells.get(row), quasi.values.get(row)));
        changed += u64::from(!same);
        truth.violations += u64::from(!(same && covered));
    }
    truth.cells_checked = Method::CellByCell;
    truth.rows_matched = rows as u64 - truth.violations;
    truth.conclude(changed, "every row covers the source row in its place and has its other cells");
}

impl SourceCheck {
    /// States the result: `good` if there is no fault.
    pub(super) fn conclude(&mut self, changed: u64, good: &str) {
        if changed > 0 {
            let rows = if changed == 1 { "row has" } else { "rows have" };
            self.reject(format!(
                "{changed} released {rows} cells in the other columns that no source row \
                 accounts for"
            ));
        }
        match self.violations {
            0 => self.state(Finding::Ok, good),
            1 => self.state(
                Finding::Broken,
                "1 released row has no source row that it covers and that has its other cells",
            ),
            rows => self.state(
                Finding::Broken,
                format!(
                    "{rows} released rows have no source row that they cover and that has their \
                     other cells"
                ),
            ),
        }
    }
}
