//! The section on attackers, the population and the columns that make people unique. It is in the
//! internal edition alone: what is known of the population, and all that is counted in the source,
//! is no part of the release.

use lookalike::evaluate::risk::{AttackerRisk, PopulationMatch, RiskMeasures, RiskParts, risks};
use lookalike::request::Roles;
use lookalike::table::Table;
use lookalike::{Request, Result};
use serde_json::{Value, json};

use super::numbers::ReportNumbers;
use super::page::table;
use crate::plot::escape;
use crate::risk::population;
use crate::words::{COLUMN_HEADS, about, column_lead, column_rows, individuals as unit};
use lookalike::numbers::{count, percent};

/// The measures of both tables.
#[derive(Debug)]
pub(super) struct RiskPair {
    pub(super) before: RiskMeasures,
    /// None when the release cannot be read, or does not have the persons that the source has.
    pub(super) after: Option<RiskMeasures>,
}

/// Measures both tables. A release that `holds` can be read.
pub(super) fn measured(
    source: &Table,
    release: &Table,
    roles: &Roles,
    request: &Request,
    holds: bool,
) -> Result<RiskPair> {
    let population = population(request, &roles.quasi)?;
    let before = risks(source, request, population.as_ref(), RiskParts::All)?;
    // Without the person key the release has rows, and the source persons.
    let has_persons = roles.person.iter().all(|name| release.column(name).is_some());
    let of_release = || risks(release, request, population.as_ref(), RiskParts::WithoutColumns);
    let after = match has_persons.then(of_release).transpose() {
        Err(error) if holds => return Err(error),
        after => after.unwrap_or_default(),
    };
    Ok(RiskPair { before, after })
}

/// The measures as JSON.
pub(super) fn object(report: &ReportNumbers) -> Value {
    match &report.risk_measures {
        Some(pair) => json!({ "before": pair.before, "after": pair.after }),
        None => Value::Null,
    }
}

/// The section; empty in the public edition.
pub(super) fn section(report: &ReportNumbers) -> String {
    let Some(pair) = &report.risk_measures else { return String::new() };
    let mut out = "<h2>Risk by attacker</h2>\n".to_string();
    out += &attackers(pair);
    out += &of_population(pair);
    out += &columns(pair);
    out
}

fn attackers(pair: &RiskPair) -> String {
    let both = |of: &dyn Fn(&RiskMeasures) -> Option<f64>| {
        let text = |measures: Option<&RiskMeasures>| {
            measures.and_then(of).map_or("–".to_string(), percent)
        };
        [text(Some(&pair.before)), text(pair.after.as_ref())]
    };
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut add = |what: &str, of: &dyn Fn(&RiskMeasures) -> Option<f64>| {
        let [before, after] = both(of);
        if before != "–" || after != "–" {
            rows.push(vec![what.to_string(), before, after]);
        }
    };
    let sampled = |of: fn(&AttackerRisk) -> f64| {
        move |found: &RiskMeasures| found.sample.as_ref().map(|sample| of(&sample.journalist))
    };
    let matched = |of: fn(&AttackerRisk) -> f64| {
        move |found: &RiskMeasures| found.population.as_ref().map(|matched| of(&matched.journalist))
    };
    add("prosecutor, highest", &|found| Some(found.prosecutor.highest));
    add("prosecutor, average", &|found| Some(found.prosecutor.average));
    add("journalist, highest, estimated", &sampled(|risk| risk.highest));
    add("journalist, average, estimated", &sampled(|risk| risk.average));
    add("marketer, estimated", &|found| found.sample.as_ref().map(|sample| sample.marketer));
    add("journalist, highest, by the population table", &matched(|risk| risk.highest));
    add("journalist, average, by the population table", &matched(|risk| risk.average));
    add("marketer, by the population table", &|found| {
        found.population.as_ref().map(|matched| matched.marketer)
    });
    let unknown = if pair.before.sample.is_none() && pair.before.population.is_none() {
        " What the last two can do depends on the population: a sampling weight, a sampling \
         fraction or a table of the population is needed to say it."
    } else {
        ""
    };
    format!(
        "<p>A prosecutor knows that a person is in the table and looks for the row. A journalist \
         only knows that the person belongs to the population, of which the table may be a sample: \
         a row that is unique here may have lookalikes outside. A marketer tries to match every row and \
         counts how many matches are right.{unknown} Counted are {}.</p>\n{}",
        unit(pair.before.counted),
        table(&["attacker", ">before", ">after"], &rows)
    )
}

fn of_population(pair: &RiskPair) -> String {
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut add = |what: String, of: &dyn Fn(&RiskMeasures) -> Option<String>| {
        let text = |measures: Option<&RiskMeasures>| {
            measures.and_then(of).unwrap_or_else(|| "–".to_string())
        };
        rows.push(vec![what, text(Some(&pair.before)), text(pair.after.as_ref())]);
    };
    if let Some(sample) = &pair.before.sample {
        add("persons in the population, estimated".to_string(), &|found| {
            found.sample.as_ref().map(|sample| about(sample.persons))
        });
        add("rows that would be matched rightly, estimated".to_string(), &|found| {
            found.sample.as_ref().map(|sample| about(sample.expected))
        });
        let model = sample.uniques.model.map_or("no model", |model| model.name());
        let what = format!("persons who are unique in the population, estimated (before: {model})");
        add(what, &|found| {
            let uniques = found.sample.as_ref()?.uniques;
            Some(uniques.chosen.map_or("no estimate".to_string(), about))
        });
        add("of these in the table: so many right matches at least".to_string(), &|found| {
            let unique = found.sample.as_ref()?.unique_individuals;
            Some(unique.map_or("no estimate".to_string(), about))
        });
    }
    if pair.before.population.is_some() {
        let of = |get: fn(&PopulationMatch) -> String| {
            move |found: &RiskMeasures| found.population.as_ref().map(get)
        };
        add(
            "fewest persons of the population with the values of a class (k-map)".to_string(),
            &of(|matched| count(matched.k_map)),
        );
        add(
            "rows that would be matched rightly, by the population table".to_string(),
            &of(|matched| about(matched.expected)),
        );
        add(
            "rows whose values one person of the population has".to_string(),
            &of(|matched| count(matched.uniques)),
        );
        add(
            "rows whose values nobody in the population table has".to_string(),
            &of(|matched| count(matched.absent)),
        );
    }
    if rows.is_empty() {
        return String::new();
    }
    let skipped = if pair.before.population_skipped
        || pair.after.as_ref().is_some_and(|after| after.population_skipped)
    {
        "<p>A comparison with the population would take too long and was left out.</p>\n"
    } else {
        ""
    };
    format!(
        "<p>Estimates rest on a model of the population (docs/risk.md has each formula and when \
         not to use it): read them as an order of magnitude.</p>\n{}{skipped}",
        table(&["the population", ">before", ">after"], &rows)
    )
}

fn columns(pair: &RiskPair) -> String {
    let found = &pair.before;
    let special = found.special_uniques.as_ref().filter(|special| special.uniques > 0);
    let Some(special) = special else { return String::new() };
    format!(
        "<h3>Columns that make {} of the source unique</h3>\n<p>{}. A column with a large part in \
         the score is in many of the smallest sets of columns that single somebody out; the last \
         column says how many would still be unique if it were dropped.</p>\n{}",
        unit(found.counted),
        escape(&column_lead(found, special)),
        table(&COLUMN_HEADS, &column_rows(found, special))
    )
}
