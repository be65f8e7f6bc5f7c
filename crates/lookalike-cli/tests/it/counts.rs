//! A table of distinct rows with counts: every command counts as if the rows were there.

use serde_json::Value;

use crate::workdir::Workdir;

const ROLES: &str = "--qi age,sex --sensitive diagnosis --keep ward --accept-dependent ward -k 3";

/// `t.csv` has many equal rows, `c.csv` each of them once with its count.
fn tables() -> Workdir {
    let dir = Workdir::new();
    let mut plain = "age,sex,diagnosis,ward\n".to_string();
    let mut counted = "age,sex,n,diagnosis,ward\n".to_string();
    for i in 0..60 {
        let (age, sex) = (20 + i * 7 % 23, ["f", "m"][i / 7 % 2]);
        let rest = format!("{},{}", ["flu", "gout", "cold"][i % 3], ["a", "b"][i / 5 % 2]);
        let count = 1 + i * i % 4;
        (0..count).for_each(|_| plain += &format!("{age},{sex},{rest}\n"));
        counted += &format!("{age},{sex},{count},{rest}\n");
    }
    dir.write("t.csv", plain);
    dir.write("c.csv", counted);
    dir
}

/// Both releases, by an algorithm that divides no tuple.
fn released() -> Workdir {
    let dir = tables();
    let rest = "--algorithm mondrian --seed 1 --suppress 2%";
    dir.succeed(&format!("anonymize t.csv -o t-safe.csv {ROLES} {rest}"));
    dir.succeed(&format!("anonymize c.csv -o c-safe.csv {ROLES} --count n {rest}"));
    dir
}

#[test]
fn a_release_has_one_row_for_rows_that_show_the_same() {
    let dir = released();
    let (plain, counted) = (dir.text("t-safe.csv"), dir.text("c-safe.csv"));
    let plain: Vec<&str> = plain.lines().collect();
    let mut expected = vec!["age,sex,n,diagnosis,ward".to_string()];
    for same in plain[1..].chunk_by(|one, other| one == other) {
        let mut cells: Vec<String> = same[0].split(',').map(String::from).collect();
        cells.insert(2, same.len().to_string());
        expected.push(cells.join(","));
    }
    assert_eq!(counted.lines().collect::<Vec<_>>(), expected);
    assert!(expected.len() < plain.len());
}

#[test]
fn check_verify_and_query_count_the_rows_behind_the_counts() {
    let dir = released();
    for (file, rest) in [("", ""), ("-safe", "--source")] {
        let of = |name: &str, count: &str| {
            let source =
                if rest.is_empty() { String::new() } else { format!("--source {name}.csv") };
            let command = if rest.is_empty() { "check" } else { "verify" };
            let line =
                format!("{command} {name}{file}.csv {ROLES} --suppress 2% {count} {source} --json");
            serde_json::from_str::<Value>(&dir.run(&line).stdout).unwrap()
        };
        let (plain, counted) = (of("t", ""), of("c", "--count n"));
        for key in ["holds", "measures", "rules"] {
            assert_eq!(plain[key], counted[key], "{key}");
        }
    }
    let query = |name: &str, count: &str| {
        dir.json(&format!(
            "query {name}.csv {name}-safe.csv {ROLES} {count} --random 50 --each --json"
        ))
    };
    assert_eq!(query("t", ""), query("c", "--count n"));
}

#[test]
fn report_and_compare_count_the_rows_behind_the_counts() {
    let dir = released();
    let report = |name: &str, count: &str| -> Value {
        dir.succeed(&format!(
            "report {name}.csv {name}-safe.csv {ROLES} --suppress 2% {count} --queries 40 \
             --bound full -o {name}.html --json {name}.json"
        ));
        serde_json::from_str(&dir.text(&format!("{name}.json"))).unwrap()
    };
    let (mut plain, mut counted) = (report("t", ""), report("c", "--count n"));
    // The columns have one more, the caveat about persons another text, and the files other names.
    let columns = counted["columns"].as_array_mut().unwrap();
    assert!(columns.iter().any(|column| column["name"] == "n"));
    columns.retain(|column| column["name"] != "n");
    for report in [&mut plain, &mut counted] {
        report["source"] = Value::Null;
        report["release"] = Value::Null;
        // Files, settings, and rows as the files have them.
        report["record"] = Value::Null;
        report["examples"] = Value::Null;
        let caveats = report["limits"].as_array_mut().unwrap();
        caveats.retain(|caveat| caveat["key"] != "persons");
    }
    assert_eq!(plain, counted);
    let compare = |name: &str, count: &str| {
        let mut found = dir.json(&format!(
            "compare {name}.csv --qi age,sex --sensitive diagnosis -k 3 {count} --queries 30 \
             --algorithms mondrian,bottom-up,optimal --json"
        ));
        for run in found["runs"].as_array_mut().unwrap() {
            for key in ["search_seconds", "peak_bytes"] {
                run[key] = Value::Null;
            }
        }
        found
    };
    assert_eq!(compare("t", ""), compare("c", "--count n"));
}

#[test]
fn what_counts_cannot_be_used_with_is_refused() {
    let dir = tables();
    let fails = |line: &str, message: &str| {
        let run = dir.run(line);
        assert_eq!(run.code, Some(2), "{run:?}");
        assert!(run.stderr.contains(message), "wanted: {message}\ngot: {}", run.stderr);
    };
    let line = format!("anonymize c.csv -o o.csv {ROLES} --count n");
    fails(&format!("{line} --input-order"), "the order of the source cannot be kept");
    fails(
        &format!("{line} --algorithm ring --non-homogeneous"),
        "a table with a count column has homogeneous releases only",
    );
    fails(&line.replace("--count n", "--count age"), "is the count column");
    fails(
        &format!("query c.csv c.csv {ROLES} --count 200"),
        "for 200 random queries say --random 200",
    );
    let flags = "--qi age,sex --sensitive diagnosis --keep n -k 3 --count ward";
    let run = dir.run(&format!("anonymize c.csv -o o.csv {flags}"));
    assert!(run.stderr.contains("column `ward`, data row 1: not a count"), "{run:?}");
}
