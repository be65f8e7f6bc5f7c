//! Runs random cases against the parsers: `cargo run --release -p lookalike-fuzz -- [TARGET|all]
//! [--cases N] [--first-seed S] [--keep DIR]`.
//!
//! It prints the number of cases of each target, how many were accepted, and the seeds that failed; a
//! seed makes the same case again. Needs no nightly compiler and no other tool.

use std::io::Write;
use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use lookalike_fuzz::{TARGETS, Target, case};

/// The time limit of a case.
const TIME_LIMIT: Duration = Duration::from_secs(20);

struct FuzzArgs {
    target: String,
    cases: u64,
    first: u64,
    keep: Option<std::path::PathBuf>,
}

fn parse_args() -> Result<FuzzArgs, String> {
    let mut found = FuzzArgs { target: "all".into(), cases: 1_000, first: 0, keep: None };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or(format!("{arg} needs a value"));
        let number = |text: String| text.parse::<u64>().map_err(|_| format!("{text} is no number"));
        match arg.as_str() {
            "--cases" => found.cases = number(value()?)?,
            "--first-seed" => found.first = number(value()?)?,
            "--keep" => found.keep = Some(value()?.into()),
            name if name == "all" || TARGETS.iter().any(|target| target.name == name) => {
                found.target = name.into()
            }
            other => {
                return Err(format!(
                    "there is no {other}; targets are all, {}",
                    TARGETS.map(|target| target.name).join(", ")
                ));
            }
        }
    }
    Ok(found)
}

/// True when the case was accepted; an error when a law is broken.
fn run(target: Target, bytes: Vec<u8>) -> Result<bool, &'static str> {
    let (send, receive) = mpsc::channel();
    thread::spawn(move || {
        let found = panic::catch_unwind(AssertUnwindSafe(|| (target.run)(&bytes)));
        let _ = send.send(found.map_err(|_| "a law is broken, or a parser panicked"));
    });
    receive.recv_timeout(TIME_LIMIT).unwrap_or(Err("it does not end"))
}

fn main() -> ExitCode {
    // Decoders of damaged files may panic: the reader catches that. Only a panic that leaves the
    // reader counts.
    panic::set_hook(Box::new(|_| {}));
    let mut out = std::io::stdout();
    let args = match parse_args() {
        Ok(args) => args,
        Err(why) => {
            let _ = writeln!(std::io::stderr(), "error: {why}");
            return ExitCode::from(2);
        }
    };
    let (mut passed, mut failed) = (0_u64, 0_u64);
    for target in
        TARGETS.into_iter().filter(|target| args.target == "all" || args.target == target.name)
    {
        let (mut accepted, mut broken) = (0_u64, 0_u64);
        for seed in args.first..args.first + args.cases {
            let bytes = case(&target, seed);
            match run(target, bytes.clone()) {
                Ok(is_accepted) => accepted += u64::from(is_accepted),
                Err(what) => {
                    broken += 1;
                    let _ = writeln!(out, "BROKEN {} seed {seed}: {what}", target.name);
                    if let Some(folder) = &args.keep {
                        let _ = std::fs::create_dir_all(folder);
                        let _ =
                            std::fs::write(folder.join(format!("{}-{seed}", target.name)), bytes);
                    }
                }
            }
        }
        let _ = writeln!(
            out,
            "{:10} {:>9} cases, {accepted:>9} accepted, {broken} broken",
            target.name, args.cases
        );
        passed += args.cases - broken;
        failed += broken;
    }
    let _ = writeln!(out, "{passed} passed, {failed} failed");
    ExitCode::from(u8::from(failed > 0))
}
