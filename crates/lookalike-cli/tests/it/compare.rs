use serde_json::Value;

use crate::interrupt::stopped_in_the_search;
use crate::workdir::{CANARY, Workdir, ended};

const ROLES: &str = "--qi age,zip,sex --sensitive diagnosis --rest drop --hierarchy zip=prefix:4,3";

/// Every algorithm that is compared when none is named.
const USUAL: [&str; 3] = ["mondrian", "bottom-up", "top-down"];

fn fails(dir: &Workdir, line: &str, code: i32, message: &str) {
    let before = dir.files();
    let run = dir.run(line);
    assert_eq!(run.code, Some(code), "{line}\n{run:?}");
    assert!(run.stderr.contains(message), "wanted: {message}\ngot: {}", run.stderr);
    let said = format!("{}{}", run.stdout, run.stderr);
    assert!(!said.contains(CANARY) && !run.stdout.contains("runs"), "{run:?}");
    let is_json = line.contains("--json") && !line.contains("--csv -");
    assert_eq!(run.stdout.contains("\"error\""), is_json, "{line}\n{run:?}");
    assert!(is_json || run.stdout.is_empty(), "{line}\n{run:?}");
    assert_eq!(dir.files(), before, "{line}");
}

/// The tags of a picture close in the order in which they open, and nothing else looks like a tag.
fn is_well_formed(text: &str) {
    let mut open: Vec<&str> = Vec::new();
    for part in text.split('<').skip(1) {
        let (tag, rest) = part.split_once('>').unwrap();
        assert!(!rest.contains('>') && tag.matches('"').count() % 2 == 0, "{part}");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "{part}");
        } else if !tag.ends_with('/') {
            open.push(tag.split(' ').next().unwrap());
        }
        for entity in rest.split('&').skip(1) {
            assert!(
                ["amp;", "lt;", "gt;", "quot;", "apos;"]
                    .iter()
                    .any(|known| entity.starts_with(known)),
                "{part}"
            );
        }
    }
    assert!(open.is_empty(), "{open:?}");
    assert!(!text.contains("<script") && !text.contains("href"), "{text}");
}

#[test]
fn the_table_has_a_row_for_each_algorithm_and_k() {
    let dir = Workdir::with_patients(400);
    let run =
        dir.succeed(&format!("compare patients.csv {ROLES} --k 10,2,5,5 --queries 50 --steps 200"));
    let lines: Vec<Vec<&str>> =
        run.stdout.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(
        lines[0].join(" "),
        "k algorithm NCP GCP bound gap C_DM classes suppressed error search memory note"
    );
    let ks: Vec<&str> = lines[1..].iter().map(|line| line[0]).collect();
    assert!(ks.is_sorted_by_key(|k| k.parse::<u64>().unwrap()), "{ks:?}");
    for name in USUAL {
        assert_eq!(lines.iter().filter(|line| line[1] == name).count(), 3, "{}", run.stdout);
    }
    for absent in ["ring", "optimal", "incognito", "-row"] {
        assert!(!run.stdout.contains(absent), "{absent}\n{}", run.stdout);
    }
    let without = dir
        .succeed(&format!("compare patients.csv {ROLES} -k 5 --queries 0 --algorithms mondrian"))
        .stdout;
    assert!(!without.contains("error") && without.lines().count() == 2, "{without}");
}

#[test]
fn csv_and_json_say_the_same() {
    let dir = Workdir::with_patients(300);
    let line = format!(
        "compare patients.csv {ROLES} --l diagnosis=2 --suppress 1% --k 2,5 --queries 40 --seed 3 --steps 200"
    );
    let found = dir.json(&format!("{line} --json --csv out.csv"));
    assert_eq!(
        (&found["version"], &found["rows"], &found["queries"]),
        (&1.into(), &300.into(), &40.into())
    );
    let runs = found["runs"].as_array().unwrap();
    let text = dir.text("out.csv");
    let mut lines = text.lines();
    let heads: Vec<&str> = lines.next().unwrap().split(',').collect();
    assert_eq!(lines.clone().count(), runs.len());
    for (line, run) in lines.zip(runs) {
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!(cells.len(), heads.len(), "{line}");
        let cell = |head: &str| cells[heads.iter().position(|other| *other == head).unwrap()];
        for head in [
            "k",
            "ncp",
            "gcp",
            "c_dm",
            "c_avg",
            "classes",
            "smallest",
            "released",
            "left_out",
            "median_count_error",
            "search_seconds",
        ] {
            let (one, other) = (cell(head).parse::<f64>().unwrap(), run[head].as_f64().unwrap());
            assert!((one - other).abs() <= 1e-9 * other.abs(), "{head}: {one} {other}");
        }
        assert_eq!(
            (cell("algorithm"), cell("status")),
            (run["algorithm"].as_str().unwrap(), run["status"].as_str().unwrap())
        );
        assert!(run["holds"] == true && run["smallest"].as_u64() >= run["k"].as_u64(), "{run}");
        assert_eq!(run["released"].as_u64().unwrap() + run["left_out"].as_u64().unwrap(), 300);
        assert!(
            run.get("bound").is_some()
                && run.get("gap").is_some()
                && run.get("peak_bytes").is_some(),
            "{run}"
        );
    }
    // The same searches as anonymize makes, and queries that stay the same.
    let alone = dir.json(&format!(
        "anonymize patients.csv -o safe.csv {ROLES} --l diagnosis=2 --suppress 1% -k 5 --seed 3 --algorithm top-down --json"
    ));
    let among = runs.iter().find(|run| run["k"] == 5 && run["algorithm"] == "top-down").unwrap();
    assert_eq!(alone["loss"]["ncp"], among["ncp"]);
    let asked =
        dir.json(&format!("query patients.csv safe.csv {ROLES} --random 40 --seed 3 --json"));
    assert_eq!(asked["workloads"][0]["median_error"], among["median_count_error"]);
    let piped = dir.succeed(&format!("{line} --csv - --threads 1")).stdout;
    let but_times = |text: &str| {
        text.lines()
            .map(|line| line.split(',').take(18).collect::<Vec<_>>().join(","))
            .collect::<Vec<_>>()
    };
    assert_eq!(but_times(&piped), but_times(&text), "threads do not show");
}

#[test]
fn pictures_are_drawn_into_a_folder() {
    let dir = Workdir::with_patients(200);
    let line = format!(
        "compare patients.csv {ROLES} --k 2,5,9999 --queries 0 --steps 200 --plots some/plots"
    );
    dir.succeed(&line);
    for name in ["loss-by-k.svg", "time-by-loss.svg"] {
        let text = dir.text(&format!("some/plots/{name}"));
        is_well_formed(&text);
        assert!(USUAL.iter().all(|name| text.contains(&format!(">{name}</text>"))), "{text}");
        assert!(text.contains("loss (NCP)") && !text.contains(CANARY), "{text}");
    }
    assert!(dir.text("some/plots/loss-by-k.svg").contains(">5</text>"));
    let run = dir.run(&line);
    assert!(
        run.code == Some(2)
            && run.stderr.contains("loss-by-k.svg exists: choose another name or add --force"),
        "{run:?}"
    );
    dir.succeed(&format!("{line} --force"));
}

#[test]
fn what_cannot_be_met_is_a_row_among_the_others() {
    let dir = Workdir::with_patients(100);
    let run =
        dir.succeed(&format!("compare patients.csv {ROLES} --k 5,101 --queries 0 --steps 200"));
    assert!(run.stdout.lines().last().unwrap().contains("101  all"), "{}", run.stdout);
    assert!(run.stdout.contains("not met: k = 101 cannot be met"), "{}", run.stdout);
    let found = dir.json(&format!(
        "compare patients.csv {ROLES} --k 5,101 --queries 0 --algorithms mondrian,cluster --json"
    ));
    let status: Vec<&str> = found["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| run["status"].as_str().unwrap())
        .collect();
    assert_eq!(status, ["heuristic", "heuristic", "not met", "not met"]);
    let none = dir.run(&format!("compare patients.csv {ROLES} --k 101,102 --queries 0"));
    assert_eq!((none.code, none.stdout.matches("not met").count()), (Some(1), 2), "{none:?}");
}

#[test]
fn all_is_every_algorithm_and_ring_must_be_asked_for() {
    let dir = Workdir::with_patients(120);
    let line =
        format!("compare patients.csv {ROLES} -k 3 --queries 20 --time 2s --json --algorithms");
    let run = dir.succeed(&format!("{line} all"));
    assert!(
        run.stderr.contains("ring is not compared: its releases are non-homogeneous"),
        "{}",
        run.stderr
    );
    assert!(
        !run.stdout.contains("ring\"")
            && run.stdout.contains("optimal")
            && run.stdout.contains("top-down-row")
    );
    let found = dir.json(&format!("{line} all --non-homogeneous"));
    let runs = found["runs"].as_array().unwrap();
    assert!(runs.iter().all(|run| run["holds"] == true), "{found}");
    let ring = runs.iter().find(|run| run["algorithm"] == "ring").unwrap();
    assert!(ring["non_homogeneous"] == true && ring["smallest"].as_u64() >= Some(3), "{ring}");
    fails(&dir, &format!("{line} mondrian,ring"), 2, "ring makes non-homogeneous releases");
    fails(&dir, &format!("{line} mondrian --non-homogeneous"), 2, "--non-homogeneous needs ring");
    fails(&dir, &format!("{line} mondrian --scheme ops"), 2, "--scheme needs a global algorithm");
    dir.succeed(&format!("{line} optimal --scheme ops --cost dm"));
}

#[test]
fn sets_of_rules_are_compared_by_their_files() {
    let dir = Workdir::with_patients(300);
    let columns = "[columns]\nage = { role = \"quasi\" }\nsex = { role = \"quasi\" }\nnote = { role = \"keep\" }\n";
    dir.write(
        "loose.toml",
        format!("k = 4\nrest = \"drop\"\n{columns}zip = {{ role = \"keep\" }}\n"),
    );
    dir.write(
        "strict.toml",
        format!("k = 4\n{columns}zip = {{ role = \"quasi\" }}\ndiagnosis = {{ role = \"sensitive\", l = 3 }}\n"),
    );
    let line = "compare patients.csv -c loose.toml -c strict.toml --queries 30 --algorithms mondrian,top-down";
    let run = dir.succeed(&format!("{line} --plots plots"));
    let firsts: Vec<&str> =
        run.stdout.lines().map(|line| line.split_whitespace().next().unwrap()).collect();
    assert_eq!(firsts, ["rules", "loose", "loose", "strict", "strict"]);
    for name in ["loose-loss-by-k.svg", "strict-loss-by-k.svg", "strict-time-by-loss.svg"] {
        is_well_formed(&dir.text(&format!("plots/{name}")));
    }
    let found = dir.json(&format!("{line} --json --k 3,6"));
    assert_eq!(found["runs"].as_array().unwrap().len(), 8);
    let alone = dir.json(
        "compare patients.csv -c strict.toml --queries 30 --algorithms top-down --json --k 6",
    );
    assert_eq!(
        alone["runs"][0]["ncp"], found["runs"][7]["ncp"],
        "what another set looks at does not show"
    );
    assert_eq!(alone["runs"][0]["median_count_error"], found["runs"][7]["median_count_error"]);
    fails(&dir, "compare patients.csv -c loose.toml -c loose.toml", 2, "loose.toml is named twice");
    dir.write("other.toml", format!("k = 4\ninput.path = \"other.csv\"\n{columns}"));
    fails(&dir, "compare -c loose.toml -c other.toml", 2, "have different tables");
    dir.write("wrong.toml", "k = 4\n[columns]\nage = { role = \"quasi\" }\nsex = { role = \"quasi\", kind = \"numeric\" }\n");
    fails(&dir, "compare patients.csv -c loose.toml -c wrong.toml --queries 0", 3, "column `sex`");
}

#[test]
fn bad_requests_are_told_before_anything_is_searched() {
    let dir = Workdir::with_patients(60);
    let line = |more: &str| format!("compare patients.csv {ROLES} {more}");
    fails(&dir, &line("--queries 0"), 2, "no rule: say how many rows must look alike");
    fails(&dir, &line("--k 2,x"), 2, "--k");
    fails(&dir, &line("--k 0"), 2, "k ");
    fails(&dir, &line("--k 2 --algorithms mondrain"), 2, "--algorithms");
    fails(&dir, &line("--k 2 --time soon"), 2, "time is a number and a unit");
    fails(&dir, &line("--k 2 --json --csv -"), 2, "would both go to standard output");
    fails(&dir, &line("--k 2 --csv patients.csv --force"), 2, "is the input itself");
    fails(&dir, &line("--k 2 --csv no/such/folder.csv"), 5, "no/such/folder.csv");
    fails(&dir, "compare patients.csv --qi aeg -k 2", 2, "did you mean `age`?");
    fails(&dir, "compare nowhere.csv --qi age -k 2", 5, "nowhere.csv");
    fails(&dir, "compare --qi age -k 2", 2, "no table");
    dir.write("there.csv", "old");
    fails(&dir, &line("--k 2 --csv there.csv"), 2, "there.csv exists");
}

#[test]
fn a_global_recoding_is_not_held_against_a_bound_that_it_may_go_below() {
    let dir = Workdir::new();
    // Sets of values: {p, r} and {q, s} cost less than any range.
    let rows: String =
        ["p", "r", "p", "r", "q", "s", "q", "s"].map(|value| format!("{value},x\n")).concat();
    dir.write("t.csv", format!("a,b\n{rows}"));
    let line = "compare t.csv --qi a,b -k 3 --bound full --queries 0 --algorithms optimal,auto --scheme sps --json";
    let reported: Value = serde_json::from_str(&dir.succeed(line).stdout).unwrap();
    let of = |name: &str| {
        reported["runs"].as_array().unwrap().iter().find(|run| run["algorithm"] == name).unwrap()
    };
    assert!(of("optimal")["bound"].is_null() && of("optimal")["gap"].is_null(), "{reported}");
    assert!(of("auto")["gap"].as_f64().unwrap() >= 1.0, "{reported}");
}

#[test]
fn no_cell_is_shown() {
    let dir = Workdir::new();
    let mut text = String::from("city,age,diagnosis\n");
    (0..90)
        .for_each(|i| text += &format!("{CANARY}-{},{},{CANARY}-{}\n", i % 9, 30 + i % 7, i % 4));
    dir.write("t.csv", text);
    let flags = "--qi city,age --sensitive diagnosis --distinct-l diagnosis=2";
    for line in ["--k 3,5,95", "--k 3 --json", "--k 3 --csv - --plots p"] {
        let run = dir.succeed(&format!("compare t.csv {flags} {line} --queries 50"));
        assert!(!run.stdout.contains(CANARY) && !run.stderr.contains(CANARY), "{run:?}");
    }
    assert!(!dir.text("p/time-by-loss.svg").contains(CANARY));
    let run = dir.run("compare t.csv --qi city,age --kind city=numeric -k 2");
    assert!(run.code == Some(3) && !run.stderr.contains(CANARY), "{run:?}");
}

#[test]
fn stopped_it_tells_what_it_has() {
    let dir = Workdir::new();
    dir.succeed("synth census --rows 100000 -o census.csv");
    let flags =
        "--qi age,sex,race,marital,education,birthplace,occupation,workclass --sensitive income";
    let line = format!(
        "compare census.csv --k 2,3,4,5,6,7,8 --queries 0 {flags} --threads 1 --csv out.csv"
    );
    let (child, reported) = stopped_in_the_search(&dir, &line);
    let run = ended(&child.wait_with_output().unwrap());
    assert_eq!(run.code, Some(130), "{run:?}");
    assert!(reported.contains("the results so far will be printed"), "{reported}");
    assert!(
        run.stdout.lines().count() < 10 && run.stdout.starts_with("k  algorithm"),
        "{}",
        run.stdout
    );
    assert_eq!(dir.text("out.csv").lines().count(), run.stdout.lines().count());
}
