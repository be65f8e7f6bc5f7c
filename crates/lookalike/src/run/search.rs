//! Search: the recoding, its lower bound and its numbers.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::error::Result;
use crate::evaluate::disclosure::disclosures;
use crate::evaluate::loss;
use crate::evaluate::uniqueness::RowKeys;
use crate::problem::Problem;
use crate::problem::bound::{Bound, BoundScope};
use crate::problem::partition;
use crate::release::recoding_file;
use crate::request::{Request, Roles};
use crate::search::budget::Budget;
use crate::search::{Outcome, SearchOptions, Status};
use crate::table::Table;

use super::in_time::{refuse_changing, solve_for_run};
use super::options::{RecodingPlan, RunPlan, USUAL_TIME, time_limit};
use super::read::{Original, ReadTable};
use super::report::{Found, FoundPersons, PublishedLoss};
use super::watch::{Clock, Event, Stage};
use super::{Run, lower_bound, sharper, warnings};

/// A recoding and what a release needs to be written.
pub(super) struct FoundRecoding {
    pub(super) problem: Arc<Problem>,
    pub(super) outcome: Outcome,
    /// Without the codes of its columns.
    pub(super) table: Table,
    pub(super) roles: Roles,
    pub(super) original: Original,
    pub(super) found: Found,
    /// The cells of each row that are published unchanged, as a number: to count unique rows when it
    /// is known which row goes to which class.
    pub(super) unchanged: RowKeys,
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
    let ReadTable { roles, mut table, mut original, unreplaced, purpose, .. } = read;
    let (read_time, mut warnings) = (read.time, read.warnings);
    clock.stage(Stage::Encode);
    run.cancel.check()?;
    let request = &run.request;
    let disclosed = disclosures(&table, &roles, request)?;
    warnings.extend(disclosed.warnings);
    run.cancel.check()?;
    let problem = match run.domain {
        None => Problem::new(&table, &roles, request)?,
        Some(domain) => Problem::within(domain, &table, &roles, request)?,
    };
    let problem = Arc::new(problem);
    run.cancel.check()?;
    let codes = table.take_codes();
    match &mut original {
        Original::Kept(kept) => *kept = codes.with_columns(unreplaced),
        Original::File(_) | Original::Lost => drop(codes),
    }
    warnings.extend_from_slice(problem.warnings());
    warnings.extend(warnings::hopeless(&problem));
    warnings.extend(warnings::pseudonyms(request));
    warnings.extend(warnings::hashes(request));
    warnings.extend(warnings::unused(&plan.recoding, request));
    warnings.iter().for_each(|warning| clock.say(Event::Warning(warning)));

    let begun = Instant::now();
    let (outcome, bound, algorithm) = match plan.recoding {
        RecodingPlan::Search(options) => {
            let (outcome, bound) = search_with_bound(run, plan.seed, &problem, options, clock)?;
            (outcome, bound, Some(options.algorithm))
        }
        RecodingPlan::File(file) => {
            refuse_changing(&problem)?;
            clock.stage(Stage::Apply);
            let recoding = recoding_file::apply(file, &problem, request)?;
            let (status, loss_before) = (Status::Heuristic, None);
            let outcome = Outcome { recoding, status, rings: None, optimum: None, loss_before };
            (outcome, None, None)
        }
    };
    run.cancel.check()?;
    let recoding = &outcome.recoding;
    let suppressed = partition::rows(recoding.suppressed());
    let loss = loss::loss(&problem, recoding);
    let before = outcome.loss_before.filter(|_| suppressed > 0);
    let mut found = Found {
        rows: rows_of(&problem, &table),
        suppressed,
        persons: problem.persons().map(|persons| FoundPersons {
            count: persons.count(),
            reading: persons.reading,
            changing: persons.changing,
            suppressed: problem.whole_persons().map(|_| suppressed),
        }),
        algorithm,
        status: outcome.status,
        published: PublishedLoss::new(&loss, suppressed, problem.row_count(), before),
        loss,
        generalized: loss::generalized_shares(&problem, recoding),
        bound,
        bound_scope: scope_of(&problem, request),
        optimum: outcome.optimum.clone(),
        purpose,
        quasi: problem.attributes().iter().map(|attribute| attribute.name.clone()).collect(),
        coded_bytes: problem.bytes(),
        tuples: problem.tuples(),
        unique: disclosed.unique,
        warnings,
    };
    warnings::refuse_loss(&found, request)?;
    for warning in warnings::of_release(&found, request) {
        clock.say(Event::Warning(&warning));
        found.warnings.push(warning);
    }
    let time = begun.elapsed();
    Ok(FoundRecoding {
        problem,
        outcome,
        table,
        roles,
        original,
        found,
        unchanged: disclosed.keys,
        read_time,
        time,
    })
}

fn scope_of(problem: &Problem, request: &Request) -> BoundScope {
    BoundScope::of(request, problem.persons().map(|persons| persons.reading))
}

/// The number of rows of the table, by their counts.
fn rows_of(problem: &Problem, table: &Table) -> u64 {
    match problem.persons() {
        Some(persons) if !persons.counts.is_empty() => {
            persons.counts.iter().map(|&count| u64::from(count)).sum()
        }
        Some(_) => table.rows() as u64,
        None => problem.row_count(),
    }
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
    cancel.check()?;
    clock.stage(Stage::Search);
    let budget = Budget::new(time, cancel.search_flag());
    let begun = Instant::now();
    // A bound that does not know all rules shows no gap.
    let scope = scope_of(problem, &run.request);
    let shown = bound.filter(|bound| scope.knows_rules(bound));
    let outcome =
        clock.during(&budget, shown, || solve_for_run(problem, options, &budget, cancel))?;
    let is_wanted = bound.is_none() || effort != effort.before();
    if is_wanted && !cancel.is_search_ended() {
        clock.stage(Stage::Bound);
        // A bound that was stopped early may be weaker than the first.
        bound = sharper(bound, bounded(effort, begun.elapsed()));
    }
    Ok((outcome, bound))
}
