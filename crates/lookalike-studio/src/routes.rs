//! Which address does what. Every call works on a thread of its own: reading a file or counting rows
//! must not keep the others waiting.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path, Query, State};
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::http::{StatusCode, Uri};
use axum::middleware;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post, put};
use axum::{Json, Router};
use lookalike::Request;
use lookalike::request::{ColumnRequest, HierarchySpec, Input, Role};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio_stream::wrappers::ReceiverStream;

use crate::failure::{Answer, Failure};
use crate::files::{below, check_paths, list, shown};
use crate::hierarchies::{self, Part, parsed};
use crate::hierarchy_edits::{self as edits, Edit};
use crate::jobs::{self, Work};
use crate::source::SourceTable;
use crate::state::App;
use crate::{assets, measure, project, same, security};

/// The most bytes that a page sends: a hierarchy of 200,000 values.
const MOST_BYTES: usize = 32 << 20;

type Shared = State<Arc<App>>;

pub(crate) fn router(app: Arc<App>) -> Router {
    let guard = middleware::from_fn_with_state(Arc::clone(&app), security::guard);
    Router::new()
        .route("/api/project", get(project_view).put(project_save))
        .route("/api/files", get(files))
        .route("/api/open", post(open))
        .route("/api/undo", post(undo))
        .route("/api/redo", post(redo))
        .route("/api/reload", post(reload))
        .route("/api/quit", post(quit))
        .route("/api/changes", get(changes))
        .route("/api/columns", get(columns))
        .route("/api/columns/{name}/values", get(values))
        .route("/api/columns/{name}/hierarchy", get(hierarchy).put(hierarchy_save))
        .route("/api/columns/{name}/hierarchy/{act}", post(hierarchy_act))
        .route("/api/measure", post(measured))
        .route("/api/find", post(found))
        .route("/api/jobs", post(job_start))
        .route("/api/jobs/{id}/events", get(job_events))
        .route("/api/jobs/{id}/{act}", post(job_act))
        .route("/api/results/{id}", get(result).delete(result_forget))
        .route("/api/results/{id}/sample", get(sample))
        .route("/api/results/{id}/pin", put(pin).post(pin))
        .route("/api/same", post(same_lines))
        .route("/api/show", post(show))
        .route("/show/{secret}", get(shown_page))
        .fallback(page)
        .layer(DefaultBodyLimit::max(MOST_BYTES))
        .layer(guard)
        .with_state(app)
}

/// The answer of work that may take a moment.
async fn work<T: IntoResponse + Send + 'static>(
    app: Arc<App>,
    work: impl FnOnce(&Arc<App>) -> Answer<T> + Send + 'static,
) -> Response {
    let done = tokio::task::spawn_blocking(move || work(&app)).await;
    let bug = || {
        let why = "the program made a mistake here: nothing was changed";
        Failure::new(StatusCode::INTERNAL_SERVER_ERROR, "bug", why)
    };
    match done.unwrap_or_else(|_| Err(bug())) {
        Ok(answer) => answer.into_response(),
        Err(failure) => failure.into_response(),
    }
}

/// The body of a call. (Not by the extractor of axum: its messages quote what was sent.)
fn body<T: for<'de> Deserialize<'de>>(bytes: &Bytes) -> Answer<T> {
    let value: Value = match bytes.is_empty() {
        true => json!({}),
        false => serde_json::from_slice(bytes).map_err(|_| Failure::bad("the call is no JSON"))?,
    };
    parsed(&value)
}

async fn page(uri: Uri) -> Response {
    assets::file(uri.path())
}

async fn project_view(State(app): Shared) -> Response {
    work(app, |app| project::view(app).map(Json)).await
}

#[derive(Deserialize)]
struct Save {
    etag: Option<String>,
    request: Value,
}

async fn project_save(State(app): Shared, bytes: Bytes) -> Response {
    work(app, move |app| {
        let Save { etag, request } = body(&bytes)?;
        let request = request_of(&request)?;
        {
            let mut state = app.state();
            let folder = app.folder.clone();
            let project = state.project()?;
            check_paths(&folder, &project.config, &request)?;
            if etag.is_some() {
                project.check_unchanged(etag.as_deref())?;
            }
            project.save(&request, &[])?;
        }
        changed(app)
    })
    .await
}

/// A request from the page.
fn request_of(value: &Value) -> Answer<Request> {
    Ok(Request::from_json(&value.to_string())?)
}

/// Tells all pages of a change, and returns the project.
fn changed(app: &Arc<App>) -> Answer<Json<Value>> {
    let view = project::view(app)?;
    app.tell("project", json!({ "etag": view["etag"] }).to_string());
    Ok(Json(view))
}

#[derive(Deserialize)]
struct Under {
    #[serde(default)]
    under: String,
}

async fn files(State(app): Shared, Query(query): Query<Under>) -> Response {
    work(app, move |app| list(&app.folder, &query.under).map(Json)).await
}

#[derive(Deserialize)]
struct Open {
    path: PathBuf,
    sheet: Option<String>,
    delimiter: Option<char>,
    encoding: Option<String>,
    names: Option<Vec<String>>,
}

async fn open(State(app): Shared, bytes: Bytes) -> Response {
    work(app, move |app| {
        let Open { path, sheet, delimiter, encoding, names } = body(&bytes)?;
        let names = names.unwrap_or_default();
        let input = Input { sheet, delimiter, encoding, names, ..Input::default() };
        project::open(app, &path, Some(input))?;
        Ok((StatusCode::ACCEPTED, Json(json!({}))))
    })
    .await
}

async fn undo(State(app): Shared) -> Response {
    work(app, |app| {
        app.state().project()?.step(true)?;
        changed(app)
    })
    .await
}

async fn redo(State(app): Shared) -> Response {
    work(app, |app| {
        app.state().project()?.step(false)?;
        changed(app)
    })
    .await
}

async fn reload(State(app): Shared) -> Response {
    work(app, |app| {
        app.state().project()?.take_from_disk()?;
        changed(app)
    })
    .await
}

async fn quit(State(app): Shared) -> Response {
    app.quit.notify_one();
    Json(json!({})).into_response()
}

/// Tells the server that a page went, however its stream ended.
struct Page(Arc<App>);

impl Drop for Page {
    fn drop(&mut self) {
        self.0.page_went();
    }
}

type Events = Sse<axum::response::sse::KeepAliveStream<ReceiverStream<Result<Event, Infallible>>>>;

fn stream(events: ReceiverStream<Result<Event, Infallible>>) -> Events {
    Sse::new(events).keep_alive(KeepAlive::new().interval(Duration::from_secs(15)))
}

async fn changes(State(app): Shared) -> Response {
    let (sender, receiver) = tokio::sync::mpsc::channel(16);
    let mut news = app.news.subscribe();
    app.page_came();
    tokio::spawn(async move {
        let page = Page(app);
        let mut disk = tokio::time::interval(Duration::from_secs(2));
        let mut seen = None;
        loop {
            let (event, data) = tokio::select! {
                news = news.recv() => match news {
                    Ok(("end", _)) | Err(tokio::sync::broadcast::error::RecvError::Closed) => break,
                    Ok(news) => news,
                    Err(tokio::sync::broadcast::error::RecvError::Lagged(_)) => ("project", "{}".into()),
                },
                _ = disk.tick() => match changed_on_disk(&page.0, &mut seen) {
                    Some(etag) => ("disk", json!({ "etag": etag }).to_string()),
                    None if sender.is_closed() => break,
                    None => continue,
                },
                () = sender.closed() => break,
            };
            if sender.send(Ok(Event::default().event(event).data(data))).await.is_err() {
                break;
            }
        }
    });
    stream(ReceiverStream::new(receiver)).into_response()
}

/// The tag of the configuration that another program wrote; none when that is known already.
fn changed_on_disk(app: &Arc<App>, seen: &mut Option<std::time::SystemTime>) -> Option<String> {
    let mut state = app.state();
    let project = state.project().ok()?;
    let time = std::fs::metadata(&project.config).and_then(|about| about.modified()).ok()?;
    if *seen == Some(time) {
        return None;
    }
    *seen = Some(time);
    project.check_unchanged(None).err().map(|_| project.etag())
}

/// The open table, its configuration, and the request in it.
fn opened(app: &App) -> Answer<(Arc<SourceTable>, PathBuf, Request)> {
    let mut state = app.state();
    let project = state.project()?;
    Ok((Arc::clone(&project.source), project.config.clone(), project.request()?))
}

async fn columns(State(app): Shared) -> Response {
    work(app, |app| {
        let (source, config, request) = opened(app)?;
        measure::columns(&source, &request, &config).map(Json)
    })
    .await
}

#[derive(Deserialize)]
struct ValuePart {
    #[serde(default)]
    find: String,
    #[serde(default)]
    from: usize,
    limit: Option<usize>,
    #[serde(default)]
    order: String,
}

async fn values(
    State(app): Shared,
    Path(name): Path<String>,
    Query(part): Query<ValuePart>,
) -> Response {
    work(app, move |app| {
        let (source, ..) = opened(app)?;
        let range = (part.from, part.limit.unwrap_or(100));
        measure::values(&source, &name, &part.find, range, part.order == "value").map(Json)
    })
    .await
}

/// The line of a column; a column without one is as a quasi-identifier here.
fn line_of(request: &Request, name: &str) -> ColumnRequest {
    request.column(name).cloned().unwrap_or(ColumnRequest::new(Role::Quasi))
}

async fn hierarchy(
    State(app): Shared,
    Path(name): Path<String>,
    Query(part): Query<Part>,
) -> Response {
    work(app, move |app| {
        let (source, config, request) = opened(app)?;
        hierarchies::view(&source, &name, &line_of(&request, &name), &config, &part).map(Json)
    })
    .await
}

async fn hierarchy_save(State(app): Shared, Path(name): Path<String>, bytes: Bytes) -> Response {
    work(app, move |app| {
        let sent: Value = body(&bytes)?;
        let Some(rows) = sent.get("rows") else {
            let spec: Option<HierarchySpec> = parsed(sent.get("spec").unwrap_or(&Value::Null))?;
            return save_hierarchy(app, &name, spec, None);
        };
        let file = sent.get("file").and_then(Value::as_str).map(PathBuf::from);
        let text = edits::file_text(&parsed(rows)?);
        let (_, _, request) = opened(app)?;
        let file = file.unwrap_or_else(|| present_file(&request, &name));
        save_hierarchy(app, &name, Some(HierarchySpec::File(file)), Some(text))
    })
    .await
}

/// The file of a column's hierarchy, or the name of a new one.
fn present_file(request: &Request, name: &str) -> PathBuf {
    match request.column(name).and_then(|line| line.hierarchy.as_ref()) {
        Some(HierarchySpec::File(path)) => path.clone(),
        _ => edits::file_name(name),
    }
}

/// Sets the hierarchy of a column, and writes its file where it is one that the page made.
fn save_hierarchy(
    app: &Arc<App>,
    name: &str,
    spec: Option<HierarchySpec>,
    text: Option<String>,
) -> Answer<Json<Value>> {
    let (source, config, mut request) = opened(app)?;
    source.coded(name)?;
    let mut line = line_of(&request, name);
    line.hierarchy = spec;
    if matches!(line.hierarchy, Some(HierarchySpec::File(_))) {
        line.order = None;
    }
    request.columns.insert(name.to_string(), line.clone());
    check_paths(&app.folder, &config, &request)?;
    let mut others = Vec::new();
    if let (Some(HierarchySpec::File(file)), Some(text)) = (&line.hierarchy, text) {
        let path = below(&app.folder, &config.parent().unwrap_or(&app.folder).join(file))?;
        let is_own = path.extension().is_some_and(|end| end == "csv") && path != config;
        if !is_own || path == app.state().project()?.data {
            return Err(Failure::bad(
                "a hierarchy is saved as a .csv file of its own: choose another name",
            ));
        }
        others.push((path, text));
    }
    {
        let mut state = app.state();
        let project = state.project()?;
        project.check_unchanged(None)?;
        project.save(&request, &others)?;
    }
    let Json(whole) = changed(app)?;
    let mut view = hierarchies::view(&source, name, &line, &config, &Part::default())?;
    view["etag"] = whole["etag"].clone();
    Ok(Json(view))
}

async fn hierarchy_act(
    State(app): Shared,
    Path((name, act)): Path<(String, String)>,
    bytes: Bytes,
) -> Response {
    work(app, move |app| {
        let sent: Value = body(&bytes)?;
        let (source, config, request) = opened(app)?;
        let line = line_of(&request, &name);
        let edit = match act.as_str() {
            "preview" => {
                return hierarchies::preview(&source, &name, &line, &config, &sent).map(Json);
            }
            "suggest" => return hierarchies::suggest(&source, &name, &request.missing).map(Json),
            "compare" => {
                let text = sent.get("text").and_then(Value::as_str).unwrap_or_default();
                return hierarchies::compare(&source, &name, &line, &config, text).map(Json);
            }
            "edit" => Edit::Put {
                values: parsed(&sent["put"])?,
                level: parsed(&sent["level"])?,
                group: parsed(&sent["group"])?,
            },
            "level" => match sent.get("remove") {
                Some(level) => Edit::Remove { level: parsed(level)? },
                None => Edit::Add,
            },
            _ => return Err(Failure::not_found("there is no such act")),
        };
        let lines = edits::edited(&source, &name, &line, &config, &edit)?;
        let file = HierarchySpec::File(present_file(&request, &name));
        save_hierarchy(app, &name, Some(file), Some(edits::file_text(&lines)))
    })
    .await
}

async fn measured(State(app): Shared, bytes: Bytes) -> Response {
    work(app, move |app| {
        let sent: Value = body(&bytes)?;
        let (source, _, on_disk) = opened(app)?;
        let request = match sent.get("request") {
            Some(request) => request_of(request)?,
            None => on_disk,
        };
        measure::measure(&source, &request).map(Json)
    })
    .await
}

async fn found(State(app): Shared, bytes: Bytes) -> Response {
    work(app, move |app| {
        let sent: Value = body(&bytes)?;
        let values: BTreeMap<String, String> = parsed(&sent["values"])?;
        let (source, _, request) = opened(app)?;
        measure::find(&source, &request, &values).map(Json)
    })
    .await
}

async fn job_start(State(app): Shared, bytes: Bytes) -> Response {
    work(app, move |app| {
        let id = jobs::start(app, body::<Work>(&bytes)?)?;
        Ok((StatusCode::ACCEPTED, Json(json!({ "id": id }))))
    })
    .await
}

fn job_of(app: &App, id: u64) -> Answer<Arc<jobs::Job>> {
    let job = app.state().job.clone().filter(|job| job.id == id);
    job.ok_or_else(|| Failure::not_found("this job is over, and its events are forgotten"))
}

async fn job_act(State(app): Shared, Path((id, act)): Path<(u64, String)>) -> Response {
    work(app, move |app| {
        let job = job_of(app, id)?;
        match act.as_str() {
            "stop" => drop(job.cancel.end_search()),
            "abandon" => job.cancel.abandon(),
            _ => return Err(Failure::not_found("a job can be stopped or abandoned")),
        }
        Ok(Json(job.view()))
    })
    .await
}

async fn job_events(State(app): Shared, Path(id): Path<u64>) -> Response {
    let job = match job_of(&app, id) {
        Ok(job) => job,
        Err(failure) => return failure.into_response(),
    };
    let (sender, receiver) = tokio::sync::mpsc::channel(16);
    tokio::spawn(async move {
        let mut news = job.subscribe();
        let mut next = 0;
        loop {
            // An event of progress may be replaced by a newer one: the last is said again.
            let (events, is_running) = job.since(next);
            next += events.len();
            for (event, data) in events {
                let event = Event::default().event(event).data(data.to_string());
                if sender.send(Ok(event)).await.is_err() {
                    return;
                }
            }
            if !is_running && job.since(next).0.is_empty() {
                return;
            }
            next = job.open_from(next);
            tokio::select! {
                _ = news.changed() => {}
                () = sender.closed() => return,
            }
        }
    });
    stream(ReceiverStream::new(receiver)).into_response()
}

async fn result(State(app): Shared, Path(id): Path<u64>) -> Response {
    work(app, move |app| Ok(Json(app.state().result(id)?.view()))).await
}

async fn sample(State(app): Shared, Path(id): Path<u64>) -> Response {
    work(app, move |app| Ok(Json(app.state().result(id)?.sample().clone()))).await
}

async fn result_forget(State(app): Shared, Path(id): Path<u64>) -> Response {
    work(app, move |app| {
        app.state().results.retain(|result| result.id != id);
        changed(app)
    })
    .await
}

async fn pin(State(app): Shared, Path(id): Path<u64>, bytes: Bytes) -> Response {
    work(app, move |app| {
        let sent: Value = body(&bytes)?;
        let letter = sent.get("as").and_then(Value::as_str).and_then(|text| text.chars().next());
        {
            let state = app.state();
            let wanted = state.result(id)?;
            // A letter is at one result.
            state
                .results
                .iter()
                .filter(|other| other.pin() == letter)
                .for_each(|other| other.set_pin(None));
            wanted.set_pin(letter.filter(|letter| matches!(letter, 'A' | 'B')));
        }
        changed(app)
    })
    .await
}

async fn same_lines(State(app): Shared, bytes: Bytes) -> Response {
    work(app, move |app| {
        let sent: Value = body(&bytes)?;
        let out = sent.get("path").and_then(Value::as_str).unwrap_or("safe.csv").to_string();
        let mut state = app.state();
        let project = state.project()?;
        let config = shown(project.config.parent().unwrap_or(FilePath::new("")), &project.config);
        let data = shown(project.data.parent().unwrap_or(FilePath::new("")), &project.data);
        Ok(Json(same::same(&config, &data, &out)))
    })
    .await
}

/// The policy of a report: it has styles and pictures in it, and no script.
const REPORT_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; \
                             frame-ancestors 'self'; sandbox";

/// An address for one look at a page that this session wrote: a frame cannot send the token.
async fn show(State(app): Shared, bytes: Bytes) -> Response {
    work(app, move |app| {
        let sent: Value = body(&bytes)?;
        let path = sent.get("path").and_then(Value::as_str).unwrap_or_default();
        let path = below(&app.folder, FilePath::new(path))?;
        let mut state = app.state();
        if !state.written.contains(&path) {
            return Err(Failure::not_found("this session did not write such a page"));
        }
        let secret = security::new_token();
        state.looks.insert(secret.clone(), path);
        Ok(Json(json!({ "address": format!("/show/{secret}") })))
    })
    .await
}

async fn shown_page(State(app): Shared, Path(secret): Path<String>) -> Response {
    work(app, move |app| {
        let path = app.state().looks.remove(&secret);
        let path = path.ok_or_else(|| Failure::not_found("this address was for one look"))?;
        let text =
            std::fs::read_to_string(&path).map_err(|source| lookalike::Error::io(&path, source))?;
        Ok((
            [(CONTENT_SECURITY_POLICY, REPORT_POLICY), (CONTENT_TYPE, "text/html; charset=utf-8")],
            text,
        ))
    })
    .await
}
