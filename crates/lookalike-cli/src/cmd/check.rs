//! `lookalike check`: measures a table as it is, and checks the rules if there are any.

use std::process::ExitCode;

use lookalike::audit::{self, AuditView, Measures, RuleVerdict};
use lookalike::evaluate::profile::person_columns;
use lookalike::request::{Rest, Role};
use lookalike::run::{has_rule, request_warnings, roles as roles_of};
use lookalike::{Result, table};
use serde_json::json;

use crate::NOT_MET;
use crate::args::CheckArgs;
use crate::cmd::anonymize::{CLASSES, ratio, rule_lines};
use crate::hints;
use crate::request;
use crate::show::{self, count, counted, decimal, percent};

/// Without a rule the table is measured only.
pub(crate) fn run(args: &CheckArgs) -> Result<ExitCode> {
    let mut request = args.request.request()?;
    // Columns without a role are not read, so they need no role.
    request.rest = request.rest.or(Some(Rest::Keep));
    let data = request::data(args.data.as_ref(), &request)?;
    let source = table::open(&data, request.input.delimiter)?;
    // Columns that a release does not have need none either.
    request.columns.retain(|name, line| {
        matches!(line.role, Role::Quasi | Role::Sensitive) || source.names().contains(name)
    });
    let roles = roles_of(&request, &source)?;
    if has_rule(&request) {
        request.rules(&roles)?;
    }
    let treatments = audit::treatments(source.names(), &request, AuditView::Release);
    let persons = person_columns(source.names(), &request);
    let (table, counted) = source.read_and_count(&treatments, &persons)?;
    let warnings = request_warnings(&request, &counted);
    table.check_header()?;
    let (measures, rules) = if has_rule(&request) {
        let verdict = audit::audit(&table, &request)?;
        (verdict.measures, verdict.rules)
    } else {
        (audit::measures(&table, &request)?, Vec::new())
    };
    let holds = rules.iter().all(|rule| rule.violations == 0);
    let code = if holds { 0 } else { NOT_MET };
    let warnings: Vec<String> = warnings.iter().map(hints::warning).collect();
    warnings.iter().for_each(|warning| show::warning(warning));
    let printed = if args.json {
        let holds = (!rules.is_empty()).then_some(holds);
        show::json(
            &json!({ "version": 1, "holds": holds, "rules": rules, "measures": measures, "warnings": warnings }),
        )
    } else {
        show::print(&text(&measures, &rules, &roles.quasi))
    };
    show::verdict(printed, code)
}

fn text(measures: &Measures, rules: &[RuleVerdict], quasi: &[String]) -> String {
    let mut text = show::wrap(&format!("{}-anonymous for these columns: ", measures.k), quasi);
    text += &format!(
        "\n\nrows      {}\nclasses   {}, the smallest has {}\nunique    {} alone in their class, {}\n",
        count(measures.rows),
        count(measures.classes),
        counted(measures.k, "row", "rows"),
        counted(measures.uniques, "row is", "rows are"),
        percent(measures.uniques_share),
    );
    text += &risk_line(measures);
    text += "\nclasses by size\n";
    text += &show::indent(&histogram(measures));
    text += &sensitive(measures);
    if rules.is_empty() {
        text += "\nno rule was given, so none was checked: -k 5 demands classes of five rows\n";
    } else {
        text += "\nrules\n";
        text += &show::indent(
            &rules.iter().map(|rule| rule_lines(rule, quasi, CLASSES)).collect::<String>(),
        );
    }
    text
}

fn risk_line(measures: &Measures) -> String {
    let risk = &measures.risk;
    let above = risk
        .above
        .map_or(String::new(), |share| format!(", above 1/k for {} of the rows", percent(share)));
    format!(
        "risk      highest {}, average {}{above}\n          (prosecutor risk: the chance to find \
         the row of a person who is known to be in\n          the table, if each row is one person)\n",
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
            let share = ratio(band.rows, measures.rows);
            vec![
                size(band.from, band.to),
                count(band.classes),
                count(band.rows),
                percent(share),
                show::bar(share, 30),
            ]
        })
        .collect();
    show::table(&[">rows in a class", ">classes", ">rows", ">share", ""], &rows)
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
