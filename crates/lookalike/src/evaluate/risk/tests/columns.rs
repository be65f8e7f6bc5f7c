//! Special uniques beside a search that tries every set of columns for every row.

use std::collections::BTreeSet;

use super::super::classes::RiskClasses;
use super::super::special::search;
use super::{measured, near, request};
use crate::request::Request;
use crate::rng::Rng;
use crate::testing;

/// The cells of a table, row by row.
fn cells(text: &str, columns: &[&str]) -> Vec<Vec<String>> {
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let places: Vec<usize> =
        columns.iter().map(|name| names.iter().position(|other| other == name).unwrap()).collect();
    lines
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            places.iter().map(|&place| cells[place].to_string()).collect()
        })
        .collect()
}

/// For each row its minimal sample uniques, as sets of columns; `persons` has the person of each
/// row.
fn slow_minimal(rows: &[Vec<String>], persons: &[usize], largest: usize) -> Vec<Vec<u32>> {
    let columns = rows[0].len();
    let is_unique = |row: usize, set: u32| {
        let same = |other: usize| {
            (0..columns).all(|at| set >> at & 1 == 0 || rows[row][at] == rows[other][at])
        };
        let owners: BTreeSet<usize> =
            (0..rows.len()).filter(|&other| same(other)).map(|other| persons[other]).collect();
        owners.len() == 1
    };
    (0..rows.len())
        .map(|row| {
            let sets = (1u32..1 << columns)
                .filter(|set| set.count_ones() as usize <= largest && is_unique(row, *set));
            let unique: Vec<u32> = sets.collect();
            let is_minimal =
                |set: &u32| !unique.iter().any(|part| part != set && part & set == *part);
            unique.iter().copied().filter(is_minimal).collect()
        })
        .collect()
}

fn weight(size: u32, largest: usize, columns: usize) -> f64 {
    let mut product = 1.0;
    for i in size as usize..=largest.min(columns - 1) {
        #[allow(clippy::cast_precision_loss, reason = "small")]
        let factor = (columns - i) as f64;
        product *= factor;
    }
    product
}

/// The score of each row.
pub(super) fn slow_scores(text: &str, columns: &[&str], largest: usize) -> Vec<f64> {
    let rows = cells(text, columns);
    let persons: Vec<usize> = (0..rows.len()).collect();
    let score = |sets: Vec<u32>| {
        sets.iter().map(|set| weight(set.count_ones(), largest, columns.len())).sum()
    };
    slow_minimal(&rows, &persons, largest).into_iter().map(score).collect()
}

#[test]
fn minimal_sample_uniques_are_those_of_a_search_over_all_sets() {
    let names = ["a", "b", "c", "d", "e"];
    let mut rng = Rng::new(11);
    let mut special = 0;
    for round in 0..300 {
        let columns = &names[..1 + rng.place(5)];
        let (values, largest) = (1 + rng.below(5), 1 + rng.place(5));
        let with_persons = round % 3 == 0;
        let persons: Vec<usize> = (0..)
            .take(1 + rng.place(30))
            .map(|row| if with_persons { rng.place(12) } else { row })
            .collect();
        let mut text = "who,".to_string() + &columns.join(",") + "\n";
        for person in &persons {
            // Now and then a value that nobody else has: many values, few rows.
            let mut value = || match rng.below(8) {
                0 => 100 + rng.below(1000),
                _ => rng.below(values),
            };
            let cells: Vec<String> = columns.iter().map(|_| value().to_string()).collect();
            text += &format!("{person},{}\n", cells.join(","));
        }
        let role = if with_persons { "person" } else { "identifier" };
        let toml = format!("{}who = {{ role = '{role}' }}", request("", columns));
        let (table, request) = (testing::table(&text), Request::parse(&toml).unwrap());
        let classes = RiskClasses::new(&table, &request).unwrap();
        let found = search(&classes, largest, true, Some(0.1));

        let all = cells(&text, columns);
        let minimal = slow_minimal(&all, &persons, largest);
        // A class of one person may have several rows: it counts once.
        let mut seen = BTreeSet::new();
        let mut by_size = vec![0u64; largest.min(columns.len())];
        let mut scores = Vec::new();
        let mut shares = vec![0.0; columns.len()];
        for (row, sets) in minimal.iter().enumerate() {
            if !seen.insert(&all[row]) {
                continue;
            }
            let mut score = 0.0;
            for set in sets {
                by_size[set.count_ones() as usize - 1] += 1;
                let weight = weight(set.count_ones(), largest, columns.len());
                score += weight;
                for (at, share) in shares.iter_mut().enumerate() {
                    *share += if set >> at & 1 == 1 { weight } else { 0.0 };
                }
            }
            scores.extend((score > 0.0).then_some(score));
        }
        assert_eq!(found.minimal, by_size, "{round}: {text}");
        assert_eq!(found.special, scores.len() as u64, "{round}");
        special += found.special;
        let sum: f64 = scores.iter().sum();
        near(found.mean_score * scores.len().max(1) as f64, sum, 1e-9);
        near(found.highest_score, scores.iter().copied().fold(0.0, f64::max), 1e-12);
        let full = (1u32 << columns.len()) - 1;
        let alone_on = |set: u32| {
            let mut groups: std::collections::BTreeMap<Vec<&String>, BTreeSet<usize>> =
                Default::default();
            for (row, cells) in all.iter().enumerate() {
                let key = (0..columns.len()).filter(|at| set >> at & 1 == 1).map(|at| &cells[at]);
                groups.entry(key.collect()).or_default().insert(persons[row]);
            }
            groups
        };
        let uniques = alone_on(full).values().filter(|persons| persons.len() == 1).count();
        assert_eq!(found.uniques, uniques as u64);
        for (at, column) in found.columns.iter().enumerate() {
            near(column.score_share, if sum > 0.0 { shares[at] / sum } else { 0.0 }, 1e-12);
            // Classes with one person that are unique on a set of columns.
            let unique_on = |set: u32| {
                let groups = alone_on(set);
                let mut seen = BTreeSet::new();
                let is = |cells: &&Vec<String>| {
                    let key = (0..columns.len()).filter(|at| set >> at & 1 == 1);
                    groups[&key.map(|at| &cells[at]).collect::<Vec<_>>()].len() == 1
                };
                all.iter().filter(|cells| seen.insert(*cells)).filter(is).count() as u64
            };
            assert_eq!(column.alone, unique_on(1 << at), "{round}: {text}");
            assert_eq!(column.without, Some(unique_on(full & !(1 << at))), "{round}: {text}");
        }
    }
    assert!(special > 1000, "{special}");
}

#[test]
fn many_values_are_counted_as_well_as_few() {
    // Three columns with 300 values each are too many combinations for an array.
    let mut rng = Rng::new(5);
    let mut text = "a,b,c\n".to_string();
    let mut rows = Vec::new();
    for _ in 0..2_000 {
        let row = [rng.below(300), rng.below(300), rng.below(3) * 100 + rng.below(100)];
        text += &format!("{},{},{}\n", row[0], row[1], row[2]);
        rows.push(row);
    }
    let found = measured(&text, &request("", &["a", "b", "c"]), None).unwrap();
    let found = found.special_uniques.unwrap();
    let unique = |columns: &[usize]| {
        let mut number: std::collections::BTreeMap<Vec<u64>, u32> = Default::default();
        let key = |row: &[u64; 3]| columns.iter().map(|&at| row[at]).collect::<Vec<_>>();
        rows.iter().for_each(|row| *number.entry(key(row)).or_default() += 1);
        number.values().filter(|&&rows| rows == 1).count() as u64
    };
    assert_eq!(found.uniques, unique(&[0, 1, 2]));
    let without: Vec<u64> = found.columns.iter().filter_map(|column| column.without).collect();
    assert_eq!(without, [unique(&[1, 2]), unique(&[0, 2]), unique(&[0, 1])]);
    assert!(!found.is_limited && found.largest == 3);
}

#[test]
fn one_column_and_one_row_are_tables_too() {
    let found = measured("a\nx\n", &request("", &["a"]), None).unwrap().special_uniques.unwrap();
    assert_eq!((found.uniques, found.special, &found.minimal[..]), (1, 1, &[1][..]));
    assert_eq!((found.columns[0].alone, found.columns[0].without), (1, Some(1)));
    let found = measured("a\nx\ny\n", &request("", &["a"]), None).unwrap().special_uniques.unwrap();
    assert_eq!((found.columns[0].alone, found.columns[0].without), (2, Some(0)));
    // Nobody is unique: nothing to say, and nothing divided by 0.
    let found = measured("a\nx\nx\n", &request("risk.sampling_fraction = 0.1", &["a"]), None);
    let found = found.unwrap().special_uniques.unwrap();
    assert_eq!((found.uniques, found.mean_score, found.dis), (0, 0.0, None));
    near(found.columns[0].score_share, 0.0, 0.0);
}
