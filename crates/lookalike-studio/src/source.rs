//! The table in memory: read once, every column coded, numbers and dates plain.

use std::path::Path;
use std::sync::{Arc, Mutex};

use lookalike::Warning;
use lookalike::evaluate::profile::{self, ColumnProfile};
use lookalike::forms::Given;
use lookalike::request::{Input, Request};
use lookalike::table::{self, Coded, Column, Table, Treatment};
use lookalike_report::suggest::suggest_and_keep;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde_json::Value;

use crate::failure::{Answer, Failure};
use crate::measure::Classes;
use crate::words;

/// A table and what is known about its columns.
#[derive(Debug)]
pub(crate) struct SourceTable {
    pub(crate) table: Table,
    /// What `init` would say of each column.
    pub(crate) profiles: Vec<ColumnProfile>,
    pub(crate) warnings: Vec<String>,
    /// The keys of each column as `init` would write them, those of columns to decide too.
    suggested: Value,
    /// For each column the rows of each code.
    counts: FxHashMap<String, Vec<u64>>,
    /// For each column its most frequent values.
    examples: FxHashMap<String, Vec<String>>,
    /// The classes of the columns that were measured last, the newest first: another k, and a role that
    /// is taken back, are answered at once.
    pub(crate) classes: Mutex<Vec<(Vec<String>, Arc<Classes>)>>,
}

impl SourceTable {
    /// `toml` is the configuration that `init` would write.
    fn new(
        table: Table,
        profiles: Vec<ColumnProfile>,
        warnings: &[Warning],
        toml: &str,
    ) -> SourceTable {
        // With the reading, so that no screen waits for it.
        let coded = table.columns().par_iter().filter_map(|column| {
            let coded = column.coded.as_ref()?;
            let counts = count(coded);
            let examples = frequent(coded, &counts);
            Some(((column.name.clone(), counts), (column.name.clone(), examples)))
        });
        let (counts, examples): (Vec<_>, Vec<_>) = coded.unzip();
        let warnings = warnings.iter().map(|warning| warning.message(words::hint)).collect();
        SourceTable {
            table,
            profiles,
            warnings,
            suggested: suggested(toml),
            counts: counts.into_iter().collect(),
            examples: examples.into_iter().collect(),
            classes: Mutex::default(),
        }
    }

    /// The codes of a column.
    pub(crate) fn coded(&self, name: &str) -> Answer<&Coded> {
        let column = self.table.column(name).and_then(|column| column.coded.as_ref());
        column.ok_or_else(|| Failure::not_found("the table has no such column"))
    }

    /// A table of the column's values alone, each in one row: a tree depends on nothing else.
    pub(crate) fn distinct(&self, name: &str) -> Answer<Table> {
        let coded = self.coded(name)?;
        let column = self.table.column(name).ok_or_else(|| Failure::not_found("no such column"))?;
        let values = Coded::from_cells(coded.values().iter().map(Option::as_deref));
        let rows = coded.values().len();
        let (name, data_type) = (column.name.clone(), column.data_type.clone());
        let column = Column { name, data_type, coded: Some(values), passthrough: None };
        Ok(Table::new(vec![column], rows))
    }

    /// The rows of each code of a column.
    pub(crate) fn counts(&self, name: &str) -> Answer<&[u64]> {
        let counts = self.counts.get(name);
        counts.map(Vec::as_slice).ok_or_else(|| Failure::not_found("the table has no such column"))
    }

    /// The keys that a column is suggested to have.
    pub(crate) fn suggested(&self, name: &str) -> &Value {
        &self.suggested[name]
    }

    /// The most frequent values of a column, at most three.
    pub(crate) fn examples(&self, name: &str) -> &[String] {
        self.examples.get(name).map(Vec::as_slice).unwrap_or_default()
    }
}

/// The columns of what `init` would write, if every column that is to be decided were taken in.
fn suggested(toml: &str) -> Value {
    let decided = toml.replace("\n#? ", "\n");
    let request = Request::parse(&decided).and_then(|request| request.to_json());
    let request: Option<Value> = request.ok().and_then(|json| serde_json::from_str(&json).ok());
    request.map(|mut request| request["columns"].take()).unwrap_or_default()
}

fn count(coded: &Coded) -> Vec<u64> {
    let mut rows = vec![0; coded.values().len()];
    coded.codes().iter().for_each(|code| rows[code as usize] += 1);
    rows
}

/// Three values with most rows, the first ones of those with equally many.
fn frequent(coded: &Coded, counts: &[u64]) -> Vec<String> {
    let mut places: Vec<usize> =
        (0..counts.len()).filter(|&at| coded.values()[at].is_some()).collect();
    let few = places.len().min(3);
    if few < places.len() {
        places.select_nth_unstable_by(few, |&a, &b| counts[b].cmp(&counts[a]).then(a.cmp(&b)));
    }
    places.truncate(few);
    places.sort_by(|&a, &b| counts[b].cmp(&counts[a]).then(a.cmp(&b)));
    places.iter().filter_map(|&at| coded.values()[at].clone()).collect()
}

/// Reads a table that has no configuration; returns the text that `init` would write, too.
pub(crate) fn read_new(path: &Path, input: &Input) -> Answer<(SourceTable, String)> {
    let source = table::open(path, input)?;
    let header = lookalike_report::suggest::header_warning(&source);
    let named = path.file_name().map(Into::into);
    let (found, table) = suggest_and_keep(source, &Input { path: named, ..input.clone() })?;
    let warnings: Vec<Warning> = header.into_iter().chain(found.warnings).collect();
    Ok((SourceTable::new(table, found.columns, &warnings, &found.toml), found.toml))
}

/// Reads the table of a configuration.
pub(crate) fn read(path: &Path, request: &Request) -> Answer<SourceTable> {
    let source = table::open(path, &request.input)?;
    let warnings = source.notes().to_vec();
    let is_nested = |at: usize| source.data_types()[at].is_nested();
    let treatments: Vec<Treatment> = (0..source.names().len())
        .map(|at| if is_nested(at) { Treatment::Skip } else { Treatment::Code })
        .collect();
    let table = source.read(&treatments)?;
    let input = &request.input;
    let given = Given {
        decimal: input.decimal,
        thousands: input.thousands,
        date: input.date_format.clone(),
        is_of_others: false,
    };
    let (table, reading) = profile::read_plainly(table, &given);
    if table.rows() == 0 {
        return Err(Failure::bad("the table has no rows: there is nothing to release"));
    }
    table.check_header()?;
    let profiles = profile::profile(&table);
    let toml = profile::to_toml(&Input::default(), &reading, &profiles);
    Ok(SourceTable::new(table, profiles, &warnings, &toml))
}
