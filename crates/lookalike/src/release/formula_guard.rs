//! The apostrophe that keeps a spreadsheet from running a text as a formula, as defined in
//! docs/format.md.
//!
//! A text of apostrophes and a formula gets one apostrophe more, so two different texts never
//! become the same, and a reader of the file removes exactly one.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::{ArrayRef, StringArray};

/// Guards the text cells of a release and counts the guarded ones.
#[derive(Debug)]
pub(crate) struct FormulaGuard {
    pub(crate) on: bool,
    cells: AtomicU64,
}

impl FormulaGuard {
    pub(crate) fn new(on: bool) -> FormulaGuard {
        FormulaGuard { on, cells: AtomicU64::new(0) }
    }

    /// The number of cells that got an apostrophe so far.
    pub(crate) fn cells(&self) -> u64 {
        self.cells.load(Ordering::Relaxed)
    }

    /// The cells as they are written.
    pub(crate) fn apply(&self, array: ArrayRef) -> ArrayRef {
        match array.as_any().downcast_ref::<StringArray>() {
            Some(texts) if self.on && texts.iter().flatten().any(is_guarded) => {
                let count = texts.iter().flatten().filter(|text| is_guarded(text)).count();
                self.cells.fetch_add(count as u64, Ordering::Relaxed);
                Arc::new(texts.iter().map(|cell| cell.map(guarded)).collect::<StringArray>())
            }
            _ => array,
        }
    }

    /// The name of a column as it is written.
    pub(crate) fn name<'a>(&self, name: &'a str) -> Cow<'a, str> {
        if self.on { guarded(name) } else { Cow::Borrowed(name) }
    }
}

/// A text as it is written.
pub(crate) fn guarded(text: &str) -> Cow<'_, str> {
    if is_guarded(text) { Cow::Owned(format!("'{text}")) } else { Cow::Borrowed(text) }
}

/// True for any number of apostrophes before a formula.
#[inline]
fn is_guarded(text: &str) -> bool {
    // The first byte decides for nearly every text.
    matches!(text.as_bytes().first(), Some(b'=' | b'@' | b'+' | b'-' | b'\'' | b'\t' | b'\r'))
        && is_formula(text.trim_start_matches('\''))
}

/// True for a text that a spreadsheet would run as a formula.
fn is_formula(text: &str) -> bool {
    match text.as_bytes().first() {
        Some(b'=' | b'@' | b'\t' | b'\r') => true,
        Some(b'+' | b'-') => {
            let rest = text[1..].trim_matches(' ');
            let is_number = rest.starts_with(|c: char| c.is_ascii_digit() || c == '.' || c == ',')
                && rest.replacen(',', ".", 1).parse::<f64>().is_ok();
            !(rest.is_empty() || is_number)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_guarded_numbers_are_not_and_different_cells_stay_different() {
        let cells = [
            "=1+1", "'=1+1", "@x", "-5", "+4.2", "-x", "'tis", "a=b", "'-5", "- 50000", "-", "--5",
            "", "-5,3", "-1,234.5",
        ];
        let guard = FormulaGuard::new(true);
        let written = guard.apply(Arc::new(StringArray::from(cells.to_vec())));
        let written: Vec<&str> =
            written.as_any().downcast_ref::<StringArray>().unwrap().iter().flatten().collect();
        let expected = [
            "'=1+1",
            "''=1+1",
            "'@x",
            "-5",
            "+4.2",
            "'-x",
            "'tis",
            "a=b",
            "'-5",
            "- 50000",
            "-",
            "'--5",
            "",
            "-5,3",
            "'-1,234.5",
        ];
        assert_eq!(written, expected);
        assert_eq!(guard.cells(), 6);
    }
}
