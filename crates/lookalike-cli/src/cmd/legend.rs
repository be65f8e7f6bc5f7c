//! What the numbers of a summary mean, a line each: for people who see them for the first time.

use lookalike::run::Report;

/// What the reader has before the eyes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// The summary of `anonymize`.
    Summary,
    /// The page of `demo`, which has no lines `bound` and `beside`.
    Demo,
}

/// The lines about the words that were printed about this run, under one head.
pub(crate) fn legend(done: &Report, shown: Shown) -> String {
    let is_summary = shown == Shown::Summary;
    let verdict = &done.verdict;
    let has_rule = |begin: &str| verdict.rules.iter().any(|rule| rule.rule.starts_with(begin));
    let unruled =
        |column: &str| !verdict.rules.iter().any(|rule| rule.sensitive.as_deref() == Some(column));
    let sensitive = &verdict.measures.sensitive;
    let has_note = sensitive.iter().any(|column| unruled(&column.column));
    let lines = [
        (true, "class", "all rows that look alike on these columns"),
        (true, "k", "rows in the smallest class: each row has k - 1 lookalikes or more"),
        (true, "loss", "0 % is the source itself, 100 % is nothing left (GCP)"),
        (true, "NCP", "the same loss as a sum: 1 for each cell of which nothing is left"),
        (is_summary && done.found.bound.is_some(), "bound", "an NCP that no release can go below"),
        (has_rule("l = "), "l", "no sensitive value has more than 1/l of the rows of a class"),
        (has_rule("alpha = "), "alpha", "the greatest share of a sensitive value in a class"),
        (
            has_rule("t = ") || (is_summary && has_note),
            "t",
            "0: a class has the values of the whole table; 1: it has others",
        ),
        (
            !sensitive.is_empty(),
            "sensitive",
            "published unchanged; only rules limit what a class tells",
        ),
        (
            is_summary && done.found.unique.is_some(),
            "beside",
            "how many rows the columns published unchanged give away",
        ),
    ];
    let mut text = "what these mean\n".to_string();
    for (_, word, meaning) in lines.iter().filter(|(is_there, ..)| *is_there) {
        text += &format!("  {word:<9} {meaning}\n");
    }
    text
}
