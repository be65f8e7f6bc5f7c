//! The page: one HTML file without scripts that loads nothing. Whatever comes from a file is
//! escaped.

use std::fmt::Write;
use std::path::Path;

use lookalike::audit::{CountUnit, Finding};

use super::counts::{CountPolicy, SourceCount};
use super::loss::loss;
use super::numbers::{Band, Distribution, ReportNumbers, RiskLine};
use super::pictures::{Bar, bars};
use super::risk::section as attackers;
use super::{accuracy, caveats, examples, purpose, record_page, unchanged};
use crate::plot::escape;
use lookalike::numbers::{count, decimal, percent};

/// The style of all pages.
pub(crate) const STYLE: &str = include_str!("page.css");

const KEY: &str = r#"<p class="key soft"><span><i class="before"></i>before: the source</span><span><i class="after"></i>after: the release</span></p>"#;

/// The whole page.
pub(super) fn page(report: &ReportNumbers) -> String {
    let title = if report.holds {
        format!("{}-anonymous for {}", count(report.k), report.quasi.join(", "))
    } else {
        "the rules are not satisfied".to_string()
    };
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, \
         initial-scale=1\">\n<meta name=\"referrer\" content=\"no-referrer\">\n<meta http-equiv=\"Content-Security-Policy\" \
         content=\"default-src 'none'; style-src 'unsafe-inline'\">\n<title>Release report: {}</title>\n<style>\n{STYLE}</style>\n\
         </head>\n<body>\n",
        escape(&title)
    );
    let parts: [fn(&ReportNumbers) -> String; 14] = [
        verdict,
        columns,
        examples::section,
        sizes,
        risk,
        unchanged::section,
        attackers,
        loss,
        distributions,
        accuracy::section,
        purpose::section,
        caveats::section,
        record_page::section,
        footer,
    ];
    for part in parts {
        out += &part(report);
    }
    // A number and its sign stay on one line.
    out.replace(" %", "\u{a0}%") + "</body>\n</html>\n"
}

fn verdict(report: &ReportNumbers) -> String {
    let bad = if report.holds { "" } else { " bad" };
    let mut out = format!(
        "<header><h1>Release report: {}</h1>\n<p class=\"soft\">The release {} of the source {}.{} {}</p></header>\n<main>\n<p class=\"verdict{bad}\">{}</p>\n",
        escape(
            Path::new(&report.files.1)
                .file_name()
                .map_or("", |name| name.to_str().unwrap_or_default())
        ),
        escape(&report.files.1),
        escape(&report.files.0),
        report.record.date.as_ref().map_or(String::new(), |date| format!(" {date}.")),
        match report.policy {
            CountPolicy::Exact => "Internal edition: it has counts of the source, keep it as \
                                   confidential as the source."
                .to_string(),
            CountPolicy::Guarded(least) => format!(
                "Public edition: counts of the source below {} are hidden, others are rounded, and \
                 no value of the source is compared with published ones.",
                count(least)
            ),
        },
        escape(&report.verdict)
    );
    for caveat in report.caveats.iter().filter(|caveat| caveat.key == "persons" && caveat.matters())
    {
        let _ = writeln!(
            out,
            "<p class=\"verdict bad\">{}: {}</p>",
            escape(caveat.title),
            escape(&caveat.text)
        );
    }
    if let Some(alarm) = unchanged::alarm(report) {
        let _ = writeln!(out, "<p class=\"verdict bad\">{}</p>", escape(&alarm));
    }
    out += "<ul class=\"tiles\">\n";
    let highest =
        report.risk.iter().find(|line| line.key == "highest").map_or(0.0, |line| line.after);
    let mut tile = |number: &str, what: &str| {
        let _ = writeln!(out, "<li><b>{}</b><span>{}</span></li>", escape(number), escape(what));
    };
    tile(&count(report.k), &format!("{} in the smallest class (k)", report.unit.name()));
    if let Some(persons) = &report.persons {
        tile(&persons.released.text(), "persons released");
        if let Some(suppressed) = persons.suppressed {
            tile(&suppressed.text(), "persons suppressed");
        }
    }
    tile(&count(report.released), "rows released");
    tile(&report.suppressed.text(), "rows suppressed");
    match (&report.loss, report.changed) {
        (Some(loss), _) if loss.uncounted.is_empty() => {
            tile(&percent(loss.gcp), "of the detail lost (GCP)")
        }
        (Some(loss), _) => {
            tile(&percent(loss.gcp), "of the detail lost (GCP), without columns of weight 0")
        }
        (None, Some(changed)) => tile(&percent(changed), "of the cells are a range or a group"),
        (None, None) => {}
    }
    if let Some((number, what)) = accuracy::tile(report) {
        tile(&number, &what);
    }
    tile(&percent(highest), &unchanged::risk_words(report));
    if let Some((number, what)) = unchanged::tile(report) {
        tile(&number, &what);
    }
    out += "</ul>\n<p>Every line was checked in the file itself, by code that is independent of the search:</p>\n<ul class=\"marks\">\n";
    for (rule, line) in report.rules.iter().zip(&report.rule_lines) {
        let (class, mark, text) = match line.strip_prefix("ok      ") {
            Some(text) => ("ok", "holds", text),
            None => ("broken", "BROKEN", line.trim_start_matches("BROKEN").trim_start()),
        };
        let _ = writeln!(
            out,
            "<li class=\"{class}\"><span class=\"mark\">{mark}</span>{}: violations {}</li>",
            escape(text),
            count(rule.violations)
        );
    }
    for leak in &report.leaks {
        let _ = writeln!(
            out,
            "<li class=\"broken\"><span class=\"mark\">LEAK</span>{}</li>",
            escape(leak)
        );
    }
    let of_persons = report.persons.iter().flat_map(|persons| &persons.checks);
    for (finding, text) in of_persons.chain(&report.truth) {
        let (class, mark) = match finding {
            Finding::Ok => ("ok", "true"),
            Finding::Partly => ("partly", "partly"),
            Finding::Broken => ("broken", "BROKEN"),
        };
        let _ = writeln!(
            out,
            "<li class=\"{class}\"><span class=\"mark\">{mark}</span>{}</li>",
            escape(text)
        );
    }
    out + "</ul>\n<p class=\"soft\">Publishing is a decision for people: this page only says that the file is k-anonymous for these columns.</p>\n"
}

/// A table with heads; those that begin with `>` are of numbers, with `#` of checksums.
pub(crate) fn table(heads: &[&str], rows: &[Vec<String>]) -> String {
    let class = |at: usize| match heads[at].as_bytes().first() {
        Some(b'>') => " class=\"n\"",
        Some(b'#') => " class=\"sum\"",
        _ => "",
    };
    let mut out = "<div class=\"scroll\" tabindex=\"0\"><table>\n<thead><tr>".to_string();
    for (at, head) in heads.iter().enumerate() {
        let _ = write!(
            out,
            "<th scope=\"col\"{}>{}</th>",
            class(at),
            escape(head.trim_start_matches(['>', '#']))
        );
    }
    out += "</tr></thead>\n<tbody>\n";
    for row in rows {
        out += "<tr>";
        for (at, cell) in row.iter().enumerate() {
            let _ = write!(out, "<td{}>{}</td>", class(at), escape(cell));
        }
        out += "</tr>\n";
    }
    out + "</tbody></table></div>\n"
}

fn columns(report: &ReportNumbers) -> String {
    let share = |share: Option<f64>| share.map_or("–".to_string(), percent);
    let (dropped, published): (Vec<_>, Vec<_>) =
        report.columns.iter().partition(|column| column.role == "dropped");
    let dropped: Vec<&str> = dropped.iter().map(|column| column.name.as_str()).collect();
    let dropped = if !dropped.is_empty() {
        format!("Not in the release: {}.", dropped.join(", "))
    } else if report.policy == CountPolicy::Exact {
        "No column of the source was dropped.".to_string()
    } else {
        "Dropped columns are not named here.".to_string()
    };
    let rows: Vec<Vec<String>> = published
        .iter()
        .map(|column| {
            vec![
                column.name.clone(),
                column.role.to_string(),
                column.how.clone(),
                share(column.changed),
                share(column.ncp),
            ]
        })
        .collect();
    let source = match report.source_rows {
        Some(rows) => format!("The source has {} rows", rows.text()),
        None => "The number of rows of the source is hidden".to_string(),
    };
    let mean = match report.policy {
        CountPolicy::Exact => {
            "; the loss of a cell is the share of the column's range that it covers (mean NCP), 100 % \
             for suppressed rows"
        }
        CountPolicy::Guarded(_) => "",
    };
    format!(
        "<h2>Columns</h2>\n<p>{}; {} were released and {} suppressed. Changed cells are a range or a \
         group instead of one value{mean}.</p>\n{}<p>{}</p>\n",
        escape(&source),
        count(report.released),
        escape(&report.suppressed.text()),
        table(&["column", "role", "published as", ">cells changed", ">loss"], &rows),
        escape(&dropped)
    )
}

fn size(band: &Band) -> String {
    match band.to {
        Some(to) if to == band.from => count(to),
        Some(to) => format!("{} – {}", count(band.from), count(to)),
        None => format!("{} or more", count(band.from)),
    }
}

fn sizes(report: &ReportNumbers) -> String {
    if report.bands.is_empty() {
        return String::new();
    }
    let was: f64 = report.bands.iter().map(|band| band.before.length()).sum();
    let is: u64 = report.bands.iter().map(|band| band.after).sum();
    let unit = report.unit.name();
    #[allow(clippy::cast_precision_loss, reason = "for display")]
    let bar = |band: &Band| Bar {
        label: match band.to {
            Some(1) => "alone".to_string(),
            _ => size(band),
        },
        before: (share(band.before.length(), was), band.before.text()),
        after: (share(band.after as f64, is as f64), count(band.after)),
    };
    let drawn: Vec<Bar> = report.bands.iter().map(bar).collect();
    let row = |band: &Band| vec![size(band), band.before.text(), count(band.after)];
    let rows: Vec<Vec<String>> = report.bands.iter().map(row).collect();
    let classes = match report.classes.0 {
        Some(before) => format!(
            "{} different combinations before, {} classes after.",
            before.text(),
            count(report.classes.1)
        ),
        None => format!("{} classes in the release.", count(report.classes.1)),
    };
    format!(
        "<h2>Class sizes</h2>\n<p>An equivalence class is all rows with equal values in {}. The bars \
         are the numbers of {unit} in classes of each size: in the source, where {unit} of small \
         classes stand out, and in the release. {}</p>\n{KEY}{}{}",
        escape(&report.quasi.join(", ")),
        escape(&classes),
        bars(&format!("{unit} by the size of their class, before and after"), &drawn),
        table(&["class size", &format!(">{unit} before"), &format!(">{unit} after")], &rows)
    )
}

fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

fn risk(report: &ReportNumbers) -> String {
    let before = |line: &RiskLine| match (line.before_rows, line.before) {
        (Some(rows @ SourceCount::Below(_)), _) => {
            format!("{} {}", rows.text(), report.unit.name())
        }
        (Some(rows), Some(share)) => format!("{} ({})", percent(share), rows.text()),
        (_, Some(share)) => percent(share),
        _ => "hidden".to_string(),
    };
    let after = |line: &RiskLine| match line.after_rows {
        Some(rows) => format!("{} ({})", percent(line.after), count(rows)),
        None => percent(line.after),
    };
    let rows: Vec<Vec<String>> =
        report.risk.iter().map(|line| vec![line.what.clone(), before(line), after(line)]).collect();
    let meaning = match report.unit {
        CountUnit::Rows => {
            "The chance that an attacker finds the row of a person, if the attacker knows the \
             person’s values in these columns and that the person is in the table, and if each row \
             is one person: one divided by the size of the class."
        }
        CountUnit::Persons => {
            "The chance that an attacker finds a person, if the attacker knows the person’s values \
             in these columns and that the person is in the table: one divided by the number of \
             persons in the class; by the smallest class where a person has several."
        }
    };
    format!(
        "<h2>Risk before and after</h2>\n<p>{meaning}</p>\n{}",
        table(&["measure", ">before", ">after"], &rows)
    )
}

fn distributions(report: &ReportNumbers) -> String {
    if report.distributions.is_empty() {
        return String::new();
    }
    let mut out = format!(
        "<h2>Distributions before and after</h2>\n<p>The share of rows with each value. A released \
         range counts evenly over its values, a group over the values below it. The distance of the \
         two distributions (total variation) is 0 % for equal ones and 100 % for distributions with \
         no value in common.</p>\n{KEY}<div class=\"grid\">\n"
    );
    distributions_into(&mut out, &report.distributions);
    out + "</div>\n"
}

fn distributions_into(out: &mut String, distributions: &[Distribution]) {
    for Distribution { name, bins, distance } in distributions {
        let was: f64 = bins.iter().map(|(_, before, _)| before.length()).sum();
        let is: f64 = bins.iter().map(|(_, _, after)| after).sum();
        let drawn: Vec<Bar> = bins
            .iter()
            .map(|(label, before, after)| {
                let (before, after) = (share(before.length(), was), share(*after, is));
                Bar {
                    label: label.clone(),
                    before: (before, percent(before)),
                    after: (after, percent(after)),
                }
            })
            .collect();
        let rows: Vec<Vec<String>> = bins
            .iter()
            .map(|(label, before, after)| {
                vec![label.clone(), before.text(), decimal((after * 10.0).round() / 10.0)]
            })
            .collect();
        let name = escape(name);
        let _ = writeln!(out, "<section class=\"card\"><h3>{name}</h3>");
        match distance {
            Some(distance) => {
                let _ = writeln!(
                    out,
                    "<p class=\"soft\">distance {}</p>{}<details><summary>numbers</summary>{}</details>",
                    percent(*distance),
                    bars("before and after", &drawn),
                    table(&["value", ">rows before", ">rows after"], &rows)
                );
            }
            None => *out += "<p class=\"soft\">There is no distribution of this column.</p>",
        }
        *out += "</section>\n";
    }
}

fn footer(_: &ReportNumbers) -> String {
    format!(
        "</main>\n<footer class=\"soft\">Written by lookalike {}. A quasi-identifier is a column \
         that could be joined with other data. An equivalence class is all rows with equal \
         quasi-identifiers. k is the size of the smallest class.</footer>\n",
        env!("CARGO_PKG_VERSION")
    )
}
