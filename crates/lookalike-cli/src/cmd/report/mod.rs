//! `lookalike report`: one page about a release, and the same numbers as JSON.
//!
//! No number on the page comes from the run that made the release: the audit reads the file and its
//! source, and every number is counted again.

mod caveats;
mod counts;
mod loss;
mod numbers;
mod object;
mod page;
mod persons;
mod pictures;
mod risk;
mod unchanged;

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use lookalike::audit::{self, AuditView};
use lookalike::evaluate::profile::person_columns;
use lookalike::evaluate::query::{self, Workload};
use lookalike::evaluate::uniqueness::unique_rows;
use lookalike::table::{self, Access, Existing, Pending};
use lookalike::{Problem, Request, Result};

use crate::NOT_MET;
use crate::args::{Edition, GlobalArgs, ReportArgs};
use crate::cmd::verify::quasi;
use crate::files;
use crate::persons::{ProofFile, read_proof};
use crate::request::usage;
use crate::{hints, interrupt, measure, show};
use counts::CountPolicy;
use lookalike::run::{
    lower_bound, read_for_audit, refuse_overlap, request_warnings, roles as roles_of,
};
use numbers::ReportInput;

/// The time for a quick lower bound.
const QUICK: Duration = Duration::from_secs(5);
/// The seed of the random counts.
const SEED: u64 = 1;

pub(crate) fn run(args: &ReportArgs, global: &GlobalArgs) -> Result<ExitCode> {
    let mut request = args.request.request()?;
    args.released.apply_to(&mut request);
    args.risk.apply_to(&mut request);
    request.sampling_fraction()?;
    if request.non_homogeneous {
        return Err(usage(
            "report describes classes, and a non-homogeneous release has none: use lookalike verify",
        ));
    }
    refuse_outputs(args, &request)?;
    // Outputs that cannot be written are refused before large tables are read.
    for path in [Some(&args.output), args.json.as_ref()].into_iter().flatten() {
        drop(Pending::beside(path, Existing::overwrite_if(args.force))?);
    }
    let opened = table::open(&args.source, request.input.delimiter)?;
    let roles = roles_of(&request, &opened)?;
    let persons = person_columns(opened.names(), &request);
    let treatments = audit::treatments(opened.names(), &request, AuditView::Source);
    let (source, counted) = opened.read_and_count(&treatments, &persons)?;
    let warnings = request_warnings(&request, &counted);
    warnings.iter().for_each(|warning| show::warning(&hints::warning(warning)));
    let release = read_for_audit(&args.release, &request, AuditView::ReleaseAgainstSource)?;
    let verdict = match args.proof.as_deref().map(|path| read_proof(path, &request)).transpose()? {
        Some(ProofFile::Origins(origins)) => {
            audit::audit_persons(&release, &source, &request, &origins)?
        }
        Some(ProofFile::Rings(_)) => {
            return Err(usage("the proof is of a non-homogeneous release: use lookalike verify"));
        }
        None => audit::audit_against(&release, &source, &request)?,
    };
    let policy = match args.edition {
        Edition::Internal => CountPolicy::Exact,
        Edition::Public => CountPolicy::Guarded(request.k.unwrap_or(verdict.measures.k).max(2)),
    };
    let verdict = persons::disclosed(verdict, &request, policy);
    // A file that violates the rules may have unreadable cells; the page is written anyway.
    let holds = verdict.holds();
    let or_none = |error| if holds { Err(error) } else { Ok(None) };
    let columns = query::columns(&source, &release, &request).map(Some).or_else(or_none)?;
    // The public edition has no query errors when rows were suppressed.
    let before = audit::measures(&source, &request)?;
    let is_hidden = policy != CountPolicy::Exact && before.rows != verdict.measures.rows;
    let errors = if args.queries == 0 || columns.is_none() || is_hidden {
        None
    } else {
        let counts = Workload { queries: args.queries, seed: SEED, ..Workload::default() };
        let queries = measure::queries(&source, &request, &counts, show::warning)?;
        (!queries.is_empty())
            .then(|| query::answer(&source, &release, &request, &queries))
            .transpose()?
            .map(|found| query::summarize(&found))
    };
    // If no release is possible there is no bound; the verdict says so already.
    let problem =
        Problem::new(&source, &roles, &Request { seed: Some(SEED), ..request.clone() }).ok();
    // The page counts the loss of rows; where persons count, the bound counts these.
    let bound = problem
        .filter(|problem| problem.persons().is_none())
        .and_then(|problem| lower_bound(&problem, SEED, args.bound, QUICK, interrupt::cancel()));
    let quasi = quasi(&release, &request);
    let unchanged: Vec<String> = roles.keep.iter().chain(&roles.sensitive).cloned().collect();
    let unique = match unique_rows(&release, &request, &unchanged) {
        Err(_) if !holds => None,
        unique => unique?,
    };
    let risk = match policy {
        CountPolicy::Exact => Some(risk::measured(&source, &release, &roles, &request, holds)?),
        CountPolicy::Guarded(_) => None,
    };
    let input = ReportInput {
        verdict,
        before,
        columns,
        errors,
        bound,
        unique,
        quasi,
        roles,
        counted,
        request: &request,
    };
    let mut numbers = numbers::report_numbers(&input, policy, (&args.source, &args.release));
    numbers.risk_measures = risk;
    let object = object::object(&numbers);
    // Counts of the source are as secret as the source.
    let access = if policy == CountPolicy::Exact { Access::Owner } else { Access::Usual };
    let existing = Existing::overwrite_if(args.force);
    if let Some(path) = &args.json {
        table::write_text(path, existing, access, &format!("{object:#}\n"))?;
    }
    table::write_text(&args.output, existing, access, &page::page(&numbers))?;
    if !global.quiet {
        show::say(&format!("{}\nwritten   {}", numbers.verdict, show::path(&args.output)));
        if policy == CountPolicy::Exact {
            show::say(
                "note      this edition has counts of the source: keep it as confidential as the \
                 source, or use --edition public",
            );
        }
    }
    Ok(if holds { ExitCode::SUCCESS } else { ExitCode::from(NOT_MET) })
}

/// The page must replace neither source nor release, and its numbers not the page.
fn refuse_outputs(args: &ReportArgs, request: &Request) -> Result<()> {
    let mut reads = files::of_request(&args.request, request);
    reads.extend(request.risk.population.clone());
    reads.push(args.release.clone());
    reads.extend(args.proof.clone());
    let json = args.json.iter().map(|path| ("--json", path.as_path()));
    let outputs: Vec<(&str, &Path)> =
        std::iter::once(("-o", args.output.as_path())).chain(json).collect();
    refuse_overlap(Some(&args.source), &reads, &outputs)
}
