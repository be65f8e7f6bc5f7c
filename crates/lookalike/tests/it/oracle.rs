//! Brute force over all ways to group up to seven rows.

use lookalike::evaluate::loss::loss;
use lookalike::problem::partition::{Partition, Piece};
use lookalike::problem::recoding::Recoding;
use lookalike::table::Treatment;
use lookalike::{Algorithm, Budget, Problem, Request, SearchOptions, solve, table};

use crate::support::tiny;

/// All partitions of `rows` rows, as the group of each row.
fn partitions(rows: usize) -> Vec<Vec<usize>> {
    let mut all = vec![vec![]];
    for _ in 0..rows {
        all = all
            .into_iter()
            .flat_map(|groups: Vec<usize>| {
                let next = groups.iter().max().map_or(0, |most| most + 1);
                (0..=next).map(move |group| groups.iter().copied().chain([group]).collect())
            })
            .collect();
    }
    all
}

#[test]
fn no_heuristic_beats_the_best_of_all_partitions_and_refusals_are_right() {
    let folder = tempfile::tempdir().unwrap();
    let (mut solved, mut refused) = (0, 0);
    for seed in 0..25 {
        let rows = 4 + seed % 4;
        let input = tiny(folder.path(), seed, rows);
        let ill: Vec<bool> = std::fs::read_to_string(&input)
            .unwrap()
            .lines()
            .skip(1)
            .map(|line| line.ends_with("flu"))
            .collect();
        for (k, l) in [(2, 1), (3, 1), (2, 2)] {
            let holds = |group: &[usize]| {
                let flus = group.iter().filter(|&&row| ill[row]).count();
                group.len() >= k && flus.max(group.len() - flus) * l <= group.len()
            };
            let groupings: Vec<Vec<Vec<usize>>> = partitions(ill.len())
                .iter()
                .map(|groups| {
                    let count = groups.iter().max().unwrap() + 1;
                    (0..count)
                        .map(|group| (0..ill.len()).filter(|&row| groups[row] == group).collect())
                        .collect()
                })
                .filter(|groups: &Vec<Vec<usize>>| groups.iter().all(|group| holds(group)))
                .collect();
            let request = Request::parse(&format!(
                "k = {k}\n[columns]\nage = {{ role = \"quasi\" }}\npay = {{ role = \"quasi\" }}\n\
                 town = {{ role = \"quasi\" }}\n\
                 ill = {{ role = \"sensitive\", l = {l} }}\n"
            ))
            .unwrap();
            let source = table::open(&input, None).unwrap();
            let roles = request.roles(source.names()).unwrap();
            let table = source.read(&[Treatment::CodeAndPassThrough; 4]).unwrap();
            let problem = match Problem::new(&table, &roles, &request) {
                Err(error) => {
                    assert!(error.is_infeasible() && groupings.is_empty(), "{error}");
                    refused += 1;
                    continue;
                }
                Ok(problem) => problem,
            };
            let tuple = |row: usize| {
                let has =
                    |tuple: &u32| problem.rows_of(*tuple).contains(&u32::try_from(row).unwrap());
                (0u32..).take(problem.tuples()).find(has).unwrap()
            };
            let cost = |groups: &Vec<Vec<usize>>| {
                let mut partition = Partition::default();
                groups.iter().for_each(|group| {
                    partition.push(group.iter().map(|&row| Piece { tuple: tuple(row), count: 1 }))
                });
                loss(&problem, &Recoding::of(&problem, &partition, Vec::new())).ncp
            };
            let best = groupings.iter().map(cost).fold(f64::INFINITY, f64::min);
            assert!(best.is_finite(), "the door let an unsolvable problem in");
            for algorithm in Algorithm::homogeneous() {
                let found = loss(
                    &problem,
                    &solve(&problem, SearchOptions::new(algorithm, 1), &Budget::unlimited())
                        .recoding,
                )
                .ncp;
                assert!(found >= best - 1e-9, "{algorithm} claims {found}, the best is {best}");
            }
            solved += 1;
        }
    }
    assert!(solved > 30 && refused > 3, "{solved} solved, {refused} refused");
}
