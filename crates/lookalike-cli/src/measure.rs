//! Random queries and requests for one algorithm, for the commands that measure: `compare`,
//! `reproduce` and `report`.

use lookalike::evaluate::query::{self, Query, Workload};
use lookalike::table::Table;
use lookalike::{Algorithm, ErrorKind, Request, Result};

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
