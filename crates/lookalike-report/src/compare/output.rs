//! The results as CSV and as JSON.

use lookalike::problem::bound::{Bound, BoundKind};
use lookalike::{Hint, Status};
use serde_json::{Value, json};

use super::measure::{ComparedRun, ReleaseNumbers, RunResult};
use super::{Comparison, purpose};

const COLUMNS: &str = "rules,k,algorithm,status,ncp,gcp,bound,bound_kind,bound_low,bound_high,gap,c_dm,c_avg,classes,smallest,released,\
                       left_out,median_count_error,accuracy,auc,search_seconds,peak_bytes,why";

/// How hints are written.
type HintWords<'a> = &'a dyn Fn(&Hint) -> String;

/// A line for each run; unknown numbers are empty.
pub(super) fn csv(runs: &[ComparedRun], words: HintWords<'_>) -> String {
    let text = |run: &ComparedRun| {
        line(run, words).iter().map(|cell| quoted(cell)).collect::<Vec<_>>().join(",") + "\n"
    };
    format!("{COLUMNS}\n{}", runs.iter().map(text).collect::<String>())
}

fn line(run: &ComparedRun, words: HintWords<'_>) -> Vec<String> {
    let mut cells = vec![
        run.rules.clone(),
        run.k.map_or(String::new(), |k| k.to_string()),
        run.algorithm.to_string(),
        status(run).to_string(),
    ];
    let known = |number: Option<f64>| number.map_or(String::new(), |number| number.to_string());
    match &run.result {
        RunResult::NotMet(why) => {
            cells.extend(std::iter::repeat_n(String::new(), 18));
            cells.push(why.message(words));
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
            let [accuracy, auc] = numbers.mean_scores().map_or([None, None], |both| both.map(Some));
            cells.extend([known(numbers.error), known(accuracy), known(auc)]);
            cells.push(numbers.seconds.to_string());
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
pub(super) fn json(found: &Comparison, words: HintWords<'_>) -> Value {
    let runs: Vec<Value> = found.runs.iter().map(|run| object(run, words)).collect();
    json!({ "version": 1, "rows": found.rows, "queries": found.queries, "runs": runs })
}

fn object(run: &ComparedRun, words: HintWords<'_>) -> Value {
    let mut object = json!({ "rules": run.rules, "k": run.k, "algorithm": run.algorithm.name(), "status": status(run) });
    match &run.result {
        RunResult::NotMet(why) => object["why"] = json!(why.message(words)),
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
                "purpose": purpose::object(&numbers.purpose),
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
    use std::sync::Arc;

    use lookalike::evaluate::loss::Loss;
    use lookalike::problem::bound::BoundScope;
    use lookalike::{Algorithm, Error};

    use super::*;

    fn json(runs: &[ComparedRun], rows: u64, queries: u64) -> Value {
        super::json(&Comparison { runs: runs.to_vec(), rows, queries }, &Hint::words)
    }

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
    fn files_have_every_number_with_and_without_bound() {
        let runs = [
            run(
                bound(BoundKind::Estimate { sample: 900, low: 8_400.0, high: 8_600.0 }),
                Status::Optimal,
            ),
            not_met(Algorithm::Cluster),
        ];
        let text = csv(&runs, &Hint::words);
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
