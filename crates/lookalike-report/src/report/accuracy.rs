//! The accuracy of counts, by the number of conditions: one, two, and all quasi-identifiers. Most
//! questions have one or two; a condition on every column is the worst that one can ask for.

use lookalike::evaluate::query::{self, Summary, Workload};
use lookalike::table::Table;
use lookalike::{Request, Result};
use serde_json::{Value, json};

use super::counts::CountPolicy;
use super::numbers::ReportNumbers;
use super::page::table;
use crate::Event;
use crate::random_queries::random_queries;
use lookalike::numbers::{count, percent};

/// Errors of counts with so many conditions.
#[derive(Clone, Debug)]
pub(super) struct ConditionErrors {
    pub(super) conditions: usize,
    /// True for a condition on every quasi-identifier.
    pub(super) is_all: bool,
    pub(super) errors: Summary,
}

/// The number of conditions of the headline.
const HEADLINE: usize = 2;

/// Answers random counts with one, two and all conditions.
pub(super) fn errors(
    source: &Table,
    release: &Table,
    request: &Request,
    (quasi, counts): (usize, &Workload),
    notify: &dyn Fn(Event<'_>),
) -> Result<Vec<ConditionErrors>> {
    let mut numbers = vec![1, 2, quasi];
    numbers.retain(|&conditions| conditions <= quasi);
    numbers.dedup();
    let mut list = Vec::new();
    for conditions in numbers {
        let is_all = conditions == quasi;
        let some = Workload { conditions: (!is_all).then_some(conditions), ..counts.clone() };
        let queries = random_queries(source, request, &some, notify)?;
        if !queries.is_empty() {
            let answers = query::answer(source, release, request, &queries)?;
            let errors = query::summarize(&answers);
            list.push(ConditionErrors { conditions, is_all, errors });
        }
    }
    Ok(list)
}

/// As the edition may publish them: the public one with two digits, and of one and two conditions no
/// means, which depend on every single count.
pub(super) fn rough(list: &[ConditionErrors], policy: CountPolicy) -> Vec<ConditionErrors> {
    let rough = |error: Option<f64>| error.map(|error| policy.rough(error));
    let mean = |found: &ConditionErrors, mean: Option<f64>| {
        mean.filter(|_| policy == CountPolicy::Exact || found.is_all)
    };
    let one = |found: &ConditionErrors| ConditionErrors {
        errors: Summary {
            mean_error: rough(mean(found, found.errors.mean_error)),
            median_error: rough(found.errors.median_error),
            p90_error: rough(found.errors.p90_error),
            mean_absolute: rough(mean(found, found.errors.mean_absolute)),
            ..found.errors.clone()
        },
        ..*found
    };
    list.iter().map(one).collect()
}

/// The errors with a condition on every column.
pub(super) fn of_all(list: &[ConditionErrors]) -> Option<&Summary> {
    list.iter().find(|found| found.is_all).map(|found| &found.errors)
}

/// Number and words of the tile; none without queries.
pub(super) fn tile(report: &ReportNumbers) -> Option<(String, String)> {
    let within = report.errors.iter().filter(|found| found.conditions <= HEADLINE);
    let found = within.max_by_key(|found| found.conditions)?;
    let words = format!("median error of a count with {}", conditions(found.conditions));
    Some((percent(found.errors.median_error?), words))
}

fn conditions(number: usize) -> String {
    match number {
        1 => "one condition".to_string(),
        2 => "two conditions".to_string(),
        number => format!("{number} conditions"),
    }
}

/// The section; empty without queries.
pub(super) fn section(report: &ReportNumbers) -> String {
    if report.errors.is_empty() {
        return String::new();
    }
    let error = |error: Option<f64>| error.map_or("none".to_string(), percent);
    let row = |found: &ConditionErrors| {
        let what = match found.is_all {
            true if found.conditions > HEADLINE => {
                format!("{}, on all these columns", conditions(found.conditions))
            }
            _ => conditions(found.conditions),
        };
        let errors = &found.errors;
        let queries = count(errors.queries as u64);
        vec![what, queries, error(errors.median_error), error(errors.p90_error)]
    };
    let rows: Vec<Vec<String>> = report.errors.iter().map(row).collect();
    format!(
        "<h2>Accuracy of counts</h2>\n<p>How many rows satisfy some conditions, such as an age \
         from 30 to 39 and one sex? Random questions of this kind were answered from both files. \
         The relative error of the release, by the number of conditions:</p>\n{}",
        table(&["count with", ">questions", ">half within", ">nine in ten within"], &rows)
    )
}

/// The errors as JSON.
pub(super) fn object(report: &ReportNumbers) -> Value {
    let one = |found: &ConditionErrors| {
        let mut object = json!(found.errors);
        object["conditions"] = json!(found.conditions);
        object["is_all"] = json!(found.is_all);
        object
    };
    report.errors.iter().map(one).collect()
}
