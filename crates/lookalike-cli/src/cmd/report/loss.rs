//! The section of the page about the loss and its lower bound.

use lookalike::problem::bound::BoundKind;
use lookalike_lab::plot::escape;

use super::numbers::{LossNumbers, ReportNumbers};
use crate::show::{penalty, percent};

/// The section; empty when nothing is known about the cells.
pub(super) fn loss(report: &ReportNumbers) -> String {
    let Some(loss) = &report.loss else {
        // Penalties depend on the range of a column, and distributions on hidden values.
        return report.changed.map_or(String::new(), |changed| {
            format!(
                "<h2>Loss</h2>\n<p>{} of the cells of {} are a range or a group instead of one value. \
                 The comparison with the source, column by column, is only in the internal \
                 edition.</p>\n",
                percent(changed),
                escape(&report.quasi.join(", "))
            )
        });
    };
    let costliest = loss
        .costliest
        .as_ref()
        .map_or(String::new(), |name| format!(" Column {} loses most.", escape(name)));
    let uncounted: String = loss
        .uncounted
        .iter()
        .map(|(name, changed)| {
            format!(
                "<p>Column {} has weight 0 and is not counted in the loss: {} of its cells are a range \
                 or a group.</p>\n",
                escape(name),
                percent(*changed)
            )
        })
        .collect();
    format!(
        "<h2>Loss</h2>\n<p>On average a released cell covers {} of the range of its column (GCP: 0 % \
         is the source itself, 100 % is no information); the sum over rows and columns is NCP {}. \
         Both were computed from the released cells.{costliest}</p>\n\
         {uncounted}<p>{}</p>\n",
        percent(loss.gcp),
        penalty(loss.ncp),
        escape(&bound(loss))
    )
}

/// The bound and the gap in words.
fn bound(loss: &LossNumbers) -> String {
    let Some(bound) = &loss.bound else {
        return "The lower bound on the loss was not computed.".to_string();
    };
    let value = penalty(bound.value);
    let Some(gap) = bound.gap else {
        return match bound.kind {
            BoundKind::Exact if loss.uncounted.is_empty() => {
                "The lower bound on the loss is 0: no loss is necessary.".to_string()
            }
            BoundKind::Exact => "The lower bound on the loss is 0: no loss is necessary on the \
                                 columns with a weight above 0."
                .to_string(),
            _ => "The lower bound on the loss was not found in the time limit.".to_string(),
        };
    };
    let (what, value) = match bound.kind {
        BoundKind::Exact | BoundKind::Tight => ("Lower bound".to_string(), value),
        BoundKind::Weaker { .. } => ("Lower bound (not the sharpest possible)".to_string(), value),
        BoundKind::Estimate { low, high, .. } => {
            let range = format!("{} to {}", penalty(low), penalty(high));
            (format!("Lower bound, estimated from a sample ({range})"), format!("about {value}"))
        }
    };
    let known = format!(
        "{what}: no release of this table with this k that publishes ranges loses less than NCP \
         {value}"
    );
    let near = match gap {
        ..1.0 => {
            "this release loses less, which sets of values and some global recodings can".into()
        }
        _ => format!(
            "the loss of this release is {gap:.2} × the lower bound; how much of this gap can be \
             closed is not known"
        ),
    };
    format!("{known}; {near}.")
}
