//! How well the purpose can be predicted from releases: the table is split five times, the rows of
//! four parts are released and a model is trained on that release, and the rows of the fifth part,
//! which no search and no weight has seen, are predicted.

use lookalike::Result;
use lookalike::evaluate::purpose::{PurposeScore, SPLITS, Score};
use serde_json::{Value, json};

/// The scores of one purpose column over all splits.
#[derive(Clone, Debug, PartialEq)]
pub struct PurposeResult {
    /// The name of the purpose column.
    pub column: String,
    /// The splits that could be measured: a part of the table may have no release.
    pub splits: usize,
    /// The accuracy of the most frequent value.
    pub commonest: Spread,
    /// The model that was trained on the source: accuracy and AUC.
    pub source: [Spread; 2],
    /// The model that was trained on the release: accuracy and AUC.
    pub release: [Spread; 2],
}

/// A mean, and the standard deviation of the splits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// The standard deviation; 0 for one split.
    pub deviation: f64,
}

impl Spread {
    /// `0.8830 ± 0.0042`
    pub fn words(&self) -> String {
        format!("{:.4} ± {:.4}", self.mean, self.deviation)
    }
}

/// Measures every split and sums them up, a line for each purpose column; `of_split` has none where
/// the rest of the table has no release.
pub(super) fn measured(
    of_split: impl Fn(u32) -> Result<Option<Vec<PurposeScore>>>,
) -> Result<Vec<PurposeResult>> {
    let mut splits = Vec::new();
    for split in 0..SPLITS {
        splits.extend(of_split(split)?);
    }
    let columns = splits.first().map_or(0, Vec::len);
    let of_column = |at: usize| {
        let of_splits: Vec<&PurposeScore> = splits.iter().map(|scores| &scores[at]).collect();
        summed_up(&of_splits)
    };
    Ok((0..columns).filter_map(of_column).collect())
}

fn summed_up(splits: &[&PurposeScore]) -> Option<PurposeResult> {
    let complete = splits.iter().filter_map(|split| Some((split, split.source?, split.release?)));
    let complete: Vec<(&&PurposeScore, Score, Score)> = complete.collect();
    let of = |number: &dyn Fn(&(&&PurposeScore, Score, Score)) -> f64| {
        spread(&complete.iter().map(number).collect::<Vec<_>>())
    };
    Some(PurposeResult {
        column: splits.first()?.column.clone(),
        splits: complete.len(),
        commonest: of(&|split| split.0.commonest)?,
        source: [of(&|split| split.1.accuracy)?, of(&|split| split.1.auc)?],
        release: [of(&|split| split.2.accuracy)?, of(&|split| split.2.auc)?],
    })
}

#[allow(clippy::cast_precision_loss, reason = "a few splits")]
fn spread(numbers: &[f64]) -> Option<Spread> {
    let count = numbers.len() as f64;
    let mean = numbers.iter().sum::<f64>() / count;
    let squares: f64 = numbers.iter().map(|number| (number - mean).powi(2)).sum();
    let deviation = if numbers.len() > 1 { (squares / (count - 1.0)).sqrt() } else { 0.0 };
    (!numbers.is_empty()).then_some(Spread { mean, deviation })
}

/// The results as JSON.
pub(super) fn object(results: &[PurposeResult]) -> Value {
    let spread = |spread: Spread| json!({ "mean": spread.mean, "deviation": spread.deviation });
    let model =
        |[accuracy, auc]: [Spread; 2]| json!({ "accuracy": spread(accuracy), "auc": spread(auc) });
    let one = |result: &PurposeResult| {
        json!({
            "column": result.column,
            "splits": result.splits,
            "commonest": spread(result.commonest),
            "source": model(result.source),
            "release": model(result.release),
        })
    };
    results.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(release: Option<f64>) -> PurposeScore {
        let both = |number| Score { accuracy: number, auc: number };
        let column = "pay".to_string();
        PurposeScore {
            column,
            outcomes: 2,
            commonest: 0.5,
            source: Some(both(0.9)),
            release: release.map(both),
        }
    }

    #[test]
    fn means_and_deviations_are_those_of_the_splits_that_there_are() {
        let of_split = |split: u32| {
            Ok(match split {
                0 => Some(vec![score(Some(0.7))]),
                1 => Some(vec![score(Some(0.8))]),
                2 => Some(vec![score(None)]),
                _ => None,
            })
        };
        let found = measured(of_split).unwrap();
        assert_eq!((found.len(), found[0].splits), (1, 2));
        let [accuracy, _] = found[0].release;
        assert_eq!(accuracy.words(), "0.7500 ± 0.0707");
        assert_eq!(found[0].source[1].words(), "0.9000 ± 0.0000");
        assert_eq!(object(&found)[0]["commonest"]["mean"], 0.5);
        assert_eq!(measured(|_| Ok(None)).unwrap(), []);
    }
}
