//! `lookalike completions` and `lookalike man`: files that packagers install with the program.

use std::process::ExitCode;

use clap::CommandFactory;
use clap_mangen::Man;
use lookalike::Result;
use lookalike::table::{self, Access, Existing};

use crate::args::{Cli, CompletionArgs, ManArgs};
use crate::request::usage;
use crate::show;

/// Prints a completion script.
pub(crate) fn completions(args: &CompletionArgs) -> Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "lookalike", &mut script);
    show::print(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the page of the program or of one command, or writes the pages of all into a folder.
pub(crate) fn man(args: &ManArgs) -> Result<ExitCode> {
    let mut command = Cli::command().disable_help_subcommand(true);
    // Commands get their full names and the global flags.
    command.build();
    if let Some(folder) = &args.to {
        let existing = Existing::overwrite_if(args.force);
        for (name, page) in pages(&command) {
            table::write_text(&folder.join(name), existing, Access::Usual, &page)?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    for name in &args.command {
        let Some(found) = command.find_subcommand(name) else {
            return Err(usage(format!(
                "there is no command `{name}`: list the commands with lookalike --help"
            )));
        };
        command = found.clone();
    }
    let (_, page) = page(&command);
    show::print(&page)?;
    Ok(ExitCode::SUCCESS)
}

/// The names and texts of the pages of a command and of all commands below it.
fn pages(command: &clap::Command) -> Vec<(String, String)> {
    let below = command.get_subcommands().filter(|below| !below.is_hide_set());
    std::iter::once(page(command)).chain(below.flat_map(pages)).collect()
}

fn page(command: &clap::Command) -> (String, String) {
    let man = Man::new(command.clone());
    let mut page = Vec::new();
    man.render(&mut page).expect("memory takes every page");
    (man.get_filename(), String::from_utf8_lossy(&page).into_owned())
}
