use serde_json::Value;

use crate::workdir::Workdir;

const ROLES: &str = "--qi age,zip,sex --sensitive diagnosis --rest drop -k 5 --time 600s";

#[test]
fn it_prints_a_table_its_meanings_and_what_would_help() {
    let dir = Workdir::with_patients(400);
    let said = dir.succeed(&format!("explain patients.csv {ROLES}")).stdout;
    for part in [
        "of the detail is lost at k = 5",
        "unique alone",
        "own loss         mean loss of",
        "Half of the loss is in ",
        "the greatest gain first:\n1. ",
        " instead of ",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(!said.contains("The time was over"), "{said}");
    let sentences = said.lines().filter(|line| !line.contains(" %  "));
    assert!(sentences.skip(4).all(|line| line.chars().count() <= 82), "{said}");
    assert_eq!(dir.succeed(&format!("explain patients.csv {ROLES}")).stdout, said, "as before");
}

#[test]
fn its_json_has_the_same_and_no_value_of_the_table() {
    let dir = Workdir::with_patients(400);
    let said = dir.succeed(&format!("explain patients.csv {ROLES} --json")).stdout;
    let found: Value = serde_json::from_str(&said).unwrap();
    assert_eq!((&found["version"], &found["complete"]), (&1.into(), &true.into()));
    assert_eq!(found["columns"].as_array().unwrap().len(), 3);
    assert_eq!((&found["smaller_k"]["k"], &found["rows"]), (&3.into(), &400.into()));
    let parts = found["columns"].as_array().unwrap().iter();
    let sum: f64 = parts.map(|column| column["part"].as_f64().unwrap()).sum();
    assert!((sum - 1.0).abs() < 1e-9);
    let helps = found["helps"].as_array().unwrap();
    let gain = |help: &Value| help["now"].as_f64().unwrap() - help["then"].as_f64().unwrap();
    assert!(helps.windows(2).all(|pair| gain(&pair[0]) >= gain(&pair[1])) && !helps.is_empty());
}

#[test]
fn a_report_for_the_owner_may_have_it() {
    let dir = Workdir::with_patients(200);
    let roles = "--qi age,sex --sensitive diagnosis --rest drop -k 5";
    dir.succeed(&format!("anonymize patients.csv -o out.csv {roles} --algorithm mondrian"));
    let line =
        format!("report patients.csv out.csv {roles} --queries 0 --bound none --json n.json");
    dir.succeed(&format!("{line} --explain"));
    let page = std::fs::read_to_string(dir.path("report.html")).unwrap();
    let place = page.find("What costs the detail").unwrap();
    assert!(page.find("<main>").unwrap() < place && place < page.find("</main>").unwrap());
    let numbers = std::fs::read_to_string(dir.path("n.json")).unwrap();
    let numbers: Value = serde_json::from_str(&numbers).unwrap();
    assert_eq!(numbers["explain"]["columns"].as_array().unwrap().len(), 2);
    let run = dir.run(&format!("{line} --explain --edition public --force"));
    assert_eq!(run.code, Some(2), "{run:?}");
    assert!(run.stderr.contains("shares of the source"), "{run:?}");
}
