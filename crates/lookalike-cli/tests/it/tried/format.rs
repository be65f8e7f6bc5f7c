//! What new users met about the format: apostrophes and time zones.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array, RecordBatch, TimestampMicrosecondArray};
use arrow_schema::{DataType, TimeUnit};
use lookalike::table;

use crate::workdir::Workdir;

#[test]
fn an_apostrophe_that_was_there_already_does_not_make_a_release_untrue() {
    let dir = Workdir::new();
    dir.write("ap.csv", format!("v,age\n{}", "'-x,30\n".repeat(5)));
    let flags = "-k 5 --qi v,age";
    dir.succeed(&format!("anonymize ap.csv -o out.csv {flags}"));
    assert!(dir.text("out.csv").contains("\n''-x,30\n"));
    dir.succeed(&format!("verify out.csv --source ap.csv {flags}"));
    dir.succeed(&format!("report ap.csv out.csv {flags} --queries 0"));
    dir.write("kept.csv", format!("note,age\n{}", "'=SUM(A1),30\n=SUM(A1),30\n".repeat(5)));
    let flags = "-k 5 --qi age --keep note";
    for (release, raw) in
        [("k.csv", ""), ("k.tsv", ""), ("k.parquet", ""), ("r.csv", "--raw-formulas")]
    {
        dir.succeed(&format!("anonymize kept.csv -o {release} {flags} {raw}"));
        dir.succeed(&format!("verify {release} --source kept.csv {flags} {raw}"));
    }
    // Raw, and without a bare formula that would tell so: then it must be said.
    dir.write("kept.csv", format!("note,age\n{}", "'=SUM(A1),30\n".repeat(5)));
    dir.succeed(&format!("anonymize kept.csv -o r.csv --force {flags} --raw-formulas"));
    dir.succeed(&format!("verify r.csv --source kept.csv {flags} --raw-formulas"));
    dir.succeed(&format!("query kept.csv r.csv {flags} --raw-formulas --random 3"));
    assert_eq!(dir.run(&format!("verify r.csv --source kept.csv {flags}")).code, Some(1));
}

#[test]
fn a_dash_before_a_number_is_no_formula() {
    let dir = Workdir::new();
    dir.write("t.csv", format!("age,income\n{}", "30,- 50000\n30,50000+.\n30,-\n".repeat(3)));
    dir.succeed("anonymize t.csv -o out.csv -k 3 --qi age --sensitive income --quiet");
    assert!(!dir.text("out.csv").contains('\''), "{}", dir.text("out.csv"));
}

#[test]
fn bounds_of_texts_keep_their_offset() {
    let dir = Workdir::new();
    let flags = "--qi when --keep n --accept-dependent n -k 2 --publish bounds";
    for (name, first, second, shown) in [
        (
            "one offset",
            "2023-07-01T00:00:00+02:00",
            "2023-07-02T00:00:00+02:00",
            "2023-07-01T00:00:00+02:00,2023-07-02T00:00:00+02:00,",
        ),
        (
            "two offsets",
            "2023-01-01T00:00:00+01:00",
            "2023-07-01T00:00:00+02:00",
            "2022-12-31T23:00:00Z,2023-06-30T22:00:00Z,",
        ),
        (
            "UTC",
            "2023-07-01T00:00:00Z",
            "2023-07-02T00:00:00Z",
            "2023-07-01T00:00:00Z,2023-07-02T00:00:00Z,",
        ),
        (
            "none",
            "2023-07-01T00:00:00",
            "2023-07-02T00:00:00",
            "2023-07-01T00:00:00,2023-07-02T00:00:00,",
        ),
    ] {
        dir.write("t.csv", format!("when,n\n{first},1\n{second},2\n"));
        for release in ["o.csv", "o.parquet"] {
            dir.succeed(&format!("anonymize t.csv -o {release} --force {flags}"));
            dir.succeed(&format!(
                "verify {release} --source t.csv {flags_without}",
                flags_without = flags.replace("--publish bounds", "")
            ));
        }
        assert!(dir.text("o.csv").contains(&format!("\n{shown}")), "{name}: {}", dir.text("o.csv"));
    }
}

/// A table with timestamps of a time zone: nine hours around the beginning of July and of November
/// 2023 in Berlin.
fn berlin(dir: &Workdir) {
    let hour = 3_600_000_000_i64;
    let times: Vec<i64> = [1_688_162_400_000_000, 1_698_793_200_000_000]
        .into_iter()
        .flat_map(|begin| (-4..5).map(move |at| begin + at * hour))
        .collect();
    let numbers: Vec<i32> = (0..18).collect();
    let columns: [(&str, ArrayRef); 2] = [
        ("when", Arc::new(TimestampMicrosecondArray::from(times).with_timezone("Europe/Berlin"))),
        ("n", Arc::new(Int32Array::from(numbers))),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let path = dir.path("t.parquet");
    table::write(
        File::create(&path).unwrap(),
        &path,
        table::file_type(Path::new("t.parquet")).unwrap(),
        &batch.schema(),
        1,
        |_| Ok(batch.clone()),
    )
    .unwrap();
}

#[test]
fn bounds_of_typed_columns_keep_their_zone() {
    let dir = Workdir::new();
    berlin(&dir);
    let flags = "--qi when --keep n --accept-dependent n -k 3";
    for release in ["o.parquet", "o.arrow", "o.csv"] {
        dir.succeed(&format!(
            "anonymize t.parquet -o {release} {flags} --publish bounds --algorithm mondrian"
        ));
        dir.succeed(&format!("verify {release} --source t.parquet {flags}"));
        dir.succeed(&format!("query t.parquet {release} {flags} --random 5"));
    }
    let zone = DataType::Timestamp(TimeUnit::Microsecond, Some("Europe/Berlin".into()));
    for release in ["o.parquet", "o.arrow"] {
        let source = table::open(&dir.path(release), None).unwrap();
        assert_eq!(
            (source.names()[0].as_str(), &source.data_types()[..2]),
            ("when_min", &[zone.clone(), zone.clone()][..])
        );
    }
    // Midnight of the first of July in Berlin, which is still June in UTC.
    assert!(dir.text("o.csv").contains("2023-06-30T20:00:00+02:00,"), "{}", dir.text("o.csv"));
}

#[test]
fn calendars_of_columns_with_a_zone_are_those_of_the_zone() {
    let dir = Workdir::new();
    berlin(&dir);
    let flags =
        "--qi when --keep n --accept-dependent n -k 4 --hierarchy when=date:month,year --snap";
    for algorithm in ["mondrian", "optimal", "specialize"] {
        for release in ["o.csv", "o.parquet"] {
            dir.succeed(&format!(
                "anonymize t.parquet -o {release} --force {flags} --algorithm {algorithm}"
            ));
            dir.succeed(&format!(
                "verify {release} --source t.parquet {flags_only}",
                flags_only = flags.replace("--snap", "")
            ));
        }
    }
    let text = dir.text("o.csv");
    for (label, rows) in [("2023-06,", 4), ("2023-07,", 5), ("2023-10,", 4), ("2023-11,", 5)] {
        assert_eq!(
            text.lines().filter(|line| line.starts_with(label)).count(),
            rows,
            "{label} {text}"
        );
    }
    dir.succeed(
        "query t.parquet o.csv --qi when --keep n -k 4 --hierarchy when=date:month,year --random 5",
    );
}

#[test]
fn what_init_proposes_for_dates_with_a_zone_is_accepted() {
    let dir = Workdir::new();
    let offsets = ["+01:00", "+02:00"];
    let rows: String = (0..40)
        .map(|i| {
            format!(
                "2023-{:02}-15T12:00:00{},{}\n",
                1 + i % 12,
                offsets[usize::from((3..10).contains(&(i % 12)))],
                i % 3
            )
        })
        .collect();
    dir.write("zoned.csv", format!("admission,n\n{rows}"));
    dir.succeed("init zoned.csv -o zoned.toml");
    assert!(
        dir.text("zoned.toml").contains("admission = { role = \"quasi\", hierarchy = { date"),
        "{}",
        dir.text("zoned.toml")
    );
    dir.succeed(
        "anonymize zoned.csv -o o.csv --qi admission --keep n --accept-dependent n -k 3 --hierarchy admission=date:month,year --snap",
    );
    // Days that are not in the order of time have no calendar: it is neither proposed nor accepted.
    let rows =
        "2023-07-01T00:30:00+02:00,1\n2023-06-30T23:00:00Z,2\n2023-06-30T23:30:00Z,3\n2023-07-01T01:15:00+02:00,4\n".repeat(5);
    dir.write("mixed.csv", format!("admission,n\n{rows}"));
    dir.succeed("init mixed.csv -o mixed.toml");
    assert!(!dir.text("mixed.toml").contains("hierarchy = { date"), "{}", dir.text("mixed.toml"));
    let flags = "--qi admission --keep n --accept-dependent n -k 3";
    let run = dir
        .run(&format!("anonymize mixed.csv -o p.csv {flags} --hierarchy admission=date:day,year"));
    assert!(
        run.code == Some(2) && run.stderr.contains("convert the column to one time zone"),
        "{run:?}"
    );
    dir.succeed(&format!("anonymize mixed.csv -o p.csv {flags}"));
    dir.succeed(&format!("verify p.csv --source mixed.csv {flags}"));
}
