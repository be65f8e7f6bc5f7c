//! The head of a CSV file: which encoding, which delimiter, which columns.

use std::collections::HashSet;
use std::io::{Chain, Cursor, Read};
use std::path::Path;

use crate::error::{Error, Hint, Result, Warning};

use super::ReadOptions;
use super::bytes::{Unpacked, head, reading};
use super::csv::Records;
use super::encoding::{Decoded, Encoding};
use super::foreign;
use super::text::Text;
use crate::table::TextDialect;
use crate::table::headless::reads_like_cells;

/// The header must end within this many bytes.
const HEAD: usize = 1 << 20;
/// How many rows the delimiter is judged by.
const SAMPLE: usize = 100;
const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// A CSV file of which only the header is known.
pub(crate) struct Csv {
    pub(crate) names: Vec<String>,
    /// The first line may be a row: a name is a number or a date, or equals a cell below it.
    pub(crate) is_doubtful: bool,
    /// How the file was read, where it is not plain CSV in UTF-8.
    pub(crate) notes: Vec<Warning>,
    delimiter: u8,
    is_crlf: bool,
    /// It began with the mark of its encoding, or was in another encoding than UTF-8.
    has_mark: bool,
    /// Lines above the header.
    skipped: u64,
    has_header: bool,
    text: Text<Chain<Cursor<Vec<u8>>, Decoded>>,
}

impl Csv {
    pub(crate) fn open(mut stream: Unpacked, place: &Path, options: &ReadOptions) -> Result<Csv> {
        let mut given = options.delimiter.map(checked_delimiter).transpose()?;
        let raw = head(&mut stream, HEAD as u64).map_err(|source| reading(place, source))?;
        if raw.starts_with(b"PAR1") || raw.starts_with(b"ARROW1") {
            return Err(Error::data(
                "nested-file",
                "there is a Parquet or Arrow file inside the compressed file: decompress it first",
            ));
        }
        // What is no text at all is refused before its first line is taken for a header.
        foreign::refuse(&raw, place)?;
        let mut notes = Vec::new();
        let encoding = match &options.encoding {
            Some(name) => Encoding::named(name)?,
            None => Encoding::of(&raw, &mut notes),
        };
        let is_marked = encoding != Encoding::UTF8 || raw.starts_with(b"\xef\xbb\xbf");
        let (stream, mut head) = Decoded::new(encoding, raw, stream, HEAD as u64)
            .map_err(|source| reading(place, source))?;
        if head.starts_with(b"\xef\xbb\xbf") {
            head.drain(..3);
        }
        foreign::refuse(&head, place)?;
        Text::new(head.as_slice(), place.to_path_buf(), 0).fill(&mut Vec::new())?;
        let mut skipped = 0;
        if let Some((delimiter, end)) = separator_line(&head) {
            given = given.or(Some(delimiter));
            head.drain(..end);
            skipped += 1;
        }
        let (lines, end) = comment_lines(&head, given);
        if lines > 0 {
            notes.push(skipped_comments(lines));
        }
        head.drain(..end);
        skipped += lines;
        if let Some((lines, end)) = title_lines(&head, given).filter(|_| options.names.is_empty()) {
            notes.push(skipped_title());
            head.drain(..end);
            skipped += lines;
        }
        let delimiter = given.unwrap_or_else(|| sniff(&head));
        let line_end = head.iter().position(|&byte| byte == b'\n');
        let has_header = options.names.is_empty();
        let names = header(&head, delimiter)?;
        let is_doubtful = has_header && !options.header && is_doubtful(&names, &head, delimiter);
        let names = if has_header { names } else { named(&options.names, names.len())? };
        Ok(Csv {
            names,
            is_doubtful,
            notes,
            delimiter,
            is_crlf: line_end.is_some_and(|end| end > 0 && head[end - 1] == b'\r'),
            has_mark: is_marked,
            skipped,
            has_header,
            text: Text::new(Cursor::new(head).chain(stream), place.to_path_buf(), skipped),
        })
    }

    pub(super) fn dialect(&self) -> TextDialect {
        let Csv { delimiter, is_crlf, has_mark, .. } = *self;
        TextDialect { delimiter, is_crlf, has_mark }
    }

    /// The rows to come.
    pub(super) fn records(self) -> Records<Chain<Cursor<Vec<u8>>, Decoded>> {
        let records = Records::new(self.text, self.delimiter, self.names.len());
        records.starting_at(self.skipped + 1, self.has_header)
    }
}

/// The names that were given for the columns of a table without a header line.
pub(super) fn named(names: &[String], columns: usize) -> Result<Vec<String>> {
    if names.len() == columns {
        return Ok(names.to_vec());
    }
    Err(Error::request(
        "names-and-columns",
        format!(
            "{} names are given, and the first row has {columns} cells: give one name for each \
             column",
            names.len()
        ),
    )
    .hint(Hint::SetDelimiter))
}

fn checked_delimiter(delimiter: char) -> Result<u8> {
    match u8::try_from(delimiter) {
        Ok(byte) if byte.is_ascii() && !matches!(byte, b'"' | b'\r' | b'\n' | 0) => Ok(byte),
        _ => Err(Error::request(
            "bad-delimiter",
            "the delimiter must be one ASCII character, and neither a quote nor a line end",
        )),
    }
}

/// The delimiter that cuts the header and the first rows into the same number of cells, the more
/// the better. If none does, the one that cuts the header into most: the ragged row will be named
/// later. A table may have one column, then any delimiter that its cells do not contain will do.
fn sniff(head: &[u8]) -> u8 {
    let mut best = (0, 0, DELIMITERS[0]);
    for delimiter in DELIMITERS {
        let cells = cells_a_row(head, delimiter);
        let first = cells.first().copied().unwrap_or(1);
        let even = cells.iter().all(|&count| count == first);
        let rank = match (even, first) {
            (true, 2..) => 3,
            (false, 2..) => 2,
            (true, _) => 1,
            (false, _) => 0,
        };
        if (rank, first) > (best.0, best.1) {
            best = (rank, first, delimiter);
        }
    }
    best.2
}

/// The number of cells in each of the first records.
fn cells_a_row(head: &[u8], delimiter: u8) -> Vec<usize> {
    let mut records = ::csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter)
        .from_reader(head);
    let mut record = ::csv::ByteRecord::new();
    let mut cells = Vec::new();
    while cells.len() < SAMPLE && matches!(records.read_byte_record(&mut record), Ok(true)) {
        cells.push(record.len());
    }
    if cells.len() < SAMPLE && head.len() >= HEAD - 3 {
        // The head may have cut the last record.
        cells.pop();
    }
    cells
}

fn header(head: &[u8], delimiter: u8) -> Result<Vec<String>> {
    let mut records =
        ::csv::ReaderBuilder::new().has_headers(false).delimiter(delimiter).from_reader(head);
    let mut record = csv::StringRecord::new();
    match records.read_record(&mut record) {
        Ok(true) if records.position().byte() >= HEAD as u64 - 3 => Err(Error::data(
            "no-header",
            "the header does not end within a mebibyte: this is no CSV with a header, or it has an open quote",
        )),
        Ok(true) => Ok(record.iter().map(str::to_owned).collect()),
        Ok(false) => {
            Err(Error::data("no-rows", "the file is empty: a table needs a header and rows"))
        }
        Err(_) => {
            Err(Error::data("not-utf8", "the header is not UTF-8 text").hint(Hint::SetEncoding))
        }
    }
}

/// Excel writes `sep=;` on top of a file to say what stands between the cells: that delimiter, and
/// where the next line begins.
fn separator_line(head: &[u8]) -> Option<(u8, usize)> {
    let end = head.iter().position(|&byte| byte == b'\n').map_or(head.len(), |end| end + 1);
    let line = head[..end].trim_ascii_start();
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let line = line.strip_prefix(b"\"").and_then(|line| line.strip_suffix(b"\"")).unwrap_or(line);
    match line {
        [name @ .., delimiter] if name.eq_ignore_ascii_case(b"sep=") => {
            let delimiter = checked_delimiter(char::from(*delimiter)).ok()?;
            Some((delimiter, end))
        }
        _ => None,
    }
}

/// Lines on top of a table that begin with `#`, `%` or `|` and are no header: how many, and where the
/// next line begins. `#id,name` is a header all the same: it has as many cells as the lines below it.
fn comment_lines(head: &[u8], given: Option<u8>) -> (u64, usize) {
    let (mut lines, mut at) = (0, 0);
    while matches!(head[at..].trim_ascii_start(), [b'#' | b'%' | b'|', ..]) {
        let blank = head[at..].len() - head[at..].trim_ascii_start().len();
        lines += head[at..at + blank].iter().filter(|&&byte| byte == b'\n').count() as u64 + 1;
        let end = head[at + blank..].iter().position(|&byte| byte == b'\n');
        at = end.map_or(head.len(), |end| at + blank + end + 1);
    }
    let rest = &head[at..];
    let delimiter = given.unwrap_or_else(|| sniff(rest));
    let (above, below) = (cells_a_row(head, delimiter), cells_a_row(rest, delimiter));
    match (above.first(), below.first()) {
        (Some(here), Some(there)) if here != there => (lines, at),
        _ => (0, 0),
    }
}

/// The most lines of a title.
const TITLE_LINES: u64 = 5;

/// Lines of one cell on top of a table of at least three columns, or of two with an empty line between:
/// how many, with those that are empty, and where the header begins. What follows must look like names,
/// and all sampled rows must have as many cells. The delimiter is that of the lines below the title, in
/// which others may stand: `Patients, 2024` above `id;age;sex`.
fn title_lines(head: &[u8], given: Option<u8>) -> Option<(u64, usize)> {
    if is_table(head, given.unwrap_or_else(|| sniff(head))) {
        return None;
    }
    let (mut lines, mut at, mut has_gap) = (0, 0, false);
    let mut titles: Vec<&[u8]> = Vec::new();
    while lines < TITLE_LINES {
        let end = at + head[at..].iter().position(|&byte| byte == b'\n')? + 1;
        // A program that writes sheets pads a title to the width of the table.
        let line = without_padding(&head[at..end]);
        has_gap |= line.is_empty() && lines > 0;
        (lines, at) = (lines + 1, end);
        titles.push(line);
        let rest = &head[at..];
        // The line with the names is the next one that has something.
        if matches!(without_padding(rest.split(|&byte| byte == b'\n').next()?), []) {
            continue;
        }
        let delimiter = given.unwrap_or_else(|| sniff(rest));
        let columns = cells_a_row(rest, delimiter).first().copied().unwrap_or(0);
        let cells = |line: &[u8], delimiter| cells_a_row(line, delimiter).first().map_or(1, |&n| n);
        let is_title = |line: &&[u8]| {
            // Names between other delimiters than those of the rows are no title.
            cells(line, delimiter) == 1 && DELIMITERS.iter().all(|&any| cells(line, any) < columns)
        };
        let is_wide = columns >= 3 || (columns == 2 && has_gap);
        if is_wide && is_table(rest, delimiter) && titles.iter().all(is_title) {
            return Some((lines, at));
        }
    }
    None
}

/// True for names above at least one row, all of as many cells, more than one.
fn is_table(head: &[u8], delimiter: u8) -> bool {
    let cells = cells_a_row(head, delimiter);
    let columns = cells.first().copied().unwrap_or(0);
    let is_even = cells.len() > 1 && cells.iter().all(|&count| count == columns);
    let is_named = |names: Vec<String>| {
        names.iter().all(|name| !name.trim().is_empty()) && !reads_like_cells(&names)
    };
    columns > 1 && is_even && header(head, delimiter).is_ok_and(is_named)
}

/// A line without the blanks around it and the delimiters at its end.
fn without_padding(line: &[u8]) -> &[u8] {
    let mut line = line.trim_ascii();
    while let [rest @ .., last] = line
        && DELIMITERS.contains(last)
    {
        line = rest.trim_ascii_end();
    }
    line
}

/// What is passed over above the header.
pub(super) fn skipped_title() -> Warning {
    Warning::new(
        "title-lines",
        "what stands above the header is taken for a title and passed over: the first line has one \
         cell, the lines below it have more; if that is wrong, remove the lines from the file",
    )
}

fn skipped_comments(lines: u64) -> Warning {
    let (are, lines) =
        if lines == 1 { ("is", "line".into()) } else { ("are", format!("{lines} lines")) };
    Warning::new(
        "comment-lines",
        format!("the first {lines} of the table {are} taken for a comment and passed over"),
    )
}

/// True when the first line may be a row, so that no message may show its names: one reads like a
/// cell, or is a cell of its own column.
fn is_doubtful(names: &[String], head: &[u8], delimiter: u8) -> bool {
    let mut records =
        ::csv::ReaderBuilder::new().flexible(true).delimiter(delimiter).from_reader(head);
    let mut first = records.byte_records().take(SAMPLE / 5).map_while(std::result::Result::ok);
    let is_cell = |record: ::csv::ByteRecord| {
        names.iter().zip(&record).any(|(name, cell)| name.as_bytes() == cell)
    };
    reads_like_cells(names) || first.any(is_cell)
}

/// Names must be there and differ: everything else speaks of columns by name. Names that may be
/// cells are not shown.
pub(crate) fn check_names(names: &[String], is_doubtful: bool) -> Result<()> {
    if names.is_empty() {
        return Err(Error::data("no-columns", "the table has no columns"));
    }
    let mut seen = HashSet::new();
    for (place, name) in (1..).zip(names) {
        if name.is_empty() {
            return Err(Error::data(
                "column-without-name",
                format!("column {place} of {} has no name: give it one in the header", names.len()),
            ));
        }
        if seen.insert(name) {
            continue;
        }
        if is_doubtful {
            return Err(Error::data(
                "no-header",
                format!(
                    "column {place} has the name of another column, and the first line looks like \
                     a row, not like names"
                ),
            )
            .hint(Hint::SetNames));
        }
        return Err(Error::data(
            "column-name-twice",
            format!(
                "two columns are named `{name}`, the second is column {place}: rename one of them"
            ),
        )
        .about_column(name));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delimiter_is_the_one_that_cuts_all_rows_alike() {
        for (text, delimiter) in [
            ("a,b\n1,2\n", ','),
            ("a;b\n1,5;2\n3,5;4,5\n", ';'),
            ("a\tb\tc\n1;2\t3;4\t5\n", '\t'),
            ("a|b\nx,y|z\n", '|'),
            ("a;b;c,d\n\"1;2\";3;4,5\n", ';'),
            ("\"x;y\",b\n1,2\n", ','),
            ("a,b;c,d\n", ','),
            ("address\n1 Main Street, Springfield\n", ';'),
            ("one\n1\n2\n", ','),
            ("a,b,c\n1,2\n", ','),
        ] {
            assert_eq!(char::from(sniff(text.as_bytes())), delimiter, "{text}");
        }
    }

    #[test]
    fn a_title_stands_alone_above_names() {
        for (text, lines) in [
            ("Patient list 2024\n\nid,age,sex\n1,30,f\n2,31,m\n", Some(2)),
            ("Patient list\nid;age;sex\n1;30;f\n", Some(1)),
            ("List\nby ward\n\nid,age\n1,30\n", Some(3)),
            ("Report;;\nof May;;\n;;\nid;age;sex\n1;30;f\n2;31;m\n", Some(3)),
            ("Patients, May 2024\nid;age;sex\n1;30;f\n2;31;m\n", Some(1)),
            ("Patients, May 2024;;\nid;age;sex\n1;30;f\n2;31;m\n", Some(1)),
            ("\"Patients; all\"\nof May, June\n\nid;age;sex\n1;30;f\n", Some(3)),
            ("name;note\nx;a,b,c\ny;d,e,f\n", None),
            ("id,age,sex\nx;y;z\nu;v;w\n", None),
            ("id,age,sex\n1,30,f\n2,31\n", None),
            ("name;;\nLee;;\nKim;;\n", None),
            ("List\nid,age\n1,30\n", None),
            ("height\n170,5,1\n182,3,2\n", None),
            ("address\n1 Main Street, Springfield\n", None),
            ("id,age,sex\n1,30,f\n", None),
            ("one\n1\n2\n", None),
            ("note\na, b, c\nd, e\n", None),
            ("", None),
        ] {
            let found = title_lines(text.as_bytes(), None);
            assert_eq!(found.map(|(lines, _)| lines), lines, "{text}");
            if text.starts_with("Patients") {
                let found = title_lines(text.as_bytes(), Some(b';'));
                assert_eq!(found.map(|(lines, _)| lines), lines, "{text}");
            }
        }
    }

    #[test]
    fn a_sample_that_ends_within_a_row_does_not_count_that_row() {
        let mut text = "a,b\n".to_owned();
        let long = "x".repeat(HEAD / 3);
        while text.len() < HEAD + 10 {
            text.push_str(&format!("{long},{long}\n"));
        }
        assert_eq!(sniff(&text.as_bytes()[..HEAD]), b',');
    }

    #[test]
    fn a_delimiter_that_would_tear_the_text_is_refused() {
        for delimiter in ['"', '\n', '\r', '§', '\0'] {
            checked_delimiter(delimiter).unwrap_err();
        }
        assert_eq!(checked_delimiter('^').unwrap(), b'^');
    }

    fn opened(text: &str, options: ReadOptions) -> Result<crate::table::Source> {
        crate::table::open_reader(Cursor::new(text.to_owned()), Path::new("t.csv"), options)
    }

    /// The rows of a table as texts, with `|` between the cells.
    fn rows(source: crate::table::Source) -> Result<Vec<String>> {
        let names = source.names().to_vec();
        let table = source.read(&vec![crate::table::Treatment::Code; names.len()])?;
        let cell = |name: &String, row: usize| {
            let coded = table.coded(name);
            coded.values()[coded.codes().get(row) as usize].clone().unwrap_or_default()
        };
        let row = |row| names.iter().map(|name| cell(name, row)).collect::<Vec<_>>().join("|");
        Ok((0..table.rows()).map(row).collect())
    }

    #[test]
    fn lines_above_the_header_are_passed_over() {
        for (text, names, notes) in [
            ("sep=;\na;b\n1,5;2\n", 2, vec![]),
            ("\"sep=;\"\r\na;b\r\n1,5;2\r\n", 2, vec![]),
            ("SEP=|\na;b|c\n1,5;2|3\n", 2, vec![]),
            ("# exported 2024-01-01\n\n# by me\na,b\n1.5,2\n", 2, vec!["comment-lines"]),
            ("sep=,\n# a comment\na,b\n1,2\n", 2, vec!["comment-lines"]),
            ("|1x3 Cross validator\na,b\n1,2\n", 2, vec!["comment-lines"]),
            ("% made by hand\na,b\n1,2\n", 2, vec!["comment-lines"]),
            ("#id,name\n1,2\n", 2, vec![]),
            ("sep=\n1\n", 1, vec![]),
        ] {
            let source = opened(text, ReadOptions::default()).unwrap();
            assert_eq!(source.names().len(), names, "{text}");
            let said: Vec<&str> = source.notes().iter().map(Warning::code).collect();
            assert_eq!(said, notes, "{text}");
            assert_eq!(rows(source).unwrap().len(), 1, "{text}");
        }
    }

    #[test]
    fn lines_are_counted_from_the_top_of_the_file() {
        let text = "sep=,\n# one\n\n# two\na,b\n1,2\n3\n";
        let error = rows(opened(text, ReadOptions::default()).unwrap()).unwrap_err();
        assert_eq!((error.place().line, error.place().row), (Some(7), Some(2)));
    }

    #[test]
    fn a_table_without_a_header_gets_the_names_that_are_given() {
        let names = |names: &[&str]| ReadOptions {
            names: names.iter().map(|&name| name.to_owned()).collect(),
            ..ReadOptions::default()
        };
        let source = opened("39, Private\n50,\"x,y\"\n", names(&["age", "work"])).unwrap();
        assert!(!source.is_headless());
        assert_eq!(rows(source).unwrap(), ["39| Private", "50|x,y"]);
        let above = opened("|1x3 Cross validator\n39,a\n", names(&["age", "work"])).unwrap();
        assert_eq!(rows(above).unwrap(), ["39|a"]);
        let marked = opened("#39,a\n#40,b\n", names(&["age", "work"])).unwrap();
        assert_eq!(rows(marked).unwrap(), ["#39|a", "#40|b"], "rows that begin with a mark");
        let wrong = opened("39,Private\n", names(&["age"])).unwrap_err();
        assert_eq!(wrong.code(), "names-and-columns");
        assert_eq!(opened("1,2\n", names(&["a", "a"])).unwrap_err().code(), "column-name-twice");
    }
}
