//! k-map: how often the combinations of a table occur in a table of the population.
//!
//! # Reference
//! Sweeney: Computational disclosure control, PhD thesis, MIT 2001 (k-map). El Emam, Dankar:
//! Protecting privacy using k-anonymity, JAMIA 15, 2008.

use serde::Serialize;

use super::attackers::{AttackerRisk, ClassRisk, attacker, journalist};
use super::classes::RiskClasses;
use crate::audit::covered_by;
use crate::codes::real;
use crate::error::Result;
use crate::request::Request;
use crate::table::Table;

/// A table measured against its population.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PopulationMatch {
    /// Persons of the population: the rows of its table, by their counts.
    pub persons: u64,
    /// The least number of persons of the population that have the values of a class.
    pub k_map: u64,
    /// Individuals of the table in classes with fewer than k persons of the population, where k is
    /// one over the threshold.
    pub below: u64,
    /// Individuals that only they can be: one person of the population has their values.
    pub uniques: u64,
    /// Expected right matches when every individual is matched: the sum of f/F over the classes.
    pub expected: f64,
    /// Individuals whose values nobody of the population has. They count as if they were all that
    /// there are of their class.
    pub absent: u64,
    /// Individuals in classes that are larger than their part of the population; the absent ones
    /// among them. A population that has everybody of the table has none.
    pub too_few: u64,
    /// The journalist's risk.
    pub journalist: AttackerRisk,
    /// The share of right matches when every individual is matched.
    pub marketer: f64,
}

/// Measures the classes against the population; none when that takes too long.
pub(super) fn against(
    classes: &RiskClasses<'_>,
    table: &Table,
    population: &Table,
    request: &Request,
    one_in: u64,
) -> Result<Option<PopulationMatch>> {
    let Some(found) = covered_by(table, &classes.first, population, request)? else {
        return Ok(None);
    };
    let sizes =
        || classes.sizes.iter().zip(&found.covered).map(|(&size, &persons)| (size, persons));
    // Whoever is in the table is in the population.
    let pairs = || sizes().map(|(size, persons)| (size, persons.max(size)));
    let all: u64 = classes.sizes.iter().sum();
    let sum = |is: &dyn Fn(u64, u64) -> bool| {
        sizes().filter(|&(size, persons)| is(size, persons)).map(|(size, _)| size).sum::<u64>()
    };
    let risk = |(size, persons): (u64, u64)| ClassRisk { size, risk: 1.0 / real(persons) };
    let marketer = attacker(pairs().map(risk), one_in).average;
    Ok(Some(PopulationMatch {
        persons: found.persons,
        k_map: pairs().map(|(_, persons)| persons).min().unwrap_or(0),
        below: sum(&|size, persons| persons.max(size) < one_in),
        uniques: sum(&|size, persons| persons.max(size) == 1),
        expected: marketer * real(all),
        absent: sum(&|_, persons| persons == 0),
        too_few: sum(&|size, persons| persons < size),
        journalist: journalist(pairs(), one_in),
        marketer,
    }))
}
