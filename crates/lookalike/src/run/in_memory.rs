//! The release of an outcome, made and audited in memory: no file is written.

use crate::audit::{self, Verdict};
use crate::error::Result;
use crate::problem::Problem;
use crate::release::{Cells, Release, proof};
use crate::request::{Request, Roles};
use crate::rng::Key;
use crate::search::Outcome;
use crate::table::{self, Table};

/// A release in memory, and the findings of the audit.
#[derive(Debug)]
pub struct Audited {
    /// The released table; none when every row is suppressed.
    pub released: Option<Table>,
    /// Released rows.
    pub rows: u64,
    /// Rows of the smallest equivalence class; for rings, the fewest candidates of a row.
    pub smallest: u64,
    /// Broken rules; empty unless this program has a bug.
    pub broken: String,
}

/// Makes the release of an outcome in memory and audits it: for faces that measure without a file.
///
/// # Errors
/// Those of [`Release::new`] and of the audit.
pub fn audit_outcome(
    table: &Table,
    roles: &Roles,
    request: &Request,
    problem: &Problem,
    outcome: &Outcome,
    seed: u64,
) -> Result<Audited> {
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
        return Ok(Audited { released: None, rows, smallest: 0, broken: String::new() });
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
    Ok(Audited { released: Some(released), rows, smallest, broken: broken(&verdict) })
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
