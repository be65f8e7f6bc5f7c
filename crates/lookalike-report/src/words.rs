//! Words that pages and summaries have in common: rules, members of a class, columns.

use lookalike::audit::{CountUnit, RuleVerdict, Verdict};
use lookalike::evaluate::risk::{ColumnUniqueness, Individuals, RiskMeasures, SpecialUniques};
use lookalike::evaluate::uniqueness::UniqueRows;
use lookalike::numbers::{count, counted, decimal, percent};
use lookalike::problem::bound::{Bound, BoundKind};

/// From this share of unique rows on, it is said what that means.
pub const MANY_UNIQUE: f64 = 0.05;

/// What an attacker can do with unique rows.
pub const UNIQUE_MEANING: &str =
    "whoever knows these values of a person finds the row, whatever k is";

/// The groups of rows that a rule is checked on, in the singular and the plural.
pub type GroupWords = (&'static str, &'static str);

/// The groups of a homogeneous release.
pub const CLASSES: GroupWords = ("class", "classes");

/// A part as a share of the whole; 0 of nothing.
#[allow(clippy::cast_precision_loss, reason = "for display")]
pub fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// `1 row`, `5 persons`
pub fn members(number: u64, unit: CountUnit) -> String {
    match unit {
        CountUnit::Rows => counted(number, "row", "rows"),
        CountUnit::Persons => counted(number, "person", "persons"),
    }
}

/// True when a rule limits what a class discloses about a sensitive column.
pub fn has_rule(verdict: &Verdict, column: &str) -> bool {
    verdict.rules.iter().any(|rule| rule.sensitive.as_deref() == Some(column))
}

/// The result of a rule. A rule on all quasi-identifiers does not name them again.
pub fn rule_line(rule: &RuleVerdict, quasi: &[String], groups: GroupWords) -> String {
    let worst = decimal(rule.worst);
    let on_all = format!(" on {}", quasi.join(", "));
    let words = rule.rule.strip_suffix(&on_all).unwrap_or(&rule.rule);
    match rule.violations {
        0 => format!("ok      {words} ({} {worst})", rule.measure),
        broken => format!(
            "BROKEN  {words} by {} with {} ({} {worst})",
            counted(broken, groups.0, groups.1),
            members(rule.rows, rule.unit),
            rule.measure
        ),
    }
}

/// The sign before a number that is estimated.
pub fn bound_sign(bound: &Bound) -> &'static str {
    if matches!(bound.kind, BoundKind::Estimate { .. }) { "~" } else { "" }
}

/// The columns published unchanged, as in `column age` or `the 30 columns`.
pub fn unchanged_columns(found: &UniqueRows) -> String {
    match found.alone.as_slice() {
        [only] => format!("column {}", only.column),
        all => format!("the {} columns", all.len()),
    }
}

/// The unit of measures of risk.
pub fn individuals(counted: Individuals) -> &'static str {
    match counted {
        Individuals::Rows => "rows",
        Individuals::Persons => "persons",
    }
}

/// An estimated number of persons: whole, or with a decimal where it is small.
pub fn about(number: f64) -> String {
    if number < 10.0 {
        return decimal((number * 10.0).round() / 10.0);
    }
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "rounded, at least 10, and fewer than there are people"
    )]
    count(number.round() as u64)
}

/// The heads of [`column_rows`]; those that begin with `>` are of numbers.
pub const COLUMN_HEADS: [&str; 4] =
    ["column", ">part in the score", ">unique on it alone", ">unique without it"];

/// The columns that make people unique, those that add most first.
pub fn column_rows(found: &RiskMeasures, special: &SpecialUniques) -> Vec<Vec<String>> {
    let of_all =
        |number: u64| format!("{} ({})", count(number), percent(ratio(number, found.individuals)));
    let mut columns: Vec<_> = special.columns.iter().collect();
    columns.sort_by(|a, b| a.without.cmp(&b.without).then(b.score_share.total_cmp(&a.score_share)));
    let row = |column: &&ColumnUniqueness| {
        vec![
            column.column.clone(),
            percent(column.score_share),
            of_all(column.alone),
            column.without.map_or("not counted".to_string(), of_all),
        ]
    };
    columns.iter().map(row).collect()
}

/// What the rows of columns are about, in one sentence.
pub fn column_lead(found: &RiskMeasures, special: &SpecialUniques) -> String {
    let sets = match special.largest {
        1 => "one column".to_string(),
        largest => format!("up to {largest} columns"),
    };
    let limited = if special.is_limited { " (more would take too long here)" } else { "" };
    // A person with several rows may be alone in several classes.
    let unique = match found.counted {
        Individuals::Rows => "rows are unique",
        Individuals::Persons => "classes have one person alone",
    };
    format!(
        "{} {unique} on all columns, {} of them on {sets} already{limited}",
        count(special.uniques),
        count(special.special),
    )
}
