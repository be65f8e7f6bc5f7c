//! A table as it is: its classes, its risks, and whether it satisfies the rules of a request.

use lookalike::audit::{self, AuditView, Measures, PersonsVerdict, RuleVerdict};
use lookalike::evaluate::profile::{person_columns, similar_persons};
use lookalike::evaluate::risk::{RiskMeasures, RiskParts, risks};
use lookalike::evaluate::uniqueness::{UniqueRows, unique_rows};
use lookalike::request::{Rest, Role};
use lookalike::run::{coarsen, has_rule, request_warnings, roles as roles_of, settle_forms};
use lookalike::table::Source;
use lookalike::{Hint, Request, Result, Warning};
use serde_json::{Value, json};

use crate::risk::{code_weight, population};

/// The measures of a table, and the verdict on its rules.
#[derive(Debug)]
pub struct Check {
    /// Classes, their sizes, and the sensitive values in them.
    pub measures: Measures,
    /// The rules of the request; empty when it has none.
    pub rules: Vec<RuleVerdict>,
    /// The reading of persons and its checks; none where rows are counted, or without rules.
    pub persons: Option<PersonsVerdict>,
    /// Rows that are unique on the columns published unchanged; none without such columns.
    pub unique_rows: Option<UniqueRows>,
    /// The risk for three attackers, and the columns that make rows unique.
    pub risk: RiskMeasures,
    /// Warnings about the request on this table.
    pub warnings: Vec<Warning>,
    /// The quasi-identifiers, in the order of the table.
    pub quasi: Vec<String>,
}

impl Check {
    /// True when every rule is satisfied, and when there is none.
    pub fn holds(&self) -> bool {
        self.rules.iter().all(|rule| rule.violations == 0)
            && self.persons.as_ref().is_none_or(PersonsVerdict::holds)
    }

    /// The JSON object of `check`; `holds` is null without rules. `words` writes hints.
    pub fn json(&self, words: impl Fn(&Hint) -> String) -> Value {
        let warnings: Vec<String> =
            self.warnings.iter().map(|warning| warning.message(&words)).collect();
        json!({
            "version": 1,
            "holds": (!self.rules.is_empty()).then(|| self.holds()),
            "rules": self.rules,
            "measures": self.measures,
            "persons": self.persons,
            "unique_rows": self.unique_rows,
            "risk": self.risk,
            "warnings": warnings,
        })
    }
}

/// Measures a table and checks the rules, if the request has any. Columns without a role are not
/// read, and columns of the request that a release does not have may be absent.
///
/// # Example
/// ```
/// use lookalike::{Request, table};
/// use lookalike_report::check::check;
///
/// let source = table::open_text("age,sex\n34,f\n34,f\n51,m\n51,m\n".into(), "t".as_ref())?;
/// let found = check(source, &Request::new(2).quasi_identifiers(["age", "sex"]))?;
/// assert!(found.holds());
/// assert_eq!((found.measures.k, found.measures.classes), (2, 2));
/// # Ok::<(), lookalike::Error>(())
/// ```
///
/// # Errors
/// When the request does not fit the table, or a table cannot be read.
pub fn check(source: Source, request: &Request) -> Result<Check> {
    let mut request = request.clone();
    let is_rest_kept = request.rest == Some(Rest::Keep);
    // Columns without a role are not read, so they need no role.
    request.rest = request.rest.or(Some(Rest::Keep));
    // Columns that a release does not have need none either.
    request.columns.retain(|name, line| {
        matches!(line.role, Role::Quasi | Role::Sensitive | Role::Person | Role::Weight)
            || source.names().contains(name)
    });
    let roles = roles_of(&request, &source)?;
    if has_rule(&request) {
        request.rules(&roles)?;
    }
    let mut treatments = audit::treatments(source.names(), &request, AuditView::Release);
    code_weight(source.names(), &request, &mut treatments);
    request.sampling_fraction()?;
    let persons = person_columns(source.names(), &request);
    let mut warnings = source.notes().to_vec();
    let (mut table, counted) = source.read_and_count(&treatments, &persons)?;
    warnings.extend(settle_forms(&mut table, &mut request)?);
    coarsen(&mut table, &request)?;
    warnings.extend(request_warnings(&request, &counted));
    warnings.extend(similar_persons(&table, &roles.person));
    table.check_header()?;
    let population = population(&request, &roles.quasi)?;
    // Each of the two is busy with one core for most of its time.
    let (measured, risks) = rayon::join(
        || {
            if has_rule(&request) {
                let verdict = audit::audit_table(&table, &request);
                verdict.map(|verdict| (verdict.measures, verdict.rules, verdict.persons))
            } else {
                audit::measures(&table, &request).map(|measures| (measures, Vec::new(), None))
            }
        },
        || risks(&table, &request, population.as_ref(), RiskParts::All),
    );
    let (measures, rules, persons) = measured?;
    let risk = risks?;
    let is_published = |name: &&String| is_rest_kept || request.column(name).is_some();
    let unchanged: Vec<String> =
        roles.keep.iter().filter(is_published).chain(&roles.sensitive).cloned().collect();
    let unique_rows = unique_rows(&table, &request, &unchanged)?;
    Ok(Check { measures, rules, persons, unique_rows, risk, warnings, quasi: roles.quasi })
}
