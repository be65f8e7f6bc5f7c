//! `publish = "center"`: the middle of the bounds, in every type, and nothing else.

use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, Float64Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{
    Array, ArrayRef, Date32Array, Float64Array, Int64Array, RecordBatch, RecordBatchIterator,
    TimestampMicrosecondArray,
};
use lookalike::Request;
use lookalike::audit::{AuditView, Verdict, audit, treatments, unguard};
use lookalike::rng::Rng;
use lookalike::run::{Cancel, Effort, Run};
use lookalike::table::{self, Existing};

use crate::support::built;

/// Whole numbers, decimals, dates and times, some of them missing.
fn source() -> RecordBatch {
    let mut rng = Rng::new(11);
    let rows = 160;
    let whole: Int64Array =
        (0..rows).map(|_| Some(rng.below(60) as i64 - 20).filter(|_| rng.below(15) > 0)).collect();
    let real: Float64Array = (0..rows).map(|_| Some(rng.below(1_000) as f64 / 7.0)).collect();
    let day: Date32Array =
        (0..rows).map(|_| i32::try_from(rng.below(90)).ok().map(|day| day - 45)).collect();
    let time: TimestampMicrosecondArray =
        (0..rows).map(|_| Some(rng.below(10_000_019) as i64 * 1_001 - 4_000_000_000)).collect();
    let columns: [(&str, ArrayRef); 4] = [
        ("whole", Arc::new(whole)),
        ("real", Arc::new(real)),
        ("day", Arc::new(day)),
        ("time", Arc::new(time.with_timezone("+02:00"))),
    ];
    let nullable = columns.into_iter().map(|(name, column)| (name, column, true));
    RecordBatch::try_from_iter_with_nullable(nullable).unwrap()
}

fn request(publish: &str) -> Request {
    let toml = format!(
        "k = 4\nseed = 3\nalgorithm = 'mondrian'\noutput.publish = '{publish}'\n[columns]\n\
         whole = {{ role = 'quasi' }}\nreal = {{ role = 'quasi' }}\nday = {{ role = 'quasi' }}\n\
         time = {{ role = 'quasi' }}"
    );
    Request::parse(&toml).unwrap()
}

fn opened(batch: &RecordBatch) -> table::Source {
    table::from_batches(RecordBatchIterator::new([Ok(batch.clone())], batch.schema())).unwrap()
}

#[test]
fn the_middle_is_a_function_of_the_published_bounds() {
    let batch = source();
    let run = |publish| {
        Run::new(&request(publish)).bound(Effort::None).in_memory(opened(&batch)).unwrap()
    };
    let (bounds, center) = (run("bounds"), run("center"));
    let mut wide = 0;
    for (plain, with) in bounds.batches.iter().zip(&center.batches) {
        // Everything else is the same release.
        for (field, column) in plain.schema().fields().iter().zip(plain.columns()) {
            assert_eq!(with.column_by_name(field.name()).unwrap(), column, "{}", field.name());
        }
        assert_eq!(with.num_columns(), plain.num_columns() + 4);
        let of = |name: &str| with.column_by_name(name).unwrap().clone();
        for row in 0..with.num_rows() {
            let [lo, hi] = ["min", "max"].map(|end| of(&format!("whole_{end}")));
            let middle = of("whole_center");
            let middle = middle.as_primitive::<Float64Type>();
            assert_eq!(middle.is_null(row), lo.is_null(row));
            if !middle.is_null(row) {
                let [lo, hi] = [lo, hi].map(|end| end.as_primitive::<Int64Type>().value(row));
                assert!((middle.value(row) * 2.0 - (lo + hi) as f64).abs() < f64::EPSILON);
                wide += usize::from(lo < hi);
            }
            let real = ["min", "max", "center"]
                .map(|end| of(&format!("real_{end}")).as_primitive::<Float64Type>().value(row));
            assert!((real[0]..=real[1]).contains(&real[2]));
            assert!((real[2] - real[0] - (real[1] - real[2])).abs() < 1e-9);
            let day = ["min", "max", "center"]
                .map(|end| of(&format!("day_{end}")).as_primitive::<Date32Type>().value(row));
            assert!([0, 1].contains(&((day[1] - day[2]) - (day[2] - day[0]))), "{day:?}");
            let time = ["min", "max", "center"].map(|end| {
                of(&format!("time_{end}")).as_primitive::<TimestampMicrosecondType>().value(row)
            });
            assert!([0, 1].contains(&((time[1] - time[2]) - (time[2] - time[0]))), "{time:?}");
        }
    }
    assert!(wide > 50, "{wide}");
}

/// The verdict on a released text file.
fn verdict(text: &str) -> Verdict {
    audited(text, &request("label"))
}

fn audited(text: &str, request: &Request) -> Verdict {
    let release = table::open_text(text.to_string(), Path::new("safe.csv")).unwrap();
    let mut release =
        release.read_for(|names| treatments(names, request, AuditView::Release)).unwrap();
    unguard(&mut release);
    audit(&release, request).unwrap()
}

#[test]
fn files_are_read_back_and_another_middle_is_a_leak() {
    let folder = tempfile::tempdir().unwrap();
    let released =
        Run::new(&request("center")).bound(Effort::None).in_memory(opened(&source())).unwrap();
    for name in built(&["safe.csv", "safe.parquet", "safe.arrow"]) {
        let path = folder.path().join(name);
        released.to_file(&path, Existing::Keep, &Cancel::default()).unwrap();
        let direct = folder.path().join(format!("direct-{name}"));
        let run = Run::new(&request("center")).bound(Effort::None);
        run.to_file(opened(&source()), &direct).unwrap();
        assert!(std::fs::read(&path).unwrap() == std::fs::read(&direct).unwrap(), "{name}");
    }
    let text = std::fs::read_to_string(folder.path().join("safe.csv")).unwrap();
    let good = verdict(&text);
    assert!(good.holds(), "{:?}", good.leaks);
    let names: Vec<&str> = text.lines().next().unwrap().split(',').collect();
    for name in ["whole_center", "real_center", "day_center", "time_center"] {
        let at = names.iter().position(|other| *other == name).unwrap();
        let mut lines: Vec<String> = text.lines().map(String::from).collect();
        let last = lines.last_mut().unwrap();
        let mut cells: Vec<&str> = last.split(',').collect();
        cells[at] = match name {
            "whole_center" | "real_center" => "0.25",
            "day_center" => "1971-01-01",
            _ => "1970-01-01T00:00:00+02:00",
        };
        *last = cells.join(",");
        let bad = verdict(&(lines.join("\n") + "\n"));
        let base = name.strip_suffix("_center").unwrap();
        assert_eq!(
            bad.leaks,
            [format!("rows where `{name}` is not the middle of `{base}_min` and `{base}_max`: 1")]
        );
        assert!(!bad.holds());
    }
}

/// The same columns under hierarchies, published by their ends.
fn snapped(publish: &str) -> Request {
    let toml = format!(
        "k = 4\nseed = 3\nalgorithm = 'mondrian'\n[output]\npublish = '{publish}'\nsnap = true\n\
         [columns]\n\
         whole = {{ role = 'quasi', hierarchy = {{ intervals = [5, 20], bottom = -12, top = 31 }} }}\n\
         real = {{ role = 'quasi', hierarchy = {{ intervals = [2.5, 25] }} }}\n\
         day = {{ role = 'quasi', hierarchy = {{ date = ['week', 'year'] }} }}\n\
         time = {{ role = 'quasi', hierarchy = {{ date = ['day', 'month'] }} }}"
    );
    Request::parse(&toml).unwrap()
}

#[test]
fn under_snap_bounds_are_those_of_the_label_and_classes_are_the_same() {
    let run = |publish: &str| {
        let request = snapped(publish);
        Run::new(&request).bound(Effort::None).in_memory(opened(&source())).unwrap()
    };
    let (labels, bounds) = (run("label"), run("center"));
    let mut kinds = [0; 5];
    for (label, bound) in labels.batches.iter().zip(&bounds.batches) {
        assert_eq!(label.num_rows(), bound.num_rows());
        let labels = label.column_by_name("whole").unwrap();
        let labels = arrow_cast::cast(labels, &arrow_schema::DataType::Utf8).unwrap();
        let of = |name: &str| bound.column_by_name(name).unwrap().clone();
        let [min, max] = ["whole_min", "whole_max"].map(of);
        let (center, missing) = (of("whole_center"), of("whole_missing"));
        let missing = arrow_cast::cast(&missing, &arrow_schema::DataType::Utf8).unwrap();
        for row in 0..bound.num_rows() {
            let text = Some(labels.as_string::<i32>()).filter(|_| labels.is_valid(row));
            let text = text.map_or("", |labels| labels.value(row));
            let end = |ends: &ArrayRef| {
                Some(ends.as_primitive::<Int64Type>().value(row)).filter(|_| ends.is_valid(row))
            };
            let (lo, hi) = (end(&min), end(&max));
            let state = missing.as_string::<i32>().value(row);
            let (kind, expected) = match text {
                "" => (0, (None, None, "yes")),
                "*" => (1, (None, None, "maybe")),
                "<-12" => (2, (None, Some(-13), "no")),
                ">=31" => (2, (Some(31), None, "no")),
                text if text.starts_with('[') => {
                    let inside = text.trim_matches(['[', ']']).replace(" .. ", "|");
                    let at = inside.find('|').or_else(|| inside.rfind('-')).unwrap();
                    let ends = [&inside[..at], &inside[at + 1..]].map(|end| end.parse().unwrap());
                    (3, (Some(ends[0]), Some(ends[1]), "no"))
                }
                text => (4, (text.parse().ok(), text.parse().ok(), "no")),
            };
            kinds[kind] += 1;
            assert_eq!((lo, hi, state), expected, "{text}");
            assert_eq!(center.is_valid(row), lo.is_some() && hi.is_some());
        }
    }
    assert!(kinds[2] > 0 && kinds[3] > 20, "{kinds:?}");
}

#[test]
fn an_exact_end_under_snap_is_a_leak() {
    let folder = tempfile::tempdir().unwrap();
    let request = snapped("center");
    for name in built(&["safe.csv", "safe.parquet", "safe.arrow"]) {
        // Written, read back, compared with the source and audited.
        let run = Run::new(&request).bound(Effort::None);
        run.to_file(opened(&source()), folder.path().join(name)).unwrap();
    }
    let text = std::fs::read_to_string(folder.path().join("safe.csv")).unwrap();
    let good = audited(&text, &request);
    assert!(good.holds(), "{:?}", good.leaks);
    let names: Vec<&str> = text.lines().next().unwrap().split(',').collect();
    for name in ["whole", "real", "day"] {
        let at = names.iter().position(|other| *other == format!("{name}_max")).unwrap();
        let mut lines: Vec<Vec<String>> =
            text.lines().map(|line| line.split(',').map(String::from).collect()).collect();
        let is_wide = |cells: &&mut Vec<String>| {
            cells[at - 1] != cells[at] && !cells[at].is_empty() && !cells[at - 1].is_empty()
        };
        let cells = lines.iter_mut().skip(1).find(is_wide).expect("an interval");
        cells[at] = match name {
            "day" => {
                cells[at].parse::<jiff::civil::Date>().unwrap().yesterday().unwrap().to_string()
            }
            _ => (cells[at].parse::<f64>().unwrap() - 1.0).to_string(),
        };
        let lines: Vec<String> = lines.iter().map(|cells| cells.join(",")).collect();
        let bad = audited(&(lines.join("\n") + "\n"), &request);
        let sentence = format!(
            "rows whose bounds of `{name}` are no interval of its hierarchy, although snap asks for \
             one: 1"
        );
        assert!(bad.leaks.contains(&sentence), "{:?}", bad.leaks);
    }
}
