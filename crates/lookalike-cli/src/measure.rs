//! What a search on a table in memory found, judged as its release would be written. `compare` and
//! `reproduce` measure with it, and `report` asks the same queries.

use lookalike::audit::{self, Verdict};
use lookalike::evaluate::query::{self, Query, Workload};
use lookalike::release::{Cells, Release};
use lookalike::request::Roles;
use lookalike::rng::Key;
use lookalike::table::Table;
use lookalike::{Algorithm, ErrorKind, Outcome, Problem, Request, Result, release::proof, table};

/// A release in memory, and what the judge says of it.
#[derive(Debug)]
pub(crate) struct Judged {
    /// As somebody would read it; none when every row is left out.
    pub(crate) released: Option<Table>,
    /// How many rows it has.
    pub(crate) rows: u64,
    /// The least number of rows that a person could be.
    pub(crate) smallest: u64,
    /// What the judge found against it; empty unless this program has a bug.
    pub(crate) broken: String,
}

/// Looks at the release as it would be written: does it hold?
pub(crate) fn judge(
    table: &Table,
    roles: &Roles,
    request: &Request,
    problem: &Problem,
    outcome: &Outcome,
    seed: u64,
) -> Result<Judged> {
    let release = Release::new(
        problem,
        &outcome.recoding,
        table,
        roles,
        request,
        Key::from_seed(seed),
        Cells::Typed,
    )?;
    let rows = release.rows() as u64;
    if rows == 0 {
        return Ok(Judged { released: None, rows, smallest: 0, broken: String::new() });
    }
    let released =
        table::in_memory(release.schema(), release.batches(), |batch| release.batch(batch))?;
    let verdict = match outcome
        .rings
        .as_ref()
        .map(|rings| proof::proof(problem, rings, &release))
        .transpose()?
    {
        None => audit::audit(&released, request)?,
        Some(proof) => audit::audit_rings(&released, table, request, Some(&proof))?,
    };
    let smallest =
        verdict.non_homogeneous.as_ref().map_or(verdict.measures.k, |sense| sense.candidates);
    Ok(Judged { released: Some(released), rows, smallest, broken: broken(&verdict) })
}

/// Random queries on a table. Where hardly any has an answer, as on a wide table, there are none,
/// and a warning: what is measured can be told without.
pub(crate) fn queries(
    table: &Table,
    request: &Request,
    workload: &Workload,
    warn: impl Fn(&str),
) -> Result<Vec<Query>> {
    query::draw(table, request, workload).or_else(|error| {
        let ErrorKind::Request { why } = error.kind() else { return Err(error) };
        warn(&format!("no queries are asked: {why}"));
        Ok(Vec::new())
    })
}

/// The same request for one of the algorithms, with a seed: what is measured can be repeated.
pub(crate) fn asking_for(request: &Request, algorithm: Algorithm, seed: u64) -> Request {
    let non_homogeneous = !algorithm.is_homogeneous();
    Request {
        algorithm: Some(algorithm.name().to_string()),
        non_homogeneous,
        seed: Some(seed),
        ..request.clone()
    }
}

fn broken(verdict: &Verdict) -> String {
    let rules = verdict
        .rules
        .iter()
        .filter(|rule| rule.violations > 0)
        .map(|rule| format!("{} is broken", rule.rule));
    match rules.collect::<Vec<_>>().join("; ") {
        none if none.is_empty() && !verdict.holds() => {
            "the release does not fit its source".to_string()
        }
        found => found,
    }
}
