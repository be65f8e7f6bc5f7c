//! The truth along origins: released rows, source rows, and how many rows each pair stands for.
//!
//! As [`along`](crate::audit::along), which knows single rows only. A released row may stand for
//! parts of several source rows here; then the counts of both sides must add up.
//!
//! # Complexity
//! Linear in the cells. Beyond the tables it takes a byte for each origin and eight for each row.

use rayon::prelude::*;

use super::Origin;
use crate::audit::along::{OriginFaults, conclude};
use crate::audit::row_counts::RowCounts;
use crate::audit::source_check::{Finding, Method, Passthrough, Sides, SourceCheck, sides};
use crate::error::{Error, Result};
use crate::request::{Order, Request};
use crate::table::Table;

/// Refuses origins that name a row that is in neither table, or stand for no row.
pub(super) fn refuse_others(origins: &[Origin], release: &Table, source: &Table) -> Result<()> {
    let (rows, source_rows) = (release.rows(), source.rows());
    let is_other = |origin: &&Origin| {
        origin.released as usize >= rows || origin.source as usize >= source_rows
    };
    let why = if let Some(origin) = origins.iter().find(is_other) {
        format!(
            "the origins name released row {} and source row {}, and the tables have {rows} and \
             {source_rows} rows: they belong to another release",
            u64::from(origin.released) + 1,
            u64::from(origin.source) + 1
        )
    } else if origins.iter().any(|origin| origin.count == 0) {
        "an origin stands for no row: the origins belong to no release".to_string()
    } else {
        return Ok(());
    };
    Err(Error::data("other-origins", why))
}

/// A cell of a passed-through column was changed.
const CHANGED: u8 = 1;
/// A cell does not cover the value of its origin.
const UNCOVERED: u8 = 2;
/// The origin is no row of its own, or is out of order.
const MISPLACED: u8 = 4;

/// Compares the cells along the origins, and adds up the counts.
pub(super) fn check(
    release: &Table,
    source: &Table,
    request: &Request,
    origins: &[Origin],
) -> Result<SourceCheck> {
    let Sides { mut truth, row_counts, passthrough, quasi } = sides(release, source, request)?;
    let same = |column: &Passthrough<'_>, row: usize, at: usize| {
        column.in_release(row) == column.in_source(at)
    };
    let of_origin = |origin: &Origin| {
        let (row, at) = (origin.released as usize, origin.source as usize);
        let is_same = passthrough.iter().all(|column| same(column, row, at));
        let covers = |quasi: &crate::audit::join::Quasi<'_>| {
            quasi.cover.covers(quasi.cells.get(row), quasi.values.get(at))
        };
        let is_covered = quasi.iter().all(covers);
        (if is_same { 0 } else { CHANGED }) | (if is_covered { 0 } else { UNCOVERED })
    };
    let cells: Vec<u8> = origins.par_iter().map(of_origin).collect();
    let faults = of_rows((release, source), origins, &cells, &row_counts, request.output.order);
    let mut found = OriginFaults::default();
    for (row, &fault) in faults.iter().enumerate() {
        let rows = |kind: u8| if fault & kind > 0 { u64::from(row_counts.0.of(row)) } else { 0 };
        found = found.plus(OriginFaults {
            origin: rows(MISPLACED),
            changed: rows(CHANGED),
            uncovered: rows(UNCOVERED),
            any: rows(MISPLACED | CHANGED | UNCOVERED),
        });
    }
    truth.cells_checked = Method::AlongOrigins;
    truth.violations = found.any;
    truth.rows_matched = row_counts.0.total - found.any;
    if found.origin > 0 {
        let rows = found.origin;
        let text = format!(
            "for {rows} released rows the recorded origins are no source rows of their own: one is \
             missing, was used before, is out of order, or their counts do not add up"
        );
        truth.state(Finding::Broken, text);
    }
    conclude(&mut truth, OriginFaults { origin: 0, ..found });
    Ok(truth)
}

/// The faults of each released row.
fn of_rows(
    (release, source): (&Table, &Table),
    origins: &[Origin],
    cells: &[u8],
    row_counts: &(RowCounts<'_>, RowCounts<'_>),
    order: Order,
) -> Vec<u8> {
    let mut faults = vec![0; release.rows()];
    let mut stands_for = vec![0u64; release.rows()];
    let mut used = vec![0u64; source.rows()];
    let mut source_of = vec![0; if order == Order::Input { release.rows() } else { 0 }];
    for (origin, cells) in origins.iter().zip(cells) {
        let (row, at) = (origin.released as usize, origin.source as usize);
        used[at] += u64::from(origin.count);
        stands_for[row] += u64::from(origin.count);
        let is_overused = used[at] > u64::from(row_counts.1.of(at));
        faults[row] |= cells | if is_overused { MISPLACED } else { 0 };
        if order == Order::Input {
            source_of[row] = at;
        }
    }
    for (row, &rows) in stands_for.iter().enumerate() {
        let is_disordered =
            order == Order::Input && row > 0 && source_of[row - 1] >= source_of[row];
        if rows != u64::from(row_counts.0.of(row)) || is_disordered {
            faults[row] |= MISPLACED;
        }
    }
    faults
}
