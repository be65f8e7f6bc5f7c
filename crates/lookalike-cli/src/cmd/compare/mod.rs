//! `lookalike compare`: algorithms, k and rules on one table; prints a table, writes files and plots.

mod table;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::str::FromStr;

use lookalike::run::{refuse_overlap, search_options};
use lookalike::table::{Access, Existing, Pending, ReadOptions, open, write_text};
use lookalike::{Algorithm, Error, Request, Result};
use lookalike_report::Event;
use lookalike_report::compare::{
    ComparePlan, ComparedRun, Comparison, RuleSet, check_sets, compare, plot_names, plots, read,
    usual_algorithms,
};

use crate::args::{CompareArgs, GlobalArgs};
use crate::files;
use crate::progress::StageProgress;
use crate::request::{self, usage};
use crate::{BUG, INTERRUPTED, NOT_MET, hints, interrupt, show};
use table::TableColumns;

/// The default seed: nothing is published that it could disclose.
const SEED: u64 = 1;

pub(crate) fn run(args: &CompareArgs, global: &GlobalArgs) -> Result<ExitCode> {
    let sets = sets(args)?;
    let plan = ComparePlan {
        algorithms: algorithms(args, &sets, global)?,
        techniques: args.how.techniques(),
        bound: args.how.bound,
        seed: args.seed.or(sets[0].request.seed).unwrap_or(SEED),
        queries: args.queries,
    };
    check_sets(&sets, &plan)?;
    let data = data(args, &sets)?;
    refuse(args, &sets, &data)?;

    let mut progress = StageProgress::new(global.quiet);
    progress.stage("read");
    let table = read(open(&data, &sets[0].request.input)?, &sets)?;
    if let Some(folder) = &args.plots {
        std::fs::create_dir_all(folder).map_err(|source| Error::io(folder, source))?;
    }
    progress.stage("compare");
    let found = interrupt::during_search(interrupt::COMPARISON, || {
        compare(&table, &sets, &plan, interrupt::of_run(), &|event| watch(&progress, event))
    })?;
    progress.end();
    let printed = output(args, &sets, &plan, &found);
    show::verdict(printed, ended(&found.runs))
}

/// Shows the search that runs, and warnings.
fn watch(progress: &StageProgress, event: Event<'_>) {
    if let Event::Search(step) = event {
        let k = step.k.map_or(String::new(), |k| format!(", k = {k}"));
        progress.at(&format!("{} of {}: {}{k}", step.number, step.searches, step.algorithm));
    }
    if let Some((_, message)) = event.warning(hints::words) {
        progress.warn(&message);
    }
}

/// Writes the files, and prints the table, CSV or JSON.
fn output(
    args: &CompareArgs,
    sets: &[RuleSet],
    plan: &ComparePlan,
    found: &Comparison,
) -> Result<()> {
    let csv = args.csv.as_deref();
    let existing = Existing::overwrite_if(args.force);
    if let Some(path) = csv {
        write_text(path, existing, Access::Owner, &found.csv(hints::words))?;
    }
    if let Some(folder) = &args.plots {
        for (name, plot) in plots(sets, plan, found) {
            write_text(&folder.join(name), existing, Access::Owner, &plot)?;
        }
    }
    if args.json {
        show::json(&found.json(hints::words))
    } else if csv == Some(Path::new("-")) {
        Ok(())
    } else {
        let columns = TableColumns { rules: sets.len() > 1, query_error: plan.queries > 0 };
        let purpose = table::purpose_lines(&found.runs);
        show::print(&(table::table(&found.runs, columns) + &purpose))
    }
}

/// The exit code of the comparison.
fn ended(runs: &[ComparedRun]) -> u8 {
    let broken = runs
        .iter()
        .filter_map(|run| Some((run, &run.numbers()?.broken)))
        .find(|(_, broken)| !broken.is_empty());
    match broken {
        Some((run, broken)) => {
            let k = run.k.map_or(String::new(), |k| format!(" with k = {k}"));
            let what = format!("the release of {}{k} fails the audit: {broken}", run.algorithm);
            show::error(&show::bug(&what));
            BUG
        }
        None if interrupt::is_cancelled() => INTERRUPTED,
        None if runs.iter().all(|run| run.numbers().is_none()) => NOT_MET,
        None => 0,
    }
}

/// One set of rules for each configuration file, or the one of the flags.
fn sets(args: &CompareArgs) -> Result<Vec<RuleSet>> {
    let stem = |path: &PathBuf| {
        path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
    };
    let stems: Vec<String> = args.config.iter().map(stem).collect();
    let set = |at: usize, mut request: Request| {
        request::override_by(&mut request, &args.reading, &args.columns, &args.rules)?;
        args.how.apply_to(&mut request)?;
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
            "{} is named twice: name each configuration file once",
            path.display()
        )));
    }
    if args.config.is_empty() {
        return Ok(vec![set(0, Request::default())?]);
    }
    args.config.iter().enumerate().map(|(at, path)| set(at, Request::read(path)?)).collect()
}

/// The one table of all sets.
fn data(args: &CompareArgs, sets: &[RuleSet]) -> Result<PathBuf> {
    let input = |set: &RuleSet| {
        (
            set.request.input.path.clone().filter(|_| args.data.is_none()),
            ReadOptions::from(&set.request.input),
        )
    };
    if sets.iter().any(|set| input(set) != input(&sets[0])) {
        return Err(usage(
            "the configurations have different tables, or ways to read them: name one table, lookalike \
             compare DATA -c ...",
        ));
    }
    request::data(args.data.as_ref(), &sets[0].request)
}

/// The algorithms to compare, in the order of [`Algorithm::ALL`].
fn algorithms(args: &CompareArgs, sets: &[RuleSet], global: &GlobalArgs) -> Result<Vec<Algorithm>> {
    let is_all = args.algorithms.iter().any(|name| name == "all");
    let allows_others = sets.iter().any(|set| set.request.non_homogeneous);
    let is_wanted = |algorithm: &Algorithm| {
        if is_all {
            algorithm.is_homogeneous() || allows_others
        } else if args.algorithms.is_empty() {
            usual_algorithms().contains(algorithm)
        } else {
            args.algorithms.iter().any(|name| Algorithm::from_str(name) == Ok(*algorithm))
        }
    };
    let chosen: Vec<Algorithm> = Algorithm::ALL.into_iter().filter(is_wanted).collect();
    let others = || Algorithm::ALL.into_iter().filter(|algorithm| !algorithm.is_homogeneous());
    if is_all && !allows_others && !global.quiet {
        others().for_each(|algorithm| {
            show::say(&format!(
                "{algorithm} is not compared: its releases are non-homogeneous (add \
                 --non-homogeneous)"
            ))
        });
    }
    if !allows_others
        && let Some(algorithm) = chosen.iter().find(|algorithm| !algorithm.is_homogeneous())
    {
        // The error explains non-homogeneous releases.
        let request =
            Request { algorithm: Some(algorithm.name().to_string()), ..Request::default() };
        search_options(&request, SEED, args.how.techniques())?;
    }
    if args.how.non_homogeneous && chosen.iter().all(|algorithm| algorithm.is_homogeneous()) {
        return Err(usage(
            "--non-homogeneous needs ring: use --algorithms all, or a list with ring",
        ));
    }
    let of_blocks =
        [("--scheme", !args.how.scheme.is_empty()), ("--cost", args.how.cost.is_some())];
    match of_blocks.into_iter().find(|(_, is_given)| *is_given) {
        Some((flag, _)) if !chosen.iter().any(|algorithm| algorithm.is_global()) => {
            Err(usage(format!(
                "{flag} needs a global algorithm, and none is compared: use --algorithms all, or a \
                 list with optimal"
            )))
        }
        _ => Ok(chosen),
    }
}

/// Refuses outputs that could not be written in the end.
fn refuse(args: &CompareArgs, sets: &[RuleSet], data: &Path) -> Result<()> {
    if args.json && args.csv.as_deref() == Some(Path::new("-")) {
        return Err(usage(
            "--json and --csv - would both go to standard output: name a file for the CSV, --csv FILE",
        ));
    }
    let reads = files::read_by(&args.config, &args.columns, sets.iter().map(|set| &set.request));
    let names = plot_names(sets);
    let plots: Vec<PathBuf> =
        args.plots.iter().flat_map(|folder| names.iter().map(|name| folder.join(name))).collect();
    let plots = plots
        .iter()
        .filter(|path| path.parent().is_some_and(Path::exists))
        .map(|path| ("--plots", path.as_path()));
    let outputs: Vec<(&str, &Path)> =
        args.csv.iter().map(|path| ("--csv", path.as_path())).chain(plots).collect();
    refuse_overlap(Some(data), &reads, &outputs)?;
    for (_, path) in outputs {
        drop(Pending::beside(path, Existing::overwrite_if(args.force))?);
    }
    Ok(())
}
