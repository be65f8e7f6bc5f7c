//! Whatever is wrong: the message says what, where and the way out, the exit code tells whose fault
//! it is, nothing is left behind, and no cell is shown.

use std::fs::File;
use std::process::Stdio;

use crate::workdir::{CANARY, QUICK, Run, Workdir, ended};

const ROLES: &str = "--qi age,zip,sex --sensitive diagnosis --rest drop";

/// Runs a command line that must fail like this.
fn fails(dir: &Workdir, line: &str, code: i32, message: &str) {
    let before = dir.files();
    let run = dir.run(line);
    judge(dir, &run, (code, message), &before);
}

fn judge(dir: &Workdir, run: &Run, (code, message): (i32, &str), before: &[std::path::PathBuf]) {
    assert_eq!(run.code, Some(code), "{run:?}");
    assert!(run.stderr.contains(message), "wanted: {message}\ngot: {}", run.stderr);
    assert!(run.stderr.contains("error: "), "{}", run.stderr);
    assert!(
        !run.stderr.contains(CANARY) && !run.stdout.contains(CANARY),
        "a cell was shown: {run:?}"
    );
    assert_eq!(dir.files(), before, "something was left behind");
}

/// Anonymizes a table of this content, which must fail.
fn table_fails(content: impl AsRef<[u8]>, flags: &str, code: i32, message: &str) {
    let dir = Workdir::new();
    dir.write("t.csv", content);
    fails(&dir, &format!("anonymize t.csv -o out.csv {flags}"), code, message);
}

/// Anonymizes the patients with these flags, which must fail.
fn flags_fail(flags: &str, code: i32, message: &str) {
    fails(
        &Workdir::with_patients(40),
        &format!("anonymize patients.csv -o out.csv {flags}"),
        code,
        message,
    );
}

#[test]
fn ragged_rows() {
    let short = format!("a,b\n1,2\n{CANARY}\n3,4\n");
    table_fails(short, "--qi a,b -k 2", 3, "row 2 (line 3) has 1 cell, but the header has 2");
    let long = format!("a,b\n1,2\n3,4\n{CANARY},5,6\n");
    table_fails(long, "--qi a,b -k 2", 3, "row 3 (line 4) has 3 cells, but the header has 2");
}

#[test]
fn bad_utf8() {
    let mut bytes = format!("a,b\n1,2\n{CANARY}").into_bytes();
    bytes.extend_from_slice(b"\xff\xfe,3\n");
    table_fails(bytes, "--qi a,b -k 2 --encoding utf-8", 3, "UTF-8");
}

#[test]
fn columns_that_are_double_unknown_or_without_a_role() {
    table_fails(format!("a,b,a\n1,2,{CANARY}\n"), "--qi a,b -k 2", 3, "`a`");
    flags_fail(&format!("{ROLES} -k 5 --keep Age"), 2, "did you mean `age`?");
    flags_fail("--qi age,zip,sex -k 5 --sensitive diagnosis", 2, "no role for `name`, `note`");
    flags_fail(
        "--qi age,zip --keep zip --rest drop -k 5",
        2,
        "column `zip` is in both --qi and --keep",
    );
    flags_fail("--sensitive diagnosis --rest drop -k 5", 2, "no quasi-identifier");
}

#[test]
fn tables_without_rows() {
    table_fails("name,age\n", "--qi age --rest drop -k 2", 3, "the table has no rows");
    table_fails("", "--qi age --rest drop -k 2", 3, "empty");
    let dir = Workdir::new();
    dir.write("t.csv", "name,age\n");
    fails(&dir, "init t.csv", 3, "the table has no rows");
    fails(&dir, "check t.csv --qi age", 3, "the table has no rows");
}

#[test]
fn requests_that_make_no_sense() {
    flags_fail(&format!("{ROLES} -k 0"), 2, "k must be at least 1");
    flags_fail(ROLES, 2, "no rule");
    for alpha in ["0", "1.1", "110%"] {
        flags_fail(
            &format!("{ROLES} -k 2 --alpha diagnosis={alpha}"),
            2,
            "alpha of column `diagnosis` must be above 0 and at most 1",
        );
    }
    flags_fail(&format!("{ROLES} -k 2 --alpha diagnosis=-1"), 2, "not a ratio");
    flags_fail(
        &format!("{ROLES} -k 2 --alpha age=0.5"),
        2,
        "has a rule for a sensitive column but another role",
    );
    flags_fail(&format!("{ROLES} -k 2 --suppress 100%"), 2, "suppress must be below 100%");
    flags_fail(&format!("{ROLES} -k 2 --time soon"), 2, "time is a number and a unit");
    flags_fail(&format!("{ROLES} -k 2 --algorithm magic"), 2, "invalid value 'magic'");
    flags_fail(&format!("{ROLES} -k 2 --threads 0"), 2, "--threads must be at least 1");
    flags_fail(
        &format!("{ROLES} -k 2 --kind age=numbers"),
        2,
        "a kind is numeric, date, ordinal or categorical",
    );
}

#[test]
fn requests_that_cannot_be_met() {
    flags_fail(&format!("{ROLES} -k 41"), 1, "the largest feasible k is 40");
    flags_fail(&format!("{ROLES} -k 2 --l diagnosis=9"), 1, "cannot be met");
    flags_fail(
        &format!("{ROLES} -k 2 --distinct-l diagnosis=5"),
        1,
        "the greatest feasible l is 4",
    );
}

#[test]
fn hierarchies_that_are_no_trees() {
    let dir = Workdir::with_patients(40);
    let line = format!("anonymize patients.csv -o out.csv {ROLES} -k 2 --hierarchy sex=h.csv");
    for (content, message) in [
        ("female;*\n", "the value of column `sex` in data row"),
        ("female;A;*\nmale;A;*\nother;A;B;*\n", "line 3"),
        ("female;A;X;*\nmale;A;Y;*\n", "line 2"),
        ("female;A;B;*\nmale;B;A;*\n", "line 2"),
        ("female;A;female;*\nmale;A;A;*\n", "line 1"),
        ("", "the file is empty"),
        ("female\nmale\n", "only one column"),
    ] {
        dir.write("h.csv", content);
        fails(&dir, &line, 2, message);
    }
    fails(&dir, &line.replace("h.csv", "nowhere.csv"), 5, "nowhere.csv");
    let line = line.replace("sex=h.csv", "zip=prefix:2,3");
    fails(&dir, &line, 2, "longest first");
}

#[test]
fn text_among_numbers() {
    let rows = |cell: &str| format!("age,sex\n31,f\n32,f\n{cell},m\n34,m\n");
    table_fails(rows(CANARY), "--qi age,sex -k 2 --kind age=numeric", 3, "data row 3");
    table_fails(rows(CANARY), "--qi age,sex -k 2 --hierarchy age=intervals:5,10", 3, "data row 3");
}

#[test]
fn configurations_that_are_wrong() {
    let dir = Workdir::with_patients(40);
    let line = "anonymize patients.csv -c c.toml -o out.csv";
    for (content, message) in [
        ("k = ", "c.toml"),
        ("kay = 5", "unknown field `kay`"),
        ("version = 9", "version 9 is unknown"),
        ("k = 5\n[columns]\nage = { role = \"key\" }", "c.toml"),
    ] {
        dir.write("c.toml", content);
        fails(&dir, line, 2, message);
    }
    fails(&dir, "anonymize patients.csv -c nowhere.toml -o out.csv", 5, "nowhere.toml");
    dir.write("lookalike.toml", "k = 5");
    fails(
        &dir,
        "anonymize -k 5 -o out.csv",
        2,
        "no table: name a file, - for standard input, or a configuration with a table (there is one",
    );
}

#[test]
fn inputs_and_outputs_that_cannot_be() {
    let dir = Workdir::with_patients(40);
    let line = |data: &str, out: &str| format!("anonymize {data} -o {out} {ROLES} -k 2");
    fails(&dir, &line("nowhere.csv", "out.csv"), 5, "nowhere.csv");
    fails(&dir, &line(".", "out.csv"), 3, "the folder has no Parquet files");
    fails(&dir, &line("patients.csv", "out.xlsx"), 2, "the name does not tell the format");
    fails(&dir, &line("patients.csv", "tmp"), 2, "tmp");
    fails(&dir, &line("patients.csv", "patients.csv/out.csv"), 5, "patients.csv/out.csv");
    fails(&dir, &line("patients.csv", "nowhere/out.csv"), 5, "nowhere/out.csv");
    fails(&dir, &line("patients.csv", "/proc/out.csv"), 5, "/proc/out.csv");
    fails(
        &dir,
        &format!("{} --json", line("patients.csv", "-")),
        2,
        "would both go to standard output",
    );
}

#[test]
fn an_output_that_exists_needs_force_and_the_input_is_never_one() {
    let dir = Workdir::with_patients(40);
    dir.write("out.csv", "precious\n");
    let line = format!("anonymize patients.csv -o out.csv {ROLES} -k 2");
    fails(&dir, &line, 2, "out.csv exists: choose another name or add --force");
    assert_eq!(dir.text("out.csv"), "precious\n");
    dir.succeed(&format!("{line} --force"));
    assert_ne!(dir.text("out.csv"), "precious\n");

    let input = dir.read("patients.csv");
    std::os::unix::fs::symlink("patients.csv", dir.path("soft.csv")).unwrap();
    std::fs::hard_link(dir.path("patients.csv"), dir.path("hard.csv")).unwrap();
    for out in ["patients.csv", "soft.csv", "hard.csv", "tmp/../patients.csv"] {
        let line = format!("anonymize patients.csv -o {out} --force {ROLES} -k 2");
        fails(&dir, &line, 2, "is the input itself");
        assert_eq!(dir.read("patients.csv"), input);
    }
}

#[test]
fn a_full_disk_leaves_nothing() {
    let dir = Workdir::with_patients(400);
    for out in ["out.csv", "out.parquet", "out.arrow", "out.csv.gz", "-"] {
        let before = dir.files();
        let script = format!(
            "trap '' XFSZ; ulimit -f 1; exec $0 anonymize patients.csv -o {out} {ROLES} -k 2 {QUICK}"
        );
        let run = ended(&dir.shell(&script).output().unwrap());
        judge(&dir, &run, (5, "File too large"), &before);
    }
    let before = dir.files();
    let full = File::options().write(true).open("/dev/full").unwrap();
    let mut command = dir.command(&format!("anonymize patients.csv -o - {ROLES} -k 2 {QUICK}"));
    let run = ended(
        &command.stdout(full).stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap(),
    );
    judge(&dir, &run, (5, "No space left on device"), &before);
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let dir = Workdir::new();
    let before = dir.files();
    for line in ["synth hospital --rows 20000 -o -", "man", "completions bash"] {
        let mut child =
            dir.command(line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let run = ended(&child.wait_with_output().unwrap());
        assert_eq!(run.code, Some(0), "{line}: {run:?}");
        assert!(!run.stderr.contains("error"), "{line}: {run:?}");
    }
    assert_eq!(dir.files(), before);
}

/// The decoders of other people's formats may panic on such files; the message is about the file,
/// not about a bug of ours.
#[test]
fn damaged_binary_files() {
    let dir = Workdir::with_patients(300);
    let mut refused = 0;
    for file in ["t.parquet", "t.arrow"] {
        dir.succeed(&format!("anonymize patients.csv -o {file} {ROLES} -k 2 {QUICK}"));
        let whole = dir.read(file);
        for at in (8..whole.len()).step_by(whole.len() / 40) {
            let mut damaged = whole.clone();
            damaged[at] ^= 0xff;
            dir.write("damaged", &damaged);
            let run = dir.run("check damaged --qi age,zip,sex --sensitive diagnosis");
            assert!(matches!(run.code, Some(0 | 2 | 3)), "{file} at {at}: {run:?}");
            assert!(!run.stderr.contains("bug"), "{file} at {at}: {run:?}");
            refused += u32::from(run.code == Some(3));
        }
        dir.write("damaged", &whole[..whole.len() / 2]);
        fails(&dir, "check damaged --qi age,zip,sex --sensitive diagnosis", 3, "");
    }
    assert!(refused > 10, "{refused}");
}

#[test]
fn a_file_without_a_header() {
    let rows = format!("39,{CANARY}\n40,other\n39,{CANARY}\n");
    let dir = Workdir::new();
    dir.write("t.csv", rows);
    fails(
        &dir,
        &format!("anonymize t.csv -o out.csv --qi 39,{CANARY} -k 2"),
        3,
        "the first line looks like a row",
    );
    fails(&dir, "init t.csv", 3, "the first line looks like a row");
}

#[test]
fn a_row_on_top_is_published_by_no_command_and_written_to_no_request() {
    let dir = Workdir::new();
    let mut rows = format!("{CANARY};1901-02-03;98765;rare disease\n");
    for at in 10..40 {
        rows += &format!("Huber{at};1987-03-{};100{at};flu\n", 10 + at % 15);
    }
    dir.write("t.csv", &rows);
    let roles = format!(
        "k = 3\nrest = \"drop\"\n[columns]\n{CANARY} = {{ role = \"keep\" }}\n\
         1901-02-03.role = \"quasi\"\n98765.role = \"quasi\"\n"
    );
    dir.write("t.toml", &roles);
    for line in [
        "init t.csv",
        "anonymize t.csv -c t.toml -o out.csv",
        "check t.csv -c t.toml",
        "explain t.csv -c t.toml",
        "compare t.csv -c t.toml",
    ] {
        fails(&dir, line, 3, "say --header if the first line is the header");
    }
    assert!(!dir.path("lookalike.toml").exists() && !dir.path("out.csv").exists());
    // Whoever knows that it is the header says so, and the request keeps it.
    dir.succeed("init t.csv --header");
    assert!(dir.text("lookalike.toml").contains("header = true\n"));
    dir.succeed("anonymize t.csv -c t.toml -o out.csv --header --steps 1");
    // One doubtful name alone: `init` writes no cell, and other commands take what they are given.
    dir.write("s.csv", "name;2020\nx;5\ny;7\nx;5\ny;7\n");
    fails(&dir, "init s.csv -o s.toml", 2, "its cells would be names in the request");
    assert!(!dir.path("s.toml").exists());
    dir.succeed("anonymize s.csv --qi name,2020 -k 2 -o s-out.csv --steps 1");
    dir.write("n.toml", "k = 2\n[input]\nnames = [\"a\"]\nheader = true\n");
    fails(&dir, "check s.csv -c n.toml", 2, "leave one of the two out");
}

#[test]
fn options_without_effect_are_told() {
    flags_fail(
        &format!("{ROLES} -k 2 --alpha diagnosis=0.5 --values diagnosis=Slaes"),
        2,
        "none of the values that alpha names",
    );
    flags_fail(&format!("{ROLES} -k 2 --threads 100000"), 2, "--threads must be at most 1024");
    flags_fail(
        &format!("{ROLES} -k 2 --t diagnosis=0.3 --distance diagnosis=ordered"),
        2,
        "the ordered distance needs numbers",
    );
    let dir = Workdir::with_patients(200);
    let run = dir.succeed(&format!(
        "anonymize patients.csv -o out.csv {ROLES} -k 2 --snap --algorithm mondrian"
    ));
    assert!(run.stderr.contains("warning: snap: column `age` has no hierarchy"), "{}", run.stderr);
    // k on all columns implies as much k on some of them: the release stays as it is.
    dir.succeed(&format!("anonymize patients.csv -o implied.csv {ROLES} -k 2 --snap --algorithm mondrian --k-on 2:age,sex"));
    assert_eq!(dir.text("out.csv"), dir.text("implied.csv"));
}
