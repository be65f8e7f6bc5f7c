//! `lookalike report`: one page about a release, and the same numbers for machines.
//!
//! Nothing on the page is taken from whoever made the release: the judge reads the file and its
//! source, and every number is counted anew.

mod caveats;
mod numbers;
mod object;
mod page;
mod pictures;

use std::process::ExitCode;
use std::time::Duration;

use lookalike::audit::{self, View};
use lookalike::evaluate::profile::person_columns;
use lookalike::evaluate::query::{self, Workload};
use lookalike::table::{self, Existing, Pending};
use lookalike::{Problem, Request, Result};

use crate::NOT_MET;
use crate::args::{Edition, Global, Report};
use crate::cmd::verify::{quasi, read};
use crate::cmd::{write_secret, write_text};
use crate::files::{self, Output};
use crate::request::{self, usage};
use crate::{interrupt, measure, show, warn};
use lookalike::run::lower_bound;
use numbers::{Found, Guard};

/// How long to look for the bound with little effort.
const QUICK: Duration = Duration::from_secs(5);
/// Where the random counts come from.
const SEED: u64 = 1;

/// Runs the command.
pub(crate) fn run(args: &Report, global: &Global) -> Result<ExitCode> {
    let mut request = args.request.request()?;
    args.released.lay_over(&mut request);
    if request.non_homogeneous {
        return Err(usage(
            "report tells of classes, and a non-homogeneous release has none: lookalike verify judges it",
        ));
    }
    refuse_overlap(args, &request)?;
    // What cannot be written is found out before large tables are read.
    for path in [Some(&args.output), args.json.as_ref()].into_iter().flatten() {
        drop(Pending::beside(path, Existing::overwrite_if(args.force))?);
    }
    let opened = table::open(&args.source, request.input.delimiter)?;
    let roles = request::roles(&request, &opened)?;
    let persons = person_columns(opened.names(), &request);
    let treatments = audit::treatments(opened.names(), &request, View::Source);
    let (source, counted) = opened.read_and_count(&treatments, &persons)?;
    let warnings = warn::of_request(&request, &counted);
    warnings.iter().for_each(|warning| show::warning(warning));
    let release = read(&args.release, &request, View::ReleaseAgainstSource)?;
    let verdict = audit::audit_against(&release, &source, &request)?;
    let guard = match args.edition {
        Edition::Internal => Guard::None,
        Edition::Public => Guard::Below(request.k.unwrap_or(verdict.measures.k).max(2)),
    };
    // A file that does not hold may have cells that say nothing; the page is written all the same.
    let holds = verdict.holds();
    let or_none = |error| if holds { Err(error) } else { Ok(None) };
    let columns = query::columns(&source, &release, &request).map(Some).or_else(or_none)?;
    // For everybody, no answers of rows that were suppressed.
    let is_untold = guard != Guard::None && source.rows() as u64 != verdict.rows;
    let errors = if args.queries == 0 || columns.is_none() || is_untold {
        None
    } else {
        let counts = Workload { queries: args.queries, seed: SEED, ..Workload::default() };
        let asked = measure::queries(&source, &request, &counts, show::warning)?;
        (!asked.is_empty())
            .then(|| query::answer(&source, &release, &request, &asked))
            .transpose()?
            .map(|found| query::summarize(&found))
    };
    // Where no release is possible there is no bound; the verdict has said so already.
    let problem =
        Problem::new(&source, &roles, &Request { seed: Some(SEED), ..request.clone() }).ok();
    let bound = problem
        .and_then(|problem| lower_bound(&problem, SEED, args.bound, QUICK, interrupt::cancel()));
    let before = audit::measures(&source, &request)?;
    let quasi = quasi(&release, &request);
    let found =
        Found { verdict, before, columns, errors, bound, quasi, roles, counted, request: &request };
    let told = numbers::told(&found, guard, (&args.source, &args.release));
    let object = object::object(&told);
    // What is counted in the source is as secret as the source.
    let write = if guard == Guard::None { write_secret } else { write_text };
    if let Some(path) = &args.json {
        write(path, Existing::overwrite_if(args.force), &format!("{object:#}\n"))?;
    }
    write(&args.output, Existing::overwrite_if(args.force), &page::page(&told))?;
    if !global.quiet {
        show::say(&format!("{}\nwritten   {}", told.verdict, show::path(&args.output)));
        if guard == Guard::None {
            show::say(
                "note      this edition tells counts of the source: keep it as confidential as the source (--edition public)",
            );
        }
    }
    Ok(if holds { ExitCode::SUCCESS } else { ExitCode::from(NOT_MET) })
}

/// The page must not replace what it tells of, nor its numbers the page.
fn refuse_overlap(args: &Report, request: &Request) -> Result<()> {
    let mut reads = files::of_request(&args.request, request);
    reads.push(args.release.clone());
    let json = args.json.iter().map(|path| ("--json", path.as_path()));
    let outputs: Vec<Output> = std::iter::once(("-o", args.output.as_path())).chain(json).collect();
    files::refuse_overlap(&args.source, &reads, &outputs)
}
