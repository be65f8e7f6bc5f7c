//! Random queries: seeded, each from its own random stream, none with the answer 0.

use rayon::prelude::*;

use super::field::QueryField;
use super::{Condition, Query, not_released, originals, tests, total};
use crate::domain::attribute::{Domain, Ordered, Unit};
use crate::error::{Error, Hint, Result};
use crate::request::{Request, Rest, Role};
use crate::rng::Rng;
use crate::table::Table;

/// A workload of random queries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Workload {
    /// The number of queries.
    pub queries: u64,
    /// The random seed.
    pub seed: u64,
    /// The column to sum; rows are counted when absent.
    pub sum: Option<String>,
    /// The columns with conditions; when empty, all quasi-identifiers except the summed one.
    pub on: Vec<String>,
    /// Each query has conditions on so many of these columns, drawn for it; on all of them when
    /// absent.
    pub conditions: Option<usize>,
}

/// The most draws for one query: a query whose answer is 0 is drawn again.
const DRAWS: u32 = 10_000;

/// The first quasi-identifier that can be summed, in the order of the source.
///
/// # Errors
/// When a quasi-identifier does not fit its kind or hierarchy.
pub fn summable(source: &Table, request: &Request) -> Result<Option<String>> {
    for name in quasi(source, request) {
        if QueryField::new(&name, source, request)?.is_number() {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

/// Draws queries whose true answer is not 0.
///
/// Every query has a condition on every column, or on as many as the workload says: an ordered column between two random points of its
/// domain (decimals and times: two random values of the source); a category is, with equal chance,
/// one random value or one random inner node of its tree (without a hierarchy, the root). Query i
/// is the same whatever the number of queries.
///
/// # Example
/// ```
/// # use lookalike::{Request, evaluate::query::{self, Workload}, table::{self, Treatment}};
/// let request = Request::parse("k = 2\ncolumns.age.role = 'quasi'")?;
/// let source = table::open_text("age\n34\n37\n51\n58\n".into(), "data.csv".as_ref())?;
/// let source = source.read(&[Treatment::Code])?;
/// let draw = |queries| {
///     let workload = Workload { queries, seed: 7, ..Workload::default() };
///     query::draw(&source, &request, &workload)
/// };
/// assert_eq!(draw(3)?, draw(5)?[..3]);
/// # Ok::<(), lookalike::Error>(())
/// ```
///
/// # Errors
/// When a column is unknown or not released, the summed one has no numbers, there is no column for
/// conditions, or too many draws in a row have the answer 0.
pub fn draw(source: &Table, request: &Request, workload: &Workload) -> Result<Vec<Query>> {
    let sum = workload.sum.as_deref();
    let names = if workload.on.is_empty() { quasi(source, request) } else { workload.on.clone() };
    let mut on: Vec<&str> =
        names.iter().map(String::as_str).filter(|name| Some(*name) != sum).collect();
    on.sort_unstable();
    on.dedup();
    if on.is_empty() {
        return Err(Error::request(
            "no-query-columns",
            "no column is left for conditions beside the summed one",
        )
        .hint(Hint::ChooseQueryColumns));
    }
    let released: Vec<String> = source
        .columns()
        .iter()
        .map(|column| column.name.clone())
        .filter(|name| is_released(name, request))
        .collect();
    if let Some(name) =
        on.iter().copied().chain(sum).find(|name| !released.iter().any(|known| known == name))
    {
        return Err(not_released(name, &released, ""));
    }
    let fields = on
        .iter()
        .copied()
        .chain(sum)
        .map(|name| QueryField::new(name, source, request))
        .collect::<Result<Vec<_>>>()?;
    if let Some(name) = sum.filter(|_| !fields[on.len()].is_number()) {
        return Err(Error::request(
            "sum-of-text",
            format!("column `{name}` has no numbers: only numbers can be summed"),
        )
        .about_column(name));
    }
    let truth = originals(&fields, source, request)?;
    let query = |number: u64| {
        // Counts and sums have streams of their own.
        let mut rng = Rng::at(workload.seed, 2 * number + u64::from(sum.is_some()));
        for _ in 0..DRAWS {
            let conditions = some(on.len(), workload.conditions, &mut rng).into_iter().map(|at| {
                let field = &fields[at];
                (field.name.to_string(), condition(field, &mut rng))
            });
            let query = Query { sum: workload.sum.clone(), conditions: conditions.collect() };
            let tests = tests(&query, &fields)
                .map_err(|(column, why)| Error::request("bad-condition", why).at_column(column))?;
            if total(&truth, &tests) != 0.0 {
                return Ok(query);
            }
        }
        let reason = format!("{DRAWS} random queries in a row have the answer 0 on this table");
        Err(Error::request("no-queries-found", reason)
            .hint(Hint::FewerQueryColumns)
            .hint(Hint::plain("use queries of your own")))
    };
    (0..workload.queries).into_par_iter().map(query).collect()
}

/// So many of the columns, each set as likely as any other; all when absent.
fn some(columns: usize, wanted: Option<usize>, rng: &mut Rng) -> Vec<usize> {
    let mut all: Vec<usize> = (0..columns).collect();
    let wanted = wanted.unwrap_or(columns).clamp(1, columns);
    if wanted < columns {
        for at in 0..wanted {
            let other = at + rng.place(columns - at);
            all.swap(at, other);
        }
        all.truncate(wanted);
    }
    all
}

fn quasi(source: &Table, request: &Request) -> Vec<String> {
    let is_quasi =
        |name: &String| request.column(name).is_some_and(|line| line.role == Role::Quasi);
    source.columns().iter().map(|column| column.name.clone()).filter(is_quasi).collect()
}

fn is_released(name: &str, request: &Request) -> bool {
    match request.column(name).map(|line| line.role) {
        Some(role) => !matches!(role, Role::Identifier | Role::Person),
        None => request.rest == Some(Rest::Keep) && request.count.as_deref() != Some(name),
    }
}

#[allow(clippy::cast_possible_truncation, reason = "there are fewer than 2^32 nodes")]
fn condition(field: &QueryField<'_>, rng: &mut Rng) -> Condition {
    match &field.domain {
        Domain::Ordered(ordered) => {
            let ((one, text), (other, last)) =
                (point(field, ordered, rng), point(field, ordered, rng));
            let (from, to) = if one <= other { (text, last) } else { (last, text) };
            Condition::Range { from: Some(from), to: Some(to) }
        }
        Domain::Tree(tree) => {
            let leaves = tree.leaves() as u64;
            if rng.below(2) == 0 {
                Condition::Values(vec![tree.leaf_label(rng.below(leaves) as u32).to_string()])
            } else {
                let inner = leaves + rng.below(tree.nodes() as u64 - leaves);
                Condition::Node { node: tree.label(inner as u32).to_string() }
            }
        }
    }
}

/// A random point of an ordered column's domain, and how it is written. Where values are measured
/// and not counted, one of the source's values: between two random reals the least and the greatest
/// value would never lie.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "whole numbers, days and places stay below 2^53"
)]
fn point(field: &QueryField<'_>, ordered: &Ordered, rng: &mut Rng) -> (f64, String) {
    let (least, greatest) = field.ends;
    match (ordered.unit(), ordered.values().len()) {
        (Unit::Decimal | Unit::Second, 1..) => {
            let at = rng.below(ordered.values().len() as u64) as usize;
            (ordered.values()[at], ordered.texts()[at].clone())
        }
        _ => {
            let point = least + rng.below((greatest - least) as u64 + 1) as f64;
            (point, field.text(point))
        }
    }
}
