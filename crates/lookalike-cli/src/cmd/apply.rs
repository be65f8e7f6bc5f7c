//! `lookalike apply`: releases further rows with the recoding of an earlier release.

use std::process::ExitCode;

use lookalike::{Result, release::recoding_file, rng};

use crate::args::{ApplyArgs, GlobalArgs};
use crate::cmd::anonymize::make;
use crate::files;
use crate::pipeline::{RecodingSource, ReleaseJob};

pub(crate) fn run(args: &ApplyArgs, global: &GlobalArgs) -> Result<ExitCode> {
    let mut request = args.request.request()?;
    args.writing.apply_to(&mut request);
    let file = recoding_file::read(&args.recoding, &request)?;
    file.settle_kinds(&mut request);
    let seed = request.seed.unwrap_or_else(rng::seed_from_system);
    let mut reads = files::of_request(&args.request, &request);
    reads.push(args.recoding.clone());
    let recoding = RecodingSource::File(&file);
    make(
        &ReleaseJob {
            request: &request,
            data: &args.data,
            reads,
            out: &args.output,
            force: args.force,
            seed,
            recoding,
        },
        args.json,
        global,
    )
}
