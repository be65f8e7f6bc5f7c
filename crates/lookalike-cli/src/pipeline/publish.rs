//! Publish: files get their names when everything is written and verified.

use std::io::Write;
use std::path::{Path, PathBuf};

use lookalike::audit::Proof;
use lookalike::release::proof;
use lookalike::table::{Access, Existing, Pending};
use lookalike::{Error, ErrorKind, Result};

use super::write::WrittenRelease;
use super::{RecodingSource, ReleaseJob, SearchReport};
use crate::{interrupt, show};

/// Publishes a release that passed the audit; removes one that did not. Returns the numbers of the
/// search and of guarded cells.
pub(super) fn publish(
    job: &ReleaseJob,
    written: WrittenRelease,
    passed: bool,
) -> Result<(SearchReport, u64)> {
    let WrittenRelease { pending, proof, recoding, guarded, search } = written;
    if !passed {
        drop(pending);
        return Ok((search, guarded));
    }
    // Everything is written before anything gets its name.
    let secret = secret(job, proof.as_ref(), recoding.as_deref())?;
    // A file gets its name in a moment; the reader of standard output may take any time.
    let is_stream = job.out == Path::new("-");
    if !is_stream {
        interrupt::finishing();
    }
    // There is never a release without the secret that belongs to it.
    let has_secret = secret.is_some();
    secret.map(Pending::publish).transpose()?;
    pending.publish().map_err(|error| after_secret(incomplete(error), has_secret))?;
    if is_stream {
        interrupt::finishing();
    }
    Ok((search, guarded))
}

/// A closed standard output is no error for messages, but it is for a release.
fn incomplete(error: Error) -> Error {
    if !show::is_closed_pipe(&error) {
        return error;
    }
    let why = "it was closed before the end of the release: the reader got an incomplete release";
    let source = std::io::Error::new(std::io::ErrorKind::BrokenPipe, why);
    ErrorKind::Io { path: PathBuf::from("standard output"), source }.into()
}

/// An error of the release after its secret was published.
fn after_secret(error: Error, has_secret: bool) -> Error {
    match error.kind() {
        ErrorKind::Io { path, source } if has_secret => {
            let why = format!("{source}; the proof or recoding of this release is already written");
            ErrorKind::Io { path: path.clone(), source: std::io::Error::new(source.kind(), why) }
                .into()
        }
        _ => error,
    }
}

/// The pending file of the proof or of the recoding, if the job asks for one. No release has both.
fn secret(
    job: &ReleaseJob,
    proof: Option<&Proof>,
    recoding: Option<&str>,
) -> Result<Option<Pending>> {
    let RecodingSource::Search(wanted) = &job.recoding else { return Ok(None) };
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
