//! The way from a table to a verified release: read, encode, find a recoding, write, verify.
//! Nothing is published that did not pass.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use lookalike::audit::{self, Proof, Verdict, View};
use lookalike::evaluate::disclosure::disclosures;
use lookalike::evaluate::loss::{self, Loss, Shown};
use lookalike::evaluate::profile::person_columns;
use lookalike::problem::bound::Bound;
use lookalike::problem::treatments;
use lookalike::release::recoding_file::{self, RecodingFile};
use lookalike::release::{self, Cells, Release};
use lookalike::request::{Order, Publish, Roles};
use lookalike::rng::Key;
use lookalike::table::Table;
use lookalike::table::{self, Access, Existing, FileType, Format, Pending};
use lookalike::{
    Algorithm, Budget, Cost, Error, ErrorKind, Optimum, Outcome, Problem, Request, Result,
    SearchOptions, Status, Techniques, problem::partition, release::proof,
};

use crate::files::{self, Output};
use crate::progress::Progress;
use crate::request::{self, usage};
use crate::{interrupt, show, warn};
use lookalike::run::{Effort, lower_bound, sharper, solve_in_time};

/// What to make out of what.
#[derive(Debug)]
pub(crate) struct Job<'a> {
    pub(crate) request: &'a Request,
    pub(crate) data: &'a Path,
    /// What the request reads beside the data.
    pub(crate) reads: Vec<PathBuf>,
    pub(crate) out: &'a Path,
    pub(crate) force: bool,
    pub(crate) seed: u64,
    pub(crate) way: Way<'a>,
}

/// Where the recoding comes from.
#[derive(Debug)]
pub(crate) enum Way<'a> {
    /// It is searched for.
    Search(Wanted<'a>),
    /// It stands in a file, which was read before.
    Apply { file: &'a RecodingFile },
}

/// What a search is asked for beside what the configuration says.
#[derive(Debug, Default)]
pub(crate) struct Wanted<'a> {
    /// How `optimal` goes about it.
    pub(crate) techniques: Techniques,
    /// How long to look for what no release can lose less than.
    pub(crate) bound: Effort,
    /// Where the proof of a non-homogeneous release goes, if it is wanted.
    pub(crate) proof: Option<&'a Path>,
    /// Where a global recoding goes, if it is wanted.
    pub(crate) recoding: Option<&'a Path>,
}

impl Job<'_> {
    /// The files that it writes.
    fn outputs(&self) -> Vec<Output<'_>> {
        let secrets = match &self.way {
            Way::Search(wanted) => [("--proof", wanted.proof), ("--recoding", wanted.recoding)],
            Way::Apply { .. } => [("--proof", None), ("--recoding", None)],
        };
        let secrets = secrets.into_iter().filter_map(|(flag, path)| Some((flag, path?)));
        std::iter::once(("-o", self.out)).chain(secrets).collect()
    }
}

/// A run in numbers.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) search: Searched,
    pub(crate) guarded: u64,
    /// What the judge found in the written file.
    pub(crate) verdict: Verdict,
    /// False when the judge found something: then the file is gone.
    pub(crate) published: bool,
}

/// What is known before anything is written.
#[derive(Debug)]
pub(crate) struct Searched {
    pub(crate) rows: u64,
    pub(crate) suppressed: u64,
    /// None when the recoding came from a file.
    pub(crate) algorithm: Option<Algorithm>,
    pub(crate) status: Status,
    pub(crate) loss: Loss,
    /// What the cells of each quasi-identifier show, also of those that the loss does not count.
    pub(crate) shown: Vec<Shown>,
    /// What no local recoding loses less than.
    pub(crate) bound: Option<Bound>,
    /// Cost and bound of a global recoding.
    pub(crate) optimum: Option<Optimum>,
    /// The quasi-identifiers, in the order of the loss by attribute.
    pub(crate) quasi: Vec<String>,
    pub(crate) coded_bytes: usize,
    /// Distinct rows, as far as the rules look.
    pub(crate) tuples: usize,
    pub(crate) warnings: Vec<String>,
}

/// A release before it is written.
struct Found {
    release: Release,
    /// Of a release that is not homogeneous.
    proof: Option<Proof>,
    /// The text of the recoding file, if it is wanted.
    recoding: Option<String>,
    search: Searched,
}

/// How the recoding is found, once that was judged.
#[derive(Clone, Copy)]
enum Plan<'a> {
    Search(SearchOptions),
    Apply(&'a RecodingFile),
}

/// Runs the job. Whatever cannot succeed is found out as early as it can be.
pub(crate) fn run(job: &Job, progress: &mut Progress) -> Result<Done> {
    let request = job.request;
    let file_type = table::file_type(job.out)?;
    files::refuse_overlap(job.data, &job.reads, &job.outputs())?;
    drop(Pending::beside(job.out, Existing::overwrite_if(job.force))?);
    request.suppress()?;
    request.time()?;
    request.max_loss()?;
    let plan = plan(job)?;
    let before = stamp(job.data);

    progress.stage("read");
    let source = table::open(job.data, request.input.delimiter)?;
    let roles = request::roles(request, &source)?;
    request.rules(&roles)?;
    let treatments = treatments(source.names(), &roles);
    table::check_columns(file_type, &source, |name| {
        roles.sensitive.contains(name) || roles.keep.contains(name)
    })?;
    let persons = person_columns(source.names(), request);
    let (table, counted) = source.read_and_count(&treatments, &persons)?;
    if cells(file_type) == Cells::Text {
        release::check_text(&table, &roles)?;
    }
    let warnings = warn::of_request(request, &counted);

    // The release is laid out in the write stage.
    let Found { release, proof, recoding, search } =
        find(job, plan, &roles, table, cells(file_type), warnings, progress)?;
    let pending = Pending::beside(job.out, Existing::overwrite_if(job.force))?;
    table::write(
        pending.file()?,
        job.out,
        file_type,
        release.schema(),
        release.batches(),
        |batch| release.batch(batch),
    )?;
    let guarded = release.guarded();
    drop(release);

    progress.stage("verify");
    let verdict = match &proof {
        None => verdict(pending.path(), file_type, request)?,
        Some(proof) => {
            let release =
                read(pending.path(), delimiter(file_type), request, View::ReleaseAgainstSource)?;
            let judged = read(job.data, request.input.delimiter, request, View::Source)
                .and_then(|source| audit::audit_rings(&release, &source, request, Some(proof)));
            // The table was read twice: what is found wrong may be wrong in the second reading
            // alone.
            match judged {
                Ok(verdict) if verdict.holds() => verdict,
                _ if stamp(job.data) != before => {
                    return Err(ErrorKind::Data { why: CHANGED.into() }.into());
                }
                judged => judged?,
            }
        }
    };
    let published = verdict.holds();
    if published {
        // All is written before anything appears under its name.
        let secret = secret(job, proof.as_ref(), recoding.as_deref())?;
        // A file is there in a moment; whoever reads standard output may take any time.
        let is_stream = job.out == Path::new("-");
        (!is_stream).then(interrupt::finishing);
        // A release never stands without the secret that goes with it.
        let has_secret = secret.is_some();
        secret.map(Pending::publish).transpose()?;
        pending.publish().map_err(|error| without(cut_short(error), has_secret))?;
        is_stream.then(interrupt::finishing);
    } else {
        drop(pending);
    }
    progress.end();
    Ok(Done { search, guarded, verdict, published })
}

/// Judges the way that was asked for before anything is read.
fn plan<'a>(job: &Job<'a>) -> Result<Plan<'a>> {
    match &job.way {
        Way::Search(wanted) => {
            let search = SearchOptions {
                key: Key::of(job.request.seed),
                ..search(job.request, job.seed, wanted.techniques)?
            };
            refuse_ring(job, search.algorithm)?;
            refuse_secrets(job, wanted, search.algorithm)?;
            Ok(Plan::Search(search))
        }
        Way::Apply { .. } if job.request.non_homogeneous => Err(usage(
            "what a recoding file makes is homogeneous, which is more: leave out non_homogeneous",
        )),
        Way::Apply { .. } if job.request.output.publish == Publish::Bounds => Err(usage(
            "a recoding file says which labels are published, and new rows may have other bounds: publish labels, not bounds",
        )),
        Way::Apply { file } => Ok(Plan::Apply(file)),
    }
}

/// Encodes and finds the recoding. The coded table is let go as soon as it is not needed: the rest
/// of the run has its memory.
fn find(
    job: &Job,
    plan: Plan,
    roles: &Roles,
    mut table: Table,
    cells: Cells,
    mut warnings: Vec<String>,
    progress: &mut Progress,
) -> Result<Found> {
    progress.stage("encode");
    warnings.extend(disclosures(&table, roles, job.request)?);
    let problem = Arc::new(Problem::new(&table, roles, job.request)?);
    table.forget_codes();
    warnings.extend_from_slice(problem.warnings());
    warnings.extend(warn::hopeless(&problem));
    warnings.extend(unused(&plan, job.request));
    warnings.iter().for_each(|warning| progress.warn(warning));

    let effort = if let Way::Search(wanted) = &job.way { wanted.bound } else { Effort::None };
    let mut bound = None;
    let outcome = match plan {
        Plan::Search(search) => {
            let time = time(job.request, search)?;
            let effort = effort.with(search.algorithm);
            // A long search shows how near it is to the bound; after a short one there is only as
            // much time to look for it.
            if search.algorithm.is_anytime() {
                progress.stage("bound");
                let quick = time.unwrap_or(USUAL_TIME) / 5;
                bound = interrupt::before_search(|| {
                    lower_bound(&problem, job.seed, effort.before(), quick, interrupt::cancel())
                });
            }
            progress.stage("search");
            let budget = Budget::new(time, interrupt::cancel());
            let begun = Instant::now();
            let line = || search_line(&budget, bound.as_ref());
            let search = || solve_in_time(&problem, search, &budget);
            let found =
                progress.watching(line, || interrupt::during_search(interrupt::RELEASE, search))?;
            let is_wanted = bound.is_none() || effort != effort.before();
            if is_wanted && !interrupt::is_cancelled() {
                progress.stage("bound");
                let quick = begun.elapsed();
                let longer = interrupt::during_search(interrupt::RELEASE, || {
                    lower_bound(&problem, job.seed, effort, quick, interrupt::cancel())
                });
                // Stopped too soon it may say less than the first.
                bound = sharper(bound, longer);
            }
            found
        }
        Plan::Apply(file) => {
            progress.stage("apply");
            let recoding = recoding_file::apply(file, &problem, job.request)?;
            Outcome { recoding, status: Status::Heuristic, rings: None, optimum: None }
        }
    };
    let recoding = &outcome.recoding;
    let mut searched = Searched {
        rows: problem.row_count(),
        suppressed: partition::rows(recoding.suppressed()),
        algorithm: match plan {
            Plan::Search(search) => Some(search.algorithm),
            Plan::Apply(_) => None,
        },
        status: outcome.status,
        loss: loss::loss(&problem, recoding),
        shown: loss::shown(&problem, recoding),
        bound,
        optimum: outcome.optimum.clone(),
        quasi: problem.attributes().iter().map(|attribute| attribute.name.clone()).collect(),
        coded_bytes: problem.bytes(),
        tuples: problem.tuples(),
        warnings,
    };
    warn::refuse_loss(&searched, job.request)?;
    for warning in warn::of_release(&searched, job.request) {
        progress.warn(&warning);
        searched.warnings.push(warning);
    }
    progress.stage("write");
    let release = Release::new(
        &problem,
        recoding,
        &table,
        roles,
        job.request,
        Key::of(job.request.seed),
        cells,
    )?;
    let proof = outcome.rings.map(|rings| proof::proof(&problem, &rings, &release)).transpose()?;
    let wanted = matches!(&job.way, Way::Search(wanted) if wanted.recoding.is_some());
    let global = recoding.published().filter(|_| wanted);
    let recoding = global.map(|found| recoding_file::text(problem.attributes(), found));
    Ok(Found { release, proof, recoding, search: searched })
}

/// What was said but changes nothing.
fn unused(plan: &Plan, request: &Request) -> Vec<String> {
    let Plan::Search(search) = plan else { return Vec::new() };
    let is_about = [
        (
            request.steps.is_some() && !search.algorithm.is_anytime(),
            "the number of steps",
            Algorithm::Auto,
        ),
        (
            search.techniques != Techniques::default() && search.algorithm != Algorithm::Optimal,
            "how to branch",
            Algorithm::Optimal,
        ),
    ];
    let told = is_about.into_iter().filter(|(is_unused, ..)| *is_unused);
    told.map(|(_, what, other)| {
        format!("{what} is about {other}: {} does not look at it", search.algorithm)
    })
    .collect()
}

/// Reads the written file back and judges it.
pub(crate) fn verdict(file: &Path, file_type: FileType, request: &Request) -> Result<Verdict> {
    audit::audit(&read(file, delimiter(file_type), request, View::Release)?, request)
}

/// Reads a table for the audit. Only a release in a text file has guards before formulas, unless it
/// was asked for without them.
pub(crate) fn read(
    path: &Path,
    delimiter: Option<char>,
    request: &Request,
    view: View,
) -> Result<Table> {
    let opened = table::open(path, delimiter)?;
    let is_guarded = view != View::Source && opened.is_csv() && !request.output.raw_formulas;
    let treatments = audit::treatments(opened.names(), request, view);
    let mut table = opened.read(&treatments)?;
    if is_guarded {
        audit::unguard(&mut table);
    }
    Ok(table)
}

/// What stands between the cells of a file of this type, if anything does.
pub(crate) fn delimiter(file_type: FileType) -> Option<char> {
    match file_type.format {
        Format::Csv { delimiter } => Some(char::from(delimiter)),
        Format::Parquet | Format::Arrow => None,
    }
}

/// The search that the configuration asks for.
pub(crate) fn search(
    request: &Request,
    seed: u64,
    techniques: Techniques,
) -> Result<SearchOptions> {
    let named = |name: &str| Algorithm::from_str(name).map_err(usage);
    let algorithm = request.algorithm.as_deref().map_or(Ok(Algorithm::default()), named)?;
    match (algorithm.is_homogeneous(), request.non_homogeneous) {
        (false, false) => Err(usage(format!(
            "{algorithm} makes non-homogeneous releases: every row could be any of k released rows, but these do not show the same, and \
             whoever knows where one row went learns that of others; say --non-homogeneous if that is what you want"
        ))),
        (true, true) => Err(usage(format!(
            "--non-homogeneous goes with --algorithm ring: what {algorithm} makes is homogeneous, which is more"
        ))),
        _ => Ok(()),
    }?;
    if !algorithm.is_homogeneous() && request.output.publish == Publish::Set {
        return Err(usage(
            "a row of ring covers values that it does not list: --publish label or bounds, not set",
        ));
    }
    let usual = SearchOptions::new(algorithm, seed);
    let cost = request
        .cost
        .as_deref()
        .map_or(Ok(usual.cost), |name| Cost::from_str(name).map_err(usage))?;
    Ok(SearchOptions {
        rounds: request.rounds()?.unwrap_or(usual.rounds),
        cost,
        techniques,
        steps: request.steps,
        ..usual
    })
}

/// How long `auto` searches when nobody says it.
pub(crate) const USUAL_TIME: Duration = Duration::from_secs(10);

/// How long a search may take: `auto` would take any time, unless its steps are counted.
pub(crate) fn time(request: &Request, search: SearchOptions) -> Result<Option<Duration>> {
    let is_limited = search.algorithm.is_anytime() && search.steps.is_none();
    Ok(request.time()?.or(is_limited.then_some(USUAL_TIME)))
}

/// What to show while a search runs that tells how far it is.
fn search_line(budget: &Budget, bound: Option<&Bound>) -> Option<String> {
    let loss = budget.reported_loss()?;
    let gap = bound.and_then(|bound| Some((bound, bound.gap(loss)?)));
    let gap = gap.map_or(String::new(), |(bound, gap)| {
        format!(", bound {}{:.0}, gap {gap:.2}", crate::bounds::sign(bound), bound.value)
    });
    let left = budget
        .left()
        .map_or(String::new(), |left| format!(", {} left", show::seconds(left.as_secs_f64())));
    Some(format!("loss {loss:.0}{gap}{left}"))
}

fn cells(file_type: FileType) -> Cells {
    match file_type.format {
        Format::Csv { .. } => Cells::Text,
        Format::Parquet | Format::Arrow => Cells::Typed,
    }
}

/// What the algorithm ring needs beside what all need.
fn refuse_ring(job: &Job, algorithm: Algorithm) -> Result<()> {
    match () {
        () if algorithm.is_homogeneous() => Ok(()),
        () if std::fs::metadata(job.data).is_ok_and(|about| !about.is_file()) => Err(usage(TWICE)),
        () if job.data == Path::new("-") => Err(usage(TWICE)),
        () if job.request.output.order == Order::Input => Err(usage(
            "in the order of the input the rows of ring tell who is who: leave out --input-order",
        )),
        () => Ok(()),
    }
}

/// Files beside the release that only some algorithms have, and that are as secret as the table.
fn refuse_secrets(job: &Job, wanted: &Wanted, algorithm: Algorithm) -> Result<()> {
    if wanted.proof.is_some() && algorithm.is_homogeneous() {
        return Err(usage(
            "--proof goes with --algorithm ring: the releases of all others prove themselves",
        ));
    }
    if wanted.recoding.is_some() && !algorithm.is_global() {
        let global: Vec<&str> = Algorithm::ALL
            .into_iter()
            .filter(|other| other.is_global())
            .map(Algorithm::name)
            .collect();
        return Err(usage(format!(
            "--recoding goes with --algorithm {}: {algorithm} publishes a value in one class so and in another otherwise",
            global.join(" or ")
        )));
    }
    for (what, flag, path) in
        [("proof", "--proof", wanted.proof), ("recoding", "--recoding", wanted.recoding)]
    {
        let Some(path) = path else { continue };
        if path == Path::new("-") {
            return Err(usage(format!(
                "the {what} is as secret as the table and needs a file of its own: {flag} FILE"
            )));
        }
        drop(Pending::beside(path, Existing::overwrite_if(job.force))?);
    }
    Ok(())
}

const TWICE: &str = "a release of ring is verified against its source, and a pipe cannot be read twice: name a file";

/// Whoever closes standard output may have seen enough of a talk, but not of a release.
fn cut_short(error: Error) -> Error {
    if !show::is_closed_pipe(&error) {
        return error;
    }
    let why =
        "it was closed before the whole release was written: what was read from it is cut short";
    let source = std::io::Error::new(std::io::ErrorKind::BrokenPipe, why);
    ErrorKind::Io { path: PathBuf::from("standard output"), source }.into()
}

const CHANGED: &str = "the input changed while it was read: nothing was written; run it again when nothing else writes to the file";

/// What changes when somebody writes to a file: its length and when it was changed.
fn stamp(path: &Path) -> Option<(u64, Option<SystemTime>)> {
    std::fs::metadata(path).ok().map(|about| (about.len(), about.modified().ok()))
}

/// An error of the release, when the secret that goes with it is there already.
fn without(error: Error, has_secret: bool) -> Error {
    match error.kind() {
        ErrorKind::Io { path, source } if has_secret => {
            let why =
                format!("{source}; the proof or recoding that goes with it is written already");
            ErrorKind::Io { path: path.clone(), source: std::io::Error::new(source.kind(), why) }
                .into()
        }
        _ => error,
    }
}

/// The proof or the recoding file, if one is wanted, written but without its name yet. No release
/// has both.
fn secret(job: &Job, proof: Option<&Proof>, recoding: Option<&str>) -> Result<Option<Pending>> {
    let Way::Search(wanted) = &job.way else { return Ok(None) };
    let Some(path) = wanted.proof.or(wanted.recoding) else { return Ok(None) };
    let failed = |source| ErrorKind::Io { path: path.into(), source };
    let pending = Pending::with_access(path, Existing::overwrite_if(job.force), Access::Owner)?;
    let mut file = pending.file()?;
    match (proof, recoding) {
        (Some(proof), _) => proof::write(proof, file),
        (None, recoding) => file.write_all(recoding.unwrap_or_default().as_bytes()),
    }
    .map_err(failed)?;
    Ok(Some(pending))
}
