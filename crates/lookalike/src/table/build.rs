//! Reads the rows of a [`Source`] into a [`Table`]: one thread decodes batches, the columns of each
//! batch are coded in parallel.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{channel, sync_channel};
use std::thread;

use arrow_array::cast::AsArray;
use arrow_array::{AnyDictionaryArray, Array, ArrayRef, RecordBatch};
use arrow_cast::can_cast_types;
use arrow_schema::{DataType, Field, SchemaRef};
use rayon::prelude::*;

use crate::codes::RowId;
use crate::error::{Error, Result};
use crate::table::{Column, DistinctCount, Table, Treatment};

use super::coded::Interner;
use super::count::Counter;
use super::plain::{bytes, cast, is_supported, rebuild, unpack};
use super::read::csv::Cells;
use super::read::{Batch, Buffers, Decoder, Source, damaged};

/// Rows in a batch of a narrow table; wide tables get fewer, so that a batch stays at about half a
/// million cells.
const BATCH_ROWS: usize = 1 << 16;
const BATCH_CELLS: usize = 1 << 19;
/// How many batches may wait for being coded.
const WAITING: usize = 2;

impl Source {
    /// Reads all rows; `treatments` has one entry a column, in file order. The text of coded
    /// columns is held for a few batches only.
    ///
    /// # Errors
    /// When a row is ragged, the text is not UTF-8, the file is damaged or has no rows, or a
    /// column's type cannot be treated as asked.
    ///
    /// # Panics
    /// When the number of treatments is not that of the columns.
    pub fn read(self, treatments: &[Treatment]) -> Result<Table> {
        self.read_and_count(treatments, &[]).map(|(table, _)| table)
    }

    /// The same, with the treatments that a function gives for the names of the columns.
    ///
    /// # Errors
    /// As for [`Source::read`].
    pub fn read_for(self, treatments: impl FnOnce(&[String]) -> Vec<Treatment>) -> Result<Table> {
        let treatments = treatments(&self.names);
        self.read(&treatments)
    }

    /// The same, and counts the different values of the columns of these names, also of those that
    /// the treatments skip. Columns of types that cannot be counted are passed over.
    ///
    /// # Errors
    /// As for [`Source::read`].
    ///
    /// # Panics
    /// When the number of treatments is not that of the columns.
    pub fn read_and_count(
        self,
        treatments: &[Treatment],
        count: &[String],
    ) -> Result<(Table, Vec<DistinctCount>)> {
        assert_eq!(treatments.len(), self.names.len(), "one treatment a column");
        let (buffers, is_csv, of_sheet) = (self.decoder.buffers(), self.is_csv(), self.of_sheet);
        let has_names = self.has_names;
        let batch_rows = (BATCH_CELLS / self.names.len()).clamp(64, BATCH_ROWS);
        let mut places = Vec::new();
        let mut columns = Vec::new();
        for (place, ((name, data_type), &treatment)) in
            self.names.into_iter().zip(self.data_types).zip(treatments).enumerate()
        {
            let counter = (count.contains(&name) && is_supported(&data_type)).then(Counter::new);
            if treatment != Treatment::Skip || counter.is_some() {
                places.push(place);
                columns.push(Growing {
                    counter,
                    ..Growing::new(name, data_type, treatment, buffers)?
                });
            }
        }
        let rows = read_batches(self.decoder, &places, batch_rows, &mut columns, &self.cancel)?;
        if rows == 0 {
            return Err(Error::data("no-rows", "the table has no rows"));
        }
        let counters = columns
            .iter_mut()
            .filter_map(|column| Some(column.counter.take()?.finish(column.name.clone())));
        let counted = counters.collect();
        let read = columns
            .into_iter()
            .filter(|column| column.interner.is_some() || column.passthrough.is_some());
        let table = Table::new(read.map(Growing::finish).collect(), rows);
        let table = match of_sheet {
            Some(numbers) => table.of_text(!has_names).with_numbers(numbers),
            None if is_csv => table.of_text(!has_names),
            None => table,
        };
        Ok((table, counted))
    }
}

/// The table that somebody would read who wrote these batches to a file of typed columns and coded
/// all of them; no file is written.
///
/// # Errors
/// When a batch fails or a column's type has no text form.
pub fn in_memory(
    schema: &SchemaRef,
    count: usize,
    batch: impl Fn(usize) -> Result<RecordBatch>,
) -> Result<Table> {
    let growing = |field: &Arc<Field>| {
        Growing::new(
            field.name().clone(),
            field.data_type().clone(),
            Treatment::Compare,
            Buffers::Shared,
        )
    };
    let mut columns = schema.fields().iter().map(growing).collect::<Result<Vec<_>>>()?;
    let mut rows = 0;
    for number in 0..count {
        let batch = batch(number)?;
        let here = batch.num_rows();
        check_rows(rows + here)?;
        take_batch(&mut columns, batch, rows)?;
        rows += here;
    }
    Ok(Table::new(columns.into_iter().map(Growing::finish).collect(), rows))
}

/// The same table with codes for every column, as [`Treatment::Compare`] makes them where there are
/// none, and nothing passed through.
///
/// # Errors
/// When a column's type cannot be compared.
pub fn coded_throughout(table: Table) -> Result<Table> {
    let rows = table.rows;
    let coded = |column: Column| {
        let Column { name, data_type, coded, passthrough } = column;
        if coded.is_some() {
            return Ok(Column { name, data_type, coded, passthrough: None });
        }
        let mut growing = Growing::new(name, data_type, Treatment::Compare, Buffers::Shared)?;
        let mut first = 0;
        for part in passthrough.into_iter().flatten() {
            let here = part.len();
            growing.take(part, first)?;
            first += here;
        }
        Ok(growing.finish())
    };
    Ok(Table::new(table.columns.into_iter().map(coded).collect::<Result<_>>()?, rows))
}

fn read_batches(
    decoder: Decoder,
    places: &[usize],
    batch_rows: usize,
    columns: &mut [Growing],
    cancel: &AtomicBool,
) -> Result<usize> {
    let is_text_or_stream = matches!(decoder, Decoder::Csv(_) | Decoder::Batches(_));
    let (sender, receiver) = sync_channel(WAITING);
    let (give_back, used) = channel();
    thread::scope(|scope| {
        // A thread of its own and not a task of the pool: waiting for it cannot starve a pool of
        // one thread.
        let sending = scope.spawn(move || decoder.send(places, batch_rows, &sender, &used));
        let mut done = 0;
        let mut coded = Ok(());
        // The loop ends when the decoder has finished or failed; leaving it early hangs up on the
        // decoder.
        for batch in receiver {
            let count = match &batch {
                Batch::Arrays(batch) => batch.num_rows(),
                Batch::Cells(cells) => cells.rows(),
            };
            if cancel.load(Ordering::Relaxed) {
                coded = Err(Error::interrupted());
                break;
            }
            coded = check_rows(done + count).and_then(|()| match batch {
                Batch::Arrays(batch) => take_batch(columns, batch, done),
                Batch::Cells(cells) => {
                    columns
                        .par_iter_mut()
                        .zip(places)
                        .for_each(|(column, &place)| column.take_cells(&cells, place, done));
                    // Nobody takes it back once the decoder has come to the end.
                    let _ = give_back.send(cells);
                    Ok(())
                }
            });
            if coded.is_err() {
                break;
            }
            done += count;
        }
        let decoded = match sending.join() {
            Ok(decoded) => decoded,
            Err(panic) if is_text_or_stream => std::panic::resume_unwind(panic),
            // As when opening it: a damaged binary file may have made its decoder panic.
            Err(_) => Err(damaged(done)),
        };
        coded.and(decoded).map(|()| done)
    })
}

fn check_rows(rows: usize) -> Result<()> {
    if rows > RowId::MAX as usize {
        return Err(Error::data(
            "too-many-rows",
            format!("the table has more than {} rows: split it", RowId::MAX),
        ));
    }
    Ok(())
}

fn take_batch(columns: &mut [Growing], batch: RecordBatch, first: usize) -> Result<()> {
    let (_, arrays, _) = batch.into_parts();
    let taken: Vec<Result<()>> = columns
        .par_iter_mut()
        .zip(arrays)
        .map(|(column, array)| column.take(array, first))
        .collect();
    // Of several faults in a batch the first column's is reported, whichever thread was faster.
    taken.into_iter().collect()
}

/// A column while it is read.
struct Growing {
    name: String,
    data_type: DataType,
    interner: Option<Interner>,
    /// Its values are distinguished by their bytes.
    as_bytes: bool,
    passthrough: Option<Vec<ArrayRef>>,
    /// Of a column whose values are counted, whatever else becomes of it.
    counter: Option<Counter>,
    /// The arrays share buffers with others, which keeping them would keep alive.
    shared: bool,
}

impl Growing {
    fn new(
        name: String,
        data_type: DataType,
        treatment: Treatment,
        buffers: Buffers,
    ) -> Result<Growing> {
        let codes = matches!(
            treatment,
            Treatment::Code | Treatment::CodeAndPassThrough | Treatment::Compare
        );
        let passes = matches!(treatment, Treatment::PassThrough | Treatment::CodeAndPassThrough);
        let has_text = !data_type.is_nested() && can_cast_types(&data_type, &DataType::Utf8);
        let as_bytes = treatment == Treatment::Compare && (!has_text || data_type.is_binary());
        if codes && !has_text && !as_bytes {
            let why = format!(
                "column `{name}` is of type {data_type}, which has no text form: cast it in the \
                 source, or give it another role"
            );
            return Err(Error::data("no-text-form", why).about_column(&name));
        }
        if (passes || as_bytes) && !is_supported(&data_type) {
            let why = format!(
                "column `{name}` is of type {data_type}, which cannot be passed through: drop it \
                 or cast it"
            );
            return Err(Error::data("cannot-pass-through", why).about_column(&name));
        }
        let shared = buffers == Buffers::Shared
            || data_type.is_nested()
            || matches!(data_type, DataType::Utf8View | DataType::BinaryView);
        let (interner, passthrough) = (codes.then(Interner::new), passes.then(Vec::new));
        Ok(Growing { name, data_type, interner, as_bytes, passthrough, counter: None, shared })
    }

    fn take(&mut self, array: ArrayRef, first: usize) -> Result<()> {
        let failed = |what: &str, count: usize| {
            let (name, data_type) = (&self.name, &self.data_type);
            let (first, last) = (first + 1, first + count);
            let why = format!(
                "column `{name}` of type {data_type} has a cell in rows {first} to {last} that \
                 cannot be {what}: cast it in the source"
            );
            Error::data("cannot-cast", why).about_column(name)
        };
        let count = array.len();
        if let (Some(interner), None, None) = (&mut self.interner, &self.passthrough, &self.counter)
            && let Some(dictionary) = texts_by_key(&array)
        {
            let texts = cast(dictionary.values(), &DataType::Utf8);
            let texts = texts.map_err(|_| failed("shown as text", count))?;
            let nulls = dictionary.keys().nulls();
            let keys = dictionary.normalized_keys().into_iter().enumerate();
            let keys = keys.map(|(row, key)| nulls.is_none_or(|n| n.is_valid(row)).then_some(key));
            interner.extend_keys(texts.as_string::<i32>(), keys, first);
            return Ok(());
        }
        let mut array = unpack(array).map_err(|_| failed("unpacked", count))?;
        if let Some(counter) = &mut self.counter {
            counter.extend(&array).map_err(|_| failed("counted", count))?;
        }
        if let Some(interner) = &mut self.interner {
            if *array.data_type() == DataType::Utf8 {
                interner.extend_array(array.as_string::<i32>(), first);
            } else if self.as_bytes {
                interner
                    .extend_array(&bytes(&array).map_err(|_| failed("compared", count))?, first);
            } else {
                let text =
                    cast(&array, &DataType::Utf8).map_err(|_| failed("shown as text", count))?;
                interner.extend_array(text.as_string::<i32>(), first);
            }
        }
        if let Some(passthrough) = &mut self.passthrough {
            if self.shared {
                array = rebuild(&array).map_err(|_| failed("copied", count))?;
            }
            array.shrink_to_fit();
            passthrough.push(array);
        }
        Ok(())
    }

    /// The same for a column of CSV.
    fn take_cells(&mut self, cells: &Cells, place: usize, first: usize) {
        let text = cells.text();
        let present = |(start, end): (usize, usize)| (start < end).then_some((start, end));
        if let Some(counter) = &mut self.counter {
            counter.texts(text, cells.column(place));
        }
        if let Some(interner) = &mut self.interner {
            interner.extend(text, cells.column(place).map(present), first);
        }
        if let Some(passthrough) = &mut self.passthrough {
            passthrough.push(cells.array(place));
        }
    }

    fn finish(self) -> Column {
        Column {
            name: self.name,
            data_type: self.data_type,
            coded: self.interner.map(Interner::finish),
            passthrough: self.passthrough,
        }
    }
}

/// A dictionary of texts that are fewer than its rows.
fn texts_by_key(array: &ArrayRef) -> Option<&dyn AnyDictionaryArray> {
    let dictionary = array.as_any_dictionary_opt()?;
    let values = dictionary.values();
    let is_text =
        matches!(values.data_type(), DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
    (is_text && !values.is_empty() && values.len() <= array.len()).then_some(dictionary)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    use arrow_array::{Int32Array, StringArray};
    use arrow_select::concat::concat;
    use tempfile::TempDir;

    use crate::error::ErrorKind;
    use crate::table::open;

    use Treatment::{Code, CodeAndPassThrough, PassThrough, Skip};

    fn with_file<T>(bytes: &[u8], test: impl FnOnce(&Path) -> T) -> T {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("table");
        fs::write(&path, bytes).unwrap();
        test(&path)
    }

    fn read_all(bytes: &[u8], treatment: Treatment) -> Result<Table> {
        with_file(bytes, |path| {
            let source = open(path, None)?;
            let treatments = vec![treatment; source.names().len()];
            source.read(&treatments)
        })
    }

    fn error(bytes: &[u8]) -> String {
        let error = read_all(bytes, Code).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Data), "{error}");
        error.to_string()
    }

    /// The cells of a coded column, row by row.
    fn cells(table: &Table, name: &str) -> Vec<Option<String>> {
        let coded = table.coded(name);
        coded.codes().iter().map(|code| coded.values()[code as usize].clone()).collect()
    }

    fn texts(cells: &[Option<&str>]) -> Vec<Option<String>> {
        cells.iter().map(|cell| cell.map(str::to_owned)).collect()
    }

    fn passthrough(table: &Table, name: &str) -> ArrayRef {
        let batches = table.column(name).unwrap().passthrough.as_ref().unwrap();
        concat(&batches.iter().map(|array| array.as_ref()).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn cells_are_text_and_an_empty_cell_is_missing() {
        let table = read_all(
            b"\xef\xbb\xbfa,b\r\n01,\"x, \"\"y\"\"\r\nz\"\r\n,\"\"\r\n1e3, n \r\n",
            CodeAndPassThrough,
        )
        .unwrap();
        assert_eq!(table.rows(), 3);
        assert_eq!(cells(&table, "a"), texts(&[Some("01"), None, Some("1e3")]));
        assert_eq!(cells(&table, "b"), texts(&[Some("x, \"y\"\r\nz"), None, Some(" n ")]));
        assert_eq!(
            passthrough(&table, "a").as_string::<i32>(),
            &StringArray::from(vec![Some("01"), None, Some("1e3")])
        );
        assert_eq!(table.coded("a").first_row(), [0, 1, 2]);
    }

    #[test]
    fn batches_in_memory_are_read_like_those_of_a_file() {
        let column = |cells: &[Option<i32>]| Arc::new(Int32Array::from(cells.to_vec())) as ArrayRef;
        let batches = [column(&[Some(7), None]), column(&[Some(8), Some(7)])]
            .map(|a| RecordBatch::try_from_iter([("a", a)]).unwrap());
        let table = in_memory(&batches[0].schema(), 2, |at| Ok(batches[at].clone())).unwrap();
        assert_eq!(
            (table.rows(), cells(&table, "a")),
            (4, texts(&[Some("7"), None, Some("8"), Some("7")]))
        );
        let failed =
            in_memory(&batches[0].schema(), 1, |_| Err(Error::data("none", "no"))).unwrap_err();
        assert_eq!(failed.to_string(), "no");
    }

    #[test]
    fn the_delimiter_may_be_any_of_four_or_given() {
        for delimiter in [",", ";", "\t", "|"] {
            let table =
                read_all(format!("a{delimiter}b\n1{delimiter}2\n").as_bytes(), Code).unwrap();
            assert_eq!(cells(&table, "b"), texts(&[Some("2")]));
        }
        with_file(b"a,b^c\n1,2^3\n", |path| {
            assert_eq!(open(path, Some('^')).unwrap().names(), ["a,b", "c"]);
        });
        assert_eq!(
            cells(&read_all(b"one\nx\ny\n", Code).unwrap(), "one"),
            texts(&[Some("x"), Some("y")])
        );
    }

    #[test]
    fn skipped_columns_are_absent_and_the_others_keep_their_order() {
        with_file(b"a,b,c\n1,2,3\n4,5,6", |path| {
            let source = open(path, None).unwrap();
            assert!(source.is_csv());
            assert_eq!(source.data_types(), [DataType::Utf8, DataType::Utf8, DataType::Utf8]);
            let table = source.read(&[PassThrough, Skip, Code]).unwrap();
            assert_eq!(
                table.columns().iter().map(|column| column.name.as_str()).collect::<Vec<_>>(),
                ["a", "c"]
            );
            assert!(table.columns()[0].coded.is_none() && table.columns()[1].passthrough.is_none());
            assert_eq!(cells(&table, "c"), texts(&[Some("3"), Some("6")]));
            assert_eq!(open(path, None).unwrap().read(&[Skip; 3]).unwrap().rows(), 2);
        });
    }

    #[test]
    fn a_table_without_header_or_rows_is_refused() {
        assert!(error(b"").starts_with("the file is empty"));
        assert!(error(b"\xef\xbb\xbf").starts_with("the file is empty"));
        assert!(error(b"\n\r\n").starts_with("the file is empty"));
        assert_eq!(error(b"a,b"), "the table has no rows");
        assert_eq!(error(b"a,b\r\n\r\n"), "the table has no rows");
    }

    #[test]
    fn columns_need_distinct_names() {
        assert_eq!(
            error(b"a,b,a\n1,2,3\n"),
            "two columns are named `a`, the second is column 3: rename one of them"
        );
        assert!(error(b"a,,c\n1,2,3\n").starts_with("column 2 of 3 has no name"));
    }

    #[test]
    fn a_ragged_row_is_named_by_row_and_by_the_line_it_starts_on() {
        let few = error(b"a,b,c\n1,2,3\n4,5\n6,7,8\n");
        assert!(few.starts_with("row 2 (line 3) has 2 cells, but the header has 3: "), "{few}");
        let many = error(b"a,b\n1,2\n3,4\n5,6,secret\n");
        assert!(many.starts_with("row 3 (line 4) has 3 cells, but the header has 2: "), "{many}");
        assert!(!many.contains("secret"));
        let last = error(b"a,b,c\n1,2,3\n4,5");
        assert!(last.starts_with("row 2 (line 3) has 2 cells"), "{last}");
        // Quoted cells that span lines, blank lines and either kind of line end: rows and lines go
        // apart.
        let spread = error(b"\"a\nx\",b\r\n\"1\n\n\n2\",3\r\n\r\n\r\n4\r\n");
        assert!(spread.starts_with("row 2 (line 9) has 1 cell, "), "{spread}");
    }

    #[test]
    fn a_ragged_row_far_down_is_named_too() {
        for (width, line_end) in [(2, "\n"), (40, "\r\n")] {
            let line = |cells: usize| vec!["\"a\nb\""; cells].join(",") + line_end;
            let header =
                (0..width).map(|i| format!("c{i}")).collect::<Vec<_>>().join(",") + line_end;
            for (good, bad) in [(65_536, width + 1), (70_001, width - 1), (13_107, width + 2)] {
                let text = header.clone()
                    + &line(width).repeat(good)
                    + &line(bad)
                    + &line(width).repeat(3);
                let expected = format!("row {} (line {}) has ", good + 1, 2 + good * (width + 1));
                let error = error(text.as_bytes());
                assert!(error.starts_with(&expected), "{error}, not {expected}");
            }
        }
    }

    #[test]
    fn long_rows_make_short_batches_and_lose_nothing() {
        for line_end in ["\n", "\r\n"] {
            // Quotes inside an unquoted cell, line ends inside quoted ones, blank lines, rows of
            // many lengths.
            let mut text = format!("a,b{line_end}");
            let mut expected: Vec<Option<String>> = Vec::new();
            for row in 0..400_usize {
                let long = format!("x{}\ny\"z", "ab,\n".repeat(row * row % 700));
                text += &format!("r\"{row},\"{}\"{line_end}", long.replace('"', "\"\""));
                text += if row % 7 == 0 { line_end } else { "" };
                expected.push(Some(long));
            }
            let table = read_all(text.as_bytes(), CodeAndPassThrough).unwrap();
            assert_eq!(cells(&table, "b"), expected);
            assert_eq!(table.coded("a").values()[399].as_deref(), Some("r\"399"));
            let batches = table.column("b").unwrap().passthrough.as_ref().unwrap();
            assert!(
                batches.len() > 1 && batches.iter().map(|batch| batch.len()).sum::<usize>() == 400,
                "{}",
                batches.len()
            );
            // Rows are still counted from the first one.
            let ragged = error(format!("{text}one{line_end}").as_bytes());
            assert!(ragged.starts_with("row 401 (line "), "{ragged}");
        }
    }

    #[test]
    fn a_quote_that_is_never_closed_does_not_swallow_rows_in_silence() {
        for text in [
            "a,b\n1,2\n3,\"4\n5,6\n",
            "a\n1\n\"2\n3\n",
            "a,b\n1,2\n\"3,4\n5,6\n",
            "a,b\n1,2\n3,\"4",
        ] {
            let error = error(text.as_bytes());
            assert!(
                error.starts_with("row 2 (line 3) opens a quote that is never closed"),
                "{error}"
            );
        }
        assert_eq!(cells(&read_all(b"a,b\n1,\"2\"", Code).unwrap(), "b"), texts(&[Some("2")]));
        assert_eq!(cells(&read_all(b"a\nx\n\"\"", Code).unwrap(), "a"), texts(&[Some("x"), None]));
    }

    #[test]
    fn what_is_no_utf8_text_is_read_as_windows_1252_where_its_first_bytes_show_it() {
        let table = read_all(b"a,b\n1,2\n3,caf\xe9\n", Code).unwrap();
        assert_eq!(cells(&table, "b"), texts(&[Some("2"), Some("café")]));
        let far = [&b"a\n"[..], &b"x\n".repeat(2_000_000), b"\xff\n"].concat();
        assert!(error(&far).starts_with("line 2000002 is not UTF-8"));
        assert!(error(b"a,b\n1,\0\n").starts_with("line 2 has a NUL byte"));
    }

    #[cfg(feature = "compression")]
    fn gzip(text: &[u8]) -> Vec<u8> {
        use std::io::Write;
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    #[cfg(feature = "compression")]
    #[test]
    fn compressed_text_is_read_to_the_end_of_its_last_member() {
        let zstd = |text: &[u8]| zstd::encode_all(text, 1).unwrap();
        let skippable =
            [&[0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 9, 9][..], &zstd(b"a,b\n1,2\n3,4\n")].concat();
        for bytes in [
            gzip(b"a,b\n1,2\n3,4\n"),
            [gzip(b"a,b\n1,"), gzip(b""), gzip(b"2\n3,4\n")].concat(),
            zstd(b"a,b\n1,2\n3,4\n"),
            [zstd(b"a,b\n1"), zstd(b",2\n3,4\n")].concat(),
            skippable,
        ] {
            let table = read_all(&bytes, Code).unwrap();
            assert_eq!(cells(&table, "b"), texts(&[Some("2"), Some("4")]));
            assert!(error(&bytes[..bytes.len() - 3]).contains("damaged or cut short"));
        }
        assert!(error(&gzip(b"PAR1....")).contains("decompress it first"));
        assert!(error(&gzip(b"PK\x03\x04....xl/workbook.xml")).contains("an Excel workbook"));
    }

    #[test]
    fn a_file_that_is_not_there_is_an_io_error_and_an_empty_folder_has_no_table() {
        let folder = TempDir::new().unwrap();
        let gone = open(&folder.path().join("gone.csv"), None).unwrap_err();
        assert!(matches!(gone.kind(), ErrorKind::Io));
        #[cfg(feature = "parquet")]
        assert_eq!(open(folder.path(), None).unwrap_err().code(), "no-files");
    }

    /// A table of random words, some of them quoted, missing, repeated or long, as CSV text.
    fn random_csv(seed: u64, rows: usize, columns: usize) -> String {
        let mut state = seed;
        let mut random = move |below: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let mut text =
            (0..columns).map(|c| format!("column {c}")).collect::<Vec<_>>().join(",") + "\n";
        for _ in 0..rows {
            let row: Vec<String> = (0..columns)
                .map(|column| {
                    let value = random(3 * 10_u64.pow(u32::try_from(column).unwrap()));
                    match random(8) {
                        0 => String::new(),
                        1 => format!("\"{value}, \"\"\n{value}\""),
                        2 => format!("ü{value} and so on and on"),
                        _ => value.to_string(),
                    }
                })
                .collect();
            text += &(row.join(",") + "\n");
        }
        text
    }

    #[test]
    fn codes_are_those_of_naive_numbering_on_any_number_of_threads() {
        let text = random_csv(7, 150_000, 5);
        let mut records = csv::Reader::from_reader(text.as_bytes());
        let mut naive =
            vec![(Vec::<Option<String>>::new(), Vec::<RowId>::new(), Vec::<u32>::new()); 5];
        let mut known: Vec<std::collections::HashMap<String, u32>> = vec![Default::default(); 5];
        for (row, record) in records.records().enumerate() {
            for (column, cell) in record.unwrap().iter().enumerate() {
                let (values, first_row, codes) = &mut naive[column];
                let code = *known[column].entry(cell.to_owned()).or_insert_with(|| {
                    values.push(Some(cell.to_owned()).filter(|cell| !cell.is_empty()));
                    first_row.push(u32::try_from(row).unwrap());
                    u32::try_from(values.len() - 1).unwrap()
                });
                codes.push(code);
            }
        }
        for threads in [1, 2, 4] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let table = pool.install(|| read_all(text.as_bytes(), CodeAndPassThrough)).unwrap();
            assert_eq!(table.rows(), 150_000);
            for (column, (values, first_row, codes)) in table.columns().iter().zip(&naive) {
                let coded = column.coded.as_ref().unwrap();
                assert!(
                    coded.values() == *values
                        && coded.first_row() == *first_row
                        && coded.codes().iter().eq(codes.iter().copied())
                );
                let cells = passthrough(&table, &column.name);
                let expected = codes.iter().map(|&code| values[code as usize].as_deref());
                assert!(cells.as_string::<i32>().iter().eq(expected));
            }
        }
    }

    #[test]
    fn carried_cells_take_no_more_memory_than_they_need() {
        let text = format!("a,b\n{}", "seven77,x\n".repeat(100_000));
        let table = read_all(text.as_bytes(), PassThrough).unwrap();
        let bytes: usize = table.columns()[0]
            .passthrough
            .as_ref()
            .unwrap()
            .iter()
            .map(|array| array.get_buffer_memory_size())
            .sum();
        // Seven bytes of text and four of offset a cell; no cell is missing.
        assert!((1_100_000..1_150_000).contains(&bytes), "{bytes}");
    }

    #[cfg(all(feature = "parquet", feature = "arrow-ipc"))]
    mod typed_files {
        use super::*;
        use std::slice::from_ref;

        use arrow_array::types::Int32Type;
        use arrow_array::{DictionaryArray, Float64Array, ListArray, TimestampSecondArray};
        use arrow_ipc::writer::{FileWriter, StreamWriter};

        fn arrow_file(batches: &[RecordBatch]) -> Vec<u8> {
            let mut writer = FileWriter::try_new(Vec::new(), &batches[0].schema()).unwrap();
            batches.iter().for_each(|batch| writer.write(batch).unwrap());
            writer.into_inner().unwrap()
        }

        fn arrow_stream(batches: &[RecordBatch]) -> Vec<u8> {
            let mut writer = StreamWriter::try_new(Vec::new(), &batches[0].schema()).unwrap();
            batches.iter().for_each(|batch| writer.write(batch).unwrap());
            writer.into_inner().unwrap()
        }

        fn parquet_file(batches: &[RecordBatch]) -> Vec<u8> {
            let mut bytes = Vec::new();
            let mut writer =
                parquet::arrow::ArrowWriter::try_new(&mut bytes, batches[0].schema(), None)
                    .unwrap();
            batches.iter().for_each(|batch| writer.write(batch).unwrap());
            writer.close().unwrap();
            bytes
        }

        fn typed() -> RecordBatch {
            let words: DictionaryArray<Int32Type> =
                vec![Some("canary"), Some("b"), None, Some("b")].into_iter().collect();
            RecordBatch::try_from_iter([
                (
                    "int",
                    Arc::new(Int32Array::from(vec![Some(5), None, Some(-7), Some(5)])) as ArrayRef,
                ),
                ("float", Arc::new(Float64Array::from(vec![0.5, 5.0, 1e300, 0.5]))),
                ("time", Arc::new(TimestampSecondArray::from(vec![0, 86_400, 0, 1]))),
                ("word", Arc::new(words)),
            ])
            .unwrap()
            .slice(1, 3)
        }

        #[test]
        fn binary_formats_keep_their_types_and_are_coded_as_text() {
            for bytes in [
                arrow_file(&[typed(), typed()]),
                arrow_stream(&[typed(), typed()]),
                parquet_file(&[typed(), typed()]),
            ] {
                let table = read_all(&bytes, CodeAndPassThrough).unwrap();
                assert_eq!(table.rows(), 6);
                assert_eq!(cells(&table, "int")[..3], texts(&[None, Some("-7"), Some("5")]));
                assert_eq!(
                    cells(&table, "float")[..3],
                    texts(&[Some("5.0"), Some("1e300"), Some("0.5")])
                );
                assert_eq!(
                    cells(&table, "time")[..3],
                    texts(&[
                        Some("1970-01-02T00:00:00"),
                        Some("1970-01-01T00:00:00"),
                        Some("1970-01-01T00:00:01")
                    ])
                );
                assert_eq!(cells(&table, "word")[..3], texts(&[Some("b"), None, Some("b")]));
                assert_eq!(table.column("int").unwrap().data_type, DataType::Int32);
                assert_eq!(
                    passthrough(&table, "int").slice(0, 3).as_ref(),
                    &Int32Array::from(vec![None, Some(-7), Some(5)])
                );
                let words = table.column("word").unwrap();
                assert_eq!(words.data_type, DataType::Utf8);
                // A value that only rows outside the slice had is nowhere in the buffers.
                for array in words.passthrough.as_ref().unwrap() {
                    assert!(
                        !array
                            .as_string::<i32>()
                            .values()
                            .windows(6)
                            .any(|bytes| bytes == b"canary")
                    );
                }
            }
        }

        #[test]
        fn a_large_batch_is_cut_and_its_columns_do_not_hold_on_to_it() {
            let numbers: ArrayRef = Arc::new(Int32Array::from_iter_values(0..200_000));
            let long: ArrayRef = Arc::new(StringArray::from_iter_values(
                (0..200_000).map(|i| format!("a long text number {i}")),
            ));
            let batch = RecordBatch::try_from_iter([("n", numbers.clone()), ("t", long)]).unwrap();
            with_file(&arrow_file(&[batch]), |path| {
                let table = open(path, None).unwrap().read(&[CodeAndPassThrough, Skip]).unwrap();
                let batches = table.columns()[0].passthrough.as_ref().unwrap();
                assert_eq!(batches.len(), 4);
                assert_eq!(&passthrough(&table, "n"), &numbers);
                assert!(table.coded("n").codes().iter().eq(0..200_000));
                let bytes: usize = batches.iter().map(|array| array.get_buffer_memory_size()).sum();
                assert!(bytes < 900_000, "{bytes}");
            });
        }

        #[test]
        fn a_type_without_text_is_refused_by_name() {
            let lists =
                ListArray::from_iter_primitive::<Int32Type, _, _>([Some(vec![Some(1)]), None]);
            let batch = RecordBatch::try_from_iter([("l", Arc::new(lists) as ArrayRef)]).unwrap();
            let bytes = arrow_file(&[batch]);
            let error = read_all(&bytes, Code).unwrap_err().to_string();
            assert!(
                error.starts_with("column `l` is of type List(Int32), which has no text form"),
                "{error}"
            );
            assert_eq!(read_all(&bytes, PassThrough).unwrap().rows(), 2);
        }

        #[test]
        fn a_cell_that_has_no_text_is_refused_without_showing_it() {
            let times: ArrayRef =
                Arc::new(TimestampSecondArray::from(vec![0, 9_007_199_254_740_993]));
            let batch = RecordBatch::try_from_iter([("t", times)]).unwrap();
            let error = error(&arrow_file(&[batch]));
            assert!(
                error.starts_with("column `t` of type Timestamp") && error.contains("rows 1 to 2"),
                "{error}"
            );
            assert!(!error.contains("9007"), "{error}");
        }

        #[test]
        fn damaged_binary_files_are_data_errors() {
            for (bytes, what) in
                [(parquet_file(&[typed()]), "Parquet"), (arrow_file(&[typed()]), "Arrow")]
            {
                let cut = error(&bytes[..bytes.len() - 9]);
                assert!(cut.contains(&format!("is not a readable {what} file")), "{cut}");
            }
            let mut stream = arrow_stream(&[typed(), typed()]);
            stream.truncate(stream.len() - 100);
            assert!(error(&stream).starts_with("the file is damaged"));
            let empty = typed().slice(0, 0);
            for bytes in [
                arrow_file(from_ref(&empty)),
                arrow_stream(from_ref(&empty)),
                parquet_file(from_ref(&empty)),
            ] {
                assert_eq!(error(&bytes), "the table has no rows");
            }
        }

        #[test]
        fn damage_anywhere_in_a_binary_file_never_panics_the_reader() {
            for bytes in
                [parquet_file(&[typed()]), arrow_file(&[typed()]), arrow_stream(&[typed()])]
            {
                let mut refused = 0;
                // The last bytes hold lengths, and a wrong length only makes a decoder ask for
                // gigabytes.
                for place in (8..bytes.len() - 64).step_by(3) {
                    let mut damaged = bytes.clone();
                    damaged[place] ^= 1;
                    refused += usize::from(read_all(&damaged, CodeAndPassThrough).is_err());
                }
                assert!(refused > 0);
            }
        }
    }
}
