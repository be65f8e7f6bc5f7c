//! Who may use whom: the borders that keep the judge from the player and the layers apart.

use std::path::Path;

/// For each module, what it may use of the crate beside `error`, `code` and itself.
const MAY_USE: [(&str, &[&str]); 38] = [
    ("ratio", &[]),
    ("table", &[]),
    ("rng", &[]),
    ("budget", &["partition"]),
    ("partition", &[]),
    ("taxonomy", &[]),
    ("privacy", &["ratio"]),
    ("request", &["ratio"]),
    ("hierarchy", &["request", "taxonomy"]),
    ("io", &["table"]),
    ("attribute", &["hierarchy", "taxonomy"]),
    ("encode", &["attribute", "request", "hierarchy", "table", "taxonomy"]),
    ("watched", &["request", "encode", "hierarchy", "privacy", "ratio", "table", "taxonomy"]),
    ("scheme", &["attribute", "taxonomy"]),
    ("guard", &[]),
    ("ground", &["attribute", "partition", "privacy", "problem", "scheme"]),
    ("tuples", &["rng", "table"]),
    (
        "problem",
        &[
            "tuples",
            "scheme",
            "attribute",
            "request",
            "encode",
            "partition",
            "privacy",
            "ratio",
            "rng",
            "table",
            "watched",
        ],
    ),
    ("penalty", &["attribute", "taxonomy"]),
    ("boxes", &["penalty"]),
    ("nearest", &["boxes", "rng"]),
    ("halve", &["boxes", "partition", "penalty", "problem", "rng"]),
    ("descent", &["attribute", "taxonomy"]),
    (
        "algorithm",
        &[
            "attribute",
            "boxes",
            "budget",
            "descent",
            "ground",
            "scheme",
            "halve",
            "nearest",
            "partition",
            "penalty",
            "privacy",
            "problem",
            "rng",
        ],
    ),
    ("recode", &["attribute", "partition", "problem", "scheme"]),
    (
        "recoding_file",
        &["attribute", "audit", "request", "encode", "partition", "problem", "recode", "scheme"],
    ),
    ("suppress", &["algorithm", "budget", "partition", "privacy", "problem", "rng"]),
    ("loss", &["attribute", "partition", "problem", "recode", "scheme"]),
    ("bound", &["boxes", "budget", "penalty", "problem", "rng"]),
    ("anonymize", &["algorithm", "budget", "partition", "problem", "recode", "rng", "suppress"]),
    ("show", &["attribute", "request", "encode", "partition", "problem", "recode", "taxonomy"]),
    ("release", &["request", "guard", "partition", "problem", "recode", "rng", "show", "table"]),
    ("disclosure", &["request", "table"]),
    ("audit", &["request", "ratio", "table"]),
    ("query", &["attribute", "audit", "request", "encode", "rng", "table", "taxonomy"]),
    ("profile", &["request", "encode", "table"]),
    ("proof", &["audit", "problem", "recode", "release"]),
    ("synthetic", &["rng"]),
];

/// The code of a file: what stands before its tests.
fn code(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    let tests = text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len());
    text[..tests]
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect::<Vec<_>>()
        .join("\n")
}

fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut all: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    all.sort();
    let (folders, mut files): (Vec<_>, Vec<_>) = all.into_iter().partition(|path| path.is_dir());
    files.extend(folders.iter().flat_map(|folder| self::files(folder)));
    files
}

#[test]
fn modules_use_only_what_lies_below_them() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut seen = Vec::new();
    for path in files(&source) {
        let inside = path.strip_prefix(&source).unwrap().with_extension("");
        let module = inside.iter().next().unwrap().to_str().unwrap();
        let is_test = inside.iter().any(|part| part.to_str().unwrap().contains("test"));
        if ["lib", "error", "code"].contains(&module) || is_test {
            continue;
        }
        seen.push(module.to_string());
        let (_, allowed) = MAY_USE
            .iter()
            .find(|(name, _)| *name == module)
            .unwrap_or_else(|| panic!("{module} has no line here"));
        let code = code(&path);
        for (at, _) in code.match_indices("crate::") {
            let rest = &code[at + "crate::".len()..];
            let used: String =
                rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            let known = ["error", "code", module].contains(&used.as_str())
                || allowed.contains(&used.as_str());
            assert!(known, "{}: {module} uses {used}", path.display());
        }
    }
    for (module, _) in MAY_USE {
        assert!(seen.iter().any(|name| name == module), "{module} is gone: delete its line");
    }
}

#[test]
fn algorithms_do_not_know_each_other_and_only_io_knows_files() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for path in files(&source.join("algorithm")) {
        // Those that are made of others.
        let is_made_of_others = ["auto.rs", "cells.rs"]
            .iter()
            .any(|name| path.ends_with(Path::new("algorithm").join(name)));
        if path.file_name().unwrap() != "mod.rs" && !is_made_of_others {
            let code = code(&path);
            // The files of one algorithm may know each other: only from above their folder come
            // others.
            let is_alone = path.parent().unwrap().ends_with("algorithm");
            let from = if is_alone { "super::" } else { "super::super::" };
            let uses_another = code
                .match_indices(from)
                .any(|(at, _)| code[at + from.len()..].starts_with(|c: char| c.is_lowercase()));
            assert!(!uses_another, "{} uses another algorithm", path.display());
        }
    }
    for path in files(&source) {
        let inside = path.strip_prefix(&source).unwrap();
        if !inside.starts_with("io") {
            let code = code(&path);
            for word in ["parquet::", "arrow_csv::", "arrow_ipc::", "File::create", "println!"] {
                assert!(!code.contains(word), "{} has {word}", path.display());
            }
        }
    }
}

#[test]
fn files_stay_short_enough_to_read() {
    for folder in ["src", "../lookalike-cli/src"] {
        for path in files(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)) {
            let lines = code(&path).lines().filter(|line| !line.trim().is_empty()).count();
            let is_test =
                path.components().any(|part| part.as_os_str().to_str().unwrap().contains("test"));
            assert!(is_test || lines <= 400, "{}: {lines} lines of code", path.display());
        }
    }
}

#[test]
fn every_algorithm_has_its_row_in_the_readme() {
    let readme =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md"))
            .unwrap();
    for algorithm in lookalike::Algorithm::ALL {
        assert!(
            readme.contains(&format!("| `{algorithm}` |")),
            "{algorithm} has no row in README.md"
        );
    }
}
