//! Small faults that hostile tests found.

use std::fmt::Write as _;
use std::io::Write as _;
use std::time::{Duration, Instant};

use crate::workdir::{CANARY, Workdir, ended};

#[test]
fn cells_of_a_first_row_are_in_no_message() {
    let dir = Workdir::new();
    // A number beside a text; no number, but a cell that comes again; the same cell twice.
    let name = CANARY;
    for table in [
        format!("34,{name},Ulm\n35,Bert,Bonn\n36,Carl,Kiel\n"),
        format!("2024-03-17,{name},Ulm\n2024-03-18,Bert,Bonn\n"),
        format!("{name},f,Ulm,1a\nBert,m,Bonn,2b\nCarl,f,Kiel,3c\n"),
        format!("34,{name},{name}\n35,Bert,Bonn\n"),
        format!("{name},f,Ulm\nBert,f,Ulm\n"),
    ] {
        dir.write("t.csv", &table);
        for line in [
            "anonymize t.csv --qi age -k 2 --rest drop -o out.csv",
            "anonymize t.csv --qi f -k 2 -o out.csv",
            "anonymize t.csv --sensitive age -k 2 -o out.csv",
            "check t.csv --qi age",
            "compare t.csv --qi age -k 2",
            "report t.csv t.csv --qi age -k 2 -o r.html",
            "hierarchy new prefix --data t.csv --column zip --keep 2 -o h.csv",
        ] {
            let run = dir.run(line);
            assert!(matches!(run.code, Some(2 | 3)), "{line}\n{table}\n{run:?}");
            assert!(run.stderr.contains("looks like a row"), "{line}\n{table}\n{run:?}");
            assert!(
                !run.stderr.contains(CANARY) && !run.stderr.contains("34"),
                "{line}\n{table}\n{run:?}"
            );
        }
    }
    // Years as names are names all the same, and a request that fits them is met.
    dir.write("t.csv", "city,2019,2020\nUlm,1,2\nUlm,1,2\n");
    dir.succeed("anonymize t.csv --qi city,2019 --rest drop -k 2 -o out.csv --steps 1");
}

#[test]
fn hierarchy_new_can_be_quiet() {
    let dir = Workdir::with_patients(20);
    let run = dir.succeed(
        "hierarchy new prefix --data patients.csv --column zip --keep 4,3 -o zip.csv --quiet",
    );
    assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("", ""));
    assert!(dir.path("zip.csv").exists());
}

#[test]
fn a_hierarchy_of_ten_thousand_levels_is_read_in_seconds() {
    let dir = Workdir::new();
    let mut text = String::new();
    for value in 0..300 {
        write!(text, "v{value}").unwrap();
        (0..10).for_each(|level| write!(text, ";g{value}_{level}").unwrap());
        (10..9_999).for_each(|level| write!(text, ";t{level}").unwrap());
        text += ";*\n";
    }
    dir.write("deep.csv", &text);
    let begun = Instant::now();
    let run = dir.succeed("hierarchy check deep.csv");
    assert!(
        run.stdout.contains("300 values") && run.stdout.contains("10,001 levels"),
        "{}",
        run.stdout
    );
    // Comparing every two labels of a line took more than a minute; the margin is for slow
    // machines.
    assert!(begun.elapsed() < Duration::from_secs(50), "{:?}", begun.elapsed());
    // What is its own ancestor is still found, and the first of it is named.
    dir.write("own.csv", "a;x;y;x;*\n");
    let run = dir.run("hierarchy check own.csv");
    assert!(
        run.code == Some(2) && run.stderr.contains("`x` is its own ancestor in column 4"),
        "{run:?}"
    );
}

#[test]
fn an_input_that_grows_while_ring_reads_it_is_no_bug() {
    let dir = Workdir::new();
    let row = |i: usize| format!("{},{},{}\n", i * 7 % 89, i * 31 % 83, i % 5);
    dir.write("grow.csv", format!("a,b,s\n{}", (0..3_000).map(row).collect::<String>()));
    let line = "anonymize grow.csv --qi a,b --sensitive s -k 5 --algorithm ring --non-homogeneous --bound none -o out.csv";
    let mut child = dir
        .command(line)
        .stderr(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut file = std::fs::OpenOptions::new().append(true).open(dir.path("grow.csv")).unwrap();
    while child.try_wait().unwrap().is_none() {
        file.write_all(b"5,5,1\n").unwrap();
        std::thread::sleep(Duration::from_millis(1));
    }
    let run = ended(&child.wait_with_output().unwrap());
    assert_eq!(run.code, Some(3), "{run:?}");
    assert!(run.stderr.contains("the input file changed during the run"), "{run:?}");
    assert!(!dir.path("out.csv").exists());
}

#[test]
fn optimal_finds_the_least_also_beside_values_that_do_not_occur() {
    let dir = Workdir::new();
    dir.write("u.csv", "u0;*\nu1;*\nu2;*\nu3;*\nu4;*\n");
    dir.write("t.csv", "u\nu2\nu2\nu2\nu1\nu1\n");
    let roles = "--qi u --hierarchy u=u.csv -k 3";
    let found = dir.json(&format!(
        "anonymize t.csv {roles} --algorithm optimal --scheme sps --cost ncp -o out.csv --json"
    ));
    assert_eq!(
        (found["optimum"]["proven"].as_bool(), found["optimum"]["value"].as_f64()),
        (Some(true), Some(2.0)),
        "{found}"
    );
    assert!(dir.text("out.csv").contains("{u1, u2}"), "{}", dir.text("out.csv"));
    dir.succeed(&format!("verify out.csv --source t.csv {roles}"));
}

#[test]
fn two_kept_columns_that_tell_a_quasi_identifier_together_are_warned_of() {
    let dir = Workdir::new();
    let row = |i: usize| {
        format!("{0},{1},{2}\n", 20 + i * 7 % 50, (20 + i * 7 % 50) / 10, (20 + i * 7 % 50) % 10)
    };
    dir.write("t.csv", format!("age,tens,ones\n{}", (0..400).map(row).collect::<String>()));
    let run = dir.succeed(
        "anonymize t.csv --qi age --keep tens,ones -k 5 -o out.csv --steps 1 --bound none",
    );
    assert!(
        run.stderr.contains(
            "`tens` and `ones` are published unchanged and determine the quasi-identifier `age`"
        ),
        "{run:?}"
    );
    assert!(run.stderr.contains("in all 400 rows"), "{run:?}");
}
