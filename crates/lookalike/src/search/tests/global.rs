//! The exact search against every partition there is.

use super::*;
use crate::domain::scheme::{
    BlockExtent, Blocks, Choices, Direction, Generalization, Scheme, Shape,
};
use crate::evaluate::loss::loss;
use crate::problem::recoding::Recoding;
use crate::rng::Rng;
use crate::testing;

/// A tree of two groups, one with a group of its own, and values that no table here has.
const JOBS: &str = "nurse;care;health;*\ndoctor;care;health;*\nmidwife;care;health;*\n\
                    clerk;clerk;clerk (all);*\ncook;food;home;*\n\
                    maid;maid;home;*\npilot;air;travel;*\n";

/// A table of few values, so that all partitions can be listed.
fn table(rng: &mut Rng, rows: u64) -> String {
    let mut text = "job,age,town,illness\n".to_string();
    let jobs = ["nurse", "doctor", "clerk", "cook", "maid"];
    let pick = |rng: &mut Rng, from: &[&str]| {
        from[usize::try_from(rng.below(from.len() as u64)).unwrap()].to_string()
    };
    let few = 3 + usize::try_from(rng.below(3)).unwrap();
    for _ in 0..rows {
        let age = pick(rng, &["21", "24", "38", "39", ""]);
        let town = pick(rng, &["Ulm", "Bonn"]);
        let illness = pick(rng, &["flu", "cold", "gout"]);
        text += &format!("{},{age},{town},{illness}\n", pick(rng, &jobs[..few]));
    }
    text
}

fn request(scheme: Scheme, k: u64, rule: &str, suppress: &str, ages: &str, jobs: &str) -> String {
    format!(
        "k = {k}\nrest = \"drop\"\nscheme = \"{scheme}\"\n\
         [limits]\nsuppress = \"{suppress}\"\n[columns]\n\
         job = {{ role = \"quasi\", weight = 2{jobs} }}\n\
         age = {{ role = \"quasi\"{ages} }}\ntown = {{ role = \"quasi\" }}\n\
         illness = {{ role = \"sensitive\"{rule} }}\n"
    )
}

/// Every partition of each attribute that its scheme allows.
fn all_blocks(problem: &Problem) -> Vec<Vec<Blocks>> {
    let pieces = problem.pieces_without(&[]);
    let of_attribute = |(at, attribute): (usize, &crate::domain::attribute::Attribute)| {
        let mut codes: Vec<u32> =
            pieces.iter().map(|piece| problem.code(at, piece.tuple)).collect();
        codes.sort_unstable();
        codes.dedup();
        let shape = Shape::new(attribute, &codes).under(problem.schemes()[at]);
        let choices = Choices::new(&[(problem.schemes()[at], &shape)]);
        let (mut blocks, mut open) = (Vec::new(), vec![choices.open()]);
        while let Some(state) = open.pop() {
            let order: Vec<u32> = choices.open_in(&state).collect();
            let (steps, rest) = choices.steps(&state, Direction::BottomUp, &order);
            blocks.push(Blocks::new(
                attribute,
                &shape,
                &choices.blocks(&rest, 0, BlockExtent::Joined),
            ));
            open.extend(steps);
        }
        blocks
    };
    problem.attributes().iter().enumerate().map(of_attribute).collect()
}

fn measured(problem: &Problem, recoding: &Recoding, cost: Cost) -> f64 {
    let found = loss(problem, recoding);
    match cost {
        Cost::Ncp => found.ncp,
        Cost::Hdm => found.hdm,
        Cost::Dm => crate::codes::real(found.c_dm),
        Cost::Distortion => found.distortion,
    }
}

/// The least of each cost over all recodings that suppress no more rows than allowed.
fn least(problem: &Problem) -> [f64; 4] {
    let mut least = [f64::INFINITY; 4];
    let mut partial: Vec<Vec<Blocks>> = vec![Vec::new()];
    for blocks in all_blocks(problem) {
        partial = partial
            .iter()
            .flat_map(|some| {
                blocks
                    .iter()
                    .map(move |more| [some.as_slice(), std::slice::from_ref(more)].concat())
            })
            .collect();
    }
    for attributes in partial {
        let recoding = Recoding::global(problem, Generalization { attributes });
        if rows(recoding.suppressed()) <= problem.allowance() && !recoding.classes().is_empty() {
            for (least, cost) in least.iter_mut().zip(Cost::ALL) {
                *least = least.min(measured(problem, &recoding, cost));
            }
        }
    }
    least
}

fn is_close(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-9 * (1.0 + other.abs())
}

const RULES: [&str; 4] = ["", ", alpha = 0.6", ", distinct = 2", ", t = 0.3"];

#[test]
fn the_optimum_is_the_least_of_all_partitions() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("jobs.csv");
    std::fs::write(&file, JOBS).unwrap();
    let tree = format!(", hierarchy = '{}'", file.display());
    let (mut cases, mut proven, mut suppressed) = (0, 0, 0);
    for seed in 0..320 {
        let mut rng = Rng::new(seed);
        let text = {
            let rows = 5 + rng.below(14);
            table(&mut rng, rows)
        };
        let ages =
            ["", ", hierarchy = { intervals = [5, 20] }"][usize::try_from(rng.below(2)).unwrap()];
        let jobs = [tree.as_str(), ""][usize::from(rng.below(4) == 0)];
        let rule = RULES[usize::try_from(rng.below(8).min(3)).unwrap()];
        let suppress = ["0%", "20%", "99.9%"][usize::try_from(rng.below(3)).unwrap()];
        for scheme in Scheme::ALL {
            let toml = request(scheme, 2 + rng.below(3), rule, suppress, ages, jobs);
            let Ok(problem) = testing::problem(&text, &toml) else { continue };
            let least = least(&problem);
            for (cost, least) in Cost::ALL.into_iter().zip(least) {
                let mut toss = || rng.below(4) > 0;
                let mut techniques = Techniques {
                    seeding: toss(),
                    both_sides: toss(),
                    charge: toss(),
                    useless: toss(),
                    ..Techniques::default()
                };
                techniques = Techniques {
                    useful: toss(),
                    nodes: toss(),
                    applicators: toss(),
                    deferred: toss(),
                    unpriced: if toss() { 0 } else { u64::MAX },
                    ..techniques
                };
                techniques.branching = [Branching::Halves, Branching::BottomUp, Branching::TopDown]
                    [usize::try_from(rng.below(3)).unwrap()];
                let priced = Techniques { unpriced: 0, ..Techniques::default() };
                for techniques in [Techniques::default(), priced, techniques] {
                    let search = SearchOptions {
                        cost,
                        techniques,
                        ..SearchOptions::new(Algorithm::Optimal, seed)
                    };
                    let found = run_global(&problem, search, &Budget::unlimited());
                    let recoding = Recoding::global(&problem, found.generalization.clone());
                    let context =
                        format!("seed {seed} {scheme} {cost} {techniques:?}\n{toml}\n{text}");
                    assert_eq!(found.is_proven, problem.mandatory().is_empty(), "{context}");
                    assert!(!found.was_stopped, "{context}");
                    assert!(
                        is_close(measured(&problem, &recoding, cost), found.value),
                        "{} {context}",
                        found.value
                    );
                    assert!(
                        is_close(found.value, least),
                        "found {} least {least} {context}",
                        found.value
                    );
                    assert!(rows(recoding.suppressed()) <= problem.allowance(), "{context}");
                    cases += 1;
                    proven += u32::from(found.nodes > 0);
                    suppressed += u32::from(!recoding.suppressed().is_empty());
                }
            }
        }
    }
    assert!(
        cases > 12_000 && proven > 6_000 && suppressed > 1_500,
        "{cases} {proven} {suppressed}"
    );
}

/// The loss of sets and intervals counts the values that they list, whatever else the hierarchy
/// has; that of groups counts all their values.
#[test]
fn the_loss_of_a_block_is_the_share_of_the_leaves_that_it_publishes() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("jobs.csv");
    std::fs::write(&file, JOBS).unwrap();
    let text = "job\nnurse\ndoctor\nclerk\ncook\n";
    for scheme in Scheme::ALL {
        let toml = format!(
            "k = 1\nscheme = \"{scheme}\"\n[columns]\n\
             job = {{ role = \"quasi\", hierarchy = '{}' }}\n",
            file.display()
        );
        let problem = testing::problem(text, &toml).unwrap();
        for blocks in &all_blocks(&problem)[0] {
            for (at, block) in (0..).zip(&blocks.blocks) {
                let listed = blocks.of_code.iter().filter(|&&of| of == Some(at)).count();
                let share = if block.ends.lo == block.ends.hi {
                    0.0
                } else {
                    crate::codes::real(listed as u64) / 7.0
                };
                assert!(is_close(block.loss, share), "{scheme} {block:?} {listed}");
                let is_of_groups = matches!(scheme, Scheme::Bhs | Scheme::Ghs);
                assert!(
                    is_of_groups || block.label != "*",
                    "{scheme} {block:?}: pilots do not occur"
                );
            }
        }
    }
}

#[test]
fn a_set_of_all_values_that_occur_costs_less_than_the_root() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("u.csv");
    std::fs::write(&file, "u0;*\nu1;*\nu2;*\nu3;*\nu4;*\n").unwrap();
    for (scheme, value, label) in
        [("sps", 2.0, "{u1, u2}"), ("ops", 2.0, "{u1, u2}"), ("ghs", 5.0, "*")]
    {
        let toml = format!(
            "k = 3\nscheme = \"{scheme}\"\n[columns]\n\
             u = {{ role = \"quasi\", hierarchy = '{}' }}\n",
            file.display()
        );
        let problem = testing::problem("u\nu2\nu2\nu2\nu1\nu1\n", &toml).unwrap();
        let found =
            run_global(&problem, SearchOptions::new(Algorithm::Optimal, 1), &Budget::unlimited());
        assert!(found.is_proven && is_close(found.value, value), "{scheme} {}", found.value);
        assert_eq!(found.generalization.attributes[0].blocks[0].label, label, "{scheme}");
    }
}

#[test]
fn values_of_suppressed_rows_leave_no_trace_in_labels() {
    let text = "age,town,illness\n20,Ulm,x\n21,Ulm,y\n22,Bonn,x\n23,Bonn,y\n99,Kiel,y\n";
    let toml = "k = 2\nrest = \"drop\"\n[limits]\nsuppress = \"20%\"\n[columns]\n\
        age = { role = \"quasi\" }\ntown = { role = \"quasi\" }\n";
    let problem = testing::problem(text, toml).unwrap();
    // Everything in one block, but for the towns.
    let mut attributes: Vec<Blocks> = all_blocks(&problem)
        .into_iter()
        .map(|blocks| blocks.into_iter().min_by_key(|b| b.blocks.len()).unwrap())
        .collect();
    attributes[1] =
        all_blocks(&problem)[1].iter().max_by_key(|blocks| blocks.blocks.len()).unwrap().clone();
    let recoding = Recoding::global(&problem, Generalization { attributes });
    assert_eq!((recoding.classes().len(), rows(recoding.suppressed())), (2, 1));
    let labels = |recoding: &Recoding| -> Vec<String> {
        let blocks = &recoding.published().unwrap().attributes;
        blocks
            .iter()
            .flat_map(|blocks| blocks.blocks.iter().map(|block| block.label.clone()))
            .collect()
    };
    assert_eq!(labels(&recoding), ["[20-99]", "Bonn", "Kiel", "Ulm"]);
    let before = loss(&problem, &recoding);
    let recoding = recoding.without_traces(&problem);
    assert_eq!(labels(&recoding), ["[20-23]", "Bonn", "Ulm"]);
    assert_eq!(recoding.ranges(0)[0], CodeRange { lo: 0, hi: 3 });
    assert_eq!(loss(&problem, &recoding), before, "the recoding costs what it did");
}
