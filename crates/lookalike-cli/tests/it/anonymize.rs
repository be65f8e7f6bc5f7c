use std::io::Write;
use std::process::Stdio;

use crate::workdir::{Workdir, ended, patients};

const FLAGS: &str = "-k 5 --qi age,zip,sex --sensitive diagnosis --rest drop --hierarchy zip=prefix:4,3 --seed 7 --steps 300";

#[test]
fn a_release_is_written_verified_and_summed_up() {
    let dir = Workdir::with_patients(500);
    let run = dir.succeed(&format!("anonymize patients.csv -o out.csv {FLAGS} --l diagnosis=2"));
    assert_eq!(run.stdout, "");
    for line in [
        "rows      500 read, 500 released (none suppressed)\n",
        "loss      ",
        "-anonymous for these columns: age, zip, sex\n",
        "ok      k = 5 (smallest class ",
        "ok      l = 2 on diagnosis (least size over the commonest value 2)\n",
        "written   out.csv\n",
    ] {
        assert!(run.stderr.contains(line), "{line}\n{}", run.stderr);
    }
    assert!(dir.text("out.csv").starts_with("age,zip,sex,diagnosis\n"));
    assert_eq!(dir.text("out.csv").lines().count(), 501);
    assert_eq!(
        dir.succeed(&format!(
            "anonymize patients.csv -o quiet.csv {FLAGS} --l diagnosis=2 --quiet"
        ))
        .stderr,
        ""
    );
}

#[test]
fn warnings_are_told_and_counted() {
    let dir = Workdir::with_patients(500);
    let run = dir.succeed(&format!("anonymize patients.csv -o out.csv {FLAGS} --json"));
    assert!(
        run.stderr.starts_with("warning: column `diagnosis` is sensitive but no rule protects it"),
        "{}",
        run.stderr
    );
    let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(report["warnings"].as_array().unwrap().len(), 1);
}

#[test]
fn json_has_the_documented_keys_and_no_seed() {
    let dir = Workdir::with_patients(500);
    let run =
        dir.succeed(&format!("anonymize patients.csv -o out.csv {FLAGS} --suppress 2% --json"));
    let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let mut keys: Vec<&str> = report.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    let mut documented = vec![
        "version",
        "input_rows",
        "released",
        "suppressed",
        "classes",
        "algorithm",
        "bound",
        "status",
        "loss",
        "shown",
        "optimum",
        "rules",
        "non_homogeneous",
        "measures",
        "warnings",
        "guarded_cells",
        "times",
        "truth",
        "tuples",
        "unique_rows",
        "coded_bytes",
        "output",
        "persons",
        "published_loss",
        "purpose",
    ];
    documented.sort_unstable();
    assert_eq!(keys, documented);
    assert_eq!(report["version"], 1);
    assert_eq!(report["input_rows"], 500);
    assert_eq!(report["released"].as_u64().unwrap() + report["suppressed"].as_u64().unwrap(), 500);
    assert_eq!(report["status"], "heuristic");
    assert_eq!(report["rules"][0]["violations"], 0);
    assert!(report["measures"]["risk"]["highest"].as_f64().unwrap() <= 0.2);
    assert!(
        report["loss"]["by_attribute"]["zip"].is_number()
            && report["loss"]["gcp"].as_f64().unwrap() < 1.0
    );
    for stage in ["read", "encode", "search", "write", "verify"] {
        assert!(report["times"][stage].is_number(), "{stage}");
    }
}

#[test]
fn the_bytes_depend_on_the_table_alone() {
    let dir = Workdir::with_patients(2_000);
    let mut rows: Vec<String> = patients(2_000).lines().map(String::from).collect();
    rows[1..].reverse();
    rows[1..].rotate_left(777);
    dir.write("shuffled.csv", rows.join("\n"));
    for algorithm in ["mondrian", "mondrian-relaxed"] {
        let release = |data: &str, more: &str| {
            dir.succeed(&format!("anonymize {data} -o out.csv --force {FLAGS} --suppress 1% --algorithm {algorithm} {more}"));
            dir.read("out.csv")
        };
        let once = release("patients.csv", "--threads 1");
        assert!(once == release("patients.csv", "--threads 1"), "{algorithm}: twice");
        assert!(once == release("patients.csv", "--threads 2"), "{algorithm}: threads");
        assert!(once == release("shuffled.csv", "--threads 2"), "{algorithm}: order of the rows");
    }
}

#[test]
fn standard_input_to_standard_output_is_the_same() {
    let dir = Workdir::with_patients(500);
    dir.succeed(&format!("anonymize patients.csv -o out.csv {FLAGS}"));
    for out in ["-o -", ""] {
        let mut command = dir.command(&format!("anonymize - {out} {FLAGS}"));
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(&dir.read("patients.csv")).unwrap();
        let run = ended(&child.wait_with_output().unwrap());
        assert_eq!(run.code, Some(0), "{run:?}");
        assert!(run.stdout == dir.text("out.csv"));
    }
    assert_eq!(std::fs::read_dir(dir.path("tmp")).unwrap().count(), 0);
}

#[test]
fn a_configuration_says_it_all_and_flags_win_over_it() {
    let dir = Workdir::with_patients(500);
    std::fs::create_dir(dir.path("conf")).unwrap();
    dir.write(
        "conf/c.toml",
        "k = 5\nrest = \"drop\"\n[input]\npath = \"../patients.csv\"\n[output]\npath = \"../out.csv\"\n[columns]\nage = { role = \
         \"quasi\" }\nsex = { role = \"quasi\", hierarchy = \"sex.csv\" }\ndiagnosis = { role = \"sensitive\", l = 2 }\n",
    );
    dir.write("conf/sex.csv", "female;any\nmale;any\n");
    let first = dir.json("anonymize -c conf/c.toml --json");
    assert_eq!(first["rules"].as_array().unwrap().len(), 2);
    assert!(dir.text("out.csv").starts_with("age,sex,diagnosis\n"));
    let second = dir.json("anonymize -c conf/c.toml --json -k 20 --keep sex -o other.csv");
    assert!(second["rules"][0]["rule"].as_str().unwrap().starts_with("k = 20 on age"));
    assert!(dir.text("other.csv").contains(",female,"), "a kept column is published as it is");
}

#[test]
fn a_spent_budget_still_gives_a_verified_release() {
    let dir = Workdir::with_patients(500);
    let report = dir.json(&format!(
        "anonymize patients.csv -o out.csv {FLAGS} --algorithm mondrian --time 0s --json"
    ));
    assert_eq!(report["status"], "stopped");
    assert_eq!(report["released"], 500);
    // To use up its time is what auto is for, however little that is.
    let report =
        dir.json(&format!("anonymize patients.csv -o out.csv {FLAGS} --time 0s --json --force"));
    assert_eq!((&report["status"], &report["released"]), (&"heuristic".into(), &500.into()));
}

#[test]
fn formulas_are_guarded_in_csv_unless_asked_otherwise() {
    let dir = Workdir::new();
    let rows: String = (0..40).map(|i| format!("{},=cmd{}\n", 20 + i / 10, i % 4)).collect();
    dir.write("t.csv", format!("age,text\n{rows}"));
    let flags = "--qi age --keep text -k 5";
    let run = dir.succeed(&format!("anonymize t.csv -o out.csv {flags}"));
    assert!(run.stderr.contains("40 text cells began like a formula"), "{}", run.stderr);
    assert!(dir.text("out.csv").contains(",'=cmd0\n"));
    dir.succeed(&format!("verify out.csv {flags} --source t.csv"));
    dir.succeed(&format!("anonymize t.csv -o raw.csv {flags} --raw-formulas"));
    assert!(dir.text("raw.csv").contains(",=cmd0\n"));
}

/// A run that was killed leaves a file without a lock; one that is alive has locked its file.
#[cfg(unix)]
#[test]
fn the_files_of_a_killed_run_are_named_and_stay() {
    let dir = Workdir::with_patients(60);
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(60);
    let [killed, alive] = [".lookalike-killed", ".lookalike-alive"].map(|name| {
        let file = std::fs::File::create(dir.path(name)).unwrap();
        file.set_modified(old).unwrap();
        file
    });
    drop(killed);
    alive.lock().unwrap();
    let flags = "--qi age,zip --rest drop -k 5 --algorithm mondrian --quiet";
    for (line, code) in [
        (format!("anonymize patients.csv -o out.csv {flags}"), 0),
        (format!("anonymize patients.csv -o out.csv {flags} --qi agee --force"), 2),
        ("init patients.csv -o new.toml".into(), 0),
        ("synth hospital --rows 10 -o s.csv".into(), 0),
    ] {
        let run = dir.run(&line);
        assert_eq!(run.code, Some(code), "{line}\n{run:?}");
        assert_eq!(run.stderr.matches(".lookalike-killed").count(), 1, "{line}\n{}", run.stderr);
        assert!(!run.stderr.contains("alive"), "{line}\n{}", run.stderr);
    }
    assert!(dir.path(".lookalike-killed").exists() && dir.path(".lookalike-alive").exists());
    drop(alive);
}

#[test]
fn input_order_and_bounds_are_kept_when_asked_for() {
    let dir = Workdir::with_patients(100);
    dir.succeed(&format!("anonymize patients.csv -o out.csv {FLAGS} --input-order"));
    let diagnoses = |text: &str| -> Vec<String> {
        text.lines().skip(1).map(|line| line.split(',').nth_back(0).unwrap().into()).collect()
    };
    let source: Vec<String> =
        patients(100).lines().skip(1).map(|line| line.split(',').nth(4).unwrap().into()).collect();
    assert_eq!(diagnoses(&dir.text("out.csv")), source);
    dir.succeed(&format!("anonymize patients.csv -o bounds.csv {FLAGS} --publish bounds"));
    assert!(dir.text("bounds.csv").starts_with("age_min,age_max,"));
}

#[test]
fn a_kept_column_that_determines_a_quasi_identifier_needs_a_decision() {
    let dir = Workdir::new();
    let rows: String = (0..200).map(|i| format!("{},{}\n", 20 + i % 20, 2004 - i % 20)).collect();
    dir.write("t.csv", format!("age,born\n{rows}"));
    let run = dir.run("anonymize t.csv -o out.csv --qi age --keep born -k 15");
    assert_eq!(run.code, Some(2));
    assert!(
        run.stderr.contains("column `born` is kept but determines the quasi-identifier `age`"),
        "{}",
        run.stderr
    );
    dir.succeed("anonymize t.csv -o out.csv --qi age --keep born -k 15 --accept-dependent born");
}

/// Wong et al. 2006, lemma 1: no release can have a smaller alpha than the frequency of the value
/// in the table.
#[test]
fn an_alpha_below_the_frequency_is_refused_and_the_alpha_that_is_named_can_be_typed() {
    let dir = Workdir::new();
    let table = |sick: usize, rows: usize| {
        let illness =
            |i: usize| if i < sick { "HIV".to_string() } else { format!("other{}", i % 9) };
        let lines: String = (0..rows).map(|i| format!("{},{}\n", i % 40, illness(i))).collect();
        format!("age,ill\n{lines}")
    };
    let asked = |alpha: &str, values: &str| {
        dir.run(&format!("anonymize t.csv -o out.csv --force --quiet --qi age --sensitive ill -k 2 --alpha ill={alpha} {values}"))
    };
    for (sick, rows, less, named) in [
        (29, 100, "0.28", ["29/100", "0.29"]),
        (33, 99, "0.333333", ["1/3", "0.333334"]),
        (7, 11, "0.6", ["7/11", "0.636364"]),
    ] {
        dir.write("t.csv", table(sick, rows));
        for values in ["--values ill=HIV", ""] {
            let run = asked(less, values);
            assert_eq!(run.code, Some(1), "{run:?}");
            let reported = format!("the smallest feasible alpha is {} (or {})", named[0], named[1]);
            assert!(
                run.stderr.contains(&reported) && !run.stderr.contains("HIV"),
                "{}",
                run.stderr
            );
            for alpha in named {
                assert_eq!(asked(alpha, values).code, Some(0), "{alpha} {values}");
            }
        }
        // A set of values is counted together.
        let run = asked(less, "--values ill=HIV,other1");
        assert!(run.code == Some(1) && run.stderr.contains("the named values fill "), "{run:?}");
    }
}
