//! Which address does what. Every call works on a thread of its own: reading a file or counting rows
//! must not keep the others waiting.

mod events;
mod hierarchy;
mod project;
mod results;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path, Query, State};
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post, put};
use axum::{Json, Router, middleware};
use lookalike::Request;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::failure::{Answer, Failure};
use crate::files::{check_named, from_config};
use crate::hierarchies::parsed;
use crate::source::SourceTable;
use crate::state::App;
use crate::{assets, measure, security};

/// The most bytes that a page sends: a hierarchy of 200,000 values.
const MOST_BYTES: usize = 32 << 20;

type Shared = State<Arc<App>>;

pub(crate) fn router(app: Arc<App>) -> Router {
    let guard = middleware::from_fn_with_state(Arc::clone(&app), security::guard);
    Router::new()
        .route("/api/project", get(project::view).put(project::save))
        .route("/api/files", get(project::files))
        .route("/api/open", post(project::open))
        .route("/api/undo", post(project::undo))
        .route("/api/redo", post(project::redo))
        .route("/api/reload", post(project::reload))
        .route("/api/open-again", post(project::open_again))
        .route("/api/quit", post(project::quit))
        .route("/api/changes", get(events::changes))
        .route("/api/columns", get(columns))
        .route("/api/columns/{name}/values", get(values))
        .route("/api/columns/{name}/hierarchy", get(hierarchy::view).put(hierarchy::save))
        .route("/api/columns/{name}/hierarchy/{act}", post(hierarchy::act))
        .route("/api/measure", post(measured))
        .route("/api/find", post(found))
        .route("/api/jobs", post(results::job_start))
        .route("/api/jobs/{id}/events", get(events::job))
        .route("/api/jobs/{id}/{act}", post(results::job_act))
        .route("/api/results/{id}", get(results::result).delete(results::forget))
        .route("/api/results/{id}/sample", get(results::sample))
        .route("/api/results/{id}/pin", put(results::pin).post(results::pin))
        .route("/api/same", post(results::same_lines))
        .route("/api/show", post(results::show))
        .route("/show/{secret}", get(results::shown_page))
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

/// A request from the page.
fn request_of(value: &Value) -> Answer<Request> {
    Ok(Request::from_json(&value.to_string())?)
}

async fn page(uri: Uri) -> Response {
    assets::file(uri.path())
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

async fn measured(State(app): Shared, bytes: Bytes) -> Response {
    work(app, move |app| {
        let sent: Value = body(&bytes)?;
        let (source, config, on_disk) = opened(app)?;
        let request = match sent.get("request") {
            Some(request) => request_of(request)?,
            None => on_disk,
        };
        check_named(&app.folder, &config, &request)?;
        measure::measure(&source, &from_config(&config, request)).map(Json)
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
