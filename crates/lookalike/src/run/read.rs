//! Read: the columns that the request needs, with their roles.

use std::time::{Duration, Instant};

use crate::error::{Error, Hint, Result, Warning};
use crate::evaluate::profile::{person_columns, similar_persons};
use crate::evaluate::purpose::PurposeWeight;
use crate::forms::Form;
use crate::problem::treatments;
use crate::release::tuple_plan::{self, TupleName};
use crate::release::{self, CellFormat};
use crate::request::{ColumnRequest, Dialect, Request, Role, Roles};
use crate::table::{self, Column, Source, Table, TextDialect, Treatment};

use super::audit::Verify;
use super::forms::settle_forms;
use super::input::{Input, InputFile};
use super::options::{RecodingPlan, ReleaseFormat, RunPlan};
use super::purpose::{nothing_told, settle_purpose};
use super::{Product, Run, coarsen, warnings};

/// The table in memory.
#[derive(Debug)]
pub(super) struct ReadTable {
    pub(super) roles: Roles,
    pub(super) table: Table,
    pub(super) original: Original,
    /// The columns that are published otherwise than they are, as they were: for an audit that cannot
    /// read the table twice.
    pub(super) unreplaced: Vec<Column>,
    /// The weights that the purpose of the request has set; empty without one.
    pub(super) purpose: Vec<PurposeWeight>,
    pub(super) time: Duration,
    pub(super) warnings: Vec<Warning>,
}

/// The table for an audit that compares the release with it.
#[derive(Debug)]
pub(super) enum Original {
    /// It is read a second time.
    File(InputFile),
    /// It cannot be read twice: its codes stay in memory. Empty until the search needs them no more.
    Kept(Table),
    /// It cannot be read twice, and is too large to be kept.
    Lost,
}

/// The codes of a table that cannot be read twice are kept for the audit up to so many rows, unless
/// the caller asks for the comparison.
const MOST_KEPT: usize = 4_000_000;

pub(super) fn read(run: &mut Run, plan: &RunPlan, input: Input) -> Result<ReadTable> {
    let begun = Instant::now();
    let file = input.lasting().map(InputFile::new);
    let source = input.open(&run.request.input)?.with_cancel(run.cancel.run_flag());
    if plan.product == Product::Plan {
        forget_absent(&mut run.request, source.names());
        refuse_replaced(&run.request)?;
    }
    let keeps_dialect =
        run.request.output.dialect == Dialect::Input && plan.product == Product::Release;
    run.dialect = source.dialect().filter(|_| keeps_dialect);
    let is_sheet = source.is_sheet();
    let request = &run.request;
    let notes = source.notes().to_vec();
    let roles = roles(request, &source)?;
    request.rules(&roles)?;
    let mut treatments = treatments(source.names(), &roles);
    let has_cells = plan.product == Product::Plan && run.tuple_name == TupleName::Cells;
    if has_cells {
        // A plan has the original cells too.
        let quasi = source.names().iter().zip(&mut treatments);
        quasi
            .filter(|(name, _)| roles.quasi.contains(name))
            .for_each(|(_, treatment)| *treatment = Treatment::CodeAndPassThrough);
    }
    if let ReleaseFormat::File(file_type) = plan.format {
        table::check_columns(file_type, &source, |name| {
            roles.sensitive.contains(name) || roles.keep.contains(name)
        })?;
    }
    let persons = person_columns(source.names(), request);
    let (mut table, counted) = source.read_and_count(&treatments, &persons)?;
    let mut warnings = notes;
    if plan.product == Product::Release {
        warnings.extend(settle_forms(&mut table, &mut run.request)?);
        // What reads decimal commas expects semicolons, and a mark before UTF-8.
        if is_sheet && keeps_dialect && has_decimal_comma(&run.request) {
            run.dialect = Some(TextDialect { has_mark: true, ..TextDialect::plain(b';') });
        }
    }
    run.request.output.hash_secret = coarsen::secret_of_run(&run.request)?;
    let request = &run.request;
    let unreplaced = match file {
        Some(_) => Vec::new(),
        None => coarsen::unreplaced(&table, request),
    };
    coarsen::coarsen(&mut table, request)?;
    coarsen::hash(&mut table, request)?;
    if plan.format.cells() == CellFormat::Text {
        release::check_text(&table, &roles)?;
    }
    if has_cells {
        tuple_plan::check_tuples(&table, &roles)?;
    }
    let original = match file {
        Some(file) => Original::File(file),
        None if is_kept(run, plan.product, &table) || !roles.person.is_empty() => {
            Original::Kept(Table::default())
        }
        None => Original::Lost,
    };
    warnings.extend(warnings::request_warnings(request, &counted));
    warnings.extend(similar_persons(&table, &roles.person));
    let purpose = match plan.recoding {
        RecodingPlan::Search(_) => settle_purpose(&table, &roles, &mut run.request)?,
        // The recoding is made already.
        RecodingPlan::File(_) => Vec::new(),
    };
    warnings.extend(nothing_told(&purpose));
    let time = begun.elapsed();
    Ok(ReadTable { roles, table, original, unreplaced, purpose, time, warnings })
}

/// True when some column has decimal commas.
fn has_decimal_comma(request: &Request) -> bool {
    let is_of_commas = |column: &ColumnRequest| matches!(&column.format, Some(Form::Number(form)) if form.decimal == ',');
    request.columns.values().any(is_of_commas)
}

/// A table of tuples has only the columns that the rules need.
pub(super) fn forget_absent(request: &mut Request, names: &[String]) {
    let is_needed = |column: &ColumnRequest| match column.role {
        Role::Quasi => true,
        Role::Sensitive => column.has_rule(),
        Role::Identifier | Role::Keep | Role::Person | Role::Weight => false,
    };
    request.columns.retain(|name, column| is_needed(column) || names.contains(name));
}

/// A plan says what is published for tuples, and the engine that has the rows publishes the other
/// columns: nothing here would round or hash them.
pub(super) fn refuse_replaced(request: &Request) -> Result<()> {
    let is_replaced = |line: &ColumnRequest| line.is_coarsened() || line.hash;
    match request.columns.iter().find(|(_, line)| is_replaced(line)) {
        None => Ok(()),
        Some((name, _)) => {
            let reason = format!(
                "column `{name}` is to be rounded, coded at the top or the bottom, or hashed, and a \
                 plan cannot do that: do it where the table is (a view), and keep the column"
            );
            Err(Error::request("plan-coarsens", reason).about_column(name))
        }
    }
}

fn is_kept(run: &Run, product: Product, table: &Table) -> bool {
    match run.verify {
        _ if run.request.non_homogeneous || product == Product::Plan => true,
        Verify::Rules => false,
        Verify::Auto => table.rows() <= MOST_KEPT,
        Verify::Source | Verify::Full => true,
    }
}

/// The role of every column. Where the first line of the table may be a row, no message has its
/// names, which may be cells.
///
/// # Errors
/// As [`Request::roles`].
pub fn roles(request: &Request, source: &Source) -> Result<Roles> {
    request.roles(source.names()).map_err(|error| without_names(error, request, source))
}

/// The error of a request that does not fit a table, without the names of the table where these may
/// be cells.
pub fn without_names(error: Error, request: &Request, source: &Source) -> Error {
    if source.is_headless() {
        headless(source)
    } else if source.is_csv() && is_strange(request, source) {
        strange(&error, source)
    } else {
        error
    }
}

/// True when the request names columns and the table has none of them: perhaps its first line is a
/// row.
fn is_strange(request: &Request, source: &Source) -> bool {
    !request.columns.is_empty() && request.columns.keys().all(|name| !source.names().contains(name))
}

/// The error without the names of the table, which may be cells.
fn strange(error: &Error, source: &Source) -> Error {
    let said = error.reason().split(" (the table has").next().unwrap_or_default();
    let asked = error.place().column.clone().unwrap_or_default();
    let near = error.hints().iter().filter(|hint| {
        // A name of the same letters, or of one more or less, is no cell.
        matches!(hint, Hint::DidYouMean { column } if is_near(column, &asked))
    });
    let near: String = near.map(|hint| format!("; {}", hint.words())).collect();
    if source.names().len() == 1 {
        let reason = format!(
            "{said}{near}: the table has one column only, so its lines are probably cut at the wrong \
             delimiter; the name of the column is not printed, because it may be data"
        );
        return Error::request("unknown-column", reason)
            .about(error.place().clone())
            .hint(Hint::SetDelimiter);
    }
    let reason = format!(
        "{said}{near}: the table has none of the columns of the request; the names of its {} columns are \
         not printed, because they may be data; check the header line",
        source.names().len()
    );
    Error::request("unknown-column", reason)
        .about(error.place().clone())
        .hint(Hint::SetDelimiter)
        .hint(Hint::WriteRequest)
}

/// True for names of the same letters, or of one letter more or less.
fn is_near(one: &str, other: &str) -> bool {
    let (one, other) = (letters(one), letters(other));
    let (short, long) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    let without = |at: usize| long.iter().enumerate().filter(move |(i, _)| *i != at);
    short == long
        || (short.len() + 1 == long.len()
            && (0..long.len()).any(|at| without(at).map(|(_, letter)| letter).eq(&short)))
}

/// The letters of a name, whatever their order and case.
fn letters(name: &str) -> Vec<char> {
    let mut letters: Vec<char> = name.trim().to_lowercase().chars().collect();
    letters.sort_unstable();
    letters
}

/// The error for a request that does not fit columns whose names cannot be shown.
pub fn headless(source: &Source) -> Error {
    let reason = format!(
        "the request does not fit the {} columns of the table; their names are not printed, because \
         the first line looks like a row (a name is a number or a date, or equals a cell below \
         it): if the first line is the header, give every column a role, else add a header line",
        source.names().len()
    );
    Error::request("perhaps-no-header", reason).hint(Hint::SetNames).hint(Hint::TrustHeader)
}
