//! The way from a table to a verified release: read, encode, search, write, verify. Nothing is published that did not pass.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use lookalike::audit::{self, Proof, Verdict, View};
use lookalike::config::{Order, Publish, Roles};
use lookalike::disclosure::disclosures;
use lookalike::io::{self, FileType, Format, Pending};
use lookalike::loss::{self, Loss};
use lookalike::problem::treatments;
use lookalike::release::{Cells, Release};
use lookalike::table::Table;
use lookalike::{Algorithm, Budget, Config, ErrorKind, Problem, Result, Search, Status, anonymize, partition, proof};

use crate::progress::Progress;
use crate::request::usage;
use crate::{interrupt, show};

/// What to make out of what.
#[derive(Debug)]
pub(crate) struct Job<'a> {
    pub(crate) config: &'a Config,
    pub(crate) data: &'a Path,
    pub(crate) out: &'a Path,
    pub(crate) force: bool,
    pub(crate) seed: u64,
    /// Where the proof of a non-homogeneous release goes, if it is wanted.
    pub(crate) proof: Option<&'a Path>,
}

/// A run in numbers.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) rows: u64,
    pub(crate) suppressed: u64,
    pub(crate) algorithm: Algorithm,
    pub(crate) status: Status,
    pub(crate) loss: Loss,
    /// The quasi-identifiers, in the order of the loss by attribute.
    pub(crate) quasi: Vec<String>,
    pub(crate) coded_bytes: usize,
    /// Distinct rows, as far as the rules look.
    pub(crate) tuples: usize,
    pub(crate) guarded: u64,
    pub(crate) warnings: Vec<String>,
    /// What the judge found in the written file.
    pub(crate) verdict: Verdict,
    /// False when the judge found something: then the file is gone.
    pub(crate) published: bool,
}

/// What is known about a release before it is written.
struct Found {
    release: Release,
    /// Of a release that is not homogeneous.
    proof: Option<Proof>,
    done: Unverified,
}

/// A [`Done`] without the verdict.
struct Unverified {
    rows: u64,
    suppressed: u64,
    algorithm: Algorithm,
    status: Status,
    loss: Loss,
    quasi: Vec<String>,
    coded_bytes: usize,
    tuples: usize,
    warnings: Vec<String>,
}

/// Runs the job. Whatever cannot succeed is found out as early as it can be.
pub(crate) fn run(job: &Job, progress: &mut Progress) -> Result<Done> {
    let config = job.config;
    let file_type = io::file_type(job.out)?;
    refuse_same(job.data, job.out)?;
    drop(Pending::beside(job.out, job.force)?);
    config.suppress()?;
    config.time()?;
    let search = search(config, job.seed)?;
    refuse_ring(job, search.algorithm)?;

    progress.stage("read");
    let source = io::open(job.data, config.input.delimiter)?;
    let roles = config.roles(source.names())?;
    config.rules(&roles)?;
    let treatments = treatments(source.names(), &roles);
    let table = source.read(&treatments)?;

    // The release is laid out in the write stage.
    let Found { release, proof, done } = find(job, search, &roles, table, cells(file_type), progress)?;
    let pending = Pending::beside(job.out, job.force)?;
    interrupt::unpublished(Some(pending.path()));
    io::write(pending.file()?, job.out, file_type, release.schema(), release.batches(), |batch| release.batch(batch))?;
    let guarded = release.guarded();
    drop(release);

    progress.stage("verify");
    let verdict = match &proof {
        None => verdict(pending.path(), file_type, config)?,
        Some(proof) => {
            let release = read(pending.path(), delimiter(file_type), config, View::ReleaseAgainstSource)?;
            let source = read(job.data, config.input.delimiter, config, View::Source)?;
            audit::audit_rings(&release, &source, config, Some(proof))?
        }
    };
    let published = verdict.holds();
    if published {
        // All is written before anything appears under its name.
        let proof = proof.as_ref().zip(job.proof).map(|(proof, path)| pending_proof(proof, path, job.force)).transpose()?;
        pending.publish()?;
        proof.map(Pending::publish).transpose()?;
    } else {
        drop(pending);
    }
    interrupt::unpublished(None);
    progress.end();
    let Unverified { rows, suppressed, algorithm, status, loss, quasi, coded_bytes, tuples, warnings } = done;
    Ok(Done { rows, suppressed, algorithm, status, loss, quasi, coded_bytes, tuples, guarded, warnings, verdict, published })
}

/// Encodes and searches. The coded table is let go as soon as it is not needed: the rest of the run has its memory.
fn find(job: &Job, search: Search, roles: &Roles, mut table: Table, cells: Cells, progress: &mut Progress) -> Result<Found> {
    progress.stage("encode");
    let mut warnings = disclosures(&table, roles, job.config)?;
    let problem = Problem::new(&table, roles, job.config)?;
    table.columns.iter_mut().for_each(|column| column.coded = None);
    warnings.extend_from_slice(problem.warnings());
    warnings.iter().for_each(|warning| progress.warn(warning));

    progress.stage("search");
    let budget = Budget::new(job.config.time()?, interrupt::cancel());
    let outcome = interrupt::during_search(|| anonymize(&problem, search, &budget));
    let recoding = &outcome.recoding;
    let done = Unverified {
        rows: problem.row_count(),
        suppressed: partition::rows(recoding.suppressed()),
        algorithm: search.algorithm,
        status: outcome.status,
        loss: loss::loss(&problem, recoding),
        quasi: problem.attributes().iter().map(|attribute| attribute.name.clone()).collect(),
        coded_bytes: problem.bytes(),
        tuples: problem.tuples(),
        warnings,
    };
    progress.stage("write");
    let release = Release::new(&problem, recoding, &table, roles, job.config, job.seed, cells)?;
    let proof = outcome.rings.map(|rings| proof::proof(&problem, &rings, &release)).transpose()?;
    Ok(Found { release, proof, done })
}

/// Reads the written file back and judges it.
pub(crate) fn verdict(file: &Path, file_type: FileType, config: &Config) -> Result<Verdict> {
    audit::audit(&read(file, delimiter(file_type), config, View::Release)?, config)
}

/// Reads a table for the judge.
pub(crate) fn read(path: &Path, delimiter: Option<char>, config: &Config, view: View) -> Result<Table> {
    let opened = io::open(path, delimiter)?;
    let treatments = audit::treatments(opened.names(), config, view);
    opened.read(&treatments)
}

/// What stands between the cells of a file of this type, if anything does.
pub(crate) fn delimiter(file_type: FileType) -> Option<char> {
    match file_type.format {
        Format::Csv { delimiter } => Some(char::from(delimiter)),
        Format::Parquet | Format::Arrow => None,
    }
}

fn search(config: &Config, seed: u64) -> Result<Search> {
    let named = |name: &str| Algorithm::from_str(name).map_err(usage);
    let algorithm = config.algorithm.as_deref().map_or(Ok(Algorithm::default()), named)?;
    match (algorithm.is_homogeneous(), config.non_homogeneous) {
        (false, false) => Err(usage(format!(
            "{algorithm} makes non-homogeneous releases: every person could be any of k released rows, but these do not show the same, and \
             whoever knows one person's row learns those of others; say --non-homogeneous if that is what you want"
        ))),
        (true, true) => Err(usage(format!(
            "--non-homogeneous goes with --algorithm ring: what {algorithm} makes is homogeneous, which is more"
        ))),
        _ => Ok(()),
    }?;
    if !algorithm.is_homogeneous() && config.output.publish == Publish::Set {
        return Err(usage("a row of ring covers values that it does not list: --publish label or bounds, not set"));
    }
    let usual = Search::new(algorithm, seed);
    Ok(Search { rounds: config.rounds()?.unwrap_or(usual.rounds), ..usual })
}

fn cells(file_type: FileType) -> Cells {
    match file_type.format {
        Format::Csv { .. } => Cells::Text,
        Format::Parquet | Format::Arrow => Cells::Typed,
    }
}

/// What the algorithm ring needs beside what all need, and others do not have.
fn refuse_ring(job: &Job, algorithm: Algorithm) -> Result<()> {
    match job.proof {
        _ if !algorithm.is_homogeneous() && std::fs::metadata(job.data).is_ok_and(|about| !about.is_file()) => Err(usage(TWICE)),
        _ if !algorithm.is_homogeneous() && job.data == Path::new("-") => Err(usage(TWICE)),
        _ if !algorithm.is_homogeneous() && job.config.output.order == Order::Input => {
            Err(usage("in the order of the input the rows of ring tell who is who: leave out --input-order"))
        }
        None => Ok(()),
        Some(_) if algorithm.is_homogeneous() => {
            Err(usage("--proof goes with --algorithm ring: the releases of all others prove themselves"))
        }
        Some(path) if path == Path::new("-") || target(path) == target(job.out) => {
            Err(usage("the proof is as secret as the table and needs a file of its own: --proof FILE"))
        }
        Some(path) => {
            refuse_same(job.data, path)?;
            Pending::beside(path, job.force).map(drop)
        }
    }
}

const TWICE: &str = "a release of ring is verified against its source, and a pipe cannot be read twice: name a file";

/// Where a file will be, whether or not it is there.
fn target(path: &Path) -> Option<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Some(std::fs::canonicalize(folder).ok()?.join(path.file_name()?))
}

/// A proof that is written but does not have its name yet.
fn pending_proof(proof: &Proof, path: &Path, force: bool) -> Result<Pending> {
    let pending = Pending::beside(path, force)?;
    let file = pending.file()?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let for_me = std::fs::Permissions::from_mode(0o600);
        file.set_permissions(for_me).map_err(|source| ErrorKind::Io { path: path.into(), source })?;
    }
    proof::write(proof, file).map_err(|source| ErrorKind::Io { path: path.into(), source })?;
    Ok(pending)
}

/// The input is never overwritten, not even through a link and with force.
fn refuse_same(data: &Path, out: &Path) -> Result<()> {
    let real = |path: &Path| -> Option<PathBuf> { std::fs::canonicalize(path).ok().filter(|_| path != Path::new("-")) };
    match (real(data), real(out)) {
        (Some(data), Some(file)) if data == file || same_file(&data, &file) => {
            Err(usage(format!("{} is the input itself: choose another output", show::path(out))))
        }
        _ => Ok(()),
    }
}

/// Two names of one file.
#[cfg(unix)]
fn same_file(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let id = |path: &Path| std::fs::metadata(path).ok().map(|about| (about.dev(), about.ino()));
    id(one).is_some_and(|found| id(other) == Some(found))
}

#[cfg(not(unix))]
fn same_file(_: &Path, _: &Path) -> bool {
    false
}
