//! The truth of a release: every released row stands for a source row of its own that it covers,
//! and nothing else was changed.
//!
//! Released rows do not say which source row they came from. Rows are therefore grouped by the
//! cells that were carried over unchanged; within a group the released rows must be matched, each
//! with its own source row, so that all cells cover. Where a match exists the release is a true
//! statement about the source, whoever made it and however.

use std::borrow::Cow;

use arrow_schema::DataType;
use rustc_hash::FxHashMap;
use serde::Serialize;

use super::classes::{Classes, Fold};
use super::coded;
use super::cover::{Cover, cells};
use super::join::{Counted, Distinct, Found, Join, Quasi, counted, distinct};
use super::matching::greatest;
use super::reading::{exact_number, place_of_instant, present};
use super::surface::{Shown, surface};
use crate::codes::{Codes, RowId};
use crate::error::{Error, Result};
use crate::request::{Order, Request, Rest, Role, list};
use crate::table::{Column, Table};

/// How far the comparison with the source goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Coverage tests in the whole audit.
    pub(super) tests: u64,
    /// Pairs of box and tuple kept in one group.
    pub(super) edges: usize,
}

/// About ten seconds and a few hundred megabytes at the most.
pub(super) const LIMITS: Limits = Limits { tests: 500_000_000, edges: 10_000_000 };

/// How released rows were compared with the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Method {
    /// Row by row: the release is in the order of the source.
    #[serde(rename = "cell by cell")]
    CellByCell,
    /// Some assignment of released rows to source rows covers every cell.
    #[serde(rename = "by matching")]
    ByMatching,
    /// Along the rings of a proof.
    #[serde(rename = "by proof")]
    ByProof,
}

/// What the comparison with the source found.
#[derive(Clone, Debug, Serialize)]
pub struct Truth {
    /// Source rows that are not in the release.
    pub suppressed: u64,
    /// True when that is no more than the configuration allows, and no row was added.
    pub suppression_allowed: bool,
    /// How rows were compared.
    pub cells_checked: Method,
    /// Released rows that have a source row of their own.
    pub rows_matched: u64,
    /// Released rows for which only necessary conditions were checked.
    pub rows_only_bounded: u64,
    /// Released rows without a source row that they cover; where only necessary conditions were
    /// checked, at least so many, and source rows that no released row covers.
    pub violations: u64,
    /// True when the cells of all other columns stand in the release as in the source.
    pub carried_unchanged: bool,
    /// What was checked, what was not, and what was found; a sentence each.
    pub statements: Vec<Statement>,
}

/// One sentence about the comparison.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Statement {
    /// What it means for the release.
    pub finding: Finding,
    /// The sentence.
    pub text: String,
}

/// What a check came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Finding {
    /// Checked, and nothing is against the release.
    Ok,
    /// Checked in part only.
    Partly,
    /// The release is not true.
    Broken,
}

impl Truth {
    /// True when nothing was found against the release.
    pub fn holds(&self) -> bool {
        self.violations == 0 && self.carried_unchanged && self.suppression_allowed
    }
}

/// A column that must be unchanged: for each code of either table the number of its text, common to
/// both.
pub(super) struct Carried<'a> {
    release: (&'a Codes, Vec<u32>),
    source: (&'a Codes, Vec<u32>),
    distinct: usize,
}

impl Carried<'_> {
    pub(super) fn in_release(&self, row: usize) -> u32 {
        self.release.1[self.release.0.get(row) as usize]
    }

    pub(super) fn in_source(&self, row: usize) -> u32 {
        self.source.1[self.source.0.get(row) as usize]
    }
}

/// Both tables side by side, and what is known of the truth before any row is compared.
pub(super) struct Sides<'a> {
    pub(super) truth: Truth,
    pub(super) carried: Vec<Carried<'a>>,
    pub(super) quasi: Vec<Quasi<'a>>,
}

pub(super) fn check(
    release: &Table,
    source: &Table,
    request: &Request,
    limits: Limits,
) -> Result<Truth> {
    let mut sides = sides(release, source, request)?;
    compare(&mut sides, (release.rows(), source.rows()), request.output.order, limits);
    Ok(sides.truth)
}

/// Compares the rows, as many of the release and of the source.
pub(super) fn compare(sides: &mut Sides<'_>, rows: (usize, usize), order: Order, limits: Limits) {
    let Sides { truth, carried, quasi } = sides;
    if order == Order::Input && rows.0 == rows.1 {
        cell_by_cell(quasi, carried, truth);
    } else {
        by_matching(quasi, carried, rows, limits, truth);
    }
}

pub(super) fn sides<'a>(
    release: &'a Table,
    source: &'a Table,
    request: &Request,
) -> Result<Sides<'a>> {
    let shown = surface(release, request)?;
    if RowId::try_from(release.rows() + source.rows()).is_err() {
        return Err(Error::data("release and source have more than 4,294,967,295 rows together"));
    }
    let (rows, source_rows) = (release.rows() as u64, source.rows() as u64);
    let suppressed = source_rows.saturating_sub(rows);
    let suppression_allowed =
        rows <= source_rows && request.suppress()?.at_least_share(suppressed, source_rows);
    let mut truth = Truth {
        suppressed,
        suppression_allowed,
        cells_checked: Method::ByMatching,
        rows_matched: 0,
        rows_only_bounded: 0,
        violations: 0,
        carried_unchanged: true,
        statements: vec![suppression(rows, source_rows, suppression_allowed)],
    };
    let mut carried = Vec::new();
    for name in shown.roles.sensitive.iter().chain(&shown.roles.keep) {
        match (release.column(name), source.column(name)) {
            (Some(released), Some(original)) => {
                carried.push(alike(released, original, &request.missing)?)
            }
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
            "not in the release, although the configuration keeps them: {}",
            list(&lost)
        ));
    }
    let quasi = shown
        .quasi
        .iter()
        .map(|shown| quasi(shown, release, source, request))
        .collect::<Result<Vec<_>>>()?;
    Ok(Sides { truth, carried, quasi })
}

impl Truth {
    /// Notes that a column which should be unchanged is not.
    fn reject(&mut self, text: String) {
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
        Some(0) => "no row was left out".to_string(),
        Some(gone) if allowed => {
            format!("{gone} of {source_rows} rows were left out, within what the request allows")
        }
        Some(gone) => format!(
            "{gone} of {source_rows} rows were left out, more than the request allows (--suppress)"
        ),
    };
    Statement { finding, text }
}

/// True for a column of the source that should be in the release as it is, and is not there.
fn is_lost(name: &str, release: &Table, request: &Request) -> bool {
    let kept = match request.column(name) {
        Some(column) => matches!(column.role, Role::Keep | Role::Sensitive),
        None => request.rest == Some(Rest::Keep),
    };
    kept && release.column(name).is_none()
}

/// Numbers the texts of a carried column in both tables alike. Cells are equal when their texts
/// are; only between files that type the column differently may one number or instant have two
/// spellings.
fn alike<'a>(
    released: &'a Column,
    original: &'a Column,
    missing: &[String],
) -> Result<Carried<'a>> {
    let is_text = |column: &Column| {
        matches!(column.data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
    };
    let respelt =
        released.data_type != original.data_type && !(is_text(released) && is_text(original));
    let name = &released.name;
    let codes = |column: &'a Column| {
        column.coded.as_ref().ok_or_else(|| {
            Error::data(format!("column `{name}` was read without codes: the audit needs them"))
        })
    };
    let (released, original) = (codes(released)?, codes(original)?);
    let mut numbers: FxHashMap<Option<Cow<'a, str>>, u32> = FxHashMap::default();
    let mut next = 0;
    let mut number = |cell: &'a Option<String>| {
        let text = present(cell.as_deref(), missing).map(|text| match respelt {
            true => exact_number(text)
                .or_else(|| Some(format!("\0{}", place_of_instant(text)?)))
                .map_or(Cow::Borrowed(text), Cow::Owned),
            false => Cow::Borrowed(text),
        });
        *numbers.entry(text).or_insert_with(|| {
            next += 1;
            next - 1
        })
    };
    let release = released.values().iter().map(&mut number).collect();
    let source = original.values().iter().map(&mut number).collect();
    Ok(Carried {
        release: (released.codes(), release),
        source: (original.codes(), source),
        distinct: next as usize,
    })
}

/// One quasi-identifier on both sides, its released cells read against its original values.
fn quasi<'a>(
    shown: &Shown,
    release: &'a Table,
    source: &'a Table,
    request: &Request,
) -> Result<Quasi<'a>> {
    let name = shown.name();
    let column = request
        .column(name)
        .ok_or_else(|| Error::request(format!("column `{name}` has no role")))?;
    if source.column(name).is_none() {
        return Err(Error::data(format!("the source has no column `{name}`")));
    }
    let original = coded(source, name)?;
    let (cells, texts) = cells(shown, release)?;
    let cover = Cover::new(original, &texts, column, &request.missing)?;
    Ok(Quasi {
        cells,
        shown: texts.len(),
        values: original.codes(),
        known: original.values().len(),
        cover,
    })
}

fn cell_by_cell(quasi: &[Quasi<'_>], carried: &[Carried<'_>], truth: &mut Truth) {
    let rows = quasi[0].cells.len();
    let mut changed = 0u64;
    for row in 0..rows {
        let same = carried.iter().all(|column| column.in_release(row) == column.in_source(row));
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

impl Truth {
    /// Sums up; `good` says what was found if nothing is wrong.
    pub(super) fn conclude(&mut self, changed: u64, good: &str) {
        if changed > 0 {
            self.reject(format!("{changed} released rows have cells in the other columns that no source row accounts for"));
        }
        match self.violations {
            0 => self.state(Finding::Ok, good),
            rows => self.state(
                Finding::Broken,
                format!("{rows} released rows have no source row that they cover and that has their other cells"),
            ),
        }
    }
}

/// The rows of both tables by their other cells: source rows first, released rows after them.
pub(super) fn by_carried(
    carried: &[Carried<'_>],
    (released, originals): (usize, usize),
) -> Classes {
    let mut fold = Fold::new(originals + released);
    let code = |column: &Carried<'_>, row: usize| match row.checked_sub(originals) {
        None => column.in_source(row),
        Some(row) => column.in_release(row),
    };
    fold.refine(
        &carried
            .iter()
            .map(|column| (column.distinct, move |row: usize| code(column, row)))
            .collect::<Vec<_>>(),
    );
    fold.finish()
}

fn by_matching(
    quasi: &mut [Quasi<'_>],
    carried: &[Carried<'_>],
    rows: (usize, usize),
    limits: Limits,
    truth: &mut Truth,
) {
    // The column that rules out most goes first.
    quasi.sort_by_cached_key(|quasi| selectivity(quasi));
    let columns: Vec<(&Codes, usize)> =
        quasi.iter().map(|quasi| (&*quasi.cells, quasi.shown)).collect();
    let boxes = distinct(&columns, rows.0);
    let columns: Vec<(&Codes, usize)> =
        quasi.iter().map(|quasi| (quasi.values, quasi.known)).collect();
    let tuples = distinct(&columns, rows.1);
    let groups = by_carried(carried, rows);
    let members = groups.rows();
    let mut join =
        Join { quasi, boxes: &boxes, tuples: &tuples, tests: limits.tests, edges: limits.edges };
    let mut changed = 0;
    let mut bounded_groups = 0u64;
    for group in small_first(&groups) {
        let all = members.of(group);
        let (originals, released) =
            all.split_at(all.partition_point(|&row| (row as usize) < rows.1));
        if released.is_empty() {
            continue;
        }
        changed += (released.len() as u64).saturating_sub(originals.len() as u64);
        let show: Counted =
            counted(released.iter().map(|&row| boxes.of[row as usize - rows.1]).collect());
        let have: Counted = counted(originals.iter().map(|&row| tuples.of[row as usize]).collect());
        let whole = released.len() == originals.len();
        let found = join.pairs(&show, &have);
        match found {
            Some(Found { edges: Some(edges), .. }) => {
                let count = |all: &Counted| all.iter().map(|&(_, rows)| rows).collect::<Vec<u64>>();
                let matched = match (&*edges, &*show, &*have) {
                    ([], ..) => 0,
                    // The usual case of a nearly unique carried column.
                    ([_], [(_, supply)], [(_, room)]) => *supply.min(room),
                    _ => greatest(count(&show), count(&have), &edges),
                };
                truth.rows_matched += matched;
                truth.violations += released.len() as u64 - matched;
            }
            found => {
                bounded_groups += 1;
                truth.rows_only_bounded += released.len() as u64;
                truth.violations += match found {
                    Some(found) => short_of(&show, &have, &found, whole),
                    None => {
                        let (show, have) = ((&boxes, &show), (&tuples, &have));
                        column_by_column(quasi, show, have, whole)
                            .max(sample(quasi, show, have, whole))
                    }
                };
            }
        }
    }
    if bounded_groups > 0 {
        truth.state(
            Finding::Partly,
            format!(
                "for {} released rows in {bounded_groups} groups of equal other cells no full match was searched (too many pairs): there \
                 it was checked that enough source rows are covered and none is left uncovered, in the \
                 largest groups column by column for all and in full for a sample",
                truth.rows_only_bounded
            ),
        );
    }
    let good = match truth.rows_only_bounded {
        0 => {
            "every released row was matched with a source row of its own that it covers and that has its other cells"
        }
        _ => {
            "every other released row was matched with a source row of its own that it covers and that has its other cells"
        }
    };
    truth.conclude(changed, good);
}

/// Groups with few rows first: a large group that exhausts the tests then leaves no small one
/// unmatched.
fn small_first(groups: &Classes) -> Vec<usize> {
    let mut order: Vec<usize> = (0..groups.sizes.len()).collect();
    order.sort_by_key(|&group| groups.sizes[group]);
    order
}

/// How many pairs of released and source row agree in this column.
fn selectivity(quasi: &Quasi<'_>) -> u128 {
    let mut shown = vec![0u64; quasi.shown];
    quasi.cells.iter().for_each(|cell| shown[cell as usize] += 1);
    let mut known = vec![0u64; quasi.known];
    quasi.values.iter().for_each(|value| known[value as usize] += 1);
    let cells: Vec<u32> = (0..).zip(&shown).map(|(cell, _)| cell).collect();
    let values: Counted = (0..).zip(known).collect();
    let (covered, _) = quasi.cover.tally(&cells, &values);
    covered.iter().zip(&shown).map(|(&covered, &rows)| u128::from(covered) * u128::from(rows)).sum()
}

/// Rows that cannot be matched for want of covered rows, box by box and tuple by tuple.
fn short_of(show: &Counted, have: &Counted, found: &Found, whole: bool) -> u64 {
    let boxes: u64 = show
        .iter()
        .zip(&found.covered)
        .map(|((_, rows), covered)| rows.saturating_sub(*covered))
        .sum();
    let tuples: u64 = have
        .iter()
        .zip(&found.reached)
        .filter(|(_, reached)| whole && !**reached)
        .map(|((_, rows), _)| rows)
        .sum();
    boxes + tuples
}

/// How many coverage tests a sample of released rows, and one of source rows, may take.
const SAMPLE: usize = 50_000_000;

/// The necessary conditions in full, for boxes and tuples taken at equal steps: how many rows fail
/// them.
fn sample(
    quasi: &[Quasi<'_>],
    show: (&Distinct, &Counted),
    have: (&Distinct, &Counted),
    whole: bool,
) -> u64 {
    let ((boxes, show), (tuples, have)) = (show, have);
    let covers = |shown: u32, tuple: u32| {
        let (released, original) =
            (boxes.first[shown as usize] as usize, tuples.first[tuple as usize] as usize);
        quasi
            .iter()
            .all(|quasi| quasi.cover.covers(quasi.cells.get(released), quasi.values.get(original)))
    };
    let step = |all: &Counted, others: &Counted| {
        all.len().div_ceil((SAMPLE / others.len().max(1)).max(20)).max(1)
    };
    let short = show.iter().step_by(step(show, have)).map(|&(shown, rows)| {
        let room: u64 =
            have.iter().filter(|&&(tuple, _)| covers(shown, tuple)).map(|&(_, rows)| rows).sum();
        rows.saturating_sub(room)
    });
    let short: u64 = short.sum();
    let bare = have.iter().step_by(step(have, show)).filter(|_| whole);
    let bare: u64 = bare
        .filter(|&&(tuple, _)| !show.iter().any(|&(shown, _)| covers(shown, tuple)))
        .map(|&(_, rows)| rows)
        .sum();
    short.max(bare)
}

/// The same in each column alone: much weaker, and cheap at any size. The worst column counts.
fn column_by_column(
    quasi: &[Quasi<'_>],
    show: (&Distinct, &Counted),
    have: (&Distinct, &Counted),
    whole: bool,
) -> u64 {
    let worst = quasi.iter().map(|quasi| {
        let codes = |codes: &Codes, (all, counted): (&Distinct, &Counted)| {
            let mut list: Counted = counted
                .iter()
                .map(|&(at, rows)| (codes.get(all.first[at as usize] as usize), rows))
                .collect();
            list.sort_unstable();
            list.chunk_by(|a, b| a.0 == b.0)
                .map(|run| (run[0].0, run.iter().map(|(_, rows)| rows).sum()))
                .collect::<Counted>()
        };
        let shown = codes(&quasi.cells, show);
        let values = codes(quasi.values, have);
        let cells: Vec<u32> = shown.iter().map(|&(cell, _)| cell).collect();
        let (covered, reached) = quasi.cover.tally(&cells, &values);
        short_of(&shown, &values, &Found { covered, reached, edges: None }, whole)
    });
    worst.max().unwrap_or(0)
}
