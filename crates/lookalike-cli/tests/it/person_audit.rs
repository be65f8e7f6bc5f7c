//! `verify`, `check`, `report` and `init` on tables in which a person has several rows.

use serde_json::Value;

use crate::workdir::Workdir;

#[test]
fn keys_that_differ_in_their_spelling_are_told_by_their_number() {
    let dir = Workdir::new();
    let mut text = "patient_id,age,sex\n".to_string();
    for row in 0..40 {
        text += &format!("A-{:02},{},f\n", row / 2, 30 + row / 2 % 4);
    }
    dir.write("one.csv", &text);
    dir.write("t.csv", text + "a-01,31,f\nA-02 ,32,f\n001,33,f\n1,33,f\n");
    let said =
        "column `patient_id`: 3 values differ from another only by case, by blanks around it";
    let roles = "--person patient_id --qi age,sex -k 2";
    for line in [
        "init X -o X.toml".to_string(),
        format!("check X {roles}"),
        format!("anonymize X {roles} -o X.out.csv --steps 1"),
    ] {
        let run = dir.succeed(&line.replace('X', "t.csv"));
        assert!(run.stderr.contains(said), "{line}\n{run:?}");
        assert!(!run.stderr.to_lowercase().contains("a-01"), "{line}\n{run:?}");
        let run = dir.succeed(&line.replace('X', "one.csv"));
        assert!(!run.stderr.contains("differ from another"), "{line}\n{run:?}");
    }
}

const PATIENTS: usize = 60;
/// Patients of each class of the release.
const TOGETHER: usize = 12;

fn age(patient: usize) -> usize {
    20 + patient
}

/// Sixty patients with three visits each, and a release with twelve patients in each class; the
/// visits of a patient are in one class. The rows of the release are in the order of the source,
/// but for the proof nothing says so.
fn visits() -> Workdir {
    let dir = Workdir::new();
    let mut source = "patient_id,age,diagnosis\n".to_string();
    let mut release = "age,diagnosis\n".to_string();
    let mut pseudonyms = "patient_id,age,diagnosis\n".to_string();
    let mut proof = "released_row,source_row,rows\n".to_string();
    for row in 0..PATIENTS * 3 {
        let patient = row / 3;
        let ill = ["flu", "gout", "asthma", "none"][(row * 7 + patient) % 4];
        let first = patient / TOGETHER * TOGETHER;
        let range = format!("[{}-{}]", age(first), age(first + TOGETHER - 1));
        source += &format!("P{:03},{},{ill}\n", patient * 37 % 101, age(patient));
        release += &format!("{range},{ill}\n");
        pseudonyms += &format!("{},{range},{ill}\n", 1000 + patient * 23 % 61);
        proof += &format!("{0},{0},1\n", row + 1);
    }
    dir.write("visits.csv", source);
    dir.write("safe.csv", release);
    dir.write("followed.csv", pseudonyms);
    dir.write("proof.csv", proof);
    dir
}

const RULES: &str = "-k 12 --qi age --sensitive diagnosis --person patient_id";

#[test]
fn verify_counts_persons_along_the_proof() {
    let dir = visits();
    let line = format!("verify safe.csv --source visits.csv --proof proof.csv {RULES}");
    let run = dir.succeed(&line);
    for said in [
        "rows      180\npersons   60\nclasses   5, the smallest has 12 persons\n",
        "ok      k = 12 persons (smallest class 12)",
        "\npersons\n  whole   all rows of a person are in one class with those of at least 12",
        "ok      all rows of a person are in one class",
        "ok      all rows of a person are released, or none is",
        "ok      no person was suppressed",
        "verified: 12-anonymous, counting persons, for these columns: age",
    ] {
        assert!(run.stdout.contains(said), "{said}\n{}", run.stdout);
    }
    let object = dir.json(&format!("{line} --json"));
    assert_eq!(object["persons"]["reading"], "whole");
    assert_eq!(object["persons"]["released"], 60);
    assert_eq!(object["rules"][0]["unit"], "persons");
    assert_eq!(
        (&object["measures"]["persons"], &object["measures"]["rows"]),
        (&60.into(), &180.into())
    );
    // 13 persons are in no class.
    let more = dir.run(&line.replace("-k 12", "-k 13"));
    assert_eq!(more.code, Some(1));
    assert!(more.stdout.contains("by 5 classes with 60 persons"), "{}", more.stdout);
    // One visit of another patient: the proof no longer fits.
    dir.write("other.csv", dir.text("proof.csv").replace("\n1,1,1\n", "\n1,4,1\n"));
    let other = dir.run(&line.replace("proof.csv", "other.csv"));
    assert_eq!(other.code, Some(1));
    assert!(other.stdout.contains("BROKEN"), "{}", other.stdout);
}

#[test]
fn verify_counts_persons_by_pseudonyms() {
    let dir = visits();
    let line = format!("verify followed.csv --pseudonyms {RULES}");
    assert!(dir.succeed(&line).stdout.contains("the smallest has 12 persons"));
    let against = dir.succeed(&format!("{line} --source visits.csv")).stdout;
    assert!(against.contains("partly  the pseudonyms have numbers of rows"), "{against}");
    let proven = dir.succeed(&format!("{line} --source visits.csv --proof proof.csv")).stdout;
    assert!(proven.contains("every pseudonym is of one person"), "{proven}");
    // The key itself in the place of the pseudonyms.
    let key = dir.text("visits.csv");
    let shown: String = dir
        .text("followed.csv")
        .lines()
        .zip(key.lines())
        .map(|(row, own)| {
            let rest = row.split_once(',').unwrap().1;
            format!("{},{rest}\n", own.split_once(',').unwrap().0)
        })
        .collect();
    dir.write("shown.csv", shown);
    let run = dir.run(&format!(
        "verify shown.csv --pseudonyms {RULES} --source visits.csv --proof proof.csv"
    ));
    assert_eq!(run.code, Some(1));
    assert!(run.stdout.contains("LEAK    60 pseudonyms are cells of the person key"), "{run:?}");
}

#[test]
fn check_counts_rows_and_persons() {
    let dir = visits();
    let line = "check visits.csv --qi age --person patient_id --sensitive diagnosis --alpha \
                diagnosis=0.5 -k 2";
    let run = dir.run(line);
    assert_eq!(run.code, Some(1));
    for said in [
        "1-anonymous, counting persons, for these columns: age",
        "rows      180\npersons   60\nclasses   60, the smallest has 1 person\nunique    60 persons are",
        "persons in a class",
        "BROKEN  k = 2 persons by 60 classes with 60 persons",
        "alpha = 0.5 on diagnosis, counting persons",
        "whole   all rows of a person are in one class",
    ] {
        assert!(run.stdout.contains(said), "{said}\n{}", run.stdout);
    }
    assert!(!run.stderr.contains("rows are counted"), "{}", run.stderr);
    let object: Value = serde_json::from_str(&dir.run(&format!("{line} --json")).stdout).unwrap();
    assert_eq!(object["measures"]["persons"], 60);
    assert_eq!(object["persons"]["reading"], "whole");
    assert_eq!(object["warnings"], serde_json::json!([]));
    // Without the key every class has three rows, and a warning says what to do.
    let rows = dir.succeed("check visits.csv --qi age -k 3 --sensitive diagnosis --rest drop");
    assert!(rows.stderr.contains("--person patient_id"), "{}", rows.stderr);
}

#[test]
fn report_says_which_reading_holds() {
    let dir = visits();
    let line = format!(
        "report visits.csv safe.csv {RULES} --proof proof.csv --bound none --queries 0 -o r.html"
    );
    dir.succeed(&format!("{line} --json r.json"));
    let page = dir.text("r.html");
    for said in [
        "This file is 12-anonymous for age, counting persons: all rows of a person are in one class",
        "<b>12</b><span>persons in the smallest class (k)</span>",
        "<b>60</b><span>persons released</span>",
        "no person was suppressed",
        "highest remaining risk of a person",
        "Several rows of one person",
    ] {
        assert!(page.contains(said), "{said}\n{page}");
    }
    assert!(!page.contains("Rows are not persons") && !page.contains("verdict bad"), "{page}");
    let object: Value = serde_json::from_str(&dir.text("r.json")).unwrap();
    assert_eq!(object["unit"], "persons");
    assert_eq!(object["persons"]["reading"], "whole");
    assert_eq!(object["persons"]["source"], 60);
    // The public edition says what the request demands: persons cannot be counted in the release.
    let public = line.replace("-k 12", "-k 10").replace("r.html", "p.html");
    dir.succeed(&format!("{public} --edition public --json p.json"));
    let object: Value = serde_json::from_str(&dir.text("p.json")).unwrap();
    assert_eq!((&object["k"], &object["class_sizes"]), (&10.into(), &serde_json::json!([])));
    assert!(!dir.text("p.html").contains("patient_id"));
    let names: Vec<&String> = object["risk"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["average", "highest"]);
}

#[test]
fn init_proposes_the_person_key() {
    let dir = visits();
    let run = dir.succeed("init visits.csv -o v.toml");
    assert!(!run.stderr.contains("rows are counted"), "{}", run.stderr);
    let config = dir.text("v.toml");
    let line = config.lines().find(|line| line.starts_with("patient_id")).unwrap();
    assert!(line.contains("role = \"person\""), "{line}");
    assert!(line.contains("60 different values in 180 rows: several rows a person"), "{line}");
    let check = dir.run("check -c v.toml");
    assert!(check.stdout.contains("persons   60"), "{check:?}");
}
