//! How well a release answers queries: counts and sums, estimated from the release and counted in
//! its source.

use std::collections::BTreeMap;

use lookalike::audit::AuditView;
use lookalike::evaluate::query::{self, Answer, Query, Summary, Workload};
use lookalike::problem::row_count;
use lookalike::run::{Input, read_for_audit, read_source_for_audit};
use lookalike::table::Table;
use lookalike::{Request, Result};
use serde_json::{Value, json};

/// Where the queries come from.
#[derive(Clone, Debug)]
pub enum QueryChoice {
    /// Queries of one's own, as [`query::parse`] and [`query::read`] give them.
    Own(Vec<Query>),
    /// Random counts, and random sums where a column can be summed.
    Random(RandomQueries),
}

/// Random queries: so many counts, and as many sums.
#[derive(Clone, Debug)]
pub struct RandomQueries {
    /// The number of counts.
    pub queries: u64,
    /// The random seed.
    pub seed: u64,
    /// The columns with conditions; when empty, all quasi-identifiers except the summed one.
    pub on: Vec<String>,
    /// The column to sum; when absent, the first quasi-identifier that is a number.
    pub sum: Option<String>,
}

/// Why random queries have no sums.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoSums {
    /// This column is the only one, and a sum needs a condition on another.
    OnlyColumn(String),
    /// No quasi-identifier is a number.
    NoNumber,
}

/// A query with its number, counted from 1, and its answer.
#[derive(Clone, Debug)]
pub struct AnsweredQuery {
    /// Its place among all queries.
    pub number: usize,
    /// The query.
    pub query: Query,
    /// The true and the estimated answer.
    pub answer: Answer,
}

/// Counts, or sums of one column, with their answers.
#[derive(Clone, Debug)]
pub struct QueryGroup {
    /// The summed column; none for counts.
    pub sum: Option<String>,
    /// The queries in their order.
    pub answered: Vec<AnsweredQuery>,
    /// Their errors.
    pub summary: Summary,
}

/// The answers to all queries.
#[derive(Clone, Debug)]
pub struct QueryAnswers {
    /// Rows of the source.
    pub source_rows: u64,
    /// Rows of the release.
    pub released_rows: u64,
    /// The seed of random queries.
    pub seed: Option<u64>,
    /// Counts first, then the sums of each column.
    pub groups: Vec<QueryGroup>,
    /// Set when random queries have no sums.
    pub no_sums: Option<NoSums>,
}

/// What the JSON object of answers has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryDetail {
    /// The errors of each group.
    Summary,
    /// Also each query, with its true answer: as confidential as the source.
    Each,
}

impl QueryAnswers {
    /// The JSON object of `query`.
    pub fn json(&self, detail: QueryDetail) -> Value {
        let workloads: Vec<Value> = self.groups.iter().map(|group| object(group, detail)).collect();
        json!({
            "version": 1,
            "source_rows": self.source_rows,
            "released_rows": self.released_rows,
            "seed": self.seed,
            "workloads": workloads,
        })
    }
}

/// Answers queries from a release and from its source.
///
/// # Example
/// ```
/// use lookalike::{Request, evaluate::query::parse, table};
/// use lookalike_report::query::{QueryChoice, query};
///
/// let request = Request::new(2).quasi_identifiers(["age"]);
/// let open = |text: &str| table::open_text(text.to_string(), "t".as_ref());
/// let (source, release) = (open("age\n34\n37\n")?, open("age\n[34-37]\n[34-37]\n")?);
/// let queries = QueryChoice::Own(parse("[[query]]\nwhere = { age = [30, 35] }")?);
/// let answers = query(source, release, &request, queries)?;
/// let answer = answers.groups[0].answered[0].answer;
/// assert_eq!((answer.truth, answer.estimate), (1.0, 2.0 * 2.0 / 4.0));
/// # Ok::<(), lookalike::Error>(())
/// ```
///
/// # Errors
/// When a table cannot be read, or a query does not fit it.
pub fn query(
    source: impl Into<Input>,
    release: impl Into<Input>,
    request: &Request,
    choice: QueryChoice,
) -> Result<QueryAnswers> {
    let mut request = request.clone();
    let source = read_source_for_audit(source, &mut request)?;
    let request = &request;
    let release = read_for_audit(release, request, AuditView::ReleaseAgainstSource)?;
    let (queries, seed, no_sums) = match choice {
        QueryChoice::Own(queries) => (queries, None, None),
        QueryChoice::Random(wanted) => {
            let (queries, no_sums) = random(&wanted, &source, request)?;
            (queries, Some(wanted.seed), no_sums)
        }
    };
    let answers = query::answer(&source, &release, request, &queries)?;
    Ok(QueryAnswers {
        source_rows: row_count(&source, request)?,
        released_rows: row_count(&release, request)?,
        seed,
        groups: groups(queries, &answers),
        no_sums,
    })
}

/// Counts over all columns, and sums of one over the others where there is one.
fn random(
    wanted: &RandomQueries,
    source: &Table,
    request: &Request,
) -> Result<(Vec<Query>, Option<NoSums>)> {
    let RandomQueries { queries, seed, on, .. } = wanted.clone();
    let counts = Workload { queries, seed, on, ..Workload::default() };
    let mut queries = query::draw(source, request, &counts)?;
    let sum = match &wanted.sum {
        Some(column) => Some(column.clone()),
        None => query::summable(source, request)?,
    };
    // Sums have conditions on other columns than the summed one.
    let others = queries
        .first()
        .is_some_and(|query| query.conditions.keys().any(|column| Some(column) != sum.as_ref()));
    let no_sums = match sum {
        Some(_) if others || wanted.sum.is_some() => {
            queries.extend(query::draw(source, request, &Workload { sum, ..counts })?);
            None
        }
        Some(column) => Some(NoSums::OnlyColumn(column)),
        None => Some(NoSums::NoNumber),
    };
    Ok((queries, no_sums))
}

/// Counts first, then the sums of each column.
fn groups(queries: Vec<Query>, answers: &[Answer]) -> Vec<QueryGroup> {
    let mut by_sum: BTreeMap<Option<String>, Vec<AnsweredQuery>> = BTreeMap::new();
    for ((number, query), &answer) in (1..).zip(queries).zip(answers) {
        let group = by_sum.entry(query.sum.clone()).or_default();
        group.push(AnsweredQuery { number, query, answer });
    }
    let group = |(sum, answered): (_, Vec<AnsweredQuery>)| {
        let answers: Vec<Answer> = answered.iter().map(|one| one.answer).collect();
        QueryGroup { sum, answered, summary: query::summarize(&answers) }
    };
    by_sum.into_iter().map(group).collect()
}

fn object(group: &QueryGroup, detail: QueryDetail) -> Value {
    let mut object = json!(group.summary);
    object["sum"] = json!(group.sum);
    if detail == QueryDetail::Each {
        let one = |AnsweredQuery { number, query, answer }: &AnsweredQuery| {
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
