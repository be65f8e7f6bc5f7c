//! The numbers of the page as JSON; docs/report.md describes the keys.

use lookalike::problem::bound::{Bound, BoundKind};
use serde_json::{Value, json};

use super::counts::{CountPolicy, SourceCount};
use super::numbers::ReportNumbers;
use super::{accuracy, examples, purpose, record_page};

/// The whole report.
pub(super) fn object(report: &ReportNumbers) -> Value {
    let (edition, least) = match report.policy {
        CountPolicy::Exact => ("internal", None),
        CountPolicy::Guarded(least) => ("public", Some(least)),
    };
    json!({
        "schema": "lookalike-report",
        "version": 1,
        "edition": edition,
        "least_count": least,
        "source": report.files.0,
        "release": report.files.1,
        "holds": report.holds,
        "verdict": report.verdict,
        "k": report.k,
        "unit": report.unit,
        "persons": report.persons.as_ref().map(|persons| json!({
            "reading": persons.reading,
            "meaning": persons.meaning,
            "source": persons.source.map(count),
            "released": count(persons.released),
            "suppressed": persons.suppressed.map(count),
            "checks": persons.checks.iter().map(|(finding, text)| json!({ "finding": finding, "text": text })).collect::<Vec<_>>(),
        })),
        "quasi_identifiers": report.quasi,
        "rules": report.rules,
        "leaks": report.leaks,
        "truth": report.truth.iter().map(|(finding, text)| json!({ "finding": finding, "text": text })).collect::<Vec<_>>(),
        "rows": { "source": report.source_rows.map(count), "released": report.released, "suppressed": count(report.suppressed) },
        "classes": { "before": report.classes.0.map(count), "after": report.classes.1 },
        "columns": report.columns.iter().map(|column| json!({
            "name": column.name,
            "role": column.role,
            "how": column.how,
            "changed": column.changed,
            "ncp": column.ncp,
        })).collect::<Vec<_>>(),
        "class_sizes": report.bands.iter().map(|band| json!({
            "from": band.from,
            "to": band.to,
            "rows_before": count(band.before),
            "rows_after": band.after,
        })).collect::<Vec<_>>(),
        "risk": report.risk.iter().map(|line| (line.key.to_string(), json!({
            "before": line.before,
            "rows_before": line.before_rows.map(count),
            "after": line.after,
            "rows_after": line.after_rows,
        }))).collect::<serde_json::Map<_, _>>(),
        "unique_rows": report.unique,
        "risk_measures": super::risk::object(report),
        "cells_changed": report.changed,
        "loss": report.loss.as_ref().map(|loss| json!({
            "ncp": loss.ncp,
            "gcp": loss.gcp,
            "published_gcp": loss.published,
            "costliest": loss.costliest,
            "uncounted": loss.uncounted.iter().map(|(name, changed)| json!({ "column": name, "changed": changed })).collect::<Vec<_>>(),
            "bound": loss.bound.as_ref().map(|bound| {
                let mut object = json!({ "value": bound.value, "kind": bound.kind.name(), "knows_rules": bound.scope.knows_rules(&Bound { value: bound.value, kind: bound.kind }), "gap": bound.gap });
                if let BoundKind::Estimate { sample, low, high } = bound.kind {
                    object["sample"] = json!(sample);
                    object["low"] = json!(low);
                    object["high"] = json!(high);
                }
                object
            }),
        })),
        "distributions": report.distributions.iter().map(|column| json!({
            "column": column.name,
            "total_variation": column.distance,
            "bins": column.bins.iter().map(|(label, before, after)| json!({
                "label": label, "before": count(*before), "after": after,
            })).collect::<Vec<_>>(),
        })).collect::<Vec<_>>(),
        "queries": accuracy::of_all(&report.errors),
        "queries_by_conditions": accuracy::object(report),
        "purpose": purpose::object(report),
        "examples": examples::object(report),
        "limits": report.caveats.iter().map(|caveat| json!({
            "key": caveat.key, "title": caveat.title, "text": caveat.text, "matters": caveat.matters(),
        })).collect::<Vec<_>>(),
        "record": record_page::object(report),
    })
}

/// A number, or a text such as `<10`.
fn count(count: SourceCount) -> Value {
    match count {
        SourceCount::Exact(number) | SourceCount::About(number) => json!(number),
        SourceCount::Below(least) => json!(format!("<{least}")),
    }
}
