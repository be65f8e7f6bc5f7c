//! The person of each row, for counts of persons. All texts that mean missing are one value of a key:
//! rows without any key are then one person, which is the safe count.

use crate::audit::{Fold, present};
use crate::request::Request;
use crate::table::{Coded, Table};

/// For each row the number of its person, by the key or by pseudonyms; none without them, and where
/// the table was not read with them.
pub(super) fn person_of_row(table: &Table, request: &Request) -> Option<Vec<u32>> {
    let of = |key: &[String]| by_key(table, key, &request.missing);
    of(&request.person_key()).or_else(|| of(&[request.pseudonym_column()?]))
}

fn by_key(table: &Table, key: &[String], missing: &[String]) -> Option<Vec<u32>> {
    let columns: Option<Vec<&Coded>> =
        key.iter().map(|name| table.column(name)?.coded.as_ref()).collect();
    let columns = columns.filter(|columns| !columns.is_empty())?;
    // For each column the number of each value, 0 for a missing one.
    let numbers = |column: &&Coded| -> Vec<u32> {
        let number = |(at, text): (u32, &Option<String>)| {
            present(text.as_deref(), missing).map_or(0, |_| at)
        };
        (1u32..).zip(column.values()).map(number).collect()
    };
    let numbers: Vec<Vec<u32>> = columns.iter().map(numbers).collect();
    let folded: Vec<_> = columns
        .iter()
        .zip(&numbers)
        .map(|(column, numbers)| {
            let number = move |row: usize| numbers[column.codes().get(row) as usize];
            (numbers.len() + 1, number)
        })
        .collect();
    let mut fold = Fold::new(table.rows());
    fold.refine(&folded);
    Some(fold.finish().of)
}
