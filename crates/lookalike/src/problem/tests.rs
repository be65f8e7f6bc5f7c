//! Problems of small tables: refusals, feasibility, stages, labels.

mod counted;
mod parts;

use super::*;
use crate::search::solve;
use crate::testing;
use crate::{Algorithm, Budget, SearchOptions};

fn refusal(text: &str, toml: &str) -> String {
    testing::problem(text, toml).unwrap_err().to_string()
}

#[test]
fn impossible_requests_name_the_nearest_possible_one() {
    let text = "age,ill\n1,flu\n2,flu\n3,hiv\n4,hiv\n";
    let with = |rule: &str| {
        format!(
            "k = 2\n[columns]\nage = {{ role = \"quasi\" }}\nill = {{ role = \"sensitive\", {rule} }}\n"
        )
    };
    let message = refusal(text, "k = 5\nrest = \"drop\"\ncolumns = { age = { role = \"quasi\" } }");
    assert!(message.contains("the largest feasible k is 4"), "{message}");
    assert!(refusal(text, &with("alpha = 0.4")).contains("0.5"));
    assert!(refusal(text, &with("l = 3")).contains('2'));
    assert!(refusal(text, &with("distinct = 3")).contains('2'));
    assert!(
        testing::problem(text, &with("alpha = 0.5")).is_ok(),
        "the least feasible alpha is feasible"
    );
}

#[test]
fn suppression_makes_a_rule_reachable_with_as_few_rows_as_can_be() {
    let text = "age,ill\n1,flu\n2,flu\n3,flu\n3,flu\n4,hiv\n5,hiv\n";
    let toml = |share: &str| {
        format!(
            "k = 2\n[limits]\nsuppress = \"{share}\"\n[columns]\nage = {{ role = \"quasi\" }}\nill = {{ role = \"sensitive\", l = 2 }}\n"
        )
    };
    let message = refusal(text, &toml("20%"));
    assert!(message.contains("33.34%"), "{message}");
    let problem = testing::problem(text, &toml("34%")).unwrap();
    assert_eq!(crate::problem::partition::rows(problem.mandatory()), 2);
    let outcome = solve(&problem, SearchOptions::new(Algorithm::Mondrian, 1), &Budget::unlimited());
    assert_eq!(crate::problem::partition::rows(outcome.recoding.suppressed()), 2);
}

#[test]
fn a_rule_on_some_columns_holds_on_what_those_columns_show() {
    for seed in 0..30 {
        let toml = "k = 3\nrest = \"drop\"\nrules = [{ k = 12, columns = [\"city\"] }, { k = 20, columns = [\"age\", \"city\"] }]\n\
                    [columns]\nage = { role = \"quasi\" }\nheight = { role = \"quasi\" }\ncity = { role = \"quasi\" }\n";
        let problem = testing::problem(&testing::random_table(seed, 80), toml).unwrap();
        for algorithm in Algorithm::homogeneous() {
            let recoding = solve(
                &problem,
                SearchOptions { steps: Some(50), ..SearchOptions::new(algorithm, 1) },
                &Budget::unlimited(),
            )
            .recoding;
            for (columns, k) in [(&[0, 1, 2][..], 3), (&[2], 12), (&[0, 2], 20)] {
                let mut published: Vec<(Vec<CodeRange>, u64)> = Vec::new();
                for (class, pieces) in recoding.classes().iter().enumerate() {
                    let box_of: Vec<CodeRange> =
                        columns.iter().map(|&at| recoding.ranges(class)[at]).collect();
                    let rows = crate::problem::partition::rows(pieces);
                    match published.iter_mut().find(|(known, _)| *known == box_of) {
                        Some((_, count)) => *count += rows,
                        None => published.push((box_of, rows)),
                    }
                }
                assert!(
                    published.iter().all(|&(_, rows)| rows >= k),
                    "seed {seed}, {algorithm}, columns {columns:?}"
                );
            }
        }
    }
}

#[test]
fn cells_that_do_not_fit_their_column_are_named_by_row_only() {
    let numeric = "k = 2\ncolumns = { age = { role = \"quasi\", kind = \"numeric\" } }";
    let text = "age\n1\n2\nsecret\n4\n";
    let message = refusal(text, numeric);
    assert!(
        message.contains("column `age`, data row 3") && !message.contains("secret"),
        "{message}"
    );
    let mostly = format!("age\n{}secret\n", (0..40).map(|n| format!("{n}\n")).collect::<String>());
    let message = refusal(&mostly, "k = 2\ncolumns = { age = { role = \"quasi\" } }");
    assert!(
        message.contains("data row 41: text in a column that looks numeric")
            && !message.contains("secret"),
        "{message}"
    );
    let message = refusal("v\na\n*\n", "k = 2\ncolumns = { v = { role = \"quasi\" } }");
    assert!(message.contains("data row 2"), "{message}");
    let message = refusal(
        "n\n9007199254740993\n9007199254740992\n",
        "k = 2\ncolumns = { n = { role = \"quasi\" } }",
    );
    assert!(message.contains("more digits"), "{message}");
}

#[test]
fn postcodes_keep_their_zeros_and_spellings_of_a_number_are_one_value() {
    let kind = |text: &str| {
        testing::problem(text, "k = 1\ncolumns = { v = { role = \"quasi\" } }").unwrap()
    };
    let codes = kind("v\n02139\n10001\n");
    assert_eq!(codes.attributes()[0].label(CodeRange::one(0)), "02139");
    assert!(codes.attributes()[0].is_flat());
    let numbers = kind("v\n30.0\n30\n+30\n-2\n");
    assert_eq!(
        (numbers.tuples(), numbers.attributes()[0].label(CodeRange { lo: 0, hi: 1 })),
        (2, "[-2 .. 30]".into())
    );
    let dates = kind("v\n2024-03-17\n2023-01-01\n");
    assert_eq!(
        dates.attributes()[0].label(CodeRange { lo: 0, hi: 1 }),
        "[2023-01-01 .. 2024-03-17]"
    );
    let zones =
        kind("v\n2024-01-01T00:00:00+05:00\n2024-01-01T00:00:00+00:00\n2023-12-31T19:00:00Z\n");
    assert_eq!(zones.tuples(), 2, "an offset counts: the first and the last are one instant");
    assert_eq!(zones.attributes()[0].label(CodeRange::one(1)), "2024-01-01T00:00:00+00:00");
    let close = "v\n2024-01-01T00:00:00.000000001\n2024-01-01T00:00:00.000000002\n";
    assert!(
        refusal(close, "k = 1\ncolumns = { v = { role = \"quasi\" } }").contains("more digits")
    );
}

#[test]
fn top_and_bottom_coding_hides_single_values_too() {
    let toml = "k = 1\n[output]\nsnap = true\n[columns]\n\
                age = { role = \"quasi\", hierarchy = { intervals = [10], bottom = 20, top = 80 } }\n";
    let problem = testing::problem("age\n3\n35\n85\n113\n", toml).unwrap();
    let age = &problem.attributes()[0];
    let label = |code| age.label(age.cover(CodeRange::one(code)));
    assert_eq!([label(0), label(1), label(2), label(3)], ["<20", "35", ">=80", ">=80"]);
    assert!(age.loss(CodeRange::one(3)) > 0.0 && age.loss(CodeRange::one(1)).abs() < 1e-12);
}

#[test]
fn different_ranges_never_share_a_label() {
    let text = "a,b,c,d\n1,-3,x,lo\n2,4.5,,mid\n,7,y-z,hi\n30,-1,z,\n";
    let toml = "k = 1\n[columns]\na = { role = \"quasi\" }\nb = { role = \"quasi\" }\nc = { role = \"quasi\" }\n\
                d = { role = \"quasi\", order = [\"lo\", \"mid\", \"hi\"] }\n";
    for snap in ["", "[output]\nsnap = true\n"] {
        let toml = format!("{toml}{snap}").replace(
            "a = { role = \"quasi\" }",
            "a = { role = \"quasi\", hierarchy = { intervals = [5, 10] } }",
        );
        let problem = testing::problem(text, &toml).unwrap();
        for attribute in problem.attributes() {
            let codes = u32::try_from(attribute.codes()).unwrap();
            let mut labels: Vec<(String, CodeRange)> = Vec::new();
            for lo in 0..codes {
                for hi in lo..codes {
                    let cover = attribute.cover(CodeRange { lo, hi });
                    labels.push((attribute.label(cover), cover));
                }
            }
            labels.sort();
            labels.dedup();
            assert!(
                labels.windows(2).all(|pair| pair[0].0 != pair[1].0),
                "{}: {labels:?}",
                attribute.name
            );
        }
    }
}
