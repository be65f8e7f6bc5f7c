//! Write: the release goes to a pending file, which has no name yet.

use lookalike::Result;
use lookalike::audit::Proof;
use lookalike::release::proof::proof;
use lookalike::release::recoding_file;
use lookalike::release::{CellFormat, Release};
use lookalike::rng::Key;
use lookalike::table::{self, Existing, FileType, Format, Pending};

use super::search::FoundRecoding;
use super::{RecodingSource, ReleaseJob, SearchReport};

/// A release that is written, but not verified.
pub(super) struct WrittenRelease {
    pub(super) pending: Pending,
    /// Of a non-homogeneous release.
    pub(super) proof: Option<Proof>,
    /// The text of the recoding file, if the job asks for one.
    pub(super) recoding: Option<String>,
    pub(super) guarded: u64,
    pub(super) search: SearchReport,
}

pub(super) fn write(
    job: &ReleaseJob,
    file_type: FileType,
    found: FoundRecoding,
) -> Result<WrittenRelease> {
    let FoundRecoding { problem, outcome, table, roles, search } = found;
    let recoding = &outcome.recoding;
    let key = Key::of(job.request.seed);
    let release =
        Release::new(&problem, recoding, &table, &roles, job.request, key, cells(file_type))?;
    let proof = outcome.rings.map(|rings| proof(&problem, &rings, &release)).transpose()?;
    let wanted =
        matches!(&job.recoding, RecodingSource::Search(search) if search.recoding.is_some());
    let global = recoding.published().filter(|_| wanted);
    let recoding = global.map(|found| recoding_file::text(problem.attributes(), found));
    // The largest tables of the run are not needed any more.
    drop((problem, outcome.recoding, table));

    let pending = Pending::beside(job.out, Existing::overwrite_if(job.force))?;
    table::write(
        pending.file()?,
        job.out,
        file_type,
        release.schema(),
        release.batches(),
        |batch| release.batch(batch),
    )?;
    Ok(WrittenRelease { pending, proof, recoding, guarded: release.guarded(), search })
}

/// Text files have text cells, the others typed ones.
pub(super) fn cells(file_type: FileType) -> CellFormat {
    match file_type.format {
        Format::Csv { .. } => CellFormat::Text,
        Format::Parquet | Format::Arrow => CellFormat::Typed,
    }
}
