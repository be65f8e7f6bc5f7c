use serde_json::{Value, json};

use crate::workdir::{QUICK, Workdir};

#[test]
fn without_a_rule_it_only_measures() {
    let dir = Workdir::with_patients(500);
    let run = dir.succeed("check patients.csv --qi age,zip --sensitive diagnosis");
    assert!(run.stdout.contains("-anonymous for these columns: age, zip\n"), "{}", run.stdout);
    assert!(
        run.stdout.contains("classes by size") && run.stdout.contains("no rule was given"),
        "{}",
        run.stdout
    );
    assert!(
        run.stdout.contains("prosecutor") && run.stdout.contains("entropy l"),
        "{}",
        run.stdout
    );
}

#[test]
fn it_says_by_its_exit_code_whether_the_rules_hold() {
    let dir = Workdir::with_patients(500);
    let run = dir.run("check patients.csv --qi age,zip,sex -k 5");
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.stdout.contains("BROKEN  k = 5 by "), "{}", run.stdout);
    let run =
        dir.succeed("check patients.csv --qi sex -k 5 --sensitive diagnosis --alpha diagnosis=0.9");
    assert!(run.stdout.contains("ok      k = 5 (smallest class "), "{}", run.stdout);
    assert!(!run.stdout.contains("BROKEN"), "{}", run.stdout);
}

#[test]
fn a_failure_is_json_too_where_json_was_asked_for() {
    let dir = Workdir::with_patients(40);
    dir.write("text.csv", "a,b\n1,x\n2,x\nno,x\n");
    for (line, code, kind, place) in [
        ("check nowhere.csv --qi a", 5, ["io", "not-found"], json!({ "file": "nowhere.csv" })),
        (
            "check patients.csv --qi Age",
            2,
            ["request", "unknown-column"],
            json!({ "column": "Age" }),
        ),
        (
            "anonymize text.csv -o out.csv --qi a --rest drop -k 2 --kind a=numeric",
            3,
            ["data", "not-a-number"],
            json!({ "column": "a", "row": 3 }),
        ),
        ("verify patients.csv --qi age -k 2", 2, ["request", "no-role"], json!({})),
    ] {
        let run = dir.run(&format!("{line} --json"));
        assert_eq!(run.code, Some(code), "{run:?}");
        let found: Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!(found["version"], 1);
        let error = &found["error"];
        assert_eq!([&error["kind"], &error["code"]], kind, "{line}");
        assert_eq!(error["place"], place, "{line}");
        let message = error["message"].as_str().unwrap();
        assert_eq!(run.stderr, format!("error: {message}\n"), "the same words");
        assert!(message.contains(error["reason"].as_str().unwrap()), "{message}");
        assert_eq!(dir.run(line).stdout, "", "{line}: no JSON unless it was asked for");
    }
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
    assert_eq!(
        [&measures["rows"], &measures["classes"], &measures["k"], &measures["uniques"]],
        [6, 3, 1, 1]
    );
    assert_eq!(measures["risk"]["highest"], 1.0);
    assert_eq!(measures["risk"]["average"], 0.5);
    assert_eq!(measures["sensitive"][0]["distinct"], 1);
    assert_eq!(
        (&found["rules"][0]["violations"], &found["rules"][0]["rows"]),
        (&1.into(), &1.into())
    );
    let measured = dir.json("check t.csv --qi age --json");
    assert!(measured["holds"].is_null() && measured["rules"].as_array().unwrap().is_empty());
}

#[test]
fn a_release_can_be_measured_with_the_configuration_of_its_source() {
    let dir = Workdir::with_patients(500);
    let flags = "--qi age,zip,sex --identifier name,note --sensitive diagnosis -k 5";
    dir.succeed(&format!("anonymize patients.csv -o out.csv {flags} {QUICK}"));
    dir.succeed(&format!("check out.csv {flags}"));
    let run = dir.run("check out.csv --qi age,zap -k 5");
    assert_eq!(run.code, Some(2), "{run:?}");
    assert!(run.stderr.contains("there is no column `zap`"), "{}", run.stderr);
}

/// Everything that stands in the cells of a table.
fn cells(table: &str) -> Vec<&str> {
    table.lines().skip(1).flat_map(|line| line.split(',')).collect()
}

#[test]
fn failing_classes_are_explained_by_sizes_and_shares_and_never_by_a_value() {
    let dir = Workdir::new();
    let mut text = String::from("city,ward,ill\n");
    for (city, ill, rows) in [
        ("Bonn", "flu-x", 7),
        ("Bonn", "gout-x", 5),
        ("Kiel", "flu-x", 2),
        ("Ulm-x", "flu-x", 5),
        ("Ulm-x", "gout-x", 5),
    ] {
        (0..rows).for_each(|_| text += &format!("{city},north-x,{ill}\n"));
    }
    // Seven more small classes, as even as can be; two of them are alike in size and shares.
    for (town, rows) in [3, 4, 5, 6, 7, 8, 3].into_iter().enumerate() {
        (0..rows).for_each(|row| {
            text += &format!("Town-x{town},south-x,{}\n", ["flu-x", "gout-x", "mumps-x"][row % 3])
        });
    }
    dir.write("t.csv", &text);
    let flags = "check t.csv --qi city,ward --sensitive ill -k 9";
    let named = "--values ill=flu-x,mumps-x";
    let models: [(&str, &str); 8] = [
        (
            "--alpha ill=0.5",
            "- 12 rows, the most frequent value has 58.33 % (7 of 12), 50 % allowed\n",
        ),
        (
            "--alpha ill=0.5 --values ill=flu-x",
            "- 12 rows, the named value has 58.33 % (7 of 12), 50 % allowed\n",
        ),
        (
            &format!("--alpha ill=0.5 {named}"),
            "- 3 rows, the named values together have 66.67 % (2 of 3), 50 % allowed (2 classes like this)\n",
        ),
        ("--l ill=2", "- 12 rows, the most frequent value has 58.33 % (7 of 12), 50 % allowed\n"),
        ("--distinct-l ill=2", "- 2 rows, 1 different value, 2 needed\n"),
        (
            "--entropy-l ill=2",
            "- 12 rows, an effective number of 1.9723 values, 2 needed; the most frequent value has 58.33 % (7 of 12)\n",
        ),
        (
            "--recursive ill=1.2:2",
            "- 12 rows, the most frequent value has 58.33 % (7 of 12), those from rank 2 on together 41.67 % (5 of 12): the ratio is 1.4, below 1.2 needed\n",
        ),
        ("--t ill=0.4", "- 2 rows, the distance is 0.5333, 0.4 allowed\n"),
    ];
    for (rule, reported) in models {
        let run = dir.run(&format!("{flags} {rule}"));
        assert_eq!(run.code, Some(1), "{run:?}");
        assert!(run.stdout.contains(reported), "{rule}\n{}", run.stdout);
        assert!(
            run.stdout.contains(
                "- 2 rows, 9 needed\n          - 3 rows, 9 needed (2 classes like this)\n"
            ),
            "worst first: {}",
            run.stdout
        );
        assert!(run.stdout.contains("        and 2 classes not listed\n"), "{}", run.stdout);
        assert!(
            !run.stdout.contains("- 10 rows"),
            "a class that holds is not listed: {}",
            run.stdout
        );
        let json = dir.run(&format!("{flags} {rule} --json")).stdout;
        let verified =
            dir.run(&format!("verify t.csv --qi city,ward --sensitive ill -k 9 {rule}")).stdout;
        assert!(verified.contains(reported), "{verified}");
        for value in cells(&text) {
            assert!(
                [&run.stdout, &json, &verified].iter().all(|said| !said.contains(value)),
                "{value} in\n{}{json}",
                run.stdout
            );
        }
        let found: serde_json::Value = serde_json::from_str(&json).unwrap();
        let on_ill = &found["rules"][1];
        let keys: Vec<&String> = on_ill.as_object().unwrap().keys().collect();
        assert_eq!(
            keys,
            [
                "examples",
                "limit",
                "measure",
                "rows",
                "rule",
                "sensitive",
                "unit",
                "violations",
                "worst"
            ]
        );
        let classes = on_ill["examples"].as_array().unwrap();
        assert!(!classes.is_empty() && classes.len() <= 5);
        for class in classes {
            let keys: Vec<&String> = class.as_object().unwrap().keys().collect();
            assert_eq!(keys, ["classes", "count", "measure", "size", "tail", "text"]);
        }
    }
    let run = dir.succeed("check t.csv --qi city,ward --sensitive ill -k 2");
    assert!(!run.stdout.contains("needed") && !run.stdout.contains("not listed"), "{}", run.stdout);
}
