//! Estimators beside brute force: expectations by enumeration, the greatest likelihood on a grid,
//! and samples of made-up populations whose uniques are known.

use super::pitman;
use super::snb::{self, SlideNegativeBinomial};
use super::*;
use crate::rng::Rng;

fn sizes(sizes: &[(u64, u64)]) -> ClassSizes {
    sizes.iter().flat_map(|&(size, classes)| (0..classes).map(move |_| size)).collect()
}

fn near(is: f64, should: f64, relative: f64) {
    assert!((is / should - 1.0).abs() <= relative, "{is} is not {should}");
}

#[test]
fn sizes_are_counted() {
    let sizes: ClassSizes = [3, 1, 1, 0, 3, 3, 7].into_iter().collect();
    assert_eq!((sizes.individuals(), sizes.classes()), (18, 6));
    assert_eq!([1, 2, 3, 7].map(|size| sizes.of_size(size)), [2, 0, 3, 1]);
}

#[test]
fn zayatz_by_the_definition() {
    // Binomial coefficients in full: population 40, sample 10.
    let binomial =
        |n: u64, k: u64| (0..k).fold(1.0, |all, i| all * (n - i) as f64 / (i + 1) as f64);
    let hyper = |j: u64| j as f64 * binomial(40 - j, 9) / binomial(40, 10);
    let sizes = sizes(&[(1, 3), (2, 2), (3, 1)]);
    assert_eq!(sizes.individuals(), 10);
    let chance = 3.0 * hyper(1) / (3.0 * hyper(1) + 2.0 * hyper(2) + hyper(3));
    near(zayatz(&sizes, 40.0).unwrap(), 3.0 * chance * 4.0, 1e-12);
    // A class that is larger than what is left of the population is hit more than once.
    let all = ClassSizes::from_iter([1, 9]);
    near(zayatz(&all, 12.0).unwrap(), 1.2, 1e-12);
}

/// The likelihood of Pitman's formula, factor by factor.
fn slow_likelihood(sizes: &ClassSizes, theta: f64, alpha: f64) -> f64 {
    let new: f64 = (1..sizes.classes()).map(|i| (theta + i as f64 * alpha).ln()).sum();
    let all: f64 = (1..sizes.individuals()).map(|i| (theta + i as f64).ln()).sum();
    let joined: f64 = sizes
        .sizes
        .iter()
        .map(|&(size, number)| {
            number as f64 * (1..size).map(|i| (i as f64 - alpha).ln()).sum::<f64>()
        })
        .sum();
    new - all + joined
}

#[test]
fn pitman_has_the_greatest_likelihood() {
    for table in [
        sizes(&[(1, 60), (2, 15), (5, 10)]),
        sizes(&[(1, 500), (2, 80), (3, 30), (10, 4), (200, 1)]),
        sizes(&[(1, 3), (2, 9), (4, 20)]),
        sizes(&[(1, 900), (2, 20)]),
        sizes(&[(1, 1), (50, 3)]),
    ] {
        let found = pitman::fit(&table).unwrap();
        let best = pitman::likelihood(&table, found);
        let slow = slow_likelihood(&table, found.theta, found.alpha);
        assert!((best - slow).abs() < 1e-6 * slow.abs(), "{best} {slow}");
        for alpha in (0..100).map(|at| 1e-6 + f64::from(at) * 0.00999) {
            for log in -60..=60 {
                let theta = (f64::from(log) / 4.0).exp() - alpha;
                let other = slow_likelihood(&table, theta, alpha);
                assert!(other <= best + 1e-6, "{found:?} {theta} {alpha}: {other} > {best}");
            }
        }
    }
    // Only uniques, or one class: there is no maximum.
    assert_eq!(pitman::fit(&sizes(&[(1, 50)])), None);
    assert_eq!(pitman::fit(&sizes(&[(50, 1)])), None);
}

/// Classes by Pitman's process, one row after the other.
fn pitman_process(rng: &mut Rng, rows: usize, theta: f64, alpha: f64) -> Vec<usize> {
    let mut of = Vec::with_capacity(rows);
    let mut classes: Vec<f64> = Vec::new();
    for i in 0..rows {
        let mut at = rng.unit() * (theta + i as f64);
        at -= theta + classes.len() as f64 * alpha;
        let class = if i == 0 || at < 0.0 {
            classes.push(0.0);
            classes.len() - 1
        } else {
            // A random earlier row has class c with the chance n_c / i; accepted with 1 - α/n_c.
            loop {
                let class = of[rng.place(i)];
                if rng.unit() * classes[class] >= alpha {
                    break class;
                }
            }
        };
        classes[class] += 1.0;
        of.push(class);
    }
    of
}

#[test]
fn the_mean_of_uniques_is_that_of_the_process() {
    // All ways to place three rows: 1 + 1 + 1 has three uniques, 2 + 1 has one.
    let (theta, alpha): (f64, f64) = (0.7, 0.3);
    let apart = (theta + alpha) / (theta + 1.0);
    let three = apart * (theta + 2.0 * alpha) / (theta + 2.0);
    let mixed = (1.0 - apart) * (theta + alpha) / (theta + 2.0)
        + apart * 2.0 * (1.0 - alpha) / (theta + 2.0);
    let is = 3.0 * three + mixed;
    // The formula of the module for N = 3.
    let formula = |theta: f64, alpha: f64, persons: f64| {
        use super::super::gamma::ln_gamma;
        persons
            * (ln_gamma(theta + 1.0) + ln_gamma(theta + alpha + persons - 1.0)
                - ln_gamma(theta + alpha)
                - ln_gamma(theta + persons))
            .exp()
    };
    near(formula(theta, alpha, 3.0), is, 1e-12);
    // Hoshino's limit for a large population.
    let limit = (super::super::gamma::ln_gamma(1.7) - super::super::gamma::ln_gamma(1.0)).exp()
        * 1e6f64.powf(0.3);
    near(formula(0.7, 0.3, 1e6), limit, 1e-5);
}

/// The class sizes of a random sample of so many rows, and the uniques of the whole.
fn sample(rng: &mut Rng, mut of: Vec<usize>, rows: usize) -> (ClassSizes, f64) {
    let classes = of.iter().max().unwrap() + 1;
    let count = |of: &[usize]| {
        let mut number = vec![0u64; classes];
        of.iter().for_each(|&class| number[class] += 1);
        number
    };
    let uniques = count(&of).iter().filter(|&&size| size == 1).count();
    rng.shuffle(&mut of);
    (count(&of[..rows]).into_iter().collect(), uniques as f64)
}

#[test]
fn pitman_finds_the_uniques_of_its_own_population() {
    for (seed, theta, alpha) in [(1, 500.0, 0.5), (2, 50.0, 0.7), (3, 2_000.0, 0.2)] {
        let mut rng = Rng::new(seed);
        let of = pitman_process(&mut rng, 100_000, theta, alpha);
        let (sizes, uniques) = sample(&mut rng, of, 5_000);
        let found = population_uniques(&sizes, 0.05);
        assert_eq!(found.model, Some(UniquesModel::Pitman));
        near(found.chosen.unwrap(), uniques, 0.15);
        assert_eq!(found.chosen, found.pitman);
    }
}

#[test]
fn parameters_are_found_again_from_their_expectations() {
    for fraction in [0.05, 0.2, 0.5, 0.9] {
        for alpha in [0.05, 0.5, 1.0, 4.0, 30.0] {
            for beta in [0.01, 0.2, 0.5, 0.9] {
                let made = SlideNegativeBinomial { alpha, beta };
                let classes = 10_000.0;
                let (ones, twos) = snb::expected(classes, fraction, made);
                let persons = classes * (1.0 + alpha * (1.0 - beta) / beta);
                if ones < 1e-6 || twos < 1e-6 {
                    continue;
                }
                let found = snb::fit(classes, fraction, (ones, twos), persons).unwrap();
                let (is, was) = (found.alpha * found.beta.ln(), alpha * beta.ln());
                assert!((is - was).abs() < 1e-5 * was.abs().max(1.0), "{made:?} {found:?}");
            }
        }
    }
}

#[test]
fn expectations_of_the_slide_negative_binomial_are_sums() {
    let (fraction, alpha, beta): (f64, f64, f64) = (0.3, 1.7, 0.4);
    let (mut ones, mut twos, mut chance, mut j) = (0.0, 0.0, beta.powf(alpha), 0.0);
    while j < 400.0 {
        let size = 1.0 + j;
        ones += chance * size * fraction * (1.0 - fraction).powf(size - 1.0);
        twos += chance * size * (size - 1.0) / 2.0
            * fraction.powi(2)
            * (1.0 - fraction).powf(size - 2.0);
        chance *= (alpha + j) / (j + 1.0) * (1.0 - beta);
        j += 1.0;
    }
    let (is_one, is_two) = snb::expected(1.0, fraction, SlideNegativeBinomial { alpha, beta });
    near(is_one, ones, 1e-12);
    near(is_two, twos, 1e-12);
}

#[test]
fn the_slide_negative_binomial_finds_the_uniques_of_its_own_population() {
    // α = 1 and 2: sums of geometric numbers. In smaller samples the number of classes is
    // overestimated, and with it the uniques.
    for (seed, alpha, beta, fraction) in [(4, 1, 0.1, 0.5), (5, 2, 0.6, 0.5), (6, 1, 0.2, 0.7)] {
        let mut rng = Rng::new(seed);
        let mut of = Vec::new();
        for class in 0..30_000 {
            let mut size = 1;
            for _ in 0..alpha {
                while rng.unit() > beta {
                    size += 1;
                }
            }
            of.extend((0..size).map(|_| class));
        }
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a number of rows"
        )]
        let rows = (of.len() as f64 * fraction) as usize;
        let (sizes, uniques) = sample(&mut rng, of, rows);
        let found = population_uniques(&sizes, fraction);
        near(found.snb.unwrap(), uniques, 0.1);
        let classes = snb::population_classes(&sizes, fraction).unwrap();
        near(classes, 30_000.0, 0.1);
    }
}

#[test]
fn zayatz_is_right_where_the_sample_is_nearly_all() {
    let mut rng = Rng::new(8);
    let of = pitman_process(&mut rng, 40_000, 300.0, 0.5);
    let (sizes, uniques) = sample(&mut rng, of, 38_000);
    near(population_uniques(&sizes, 0.95).zayatz.unwrap(), uniques, 0.05);
}

#[test]
fn the_rule_of_dankar_et_al() {
    use UniquesModel::{Pitman as P, Snb as S, Zayatz as Z};
    for (zayatz, pitman, snb, fraction, chosen) in [
        (Some(5.0), Some(9.0), Some(1.0), 0.1, Some(P)),
        (Some(5.0), None, Some(1.0), 0.1, Some(Z)),
        (None, None, Some(1.0), 0.05, None),
        (Some(5.0), Some(9.0), Some(6.0), 0.11, Some(Z)),
        (Some(5.0), Some(9.0), Some(4.0), 0.5, Some(S)),
        (Some(5.0), Some(9.0), None, 0.5, Some(Z)),
        (None, Some(9.0), Some(4.0), 0.5, Some(S)),
        (None, Some(9.0), None, 0.5, None),
    ] {
        assert_eq!(choose(zayatz, pitman, snb, fraction), chosen);
    }
}

#[test]
fn every_table_has_an_estimate_within_the_population_or_none() {
    let mut rng = Rng::new(9);
    for _ in 0..300 {
        let classes = 1 + rng.below(60);
        let most = 1 + rng.below(9);
        let table: ClassSizes = (0..classes).map(|_| 1 + rng.below(most)).collect();
        for fraction in [1e-6, 0.01, 0.1, 0.3, 0.99, 1.0] {
            let found = population_uniques(&table, fraction);
            let persons = (table.individuals() as f64 / fraction).round();
            for estimate in
                [found.zayatz, found.pitman, found.snb, found.chosen].into_iter().flatten()
            {
                assert!((0.0..=persons).contains(&estimate), "{table:?} {fraction} {found:?}");
            }
            assert_eq!(found.model.is_some(), found.chosen.is_some());
            if fraction >= 1.0 || table.of_size(1) == 0 {
                assert_eq!(found.chosen, Some(table.of_size(1) as f64));
            }
        }
    }
}
