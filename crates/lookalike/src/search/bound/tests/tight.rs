//! The sharper bound against enumerations of all sets of k rows, and of all releases of a tiny
//! table.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::super::dual_limit::{DualLimitSearch, DualSpace};
use super::super::index::Index;
use super::super::tight::raised;
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

#[test]
fn the_limit_of_a_group_is_the_dual_value_that_all_sets_of_k_rows_allow() {
    let (mut met, mut many, mut below) = (0, 0, 0);
    for_each_problem(
        50,
        |seed| 8 + seed % 5,
        |problem, what| {
            let chosen: Vec<usize> = (0..problem.attributes().len()).collect();
            let penalty = Penalty::new(problem.attributes(), &chosen);
            let boxes = groups(problem, &penalty);
            let index = Index::build(&boxes, &Budget::unlimited()).unwrap();
            let (all, bounds) = (rows(problem), unlimited(problem));
            let group_of = groups_of_rows(problem);
            let mut rng = Rng::new(met + 7);
            // From low to so high that the widest boxes are the worst.
            let scale = [0.1, 0.5, 1.0, 3.0][usize::try_from(met).unwrap() % 4];
            let mut duals: Vec<f64> =
                (0..boxes.len()).map(|_| rng.unit() * rng.unit() * scale).collect();
            let k = problem.k();
            for group in (0u32..).take(boxes.len()).filter(|&group| boxes.rows(group) < k) {
                let before = std::mem::replace(&mut duals[group as usize], f64::NEG_INFINITY);
                let mut expected = f64::INFINITY;
                for_each_set(
                    all.len(),
                    0,
                    &mut Vec::new(),
                    usize::try_from(k).unwrap(),
                    &mut |set| {
                        let (own, others): (Vec<usize>, Vec<usize>) =
                            set.iter().partition(|&&row| group_of[row] == group as usize);
                        let others: f64 = others.iter().map(|&row| duals[group_of[row]]).sum();
                        if !own.is_empty() {
                            let allowed = (real(k) * set_loss(problem, &all, set) - others)
                                / real(own.len() as u64);
                            expected = expected.min(allowed);
                        }
                    },
                );
                let mut falling: Vec<u32> = (0u32..).take(boxes.len()).collect();
                falling
                    .sort_by(|&one, &other| duals[other as usize].total_cmp(&duals[one as usize]));
                for high in [boxes.len(), 3.min(boxes.len())] {
                    let rest =
                        falling.get(high).map_or(0.0, |&group| duals[group as usize].max(0.0));
                    let (high, patience) = (&falling[..high], PATIENCE);
                    let space = DualSpace {
                        boxes: &boxes,
                        index: &index,
                        k,
                        patience,
                        duals: &duals,
                        high,
                        rest,
                        tolerance: 0.0,
                    };
                    for known in
                        [&bounds.boxes[0], &bounds.boxes[bounds.box_of[group as usize] as usize]]
                    {
                        let found =
                            DualLimitSearch::default().run(&space, group, known, f64::INFINITY);
                        assert!(
                            (found.most - expected).abs() < 1e-9,
                            "{what}, group {group}: {}, not {expected}",
                            found.most
                        );
                        let hasty = DualLimitSearch::default().run(
                            &DualSpace { patience: met % 40, ..space },
                            group,
                            known,
                            f64::INFINITY,
                        );
                        assert!(
                            hasty.most <= expected + 1e-9,
                            "{what}, group {group}: {} above {expected}",
                            hasty.most
                        );
                        below += u32::from(hasty.most < expected - 1e-9);
                    }
                }
                many += u32::from(boxes.rows(group) > 1);
                duals[group as usize] = before;
            }
            met += 1;
        },
    );
    assert!(
        met > 250 && many > 100 && below > 100,
        "{met} problems, {many} groups of several rows, {below} given up"
    );
}

#[test]
fn no_set_of_k_rows_has_greater_dual_values_than_its_loss() {
    let (mut met, mut full) = (0, 0);
    for_each_problem(
        60,
        |seed| 7 + seed % 6,
        |problem, what| {
            let (all, bounds) = (rows(problem), unlimited(problem));
            let group_of = groups_of_rows(problem);
            for (rounds, patience) in
                [(&[3, 2, 1][..], PATIENCE), (&[1], PATIENCE), (&[4, 1], 20), (&[5], PATIENCE)]
            {
                let duals =
                    raised(problem, &bounds, rounds, patience, &Budget::unlimited()).unwrap();
                assert!(
                    duals.iter().zip(&bounds.least).all(|(dual, least)| dual >= least),
                    "{what}"
                );
                for_each_set(
                    all.len(),
                    0,
                    &mut Vec::new(),
                    usize::try_from(problem.k()).unwrap(),
                    &mut |set| {
                        let sum: f64 = set.iter().map(|&row| duals[group_of[row]]).sum();
                        let loss = real(problem.k()) * set_loss(problem, &all, set);
                        assert!(sum <= loss + 1e-12, "{what}, {rounds:?}: {sum} of {loss}");
                        full += u32::from(sum > 0.0 && sum > loss - 1e-9);
                    },
                );
            }
            met += 1;
        },
    );
    assert!(met > 300 && full > 3_000, "{met} problems, {full} sets without slack");
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
            assert!(found.value >= plain.value, "{what}: {} below {}", found.value, plain.value);
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
    let bounds = unlimited(&problem);
    assert!(
        raised(&problem, &bounds, &[1], PATIENCE, &cancelled)
            .is_none_or(|duals| duals == bounds.least)
    );
    let (plain, full) = (bounds.sum().value, tight(&problem, 1, &Budget::unlimited()).value);
    for time in [1, 3, 10, 30, 100] {
        let budget = Budget::new(Some(std::time::Duration::from_millis(time)), Arc::default());
        let duals = raised(&problem, &bounds, &[3, 2, 1], PATIENCE, &budget)
            .unwrap_or_else(|| bounds.least.clone());
        let sum: f64 = duals.iter().zip(&bounds.rows).map(|(dual, &rows)| real(rows) * dual).sum();
        assert!(
            (plain..full + 1e-6).contains(&sum),
            "{sum} after {time} ms, not from {plain} to {full}"
        );
    }
}
