//! Opens a table of any format and says which columns it has.

pub(crate) mod bytes;
mod csv;
mod foreign;
pub(crate) mod records;
mod text;

use std::fmt;
use std::fs::File;
use std::io::{BufReader, Cursor, Read, Seek};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender};

use ::bytes::Bytes;
use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, DataType, Schema};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::Compression;
use parquet::file::reader::ChunkReader;

use crate::error::{Error, Result};

use self::bytes::{Peeked, Raw, Stream, head, reading};
use self::csv::{Csv, check_names};
use self::records::Cells;
use crate::table::plain::plain_type;

/// An opened table whose rows have not been read yet.
pub struct Source {
    pub(crate) names: Vec<String>,
    pub(crate) data_types: Vec<DataType>,
    pub(crate) rows: Rows,
    is_doubtful: bool,
}

/// The rows to come.
#[allow(clippy::large_enum_variant, reason = "there is one per table")]
pub(crate) enum Rows {
    Csv(Csv),
    ParquetFile(ParquetRecordBatchReaderBuilder<File>),
    ParquetBytes(ParquetRecordBatchReaderBuilder<Bytes>),
    ArrowFile(FileReader<File>),
    ArrowBytes(FileReader<Cursor<Bytes>>),
    ArrowStream(StreamReader<BufReader<Peeked>>),
}

/// Some rows of a table, as its decoder has them.
pub(crate) enum Batch {
    /// Of a typed format: an array for each column that was asked for.
    Arrays(RecordBatch),
    /// Of CSV: the cells of all columns.
    Cells(Cells),
}

/// Opens a table; `-` is standard input. The format is told by the first bytes, whatever the name
/// ends in: CSV (also in gzip or zstd), Parquet, Arrow IPC file or stream. A delimiter that is not
/// given is guessed from the first rows.
///
/// # Errors
/// When there is no such file, or it is not readable as a table with a header of distinct names.
pub fn open(path: &Path, delimiter: Option<char>) -> Result<Source> {
    let mut raw = Raw::open(path)?;
    let magic = head(&mut raw, 8).map_err(|source| Error::io(path, source))?;
    let rows = match *magic {
        [b'P', b'A', b'R', b'1', ..] => {
            let file = whole(raw, &magic, path)?;
            guarded(path, "Parquet", || match file {
                Whole::File(file) => {
                    ParquetRecordBatchReaderBuilder::try_new(file).map(Rows::ParquetFile)
                }
                Whole::Bytes(bytes) => {
                    ParquetRecordBatchReaderBuilder::try_new(bytes).map(Rows::ParquetBytes)
                }
            })?
        }
        [b'A', b'R', b'R', b'O', b'W', b'1', ..] => {
            let file = whole(raw, &magic, path)?;
            guarded(path, "Arrow", || match file {
                Whole::File(file) => FileReader::try_new(file, None).map(Rows::ArrowFile),
                Whole::Bytes(bytes) => {
                    FileReader::try_new(Cursor::new(bytes), None).map(Rows::ArrowBytes)
                }
            })?
        }
        [0xff, 0xff, 0xff, 0xff, ..] => {
            let stream = BufReader::new(Cursor::new(magic).chain(raw));
            guarded(path, "Arrow", || StreamReader::try_new(stream, None).map(Rows::ArrowStream))?
        }
        _ => {
            let stream = Stream::new(&magic, Cursor::new(magic.clone()).chain(raw))
                .map_err(|source| reading(path, source))?;
            Rows::Csv(Csv::open(stream, path, delimiter)?)
        }
    };
    let (names, data_types) = match &rows {
        Rows::Csv(csv) => (csv.names.clone(), vec![DataType::Utf8; csv.names.len()]),
        Rows::ParquetFile(builder) => columns(builder.schema()),
        Rows::ParquetBytes(builder) => columns(builder.schema()),
        Rows::ArrowFile(reader) => columns(&reader.schema()),
        Rows::ArrowBytes(reader) => columns(&reader.schema()),
        Rows::ArrowStream(reader) => columns(&reader.schema()),
    };
    let is_doubtful = matches!(&rows, Rows::Csv(csv) if csv.is_doubtful);
    check_names(&names, is_doubtful)?;
    Ok(Source { names, data_types, rows, is_doubtful })
}

/// Opens a CSV table whose text is at hand, header included. Errors call it by the given name.
///
/// # Errors
/// When the text does not begin with a header of distinct names.
pub fn open_text(text: String, name: &Path) -> Result<Source> {
    let stream = Stream::Plain(Cursor::new(text.into_bytes()).chain(Raw::Nothing));
    let csv = Csv::open(stream, name, Some(','))?;
    let (names, is_doubtful) = (csv.names.clone(), csv.is_doubtful);
    check_names(&names, is_doubtful)?;
    Ok(Source {
        data_types: vec![DataType::Utf8; names.len()],
        names,
        rows: Rows::Csv(csv),
        is_doubtful,
    })
}

/// The text of a file, unpacked if it is compressed, for files that are tables only after some
/// editing.
///
/// # Errors
/// When it cannot be read, is damaged, or is not UTF-8.
pub fn text(path: &Path) -> Result<String> {
    let mut raw = Raw::open(path)?;
    let magic = head(&mut raw, 8).map_err(|source| Error::io(path, source))?;
    let mut stream = Stream::new(&magic, Cursor::new(magic.clone()).chain(raw))
        .map_err(|source| reading(path, source))?;
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).map_err(|source| reading(path, source))?;
    String::from_utf8(bytes).map_err(|_| {
        Error::data(format!("{} is not UTF-8 text: convert it, or fetch it again", path.display()))
    })
}

impl Source {
    /// The columns, in file order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The type of each column; `Utf8` for CSV. Dictionaries count as their values.
    pub fn data_types(&self) -> &[DataType] {
        &self.data_types
    }

    /// True when the names may be the cells of a first row: one is a number or a date, or equals a
    /// cell below it. Then no message may show them.
    pub fn is_headless(&self) -> bool {
        self.is_doubtful
    }

    /// True for CSV, where every cell is text and an empty one is missing.
    pub fn is_csv(&self) -> bool {
        matches!(self.rows, Rows::Csv(_))
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source")
            .field("names", &self.names)
            .field("data_types", &self.data_types)
            .finish_non_exhaustive()
    }
}

impl Rows {
    /// Sends the rows on in batches until nobody listens any more. Arrays are of the columns at
    /// these places only; `used` brings back batches of cells, whose memory is used again.
    pub(crate) fn decode(
        self,
        columns: &[usize],
        batch_rows: usize,
        to: &SyncSender<Batch>,
        used: &Receiver<Cells>,
    ) -> Result<()> {
        match self {
            Rows::Csv(csv) => csv.records().send(batch_rows, to, used),
            Rows::ParquetFile(builder) => decode_parquet(builder, columns, batch_rows, to),
            Rows::ParquetBytes(builder) => decode_parquet(builder, columns, batch_rows, to),
            Rows::ArrowFile(reader) => decode_arrow(reader, columns, batch_rows, to),
            Rows::ArrowBytes(reader) => decode_arrow(reader, columns, batch_rows, to),
            Rows::ArrowStream(reader) => decode_arrow(reader, columns, batch_rows, to),
        }
    }
}

/// A batch has about so many bytes at most.
const BATCH_BYTES: i64 = 1 << 28;

fn decode_parquet<T: ChunkReader + 'static>(
    builder: ParquetRecordBatchReaderBuilder<T>,
    columns: &[usize],
    batch_rows: usize,
    to: &SyncSender<Batch>,
) -> Result<()> {
    for column in builder.metadata().row_groups().iter().flat_map(|group| group.columns()) {
        if let codec @ (Compression::LZO | Compression::BROTLI(_)) = column.compression() {
            let codec = if codec == Compression::LZO { "LZO" } else { "Brotli" };
            return Err(Error::data(format!(
                "the Parquet file is compressed with {codec}, which is not supported: write it with zstd"
            )));
        }
    }
    // Long texts make short batches, as far as the file says how long they are.
    let groups = builder.metadata().row_groups();
    let widest = groups
        .iter()
        .map(|group| group.total_byte_size() / group.num_rows().max(1))
        .max()
        .unwrap_or(0);
    let batch_rows = usize::try_from(BATCH_BYTES / widest.max(1)).unwrap_or(0).clamp(1, batch_rows);
    let mask = ProjectionMask::roots(builder.parquet_schema(), columns.iter().copied());
    let reader = builder
        .with_batch_size(batch_rows)
        .with_projection(mask)
        .build()
        .map_err(|_| damaged(0))?;
    let mut rows = 0;
    for batch in reader {
        let batch = batch.map_err(|_| damaged(rows))?;
        rows += batch.num_rows();
        if to.send(Batch::Arrays(batch)).is_err() {
            break;
        }
    }
    Ok(())
}

fn decode_arrow(
    reader: impl Iterator<Item = std::result::Result<RecordBatch, ArrowError>>,
    columns: &[usize],
    batch_rows: usize,
    to: &SyncSender<Batch>,
) -> Result<()> {
    let mut rows = 0;
    for batch in reader {
        let batch = batch.and_then(|batch| batch.project(columns)).map_err(|_| damaged(rows))?;
        // A writer may have put the whole table into one batch.
        for start in (0..batch.num_rows()).step_by(batch_rows) {
            let part = batch.slice(start, batch_rows.min(batch.num_rows() - start));
            if to.send(Batch::Arrays(part)).is_err() {
                return Ok(());
            }
        }
        rows += batch.num_rows();
    }
    Ok(())
}

/// Opens a binary file: its decoders are not proof against every damaged one, and some of those
/// make them panic.
fn guarded<E: fmt::Display>(
    path: &Path,
    what: &str,
    open: impl FnOnce() -> std::result::Result<Rows, E>,
) -> Result<Rows> {
    let opened = catch_unwind(AssertUnwindSafe(|| open().map_err(|error| error.to_string())));
    opened.unwrap_or_else(|_| Err("it is damaged".to_owned())).map_err(|why| {
        Error::data(format!("{} is not a readable {what} file: {why}", path.display()))
    })
}

/// The decoders' own words are not passed on: some of them quote the value that they stumbled over.
pub(crate) fn damaged(rows: usize) -> Error {
    Error::data(format!(
        "the file is damaged: what follows its first {rows} rows cannot be decoded; write or fetch it again"
    ))
}

enum Whole {
    File(File),
    Bytes(Bytes),
}

/// Formats with their index at the end need all bytes: a file has them at hand, a pipe must be read
/// to its end.
fn whole(raw: Raw, magic: &[u8], path: &Path) -> Result<Whole> {
    let failed = |source| Error::io(path, source);
    match raw {
        Raw::File(mut file) if file.metadata().map_err(failed)?.is_file() => {
            file.rewind().map_err(failed)?;
            Ok(Whole::File(file))
        }
        mut pipe => {
            let mut bytes = magic.to_vec();
            pipe.read_to_end(&mut bytes).map_err(failed)?;
            Ok(Whole::Bytes(bytes.into()))
        }
    }
}

fn columns(schema: &Schema) -> (Vec<String>, Vec<DataType>) {
    schema
        .fields()
        .iter()
        .map(|field| (field.name().clone(), plain_type(field.data_type())))
        .unzip()
}
