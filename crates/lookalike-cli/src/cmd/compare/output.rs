//! The results as a table, as CSV and as JSON.

use lookalike::Status;
use serde_json::{Value, json};

use super::measure::{ComparedRun, ReleaseNumbers, RunResult};
use crate::bounds;
use crate::show::{self, count, percent};
use lookalike::problem::bound::{Bound, BoundKind};

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
        ">search",
        ">memory",
        "note",
    ];
    let shown: Vec<bool> = heads
        .iter()
        .map(|&head| match head {
            "rules" => columns.rules,
            ">error" => columns.query_error,
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
            let empty = std::iter::repeat_n(none, 10);
            let first = [run.rules.clone(), k, "all".to_string()];
            return first.into_iter().chain(empty).chain([format!("not met: {why}")]).collect();
        }
    };
    let sign = numbers.bound.map_or("", |bound| bounds::sign(&bound));
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
        show::seconds(numbers.seconds),
        numbers.peak.map_or(none, |bytes| format!("{} MB", count(bytes.div_ceil(1_000_000)))),
        note(run, numbers),
    ]
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

const COLUMNS: &str = "rules,k,algorithm,status,ncp,gcp,bound,bound_kind,bound_low,bound_high,gap,c_dm,c_avg,classes,smallest,released,\
                       left_out,median_count_error,search_seconds,peak_bytes,why";

/// A line for each run; unknown numbers are empty.
pub(super) fn csv(runs: &[ComparedRun]) -> String {
    let lines = runs
        .iter()
        .map(|run| line(run).iter().map(|cell| quoted(cell)).collect::<Vec<_>>().join(",") + "\n");
    format!("{COLUMNS}\n{}", lines.collect::<String>())
}

fn line(run: &ComparedRun) -> Vec<String> {
    let mut cells = vec![
        run.rules.clone(),
        run.k.map_or(String::new(), |k| k.to_string()),
        run.algorithm.to_string(),
        status(run).to_string(),
    ];
    let known = |number: Option<f64>| number.map_or(String::new(), |number| number.to_string());
    match &run.result {
        RunResult::NotMet(why) => {
            cells.extend(std::iter::repeat_n(String::new(), 16));
            cells.push(why.clone());
        }
        RunResult::Met(numbers) => {
            let ReleaseNumbers { loss, bound, .. } = &**numbers;
            let (low, high) = ends(*bound);
            cells.extend([
                loss.ncp.to_string(),
                loss.gcp.to_string(),
                known(bound.map(|bound| bound.value)),
            ]);
            cells.extend([
                bound.map_or("", |bound| bound.kind.name()).to_string(),
                known(low),
                known(high),
                known(numbers.gap()),
            ]);
            cells.extend([
                loss.c_dm.to_string(),
                loss.c_avg.to_string(),
                numbers.classes.to_string(),
            ]);
            cells.extend(
                [numbers.smallest, numbers.released, numbers.suppressed]
                    .map(|number| number.to_string()),
            );
            cells.extend([known(numbers.error), numbers.seconds.to_string()]);
            cells.extend([
                numbers.peak.map_or(String::new(), |bytes| bytes.to_string()),
                numbers.broken.clone(),
            ]);
        }
    }
    cells
}

/// The likely range of an estimated bound.
fn ends(bound: Option<Bound>) -> (Option<f64>, Option<f64>) {
    match bound.map(|bound| bound.kind) {
        Some(BoundKind::Estimate { low, high, .. }) => (Some(low), Some(high)),
        _ => (None, None),
    }
}

fn quoted(cell: &str) -> String {
    if cell.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_string()
    }
}

fn status(run: &ComparedRun) -> &'static str {
    match run.numbers().map(|numbers| numbers.status) {
        None => "not met",
        Some(Status::Stopped) => "stopped",
        Some(Status::Optimal) => "optimal",
        Some(_) => "heuristic",
    }
}

/// The results as JSON, without the seed: who has it can repeat the random choices.
pub(super) fn json(runs: &[ComparedRun], rows: u64, queries: u64) -> Value {
    json!({ "version": 1, "rows": rows, "queries": queries, "runs": runs.iter().map(object).collect::<Vec<_>>() })
}

fn object(run: &ComparedRun) -> Value {
    let mut object = json!({ "rules": run.rules, "k": run.k, "algorithm": run.algorithm.name(), "status": status(run) });
    match &run.result {
        RunResult::NotMet(why) => object["why"] = json!(why),
        RunResult::Met(numbers) => {
            let ReleaseNumbers { loss, bound, .. } = &**numbers;
            let (low, high) = ends(*bound);
            let more = json!({
                "ncp": loss.ncp,
                "gcp": loss.gcp,
                "bound": bound.map(|bound| json!({ "value": bound.value, "kind": bound.kind.name(), "low": low, "high": high })),
                "gap": numbers.gap(),
                "c_dm": loss.c_dm,
                "c_avg": loss.c_avg,
                "classes": numbers.classes,
                "smallest": numbers.smallest,
                "released": numbers.released,
                "left_out": numbers.suppressed,
                "non_homogeneous": !run.algorithm.is_homogeneous(),
                "holds": numbers.broken.is_empty(),
                "median_count_error": numbers.error,
                "search_seconds": numbers.seconds,
                "peak_bytes": numbers.peak,
            });
            let pairs = more.as_object().expect("made above").clone();
            object.as_object_mut().expect("made above").extend(pairs);
        }
    }
    object
}

#[cfg(test)]
mod tests {
    use lookalike::problem::bound::BoundScope;

    use super::*;
    use lookalike::Algorithm;
    use lookalike::evaluate::loss::Loss;

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
            result: RunResult::NotMet("too few, by far".into()),
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
        assert_eq!(csv(&runs).lines().count(), 4);
        assert_eq!(json(&runs, 1, 0)["runs"].as_array().unwrap().len(), 3);
    }

    #[test]
    fn files_have_every_number_with_and_without_bound() {
        let runs = [
            run(
                bound(BoundKind::Estimate { sample: 900, low: 8_400.0, high: 8_600.0 }),
                Status::Optimal,
            ),
            not_met(Algorithm::Cluster),
        ];
        let text = csv(&runs);
        let lines: Vec<&str> = text.lines().collect();
        let width = lines[0].split(',').count();
        assert!(
            lines[1].starts_with(
                "\"a, \"\"b\"\"\",5,mondrian,optimal,10381.4,0.05,8509.3,estimate,8400,8600,1.22"
            ),
            "{text}"
        );
        assert_eq!(lines[1].split(',').count(), width + 1, "one comma is quoted");
        assert_eq!(
            lines[2],
            format!("a,9000,cluster,not met{}\"too few, by far\"", ",".repeat(width - 4))
        );
        let found = json(&runs, 1_000, 7);
        assert_eq!(
            (&found["version"], &found["rows"], &found["queries"]),
            (&1.into(), &1_000.into(), &7.into())
        );
        let met = &found["runs"][0];
        assert_eq!(
            (&met["bound"]["kind"], &met["bound"]["low"]),
            (&"estimate".into(), &8_400.0.into())
        );
        assert!((met["gap"].as_f64().unwrap() - 10_381.4 / 8_509.3).abs() < 1e-12);
        assert_eq!(
            (&found["runs"][1]["status"], &found["runs"][1]["why"]),
            (&"not met".into(), &"too few, by far".into())
        );
        let without = json(&[run(None, Status::Heuristic)], 1, 0);
        assert!(without["runs"][0]["bound"].is_null() && without["runs"][0]["gap"].is_null());
    }
}
