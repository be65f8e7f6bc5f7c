//! The sharper bound against enumerations of all sets of k rows, and of all releases of a tiny
//! table.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::super::cell_scan::{CellSpace, scan, total};
use super::super::space::{cell_space, resolutions};
use super::super::tight::dual_values;
use super::*;

/// Every choice of so many of the rows from one on.
fn for_each_set(
    rows: usize,
    from: usize,
    set: &mut Vec<usize>,
    size: usize,
    check: &mut impl FnMut(&[usize]),
) {
    if set.len() == size {
        return check(set);
    }
    for row in from..rows {
        set.push(row);
        for_each_set(rows, row + 1, set, size, check);
        set.pop();
    }
}

/// The loss of a row of a set.
fn set_loss(problem: &Problem, all: &[Vec<Code>], set: &[usize]) -> f64 {
    let range = |at: usize| {
        let codes = || set.iter().map(|&row| all[row][at]);
        CodeRange { lo: codes().min().unwrap(), hi: codes().max().unwrap() }
    };
    box_loss(problem, &(0..problem.attributes().len()).map(range).collect::<Vec<_>>())
}

/// The group of every row, in the order of [`rows`].
fn groups_of_rows(problem: &Problem) -> Vec<usize> {
    (0u32..)
        .zip(group_of(problem))
        .flat_map(|(tuple, group)| vec![group; problem.count(tuple) as usize])
        .collect()
}

/// The finest cells of a problem.
fn finest(problem: &Problem) -> CellSpace {
    let chosen: Vec<usize> = (0..problem.attributes().len()).collect();
    let penalty = Penalty::new(problem.attributes(), &chosen);
    let bins = *resolutions(problem, &penalty).last().unwrap();
    cell_space(problem, &penalty, bins).unwrap()
}

/// The greatest sum of dual values of k rows over k times their loss, of all sets of k rows.
fn greatest_excess(problem: &Problem, duals: &[f64]) -> f64 {
    let (all, group_of) = (rows(problem), groups_of_rows(problem));
    let k = usize::try_from(problem.k()).unwrap();
    let mut most = f64::NEG_INFINITY;
    for_each_set(all.len(), 0, &mut Vec::new(), k, &mut |set| {
        let sum: f64 = set.iter().map(|&row| duals[group_of[row]]).sum();
        most = most.max(sum - real(problem.k()) * set_loss(problem, &all, set));
    });
    most
}

#[test]
fn scaled_dual_values_are_feasible_whatever_they_were_and_one_scale_is_tight() {
    let (mut met, mut scaled) = (0, 0);
    for_each_problem(
        50,
        |seed| 8 + seed % 5,
        |problem, what| {
            let space = finest(problem);
            let mut rng = Rng::new(met + 7);
            // From low to so high that the widest cells are violated.
            let high = [0.1, 0.5, 1.0, 3.0][usize::try_from(met).unwrap() % 4];
            let duals: Vec<f64> =
                space.rows.iter().map(|_| rng.unit() * rng.unit() * high).collect();
            let found = scan(&space, &duals, 4.0, 1.5, &Budget::unlimited()).unwrap();
            let after: Vec<f64> =
                duals.iter().zip(&found.scale).map(|(dual, scale)| dual * scale.min(1.0)).collect();
            let excess = greatest_excess(problem, &after);
            assert!(excess <= 1e-9, "{what}: {excess} too much");
            // The cell of the least scale is met exactly: nothing was scaled more than needed there.
            let least = found.scale.iter().copied().fold(f64::INFINITY, f64::min);
            if least < 1.0 {
                let uniform: Vec<f64> = duals.iter().map(|dual| dual * least).collect();
                assert!(greatest_excess(problem, &uniform).abs() < 1e-9, "{what}");
                scaled += 1;
            }
            assert!(found.scale.iter().all(|&scale| scale >= least));
            met += 1;
        },
    );
    assert!(met > 250 && scaled > 100, "{met} problems, {scaled} scaled");
}

#[test]
fn no_set_of_k_rows_has_greater_dual_values_than_its_loss() {
    let (mut met, mut full) = (0, 0);
    for_each_problem(
        60,
        |seed| 7 + seed % 6,
        |problem, what| {
            let (duals, value) = dual_values(problem, &Budget::unlimited()).unwrap();
            let excess = greatest_excess(problem, &duals);
            assert!(excess <= 1e-9, "{what}: {excess} too much");
            let sum = total(&finest(problem), duals.iter().copied());
            assert!((sum - value).abs() < 1e-9, "{what}: {value} is not {sum}");
            full += u32::from(value > 0.0 && excess > -1e-6);
            met += 1;
        },
    );
    assert!(met > 300 && full > 200, "{met} problems, {full} with a set without slack");
}

/// The least penalty of all partitions of the rows into classes that satisfy the rules.
fn best_ruled(problem: &Problem) -> f64 {
    fn place(problem: &Problem, rest: &[u32], classes: &mut Vec<Vec<u32>>) -> f64 {
        use crate::problem::partition::Piece;
        let Some((&row, rest)) = rest.split_first() else {
            let privacy = &problem.stages_in_order()[0].privacy;
            let mut loss = 0.0;
            for class in classes.iter() {
                let pieces: Vec<Piece> =
                    class.iter().map(|&tuple| Piece { tuple, count: 1 }).collect();
                let mut tally = problem.tally();
                problem.count_into(&mut tally, &pieces);
                if !privacy.holds(&tally) {
                    return f64::INFINITY;
                }
                loss += real(class.len() as u64) * box_loss(problem, &problem.ranges(&pieces));
            }
            return loss;
        };
        let mut best = f64::INFINITY;
        for at in 0..=classes.len() {
            if at == classes.len() {
                classes.push(Vec::new());
            }
            classes[at].push(row);
            best = best.min(place(problem, rest, classes));
            classes[at].pop();
            if classes[at].is_empty() {
                classes.pop();
            }
        }
        best
    }
    let all: Vec<u32> = (0u32..)
        .take(problem.tuples())
        .flat_map(|tuple| vec![tuple; problem.count(tuple) as usize])
        .collect();
    place(problem, &all, &mut Vec::new())
}

#[test]
fn under_a_rule_on_shares_no_release_goes_below_the_bound_which_knows_the_rule() {
    let rules = ["l = 2", "alpha = 0.6", "alpha = 0.4, values = [\"flu\", \"gout\"]", "l = 3"];
    let (mut met, mut higher) = (0, 0);
    for seed in 0..320 {
        let text = testing::random_table(seed, 5 + seed % 3);
        let rule = rules[usize::try_from(seed).unwrap() % rules.len()];
        let toml = |rule: &str| {
            format!(
                "k = {}\nrest = \"drop\"\n[columns]\nage = {{ role = \"quasi\" }}\ncity = {{ role = \"quasi\" }}\n\
                 illness = {{ role = \"sensitive\"{rule} }}\n",
                1 + seed % 3
            )
        };
        let Ok(ruled) = testing::problem(&text, &toml(&format!(", {rule}"))) else { continue };
        let plain = testing::problem(&text, &toml("")).unwrap();
        let best = best_ruled(&ruled);
        let found = tight(&ruled, 1, &Budget::unlimited()).value;
        assert!(found <= best + 1e-9, "table {seed}, {rule}: {found} above {best}");
        let without = tight(&plain, 1, &Budget::unlimited()).value;
        met += 1;
        higher += u32::from(found > 1.01 * without + 0.01);
    }
    assert!(met > 60 && higher > 40, "{met} tables, {higher} where the rule raises the bound");
}

#[test]
fn no_release_of_a_tiny_table_goes_below_the_sharper_bound() {
    let (mut met, mut sharper, mut attained) = (0, 0, 0);
    for_each_problem(
        60,
        |seed| 3 + seed % 5,
        |problem, what| {
            let (plain, found) =
                (bound(problem, 1, &Budget::unlimited()), tight(problem, 1, &Budget::unlimited()));
            let best = best_release(problem, &rows(problem));
            assert!(found.value <= best + 1e-12, "{what}: {} above {best}", found.value);
            let least = plain.value * (1.0 - 1e-9);
            assert!(found.value >= least, "{what}: {} below {}", found.value, plain.value);
            met += 1;
            sharper += u32::from(found.value > plain.value + 0.01);
            attained += u32::from(found.value > 0.1 && best - found.value < 1e-9);
        },
    );
    assert!(
        met > 250 && sharper > 100 && attained > 80,
        "{met} tables, {sharper} sharper, {attained} attained"
    );
}

#[test]
fn a_suppressed_row_loses_its_dual_value_or_more() {
    let mut above = 0;
    for seed in 0..60 {
        let text = testing::random_table(seed, 5 + seed % 3);
        let toml = |limits: &str| {
            format!(
                "k = {}\nrest = \"drop\"\n{limits}[columns]\n{}",
                2 + seed % 3,
                REQUESTS[usize::try_from(seed).unwrap() % 7]
            )
        };
        let (Ok(with), Ok(without)) = (
            testing::problem(&text, &toml("[limits]\nsuppress = \"40%\"\n")),
            testing::problem(&text, &toml("")),
        ) else {
            continue;
        };
        let best = best_release(&with, &rows(&with));
        let found = tight(&with, 1, &Budget::unlimited()).value;
        assert!(
            with.allowance() > 0 && found <= best + 1e-12,
            "table {seed}: {found} above {best}"
        );
        above += u32::from(tight(&without, 1, &Budget::unlimited()).value > best + 1e-9);
    }
    assert!(above > 3, "only {above} tables where suppression helps");
}

#[test]
fn threads_do_not_change_the_sharper_bound() {
    for (at, request) in REQUESTS.iter().enumerate() {
        let problem = problem_of(&testing::random_table(4, 300), request, 6).unwrap();
        let of =
            |threads: usize| with_threads(threads, || tight(&problem, 5, &Budget::unlimited()));
        let (one, two) = (of(1), of(2));
        assert_eq!(
            (one.value.to_bits(), one.kind),
            (two.value.to_bits(), two.kind),
            "request {at}"
        );
        let plain = bound(&problem, 5, &Budget::unlimited()).value;
        assert!(
            one.value > 1.01 * plain || plain < 1e-9,
            "request {at}: {} for {plain}",
            one.value
        );
    }
}

#[test]
fn what_is_stopped_has_what_was_reached() {
    let problem = problem_of(&testing::random_table(4, 700), REQUESTS[0], 6).unwrap();
    let cancelled = Budget::new(None, Arc::new(AtomicBool::new(true)));
    assert_eq!(
        tight(&problem, 1, &cancelled),
        Bound { value: 0.0, kind: BoundKind::Weaker { rows: 700 } }
    );
    let full = tight(&problem, 1, &Budget::unlimited()).value;
    for time in [1, 3, 10, 30, 100] {
        let budget = Budget::new(Some(std::time::Duration::from_millis(time)), Arc::default());
        let reached = tight(&problem, 1, &budget).value;
        assert!((0.0..full + 1e-6).contains(&reached), "{reached} after {time} ms, above {full}");
    }
}
