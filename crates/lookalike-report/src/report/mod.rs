//! One page about a release, and the same numbers as JSON.
//!
//! No number on the page comes from the run that made the release: the audit reads the release and
//! its source, and every number is counted again.

mod accuracy;
mod caveats;
mod checksum;
mod counts;
mod date;
mod examples;
mod loss;
mod numbers;
mod object;
pub(crate) mod page;
mod persons;
mod pictures;
mod purpose;
mod record;
mod record_page;
mod risk;
mod settings;
mod unchanged;

pub use date::RecordDate;

use std::time::Duration;

use lookalike::audit::{self, AuditView};
use lookalike::evaluate::profile::person_columns;
use lookalike::evaluate::purpose::scores;
use lookalike::evaluate::query::{self, Workload};
use lookalike::evaluate::uniqueness::unique_rows;
use lookalike::run::{
    Cancel, Effort, Input, coarsen, hash_secret, lower_bound, read_for_audit, request_warnings,
    roles as roles_of, settle_forms, settle_purpose,
};
use lookalike::{Error, Hint, Problem, Request, Result};
use serde_json::Value;

use crate::Event;
use crate::proof::ProofFile;
use crate::verify::quasi;
use counts::CountPolicy;
use examples::Examples;
use numbers::ReportInput;
use purpose::PurposeNumbers;
use record::ReportFiles;

/// The time for a quick lower bound.
const QUICK: Duration = Duration::from_secs(5);
/// The seed of the random counts.
const SEED: u64 = 1;

/// The readers of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Edition {
    /// People who may see the source: exact counts of it, as confidential as the source.
    #[default]
    Internal,
    /// Everyone who gets the release: no value that is not in the release, counts of the source
    /// rounded, and hidden below k.
    Public,
}

/// The names of the two tables on the page: paths, or any other names. The public edition shows
/// the last part of a path alone.
#[derive(Clone, Debug)]
pub struct TableNames {
    /// The source.
    pub source: String,
    /// The release.
    pub release: String,
}

/// What a report has, and for whom.
#[derive(Debug)]
pub struct ReportOptions {
    /// The names of the tables on the page.
    pub names: TableNames,
    /// The proof of a release whose rules count persons.
    pub proof: Option<ProofFile>,
    /// The readers.
    pub edition: Edition,
    /// The number of random counts for each number of conditions; 0 for none.
    pub queries: u64,
    /// The effort for the lower bound on the loss.
    pub bound: Effort,
    /// The day of the record, in UTC; a page without one when absent.
    pub date: Option<RecordDate>,
}

/// The internal edition without a proof and without a date, 1,000 counts and a quick bound; the tables are called
/// `source` and `release`.
impl Default for ReportOptions {
    fn default() -> ReportOptions {
        ReportOptions {
            names: TableNames { source: "source".to_string(), release: "release".to_string() },
            proof: None,
            edition: Edition::default(),
            queries: 1_000,
            bound: Effort::default(),
            date: None,
        }
    }
}

/// A page about a release, and its numbers.
#[derive(Clone, Debug)]
pub struct Report {
    /// The page: one HTML file without scripts that loads nothing.
    pub html: String,
    /// The numbers of the page as a JSON object; docs/report.md describes the keys.
    pub numbers: Value,
    /// The verdict in two sentences.
    pub verdict: String,
    /// True when the release satisfies every rule and is a true release of its source.
    pub holds: bool,
}

/// Refuses requests that no report can be made of, before tables are read.
///
/// # Errors
/// [`Request`](lookalike::ErrorKind::Request) then.
pub fn check_request(request: &Request) -> Result<()> {
    request.sampling_fraction()?;
    if request.non_homogeneous {
        let why = "report describes classes, and a non-homogeneous release has none";
        return Err(Error::request("report-without-classes", why).hint(Hint::VerifyInstead));
    }
    Ok(())
}

/// Audits a release against its source and describes it. `notify` gets warnings as they arise;
/// `cancel` ends the lower bound early.
///
/// # Example
/// ```
/// use lookalike::{Request, table};
/// use lookalike_report::report::{ReportOptions, TableNames, report};
///
/// let request = Request::new(2).quasi_identifiers(["age"]);
/// let open = |text: &str| table::open_text(text.to_string(), "t".as_ref());
/// let (source, release) = (open("age\n34\n36\n")?, open("age\n[34-36]\n[34-36]\n")?);
/// let names = TableNames { source: "patients".into(), release: "safe".into() };
/// let options = ReportOptions { names, queries: 0, ..ReportOptions::default() };
/// let page = report(source, release, &request, &options, &Default::default(), &|_| {})?;
/// assert!(page.holds && page.html.starts_with("<!DOCTYPE html>"));
/// assert_eq!(page.numbers["rows"]["released"], 2);
/// # Ok::<(), lookalike::Error>(())
/// ```
///
/// # Errors
/// When a table cannot be read or does not fit the request. A release that breaks a rule is no
/// error: the page says so.
pub fn report(
    source: impl Into<Input>,
    release: impl Into<Input>,
    request: &Request,
    options: &ReportOptions,
    cancel: &Cancel,
    notify: &dyn Fn(Event<'_>),
) -> Result<Report> {
    check_request(request)?;
    let (source, release) = (source.into(), release.into());
    let files = ReportFiles::of(&source, &release);
    let opened = source.open(&request.input)?;
    let roles = roles_of(request, &opened)?;
    let persons = person_columns(opened.names(), request);
    let treatments = audit::treatments(opened.names(), request, AuditView::Source);
    let (mut source, counted) = opened.read_and_count(&treatments, &persons)?;
    let mut request = request.clone();
    settle_forms(&mut source, &mut request)?;
    request.output.hash_secret = hash_secret(&request)?;
    let request = &request;
    let mut warnings = request_warnings(request, &counted);
    warnings.iter().for_each(|warning| notify(Event::Warning(warning)));
    let release = read_for_audit(release, request, AuditView::ReleaseAgainstSource)?;
    let verdict = match &options.proof {
        Some(ProofFile::Origins(origins)) => {
            audit::audit_persons(&release, &source, request, origins)?
        }
        Some(ProofFile::Rings(_)) => {
            let why = "the proof is of a non-homogeneous release";
            return Err(Error::request("report-without-classes", why).hint(Hint::VerifyInstead));
        }
        None => audit::audit_against(&release, &source, request)?,
    };
    // From here on the source has what is published: rounded numbers are what others know.
    coarsen(&mut source, request)?;
    let mut request = request.clone();
    let weights = settle_purpose(&source, &roles, &mut request)?;
    let request = &request;
    let policy = match options.edition {
        Edition::Internal => CountPolicy::Exact,
        Edition::Public => CountPolicy::Guarded(request.k.unwrap_or(verdict.measures.k).max(2)),
    };
    let verdict = persons::disclosed(verdict, request, policy);
    // A release that violates the rules may have unreadable cells; the page is made anyway.
    let holds = verdict.holds();
    let or_none = |error| if holds { Err(error) } else { Ok(None) };
    let columns = query::columns(&source, &release, request).map(Some).or_else(or_none)?;
    // The public edition has no query errors when rows were suppressed.
    let before = audit::measures(&source, request)?;
    let is_hidden = policy != CountPolicy::Exact && before.rows != verdict.measures.rows;
    let quasi = quasi(&release, request);
    let errors = if options.queries == 0 || columns.is_none() || is_hidden {
        Vec::new()
    } else {
        let counts = Workload { queries: options.queries, seed: SEED, ..Workload::default() };
        accuracy::errors(&source, &release, request, (quasi.len(), &counts), notify)?
    };
    // If no release is possible there is no bound; the verdict says so already.
    let problem =
        Problem::new(&source, &roles, &Request { seed: Some(SEED), ..request.clone() }).ok();
    warnings.extend(problem.iter().flat_map(|problem| problem.warnings()).cloned());
    // The page counts the loss of rows; where persons count, the bound counts these.
    let bound = problem.filter(|problem| problem.persons().is_none()).and_then(|problem| {
        lower_bound(&problem, SEED, options.bound, QUICK, cancel.search_flag())
    });
    let unchanged: Vec<String> = roles.keep.iter().chain(&roles.sensitive).cloned().collect();
    let unique = match unique_rows(&release, request, &unchanged) {
        Err(_) if !holds => None,
        unique => unique?,
    };
    let risk = match policy {
        CountPolicy::Exact => Some(risk::measured(&source, &release, &roles, request, holds)?),
        CountPolicy::Guarded(_) => None,
    };
    let purpose = match policy {
        CountPolicy::Exact if !weights.is_empty() => {
            let scores = match holds {
                true => scores(&source, &release, &roles, request, None)?,
                false => Vec::new(),
            };
            Some(PurposeNumbers { weights, scores })
        }
        _ => None,
    };
    // Cells of a release that does not hold may be anything.
    let examples = match holds {
        true => examples::examples(&source, &release, request, policy)?,
        false => Examples::default(),
    };
    let said = disclosed(request, policy);
    let record =
        record::record(&files, &source, &verdict, (&roles, &said), options, policy, &warnings)?;
    if cancel.is_abandoned() {
        return Err(Error::interrupted());
    }
    let input = ReportInput {
        verdict,
        before,
        columns,
        errors,
        bound,
        unique,
        quasi,
        roles,
        counted,
        request,
    };
    let mut numbers = numbers::report_numbers(&input, policy, &options.names);
    numbers.risk_measures = risk;
    numbers.purpose = purpose;
    numbers.examples = examples;
    numbers.record = record;
    let (html, object) = (page::page(&numbers), object::object(&numbers));
    Ok(Report { html, numbers: object, verdict: numbers.verdict, holds })
}

/// The request as an edition may show it: weights for a purpose, which are never 0, are a function of
/// the source.
fn disclosed(request: &Request, policy: CountPolicy) -> Request {
    let mut request = request.clone();
    if policy != CountPolicy::Exact && !request.purpose.is_empty() {
        request.columns.values_mut().for_each(|line| {
            line.weight = line.weight.filter(|&weight| weight <= 0.0);
        });
    }
    request
}
