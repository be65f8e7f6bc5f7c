//! Kept columns that give away what the quasi-identifiers hide: one that determines a quasi-identifier (a birth year beside an
//! age), or one that is nearly a name.

use std::hash::BuildHasher;

use arrow_row::{RowConverter, SortField};
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::code::{RowId, real};
use crate::config::{Config, Roles};
use crate::error::{Error, Result};
use crate::table::{Column, Table};

/// A kept column of which more than this share of rows has a value of its own is nearly a name.
const NEARLY_UNIQUE: f64 = 0.3;

/// So many disagreements must be expected by chance before their absence counts as dependence.
const EVIDENCE: f64 = 10.0;

/// Of a column with more values than this, only one in sixteen of the others is looked at (all of its rows).
const ALL_VALUES: usize = 1 << 16;

/// Looks at every kept column. Returns warnings.
///
/// # Errors
/// When a kept column determines a quasi-identifier and its line does not say that this is meant.
pub fn disclosures(table: &Table, roles: &Roles, config: &Config) -> Result<Vec<String>> {
    let mut warnings = Vec::new();
    for name in &roles.keep {
        let Some(column) = table.column(name) else { continue };
        let allowed = config.column(name).is_some_and(|line| line.dependent);
        let facts = facts(table, column, roles)?;
        if let (Some(quasi), false) = (facts.determines, allowed) {
            return Err(Error::config(format!(
                "column `{name}` is kept but determines the quasi-identifier `{quasi}`: whoever sees one knows the other; drop it, \
                 make it a quasi-identifier, or accept it with --dependent {name}"
            )));
        }
        if facts.unique > NEARLY_UNIQUE {
            warnings.push(format!(
                "column `{name}` is kept as it is, but {:.0} % of its rows have a value of their own",
                facts.unique * 100.0
            ));
        }
    }
    Ok(warnings)
}

struct Facts {
    /// The share of rows whose value no other row has.
    unique: f64,
    /// A quasi-identifier that the column determines.
    determines: Option<String>,
}

fn facts(table: &Table, column: &Column, roles: &Roles) -> Result<Facts> {
    let unreadable = |error| Error::data(format!("column `{}`: {error}", column.name));
    let quasi: Vec<_> = roles.quasi.iter().map(|name| table.coded(name)).collect();
    let mut agrees = vec![true; quasi.len()];
    let mut seen: FxHashMap<u64, (RowId, bool)> = FxHashMap::default();
    let (mut row, mut looked_at) = (0, 0u64);
    for chunk in column.carried.iter().flatten() {
        let converter = RowConverter::new(vec![SortField::new(column.data_type.clone())]).map_err(unreadable)?;
        let cells = converter.convert_columns(std::slice::from_ref(chunk)).map_err(unreadable)?;
        for cell in &cells {
            let hash = FxBuildHasher.hash_one(cell.as_ref());
            if seen.len() < ALL_VALUES || hash >> 60 == 0 || seen.contains_key(&hash) {
                looked_at += 1;
                let (first, alone) = seen.entry(hash).or_insert((row, true));
                *alone &= *first == row;
                for (agrees, quasi) in agrees.iter_mut().zip(&quasi).filter(|(agrees, _)| **agrees) {
                    *agrees = quasi.codes.get(row as usize) == quasi.codes.get(*first as usize);
                }
            }
            row += 1;
        }
    }
    let repeats = looked_at - seen.len() as u64;
    let unique = seen.values().filter(|(_, alone)| *alone).count();
    let convincing = |at: &usize| agrees[*at] && real(repeats) * disagreement(table, &roles.quasi[*at]) >= EVIDENCE;
    let determines = (0..quasi.len()).find(convincing).map(|at| roles.quasi[at].clone());
    Ok(Facts { unique: real(unique as u64) / real(looked_at.max(1)), determines })
}

/// How likely two rows taken at random differ on a column.
fn disagreement(table: &Table, name: &str) -> f64 {
    let coded = table.coded(name);
    let mut counts = vec![0u64; coded.values.len()];
    coded.codes.iter().for_each(|code| counts[code as usize] += 1);
    1.0 - counts.iter().map(|&count| (real(count) / real(table.rows as u64)).powi(2)).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    /// Forty people: `born` determines `age`, `ward` does not, `card` is each person's own.
    fn people() -> String {
        let row = |i: u32| format!("{},{},{},card{i}\n", 20 + i % 7, 2000 - i % 7, ["north", "south"][(i % 2) as usize]);
        format!("age,born,ward,card\n{}", (0..40).map(row).collect::<String>())
    }

    fn found(more: &str) -> Result<Vec<String>> {
        let table = testing::table(&people());
        let toml = format!("k = 2\nrest = \"drop\"\n[columns]\nage = {{ role = \"quasi\" }}\n{more}");
        let (roles, config) = testing::request(&table, &toml);
        disclosures(&table, &roles, &config)
    }

    #[test]
    fn a_kept_column_that_determines_a_quasi_identifier_needs_a_decision() {
        let told = found("born = { role = \"keep\" }").unwrap_err().to_string();
        assert!(told.contains("`born`") && told.contains("`age`") && told.contains("--dependent born"), "{told}");
        assert!(found("born = { role = \"keep\", dependent = true }").unwrap().is_empty());
        assert!(found("ward = { role = \"keep\" }").unwrap().is_empty());
    }

    #[test]
    fn a_kept_column_that_is_nearly_a_name_is_warned_of() {
        let told = found("card = { role = \"keep\" }").unwrap();
        assert!(told.len() == 1 && told[0].contains("`card`") && told[0].contains("100 %"), "{told:?}");
    }
}
