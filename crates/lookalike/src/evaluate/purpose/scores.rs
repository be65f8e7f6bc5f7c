//! A model trained on a release, and the same model trained on its source, tested on rows of the
//! source.

use serde::Serialize;

use super::logistic::{self, outcome_of};
use super::score::{Score, score};
use crate::codes::real;
use crate::error::Result;
use crate::evaluate::person_of_row::person_of_row;
use crate::evaluate::query::{ColumnGroups, GroupShares};
use crate::problem::CountColumn;
use crate::request::{Request, Roles};
use crate::rng::Rng;
use crate::table::Table;

/// How well a purpose can be predicted from the quasi-identifiers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PurposeScore {
    /// The name of the purpose column.
    pub column: String,
    /// The different values that are predicted.
    pub outcomes: usize,
    /// The share of the most frequent one among the tested rows: the accuracy of a constant.
    pub commonest: f64,
    /// A model that was trained on the source; none where the tested rows have one value.
    pub source: Option<Score>,
    /// A model that was trained on the release.
    pub release: Option<Score>,
}

/// The splits of a table into rows to train on and rows to test on.
pub const SPLITS: u32 = 5;

/// For each row one of [`SPLITS`] numbers, by a seed; rows of one person have the same.
pub fn fold_of_rows(table: &Table, request: &Request, seed: u64) -> Vec<u32> {
    let person = person_of_row(table, request);
    let fold = |row: usize| {
        let owner = person.as_ref().map_or(row as u64, |person| u64::from(person[row]));
        u32::try_from(Rng::at(seed, owner).below(u64::from(SPLITS))).expect("few splits")
    };
    (0..table.rows()).map(fold).collect()
}

/// The scores of each purpose. With `is_tested` the release is one of the other rows: the models are
/// trained without the tested rows. Without it all rows are both, so that the scores are a little
/// too good, of both models alike.
///
/// The tables are read as for [`answer`](crate::evaluate::query::answer).
///
/// # Errors
/// When a cell of the release cannot be read, or when the two tables do not fit the request.
pub fn scores(
    source: &Table,
    release: &Table,
    roles: &Roles,
    request: &Request,
    is_tested: Option<&[bool]>,
) -> Result<Vec<PurposeScore>> {
    let (mut exact, mut published) = (Vec::new(), Vec::new());
    for name in &roles.quasi {
        let groups = ColumnGroups::of_quasi(name, source, request)?;
        exact.push(groups.of_source(source)?);
        published.push(groups.of_release(release, request)?);
    }
    let of_source = CountColumn::new(source, request.count.as_ref())?;
    let of_release = CountColumn::new(release, request.count.as_ref())?;
    published.iter_mut().for_each(|column| column.spread_by_frequency(|row| of_release.of(row)));
    let rows = |is_wanted: bool| {
        let chosen = move |row: &usize| is_tested.is_none_or(|tested| tested[*row] == is_wanted);
        (0..source.rows()).filter(chosen).map(|row| (row, of_source.of(row)))
    };
    let of_purpose = |name: &String| {
        let groups = ColumnGroups::of_purpose(name, source, request)?;
        let (truth, outcome) = (groups.of_source(source)?, groups.of_release(release, request)?);
        let on_source = logistic::fit(&exact, &truth, rows(false));
        let all = (0..release.rows()).map(|row| (row, of_release.of(row)));
        let on_release = logistic::fit(&published, &outcome, all);
        Ok(PurposeScore {
            column: name.clone(),
            outcomes: truth.groups,
            commonest: commonest(&truth, rows(true)),
            source: score(&on_source, &exact, &truth, rows(true)),
            release: score(&on_release, &exact, &truth, rows(true)),
        })
    };
    roles.purpose.iter().map(of_purpose).collect()
}

/// The share of the most frequent outcome.
fn commonest(outcome: &GroupShares, rows: impl Iterator<Item = (usize, u64)>) -> f64 {
    let mut counts = vec![0; outcome.groups];
    rows.for_each(|(row, count)| counts[outcome_of(outcome, row) as usize] += count);
    let most = counts.iter().copied().max().unwrap_or(0);
    real(most) / real(counts.iter().sum::<u64>()).max(1.0)
}
