//! Which role a column probably has, from the words in its name and from how its values repeat.

use super::keys::{self, Keys};
use super::words::{
    BODY, CODE, FREE_TEXT, IDENTIFIER, NATURAL, NUMBERING, PERHAPS_IDENTIFIER, PERSON, QUASI,
    SAMPLING_WEIGHT, SENSITIVE, WHEN, find, words,
};
use crate::request::{Kind, Role};

/// Numbers of a column, for the guess of its role.
pub(super) struct ColumnFacts<'a> {
    pub(super) values: &'a [Option<String>],
    pub(super) rows: u64,
    pub(super) missing: u64,
    pub(super) distinct: u64,
    /// Values that only one row has.
    pub(super) alone: u64,
    /// Rows with the most frequent value, which may be the missing one.
    pub(super) commonest: u64,
    pub(super) looks: Kind,
    /// Every row has a number above 0.
    pub(super) is_positive: bool,
    /// No scale for persons shows such values: three decimals, and some below 1 or above 1,000.
    pub(super) is_no_scale: bool,
    /// Of dates: their calendar days are in the order of time, as a hierarchy of months and years
    /// needs.
    pub(super) has_calendar: bool,
}

/// A survey's weight by the name of the column: where rows have positive numbers, and a bare
/// `weight` only with values that no scale shows.
fn is_sampling_weight(words: &[String], facts: &ColumnFacts) -> Option<&'static str> {
    let bare = || {
        find(words, "weight wgt wt weighting waga peso poids gewicht").filter(|_| facts.is_no_scale)
    };
    let bare = || bare().filter(|_| find(words, BODY).is_none());
    let word = find(words, SAMPLING_WEIGHT).or_else(bare)?;
    (facts.is_positive && facts.missing == 0 && different(facts) > 1).then_some(word)
}

impl ColumnFacts<'_> {
    /// The texts of its values.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        self.values.iter().flatten().map(|text| text.trim())
    }
}

/// What is suggested for a column.
pub(super) struct Suggested {
    pub(super) role: Role,
    pub(super) reason: String,
    pub(super) keys: Keys,
    /// Of a quasi-identifier: its group among those that others know, the first of them first.
    pub(super) group: usize,
    /// It is better left out, unless somebody decides otherwise.
    pub(super) is_open: bool,
}

/// The rule that a class has a second sensitive value.
pub(super) const SECOND_VALUE: &str = "distinct = 2";

/// The group of quasi-identifiers whose names say nothing.
pub(super) const UNKNOWN: usize = NATURAL.len() + 1;

/// The role, the reason, and further keys for the column's line.
pub(super) fn suggest(name: &str, facts: &ColumnFacts) -> Suggested {
    let words = words(name);
    // One value makes nobody unique, whatever its name. A sensitive one tells of all the same.
    let is_no_quasi = |role: Role| role == Role::Quasi && different(facts) <= 1;
    let named = by_name(&words, facts).filter(|&(role, _)| !is_no_quasi(role));
    let is_named = named.is_some();
    let (role, mut reason) = named.unwrap_or_else(|| by_values(facts));
    let only = |other: &str| Keys { suggested: None, other: Some(other.to_string()) };
    let keys = match role {
        Role::Quasi => keys::quasi(name, &words, facts),
        Role::Sensitive if is_fingerprint(facts) && facts.looks == Kind::Numeric => {
            keys::rounded(facts)
        }
        // Published as it is, such a number would single these rows out.
        Role::Sensitive if has_own_numbers(facts) => {
            reason += "; some rows have a number of their own: rounded";
            keys::rounded(facts)
        }
        // A second value in every class, where that is cheap: no value is near a half of the table. A
        // rule on shares must leave the search some room.
        Role::Sensitive if facts.commonest * 5 <= facts.rows * 2 => Keys {
            suggested: Some(SECOND_VALUE.to_string()),
            other: Some("alpha = 0.5".to_string()),
        },
        Role::Sensitive if different(facts) > 1 => only(SECOND_VALUE),
        _ => Keys::default(),
    };
    let natural = NATURAL.iter().position(|list| find(&words, list).is_some());
    let group = natural.unwrap_or(if is_named { NATURAL.len() } else { UNKNOWN });
    let is_open = role == Role::Sensitive && is_fingerprint(facts);
    Suggested { role, reason, keys, group, is_open }
}

/// Few rows share a value, and there are enough rows to say so.
fn is_fingerprint(facts: &ColumnFacts) -> bool {
    facts.rows >= MANY && hardly_repeats(facts)
}

/// More than one row in a hundred has a number that no other row has.
fn has_own_numbers(facts: &ColumnFacts) -> bool {
    facts.looks == Kind::Numeric && facts.rows >= MANY && facts.alone * 100 > facts.rows
}

fn by_name(words: &[String], facts: &ColumnFacts) -> Option<(Role, String)> {
    let found = |list| find(words, list);
    if let Some(word) = is_sampling_weight(words, facts) {
        return Some((
            Role::Weight,
            format!(
                "\"{word}\" in its name, and positive numbers: the sampling weight of a survey"
            ),
        ));
    }
    if let Some(word) = found(IDENTIFIER) {
        return Some((Role::Identifier, format!("\"{word}\" in its name points at one person")));
    }
    if let Some(word) = found(FREE_TEXT).filter(|_| facts.looks == Kind::Categorical) {
        return Some((
            Role::Identifier,
            format!("\"{word}\" in its name: a free text may name a person"),
        ));
    }
    // "number of tickets" counts something, it numbers nothing.
    let counts = words.windows(2).any(|pair| pair[0] == "number" && pair[1] == "of");
    let many = facts.distinct > FEW_VALUES || hardly_repeats(facts);
    if let Some(word) = found(NUMBERING).filter(|_| many && !counts && facts.looks != Kind::Date) {
        return Some((
            Role::Identifier,
            format!("\"{word}\" in its name, and many values: it numbers persons or events"),
        ));
    }
    if let Some(word) = found(WHEN) {
        return Some((
            Role::Quasi,
            format!("\"{word}\" in its name: others may know it{}", counted(facts)),
        ));
    }
    if let Some(word) = found(SENSITIVE) {
        return Some(sensitive(word, facts));
    }
    // A code with few values is a category, not a number of a person.
    if let Some(word) = found(CODE).filter(|_| !many && found(QUASI).is_none()) {
        return Some((
            Role::Quasi,
            format!("\"{word}\" in its name, and few values: a category{}", counted(facts)),
        ));
    }
    if let Some(word) = found(QUASI) {
        return Some((
            Role::Quasi,
            format!("\"{word}\" in its name: others may know it{}", counted(facts)),
        ));
    }
    if counts {
        return None;
    }
    let alone = if words.len() == 1 { found(PERSON) } else { None };
    let word = found(PERHAPS_IDENTIFIER).or(alone)?;
    Some((Role::Identifier, format!("\"{word}\" in its name may point at one person")))
}

/// Words for what a person is called, unless a word beside them says that it is something else
/// (`country name`).
const NAMING: &str = "address contact name signature street";

/// The word in a column's name that says that it names persons.
pub(in crate::evaluate) fn person_word(name: &str) -> Option<&'static str> {
    let words = words(name);
    let is_other = [WHEN, SENSITIVE, QUASI].iter().any(|list| find(&words, list).is_some());
    find(&words, IDENTIFIER).or_else(|| find(&words, NAMING).filter(|_| !is_other))
}

/// A column with a sensitive name: it is published unchanged, so it must not identify persons.
fn sensitive(word: &str, facts: &ColumnFacts) -> (Role, String) {
    let own_values = is_fingerprint(facts);
    match facts.looks {
        Kind::Date => (
            Role::Quasi,
            format!(
                "\"{word}\" in its name, but it holds dates, which others may know{}",
                counted(facts)
            ),
        ),
        Kind::Categorical | Kind::Ordinal if own_values => (
            Role::Identifier,
            format!(
                "\"{word}\" in its name, but few rows share a text, so it would point at one person"
            ),
        ),
        _ if own_values => (
            Role::Sensitive,
            format!(
                "\"{word}\" in its name; few rows share a number, so it would point at one person: \
                 take it in rounded (`round`)"
            ),
        ),
        _ => (Role::Sensitive, format!("\"{word}\" in its name{}", counted(facts))),
    }
}

/// The least number of rows for a guess by counts.
const MANY: u64 = 50;
/// The most values of a column of codes or labels.
pub(super) const FEW_VALUES: u64 = 200;

/// Nearly every row has its own value, or hardly two rows share one.
fn hardly_repeats(facts: &ColumnFacts) -> bool {
    let present = facts.rows - facts.missing;
    (present > 0 && facts.alone * 10 >= present * 9)
        || (facts.distinct > FEW_VALUES && facts.distinct * 2 > present)
}

fn by_values(facts: &ColumnFacts) -> (Role, String) {
    if different(facts) <= 1 {
        return (Role::Keep, "every row has the same value".to_string());
    }
    let counted = counted(facts);
    match facts.looks {
        Kind::Date => (
            Role::Quasi,
            format!(
                "dates: others may know when something \
            happened{counted}"
            ),
        ),
        Kind::Numeric if hardly_repeats(facts) => (
            Role::Identifier,
            "hardly two rows share a number, so it works like a fingerprint; if it is a \
             measurement, generalize it (quasi)"
                .to_string(),
        ),
        Kind::Categorical | Kind::Ordinal if hardly_repeats(facts) => {
            (Role::Identifier, "nearly every row has its own value".to_string())
        }
        Kind::Categorical | Kind::Ordinal
            if facts.distinct > FEW_VALUES && facts.distinct * 5 > facts.rows =>
        {
            (Role::Identifier, format!("text that few rows share{counted}"))
        }
        _ => (Role::Quasi, format!("name not recognised, so taken as known to others{counted}")),
    }
}

/// The number of distinct values, the missing one included.
fn different(facts: &ColumnFacts) -> u64 {
    facts.distinct + u64::from(facts.missing > 0)
}

fn counted(facts: &ColumnFacts) -> String {
    let values = if facts.distinct == 1 { "value" } else { "values" };
    let missing =
        if facts.missing > 0 { format!(", {} missing", facts.missing) } else { String::new() };
    format!(" ({} {values}{missing})", facts.distinct)
}
