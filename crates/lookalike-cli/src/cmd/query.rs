//! `lookalike query`: estimates of counts and sums from a release, and the true answers.

use std::process::ExitCode;

use lookalike::Result;
use lookalike::evaluate::query::{Condition, read};
use lookalike_report::query::{
    AnsweredQuery, NoSums, QueryChoice, QueryDetail, QueryGroup, RandomQueries, query,
};

use crate::args::{GlobalArgs, QueryArgs};
use crate::request::usage;
use crate::show::{self, count, counted, decimal, percent};

pub(crate) fn run(args: &QueryArgs, global: &GlobalArgs) -> Result<ExitCode> {
    let mut request = args.request.request()?;
    args.released.apply_to(&mut request);
    refuse_number(args)?;
    // The file of queries first: an error in it is reported before large tables are read.
    let choice = match args.queries.as_deref() {
        Some(path) => QueryChoice::Own(read(path)?),
        None => QueryChoice::Random(RandomQueries {
            queries: args.random,
            seed: args.seed,
            on: args.on.clone(),
            sum: args.sum.clone(),
        }),
    };
    let found = query(&args.source, &args.release, &request, choice)?;
    if let Some(why) = found.no_sums.as_ref().filter(|_| !global.quiet) {
        show::say(&no_sums(why));
    }
    if args.each {
        show::warning(
            "the true answers below are counted in the source: keep this list as confidential as the \
             source",
        );
    }
    if args.json {
        let detail = if args.each { QueryDetail::Each } else { QueryDetail::Summary };
        show::json(&found.json(detail))?;
    } else {
        let rows = |number: u64| counted(number, "row", "rows");
        let (source, release) = (rows(found.source_rows), rows(found.released_rows));
        let mut text = format!("source    {source}\nrelease   {release}\n\n");
        text += &errors(&found.groups);
        if args.each {
            found.groups.iter().for_each(|group| text += &list(group));
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

fn no_sums(why: &NoSums) -> String {
    match why {
        NoSums::OnlyColumn(column) => format!(
            "no sums: `{column}` is the only column, and a sum needs a condition on another column"
        ),
        NoSums::NoNumber => {
            "no sums: no quasi-identifier is numeric (name another column with --sum)".to_string()
        }
    }
}

fn errors(groups: &[QueryGroup]) -> String {
    let share = |error: Option<f64>| error.map_or("none".to_string(), percent);
    let row = |QueryGroup { sum, summary, .. }: &QueryGroup| {
        vec![
            workload(sum),
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

/// `count`, or `sum of age`.
fn workload(sum: &Option<String>) -> String {
    sum.as_ref().map_or("count".to_string(), |column| format!("sum of {column}"))
}

fn list(group: &QueryGroup) -> String {
    let row = |AnsweredQuery { number, query, answer }: &AnsweredQuery| {
        vec![
            count(*number as u64),
            decimal(answer.truth),
            decimal(answer.estimate),
            answer.error().map_or("none".to_string(), percent),
            query.conditions.iter().map(condition).collect::<Vec<_>>().join(", "),
        ]
    };
    let rows: Vec<Vec<String>> = group.answered.iter().map(row).collect();
    let what = workload(&group.sum);
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
