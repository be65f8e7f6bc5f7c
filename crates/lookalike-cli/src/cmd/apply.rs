//! `lookalike apply`: further rows, published by the recoding that was found for earlier ones.

use std::process::ExitCode;

use lookalike::{Result, release::recoding_file, rng};

use crate::args::{Apply, Global};
use crate::cmd::anonymize::make;
use crate::files;
use crate::pipeline::{Job, Way};

/// Runs the command.
pub(crate) fn run(args: &Apply, global: &Global) -> Result<ExitCode> {
    let mut request = args.request.request()?;
    args.writing.lay_over(&mut request);
    let file = recoding_file::read(&args.recoding, &request)?;
    file.settle_kinds(&mut request);
    let seed = request.seed.unwrap_or_else(rng::seed_from_system);
    let mut reads = files::of_request(&args.request, &request);
    reads.push(args.recoding.clone());
    let way = Way::Apply { file: &file };
    make(
        &Job {
            request: &request,
            data: &args.data,
            reads,
            out: &args.output,
            force: args.force,
            seed,
            way,
        },
        args.json,
        global,
    )
}
