//! Claims of the papers, on their own examples and on tables made in the same way.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lookalike::audit::{AuditView, audit_against};
use lookalike::evaluate::loss::loss;
use lookalike::evaluate::query::{Workload, answer, draw, summarize};
use lookalike::problem::partition::{Partition, Piece};
use lookalike::problem::recoding::Recoding;
use lookalike::rng::Rng;
use lookalike::{Algorithm, Budget, Problem, Request, SearchOptions, problem, solve, table};

use crate::support::{publish, read};

fn problem(folder: &Path, text: &str, toml: &str) -> Problem {
    let path = folder.join("table.csv");
    std::fs::write(&path, text).unwrap();
    let request = Request::parse(toml).unwrap();
    let source = table::open(&path, None).unwrap();
    let roles = request.roles(source.names()).unwrap();
    let treatments = problem::treatments(source.names(), &roles);
    Problem::new(&source.read(&treatments).unwrap(), &roles, &request).unwrap()
}

const GREEDY: [Algorithm; 4] =
    [Algorithm::BottomUp, Algorithm::BottomUpRow, Algorithm::TopDown, Algorithm::TopDownRow];

/// The classes as lists of rows.
fn classes(problem: &Problem, recoding: &Recoding) -> Vec<Vec<u32>> {
    let rows = |class: &[Piece]| {
        let mut rows: Vec<u32> =
            class.iter().flat_map(|piece| problem.rows_of(piece.tuple)).copied().collect();
        rows.sort_unstable();
        rows
    };
    let mut all: Vec<Vec<u32>> = recoding.classes().iter().map(rows).collect();
    all.sort();
    all
}

/// Xu et al., examples 1 and 4: the weights make the penalty the length of the intervals.
#[test]
fn six_points_are_two_groups_of_three_although_k_is_2() {
    let folder = tempfile::tempdir().unwrap();
    let text = "x,y\n10,60\n20,70\n20,50\n50,20\n50,10\n60,15\n";
    let toml = "k = 2\ncolumns.x = { role = \"quasi\", weight = 50 }\ncolumns.y = { role = \
        \"quasi\", weight = 60 }\n";
    let problem = problem(folder.path(), text, toml);
    for algorithm in GREEDY {
        for seed in 0..20 {
            let recoding =
                solve(&problem, SearchOptions::new(algorithm, seed), &Budget::unlimited()).recoding;
            let total = loss(&problem, &recoding).ncp;
            if algorithm == Algorithm::BottomUp || algorithm == Algorithm::BottomUpRow {
                assert_eq!(
                    classes(&problem, &recoding),
                    [[0, 1, 2], [3, 4, 5]],
                    "{algorithm}, seed {seed}"
                );
            }
            assert!(total < 150.0 + 1e-9, "{algorithm}, seed {seed}: {total}");
        }
    }
}

/// Xu et al., figure 1, with the lengths of the intervals as penalty, as their text counts them.
/// (Over the ranges of the columns, as their definition has it, the paper's local recoding loses
/// more than its global one: 7.5 against 6.375.)
#[test]
fn local_recoding_loses_less_than_global_recoding_on_the_paper_s_table() {
    let folder = tempfile::tempdir().unwrap();
    let text = "age,zip\n24,53712\n25,53711\n30,53711\n30,53711\n32,53712\n32,53713\n";
    let penalty_of = |weights: [u32; 2], groups: &[&[(u32, u32)]]| {
        let toml = format!(
            "k = 3\n[columns]\nage = {{ role = \"quasi\", weight = {} }}\nzip = {{ role = \
             \"quasi\", kind = \"numeric\", weight = {} }}\n",
            weights[0], weights[1]
        );
        let problem = problem(folder.path(), text, &toml);
        let tuple =
            |row: u32| (0u32..).find(|&tuple| problem.rows_of(tuple).contains(&row)).unwrap();
        let mut partition = Partition::default();
        for group in groups {
            partition.push(group.iter().map(|&(row, count)| Piece { tuple: tuple(row), count }));
        }
        let given = loss(&problem, &Recoding::of(&problem, &partition, Vec::new())).ncp;
        (problem, given)
    };
    // Rows are counted from 0; rows 2 and 3 are equal, and the local recoding separates them.
    let global: &[&[(u32, u32)]] = &[&[(0, 1), (4, 1), (5, 1)], &[(1, 1), (2, 2)]];
    let local: &[&[(u32, u32)]] = &[&[(0, 1), (1, 1), (2, 1)], &[(2, 1), (4, 1), (5, 1)]];
    let (problem, of_global) = penalty_of([8, 2], global);
    assert!((of_global - 42.0).abs() < 1e-9 && (penalty_of([8, 2], local).1 - 33.0).abs() < 1e-9);
    // The top-down method cannot do this with six rows: it separates equal rows only in a transfer
    // from a donor to an undersized group, and here no group can be a donor.
    for seed in 0..20 {
        let found =
            solve(&problem, SearchOptions::new(Algorithm::BottomUp, seed), &Budget::unlimited())
                .recoding;
        assert!(loss(&problem, &found).ncp < of_global, "seed {seed}");
    }
    assert!(
        (penalty_of([1, 1], global).1 - 6.375).abs() < 1e-9
            && (penalty_of([1, 1], local).1 - 7.5).abs() < 1e-9
    );
}

/// Wong et al. 2006, table 1: six patients. Only parts of it are in our copy; the rest is
/// chosen so that tables 2 and 3 follow.
const PATIENTS: &str = "job,birth,postcode,illness\nCat1,1975,4350,HIV\nCat1,1955,4350,HIV\n\
    Cat1,1955,5432,flu\n\
                        Cat2,1955,5432,fever\nCat2,1975,4350,flu\nCat2,1975,4350,fever\n";

/// The same, table 2: tuples 1 and 2 are a class, and both patients have HIV.
const TWO_ANONYMOUS: &str = "job,birth,postcode,illness\nCat1,*,4350,HIV\nCat1,*,4350,HIV\n\
    *,1955,5432,flu\n*,1955,5432,fever\n\
                             Cat2,1975,4350,flu\nCat2,1975,4350,fever\n";

/// The same, table 3: (*, 1975, 4350) is with HIV and fever, (*, *, 4350) with HIV and flu.
const HALF_DEASSOCIATED: &str = "job,birth,postcode,illness\n*,1975,4350,HIV\n*,*,4350,HIV\n\
    *,1955,5432,flu\n*,1955,5432,fever\n\
                                 *,*,4350,flu\n*,1975,4350,fever\n";

fn patients_config(rule: &str) -> Request {
    let quasi = "{ role = \"quasi\", kind = \"categorical\" }";
    let sensitive = format!("{{ role = \"sensitive\"{rule} }}");
    Request::parse(&format!(
        "k = 2\n[columns]\njob = {quasi}\nbirth = {quasi}\npostcode = \
        {quasi}\nillness = {sensitive}\n"
    ))
    .unwrap()
}

const HALF_ON_HIV: &str = ", alpha = 0.5, values = [\"HIV\"]";

#[test]
fn a_class_of_two_patients_with_hiv_passes_k_but_not_alpha() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let source = at("table1.csv", PATIENTS);
    let audited = |view: &Path, rule: &str| {
        let request = patients_config(rule);
        let released = read(view, &request, AuditView::ReleaseAgainstSource).unwrap();
        audit_against(&released, &read(&source, &request, AuditView::Source).unwrap(), &request)
            .unwrap()
    };
    let (second, third) = (at("table2.csv", TWO_ANONYMOUS), at("table3.csv", HALF_DEASSOCIATED));
    assert!(audited(&second, "").holds());
    let verdict = audited(&second, HALF_ON_HIV);
    assert!(!verdict.holds());
    let broken: Vec<(u64, u64)> =
        verdict.rules.iter().map(|rule| (rule.violations, rule.rows)).collect();
    assert_eq!(broken, [(0, 0), (1, 2)], "k holds, alpha fails on one class of two");
    // Table 3 also satisfies alpha on the whole column, the paper's general model.
    assert!(audited(&third, HALF_ON_HIV).holds() && audited(&third, ", alpha = 0.5").holds());
    assert_eq!(audited(&third, "").measures.classes, 3);
}

#[test]
fn every_algorithm_finds_a_view_in_which_at_most_half_of_a_class_has_hiv() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("table1.csv");
    std::fs::write(&input, PATIENTS).unwrap();
    let request = patients_config(HALF_ON_HIV);
    for algorithm in Algorithm::homogeneous() {
        for seed in 0..10 {
            let done = publish(&input, &folder.path().join("view.csv"), &request, algorithm, seed)
                .unwrap();
            assert!(done.verdict.holds(), "{algorithm}, seed {seed}: {:?}", done.verdict);
            let text = String::from_utf8(done.bytes).unwrap();
            let mut classes: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
            for line in text.lines().skip(1) {
                let (shown, illness) = line.rsplit_once(',').unwrap();
                classes.entry(shown).or_default().push(illness);
            }
            for ill in classes.values() {
                let hiv = ill.iter().filter(|&&illness| illness == "HIV").count();
                assert!(ill.len() >= 2 && hiv * 2 <= ill.len(), "{algorithm}, seed {seed}: {text}");
            }
        }
    }
}

/// Uniform whole numbers from 1 to 16 in four columns.
fn uniform(folder: &Path, seed: u64, rows: usize) -> PathBuf {
    let mut rng = Rng::new(seed);
    let mut text = "a1,a2,a3,a4\n".to_string();
    for _ in 0..rows {
        let cells: Vec<String> = (0..4).map(|_| (1 + rng.below(16)).to_string()).collect();
        text += &(cells.join(",") + "\n");
    }
    let path = folder.join("uniform.csv");
    std::fs::write(&path, text).unwrap();
    path
}

/// Xu et al., figure 19 of the extended version: with weights 8, 4, 2, 1 queries on the heavy
/// columns are answered better.
#[test]
fn weights_improve_queries_on_the_heavy_columns() {
    let folder = tempfile::tempdir().unwrap();
    let input = uniform(folder.path(), 19, 10_000);
    let request = |weights: [u32; 4]| {
        let column = |(at, weight): (usize, &u32)| {
            format!("a{} = {{ role = \"quasi\", kind = \"numeric\", weight = {weight} }}\n", at + 1)
        };
        Request::parse(&format!(
            "k = 10\n[columns]\n{}",
            weights.iter().enumerate().map(column).collect::<String>()
        ))
        .unwrap()
    };
    let equal = request([1; 4]);
    let source = read(&input, &equal, AuditView::Source).unwrap();
    let error = |release: &Path, on: &[&str]| {
        let workload = Workload {
            queries: 400,
            seed: 5,
            sum: None,
            on: on.iter().map(ToString::to_string).collect(),
            conditions: None,
        };
        let queries = draw(&source, &equal, &workload).unwrap();
        let released = read(release, &equal, AuditView::ReleaseAgainstSource).unwrap();
        summarize(&answer(&source, &released, &equal, &queries).unwrap()).mean_error.unwrap()
    };
    for algorithm in [Algorithm::BottomUp, Algorithm::TopDown] {
        let (plain, weighted) =
            (folder.path().join("plain.csv"), folder.path().join("weighted.csv"));
        publish(&input, &plain, &equal, algorithm, 1).unwrap();
        publish(&input, &weighted, &request([8, 4, 2, 1]), algorithm, 1).unwrap();
        for (on, most) in [(&["a1"][..], 0.5), (&["a1", "a2"], 0.8), (&["a1", "a2", "a3"], 0.95)] {
            let (without, with) = (error(&plain, on), error(&weighted, on));
            eprintln!(
                "{algorithm}, queries on {on:?}: error {without:.4} with equal weights, {with:.4} \
                 with 8, 4, 2, 1"
            );
            assert!(with < most * without, "{algorithm}, {on:?}: {with} against {without}");
        }
    }
}

/// He et al., tables 1 and 2. Their tries lead from one random pair of rows to one local optimum;
/// that of their table is found from most pairs, and never a worse one than its runner-up, {Andy,
/// Jane}, {Bob, Alex}.
#[test]
fn clustering_makes_the_three_groups_of_the_paper_from_most_seeds() {
    let folder = tempfile::tempdir().unwrap();
    let text = "age,zip\n20,25\n20,30\n30,25\n40,30\n50,10\n60,5\n60,10\n";
    let toml = "k = 2\ncolumns.age = { role = \"quasi\" }\ncolumns.zip = { role = \"quasi\" }\n";
    let problem = problem(folder.path(), text, toml);
    let found: Vec<Vec<Vec<u32>>> = (0..100)
        .map(|seed| {
            let outcome =
                solve(&problem, SearchOptions::new(Algorithm::Cluster, seed), &Budget::unlimited());
            classes(&problem, &outcome.recoding)
        })
        .collect();
    let as_printed =
        found.iter().filter(|classes| **classes == [vec![0, 1], vec![2, 3], vec![4, 5, 6]]).count();
    let runner_up =
        found.iter().filter(|classes| **classes == [vec![0, 2], vec![1, 3], vec![4, 5, 6]]).count();
    assert!(
        as_printed > 60 && as_printed + runner_up == 100,
        "{as_printed} as printed, {runner_up} the runner-up"
    );
}
