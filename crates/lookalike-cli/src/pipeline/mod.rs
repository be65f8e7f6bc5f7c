//! The way from a table to a verified release: plan, read, search, write, audit, publish. Nothing
//! is published that did not pass the audit.

mod audit;
mod plan;
mod publish;
mod read;
mod search;
mod write;

#[cfg(test)]
pub(crate) use audit::audit_file;
pub(crate) use audit::{delimiter, read_for_audit};
pub(crate) use plan::{search_options, tuning};
pub(crate) use search::{USUAL_TIME, time_limit};

use std::path::{Path, PathBuf};

use lookalike::audit::Verdict;
use lookalike::evaluate::loss::{GeneralizedShare, Loss};
use lookalike::problem::bound::Bound;
use lookalike::release::recoding_file::RecodingFile;
use lookalike::run::Effort;
use lookalike::search::global::{Optimum, Techniques};
use lookalike::search::tuning::Tuning;
use lookalike::{Algorithm, Request, Result, Status};

use crate::files::OutputFile;
use crate::progress::StageProgress;

/// One release to make: request, input, output and the source of the recoding.
#[derive(Debug)]
pub(crate) struct ReleaseJob<'a> {
    pub(crate) request: &'a Request,
    pub(crate) data: &'a Path,
    /// Files that the request reads in addition to the table.
    pub(crate) reads: Vec<PathBuf>,
    pub(crate) out: &'a Path,
    pub(crate) force: bool,
    pub(crate) seed: u64,
    pub(crate) recoding: RecodingSource<'a>,
}

/// The source of the recoding.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one per run")]
pub(crate) enum RecodingSource<'a> {
    /// A search.
    Search(SearchJob<'a>),
    /// A recoding file, which was read before.
    File(&'a RecodingFile),
}

/// Options of a search that are not in the request.
#[derive(Debug, Default)]
pub(crate) struct SearchJob<'a> {
    /// The techniques of `optimal`.
    pub(crate) techniques: Techniques,
    /// The tuned numbers of the local searches.
    pub(crate) tuning: Tuning,
    /// The effort for the lower bound on the loss.
    pub(crate) bound: Effort,
    /// The file for the proof of a non-homogeneous release.
    pub(crate) proof: Option<&'a Path>,
    /// The file for the global recoding.
    pub(crate) recoding: Option<&'a Path>,
}

impl ReleaseJob<'_> {
    /// The files that it writes.
    fn outputs(&self) -> Vec<OutputFile<'_>> {
        let secrets = match &self.recoding {
            RecodingSource::Search(search) => {
                [("--proof", search.proof), ("--recoding", search.recoding)]
            }
            RecodingSource::File(_) => [("--proof", None), ("--recoding", None)],
        };
        let secrets = secrets.into_iter().filter_map(|(flag, path)| Some((flag, path?)));
        std::iter::once(("-o", self.out)).chain(secrets).collect()
    }
}

/// The numbers of a finished run.
#[derive(Debug)]
pub(crate) struct RunReport {
    pub(crate) search: SearchReport,
    /// Text cells that got an apostrophe because they begin like a formula.
    pub(crate) guarded: u64,
    /// The audit of the written file.
    pub(crate) verdict: Verdict,
    /// False when the audit failed: then the file was removed.
    pub(crate) published: bool,
}

/// The numbers that are known before anything is written.
#[derive(Debug)]
pub(crate) struct SearchReport {
    /// Rows of the input.
    pub(crate) rows: u64,
    pub(crate) suppressed: u64,
    /// None when the recoding came from a file.
    pub(crate) algorithm: Option<Algorithm>,
    pub(crate) status: Status,
    pub(crate) loss: Loss,
    /// Published cells of each quasi-identifier, also of those with weight 0.
    pub(crate) shown: Vec<GeneralizedShare>,
    /// The lower bound on the loss of local recodings.
    pub(crate) bound: Option<Bound>,
    /// Cost and bound of a global recoding.
    pub(crate) optimum: Option<Optimum>,
    /// The quasi-identifiers, in the order of the loss by attribute.
    pub(crate) quasi: Vec<String>,
    pub(crate) coded_bytes: usize,
    /// Distinct rows on the columns of the rules.
    pub(crate) tuples: usize,
    pub(crate) warnings: Vec<String>,
}

/// Runs the job. A request that cannot succeed is refused as early as possible.
pub(crate) fn run(job: &ReleaseJob, progress: &mut StageProgress) -> Result<RunReport> {
    let plan = plan::plan(job)?;
    let before = read::stamp(job.data);

    progress.stage("read");
    let input = read::read(job, plan.file_type)?;
    let found = search::search(job, &plan, input, progress)?;
    progress.stage("write");
    let written = write::write(job, plan.file_type, found)?;
    progress.stage("verify");
    let verdict = audit::audit(job, plan.file_type, &written, before)?;
    let published = verdict.holds();
    let (search, guarded) = publish::publish(job, written, published)?;
    progress.end();
    Ok(RunReport { search, guarded, verdict, published })
}
