//! Ready-made hierarchies: `builtin:countries` and others.
//!
//! A ready-made hierarchy is data, like a file: it gives for a value the line that a hierarchy file
//! would have for it. It stands in this room so that engine and audit get the same lines and each
//! makes its own tree of them (docs/decisions/0035). Those that need no data of their own (ages,
//! dates, NUTS) are intervals, calendar units and prefixes.
//!
//! The tables and where they come from: `SOURCES.md` in this folder.

mod tables;

use std::fmt;

use serde::{Serialize, Serializer};

use super::{DateSpec, DateUnit, HierarchySpec};
use tables::Paths;

/// What stands before the name of a ready-made hierarchy.
pub(super) const PREFIX: &str = "builtin:";

/// A ready-made hierarchy that knows the groups of each value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Builtin {
    /// ISO 3166 countries: codes of two or three letters, numbers or names; subregion, region.
    Countries,
    /// States of the USA: postal codes, FIPS numbers or names; division, region.
    UsStates,
    /// ISCO-08 occupations: 1 to 4 digits.
    Isco,
    /// ISCED 2011 levels of education.
    Isced,
    /// ICD-10 diagnoses: category, block, chapter.
    Icd10,
}

/// Every ready-made hierarchy: its name, and a line about it.
pub const BUILTINS: [(&str, &str); 8] = [
    ("countries", "ISO 3166: DE, DEU, 276 or Germany; Western Europe; Europe"),
    ("us-states", "USA: CA, 06 or California; Pacific; West"),
    ("nuts", "regions of the EU by prefix: DE212; DE21*; DE2**; DE***"),
    ("isco", "occupations, ISCO-08: 2211; 221; 22 Health professionals; 2 Professionals"),
    ("isced", "education, ISCED 2011: 3; 3 Upper secondary education; medium"),
    ("icd10", "diagnoses, ICD-10: E11.9; E11; E10-E14; chapter IV"),
    ("age", "years in bands of 5, 10 and 20: 37; [35-39]; [30-39]; [20-39]"),
    ("dates", "2024-03-17; 2024-03; 2024-Q1; 2024; 2020s"),
];

impl Builtin {
    /// All of them.
    pub const ALL: [Builtin; 5] =
        [Builtin::Countries, Builtin::UsStates, Builtin::Isco, Builtin::Isced, Builtin::Icd10];

    /// Its name, without `builtin:`.
    pub fn name(self) -> &'static str {
        match self {
            Builtin::Countries => "countries",
            Builtin::UsStates => "us-states",
            Builtin::Isco => "isco",
            Builtin::Isced => "isced",
            Builtin::Icd10 => "icd10",
        }
    }

    /// The lines of a hierarchy file for these values, in an order that does not depend on theirs;
    /// none for values that it does not know.
    pub(crate) fn rows<'a>(self, values: impl IntoIterator<Item = &'a str>) -> Vec<Vec<String>> {
        let paths = Paths::new(self);
        let row = |value: &str| {
            let path = paths.path(value)?;
            Some(std::iter::once(value.to_string()).chain(path).collect())
        };
        let mut rows: Vec<Vec<String>> = values.into_iter().filter_map(row).collect();
        rows.sort_unstable_by(|a, b| a.iter().rev().cmp(b.iter().rev()));
        rows.dedup();
        rows
    }

    /// The values that `hierarchy show` prints it with, in one spelling each.
    pub(crate) fn examples(self) -> Vec<String> {
        Paths::new(self).examples()
    }
}

impl fmt::Display for Builtin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}", self.name())
    }
}

impl Serialize for Builtin {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The hierarchy of a text that begins with `builtin:`, or why there is none; none for other texts.
pub(super) fn named(text: &str) -> Option<Result<HierarchySpec, String>> {
    let name = text.strip_prefix(PREFIX)?;
    let listed = Builtin::ALL.into_iter().find(|builtin| builtin.name() == name);
    let spec = match (listed, name) {
        (Some(builtin), _) => HierarchySpec::Builtin(builtin),
        (None, "nuts") => HierarchySpec::prefix([4, 3, 2]),
        (None, "age") => HierarchySpec::intervals([5.0, 10.0, 20.0]),
        (None, "dates") => HierarchySpec::Date(DateSpec {
            date: vec![DateUnit::Month, DateUnit::Quarter, DateUnit::Year, DateUnit::Decade],
        }),
        (None, _) => {
            let names: Vec<&str> = BUILTINS.iter().map(|&(name, _)| name).collect();
            return Some(Err(format!(
                "there is no ready-made hierarchy of this name; there are: {}",
                names.join(", ")
            )));
        }
    };
    Some(Ok(spec))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(builtin: Builtin, value: &str) -> String {
        builtin.rows([value]).first().map_or("unknown".into(), |row| row.join(";"))
    }

    #[test]
    fn every_spelling_of_a_country_has_its_region() {
        for value in ["DE", "de", "DEU", "276", "Germany", "Deutschland", " Germany "] {
            assert_eq!(row(Builtin::Countries, value), format!("{value};Western Europe;Europe;*"));
        }
        for value in ["AF", "AFG", "004", "4", "Afghanistan"] {
            assert_eq!(row(Builtin::Countries, value), format!("{value};Southern Asia;Asia;*"));
        }
        assert_eq!(
            row(Builtin::Countries, "United-States"),
            "United-States;Northern America;Americas;*"
        );
        for value in ["Atlantis", "", "*", "999", "--"] {
            assert_eq!(row(Builtin::Countries, value), "unknown", "{value}");
        }
    }

    #[test]
    fn every_spelling_of_a_state_has_its_division() {
        for value in ["CA", "06", "6", "California", "california"] {
            assert_eq!(row(Builtin::UsStates, value), format!("{value};Pacific;West;*"));
        }
        assert_eq!(row(Builtin::UsStates, "99"), "unknown");
    }

    #[test]
    fn codes_rise_digit_by_digit() {
        assert_eq!(
            row(Builtin::Isco, "2211"),
            "2211;221;22 Health professionals;2 Professionals;*"
        );
        assert_eq!(row(Builtin::Isco, "22"), "22;22;22 Health professionals;2 Professionals;*");
        assert_eq!(row(Builtin::Isco, "2"), "2;2;2;2 Professionals;*");
        for value in ["9", "0110"] {
            assert_ne!(row(Builtin::Isco, value), "unknown", "{value}");
        }
        for value in ["22111", "2x", "", "100"] {
            assert_eq!(row(Builtin::Isco, value), "unknown", "{value}");
        }
        assert_eq!(row(Builtin::Isced, "3"), "3;3 Upper secondary education;medium;*");
        assert_eq!(
            row(Builtin::Isced, "ISCED 344"),
            "ISCED 344;3 Upper secondary education;medium;*"
        );
        assert_eq!(
            row(Builtin::Isced, "Primary education"),
            "Primary education;1 Primary education;low;*"
        );
        assert_eq!(row(Builtin::Isced, "9"), "unknown");
    }

    #[test]
    fn a_diagnosis_has_a_category_a_block_and_a_chapter() {
        for value in ["E11.9", "e11.90", "E119", "E11", "E11.9+"] {
            assert_eq!(row(Builtin::Icd10, value), format!("{value};E11;E10-E14;chapter IV;*"));
        }
        for value in ["E1", "11.9", "E11 and more", "", "ÄÖÜ"] {
            assert_eq!(row(Builtin::Icd10, value), "unknown", "{value}");
        }
    }

    /// What a table says of itself is a tree: every group has one parent.
    #[test]
    fn every_ready_made_hierarchy_is_a_tree() {
        for builtin in Builtin::ALL {
            let examples = builtin.examples();
            let rows = builtin.rows(examples.iter().map(String::as_str));
            assert_eq!(rows.len(), examples.len(), "{builtin}");
            let mut parents = std::collections::BTreeMap::new();
            for row in &rows {
                assert_eq!((row.len(), row.last().unwrap().as_str()), (rows[0].len(), "*"));
                for pair in row.windows(2).skip(1).filter(|pair| pair[0] != pair[1]) {
                    assert_eq!(parents.entry(&pair[0]).or_insert(&pair[1]), &&pair[1], "{builtin}");
                    assert!(!pair[0].is_empty() && !pair[0].contains(['{', '}']), "{builtin}");
                }
            }
        }
    }

    #[test]
    fn names_are_read_and_written() {
        for (name, _) in BUILTINS {
            assert!(named(&format!("{PREFIX}{name}")).unwrap().is_ok(), "{name}");
        }
        assert_eq!(named("builtin:isco").unwrap().unwrap(), HierarchySpec::Builtin(Builtin::Isco));
        assert!(named("builtin:country").unwrap().unwrap_err().contains("countries, us-states"));
        assert!(named("country.csv").is_none());
    }
}
