//! The three attackers of El Emam, over classes of equal quasi-identifiers.
//!
//! The prosecutor knows that a person is in the table: the risk of a row is one over the size of
//! its class, 1/f. The journalist does not: somebody of the population is looked for, and the risk
//! is 1/F, where F persons of the population have the values of the class. The marketer does not
//! mind whom; all rows are matched with the population, and the risk is the expected share of right
//! matches, the sum of f/F over the classes divided by the number of rows.
//!
//! # Reference
//! El Emam: Guide to the De-Identification of Personal Health Information, 2013, chapter 16.
//! Dankar, El Emam: A method for evaluating marketer re-identification risk, PAIS 2010.

use serde::Serialize;

/// The risk of one attacker over all rows, or persons.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct AttackerRisk {
    /// The risk of the row that is most at risk.
    pub highest: f64,
    /// The mean over all rows; for the journalist the greater one of it and of classes over persons
    /// of the population in them.
    pub average: f64,
    /// The share of rows whose risk is above the threshold.
    pub above: f64,
}

/// A class for an attacker: its rows, and the risk of each of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ClassRisk {
    pub(super) size: u64,
    pub(super) risk: f64,
}

/// The risk by that of each class; `one_in` is one over the threshold.
#[allow(clippy::cast_precision_loss, reason = "shares, for display")]
pub(super) fn attacker(classes: impl Iterator<Item = ClassRisk>, one_in: u64) -> AttackerRisk {
    // A risk of 1/k computed in two ways must not be above 1/k.
    let threshold = (1.0 + 1e-9) / one_in as f64;
    let (mut highest, mut sum, mut above, mut all) = (0.0f64, 0.0, 0u64, 0u64);
    for ClassRisk { size, risk } in classes {
        highest = highest.max(risk);
        sum += size as f64 * risk;
        all += size;
        above += if risk > threshold { size } else { 0 };
    }
    let all = all.max(1) as f64;
    AttackerRisk { highest, average: sum / all, above: above as f64 / all }
}

/// The prosecutor's risk of classes of these sizes.
#[allow(clippy::cast_precision_loss, reason = "for display")]
pub(super) fn prosecutor(sizes: impl Iterator<Item = u64>, one_in: u64) -> AttackerRisk {
    attacker(sizes.map(|size| ClassRisk { size, risk: 1.0 / size as f64 }), one_in)
}

/// The journalist's risk of classes, each with its size and its persons in the population.
#[allow(clippy::cast_precision_loss, reason = "for display")]
pub(super) fn journalist(
    classes: impl Iterator<Item = (u64, u64)> + Clone,
    one_in: u64,
) -> AttackerRisk {
    let (mut number, mut persons) = (0u64, 0u64);
    for (_, frequency) in classes.clone() {
        number += 1;
        persons += frequency;
    }
    let risk = |(size, frequency): (u64, u64)| ClassRisk { size, risk: 1.0 / frequency as f64 };
    let risk = attacker(classes.map(risk), one_in);
    let by_class = number as f64 / persons.max(1) as f64;
    AttackerRisk { average: risk.average.max(by_class), ..risk }
}
