//! The functions of the module, a few lines each.

use std::path::Path;

use lookalike::domain::TableDomain;
use lookalike::release::recoding_file;
use lookalike::run::{Event, Run, Stage};
use lookalike::{Algorithm, Error, Request, Result};
use lookalike_report::compare::{ComparePlan, RuleSet};
use lookalike_report::proof::{ProofFile, parse_proof};
use lookalike_report::query::{QueryChoice, QueryDetail, RandomQueries};
use lookalike_report::report::{ReportOptions, TableNames};
use pyo3::prelude::*;
use pyo3::wrap_pyfunction;
use serde_json::Value;

use crate::cells;
use crate::errors::raise;
use crate::hints;
use crate::options::Options;
use crate::tables::{Release, TableInput};
use crate::work::{Worker, work};

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    for function in [
        wrap_pyfunction!(version, module)?,
        wrap_pyfunction!(anonymize, module)?,
        wrap_pyfunction!(plan, module)?,
        wrap_pyfunction!(cells::domain, module)?,
        wrap_pyfunction!(cells::cuts, module)?,
        wrap_pyfunction!(cells::merge_cells, module)?,
        wrap_pyfunction!(apply, module)?,
        wrap_pyfunction!(check, module)?,
        wrap_pyfunction!(explain, module)?,
        wrap_pyfunction!(verify, module)?,
        wrap_pyfunction!(compare, module)?,
        wrap_pyfunction!(suggest, module)?,
        wrap_pyfunction!(report, module)?,
        wrap_pyfunction!(query, module)?,
        wrap_pyfunction!(read_request, module)?,
        wrap_pyfunction!(parse_toml, module)?,
        wrap_pyfunction!(write_toml, module)?,
    ] {
        module.add_function(function)?;
    }
    Ok(())
}

#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

#[pyfunction]
#[pyo3(signature = (data, request, options, watch))]
fn anonymize(
    py: Python<'_>,
    data: &Bound<'_, PyAny>,
    request: &str,
    options: &str,
    watch: Option<&Bound<'_, PyAny>>,
) -> PyResult<Release> {
    let (request, options) = raise(py, asked(request, options))?;
    let (bound, verify) = (raise(py, options.bound())?, raise(py, options.verify())?);
    let (is_recoding_wanted, is_proof_wanted) = (options.recoding, options.with_proof);
    let input = TableInput::new(data)?;
    work(py, &options, watch, move |worker| {
        let mut run = run(&request, worker).bound(bound).verify(verify);
        if is_recoding_wanted {
            run = run.recoding_text();
        }
        if is_proof_wanted {
            run = run.proof_text();
        }
        let released = run.in_memory(input.input()?)?;
        Ok(Release::new(released))
    })
}

#[pyfunction]
#[pyo3(signature = (counts, request, options, watch))]
fn plan(
    py: Python<'_>,
    counts: &Bound<'_, PyAny>,
    request: &str,
    options: &str,
    watch: Option<&Bound<'_, PyAny>>,
) -> PyResult<Release> {
    let (request, options) = raise(py, asked(request, options))?;
    let bound = raise(py, options.bound())?;
    let domain = raise(py, options.domain.as_deref().map(TableDomain::from_json).transpose())?;
    let input = TableInput::new(counts)?;
    let is_numbered = options.numbered;
    work(py, &options, watch, move |worker| {
        let mut run = run(&request, worker).bound(bound);
        if is_numbered {
            run = run.numbered();
        }
        if let Some(domain) = &domain {
            run = run.within(domain);
        }
        Ok(Release::new(run.plan_in_memory(input.input()?)?))
    })
}

#[pyfunction]
#[pyo3(signature = (recoding, data, request, options, watch))]
fn apply(
    py: Python<'_>,
    recoding: &str,
    data: &Bound<'_, PyAny>,
    request: &str,
    options: &str,
    watch: Option<&Bound<'_, PyAny>>,
) -> PyResult<Release> {
    let (request, options) = raise(py, asked(request, options))?;
    let verify = raise(py, options.verify())?;
    let file = raise(py, recoding_file::parse(recoding, &request))?;
    let input = TableInput::new(data)?;
    work(py, &options, watch, move |worker| {
        let released =
            run(&request, worker).apply(&file).verify(verify).in_memory(input.input()?)?;
        Ok(Release::new(released))
    })
}

/// The request and the options of a call.
pub(crate) fn asked(request: &str, options: &str) -> Result<(Request, Options)> {
    Ok((Request::from_json(request)?, Options::parse(options)?))
}

/// A run of this request by a worker, whose labels are ordered categories.
fn run<'a>(request: &Request, worker: &Worker<'a>) -> Run<'a> {
    let page = lookalike_report::codebook::page;
    Run::new(request).categories().codebook_page(page).cancel(&worker.cancel).watch(worker.watch)
}

#[pyfunction]
fn check(
    py: Python<'_>,
    data: &Bound<'_, PyAny>,
    request: &str,
    options: &str,
) -> PyResult<String> {
    let (request, options) = raise(py, asked(request, options))?;
    let input = TableInput::new(data)?;
    work(py, &options, None, move |_| {
        let source = input.input()?.open(&request.input)?;
        Ok(lookalike_report::check::check(source, &request)?.json(hints::words).to_string())
    })
}

#[pyfunction]
fn explain(
    py: Python<'_>,
    data: &Bound<'_, PyAny>,
    request: &str,
    options: &str,
) -> PyResult<String> {
    let (request, options) = raise(py, asked(request, options))?;
    let input = TableInput::new(data)?;
    work(py, &options, None, move |worker| {
        let source = input.input()?.open(&request.input)?;
        let found = lookalike_report::explain::explain(source, &request, &worker.cancel)?;
        Ok(found.json(hints::words).to_string())
    })
}

#[pyfunction]
#[pyo3(signature = (release, request, source, options))]
fn verify(
    py: Python<'_>,
    release: &Bound<'_, PyAny>,
    request: &str,
    source: Option<&Bound<'_, PyAny>>,
    options: &str,
) -> PyResult<String> {
    let (mut request, options) = raise(py, asked(request, options))?;
    let proof = raise(py, proof(&options, &request))?;
    request.non_homogeneous |= matches!(proof, Some(ProofFile::Rings(_)));
    let release = TableInput::new(release)?;
    let source = source.map(TableInput::new).transpose()?;
    let is_plan = options.plan;
    work(py, &options, None, move |_| {
        let (release, source) = (release.input()?, source.map(TableInput::input).transpose()?);
        let found = match source {
            Some(counts) if is_plan => {
                lookalike_report::verify::verify_plan(release, counts, &request)?
            }
            source => lookalike_report::verify::verify(release, source, &request, proof.as_ref())?,
        };
        Ok(found.json().to_string())
    })
}

#[pyfunction]
#[pyo3(signature = (data, request, options, watch))]
fn compare(
    py: Python<'_>,
    data: &Bound<'_, PyAny>,
    request: &str,
    options: &str,
    watch: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let (request, options) = raise(py, asked(request, options))?;
    let plan = raise(py, compare_plan(&request, &options))?;
    let mut ks: Vec<Option<u64>> = options.k.iter().copied().map(Some).collect();
    ks.sort_unstable();
    ks.dedup();
    let ks = if ks.is_empty() { vec![request.k] } else { ks };
    let sets = [RuleSet { name: String::new(), request, ks }];
    raise(py, lookalike_report::compare::check_sets(&sets, &plan))?;
    let input = TableInput::new(data)?;
    work(py, &options, watch, move |worker| {
        let source = input.input()?.open(&sets[0].request.input)?;
        let table = lookalike_report::compare::read(source, &sets)?;
        (worker.watch)(Event::Stage(Stage::Search));
        let notify = |event: lookalike_report::Event<'_>| worker.notify(&event);
        let found =
            lookalike_report::compare::compare(&table, &sets, &plan, &worker.cancel, &notify)?;
        let mut object = found.json(hints::words);
        let plots = lookalike_report::compare::plots(&sets, &plan, &found).into_iter();
        object["plots"] = plots.map(|(name, svg)| (name, Value::String(svg))).collect();
        Ok(object.to_string())
    })
}

fn algorithm(name: &str) -> Result<Algorithm> {
    name.parse().map_err(|why: String| Error::request("unknown-name", why))
}

/// What is compared.
fn compare_plan(request: &Request, options: &Options) -> Result<ComparePlan> {
    let usual = ComparePlan::default();
    let algorithms = match &options.algorithms[..] {
        [] => usual.algorithms,
        names => names.iter().map(|name| algorithm(name)).collect::<Result<_>>()?,
    };
    let queries = options.random.unwrap_or(usual.queries);
    let seed = request.seed.unwrap_or(usual.seed);
    Ok(ComparePlan { algorithms, bound: options.bound()?, queries, seed, ..usual })
}

#[pyfunction]
fn suggest(py: Python<'_>, data: &Bound<'_, PyAny>, options: &str) -> PyResult<String> {
    let options = raise(py, Options::parse(options))?;
    let input = TableInput::new(data)?;
    work(py, &options, None, move |_| {
        let path = input.path().map(Path::to_path_buf);
        let at = lookalike::request::Input { path, ..Default::default() };
        let found = lookalike_report::suggest::suggest(input.input()?.open(None)?, &at)?;
        Ok(found.json(hints::words).to_string())
    })
}

#[pyfunction]
#[pyo3(signature = (source, release, request, options, watch))]
fn report(
    py: Python<'_>,
    source: &Bound<'_, PyAny>,
    release: &Bound<'_, PyAny>,
    request: &str,
    options: &str,
    watch: Option<&Bound<'_, PyAny>>,
) -> PyResult<(String, String)> {
    let (request, options) = raise(py, asked(request, options))?;
    let usual = ReportOptions::default();
    let (source, release) = (TableInput::new(source)?, TableInput::new(release)?);
    let wanted = ReportOptions {
        names: TableNames { source: source.name(), release: release.name() },
        proof: raise(py, proof(&options, &request))?,
        edition: options.edition.into(),
        queries: options.random.unwrap_or(usual.queries),
        bound: raise(py, options.bound())?,
        date: Some(raise(py, options.date())?),
    };
    work(py, &options, watch, move |worker| {
        let notify = |event: lookalike_report::Event<'_>| worker.notify(&event);
        let (source, release) = (source.input()?, release.input()?);
        let made = lookalike_report::report::report(
            source,
            release,
            &request,
            &wanted,
            &worker.cancel,
            &notify,
        )?;
        Ok((made.html, made.numbers.to_string()))
    })
}

/// The usual number of random queries, and their seed, as on the command line.
const RANDOM_QUERIES: u64 = 1_000;
const QUERY_SEED: u64 = 1;

#[pyfunction]
fn query(
    py: Python<'_>,
    source: &Bound<'_, PyAny>,
    release: &Bound<'_, PyAny>,
    request: &str,
    options: &str,
) -> PyResult<String> {
    let (request, options) = raise(py, asked(request, options))?;
    let choice = match &options.queries {
        Some(text) => QueryChoice::Own(raise(py, lookalike::evaluate::query::parse(text))?),
        None => QueryChoice::Random(RandomQueries {
            queries: options.random.unwrap_or(RANDOM_QUERIES),
            seed: options.seed.unwrap_or(QUERY_SEED),
            on: options.on.clone(),
            sum: options.sum.clone(),
        }),
    };
    let detail = if options.each { QueryDetail::Each } else { QueryDetail::Summary };
    let (source, release) = (TableInput::new(source)?, TableInput::new(release)?);
    work(py, &options, None, move |_| {
        let answers =
            lookalike_report::query::query(source.input()?, release.input()?, &request, choice)?;
        Ok(answers.json(detail).to_string())
    })
}

/// The proof that was given.
fn proof(options: &Options, request: &Request) -> Result<Option<ProofFile>> {
    options.proof.as_deref().map(|text| parse_proof(text, request)).transpose()
}

#[pyfunction]
fn read_request(py: Python<'_>, path: &str) -> PyResult<String> {
    raise(py, Request::read(Path::new(path)).and_then(|request| request.to_json()))
}

#[pyfunction]
fn parse_toml(py: Python<'_>, text: &str) -> PyResult<String> {
    raise(py, Request::parse(text).and_then(|request| request.to_json()))
}

#[pyfunction]
fn write_toml(py: Python<'_>, request: &str) -> PyResult<String> {
    raise(py, Request::from_json(request).and_then(|request| request.to_toml()))
}
