use crate::workdir::{CANARY, Run, Workdir};

const FLAGS: &str = "-k 3 --qi age,work,city --sensitive ill --hierarchy work=work.csv --quiet";
const OPTIMAL: &str = "--algorithm optimal --scheme sps --cost hdm";

/// Made-up workers; those of a later month have ages, 33 and 43, that the first did not have.
fn workers(rows: usize, month: usize) -> String {
    let mut text = String::from("age,work,city,ill\n");
    for i in 0..rows {
        let even = 30 + (i * 7 + i / 9) % 9 * 2;
        let age = if [32, 42].contains(&even) { even + month } else { even };
        let age = if i % 11 == 5 { String::new() } else { age.to_string() };
        let work = [
            "Private",
            "State-gov",
            "Private",
            "Local-gov",
            "Without-pay",
            "Private",
            "Inc",
            "Not-inc",
        ][(i * 5 + month) % 8];
        let city = ["Ulm", "Bonn", "\"Frankfurt, Main\"", "", "Kiel"][i * 3 % 7 % 5];
        text += &format!("{age},{work},{city},{}\n", ["flu", "gout", "cold"][i % 3]);
    }
    text
}

const WORK: &str = "State-gov;Government;*\nLocal-gov;Government;*\nFederal-gov;Government;*\nPrivate;Private (all);*\n\
                    Inc;Self-employed;*\nNot-inc;Self-employed;*\nWithout-pay;Unemployed;*\nNever-worked;Unemployed;*\n";

/// Sets of values, nodes inside a set, numbers with a gap and the missing value, as somebody could
/// have written them.
const BY_HAND: &str = r#"version = 1
[columns.age]
kind = "numeric"
levels = 1
blocks = [
    { show = "[30-38]", from = "30", to = "38", loss = 0.5, risen = 1 },
    { show = "[40-46]", from = "40", to = "46", loss = 0.375, risen = 1 },
    { show = "", missing = true, loss = 0, risen = 0 },
]
[columns.work]
kind = "categorical"
levels = 2
blocks = [
    { show = "{Private, Without-pay}", values = ["Private", "Without-pay"], loss = 0.25, risen = 2 },
    { show = "{Government, Self-employed}", values = ["State-gov", "Local-gov", "Federal-gov", "Inc", "Not-inc"], loss = 0.625, risen = 2 },
]
[columns.city]
kind = "categorical"
levels = 1
blocks = [
    { show = "{Bonn, Kiel, \"\"}", values = ["Bonn", "Kiel", ""], loss = 0.6, risen = 1 },
    { show = "{\"Frankfurt, Main\", Ulm}", values = ["Frankfurt, Main", "Ulm"], loss = 0.4, risen = 1 },
]
"#;

fn workdir() -> Workdir {
    let dir = Workdir::new();
    dir.write("work.csv", WORK);
    dir.write("first.csv", workers(300, 0));
    dir.write("later.csv", workers(200, 1));
    dir.write("hand.toml", BY_HAND);
    dir
}

/// Nothing was written, and no cell is disclosed.
fn refused(dir: &Workdir, run: &Run, code: i32) {
    assert_eq!(run.code, Some(code), "{run:?}");
    assert!(!dir.path("out.csv").exists() && run.stdout.is_empty(), "{run:?}");
    assert!(!run.stderr.contains(CANARY) && !run.stderr.contains("Frankfurt"), "{}", run.stderr);
}

#[test]
fn the_recoding_of_a_table_applied_to_it_gives_the_same_bytes() {
    let dir = workdir();
    let flags = format!("{FLAGS} --suppress 2%");
    for out in ["csv", "parquet"] {
        dir.succeed(&format!(
            "anonymize first.csv -o one.{out} {flags} {OPTIMAL} --recoding r.toml --force"
        ));
        dir.succeed(&format!("apply r.toml first.csv -o two.{out} {flags}"));
        assert!(dir.read(&format!("one.{out}")) == dir.read(&format!("two.{out}")), "{out}");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(dir.path("r.toml")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "it lists values of the table");
    }
}

#[test]
fn further_rows_are_published_by_the_same_labels_and_the_judge_finds_them_true() {
    let dir = workdir();
    dir.succeed(&format!("anonymize first.csv -o first-safe.csv {FLAGS} {OPTIMAL} --suppress 2% --recoding found.toml"));
    let labels = |name: &str| -> Vec<String> {
        let mut all: Vec<String> = dir
            .text(name)
            .lines()
            .map(|line| line.rsplit_once(',').unwrap().0.to_string())
            .collect();
        all.sort();
        all.dedup();
        all
    };
    dir.write("again.csv", workers(200, 0));
    for (recoding, data, out) in [
        ("found.toml", "again.csv", "a.csv"),
        ("found.toml", "again.csv", "a.arrow"),
        ("hand.toml", "later.csv", "b.csv"),
        ("hand.toml", "later.csv", "b.parquet"),
    ] {
        let report =
            dir.json(&format!("apply {recoding} {data} -o {out} {FLAGS} --suppress 20% --json"));
        assert_eq!(
            (&report["algorithm"], &report["status"]),
            (&serde_json::Value::Null, &"applied".into())
        );
        assert_eq!(report["input_rows"], 200);
        let gcp = report["loss"]["gcp"].as_f64().unwrap();
        assert!(gcp > 0.0 && gcp < 1.0, "{gcp}");
        let verdict =
            dir.json(&format!("verify {out} --source {data} {FLAGS} --suppress 20% --json"));
        assert!(verdict["holds"] == true && verdict["truth"]["violations"] == 0, "{verdict}");
    }
    let known = labels("first-safe.csv");
    assert!(labels("a.csv").iter().all(|label| known.contains(label)), "{:?}", labels("a.csv"));
    assert!(
        dir.text("b.csv").contains("\"{Private, Without-pay}\"")
            && dir.text("b.csv").contains("\"{Government, Self-employed}\"")
    );
    // From a pipe and to one.
    let piped = dir
        .shell(&format!("\"$0\" apply hand.toml - -o - {FLAGS} --suppress 20% < later.csv"))
        .output()
        .unwrap();
    assert_eq!(String::from_utf8(piped.stdout).unwrap(), dir.text("b.csv"));
}

#[test]
fn rows_of_small_classes_are_left_out_only_within_the_limit() {
    let dir = workdir();
    dir.write("few.csv", workers(30, 1));
    let run = dir.run(&format!("apply hand.toml few.csv -o out.csv {FLAGS}"));
    refused(&dir, &run, 1);
    let share =
        run.stderr.split("--suppress ").nth(1).expect("a way out").split(')').next().unwrap();
    let report =
        dir.json(&format!("apply hand.toml few.csv -o out.csv {FLAGS} --suppress {share} --json"));
    assert!(report["suppressed"].as_u64().unwrap() > 0, "{report}");
    dir.succeed(&format!("verify out.csv --source few.csv {FLAGS} --suppress {share}"));
    std::fs::remove_file(dir.path("out.csv")).unwrap();
    // Not even one class would be left, and no release at all would hold.
    dir.write(
        "two.csv",
        "age,work,city,ill\n30,Private,Ulm,flu\n31,Inc,Bonn,flu\n32,Inc,Ulm,flu\n",
    );
    let run = dir.run(&format!("apply hand.toml two.csv -o out.csv {FLAGS}"));
    refused(&dir, &run, 1);
    assert!(run.stderr.contains("100.00%") && !run.stderr.contains("--suppress"), "{}", run.stderr);
    refused(
        &dir,
        &dir.run(&format!("apply hand.toml few.csv -o out.csv {}", FLAGS.replace("-k 3", "-k 31"))),
        1,
    );
}

#[test]
fn a_value_without_a_block_is_told_by_its_place() {
    let dir = workdir();
    for (row, column) in [
        ("39,Private,Ulm,flu", "age"),
        ("29,Private,Ulm,flu", "age"),
        ("47,Private,Ulm,flu", "age"),
        ("30,Never-worked,Ulm,flu", "work"),
    ]
    .into_iter()
    .chain([(&*format!("30,Private,{CANARY},flu"), "city")])
    {
        dir.write("new.csv", format!("{}{row}\n", workers(100, 0)));
        let run = dir.run(&format!("apply hand.toml new.csv -o out.csv {FLAGS} --suppress 20%"));
        refused(&dir, &run, 3);
        assert!(run.stderr.contains(&format!("column `{column}`, data row 101")), "{}", run.stderr);
    }
    dir.write(
        "hand.toml",
        BY_HAND.replace("    { show = \"\", missing = true, loss = 0, risen = 0 },\n", ""),
    );
    let run = dir.run(&format!("apply hand.toml later.csv -o out.csv {FLAGS} --suppress 20%"));
    refused(&dir, &run, 3);
    assert!(run.stderr.contains("column `age`, data row 6:"), "{}", run.stderr);
}

#[test]
fn a_file_that_makes_no_sense_is_a_usage_error() {
    let dir = workdir();
    for (from, to, reported) in [
        ("version = 1", "version = 7", "version 7 is unknown"),
        ("from = \"40\"", "from = \"38\"", "blocks 1 and 2 overlap"),
        ("from = \"40\"", &*format!("from = \"{CANARY}\""), "is not a number"),
        ("[columns.city]", &*format!("{CANARY} ["), "line 17: not as in a recoding file"),
        (
            "\"Bonn\", \"Kiel\", \"\"]",
            "\"Bonn\", \"Ulm\", \"\"]",
            "column `city`, block 2: it has a value twice",
        ),
        (
            "{Private, Without-pay}",
            "{Government, Self-employed}",
            "an earlier block has the same label",
        ),
        (
            "[40-46]",
            "[41-46]",
            "column `age`, block 2 of the recoding file: its label does not cover",
        ),
        ("{Private, Without-pay}", "Self-employed", "column `work`, block 1 of the recoding file"),
        ("{Private, Without-pay}", CANARY, "column `work`, block 1 of the recoding file"),
        ("kind = \"numeric\"", "kind = \"date\"", "is not a date"),
    ] {
        assert!(BY_HAND.contains(from), "{from}");
        dir.write("bad.toml", BY_HAND.replacen(from, to, 1));
        let run = dir.run(&format!("apply bad.toml later.csv -o out.csv {FLAGS} --suppress 20%"));
        refused(&dir, &run, 2);
        assert!(run.stderr.contains(reported), "{}", run.stderr);
    }
    dir.write("bad.toml", [0xff, 0xfe]);
    refused(&dir, &dir.run(&format!("apply bad.toml later.csv -o out.csv {FLAGS}")), 5);
    refused(&dir, &dir.run(&format!("apply nowhere.toml later.csv -o out.csv {FLAGS}")), 5);
}

#[test]
fn what_does_not_go_together_is_a_usage_error() {
    let dir = workdir();
    dir.write("bounds.toml", "output.publish = \"bounds\"");
    dir.write("ring.toml", "non_homogeneous = true");
    dir.write("there.csv", "x\n");
    for (line, reported) in [
        (
            format!(
                "apply hand.toml later.csv -o out.csv {}",
                FLAGS.replace(",city", " --keep city")
            ),
            "they must be the same columns",
        ),
        (
            format!("apply hand.toml later.csv -o out.csv {FLAGS} --kind age=categorical"),
            "say --kind age=numeric",
        ),
        (format!("apply hand.toml later.csv -o out.csv {FLAGS} -c bounds.toml"), "publish labels"),
        (format!("apply hand.toml later.csv -o out.csv {FLAGS} -c ring.toml"), "homogeneous"),
        (format!("apply hand.toml later.csv -o - {FLAGS} --json"), "both go to standard output"),
        (format!("apply hand.toml later.csv -o later.csv {FLAGS} --force"), "the input itself"),
        (
            format!("apply hand.csv later.csv -o hand.csv {FLAGS} --force"),
            "an input file of the request",
        ),
        (
            format!("apply hand.toml later.csv -o work.csv {FLAGS} --force"),
            "an input file of the request",
        ),
        (format!("apply hand.toml later.csv -o there.csv {FLAGS}"), "--force"),
        (
            format!("anonymize first.csv -o out.csv {FLAGS} --recoding r.toml"),
            "there is no recoding to write",
        ),
        (
            format!("anonymize first.csv -o out.csv {FLAGS} {OPTIMAL} --recoding -"),
            "name a file for it",
        ),
        (
            format!("anonymize first.csv -o out.csv {FLAGS} {OPTIMAL} --recoding ./out.csv"),
            "name the same file",
        ),
        (
            format!(
                "anonymize first.csv -o out.csv {FLAGS} {OPTIMAL} --recoding first.csv --force"
            ),
            "the input itself",
        ),
        (
            format!("anonymize first.csv -o out.csv {FLAGS} {OPTIMAL} --recoding hand.toml"),
            "--force",
        ),
    ] {
        dir.write("hand.csv", BY_HAND);
        let run = dir.run(&line);
        refused(&dir, &run, 2);
        assert!(run.stderr.contains(reported), "{line}: {}", run.stderr);
    }
    assert!(
        dir.text("hand.toml") == BY_HAND
            && dir.text("work.csv") == WORK
            && !dir.path("r.toml").exists()
    );
}
