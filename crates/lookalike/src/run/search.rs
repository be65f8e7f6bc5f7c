//! Search: the recoding, its lower bound and its numbers.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::error::Result;
use crate::evaluate::disclosure::disclosures;
use crate::evaluate::loss;
use crate::problem::Problem;
use crate::problem::bound::Bound;
use crate::problem::partition;
use crate::release::recoding_file;
use crate::request::Roles;
use crate::search::budget::Budget;
use crate::search::{Outcome, SearchOptions, Status};
use crate::table::Table;

use super::options::{RecodingPlan, RunPlan, USUAL_TIME, time_limit};
use super::read::{Original, ReadTable};
use super::report::Found;
use super::watch::{Clock, Event, Stage};
use super::{Run, lower_bound, sharper, solve_in_time, warnings};

/// A recoding and what a release needs to be written.
pub(super) struct FoundRecoding {
    pub(super) problem: Arc<Problem>,
    pub(super) outcome: Outcome,
    /// Without the codes of its columns.
    pub(super) table: Table,
    pub(super) roles: Roles,
    pub(super) original: Original,
    pub(super) found: Found,
    /// The time that the reading took.
    pub(super) read_time: Duration,
    /// The time that the search took.
    pub(super) time: Duration,
}

/// Encodes the table and finds the recoding. The codes of the table are dropped as soon as they are
/// not needed: the rest of the run can use their memory.
pub(super) fn search(
    run: &Run,
    plan: &RunPlan,
    read: ReadTable,
    clock: &mut Clock,
) -> Result<FoundRecoding> {
    let ReadTable { roles, mut table, mut original, time: read_time, mut warnings } = read;
    clock.stage(Stage::Encode);
    run.cancel.check()?;
    let request = &run.request;
    warnings.extend(disclosures(&table, &roles, request)?);
    let problem = Arc::new(Problem::new(&table, &roles, request)?);
    let codes = table.take_codes();
    match &mut original {
        Original::Kept(kept) => *kept = codes,
        Original::File(_) | Original::Lost => drop(codes),
    }
    warnings.extend_from_slice(problem.warnings());
    warnings.extend(warnings::hopeless(&problem));
    warnings.extend(warnings::unused(&plan.recoding, request));
    warnings.iter().for_each(|warning| clock.say(Event::Warning(warning)));

    let begun = Instant::now();
    let (outcome, bound, algorithm) = match plan.recoding {
        RecodingPlan::Search(options) => {
            let (outcome, bound) = search_with_bound(run, plan.seed, &problem, options, clock)?;
            (outcome, bound, Some(options.algorithm))
        }
        RecodingPlan::File(file) => {
            clock.stage(Stage::Apply);
            let recoding = recoding_file::apply(file, &problem, request)?;
            let outcome =
                Outcome { recoding, status: Status::Heuristic, rings: None, optimum: None };
            (outcome, None, None)
        }
    };
    run.cancel.check()?;
    let recoding = &outcome.recoding;
    let mut found = Found {
        rows: problem.row_count(),
        suppressed: partition::rows(recoding.suppressed()),
        algorithm,
        status: outcome.status,
        loss: loss::loss(&problem, recoding),
        generalized: loss::generalized_shares(&problem, recoding),
        bound,
        optimum: outcome.optimum.clone(),
        quasi: problem.attributes().iter().map(|attribute| attribute.name.clone()).collect(),
        coded_bytes: problem.bytes(),
        tuples: problem.tuples(),
        warnings,
    };
    warnings::refuse_loss(&found, request)?;
    for warning in warnings::of_release(&found, request) {
        clock.say(Event::Warning(&warning));
        found.warnings.push(warning);
    }
    let time = begun.elapsed();
    Ok(FoundRecoding { problem, outcome, table, roles, original, found, read_time, time })
}

/// The search and the lower bound. A long search reports its gap while it runs, so the bound comes
/// first; after a short search the bound gets as much time as the search took.
fn search_with_bound(
    run: &Run,
    seed: u64,
    problem: &Arc<Problem>,
    options: SearchOptions,
    clock: &mut Clock,
) -> Result<(Outcome, Option<Bound>)> {
    let effort = run.bound.with(options.algorithm);
    let time = time_limit(&run.request, options)?;
    let cancel = &run.cancel;
    let bounded = |effort, quick| lower_bound(problem, seed, effort, quick, cancel.search_flag());
    let mut bound = None;
    if options.algorithm.is_anytime() {
        clock.stage(Stage::Bound);
        let was_ended = cancel.is_search_ended();
        bound = bounded(effort.before(), time.unwrap_or(USUAL_TIME) / 5);
        if !was_ended {
            cancel.resume();
        }
    }
    clock.stage(Stage::Search);
    let budget = Budget::new(time, cancel.search_flag());
    let begun = Instant::now();
    let outcome = clock.during(&budget, bound, || solve_in_time(problem, options, &budget))?;
    let is_wanted = bound.is_none() || effort != effort.before();
    if is_wanted && !cancel.is_search_ended() {
        clock.stage(Stage::Bound);
        // A bound that was stopped early may be weaker than the first.
        bound = sharper(bound, bounded(effort, begun.elapsed()));
    }
    Ok((outcome, bound))
}
