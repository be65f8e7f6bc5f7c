//! `lookalike plan`: from distinct tuples with counts to what is published for how many rows of
//! each, so that whoever has the rows makes the release by a join.

use std::process::ExitCode;

use lookalike::run::Run;
use lookalike::{Result, table::Existing};

use crate::args::{GlobalArgs, PlanArgs};
use crate::cmd::anonymize::{Product, make};
use crate::files;

pub(crate) fn run(args: &PlanArgs, global: &GlobalArgs) -> Result<ExitCode> {
    let mut request = args.request.request()?;
    args.release.apply_to(&mut request)?;
    request.seed = args.seed.or(request.seed);
    let run = Run::new(&request)
        .techniques(args.release.how.techniques())
        .bound(args.release.how.bound)
        .existing(Existing::overwrite_if(args.force))
        .also_reads(files::of_request(&args.request, &request));
    make(run, &Product::Plan, (&args.counts, &args.output), args.json, global)
}
