//! The problem of a table whose columns have their codes: tuples of rows or of persons, the rules on
//! them, and the rows that every release suppresses.

use std::sync::Arc;

use rayon::prelude::*;

use super::counts::TupleCounts;
use super::fit::Fitted;
use super::persons::{NamedColumns, PersonColumns, PersonUnits, weighted};
use super::privacy::{Counting, Model, PluralColumn};
use super::tuples::{Numbering, Recoded, Tuples};
use super::{Problem, mandatory_suppression, stages};
use crate::codes::{Code, Codes};
use crate::error::{Result, Warning};
use crate::request::ratio::Ratio;
use crate::request::{Persons, Request, Roles, RuleSpec};
use crate::rng::Key;
use crate::table::Table;

impl Problem {
    /// The problem of fitted columns.
    pub(super) fn assemble(
        fitted: Fitted,
        table: &Table,
        roles: &Roles,
        request: &Request,
        numbering: Numbering,
    ) -> Result<Problem> {
        let rules = request.rules(roles)?;
        let suppress = request.suppress()?;
        let Fitted { attributes, maps, schemes, sensitive: ruled, totals, warnings } = fitted;
        let quasi = attributes.len();
        let coded = roles.quasi.iter().map(|name| table.coded(name));
        let mut columns: Vec<Recoded> =
            coded.zip(&maps).map(|(coded, map)| Recoded::new(coded, map)).collect();
        let sensitive = ruled.columns.iter();
        columns
            .extend(sensitive.map(|column| Recoded::new(table.coded(&column.name), &column.map)));
        let mut domains: Vec<usize> = ruled.columns.iter().map(|column| column.values).collect();
        let persons = PersonUnits::new(table, roles, request, &columns[..quasi])?;
        // The guarantee of ring needs draws that cannot be repeated.
        let key = if request.non_homogeneous { Key::from_system() } else { Key::of(request.seed) };

        let codes_of = |columns: &[Recoded], tuples: &Tuples| -> Vec<Codes> {
            columns.par_iter().map(|column| tuples.codes(column)).collect()
        };
        let mut named = NamedColumns::default();
        let (tuples, mut cells, extents, counts, counting) = match &persons {
            None => {
                let tuples = Tuples::new(&columns, table.rows(), quasi, numbering, key);
                let counts = TupleCounts::new(table, roles, &tuples)?;
                let cells = codes_of(&columns, &tuples);
                (tuples, cells, Vec::new(), counts, None)
            }
            Some(PersonUnits { rows, reading: Persons::Whole, .. }) => {
                let values: Vec<usize> =
                    attributes.iter().map(|attribute| attribute.codes()).chain(domains).collect();
                let of_persons = PersonColumns::new(rows, &columns, &values, quasi);
                let recoded = of_persons.recoded();
                let tuples = Tuples::new(&recoded, rows.len(), quasi, numbering, key);
                let mut cells = codes_of(&recoded, &tuples);
                let sets = cells.split_off(columns.len());
                let (mut plural, extents) = of_persons.extents(sets);
                let mut sensitive = cells.split_off(quasi);
                named = NamedColumns::new(&rules, &ruled, &mut plural, &mut sensitive)?;
                cells.append(&mut sensitive);
                domains = plural.iter().map(|column| column.values).collect();
                let counting = Counting { columns: plural, weights: None };
                (tuples, cells, extents, None, Some(counting))
            }
            Some(PersonUnits { rows, reading: Persons::Rows, .. }) => {
                let (codes, weights) = weighted(rows, table, roles)?;
                let map: Vec<Code> = (0u32..).take(rows.len()).collect();
                columns.push(Recoded::of(&codes, &map));
                let tuples = Tuples::new(&columns, table.rows(), quasi, numbering, key);
                let counts = TupleCounts::new(table, roles, &tuples)?;
                let cells = codes_of(&columns, &tuples);
                domains.push(rows.len());
                let plural = domains.iter().map(|&values| PluralColumn::new(values)).collect();
                let counting = Counting { columns: plural, weights: Some(weights) };
                (tuples, cells, Vec::new(), counts, Some(counting))
            }
        };
        let rows = match &counts {
            Some(counts) => counts.total(),
            None => tuples.rows.len() as u64,
        };
        let sensitive = cells.split_off(quasi);
        let mut problem = Problem {
            attributes,
            cells,
            sensitive,
            domains,
            rows: tuples.rows,
            starts: tuples.starts,
            counts,
            persons,
            extents,
            counting: counting.map(Arc::new),
            stages: Vec::new(),
            schemes,
            mandatory: Vec::new(),
            allowance: allowance(suppress, rows),
            warnings,
        };
        let totals = totals.unwrap_or_else(|| problem.totals());
        let models = |rule: &RuleSpec| Ok(problem.models_of(named.of(ruled.model(&rule.model)?)));
        problem.stages = stages::stages(&problem, &rules, models, &totals)?;
        let names: Vec<String> = (0..problem.sensitive.len())
            .map(|column| ruled.columns.get(named.behind(column)))
            .map(|column| column.map_or(String::new(), |column| column.name.clone()))
            .collect();
        problem.mandatory = mandatory_suppression::mandatory(&problem, &names, key)?;
        if problem.stages.len() > 1 && problem.allowance > 0 {
            problem.warnings.push(Warning::new(
                "few-rows-suppressed",
                "with rules on several column sets, rows are suppressed only where no release \
                 could satisfy the rules otherwise",
            ));
        }
        Ok(problem)
    }

    /// The models of a rule: by rows of persons, k counts persons too.
    fn models_of(&self, model: Model) -> Vec<Model> {
        let by_rows = self.persons.as_ref().is_some_and(|own| own.reading == Persons::Rows);
        match model {
            Model::K(k) if by_rows => {
                let column = self.sensitive.len() - 1;
                vec![Model::K(k), Model::Persons { column, k }]
            }
            model => vec![model],
        }
    }
}

/// A share of the rows, rounded down: the limit is never exceeded.
pub(super) fn allowance(share: Ratio, rows: u64) -> u64 {
    let allowed = u128::from(share.num()) * u128::from(rows) / u128::from(share.den());
    u64::try_from(allowed).expect("a share below 1 of a table")
}
