//! The page: one HTML file without scripts that loads nothing. Whatever comes from a file is
//! escaped.

use std::fmt::Write;
use std::path::Path;

use lookalike::audit::Finding;
use lookalike::problem::bound::BoundKind;

use super::numbers::{Band, Count, Guard, LossTold, RiskLine, Spread, Told};
use super::pictures::{Bar, bars};
use crate::plot::escape;
use crate::show::{count, counted, decimal, penalty, percent};

const STYLE: &str = include_str!("page.css");

const KEY: &str = r#"<p class="key soft"><span><i class="before"></i>before: the source</span><span><i class="after"></i>after: the release</span></p>"#;

/// The whole page.
pub(super) fn page(told: &Told) -> String {
    let title = match told.holds {
        true => format!("{}-anonymous for {}", count(told.k), told.quasi.join(", ")),
        false => "does not hold".to_string(),
    };
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, \
         initial-scale=1\">\n<meta name=\"referrer\" content=\"no-referrer\">\n<meta http-equiv=\"Content-Security-Policy\" \
         content=\"default-src 'none'; style-src 'unsafe-inline'\">\n<title>Release report: {}</title>\n<style>\n{STYLE}</style>\n\
         </head>\n<body>\n",
        escape(&title)
    );
    for part in [verdict, columns, sizes, risk, loss, spreads, queries, limits, footer] {
        out += &part(told);
    }
    // A number and its sign stay on one line.
    out.replace(" %", "\u{a0}%") + "</body>\n</html>\n"
}

fn verdict(told: &Told) -> String {
    let bad = if told.holds { "" } else { " bad" };
    let mut out = format!(
        "<header><h1>Release report: {}</h1>\n<p class=\"soft\">The release {} of the source {}. {}</p></header>\n<main>\n<p class=\"verdict{bad}\">{}</p>\n",
        escape(Path::new(&told.files.1).file_name().map_or("", |name| name.to_str().unwrap_or_default())),
        escape(&told.files.1),
        escape(&told.files.0),
        match told.guard {
            Guard::None => "Internal edition: it tells counts of the source, keep it as confidential as the source.".to_string(),
            Guard::Below(least) => format!(
                "Public edition: counts of the source below {} are not told, others are rounded, and nothing puts values of the source \
                 beside those of the release.",
                count(least)
            ),
        },
        escape(&told.verdict)
    );
    for caveat in told.caveats.iter().filter(|caveat| caveat.key == "persons" && caveat.matters) {
        let _ = writeln!(
            out,
            "<p class=\"verdict bad\">{}: {}</p>",
            escape(caveat.title),
            escape(&caveat.text)
        );
    }
    out += "<ul class=\"tiles\">\n";
    let highest =
        told.risk.iter().find(|line| line.key == "highest").map_or(0.0, |line| line.after);
    let mut tile = |number: &str, what: &str| {
        let _ = writeln!(out, "<li><b>{}</b><span>{}</span></li>", escape(number), escape(what));
    };
    tile(&count(told.k), "rows in the smallest class (k)");
    tile(&count(told.released), "rows released");
    tile(&told.suppressed.text(), "rows left out (suppressed)");
    match (&told.loss, told.changed) {
        (Some(loss), _) if loss.uncounted.is_empty() => {
            tile(&percent(loss.gcp), "of the detail lost (GCP)")
        }
        (Some(loss), _) => {
            tile(&percent(loss.gcp), "of the detail lost (GCP), without columns of weight 0")
        }
        (None, Some(changed)) => tile(&percent(changed), "of the cells show a range or a group"),
        (None, None) => {}
    }
    tile(&percent(highest), "highest remaining risk of a row being picked out");
    out += "</ul>\n<p>Every line was checked in the file itself, by code that had no part in making it:</p>\n<ul class=\"marks\">\n";
    for (rule, line) in told.rules.iter().zip(&told.rule_lines) {
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
    for leak in &told.leaks {
        let _ = writeln!(
            out,
            "<li class=\"broken\"><span class=\"mark\">LEAK</span>{}</li>",
            escape(leak)
        );
    }
    for (finding, text) in &told.truth {
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
    out + "</ul>\n<p class=\"soft\">Whether it may be published is a decision for people: this says k-anonymous for these columns, and no more.</p>\n"
}

/// A table with heads; those that begin with `>` are of numbers.
fn table(heads: &[&str], rows: &[Vec<String>]) -> String {
    let class = |at: usize| if heads[at].starts_with('>') { " class=\"n\"" } else { "" };
    let mut out = "<div class=\"scroll\"><table>\n<thead><tr>".to_string();
    for (at, head) in heads.iter().enumerate() {
        let _ = write!(
            out,
            "<th scope=\"col\"{}>{}</th>",
            class(at),
            escape(head.trim_start_matches('>'))
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

fn columns(told: &Told) -> String {
    let share = |share: Option<f64>| share.map_or("–".to_string(), percent);
    let (gone, shown): (Vec<_>, Vec<_>) =
        told.columns.iter().partition(|column| column.role == "dropped");
    let gone: Vec<&str> = gone.iter().map(|column| column.name.as_str()).collect();
    let gone = match gone.is_empty() {
        true if told.guard != Guard::None => {
            "Columns that are not in the release are not named here.".to_string()
        }
        true => "No column of the source was dropped.".to_string(),
        false => format!("Not in the release: {}.", gone.join(", ")),
    };
    let rows: Vec<Vec<String>> = shown
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
    let source = match told.source_rows {
        Some(rows) => format!("The source has {} rows", rows.text()),
        None => "How many rows the source has is not told".to_string(),
    };
    let mean = match told.guard {
        Guard::None => {
            "; the loss is the share of the column that is shown instead of the value (mean NCP), rows left out counting as 100 %"
        }
        Guard::Below(_) => "",
    };
    format!(
        "<h2>What happened to each column</h2>\n<p>{}; {} were released and {} left out. Changed cells show a range or a group instead \
         of one value{mean}.</p>\n{}<p>{}</p>\n",
        escape(&source),
        count(told.released),
        escape(&told.suppressed.text()),
        table(&["column", "role", "how it is published", ">cells changed", ">loss"], &rows),
        escape(&gone)
    )
}

fn size(band: &Band) -> String {
    match band.to {
        Some(to) if to == band.from => count(to),
        Some(to) => format!("{} – {}", count(band.from), count(to)),
        None => format!("{} or more", count(band.from)),
    }
}

fn sizes(told: &Told) -> String {
    let was: f64 = told.bands.iter().map(|band| band.before.length()).sum();
    #[allow(clippy::cast_precision_loss, reason = "for display")]
    let bar = |band: &Band| Bar {
        label: match band.to {
            Some(1) => "alone".to_string(),
            _ => size(band),
        },
        before: (share(band.before.length(), was), band.before.text()),
        after: (share(band.after as f64, told.released as f64), count(band.after)),
    };
    let drawn: Vec<Bar> = told.bands.iter().map(bar).collect();
    let row = |band: &Band| vec![size(band), band.before.text(), count(band.after)];
    let rows: Vec<Vec<String>> = told.bands.iter().map(row).collect();
    let classes = match told.classes.0 {
        Some(before) => format!(
            "{} different combinations before, {} classes after.",
            before.text(),
            count(told.classes.1)
        ),
        None => format!("{} classes in the release.", count(told.classes.1)),
    };
    format!(
        "<h2>How many look alike</h2>\n<p>A class is all rows that show the same on {}. The bars show how many rows are in classes of \
         each size: in the source, where rows of small classes stand out, and in the release. {}</p>\n{KEY}{}{}",
        escape(&told.quasi.join(", ")),
        escape(&classes),
        bars("rows by the size of their class, before and after", &drawn),
        table(&["class size", ">rows before", ">rows after"], &rows)
    )
}

fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

fn risk(told: &Told) -> String {
    let before = |line: &RiskLine| match (line.before_rows, line.before) {
        (Some(rows @ Count::Below(_)), _) => format!("{} rows", rows.text()),
        (Some(rows), Some(share)) => format!("{} ({})", percent(share), rows.text()),
        (_, Some(share)) => percent(share),
        _ => "not told".to_string(),
    };
    let after = |line: &RiskLine| match line.after_rows {
        Some(rows) => format!("{} ({})", percent(line.after), count(rows)),
        None => percent(line.after),
    };
    let rows: Vec<Vec<String>> =
        told.risk.iter().map(|line| vec![line.what.clone(), before(line), after(line)]).collect();
    format!(
        "<h2>Risk before and after</h2>\n<p>The chance that somebody who knows a person’s values in these columns, and that the person \
         is in the table, picks the right row, if each row is one person: one over the size of the class.</p>\n{}",
        table(&["measure", ">before", ">after"], &rows)
    )
}

fn loss(told: &Told) -> String {
    let Some(loss) = &told.loss else {
        // Penalties have the length of a column in them, and distributions what the release
        // withholds.
        return told.changed.map_or(String::new(), |changed| {
            format!(
                "<h2>What was lost</h2>\n<p>{} of the cells of {} show a range or a group instead of one value. How that compares with the \
                 source, column by column, is told in the internal edition alone.</p>\n",
                percent(changed),
                escape(&told.quasi.join(", "))
            )
        });
    };
    let costliest = loss
        .costliest
        .as_ref()
        .map_or(String::new(), |name| format!(" No column lost more than {}.", escape(name)));
    let uncounted: String = loss
        .uncounted
        .iter()
        .map(|(name, changed)| {
            format!(
                "<p>Column {} has weight 0 and is not counted in the loss: {} of its cells show a range or a group.</p>\n",
                escape(name),
                percent(*changed)
            )
        })
        .collect();
    format!(
        "<h2>What was lost</h2>\n<p>The release shows on average {} of a column’s domain where the source shows one value (GCP, 0 % is the \
         source itself, 100 % says nothing); summed up over rows and columns that is NCP {}. It was computed from the released cells.{costliest}</p>\n\
         {uncounted}<p>{}</p>\n",
        percent(loss.gcp),
        penalty(loss.ncp),
        escape(&bound(loss))
    )
}

/// The bound and the gap in words.
fn bound(loss: &LossTold) -> String {
    let Some(bound) = &loss.bound else {
        return "What no release can lose less than was not looked for.".to_string();
    };
    let value = penalty(bound.value);
    let Some(gap) = bound.gap else {
        return match bound.kind {
            BoundKind::Exact if loss.uncounted.is_empty() => {
                "No loss is needed here: rows could all show what they are.".to_string()
            }
            BoundKind::Exact => {
                "No loss is needed on the columns that are counted: rows could all show what they are there.".to_string()
            }
            _ => "What no release can lose less than was not found out in the time.".to_string(),
        };
    };
    let known = match bound.kind {
        BoundKind::Exact | BoundKind::Tight => {
            format!(
                "No release of this table with this k that shows ranges can lose less than NCP {value}"
            )
        }
        BoundKind::Weaker { .. } => {
            format!(
                "No release of this table with this k that shows ranges can lose less than NCP {value} (the true bound is higher)"
            )
        }
        BoundKind::Estimate { low, high, .. } => format!(
            "By a sample, no release of this table with this k that shows ranges can lose less than about NCP {value} ({} to {})",
            penalty(low),
            penalty(high)
        ),
    };
    let near = match gap {
        ..1.0 => {
            "this one is below it, as sets of values and some global recodings may be".to_string()
        }
        _ => format!(
            "this one loses {gap:.2} times that; how much of the gap could be closed nobody knows"
        ),
    };
    format!("{known}; {near}.")
}

fn spreads(told: &Told) -> String {
    if told.spreads.is_empty() {
        return String::new();
    }
    let mut out = format!(
        "<h2>How the columns look before and after</h2>\n<p>The share of rows with each value. A released range counts evenly over its \
         values, a group over the values below it. The distance of the two (total variation) is 0 % where nothing is seen of the change, \
         100 % where nothing is left.</p>\n{KEY}<div class=\"grid\">\n"
    );
    spreads_into(&mut out, &told.spreads);
    out + "</div>\n"
}

fn spreads_into(out: &mut String, spreads: &[Spread]) {
    for Spread { name, bins, distance } in spreads {
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
            None => {
                *out += "<p class=\"soft\">The release shows too little of this column to tell more.</p>"
            }
        }
        *out += "</section>\n";
    }
}

fn queries(told: &Told) -> String {
    let Some(errors) = &told.errors else { return String::new() };
    let error = |error: Option<f64>| error.map_or("none".to_string(), percent);
    format!(
        "<h2>How well counts can be answered</h2>\n<p>{} with conditions on all these columns were asked of both files. Half of the \
         answers of the release are within {} of the truth, nine in ten within {}.</p>\n",
        counted(errors.queries as u64, "random count", "random counts"),
        error(errors.median_error),
        error(errors.p90_error)
    )
}

fn limits(told: &Told) -> String {
    let mut out = "<h2>What this does not protect against</h2>\n<dl>\n".to_string();
    for caveat in &told.caveats {
        let tag = if caveat.matters { "<span class=\"tag\">matters here</span>" } else { "" };
        let _ = writeln!(
            out,
            "<dt>{}{tag}</dt><dd>{}</dd>",
            escape(caveat.title),
            escape(&caveat.text)
        );
    }
    out + "</dl>\n"
}

fn footer(_: &Told) -> String {
    format!(
        "</main>\n<footer class=\"soft\">Written by lookalike {}. Terms: a quasi-identifier is a column that could be joined with other \
         data; a class is all rows that show the same on them; k is the size of the smallest.</footer>\n",
        env!("CARGO_PKG_VERSION")
    )
}
