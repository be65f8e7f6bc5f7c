//! The columns of a released table: which of them publish which quasi-identifier, and which must
//! not be there.

use super::guard::unguarded;
use super::{center, coarsening, hashes};
use crate::codes::RowId;
use crate::error::{Error, Hint, Result};
use crate::request::{Request, Rest, Role, Roles, list, list_for};
use crate::table::{Table, Treatment};

/// The part of a table in an audit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuditView {
    /// A release, checked without its source.
    Release,
    /// A release that is compared with its source.
    ReleaseAgainstSource,
    /// The source of a release.
    Source,
}

/// The treatment of each column when a table is read for an audit.
///
/// No column of a release is skipped, not even one that must not be there: the audit has to find
/// it.
pub fn treatments(names: &[String], request: &Request, view: AuditView) -> Vec<Treatment> {
    let of = |name: &String| treatment(name, names, request, view);
    let written: Vec<Treatment> = names.iter().map(of).collect();
    if view == AuditView::Source {
        return written;
    }
    // Names may be guarded, which only the cells can show: a column that either reading needs is
    // coded.
    let names: Vec<String> = names.iter().map(|name| unguarded(name).to_string()).collect();
    let of = |name: &String| treatment(name, &names, request, view);
    written
        .into_iter()
        .zip(&names)
        .map(|(written, name)| if written == Treatment::Code { written } else { of(name) })
        .collect()
}

fn treatment(name: &str, names: &[String], request: &Request, view: AuditView) -> Treatment {
    let role = request.column(name).map(|column| column.role);
    if is_count(name, request) {
        return Treatment::Code;
    }
    if view != AuditView::Source && is_pseudonym(name, request) {
        return Treatment::Code;
    }
    if request.column(name).is_some_and(|column| column.is_coarsened() || column.hash) {
        return Treatment::Code;
    }
    match view {
        AuditView::Source
            if role == Some(Role::Identifier)
                || (role.is_none() && request.rest == Some(Rest::Drop)) =>
        {
            Treatment::Skip
        }
        _ if matches!(role, Some(Role::Quasi | Role::Sensitive | Role::Person)) => Treatment::Code,
        AuditView::Source => Treatment::Compare,
        _ if bounds_of(name, names, request).is_some() => Treatment::Code,
        AuditView::ReleaseAgainstSource => Treatment::Compare,
        AuditView::Release => Treatment::PassThrough,
    }
}

/// True for the column that says for how many rows each row stands.
fn is_count(name: &str, request: &Request) -> bool {
    request.count.as_deref() == Some(name)
}

/// True for the released column of pseudonyms.
fn is_pseudonym(name: &str, request: &Request) -> bool {
    request.pseudonym_column().is_some_and(|column| column == name)
}

/// The released columns of a quasi-identifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum QuasiColumns {
    /// One column of labels.
    Label(String),
    /// Two typed columns, one with their middle where it was asked for, and one more where the source
    /// has missing values.
    Bounds {
        /// The name of the quasi-identifier.
        name: String,
        /// The column of least values.
        min: String,
        /// The column of greatest values.
        max: String,
        /// The column of their middles.
        center: Option<String>,
        /// The column of `no`, `yes` or `maybe`.
        missing: Option<String>,
    },
}

impl QuasiColumns {
    pub(crate) fn name(&self) -> &str {
        match self {
            QuasiColumns::Label(name) | QuasiColumns::Bounds { name, .. } => name,
        }
    }

    /// The names of these columns.
    pub(crate) fn columns(&self) -> Vec<&str> {
        match self {
            QuasiColumns::Label(name) => vec![name],
            QuasiColumns::Bounds { min, max, center, missing, .. } => {
                let more = center.iter().chain(missing);
                [min, max].into_iter().chain(more).map(String::as_str).collect()
            }
        }
    }
}

/// The columns of a release by role, and those that must not be there.
#[derive(Debug)]
pub(crate) struct Surface {
    pub(crate) quasi: Vec<QuasiColumns>,
    pub(crate) roles: Roles,
    pub(crate) leaks: Vec<String>,
}

pub(crate) fn surface(release: &Table, request: &Request) -> Result<Surface> {
    let names: Vec<String> = release.columns().iter().map(|column| column.name.clone()).collect();
    if release.rows() == 0 {
        return Err(Error::data("no-rows", "the table has no rows: there is nothing to check"));
    }
    if RowId::try_from(release.rows()).is_err() {
        return Err(Error::data("too-many-rows", "the table has more than 4,294,967,295 rows"));
    }
    for (name, column) in &request.columns {
        let wanted = matches!(column.role, Role::Quasi | Role::Sensitive);
        if wanted
            && !names.contains(name)
            && !(column.role == Role::Quasi && has_bounds(name, &names, request))
        {
            let has = list_for(request, &names);
            let reason = format!("the release has no column `{name}`; it has {has}");
            return Err(Error::data("table-lacks-column", reason).about_column(name));
        }
    }
    if let Some(name) = request.count.as_ref().filter(|name| !names.contains(*name)) {
        let reason =
            format!("the table has no count column `{name}`; it has {}", list_for(request, &names));
        return Err(Error::data("no-count-column", reason).about_column(name));
    }
    let roles = Roles { count: request.count.clone(), ..Roles::default() };
    let mut found = Surface { quasi: Vec::new(), roles, leaks: Vec::new() };
    let mut unsettled = Vec::new();
    for name in names.iter().filter(|name| !is_count(name, request)) {
        match (request.column(name).map(|column| column.role), request.rest) {
            (Some(Role::Quasi), _) => found.quasi.push(QuasiColumns::Label(name.clone())),
            (Some(Role::Sensitive), _) => found.roles.sensitive.push(name.clone()),
            (Some(Role::Identifier), _) if request.columns[name].hash => {
                found.roles.hashed.push(name.clone())
            }
            (Some(Role::Identifier), _) => {
                found.leaks.push(format!("identifier `{name}` is in the release"))
            }
            (Some(Role::Keep | Role::Weight), _) => found.roles.keep.push(name.clone()),
            (Some(Role::Person) | None, _) if is_pseudonym(name, request) => {
                found.roles.person.push(name.clone())
            }
            (Some(Role::Person), _) => {
                found.leaks.push(format!("person key `{name}` is in the release"))
            }
            (None, rest) => match (bounds_of(name, &names, request), rest) {
                (Some(quasi), _) => found.quasi.extend(bounds_at_first(quasi, name, &names)),
                (None, Some(Rest::Keep)) => found.roles.keep.push(name.clone()),
                (None, Some(Rest::Drop)) => {
                    found.leaks.push(format!(
                        "column `{name}` is in the release, although columns without a role are \
                         dropped"
                    ));
                }
                (None, None) => unsettled.push(name.clone()),
            },
        }
    }
    if !unsettled.is_empty() {
        let reason = format!("no role for {}", list(&unsettled));
        return Err(Error::request("no-role", reason)
            .hint(Hint::GiveRole { columns: unsettled })
            .hint(Hint::SettleRest));
    }
    if found.quasi.is_empty() {
        return Err(
            Error::request("no-quasi-identifier", "no quasi-identifier").hint(Hint::NameQuasi)
        );
    }
    found.leaks.extend(center::leaks(&found.quasi, release, request)?);
    found.leaks.extend(coarsening::leaks(release, request));
    found.leaks.extend(hashes::leaks(release, request));
    found.roles.quasi = found.quasi.iter().map(|quasi| quasi.name().to_string()).collect();
    Ok(found)
}

/// The columns of bounds, returned for the first of them only.
fn bounds_at_first(quasi: &str, column: &str, names: &[String]) -> Option<QuasiColumns> {
    let of = |end: &str| format!("{quasi}_{end}");
    let there = |end: &str| Some(of(end)).filter(|name| names.contains(name));
    (column == of("min")).then(|| QuasiColumns::Bounds {
        name: quasi.to_string(),
        min: of("min"),
        max: of("max"),
        center: there("center"),
        missing: there("missing"),
    })
}

/// True when the release publishes the quasi-identifier by its bounds. A column with a line of its
/// own in the request is no bound, nor is the count column.
fn has_bounds(quasi: &str, names: &[String], request: &Request) -> bool {
    ["min", "max"].iter().all(|end| {
        let name = format!("{quasi}_{end}");
        names.contains(&name) && request.column(&name).is_none() && !is_count(&name, request)
    })
}

/// The quasi-identifier whose bounds this column is part of.
fn bounds_of<'a>(name: &str, names: &[String], request: &'a Request) -> Option<&'a str> {
    if request.column(name).is_some() || is_count(name, request) {
        return None;
    }
    let ends = ["_min", "_max", "_center", "_missing"];
    ends.iter().filter_map(|end| name.strip_suffix(end)).find_map(|stem| {
        let (quasi, column) = request.columns.get_key_value(stem)?;
        let is_bound = column.role == Role::Quasi
            && !names.contains(quasi)
            && has_bounds(quasi, names, request);
        is_bound.then_some(quasi.as_str())
    })
}
