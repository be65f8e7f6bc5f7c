//! `lookalike check`: measures a table as it is, and checks the rules if there are any.

use std::process::ExitCode;

use lookalike::audit::{CountUnit, Measures};
use lookalike::{Result, table};
use lookalike_report::check::{Check, check};
use lookalike_report::words::{CLASSES, members, ratio};

use crate::NOT_MET;
use crate::args::CheckArgs;
use crate::cmd::anonymize::rule_lines;
use crate::cmd::beside;
use crate::cmd::risk;
use crate::hints;
use crate::persons::{anonymous, persons_line, reading_lines};
use crate::request;
use crate::show::{self, count, decimal, percent};

/// Without a rule the table is measured only.
pub(crate) fn run(args: &CheckArgs) -> Result<ExitCode> {
    let mut request = args.request.request()?;
    args.risk.apply_to(&mut request);
    let data = request::data(args.data.as_ref(), &request)?;
    let source = table::open(&data, &request.input)?;
    let found = check(source, &request)?;
    let code = if found.holds() { 0 } else { NOT_MET };
    found.warnings.iter().for_each(|warning| show::warning(&hints::warning(warning)));
    let printed = if args.json {
        show::json(&found.json(hints::words))
    } else {
        let lines = risk::text(&found.risk, request.risk.population.as_deref());
        show::print(&text(&found, &lines))
    };
    show::verdict(printed, code)
}

fn text(found: &Check, risk: &str) -> String {
    let Check { measures, rules, quasi, .. } = found;
    let unit = measures.unit();
    let mut text = show::wrap(&format!("{} for these columns: ", anonymous(measures)), quasi);
    text += &format!(
        "\n\nrows      {}\n{}classes   {}, the smallest has {}\nunique    {} {} alone in their \
         class, {}\n",
        count(measures.rows),
        persons_line(measures),
        count(measures.classes),
        members(measures.k, unit),
        members(measures.uniques, unit),
        if measures.uniques == 1 { "is" } else { "are" },
        percent(measures.uniques_share),
    );
    text += &risk_line(measures);
    let unique = found.unique_rows.as_ref();
    text += &unique.map_or(String::new(), |unique| beside::lines(unique, measures.rows));
    text += "\nclasses by size\n";
    text += &show::indent(&histogram(measures));
    text += risk;
    text += &sensitive(measures);
    if rules.is_empty() {
        text += &format!(
            "\nno rule was given, so none was checked: -k 5 demands classes of five {}\n",
            unit.name()
        );
    } else {
        text += "\nrules\n";
        text += &show::indent(
            &rules.iter().map(|rule| rule_lines(rule, quasi, CLASSES)).collect::<String>(),
        );
    }
    text += &found.persons.as_ref().map_or(String::new(), reading_lines);
    text
}

fn risk_line(measures: &Measures) -> String {
    let risk = &measures.risk;
    let above = risk.above.map_or(String::new(), |share| {
        format!(", above 1/k for {} of the {}", percent(share), measures.unit().name())
    });
    let meaning = match measures.unit() {
        CountUnit::Rows => {
            "the chance to find the row of a person who is known to be in\n          the table, if \
             each row is one person"
        }
        CountUnit::Persons => {
            "the chance to find a person who is known to be in the table,\n          by the \
             smallest class of the person"
        }
    };
    format!(
        "risk      highest {}, average {}{above}\n          (prosecutor risk: {meaning})\n",
        percent(risk.highest),
        percent(risk.average)
    )
}

/// Classes by size, with bars over the rows they hold.
pub(crate) fn histogram(measures: &Measures) -> String {
    let size = |from: u64, to: Option<u64>| match to {
        Some(to) if to == from => count(from),
        Some(to) => format!("{}-{}", count(from), count(to)),
        None => format!("{} or more", count(from)),
    };
    let rows: Vec<Vec<String>> = measures
        .histogram
        .iter()
        .map(|band| {
            let share = ratio(band.rows, measures.size());
            vec![
                size(band.from, band.to),
                count(band.classes),
                count(band.rows),
                percent(share),
                show::bar(share, 30),
            ]
        })
        .collect();
    let unit = measures.unit().name();
    let heads = [&format!(">{unit} in a class"), ">classes", &format!(">{unit}"), ">share", ""];
    show::table(&heads, &rows)
}

/// The distribution of sensitive values in the classes.
pub(crate) fn sensitive(measures: &Measures) -> String {
    if measures.sensitive.is_empty() {
        return String::new();
    }
    let rows: Vec<Vec<String>> = measures
        .sensitive
        .iter()
        .map(|column| {
            vec![
                column.column.clone(),
                count(column.values),
                count(column.distinct),
                count(column.frequency),
                decimal(column.entropy),
                percent(column.alpha),
                decimal(column.t.unwrap_or(column.t_equal)),
            ]
        })
        .collect();
    let heads = ["column", ">values", ">distinct l", ">l", ">entropy l", ">alpha", ">t"];
    format!(
        "\nsensitive columns (each number is that of the worst class)\n{}",
        show::indent(&show::table(&heads, &rows))
    )
}
