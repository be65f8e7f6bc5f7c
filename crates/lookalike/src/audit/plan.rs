//! The audit of a plan: the release of a table of counts, said piece by piece.
//!
//! A plan says for the rows of every tuple what is published for them. Its columns: the original
//! columns of the counts under their own names or `tuple` (the row of the counts, from 1), the
//! published ones after `published_`, `first_row` and `last_row` (which of the tuple's rows, counted
//! from 1, both included) and `suppressed`. Both
//! tables are read anew, and nothing of the plan is believed: each tuple must have pieces from 1 to
//! its count without gap or overlap, every published value must cover the original one, and the
//! rules are evaluated on the published values, each piece with the number of its rows.

use arrow_schema::DataType;

use super::coded;
use super::cover::Cover;
use super::guard::unguarded;
use super::plan_tuples::tuples;
use super::released_cell::cells;
use super::row_counts::{RowCounts, whole};
use super::source_check::{Finding, Method, SourceCheck, alike, number_together};
use super::surface::{QuasiColumns, surface};
use super::{Verdict, WholeDistribution, audit_part};
use crate::codes::{Codes, RowId};
use crate::error::{Error, Hint, Result};
use crate::request::{Request, Role};
use crate::table::{Coded, Column, Table, Treatment};

/// What the names of published columns begin with in a plan.
pub(super) const PUBLISHED: &str = "published_";
pub(super) const FIRST: &str = "first_row";
pub(super) const LAST: &str = "last_row";
pub(super) const SUPPRESSED: &str = "suppressed";
/// The row of the table of counts, where a plan has no original cells.
pub(super) const TUPLE: &str = "tuple";

/// The treatment of each column when a plan, or its table of counts, is read for an audit. Every
/// column is read: the original cells say which tuple a piece is of.
///
/// # Example
/// ```
/// use lookalike::{Request, audit::plan_treatments, table::Treatment};
///
/// let request = Request::parse("k = 2\ncount = 'n'\nrest = 'keep'\ncolumns.age.role = 'quasi'")?;
/// let names = ["age", "ward", "published_age", "first_row"].map(String::from);
/// use Treatment::{Code, Compare};
/// assert_eq!(plan_treatments(&names, &request), [Code, Compare, Code, Code]);
/// # Ok::<(), lookalike::Error>(())
/// ```
pub fn plan_treatments(names: &[String], request: &Request) -> Vec<Treatment> {
    let is_coded = |name: &str| {
        request.count.as_deref() == Some(name)
            || [FIRST, LAST, SUPPRESSED].contains(&name)
            || name.starts_with(PUBLISHED)
            || request
                .column(name)
                .is_some_and(|line| matches!(line.role, Role::Quasi | Role::Sensitive))
    };
    // Names may be guarded, which only the cells can show.
    let of = |name: &String| {
        if name == TUPLE && request.column(name).is_none() {
            Treatment::PassThrough
        } else if is_coded(name) || is_coded(unguarded(name)) {
            Treatment::Code
        } else {
            Treatment::Compare
        }
    };
    names.iter().map(of).collect()
}

/// The faults of a plan: numbers of pieces, and of tuples.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PlanFaults {
    /// Pieces of no tuple.
    pub(super) strange: u64,
    /// Pieces whose first row is behind their last.
    pub(super) reversed: u64,
    /// Pieces with a cell that does not cover its original.
    uncovered: u64,
    /// Pieces with another published cell in a passed-through column than the original.
    changed: u64,
    /// Suppressed pieces with a published cell.
    shown: u64,
    /// Tuples that the counts have more than once.
    pub(super) doubled: u64,
    /// Tuples whose pieces are not 1 to their count, without gap or overlap.
    pub(super) gaps: u64,
}

/// Which of a tuple's rows a piece is about, and whether they are published.
pub(super) struct Pieces {
    pub(super) first: Vec<u32>,
    pub(super) last: Vec<u32>,
    is_suppressed: Vec<bool>,
}

impl Pieces {
    fn read(plan: &Table) -> Result<Pieces> {
        Ok(Pieces {
            first: each(plan, FIRST, "a whole number from 1", whole)?,
            last: each(plan, LAST, "a whole number from 1", whole)?,
            is_suppressed: each(plan, SUPPRESSED, "true or false", |text| match text {
                "true" => Some(true),
                "false" => Some(false),
                _ => None,
            })?,
        })
    }

    /// The number of rows of a piece, at least 1.
    fn rows(&self, piece: usize) -> u32 {
        (self.last[piece].saturating_sub(self.first[piece])).saturating_add(1)
    }
}

/// The cells of a column of the plan, each read from its text.
fn each<T: Copy>(
    plan: &Table,
    name: &str,
    form: &str,
    read: impl Fn(&str) -> Option<T>,
) -> Result<Vec<T>> {
    let column = coded(plan, name)?;
    let mut values = Vec::with_capacity(column.values().len());
    for (text, &row) in column.values().iter().zip(column.first_row()) {
        values.push(text.as_deref().and_then(&read).ok_or_else(|| {
            let reason = format!("the cell of the plan is not {form}");
            Error::data("not-a-plan", reason).at_row(name, row)
        })?);
    }
    Ok(column.codes().iter().map(|code| values[code as usize]).collect())
}

pub(super) fn check(
    plan: &Table,
    counts: &Table,
    request: &Request,
    whole: &[WholeDistribution],
) -> Result<Verdict> {
    if request.count.is_none() {
        let reason = "a plan is of a table of counts";
        return Err(Error::request("no-count", reason).hint(Hint::NameCount));
    }
    if plan.rows() == 0 {
        return Err(Error::data("no-rows", "the plan has no rows: there is nothing to check"));
    }
    number_together(plan, counts)?;
    let row_counts = RowCounts::new(counts, request)?;
    let pieces = Pieces::read(plan)?;
    let mut faults = PlanFaults::default();
    let tuple = tuples(plan, counts, request, &row_counts, &pieces, &mut faults)?;
    let released = released(plan, counts, request, (&tuple, &pieces))?;
    let quasi = surface(&released, request)?.quasi;
    cover(plan, counts, request, &quasi, (&tuple, &pieces), &mut faults)?;
    let mut verdict = audit_part(&released, request, whole)?;
    let rows = |is_suppressed: bool| {
        let of = (0..plan.rows()).filter(|&piece| pieces.is_suppressed[piece] == is_suppressed);
        of.map(|piece| u64::from(pieces.rows(piece))).sum::<u64>()
    };
    let (suppressed, all) = (rows(true), row_counts.total);
    let mut truth = SourceCheck {
        suppressed,
        suppression_allowed: request.suppress()?.at_least_share(suppressed, all),
        cells_checked: Method::PieceByPiece,
        rows_matched: 0,
        rows_undecided: 0,
        violations: 0,
        carried_unchanged: true,
        statements: Vec::new(),
    };
    state(&mut truth, faults, (suppressed, all));
    truth.rows_matched = if truth.violations == 0 { rows(false) } else { 0 };
    verdict.truth = Some(truth);
    Ok(verdict)
}

/// The table that the plan publishes: the pieces that are not suppressed, each with the number of
/// its rows in the count column.
fn released(
    plan: &Table,
    counts: &Table,
    request: &Request,
    (tuple, pieces): (&[Option<RowId>], &Pieces),
) -> Result<Table> {
    let shown: Vec<usize> =
        (0..plan.rows()).filter(|&piece| !pieces.is_suppressed[piece]).collect();
    let column = |name: &str, coded: &Coded, row: &dyn Fn(usize) -> usize| {
        let codes: Codes = shown.iter().map(|&piece| coded.codes().get(row(piece))).collect();
        // The rows of the plan are named in messages.
        let parts = (coded.values().to_vec(), coded.first_row().to_vec());
        let coded = Some(Coded::from_parts(parts.0, parts.1, codes));
        Column { name: name.to_string(), data_type: DataType::Utf8, coded, passthrough: None }
    };
    let mut columns = Vec::new();
    for (name, line) in &request.columns {
        if line.role == Role::Sensitive {
            // A piece that names its tuple by number has the cells of the tuple; one of no tuple is
            // a fault, whatever its cells are.
            let of_tuple = |piece: usize| tuple[piece].map_or(0, |row| row as usize);
            columns.push(match plan.column(name) {
                Some(_) => column(name, coded(plan, name)?, &|piece| piece),
                None => column(name, coded(counts, name)?, &of_tuple),
            });
        }
    }
    for original in plan.columns() {
        let Some(name) = original.name.strip_prefix(PUBLISHED) else { continue };
        // A passed-through column is compared with its original.
        let is_new = columns.iter().all(|column| column.name != name);
        if is_new && request.count.as_deref() != Some(name) {
            columns.push(column(name, coded(plan, &original.name)?, &|piece| piece));
        }
    }
    let texts: Vec<String> = shown.iter().map(|&piece| pieces.rows(piece).to_string()).collect();
    let counted = Coded::from_cells(texts.iter().map(|text| Some(text.as_str())));
    columns.push(column_of_counts(request, counted));
    Ok(Table::new(columns, shown.len()))
}

fn column_of_counts(request: &Request, counted: Coded) -> Column {
    Column {
        name: request.count.clone().unwrap_or_default(),
        data_type: DataType::Int64,
        coded: Some(counted),
        passthrough: None,
    }
}

/// Notes pieces whose published cells do not cover the originals, differ from the originals where
/// they are passed through, or are there although the piece is suppressed.
fn cover(
    plan: &Table,
    counts: &Table,
    request: &Request,
    quasi: &[QuasiColumns],
    (tuple, pieces): (&[Option<RowId>], &Pieces),
    faults: &mut PlanFaults,
) -> Result<()> {
    let mut is_uncovered = vec![false; plan.rows()];
    let mut is_changed = vec![false; plan.rows()];
    let mut is_shown = vec![false; plan.rows()];
    let shown = || {
        (0..plan.rows())
            .filter(|&piece| !pieces.is_suppressed[piece])
            .filter_map(|piece| Some((piece, tuple[piece]? as usize)))
    };
    for columns in quasi {
        let name = columns.name();
        let line = request
            .column(name)
            .ok_or_else(|| Error::request("no-role", format!("column `{name}` has no role")))?;
        let original = coded(counts, name)?;
        let columns = in_plan(columns);
        let (cells, texts) = cells(&columns, plan)?;
        let cover = Cover::new(original, &texts, line, &request.missing)?;
        for (piece, row) in shown() {
            is_uncovered[piece] |= !cover.covers(cells.get(piece), original.codes().get(row));
        }
    }
    for column in plan.columns() {
        let Some(name) = column.name.strip_prefix(PUBLISHED) else { continue };
        let published = coded(plan, &column.name)?;
        let is_there: Vec<bool> = published.values().iter().map(Option::is_some).collect();
        for piece in (0..plan.rows()).filter(|&piece| pieces.is_suppressed[piece]) {
            is_shown[piece] |= is_there[published.codes().get(piece) as usize];
        }
        let is_quasi = request.column(name).is_some_and(|line| line.role == Role::Quasi);
        if let Some(original) = counts.column(name).filter(|_| !is_quasi) {
            let both = alike(column, original, request)?;
            for (piece, row) in shown() {
                is_changed[piece] |= both.in_release(piece) != both.in_source(row);
            }
        }
    }
    let number = |faulty: &[bool]| faulty.iter().filter(|&&faulty| faulty).count() as u64;
    faults.uncovered = number(&is_uncovered);
    faults.changed = number(&is_changed);
    faults.shown = number(&is_shown);
    Ok(())
}

/// The columns of a quasi-identifier under their names in the plan.
fn in_plan(columns: &QuasiColumns) -> QuasiColumns {
    let named = |name: &String| format!("{PUBLISHED}{name}");
    match columns {
        QuasiColumns::Label(name) => QuasiColumns::Label(named(name)),
        QuasiColumns::Bounds { name, min, max, center, missing } => QuasiColumns::Bounds {
            name: name.clone(),
            min: named(min),
            max: named(max),
            center: center.as_ref().map(named),
            missing: missing.as_ref().map(named),
        },
    }
}

fn state(truth: &mut SourceCheck, faults: PlanFaults, (suppressed, all): (u64, u64)) {
    let allowed = truth.suppression_allowed;
    truth.state(
        if allowed { Finding::Ok } else { Finding::Broken },
        match suppressed {
            0 => "no row was suppressed".to_string(),
            _ if allowed => {
                format!(
                    "{suppressed} of {all} rows are suppressed, within the limit of the request"
                )
            }
            _ => format!("{suppressed} of {all} rows are suppressed, more than the request allows"),
        },
    );
    let broken = [
        (faults.strange, "pieces are of tuples that the table of counts does not have"),
        (faults.doubled, "tuples are in the table of counts more than once"),
        (faults.reversed, "pieces have a first row behind their last"),
        (faults.gaps, "tuples are not cut into pieces from 1 to their count"),
        (faults.uncovered, "pieces have a published value that does not cover the original"),
        (faults.shown, "suppressed pieces have a published value"),
    ];
    for (number, text) in broken.into_iter().filter(|&(number, _)| number > 0) {
        truth.violations += number;
        truth.state(Finding::Broken, format!("{number} {text}"));
    }
    if faults.changed > 0 {
        truth.violations += faults.changed;
        truth.reject(format!(
            "{} pieces have another value than the original in a column that is passed through",
            faults.changed
        ));
    }
    if truth.violations == 0 {
        truth.state(
            Finding::Ok,
            "every tuple is cut into pieces from 1 to its count, and every published value covers \
             the original",
        );
    }
}
