//! `lookalike check`: measures a table as it is, and checks the rules if there are any.

use std::process::ExitCode;

use lookalike::audit::{self, AuditView, CountUnit, Measures, PersonsVerdict, RuleVerdict};
use lookalike::evaluate::profile::person_columns;
use lookalike::evaluate::risk::{RiskParts, risks};
use lookalike::evaluate::uniqueness::{UniqueRows, unique_rows};
use lookalike::request::{Rest, Role};
use lookalike::run::{has_rule, request_warnings, roles as roles_of};
use lookalike::{Result, table};
use serde_json::json;

use crate::NOT_MET;
use crate::args::CheckArgs;
use crate::cmd::anonymize::{CLASSES, ratio, rule_lines};
use crate::cmd::beside;
use crate::cmd::risk;
use crate::hints;
use crate::persons::{anonymous, members, persons_line, reading_lines};
use crate::request;
use crate::show::{self, count, decimal, percent};

/// Without a rule the table is measured only.
pub(crate) fn run(args: &CheckArgs) -> Result<ExitCode> {
    let mut request = args.request.request()?;
    let is_rest_kept = request.rest == Some(Rest::Keep);
    args.risk.apply_to(&mut request);
    // Columns without a role are not read, so they need no role.
    request.rest = request.rest.or(Some(Rest::Keep));
    let data = request::data(args.data.as_ref(), &request)?;
    let source = table::open(&data, request.input.delimiter)?;
    // Columns that a release does not have need none either.
    request.columns.retain(|name, line| {
        matches!(line.role, Role::Quasi | Role::Sensitive | Role::Person | Role::Weight)
            || source.names().contains(name)
    });
    let roles = roles_of(&request, &source)?;
    if has_rule(&request) {
        request.rules(&roles)?;
    }
    let mut treatments = audit::treatments(source.names(), &request, AuditView::Release);
    risk::code_weight(source.names(), &request, &mut treatments);
    request.sampling_fraction()?;
    let persons = person_columns(source.names(), &request);
    let (table, counted) = source.read_and_count(&treatments, &persons)?;
    let warnings = request_warnings(&request, &counted);
    table.check_header()?;
    let population = risk::population(&request, &roles.quasi)?;
    // Each of the two is busy with one core for most of its time.
    let (measured, risks) = std::thread::scope(|scope| {
        let risks = scope.spawn(|| risks(&table, &request, population.as_ref(), RiskParts::All));
        let measured = if has_rule(&request) {
            let verdict = audit::audit_table(&table, &request);
            verdict.map(|verdict| (verdict.measures, verdict.rules, verdict.persons))
        } else {
            audit::measures(&table, &request).map(|measures| (measures, Vec::new(), None))
        };
        (measured, risks.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    });
    let (measures, rules, reading) = measured?;
    let risks = risks?;
    let is_published = |name: &&String| is_rest_kept || request.column(name).is_some();
    let unchanged: Vec<String> =
        roles.keep.iter().filter(is_published).chain(&roles.sensitive).cloned().collect();
    let unique = unique_rows(&table, &request, &unchanged)?;
    let holds = rules.iter().all(|rule| rule.violations == 0)
        && reading.as_ref().is_none_or(PersonsVerdict::holds);
    let code = if holds { 0 } else { NOT_MET };
    let warnings: Vec<String> = warnings.iter().map(hints::warning).collect();
    warnings.iter().for_each(|warning| show::warning(warning));
    let printed = if args.json {
        let holds = (!rules.is_empty()).then_some(holds);
        show::json(
            &json!({ "version": 1, "holds": holds, "rules": rules, "measures": measures, "persons": reading, "unique_rows": unique, "risk": risks, "warnings": warnings }),
        )
    } else {
        let lines = risk::text(&risks, request.risk.population.as_deref());
        show::print(&text(
            &measures,
            &rules,
            reading.as_ref(),
            unique.as_ref(),
            &roles.quasi,
            &lines,
        ))
    };
    show::verdict(printed, code)
}

fn text(
    measures: &Measures,
    rules: &[RuleVerdict],
    reading: Option<&PersonsVerdict>,
    unique: Option<&UniqueRows>,
    quasi: &[String],
    risk: &str,
) -> String {
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
    text += &reading.map_or(String::new(), reading_lines);
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
