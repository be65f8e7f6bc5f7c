//! For how many rows each row of a table stands: the audit's own reading of the count column.

use super::coded;
use crate::codes::Codes;
use crate::error::{Error, Result};
use crate::request::Request;
use crate::table::Table;

/// The counts of a table's rows; each row stands for itself where there is no count column.
#[derive(Debug)]
pub(super) struct RowCounts<'a> {
    /// The codes of the count column and the number that each code spells.
    column: Option<(&'a Codes, Vec<u32>)>,
    /// The sum of all counts.
    pub(super) total: u64,
}

impl<'a> RowCounts<'a> {
    /// Each row of a table stands for itself.
    pub(super) fn single(rows: usize) -> RowCounts<'a> {
        RowCounts { column: None, total: rows as u64 }
    }

    /// Reads the count column.
    ///
    /// # Errors
    /// When the table lacks it, a cell of it is no whole number from 1, or the sum has more than 32
    /// bits.
    pub(super) fn new(table: &'a Table, request: &Request) -> Result<RowCounts<'a>> {
        let Some(name) = &request.count else { return Ok(RowCounts::single(table.rows())) };
        let column = coded(table, name)?;
        let mut counts = Vec::with_capacity(column.values().len());
        for (text, &row) in column.values().iter().zip(column.first_row()) {
            let count = text.as_deref().and_then(whole).ok_or_else(|| {
                let reason = "the cell is no count; a count is a whole number from 1";
                Error::data("not-a-count", reason).at_row(name, row)
            })?;
            counts.push(count);
        }
        let total = column.codes().iter().map(|code| u64::from(counts[code as usize])).sum();
        if total > u64::from(u32::MAX) {
            let reason =
                format!("the counts of column `{name}` add up to more than 4,294,967,295 rows");
            return Err(Error::data("too-many-rows", reason).about_column(name));
        }
        Ok(RowCounts { column: Some((column.codes(), counts)), total })
    }

    /// The number of rows that a row stands for, at least 1.
    #[inline]
    pub(super) fn of(&self, row: usize) -> u32 {
        match &self.column {
            None => 1,
            Some((codes, counts)) => counts[codes.get(row) as usize],
        }
    }

    pub(super) fn is_counted(&self) -> bool {
        self.column.is_some()
    }
}

/// The whole number from 1 that a text spells in digits.
pub(super) fn whole(text: &str) -> Option<u32> {
    let mut number = 0u32;
    for byte in text.trim().bytes() {
        let digit = byte.checked_sub(b'0').filter(|digit| *digit < 10)?;
        number = number.checked_mul(10)?.checked_add(u32::from(digit))?;
    }
    (number > 0).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_from_one_are_read_and_nothing_else() {
        for (text, number) in
            [("1", 1), (" 20 ", 20), ("007", 7), ("4294967295", u32::MAX), ("10", 10)]
        {
            assert_eq!(whole(text), Some(number), "{text}");
        }
        for text in
            ["", " ", "0", "000", "-1", "+1", "1.0", "1e3", "1 000", "4294967296", "x", "1x", "٣"]
        {
            assert_eq!(whole(text), None, "{text}");
        }
    }
}
