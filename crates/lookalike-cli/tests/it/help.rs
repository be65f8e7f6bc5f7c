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
        "explain",
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

/// Every command of the help has a page, and a page has every flag of its command's help.
#[test]
fn every_command_has_a_manual_page_with_its_flags() {
    let dir = Workdir::new();
    std::fs::create_dir(dir.path("man1")).unwrap();
    dir.succeed("man --to man1");
    let mut commands = vec![String::new()];
    let mut pages = 0;
    while let Some(command) = commands.pop() {
        let help = dir.succeed(&format!("{command} --help")).stdout;
        let name = format!("lookalike {command}").trim().replace(' ', "-");
        let page = dir.text(&format!("man1/{name}.1"));
        assert_eq!(page, dir.succeed(&format!("man {command}")).stdout, "{name}");
        assert!(page.contains(&format!(".TH {name} 1")), "{name}: {page}");
        let page = page.replace("\\-", "-");
        let words = |line: &'_ str| {
            let words = line.split([' ', ',']).filter(|word| !word.is_empty());
            words.take_while(|word| word.starts_with('-')).map(String::from).collect::<Vec<_>>()
        };
        let is_flag = |word: &String| word.len() > 1 && !word.starts_with("---");
        let flags = help.lines().flat_map(words).filter(is_flag);
        for flag in flags {
            let flag = flag.split(['=', '[']).next().unwrap();
            assert!(page.contains(flag), "{name} does not have {flag}:\n{page}");
        }
        pages += 1;
        let listed = help.split_once("Commands:\n").map_or("", |(_, after)| after);
        let below = listed.lines().take_while(|line| line.starts_with("  "));
        let below = below.filter(|line| !line.starts_with("   "));
        let below = below.filter_map(|line| line.split_whitespace().next());
        let is_page = |name: &&str| *name != "help";
        commands
            .extend(below.filter(is_page).map(|name| format!("{command} {name}").trim().into()));
    }
    let files =
        dir.files().iter().filter(|file| file.extension().is_some_and(|end| end == "1")).count();
    assert!(pages > 18 && files == pages, "{files} files, {pages} pages");
    let again = dir.run("man --to man1");
    assert!(again.code == Some(2) && again.stderr.contains("exists"), "{again:?}");
    dir.succeed("man --to man1 --force");
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
    assert!(
        dir.succeed("man hierarchy new prefix")
            .stdout
            .contains(".TH lookalike-hierarchy-new-prefix")
    );
    assert!(dir.succeed("--version").stdout.starts_with("lookalike "));
}
