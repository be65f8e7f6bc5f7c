//! `incognito` against the definition of full-domain recoding, every node of the lattice computed
//! from the rows; and against `optimal`, where both search the same recodings.

use std::collections::BTreeMap;

use crate::codes::{Code, CodeRange, real};
use crate::domain::attribute::Domain;
use crate::domain::scheme::Shape;
use crate::problem::Problem;
use crate::problem::partition::rows;
use crate::search::budget::Budget;
use crate::search::global::Cost;
use crate::search::global::Optimum;
use crate::search::global::space::shapes;
use crate::search::stages::run_global;
use crate::search::tests::with_threads;
use crate::search::{Algorithm, SearchOptions};
use crate::testing;

/// The published codes of a value at a level: those under the node there, or the value alone, with
/// the values that it cannot be distinguished from.
fn published(problem: &Problem, at: usize, code: Code, level: u32) -> CodeRange {
    let attribute = &problem.attributes()[at];
    let all = CodeRange { lo: 0, hi: u32::try_from(attribute.codes()).unwrap() - 1 };
    match &attribute.domain {
        _ if level == 0 => attribute.cover(CodeRange::one(code)),
        Domain::Tree(tree) => tree.range(tree.at_level(code, level)),
        Domain::Ordered(ordered) => match ordered.intervals() {
            None => all,
            Some(made) if level >= made.taxonomy().height() => all,
            Some(_) if code as usize == ordered.values().len() => CodeRange::one(code),
            Some(made) => made.taxonomy().range(made.taxonomy().at_level(code, level)),
        },
    }
}

/// One node: the suppressed rows, and the cost of all rows.
struct LatticeNode {
    suppressed: u64,
    cost: f64,
}

fn node(problem: &Problem, shapes: &[Shape], cost: Cost, levels: &[u32]) -> LatticeNode {
    let pieces = problem.pieces_without(problem.mandatory());
    let width = levels.len();
    let box_of = |tuple: u32| -> Vec<CodeRange> {
        (0..width).map(|at| published(problem, at, problem.code(at, tuple), levels[at])).collect()
    };
    let mut classes: BTreeMap<Vec<CodeRange>, Vec<crate::problem::partition::Piece>> =
        BTreeMap::new();
    // By published codes, the least and the greatest value that occurs.
    let mut blocks: Vec<BTreeMap<CodeRange, CodeRange>> = vec![BTreeMap::new(); width];
    for &piece in &pieces {
        let ranges = box_of(piece.tuple);
        for (at, &range) in ranges.iter().enumerate() {
            let own = CodeRange::one(problem.code(at, piece.tuple));
            blocks[at].entry(range).and_modify(|ends| *ends = ends.join(own)).or_insert(own);
        }
        classes.entry(ranges).or_default().push(piece);
    }
    let all_rows = real(problem.row_count());
    let with = |at: usize, is: &dyn Fn(Code) -> bool| -> f64 {
        let rows = (0u32..).take(problem.tuples()).filter(|&tuple| is(problem.code(at, tuple)));
        rows.map(|tuple| f64::from(problem.count(tuple))).sum()
    };
    let occurs = |at: usize, code: Code| shapes[at].atoms.iter().any(|atom| atom.contains(code));
    let value_cost = |at: usize, code: Code, range: CodeRange| -> f64 {
        let (attribute, ends) = (&problem.attributes()[at], blocks[at][&range]);
        match cost {
            Cost::Dm => 0.0,
            Cost::Ncp => attribute.weight * attribute.loss(ends),
            Cost::Distortion => f64::from(attribute.levels_up(ends.lo, ends).0),
            Cost::Hdm => {
                let own = with(at, &|other| other == code);
                let block = with(at, &|other| {
                    occurs(at, other) && published(problem, at, other, levels[at]) == range
                });
                if own < all_rows { (block - own) / (all_rows - own) } else { 0.0 }
            }
        }
    };
    let attributes = problem.attributes();
    let full: f64 = match cost {
        Cost::Dm => all_rows,
        Cost::Hdm => real(width as u64),
        Cost::Ncp => attributes.iter().map(|attribute| attribute.weight).sum(),
        Cost::Distortion => attributes
            .iter()
            .map(|attribute| f64::from(attribute.levels_up(0, CodeRange::one(0)).1))
            .sum(),
    };
    let privacy = &problem.stages_in_order()[0].privacy;
    let mut found = LatticeNode { suppressed: 0, cost: full * real(rows(problem.mandatory())) };
    for (ranges, class) in &classes {
        let mut tally = problem.tally();
        problem.count_into(&mut tally, class);
        if !privacy.holds(&tally) {
            found.suppressed += rows(class);
            found.cost += full * real(rows(class));
            continue;
        }
        if cost == Cost::Dm {
            found.cost += real(rows(class)).powi(2);
        }
        for piece in class {
            let one: f64 = (0..width)
                .map(|at| value_cost(at, problem.code(at, piece.tuple), ranges[at]))
                .sum();
            found.cost += f64::from(piece.count) * one;
        }
    }
    if matches!(cost, Cost::Hdm | Cost::Distortion) {
        found.cost /= all_rows * full;
    }
    found
}

/// All levels of all attributes, the last attribute's changing fastest.
fn lattice(shapes: &[Shape]) -> Vec<Vec<u32>> {
    shapes.iter().fold(vec![Vec::new()], |nodes, shape| {
        let levels: Vec<u32> = [0].into_iter().chain(shape.levels()).collect();
        nodes
            .iter()
            .flat_map(|node| levels.iter().map(|&level| [node.as_slice(), &[level]].concat()))
            .collect()
    })
}

const COLUMNS: [&str; 4] = [
    "age = { role = \"quasi\", hierarchy = { intervals = [3, 6], top = 29 } }\n\
     height = { role = \"quasi\" }\n\
     city = { role = \"quasi\", weight = 2 }\n",
    "age = { role = \"quasi\", hierarchy = { intervals = [2, 4, 8] } }\n\
     height = { role = \"quasi\", kind = \"categorical\", hierarchy = { prefix = [2, 1] } }\n\
     city = { role = \"quasi\", weight = 0.5 }\n",
    "age = { role = \"quasi\", kind = \"categorical\", hierarchy = { prefix = [1] } }\n\
     height = { role = \"quasi\", hierarchy = { intervals = [6] } }\n",
    "age = { role = \"quasi\" }\n\
     height = { role = \"quasi\", weight = 0 }\n\
     city = { role = \"quasi\" }\n",
];

const RULES: [&str; 5] = [
    "",
    "illness = { role = \"sensitive\", alpha = 0.7 }\n",
    "illness = { role = \"sensitive\", distinct = 2 }\n",
    "illness = { role = \"sensitive\", t = 0.3 }\n",
    "illness = { role = \"sensitive\", alpha = 0.5, values = [\"gout\", \"cold\"] }\n",
];

/// Every random table under one of the requests, with and without suppression.
fn for_each_problem(tables: u64, mut check: impl FnMut(&Problem, Cost, &str)) {
    let mut met = 0;
    for seed in 0..tables {
        let text = testing::random_table(seed, 8 + 7 * (seed % 17));
        let pick = |from: &[&'static str], at: u64| from[usize::try_from(at).unwrap() % from.len()];
        for (number, rule) in (0..).zip(RULES) {
            for (share, part) in (0..).zip(["0%", "15%", "95%"]) {
                let columns = pick(&COLUMNS, seed + number);
                let limits =
                    format!("scheme = \"bhs\"\nrest = \"drop\"\n[limits]\nsuppress = \"{part}\"\n");
                let snap = if (seed + number) % 3 == 0 { "[output]\nsnap = true\n" } else { "" };
                let toml =
                    format!("k = {}\n{limits}{snap}[columns]\n{columns}{rule}", 2 + seed % 4);
                let Ok(problem) = testing::problem(&text, &toml) else { continue };
                met += 1;
                let cost = Cost::ALL[usize::try_from(seed / 4 + number + share).unwrap() % 4];
                check(&problem, cost, &format!("table {seed}, {cost}, {toml}"));
            }
        }
    }
    assert!(met > tables * 10, "{met} problems of {tables} tables");
}

fn found(problem: &Problem, algorithm: Algorithm, cost: Cost) -> Optimum {
    run_global(
        problem,
        SearchOptions { cost, ..SearchOptions::new(algorithm, 1) },
        &Budget::unlimited(),
    )
}

fn is_close(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-9 * one.abs().max(1.0)
}

#[test]
fn incognito_finds_the_minimal_nodes_and_the_cheapest_that_the_whole_lattice_has() {
    let (mut several, mut higher, mut unproven) = (0, 0, 0);
    for_each_problem(120, |problem, cost, what| {
        let shapes = shapes(problem);
        let left = problem.allowance() - rows(problem.mandatory());
        let is_by_size = !problem.stages_in_order()[0].privacy.needs_sensitive();
        let limit = if is_by_size { left } else { 0 };
        let nodes: BTreeMap<Vec<u32>, LatticeNode> = lattice(&shapes)
            .into_iter()
            .map(|levels| (levels.clone(), node(problem, &shapes, cost, &levels)))
            .collect();
        let holding: Vec<&Vec<u32>> = nodes
            .iter()
            .filter(|(_, node)| node.suppressed <= limit)
            .map(|(levels, _)| levels)
            .collect();
        let is_below = |one: &Vec<u32>, other: &Vec<u32>| {
            one != other && one.iter().zip(other).all(|(one, other)| one <= other)
        };
        let minimal: Vec<Vec<u32>> = holding
            .iter()
            .filter(|node| !holding.iter().any(|other| is_below(other, node)))
            .map(|&node| node.clone())
            .collect();
        let best = holding.iter().map(|&levels| nodes[levels].cost).fold(f64::INFINITY, f64::min);
        for threads in [1, 3] {
            let found = with_threads(threads, || found(problem, Algorithm::Incognito, cost));
            assert_eq!(found.minimal, minimal, "{what}");
            assert!(is_close(found.value, best), "{} for {best}, {what}", found.value);
            assert!(
                is_close(nodes[&found.levels].cost, best)
                    && nodes[&found.levels].suppressed <= limit,
                "{what}"
            );
            let is_asked = problem.mandatory().is_empty();
            assert_eq!(found.is_proven, is_asked && (is_by_size || left == 0), "{what}");
            assert!(found.bound <= found.value, "{what}");
            higher += u32::from(threads == 1 && !found.minimal.contains(&found.levels));
            unproven += u32::from(!found.is_proven);
        }
        several += u32::from(minimal.len() > 1);
    });
    assert!(
        several > 100 && higher > 20 && unproven > 50,
        "{several} with several, {higher} above, {unproven} unproven"
    );
}

#[test]
fn optimal_finds_no_better_levels_and_incognito_none_either() {
    let mut same = 0;
    for_each_problem(40, |problem, _, what| {
        for cost in Cost::ALL {
            let (levels, schemes) = (
                found(problem, Algorithm::Incognito, cost),
                found(problem, Algorithm::Optimal, cost),
            );
            assert_eq!(schemes.is_proven, problem.mandatory().is_empty());
            assert!(schemes.levels.is_empty() && schemes.minimal.is_empty());
            if levels.is_proven {
                assert!(
                    is_close(levels.value, schemes.value),
                    "{cost}: {} and {}, {what}",
                    levels.value,
                    schemes.value
                );
                same += 1;
            } else {
                assert!(
                    schemes.value <= levels.value + 1e-9 * levels.value.abs(),
                    "{cost}, {what}"
                );
            }
        }
    });
    assert!(same > 400, "{same}");
}

#[test]
fn a_search_without_time_generalizes_everything() {
    for_each_problem(20, |problem, cost, what| {
        let spent = Budget::new(Some(std::time::Duration::ZERO), std::sync::Arc::default());
        let found = run_global(
            problem,
            SearchOptions { cost, ..SearchOptions::new(Algorithm::Incognito, 1) },
            &spent,
        );
        assert!(!found.is_proven && found.minimal.is_empty(), "{what}");
        let top: Vec<u32> = shapes(problem)
            .iter()
            .map(|shape| shape.levels().last().copied().unwrap_or(0))
            .collect();
        assert_eq!(found.levels, top, "{what}");
    });
}

#[test]
fn a_lattice_too_large_to_search_is_gone_down_one_way() {
    // Sixteen columns of two levels: 3^16 nodes over all subsets.
    let names: Vec<String> = (0..16).map(|at| format!("c{at}")).collect();
    let mut rng = crate::rng::Rng::new(5);
    let mut text = names.join(",") + "\n";
    for _ in 0..60 {
        let cells: Vec<String> =
            (0..16).map(|at| if rng.below(3 + at) == 0 { "a" } else { "b" }.to_string()).collect();
        text += &(cells.join(",") + "\n");
    }
    let columns: String =
        names.iter().map(|name| format!("{name} = {{ role = \"quasi\" }}\n")).collect();
    let problem = testing::problem(&text, &format!("k = 3\n[columns]\n{columns}")).unwrap();
    let found = found(&problem, Algorithm::Incognito, Cost::Ncp);
    assert!(!found.is_proven && found.minimal.is_empty());
    let shapes = shapes(&problem);
    let at = |levels: &[u32]| node(&problem, &shapes, Cost::Ncp, levels);
    assert_eq!(at(&found.levels).suppressed, 0);
    assert!(is_close(at(&found.levels).cost, found.value));
    // No direct specialization satisfies the rules.
    let raised: Vec<usize> = (0..16).filter(|&column| found.levels[column] > 0).collect();
    assert!(!raised.is_empty() && raised.len() < 16, "{:?}", found.levels);
    for column in raised {
        let mut lower = found.levels.clone();
        lower[column] = 0;
        assert!(at(&lower).suppressed > 0);
    }
}
