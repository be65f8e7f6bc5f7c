//! How well a model tells the outcome of rows that it has not seen.

use serde::Serialize;

use super::logistic::{Model, outcome_of};
use crate::codes::real;
use crate::evaluate::query::GroupShares;

/// How well a model tells the outcome of some rows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Score {
    /// The share of rows whose most likely outcome is the true one.
    pub accuracy: f64,
    /// The area under the ROC curve: the probability that a row with an outcome gets a higher
    /// probability of it than a row without; over several outcomes the mean, by their rows. One half
    /// is chance.
    pub auc: f64,
}

/// The score of a model on the rows that are named, each with its number of rows; none where all have
/// one outcome.
pub(super) fn score(
    model: &Model,
    columns: &[GroupShares],
    outcome: &GroupShares,
    rows: impl Iterator<Item = (usize, u64)>,
) -> Option<Score> {
    let scores = model.cell_scores(columns);
    let mut chances: Vec<Vec<f64>> = vec![Vec::new(); outcome.groups];
    let (mut truth, mut counts) = (Vec::new(), Vec::new());
    let (mut right, mut all) = (0, 0);
    let mut chance = vec![0.0; outcome.groups];
    for (row, count) in rows {
        let cells: Vec<u32> = columns.iter().map(|column| column.of_rows.get(row)).collect();
        model.chances(&scores, &cells, &mut chance);
        let is = outcome_of(outcome, row) as usize;
        right += if best(&chance) == is { count } else { 0 };
        all += count;
        chances.iter_mut().zip(&chance).for_each(|(list, &chance)| list.push(chance));
        truth.push(is);
        counts.push(count);
    }
    let (mut sum, mut weights) = (0.0, 0.0);
    for (outcome, chances) in chances.iter().enumerate() {
        let list = chances.iter().zip(&truth).zip(&counts);
        let list = list.map(|((&chance, &is), &count)| (chance, is == outcome, count)).collect();
        if let Some((auc, with)) = auc(list) {
            sum += real(with) * auc;
            weights += real(with);
        }
    }
    (weights > 0.0).then(|| Score { accuracy: real(right) / real(all), auc: sum / weights })
}

/// The first of the most likely outcomes.
fn best(chance: &[f64]) -> usize {
    let better = |best: usize, at: usize| if chance[at] > chance[best] { at } else { best };
    (1..chance.len()).fold(0, better)
}

/// The area under the ROC curve of some probabilities, and how many rows have the outcome; rows with
/// equal probabilities count half. None where all rows have it or none.
fn auc(mut list: Vec<(f64, bool, u64)>) -> Option<(f64, u64)> {
    list.sort_by(|one, other| one.0.total_cmp(&other.0));
    let (mut below, mut with, mut won) = (0, 0, 0.0);
    for equal in list.chunk_by(|one, other| one.0.total_cmp(&other.0).is_eq()) {
        let count = |wanted: bool| {
            equal.iter().filter(|(_, is, _)| *is == wanted).map(|(_, _, count)| count).sum::<u64>()
        };
        let (has, has_not) = (count(true), count(false));
        won += real(has) * (real(below) + real(has_not) / 2.0);
        (below, with) = (below + has_not, with + has);
    }
    (below > 0 && with > 0).then(|| (won / (real(with) * real(below)), with))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_area_counts_pairs_in_the_right_order_and_ties_half() {
        let list = |cells: &[(f64, bool)]| cells.iter().map(|&(p, is)| (p, is, 1)).collect();
        assert_eq!(auc(list(&[(0.9, true), (0.1, false)])), Some((1.0, 1)));
        assert_eq!(auc(list(&[(0.5, true), (0.5, false)])), Some((0.5, 1)));
        // Of four pairs: 0.4 before 0.2 and 0.4 (half), 0.8 before both.
        let some = [(0.4, true), (0.8, true), (0.2, false), (0.4, false)];
        assert_eq!(auc(list(&some)), Some((3.5 / 4.0, 2)));
        assert_eq!(auc(list(&[(0.9, true)])), None, "nothing to compare with");
        let counted = vec![(0.4, true, 3), (0.2, false, 1), (0.6, false, 1)];
        assert_eq!(auc(counted), Some((0.5, 3)));
    }

    #[test]
    fn of_equal_chances_the_first_is_best() {
        assert_eq!((best(&[0.4, 0.4, 0.2]), best(&[0.1, 0.2, 0.7])), (0, 2));
    }
}
