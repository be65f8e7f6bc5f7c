//! The audit: an independent check of any published table against the request it was made for.
//!
//! It reads the released table and the request and shares no code with the search: equivalence
//! classes (rows with the same published values) are counted anew from the released cells, every
//! rule is evaluated with separate arithmetic, labels are read with separate readers. With the
//! source beside the release it also checks the truth: every released row has a source row of its
//! own that it covers.
//!
//! Decisions are made in integers; only the entropy needs logarithms, see [`ENTROPY_TOLERANCE`]. A
//! verdict names rows, sizes and shares, never the value of a cell; of a class that breaks a rule
//! it names sizes and shares only.

mod along;
mod center;
mod classes;
mod coarsening;
mod column_order;
mod cover;
mod covered_by;
mod excerpt;
mod ground_distance;
mod guard;
mod hashes;
mod join;
mod matching;
mod measure;
mod path;
mod persons;
mod placement;
mod plan;
mod plan_tuples;
mod reading;
mod released_cell;
mod rings;
mod row_counts;
mod rules;
mod snapped;
mod source_check;
mod source_match;
mod surface;
mod tuple_index;

#[cfg(test)]
mod tests;

// Released cells are read in one way: by the audit, by queries, and where labels come from a
// recoding file.
pub(crate) use classes::Fold;
pub(crate) use cover::first_uncovered;
pub(crate) use covered_by::covered_by;
pub(crate) use reading::{number_at, present};
pub(crate) use released_cell::{Interval, ReleasedCell, ValueScale, cells, interval, members};
pub(crate) use surface::{QuasiColumns, surface};

pub use covered_by::covered_rows;
pub use guard::unguard;
pub use measure::{AtRisk, CountUnit, Measures, Risk, SensitiveMeasures, SizeBand};
pub use persons::{Origin, PersonsVerdict};
pub use plan::plan_treatments;
pub use rings::{NonHomogeneous, Proof, ProofRing};
pub use rules::{ENTROPY_TOLERANCE, WholeDistribution};
pub use source_check::{Finding, Method, SourceCheck, Statement};
pub use surface::{AuditView, treatments};

use serde::ser::{Serialize, SerializeStruct, Serializer};

use crate::codes::RowId;
use crate::error::{Error, Result};
use crate::request::Request;
use crate::table::{Coded, Table};

/// The findings of an audit.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// Rows, classes, risk and the spread of the sensitive columns, whatever the rules are.
    pub measures: Measures,
    /// Every rule of the request.
    pub rules: Vec<RuleVerdict>,
    /// Columns that the release must not have; a sentence each.
    pub leaks: Vec<String>,
    /// The comparison with the source, when there was one.
    pub truth: Option<SourceCheck>,
    /// For a non-homogeneous release its guarantee: the rules are then evaluated on the rows that a
    /// person could be, and not on the classes of equal rows, which `measures` is about.
    pub non_homogeneous: Option<NonHomogeneous>,
    /// Where the request has a person key: the reading, and its checks. Rules and measures count
    /// persons then.
    pub persons: Option<PersonsVerdict>,
}

impl Serialize for Verdict {
    /// In JSON, rows and classes are also at the top.
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let Verdict { measures, rules, leaks, truth, non_homogeneous, persons } = self;
        let mut fields = serializer.serialize_struct("Verdict", 8)?;
        fields.serialize_field("rows", &measures.rows)?;
        fields.serialize_field("classes", &measures.classes)?;
        fields.serialize_field("measures", measures)?;
        fields.serialize_field("rules", rules)?;
        fields.serialize_field("leaks", leaks)?;
        fields.serialize_field("truth", truth)?;
        fields.serialize_field("non_homogeneous", non_homogeneous)?;
        fields.serialize_field("persons", persons)?;
        fields.end()
    }
}

impl Verdict {
    /// True when the audit found no fault.
    pub fn holds(&self) -> bool {
        self.leaks.is_empty()
            && self.rules.iter().all(|rule| rule.violations == 0)
            && self.truth.as_ref().is_none_or(SourceCheck::holds)
            && self.persons.as_ref().is_none_or(PersonsVerdict::holds)
    }
}

/// The result of one rule.
#[derive(Clone, Debug, serde::Serialize)]
pub struct RuleVerdict {
    /// The rule in words: `k = 5 on age, zip`, or `k = 5 persons on age, zip`.
    pub rule: String,
    /// The sensitive column it is about, if it is about one.
    pub sensitive: Option<String>,
    /// Classes that break it.
    pub violations: u64,
    /// Rows in these classes, or persons.
    pub rows: u64,
    /// What `rows` and the sizes of the examples count.
    pub unit: CountUnit,
    /// The name of the measure in `worst`: `smallest class`, `greatest share` and so on.
    pub measure: &'static str,
    /// The measure of the worst class; infinite (null in JSON) when the tail of a recursive rule is
    /// empty.
    pub worst: f64,
    /// The limit of the measure: k, alpha, l, c or t.
    pub limit: f64,
    /// The worst few kinds of classes that break it: worst measure first, then the smallest.
    pub examples: Vec<ClassExcerpt>,
}

/// A class that breaks a rule, described by sizes and shares: none of its values, and not its place
/// in the table.
#[derive(Clone, Debug, serde::Serialize)]
pub struct ClassExcerpt {
    /// Classes that break the rule and have exactly these numbers.
    pub classes: u64,
    /// Rows of each of them, or persons.
    pub size: u64,
    /// Its measure under the rule; infinite (null in JSON) when the tail of a recursive rule is
    /// empty.
    pub measure: f64,
    /// Rows, or persons, with the most frequent value, or with one of the values that alpha names;
    /// none where the rule does not depend on it, or where rows of persons are weighted.
    pub count: Option<u64>,
    /// For a recursive rule: rows, or persons, without one of the l - 1 most frequent values.
    pub tail: Option<u64>,
    /// The same in words.
    pub text: String,
}

/// Checks a released table against the rules of the request.
///
/// The table must be read with the [`treatments`] of [`AuditView::Release`] or
/// [`AuditView::ReleaseAgainstSource`]; a release that was read from a text file must have passed
/// [`unguard`].
///
/// # Example
/// ```
/// use lookalike::{Request, audit::{AuditView, audit, treatments, unguard}, table};
///
/// let request = Request::parse("k = 3\ncolumns.age.role = 'quasi'")?;
/// let release = "age\n[34-37]\n[34-37]\n[34-37]\n[51-58]\n[51-58]\n".to_string();
/// let source = table::open_text(release, "release.csv".as_ref())?;
/// let mut release = source.read(&treatments(&["age".into()], &request, AuditView::Release))?;
/// unguard(&mut release);
/// let verdict = audit(&release, &request)?;
/// assert!(!verdict.holds() && verdict.rules[0].violations == 1);
/// # Ok::<(), lookalike::Error>(())
/// ```
///
/// # Errors
/// When the release lacks a quasi-identifier or a sensitive column, a column has no role, or the
/// request contradicts itself. When the request has a person key and no pseudonyms: then only
/// [`audit_persons`] can count. A broken rule is no error: it is in the verdict.
pub fn audit(release: &Table, request: &Request) -> Result<Verdict> {
    if persons::has_key(request)? {
        return persons::by_pseudonyms(release, None, request);
    }
    audit_part(release, request, &[])
}

/// As [`audit`], without persons, for a part of a release whose whole has these distributions.
fn audit_part(release: &Table, request: &Request, whole: &[WholeDistribution]) -> Result<Verdict> {
    let surface = surface::surface(release, request)?;
    let specs = request.rules(&surface.roles)?;
    let (measures, rules) = measure::evaluate(release, request, &surface, &specs, whole)?;
    Ok(Verdict {
        measures,
        rules,
        leaks: surface.leaks,
        truth: None,
        non_homogeneous: None,
        persons: None,
    })
}

/// As [`audit`], and compares the release with the table it was made from.
///
/// The tables must be read with the [`treatments`] of [`AuditView::ReleaseAgainstSource`] and
/// [`AuditView::Source`].
///
/// # Example
/// ```
/// # use lookalike::{Request, audit::{AuditView, audit_against, treatments}, table};
/// let request = Request::parse("k = 2\ncolumns.age.role = 'quasi'")?;
/// let read = |text: &str, view| {
///     let treatments = treatments(&["age".into()], &request, view);
///     table::open_text(text.into(), "data.csv".as_ref())?.read(&treatments)
/// };
/// let source = read("age\n34\n37\n51\n58\n", AuditView::Source)?;
/// let release = "age\n[34-37]\n[34-37]\n[51-55]\n[51-55]\n";
/// let release = read(release, AuditView::ReleaseAgainstSource)?;
/// let verdict = audit_against(&release, &source, &request)?;
/// assert_eq!(verdict.truth.expect("compared").violations, 1); // no row covers 58
/// # Ok::<(), lookalike::Error>(())
/// ```
///
/// # Errors
/// As [`audit`], and when the source lacks a quasi-identifier or a hierarchy file cannot be read.
pub fn audit_against(release: &Table, source: &Table, request: &Request) -> Result<Verdict> {
    if persons::has_key(request)? {
        return persons::by_pseudonyms(release, Some(source), request);
    }
    let mut verdict = audit(release, request)?;
    verdict.truth = Some(source_check::check(release, source, request, source_check::LIMITS)?);
    Ok(verdict)
}

/// As [`audit_against`], along the origins that the run recorded: for each released row, in order,
/// the number of the source row that it was made from, counted from 0.
///
/// The audit believes none of them: every origin must be a row of the source and none may be used
/// twice, every released cell must cover the original value, and the passed-through cells must be
/// the same. In the order of the source the origins must ascend. A release that holds here holds
/// by [`audit_against`] too; the time is linear.
///
/// The tables must be read with the [`treatments`] of [`AuditView::ReleaseAgainstSource`] and
/// [`AuditView::Source`].
///
/// # Example
/// ```
/// # use lookalike::{Request, audit::{AuditView, audit_along, treatments}, table};
/// # let request = Request::parse("k = 2\ncolumns.age.role = 'quasi'")?;
/// # let read = |text: &str, view| {
/// #     let treatments = treatments(&["age".into()], &request, view);
/// #     table::open_text(text.into(), "data.csv".as_ref())?.read(&treatments)
/// # };
/// let source = read("age\n51\n34\n58\n37\n", AuditView::Source)?;
/// let release = "age\n[34-37]\n[34-37]\n[51-58]\n[51-58]\n";
/// let release = read(release, AuditView::ReleaseAgainstSource)?;
/// assert!(audit_along(&release, &source, &request, &[1, 3, 0, 2])?.holds());
/// assert!(!audit_along(&release, &source, &request, &[1, 3, 0, 0])?.holds()); // one row twice
/// # Ok::<(), lookalike::Error>(())
/// ```
///
/// # Errors
/// As [`audit_against`], when there is not one origin for each released row, and for tables with a
/// count column: a released row may stand for parts of several source rows there.
pub fn audit_along(
    release: &Table,
    source: &Table,
    request: &Request,
    origin: &[RowId],
) -> Result<Verdict> {
    if persons::has_key(request)? {
        let numbered = (0..).zip(origin);
        let of = |(released, &source): (RowId, &RowId)| Origin { released, source, count: 1 };
        return audit_persons(release, source, request, &numbered.map(of).collect::<Vec<_>>());
    }
    let mut verdict = audit(release, request)?;
    verdict.truth = Some(along::check(release, source, request, origin)?);
    Ok(verdict)
}

/// Checks a release whose rules count persons, along the origins that the run recorded: which
/// released row stands for which source row. The source has the person key, the release has not.
///
/// The audit believes none of the origins: every released cell must cover the original value, the
/// passed-through cells must be the same, every released row must have its origins, and no source
/// row may be used more often than it occurs. Persons are then counted by the key of the source.
/// By the reading [`Whole`](crate::request::Persons::Whole) all rows of a person must be in one class
/// and released, or none. Where the request does not say how persons count, this reading is taken
/// if persons are whole; [`Rows`](crate::request::Persons::Rows) if not, or if that one alone
/// holds.
///
/// With pseudonyms, each must be of one person, and they must not show the key.
///
/// The tables must be read with the [`treatments`] of [`AuditView::ReleaseAgainstSource`] and
/// [`AuditView::Source`].
///
/// # Example
/// ```
/// use lookalike::{Request, audit::{AuditView, Origin, audit_persons, treatments}, table};
///
/// let request = Request::parse(
///     "k = 2\ncolumns.age.role = 'quasi'\ncolumns.patient.role = 'person'",
/// )?;
/// let read = |text: &str, view| {
///     let source = table::open_text(text.into(), "data.csv".as_ref())?;
///     source.read_for(|names| treatments(names, &request, view))
/// };
/// let source = read("patient,age\nA,34\nA,34\nB,37\n", AuditView::Source)?;
/// let release = read("age\n[34-37]\n[34-37]\n[34-37]\n", AuditView::ReleaseAgainstSource)?;
/// let origins = [0, 1, 2].map(|row| Origin { released: row, source: row, count: 1 });
/// let verdict = audit_persons(&release, &source, &request, &origins)?;
/// assert!(verdict.holds() && verdict.measures.k == 2); // three rows of two persons
/// let release = read("age\n34\n34\n37\n", AuditView::ReleaseAgainstSource)?;
/// assert!(!audit_persons(&release, &source, &request, &origins)?.holds()); // A alone, twice
/// # Ok::<(), lookalike::Error>(())
/// ```
///
/// # Errors
/// As [`audit_against`]; when the request has no person key, a row of the source has no person, or
/// an origin names a row that is in neither table.
pub fn audit_persons(
    release: &Table,
    source: &Table,
    request: &Request,
    origins: &[Origin],
) -> Result<Verdict> {
    persons::along_origins(release, source, request, origins)
}

/// As [`audit_persons`], with a source that is freed as soon as it is not needed.
pub(crate) fn audit_persons_once(
    release: &Table,
    source: Table,
    request: &Request,
    origins: &[Origin],
) -> Result<Verdict> {
    persons::along_origins(release, source, request, origins)
}

/// Checks the rules on a table as it is, such as a source before any recoding: columns that a
/// release must not have are no fault, and persons are counted by the person key of the table.
///
/// # Errors
/// As [`audit`]; when the request has a person key that the table lacks, or a row has no person.
pub fn audit_table(table: &Table, request: &Request) -> Result<Verdict> {
    if persons::has_key(request)? {
        return persons::of_table(table, request);
    }
    Ok(Verdict { leaks: Vec::new(), ..audit(table, request)? })
}

/// Checks a plan against the table of counts that it is for.
///
/// The plan has a row for each piece of a tuple: the original columns under their own names, the
/// published ones after `published_`, `first_row` and `last_row` (which of the tuple's rows,
/// counted from 1) and `suppressed`. Every row of the counts must have its pieces, from 1 to its
/// count without gap or overlap, and no other tuple may have any; every published value must cover
/// the original; suppressed pieces have no published value and are within the limit of the request.
/// The rules are evaluated on the published values, each piece with the number of its rows; the
/// sensitive values are those of the original columns.
///
/// Faults are in the field `truth` of the verdict; its `violations` are pieces and tuples with a
/// fault. The plan must be read with [`plan_treatments`], the counts with these or as a source. A
/// plan has no guard before formulas.
///
/// # Example
/// ```
/// use lookalike::{Request, audit::{audit_plan, plan_treatments}, table};
///
/// let request = Request::parse("k = 2\ncount = 'n'\ncolumns.age.role = 'quasi'")?;
/// let read = |text: &str| {
///     let source = table::open_text(text.into(), "data.csv".as_ref())?;
///     source.read_for(|names| plan_treatments(names, &request))
/// };
/// let counts = read("age,n\n34,1\n37,3\n")?;
/// let plan = "age,published_age,first_row,last_row,suppressed\n\
///             34,[34-37],1,1,false\n37,[34-37],1,1,false\n37,37,2,3,false\n";
/// assert!(audit_plan(&read(plan)?, &counts, &request)?.holds());
/// let plan = plan.replace("2,3", "3,3"); // a row of the second tuple has no piece
/// assert!(!audit_plan(&read(&plan)?, &counts, &request)?.holds());
/// # Ok::<(), lookalike::Error>(())
/// ```
///
/// # Errors
/// As [`audit`]; when the request has no count column, the plan lacks a column, or a cell of
/// `first_row`, `last_row`, `suppressed` or the count column cannot be read.
pub fn audit_plan(plan: &Table, counts: &Table, request: &Request) -> Result<Verdict> {
    persons::refuse_key(request, "a plan is for rows with counts")?;
    plan::check(plan, counts, request, &[])
}

/// As [`audit_plan`], for the plan of a part of a table: t-closeness compares with the distributions
/// of the whole table, those of the part alone where none is given for a column.
///
/// The audit cannot see the whole, so it believes these numbers; that the whole release satisfies
/// the rule, its own audit shows.
///
/// # Errors
/// As [`audit_plan`].
pub fn audit_plan_of_part(
    plan: &Table,
    counts: &Table,
    request: &Request,
    whole: &[WholeDistribution],
) -> Result<Verdict> {
    persons::refuse_key(request, "a plan is for rows with counts")?;
    plan::check(plan, counts, request, whole)
}

/// Checks a non-homogeneous release (algorithm `ring`) against the table it was made from, by the
/// proof that was kept when it was made; without a proof only k can be checked, and only where
/// there are not too many pairs of row and person.
///
/// The tables must be read with the [`treatments`] of [`AuditView::ReleaseAgainstSource`] and
/// [`AuditView::Source`].
///
/// # Example
/// ```
/// # use lookalike::{Request, audit::{AuditView, audit_rings, treatments}, table};
/// # let request = Request::parse("k = 2\ncolumns.age.role = 'quasi'")?;
/// # let read = |text: &str, view| {
/// #     let treatments = treatments(&["age".into()], &request, view);
/// #     table::open_text(text.into(), "data.csv".as_ref())?.read(&treatments)
/// # };
/// let source = read("age\n1\n2\n3\n", AuditView::Source)?;
/// let release = "age\n[1-2]\n[2-3]\n[1-3]\n"; // no two rows are equal
/// let release = read(release, AuditView::ReleaseAgainstSource)?;
/// let verdict = audit_rings(&release, &source, &request, None)?;
/// assert_eq!(verdict.non_homogeneous.expect("of rings").candidates, 2);
/// # Ok::<(), lookalike::Error>(())
/// ```
///
/// # Errors
/// As [`audit_against`], when the proof belongs to another release, or is missing and needed, and
/// for tables with a count column.
pub fn audit_rings(
    release: &Table,
    source: &Table,
    request: &Request,
    proof: Option<&Proof>,
) -> Result<Verdict> {
    if request.count.is_some() {
        return Err(Error::request(
            "counted-rings",
            "rings need one row for each person: no column can be the count",
        ));
    }
    persons::refuse_key(request, "rings need one row for each person")?;
    let surface = surface::surface(release, request)?;
    let specs = request.rules(&surface.roles)?;
    let (measures, _) = measure::evaluate(release, request, &surface, &[], &[])?;
    let (sense, rules, truth) = match proof {
        Some(proof) => rings::by_proof(release, source, request, &specs, proof)?,
        None => rings::by_search(release, source, request, &specs)?,
    };
    Ok(Verdict {
        measures,
        rules,
        leaks: surface.leaks,
        truth: Some(truth),
        non_homogeneous: Some(sense),
        persons: None,
    })
}

/// The sizes, risk and spread of a table's classes; unlike [`audit`] it needs no rule. Persons are
/// counted where the table has the person key of the request.
///
/// # Errors
/// As [`audit_table`].
pub fn measures(table: &Table, request: &Request) -> Result<Measures> {
    if persons::has_key(request)? {
        return persons::measures(table, request);
    }
    let surface = surface::surface(table, request)?;
    Ok(measure::evaluate(table, request, &surface, &[], &[])?.0)
}

/// The codes of a column that the reader should have coded.
pub(crate) fn coded<'a>(table: &'a Table, name: &str) -> Result<&'a Coded> {
    let column = table.column(name).ok_or_else(|| {
        Error::data("table-lacks-column", format!("there is no column `{name}`")).about_column(name)
    })?;
    column.coded.as_ref().ok_or_else(|| {
        Error::data(
            "column-not-coded",
            format!("column `{name}` was read without codes: the audit needs them"),
        )
        .about_column(name)
    })
}
