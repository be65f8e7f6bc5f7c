//! What no release of a table can lose less than, and how long to look for it.

use lookalike::problem::bound::{Bound, BoundKind};
use serde_json::{Value, json};

use crate::show::{count, penalty};

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
}
