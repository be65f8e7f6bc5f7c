//! k-map of generalized tables beside a test of every pair of class and person.

use super::{measured, near, request};
use crate::rng::Rng;

#[test]
fn a_release_is_matched_by_what_its_cells_cover() {
    let toml = "k = 2\n[columns]\nage = { role = 'quasi' }\nzip = { role = 'quasi', hierarchy = { \
                prefix = [2] } }\nsex = { role = 'quasi' }";
    let release = "age,zip,sex\n[20-30],53***,*\n[20-30],53***,*\n40,53701,m\n40,53701,m\n\
                   [41-60],9****,f\n[41-60],9****,f\n";
    let release = release.replace("9****", "99***");
    let population = "age,zip,sex\n20,53001,f\n25,53999,m\n30,53001,\n31,53001,f\n40,53701,m\n\
                      40.0,53701,m\n40,53701,m\n50,12345,f\n";
    let found = measured(&release, toml, Some(population)).unwrap().population.unwrap();
    // The first class covers three persons, the second three, the third none: it counts with its
    // two.
    assert_eq!((found.persons, found.absent, found.k_map), (8, 2, 2));
    near(found.expected, 2.0 / 3.0 + 2.0 / 3.0 + 1.0, 1e-12);
}

#[test]
fn bounds_cover_what_lies_between() {
    let toml = request("rest = 'drop'", &["age"]);
    let release = "age_min,age_max\n20,30\n20,30\n31,40\n";
    let found = measured(release, &toml, Some("age\n20\n25\n30\n31\n")).unwrap();
    let found = found.population.unwrap();
    near(found.expected, 2.0 / 3.0 + 1.0, 1e-12);
}

#[test]
fn every_class_has_the_persons_that_a_test_of_each_finds() {
    let mut rng = Rng::new(3);
    for round in 0..120 {
        // Ranges of a number, groups and sets of a label; overlapping, as a local recoding makes.
        let label = |rng: &mut Rng| ["u", "v", "w", "x"][rng.place(4)];
        let mut population = "n,c\n".to_string();
        let persons: Vec<(u64, &str)> =
            (0..rng.below(300)).map(|_| (rng.below(20), label(&mut rng))).collect();
        persons.iter().for_each(|(n, c)| population += &format!("{n},{c}\n"));
        if persons.is_empty() {
            continue;
        }
        let mut release = "n,c\n".to_string();
        let mut classes: Vec<(u64, u64, Vec<&str>)> = Vec::new();
        for _ in 0..1 + rng.below(40) {
            let (a, b) = (rng.below(20), rng.below(20));
            let (lo, hi) = if round % 4 == 0 { (a, a) } else { (a.min(b), a.max(b)) };
            let one = label(&mut rng);
            let (cell, covered) = match if round % 4 == 0 { 0 } else { rng.below(3) } {
                0 => (one.to_string(), vec![one]),
                1 => ("*".to_string(), vec!["u", "v", "w", "x"]),
                _ => ("\"{u, x}\"".to_string(), vec!["u", "x"]),
            };
            let number = if lo == hi { lo.to_string() } else { format!("[{lo}-{hi}]") };
            release += &format!("{number},{cell}\n");
            classes.push((lo, hi, covered));
        }
        let toml = "[columns]\nn = { role = 'quasi', kind = 'numeric' }\nc = { role = 'quasi' }";
        let found = measured(&release, toml, Some(&population)).unwrap();
        let found = found.population.unwrap();
        let mut counted: std::collections::BTreeMap<_, u64> = Default::default();
        classes.iter().for_each(|class| *counted.entry(class).or_default() += 1);
        let mut expected = 0.0;
        let mut absent = 0;
        for ((lo, hi, covered), &rows) in &counted {
            let is = |(n, c): &&(u64, &str)| (*lo..=*hi).contains(n) && covered.contains(c);
            let number = persons.iter().filter(is).count() as u64;
            absent += if number == 0 { rows } else { 0 };
            #[allow(clippy::cast_precision_loss, reason = "small")]
            let share = rows as f64 / number.max(rows) as f64;
            expected += share;
        }
        assert_eq!(found.absent, absent, "{round}\n{release}\n{population}");
        near(found.expected, expected, 1e-9);
    }
}
