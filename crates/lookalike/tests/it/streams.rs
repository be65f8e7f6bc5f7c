//! Arrow streams of callers: every type in every role, and streams that fail, give a release or an
//! error, never a panic.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, Int64Array, RecordBatch, RecordBatchIterator, RecordBatchOptions, StringArray,
    StructArray, new_null_array,
};
use arrow_cast::{can_cast_types, cast};
use arrow_schema::{ArrowError, DataType, Field, IntervalUnit, Schema, SchemaRef, TimeUnit};
use lookalike::run::{Effort, ReleasedTable, Run, Verify};
use lookalike::{Error, ErrorKind, Request, Result, table};

fn dictionary(keys: DataType, values: DataType) -> DataType {
    DataType::Dictionary(Box::new(keys), Box::new(values))
}

/// All types that a stream may have.
fn types() -> Vec<DataType> {
    use DataType::*;
    let item = |data_type: DataType| Arc::new(Field::new_list_field(data_type, true));
    let mut all = vec![
        Null,
        Boolean,
        Int8,
        Int16,
        Int32,
        Int64,
        UInt8,
        UInt16,
        UInt32,
        UInt64,
        Float16,
        Float32,
        Float64,
        Date32,
        Date64,
        Utf8,
        LargeUtf8,
        Utf8View,
        Binary,
        LargeBinary,
        BinaryView,
        FixedSizeBinary(2),
        Decimal32(9, 2),
        Decimal64(18, 2),
        Decimal128(38, 3),
        Decimal256(76, 3),
        Time32(TimeUnit::Second),
        Time32(TimeUnit::Millisecond),
        Time64(TimeUnit::Microsecond),
        Time64(TimeUnit::Nanosecond),
        Interval(IntervalUnit::YearMonth),
        Interval(IntervalUnit::DayTime),
        Interval(IntervalUnit::MonthDayNano),
        List(item(Int64)),
        List(item(Utf8View)),
        LargeList(item(Utf8)),
        FixedSizeList(item(Int64), 1),
        ListView(item(Int64)),
        LargeListView(item(Int64)),
        Struct(vec![Field::new("part", Int64, true)].into()),
        Struct(Vec::<Field>::new().into()),
        dictionary(UInt32, Utf8View),
        dictionary(Int8, Utf8),
        dictionary(UInt64, LargeUtf8),
        dictionary(Int32, Int64),
        dictionary(Int32, Float64),
        dictionary(Int32, Binary),
        dictionary(Int32, Date32),
        List(item(dictionary(Int32, Utf8))),
    ];
    let runs = |values| {
        let ends = Arc::new(Field::new("run_ends", Int32, false));
        RunEndEncoded(ends, Arc::new(Field::new("values", values, true)))
    };
    all.extend([runs(Utf8), runs(Int64), runs(Utf8View)]);
    let entries =
        Struct(vec![Field::new("keys", Utf8, false), Field::new("values", Int64, true)].into());
    all.push(Map(Arc::new(Field::new("entries", entries, false)), false));
    for unit in
        [TimeUnit::Second, TimeUnit::Millisecond, TimeUnit::Microsecond, TimeUnit::Nanosecond]
    {
        all.push(Duration(unit));
        for zone in
            [None, Some("UTC"), Some("+02:00"), Some("Europe/Berlin"), Some("Nowhere/At_All")]
        {
            all.push(Timestamp(unit, zone.map(Arc::from)));
        }
    }
    all
}

/// Columns of a type: all missing, and cells of three values, two of them twice or more.
fn columns(data_type: &DataType) -> Vec<ArrayRef> {
    let numbers = [Some(1), Some(1), Some(1), Some(2), Some(2), Some(2), Some(3), Some(3), None];
    let numbers: ArrayRef = Arc::new(Int64Array::from(numbers.to_vec()));
    let dates = ["2024-01-01"; 3].into_iter().chain(["1970-06-01"; 6]);
    let dates: ArrayRef = Arc::new(StringArray::from_iter_values(dates));
    let words =
        ["aa", "aa", "aa", "bb", "bb", "bb", "cc", "cc"].map(Some).into_iter().chain([None]);
    let words: ArrayRef = Arc::new(words.collect::<StringArray>());
    let mut all = vec![new_null_array(data_type, numbers.len())];
    if let DataType::Struct(fields) = data_type {
        let parts = fields.iter().map(|_| numbers.clone()).collect();
        all.push(Arc::new(
            StructArray::try_new_with_length(fields.clone(), parts, None, numbers.len()).unwrap(),
        ));
        return all;
    }
    for cells in [numbers, dates, words] {
        if can_cast_types(cells.data_type(), data_type)
            && let Ok(cells) = cast(&cells, data_type)
        {
            all.push(cells);
        }
    }
    all
}

fn stream(
    schema: SchemaRef,
    batches: Vec<std::result::Result<RecordBatch, ArrowError>>,
) -> Result<table::Source> {
    table::from_batches(RecordBatchIterator::new(batches, schema))
}

fn released(column: &ArrayRef, request: &Request, verify: Verify) -> Result<ReleasedTable> {
    let ages: ArrayRef = Arc::new(Int64Array::from(vec![7; column.len()]));
    let fields = vec![
        Field::new("age", DataType::Int64, true),
        Field::new("it", column.data_type().clone(), true),
    ];
    let schema = Arc::new(Schema::new(fields));
    let batch = RecordBatch::try_new(schema.clone(), vec![ages, column.clone()]).unwrap();
    // A slice has buffers that begin elsewhere.
    let parts = vec![Ok(batch.slice(0, 4)), Ok(batch.slice(4, batch.num_rows() - 4))];
    let run = Run::new(request).bound(Effort::None).verify(verify).categories();
    run.in_memory(stream(schema, parts)?)
}

#[test]
fn every_type_in_every_role_gives_a_release_or_an_error() {
    let role = |role: &str| {
        let toml = format!(
            "k = 2\nseed = 1\nalgorithm = 'mondrian'\ncolumns.age.role = 'quasi'\n\
             columns.it = {role}"
        );
        Request::parse(&toml).unwrap()
    };
    let roles = [
        ("quasi", role("{ role = 'quasi' }")),
        ("sensitive", role("{ role = 'sensitive' }")),
        ("l", role("{ role = 'sensitive', l = 2 }")),
        ("keep", role("{ role = 'keep', dependent = true }")),
        ("identifier", role("{ role = 'identifier' }")),
        ("person", role("{ role = 'person' }")),
        ("weight", role("{ role = 'weight' }")),
        ("count", Request::new(2).quasi_identifiers(["age"]).count("it")),
    ];
    let (mut done, mut refused) = (0, Vec::new());
    for data_type in types() {
        for (at, column) in columns(&data_type).iter().enumerate() {
            for (role, request) in &roles {
                let what = format!("{data_type} {at} as {role}");
                for verify in [Verify::Rules, Verify::Full] {
                    let made = catch_unwind(AssertUnwindSafe(|| released(column, request, verify)));
                    let made = made.unwrap_or_else(|_| panic!("{what} panics"));
                    match made {
                        Ok(made) => {
                            done += 1;
                            right(&made, column, role, &what);
                        }
                        Err(error) => {
                            clear(&error, &what);
                            refused.push(format!("{what}: {}", error.code()));
                        }
                    }
                }
            }
        }
    }
    assert!(done > 1_000, "{done}");
    for (role, least) in [("quasi", 90), ("keep", 200), ("identifier", 260)] {
        let of = |line: &&String| line.contains(&format!("as {role}:"));
        let refused = refused.iter().filter(of).count();
        let all = 2 * types().iter().map(|data_type| columns(data_type).len()).sum::<usize>();
        assert!(all - refused >= least, "{role}: {refused} of {all} refused");
    }
}

/// Texts that polars, pandas and others hand out are all the same texts.
fn right(made: &ReleasedTable, column: &ArrayRef, role: &str, what: &str) {
    assert!(made.report.verdict.holds(), "{what}");
    let rows: usize = made.batches.iter().map(RecordBatch::num_rows).sum();
    if role == "count" {
        return;
    }
    assert_eq!(rows, column.len(), "{what}");
    let has_it = made.schema.column_with_name("it").is_some();
    assert_eq!(has_it, !matches!(role, "identifier" | "person"), "{what}");
    if role == "keep" {
        // The same cells, in whatever order; all ages are equal.
        let plain = |array: &ArrayRef| match array.data_type() {
            DataType::Dictionary(_, values) => cast(array, values).unwrap(),
            DataType::RunEndEncoded(_, values) => cast(array, values.data_type()).unwrap(),
            _ => array.clone(),
        };
        let (expected, kept) = (plain(column), made.batches[0].column_by_name("it").unwrap());
        assert_eq!(kept.logical_null_count(), expected.logical_null_count(), "{what}");
        if let (DataType::Utf8, true) = (kept.data_type(), *expected.data_type() == DataType::Utf8)
        {
            let sorted = |cells: &ArrayRef| {
                let mut all: Vec<_> =
                    cells.as_string::<i32>().iter().map(|c| c.map(String::from)).collect();
                all.sort();
                all
            };
            assert_eq!(sorted(kept), sorted(&expected), "{what}");
        }
    }
}

fn clear(error: &Error, what: &str) {
    let is_expected =
        matches!(error.kind(), ErrorKind::Data | ErrorKind::Request | ErrorKind::Infeasible);
    assert!(is_expected, "{what}: {:?} {error}", error.kind());
    assert!(error.reason().len() > 10 && error.code() != "not-verified", "{what}: {error}");
}

#[test]
fn texts_of_all_makes_give_the_same_release() {
    let words = ["b", "a", "b", "c", "c", "a", "a long word of some bytes"].map(Some);
    let words: ArrayRef = Arc::new(words.into_iter().chain([None, None]).collect::<StringArray>());
    let request = Request::parse(
        "k = 2\nseed = 1\nalgorithm = 'mondrian'\ncolumns.age.role = 'quasi'\n\
         columns.it = { role = 'quasi' }",
    )
    .unwrap();
    let shown = |data_type: &DataType| -> Vec<Option<String>> {
        let made = released(&cast(&words, data_type).unwrap(), &request, Verify::Full).unwrap();
        let cells = cast(made.batches[0].column(1), &DataType::Utf8).unwrap();
        cells.as_string::<i32>().iter().map(|cell| cell.map(String::from)).collect()
    };
    let expected = shown(&DataType::Utf8);
    for data_type in [
        DataType::LargeUtf8,
        DataType::Utf8View,
        dictionary(DataType::UInt32, DataType::Utf8View),
        dictionary(DataType::Int8, DataType::LargeUtf8),
        dictionary(DataType::Int64, DataType::Utf8),
    ] {
        assert_eq!(shown(&data_type), expected, "{data_type}");
    }
}

/// All words of an error and its sources.
fn chain(error: &Error) -> Vec<String> {
    let mut all = vec![error.to_string()];
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        all.push(cause.to_string());
        source = cause.source();
    }
    all
}

#[test]
fn a_stream_that_fails_or_contradicts_itself_is_an_error() {
    let request = Request::new(2).quasi_identifiers(["age"]).drop_others();
    let run = |schema: &SchemaRef, batches| {
        let request = &request;
        let made = move || {
            let source = stream(schema.clone(), batches)?;
            Run::new(request).bound(Effort::None).in_memory(source)
        };
        catch_unwind(AssertUnwindSafe(made)).expect("no panic")
    };
    let of = |name: &str, data_type: DataType| Field::new(name, data_type, true);
    let schema = Arc::new(Schema::new(vec![of("age", DataType::Int64)]));
    let ages: ArrayRef = Arc::new(Int64Array::from(vec![1, 1, 2, 2]));
    let good = RecordBatch::try_new(schema.clone(), vec![ages.clone()]).unwrap();
    assert_eq!(
        run(&schema, vec![Ok(good.clone()), Ok(good.clone())]).unwrap().report.released(),
        8
    );

    let producer = std::io::Error::other("near canary 7, says the producer");
    let failure = ArrowError::ExternalError(Box::new(producer));
    let error = run(&schema, vec![Ok(good.clone()), Err(failure)]).unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::Io, "io"));
    let words = chain(&error);
    assert_eq!(words[0], "record batches: the stream failed after 4 rows");
    assert!(words[1..].iter().any(|word| word.contains("says the producer")), "{words:?}");
    assert!(!serde_json::to_string(&error).unwrap().contains("canary"));

    let code = |schema: &SchemaRef, batches| run(schema, batches).unwrap_err().code();
    assert_eq!(code(&schema, vec![]), "no-rows");
    assert_eq!(code(&schema, vec![Ok(good.slice(0, 0))]), "no-rows");
    let twice = Arc::new(Schema::new(vec![of("age", DataType::Int64), of("age", DataType::Int64)]));
    let both = RecordBatch::try_new(twice.clone(), vec![ages.clone(), ages.clone()]).unwrap();
    assert_eq!(code(&twice, vec![Ok(both)]), "column-name-twice");
    let nameless = Arc::new(Schema::new(vec![of("age", DataType::Int64), of("", DataType::Int64)]));
    let both = RecordBatch::try_new(nameless.clone(), vec![ages.clone(), ages.clone()]).unwrap();
    assert_eq!(code(&nameless, vec![Ok(both)]), "column-without-name");
    let none = Arc::new(Schema::empty());
    let rows = RecordBatchOptions::new().with_row_count(Some(4));
    let empty = RecordBatch::try_new_with_options(none.clone(), vec![], &rows).unwrap();
    assert_eq!(code(&none, vec![Ok(empty.clone())]), "no-columns");

    // Batches that are not of the schema of their stream.
    let words: ArrayRef = Arc::new(StringArray::from(vec!["1", "1", "2", "2"]));
    let other = RecordBatch::try_from_iter([("age", words)]).unwrap();
    for batch in [empty, other] {
        let error = run(&schema, vec![Ok(good.clone()), Ok(batch)]).unwrap_err();
        assert_eq!(error.code(), "io", "{error}");
        assert_eq!(error.to_string(), "record batches: the stream failed after 4 rows");
    }
}
