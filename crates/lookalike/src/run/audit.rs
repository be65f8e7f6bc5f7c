//! Audit: the written release is read back and checked by independent code.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use arrow_array::RecordBatchIterator;

use crate::audit::{self, AuditView, Finding, Origin, Verdict};
use crate::error::{Error, ErrorKind, Result};
use crate::names::names;
use crate::release::Release;
use crate::request::{Persons, Request, Role};
use crate::table::{self, Format, Source, Table};

use super::forms::{self, settle_forms};
use super::input::{Input, InputFile};
use super::read::{Original, forget_absent};
use super::search::FoundRecoding;
use super::write::{ReleasePlace, WrittenRelease};
use super::{Product, Run, cells, coarsen, dictionaries};

/// How much the audit of a written release checks. The rules are always checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verify {
    /// [`Verify::Source`] where that takes no longer than the search took, else
    /// [`Verify::Rules`]. The verdict says which.
    #[default]
    Auto,
    /// The rules alone.
    Rules,
    /// Also that every released row stands for a source row of its own, which it covers, and that
    /// the other published cells are unchanged; along the rows that the run says it has published.
    Source,
    /// The same without any word of the run: some assignment of released rows to source rows is
    /// found anew.
    Full,
}

names!(Verify, "audit", {
    Auto => "auto",
    Rules => "rules",
    Source => "source",
    Full => "full",
});

/// The comparison of a release with its source.
#[derive(Debug)]
pub(super) enum SourceComparison {
    None,
    /// Along the source row of each released row.
    Along(Original, Vec<u32>),
    ByMatching(Original),
    /// Along the rings of the proof.
    Rings(Original),
    /// Along the source rows, whose persons are counted in this reading.
    Persons(Original, Persons, Vec<Origin>),
    /// A plan is checked against its tuples.
    Plan(Original),
}

impl SourceComparison {
    pub(super) fn needs_origins(&self) -> bool {
        matches!(self, SourceComparison::Along(..) | SourceComparison::Persons(..))
    }

    /// Takes the recorded origins from a release that is written.
    pub(super) fn with_origins(self, release: &mut Release) -> SourceComparison {
        match self {
            SourceComparison::Along(original, _) => {
                SourceComparison::Along(original, release.origins())
            }
            SourceComparison::Persons(original, reading, _) => {
                SourceComparison::Persons(original, reading, release.sources())
            }
            other => other,
        }
    }

    /// The source rows behind each released row, where persons are counted along them.
    pub(super) fn person_origins(&self) -> Option<&[Origin]> {
        match self {
            SourceComparison::Persons(_, _, origins) => Some(origins),
            _ => None,
        }
    }

    fn original(&self) -> Option<&Original> {
        match self {
            SourceComparison::None => None,
            SourceComparison::Along(original, _)
            | SourceComparison::ByMatching(original)
            | SourceComparison::Rings(original)
            | SourceComparison::Persons(original, ..)
            | SourceComparison::Plan(original) => Some(original),
        }
    }
}

/// The order in which the audit gets the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowOrder {
    AsWritten,
    /// Whatever the sink of a caller makes of it.
    Any,
}

/// Without origins, so many rows are matched in moments.
const MATCHED_ROWS: usize = 100_000;

/// The comparison that the audit of this release makes.
pub(super) fn comparison(
    run: &Run,
    product: Product,
    order: RowOrder,
    found: &mut FoundRecoding,
) -> SourceComparison {
    let original = std::mem::replace(&mut found.original, Original::Lost);
    if product == Product::Plan {
        return SourceComparison::Plan(original);
    }
    if found.outcome.rings.is_some() {
        return SourceComparison::Rings(original);
    }
    // Who is behind a row can only be seen in the source.
    if let Some(persons) = found.problem.persons() {
        return SourceComparison::Persons(original, persons.reading, Vec::new());
    }
    // Rows that stand for several have no origins, and a sink may give rows back in any order.
    let has_origins = run.request.count.is_none() && order == RowOrder::AsWritten;
    match run.verify {
        Verify::Rules => SourceComparison::None,
        Verify::Full => SourceComparison::ByMatching(original),
        Verify::Source if !has_origins => SourceComparison::ByMatching(original),
        Verify::Auto if !has_origins && found.table.rows() <= MATCHED_ROWS => {
            SourceComparison::ByMatching(original)
        }
        Verify::Auto if !has_origins => SourceComparison::None,
        Verify::Source => SourceComparison::Along(original, Vec::new()),
        Verify::Auto if is_quick(found, &original) => SourceComparison::Along(original, Vec::new()),
        Verify::Auto => SourceComparison::None,
    }
}

/// The time to compare one cell of a release with the source, when both are read.
const TIME_PER_CELL: Duration = Duration::from_nanos(30);

/// True when a second reading of the source and the comparison take no longer than the search.
fn is_quick(found: &FoundRecoding, original: &Original) -> bool {
    let cells = found.table.rows() as u64 * found.table.columns().len() as u64;
    let comparing = TIME_PER_CELL.as_secs_f64() * crate::codes::real(cells);
    let needed = found.read_time.as_secs_f64() + comparing;
    !matches!(original, Original::Lost) && needed <= found.time.as_secs_f64().max(LEAST)
}

/// A comparison of so many seconds is always made.
const LEAST: f64 = 0.5;

const CHANGED: &str = "the input file changed during the run: nothing was written; run again when \
                       no other program writes to it";

/// Reads the release back and audits it.
///
/// # Errors
/// [`NotVerified`](crate::ErrorKind::NotVerified) when it does not pass.
pub(super) fn audit(run: &Run, written: &mut WrittenRelease) -> Result<Verdict> {
    let verdict = verdict(run, written);
    // The input was read twice: a fault may be in the second reading alone.
    let file = written.comparison.original().and_then(|original| match original {
        Original::File(file) => Some(file),
        _ => None,
    });
    match verdict {
        Ok(verdict) if verdict.holds() => Ok(verdict),
        Err(error) if error.kind() == ErrorKind::Interrupted => Err(error),
        _ if file.is_some_and(InputFile::is_changed) => Err(Error::data("input-changed", CHANGED)),
        Ok(verdict) => Err(Error::not_verified(complaint(&verdict))),
        Err(error) => Err(error),
    }
}

fn verdict(run: &Run, written: &mut WrittenRelease) -> Result<Verdict> {
    let request = &run.request;
    let view = match &written.comparison {
        SourceComparison::None => AuditView::Release,
        _ => AuditView::ReleaseAgainstSource,
    };
    let flag = run.cancel.run_flag();
    let is_guarded = matches!(written.place, ReleasePlace::File { .. });
    if let ReleasePlace::Memory { batches } | ReleasePlace::Sink { batches: Some(batches), .. } =
        &written.place
    {
        dictionaries::check(&batches.batches)?;
    }
    let rows = read_back(&mut written.place)?.with_cancel(Arc::clone(&flag));
    if let SourceComparison::Plan(original) = &mut written.comparison {
        let plan = rows.read_for(|names| audit::plan_treatments(names, request))?;
        let tuples = source(original, request, flag)?;
        let whole = run.domain.map(cells::distributions).unwrap_or_default();
        return audit::audit_plan_of_part(&plan, &tuples, request, &whole);
    }
    let release = if is_guarded {
        read_opened(rows, request, view)?
    } else {
        rows.read_for(|names| audit::treatments(names, request, view))?
    };
    run.cancel.check()?;
    match &mut written.comparison {
        SourceComparison::Along(original, origins) if origins.len() == release.rows() => {
            audit::audit_along(&release, &source(original, request, flag)?, request, origins)
        }
        SourceComparison::Along(original, _) | SourceComparison::ByMatching(original) => {
            audit::audit_against(&release, &source(original, request, flag)?, request)
        }
        SourceComparison::Rings(original) => {
            let source = source(original, request, flag)?;
            audit::audit_rings(&release, &source, request, written.proof.as_ref())
        }
        SourceComparison::Persons(original, reading, origins) => {
            let request = Request { persons: Some(*reading), ..request.clone() };
            let source = source(original, &request, flag)?;
            audit::audit_persons_once(&release, source, &request, origins)
        }
        SourceComparison::None | SourceComparison::Plan(_) => audit::audit(&release, request),
    }
}

/// Opens the written release.
fn read_back(place: &mut ReleasePlace) -> Result<Source> {
    let batches = match place {
        ReleasePlace::File { pending, file_type, .. } => {
            return table::open(pending.path(), delimiter(file_type.format));
        }
        ReleasePlace::Memory { batches } => batches,
        ReleasePlace::Sink { sink, batches } => match (sink.read_back(), batches) {
            (Some(opened), _) => return opened,
            (None, Some(batches)) => batches,
            (None, None) => unreachable!("a sink reads back, or its batches are kept"),
        },
    };
    let all = batches.batches.clone().into_iter().map(Ok);
    table::from_batches(RecordBatchIterator::new(all, batches.schema.clone()))
}

/// The source as the audit reads it.
fn source(original: &mut Original, request: &Request, cancel: Arc<AtomicBool>) -> Result<Table> {
    match original {
        Original::File(file) => {
            let opened = table::open(&file.path, &request.input)?;
            read_opened(opened.with_cancel(cancel), request, AuditView::Source)
        }
        Original::Kept(table) => table::coded_throughout(std::mem::take(table)),
        Original::Lost => Err(Error::request(
            "not-kept",
            "the table cannot be read twice, and was not kept for a comparison with the release",
        )),
    }
}

/// Reads a table for the audit, from a path or an opened source. The delimiter of the request is
/// that of the source; the name of a release says its own. Only a release in a text file has
/// apostrophes before formulas.
///
/// # Errors
/// As [`table::open`] and [`Source::read`].
pub fn read_for_audit(
    input: impl Into<Input>,
    request: &Request,
    view: AuditView,
) -> Result<Table> {
    let opened = match view {
        AuditView::Source => input.into().open(&request.input)?,
        _ => open_release(input.into())?,
    };
    read_opened(opened, request, view)
}

/// Reads the source of a release for the audit; the request has the forms of its numbers and dates
/// then.
///
/// # Errors
/// As [`read_for_audit`], and when the form of a column cannot be found.
pub fn read_source_for_audit(input: impl Into<Input>, request: &mut Request) -> Result<Table> {
    let opened = input.into().open(&request.input)?;
    let treatments = audit::treatments(opened.names(), request, AuditView::Source);
    let mut table = opened.read(&treatments)?;
    settle_forms(&mut table, request)?;
    request.output.hash_secret = coarsen::hash_secret(request)?;
    Ok(table)
}

/// Opens a release. Tabs stand in a `.tsv` file; other text may have the dialect of its source.
fn open_release(release: Input) -> Result<Source> {
    let named = release.path().and_then(|path| table::file_type(path).ok());
    let delimiter = named.and_then(|file_type| delimiter(file_type.format));
    release.open(delimiter.filter(|&sign| sign == '\t'))
}

/// Verifies a plan against the table of tuples that it was made from; returns the verdict, and the
/// quasi-identifiers in the order of that table.
///
/// # Errors
/// As [`table::open`] and [`audit::audit_plan`].
pub fn verify_plan(
    plan: impl Into<Input>,
    counts: impl Into<Input>,
    request: &Request,
) -> Result<(Verdict, Vec<String>)> {
    let mut request = request.clone();
    let tuples = counts.into().open(&request.input)?;
    forget_absent(&mut request, tuples.names());
    let is_quasi =
        |name: &&String| request.column(name).is_some_and(|column| column.role == Role::Quasi);
    let quasi = tuples.names().iter().filter(is_quasi).cloned().collect();
    let tuples = read_opened(tuples, &request, AuditView::Source)?;
    let plan = open_release(plan.into())?;
    let plan = plan.read_for(|names| audit::plan_treatments(names, &request))?;
    Ok((audit::audit_plan(&plan, &tuples, &request)?, quasi))
}

/// Reads an opened table for the audit. Only a release in a text file has apostrophes before
/// formulas, unless the request turned them off.
pub(super) fn read_opened(opened: Source, request: &Request, view: AuditView) -> Result<Table> {
    let is_guarded = view != AuditView::Source && opened.is_csv() && !request.output.raw_formulas;
    let treatments = audit::treatments(opened.names(), request, view);
    let mut table = opened.read(&treatments)?;
    if is_guarded {
        audit::unguard(&mut table);
    }
    match view {
        AuditView::Source => forms::plain_cells(&mut table, request),
        AuditView::Release | AuditView::ReleaseAgainstSource => {
            forms::plain_labels(&mut table, request);
        }
    }
    Ok(table)
}

/// The delimiter of a text file; none for the other formats.
pub(super) fn delimiter(format: Format) -> Option<char> {
    match format {
        Format::Csv(dialect) => Some(char::from(dialect.delimiter)),
        Format::Parquet | Format::Arrow => None,
    }
}

/// A sentence for each rule that the release breaks.
pub(super) fn broken_rules(verdict: &Verdict) -> impl Iterator<Item = String> {
    let broken = verdict.rules.iter().filter(|rule| rule.violations > 0);
    broken.map(|rule| format!("{} is broken", rule.rule))
}

/// The faults of a release, without any value of a cell.
pub(super) fn complaint(verdict: &Verdict) -> String {
    let truth = verdict.truth.iter().flat_map(|truth| &truth.statements);
    let untrue = truth
        .filter(|statement| statement.finding == Finding::Broken)
        .map(|statement| statement.text.clone());
    let persons = verdict.persons.iter().flat_map(|persons| &persons.statements);
    let not_whole = persons
        .filter(|statement| statement.finding == Finding::Broken)
        .map(|statement| statement.text.clone());
    let found: Vec<String> = broken_rules(verdict)
        .chain(verdict.leaks.iter().cloned())
        .chain(not_whole)
        .chain(untrue)
        .collect();
    format!("the written release failed the audit and is not published: {}", found.join("; "))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn the_complaint_names_rules_and_columns_and_no_cell() {
        let request = Request::parse(
            "k = 2\n[columns]\nage = { role = \"quasi\" }\nname = { role = \"identifier\" }",
        )
        .unwrap();
        let text = "name,age\ncanary,30\ncanary,30\ncanary,31\n".to_string();
        let opened = table::open_text(text, Path::new("release.csv")).unwrap();
        let release = read_opened(opened, &request, AuditView::Release).unwrap();
        let verdict = audit::audit(&release, &request).unwrap();
        assert!(!verdict.holds());
        let said = complaint(&verdict);
        for part in
            ["is not published", "k = 2 on age is broken", "identifier `name` is in the release"]
        {
            assert!(said.contains(part), "{said}");
        }
        assert!(!said.contains("canary"), "{said}");
    }
}
