//! The rules on parts of a table, by exact counts alone: which parts can be solved on their own.

use std::collections::BTreeMap;

use super::CountColumn;
use super::assemble::allowance;
use super::privacy::{Privacy, Tally};
use super::sensitive_rules::SensitiveColumns;
use crate::codes::Code;
use crate::domain::TableDomain;
use crate::error::{Error, Result};
use crate::request::ratio::Ratio;
use crate::request::{ColumnRequest, Request, Role, Roles};
use crate::table::Table;

/// The rules of a request, for sets of rows of which only sensitive values and counts are known.
#[derive(Debug)]
pub(crate) struct PartRules {
    privacy: Privacy,
    /// The number of values of each sensitive column under a rule.
    domains: Vec<usize>,
    names: Vec<String>,
    suppress: Ratio,
}

/// The rows of a part with each combination of sensitive codes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PartCounts(BTreeMap<Vec<Code>, u64>);

impl PartCounts {
    /// The number of rows.
    pub(crate) fn rows(&self) -> u64 {
        self.0.values().sum()
    }

    /// Adds the rows of another part.
    pub(crate) fn append(&mut self, other: &PartCounts) {
        for (codes, count) in &other.0 {
            *self.0.entry(codes.clone()).or_default() += count;
        }
    }
}

/// The sensitive columns under a rule: those that exact counts of parts must have.
pub(crate) fn ruled_columns(request: &Request) -> impl Iterator<Item = &String> {
    let is_ruled = |column: &ColumnRequest| column.role == Role::Sensitive && column.has_rule();
    request.columns.iter().filter(move |(_, column)| is_ruled(column)).map(|(name, _)| name)
}

impl PartRules {
    /// The rules, and the counts of each of so many parts: the table has the number of a part, the
    /// sensitive columns under a rule, and the count column.
    ///
    /// # Errors
    /// When a row has no part, a count is none, the domain does not have a value, or it is of
    /// another request.
    pub(crate) fn new(
        domain: &TableDomain,
        table: &Table,
        part: &str,
        parts: u32,
        request: &Request,
    ) -> Result<(PartRules, Vec<PartCounts>)> {
        let quasi = domain.quasi().iter().map(|column| column.attribute.name.clone());
        let roles = Roles {
            quasi: quasi.collect(),
            sensitive: ruled_columns(request).cloned().collect(),
            count: request.count.clone(),
            ..Roles::default()
        };
        let rules = request.rules(&roles)?;
        let ruled = SensitiveColumns::within(domain, table, &roles, &rules, request)?;
        let models = rules.iter().map(|rule| ruled.model(&rule.model)).collect::<Result<_>>()?;
        let own = PartRules {
            privacy: Privacy::new(models, ruled.totals_in(domain)?),
            domains: ruled.columns.iter().map(|column| column.values).collect(),
            names: ruled.columns.iter().map(|column| column.name.clone()).collect(),
            suppress: request.suppress()?,
        };
        let of_row = part_numbers(table, part, parts)?;
        let of_rows = CountColumn::new(table, roles.count.as_ref())?;
        let mut counts = vec![PartCounts::default(); parts as usize];
        for (row, part) in of_row.into_iter().enumerate() {
            let code =
                |name: &String, map: &[Code]| map[table.coded(name).codes().get(row) as usize];
            let codes = ruled.columns.iter().map(|column| code(&column.name, &column.map));
            *counts[part as usize].0.entry(codes.collect()).or_default() += of_rows.of(row);
        }
        Ok((own, counts))
    }

    /// True when the rows of a part can be released on their own: as one class they satisfy every
    /// rule, after the suppression that the request allows.
    pub(crate) fn holds(&self, part: &PartCounts) -> bool {
        let mut rest = self.tally(part);
        if self.privacy.holds(&rest) {
            return true;
        }
        let allowed = allowance(self.suppress, part.rows());
        let mut left = part.clone();
        let mut suppressed = 0;
        while let Some(excess) = self.privacy.excess(&rest) {
            let mut need = excess.rows;
            for (codes, count) in &mut left.0 {
                let taken = if codes[excess.column] == excess.code { need.min(*count) } else { 0 };
                each_32_bits(taken, |part| rest.remove(codes, part));
                *count -= taken;
                need -= taken;
            }
            suppressed += excess.rows;
            if need > 0 || suppressed > allowed {
                return false;
            }
        }
        self.privacy.holds(&rest)
    }

    /// The error for a whole table that does not satisfy the rules.
    pub(crate) fn infeasible(&self, whole: &PartCounts) -> Error {
        let nearest = self.privacy.nearest(&self.tally(whole), &self.names);
        let unknown = || Error::infeasible("infeasible-rules", "no release satisfies the rules");
        nearest.err().unwrap_or_else(unknown)
    }

    fn tally(&self, part: &PartCounts) -> Tally {
        let mut tally = Tally::new(&self.domains);
        for (codes, &count) in &part.0 {
            each_32_bits(count, |part| tally.add(codes, part));
        }
        tally
    }
}

/// Gives a number of rows out in numbers of 32 bits.
fn each_32_bits(mut count: u64, mut take: impl FnMut(u32)) {
    while count > 0 {
        let part = u32::try_from(count).unwrap_or(u32::MAX);
        take(part);
        count -= u64::from(part);
    }
}

/// The part of each row, below a limit.
fn part_numbers(table: &Table, name: &str, parts: u32) -> Result<Vec<u32>> {
    let coded = table.coded(name);
    let number =
        |text: &Option<String>| text.as_ref()?.parse::<u32>().ok().filter(|&number| number < parts);
    let mut numbers = Vec::with_capacity(coded.values().len());
    for (text, &row) in coded.values().iter().zip(coded.first_row()) {
        numbers.push(number(text).ok_or_else(|| {
            let reason = format!("not the number of a cell; these are 0 to {}", parts - 1);
            Error::data("not-a-cell", reason).at_row(name, row)
        })?);
    }
    Ok(coded.codes().iter().map(|code| numbers[code as usize]).collect())
}
