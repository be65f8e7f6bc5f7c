//! `--purpose`: weights from what columns tell, shown, saved and measured.

use serde_json::Value;

use crate::workdir::{QUICK, Workdir};

const ROLES: &str = "--qi age,degree,city --sensitive pay --rest drop -k 4";

/// The degree decides the pay, the age says a little, the city nothing.
fn people(rows: usize) -> String {
    let mut text = String::from("name,age,degree,city,pay\n");
    for i in 0..rows {
        let degree = ["none", "school", "college"][i * 7 % 3];
        let is_high = (degree == "college") != (i % 11 == 0);
        let age = 20 + i * 13 % 30 + usize::from(is_high) * 10;
        let city = ["Bonn", "Ulm", "Kiel", "Jena", "Trier"][i * i % 17 % 5];
        let pay = if is_high { "high" } else { "low" };
        text += &format!("n{i},{age},{degree},{city},{pay}\n");
    }
    text
}

fn folder() -> Workdir {
    let dir = Workdir::new();
    dir.write("t.csv", people(600));
    dir
}

#[test]
fn the_weights_are_shown_saved_and_used() {
    let dir = folder();
    let run = format!("anonymize t.csv {ROLES} {QUICK} --seed 1");
    let said = dir.succeed(&format!("{run} --purpose pay -o a.csv --save-config a.toml")).stderr;
    let line = said.lines().find(|line| line.starts_with("weights ")).unwrap();
    assert!(line.starts_with("weights   for the purpose: age "), "{said}");
    let config = dir.text("a.toml");
    assert!(config.contains("purpose = [\"pay\"]") && config.matches("weight = ").count() == 3);
    // The configuration repeats the run; so do its weights alone.
    dir.succeed(&format!("anonymize -c a.toml --seed 1 {QUICK} -o b.csv"));
    assert_eq!(dir.read("a.csv"), dir.read("b.csv"));
    dir.write("c.toml", config.replace("purpose = [\"pay\"]\n", ""));
    dir.succeed(&format!("anonymize -c c.toml --seed 1 {QUICK} -o c.csv"));
    assert_eq!(dir.read("a.csv"), dir.read("c.csv"), "a purpose changes weights and nothing else");
    dir.succeed(&format!("{run} -o plain.csv"));
    assert_ne!(dir.read("a.csv"), dir.read("plain.csv"));

    let found = dir.succeed(&format!("{run} --purpose pay --weight city=3 -o d.csv --json")).stdout;
    let found: Value = serde_json::from_str(&found).unwrap();
    let weights = &found["purpose"];
    assert_eq!(
        (&weights["city"]["weight"], &weights["city"]["is_given"]),
        (&3.0.into(), &true.into())
    );
    let told = |name: &str| weights[name]["information"].as_f64().unwrap();
    assert!(told("degree") > told("age") && told("age") > told("city"), "{weights}");
    assert_eq!(found["shown"]["degree"]["weight"], weights["degree"]["weight"]);
    let plain = dir.succeed(&format!("{run} -o e.csv --json")).stdout;
    assert_eq!(serde_json::from_str::<Value>(&plain).unwrap()["purpose"], Value::Null);
}

#[test]
fn compare_trains_on_releases_and_tests_on_other_rows() {
    let dir = folder();
    let line = format!(
        "compare t.csv {ROLES} --purpose pay --algorithms mondrian,top-down --k 3,60 --queries 0 \
         --bound none"
    )
    .replace(" -k 4", "");
    let found: Value =
        serde_json::from_str(&dir.succeed(&format!("{line} --json")).stdout).unwrap();
    for run in found["runs"].as_array().unwrap() {
        let purpose = &run["purpose"][0];
        assert_eq!((&purpose["column"], &purpose["splits"]), (&"pay".into(), &5.into()));
        let auc = |model: &str| purpose[model]["auc"]["mean"].as_f64().unwrap();
        assert!(auc("source") > 0.85 && auc("release") > 0.5, "{run}");
    }
    let said = dir.succeed(&line).stdout;
    assert!(said.contains("accuracy") && said.contains(" ± "), "{said}");
    assert!(said.contains("purpose pay: trained on the source itself, accuracy 0."), "{said}");
    assert_eq!(dir.succeed(&format!("{line} --csv -")).stdout.lines().count(), 5);
    let none = dir.succeed(&line.replace("--purpose pay", "")).stdout;
    assert!(!none.contains("AUC"), "{none}");
}

#[test]
fn a_report_has_weights_and_scores_for_its_owner_alone() {
    let dir = folder();
    dir.succeed(&format!("anonymize t.csv {ROLES} {QUICK} --purpose pay -o a.csv"));
    let line = format!(
        "report t.csv a.csv {ROLES} --purpose pay --queries 0 --bound none --json n.json --force"
    );
    dir.succeed(&line);
    let numbers: Value = serde_json::from_str(&dir.text("n.json")).unwrap();
    assert_eq!(numbers["purpose"]["weights"].as_object().unwrap().len(), 3);
    assert_eq!(numbers["purpose"]["scores"][0]["column"], "pay");
    assert!(dir.text("report.html").contains("<h2>Purpose</h2>"));
    dir.succeed(&format!("{line} --edition public"));
    let numbers: Value = serde_json::from_str(&dir.text("n.json")).unwrap();
    assert_eq!(numbers["purpose"], Value::Null);
    let page = dir.text("report.html");
    assert!(!page.contains("<h2>Purpose</h2>") && !page.contains("<td>weight:"), "{page}");
    assert!(!numbers.to_string().contains("weight:"), "the record has no weights");
    // Explain knows the purpose too.
    dir.succeed(&format!("explain t.csv {ROLES} --purpose pay --time 600s"));
    dir.succeed(&format!("verify a.csv {ROLES} --purpose pay"));
}

#[test]
fn what_is_no_purpose_is_refused_with_a_way_out() {
    let dir = folder();
    for (purpose, said) in [
        ("age", "column `age` is a quasi-identifier, which is generalized itself"),
        ("name", "column `name` is not in the release"),
        ("wage", "there is no column `wage`"),
        ("pay,pay", "column `pay` is named twice"),
    ] {
        let run = dir.run(&format!("anonymize t.csv {ROLES} {QUICK} --purpose {purpose} -o x.csv"));
        assert_eq!(run.code, Some(2), "{run:?}");
        assert!(run.stderr.contains(said), "{run:?}");
    }
    dir.write("n.csv", "age,pay,n\n30,high,2\n31,low,2\n");
    let run = dir.run("plan n.csv --qi age --sensitive pay --count n -k 2 --purpose pay -o p.csv");
    assert_eq!(run.code, Some(2), "{run:?}");
    assert!(run.stderr.contains("set the weights of the quasi-identifiers"), "{run:?}");
    // Nothing to tell is a warning.
    dir.write("same.csv", "age,pay\n30,low\n31,low\n40,low\n41,low\n");
    let said = dir.succeed(&format!(
        "anonymize same.csv --qi age --sensitive pay -k 2 {QUICK} --purpose pay -o s.csv"
    ));
    assert!(said.stderr.contains("no quasi-identifier tells anything"), "{said:?}");
}
