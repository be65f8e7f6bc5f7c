//! The comparison along origins: whoever made the release says for each released row which source
//! row it was made from. Nothing of that is believed; with it, nothing has to be searched for.
//!
//! Where all of it holds, the origins are a match of released rows with source rows: a release that
//! passes here passes by matching too.
//!
//! # Complexity
//! Linear in the cells. Beyond the tables it takes a bit for each source row.

use rayon::prelude::*;

use super::source_check::{Finding, Method, Passthrough, Sides, SourceCheck, sides};
use crate::codes::RowId;
use crate::error::{Error, Result};
use crate::request::{Order, Request};
use crate::table::Table;

/// The faults of one released row, or the numbers of rows with each of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct OriginFaults {
    /// Its origin is no row of the source, is the origin of another row before it, or is not in the
    /// order that was asked for.
    pub(super) origin: u64,
    /// Another cell than its origin in a passed-through column.
    pub(super) changed: u64,
    /// A cell that does not cover the value of its origin.
    pub(super) uncovered: u64,
    /// At least one of these.
    pub(super) any: u64,
}

impl OriginFaults {
    pub(super) fn plus(self, other: OriginFaults) -> OriginFaults {
        OriginFaults {
            origin: self.origin + other.origin,
            changed: self.changed + other.changed,
            uncovered: self.uncovered + other.uncovered,
            any: self.any + other.any,
        }
    }
}

pub(super) fn check(
    release: &Table,
    source: &Table,
    request: &Request,
    origin: &[RowId],
) -> Result<SourceCheck> {
    if origin.len() != release.rows() {
        let (origins, rows) = (origin.len(), release.rows());
        let reason = format!(
            "there are {origins} origins for {rows} released rows: they belong to another release"
        );
        return Err(Error::data("other-origins", reason));
    }
    if request.count.is_some() {
        return Err(Error::request(
            "counted-origins",
            "origins are of single rows: tables with a count column are compared without them",
        ));
    }
    let Sides { mut truth, passthrough, quasi, .. } = sides(release, source, request)?;
    let misplaced = misplaced(origin, source.rows(), request.output.order);
    let same = |column: &Passthrough<'_>, row: usize, at: usize| {
        column.in_release(row) == column.in_source(at)
    };
    let of_row = |row: usize| {
        let at = origin[row] as usize;
        let has_origin = at < source.rows();
        let changed = has_origin && !passthrough.iter().all(|column| same(column, row, at));
        let covered = !has_origin
            || quasi
                .iter()
                .all(|quasi| quasi.cover.covers(quasi.cells.get(row), quasi.values.get(at)));
        let origin = misplaced[row / 64] >> (row % 64) & 1 == 1;
        OriginFaults {
            origin: u64::from(origin),
            changed: u64::from(changed),
            uncovered: u64::from(!covered),
            any: u64::from(origin || changed || !covered),
        }
    };
    let faults = (0..release.rows())
        .into_par_iter()
        .map(of_row)
        .reduce(OriginFaults::default, OriginFaults::plus);
    truth.cells_checked = Method::AlongOrigins;
    truth.violations = faults.any;
    truth.rows_matched = release.rows() as u64 - faults.any;
    conclude(&mut truth, faults);
    Ok(truth)
}

/// A bit for each released row whose origin cannot be its own: no row of the source, the origin of
/// an earlier row, or in the order of the source one that is not behind the one before.
fn misplaced(origin: &[RowId], source_rows: usize, order: Order) -> Vec<u64> {
    let mut used = vec![0u64; source_rows.div_ceil(64)];
    let mut misplaced = vec![0u64; origin.len().div_ceil(64)];
    for (row, &at) in origin.iter().enumerate() {
        let at = at as usize;
        let disordered = order == Order::Input && row > 0 && origin[row - 1] as usize >= at;
        let taken = at >= source_rows || used[at / 64] >> (at % 64) & 1 == 1;
        if !taken {
            used[at / 64] |= 1 << (at % 64);
        }
        if taken || disordered {
            misplaced[row / 64] |= 1 << (row % 64);
        }
    }
    misplaced
}

pub(super) fn conclude(truth: &mut SourceCheck, faults: OriginFaults) {
    if faults.origin > 0 {
        truth.state(
            Finding::Broken,
            format!(
                "for {} released rows the recorded origin is no source row of their own: it is \
                 not in the source, was used before, or is out of order",
                faults.origin
            ),
        );
    }
    if faults.changed > 0 {
        truth.reject(format!(
            "{} released rows do not have the other cells of the source row that they were made \
             from",
            faults.changed
        ));
    }
    if faults.uncovered > 0 {
        truth.state(
            Finding::Broken,
            format!(
                "{} released rows do not cover the source row that they were made from",
                faults.uncovered
            ),
        );
    }
    if faults.any == 0 {
        truth.state(
            Finding::Ok,
            "row by row along the origins that the run recorded: every released row covers a \
             source row of its own and has its other cells",
        );
    }
}
