//! The slide negative binomial model: a class of the population has one person more than a negative
//! binomial number with parameters α and β, so that no class is empty.
//!
//! With K classes in the population, the sampling fraction π and q = (1-π)(1-β), the sample is
//! expected to have
//!
//! s₁ = K π G (1 + α q/(1-q)) uniques and
//! s₂ = K π²/2 G α (1-β)/(1-q)² (2 - (1-α) q) pairs, where G = (β/(1-q))^α.
//!
//! K is estimated first, by the estimator of Shlosser as corrected by Haas and Stokes; then α and β
//! are those that give the uniques and the pairs of the sample; the population has K β^α uniques.
//!
//! For each β there are at most two α with the right uniques, found by bisection; along β the pairs
//! are then right where a sign changes. Of several solutions the one is taken whose classes add up
//! best to the population.
//!
//! # Reference
//! Chen, Keller-McNulty: Estimation of identification disclosure risk in microdata, Journal of
//! Official Statistics 14, 1998. Haas, Stokes: Estimating the number of classes in a finite
//! population, JASA 93, 1998 (the estimator Sh3). Shlosser: On estimation of the size of the
//! dictionary of a long text on the basis of a sample, 1981.

use super::{ClassSizes, bisect};

/// Places of β at which the sign of the difference is looked at, on the scale ln(β/(1-β)).
const PLACES: u32 = 600;
const ENDS: f64 = 30.0;

/// The parameters of the model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SlideNegativeBinomial {
    pub(super) alpha: f64,
    pub(super) beta: f64,
}

/// The uniques of the population; none when no parameters give the uniques and the pairs.
pub(super) fn uniques(sizes: &ClassSizes, fraction: f64) -> Option<f64> {
    let classes = population_classes(sizes, fraction)?;
    #[allow(clippy::cast_precision_loss, reason = "estimates")]
    let (ones, twos, rows) =
        (sizes.of_size(1) as f64, sizes.of_size(2) as f64, sizes.individuals as f64);
    let SlideNegativeBinomial { alpha, beta } =
        fit(classes, fraction, (ones, twos), rows / fraction)?;
    Some(classes * (alpha * beta.ln()).exp())
}

/// The number of classes in the population, by the class sizes of the sample.
#[allow(clippy::cast_precision_loss, reason = "estimates")]
pub(super) fn population_classes(sizes: &ClassSizes, fraction: f64) -> Option<f64> {
    let q = fraction;
    let (mut a, mut b, mut c, mut d) = (0.0, 0.0, 0.0, 0.0);
    for &(size, number) in &sizes.sizes {
        let (i, number) = (size as f64, number as f64);
        a += i * q * q * (1.0 - q * q).powf(i - 1.0) * number;
        b += ((1.0 - q * q).powf(i) - (1.0 - q).powf(i)) * number;
        c += (1.0 - q).powf(i) * number;
        d += i * q * (1.0 - q).powf(i - 1.0) * number;
    }
    let more = sizes.of_size(1) as f64 * (a / b) * (c / d) * (c / d);
    let all = sizes.classes as f64 + more;
    all.is_finite().then_some(all)
}

/// The uniques and the pairs of a sample.
pub(super) fn expected(
    classes: f64,
    fraction: f64,
    SlideNegativeBinomial { alpha, beta }: SlideNegativeBinomial,
) -> (f64, f64) {
    let q = (1.0 - fraction) * (1.0 - beta);
    let g = (alpha * (beta / (1.0 - q)).ln()).exp();
    let ones = classes * fraction * g * (1.0 + alpha * q / (1.0 - q));
    let twos = classes * fraction * fraction / 2.0 * g * alpha * (1.0 - beta)
        / ((1.0 - q) * (1.0 - q))
        * (2.0 - (1.0 - alpha) * q);
    (ones, twos)
}

/// The two α that give so many uniques at this β.
#[derive(Clone, Copy, Debug)]
enum Branch {
    /// While uniques become more with α.
    Rising,
    /// While they become fewer.
    Falling,
}

/// The parameters that give the uniques and pairs of a sample; of several those whose classes add
/// up best to the number of persons.
pub(super) fn fit(
    classes: f64,
    fraction: f64,
    (ones, twos): (f64, f64),
    persons: f64,
) -> Option<SlideNegativeBinomial> {
    if ones <= 0.0 || twos <= 0.0 || fraction >= 1.0 {
        return None;
    }
    let beta = |place: f64| 1.0 / (1.0 + (-place).exp());
    let place = |at: u32| ENDS * (2.0 * f64::from(at) / f64::from(PLACES) - 1.0);
    let found = |branch: Branch, place: f64| {
        let beta = beta(place);
        let alpha = alpha_for(ones / (classes * fraction), fraction, beta, branch)?;
        Some(SlideNegativeBinomial { alpha, beta })
    };
    let pairs = |branch: Branch, place: f64| {
        found(branch, place).map(|fit| expected(classes, fraction, fit).1 - twos)
    };
    let mut fits = Vec::new();
    for branch in [Branch::Rising, Branch::Falling] {
        for at in 1..=PLACES {
            let (low, high) = (place(at - 1), place(at));
            let (low, high) = match (pairs(branch, low), pairs(branch, high)) {
                (None, None) => continue,
                (Some(_), Some(_)) => (low, high),
                // The branch begins or ends in between.
                (None, Some(_)) => (last_some(high, low, |place| pairs(branch, place)), high),
                (Some(_), None) => (low, last_some(low, high, |place| pairs(branch, place))),
            };
            let difference = |place: f64| pairs(branch, place).unwrap_or(0.0);
            if (difference(low) > 0.0) != (difference(high) > 0.0) {
                fits.extend(found(branch, bisect(low, high, difference)));
            }
        }
    }
    let misfit = |fit: &SlideNegativeBinomial| {
        let mean = 1.0 + fit.alpha * (1.0 - fit.beta) / fit.beta;
        (classes * mean / persons).ln().abs()
    };
    fits.retain(|&fit| {
        let (one, two) = expected(classes, fraction, fit);
        (one / ones - 1.0).abs() < 1e-6 && (two / twos - 1.0).abs() < 1e-6
    });
    fits.into_iter().min_by(|a, b| misfit(a).total_cmp(&misfit(b)))
}

/// The place that is farthest from `some`, where the function has a value, towards `none`, where it
/// has not.
fn last_some(mut some: f64, mut none: f64, function: impl Fn(f64) -> Option<f64>) -> f64 {
    for _ in 0..100 {
        let middle = 0.5 * (some + none);
        if function(middle).is_some() {
            some = middle;
        } else {
            none = middle;
        }
    }
    some
}

/// The α at which e^(-αs) (1 + αw) is the target, where s = ln((1-q)/β) and w = q/(1-q): the
/// function rises from 1 up to 1/s - 1/w, if that is above 0, and falls to 0 after it.
fn alpha_for(target: f64, fraction: f64, beta: f64, branch: Branch) -> Option<f64> {
    let q = (1.0 - fraction) * (1.0 - beta);
    // (1-q)/β = 1 + π(1-β)/β, without loss where β is nearly 1.
    let s = (fraction * (1.0 - beta) / beta).ln_1p();
    let w = q / (1.0 - q);
    let function = |alpha: f64| (-alpha * s).exp() * (1.0 + alpha * w) - target;
    let peak = (1.0 / s - 1.0 / w).max(0.0);
    if function(peak) < 0.0 || !peak.is_finite() {
        return None;
    }
    match branch {
        Branch::Rising if target > 1.0 && peak > 0.0 => Some(bisect(0.0, peak, function)),
        Branch::Rising => None,
        Branch::Falling => {
            let mut high = peak.max(1.0);
            while function(high) > 0.0 {
                high *= 2.0;
                if !high.is_finite() {
                    return None;
                }
            }
            Some(bisect(peak, high, function))
        }
    }
}
