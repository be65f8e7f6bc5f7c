//! Persons in the output of commands.

use lookalike::audit::{CountUnit, Finding, Measures, PersonsVerdict, Statement};

use crate::show::{self, count};

/// `5-anonymous`, or `5-anonymous, counting persons,`.
pub(crate) fn anonymous(measures: &Measures) -> String {
    match measures.unit() {
        CountUnit::Rows => format!("{}-anonymous", measures.k),
        CountUnit::Persons => format!("{}-anonymous, counting persons,", measures.k),
    }
}

/// The line on persons below that of rows; none where rows are counted.
pub(crate) fn persons_line(measures: &Measures) -> String {
    measures.persons.map_or(String::new(), |persons| format!("persons   {}\n", count(persons)))
}

/// The reading, its meaning, and the checks of it.
pub(crate) fn reading_lines(persons: &PersonsVerdict) -> String {
    let words: Vec<String> = persons.meaning.split(' ').map(String::from).collect();
    let mut text = "\npersons\n".to_string();
    text += &show::indent(&wrapped(&format!("{:6}  ", persons.reading.name()), &words));
    for Statement { finding, text: said } in &persons.statements {
        text += &format!("  {}  {said}\n", mark(*finding));
    }
    text
}

/// The mark before a finding.
pub(crate) fn mark(finding: Finding) -> &'static str {
    match finding {
        Finding::Ok => "ok    ",
        Finding::Partly => "partly",
        Finding::Broken => "BROKEN",
    }
}

/// Words broken before column 80; later lines begin below the first word.
fn wrapped(lead: &str, words: &[String]) -> String {
    let mut text = lead.to_string();
    let mut at = lead.len();
    for word in words {
        let width = show::width(word);
        if at > lead.len() && at + width > 78 {
            text.push_str(&format!("\n{:1$}", "", lead.len()));
            at = lead.len();
        }
        if at > lead.len() {
            text.push(' ');
        }
        text.push_str(word);
        at += width + 1;
    }
    text
}
