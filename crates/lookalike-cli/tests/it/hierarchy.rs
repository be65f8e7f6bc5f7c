use crate::workdir::{CANARY, Workdir, ended};

#[test]
fn made_hierarchies_are_trees_that_have_every_value() {
    let dir = Workdir::new();
    dir.succeed("synth hospital --rows 300 -o patients.csv");
    for (kind, column) in [
        ("intervals --widths 5,10,20 --origin 1 --bottom 20 --top 80", "age"),
        ("prefix --keep 4,3,2", "zip"),
        ("date --units month,quarter,year", "admission"),
    ] {
        let run = dir.succeed(&format!(
            "hierarchy new {kind} --data patients.csv --column {column} -o {column}.csv"
        ));
        assert!(run.stderr.starts_with(&format!("wrote {column}.csv: ")), "{}", run.stderr);
        let run = dir.succeed(&format!(
            "hierarchy check {column}.csv --data patients.csv --column {column}"
        ));
        assert!(
            run.stdout.contains("a tree of ") && run.stdout.contains("are in the hierarchy"),
            "{}",
            run.stdout
        );
        assert!(dir.succeed(&format!("hierarchy show {column}.csv")).stdout.starts_with("*  ("));
        let flags = format!("-k 5 --qi {column} --rest drop --hierarchy {column}={column}.csv");
        dir.succeed(&format!("anonymize patients.csv -o out.csv --force {flags} --snap"));
        dir.succeed(&format!("verify out.csv {flags} --source patients.csv"));
    }
    assert!(
        dir.text("zip.csv").starts_with("02103;0210*;021**;02***;*\n"),
        "{}",
        dir.text("zip.csv")
    );
}

#[test]
fn a_value_that_is_missing_is_counted_and_shown_only_when_asked_for() {
    let dir = Workdir::new();
    dir.write("t.csv", format!("city\nBonn\n{CANARY}\nKiel\n"));
    dir.write("h.csv", "Bonn;West;*\nKiel;North;*\n");
    let run = dir.run("hierarchy check h.csv --data t.csv --column city");
    assert_eq!(run.code, Some(2));
    assert!(
        run.stdout.contains("1 value of column city is not in the hierarchy")
            && !run.stdout.contains(CANARY),
        "{}",
        run.stdout
    );
    // Into a pipe or a file they never go, whatever is wrong.
    for script in ["$0 LINE | cat; exit ${PIPESTATUS[0]}", "$0 LINE > values.txt"] {
        let line = "hierarchy check h.csv --data t.csv --column city --show-values";
        let run = ended(&dir.shell(&script.replace("LINE", line)).output().unwrap());
        assert_eq!((run.code, &*run.stdout), (Some(2), ""), "{run:?}");
        assert!(run.stderr.contains("to a terminal only") && !run.stderr.contains(CANARY));
    }
    assert_eq!(dir.text("values.txt"), "");
    // `script` gives the program a terminal.
    let line = "$0 hierarchy check h.csv --data t.csv --column city --show-values";
    let script =
        format!("command -v script >/dev/null || exit 77; script -qec \"{line}\" /dev/null");
    let run = ended(&dir.shell(&script).output().unwrap());
    if run.code != Some(77) {
        let shown = run.stdout.replace("\r\n", "\n");
        assert!(shown.ends_with(&format!("\n  {CANARY}\n")), "{run:?}");
    }
    let run = dir.run("hierarchy check h.csv --data t.csv --column town");
    assert_eq!(
        (run.code, &*run.stderr),
        (Some(2), "error: there is no column `town`: list the columns with `lookalike init`\n")
    );
}

#[test]
fn a_file_that_is_no_tree_is_refused() {
    let dir = Workdir::new();
    dir.write("h.csv", "a;X;*\nb;Y;*\na;Y;*\n");
    for line in ["hierarchy check h.csv", "hierarchy show h.csv"] {
        let run = dir.run(line);
        assert_eq!(run.code, Some(2), "{run:?}");
        assert!(run.stderr.starts_with("error: hierarchy h.csv, line 3: "), "{}", run.stderr);
    }
}

/// Every command takes a hierarchy as a file, as rows and as text, and makes the same of it.
#[test]
fn every_command_takes_a_hierarchy_without_a_file() {
    let dir = Workdir::with_patients(300);
    let tree = |leaf: &str| [leaf.to_string(), "adult".into(), "*".into()];
    let rows: Vec<[String; 3]> = ["female", "male"].map(tree).to_vec();
    let ills = ["flu;lung;*", "asthma;lung;*", "cancer;other;*", "HIV;other;*"].join("\n");
    let lines: String = rows.iter().map(|row| row.join(";") + "\n").collect();
    dir.write("sex.csv", &lines);
    dir.write("ills.csv", &ills);
    let of_ills: Vec<Vec<&str>> = ills.lines().map(|line| line.split(';').collect()).collect();
    for (name, sex, ill) in [
        ("file", "\"sex.csv\"".to_string(), "\"ills.csv\"".to_string()),
        ("rows", format!("{{ rows = {rows:?} }}"), format!("{{ rows = {of_ills:?} }}")),
        ("text", format!("{{ text = {lines:?} }}"), format!("{{ text = {ills:?} }}")),
    ] {
        let columns = format!(
            "sex = {{ role = \"quasi\", hierarchy = {sex} }}\nage = {{ role = \"quasi\" }}\n\
             diagnosis = {{ role = \"sensitive\", t = 0.9, distance = \"hierarchical\", hierarchy = \
             {ill} }}\n"
        );
        dir.write(
            &format!("{name}.toml"),
            format!("k = 5\nseed = 1\nrest = \"drop\"\n[columns]\n{columns}"),
        );
    }
    let made = |name: &str| {
        let config = format!("-c {name}.toml");
        dir.succeed(&format!(
            "anonymize patients.csv {config} -o {name}.csv --recoding {name}.rec --algorithm \
             incognito --quiet"
        ));
        dir.succeed(&format!("apply file.rec patients.csv {config} -o {name}-applied.csv --quiet"));
        dir.succeed(&format!("report patients.csv {name}.csv {config} -o {name}.html --quiet"));
        let said = [
            format!("check patients.csv {config}"),
            format!("verify {name}.csv --source patients.csv {config}"),
            format!("query patients.csv {name}.csv {config} --count 20 --on sex,diagnosis --json"),
            format!(
                "compare patients.csv {config} --algorithms mondrian,optimal --bound none --csv -"
            ),
        ]
        .map(|line| dir.run(&line).stdout);
        let files = [".csv", ".rec", "-applied.csv"].map(|end| dir.text(&format!("{name}{end}")));
        (said, files)
    };
    let (said, files) = made("file");
    assert!(files[0].contains("adult") || files[0].contains("male"), "{}", files[0]);
    for name in ["rows", "text"] {
        let (other, others) = made(name);
        assert_eq!(others, files, "{name}");
        for (one, other) in said.iter().zip(&other) {
            let without_time = |text: &str| {
                let cells = |line: &str| line.split(',').take(17).collect::<Vec<_>>().join(",");
                text.replace(&format!("{name}.toml"), "file.toml")
                    .replace(&format!("{name}.csv"), "file.csv")
                    .replace(&format!("{name},5"), "file,5")
                    .lines()
                    .map(cells)
                    .collect::<Vec<_>>()
            };
            assert_eq!(without_time(other), without_time(one), "{name}");
        }
    }
}
