//! The page of a codebook: what each column of a release has, and how its cells are read. One HTML
//! file without scripts that loads nothing, in the style of the report; whatever comes from a table
//! is escaped.

use std::fmt::Write;

use lookalike::numbers::{count, decimal, percent};
use lookalike::release::codebook::{Codebook, CodebookColumn};

use crate::plot::escape;
use crate::report::page::{STYLE, table};

/// The page of a codebook.
///
/// # Example
/// ```
/// use lookalike::{Request, run::Run, table};
/// use lookalike_report::codebook::page;
///
/// let request = Request::parse("k = 2\noutput.codebook = true\ncolumns.age.role = 'quasi'")?;
/// let source = table::open_text("age\n34\n36\n51\n58\n".into(), "ages".as_ref())?;
/// let released = Run::new(&request).in_memory(source)?;
/// assert!(page(&released.codebook.expect("asked for")).contains("<h2>age</h2>"));
/// # Ok::<(), lookalike::Error>(())
/// ```
pub fn page(codebook: &Codebook) -> String {
    let title = match &codebook.release {
        Some(name) => format!("Codebook: {name}"),
        None => "Codebook".to_string(),
    };
    let title = escape(&title);
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, \
         initial-scale=1\">\n<meta name=\"referrer\" content=\"no-referrer\">\n<meta http-equiv=\"Content-Security-Policy\" \
         content=\"default-src 'none'; style-src 'unsafe-inline'\">\n<title>{title}</title>\n<style>\n{STYLE}</style>\n\
         </head>\n<body>\n<header><h1>{title}</h1>\n<p class=\"soft\">{} rows, {} columns. Everything on this page \
         can be read from the release itself.</p></header>\n<main>\n",
        count(codebook.rows),
        count(codebook.columns.len() as u64)
    );
    out += &list(&codebook.notes);
    let rows: Vec<Vec<String>> = codebook.columns.iter().map(line).collect();
    let heads = ["column", "role", "cells", "what is published", ">generalized", ">mean width"];
    out += &table(&heads, &rows);
    for column in &codebook.columns {
        let _ = write!(out, "<h2>{}</h2>\n{}", escape(&column.name), section(column));
    }
    // A number and its sign stay on one line.
    out.replace(" %", "\u{a0}%") + "</main>\n</body>\n</html>\n"
}

fn list(sentences: &[String]) -> String {
    let items = sentences.iter().map(|sentence| format!("<li>{}</li>\n", coded(sentence)));
    format!("<ul class=\"plain\">\n{}</ul>\n", items.collect::<String>())
}

/// A sentence, with what stands between backquotes as code.
fn coded(sentence: &str) -> String {
    let parts = sentence.split('`').enumerate();
    let part = |(at, part): (usize, &str)| match at % 2 {
        0 => escape(part),
        _ => format!("<code>{}</code>", escape(part)),
    };
    parts.map(part).collect()
}

/// The line of a column in the table above.
fn line(column: &CodebookColumn) -> Vec<String> {
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "–".into());
    let cells = match column.kind {
        Some(kind) if column.published == "labels" => format!("text ({kind})"),
        _ => column.cells.clone(),
    };
    let published = if column.name == column.source {
        column.published.to_string()
    } else {
        format!("{}: {}", column.source, column.published)
    };
    vec![
        column.name.clone(),
        column.role.to_string(),
        cells,
        published,
        or_dash(column.generalized.map(percent)),
        or_dash(column.mean_width.map(decimal)),
    ]
}

/// How a column is read, and its labels.
fn section(column: &CodebookColumn) -> String {
    let mut out = list(&column.reading);
    if let Some(labels) = column.label_count {
        let listed = match column.labels.len() {
            0 => String::new(),
            some if some < labels => format!("; the first {}, in order", count(some as u64)),
            _ => "; in order".to_string(),
        };
        let _ = writeln!(
            out,
            "<p>{} different {}{listed}.</p>",
            count(labels as u64),
            if labels == 1 { "label" } else { "labels" }
        );
    }
    if !column.labels.is_empty() {
        let row = |shown: &lookalike::release::codebook::LabelRows| {
            let label = shown.label.clone().unwrap_or_else(|| "(missing)".into());
            vec![label, count(shown.rows)]
        };
        let rows: Vec<Vec<String>> = column.labels.iter().map(row).collect();
        out += &table(&["label", ">rows"], &rows);
    }
    out
}

#[cfg(test)]
mod tests {
    use lookalike::{Request, run::Run, table};

    use super::*;

    #[test]
    fn names_and_labels_of_a_table_are_escaped() {
        let request = Request::parse(
            "k = 2\noutput.codebook = true\n[columns]\n\"<b>\" = { role = 'quasi' }\nx = { role = 'keep' }",
        )
        .unwrap();
        let text = "<b>,x\n<i>,1\n<i>,1\n&,1\n&,1\n".to_string();
        let source = table::open_text(text, "t".as_ref()).unwrap();
        let released = Run::new(&request).in_memory(source).unwrap();
        let page = page(&released.codebook.unwrap());
        assert!(!page.contains("<b>") && !page.contains("<i>"), "{page}");
        assert!(page.contains("<h2>&lt;b&gt;</h2>") && page.contains("<td>&amp;</td>"), "{page}");
    }
}
