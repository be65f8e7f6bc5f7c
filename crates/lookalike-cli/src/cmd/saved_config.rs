//! The configuration of a release as it was used, for `report` and `verify`: `anonymize
//! --save-config`.

use std::path::{Path, PathBuf};

use lookalike::evaluate::purpose::PurposeWeight;
use lookalike::request::HierarchySpec;
use lookalike::run::refuse_overlap;
use lookalike::table::{self, Access, Existing};
use lookalike::{Request, Result};

use crate::args::AnonymizeArgs;
use crate::paths::seen_from;
use crate::request::usage;
use crate::show;

/// The configuration of a release, for `report` and `verify`.
#[derive(Debug)]
pub(crate) enum Config<'a> {
    /// That of `-c`, or none.
    Same,
    /// That of `-c` and flags, which no file has.
    Changed,
    /// One that is written after the release was verified.
    Saved { path: &'a Path, request: Box<Request>, existing: Existing },
}

/// Which of these it is. A file that may not be written is refused here, before the table is read.
pub(crate) fn config<'a>(
    args: &'a AnonymizeArgs,
    request: &Request,
    (data, out): (&Path, &Path),
    reads: &[PathBuf],
) -> Result<Config<'a>> {
    let Some(path) = args.save_config.as_deref() else {
        let is_changed = is_changed(args.request.config.as_deref(), request)?;
        return Ok(if is_changed { Config::Changed } else { Config::Same });
    };
    let request = Box::new(seen(path, request, (data, out))?);
    text(path, &request)?;
    let existing = Existing::overwrite_if(args.force);
    refuse_overlap(Some(data), reads, &[("-o", out), ("--save-config", path)])?;
    drop(table::Pending::beside(path, existing)?);
    Ok(Config::Saved { path, request, existing })
}

impl Config<'_> {
    /// Writes the file, if one is wanted, with the weights that the purpose has set.
    pub(crate) fn write(&self, purpose: &[PurposeWeight]) -> Result<()> {
        match self {
            Config::Saved { path, request, existing } => {
                let mut request = request.clone();
                for one in purpose {
                    let line = request.columns.get_mut(&one.name);
                    line.into_iter().for_each(|line| line.weight = Some(one.weight));
                }
                table::write_text(path, *existing, Access::Usual, &text(path, &request)?)
            }
            Config::Same | Config::Changed => Ok(()),
        }
    }

    /// Its line at the end of a summary.
    pub(crate) fn line(&self) -> String {
        match self {
            Config::Same => String::new(),
            Config::Changed => "note      flags changed the configuration: give the same flags to \
                                report and verify,\n          or write it down with --save-config \
                                FILE\n"
                .to_string(),
            Config::Saved { path, .. } => format!("          {}\n", show::path(path)),
        }
    }
}

/// The request as it is used, without its seed, with paths seen from the folder of its file.
fn seen(path: &Path, request: &Request, (data, out): (&Path, &Path)) -> Result<Request> {
    let is_stream = |path: &Path| path == Path::new("-");
    if is_stream(path) {
        return Err(usage("--save-config writes a file: name one"));
    }
    let mut request = Request { seed: None, ..request.clone() };
    let named = |file: &Path| (!is_stream(file)).then(|| seen_from(path, file));
    request.input.path = named(data);
    request.output.path = named(out);
    let files = request.columns.values_mut().filter_map(|column| match &mut column.hierarchy {
        Some(HierarchySpec::File(file)) => Some(file),
        _ => None,
    });
    let others = request.risk.population.iter_mut().chain(&mut request.output.proof);
    for file in files.chain(others) {
        *file = seen_from(path, file);
    }
    Ok(request)
}

fn text(path: &Path, request: &Request) -> Result<String> {
    match path.extension().is_some_and(|end| end == "json") {
        true => request.to_json(),
        false => request.to_toml(),
    }
}

/// True when flags changed what the configuration says, but for its files, the seed and the limits of
/// the search: `report` and `verify` need none of them.
fn is_changed(config: Option<&Path>, request: &Request) -> Result<bool> {
    let Some(config) = config else { return Ok(false) };
    let mut written = Request::read(config)?;
    written.seed = request.seed;
    written.steps = request.steps;
    written.limits.time.clone_from(&request.limits.time);
    written.input.path.clone_from(&request.input.path);
    written.output.path.clone_from(&request.output.path);
    written.output.proof.clone_from(&request.output.proof);
    Ok(written != *request)
}
