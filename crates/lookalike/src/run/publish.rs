//! Publish: outputs get their names when everything is written and verified.

use std::io::Write;

use crate::audit::{Origin, Proof, Verdict};
use crate::error::{Error, ErrorKind, Result};
use crate::release::{origins_file, proof};
use crate::table::{Access, Pending};

use super::Run;
use super::report::Report;
use super::target::ReleasedTable;
use super::watch::Clock;
use super::write::{Batches, ReleasePlace, WrittenRelease};

/// Publishes a release that passed the audit.
pub(super) fn publish(
    run: &Run,
    written: WrittenRelease,
    verdict: Verdict,
    clock: &mut Clock,
) -> Result<ReleasedTable> {
    let WrittenRelease { place, schema, proof, recoding, guarded, found, comparison } = written;
    // Everything is written before anything gets its name.
    let origins = comparison.person_origins();
    let secret = secret(run, proof.as_ref(), origins, recoding.as_deref())?;
    // There is never a release without the secret that belongs to it.
    let has_secret = secret.is_some();
    secret.map(Pending::publish).transpose()?;
    let mut batches = Vec::new();
    let published = match place {
        ReleasePlace::File { pending, .. } => pending.publish().map_err(incomplete),
        ReleasePlace::Memory { batches: Batches { batches: all, .. } } => {
            batches = all;
            Ok(())
        }
        ReleasePlace::Sink { sink, .. } => sink.publish(),
    };
    published.map_err(|error| after_secret(error, has_secret))?;
    clock.end();
    let mut found = found;
    // Which rows of whole persons are not there is known now.
    if found.persons.is_some() {
        found.suppressed = found.rows - verdict.measures.rows;
    }
    let report = Report { found, guarded, verdict, times: clock.times() };
    Ok(ReleasedTable { schema, batches, report })
}

/// A closed standard output is no error for messages, but it is for a release.
fn incomplete(error: Error) -> Error {
    if !error.is_closed_output() {
        return error;
    }
    let why = "it was closed before the end of the release: the reader got an incomplete release";
    Error::io("standard output", std::io::Error::new(std::io::ErrorKind::BrokenPipe, why))
}

/// An error of the release after its secret was published.
fn after_secret(error: Error, has_secret: bool) -> Error {
    if !has_secret || error.kind() != ErrorKind::Io {
        return error;
    }
    let source = std::error::Error::source(&error).and_then(|source| source.downcast_ref());
    let kind = source.map_or(std::io::ErrorKind::Other, std::io::Error::kind);
    let reason = error.reason();
    let why = format!("{reason}; the proof or recoding of this release is already written");
    let path = error.place().file.clone().unwrap_or_default();
    Error::io(path, std::io::Error::new(kind, why))
}

/// The pending file of the proof or of the recoding, if the run asks for one. No release has both.
fn secret(
    run: &Run,
    proof: Option<&Proof>,
    origins: Option<&[Origin]>,
    recoding: Option<&str>,
) -> Result<Option<Pending>> {
    let Some(path) = run.proof_file.as_ref().or(run.recoding_file.as_ref()) else {
        return Ok(None);
    };
    let pending = Pending::with_access(path, run.existing, Access::Owner)?;
    let mut file = pending.file()?;
    match (proof, origins, recoding) {
        (Some(proof), ..) => proof::write(proof, file),
        (None, Some(origins), None) => origins_file::write_origins(origins, file),
        (None, _, recoding) => file.write_all(recoding.unwrap_or_default().as_bytes()),
    }
    .map_err(|source| Error::io(path, source))?;
    Ok(Some(pending))
}
