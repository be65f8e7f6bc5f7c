//! Columns published as they are that give away what the quasi-identifiers hide: one that determines a quasi-identifier (a birth year beside
//! an age), two that do so together (the tens and the ones of an age), or one that is nearly a name. Sensitive columns are published as
//! they are too, so they are looked at like kept ones.

use std::hash::BuildHasher;

use arrow_row::{RowConverter, SortField};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use crate::code::{Code, RowId, real};
use crate::config::{Config, Roles};
use crate::error::{Error, Result};
use crate::table::{Column, Table};

/// A column of which more than this share of rows has a value of its own is nearly a name.
const NEARLY_UNIQUE: f64 = 0.3;

/// So many disagreements must be expected by chance before their absence counts as dependence.
const EVIDENCE: f64 = 10.0;

/// Of a column with more values than this, only one in sixteen of the others is looked at (all of its rows).
const ALL_VALUES: usize = 1 << 16;

/// Pairs of columns are looked at on so many rows, spread evenly over the table.
const PAIR_ROWS: usize = 1 << 16;

/// And not more pairs than these: those of the first 25 columns.
const MOST_PAIRS: usize = 300;

/// Looks at every kept and every sensitive column, and at pairs of them. Returns warnings.
///
/// # Errors
/// When one column determines a quasi-identifier and its line does not say that this is meant.
pub fn disclosures(table: &Table, roles: &Roles, config: &Config) -> Result<Vec<String>> {
    let mut warnings = Vec::new();
    let mut single = Vec::new();
    for (name, how) in published(roles) {
        let Some(column) = table.column(name) else { continue };
        let is_meant = config.column(name).is_some_and(|line| line.dependent);
        let facts = facts(table, column, roles)?;
        if let (Some(quasi), false) = (&facts.determines, is_meant) {
            return Err(Error::config(format!(
                "column `{name}` is {how} but determines the quasi-identifier `{quasi}`: whoever sees one knows the other; drop it, \
                 make it a quasi-identifier, or accept it with --dependent {name}"
            )));
        }
        if facts.unique > NEARLY_UNIQUE {
            warnings.push(format!(
                "column `{name}` is {how} and published as it is, but {:.0} % of its rows have a value of their own: whoever knows it knows the row; drop it, \
                 round it, or make it a quasi-identifier",
                facts.unique * 100.0
            ));
        }
        // What one column tells, or is allowed to tell, two tell as well; of unique rows every quasi-identifier follows.
        if !is_meant && facts.determines.is_none() && facts.unique <= NEARLY_UNIQUE {
            single.push(column);
        }
    }
    warnings.extend(pairs(table, &single, roles)?);
    Ok(warnings)
}

/// The columns that are published as they are, in the table's order of each role.
fn published(roles: &Roles) -> impl Iterator<Item = (&String, &'static str)> {
    let keep = roles.keep.iter().map(|name| (name, "kept"));
    keep.chain(roles.sensitive.iter().map(|name| (name, "sensitive")))
}

struct Facts {
    /// The share of rows whose value no other row has.
    unique: f64,
    /// A quasi-identifier that the column determines.
    determines: Option<String>,
}

fn facts(table: &Table, column: &Column, roles: &Roles) -> Result<Facts> {
    let quasi: Vec<_> = roles.quasi.iter().map(|name| table.coded(name)).collect();
    let mut agrees = vec![true; quasi.len()];
    let mut seen: FxHashMap<u64, (RowId, bool)> = FxHashMap::default();
    let mut looked_at = 0u64;
    each_hash(column, |row, hash| {
        if seen.len() < ALL_VALUES || hash >> 60 == 0 || seen.contains_key(&hash) {
            looked_at += 1;
            let (first, alone) = seen.entry(hash).or_insert((row, true));
            *alone &= *first == row;
            for (agrees, quasi) in agrees.iter_mut().zip(&quasi).filter(|(agrees, _)| **agrees) {
                *agrees = quasi.codes.get(row as usize) == quasi.codes.get(*first as usize);
            }
        }
    })?;
    let repeats = looked_at - seen.len() as u64;
    let unique = seen.values().filter(|(_, alone)| *alone).count();
    let convincing = |at: &usize| agrees[*at] && real(repeats) * disagreement(table, &roles.quasi[*at]) >= EVIDENCE;
    let determines = (0..quasi.len()).find(convincing).map(|at| roles.quasi[at].clone());
    Ok(Facts { unique: real(unique as u64) / real(looked_at.max(1)), determines })
}

/// The hash of each cell of a column, row by row; a code is its own.
fn each_hash(column: &Column, mut then: impl FnMut(RowId, u64)) -> Result<()> {
    if let Some(coded) = &column.coded {
        (0..).zip(coded.codes.iter()).for_each(|(row, code)| then(row, FxBuildHasher.hash_one(code)));
        return Ok(());
    }
    let unreadable = |error| Error::data(format!("column `{}`: {error}", column.name));
    let mut row = 0;
    for chunk in column.carried.iter().flatten() {
        let converter = RowConverter::new(vec![SortField::new(column.data_type.clone())]).map_err(unreadable)?;
        let cells = converter.convert_columns(std::slice::from_ref(chunk)).map_err(unreadable)?;
        for cell in &cells {
            then(row, FxBuildHasher.hash_one(cell.as_ref()));
            row += 1;
        }
    }
    Ok(())
}

/// Warns of pairs of columns that determine a quasi-identifier together, of which neither does alone.
fn pairs(table: &Table, columns: &[&Column], roles: &Roles) -> Result<Vec<String>> {
    let step = table.rows.div_ceil(PAIR_ROWS).max(1);
    let rows: Vec<usize> = (0..table.rows).step_by(step).collect();
    if columns.len() < 2 || rows.len() < 2 {
        return Ok(Vec::new());
    }
    let samples = columns.iter().map(|column| sample(column, step)).collect::<Result<Vec<(Vec<Code>, usize)>>>()?;
    let quasi: Vec<(Vec<Code>, usize, f64)> = roles
        .quasi
        .iter()
        .map(|name| {
            let codes: Vec<Code> = rows.iter().map(|&row| table.coded(name).codes.get(row)).collect();
            let values = codes.iter().collect::<FxHashSet<_>>().len();
            (codes, values, disagreement(table, name))
        })
        .collect();
    let both = (0..columns.len()).flat_map(|one| (one + 1..columns.len()).map(move |other| (one, other)));
    let mut warnings = Vec::new();
    for (one, other) in both.take(MOST_PAIRS) {
        let ((left, left_values), (right, right_values)) = (&samples[one], &samples[other]);
        let mut first: FxHashMap<(Code, Code), usize> = FxHashMap::default();
        // Fewer pairs of values than values of the quasi-identifier cannot determine it.
        let can = |values: usize| values > 1 && left_values.saturating_mul(*right_values) >= values;
        let mut agrees: Vec<bool> = quasi.iter().map(|(_, values, _)| can(*values)).collect();
        for place in 0..rows.len() {
            if !agrees.contains(&true) {
                break;
            }
            let earlier = *first.entry((left[place], right[place])).or_insert(place);
            for (agrees, (codes, ..)) in agrees.iter_mut().zip(&quasi).filter(|(agrees, _)| **agrees) {
                *agrees = codes[place] == codes[earlier];
            }
        }
        let repeats = (rows.len() - first.len()) as u64;
        let convincing = |at: &usize| agrees[*at] && real(repeats) * quasi[*at].2 >= EVIDENCE;
        if let Some(at) = (0..quasi.len()).find(convincing) {
            warnings.push(format!(
                "columns `{}` and `{}` are published as they are and determine the quasi-identifier `{}` together (in all {} rows that were \
                 looked at): drop one of them, or make it a quasi-identifier",
                columns[one].name,
                columns[other].name,
                roles.quasi[at],
                rows.len()
            ));
        }
    }
    Ok(warnings)
}

/// Codes of every so many rows of a column, and how many different ones there are.
fn sample(column: &Column, step: usize) -> Result<(Vec<Code>, usize)> {
    let mut codes = Vec::new();
    let mut known: FxHashMap<u64, Code> = FxHashMap::default();
    each_hash(column, |row, hash| {
        if (row as usize).is_multiple_of(step) {
            let next = Code::try_from(known.len()).expect("fewer values than rows");
            codes.push(*known.entry(hash).or_insert(next));
        }
    })?;
    Ok((codes, known.len()))
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
    fn a_sensitive_column_is_looked_at_like_a_kept_one() {
        let told = found("born = { role = \"sensitive\" }").unwrap_err().to_string();
        assert!(told.contains("`born` is sensitive") && told.contains("`age`") && told.contains("--dependent born"), "{told}");
        assert!(found("born = { role = \"sensitive\", dependent = true }").unwrap().is_empty());
        let told = found("card = { role = \"sensitive\" }").unwrap();
        assert!(told.len() == 1 && told[0].contains("`card`") && told[0].contains("100 %"), "{told:?}");
        assert!(found("ward = { role = \"sensitive\" }").unwrap().is_empty());
    }

    #[test]
    fn two_columns_that_determine_a_quasi_identifier_together_are_warned_of() {
        let row = |i: u32| {
            let age = 20 + i * 7 % 50;
            format!("{age},{},{},{}\n", age / 10, age % 10, ["north", "south"][(i % 2) as usize])
        };
        let table = testing::table(&format!("age,tens,ones,ward\n{}", (0..400).map(row).collect::<String>()));
        let of = |tens: &str, ones: &str| {
            let toml = format!(
                "k = 2\n[columns]\nage = {{ role = \"quasi\" }}\ntens = {{ role = \"{tens}\" }}\nones = {{ role = \"{ones}\" }}\nward = {{ role = \"keep\" }}"
            );
            let (roles, config) = testing::request(&table, &toml);
            disclosures(&table, &roles, &config).unwrap()
        };
        for (tens, ones) in [("keep", "keep"), ("keep", "sensitive"), ("sensitive", "sensitive")] {
            let told = of(tens, ones);
            assert!(told.len() == 1 && told[0].contains("`tens`") && told[0].contains("`ones`"), "{told:?}");
            assert!(told[0].contains("`age`") && told[0].contains("400 rows"), "{told:?}");
        }
        assert!(of("keep", "identifier").is_empty());
    }

    #[test]
    fn a_kept_column_that_is_nearly_a_name_is_warned_of() {
        let told = found("card = { role = \"keep\" }").unwrap();
        assert!(told.len() == 1 && told[0].contains("`card`") && told[0].contains("100 %"), "{told:?}");
    }
}
