//! The bound against slow enumerations: of all boxes around a row, and of all releases of a tiny
//! table.

mod tight;

use super::row_bounds::{BoundQuality, RowBounds, row_bounds};
use super::*;
use crate::codes::{Code, CodeRange, real};
use crate::domain::penalty::Penalty;
use crate::rng::Rng;
use crate::testing;

/// Numbers with gaps and missing values, weights from 0 to 2, flat and deep trees, snapped
/// intervals with open ends, orders, rules on sensitive values; `K` stands for k.
const REQUESTS: [&str; 7] = [
    "age = { role = \"quasi\", weight = 2 }\nheight = { role = \"quasi\" }\ncity = { role = \"quasi\" }\n",
    "age = { role = \"quasi\" }\nheight = { role = \"quasi\", kind = \"categorical\", hierarchy = { prefix = [2, 1] } }\ncity = { role = \"quasi\", weight = 0.5 }\n",
    "age = { role = \"quasi\", hierarchy = { intervals = [3, 6], top = 29 } }\ncity = { role = \"quasi\" }\n",
    "age = { role = \"quasi\" }\nheight = { role = \"quasi\", weight = 0 }\ncity = { role = \"quasi\" }\nillness = { role = \"sensitive\", distinct = 1 }\n",
    "height = { role = \"quasi\", weight = 1.5 }\nillness = { role = \"quasi\", order = [\"cold\", \"flu\", \"gout\"], weight = 0.3 }\nage = { role = \"quasi\" }\n",
    "age = { role = \"quasi\", kind = \"categorical\", weight = 0.7 }\nillness = { role = \"quasi\" }\ncity = { role = \"quasi\" }\nheight = { role = \"quasi\", kind = \"categorical\" }\n",
    "age = { role = \"quasi\" }\n",
];

fn problem_of(text: &str, request: &str, k: u64) -> Option<Problem> {
    let snap = if request.contains("top") { "[output]\nsnap = true\n" } else { "" };
    testing::problem(text, &format!("k = {k}\nrest = \"drop\"\n{snap}[columns]\n{request}")).ok()
}

/// Every random table under every request.
fn for_each_problem(tables: u64, rows: impl Fn(u64) -> u64, mut check: impl FnMut(&Problem, &str)) {
    for seed in 0..tables {
        for (at, request) in REQUESTS.iter().enumerate() {
            let k = [2, 3, 5, 1, 9, 4, 7][usize::try_from(seed).unwrap() % 7];
            let text = testing::random_table(seed, rows(seed));
            if let Some(problem) = problem_of(&text, request, k) {
                check(&problem, &format!("table {seed}, request {at}, k = {k}"));
            }
        }
    }
}

fn unlimited(problem: &Problem) -> RowBounds {
    row_bounds(problem, 1, PATIENCE, &Budget::unlimited()).unwrap()
}

fn with_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

/// The loss of a row in a box, from the attributes themselves.
fn box_loss(problem: &Problem, ranges: &[CodeRange]) -> f64 {
    problem
        .attributes()
        .iter()
        .zip(ranges)
        .map(|(attribute, &range)| attribute.weight * attribute.loss(range))
        .sum()
}

/// All rows of the table by their codes.
fn rows(problem: &Problem) -> Vec<Vec<Code>> {
    let row = |tuple: u32| {
        (0..problem.attributes().len()).map(|at| problem.code(at, tuple)).collect::<Vec<_>>()
    };
    (0u32..)
        .take(problem.tuples())
        .flat_map(|tuple| vec![row(tuple); problem.count(tuple) as usize])
        .collect()
}

/// The least loss of all boxes that contain the row and at least k rows: every range of codes on
/// every attribute.
fn least_loss(problem: &Problem, rows: &[Vec<Code>], row: &[Code]) -> f64 {
    fn over(
        problem: &Problem,
        inside: &[&Vec<Code>],
        row: &[Code],
        ranges: &mut Vec<CodeRange>,
        best: &mut f64,
    ) {
        if (inside.len() as u64) < problem.k() {
            return;
        }
        let at = ranges.len();
        let Some(attribute) = problem.attributes().get(at) else {
            *best = best.min(box_loss(problem, ranges));
            return;
        };
        for lo in 0..=row[at] {
            for hi in row[at]..u32::try_from(attribute.codes()).unwrap() {
                let range = CodeRange { lo, hi };
                let inside: Vec<&Vec<Code>> =
                    inside.iter().copied().filter(|other| range.contains(other[at])).collect();
                ranges.push(range);
                over(problem, &inside, row, ranges, best);
                ranges.pop();
            }
        }
    }
    let mut best = f64::INFINITY;
    over(problem, &rows.iter().collect::<Vec<_>>(), row, &mut Vec::new(), &mut best);
    best
}

/// The group of each tuple: those with equal quasi-identifiers follow each other.
fn group_of(problem: &Problem) -> Vec<usize> {
    let row = |tuple: u32| {
        (0..problem.attributes().len()).map(|at| problem.code(at, tuple)).collect::<Vec<Code>>()
    };
    let mut group = 0;
    let next = |tuple: u32| {
        group += usize::from(tuple > 0 && row(tuple) != row(tuple - 1));
        group
    };
    (0u32..).take(problem.tuples()).map(next).collect()
}

#[test]
fn every_row_s_bound_is_the_loss_of_its_best_box_of_all_boxes() {
    let mut above_zero = 0;
    let mut met = 0;
    for_each_problem(
        40,
        |seed| 9 + seed % 14,
        |problem, what| {
            met += 1;
            let (bounds, groups) = (unlimited(problem), group_of(problem));
            let all = rows(problem);
            let mut sum = 0.0;
            for tuple in (0u32..).take(problem.tuples()) {
                let row: Vec<Code> =
                    (0..problem.attributes().len()).map(|at| problem.code(at, tuple)).collect();
                let group = groups[tuple as usize];
                let expected = least_loss(problem, &all, &row);
                let found = bounds.least[group];
                assert!(
                    (found - expected).abs() < 1e-9,
                    "{what}, tuple {tuple}: {found}, not {expected}"
                );
                let best = &bounds.boxes[bounds.box_of[group] as usize];
                let inside = all.iter().filter(|other| {
                    best.iter().zip(*other).all(|(range, &code)| range.contains(code))
                });
                assert!(inside.count() as u64 >= problem.k(), "{what}, tuple {tuple}");
                assert!(
                    best.iter().zip(&row).all(|(range, &code)| range.contains(code)),
                    "{what}, tuple {tuple}"
                );
                assert!(
                    (box_loss(problem, best) - found).abs() < 1e-9,
                    "{what}, tuple {tuple}: its box has another loss"
                );
                above_zero += u32::from(found > 0.0);
                sum += f64::from(problem.count(tuple)) * expected;
            }
            let found = bound(problem, 3, &Budget::unlimited());
            assert_eq!(found.kind, BoundKind::Exact, "{what}");
            assert!(
                (found.value - sum).abs() < 1e-9 * sum.max(1.0),
                "{what}: {} for {sum}",
                found.value
            );
        },
    );
    assert!(met > 200 && above_zero > 1_000, "{met} problems, {above_zero} tuples with a loss");
}

/// The least penalty of all partitions of the rows into classes of at least k, and as many rows
/// suppressed as may be.
fn best_release(problem: &Problem, rows: &[Vec<Code>]) -> f64 {
    fn place(
        problem: &Problem,
        rest: &[Vec<Code>],
        classes: &mut Vec<Vec<Vec<Code>>>,
        out: u64,
        best: &mut f64,
    ) {
        let Some((row, rest)) = rest.split_first() else {
            if classes.iter().any(|class| (class.len() as u64) < problem.k()) {
                return;
            }
            let of_class = |class: &Vec<Vec<Code>>| {
                let range = |at: usize| CodeRange {
                    lo: class.iter().map(|row| row[at]).min().unwrap(),
                    hi: class.iter().map(|row| row[at]).max().unwrap(),
                };
                let ranges: Vec<CodeRange> = (0..class[0].len()).map(range).collect();
                real(class.len() as u64) * box_loss(problem, &ranges)
            };
            let nothing: f64 = problem.attributes().iter().map(|attribute| attribute.weight).sum();
            *best = best.min(classes.iter().map(of_class).sum::<f64>() + real(out) * nothing);
            return;
        };
        for at in 0..classes.len() {
            classes[at].push(row.clone());
            place(problem, rest, classes, out, best);
            classes[at].pop();
        }
        classes.push(vec![row.clone()]);
        place(problem, rest, classes, out, best);
        classes.pop();
        if out < problem.allowance() {
            place(problem, rest, classes, out + 1, best);
        }
    }
    let mut best = f64::INFINITY;
    place(problem, rows, &mut Vec::new(), 0, &mut best);
    best
}

#[test]
fn no_release_of_a_tiny_table_goes_below() {
    let (mut met, mut attained, mut near) = (0, 0, 0);
    for_each_problem(
        60,
        |seed| 3 + seed % 5,
        |problem, what| {
            let found = bound(problem, 1, &Budget::unlimited()).value;
            let best = best_release(problem, &rows(problem));
            assert!(found <= best + 1e-9, "{what}: {found} above {best}");
            met += 1;
            attained += u32::from(found > 0.1 && best - found < 1e-9);
            near += u32::from(found > 0.5 * best && best > 0.1);
        },
    );
    assert!(
        met > 250 && attained > 30 && near > 100,
        "{met} tables, {attained} attained, {near} near"
    );
}

#[test]
fn what_is_given_up_is_weaker_and_never_above() {
    let (mut weaker, mut less) = (0, 0);
    for_each_problem(
        25,
        |seed| 40 + 2 * seed,
        |problem, what| {
            let exact = unlimited(problem);
            for patience in [0, 30, 200, 1_000] {
                let found = row_bounds(problem, 1, patience, &Budget::unlimited()).unwrap();
                for group in 0..found.rows.len() {
                    assert!(
                        found.least[group] <= exact.least[group] + 1e-12,
                        "{what}, patience {patience}"
                    );
                    match found.quality[group] {
                        BoundQuality::Unsearched => panic!("{what}: no search"),
                        BoundQuality::Exact => assert!(
                            (found.least[group] - exact.least[group]).abs() < 1e-12,
                            "{what}"
                        ),
                        BoundQuality::Weaker => {
                            less += u32::from(found.least[group] < exact.least[group] - 1e-12)
                        }
                    }
                }
                let sum = found.sum();
                let rows: u64 = found
                    .rows
                    .iter()
                    .zip(&found.quality)
                    .filter(|(_, quality)| **quality == BoundQuality::Weaker)
                    .map(|(rows, _)| rows)
                    .sum();
                let kind = if rows == 0 { BoundKind::Exact } else { BoundKind::Weaker { rows } };
                assert_eq!(sum.kind, kind, "{what}");
                assert!(sum.value <= exact.sum().value + 1e-9);
                weaker += u32::from(rows > 0);
            }
        },
    );
    assert!(weaker > 100 && less > 500, "{weaker} weaker bounds, {less} groups with less");
}

/// A bound of a search that gave up is still no less than the loss with the k nearest rows.
#[test]
fn without_any_patience_the_nearest_rows_decide() {
    for_each_problem(
        20,
        |seed| 30 + seed,
        |problem, what| {
            let (found, groups) =
                (row_bounds(problem, 1, 0, &Budget::unlimited()).unwrap(), group_of(problem));
            let all = rows(problem);
            for tuple in (0u32..).take(problem.tuples()) {
                let row: Vec<Code> =
                    (0..problem.attributes().len()).map(|at| problem.code(at, tuple)).collect();
                let join = |other: &Vec<Code>| -> Vec<CodeRange> {
                    row.iter()
                        .zip(other)
                        .map(|(&one, &other)| CodeRange::one(one).join(CodeRange::one(other)))
                        .collect()
                };
                let mut losses: Vec<f64> =
                    all.iter().map(|other| box_loss(problem, &join(other))).collect();
                losses.sort_by(f64::total_cmp);
                let nearest = losses[usize::try_from(problem.k()).unwrap() - 1];
                let least = found.least[groups[tuple as usize]];
                assert!(least >= nearest - 1e-9, "{what}, tuple {tuple}: {least} below {nearest}");
            }
        },
    );
}

#[test]
fn an_estimate_s_interval_has_the_truth_nearly_always() {
    let problem = problem_of(&testing::random_table(8, 1_500), REQUESTS[5], 4).unwrap();
    let exact = unlimited(&problem);
    let truth = exact.sum().value;
    let (mut hits, mut sum) = (0, 0.0);
    for seed in 0..200 {
        // As if the budget had been spent after so many groups.
        let mut stopped = exact.clone();
        Rng::new(seed).shuffle(&mut stopped.order);
        for &group in &stopped.order[60..] {
            (stopped.least[group as usize], stopped.quality[group as usize]) =
                (0.0, BoundQuality::Unsearched);
        }
        let Bound { value, kind: BoundKind::Estimate { sample, low, high } } = stopped.sum() else {
            panic!("no estimate")
        };
        assert!(low < value && value < high && sample >= 60);
        hits += u32::from((low..=high).contains(&truth));
        sum += value;
    }
    assert!((175..200).contains(&hits), "{hits} of 200 intervals have {truth}");
    assert!((sum / 200.0 / truth - 1.0).abs() < 0.02, "{} for {truth}", sum / 200.0);
}

#[test]
fn threads_do_not_change_the_bound() {
    for (at, request) in REQUESTS.iter().enumerate() {
        let problem = problem_of(&testing::random_table(4, 700), request, 6).unwrap();
        for patience in [300, PATIENCE] {
            let of = |threads: usize| {
                with_threads(threads, || {
                    row_bounds(&problem, 5, patience, &Budget::unlimited()).unwrap()
                })
            };
            let (one, three) = (of(1), of(3));
            assert_eq!(one.sum().value.to_bits(), three.sum().value.to_bits(), "request {at}");
            assert_eq!(
                (one.sum().kind, one.box_of, one.boxes),
                (three.sum().kind, three.box_of, three.boxes),
                "request {at}"
            );
        }
    }
}

#[test]
fn a_spent_budget_gives_a_bound_that_says_nothing() {
    let problem = problem_of(&testing::random_table(4, 700), REQUESTS[0], 6).unwrap();
    let spent = Budget::new(Some(std::time::Duration::ZERO), std::sync::Arc::default());
    assert_eq!(
        bound(&problem, 1, &spent),
        Bound { value: 0.0, kind: BoundKind::Weaker { rows: 700 } }
    );
}

#[test]
fn rows_that_differ_in_sensitive_values_alone_count_together() {
    let text = "age,illness\n20,flu\n20,gout\n30,flu\n30,gout\n50,flu\n50,flu\n";
    let toml = "k = 2\n[columns]\nage = { role = \"quasi\" }\nillness = { role = \"sensitive\", distinct = 2 }\n";
    let problem = testing::problem(text, toml).unwrap();
    assert_eq!(
        (problem.tuples(), bound(&problem, 1, &Budget::unlimited())),
        (5, Bound { value: 0.0, kind: BoundKind::Exact })
    );
}
