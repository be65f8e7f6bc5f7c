//! The question and the answer, in codes: [`Problem`] and [`Recoding`](recoding::Recoding).
//!
//! [`Problem::new`] is the only way to a problem. It checks everything once: the request (`check`),
//! the texts of the quasi-identifiers ([`crate::domain`]), the sensitive columns under a rule
//! (`sensitive`), and whether the rules can be satisfied at all (`feasible`). No search has to
//! check anything again.
//!
//! Rows with equal quasi-identifiers (and equal sensitive values under a rule) are interchangeable,
//! so a problem has distinct tuples with counts (`tuples`) instead of rows.

pub mod bound;
mod check;
mod mandatory_suppression;
pub mod partition;
pub mod privacy;
pub mod recoding;
pub(crate) mod sensitive_rules;
mod stages;
#[cfg(test)]
mod tests;
mod tuples;

pub(crate) use stages::Stage;
pub(crate) use tuples::Numbering;

use rayon::prelude::*;

use crate::codes::{Code, CodeRange, Codes, RowId};
use crate::domain::attribute::Attribute;
use crate::domain::encode::{self, ColumnSpec};
use crate::domain::scheme::Scheme;
use crate::error::Result;
use crate::problem::partition::Piece;
use crate::problem::privacy::Tally;
use crate::problem::sensitive_rules::SensitiveColumns;
use crate::problem::tuples::{Recoded, Tuples};
use crate::request::ratio::Ratio;
use crate::request::{Request, Roles};
use crate::rng::Key;
use crate::table::{Coded, Table, Treatment};

/// A table that is ready to be anonymized: every rule can be satisfied.
#[derive(Debug)]
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
    stages: Vec<Stage>,
    /// One for each attribute.
    schemes: Vec<Scheme>,
    /// The rows that every release suppresses; within the allowance.
    mandatory: Vec<Piece>,
    allowance: u64,
    warnings: Vec<String>,
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
        check::check(table, roles, request)?;
        let rules = request.rules(roles)?;
        let suppress = request.suppress()?;
        let coded: Vec<(&String, &Coded)> =
            roles.quasi.iter().map(|name| (name, table.coded(name))).collect();
        let encoded: Vec<(Attribute, Vec<Code>)> = coded
            .par_iter()
            .map(|(name, coded)| encode::attribute(ColumnSpec::new(name, request), coded))
            .collect::<Result<_>>()?;
        let (mut attributes, maps): (Vec<Attribute>, Vec<Vec<Code>>) = encoded.into_iter().unzip();
        attributes.iter_mut().for_each(|attribute| check::keep_zone(attribute, table));
        let schemes = attributes
            .iter()
            .map(|attribute| check::scheme(attribute, request))
            .collect::<Result<_>>()?;
        let mut warnings = check::without_intervals(&attributes, request);
        let ruled = SensitiveColumns::new(table, roles, &rules, request, &mut warnings)?;

        let mut columns: Vec<Recoded> =
            coded.iter().zip(&maps).map(|((_, coded), map)| Recoded::new(coded, map)).collect();
        let sensitive = ruled.columns.iter();
        columns
            .extend(sensitive.map(|column| Recoded::new(table.coded(&column.name), &column.map)));
        // The guarantee of ring needs draws that cannot be repeated.
        let key = if request.non_homogeneous { Key::from_system() } else { Key::of(request.seed) };
        let tuples = Tuples::new(&columns, table.rows(), attributes.len(), numbering, key);
        let mut cells: Vec<Codes> = columns.par_iter().map(|column| tuples.codes(column)).collect();
        let sensitive = cells.split_off(attributes.len());

        let mut problem = Problem {
            attributes,
            cells,
            sensitive,
            domains: ruled.columns.iter().map(|column| column.values).collect(),
            rows: tuples.rows,
            starts: tuples.starts,
            stages: Vec::new(),
            schemes,
            mandatory: Vec::new(),
            allowance: allowance(suppress, table.rows()),
            warnings,
        };
        problem.stages = stages::stages(&problem, &rules, &ruled)?;
        problem.mandatory = mandatory_suppression::mandatory(&problem, &ruled.names(), key)?;
        if problem.stages.len() > 1 && problem.allowance > 0 {
            problem.warnings.push(
                "with rules on several column sets, rows are suppressed only where no release \
                 could satisfy the rules otherwise"
                    .into(),
            );
        }
        Ok(problem)
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

    /// The number of rows of the table.
    pub fn row_count(&self) -> u64 {
        self.rows.len() as u64
    }

    /// The code of a tuple on an attribute.
    #[inline]
    pub fn code(&self, attribute: usize, tuple: u32) -> Code {
        self.cells[attribute].get(tuple as usize)
    }

    /// The number of rows of a tuple, at least 1.
    pub fn count(&self, tuple: u32) -> u32 {
        self.starts[tuple as usize + 1] - self.starts[tuple as usize]
    }

    /// The rows of a tuple, rising.
    pub fn rows_of(&self, tuple: u32) -> &[RowId] {
        &self.rows[self.starts[tuple as usize] as usize..self.starts[tuple as usize + 1] as usize]
    }

    /// The number of rows that may be suppressed.
    pub fn allowance(&self) -> u64 {
        self.allowance
    }

    /// Warnings for the user, a sentence each.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The size of the coded table in bytes.
    pub fn bytes(&self) -> usize {
        let codes: usize = self.cells.iter().chain(&self.sensitive).map(Codes::bytes).sum();
        codes + 4 * (self.rows.len() + self.starts.len())
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
            (0..self.tuples()).map(|tuple| self.starts[tuple + 1] - self.starts[tuple]).collect();
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
        Tally::new(&self.domains)
    }

    /// Counts pieces into a tally.
    pub(crate) fn count_into(&self, tally: &mut Tally, pieces: &[Piece]) {
        let mut codes = vec![0; self.sensitive.len()];
        for piece in pieces {
            self.sensitive_codes(piece.tuple, &mut codes);
            tally.add(&codes, piece.count);
        }
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
        ranges
    }

    /// The number of rows with each sensitive value in the whole table.
    fn totals(&self) -> Vec<Vec<u64>> {
        let mut totals: Vec<Vec<u64>> =
            self.domains.iter().map(|&values| vec![0; values]).collect();
        for tuple in 0..self.tuples() {
            let count = u64::from(self.starts[tuple + 1] - self.starts[tuple]);
            for (total, column) in totals.iter_mut().zip(&self.sensitive) {
                total[column.get(tuple) as usize] += count;
            }
        }
        totals
    }
}

/// The treatment of each column by the reader of a table that is to be anonymized.
pub fn treatments(names: &[String], roles: &Roles) -> Vec<Treatment> {
    let treatment = |name: &String| {
        if roles.quasi.contains(name) {
            Treatment::Code
        } else if roles.sensitive.contains(name) {
            Treatment::CodeAndPassThrough
        } else if roles.keep.contains(name) {
            Treatment::PassThrough
        } else {
            Treatment::Skip
        }
    };
    names.iter().map(treatment).collect()
}

/// A share of the rows, rounded down: the limit is never exceeded.
fn allowance(share: Ratio, rows: usize) -> u64 {
    let allowed = u128::from(share.num()) * rows as u128 / u128::from(share.den());
    u64::try_from(allowed).expect("a share below 1 of a table")
}
