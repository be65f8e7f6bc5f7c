//! Persons in the audit: who knows a person finds k persons, not k rows.
//!
//! The key that names the person of a row is not in a release. Whoever has the source and the
//! origins (which released row stands for which source row) can count persons all the same; with
//! pseudonyms in the release everybody can. Two readings, both kept by unions of classes:
//!
//! - *whole*: all rows of a person are in one class, and all of them are released or none. A person
//!   counts once, and has a value when one of the rows has it. Entropy and t need a distribution:
//!   a person with m different values adds a part of 1/m to each.
//! - *rows*: rows of one person may be in several classes. k counts the different persons of a
//!   class; in rules on sensitive columns a row weighs one over the number of its person's rows in
//!   the source.
//!
//! # Reference
//! k different persons behind every combination: K. Wang, B. C. M. Fung, Anonymizing Sequential
//! Releases, KDD 2006, as (X,Y)-anonymity.

mod count;
mod key;
mod origins;
mod pseudonyms;

use std::borrow::Borrow;

use serde::Serialize;

use super::classes::RowClasses;
use super::row_counts::RowCounts;
use super::source_check::{self, Finding, SourceCheck, Statement};
use super::surface::surface;
use super::{Measures, Verdict};
use crate::codes::RowId;
use crate::error::{Error, Hint, Result};
use crate::request::{Persons, Request, RuleSpec, list};
use crate::table::Table;
use count::{PersonClasses, Piece, Pieces};

/// A released row stands for rows of a source row. Rows are counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Origin {
    /// The released row.
    pub released: RowId,
    /// The row of the source.
    pub source: RowId,
    /// The number of rows: 1 without a count column.
    pub count: u32,
}

/// The persons of a release, and what is known of them.
#[derive(Clone, Debug, Serialize)]
pub struct PersonsVerdict {
    /// How the rows of one person were counted.
    pub reading: Persons,
    /// Persons with at least one row in the release.
    pub released: u64,
    /// Persons of the source; none when there was no source.
    pub source: Option<u64>,
    /// Persons with rows in several classes.
    pub split: u64,
    /// Persons of whom some rows are released and others are not; none when that is not known.
    pub partial: Option<u64>,
    /// The protection in words.
    pub meaning: String,
    /// Checks that were made, checks that were not, and findings; a sentence each.
    pub statements: Vec<Statement>,
}

impl PersonsVerdict {
    /// True when nothing was found against the release.
    pub fn holds(&self) -> bool {
        self.statements.iter().all(|statement| statement.finding != Finding::Broken)
    }

    /// The protection in words, with another k than that of the smallest class.
    pub fn meaning_for(&self, k: u64) -> String {
        meaning(self.reading, k)
    }

    fn state(&mut self, finding: Finding, text: String) {
        self.statements.push(Statement { finding, text });
    }

    /// States whether the rows of a person are in one class, as the reading demands.
    fn state_split(&mut self) {
        match (self.reading, self.split) {
            (Persons::Rows, _) => {}
            (Persons::Whole, 0) => {
                self.state(Finding::Ok, "all rows of a person are in one class".to_string());
            }
            (Persons::Whole, split) => {
                let text = "persons have rows in several classes, which together single them out";
                self.state(Finding::Broken, format!("{split} {text}"));
            }
        }
    }

    /// Notes the persons of the source, and states whether all rows of a person are released or
    /// none, as the reading demands.
    fn against_source(&mut self, source: u64, partial: u64) {
        (self.source, self.partial) = (Some(source), Some(partial));
        match (self.reading, partial) {
            (Persons::Rows, _) => {}
            (Persons::Whole, 0) => {
                let text = "all rows of a person are released, or none is";
                self.state(Finding::Ok, text.to_string());
            }
            (Persons::Whole, partial) => {
                let text = format!("{partial} persons are released with some of their rows only");
                self.state(Finding::Broken, text);
            }
        }
    }
}

/// The protection of persons by a reading, in words.
fn meaning(reading: Persons, k: u64) -> String {
    let persons = if k == 1 { "1 person".to_string() } else { format!("{k} persons") };
    match reading {
        Persons::Whole => format!(
            "all rows of a person are in one class with those of at least {persons}: whoever knows \
             the quasi-identifiers of a person, in any number of rows, cannot say which of them it \
             is; rules on sensitive columns count persons, each with every value of any of the rows"
        ),
        Persons::Rows => format!(
            "every class has rows of at least {persons}, and rows of one person may be in several \
             classes: whoever knows one row of a person cannot say which of them it is, but whoever \
             knows several rows can compare the classes; rules on sensitive columns count a row by \
             one over the number of its person's rows"
        ),
    }
}

/// True when the request has a person key.
///
/// # Errors
/// When it asks for persons or pseudonyms without a key, or for what persons cannot be.
pub(super) fn has_key(request: &Request) -> Result<bool> {
    request.check_persons()?;
    Ok(request.has_persons())
}

/// Refuses a person key where rows are counted.
pub(super) fn refuse_key(request: &Request, what: &str) -> Result<()> {
    if has_key(request)? {
        let reason = format!("{what}: no column can have the role person");
        return Err(Error::request("bad-persons", reason));
    }
    Ok(())
}

/// The pieces of a table whose columns say the person of each row.
fn pieces_of(persons: &RowClasses, row_counts: &RowCounts<'_>) -> Pieces {
    let piece =
        |(row, &person): (RowId, &u32)| Piece { row, person, count: row_counts.of(row as usize) };
    let all = (0..).zip(&persons.of).map(piece).collect();
    Pieces { all, rows_of: rows_of(persons, row_counts) }
}

/// The number of rows of each person.
fn rows_of(persons: &RowClasses, row_counts: &RowCounts<'_>) -> Vec<u64> {
    let mut rows = vec![0; persons.sizes.len()];
    for (row, &person) in persons.of.iter().enumerate() {
        rows[person as usize] += u64::from(row_counts.of(row));
    }
    rows
}

/// The verdict on a table by the persons that its own columns name.
fn by_columns(
    table: &Table,
    request: &Request,
    columns: &[String],
    rules: impl FnOnce(&super::surface::Surface) -> Result<Vec<RuleSpec>>,
) -> Result<Verdict> {
    let surface = surface(table, request)?;
    let specs = rules(&surface)?;
    let persons = key::persons_of(table, columns, &request.missing)?;
    let pieces = pieces_of(&persons, &RowCounts::new(table, request)?);
    let classes = PersonClasses::new(table, &surface, pieces)?;
    let usual = if classes.split == 0 { Persons::Whole } else { Persons::Rows };
    let of = |reading| of_reading(&classes, request, &specs, reading);
    let verdict = by_reading(request, usual, of)?;
    Ok(Verdict { leaks: surface.leaks, ..verdict })
}

/// The verdict by the reading of the request. Where it names none, by the usual one: that of whole
/// persons if all are whole; but if then only the other holds, by rows.
fn by_reading(
    request: &Request,
    usual: Persons,
    verdict: impl Fn(Persons) -> Result<Verdict>,
) -> Result<Verdict> {
    let asked = request.persons.or(request.output.pseudonyms.then_some(Persons::Whole));
    match asked {
        Some(reading) => verdict(reading),
        None if usual == Persons::Rows => verdict(Persons::Rows),
        None => {
            let whole = verdict(Persons::Whole)?;
            if whole.holds() {
                return Ok(whole);
            }
            let rows = verdict(Persons::Rows)?;
            Ok(if rows.holds() { rows } else { whole })
        }
    }
}

/// The verdict on the classes alone.
fn of_reading(
    classes: &PersonClasses<'_>,
    request: &Request,
    specs: &[RuleSpec],
    reading: Persons,
) -> Result<Verdict> {
    let (measures, rules) = classes.evaluate(request, specs, reading)?;
    let mut persons = PersonsVerdict {
        reading,
        released: classes.persons,
        source: None,
        split: classes.split,
        partial: None,
        meaning: meaning(reading, measures.k),
        statements: Vec::new(),
    };
    persons.state_split();
    Ok(Verdict {
        measures,
        rules,
        leaks: Vec::new(),
        truth: None,
        non_homogeneous: None,
        persons: Some(persons),
    })
}

/// The error for a release whose persons cannot be counted.
fn need_proof(key: &[String]) -> Error {
    let reason = format!(
        "the rules count persons, and the release does not have the person key {}: its persons can \
         only be counted along the origins of its rows in the source, or by pseudonyms",
        list(key)
    );
    Error::request("persons-need-proof", reason).hint(Hint::UseProof)
}

/// The verdict on a release by its pseudonyms; with the source, its truth as far as it can be known
/// without origins.
pub(super) fn by_pseudonyms(
    release: &Table,
    source: Option<&Table>,
    request: &Request,
) -> Result<Verdict> {
    let key = request.person_key();
    let Some(column) = request.pseudonym_column() else { return Err(need_proof(&key)) };
    let pseudonyms = pseudonyms::of_release(release, &column, request)?;
    let rules = |surface: &super::surface::Surface| request.rules(&surface.roles);
    let mut verdict = by_columns(release, request, &[column], rules)?;
    let (Some(source), Some(found)) = (source, &mut verdict.persons) else { return Ok(verdict) };
    let mut truth = source_check::check(release, source, request, source_check::LIMITS)?;
    let persons = key::persons_of(source, &key, &request.missing)?;
    found.source = Some(persons.sizes.len() as u64);
    let counts = (RowCounts::new(release, request)?, RowCounts::new(source, request)?);
    compare_sizes(rows_of(&pseudonyms, &counts.0), rows_of(&persons, &counts.1), found);
    by_persons(&mut truth, found, (counts.0.total, counts.1.total), request)?;
    verdict.truth = Some(truth);
    Ok(verdict)
}

/// Persons are whole, so the numbers of rows of the pseudonyms are those of persons of the source.
fn compare_sizes(mut released: Vec<u64>, mut source: Vec<u64>, found: &mut PersonsVerdict) {
    released.sort_unstable();
    source.sort_unstable();
    let mut rest = source.into_iter();
    if released.into_iter().all(|rows| rest.any(|other| other == rows)) {
        let text = "the pseudonyms have numbers of rows that persons of the source have; that each \
                    is one person was not checked, which needs the origins of the rows";
        found.state(Finding::Partly, text.to_string());
    } else {
        let text = "the numbers of rows of the pseudonyms are not those of persons of the source";
        found.state(Finding::Broken, text.to_string());
    }
}

/// Whole persons are suppressed by persons: the limit of the request is a share of them. `rows` are
/// the numbers of released and of source rows; more released ones are a fault that stays.
fn by_persons(
    truth: &mut SourceCheck,
    found: &PersonsVerdict,
    rows: (u64, u64),
    request: &Request,
) -> Result<()> {
    let (Persons::Whole, Some(persons)) = (found.reading, found.source) else { return Ok(()) };
    if rows.0 > rows.1 {
        return Ok(());
    }
    let share = request.suppress()?;
    let (allowed, text) = match persons.checked_sub(found.released) {
        None => {
            let more = found.released - persons;
            (false, format!("the release has {more} more persons than the source"))
        }
        Some(0) => (true, "no person was suppressed".to_string()),
        Some(some) if share.at_least_share(some, persons) => (
            true,
            format!(
                "{some} of {persons} persons were suppressed with all their rows ({} rows), within \
                 the limit of the request",
                truth.suppressed
            ),
        ),
        Some(some) => (
            false,
            format!(
                "{some} of {persons} persons were suppressed, more than the request allows \
                 (`suppress`)"
            ),
        ),
    };
    let finding = if allowed { Finding::Ok } else { Finding::Broken };
    truth.suppression_allowed = allowed;
    truth.statements[0] = Statement { finding, text };
    Ok(())
}

/// See [`audit_persons`](super::audit_persons).
pub(super) fn along_origins(
    release: &Table,
    owned_source: impl Borrow<Table>,
    request: &Request,
    origins: &[Origin],
) -> Result<Verdict> {
    let source = owned_source.borrow();
    if !has_key(request)? {
        return Err(Error::request(
            "bad-persons",
            "no column names the person of a row: give one the role person",
        ));
    }
    source_check::number_together(release, source)?;
    let surface = surface(release, request)?;
    let specs = request.rules(&surface.roles)?;
    origins::refuse_others(origins, release, source)?;
    let truth = origins::check(release, source, request, origins)?;
    let persons = key::persons_of(source, &request.person_key(), &request.missing)?;
    let source_counts = RowCounts::new(source, request)?;
    let (rows_of, source_rows) = (rows_of(&persons, &source_counts), source_counts.total);
    // From here on the source is only needed to look for leaks in pseudonyms. It is the largest table
    // of a run.
    let source = request.output.pseudonyms.then_some(owned_source);
    let mut released = vec![0u64; rows_of.len()];
    for origin in origins {
        released[persons.of[origin.source as usize] as usize] += u64::from(origin.count);
    }
    let partial = released.iter().zip(&rows_of).filter(|(some, all)| **some > 0 && some < all);
    let partial = partial.count() as u64;
    let piece = |origin: &Origin| Piece {
        row: origin.released,
        person: persons.of[origin.source as usize],
        count: origin.count,
    };
    let pieces = Pieces { all: origins.iter().map(piece).collect(), rows_of };
    let classes = PersonClasses::new(release, &surface, pieces)?;
    let is_whole = classes.split == 0 && partial == 0;
    let usual = if is_whole { Persons::Whole } else { Persons::Rows };
    let mut verdict = by_reading(request, usual, |reading| {
        let mut verdict = of_reading(&classes, request, &specs, reading)?;
        let mut truth = truth.clone();
        if let Some(found) = &mut verdict.persons {
            found.against_source(classes.rows_of.len() as u64, partial);
            let rows = (verdict.measures.rows, source_rows);
            by_persons(&mut truth, found, rows, request)?;
        }
        Ok(Verdict { truth: Some(truth), ..verdict })
    })?;
    verdict.leaks = surface.leaks;
    if let (Some(source), Some(column), Some(found)) =
        (&source, request.pseudonym_column(), &mut verdict.persons)
    {
        let shown = pseudonyms::of_release(release, &column, request)?;
        if let Some(of_person) = pseudonyms::one_to_one(&shown, &persons, origins, found) {
            let release = (release, column.as_str(), &shown);
            let leaks =
                pseudonyms::leaks(release, (source.borrow(), &persons), &of_person, request)?;
            verdict.leaks.extend(leaks);
        }
    }
    Ok(verdict)
}

/// The verdict on a table as it is, whose own columns are the key.
pub(super) fn of_table(table: &Table, request: &Request) -> Result<Verdict> {
    let rules = |surface: &super::surface::Surface| request.rules(&surface.roles);
    let verdict = by_columns(table, request, &own_columns(table, request)?, rules)?;
    Ok(Verdict { leaks: Vec::new(), ..verdict })
}

/// The measures of a table whose own columns are the key.
pub(super) fn measures(table: &Table, request: &Request) -> Result<Measures> {
    let columns = own_columns(table, request)?;
    Ok(by_columns(table, request, &columns, |_| Ok(Vec::new()))?.measures)
}

/// The columns of a table that name persons: its key, or pseudonyms.
fn own_columns(table: &Table, request: &Request) -> Result<Vec<String>> {
    let key = request.person_key();
    if key.iter().all(|name| table.column(name).is_some()) {
        return Ok(key);
    }
    let pseudonyms = request.pseudonym_column().filter(|name| table.column(name).is_some());
    pseudonyms.map(|name| vec![name]).ok_or_else(|| need_proof(&key))
}
