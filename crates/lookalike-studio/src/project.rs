//! The configuration and the hierarchy files on disk: they are the state. Every change is written at
//! once, and the bytes before it are kept for undo.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::http::StatusCode;
use jiff::Timestamp;
use lookalike::Request;
use lookalike::request::Input;
use lookalike::table::{Access, Existing, write_text};
use serde_json::{Value, json};

use crate::failure::{Answer, Failure};
use crate::files::{below, beside, check_paths, named, shown};
use crate::source::{self, SourceTable};
use crate::state::{App, Phase, State};
use crate::tags::{self, Stamp};

/// A table, its configuration, and the way back.
#[derive(Debug)]
pub(crate) struct Project {
    /// The folder that the studio was started with.
    folder: PathBuf,
    pub(crate) data: PathBuf,
    pub(crate) config: PathBuf,
    /// The text of the configuration as this server has read or written it.
    pub(crate) text: String,
    pub(crate) saved: Option<Timestamp>,
    /// The table as it was when it was read.
    read: Option<Stamp>,
    /// The tags of hierarchy files and others that the configuration names, as this server has read or
    /// written them; none where there was no file.
    tags: BTreeMap<PathBuf, Option<String>>,
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
        tags::of_text(&self.text)
    }

    /// The configuration as it is written: paths are relative to its folder.
    pub(crate) fn request(&self) -> Answer<Request> {
        Ok(Request::parse(&self.text)?)
    }

    /// The configuration for a run: paths from here.
    pub(crate) fn request_to_run(&self) -> Answer<Request> {
        Ok(Request::read(&self.config)?)
    }

    /// The places of the files that the configuration names beside the table.
    fn named(&self) -> Vec<PathBuf> {
        let names = self.request().map(|request| named(&request)).unwrap_or_default();
        let place = |path: PathBuf| beside(&self.folder, &self.config, &path).ok();
        names.into_iter().filter_map(place).collect()
    }

    /// The files that no output may replace.
    pub(crate) fn own_files(&self) -> Vec<PathBuf> {
        [self.data.clone(), self.config.clone()].into_iter().chain(self.named()).collect()
    }

    /// Files that are others on disk than this server knows: the configuration, and those that it names.
    pub(crate) fn changed_files(&self) -> Vec<String> {
        let on_disk = std::fs::read(&self.config).unwrap_or_default();
        let config = (on_disk != self.text.as_bytes()).then(|| self.config.clone());
        let is_other =
            |path: &PathBuf| self.tags.get(path).is_some_and(|known| *known != tags::of_file(path));
        let others = self.named().into_iter().filter(is_other);
        config.into_iter().chain(others).map(|path| shown(&self.folder, &path)).collect()
    }

    /// True when the table on disk is another than the one in memory.
    pub(crate) fn is_table_changed(&self) -> bool {
        self.read != tags::stamp(&self.data)
    }

    /// All that changes when another program writes one of the files.
    pub(crate) fn stamps(&self) -> Vec<Option<Stamp>> {
        self.own_files().iter().map(|path| tags::stamp(path)).collect()
    }

    /// Takes the files that the configuration names as they are now: the written ones, and those that are
    /// not known yet. The configuration itself is known by its text.
    fn know(&mut self, written: &[PathBuf]) {
        let all = self.named().into_iter().chain(written.iter().cloned());
        for path in all.filter(|path| *path != self.config).collect::<Vec<_>>() {
            if written.contains(&path) || !self.tags.contains_key(&path) {
                let tag = tags::of_file(&path);
                self.tags.insert(path, tag);
            }
        }
    }

    /// Takes all files as they are on disk.
    pub(crate) fn know_all(&mut self) {
        self.tags.clear();
        self.know(&[]);
    }

    /// Refuses to go on where a file is another than the one that the page knows.
    pub(crate) fn check_unchanged(&self, etag_of_page: Option<&str>) -> Answer<()> {
        let mut changed = self.changed_files();
        if changed.is_empty() && etag_of_page.is_some_and(|known| known != self.etag()) {
            changed.push(shown(&self.folder, &self.config));
        }
        if changed.is_empty() { Ok(()) } else { Err(changed_on_disk(&changed)) }
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
        let written: Vec<PathBuf> = others.iter().map(|(path, _)| path.clone()).collect();
        self.know(&written);
        Ok(())
    }

    /// One step back, or one forward again. A file that another program has written since is not
    /// written over, also where the configuration does not name it any more.
    pub(crate) fn step(&mut self, is_back: bool) -> Answer<()> {
        self.check_unchanged(None)?;
        let next = if is_back { self.undo.last() } else { self.redo.last() };
        let is_other = |path: &&PathBuf| {
            self.tags.get(*path).is_some_and(|known| *known != tags::of_file(path))
        };
        let files = next.into_iter().flatten().map(|(path, _)| path);
        let changed: Vec<String> =
            files.filter(is_other).map(|path| shown(&self.folder, path)).collect();
        if !changed.is_empty() {
            return Err(changed_on_disk(&changed));
        }
        let taken = if is_back { self.undo.pop() } else { self.redo.pop() };
        let Some(step) = taken else {
            return Err(Failure::bad("there is nothing to undo or to redo"));
        };
        let mut opposite = Step::new();
        let written: Vec<PathBuf> = step.iter().map(|(path, _)| path.clone()).collect();
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
        self.take_config()?;
        self.know(&written);
        self.saved = Some(Timestamp::now());
        Ok(())
    }

    /// Takes the configuration and the files that it names as they are on disk.
    pub(crate) fn take_from_disk(&mut self) -> Answer<()> {
        self.take_config()?;
        self.know_all();
        Ok(())
    }

    fn take_config(&mut self) -> Answer<()> {
        if !self.config.exists() {
            let name = shown(&self.folder, &self.config);
            return Err(Failure::not_found(format!(
                "{name} is not there any more: keep what this page shows, which writes it again"
            )));
        }
        let text = std::fs::read_to_string(&self.config)
            .map_err(|source| lookalike::Error::io(&self.config, source))?;
        check_paths(&self.folder, &self.config, &Request::parse(&text)?)?;
        self.text = text;
        Ok(())
    }

    /// The part of the settings that a search depends on, as text: not where the release goes, nor
    /// reasons, but the hierarchy files and the table.
    pub(crate) fn searched(&self, request: &Request) -> String {
        let mut request = request.clone();
        request.input.path = None;
        request.output.path = None;
        request.output.codebook = false;
        request.limits.time = None;
        request.columns.values_mut().for_each(|line| line.reason = None);
        let text = request.to_toml().unwrap_or_default();
        let files: Vec<_> = self.named().iter().map(|path| self.tags.get(path).cloned()).collect();
        format!("{text}{files:?}{:?}", self.read)
    }
}

fn changed_on_disk(files: &[String]) -> Failure {
    let (names, were) = (files.join(", "), if files.len() == 1 { "was" } else { "were" });
    let why = format!(
        "{names} {were} changed by another program or another page: take what is on disk, or save \
         yours over it"
    );
    Failure::new(StatusCode::PRECONDITION_FAILED, "changed-on-disk", why)
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

/// Reads the table of the project again, which another program has changed. Results go: they are of the
/// table as it was.
pub(crate) fn open_again(app: &Arc<App>) -> Answer<()> {
    let path = {
        let mut state = app.state();
        let project = state.project()?;
        let is_beside = project.config == config_of(&project.data);
        if is_beside { project.data.clone() } else { project.config.clone() }
    };
    open(app, &path, None)
}

/// Reads a project: a configuration and its table, or a table with the configuration beside it.
fn opened(folder: &Path, path: &Path, input: &Input) -> Answer<Project> {
    let is_config = path.extension().is_some_and(|end| end == "toml");
    let config = if is_config { path.to_path_buf() } else { config_of(path) };
    let is_new = !is_config && (!config.exists() || *input != Input::default());
    if is_new {
        // Before the reading: what is written meanwhile is noticed then.
        let read = tags::stamp(path);
        let (source, text) = source::read_new(path, input)?;
        if config.exists() {
            keep_first(&config)?;
        }
        write_text(&config, Existing::Overwrite, Access::Usual, &text)?;
        return Ok(project(folder, (path, read), config, text, source));
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
    let read = tags::stamp(&data);
    let source = source::read(&data, &request)?;
    Ok(project(folder, (&data, read), config, text, source))
}

fn project(
    folder: &Path,
    (data, read): (&Path, Option<Stamp>),
    config: PathBuf,
    text: String,
    source: SourceTable,
) -> Project {
    let mut project = Project {
        folder: folder.to_path_buf(),
        data: data.to_path_buf(),
        config,
        text,
        saved: None,
        read,
        tags: BTreeMap::new(),
        undo: Vec::new(),
        redo: Vec::new(),
        source: Arc::new(source),
    };
    project.know_all();
    project
}

/// The configuration beside a table: its name without all ends.
fn config_of(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let stem = name.split('.').next().unwrap_or("table").to_string();
    path.with_file_name(format!("{stem}.toml"))
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
    let searched = project.request().map(|now| project.searched(&now)).unwrap_or_default();
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
