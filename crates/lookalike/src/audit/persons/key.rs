//! The person of each row, by the columns that name it.

use crate::audit::classes::{Fold, RowClasses};
use crate::audit::coded;
use crate::audit::reading::present;
use crate::error::{Error, Result};
use crate::table::Table;

/// The person of every row; persons are numbered by their first row. Two rows are of one person
/// when they have the same texts in all these columns; a missing cell is a text of its own.
///
/// # Errors
/// When a column is absent, or a row has a missing cell in every column: it has no person.
pub(super) fn persons_of(
    table: &Table,
    columns: &[String],
    missing: &[String],
) -> Result<RowClasses> {
    // For each column the number of each code, 0 for a missing cell.
    let mut numbered = Vec::with_capacity(columns.len());
    for name in columns {
        let coded = coded(table, name)?;
        let number = |(at, cell): (u32, &Option<String>)| {
            present(cell.as_deref(), missing).map_or(0, |_| at)
        };
        numbered.push((coded, (1u32..).zip(coded.values()).map(number).collect::<Vec<u32>>()));
    }
    let number = |at: usize, row: usize| {
        let (coded, numbers) = &numbered[at];
        numbers[coded.codes().get(row) as usize]
    };
    let is_nobody = |row: &usize| (0..columns.len()).all(|at| number(at, *row) == 0);
    if let Some(row) = (0..table.rows()).find(is_nobody) {
        let reason = "the row has no person: its cells of the person key are missing";
        return Err(Error::data("no-person", reason).at_row(&columns[0], row as u64));
    }
    let folded: Vec<_> = (0..columns.len())
        .map(|at| (numbered[at].1.len() + 1, move |row: usize| number(at, row)))
        .collect();
    let mut fold = Fold::new(table.rows());
    fold.refine(&folded);
    Ok(fold.finish())
}
