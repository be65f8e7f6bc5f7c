//! Plan: a request that cannot succeed is refused before anything is read.

use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

use crate::error::{Error, Hint, Result};
use crate::release::CellFormat;
use crate::release::recoding_file::RecodingFile;
use crate::request::{ColumnRequest, Order, Publish, Request};
use crate::rng::{self, Key};
use crate::search::global::{Cost, Techniques};
use crate::search::{Algorithm, SearchOptions};
use crate::table::{self, FileType, Pending};

use super::input::Input;
use super::target::{Target, refuse_overlap};
use super::{LabelFormat, Product, RecodingSource, Run, SecretTarget};
use super::{cells, codebook};

/// The time limit of `auto` when nobody sets one.
pub const USUAL_TIME: Duration = Duration::from_secs(10);

/// A run that passed every check that needs no table.
#[derive(Debug)]
pub(super) struct RunPlan<'a> {
    pub(super) product: Product,
    pub(super) format: ReleaseFormat,
    pub(super) recoding: RecodingPlan<'a>,
    /// The seed of the request, or one of the system.
    pub(super) seed: u64,
}

/// The form of the released cells.
#[derive(Clone, Copy, Debug)]
pub(super) enum ReleaseFormat {
    File(FileType),
    Batches(LabelFormat),
}

impl ReleaseFormat {
    /// Text files have text cells, all others typed ones.
    pub(super) fn cells(self) -> CellFormat {
        match self {
            ReleaseFormat::File(FileType { format: table::Format::Csv { .. }, .. }) => {
                CellFormat::Text
            }
            ReleaseFormat::Batches(LabelFormat::Categories) => CellFormat::Categories,
            _ => CellFormat::Typed,
        }
    }
}

/// The way to the recoding.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one per run")]
pub(super) enum RecodingPlan<'a> {
    Search(SearchOptions),
    File(&'a RecodingFile),
}

pub(super) fn plan<'a>(
    run: &Run<'a>,
    input: &Input,
    target: &Target,
    product: Product,
) -> Result<RunPlan<'a>> {
    if product == Product::Plan {
        refuse_plan(run)?;
    }
    cells::refuse(run, product)?;
    codebook::refuse(run, target, product)?;
    let format = match target {
        Target::File(path) => {
            let file_type = table::file_type(path)?;
            refuse_outputs(run, input, Some(path))?;
            drop(Pending::beside(path, run.existing)?);
            ReleaseFormat::File(file_type)
        }
        Target::Memory | Target::Sink(_) => {
            refuse_outputs(run, input, None)?;
            ReleaseFormat::Batches(run.labels)
        }
    };
    run.request.suppress()?;
    run.request.time()?;
    run.request.max_loss()?;
    let seed = run.request.seed.unwrap_or_else(rng::seed_from_system);
    Ok(RunPlan { product, format, recoding: recoding(run, target, seed)?, seed })
}

/// A plan needs counts, and is made of rows that stand for others.
fn refuse_plan(run: &Run) -> Result<()> {
    if run.request.has_persons() {
        let reason = "a plan has tuples without persons, so nobody could count these: remove the \
                      role person, or make a release of the rows";
        return Err(Error::request("plan-of-persons", reason));
    }
    if !run.request.purpose.is_empty() {
        let reason = "a plan is made of tuples without the purpose columns, so the weights for a \
                      purpose cannot be found: set the weights of the quasi-identifiers instead";
        return Err(Error::request("plan-of-purpose", reason));
    }
    if run.request.count.is_none() {
        let reason = "a plan needs to know how many rows each tuple has";
        return Err(Error::request("no-count", reason).hint(Hint::NameCount));
    }
    Ok(())
}

/// No output may replace a file that is read, or another output.
fn refuse_outputs(run: &Run, input: &Input, output: Option<&Path>) -> Result<()> {
    let secrets = [("the proof", &run.proof), ("the recoding", &run.recoding_copy)];
    let secrets =
        secrets.into_iter().filter_map(|(what, secret)| Some((what, secret.as_ref()?.path()?)));
    let codebook = output.map_or(Vec::new(), |path| run.codebook_files(path));
    let codebook = codebook.iter().map(|path| ("the codebook", path.as_path()));
    let release = output.map(|path| ("the release", path)).into_iter();
    let outputs: Vec<(&str, &Path)> = release.chain(secrets).chain(codebook).collect();
    let mut reads = run.reads.clone();
    reads.extend(run.request.hierarchy_files());
    reads.extend(run.request.output.hash_key.clone());
    refuse_overlap(input.path(), &reads, &outputs)
}

fn recoding<'a>(run: &Run<'a>, target: &Target, seed: u64) -> Result<RecodingPlan<'a>> {
    match run.recoding {
        RecodingSource::Search => {
            let options = search_options(&run.request, seed, run.techniques)?;
            let search =
                SearchOptions { key: Key::of(run.request.seed), tuning: run.tuning, ..options };
            refuse_unused(&run.request, search.algorithm)?;
            refuse_ring(&run.request, search.algorithm, target)?;
            refuse_persons(&run.request, target)?;
            refuse_secrets(run, search.algorithm)?;
            Ok(RecodingPlan::Search(search))
        }
        RecodingSource::File(_) if run.request.non_homogeneous => Err(Error::request(
            "homogeneous-recoding",
            "a release from a recoding file is homogeneous, which is stronger: remove \
             non_homogeneous",
        )),
        RecodingSource::File(_) if run.request.output.publish.has_bounds() => Err(Error::request(
            "fixed-labels",
            "a recoding file fixes the published labels, and new rows can have other bounds: \
                 publish labels, not bounds",
        )),
        RecodingSource::File(file) => {
            refuse_persons(&run.request, target)?;
            if run.proof.is_some() || run.recoding_copy.is_some() {
                let reason = "a release from a recoding file has neither a proof nor a recoding of \
                              its own";
                return Err(Error::request("no-recoding", reason));
            }
            Ok(RecodingPlan::File(file))
        }
    }
}

/// The options of the search that a request asks for.
///
/// # Errors
/// When a name is unknown, or the algorithm does not fit what is asked for.
pub fn search_options(
    request: &Request,
    seed: u64,
    techniques: Techniques,
) -> Result<SearchOptions> {
    let named =
        |name: &str| Algorithm::from_str(name).map_err(|why| Error::request("unknown-name", why));
    let algorithm = request.algorithm.as_deref().map_or(Ok(Algorithm::default()), named)?;
    if !algorithm.is_homogeneous() && !request.non_homogeneous {
        let reason = format!(
            "{algorithm} makes non-homogeneous releases: every row could be any of k released \
             rows, but these rows differ from each other, and who finds the row of one person \
             learns about others"
        );
        return Err(Error::request("non-homogeneous", reason).hint(Hint::AllowNonHomogeneous));
    }
    if algorithm.is_homogeneous() && request.non_homogeneous {
        let reason = format!(
            "`non_homogeneous` is for ring: a release of {algorithm} is homogeneous, which is \
             stronger"
        );
        let ring = Hint::UseAlgorithm { names: vec![Algorithm::Ring.name().into()] };
        return Err(Error::request("homogeneous", reason).hint(ring));
    }
    if !algorithm.is_homogeneous() && request.output.publish == Publish::Set {
        let reason = "ring cannot publish sets, because a row covers values that the set would not \
                      list";
        return Err(Error::request("sets-of-rings", reason).hint(Hint::PublishLabels));
    }
    let usual = SearchOptions::new(algorithm, seed);
    let cost = request.cost.as_deref().map_or(Ok(usual.cost), Cost::from_str)?;
    Ok(SearchOptions {
        rounds: request.rounds()?.unwrap_or(usual.rounds),
        cost,
        techniques,
        steps: request.steps,
        suppression_price: request.suppression_price()?.unwrap_or(usual.suppression_price),
        ..usual
    })
}

/// The time limit of a search: `auto` without a limit would never end, unless its steps are
/// counted.
///
/// # Errors
/// When the limit of the request is no time.
pub fn time_limit(request: &Request, search: SearchOptions) -> Result<Option<Duration>> {
    let is_limited = search.algorithm.is_anytime() && search.steps.is_none();
    Ok(request.time()?.or(is_limited.then_some(USUAL_TIME)))
}

/// Refuses keys that only global algorithms heed.
fn refuse_unused(request: &Request, algorithm: Algorithm) -> Result<()> {
    let of_column = |column: &ColumnRequest| column.scheme.is_some();
    let schemes = request.scheme.is_some() || request.columns.values().any(of_column);
    let unused = [("scheme", schemes), ("cost", request.cost.is_some())];
    match unused.into_iter().find(|(_, is_given)| *is_given) {
        Some((what, _)) if !algorithm.is_global() => {
            let reason = format!("`{what}` is for optimal: the others publish ranges, not blocks");
            let optimal = Hint::UseAlgorithm { names: vec![Algorithm::Optimal.name().into()] };
            Err(Error::request("not-global", reason).hint(optimal))
        }
        _ => Ok(()),
    }
}

/// The further conditions of the algorithm ring.
fn refuse_ring(request: &Request, algorithm: Algorithm, target: &Target) -> Result<()> {
    if algorithm.is_homogeneous() {
        return Ok(());
    }
    if matches!(target, Target::Sink(sink) if sink.reads_back()) {
        let reason = "the proof of rings is about the order of the rows, which a sink that reads \
                      them back may change";
        return Err(Error::request("order-of-rings", reason));
    }
    if request.output.order == Order::Input {
        let reason = "in the order of the input, the rows of ring identify persons";
        return Err(Error::request("order-of-rings", reason).hint(Hint::SortRows));
    }
    Ok(())
}

/// Persons are counted along the order in which the rows were written.
fn refuse_persons(request: &Request, target: &Target) -> Result<()> {
    if request.has_persons() && matches!(target, Target::Sink(sink) if sink.reads_back()) {
        let reason = "the persons of a release are counted along the order of its rows, which a \
                      sink that reads them back may change";
        return Err(Error::request("order-of-persons", reason));
    }
    Ok(())
}

/// Proof and recoding exist for some algorithms only, and are as secret as the table.
fn refuse_secrets(run: &Run, algorithm: Algorithm) -> Result<()> {
    let is_provable = !algorithm.is_homogeneous() || run.request.has_persons();
    if run.proof.is_some() && !is_provable {
        let reason = format!("there is no proof: a release of {algorithm} is verified without one");
        return Err(Error::request("no-proof", reason));
    }
    if run.recoding_copy.is_some() && !algorithm.is_global() {
        let global = Algorithm::ALL.into_iter().filter(|other| other.is_global());
        let names = global.map(|algorithm| algorithm.name().to_string()).collect();
        let reason = format!(
            "there is no recoding to write: {algorithm} generalizes one value differently in \
             different classes"
        );
        return Err(Error::request("no-recoding", reason).hint(Hint::UseAlgorithm { names }));
    }
    for (what, secret) in [("proof", &run.proof), ("recoding", &run.recoding_copy)] {
        let Some(path) = secret.as_ref().and_then(SecretTarget::path) else { continue };
        if path == Path::new("-") {
            let reason = format!("the {what} is as secret as the table: name a file for it");
            return Err(Error::request("secret-to-stream", reason));
        }
        drop(Pending::beside(path, run.existing)?);
    }
    Ok(())
}
