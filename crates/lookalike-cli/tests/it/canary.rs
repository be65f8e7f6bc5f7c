//! What must not be published is looked for byte by byte in everything that was written.

use std::io::Read;

use crate::workdir::{CANARY, Workdir};

fn occurs(bytes: &[u8]) -> bool {
    bytes.windows(CANARY.len()).any(|window| window == CANARY.as_bytes())
}

/// Everything but the input and, of Parquet, also what its pages hold when they are unpacked.
fn nothing_leaked(dir: &Workdir, inputs: &[&str]) {
    for file in dir.files().iter().filter(|file| file.is_file()) {
        let name = file.file_name().unwrap().to_str().unwrap();
        if !inputs.contains(&name) {
            let mut bytes = Vec::new();
            std::fs::File::open(file).unwrap().read_to_end(&mut bytes).unwrap();
            assert!(!occurs(&bytes), "{name}");
        }
    }
}

/// A city that one row alone has, and in that row a canary in every cell.
fn with_outlier() -> String {
    let mut text = String::from("name,city,age,ward,diagnosis\n");
    for i in 0..300 {
        let (city, diagnosis) = (["Bonn", "Kiel", "Ulm"][i % 3], ["flu", "asthma"][i / 7 % 2]);
        text += &format!("{CANARY}-{i},{city},{},W{},{diagnosis}\n", 30 + i / 3 % 3, i % 5);
    }
    text + &format!("{CANARY},{CANARY}-city,31,{CANARY}-ward,{CANARY}-sick\n")
}

#[test]
fn identifiers_and_suppressed_rows_leave_no_trace() {
    let dir = Workdir::new();
    dir.write("t.csv", with_outlier());
    let flags = "--identifier name --qi city,age --keep ward --sensitive diagnosis -k 20 --suppress 1% --quiet";
    for out in ["out.csv", "out.tsv", "out.parquet", "out.arrow", "out.csv.gz"] {
        let report = dir.json(&format!("anonymize t.csv -o {out} {flags} --json"));
        assert_eq!(report["suppressed"], 1, "{out}");
        assert_eq!(report["released"], 300, "{out}");
        assert!(!occurs(report.to_string().as_bytes()), "{out}");
    }
    nothing_leaked(&dir, &["t.csv"]);
    // Compressed pages hide what they hold: unpack them through a format that does not compress.
    for (packed, plain) in [("out.parquet", "p.csv"), ("out.csv.gz", "g.csv")] {
        dir.succeed(&format!("anonymize {packed} -o {plain} --qi city,age --rest keep --accept-unique --kind age=categorical -k 1 --quiet"));
    }
    nothing_leaked(&dir, &["t.csv"]);
}

#[test]
fn a_rare_leaf_that_was_generalized_leaves_no_trace() {
    let dir = Workdir::new();
    dir.write("t.csv", with_outlier());
    for out in ["out.csv", "out.parquet", "out.arrow"] {
        let report = dir.json(&format!(
            "anonymize t.csv -o {out} --qi city,age --rest drop -k 20 --quiet --json"
        ));
        assert_eq!(report["released"], 301, "{out}");
    }
    nothing_leaked(&dir, &["t.csv"]);
}

#[test]
fn typed_files_carry_nothing_of_the_source_either() {
    let dir = Workdir::new();
    dir.write("t.csv", with_outlier());
    // The source as Parquet and Arrow, with everything in it.
    for source in ["source.parquet", "source.arrow"] {
        dir.succeed(&format!(
            "anonymize t.csv -o {source} --qi age --rest keep --accept-unique -k 1 --quiet"
        ));
        assert!(
            source.ends_with("parquet") || occurs(&dir.read(source)),
            "the test looks for something that is there"
        );
        for out in ["a.csv", "a.parquet", "a.arrow"] {
            let flags = "--identifier name --qi city,age --keep ward --sensitive diagnosis -k 20 --suppress 1%";
            dir.succeed(&format!("anonymize {source} -o {out} --force --quiet {flags}"));
            assert!(!occurs(&dir.read(out)), "{source} to {out}");
        }
    }
}

/// A table without a header line: its first row takes the place of the names. No command puts a cell
/// of it into a message.
#[test]
fn a_missing_header_puts_no_cell_into_a_message() {
    let dir = Workdir::new();
    let row = |i: usize| {
        let diagnosis = ["flu", "asthma"][i / 7 % 2];
        format!("{CANARY}-{i},{CANARY}-city{},{},{diagnosis}{CANARY}\n", i % 3, 30 + i % 9)
    };
    let rows: String = (0..60).map(row).collect();
    dir.write("t.csv", &rows);
    dir.write("named.csv", format!("name,city,age,diagnosis\n{rows}"));
    dir.write(
        "c.toml",
        "k = 2\n[columns]\ncity = { role = \"quasi\" }\nage = { role = \"quasi\" }\n",
    );
    dir.write("h.csv", "a;*\n");
    dir.succeed("anonymize named.csv -o safe.csv --qi city,age --rest drop -k 5 --quiet");
    let qi = "--qi city,age";
    for line in [
        "init t.csv -o new.toml".to_string(),
        "init t.csv -o -".into(),
        "check t.csv -k 2".into(),
        format!("check t.csv {qi} -k 2"),
        "check t.csv -c c.toml".into(),
        "anonymize t.csv -o out.csv -k 2".into(),
        format!("anonymize t.csv -o out.csv -k 2 {qi}"),
        format!("anonymize t.csv -o out.csv -k 2 {qi} --rest drop"),
        "anonymize t.csv -o out.csv -c c.toml".into(),
        "anonymize t.csv -o - -k 2 --rest keep".into(),
        format!("verify t.csv -k 2 {qi} --rest drop"),
        format!("verify safe.csv --source t.csv -k 2 {qi} --rest drop"),
        format!("query t.csv safe.csv {qi} --rest drop"),
        format!("query named.csv t.csv {qi} --rest drop"),
        format!("query t.csv safe.csv {qi} --on age"),
        format!("compare t.csv -k 2 {qi} --rest drop --algorithms mondrian"),
        "compare t.csv -k 2 --algorithms mondrian".into(),
        format!("report t.csv safe.csv -o page.html -k 2 {qi} --rest drop"),
        format!("report named.csv t.csv -o page.html -k 2 {qi} --rest drop"),
        "hierarchy check h.csv --data t.csv --column city".into(),
        "hierarchy new prefix --keep 2 --data t.csv --column city -o new.csv".into(),
        "hierarchy new intervals --widths 5 --data t.csv --column age -o new.csv".into(),
    ] {
        let run = dir.run(&line);
        assert!(line.starts_with("init") || run.code != Some(0), "{line}\n{run:?}");
        assert!(!occurs(run.stderr.as_bytes()), "{line}\n{}", run.stderr);
        assert!(line.ends_with("-o -") || !occurs(run.stdout.as_bytes()), "{line}\n{}", run.stdout);
    }
}

/// Queries look into every column that was released; their errors name columns, rows and what was
/// typed, their numbers no value.
#[test]
fn queries_show_no_cell() {
    let dir = Workdir::new();
    dir.write("t.csv", with_outlier());
    let flags = "--identifier name --qi city,age --keep ward --sensitive diagnosis";
    dir.succeed(&format!("anonymize t.csv -o safe.csv {flags} -k 20 --quiet"));
    let silent = |line: &str, code: i32| {
        let run = dir.run(line);
        assert_eq!(run.code, Some(code), "{line}\n{run:?}");
        assert!(
            !occurs(run.stdout.as_bytes()) && !occurs(run.stderr.as_bytes()),
            "{line}\n{run:?}"
        );
        assert!(code == 0 || !run.stderr.is_empty());
    };
    silent(&format!("query t.csv safe.csv {flags} --random 200"), 0);
    silent(&format!("query t.csv safe.csv {flags} --random 50 --on ward,diagnosis,city --json"), 0);
    // The table as its own release has canaries where labels are wanted, and in every other column.
    silent(&format!("query t.csv t.csv {flags} --random 50"), 0);
    silent(&format!("query safe.csv t.csv {flags}"), 3);
    dir.write(
        "late.csv",
        with_outlier()
            .replace(&format!("{CANARY}-ward"), "W1")
            .replace(&format!("{CANARY}-city"), "Ulm"),
    );
    for on in ["city", "ward", "diagnosis"] {
        silent(
            &format!("query late.csv t.csv {flags} --on {on} --sum age"),
            if on == "diagnosis" { 0 } else { 3 },
        );
    }
    silent(&format!("query t.csv safe.csv {flags} --kind city=numeric"), 3);
    silent(&format!("query t.csv safe.csv {flags} --kind city=date"), 3);
    dir.write("h.csv", "Bonn;North;*\nKiel;North;*\nUlm;South;*\n");
    silent(&format!("query t.csv safe.csv {flags} --hierarchy city=h.csv"), 2);
    for wrong in [
        "city = \"Oslo\"",
        "city = [1, 2]",
        "ward = { node = \"x\" }",
        "ward = [1, 2]",
        "name = \"x\"",
        "age = \"x\"",
    ] {
        dir.write("q.toml", format!("[[query]]\nwhere = {{ {wrong} }}\n"));
        silent(&format!("query t.csv safe.csv {flags} --queries q.toml"), 2);
    }
}
