//! Publish: outputs get their names when everything is written and verified.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use crate::audit::{Origin, Proof, Verdict};
use crate::error::{Error, ErrorKind, Result};
use crate::release::{origins_file, proof};
use crate::table::{Access, Pending};

use super::codebook;
use super::report::Report;
use super::target::{MadeBy, ReleasedTable};
use super::watch::Clock;
use super::write::{Batches, ReleasePlace, WrittenRelease};
use super::{Product, Run, SecretTarget};

/// Publishes a release that passed the audit.
pub(super) fn publish(
    run: Run,
    product: Product,
    written: WrittenRelease,
    verdict: Verdict,
    clock: &mut Clock,
) -> Result<ReleasedTable> {
    let WrittenRelease { place, schema, proof, recoding, codebook, guarded, found, comparison } =
        written;
    // Everything is written before anything gets its name.
    let origins = comparison.person_origins();
    let proof = ProofOf { rings: proof.as_ref(), origins: origins.unwrap_or_default() };
    let mut pending = Vec::new();
    if let Some(SecretTarget::File(path)) = &run.proof {
        pending.push(pending_secret(&run, path, |file| proof.write(file))?);
    }
    if let (Some(SecretTarget::File(path)), Some(text)) = (&run.recoding_copy, &recoding) {
        pending.push(pending_secret(&run, path, |mut file| file.write_all(text.as_bytes()))?);
    }
    let is_text = |target: &Option<SecretTarget>| *target == Some(SecretTarget::Text);
    let proof = is_text(&run.proof).then(|| proof.text()).transpose()?;
    let recoding = recoding.filter(|_| is_text(&run.recoding_copy));
    let has_secret = !pending.is_empty();
    let codebook = match (&place, codebook) {
        (ReleasePlace::File { file_type, path, .. }, Some(codebook)) => {
            let codebook = codebook::of_file(codebook, path, *file_type, &run.request);
            pending.extend(codebook::pending(&codebook, run.codebook_page, path, run.existing)?);
            Some(codebook)
        }
        (_, codebook) => codebook,
    };
    // There is never a release without the files that belong to it.
    let others = match (has_secret, pending.is_empty()) {
        (true, _) => Some("proof or recoding"),
        (false, false) => Some("codebook"),
        (false, true) => None,
    };
    pending.into_iter().try_for_each(Pending::publish)?;
    let mut batches = Vec::new();
    let published = match place {
        ReleasePlace::File { pending, .. } => pending.publish().map_err(incomplete),
        ReleasePlace::Memory { batches: Batches { batches: all, .. } } => {
            batches = all;
            Ok(())
        }
        ReleasePlace::Sink { sink, .. } => sink.publish(),
    };
    published.map_err(|error| after_others(error, others))?;
    clock.end();
    let mut found = found;
    // Which rows of whole persons are not there is known now.
    if found.persons.is_some() {
        found.suppressed = found.rows - verdict.measures.rows;
    }
    let report = Report { found, guarded, verdict, times: clock.times() };
    Ok(ReleasedTable {
        schema,
        batches,
        report,
        recoding,
        proof,
        codebook,
        run: MadeBy {
            product,
            request: run.request,
            dialect: run.dialect,
            reads: run.reads,
            codebook_page: run.codebook_page,
        },
    })
}

/// A closed standard output is no error for messages, but it is for a release.
pub(super) fn incomplete(error: Error) -> Error {
    if !error.is_closed_output() {
        return error;
    }
    let why = "it was closed before the end of the release: the reader got an incomplete release";
    Error::io("standard output", std::io::Error::new(std::io::ErrorKind::BrokenPipe, why))
}

/// An error of the release after another file that belongs to it was published.
fn after_others(error: Error, others: Option<&str>) -> Error {
    let Some(others) = others.filter(|_| error.kind() == ErrorKind::Io) else { return error };
    let source = std::error::Error::source(&error).and_then(|source| source.downcast_ref());
    let kind = source.map_or(std::io::ErrorKind::Other, std::io::Error::kind);
    let reason = error.reason();
    let why = format!("{reason}; the {others} of this release is already written");
    let path = error.place().file.clone().unwrap_or_default();
    Error::io(path, std::io::Error::new(kind, why))
}

/// The file of a secret, before it has its name.
fn pending_secret(
    run: &Run,
    path: &Path,
    write: impl FnOnce(File) -> std::io::Result<()>,
) -> Result<Pending> {
    let pending = Pending::with_access(path, run.existing, Access::Owner)?;
    write(pending.file()?).map_err(|source| Error::io(path, source))?;
    Ok(pending)
}

/// The proof of a release.
struct ProofOf<'a> {
    rings: Option<&'a Proof>,
    /// Where persons are counted.
    origins: &'a [Origin],
}

impl ProofOf<'_> {
    fn write(&self, to: impl Write) -> std::io::Result<()> {
        match self.rings {
            Some(proof) => proof::write(proof, to),
            None => origins_file::write_origins(self.origins, to),
        }
    }

    fn text(&self) -> Result<String> {
        let mut bytes = Vec::new();
        self.write(&mut bytes).map_err(|source| Error::io("memory", source))?;
        Ok(String::from_utf8(bytes).expect("numbers and commas"))
    }
}
