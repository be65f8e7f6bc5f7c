//! `lookalike init`: profiles the columns and writes a configuration to edit.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use lookalike::evaluate::profile::{self, ColumnProfile, Uniqueness};
use lookalike::request::{Kind, Role};
use lookalike::run::refuse_overlap;
use lookalike::table::{Access, Existing, Treatment};
use lookalike::{Error, Result, table};

use crate::args::InitArgs;
use crate::hints;
use crate::show::{self, count, percent};

pub(crate) fn run(args: &InitArgs) -> Result<ExitCode> {
    let to_stdout = args.output == Path::new("-");
    if !to_stdout {
        // Refused before the table is read.
        refuse_overlap(Some(&args.data), &[], &[("-o", &args.output)])?;
        drop(table::Pending::beside(&args.output, Existing::overwrite_if(args.force))?);
    }
    let source = table::open(&args.data, args.reading.delimiter)?;
    let is_headless = source.is_headless();
    if is_headless {
        show::warning(
            "the first line may be a row, not the header (a name is a number or a date, or equals a \
             cell below it): if so, add a header line",
        );
    }
    let all = vec![Treatment::Code; source.names().len()];
    let table = source.read(&all)?;
    if table.rows() == 0 {
        let why = "the table has no rows: there is nothing to profile";
        return Err(Error::data("no-rows", why));
    }
    table.check_header()?;
    let profiles = profile::profile(&table);
    let quasi: Vec<String> = profiles
        .iter()
        .filter(|column| column.role == Role::Quasi)
        .map(|column| column.name.clone())
        .collect();
    let person = profiles.iter().find(|column| column.role == Role::Person);
    let person = person.map(|column| column.name.as_str());
    let mut uniqueness = (!quasi.is_empty()).then(|| profile::uniqueness(&table, &quasi, person));
    let toml = profile::to_toml(&seen_from(&args.output, &args.data), &profiles);
    let mut profiles = profiles;
    if is_headless {
        hide_names(&mut profiles, uniqueness.as_mut());
    }
    let warnings = profile::repeated_in(&profiles);
    warnings.iter().for_each(|warning| show::warning(&hints::warning(warning)));
    if to_stdout {
        // The configuration is the result; the profile goes to standard error.
        show::say(text(&profiles, uniqueness.as_ref()).trim_end());
        show::print(&toml)?;
    } else {
        table::write_text(&args.output, Existing::overwrite_if(args.force), Access::Usual, &toml)?;
        let mut text = text(&profiles, uniqueness.as_ref());
        text += &format!(
            "\nwrote {}: check and correct the roles, then run\n  lookalike anonymize -c {} -o \
             safe.csv\n",
            args.output.display(),
            show::argument(&args.output)
        );
        show::print(&text)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Columns by their numbers: their names may be cells, which belong into the configuration alone.
fn hide_names(profiles: &mut [ColumnProfile], uniqueness: Option<&mut Uniqueness>) {
    let number = |at: usize| format!("(column {})", at + 1);
    if let Some(found) = uniqueness {
        for name in &mut found.columns {
            let at = profiles.iter().position(|profile| profile.name == *name);
            *name = number(at.expect("a column of the table"));
        }
    }
    profiles.iter_mut().enumerate().for_each(|(at, profile)| profile.name = number(at));
}

/// Paths in a configuration are relative to its folder: elsewhere the path of the table is absolute.
fn seen_from(config: &Path, data: &Path) -> PathBuf {
    let here =
        config == Path::new("-") || config.parent().is_none_or(|folder| folder == Path::new(""));
    if here || data == Path::new("-") {
        data.to_path_buf()
    } else {
        std::path::absolute(data).unwrap_or(data.to_path_buf())
    }
}

fn text(profiles: &[ColumnProfile], uniqueness: Option<&Uniqueness>) -> String {
    let rows: Vec<Vec<String>> = profiles
        .iter()
        .map(|column| {
            vec![
                column.name.clone(),
                kind(column.looks).to_string(),
                count(column.distinct),
                count(column.missing),
                percent(column.unique_share),
                column.role.name().to_string(),
                column.reason.clone(),
            ]
        })
        .collect();
    let mut text = show::table(
        &["column", "kind", ">distinct", ">missing", ">unique", "role", "reason"],
        &rows,
    );
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
