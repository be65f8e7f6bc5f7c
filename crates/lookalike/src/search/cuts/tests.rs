//! Cells on tiny tables: every value in exactly one of them, and after merging every rule satisfied.

use std::collections::BTreeMap;

use super::{CellSize, CutCondition, CutNode, CutSide, Cuts};
use crate::domain::TableDomain;
use crate::request::Request;
use crate::rng::Rng;
use crate::run::{Effort, Run, cuts, merge_cells};
use crate::table::{self, Source};
use crate::testing;

fn open(text: &str) -> Source {
    table::open_text(text.to_string(), "counts".as_ref()).unwrap()
}

/// The rules, each with the keys of the sensitive column and further keys of the request.
const RULES: [(&str, &str); 9] = [
    ("", ""),
    ("", "rules = [{ k = 12, columns = ['city'] }]"),
    ("alpha = 0.7", "limits.suppress = '10%'"),
    ("alpha = 0.7, values = ['gout', 'cold']", ""),
    ("l = 1, distinct = 2", "output.publish = 'bounds'"),
    ("entropy = 2", "output.publish = 'set'"),
    ("recursive = { c = 2, l = 2 }", ""),
    ("t = 0.4", ""),
    ("t = 0.5, distance = 'ordered', order = ['cold', 'flu', 'gout']", ""),
];

fn toml(keys: &str, top: &str) -> String {
    let comma = if keys.is_empty() { "" } else { ", " };
    format!(
        "k = 3\nseed = 5\nsteps = 30\ncount = 'n'\n{top}\n[columns]\nage = {{ role = 'quasi' }}\n\
         height = {{ role = 'quasi', weight = 2 }}\ncity = {{ role = 'quasi' }}\n\
         illness = {{ role = 'sensitive'{comma}{keys} }}"
    )
}

/// A table of distinct tuples with counts, under a request.
struct Whole {
    /// The cells of each row by column; the count is a column too.
    rows: Vec<BTreeMap<String, String>>,
    names: Vec<String>,
    request: Request,
    domain: TableDomain,
}

impl Whole {
    fn new(text: &str, toml: &str) -> Whole {
        let table = testing::table(text);
        let (roles, request) = testing::request(&table, toml);
        let domain = TableDomain::of(&table, &roles, &request).unwrap();
        let mut lines = text.lines();
        let names: Vec<String> = lines.next().unwrap().split(',').map(String::from).collect();
        let row =
            |line: &str| names.iter().cloned().zip(line.split(',').map(String::from)).collect();
        let rows = lines.map(row).collect();
        Whole { rows, names, request, domain }
    }

    /// One row for each tuple, as an engine counts.
    fn random(seed: u64, rows: u64, toml: &str) -> Whole {
        let text = testing::random_table(seed, rows);
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        text.lines().skip(1).for_each(|line| *counts.entry(line).or_default() += 1);
        let lines: String =
            counts.iter().map(|(line, count)| format!("{line},{count}\n")).collect();
        Whole::new(&format!("age,height,city,illness,n\n{lines}"), toml)
    }

    fn text(&self, is_in: impl Fn(&BTreeMap<String, String>) -> bool) -> String {
        let line = |row: &BTreeMap<String, String>| {
            self.names.iter().map(|name| row[name].clone()).collect::<Vec<_>>().join(",")
        };
        let lines: Vec<String> = self.rows.iter().filter(|row| is_in(row)).map(line).collect();
        format!("{}\n{}\n", self.names.join(","), lines.join("\n"))
    }

    /// The cells by a sample of one in `step` tuples.
    fn cuts(&self, step: usize, tuples: u64) -> Cuts {
        let sample = Whole {
            rows: self.rows.iter().step_by(step).cloned().collect(),
            names: self.names.clone(),
            request: self.request.clone(),
            domain: self.domain.clone(),
        };
        let size = CellSize { tuples, whole: self.rows.len() as u64 };
        cuts(open(&sample.text(|_| true)), &self.request, &self.domain, size).unwrap()
    }

    fn exact_counts(&self, cuts: &Cuts) -> String {
        let line = |row: &BTreeMap<String, String>| {
            format!("{},{},{}\n", cell_of(cuts, row), row["illness"], row["n"])
        };
        let lines: String = self.rows.iter().map(line).collect();
        format!("cell,illness,n\n{lines}")
    }
}

fn cell_of(cuts: &Cuts, row: &BTreeMap<String, String>) -> u32 {
    cuts.cell_of(|name| Some(row[name].clone()).filter(|text| !text.is_empty()))
}

/// The side of a value by the words of the condition, written once more.
fn is_left(condition: &CutCondition, text: &str) -> bool {
    match condition {
        CutCondition::Number { limit } => {
            text.parse::<f64>().unwrap() <= limit.parse::<f64>().unwrap()
        }
        // Texts of one form are in the order of time.
        CutCondition::Date { limit } | CutCondition::Time { limit } => text <= limit.as_str(),
        CutCondition::Values { values } => values.contains(&text.to_string()),
    }
}

/// The leaves whose conditions a row meets, each by its own path.
fn leaves_met(node: &CutNode, row: &BTreeMap<String, String>, met: &mut Vec<u32>, is_met: bool) {
    match node {
        CutNode::Cell { cell } => met.extend(is_met.then_some(*cell)),
        CutNode::Cut(cut) => {
            let left = match row[&cut.column].as_str() {
                "" => cut.missing == CutSide::Left,
                text => is_left(&cut.condition, text),
            };
            leaves_met(&cut.left, row, met, is_met && left);
            leaves_met(&cut.right, row, met, is_met && !left);
        }
    }
}

#[test]
fn every_row_is_in_one_cell_also_with_values_that_the_sample_does_not_have() {
    let (mut cells, mut kinds) = (0, [0; 2]);
    for seed in 0..20 {
        let whole = Whole::random(seed, 200, &toml("", ""));
        let cuts = whole.cuts(1 + usize::try_from(seed).unwrap() % 4, 30);
        cells += cuts.cells();
        let ages = ["", "20", "25", "31", "-3", "22.5", "99"];
        let heights = ["150.5", "", "165.5", "1e3"];
        let cities = ["Ulm", "Bonn", "Kiel", "", "Rome"];
        for (age, height, city) in ages
            .iter()
            .flat_map(|age| heights.iter().map(move |height| (age, height)))
            .flat_map(|(age, height)| cities.iter().map(move |city| (age, height, city)))
        {
            let row: BTreeMap<String, String> = [("age", age), ("height", height), ("city", city)]
                .map(|(name, text)| (name.to_string(), text.to_string()))
                .into();
            let mut met = Vec::new();
            leaves_met(cuts.tree(), &row, &mut met, true);
            assert_eq!(met, [cell_of(&cuts, &row)], "{cuts:?}");
        }
        let text = cuts.to_json();
        assert_eq!(Cuts::from_json(&text).unwrap(), cuts);
        kinds[0] += text.matches("\"number\"").count();
        kinds[1] += text.matches("\"values\"").count();
    }
    assert!(cells > 80 && kinds.iter().all(|&kind| kind > 5), "{cells} {kinds:?}");
}

#[test]
fn cells_are_not_much_larger_than_wanted_and_a_small_table_is_one_cell() {
    for seed in 0..10 {
        let whole = Whole::random(seed, 400, &toml("", ""));
        assert_eq!(whole.cuts(1, whole.rows.len() as u64).cells(), 1);
        let cuts = whole.cuts(1, 40);
        let mut sizes = vec![0; cuts.cells() as usize];
        whole.rows.iter().for_each(|row| sizes[cell_of(&cuts, row) as usize] += 1);
        assert!(sizes.iter().all(|&size| (1..=60).contains(&size)), "{sizes:?}");
        assert!(sizes.iter().all(|&size| size >= 10), "{sizes:?}");
    }
}

#[test]
fn slivers_that_no_class_crosses_are_not_cut_off() {
    // Sixteen pairs far away from each other and from a large block.
    let mut lines = String::new();
    (0..16).for_each(|far| lines += &format!("{0},x,2\n{0},y,2\n", 1000 * (far + 1)));
    (0..800).for_each(|near| lines += &format!("{},{},1\n", near / 2, ["x", "y"][near % 2]));
    let toml = "k = 2\nseed = 1\ncount = 'n'\n[columns]\na = { role = 'quasi' }\n\
                b = { role = 'quasi' }";
    let whole = Whole::new(&format!("a,b,n\n{lines}"), toml);
    let cuts = whole.cuts(1, 50);
    let mut sizes = vec![0; cuts.cells() as usize];
    whole.rows.iter().for_each(|row| sizes[cell_of(&cuts, row) as usize] += 1);
    assert!(sizes.iter().all(|size| (20..=70).contains(size)), "{sizes:?}");
}

#[test]
fn the_same_sample_has_the_same_cells_on_any_number_of_threads() {
    let whole = Whole::random(7, 300, &toml("", ""));
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| whole.cuts(1, 30))
    };
    assert_eq!(with(1), with(3));
}

#[test]
fn dates_times_and_orders_are_cut_by_conditions_on_their_values() {
    let mut rng = Rng::new(4);
    let mut lines = String::new();
    for number in 0..120 {
        let day = ["", "2024-01-05", "2024-02-11", "2024-07-01", "2025-01-01"][rng.place(5)];
        let size = ["low", "mid", "high", ""][rng.place(4)];
        let hour = rng.below(10);
        lines += &format!("{day},{size},2024-01-01T0{hour}:30:00,{number},1\n");
    }
    for column in ["day", "size", "at", "id"] {
        let weights = ["day", "size", "at", "id"].map(|name| {
            let order = if name == "size" { ", order = ['low', 'mid', 'high']" } else { "" };
            let weight = if name == column { 0.001 } else { 1.0 };
            format!("{name} = {{ role = 'quasi', weight = {weight}{order} }}\n")
        });
        let toml = format!("k = 2\nseed = 1\ncount = 'n'\n[columns]\n{}", weights.concat());
        let whole = Whole::new(&format!("day,size,at,id,n\n{lines}"), &toml);
        let cuts = whole.cuts(1, 30);
        assert!(cuts.cells() > 2);
        for row in &whole.rows {
            let mut met = Vec::new();
            leaves_met(cuts.tree(), row, &mut met, true);
            assert_eq!(met, [cell_of(&cuts, row)]);
        }
    }
}

#[test]
fn a_cut_is_where_the_classes_that_cross_it_lose_least() {
    // Two blocks that nothing joins: any class across them would lose almost everything.
    let mut lines = String::new();
    for number in 0..40 {
        lines += &format!("{},north,1\n{},south,1\n", number % 20, 1000 + number % 20);
    }
    let toml = "k = 4\nseed = 1\ncount = 'n'\n[columns]\nx = { role = 'quasi' }\n\
                region = { role = 'quasi', weight = 0.01 }";
    let whole = Whole::new(&format!("x,region,n\n{lines}"), toml);
    let cuts = whole.cuts(1, 40);
    assert_eq!(cuts.cells(), 2);
    let of_block = |from: &str| {
        let rows = whole.rows.iter().filter(|row| row["region"] == from);
        let mut cells: Vec<u32> = rows.map(|row| cell_of(&cuts, row)).collect();
        cells.dedup();
        cells
    };
    assert_eq!((of_block("north").len(), of_block("south").len()), (1, 1));
}

#[test]
fn merged_cells_satisfy_every_rule_and_their_plans_make_one_plan_of_the_whole() {
    let (mut several, mut united) = (0, 0);
    for (seed, (keys, top)) in (0..).zip(RULES).flat_map(|one| [one, (one.0 + 100, one.1)]) {
        let whole = Whole::random(seed, 240, &toml(keys, top));
        let cuts = whole.cuts(2, if seed < 100 { 8 } else { 40 });
        let merged = merge_cells(
            cuts.clone(),
            open(&whole.exact_counts(&cuts)),
            &whole.request,
            &whole.domain,
        );
        let merged = merged.unwrap();
        several += u32::from(merged.cells() > 1);
        united += u32::from(merged.cells() < cuts.cells());
        let mut rows = vec![0; merged.cells() as usize];
        for row in &whole.rows {
            rows[cell_of(&merged, row) as usize] += row["n"].parse::<u64>().unwrap();
        }
        assert_eq!(merged.rows(), Some(&rows[..]));
        // Each is planned, and audited, on its own.
        let (mut batches, mut ncp) = (Vec::new(), 0.0);
        for cell in 0..merged.cells() {
            let part = whole.text(|row| cell_of(&merged, row) == cell);
            let run = Run::new(&whole.request).bound(Effort::None).within(&whole.domain);
            let plan = run.plan_in_memory(open(&part));
            let plan = plan.unwrap_or_else(|error| panic!("{keys}, {top}: {error}"));
            ncp += plan.report.found.loss.ncp;
            batches.extend(plan.batches);
        }
        let schema = batches[0].schema();
        let plans = table::from_batches(arrow_array::RecordBatchIterator::new(
            batches.into_iter().map(Ok),
            schema,
        ));
        let counts = open(&whole.text(|_| true));
        let (verdict, _) = crate::run::verify_plan(plans.unwrap(), counts, &whole.request).unwrap();
        assert!(verdict.holds(), "{keys}, {top}: {verdict:?}");
        // No row loses more than all weights together.
        assert!((0.0..=4.0 * 240.0).contains(&ncp), "{keys}, {top}: {ncp}");
    }
    assert!(several > 12 && united > 4, "{several} and {united}");
}

#[test]
fn only_the_cells_that_need_it_are_united() {
    let toml = "k = 5\ncount = 'n'\n[columns]\nage = { role = 'quasi' }\n\
                ill = { role = 'sensitive', distinct = 2 }";
    let whole =
        "age,ill,n\n10,flu,9\n20,flu,3\n20,gout,3\n30,flu,30\n30,gout,30\n40,gout,8\n40,flu,1\n";
    let table = testing::table(whole);
    let (roles, request) = testing::request(&table, toml);
    let domain = TableDomain::of(&table, &roles, &request).unwrap();
    let cut = |limit: u32, left: &str, right: &str| {
        format!(
            "{{\"column\": \"age\", \"kind\": \"number\", \"limit\": \"{limit}\", \
             \"missing\": \"right\", \"left\": {left}, \"right\": {right}}}"
        )
    };
    let cell = |number: u32| format!("{{\"cell\": {number}}}");
    let right = cut(30, &cell(2), &cell(3));
    let tree = cut(20, &cut(10, &cell(0), &cell(1)), &right);
    let cuts = |tree: &str| {
        Cuts::from_json(&format!("{{\"version\": 1, \"cells\": 4, \"tree\": {tree}}}")).unwrap()
    };
    let counts = "cell,ill,n\n0,flu,9\n1,flu,3\n1,gout,3\n2,flu,30\n2,gout,30\n3,gout,8\n3,flu,1\n";
    let merged = merge_cells(cuts(&tree), open(counts), &request, &domain).unwrap();
    // The first has one illness alone: it goes with its sibling, the others stay.
    assert_eq!(merged.rows(), Some(&[15, 60, 9][..]));
    assert_eq!(merged.cells(), 3);
    // Once more: nothing changes.
    let ages = ["10", "20", "30", "40"].map(|age| merged.cell_of(|_| Some(age.into())));
    assert_eq!(ages, [0, 0, 1, 2]);
    let again = "cell,ill,n\n0,flu,12\n0,gout,3\n1,flu,30\n1,gout,30\n2,gout,8\n2,flu,1\n";
    assert_eq!(merge_cells(merged.clone(), open(again), &request, &domain).unwrap(), merged);
    // Without any row of a second illness nothing helps.
    let error = merge_cells(cuts(&tree), open("cell,ill,n\n0,flu,9\n3,flu,8\n"), &request, &domain);
    assert_eq!(error.unwrap_err().code(), "infeasible-rules");
    let error = merge_cells(cuts(&tree), open("cell,ill,n\n4,flu,9\n"), &request, &domain);
    assert_eq!(
        error.unwrap_err().to_string(),
        "column `cell`, data row 1: not the number of a cell; these are 0 to 3"
    );
    let error = merge_cells(cuts(&tree), open("cell,n\n1,9\n"), &request, &domain).unwrap_err();
    assert_eq!(error.code(), "table-lacks-column");
}

#[test]
fn damaged_cuts_are_an_error() {
    for text in [
        "{}",
        r#"{"version": 2, "cells": 1, "tree": {"cell": 0}}"#,
        r#"{"version": 1, "cells": 2, "tree": {"cell": 0}}"#,
        r#"{"version": 1, "cells": 1, "tree": {"cell": 1}}"#,
        r#"{"version": 1, "cells": 1, "rows": [1, 2], "tree": {"cell": 0}}"#,
        r#"{"version": 1, "cells": 2, "tree": {"column": "a", "kind": "number", "limit": "x",
            "missing": "left", "left": {"cell": 0}, "right": {"cell": 1}}}"#,
    ] {
        assert_eq!(Cuts::from_json(text).unwrap_err().code(), "not-cuts", "{text}");
    }
}
