//! Long work, one job at a time, in a thread of its own. All that a job says is kept, so that a page
//! that is loaded anew hears it from the beginning.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use axum::http::StatusCode;
use lookalike::request::Output;
use lookalike::run::{Cancel, Effort, Event, Progress, Run, Verify};
use lookalike::table::Existing;
use lookalike::{Algorithm, Hint, Request, table};
use lookalike_report::codebook;
use lookalike_report::compare::{self, ComparePlan, RuleSet, RunResult, compare};
use lookalike_report::report::{Edition, RecordDate, ReportOptions, TableNames, report};
use lookalike_report::words::{CLASSES, rule_line};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::failure::{Answer, Failure};
use crate::files::{below, shown};
use crate::project::searched;
use crate::results::FoundRelease;
use crate::state::App;

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
    fn name(&self) -> &'static str {
        match self {
            Work::Search { .. } => "search",
            Work::Frontier { .. } => "frontier",
            Work::Explain { .. } => "explain",
            Work::Write { .. } => "write",
            Work::Report { .. } => "report",
            Work::Verify { .. } => "verify",
        }
    }
}

/// A job and all that it said.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) id: u64,
    kind: &'static str,
    pub(crate) cancel: Cancel,
    is_running: AtomicBool,
    said: Mutex<Vec<(&'static str, Value)>>,
    /// The number of events so far.
    news: watch::Sender<usize>,
}

impl Job {
    pub(crate) fn is_running(&self) -> bool {
        self.is_running.load(Ordering::SeqCst)
    }

    pub(crate) fn view(&self) -> Value {
        let state = if self.is_running() { "running" } else { "done" };
        json!({ "id": self.id, "kind": self.kind, "state": state })
    }

    fn say(&self, event: &'static str, data: Value) {
        let mut said = self.said.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        // A page that comes later needs the newest progress alone.
        match said.last_mut() {
            Some(last) if last.0 == "progress" && event == "progress" => {
                *last = (event, data);
                self.news.send_modify(|_| {});
            }
            _ => {
                said.push((event, data));
                self.news.send_replace(said.len());
            }
        }
    }

    /// The last event. Whoever has seen it can start the next job.
    fn end(&self, event: &'static str, data: Value) {
        let mut said = self.said.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        said.push((event, data));
        self.is_running.store(false, Ordering::SeqCst);
        self.news.send_replace(said.len());
    }

    /// The events from one on, and whether there will be more.
    pub(crate) fn since(&self, first: usize) -> (Vec<(&'static str, Value)>, bool) {
        let said = self.said.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        (said[first.min(said.len())..].to_vec(), self.is_running())
    }

    /// Where a reader goes on who has seen so many events: an event of progress at the end may be
    /// replaced by a newer one.
    pub(crate) fn open_from(&self, seen: usize) -> usize {
        let said = self.said.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let is_open = seen > 0 && said.get(seen - 1).is_some_and(|last| last.0 == "progress");
        if is_open && self.is_running() { seen - 1 } else { seen }
    }

    pub(crate) fn subscribe(&self) -> watch::Receiver<usize> {
        self.news.subscribe()
    }

    fn event(&self, event: Event<'_>, scale: f64) {
        match event {
            Event::Stage(stage) => self.say("stage", json!({ "stage": stage.name() })),
            Event::Warning(warning) => {
                self.say("warning", json!({ "message": warning.message(Hint::words) }));
            }
            Event::Progress(now) => self.say("progress", progress(&now, scale)),
            _ => {}
        }
    }
}

/// Losses as shares of the detail: `scale` is the loss of a table without any.
fn progress(now: &Progress, scale: f64) -> Value {
    json!({
        "share": now.share, "left": now.left.map(|left| left.as_secs_f64()),
        "loss": now.loss / scale, "bound": now.bound.map(|bound| bound.value / scale), "gap": now.gap,
    })
}

/// Starts a job, unless another one runs.
pub(crate) fn start(app: &Arc<App>, work: Work) -> Answer<u64> {
    let mut state = app.state();
    if state.job.as_ref().is_some_and(|job| job.is_running()) {
        let why = "another job runs: stop it, or wait for its end";
        return Err(Failure::new(StatusCode::CONFLICT, "busy", why));
    }
    state.project()?.check_unchanged(None)?;
    state.next_job += 1;
    let job = Arc::new(Job {
        id: state.next_job,
        kind: work.name(),
        cancel: Cancel::default(),
        is_running: AtomicBool::new(true),
        said: Mutex::default(),
        news: watch::channel(0).0,
    });
    state.job = Some(Arc::clone(&job));
    drop(state);
    let (app, id) = (Arc::clone(app), job.id);
    std::thread::spawn(move || {
        let done =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| done(&app, &job, &work)));
        let done = done.unwrap_or_else(|_| {
            let why = "the program made a mistake here: nothing was written";
            Err(Failure::new(StatusCode::INTERNAL_SERVER_ERROR, "bug", why))
        });
        match done {
            Ok(result) => job.end("done", result),
            Err(failure) => job.end("failed", json!({ "error": failure.json() })),
        }
        app.tell("job", json!({ "id": job.id, "state": "done" }).to_string());
    });
    Ok(id)
}

fn done(app: &Arc<App>, job: &Arc<Job>, work: &Work) -> Answer<Value> {
    let (request, data, source, settings, config) = {
        let mut state = app.state();
        let project = state.project()?;
        let source = Arc::clone(&project.source);
        let settings = project.request()?;
        (project.request_to_run()?, project.data.clone(), source, settings, project.config.clone())
    };
    match work {
        Work::Search { time } => {
            let mut request = with_time(request, time.as_ref());
            request.output.codebook = true;
            let scale = scale(&request, source.table.rows());
            let watch = |event: Event<'_>| job.event(event, scale);
            let run = Run::new(&request).bound(Effort::Quick).verify(Verify::Auto);
            let run =
                run.cancel(&job.cancel).watch(&watch).codebook_page(codebook::page).categories();
            let released = run.in_memory(data.clone())?;
            job.say("stage", json!({ "stage": "measure" }));
            let searched = searched(&settings);
            let mut found =
                FoundRelease::new(released, &request, &data, &source, searched, &job.cancel)?;
            found.settings = json!(settings);
            let mut state = app.state();
            state.next_result += 1;
            found.id = state.next_result;
            let id = found.id;
            state.results.push(Arc::new(found));
            forget_old(&mut state.results);
            Ok(json!({ "result": id }))
        }
        Work::Frontier { ks, time } => frontier(job, &request, &data, ks, time.as_ref()),
        Work::Explain { time } => {
            let request = with_time(request, time.as_ref());
            let opened = table::open(&data, &request.input)?;
            let found = lookalike_report::explain::explain(opened, &request, &job.cancel)?;
            Ok(found.json(Hint::words))
        }
        Work::Write { result, path, force, codebook } => {
            write(app, job, (*result, path, *force, *codebook), &data, &config)
        }
        Work::Report { path, edition, title, to, force } => {
            let (release, to) = (output(app, &config, path)?, output(app, &config, to)?);
            let edition = if edition == "public" { Edition::Public } else { Edition::Internal };
            let name =
                |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let names = TableNames {
                source: name(&data),
                release: title.clone().filter(|title| !title.is_empty()).unwrap_or(name(&release)),
            };
            let date = Some(RecordDate::today()?);
            let options = ReportOptions { names, edition, date, ..ReportOptions::default() };
            let page = report(data, release, &request, &options, &job.cancel, &|_| {})?;
            // A report of this session may be made anew.
            let is_own = app.state().written.contains(&to);
            let existing = Existing::overwrite_if(*force || is_own);
            table::write_text(&to, existing, table::Access::Usual, &page.html)?;
            app.state().written.insert(to.clone());
            Ok(
                json!({ "path": shown(&app.folder, &to), "holds": page.holds, "verdict": page.verdict }),
            )
        }
        Work::Verify { path } => {
            let release = output(app, &config, path)?;
            let found =
                lookalike_report::verify::verify(release, Some(data.into()), &request, None)?;
            let holds = found.verdict.holds();
            Ok(json!({ "holds": holds, "lines": lines(&found.verdict, &found.quasi) }))
        }
    }
}

/// A file that the page names, relative to the configuration.
fn output(app: &App, config: &Path, path: &str) -> Answer<std::path::PathBuf> {
    if path.trim().is_empty() {
        return Err(Failure::bad("name a file"));
    }
    below(&app.folder, &config.parent().unwrap_or(&app.folder).join(path))
}

fn with_time(mut request: Request, time: Option<&String>) -> Request {
    if let Some(time) = time {
        request.limits.time = Some(time.clone());
    }
    request
}

/// The loss of a table of which nothing is published: rows times the weights of the columns.
#[allow(clippy::cast_precision_loss, reason = "a share, for display")]
fn scale(request: &Request, rows: usize) -> f64 {
    let quasi =
        request.columns.values().filter(|line| line.role == lookalike::request::Role::Quasi);
    let weights: f64 = quasi.map(|line| line.weight.unwrap_or(1.0)).sum();
    (rows as f64 * weights).max(f64::MIN_POSITIVE)
}

/// The newest five results stay in memory, and those that are pinned.
fn forget_old(results: &mut Vec<Arc<FoundRelease>>) {
    let newest: Vec<u64> = results.iter().rev().take(5).map(|result| result.id).collect();
    results.retain(|result| newest.contains(&result.id) || result.pin().is_some());
}

fn frontier(
    job: &Arc<Job>,
    request: &Request,
    data: &Path,
    ks: &[u64],
    time: Option<&String>,
) -> Answer<Value> {
    let mut ks: Vec<u64> = ks.iter().copied().filter(|&k| k >= 1).take(12).collect();
    ks.sort_unstable();
    ks.dedup();
    let request = with_time(request.clone(), time.or(Some(&"2s".to_string())));
    let of_all = RuleSet { name: String::new(), request: request.clone(), ks: vec![None] };
    let table = compare::read(table::open(data, &request.input)?, &[of_all])?;
    let mut points = Vec::new();
    for k in ks {
        let sets = [RuleSet { name: String::new(), request: request.clone(), ks: vec![Some(k)] }];
        let plan =
            ComparePlan { algorithms: vec![Algorithm::Auto], queries: 0, ..ComparePlan::default() };
        let found = compare(&table, &sets, &plan, &job.cancel, &|_| {})?;
        let point = match found.runs.first().map(|run| &run.result) {
            Some(RunResult::Met(numbers)) => json!({
                "k": k, "loss": numbers.loss.gcp, "classes": numbers.classes, "smallest": numbers.smallest,
                "suppressed": numbers.suppressed, "risk": 1.0 / real(numbers.smallest.max(1)), "error": null,
            }),
            Some(RunResult::NotMet(why)) => {
                json!({ "k": k, "loss": null, "error": why.message(Hint::words) })
            }
            None => break,
        };
        job.say("point", point.clone());
        points.push(point);
        if job.cancel.is_search_ended() {
            break;
        }
    }
    Ok(json!({ "points": points }))
}

#[allow(clippy::cast_precision_loss, reason = "a share, for display")]
fn real(number: u64) -> f64 {
    number as f64
}

fn write(
    app: &Arc<App>,
    job: &Arc<Job>,
    (result, path, force, with_codebook): (u64, &str, bool, bool),
    data: &Path,
    config: &Path,
) -> Answer<Value> {
    let out = output(app, config, path)?;
    if out == data || out == config {
        return Err(Failure::bad(
            "this is the name of the table or of the configuration: choose another",
        ));
    }
    let found = app.state().result(result)?;
    job.say("stage", json!({ "stage": "write" }));
    let existing = Existing::overwrite_if(force);
    let mut released = found.released.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    // The codebook is always in memory, and written where it is asked for.
    let kept = if with_codebook { None } else { released.codebook.take() };
    let written = released.to_file(&out, existing, &job.cancel);
    released.codebook = kept.or_else(|| released.codebook.take());
    written?;
    let named = Request {
        output: Output { codebook: with_codebook, ..Output::default() },
        ..Request::default()
    };
    let beside = Run::new(&named).codebook_page(codebook::page).codebook_files(&out);
    let mut state = app.state();
    state.written.extend(beside.iter().cloned());
    let beside: Vec<String> = beside.iter().map(|path| shown(&app.folder, path)).collect();
    let quasi = &released.report.found.quasi;
    let size = std::fs::metadata(&out).map(|about| about.len()).unwrap_or_default();
    Ok(json!({
        "path": shown(&app.folder, &out), "verified": true, "bytes": size,
        "lines": lines(&released.report.verdict, quasi), "codebook": beside,
        "cautions": found.cautions(),
    }))
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
