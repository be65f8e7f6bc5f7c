//! The weights of quasi-identifiers for a purpose.

use serde::Serialize;

use super::information::Counts;
use super::logistic::outcome_of;
use crate::codes::{CodeRange, real};
use crate::domain::attribute::Attribute;
use crate::domain::encode::{self, ColumnSpec};
use crate::error::Result;
use crate::evaluate::query::ColumnGroups;
use crate::problem::CountColumn;
use crate::request::{Request, Roles};
use crate::table::Table;

/// The weight of a quasi-identifier for a purpose.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PurposeWeight {
    /// The name of the quasi-identifier.
    #[serde(skip)]
    pub name: String,
    /// The factor of its loss.
    pub weight: f64,
    /// True when the request gives the weight: the purpose does not change it then.
    pub is_given: bool,
    /// The share of the uncertainty about the purpose that the column alone removes, 0 to 1; the mean
    /// over several purposes.
    pub information: f64,
}

/// No weight is below this share of the mean: a column that tells nothing about the purpose is still
/// worth something to others, and a weight of 0 would have it all generalized.
const LEAST: f64 = 0.1;

/// The weight of every quasi-identifier, in the order of the table: that of the request, or one in
/// proportion to what the column tells about the purposes, lost for each unit of its loss. The mean
/// of the weights that are set here is 1, and they have two digits.
///
/// # Example
/// ```
/// use lookalike::evaluate::purpose;
/// use lookalike::table::{self, Treatment};
/// use lookalike::Request;
///
/// // The pay follows from the degree; the sex says nothing about it.
/// let text = "degree,sex,pay\nyes,f,high\nno,m,low\nyes,m,high\nno,f,low\n".repeat(5);
/// let names = ["degree", "sex", "pay"].map(String::from);
/// let request =
///     Request::new(2).quasi_identifiers(["degree", "sex"]).keep(["pay"]).purpose(["pay"]);
/// # let text = text.replace("\ndegree,sex,pay", "").replace("lowdegree,sex,pay", "low");
/// let table = table::open_text(text, "t".as_ref())?.read(&[Treatment::Code; 3])?;
/// let weights = purpose::weights(&table, &request.roles(&names)?, &request)?;
/// assert!(weights[0].weight > 1.5 && weights[1].weight < 0.5);
/// # Ok::<(), lookalike::Error>(())
/// ```
///
/// # Errors
/// When the table does not fit the request.
pub fn weights(table: &Table, roles: &Roles, request: &Request) -> Result<Vec<PurposeWeight>> {
    let purposes = roles
        .purpose
        .iter()
        .map(|name| ColumnGroups::of_purpose(name, table, request)?.of_source(table));
    let purposes = purposes.collect::<Result<Vec<_>>>()?;
    let counts = CountColumn::new(table, request.count.as_ref())?;
    let mut found = Vec::new();
    for name in &roles.quasi {
        let coded = table.coded(name);
        let (attribute, code_of) = encode::attribute(ColumnSpec::new(name, request), coded)?;
        let (mut worth, mut information) = (0.0, 0.0);
        for outcome in &purposes {
            let mut rows = Counts::new(attribute.codes(), outcome.groups);
            for (row, value) in coded.codes().iter().enumerate() {
                rows.add(code_of[value as usize], outcome_of(outcome, row), counts.of(row));
            }
            let all = rows.uncertainty();
            if all > 0.0 {
                worth += worth_of(&attribute, &rows) / all;
                information += rows.information() / all / real(purposes.len() as u64);
            }
        }
        let given = request.column(name).and_then(|line| line.weight);
        let weight = given.unwrap_or(worth);
        found.push(PurposeWeight {
            name: name.clone(),
            weight,
            is_given: given.is_some(),
            information,
        });
    }
    normalize(&mut found);
    Ok(found)
}

/// What is lost of the information about an outcome for each unit of loss: the mean over all degrees
/// of coarseness. 0 for a column that has one value.
fn worth_of(attribute: &Attribute, rows: &Counts) -> f64 {
    let exact = rows.information();
    let lost = |groups: Vec<u32>| {
        let loss = mean_loss(attribute, rows, &groups);
        let kept = rows.coarser(&groups).information();
        (loss > 0.0).then(|| (exact - kept).max(0.0) / loss)
    };
    let lost: Vec<f64> = attribute.levels().into_iter().filter_map(lost).collect();
    if lost.is_empty() { 0.0 } else { lost.iter().sum::<f64>() / real(lost.len() as u64) }
}

/// The mean loss of a row where all values are published as their groups.
fn mean_loss(attribute: &Attribute, rows: &Counts, groups: &[u32]) -> f64 {
    let (mut lost, mut all) = (0.0, 0);
    let ends: Vec<(u32, u32)> = (0..).zip(groups.iter().copied()).collect();
    for group in ends.chunk_by(|one, other| one.1 == other.1) {
        let (lo, hi) = (group[0].0, group[group.len() - 1].0);
        let range = lo as usize * rows.outcomes..(hi as usize + 1) * rows.outcomes;
        let some: u64 = rows.rows[range].iter().sum();
        lost += real(some) * attribute.loss(CodeRange { lo, hi });
        all += some;
    }
    lost / real(all).max(1.0)
}

/// Makes the mean of the weights that are not given 1, none of them less than [`LEAST`], with two
/// digits. Columns that tell nothing all have the weight 1.
fn normalize(found: &mut [PurposeWeight]) {
    let set: Vec<&mut PurposeWeight> = found.iter_mut().filter(|one| !one.is_given).collect();
    let number = real(set.len() as u64);
    let sum: f64 = set.iter().map(|one| one.weight).sum();
    let raised = |worth: f64| if sum > 0.0 { (worth * number / sum).max(LEAST) } else { 1.0 };
    let all: f64 = set.iter().map(|one| raised(one.weight)).sum();
    for one in set {
        one.weight = two_digits(raised(one.weight) * number / all);
    }
}

/// The nearest number of two digits.
fn two_digits(number: f64) -> f64 {
    format!("{number:.1e}").parse().unwrap_or(number)
}
