//! Plan: a request that cannot succeed is refused before anything is read.

use std::path::Path;
use std::str::FromStr;

use lookalike::release::recoding_file::RecodingFile;
use lookalike::request::{Order, Publish};
use lookalike::rng::Key;
use lookalike::search::global::{Cost, Techniques};
use lookalike::search::tuning::Tuning;
use lookalike::table::{self, Existing, FileType, Pending};
use lookalike::{Algorithm, Request, Result, SearchOptions};

use super::{RecodingSource, ReleaseJob, SearchJob};
use crate::files;
use crate::request::usage;

/// A job that passed every check that needs no table.
#[derive(Debug)]
pub(super) struct RunPlan<'a> {
    pub(super) file_type: FileType,
    pub(super) recoding: RecodingPlan<'a>,
}

/// The way to the recoding.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one per run")]
pub(super) enum RecodingPlan<'a> {
    Search(SearchOptions),
    File(&'a RecodingFile),
}

pub(super) fn plan<'a>(job: &ReleaseJob<'a>) -> Result<RunPlan<'a>> {
    let request = job.request;
    let file_type = table::file_type(job.out)?;
    files::refuse_overlap(job.data, &job.reads, &job.outputs())?;
    drop(Pending::beside(job.out, Existing::overwrite_if(job.force))?);
    request.suppress()?;
    request.time()?;
    request.max_loss()?;
    Ok(RunPlan { file_type, recoding: recoding(job)? })
}

fn recoding<'a>(job: &ReleaseJob<'a>) -> Result<RecodingPlan<'a>> {
    match &job.recoding {
        RecodingSource::Search(wanted) => {
            let search = SearchOptions {
                key: Key::of(job.request.seed),
                tuning: wanted.tuning,
                ..search_options(job.request, job.seed, wanted.techniques)?
            };
            refuse_ring(job, search.algorithm)?;
            refuse_secrets(job, wanted, search.algorithm)?;
            Ok(RecodingPlan::Search(search))
        }
        RecodingSource::File(_) if job.request.non_homogeneous => Err(usage(
            "a release from a recoding file is homogeneous, which is stronger: remove \
             non_homogeneous",
        )),
        RecodingSource::File(_) if job.request.output.publish == Publish::Bounds => Err(usage(
            "a recoding file fixes the published labels, and new rows can have other bounds: \
             publish labels, not bounds",
        )),
        RecodingSource::File(file) => Ok(RecodingPlan::File(file)),
    }
}

/// The options of the search that the request asks for.
pub(crate) fn search_options(
    request: &Request,
    seed: u64,
    techniques: Techniques,
) -> Result<SearchOptions> {
    let named = |name: &str| Algorithm::from_str(name).map_err(usage);
    let algorithm = request.algorithm.as_deref().map_or(Ok(Algorithm::default()), named)?;
    if !algorithm.is_homogeneous() && !request.non_homogeneous {
        return Err(usage(format!(
            "{algorithm} makes non-homogeneous releases: every row could be any of k released \
             rows, but these rows differ from each other, and who finds the row of one person \
             learns about others; add --non-homogeneous if you want that"
        )));
    }
    if algorithm.is_homogeneous() && request.non_homogeneous {
        return Err(usage(format!(
            "--non-homogeneous needs --algorithm ring: a release of {algorithm} is homogeneous, \
             which is stronger"
        )));
    }
    if !algorithm.is_homogeneous() && request.output.publish == Publish::Set {
        return Err(usage(
            "ring cannot publish sets, because a row covers values that the set would not list: \
             use --publish label or --publish bounds",
        ));
    }
    let usual = SearchOptions::new(algorithm, seed);
    let cost = request.cost.as_deref().map_or(Ok(usual.cost), Cost::from_str)?;
    Ok(SearchOptions {
        rounds: request.rounds()?.unwrap_or(usual.rounds),
        cost,
        techniques,
        steps: request.steps,
        ..usual
    })
}

/// The tuned numbers that ship, but for those that `--tune NAME=VALUE` changes.
pub(crate) fn tuning(settings: &[String]) -> Result<Tuning> {
    let mut tuning = Tuning::default();
    for setting in settings {
        let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
        let value = value.parse().unwrap_or(f64::NAN);
        tuning.set(name, value).map_err(|why| usage(format!("--tune {setting}: {why}")))?;
    }
    Ok(tuning)
}

const READ_TWICE: &str = "a release of ring is verified against its source, which is read twice: \
                          name a file, not a pipe";

/// The further conditions of the algorithm ring.
fn refuse_ring(job: &ReleaseJob, algorithm: Algorithm) -> Result<()> {
    if algorithm.is_homogeneous() {
        return Ok(());
    }
    let is_pipe = std::fs::metadata(job.data).is_ok_and(|about| !about.is_file());
    if is_pipe || job.data == Path::new("-") {
        return Err(usage(READ_TWICE));
    }
    if job.request.output.order == Order::Input {
        return Err(usage(
            "in the order of the input, the rows of ring identify persons: remove --input-order",
        ));
    }
    Ok(())
}

/// Proof and recoding exist for some algorithms only, and are as secret as the table.
fn refuse_secrets(job: &ReleaseJob, wanted: &SearchJob, algorithm: Algorithm) -> Result<()> {
    if wanted.proof.is_some() && algorithm.is_homogeneous() {
        return Err(usage(format!(
            "--proof needs --algorithm ring: a release of {algorithm} is verified without a proof"
        )));
    }
    if wanted.recoding.is_some() && !algorithm.is_global() {
        let global: Vec<&str> = Algorithm::ALL
            .into_iter()
            .filter(|other| other.is_global())
            .map(Algorithm::name)
            .collect();
        return Err(usage(format!(
            "--recoding needs --algorithm {}: {algorithm} generalizes one value differently in \
             different classes",
            global.join(" or ")
        )));
    }
    for (what, flag, path) in
        [("proof", "--proof", wanted.proof), ("recoding", "--recoding", wanted.recoding)]
    {
        let Some(path) = path else { continue };
        if path == Path::new("-") {
            return Err(usage(format!(
                "the {what} is as secret as the table: name a file for it, {flag} FILE"
            )));
        }
        drop(Pending::beside(path, Existing::overwrite_if(job.force))?);
    }
    Ok(())
}
