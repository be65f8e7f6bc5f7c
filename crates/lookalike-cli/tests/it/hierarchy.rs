use crate::workdir::{CANARY, Workdir};

#[test]
fn made_hierarchies_are_trees_that_have_every_value() {
    let dir = Workdir::new();
    dir.succeed("synth hospital --rows 300 -o patients.csv");
    for (kind, column) in [
        ("intervals --widths 5,10,20 --origin 1 --bottom 20 --top 80", "age"),
        ("prefix --keep 4,3,2", "zip"),
        ("date --units month,quarter,year", "admission"),
    ] {
        let run = dir.succeed(&format!(
            "hierarchy new {kind} --data patients.csv --column {column} -o {column}.csv"
        ));
        assert!(run.stderr.starts_with(&format!("wrote {column}.csv: ")), "{}", run.stderr);
        let run = dir.succeed(&format!(
            "hierarchy check {column}.csv --data patients.csv --column {column}"
        ));
        assert!(
            run.stdout.contains("a tree of ") && run.stdout.contains("are in the hierarchy"),
            "{}",
            run.stdout
        );
        assert!(dir.succeed(&format!("hierarchy show {column}.csv")).stdout.starts_with("*  ("));
        let flags = format!("-k 5 --qi {column} --rest drop --hierarchy {column}={column}.csv");
        dir.succeed(&format!("anonymize patients.csv -o out.csv --force {flags} --snap"));
        dir.succeed(&format!("verify out.csv {flags} --source patients.csv"));
    }
    assert!(
        dir.text("zip.csv").starts_with("02103;0210*;021**;02***;*\n"),
        "{}",
        dir.text("zip.csv")
    );
}

#[test]
fn a_value_that_is_missing_is_counted_and_shown_only_when_asked_for() {
    let dir = Workdir::new();
    dir.write("t.csv", format!("city\nBonn\n{CANARY}\nKiel\n"));
    dir.write("h.csv", "Bonn;West;*\nKiel;North;*\n");
    let run = dir.run("hierarchy check h.csv --data t.csv --column city");
    assert_eq!(run.code, Some(2));
    assert!(
        run.stdout.contains("1 value of column city is not in the hierarchy")
            && !run.stdout.contains(CANARY),
        "{}",
        run.stdout
    );
    let run = dir.run("hierarchy check h.csv --data t.csv --column city --show-values");
    assert_eq!(run.code, Some(2));
    assert!(run.stdout.ends_with(&format!("\n  {CANARY}\n")), "{}", run.stdout);
    let run = dir.run("hierarchy check h.csv --data t.csv --column town");
    assert_eq!(
        (run.code, &*run.stderr),
        (Some(2), "error: there is no column `town`: list the columns with `lookalike init`\n")
    );
}

#[test]
fn a_file_that_is_no_tree_is_refused() {
    let dir = Workdir::new();
    dir.write("h.csv", "a;X;*\nb;Y;*\na;Y;*\n");
    for line in ["hierarchy check h.csv", "hierarchy show h.csv"] {
        let run = dir.run(line);
        assert_eq!(run.code, Some(2), "{run:?}");
        assert!(run.stderr.starts_with("error: hierarchy h.csv, line 3: "), "{}", run.stderr);
    }
}
