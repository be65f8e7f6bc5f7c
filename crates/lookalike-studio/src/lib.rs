//! `lookalike studio`: a page in the browser, on this computer alone, that does what the command line
//! does: columns and roles, hierarchies, rules, search, result, release.
//!
//! | file | concern |
//! |---|---|
//! | `security` | who may ask: token, host, site; the headers of every answer |
//! | `routes` | which address does what |
//! | `project` | the configuration and the hierarchy files on disk, undo |
//! | `source` | the table in memory, read once |
//! | `measure` | unique rows, rows below k, rules before any search |
//! | `hierarchies`, `hierarchy_edits` | a hierarchy as lines, preview; acts of the editor |
//! | `jobs`, `work` | long work: events, stop; what each job does |
//! | `results`, `measuring` | what was found: the numbers of a release that is still in memory |
//! | `tags` | which version of a file is known, so that others' changes are noticed |
//! | `words` | ways out of an error, as places of the page |
//! | `same` | the command and the Python lines that do the same |
//!
//! The state is the TOML file and the hierarchy files; what is in memory can be made again from them.
//! The server listens on 127.0.0.1 and opens no file outside of the folder that it was started with.
//! No cell of the table goes to a log: nothing is logged.

mod assets;
mod failure;
mod files;
mod hierarchies;
mod hierarchy_edits;
mod jobs;
mod measure;
mod measuring;
mod opening;
mod project;
mod results;
mod routes;
mod same;
mod security;
mod source;
mod state;
mod tags;
mod words;
mod work;

use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use lookalike::{Error, Result};

pub use opening::opening_page;

use state::App;

/// How the studio is started.
#[derive(Clone, Debug)]
pub struct StudioOptions {
    /// The folder whose files may be opened.
    pub folder: PathBuf,
    /// A table or a configuration to begin with, below the folder.
    pub open: Option<PathBuf>,
    /// The port; a free one when absent.
    pub port: Option<u16>,
    /// The server ends when no page was open for so long.
    pub idle: Duration,
}

impl StudioOptions {
    /// A free port, and an hour without a page.
    pub fn new(folder: impl AsRef<Path>) -> StudioOptions {
        let folder = folder.as_ref().to_path_buf();
        StudioOptions { folder, open: None, port: None, idle: Duration::from_secs(3600) }
    }
}

/// Serves the page until it is ended. `ready` gets the address, with the token behind the `#`.
///
/// # Errors
/// When the folder or the file is not there, or the port is taken.
pub fn serve(options: &StudioOptions, ready: impl FnOnce(&str)) -> Result<()> {
    let folder = std::fs::canonicalize(&options.folder)
        .map_err(|source| Error::io(&options.folder, source))?;
    let at = (Ipv4Addr::LOCALHOST, options.port.unwrap_or(0));
    let no_port = |source| Error::io(Path::new("127.0.0.1"), source);
    let listener = TcpListener::bind(at).map_err(no_port)?;
    listener.set_nonblocking(true).map_err(no_port)?;
    let port = listener.local_addr().map_err(no_port)?.port();
    let token = security::new_token();
    let address = format!("http://127.0.0.1:{port}/#{token}");
    let app = Arc::new(App::new(folder, token, port));
    if let Some(path) = &options.open {
        project::open(&app, path, None).map_err(failure::Failure::into_error)?;
    }
    // One thread for the connections: whatever takes a moment has a thread of its own.
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(no_port)?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener).map_err(no_port)?;
        ready(&address);
        let ending = state::ended(Arc::clone(&app), options.idle);
        axum::serve(listener, routes::router(Arc::clone(&app)))
            .with_graceful_shutdown(ending)
            .await
            .map_err(no_port)
    })?;
    // A job that still runs is given up with the program.
    runtime.shutdown_timeout(Duration::from_millis(200));
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpStream;
    use std::sync::mpsc;
    use std::time::Instant;

    use super::*;

    #[test]
    fn the_server_ends_when_no_page_was_open_for_a_while_and_not_before() {
        let folder = tempfile::tempdir().unwrap();
        let idle = Duration::from_millis(300);
        let options = StudioOptions { idle, ..StudioOptions::new(folder.path()) };
        let (send, address) = mpsc::channel();
        let server = std::thread::spawn(move || {
            serve(&options, |address| send.send(address.to_string()).unwrap())
        });
        let address = address.recv_timeout(Duration::from_secs(10)).unwrap();
        let (host, token) = address.strip_prefix("http://").unwrap().split_once("/#").unwrap();
        let mut page = TcpStream::connect(host).unwrap();
        let head = format!("Host: {host}\r\nAuthorization: Bearer {token}\r\n\r\n");
        write!(page, "GET /api/changes HTTP/1.1\r\n{head}").unwrap();
        let mut part = [0; 64];
        assert!(page.read(&mut part).unwrap() > 0);
        // A page is open: it goes on.
        std::thread::sleep(Duration::from_secs(3));
        assert!(!server.is_finished());
        drop(page);
        let begun = Instant::now();
        while !server.is_finished() {
            assert!(begun.elapsed() < Duration::from_secs(20), "it does not end");
            std::thread::sleep(Duration::from_millis(50));
        }
        server.join().unwrap().unwrap();
        assert!(TcpStream::connect(host).is_err());
    }
}
