//! Writes a release: batches are made and turned into text in parallel, and written in order.

#[cfg(feature = "arrow-ipc")]
mod arrow;
pub(crate) mod csv;
mod leftover;
mod packed;
#[cfg(feature = "parquet")]
mod parquet;
pub(crate) mod pending;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, FieldRef, IntervalUnit, Schema, SchemaRef, TimeUnit};
use rayon::prelude::*;

use crate::error::{Error, Result};

use self::csv::{csv_header, csv_text};
use self::packed::Packed;

use crate::table::plain::{cast, is_supported, plain_schema, unpack};
use crate::table::read::Source;

/// The kind of a table file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Text with a header.
    Csv(TextDialect),
    /// Apache Parquet.
    Parquet,
    /// The Arrow IPC file format, also known as Feather.
    Arrow,
}

/// How a text file is written, beyond its cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextDialect {
    /// The byte between two cells; ASCII.
    pub delimiter: u8,
    /// Lines end as on Windows, by CR and LF.
    pub is_crlf: bool,
    /// The mark that tells spreadsheets that the text is UTF-8 stands first.
    pub has_mark: bool,
}

impl TextDialect {
    /// This byte between two cells, LF, and no mark.
    pub const fn plain(delimiter: u8) -> TextDialect {
        TextDialect { delimiter, is_crlf: false, has_mark: false }
    }
}

/// How a CSV file is compressed as a whole; Parquet and Arrow files are not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
    None,
    /// gzip.
    Gzip,
    /// Zstandard.
    Zstd,
}

/// The content of a file, as far as its name says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileType {
    /// The kind of table.
    pub format: Format,
    /// The compression of the file as a whole.
    pub compression: Compression,
}

/// The type of a file to be written, by the end of its name; `-` is CSV.
///
/// # Errors
/// When the name ends in something else, or in a format that this build of the library does not
/// have.
pub fn file_type(path: &Path) -> Result<FileType> {
    let file_type = named_type(path)?;
    check_features(file_type)?;
    Ok(file_type)
}

fn named_type(path: &Path) -> Result<FileType> {
    let plain = |format| Ok(FileType { format, compression: Compression::None });
    if path == Path::new("-") {
        return plain(Format::Csv(TextDialect::plain(b',')));
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let (stem, compression) = match name.rsplit_once('.') {
        Some((stem, "gz")) => (stem, Compression::Gzip),
        Some((stem, "zst")) => (stem, Compression::Zstd),
        _ => (name.as_str(), Compression::None),
    };
    match (stem.rsplit_once('.').map_or("", |(_, extension)| extension), compression) {
        ("csv" | "txt", compression) => {
            Ok(FileType { format: Format::Csv(TextDialect::plain(b',')), compression })
        }
        ("tsv", compression) => {
            Ok(FileType { format: Format::Csv(TextDialect::plain(b'\t')), compression })
        }
        ("parquet" | "pq", Compression::None) => plain(Format::Parquet),
        ("arrow" | "ipc" | "feather", Compression::None) => plain(Format::Arrow),
        _ => Err(Error::request(
            "unknown-format",
            "the name does not tell the format; it must end in .csv, .tsv, .txt (each also with \
             .gz or .zst), .parquet, .pq, .arrow, .ipc or .feather",
        )
        .at_file(path)),
    }
}

impl FileType {
    /// The type of a file of this name in the dialect of the source. Tabs stand between the cells
    /// of a `.tsv` file, and of no `.csv` file.
    #[must_use]
    pub fn in_dialect(self, path: &Path, source: TextDialect) -> FileType {
        let Format::Csv(named) = self.format else { return self };
        let name = path.to_string_lossy().to_ascii_lowercase();
        let is_fixed =
            named.delimiter == b'\t' || (source.delimiter == b'\t' && name.contains(".csv"));
        let delimiter = if is_fixed { named.delimiter } else { source.delimiter };
        FileType { format: Format::Csv(TextDialect { delimiter, ..source }), ..self }
    }
}

/// Checks that a file of this type can hold such columns, before anything is computed.
///
/// # Errors
/// When a column's type has no place in it.
pub fn check_types(file_type: FileType, schema: &SchemaRef) -> Result<()> {
    check_features(file_type)?;
    plain_schema(schema)
        .fields()
        .iter()
        .try_for_each(|field| check_type(file_type, field.name(), field.data_type()))
}

/// The same for those columns of a source that will be in the release, before its rows are read.
///
/// # Errors
/// As [`check_types`].
pub fn check_columns(
    file_type: FileType,
    source: &Source,
    is_released: impl Fn(&String) -> bool,
) -> Result<()> {
    check_features(file_type)?;
    let columns =
        source.names().iter().zip(source.data_types()).filter(|(name, _)| is_released(name));
    columns.into_iter().try_for_each(|(name, data_type)| check_type(file_type, name, data_type))
}

/// Refuses a format that this build of the library does not have.
fn check_features(file_type: FileType) -> Result<()> {
    let left_out = |what, feature| {
        Err(Error::request(
            "output-not-in-build",
            format!("this build writes no {what} files: build it with the feature `{feature}`"),
        ))
    };
    match (file_type.format, file_type.compression) {
        (Format::Parquet, _) if cfg!(not(feature = "parquet")) => left_out("Parquet", "parquet"),
        (Format::Arrow, _) if cfg!(not(feature = "arrow-ipc")) => left_out("Arrow", "arrow-ipc"),
        (_, Compression::Gzip | Compression::Zstd) if cfg!(not(feature = "compression")) => {
            left_out("compressed", "compression")
        }
        _ => Ok(()),
    }
}

fn check_type(file_type: FileType, name: &str, data_type: &DataType) -> Result<()> {
    let fits = match file_type.format {
        Format::Csv { .. } => !data_type.is_nested() && !data_type.is_binary(),
        Format::Parquet => fits_parquet(data_type),
        Format::Arrow => is_supported(data_type),
    };
    if fits {
        return Ok(());
    }
    let other = if fits_parquet(data_type) { "Parquet" } else { "Arrow" };
    let why = format!(
        "column `{name}` is of type {data_type}, which this format cannot show: write {other} \
         instead, or drop the column"
    );
    Err(Error::request("type-not-in-format", why).about_column(name))
}

/// True unless it has a part that the Parquet writer does not know: a cell of several types, three
/// numbers of an interval, nothing.
fn fits_parquet(data_type: &DataType) -> bool {
    match data_type {
        DataType::Union(..) | DataType::Interval(IntervalUnit::MonthDayNano) => false,
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::ListView(field)
        | DataType::LargeListView(field)
        | DataType::FixedSizeList(field, _)
        | DataType::Map(field, _) => fits_parquet(field.data_type()),
        DataType::Struct(fields) => {
            !fields.is_empty() && fields.iter().all(|field| fits_parquet(field.data_type()))
        }
        _ => true,
    }
}

/// The columns as Parquet has them. It knows no times in whole seconds: other readers would see
/// bare integers.
fn in_parquet(schema: &Schema) -> SchemaRef {
    let field = |field: &FieldRef| {
        Field::new(field.name(), type_in_parquet(field.data_type()), field.is_nullable())
    };
    Arc::new(Schema::new(schema.fields().iter().map(field).collect::<Vec<_>>()))
}

fn type_in_parquet(data_type: &DataType) -> DataType {
    let inner = |field: &FieldRef| {
        Arc::new(Field::new(field.name(), type_in_parquet(field.data_type()), field.is_nullable()))
    };
    match data_type {
        DataType::Timestamp(TimeUnit::Second, zone) => {
            DataType::Timestamp(TimeUnit::Millisecond, zone.clone())
        }
        DataType::Time32(TimeUnit::Second) => DataType::Time32(TimeUnit::Millisecond),
        DataType::List(item) => DataType::List(inner(item)),
        DataType::LargeList(item) => DataType::LargeList(inner(item)),
        DataType::FixedSizeList(item, size) => DataType::FixedSizeList(inner(item), *size),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(inner).collect()),
        other => other.clone(),
    }
}

/// Writes `count` batches to `out`; `place` is the name that errors speak of. `batch` is called for
/// each number below `count`, several at a time. On success all bytes have reached the disk.
///
/// Whatever a batch carries beyond its values (unused dictionary entries, bytes under nulls,
/// metadata) is left behind.
///
/// # Errors
/// When a batch fails, the system refuses to write, or a column's type has no place in the format.
pub fn write(
    out: File,
    place: &Path,
    file_type: FileType,
    schema: &SchemaRef,
    count: usize,
    batch: impl Fn(usize) -> Result<RecordBatch> + Sync,
) -> Result<()> {
    check_types(file_type, schema)?;
    let schema = match file_type.format {
        Format::Parquet => in_parquet(&plain_schema(schema)),
        _ => plain_schema(schema),
    };
    let failed = |source: io::Error| Error::io(place, source);
    let plain = |number: usize| {
        let column = |(column, field): (&ArrayRef, &FieldRef)| {
            let column = unpack(column.clone())?;
            if column.data_type() == field.data_type() {
                Ok(column)
            } else {
                cast(&column, field.data_type())
            }
        };
        let batch = batch(number)?;
        let columns = batch
            .columns()
            .iter()
            .zip(schema.fields())
            .map(column)
            .collect::<std::result::Result<_, _>>();
        columns
            .and_then(|columns| RecordBatch::try_new(schema.clone(), columns))
            .map_err(|_| unwritable(number))
    };
    let out = BufWriter::with_capacity(1 << 18, out);
    let out = match file_type.format {
        Format::Csv(dialect) => {
            let mut out = Packed::new(out, file_type.compression).map_err(failed)?;
            if dialect.has_mark {
                out.write_all(b"\xef\xbb\xbf").map_err(failed)?;
            }
            out.write_all(&csv_header(&schema, dialect)).map_err(failed)?;
            let text = |number| csv_text(&plain(number)?, dialect).map_err(|_| unwritable(number));
            in_order(count, text, |text| out.write_all(&text).map_err(failed))?;
            out.finish().map_err(failed)?
        }
        #[cfg(feature = "parquet")]
        Format::Parquet => parquet::write(out, place, &schema, count, plain)?,
        #[cfg(feature = "arrow-ipc")]
        Format::Arrow => arrow::write(out, place, &schema, count, plain)?,
        #[cfg(not(all(feature = "parquet", feature = "arrow-ipc")))]
        _ => return check_features(file_type),
    };
    let out = out.into_inner().map_err(|error| failed(error.into_error()))?;
    out.sync_all().map_err(failed)
}

/// Makes the parts several at a time and hands them on in order. While one window is handed on the
/// next is made.
fn in_order<T: Send>(
    count: usize,
    make: impl Fn(usize) -> Result<T> + Sync,
    mut take: impl FnMut(T) -> Result<()> + Send,
) -> Result<()> {
    let window = rayon::current_num_threads() * 2;
    let mut ready: Vec<Result<T>> = Vec::new();
    let mut made = 0;
    while made < count || !ready.is_empty() {
        let next = made..count.min(made + window);
        made = next.end;
        let waiting = std::mem::take(&mut ready);
        let (taken, parts) = rayon::join(
            || waiting.into_iter().try_for_each(|part| take(part?)),
            || next.into_par_iter().map(&make).collect::<Vec<_>>(),
        );
        taken?;
        ready = parts;
    }
    Ok(())
}

/// The libraries' own words are not passed on: some of them quote the value that they stumbled
/// over.
fn unwritable(batch: usize) -> Error {
    Error::data(
        "cannot-write",
        format!(
            "a cell in batch {} of the release cannot be written: cast its column in the source",
            batch + 1
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::PathBuf;
    use std::slice::from_ref;

    use arrow_array::cast::AsArray;
    use arrow_array::types::Int32Type;
    use arrow_array::{
        Array, BinaryArray, Date64Array, DictionaryArray, Int64Array, StringArray,
        Time32SecondArray, TimestampSecondArray,
    };
    use arrow_buffer::{NullBuffer, ScalarBuffer};
    use arrow_select::concat::concat;
    use tempfile::TempDir;

    use crate::error::ErrorKind;
    use crate::table::open;
    use crate::table::{Table, Treatment};

    const NAMES: &[&str] = &[
        "t.csv",
        "t.tsv",
        "t.txt",
        #[cfg(feature = "compression")]
        "t.csv.gz",
        #[cfg(feature = "compression")]
        "t.tsv.zst",
        #[cfg(feature = "parquet")]
        "t.parquet",
        #[cfg(feature = "arrow-ipc")]
        "t.arrow",
        #[cfg(feature = "arrow-ipc")]
        "t.feather",
    ];

    fn write_file(folder: &TempDir, name: &str, batches: &[RecordBatch]) -> PathBuf {
        let path = folder.path().join(name);
        let out = File::create(&path).unwrap();
        let batch = |i: usize| Ok(batches[i].clone());
        write(out, &path, file_type(&path).unwrap(), &batches[0].schema(), batches.len(), batch)
            .unwrap();
        path
    }

    fn read_file(path: &Path) -> Table {
        let source = open(path, None).unwrap();
        let treatments = vec![Treatment::CodeAndPassThrough; source.names().len()];
        source.read(&treatments).unwrap()
    }

    fn passthrough(table: &Table, name: &str) -> ArrayRef {
        let batches = table.column(name).unwrap().passthrough.as_ref().unwrap();
        concat(&batches.iter().map(|array| array.as_ref()).collect::<Vec<_>>()).unwrap()
    }

    #[cfg(all(feature = "parquet", feature = "arrow-ipc"))]
    #[test]
    fn times_that_parquet_does_not_know_are_written_as_times_that_it_does() {
        let columns: [(&str, ArrayRef); 3] = [
            (
                "stamp",
                Arc::new(
                    TimestampSecondArray::from(vec![1_700_000_000, 5])
                        .with_timezone("Europe/Berlin"),
                ),
            ),
            ("time", Arc::new(Time32SecondArray::from(vec![3_661, 0]))),
            ("date", Arc::new(Date64Array::from(vec![1_577_836_800_000, 0]))),
        ];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let folder = TempDir::new().unwrap();
        let path = write_file(&folder, "t.parquet", from_ref(&batch));
        let milliseconds = TimeUnit::Millisecond;
        let expected = [
            DataType::Timestamp(milliseconds, Some("Europe/Berlin".into())),
            DataType::Time32(milliseconds),
            DataType::Date32,
        ];
        assert_eq!(open(&path, None).unwrap().data_types(), expected);
        let texts = |path: &Path| {
            let table = read_file(path);
            table
                .columns()
                .iter()
                .map(|column| column.coded.clone().unwrap().values().to_vec())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            texts(&path),
            texts(&write_file(&folder, "t.arrow", from_ref(&batch))),
            "the same moments as ever"
        );
    }

    /// Text that needs quoting in every dialect, and numbers; many batches, so that they are made
    /// several at a time.
    fn sample() -> Vec<RecordBatch> {
        let odd = [
            Some("a,b;c"),
            Some("say \"no\""),
            None,
            Some("two\nlines"),
            Some("tab\there"),
            Some("ü|€"),
            Some(" x "),
        ];
        (0..23_i64)
            .map(|i| {
                let numbers: Int64Array =
                    (0..50).map(|j| ((i + j) % 7 != 0).then_some(i * 50 + j)).collect();
                let texts: StringArray =
                    (0..50).map(|j| odd[(usize::try_from(i).unwrap() + j) % odd.len()]).collect();
                RecordBatch::try_from_iter([
                    ("a \"number\"", Arc::new(numbers) as ArrayRef),
                    ("text", Arc::new(texts)),
                ])
                .unwrap()
            })
            .collect()
    }

    #[test]
    fn every_format_reads_back_the_same_table() {
        let folder = TempDir::new().unwrap();
        let batches = sample();
        let texts =
            concat(&batches.iter().map(|batch| batch.column(1).as_ref()).collect::<Vec<_>>())
                .unwrap();
        let numbers =
            concat(&batches.iter().map(|batch| batch.column(0).as_ref()).collect::<Vec<_>>())
                .unwrap();
        for name in NAMES {
            let path = write_file(&folder, name, &batches);
            let table = read_file(&path);
            assert_eq!(table.rows(), 23 * 50, "{name}");
            assert_eq!(&passthrough(&table, "text"), &texts, "{name}");
            let got = passthrough(&table, "a \"number\"");
            let got = arrow_cast::cast(&got, &DataType::Int64).unwrap();
            assert_eq!(&got, &numbers, "{name}");
            let coded = table.coded("a \"number\"");
            let first = coded.values().iter().take(3).cloned().collect::<Vec<_>>();
            assert_eq!(first, [None, Some("1".to_owned()), Some("2".to_owned())], "{name}");
        }
    }

    #[test]
    fn the_bytes_do_not_depend_on_the_number_of_threads() {
        let folder = TempDir::new().unwrap();
        for name in NAMES {
            let bytes = [1, 2, 5].map(|threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                fs::read(pool.install(|| write_file(&folder, name, &sample()))).unwrap()
            });
            assert!(bytes[0] == bytes[1] && bytes[1] == bytes[2], "{name}");
        }
    }

    #[test]
    fn the_header_is_written_once_also_without_rows() {
        let folder = TempDir::new().unwrap();
        let batches = sample();
        let path = folder.path().join("none.csv");
        let csv = file_type(&path).unwrap();
        for count in [0, 1] {
            let empty = |_| Ok(batches[0].slice(0, 0));
            write(File::create(&path).unwrap(), &path, csv, &batches[0].schema(), count, empty)
                .unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), "\"a \"\"number\"\"\",text\n");
        }
        let text = fs::read_to_string(write_file(&folder, "t.csv", &batches)).unwrap();
        assert_eq!(text.matches("number").count(), 1);
    }

    #[test]
    fn a_missing_cell_of_a_single_column_is_not_lost() {
        let folder = TempDir::new().unwrap();
        let column: ArrayRef = Arc::new(StringArray::from(vec![Some("x"), None, Some("y"), None]));
        let batch = RecordBatch::try_from_iter([("one", column.clone())]).unwrap();
        for name in NAMES {
            assert_eq!(
                &passthrough(&read_file(&write_file(&folder, name, from_ref(&batch))), "one"),
                &column,
                "{name}"
            );
        }
    }

    #[cfg(all(feature = "parquet", feature = "arrow-ipc"))]
    #[test]
    fn nothing_but_the_released_values_reaches_the_file() {
        let folder = TempDir::new().unwrap();
        let words = DictionaryArray::<Int32Type>::new(
            vec![0, 0].into(),
            Arc::new(StringArray::from(vec!["shown", "canary-dictionary"])),
        );
        let secret = i64::from_le_bytes(*b"canary-n");
        let numbers = Int64Array::new(
            ScalarBuffer::from(vec![1, secret]),
            Some(NullBuffer::from(vec![true, false])),
        );
        let hidden = StringArray::new(
            arrow_buffer::OffsetBuffer::new(vec![0, 12, 13].into()),
            b"canary-under!"[..].into(),
            Some(NullBuffer::from(vec![false, true])),
        );
        let neighbours =
            StringArray::from(vec!["canary-slice", "a", "b", "canary-slice"]).slice(1, 2);
        let columns: [(&str, ArrayRef); 4] = [
            ("w", Arc::new(words)),
            ("n", Arc::new(numbers)),
            ("h", Arc::new(hidden)),
            ("s", Arc::new(neighbours)),
        ];
        let note = || {
            std::collections::HashMap::from([("canary-note".to_owned(), "canary-note".to_owned())])
        };
        let fields: Vec<Field> = columns
            .iter()
            .map(|(name, array)| {
                Field::new(*name, array.data_type().clone(), true).with_metadata(note())
            })
            .collect();
        let schema = Arc::new(Schema::new(fields).with_metadata(note()));
        let batch =
            RecordBatch::try_new(schema, columns.into_iter().map(|(_, array)| array).collect())
                .unwrap();
        for name in ["t.csv", "t.parquet", "t.arrow"] {
            let path = write_file(&folder, name, from_ref(&batch));
            let bytes = fs::read(&path).unwrap();
            assert!(!bytes.windows(6).any(|window| window == b"canary"), "{name}");
            let table = read_file(&path);
            assert_eq!(
                passthrough(&table, "w").as_string::<i32>(),
                &StringArray::from(vec!["shown", "shown"]),
                "{name}"
            );
            assert_eq!(
                passthrough(&table, "h").as_string::<i32>(),
                &StringArray::from(vec![None, Some("!")]),
                "{name}"
            );
        }
    }

    #[cfg(all(feature = "parquet", feature = "arrow-ipc", feature = "compression"))]
    #[test]
    fn the_type_is_told_by_the_end_of_the_name() {
        let csv = Format::Csv(TextDialect::plain(b','));
        for (name, format, compression) in [
            ("-", csv, Compression::None),
            ("a.CSV", csv, Compression::None),
            ("a.b/c.txt.zst", csv, Compression::Zstd),
            ("a.tsv.gz", Format::Csv(TextDialect::plain(b'\t')), Compression::Gzip),
            ("a.pq", Format::Parquet, Compression::None),
            ("a.parquet", Format::Parquet, Compression::None),
            ("a.ipc", Format::Arrow, Compression::None),
        ] {
            assert_eq!(
                file_type(Path::new(name)).unwrap(),
                FileType { format, compression },
                "{name}"
            );
        }
        for name in ["a", "a.xlsx", "a.parquet.gz", "a.gz", "csv", "a.csv/b", ".."] {
            assert!(
                matches!(file_type(Path::new(name)).unwrap_err().kind(), ErrorKind::Request),
                "{name}"
            );
        }
    }

    #[test]
    fn csv_refuses_bytes_and_lists_before_writing() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("t.csv");
        let bytes: ArrayRef = Arc::new(BinaryArray::from(vec![&b"x"[..]]));
        let batch = RecordBatch::try_from_iter([("raw", bytes)]).unwrap();
        let error = write(
            File::create(&path).unwrap(),
            &path,
            file_type(&path).unwrap(),
            &batch.schema(),
            1,
            |_| Ok(batch.clone()),
        );
        let error = error.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Request));
        assert_eq!(
            error.to_string(),
            "column `raw` is of type Binary, which this format cannot show: write Parquet instead, or drop the column"
        );
        assert_eq!(fs::metadata(&path).unwrap().len(), 0);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_an_io_error_in_every_format() {
        let batches = sample();
        for name in NAMES {
            let full = File::options().write(true).open("/dev/full").unwrap();
            let place = Path::new(name);
            let batch = |i: usize| Ok(batches[i].clone());
            let error = write(
                full,
                place,
                file_type(place).unwrap(),
                &batches[0].schema(),
                batches.len(),
                batch,
            )
            .unwrap_err();
            assert_eq!((error.kind(), error.code()), (ErrorKind::Io, "disk-full"), "{error}");
            assert_eq!(error.place().file.as_deref(), Some(place));
        }
    }

    #[test]
    fn a_failing_batch_stops_the_writing_with_its_own_error() {
        let folder = TempDir::new().unwrap();
        let batches = sample();
        let path = folder.path().join("t.csv");
        let batch = |i: usize| {
            if i < 9 {
                Ok(batches[i].clone())
            } else {
                Err(Error::infeasible("none", format!("number {i}")))
            }
        };
        let error = write(
            File::create(&path).unwrap(),
            &path,
            file_type(&path).unwrap(),
            &batches[0].schema(),
            23,
            batch,
        );
        assert_eq!(error.unwrap_err().to_string(), "number 9");
    }
}
