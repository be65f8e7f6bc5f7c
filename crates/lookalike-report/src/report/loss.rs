//! The section of the page about the loss and its lower bound.

use crate::plot::escape;
use lookalike::evaluate::query::{Detail, certainty};
use lookalike::problem::bound::{Bound, BoundKind, BoundScope};

use super::numbers::{ReportInput, ReportNumbers};
use crate::words::ratio;
use lookalike::numbers::{penalty, percent};

/// The loss of the release.
#[derive(Debug)]
pub(super) struct LossNumbers {
    pub(super) ncp: f64,
    pub(super) gcp: f64,
    /// The same of the published rows alone; none when no row was suppressed.
    pub(super) published: Option<f64>,
    /// The column that loses most.
    pub(super) costliest: Option<String>,
    pub(super) bound: Option<BoundNumbers>,
    /// Columns of weight 0, which the loss does not count, and the share of their cells that cover
    /// more than one value.
    pub(super) uncounted: Vec<(String, f64)>,
}

#[derive(Debug)]
pub(super) struct BoundNumbers {
    pub(super) value: f64,
    pub(super) kind: BoundKind,
    pub(super) scope: BoundScope,
    pub(super) gap: Option<f64>,
}

/// The loss of the released cells, and the bound.
pub(super) fn loss_numbers(columns: &[Detail], found: &ReportInput<'_>) -> LossNumbers {
    let lost = certainty(columns, found.before.rows, found.verdict.measures.rows);
    let released = found.verdict.measures.rows;
    let published =
        (released < found.before.rows).then(|| certainty(columns, released, released).gcp);
    let costliest = columns
        .iter()
        .max_by(|a, b| (a.weight * a.ncp).total_cmp(&(b.weight * b.ncp)))
        .filter(|_| lost.ncp > 0.0);
    let bound = found.bound.as_ref().map(|bound| BoundNumbers {
        value: bound.value,
        kind: bound.kind,
        scope: BoundScope::of(found.request, None),
        gap: BoundScope::of(found.request, None).gap(Some(bound), lost.ncp),
    });
    let uncounted = columns.iter().filter(|column| column.weight <= 0.0);
    let uncounted = uncounted
        .map(|column| (column.name.clone(), ratio(column.generalized, found.verdict.measures.rows)))
        .collect();
    LossNumbers {
        ncp: lost.ncp,
        gcp: lost.gcp,
        published,
        costliest: costliest.map(|column| column.name.clone()),
        bound,
        uncounted,
    }
}

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
        .map_or(String::new(), |name| format!(" Most was lost in {}.", escape(name)));
    let published = loss.published.map_or(String::new(), |published| {
        let lost = percent(published);
        format!(" Suppressed rows count as wholly lost; the published rows alone lose {lost}.")
    });
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
         Both were computed from the released cells.{published}{costliest}</p>\n\
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
    let whole = Bound { value: bound.value, kind: bound.kind };
    let is_found = bound.value > 0.0 || bound.kind == BoundKind::Exact;
    if is_found && !bound.scope.is_gap(&whole, loss.ncp) {
        let about = if matches!(bound.kind, BoundKind::Estimate { .. }) { "about " } else { "" };
        return format!(
            "Lower bound for k alone: no release of this table with this k that publishes ranges \
             loses less than {about}NCP {value}. The other rules may need more, so the loss of this \
             release is not compared with it."
        );
    }
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
