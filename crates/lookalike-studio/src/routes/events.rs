//! The two streams of events: what changed, and how far a job is.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Path, State};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use tokio_stream::wrappers::ReceiverStream;

use super::Shared;
use super::results::job_of;
use crate::state::App;
use crate::tags::Stamp;

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

pub(super) async fn changes(State(app): Shared) -> Response {
    let (sender, receiver) = tokio::sync::mpsc::channel(16);
    let mut news = app.news.subscribe();
    app.page_came();
    tokio::spawn(async move {
        let page = Page(app);
        let mut disk = tokio::time::interval(Duration::from_secs(2));
        let mut seen = Vec::new();
        loop {
            let (event, data) = tokio::select! {
                news = news.recv() => match news {
                    Ok(("end", _)) | Err(tokio::sync::broadcast::error::RecvError::Closed) => break,
                    Ok(news) => news,
                    Err(tokio::sync::broadcast::error::RecvError::Lagged(_)) => ("project", "{}".into()),
                },
                _ = disk.tick() => match changed_on_disk(&page.0, &mut seen) {
                    Some(changes) => ("disk", changes.to_string()),
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

/// The files that another program wrote or removed, and whether the table is one of them; none when that
/// is known already.
fn changed_on_disk(app: &Arc<App>, seen: &mut Vec<Option<Stamp>>) -> Option<Value> {
    let mut state = app.state();
    let project = state.project().ok()?;
    let stamps = project.stamps();
    if *seen == stamps {
        return None;
    }
    *seen = stamps;
    let (files, table) = (project.changed_files(), project.is_table_changed());
    (table || !files.is_empty()).then(|| json!({ "files": files, "table": table }))
}

pub(super) async fn job(State(app): Shared, Path(id): Path<u64>) -> Response {
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
