//! `lookalike studio`: serves the page and opens a browser.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use lookalike::{Error, Result};
use lookalike_studio::{StudioOptions, opening_page, serve};

use crate::args::StudioArgs;
use crate::{interrupt, show};

/// A browser that is not there after this time is opened by hand.
const OPENING: Duration = Duration::from_secs(120);

/// Settings of the C library's allocator, which are read at the start of a program. Threads of jobs come
/// and go, and every one of many arenas would keep what the largest job had in it.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const ALLOCATOR: [(&str, &str); 2] =
    [("MALLOC_ARENA_MAX", "2"), ("MALLOC_MMAP_THRESHOLD_", "4194304")];
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
const ALLOCATOR: [(&str, &str); 0] = [];

/// Starts the program once more in its own place, with these settings; where that fails, it goes on.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn start_with_settings() {
    use std::os::unix::process::CommandExt;
    let is_set = |(name, _): &(&str, &str)| std::env::var_os(name).is_some();
    let (Ok(program), mut words) = (std::env::current_exe(), std::env::args_os()) else { return };
    let Some(name) = words.next().filter(|_| !ALLOCATOR.iter().any(is_set)) else { return };
    let _ = Command::new(program).arg0(name).args(words).envs(ALLOCATOR).exec();
}

pub(crate) fn run(args: &StudioArgs) -> Result<ExitCode> {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    start_with_settings();
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
    interrupt::remove_now();
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

/// Opens the usual browser, if there is one: the address is printed in any case. The browser gets a file
/// that sends it to the address, for everybody can see the words of a command.
fn open_browser(address: &str) {
    let Ok(page) = opening_page(address) else { return };
    interrupt::remove_at_end(&page);
    let program = match std::env::consts::OS {
        "macos" => "open",
        "windows" => "explorer",
        _ => "xdg-open",
    };
    let quiet = || Stdio::null();
    let mut browser = Command::new(program);
    browser.arg(&page).stdin(quiet()).stdout(quiet()).stderr(quiet());
    for (name, _) in ALLOCATOR {
        browser.env_remove(name);
    }
    let _ = browser.spawn();
    std::thread::spawn(|| {
        std::thread::sleep(OPENING);
        interrupt::remove_now();
    });
}
