//! The head of a CSV file: which delimiter, which columns.

use std::collections::HashSet;
use std::io::{Chain, Cursor, Read};
use std::path::Path;

use crate::error::{Error, Hint, Result};

use super::bytes::{Unpacked, head, reading};
use super::csv::Records;
use super::foreign;
use super::text::Text;

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
    delimiter: u8,
    text: Text<Chain<Cursor<Vec<u8>>, Unpacked>>,
}

impl Csv {
    pub(crate) fn open(mut stream: Unpacked, place: &Path, delimiter: Option<char>) -> Result<Csv> {
        let given = delimiter.map(checked_delimiter).transpose()?;
        let mut head = head(&mut stream, HEAD as u64).map_err(|source| reading(place, source))?;
        match *head {
            [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => {
                return Err(Error::data(
                    "not-utf8",
                    "the file is UTF-16 text: convert it, for example with iconv -f UTF-16 -t UTF-8",
                ));
            }
            [b'P', b'A', b'R', b'1', ..] | [b'A', b'R', b'R', b'O', b'W', b'1', ..] => {
                return Err(Error::data(
                    "nested-file",
                    "there is a Parquet or Arrow file inside the compressed file: decompress it first",
                ));
            }
            [0xef, 0xbb, 0xbf, ..] => drop(head.drain(..3)),
            _ => {}
        }
        // What is no text at all is refused before its first line is taken for a header.
        foreign::refuse(&head, place)?;
        Text::new(head.as_slice(), place.to_path_buf()).fill(&mut Vec::new())?;
        refuse_separator_line(&head)?;
        refuse_comment(&head, given)?;
        let delimiter = given.unwrap_or_else(|| sniff(&head));
        let names = header(&head, delimiter)?;
        let is_doubtful = is_doubtful(&names, &head, delimiter);
        Ok(Csv {
            names,
            is_doubtful,
            delimiter,
            text: Text::new(Cursor::new(head).chain(stream), place.to_path_buf()),
        })
    }

    /// The rows to come.
    pub(super) fn records(self) -> Records<Chain<Cursor<Vec<u8>>, Unpacked>> {
        Records::new(self.text, self.delimiter, self.names.len())
    }
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
        Err(_) => Err(Error::data(
            "not-utf8",
            "the header is not UTF-8 text: convert the file, for example with iconv -f LATIN1 -t UTF-8",
        )),
    }
}

/// Excel writes `sep=;` on top of a file to say what stands between the cells; to everybody else it
/// is a row.
fn refuse_separator_line(head: &[u8]) -> Result<()> {
    let line = head.split(|&byte| byte == b'\n').next().unwrap_or_default().trim_ascii();
    let line = line.strip_prefix(b"\"").and_then(|line| line.strip_suffix(b"\"")).unwrap_or(line);
    if line.len() <= 5 && line.get(..4).is_some_and(|start| start.eq_ignore_ascii_case(b"sep=")) {
        return Err(Error::data(
            "sep-line",
            "the first line is Excel's `sep=` line, which says what stands between the cells, and \
             not the header: delete that line",
        )
        .hint(Hint::SetDelimiter));
    }
    Ok(())
}

/// A comment on top of a table would be taken for its header: the whole table would be one column.
fn refuse_comment(head: &[u8], given: Option<u8>) -> Result<()> {
    let mut rest = head;
    let mut comments = 0;
    while rest.trim_ascii_start().starts_with(b"#") {
        comments += 1;
        let end = rest.iter().position(|&byte| byte == b'\n').map_or(rest.len(), |end| end + 1);
        rest = &rest[end..];
    }
    // `#id,name` is a header all the same: it has as many cells as the lines below it.
    let delimiter = given.unwrap_or_else(|| sniff(rest));
    let (above, below) = (cells_a_row(head, delimiter), cells_a_row(rest, delimiter));
    match (above.first(), below.first()) {
        (Some(here), Some(there)) if comments > 0 && here != there => {
            let (lines, are, them) = if comments == 1 {
                ("first line".into(), "is", "it")
            } else {
                (format!("first {comments} lines"), "are", "them")
            };
            Err(Error::data(
                "comment-line",
                format!(
                    "the {lines} {are} not the header but look{} like a comment: {} with `#`, and \
                     the line below has another number of cells; delete {them}",
                    if comments == 1 { "s" } else { "" },
                    if comments == 1 { "it begins" } else { "they begin" },
                ),
            ))
        }
        _ => Ok(()),
    }
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

/// True when a name has the form of a number or a date, as a cell would have.
fn reads_like_cells(names: &[String]) -> bool {
    let is_number =
        |name: &str| name.parse::<f64>().is_ok() && name.contains(|c: char| c.is_ascii_digit());
    let is_date = |name: &str| {
        name.len() >= 8 && name.chars().all(|c| c.is_ascii_digit() || "-/.:T ".contains(c))
    };
    names.iter().map(|name| name.trim()).any(|name| is_number(name) || is_date(name))
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
                     a row, not like names: put a line with the names of the columns first"
                ),
            ));
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
}
