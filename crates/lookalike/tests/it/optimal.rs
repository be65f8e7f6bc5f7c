//! Adult in the configuration of Li and Li 2008: every optimum is proven, and a scheme that
//! contains another has no greater loss.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;
use std::path::Path;

use lookalike::domain::scheme::Scheme;
use lookalike::problem::treatments;
use lookalike::search::global::Cost;
use lookalike::table::{Coded, Treatment};
use lookalike::{Algorithm, Budget, Problem, Request, SearchOptions, Status, solve, table};

use crate::support::{EIGHT, real_tables};

const COLUMNS: [&str; 4] = ["age", "marital-status", "race", "sex"];

/// Adult with ages in intervals of five years, and the hierarchy above these intervals.
fn prepare(data: &Path, folder: &Path) {
    let lines = std::fs::read_to_string(data.join("hierarchies/adult-optimal/age.csv")).unwrap();
    let mut above: Vec<&str> = lines.lines().map(|line| line.split_once(';').unwrap().1).collect();
    above.dedup();
    std::fs::write(folder.join("age.csv"), above.join("\n")).unwrap();
    let interval = |age: &str| {
        let of = |line: &&str| line.split(';').next() == Some(age);
        lines.lines().find(of).unwrap().split(';').nth(1).unwrap().to_string()
    };
    let source = table::open(&data.join("adult_30162.csv.zst"), None).unwrap();
    let how = |name: &String| {
        if COLUMNS.contains(&name.as_str()) { Treatment::Code } else { Treatment::Skip }
    };
    let how: Vec<Treatment> = source.names().iter().map(how).collect();
    let table = source.read(&how).unwrap();
    let columns: Vec<&Coded> =
        COLUMNS.iter().map(|name| table.column(name).unwrap().coded.as_ref().unwrap()).collect();
    let ages: Vec<String> =
        columns[0].values().iter().map(|age| interval(age.as_ref().unwrap())).collect();
    let mut text = COLUMNS.join(",") + "\n";
    for row in 0..table.rows() {
        let cell =
            |column: &&Coded| column.values()[column.codes().get(row) as usize].clone().unwrap();
        let rest: Vec<String> = columns[1..].iter().map(cell).collect();
        writeln!(text, "{},{}", ages[columns[0].codes().get(row) as usize], rest.join(","))
            .unwrap();
    }
    std::fs::write(folder.join("adult.csv"), text).unwrap();
}

fn request(data: &Path, folder: &Path, scheme: Scheme, k: u64) -> Request {
    let line = |name: &&str| {
        let file = if *name == "age" {
            folder.join("age.csv")
        } else {
            data.join(format!("hierarchies/adult/{name}.csv"))
        };
        // Ages are ordered: sets of them are intervals.
        let own = if *name == "age" { scheme.on_a_line() } else { scheme };
        format!(
            "{name} = {{ role = \"quasi\", kind = \"categorical\", hierarchy = '{}', scheme = \
             \"{own}\" }}\n",
            file.display()
        )
    };
    let columns: String = COLUMNS.iter().map(line).collect();
    Request::parse(&format!("k = {k}\n[limits]\nsuppress = \"99.99%\"\n[columns]\n{columns}"))
        .unwrap()
}

#[test]
fn more_freedom_never_loses_more_at_the_optimum() {
    let Some(data) = real_tables() else { return };
    let folder = tempfile::tempdir().unwrap();
    prepare(&data, folder.path());
    let source = folder.path().join("adult.csv");
    for k in [2, 5, 10, 50, 100] {
        for cost in [Cost::Dm, Cost::Hdm] {
            let value = |scheme: Scheme| {
                let request = request(&data, folder.path(), scheme, k);
                let opened = table::open(&source, None).unwrap();
                let roles = request.roles(opened.names()).unwrap();
                let how = treatments(opened.names(), &roles);
                let problem = Problem::new(&opened.read(&how).unwrap(), &roles, &request).unwrap();
                let outcome = solve(
                    &problem,
                    SearchOptions { cost, ..SearchOptions::new(Algorithm::Optimal, 1) },
                    &Budget::unlimited(),
                );
                assert_eq!(outcome.status, Status::Optimal, "{scheme} {cost} {k}");
                let found = outcome.optimum.unwrap();
                let loss = lookalike::evaluate::loss::loss(&problem, &outcome.recoding);
                let measured = if cost == Cost::Dm {
                    loss.c_dm.to_string().parse().unwrap()
                } else {
                    loss.hdm
                };
                assert!(
                    (found.value - measured).abs() <= 1e-9 * measured,
                    "{scheme} {cost} {k}: {} {measured}",
                    found.value
                );
                found.value
            };
            let [bhs, ghs, gops, ops, gsps, sps] = Scheme::ALL.map(value);
            eprintln!("k = {k}, {cost}: {bhs} {ghs} {gops} {ops} {gsps} {sps}");
            for (one, other) in
                [(bhs, ghs), (ghs, gops), (gops, ops), (ops, sps), (gops, gsps), (gsps, sps)]
            {
                assert!(one >= other * (1.0 - 1e-9), "k = {k}, {cost}: {one} before {other}");
            }
        }
    }
}

/// Every node of the lattice, each from the distinct rows, with the hierarchy files read anew.
#[test]
fn incognito_finds_the_minimal_nodes_of_adult_that_trying_all_6480_finds() {
    let Some(data) = real_tables() else { return };
    let file = |name: &str| data.join(format!("hierarchies/adult/{name}.csv"));
    let line = |name: &&str| {
        format!(
            "{name} = {{ role = \"quasi\", kind = \"categorical\", hierarchy = '{}' }}\n",
            file(name).display()
        )
    };
    let columns: String = EIGHT.iter().map(line).collect();
    let request = Request::parse(&format!("k = 5\nrest = \"drop\"\n[columns]\n{columns}")).unwrap();
    let source = table::open(&data.join("adult_30162.csv.zst"), None).unwrap();
    let roles = request.roles(source.names()).unwrap();
    let how = treatments(source.names(), &roles);
    let table = source.read(&how).unwrap();
    // In the order of the table, as the problem has them.
    let quasi = &roles.quasi;
    let coded: Vec<&Coded> =
        quasi.iter().map(|name| table.column(name).unwrap().coded.as_ref().unwrap()).collect();
    // For each column and level the number of each value's label.
    let labels: Vec<Vec<Vec<u64>>> = quasi
        .iter()
        .zip(&coded)
        .map(|(name, coded)| {
            let text = std::fs::read_to_string(file(name)).unwrap();
            let lines: Vec<Vec<&str>> =
                text.lines().map(|line| line.split(';').collect()).collect();
            let all: Vec<&str> =
                lines.iter().flatten().copied().collect::<BTreeSet<&str>>().into_iter().collect();
            let of = |level: usize, value: &Option<String>| {
                let line = lines.iter().find(|line| Some(line[0]) == value.as_deref()).unwrap();
                u64::try_from(all.binary_search(&line[level]).unwrap()).unwrap()
            };
            (0..lines[0].len())
                .map(|level| coded.values().iter().map(|value| of(level, value)).collect())
                .collect()
        })
        .collect();
    let mut rows: Vec<Vec<u32>> = (0..table.rows())
        .map(|row| coded.iter().map(|coded| coded.codes().get(row)).collect())
        .collect();
    rows.sort_unstable();
    let distinct: Vec<(&Vec<u32>, usize)> =
        rows.chunk_by(|one, other| one == other).map(|same| (&same[0], same.len())).collect();
    let sizes: Vec<usize> = labels.iter().map(Vec::len).collect();
    assert_eq!(sizes.iter().product::<usize>(), 6480);
    let levels_of = |mut node: usize| -> Vec<usize> {
        sizes.iter().map(|&size| (node % size, node /= size).0).collect()
    };
    let mut keyed: Vec<(u64, usize)> = Vec::new();
    let mut is_anonymous = |levels: &[usize]| {
        keyed.clear();
        keyed.extend(distinct.iter().map(|(row, count)| {
            let label = |at: usize| labels[at][levels[at]][row[at] as usize];
            ((0..row.len()).fold(0, |key, at| key << 8 | label(at)), *count)
        }));
        keyed.sort_unstable();
        keyed
            .chunk_by(|one, other| one.0 == other.0)
            .all(|class| class.iter().map(|(_, rows)| rows).sum::<usize>() >= 5)
    };
    let holds: HashMap<Vec<usize>, bool> =
        (0..6480).map(levels_of).map(|levels| (levels.clone(), is_anonymous(&levels))).collect();
    let lower = |levels: &[usize], at: usize| {
        let mut lower = levels.to_vec();
        lower[at] = lower[at].checked_sub(1)?;
        Some(lower)
    };
    let is_minimal = |levels: &&Vec<usize>| {
        holds[*levels] && (0..8).filter_map(|at| lower(levels, at)).all(|lower| !holds[&lower])
    };
    let expected: BTreeSet<Vec<usize>> = holds.keys().filter(is_minimal).cloned().collect();

    let problem = Problem::new(&table, &roles, &request).unwrap();
    let outcome =
        solve(&problem, SearchOptions::new(Algorithm::Incognito, 1), &Budget::unlimited());
    let found = outcome.optimum.unwrap().minimal;
    let found: BTreeSet<Vec<usize>> =
        found.iter().map(|levels| levels.iter().map(|&level| level as usize).collect()).collect();
    assert!(expected.len() > 5, "{}", expected.len());
    assert_eq!(found, expected);
}

/// All ways to put so many values into sets, as the set of each.
fn partitions(values: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for _ in 0..values {
        let longer = |some: &Vec<usize>| {
            let sets = some.iter().max().map_or(0, |&last| last + 1);
            (0..=sets).map(|set| [some.as_slice(), &[set]].concat()).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

/// The least certainty penalty of any sets, computed without the library: the penalty of a set of
/// several values is the share of the leaves that it lists, whatever else the hierarchy has.
#[test]
fn sets_are_the_least_also_where_the_hierarchy_has_values_that_do_not_occur() {
    let folder = tempfile::tempdir().unwrap();
    let (hierarchy, data) = (folder.path().join("u.csv"), folder.path().join("t.csv"));
    std::fs::write(&hierarchy, "u0;A;*\nu1;A;*\nu2;B;*\nu3;B;*\nu4;C;*\nu5;C;*\nu6;C;*\n").unwrap();
    let mut rng = lookalike::rng::Rng::new(5);
    for case in 0..60 {
        let mut counts = [0u64; 7];
        for _ in 0..6 + rng.below(10) {
            counts[usize::try_from(rng.below(7).min(rng.below(7))).unwrap()] += 1;
        }
        let k = 2 + rng.below(3);
        let here: Vec<usize> = (0..7).filter(|&value| counts[value] > 0).collect();
        let penalty = |sets: &Vec<usize>| {
            (0..here.len()).try_fold(0.0, |sum, set| {
                let members: Vec<usize> =
                    (0..here.len()).filter(|&at| sets[at] == set).map(|at| here[at]).collect();
                let rows: u64 = members.iter().map(|&value| counts[value]).sum();
                let share = if members.len() < 2 {
                    0.0
                } else {
                    f64::from(u32::try_from(members.len()).unwrap()) / 7.0
                };
                (members.is_empty() || rows >= k)
                    .then_some(sum + f64::from(u32::try_from(rows).unwrap()) * share)
            })
        };
        let least = partitions(here.len()).iter().filter_map(penalty).fold(f64::INFINITY, f64::min);
        let rows: String = (0..7)
            .map(|value| format!("u{value}\n").repeat(usize::try_from(counts[value]).unwrap()))
            .collect();
        std::fs::write(&data, format!("u\n{rows}")).unwrap();
        let toml = format!(
            "k = {k}\nscheme = \"sps\"\n[columns]\nu = {{ role = \"quasi\", hierarchy = '{}' }}\n",
            hierarchy.display()
        );
        let request = Request::parse(&toml).unwrap();
        let source = table::open(&data, None).unwrap();
        let roles = request.roles(source.names()).unwrap();
        let how = treatments(source.names(), &roles);
        let problem = Problem::new(&source.read(&how).unwrap(), &roles, &request).unwrap();
        let outcome =
            solve(&problem, SearchOptions::new(Algorithm::Optimal, 1), &Budget::unlimited());
        let found = outcome.optimum.unwrap();
        assert!(
            found.is_proven && (found.value - least).abs() < 1e-9,
            "case {case}: {} and not {least}, {counts:?}",
            found.value
        );
    }
}
