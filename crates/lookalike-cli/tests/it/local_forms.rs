//! Tables as people have them: decimal commas, separators of thousands, local dates, texts for
//! "missing", and a release in the same dialect.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array};

use crate::workdir::{QUICK, Workdir};

/// A German export: semicolons, decimal commas, 26.12.2014, Windows-1252, CR LF.
fn export(rows: usize) -> Vec<u8> {
    let mut text = "Größe;Geburtsdatum;Kosten;Ort\r\n".to_string();
    for row in 0..rows {
        let height = 1_500 + row * 37 % 480;
        let (day, month, year) = (row * 7 % 28 + 1, row * 5 % 12 + 1, 1930 + row * 11 % 70);
        let height = match row % 50 {
            7 => "k.A.".to_string(),
            8 => "NA".to_string(),
            _ => format!("{},{}", height / 10, height % 10),
        };
        let cost = row * 7_919 % 5_000;
        let ort = ["Köln", "Mühlheim", "Saarbrücken"][row % 3];
        text += &format!(
            "{height};{day:02}.{month:02}.{year};{}.{:03},50;{ort}\r\n",
            1 + cost / 1000,
            cost % 1000
        );
    }
    text.chars().map(|c| u8::try_from(u32::from(c)).expect("a letter of Windows-1252")).collect()
}

const ROLES: &str = "--qi Größe,Geburtsdatum,Kosten --keep Ort -k 5 --missing k.A. --missing NA";

#[test]
fn a_german_export_is_read_and_its_release_has_its_dialect() {
    let dir = Workdir::new();
    dir.write("export.csv", export(400));
    let run = dir.succeed(&format!("anonymize export.csv {ROLES} -o out.csv {QUICK}"));
    let told = "`Größe` as 1234,5; `Geburtsdatum` as dd.mm.yyyy; `Kosten` as 1.234,5";
    assert!(run.stderr.contains(told), "{}", run.stderr);
    let text = dir.text("out.csv");
    assert!(text.starts_with("\u{feff}Größe;Geburtsdatum;Kosten;Ort\r\n"), "{text}");
    assert!(text.lines().all(|line| line.matches(';').count() == 3), "{text}");
    assert_eq!(text.matches("\r\n").count(), 401);
    let is_range =
        |line: &str| line.starts_with('[') && line.contains(",") && line.contains(" .. ");
    assert!(text.lines().any(is_range), "{text}");
    assert!(text.contains("Saarbrücken"));
    dir.succeed(&format!("verify out.csv --source export.csv {ROLES}"));
    dir.succeed(&format!("verify out.csv {ROLES}"));
    dir.succeed(&format!("query export.csv out.csv {ROLES} --random 10"));
    // A release whose dates were changed is noticed.
    dir.write("forged.csv", text.replacen(".19", ".18", 1));
    let run = dir.run(&format!("verify forged.csv --source export.csv {ROLES}"));
    assert_eq!(run.code, Some(1), "{run:?}");
}

#[test]
fn in_plain_dialect_a_release_has_points_and_iso_dates() {
    let dir = Workdir::new();
    dir.write("export.csv", export(400));
    dir.succeed(&format!("anonymize export.csv {ROLES} -o out.csv --dialect plain {QUICK}"));
    let text = dir.text("out.csv");
    assert!(text.starts_with("Größe,Geburtsdatum,Kosten,Ort\n"), "{text}");
    assert!(text.lines().skip(1).all(|line| !line.contains(';') && !line.contains("\r")));
    assert!(text.contains("[19") && text.contains("-01"), "{text}");
    dir.succeed(&format!("verify out.csv --source export.csv {ROLES}"));
    // Typed files have plain labels; bounds are numbers and dates.
    dir.succeed(&format!("anonymize export.csv {ROLES} -o out.parquet {QUICK}"));
    dir.succeed(&format!("verify out.parquet --source export.csv {ROLES}"));
    for name in ["bounds.csv", "bounds.parquet"] {
        dir.succeed(&format!("anonymize export.csv {ROLES} --publish bounds -o {name} {QUICK}"));
        dir.succeed(&format!("verify {name} --source export.csv {ROLES}"));
    }
    dir.succeed(&format!("anonymize export.csv {ROLES} --publish center -o center.csv {QUICK}"));
    dir.succeed(&format!("verify center.csv --source export.csv {ROLES}"));
    let bounds = dir.text("bounds.csv");
    assert!(bounds.contains("Größe_min;Größe_max"), "{bounds}");
    let line = bounds.lines().nth(1).unwrap();
    assert!(line.contains(",") && line.contains(".19"), "{line}");
}

#[test]
fn middles_of_times_in_minutes_have_seconds() {
    let dir = Workdir::new();
    dir.write(
        "t.csv",
        "seen\n06.06.2023 08:07\n06.06.2023 08:10\n07.06.2023 23:23\n07.06.2023 23:24\n",
    );
    dir.succeed(&format!("anonymize t.csv --qi seen -k 2 --publish center -o c.csv {QUICK}"));
    assert!(dir.text("c.csv").contains("2023-06-06T08:08:30"), "{}", dir.text("c.csv"));
    dir.succeed("verify c.csv --source t.csv --qi seen -k 2");
}

#[test]
fn init_writes_the_forms_and_what_means_missing() {
    let dir = Workdir::new();
    dir.write("export.csv", export(400));
    dir.succeed("init export.csv -o c.toml");
    let toml = dir.text("c.toml");
    for part in ["format = \"dd.mm.yyyy\"", "format = \"1234,5\"", "missing = [\"NA\", \"k.A.\"]"] {
        assert!(toml.contains(part), "{toml}");
    }
    dir.succeed(&format!("anonymize -c c.toml -o out.csv {QUICK}"));
    dir.succeed("verify out.csv --source export.csv -c c.toml");
    assert_eq!(dir.run("check -c c.toml").code, Some(1), "it is not anonymous yet");
}

#[test]
fn an_unknown_text_among_local_dates_is_asked_and_never_makes_them_labels_silently() {
    let dir = Workdir::new();
    let row = |row: usize| match row {
        11 | 70 => "12,5;secret\n".to_string(),
        _ => format!(
            "{},5;{:02}.{:02}.19{:02}\n",
            row % 40,
            1 + row % 28,
            1 + row % 12,
            30 + row % 60
        ),
    };
    dir.write("t.csv", "v;born\n".to_string() + &(0..100).map(row).collect::<String>());
    let run = dir.run("anonymize t.csv --qi v,born -k 3 -o out.csv");
    assert_eq!(run.code, Some(3), "{run:?}");
    for part in ["column `born`, data row 12", "read as dd.mm.yyyy", "--missing"] {
        assert!(run.stderr.contains(part), "{}", run.stderr);
    }
    assert!(!run.stderr.contains("secret"), "{}", run.stderr);
    dir.succeed(&format!("anonymize t.csv --qi v,born -k 3 --missing secret -o out.csv {QUICK}"));
    let labels = "--qi v,born -k 3 --kind born=categorical";
    dir.succeed(&format!("anonymize t.csv {labels} -o out.csv --force {QUICK}"));
}

#[test]
fn what_can_be_read_in_two_ways_is_asked() {
    let dir = Workdir::new();
    let day = |row: usize| format!("{row},{:02}/{:02}/2014\n", 1 + row % 12, 1 + row * 5 % 12);
    dir.write("us.csv", "n,seen\n".to_string() + &(0..24).map(day).collect::<String>());
    let run = dir.run("anonymize us.csv --qi n,seen -k 2 -o out.csv");
    assert_eq!(run.code, Some(3), "{run:?}");
    assert!(run.stderr.contains("--date-format dd/mm/yyyy"), "{}", run.stderr);
    let run = dir.succeed("init us.csv -o us.toml");
    assert!(run.stderr.contains("`seen` is taken for labels"), "{}", run.stderr);
    for form in ["dd/mm/yyyy", "mm/dd/yyyy"] {
        let roles = format!("--qi n,seen -k 2 --date-format {form}");
        dir.succeed(&format!("anonymize us.csv {roles} -o out.csv --force {QUICK}"));
        dir.succeed(&format!("verify out.csv --source us.csv {roles}"));
    }
    let amount = |row: usize| format!("\"{row},{row}00\",x\n");
    dir.write("comma.csv", "v,w\n".to_string() + &(1..9).map(amount).collect::<String>());
    let run = dir.run("anonymize comma.csv --qi v,w -k 2 -o c.csv");
    assert!(run.code == Some(3) && run.stderr.contains("--decimal"), "{run:?}");
    for (sign, least) in [(".", "[1100-2200]"), (",", "\"[1,100-2,200]\"")] {
        dir.succeed(&format!(
            "anonymize comma.csv --qi v,w -k 2 -o c.csv --force --decimal {sign} --algorithm mondrian"
        ));
        assert!(dir.text("c.csv").contains(least), "{}", dir.text("c.csv"));
    }
}

#[test]
fn texts_that_mean_missing_are_named_all_at_once() {
    let dir = Workdir::new();
    let cell = |row: usize| match row % 10 {
        3 => "NA".to_string(),
        7 => "?".to_string(),
        _ => row.to_string(),
    };
    let rows: String = (0..40).map(|row| format!("{},{}\n", cell(row), cell(row + 4))).collect();
    dir.write("t.csv", format!("a,b\n{rows}"));
    let run = dir.run("anonymize t.csv --qi a,b -k 2 -o out.csv");
    assert_eq!(run.code, Some(3), "{run:?}");
    let said = "`?` (8 cells), `NA` (8 cells); in `a`, `b`";
    assert!(run.stderr.contains(said), "{}", run.stderr);
    assert!(run.stderr.contains("--missing='?' --missing=NA"), "{}", run.stderr);
    dir.succeed(&format!(
        "anonymize t.csv --qi a,b -k 2 --missing=? --missing=NA -o out.csv {QUICK}"
    ));
}

#[test]
fn a_folder_of_parquet_files_is_one_table() {
    let dir = Workdir::new();
    std::fs::create_dir(dir.path("parts")).unwrap();
    for part in 0..3_i64 {
        let ages: ArrayRef = Arc::new(Int64Array::from_iter_values((0..20).map(|i| 20 + i + part)));
        dir.write_typed(&format!("parts/part-{part}.parquet"), vec![("age", ages)]);
    }
    dir.write("parts/_SUCCESS", "");
    for input in ["parts", "parts/part-*.parquet"] {
        dir.succeed(&format!("anonymize {input} --qi age -k 5 -o out.csv --force {QUICK}"));
        assert_eq!(dir.text("out.csv").lines().count(), 61);
        dir.succeed(&format!("verify out.csv --source {input} --qi age -k 5"));
    }
    dir.succeed("init parts -o c.toml");
    assert!(dir.text("c.toml").contains("path = \"parts\""));
    dir.succeed(&format!("anonymize -c c.toml -o again.parquet {QUICK}"));
}
