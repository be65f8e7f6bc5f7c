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
        "Loss: ",
        "ok      k = 5",
    ] {
        assert!(run.stdout.contains(part), "{part}\n{}", run.stdout);
    }
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
    let line = next.lines().take(2).collect::<Vec<_>>().join(" ").replace('\\', " ");
    assert!(line.starts_with("verify here/safe.csv"), "{line}");
    dir.succeed(&line);
}
