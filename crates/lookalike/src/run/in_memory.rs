//! The release of an outcome, made and audited in memory: no file is written.

use crate::audit::{self, Verdict};
use crate::error::Result;
use crate::problem::Problem;
use crate::release::{CellFormat, Release, proof};
use crate::request::{Request, Roles};
use crate::rng::Key;
use crate::search::Outcome;
use crate::table::{self, Table};

use super::audit::broken_rules;

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
/// # Example
/// ```
/// # use lookalike::{*, run::audit_outcome, table::Treatment};
/// # let request = Request::parse("k = 2\ncolumns.age.role = 'quasi'")?;
/// let source = table::open_text("age\n30\n35\n50\n50\n".into(), "data.csv".as_ref())?;
/// let roles = request.roles(source.names())?;
/// let table = source.read(&[Treatment::Code])?;
/// let problem = Problem::new(&table, &roles, &request)?;
/// let options = SearchOptions::new(Algorithm::Mondrian, 1);
/// let outcome = solve(&problem, options, &Budget::unlimited());
/// let audited = audit_outcome(&table, &roles, &request, &problem, &outcome, 1)?;
/// assert_eq!((audited.rows, audited.smallest, audited.broken.as_str()), (4, 2, ""));
/// # Ok::<(), lookalike::Error>(())
/// ```
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
    let mut release = Release::new(
        problem,
        &outcome.recoding,
        table,
        roles,
        request,
        Key::from_seed(seed),
        CellFormat::Typed,
    )?;
    release.record_origins();
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
        None => match problem.persons() {
            None => audit::audit(&released, request)?,
            Some(persons) => {
                let request = Request { persons: Some(persons.reading), ..request.clone() };
                audit::audit_persons(&released, table, &request, &release.sources())?
            }
        },
        Some(proof) => audit::audit_rings(&released, table, request, Some(&proof))?,
    };
    let smallest =
        verdict.non_homogeneous.as_ref().map_or(verdict.measures.k, |sense| sense.candidates);
    Ok(Audited { released: Some(released), rows, smallest, broken: broken(&verdict) })
}

fn broken(verdict: &Verdict) -> String {
    match broken_rules(verdict).collect::<Vec<_>>().join("; ") {
        none if none.is_empty() && !verdict.holds() => {
            "the release does not fit its source".to_string()
        }
        broken => broken,
    }
}
