//! Example rows of the release: typical ones, with the cells as published and nothing else.

use lookalike::evaluate::query::{RowLoss, typical_rows};
use lookalike::request::{Dialect, Role};
use lookalike::table::{Column, Table};
use lookalike::{Request, Result};
use serde_json::{Value, json};

use super::counts::CountPolicy;
use super::numbers::ReportNumbers;
use super::page::table;

/// The most rows that are shown.
const ROWS: usize = 3;

/// Typical rows: the columns of the release, and the cells of each row.
#[derive(Debug, Default)]
pub(super) struct Examples {
    pub(super) columns: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
}

/// Takes typical rows. In the public edition the choice itself depends on the release alone.
pub(super) fn examples(
    source: &Table,
    release: &Table,
    request: &Request,
    policy: CountPolicy,
) -> Result<Examples> {
    let loss = match policy {
        CountPolicy::Exact => RowLoss::Penalty,
        CountPolicy::Guarded(_) => RowLoss::Cells,
    };
    let rows = typical_rows(source, release, request, ROWS, loss)?;
    // As the file has them: in the form of the source.
    let is_local = release.is_text() && request.output.dialect == Dialect::Input;
    let form = |name: &str| {
        let ends = ["_min", "_max", "_center"].into_iter().find_map(|end| name.strip_suffix(end));
        let columns = [name].into_iter().chain(ends).filter_map(|name| request.column(name));
        let quasi = columns.filter(|column| column.role == Role::Quasi);
        quasi.filter(|_| is_local).find_map(|column| column.format.as_ref())
    };
    let shown = |column: &Column, row: usize| match form(&column.name) {
        Some(form) => form.local_label(&cell(column, row)),
        None => cell(column, row),
    };
    let cells = |&row: &usize| release.columns().iter().map(|column| shown(column, row)).collect();
    Ok(Examples {
        columns: release.columns().iter().map(|column| column.name.clone()).collect(),
        rows: rows.iter().map(cells).collect(),
    })
}

fn cell(column: &Column, row: usize) -> String {
    let is_text = !column.data_type.is_nested() && !column.data_type.is_binary();
    match &column.coded {
        Some(coded) if is_text => {
            coded.values()[coded.codes().get(row) as usize].clone().unwrap_or_default()
        }
        _ => "(no text)".to_string(),
    }
}

/// The section: a column a line, so that a wide release fits on paper.
pub(super) fn section(report: &ReportNumbers) -> String {
    let Examples { columns, rows } = &report.examples;
    if rows.is_empty() {
        return String::new();
    }
    let heads: Vec<String> = std::iter::once("column".to_string())
        .chain((1..=rows.len()).map(|number| format!("row {number}")))
        .collect();
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    let line = |(at, name): (usize, &String)| {
        std::iter::once(name.clone()).chain(rows.iter().map(|row| row[at].clone())).collect()
    };
    let lines: Vec<Vec<String>> = columns.iter().enumerate().map(line).collect();
    format!(
        "<h2>Example rows</h2>\n<p>Typical rows of the release, each of another class: a third of \
         all rows has lost more, a third less. The cells are those of the file.</p>\n{}",
        table(&heads, &lines)
    )
}

/// The rows as JSON.
pub(super) fn object(report: &ReportNumbers) -> Value {
    json!({ "columns": report.examples.columns, "rows": report.examples.rows })
}
