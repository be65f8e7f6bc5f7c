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
        dir.succeed(&format!("anonymize {packed} -o {plain} --qi city,age --rest keep --kind age=categorical -k 1 --quiet"));
    }
    nothing_leaked(&dir, &["t.csv"]);
}

#[test]
fn a_rare_leaf_that_was_generalized_leaves_no_trace() {
    let dir = Workdir::new();
    dir.write("t.csv", with_outlier());
    for out in ["out.csv", "out.parquet", "out.arrow"] {
        let report = dir.json(&format!("anonymize t.csv -o {out} --qi city,age --rest drop -k 20 --quiet --json"));
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
        dir.succeed(&format!("anonymize t.csv -o {source} --qi age --rest keep -k 1 --quiet"));
        assert!(source.ends_with("parquet") || occurs(&dir.read(source)), "the test looks for something that is there");
        for out in ["a.csv", "a.parquet", "a.arrow"] {
            let flags = "--identifier name --qi city,age --keep ward --sensitive diagnosis -k 20 --suppress 1%";
            dir.succeed(&format!("anonymize {source} -o {out} --force --quiet {flags}"));
            assert!(!occurs(&dir.read(out)), "{source} to {out}");
        }
    }
}
