//! `lookalike demo`: everything a new user needs to see, on a made-up table.

use std::path::Path;
use std::process::ExitCode;

use lookalike::synthetic::Synthetic;
use lookalike::table::{Coded, Table, Treatment};
use lookalike::{Config, Error, ErrorKind, Result, io};

use crate::args::{Demo, Global};
use crate::cmd::anonymize::{loss_line, refused, rule_line};
use crate::cmd::check::histogram;
use crate::cmd::{synth, write_text};
use crate::pipeline::{self, Job};
use crate::progress::Progress;
use crate::show::{self, count, counted};

/// Rows shown of each table.
const SHOWN: usize = 6;
/// Signs of a cell that are shown.
const CELL: usize = 23;

const REQUEST: &str = r#"# Made by `lookalike demo`: what the columns of patients.csv are, and what must hold.
version = 1
k = 5                        # everyone has at least four lookalikes

[input]
path = "patients.csv"

[output]
snap = true                  # show intervals of the hierarchies, not exact ends

[columns]
name      = { role = "identifier" }
age       = { role = "quasi", hierarchy = { intervals = [5, 10, 20, 40] } }
zip       = { role = "quasi", hierarchy = { prefix = [4, 3, 2] } }
sex       = { role = "quasi" }
marital   = { role = "quasi" }
admission = { role = "quasi", hierarchy = { date = ["month", "quarter", "year"] } }
diagnosis = { role = "sensitive", l = 2 }
ward      = { role = "keep" }

[limits]
suppress = "1%"              # so many rows may be left out
"#;

/// Runs the command.
pub(crate) fn run(args: &Demo, global: &Global) -> Result<ExitCode> {
    let folder = &args.output;
    std::fs::create_dir_all(folder).map_err(|source| Error::from(ErrorKind::Io { path: folder.clone(), source }))?;
    let (data, toml, safe) = (folder.join("patients.csv"), folder.join("lookalike.toml"), folder.join("safe.csv"));
    synth::write(Synthetic::Hospital, args.rows, args.seed, &data, true)?;
    write_text(&toml, true, REQUEST)?;
    let config = Config::read(&toml)?;
    let mut progress = Progress::new(global.quiet);
    let job = Job { config: &config, data: &data, out: &safe, force: true, seed: args.seed };
    let done = pipeline::run(&job, &mut progress)?;
    if !done.published {
        return Ok(refused(&done.verdict));
    }
    let before = excerpt(&data)?;
    let after = excerpt(&safe)?;
    let verdict = &done.verdict;
    let mut text = format!("A made-up table of {} (nobody in it exists):\n\n{before}\n", counted(done.rows, "patient", "patients"));
    text += &format!("The same table, released with k = {}:\n\n{after}\n", config.k.unwrap_or(1));
    text += &format!(
        "Everyone looks like at least {} others: {} in {}, {} left out.\n\n",
        count(verdict.measures.k.saturating_sub(1)),
        counted(verdict.rows, "row", "rows"),
        counted(verdict.classes, "class", "classes"),
        counted(done.suppressed, "row", "rows")
    );
    text += &show::indent(&histogram(&verdict.measures));
    text += &format!("\nLoss: {}\n", loss_line(&done));
    text += "Verified on the written file:\n";
    verdict.rules.iter().for_each(|rule| text += &format!("  {}\n", rule_line(rule)));
    let [data, toml, safe] = [&data, &toml, &safe].map(|path| show::argument(path));
    text += &format!("\nThe table:    {data}\nThe request:  {toml}\nThe release:  {safe}\n");
    text += &format!("\nTry next:\n  lookalike verify {safe} -c {toml} --source {data}\n  lookalike init YOUR.csv\n");
    show::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// The first rows of a table.
fn excerpt(path: &Path) -> Result<String> {
    let source = io::open(path, Some(','))?;
    let all = vec![Treatment::Code; source.names().len()];
    let table = source.read(&all)?;
    let heads: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
    let rows: Vec<Vec<String>> = (0..SHOWN.min(table.rows)).map(|row| cells(&table, row)).collect();
    Ok(show::indent(&show::table(&heads, &rows)))
}

fn cells(table: &Table, row: usize) -> Vec<String> {
    let text = |coded: &Coded| coded.values[coded.codes.get(row) as usize].clone().unwrap_or_default();
    let cut = |text: String| {
        if text.chars().count() <= CELL { text } else { text.chars().take(CELL - 2).chain("..".chars()).collect() }
    };
    table.columns.iter().map(|column| cut(text(table.coded(&column.name)))).collect()
}
