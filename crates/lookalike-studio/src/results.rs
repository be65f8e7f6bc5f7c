//! What a search found: the release, still in memory, and its numbers.

use std::path::Path;
use std::sync::Mutex;

use arrow_array::RecordBatchIterator;
use lookalike::audit::{AuditView, SizeBand, covered_rows, treatments};
use lookalike::evaluate::query::{RowLoss, typical_rows};
use lookalike::request::Role;
use lookalike::run::{Cancel, Effort, ReleasedTable, settle_forms};
use lookalike::table::{self, Source, Table};
use lookalike::{Hint, Request, Result};
use lookalike_report::report::{ReportOptions, report};
use serde_json::{Value, json};

use crate::failure::Answer;
use crate::jobs::lines;
use crate::source::SourceTable;

/// A release that was searched, audited, and not written.
#[derive(Debug)]
pub(crate) struct FoundRelease {
    pub(crate) id: u64,
    /// What it was searched with: as far as a search depends on it, and the whole configuration.
    searched: String,
    pub(crate) settings: Value,
    k: Option<u64>,
    pub(crate) released: Mutex<ReleasedTable>,
    numbers: Value,
    sample: Value,
    pin: Mutex<Option<char>>,
}

/// Random counts for each number of conditions.
const QUERIES: u64 = 300;

/// Rows of the sample.
const SAMPLE: usize = 12;

impl FoundRelease {
    pub(crate) fn new(
        released: ReleasedTable,
        request: &Request,
        data: &Path,
        source: &SourceTable,
        searched: String,
        cancel: &Cancel,
    ) -> Answer<FoundRelease> {
        // The measures are made even when the search was ended early.
        let cancel = if cancel.is_abandoned() { cancel.clone() } else { Cancel::default() };
        let options =
            ReportOptions { queries: QUERIES, bound: Effort::None, ..ReportOptions::default() };
        let has_report = !request.non_homogeneous && !request.has_persons();
        let page = match has_report {
            true => {
                Some(report(data, opened(&released)?, request, &options, &cancel, &|_| {})?.numbers)
            }
            false => None,
        };
        let sample = if has_report { sample(&released, request, data)? } else { json!(null) };
        let numbers = numbers(&released, request, page.as_ref(), source);
        Ok(FoundRelease {
            id: 0,
            searched,
            settings: Value::Null,
            k: request.k,
            released: Mutex::new(released),
            numbers,
            sample,
            pin: Mutex::new(None),
        })
    }

    pub(crate) fn pin(&self) -> Option<char> {
        *self.pin.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    pub(crate) fn set_pin(&self, pin: Option<char>) {
        *self.pin.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = pin;
    }

    /// For the list of results; `now` is the configuration as it is, as far as a search depends on it.
    pub(crate) fn line(&self, now: &str) -> Value {
        let k = self.k.map_or("no k".to_string(), |k| format!("k = {k}"));
        let label = format!("{}: {k}", self.id);
        json!({
            "id": self.id, "label": label, "k": self.k, "loss": self.numbers["loss"],
            "pinned": self.pin(), "stale": self.searched != now,
        })
    }

    pub(crate) fn view(&self) -> Value {
        let mut view = self.numbers.clone();
        view["id"] = json!(self.id);
        view["settings"] = self.settings.clone();
        view
    }

    /// What somebody must know before the release goes out: columns that are not in it, rows that can be
    /// found by what is published as it is, and warnings.
    pub(crate) fn cautions(&self) -> Value {
        let part = |key: &str| self.numbers[key].clone();
        json!({
            "dropped": part("dropped"), "columns": part("source_columns"),
            "unique_published": part("unique_published"), "warnings": part("warnings"),
        })
    }

    pub(crate) fn sample(&self) -> &Value {
        &self.sample
    }
}

/// The release as a table that can be read.
fn opened(released: &ReleasedTable) -> Result<Source> {
    let batches = released.batches.clone().into_iter().map(Ok);
    table::from_batches(RecordBatchIterator::new(batches, released.schema.clone()))
}

fn numbers(
    released: &ReleasedTable,
    request: &Request,
    page: Option<&Value>,
    source: &SourceTable,
) -> Value {
    let (found, verdict) = (&released.report.found, &released.report.verdict);
    let scale = if found.loss.gcp > 0.0 { found.loss.ncp / found.loss.gcp } else { 1.0 };
    let seconds: f64 = released.report.times.iter().map(|(_, seconds)| seconds).sum();
    let none = json!(null);
    let of_page = |key: &str| page.map_or(&none, |page| &page[key]);
    let columns: Vec<Value> = found.quasi.iter().map(|name| column(name, found, page)).collect();
    let band = |band: &SizeBand| json!({ "label": band_words(band), "classes": band.classes, "rows": band.rows });
    let sizes: Vec<Value> = verdict.measures.histogram.iter().map(band).collect();
    let queries: Vec<Value> = of_page("queries_by_conditions")
        .as_array()
        .into_iter()
        .flatten()
        .map(|errors| {
            let conditions =
                if errors["is_all"] == json!(true) { json!("all") } else { errors["conditions"].clone() };
            json!({ "conditions": conditions, "median": errors["median_error"], "ninth": errors["p90_error"] })
        })
        .collect();
    let unique = found.unique.as_ref().map(|unique| {
        json!({
            "rows": unique.together, "with_quasi": unique.with_quasi,
            "columns": unique.alone.iter().map(|column| &column.column).collect::<Vec<&String>>(),
        })
    });
    let risk = of_page("risk");
    let is_released = |name: &String| {
        found.quasi.contains(name) || released.schema.column_with_name(name).is_some()
    };
    let names = source.table.columns().iter().map(|column| &column.name);
    let dropped: Vec<&String> = names.filter(|name| !is_released(name)).collect();
    json!({
        "k": request.k, "rows": found.rows, "released": verdict.measures.rows,
        "suppressed": found.suppressed, "classes": verdict.measures.classes,
        "smallest": verdict.measures.k, "loss": found.loss.gcp, "published_loss": found.published.gcp,
        "bound": found.bound.map(|bound| bound.value / scale), "gap": released.report.gap(),
        "time": seconds, "columns": columns, "sizes": sizes,
        "risk": {
            "highest": 1.0 / real(verdict.measures.k.max(1)),
            "average": risk["average"]["after"], "before": risk["highest"]["before"],
            "average_before": risk["average"]["before"], "uniques_before": risk["uniques"]["rows_before"],
            "at_highest": risk["above_1_5"]["rows_after"],
        },
        "queries": queries,
        "rules": lines(verdict, &found.quasi),
        "unique_published": unique,
        "warnings": found.warnings.iter().map(|warning| warning.message(Hint::words)).collect::<Vec<String>>(),
        "dropped": dropped, "source_columns": source.table.columns().len(),
    })
}

/// One quasi-identifier: what it lost, and its values before and after.
fn column(name: &str, found: &lookalike::run::Found, page: Option<&Value>) -> Value {
    let at = found.quasi.iter().position(|other| other == name);
    let lost = |at: usize| found.loss.by_attribute.get(at).copied().unwrap_or_default();
    let all: f64 = found.loss.by_attribute.iter().sum();
    let own = at.map_or(0.0, lost);
    let generalized = at.and_then(|at| found.generalized.get(at));
    let in_list = |key: &str, of: &str| {
        let list = page.and_then(|page| page[key].as_array());
        list.and_then(|list| list.iter().find(|line| line[of] == json!(name))).cloned()
    };
    let bins = in_list("distributions", "column");
    let bars = |side: &str| -> Vec<Value> {
        let bins = bins.as_ref().and_then(|bins| bins["bins"].as_array()).into_iter().flatten();
        bins.map(|bin| json!({ "label": bin["label"], "rows": bin[side] })).collect()
    };
    json!({
        "name": name,
        "loss": in_list("columns", "name").map(|line| line["ncp"].clone()),
        "share_of_loss": if all > 0.0 { own / all } else { 0.0 },
        "unchanged": generalized.map(|shown| 1.0 - shown.generalized),
        "suppressed_cells": generalized.map(|shown| shown.whole),
        "how": in_list("columns", "name").map(|line| line["how"].clone()),
        "before": bars("before"), "after": bars("after"),
        "difference": bins.as_ref().map(|bins| bins["total_variation"].clone()),
    })
}

fn band_words(band: &SizeBand) -> String {
    match band.to {
        Some(to) if to == band.from => to.to_string(),
        Some(to) => format!("{}–{to}", band.from),
        None => format!("{} or more", band.from),
    }
}

#[allow(clippy::cast_precision_loss, reason = "a share, for display")]
fn real(number: u64) -> f64 {
    number as f64
}

/// Typical rows of the release, each beside a row of the table that it covers in every column: one of
/// several that it could be.
fn sample(released: &ReleasedTable, request: &Request, data: &Path) -> Answer<Value> {
    let mut request = request.clone();
    let opened_source = table::open(data, &request.input)?;
    let of_source = treatments(opened_source.names(), &request, AuditView::Source);
    let mut source = opened_source.read(&of_source)?;
    settle_forms(&mut source, &mut request)?;
    let opened = opened(released)?;
    let of_release = treatments(opened.names(), &request, AuditView::ReleaseAgainstSource);
    let release = opened.read(&of_release)?;
    let rows = typical_rows(&source, &release, &request, SAMPLE, RowLoss::Penalty)?;
    let names: Vec<String> = release.columns().iter().map(|column| column.name.clone()).collect();
    let cell = |table: &Table, name: &str, row: usize| -> Option<String> {
        let coded = table.column(name)?.coded.as_ref()?;
        coded.values()[coded.codes().get(row) as usize].clone()
    };
    let before = covered_rows(&release, &rows, &source, &request)?;
    let is_quasi = |name: &str| request.column(name).is_some_and(|line| line.role == Role::Quasi);
    let line = |(&row, before): (&usize, Option<usize>)| {
        let after: Vec<Option<String>> =
            names.iter().map(|name| cell(&release, name, row)).collect();
        // The other columns are those of the released row: they are unchanged.
        let of = |(name, after): (&String, &Option<String>)| match before {
            Some(at) if is_quasi(name) => cell(&source, name, at),
            _ => after.clone(),
        };
        let before: Vec<Option<String>> = names.iter().zip(&after).map(of).collect();
        json!({ "before": before, "after": after })
    };
    let shown: Vec<Value> = rows.iter().zip(before).map(line).collect();
    Ok(json!({ "columns": names, "rows": shown }))
}
