//! `lookalike apply`: releases further rows with the recoding of an earlier release.

use std::process::ExitCode;

use lookalike::release::recoding_file;
use lookalike::run::Run;
use lookalike::{Result, table::Existing};

use crate::args::{ApplyArgs, GlobalArgs};
use crate::cmd::anonymize::{Product, make};
use crate::cmd::saved_config::Config;
use crate::files;

pub(crate) fn run(args: &ApplyArgs, global: &GlobalArgs) -> Result<ExitCode> {
    let mut request = args.request.request()?;
    args.writing.apply_to(&mut request);
    let file = recoding_file::read(&args.recoding, &request)?;
    let mut reads = files::of_request(&args.request, &request);
    reads.push(args.recoding.clone());
    let run = Run::new(&request)
        .apply(&file)
        .verify(args.verify)
        .existing(Existing::overwrite_if(args.force))
        .also_reads(reads);
    make(run, &Product::Release(Config::Same, None), (&args.data, &args.output), args.json, global)
}
