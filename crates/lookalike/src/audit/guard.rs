//! The apostrophe before formulas, as defined in docs/format.md: removed from the texts of a
//! released text file, and of no other table.

use arrow_array::{Array, StringArray};

use crate::table::Table;

/// Removes the formula guards of a release that was read from a text file: every text of
/// apostrophes and a formula loses one apostrophe, column names too.
///
/// Not for a release with raw formulas, for Parquet or Arrow files or for sources: they have no
/// guards. A file in which any text is a bare formula was not guarded either and is not changed.
/// Passed-through cells that are not coded are not changed.
pub fn unguard(table: &mut Table) {
    let coded = |table: &Table| {
        table
            .columns()
            .iter()
            .filter_map(|column| column.coded.as_ref())
            .any(|coded| coded.values().iter().flatten().any(|t| is_bare(t)))
    };
    let passthrough = |table: &Table| {
        // Coded columns were checked above.
        let arrays = table
            .columns()
            .iter()
            .filter(|column| column.coded.is_none())
            .flat_map(|column| column.passthrough.iter().flatten());
        arrays
            .filter_map(|array| array.as_any().downcast_ref::<StringArray>())
            .any(|texts| texts.iter().flatten().any(is_bare))
    };
    if table.columns().iter().any(|column| is_bare(&column.name))
        || coded(table)
        || passthrough(table)
    {
        return;
    }
    for column in table.columns_mut() {
        remove_guard(&mut column.name);
        column
            .coded
            .iter_mut()
            .flat_map(|coded| coded.values_mut())
            .flatten()
            .for_each(remove_guard);
    }
}

fn remove_guard(text: &mut String) {
    if unguarded(text).len() < text.len() {
        text.remove(0);
    }
}

/// The text without its guard, if it has one.
pub(super) fn unguarded(text: &str) -> &str {
    match text.strip_prefix('\'') {
        Some(rest) if is_bare(rest.trim_start_matches('\'')) => rest,
        _ => text,
    }
}

/// True for a formula without any apostrophe before it.
#[inline]
fn is_bare(text: &str) -> bool {
    match text.as_bytes().first() {
        Some(b'=' | b'@' | b'\t' | b'\r') => true,
        Some(b'+' | b'-') => {
            let rest = text[1..].trim_matches(' ');
            !rest.is_empty() && !is_amount(rest)
        }
        _ => false,
    }
}

/// Digits, at most one point or comma among them, and perhaps an exponent.
fn is_amount(text: &str) -> bool {
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, part) = mantissa.split_once(['.', ',']).unwrap_or((mantissa, ""));
    let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    digits(whole)
        && digits(part)
        && !(whole.is_empty() && part.is_empty())
        && digits(exponent)
        && !exponent.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_apostrophe_is_removed_from_formulas_and_only_there() {
        for (written, cell) in
            [("'=1+1", "=1+1"), ("''=1+1", "'=1+1"), ("'@x", "@x"), ("'-x", "-x"), ("'- x", "- x")]
        {
            assert_eq!(unguarded(written), cell);
        }
        for text in ["'-5", "'- 5", "'-", "'tis", "''", "=1", "'a=b", "'+.5e3", "'-5.", ""] {
            assert_eq!(unguarded(text), text);
        }
    }

    #[test]
    fn amounts_are_the_numbers_that_rust_reads_without_a_sign() {
        for text in [
            "5", "5.", ".5", "5.5", "5e3", "5.e-3", ".5E+3", ".", "", "e5", "5e", "5e+", "1.2.3",
            "0x1", "1_0", "5 0", "1e999",
        ] {
            assert_eq!(is_amount(text), text.parse::<f64>().is_ok(), "{text}");
        }
        assert!(!is_amount("inf") && !is_amount("nan") && !is_amount("-5"));
    }
}
