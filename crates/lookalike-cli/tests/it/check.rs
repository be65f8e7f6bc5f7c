use crate::workdir::Workdir;

#[test]
fn without_a_rule_it_only_measures() {
    let dir = Workdir::with_patients(500);
    let run = dir.succeed("check patients.csv --qi age,zip --sensitive diagnosis");
    assert!(run.stdout.contains("-anonymous for these columns: age, zip\n"), "{}", run.stdout);
    assert!(run.stdout.contains("classes by size") && run.stdout.contains("no rule was given"), "{}", run.stdout);
    assert!(run.stdout.contains("prosecutor") && run.stdout.contains("entropy l"), "{}", run.stdout);
}

#[test]
fn it_says_by_its_exit_code_whether_the_rules_hold() {
    let dir = Workdir::with_patients(500);
    let run = dir.run("check patients.csv --qi age,zip,sex -k 5");
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.stdout.contains("BROKEN  k = 5 by "), "{}", run.stdout);
    let run = dir.succeed("check patients.csv --qi sex -k 5 --sensitive diagnosis --alpha diagnosis=0.9");
    assert!(run.stdout.contains("ok      k = 5 (smallest class "), "{}", run.stdout);
    assert!(!run.stdout.contains("BROKEN"), "{}", run.stdout);
}

#[test]
fn it_counts_what_can_be_counted_by_hand() {
    let dir = Workdir::new();
    dir.write("t.csv", "id,age,sick\n1,30,a\n2,30,b\n3,30,a\n4,40,a\n5,40,a\n6,50,b\n");
    let found = dir.run("check t.csv --identifier id --qi age --sensitive sick -k 2 --json");
    assert_eq!(found.code, Some(1));
    let found: serde_json::Value = serde_json::from_str(&found.stdout).unwrap();
    assert_eq!(found["holds"], false);
    let measures = &found["measures"];
    assert_eq!([&measures["rows"], &measures["classes"], &measures["k"], &measures["uniques"]], [6, 3, 1, 1]);
    assert_eq!(measures["risk"]["highest"], 1.0);
    assert_eq!(measures["risk"]["average"], 0.5);
    assert_eq!(measures["sensitive"][0]["distinct"], 1);
    assert_eq!((&found["rules"][0]["violations"], &found["rules"][0]["rows"]), (&1.into(), &1.into()));
    let measured = dir.json("check t.csv --qi age --json");
    assert!(measured["holds"].is_null() && measured["rules"].as_array().unwrap().is_empty());
}

#[test]
fn a_release_can_be_measured_with_the_configuration_of_its_source() {
    let dir = Workdir::with_patients(500);
    let flags = "--qi age,zip,sex --identifier name,note --sensitive diagnosis -k 5";
    dir.succeed(&format!("anonymize patients.csv -o out.csv {flags}"));
    dir.succeed(&format!("check out.csv {flags}"));
    let run = dir.run("check out.csv --qi age,zap -k 5");
    assert_eq!(run.code, Some(2), "{run:?}");
    assert!(run.stderr.contains("there is no column `zap`"), "{}", run.stderr);
}
