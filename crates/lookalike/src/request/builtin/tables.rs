//! The tables of the ready-made hierarchies, and how a value is found in them.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::Builtin;

/// A table as it is embedded: lines of cells, without the header.
fn lines(text: &str) -> Vec<Vec<String>> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let line = |line: csv::Result<csv::StringRecord>| {
        line.expect("an embedded table is CSV").iter().map(str::to_string).collect()
    };
    reader.records().map(line).collect()
}

/// How the groups of a value are found.
pub(super) enum Paths {
    /// By its spelling, in letters and digits alone.
    Names { groups: FxHashMap<String, Vec<String>>, names: Vec<String>, width: usize },
    /// ISCO: by its first digits.
    Digits(BTreeMap<String, String>),
    /// ISCED: by its first digit or its name.
    Levels(Vec<[String; 3]>),
    /// ICD-10: by the block that its category lies in.
    Blocks(Vec<Block>),
}

/// Categories from `first` to `last`.
pub(super) struct Block {
    first: String,
    last: String,
    label: String,
    chapter: String,
}

impl Paths {
    pub(super) fn new(builtin: Builtin) -> Paths {
        match builtin {
            Builtin::Countries => countries(),
            Builtin::UsStates => us_states(),
            Builtin::Isco => {
                let code =
                    |line: Vec<String>| (line[0].clone(), format!("{} {}", line[0], line[1]));
                Paths::Digits(lines(include_str!("isco08.csv")).into_iter().map(code).collect())
            }
            Builtin::Isced => {
                let level = |line: Vec<String>| {
                    [line[0].clone(), format!("{} {}", line[0], line[1]), line[2].clone()]
                };
                Paths::Levels(lines(include_str!("isced.csv")).into_iter().map(level).collect())
            }
            Builtin::Icd10 => {
                let block = |line: Vec<String>| Block {
                    label: if line[0] == line[1] {
                        line[0].clone()
                    } else {
                        format!("{}-{}", line[0], line[1])
                    },
                    chapter: format!("chapter {}", line[2]),
                    first: line[0].clone(),
                    last: line[1].clone(),
                };
                Paths::Blocks(lines(include_str!("icd10.csv")).into_iter().map(block).collect())
            }
        }
    }

    /// The groups of a value, nearest first, with the root; none when the value is not known.
    pub(super) fn path(&self, value: &str) -> Option<Vec<String>> {
        let mut path = match self {
            Paths::Names { groups, width, .. } => groups.get(&spelling(value, *width))?.clone(),
            Paths::Digits(labels) => occupation(labels, value)?,
            Paths::Levels(levels) => level(levels, value)?,
            Paths::Blocks(blocks) => diagnosis(blocks, value)?,
        };
        path.push("*".to_string());
        Some(path)
    }

    /// Values that show the whole of it.
    pub(super) fn examples(&self) -> Vec<String> {
        match self {
            Paths::Names { names, .. } => names.clone(),
            Paths::Digits(labels) => {
                labels.keys().filter(|code| code.len() == 2).cloned().collect()
            }
            Paths::Levels(levels) => levels.iter().map(|[code, ..]| code.clone()).collect(),
            Paths::Blocks(blocks) => blocks.iter().map(|block| block.first.clone()).collect(),
        }
    }
}

/// Countries by codes, numbers, names and other names.
fn countries() -> Paths {
    let (mut groups, mut names) = (FxHashMap::default(), Vec::new());
    let mut by_code: FxHashMap<String, Vec<String>> = FxHashMap::default();
    for line in lines(include_str!("countries.csv")) {
        let path = vec![line[4].clone(), line[5].clone()];
        for text in &line[..4] {
            groups.insert(spelling(text, 3), path.clone());
        }
        by_code.insert(line[0].clone(), path);
        names.push(line[3].clone());
    }
    for line in lines(include_str!("countries_aliases.csv")) {
        // A code or a name goes before another name.
        if let Some(path) = by_code.get(&line[1]) {
            groups.entry(spelling(&line[0], 3)).or_insert_with(|| path.clone());
        }
    }
    Paths::Names { groups, names, width: 3 }
}

fn us_states() -> Paths {
    let (mut groups, mut names) = (FxHashMap::default(), Vec::new());
    for line in lines(include_str!("us-states.csv")) {
        for text in &line[..3] {
            groups.insert(spelling(text, 2), vec![line[3].clone(), line[4].clone()]);
        }
        names.push(line[2].clone());
    }
    Paths::Names { groups, names, width: 2 }
}

/// The letters and digits of a text in lower case; a number with so many digits.
fn spelling(text: &str, width: usize) -> String {
    let kept: String =
        text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    match kept.bytes().all(|byte| byte.is_ascii_digit()) && !kept.is_empty() {
        true => format!("{:0>width$}", kept.trim_start_matches('0')),
        false => kept,
    }
}

/// 2211: 221, its two digits and its first digit with their names. A short code fills the columns
/// of the digits that it has not.
fn occupation(labels: &BTreeMap<String, String>, value: &str) -> Option<Vec<String>> {
    let code = value.trim();
    if code.is_empty() || code.len() > 4 || !code.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let major = labels.get(&code[..1])?.clone();
    let sub_major = match code.get(..2) {
        Some(digits) => labels.get(digits)?.clone(),
        None => value.to_string(),
    };
    let minor = code.get(..3).unwrap_or(value).to_string();
    Some(vec![minor, sub_major, major])
}

/// The level of a code of one to three digits, with or without ISCED before it, or of a name.
fn level(levels: &[[String; 3]], value: &str) -> Option<Vec<String>> {
    let text = spelling(value, 0);
    let code = text.strip_prefix("isced").unwrap_or(&text);
    let written = value.trim_start_matches(|c: char| !c.is_ascii_digit()).trim();
    let is_code = (1..=3).contains(&written.len())
        && written.bytes().all(|byte| byte.is_ascii_digit())
        && code.bytes().all(|byte| byte.is_ascii_digit());
    let found = levels.iter().find(|[digit, label, _]| {
        let name = label.strip_prefix(digit.as_str()).unwrap_or(label);
        if is_code { written.starts_with(digit.as_str()) } else { spelling(name, 0) == text }
    });
    found.map(|[_, label, group]| vec![label.clone(), group.clone()])
}

/// E11.9: E11, its block and its chapter. Marks behind a code (`+`, `*`, `-`, `!`) do not matter.
fn diagnosis(blocks: &[Block], value: &str) -> Option<Vec<String>> {
    let code = value.trim().trim_end_matches(['+', '*', '-', '!', '†']);
    let code = code.to_ascii_uppercase().replacen('.', "", 1);
    let is_code = (3..=7).contains(&code.len())
        && code.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && code.as_bytes()[0].is_ascii_uppercase()
        && code.as_bytes()[1].is_ascii_digit();
    if !is_code {
        return None;
    }
    let category = &code[..3];
    let block = blocks
        .iter()
        .find(|block| block.first.as_str() <= category && category <= block.last.as_str())?;
    Some(vec![category.to_string(), block.label.clone(), block.chapter.clone()])
}
