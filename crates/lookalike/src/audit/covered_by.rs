//! How many rows of another table the cells of a table cover: a sample, or a release of one, beside
//! its population.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::coded;
use super::column_order::column_order;
use super::cover::{Cover, Covered};
use super::join::{CombinationCounts, Combinations, Join, Quasi, combinations, count_combinations};
use super::released_cell::cells;
use super::row_counts::RowCounts;
use super::surface::{QuasiColumns, surface};
use super::tuple_index::TupleIndex;
use crate::codes::{Codes, RowId};
use crate::error::Result;
use crate::request::{ColumnRequest, Request, Role};
use crate::table::Table;

/// Rows of a population that combinations cover.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CoveredRows {
    /// For each combination the rows that it covers, by their counts.
    pub(crate) covered: Vec<u64>,
    /// All rows of the population, by their counts.
    pub(crate) persons: u64,
}

/// The most tests of cells, or looks at nodes and tuples of an index: about a minute.
const STEPS: u64 = 4_000_000_000;

/// The quasi-identifiers of a table whose cells cover values of another one.
fn joined<'a>(
    table: &'a Table,
    population: &'a Table,
    surface: &[QuasiColumns],
    request: &Request,
) -> Result<Vec<Quasi<'a>>> {
    let mut quasi = Vec::with_capacity(surface.len());
    for columns in surface {
        let name = columns.name();
        let values = coded(population, name)?;
        let (codes, texts) = cells(columns, table)?;
        let plain = ColumnRequest::new(Role::Quasi);
        let column = request.column(name).unwrap_or(&plain);
        quasi.push(Quasi {
            distinct_cells: texts.len(),
            cover: Cover::new(values, &texts, column, &request.missing)?,
            cells: codes,
            values: values.codes(),
            distinct_values: values.values().len(),
        });
    }
    Ok(quasi)
}

/// For each of these rows of a release a row of the source that its cells cover; none where there is
/// none. It is one of those that the released row could be.
///
/// # Errors
/// As [`audit_against`](super::audit_against).
pub fn covered_rows(
    release: &Table,
    rows: &[usize],
    source: &Table,
    request: &Request,
) -> Result<Vec<Option<usize>>> {
    let surface = surface(release, request)?;
    let quasi = joined(release, source, &surface.quasi, request)?;
    let of_row = |&row: &usize| {
        let is_covered = |at: &usize| {
            let covers =
                |quasi: &Quasi<'_>| quasi.cover.covers(quasi.cells.get(row), quasi.values.get(*at));
            quasi.iter().all(covers)
        };
        (0..source.rows()).into_par_iter().find_first(is_covered)
    };
    Ok(rows.iter().map(of_row).collect())
}

/// For each of these rows of a table, which have different combinations, how many rows of the
/// population its cells cover; none when that takes too long.
pub(crate) fn covered_by(
    table: &Table,
    rows: &[RowId],
    population: &Table,
    request: &Request,
) -> Result<Option<CoveredRows>> {
    let surface = surface(table, request)?;
    let counts = match &request.count {
        Some(name) if population.column(name).is_some() => RowCounts::new(population, request)?,
        _ => RowCounts::new(population, &Request::default())?,
    };
    let mut quasi = joined(table, population, &surface.quasi, request)?;
    // The column with the most values first: it rules out the most.
    quasi.sort_by_key(|quasi| std::cmp::Reverse(quasi.distinct_values));
    let columns: Vec<(&Codes, usize)> =
        quasi.iter().map(|quasi| (quasi.values, quasi.distinct_values)).collect();
    let tuples = combinations(&columns, population.rows());
    let of_row = tuples.of.iter().enumerate().map(|(row, &tuple)| (tuple, counts.of(row)));
    let tuple_counts = count_combinations(of_row, tuples.first.len());
    let persons = tuple_counts.iter().map(|&(_, rows)| rows).sum();
    let covered = if is_exact(&quasi) {
        by_join(&quasi, rows, table.rows(), &tuples, &tuple_counts)
    } else {
        by_index(&quasi, rows, &tuples.first, &tuple_counts)
    };
    Ok(covered.map(|covered| CoveredRows { covered, persons }))
}

/// True when every cell covers at most one value, in whatever spellings: a source.
fn is_exact(quasi: &[Quasi<'_>]) -> bool {
    quasi.iter().all(|quasi| {
        let is_one = |cell: &Covered| {
            !cell.everything && cell.hi.saturating_sub(cell.lo) <= 1 && cell.list.len() <= 1
        };
        quasi.cover.cells.iter().all(is_one)
    })
}

/// Column by column: few cells cover a value.
fn by_join(
    quasi: &[Quasi<'_>],
    rows: &[RowId],
    all_rows: usize,
    tuples: &Combinations,
    tuple_counts: &CombinationCounts,
) -> Option<Vec<u64>> {
    let columns: Vec<(&Codes, usize)> =
        quasi.iter().map(|quasi| (&*quasi.cells, quasi.distinct_cells)).collect();
    let boxes = combinations(&columns, all_rows);
    let of_row = rows.iter().map(|&row| (boxes.of[row as usize], 1));
    let box_counts = count_combinations(of_row, boxes.first.len());
    let mut join = Join { quasi, boxes: &boxes, tuples, tests: STEPS, edges: 0 };
    let found = join.pairs(&box_counts, tuple_counts)?;
    let mut covered = vec![0; boxes.first.len()];
    for (&(at, _), &rows) in box_counts.iter().zip(&found.covered) {
        covered[at as usize] = rows;
    }
    Some(rows.iter().map(|&row| covered[boxes.of[row as usize] as usize]).collect())
}

/// Box by box, by an index over the tuples of the population.
fn by_index(
    quasi: &[Quasi<'_>],
    rows: &[RowId],
    first: &[RowId],
    tuple_counts: &CombinationCounts,
) -> Option<Vec<u64>> {
    let orders: Vec<_> = quasi.iter().map(|quasi| column_order(&quasi.cover)).collect();
    let index = TupleIndex::new(quasi, &orders, first, rows);
    let everything = index.everything();
    let spent = AtomicU64::new(0);
    let of_box = |&row: &RowId| {
        let Some(query) = index.query(row as usize) else { return Some(0) };
        let mut covered = 0;
        let steps = index.covered(&query, &everything, |tuple| {
            covered += tuple_counts[index.tuple[tuple as usize] as usize].1;
            ControlFlow::Continue(())
        });
        (spent.fetch_add(steps, Ordering::Relaxed) <= STEPS).then_some(covered)
    };
    rows.par_iter().map(of_box).collect()
}
