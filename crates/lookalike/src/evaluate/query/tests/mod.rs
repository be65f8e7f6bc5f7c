//! Queries are tested by shares counted by hand and against a slow estimator that shares no code.

mod by_hand;
mod columns;
mod counted;
mod slow;

use super::{Answer, Query, answer, parse};
use crate::error::Result;
use crate::request::Request;
use crate::testing::table;

/// Answers queries in TOML from tables in CSV.
fn ask(source: &str, release: &str, request: &str, queries: &str) -> Result<Vec<Answer>> {
    answer(
        &table(source),
        &table(release),
        &Request::parse(request).unwrap(),
        &parse(queries).unwrap(),
    )
}

/// A table of one column `a` with these cells.
fn column(cells: &[&str]) -> String {
    let quoted = cells.iter().map(|cell| format!("\"{}\"\n", cell.replace('"', "\"\"")));
    format!("a\n{}", quoted.collect::<String>())
}

/// The share of one released cell of column `a` that satisfies a condition; `line` is the column's
/// line in the configuration.
fn share(source: &[&str], cell: &str, line: &str, condition: &str) -> f64 {
    let request = format!("k = 1\n[columns]\na = {{ role = \"quasi\"{line} }}");
    let queries = format!("[[query]]\nwhere = {{ a = {condition} }}");
    ask(&column(source), &column(&[cell]), &request, &queries).unwrap()[0].estimate
}

/// The mean that one released cell of column `a` adds to a sum, with or without a condition on the
/// column.
fn value(source: &[&str], cell: &str, line: &str, condition: Option<&str>) -> f64 {
    let request = format!("k = 1\n[columns]\na = {{ role = \"quasi\"{line} }}");
    let condition =
        condition.map_or(String::new(), |condition| format!("where = {{ a = {condition} }}"));
    ask(
        &column(source),
        &column(&[cell]),
        &request,
        &format!("[[query]]\nsum = \"a\"\n{condition}"),
    )
    .unwrap()[0]
        .estimate
}

fn why(source: &str, release: &str, request: &str, queries: &str) -> String {
    ask(source, release, request, queries).unwrap_err().to_string()
}

fn parsed(queries: &str) -> Vec<Query> {
    parse(queries).unwrap()
}
