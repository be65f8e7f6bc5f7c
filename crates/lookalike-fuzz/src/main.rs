//! Runs random cases against the parsers: `cargo run --release -p lookalike-fuzz -- [TARGET|all]
//! [--cases N] [--first-seed S] [--keep DIR]`.
//!
//! It prints how many cases each target had, how many were accepted, and what broke; a seed makes
//! the same case again. Needs no nightly compiler and no other tool.

use std::io::Write;
use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use lookalike_fuzz::{TARGETS, Target, case};

/// A case that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(20);

struct Wanted {
    target: String,
    cases: u64,
    first: u64,
    keep: Option<std::path::PathBuf>,
}

fn wanted() -> Result<Wanted, String> {
    let mut wanted = Wanted { target: "all".into(), cases: 1_000, first: 0, keep: None };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or(format!("{arg} needs a value"));
        let number = |text: String| text.parse::<u64>().map_err(|_| format!("{text} is no number"));
        match arg.as_str() {
            "--cases" => wanted.cases = number(value()?)?,
            "--first-seed" => wanted.first = number(value()?)?,
            "--keep" => wanted.keep = Some(value()?.into()),
            name if name == "all" || TARGETS.iter().any(|target| target.name == name) => {
                wanted.target = name.into()
            }
            other => {
                return Err(format!(
                    "there is no {other}; targets are all, {}",
                    TARGETS.map(|target| target.name).join(", ")
                ));
            }
        }
    }
    Ok(wanted)
}

/// How a case ended: whether it was accepted, or what broke.
fn run(target: Target, bytes: Vec<u8>) -> Result<bool, &'static str> {
    let (send, receive) = mpsc::channel();
    thread::spawn(move || {
        let found = panic::catch_unwind(AssertUnwindSafe(|| (target.run)(&bytes)));
        let _ = send.send(found.map_err(|_| "a law is broken, or a parser panicked"));
    });
    receive.recv_timeout(PATIENCE).unwrap_or(Err("it does not end"))
}

fn main() -> ExitCode {
    // Decoders of damaged files may panic inside: the reader catches that, and only what gets out
    // counts.
    panic::set_hook(Box::new(|_| {}));
    let mut out = std::io::stdout();
    let wanted = match wanted() {
        Ok(wanted) => wanted,
        Err(why) => {
            let _ = writeln!(std::io::stderr(), "error: {why}");
            return ExitCode::from(2);
        }
    };
    let (mut passed, mut failed) = (0_u64, 0_u64);
    for target in
        TARGETS.into_iter().filter(|target| wanted.target == "all" || wanted.target == target.name)
    {
        let (mut accepted, mut broken) = (0_u64, 0_u64);
        for seed in wanted.first..wanted.first + wanted.cases {
            let bytes = case(&target, seed);
            match run(target, bytes.clone()) {
                Ok(is_accepted) => accepted += u64::from(is_accepted),
                Err(what) => {
                    broken += 1;
                    let _ = writeln!(out, "BROKEN {} seed {seed}: {what}", target.name);
                    if let Some(folder) = &wanted.keep {
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
            target.name, wanted.cases
        );
        passed += wanted.cases - broken;
        failed += broken;
    }
    let _ = writeln!(out, "{passed} passed, {failed} failed");
    ExitCode::from(u8::from(failed > 0))
}
