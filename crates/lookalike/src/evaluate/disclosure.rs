//! Passed-through columns that disclose persons or quasi-identifiers: a column that determines a
//! quasi-identifier (a birth year beside an age) or does so for many rows, two columns that do so
//! together (the tens and the ones of an age), a column that is nearly an identifier or looks like
//! a name, a sampling weight that singles rows out, and many columns whose rows are unique
//! together. Sensitive columns are passed through too, so they are checked like kept ones.

use arrow_array::{Array, UInt64Array};
use arrow_schema::ArrowError;
use arrow_select::take::take;
use rustc_hash::{FxHashMap, FxHashSet};

use super::dependence::{Dependence, EVIDENCE, QuasiValues, dependence};
use super::free_text::looks_like_names;
use super::profile::person_word;
use super::sampling_weight::check_weights;
use super::uniqueness::{
    RowKeys, RowOwners, UniqueAlone, UniqueRows, cannot_compare, cell_keys, combine, hashes, unique,
};
use crate::codes::{Code, real};
use crate::error::{Error, Hint, Result, Warning};
use crate::numbers::{count, counted, percent};
use crate::request::{Request, Rest, Roles};
use crate::table::{Column, Table};

/// A column in which more than this share of rows has a unique value is nearly an identifier.
const NEARLY_UNIQUE: f64 = 0.3;

/// Where the columns that nobody named make more than this share of the rows unique, they are not
/// published without a word.
const MANY_UNIQUE: f64 = 0.05;

/// A column whose name points at persons has more values than this; a type of phone has fewer.
const FEW_NAMES: u64 = 20;

/// Pairs of columns are checked on at most so many rows, at equal steps over the table.
const PAIR_ROWS: usize = 1 << 16;

/// The most pairs that are checked: those of the first 25 columns.
const MOST_PAIRS: usize = 300;

/// What the columns that are published unchanged disclose.
#[derive(Debug, Default)]
pub struct Disclosures {
    /// Warnings about columns, in their order; then about pairs.
    pub warnings: Vec<Warning>,
    /// The unique rows of the table; none when no column is published unchanged.
    pub unique: Option<UniqueRows>,
    /// For each row a number that is equal for equal cells in all these columns; empty when there
    /// are none.
    pub(crate) keys: RowKeys,
}

/// Checks every kept and every sensitive column, and pairs of them, and counts the rows that are
/// unique on them.
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
/// When a column determines a quasi-identifier and its line does not accept that (`dependent`);
/// when columns that only `rest` keeps make many rows unique and the request does not accept that
/// (`accept_unique`); when a sampling weight is none.
pub fn disclosures(table: &Table, roles: &Roles, request: &Request) -> Result<Disclosures> {
    let owners = RowOwners::new(table, request)?;
    if let Some(weight) = &roles.weight {
        check_weights(table, weight)?;
    }
    let rows = owners.total(table.rows());
    let quasi = roles.quasi.iter().map(|name| QuasiValues::new(name, table.coded(name), &owners));
    let quasi: Vec<QuasiValues<'_>> = quasi.collect();
    let by_person = owners.by_person();
    let mut found = Disclosures::default();
    let mut alone = Vec::new();
    // Of the columns that the request names one by one.
    let mut named = Vec::new();
    let mut all = Vec::new();
    let mut single = Vec::new();
    for (name, how) in published(roles) {
        let Some(column) = table.column(name) else { continue };
        let is_accepted = request.column(name).is_some_and(|line| line.dependent);
        let keys = cell_keys(column)?;
        let dependence = dependence(&keys, &quasi, &owners, by_person.as_deref());
        let determines = dependence.determines.map(|at| quasi[at].name);
        if let (Some(quasi), false) = (determines, is_accepted) {
            return Err(dependent(name, how, quasi));
        }
        let unique = unique(&keys, &owners);
        let is_nearly_unique = real(unique) > NEARLY_UNIQUE * real(rows);
        if roles.weight.as_ref() == Some(name) {
            found.warnings.extend(singling_out(name, unique, rows));
        } else if is_nearly_unique {
            found.warnings.push(nearly_unique(name, how, real(unique) / real(rows)));
        }
        found.warnings.extend(naming(column, how, &dependence));
        if !is_accepted {
            found.warnings.extend(nearly_dependent(name, how, &dependence, &quasi));
        }
        // A quasi-identifier that one column discloses, or may disclose, is also disclosed by two;
        // unique rows determine every quasi-identifier.
        if !is_accepted && determines.is_none() && !is_nearly_unique {
            single.push(column);
        }
        alone.push(UniqueAlone { column: name.clone(), unique });
        if request.column(name).is_some() && request.rest == Some(Rest::Keep) {
            combine(&mut named, keys.clone());
        }
        combine(&mut all, keys);
    }
    found.warnings.extend(pairs(table, &single, &quasi, &owners)?);
    if !alone.is_empty() {
        let together = match &alone[..] {
            [one] => one.unique,
            _ => unique(&all, &owners),
        };
        found.keys = RowKeys::new(all);
        let counted = UniqueRows { rows, alone, together, with_quasi: None };
        refuse_rest(&counted, unique(&named, &owners), request)?;
        found.unique = Some(counted);
    }
    Ok(found)
}

/// The passed-through columns, in the table's order within each role.
fn published(roles: &Roles) -> impl Iterator<Item = (&String, &'static str)> {
    let how = |name| if roles.weight.as_ref() == Some(name) { WEIGHT } else { "kept" };
    let keep = roles.keep.iter().map(move |name| (name, how(name)));
    keep.chain(roles.sensitive.iter().map(|name| (name, "sensitive")))
}

/// How a sampling weight is called in a message.
const WEIGHT: &str = "the weight";

/// What a column can be instead. A weight is never a quasi-identifier.
fn coarser(name: &str, how: &str) -> Hint {
    match how {
        WEIGHT => Hint::plain("round the weights"),
        _ => Hint::MakeQuasi { column: name.to_string() },
    }
}

/// The error for a column that determines a quasi-identifier.
fn dependent(name: &String, how: &str, quasi: &str) -> Error {
    let reason = format!(
        "column `{name}` is {how} but determines the quasi-identifier `{quasi}`: whoever sees one \
         knows the other"
    );
    Error::request("dependent-column", reason)
        .about_column(name)
        .hint(Hint::DropColumn { column: name.clone() })
        .hint(coarser(name, how))
        .hint(Hint::AcceptDependent { column: name.clone() })
}

fn nearly_unique(name: &String, how: &str, share: f64) -> Warning {
    let reason = format!(
        "column `{name}` is {how} and published unchanged, but {:.0} % of its rows have a unique \
         value: whoever knows it knows the row",
        share * 100.0
    );
    Warning::new("nearly-unique", reason)
        .about_column(name)
        .hint(Hint::DropColumn { column: name.clone() })
        .hint(Hint::RoundColumn { column: name.clone() })
        .hint(Hint::MakeQuasi { column: name.clone() })
}

/// The warning about a sampling weight: it is published, and rows with a weight of their own can
/// be found by it.
fn singling_out(name: &String, unique: u64, rows: u64) -> Option<Warning> {
    let reason = format!(
        "column `{name}` is the sampling weight and published unchanged: {} of {} rows ({}) have a \
         weight that no other row has, and can be found by it",
        count(unique),
        count(rows),
        percent(real(unique) / real(rows.max(1)))
    );
    let warning = Warning::new("weight-singles-out", reason).about_column(name);
    let drop = Hint::DropColumn { column: name.clone() };
    (unique > 0).then(|| warning.hint(coarser(name, WEIGHT)).hint(drop))
}

/// The warning about a column that looks like the names of persons, by its header or its cells.
fn naming(column: &Column, how: &str, found: &Dependence) -> Option<Warning> {
    let name = &column.name;
    let why = match person_word(name).filter(|_| found.values > FEW_NAMES) {
        Some(word) => format!("\"{word}\" in its name points at them"),
        None if looks_like_names(column, found.values, found.checked) => {
            "they are texts of several words that few rows share, as names and notes are"
                .to_string()
        }
        None => return None,
    };
    let reason = format!(
        "column `{name}` is {how} and published unchanged, but its cells may name persons: {why}"
    );
    let warning = Warning::new("looks-like-a-name", reason).about_column(name);
    Some(warning.hint(Hint::DropColumn { column: name.clone() }))
}

/// The warning about quasi-identifiers whose value a column gives for many rows.
fn nearly_dependent(
    name: &String,
    how: &str,
    found: &Dependence,
    quasi: &[QuasiValues<'_>],
) -> Option<Warning> {
    let given: Vec<String> = found
        .near
        .iter()
        .map(|&(at, share)| format!("`{}` for {}", quasi[at].name, percent(share)))
        .collect();
    let (column, more) = (name.clone(), if given.len() > 1 { "s" } else { "" });
    let reason = format!(
        "column `{name}` is {how} and published unchanged, and gives the quasi-identifier{more} {} \
         of the rows with certainty: their value of `{name}` has only one value there",
        given.join(", ")
    );
    let warning = Warning::new("near-dependency", reason).about_column(name);
    let ways = [Hint::DropColumn { column }, coarser(name, how)];
    (!given.is_empty()).then(|| ways.into_iter().fold(warning, Warning::hint))
}

/// Refuses columns that nobody named and that make many rows unique. `named` rows are unique
/// without them.
fn refuse_rest(found: &UniqueRows, named: u64, request: &Request) -> Result<()> {
    let of_rest = found.alone.iter().filter(|alone| request.column(&alone.column).is_none());
    let of_rest = of_rest.count();
    let is_asked_for = request.rest == Some(Rest::Keep) && of_rest > 0 && !request.accept_unique;
    if !is_asked_for || real(found.together - named) <= MANY_UNIQUE * real(found.rows) {
        return Ok(());
    }
    let reason = format!(
        "{} of {} rows ({}) are unique on the {} published unchanged, {of_rest} of them by `rest`: \
         whoever knows these values of a person finds the row, whatever k is",
        count(found.together),
        count(found.rows),
        percent(found.share()),
        counted(found.alone.len() as u64, "column that is", "columns that are"),
    );
    Err(Error::request("unique-rest", reason)
        .hint(Hint::KeepByName)
        .hint(Hint::DropRest)
        .hint(Hint::AcceptUnique))
}

/// Warns of pairs of columns that determine a quasi-identifier together and not alone.
fn pairs(
    table: &Table,
    columns: &[&Column],
    quasi_values: &[QuasiValues<'_>],
    owners: &RowOwners<'_>,
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
    let quasi: Vec<(Vec<Code>, usize, f64)> = quasi_values
        .iter()
        .map(|QuasiValues { name, disagreement, .. }| {
            let codes: Vec<Code> =
                rows.iter().map(|&row| table.coded(name).codes().get(row)).collect();
            let values = codes.iter().collect::<FxHashSet<_>>().len();
            (codes, values, *disagreement)
        })
        .collect();
    let checked: u64 = rows.iter().map(|&row| owners.counts.of(row)).sum();
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
                columns[one].name, columns[other].name, quasi_values[at].name, checked
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
                    let found = disclosures(&table, &roles, &request);
                    found.map(|found| (found.warnings, found.unique)).map_err(|e| e.to_string())
                };
                assert_eq!(said(&plain, &toml), said(&counted, &format!("count = 'n'\n{toml}")));
            }
        }
    }

    fn found(more: &str) -> Result<Vec<String>> {
        let said = |found: Disclosures| found.warnings.iter().map(Warning::to_string).collect();
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
            found.warnings.iter().map(Warning::to_string).collect::<Vec<_>>()
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

    /// The warnings about a table of so many rows, and the error as text.
    fn said(rows: u32, header: &str, row: impl Fn(u32) -> String, toml: &str) -> Vec<String> {
        let text = format!("{header}\n{}", (0..rows).map(row).collect::<String>());
        let table = testing::table(&text);
        let (roles, request) = testing::request(&table, toml);
        match disclosures(&table, &roles, &request) {
            Ok(found) => found.warnings.iter().map(Warning::to_string).collect(),
            Err(error) => vec![format!("{}: {error}", error.code())],
        }
    }

    /// A number that looks random.
    fn hash(i: u32, salt: u32) -> u32 {
        let x = (i + 1).wrapping_mul(2_654_435_761).rotate_left(13) ^ salt.wrapping_mul(40_503);
        x.wrapping_mul(2_246_822_519) >> 8
    }

    #[test]
    fn a_column_that_gives_a_quasi_identifier_for_many_rows_is_warned_of_with_its_share() {
        // Every fourth row is a child in its household, and then never married.
        let row = |i: u32| {
            let is_child = i.is_multiple_of(4);
            let marital = if is_child { 0 } else { hash(i, 1) % 4 };
            let household = if is_child { 9 } else { hash(i, 2) % 3 };
            format!("{},{marital},{household}\n", 20 + hash(i, 3) % 40)
        };
        let toml = "k = 2\n[columns]\nage.role = 'quasi'\nmarital.role = 'quasi'\nhousehold";
        for role in ["keep", "sensitive"] {
            let toml = format!("{toml} = {{ role = '{role}' }}");
            let warned = said(800, "age,marital,household", row, &toml);
            assert!(
                warned.len() == 1
                    && warned[0].contains("`marital` for 25.0 % of the rows with certainty")
                    && !warned[0].contains("`age`"),
                "{warned:?}"
            );
        }
        let accepted = format!("{toml} = {{ role = 'keep', dependent = true }}");
        assert!(said(800, "age,marital,household", row, &accepted).is_empty());
        // By chance alone: nearly all rows have one value, or the groups are small.
        let mostly = |i: u32| format!("{},{}\n", u32::from(hash(i, 1) % 100 < 4), hash(i, 2) % 150);
        let toml = "k = 2\n[columns]\nrare.role = 'quasi'\ngroup.role = 'keep'";
        assert!(said(1_000, "rare,group", mostly, toml).is_empty());
        let small = |i: u32| format!("{},{}\n", hash(i, 1) % 2, i / 3);
        assert!(said(600, "rare,group", small, toml).is_empty());
    }

    #[test]
    fn a_column_that_looks_like_names_is_warned_of_by_its_header_and_by_its_cells() {
        let toml = |name: &str, role: &str| {
            format!("k = 2\n[columns]\nage.role = 'quasi'\n{name}.role = '{role}'")
        };
        let with = |name: &str, role: &str, cell: &dyn Fn(u32) -> String| {
            let row = |i: u32| format!("{},{}\n", hash(i, 1) % 50, cell(i));
            said(900, &format!("age,{name}"), row, &toml(name, role))
        };
        let surname = |i: u32| format!("Name{}", hash(i, 2) % 60);
        for role in ["keep", "sensitive"] {
            let warned = with("surname", role, &surname);
            assert!(
                warned.len() == 1 && warned[0].contains("\"surname\" in its name points at them"),
                "{warned:?}"
            );
        }
        assert_eq!(with("customer_name", "keep", &surname).len(), 1);
        // Labels, whatever they are of; and few values.
        assert!(with("country_name", "keep", &surname).is_empty());
        assert!(with("phone_type", "keep", &|i| format!("type{}", i % 3)).is_empty());
        let text = |i: u32| format!("Dr. Anna N{} saw it", hash(i, 2) % 300);
        let warned = with("finding", "sensitive", &text);
        assert!(
            warned.len() == 1 && warned[0].contains("texts of several words that few rows share"),
            "{warned:?}"
        );
        assert!(with("finding", "sensitive", &|i| format!("D{}.1", hash(i, 2) % 300)).is_empty());
    }

    #[test]
    fn columns_that_nobody_named_are_refused_where_they_make_many_rows_unique() {
        let columns = "age,a,b,c";
        let row = |i: u32| format!("{},{},{},{}\n", hash(i, 3) % 5, i % 20, i / 20, hash(i, 1) % 2);
        let top = "k = 2\ncolumns.age.role = 'quasi'\n";
        let rest = format!("{top}rest = 'keep'\n");
        let refused = said(400, columns, row, &rest);
        assert!(
            refused.len() == 1
                && refused[0].starts_with(
                    "unique-rest: 400 of 400 rows (100.0 %) are unique on the 3 columns that are \
                     published unchanged, 3 of them by `rest`"
                )
                && refused[0].contains("`accept_unique = true`"),
            "{refused:?}"
        );
        let pairs_alone = |said: Vec<String>| said.iter().all(|text| !text.contains("unique"));
        assert!(pairs_alone(said(400, columns, row, &format!("accept_unique = true\n{rest}"))));
        // Named one by one, or unique without the column that nobody named.
        let named = "columns.a.role = 'keep'\ncolumns.b.role = 'keep'\n";
        assert!(pairs_alone(said(400, columns, row, &format!("{rest}{named}"))));
        assert!(
            said(400, columns, row, &format!("{rest}columns.a.role = 'keep'"))[0]
                .contains("2 of them by `rest`")
        );
        let dropped = format!("{top}rest = 'drop'");
        assert!(said(400, columns, row, &dropped).is_empty());
        // Few unique rows are no reason.
        let few = |i: u32| format!("{},{},{},0\n", hash(i, 3) % 5, i.min(15), hash(i, 1) % 2);
        assert!(pairs_alone(said(400, columns, few, &rest)));
    }

    #[test]
    fn a_sampling_weight_is_warned_of_by_the_rows_that_it_singles_out() {
        let row = |i: u32| format!("{},{}.25\n", i % 7, 100 + i.min(90));
        let toml = "k = 2\ncolumns.age.role = 'quasi'\ncolumns.w.role = 'weight'";
        let warned = said(200, "age,w", row, toml);
        assert!(
            warned.len() == 1
                && warned[0]
                    .contains("`w` is the sampling weight and published unchanged: 90 of 200"),
            "{warned:?}"
        );
        assert!(said(200, "age,w", |i| format!("{},{}\n", i % 7, i % 2 + 1), toml).is_empty());
        let wrong = said(200, "age,w", |i| format!("{},{}\n", i % 7, i % 20), toml);
        assert!(wrong[0].starts_with("not-a-weight: column `w`, data row 1: "), "{wrong:?}");
        // Weights by age group: they determine it.
        let by_age = said(200, "age,w", |i| format!("{0},1.{0}\n", i % 7), toml);
        assert!(by_age[0].contains("`w` is the weight but determines"), "{by_age:?}");
    }
}
