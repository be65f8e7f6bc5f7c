//! Releases in memory that are written to files later: the files that a run would have written.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, DictionaryArray, Float64Array, Int32Array,
    Int64Array, ListArray, RecordBatch, RecordBatchIterator, StringArray, TimestampSecondArray,
    types::Int32Type,
};
use lookalike::request::Persons;
use lookalike::rng::Rng;
use lookalike::run::{Cancel, Effort, ReleasedTable, Run};
use lookalike::search::global::Techniques;
use lookalike::table::{self, Existing};
use lookalike::{Algorithm, ErrorKind, Request};

use crate::support::built;

const FILES: [&str; 5] = ["safe.csv", "safe.tsv.gz", "safe.csv.zst", "safe.parquet", "safe.arrow"];

/// Typed columns of many kinds, with formulas in names and cells, and missing cells.
fn typed(rows: usize) -> RecordBatch {
    let mut rng = Rng::new(3);
    let mut some = |of: usize| rng.place(of);
    let texts = ["=1+1", "-x", "'=2", "", "plain, \"quoted\"", "two\nlines"];
    let ages: Int64Array =
        (0..rows).map(|_| Some(20 + some(40) as i64).filter(|age| age % 9 > 0)).collect();
    let cities: DictionaryArray<Int32Type> =
        (0..rows).map(|_| Some(["Ulm", "Bonn", "-inf", "=Kiel"][some(4)])).collect();
    let notes: StringArray =
        (0..rows).map(|_| Some(texts[some(6)]).filter(|note| note.len() != 2)).collect();
    let heights: Float64Array =
        (0..rows).map(|_| Some([1.5, -0.0, f64::NEG_INFINITY, 2e300][some(4)])).collect();
    let days: Date32Array = (0..rows).map(|_| Some([-800_000, 0, 19_000][some(3)])).collect();
    let times: TimestampSecondArray =
        (0..rows).map(|_| Some(1_700_000_000 + some(9) as i64)).collect();
    let flags: BooleanArray =
        (0..rows).map(|_| Some(some(2) > 0).filter(|_| some(5) > 0)).collect();
    let columns: [(&str, ArrayRef); 7] = [
        ("age", Arc::new(ages)),
        ("=city", Arc::new(cities)),
        ("@note", Arc::new(notes)),
        ("height", Arc::new(heights)),
        ("day", Arc::new(days)),
        ("time", Arc::new(times)),
        ("flag", Arc::new(flags)),
    ];
    RecordBatch::try_from_iter_with_nullable(
        columns.into_iter().map(|(name, column)| (name, column, true)),
    )
    .unwrap()
}

fn source(batch: &RecordBatch) -> table::Source {
    let reader = RecordBatchIterator::new([Ok(batch.clone())], batch.schema());
    table::from_batches(reader).unwrap()
}

fn request(more: &str) -> Request {
    let toml = format!(
        "k = 3\nseed = 4\nsteps = 100\nrest = 'keep'\n{more}\n[columns]\n\
         age = {{ role = 'quasi' }}\n'=city' = {{ role = 'quasi' }}"
    );
    Request::parse(&toml).unwrap().accept_unique()
}

fn write(released: &ReleasedTable, path: &Path) -> lookalike::Result<()> {
    released.to_file(path, Existing::Keep, &Cancel::default())
}

#[test]
fn the_file_of_a_released_table_is_the_file_of_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let batch = typed(300);
    let ways = [
        "",
        "output.raw_formulas = true",
        "output.publish = 'bounds'",
        "output.publish = 'set'\nlimits.suppress = '5%'",
        "output.order = 'input'",
        "algorithm = 'optimal'",
    ];
    for more in ways {
        let request = request(more);
        let few = Techniques { seeding: false, most_nodes: 4, ..Techniques::default() };
        let run = || Run::new(&request).techniques(few).bound(Effort::None);
        let plain = run().in_memory(source(&batch)).unwrap();
        let categories = run().categories().in_memory(source(&batch)).unwrap();
        for name in built(&FILES) {
            let path = |kind: &str| folder.path().join(format!("{kind}-{name}"));
            let direct = run().existing(Existing::Overwrite).to_file(source(&batch), path("run"));
            direct.unwrap();
            let expected = std::fs::read(path("run")).unwrap();
            for (kind, released) in [("plain", &plain), ("categories", &categories)] {
                released
                    .to_file(path(kind), Existing::Overwrite, &Cancel::default())
                    .unwrap_or_else(|error| panic!("{more}, {name}, {kind}: {error}"));
                assert!(std::fs::read(path(kind)).unwrap() == expected, "{more}, {name}, {kind}");
            }
        }
    }
}

#[test]
fn rings_persons_counts_and_plans_are_written_too() {
    let folder = tempfile::tempdir().unwrap();
    let mut rng = Rng::new(8);
    let mut text = "id,age,city,n\n".to_string();
    for row in 0..200 {
        text += &format!(
            "P{},{},C{},{}\n",
            row % 90,
            20 + rng.below(9),
            rng.below(3),
            1 + rng.below(4)
        );
    }
    let source = || table::open_text(text.clone(), Path::new("visits")).unwrap();
    let base = Request::new(3).quasi_identifiers(["age", "city"]).drop_others();
    let base = base.seed(2).search_steps(100);
    let ring = base.clone().algorithm(Algorithm::Ring).non_homogeneous();
    let counts = base.clone().count("n");
    let rows = base.clone().person(["id"]).persons(Persons::Rows);
    let pseudonyms = base.person(["id"]).persons(Persons::Whole).pseudonyms();
    for (what, request) in
        [("ring", &ring), ("counts", &counts), ("rows", &rows), ("pseudonyms", &pseudonyms)]
    {
        let released = Run::new(request).categories().in_memory(source()).unwrap();
        for name in built(&FILES) {
            let path = folder.path().join(format!("{what}-{name}"));
            write(&released, &path).unwrap_or_else(|error| panic!("{what}, {name}: {error}"));
            let direct = folder.path().join(format!("direct-{what}-{name}"));
            Run::new(request).to_file(source(), &direct).unwrap();
            // The shifts of rings are the system's.
            let is_same = std::fs::read(&path).unwrap() == std::fs::read(&direct).unwrap();
            assert!(is_same || what == "ring", "{what}, {name}");
        }
    }
    let tuples = "age,city,n\n20,=A,3\n21,=A,1\n22,B,5\n";
    let source = || table::open_text(tuples.into(), Path::new("tuples")).unwrap();
    let released = Run::new(&counts).plan_in_memory(source()).unwrap();
    for name in built(&FILES) {
        let path = folder.path().join(format!("plan-{name}"));
        write(&released, &path).unwrap_or_else(|error| panic!("plan, {name}: {error}"));
        let direct = folder.path().join(format!("direct-plan-{name}"));
        Run::new(&counts).plan_to_file(source(), &direct).unwrap();
        assert!(std::fs::read(&path).unwrap() == std::fs::read(&direct).unwrap(), "{name}");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::metadata(&path).unwrap().permissions().mode();
            assert_eq!(mode & 0o077, 0, "only the owner reads a plan");
        }
    }
}

#[test]
fn a_file_that_cannot_be_written_is_refused_and_nothing_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let (data, safe) = (folder.path().join("data.csv"), folder.path().join("safe.csv"));
    std::fs::write(&data, "age,note\n1,a\n1,b\n1,c\n2,a\n2,a\n2,a\n").unwrap();
    let request = Request::new(3).quasi_identifiers(["age"]).keep(["note"]);
    let released = Run::new(&request).categories().in_memory(&data).unwrap();
    let files = || std::fs::read_dir(folder.path()).unwrap().count();
    write(&released, &safe).unwrap();
    let code = |path: &Path, existing| {
        released.to_file(path, existing, &Cancel::default()).unwrap_err().code()
    };
    assert_eq!(code(&safe, Existing::Keep), "file-exists");
    assert_eq!(code(&folder.path().join("safe.xlsx"), Existing::Keep), "unknown-format");
    assert_eq!(code(&folder.path().join("no/safe.csv"), Existing::Keep), "not-found");
    assert_eq!(code(&data, Existing::Overwrite), "output-is-input", "the table itself");
    let cancel = Cancel::default();
    cancel.abandon();
    let error = released.to_file(folder.path().join("b.csv"), Existing::Keep, &cancel).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Interrupted);
    assert_eq!(files(), 2, "nothing but the table and the first file");

    // Cells that no text file can have.
    let bytes: ArrayRef = Arc::new(BinaryArray::from(vec![&b"\0"[..]; 3]));
    let nul: ArrayRef = Arc::new(StringArray::from(vec!["a\0b"; 3]));
    let list: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(
        (0..3).map(|at| Some(vec![Some(at)])),
    ));
    for (note, expected) in
        [(bytes, "type-not-in-format"), (nul, "has-nul"), (list, "type-not-in-format")]
    {
        let ages: ArrayRef = Arc::new(Int32Array::from(vec![1; 3]));
        let batch = RecordBatch::try_from_iter([("age", ages), ("note", note)]).unwrap();
        let released = Run::new(&request).categories().in_memory(source(&batch)).unwrap();
        let path = folder.path().join("typed.csv");
        let error = released.to_file(&path, Existing::Keep, &Cancel::default()).unwrap_err();
        assert_eq!(error.code(), expected, "{error}");
        assert!(!path.exists());
        for name in built(&["typed.parquet", "typed.arrow"]) {
            released
                .to_file(folder.path().join(name), Existing::Overwrite, &Cancel::default())
                .unwrap();
        }
    }
}

#[test]
fn batches_that_were_changed_are_audited_again() {
    let folder = tempfile::tempdir().unwrap();
    let mut released = Run::new(&request("")).in_memory(source(&typed(60))).unwrap();
    // Two rows are no class of three.
    released.batches = vec![released.batches[0].slice(0, 2)];
    for name in built(&FILES) {
        let path = folder.path().join(name);
        let error = released.to_file(&path, Existing::Keep, &Cancel::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotVerified, "{error}");
        assert!(!path.exists());
    }
}
