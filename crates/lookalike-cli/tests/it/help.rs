//! The help texts, word by word: `UPDATE=1 cargo test help` rewrites them.

use std::path::Path;

use crate::workdir::Workdir;

fn is_as_before(name: &str, text: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/snapshots").join(name);
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&file, text).unwrap();
    }
    let before = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(before == text, "{name} differs: look at it, then UPDATE=1\n{text}");
}

#[test]
fn help_texts_are_as_before() {
    let dir = Workdir::new();
    is_as_before("help.txt", &dir.succeed("--help").stdout);
    is_as_before("anonymize.txt", &dir.succeed("anonymize --help").stdout);
    is_as_before("compare.txt", &dir.succeed("compare --help").stdout);
    is_as_before("report.txt", &dir.succeed("report --help").stdout);
    is_as_before("query.txt", &dir.succeed("query --help").stdout);
}

#[test]
fn every_command_has_help_and_none_is_an_error() {
    let dir = Workdir::new();
    for command in [
        "init",
        "check",
        "anonymize",
        "apply",
        "verify",
        "query",
        "compare",
        "report",
        "reproduce",
        "demo",
        "hierarchy",
        "hierarchy new prefix",
        "synth",
        "completions",
        "man",
    ] {
        assert!(
            dir.succeed(&format!("{command} --help")).stdout.contains("Usage: lookalike"),
            "{command}"
        );
    }
    let run = dir.run("");
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("Usage: lookalike"), "{}", run.stderr);
}

#[test]
fn completions_and_the_manual_are_printed() {
    let dir = Workdir::new();
    for shell in ["bash", "zsh", "fish"] {
        assert!(
            dir.succeed(&format!("completions {shell}")).stdout.contains("anonymize"),
            "{shell}"
        );
    }
    assert!(dir.succeed("man").stdout.contains(".TH lookalike"));
    assert!(dir.succeed("--version").stdout.starts_with("lookalike "));
}
