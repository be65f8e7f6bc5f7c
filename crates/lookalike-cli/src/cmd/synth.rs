//! `lookalike synth`: a synthetic table of any size, in any format.

use std::path::Path;
use std::process::ExitCode;

use lookalike::Result;
use lookalike::synthetic::{self, Synthetic};
use lookalike::table::{self, Existing, Pending};

use crate::args::SynthArgs;
use crate::request::usage;

/// Rows made at a time.
const BATCH: u64 = 1 << 16;

pub(crate) fn run(args: &SynthArgs) -> Result<ExitCode> {
    let kind: Synthetic = args.kind.parse().expect("the parser knows the names");
    write(kind, args.rows.unwrap_or(kind.default_rows()), args.seed, &args.output, args.force)?;
    Ok(ExitCode::SUCCESS)
}

/// Makes up a table and writes it, all of it or nothing.
pub(crate) fn write(kind: Synthetic, rows: u64, seed: u64, out: &Path, force: bool) -> Result<()> {
    let file_type = table::file_type(out)?;
    let too_many = |_| usage(format!("{rows} rows are too many for this computer"));
    let batches = usize::try_from(rows.div_ceil(BATCH)).map_err(too_many)?;
    let pending = Pending::beside(out, Existing::overwrite_if(force))?;
    table::write(pending.file()?, out, file_type, &synthetic::schema(kind), batches, |batch| {
        let first = batch as u64 * BATCH;
        let here = usize::try_from(BATCH.min(rows - first)).expect("a batch is small");
        Ok(synthetic::batch(kind, seed, first, here))
    })?;
    pending.publish()?;
    Ok(())
}
