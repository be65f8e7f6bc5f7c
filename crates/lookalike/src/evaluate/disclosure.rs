//! Passed-through columns that disclose quasi-identifiers: a column that determines a
//! quasi-identifier (a birth year beside an age), two columns that do so together (the tens and the
//! ones of an age), or a column that is nearly an identifier. Sensitive columns are passed through
//! too, so they are checked like kept ones.

use std::hash::BuildHasher;

use arrow_array::{Array, ArrayRef, UInt64Array};
use arrow_row::{RowConverter, SortField};
use arrow_schema::ArrowError;
use arrow_select::take::take;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use crate::codes::{Code, RowId, real};
use crate::error::{Error, Hint, Result, Warning};
use crate::problem::CountColumn;
use crate::request::{Request, Roles};
use crate::table::{Coded, Column, Table};

/// A column in which more than this share of rows has a unique value is nearly an identifier.
const NEARLY_UNIQUE: f64 = 0.3;

/// The least number of disagreements expected by chance: only then does their absence count as
/// dependence.
const EVIDENCE: f64 = 10.0;

/// Of a column with more values than this, only one in sixteen further values is checked (with all
/// of its rows).
const ALL_VALUES: usize = 1 << 16;

/// Pairs of columns are checked on at most so many rows, at equal steps over the table.
const PAIR_ROWS: usize = 1 << 16;

/// The most pairs that are checked: those of the first 25 columns.
const MOST_PAIRS: usize = 300;

/// Checks every kept and every sensitive column, and pairs of them. Returns warnings.
///
/// # Example
/// ```
/// # use lookalike::{Request, evaluate::disclosure::disclosures, problem::treatments, table};
/// let born = |row: u32| format!("{},{}\n", 20 + row % 7, 2000 - row % 7);
/// let csv = format!("age,born\n{}", (0..40).map(born).collect::<String>());
/// let request = Request::parse("k = 2\nrest = 'keep'\ncolumns.age.role = 'quasi'")?;
/// let source = table::open_text(csv, "data.csv".as_ref())?;
/// let roles = request.roles(source.names())?;
/// let treatments = treatments(source.names(), &roles);
/// let error = disclosures(&source.read(&treatments)?, &roles, &request).unwrap_err();
/// assert!(error.to_string().starts_with("column `born` is kept but determines"));
/// # Ok::<(), lookalike::Error>(())
/// ```
///
/// # Errors
/// When a column determines a quasi-identifier and its line does not accept that (`dependent`).
pub fn disclosures(table: &Table, roles: &Roles, request: &Request) -> Result<Vec<Warning>> {
    let counts = CountColumn::new(table, roles.count.as_ref())?;
    let mut warnings = Vec::new();
    let mut single = Vec::new();
    for (name, how) in published(roles) {
        let Some(column) = table.column(name) else { continue };
        let is_accepted = request.column(name).is_some_and(|line| line.dependent);
        let found = dependence(table, column, roles, &counts)?;
        if let (Some(quasi), false) = (&found.determines, is_accepted) {
            return Err(Error::request(
                "dependent-column",
                format!(
                    "column `{name}` is {how} but determines the quasi-identifier `{quasi}`: \
                     whoever sees one knows the other"
                ),
            )
            .about_column(name)
            .hint(Hint::DropColumn { column: name.clone() })
            .hint(Hint::MakeQuasi { column: name.clone() })
            .hint(Hint::AcceptDependent { column: name.clone() }));
        }
        if found.unique > NEARLY_UNIQUE {
            let reason = format!(
                "column `{name}` is {how} and published unchanged, but {:.0} % of its rows have a \
                 unique value: whoever knows it knows the row",
                found.unique * 100.0
            );
            let warning = Warning::new("nearly-unique", reason).about_column(name);
            warnings.push(
                warning
                    .hint(Hint::DropColumn { column: name.clone() })
                    .hint(Hint::plain("round it"))
                    .hint(Hint::MakeQuasi { column: name.clone() }),
            );
        }
        // A quasi-identifier that one column discloses, or may disclose, is also disclosed by two;
        // unique rows determine every quasi-identifier.
        if !is_accepted && found.determines.is_none() && found.unique <= NEARLY_UNIQUE {
            single.push(column);
        }
    }
    warnings.extend(pairs(table, &single, roles, &counts)?);
    Ok(warnings)
}

/// The passed-through columns, in the table's order within each role.
fn published(roles: &Roles) -> impl Iterator<Item = (&String, &'static str)> {
    let keep = roles.keep.iter().map(|name| (name, "kept"));
    keep.chain(roles.sensitive.iter().map(|name| (name, "sensitive")))
}

/// How a passed-through column depends on rows and quasi-identifiers.
struct Dependence {
    /// The share of rows whose value no other row has.
    unique: f64,
    /// A quasi-identifier that the column determines.
    determines: Option<String>,
}

fn dependence(
    table: &Table,
    column: &Column,
    roles: &Roles,
    counts: &CountColumn<'_>,
) -> Result<Dependence> {
    let quasi: Vec<&Coded> = roles.quasi.iter().map(|name| table.coded(name)).collect();
    let (checked, values, unique, agrees) = match &column.coded {
        Some(coded) => of_codes(coded, &quasi, counts),
        None => of_cells(column, &quasi, counts)?,
    };
    let repeats = checked - values;
    let convincing = |at: &usize| {
        agrees[*at] && real(repeats) * disagreement(table, &roles.quasi[*at], counts) >= EVIDENCE
    };
    let determines = (0..quasi.len()).find(convincing).map(|at| roles.quasi[at].clone());
    Ok(Dependence { unique: real(unique) / real(checked.max(1)), determines })
}

/// Rows, values, values that only one row has, and for each quasi-identifier whether rows with
/// equal values here have equal values there.
type Repetition = (u64, u64, u64, Vec<bool>);

/// The counts of a coded column.
fn of_codes(coded: &Coded, quasi: &[&Coded], of_rows: &CountColumn<'_>) -> Repetition {
    let counts = rows_of_codes(coded, of_rows);
    let agrees = |quasi: &&Coded| {
        let first = coded
            .codes()
            .iter()
            .map(|code| quasi.codes().get(coded.first_row()[code as usize] as usize));
        quasi.codes().iter().eq(first)
    };
    let unique = counts.iter().filter(|&&count| count == 1).count() as u64;
    let rows = of_rows.total(coded.codes().len());
    (rows, counts.len() as u64, unique, quasi.iter().map(agrees).collect())
}

/// The rows of each code.
fn rows_of_codes(coded: &Coded, of_rows: &CountColumn<'_>) -> Vec<u64> {
    let mut counts = vec![0; coded.values().len()];
    let codes = coded.codes().iter().enumerate();
    codes.for_each(|(row, code)| counts[code as usize] += of_rows.of(row));
    counts
}

/// The counts of a passed-through column; of many values a sample is checked.
fn of_cells(column: &Column, quasi: &[&Coded], counts: &CountColumn<'_>) -> Result<Repetition> {
    let mut agrees = vec![true; quasi.len()];
    let mut seen: FxHashMap<u64, (RowId, bool)> = FxHashMap::default();
    let (mut row, mut checked) = (0, 0u64);
    for chunk in column.passthrough.iter().flatten() {
        for hash in hashes(column, chunk)? {
            if seen.len() < ALL_VALUES || hash >> 60 == 0 || seen.contains_key(&hash) {
                let count = counts.of(row as usize);
                checked += count;
                let (first, alone) = seen.entry(hash).or_insert((row, true));
                *alone &= *first == row && count == 1;
                for (agrees, quasi) in agrees.iter_mut().zip(quasi).filter(|(agrees, _)| **agrees) {
                    *agrees = quasi.codes().get(row as usize) == quasi.codes().get(*first as usize);
                }
            }
            row += 1;
        }
    }
    let unique = seen.values().filter(|(_, alone)| *alone).count() as u64;
    Ok((checked, seen.len() as u64, unique, agrees))
}

fn cannot_compare(column: &Column, error: &ArrowError) -> Error {
    Error::data("cannot-compare", error.to_string()).at_column(&column.name)
}

/// The hash of each cell of an array.
fn hashes(column: &Column, cells: &ArrayRef) -> Result<Vec<u64>> {
    let unreadable = |error: ArrowError| cannot_compare(column, &error);
    let converter =
        RowConverter::new(vec![SortField::new(column.data_type.clone())]).map_err(unreadable)?;
    let rows = converter.convert_columns(std::slice::from_ref(cells)).map_err(unreadable)?;
    Ok(rows.iter().map(|row| FxBuildHasher.hash_one(row.as_ref())).collect())
}

/// Warns of pairs of columns that determine a quasi-identifier together and not alone.
fn pairs(
    table: &Table,
    columns: &[&Column],
    roles: &Roles,
    counts: &CountColumn<'_>,
) -> Result<Vec<Warning>> {
    let step = table.rows().div_ceil(PAIR_ROWS).max(1);
    let rows: Vec<usize> = (0..table.rows()).step_by(step).collect();
    if columns.len() < 2 || rows.len() < 2 {
        return Ok(Vec::new());
    }
    let samples = columns
        .iter()
        .map(|column| sample(column, step))
        .collect::<Result<Vec<(Vec<Code>, usize)>>>()?;
    let quasi: Vec<(Vec<Code>, usize, f64)> = roles
        .quasi
        .iter()
        .map(|name| {
            let codes: Vec<Code> =
                rows.iter().map(|&row| table.coded(name).codes().get(row)).collect();
            let values = codes.iter().collect::<FxHashSet<_>>().len();
            (codes, values, disagreement(table, name, counts))
        })
        .collect();
    let checked: u64 = rows.iter().map(|&row| counts.of(row)).sum();
    let both =
        (0..columns.len()).flat_map(|one| (one + 1..columns.len()).map(move |other| (one, other)));
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
            for (agrees, (codes, ..)) in
                agrees.iter_mut().zip(&quasi).filter(|(agrees, _)| **agrees)
            {
                *agrees = codes[place] == codes[earlier];
            }
        }
        let repeats = checked - first.len() as u64;
        let convincing = |at: &usize| agrees[*at] && real(repeats) * quasi[*at].2 >= EVIDENCE;
        if let Some(at) = (0..quasi.len()).find(convincing) {
            let reason = format!(
                "columns `{}` and `{}` are published unchanged and determine the quasi-identifier \
                 `{}` together (in all {} rows that were checked): drop one of them, or make it a \
                 quasi-identifier",
                columns[one].name, columns[other].name, roles.quasi[at], checked
            );
            warnings.push(Warning::new("dependent-pair", reason));
        }
    }
    Ok(warnings)
}

/// Codes of the rows of a column at equal steps, and the number of distinct codes.
fn sample(column: &Column, step: usize) -> Result<(Vec<Code>, usize)> {
    let mut found: Vec<u64> = Vec::new();
    match &column.coded {
        Some(coded) => found.extend(
            (0..coded.codes().len()).step_by(step).map(|row| u64::from(coded.codes().get(row))),
        ),
        None => {
            let mut next = 0;
            for chunk in column.passthrough.iter().flatten() {
                let places: UInt64Array =
                    (next..chunk.len()).step_by(step).map(|at| at as u64).collect();
                next = (next + places.len() * step).saturating_sub(chunk.len());
                let unreadable = |error: ArrowError| cannot_compare(column, &error);
                let cells = take(chunk, &places, None).map_err(unreadable)?;
                found.extend(hashes(column, &cells)?);
            }
        }
    }
    let mut known: FxHashMap<u64, Code> = FxHashMap::default();
    let mut code = |hash: u64| {
        let next = Code::try_from(known.len()).expect("fewer values than rows");
        *known.entry(hash).or_insert(next)
    };
    let codes = found.into_iter().map(&mut code).collect();
    Ok((codes, known.len()))
}

/// The probability that two random rows differ on a column.
fn disagreement(table: &Table, name: &str, of_rows: &CountColumn<'_>) -> f64 {
    let counts = rows_of_codes(table.coded(name), of_rows);
    let rows = real(of_rows.total(table.rows()));
    1.0 - counts.iter().map(|&count| (real(count) / rows).powi(2)).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    /// Forty people: `born` determines `age`, `ward` does not, `card` is each person's own.
    fn people() -> String {
        let row = |i: u32| {
            format!(
                "{},{},{},card{i}\n",
                20 + i % 7,
                2000 - i % 7,
                ["north", "south"][(i % 2) as usize]
            )
        };
        format!("age,born,ward,card\n{}", (0..40).map(row).collect::<String>())
    }

    #[test]
    fn rows_with_counts_disclose_what_the_rows_themselves_do() {
        // Ten rows: the kept columns determine the age alone, together, or not at all.
        let row = |i: u32| format!("{},{},{},{}", 20 + i, i / 2, i % 2, [7, 8, 9][i as usize % 3]);
        let columns = "age,tens,ones,other";
        for times in [1, 2, 6] {
            let mut plain = format!("{columns}\n");
            let mut counted = format!("{columns},n\n");
            for i in 0..10 {
                (0..times).for_each(|_| plain += &format!("{}\n", row(i)));
                counted += &format!("{},{times}\n", row(i));
            }
            for kept in ["tens", "ones", "other", "tens.role = 'keep'\ncolumns.ones", "unique"] {
                let (plain, counted) = if kept == "unique" {
                    (plain.replace("tens", "unique"), counted.replace("tens", "unique"))
                } else {
                    (plain.clone(), counted.clone())
                };
                let toml = format!(
                    "k = 2\nrest = 'drop'\ncolumns.age.role = 'quasi'\ncolumns.{kept}.role = 'keep'"
                );
                let said = |text: &str, toml: &str| {
                    let table = testing::table(text);
                    let (roles, request) = testing::request(&table, toml);
                    disclosures(&table, &roles, &request).map_err(|error| error.to_string())
                };
                assert_eq!(said(&plain, &toml), said(&counted, &format!("count = 'n'\n{toml}")));
            }
        }
    }

    fn found(more: &str) -> Result<Vec<String>> {
        let said = |warnings: Vec<Warning>| warnings.iter().map(Warning::to_string).collect();
        let table = testing::table(&people());
        let toml =
            format!("k = 2\nrest = \"drop\"\n[columns]\nage = {{ role = \"quasi\" }}\n{more}");
        let (roles, request) = testing::request(&table, &toml);
        disclosures(&table, &roles, &request).map(said)
    }

    #[test]
    fn a_kept_column_that_determines_a_quasi_identifier_needs_a_decision() {
        let error = found("born = { role = \"keep\" }").unwrap_err();
        assert!(error.reason().contains("`age`"), "{error}");
        assert_eq!(
            (error.code(), error.place().column.as_deref()),
            ("dependent-column", Some("born"))
        );
        assert!(error.hints().contains(&Hint::AcceptDependent { column: "born".into() }));
        assert!(found("born = { role = \"keep\", dependent = true }").unwrap().is_empty());
        assert!(found("ward = { role = \"keep\" }").unwrap().is_empty());
    }

    #[test]
    fn a_sensitive_column_is_checked_like_a_kept_one() {
        let warned = found("born = { role = \"sensitive\" }").unwrap_err().to_string();
        assert!(
            warned.contains("`born` is sensitive")
                && warned.contains("`age`")
                && warned.contains("`dependent = true` for column `born`"),
            "{warned}"
        );
        assert!(found("born = { role = \"sensitive\", dependent = true }").unwrap().is_empty());
        let warned = found("card = { role = \"sensitive\" }").unwrap();
        assert!(
            warned.len() == 1 && warned[0].contains("`card`") && warned[0].contains("100 %"),
            "{warned:?}"
        );
        assert!(found("ward = { role = \"sensitive\" }").unwrap().is_empty());
    }

    #[test]
    fn two_columns_that_determine_a_quasi_identifier_together_are_warned_of() {
        let row = |i: u32| {
            let age = 20 + i * 7 % 50;
            format!("{age},{},{},{}\n", age / 10, age % 10, ["north", "south"][(i % 2) as usize])
        };
        let table = testing::table(&format!(
            "age,tens,ones,ward\n{}",
            (0..400).map(row).collect::<String>()
        ));
        let of = |tens: &str, ones: &str| {
            let toml = format!(
                "k = 2\n[columns]\nage = {{ role = \"quasi\" }}\ntens = {{ role = \"{tens}\" }}\n\
                 ones = {{ role = \"{ones}\" }}\nward = {{ role = \"keep\" }}"
            );
            let (roles, request) = testing::request(&table, &toml);
            let found = disclosures(&table, &roles, &request).unwrap();
            found.iter().map(Warning::to_string).collect::<Vec<_>>()
        };
        for (tens, ones) in [("keep", "keep"), ("keep", "sensitive"), ("sensitive", "sensitive")] {
            let warned = of(tens, ones);
            assert!(
                warned.len() == 1 && warned[0].contains("`tens`") && warned[0].contains("`ones`"),
                "{warned:?}"
            );
            assert!(warned[0].contains("`age`") && warned[0].contains("400 rows"), "{warned:?}");
        }
        assert!(of("keep", "identifier").is_empty());
    }

    #[test]
    fn a_kept_column_that_is_nearly_an_identifier_is_warned_of() {
        let warned = found("card = { role = \"keep\" }").unwrap();
        assert!(
            warned.len() == 1 && warned[0].contains("`card`") && warned[0].contains("100 %"),
            "{warned:?}"
        );
    }
}
