//! Random queries for comparisons and reports.

use lookalike::evaluate::query::{self, Query, Workload};
use lookalike::table::Table;
use lookalike::{ErrorKind, Request, Result};

use crate::Event;

/// Random queries on a table. On a wide table hardly any query has an answer above 0: then there is
/// an event and no query, and the other measurements go on.
pub(crate) fn random_queries(
    table: &Table,
    request: &Request,
    workload: &Workload,
    notify: &dyn Fn(Event<'_>),
) -> Result<Vec<Query>> {
    query::draw(table, request, workload).or_else(|error| {
        if error.kind() != ErrorKind::Request {
            return Err(error);
        }
        notify(Event::NoQueries(&error));
        Ok(Vec::new())
    })
}
