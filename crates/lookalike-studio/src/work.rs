//! What the jobs do: search, frontier, explanation, measures, file, report, verification.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use lookalike::request::{Output, Role};
use lookalike::run::{Effort, Event, Run, USUAL_TIME, Verify};
use lookalike::table::Existing;
use lookalike::{Algorithm, Request, table};
use lookalike_report::codebook;
use lookalike_report::compare::{self, ComparePlan, RuleSet, RunResult, compare};
use lookalike_report::report::{Edition, RecordDate, ReportOptions, TableNames, report};
use lookalike_report::words::{CLASSES, rule_line};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::failure::{Answer, Failure};
use crate::files::{beside, shown};
use crate::jobs::Job;
use crate::measuring;
use crate::results::{FoundRelease, forget_rows};
use crate::source::SourceTable;
use crate::state::App;
use crate::words;

/// The most values of k of a frontier.
const MOST_KS: usize = 20;

/// In a frontier of more rows, counts are not compared.
const COUNTED: usize = 300_000;

/// Random counts of a point of the frontier.
const QUERIES: u64 = 200;

/// What a job is to do.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(crate) enum Work {
    /// Searches a release and keeps it in memory.
    Search { time: Option<String> },
    /// Searches shortly for several k.
    Frontier { ks: Vec<u64>, time: Option<String> },
    /// What costs the detail, and what would help.
    Explain { time: Option<String> },
    /// Measures what was not measured of a result.
    Measure { result: u64 },
    /// Writes a release that was found, reads it back and verifies it.
    Write {
        result: u64,
        path: String,
        #[serde(default)]
        force: bool,
        #[serde(default)]
        codebook: bool,
    },
    /// The page about a written release.
    Report {
        path: String,
        edition: String,
        title: Option<String>,
        to: String,
        #[serde(default)]
        force: bool,
    },
    /// Verifies a written release against the table.
    Verify { path: String },
}

impl Work {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Work::Search { .. } => "search",
            Work::Frontier { .. } => "frontier",
            Work::Explain { .. } => "explain",
            Work::Measure { .. } => "measure",
            Work::Write { .. } => "write",
            Work::Report { .. } => "report",
            Work::Verify { .. } => "verify",
        }
    }
}

/// The project as a job finds it.
struct Begun {
    request: Request,
    data: PathBuf,
    config: PathBuf,
    source: Arc<SourceTable>,
    /// As the configuration has them, and as far as a search depends on them.
    settings: Request,
    searched: String,
}

pub(crate) fn done(app: &Arc<App>, job: &Arc<Job>, work: &Work) -> Answer<Value> {
    let begun = {
        let mut state = app.state();
        let project = state.project()?;
        let settings = project.request()?;
        Begun {
            request: project.request_to_run()?,
            data: project.data.clone(),
            config: project.config.clone(),
            source: Arc::clone(&project.source),
            searched: project.searched(&settings),
            settings,
        }
    };
    match work {
        Work::Search { time } => search(app, job, begun, time.as_ref()),
        Work::Frontier { ks, time } => frontier(job, &begun, ks, time.as_ref()),
        Work::Explain { time } => {
            let request = with_time(begun.request, time.as_ref());
            job.stage("explain", Some(limit(&request)?));
            let opened = table::open(&begun.data, &request.input)?;
            let found = lookalike_report::explain::explain(opened, &request, &job.cancel)?;
            Ok(found.json(words::hint))
        }
        Work::Measure { result } => {
            let found = app.state().result(*result)?;
            job.say("result", found.outcome());
            measuring::measure(app, job, &found, &begun.data)?;
            Ok(json!({ "result": result }))
        }
        Work::Write { result, path, force, codebook } => {
            write(app, job, &begun.config, (*result, path, *force, *codebook))
        }
        Work::Report { path, edition, title, to, force } => {
            job.stage("report", None);
            let is_public = edition == "public";
            make_report(app, job, &begun, (path, is_public, title.as_deref(), to, *force))
        }
        Work::Verify { path } => {
            job.stage("verify", None);
            let release = named_file(app, &begun.config, path)?;
            let data = Some(begun.data.into());
            let found = lookalike_report::verify::verify(release, data, &begun.request, None)?;
            let holds = found.verdict.holds();
            Ok(json!({ "holds": holds, "lines": lines(&found.verdict, &found.quasi) }))
        }
    }
}

/// A file that the page names, relative to the configuration.
fn named_file(app: &App, config: &Path, path: &str) -> Answer<PathBuf> {
    if path.trim().is_empty() {
        return Err(Failure::bad("name a file"));
    }
    beside(&app.folder, config, Path::new(path))
}

/// The same for a file that is written: none of those that the project is made of.
fn output(app: &App, config: &Path, path: &str) -> Answer<PathBuf> {
    let place = named_file(app, config, path)?;
    if app.state().project()?.own_files().contains(&place) {
        return Err(Failure::bad(
            "this is the name of the table, of the configuration or of a hierarchy: choose another",
        ));
    }
    Ok(place)
}

fn with_time(mut request: Request, time: Option<&String>) -> Request {
    if let Some(time) = time {
        request.limits.time = Some(time.clone());
    }
    request
}

fn limit(request: &Request) -> Answer<Duration> {
    Ok(request.time()?.unwrap_or(USUAL_TIME))
}

/// The loss of a table of which nothing is published: rows times the weights of the columns.
#[allow(clippy::cast_precision_loss, reason = "a share, for display")]
fn scale(request: &Request, rows: usize) -> f64 {
    let quasi = request.columns.values().filter(|line| line.role == Role::Quasi);
    let weights: f64 = quasi.map(|line| line.weight.unwrap_or(1.0)).sum();
    (rows as f64 * weights).max(f64::MIN_POSITIVE)
}

/// Searches. The result is there as soon as it is audited; then it is measured.
fn search(app: &Arc<App>, job: &Arc<Job>, begun: Begun, time: Option<&String>) -> Answer<Value> {
    let mut request = with_time(begun.request, time);
    request.output.codebook = true;
    // The search needs the memory: a large result that is not pinned makes room for the next.
    forget_rows(&mut app.state().results, 0);
    let (scale, limit) = (scale(&request, begun.source.table.rows()), limit(&request)?);
    let watch = |event: Event<'_>| job.event(event, scale, limit);
    let run = Run::new(&request).bound(Effort::Quick).verify(Verify::Auto);
    let run = run.cancel(&job.cancel).watch(&watch).codebook_page(codebook::page).categories();
    let released = run.in_memory(begun.data.clone())?;
    let mut found = FoundRelease::new(released, request, &begun.source);
    (found.settings, found.searched) = (json!(begun.settings), begun.searched);
    let (found, kept) = {
        let mut state = app.state();
        state.next_result += 1;
        found.id = state.next_result;
        let found = Arc::new(found);
        state.results.push(Arc::clone(&found));
        forget_rows(&mut state.results, 1);
        (Arc::clone(&found), found.outcome())
    };
    job.say("result", kept.clone());
    app.tell("project", "{}".into());
    // The release is audited: figures that cannot be measured do not take it away.
    if let Err(failure) = measuring::measure(app, job, &found, &begun.data) {
        job.say("warning", json!({ "message": failure.message }));
    }
    Ok(kept)
}

fn frontier(job: &Arc<Job>, begun: &Begun, ks: &[u64], time: Option<&String>) -> Answer<Value> {
    let mut ks: Vec<u64> = ks.iter().copied().filter(|&k| k >= 1).collect();
    ks.sort_unstable();
    ks.dedup();
    if ks.is_empty() || ks.len() > MOST_KS {
        return Err(Failure::bad(format!("give 1 to {MOST_KS} values of k: whole numbers from 1")));
    }
    job.say("ks", json!({ "ks": ks }));
    job.stage("read", None);
    let request = with_time(begun.request.clone(), time.or(Some(&"2s".to_string())));
    // With one of the k: it may be the only rule.
    let ks_to_read = vec![ks.first().copied()];
    let of_all = RuleSet { name: String::new(), request: request.clone(), ks: ks_to_read };
    let table = compare::read(table::open(&begun.data, &request.input)?, &[of_all])?;
    let queries = if table.rows() <= COUNTED { QUERIES } else { 0 };
    let algorithms = vec![Algorithm::Auto];
    let plan = ComparePlan { algorithms, queries, bound: Effort::None, ..ComparePlan::default() };
    job.stage("search", None);
    let mut points = Vec::new();
    for &k in &ks {
        job.share(real(points.len() as u64) / real(ks.len() as u64));
        let sets = [RuleSet { name: String::new(), request: request.clone(), ks: vec![Some(k)] }];
        let found = compare(&table, &sets, &plan, &job.cancel, &|_| {})?;
        let point = match found.runs.first().map(|run| &run.result) {
            Some(RunResult::Met(numbers)) => json!({
                "k": k, "loss": numbers.loss.gcp, "classes": numbers.classes,
                "smallest": numbers.smallest, "released": numbers.released,
                "suppressed": numbers.suppressed, "risk": 1.0 / real(numbers.smallest.max(1)),
                "query_error": numbers.error, "error": null,
            }),
            Some(RunResult::NotMet(why)) => {
                json!({ "k": k, "loss": null, "error": why.message(words::hint) })
            }
            None => break,
        };
        job.say("point", point.clone());
        points.push(point);
        if job.cancel.is_search_ended() {
            break;
        }
    }
    Ok(json!({ "points": points, "ks": ks }))
}

#[allow(clippy::cast_precision_loss, reason = "a share, for display")]
fn real(number: u64) -> f64 {
    number as f64
}

fn write(
    app: &Arc<App>,
    job: &Arc<Job>,
    config: &Path,
    (result, path, force, with_codebook): (u64, &str, bool, bool),
) -> Answer<Value> {
    let out = output(app, config, path)?;
    let found = app.state().result(result)?;
    job.stage("write", None);
    let existing = Existing::overwrite_if(force);
    let mut kept = found.released.lock().unwrap_or_else(PoisonError::into_inner);
    let released = kept.as_mut().ok_or_else(|| {
        Failure::not_found("the rows of this result are not in memory any more: search again")
    })?;
    // The codebook is always in memory, and written where it is asked for.
    let codebook = if with_codebook { None } else { released.codebook.take() };
    let written = released.to_file(&out, existing, &job.cancel);
    released.codebook = codebook.or_else(|| released.codebook.take());
    written?;
    let named = Request {
        output: Output { codebook: with_codebook, ..Output::default() },
        ..Request::default()
    };
    let beside = Run::new(&named).codebook_page(codebook::page).codebook_files(&out);
    app.state().written.extend(beside.iter().cloned());
    let beside: Vec<String> = beside.iter().map(|path| shown(&app.folder, path)).collect();
    let quasi = &released.report.found.quasi;
    let size = std::fs::metadata(&out).map(|about| about.len()).unwrap_or_default();
    Ok(json!({
        "path": shown(&app.folder, &out), "verified": true, "bytes": size,
        "lines": lines(&released.report.verdict, quasi), "codebook": beside,
        "cautions": found.cautions(),
    }))
}

/// The page about a written release.
fn make_report(
    app: &Arc<App>,
    job: &Arc<Job>,
    begun: &Begun,
    (path, is_public, title, to, force): (&str, bool, Option<&str>, &str, bool),
) -> Answer<Value> {
    let release = named_file(app, &begun.config, path)?;
    let to = output(app, &begun.config, to)?;
    if !to.extension().is_some_and(|end| end.eq_ignore_ascii_case("html")) {
        return Err(Failure::bad("a report is a page: give it a name with .html at its end"));
    }
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let title = title.filter(|title| !title.is_empty()).map(str::to_string);
    let names =
        TableNames { source: name(&begun.data), release: title.unwrap_or_else(|| name(&release)) };
    let edition = if is_public { Edition::Public } else { Edition::Internal };
    let date = Some(RecordDate::today()?);
    let options = ReportOptions { names, edition, date, ..ReportOptions::default() };
    let data = begun.data.clone();
    let page = report(data, release, &begun.request, &options, &job.cancel, &|_| {})?;
    // A report of this session may be made anew.
    let is_own = app.state().written.contains(&to);
    let existing = Existing::overwrite_if(force || is_own);
    table::write_text(&to, existing, table::Access::Usual, &page.html)?;
    app.state().written.insert(to.clone());
    Ok(json!({ "path": shown(&app.folder, &to), "holds": page.holds, "verdict": page.verdict }))
}

/// Every rule of a verdict, and the comparison with the source, a line each.
pub(crate) fn lines(verdict: &lookalike::audit::Verdict, quasi: &[String]) -> Vec<String> {
    let rules = verdict.rules.iter().map(|rule| rule_line(rule, quasi, CLASSES));
    let leaks = verdict.leaks.iter().map(|leak| format!("LEAK    {leak}"));
    let truth = verdict.truth.iter().flat_map(|truth| &truth.statements);
    let truth =
        truth.map(|said| format!("{:<8}{}", json!(said.finding).as_str().unwrap_or(""), said.text));
    rules.chain(leaks).chain(truth).collect()
}
