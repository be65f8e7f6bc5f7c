//! The configuration and the hierarchy files on disk: they are the state. Every change is written at
//! once, and the bytes before it are kept for undo.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::http::StatusCode;
use jiff::Timestamp;
use lookalike::Request;
use lookalike::request::Input;
use lookalike::table::{Access, Existing, write_text};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::failure::{Answer, Failure};
use crate::files::{below, check_paths, shown};
use crate::source::{self, SourceTable};
use crate::state::{App, Phase, State};

/// A table, its configuration, and the way back.
#[derive(Debug)]
pub(crate) struct Project {
    pub(crate) data: PathBuf,
    pub(crate) config: PathBuf,
    /// The text of the configuration as this server has read or written it.
    pub(crate) text: String,
    pub(crate) saved: Option<Timestamp>,
    undo: Vec<Step>,
    redo: Vec<Step>,
    pub(crate) source: Arc<SourceTable>,
}

/// Files with their bytes before a change; none where there was no file.
type Step = Vec<(PathBuf, Option<Vec<u8>>)>;

/// So many steps can be undone.
const MOST_STEPS: usize = 200;

impl Project {
    pub(crate) fn etag(&self) -> String {
        etag(&self.text)
    }

    /// The configuration as it is written: paths are relative to its folder.
    pub(crate) fn request(&self) -> Answer<Request> {
        Ok(Request::parse(&self.text)?)
    }

    /// The configuration for a run: paths from here.
    pub(crate) fn request_to_run(&self) -> Answer<Request> {
        Ok(Request::read(&self.config)?)
    }

    /// Refuses to go on where the file is another than the one that the page knows.
    pub(crate) fn check_unchanged(&self, etag_of_page: Option<&str>) -> Answer<()> {
        let on_disk = std::fs::read_to_string(&self.config).unwrap_or_default();
        let is_known =
            on_disk == self.text && etag_of_page.is_none_or(|known| known == self.etag());
        if is_known {
            return Ok(());
        }
        let why = "the configuration was changed by another program or another page: take what is on \
                   disk, or save yours over it";
        Err(Failure::new(StatusCode::PRECONDITION_FAILED, "changed-on-disk", why))
    }

    /// Writes a request, and other files with it, as one step that can be undone.
    pub(crate) fn save(&mut self, request: &Request, others: &[(PathBuf, String)]) -> Answer<()> {
        let text = request.to_toml()?;
        let config = (self.config.clone(), text.clone());
        let files: Vec<&(PathBuf, String)> = others.iter().chain([&config]).collect();
        let before: Step =
            files.iter().map(|(path, _)| (path.clone(), std::fs::read(path).ok())).collect();
        for (path, text) in files {
            keep_first(path)?;
            write_text(path, Existing::Overwrite, Access::Usual, text)?;
        }
        self.undo.push(before);
        if self.undo.len() > MOST_STEPS {
            self.undo.remove(0);
        }
        self.redo.clear();
        self.text = text;
        self.saved = Some(Timestamp::now());
        Ok(())
    }

    /// One step back, or one forward again.
    pub(crate) fn step(&mut self, is_back: bool) -> Answer<()> {
        self.check_unchanged(None)?;
        let taken = if is_back { self.undo.pop() } else { self.redo.pop() };
        let Some(step) = taken else {
            return Err(Failure::bad("there is nothing to undo or to redo"));
        };
        let mut opposite = Step::new();
        for (path, bytes) in step {
            opposite.push((path.clone(), std::fs::read(&path).ok()));
            match bytes {
                Some(bytes) => {
                    let text = String::from_utf8_lossy(&bytes);
                    write_text(&path, Existing::Overwrite, Access::Usual, &text)?;
                }
                None => drop(std::fs::remove_file(&path)),
            }
        }
        if is_back {
            self.redo.push(opposite)
        } else {
            self.undo.push(opposite)
        }
        self.take_from_disk()?;
        self.saved = Some(Timestamp::now());
        Ok(())
    }

    /// Takes the configuration that is on disk.
    pub(crate) fn take_from_disk(&mut self) -> Answer<()> {
        let text = std::fs::read_to_string(&self.config)
            .map_err(|source| lookalike::Error::io(&self.config, source))?;
        Request::parse(&text)?;
        self.text = text;
        Ok(())
    }
}

/// A file that somebody else wrote is kept beside the first one that the page writes over it.
fn keep_first(path: &Path) -> Answer<()> {
    let mut kept = path.as_os_str().to_owned();
    kept.push(".bak");
    let kept = PathBuf::from(kept);
    if path.exists() && !kept.exists() {
        std::fs::copy(path, &kept).map_err(|source| lookalike::Error::io(&kept, source))?;
    }
    Ok(())
}

fn etag(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// Opens a table or a configuration below the folder; the reading goes on in a thread.
pub(crate) fn open(app: &Arc<App>, path: &Path, input: Option<Input>) -> Answer<()> {
    let path = below(&app.folder, path)?;
    if !path.exists() {
        return Err(Failure::not_found("there is no such file below the folder"));
    }
    {
        let mut state = app.state();
        let works = state.job.as_ref().is_some_and(|job| job.is_running());
        if works || matches!(state.phase, Phase::Reading) {
            let why = "a search or a reading goes on: stop it first";
            return Err(Failure::new(StatusCode::CONFLICT, "busy", why));
        }
        *state = State {
            phase: Phase::Reading,
            next_job: state.next_job,
            next_result: state.next_result,
            ..State::default()
        };
    }
    let app = Arc::clone(app);
    std::thread::spawn(move || {
        let opened = opened(&app.folder, &path, &input.unwrap_or_default());
        let mut state = app.state();
        match opened {
            Ok(project) => {
                state.project = Some(project);
                state.phase = Phase::Ready;
            }
            Err(failure) => state.phase = Phase::Failed(failure),
        }
        drop(state);
        app.tell("project", "{}".into());
    });
    Ok(())
}

/// Reads a project: a configuration and its table, or a table with the configuration beside it.
fn opened(folder: &Path, path: &Path, input: &Input) -> Answer<Project> {
    let is_config = path.extension().is_some_and(|end| end == "toml");
    let config = if is_config { path.to_path_buf() } else { config_of(path) };
    let is_new = !is_config && (!config.exists() || *input != Input::default());
    if is_new {
        let (source, text) = source::read_new(path, input)?;
        if config.exists() {
            keep_first(&config)?;
        }
        write_text(&config, Existing::Overwrite, Access::Usual, &text)?;
        return Ok(project(path, config, text, source));
    }
    let request = Request::read(&config)?;
    let text =
        std::fs::read_to_string(&config).map_err(|source| lookalike::Error::io(&config, source))?;
    let data = match (is_config, &request.input.path) {
        (true, Some(data)) => below(folder, &std::fs::canonicalize(data).unwrap_or(data.clone()))?,
        (true, None) => {
            return Err(Failure::bad("the configuration names no table: set `path` under [input]"));
        }
        (false, _) => path.to_path_buf(),
    };
    check_paths(folder, &config, &Request::parse(&text)?)?;
    let source = source::read(&data, &request)?;
    Ok(project(&data, config, text, source))
}

fn project(data: &Path, config: PathBuf, text: String, source: SourceTable) -> Project {
    Project {
        data: data.to_path_buf(),
        config,
        text,
        saved: None,
        undo: Vec::new(),
        redo: Vec::new(),
        source: Arc::new(source),
    }
}

/// The configuration beside a table: its name without all ends.
fn config_of(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let stem = name.split('.').next().unwrap_or("table").to_string();
    path.with_file_name(format!("{stem}.toml"))
}

/// The part of a request that a search depends on, as text: not where the release goes, nor reasons.
pub(crate) fn searched(request: &Request) -> String {
    let mut request = request.clone();
    request.input.path = None;
    request.output.path = None;
    request.output.codebook = false;
    request.limits.time = None;
    request.columns.values_mut().for_each(|line| line.reason = None);
    request.to_toml().unwrap_or_default()
}

/// What a page needs to know of the whole.
pub(crate) fn view(app: &App) -> Answer<Value> {
    let state = app.state();
    let (phase, error) = match &state.phase {
        Phase::Choose => ("choose", None),
        Phase::Reading => ("reading", None),
        Phase::Ready => ("ready", None),
        Phase::Failed(failure) => ("failed", Some(failure.json())),
    };
    let mut view = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "folder": app.folder.display().to_string(),
        "state": phase,
        "error": error,
        "data": null, "config": null, "etag": null, "saved": null, "undo": 0, "redo": 0,
        "rows": 0, "columns": 0, "request": {}, "toml": "", "warnings": [],
        "job": state.job.as_ref().filter(|job| job.is_running()).map(|job| job.view()),
        "results": [],
    });
    let Some(project) = &state.project else { return Ok(view) };
    let etag = project.etag();
    let searched = project.request().map(|request| searched(&request)).unwrap_or_default();
    let results: Vec<Value> = state.results.iter().map(|result| result.line(&searched)).collect();
    let request: Value = match project.request() {
        Ok(request) => serde_json::from_str(&request.to_json()?).unwrap_or_default(),
        Err(failure) => {
            view["error"] = failure.json();
            json!({})
        }
    };
    let known = [
        ("data", json!(shown(&app.folder, &project.data))),
        ("config", json!(shown(&app.folder, &project.config))),
        ("etag", json!(etag)),
        ("saved", json!(project.saved.map(|at| at.to_string()))),
        ("undo", json!(project.undo.len())),
        ("redo", json!(project.redo.len())),
        ("rows", json!(project.source.table.rows())),
        ("columns", json!(project.source.table.columns().len())),
        ("request", request),
        ("toml", json!(project.text)),
        ("warnings", json!(project.source.warnings)),
        ("results", json!(results)),
    ];
    known.into_iter().for_each(|(key, value)| view[key] = value);
    Ok(view)
}
