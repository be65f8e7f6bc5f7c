use crate::workdir::{QUICK, Workdir};

const FLAGS: &str =
    "-k 5 --qi age,zip,sex --sensitive diagnosis --identifier name,note --hierarchy zip=prefix:4,3";

#[test]
fn csv_to_parquet_to_verify() {
    let dir = Workdir::with_patients(500);
    for out in ["out.parquet", "out.arrow", "out.csv.zst", "out.tsv"] {
        dir.succeed(&format!("anonymize patients.csv -o {out} {FLAGS} --suppress 1% {QUICK}"));
        let run = dir.succeed(&format!("verify {out} {FLAGS} --suppress 1% --source patients.csv"));
        assert!(run.stdout.contains("ok      k = 5 (smallest class "), "{}", run.stdout);
        assert!(
            run.stdout.ends_with("-anonymous for these columns: age, zip, sex\n"),
            "{}",
            run.stdout
        );
        assert!(run.stdout.contains("against the source"), "{}", run.stdout);
        let found =
            dir.json(&format!("verify {out} {FLAGS} --suppress 1% --source patients.csv --json"));
        assert_eq!((&found["version"], &found["holds"]), (&1.into(), &true.into()));
        assert_eq!(found["truth"]["violations"], 0);
        assert_eq!(found["leaks"].as_array().unwrap().len(), 0);
    }
}

#[test]
fn other_forms_of_publishing_are_verified_too() {
    let dir = Workdir::with_patients(500);
    for form in ["--publish set", "--publish bounds", "--publish label"] {
        dir.succeed(&format!("anonymize patients.csv -o out.csv --force {FLAGS} {form} {QUICK}"));
        dir.succeed(&format!("verify out.csv {FLAGS} --source patients.csv"));
    }
    let snapped = format!("{FLAGS} --hierarchy age=intervals:5,10,20");
    dir.succeed(&format!("anonymize patients.csv -o out.csv --force {snapped} --snap {QUICK}"));
    dir.succeed(&format!("verify out.csv {snapped} --source patients.csv"));
}

#[test]
fn a_release_that_was_touched_does_not_pass() {
    let dir = Workdir::with_patients(500);
    dir.succeed(&format!("anonymize patients.csv -o out.csv {FLAGS} {QUICK}"));
    let good = dir.text("out.csv");
    let mut lines: Vec<&str> = good.lines().collect();
    let unique = "99,99999,male,flu";
    lines[3] = unique;
    dir.write("touched.csv", lines.join("\n"));
    let run = dir.run(&format!("verify touched.csv {FLAGS}"));
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(
        run.stdout.contains("BROKEN  k = 5 by ") && run.stdout.contains("NOT verified"),
        "{}",
        run.stdout
    );
    assert!(run.stdout.contains("\n          - 1 row, 5 needed\n"), "{}", run.stdout);
    assert!(!run.stdout.contains("99999"), "no cell is shown");

    // Every class still holds, but it is not what the source says.
    dir.write("lie.csv", good.replace(",asthma\n", ",flu\n"));
    dir.succeed(&format!("verify lie.csv {FLAGS}"));
    let run = dir.run(&format!("verify lie.csv {FLAGS} --source patients.csv"));
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.stdout.contains("BROKEN"), "{}", run.stdout);
}

#[test]
fn a_column_that_should_not_be_there_is_a_leak() {
    let dir = Workdir::with_patients(500);
    let run = dir.run("verify patients.csv --qi sex --identifier name --rest keep -k 5");
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.stdout.contains("LEAK    identifier `name` is in the release"), "{}", run.stdout);
}

#[test]
fn a_plan_is_verified_against_its_table_of_counts() {
    let dir = Workdir::new();
    dir.write("c.toml", "k = 2\ncount = 'n'\ncolumns.age.role = 'quasi'");
    dir.write("counts.csv", "age,n\n34,1\n37,3\n");
    let plan = "age,published_age,first_row,last_row,suppressed\n34,[34-37],1,1,false\n\
                37,[34-37],1,1,false\n37,37,2,3,false\n";
    dir.write("plan.csv", plan);
    let run = dir.succeed("verify plan.csv --plan-of counts.csv -c c.toml");
    assert!(run.stdout.contains("every tuple is cut into pieces"), "{}", run.stdout);
    assert!(run.stdout.ends_with("2-anonymous for these columns: age\n"), "{}", run.stdout);
    for (from, to) in [("2,3", "3,3"), ("37,37,", "37,36,"), ("\n34,[", "\n35,[")] {
        dir.write("plan.csv", plan.replace(from, to));
        let run = dir.run("verify plan.csv --plan-of counts.csv -c c.toml");
        assert_eq!(run.code, Some(1), "{from} {to}: {}", run.stdout);
        assert!(run.stdout.contains("BROKEN"), "{}", run.stdout);
    }
}

#[test]
fn check_and_verify_count_rows_by_a_count_column() {
    let dir = Workdir::new();
    dir.write("c.toml", "k = 2\ncount = 'n'\ncolumns.age.role = 'quasi'");
    dir.write("t.csv", "age,n\n34,2\n37,1\n51,4\n");
    dir.write("safe.csv", "age,n\n[34-37],3\n51,4\n");
    let run = dir.run("check t.csv -c c.toml --json");
    let found: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((&found["measures"]["rows"], &found["measures"]["k"]), (&7.into(), &1.into()));
    dir.succeed("verify safe.csv --source t.csv -c c.toml");
    dir.write("safe.csv", "age,n\n[34-37],4\n51,3\n");
    assert_eq!(dir.run("verify safe.csv --source t.csv -c c.toml").code, Some(1));
}
