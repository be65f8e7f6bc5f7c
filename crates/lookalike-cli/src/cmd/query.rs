//! `lookalike query`: what a release answers to counts and sums, beside the truth.

use std::collections::BTreeMap;
use std::process::ExitCode;

use lookalike::audit::View;
use lookalike::evaluate::query::{self, Answer, Condition, Summary, Workload};
use lookalike::table::Table;
use lookalike::{Request, Result};
use serde_json::{Value, json};

use crate::args::{Global, Query};
use crate::cmd::verify::read;
use crate::show::{self, count, counted, decimal, percent};

/// Queries of one kind with their numbers and answers.
struct Group<'a> {
    sum: Option<&'a str>,
    asked: Vec<(usize, &'a query::Query, Answer)>,
    summary: Summary,
}

/// Runs the command.
pub(crate) fn run(args: &Query, global: &Global) -> Result<ExitCode> {
    let mut request = args.request.request()?;
    args.released.lay_over(&mut request);
    // The file of queries first: a fault in it is told before large tables are read.
    let own = args.queries.as_deref().map(query::read).transpose()?;
    let source = read(&args.source, &request, View::Source)?;
    let release = read(&args.release, &request, View::ReleaseAgainstSource)?;
    let seed = own.is_none().then_some(args.seed);
    let queries = match own {
        Some(queries) => queries,
        None => random(args, &source, &request, global)?,
    };
    let answers = query::answer(&source, &release, &request, &queries)?;
    let groups = groups(&queries, &answers);
    if args.each {
        show::warning(
            "every truth below is counted in the source: keep this list as confidential as the source",
        );
    }
    if args.json {
        let workloads: Vec<Value> = groups.iter().map(|group| object(group, args.each)).collect();
        show::json(&json!({
            "version": 1,
            "source_rows": source.rows(),
            "released_rows": release.rows(),
            "seed": seed,
            "workloads": workloads,
        }))?;
    } else {
        let rows = |table: &Table| counted(table.rows() as u64, "row", "rows");
        let mut text = format!("source    {}\nrelease   {}\n\n", rows(&source), rows(&release));
        text += &errors(&groups);
        if args.each {
            groups.iter().for_each(|group| text += &list(group));
        }
        show::print(&text)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Counts over all columns, and sums of one over the others where there is one.
fn random(
    args: &Query,
    source: &Table,
    request: &Request,
    global: &Global,
) -> Result<Vec<query::Query>> {
    let counts = Workload { queries: args.count, seed: args.seed, sum: None, on: args.on.clone() };
    let mut queries = query::draw(source, request, &counts)?;
    let sum = match &args.sum {
        Some(column) => Some(column.clone()),
        None => query::summable(source, request)?,
    };
    // Sums have conditions on other columns than the summed one.
    let others = queries
        .first()
        .is_some_and(|query| query.conditions.keys().any(|column| Some(column) != sum.as_ref()));
    match sum {
        Some(_) if others || args.sum.is_some() => {
            queries.extend(query::draw(source, request, &Workload { sum, ..counts })?);
        }
        _ if global.quiet => {}
        Some(column) => show::say(&format!(
            "no sums: `{column}` is the only column, so none is left for conditions"
        )),
        None => show::say("no sums: no quasi-identifier has numbers (--sum names another column)"),
    }
    Ok(queries)
}

/// Counts first, then the sums of each column.
fn groups<'a>(queries: &'a [query::Query], answers: &[Answer]) -> Vec<Group<'a>> {
    let mut by_sum: BTreeMap<Option<&str>, Vec<(usize, &query::Query, Answer)>> = BTreeMap::new();
    for ((number, query), answer) in (1..).zip(queries).zip(answers) {
        by_sum.entry(query.sum.as_deref()).or_default().push((number, query, *answer));
    }
    let group = |(sum, asked): (_, Vec<(usize, &'a query::Query, Answer)>)| {
        let answers: Vec<Answer> = asked.iter().map(|(_, _, answer)| *answer).collect();
        Group { sum, asked, summary: query::summarize(&answers) }
    };
    by_sum.into_iter().map(group).collect()
}

fn object(group: &Group<'_>, each: bool) -> Value {
    let mut object = json!(group.summary);
    object["sum"] = json!(group.sum);
    if each {
        let one = |(number, query, answer): &(usize, &query::Query, Answer)| {
            json!({
                "query": number,
                "where": query.conditions,
                "truth": answer.truth,
                "estimate": answer.estimate,
                "error": answer.error(),
            })
        };
        object["each"] = group.asked.iter().map(one).collect();
    }
    object
}

fn errors(groups: &[Group<'_>]) -> String {
    let share = |error: Option<f64>| error.map_or("none".to_string(), percent);
    let row = |Group { sum, summary, .. }: &Group<'_>| {
        vec![
            sum.map_or("count".to_string(), |column| format!("sum of {column}")),
            count(summary.queries as u64),
            share(summary.mean_error),
            share(summary.median_error),
            share(summary.p90_error),
            summary.mean_absolute.map_or("none".to_string(), decimal),
        ]
    };
    let rows: Vec<Vec<String>> = groups.iter().map(row).collect();
    let heads =
        ["workload", ">queries", ">mean error", ">median", ">9 in 10 within", ">mean distance"];
    let mut text = show::table(&heads, &rows);
    let undefined: usize = groups.iter().map(|group| group.summary.undefined).sum();
    if undefined > 0 {
        let have = counted(undefined as u64, "query has", "queries have");
        text += &format!(
            "\n{have} the true answer 0, so no error: only the mean distance counts such a query\n"
        );
    }
    text += "\nerror = distance of estimate and truth / truth; the estimate takes what a\nreleased cell shows as evenly spread\n";
    text
}

fn list(group: &Group<'_>) -> String {
    let row = |(number, query, answer): &(usize, &query::Query, Answer)| {
        vec![
            count(*number as u64),
            decimal(answer.truth),
            decimal(answer.estimate),
            answer.error().map_or("none".to_string(), percent),
            query.conditions.iter().map(condition).collect::<Vec<_>>().join(", "),
        ]
    };
    let rows: Vec<Vec<String>> = group.asked.iter().map(row).collect();
    let what = group.sum.map_or("count".to_string(), |column| format!("sum of {column}"));
    format!(
        "\n{what}\n{}",
        show::indent(&show::table(&[">query", ">truth", ">estimate", ">error", "where"], &rows))
    )
}

/// A condition in a few words.
fn condition((column, condition): (&String, &Condition)) -> String {
    let value =
        |text: &String| if text.is_empty() { "(missing)".to_string() } else { text.clone() };
    match condition {
        Condition::Range { from, to } => {
            let end = |end: &Option<String>| end.clone().unwrap_or_default();
            format!("{column} {}..{}", end(from), end(to))
        }
        Condition::Values(values) => {
            format!("{column} = {}", values.iter().map(value).collect::<Vec<_>>().join(" or "))
        }
        Condition::Node { node } => format!("{column} in {node}"),
    }
}
