//! The judge: an independent check of any published table against the request it was made for.
//!
//! It reads the released table and the configuration, nothing else of the engine: classes are
//! counted anew from the released cells, every rule is evaluated with arithmetic of its own, labels
//! are read with readers of its own. With the source beside the release it also checks the truth:
//! every released row stands for a row of the source that it covers.
//!
//! Decisions are made in integers; only the entropy needs logarithms, see [`ENTROPY_TOLERANCE`]. A
//! verdict names rows, sizes and shares, never the value of a cell; of a class that breaks a rule
//! it names sizes and shares alone.

mod classes;
mod cover;
mod excerpt;
mod ground;
mod guard;
mod join;
mod matching;
mod measure;
mod path;
mod reading;
mod rings;
mod rules;
mod surface;
mod truth;

#[cfg(test)]
mod tests;

// What a released file says is read in one way, by the judge, by queries on it, and where labels
// come from a file.
pub(crate) use classes::Fold;
pub(crate) use cover::{Cell, Interval, Scale, cells, first_untold, interval, members};
pub(crate) use reading::{number_at, present};
pub(crate) use surface::{Shown, surface};

pub use guard::unguard;
pub use measure::{AtRisk, Measures, Risk, SensitiveMeasures, SizeBand};
pub use rings::{NonHomogeneous, Proof, ProofRing};
pub use rules::ENTROPY_TOLERANCE;
pub use surface::{View, treatments};
pub use truth::{Finding, Method, Statement, Truth};

use serde::Serialize;

use crate::error::{Error, Result};
use crate::request::Request;
use crate::table::{Coded, Table};

/// What the judge found.
#[derive(Clone, Debug, Serialize)]
pub struct Verdict {
    /// Released rows.
    pub rows: u64,
    /// Classes over all quasi-identifiers.
    pub classes: u64,
    /// Sizes, risk and the spread of the sensitive columns, whatever was asked for.
    pub measures: Measures,
    /// Every rule that was asked for.
    pub rules: Vec<RuleVerdict>,
    /// Columns that the release should not have; a sentence each.
    pub leaks: Vec<String>,
    /// The comparison with the source, when there was one.
    pub truth: Option<Truth>,
    /// For a release that is not homogeneous the sense in which it holds: then the rules are judged
    /// on the rows that a person could be, not on classes of equal rows, of which the measures
    /// speak.
    pub non_homogeneous: Option<NonHomogeneous>,
}

impl Verdict {
    /// True when nothing at all was found against the release.
    pub fn holds(&self) -> bool {
        self.leaks.is_empty()
            && self.rules.iter().all(|rule| rule.violations == 0)
            && self.truth.as_ref().is_none_or(Truth::holds)
    }
}

/// How one rule fared.
#[derive(Clone, Debug, Serialize)]
pub struct RuleVerdict {
    /// The rule in words: `k = 5 on age, zip`.
    pub rule: String,
    /// The sensitive column it is about, if it is about one.
    pub sensitive: Option<String>,
    /// Classes that break it.
    pub violations: u64,
    /// Rows in these classes.
    pub rows: u64,
    /// What `worst` is: `smallest class`, `greatest share` and so on.
    pub measure: &'static str,
    /// The measure of the worst class; infinite (null in JSON) when a recursive rule finds no tail
    /// at all.
    pub worst: f64,
    /// What the measure is held against: k, alpha, l, c or t.
    pub limit: f64,
    /// The worst few kinds of classes that break it: worst measure first, then the smallest.
    pub examples: Vec<ClassExcerpt>,
}

/// A class that breaks a rule, told by sizes and shares: none of its values, and not where it
/// stands in the table.
#[derive(Clone, Debug, Serialize)]
pub struct ClassExcerpt {
    /// How many classes that break the rule are exactly like this.
    pub classes: u64,
    /// How many rows it has.
    pub size: u64,
    /// Its measure under the rule; infinite (null in JSON) when a recursive rule finds no tail at
    /// all.
    pub measure: f64,
    /// How many of its rows have the commonest value, or one of those that alpha names; none where
    /// the rule does not ask.
    pub count: Option<u64>,
    /// For a recursive rule: how many rows have the l-th commonest value or a rarer one.
    pub tail: Option<u64>,
    /// All of that in words.
    pub text: String,
}

/// Checks a released table against the rules of the configuration.
///
/// The reader must have been told [`treatments`] with [`View::Release`] or
/// [`View::ReleaseAgainstSource`], and [`unguard`] must have seen a release that was read from a
/// text file.
///
/// # Errors
/// When the release lacks a quasi-identifier or a sensitive column, a column has no role, or the
/// configuration makes no sense. A broken rule is no error: it stands in the verdict.
pub fn audit(release: &Table, request: &Request) -> Result<Verdict> {
    let surface = surface::surface(release, request)?;
    let specs = request.rules(&surface.roles)?;
    let (measures, rules) = measure::judge(release, request, &surface, &specs)?;
    Ok(Verdict {
        rows: measures.rows,
        classes: measures.classes,
        measures,
        rules,
        leaks: surface.leaks,
        truth: None,
        non_homogeneous: None,
    })
}

/// As [`audit`], and compares the release with the table it was made from.
///
/// The reader must have been told [`treatments`] with [`View::ReleaseAgainstSource`] and
/// [`View::Source`].
///
/// # Errors
/// As [`audit`], and when the source lacks a quasi-identifier or a hierarchy file cannot be read.
pub fn audit_against(release: &Table, source: &Table, request: &Request) -> Result<Verdict> {
    let mut verdict = audit(release, request)?;
    verdict.truth = Some(truth::check(release, source, request, truth::LIMITS)?);
    Ok(verdict)
}

/// Judges a release that is not homogeneous (algorithm `ring`) against the table it was made from,
/// by the proof that was kept when it was made; without one only k can be judged, and only where
/// there are not too many pairs of row and person.
///
/// The reader must have been told [`treatments`] with [`View::ReleaseAgainstSource`] and
/// [`View::Source`].
///
/// # Errors
/// As [`audit_against`], and when the proof is another release's, or is missing and needed.
pub fn audit_rings(
    release: &Table,
    source: &Table,
    request: &Request,
    proof: Option<&Proof>,
) -> Result<Verdict> {
    let surface = surface::surface(release, request)?;
    let specs = request.rules(&surface.roles)?;
    let (measures, _) = measure::judge(release, request, &surface, &[])?;
    let (sense, rules, truth) = match proof {
        Some(proof) => rings::by_proof(release, source, request, &specs, proof)?,
        None => rings::by_search(release, source, request, &specs)?,
    };
    let (rows, classes) = (measures.rows, measures.classes);
    Ok(Verdict {
        rows,
        classes,
        measures,
        rules,
        leaks: surface.leaks,
        truth: Some(truth),
        non_homogeneous: Some(sense),
    })
}

/// The sizes, risk and spread of a table's classes; unlike [`audit`] it needs no rule.
///
/// # Errors
/// As [`audit`].
pub fn measures(table: &Table, request: &Request) -> Result<Measures> {
    let surface = surface::surface(table, request)?;
    Ok(measure::judge(table, request, &surface, &[])?.0)
}

/// The codes of a column that the reader should have coded.
pub(crate) fn coded<'a>(table: &'a Table, name: &str) -> Result<&'a Coded> {
    let column =
        table.column(name).ok_or_else(|| Error::data(format!("there is no column `{name}`")))?;
    column.coded.as_ref().ok_or_else(|| {
        Error::data(format!("column `{name}` was read without codes: the audit needs them"))
    })
}
