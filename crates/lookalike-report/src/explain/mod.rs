//! Why a release of a table loses so much, and what would help: for each quasi-identifier what it
//! costs, and what leaving it out or coarser values of it would gain; a smaller k; one percent of
//! the rows suppressed; which columns make rows unique; how many rows carry half of the loss.
//!
//! Every figure comes from a quick search of its own, always by the same algorithm, so that their
//! differences mean something (`variations.rs`). No release is made and no value is named.

#[cfg(test)]
mod tests;
mod text;
mod unique;
mod variations;

use lookalike::domain::coarser::CoarserBy;
use lookalike::run::{Cancel, coarsen, settle_forms, settle_purpose};
use lookalike::table::Source;
use lookalike::{Algorithm, Hint, Request, Result, Warning, problem};
use serde_json::{Value, json};

use crate::compare::without_kept;

pub use text::{Help, add_to, html};

/// What a table loses, and what would help. Losses are shares of the detail of published rows, 0
/// to 1.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// Rows of the table; whole persons where these are counted.
    pub rows: u64,
    /// True when whole persons are counted.
    pub is_of_persons: bool,
    /// The k of the request on all quasi-identifiers; 1 without one.
    pub k: u64,
    /// The quick algorithm that made every search.
    pub algorithm: Algorithm,
    /// The loss of the request as it is.
    pub loss: f64,
    /// The share of rows that are unique on all quasi-identifiers.
    pub unique: f64,
    /// The quasi-identifiers, those first that cost most.
    pub columns: Vec<ColumnCost>,
    /// The next smaller usual k; none where the request has no k or there is none.
    pub smaller_k: Option<SmallerK>,
    /// One percent more of the rows suppressed; none where the rules forbid it.
    pub suppression: Option<SuppressedShare>,
    /// The rows that cost most.
    pub costly: CostlyRows,
    /// False when the time was over before all was tried.
    pub is_complete: bool,
    /// Warnings about the request on this table.
    pub warnings: Vec<Warning>,
}

/// What a quasi-identifier costs.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnCost {
    /// Its name.
    pub name: String,
    /// The mean loss of its own cells.
    pub loss: f64,
    /// Its part of the whole loss.
    pub part: f64,
    /// The loss of the other columns now.
    pub others: f64,
    /// The loss of the other columns if this one were left out; none for the only column.
    pub others_without: Option<f64>,
    /// The loss of the other columns if this one were coarser.
    pub coarser: Option<CoarserColumn>,
    /// The share of rows that are unique on this column alone.
    pub unique_alone: f64,
    /// The share of rows that are unique on all the others.
    pub unique_without: f64,
}

/// A column with coarser values.
#[derive(Clone, Debug, PartialEq)]
pub struct CoarserColumn {
    /// In words: `intervals of 10`.
    pub to: String,
    /// The loss of the other columns then.
    pub others: f64,
}

/// The loss with a smaller k.
#[derive(Clone, Debug, PartialEq)]
pub struct SmallerK {
    /// The smaller k.
    pub k: u64,
    /// The loss.
    pub loss: f64,
}

/// The loss of the published rows with more of them suppressed.
#[derive(Clone, Debug, PartialEq)]
pub struct SuppressedShare {
    /// The share that may be suppressed.
    pub allowed: f64,
    /// Rows that were.
    pub suppressed: u64,
    /// The loss.
    pub loss: f64,
}

/// The fewest rows that carry half of the loss.
#[derive(Clone, Debug, PartialEq)]
pub struct CostlyRows {
    /// Their number.
    pub rows: u64,
    /// Their share of all rows.
    pub share: f64,
}

impl Explanation {
    /// The JSON object of `explain`. `words` writes hints.
    pub fn json(&self, words: impl Fn(&Hint) -> String) -> Value {
        let warnings: Vec<String> =
            self.warnings.iter().map(|warning| warning.message(&words)).collect();
        let column = |column: &ColumnCost| {
            let coarser = column.coarser.as_ref();
            json!({
                "name": column.name,
                "loss": column.loss,
                "part": column.part,
                "others": column.others,
                "others_without": column.others_without,
                "coarser": coarser.map(|of| json!({ "to": of.to, "others": of.others })),
                "unique_alone": column.unique_alone,
                "unique_without": column.unique_without,
            })
        };
        let smaller = |of: &SmallerK| json!({ "k": of.k, "loss": of.loss });
        let suppressed = |of: &SuppressedShare| json!({ "allowed": of.allowed, "suppressed": of.suppressed, "loss": of.loss });
        let help = |help: &Help| {
            let Help { change, of, now, then } = help;
            json!({ "change": change, "of": of, "now": now, "then": then })
        };
        json!({
            "version": 1,
            "rows": self.rows,
            "unit": self.unit(),
            "k": self.k,
            "algorithm": self.algorithm.name(),
            "loss": self.loss,
            "unique": self.unique,
            "columns": self.columns.iter().map(column).collect::<Vec<_>>(),
            "smaller_k": self.smaller_k.as_ref().map(smaller),
            "suppression": self.suppression.as_ref().map(suppressed),
            "costly_rows": { "rows": self.costly.rows, "share": self.costly.share },
            "helps": self.helps().iter().map(help).collect::<Vec<_>>(),
            "complete": self.is_complete,
            "warnings": warnings,
        })
    }

    /// What is counted: `rows` or `persons`.
    pub fn unit(&self) -> &'static str {
        if self.is_of_persons { "persons" } else { "rows" }
    }
}

/// Explains the loss of a table under a request, within its time limit (that of `auto` when it has
/// none). The request is that of a release; its algorithm plays no part.
///
/// # Example
/// ```
/// use lookalike::{Request, run::Cancel, table};
/// use lookalike_report::explain::explain;
///
/// let source = table::open_text("age,sex\n30,f\n31,m\n50,f\n51,m\n".into(), "t".as_ref())?;
/// let request = Request::new(2).quasi_identifiers(["age", "sex"]);
/// let found = explain(source, &request, &Cancel::default())?;
/// assert_eq!((found.unique, found.columns.len()), (1.0, 2));
/// # Ok::<(), lookalike::Error>(())
/// ```
///
/// # Errors
/// When the request does not fit the table, the table cannot be read, or no release can satisfy
/// the rules.
pub fn explain(source: Source, request: &Request, cancel: &Cancel) -> Result<Explanation> {
    request.time()?;
    request.suppression_price()?;
    let (mut request, roles) = without_kept(request, source.names())
        .map_err(|error| lookalike::run::without_names(error, request, &source))?;
    request.rules(&roles)?;
    // The same figures every time.
    request.seed = Some(1);
    let mut warnings = source.notes().to_vec();
    let treatments = problem::treatments(source.names(), &roles);
    let mut table = source.read(&treatments)?;
    warnings.extend(settle_forms(&mut table, &mut request)?);
    coarsen(&mut table, &request)?;
    settle_purpose(&table, &roles, &mut request)?;
    warnings.extend(lookalike::run::one_row(&request));
    variations::explained(&table, &roles, &request, cancel, warnings)
}

/// How values become coarser, in words.
fn coarser_words(by: CoarserBy) -> String {
    match by {
        CoarserBy::Hierarchy => "next level".into(),
        CoarserBy::Width(width) => format!("intervals of {width}"),
        CoarserBy::Intervals(number) => format!("{number} intervals"),
    }
}
