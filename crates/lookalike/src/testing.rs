//! Tables from text, for the tests of this crate's files.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::StringArray;
use arrow_schema::DataType;

use crate::problem::{Numbering, Problem};
use crate::request::{Request, Roles};
use crate::rng::Rng;
use crate::table::{Coded, Column, Table};

/// Every column coded and passed through; an empty cell is missing.
pub(crate) fn table(text: &str) -> Table {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let names: Vec<String> = reader.headers().unwrap().iter().map(String::from).collect();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let cell = |row: usize, column: usize| {
        Some(rows[row][column].to_string()).filter(|text| !text.is_empty())
    };
    let column = |at: usize| {
        let texts = rows.iter().map(|row| Some(&row[at]).filter(|text| !text.is_empty()));
        let coded = Coded::from_cells(texts);
        let cells: StringArray = (0..rows.len()).map(|row| cell(row, at)).collect();
        Column {
            name: names[at].clone(),
            data_type: DataType::Utf8,
            coded: Some(coded),
            passthrough: Some(vec![Arc::new(cells)]),
        }
    };
    Table::new((0..names.len()).map(column).collect(), rows.len())
}

/// The request in TOML, and the roles of the table's columns.
pub(crate) fn request(table: &Table, toml: &str) -> (Roles, Request) {
    let request = Request::parse(toml).unwrap();
    let names: Vec<String> = table.columns().iter().map(|column| column.name.clone()).collect();
    (request.roles(&names).unwrap(), request)
}

/// The problem of a table in text under a request in TOML.
pub(crate) fn problem(text: &str, toml: &str) -> crate::Result<Problem> {
    let table = table(text);
    let (roles, request) = request(&table, toml);
    problem_of(&table, &roles, &request)
}

/// The problem with tuples in the order of their codes, so that a test can name them by number;
/// with a seed, in its random order.
pub(crate) fn problem_of(
    table: &Table,
    roles: &Roles,
    request: &Request,
) -> crate::Result<Problem> {
    let numbering = if request.seed.is_some() { Numbering::Random } else { Numbering::Sorted };
    Problem::numbered(table, roles, request, numbering)
}

/// A seeded table with a numeric, a second numeric, a categorical quasi-identifier and a sensitive
/// column, some cells missing.
pub(crate) fn random_table(seed: u64, rows: u64) -> String {
    let mut rng = Rng::new(seed);
    let mut text = "age,height,city,illness\n".to_string();
    for _ in 0..rows {
        let age = 20 + rng.below(12);
        let age = if rng.below(12) == 0 { String::new() } else { age.to_string() };
        let city = ["Ulm", "Bonn", "Kiel", ""][usize::try_from(rng.below(4)).unwrap()];
        let illness =
            ["flu", "cold", "gout"][usize::try_from(rng.below(3).min(rng.below(3))).unwrap()];
        text += &format!("{age},{}.5,{city},{illness}\n", 150 + rng.below(6) * 3);
    }
    text
}

/// The distinct rows of a text in random order, each with its count in a column `n`; some counts
/// are in two rows.
pub(crate) fn counted(text: &str, seed: u64) -> String {
    let mut rng = Rng::new(seed);
    let mut lines = text.lines();
    let header = lines.next().unwrap();
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    lines.for_each(|line| *counts.entry(line).or_default() += 1);
    let mut rows: Vec<(&str, u64)> = Vec::new();
    for (line, count) in counts {
        let part = if rng.below(3) == 0 { rng.below(count) } else { 0 };
        rows.push((line, count - part));
        rows.extend((part > 0).then_some((line, part)));
    }
    rng.shuffle(&mut rows);
    // The column stands among the others.
    let row = |(line, count): (&str, u64)| {
        let (first, others) = line.split_once(',').unwrap();
        format!("{first},{count},{others}\n")
    };
    let (first, others) = header.split_once(',').unwrap();
    format!("{first},n,{others}\n{}", rows.into_iter().map(row).collect::<String>())
}

/// A batch as the text of a CSV file.
pub(crate) fn csv(batch: &arrow_array::RecordBatch) -> String {
    let comma = crate::table::TextDialect::plain(b',');
    let rows = crate::table::csv_text(batch, comma).unwrap();
    String::from_utf8([crate::table::csv_header(&batch.schema(), comma), rows].concat()).unwrap()
}
