//! What a search found: the release, still in memory, and its numbers. Those of the run are there at
//! once; the others are measured afterwards (`measuring`).

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow_array::{Array, RecordBatch, RecordBatchIterator};
use lookalike::audit::SizeBand;
use lookalike::problem::bound::BoundScope;
use lookalike::run::{Found, ReleasedTable};
use lookalike::table::{self, Source};
use lookalike::{Request, Result};
use serde_json::{Value, json};

use crate::source::SourceTable;
use crate::words;
use crate::work::lines;

/// A release that was searched, audited, and not written.
#[derive(Debug)]
pub(crate) struct FoundRelease {
    pub(crate) id: u64,
    /// What it was searched with: as far as a search depends on it, and the whole configuration.
    pub(crate) searched: String,
    pub(crate) settings: Value,
    pub(crate) request: Request,
    /// None when the memory was needed: the numbers stay.
    pub(crate) released: Mutex<Option<ReleasedTable>>,
    /// Without a lock: a list of results does not wait for the writing of one.
    has_rows: AtomicBool,
    bytes: usize,
    numbers: Mutex<Value>,
    sample: Mutex<Value>,
    pin: Mutex<Option<char>>,
}

/// How far the numbers of a result are: nothing, some or all of what can be measured was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Measured {
    Open,
    Running,
    Done,
    /// There are no such numbers of this kind of release.
    Never,
}

impl Measured {
    fn name(self) -> &'static str {
        match self {
            Measured::Open => "open",
            Measured::Running => "running",
            Measured::Done => "done",
            Measured::Never => "never",
        }
    }
}

fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl FoundRelease {
    pub(crate) fn new(
        released: ReleasedTable,
        request: Request,
        source: &SourceTable,
    ) -> FoundRelease {
        let mut numbers = numbers(&released, &request, source);
        let has_measures = !request.non_homogeneous && !request.has_persons();
        let state = if has_measures { Measured::Open } else { Measured::Never };
        numbers["measured"] = json!(state.name());
        FoundRelease {
            id: 0,
            searched: String::new(),
            settings: Value::Null,
            request,
            bytes: bytes(&released.batches),
            released: Mutex::new(Some(released)),
            has_rows: AtomicBool::new(true),
            numbers: Mutex::new(numbers),
            sample: Mutex::default(),
            pin: Mutex::new(None),
        }
    }

    pub(crate) fn pin(&self) -> Option<char> {
        *locked(&self.pin)
    }

    pub(crate) fn set_pin(&self, pin: Option<char>) {
        *locked(&self.pin) = pin;
    }

    pub(crate) fn has_rows(&self) -> bool {
        self.has_rows.load(Ordering::SeqCst)
    }

    /// The release as a table that can be read; none when its rows are gone.
    pub(crate) fn opened(&self) -> Option<Result<Source>> {
        let released = locked(&self.released);
        let ReleasedTable { batches, schema, .. } = released.as_ref()?;
        let rows = batches.clone().into_iter().map(Ok);
        Some(table::from_batches(RecordBatchIterator::new(rows, schema.clone())))
    }

    pub(crate) fn measured(&self) -> Measured {
        let all = [Measured::Open, Measured::Running, Measured::Done];
        let numbers = locked(&self.numbers);
        let is_now = |state: &Measured| numbers["measured"] == json!(state.name());
        all.into_iter().find(is_now).unwrap_or(Measured::Never)
    }

    pub(crate) fn set_measured(&self, state: Measured) {
        locked(&self.numbers)["measured"] = json!(state.name());
    }

    /// Numbers that were measured.
    pub(crate) fn add(&self, change: impl FnOnce(&mut Value)) {
        change(&mut locked(&self.numbers));
    }

    pub(crate) fn set_sample(&self, sample: Value) {
        *locked(&self.sample) = sample;
    }

    /// For the list of results; `now` is the configuration as it is, as far as a search depends on it.
    pub(crate) fn line(&self, now: &str) -> Value {
        let k = self.request.k.map_or("no k".to_string(), |k| format!("k = {k}"));
        let label = format!("{}: {k}", self.id);
        let numbers = locked(&self.numbers);
        json!({
            "id": self.id, "label": label, "k": self.request.k, "loss": numbers["loss"],
            "pinned": self.pin(), "stale": self.searched != now, "rows": self.has_rows(),
            "measured": numbers["measured"],
        })
    }

    /// What a search ends with.
    pub(crate) fn outcome(&self) -> Value {
        let numbers = locked(&self.numbers);
        let part = |key: &str| numbers[key].clone();
        json!({
            "result": self.id, "loss": part("loss"), "bound": part("bound"), "gap": part("gap"),
            "bound_of": part("bound_of"),
        })
    }

    pub(crate) fn view(&self) -> Value {
        let mut view = locked(&self.numbers).clone();
        view["id"] = json!(self.id);
        view["settings"] = self.settings.clone();
        view
    }

    /// What somebody must know before the release goes out: columns that are not in it, rows that can be
    /// found by what is published as it is, and warnings.
    pub(crate) fn cautions(&self) -> Value {
        let numbers = locked(&self.numbers);
        let part = |key: &str| numbers[key].clone();
        json!({
            "dropped": part("dropped"), "columns": part("source_columns"),
            "unique_published": part("unique_published"), "warnings": part("warnings"),
        })
    }

    pub(crate) fn sample(&self) -> Value {
        locked(&self.sample).clone()
    }
}

/// The newest results stay, and those that are pinned.
const MOST_RESULTS: usize = 20;

/// The rows of results stay up to so many bytes together.
const MOST_BYTES: usize = 64 << 20;

/// Forgets what takes memory: old results as a whole, and of those that are not pinned the rows, as soon
/// as they are many. The rows of so many newest results stay in any case.
pub(crate) fn forget_rows(results: &mut Vec<Arc<FoundRelease>>, newest_with_rows: usize) {
    let newest: Vec<u64> = results.iter().rev().take(MOST_RESULTS).map(|one| one.id).collect();
    results.retain(|result| newest.contains(&result.id) || result.pin().is_some());
    let mut kept = 0;
    for (age, result) in results.iter().rev().enumerate() {
        if result.has_rows() {
            kept += result.bytes;
        }
        if age >= newest_with_rows && result.pin().is_none() && kept > MOST_BYTES {
            result.has_rows.store(false, Ordering::SeqCst);
            *locked(&result.released) = None;
        }
    }
}

/// The bytes of the columns; what two batches share counts once.
fn bytes(batches: &[RecordBatch]) -> usize {
    let mut seen = BTreeSet::new();
    let mut parts: Vec<_> =
        batches.iter().flat_map(|batch| batch.columns()).map(|column| column.to_data()).collect();
    let mut bytes = 0;
    while let Some(part) = parts.pop() {
        for buffer in part.buffers() {
            if seen.insert(buffer.data_ptr().as_ptr() as usize) {
                bytes += buffer.capacity();
            }
        }
        parts.extend(part.child_data().iter().cloned());
    }
    bytes
}

/// The numbers that the run knows.
fn numbers(released: &ReleasedTable, request: &Request, source: &SourceTable) -> Value {
    let (found, verdict) = (&released.report.found, &released.report.verdict);
    let scale = if found.loss.gcp > 0.0 { found.loss.ncp / found.loss.gcp } else { 1.0 };
    let seconds: f64 = released.report.times.iter().map(|(_, seconds)| seconds).sum();
    let columns: Vec<Value> = (0..found.quasi.len()).map(|at| column(found, at, scale)).collect();
    let band = |band: &SizeBand| json!({ "label": band_words(band), "classes": band.classes, "rows": band.rows });
    let sizes: Vec<Value> = verdict.measures.histogram.iter().map(band).collect();
    let unique = found.unique.as_ref().map(|unique| {
        json!({
            "rows": unique.together, "with_quasi": unique.with_quasi,
            "columns": unique.alone.iter().map(|column| &column.column).collect::<Vec<&String>>(),
        })
    });
    let is_released = |name: &String| {
        found.quasi.contains(name) || released.schema.column_with_name(name).is_some()
    };
    let names = source.table.columns().iter().map(|column| &column.name);
    let dropped: Vec<&String> = names.filter(|name| !is_released(name)).collect();
    let risk = &verdict.measures.risk;
    let bound_of = if found.bound_scope == BoundScope::AllRules { "all rules" } else { "k" };
    let warnings = found.warnings.iter().map(|warning| warning.message(words::hint));
    json!({
        "k": request.k, "rows": found.rows, "released": verdict.measures.rows,
        "suppressed": found.suppressed, "classes": verdict.measures.classes,
        "smallest": verdict.measures.k, "loss": found.loss.gcp, "published_loss": found.published.gcp,
        "bound": found.bound.map(|bound| bound.value / scale), "bound_of": bound_of,
        "gap": released.report.gap(), "time": seconds, "columns": columns, "sizes": sizes,
        "risk": {
            "highest": 1.0 / real(verdict.measures.k.max(1)), "average": risk.average,
            "before": null, "average_before": null, "uniques_before": null,
            "above": risk.at_risk.iter().map(|at| json!({ "one_in": at.one_in, "rows": at.rows })).collect::<Vec<Value>>(),
        },
        "queries": [],
        "rules": lines(verdict, &found.quasi),
        "unique_published": unique,
        "warnings": warnings.collect::<Vec<String>>(),
        "dropped": dropped, "source_columns": source.table.columns().len(),
    })
}

/// One quasi-identifier: what it lost. `scale` is the loss of a table without any detail.
fn column(found: &Found, at: usize, scale: f64) -> Value {
    let lost = found.loss.by_attribute.get(at).copied().unwrap_or_default();
    let all: f64 = found.loss.by_attribute.iter().sum();
    let generalized = found.generalized.get(at);
    let weights: f64 = found.generalized.iter().map(|shown| shown.weight).sum();
    let most = generalized.map_or(0.0, |shown| scale * shown.weight / weights.max(1e-300));
    json!({
        "name": found.quasi[at],
        "loss": (most > 0.0).then(|| lost / most),
        "share_of_loss": if all > 0.0 { lost / all } else { 0.0 },
        "unchanged": generalized.map(|shown| 1.0 - shown.generalized),
        "suppressed_cells": generalized.map(|shown| shown.whole),
        "how": null, "mean_width": null, "before": [], "after": [],
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
pub(crate) fn real(number: u64) -> f64 {
    number as f64
}
