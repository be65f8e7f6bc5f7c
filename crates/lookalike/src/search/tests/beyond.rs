//! The algorithms of our own, refine, peel and auto: against all partitions of tiny tables, and
//! their guarantees on larger ones.

use super::*;

/// The least loss of any partition into classes that satisfy the rules; none when not even all rows
/// together do.
fn least_of_all(problem: &Problem, task: &Task) -> Option<f64> {
    let penalty = Penalty::new(problem.attributes(), task.attributes);
    // One entry a row.
    let rows: Vec<u32> =
        task.pieces.iter().flat_map(|piece| (0..piece.count).map(|_| piece.tuple)).collect();
    let all = 1_usize << rows.len();
    let mut tally = problem.tally();
    let mut loss = |set: usize| {
        let tuples = rows
            .iter()
            .enumerate()
            .filter(|(at, _)| set >> at & 1 == 1)
            .map(|(_, &tuple)| Piece { tuple, count: 1 });
        let pieces: Vec<Piece> = tuples.collect();
        let published: Vec<CodeRange> =
            Block::new(problem, task.attributes, pieces.clone()).ranges();
        tally.clear();
        problem.count_into(&mut tally, &pieces);
        if task.privacy.holds(&tally) {
            real(set.count_ones().into()) * penalty.of_box(&published)
        } else {
            f64::INFINITY
        }
    };
    let losses: Vec<f64> = (0..all).map(|set| if set == 0 { 0.0 } else { loss(set) }).collect();
    let mut least = vec![f64::INFINITY; all];
    least[0] = 0.0;
    for set in 1..all {
        // The class of the last row, and the rest.
        let last = 1 << set.ilog2();
        let others = set ^ last;
        let mut some = others;
        loop {
            least[set] = least[set].min(losses[some | last] + least[others ^ some]);
            if some == 0 {
                break;
            }
            some = (some - 1) & others;
        }
    }
    Some(least[all - 1]).filter(|least| least.is_finite())
}

fn loss(task: &Task, partition: &Partition) -> f64 {
    let penalty = Penalty::new(task.problem.attributes(), task.attributes);
    let row_loss = |class: &[Piece]| {
        penalty.of_box(&Block::new(task.problem, task.attributes, class.to_vec()).ranges())
    };
    partition.iter().map(|class| real(rows(class)) * row_loss(class)).sum()
}

fn tiny(seed: u64, request: &str) -> Option<Problem> {
    let mut rng = Rng::new(seed);
    let rows = 5 + rng.below(6);
    let mut text = "x,y,z,ill\n".to_string();
    for _ in 0..rows {
        let z = ["a", "b", "c"][usize::try_from(rng.below(3)).unwrap()];
        let ill = ["flu", "gout"][usize::try_from(rng.below(2)).unwrap()];
        text += &format!("{},{},{z},{ill}\n", rng.below(9), rng.below(5));
    }
    let columns = "x = { role = \"quasi\" }\ny = { role = \"quasi\" }\nz = { role = \"quasi\" }\n";
    testing::problem(
        &text,
        &format!(
            "rest = \"drop\"\n{request}\n[columns]\n{columns}{}",
            if request.contains("ALPHA") {
                "ill = { role = \"sensitive\", alpha = 0.7 }"
            } else {
                ""
            }
        ),
    )
    .ok()
}

/// The task of the first stage of a problem.
pub(in crate::search) fn task<'a>(
    problem: &'a Problem,
    pieces: &'a [Piece],
    budget: &'a Budget,
    seed: u64,
) -> Task<'a> {
    let stage = &problem.stages_in_order()[0];
    Task {
        problem,
        attributes: &stage.attributes,
        privacy: &stage.privacy,
        pieces,
        seed,
        key: Key::from_seed(seed),
        rounds: 3,
        budget,
        tuning: &TINY,
    }
}

#[test]
fn refine_reaches_the_best_of_all_partitions_of_tiny_tables() {
    let budget = Budget::unlimited();
    for (request, seeds) in [("k = 2", 300), ("k = 3", 200), ("k = 2 # ALPHA", 720)] {
        let (mut cases, mut reached, mut below) = (0, 0, 0);
        for seed in 0..seeds {
            let Some(problem) = tiny(seed, request) else { continue };
            let pieces = problem.pieces_without(&[]);
            let task = task(&problem, &pieces, &budget, seed);
            let Some(least) = least_of_all(&problem, &task) else { continue };
            let start = mondrian::mondrian(&task, mondrian::Ties::Together);
            let found = loss(&task, &refine::refine(&task, &start, Some(300)));
            assert!(
                found >= least - 1e-9,
                "{request}, seed {seed}: {found} is below the least, {least}"
            );
            cases += 1;
            reached += u32::from(found <= least + 1e-9);
            below += u32::from(least < loss(&task, &start) - 1e-9);
        }
        assert!(
            cases >= 200 && below * 2 > cases,
            "{request}: {cases} cases, {below} with something to do"
        );
        assert!(reached * 100 >= cases * 95, "{request}: {reached} of {cases}");
    }
}

#[test]
fn refine_keeps_every_row_and_rule_never_loses_and_does_the_same_on_any_number_of_threads() {
    let mut better = 0;
    for_each_task(40, |task, what| {
        let start = mondrian::mondrian(task, mondrian::Ties::Together);
        let refined = |threads| with_threads(threads, || refine::refine(task, &start, Some(60)));
        let found = refined(1);
        let mut tally = task.problem.tally();
        assert!(found.iter().all(|class| task.holds(&mut tally, class)), "{what}");
        let counts = |partition: &Partition| {
            joined(&mut partition.iter().flatten().copied().collect::<Vec<Piece>>())
                .collect::<Vec<Piece>>()
        };
        assert_eq!(
            counts(&found),
            joined(&mut task.pieces.to_vec()).collect::<Vec<Piece>>(),
            "{what}"
        );
        let (before, after) = (loss(task, &start), loss(task, &found));
        assert!(after <= before + 1e-9, "{what}: {before} became {after}");
        better += u32::from(after < before - 1e-9);
        let groups = |partition: &Partition| sorted(partition.iter().map(<[Piece]>::to_vec));
        assert_eq!(groups(&found), groups(&refined(3)), "{what}");
    });
    assert!(better > 100, "{better}");
}

#[test]
fn auto_loses_no_more_than_any_of_its_starts() {
    let mut less = 0;
    for_each_task(15, |task, what| {
        let found = auto::auto(task, Some(20));
        let mut tally = task.problem.tally();
        assert!(found.iter().all(|class| task.holds(&mut tally, class)), "{what}");
        assert_eq!(found.iter().map(rows).sum::<u64>(), rows(task.pieces), "{what}");
        // A larger table is not solved by all of them.
        if task.pieces.len() <= TINY.small_tuples {
            let starts = [
                peel::peel(task),
                bottom_up::bottom_up(task, Objective::Table),
                top_down::top_down(task, Objective::Table),
                cluster::cluster(&Task { rounds: TINY.cluster_tries, ..*task }),
                mondrian::mondrian(task, mondrian::Ties::Together),
            ];
            let best = starts.iter().map(|start| loss(task, start)).fold(f64::INFINITY, f64::min);
            assert!(loss(task, &found) <= best + 1e-9, "{what}");
            less += u32::from(loss(task, &found) < best - 1e-9);
        }
    });
    assert!(less > 5, "{less}");
}

#[test]
fn auto_cuts_a_large_table_into_cells_and_is_below_mondrian() {
    let problem = testing::problem(&testing::random_table(5, 600), REQUESTS[0]).unwrap();
    let (budget, pieces) = (Budget::unlimited(), problem.pieces_without(&[]));
    let task = task(&problem, &pieces, &budget, 1);
    assert!(pieces.len() > 200, "{}", pieces.len());
    let found = auto::auto(&task, Some(0));
    assert!(
        loss(&task, &found)
            < 0.8 * loss(&task, &mondrian::mondrian(&task, mondrian::Ties::Together))
    );
}

#[test]
fn peel_takes_what_is_dense_and_leaves_outliers_to_each_other() {
    // Two towns with three equal rows each, and three outliers that have only each other.
    let text = "x,town\n1,A\n1,A\n1,A\n50,B\n50,B\n50,B\n20,C\n22,D\n24,E\n";
    let problem = testing::problem(
        text,
        "k = 3\n[columns]\nx = { role = \"quasi\" }\ntown = { role = \"quasi\" }",
    )
    .unwrap();
    let (budget, pieces) = (Budget::unlimited(), problem.pieces_without(&[]));
    let task = task(&problem, &pieces, &budget, 1);
    let mut sizes: Vec<(usize, u64)> =
        peel::peel(&task).iter().map(|class| (class.len(), rows(class))).collect();
    sizes.sort_unstable();
    assert_eq!(sizes, [(1, 3), (1, 3), (3, 3)]);
}

#[test]
fn peel_holds_every_rule_and_has_every_row_with_patterns_listed_or_drawn() {
    let wide = |rows: u64| {
        let mut rng = Rng::new(rows);
        let names: Vec<String> = (0..9).map(|at| format!("c{at}")).collect();
        let mut text = names.join(",") + "\n";
        for _ in 0..rows {
            text += &(names
                .iter()
                .map(|_| rng.below(3).min(rng.below(3)).to_string())
                .collect::<Vec<_>>()
                .join(",")
                + "\n");
        }
        let columns: String = names
            .iter()
            .map(|name| format!("{name} = {{ role = \"quasi\", kind = \"categorical\" }}\n"))
            .collect();
        testing::problem(&text, &format!("k = 4\n[columns]\n{columns}")).unwrap()
    };
    // Nine columns have 512 patterns: with the tiny numbers that is too many to list.
    let (problem, budget) = (wide(300), Budget::unlimited());
    let pieces = problem.pieces_without(&[]);
    let drawn = task(&problem, &pieces, &budget, 1);
    let found = peel::peel(&drawn);
    assert!(
        found.iter().all(|class| rows(class) >= 4) && found.iter().map(rows).sum::<u64>() == 300
    );
    assert!(
        loss(&drawn, &found) < loss(&drawn, &mondrian::mondrian(&drawn, mondrian::Ties::Together))
    );
    for_each_task(30, |task, what| {
        let found = peel::peel(task);
        let mut tally = task.problem.tally();
        assert!(found.iter().all(|class| task.holds(&mut tally, class)), "{what}");
        assert_eq!(found.iter().map(rows).sum::<u64>(), rows(task.pieces), "{what}");
    });
}

#[test]
fn auto_in_stages_loses_no_more_than_any_other_in_stages() {
    let mut less = 0;
    for seed in 0..60 {
        let request = "k = 2\nrules = [{ k = 4, columns = [\"y\"] }]";
        let Some(problem) = tiny(seed, request) else { continue };
        assert_eq!(problem.stages_in_order().len(), 2);
        let (pieces, budget) = (problem.pieces_without(&[]), Budget::unlimited());
        let loss = |algorithm: Algorithm| -> f64 {
            let search = SearchOptions { steps: Some(50), ..options(algorithm, seed) };
            let groups = run(&problem, search, &pieces, &budget);
            let penalty = Penalty::new(problem.attributes(), &[0, 1, 2]);
            let boxes = groups.ranges.chunks_exact(3).zip(groups.partition.iter());
            boxes.map(|(ranges, class)| real(rows(class)) * penalty.of_box(ranges)).sum()
        };
        let best = STAGED.into_iter().map(loss).fold(f64::INFINITY, f64::min);
        let found = loss(Algorithm::Auto);
        assert!(found <= best + 1e-9, "seed {seed}: {found} and {best}");
        less += u32::from(found < best - 1e-9);
    }
    assert!(less > 0);
}
