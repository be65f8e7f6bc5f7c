//! Files that are no CSV, recognised by their first bytes, so that the error names what they are
//! and the way out.

use std::path::Path;

use crate::error::{Error, Result};

/// The way out with a workbook or a file of a statistics program.
const EXPORT: &str =
    "export the table as CSV in UTF-8 from the program that made it, and name that file";
/// The way out with an archive or a compression that is not read here.
const UNPACK: &str = "unpack it first (gzip and zstd are read as they are)";
/// The way out with JSON.
const CONVERT: &str = "convert it to CSV or Parquet, for example with DuckDB or pandas";
/// The way out with a file that is no table.
const OTHER: &str =
    "name a table: CSV (also .gz, .zst, .zip), a workbook (.xlsx, .xls, .ods), Parquet or Arrow";

/// First bytes by which the kind of a file is known, the kind, and the way out.
const KINDS: [(&[u8], &str, &str); 30] = [
    (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        "an old Office file, such as an Excel workbook (.xls)",
        EXPORT,
    ),
    (b"%PDF", "a PDF document", OTHER),
    (b"\x89PNG", "a picture (PNG)", OTHER),
    (b"\xff\xd8\xff", "a picture (JPEG)", OTHER),
    (b"GIF8", "a picture (GIF)", OTHER),
    (b"{\\rtf", "a text document (RTF)", EXPORT),
    (b"\xfd7zXZ\0", "compressed with xz", UNPACK),
    (b"\x04\x22\x4d\x18", "compressed with lz4", UNPACK),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", UNPACK),
    (b"Rar!\x1a\x07", "a RAR archive", UNPACK),
    (b"$FL2@(#)", "an SPSS file (.sav)", EXPORT),
    (b"$FL3@(#)", "an SPSS file (.zsav)", EXPORT),
    (
        b"\0\0\0\0\0\0\0\0\0\0\0\0\xc2\xea\x81\x60\xb3\x14\x11\xcf",
        "a SAS table (.sas7bdat)",
        EXPORT,
    ),
    (b"HEADER RECORD*******", "a SAS transport file (.xpt)", EXPORT),
    (b"<stata_dta>", "a Stata file (.dta)", EXPORT),
    (b"\x71\x01\x01", "a Stata file (.dta)", EXPORT),
    (b"\x71\x02\x01", "a Stata file (.dta)", EXPORT),
    (b"\x72\x01\x01", "a Stata file (.dta)", EXPORT),
    (b"\x72\x02\x01", "a Stata file (.dta)", EXPORT),
    (b"\x73\x01\x01", "a Stata file (.dta)", EXPORT),
    (b"\x73\x02\x01", "a Stata file (.dta)", EXPORT),
    (b"RDX2\n", "an R workspace (.RData)", EXPORT),
    (b"RDX3\n", "an R workspace (.RData)", EXPORT),
    (b"X\n\0\0\0", "an R object (.rds)", EXPORT),
    (b"SQLite format 3\0", "an SQLite database", EXPORT),
    (b"\x89HDF", "an HDF5 file", EXPORT),
    (b"Obj\x01", "an Avro file", EXPORT),
    (b"ORC", "an ORC file", EXPORT),
    (b"FEA1", "a Feather file of version 1", EXPORT),
    (b"\x80\x04\x95", "a Python pickle", EXPORT),
];

/// Refuses a file that is no CSV by its first bytes; compressed files are unpacked before.
pub(crate) fn refuse(head: &[u8], place: &Path) -> Result<()> {
    let Some((what, way_out)) = kind(head) else { return Ok(()) };
    let name =
        if place == Path::new("-") { "the input".to_string() } else { place.display().to_string() };
    Err(Error::data("not-csv", format!("{name} is {what}, not CSV: {way_out}")).about_file(place))
}

fn kind(head: &[u8]) -> Option<(&'static str, &'static str)> {
    if head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06") {
        return Some(archive(head));
    }
    if head.get(257..262) == Some(b"ustar") {
        return Some(("a tar archive", UNPACK));
    }
    if head.starts_with(b"BZh") && head.get(4..10) == Some(b"1AY&SY") {
        return Some(("compressed with bzip2", UNPACK));
    }
    // Three letters could also begin the name of a column; a binary file has bytes that no text
    // has.
    let is_binary = || head.iter().take(512).any(|&byte| byte < 9);
    let known = KINDS
        .iter()
        .find(|(magic, ..)| head.starts_with(magic) && (magic.len() > 3 || is_binary()));
    known.map(|&(_, what, way_out)| (what, way_out)).or_else(|| marked_up(head))
}

/// Workbooks are zip archives too; the names of their parts stand near the beginning.
fn archive(head: &[u8]) -> (&'static str, &'static str) {
    let head = &head[..head.len().min(1 << 14)];
    let has = |name: &[u8]| head.windows(name.len()).any(|window| window == name);
    if has(b"opendocument.spreadsheet") {
        ("a spreadsheet (.ods)", EXPORT)
    } else if has(b"xl/") {
        ("an Excel workbook (.xlsx)", EXPORT)
    } else if has(b"word/") || has(b"opendocument.text") {
        ("a text document", EXPORT)
    } else if has(b"[Content_Types].xml") {
        ("an Office file, such as an Excel workbook (.xlsx)", EXPORT)
    } else {
        ("a zip archive", UNPACK)
    }
}

/// Text that is another form than CSV.
fn marked_up(head: &[u8]) -> Option<(&'static str, &'static str)> {
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    let begins = |with: &str| {
        text.get(..with.len()).is_some_and(|start| start.eq_ignore_ascii_case(with.as_bytes()))
    };
    // The first line of JSON ends in one of its signs; that of a table ends in a name.
    let line = text.split(|&byte| byte == b'\n').next().unwrap_or_default().trim_ascii_end();
    let is_json = line.last().is_some_and(|last| b"{}[],:".contains(last));
    let after =
        |sign: u8| text.strip_prefix(&[sign]).and_then(|rest| rest.trim_ascii_start().first());
    if begins("<!doctype html") || begins("<html") || begins("<table") {
        Some(("an HTML page (some programs export these with the ending .xls)", EXPORT))
    } else if begins("<?xml") {
        Some(("an XML file", EXPORT))
    } else if is_json && matches!(after(b'{'), Some(b'"' | b'}')) {
        Some(("JSON or JSON lines", CONVERT))
    } else if is_json && matches!(after(b'['), Some(b'{' | b'[' | b'"')) {
        Some(("JSON", CONVERT))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(head: &[u8]) -> Option<String> {
        refuse(head, Path::new("data.csv")).err().map(|error| error.to_string())
    }

    #[test]
    fn files_of_other_programs_are_called_what_they_are() {
        for (head, what) in [
            (&b"PK\x03\x04\x14\0\x06\0...xl/workbook.xml"[..], "an Excel workbook (.xlsx)"),
            (
                b"PK\x03\x04\x14\0\0\0mimetypeapplication/vnd.oasis.opendocument.spreadsheet",
                "a spreadsheet (.ods)",
            ),
            (b"PK\x03\x04\x14\0\0\0table.csv", "a zip archive"),
            (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0", "an old Office file"),
            (b"BZh91AY&SY", "compressed with bzip2"),
            (b"\x89PNG\r\n\x1a\n", "a picture (PNG)"),
            (b"%PDF-1.7\n", "a PDF document"),
            (b"$FL2@(#) IBM SPSS STATISTICS", "an SPSS file"),
            (b"\0\0\0\0\0\0\0\0\0\0\0\0\xc2\xea\x81\x60\xb3\x14\x11\xcf\xbd\x92", "a SAS table"),
            (b"ORC\x0a\x03\0\0", "an ORC file"),
            (b"{\"age\": 30}\n{\"age\": 31}\n", "JSON or JSON lines"),
            (b" [\n  {\"age\": 30}]", "JSON"),
            (b"<html><table>", "an HTML page"),
        ] {
            let said = said(head).unwrap();
            assert!(
                said.starts_with(&format!("data.csv is {what}")) && said.contains(": "),
                "{said}"
            );
        }
    }

    #[test]
    fn tables_are_not_taken_for_anything_else() {
        for head in [
            "ORC,b\n1,2\n",
            "BZ,a\n1,2\n",
            "{id},name\n1,2\n",
            "[[a,b\n1,2\n",
            "[x],y\n1,2\n",
            "GIF,a\n1,2\n",
            "a,b\n1,2\n",
            "",
            "\n\n",
        ] {
            assert_eq!(said(head.as_bytes()), None, "{head}");
        }
    }
}
