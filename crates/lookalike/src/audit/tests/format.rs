//! The examples of docs/format.md, run against the engine, which writes, and the audit, which
//! reads.

use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_cast::cast;
use arrow_schema::DataType;

use super::super::center::is_middle;
use super::super::cover::Cover;
use super::super::guard::unguarded;
use super::super::path::{AuditHierarchy, open};
use super::super::reading::{exact_number, place_of_instant, present};
use super::super::released_cell::{ReleasedCell, members};
use super::{coded, request};
use crate::codes::{Code, CodeRange};
use crate::domain::attribute::{Attribute, Domain};
use crate::domain::encode::{self, ColumnSpec};
use crate::domain::hierarchy;
use crate::domain::label::set_label;
use crate::domain::parse::spelling;
use crate::release::bounds::bounds;
use crate::release::formula_guard::guarded;
use crate::request::{HierarchySpec, Kind, Publish, Request};

/// The blocks of the document with this word behind the fence.
fn blocks(word: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/format.md");
    let text = std::fs::read_to_string(path).unwrap();
    let fence = format!("\n```{word}\n");
    let found: Vec<String> = text
        .split(&fence)
        .skip(1)
        .map(|rest| rest.split("\n```").next().unwrap().to_string())
        .collect();
    assert!(!found.is_empty(), "docs/format.md has no example of {word}");
    found
}

/// The two sides of each line `left -> right`.
fn pairs(block: &str) -> Vec<(String, String)> {
    let side = |text: &str| text.trim().replace("\\t", "\t");
    let lines = block.lines().filter(|line| line.contains("->"));
    lines
        .map(|line| line.split_once("->").unwrap())
        .map(|(left, right)| (side(left), side(right)))
        .collect()
}

/// `a | b | (missing)`
fn list(text: &str) -> Vec<Option<String>> {
    text.split('|')
        .map(|item| Some(item.trim().to_string()).filter(|item| item != "(missing)"))
        .collect()
}

const MISSING: &str = "missing = [\"?\", \"NA\"]";

fn spellings() -> Vec<String> {
    request(&format!("k = 1\n{MISSING}\n[columns]\na = {{ role = \"quasi\" }}")).missing
}

#[test]
fn forms_are_put_on_and_taken_off() {
    for line in blocks("forms").iter().flat_map(|block| block.lines()) {
        let parts: Vec<&str> =
            line.split("  ").map(str::trim).filter(|part| !part.is_empty()).collect();
        let [form, plain, local] = parts[..] else { panic!("{line}") };
        let form: crate::forms::Form = form.parse().unwrap();
        assert_eq!(form.local_label(plain), local, "{line}");
        assert_eq!(form.plain_label(local), plain, "{line}");
    }
}

#[test]
fn guards_are_put_on_and_taken_off() {
    for (cell, written) in blocks("guard").iter().flat_map(|block| pairs(block)) {
        assert_eq!(guarded(&cell), written, "the engine writes `{cell}`");
        assert_eq!(unguarded(&written), cell, "the audit reads `{written}`");
    }
}

/// Every text of a few characters: reading is the way back from writing, so no two are written
/// alike.
#[test]
fn reading_undoes_writing_for_every_short_text() {
    let letters = ["'", "=", "-", "+", "5", ".", " ", "e", "\t", "x", "@"];
    let mut texts = vec![String::new()];
    for _ in 0..4 {
        let longer: Vec<String> =
            texts.iter().flat_map(|text| letters.map(|letter| format!("{text}{letter}"))).collect();
        texts.extend(longer);
        texts.sort();
        texts.dedup();
    }
    assert!(texts.len() > 10_000);
    for text in texts {
        assert_eq!(unguarded(&guarded(&text)), text, "{text:?}");
    }
}

#[test]
fn missing_is_missing_to_both() {
    let spellings = spellings();
    for (line, (cell, expected)) in blocks("missing")
        .iter()
        .flat_map(|block| block.lines().map(str::to_string).zip(pairs(block)).collect::<Vec<_>>())
    {
        // With the blanks in front as they stand.
        let cell = format!("{}{cell}", &line[..line.len() - line.trim_start().len()]);
        let column = coded(std::iter::once(cell.as_str()));
        let spec = ColumnSpec { name: "a", column: None, missing: &spellings, snap: false };
        assert_eq!(encode::present(spec, &column)[0].is_none(), expected == "missing", "{cell}");
        assert_eq!(present(Some(&cell), &spellings).is_none(), expected == "missing", "{cell}");
    }
}

#[test]
fn one_value_has_many_spellings_and_two_values_share_none() {
    for (word, kind) in [("numbers", Kind::Numeric), ("instants", Kind::Date)] {
        let read = |text: &str| match kind {
            Kind::Numeric => exact_number(text).unwrap(),
            _ => place_of_instant(text).unwrap().to_string(),
        };
        for block in blocks(word) {
            let mut seen = Vec::new();
            for line in block.lines() {
                let texts: Vec<&str> = line.split(" = ").map(str::trim).collect();
                for text in &texts {
                    assert_eq!(spelling(kind, text), spelling(kind, texts[0]), "engine: {text}");
                    assert_eq!(read(text), read(texts[0]), "audit: {text}");
                }
                seen.push((spelling(kind, texts[0]), read(texts[0])));
            }
            assert!((1..seen.len()).all(|at| {
                seen[..at].iter().all(|other| other.0 != seen[at].0 && other.1 != seen[at].1)
            }));
        }
    }
}

#[test]
fn sets_are_written_and_read() {
    for (left, written) in blocks("sets").iter().flat_map(|block| pairs(block)) {
        let values = list(&left);
        assert_eq!(
            set_label(values.iter().map(|value| value.as_deref().unwrap_or_default())),
            written
        );
        match members(&written) {
            Some(read) => assert_eq!(read, values),
            None => assert_eq!(values, [Some(written)], "one value stands as it is"),
        }
    }
}

/// A column of an example: the request, the engine's attribute, the values and the code of each.
struct Example {
    request: Request,
    attribute: Attribute,
    values: Vec<Option<String>>,
    codes: Vec<Code>,
}

fn example(block: &str) -> Example {
    let line = |key: &str| block.lines().find_map(|line| line.strip_prefix(key)).map(str::trim);
    let snap = if line("snap = true").is_some() { "[output]\nsnap = true\n" } else { "" };
    let request = request(&format!("k = 1\n{snap}[columns]\na = {}", line("column = ").unwrap()));
    let values = list(line("values = ").unwrap());
    let column = coded(values.iter().map(|value| value.as_deref().unwrap_or_default()));
    let (attribute, codes) = encode::attribute(ColumnSpec::new("a", &request), &column).unwrap();
    Example { request, attribute, values, codes }
}

impl Example {
    /// The codes of some values as one range.
    fn range(&self, values: &[Option<String>]) -> CodeRange {
        let code = |value| {
            self.codes[self
                .values
                .iter()
                .position(|other| other == value)
                .expect("a value of the column")]
        };
        let codes: Vec<Code> = values.iter().map(code).collect();
        CodeRange { lo: *codes.iter().min().unwrap(), hi: *codes.iter().max().unwrap() }
    }

    /// The audit reads the cell as these values, all of their spellings, and no other.
    fn assert_covers(&self, cell: ReleasedCell<'_>, range: CodeRange) {
        let column = coded(self.values.iter().map(|value| value.as_deref().unwrap_or_default()));
        let cover = Cover::new(&column, &[cell], &self.request.columns["a"], &self.request.missing)
            .unwrap();
        for (value, &code) in (0..).zip(&self.codes) {
            assert_eq!(
                cover.covers(0, value),
                range.contains(code),
                "{cell:?} on {:?}",
                self.values[value as usize]
            );
        }
    }
}

#[test]
fn labels_are_written_by_the_engine_and_read_by_the_audit() {
    for block in blocks("labels") {
        let example = example(&block);
        for (left, label) in pairs(&block) {
            let range = example.attribute.cover(example.range(&list(&left)));
            assert_eq!(example.attribute.label(range), label, "{left}");
            let cell = Some(label.as_str()).filter(|label| !label.is_empty());
            example.assert_covers(ReleasedCell::Label(cell), range);
        }
    }
}

#[test]
fn middles_are_written_by_the_engine_and_computed_anew_by_the_audit() {
    for block in blocks("center") {
        let example = example(&block);
        let Domain::Ordered(ordered) = &example.attribute.domain else {
            panic!("middles are of ordered columns")
        };
        for (left, right) in pairs(&block) {
            let range = example.attribute.cover(example.range(&list(&left)));
            let columns = bounds(&example.attribute, ordered, &[range], Publish::Center).unwrap();
            let texts: Vec<String> = columns
                .iter()
                .map(|column| {
                    let texts = cast(&column.cells, &DataType::Utf8).unwrap();
                    texts.as_string::<i32>().iter().next().unwrap().unwrap_or("").to_string()
                })
                .collect();
            let expected: Vec<String> = list(&right).into_iter().flatten().collect();
            assert_eq!(texts, expected, "{left}");
            let [min, max, center] =
                [0, 1, 2].map(|at| Some(texts[at].as_str()).filter(|text| !text.is_empty()));
            assert!(is_middle(min, max, center), "{right}");
        }
    }
}

#[test]
fn bounds_are_written_by_the_engine_and_read_by_the_audit() {
    for block in blocks("bounds") {
        let example = example(&block);
        let Domain::Ordered(ordered) = &example.attribute.domain else {
            panic!("bounds are of ordered columns")
        };
        for (left, right) in pairs(&block) {
            let range = example.attribute.cover(example.range(&list(&left)));
            let columns = bounds(&example.attribute, ordered, &[range], Publish::Bounds).unwrap();
            let texts: Vec<String> = columns
                .iter()
                .map(|column| {
                    cast(&column.cells, &DataType::Utf8)
                        .unwrap()
                        .as_string::<i32>()
                        .iter()
                        .next()
                        .unwrap()
                        .unwrap_or("")
                        .to_string()
                })
                .collect();
            let expected: Vec<String> = list(&right).into_iter().flatten().collect();
            assert_eq!(texts, expected, "{left}");
            let text =
                |at: usize| texts.get(at).map(String::as_str).filter(|text| !text.is_empty());
            example.assert_covers(
                ReleasedCell::Bounds { min: text(0), max: text(1), missing: text(2) },
                range,
            );
        }
    }
}

#[test]
fn hierarchy_files_are_read_alike() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("h.csv");
    let spellings = spellings();
    for block in blocks("hierarchy") {
        let (file, expected) = block.split_once("\n\n").unwrap();
        std::fs::write(&path, format!("{file}\n")).unwrap();
        let rows = hierarchy::read_for(&path, &spellings).unwrap();
        let values: Vec<Option<String>> = expected
            .lines()
            .map(|line| {
                Some(line.rsplit_once(": ").unwrap().0.to_string())
                    .filter(|value| value != "(missing)")
            })
            .collect();
        let tree = hierarchy::taxonomy(&rows, "a", &values, &vec![0; values.len()]).unwrap();
        let request = HierarchySpec::File(path.clone());
        let hierarchy = open(&request, []).unwrap();
        for (value, line) in values.iter().zip(expected.lines()) {
            let labels: Vec<&str> = line.rsplit_once(": ").unwrap().1.split(" / ").collect();
            let leaf = tree.codes(std::slice::from_ref(value))[0].unwrap();
            let path: Vec<&str> =
                std::iter::successors(tree.parent(leaf), |&node| tree.parent(node))
                    .map(|node| tree.label(node))
                    .collect();
            assert_eq!(path, labels, "the engine: {line}");
            let read = match value {
                Some(text) => hierarchy.labels(text),
                None => match &hierarchy {
                    AuditHierarchy::File(lines) => {
                        lines.lines[lines.find_missing(&spellings).unwrap()].1.clone()
                    }
                    _ => panic!("a file"),
                },
            };
            assert_eq!(read, labels, "the audit: {line}");
        }
    }
}
