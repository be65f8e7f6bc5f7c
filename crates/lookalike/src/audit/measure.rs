//! One pass over the classes: the measures of the table, and the result of each rule.

use std::borrow::Cow;

use serde::Serialize;

use super::classes::{ClassRows, Fold, RowClasses};
use super::coded;
use super::ground_distance::{GroundDistance, distance, ground_distance};
use super::row_counts::RowCounts;
use super::rules::{ClassCounts, Rule, Sensitive};
use super::surface::Surface;
use super::{RuleVerdict, WholeDistribution, surface};
use crate::error::{Error, Result};
use crate::request::{Distance, ModelSpec, Request, Roles, RuleSpec, Share};
use crate::table::Table;

/// Measures of the equivalence classes of a table, whatever the rules are.
#[derive(Clone, Debug, Serialize)]
pub struct Measures {
    /// Rows of the table; by their counts where a column has them.
    pub rows: u64,
    /// Persons of the table, where it has a person key. Then `k`, `histogram`, `uniques`, `risk` and
    /// `sensitive` count persons; a person with rows in several classes counts by the smallest.
    pub persons: Option<u64>,
    /// Classes over all quasi-identifiers.
    pub classes: u64,
    /// The size of the smallest class.
    pub k: u64,
    /// Classes by size, small first; bands without a class are omitted.
    pub histogram: Vec<SizeBand>,
    /// Rows, or persons, that are alone in their class.
    pub uniques: u64,
    /// Their share of all rows, or persons.
    pub uniques_share: f64,
    /// The risk that a person known to be in the table is found.
    pub risk: Risk,
    /// The spread of each sensitive column over the classes.
    pub sensitive: Vec<SensitiveMeasures>,
}

impl Measures {
    /// The unit of the class sizes.
    pub fn unit(&self) -> CountUnit {
        if self.persons.is_some() { CountUnit::Persons } else { CountUnit::Rows }
    }

    /// The number of rows, or of persons where these are counted.
    pub fn size(&self) -> u64 {
        self.persons.unwrap_or(self.rows)
    }
}

/// The members of a class, as they are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CountUnit {
    /// Each row counts.
    Rows,
    /// Each person counts once, whatever the number of rows.
    Persons,
}

impl CountUnit {
    /// The noun in the plural.
    pub fn name(self) -> &'static str {
        match self {
            CountUnit::Rows => "rows",
            CountUnit::Persons => "persons",
        }
    }

    /// `1 row`, `5 persons`
    pub(super) fn counted(self, number: u64) -> String {
        let noun = self.name();
        format!("{number} {}", if number == 1 { &noun[..noun.len() - 1] } else { noun })
    }
}

/// Classes of similar size.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SizeBand {
    /// The least size.
    pub from: u64,
    /// The greatest size; none in the last band.
    pub to: Option<u64>,
    /// The number of classes.
    pub classes: u64,
    /// The number of rows in these classes, or of persons.
    pub rows: u64,
}

/// The prosecutor's risk: the chance to pick the right row of a person known to be in the table.
#[derive(Clone, Debug, Serialize)]
pub struct Risk {
    /// The risk in the smallest class: one over its size.
    pub highest: f64,
    /// The mean over all rows: classes over rows.
    pub average: f64,
    /// The share of rows whose risk is above 1/k; none when the request has no k.
    pub above: Option<f64>,
    /// Rows whose risk is above 1/2, 1/3, 1/5, 1/11 and 1/20.
    pub at_risk: Vec<AtRisk>,
}

/// Rows whose risk is above a threshold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AtRisk {
    /// The threshold is one over this.
    pub one_in: u64,
    /// Rows of classes smaller than `one_in`.
    pub rows: u64,
}

/// The thresholds of [`Risk::at_risk`], one over each.
pub(super) const THRESHOLDS: [u64; 5] = [2, 3, 5, 11, 20];

/// The spread of a sensitive column over the classes: for each measure the worst class.
#[derive(Clone, Debug, Serialize)]
pub struct SensitiveMeasures {
    /// The name of the column.
    pub column: String,
    /// Distinct values in the whole table.
    pub values: u64,
    /// The fewest distinct values in a class.
    pub distinct: u64,
    /// l-diversity in frequency form: the least whole part of class size over the count of its most
    /// frequent value.
    pub frequency: u64,
    /// The least effective number of values: e to the entropy.
    pub entropy: f64,
    /// The greatest share of one value.
    pub alpha: f64,
    /// The greatest distance to the whole table where any two values are 1 apart.
    pub t_equal: f64,
    /// The greatest distance by the ground distance of the request; none when it has none, or the
    /// equal one.
    pub t: Option<f64>,
}

/// The least class sizes of the bands of the histogram.
pub(super) const BANDS: [u64; 14] =
    [1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1_000, 10_000, 100_000, 1_000_000];

/// Counts the classes anew and evaluates every rule on each of them.
pub(super) fn evaluate(
    table: &Table,
    request: &Request,
    surface: &Surface,
    specs: &[RuleSpec],
    whole: &[WholeDistribution],
) -> Result<(Measures, Vec<RuleVerdict>)> {
    let row_counts = RowCounts::new(table, request)?;
    let classes = classes_of(table, surface, &surface.roles.quasi)?;
    let class_sizes = class_sizes(&classes, &row_counts);
    let rows_of = classes.rows();
    let mut verdicts: Vec<Option<RuleVerdict>> = specs.iter().map(|_| None).collect();
    for (spec, verdict) in
        specs.iter().zip(&mut verdicts).filter(|(spec, _)| spec.model.column().is_none())
    {
        *verdict = Some(if spec.columns == surface.roles.quasi {
            on_sizes(spec, &class_sizes, request)
        } else {
            let classes = classes_of(table, surface, &spec.columns)?;
            on_sizes(spec, &self::class_sizes(&classes, &row_counts), request)
        });
    }
    let mut measures = sizes(&class_sizes, row_counts.total, request);
    for name in &surface.roles.sensitive {
        let mut sensitive = Sensitive::new(coded(table, name)?, name, request, &row_counts);
        if let Some(whole) = whole.iter().find(|whole| whole.column == *name) {
            sensitive.compare_with(whole, &request.missing);
        }
        let mut rules = rules_on(specs, name, &sensitive, &surface.roles, request)?;
        measures.sensitive.push(spread(
            name,
            &sensitive,
            (&rows_of, &class_sizes),
            &row_counts,
            &mut rules,
            request,
        )?);
        for (at, rule) in rules {
            verdicts[at] = Some(rule.verdict());
        }
    }
    Ok((
        measures,
        verdicts
            .into_iter()
            .map(|verdict| verdict.expect("every rule is on a column that the release has"))
            .collect(),
    ))
}

/// The rules on one sensitive column, each with its place among all rules.
pub(super) fn rules_on<'a>(
    specs: &'a [RuleSpec],
    name: &str,
    sensitive: &Sensitive<'_>,
    roles: &Roles,
    request: &Request,
) -> Result<Vec<(usize, Rule<'a>)>> {
    let mut rules = Vec::new();
    let is_on = |spec: &RuleSpec| spec.model.column().is_some_and(|column| column == name);
    for (at, spec) in specs.iter().enumerate().filter(|(_, spec)| is_on(spec)) {
        if spec.columns != roles.quasi {
            return Err(Error::request(
                "rule-on-subset",
                format!("a rule on column `{name}` must be on all quasi-identifiers"),
            )
            .about_column(name));
        }
        let ground = match &spec.model {
            ModelSpec::Closeness { distance, .. } => {
                ground_distance(*distance, name, sensitive, request)?
            }
            _ => GroundDistance::Equal,
        };
        rules.push((at, Rule::new(spec, Some(sensitive), ground, &request.missing)));
    }
    Ok(rules)
}

/// The classes of some quasi-identifiers, by their cells as released.
pub(super) fn classes_of(table: &Table, surface: &Surface, names: &[String]) -> Result<RowClasses> {
    let quasi = surface.quasi.iter().filter(|quasi| names.iter().any(|name| name == quasi.name()));
    let columns = quasi
        .flat_map(surface::QuasiColumns::columns)
        .map(|column| coded(table, column))
        .collect::<Result<Vec<_>>>()?;
    let mut fold = Fold::new(table.rows());
    fold.refine(
        &columns
            .iter()
            .map(|column| (column.values().len(), |row: usize| column.codes().get(row)))
            .collect::<Vec<_>>(),
    );
    Ok(fold.finish())
}

/// The number of rows of each class, by their counts.
fn class_sizes<'a>(classes: &'a RowClasses, row_counts: &RowCounts<'_>) -> Cow<'a, [u32]> {
    if !row_counts.is_counted() {
        return Cow::Borrowed(&classes.sizes);
    }
    // The sum of all counts has 32 bits.
    let mut sizes = vec![0u32; classes.sizes.len()];
    for (row, &class) in classes.of.iter().enumerate() {
        sizes[class as usize] += row_counts.of(row);
    }
    Cow::Owned(sizes)
}

fn on_sizes(spec: &RuleSpec, sizes: &[u32], request: &Request) -> RuleVerdict {
    let mut rule = Rule::new(spec, None, GroundDistance::Equal, &request.missing);
    for &size in sizes {
        rule.evaluate(&ClassCounts::of_rows(u64::from(size), &[], &[]), None);
    }
    rule.verdict()
}

#[allow(clippy::cast_precision_loss, reason = "for display")]
fn sizes(sizes: &[u32], rows: u64, request: &Request) -> Measures {
    let smallest = sizes.iter().copied().min().map_or(0, u64::from);
    let band = |from: u64, to: Option<u64>| {
        let within = sizes
            .iter()
            .map(|&size| u64::from(size))
            .filter(|&size| size >= from && to.is_none_or(|to| size <= to));
        let (classes, rows) =
            within.fold((0, 0), |(classes, rows), size| (classes + 1, rows + size));
        SizeBand { from, to, classes, rows }
    };
    let bands = BANDS
        .iter()
        .enumerate()
        .map(|(at, &from)| band(from, BANDS.get(at + 1).map(|next| next - 1)));
    let histogram: Vec<SizeBand> = bands.filter(|band| band.classes > 0).collect();
    let uniques = histogram.iter().filter(|band| band.to == Some(1)).map(|band| band.rows).sum();
    let below = |k: u64| band(1, Some(k.saturating_sub(1))).rows;
    let risk = Risk {
        highest: 1.0 / smallest as f64,
        average: sizes.len() as f64 / rows as f64,
        above: request.k.map(|k| below(k) as f64 / rows as f64),
        at_risk: THRESHOLDS.map(|one_in| AtRisk { one_in, rows: below(one_in) }).to_vec(),
    };
    Measures {
        rows,
        persons: None,
        classes: sizes.len() as u64,
        k: smallest,
        histogram,
        uniques,
        uniques_share: uniques as f64 / rows as f64,
        risk,
        sensitive: Vec::new(),
    }
}

/// Goes through the classes with the counts of one sensitive column.
fn spread(
    name: &str,
    sensitive: &Sensitive<'_>,
    (rows_of, class_sizes): (&ClassRows, &[u32]),
    row_counts: &RowCounts<'_>,
    rules: &mut [(usize, Rule<'_>)],
    request: &Request,
) -> Result<SensitiveMeasures> {
    let requested = requested_ground(name, sensitive, request)?;
    let mut worst = SensitiveMeasures::unseen(name, sensitive, requested.as_ref());
    let mut counts = vec![0u64; sensitive.values.len()];
    let mut present: Vec<u32> = Vec::new();
    for (class, &size) in class_sizes.iter().enumerate() {
        for &row in rows_of.of(class) {
            let value = sensitive.of(row);
            if counts[value as usize] == 0 {
                present.push(value);
            }
            counts[value as usize] += u64::from(row_counts.of(row as usize));
        }
        let tally = ClassCounts::of_rows(u64::from(size), &counts, &present);
        rules.iter_mut().for_each(|(_, rule)| rule.evaluate(&tally, Some(sensitive)));
        worst.note(&tally, &tally, sensitive, requested.as_ref());
        present.drain(..).for_each(|value| counts[value as usize] = 0);
    }
    Ok(worst)
}

/// The ground distance that the request has for a column, if it is another than the equal one.
pub(super) fn requested_ground(
    name: &str,
    sensitive: &Sensitive<'_>,
    request: &Request,
) -> Result<Option<GroundDistance>> {
    let line = request.column(name);
    let requested =
        line.filter(|line| matches!(line.t, Some(Share(_)))).and_then(|line| line.distance);
    match requested {
        Some(distance) if distance != Distance::Equal => {
            Ok(Some(ground_distance(distance, name, sensitive, request)?))
        }
        _ => Ok(None),
    }
}

impl SensitiveMeasures {
    /// Before any class was seen.
    pub(super) fn unseen(
        name: &str,
        sensitive: &Sensitive<'_>,
        requested: Option<&GroundDistance>,
    ) -> SensitiveMeasures {
        SensitiveMeasures {
            column: name.to_string(),
            values: sensitive.values.len() as u64,
            distinct: u64::MAX,
            frequency: u64::MAX,
            entropy: f64::INFINITY,
            alpha: 0.0,
            t_equal: 0.0,
            t: requested.map(|_| 0.0),
        }
    }

    /// Notes a class: the counts of its values, and their distribution, which differs from the
    /// counts where persons have several values.
    #[allow(clippy::cast_precision_loss, reason = "for display")]
    pub(super) fn note(
        &mut self,
        counts: &ClassCounts<'_>,
        distribution: &ClassCounts<'_>,
        sensitive: &Sensitive<'_>,
        requested: Option<&GroundDistance>,
    ) {
        self.distinct = self.distinct.min(counts.distinct());
        self.frequency = self.frequency.min(counts.whole / counts.most());
        self.alpha = self.alpha.max(counts.most() as f64 / counts.whole as f64);
        self.entropy = self.entropy.min(distribution.entropy().exp());
        let far = |ground: &GroundDistance| distance(ground, distribution, sensitive).to_f64();
        self.t_equal = self.t_equal.max(far(&GroundDistance::Equal));
        if let (Some(t), Some(ground)) = (&mut self.t, requested) {
            *t = t.max(far(ground));
        }
    }
}
