//! `lookalike query`: estimates of counts and sums from a release, and the true answers.

use std::collections::BTreeMap;
use std::process::ExitCode;

use lookalike::audit::AuditView;
use lookalike::evaluate::query::{self, Answer, Condition, Summary, Workload};
use lookalike::problem::row_count;
use lookalike::run::read_for_audit;
use lookalike::table::Table;
use lookalike::{Request, Result};
use serde_json::{Value, json};

use crate::args::{GlobalArgs, QueryArgs};
use crate::request::usage;
use crate::show::{self, count, counted, decimal, percent};

/// Counts, or sums of one column, with their answers.
struct QueryGroup<'a> {
    sum: Option<&'a str>,
    answered: Vec<(usize, &'a query::Query, Answer)>,
    summary: Summary,
}

pub(crate) fn run(args: &QueryArgs, global: &GlobalArgs) -> Result<ExitCode> {
    let mut request = args.request.request()?;
    args.released.apply_to(&mut request);
    refuse_number(args)?;
    // The file of queries first: an error in it is reported before large tables are read.
    let own = args.queries.as_deref().map(query::read).transpose()?;
    let source = read_for_audit(&args.source, &request, AuditView::Source)?;
    let release = read_for_audit(&args.release, &request, AuditView::ReleaseAgainstSource)?;
    let seed = own.is_none().then_some(args.seed);
    let queries = match own {
        Some(queries) => queries,
        None => random(args, &source, &request, global)?,
    };
    let answers = query::answer(&source, &release, &request, &queries)?;
    let groups = groups(&queries, &answers);
    if args.each {
        show::warning(
            "the true answers below are counted in the source: keep this list as confidential as the \
             source",
        );
    }
    if args.json {
        let workloads: Vec<Value> = groups.iter().map(|group| object(group, args.each)).collect();
        show::json(&json!({
            "version": 1,
            "source_rows": row_count(&source, &request)?,
            "released_rows": row_count(&release, &request)?,
            "seed": seed,
            "workloads": workloads,
        }))?;
    } else {
        let rows = |table: &Table| Ok(counted(row_count(table, &request)?, "row", "rows"));
        let (source, release): (Result<String>, Result<String>) = (rows(&source), rows(&release));
        let mut text = format!("source    {}\nrelease   {}\n\n", source?, release?);
        text += &errors(&groups);
        if args.each {
            groups.iter().for_each(|group| text += &list(group));
        }
        show::print(&text)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// `--count` names a column here as everywhere; it once was the number of queries.
fn refuse_number(args: &QueryArgs) -> Result<()> {
    let is_number = |name: &String| name.bytes().all(|byte| byte.is_ascii_digit());
    match args.request.columns.count.as_ref().filter(|name| is_number(name)) {
        Some(number) => Err(usage(format!(
            "--count names the column with the counts of rows; for {number} random queries say \
             --random {number}"
        ))),
        None => Ok(()),
    }
}

/// Counts over all columns, and sums of one over the others where there is one.
fn random(
    args: &QueryArgs,
    source: &Table,
    request: &Request,
    global: &GlobalArgs,
) -> Result<Vec<query::Query>> {
    let counts = Workload { queries: args.random, seed: args.seed, sum: None, on: args.on.clone() };
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
            "no sums: `{column}` is the only column, and a sum needs a condition on another column"
        )),
        None => {
            show::say("no sums: no quasi-identifier is numeric (name another column with --sum)")
        }
    }
    Ok(queries)
}

/// Counts first, then the sums of each column.
fn groups<'a>(queries: &'a [query::Query], answers: &[Answer]) -> Vec<QueryGroup<'a>> {
    let mut by_sum: BTreeMap<Option<&str>, Vec<(usize, &query::Query, Answer)>> = BTreeMap::new();
    for ((number, query), answer) in (1..).zip(queries).zip(answers) {
        by_sum.entry(query.sum.as_deref()).or_default().push((number, query, *answer));
    }
    let group = |(sum, answered): (_, Vec<(usize, &'a query::Query, Answer)>)| {
        let answers: Vec<Answer> = answered.iter().map(|(_, _, answer)| *answer).collect();
        QueryGroup { sum, answered, summary: query::summarize(&answers) }
    };
    by_sum.into_iter().map(group).collect()
}

fn object(group: &QueryGroup<'_>, each: bool) -> Value {
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
        object["each"] = group.answered.iter().map(one).collect();
    }
    object
}

fn errors(groups: &[QueryGroup<'_>]) -> String {
    let share = |error: Option<f64>| error.map_or("none".to_string(), percent);
    let row = |QueryGroup { sum, summary, .. }: &QueryGroup<'_>| {
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
            "\n{have} the true answer 0 and no relative error:\nonly the mean distance counts them\n"
        );
    }
    text += "\nerror = |estimate - truth| / truth; the estimate assumes that values are evenly\n\
             distributed in a released range\n";
    text
}

fn list(group: &QueryGroup<'_>) -> String {
    let row = |(number, query, answer): &(usize, &query::Query, Answer)| {
        vec![
            count(*number as u64),
            decimal(answer.truth),
            decimal(answer.estimate),
            answer.error().map_or("none".to_string(), percent),
            query.conditions.iter().map(condition).collect::<Vec<_>>().join(", "),
        ]
    };
    let rows: Vec<Vec<String>> = group.answered.iter().map(row).collect();
    let what = group.sum.map_or("count".to_string(), |column| format!("sum of {column}"));
    format!(
        "\n{what}\n{}",
        show::indent(&show::table(&[">query", ">truth", ">estimate", ">error", "where"], &rows))
    )
}

/// A condition as text: `age 20..30`.
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
