//! The claims of Li and Li, and the checks behind them.

use super::{DIRECTIONS, Li2008Runs, PAPER, SCHEMES};
use crate::claims::{
    ABOUT, COMPARABLE, Claim, ClaimCheck, Remarks, Trend, all, at_most, claim, moves, named, pairs,
    round,
};
use crate::data::FETCH;
use crate::figure::RunSeries;
use crate::store::RunNumbers;

/// The first scheme of a pair loses at most as much as the second.
const ORDERS: [(&str, &str); 6] = [
    ("GHS", "BHS"),
    ("GOPS", "GHS"),
    ("OPS", "GOPS"),
    ("SPS", "OPS"),
    ("GSPS", "GOPS"),
    ("SPS", "GSPS"),
];
/// Why a point of a search that was given up is a lower bound on its time.
const STOPPED: &str =
    "A search that did not end in its time stands at that time: it would take longer.";

/// The order of least costs, where both are proven to be the least.
fn order(series: &[RunSeries]) -> ClaimCheck {
    let proven =
        |name: &str| with(named(series, name), |numbers| numbers.get("proven") == Some(&1.0));
    let order =
        all(ORDERS.map(|(finer, coarser)| at_most(&proven(finer), &proven(coarser), "value")));
    let count: usize = SCHEMES.iter().map(|name| proven(name).runs.len()).sum();
    let all: usize = series.iter().map(|series| series.runs.len()).sum();
    ClaimCheck { measured: format!("{}; {count} of {all} optima proven", order.measured), ..order }
}

/// Bottom-up is faster at the first place, top-down at the last, of those where at least one of
/// the two ended.
fn crossover(series: &[RunSeries]) -> ClaimCheck {
    all(["OPS", "SPS"].map(|scheme| {
        let [up, down] = DIRECTIONS.map(|(name, _)| named(series, &format!("{scheme}, {name}")));
        let ended = pairs(up, down, "proven")
            .into_iter()
            .filter(|(_, up, down)| up + down > 0.5)
            .map(|pair| pair.0);
        let ended: Vec<f64> = ended.collect();
        let at = |what: &str, x: f64| {
            pairs(up, down, what).into_iter().find(|pair| (pair.0 - x).abs() < 1e-9)
        };
        let text = |x: f64| {
            let of = |what: &str| {
                at(what, x).map_or(String::new(), |(_, up, down)| {
                    format!("{} against {}", round(up), round(down))
                })
            };
            format!("at {x} {} s ({} nodes)", of("seconds"), of("nodes"))
        };
        let (Some(&first), Some(&last)) = (ended.first(), ended.last()) else {
            return ClaimCheck {
                holds: false,
                measured: format!("{scheme}: neither direction ended anywhere"),
            };
        };
        let faster = |x: f64, is_up: bool| {
            at("seconds", x).is_some_and(|(_, up, down)| {
                if is_up { up * COMPARABLE < down } else { down * COMPARABLE < up }
            })
        };
        let given_up = up.runs.len() - ended.len();
        let measured = format!(
            "{scheme}, bottom-up against top-down: {}, {}{}",
            text(first),
            text(last),
            if given_up > 0 {
                format!(" (at {given_up} other places neither ended)")
            } else {
                String::new()
            }
        );
        ClaimCheck { holds: first < last && faster(first, true) && faster(last, false), measured }
    }))
}

/// The greatest saving of both techniques and of the first alone.
fn saving(runs: &Li2008Runs) -> ClaimCheck {
    let saved = |name: &str, what: &str| {
        let pairs = pairs(named(&runs.pruning, name), named(&runs.pruning, "neither"), what);
        pairs
            .iter()
            .map(|(_, with, without)| 1.0 - with / without)
            .fold(f64::NEG_INFINITY, f64::max)
    };
    let (both, first) = (saved("both", "seconds"), saved("seeding", "seconds"));
    let measured = format!(
        "both save up to {:.0} % of the time ({:.0} % of the nodes), seeding alone up to {:.0} %",
        100.0 * both,
        100.0 * saved("both", "nodes"),
        100.0 * first
    );
    ClaimCheck { holds: both >= 0.6 / ABOUT && first >= 0.4 / ABOUT, measured }
}

/// The runs for which something is so.
fn with(series: &RunSeries, is_so: impl Fn(&RunNumbers) -> bool) -> RunSeries {
    let runs = series.runs.iter().filter(|(_, numbers)| is_so(numbers)).cloned().collect();
    RunSeries { name: series.name.clone(), runs }
}

pub(super) fn claims(found: Option<&Li2008Runs>) -> Vec<Claim> {
    let of = |finding: &dyn Fn(&Li2008Runs) -> ClaimCheck| found.map(finding).ok_or(FETCH);
    let four = Remarks {
        how: "Age, marital status, race and sex; any number of rows may be suppressed. Compared where both optima are proven.",
        fails: "",
    };
    let halves = Remarks {
        how: "Nodes are divided in halves, our default, not as the paper enumerates.",
        fails: STOPPED,
    };
    let cross = Remarks {
        how: "Judged at the first and the last place where a direction ended; faster means by a factor of 1.25, for times are noisy.",
        fails: "The nodes, which do not depend on the machine, are in figures of their own: where both ended, bottom-up nowhere looks at fewer.",
    };
    // What comes after the first search that did not end says nothing.
    let rises = |series: &[RunSeries]| {
        all(series.iter().map(|series| {
            let ended = series
                .runs
                .iter()
                .take_while(|(_, numbers)| numbers.get("proven") == Some(&1.0))
                .count();
            let runs = series.runs.iter().take(ended + 1).cloned().collect();
            moves(&RunSeries { name: series.name.clone(), runs }, "seconds", Trend::Rises)
        }))
    };
    vec![
        claim(
            PAPER,
            "DM by scheme",
            "BHS >= GHS >= GOPS >= OPS >= SPS and GOPS >= GSPS >= SPS",
            of(&|found| order(&found.dm)),
            four,
        ),
        claim(
            PAPER,
            "HDM by scheme",
            "BHS >= GHS >= GOPS >= OPS >= SPS and GOPS >= GSPS >= SPS",
            of(&|found| order(&found.hdm)),
            four,
        ),
        claim(
            PAPER,
            "directions by k",
            "bottom-up faster for small k, top-down for large",
            of(&|found| crossover(&found.by_k)),
            cross,
        ),
        claim(
            PAPER,
            "directions by QI size",
            "bottom-up faster for few attributes, top-down for many",
            of(&|found| crossover(&found.by_columns)),
            cross,
        ),
        claim(
            PAPER,
            "time by QI size",
            "rises with every scheme",
            of(&|found| rises(&found.size)),
            Remarks { fails: STOPPED, ..halves },
        ),
        claim(
            PAPER,
            "time by k",
            "rises with every scheme",
            of(&|found| rises(&found.dm)),
            Remarks { fails: "Four of the six take thousandths of a second at every k.", ..halves },
        ),
        claim(
            PAPER,
            "pruning",
            "the two techniques save up to 60 % of the time, the first alone up to 40 %",
            of(&saving),
            Remarks {
                how: "OPS, HDM, four attributes, from below, nodes in order of age. Seeding and the modified BFS are taken for the two. To save more counts as holding.",
                fails: "",
            },
        ),
    ]
}
