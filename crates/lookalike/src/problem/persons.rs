//! Persons: the rows of each, the values that a person has, and which of the two readings fits.
//!
//! *Whole*: all rows of a person are in one class. A problem then has tuples of persons instead of
//! rows: on a quasi-identifier that changes over a person's rows the search sees the middle value,
//! and every class covers all values of its persons. In a sensitive column a person has one value or
//! a set of them.
//!
//! *Rows*: rows go to any class. The person of a row is one more column of the tally, which k counts,
//! and each row weighs one over the number of its person's rows.

use rayon::prelude::*;

use super::privacy::{Counting, Model, PluralColumn};
use super::sensitive_rules::SensitiveColumns;
use super::tuples::{Recoded, Tuples, distinct};
use super::{CountColumn, Problem};
use crate::codes::{Code, CodeRange, Codes, RowId, rows_by_number};
use crate::error::{Error, Hint, Result};
use crate::request::{ModelSpec, Order, Persons, Request, Roles, RuleSpec};
use crate::table::{Coded, Table};

/// The rows of each person, rising. Persons are numbered in the order of their keys: the order of
/// the table has no influence.
#[derive(Clone, Debug)]
pub struct PersonRows {
    rows: Vec<RowId>,
    starts: Vec<u32>,
}

impl PersonRows {
    /// The persons of a table; none when no column names them.
    ///
    /// # Errors
    /// [`Data`](crate::ErrorKind::Data) with the first row that has no person.
    pub(super) fn new(
        table: &Table,
        roles: &Roles,
        request: &Request,
    ) -> Result<Option<PersonRows>> {
        if roles.person.is_empty() {
            return Ok(None);
        }
        let key: Vec<&Coded> = roles.person.iter().map(|name| table.coded(name)).collect();
        let is_missing = |text: &Option<String>| {
            text.as_ref().is_none_or(|text| {
                text.is_empty() || request.missing.iter().any(|marker| marker.trim() == text.trim())
            })
        };
        let missing: Vec<Vec<bool>> =
            key.iter().map(|column| column.values().iter().map(is_missing).collect()).collect();
        let has_none = |row: &usize| {
            let cells = key.iter().zip(&missing);
            cells.into_iter().all(|(column, missing)| missing[column.codes().get(*row) as usize])
        };
        if missing.iter().all(|column| column.contains(&true))
            && let Some(row) = (0..table.rows()).find(has_none)
        {
            let reason = "this row has no person, so nobody knows how many persons a class has: \
                          complete the key, remove the row, or give it a key of its own";
            return Err(Error::data("no-person", reason).at_row(&roles.person[0], row as u64));
        }
        let ranks: Vec<Vec<Code>> =
            key.iter().zip(&missing).map(|(column, missing)| ranks(column, missing)).collect();
        let columns: Vec<Recoded> =
            key.iter().zip(&ranks).map(|(column, ranks)| Recoded::new(column, ranks)).collect();
        if let [column] = &columns[..] {
            // No cell is missing, so the ranks are 1 to the number of values.
            let person = |row: usize| column.code(row) as usize - 1;
            let (starts, rows) = rows_by_number(table.rows(), ranks[0].len(), person);
            return Ok(Some(PersonRows { rows, starts }));
        }
        let Tuples { rows, starts } = distinct(&columns, table.rows());
        Ok(Some(PersonRows { rows, starts }))
    }

    /// The number of persons.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// True for a table without persons.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The rows of a person, rising.
    pub fn of(&self, person: u32) -> &[RowId] {
        let ends = self.starts[person as usize] as usize..self.starts[person as usize + 1] as usize;
        &self.rows[ends]
    }

    fn iter(&self) -> impl Iterator<Item = &[RowId]> {
        self.starts.windows(2).map(|ends| &self.rows[ends[0] as usize..ends[1] as usize])
    }

    /// For each row its person.
    pub(crate) fn of_rows(&self) -> Codes {
        let mut persons = vec![0; self.rows.len()];
        for (person, rows) in (0u32..).zip(self.iter()) {
            rows.iter().for_each(|&row| persons[row as usize] = person);
        }
        persons.into_iter().collect()
    }

    /// The number of persons whose rows differ on one of these columns.
    fn changing(&self, columns: &[Recoded]) -> u64 {
        let changes = |rows: &[RowId]| {
            let differs = |column: &Recoded| {
                let first = column.code(rows[0] as usize);
                rows[1..].iter().any(|&row| column.code(row as usize) != first)
            };
            rows.len() > 1 && columns.iter().any(differs)
        };
        self.iter().filter(|rows| changes(rows)).count() as u64
    }

    /// For each person the code of a column with one value or several.
    fn gathered(&self, column: &Recoded, values: usize) -> Gathered {
        let mut plural = PluralColumn::new(values);
        let mut codes = Codes::new();
        let mut own = Vec::new();
        for rows in self.iter() {
            own.clear();
            own.extend(rows.iter().map(|&row| column.code(row as usize)));
            codes.push(plural.code_of(&mut own));
        }
        Gathered { codes, plural }
    }
}

/// The place of each value in the order of the texts, from 1 on; 0 for all that mean missing.
fn ranks(column: &Coded, missing: &[bool]) -> Vec<Code> {
    let mut order: Vec<usize> = (0..missing.len()).filter(|&at| !missing[at]).collect();
    order.par_sort_unstable_by_key(|&at| &column.values()[at]);
    let mut ranks = vec![0; missing.len()];
    (1u32..).zip(order).for_each(|(rank, at)| ranks[at] = rank);
    ranks
}

/// The codes of persons on one column.
#[derive(Debug)]
struct Gathered {
    codes: Codes,
    plural: PluralColumn,
}

/// The values of persons on a quasi-identifier that changes over the rows of some of them.
#[derive(Clone, Debug)]
pub(super) struct Extent {
    pub(super) attribute: usize,
    /// For each tuple its value or set of values.
    codes: Codes,
    plural: PluralColumn,
}

impl Extent {
    pub(super) fn values_of(&self, tuple: u32) -> Vec<Code> {
        self.plural.values_of(&self.codes.get(tuple as usize)).to_vec()
    }

    pub(super) fn range(&self, tuple: u32) -> CodeRange {
        let code = self.codes.get(tuple as usize);
        let values = self.plural.values_of(&code);
        CodeRange { lo: values[0], hi: values[values.len() - 1] }
    }

    pub(super) fn bytes(&self) -> usize {
        self.codes.bytes()
    }
}

/// At most one person in so many may change for whole persons to be the usual reading.
const FEW_CHANGE: u64 = 10;

/// The reading of a table: what the request says, or what fits.
fn reading(persons: &PersonRows, changing: u64, request: &Request) -> Persons {
    let usual =
        if changing * FEW_CHANGE <= persons.len() as u64 { Persons::Whole } else { Persons::Rows };
    match request.persons {
        Some(reading) => reading,
        // Only whole persons can be followed.
        None if request.output.pseudonyms => Persons::Whole,
        None => usual,
    }
}

/// The persons of a table under one of the readings.
#[derive(Clone, Debug)]
pub struct PersonUnits {
    /// The rows of each person.
    pub rows: PersonRows,
    /// How they are counted.
    pub reading: Persons,
    /// The persons whose rows differ on a quasi-identifier.
    pub changing: u64,
    /// For each row of the table the number of rows it stands for; empty where each stands for
    /// itself.
    pub counts: Vec<u32>,
}

impl PersonUnits {
    pub(super) fn new(
        table: &Table,
        roles: &Roles,
        request: &Request,
        quasi: &[Recoded],
    ) -> Result<Option<PersonUnits>> {
        let Some(rows) = PersonRows::new(table, roles, request)? else { return Ok(None) };
        let changing = rows.changing(quasi);
        let reading = reading(&rows, changing, request);
        if reading == Persons::Rows && request.output.order == Order::Input {
            let reason = "in the order of the source the rows of a person stand together, and by \
                          rows these are in several classes";
            return Err(Error::request("bad-persons", reason)
                .hint(Hint::SortRows)
                .hint(Hint::CountPersons { reading: Persons::Whole.name().into() }));
        }
        let counts = match roles.count {
            None => Vec::new(),
            Some(_) => {
                let column = CountColumn::new(table, roles.count.as_ref())?;
                let count = |row| u32::try_from(column.of(row)).expect("a count has 32 bits");
                (0..table.rows()).map(count).collect()
            }
        };
        Ok(Some(PersonUnits { rows, reading, changing, counts }))
    }

    /// The number of rows that a row of the table stands for.
    pub fn count_of(&self, row: RowId) -> u32 {
        self.counts.get(row as usize).copied().unwrap_or(1)
    }

    /// The number of persons.
    pub fn count(&self) -> u64 {
        self.rows.len() as u64
    }
}

/// The columns of a problem whose tuples are persons.
pub(super) struct PersonColumns {
    /// The middle value of each quasi-identifier, the sensitive columns, and the values of the
    /// quasi-identifiers that change.
    codes: Vec<Codes>,
    /// The sensitive columns.
    pub(super) sensitive: Vec<PluralColumn>,
    /// The quasi-identifiers that change.
    changing: Vec<(usize, PluralColumn)>,
    maps: Vec<Vec<Code>>,
}

impl PersonColumns {
    /// Gathers the columns of a table: quasi-identifiers, then sensitive columns. `values` is the
    /// number of values of each.
    pub(super) fn new(
        persons: &PersonRows,
        columns: &[Recoded],
        values: &[usize],
        quasi: usize,
    ) -> PersonColumns {
        let gathered: Vec<Gathered> = columns
            .par_iter()
            .zip(values)
            .map(|(column, &values)| persons.gathered(column, values))
            .collect();
        let (mut codes, mut sensitive, mut changing, mut sets) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (at, Gathered { codes: own, plural }) in gathered.into_iter().enumerate() {
            if at >= quasi {
                codes.push(own);
                sensitive.push(plural);
            } else if plural.is_plural() {
                let middle = |code: Code| {
                    let values = plural.values_of(&code);
                    values[values.len() / 2]
                };
                codes.push(own.iter().map(middle).collect());
                sets.push(own);
                changing.push((at, plural));
            } else {
                codes.push(own);
            }
        }
        codes.append(&mut sets);
        let greatest = |codes: &Codes| codes.iter().max().unwrap_or(0);
        let maps = codes.iter().map(|codes| (0..=greatest(codes)).collect()).collect();
        PersonColumns { codes, sensitive, changing, maps }
    }

    /// As the columns of a table with a row for each person.
    pub(super) fn recoded(&self) -> Vec<Recoded<'_>> {
        self.codes.iter().zip(&self.maps).map(|(codes, map)| Recoded::of(codes, map)).collect()
    }

    /// The quasi-identifiers that change, by the codes of the tuples on the last columns.
    pub(super) fn extents(self, codes: Vec<Codes>) -> (Vec<PluralColumn>, Vec<Extent>) {
        let extents = self.changing.into_iter().zip(codes);
        let extents =
            extents.map(|((attribute, plural), codes)| Extent { attribute, codes, plural });
        (self.sensitive, extents.collect())
    }
}

/// The column of persons for the reading by rows: the codes, and the weight of a row of each.
pub(super) fn weighted(
    persons: &PersonRows,
    table: &Table,
    roles: &Roles,
) -> Result<(Codes, Vec<u32>)> {
    let counts = CountColumn::new(table, roles.count.as_ref())?;
    let rows_of = |rows: &[RowId]| rows.iter().map(|&row| counts.of(row as usize)).sum();
    Ok((persons.of_rows(), Counting::weights_of(persons.iter().map(rows_of))))
}

/// A column of yes and no for each rule on named values of a column where persons have several: one
/// person may have two of the names, and counts once.
#[derive(Debug, Default)]
pub(super) struct NamedColumns {
    /// The sensitive column and the values, by the number of the column of yes and no.
    of: Vec<(usize, Vec<Code>)>,
    /// The number of the first column of yes and no.
    first: usize,
}

impl NamedColumns {
    /// The columns of yes and no that the rules need, over tuples.
    pub(super) fn new(
        rules: &[RuleSpec],
        ruled: &SensitiveColumns,
        plural: &mut Vec<PluralColumn>,
        codes: &mut Vec<Codes>,
    ) -> Result<NamedColumns> {
        let mut named = NamedColumns { of: Vec::new(), first: plural.len() };
        for rule in rules.iter().filter(|rule| matches!(rule.model, ModelSpec::Alpha { .. })) {
            if let Model::Alpha { column, values: Some(values), .. } = ruled.model(&rule.model)?
                && plural[column].is_plural()
                && !named.of.contains(&(column, values.clone()))
            {
                let has = |code: Code| {
                    let own = plural[column].values_of(&code);
                    Code::from(own.iter().any(|value| values.binary_search(value).is_ok()))
                };
                codes.push(codes[column].iter().map(has).collect());
                plural.push(PluralColumn::new(2));
                named.of.push((column, values));
            }
        }
        Ok(named)
    }

    /// The rule on the column of yes and no.
    pub(super) fn of(&self, model: Model) -> Model {
        let Model::Alpha { column, alpha, values: Some(values) } = model else { return model };
        match self.of.iter().position(|(of, names)| (*of, names) == (column, &values)) {
            Some(at) => Model::Alpha { column: self.first + at, alpha, values: Some(vec![1]) },
            None => Model::Alpha { column, alpha, values: Some(values) },
        }
    }

    /// The sensitive column behind a column of the tally.
    pub(super) fn behind(&self, column: usize) -> usize {
        let own = column.checked_sub(self.first).and_then(|at| self.of.get(at));
        own.map_or(column, |(behind, _)| *behind)
    }
}

/// The loss of a range from which on a person changes much.
const CHANGES_MUCH: f64 = 0.1;

impl Problem {
    /// The persons of the table; none when no column names them.
    pub fn persons(&self) -> Option<&PersonUnits> {
        self.persons.as_ref()
    }

    /// The rows of each person, where persons are whole: then [`rows_of`](Problem::rows_of) are
    /// numbers of persons, and every count is one of persons.
    pub fn whole_persons(&self) -> Option<&PersonRows> {
        let whole = |persons: &&PersonUnits| persons.reading == Persons::Whole;
        self.persons.as_ref().filter(whole).map(|persons| &persons.rows)
    }

    /// True when a quasi-identifier changes over the rows of whole persons: then only a local
    /// recoding can keep the rows of a person in one class.
    pub fn has_changing_persons(&self) -> bool {
        !self.extents.is_empty()
    }

    /// The quasi-identifiers that change much over the rows of a tuple's persons.
    pub(crate) fn changes(&self, tuple: u32) -> Vec<usize> {
        let is_wide = |extent: &&Extent| {
            self.attributes[extent.attribute].loss(extent.range(tuple)) > CHANGES_MUCH
        };
        self.extents.iter().filter(is_wide).map(|extent| extent.attribute).collect()
    }

    /// The codes of a tuple's persons on an attribute, rising; one code where it does not change.
    pub(crate) fn codes(&self, attribute: usize, tuple: u32) -> Vec<Code> {
        let extent = self.extents.iter().find(|extent| extent.attribute == attribute);
        extent.map_or_else(|| vec![self.code(attribute, tuple)], |extent| extent.values_of(tuple))
    }
}
