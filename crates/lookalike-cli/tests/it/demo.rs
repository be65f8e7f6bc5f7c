use crate::workdir::Workdir;

#[test]
fn it_shows_both_tables_in_eighty_columns_and_can_be_run_again() {
    let dir = Workdir::new();
    let run = dir.succeed("demo");
    assert!(run.stdout.lines().all(|line| line.chars().count() <= 80), "{}", run.stdout);
    for part in [
        "A made-up table of 2,000 patients",
        "Hanna W.",
        "released with k = 5",
        "rows in a class",
        "(typical rows)",
        "Loss: ",
        "ok      k = 5",
        "What these mean:",
        "  NCP  ",
    ] {
        assert!(run.stdout.contains(part), "{part}\n{}", run.stdout);
    }
    // Typical rows have lost little: no line of theirs has two cells `*`.
    let (_, shown) = run.stdout.split_once("(typical rows):\n\n").unwrap();
    let shown: Vec<&str> = shown.lines().skip(1).take_while(|line| !line.is_empty()).collect();
    assert!(shown.len() == 6, "{shown:?}");
    assert!(shown.iter().all(|row| row.matches(" * ").count() < 2), "{shown:?}");
    let release = dir.read("lookalike-demo/safe.csv");
    assert_eq!(dir.succeed("demo").stdout, run.stdout);
    assert!(release == dir.read("lookalike-demo/safe.csv"));
    assert_eq!(std::fs::read_dir(dir.path("lookalike-demo")).unwrap().count(), 3);
}

#[test]
fn the_command_it_suggests_succeeds() {
    let dir = Workdir::new();
    let run = dir.succeed("demo --rows 300 --seed 5 -o here");
    let (_, next) = run.stdout.split_once("Try next:\n  lookalike ").unwrap();
    for line in next.lines().map(|line| line.trim().trim_start_matches("lookalike ")).take(2) {
        assert!(line.ends_with(" -c here/lookalike.toml"), "{line}");
        let run = dir.succeed(line);
        if line.starts_with("verify") {
            let said = "checked   here/safe.csv against here/patients.csv, as in the configuration";
            assert!(run.stdout.starts_with(said), "{}", run.stdout);
        }
    }
    assert!(dir.text("report.html").contains("SHA-256"));
}
