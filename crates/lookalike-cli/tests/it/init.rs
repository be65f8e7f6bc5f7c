use crate::workdir::{QUICK, Workdir};

#[test]
fn the_suggestion_is_a_configuration_that_runs() {
    let dir = Workdir::new();
    dir.succeed("synth hospital --rows 600 -o patients.csv");
    let run = dir.succeed("init patients.csv");
    assert!(run.stdout.starts_with("column "), "{}", run.stdout);
    assert!(run.stdout.contains("identifier  \"name\" in its name"), "{}", run.stdout);
    assert!(run.stdout.contains("quasi-identifiers together: age, zip,"), "{}", run.stdout);
    assert!(run.stdout.contains("\n  lookalike anonymize -c lookalike.toml\n"), "{}", run.stdout);
    dir.succeed(&format!("anonymize -c lookalike.toml -o safe.csv {QUICK}"));
    dir.succeed("verify safe.csv -c lookalike.toml --source patients.csv");
    // The release has its name in the configuration, so further commands need no other.
    dir.succeed(&format!("anonymize -c lookalike.toml {QUICK}"));
    dir.succeed("verify -c lookalike.toml");
    dir.succeed("report -c lookalike.toml --queries 0 --bound none");
    assert!(dir.text("lookalike.toml").contains("path = \"patients-safe.csv\""));
}

#[test]
fn an_existing_configuration_needs_force() {
    let dir = Workdir::with_patients(60);
    dir.write("lookalike.toml", "mine");
    let run = dir.run("init patients.csv");
    assert_eq!(run.code, Some(2), "{run:?}");
    assert_eq!(run.stderr, "error: lookalike.toml exists: choose another name or add --force\n");
    assert_eq!(dir.text("lookalike.toml"), "mine");
    dir.succeed("init patients.csv --force");
    assert!(dir.text("lookalike.toml").contains("[columns]"));
}

#[test]
fn elsewhere_and_on_standard_output_it_finds_the_table() {
    let dir = Workdir::with_patients(60);
    std::fs::create_dir(dir.path("conf")).unwrap();
    dir.succeed("init patients.csv -o conf/c.toml");
    dir.succeed(&format!("anonymize -c conf/c.toml -o out.csv {QUICK}"));
    let run = dir.succeed("init patients.csv -o -");
    assert!(
        run.stdout.contains("path = \"patients.csv\"") && run.stderr.contains("column "),
        "{run:?}"
    );
}
