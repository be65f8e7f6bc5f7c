//! The searches, one after the other, and what each found in numbers.

use std::collections::BTreeSet;
use std::time::Instant;

use lookalike::evaluate::loss::{Loss, loss};
use lookalike::evaluate::query::{self, Query, Workload};
use lookalike::problem::bound::Bound;
use lookalike::request::{Order, Rest, Role, Roles};
use lookalike::table::{Table, Treatment};
use lookalike::{
    Algorithm, Budget, Outcome, Problem, Request, Result, Status, Techniques, problem,
    problem::partition, solve, table,
};

use crate::progress::Progress;
use crate::request::without_names;
use crate::{interrupt, measure, pipeline};
use lookalike::run::{Effort, audit_outcome, lower_bound};

/// One set of rules.
#[derive(Debug)]
pub(super) struct RuleSet {
    /// What its rows are called.
    pub(super) name: String,
    pub(super) request: Request,
    /// Each k in turn; none where only other rules are asked for.
    pub(super) ks: Vec<Option<u64>>,
}

/// What is asked of every set of rules.
#[derive(Debug)]
pub(super) struct Wanted {
    pub(super) algorithms: Vec<Algorithm>,
    pub(super) techniques: Techniques,
    pub(super) bound: Effort,
    pub(super) seed: u64,
    pub(super) queries: u64,
}

/// One search.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) rules: String,
    pub(super) k: Option<u64>,
    pub(super) algorithm: Algorithm,
    pub(super) found: Found,
}

/// How it ended.
#[derive(Debug)]
pub(super) enum Found {
    /// A release was found.
    Met(Box<Numbers>),
    /// No release can meet the rules, and why.
    NotMet(String),
}

/// A release in numbers.
#[derive(Debug)]
pub(super) struct Numbers {
    pub(super) status: Status,
    pub(super) loss: Loss,
    pub(super) bound: Option<Bound>,
    /// Boxes, where rows do not stand in classes.
    pub(super) classes: u64,
    /// The least number of rows that a person could be.
    pub(super) smallest: u64,
    pub(super) released: u64,
    pub(super) left_out: u64,
    /// The median relative error of the queries.
    pub(super) error: Option<f64>,
    /// Of the search alone.
    pub(super) seconds: f64,
    /// Bytes of the whole program at most during the search, where the system tells.
    pub(super) peak: Option<u64>,
    /// What the judge found against it; empty unless this program has a bug.
    pub(super) broken: String,
}

impl Run {
    pub(super) fn numbers(&self) -> Option<&Numbers> {
        match &self.found {
            Found::Met(numbers) => Some(numbers),
            Found::NotMet(_) => None,
        }
    }
}

impl Numbers {
    /// Loss over bound.
    pub(super) fn gap(&self) -> Option<f64> {
        self.bound.and_then(|bound| bound.gap(self.loss.ncp))
    }
}

/// What is left of a configuration when nothing is published: kept columns are not looked at, nor
/// those without a role.
pub(super) fn looked_at(request: &Request, names: &[String]) -> Result<(Request, Roles)> {
    let mut request = Request { rest: request.rest.or(Some(Rest::Drop)), ..request.clone() };
    request.roles(names)?;
    request.columns.retain(|_, line| line.role != Role::Keep);
    request.rest = Some(Rest::Drop);
    request.output.order = Order::Canonical;
    let roles = request.roles(names)?;
    Ok((request, roles))
}

/// Reads what any of the sets looks at.
pub(super) fn read(source: table::Source, sets: &[RuleSet]) -> Result<Table> {
    let mut all = vec![Treatment::Skip; source.names().len()];
    for set in sets {
        let (request, roles) = looked_at(&set.request, source.names())
            .map_err(|error| without_names(error, &set.request, &source))?;
        set.ks
            .iter()
            .try_for_each(|&k| Request { k, ..request.clone() }.rules(&roles).map(|_| ()))?;
        for (all, one) in all.iter_mut().zip(problem::treatments(source.names(), &roles)) {
            *all =
                if *all == Treatment::CodeAndCarry || one == Treatment::Skip { *all } else { one };
        }
    }
    source.read(&all)
}

/// Runs everything, until somebody stops it.
pub(super) fn measure(
    table: &Table,
    sets: &[RuleSet],
    wanted: &Wanted,
    progress: &Progress,
) -> Result<Vec<Run>> {
    let names: Vec<String> = table.columns().iter().map(|column| column.name.clone()).collect();
    let mut grounds = Vec::new();
    for set in sets {
        grounds.push(Ground::new(table, set, wanted, &names, progress)?);
    }
    // A fault of a later set is told before the searches of the first.
    for (set, ground) in sets.iter().zip(&grounds).skip(1) {
        drop(ground.problem(set.ks[0])?);
    }
    let searches: usize = sets.iter().map(|set| set.ks.len() * wanted.algorithms.len()).sum();
    let (mut runs, mut warned) = (Vec::new(), BTreeSet::new());
    for (set, ground) in sets.iter().zip(&grounds) {
        for &k in &set.ks {
            let run = |algorithm, found| Run { rules: set.name.clone(), k, algorithm, found };
            let (request, problem) = match ground.problem(k)? {
                Ok(made) => made,
                Err(why) => {
                    runs.extend(
                        wanted
                            .algorithms
                            .iter()
                            .map(|&algorithm| run(algorithm, Found::NotMet(why.clone()))),
                    );
                    continue;
                }
            };
            let new: Vec<&String> = problem
                .warnings()
                .iter()
                .filter(|warning| warned.insert((*warning).clone()))
                .collect();
            new.into_iter().for_each(|warning| progress.warn(warning));
            let quick = request.time()?.unwrap_or(pipeline::USUAL_TIME);
            let mut known: Vec<(Effort, Option<Bound>)> = Vec::new();
            for &algorithm in &wanted.algorithms {
                if interrupt::is_cancelled() {
                    return Ok(runs);
                }
                let k = k.map_or(String::new(), |k| format!(", k = {k}"));
                progress.at(&format!("{} of {searches}: {algorithm}{k}", runs.len() + 1));
                let effort = wanted.bound.with(algorithm);
                if known.iter().all(|known| known.0 != effort) {
                    known.push((
                        effort,
                        lower_bound(&problem, wanted.seed, effort, quick, interrupt::cancel()),
                    ));
                }
                if interrupt::is_cancelled() {
                    return Ok(runs);
                }
                let bound = known.iter().find(|known| known.0 == effort).and_then(|known| known.1);
                let numbers = ground.run(&request, &problem, algorithm, bound)?;
                runs.push(run(algorithm, Found::Met(Box::new(numbers))));
            }
        }
    }
    Ok(runs)
}

/// What all searches under one set of rules share.
struct Ground<'a> {
    table: &'a Table,
    wanted: &'a Wanted,
    request: Request,
    roles: Roles,
    queries: Vec<Query>,
}

impl<'a> Ground<'a> {
    fn new(
        table: &'a Table,
        set: &RuleSet,
        wanted: &'a Wanted,
        names: &[String],
        progress: &Progress,
    ) -> Result<Ground<'a>> {
        // Columns that no set looks at were not read.
        let mut request = set.request.clone();
        request.columns.retain(|name, _| names.contains(name));
        let (request, roles) = looked_at(&request, names)?;
        let workload =
            Workload { queries: wanted.queries, seed: wanted.seed, ..Workload::default() };
        let queries = match wanted.queries {
            0 => Vec::new(),
            _ => measure::queries(table, &request, &workload, |why| progress.warn(why))?,
        };
        Ok(Ground { table, wanted, request, roles, queries })
    }

    /// The problem under this k, or why it has no solution.
    fn problem(&self, k: Option<u64>) -> Result<std::result::Result<(Request, Problem), String>> {
        let request = Request { k, seed: Some(self.wanted.seed), ..self.request.clone() };
        match Problem::new(self.table, &self.roles, &request) {
            Ok(problem) => Ok(Ok((request, problem))),
            Err(error) if error.is_infeasible() => Ok(Err(error.to_string())),
            Err(error) => Err(error),
        }
    }

    fn run(
        &self,
        request: &Request,
        problem: &Problem,
        algorithm: Algorithm,
        bound: Option<Bound>,
    ) -> Result<Numbers> {
        let request = measure::asking_for(request, algorithm, self.wanted.seed);
        let search = pipeline::search(&request, self.wanted.seed, self.wanted.techniques)?;
        let budget = Budget::new(pipeline::time(&request, search)?, interrupt::cancel());
        let is_told = forget_peak();
        let begun = Instant::now();
        let outcome = solve(problem, search, &budget);
        let seconds = begun.elapsed().as_secs_f64();
        let peak = if is_told { peak() } else { None };
        let mut numbers = Numbers {
            status: outcome.status,
            loss: loss(problem, &outcome.recoding),
            bound,
            classes: outcome.recoding.classes().len() as u64,
            smallest: 0,
            released: 0,
            left_out: partition::rows(outcome.recoding.suppressed()),
            error: None,
            seconds,
            peak,
            broken: String::new(),
        };
        self.judge(&request, problem, &outcome, &mut numbers)?;
        Ok(numbers)
    }

    /// Has the release judged, and asks it the queries.
    fn judge(
        &self,
        request: &Request,
        problem: &Problem,
        outcome: &Outcome,
        numbers: &mut Numbers,
    ) -> Result<()> {
        let judged =
            audit_outcome(self.table, &self.roles, request, problem, outcome, self.wanted.seed)?;
        (numbers.released, numbers.smallest, numbers.broken) =
            (judged.rows, judged.smallest, judged.broken);
        if let Some(released) = judged.released.filter(|_| !self.queries.is_empty()) {
            let answers = query::answer(self.table, &released, request, &self.queries)?;
            numbers.error = query::summarize(&answers).median_error;
        }
        Ok(())
    }
}

/// Lets the system measure the peak of this program's memory anew; false where it cannot.
fn forget_peak() -> bool {
    std::fs::write("/proc/self/clear_refs", "5").is_ok()
}

/// The peak of this program's memory, in bytes.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}
