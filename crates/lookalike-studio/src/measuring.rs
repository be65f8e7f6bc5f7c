//! What is measured of a result after it was audited and shown: distributions, typical rows, the risk of
//! the table before, and how far counts are off. Each part is there as soon as it is known; between two
//! parts the work can be stopped, and taken up again later.

use std::path::Path;
use std::sync::Arc;

use jiff::civil::Date;
use lookalike::audit::{self, AuditView, covered_rows, treatments};
use lookalike::evaluate::query::{self, Detail, RowLoss, Workload, typical_rows};
use lookalike::request::Role;
use lookalike::run::{coarsen, settle_forms};
use lookalike::table::{self, Coded, Column, Table};
use lookalike::{ErrorKind, Request};
use serde_json::{Value, json};

use crate::failure::{Answer, Failure};
use crate::jobs::{Job, MEASURE};
use crate::results::{FoundRelease, Measured, real};
use crate::state::App;

/// Random counts for each number of conditions, and fewer for a large table: one takes a pass over it.
const QUERIES: u64 = 300;
const FEWER_QUERIES: u64 = 100;
const LARGE: usize = 300_000;

/// Counts are drawn from so many evenly spaced rows: one that finds none of them is drawn again.
const DRAWN_FROM: usize = 100_000;

/// Rows of the sample.
const SAMPLE: usize = 12;

/// The parts of the time that the steps take, as measured on 2.7 million rows.
const STEPS: [f64; 7] = [0.13, 0.02, 0.1, 0.14, 0.27, 0.2, 0.14];

/// The two tables, as the auditor reads them.
struct Tables {
    source: Table,
    release: Table,
    request: Request,
}

/// Measures a result; what was measured before is measured again.
pub(crate) fn measure(app: &App, job: &Arc<Job>, found: &FoundRelease, data: &Path) -> Answer<()> {
    if found.measured() == Measured::Never {
        return Ok(());
    }
    found.set_measured(Measured::Running);
    job.stage(MEASURE, None);
    let is_whole = all_steps(app, job, found, data);
    let is_done = matches!(is_whole, Ok(true));
    found.set_measured(if is_done { Measured::Done } else { Measured::Open });
    is_whole.map(drop)
}

/// False when it was stopped.
fn all_steps(app: &App, job: &Arc<Job>, found: &FoundRelease, data: &Path) -> Answer<bool> {
    let mut step = 0;
    // Says how far it is, and whether to go on.
    let mut goes_on = || {
        job.share(STEPS[..step].iter().fold(0.0, |all, part| all + part));
        if step > 0 {
            app.tell("measured", json!({ "result": found.id }).to_string());
        }
        step += 1;
        !job.measuring.is_search_ended()
    };
    if !goes_on() {
        return Ok(false);
    }
    let tables = read(found, data)?;
    if !goes_on() {
        return Ok(false);
    }
    columns(found, &tables)?;
    if !goes_on() {
        return Ok(false);
    }
    found.set_sample(sample(&tables)?);
    if !goes_on() {
        return Ok(false);
    }
    risk_before(found, &tables)?;
    for conditions in [Some(1), Some(2), None] {
        if !goes_on() {
            return Ok(false);
        }
        counts(found, &tables, conditions)?;
    }
    Ok(true)
}

fn read(found: &FoundRelease, data: &Path) -> Answer<Tables> {
    let gone = || Failure::not_found("the rows of this result are not in memory any more");
    let opened_release = found.opened().ok_or_else(gone)??;
    let mut request = found.request.clone();
    let opened = table::open(data, &request.input)?;
    let of_source = treatments(opened.names(), &request, AuditView::Source);
    let mut source = opened.read(&of_source)?;
    settle_forms(&mut source, &mut request)?;
    // From here on the source has what is published: rounded numbers are what others know.
    coarsen(&mut source, &request)?;
    let of_release = treatments(opened_release.names(), &request, AuditView::ReleaseAgainstSource);
    let release = opened_release.read(&of_release)?;
    Ok(Tables { source, release, request })
}

/// The values of every column before and after.
fn columns(found: &FoundRelease, tables: &Tables) -> Answer<()> {
    let Tables { source, release, request } = tables;
    let details = query::columns(source, release, request)?;
    found.add(|numbers| {
        let lines = numbers["columns"].as_array_mut().into_iter().flatten();
        for line in lines {
            let Some(detail) = details.iter().find(|detail| line["name"] == json!(detail.name))
            else {
                continue;
            };
            let label = |label: &Option<String>| label.clone().unwrap_or("other".to_string());
            let bins = &detail.bins;
            line["how"] = json!(detail.kind);
            line["mean_width"] = mean_width(detail, tables);
            line["before"] = bins
                .iter()
                .map(|bin| json!({ "label": label(&bin.label), "rows": bin.before }))
                .collect();
            line["after"] = bins
                .iter()
                .map(|bin| json!({ "label": label(&bin.label), "rows": bin.after }))
                .collect();
        }
    });
    Ok(())
}

/// The mean distance of the ends of a published cell; none of a column of labels.
fn mean_width(detail: &Detail, tables: &Tables) -> Value {
    let (unit, is_date) = match detail.kind {
        "ranges of numbers" => ("", false),
        "ranges of dates" => ("days", true),
        _ => return Value::Null,
    };
    let number = |text: &String| -> Option<f64> {
        match is_date {
            false => text.trim().parse().ok(),
            true => {
                let date: Date = text.get(..10)?.parse().ok()?;
                Some(f64::from(Date::constant(1970, 1, 1).until(date).ok()?.get_days()))
            }
        }
    };
    let values = tables.source.coded(&detail.name).values();
    let (least, greatest) = values
        .iter()
        .flatten()
        .filter_map(number)
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(least, greatest), value| {
            (least.min(value), greatest.max(value))
        });
    let rows = real(tables.release.rows() as u64).max(1.0);
    match greatest > least {
        true => json!({ "width": detail.ncp / rows * (greatest - least), "unit": unit }),
        false => Value::Null,
    }
}

/// Typical rows of the release, each beside a row of the table that it covers in every column: one of
/// several that it could be.
fn sample(tables: &Tables) -> Answer<Value> {
    let Tables { source, release, request } = tables;
    let rows = typical_rows(source, release, request, SAMPLE, RowLoss::Penalty)?;
    let names: Vec<String> = release.columns().iter().map(|column| column.name.clone()).collect();
    let cell = |table: &Table, name: &str, row: usize| -> Option<String> {
        let coded = table.column(name)?.coded.as_ref()?;
        coded.values()[coded.codes().get(row) as usize].clone()
    };
    let before = covered_rows(release, &rows, source, request)?;
    let is_quasi = |name: &str| request.column(name).is_some_and(|line| line.role == Role::Quasi);
    let line = |(&row, before): (&usize, Option<usize>)| {
        let after: Vec<Option<String>> =
            names.iter().map(|name| cell(release, name, row)).collect();
        // The other columns are those of the released row: they are unchanged.
        let of = |(name, after): (&String, &Option<String>)| match before {
            Some(at) if is_quasi(name) => cell(source, name, at),
            _ => after.clone(),
        };
        let before: Vec<Option<String>> = names.iter().zip(&after).map(of).collect();
        json!({ "before": before, "after": after })
    };
    let shown: Vec<Value> = rows.iter().zip(before).map(line).collect();
    Ok(json!({ "columns": names, "rows": shown }))
}

fn risk_before(found: &FoundRelease, tables: &Tables) -> Answer<()> {
    let before = audit::measures(&tables.source, &tables.request)?;
    found.add(|numbers| {
        let risk = &mut numbers["risk"];
        risk["before"] = json!(before.risk.highest);
        risk["average_before"] = json!(before.risk.average);
        risk["uniques_before"] = json!(before.uniques);
        for at in risk["above"].as_array_mut().into_iter().flatten() {
            let was = before.risk.at_risk.iter().find(|was| at["one_in"] == json!(was.one_in));
            at["before"] = json!(was.map(|was| was.rows));
        }
    });
    Ok(())
}

/// How far random counts with so many conditions are off; on all quasi-identifiers when absent.
fn counts(found: &FoundRelease, tables: &Tables, conditions: Option<usize>) -> Answer<()> {
    let Tables { source, release, request } = tables;
    let quasi = request.columns.values().filter(|line| line.role == Role::Quasi).count();
    // One and two conditions on as many columns are all of them.
    if conditions.is_some_and(|conditions| conditions >= quasi) {
        return Ok(());
    }
    let queries = if source.rows() > LARGE { FEWER_QUERIES } else { QUERIES };
    let workload = Workload { queries, seed: 1, conditions, ..Workload::default() };
    let drawn = match query::draw(&spaced(tables), request, &workload) {
        // On a wide table hardly any count is above 0.
        Err(error) if error.kind() == ErrorKind::Request => return Ok(()),
        drawn => drawn?,
    };
    let errors = query::summarize(&query::answer(source, release, request, &drawn)?);
    let line = json!({
        "conditions": conditions.map_or(json!("all"), |number| json!(number)),
        "median": errors.median_error, "ninth": errors.p90_error, "queries": errors.queries,
    });
    found.add(|numbers| {
        let lines = numbers["queries"].as_array_mut().into_iter();
        lines.for_each(|lines| {
            lines.retain(|other| other["conditions"] != line["conditions"]);
            lines.push(line.clone());
        });
    });
    Ok(())
}

/// Evenly spaced rows of the quasi-identifiers of the table.
fn spaced(tables: &Tables) -> Table {
    let rows = tables.source.rows();
    let step = rows.div_ceil(DRAWN_FROM).max(1);
    let is_quasi = |column: &&Column| {
        tables.request.column(&column.name).is_some_and(|line| line.role == Role::Quasi)
    };
    let some = |column: &Column| {
        let coded = column.coded.as_ref().map(|coded| {
            let cell = |row: usize| coded.values()[coded.codes().get(row) as usize].as_deref();
            Coded::from_cells((0..rows).step_by(step).map(cell))
        });
        let (name, data_type) = (column.name.clone(), column.data_type.clone());
        Column { name, data_type, coded, passthrough: None }
    };
    let columns = tables.source.columns().iter().filter(is_quasi).map(some).collect();
    Table::new(columns, rows.div_ceil(step))
}
