//! Releases in memory whose labels are ordered dictionaries: the same cells as plain texts, and
//! nothing else in any buffer.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch, RecordBatchIterator};
use arrow_cast::cast;
use arrow_schema::DataType;
use lookalike::release::proof;
use lookalike::rng::Rng;
use lookalike::run::{Effort, ReleasedTable, Run, Verify};
use lookalike::search::global::Techniques;
use lookalike::synthetic::{self, Synthetic};
use lookalike::{Algorithm, Request, Result, audit, table};

/// Visits of persons: a number, a category with and one without missing cells, an ordinal, a date.
/// One in forty is an outlier that only suppressed rows have.
fn visits(seed: u64, rows: u64) -> String {
    let mut rng = Rng::new(seed);
    let mut text = "id,age,city,grade,day,n,ill\n".to_string();
    for row in 0..rows {
        let mut one_of = |words: &[&'static str]| words[rng.place(words.len())];
        let (city, grade) = (one_of(&["Ulm", "Bonn", "Kiel", ""]), one_of(&["low", "mid", "high"]));
        let ill = one_of(&["flu", "gout", "cold", "asthma"]);
        let age = if rng.below(9) == 0 { String::new() } else { (8 + rng.below(30)).to_string() };
        let (day, n) = (1 + rng.below(28), 1 + rng.below(3));
        text += &format!("P{},{age},{city},{grade},2024-02-{day:02},{n},{ill}\n", row % (rows / 2));
        if row % 40 == 39 {
            text += &format!("P{row},{},canary{row},low,1950-01-01,1,flu\n", 99_900 + row);
        }
    }
    text
}

fn request(more: &str, column: &str) -> Request {
    let toml = format!(
        "k = 4\nseed = 5\nrest = 'drop'\nsteps = 200\n{more}\n[columns]\n{column}\n\
         age = {{ role = 'quasi', hierarchy = {{ intervals = [5, 10] }} }}\n\
         city = {{ role = 'quasi' }}\nday = {{ role = 'quasi', kind = 'date' }}\n\
         grade = {{ role = 'quasi', order = ['low', 'mid', 'high'] }}\n\
         ill = {{ role = 'sensitive', l = 2 }}"
    );
    Request::parse(&toml).unwrap()
}

/// The ways to publish and to count.
const WAYS: [(&str, &str); 12] = [
    ("", ""),
    ("limits.suppress = '12%'", ""),
    ("limits.suppress = '12%'\noutput.publish = 'set'", ""),
    ("limits.suppress = '12%'\noutput.publish = 'bounds'", ""),
    ("limits.suppress = '12%'\noutput.snap = true", ""),
    ("output.order = 'input'", ""),
    ("count = 'n'\nlimits.suppress = '12%'", ""),
    ("persons = 'rows'", "id = { role = 'person' }"),
    (
        "limits.suppress = '20%'\npersons = 'whole'\noutput.pseudonyms = true",
        "id = { role = 'person' }",
    ),
    ("rules = [{ k = 40, columns = ['city', 'grade'] }]\noutput.publish = 'set'", ""),
    ("output.publish = 'bounds'\nmissing = ['mid']", ""),
    ("missing = ['low', 'mid', 'high']", ""),
];

fn run<'a>(request: &Request) -> Run<'a> {
    let techniques = Techniques { seeding: false, most_nodes: 4, ..Techniques::default() };
    Run::new(request).techniques(techniques).bound(Effort::None).verify(Verify::Source)
}

fn source(text: &str) -> table::Source {
    table::open_text(text.to_string(), Path::new("visits")).unwrap()
}

/// All cells of a column as texts.
fn cells(batches: &[RecordBatch], at: usize) -> Vec<Option<String>> {
    let of = |batch: &RecordBatch| -> Vec<Option<String>> {
        let texts = cast(batch.column(at), &DataType::Utf8).unwrap();
        texts.as_string::<i32>().iter().map(|cell| cell.map(String::from)).collect()
    };
    batches.iter().flat_map(of).collect()
}

/// The labels of a column of categories, which has the same dictionary in every batch.
fn labels(released: &ReleasedTable, at: usize) -> Vec<String> {
    let field = released.schema.field(at);
    let expected = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    assert_eq!((field.data_type(), field.dict_is_ordered()), (&expected, Some(true)));
    let first = released.batches[0].column(at).as_any_dictionary().values();
    for batch in &released.batches {
        assert_eq!(batch.schema(), released.schema);
        assert!(Arc::ptr_eq(first, batch.column(at).as_any_dictionary().values()));
    }
    assert_eq!(first.null_count(), 0);
    first.as_string::<i32>().iter().flatten().map(String::from).collect()
}

/// Least and greatest value of a label of ages, none below 8; none for `*` and where one is missing.
fn ends(label: &str) -> Option<(u64, u64)> {
    let inside = label.strip_prefix('[').and_then(|label| label.strip_suffix(']'));
    let (lo, hi) = inside.map_or(Some((label, label)), |inside| inside.split_once('-'))?;
    Some((lo.parse::<u64>().ok()?.max(8), hi.parse().ok()?))
}

/// The bytes of all buffers, dictionaries included.
fn bytes(released: &ReleasedTable) -> Vec<u8> {
    let mut all = Vec::new();
    for column in released.batches.iter().flat_map(RecordBatch::columns) {
        let data = column.to_data();
        for part in std::iter::once(&data).chain(data.child_data()) {
            part.buffers().iter().for_each(|buffer| all.extend_from_slice(buffer.as_slice()));
        }
    }
    all
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

/// Compares the release of categories with the plain one; returns the number of categories.
fn compare(plain: &ReleasedTable, released: &ReleasedTable, what: &str) -> usize {
    let mut count = 0;
    assert!(released.report.verdict.holds() && released.report.verdict.truth.is_some(), "{what}");
    for (at, field) in plain.schema.fields().iter().enumerate() {
        assert_eq!(field.name(), released.schema.field(at).name(), "{what}");
        let expected = cells(&plain.batches, at);
        assert_eq!(cells(&released.batches, at), expected, "{what}: {}", field.name());
        if *field.data_type() != DataType::Utf8 || field.name() == "ill" {
            assert_eq!(field, &released.schema.fields()[at], "{what}");
            continue;
        }
        let labels = labels(released, at);
        let shown: BTreeSet<String> = expected.into_iter().flatten().collect();
        let sorted: BTreeSet<String> = labels.iter().cloned().collect();
        assert_eq!((&sorted, sorted.len()), (&shown, labels.len()), "{what}: {}", field.name());
        count += labels.len();
        let in_order: Vec<&str> = match field.name().as_str() {
            "age" => {
                let known: Vec<_> = labels.iter().filter_map(|label| ends(label)).collect();
                assert!(known.is_sorted(), "{what}: {labels:?}");
                continue;
            }
            "grade_min" | "grade_max" => vec!["low", "mid", "high"],
            "age_missing" | "grade_missing" => vec!["no", "maybe", "yes"],
            "grade" => vec!["low", "[low-mid]", "[low-high]", "mid", "[mid-high]", "high"],
            _ => continue,
        };
        let places: Vec<usize> = labels
            .iter()
            .filter_map(|label| in_order.iter().position(|known| known == label))
            .collect();
        assert!(places.is_sorted(), "{what}: {labels:?}");
    }
    count
}

#[test]
fn categories_have_the_cells_of_the_plain_release_for_every_algorithm() {
    let text = visits(1, 240);
    let (mut done, mut labels) = (0, 0);
    for algorithm in Algorithm::ALL.into_iter().filter(|algorithm| algorithm.is_homogeneous()) {
        for (more, column) in WAYS {
            let what = format!("{algorithm}, {more}");
            let request = request(more, column);
            let request = Request { algorithm: Some(algorithm.name().into()), ..request };
            let plain: Result<ReleasedTable> = run(&request).in_memory(source(&text));
            let released = run(&request).categories().in_memory(source(&text));
            let (plain, released) = match (plain, released) {
                (Ok(plain), Ok(released)) => (plain, released),
                (Err(plain), Err(released)) => {
                    assert_eq!(plain.code(), released.code(), "{what}");
                    assert_eq!(plain.code(), "changing-persons", "{what}: {plain}");
                    continue;
                }
                (plain, released) => panic!("{what}: {plain:?} and {released:?}"),
            };
            labels += compare(&plain, &released, &what);
            done += 1;
            // Where every outlier is suppressed, no trace of one is left.
            let shown = |batches: &[RecordBatch], sought: &str| {
                let columns = 0..batches[0].num_columns();
                let of = |at| cells(batches, at).into_iter().flatten().collect::<Vec<_>>();
                columns.flat_map(of).any(|cell| cell.contains(sought))
            };
            for sought in ["canary", "999", "1950"] {
                let is_shown = shown(&plain.batches, sought);
                // Numbers of bounds are not texts.
                if !is_shown {
                    assert!(!contains(&bytes(&released), sought), "{what}: {sought}");
                }
            }
        }
    }
    assert!(done > 70 && labels > 3_000, "{done} releases, {labels} labels");
}

#[test]
fn a_label_that_only_suppressed_rows_have_is_in_no_buffer() {
    let rows = "1,Ulm\n2,Bonn\n3,Kiel\n".repeat(20);
    let text = format!("age,city\n{rows}77,canary\n{rows}");
    let base = "k = 5\nseed = 1\nlimits.suppress = '5%'\ncolumns.age.role = 'quasi'\n\
                columns.city.role = 'quasi'\n";
    for algorithm in Algorithm::ALL.into_iter().filter(|algorithm| algorithm.is_homogeneous()) {
        for publish in ["label", "set"] {
            let toml = format!("{base}steps = 100\noutput.publish = '{publish}'");
            let request = Request::parse(&toml).unwrap();
            let request = Request { algorithm: Some(algorithm.name().into()), ..request };
            let released = run(&request).categories().in_memory(source(&text)).unwrap();
            let what = format!("{algorithm}, {publish}");
            let suppressed = released.report.found.suppressed;
            // One cuts elsewhere, and suppresses more.
            assert!(suppressed == 1 || algorithm == Algorithm::MondrianRelaxed, "{what}");
            assert!(suppressed > 1 || labels(&released, 0) == ["1", "2", "3"], "{what}");
            assert!(!contains(&bytes(&released), "canary"), "{what}");
            assert!(contains(&bytes(&released), "Kiel"), "{what}: the search finds labels");
        }
    }
}

#[test]
fn rings_and_many_batches_have_one_dictionary() {
    let ring = Request { algorithm: Some("ring".into()), non_homogeneous: true, ..request("", "") };
    let text = visits(3, 300);
    let released = run(&ring).categories().proof_text().in_memory(source(&text)).unwrap();
    assert!(released.report.verdict.non_homogeneous.is_some());
    let at = released.schema.index_of("city").unwrap();
    let shown: BTreeSet<String> = cells(&released.batches, at).into_iter().flatten().collect();
    assert_eq!(labels(&released, at).into_iter().collect::<BTreeSet<_>>(), shown);
    // The text of the proof is a proof of these batches.
    let found = proof::read(released.proof.as_ref().unwrap().as_bytes()).unwrap();
    let read = |source: table::Source, view| {
        let treatments = audit::treatments(source.names(), &ring, view);
        source.read(&treatments).unwrap()
    };
    let batches = released.batches.clone().into_iter().map(Ok);
    let batches = RecordBatchIterator::new(batches, released.schema.clone());
    let batches =
        read(table::from_batches(batches).unwrap(), audit::AuditView::ReleaseAgainstSource);
    let original = read(source(&text), audit::AuditView::Source);
    let verdict = audit::audit_rings(&batches, &original, &ring, Some(&found)).unwrap();
    assert!(verdict.holds());

    let schema = synthetic::schema(Synthetic::Census);
    let batch = synthetic::batch(Synthetic::Census, 1, 0, 150_000);
    let census = || {
        let reader = RecordBatchIterator::new([Ok(batch.clone())], schema.clone());
        table::from_batches(reader).unwrap()
    };
    let request = Request::parse(
        "k = 10\nseed = 1\nalgorithm = 'mondrian'\nrest = 'drop'\ncolumns.age.role = 'quasi'\n\
         columns.sex.role = 'quasi'\ncolumns.education.role = 'quasi'",
    )
    .unwrap();
    let plain = run(&request).in_memory(census()).unwrap();
    let released = run(&request).categories().in_memory(census()).unwrap();
    assert!(released.batches.len() > 1);
    compare(&plain, &released, "census");
}
