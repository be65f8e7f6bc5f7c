//! Pitman's sampling formula: a superpopulation with two parameters, fitted by maximum likelihood.
//!
//! The classes of a sample of n rows arise one row after the other: a row makes a new class with
//! the chance (θ + uα) / (θ + i), where u classes have i rows so far, and joins a class of j rows
//! with the chance (j - α) / (θ + i). The likelihood of u classes, s_j of them with j rows, is
//!
//! L = Σ_{i<u} ln(θ + iα) - Σ_{i<n} ln(θ + i) + Σ_j s_j Σ_{i<j} ln(i - α),  i from 1
//!
//! with 0 <= α < 1 and θ > -α. A row is alone among N with the chance
//! Π_{i<N} (θ + α + i - 1) / (θ + i), so the population has
//! N Γ(θ+1) Γ(θ+α+N-1) / (Γ(θ+α) Γ(θ+N)) uniques in the mean. (Hoshino has the limit for large N,
//! Γ(θ+1) / Γ(θ+α) N^α.)
//!
//! For each α the best θ is found by bisection of ∂L/∂θ, then α by bisection of ∂L/∂α along these:
//! no start has to be guessed, and nothing diverges. Where ∂L/∂α is below 0 for all α the greatest
//! likelihood is that of α = 0, the Ewens formula.
//!
//! # Reference
//! Hoshino: Applying Pitman's sampling formula to microdata disclosure risk assessment, Journal of
//! Official Statistics 17, 2001. Pitman: Exchangeable and partially exchangeable random partitions,
//! 1995.

use super::super::gamma::{digamma, ln_gamma, ln_gamma_step};
use super::{ClassSizes, bisect};

/// The least α that is not 0, and as much below 1 the greatest.
const LEAST: f64 = 1e-6;
/// Places of α at which the sign of the derivative is looked at.
const PLACES: u32 = 400;

/// The parameters of the formula.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pitman {
    pub(super) theta: f64,
    pub(super) alpha: f64,
}

/// The uniques of a population of so many persons; none when no parameters fit the sample best.
pub(super) fn uniques(sizes: &ClassSizes, persons: f64) -> Option<f64> {
    fit(sizes).map(|Pitman { theta, alpha }| {
        // Γ(θ+1)/Γ(θ+α) and Γ(θ+α+N-1)/Γ(θ+N).
        let first = ln_gamma_step(theta + alpha, 1.0 - alpha);
        let last = ln_gamma_step(theta + persons, alpha - 1.0);
        persons * (first + last).exp()
    })
}

/// The parameters of the greatest likelihood. None when the sample has one class or only uniques:
/// then the likelihood has no maximum.
#[allow(clippy::cast_precision_loss, reason = "estimates")]
pub(super) fn fit(sizes: &ClassSizes) -> Option<Pitman> {
    let (classes, rows) = (sizes.classes as f64, sizes.individuals as f64);
    if sizes.classes < 2 || sizes.classes == sizes.individuals {
        return None;
    }
    let theta = |alpha: f64| best_theta(alpha, classes, rows);
    let slope = |alpha: f64| by_alpha(sizes, theta(alpha), alpha);
    let place = |at: u32| LEAST + (1.0 - 2.0 * LEAST) * f64::from(at) / f64::from(PLACES);
    let likely = |fit: &Pitman| likelihood(sizes, *fit);
    let mut fits = Vec::new();
    let mut before = slope(place(0));
    if before <= 0.0 {
        fits.push(Pitman { theta: theta(LEAST), alpha: LEAST });
    }
    for at in 1..=PLACES {
        let after = slope(place(at));
        if before > 0.0 && after <= 0.0 {
            let alpha = bisect(place(at - 1), place(at), slope);
            fits.push(Pitman { theta: theta(alpha), alpha });
        }
        before = after;
    }
    fits.into_iter().max_by(|a, b| likely(a).total_cmp(&likely(b)))
}

/// The θ of the greatest likelihood for this α. The derivative falls from plus infinity at -α to
/// below 0, since there are fewer classes than rows.
fn best_theta(alpha: f64, classes: f64, rows: f64) -> f64 {
    let slope = |log: f64| by_theta(log.exp() - alpha, alpha, classes, rows);
    let (low, mut high) = ((alpha * 1e-12).ln(), 1.0);
    while slope(high) > 0.0 && high < 80.0 {
        high += 2.0;
    }
    bisect(low, high, slope).exp() - alpha
}

/// Σ_{i<u} 1/(θ + iα).
fn reciprocals(theta: f64, alpha: f64, classes: f64) -> f64 {
    (digamma(theta / alpha + classes) - digamma(theta / alpha + 1.0)) / alpha
}

/// ∂L/∂θ.
fn by_theta(theta: f64, alpha: f64, classes: f64, rows: f64) -> f64 {
    reciprocals(theta, alpha, classes) - (digamma(theta + rows) - digamma(theta + 1.0))
}

/// ∂L/∂α.
#[allow(clippy::cast_precision_loss, reason = "estimates")]
fn by_alpha(sizes: &ClassSizes, theta: f64, alpha: f64) -> f64 {
    let classes = sizes.classes as f64;
    let new = (classes - 1.0 - theta * reciprocals(theta, alpha, classes)) / alpha;
    let one = digamma(1.0 - alpha);
    let joined =
        |&(size, number): &(u64, u64)| number as f64 * (digamma(size as f64 - alpha) - one);
    new - sizes.sizes.iter().map(joined).sum::<f64>()
}

/// L.
#[allow(clippy::cast_precision_loss, reason = "estimates")]
pub(super) fn likelihood(sizes: &ClassSizes, Pitman { theta, alpha }: Pitman) -> f64 {
    let (classes, rows) = (sizes.classes as f64, sizes.individuals as f64);
    let new = (classes - 1.0) * alpha.ln() + ln_gamma_step(theta / alpha + 1.0, classes - 1.0);
    let one = ln_gamma(1.0 - alpha);
    let joined =
        |&(size, number): &(u64, u64)| number as f64 * (ln_gamma(size as f64 - alpha) - one);
    new - ln_gamma_step(theta + 1.0, rows - 1.0) + sizes.sizes.iter().map(joined).sum::<f64>()
}
