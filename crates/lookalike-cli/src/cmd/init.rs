//! `lookalike init`: profiles the columns and writes a configuration to edit.

use std::path::Path;
use std::process::ExitCode;

use lookalike::evaluate::profile::{ColumnProfile, Uniqueness, ranked};
use lookalike::request::{Input, Kind};
use lookalike::run::refuse_overlap;
use lookalike::table::{Access, Existing};
use lookalike::{Result, table};
use lookalike_report::suggest::suggest;

use crate::args::InitArgs;
use crate::hints;
use crate::paths::seen_from;
use crate::show::{self, count, percent};

pub(crate) fn run(args: &InitArgs) -> Result<ExitCode> {
    let to_stdout = args.output == Path::new("-");
    if !to_stdout {
        // Refused before the table is read.
        refuse_overlap(Some(&args.data), &[], &[("-o", &args.output)])?;
        drop(table::Pending::beside(&args.output, Existing::overwrite_if(args.force))?);
    }
    let source = table::open(&args.data, args.reading.options())?;
    let mut input = Input { path: Some(seen_from(&args.output, &args.data)), ..Input::default() };
    args.reading.apply_to(&mut input);
    let found = suggest(source, &input)?;
    found.warnings.iter().for_each(|warning| show::warning(&hints::warning(warning)));
    let toml = with_commands(&found.toml, &args.data);
    if to_stdout {
        // The configuration is the result; the profile goes to standard error.
        show::say(text(&found.columns, found.quasi.as_ref()).trim_end());
        show::print(&toml)?;
    } else {
        table::write_text(&args.output, Existing::overwrite_if(args.force), Access::Usual, &toml)?;
        let mut text = text(&found.columns, found.quasi.as_ref());
        text += &format!(
            "\nwrote {}: check and correct the roles, then run\n  lookalike anonymize -c {1}\n  \
             lookalike verify -c {1}\n  lookalike report -c {1}\n  lookalike explain -c {1}   (what \
             costs the detail)\n",
            args.output.display(),
            show::argument(&args.output)
        );
        show::print(&text)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The configuration with the command that makes each hierarchy file it offers, which is not there yet.
fn with_commands(toml: &str, data: &Path) -> String {
    let command = |line: &str| -> Option<String> {
        let name = line.strip_prefix("#~ ")?.split_once(" = {")?.0.trim();
        let (_, file) = line.split_once("hierarchy = \"")?;
        let file = file.split_once('"')?.0.strip_suffix(".csv")?;
        let name = name.strip_prefix('"').and_then(|name| name.strip_suffix('"')).unwrap_or(name);
        let [data, column, file] =
            [data, Path::new(name), Path::new(&format!("{file}.csv"))].map(show::argument);
        Some(format!(
            "  # make it: lookalike hierarchy suggest --data {data} --column {column} -o {file}"
        ))
    };
    let lines = toml.split_inclusive('\n').map(|line| match command(line) {
        Some(command) => format!("{}{command}\n", line.trim_end_matches('\n')),
        None => line.to_owned(),
    });
    lines.collect()
}

fn text(profiles: &[ColumnProfile], uniqueness: Option<&Uniqueness>) -> String {
    let rows: Vec<Vec<String>> = ranked(profiles)
        .into_iter()
        .map(|column| {
            vec![
                column.name.clone(),
                kind(column.looks).to_string(),
                count(column.distinct),
                count(column.missing),
                percent(column.unique_share),
                column.unique_others.map(percent).unwrap_or_default(),
                if column.is_open { "drop?".to_string() } else { column.role.name().to_string() },
                column.reason.clone(),
            ]
        })
        .collect();
    let mut text = show::table(
        &["column", "kind", ">distinct", ">missing", ">alone", ">others", "role", "reason"],
        &rows,
    );
    text += "\nalone: rows that are unique on the column alone\n\
             others: rows that are unique on the other quasi-identifiers; for drop?, on all and it\n        \
             (numbers and dates in 60 bands)\n\
             drop?: left out, unless you take it in (remove #? in the file)\n";
    if let Some(found) = uniqueness {
        text.push('\n');
        text += &show::wrap("quasi-identifiers together: ", &found.columns);
        let (of_persons, unit) = match found.persons {
            None => (String::new(), "rows"),
            Some(persons) => (format!(" of {} persons", count(persons)), "persons"),
        };
        text += &format!(
            "\n  {} different combinations in {} rows{of_persons}; the smallest class has {}\n  {} \
             {unit} ({}) are unique; {} have fewer than four lookalikes\n",
            count(found.classes),
            count(found.rows),
            count(found.smallest),
            count(found.uniques),
            percent(found.share),
            count(found.below_five),
        );
    }
    text
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Numeric => "number",
        Kind::Date => "date",
        Kind::Ordinal => "ordinal",
        Kind::Categorical => "label",
    }
}
