//! Rows that are unique on the columns published unchanged, in words: `anonymize` and `check`.

use lookalike::evaluate::uniqueness::UniqueRows;
use lookalike_report::words::{MANY_UNIQUE, UNIQUE_MEANING, ratio, unchanged_columns};

use crate::show::{clean, count, counted, percent};

/// So many columns are named with their own unique rows.
const NAMED: usize = 3;

/// The numbers in lines of a summary; `rows` rows are in the release, or in the table that is
/// measured.
pub(crate) fn lines(found: &UniqueRows, rows: u64) -> String {
    let columns = unchanged_columns(found);
    let share = |part: u64, whole: u64| percent(ratio(part, whole));
    let mut lines = vec![format!(
        "{} of {} ({}) are unique on {columns} published unchanged",
        count(found.together),
        counted(found.rows, "row", "rows"),
        percent(found.share()),
    )];
    let mut alone: Vec<_> = found.alone.iter().filter(|alone| alone.unique > 0).collect();
    alone.sort_by_key(|alone| std::cmp::Reverse(alone.unique));
    if found.alone.len() > 1 && !alone.is_empty() {
        let of = |alone: &&&lookalike::evaluate::uniqueness::UniqueAlone| {
            let (unique, share) = (count(alone.unique), share(alone.unique, found.rows));
            format!("{} {unique} ({share})", alone.column)
        };
        let named: Vec<String> = alone.iter().take(NAMED).map(|alone| of(&alone)).collect();
        let others = match alone.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {}", counted(more as u64, "column less", "columns less")),
        };
        lines.push(format!("alone: {}{others}", named.join(", ")));
    }
    if let Some(unique) = found.with_quasi {
        let share = share(unique, rows);
        lines.push(format!("with the quasi-identifiers: {} ({share})", count(unique)));
    }
    if found.share() > MANY_UNIQUE {
        lines.push(UNIQUE_MEANING.to_string());
    }
    format!("beside    {}\n", clean(&lines.join("\n          ")))
}

#[cfg(test)]
mod tests {
    use lookalike::evaluate::uniqueness::UniqueAlone;

    use super::*;

    fn found(alone: &[(&str, u64)], together: u64) -> UniqueRows {
        let alone = alone
            .iter()
            .map(|&(column, unique)| UniqueAlone { column: column.to_string(), unique });
        UniqueRows { rows: 2_000, alone: alone.collect(), together, with_quasi: Some(1_000) }
    }

    #[test]
    fn the_worst_columns_are_named_and_many_unique_rows_are_explained() {
        let columns = [("a", 0), ("b", 20), ("c", 1), ("d", 40), ("e", 2), ("f", 2)];
        assert_eq!(
            lines(&found(&columns, 1_500), 1_990),
            "beside    1,500 of 2,000 rows (75.0 %) are unique on the 6 columns published \
             unchanged\n          alone: d 40 (2.0 %), b 20 (1.0 %), e 2 (0.1 %) and 2 \
             columns less\n          with the quasi-identifiers: 1,000 (50.3 %)\n          \
             whoever knows these values of a person finds the row, whatever k is\n"
        );
        assert_eq!(
            lines(&found(&[("cost", 7)], 7), 2_000),
            "beside    7 of 2,000 rows (0.4 %) are unique on column cost published unchanged\n\
             \u{20}         with the quasi-identifiers: 1,000 (50.0 %)\n"
        );
    }
}
