use crate::workdir::{CANARY, QUICK, Workdir};

const ROLES: &str = "--qi age,zip,sex --sensitive diagnosis --rest drop --hierarchy zip=prefix:4,3";

/// Patients and a release of them.
fn released(flags: &str) -> Workdir {
    let dir = Workdir::with_patients(500);
    dir.succeed(&format!(
        "anonymize patients.csv -o safe.csv {ROLES} -k 5 --quiet {QUICK} {flags}"
    ));
    dir
}

fn query(dir: &Workdir, more: &str) -> String {
    dir.succeed(&format!("query patients.csv safe.csv {ROLES} {more}")).stdout
}

fn fails(dir: &Workdir, line: &str, code: i32, message: &str) {
    let run = dir.run(line);
    assert_eq!(run.code, Some(code), "{run:?}");
    assert!(run.stderr.contains(message), "wanted: {message}\ngot: {}", run.stderr);
    assert!(run.stdout.is_empty() && !run.stderr.contains(CANARY), "{run:?}");
}

#[test]
fn the_demo_can_be_asked() {
    let dir = Workdir::new();
    dir.succeed("demo");
    let line = "query lookalike-demo/patients.csv lookalike-demo/safe.csv -c lookalike-demo/lookalike.toml";
    let run = dir.succeed(line);
    assert!(run.stderr.is_empty(), "{}", run.stderr);
    assert!(run.stdout.starts_with("source    2,000 rows\nrelease   "), "{}", run.stdout);
    for part in ["count         1,000 ", "sum of age    1,000 ", "mean error"] {
        assert!(run.stdout.contains(part), "{part}\n{}", run.stdout);
    }
    assert!(run.stdout.lines().all(|line| line.chars().count() <= 80), "{}", run.stdout);
    assert_eq!(
        dir.succeed(&format!("{line} --threads 1")).stdout,
        run.stdout,
        "threads do not show"
    );
    assert_ne!(dir.succeed(&format!("{line} --seed 2")).stdout, run.stdout, "seeds do");
}

#[test]
fn json_has_every_number_and_every_query_if_asked() {
    let dir = released("");
    let found: serde_json::Value =
        serde_json::from_str(&query(&dir, "--json --random 40 --seed 9")).unwrap();
    assert_eq!(
        (&found["version"], &found["seed"], &found["source_rows"]),
        (&1.into(), &9.into(), &500.into())
    );
    let [counts, sums] = &found["workloads"].as_array().unwrap()[..] else { panic!("{found}") };
    assert_eq!(
        (&counts["queries"], &counts["undefined"], &counts["sum"]),
        (&40.into(), &0.into(), &serde_json::Value::Null)
    );
    assert_eq!((&sums["queries"], &sums["sum"]), (&40.into(), &"age".into()));
    assert!(
        counts["mean_error"].as_f64().unwrap() > 0.0
            && counts["p90_error"].as_f64() >= counts["median_error"].as_f64()
    );
    assert!(counts.get("each").is_none(), "the truth of each query is confidential");

    let run = dir.succeed(&format!(
        "query patients.csv safe.csv {ROLES} --json --each --random 5 --on sex,diagnosis --sum age"
    ));
    assert!(
        run.stderr.contains("warning: the true answers below are counted in the source"),
        "{}",
        run.stderr
    );
    let found: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let one = &found["workloads"][1]["each"][4];
    assert_eq!(one["query"], 10);
    assert_eq!(one["where"].as_object().unwrap().keys().collect::<Vec<_>>(), ["diagnosis", "sex"]);
    let (truth, estimate) = (one["truth"].as_f64().unwrap(), one["estimate"].as_f64().unwrap());
    assert!((one["error"].as_f64().unwrap() - (estimate - truth).abs() / truth).abs() < 1e-9);
}

#[test]
fn own_queries_are_answered_for_every_way_to_publish() {
    for flags in ["", "--publish bounds", "--publish set", "--snap --hierarchy age=intervals:5,10"]
    {
        let dir = released(flags);
        dir.write(
            "q.toml",
            "[[query]]\nwhere = { sex = \"female\", diagnosis = [\"flu\", \"HIV\"] }\n[[query]]\n[[query]]\nsum = \"age\"\n\
             where = { zip = { node = \"5370*\" } }\n[[query]]\nwhere = { age = [200, 300] }\n",
        );
        let roles = if flags.contains("age=") { "--hierarchy age=intervals:5,10" } else { "" };
        let text = query(&dir, &format!("--queries q.toml --each {roles}"));
        assert!(text.contains("1 query has the true answer 0"), "{text}");
        assert!(text.contains("2    500       500  0.0 %"), "{text}");
        assert!(text.contains("diagnosis = flu or HIV, sex = female"), "{text}");
        assert!(text.contains("age 200..300") && text.contains("zip in 5370*"), "{text}");
        let found: serde_json::Value =
            serde_json::from_str(&query(&dir, &format!("--queries q.toml --each --json {roles}")))
                .unwrap();
        let of =
            |workload: usize, query: usize| found["workloads"][workload]["each"][query].clone();
        // By hand, from the rows of the table.
        let rows: Vec<Vec<String>> = dir
            .text("patients.csv")
            .lines()
            .skip(1)
            .map(|line| line.split(',').map(String::from).collect())
            .collect();
        let women = rows
            .iter()
            .filter(|row| row[3] == "female" && ["flu", "HIV"].contains(&row[4].as_str()))
            .count();
        assert_eq!(of(0, 0)["truth"].as_f64().unwrap().to_string(), women.to_string());
        let ages: u64 = rows
            .iter()
            .filter(|row| row[2].starts_with("5370"))
            .map(|row| row[1].parse::<u64>().unwrap())
            .sum();
        assert_eq!(of(1, 0)["truth"].as_f64().unwrap().to_string(), ages.to_string());
        assert!(of(1, 0)["error"].as_f64().unwrap() < 0.5, "{flags}: {found}");
        assert_eq!((of(0, 2)["truth"].as_f64(), of(0, 2)["error"].as_f64()), (Some(0.0), None));
    }
}

#[test]
fn a_table_without_numbers_has_no_sums() {
    let dir = Workdir::with_patients(100);
    let flags = "--qi zip,sex --kind zip=categorical --rest drop";
    dir.succeed(&format!("anonymize patients.csv -o safe.csv {flags} -k 2 --quiet {QUICK}"));
    let run = dir.succeed(&format!("query patients.csv safe.csv {flags} --random 10"));
    assert!(run.stderr.contains("no sums: no quasi-identifier is numeric"), "{}", run.stderr);
    assert!(!run.stdout.contains("sum of"), "{}", run.stdout);
    dir.succeed(&format!(
        "anonymize patients.csv -o age.csv --qi age --rest drop -k 2 --quiet {QUICK}"
    ));
    let run = dir.succeed("query patients.csv age.csv --qi age --rest drop --random 10");
    assert!(run.stderr.contains("no sums: `age` is the only column"), "{}", run.stderr);
}

#[test]
fn bad_queries_are_told_with_their_place() {
    let dir = released("");
    let line = format!("query patients.csv safe.csv {ROLES} --queries q.toml");
    for (content, message) in [
        ("", "q.toml: there is no query: begin every query with a line [[query]]"),
        ("[[query]\n", "q.toml: TOML parse error at line 1"),
        (
            "[[query]]\nwhere = { age = [1, 2, 3] }",
            "q.toml: query 1, column `age`: a list without quotes is a range",
        ),
        ("[[query]]\nhaving = 1", "q.toml: query 1: `having` is unknown"),
        (
            "[[query]]\n[[query]]\nwhere = { aeg = 5 }",
            "is not in the release (it has `age`, `zip`, `sex`, `diagnosis`); did you mean `age`?",
        ),
        ("[[query]]\nwhere = { note = \"x\" }", "query 1: column `note` is not in the release"),
        (
            "[[query]]\nwhere = { sex = \"femail\" }",
            "query 1, column `sex`: there is no value `femail`",
        ),
        ("[[query]]\nwhere = { sex = [1, 2] }", "query 1, column `sex`: the column is categorical"),
        ("[[query]]\nwhere = { age = \"old\" }", "query 1, column `age`: `old` is no number"),
        (
            "[[query]]\nwhere = { age = [30, 20] }",
            "query 1, column `age`: the range runs backwards",
        ),
        (
            "[[query]]\nwhere = { zip = { node = \"9****\" } }",
            "query 1, column `zip`: there is no group `9****`",
        ),
        ("[[query]]\nsum = \"sex\"", "query 1, column `sex`: only numbers can be summed"),
    ] {
        dir.write("q.toml", content);
        fails(&dir, &line, 2, message);
    }
    fails(&dir, &line.replace("q.toml", "nowhere.toml"), 5, "nowhere.toml");
}

#[test]
fn bad_requests_are_told() {
    let dir = released("");
    let line = |more: &str| format!("query patients.csv safe.csv {ROLES} {more}");
    fails(&dir, &line("--on age,name"), 2, "column `name` is not in the release");
    fails(
        &dir,
        &line("--on age,aeg"),
        2,
        "is not in the release (it has `age`, `zip`, `sex`, `diagnosis`): did you mean `age`?",
    );
    fails(&dir, &line("--sum sex"), 2, "column `sex` has no numbers");
    fails(&dir, &line("--sum age --on age"), 2, "no column is left for conditions");
    fails(&dir, &line("--random 0"), 2, "--random");
    fails(&dir, &line("--queries q.toml --seed 3"), 2, "cannot be used with");
    fails(&dir, "query patients.csv", 2, "<RELEASE>");
    fails(&dir, "query patients.csv safe.csv --qi age,zip,sex", 2, "no role for `diagnosis`");
    fails(&dir, "query patients.csv nowhere.csv --qi age --rest drop", 5, "nowhere.csv");
    fails(
        &dir,
        "query patients.csv safe.csv --qi age,note --rest drop",
        3,
        "the release has no column `note`",
    );
    // A release of another table, or made under another request.
    fails(
        &dir,
        "query patients.csv safe.csv --qi age,zip,sex --rest drop",
        3,
        "the release, column `zip`, data row ",
    );
    dir.write("other.csv", "age,zip,sex,diagnosis\n[20-30],5370*,x,flu\n");
    fails(
        &dir,
        &line("").replace("safe.csv", "other.csv"),
        3,
        "the release, column `sex`, data row 1: the cell does not fit the source",
    );
}
