//! The record in a report: what it says of files, settings and decisions, what the public edition
//! must not say, and the paths of a configuration.

use serde_json::Value;

use crate::workdir::{QUICK, Workdir, ended};

const TOML: &str = "k = 5
seed = 8191
[input]
path = 'patients.csv'
[output]
path = 'safe.csv'
[columns]
age = { role = 'quasi', reason = 'known to neighbours' }
zip = { role = 'quasi', hierarchy = { prefix = [4, 3] } }
sex = { role = 'quasi' }
diagnosis = { role = 'sensitive', l = 2 }
name = { role = 'identifier', reason = 'names a person' }
note = { role = 'keep', dependent = true, reason = 'wanted by the clinic' }
";

/// A folder with a source, a release and their configuration.
fn released() -> Workdir {
    let dir = Workdir::new();
    let rows = crate::workdir::patients(300).replace("canary7341 note", "n");
    dir.write("patients.csv", rows);
    dir.write("c.toml", TOML);
    dir.succeed(&format!("anonymize -c c.toml {QUICK}"));
    dir
}

fn report(dir: &Workdir, flags: &str) -> (String, Value) {
    dir.succeed(&format!(
        "report -c c.toml --bound none --queries 60 --date 2026-11-18 --force -o r.html --json \
         r.json {flags}"
    ));
    (dir.text("r.html"), serde_json::from_str(&dir.text("r.json")).unwrap())
}

#[test]
fn the_record_has_date_files_settings_reasons_and_decisions() {
    let dir = released();
    let (page, numbers) = report(&dir, "");
    let record = &numbers["record"];
    assert_eq!(record["date"], "2026-11-18");
    for file in ["source", "release"] {
        let of = &record[file];
        let bytes = dir.read(of["name"].as_str().unwrap()).len();
        assert_eq!(of["bytes"], bytes, "{of}");
        let sum = of["sha256"].as_str().unwrap();
        assert!(sum.len() == 64 && page.contains(sum), "{of}");
        let line = format!("echo '{sum}  {}' | sha256sum --check", of["name"].as_str().unwrap());
        assert!(ended(&dir.shell(&line).output().unwrap()).code == Some(0), "{line}");
    }
    let reason = |name: &str| {
        let columns = record["columns"].as_array().unwrap();
        columns.iter().find(|column| column["name"] == name).unwrap()["reason"].clone()
    };
    assert_eq!(reason("age"), "known to neighbours");
    assert_eq!(reason("name"), "names a person");
    assert!(reason("sex").is_null());
    let decisions = record["decisions"].to_string();
    for said in ["although it determines a quasi-identifier: note", "Not published: name"] {
        assert!(decisions.contains(said), "{said}: {decisions}");
    }
    let warnings = record["warnings"].to_string();
    assert!(warnings.contains("`note`") || warnings.contains("unique"), "{warnings}");
    assert!(record["settings"].to_string().contains("k = 5 on age, zip, sex"), "{record:#}");
    assert_eq!(record["request"]["k"], 5);
    for text in [&page, &dir.text("r.json")] {
        assert!(!text.contains("8191"), "the seed is secret");
    }
    assert!(page.contains("known to neighbours") && page.contains("prefixes of 4, 3"), "{page}");
    // The same day, the same page.
    assert_eq!(report(&dir, "").0, page);
    let other = page.replace("2026-11-18", "1970-01-01");
    let line = "SOURCE_DATE_EPOCH=5 $0 report -c c.toml --bound none --queries 60 -o e.html";
    assert_eq!(ended(&dir.shell(line).output().unwrap()).code, Some(0));
    assert_eq!(dir.text("e.html"), other);
}

#[test]
fn the_public_edition_has_no_trace_of_the_source_in_its_record() {
    let dir = released();
    let internal = report(&dir, "").1;
    let sum = internal["record"]["source"]["sha256"].as_str().unwrap().to_string();
    let (page, numbers) = report(&dir, "--edition public");
    let record = &numbers["record"];
    assert!(record["source"]["sha256"].is_null() && record["source"]["bytes"].is_null());
    assert!(record["request"].is_null() && record["warnings"].as_array().unwrap().is_empty());
    assert_eq!(record["release"]["sha256"], internal["record"]["release"]["sha256"]);
    for text in [&page, &dir.text("r.json")] {
        for never in [sum.as_str(), "neighbours", "names a person", "clinic", "determines"] {
            assert!(!text.contains(never), "{never}");
        }
    }
}

#[test]
fn example_rows_are_rows_of_the_release() {
    let dir = released();
    let released = dir.text("safe.csv");
    for edition in ["internal", "public"] {
        let (page, numbers) = report(&dir, &format!("--edition {edition}"));
        let examples = &numbers["examples"];
        let join = |cells: &Value| {
            let cells = cells.as_array().unwrap().iter().map(|cell| cell.as_str().unwrap());
            cells.collect::<Vec<_>>().join(",")
        };
        assert_eq!(released.lines().next().unwrap(), join(&examples["columns"]));
        let rows = examples["rows"].as_array().unwrap();
        assert!(rows.len() == 3 && page.contains("Example rows"), "{examples}");
        for row in rows {
            assert!(released.lines().any(|line| line == join(row)), "{row}");
        }
    }
}

#[test]
fn errors_of_counts_are_told_by_the_number_of_conditions() {
    let dir = released();
    let (page, numbers) = report(&dir, "");
    let by = numbers["queries_by_conditions"].as_array().unwrap();
    let conditions: Vec<u64> = by.iter().map(|one| one["conditions"].as_u64().unwrap()).collect();
    assert_eq!(conditions, [1, 2, 3]);
    assert_eq!(numbers["queries"]["median_error"], by[2]["median_error"]);
    assert!(page.contains("median error of a count with two conditions"), "{page}");
    assert!(by[0]["mean_error"].as_f64() < by[2]["mean_error"].as_f64(), "{by:#?}");
    let public = report(&dir, "--edition public").1;
    let by = public["queries_by_conditions"].as_array().unwrap();
    assert!(by.iter().all(|one| one["median_error"].is_number()), "{by:#?}");
    assert!(by[0]["mean_error"].is_null() && by[1]["mean_absolute"].is_null(), "{by:#?}");
}

#[test]
fn general_limits_are_not_alarms() {
    let dir = released();
    let (page, numbers) = report(&dir, "");
    let limits = numbers["limits"].as_array().unwrap();
    let matters: Vec<&str> = limits
        .iter()
        .filter(|limit| limit["matters"] == true)
        .map(|limit| limit["key"].as_str().unwrap())
        .collect();
    // The notes are unique, and a rule protects the diagnosis.
    assert_eq!(matters, ["kept"], "{limits:#?}");
    assert_eq!(limits[0]["key"], "kept");
    assert_eq!(page.matches("matters here").count(), 1);
}

#[test]
fn verify_takes_its_files_from_the_configuration() {
    let dir = released();
    let run = dir.succeed("verify -c c.toml");
    let said = "checked   safe.csv against patients.csv, as in the configuration\n";
    assert!(run.stdout.starts_with(said) && run.stdout.contains("against the source"), "{run:?}");
    // A release that was typed is checked alone: the source may be another one.
    let run = dir.succeed("verify safe.csv -c c.toml");
    assert!(!run.stdout.contains("against"), "{run:?}");
    let found = dir.json("verify -c c.toml --json");
    assert_eq!((&found["release"], &found["source"]), (&"safe.csv".into(), &"patients.csv".into()));
    // A forged row is found, because the source is there.
    let forged = dir.text("safe.csv").replacen(",flu,", ",cancer,", 1);
    dir.write("safe.csv", &forged);
    assert_eq!(dir.run("verify -c c.toml").code, Some(1));
    std::fs::remove_file(dir.path("patients.csv")).unwrap();
    let run = dir.run("verify -c c.toml");
    let said =
        "checked   safe.csv alone: the source patients.csv of the configuration is not there";
    assert!(run.stdout.starts_with(said), "{run:?}");
}

#[test]
fn a_run_with_flags_leaves_the_configuration_it_used() {
    let dir = Workdir::with_patients(200);
    std::fs::create_dir(dir.path("used")).unwrap();
    dir.write(
        "ages.csv",
        (0..100).map(|age| format!("{age};{}0s;*\n", age / 10)).collect::<String>(),
    );
    let toml = "k = 2\nrest = 'drop'\nseed = 7341\nalgorithm = 'mondrian'\n[input]\npath = 'patients.csv'\n\
                [output]\npath = 'out.csv'\n[columns]\nage = { role = 'quasi' }\nsex = { role = 'quasi' }\n\
                diagnosis = { role = 'sensitive' }\n";
    dir.write("base.toml", toml);
    let line = "anonymize -c base.toml -k 4 --hierarchy age=ages.csv --bound none";
    let said = dir.succeed(&format!("{line} --save-config used/this.toml")).stderr;
    assert!(said.contains("used/this.toml") && !said.contains("flags changed"), "{said}");
    let saved = dir.text("used/this.toml");
    let request = lookalike::Request::parse(&saved).unwrap();
    assert_eq!((request.k, request.seed), (Some(4), None), "{saved}");
    assert!(saved.contains("../patients.csv") && saved.contains("../ages.csv"), "{saved}");
    // Both commands know the rule and the files of the run.
    let verified = dir.succeed("verify -c used/this.toml").stdout;
    assert!(verified.contains("k = 4"), "{verified}");
    dir.succeed("report -c used/this.toml --queries 0 --bound none --json n.json");
    let numbers: Value = serde_json::from_str(&dir.text("n.json")).unwrap();
    assert_eq!(numbers["record"]["request"]["k"], 4);
    assert_eq!(
        dir.run(&format!("{line} --force -o b.csv --save-config used/b.toml")).code,
        Some(0)
    );
    let refused = dir.run(&format!("{line} -o c.csv --save-config used/this.toml"));
    assert!(refused.code == Some(2) && !dir.path("c.csv").exists(), "{refused:?}");
    let same = dir.run(&format!("{line} -o c.csv --save-config base.toml --force"));
    assert!(same.code == Some(2) && dir.text("base.toml") == toml, "{same:?}");
}

#[test]
fn a_run_with_flags_over_a_configuration_says_that_others_need_them() {
    let dir = Workdir::with_patients(200);
    let columns = "[columns]\nage = { role = 'quasi' }\nsex = { role = 'quasi' }\n";
    dir.write("c.toml", format!("k = 2\nrest = 'drop'\nalgorithm = 'mondrian'\n{columns}"));
    let line = "anonymize patients.csv -c c.toml --bound none";
    let plain = dir.succeed(&format!("{line} -o a.csv --seed 1")).stderr;
    assert!(!plain.contains("--save-config"), "{plain}");
    let changed = dir.succeed(&format!("{line} -o b.csv -k 3")).stderr;
    assert!(changed.trim_end().ends_with("or write it down with --save-config FILE"), "{changed}");
    // Limits of the search are no rules.
    dir.write("d.toml", format!("k = 2\nrest = 'drop'\n{columns}"));
    let line = "anonymize patients.csv -c d.toml --bound none -o d.csv --steps 50 --time 60s";
    let limited = dir.succeed(line).stderr;
    assert!(!limited.contains("flags changed"), "{limited}");
}
