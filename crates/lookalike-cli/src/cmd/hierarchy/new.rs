//! `hierarchy new groups` and `hierarchy suggest`: files for somebody to fill in or to read.

use std::path::Path;
use std::process::ExitCode;

use lookalike::domain::hierarchy;
use lookalike::evaluate::suggested_hierarchy::{self, GroupedBy};
use lookalike::run::refuse_overlap;
use lookalike::table::{Access, Existing};
use lookalike::{Result, table};

use super::{Columns, column_of, columns_of};
use crate::args::HierarchyOutputArgs;
use crate::show::{self, count, counted};

/// Most counts of rows in the head of a new file.
const COUNTS: usize = 50;

/// A file with every value of the column and an empty group to fill in.
pub(super) fn groups(of: &HierarchyOutputArgs, is_quiet: bool) -> Result<ExitCode> {
    refuse_overlap(Some(&of.data), &[], &[("-o", &of.output)])?;
    let table = column_of(&of.data, &of.column, &of.reading)?;
    let coded = table.coded(&of.column);
    let mut rows = vec![0u64; coded.values().len()];
    coded.codes().iter().for_each(|code| rows[code as usize] += 1);
    let values = coded.values().iter().zip(rows);
    let mut values: Vec<(u64, &String)> =
        values.filter_map(|(value, rows)| Some((rows, value.as_ref()?))).collect();
    values.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
    let counts: Vec<String> = values.iter().take(COUNTS).map(|(rows, _)| count(*rows)).collect();
    let more = values.len().saturating_sub(COUNTS);
    let more = if more > 0 { format!("; {more} lines more") } else { String::new() };
    let comments = [
        "write the name of a group between the semicolons; equal names are one group".to_string(),
        format!("rows with the value of each line: {}{more}", counts.join("; ")),
    ];
    let line = |(_, value): &(u64, &String)| vec![(*value).clone(), String::new(), "*".into()];
    let lines: Vec<Vec<String>> = values.iter().map(line).collect();
    write(of, &hierarchy::rows_to_text(&comments, &lines))?;
    if !is_quiet && of.output != Path::new("-") {
        show::say(&format!(
            "wrote {}: {}, the most frequent first, each with an empty group: fill them in, then \
             run: lookalike hierarchy check {}",
            of.output.display(),
            counted(lines.len() as u64, "value", "values"),
            show::argument(&of.output)
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// A hierarchy made from the table.
pub(super) fn suggest(of: &HierarchyOutputArgs, is_quiet: bool) -> Result<ExitCode> {
    refuse_overlap(Some(&of.data), &[], &[("-o", &of.output)])?;
    let table = columns_of(&of.data, &of.column, &of.reading, Columns::All)?;
    let made = suggested_hierarchy::suggest(&table, &of.column, &[])?;
    let how = match &made.by {
        GroupedBy::Order => "neighbours in the order of the values".to_string(),
        GroupedBy::OrderOf(column) => format!("neighbours in the order of column {column}"),
        GroupedBy::Prefix => "values with the same first characters".to_string(),
        GroupedBy::Words => {
            "values with a common word, then values with similar rows in the other columns".into()
        }
        GroupedBy::Company => "values with similar rows in the other columns".to_string(),
    };
    let comments = [
        "suggested by lookalike from the table: read it and change it before you use it".into(),
        format!("grouped: {how}"),
    ];
    write(of, &hierarchy::rows_to_text(&comments, &made.rows))?;
    if !is_quiet && of.output != Path::new("-") {
        show::say(&format!(
            "wrote {}, a suggestion: {how}; read it and change it before you use it: lookalike \
             hierarchy show {}",
            of.output.display(),
            show::argument(&of.output)
        ));
    }
    Ok(ExitCode::SUCCESS)
}

fn write(of: &HierarchyOutputArgs, text: &str) -> Result<()> {
    table::write_text(&of.output, Existing::overwrite_if(of.force), Access::Usual, text)
}
