//! `lookalike compare`: algorithms, k and rules on one table, as a table, as files and as pictures.

mod measure;
mod pictures;
mod tell;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::str::FromStr;

use lookalike::table::{self, Pending};
use lookalike::{Algorithm, Error, ErrorKind, Request, Result};

use crate::args::{Compare, Global};
use crate::cmd::write_secret;
use crate::files::{self, Output};
use crate::progress::Progress;
use crate::request::{self, usage};
use crate::{BUG, INTERRUPTED, NOT_MET, interrupt, pipeline, show};
use measure::{RuleSet, Run, Wanted};

/// The seed when nobody names one: nothing is published that it could give away.
const SEED: u64 = 1;

/// Runs the command.
pub(crate) fn run(args: &Compare, global: &Global) -> Result<ExitCode> {
    let sets = sets(args)?;
    let wanted = Wanted {
        algorithms: algorithms(args, &sets, global)?,
        techniques: args.how.techniques(),
        bound: args.how.bound,
        seed: args.seed.or(sets[0].request.seed).unwrap_or(SEED),
        queries: args.queries,
    };
    for set in &sets {
        check(set, &wanted)?;
    }
    let data = data(args, &sets)?;
    let pictures = pictures::names(args.plots.as_deref(), &sets);
    refuse(args, &sets, &data, &pictures)?;

    let mut progress = Progress::new(global.quiet);
    progress.stage("read");
    let table = measure::read(table::open(&data, sets[0].request.input.delimiter)?, &sets)?;
    if let Some(folder) = &args.plots {
        std::fs::create_dir_all(folder)
            .map_err(|source| Error::from(ErrorKind::Io { path: folder.clone(), source }))?;
    }
    progress.stage("compare");
    let runs = interrupt::during_search(interrupt::COMPARISON, || {
        measure::measure(&table, &sets, &wanted, &progress)
    })?;
    progress.end();
    let printed = tell(args, &sets, &wanted, &runs, table.rows());
    show::verdict(printed, ended(&runs))
}

/// The files that were asked for, and the table, CSV or JSON.
fn tell(
    args: &Compare,
    sets: &[RuleSet],
    wanted: &Wanted,
    runs: &[Run],
    rows: usize,
) -> Result<()> {
    let csv = args.csv.as_deref();
    if let Some(path) = csv {
        write_secret(path, lookalike::table::Existing::overwrite_if(args.force), &tell::csv(runs))?;
    }
    if let Some(folder) = &args.plots {
        for (name, picture) in pictures::draw(sets, &wanted.algorithms, runs) {
            write_secret(
                &folder.join(name),
                lookalike::table::Existing::overwrite_if(args.force),
                &picture,
            )?;
        }
    }
    match () {
        () if args.json => show::json(&tell::json(runs, rows, wanted.queries)),
        () if csv == Some(Path::new("-")) => Ok(()),
        () => show::print(&tell::table(runs, sets.len() > 1, wanted.queries > 0)),
    }
}

/// The exit code of what was found.
fn ended(runs: &[Run]) -> u8 {
    let broken = runs
        .iter()
        .filter_map(|run| Some((run, &run.numbers()?.broken)))
        .find(|(_, broken)| !broken.is_empty());
    match broken {
        Some((run, broken)) => {
            let k = run.k.map_or(String::new(), |k| format!(" with k = {k}"));
            show::error(&format!(
                "this is a bug in lookalike: what {}{k} found does not hold: {broken}; please report it with the command that you ran",
                run.algorithm
            ));
            BUG
        }
        None if interrupt::is_cancelled() => INTERRUPTED,
        None if runs.iter().all(|run| run.numbers().is_none()) => NOT_MET,
        None => 0,
    }
}

/// One set of rules a configuration file, or the one of the flags.
fn sets(args: &Compare) -> Result<Vec<RuleSet>> {
    let stem = |path: &PathBuf| {
        path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
    };
    let stems: Vec<String> = args.config.iter().map(stem).collect();
    let set = |at: usize, mut request: Request| {
        request::lay_over(&mut request, &args.reading, &args.columns, &args.rules)?;
        args.how.lay_over(&mut request)?;
        let mut ks: Vec<Option<u64>> = args.ks.iter().copied().map(Some).collect();
        ks.sort_unstable();
        ks.dedup();
        let ks = if ks.is_empty() { vec![request.k] } else { ks };
        let name = match stems.get(at) {
            Some(stem) if stems.iter().filter(|other| *other == stem).count() > 1 => {
                args.config[at].display().to_string()
            }
            stem => stem.cloned().unwrap_or_default(),
        };
        Ok(RuleSet { name, request, ks })
    };
    if let Some(path) = args
        .config
        .iter()
        .enumerate()
        .find_map(|(at, path)| args.config[..at].contains(path).then_some(path))
    {
        return Err(usage(format!(
            "{} is named twice: each set of rules needs a file of its own",
            path.display()
        )));
    }
    if args.config.is_empty() {
        return Ok(vec![set(0, Request::default())?]);
    }
    args.config.iter().enumerate().map(|(at, path)| set(at, Request::read(path)?)).collect()
}

/// The one table that all sets are about.
fn data(args: &Compare, sets: &[RuleSet]) -> Result<PathBuf> {
    let input = |set: &RuleSet| {
        (
            set.request.input.path.clone().filter(|_| args.data.is_none()),
            set.request.input.delimiter,
        )
    };
    if sets.iter().any(|set| input(set) != input(&sets[0])) {
        return Err(usage(
            "the configurations name different tables or delimiters: name one table, lookalike compare DATA -c ...",
        ));
    }
    request::data(args.data.as_ref(), &sets[0].request)
}

/// What was asked for, in the order of the list of all.
fn algorithms(args: &Compare, sets: &[RuleSet], global: &Global) -> Result<Vec<Algorithm>> {
    let is_all = args.algorithms.iter().any(|name| name == "all");
    let allows_others = sets.iter().any(|set| set.request.non_homogeneous);
    let is_wanted = |algorithm: &Algorithm| match () {
        () if is_all => algorithm.is_homogeneous() || allows_others,
        () if args.algorithms.is_empty() => {
            algorithm.is_homogeneous()
                && !algorithm.is_global()
                && !algorithm.name().ends_with("-row")
        }
        () => args.algorithms.iter().any(|name| Algorithm::from_str(name) == Ok(*algorithm)),
    };
    let chosen: Vec<Algorithm> = Algorithm::ALL.into_iter().filter(is_wanted).collect();
    let others = || Algorithm::ALL.into_iter().filter(|algorithm| !algorithm.is_homogeneous());
    if is_all && !allows_others && !global.quiet {
        others().for_each(|algorithm| {
            show::say(&format!(
                "{algorithm} is left out: its releases are non-homogeneous (--non-homogeneous)"
            ))
        });
    }
    if !allows_others
        && let Some(algorithm) = chosen.iter().find(|algorithm| !algorithm.is_homogeneous())
    {
        // Says what that means.
        let request =
            Request { algorithm: Some(algorithm.name().to_string()), ..Request::default() };
        pipeline::search(&request, SEED, args.how.techniques())?;
    }
    if args.how.non_homogeneous && chosen.iter().all(|algorithm| algorithm.is_homogeneous()) {
        return Err(usage(
            "--non-homogeneous goes with ring: --algorithms all, or a list with ring in it",
        ));
    }
    let of_blocks =
        [("--scheme", !args.how.scheme.is_empty()), ("--cost", args.how.cost.is_some())];
    match of_blocks.into_iter().find(|(_, is_given)| *is_given) {
        Some((flag, _)) if !chosen.iter().any(|algorithm| algorithm.is_global()) => {
            Err(usage(format!(
                "{flag} is about global algorithms, and none is compared: --algorithms all, or a list with optimal"
            )))
        }
        _ => Ok(chosen),
    }
}

/// Finds out what makes no sense before anything is read.
fn check(set: &RuleSet, wanted: &Wanted) -> Result<()> {
    set.request.suppress()?;
    set.request.time()?;
    for &algorithm in &wanted.algorithms {
        pipeline::search(
            &crate::measure::asking_for(&set.request, algorithm, wanted.seed),
            wanted.seed,
            wanted.techniques,
        )?;
    }
    Ok(())
}

/// Files that could not be written in the end.
fn refuse(args: &Compare, sets: &[RuleSet], data: &Path, pictures: &[PathBuf]) -> Result<()> {
    if args.json && args.csv.as_deref() == Some(Path::new("-")) {
        return Err(usage(
            "--json and --csv - would both go to standard output: name a file for one, --csv FILE",
        ));
    }
    let reads = files::read_by(&args.config, &args.columns, sets.iter().map(|set| &set.request));
    let pictures = pictures
        .iter()
        .filter(|path| path.parent().is_some_and(Path::exists))
        .map(|path| ("--plots", path.as_path()));
    let outputs: Vec<Output> =
        args.csv.iter().map(|path| ("--csv", path.as_path())).chain(pictures).collect();
    files::refuse_overlap(data, &reads, &outputs)?;
    for (_, path) in outputs {
        drop(Pending::beside(path, lookalike::table::Existing::overwrite_if(args.force))?);
    }
    Ok(())
}
