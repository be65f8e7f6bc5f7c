//! What is left out: within the allowance, under the rules, never worse with more of it, and against
//! brute force.

use super::*;
use crate::problem::partition::Partition;
use crate::search::Algorithm;
use crate::search::tests::options;
use crate::search::tuning::Tuning;
use crate::testing;

const PRICES: [f64; 4] = [0.0, 0.25, 0.5, 1.0];

fn price(algorithm: Algorithm, price: f64) -> SearchOptions {
    SearchOptions { steps: Some(40), suppression_price: price, ..options(algorithm, 1) }
}

fn penalty_of(problem: &Problem) -> Penalty {
    let all: Vec<usize> = (0..problem.attributes().len()).collect();
    Penalty::new(problem.attributes(), &all)
}

/// The loss of the published rows and the price of the others, computed from the pieces.
fn objective(problem: &Problem, found: &Lightened, price: f64) -> f64 {
    let penalty = penalty_of(problem);
    let of_class =
        |class: &[Piece]| real(partition::rows(class)) * penalty.of_box(&problem.ranges(class));
    let published: f64 = found.classes.partition.iter().map(of_class).sum();
    published + price * penalty.most() * real(partition::rows(&found.suppressed))
}

fn holds(problem: &Problem, class: &[Piece]) -> bool {
    let mut tally = problem.tally();
    problem.count_into(&mut tally, class);
    problem.stages_in_order()[0].privacy.holds(&tally)
}

fn solved(problem: &Problem, search: SearchOptions) -> Lightened {
    with_suppression(problem, search, &Budget::unlimited())
}

fn one_column(values: &[u32], k: u64, suppress: &str) -> Problem {
    let text: String = values.iter().map(|value| format!("{value}\n")).collect();
    let toml = format!("k = {k}\nlimits.suppress = '{suppress}'\ncolumns.x.role = 'quasi'");
    testing::problem(&format!("x\n{text}"), &toml).unwrap()
}

#[test]
fn an_outlier_is_left_out_when_its_class_gains_more() {
    let problem = one_column(&[1, 1, 1, 2, 2, 2, 900], 3, "20%");
    let found = solved(&problem, price(Algorithm::Mondrian, 1.0));
    assert_eq!(found.suppressed, [Piece { tuple: 2, count: 1 }]);
    assert!((objective(&problem, &found, 1.0) - 1.0).abs() < 1e-12, "only the outlier loses");
    assert!((found.loss_before - 4.0 * (898.0 / 899.0) / 7.0).abs() < 1e-12);
}

#[test]
fn the_others_of_a_class_of_k_rows_join_the_classes_around() {
    let problem = one_column(&[1, 1, 2, 900], 2, "1/4");
    let found = solved(&problem, price(Algorithm::Mondrian, 0.25));
    assert_eq!(found.suppressed, [Piece { tuple: 2, count: 1 }]);
    assert_eq!(found.classes.partition.len(), 1);
    assert!((objective(&problem, &found, 0.25) - (3.0 / 899.0 + 0.25)).abs() < 1e-12);
}

#[test]
fn a_price_is_paid_only_where_the_others_gain_more() {
    // Of the last class each row loses 1/2: both together gain that, or nothing at a higher price.
    let values = [0, 0, 100, 100, 200, 200, 400, 800];
    let of = |paid: f64| solved(&one_column(&values, 2, "1/4"), price(Algorithm::Mondrian, paid));
    assert_eq!(partition::rows(&of(0.45).suppressed), 2);
    assert_eq!(partition::rows(&of(0.55).suppressed), 0);
    let one = one_column(&[0, 0, 10, 10], 4, "3/4");
    assert!(solved(&one, price(Algorithm::Mondrian, 0.0)).suppressed.is_empty(), "one class stays");
}

/// A random table with a person for some rows each, under one of several requests.
fn problems(seed: u64, rules: &str, persons: bool, suppress: &str) -> crate::Result<Problem> {
    let mut text = String::new();
    for (row, line) in testing::random_table(seed, 90).lines().enumerate() {
        let person = if row == 0 { "person".into() } else { (row * 7 % 60).to_string() };
        text += &format!("{line},{person}\n");
    }
    let person = if persons { "person = { role = \"person\" }\n" } else { "" };
    let toml = format!(
        "k = 3\nseed = 1\nrest = \"drop\"\n{}[limits]\nsuppress = \"{suppress}\"\n[columns]\n\
         age = {{ role = \"quasi\" }}\nheight = {{ role = \"quasi\" }}\n\
         city = {{ role = \"quasi\", weight = 2 }}\nillness = {{ role = \"sensitive\"{rules} }}\n{person}",
        if persons { "persons = \"whole\"\n" } else { "" }
    );
    testing::problem(&text, &toml)
}

#[test]
fn more_allowance_is_never_worse_and_every_class_satisfies_the_rules() {
    let (mut helped, mut tried) = (0, 0);
    for seed in 0..8 {
        for (rules, persons) in [("", false), (", distinct = 2", false), (", l = 2", true)] {
            for algorithm in Algorithm::homogeneous().filter(|algorithm| !algorithm.is_global()) {
                for paid in PRICES {
                    let (mut last, mut start) = (f64::INFINITY, None);
                    for allowed in [0, 1, 2, 5, 10, 20, 50] {
                        let share = format!("{allowed}%");
                        let Ok(problem) = problems(seed, rules, persons, &share) else { continue };
                        let found = solved(&problem, price(algorithm, paid));
                        let now = objective(&problem, &found, paid);
                        let context = format!("{seed} {rules} {algorithm} {paid} {allowed}");
                        assert!(now <= last + 1e-9, "{context}: {now} after {last}");
                        let all = problem.row_count();
                        let out = partition::rows(&found.suppressed);
                        assert!(out * 100 <= allowed * all, "{context}");
                        let rest = problem.pieces_without(&found.suppressed);
                        let kept = found.classes.partition.iter().flatten().copied();
                        let mut kept: Vec<Piece> = kept.collect();
                        assert_eq!(partition::joined(&mut kept).collect::<Vec<_>>(), rest);
                        for class in found.classes.partition.iter() {
                            assert!(holds(&problem, class), "{context}");
                        }
                        let before = start.get_or_insert(found.loss_before);
                        assert!((*before - found.loss_before).abs() < 1e-12, "one search");
                        helped += u32::from(now < last - 1e-9 && last.is_finite());
                        tried += 1;
                        last = now;
                    }
                }
            }
        }
    }
    assert!(tried > 2000 && helped > tried / 10, "{helped} of {tried}");
}

#[test]
fn every_single_row_of_allowance_is_never_worse() {
    for seed in 0..6 {
        for algorithm in [Algorithm::Mondrian, Algorithm::Auto] {
            for paid in PRICES {
                let mut last = f64::INFINITY;
                for allowed in 0..40 {
                    let problem = problems(seed, "", false, &format!("{allowed}/90")).unwrap();
                    let found = solved(&problem, price(algorithm, paid));
                    let now = objective(&problem, &found, paid);
                    assert!(now <= last + 1e-9, "{seed} {algorithm} {paid} {allowed}");
                    last = now;
                }
            }
        }
    }
}

/// The least objective of all ways to leave out at most so many rows of these classes, each of
/// which stays and satisfies the rules or goes.
fn best_of_all(problem: &Problem, classes: &Partition, allowance: u64, paid: f64) -> f64 {
    // By the number of rows left out, the least loss of the classes so far; none published last.
    let penalty = penalty_of(problem);
    let width = usize::try_from(allowance).unwrap() + 1;
    let mut least = vec![[f64::INFINITY, 0.0]; 1];
    least.resize(width, [f64::INFINITY; 2]);
    for class in classes.iter() {
        let mut own = vec![[f64::INFINITY; 2]; width];
        let mut counts: Vec<u32> = vec![0; class.len()];
        loop {
            let out: u64 = counts.iter().map(|&count| u64::from(count)).sum();
            let rest: Vec<Piece> = class
                .iter()
                .zip(&counts)
                .filter(|(piece, count)| piece.count > **count)
                .map(|(piece, count)| Piece { tuple: piece.tuple, count: piece.count - count })
                .collect();
            if out <= allowance && (rest.is_empty() || holds(problem, &rest)) {
                let loss = if rest.is_empty() {
                    0.0
                } else {
                    real(partition::rows(&rest)) * penalty.of_box(&problem.ranges(&rest))
                };
                let place = &mut own[usize::try_from(out).unwrap()][usize::from(rest.is_empty())];
                *place = place.min(loss);
            }
            // The next number, digit by digit.
            let Some(at) = (0..counts.len()).find(|&at| counts[at] < class[at].count) else {
                break;
            };
            counts[at] += 1;
            counts[..at].fill(0);
        }
        let mut next = vec![[f64::INFINITY; 2]; width];
        for (before, [some, none]) in least.iter().enumerate() {
            for (out, [stays, goes]) in own.iter().enumerate().take(width - before) {
                let [published, nothing] = &mut next[before + out];
                *published = published.min(some + stays).min(some + goes).min(none + stays);
                *nothing = nothing.min(none + goes);
            }
        }
        least = next;
    }
    let of = |(out, loss): (usize, &[f64; 2])| loss[0] + real(out as u64) * paid * penalty.most();
    least.iter().enumerate().map(of).fold(f64::INFINITY, f64::min)
}

#[test]
fn brute_force_on_tiny_tables_is_never_beaten_and_mostly_reached() {
    let (mut reached, mut tried) = (0, 0);
    for seed in 0..60 {
        let text = testing::random_table(seed, 14);
        for paid in PRICES {
            for allowed in [1, 3, 6] {
                let toml = format!(
                    "k = 2\nrest = \"drop\"\nlimits.suppress = \"{allowed}/14\"\n[columns]\n\
                     age = {{ role = \"quasi\" }}\ncity = {{ role = \"quasi\" }}\n\
                     illness = {{ role = \"sensitive\" }}"
                );
                let problem = testing::problem(&text, &toml).unwrap();
                // Rows stay in their classes or go.
                let tuning = Tuning { dissolve_tuples: 1, ..Tuning::tiny() };
                let search = SearchOptions { tuning, ..price(Algorithm::Mondrian, paid) };
                let pieces = problem.pieces_without(&[]);
                let start = stages::run(&problem, search, &pieces, &Budget::unlimited());
                let best = best_of_all(&problem, &start.partition, allowed, paid);
                let found = objective(&problem, &solved(&problem, search), paid);
                assert!(found >= best - 1e-9, "{seed} {paid} {allowed}: {found} beats {best}");
                reached += u32::from(found <= best + 1e-9);
                tried += 1;
            }
        }
    }
    assert!(reached * 10 >= tried * 7, "{reached} of {tried}");
}

#[test]
fn of_equal_classes_any_may_go() {
    // Two classes that lose the same: one of them may go, and which is drawn.
    let text = "x,ill\n0,a\n1,b\n8,a\n9,b\n";
    let toml = "k = 2\nlimits.suppress = '1/2'\n[columns]\nx = { role = 'quasi' }\n\
                ill = { role = 'sensitive', distinct = 2 }";
    let problem = testing::problem(text, toml).unwrap();
    let search = price(Algorithm::Mondrian, 0.0);
    let penalty = penalty_of(&problem);
    let pieces = problem.pieces_without(&[]);
    let start = stages::run(&problem, search, &pieces, &Budget::unlimited());
    assert_eq!(start.partition.len(), 2);
    let mut drawn = std::collections::BTreeSet::new();
    for seed in 0..40 {
        let mut draws = crate::rng::Key::from_seed(seed).draws(SUPPRESSING);
        let budget = Budget::unlimited();
        let (_, out) = path::lighten(&problem, &penalty, search, &start, 2, &mut draws, &budget);
        let mut tuples: Vec<u32> = out.iter().map(|piece| piece.tuple).collect();
        tuples.sort_unstable();
        drawn.insert(tuples);
    }
    assert_eq!(drawn.len(), 2, "{drawn:?}");
}
