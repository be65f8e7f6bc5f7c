//! `lookalike studio`: serves the page and opens a browser.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use lookalike::{Error, Result};
use lookalike_studio::{StudioOptions, serve};

use crate::args::StudioArgs;
use crate::{interrupt, show};

pub(crate) fn run(args: &StudioArgs) -> Result<ExitCode> {
    let (folder, open) = place(args.data.as_deref())?;
    let idle = Duration::from_secs(args.idle * 60);
    let options = StudioOptions { folder, open, port: args.port, idle };
    interrupt::serving();
    serve(&options, |address| {
        show::say(&format!(
            "studio    {address}\n          on this computer alone; Ctrl-C ends it"
        ));
        if !args.no_browser {
            open_browser(address);
        }
    })?;
    show::say("ended     the page was closed, or asked for the end");
    Ok(ExitCode::SUCCESS)
}

/// The folder, and the file in it to begin with.
fn place(data: Option<&Path>) -> Result<(PathBuf, Option<PathBuf>)> {
    let Some(data) = data else { return Ok((PathBuf::from("."), None)) };
    let real = std::fs::canonicalize(data).map_err(|source| Error::io(data, source))?;
    if real.is_dir() {
        return Ok((real, None));
    }
    let folder = real.parent().unwrap_or(Path::new("/")).to_path_buf();
    Ok((folder, Some(real)))
}

/// Opens the usual browser, if there is one: the address is printed in any case.
fn open_browser(address: &str) {
    let program = match std::env::consts::OS {
        "macos" => "open",
        "windows" => "explorer",
        _ => "xdg-open",
    };
    let quiet = || Stdio::null();
    let _ =
        Command::new(program).arg(address).stdin(quiet()).stdout(quiet()).stderr(quiet()).spawn();
}
