//! What the server knows between two calls.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use tokio::sync::{Notify, broadcast};

use crate::failure::{Answer, Failure};
use crate::jobs::Job;
use crate::project::Project;
use crate::results::FoundRelease;

/// The server.
#[derive(Debug)]
pub(crate) struct App {
    /// The folder whose files may be opened; without links.
    pub(crate) folder: PathBuf,
    pub(crate) token: String,
    pub(crate) port: u16,
    state: Mutex<State>,
    /// News for all pages: the name of an event and its data.
    pub(crate) news: broadcast::Sender<(&'static str, String)>,
    /// Pages that listen, and when the last of them went.
    pages: AtomicUsize,
    last_page: Mutex<Instant>,
    pub(crate) quit: Notify,
}

/// What can change.
#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) phase: Phase,
    pub(crate) project: Option<Project>,
    /// The newest job; one runs at a time.
    pub(crate) job: Option<Arc<Job>>,
    pub(crate) next_job: u64,
    /// What searches found, the newest last.
    pub(crate) results: Vec<Arc<FoundRelease>>,
    pub(crate) next_result: u64,
    /// Pages that this session wrote, which may be shown.
    pub(crate) written: BTreeSet<PathBuf>,
    /// Addresses of such pages, each for one look.
    pub(crate) looks: BTreeMap<String, PathBuf>,
}

/// How far a table is.
#[derive(Clone, Debug, Default)]
pub(crate) enum Phase {
    #[default]
    Choose,
    Reading,
    Ready,
    Failed(Failure),
}

impl App {
    pub(crate) fn new(folder: PathBuf, token: String, port: u16) -> App {
        App {
            folder,
            token,
            port,
            state: Mutex::default(),
            news: broadcast::channel(64).0,
            pages: AtomicUsize::new(0),
            last_page: Mutex::new(Instant::now()),
            quit: Notify::new(),
        }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Tells all pages; nobody may be listening.
    pub(crate) fn tell(&self, event: &'static str, data: String) {
        let _ = self.news.send((event, data));
    }

    pub(crate) fn page_came(&self) {
        self.pages.fetch_add(1, Ordering::SeqCst);
    }

    pub(crate) fn page_went(&self) {
        self.pages.fetch_sub(1, Ordering::SeqCst);
        *self.last_page.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Instant::now();
    }

    /// True when no page has listened for so long, and no job runs.
    fn is_idle(&self, idle: Duration) -> bool {
        let last = *self.last_page.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let works = self.state().job.as_ref().is_some_and(|job| job.is_running());
        self.pages.load(Ordering::SeqCst) == 0 && last.elapsed() >= idle && !works
    }
}

impl State {
    /// The project that is open.
    pub(crate) fn project(&mut self) -> Answer<&mut Project> {
        let none = || {
            let why = "no table is open: choose one first";
            Failure::new(StatusCode::CONFLICT, "no-project", why)
        };
        match self.phase {
            Phase::Ready => self.project.as_mut().ok_or_else(none),
            _ => Err(none()),
        }
    }

    pub(crate) fn result(&self, id: u64) -> Answer<Arc<FoundRelease>> {
        let found = self.results.iter().find(|result| result.id == id);
        let gone = || Failure::not_found("this result is not in memory any more: search again");
        found.cloned().ok_or_else(gone)
    }
}

/// Ends when the page says so, or when nobody has looked for so long.
pub(crate) async fn ended(app: Arc<App>, idle: Duration) {
    loop {
        let pause = tokio::time::sleep(Duration::from_secs(1));
        tokio::select! {
            () = app.quit.notified() => break,
            () = pause => if app.is_idle(idle) { break },
        }
    }
    if let Some(job) = &app.state().job {
        job.cancel.abandon();
        job.measuring.end_search();
    }
    // Streams of pages end, so that the server can.
    app.tell("end", String::new());
}
