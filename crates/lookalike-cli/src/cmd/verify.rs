//! `lookalike verify`: judges a release, by other code than made it.

use std::path::Path;
use std::process::ExitCode;

use lookalike::audit::{self, Finding, Statement, Verdict, View};
use lookalike::config::Role;
use lookalike::io::{FileType, Format};
use lookalike::table::{Column, Table};
use lookalike::{Config, Result, io};
use serde_json::json;

use crate::NOT_MET;
use crate::args::Verify;
use crate::cmd::anonymize::rule_lines;
use crate::show::{self, count, counted};

/// Runs the command.
pub(crate) fn run(args: &Verify) -> Result<ExitCode> {
    let config = args.request.config()?;
    let view = if args.source.is_some() { View::ReleaseAgainstSource } else { View::Release };
    let release = read(&args.release, &config, view)?;
    let verdict = match &args.source {
        None => audit::audit(&release, &config)?,
        Some(source) => audit::audit_against(&release, &read(source, &config, View::Source)?, &config)?,
    };
    let holds = verdict.holds();
    if args.json {
        let mut object = json!(verdict);
        object["version"] = json!(1);
        object["holds"] = json!(holds);
        show::json(&object)?;
    } else {
        show::print(&text(&verdict, &quasi(&release, &config)))?;
    }
    Ok(if holds { ExitCode::SUCCESS } else { ExitCode::from(NOT_MET) })
}

/// Reads a table for the judge.
pub(crate) fn read(path: &Path, config: &Config, view: View) -> Result<Table> {
    // The delimiter of the configuration is that of the source; a release is written with that of its ending.
    let delimiter = match (view, io::file_type(path)) {
        (View::Source, _) => config.input.delimiter,
        (_, Ok(FileType { format: Format::Csv { delimiter }, .. })) => Some(char::from(delimiter)),
        _ => None,
    };
    let opened = io::open(path, delimiter)?;
    let treatments = audit::treatments(opened.names(), config, view);
    opened.read(&treatments)
}

fn text(verdict: &Verdict, quasi: &[String]) -> String {
    let mut text = format!(
        "rows      {}\nclasses   {}, the smallest has {}\n\nrules\n",
        count(verdict.rows),
        count(verdict.classes),
        counted(verdict.measures.k, "row", "rows"),
    );
    text += &show::indent(&verdict.rules.iter().map(|rule| rule_lines(rule, quasi)).collect::<String>());
    if !verdict.leaks.is_empty() {
        text += "\nleaks\n";
        verdict.leaks.iter().for_each(|leak| text += &format!("  LEAK    {leak}\n"));
    }
    if let Some(truth) = &verdict.truth {
        text += "\nagainst the source\n";
        for Statement { finding, text: said } in &truth.statements {
            let mark = match finding {
                Finding::Ok => "ok    ",
                Finding::Partly => "partly",
                Finding::Broken => "BROKEN",
            };
            text += &format!("  {mark}  {said}\n");
        }
    }
    text.push('\n');
    text += &if verdict.holds() {
        show::wrap(&format!("holds: {}-anonymous for these columns: ", verdict.measures.k), quasi)
    } else {
        "does NOT hold".to_string()
    };
    text.push('\n');
    text
}

/// The quasi-identifiers in the order of the release, which may show one as two columns of bounds.
fn quasi(release: &Table, config: &Config) -> Vec<String> {
    let is_quasi = |name: &str| config.column(name).is_some_and(|line| line.role == Role::Quasi);
    let of = |column: &Column| {
        [column.name.as_str()].into_iter().chain(column.name.strip_suffix("_min")).find(|name| is_quasi(name)).map(String::from)
    };
    release.columns.iter().filter_map(of).collect()
}
