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

#[test]
fn a_new_file_of_groups_is_filled_in_and_then_used() {
    let dir = Workdir::new();
    dir.write("t.csv", "city,x\nUlm,1\nBonn,1\nBonn,2\nKiel,2\nKiel,1\nKiel,1\n,1\n");
    let run = dir.succeed("hierarchy new groups --data t.csv --column city -o h.csv");
    assert!(run.stderr.starts_with("wrote h.csv: 3 values, the most frequent first"), "{run:?}");
    let text = dir.text("h.csv");
    assert!(text.contains("\n# rows with the value of each line: 3; 2; 1\n"), "{text}");
    assert!(text.ends_with("\nKiel;;*\nBonn;;*\nUlm;;*\n"), "{text}");
    assert_eq!(dir.succeed("hierarchy new groups --data t.csv --column city").stdout, text);
    dir.write("h.csv", text.replace("Bonn;;", "Bonn;West;"));
    for line in [
        "hierarchy check h.csv",
        "anonymize t.csv -k 2 --qi city --hierarchy city=h.csv --rest drop -o o.csv",
    ] {
        let run = dir.run(line);
        assert_eq!(run.code, Some(2), "{run:?}");
        assert!(
            run.stderr.contains(
                "hierarchy h.csv, line 3: column 2 is empty: 2 of 3 values have no group yet"
            ),
            "{}",
            run.stderr
        );
    }
    dir.write("h.csv", dir.text("h.csv").replace(";;", ";North;"));
    dir.succeed("hierarchy check h.csv --data t.csv --column city");
    let flags = "-k 2 --qi city --rest drop --hierarchy city=h.csv";
    dir.succeed(&format!("anonymize t.csv -o o.csv {flags}"));
    dir.succeed(&format!("verify o.csv --source t.csv {flags}"));
}

#[test]
fn a_suggested_hierarchy_says_so_and_can_be_used() {
    let dir = Workdir::with_patients(300);
    let run = dir.succeed("hierarchy suggest --data patients.csv --column diagnosis -o d.csv");
    assert!(run.stderr.starts_with("wrote d.csv, a suggestion: "), "{}", run.stderr);
    assert!(dir.text("d.csv").starts_with("# suggested by lookalike"), "{}", dir.text("d.csv"));
    let again = dir.succeed("hierarchy suggest --data patients.csv --column diagnosis").stdout;
    assert_eq!(again, dir.text("d.csv"));
    dir.succeed("hierarchy check d.csv --data patients.csv --column diagnosis");
    let flags = "-k 5 --qi diagnosis,age --rest drop --hierarchy diagnosis=d.csv";
    dir.succeed(&format!("anonymize patients.csv -o o.csv --seed 1 --steps 50 {flags}"));
    dir.succeed(&format!("verify o.csv --source patients.csv {flags}"));
    let run = dir.run("hierarchy suggest --data patients.csv --column age");
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("intervals"), "{}", run.stderr);
}

#[test]
fn ready_made_hierarchies_are_listed_shown_and_used() {
    let dir = Workdir::new();
    let list = dir.succeed("hierarchy list").stdout;
    for name in ["countries", "us-states", "nuts", "isco", "isced", "icd10", "age", "dates"] {
        assert!(list.contains(&format!("builtin:{name} ")), "{list}");
        let shown = dir.succeed(&format!("hierarchy show builtin:{name}")).stdout;
        assert!(shown.starts_with("*  (") && shown.lines().count() > 5, "{shown}");
    }
    let columns = [
        ("land", "countries", ["DE", "FR", "276", "Peru", "Bolivia", "USA"]),
        ("state", "us-states", ["CA", "06", "Oregon", "NY", "Ohio", "TX"]),
        ("nuts", "nuts", ["DE212", "DE211", "DE300", "FRK26", "FRK24", "PL911"]),
        ("job", "isco", ["2211", "2212", "2221", "9112", "9111", "11"]),
        ("school", "isced", ["3", "4", "1", "0", "8", "6"]),
        ("icd", "icd10", ["E11.9", "E11.1", "E10.0", "I21", "I21.0", "C50.1"]),
        ("age", "age", ["31", "32", "47", "48", "60", "62"]),
        (
            "day",
            "dates",
            ["2024-01-03", "2024-01-05", "2024-05-03", "2023-01-03", "2021-02-02", "2019-02-03"],
        ),
    ];
    let names: Vec<&str> = columns.iter().map(|(column, ..)| *column).collect();
    let row = |at: usize| columns.iter().map(|(.., cells)| cells[at]).collect::<Vec<_>>().join(",");
    let rows: String = (0..6).cycle().take(24).map(|at| row(at) + "\n").collect();
    dir.write("t.csv", format!("{}\n{rows}", names.join(",")));
    let line = |(column, name, _): &(&str, &str, _)| {
        format!("{column} = {{ role = \"quasi\", hierarchy = \"builtin:{name}\" }}\n")
    };
    let lines: String = columns.iter().map(line).collect();
    dir.write("c.toml", format!("k = 7\nseed = 1\noutput.snap = true\n[columns]\n{lines}"));
    dir.succeed("anonymize t.csv -c c.toml --steps 50 -o o.csv");
    dir.succeed("verify o.csv --source t.csv -c c.toml");
    dir.succeed("query t.csv o.csv -c c.toml --random 20 --on land,icd");
    for column in ["land", "icd", "job"] {
        let name = columns.iter().find(|(name, ..)| *name == column).unwrap().1;
        let flags = format!("-k 7 --qi {column} --rest drop --hierarchy {column}=builtin:{name}");
        let global = format!("anonymize t.csv {flags} --algorithm incognito --recoding r.json");
        dir.succeed(&format!("{global} -o {column}.csv --force"));
        dir.succeed(&format!("verify {column}.csv --source t.csv {flags}"));
        dir.succeed(&format!("apply r.json t.csv {flags} -o {column}-again.csv"));
        assert_eq!(dir.text(&format!("{column}.csv")), dir.text(&format!("{column}-again.csv")));
        dir.succeed(&format!("hierarchy check builtin:{name} --data t.csv --column {column}"));
    }
    // A label that does not cover its row is refused.
    let wrong = dir.text("land.csv").replacen("Europe", "Asia", 1).replacen("Americas", "Asia", 1);
    dir.write("wrong.csv", wrong);
    let run = dir.run(
        "verify wrong.csv --source t.csv -k 1 --qi land --rest drop --hierarchy land=builtin:countries",
    );
    assert_eq!(run.code, Some(1), "{run:?}");
}

#[test]
fn a_value_that_a_ready_made_hierarchy_does_not_know_is_counted_and_not_named() {
    let dir = Workdir::new();
    dir.write("t.csv", format!("land\nDE\nFR\n{CANARY}\nPeru\nAtlantis\n"));
    let flags = "-k 2 --qi land --rest drop --hierarchy land=builtin:countries";
    let run = dir.run(&format!("anonymize t.csv -o o.csv {flags}"));
    assert_eq!(run.code, Some(2), "{run:?}");
    assert!(
        run.stderr.contains(
            "2 values of column `land` are not in builtin:countries, the first in data row 3"
        ) && run.stderr.contains("hierarchy new groups")
            && !run.stderr.contains(CANARY),
        "{}",
        run.stderr
    );
    for (line, words) in [
        (
            "anonymize t.csv -k 2 --qi land --hierarchy land=builtin:planets -o o.csv",
            "countries, us-states",
        ),
        ("hierarchy show builtin:planets", "countries, us-states"),
    ] {
        let run = dir.run(line);
        assert!(run.code == Some(2) && run.stderr.contains(words), "{run:?}");
    }
}

#[test]
fn check_names_lines_without_a_row_misspelt_ones_and_a_header() {
    let dir = Workdir::new();
    dir.write("t.csv", "work\nPrivate\nLocal-gov\nPrivate\n");
    dir.write("h.csv", "Private;X;*\nLocl-gov;Y;*\nState-gov;Y;*\n");
    let run = dir.run("hierarchy check h.csv --data t.csv --column work");
    assert_eq!(run.code, Some(2));
    let expected = "2 values of the file are in no row of column work:\n  Locl-gov\n  State-gov\n1 value of \
                    column work is not in the hierarchy: add a line for each\n  probably misspelt: \
                    `Locl-gov` of the file is nearly a value of the column\nlist them with \
                    --show-values\n";
    assert!(run.stdout.ends_with(expected), "{}", run.stdout);
    dir.write("h.csv", "Private;X;*\nLocal-gov;Y;*\nState-gov;Y;*\n");
    let run = dir.succeed("hierarchy check h.csv --data t.csv --column work");
    assert!(run.stdout.contains("1 value of the file is in no row of column work:\n  State-gov\n"));
    dir.write("h.csv", "work;group;all\nPrivate;X;*\nLocal-gov;Y;*\n");
    let run = dir.run("hierarchy check h.csv --data t.csv --column work");
    assert!(
        run.stderr.contains("line 1: all other lines end in `*`; if this line is a header"),
        "{}",
        run.stderr
    );
}

#[test]
fn weeks_are_published_and_read_by_the_audit() {
    let dir = Workdir::new();
    let days = ["2024-12-28", "2024-12-30", "2025-01-02", "2025-01-06", "2021-01-01", "2020-12-31"];
    dir.write("t.csv", format!("day\n{}\n", days.join("\n")));
    let flags = "-k 2 --qi day --rest drop --hierarchy day=date:week,year";
    dir.succeed(&format!("anonymize t.csv -o o.csv --seed 1 --snap {flags}"));
    let text = dir.text("o.csv");
    assert!(text.contains("2020-W53") && text.contains("2025-W"), "{text}");
    dir.succeed(&format!("verify o.csv --source t.csv {flags}"));
    dir.write("wrong.csv", text.replacen("2020-W53", "2021-W53", 1));
    assert_eq!(dir.run(&format!("verify wrong.csv --source t.csv {flags}")).code, Some(1));
    let run = dir.run("hierarchy new date --units week,month --data t.csv --column day");
    assert!(run.stderr.contains("a week can lie in two months"), "{run:?}");
}

#[test]
fn numbers_with_a_file_of_intervals_stay_numbers_and_codes_do_not() {
    let dir = Workdir::with_patients(300);
    dir.succeed(
        "hierarchy new intervals --widths 5,10 --data patients.csv --column age -o age.csv",
    );
    let run = |flags: &str, out: &str| {
        let flags = format!("-k 5 --qi age,sex --rest drop {flags}");
        let ran = dir.succeed(&format!(
            "anonymize patients.csv -o {out} --steps 50 --seed 1 --bound none {flags}"
        ));
        let flags = flags.replace("--snap", "");
        dir.succeed(&format!("verify {out} --source patients.csv {flags}"));
        dir.succeed(&format!("query patients.csv {out} {flags} --random 20"));
        (ran.stderr, dir.text(out))
    };
    let (said, by_file) = run("--hierarchy age=age.csv", "file.csv");
    assert!(said.contains("column `age` stays numeric"), "{said}");
    assert_eq!(by_file, run("--hierarchy age=intervals:5,10", "intervals.csv").1);
    let (_, snapped) = run("--hierarchy age=age.csv --snap", "snap.csv");
    assert_eq!(snapped, run("--hierarchy age=intervals:5,10 --snap", "snap-intervals.csv").1);
    assert_ne!(by_file, snapped);
    let (said, by_groups) = run("--hierarchy age=age.csv --kind age=categorical", "groups.csv");
    assert!(!said.contains("stays numeric") && by_groups != by_file, "{said}");
    let lines: String = (0..120)
        .map(|age| format!("{age};{};*\n", if age < 40 { "young" } else { "old" }))
        .collect();
    dir.write("age.csv", lines);
    let (said, by_names) = run("--hierarchy age=age.csv", "names.csv");
    assert!(said.contains("taken as codes"), "{said}");
    assert!(by_names.contains("young") || by_names.contains("old"), "{by_names}");
}

/// Prefixes cut numbers like text: codes of one length may have them, ages not without a word.
#[test]
fn prefixes_of_numbers_are_warned_of() {
    let dir = Workdir::with_patients(100);
    let rows: String = (0..100).map(|i| format!("{},{}\n", 3 + i % 40, 53_700 + i % 20)).collect();
    dir.write("t.csv", format!("age,zip\n{rows}"));
    let line = "anonymize t.csv --qi age,zip -k 5 --steps 5 --bound none --force -o o.csv";
    let said = dir.succeed(&format!("{line} --hierarchy age=prefix:1")).stderr;
    assert!(
        said.contains("column `age` has numbers, and its prefixes cut them like text"),
        "{said}"
    );
    assert!(said.contains("--hierarchy age=intervals:5,10"), "{said}");
    let said = dir.succeed(&format!("{line} --hierarchy zip=prefix:4,3")).stderr;
    assert!(!said.contains("like text"), "{said}");
    let kind = "--hierarchy age=prefix:1 --kind age=categorical";
    assert!(!dir.succeed(&format!("{line} {kind}")).stderr.contains("like text"));
}
