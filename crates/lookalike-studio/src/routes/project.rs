//! The configuration: seen, saved, undone, taken from the disk; the files of the folder.

use std::path::PathBuf;
use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use lookalike::request::Input;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Shared, body, request_of, work};
use crate::failure::Answer;
use crate::files::{check_paths, list};
use crate::project;
use crate::state::App;

pub(super) async fn view(State(app): Shared) -> Response {
    work(app, |app| project::view(app).map(Json)).await
}

#[derive(Deserialize)]
struct Save {
    etag: Option<String>,
    request: Value,
}

pub(super) async fn save(State(app): Shared, bytes: Bytes) -> Response {
    work(app, move |app| {
        let Save { etag, request } = body(&bytes)?;
        let request = request_of(&request)?;
        {
            let mut state = app.state();
            let folder = app.folder.clone();
            let project = state.project()?;
            check_paths(&folder, &project.config, &request)?;
            match etag {
                Some(_) => project.check_unchanged(etag.as_deref())?,
                // Somebody was asked, and what this page has counts.
                None => project.know_all(),
            }
            project.save(&request, &[])?;
        }
        changed(app)
    })
    .await
}

/// Tells all pages of a change, and returns the project.
pub(super) fn changed(app: &Arc<App>) -> Answer<Json<Value>> {
    let view = project::view(app)?;
    app.tell("project", json!({ "etag": view["etag"] }).to_string());
    Ok(Json(view))
}

#[derive(Deserialize)]
pub(super) struct Under {
    #[serde(default)]
    under: String,
}

pub(super) async fn files(State(app): Shared, Query(query): Query<Under>) -> Response {
    work(app, move |app| list(&app.folder, &query.under).map(Json)).await
}

#[derive(Deserialize)]
struct Open {
    path: PathBuf,
    sheet: Option<String>,
    delimiter: Option<char>,
    encoding: Option<String>,
    names: Option<Vec<String>>,
    #[serde(default)]
    header: bool,
}

pub(super) async fn open(State(app): Shared, bytes: Bytes) -> Response {
    work(app, move |app| {
        let Open { path, sheet, delimiter, encoding, names, header } = body(&bytes)?;
        let names = names.unwrap_or_default();
        let input = Input { sheet, delimiter, encoding, names, header, ..Input::default() };
        project::open(app, &path, Some(input))?;
        Ok((StatusCode::ACCEPTED, Json(json!({}))))
    })
    .await
}

pub(super) async fn undo(State(app): Shared) -> Response {
    work(app, |app| {
        app.state().project()?.step(true)?;
        changed(app)
    })
    .await
}

pub(super) async fn redo(State(app): Shared) -> Response {
    work(app, |app| {
        app.state().project()?.step(false)?;
        changed(app)
    })
    .await
}

pub(super) async fn reload(State(app): Shared) -> Response {
    work(app, |app| {
        app.state().project()?.take_from_disk()?;
        changed(app)
    })
    .await
}

pub(super) async fn open_again(State(app): Shared) -> Response {
    work(app, |app| {
        project::open_again(app)?;
        Ok((StatusCode::ACCEPTED, Json(json!({}))))
    })
    .await
}

pub(super) async fn quit(State(app): Shared) -> Response {
    app.quit.notify_one();
    Json(json!({})).into_response()
}
