//! What a released table shows: which of its columns are which quasi-identifier, and which should
//! not be there.

use super::guard::unguarded;
use crate::codes::RowId;
use crate::error::{Error, Result};
use crate::request::{Request, Rest, Role, Roles, list};
use crate::table::{Table, Treatment};

/// What the judge wants a table for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// A release, judged alone.
    Release,
    /// A release that will be compared with its source.
    ReleaseAgainstSource,
    /// The source of a release.
    Source,
}

/// What the reader should do with each column, so that the audit finds what it needs.
///
/// No column of a release is skipped, not even one it should not have: the judge has to see that it
/// is there.
pub fn treatments(names: &[String], request: &Request, view: View) -> Vec<Treatment> {
    let of = |name: &String| treatment(name, names, request, view);
    let written: Vec<Treatment> = names.iter().map(of).collect();
    if view == View::Source {
        return written;
    }
    // Names may be guarded, which only their cells can tell: what either reading needs is coded.
    let names: Vec<String> = names.iter().map(|name| unguarded(name).to_string()).collect();
    let of = |name: &String| treatment(name, &names, request, view);
    written
        .into_iter()
        .zip(&names)
        .map(|(written, name)| if written == Treatment::Code { written } else { of(name) })
        .collect()
}

fn treatment(name: &str, names: &[String], request: &Request, view: View) -> Treatment {
    let role = request.column(name).map(|column| column.role);
    match view {
        View::Source
            if role == Some(Role::Identifier)
                || (role.is_none() && request.rest == Some(Rest::Drop)) =>
        {
            Treatment::Skip
        }
        _ if matches!(role, Some(Role::Quasi | Role::Sensitive)) => Treatment::Code,
        View::Source => Treatment::Compare,
        _ if bounds_of(name, names, request).is_some() => Treatment::Code,
        View::ReleaseAgainstSource => Treatment::Compare,
        View::Release => Treatment::Carry,
    }
}

/// How a quasi-identifier stands in the release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// One column of labels.
    Label(String),
    /// Two typed columns, and a third where the source has missing values.
    Bounds {
        /// The quasi-identifier.
        name: String,
        /// Its least value.
        min: String,
        /// Its greatest value.
        max: String,
        /// `no`, `yes` or `maybe`.
        missing: Option<String>,
    },
}

impl Shown {
    pub(crate) fn name(&self) -> &str {
        match self {
            Shown::Label(name) | Shown::Bounds { name, .. } => name,
        }
    }

    /// The released columns that show it.
    pub(crate) fn columns(&self) -> Vec<&str> {
        match self {
            Shown::Label(name) => vec![name],
            Shown::Bounds { min, max, missing, .. } => {
                [min, max].into_iter().chain(missing.as_ref()).map(String::as_str).collect()
            }
        }
    }
}

/// The columns of a release, sorted out.
#[derive(Debug)]
pub(crate) struct Surface {
    pub(crate) quasi: Vec<Shown>,
    pub(crate) roles: Roles,
    pub(crate) leaks: Vec<String>,
}

pub(crate) fn surface(release: &Table, request: &Request) -> Result<Surface> {
    let names: Vec<String> = release.columns().iter().map(|column| column.name.clone()).collect();
    if release.rows() == 0 {
        return Err(Error::data("the table has no rows: there is nothing to check"));
    }
    if RowId::try_from(release.rows()).is_err() {
        return Err(Error::data("the table has more than 4,294,967,295 rows"));
    }
    for (name, column) in &request.columns {
        let wanted = matches!(column.role, Role::Quasi | Role::Sensitive);
        if wanted
            && !names.contains(name)
            && !(column.role == Role::Quasi && has_bounds(name, &names, request))
        {
            return Err(Error::data(format!(
                "the release has no column `{name}`; it has {}",
                list(&names)
            )));
        }
    }
    let mut found = Surface { quasi: Vec::new(), roles: Roles::default(), leaks: Vec::new() };
    let mut unsettled = Vec::new();
    for name in &names {
        match (request.column(name).map(|column| column.role), request.rest) {
            (Some(Role::Quasi), _) => found.quasi.push(Shown::Label(name.clone())),
            (Some(Role::Sensitive), _) => found.roles.sensitive.push(name.clone()),
            (Some(Role::Identifier), _) => {
                found.leaks.push(format!("identifier `{name}` is in the release"))
            }
            (Some(Role::Keep), _) => found.roles.keep.push(name.clone()),
            (None, rest) => match (bounds_of(name, &names, request), rest) {
                (Some(quasi), _) => found.quasi.extend(shown_once(quasi, name, &names)),
                (None, Some(Rest::Keep)) => found.roles.keep.push(name.clone()),
                (None, Some(Rest::Drop)) => {
                    found.leaks.push(format!("column `{name}` is in the release, although columns without a role are dropped"));
                }
                (None, None) => unsettled.push(name.clone()),
            },
        }
    }
    if !unsettled.is_empty() {
        let names = list(&unsettled);
        return Err(Error::request(format!(
            "no role for {names}: give each a role, or settle the rest with --rest drop or --rest keep"
        )));
    }
    if found.quasi.is_empty() {
        return Err(Error::request(
            "no quasi-identifier: name the columns that could be joined with outside data, --qi a,b,c",
        ));
    }
    found.roles.quasi = found.quasi.iter().map(|shown| shown.name().to_string()).collect();
    Ok(found)
}

/// Of the two or three columns of bounds, the first stands for all.
fn shown_once(quasi: &str, column: &str, names: &[String]) -> Option<Shown> {
    let of = |end: &str| format!("{quasi}_{end}");
    let missing = Some(of("missing")).filter(|name| names.contains(name));
    (column == of("min")).then(|| Shown::Bounds {
        name: quasi.to_string(),
        min: of("min"),
        max: of("max"),
        missing,
    })
}

/// True when the release shows the quasi-identifier by its bounds. A column that has a line of its
/// own is never taken for one.
fn has_bounds(quasi: &str, names: &[String], request: &Request) -> bool {
    ["min", "max"].iter().all(|end| {
        let name = format!("{quasi}_{end}");
        names.contains(&name) && request.column(&name).is_none()
    })
}

/// The quasi-identifier whose bounds this column is part of.
fn bounds_of<'a>(name: &str, names: &[String], request: &'a Request) -> Option<&'a str> {
    if request.column(name).is_some() {
        return None;
    }
    ["_min", "_max", "_missing"].iter().filter_map(|end| name.strip_suffix(end)).find_map(|stem| {
        let (quasi, column) = request.columns.get_key_value(stem)?;
        let shown = column.role == Role::Quasi
            && !names.contains(quasi)
            && has_bounds(quasi, names, request);
        shown.then_some(quasi.as_str())
    })
}
