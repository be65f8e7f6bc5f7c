//! What would help, in sentences, and the explanation as a section of a page.

use lookalike::Hint;
use lookalike::numbers::percent;

use super::Explanation;
use crate::plot::escape;
use crate::report::Report;

/// A change that would make the release finer.
#[derive(Clone, Debug, PartialEq)]
pub struct Help {
    /// The change: `without column age`.
    pub change: String,
    /// What is compared: `the other columns` or `all columns`.
    pub of: &'static str,
    /// The loss now.
    pub now: f64,
    /// The loss after the change.
    pub then: f64,
}

impl Help {
    /// `without column age, the other columns lose 4.1 % instead of 6.7 %`
    pub fn sentence(&self) -> String {
        let Help { change, of, now, then } = self;
        format!("{change}, {of} lose {} instead of {}", percent(*then), percent(*now))
    }

    /// True when it is about the table, not about a column.
    pub fn is_of_all(&self) -> bool {
        self.of == ALL
    }
}

/// The words for all columns.
const ALL: &str = "all columns";

/// Less is no help.
const LEAST: f64 = 0.0005;

impl Explanation {
    /// The changes that gain something, the greatest gain first.
    pub fn helps(&self) -> Vec<Help> {
        let mut helps = Vec::new();
        for column in &self.columns {
            let (name, now, of) = (&column.name, column.others, "the other columns");
            if let Some(then) = column.others_without {
                helps.push(Help { change: format!("without column {name}"), of, now, then });
            }
            if let Some(coarser) = &column.coarser {
                let change = format!("with column {name} coarser ({})", coarser.to);
                helps.push(Help { change, of, now, then: coarser.others });
            }
        }
        let (now, of) = (self.loss, ALL);
        if let Some(smaller) = &self.smaller_k {
            helps.push(Help {
                change: format!("with k = {}", smaller.k),
                of,
                now,
                then: smaller.loss,
            });
        }
        if let Some(less) = &self.suppression {
            let change =
                format!("with {} of the {} suppressed", percent(less.allowed), self.unit());
            helps.push(Help { change, of, now, then: less.loss });
        }
        helps.retain(|help| help.now - help.then >= LEAST);
        helps.sort_by(|one, other| (other.now - other.then).total_cmp(&(one.now - one.then)));
        helps
    }
}

/// Adds the explanation to a report for the owner of the table: a section at the end of the page,
/// and the key `explain` to the numbers.
pub fn add_to(report: &mut Report, found: &Explanation, words: impl Fn(&Hint) -> String) {
    let at = report.html.find("</main>").unwrap_or(report.html.len());
    report.html.insert_str(at, &html(found).replace(" %", "\u{a0}%"));
    report.numbers["explain"] = found.json(words);
}

/// The explanation as a section of a page: the table and the sentences. For the owner of the table
/// alone: it has shares of the source.
pub fn html(found: &Explanation) -> String {
    let cell = |text: String| format!("<td>{}</td>", escape(&text));
    let share = |share: Option<f64>| share.map_or(String::new(), percent);
    let rows = found.columns.iter().map(|column| {
        let cells = [
            column.name.clone(),
            percent(column.loss),
            percent(column.part),
            percent(column.others),
            share(column.others_without),
            share(column.coarser.as_ref().map(|coarser| coarser.others)),
            percent(column.unique_alone),
            percent(column.unique_without),
        ];
        format!("<tr>{}</tr>", cells.map(cell).concat())
    });
    let heads = [
        "column",
        "its loss",
        "part of all",
        "others now",
        "others without it",
        "others with it coarser",
        "unique alone",
        "unique without it",
    ];
    let heads = heads.map(|head| format!("<th>{head}</th>")).concat();
    let helps: String = found
        .helps()
        .iter()
        .take(3)
        .map(|help| format!("<li>{}</li>", escape(&help.sentence())))
        .collect();
    format!(
        "<section id=\"explain\"><h2>What costs the detail</h2><table><tr>{heads}</tr>{}</table>\
         <ol>{helps}</ol></section>",
        rows.collect::<String>()
    )
}
