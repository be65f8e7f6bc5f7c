//! Population uniques: how many persons of the population are alone with their quasi-identifiers,
//! estimated from the class sizes of a sample and the sampling fraction.
//!
//! Three models, none of which is best everywhere, and the rule of Dankar et al. that chooses among
//! them. A model that has no solution for a table gives no estimate.
//!
//! # Reference
//! Dankar, El Emam, Neisa, Roffey: Estimating the re-identification risk of clinical data sets, BMC
//! Medical Informatics and Decision Making 12:66, 2012; its appendix A has all three models.

mod pitman;
mod snb;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::Serialize;

/// The classes of a sample by size: how many there are of each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClassSizes {
    /// Size and number of classes, by ascending size; no number is 0.
    sizes: Vec<(u64, u64)>,
    /// The rows, or persons, of all classes.
    individuals: u64,
    /// The number of classes.
    classes: u64,
}

impl FromIterator<u64> for ClassSizes {
    fn from_iter<T: IntoIterator<Item = u64>>(sizes: T) -> ClassSizes {
        let mut number: BTreeMap<u64, u64> = BTreeMap::new();
        // Nearly all classes are small.
        let mut small = [0u64; 256];
        for size in sizes {
            match usize::try_from(size).ok().and_then(|size| small.get_mut(size)) {
                Some(number) => *number += 1,
                None => *number.entry(size).or_default() += 1,
            }
        }
        number.extend((0..).zip(small).filter(|&(size, number)| size > 0 && number > 0));
        ClassSizes {
            individuals: number.iter().map(|(size, classes)| size * classes).sum(),
            classes: number.values().sum(),
            sizes: number.into_iter().collect(),
        }
    }
}

impl ClassSizes {
    /// The number of classes of a size.
    pub fn of_size(&self, size: u64) -> u64 {
        let at = self.sizes.binary_search_by_key(&size, |&(size, _)| size);
        at.map_or(0, |at| self.sizes[at].1)
    }

    /// The rows, or persons, of all classes.
    pub fn individuals(&self) -> u64 {
        self.individuals
    }

    /// The number of classes.
    pub fn classes(&self) -> u64 {
        self.classes
    }
}

/// A model of population uniques.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum UniquesModel {
    /// Zayatz: the classes of the population have sizes as often as those of the sample.
    Zayatz,
    /// Pitman's sampling formula, by maximum likelihood.
    Pitman,
    /// The slide negative binomial: one more than a negative binomial number in each class.
    Snb,
}

impl UniquesModel {
    /// The name of the model.
    pub fn name(self) -> &'static str {
        match self {
            UniquesModel::Zayatz => "Zayatz",
            UniquesModel::Pitman => "Pitman",
            UniquesModel::Snb => "slide negative binomial",
        }
    }
}

/// Estimated numbers of population uniques; none where a model has no solution.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PopulationUniques {
    /// By the model of Zayatz.
    pub zayatz: Option<f64>,
    /// By the model of Pitman.
    pub pitman: Option<f64>,
    /// By the slide negative binomial model.
    pub snb: Option<f64>,
    /// The model that the rule of Dankar et al. chooses.
    pub model: Option<UniquesModel>,
    /// Its estimate.
    pub chosen: Option<f64>,
    /// The estimate as a share of the population.
    pub share: Option<f64>,
}

/// Estimates the uniques of the population that a sample was taken from; `fraction` is the share of
/// the population that is in the sample, above 0 and at most 1.
///
/// # Example
/// ```
/// use lookalike::evaluate::risk::{ClassSizes, UniquesModel, population_uniques};
///
/// // 60 sample uniques, 15 pairs, 10 classes of five.
/// let sizes = [vec![1; 60], vec![2; 15], vec![5; 10]].concat();
/// let found = population_uniques(&ClassSizes::from_iter(sizes), 0.05);
/// assert_eq!(found.model, Some(UniquesModel::Pitman)); // the fraction is at most a tenth
/// assert!(found.chosen.unwrap() < 2_800.0); // of 140 / 0.05 persons
/// ```
#[allow(clippy::cast_precision_loss, reason = "estimates")]
pub fn population_uniques(sizes: &ClassSizes, fraction: f64) -> PopulationUniques {
    let fraction = fraction.clamp(f64::MIN_POSITIVE, 1.0);
    let persons = (sizes.individuals as f64 / fraction).round();
    let uniques = sizes.of_size(1);
    // A model may say anything; more uniques than persons, or none at all, is no estimate.
    let possible = |estimate: Option<f64>| {
        estimate.filter(|&number| number.is_finite() && number >= 0.0 && number <= persons)
    };
    // The whole population: it is known. Without sample uniques no model has anything to go by.
    let known = if fraction >= 1.0 || uniques == 0 { Some(uniques as f64) } else { None };
    let zayatz = possible(known.or_else(|| zayatz(sizes, persons)));
    let pitman = possible(known.or_else(|| pitman::uniques(sizes, persons)));
    let snb = possible(known.or_else(|| snb::uniques(sizes, fraction)));
    let model = choose(zayatz, pitman, snb, fraction);
    let chosen = match model {
        Some(UniquesModel::Zayatz) => zayatz,
        Some(UniquesModel::Pitman) => pitman,
        Some(UniquesModel::Snb) => snb,
        None => None,
    };
    let share = chosen.map(|uniques| uniques / persons.max(1.0));
    PopulationUniques { zayatz, pitman, snb, model, chosen, share }
}

/// The rule of Dankar et al.: Pitman up to a tenth of the population; above that the smaller one of
/// Zayatz and slide negative binomial. Zayatz where the model of the rule has no solution.
fn choose(
    zayatz: Option<f64>,
    pitman: Option<f64>,
    snb: Option<f64>,
    fraction: f64,
) -> Option<UniquesModel> {
    if fraction <= 0.1 {
        return pitman.map(|_| UniquesModel::Pitman).or(zayatz.map(|_| UniquesModel::Zayatz));
    }
    match (zayatz, snb) {
        (Some(zayatz), Some(snb)) if zayatz < snb => Some(UniquesModel::Zayatz),
        (_, Some(_)) => Some(UniquesModel::Snb),
        (Some(_), None) => Some(UniquesModel::Zayatz),
        (None, None) => None,
    }
}

/// Zayatz: by Bayes' rule the chance that a sample unique is a population unique, where a class of
/// the population has size j as often as a class of the sample.
///
/// P(F=1 | f=1) = p₁ h(1) / Σ p_j h(j), with h(j) the hypergeometric chance that the sample has one
/// row of a class of j; the population has the uniques of the sample times that chance, divided by
/// the sampling fraction.
///
/// # Reference
/// Zayatz: Estimation of the number of unique population elements using a sample, ASA Survey
/// Research Methods, 1991.
#[allow(clippy::cast_precision_loss, reason = "estimates")]
fn zayatz(sizes: &ClassSizes, persons: f64) -> Option<f64> {
    let sample = sizes.individuals as f64;
    // j n/N (N-n)/(N-1) (N-n-1)/(N-2) ... with j factors.
    let one_of = |size: u64| {
        let mut chance = size as f64 * sample / persons;
        let mut less = 1.0;
        while less < size as f64 && chance > 0.0 {
            chance *= ((persons - sample - less + 1.0) / (persons - less)).max(0.0);
            less += 1.0;
        }
        chance
    };
    let all: f64 = sizes.sizes.iter().map(|&(size, classes)| classes as f64 * one_of(size)).sum();
    let uniques = sizes.of_size(1) as f64;
    (all > 0.0).then(|| uniques * (uniques * one_of(1) / all) * persons / sample)
}

/// A place between `low` and `high` where the function is 0: it has different signs there.
fn bisect(mut low: f64, mut high: f64, function: impl Fn(f64) -> f64) -> f64 {
    let is_positive = function(low) > 0.0;
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if (function(middle) > 0.0) == is_positive {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}
