//! The individual risk of a survey: the chance that a match with a person of the population is the
//! right one, where the population is known only by sampling weights.
//!
//! A combination of values has f rows in the sample and an unknown number F in the population. With
//! p = f / (sum of the weights of these rows), F given f is taken as negative binomial: F - f is
//! the number of failures before the f-th success of chance p. The risk is the mean of 1/F:
//!
//! r(f, p) = p ∫₀¹ s^(f-1) / (p + (1-p) s) ds
//!
//! which is the form of the papers, p^f ∫₀¹ t^(f-1) / (1 - (1-p) t)^f dt, after
//! s = p t / (1 - (1-p) t). So r(1, p) = p/q ln(1/p) with q = 1 - p, and r(f+1, p) = p/q (1/f - r(f, p)).
//!
//! # Reference
//! Benedetti, Franconi: Statistical and technological solutions for controlled data dissemination,
//! NTTS 1998. Franconi, Polettini: Individual risk estimation in μ-Argus: a review, PSD 2004.
//! Rinott: On models for statistical disclosure risk estimation, 2003. sdcMicro takes p / (f - q)
//! for f above 2 by default; this is the exact value (its method "exact").

/// Up to so many rows the recurrence is used, where it is stable: p below 1/2.
const FEW: u64 = 20;

/// The mean of 1/F for a combination with `rows` rows in the sample, each of which was sampled with
/// the chance `p`: 1 over the number of persons of the population that it stands for.
///
/// # Example
/// ```
/// use lookalike::evaluate::risk::individual_risk;
///
/// // A sample unique with a weight of 100: less than a sample unique of a census, more than 1/100.
/// let risk = individual_risk(1, 0.01);
/// assert!((risk - 0.01 / 0.99 * 100f64.ln()).abs() < 1e-15);
/// assert_eq!(individual_risk(4, 1.0), 0.25);
/// ```
#[allow(clippy::cast_precision_loss, reason = "the numbers of rows of a class are exact")]
pub fn individual_risk(rows: u64, p: f64) -> f64 {
    let (rows, p) = (rows.max(1), p.clamp(f64::MIN_POSITIVE, 1.0));
    let (f, q) = (rows as f64, 1.0 - p);
    if p < 0.5 && rows <= FEW {
        let mut risk = p / q * (1.0 / p).ln();
        for less in 1..rows {
            risk = p / q * (1.0 / less as f64 - risk);
        }
        return risk;
    }
    // 1 / (1 - q (1-s)) as a geometric series: p Σ q^j B(f, j+1), all terms positive. Those after a
    // term add up to less than (f + j) / (f - 1) times it, or to less than it where q is at most
    // 1/2.
    let (mut term, mut sum, mut j) = (1.0 / f, 0.0, 0.0);
    while term > sum * 1e-17 / (1.0 + j) {
        sum += term;
        j += 1.0;
        term *= q * j / (f + j);
    }
    (p * sum).min(1.0 / f)
}
