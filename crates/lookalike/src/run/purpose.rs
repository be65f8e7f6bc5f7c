//! Purpose: weights of quasi-identifiers from what they tell about the purpose columns.

use crate::error::{Result, Warning};
use crate::evaluate::purpose::{self, PurposeWeight};
use crate::request::{Request, Roles};
use crate::table::Table;

/// Sets the weights that the request does not give, where it has a purpose; the request has them from
/// then on. The table has the codes of quasi-identifiers and purpose columns, and plain numbers.
///
/// # Example
/// ```
/// use lookalike::table::{self, Treatment};
/// use lookalike::{Request, run::settle_purpose};
///
/// let text = "age,zip,ill\n30,1,no\n31,2,no\n60,1,yes\n61,2,yes\n";
/// let table = table::open_text(text.into(), "t".as_ref())?.read(&[Treatment::Code; 3])?;
/// let mut request =
///     Request::new(2).quasi_identifiers(["age", "zip"]).sensitive("ill", []).purpose(["ill"]);
/// let roles = request.roles(&["age", "zip", "ill"].map(String::from))?;
/// settle_purpose(&table, &roles, &mut request)?;
/// assert!(request.columns["age"].weight > request.columns["zip"].weight);
/// # Ok::<(), lookalike::Error>(())
/// ```
///
/// # Errors
/// When the table does not fit the request.
pub fn settle_purpose(
    table: &Table,
    roles: &Roles,
    request: &mut Request,
) -> Result<Vec<PurposeWeight>> {
    if roles.purpose.is_empty() {
        return Ok(Vec::new());
    }
    let found = purpose::weights(table, roles, request)?;
    for one in &found {
        let line = request.columns.get_mut(&one.name);
        line.expect("a quasi-identifier has a line").weight = Some(one.weight);
    }
    Ok(found)
}

/// Says so where no column tells anything about the purpose.
pub(super) fn nothing_told(found: &[PurposeWeight]) -> Option<Warning> {
    let is_set = found.iter().any(|one| !one.is_given);
    let tells = |one: &PurposeWeight| one.information > 0.0;
    (is_set && !found.iter().any(tells)).then(|| {
        Warning::new(
            "nothing-about-purpose",
            "no quasi-identifier tells anything about the purpose: the weights are equal",
        )
    })
}
