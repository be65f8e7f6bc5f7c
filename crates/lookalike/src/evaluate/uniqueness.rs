//! How many rows are unique on the columns that are published unchanged: on each alone, on all of
//! them together, and together with the quasi-identifiers. No k protects such a row from somebody
//! who knows these values of a person.
//!
//! Every cell becomes a number of 64 bits, equal for equal cells (its code, or a hash), and the
//! numbers of a row are mixed into one: columns are read once, and rows are grouped by one sort of
//! numbers. Two different rows of ten million get the same number with a chance of about one in
//! 200,000; then two rows that are unique are not counted.

use std::hash::BuildHasher;

use arrow_array::ArrayRef;
use arrow_row::{RowConverter, SortField};
use arrow_schema::ArrowError;
use rayon::prelude::*;
use rustc_hash::{FxBuildHasher, FxHashMap};
use serde::Serialize;

use crate::audit::surface;
use crate::codes::{RowId, real, rows_by_number};
use crate::error::{Error, Result};
use crate::evaluate::person_of_row::person_of_row;
use crate::problem::CountColumn;
use crate::request::Request;
use crate::table::{Column, Table};

/// Rows that are unique on columns that are published unchanged: kept and sensitive ones.
///
/// With a person key, a row is unique when no other person has a row with the same cells.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct UniqueRows {
    /// Rows of the table.
    pub rows: u64,
    /// For each column, the rows that are unique on it alone.
    pub alone: Vec<UniqueAlone>,
    /// Rows that are unique on all these columns together; at least as many as on any one of them.
    pub together: u64,
    /// Released rows that are unique on these columns and the published quasi-identifiers
    /// together; none where nothing is released.
    pub with_quasi: Option<u64>,
}

/// Rows that are unique on one column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UniqueAlone {
    /// The column's name.
    pub column: String,
    /// Rows whose cell no other row has.
    pub unique: u64,
}

impl UniqueRows {
    /// The share of the rows that are unique on all columns together.
    pub fn share(&self) -> f64 {
        real(self.together) / real(self.rows.max(1))
    }

    /// The column on which most rows are unique; none when no row is unique on a column alone.
    pub fn worst(&self) -> Option<&UniqueAlone> {
        // The first of several: `max_by_key` gives the last.
        let worst = self.alone.iter().rev().max_by_key(|alone| alone.unique);
        worst.filter(|alone| alone.unique > 0)
    }
}

/// Counts the unique rows of a table as it is, a source or a release: on these columns, and on them
/// with the quasi-identifiers. None when the table has none of the columns.
///
/// # Example
/// ```
/// # use lookalike::{Request, audit, evaluate::uniqueness::unique_rows, table};
/// let csv = "age,ward,cost\n[30-39],a,10\n[30-39],a,10\n[30-39],b,10\n[40-49],b,20\n".to_string();
/// let request = Request::parse("k = 1\nrest = 'keep'\ncolumns.age.role = 'quasi'")?;
/// let source = table::open_text(csv, "release.csv".as_ref())?;
/// let treatments = audit::treatments(source.names(), &request, audit::AuditView::Release);
/// let table = source.read(&treatments)?;
/// let found = unique_rows(&table, &request, &["ward".into(), "cost".into()])?.expect("columns");
/// assert_eq!((found.together, found.with_quasi), (2, Some(2)));
/// assert_eq!(found.alone[1].unique, 1, "one row has the cost 20");
/// # Ok::<(), lookalike::Error>(())
/// ```
///
/// # Errors
/// When the table lacks a column of the request, or cells cannot be compared.
pub fn unique_rows(
    table: &Table,
    request: &Request,
    columns: &[String],
) -> Result<Option<UniqueRows>> {
    let columns = columns.iter().filter_map(|name| table.column(name));
    let columns: Vec<&Column> = columns.collect();
    if columns.is_empty() {
        return Ok(None);
    }
    let surface = surface(table, request)?;
    let owners = RowOwners::new(table, request)?;
    let mut keys = Vec::new();
    let mut alone = Vec::new();
    for column in columns {
        let own = cell_keys(column)?;
        alone.push(UniqueAlone { column: column.name.clone(), unique: unique(&own, &owners) });
        combine(&mut keys, own);
    }
    let together = unique(&keys, &owners);
    for name in surface.quasi.iter().flat_map(|quasi| quasi.columns()) {
        combine(&mut keys, table.column(name).map_or(Ok(Vec::new()), cell_keys)?);
    }
    let with_quasi = Some(unique(&keys, &owners));
    Ok(Some(UniqueRows { rows: owners.total(table.rows()), alone, together, with_quasi }))
}

/// Whose the rows are: each its own, or of persons; and how many each stands for.
#[derive(Debug)]
pub(crate) struct RowOwners<'t> {
    pub(super) counts: CountColumn<'t>,
    persons: Option<Vec<u32>>,
}

impl<'t> RowOwners<'t> {
    /// The owners by a count column and a person key, as far as the table was read with it.
    ///
    /// # Errors
    /// When a count is none.
    pub(crate) fn new(table: &'t Table, request: &Request) -> Result<RowOwners<'t>> {
        let counts = CountColumn::new(table, request.count.as_ref())?;
        Ok(RowOwners { counts, persons: person_of_row(table, request) })
    }

    /// The rows that this many rows of the table stand for.
    pub(super) fn total(&self, rows: usize) -> u64 {
        self.counts.total(rows)
    }

    /// The number of a row's person; none where rows have no persons.
    pub(super) fn person(&self, row: usize) -> Option<u32> {
        self.persons.as_ref().map(|persons| persons[row])
    }

    /// The rows, those of a person side by side; none where rows have no persons.
    pub(super) fn by_person(&self) -> Option<Vec<RowId>> {
        let persons = self.persons.as_ref()?;
        let people = persons.iter().max().map_or(0, |&last| last as usize + 1);
        let (_, rows) = rows_by_number(persons.len(), people, |row| persons[row] as usize);
        Some(rows)
    }
}

/// One number a row for a column's cells, equal for equal cells: the code where the column is
/// coded, else a hash.
///
/// # Errors
/// When cells of that type cannot be compared.
pub(crate) fn cell_keys(column: &Column) -> Result<Vec<u64>> {
    if let Some(coded) = &column.coded {
        return Ok(coded.codes().iter().map(u64::from).collect());
    }
    let chunks = column.passthrough.as_deref().unwrap_or_default();
    let hashed: Vec<Result<Vec<u64>>> =
        chunks.par_iter().map(|chunk| hashes(column, chunk)).collect();
    let mut keys = Vec::with_capacity(chunks.iter().map(|chunk| chunk.len()).sum());
    for chunk in hashed {
        keys.append(&mut chunk?);
    }
    Ok(keys)
}

/// The hash of each cell of an array.
pub(super) fn hashes(column: &Column, cells: &ArrayRef) -> Result<Vec<u64>> {
    let unreadable = |error: ArrowError| cannot_compare(column, &error);
    let converter =
        RowConverter::new(vec![SortField::new(column.data_type.clone())]).map_err(unreadable)?;
    let rows = converter.convert_columns(std::slice::from_ref(cells)).map_err(unreadable)?;
    Ok(rows.iter().map(|row| FxBuildHasher.hash_one(row.as_ref())).collect())
}

pub(super) fn cannot_compare(column: &Column, error: &ArrowError) -> Error {
    Error::data("cannot-compare", error.to_string()).at_column(&column.name)
}

/// Mixes the numbers of a further column into those of the rows; the first column gives its own.
pub(crate) fn combine(keys: &mut Vec<u64>, more: Vec<u64>) {
    if keys.is_empty() {
        *keys = more;
        return;
    }
    keys.par_iter_mut().zip(more).for_each(|(key, more)| *key = mix(*key, more));
}

/// One number of two. For each first number it is a permutation of the second, and the other way
/// round: pairs that differ in one part never meet. The constants are those of splitmix64
/// (G. Steele et al., Fast Splittable Pseudorandom Number Generators, OOPSLA 2014).
pub(super) fn mix(one: u64, other: u64) -> u64 {
    let finish = |x: u64| {
        let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    };
    finish(one.wrapping_add(0x9e37_79b9_7f4a_7c15)) ^ finish(!other)
}

/// With at most so many different numbers they are counted in a small map, without a sort.
const FEW_KEYS: usize = 1 << 12;

/// The rows whose number no other row, or no other person, has.
pub(super) fn unique(keys: &[u64], owners: &RowOwners<'_>) -> u64 {
    if owners.persons.is_none() && !owners.counts.is_counted() {
        return unique_numbers(keys);
    }
    let row_id = |row: usize| RowId::try_from(row).expect("a row number");
    let entry = |(row, &key): (usize, &u64)| OwnedKey {
        key,
        owner: owners.person(row).unwrap_or_else(|| row_id(row)),
        count: u32::try_from(owners.counts.of(row)).expect("a count has 32 bits"),
    };
    if let Some(unique) = unique_of_few(keys.iter().enumerate().map(entry), owners) {
        return unique;
    }
    let mut entries: Vec<OwnedKey> = keys.iter().enumerate().map(entry).collect();
    entries.par_sort_unstable();
    of_sorted(&entries, owners.persons.is_some())
}

/// The numbers that occur once.
fn unique_numbers(keys: &[u64]) -> u64 {
    let mut seen: FxHashMap<u64, bool> = FxHashMap::default();
    for &key in keys {
        seen.entry(key).and_modify(|is_alone| *is_alone = false).or_insert(true);
        if seen.len() > FEW_KEYS {
            let mut sorted = keys.to_vec();
            sorted.par_sort_unstable();
            return sorted.chunk_by(|a, b| a == b).filter(|same| same.len() == 1).count() as u64;
        }
    }
    seen.values().filter(|is_alone| **is_alone).count() as u64
}

/// The number of a row's cells, whose row it is, and for how many it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct OwnedKey {
    key: u64,
    owner: u32,
    count: u32,
}

/// As [`of_sorted`], in one pass; none when there are too many different numbers.
fn unique_of_few(entries: impl Iterator<Item = OwnedKey>, owners: &RowOwners<'_>) -> Option<u64> {
    // For each number its one owner, none when it has several, and its rows.
    let mut seen: FxHashMap<u64, (Option<u32>, u64)> = FxHashMap::default();
    for OwnedKey { key, owner, count } in entries {
        let (one, rows) = seen.entry(key).or_insert((Some(owner), 0));
        *one = one.filter(|&one| one == owner);
        *rows += u64::from(count);
        if seen.len() > FEW_KEYS {
            return None;
        }
    }
    let has_persons = owners.persons.is_some();
    let alone = seen.values().filter(|(one, rows)| one.is_some() && (has_persons || *rows == 1));
    Some(alone.map(|(_, rows)| rows).sum())
}

/// The rows of keys that have one owner; one that is a row, and not a person, stands for itself
/// alone.
fn of_sorted(entries: &[OwnedKey], has_persons: bool) -> u64 {
    let mut unique = 0;
    for same in entries.chunk_by(|a, b| a.key == b.key) {
        let rows: u64 = same.iter().map(|entry| u64::from(entry.count)).sum();
        let has_one_owner = same[0].owner == same[same.len() - 1].owner;
        unique += if has_one_owner && (has_persons || rows == 1) { rows } else { 0 };
    }
    unique
}

/// A number for each row, equal for equal cells: as it is, or numbered anew where there are few.
#[derive(Debug)]
pub(crate) enum RowKeys {
    /// Any numbers; empty when no column is published unchanged.
    Many(Vec<u64>),
    /// Fewer different ones than a code of 16 bits has.
    Few(Vec<u16>),
}

impl Default for RowKeys {
    fn default() -> RowKeys {
        RowKeys::Many(Vec::new())
    }
}

impl RowKeys {
    /// In a quarter of the memory where there are few different numbers.
    pub(crate) fn new(keys: Vec<u64>) -> RowKeys {
        let mut numbers: FxHashMap<u64, u16> = FxHashMap::default();
        for &key in &keys {
            let next = numbers.len();
            let next = u16::try_from(next).expect("few numbers");
            numbers.entry(key).or_insert(next);
            if numbers.len() > FEW_KEYS {
                return RowKeys::Many(keys);
            }
        }
        RowKeys::Few(keys.par_iter().map(|key| numbers[key]).collect())
    }

    fn of(&self, row: RowId) -> u64 {
        match self {
            RowKeys::Many(keys) => keys[row as usize],
            RowKeys::Few(keys) => u64::from(keys[row as usize]),
        }
    }
}

/// The rows of a release in some order: the row of the table, its class, and for how many rows it
/// stands there; without counts each stands for itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlacedRows<'a> {
    pub(crate) rows: &'a [RowId],
    pub(crate) classes: &'a [u32],
    pub(crate) counts: &'a [u32],
}

/// Parts of the rows that are counted at the same time.
const PARTS: usize = 64;

/// The released rows that are unique on their class, which stands for the published
/// quasi-identifiers, and the numbers of their cells. The rows may come in any order; where those of
/// a class follow each other, they are grouped class by class.
pub(crate) fn unique_in_classes(
    placed: PlacedRows<'_>,
    keys: &RowKeys,
    persons: Option<&[u32]>,
) -> u64 {
    let PlacedRows { rows, classes, counts } = placed;
    let entry = |at: usize, key: u64| OwnedKey {
        key,
        owner: persons.map_or(rows[at], |persons| persons[rows[at] as usize]),
        count: counts.get(at).copied().unwrap_or(1),
    };
    if !classes.is_sorted() {
        let key = |at: usize| mix(keys.of(rows[at]), u64::from(classes[at]));
        let mut all: Vec<OwnedKey> =
            (0..rows.len()).into_par_iter().map(|at| entry(at, key(at))).collect();
        all.par_sort_unstable();
        return of_sorted(&all, persons.is_some());
    }
    // Each part begins with a class.
    let begin = |part: usize| {
        let at = part * rows.len() / PARTS;
        match at {
            0 => 0,
            at => classes.partition_point(|&class| class <= classes[at - 1]),
        }
    };
    let of_part = |part: usize| {
        let here = begin(part)..begin(part + 1);
        let (mut unique, mut own) = (0, Vec::new());
        let mut start = here.start;
        for class in classes[here].chunk_by(|a, b| a == b) {
            own.clear();
            own.extend((start..start + class.len()).map(|at| entry(at, keys.of(rows[at]))));
            own.sort_unstable();
            unique += of_sorted(&own, persons.is_some());
            start += class.len();
        }
        unique
    };
    (0..PARTS).into_par_iter().map(of_part).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::disclosure::disclosures;
    use crate::rng::Rng;
    use crate::table::Treatment;
    use crate::testing;

    /// A random table: a quasi-identifier, three published columns, a person and a count.
    fn cells(seed: u64) -> Vec<[String; 6]> {
        let mut rng = Rng::new(seed);
        let rows = 1 + rng.below(40);
        let width = 1 + rng.below(8);
        let text = |rng: &mut Rng, below: u64| match rng.below(below) {
            0 => String::new(),
            other => format!("v{other}"),
        };
        let row = |_| {
            let cells = [width, 4, 9].map(|below| text(&mut rng, below));
            let [a, b, c] = cells;
            let (quasi, person) = (rng.below(3), rng.below(rows / 2 + 1));
            let count = 1 + rng.below(3) / 2;
            [format!("{quasi}"), a, b, c, format!("p{person}"), format!("{count}")]
        };
        (0..rows).map(row).collect()
    }

    /// Rows for which no other row, or no row of another person, has the same cells in these
    /// columns: by comparison of all pairs.
    fn slow(rows: &[[String; 6]], columns: &[usize], by: By) -> u64 {
        let count = |row: &[String; 6]| if by == By::Counts { row[5].parse().unwrap() } else { 1 };
        let is_same = |a: &[String; 6], b: &[String; 6]| columns.iter().all(|&at| a[at] == b[at]);
        let is_unique = |at: usize| {
            let others = rows.iter().enumerate().filter(|(other, row)| {
                let is_other = match by {
                    By::Persons => row[4] != rows[at][4],
                    By::Rows | By::Counts => *other != at,
                };
                is_other && is_same(row, &rows[at])
            });
            others.count() == 0 && count(&rows[at]) == 1
        };
        (0..rows.len()).filter(|&at| is_unique(at)).count() as u64
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum By {
        Rows,
        Counts,
        Persons,
    }

    #[test]
    fn unique_rows_are_those_that_a_comparison_of_all_pairs_finds() {
        for seed in 0..600 {
            let rows = cells(seed);
            let by = [By::Rows, By::Counts, By::Persons][usize::try_from(seed % 3).unwrap()];
            let lines = rows.iter().map(|row| row.join(",") + "\n").collect::<String>();
            let text = format!("q,a,b,c,person,n\n{lines}");
            let more = match by {
                By::Rows => "rest = 'drop'",
                By::Counts => "rest = 'drop'\ncount = 'n'",
                By::Persons => "rest = 'drop'\ncolumns.person.role = 'person'",
            };
            let published = ["a", "b", "c"]
                .map(|name| format!("columns.{name} = {{ role = 'keep', dependent = true }}\n"));
            let toml = format!("k = 1\n{more}\ncolumns.q.role = 'quasi'\n{}", published.concat());
            // Once by codes, once by hashes of the cells.
            let coded = testing::table(&text);
            let source = crate::table::open_text(text, "t.csv".as_ref()).unwrap();
            let hashed = [Treatment::PassThrough; 6].into_iter().enumerate();
            let hashed = hashed.map(|(at, how)| if at % 4 == 0 { Treatment::Code } else { how });
            let mut hashed: Vec<Treatment> = hashed.collect();
            hashed[5] = Treatment::Code;
            for table in [coded, source.read(&hashed).unwrap()] {
                let (roles, request) = testing::request(&table, &toml);
                let of = |columns: &[usize]| slow(&rows, columns, by);
                let found = unique_rows(&table, &request, &roles.keep).unwrap().unwrap();
                let alone: Vec<u64> = found.alone.iter().map(|alone| alone.unique).collect();
                assert_eq!(alone, [of(&[1]), of(&[2]), of(&[3])], "{seed} {by:?}");
                assert_eq!(found.together, of(&[1, 2, 3]), "{seed} {by:?}");
                assert_eq!(found.with_quasi, Some(of(&[0, 1, 2, 3])), "{seed} {by:?}");
                // The run counts the same, the last number by class: here by the quasi-identifier.
                let run = disclosures(&table, &roles, &request).unwrap();
                let unique = run.unique.unwrap();
                assert_eq!((&unique.alone, unique.together), (&found.alone, found.together));
                let count =
                    |row: &[String; 6]| if by == By::Counts { row[5].parse() } else { Ok(1) };
                let mut placed: Vec<(RowId, u32, u32)> = (0..)
                    .zip(&rows)
                    .map(|(row, cells)| (row, cells[0].parse().unwrap(), count(cells).unwrap()))
                    .collect();
                for _ in 0..2 {
                    let rows: Vec<RowId> = placed.iter().map(|placed| placed.0).collect();
                    let classes: Vec<u32> = placed.iter().map(|placed| placed.1).collect();
                    let counts: Vec<u32> = placed.iter().map(|placed| placed.2).collect();
                    let all = PlacedRows { rows: &rows, classes: &classes, counts: &counts };
                    let persons = person_of_row(&table, &request);
                    let in_classes = unique_in_classes(all, &run.keys, persons.as_deref());
                    assert_eq!(Some(in_classes), found.with_quasi, "{seed} {by:?}");
                    placed.sort_by_key(|placed| placed.1);
                }
            }
        }
    }

    #[test]
    fn many_different_numbers_are_sorted_and_few_are_not() {
        let twice = |values: u64, once: u64| {
            let keys: Vec<u64> = (0..values).chain(once..values).map(|key| mix(key, 7)).collect();
            unique_numbers(&keys)
        };
        for values in [10, FEW_KEYS as u64, FEW_KEYS as u64 + 1, 20_000] {
            assert_eq!(twice(values, 3), 3);
        }
    }
}
