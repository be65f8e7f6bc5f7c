//! Errors as data: every code is documented, and no message of the library names a flag.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};

/// Calls whose first argument is a code, and the heading under which `docs/errors.md` lists it.
const CALLS: [(&str, &str); 7] = [
    ("Error::data(", "data"),
    ("Error::request(", "request"),
    ("Error::hierarchy(", "hierarchy"),
    ("Error::exhausted(", "exhausted"),
    ("Error::infeasible(", "infeasible"),
    ("Warning::new(", "warning"),
    // Only errors of the system get another reason.
    (".because(", "io"),
];

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let is_of_tests = path.file_stem().unwrap().to_str().unwrap().contains("test");
        if path.is_dir() && !is_of_tests {
            files(&path, found);
        } else if path.extension() == Some("rs".as_ref()) && !is_of_tests {
            found.push(path);
        }
    }
}

/// The source files of crates, without tests and comments.
fn sources(names: &[&str]) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    names.iter().for_each(|name| files(&crates().join(name).join("src"), &mut found));
    found.sort();
    let code = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
        let code = lines.collect::<Vec<_>>().join("\n");
        (path, code)
    };
    found.into_iter().map(code).collect()
}

fn is_code(text: &str) -> bool {
    !text.is_empty()
        && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}

/// The text up to the closing quote, if a string literal begins here.
fn literal(text: &str) -> Option<&str> {
    text.trim_start().strip_prefix('"')?.split('"').next()
}

/// The codes in the source, each with the kinds that it has; and calls without a literal code.
fn codes_in(text: &str) -> (Vec<(String, &'static str)>, Vec<String>) {
    let (mut codes, mut without) = (Vec::new(), Vec::new());
    for (call, kind) in CALLS {
        for (at, _) in text.match_indices(call) {
            match literal(&text[at + call.len()..]) {
                Some(code) if is_code(code) => codes.push((code.to_string(), kind)),
                _ => without.push(text[at..].lines().next().unwrap().to_string()),
            }
        }
    }
    (codes, without)
}

/// The codes of the page, each with the kind of its heading.
fn documented() -> Vec<(String, String)> {
    let page = std::fs::read_to_string(crates().join("../docs/errors.md")).unwrap();
    let (mut kind, mut found) = (String::new(), Vec::new());
    for line in page.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            kind = heading.split('`').nth(1).unwrap_or("warning").to_string();
        } else if let Some(row) = line.strip_prefix("| `") {
            found.push((row.split('`').next().unwrap().to_string(), kind.clone()));
        }
    }
    found
}

#[test]
fn the_page_of_errors_has_every_code_once_under_its_kind() {
    let mut used: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for (path, text) in
        sources(&["lookalike", "lookalike-report", "lookalike-lab", "lookalike-cli"])
    {
        let (codes, without) = codes_in(&text);
        // The one place that keeps the code of an error and says more.
        let keeps = path.ends_with("pipeline/publish.rs");
        assert!(keeps || without.is_empty(), "{}: no code in {without:?}", path.display());
        for (code, kind) in codes {
            used.entry(code).or_default().insert(kind);
        }
    }
    // Those that `Error` itself gives.
    let kinds = [
        std::io::ErrorKind::NotFound,
        std::io::ErrorKind::PermissionDenied,
        std::io::ErrorKind::ReadOnlyFilesystem,
        std::io::ErrorKind::IsADirectory,
        std::io::ErrorKind::StorageFull,
        std::io::ErrorKind::BrokenPipe,
        std::io::ErrorKind::Other,
    ];
    for kind in kinds {
        let code = lookalike::Error::io("f", kind.into()).code();
        used.entry(code.to_string()).or_default().insert("io");
    }
    used.entry(lookalike::Error::interrupted().code().into()).or_default().insert("interrupted");
    used.entry(lookalike::Error::not_verified("").code().into())
        .or_default()
        .insert("not-verified");
    assert!(used.len() > 100, "only {} codes were found", used.len());

    let page = documented();
    let names: BTreeSet<&String> = page.iter().map(|(code, _)| code).collect();
    assert_eq!(names.len(), page.len(), "a code is listed twice");
    for (code, kinds) in &used {
        let here: BTreeSet<&str> =
            page.iter().filter(|(name, _)| name == code).map(|(_, kind)| kind.as_str()).collect();
        assert_eq!(&here, kinds, "{code}: on the page and in the source");
    }
    for (code, _) in &page {
        assert!(used.contains_key(code), "{code} is on the page and nowhere in the source");
    }
}

#[test]
fn a_call_without_a_code_is_seen() {
    let (codes, without) =
        codes_in("Error::data(\n    \"no-rows\",\n    why)\nError::request(code, why)");
    assert_eq!((codes, without.len()), (vec![("no-rows".to_string(), "data")], 1));
    assert_eq!(codes_in("Error::data(\"No rows\")").1.len(), 1, "a message is no code");
}

/// The string literals of a file that name a flag or a command.
#[derive(Default)]
struct Flags(Vec<String>);

fn names_flag(text: &str) -> bool {
    let is_flag = |(at, _): (usize, &str)| {
        let before = text[..at].chars().next_back();
        let after = text[at + 2..].chars().next();
        before.is_none_or(|c| !c.is_alphanumeric() && c != '-')
            && after.is_some_and(|c| c.is_ascii_lowercase())
    };
    let others = [" -k ", "(-k ", "`lookalike "];
    text.match_indices("--").any(is_flag) || others.iter().any(|other| text.contains(other))
}

impl<'ast> Visit<'ast> for Flags {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        let is_of_tests = |attribute: &syn::Attribute| {
            attribute.parse_args::<syn::Path>().is_ok_and(|path| path.is_ident("test"))
        };
        if !item.attrs.iter().any(is_of_tests) {
            visit::visit_item_mod(self, item);
        }
    }

    // Documentation may name flags.
    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}

    fn visit_lit_str(&mut self, literal: &'ast syn::LitStr) {
        if names_flag(&literal.value()) {
            self.0.push(literal.value());
        }
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        let text = call.tokens.to_string();
        if names_flag(&text) {
            self.0.push(text);
        }
    }
}

#[test]
fn no_message_of_the_library_names_a_flag_or_a_command() {
    let mut found = Vec::new();
    for (path, _) in sources(&["lookalike", "lookalike-report"]) {
        let mut flags = Flags::default();
        let text = std::fs::read_to_string(&path).unwrap();
        flags.visit_file(&syn::parse_file(&text).expect("the compiler has read it"));
        // A recoding file says by which command it was made.
        flags.0.retain(|text| !text.contains("# A global recoding, made by"));
        found.extend(flags.0.into_iter().map(|text| format!("{}: {text}", path.display())));
    }
    assert!(found.is_empty(), "use a hint:\n{}", found.join("\n"));
}

#[test]
fn a_flag_in_a_literal_or_in_a_macro_is_seen() {
    for text in [
        "fn f() { g(\"add --force\") }",
        "fn f() { format!(\"{x}: say --kind {x}=numeric\") }",
        "const A: &str = \"--rest drop\";",
        "fn f() { g(\"say how many (-k 5)\") }",
    ] {
        let mut flags = Flags::default();
        flags.visit_file(&syn::parse_file(text).unwrap());
        assert_eq!(flags.0.len(), 1, "{text}");
    }
    let text = "/// Use --force.\nfn f() { let x = - - 1; g(\"a -- b\", \"x--y\") }\n\
                #[cfg(test)] mod tests { fn f() { g(\"--force\") } }";
    let mut flags = Flags::default();
    flags.visit_file(&syn::parse_file(text).unwrap());
    assert!(flags.0.is_empty(), "{:?}", flags.0);
}
