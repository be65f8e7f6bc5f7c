//! Persons in the output of commands, and the proof files that count them.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use lookalike::audit::{CountUnit, Finding, Measures, Origin, PersonsVerdict, Proof, Statement};
use lookalike::release::{origins_file, proof};
use lookalike::{Error, Request, Result};

use crate::show::{self, count, counted};

/// A proof file, as its first line says.
#[derive(Debug)]
pub(crate) enum ProofFile {
    /// The rings of a non-homogeneous release.
    Rings(Proof),
    /// The source rows of each released row, of a release whose rules count persons.
    Origins(Vec<Origin>),
}

/// The first line of a proof is no longer than this.
const FIRST_LINE: u64 = 1 << 10;

/// Reads a proof file of either form.
pub(crate) fn read_proof(path: &Path, request: &Request) -> Result<ProofFile> {
    let file = File::open(path).map_err(|source| Error::io(path, source))?;
    let mut reader = BufReader::new(file);
    let mut first = Vec::new();
    reader
        .by_ref()
        .take(FIRST_LINE)
        .read_until(b'\n', &mut first)
        .map_err(|source| Error::io(path, source))?;
    let is_of_persons = std::str::from_utf8(&first).is_ok_and(origins_file::is_header);
    let is_of_rings = first.starts_with(b"ring,");
    let whole = first.as_slice().chain(reader);
    // A file that is neither is refused by the reader that was meant.
    if is_of_persons || (request.has_persons() && !is_of_rings) {
        origins_file::read_origins(whole).map(ProofFile::Origins)
    } else {
        proof::read(whole).map(ProofFile::Rings)
    }
}

/// `1 row`, `5 persons`
pub(crate) fn members(number: u64, unit: CountUnit) -> String {
    match unit {
        CountUnit::Rows => counted(number, "row", "rows"),
        CountUnit::Persons => counted(number, "person", "persons"),
    }
}

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
