//! From dictionaries to a domain: the attributes and sensitive columns of a table, and the codes of
//! its texts.

use rayon::prelude::*;

use super::sensitive_rules::SensitiveColumns;
use super::{CountColumn, check};
use crate::codes::Code;
use crate::domain::attribute::{Attribute, Domain};
use crate::domain::encode::{self, ColumnSpec};
use crate::domain::scheme::Scheme;
use crate::domain::{QuasiDomain, TableDomain, ValueCounts};
use crate::error::{Error, Result, Warning};
use crate::request::{Request, Roles, RuleSpec};
use crate::table::{Coded, Table};

/// Everything about the columns of a problem but its rows.
pub(super) struct Fitted {
    pub(super) attributes: Vec<Attribute>,
    /// For each attribute the code of each value of its column's dictionary.
    pub(super) maps: Vec<Vec<Code>>,
    pub(super) schemes: Vec<Scheme>,
    pub(super) sensitive: SensitiveColumns,
    /// The rows of the whole table with each sensitive value; none when this is the whole.
    pub(super) totals: Option<Vec<Vec<u64>>>,
    pub(super) warnings: Vec<Warning>,
}

impl Fitted {
    /// Finds the domain in the dictionaries of the columns. `finish` sees each attribute before its
    /// scheme is chosen.
    pub(super) fn new<'t>(
        coded: impl Fn(&str) -> &'t Coded,
        roles: &Roles,
        rules: &[RuleSpec],
        request: &Request,
        finish: impl Fn(&mut Attribute),
    ) -> Result<Fitted> {
        request.suppress()?;
        let columns: Vec<(&String, &Coded)> =
            roles.quasi.iter().map(|name| (name, coded(name))).collect();
        let encoded: Vec<(Attribute, Vec<Code>)> = columns
            .par_iter()
            .map(|(name, coded)| encode::attribute(ColumnSpec::new(name, request), coded))
            .collect::<Result<_>>()?;
        let (mut attributes, maps): (Vec<Attribute>, Vec<Vec<Code>>) = encoded.into_iter().unzip();
        attributes.iter_mut().for_each(finish);
        let schemes = attributes
            .iter()
            .map(|attribute| check::scheme(attribute, request))
            .collect::<Result<_>>()?;
        check::listed_bounds(&attributes, request)?;
        let mut warnings = check::without_intervals(&attributes, request);
        warnings.extend(check::listed_numbers(&attributes, request));
        warnings.extend(check::numbers_by_prefix(&attributes, request));
        warnings.extend(check::text_among_numbers(&attributes, request, &coded));
        let sensitive = SensitiveColumns::new(coded, roles, rules, request, &mut warnings)?;
        Ok(Fitted { attributes, maps, schemes, sensitive, totals: None, warnings })
    }

    /// The domain of a table at hand, which is checked first.
    pub(super) fn of(table: &Table, roles: &Roles, request: &Request) -> Result<Fitted> {
        check::check(table, roles, request)?;
        let rules = request.rules(roles)?;
        let coded = |name: &str| table.coded(name);
        Fitted::new(coded, roles, &rules, request, |attribute| check::keep_zone(attribute, table))
    }

    /// Looks the values of a part up in the domain of the whole.
    pub(super) fn within(
        domain: &TableDomain,
        table: &Table,
        roles: &Roles,
        rules: &[RuleSpec],
        request: &Request,
    ) -> Result<Fitted> {
        refuse_persons(roles)?;
        let quasi: Vec<&QuasiDomain> =
            roles.quasi.iter().map(|name| domain.quasi_of(name)).collect::<Result<_>>()?;
        let maps = quasi
            .par_iter()
            .map(|column| column.codes(table.coded(&column.attribute.name), request))
            .collect::<Result<_>>()?;
        let sensitive = SensitiveColumns::within(domain, table, roles, rules, request)?;
        Ok(Fitted {
            attributes: quasi.iter().map(|column| column.attribute.clone()).collect(),
            maps,
            schemes: quasi.iter().map(|column| column.scheme).collect(),
            totals: Some(sensitive.totals_in(domain)?),
            sensitive,
            warnings: Vec::new(),
        })
    }

    /// The domain of the whole table. `counts` are for each sensitive column under a rule the rows
    /// of each value of its dictionary.
    fn domain(self, rows: u64, counts: &[Vec<u64>]) -> TableDomain {
        let quasi = self.attributes.into_iter().zip(self.schemes);
        let quasi = quasi.map(|(attribute, scheme)| QuasiDomain { attribute, scheme }).collect();
        let columns = self.sensitive.columns.into_iter().zip(counts);
        let sensitive = columns.map(|(column, counts)| {
            let mut totals = vec![0; column.values];
            for (&code, &count) in column.map.iter().zip(counts) {
                totals[code as usize] += count;
            }
            column.domain(totals)
        });
        TableDomain::from_parts(rows, quasi, sensitive.collect())
    }
}

impl TableDomain {
    /// The domain of a table by the values of its columns: of each quasi-identifier and of each
    /// sensitive column under a rule. Others are ignored.
    ///
    /// # Errors
    /// As [`Problem::new`](crate::Problem::new), where a data row is the number of a value in its
    /// list; when a column is absent, or columns do not have the same number of rows.
    pub fn new(columns: &[ValueCounts], roles: &Roles, request: &Request) -> Result<TableDomain> {
        refuse_persons(roles)?;
        let rules = request.rules(roles)?;
        let is_ruled = |name: &&String| rules.iter().any(|rule| rule.model.column() == Some(*name));
        let ruled: Vec<&String> = roles.sensitive.iter().filter(is_ruled).collect();
        let mut found: Vec<(&ValueCounts, Coded)> = Vec::new();
        for name in roles.quasi.iter().chain(&roles.sensitive) {
            match columns.iter().find(|column| column.name == *name) {
                Some(column) => {
                    let cells = column.values.iter().map(|(value, _)| value.as_deref());
                    found.push((column, Coded::from_cells(cells)));
                }
                None if roles.quasi.contains(name) || ruled.contains(&name) => {
                    let reason =
                        format!("the domain of a table needs the values of column `{name}`");
                    return Err(Error::request("other-domain", reason).about_column(name));
                }
                None => {}
            }
        }
        let mut rows = None;
        for (column, _) in &found {
            let sum = column.values.iter().try_fold(0_u64, |sum, &(_, count)| {
                sum.checked_add(count).filter(|&sum| count > 0 && sum <= 1 << 48)
            });
            let sum = sum.filter(|&sum| sum > 0).ok_or_else(|| {
                let reason = "every value has at least 1 row, and all together at most 2^48";
                Error::data("bad-counts", reason).at_column(&column.name)
            })?;
            if *rows.get_or_insert(sum) != sum {
                let reason = format!(
                    "column `{}` has {sum} rows, and another column has {}: count the values of \
                     one table",
                    column.name,
                    rows.unwrap_or(0)
                );
                return Err(Error::data("bad-counts", reason).about_column(&column.name));
            }
        }
        let of = |name: &str| found.iter().find(|(column, _)| column.name == name);
        let coded = |name: &str| &of(name).expect("looked for above").1;
        // Columns without a rule need no values.
        let roles = Roles {
            sensitive: ruled.iter().map(|name| (*name).clone()).collect(),
            ..roles.clone()
        };
        let fitted = Fitted::new(coded, &roles, &rules, request, |attribute| {
            let zone = of(&attribute.name).and_then(|(column, _)| column.zone.clone());
            if let (Some(zone), Domain::Ordered(ordered)) = (zone, &mut attribute.domain) {
                ordered.set_zone(Some(zone));
            }
        })?;
        let counts: Vec<Vec<u64>> = ruled
            .iter()
            .map(|name| {
                let (column, coded) = of(name).expect("looked for above");
                let mut counts = vec![0; coded.values().len()];
                for (code, &(_, count)) in coded.codes().iter().zip(&column.values) {
                    counts[code as usize] += count;
                }
                counts
            })
            .collect();
        Ok(fitted.domain(rows.expect("there is a quasi-identifier"), &counts))
    }

    /// The domain of a table at hand.
    ///
    /// # Errors
    /// As [`Problem::new`](crate::Problem::new), but for rules that cannot be satisfied.
    pub fn of(table: &Table, roles: &Roles, request: &Request) -> Result<TableDomain> {
        refuse_persons(roles)?;
        let fitted = Fitted::of(table, roles, request)?;
        let of_rows = CountColumn::new(table, roles.count.as_ref())?;
        let counts: Vec<Vec<u64>> = fitted
            .sensitive
            .columns
            .iter()
            .map(|column| {
                let coded = table.coded(&column.name);
                let mut counts = vec![0; coded.values().len()];
                for (row, code) in coded.codes().iter().enumerate() {
                    counts[code as usize] += of_rows.of(row);
                }
                counts
            })
            .collect();
        Ok(fitted.domain(of_rows.total(table.rows()), &counts))
    }
}

/// Parts of a table may share persons, and their distributions count rows.
fn refuse_persons(roles: &Roles) -> Result<()> {
    if roles.person.is_empty() {
        return Ok(());
    }
    let reason = "the domain of a whole table counts rows, not persons: solve the table as a whole";
    Err(Error::request("domain-of-persons", reason).about_column(&roles.person[0]))
}
