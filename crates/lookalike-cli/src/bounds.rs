//! What no release of a table can lose less than, and how long to look for it.

use std::time::Duration;

use lookalike::problem::bound::{Bound, BoundKind};
use lookalike::search::bound::{bound, tight};
use lookalike::{Algorithm, Budget, Problem};
use serde_json::{Value, json};

use crate::interrupt;
use crate::show::{count, penalty};

/// How long to look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Effort {
    /// Not at all.
    None,
    /// About as long as for the release.
    #[default]
    Quick,
    /// To the end.
    Full,
    /// To the end, and then for more.
    Tight,
}

impl Effort {
    /// The same, or less where that is not valid: releases that are not homogeneous may go below
    /// the sharper bound, and those of a global recoding, which may show sets of values, below any.
    pub(crate) fn with(self, algorithm: Algorithm) -> Effort {
        match self {
            _ if algorithm.is_global() => Effort::None,
            Effort::Tight if !algorithm.is_homogeneous() => Effort::Full,
            _ => self,
        }
    }

    /// What comes before a long search, so that it can show how near it is; what takes longer waits
    /// until after it.
    pub(crate) fn before(self) -> Effort {
        if self == Effort::None { Effort::None } else { Effort::Quick }
    }
}

/// The least time that is worth it.
const LEAST: Duration = Duration::from_millis(200);

/// The bound for a problem, which depends on the table and on k alone; `quick` is how long that may
/// take with little effort.
pub(crate) fn bound_of(
    problem: &Problem,
    seed: u64,
    effort: Effort,
    quick: Duration,
) -> Option<Bound> {
    let time = match effort {
        Effort::None => return None,
        Effort::Quick => Some(quick.max(LEAST)),
        Effort::Full | Effort::Tight => None,
    };
    let budget = Budget::new(time, interrupt::cancel());
    Some(if effort == Effort::Tight {
        tight(problem, seed, &budget)
    } else {
        bound(problem, seed, &budget)
    })
}

/// The one that says more: rather what is certain than an estimate, and rather the greater.
pub(crate) fn sharper(one: Option<Bound>, other: Option<Bound>) -> Option<Bound> {
    let worth = |bound: &Bound| if sign(bound).is_empty() { bound.value } else { -1.0 };
    one.into_iter().chain(other).max_by(|one, other| worth(one).total_cmp(&worth(other)))
}

/// The sign before a number that is estimated.
pub(crate) fn sign(bound: &Bound) -> &'static str {
    if matches!(bound.kind, BoundKind::Estimate { .. }) { "~" } else { "" }
}

/// The bound in words, and how near a loss is to it; `is_all` when every column counts in the loss.
pub(crate) fn words(bound: &Bound, loss: f64, is_all: bool) -> String {
    let Bound { value, kind } = *bound;
    let Some(gap) = bound.gap(loss) else {
        return match kind {
            BoundKind::Exact if is_all => "0: rows could all show what they are".to_string(),
            BoundKind::Exact => {
                "0: rows could all show what they are on the columns that are counted".to_string()
            }
            _ => "nothing was found out in the time (--bound full takes longer)".to_string(),
        };
    };
    let near = format!("this one loses {gap:.2} times that");
    match kind {
        BoundKind::Exact | BoundKind::Tight => {
            format!("NCP {}: no release loses less, {near}", penalty(value))
        }
        BoundKind::Weaker { rows } => {
            format!(
                "NCP {} (not exact for {} rows): no release loses less, {near}",
                penalty(value),
                count(rows)
            )
        }
        BoundKind::Estimate { sample, low, high } => format!(
            "NCP about {} ({} to {}, estimated from {} rows), {near}",
            penalty(value),
            penalty(low),
            penalty(high),
            count(sample)
        ),
    }
}

/// The same for machines.
pub(crate) fn report(bound: &Bound, loss: f64) -> Value {
    let mut told =
        json!({ "value": bound.value, "kind": bound.kind.name(), "gap": bound.gap(loss) });
    match bound.kind {
        BoundKind::Exact | BoundKind::Tight => {}
        BoundKind::Weaker { rows } => told["weaker_rows"] = json!(rows),
        BoundKind::Estimate { sample, low, high } => {
            told["sample"] = json!(sample);
            told["low"] = json!(low);
            told["high"] = json!(high);
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_is_told_with_what_it_is_worth() {
        let told = |value, kind| words(&Bound { value, kind }, 300.0, true);
        assert_eq!(
            told(150.0, BoundKind::Exact),
            "NCP 150: no release loses less, this one loses 2.00 times that"
        );
        assert_eq!(
            told(250.0, BoundKind::Tight),
            "NCP 250: no release loses less, this one loses 1.20 times that"
        );
        assert_eq!(report(&Bound { value: 250.0, kind: BoundKind::Tight }, 300.0)["kind"], "tight");
        assert!(told(150.0, BoundKind::Weaker { rows: 1200 }).contains("not exact for 1,200 rows"));
        let sampled = BoundKind::Estimate { sample: 50, low: 140.0, high: 160.0 };
        assert!(
            told(150.0, sampled)
                .starts_with("NCP about 150 (140 to 160, estimated from 50 rows), this one")
        );
        assert!(told(0.0, BoundKind::Exact).starts_with("0:"));
        assert!(told(0.0, BoundKind::Weaker { rows: 9 }).contains("--bound full"));
        assert_eq!(report(&Bound { value: 150.0, kind: sampled }, 300.0)["gap"], json!(2.0));
    }

    #[test]
    fn rings_are_not_held_against_what_they_may_go_below() {
        for algorithm in Algorithm::ALL.into_iter().filter(|algorithm| !algorithm.is_global()) {
            let sharpest = if algorithm == Algorithm::Ring { Effort::Full } else { Effort::Tight };
            assert_eq!(Effort::Tight.with(algorithm), sharpest);
            assert_eq!(Effort::Full.with(Algorithm::Optimal), Effort::None);
            for effort in [Effort::None, Effort::Quick, Effort::Full] {
                assert_eq!(effort.with(algorithm), effort);
            }
        }
    }
}
