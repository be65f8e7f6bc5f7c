//! Risk as the field counts it: who could be found in a table, by whom, and by which columns.
//!
//! All measures are about classes of equal quasi-identifiers, which [`risks`] counts in the table
//! as it stands: a source, or a release. They are counted in rows, or in persons where the table
//! has a person key. docs/risk.md has each formula with its paper, what it assumes and when not to
//! use it.
//!
//! | question | measure |
//! |---|---|
//! | somebody is known to be in the table: is it this row? | prosecutor: 1/f |
//! | somebody of the population: is it this row? | journalist: 1/F, counted or estimated |
//! | how many rows can be matched rightly? | marketer: the sum of f/F |
//! | who is alone in the population? | [`population_uniques`]: three models |
//! | which columns make people unique? | [`SpecialUniques`]: minimal sample uniques |

mod attackers;
mod classes;
mod gamma;
mod individual;
mod population;
mod special;
mod unique_on;
mod uniques;

#[cfg(test)]
mod tests;

pub use attackers::AttackerRisk;
pub use individual::individual_risk;
pub use population::PopulationMatch;
pub use special::{ColumnUniqueness, DisRisk, SpecialUniques};
pub use uniques::{ClassSizes, PopulationUniques, UniquesModel, population_uniques};

use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::codes::real;
use crate::error::{Error, Result};
use crate::request::Request;
use crate::table::{Table, Treatment};
use attackers::{ClassRisk, attacker, prosecutor};
use classes::RiskClasses;

/// One over the threshold of risk where the request has no k.
const ONE_IN: u64 = 5;

/// What the measures count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Individuals {
    /// Each row is one person.
    Rows,
    /// The persons of a class, each once, by the person key.
    Persons,
}

/// Which parts are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RiskParts {
    /// All of them.
    All,
    /// All but the special uniques, which take the most time.
    WithoutColumns,
}

/// The measures of a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RiskMeasures {
    /// Rows or persons.
    pub counted: Individuals,
    /// Their number: persons who are in several classes count in each.
    pub individuals: u64,
    /// The number of classes.
    pub classes: u64,
    /// A risk above this is high: 1/k, or one fifth where the request has no k.
    pub threshold: f64,
    /// For an attacker who knows that a person is in the table.
    pub prosecutor: AttackerRisk,
    /// The share of rows that are matched rightly, when the attacker has a list of exactly these
    /// persons.
    pub marketer: f64,
    /// What the sampling weights or the sampling fraction say about the population.
    pub sample: Option<SampleRisk>,
    /// The comparison with a table of the population.
    pub population: Option<PopulationMatch>,
    /// True when there is a population table, but the comparison takes too long.
    pub population_skipped: bool,
    /// The columns that make people unique; none where nobody asked for it.
    pub special_uniques: Option<SpecialUniques>,
}

/// The risk of a sample of a population that is known by weights or by the sampling fraction only.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SampleRisk {
    /// Where the fraction comes from.
    pub from: SampledBy,
    /// The share of the population that is in the table.
    pub fraction: f64,
    /// Persons of the population: the sum of the weights, or individuals over the fraction.
    pub persons: f64,
    /// The journalist's risk, estimated: the mean of 1/F in each class.
    pub journalist: AttackerRisk,
    /// Expected right matches when every individual is matched, by the classes one by one.
    pub expected: f64,
    /// Individuals of the table that are unique in the population, by the model of `uniques`: so
    /// many right matches at least. Where this is more than `expected`, that is too low.
    pub unique_individuals: Option<f64>,
    /// `expected` as a share of the individuals: the marketer's risk, estimated.
    pub marketer: f64,
    /// Persons that are alone in the population.
    pub uniques: PopulationUniques,
}

/// How a sample is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SampledBy {
    /// A column has the sampling weight of each row.
    Weights,
    /// The request has the sampling fraction.
    Fraction,
}

/// The treatments of a table of the population: the quasi-identifiers are coded, and the column of
/// counts where it has one.
///
/// # Errors
/// When it lacks a quasi-identifier.
pub fn population_treatments(
    names: &[String],
    quasi: &[String],
    request: &Request,
) -> Result<Vec<Treatment>> {
    if let Some(name) = quasi.iter().find(|name| !names.contains(name)) {
        let reason = format!(
            "the population has no column `{name}`: it needs all quasi-identifiers, under the same \
             names"
        );
        return Err(Error::data("population-lacks-column", reason).about_column(name));
    }
    let is_needed = |name: &String| quasi.contains(name) || request.count.as_ref() == Some(name);
    let treatment = |name: &String| if is_needed(name) { Treatment::Code } else { Treatment::Skip };
    Ok(names.iter().map(treatment).collect())
}

/// Measures a table: a source, or a release, whose generalized cells cover persons of the
/// population.
///
/// The table must be read as for [`audit`](crate::audit::audit), with the codes of its sampling
/// weight, and the population with [`population_treatments`].
///
/// # Example
/// ```
/// use lookalike::{Request, evaluate::risk::{RiskParts, risks}, table, table::Treatment};
///
/// let request = Request::parse("columns.age.role = 'quasi'\ncolumns.sex.role = 'quasi'")?;
/// let read = |text: &str| {
///     let source = table::open_text(text.into(), "data.csv".as_ref())?;
///     source.read(&[Treatment::Code, Treatment::Code])
/// };
/// let sample = read("age,sex\n34,f\n34,f\n51,m\n")?;
/// let population = read("age,sex\n34,f\n34,f\n34,f\n51,m\n51,m\n60,m\n")?;
/// let found = risks(&sample, &request, Some(&population), RiskParts::All)?;
/// assert_eq!(found.prosecutor.highest, 1.0); // one row is 51, m
/// let matched = found.population.expect("it was given");
/// assert_eq!(matched.journalist.highest, 0.5); // two of the population are
/// assert_eq!(matched.expected, 2.0 / 3.0 + 1.0 / 2.0);
/// # Ok::<(), lookalike::Error>(())
/// ```
///
/// # Errors
/// As [`audit`](crate::audit::audit); when the sampling fraction is not above 0 and at most 1, or
/// the table has weights too; when a weight is no number above 0, or a row has no person.
pub fn risks(
    table: &Table,
    request: &Request,
    population: Option<&Table>,
    parts: RiskParts,
) -> Result<RiskMeasures> {
    let one_in = request.k.filter(|&k| k > 1).unwrap_or(ONE_IN);
    let fraction = request.sampling_fraction()?;
    let classes = RiskClasses::new(table, request)?;
    if fraction.is_some() && classes.weights.is_some() {
        return Err(Error::request(
            "fraction-and-weights",
            "the table has sampling weights, which say the sampling fraction: remove the fraction, \
             or the role weight",
        ));
    }
    let sizes: ClassSizes = classes.sizes.iter().copied().collect();
    let sample = sample(&classes, &sizes, fraction, one_in);
    let matched = match population {
        Some(population) => population::against(&classes, table, population, request, one_in)?,
        None => None,
    };
    let known = sample.as_ref().map(|sample| sample.fraction);
    Ok(RiskMeasures {
        counted: classes.counted,
        individuals: sizes.individuals(),
        classes: sizes.classes(),
        threshold: 1.0 / real(one_in),
        prosecutor: prosecutor(classes.sizes.iter().copied(), one_in),
        marketer: real(sizes.classes()) / real(sizes.individuals().max(1)),
        population_skipped: population.is_some() && matched.is_none(),
        sample,
        population: matched,
        special_uniques: match parts {
            RiskParts::All => Some(special::special_uniques(&classes, known)),
            RiskParts::WithoutColumns => None,
        },
    })
}

/// The estimates from weights or a sampling fraction; none without either.
fn sample(
    classes: &RiskClasses<'_>,
    sizes: &ClassSizes,
    fraction: Option<f64>,
    one_in: u64,
) -> Option<SampleRisk> {
    let all = real(sizes.individuals());
    let (from, persons) = match (&classes.weights, fraction) {
        (Some(weights), _) => (SampledBy::Weights, weights.iter().sum::<f64>().max(all)),
        (None, Some(fraction)) => (SampledBy::Fraction, all / fraction),
        (None, None) => return None,
    };
    let mean = all / persons;
    // A class of weights below 1 has at least its own individuals in the population.
    let chance = |class: usize| match &classes.weights {
        Some(weights) => (real(classes.sizes[class]) / weights[class]).min(1.0),
        None => mean,
    };
    // Many classes have the same size and chance.
    let mut known: FxHashMap<(u64, u64), f64> = FxHashMap::default();
    let risk = |(class, &size): (usize, &u64)| {
        let p = chance(class);
        let risk = *known.entry((size, p.to_bits())).or_insert_with(|| individual_risk(size, p));
        ClassRisk { size, risk }
    };
    let journalist = attacker(classes.sizes.iter().enumerate().map(risk), one_in);
    let uniques = population_uniques(sizes, mean);
    Some(SampleRisk {
        from,
        fraction: mean,
        persons,
        expected: journalist.average * all,
        marketer: journalist.average,
        journalist,
        unique_individuals: uniques.chosen.map(|uniques| uniques * mean),
        uniques,
    })
}
