//! The error messages in the source: the string literals in calls that make errors.
//!
//! This reads text, not syntax trees: string literals, comments and brackets are all that it knows.
//! A message is a literal inside `Error::data(..)`, `usage(..)`, `Err(..)`, `ok_or(..)` and the
//! like, or behind `why =`, `let reason =` or `Hint::`. A constant in such a place counts with its own
//! literal. The library's words for hints are no messages of the command line, which has its own.

use std::path::{Path, PathBuf};

/// Calls whose arguments are messages.
const CALLS: [&str; 19] = [
    "Error::request(",
    "Error::data(",
    "Error::infeasible(",
    "Error::hierarchy(",
    "Error::exhausted(",
    "usage(",
    "show::bug(",
    "Err(",
    "ok_or(",
    "ok_or_else(",
    "map_err(",
    "bad(",
    "unfit(",
    "why:",
    "why =",
    "let reason =",
    "because(",
    "Warning::new(",
    "Hint::",
];
/// Calls inside them whose literals are no messages.
const NO_MESSAGES: [&str; 6] = [".expect(", ".split(", ".join(", ".contains(", ".replace(", "at("];
/// A fragment with fewer letters says too little to be looked for.
const LEAST_LETTERS: usize = 8;

/// A message in the source.
#[derive(Debug)]
pub(super) struct MessageSite {
    /// The path from the folder `crates`.
    pub(super) file: String,
    pub(super) line: usize,
    pub(super) function: String,
    pub(super) text: String,
    /// The longest part between placeholders.
    pub(super) fragments: Vec<String>,
}

/// All messages of library, reports, laboratory and command line.
pub(super) fn message_sites() -> Vec<MessageSite> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    for name in ["lookalike", "lookalike-report", "lookalike-lab", "lookalike-cli"] {
        list(&crates.join(name).join("src"), &mut files);
    }
    files.sort();
    let mut sites = Vec::new();
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap();
        let file = path.strip_prefix(&crates).unwrap().display().to_string();
        sites.extend(sites_of(&file, &text));
    }
    sites
}

fn list(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && name != "tests" {
            list(&path, files);
        } else if name.ends_with(".rs") && !["tests.rs", "hint.rs"].contains(&name.as_str()) {
            files.push(path);
        }
    }
}

/// A string literal: where it begins, and its text.
struct Literal {
    from: usize,
    text: String,
}

fn sites_of(file: &str, text: &str) -> Vec<MessageSite> {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let (literals, code) = literals(text);
    let mut spans = Vec::new();
    for call in CALLS {
        for (at, _) in code.match_indices(call) {
            let before = code[..at].chars().next_back().unwrap_or(' ');
            if !before.is_alphanumeric() && before != '_' {
                spans.push(span(&code, at + call.len(), call.ends_with('(')));
            }
        }
    }
    let is_message = |from: usize| {
        let before = code[..from].trim_end();
        spans.iter().any(|(begin, end)| (begin..end).contains(&&from))
            && !NO_MESSAGES.iter().any(|call| before.ends_with(call))
    };
    let constant = |name: &str| {
        let at = code.find(&format!("const {name}:"))?;
        literals.iter().find(|literal| literal.from > at)
    };
    let mut found: Vec<(usize, &str)> = literals
        .iter()
        .filter(|literal| is_message(literal.from))
        .map(|literal| (literal.from, literal.text.as_str()))
        .collect();
    for (begin, end) in &spans {
        let words = code[*begin..*end].split(|c: char| !c.is_alphanumeric() && c != '_');
        let is_constant = |word: &&str| word.len() > 2 && *word == word.to_uppercase();
        for literal in words.filter(is_constant).filter_map(constant) {
            found.push((literal.from, literal.text.as_str()));
        }
    }
    found.sort_unstable();
    found.dedup();
    found.into_iter().filter_map(|(from, message)| site(file, text, from, message)).collect()
}

fn site(file: &str, text: &str, from: usize, message: &str) -> Option<MessageSite> {
    let longest = fragments(message).into_iter().max_by_key(String::len)?;
    let letters = longest.chars().filter(|c| c.is_alphabetic()).count();
    if letters < LEAST_LETTERS || !longest.contains(' ') {
        return None;
    }
    let before = &text[..from];
    let function = before.rsplit("fn ").next().unwrap_or_default();
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    Some(MessageSite {
        file: file.to_string(),
        line: before.lines().count(),
        function: function.split(|c| !is_name(c)).next().unwrap_or_default().to_string(),
        text: message.to_string(),
        fragments: vec![longest],
    })
}

/// The parts between placeholders, without double blanks.
fn fragments(message: &str) -> Vec<String> {
    let (mut parts, mut depth) = (vec![String::new()], 0);
    // Doubled braces stand for one.
    let message = message.replace("{{", "\u{1}").replace("}}", "\u{2}");
    for c in message.chars() {
        match c {
            '{' => depth += 1,
            '}' => {
                depth -= 1;
                parts.push(String::new());
            }
            _ if depth > 0 => {}
            '\u{1}' => parts.last_mut().unwrap().push('{'),
            '\u{2}' => parts.last_mut().unwrap().push('}'),
            c => parts.last_mut().unwrap().push(c),
        }
    }
    parts.iter().map(|part| part.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

/// From here to the end of the argument list or of the expression.
fn span(code: &str, from: usize, in_brackets: bool) -> (usize, usize) {
    let mut depth = 0;
    for (at, c) in code[from..].char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' if depth == 0 => return (from, from + at),
            ')' | ']' | '}' => depth -= 1,
            ';' | ',' if depth == 0 && !in_brackets => return (from, from + at),
            _ => {}
        }
    }
    (from, code.len())
}

/// The string literals of a source, and the source with blanks in their place and in the place of
/// comments and characters; both have the same length.
fn literals(text: &str) -> (Vec<Literal>, String) {
    let bytes = text.as_bytes();
    let (mut found, mut code) = (Vec::new(), bytes.to_vec());
    let mut blank = |from: usize, to: usize| {
        code[from..to].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
    };
    let mut at = 0;
    while at < bytes.len() {
        let rest = &text[at..];
        let hashes = rest
            .strip_prefix('r')
            .map_or(0, |rest| rest.len() - rest.trim_start_matches('#').len());
        let is_raw = rest.starts_with('r') && rest[1 + hashes..].starts_with('"');
        let end = if rest.starts_with("//") {
            at + rest.find('\n').unwrap_or(rest.len())
        } else if is_raw && (at == 0 || !bytes[at - 1].is_ascii_alphanumeric()) {
            let begin = at + hashes + 2;
            let close = format!("\"{}", "#".repeat(hashes));
            let length = text[begin..].find(&close).unwrap();
            found.push(Literal { from: at, text: text[begin..begin + length].into() });
            begin + length + close.len()
        } else if rest.starts_with('"') {
            let mut end = at + 1;
            while bytes[end] != b'"' {
                end += if bytes[end] == b'\\' { 2 } else { 1 };
            }
            found.push(Literal { from: at, text: unescaped(&text[at + 1..end]) });
            end + 1
        } else if let Some(behind) = rest.strip_prefix("'\\") {
            at + 2 + behind.find('\'').unwrap() + 1
        } else if rest.starts_with('\'') && rest.chars().nth(2) == Some('\'') {
            at + rest.char_indices().nth(3).map_or(rest.len(), |(end, _)| end)
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
            continue;
        };
        blank(at, end);
        at = end;
    }
    (found, String::from_utf8(code).unwrap())
}

fn unescaped(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        out.push_str(before);
        rest = match after.chars().next() {
            Some('\n') => after.trim_start(),
            Some('n') => {
                out.push('\n');
                &after[1..]
            }
            Some(c) => {
                out.push(c);
                &after[c.len_utf8()..]
            }
            None => after,
        };
    }
    out + rest
}

#[test]
fn literals_comments_and_characters_are_distinguished() {
    let text = "// usage(\"no\")\nfn f() { usage(format!(\"a {x} long \\\n    message \\\"q\\\"\")) }\n\
                const WHY: &str = \"another message here\"; fn g() { Err(WHY) } fn h() { ok('\"') }\n\
                fn i() { let why = r#\"raw \"text\" of it\"#; z.expect(\"not this one, please\") }";
    let sites = sites_of("f.rs", text);
    let texts: Vec<(&str, &str)> =
        sites.iter().map(|site| (site.function.as_str(), site.text.as_str())).collect();
    assert_eq!(
        texts,
        [
            ("f", "a {x} long message \"q\""),
            ("f", "another message here"),
            ("i", "raw \"text\" of it"),
        ]
    );
    assert_eq!(sites[0].fragments, ["long message \"q\""]);
}
