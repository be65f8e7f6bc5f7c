//! Measures of risk in `check` and `report`.

use serde_json::Value;

use crate::workdir::Workdir;

fn check(dir: &Workdir, line: &str) -> Value {
    serde_json::from_str(&dir.succeed(&format!("check {line} --json")).stdout).unwrap()
}

fn near(value: &Value, should: f64) {
    let is = value.as_f64().unwrap();
    assert!((is - should).abs() < 1e-9, "{is} is not {should}");
}

/// Six persons of a town of 12: one is alone in the table and two are like him in the town.
fn town() -> Workdir {
    let dir = Workdir::new();
    dir.write("sample.csv", "age,sex,w\n30,f,2\n30,f,2\n40,m,2\n50,m,2\n50,m,2\n50,m,2\n");
    dir.write(
        "town.csv",
        "sex,age,name\nf,30,a\nf,30,b\nf,30,c\nf,30,d\nm,40,e\nm,40.0,f\nm,50,g\nm,50,h\nm,50,i\n\
         m,50,j\nm,50,k\nm,60,l\n",
    );
    dir
}

#[test]
fn a_population_table_says_how_many_have_the_values_of_a_row() {
    let dir = town();
    let found = check(&dir, "sample.csv --qi age,sex --kind age=numeric --population town.csv");
    let risk = &found["risk"];
    near(&risk["prosecutor"]["highest"], 1.0);
    let matched = &risk["population"];
    assert_eq!((&matched["persons"], &matched["k_map"]), (&12.into(), &2.into()));
    near(&matched["journalist"]["highest"], 0.5);
    near(&matched["expected"], 2.0 / 4.0 + 1.0 / 2.0 + 3.0 / 5.0);
    near(&found["measures"]["risk"]["highest"], 1.0);
    let text = dir
        .succeed("check sample.csv --qi age,sex --kind age=numeric --population town.csv")
        .stdout;
    assert!(text.contains("journalist") && text.contains("marketer"), "{text}");
    assert!(
        text.contains("by the population table town.csv\n    the population has 12 persons"),
        "{text}"
    );
}

#[test]
fn a_fraction_and_weights_say_the_same_and_exclude_each_other() {
    let dir = town();
    let by_fraction = check(&dir, "sample.csv --qi age,sex --sampling-fraction 50%");
    let by_weight = check(&dir, "sample.csv --qi age,sex --sampling-weight w");
    let (one, other) = (&by_fraction["risk"]["sample"], &by_weight["risk"]["sample"]);
    near(&one["expected"], other["expected"].as_f64().unwrap());
    assert_eq!((&one["from"], &other["from"]), (&"fraction".into(), &"weights".into()));
    let run = dir.run("check sample.csv --qi age,sex --sampling-weight w --sampling-fraction 0.5");
    assert_eq!(run.code, Some(2), "{run:?}");
    let text = dir.succeed("check sample.csv --qi age,sex --sampling-fraction 50%").stdout;
    assert!(text.contains("are unique in the population"), "{text}");
    assert!(text.contains("DIS-SUDA"), "{text}");
}

#[test]
fn the_columns_that_make_rows_unique_are_named_and_no_row_is() {
    let dir = town();
    let found = check(&dir, "sample.csv --qi age,sex");
    let special = &found["risk"]["special_uniques"];
    assert_eq!((&special["uniques"], &special["special"]), (&1.into(), &1.into()));
    let columns = special["columns"].as_array().unwrap();
    assert_eq!((&columns[0]["column"], &columns[0]["alone"]), (&"age".into(), &1.into()));
    assert_eq!((&columns[0]["without"], &columns[1]["without"]), (&0.into(), &1.into()));
    near(&columns[0]["score_share"], 1.0);
    let text = dir.succeed("check sample.csv --qi age,sex").stdout;
    assert!(text.contains("columns that make rows unique"), "{text}");
    assert!(!text.contains("40"), "no value of a row: {text}");
    // Nobody is unique: no list.
    dir.write("pairs.csv", "age\n1\n1\n2\n2\n");
    assert!(!dir.succeed("check pairs.csv --qi age").stdout.contains("columns that make"));
}

#[test]
fn persons_are_counted_by_their_key() {
    let dir = Workdir::new();
    dir.write("visits.csv", "id,age\n1,30\n1,30\n1,30\n2,40\n3,40\n");
    let risk = &check(&dir, "visits.csv --qi age --person id")["risk"];
    assert_eq!((&risk["counted"], &risk["individuals"]), (&"persons".into(), &3.into()));
    near(&risk["prosecutor"]["highest"], 1.0);
    assert_eq!(check(&dir, "visits.csv --qi age --rest keep")["risk"]["counted"], "rows");
}

#[test]
fn the_configuration_says_the_same_as_the_flags() {
    let dir = town();
    let toml = "[columns]\nage = { role = 'quasi', kind = 'numeric' }\nsex = { role = 'quasi' }\n\
                [risk]\npopulation = 'town.csv'\nsampling_fraction = '50%'\n";
    std::fs::create_dir(dir.path("there")).unwrap();
    dir.write("there/r.toml", toml);
    std::fs::copy(dir.path("town.csv"), dir.path("there/town.csv")).unwrap();
    std::fs::remove_file(dir.path("town.csv")).unwrap();
    let by_file = check(&dir, "sample.csv -c there/r.toml");
    let flags = "sample.csv --qi age,sex --kind age=numeric --population there/town.csv \
                 --sampling-fraction 0.5";
    assert_eq!(by_file["risk"], check(&dir, flags)["risk"]);
    assert!(by_file["risk"]["population"].is_object() && by_file["risk"]["sample"].is_object());
}

#[test]
fn the_report_has_both_tables_and_the_public_edition_neither() {
    let dir = Workdir::with_patients(300);
    dir.succeed(
        "anonymize patients.csv -o safe.csv --qi age,zip,sex --rest drop -k 5 --seed 1 --steps 10",
    );
    let line = "report patients.csv safe.csv --qi age,zip,sex --rest drop -k 5 --queries 0 \
                --bound none --json r.json --force --population patients.csv \
                --sampling-fraction 10%";
    dir.succeed(&format!("{line} -o r.html"));
    let found: Value = serde_json::from_str(&dir.text("r.json")).unwrap();
    let (before, after) = (&found["risk_measures"]["before"], &found["risk_measures"]["after"]);
    assert_eq!(before["individuals"], 300);
    near(&before["population"]["expected"], before["classes"].as_f64().unwrap());
    assert_eq!(before["population"]["absent"], 0);
    // Classes that overlap cover more persons than they have rows.
    let matched = after["population"]["expected"].as_f64().unwrap();
    assert!(matched <= after["classes"].as_f64().unwrap() + 1e-9, "{after}");
    assert_eq!(
        (&after["population"]["absent"], &after["population"]["too_few"]),
        (&0.into(), &0.into())
    );
    assert!(after["population"]["k_map"].as_u64().unwrap() >= 5);
    assert!(after["special_uniques"].is_null() && before["special_uniques"].is_object());
    let page = dir.text("r.html");
    assert!(page.contains("Risk by attacker") && page.contains("Columns that make rows"), "{page}");
    dir.succeed(&format!("{line} -o r.html --edition public"));
    let found: Value = serde_json::from_str(&dir.text("r.json")).unwrap();
    assert!(found["risk_measures"].is_null());
    assert!(!dir.text("r.html").contains("Risk by attacker"));
}
