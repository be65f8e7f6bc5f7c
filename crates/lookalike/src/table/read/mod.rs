//! Opens a table of any format and says which columns it has.

#[cfg(feature = "workbooks")]
mod archive;
#[cfg(feature = "arrow-ipc")]
mod arrow;
mod batches;
mod bytes;
pub(crate) mod csv;
mod csv_header;
mod encoding;
mod foreign;
#[cfg(feature = "parquet")]
mod many;
#[cfg(feature = "parquet")]
mod parquet;
mod text;

use std::fmt;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, SyncSender};

use arrow_array::RecordBatch;
use arrow_schema::DataType;

use crate::error::{Error, Result, Warning};
use crate::table::TextDialect;

use self::batches::Batches;
pub use self::batches::from_batches;
pub(crate) use self::bytes::damaged;
use self::bytes::{ByteSource, Unpacked, head, reading};
use self::csv::Cells;
use self::csv_header::{Csv, check_names};

/// How a file is to be read, as far as it does not say so itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// What stands between the cells of CSV; guessed from the first rows when absent.
    pub delimiter: Option<char>,
    /// The encoding of CSV by its name, such as `windows-1252`; when absent UTF-8, UTF-16 by its
    /// first bytes, and Windows-1252 where the text is no UTF-8.
    pub encoding: Option<String>,
    /// The names of the columns of CSV, or of a sheet, without a header line; empty where it has one.
    pub names: Vec<String>,
    /// The first line is the header, although it may look like a row.
    pub header: bool,
    /// The sheet of a workbook; the first one that has cells when absent.
    pub sheet: Option<String>,
}

impl From<Option<char>> for ReadOptions {
    fn from(delimiter: Option<char>) -> ReadOptions {
        ReadOptions { delimiter, ..ReadOptions::default() }
    }
}

/// An opened table whose rows have not been read yet.
pub struct Source {
    pub(crate) names: Vec<String>,
    pub(crate) data_types: Vec<DataType>,
    pub(crate) decoder: Decoder,
    is_doubtful: bool,
    /// The caller gave the names, or said that the first line has them.
    pub(crate) has_names: bool,
    notes: Vec<Warning>,
    dialect: Option<TextDialect>,
    /// Of a sheet: the columns in which a cell is a number with a fraction.
    pub(crate) of_sheet: Option<Vec<String>>,
    /// Ends the reading when it is set.
    pub(crate) cancel: Arc<AtomicBool>,
}

/// The rows to come, in the format of the file.
#[allow(clippy::large_enum_variant, reason = "there is one per table")]
pub(crate) enum Decoder {
    Csv(Csv),
    Batches(Batches),
    #[cfg(feature = "parquet")]
    /// One file or several, one after the other.
    Parquet(Vec<parquet::Parquet>),
    #[cfg(feature = "arrow-ipc")]
    Arrow(arrow::ArrowIpc),
}

/// The memory of the arrays of a batch.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Buffers {
    /// Each array has its own.
    Own,
    /// Keeping one array would keep the memory of others alive.
    Shared,
}

/// Some rows of a table, as its decoder has them.
pub(crate) enum Batch {
    /// Of a typed format: an array for each column that was asked for.
    Arrays(RecordBatch),
    /// Of CSV: the cells of all columns.
    Cells(Cells),
}

/// Opens a table; `-` is standard input. A folder, or a name with `*` in it, is a table in several
/// Parquet files. The format is known by the first bytes, whatever the name ends in: CSV (also in gzip, zstd or a zip archive), Parquet, Arrow IPC file or stream, a sheet of a
/// workbook (.xlsx, .xls, .ods). [`ReadOptions`] say what a
/// text does not say itself; a delimiter alone, or `None`, will do.
///
/// # Errors
/// When there is no such file, it is not readable as a table with a header of distinct names, or
/// its format is one that this build of the library does not have.
pub fn open(path: &Path, options: impl Into<ReadOptions>) -> Result<Source> {
    #[cfg(feature = "parquet")]
    if let Some(files) = many::files(path)? {
        return open_parts(&files);
    }
    open_bytes(ByteSource::open(path)?, path, &options.into())
}

/// True when the table of a path can be opened a second time.
pub(crate) fn is_lasting(path: &Path) -> bool {
    let is_file = std::fs::metadata(path).is_ok_and(|about| about.is_file());
    is_file || !parts(path).is_empty()
}

/// The files of a table in several files; none for a table in one.
pub(crate) fn parts(path: &Path) -> Vec<PathBuf> {
    #[cfg(feature = "parquet")]
    let found = many::files(path).ok().flatten();
    #[cfg(not(feature = "parquet"))]
    let found = {
        let _ = path;
        None
    };
    found.unwrap_or_default()
}

/// Opens the files of one table, which have the same columns.
#[cfg(feature = "parquet")]
fn open_parts(files: &[PathBuf]) -> Result<Source> {
    let mut parts: Vec<parquet::Parquet> = Vec::with_capacity(files.len());
    for path in files {
        let mut source = ByteSource::open(path)?;
        let magic = head(&mut source, 8).map_err(|source| Error::io(path, source))?;
        if !magic.starts_with(b"PAR1") {
            let why = "a table in several files is one of Parquet files, and this is none";
            return Err(Error::data("not-parquet", why).at_file(path));
        }
        let part = parquet::Parquet::open(source, &magic, path)?;
        if parts.first().is_some_and(|first| columns(first.schema()) != columns(part.schema())) {
            let why = "it has other columns, or columns of other types, than the first file of the \
                       table";
            return Err(Error::data("other-columns", why).at_file(path));
        }
        parts.push(part);
    }
    Source::new(Decoder::Parquet(parts), Vec::new())
}

/// The same for bytes that any reader brings, such as an upload. Errors call it by the given name.
///
/// # Errors
/// As [`open`].
pub fn open_reader(
    reader: impl Read + Send + 'static,
    name: &Path,
    options: impl Into<ReadOptions>,
) -> Result<Source> {
    open_bytes(ByteSource::Reader(Box::new(reader)), name, &options.into())
}

fn open_bytes(mut source: ByteSource, path: &Path, options: &ReadOptions) -> Result<Source> {
    if options.header && !options.names.is_empty() {
        return Err(Error::request(
            "names-and-header",
            "names are given for a table without a header line, and it is said to have one: leave one \
             of the two out",
        ));
    }
    let magic = head(&mut source, 8).map_err(|source| Error::io(path, source))?;
    let decoder = match *magic {
        #[cfg(feature = "parquet")]
        [b'P', b'A', b'R', b'1', ..] => {
            Decoder::Parquet(vec![parquet::Parquet::open(source, &magic, path)?])
        }
        #[cfg(not(feature = "parquet"))]
        [b'P', b'A', b'R', b'1', ..] => {
            return Err(bytes::left_out(path, "a Parquet", "parquet"));
        }
        #[cfg(feature = "arrow-ipc")]
        [b'A', b'R', b'R', b'O', b'W', b'1', ..] => {
            Decoder::Arrow(arrow::ArrowIpc::open_file(source, &magic, path)?)
        }
        #[cfg(feature = "arrow-ipc")]
        [0xff, 0xff, 0xff, 0xff, ..] => {
            Decoder::Arrow(arrow::ArrowIpc::open_stream(source, magic, path)?)
        }
        #[cfg(not(feature = "arrow-ipc"))]
        [b'A', b'R', b'R', b'O', b'W', b'1', ..] | [0xff, 0xff, 0xff, 0xff, ..] => {
            return Err(bytes::left_out(path, "an Arrow", "arrow-ipc"));
        }
        #[cfg(feature = "workbooks")]
        ref magic if magic.starts_with(archive::ZIP) || magic.starts_with(archive::OLE) => {
            return archive::open(source, magic, path, options);
        }
        _ => {
            let mut csv = Csv::open(Unpacked::new(&magic, source, path)?, path, options)?;
            let notes = std::mem::take(&mut csv.notes);
            let dialect = Some(csv.dialect());
            let has_names = options.header || !options.names.is_empty();
            return Ok(Source { dialect, has_names, ..Source::new(Decoder::Csv(csv), notes)? });
        }
    };
    Source::new(decoder, Vec::new())
}

/// Opens a CSV table whose text is at hand, header included. Errors call it by the given name.
///
/// # Errors
/// When the text does not begin with a header of distinct names.
pub fn open_text(text: String, name: &Path) -> Result<Source> {
    let bytes = Unpacked::Plain(Cursor::new(text.into_bytes()).chain(ByteSource::Nothing));
    Source::new(Decoder::Csv(Csv::open(bytes, name, &Some(',').into())?), Vec::new())
}

/// The text of a file, unpacked if it is compressed, for files that are tables only after some
/// editing.
///
/// # Errors
/// When it cannot be read, is damaged, or is not UTF-8.
pub fn text(path: &Path) -> Result<String> {
    let mut source = ByteSource::open(path)?;
    let magic = head(&mut source, 8).map_err(|source| Error::io(path, source))?;
    let mut unpacked = Unpacked::new(&magic, source, path)?;
    let mut bytes = Vec::new();
    unpacked.read_to_end(&mut bytes).map_err(|source| reading(path, source))?;
    String::from_utf8(bytes).map_err(|_| {
        Error::data(
            "not-utf8",
            format!("{} is not UTF-8 text: convert it, or fetch it again", path.display()),
        )
        .about_file(path)
    })
}

impl Source {
    fn new(decoder: Decoder, notes: Vec<Warning>) -> Result<Source> {
        let ((names, data_types), is_doubtful) = match &decoder {
            Decoder::Csv(csv) => {
                ((csv.names.clone(), vec![DataType::Utf8; csv.names.len()]), csv.is_doubtful)
            }
            Decoder::Batches(reader) => (columns(&reader.schema()), false),
            #[cfg(feature = "parquet")]
            Decoder::Parquet(files) => (columns(files[0].schema()), false),
            #[cfg(feature = "arrow-ipc")]
            Decoder::Arrow(file) => (columns(&file.schema()), false),
        };
        check_names(&names, is_doubtful)?;
        let (dialect, cancel) = (None, Arc::default());
        let (of_sheet, has_names) = (None, false);
        Ok(Source {
            names,
            data_types,
            decoder,
            is_doubtful,
            has_names,
            notes,
            dialect,
            of_sheet,
            cancel,
        })
    }

    /// Reading ends with an error soon after the flag is set.
    #[must_use]
    pub fn with_cancel(self, cancel: Arc<AtomicBool>) -> Source {
        Source { cancel, ..self }
    }

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

    /// How the file was read, where that was a guess.
    pub fn notes(&self) -> &[Warning] {
        &self.notes
    }

    /// How the text is written; none for other formats and for sheets.
    pub fn dialect(&self) -> Option<TextDialect> {
        self.dialect
    }

    /// True for a sheet of a workbook.
    pub fn is_sheet(&self) -> bool {
        self.of_sheet.is_some()
    }

    /// True for CSV, where every cell is text and an empty one is missing.
    pub fn is_csv(&self) -> bool {
        matches!(self.decoder, Decoder::Csv(_))
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

impl Decoder {
    pub(crate) fn buffers(&self) -> Buffers {
        match self {
            Decoder::Csv(_) => Buffers::Own,
            Decoder::Batches(_) => Buffers::Shared,
            #[cfg(feature = "parquet")]
            Decoder::Parquet(_) => Buffers::Own,
            #[cfg(feature = "arrow-ipc")]
            Decoder::Arrow(_) => Buffers::Shared,
        }
    }

    /// Sends the rows on in batches until nobody listens any more. Arrays are of the columns at
    /// these places only; `used` brings back batches of cells, whose memory is used again.
    pub(crate) fn send(
        self,
        columns: &[usize],
        batch_rows: usize,
        to: &SyncSender<Batch>,
        used: &Receiver<Cells>,
    ) -> Result<()> {
        match self {
            Decoder::Csv(csv) => csv.records().send(batch_rows, to, used),
            Decoder::Batches(reader) => {
                let batches = batches::of_schema(reader);
                batches::send(batches, columns, batch_rows, to, batches::stream_failed)
            }
            #[cfg(feature = "parquet")]
            Decoder::Parquet(files) => {
                files.into_iter().try_for_each(|file| file.send(columns, batch_rows, to))
            }
            #[cfg(feature = "arrow-ipc")]
            Decoder::Arrow(file) => file.send(columns, batch_rows, to),
        }
    }
}

fn columns(schema: &arrow_schema::Schema) -> (Vec<String>, Vec<DataType>) {
    schema
        .fields()
        .iter()
        .map(|field| (field.name().clone(), crate::table::plain::plain_type(field.data_type())))
        .unzip()
}
