//! Rounding, top and bottom coding, keyed hashes of identifiers: published as asked for, counted by
//! the rules as published, and computed anew by the audit.

use std::fmt::Write as _;

use crate::workdir::{Workdir, ended};

/// The standard output and error of a command that succeeds.
fn ok(dir: &Workdir, line: &str) -> String {
    let run = dir.succeed(line);
    run.stdout + &run.stderr
}

/// The same of a command that ends with this code.
fn fails(dir: &Workdir, code: i32, line: &str) -> String {
    let run = dir.run(line);
    assert_eq!(run.code, Some(code), "{line}: {}", run.stderr);
    run.stdout + &run.stderr
}

/// Forty persons: identifier, age, sex, pay with decimals, visits.
fn persons() -> String {
    let mut text = "id,age,sex,pay,visits\n".to_string();
    for row in 0..40 {
        let pay = match row {
            3 => String::new(),
            7 => "12000.00".into(),
            _ => format!("{}.{:02}", 900 + row * 37, row * 13 % 100),
        };
        writeln!(
            text,
            "P-{row:03},{},{},{pay},{}",
            20 + row % 8,
            if row % 2 == 0 { "f" } else { "m" },
            row % 11
        )
        .unwrap();
    }
    text
}

/// The cells of a column, in the order of the file.
fn cells(text: &str, column: &str, delimiter: char) -> Vec<String> {
    let mut lines = text.lines().map(|line| line.split(delimiter).map(String::from).collect());
    let header: Vec<String> = lines.next().unwrap();
    let at = header.iter().position(|name| name == column).unwrap();
    lines.map(|line: Vec<String>| line[at].clone()).collect()
}

const RUN: &str = "anonymize in.csv -k 4 --qi age,sex --keep pay,visits --identifier id --seed 1 \
                   --steps 200 -o out.csv";

#[test]
fn kept_numbers_are_rounded_and_coded_at_both_ends_and_verified() {
    let dir = Workdir::new();
    dir.write("in.csv", persons());
    let flags = "--round pay=100 --top pay=2000 --bottom pay=1000 --top visits=5";
    ok(&dir, &format!("{RUN} {flags} --verify source"));
    let text = dir.text("out.csv");
    let mut expected: Vec<String> = cells(&persons(), "pay", ',')
        .iter()
        .map(|cell| match cell.parse::<f64>() {
            Err(_) => String::new(),
            Ok(pay) => ((pay / 100.0).round() * 100.0).clamp(1000.0, 2000.0).to_string(),
        })
        .collect();
    let mut published = cells(&text, "pay", ',');
    expected.sort();
    published.sort();
    assert_eq!(published, expected);
    assert!(cells(&text, "visits", ',').iter().all(|cell| cell.parse::<u32>().unwrap() <= 5));
    let again = format!(
        "verify out.csv --source in.csv -k 4 --qi age,sex --keep pay,visits --identifier id {flags}"
    );
    assert!(ok(&dir, &again).contains("verified: "));
    // One finer number, in the release alone and against the source.
    dir.write("finer.csv", text.replacen(",1100,", ",1101,", 1));
    let finer = again.replace("out.csv", "finer.csv");
    assert!(fails(&dir, 1, &finer).contains("not rounded"));
    // A coarse number that is not that of the row.
    dir.write("other.csv", text.replacen(",1100,", ",1200,", 1));
    assert!(fails(&dir, 1, &again.replace("out.csv", "other.csv")).contains("BROKEN"));
}

#[test]
fn rules_count_the_published_numbers() {
    let dir = Workdir::new();
    // Two values in every class, which are one when they are rounded.
    let mut text = "age,pay\n".to_string();
    (0..40).for_each(|row| writeln!(text, "{},{}", 20 + row / 8, 100 + row % 2).unwrap());
    dir.write("in.csv", &text);
    let run = "anonymize in.csv -k 4 --qi age --sensitive pay --distinct-l pay=2 --seed 1 --force -o out.csv";
    ok(&dir, run);
    assert!(
        fails(&dir, 1, &format!("{run} --round pay=10")).contains("distinct l = 2 on column `pay`")
    );
}

#[test]
fn decimal_commas_stay_and_types_stay() {
    let dir = Workdir::new();
    let german = persons().replace(',', ";").replace('.', ",");
    dir.write("in.csv", &german);
    ok(&dir, &format!("{RUN} --round pay=0.5"));
    let published = cells(&dir.text("out.csv"), "pay", ';');
    assert!(published.iter().any(|cell| cell.ends_with(",5")), "{published:?}");
    ok(
        &dir,
        "verify out.csv --source in.csv -k 4 --qi age,sex --keep pay,visits --identifier id --round pay=0.5",
    );
    // Typed: Parquet of a release that was typed, by way of a kept integer.
    dir.write("in.csv", persons());
    ok(
        &dir,
        "anonymize in.csv -k 1 --qi age,sex --keep pay,visits --identifier id --seed 1 -o typed.parquet",
    );
    ok(
        &dir,
        "anonymize typed.parquet -k 4 --qi age,sex --keep pay,visits --seed 1 --top visits=3 -o top.csv",
    );
    assert!(cells(&dir.text("top.csv"), "visits", ',').iter().all(|cell| cell.as_str() <= "3"));
}

#[test]
fn what_makes_no_sense_is_refused_with_the_place() {
    let dir = Workdir::new();
    dir.write("in.csv", persons().replace("P-007,27,m,12000.00", "P-007,27,m,secret"));
    for (flags, code, said) in [
        ("--round pay=100", 3, "column `pay`, data row 8: not a number"),
        ("--round pay=0", 2, "not above 0"),
        ("--round visits=x", 2, "--round"),
        ("--top visits=1 --bottom visits=5", 2, "not below its top"),
        ("--round visits=2 --top visits=5", 2, "multiple"),
        ("--round age=5", 2, "has no effect there"),
        ("--round id=5", 2, "has no effect there"),
        ("--hash pay", 2, "has no effect there"),
        ("--hash-key key", 2, "no identifier is published as a hash"),
    ] {
        let message = fails(&dir, code, &format!("{RUN} {flags}"));
        assert!(message.contains(said), "{flags}: {message}");
        assert!(!message.contains("secret"), "{message}");
    }
    assert!(!dir.path("out.csv").exists());
}

#[test]
fn identifiers_are_hashed_under_a_key_and_repeat_with_it_alone() {
    let dir = Workdir::new();
    dir.write("in.csv", persons());
    dir.write("key", "0123456789abcdef0123456789abcdef\n");
    let run = RUN.replace("--identifier id ", "--hash id ");
    let said = ok(&dir, &format!("{run} --hash-key key --verify source"));
    let keyed = dir.text("out.csv");
    assert!(said.contains("hashes of one key connect releases"), "{said}");
    // printf 'P-000' | openssl dgst -sha256 -hmac 0123456789abcdef0123456789abcdef
    let hash = "63527824209c48f729a0323f3924afb7";
    assert!(keyed.contains(hash), "{keyed}");
    assert!(!keyed.contains("P-0"));
    let again = "verify out.csv --source in.csv -k 4 --qi age,sex --keep pay,visits --hash id";
    assert!(ok(&dir, &format!("{again} --hash-key key")).contains("verified: "));
    assert!(ok(&dir, again).contains("the key is not known"));
    // Two hashes exchanged: only the key shows it.
    let hashes = cells(&keyed, "id", ',');
    let exchanged =
        keyed.replace(&hashes[0], "#").replace(&hashes[9], &hashes[0]).replace('#', &hashes[9]);
    dir.write("out.csv", &exchanged);
    assert!(fails(&dir, 1, &format!("{again} --hash-key key")).contains("BROKEN"));
    // An identifier that stayed.
    dir.write("out.csv", keyed.replace(&hashes[0], "P-000"));
    assert!(fails(&dir, 1, again).contains("no hashes"));
    // Other keys, other hashes; a short key is none; rows of one identifier are not connected.
    ok(&dir, &format!("{run} --force"));
    let drawn = dir.text("out.csv");
    assert!(cells(&drawn, "id", ',').iter().all(|hash| !hashes.contains(hash)));
    ok(&dir, &format!("{run} --force"));
    assert_eq!(dir.text("out.csv"), drawn, "same seed, same bytes");
    ok(&dir, &format!("{} --force", run.replace("--seed 1 ", "")));
    assert!(cells(&dir.text("out.csv"), "id", ',').iter().all(|hash| !drawn.contains(hash)));
    dir.write("short", "abc");
    assert!(fails(&dir, 2, &format!("{run} --force --hash-key short")).contains("3 bytes"));
    dir.write("in.csv", persons().replace("P-001", "P-000"));
    let message = fails(&dir, 3, &format!("{run} --force"));
    assert!(message.contains("1 rows have the identifier of an earlier row"), "{message}");
    assert!(message.contains("--person id"), "{message}");
}

#[test]
fn a_pipe_is_audited_against_the_cells_as_they_came() {
    let dir = Workdir::new();
    let run = RUN.replace("in.csv", "-").replace("--identifier id", "--hash id");
    let piped = format!("{run} --round pay=100 --verify full");
    dir.write("in.csv", persons());
    let run = ended(&dir.shell(&format!("\"$0\" {piped} < in.csv")).output().unwrap());
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(
        cells(&dir.text("out.csv"), "pay", ',')
            .iter()
            .all(|pay| pay.is_empty() || pay.ends_with("00"))
    );
}

#[test]
fn codebook_and_report_say_how_the_numbers_are_published() {
    let dir = Workdir::new();
    dir.write("in.csv", persons());
    let flags = "--round pay=100 --top pay=2000";
    ok(&dir, &format!("{} {flags} --codebook", RUN.replace("--identifier id", "--hash id")));
    let codebook = dir.text("out.codebook.json");
    assert!(codebook.contains("rounded to multiples of 100; 2000 stands for 2000 and more"));
    assert!(codebook.contains("keyed hash"));
    ok(
        &dir,
        &format!(
            "report in.csv out.csv -k 4 --qi age,sex --keep pay,visits --hash id {flags} -o r.html"
        ),
    );
    let page = dir.text("r.html");
    assert!(page.contains("rounded to multiples of 100; 2000 stands for 2000 and more"));
    assert!(page.contains("Identifiers published as keyed hashes: id."));
}
