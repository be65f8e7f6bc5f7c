//! The verification of a release, or of a plan, by the independent audit.

use lookalike::audit::{self, AuditView, Verdict};
use lookalike::request::Role;
use lookalike::run::{self, Input, read_for_audit, read_source_for_audit};
use lookalike::table::{Column, Table};
use lookalike::{Error, Hint, Request, Result};
use serde_json::{Value, json};

use crate::proof::ProofFile;

/// A verdict, and the columns that it is about.
#[derive(Debug)]
pub struct Verification {
    /// The verdict of the audit.
    pub verdict: Verdict,
    /// The quasi-identifiers, in the order of the table.
    pub quasi: Vec<String>,
}

impl Verification {
    /// The JSON object of `verify`.
    pub fn json(&self) -> Value {
        let mut object = json!(self.verdict);
        object["version"] = json!(1);
        object["holds"] = json!(self.verdict.holds());
        object
    }
}

/// Verifies a release: its rules, and with a source that every released row covers a source row of
/// its own. A proof is used together with the source alone.
///
/// # Example
/// ```
/// use lookalike::{Request, table};
/// use lookalike_report::verify::verify;
///
/// let request = Request::new(2).quasi_identifiers(["age"]);
/// let open = |text: &str| table::open_text(text.to_string(), "t".as_ref());
/// let release = || open("age\n[34-36]\n[34-36]\n");
/// let source = open("age\n34\n36\n")?;
/// let verified = verify(release()?, Some(source.into()), &request, None)?;
/// assert!(verified.verdict.holds());
/// let other = verify(release()?, Some(open("age\n34\n51\n")?.into()), &request, None)?;
/// assert!(!other.verdict.holds());
/// # Ok::<(), lookalike::Error>(())
/// ```
///
/// # Errors
/// When a table cannot be read or does not fit the request, and for a non-homogeneous release
/// without its source. A release that breaks a rule is no error.
pub fn verify(
    release: impl Into<Input>,
    source: Option<Input>,
    request: &Request,
    proof: Option<&ProofFile>,
) -> Result<Verification> {
    let is_of_rings = matches!(proof, Some(ProofFile::Rings(_)));
    let non_homogeneous = request.non_homogeneous || is_of_rings;
    let mut request = Request { non_homogeneous, ..request.clone() };
    let view = if source.is_some() { AuditView::ReleaseAgainstSource } else { AuditView::Release };
    // The source first: it tells how numbers and dates are written.
    let source = source.map(|source| read_source_for_audit(source, &mut request)).transpose()?;
    let request = &request;
    let release = read_for_audit(release, request, view)?;
    let verdict = match source {
        None if non_homogeneous => {
            let why = "a non-homogeneous release can only be checked against its source";
            return Err(Error::request("needs-source", why).hint(Hint::GiveSource));
        }
        None => audit::audit(&release, request)?,
        Some(source) => match proof {
            Some(ProofFile::Origins(origins)) => {
                audit::audit_persons(&release, &source, request, origins)?
            }
            Some(ProofFile::Rings(proof)) => {
                audit::audit_rings(&release, &source, request, Some(proof))?
            }
            None if non_homogeneous => audit::audit_rings(&release, &source, request, None)?,
            None => audit::audit_against(&release, &source, request)?,
        },
    };
    Ok(Verification { verdict, quasi: quasi(&release, request) })
}

/// Verifies a plan against the table of tuples with counts that it was made from.
///
/// # Errors
/// When a table cannot be read or does not fit the request.
pub fn verify_plan(
    plan: impl Into<Input>,
    counts: impl Into<Input>,
    request: &Request,
) -> Result<Verification> {
    let (verdict, quasi) = run::verify_plan(plan, counts, request)?;
    Ok(Verification { verdict, quasi })
}

/// The quasi-identifiers in the order of the release, which may publish one as two columns of
/// bounds.
pub(crate) fn quasi(release: &Table, request: &Request) -> Vec<String> {
    let is_quasi = |name: &str| request.column(name).is_some_and(|line| line.role == Role::Quasi);
    let of = |column: &Column| {
        [column.name.as_str()]
            .into_iter()
            .chain(column.name.strip_suffix("_min"))
            .find(|name| is_quasi(name))
            .map(String::from)
    };
    release.columns().iter().filter_map(of).collect()
}
