//! A hierarchy for a column of labels, suggested from the table: better than none, and for somebody
//! to read and change.
//!
//! The first way that fits is taken: values in an order are grouped with their neighbours, codes by
//! their prefixes, values with common words by these; what is left is grouped by company: values
//! whose rows look alike in the other columns come together.
//!
//! The same rows in any order give the same hierarchy.

mod company;
mod labels;
mod order;
mod words;

use std::collections::BTreeMap;

use crate::codes::Code;
use crate::domain::kind::{Guess, guess};
use crate::error::{Error, Hint, Result};
use crate::request::Kind;
use crate::table::Table;

use company::Company;

/// Most values that are grouped.
const MOST_VALUES: usize = 500;

/// A suggested hierarchy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    /// The lines of a hierarchy file: each value, its groups, the root.
    pub rows: Vec<Vec<String>>,
    /// How the values were grouped.
    pub by: GroupedBy,
}

/// How the values of a column were grouped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GroupedBy {
    /// Neighbours in an order that the values themselves say.
    Order,
    /// Neighbours in the order of a column of numbers that the values determine.
    OrderOf(String),
    /// Their first characters.
    Prefix,
    /// Words that they have in common, then their company.
    Words,
    /// Their company: the values of other columns in the same rows.
    Company,
}

/// The distinct values of a column, the most frequent first.
struct Values {
    texts: Vec<String>,
    counts: Vec<u64>,
    /// For each code of the column its place among the texts; none where it is missing.
    places: Vec<Option<usize>>,
}

/// Groups of places, from one level to the next.
type Partition = Vec<Vec<usize>>;

/// Suggests a hierarchy for a column of a table; `missing` are the texts that mean missing. All
/// columns of the table must be coded.
///
/// # Example
/// ```
/// use lookalike::evaluate::suggested_hierarchy::{GroupedBy, suggest};
/// use lookalike::table::{self, Treatment};
///
/// let text = "size\nlow\nmedium\nhigh\nvery high\nlow\n";
/// let table = table::open_text(text.into(), "t.csv".as_ref())?.read(&[Treatment::Code])?;
/// let made = suggest(&table, "size", &[])?;
/// assert_eq!(made.by, GroupedBy::Order);
/// assert_eq!(made.rows[1], ["medium", "medium .. high", "medium .. very high", "*"]);
/// # Ok::<(), lookalike::Error>(())
/// ```
///
/// # Errors
/// When the column has numbers or dates, fewer than three values, or more than 500.
pub fn suggest(table: &Table, column: &str, missing: &[String]) -> Result<Suggestion> {
    let values = values(table, column, missing);
    refuse(column, &values)?;
    let count = values.texts.len();
    let (by, levels) = if let Some(places) = order::in_order(&values.texts) {
        (GroupedBy::Order, order::neighbours(&places, &values.counts, &targets(count)))
    } else if let Some((name, places)) = order::by_numbers(table, column, &values) {
        (GroupedBy::OrderOf(name), order::neighbours(&places, &values.counts, &targets(count)))
    } else if let Some(levels) = words::by_prefix(&values.texts) {
        (GroupedBy::Prefix, levels)
    } else {
        let company = Company::new(table, column, &values);
        match words::by_word(&values.texts) {
            Some(groups) => {
                let targets = targets(groups.len());
                let above = company.merged(groups.clone(), &values.counts, &targets);
                (GroupedBy::Words, std::iter::once(groups).chain(above).collect())
            }
            None => {
                let singles: Partition = (0..count).map(|place| vec![place]).collect();
                (GroupedBy::Company, company.merged(singles, &values.counts, &targets(count)))
            }
        }
    };
    let rows = labels::rows(&values, &by, &levels);
    Ok(Suggestion { rows, by })
}

/// The present values of a column with their counts, the most frequent first, then by text.
fn values(table: &Table, column: &str, missing: &[String]) -> Values {
    let coded = table.coded(column);
    let is_missing =
        |text: &str| text.is_empty() || missing.iter().any(|marker| marker.trim() == text.trim());
    let mut counts = vec![0u64; coded.values().len()];
    coded.codes().iter().for_each(|code| counts[code as usize] += 1);
    let mut sorted: Vec<(u64, &str, usize)> = coded
        .values()
        .iter()
        .enumerate()
        .filter_map(|(code, text)| Some((counts[code], text.as_deref()?, code)))
        .filter(|(_, text, _)| !is_missing(text))
        .collect();
    sorted.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
    let mut places = vec![None; counts.len()];
    sorted.iter().enumerate().for_each(|(place, &(.., code))| places[code] = Some(place));
    let texts = sorted.iter().map(|(_, text, _)| (*text).to_string()).collect();
    Values { texts, counts: sorted.iter().map(|&(count, ..)| count).collect(), places }
}

fn refuse(column: &str, values: &Values) -> Result<()> {
    let texts: Vec<Option<String>> = values.texts.iter().cloned().map(Some).collect();
    match guess(&texts) {
        Guess::Kind(Kind::Numeric) | Guess::Slip(_) => {
            return Err(has_order(column, "numbers", "use intervals (intervals:5,10,20)"));
        }
        Guess::Kind(Kind::Date) => {
            return Err(has_order(column, "dates", "use calendar units (date:month,quarter,year)"));
        }
        Guess::Kind(Kind::Categorical | Kind::Ordinal) => {}
    }
    let why = match values.texts.len() {
        0..=2 => {
            format!("column `{column}` has fewer than three values: there is nothing to group")
        }
        3..=MOST_VALUES => return Ok(()),
        count => format!(
            "column `{column}` has {count} values, and at most {MOST_VALUES} are grouped: use a \
             prefix hierarchy for codes, or a ready-made one"
        ),
    };
    Err(Error::request("nothing-to-suggest", why).about_column(column))
}

/// The error for values that are published as ranges, and what groups they may have.
fn has_order(column: &str, what: &str, groups: &str) -> Error {
    let why = format!("column `{column}` has {what}: they need no groups");
    Error::request("nothing-to-suggest", why)
        .about_column(column)
        .hint(Hint::plain("leave it as it is, for exact ranges"))
        .hint(Hint::plain(groups))
}

/// How many groups each level has, for so many values: at most three levels, of equal steps.
fn targets(count: usize) -> Vec<usize> {
    let levels = count.max(1).ilog2().min(3);
    #[allow(clippy::cast_precision_loss, reason = "there are few values")]
    let size = count as f64;
    let groups = |level: u32| {
        let groups = size.powf(1.0 - f64::from(level) / f64::from(levels + 1)).round();
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is small")]
        (groups as usize).clamp(2, count)
    };
    let mut targets: Vec<usize> =
        (1..=levels).map(groups).filter(|&groups| groups < count).collect();
    targets.dedup();
    targets
}

/// For each value of another column its place in the order of the texts; none where it is missing.
fn text_order(values: &[Option<String>]) -> BTreeMap<&str, Code> {
    let sorted: std::collections::BTreeSet<&str> =
        values.iter().filter_map(|value| value.as_deref()).collect();
    sorted.into_iter().zip(0..).collect()
}

#[cfg(test)]
mod tests;
