//! The record on the page, and in the JSON.

use std::fmt::Write;

use serde_json::{Value, json};

use super::checksum::FileRecord;
use super::counts::CountPolicy;
use super::numbers::ReportNumbers;
use super::page::table;
use crate::plot::escape;
use lookalike::numbers::count;

/// The section.
pub(super) fn section(report: &ReportNumbers) -> String {
    let record = &report.record;
    let is_internal = report.policy == CountPolicy::Exact;
    let date = match &record.date {
        Some(date) => format!("on {date} (UTC) "),
        None => String::new(),
    };
    let mut out = format!(
        "<h2>Record</h2>\n<p>This page was made {date}with lookalike {}. A file that has the same \
         checksum is the same file; <code>sha256sum FILE</code> prints it.</p>\n",
        env!("CARGO_PKG_VERSION")
    );
    let mut files = Vec::new();
    if is_internal {
        files.push(file("source", &report.files.0, record.source.as_ref()));
    }
    files.push(file("release", &report.files.1, record.release.as_ref()));
    out += &table(&["file", "name", "#SHA-256", ">bytes"], &files);
    if !is_internal {
        out += "<p class=\"soft\">There is no checksum of the source in this edition: with the \
                release beside it, somebody could try possible sources until one has it.</p>\n";
    }
    let settings: Vec<Vec<String>> =
        record.settings.iter().map(|(what, to)| vec![what.to_string(), to.clone()]).collect();
    out += "<h3>Settings</h3>\n<p class=\"soft\">As the request has them. The audit does not know \
            how the release was found.</p>\n";
    out += &table(&["setting", "value"], &settings);
    out += "<h3>Roles</h3>\n";
    out += &roles(report);
    out += &list("Decisions", &record.decisions, "The request shows no decision to be recorded.");
    if is_internal {
        let none = "There was no warning about the request or the source.";
        out += &list("Warnings that were accepted", &record.warnings, none);
    }
    out += "<p class=\"sign\">Decision on publishing, name, date, signature:</p>\n";
    if let Some(text) = record.request.as_ref().and_then(|request| request.to_toml().ok()) {
        let _ = writeln!(
            out,
            "<details><summary>the whole request, without its seed</summary><pre>{}</pre></details>",
            text.lines().map(escape).collect::<Vec<_>>().join("\n")
        );
    }
    out
}

fn file(what: &str, name: &str, record: Option<&FileRecord>) -> Vec<String> {
    let (bytes, sum) = match record {
        Some(record) => (count(record.bytes), record.sha256.clone()),
        None => ("–".to_string(), "none: no file that can be read again".to_string()),
    };
    vec![what.to_string(), name.to_string(), sum, bytes]
}

fn roles(report: &ReportNumbers) -> String {
    let columns = &report.record.columns;
    let has_reason = columns.iter().any(|column| column.reason.is_some());
    let row = |column: &super::record::ColumnRecord| {
        let mut row = vec![column.name.clone(), column.role.to_string()];
        if has_reason {
            row.push(column.reason.clone().unwrap_or_else(|| "–".to_string()));
        }
        row.push(column.settings.clone());
        row
    };
    let rows: Vec<Vec<String>> = columns.iter().map(row).collect();
    let heads: &[&str] = match has_reason {
        true => &["column", "role", "reason", "settings"],
        false => &["column", "role", "settings"],
    };
    let without = match has_reason || report.policy != CountPolicy::Exact {
        true => "",
        false => "<p class=\"soft\">The request has no reasons for the roles.</p>\n",
    };
    table(heads, &rows) + without
}

fn list(head: &str, items: &[String], none: &str) -> String {
    if items.is_empty() {
        return format!("<h3>{head}</h3>\n<p class=\"soft\">{none}</p>\n");
    }
    let items: String = items.iter().map(|item| format!("<li>{}</li>\n", escape(item))).collect();
    format!("<h3>{head}</h3>\n<ul class=\"plain\">\n{items}</ul>\n")
}

/// The record as JSON.
pub(super) fn object(report: &ReportNumbers) -> Value {
    let record = &report.record;
    let file = |name: &String, record: Option<&FileRecord>| {
        json!({
            "name": name,
            "bytes": record.map(|record| record.bytes),
            "sha256": record.map(|record| record.sha256.clone()),
        })
    };
    let settings = record.settings.iter();
    json!({
        "date": record.date,
        "lookalike": env!("CARGO_PKG_VERSION"),
        "source": file(&report.files.0, record.source.as_ref()),
        "release": file(&report.files.1, record.release.as_ref()),
        "settings": settings.map(|(what, to)| json!({ "setting": what, "value": to })).collect::<Vec<_>>(),
        "columns": record.columns.iter().map(|column| json!({
            "name": column.name,
            "role": column.role,
            "reason": column.reason,
            "settings": column.settings,
        })).collect::<Vec<_>>(),
        "decisions": record.decisions,
        "warnings": record.warnings,
        "request": record.request.as_ref().and_then(|request| serde_json::to_value(request).ok()),
    })
}
