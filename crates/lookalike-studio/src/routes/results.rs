//! Jobs and what they made: results, written pages, the lines that do the same.

use std::path::Path as FilePath;
use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::response::Response;
use serde_json::{Value, json};

use super::project::changed;
use super::{Shared, body, work};
use crate::failure::{Answer, Failure};
use crate::files::{below, shown};
use crate::jobs;
use crate::state::App;
use crate::work::Work;
use crate::{same, security};

pub(super) async fn job_start(State(app): Shared, bytes: Bytes) -> Response {
    work(app, move |app| {
        let id = jobs::start(app, body::<Work>(&bytes)?)?;
        Ok((StatusCode::ACCEPTED, Json(json!({ "id": id }))))
    })
    .await
}

pub(super) fn job_of(app: &App, id: u64) -> Answer<Arc<jobs::Job>> {
    let job = app.state().job.clone().filter(|job| job.id == id);
    job.ok_or_else(|| Failure::not_found("this job is over, and its events are forgotten"))
}

pub(super) async fn job_act(State(app): Shared, Path((id, act)): Path<(u64, String)>) -> Response {
    work(app, move |app| {
        let job = job_of(app, id)?;
        match act.as_str() {
            "stop" => job.stop(),
            "abandon" => job.abandon(),
            _ => return Err(Failure::not_found("a job can be stopped or abandoned")),
        }
        Ok(Json(job.view()))
    })
    .await
}

pub(super) async fn result(State(app): Shared, Path(id): Path<u64>) -> Response {
    work(app, move |app| Ok(Json(app.state().result(id)?.view()))).await
}

pub(super) async fn sample(State(app): Shared, Path(id): Path<u64>) -> Response {
    work(app, move |app| Ok(Json(app.state().result(id)?.sample()))).await
}

pub(super) async fn forget(State(app): Shared, Path(id): Path<u64>) -> Response {
    work(app, move |app| {
        app.state().results.retain(|result| result.id != id);
        changed(app)
    })
    .await
}

pub(super) async fn pin(State(app): Shared, Path(id): Path<u64>, bytes: Bytes) -> Response {
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

pub(super) async fn same_lines(State(app): Shared, bytes: Bytes) -> Response {
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
pub(super) async fn show(State(app): Shared, bytes: Bytes) -> Response {
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

pub(super) async fn shown_page(State(app): Shared, Path(secret): Path<String>) -> Response {
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
