//! A table and the same table as distinct rows with counts are one problem: the same classes and
//! the same loss, for every algorithm and every rule.

use crate::evaluate::loss::loss;
use crate::problem::Problem;
use crate::problem::partition::Piece;
use crate::rng::Rng;
use crate::search::tuning::Tuning;
use crate::search::{Outcome, solve};
use crate::testing;
use crate::{Algorithm, Budget, SearchOptions};

/// The rules, each with the keys of the sensitive column and further keys of the request.
const RULES: [(&str, &str); 13] = [
    ("", ""),
    ("", "rules = [{ k = 12, columns = ['city'] }]"),
    ("alpha = 0.6", ""),
    ("alpha = 0.6, values = ['gout', 'cold']", ""),
    // Only with suppression.
    ("alpha = 0.33", ""),
    ("l = 2", ""),
    ("distinct = 3", ""),
    ("entropy = 2", ""),
    ("recursive = { c = 2, l = 2 }", ""),
    ("t = 0.3", ""),
    ("t = 0.3, distance = 'ordered', order = ['cold', 'cough', 'flu', 'gout']", ""),
    ("t = 0.3, distance = 'hierarchical', hierarchy = { prefix = [1] }", ""),
    ("l = 2", "rules = [{ k = 9, columns = ['age', 'city'] }]"),
];

/// The codes of a tuple, with those of its sensitive values.
fn codes(problem: &Problem, tuple: u32) -> Vec<u32> {
    let mut codes = vec![0; problem.sensitive_columns()];
    problem.sensitive_codes(tuple, &mut codes);
    codes.extend((0..problem.attributes().len()).map(|at| problem.code(at, tuple)));
    codes
}

type Pieces = Vec<(Vec<u32>, u32)>;

/// The pieces of each class by their values, and those that are suppressed.
fn classes(problem: &Problem, outcome: &Outcome) -> (Vec<Pieces>, Pieces) {
    let pieces = |pieces: &[Piece]| {
        let mut pieces: Pieces =
            pieces.iter().map(|piece| (codes(problem, piece.tuple), piece.count)).collect();
        pieces.sort_unstable();
        pieces
    };
    let recoding = &outcome.recoding;
    (recoding.classes().iter().map(pieces).collect(), pieces(recoding.suppressed()))
}

/// A random table with four illnesses, in which many rows are equal.
fn table(seed: u64) -> String {
    let mut rng = Rng::new(seed);
    let some = testing::random_table(seed, 45);
    let mut lines = some.lines();
    let mut text = format!("{}\n", lines.next().unwrap());
    for (at, line) in lines.enumerate() {
        let line = if at % 3 == 0 { line.replace("flu", "cough") } else { line.to_string() };
        let times = 1 + rng.below(4).min(rng.below(4));
        (0..times).for_each(|_| text += &format!("{line}\n"));
    }
    text
}

/// Compares a table and its counted form, and returns the rows of mandatory suppression; none when
/// the rules cannot be satisfied.
fn is_same(text: &str, toml: &str, algorithm: Algorithm, seed: u64) -> Option<u64> {
    let context = format!("{algorithm}, seed {seed}, {toml}");
    let short = testing::counted(text, seed);
    assert!(short.lines().count() * 4 < text.lines().count() * 3, "many rows are equal");
    let plain = testing::problem(text, toml);
    let counted = testing::problem(&short, &format!("count = 'n'\n{toml}"));
    let (plain, counted) = match (plain, counted) {
        (Ok(plain), Ok(counted)) => (plain, counted),
        (plain, counted) => {
            let why = |problem: crate::Result<Problem>| problem.unwrap_err().to_string();
            assert_eq!(why(plain), why(counted), "{context}");
            return None;
        }
    };
    assert_eq!(plain.row_count(), counted.row_count(), "{context}");
    assert_eq!(plain.allowance(), counted.allowance(), "{context}");
    let options = SearchOptions {
        steps: Some(60),
        tuning: Tuning::tiny(),
        ..SearchOptions::new(algorithm, seed)
    };
    let solve = |problem| solve(problem, options, &Budget::unlimited());
    let (of_plain, of_counted) = (solve(&plain), solve(&counted));
    assert_eq!(classes(&plain, &of_plain), classes(&counted, &of_counted), "{context}");
    let (one, other) = (loss(&plain, &of_plain.recoding), loss(&counted, &of_counted.recoding));
    let bits = |loss: &crate::evaluate::loss::Loss| {
        [loss.ncp, loss.gcp, loss.c_avg, loss.hdm, loss.distortion].map(f64::to_bits)
    };
    assert_eq!(bits(&one), bits(&other), "{context}");
    assert_eq!(one, other, "{context}");
    Some(crate::problem::partition::rows(plain.mandatory()))
}

#[test]
fn rows_with_counts_give_the_classes_and_the_loss_of_the_rows_themselves() {
    let homogeneous: Vec<Algorithm> = Algorithm::homogeneous().collect();
    assert_eq!(homogeneous.len(), Algorithm::ALL.len() - 1, "all but ring, which is refused");
    let (mut found, mut suppressed) = (0, 0);
    for (at, (keys, top)) in (0u64..).zip(RULES) {
        for suppress in ["", "limits.suppress = '30%'"] {
            if !suppress.is_empty() && keys.contains("t = ") {
                continue;
            }
            let comma = if keys.is_empty() { "" } else { ", " };
            let toml = format!(
                "k = 4\nseed = 5\n{top}\n{suppress}\n[columns]\nage = {{ role = 'quasi' }}\n\
                 height = {{ role = 'quasi', weight = 2 }}\ncity = {{ role = 'quasi' }}\n\
                 illness = {{ role = 'sensitive'{comma}{keys} }}"
            );
            for &algorithm in &homogeneous {
                match is_same(&table(at), &toml, algorithm, at) {
                    Some(mandatory) => (found, suppressed) = (found + 1, suppressed + mandatory),
                    None => assert!(keys == "alpha = 0.33" && suppress.is_empty(), "{toml}"),
                }
            }
        }
    }
    assert!(
        found > 200 && suppressed > 0,
        "{found} solved, {suppressed} rows of mandatory suppression"
    );
}
