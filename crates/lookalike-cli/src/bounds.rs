//! The lower bound on the loss, in words.

use lookalike::problem::bound::{Bound, BoundKind, BoundScope};
use lookalike_report::words::bound_sign;

use crate::show::{count, penalty};

/// The bound in words, and the gap of a loss; `is_all` when every column counts in the loss.
pub(crate) fn words(bound: &Bound, loss: f64, is_all: bool, scope: BoundScope) -> String {
    let Bound { value, kind } = *bound;
    if !scope.is_gap(bound, loss) && (value > 0.0 || kind == BoundKind::Exact) {
        let sign = bound_sign(bound);
        return format!(
            "NCP {sign}{} for k alone: no release loses less; further rules may need more, so the \
             loss is no gap",
            penalty(value)
        );
    }
    let Some(gap) = bound.gap(loss) else {
        return match kind {
            BoundKind::Exact if is_all => "0: no loss is necessary".to_string(),
            BoundKind::Exact => {
                "0: no loss is necessary on the columns with a weight above 0".to_string()
            }
            _ => "not found in the time limit (--bound full takes longer)".to_string(),
        };
    };
    let gap = format!("loss is {gap:.2} × the lower bound");
    match kind {
        BoundKind::Exact | BoundKind::Tight => {
            format!("NCP {}: no release loses less; {gap}", penalty(value))
        }
        BoundKind::Weaker { rows } => {
            format!(
                "NCP {} (weaker for {} rows): no release loses less; {gap}",
                penalty(value),
                count(rows)
            )
        }
        BoundKind::Estimate { sample, low, high } => format!(
            "NCP about {} ({} to {}, estimated from {} rows); {gap}",
            penalty(value),
            penalty(low),
            penalty(high),
            count(sample)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_is_written_with_its_kind_and_gap() {
        let text = |value, kind| words(&Bound { value, kind }, 300.0, true, BoundScope::AllRules);
        let further = |value, kind| words(&Bound { value, kind }, 300.0, true, BoundScope::KAlone);
        for value in [0.0, 150.0] {
            assert_eq!(
                further(value, BoundKind::Exact),
                format!(
                    "NCP {value} for k alone: no release loses less; further rules may need more, \
                     so the loss is no gap"
                )
            );
        }
        assert!(further(0.0, BoundKind::Weaker { rows: 9 }).contains("--bound full"));
        // A loss that has reached the bound is the least, whatever the rules are.
        assert_eq!(further(300.0, BoundKind::Exact), text(300.0, BoundKind::Exact));
        assert_eq!(
            text(150.0, BoundKind::Exact),
            "NCP 150: no release loses less; loss is 2.00 × the lower bound"
        );
        assert_eq!(
            text(250.0, BoundKind::Tight),
            "NCP 250: no release loses less; loss is 1.20 × the lower bound"
        );
        assert!(text(150.0, BoundKind::Weaker { rows: 1200 }).contains("weaker for 1,200 rows"));
        let sampled = BoundKind::Estimate { sample: 50, low: 140.0, high: 160.0 };
        assert!(
            text(150.0, sampled)
                .starts_with("NCP about 150 (140 to 160, estimated from 50 rows); loss is")
        );
        assert!(text(0.0, BoundKind::Exact).starts_with("0:"));
        assert!(text(0.0, BoundKind::Weaker { rows: 9 }).contains("--bound full"));
    }
}
