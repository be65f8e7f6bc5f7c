//! Special uniques: individuals that are unique on few columns already, and the columns that make
//! them so.
//!
//! A minimal sample unique (MSU) of an individual is a set of columns on which it is unique, no
//! smaller part of which is enough. Those of up to M columns are found for every individual. Each
//! counts by its size k with Π_{i=k..M} (ATT - i), where ATT is the number of columns (M at most
//! ATT - 1); the sum over its MSUs is the individual's SUDA score. A column has the share of the
//! whole score that MSUs with it have; since a set counts for each of its columns, the shares add
//! up to more than 1.
//!
//! DIS, the chance that a unique match is the right one, is π n₁ / (π n₁ + 2 (1-π) n₂) with n₁
//! sample uniques, n₂ pairs and the sampling fraction π. DIS-SUDA distributes it over the m special
//! uniques by their scores s: 1 / (1 + m (1/DIS - 1) / (s^Q Σ s^-Q)), Q = 1 + (8 - ATT) / 20, as in
//! the program SUDA and in sdcMicro. (There sets of any size are searched, and m is n₁.)
//!
//! # Complexity
//! Every set of up to M columns is counted once over the classes, on all threads: by an array where
//! the combinations of values are few, by a hash table otherwise. Whether a set is minimal is then
//! decided for 64 individuals at once. A bit for each set and each unique individual.
//!
//! # Reference
//! Elliot, Manning, Ford: A computational algorithm for handling the special uniques problem,
//! International Journal of Uncertainty, Fuzziness and Knowledge-Based Systems 10, 2002. Manning,
//! Haglin, Keane: A recursive search algorithm for statistical disclosure assessment, Data Mining
//! and Knowledge Discovery 16, 2008. Elliot, Manning, Mayes, Gurd, Bane: SUDA: a program for
//! detecting special uniques, UNECE 2005. Skinner, Elliot: A measure of disclosure risk for
//! microdata, JRSS B 64, 2002.

use rayon::prelude::*;
use serde::Serialize;

use super::classes::RiskClasses;
use super::unique_on::{KeyColumn, UniqueOn};
use crate::codes::real;

/// Sets of at most so many columns are searched, unless there is no time for them.
const LARGEST: usize = 3;

/// Sets times classes of one search at most; larger sets are then left out. A second or two.
const STEPS: u64 = 120_000_000;

/// Special uniques of a table, and the share of each column in them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SpecialUniques {
    /// Sets of up to so many columns were searched.
    pub largest: usize,
    /// True when sets of fewer columns than three were searched, because the table is large.
    pub is_limited: bool,
    /// Individuals that are unique on all columns together.
    pub uniques: u64,
    /// Of these, how many are unique on at most `largest` columns: special uniques.
    pub special: u64,
    /// Minimal sample uniques by size: those of one column first.
    pub minimal: Vec<u64>,
    /// The highest score of an individual.
    pub highest_score: f64,
    /// The mean score of the special uniques; 0 when there are none.
    pub mean_score: f64,
    /// The chance that a unique match is the right one; none without a sampling fraction.
    pub dis: Option<DisRisk>,
    /// The columns, in the order of the table.
    pub columns: Vec<ColumnUniqueness>,
}

/// How much a column adds to uniqueness.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ColumnUniqueness {
    /// The name of the column.
    pub column: String,
    /// The share of the whole score that minimal sample uniques with this column have.
    pub score_share: f64,
    /// Individuals that are unique on this column alone.
    pub alone: u64,
    /// Individuals that are unique on all other columns together; none where the table is too
    /// large.
    pub without: Option<u64>,
}

/// The risk of a unique match, by data intrusion simulation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DisRisk {
    /// The chance that a match of a sample unique with the population is right.
    pub file: f64,
    /// The highest chance of a special unique, by its score.
    pub highest: f64,
    /// Special uniques with a chance above one tenth.
    pub above_tenth: u64,
}

/// The special uniques of a table; `fraction` is the sampling fraction, if it is known.
pub(super) fn special_uniques(classes: &RiskClasses<'_>, fraction: Option<f64>) -> SpecialUniques {
    let number = classes.names.len();
    let sets = |largest: usize| (1..=largest).map(|size| combinations(number, size)).sum::<u64>();
    let steps = |largest: usize| sets(largest).saturating_mul(classes.first.len() as u64);
    let wanted = LARGEST.min(number);
    let mut largest = wanted;
    while largest > 1 && steps(largest) > STEPS {
        largest -= 1;
    }
    let with_others = steps(1) <= STEPS;
    SpecialUniques {
        is_limited: largest < wanted,
        ..search(classes, largest, with_others, fraction)
    }
}

/// The search for sets of up to `largest` columns.
pub(super) fn search(
    classes: &RiskClasses<'_>,
    largest: usize,
    with_others: bool,
    fraction: Option<f64>,
) -> SpecialUniques {
    let number = classes.names.len();
    let columns: Vec<KeyColumn> =
        (0..number).into_par_iter().map(|at| KeyColumn::new(classes, at)).collect();
    let unique = UniqueOn::new(&columns, classes);
    let mut score = vec![0.0f64; unique.candidates.len()];
    let mut columns_score = vec![0.0f64; number];
    let mut alone = vec![0u64; number];
    let mut minimal = Vec::new();
    // Each set with the candidates that are unique on it; of the size before.
    let mut before: Vec<(Vec<usize>, Vec<u64>)> = Vec::new();
    for size in 1..=largest.min(number) {
        let sets = sets_of(number, size);
        let found: Vec<Vec<u64>> = sets.par_iter().map(|set| unique.on(set)).collect();
        let weight = weight_of(size, largest, number);
        let mut msus = 0;
        for (set, bits) in sets.iter().zip(&found) {
            let parts: Vec<&Vec<u64>> = before
                .iter()
                .filter(|(part, _)| part.iter().all(|column| set.contains(column)))
                .map(|(_, bits)| bits)
                .collect();
            let mut here = 0u64;
            for (word, &bits) in bits.iter().enumerate() {
                let mut bits = parts.iter().fold(bits, |bits, part| bits & !part[word]);
                here += u64::from(bits.count_ones());
                while bits != 0 {
                    score[word * 64 + bits.trailing_zeros() as usize] += weight;
                    bits &= bits - 1;
                }
            }
            msus += here;
            set.iter().for_each(|&column| columns_score[column] += weight * real(here));
            if let [column] = set[..] {
                alone[column] = here;
            }
        }
        minimal.push(msus);
        before = sets.into_iter().zip(found).collect();
    }
    let fingerprints = if with_others { unique.fingerprints() } else { Vec::new() };
    let without = |column: usize| with_others.then(|| unique.on_all_but(column, &fingerprints));
    let without: Vec<Option<u64>> = (0..number).into_par_iter().map(without).collect();
    let all: f64 = score.iter().sum();
    let special = score.iter().filter(|&&score| score > 0.0).count() as u64;
    let pairs = classes.sizes.iter().filter(|&&size| size == 2).count() as u64;
    let uniques = unique.candidates.len() as u64;
    SpecialUniques {
        largest: largest.min(number),
        is_limited: false,
        uniques,
        special,
        minimal,
        highest_score: score.iter().copied().fold(0.0, f64::max),
        mean_score: if special == 0 { 0.0 } else { all / real(special) },
        dis: fraction.filter(|_| uniques > 0).map(|fraction| {
            let chances = dis_suda(&score, (uniques, pairs), fraction, number);
            DisRisk {
                file: dis((uniques, pairs), fraction),
                highest: chances.iter().copied().fold(0.0, f64::max),
                above_tenth: chances.iter().filter(|&&chance| chance > 0.1).count() as u64,
            }
        }),
        columns: (0..number)
            .map(|at| ColumnUniqueness {
                column: classes.names[at].clone(),
                score_share: if all > 0.0 { columns_score[at] / all } else { 0.0 },
                alone: alone[at],
                without: without[at],
            })
            .collect(),
    }
}

/// The chance that a unique match is right: n₁ sample uniques, n₂ pairs.
pub(super) fn dis((uniques, pairs): (u64, u64), fraction: f64) -> f64 {
    let right = fraction * real(uniques);
    right / (right + 2.0 * (1.0 - fraction) * real(pairs))
}

/// The chance of each individual, by its score.
pub(super) fn dis_suda(
    scores: &[f64],
    (uniques, pairs): (u64, u64),
    fraction: f64,
    columns: usize,
) -> Vec<f64> {
    let q = 1.0 + (8.0 - real(columns as u64)) / 20.0;
    let sum: f64 = scores.iter().filter(|&&score| score > 0.0).map(|score| score.powf(-q)).sum();
    let special = scores.iter().filter(|&&score| score > 0.0).count() as u64;
    let odds = real(special) * (1.0 / dis((uniques, pairs), fraction) - 1.0);
    let chance = |&score: &f64| {
        if score > 0.0 { 1.0 / (1.0 + odds / (score.powf(q) * sum)) } else { 0.0 }
    };
    scores.iter().map(chance).collect()
}

/// Π_{i=k..M} (ATT - i), M at most ATT - 1.
pub(super) fn weight_of(size: usize, largest: usize, columns: usize) -> f64 {
    let most = largest.min(columns.saturating_sub(1));
    (size..=most).map(|i| real((columns - i) as u64)).product()
}

/// All sets of so many of the columns, each ascending.
fn sets_of(columns: usize, size: usize) -> Vec<Vec<usize>> {
    let mut sets: Vec<Vec<usize>> = vec![Vec::new()];
    for _ in 0..size {
        let longer = |set: Vec<usize>| {
            let next = set.last().map_or(0, |last| last + 1);
            (next..columns).map(move |column| [&set[..], &[column]].concat())
        };
        sets = sets.into_iter().flat_map(longer).collect();
    }
    sets
}

/// The number of sets of `size` of `of` columns.
fn combinations(of: usize, size: usize) -> u64 {
    (0..size)
        .fold(1u64, |sets, at| sets.saturating_mul(of.saturating_sub(at) as u64) / (at as u64 + 1))
}
