//! The numbers of the page for machines; docs/report.md says what they are.

use lookalike::problem::bound::BoundKind;
use serde_json::{Value, json};

use super::numbers::{Count, Guard, Told};

/// The whole report.
pub(super) fn object(told: &Told) -> Value {
    let (edition, least) = match told.guard {
        Guard::None => ("internal", None),
        Guard::Below(least) => ("public", Some(least)),
    };
    json!({
        "schema": "lookalike-report",
        "version": 1,
        "edition": edition,
        "least_count": least,
        "source": told.files.0,
        "release": told.files.1,
        "holds": told.holds,
        "verdict": told.verdict,
        "k": told.k,
        "quasi_identifiers": told.quasi,
        "rules": told.rules,
        "leaks": told.leaks,
        "truth": told.truth.iter().map(|(finding, text)| json!({ "finding": finding, "text": text })).collect::<Vec<_>>(),
        "rows": { "source": told.source_rows.map(count), "released": told.released, "suppressed": count(told.suppressed) },
        "classes": { "before": told.classes.0.map(count), "after": told.classes.1 },
        "columns": told.columns.iter().map(|column| json!({
            "name": column.name,
            "role": column.role,
            "how": column.how,
            "changed": column.changed,
            "ncp": column.ncp,
        })).collect::<Vec<_>>(),
        "class_sizes": told.bands.iter().map(|band| json!({
            "from": band.from,
            "to": band.to,
            "rows_before": count(band.before),
            "rows_after": band.after,
        })).collect::<Vec<_>>(),
        "risk": told.risk.iter().map(|line| (line.key.to_string(), json!({
            "before": line.before,
            "rows_before": line.before_rows.map(count),
            "after": line.after,
            "rows_after": line.after_rows,
        }))).collect::<serde_json::Map<_, _>>(),
        "cells_changed": told.changed,
        "loss": told.loss.as_ref().map(|loss| json!({
            "ncp": loss.ncp,
            "gcp": loss.gcp,
            "costliest": loss.costliest,
            "uncounted": loss.uncounted.iter().map(|(name, changed)| json!({ "column": name, "changed": changed })).collect::<Vec<_>>(),
            "bound": loss.bound.as_ref().map(|bound| {
                let mut object = json!({ "value": bound.value, "kind": bound.kind.name(), "gap": bound.gap });
                if let BoundKind::Estimate { sample, low, high } = bound.kind {
                    object["sample"] = json!(sample);
                    object["low"] = json!(low);
                    object["high"] = json!(high);
                }
                object
            }),
        })),
        "distributions": told.spreads.iter().map(|spread| json!({
            "column": spread.name,
            "total_variation": spread.distance,
            "bins": spread.bins.iter().map(|(label, before, after)| json!({
                "label": label, "before": count(*before), "after": after,
            })).collect::<Vec<_>>(),
        })).collect::<Vec<_>>(),
        "queries": told.errors,
        "limits": told.caveats.iter().map(|caveat| json!({
            "key": caveat.key, "title": caveat.title, "text": caveat.text, "matters": caveat.matters,
        })).collect::<Vec<_>>(),
    })
}

/// A number, or a text such as `<10`.
fn count(count: Count) -> Value {
    match count {
        Count::Exact(number) | Count::About(number) => json!(number),
        Count::Below(least) => json!(format!("<{least}")),
    }
}
