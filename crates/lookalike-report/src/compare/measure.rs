//! The searches, one after the other, and the numbers of each.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Instant;

use lookalike::evaluate::loss::{Loss, loss};
use lookalike::evaluate::purpose::{PurposeScore, fold_of_rows, scores};
use lookalike::evaluate::query::{self, Query, Workload};
use lookalike::problem::bound::{Bound, BoundScope};
use lookalike::request::{ColumnRequest, Order, Rest, Role, Roles};
use lookalike::table::{Source, Table, Treatment};
use lookalike::{
    Algorithm, Budget, Error, Outcome, Problem, Request, Result, Status, problem,
    problem::partition, solve,
};

use lookalike::run::{
    Cancel, Effort, USUAL_TIME, audit_outcome, coarsen, lower_bound, refuse_changing,
    search_options, settle_forms, settle_purpose, time_limit, without_names,
};

use super::purpose::{self, PurposeResult};
use super::{ComparePlan, RuleSet, request_for};
use crate::random_queries::random_queries;
use crate::{Event, SearchStep};

/// One search and its result.
#[derive(Clone, Debug)]
pub struct ComparedRun {
    /// The name of its set of rules.
    pub rules: String,
    /// The value of k; none for rules without k.
    pub k: Option<u64>,
    /// The algorithm.
    pub algorithm: Algorithm,
    /// What the search found.
    pub result: RunResult,
}

/// The result of a search.
#[derive(Clone, Debug)]
pub enum RunResult {
    /// A release satisfies the rules.
    Met(Box<ReleaseNumbers>),
    /// The reason why no release can satisfy the rules.
    NotMet(Arc<Error>),
}

/// A release in numbers.
#[derive(Clone, Debug)]
pub struct ReleaseNumbers {
    /// How the search ended.
    pub status: Status,
    /// The loss in several measures.
    pub loss: Loss,
    /// The lower bound on the NCP; none without effort, and for global recodings.
    pub bound: Option<Bound>,
    /// The rules that the bound knows.
    pub scope: BoundScope,
    /// Classes; boxes of a non-homogeneous release.
    pub classes: u64,
    /// Rows of the smallest class; fewest candidates in a non-homogeneous release.
    pub smallest: u64,
    /// Released rows.
    pub released: u64,
    /// Suppressed rows.
    pub suppressed: u64,
    /// The median relative error of the queries.
    pub error: Option<f64>,
    /// Seconds of the search alone.
    pub seconds: f64,
    /// Peak memory of the program during the search, in bytes, if the system reports it.
    pub peak: Option<u64>,
    /// How well each purpose column is predicted by a model that was trained on a release; empty
    /// without a purpose.
    pub purpose: Vec<PurposeResult>,
    /// The rules that the audit found violated; empty unless this library has a bug.
    pub broken: String,
}

impl ComparedRun {
    /// The numbers of the release; none when no release can satisfy the rules.
    pub fn numbers(&self) -> Option<&ReleaseNumbers> {
        match &self.result {
            RunResult::Met(numbers) => Some(numbers),
            RunResult::NotMet(_) => None,
        }
    }
}

impl ReleaseNumbers {
    /// Accuracy and AUC of models that were trained on a release, the mean over the purpose columns;
    /// none without a purpose.
    #[allow(clippy::cast_precision_loss, reason = "a few columns")]
    pub fn mean_scores(&self) -> Option<[f64; 2]> {
        let mean = |at: usize| {
            let sum: f64 = self.purpose.iter().map(|result| result.release[at].mean).sum();
            sum / self.purpose.len() as f64
        };
        (!self.purpose.is_empty()).then(|| [mean(0), mean(1)])
    }

    /// Loss over bound; none where there are rules that the bound does not know.
    pub fn gap(&self) -> Option<f64> {
        self.scope.gap(self.bound.as_ref(), self.loss.ncp)
    }
}

/// The request without the columns that only matter for publishing: kept columns and columns
/// without a role, but for those of the purpose.
pub(crate) fn without_kept(request: &Request, names: &[String]) -> Result<(Request, Roles)> {
    let mut request = Request { rest: request.rest.or(Some(Rest::Drop)), ..request.clone() };
    request.roles(names)?;
    let purpose = request.purpose.clone();
    for name in &purpose {
        let line = request.columns.entry(name.clone());
        line.or_insert_with(|| ColumnRequest::new(Role::Keep));
    }
    let is_purpose = |name: &String| purpose.contains(name);
    request
        .columns
        .retain(|name, line| is_purpose(name) || !matches!(line.role, Role::Keep | Role::Weight));
    request.rest = Some(Rest::Drop);
    request.accept_unique = false;
    request.output.order = Order::Canonical;
    let roles = request.roles(names)?;
    Ok((request, roles))
}

/// Reads the columns that any of the sets needs.
///
/// # Errors
/// When a set does not fit the table, or the table cannot be read.
pub fn read(source: Source, sets: &[RuleSet]) -> Result<Table> {
    let mut all = vec![Treatment::Skip; source.names().len()];
    for set in sets {
        let (request, roles) = without_kept(&set.request, source.names())
            .map_err(|error| without_names(error, &set.request, &source))?;
        set.ks
            .iter()
            .try_for_each(|&k| Request { k, ..request.clone() }.rules(&roles).map(|_| ()))?;
        for (all, one) in all.iter_mut().zip(problem::treatments(source.names(), &roles)) {
            *all = if *all == Treatment::CodeAndPassThrough || one == Treatment::Skip {
                *all
            } else {
                one
            };
        }
    }
    let mut table = source.read(&all)?;
    // The sets describe one table: a column is written in one way.
    let mut columns = BTreeMap::new();
    for (name, column) in sets.iter().flat_map(|set| &set.request.columns) {
        columns.entry(name.clone()).or_insert_with(|| column.clone());
    }
    let first = sets.first().map(|set| set.request.clone()).unwrap_or_default();
    let mut request = Request { columns, ..first };
    settle_forms(&mut table, &mut request)?;
    coarsen(&mut table, &request)?;
    Ok(table)
}

/// Makes all searches, until they are ended.
pub(super) fn measure(
    table: &Table,
    sets: &[RuleSet],
    plan: &ComparePlan,
    cancel: &Cancel,
    notify: &dyn Fn(Event<'_>),
) -> Result<Vec<ComparedRun>> {
    let names: Vec<String> = table.columns().iter().map(|column| column.name.clone()).collect();
    let mut searches_of = Vec::new();
    for set in sets {
        searches_of.push(RuleSetSearch::new(table, set, plan, &names, cancel, notify)?);
    }
    // An error of a later set is reported before the searches of the first.
    for (set, search_of) in sets.iter().zip(&searches_of).skip(1) {
        if let Some(&k) = set.ks.first() {
            drop(search_of.problem(k)?);
        }
    }
    let searches: usize = sets.iter().map(|set| set.ks.len() * plan.algorithms.len()).sum();
    let (mut runs, mut warned) = (Vec::new(), BTreeSet::new());
    for (set, search_of) in sets.iter().zip(&searches_of) {
        for &k in &set.ks {
            let run =
                |algorithm, result| ComparedRun { rules: set.name.clone(), k, algorithm, result };
            let (request, problem) = match search_of.problem(k)? {
                Ok(made) => made,
                Err(why) => {
                    runs.extend(
                        plan.algorithms
                            .iter()
                            .map(|&algorithm| run(algorithm, RunResult::NotMet(Arc::clone(&why)))),
                    );
                    continue;
                }
            };
            for warning in problem.warnings() {
                if warned.insert(warning.to_string()) {
                    notify(Event::Warning(warning));
                }
            }
            let quick = request.time()?.unwrap_or(USUAL_TIME);
            let mut known: Vec<(Effort, Option<Bound>)> = Vec::new();
            for &algorithm in &plan.algorithms {
                if is_ended(cancel)? {
                    return Ok(runs);
                }
                let number = runs.len() + 1;
                notify(Event::Search(SearchStep { number, searches, algorithm, k }));
                let effort = plan.bound.with(algorithm);
                if known.iter().all(|known| known.0 != effort) {
                    known.push((
                        effort,
                        lower_bound(&problem, plan.seed, effort, quick, cancel.search_flag()),
                    ));
                }
                if is_ended(cancel)? {
                    return Ok(runs);
                }
                let bound = known.iter().find(|known| known.0 == effort).and_then(|known| known.1);
                let numbers = search_of.run(&request, &problem, algorithm, bound)?;
                runs.push(run(algorithm, RunResult::Met(Box::new(numbers))));
            }
        }
    }
    Ok(runs)
}

/// True when the searches were ended, and what they found is wanted.
fn is_ended(cancel: &Cancel) -> Result<bool> {
    if cancel.is_abandoned() { Err(Error::interrupted()) } else { Ok(cancel.is_search_ended()) }
}

/// Table, request and queries of all searches under one set of rules.
struct RuleSetSearch<'a> {
    table: &'a Table,
    plan: &'a ComparePlan,
    cancel: &'a Cancel,
    request: Request,
    /// The columns of the request without the weights for its purpose.
    columns: BTreeMap<String, ColumnRequest>,
    roles: Roles,
    queries: Vec<Query>,
    /// For each row the split that tests it; empty without a purpose.
    folds: Vec<u32>,
}

impl<'a> RuleSetSearch<'a> {
    fn new(
        table: &'a Table,
        set: &RuleSet,
        plan: &'a ComparePlan,
        names: &[String],
        cancel: &'a Cancel,
        notify: &dyn Fn(Event<'_>),
    ) -> Result<RuleSetSearch<'a>> {
        // Columns that no set needs were not read.
        let mut request = set.request.clone();
        request.columns.retain(|name, _| names.contains(name));
        let (mut request, roles) = without_kept(&request, names)?;
        let columns = request.columns.clone();
        settle_purpose(table, &roles, &mut request)?;
        let folds = match roles.purpose.is_empty() {
            true => Vec::new(),
            false => fold_of_rows(table, &request, plan.seed),
        };
        let workload = Workload { queries: plan.queries, seed: plan.seed, ..Workload::default() };
        let queries = match plan.queries {
            0 => Vec::new(),
            _ => random_queries(table, &request, &workload, notify)?,
        };
        Ok(RuleSetSearch { table, plan, cancel, request, columns, roles, queries, folds })
    }

    /// The problem under this k, or why it has no solution.
    fn problem(
        &self,
        k: Option<u64>,
    ) -> Result<std::result::Result<(Request, Problem), Arc<Error>>> {
        let request = Request { k, seed: Some(self.plan.seed), ..self.request.clone() };
        match Problem::new(self.table, &self.roles, &request) {
            Ok(problem) => Ok(Ok((request, problem))),
            Err(error) if error.is_infeasible() => Ok(Err(Arc::new(error))),
            Err(error) => Err(error),
        }
    }

    fn run(
        &self,
        request: &Request,
        problem: &Problem,
        algorithm: Algorithm,
        bound: Option<Bound>,
    ) -> Result<ReleaseNumbers> {
        let request = request_for(request, algorithm, self.plan.seed);
        let search = search_options(&request, self.plan.seed, self.plan.techniques)?;
        let budget = Budget::new(time_limit(&request, search)?, self.cancel.search_flag());
        if algorithm.is_global() {
            refuse_changing(problem)?;
        }
        let is_measured = reset_peak();
        let begun = Instant::now();
        let outcome = solve(problem, search, &budget);
        let seconds = begun.elapsed().as_secs_f64();
        let peak = if is_measured { peak() } else { None };
        let mut numbers = ReleaseNumbers {
            status: outcome.status,
            loss: loss(problem, &outcome.recoding),
            bound,
            scope: BoundScope::of(&request, problem.persons().map(|persons| persons.reading)),
            classes: outcome.recoding.classes().len() as u64,
            smallest: 0,
            released: 0,
            suppressed: partition::rows(outcome.recoding.suppressed()),
            error: None,
            seconds,
            peak,
            purpose: Vec::new(),
            broken: String::new(),
        };
        self.audit(&request, problem, &outcome, &mut numbers)?;
        if !self.roles.purpose.is_empty() {
            numbers.purpose = purpose::measured(|split| self.split_scores(&request, split))?;
        }
        Ok(numbers)
    }

    /// Audits the release in memory, and answers the queries from it.
    fn audit(
        &self,
        request: &Request,
        problem: &Problem,
        outcome: &Outcome,
        numbers: &mut ReleaseNumbers,
    ) -> Result<()> {
        let audited =
            audit_outcome(self.table, &self.roles, request, problem, outcome, self.plan.seed)?;
        numbers.released = problem.row_count() - numbers.suppressed;
        (numbers.smallest, numbers.broken) = (audited.smallest, audited.broken);
        if let Some(released) = audited.released.filter(|_| !self.queries.is_empty()) {
            let answers = query::answer(self.table, &released, request, &self.queries)?;
            numbers.error = query::summarize(&answers).median_error;
        }
        Ok(())
    }
}

impl RuleSetSearch<'_> {
    /// Releases the rows of all other splits, with weights of their own, and predicts those of this
    /// one; none where the other rows have no release, or the searches were ended.
    fn split_scores(&self, request: &Request, split: u32) -> Result<Option<Vec<PurposeScore>>> {
        if is_ended(self.cancel)? {
            return Ok(None);
        }
        let is_tested: Vec<bool> = self.folds.iter().map(|&fold| fold == split).collect();
        let is_kept: Vec<bool> = is_tested.iter().map(|is_tested| !is_tested).collect();
        let part = self.table.of_rows(&is_kept);
        let mut request = Request { columns: self.columns.clone(), ..request.clone() };
        settle_purpose(&part, &self.roles, &mut request)?;
        let problem = match Problem::new(&part, &self.roles, &request) {
            Err(error) if error.is_infeasible() => return Ok(None),
            problem => problem?,
        };
        let search = search_options(&request, self.plan.seed, self.plan.techniques)?;
        let budget = Budget::new(time_limit(&request, search)?, self.cancel.search_flag());
        let outcome = solve(&problem, search, &budget);
        let seed = self.plan.seed;
        let audited = audit_outcome(&part, &self.roles, &request, &problem, &outcome, seed)?;
        let scored =
            |release| scores(self.table, &release, &self.roles, &request, Some(&is_tested));
        audited.released.map(scored).transpose()
    }
}

/// Resets the peak of this program's memory; false where the system cannot.
fn reset_peak() -> bool {
    std::fs::write("/proc/self/clear_refs", "5").is_ok()
}

/// The peak of this program's memory, in bytes.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}
