//! The run of the library through all its seams: sources, targets, watchers.

use std::cell::RefCell;
use std::io::{self, Cursor, Read};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_array::cast::AsArray;
use arrow_array::{RecordBatch, RecordBatchIterator, StringArray};
use lookalike::audit::Method;
use lookalike::run::{Cancel, Effort, Event, Run, Sink, Stage, Verify};
use lookalike::synthetic::{self, Synthetic};
use lookalike::table::{self, Existing, Treatment};
use lookalike::{ErrorKind, Request, Result, anonymize, anonymize_file, rng::Rng};

/// Ages, cities, an illness and a note, all random under a seed.
fn patients(seed: u64, rows: usize) -> String {
    let mut rng = Rng::new(seed);
    let mut text = "name,age,city,ill,note\n".to_string();
    for row in 0..rows {
        let mut one_of =
            |words: &[&'static str]| words[usize::try_from(rng.below(words.len() as u64)).unwrap()];
        let city = one_of(&["Ulm", "Bonn", "Kiel"]);
        let ill = one_of(&["flu", "gout", "cold", "asthma"]);
        let age = 20 + rng.below(40);
        text += &format!("canary{row},{age},{city},{ill},n{}\n", rng.below(5));
    }
    text
}

fn request(more: &str) -> Request {
    let toml = format!(
        "seed = 7\nalgorithm = 'top-down'\n{more}\n[columns]\nname = {{ role = 'identifier' }}\n\
         age = {{ role = 'quasi' }}\ncity = {{ role = 'quasi' }}\n\
         ill = {{ role = 'sensitive', l = 2 }}\nnote = {{ role = 'keep' }}"
    );
    Request { k: Some(3), ..Request::parse(&toml).unwrap() }
}

fn source(text: &str) -> table::Source {
    table::open_text(text.to_string(), Path::new("patients")).unwrap()
}

/// All rows, cell by cell, in order.
fn rows(batches: &[RecordBatch]) -> Vec<String> {
    let cells = |batch: &RecordBatch, row: usize| {
        let cell =
            |column: &arrow_array::ArrayRef| column.as_string::<i32>().value(row).to_string();
        batch.columns().iter().map(cell).collect::<Vec<_>>().join(",")
    };
    let of = |batch: &RecordBatch| (0..batch.num_rows()).map(|row| cells(batch, row)).collect();
    batches.iter().flat_map(|batch| -> Vec<String> { of(batch) }).collect()
}

fn lines(path: &Path) -> Vec<String> {
    std::fs::read_to_string(path).unwrap().lines().skip(1).map(String::from).collect()
}

#[test]
fn every_source_and_every_target_give_the_same_release() {
    let folder = tempfile::tempdir().unwrap();
    let (data, safe) = (folder.path().join("patients.csv"), folder.path().join("safe.csv"));
    let text = patients(1, 300);
    std::fs::write(&data, &text).unwrap();
    let request = request("");
    let report = anonymize_file(&data, &safe, &request).unwrap();
    let expected = lines(&safe);
    assert_eq!((report.released(), expected.len()), (300, 300));
    assert!(report.is_compared() && report.verdict.holds());

    let upload = table::open_reader(Cursor::new(text.clone()), Path::new("upload"), None).unwrap();
    assert_eq!(rows(&anonymize(upload, &request).unwrap().batches), expected, "from a reader");
    let released = anonymize(source(&text), &request).unwrap();
    assert_eq!(rows(&released.batches), expected, "from a text");
    assert!(released.report.is_compared(), "the table was kept in memory");

    // The same cells as typed batches: text, and the ages as numbers.
    let all = source(&text).read(&[Treatment::CodeAndPassThrough; 5]).unwrap();
    let array = |column: &table::Column| column.passthrough.as_ref().unwrap()[0].clone();
    let columns = all.columns().iter().map(|column| (column.name.clone(), array(column)));
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let parts: Vec<RecordBatch> = (0..3).map(|part| batch.slice(part * 100, 100)).collect();
    let reader = RecordBatchIterator::new(parts.into_iter().map(Ok), batch.schema());
    let released = anonymize(table::from_batches(reader).unwrap(), &request).unwrap();
    assert_eq!(rows(&released.batches), expected, "from batches");

    let (staged, calls) = (RefCell::new(Vec::new()), RefCell::new(Vec::new()));
    let sink = Sink::new(
        |batch| {
            calls.borrow_mut().push("write");
            staged.borrow_mut().push(batch.clone());
            Ok(())
        },
        || {
            calls.borrow_mut().push("publish");
            Ok(())
        },
    );
    let report = Run::new(&request).to_sink(source(&text), sink).unwrap();
    assert_eq!((rows(&staged.borrow()), report.released()), (expected.clone(), 300));
    assert_eq!(calls.borrow().as_slice(), ["write", "publish"]);

    let named = Request {
        input: lookalike::request::Input { path: Some(data), ..Default::default() },
        ..request
    };
    let output = lookalike::request::Output { path: Some(safe.clone()), ..named.output.clone() };
    let named = Request { output, ..named };
    let again = Run::new(&named).existing(Existing::Overwrite).configured().unwrap();
    assert_eq!((again.released(), lines(&safe)), (300, expected), "the paths of the request");
    let error = Run::new(&named).configured().unwrap_err();
    assert_eq!(error.code(), "file-exists");
}

#[test]
fn a_sink_that_changes_the_release_is_found_and_not_published() {
    let text = patients(2, 120);
    let tampering: [fn(&mut Vec<Vec<String>>); 4] = [
        // A class too small, a kept cell of another row, an age outside the range, a row twice.
        |rows| rows.truncate(1),
        |rows| rows[0][3] = "n9".into(),
        |rows| rows[0][0] = "99".into(),
        |rows| rows[5] = rows[50].clone(),
    ];
    for (at, tamper) in tampering.into_iter().enumerate() {
        let (staged, is_published) = (RefCell::new(Vec::new()), RefCell::new(false));
        let sink = Sink::new(
            |batch| {
                let cells = |row: usize| -> Vec<String> {
                    let cell = |column: &arrow_array::ArrayRef| {
                        column.as_string::<i32>().value(row).to_string()
                    };
                    batch.columns().iter().map(cell).collect()
                };
                staged.borrow_mut().extend((0..batch.num_rows()).map(cells));
                Ok(())
            },
            || {
                *is_published.borrow_mut() = true;
                Ok(())
            },
        );
        let sink = sink.reading_back(|| {
            let mut rows = staged.borrow().clone();
            tamper(&mut rows);
            let rows: String = rows.iter().map(|row| row.join(",") + "\n").collect();
            table::open_text(format!("age,city,ill,note\n{rows}"), Path::new("staged"))
        });
        let run = Run::new(&request("")).verify(Verify::Source);
        let error = run.to_sink(source(&text), sink).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotVerified, "{at}: {error}");
        assert!(!*is_published.borrow(), "{at}");
        assert!(!error.to_string().contains("n9") && !error.to_string().contains("99"), "{error}");
    }
}

#[test]
fn the_caller_decides_how_much_is_verified() {
    let folder = tempfile::tempdir().unwrap();
    let (data, safe) = (folder.path().join("patients.csv"), folder.path().join("safe.csv"));
    std::fs::write(&data, patients(3, 200)).unwrap();
    let method = |verify| {
        let run = Run::new(&request("")).verify(verify).existing(Existing::Overwrite);
        let report = run.to_file(&data, &safe).unwrap();
        assert_eq!(report.is_compared(), report.verdict.truth.is_some());
        report.verdict.truth.map(|truth| truth.cells_checked)
    };
    assert_eq!(method(Verify::Rules), None);
    assert_eq!(method(Verify::Auto), Some(Method::AlongOrigins));
    assert_eq!(method(Verify::Source), Some(Method::AlongOrigins));
    assert_eq!(method(Verify::Full), Some(Method::ByMatching));
}

#[test]
fn events_come_in_the_order_of_the_stages_with_progress_and_warnings() {
    let (stages, progress) = (Mutex::new(Vec::new()), AtomicUsize::new(0));
    let warnings = Mutex::new(Vec::new());
    let cancel = Cancel::default();
    let watch = |event: Event| match event {
        Event::Stage(stage) => stages.lock().unwrap().push(stage),
        Event::Warning(warning) => warnings.lock().unwrap().push(warning.code()),
        Event::Progress(now) => {
            assert!(now.loss > 0.0 && now.share.is_some() && now.left.is_some());
            progress.fetch_add(1, Ordering::SeqCst);
            cancel.end_search();
        }
        _ => {}
    };
    let request = Request::parse(
        "k = 5\nlimits.time = '60s'\nrest = 'drop'\n[columns]\nage.role = 'quasi'\nzip.role = \
         'quasi'\nsex.role = 'quasi'\nmarital.role = 'quasi'\nadmission.role = 'quasi'\n\
         diagnosis.role = 'sensitive'",
    )
    .unwrap();
    let batch = synthetic::batch(Synthetic::Hospital, 1, 0, 5_000);
    let schema = synthetic::schema(Synthetic::Hospital);
    let hospital = table::from_batches(RecordBatchIterator::new([Ok(batch)], schema)).unwrap();
    let run = Run::new(&request).cancel(&cancel).watch(&watch).bound(Effort::Quick);
    let begun = std::time::Instant::now();
    let report = run.in_memory(hospital).unwrap().report;
    assert!(begun.elapsed().as_secs() < 30, "ended before its time");
    use Stage::{Bound, Encode, Publish, Read, Search, Verify, Write};
    let expected = [Read, Encode, Bound, Search, Write, Verify, Publish];
    assert_eq!(stages.lock().unwrap().as_slice(), expected);
    assert!(progress.load(Ordering::SeqCst) > 0);
    assert_eq!(warnings.lock().unwrap().as_slice(), ["sensitive-without-rule"]);
    assert_eq!(report.times.iter().map(|(stage, _)| *stage).collect::<Vec<_>>(), expected);
    assert_eq!(report.found.warnings.len(), 1);
}

#[test]
fn a_run_that_was_given_up_publishes_nothing_at_whatever_stage() {
    let folder = tempfile::tempdir().unwrap();
    let (data, safe) = (folder.path().join("patients.csv"), folder.path().join("safe.csv"));
    std::fs::write(&data, patients(5, 500)).unwrap();
    use Stage::{Encode, Read, Search, Verify, Write};
    for at in [Read, Encode, Search, Write, Verify] {
        let cancel = Cancel::default();
        let watch = |event: Event| {
            if matches!(event, Event::Stage(stage) if stage == at) {
                cancel.abandon();
            }
        };
        let run = Run::new(&request("")).cancel(&cancel).watch(&watch).bound(Effort::None);
        let error = run.to_file(&data, &safe).unwrap_err();
        assert_eq!((error.kind(), error.code()), (ErrorKind::Interrupted, "interrupted"), "{at}");
        let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
        assert_eq!(left.len(), 1, "{at}: nothing but the table");
    }
}

/// Fails after some bytes, as a broken connection does.
struct Broken(Cursor<Vec<u8>>);

impl Read for Broken {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer)? {
            0 => Err(io::Error::other("connection lost near canary7")),
            read => Ok(read),
        }
    }
}

#[test]
fn a_source_that_breaks_off_is_an_error_without_its_cells() {
    let bytes = Broken(Cursor::new(patients(6, 5).into_bytes()));
    let failed = table::open_reader(bytes, Path::new("upload"), None)
        .and_then(|source| anonymize(source, &request("")).map(|_| ()));
    assert!(failed.is_err());

    let good = RecordBatch::try_from_iter([(
        "age",
        std::sync::Arc::new(StringArray::from(vec!["1"])) as _,
    )])
    .unwrap();
    let broken = arrow_schema::ArrowError::ExternalError("canary of the producer".into());
    let reader = RecordBatchIterator::new([Ok(good.clone()), Err(broken)], good.schema());
    let request = Request::new(1).quasi_identifiers(["age"]);
    let error = anonymize(table::from_batches(reader).unwrap(), &request).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!(error.to_string().ends_with("the stream failed after 1 rows"), "{error}");
    let mut source = std::error::Error::source(&error);
    let mut chain = String::new();
    while let Some(cause) = source {
        chain += &cause.to_string();
        source = cause.source();
    }
    assert!(chain.contains("canary of the producer"), "the producer's own error is the source");
}

#[test]
fn what_only_the_run_heeds_is_heeded_or_refused() {
    let text = patients(8, 400);
    let made = |request: &Request| -> Result<String> {
        let released = Run::new(request).bound(Effort::None).in_memory(source(&text))?;
        Ok(format!("{:?} {:?}", rows(&released.batches), released.report.found.status))
    };
    let base = made(&request("")).unwrap();
    assert_eq!(made(&request("")).unwrap(), base, "same seed, same release");
    for (key, other) in [
        ("algorithm", Request { algorithm: Some("bottom-up".into()), ..request("") }),
        ("seed", Request { seed: Some(8), ..request("") }),
        ("rounds", Request { rounds: Some(1), ..request("") }),
    ] {
        assert_ne!(made(&other).unwrap(), base, "{key} is ignored");
    }
    let auto =
        |steps| Request { algorithm: Some("auto".into()), steps: Some(steps), ..request("") };
    assert_ne!(made(&auto(1)).unwrap(), made(&auto(3000)).unwrap(), "steps are ignored");
    let cost = |cost: &str| {
        let request = request("limits.time = '2s'");
        Request { algorithm: Some("optimal".into()), cost: Some(cost.into()), ..request }
    };
    assert_ne!(made(&cost("ncp")).unwrap(), made(&cost("dm")).unwrap(), "the cost is ignored");
    let price = |price| {
        made(&request(&format!("limits = {{ suppress = '5%', suppression_price = {price} }}")))
    };
    assert_ne!(price(0).unwrap(), price(1).unwrap(), "the price of a suppressed row is ignored");
    for (code, other) in [
        ("bad-suppression-price", request("limits.suppression_price = 1.5")),
        ("unknown-name", Request { algorithm: Some("best".into()), ..request("") }),
        ("not-global", Request { cost: Some("dm".into()), ..request("") }),
        ("not-global", Request { scheme: Some("ghs".into()), ..request("") }),
        ("homogeneous", Request { non_homogeneous: true, ..request("") }),
        ("non-homogeneous", Request { algorithm: Some("ring".into()), ..request("") }),
        ("loss-too-great", request("limits.max_loss = 0.0001")),
        ("bad-time", request("limits.time = 'soon'")),
    ] {
        assert_eq!(made(&other).unwrap_err().code(), code);
    }
}

/// The distinct tuples of a table of patients on age, city and illness, each with its count.
fn counts(text: &str) -> String {
    let mut tuples: std::collections::BTreeMap<String, u64> = Default::default();
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        *tuples.entry(cells[1..4].join(",")).or_default() += 1;
    }
    let rows: String = tuples.iter().map(|(tuple, count)| format!("{tuple},{count}\n")).collect();
    format!("age,city,ill,n\n{rows}")
}

#[test]
fn a_plan_makes_the_release_of_the_rows_themselves() {
    for (seed, more) in
        [(11, ""), (12, "limits.suppress = 0.1"), (13, "rules = [{ k = 20, columns = ['city'] }]")]
    {
        let text = patients(seed, 600);
        let request = request(more);
        let direct = anonymize(source(&text), &request).unwrap().report;
        let planned = Request { count: Some("n".into()), ..request.clone() };
        let tuples = counts(&text);
        let plan = Run::new(&planned).plan_in_memory(source(&tuples)).unwrap();
        assert_eq!(plan.report.found.loss, direct.found.loss, "{more}");
        assert_eq!(plan.report.found.suppressed, direct.found.suppressed, "{more}");
        assert_eq!(plan.report.released(), direct.released(), "{more}");

        // Whoever has the rows: each row takes the piece of its number among the equal ones.
        let mut released = String::from("age,city,ill\n");
        let mut left: std::collections::BTreeMap<String, i64> = Default::default();
        for line in tuples.lines().skip(1) {
            let (tuple, count) = line.rsplit_once(',').unwrap();
            left.insert(tuple.to_string(), count.parse().unwrap());
        }
        let mut suppressed = 0;
        for batch in &plan.batches {
            let text = |name: &str, row: usize| {
                batch.column_by_name(name).unwrap().as_string::<i32>().value(row).to_string()
            };
            let number = |name: &str, row: usize| {
                let column = batch.column_by_name(name).unwrap();
                column.as_primitive::<arrow_array::types::Int64Type>().value(row)
            };
            for row in 0..batch.num_rows() {
                let tuple = ["age", "city", "ill"].map(|name| text(name, row)).join(",");
                let (first, last) = (number("first_row", row), number("last_row", row));
                *left.get_mut(&tuple).unwrap() -= last - first + 1;
                if batch.column_by_name("suppressed").unwrap().as_boolean().value(row) {
                    suppressed += last - first + 1;
                    continue;
                }
                let (age, city) = (text("published_age", row), text("published_city", row));
                for _ in first..=last {
                    released += &format!("{age},{city},{}\n", text("ill", row));
                }
            }
        }
        assert!(left.values().all(|&left| left == 0), "{more}: every row is in one piece");
        assert_eq!(u64::try_from(suppressed).unwrap(), direct.found.suppressed, "{more}");
        let mut without = request.clone();
        without.columns.retain(|name, _| ["age", "city", "ill"].contains(&name.as_str()));
        let read = table::open_text(released, Path::new("joined")).unwrap();
        let joined = read.read(&[Treatment::Code; 3]).unwrap();
        let verdict = lookalike::audit::audit(&joined, &without).unwrap();
        assert!(verdict.holds(), "{more}: {:?}", verdict.rules);
        assert_eq!(verdict.measures.classes, direct.verdict.measures.classes, "{more}");
    }
}

#[test]
fn a_plan_needs_counts_and_every_tuple_once() {
    let planned = |more: &str, text: &str| {
        let request =
            Request::parse(&format!("k = 2\n{more}\ncolumns.age.role = 'quasi'")).unwrap();
        Run::new(&request).plan_in_memory(source(text)).map(|_| ()).unwrap_err()
    };
    assert_eq!(planned("", "age,n\n1,2\n").code(), "no-count");
    let twice = planned("count = 'n'", "age,n\n1,2\n2,2\n1,5\n");
    assert_eq!((twice.code(), twice.place().row), ("tuple-twice", Some(3)));
    let zeros = RecordBatch::try_from_iter([
        ("age", std::sync::Arc::new(arrow_array::Float64Array::from(vec![0.0, -0.0])) as _),
        ("n", std::sync::Arc::new(arrow_array::Int64Array::from(vec![3, 1])) as _),
    ])
    .unwrap();
    let reader = RecordBatchIterator::new([Ok(zeros.clone())], zeros.schema());
    let request = Request::new(2).quasi_identifiers(["age"]).count("n");
    let both = Run::new(&request).plan_in_memory(table::from_batches(reader).unwrap());
    assert_eq!(both.unwrap_err().code(), "tuple-twice", "two zeros");
    let taken = planned("count = 'n'\nrest = 'keep'", "age,n,first_row\n1,2,1\n2,2,1\n");
    assert_eq!(taken.code(), "name-taken");
}

#[test]
fn rows_with_counts_that_a_text_file_shows_alike_are_one_row() {
    let folder = tempfile::tempdir().unwrap();
    let safe = folder.path().join("safe.csv");
    let batch = RecordBatch::try_from_iter([
        ("age", std::sync::Arc::new(arrow_array::Int64Array::from(vec![1, 1])) as _),
        ("note", std::sync::Arc::new(StringArray::from(vec![Some(""), None])) as _),
        ("n", std::sync::Arc::new(arrow_array::Int64Array::from(vec![3, 2])) as _),
    ])
    .unwrap();
    let reader = RecordBatchIterator::new([Ok(batch.clone())], batch.schema());
    let request = Request::new(2).quasi_identifiers(["age"]).keep(["note"]).count("n");
    let request = request.accept_dependent("note");
    let report = anonymize_file(table::from_batches(reader).unwrap(), &safe, &request).unwrap();
    assert_eq!((lines(&safe), report.released()), (vec!["1,,5".to_string()], 5));
}

#[test]
fn suppression_makes_the_published_rows_finer_and_the_report_says_by_how_much() {
    let text = patients(9, 400);
    let made = |more: &str| anonymize(source(&text), &request(more)).unwrap().report;
    let none = made("").found;
    assert_eq!((none.suppressed, none.published.unsuppressed_gcp), (0, None));
    assert!((none.published.gcp - none.loss.gcp).abs() < 1e-12);
    let some = made("limits = { suppress = '5%', suppression_price = 0.1 }").found;
    assert!(some.suppressed > 0 && some.suppressed <= 20);
    assert_eq!(some.published.bought(), some.published.unsuppressed_gcp);
    let before = some.published.unsuppressed_gcp.unwrap();
    assert!((before - none.loss.gcp).abs() < 1e-9, "one search, as without an allowance");
    let counted = some.published.gcp * (400 - some.suppressed) as f64 + some.suppressed as f64;
    assert!((counted / 400.0 - some.loss.gcp).abs() < 1e-9, "suppressed rows are wholly lost");
    for (more, is_used) in [
        ("limits.suppression_price = 0.5", false),
        ("limits = { suppress = '5%', suppression_price = 0.5 }", true),
    ] {
        let warnings = made(more).found.warnings;
        let warned = warnings.iter().any(|warning| warning.code() == "no-effect");
        assert_eq!(warned, !is_used, "{more}");
    }
    let mut global = request("limits = { suppress = '5%', suppression_price = 0.5 }");
    global.algorithm = Some("incognito".into());
    let warnings = anonymize(source(&text), &global).unwrap().report.found.warnings;
    assert!(warnings.iter().any(|warning| warning.to_string().contains("incognito counts")));
}
