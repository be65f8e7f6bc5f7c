//! The purpose of a release: the weights of its quasi-identifiers, and how well a small model predicts
//! the purpose columns. In the internal edition alone: both are functions of the source.

use lookalike::evaluate::purpose::{PurposeScore, PurposeWeight, Score};
use lookalike::numbers::percent;
use serde_json::{Value, json};

use super::numbers::ReportNumbers;
use super::page::table;

/// Weights and scores of a purpose.
#[derive(Debug)]
pub(super) struct PurposeNumbers {
    pub(super) weights: Vec<PurposeWeight>,
    /// Empty when cells of the release cannot be read.
    pub(super) scores: Vec<PurposeScore>,
}

/// The section; empty without a purpose and in the public edition.
pub(super) fn section(report: &ReportNumbers) -> String {
    let Some(purpose) = &report.purpose else { return String::new() };
    let weight = |one: &PurposeWeight| {
        vec![one.name.clone(), one.weight.to_string(), percent(one.information)]
    };
    let weights: Vec<Vec<String>> = purpose.weights.iter().map(weight).collect();
    let columns: Vec<&str> = purpose.scores.iter().map(|score| score.column.as_str()).collect();
    let heads = ["column", ">weight", ">uncertainty about the purpose that it removes"];
    let mut out = format!(
        "<h2>Purpose</h2>\n<p>Detail was kept where it tells something about the purpose of the \
         release. Weight of each column in the loss:</p>\n{}",
        table(&heads, &weights)
    );
    if columns.is_empty() {
        return out;
    }
    let figures = |score: Option<Score>| match score {
        Some(score) => [percent(score.accuracy), format!("{:.4}", score.auc)],
        None => ["none".to_string(), "none".to_string()],
    };
    let row = |score: &PurposeScore| {
        let ends = [vec![score.column.clone(), percent(score.commonest)]];
        let models = [score.source, score.release].map(|score| figures(score).to_vec());
        ends.into_iter().chain(models).flatten().collect()
    };
    let rows: Vec<Vec<String>> = purpose.scores.iter().map(row).collect();
    let heads = [
        "purpose",
        ">commonest value",
        ">accuracy, source",
        ">AUC, source",
        ">accuracy, release",
        ">AUC, release",
    ];
    out += &format!(
        "<p>A logistic regression on the quasi-identifiers was trained on the source and on the \
         release, and tested on the rows of the source. These are the rows that it was trained on, so \
         all figures are a little too good for new rows:</p>\n{}",
        table(&heads, &rows)
    );
    out
}

/// The same as JSON; null without a purpose and in the public edition.
pub(super) fn object(report: &ReportNumbers) -> Value {
    let Some(purpose) = &report.purpose else { return Value::Null };
    let weights = purpose.weights.iter().map(|one| (one.name.clone(), json!(one)));
    json!({
        "weights": weights.collect::<serde_json::Map<_, _>>(),
        "scores": purpose.scores,
        "tested_on": "the source rows of the release",
    })
}
