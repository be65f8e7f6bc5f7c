//! Search: the recoding, its lower bound and its numbers.

use std::sync::Arc;
use std::time::{Duration, Instant};

use lookalike::evaluate::disclosure::disclosures;
use lookalike::evaluate::loss;
use lookalike::problem::bound::Bound;
use lookalike::problem::partition;
use lookalike::release::recoding_file;
use lookalike::request::Roles;
use lookalike::run::{Effort, lower_bound, sharper, solve_in_time};
use lookalike::search::global::Techniques;
use lookalike::table::Table;
use lookalike::{Algorithm, Budget, Outcome, Problem, Request, Result, SearchOptions, Status};

use super::plan::{RecodingPlan, RunPlan};
use super::read::ReadTable;
use super::{RecodingSource, ReleaseJob, SearchReport};
use crate::progress::StageProgress;
use crate::{bounds, interrupt, show, warn};

/// The time limit of `auto` when nobody sets one.
pub(crate) const USUAL_TIME: Duration = Duration::from_secs(10);

/// A recoding and what a release needs to be written.
pub(super) struct FoundRecoding {
    pub(super) problem: Arc<Problem>,
    pub(super) outcome: Outcome,
    /// Without the codes of its columns.
    pub(super) table: Table,
    pub(super) roles: Roles,
    pub(super) search: SearchReport,
}

/// Encodes the table and finds the recoding. The codes of the table are dropped as soon as they are
/// not needed: the rest of the run can use their memory.
pub(super) fn search(
    job: &ReleaseJob,
    plan: &RunPlan,
    input: ReadTable,
    progress: &mut StageProgress,
) -> Result<FoundRecoding> {
    let ReadTable { roles, mut table, mut warnings } = input;
    progress.stage("encode");
    warnings.extend(disclosures(&table, &roles, job.request)?);
    let problem = Arc::new(Problem::new(&table, &roles, job.request)?);
    table.forget_codes();
    warnings.extend_from_slice(problem.warnings());
    warnings.extend(warn::hopeless(&problem));
    warnings.extend(unused(&plan.recoding, job.request));
    warnings.iter().for_each(|warning| progress.warn(warning));

    let (outcome, bound) = match plan.recoding {
        RecodingPlan::Search(options) => {
            let found = search_with_bound(job, &problem, options, progress)?;
            (found.0, found.1)
        }
        RecodingPlan::File(file) => {
            progress.stage("apply");
            let recoding = recoding_file::apply(file, &problem, job.request)?;
            (Outcome { recoding, status: Status::Heuristic, rings: None, optimum: None }, None)
        }
    };
    let recoding = &outcome.recoding;
    let mut search = SearchReport {
        rows: problem.row_count(),
        suppressed: partition::rows(recoding.suppressed()),
        algorithm: match plan.recoding {
            RecodingPlan::Search(options) => Some(options.algorithm),
            RecodingPlan::File(_) => None,
        },
        status: outcome.status,
        loss: loss::loss(&problem, recoding),
        shown: loss::generalized_shares(&problem, recoding),
        bound,
        optimum: outcome.optimum.clone(),
        quasi: problem.attributes().iter().map(|attribute| attribute.name.clone()).collect(),
        coded_bytes: problem.bytes(),
        tuples: problem.tuples(),
        warnings,
    };
    warn::refuse_loss(&search, job.request)?;
    for warning in warn::of_release(&search, job.request) {
        progress.warn(&warning);
        search.warnings.push(warning);
    }
    Ok(FoundRecoding { problem, outcome, table, roles, search })
}

/// The search and the lower bound. A long search shows its gap while it runs, so the bound comes
/// first; after a short search the bound gets as much time as the search took.
fn search_with_bound(
    job: &ReleaseJob,
    problem: &Arc<Problem>,
    options: SearchOptions,
    progress: &mut StageProgress,
) -> Result<(Outcome, Option<Bound>)> {
    let effort = match &job.recoding {
        RecodingSource::Search(wanted) => wanted.bound.with(options.algorithm),
        RecodingSource::File(_) => Effort::None,
    };
    let time = time_limit(job.request, options)?;
    let mut bound = None;
    if options.algorithm.is_anytime() {
        progress.stage("bound");
        let quick = time.unwrap_or(USUAL_TIME) / 5;
        bound = interrupt::before_search(|| {
            lower_bound(problem, job.seed, effort.before(), quick, interrupt::cancel())
        });
    }
    progress.stage("search");
    let budget = Budget::new(time, interrupt::cancel());
    let begun = Instant::now();
    let line = || search_line(&budget, bound.as_ref());
    let search = || solve_in_time(problem, options, &budget);
    let outcome =
        progress.watching(line, || interrupt::during_search(interrupt::RELEASE, search))?;
    let is_wanted = bound.is_none() || effort != effort.before();
    if is_wanted && !interrupt::is_cancelled() {
        progress.stage("bound");
        let quick = begun.elapsed();
        let longer = interrupt::during_search(interrupt::RELEASE, || {
            lower_bound(problem, job.seed, effort, quick, interrupt::cancel())
        });
        // A bound that was stopped early may be weaker than the first.
        bound = sharper(bound, longer);
    }
    Ok((outcome, bound))
}

/// Options that have no effect with this algorithm.
fn unused(plan: &RecodingPlan, request: &Request) -> Vec<String> {
    let RecodingPlan::Search(search) = plan else { return Vec::new() };
    let options = [
        (
            request.steps.is_some() && !search.algorithm.is_anytime(),
            "the number of steps",
            Algorithm::Auto,
        ),
        (
            search.techniques != Techniques::default() && search.algorithm != Algorithm::Optimal,
            "the branching rule",
            Algorithm::Optimal,
        ),
    ];
    let unused = options.into_iter().filter(|(is_unused, ..)| *is_unused);
    unused
        .map(|(_, option, other)| {
            format!("{option} has no effect with {}: only {other} uses it", search.algorithm)
        })
        .collect()
}

/// The time limit of a search: `auto` without a limit would never end, unless its steps are
/// counted.
pub(crate) fn time_limit(request: &Request, search: SearchOptions) -> Result<Option<Duration>> {
    let is_limited = search.algorithm.is_anytime() && search.steps.is_none();
    Ok(request.time()?.or(is_limited.then_some(USUAL_TIME)))
}

/// The line of progress while a search runs.
fn search_line(budget: &Budget, bound: Option<&Bound>) -> Option<String> {
    let loss = budget.reported_loss()?;
    let gap = bound.and_then(|bound| Some((bound, bound.gap(loss)?)));
    let gap = gap.map_or(String::new(), |(bound, gap)| {
        format!(", bound {}{:.0}, gap {gap:.2}", bounds::sign(bound), bound.value)
    });
    let left = budget
        .left()
        .map_or(String::new(), |left| format!(", {} left", show::seconds(left.as_secs_f64())));
    Some(format!("loss {loss:.0}{gap}{left}"))
}
