//! The question and the answer, in codes: [`Problem`] and [`Recoding`](recoding::Recoding).
//!
//! [`Problem::new`] is the only way to a problem. It checks everything once: the request (`check`),
//! the texts of the quasi-identifiers ([`crate::domain`]), the sensitive columns under a rule
//! (`sensitive`), and whether the rules can be satisfied at all (`feasible`). No search has to
//! check anything again.
//!
//! Rows with equal quasi-identifiers (and equal sensitive values under a rule) are interchangeable,
//! so a problem has distinct tuples with counts (`tuples`) instead of rows. A row of the table may
//! itself stand for several (`counts`).

mod assemble;
pub mod bound;
mod check;
mod counts;
mod fit;
mod mandatory_suppression;
mod part_rules;
pub mod partition;
mod persons;
pub mod privacy;
mod recoded;
pub mod recoding;
pub(crate) mod sensitive_rules;
mod stages;
#[cfg(test)]
mod tests;
mod tuples;

pub(crate) use counts::CountColumn;
pub use counts::row_count;
pub(crate) use part_rules::{PartCounts, PartRules, ruled_columns};
pub use persons::{PersonRows, PersonUnits};
pub(crate) use stages::Stage;
pub(crate) use tuples::Numbering;

use std::ops::Range;
use std::sync::Arc;

use crate::codes::{Code, CodeRange, Codes, RowId};
use crate::domain::TableDomain;
use crate::domain::attribute::Attribute;
use crate::domain::scheme::Scheme;
use crate::error::{Result, Warning};
use crate::problem::counts::TupleCounts;
use crate::problem::fit::Fitted;
use crate::problem::partition::Piece;
use crate::problem::persons::Extent;
use crate::problem::privacy::{Counting, PluralColumn, Tally};
use crate::request::{Request, Roles};
use crate::table::{Table, Treatment};

/// A table that is ready to be anonymized: every rule can be satisfied.
#[derive(Clone, Debug)]
pub struct Problem {
    attributes: Vec<Attribute>,
    /// One for each attribute, over distinct tuples.
    cells: Vec<Codes>,
    /// One for each sensitive column under a rule, over distinct tuples.
    sensitive: Vec<Codes>,
    /// The number of values of each of those.
    domains: Vec<usize>,
    /// Row numbers, tuple by tuple; tuple t has `rows[starts[t]..starts[t + 1]]`.
    rows: Vec<RowId>,
    starts: Vec<u32>,
    /// None when each row of the table stands for itself.
    counts: Option<TupleCounts>,
    /// The persons, where a column names them. If they are whole, the rows of a tuple are numbers
    /// of persons.
    persons: Option<PersonUnits>,
    /// The quasi-identifiers that change over the rows of whole persons.
    extents: Vec<Extent>,
    /// None when each row counts once and has one value in each column.
    counting: Option<Arc<Counting>>,
    stages: Vec<Stage>,
    /// One for each attribute.
    schemes: Vec<Scheme>,
    /// The rows that every release suppresses; within the allowance.
    mandatory: Vec<Piece>,
    allowance: u64,
    warnings: Vec<Warning>,
}

impl Problem {
    /// Checks everything and codes the table.
    ///
    /// # Example
    /// ```
    /// use lookalike::{Problem, Request, problem::treatments, table};
    ///
    /// # let folder = tempfile::tempdir().unwrap();
    /// let path = folder.path().join("data.csv");
    /// std::fs::write(&path, "age,sex\n34,f\n36,f\n51,m\n51,m\n").unwrap();
    /// let request = Request::parse("k = 2\nrest = 'drop'\ncolumns.age.role = 'quasi'")?;
    /// let source = table::open(&path, None)?;
    /// let roles = request.roles(source.names())?;
    /// let treatments = treatments(source.names(), &roles);
    /// let problem = Problem::new(&source.read(&treatments)?, &roles, &request)?;
    /// assert_eq!((problem.row_count(), problem.tuples()), (4, 3));
    /// # Ok::<(), lookalike::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Data`](crate::ErrorKind::Data) when a cell does not fit its column's kind or hierarchy,
    /// [`Request`](crate::ErrorKind::Request) when the request makes no sense,
    /// [`Infeasible`](crate::ErrorKind::Infeasible) when no release can satisfy the rules.
    pub fn new(table: &Table, roles: &Roles, request: &Request) -> Result<Problem> {
        Problem::numbered(table, roles, request, Numbering::Random)
    }

    /// As [`Problem::new`]; tests that name tuples by number choose the numbering.
    pub(crate) fn numbered(
        table: &Table,
        roles: &Roles,
        request: &Request,
        numbering: Numbering,
    ) -> Result<Problem> {
        let fitted = Fitted::of(table, roles, request)?;
        Problem::assemble(fitted, table, roles, request, numbering)
    }

    /// A part of a table under the domain of the whole: its codes and losses, and distributions
    /// that t-closeness compares with. Parts that are solved one by one can be put together: the
    /// union of their releases satisfies every rule that each of them does, and its loss is the
    /// sum of theirs. Of each part its own share of rows may be suppressed.
    ///
    /// The domain must be that of this request.
    ///
    /// # Errors
    /// As [`Problem::new`]; [`Data`](crate::ErrorKind::Data) with column and row of a value that
    /// the domain does not have, [`Request`](crate::ErrorKind::Request) when it was made for
    /// another request.
    pub fn within(
        domain: &TableDomain,
        table: &Table,
        roles: &Roles,
        request: &Request,
    ) -> Result<Problem> {
        Problem::numbered_within(domain, table, roles, request, Numbering::Random)
    }

    /// As [`Problem::within`]; tests choose the numbering.
    pub(crate) fn numbered_within(
        domain: &TableDomain,
        table: &Table,
        roles: &Roles,
        request: &Request,
        numbering: Numbering,
    ) -> Result<Problem> {
        check::check(table, roles, request)?;
        let rules = request.rules(roles)?;
        let fitted = Fitted::within(domain, table, roles, &rules, request)?;
        Problem::assemble(fitted, table, roles, request, numbering)
    }

    /// The quasi-identifiers, in the table's order.
    pub fn attributes(&self) -> &[Attribute] {
        &self.attributes
    }

    /// For each quasi-identifier the scheme: the partitions of its values that a global recoding
    /// may choose.
    pub fn schemes(&self) -> &[Scheme] {
        &self.schemes
    }

    /// The number of distinct tuples.
    pub fn tuples(&self) -> usize {
        self.starts.len() - 1
    }

    /// The number of rows; the sum of all counts where rows stand for several. The number of persons
    /// where they are whole.
    pub fn row_count(&self) -> u64 {
        self.counts.as_ref().map_or(self.rows.len() as u64, TupleCounts::total)
    }

    /// True when a column says for how many rows each row of the table stands, and rows are dealt
    /// out to the classes.
    pub fn is_counted(&self) -> bool {
        self.counts.is_some()
    }

    /// The code of a tuple on an attribute; the middle one where it changes over the rows of a
    /// person.
    #[inline]
    pub fn code(&self, attribute: usize, tuple: u32) -> Code {
        self.cells[attribute].get(tuple as usize)
    }

    /// The number of rows (or whole persons) of a tuple, at least 1.
    pub fn count(&self, tuple: u32) -> u32 {
        match &self.counts {
            None => self.starts[tuple as usize + 1] - self.starts[tuple as usize],
            Some(counts) => counts.of_tuple(tuple),
        }
    }

    /// The rows of the table (or the whole persons) that have this tuple, rising.
    pub fn rows_of(&self, tuple: u32) -> &[RowId] {
        &self.rows[self.range_of(tuple)]
    }

    /// For each of [`rows_of`](Problem::rows_of) the number of rows it stands for; none when each
    /// stands for itself.
    pub fn counts_of(&self, tuple: u32) -> Option<&[u32]> {
        self.counts.as_ref().map(|counts| counts.of_rows(self.range_of(tuple)))
    }

    /// The place of a tuple's rows.
    fn range_of(&self, tuple: u32) -> Range<usize> {
        self.starts[tuple as usize] as usize..self.starts[tuple as usize + 1] as usize
    }

    /// The number of rows that may be suppressed.
    pub fn allowance(&self) -> u64 {
        self.allowance
    }

    /// Warnings for the user, a sentence each.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// The size of the coded table in bytes.
    pub fn bytes(&self) -> usize {
        let codes: usize = self.cells.iter().chain(&self.sensitive).map(Codes::bytes).sum();
        let counts = self.counts.as_ref().map_or(0, TupleCounts::bytes);
        let extents: usize = self.extents.iter().map(Extent::bytes).sum();
        codes + counts + extents + 4 * (self.rows.len() + self.starts.len())
    }

    /// The greatest k of the request on all quasi-identifiers together; 1 without one.
    pub fn k(&self) -> u64 {
        self.stages.last().map_or(1, |stage| stage.privacy.k())
    }

    /// The attributes whose classes are decided together with those of this one: the attributes of
    /// its stage and of all earlier stages.
    pub(crate) fn decided_with(&self, attribute: usize) -> Vec<usize> {
        let stage = self
            .stages
            .iter()
            .position(|stage| stage.attributes.contains(&attribute))
            .expect("every attribute has a stage");
        self.stages[..=stage].iter().flat_map(|stage| stage.attributes.iter().copied()).collect()
    }

    /// The stages, first to last; at least one.
    pub(crate) fn stages_in_order(&self) -> &[Stage] {
        &self.stages
    }

    /// The rows that every release suppresses: without that no rule could be satisfied.
    pub(crate) fn mandatory(&self) -> &[Piece] {
        &self.mandatory
    }

    /// All tuples with all their rows, without some pieces.
    pub(crate) fn pieces_without(&self, excluded: &[Piece]) -> Vec<Piece> {
        let mut left: Vec<u32> =
            (0u32..).take(self.tuples()).map(|tuple| self.count(tuple)).collect();
        for piece in excluded {
            left[piece.tuple as usize] -= piece.count;
        }
        (0u32..)
            .zip(left)
            .filter(|&(_, count)| count > 0)
            .map(|(tuple, count)| Piece { tuple, count })
            .collect()
    }

    /// An empty tally for classes of this problem.
    pub(crate) fn tally(&self) -> Tally {
        let plain = || Tally::new(&self.domains);
        self.counting.as_ref().map_or_else(plain, Tally::of_persons)
    }

    /// Counts pieces into a tally.
    pub(crate) fn count_into(&self, tally: &mut Tally, pieces: &[Piece]) {
        let mut codes = vec![0; self.sensitive.len()];
        for piece in pieces {
            self.sensitive_codes(piece.tuple, &mut codes);
            tally.add(&codes, piece.count);
        }
    }

    /// True when rules count persons, who may have several values or rows.
    pub(crate) fn counts_persons(&self) -> bool {
        self.counting.is_some()
    }

    /// The number of sensitive columns that are under a rule.
    pub(crate) fn sensitive_columns(&self) -> usize {
        self.sensitive.len()
    }

    /// The sensitive codes of a tuple.
    pub(crate) fn sensitive_codes(&self, tuple: u32, codes: &mut [Code]) {
        for (code, column) in codes.iter_mut().zip(&self.sensitive) {
            *code = column.get(tuple as usize);
        }
    }

    /// True when a tuple has this value in a column of the tally.
    pub(crate) fn has_value(&self, column: usize, tuple: u32, value: Code) -> bool {
        let code = self.sensitive[column].get(tuple as usize);
        match &self.counting {
            None => code == value,
            Some(counting) => counting.columns[column].values_of(&code).contains(&value),
        }
    }

    /// The sum of a class's counts of the values that a tuple has in a column of the tally.
    pub(crate) fn sum_of_values(&self, column: usize, tuple: u32, class: &Tally) -> u64 {
        let code = self.sensitive[column].get(tuple as usize);
        match &self.counting {
            None => class.count(column, code),
            Some(counting) => {
                let values = counting.columns[column].values_of(&code).iter();
                values.map(|&value| class.count(column, value)).sum()
            }
        }
    }

    /// The exact range of some pieces on every attribute.
    pub(crate) fn ranges(&self, pieces: &[Piece]) -> Vec<CodeRange> {
        let mut ranges: Vec<CodeRange> = (0..self.attributes.len())
            .map(|at| CodeRange::one(self.code(at, pieces[0].tuple)))
            .collect();
        for piece in &pieces[1..] {
            for (at, range) in ranges.iter_mut().enumerate() {
                *range = range.join(CodeRange::one(self.code(at, piece.tuple)));
            }
        }
        for extent in &self.extents {
            let range = &mut ranges[extent.attribute];
            *range = pieces.iter().fold(*range, |all, piece| all.join(extent.range(piece.tuple)));
        }
        ranges
    }

    /// The number of rows with each sensitive value in the whole table; their distribution over
    /// persons where these count.
    fn totals(&self) -> Vec<Vec<u64>> {
        if let Some(counting) = &self.counting {
            let mut whole = self.tally();
            self.count_into(&mut whole, &self.pieces_without(&[]));
            let of_column = |(at, column): (usize, &PluralColumn)| {
                (0u32..).take(column.values).map(|code| whole.shared_of(at, code)).collect()
            };
            return counting.columns.iter().enumerate().map(of_column).collect();
        }
        let mut totals: Vec<Vec<u64>> =
            self.domains.iter().map(|&values| vec![0; values]).collect();
        for tuple in (0u32..).take(self.tuples()) {
            let count = u64::from(self.count(tuple));
            for (total, column) in totals.iter_mut().zip(&self.sensitive) {
                total[column.get(tuple as usize) as usize] += count;
            }
        }
        totals
    }
}

/// The treatment of each column by the reader of a table that is to be anonymized.
pub fn treatments(names: &[String], roles: &Roles) -> Vec<Treatment> {
    let treatment = |name: &String| {
        let is_read = roles.quasi.contains(name) || roles.person.contains(name);
        if is_read || roles.count.as_ref() == Some(name) {
            Treatment::Code
        } else if roles.sensitive.contains(name)
            || roles.coarsened.contains(name)
            || roles.purpose.contains(name)
        {
            Treatment::CodeAndPassThrough
        } else if roles.keep.contains(name) || roles.hashed.contains(name) {
            Treatment::PassThrough
        } else {
            Treatment::Skip
        }
    };
    names.iter().map(treatment).collect()
}
