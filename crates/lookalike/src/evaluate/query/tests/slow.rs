//! The slow, obvious estimator: no labels are read, no rows are grouped, every point of every cell
//! is looked at.
//!
//! Tables are made together with what their cells mean; the module under test sees the texts alone.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::super::{Workload, draw};
use super::*;
use crate::rng::Rng;

/// What a cell means: weighted points, or a stretch with a chance of being missing.
#[derive(Clone, Debug)]
enum Meaning {
    Points(Vec<(Option<String>, f64)>),
    Stretch { lo: f64, hi: f64, missing: f64 },
}

/// What a condition wants.
#[derive(Clone, Debug)]
enum Wanted {
    Between(f64, f64),
    Any(BTreeSet<String>),
}

fn pick<'a, T>(rng: &mut Rng, items: &'a [T]) -> &'a T {
    &items[usize::try_from(rng.below(items.len() as u64)).unwrap()]
}

fn evenly(points: impl IntoIterator<Item = Option<String>>) -> Meaning {
    let points: Vec<Option<String>> = points.into_iter().collect();
    #[allow(clippy::cast_precision_loss, reason = "few points")]
    let weight = 1.0 / points.len() as f64;
    Meaning::Points(points.into_iter().map(|point| (point, weight)).collect())
}

fn satisfied(point: Option<&str>, wanted: &Wanted) -> bool {
    match (point, wanted) {
        (Some(point), Wanted::Between(from, to)) => {
            point.parse::<f64>().is_ok_and(|x| *from <= x && x <= *to)
        }
        (None, Wanted::Between(..)) => false,
        (point, Wanted::Any(values)) => values.contains(point.unwrap_or("")),
    }
}

/// Share of the cell, and share times mean.
fn weigh(meaning: &Meaning, wanted: Option<&Wanted>) -> (f64, f64) {
    match meaning {
        Meaning::Points(points) => {
            let mut sums = (0.0, 0.0);
            for (point, weight) in points {
                if wanted.is_none_or(|wanted| satisfied(point.as_deref(), wanted)) {
                    sums.0 += weight;
                    sums.1 += weight
                        * point.as_ref().and_then(|point| point.parse::<f64>().ok()).unwrap_or(0.0);
                }
            }
            sums
        }
        Meaning::Stretch { lo, hi, missing } => match wanted {
            None => (1.0, (1.0 - missing) * (lo + hi) / 2.0),
            Some(Wanted::Any(values)) => (if values.contains("") { *missing } else { 0.0 }, 0.0),
            Some(Wanted::Between(from, to)) => {
                let (a, b) = (lo.max(*from), hi.min(*to));
                let share = if a < b { (1.0 - missing) * (b - a) / (hi - lo) } else { 0.0 };
                (share, share * (a + b) / 2.0)
            }
        },
    }
}

/// One source row: age (whole or missing), height (decimal or missing), city (flat or missing), zip
/// (prefixes), ill (kept), pay (kept).
type Row = [String; 6];
const NAMES: [&str; 6] = ["age", "height", "city", "zip", "ill", "pay"];
const CONFIG: &str = "k = 1\n[columns]\nage = { role = \"quasi\" }\nheight = { role = \"quasi\" \
    }\ncity = { role = \"quasi\" }\n\
                      zip = { role = \"quasi\", hierarchy = { prefix = [2, 1] } }\nill = { role = \
                      \"sensitive\" }\npay = { role = \"keep\" }\n";

fn source(rng: &mut Rng) -> Vec<Row> {
    let rows = 3 + rng.below(12);
    (0..rows)
        .map(|row| {
            let age = if row > 1 && rng.below(5) == 0 {
                String::new()
            } else {
                (20 + rng.below(12)).to_string()
            };
            // The first two rows see to it that the column is decimal and has a length.
            let height = match row {
                0 => "1.25".to_string(),
                1 => "2.5".to_string(),
                _ if rng.below(6) == 0 => String::new(),
                _ => format!("1.{}", 3 + rng.below(6)),
            };
            let city = (*pick(rng, &["Ulm", "Bonn", "Kiel", ""])).to_string();
            let zip = (*pick(rng, &["537", "538", "541", "606", "617"])).to_string();
            let ill = (*pick(rng, &["flu", "gout"])).to_string();
            [age, height, city, zip, ill, rng.below(50).to_string()]
        })
        .collect()
}

/// The distinct texts of a column, the missing one as the empty text.
fn distinct(rows: &[Row], at: usize) -> Vec<String> {
    rows.iter().map(|row| row[at].clone()).collect::<BTreeSet<_>>().into_iter().collect()
}

fn present(rows: &[Row], at: usize) -> Vec<f64> {
    let mut numbers: Vec<f64> = rows.iter().filter_map(|row| row[at].parse().ok()).collect();
    numbers.sort_by(f64::total_cmp);
    numbers.dedup();
    numbers
}

fn some(text: &str) -> Option<String> {
    Some(text.to_string()).filter(|text| !text.is_empty())
}

/// A label that covers the cell, and what it means.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "small whole numbers"
)]
fn generalized(rng: &mut Rng, rows: &[Row], at: usize, cell: &str) -> (String, Meaning) {
    let exact = (cell.to_string(), evenly([some(cell)]));
    if rng.below(3) == 0 {
        return exact;
    }
    let has_missing = rows.iter().any(|row| row[at].is_empty());
    match at {
        0 | 1 => {
            let numbers = present(rows, at);
            let (least, greatest) = (numbers[0], numbers[numbers.len() - 1]);
            let missing = if has_missing { 1.0 / (numbers.len() as f64 + 1.0) } else { 0.0 };
            let star = cell.is_empty() || rng.below(4) == 0;
            let number: f64 = cell.parse().unwrap_or(0.0);
            let (lo, hi) =
                if star { (least, greatest) } else { (*pick(rng, &numbers), *pick(rng, &numbers)) };
            let (lo, hi) = if star { (lo, hi) } else { (lo.min(number), hi.max(number)) };
            let missing = if star { missing } else { 0.0 };
            let label = if star { "*".to_string() } else { format!("[{lo}-{hi}]") };
            if !star && hi - lo < 0.001 {
                return exact;
            }
            if at == 1 {
                return (label, Meaning::Stretch { lo, hi, missing });
            }
            let points: Vec<i64> = (lo as i64..=hi as i64).collect();
            let weight = (1.0 - missing) / points.len() as f64;
            let present = points.iter().map(|point| (Some(point.to_string()), weight));
            (label, Meaning::Points(present.chain([(None, missing)]).collect()))
        }
        2 => {
            let all = distinct(rows, at);
            if rng.below(2) == 0 {
                return ("*".to_string(), evenly(all.iter().map(|value| some(value))));
            }
            let mut set: BTreeSet<String> =
                all.iter().filter(|_| rng.below(2) == 0).cloned().collect();
            set.insert(cell.to_string());
            if set.len() == 1 {
                return exact;
            }
            let members: Vec<String> = set
                .iter()
                .map(|value| if value.is_empty() { "\"\"".to_string() } else { value.clone() })
                .collect();
            (format!("{{{}}}", members.join(",")), evenly(set.iter().map(|value| some(value))))
        }
        _ => {
            let kept = usize::try_from(rng.below(3)).unwrap();
            let below = distinct(rows, at).into_iter().filter(|zip| zip[..kept] == cell[..kept]);
            let label = if kept == 0 {
                "*".to_string()
            } else {
                format!("{}{}", &cell[..kept], "*".repeat(3 - kept))
            };
            (label, evenly(below.map(Some)))
        }
    }
}

/// A random condition in TOML, and what it wants; none where the column has no values to choose
/// from.
fn condition(rng: &mut Rng, rows: &[Row], at: usize) -> (String, Wanted) {
    match at {
        0 | 5 => {
            let (a, b) = (rng.below(50), rng.below(50));
            let shown = rng.below(4) == 0 && at == 0 && rows.iter().any(|row| row[0].is_empty());
            if shown {
                return (
                    format!("[\"\", \"{a}\"]"),
                    Wanted::Any([String::new(), a.to_string()].into()),
                );
            }
            #[allow(clippy::cast_precision_loss, reason = "small whole numbers")]
            let wanted = Wanted::Between(a.min(b) as f64, a.max(b) as f64);
            (format!("[{}, {}]", a.min(b), a.max(b)), wanted)
        }
        1 => {
            let (a, b) = (1.0 + rng.unit() * 2.0, 1.0 + rng.unit() * 2.0);
            (format!("[{}, {}]", a.min(b), a.max(b)), Wanted::Between(a.min(b), a.max(b)))
        }
        3 if rng.below(2) == 0 => {
            let zip = pick(rng, rows)[3].clone();
            let kept = 1 + usize::try_from(rng.below(2)).unwrap();
            let below = distinct(rows, 3).into_iter().filter(|other| other[..kept] == zip[..kept]);
            (
                format!("{{ node = \"{}{}\" }}", &zip[..kept], "*".repeat(3 - kept)),
                Wanted::Any(below.collect()),
            )
        }
        _ => {
            let values: BTreeSet<String> =
                (0..=rng.below(2)).map(|_| pick(rng, rows)[at].clone()).collect();
            let texts: Vec<String> = values.iter().map(|value| format!("{value:?}")).collect();
            (format!("[{}]", texts.join(", ")), Wanted::Any(values))
        }
    }
}

fn csv(rows: &[Row]) -> String {
    let line = |row: &Row| {
        row.iter()
            .map(|cell| format!("\"{}\"", cell.replace('"', "\"\"")))
            .collect::<Vec<_>>()
            .join(",")
            + "\n"
    };
    format!("{}\n{}", NAMES.join(","), rows.iter().map(line).collect::<String>())
}

fn original(row: &Row) -> Vec<Meaning> {
    row.iter().map(|cell| evenly([some(cell)])).collect()
}

fn sum_up(rows: &[Vec<Meaning>], sum: Option<usize>, wanted: &[Option<Wanted>]) -> f64 {
    let row = |cells: &Vec<Meaning>| {
        let mut product = 1.0;
        for (at, cell) in cells.iter().enumerate() {
            let (share, value) = weigh(cell, wanted[at].as_ref());
            product *= if sum == Some(at) { value } else { share };
        }
        product
    };
    rows.iter().map(row).sum()
}

#[test]
fn the_fast_estimates_are_those_of_the_slow_estimator() {
    let mut rng = Rng::new(11);
    let (mut partial, mut stars, mut sums) = (0, 0, 0);
    for round in 0..400 {
        let rows = source(&mut rng);
        let mut meanings = Vec::new();
        let mut shown: Vec<Row> = Vec::new();
        // Some rows are suppressed.
        for row in rows.iter().filter(|_| rng.below(8) > 0).collect::<Vec<_>>() {
            let mut cells = row.clone();
            let mut meaning = original(row);
            for at in 0..4 {
                (cells[at], meaning[at]) = generalized(&mut rng, &rows, at, &row[at]);
            }
            stars += cells.iter().filter(|cell| *cell == "*").count();
            meanings.push(meaning);
            shown.push(cells);
        }
        if shown.is_empty() {
            continue;
        }
        let originals: Vec<Vec<Meaning>> = rows.iter().map(original).collect();
        let (mut text, mut expected) = (String::new(), Vec::new());
        for _ in 0..8 {
            let mut wanted: Vec<Option<Wanted>> = vec![None; 6];
            let mut conditions = Vec::new();
            for at in (0..6).filter(|_| rng.below(2) == 0).collect::<Vec<_>>() {
                let (written, what) = condition(&mut rng, &rows, at);
                conditions.push(format!("{} = {written}", NAMES[at]));
                wanted[at] = Some(what);
            }
            let sum = [None, Some(0), Some(1), Some(5)][usize::try_from(rng.below(4)).unwrap()];
            sums += u32::from(sum.is_some());
            writeln!(text, "[[query]]\nwhere = {{ {} }}", conditions.join(", ")).unwrap();
            sum.iter().for_each(|at| writeln!(text, "sum = \"{}\"", NAMES[*at]).unwrap());
            expected.push((sum_up(&originals, sum, &wanted), sum_up(&meanings, sum, &wanted)));
        }
        let answers = ask(&csv(&rows), &csv(&shown), CONFIG, &text).unwrap();
        assert_eq!(answers.len(), expected.len());
        for (answer, (truth, estimate)) in answers.iter().zip(expected) {
            let close =
                |found: f64, wanted: f64| (found - wanted).abs() <= 1e-9 * (1.0 + wanted.abs());
            assert!(
                close(answer.truth, truth),
                "round {round}: truth {}, expected {truth}\n{text}\n{}",
                answer.truth,
                csv(&rows)
            );
            let both = format!("{}\n{}", csv(&rows), csv(&shown));
            assert!(
                close(answer.estimate, estimate),
                "round {round}: {}, expected {estimate}\n{text}\n{both}",
                answer.estimate
            );
            partial += u32::from(!close(truth, estimate) && estimate > 0.0);
        }
    }
    assert!(
        partial > 500 && stars > 500 && sums > 500,
        "the test sees what it is about: {partial}, {stars}, {sums}"
    );
}

#[test]
fn a_release_that_is_the_source_answers_without_error() {
    let mut rng = Rng::new(12);
    for seed in 0..30 {
        let rows = source(&mut rng);
        let table = table(&csv(&rows));
        let request = Request::parse(CONFIG).unwrap();
        for sum in [None, Some("age".to_string())] {
            let workload = Workload { queries: 20, seed, sum, ..Workload::default() };
            let queries = draw(&table, &request, &workload).unwrap();
            let answers = answer(&table, &table, &request, &queries).unwrap();
            assert!(answers.iter().all(|answer| answer.error() == Some(0.0)), "{answers:?}");
        }
    }
}

#[test]
fn a_release_of_stars_answers_with_the_product_of_the_shares() {
    let mut rng = Rng::new(13);
    let rows = source(&mut rng);
    let stars: Vec<Row> =
        rows.iter().map(|row| ["*", "*", "*", "*", &row[4], &row[5]].map(String::from)).collect();
    let request = Request::parse(CONFIG).unwrap();
    let workload = Workload { queries: 50, seed: 1, ..Workload::default() };
    let all = draw(&table(&csv(&rows)), &request, &workload).unwrap();
    let answers = answer(&table(&csv(&rows)), &table(&csv(&stars)), &request, &all).unwrap();
    for (query, found) in all.iter().zip(answers) {
        #[allow(clippy::cast_precision_loss, reason = "few rows")]
        let mut expected = rows.len() as f64;
        for (name, condition) in &query.conditions {
            let alone = Query { sum: None, conditions: [(name.clone(), condition.clone())].into() };
            let one: Vec<Row> = vec![stars[0].clone()];
            expected *= answer(&table(&csv(&rows)), &table(&csv(&one)), &request, &[alone])
                .unwrap()[0]
                .estimate;
        }
        assert!((found.estimate - expected).abs() < 1e-9, "{query:?}");
    }
}
