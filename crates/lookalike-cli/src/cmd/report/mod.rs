//! `lookalike report`: one page about a release, and the same numbers for machines.
//!
//! Nothing on the page is taken from whoever made the release: the judge reads the file and its source, and every number is counted anew.

mod caveats;
mod numbers;
mod object;
mod page;
mod pictures;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use lookalike::audit::{self, View};
use lookalike::config::HierarchyConfig;
use lookalike::io::{self, Pending};
use lookalike::query::{self, Look, Workload};
use lookalike::{Config, ErrorKind, Problem, Result};

use crate::NOT_MET;
use crate::args::{Edition, Global, Report};
use crate::bounds;
use crate::cmd::verify::{quasi, read};
use crate::cmd::write_text;
use crate::request::usage;
use crate::show;
use numbers::{Found, Guard};

/// How long to look for the bound with little effort.
const QUICK: Duration = Duration::from_secs(5);
/// Where the random counts come from.
const SEED: u64 = 1;

/// Runs the command.
pub(crate) fn run(args: &Report, global: &Global) -> Result<ExitCode> {
    let config = args.request.config()?;
    if config.non_homogeneous {
        return Err(usage("report tells of classes, and a non-homogeneous release has none: lookalike verify judges it"));
    }
    refuse_same(args, &config)?;
    // What cannot be written is found out before large tables are read.
    for path in [Some(&args.output), args.json.as_ref()].into_iter().flatten() {
        drop(Pending::beside(path, args.force)?);
    }
    let names = io::open(&args.source, config.input.delimiter)?.names().to_vec();
    let roles = config.roles(&names)?;
    let source = read(&args.source, &config, View::Source)?;
    let release = read(&args.release, &config, View::ReleaseAgainstSource)?;
    let verdict = audit::audit_against(&release, &source, &config)?;
    let guard = match args.edition {
        Edition::Internal => Guard::None,
        Edition::Public => Guard::Below(config.k.unwrap_or(verdict.measures.k).max(2)),
    };
    let look = match guard {
        Guard::None => Look::Everything,
        Guard::Below(least) => Look::Published { least },
    };
    // A file that does not hold may have cells that say nothing; the page is written all the same.
    let holds = verdict.holds();
    let or_none = |error| if holds { Err(error) } else { Ok(None) };
    let columns = query::columns(&source, &release, &config, look).map(Some).or_else(or_none)?;
    let errors = if args.queries == 0 || columns.is_none() {
        None
    } else {
        let counts = Workload { queries: args.queries, seed: SEED, ..Workload::default() };
        match query::draw(&source, &config, &counts) {
            Ok(asked) => Some(query::summarize(&query::answer(&source, &release, &config, &asked)?)),
            // On a wide table hardly any random query has an answer; the page does without.
            Err(error) if matches!(error.kind(), ErrorKind::Config { .. }) => {
                show::warning(&format!("no queries are asked: {error}"));
                None
            }
            Err(error) => return Err(error),
        }
    };
    // Where no release is possible there is no bound; the verdict has said so already.
    let problem = Problem::new(&source, &roles, &config).ok();
    let bound = problem.and_then(|problem| bounds::bound_of(&problem, SEED, args.bound, QUICK));
    let before = audit::measures(&source, &config)?;
    let quasi = quasi(&release, &config);
    let found = Found { verdict, before, columns, errors, bound, quasi, roles, config: &config };
    let told = numbers::told(&found, guard, (&args.source, &args.release));
    let object = object::object(&told);
    if let Some(path) = &args.json {
        write_text(path, args.force, &format!("{object:#}\n"))?;
    }
    write_text(&args.output, args.force, &page::page(&told))?;
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
fn refuse_same(args: &Report, config: &Config) -> Result<()> {
    // Of a file that is not there yet, the place of its folder.
    let place = |path: &Path| {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        std::fs::canonicalize(path)
            .or_else(|_| Ok::<_, std::io::Error>(std::fs::canonicalize(folder)?.join(path.file_name().unwrap_or_default())))
            .ok()
    };
    let hierarchies = config.columns.values().filter_map(|column| match &column.hierarchy {
        Some(HierarchyConfig::File(path)) => Some(path.as_path()),
        _ => None,
    });
    let read =
        [Some(&args.source), Some(&args.release), args.request.config.as_ref()].into_iter().flatten().map(PathBuf::as_path);
    let read: Vec<_> = read.chain(hierarchies).filter_map(place).collect();
    let written: Vec<_> = [Some(&args.output), args.json.as_ref()].into_iter().flatten().map(|path| place(path)).collect();
    if written.iter().flatten().any(|path| read.contains(path)) {
        return Err(usage("the report would replace a file that it is about: name another, -o FILE"));
    }
    match &written[..] {
        [Some(page), Some(json)] if page == json => Err(usage("the page and its numbers need a file each: --json FILE")),
        _ => Ok(()),
    }
}
