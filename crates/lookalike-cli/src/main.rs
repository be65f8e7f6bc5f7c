//! The command line of lookalike: parses, runs one command, prints its error once and returns an
//! exit code.

mod args;
mod bounds;
mod cmd;
mod files;
mod hints;
mod interrupt;
mod memory;
mod paths;
mod persons;
mod progress;
mod request;
mod show;

use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Mutex, MutexGuard, PoisonError};

use clap::Parser;
use lookalike::{ErrorKind, Result};

use crate::args::{Cli, Command};

/// The rules are not satisfied, or cannot be.
const NOT_MET: u8 = 1;
/// Wrong usage or configuration; clap uses the same code.
const USAGE: u8 = 2;
/// The input table is wrong.
const DATA: u8 = 3;
/// Time or memory ran out before a release was found.
const EXHAUSTED: u8 = 4;
/// A file or stream could not be read or written.
const IO: u8 = 5;
/// A bug of this program.
const BUG: u8 = 70;
/// More threads than any machine has cores.
const MOST_THREADS: usize = 1024;
/// Interrupted by a signal.
const INTERRUPTED: u8 = 130;

fn main() -> ExitCode {
    let cli = Cli::parse();
    // A panic is reported only when it ends the program: the decoders of damaged files panic too,
    // and those panics are caught and reported as damaged files.
    panic::set_hook(Box::new(|info| *last_panic() = Some(bug(info))));
    interrupt::install();
    // While the panic unwinds, files that were not published are removed.
    panic::catch_unwind(AssertUnwindSafe(|| run(cli))).unwrap_or_else(|_| {
        show::error(&last_panic().take().unwrap_or_default());
        ExitCode::from(BUG)
    })
}

fn last_panic() -> MutexGuard<'static, Option<String>> {
    static LAST: Mutex<Option<String>> = Mutex::new(None);
    LAST.lock().unwrap_or_else(PoisonError::into_inner)
}

fn run(cli: Cli) -> ExitCode {
    let is_json = wants_json(&cli.command);
    let prepared =
        threads(cli.global.threads).and_then(|()| memory::limit(cli.global.max_memory.as_deref()));
    let outcome = prepared.and_then(|()| match cli.command {
        Command::Init(args) => cmd::init::run(&args),
        Command::Check(args) => cmd::check::run(&args),
        Command::Explain(args) => cmd::explain::run(&args),
        Command::Anonymize(args) => cmd::anonymize::run(&args, &cli.global),
        Command::Plan(args) => cmd::plan::run(&args, &cli.global),
        Command::Apply(args) => cmd::apply::run(&args, &cli.global),
        Command::Verify(args) => cmd::verify::run(&args),
        Command::Query(args) => cmd::query::run(&args, &cli.global),
        Command::Compare(args) => cmd::compare::run(&args, &cli.global),
        Command::Report(args) => cmd::report::run(&args, &cli.global),
        Command::Reproduce(args) => cmd::reproduce::run(&args, &cli.global),
        Command::Demo(args) => cmd::demo::run(&args, &cli.global),
        Command::Hierarchy(args) => cmd::hierarchy::run(&args, &cli.global),
        #[cfg(feature = "studio")]
        Command::Studio(args) => cmd::studio::run(&args),
        Command::Synth(args) => cmd::synth::run(&args),
        Command::Completions(args) => cmd::complete::completions(&args),
        Command::Man(args) => cmd::complete::man(&args),
    });
    name_leftovers(&lookalike::table::take_leftovers());
    outcome.unwrap_or_else(|error| {
        if error.is_closed_output() {
            // The reader of a message has seen enough. An incomplete release is another error: see
            // `lookalike::run`.
            return ExitCode::SUCCESS;
        }
        if is_json {
            // The first error is the one that is reported.
            let _ = show::json(&hints::object(&error));
        }
        let message = hints::error(&error);
        let message = match error.kind() {
            ErrorKind::NotVerified => show::bug(&message),
            _ => message,
        };
        lookalike::table::undisturbed(|| show::error(&message));
        ExitCode::from(code(error.kind()))
    })
}

/// True when the results were asked for as JSON: then the error is JSON too, unless standard output
/// is for something else.
fn wants_json(command: &Command) -> bool {
    let is_free = |other: Option<&PathBuf>| other.is_none_or(|path| path != Path::new("-"));
    match command {
        Command::Check(args) => args.json,
        Command::Explain(args) => args.json,
        Command::Anonymize(args) => args.json && is_free(args.output.as_ref()),
        Command::Plan(args) => args.json && is_free(Some(&args.output)),
        Command::Apply(args) => args.json && is_free(Some(&args.output)),
        Command::Verify(args) => args.json,
        Command::Query(args) => args.json,
        Command::Compare(args) => args.json && is_free(args.csv.as_ref()),
        _ => false,
    }
}

/// Names the files of runs that were killed. They hold rows of a table, not verified.
fn name_leftovers(files: &[std::path::PathBuf]) {
    if !files.is_empty() {
        let names: Vec<String> = files.iter().map(|file| show::path(file)).collect();
        show::warning(&format!(
            "an earlier run was killed and left behind {}: not verified, no run uses it, remove it",
            names.join(", ")
        ));
    }
}

/// Sets the number of threads of the parallel parts.
fn threads(wanted: Option<usize>) -> Result<()> {
    match wanted {
        None => Ok(()),
        Some(0) => Err(request::usage("--threads must be at least 1")),
        Some(count) if count > MOST_THREADS => {
            Err(request::usage(format!("--threads must be at most {MOST_THREADS}")))
        }
        Some(count) => rayon::ThreadPoolBuilder::new()
            .num_threads(count)
            .build_global()
            .map_err(|error| request::usage(format!("--threads {count}: {error}"))),
    }
}

fn code(kind: ErrorKind) -> u8 {
    match kind {
        ErrorKind::Infeasible => NOT_MET,
        ErrorKind::Request | ErrorKind::Hierarchy => USAGE,
        ErrorKind::Data => DATA,
        ErrorKind::Exhausted => EXHAUSTED,
        ErrorKind::Io => IO,
        ErrorKind::Interrupted => INTERRUPTED,
        _ => BUG,
    }
}

/// The place of a panic, not its message, which may have the value of a cell.
fn bug(info: &PanicHookInfo) -> String {
    let place = info
        .location()
        .map_or("unknown place".to_string(), |place| format!("{}:{}", place.file(), place.line()));
    show::bug(&format!("it stopped at {place}; no unverified file is left behind"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_reported_by_its_place_alone() {
        static SAID: Mutex<String> = Mutex::new(String::new());
        let before = panic::take_hook();
        panic::set_hook(Box::new(|info| *SAID.lock().unwrap() = bug(info)));
        let caught = panic::catch_unwind(|| panic!("canary cell"));
        panic::set_hook(before);
        let said = SAID.lock().unwrap();
        assert!(caught.is_err());
        assert!(
            said.contains("bug in lookalike")
                && said.contains("main.rs:")
                && !said.contains("canary"),
            "{said}"
        );
    }
}
