//! The plots: loss by k, gap by k, time by loss; three for each set of rules.

use lookalike::Algorithm;

use super::RuleSet;
use super::measure::{ComparedRun, ReleaseNumbers};
use crate::plot::{Axis, AxisScale, Plot, PlotPoint, Series, svg};
use crate::words::bound_sign;

const NAMES: [&str; 3] = ["loss-by-k.svg", "gap-by-k.svg", "time-by-loss.svg"];

/// The names of all plots that there may be.
pub(super) fn names(sets: &[RuleSet]) -> Vec<String> {
    (0..sets.len()).flat_map(|at| NAMES.map(|name| file(sets, at, name))).collect()
}

/// With several sets of rules the name of the set goes first, without characters that a file name
/// cannot have.
fn file(sets: &[RuleSet], at: usize, name: &str) -> String {
    if sets.len() == 1 {
        return name.to_string();
    }
    let plain = |text: &str| -> String {
        text.chars()
            .map(|c| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' })
            .collect()
    };
    let own = plain(&sets[at].name);
    let is_taken = sets.iter().filter(|set| plain(&set.name) == own).count() > 1;
    let number = if is_taken { format!("{}-", at + 1) } else { String::new() };
    format!("{number}{own}-{name}")
}

/// Names and contents of the plots that have points.
pub(super) fn draw(
    sets: &[RuleSet],
    algorithms: &[Algorithm],
    runs: &[ComparedRun],
) -> Vec<(String, String)> {
    let mut drawn = Vec::new();
    for (at, set) in sets.iter().enumerate() {
        let under = if sets.len() > 1 { format!(" under {}", set.name) } else { String::new() };
        let of_set: Vec<(&ComparedRun, &ReleaseNumbers)> = runs
            .iter()
            .filter(|run| run.rules == set.name)
            .filter_map(|run| Some((run, run.numbers()?)))
            .collect();
        let series =
            |is_joined: bool,
             point: &dyn Fn(&ComparedRun, &ReleaseNumbers) -> Option<PlotPoint>| {
                let of = |&algorithm: &Algorithm| Series {
                    name: algorithm.to_string(),
                    is_joined,
                    points: of_set
                        .iter()
                        .filter(|(run, _)| run.algorithm == algorithm)
                        .filter_map(|(run, found)| point(run, found))
                        .collect(),
                };
                algorithms.iter().map(of).collect::<Vec<_>>()
            };
        let k = |run: &ComparedRun| real(run.k.unwrap_or(1));
        let ticks: Vec<f64> = set.ks.iter().map(|k| real(k.unwrap_or(1))).collect();
        let by_k = || Axis { label: "k".to_string(), scale: AxisScale::Log, ticks: ticks.clone() };
        let axis = |label: &str, scale: AxisScale| Axis {
            label: label.to_string(),
            scale,
            ticks: Vec::new(),
        };
        let plots = [
            Plot {
                title: format!("Loss by k{under}"),
                x_axis: by_k(),
                y_axis: axis("loss (NCP)", AxisScale::FromZero),
                series: series(true, &|run, found| {
                    Some(PlotPoint { x: k(run), y: found.loss.ncp, label: String::new() })
                })
                .into_iter()
                .chain([bounds(&of_set)])
                .collect(),
            },
            Plot {
                title: format!("Gap by k{under}"),
                x_axis: by_k(),
                y_axis: axis(gap_label(&of_set), gap_scale(&of_set)),
                series: series(true, &|run, found| {
                    Some(PlotPoint { x: k(run), y: found.gap()?, label: String::new() })
                }),
            },
            Plot {
                title: format!("Search time by loss{under}"),
                x_axis: axis("loss (NCP)", AxisScale::FromZero),
                y_axis: axis("search time in seconds", AxisScale::Log),
                series: series(false, &|run, found| {
                    let label = run.k.map_or(String::new(), |k| format!("k={k}"));
                    Some(PlotPoint { x: found.loss.ncp, y: found.seconds, label })
                }),
            },
        ];
        for (name, plot) in NAMES.into_iter().zip(&plots) {
            if plot.series.iter().any(|series| !series.points.is_empty()) {
                drawn.push((file(sets, at, name), svg(plot)));
            }
        }
    }
    drawn
}

/// The lower bound for each k: the least of the bounds of the algorithms there.
fn bounds(found: &[(&ComparedRun, &ReleaseNumbers)]) -> Series {
    let mut points: Vec<PlotPoint> = Vec::new();
    for (run, numbers) in found {
        let (x, Some(bound)) = (real(run.k.unwrap_or(1)), numbers.bound) else { continue };
        match points.last_mut() {
            Some(last) if last.x >= x => last.y = last.y.min(bound.value),
            _ => points.push(PlotPoint { x, y: bound.value, label: String::new() }),
        }
    }
    let is_estimated = found.iter().any(|(_, found)| is_estimate(found));
    Series {
        name: if is_estimated { "bound (estimated)" } else { "bound" }.to_string(),
        is_joined: true,
        points,
    }
}

fn is_estimate(found: &ReleaseNumbers) -> bool {
    found.bound.is_some_and(|bound| !bound_sign(&bound).is_empty())
}

/// Logarithmic where the largest gap would press the others together.
fn gap_scale(found: &[(&ComparedRun, &ReleaseNumbers)]) -> AxisScale {
    let gaps = || found.iter().filter_map(|(_, found)| found.gap());
    let (least, greatest) = (gaps().fold(f64::INFINITY, f64::min), gaps().fold(0.0, f64::max));
    if greatest > 5.0 * least { AxisScale::Log } else { AxisScale::Linear }
}

/// The label of the gap axis.
fn gap_label(found: &[(&ComparedRun, &ReleaseNumbers)]) -> &'static str {
    let is_estimated = found.iter().any(|(_, found)| is_estimate(found));
    if is_estimated { "loss / bound (estimated)" } else { "loss / bound" }
}

#[allow(clippy::cast_precision_loss, reason = "for a picture")]
fn real(number: u64) -> f64 {
    number as f64
}
