//! The hierarchy of a column: seen, tried, changed, saved.

use std::path::PathBuf;
use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use lookalike::Request;
use lookalike::request::{ColumnRequest, HierarchySpec, Role};
use serde_json::Value;

use super::project::changed;
use super::{Shared, body, opened, work};
use crate::failure::{Answer, Failure};
use crate::files::{beside, check_paths};
use crate::hierarchies::{self, Part, parsed};
use crate::hierarchy_edits::{self as edits, Edit};
use crate::state::App;

/// The line of a column; a column without one is as a quasi-identifier here.
fn line_of(request: &Request, name: &str) -> ColumnRequest {
    request.column(name).cloned().unwrap_or(ColumnRequest::new(Role::Quasi))
}

pub(super) async fn view(
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

pub(super) async fn save(State(app): Shared, Path(name): Path<String>, bytes: Bytes) -> Response {
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
        let path = beside(&app.folder, &config, file)?;
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

pub(super) async fn act(
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
                let spec = sent.get("spec").unwrap_or(&Value::Null);
                if let Some(HierarchySpec::File(path)) = parsed(spec)? {
                    beside(&app.folder, &config, &path)?;
                }
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
