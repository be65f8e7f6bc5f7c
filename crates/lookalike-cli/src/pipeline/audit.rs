//! Audit: the written file is read back and checked by independent code.

use std::path::Path;

use lookalike::audit::{self, AuditView, Verdict};
use lookalike::table::{self, FileType, Format, Table};
use lookalike::{ErrorKind, Request, Result};

use super::ReleaseJob;
use super::read::{Stamp, stamp};
use super::write::WrittenRelease;

const CHANGED: &str = "the input file changed during the run: nothing was written; run again when \
                       no other program writes to it";

/// `before` is the stamp of the input before it was read the first time.
pub(super) fn audit(
    job: &ReleaseJob,
    file_type: FileType,
    written: &WrittenRelease,
    before: Stamp,
) -> Result<Verdict> {
    let request = job.request;
    let path = written.pending.path();
    let Some(proof) = &written.proof else { return audit_file(path, file_type, request) };
    let release =
        read_for_audit(path, delimiter(file_type), request, AuditView::ReleaseAgainstSource)?;
    let verdict = read_for_audit(job.data, request.input.delimiter, request, AuditView::Source)
        .and_then(|source| audit::audit_rings(&release, &source, request, Some(proof)));
    // The input was read twice: a fault may be in the second reading alone.
    match verdict {
        Ok(verdict) if verdict.holds() => Ok(verdict),
        _ if stamp(job.data) != before => Err(ErrorKind::Data { why: CHANGED.into() }.into()),
        verdict => verdict,
    }
}

/// Reads a written release back and audits it.
pub(crate) fn audit_file(file: &Path, file_type: FileType, request: &Request) -> Result<Verdict> {
    audit::audit(&read_for_audit(file, delimiter(file_type), request, AuditView::Release)?, request)
}

/// Reads a table for the audit. Only a release in a text file has apostrophes before formulas,
/// unless the request turned them off.
pub(crate) fn read_for_audit(
    path: &Path,
    delimiter: Option<char>,
    request: &Request,
    view: AuditView,
) -> Result<Table> {
    let opened = table::open(path, delimiter)?;
    let is_guarded = view != AuditView::Source && opened.is_csv() && !request.output.raw_formulas;
    let treatments = audit::treatments(opened.names(), request, view);
    let mut table = opened.read(&treatments)?;
    if is_guarded {
        audit::unguard(&mut table);
    }
    Ok(table)
}

/// The delimiter of a text file; none for the other formats.
pub(crate) fn delimiter(file_type: FileType) -> Option<char> {
    match file_type.format {
        Format::Csv { delimiter } => Some(char::from(delimiter)),
        Format::Parquet | Format::Arrow => None,
    }
}
