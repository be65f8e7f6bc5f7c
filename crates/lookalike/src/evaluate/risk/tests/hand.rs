//! Small tables, counted by hand; and sums by brute force.

use super::super::{Individuals, SampledBy, individual_risk};
use super::{measured, near, request};

#[test]
fn the_three_attackers_by_hand() {
    // Classes of 1, 2 and 4 rows; in the population 2, 8 and 4 persons.
    let text = "a\nx\ny\ny\nz\nz\nz\nz\n";
    let population: String = "a\n".to_string() + "x\nx\n" + &"y\n".repeat(8) + &"z\n".repeat(4);
    let found = measured(text, &request("k = 3", &["a"]), Some(&population)).unwrap();
    assert_eq!((found.individuals, found.classes, found.counted), (7, 3, Individuals::Rows));
    near(found.threshold, 1.0 / 3.0, 1e-15);
    near(found.prosecutor.highest, 1.0, 1e-15);
    near(found.prosecutor.average, 3.0 / 7.0, 1e-15);
    near(found.prosecutor.above, 3.0 / 7.0, 1e-15);
    near(found.marketer, 3.0 / 7.0, 1e-15);
    let matched = found.population.unwrap();
    assert_eq!((matched.persons, matched.k_map), (14, 2));
    assert_eq!((matched.below, matched.uniques, matched.absent, matched.too_few), (1, 0, 0, 0));
    near(matched.journalist.highest, 0.5, 1e-15);
    // f/F: 1/2, 2/8, 4/4.
    near(matched.expected, 1.75, 1e-15);
    near(matched.marketer, 0.25, 1e-15);
    // The greater one of 0.25 and 3 classes over 14 persons.
    near(matched.journalist.average, 0.25, 1e-15);
    near(matched.journalist.above, 1.0 / 7.0, 1e-15);
    assert!(found.sample.is_none() && !found.population_skipped);
}

#[test]
fn the_journalist_average_is_the_greater_of_two() {
    // Classes of 1 and 9 rows with 1 and 900 persons: 1.01 / 10 rows, and 2 / 901.
    let text = "a\nx\n".to_string() + &"y\n".repeat(9);
    let population = "a\nx\n".to_string() + &"y\n".repeat(900);
    let found = measured(&text, &request("", &["a"]), Some(&population)).unwrap();
    let matched = found.population.unwrap();
    near(matched.journalist.average, 1.01 / 10.0, 1e-15);
    assert_eq!(matched.uniques, 1);
    // Ten classes of 1 and 2 persons each, one class of 90 rows and 1000: 5.09 / 100, and 11 /
    // 1020.
    let one: String = (0..10).map(|n| format!("{n}\n")).collect();
    let text = "a\n".to_string() + &one + &"y\n".repeat(90);
    let population = "a\n".to_string() + &one + &one + &"y\n".repeat(1000);
    let found = measured(&text, &request("", &["a"]), Some(&population)).unwrap();
    near(found.population.unwrap().journalist.average, 5.09 / 100.0, 1e-12);
    // Classes of 1 and 99 rows with 2 and 99 persons: 1.5 / 100 rows, and 2 / 101, which is
    // greater.
    let text = "a\nx\n".to_string() + &"y\n".repeat(99);
    let population = "a\n".to_string() + &"x\n".repeat(2) + &"y\n".repeat(99);
    let found = measured(&text, &request("", &["a"]), Some(&population)).unwrap();
    let matched = found.population.unwrap();
    near(matched.marketer, 1.5 / 100.0, 1e-15);
    near(matched.journalist.average, 2.0 / 101.0, 1e-15);
}

#[test]
fn whoever_is_not_in_the_population_is_counted() {
    let found = measured("a\nx\ny\ny\nw\n", &request("", &["a"]), Some("a\ny\nx\n")).unwrap();
    let matched = found.population.unwrap();
    // w is absent; of y the population has one and the table two.
    assert_eq!((matched.absent, matched.too_few, matched.k_map), (1, 3, 1));
    near(matched.expected, 3.0, 1e-15);
}

#[test]
fn individual_risk_is_the_mean_of_one_over_the_population_frequency() {
    for rows in [1u64, 2, 3, 4, 7, 19, 20, 21, 40, 300] {
        for p in [0.02, 0.1, 0.3, 0.49, 0.5, 0.51, 0.9, 0.999] {
            // F = rows + j with the chance C(rows + j - 1, j) p^rows q^j.
            #[allow(clippy::cast_precision_loss, reason = "small")]
            let f = rows as f64;
            let (mut j, mut sum, mut all) = (0.0, 0.0, 0.0);
            let mut chance = f * f64::ln(p);
            while all < 1.0 - 1e-15 && j < 200_000.0 {
                let weight = f64::exp(chance);
                sum += weight / (f + j);
                all += weight;
                chance += f64::ln((1.0 - p) * (f + j) / (j + 1.0));
                j += 1.0;
            }
            let is = individual_risk(rows, p);
            near(is / sum, 1.0, 1e-11);
        }
    }
    for rows in [1, 2, 25] {
        near(individual_risk(rows, 1.0) * f64::from(u32::try_from(rows).unwrap()), 1.0, 1e-15);
        // Nearly nobody was sampled: the risk goes to 0.
        assert!(individual_risk(rows, 1e-9) < 1e-7);
    }
    // Falls with the rows, rises with the share.
    for rows in 1..200 {
        for p in [0.001, 0.2, 0.45, 0.55, 0.95] {
            assert!(individual_risk(rows + 1, p) < individual_risk(rows, p), "{rows} {p}");
            assert!(individual_risk(rows, p) < individual_risk(rows, p + 0.01), "{rows} {p}");
        }
    }
}

#[test]
fn a_sampling_fraction_is_a_weight_that_is_the_same_for_all() {
    let text = "a,w\nx,20\ny,20\ny,20\nz,20\nz,20\nz,20\n";
    let by_weights = request("", &["a"]) + "w = { role = 'weight' }";
    let by_weights = measured(text, &by_weights, None).unwrap().sample.unwrap();
    let by_fraction = request("rest = 'drop'\nrisk.sampling_fraction = '5%'", &["a"]);
    let by_fraction = measured(text, &by_fraction, None).unwrap().sample.unwrap();
    assert_eq!((by_weights.from, by_fraction.from), (SampledBy::Weights, SampledBy::Fraction));
    near(by_weights.expected, by_fraction.expected, 1e-12);
    near(by_weights.persons, by_fraction.persons, 1e-9);
    assert_eq!(by_weights.uniques.model, by_fraction.uniques.model);
    let sum =
        individual_risk(1, 0.05) + 2.0 * individual_risk(2, 0.05) + 3.0 * individual_risk(3, 0.05);
    near(by_fraction.expected, sum, 1e-12);
}

#[test]
fn a_census_has_the_risk_of_the_prosecutor() {
    let toml = request("risk.sampling_fraction = 1", &["a"]);
    let found = measured("a\nx\ny\ny\nz\nz\nz\n", &toml, None).unwrap();
    let sample = found.sample.unwrap();
    assert_eq!(sample.journalist, found.prosecutor);
    assert_eq!(sample.uniques.chosen, Some(1.0));
}

#[test]
fn persons_are_counted_and_not_rows() {
    // Ann has five rows in one class, Bob and Cem one each in another, Dan is in both.
    let text = "who,a,w\nann,x,10\nann,x,30\nann,x,20\nann,x,20\nann,x,20\nbob,y,5\ncem,y,5\n\
                dan,y,4\ndan,x,6\n";
    let toml = request("", &["a"]) + "who = { role = 'person' }\nw = { role = 'weight' }";
    let found = measured(text, &toml, None).unwrap();
    assert_eq!((found.counted, found.individuals, found.classes), (Individuals::Persons, 5, 2));
    near(found.prosecutor.highest, 0.5, 1e-15);
    let sample = found.sample.unwrap();
    // x: Ann with the mean weight 20 and Dan with 6; y: three persons with 14.
    near(sample.persons, 40.0, 1e-12);
    let sum = 2.0 * individual_risk(2, 2.0 / 26.0) + 3.0 * individual_risk(3, 3.0 / 14.0);
    near(sample.expected, sum, 1e-12);
    // As rows nobody is alone either, but alone as a person is Ann without Dan.
    let text = text.replace("dan,x,6\n", "");
    let found = measured(&text, &toml, None).unwrap();
    assert_eq!((found.individuals, found.prosecutor.highest), (4, 1.0));
    assert_eq!(found.special_uniques.unwrap().uniques, 1);
}

#[test]
fn counts_stand_for_rows() {
    let text = "a,n\nx,1\ny,3\ny,2\nz,4\n";
    let rows = "a\nx\ny\ny\ny\ny\ny\nz\nz\nz\nz\n";
    let population = "a,n\nx,5\ny,10\nz,4\n";
    let all: String = "a\n".to_string() + &"x\n".repeat(5) + &"y\n".repeat(10) + &"z\n".repeat(4);
    let toml = request("count = 'n'\nrisk.sampling_fraction = 0.5", &["a"]);
    let counted = measured(text, &toml, Some(population)).unwrap();
    let toml = request("risk.sampling_fraction = 0.5", &["a"]);
    assert_eq!(counted, measured(rows, &toml, Some(&all)).unwrap());
    // The population need not have counts.
    let toml = request("count = 'n'\nrisk.sampling_fraction = 0.5", &["a"]);
    assert_eq!(counted, measured(text, &toml, Some(&all)).unwrap());
}

#[test]
fn what_cannot_be_measured_is_refused() {
    let weights = request("", &["a"]) + "w = { role = 'weight' }";
    for cell in ["", "0", "-1", "many", "inf", "NaN"] {
        let text = format!("a,w\nx,1\nx,{cell}\n");
        let error = measured(&text, &weights, None).unwrap_err();
        assert_eq!(error.code(), "not-a-weight", "{cell}");
        assert_eq!((error.place().row, error.place().column.as_deref()), (Some(2), Some("w")));
        assert!(cell.is_empty() || !error.to_string().contains("many"), "{error}");
    }
    let both = weights.replacen('\n', "risk.sampling_fraction = 0.1\n", 1);
    let error = measured("a,w\nx,1\n", &both, None).unwrap_err();
    assert_eq!(error.code(), "fraction-and-weights");
    for share in ["0", "1.5", "'200%'"] {
        let toml = request(&format!("risk.sampling_fraction = {share}"), &["a"]);
        assert_eq!(measured("a\nx\n", &toml, None).unwrap_err().code(), "bad-sampling-fraction");
    }
    let persons = request("", &["a"]) + "p = { role = 'person' }\nq = { role = 'person' }";
    let text = "a,p,q\nx,1,\nx,,2\nx,,\nx,,\n";
    let some = measured(text, &persons, None).unwrap();
    let same = measured(&text.replace(",,\n", ",9,9\n"), &persons, None).unwrap();
    assert_eq!(some, same, "rows without a person are one person");
    let error = super::super::population_treatments(
        &["b".to_string()],
        &["a".to_string()],
        &crate::request::Request::default(),
    );
    assert_eq!(error.unwrap_err().code(), "population-lacks-column");
}
