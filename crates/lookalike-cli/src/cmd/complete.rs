//! `lookalike completions` and `lookalike man`: files that packagers install with the program.

use std::process::ExitCode;

use clap::CommandFactory;
use lookalike::Result;

use crate::args::{Cli, CompletionArgs};
use crate::show;

/// Prints a completion script.
pub(crate) fn completions(args: &CompletionArgs) -> Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "lookalike", &mut script);
    show::print(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the manual: the program, then a section for each command.
pub(crate) fn man() -> Result<ExitCode> {
    let mut page = Vec::new();
    clap_mangen::Man::new(Cli::command()).render(&mut page).expect("memory takes every page");
    show::print(&String::from_utf8_lossy(&page))?;
    Ok(ExitCode::SUCCESS)
}
