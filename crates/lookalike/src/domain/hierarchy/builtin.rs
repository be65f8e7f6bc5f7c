//! Trees of ready-made hierarchies, over the values of a column.

use super::file::{HierarchyFile, Origin, finish, taxonomy};
use super::{ANY, IntervalTreeBuilder, ROOT, intervals, level, prefix};
use crate::codes::RowId;
use crate::domain::taxonomy::Taxonomy;
use crate::error::{Error, Hint, Place, Result};
use crate::request::{Builtin, HierarchySpec};

/// The tree of a ready-made hierarchy over the distinct values of a column; `first_row` has the
/// first row of each.
///
/// # Errors
/// When it does not know a value.
pub fn builtin(
    which: Builtin,
    column: &str,
    values: &[Option<String>],
    first_row: &[RowId],
) -> Result<Taxonomy> {
    assert_eq!(values.len(), first_row.len(), "every value has a first row");
    let texts = || values.iter().flatten().filter(|text| !text.is_empty());
    let rows = which.rows(texts().map(String::as_str));
    if rows.len() < texts().count() {
        let known: rustc_hash::FxHashSet<&str> = rows.iter().map(|row| row[0].as_str()).collect();
        let is_unknown = |value: &Option<String>| {
            value.as_deref().is_some_and(|text| !text.is_empty() && !known.contains(text))
        };
        let unknown = || values.iter().zip(first_row).filter(|(value, _)| is_unknown(value));
        let row = unknown().map(|(_, row)| u64::from(*row) + 1).min();
        return Err(lacks(which, column, unknown().count(), row));
    }
    if rows.is_empty() {
        let mut tree = IntervalTreeBuilder::new(ROOT, level(1), ANY);
        values.iter().take(1).for_each(|_| tree.leaf("", 0.0, &[]));
        return Ok(tree.build().into_taxonomy());
    }
    let lines = (1..).take(rows.len()).collect();
    let file = HierarchyFile { place: which.to_string(), origin: Origin::Request, rows, lines };
    taxonomy(&finish(file)?, column, values, first_row)
}

/// The error for values that it does not know.
fn lacks(which: Builtin, column: &str, count: usize, row: Option<u64>) -> Error {
    let (values, are) = if count == 1 { ("value", "is") } else { ("values", "are") };
    let why = format!(
        "{count} {values} of column `{column}` {are} not in {which}, the first in data row {}",
        row.unwrap_or_default()
    );
    Error::hierarchy("builtin-lacks-value", why)
        .about(Place { row, ..Place::default() })
        .about_column(column)
        .hint(Hint::plain("correct the cells"))
        .hint(Hint::NameMissing { texts: Vec::new() })
        .hint(Hint::MakeHierarchy { column: column.into() })
}

/// The tree of a hierarchy that needs no table: of all values that a ready-made one knows, or of
/// some examples.
///
/// # Errors
/// When there is no ready-made hierarchy of this name.
pub fn example(name: &str) -> Result<Taxonomy> {
    let spec =
        HierarchySpec::from_text(name).map_err(|why| Error::hierarchy("bad-hierarchy", why))?;
    let some = |values: Vec<String>| values.into_iter().map(Some).collect::<Vec<_>>();
    let rows = |values: &[Option<String>]| (0..).take(values.len()).collect::<Vec<RowId>>();
    match spec {
        HierarchySpec::Builtin(which) => {
            let values = some(which.examples());
            builtin(which, name, &values, &rows(&values))
        }
        HierarchySpec::Prefix(spec) => {
            let codes = ["DE111", "DE112", "DE212", "FRK26", "PL911"].map(String::from);
            let values = some(codes.to_vec());
            prefix(name, &spec.prefix, &values, &rows(&values))
        }
        HierarchySpec::Intervals(spec) => {
            let numbers: Vec<f64> = (0..100).map(f64::from).collect();
            let texts: Vec<String> = numbers.iter().map(f64::to_string).collect();
            Ok(intervals(name, &spec, &numbers, &texts)?.into_taxonomy())
        }
        HierarchySpec::Date(spec) => {
            let days =
                [("2023-12-24", 19_715.0), ("2024-03-17", 19_799.0), ("2024-04-01", 19_814.0)];
            let texts = days.map(|(day, _)| day.to_string());
            let numbers = days.map(|(_, number)| number);
            Ok(super::date_intervals(name, &spec, &numbers, &texts)?.into_taxonomy())
        }
        HierarchySpec::File(_) | HierarchySpec::Rows(_) | HierarchySpec::Text(_) => {
            Err(Error::hierarchy("bad-hierarchy", "this is no ready-made hierarchy"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{outline, to_rows};
    use super::*;
    use crate::request::BUILTINS;

    fn some(values: &[&str]) -> Vec<Option<String>> {
        values.iter().map(|value| (!value.is_empty()).then(|| (*value).to_owned())).collect()
    }

    #[test]
    fn the_tree_has_the_values_of_the_column_whatever_their_order() {
        let tree = |values: &[&str]| {
            let values = some(values);
            builtin(Builtin::Countries, "land", &values, &vec![0; values.len()]).unwrap()
        };
        let made = tree(&["Peru", "DE", "", "Germany", "FR"]);
        assert_eq!(
            to_rows(&made).iter().map(|row| row.join(";")).collect::<Vec<_>>(),
            [
                "Peru;South America;Americas;*",
                "DE;Western Europe;Europe;*",
                "FR;Western Europe;Europe;*",
                "Germany;Western Europe;Europe;*",
                ";;;*"
            ]
        );
        assert_eq!(tree(&["FR", "Germany", "DE", "Peru", ""]), made);
        assert_eq!(tree(&[""]).leaves(), 1);
    }

    #[test]
    fn a_category_beside_its_subcategories_is_a_value_of_its_own() {
        let values = some(&["E11", "E11.9", "E10.1"]);
        let tree = builtin(Builtin::Icd10, "icd", &values, &[0, 1, 2]).unwrap();
        assert!(outline(&tree, 9).contains("    E11 (all)  (2 values)\n"), "{}", outline(&tree, 9));
    }

    #[test]
    fn unknown_values_are_counted_and_never_named() {
        let values = some(&["DE", "Atlantis", "", "Mordor"]);
        let error = builtin(Builtin::Countries, "land", &values, &[0, 7, 8, 4]).unwrap_err();
        let text = error.to_string();
        assert_eq!((error.code(), error.place().row), ("builtin-lacks-value", Some(5)));
        assert!(
            text.contains(
                "2 values of column `land` are not in builtin:countries, the first in data row 5"
            ) && !text.contains("Atlantis")
                && !text.contains("Mordor"),
            "{text}"
        );
    }

    #[test]
    fn every_ready_made_hierarchy_can_be_shown() {
        for (name, _) in BUILTINS {
            assert!(example(&format!("builtin:{name}")).unwrap().height() > 1, "{name}");
        }
        assert!(example("builtin:planets").is_err() && example("planets.csv").is_err());
    }
}
