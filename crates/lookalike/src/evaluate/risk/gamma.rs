//! The gamma function and its logarithmic derivative, as far as the estimators need them: for
//! arguments above 0.
//!
//! # Reference
//! Abramowitz, Stegun: Handbook of Mathematical Functions, 1964, 6.1.40 and 6.3.18, after a shift
//! to arguments above 10 by 6.1.15 and 6.3.5.

/// Arguments below this are shifted.
const SHIFTED: f64 = 10.0;

/// What Stirling's formula lacks: ln Γ(x) = (x - 1/2) ln x - x + ln √(2π) + this.
fn remainder(x: f64) -> f64 {
    let y = 1.0 / (x * x);
    (1.0 / 12.0 - y * (1.0 / 360.0 - y * (1.0 / 1260.0 - y * (1.0 / 1680.0 - y / 1188.0)))) / x
}

/// ln Γ(x), for x above 0.
pub(super) fn ln_gamma(x: f64) -> f64 {
    let (mut x, mut product) = (x, 1.0);
    while x < SHIFTED {
        product *= x;
        x += 1.0;
    }
    (x - 0.5) * x.ln() - x + 0.5 * std::f64::consts::TAU.ln() + remainder(x) - product.ln()
}

/// ln Γ(x + by) - ln Γ(x) without the cancellation of two large numbers; both arguments are above
/// 0.
pub(super) fn ln_gamma_step(x: f64, by: f64) -> f64 {
    if x < SHIFTED || x + by < SHIFTED {
        return ln_gamma(x + by) - ln_gamma(x);
    }
    (x + by - 0.5) * (by / x).ln_1p() + by * x.ln() - by + remainder(x + by) - remainder(x)
}

/// The derivative of ln Γ, for x above 0.
pub(super) fn digamma(x: f64) -> f64 {
    let (mut x, mut sum) = (x, 0.0);
    while x < SHIFTED {
        sum -= 1.0 / x;
        x += 1.0;
    }
    let y = 1.0 / (x * x);
    let series = y
        * (1.0 / 12.0
            - y * (1.0 / 120.0
                - y * (1.0 / 252.0 - y * (1.0 / 240.0 - y * (1.0 / 132.0 - y * 691.0 / 32760.0)))));
    sum + x.ln() - 0.5 / x - series
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64, relative: f64) -> bool {
        (a - b).abs() <= relative * b.abs().max(1.0)
    }

    #[test]
    fn the_gamma_function_of_whole_numbers_is_the_factorial() {
        let mut factorial = 0.0;
        for n in 1..60u32 {
            assert!(near(ln_gamma(f64::from(n)), factorial, 1e-13), "{n}");
            factorial += f64::from(n).ln();
        }
        // Γ(1/2) = √π; Γ(1/4) from Abramowitz and Stegun, table 6.1 by reflection.
        assert!(near(ln_gamma(0.5), std::f64::consts::PI.ln() / 2.0, 1e-13));
        assert!(near(ln_gamma(0.25), 3.625_609_908_221_908f64.ln(), 1e-13));
    }

    #[test]
    fn a_step_is_a_difference_and_exact_where_the_difference_is_not() {
        for x in [0.1, 3.0, 12.5, 400.0] {
            for by in [-0.05, 0.4, 1.0, 7.5] {
                let is = ln_gamma_step(x, by);
                assert!(near(is, ln_gamma(x + by) - ln_gamma(x), 1e-11), "{x} {by}");
            }
        }
        // Γ(x + 1) = x Γ(x).
        assert!(near(ln_gamma_step(3e9, 1.0), 3e9f64.ln(), 1e-15));
        assert!(near(ln_gamma_step(3e9, -1.0), -(3e9f64 - 1.0).ln(), 1e-15));
    }

    #[test]
    fn the_digamma_function_sums_reciprocals() {
        // ψ(1) is minus Euler's constant.
        assert!(near(digamma(1.0), -0.577_215_664_901_532_9, 1e-14));
        let mut sum = digamma(0.3);
        for i in 0..500u32 {
            sum += 1.0 / (0.3 + f64::from(i));
            assert!(near(digamma(1.3 + f64::from(i)), sum, 1e-13), "{i}");
        }
    }
}
