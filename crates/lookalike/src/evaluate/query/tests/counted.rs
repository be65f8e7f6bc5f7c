//! A table and its counted form have the same answers, losses and distributions.

use crate::evaluate::query::{Workload, answer, columns, draw};
use crate::release::{CellFormat, Release};
use crate::request::Request;
use crate::rng::Key;
use crate::search::solve;
use crate::table::{Table, in_memory};
use crate::{Algorithm, Budget, SearchOptions, testing};

/// A table, its request, and its release by an algorithm that splits no tuple.
fn released(text: &str, toml: &str) -> (Table, Request, Table) {
    let table = testing::table(text);
    let (roles, request) = testing::request(&table, toml);
    let problem = testing::problem_of(&table, &roles, &request).unwrap();
    let options = SearchOptions::new(Algorithm::Mondrian, 1);
    let recoding = solve(&problem, options, &Budget::unlimited()).recoding;
    let (key, format) = (Key::from_seed(1), CellFormat::Typed);
    let release = Release::new(&problem, &recoding, &table, &roles, &request, key, format).unwrap();
    let made = in_memory(release.schema(), release.batches(), |at| release.batch(at)).unwrap();
    (table, request, made)
}

#[test]
fn answers_and_columns_of_a_counted_table_are_those_of_its_rows() {
    for seed in 0..8 {
        let text = testing::random_table(seed, 40);
        let mut lines: Vec<&str> = text.lines().collect();
        lines.extend_from_within(5..30);
        lines.extend_from_within(10..20);
        let text = format!("{}\n", lines.join("\n"));
        let toml = "k = 4\nseed = 1\nlimits.suppress = '5%'\n[columns]\n\
                    age = { role = 'quasi' }\nheight = { role = 'quasi', weight = 2 }\n\
                    city = { role = 'quasi' }\nillness = { role = 'sensitive', distinct = 2 }";
        let (plain, request, release) = released(&text, toml);
        let short = testing::counted(&text, seed);
        let (counted, of_counts, short_release) = released(&short, &format!("count = 'n'\n{toml}"));
        assert!(short_release.rows() < release.rows(), "some rows are one");
        for sum in [None, Some("height".to_string())] {
            let workload = Workload {
                queries: 40,
                seed,
                sum,
                on: vec!["age".into(), "city".into(), "illness".into()],
                conditions: None,
            };
            let queries = draw(&plain, &request, &workload).unwrap();
            assert_eq!(draw(&counted, &of_counts, &workload).unwrap(), queries);
            let answers = answer(&plain, &release, &request, &queries).unwrap();
            let others = answer(&counted, &short_release, &of_counts, &queries).unwrap();
            for (one, other) in answers.iter().zip(&others) {
                assert!(one.truth > 0.0 && (one.truth - other.truth).abs() < 1e-9);
                assert!((one.estimate - other.estimate).abs() < 1e-9, "{one:?}, {other:?}");
            }
        }
        let found = columns(&plain, &release, &request).unwrap();
        let others = columns(&counted, &short_release, &of_counts).unwrap();
        for (one, other) in found.iter().zip(&others) {
            assert_eq!((one.generalized, one.bins.len()), (other.generalized, other.bins.len()));
            assert!((one.ncp - other.ncp).abs() < 1e-9, "{one:?}, {other:?}");
            for (one, other) in one.bins.iter().zip(&other.bins) {
                assert_eq!((&one.label, one.before), (&other.label, other.before));
                assert!((one.after - other.after).abs() < 1e-9, "{one:?}, {other:?}");
            }
        }
        // The count column is no column to ask about.
        let on_counts = Workload { on: vec!["n".into()], queries: 1, ..Workload::default() };
        let keep = Request { rest: Some(crate::request::Rest::Keep), ..of_counts };
        assert!(draw(&counted, &keep, &on_counts).is_err());
    }
}
