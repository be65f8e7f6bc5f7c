//! Roles by column name, and messages about names that do not fit the table.

use super::{Persons, Request, Rest, Role};
use crate::error::{Error, Hint, Result};

/// The name of the column of pseudonyms where the person key has several columns.
pub const PSEUDONYM: &str = "person";

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
    /// Columns whose numbers are rounded, or coded at the top or the bottom; also among `sensitive`
    /// or `keep`.
    pub coarsened: Vec<String>,
    /// Identifiers that are published as keyed hashes.
    pub hashed: Vec<String>,
    /// The column that says for how many rows each row stands; none when each stands for itself.
    pub count: Option<String>,
    /// The columns that name the person of a row together; none when each row is a person.
    pub person: Vec<String>,
    /// The sampling weight of a survey; also among `keep`.
    pub weight: Option<String>,
    /// Columns that the release is made for; also among `sensitive` or `keep`.
    pub purpose: Vec<String>,
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
    /// let error = request.roles(&["agee".to_string()]).unwrap_err();
    /// assert_eq!(error.code(), "unknown-column");
    /// assert!(error.to_string().ends_with("did you mean `agee`?"));
    /// # Ok::<(), lookalike::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the request names a column that the table does not have, a column has no role and
    /// `rest` is absent, the count column has a role, or no column is a quasi-identifier.
    pub fn roles(&self, names: &[String]) -> Result<Roles> {
        self.check_conflicts()?;
        for name in self.columns.keys().chain(&self.count) {
            if !names.contains(name) {
                return Err(unknown_column(name, names));
            }
        }
        if let Some(name) = self.count.as_ref().filter(|name| self.columns.contains_key(*name)) {
            let reason = format!(
                "column `{name}` is the count column, so it can have no other role: remove one of \
                 the two"
            );
            return Err(Error::request("count-and-role", reason).about_column(name));
        }
        let mut roles = Roles { count: self.count.clone(), ..Roles::default() };
        let mut undecided = Vec::new();
        let is_hashed = |name: &String| self.columns.get(name).is_some_and(|column| column.hash);
        for name in names.iter().filter(|name| self.count.as_ref() != Some(*name)) {
            let list = match (self.columns.get(name).map(|column| column.role), self.rest) {
                (Some(Role::Quasi), _) => &mut roles.quasi,
                (Some(Role::Sensitive), _) => &mut roles.sensitive,
                (Some(Role::Person), _) => &mut roles.person,
                (Some(Role::Weight), _) if roles.weight.is_some() => {
                    let reason =
                        "two columns have the role weight: a table has one sampling weight";
                    return Err(Error::request("two-weights", reason).about_column(name));
                }
                (Some(Role::Weight), _) => {
                    roles.weight = Some(name.clone());
                    &mut roles.keep
                }
                (Some(Role::Keep), _) | (None, Some(Rest::Keep)) => &mut roles.keep,
                (Some(Role::Identifier), _) if is_hashed(name) => &mut roles.hashed,
                (Some(Role::Identifier), _) | (None, Some(Rest::Drop)) => &mut roles.dropped,
                (None, None) => &mut undecided,
            };
            list.push(name.clone());
        }
        let is_coarsened =
            |name: &&String| self.columns.get(*name).is_some_and(|c| c.is_coarsened());
        roles.coarsened = names.iter().filter(is_coarsened).cloned().collect();
        self.check_persons()?;
        self.check_hashes()?;
        if self.accept_unique && self.rest != Some(Rest::Keep) {
            let reason = "`accept_unique` has no effect here: it is about columns that `rest = \
                          \"keep\"` publishes; remove it";
            return Err(Error::request("key-without-effect", reason));
        }
        if !undecided.is_empty() {
            let reason = format!("no role for {}", list(&undecided));
            return Err(Error::request("no-role", reason)
                .hint(Hint::GiveRole { columns: undecided })
                .hint(Hint::SettleRest));
        }
        roles.purpose = self.purpose_of(names, &roles)?;
        if roles.quasi.is_empty() {
            return Err(Error::request(
                "no-quasi-identifier",
                format!("no quasi-identifier (the table has {})", list(names)),
            )
            .hint(Hint::NameQuasi));
        }
        Ok(roles)
    }
}

impl Request {
    /// The columns that name the person of a row together, in the order of their names.
    pub fn person_key(&self) -> Vec<String> {
        let of_key = self.columns.iter().filter(|(_, column)| column.role == Role::Person);
        of_key.map(|(name, _)| name.clone()).collect()
    }

    /// True when a column names the person of each row.
    pub fn has_persons(&self) -> bool {
        self.columns.values().any(|column| column.role == Role::Person)
    }

    /// The released column of pseudonyms; none when the request wants none.
    pub fn pseudonym_column(&self) -> Option<String> {
        let key = if self.output.pseudonyms { self.person_key() } else { Vec::new() };
        match &key[..] {
            [] => None,
            [one] => Some(one.clone()),
            _ => Some(PSEUDONYM.to_string()),
        }
    }

    /// Refuses what needs a person key and has none, and what persons cannot be.
    pub(crate) fn check_persons(&self) -> Result<()> {
        let refused = |reason: &str| Err(Error::request("bad-persons", reason));
        if !self.has_persons() && (self.persons.is_some() || self.output.pseudonyms) {
            return refused(
                "persons and pseudonyms need a column that names the person of each row: give it \
                 the role person",
            );
        }
        if self.output.pseudonyms && self.persons == Some(Persons::Rows) {
            return refused(
                "pseudonyms connect the rows of a person, and by rows these are in several \
                 classes, whose intersection shows the person: use whole persons, or no pseudonyms",
            );
        }
        if self.has_persons() && self.non_homogeneous {
            return refused(
                "rings need one row for each person: no column can have the role person",
            );
        }
        Ok(())
    }
}

impl Request {
    /// The purpose columns. Each must be in the release as it is: an analysis of the release could not
    /// use it otherwise.
    fn purpose_of(&self, names: &[String], roles: &Roles) -> Result<Vec<String>> {
        for (at, name) in self.purpose.iter().enumerate() {
            let why = if !names.contains(name) {
                return Err(unknown_column(name, names));
            } else if self.purpose[..at].contains(name) {
                "is named twice: name it once"
            } else if roles.quasi.contains(name) {
                "is a quasi-identifier, which is generalized itself: give it a greater weight, or \
                 another role"
            } else if !roles.sensitive.contains(name) && !roles.keep.contains(name) {
                "is not in the release, where an analysis could use it: keep it, or make it \
                 sensitive"
            } else {
                continue;
            };
            let reason = format!("purpose: column `{name}` {why}");
            return Err(Error::request("bad-purpose", reason).about_column(name));
        }
        Ok(self.purpose.clone())
    }

    /// Refuses a key file without a hash, and hashes of rows that stand for several.
    fn check_hashes(&self) -> Result<()> {
        let hashed = self.columns.iter().find(|(_, column)| column.hash);
        match hashed {
            None if self.output.hash_key.is_some() => {
                let reason = "`hash_key` has no effect here: no identifier is published as a hash; \
                              remove it, or set `hash = true` of an identifier";
                Err(Error::request("key-without-effect", reason))
            }
            Some((name, _)) if self.count.is_some() => {
                let reason = format!(
                    "column `{name}` cannot be published as a hash: rows of this table stand for \
                     several, so they have no identifier of their own"
                );
                Err(Error::request("counted-hash", reason).about_column(name))
            }
            _ => Ok(()),
        }
    }
}

/// The error for a name that is not in the table, with the column that was probably meant.
fn unknown_column(name: &str, known: &[String]) -> Error {
    let reason = format!("there is no column `{name}` (the table has {})", list(known));
    let error = Error::request("unknown-column", reason).about_column(name);
    let hint = if known.contains(&format!("{name}_min")) {
        Some(Hint::plain("use verify, for it was published as bounds"))
    } else {
        did_you_mean(name, known)
    };
    hint.into_iter().fold(error, Error::hint)
}

/// A hint at the nearest name that differs by at most two letters; none when there is none.
pub(crate) fn did_you_mean(name: &str, known: &[String]) -> Option<Hint> {
    let distance = |other: &String| {
        strsim::levenshtein(&other.trim().to_lowercase(), &name.trim().to_lowercase())
    };
    match known.iter().map(|other| (distance(other), other)).min() {
        Some((letters, near)) if letters <= 2 && letters < name.len() => {
            Some(Hint::DidYouMean { column: near.clone() })
        }
        _ => None,
    }
}

/// The columns of a table for a message. Where the request names none of them the first line may be
/// a row: then the names are only counted.
pub(crate) fn list_for(request: &Request, names: &[String]) -> String {
    let is_asked_for = |name: &String| {
        request.columns.contains_key(name)
            || name.strip_suffix("_min").is_some_and(|base| request.columns.contains_key(base))
    };
    if names.iter().any(is_asked_for) {
        return list(names);
    }
    let count = names.len();
    format!(
        "{count} columns, none of them named in the request (their names may be cells, and are not \
         printed): check its first line and its delimiter"
    )
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
