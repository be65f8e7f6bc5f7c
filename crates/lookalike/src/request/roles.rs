//! Roles by column name, and messages about names that do not fit the table.

use super::{Request, Rest, Role};
use crate::error::{Error, Result};

/// The columns by role, each list in the table's order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Roles {
    /// Quasi-identifiers: generalized.
    pub quasi: Vec<String>,
    /// Sensitive columns: published, and counted by the rules.
    pub sensitive: Vec<String>,
    /// Insensitive columns: published unchanged.
    pub keep: Vec<String>,
    /// Identifiers and the columns that `rest = "drop"` is about: not published.
    pub dropped: Vec<String>,
}

impl Request {
    /// Gives every column of the table its role.
    ///
    /// # Example
    /// ```
    /// use lookalike::Request;
    ///
    /// let request = Request::parse("k = 2\nrest = 'drop'\ncolumns.age.role = 'quasi'")?;
    /// let names = ["name", "age"].map(String::from);
    /// let roles = request.roles(&names)?;
    /// assert_eq!((roles.quasi, roles.dropped), (vec!["age".into()], vec!["name".into()]));
    ///
    /// let error = request.roles(&["agee".to_string()]).unwrap_err().to_string();
    /// assert!(error.starts_with("there is no column `age`; did you mean `agee`?"));
    /// # Ok::<(), lookalike::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the request names a column that the table does not have, a column has no role and
    /// `rest` is absent, or no column is a quasi-identifier.
    pub fn roles(&self, names: &[String]) -> Result<Roles> {
        for name in self.columns.keys() {
            if !names.contains(name) {
                return Err(unknown_column(name, names));
            }
        }
        let mut roles = Roles::default();
        let mut undecided = Vec::new();
        for name in names {
            let list = match (self.columns.get(name).map(|column| column.role), self.rest) {
                (Some(Role::Quasi), _) => &mut roles.quasi,
                (Some(Role::Sensitive), _) => &mut roles.sensitive,
                (Some(Role::Keep), _) | (None, Some(Rest::Keep)) => &mut roles.keep,
                (Some(Role::Identifier), _) | (None, Some(Rest::Drop)) => &mut roles.dropped,
                (None, None) => &mut undecided,
            };
            list.push(name.clone());
        }
        if !undecided.is_empty() {
            return Err(Error::request(format!(
                "no role for {}: give each a role (--qi, --sensitive, --identifier, --keep, or \
                 [columns] in the configuration), or decide for all of them with --rest drop or \
                 --rest keep",
                list(&undecided)
            )));
        }
        if roles.quasi.is_empty() {
            return Err(Error::request(format!(
                "no quasi-identifier: name the columns that could be joined with outside data, \
                 --qi a,b,c; the table has {}",
                list(names)
            )));
        }
        Ok(roles)
    }
}

/// The error for a name that is not in the table, with the column that was probably meant.
fn unknown_column(name: &str, known: &[String]) -> Error {
    let hint = if known.contains(&format!("{name}_min")) {
        "; it was published as bounds: use verify".to_string()
    } else {
        did_you_mean(name, known)
    };
    Error::request(format!("there is no column `{name}`{hint} (the table has {})", list(known)))
}

/// A hint at the nearest name that differs by at most two letters; empty when there is none.
pub(crate) fn did_you_mean(name: &str, known: &[String]) -> String {
    let distance = |other: &String| {
        strsim::levenshtein(&other.trim().to_lowercase(), &name.trim().to_lowercase())
    };
    match known.iter().map(|other| (distance(other), other)).min() {
        Some((letters, near)) if letters <= 2 && letters < name.len() => {
            format!("; did you mean `{near}`?")
        }
        _ => String::new(),
    }
}

/// More column names than this are only counted in a message.
const MOST_NAMES: usize = 12;

/// Column names for a message: the first twelve, then the number of the others.
pub(crate) fn list(names: &[String]) -> String {
    let first: Vec<String> =
        names.iter().take(MOST_NAMES).map(|name| format!("`{name}`")).collect();
    match names.len().saturating_sub(MOST_NAMES) {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}
