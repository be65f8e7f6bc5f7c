//! The results as a table for the terminal.

use lookalike::Status;
use lookalike::problem::bound::Bound;
use lookalike_report::compare::{ComparedRun, PurposeResult, ReleaseNumbers, RunResult};
use lookalike_report::words::bound_sign;

use crate::hints;
use crate::show::{self, count, percent};

const NONE: &str = "-";

/// The columns that a table does not always have.
#[derive(Clone, Copy, Debug)]
pub(super) struct TableColumns {
    /// The name of the set of rules: only needed for several sets.
    pub(super) rules: bool,
    /// The median error of queries: only known when there are queries.
    pub(super) query_error: bool,
}

/// The table for the terminal. A request that no algorithm can meet is one line.
pub(super) fn table(runs: &[ComparedRun], columns: TableColumns) -> String {
    let heads = [
        "rules",
        ">k",
        "algorithm",
        ">NCP",
        ">GCP",
        ">bound",
        ">gap",
        ">C_DM",
        ">classes",
        ">suppressed",
        ">error",
        ">accuracy",
        ">AUC",
        ">search",
        ">memory",
        "note",
    ];
    let shown: Vec<bool> = heads
        .iter()
        .map(|&head| match head {
            "rules" => columns.rules,
            ">error" => columns.query_error,
            ">accuracy" | ">AUC" => runs.iter().any(|run| scores_of(run).is_some()),
            _ => true,
        })
        .collect();
    let kept = |cells: Vec<String>| {
        cells.into_iter().zip(&shown).filter(|(_, shown)| **shown).map(|(cell, _)| cell).collect()
    };
    let mut rows: Vec<Vec<String>> = Vec::new();
    for (at, run) in runs.iter().enumerate() {
        let is_repeated = at > 0
            && run.numbers().is_none()
            && (&runs[at - 1].rules, runs[at - 1].k) == (&run.rules, run.k);
        if !is_repeated {
            rows.push(kept(cells(run)));
        }
    }
    let heads: Vec<&str> =
        heads.into_iter().zip(&shown).filter(|(_, shown)| **shown).map(|(head, _)| head).collect();
    show::table(&heads, &rows)
}

fn cells(run: &ComparedRun) -> Vec<String> {
    let none = NONE.to_string();
    let k = run.k.map_or(none.clone(), count);
    let numbers = match &run.result {
        RunResult::Met(numbers) => numbers,
        RunResult::NotMet(why) => {
            let empty = std::iter::repeat_n(none, 12);
            let first = [run.rules.clone(), k, "all".to_string()];
            return first
                .into_iter()
                .chain(empty)
                .chain([format!("not met: {}", hints::error(why))])
                .collect();
        }
    };
    let sign = numbers.bound.map_or("", |bound| bound_sign(&bound));
    vec![
        run.rules.clone(),
        k,
        run.algorithm.to_string(),
        show::penalty(numbers.loss.ncp),
        percent(numbers.loss.gcp),
        numbers.bound.map_or(none.clone(), |bound| format!("{sign}{}", show::penalty(bound.value))),
        numbers.gap().map_or(none.clone(), |gap| format!("{sign}{gap:.2}")),
        count(numbers.loss.c_dm),
        count(numbers.classes),
        count(numbers.suppressed),
        numbers.error.map_or(none.clone(), percent),
        scores_of(run).map_or(none.clone(), |[accuracy, _]| accuracy),
        scores_of(run).map_or(none.clone(), |[_, auc]| auc),
        show::seconds(numbers.seconds),
        numbers.peak.map_or(none, |bytes| format!("{} MB", count(bytes.div_ceil(1_000_000)))),
        note(run, numbers),
    ]
}

/// Accuracy and AUC of a model of the purpose, with their deviations where there is one purpose.
fn scores_of(run: &ComparedRun) -> Option<[String; 2]> {
    let numbers = run.numbers()?;
    match &numbers.purpose[..] {
        [one] => Some(one.release.map(|spread| spread.words())),
        _ => Some(numbers.mean_scores()?.map(|mean| format!("{mean:.4}"))),
    }
}

/// Below the table: what the same model reaches that was trained on the source; empty without a
/// purpose.
pub(super) fn purpose_lines(runs: &[ComparedRun]) -> String {
    let Some(first) =
        runs.iter().filter_map(ComparedRun::numbers).find(|found| !found.purpose.is_empty())
    else {
        return String::new();
    };
    let line = |result: &PurposeResult| {
        let [accuracy, auc] = result.source.map(|spread| spread.words());
        format!(
            "purpose {}: trained on the source itself, accuracy {accuracy}, AUC {auc};\n  \
             always the commonest value, accuracy {}\n",
            show::clean(&result.column),
            result.commonest.words()
        )
    };
    let lines: String = first.purpose.iter().map(line).collect();
    format!(
        "\n{lines}accuracy and AUC: a logistic regression trained on a release of four fifths of the \
         rows\n  and tested on the others; mean and standard deviation of {} splits\n",
        first.purpose[0].splits
    )
}

/// Remarks that the numbers do not show.
fn note(run: &ComparedRun, numbers: &ReleaseNumbers) -> String {
    let is_gap = |bound: &Bound| numbers.scope.is_gap(bound, numbers.loss.ncp);
    let is_of_k_alone = numbers.bound.is_some_and(|bound| !is_gap(&bound));
    let notes = [
        (!numbers.broken.is_empty(), "VIOLATES THE RULES"),
        (is_of_k_alone, "bound for k alone"),
        (numbers.status == Status::Stopped, "stopped"),
        (numbers.status == Status::Optimal, "optimal"),
        (!run.algorithm.is_homogeneous(), "non-homogeneous"),
    ];
    notes
        .into_iter()
        .filter(|(is_so, _)| *is_so)
        .map(|(_, note)| note)
        .collect::<Vec<_>>()
        .join(", ")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use lookalike::evaluate::loss::Loss;
    use lookalike::problem::bound::{BoundKind, BoundScope};
    use lookalike::{Algorithm, Error};

    use super::*;

    fn run(bound: Option<Bound>, status: Status) -> ComparedRun {
        let loss = Loss {
            ncp: 10_381.4,
            gcp: 0.05,
            by_attribute: vec![],
            c_dm: 1_234,
            c_avg: 1.5,
            hdm: 0.1,
            distortion: 0.1,
        };
        let numbers = ReleaseNumbers {
            status,
            loss,
            bound,
            scope: BoundScope::AllRules,
            classes: 40,
            smallest: 5,
            released: 990,
            suppressed: 10,
            error: Some(0.125),
            seconds: 0.25,
            peak: Some(12_000_001),
            purpose: Vec::new(),
            broken: String::new(),
        };
        ComparedRun {
            rules: "a, \"b\"".into(),
            k: Some(5),
            algorithm: Algorithm::Mondrian,
            result: RunResult::Met(Box::new(numbers)),
        }
    }

    fn not_met(algorithm: Algorithm) -> ComparedRun {
        ComparedRun {
            rules: "a".into(),
            k: Some(9_000),
            algorithm,
            result: RunResult::NotMet(Arc::new(Error::infeasible(
                "too-few-rows",
                "too few, by far",
            ))),
        }
    }

    fn bound(kind: BoundKind) -> Option<Bound> {
        Some(Bound { value: 8_509.3, kind })
    }

    #[test]
    fn estimates_are_shown_as_such_and_what_is_unknown_as_a_dash() {
        let estimate = bound(BoundKind::Estimate { sample: 900, low: 8_400.0, high: 8_600.0 });
        let runs = [estimate, bound(BoundKind::Exact), bound(BoundKind::Weaker { rows: 7 }), None]
            .map(|bound| run(bound, Status::Heuristic));
        let text = table(&runs, TableColumns { rules: false, query_error: true });
        let lines: Vec<Vec<&str>> =
            text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(
            lines[1][..7],
            ["5", "mondrian", "10,381", "5.0", "%", "~8,509", "~1.22"],
            "{text}"
        );
        assert!(lines[2..4].iter().all(|line| line[5..7] == ["8,509", "1.22"]), "{text}");
        assert_eq!(
            lines[4][5..],
            ["-", "-", "1,234", "40", "10", "12.5", "%", "0.25", "s", "13", "MB"],
            "{text}"
        );
    }

    #[test]
    fn what_nobody_can_meet_is_one_line() {
        let runs =
            [run(None, Status::Stopped), not_met(Algorithm::Mondrian), not_met(Algorithm::Cluster)];
        let text = table(&runs, TableColumns { rules: true, query_error: false });
        assert_eq!(text.lines().count(), 3, "{text}");
        assert!(
            text.starts_with("rules")
                && !text.contains("error")
                && text.contains("13 MB  stopped\n"),
            "{text}"
        );
        assert!(
            text.contains("9,000  all") && text.ends_with("not met: too few, by far\n"),
            "{text}"
        );
    }
}
