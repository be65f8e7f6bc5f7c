//! Nothing is ignored: a key of a column that has no effect there is refused.

use super::{ColumnRequest, Conflict, Distance, Kind, Request, Role};
use crate::error::{Error, Result};

impl Request {
    /// Refuses what a builder was asked for and a column cannot be.
    pub(super) fn check_conflicts(&self) -> Result<()> {
        for (name, column) in &self.columns {
            let why = match column.conflict {
                None => continue,
                Some(Conflict::NoRole) => {
                    "has keys but no role: name it as a quasi-identifier, sensitive, an identifier, \
                     kept, the person or the weight"
                        .to_string()
                }
                Some(Conflict::Roles(one, other)) => format!(
                    "has two roles, {} and {}: a column has one role",
                    one.name(),
                    other.name()
                ),
                Some(Conflict::Rules(key)) => {
                    format!("has two rules of the kind `{key}`: a column has one rule of a kind")
                }
                Some(Conflict::Columns) => "is described twice: describe it once".to_string(),
            };
            let reason = format!("column `{name}` {why}");
            return Err(Error::request("column-conflict", reason).about_column(name));
        }
        Ok(())
    }
}

/// Refuses keys of a column that have no effect: those of another role, and those that exclude each
/// other. Rules and weights have checks of their own.
pub(super) fn check_effect(name: &str, column: &ColumnRequest) -> Result<()> {
    let of_role = [
        (
            "kind",
            column.kind.is_some(),
            &[Role::Quasi, Role::Sensitive, Role::Keep, Role::Weight][..],
        ),
        ("hierarchy", column.hierarchy.is_some(), &[Role::Quasi, Role::Sensitive]),
        ("order", column.order.is_some(), &[Role::Quasi, Role::Sensitive]),
        (
            "format",
            column.format.is_some() && !column.is_coarsened(),
            &[Role::Quasi, Role::Sensitive, Role::Weight],
        ),
        ("round", column.round.is_some(), &[Role::Sensitive, Role::Keep]),
        ("top", column.top.is_some(), &[Role::Sensitive, Role::Keep]),
        ("bottom", column.bottom.is_some(), &[Role::Sensitive, Role::Keep]),
        ("hash", column.hash, &[Role::Identifier]),
        ("scheme", column.scheme.is_some(), &[Role::Quasi]),
        ("dependent", column.dependent, &[Role::Sensitive, Role::Keep, Role::Weight]),
    ];
    for (key, is_set, roles) in of_role {
        if is_set && !roles.contains(&column.role) {
            let role = column.role.name();
            let reason = format!(
                "column `{name}` has the role {role}, and `{key}` has no effect there: remove the \
                 key, or change the role"
            );
            return Err(Error::request("key-without-effect", reason).about_column(name));
        }
    }
    check_coarsening(name, column)?;
    let why = match (column.kind, &column.order, &column.hierarchy) {
        (Some(kind), Some(_), _) if kind != Kind::Ordinal => {
            "has an order, and a kind that is not ordinal: remove one of them"
        }
        // The tree of a sensitive column may be for the distance, its order for queries.
        (_, Some(_), Some(_)) | (Some(Kind::Ordinal), _, Some(_))
            if column.distance != Some(Distance::Hierarchical) =>
        {
            "is ordinal, and its hierarchy has no effect: remove the hierarchy or the order"
        }
        _ => return Ok(()),
    };
    let reason = format!("column `{name}` {why}");
    Err(Error::request("key-without-effect", reason).about_column(name))
}

/// Refuses steps and limits that mean nothing, and texts that are to be rounded.
fn check_coarsening(name: &str, column: &ColumnRequest) -> Result<()> {
    if !column.is_coarsened() {
        return Ok(());
    }
    let is_text = matches!(column.kind, Some(Kind::Date | Kind::Ordinal | Kind::Categorical))
        || column.order.is_some()
        || column.hierarchy.is_some();
    let why = if column.round.is_some_and(|step| !step.is_positive()) {
        "is rounded to multiples of a number that is not above 0: write 100 or 0.5"
    } else if matches!((column.bottom, column.top), (Some(bottom), Some(top)) if !bottom.is_below(top))
    {
        "has a bottom that is not below its top: exchange them, or remove one"
    } else if !are_multiples(column) {
        "is rounded, and its top or bottom is no multiple of that step: choose multiples"
    } else if is_text {
        "has an order, a hierarchy or a kind that is not numeric: only numbers are rounded or coded \
         at the top and the bottom"
    } else {
        return Ok(());
    };
    Err(Error::request("bad-coarsening", format!("column `{name}` {why}")).about_column(name))
}

/// True when top and bottom are multiples of the step, so that a published number stays what it is
/// when it is made coarser once more.
fn are_multiples(column: &ColumnRequest) -> bool {
    let Some(step) = column.round else { return true };
    column.bottom.into_iter().chain(column.top).all(|limit| limit.is_multiple_of(step))
}
