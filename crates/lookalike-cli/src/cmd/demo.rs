//! `lookalike demo`: a made-up table before and after, for new users.

use std::path::Path;
use std::process::ExitCode;

use lookalike::audit::AuditView;
use lookalike::evaluate::query::{RowLoss, typical_rows};
use lookalike::run::{Run, read_for_audit};
use lookalike::synthetic::Synthetic;
use lookalike::table::{Access, Coded, Existing, Table, Treatment};
use lookalike::{Error, Request, Result, table};
use lookalike_report::words::{CLASSES, rule_line};

use crate::args::{DemoArgs, GlobalArgs};
use crate::cmd::anonymize::loss_line;
use crate::cmd::check::histogram;
use crate::cmd::legend::{Shown, legend};
use crate::cmd::synth;
use crate::interrupt;
use crate::progress::RunProgress;
use crate::show::{self, count, counted};

/// Rows of each table that are printed.
const SHOWN: usize = 6;
/// Columns of a terminal line.
const WIDTH: usize = 80;

const REQUEST: &str = r#"# Made by `lookalike demo`: roles of the columns of patients.csv, and rules for the release.
version = 1
k = 5                        # every row has at least four lookalikes
steps = 20000                # length of the search: the same release on every machine

[input]
path = "patients.csv"

[columns]
name      = { role = "identifier", reason = 'names a person: dropped' }
age       = { role = "quasi", reason = 'others may know it: generalized' }
zip       = { role = "quasi", hierarchy = { prefix = [4, 3, 2] }, reason = 'others may know it' }
sex       = { role = "quasi", reason = 'seen by everybody' }
marital   = { role = "quasi", reason = 'others may know it' }
admission = { role = "identifier", reason = 'an exact day almost identifies a person: dropped' }
diagnosis = { role = "sensitive", l = 2, reason = 'must not be inferred: at most half of a class alike' }
ward      = { role = "keep", reason = 'published unchanged: the clinic wants it' }

[output]
path = "safe.csv"

[limits]
suppress = "1%"              # greatest share of suppressed rows
"#;

pub(crate) fn run(args: &DemoArgs, global: &GlobalArgs) -> Result<ExitCode> {
    let folder = &args.output;
    std::fs::create_dir_all(folder).map_err(|source| Error::io(folder, source))?;
    let (data, toml, safe) =
        (folder.join("patients.csv"), folder.join("lookalike.toml"), folder.join("safe.csv"));
    synth::write(Synthetic::Hospital, args.rows, args.seed, &data, true)?;
    table::write_text(&toml, Existing::Overwrite, Access::Usual, REQUEST)?;
    let request = Request { seed: Some(args.seed), ..Request::read(&toml)? };
    let progress = RunProgress::new(global.quiet, false);
    let watch = |event: lookalike::run::Event| progress.event(event);
    let run = Run::new(&request).existing(Existing::Overwrite);
    let done = run.cancel(interrupt::of_run()).watch(&watch).to_file(&data, &safe)?;
    progress.end();
    let before = excerpt(&data, &(0..SHOWN).collect::<Vec<_>>())?;
    // The rows of a release are sorted, and those that lose most come first.
    let read = |path: &Path, view| read_for_audit(path, &request, view);
    let (source, release) =
        (read(&data, AuditView::Source)?, read(&safe, AuditView::ReleaseAgainstSource)?);
    let typical = typical_rows(&source, &release, &request, SHOWN, RowLoss::Penalty)?;
    let after = excerpt(&safe, &typical)?;
    let verdict = &done.verdict;
    let mut text = format!(
        "A made-up table of {} (nobody in it exists):\n\n{before}\n",
        counted(done.found.rows, "patient", "patients")
    );
    text += &format!(
        "The same table, released with k = {} (typical rows):\n\n{after}\n",
        request.k.unwrap_or(1)
    );
    text += &show::wrap(
        &format!(
            "Every row has at least {} lookalikes on ",
            count(verdict.measures.k.saturating_sub(1))
        ),
        &done.found.quasi,
    );
    text += &format!(
        ":\n{} in {}, {} suppressed.\n\n",
        counted(verdict.measures.rows, "row", "rows"),
        counted(verdict.measures.classes, "class", "classes"),
        counted(done.found.suppressed, "row", "rows")
    );
    text += &show::indent(&histogram(&verdict.measures));
    text += &format!("\nLoss: {}\n", loss_line(&done));
    text += "Verified on the written file:\n";
    verdict
        .rules
        .iter()
        .for_each(|rule| text += &format!("  {}\n", rule_line(rule, &done.found.quasi, CLASSES)));
    text += &format!(
        "\n{}",
        legend(&done, Shown::Demo).replacen("what", "What", 1).replacen("mean\n", "mean:\n", 1)
    );
    let [data, toml, safe] = [&data, &toml, &safe].map(|path| show::argument(path));
    text += &format!("\nThe table:    {data}\nThe request:  {toml}\nThe release:  {safe}\n");
    text += &format!(
        "\nTry next:\n  lookalike verify -c {toml}\n  lookalike report -c {toml}\n  lookalike init YOUR.csv\n"
    );
    show::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Some rows of a table.
fn excerpt(path: &Path, shown: &[usize]) -> Result<String> {
    let source = table::open(path, Some(','))?;
    let all = vec![Treatment::Code; source.names().len()];
    let table = source.read(&all)?;
    let heads: Vec<&str> = table.columns().iter().map(|column| column.name.as_str()).collect();
    let shown = shown.iter().filter(|&&row| row < table.rows());
    let rows: Vec<Vec<String>> = shown.map(|&row| cells(&table, row)).collect();
    // Long cells are shortened, the longest first, until a line fits.
    let longest = rows.iter().flatten().map(|cell| show::width(cell)).max().unwrap_or(0);
    let shown = |limit: usize| {
        let rows: Vec<Vec<String>> =
            rows.iter().map(|row| row.iter().map(|cell| cut(cell, limit)).collect()).collect();
        show::indent(&show::table(&heads, &rows))
    };
    let fits = |text: &String| text.lines().all(|line| show::width(line) <= WIDTH);
    Ok((4..=longest).rev().map(shown).find(fits).unwrap_or_else(|| shown(4)))
}

fn cells(table: &Table, row: usize) -> Vec<String> {
    let text =
        |coded: &Coded| coded.values()[coded.codes().get(row) as usize].clone().unwrap_or_default();
    table.columns().iter().map(|column| text(table.coded(&column.name))).collect()
}

fn cut(text: &str, limit: usize) -> String {
    if show::width(text) <= limit {
        text.to_string()
    } else {
        text.chars().take(limit - 2).chain("..".chars()).collect()
    }
}
