//! `lookalike report`: one page about a release, and the same numbers as JSON.

use std::path::Path;
use std::process::ExitCode;

use lookalike::run::refuse_overlap;
use lookalike::table::{self, Access, Existing, Pending};
use lookalike::{Request, Result};
use lookalike_report::explain::{add_to, explain};
use lookalike_report::proof::read_proof;
use lookalike_report::report::{
    Edition, RecordDate, ReportOptions, TableNames, check_request, report,
};

use crate::NOT_MET;
use crate::args::{GlobalArgs, ReportArgs};
use crate::request::usage;
use crate::{files, hints, interrupt, paths, show};

pub(crate) fn run(args: &ReportArgs, global: &GlobalArgs) -> Result<ExitCode> {
    let mut request = args.request.request()?;
    args.released.apply_to(&mut request);
    args.risk.apply_to(&mut request);
    check_request(&request)?;
    if args.explain && args.edition == Edition::Public {
        return Err(usage(
            "--explain has shares of the source, which the public edition must not have: leave it \
             out, or use --edition internal",
        ));
    }
    let (source, release) =
        paths::of_report(args.source.as_ref(), args.release.as_ref(), &request)?;
    refuse_outputs(args, &request, (&source, &release))?;
    refuse_ending(&args.output)?;
    // Outputs that cannot be written are refused before large tables are read.
    for path in [Some(&args.output), args.json.as_ref()].into_iter().flatten() {
        drop(Pending::beside(path, Existing::overwrite_if(args.force))?);
    }
    let options = ReportOptions {
        names: TableNames {
            source: source.display().to_string(),
            release: release.display().to_string(),
        },
        proof: paths::of_proof(args.proof.as_ref(), &release, &request)
            .map(|path| read_proof(&path, &request))
            .transpose()?,
        edition: args.edition,
        queries: args.queries,
        bound: args.bound,
        date: Some(args.date.map_or_else(RecordDate::today, Ok)?),
    };
    let mut page = report(&source, &release, &request, &options, interrupt::of_run(), &|event| {
        if let Some((_, message)) = event.warning(hints::words) {
            show::warning(&message);
        }
    })?;
    if args.explain {
        let source = table::open(&source, &request.input)?;
        add_to(&mut page, &explain(source, &request, interrupt::of_run())?, hints::words);
    }
    // Counts of the source are as secret as the source.
    let access = match args.edition {
        Edition::Internal => Access::Owner,
        Edition::Public => Access::Usual,
    };
    let existing = Existing::overwrite_if(args.force);
    if let Some(path) = &args.json {
        table::write_text(path, existing, access, &format!("{:#}\n", page.numbers))?;
    }
    table::write_text(&args.output, existing, access, &page.html)?;
    if !global.quiet {
        show::say(&format!("{}\nwritten   {}", page.verdict, show::path(&args.output)));
        if args.edition == Edition::Internal {
            show::say(
                "note      this edition has counts of the source: keep it as confidential as the \
                 source, or use --edition public",
            );
        }
    }
    Ok(if page.holds { ExitCode::SUCCESS } else { ExitCode::from(NOT_MET) })
}

/// The page must replace neither source nor release, and its numbers not the page.
fn refuse_outputs(
    args: &ReportArgs,
    request: &Request,
    (source, release): (&Path, &Path),
) -> Result<()> {
    let mut reads = files::of_request(&args.request, request);
    reads.extend(request.risk.population.clone());
    reads.push(release.to_path_buf());
    reads.extend(paths::of_proof(args.proof.as_ref(), release, request));
    let json = args.json.iter().map(|path| ("--json", path.as_path()));
    let outputs: Vec<(&str, &Path)> =
        std::iter::once(("-o", args.output.as_path())).chain(json).collect();
    refuse_overlap(Some(source), &reads, &outputs)
}

/// The page is HTML, whatever its name ends in: no program would open it as something else.
fn refuse_ending(page: &Path) -> Result<()> {
    let ending = page.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    let way = match ending.as_deref() {
        None | Some("html" | "htm") => return Ok(()),
        Some("json") => "use --json FILE for the numbers, and -o FILE.html for the page",
        Some("pdf") => "use -o FILE.html, and print the page from the browser as PDF",
        Some(_) => "use -o FILE.html",
    };
    Err(usage(format!(
        "the report is a page in HTML, so {} would not open: {way}",
        show::path(page)
    )))
}
