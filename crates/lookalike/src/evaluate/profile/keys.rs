//! The further keys of a quasi-identifier: kind, hierarchy, order, from its name and its values.

use super::roles::ColumnFacts;
use super::words::{AGE, AMOUNT, COUNTRY, EDUCATION, NOMINAL, ORDERS, ZIP, find};
use crate::domain::parse::{number, seconds};
use crate::request::{Builtin, Kind};

/// Keys in TOML: those that are suggested, and others that may be better.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Keys {
    pub(super) suggested: Option<String>,
    pub(super) other: Option<String>,
}

impl Keys {
    fn suggest(keys: impl Into<String>) -> Keys {
        Keys { suggested: Some(keys.into()), other: None }
    }
}

/// A code with at most so many values is taken for a category.
const FEW_CODES: u64 = 10;
/// A prefix hierarchy is for more values than these.
const FEW_LABELS: u64 = 5;

/// The keys of a quasi-identifier with these words in its name.
pub(super) fn quasi(name: &str, words: &[String], facts: &ColumnFacts) -> Keys {
    let has = |list| find(words, list).is_some();
    match facts.looks {
        Kind::Date if facts.has_calendar => Keys {
            suggested: Some(format!("hierarchy = {{ date = [\"{}\"] }}", unit(facts))),
            other: Some(LEVELS.to_string()),
        },
        Kind::Date => Keys::default(),
        _ if has(ZIP) => match prefixes(facts) {
            Some(prefixes) => Keys::suggest(prefixes),
            None if facts.looks == Kind::Numeric => Keys::suggest("kind = \"categorical\""),
            None => Keys::default(),
        },
        Kind::Numeric if has(AGE) => Keys::suggest("hierarchy = { intervals = [5, 10, 20] }"),
        // Codes have an order, their meanings have none.
        Kind::Numeric if has(NOMINAL) && !has(AMOUNT) => Keys {
            suggested: Some("kind = \"categorical\"".to_string()),
            other: (facts.distinct > FEW_LABELS).then(|| file(name)),
        },
        Kind::Numeric if is_code(facts) && !has(AMOUNT) => Keys {
            suggested: Some("kind = \"categorical\"".to_string()),
            other: Some("kind = \"numeric\"".to_string()),
        },
        Kind::Numeric => Keys::default(),
        Kind::Categorical | Kind::Ordinal => labels(name, words, facts),
    }
}

/// The levels of a calendar.
const LEVELS: &str = "hierarchy = { date = [\"month\", \"quarter\", \"half-year\", \"year\", \"five-years\", \"decade\"] }";

/// The unit whose ends are the ends of published ranges: so that some dozens of them make the span
/// of the column, and none is finer than a week.
fn unit(facts: &ColumnFacts) -> &'static str {
    let seconds = || facts.texts().filter_map(seconds);
    let (least, most) = (seconds().fold(f64::MAX, f64::min), seconds().fold(f64::MIN, f64::max));
    let days = (most - least) / 86_400.0;
    match days {
        ..100.0 => "week",
        ..1_500.0 => "month",
        ..5_000.0 => "quarter",
        _ => "year",
    }
}

/// Rounded, for a number that hardly two rows share: to about twenty different values.
pub(super) fn rounded(facts: &ColumnFacts) -> Keys {
    let numbers = || facts.texts().filter_map(number);
    let (least, greatest) =
        (numbers().fold(f64::MAX, f64::min), numbers().fold(f64::MIN, f64::max));
    let wanted = (greatest - least) / 20.0;
    let steps = (-6..=12).flat_map(|power| ["1", "2", "5"].map(|digit| format!("{digit}e{power}")));
    let step = steps.filter_map(|text| text.parse::<f64>().ok()).find(|step| *step >= wanted);
    // The shortest text of the number, which is 0.05 and not 5e-2.
    Keys::suggest(
        step.map_or("distinct = 2".to_string(), |step| format!("round = {step}, distinct = 2")),
    )
}

fn labels(name: &str, words: &[String], facts: &ColumnFacts) -> Keys {
    let has = |list| find(words, list).is_some();
    if let Some(order) = order(facts) {
        return Keys::suggest(order);
    }
    if has(COUNTRY) && is_known(Builtin::Countries, facts) {
        return Keys::suggest("hierarchy = \"builtin:countries\"");
    }
    if find(words, "state").is_some() && is_known(Builtin::UsStates, facts) {
        return Keys::suggest("hierarchy = \"builtin:us-states\"");
    }
    let other = if has(EDUCATION) {
        Some("order = [\"the lowest level\", \"...\", \"the highest level\"]".to_string())
    } else {
        (facts.distinct > FEW_LABELS).then(|| file(name))
    };
    Keys { suggested: None, other }
}

/// A file that `lookalike hierarchy new groups` or `suggest` makes.
fn file(name: &str) -> String {
    let plain: String =
        name.chars().map(|c| if c.is_alphanumeric() || c == '-' { c } else { '_' }).collect();
    format!("hierarchy = \"{plain}.csv\"")
}

/// Whole numbers, few of them, none below 0.
fn is_code(facts: &ColumnFacts) -> bool {
    facts.distinct <= FEW_CODES
        && facts.texts().all(|text| text.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The prefixes of codes, longest first: of five digits 4, 3 and 2. Of longer codes (`1234 AB`,
/// `1234-567`) the second half is as fine as a street: about half of them, down to one character.
fn prefixes(facts: &ColumnFacts) -> Option<String> {
    let length = facts.texts().map(|text| text.chars().count()).max()?;
    if length < 3 || facts.distinct <= FEW_LABELS {
        return None;
    }
    let lengths = match length {
        3 => 1..3,
        4 | 5 => 2..length,
        _ => 1..length.div_ceil(2).max(4) + 1,
    };
    let lengths: Vec<String> = lengths.rev().map(|at| at.to_string()).collect();
    // Numbers without leading zeros are codes all the same.
    let kind = if facts.looks == Kind::Numeric { "kind = \"categorical\", " } else { "" };
    Some(format!("{kind}hierarchy = {{ prefix = [{}] }}", lengths.join(", ")))
}

/// The order of labels that are known to have one.
fn order(facts: &ColumnFacts) -> Option<String> {
    if facts.distinct < 3 {
        return None;
    }
    let is_in =
        |order: &[&str]| facts.texts().all(|text| order.contains(&text.to_lowercase().as_str()));
    let order = ORDERS.iter().find(|order| is_in(order))?;
    let mut texts: Vec<&str> = facts.texts().collect();
    texts.sort_by_key(|text| order.iter().position(|label| *label == text.to_lowercase()));
    Some(format!("order = {texts:?}"))
}

/// True when a ready-made hierarchy knows every value.
fn is_known(builtin: Builtin, facts: &ColumnFacts) -> bool {
    let mut texts: Vec<&str> = facts.texts().collect();
    texts.sort_unstable();
    texts.dedup();
    facts.distinct > 3 && builtin.rows(texts.iter().copied()).len() == texts.len()
}
