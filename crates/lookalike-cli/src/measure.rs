//! Random queries, for `compare` and `report`.

use lookalike::evaluate::query::{self, Query, Workload};
use lookalike::table::Table;
use lookalike::{ErrorKind, Request, Result};

use crate::hints;

/// Random queries on a table. On a wide table hardly any query has an answer above 0: then there is
/// a warning and no query, and the other measurements go on.
pub(crate) fn queries(
    table: &Table,
    request: &Request,
    workload: &Workload,
    warn: impl Fn(&str),
) -> Result<Vec<Query>> {
    query::draw(table, request, workload).or_else(|error| {
        if error.kind() != ErrorKind::Request {
            return Err(error);
        }
        warn(&format!("no random queries: {}", hints::error(&error)));
        Ok(Vec::new())
    })
}
