use crate::workdir::{QUICK, Workdir};

#[test]
fn the_suggestion_is_a_configuration_that_runs() {
    let dir = Workdir::new();
    dir.succeed("synth hospital --rows 600 -o patients.csv");
    let run = dir.succeed("init patients.csv");
    assert!(run.stdout.starts_with("column "), "{}", run.stdout);
    assert!(run.stdout.contains("identifier  \"name\" in its name"), "{}", run.stdout);
    assert!(run.stdout.contains("quasi-identifiers together: age, zip,"), "{}", run.stdout);
    assert!(run.stdout.contains("\n  lookalike anonymize -c lookalike.toml\n"), "{}", run.stdout);
    dir.succeed(&format!("anonymize -c lookalike.toml -o safe.csv {QUICK}"));
    dir.succeed("verify safe.csv -c lookalike.toml --source patients.csv");
    // The release has its name in the configuration, so further commands need no other.
    dir.succeed(&format!("anonymize -c lookalike.toml {QUICK}"));
    dir.succeed("verify -c lookalike.toml");
    dir.succeed("report -c lookalike.toml --queries 0 --bound none");
    assert!(dir.text("lookalike.toml").contains("path = \"patients-safe.csv\""));
}

#[test]
fn an_existing_configuration_needs_force() {
    let dir = Workdir::with_patients(60);
    dir.write("lookalike.toml", "mine");
    let run = dir.run("init patients.csv");
    assert_eq!(run.code, Some(2), "{run:?}");
    assert_eq!(run.stderr, "error: lookalike.toml exists: choose another name or add --force\n");
    assert_eq!(dir.text("lookalike.toml"), "mine");
    dir.succeed("init patients.csv --force");
    assert!(dir.text("lookalike.toml").contains("[columns]"));
}

#[test]
fn elsewhere_and_on_standard_output_it_finds_the_table() {
    let dir = Workdir::with_patients(60);
    std::fs::create_dir(dir.path("conf")).unwrap();
    dir.succeed("init patients.csv -o conf/c.toml");
    dir.succeed(&format!("anonymize -c conf/c.toml -o out.csv {QUICK}"));
    let run = dir.succeed("init patients.csv -o -");
    assert!(
        run.stdout.contains("path = \"patients.csv\"") && run.stderr.contains("column "),
        "{run:?}"
    );
}

#[test]
fn the_command_that_makes_a_hierarchy_file_stands_beside_it() {
    let dir = Workdir::new();
    let mut text = "age,job\n".to_string();
    (0..120).for_each(|row| text += &format!("{},job {}\n", 20 + row % 40, row % 12));
    dir.write("jobs.csv", text);
    dir.succeed("init jobs.csv");
    let toml = dir.text("lookalike.toml");
    let command = "lookalike hierarchy suggest --data jobs.csv --column job -o job.csv";
    assert!(toml.contains(&format!("}}  # make it: {command}\n")), "{toml}");
    dir.succeed(command.trim_start_matches("lookalike "));
}

#[test]
fn a_table_beside_the_configuration_has_a_relative_path() {
    let dir = Workdir::with_patients(60);
    std::fs::create_dir(dir.path("conf")).unwrap();
    for (config, path) in [("a.toml", "patients.csv"), ("conf/a.toml", "../patients.csv")] {
        let (data, config) = (dir.path("patients.csv"), dir.path(config));
        dir.succeed(&format!("init {} -o {}", data.display(), config.display()));
        let toml = std::fs::read_to_string(&config).unwrap();
        assert!(toml.contains(&format!("path = \"{path}\"")), "{toml}");
    }
}

#[test]
fn a_title_above_the_header_is_said_and_passed_over() {
    let dir = Workdir::with_patients(60);
    let text = dir.text("patients.csv");
    dir.write("title.csv", format!("Patient list 2024\n\n{text}"));
    let run = dir.succeed("init title.csv");
    assert!(run.stderr.contains("taken for a title and passed over"), "{}", run.stderr);
    assert!(run.stdout.contains("\nage "), "{}", run.stdout);
    dir.succeed(&format!("anonymize -c lookalike.toml {QUICK}"));
    dir.succeed("verify -c lookalike.toml");
}

#[test]
fn dates_of_digits_and_of_words_are_found_and_short_years_are_asked() {
    let dir = Workdir::new();
    let visits = |form: fn(usize, usize) -> String| {
        let mut text = "age;visit\n".to_string();
        (0..300).for_each(|row| {
            text += &format!("{};{}\n", 20 + row % 40, form(row % 12 + 1, row % 28 + 1));
        });
        text
    };
    dir.write("ymd.csv", visits(|month, day| format!("2015{month:02}{day:02}")));
    let words: fn(usize, usize) -> String = |month, day| {
        let names = "January February March April May June July August September October November \
                     December";
        format!("{} {day}, 2015", names.split(' ').nth(month - 1).unwrap())
    };
    dir.write("words.csv", visits(words));
    dir.write("short.csv", visits(|month, day| format!("{day:02}.{month:02}.15")));
    for (name, form) in [("ymd", "yyyymmdd"), ("words", "month d, yyyy")] {
        dir.succeed(&format!("init {name}.csv -o {name}.toml"));
        let toml = dir.text(&format!("{name}.toml"));
        assert!(toml.contains(&format!("format = \"{form}\"")), "{toml}");
        dir.succeed(&format!("anonymize -c {name}.toml {QUICK}"));
        dir.succeed(&format!("verify -c {name}.toml"));
    }
    let run = dir.succeed("init short.csv");
    assert!(run.stderr.contains("(--date-format dd.mm.yy)"), "{}", run.stderr);
    // A form that was given takes effect without a kind, also for few values.
    dir.write("few.csv", "visit\n20150101\n20150101\n20150301\n20150301\n20151231\n20151231\n");
    let flags = "--qi visit -k 4 --date-format yyyymmdd -o - --algorithm mondrian";
    let run = dir.succeed(&format!("anonymize few.csv {flags}"));
    assert!(run.stdout.contains("[20150101 .. 20151231]"), "{}", run.stdout);
}

#[test]
fn points_beside_decimal_commas_part_thousands() {
    let dir = Workdir::new();
    let mut text = "Edad;Estatura;Ingresos\n".to_string();
    for row in 0..400 {
        let (whole, rest) = (1 + row * 7 % 90, row * 7_919 % 1_000);
        text += &format!("{};1,{};{whole}.{rest:03}\n", 20 + row % 50, 50 + row % 40);
    }
    dir.write("es.csv", text);
    dir.succeed("init es.csv");
    let toml = dir.text("lookalike.toml");
    let line = toml.lines().find(|line| line.starts_with("#? Ingresos")).unwrap();
    assert!(line.contains("format = \"1.234,5\", round = 5000"), "{line}");
}

#[test]
fn persons_are_counted_once() {
    let dir = Workdir::new();
    let mut text = "patient_id,age,visit\n".to_string();
    for row in 0..300 {
        text += &format!(
            "P{},{},2023-{:02}-{:02}\n",
            row % 100,
            20 + row % 100 % 50,
            1 + row % 12,
            1 + row % 28
        );
    }
    dir.write("visits.csv", text);
    let run = dir.succeed("init visits.csv");
    assert!(run.stdout.contains("in 300 rows of 100 persons"), "{}", run.stdout);
    assert!(run.stdout.contains("  100 persons (100.0 %) are unique"), "{}", run.stdout);
    let run = dir.run("check -c lookalike.toml");
    assert!(run.stdout.contains("100 persons are alone in their class"), "{}", run.stdout);
    assert!(run.stdout.contains(" classes have one person alone on all columns"), "{}", run.stdout);
    let run = dir.succeed(&format!("anonymize -c lookalike.toml {QUICK}"));
    let proof = "visits-proof.csv (whose row is whose: as secret as the table)";
    assert!(run.stderr.contains(proof), "{}", run.stderr);
}

#[test]
fn a_total_below_the_table_is_said() {
    let dir = Workdir::new();
    let mut text = "Alter;Geschlecht;Ort\n".to_string();
    (0..200).for_each(|row| text += &format!("{};{};x\n", 20 + row % 60, ["f", "m"][row % 2]));
    dir.write("t.csv", text + "canary7341;;\n");
    let run = dir.succeed("init t.csv");
    let said = "the last row (data row 201) looks like a total";
    assert!(run.stderr.contains(said), "{}", run.stderr);
    assert!(!run.stderr.contains("canary") && !run.stdout.contains("canary"), "{run:?}");
    assert!(dir.text("lookalike.toml").contains(said), "{}", dir.text("lookalike.toml"));
}

#[test]
fn a_padded_title_is_passed_over() {
    let dir = Workdir::new();
    let mut text = "Report;;\nof May;;\n;;\nage;sex;city\n".to_string();
    (0..60).for_each(|row| text += &format!("{};{};x\n", 20 + row % 9, ["f", "m"][row % 2]));
    dir.write("t.csv", text);
    let run = dir.succeed("init t.csv");
    assert!(run.stderr.contains("taken for a title and passed over"), "{}", run.stderr);
    assert!(run.stdout.contains("\nage "), "{}", run.stdout);
    dir.succeed(&format!("anonymize -c lookalike.toml {QUICK}"));
    dir.succeed("verify -c lookalike.toml");
}
