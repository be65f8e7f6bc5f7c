//! The records of a CSV text, cut into cells without copying them.
//!
//! A batch holds its text and, for each row, where its cells begin: [`Interner`] and the other
//! takers read the cells where they lie. A record without a quoted cell is cut by looking at eight
//! bytes at a time; a record with one is handed to `csv-core`, and its unquoted cells are written
//! over their quoted form, which is never shorter.
//!
//! A record that the text at hand does not finish is read again from its start once there is twice
//! as much of it: no state is kept between chunks, and the time stays linear.
//!
//! [`Interner`]: crate::table::coded::Interner

use std::io::Read;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender};

use arrow_array::{ArrayRef, StringArray};
use arrow_buffer::{NullBufferBuilder, OffsetBuffer};
use csv_core::ReadRecordResult;

use crate::error::{Error, Hint, Place, Result};

use super::Batch;
use super::text::{Text, line_ends};

/// A batch of so much text ends with its last row, however few rows it has.
const BATCH_BYTES: usize = if cfg!(test) { 1 << 16 } else { 1 << 26 };
/// A row of more text has a cell that no array of texts could hold, or may have one.
const MOST_BYTES: usize = i32::MAX as usize;

/// Some rows of a CSV file.
#[derive(Default)]
pub(crate) struct Cells {
    text: Vec<u8>,
    /// For each row the start of its first cell, and for each cell the place behind the byte that
    /// follows it: cell `c` is `bounds[c]..bounds[c + 1] - 1`.
    bounds: Vec<u32>,
    rows: usize,
    /// The cells of a row.
    width: usize,
}

impl Cells {
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// The text that the cells lie in.
    pub(crate) fn text(&self) -> &[u8] {
        &self.text
    }

    /// Start and end of each cell of a column; an empty cell is a missing value.
    pub(crate) fn column(&self, column: usize) -> impl Iterator<Item = (usize, usize)> {
        self.bounds
            .chunks_exact(self.width + 1)
            .map(move |row| (row[column] as usize, row[column + 1] as usize - 1))
    }

    /// A copy of a column, in buffers of no more than its length.
    pub(crate) fn array(&self, column: usize) -> ArrayRef {
        let bytes = self.column(column).map(|(start, end)| end - start).sum();
        let mut values = Vec::with_capacity(bytes);
        let mut nulls = NullBufferBuilder::new(self.rows);
        for (start, end) in self.column(column) {
            values.extend_from_slice(&self.text[start..end]);
            nulls.append(start < end);
        }
        let lengths = self.column(column).map(|(start, end)| end - start);
        let offsets = OffsetBuffer::from_lengths(lengths);
        let array = StringArray::try_new(offsets, values.into(), nulls.finish());
        Arc::new(array.expect("checked text, cut at ASCII characters"))
    }

    fn clear(&mut self) {
        self.text.clear();
        self.bounds.clear();
        self.rows = 0;
    }
}

/// Cuts the text into batches of rows; the first record is the header and is passed over, if there is
/// one.
pub(super) struct Records<R> {
    text: Text<R>,
    delimiter: u8,
    width: usize,
    reader: csv_core::Reader,
    /// The unquoted text of one record, and the ends of its cells.
    unquoted: Vec<u8>,
    ends: Vec<usize>,
    /// Rows in all batches that were sent.
    rows: usize,
    /// The line on which the next record starts, counted from 1.
    line: u64,
    has_header: bool,
}

/// The record at the start of some text.
enum Record {
    /// It ends before this place, and has so many lines and cells.
    Whole { end: usize, lines: u64, cells: usize },
    /// A cell of it begins with a quote.
    Quoted,
    /// The text ends within it.
    Unfinished,
}

impl<R: Read> Records<R> {
    pub(super) fn new(text: Text<R>, delimiter: u8, width: usize) -> Records<R> {
        let reader = csv_core::ReaderBuilder::new().delimiter(delimiter).build();
        Records {
            text,
            delimiter,
            width,
            reader,
            unquoted: Vec::new(),
            ends: vec![0; width],
            rows: 0,
            line: 1,
            has_header: true,
        }
    }

    /// The same records, of which the first begins on this line and may be a row.
    pub(super) fn starting_at(self, line: u64, has_header: bool) -> Records<R> {
        Records { line, has_header, ..self }
    }

    /// Sends the rows on in batches until nobody listens any more; `used` brings batches back,
    /// whose memory is used again.
    pub(super) fn send(
        mut self,
        batch_rows: usize,
        to: &SyncSender<Batch>,
        used: &Receiver<Cells>,
    ) -> Result<()> {
        let mut batch = Cells { width: self.width, ..Cells::default() };
        let mut at = if self.has_header { self.skip_header(&mut batch.text)? } else { 0 };
        let mut is_end = false;
        loop {
            at = self.split(&mut batch, at, batch_rows)?;
            if batch.rows == batch_rows || at >= BATCH_BYTES {
                let mut next = used.try_recv().unwrap_or_default();
                next.clear();
                next.width = self.width;
                next.text.extend_from_slice(&batch.text[at..]);
                self.rows += batch.rows;
                at = 0;
                if to.send(Batch::Cells(std::mem::replace(&mut batch, next))).is_err() {
                    return Ok(());
                }
            } else if !is_end {
                is_end = self.more(&mut batch, at)?;
            } else if at < batch.text.len() {
                // A quote that was opened and never closed has swallowed all that followed.
                let (row, place) = self.place(&batch);
                return Err(Error::data(
                    "open-quote",
                    format!(
                        "{row} opens a quote that is never closed: close it, or double the quotes \
                         inside a quoted cell"
                    ),
                )
                .about(place));
            } else {
                // Nobody listens only after an error on the other side, which is then the one to
                // report.
                let _ = if batch.rows > 0 { to.send(Batch::Cells(batch)) } else { Ok(()) };
                return Ok(());
            }
        }
    }

    /// Reads the header over and says where the text behind it starts.
    fn skip_header(&mut self, text: &mut Vec<u8>) -> Result<usize> {
        loop {
            let filled = self.text.fill(text)?;
            if filled == 0 {
                text.push(b'\n');
            }
            // Not cut by hand: a second byte order mark before it is passed over, too.
            self.reader.reset();
            let (result, end, _) = self.unquote(text);
            if filled == 0 || matches!(result, ReadRecordResult::Record) {
                self.line += line_ends(&text[..end]);
                return Ok(end);
            }
        }
    }

    /// Reads on, until the unfinished record at `at` has twice as much text as before; true at the
    /// end of the file.
    fn more(&mut self, batch: &mut Cells, at: usize) -> Result<bool> {
        let wanted = (batch.text.len() - at) * 2;
        loop {
            if batch.text.len() > MOST_BYTES {
                let (row, place) = self.place(batch);
                return Err(Error::data(
                    "cell-too-long",
                    format!(
                        "{row} has more than 2 GiB of text: no cell can be that long; is a quote \
                         never closed?"
                    ),
                )
                .about(place));
            }
            if self.text.fill(&mut batch.text)? == 0 {
                // The last row may lack its line end.
                if at < batch.text.len() {
                    batch.text.push(b'\n');
                }
                return Ok(true);
            }
            if batch.text.len() - at >= wanted {
                return Ok(false);
            }
        }
    }

    /// Cuts the records from `at` on until the batch is full or the text ends; returns the start of
    /// the first record that was not cut.
    fn split(&mut self, batch: &mut Cells, mut at: usize, batch_rows: usize) -> Result<usize> {
        while batch.rows < batch_rows && at < BATCH_BYTES {
            while let Some(&end @ (b'\n' | b'\r')) = batch.text.get(at) {
                self.line += u64::from(end == b'\n');
                at += 1;
            }
            let old = batch.bounds.len();
            batch.bounds.resize(old + self.width + 1, 0);
            let bounds = &mut batch.bounds[old..];
            let mut record = plain_record(&batch.text, at, self.delimiter, bounds);
            if let Record::Quoted = record {
                record = self.quoted_record(&mut batch.text, at, bounds);
            }
            let Record::Whole { end, lines, cells } = record else {
                batch.bounds.truncate(old);
                break;
            };
            if cells != self.width {
                return Err(self.ragged(cells, batch));
            }
            self.line += lines;
            batch.rows += 1;
            at = end;
        }
        Ok(at)
    }

    /// Cuts the record at `at`, some cells of which are quoted.
    fn quoted_record(&mut self, text: &mut [u8], at: usize, bounds: &mut [u32]) -> Record {
        self.reader.reset();
        // A blank line, so that what follows is not taken for the start of the file and its first
        // character for a byte order mark.
        self.reader.read_record(b"\n", &mut [0], &mut [0]);
        let (ReadRecordResult::Record, length, cells) = self.unquote(&text[at..]) else {
            return Record::Unfinished;
        };
        let lines = line_ends(&text[at..at + length]);
        let (mut from, mut to) = (0, at);
        bounds[0] = narrow(at);
        for (&end, bound) in self.ends.iter().zip(&mut bounds[1..]).take(cells) {
            let cell = &self.unquoted[from..end];
            text[to..to + cell.len()].copy_from_slice(cell);
            (from, to) = (end, to + cell.len() + 1);
            *bound = narrow(to);
        }
        Record::Whole { end: at + length, lines, cells }
    }

    /// Unquotes the first record of a text. Returns how that went, the bytes it takes and the
    /// number of its cells, of which no more are kept than a row has.
    fn unquote(&mut self, text: &[u8]) -> (ReadRecordResult, usize, usize) {
        if self.unquoted.len() <= text.len() {
            self.unquoted.resize(text.len() + 1, 0);
        }
        let (mut read, mut written, mut cells) = (0, 0, 0);
        let mut surplus = [0; 64];
        loop {
            let ends = if cells < self.width { &mut self.ends[cells..] } else { &mut surplus[..] };
            let (result, taken, put, ended) =
                self.reader.read_record(&text[read..], &mut self.unquoted[written..], ends);
            (read, written, cells) = (read + taken, written + put, cells + ended);
            match result {
                // Without any text it would end the record here.
                ReadRecordResult::OutputEndsFull if read < text.len() => {}
                result => return (result, read, cells),
            }
        }
    }

    fn ragged(&self, cells: usize, batch: &Cells) -> Error {
        let (row, place) = self.place(batch);
        let (plural, width) = (if cells == 1 { "" } else { "s" }, self.width);
        let delimiter = char::from(self.delimiter).escape_default();
        let quote = format!("quote cells that contain the delimiter `{delimiter}`");
        let reason = format!("{row} has {cells} cell{plural}, but the header has {width}");
        Error::data("ragged-row", reason)
            .about(place)
            .hint(Hint::plain(quote))
            .hint(Hint::SetDelimiter)
    }

    /// The row behind a batch, counted from 1 without the header, and the line it starts on: in
    /// words and as data.
    fn place(&self, batch: &Cells) -> (String, Place) {
        let row = (self.rows + batch.rows) as u64 + 1;
        let place = Place { line: Some(self.line), row: Some(row), ..Place::default() };
        (format!("row {row} (line {})", self.line), place)
    }
}

/// Cuts the record at `at` if no cell of it begins with a quote. Counts all its cells, and keeps the
/// bounds of as many as a row has.
fn plain_record(text: &[u8], at: usize, delimiter: u8, bounds: &mut [u32]) -> Record {
    let mut cells = 0;
    let mut cell = at;
    bounds[0] = narrow(at);
    let mut place = at;
    while place < text.len() {
        let mut signs = signs(eight(text, place), delimiter);
        while signs != 0 {
            let sign = place + signs.trailing_zeros() as usize / 8;
            signs &= signs - 1;
            let byte = text[sign];
            if byte == b'"' {
                // Within a cell it is a character like any other.
                if sign == cell {
                    return Record::Quoted;
                }
                continue;
            }
            cells += 1;
            cell = sign + 1;
            if let Some(bound) = bounds.get_mut(cells) {
                *bound = narrow(cell);
            }
            if byte != delimiter {
                return Record::Whole { end: cell, lines: u64::from(byte == b'\n'), cells };
            }
        }
        place += 8;
    }
    Record::Unfinished
}

/// The eight bytes at a place, as far as there are so many.
pub(crate) fn eight(text: &[u8], place: usize) -> u64 {
    match text.get(place..place + 8).and_then(|eight| eight.first_chunk()) {
        Some(&eight) => u64::from_le_bytes(eight),
        None => {
            let mut eight = [0; 8];
            let rest = &text[place..text.len().min(place + 8)];
            eight[..rest.len()].copy_from_slice(rest);
            u64::from_le_bytes(eight)
        }
    }
}

/// The highest bit of each of eight bytes that is the delimiter, a quote or part of a line end; all
/// of them are ASCII.
pub(crate) fn signs(eight: u64, delimiter: u8) -> u64 {
    const ONES: u64 = u64::MAX / 255;
    const LOW: u64 = ONES * 127;
    let low = eight & LOW;
    // A byte of seven bits plus 127 has its highest bit clear if and only if it is 0.
    let differs = |from: u8| (low ^ (ONES * u64::from(from))) + LOW;
    let none = differs(delimiter) & differs(b'"') & differs(b'\n') & differs(b'\r');
    !(none | eight) & !LOW
}

fn narrow(place: usize) -> u32 {
    u32::try_from(place).expect("a batch has little more than 2 GiB of text")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;
    use std::sync::mpsc::{channel, sync_channel};

    use crate::rng::Rng;

    /// Hands out at most `step` bytes at a time.
    struct Drops<'a>(&'a [u8], usize);

    impl Read for Drops<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let step = self.1;
            self.0.read(&mut buffer[..step])
        }
    }

    type Rows = Vec<Vec<String>>;

    /// The rows before the first fault, and the fault.
    fn fast(text: &str, delimiter: u8, width: usize, step: usize) -> (Rows, Option<String>) {
        let records = Records::new(
            Text::new(Drops(text.as_bytes(), step), PathBuf::from("-"), 0),
            delimiter,
            width,
        );
        let (to, batches) = sync_channel(text.len() + 2);
        let (give_back, used) = channel();
        give_back.send(Cells { rows: 7, bounds: vec![9], ..Cells::default() }).unwrap();
        let fault = records.send(3, &to, &used).err().map(|error| error.to_string());
        drop(to);
        let mut rows = Rows::new();
        for batch in batches {
            let Batch::Cells(cells) = batch else { panic!("CSV comes in cells") };
            let first = rows.len();
            rows.resize(first + cells.rows(), Vec::new());
            for column in 0..width {
                let texts: Vec<_> = cells
                    .column(column)
                    .map(|(start, end)| std::str::from_utf8(&cells.text()[start..end]).unwrap())
                    .collect();
                let array = cells.array(column);
                assert!(
                    arrow_array::cast::AsArray::as_string::<i32>(&array)
                        .iter()
                        .eq(texts.iter().map(|&text| (!text.is_empty()).then_some(text)))
                );
                for (row, text) in rows[first..].iter_mut().zip(texts) {
                    row.push(text.to_owned());
                }
            }
        }
        (rows, fault)
    }

    /// The same by the `csv` crate. A quote is open where it swallows a row that is put behind the
    /// text.
    fn slow(text: &str, delimiter: u8, width: usize) -> (Rows, Option<String>) {
        let sentinel = vec!["s".to_owned(); width];
        let whole = format!("{text}\n{}\n", sentinel.join(&char::from(delimiter).to_string()));
        let mut reader = csv::ReaderBuilder::new()
            .flexible(true)
            .delimiter(delimiter)
            .has_headers(true)
            .from_reader(whole.as_bytes());
        let mut rows = Rows::new();
        let mut record = csv::StringRecord::new();
        reader.headers().unwrap();
        loop {
            let before = usize::try_from(reader.position().byte()).unwrap();
            if !reader.read_record(&mut record).unwrap() {
                rows.pop();
                return (rows, None);
            }
            let blank = whole[before..].bytes().take_while(|byte| b"\r\n".contains(byte)).count();
            let line = line_ends(&whole.as_bytes()[..before + blank]) + 1;
            let place = format!("row {} (line {line})", rows.len() + 1);
            let is_last = usize::try_from(reader.position().byte()).unwrap() >= whole.len();
            let cells: Vec<String> = record.iter().map(str::to_owned).collect();
            if is_last && cells != sentinel {
                return (rows, Some(format!("{place} opens a quote")));
            }
            if cells.len() != width {
                return (rows, Some(format!("{place} has {} cell", cells.len())));
            }
            rows.push(cells);
        }
    }

    #[track_caller]
    fn same(text: &str, delimiter: u8, width: usize, step: usize) -> Option<String> {
        let ((rows, fault), (expected, faulty)) =
            (fast(text, delimiter, width, step), slow(text, delimiter, width));
        let starts = |fault: &Option<String>, with: &Option<String>| match (fault, with) {
            (Some(fault), Some(with)) => fault.starts_with(with.as_str()),
            (fault, with) => fault.is_none() && with.is_none(),
        };
        assert!(starts(&fault, &faulty), "{text:?}, {step} at a time: {fault:?}, not {faulty:?}");
        // A faulty batch is not sent.
        let sent = if fault.is_some() { expected.len() / 3 * 3 } else { expected.len() };
        assert_eq!(rows, expected[..sent], "{text:?}, {step} at a time");
        fault
    }

    #[test]
    fn tables_are_read_as_the_csv_crate_reads_them() {
        let odd = [
            "",
            "\"\"",
            "a",
            "12345678",
            "a longer text",
            "\"x,y;z\"",
            "\"say \"\"no\"\"\"",
            "\"two\nlines\"",
            "\"\r\n\"",
            "ü€😀",
            "\"ü\"",
            "\"a\"b",
            "\"a\" \"",
            "5\"",
            "a\"b\"",
            " ",
            "\u{feff}",
            "\"\"\"\"",
            "\"\"x",
        ];
        let mut rng = Rng::new(1);
        let mut pick = |below: usize| usize::try_from(rng.below(below as u64)).unwrap();
        for _ in 0..600 {
            let width = 1 + pick(4);
            let delimiter = [b',', b';', b'\t', b'|'][pick(4)];
            let line_end = ["\n", "\r\n", "\r", "\n\n", "\r\n\r\n"][pick(5)];
            let between = char::from(delimiter).to_string();
            let few = 1 + pick(odd.len());
            let row = |pick: &mut dyn FnMut(usize) -> usize| {
                (0..width).map(|_| odd[pick(few)]).collect::<Vec<_>>().join(&between)
            };
            let names: Vec<_> = (0..width).map(|column| format!("c{column}")).collect();
            let mut text = names.join(&between);
            for _ in 0..pick(12) {
                text = text + line_end + &row(&mut pick);
            }
            text += ["", line_end][pick(2)];
            // Every place is once the end of a chunk.
            for step in (1..text.len().min(20)).chain([64, 1 << 12]) {
                same(&text, delimiter, width, step);
            }
        }
    }

    #[test]
    fn any_text_is_read_or_refused_at_the_place_where_it_goes_wrong() {
        let signs = ["a", "b", "\"", ",", "\n", "\r", "é", "\"\"", ",\"", "\",", "\u{feff}"];
        let mut rng = Rng::new(2);
        let mut pick = |below: usize| usize::try_from(rng.below(below as u64)).unwrap();
        let mut faults = [0; 3];
        for _ in 0..20_000 {
            let length = pick(25);
            let text: String = (0..length).map(|_| signs[pick(signs.len())]).collect();
            let text = ["a\n", "a,b\n", "\"a\",\"b\nc\"\r\n"][pick(3)].to_owned() + &text;
            let width = if text.starts_with("a\n") { 1 } else { 2 };
            let fault = same(&text, b',', width, 1 + pick(12));
            let kind = fault.map_or(0, |fault| if fault.contains("never closed") { 1 } else { 2 });
            faults[kind] += 1;
        }
        assert!(faults.iter().all(|&count| count > 500), "{faults:?}");
    }

    #[test]
    fn the_signs_of_a_word_are_those_of_its_bytes() {
        let mut rng = Rng::new(3);
        for _ in 0..20_000 {
            let bytes: [u8; 8] = std::array::from_fn(|_| {
                let near = [b',', b'"', b'\n', b'\r', b';'][usize::try_from(rng.below(5)).unwrap()];
                near.wrapping_add(u8::try_from(rng.below(3)).unwrap()).wrapping_sub(1)
                    | [0, 0x80][usize::try_from(rng.below(2)).unwrap()]
            });
            let expected = bytes.map(|byte| if b",\"\n\r".contains(&byte) { 0x80 } else { 0 });
            assert_eq!(signs(u64::from_le_bytes(bytes), b','), u64::from_le_bytes(expected));
        }
    }
}
