//! Workbooks (.xlsx, .xlsb, .xls, .ods), and zip archives with one file.
//!
//! A sheet becomes a table of texts, as it would be in CSV: dates and times in ISO form, whole numbers
//! without a point. The sheet is in memory as a whole; so are the bytes of the file.

use std::io::{Cursor, Read};
use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::{ArrayRef, RecordBatch, RecordBatchIterator};
use arrow_schema::{DataType, Field, Schema};
use calamine::{Data, ExcelDateTime, Range, Reader, Sheets, open_workbook_auto_from_rs};

use crate::error::{Error, Hint, Result, Warning};

use super::bytes::{ByteSource, guarded};
use super::csv_header::{check_names, named, skipped_title};
use super::{Decoder, ReadOptions, Source, open_bytes};
use crate::table::headless::reads_like_cells;

/// The first bytes of a zip archive.
pub(super) const ZIP: &[u8] = b"PK\x03\x04";
/// The first bytes of an old Office file.
pub(super) const OLE: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";

/// The table in a workbook, or in the one file of an archive.
pub(super) fn open(
    mut source: ByteSource,
    magic: &[u8],
    path: &Path,
    options: &ReadOptions,
) -> Result<Source> {
    let mut bytes = magic.to_vec();
    source.read_to_end(&mut bytes).map_err(|source| Error::io(path, source))?;
    if bytes.starts_with(ZIP)
        && let Some(file) = only_file(&bytes, path)?
    {
        return open_bytes(ByteSource::Reader(Box::new(Cursor::new(file))), path, options);
    }
    let workbook: Sheets<Cursor<Vec<u8>>> =
        guarded(path, "workbook", || open_workbook_auto_from_rs(Cursor::new(bytes)))?;
    sheet(workbook, path, options)
}

/// The file of an archive that is no workbook.
fn only_file(bytes: &[u8], path: &Path) -> Result<Option<Vec<u8>>> {
    let mut archive = guarded(path, "zip", || zip::ZipArchive::new(Cursor::new(bytes)))?;
    let mut files: Vec<String> =
        archive.file_names().filter_map(|name| Some(name.ok()?.into_owned())).collect();
    let is_part =
        |name: &str| matches!(name, "[Content_Types].xml" | "mimetype") || name.starts_with("xl/");
    if files.iter().any(|name| is_part(name)) {
        return Ok(None);
    }
    files.retain(|name| !name.ends_with('/') && !name.starts_with("__MACOSX/"));
    let [name] = &files[..] else {
        let why = format!(
            "{} is a zip archive with {} files: unpack it, and name the one that is the table",
            path.display(),
            files.len()
        );
        return Err(Error::data("several-files", why).about_file(path));
    };
    let unpacked = guarded(path, "zip", || {
        let mut content = Vec::new();
        let mut file = archive.by_name(name).map_err(|error| error.to_string())?;
        file.read_to_end(&mut content).map_err(|error| error.to_string())?;
        Ok::<_, String>(content)
    })?;
    Ok(Some(unpacked))
}

/// The table of a sheet: the one that was named, or else the first that looks like a table, or else the
/// first that has cells. A cover sheet is none.
fn sheet(
    mut workbook: Sheets<Cursor<Vec<u8>>>,
    path: &Path,
    options: &ReadOptions,
) -> Result<Source> {
    let names = workbook.sheet_names();
    let mut read = |name: &str| guarded(path, "workbook", || workbook.worksheet_range(name));
    let mut notes = Vec::new();
    let cells = if let Some(name) = &options.sheet {
        if !names.contains(name) {
            let why =
                format!("there is no sheet `{name}`; the sheets are `{}`", names.join("`, `"));
            return Err(Error::request("unknown-sheet", why).hint(Hint::SetSheet));
        }
        read(name)?
    } else {
        let mut filled = Vec::new();
        for name in &names {
            let cells = read(name)?;
            if !cells.is_empty() {
                filled.push((name, cells));
            }
        }
        let first = filled.iter().position(|(_, cells)| is_table(cells, options));
        if filled.len() > 1 {
            let others = match filled.len() - 1 {
                1 => "another one has".to_owned(),
                others => format!("{others} others have"),
            };
            let name = filled[first.unwrap_or(0)].0;
            let why = match first {
                Some(1..) => format!(
                    "sheet `{name}` is read, the first with a table (a header of several names, and \
                     rows); {others} cells too"
                ),
                _ => format!("sheet `{name}` is read, and {others} cells too"),
            };
            notes.push(Warning::new("first-sheet", why).hint(Hint::SetSheet));
        }
        let has_rows = filled.iter().any(|(_, cells)| cells.height() > 1);
        if filled.len() > 1 && !has_rows {
            let why = format!(
                "no sheet has a table with a header and rows; the sheets are `{}`",
                names.join("`, `")
            );
            return Err(Error::data("no-rows", why));
        }
        match filled.into_iter().nth(first.unwrap_or(0)) {
            Some((_, cells)) => cells,
            None => return Err(Error::data("no-rows", "the workbook has no cells")),
        }
    };
    let (names, rows, numbers) = table(&cells, options, &mut notes)?;
    let has_names = !options.names.is_empty() || options.header;
    let is_doubtful = !has_names && reads_like_cells(&names);
    let batch = batch(&names, &rows);
    let schema = batch.schema();
    let decoder = Decoder::Batches(Box::new(RecordBatchIterator::new([Ok(batch)], schema)));
    let of_sheet = Some(numbers);
    Source::new(decoder, notes).map(|source| Source { is_doubtful, has_names, of_sheet, ..source })
}

/// True for several different names above at least one row that fills most of their columns.
fn is_table(cells: &Range<Data>, options: &ReadOptions) -> bool {
    let Ok((names, rows, _)) = table(cells, options, &mut Vec::new()) else { return false };
    let is_filled = |row: &Vec<Option<String>>| row.iter().flatten().count() * 2 > names.len();
    names.len() > 1 && check_names(&names, false).is_ok() && rows.iter().any(is_filled)
}

/// The names of the columns, the rows as texts, and the names of the columns with fractions. Rows and
/// columns without any cell are passed over.
#[allow(clippy::type_complexity, reason = "rows of cells")]
fn table(
    cells: &Range<Data>,
    options: &ReadOptions,
    notes: &mut Vec<Warning>,
) -> Result<(Vec<String>, Vec<Vec<Option<String>>>, Vec<String>)> {
    let mut rows: Vec<Vec<Option<String>>> =
        cells.rows().map(|row| row.iter().map(text).collect()).collect();
    rows.retain(|row| row.iter().any(Option::is_some));
    let width = rows.first().map_or(0, Vec::len);
    let used: Vec<usize> =
        (0..width).filter(|&at| rows.iter().any(|row| row[at].is_some())).collect();
    for row in &mut rows {
        *row = used.iter().map(|&at| row[at].take()).collect();
    }
    // A title above the header: one cell, where the next row has several.
    let filled = |row: &Vec<Option<String>>| row.iter().flatten().count();
    let title = rows.iter().take_while(|row| filled(row) == 1).count();
    let is_header = |row: &Vec<Option<String>>| {
        filled(row) > 1 && !reads_like_cells(&row.iter().flatten().cloned().collect::<Vec<_>>())
    };
    if options.names.is_empty() && title > 0 && rows.get(title).is_some_and(is_header) {
        rows.drain(..title);
        notes.push(skipped_title());
    }
    // A number of the workbook with a fraction is plain, whatever the texts beside it are.
    let is_fraction = |cell: &&Data| matches!(cell, Data::Float(number) if number.fract() != 0.0);
    let has_fraction =
        |at: usize| cells.rows().filter_map(|row| row.get(at)).any(|c| is_fraction(&c));
    let names = if !options.names.is_empty() {
        named(&options.names, used.len())?
    } else if rows.is_empty() {
        return Err(Error::data("no-rows", "the sheet is empty: a table needs a header and rows"));
    } else {
        rows.remove(0).into_iter().map(Option::unwrap_or_default).collect()
    };
    let numbers = names.iter().zip(used).filter(|(_, at)| has_fraction(*at));
    let numbers = numbers.map(|(name, _)| name.clone()).collect();
    Ok((names, rows, numbers))
}

fn batch(names: &[String], rows: &[Vec<Option<String>>]) -> RecordBatch {
    let columns = (0..names.len()).map(|at| {
        let mut column = StringBuilder::new();
        rows.iter().for_each(|row| column.append_option(row[at].as_deref()));
        Arc::new(column.finish()) as ArrayRef
    });
    let fields: Vec<Field> =
        names.iter().map(|name| Field::new(name, DataType::Utf8, true)).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns.collect())
        .expect("columns of one length, with their types")
}

/// The text of a cell; none for an empty one.
fn text(cell: &Data) -> Option<String> {
    let text = match cell {
        Data::Empty => return None,
        Data::String(text) | Data::DateTimeIso(text) | Data::DurationIso(text) => text.clone(),
        Data::Int(number) => number.to_string(),
        Data::Float(number) => number.to_string(),
        Data::Bool(value) => value.to_string(),
        Data::DateTime(moment) if moment.is_datetime() => date(moment),
        Data::DateTime(duration) => duration.as_f64().to_string(),
        Data::Error(error) => error.to_string(),
    };
    (!text.is_empty()).then_some(text)
}

/// A date of a workbook, with its time of day if that is not midnight; a day less than one is a time
/// alone.
fn date(moment: &ExcelDateTime) -> String {
    let (year, month, day, hour, minute, second, milli) = moment.to_ymd_hms_milli();
    let time = match (hour, minute, second, milli) {
        (0, 0, 0, 0) => String::new(),
        (.., 0) => format!("{hour:02}:{minute:02}:{second:02}"),
        _ => format!("{hour:02}:{minute:02}:{second:02}.{milli:03}"),
    };
    match (moment.as_f64() < 1.0, time.is_empty()) {
        (true, false) => time,
        (_, true) => format!("{year:04}-{month:02}-{day:02}"),
        (false, false) => format!("{year:04}-{month:02}-{day:02}T{time}"),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use zip::write::{SimpleFileOptions, ZipWriter};

    use super::*;
    use crate::table::{Table, Treatment, open_reader};

    fn zipped(files: &[(&str, &str)]) -> Vec<u8> {
        let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, content) in files {
            archive.start_file(*name, SimpleFileOptions::default()).unwrap();
            archive.write_all(content.as_bytes()).unwrap();
        }
        archive.finish().unwrap().into_inner()
    }

    /// A workbook as small as one can be; style 1 is a date.
    fn workbook(sheets: &[(&str, &str)]) -> Vec<u8> {
        let space = "http://schemas.openxmlformats.org";
        let main = format!("{space}/spreadsheetml/2006/main");
        let of = format!("{space}/officeDocument/2006/relationships");
        let numbered = || (1..).zip(sheets);
        let listed: String = numbered()
            .map(|(n, (name, _))| format!(r#"<sheet name="{name}" sheetId="{n}" r:id="rId{n}"/>"#))
            .collect();
        let links: String = numbered()
            .map(|(n, _)| {
                let part = format!("worksheets/sheet{n}.xml");
                format!(r#"<Relationship Id="rId{n}" Type="{of}/worksheet" Target="{part}"/>"#)
            })
            .collect();
        let package = format!("{space}/package/2006");
        let mut files = vec![
            (
                "[Content_Types].xml".to_owned(),
                format!(r#"<Types xmlns="{package}/content-types"></Types>"#),
            ),
            (
                "_rels/.rels".to_owned(),
                format!(
                    r#"<Relationships xmlns="{package}/relationships"><Relationship Id="rId1" Type="{of}/officeDocument" Target="xl/workbook.xml"/></Relationships>"#
                ),
            ),
            (
                "xl/workbook.xml".to_owned(),
                format!(
                    r#"<workbook xmlns="{main}" xmlns:r="{of}"><sheets>{listed}</sheets></workbook>"#
                ),
            ),
            (
                "xl/_rels/workbook.xml.rels".to_owned(),
                format!(
                    r#"<Relationships xmlns="{package}/relationships">{links}<Relationship Id="rId99" Type="{of}/styles" Target="styles.xml"/></Relationships>"#
                ),
            ),
            (
                "xl/styles.xml".to_owned(),
                format!(
                    r#"<styleSheet xmlns="{main}"><cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="14" applyNumberFormat="1"/></cellXfs></styleSheet>"#
                ),
            ),
        ];
        for (n, (_, rows)) in numbered() {
            files.push((
                format!("xl/worksheets/sheet{n}.xml"),
                format!(r#"<worksheet xmlns="{main}"><sheetData>{rows}</sheetData></worksheet>"#),
            ));
        }
        let files: Vec<(&str, &str)> =
            files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        zipped(&files)
    }

    fn word(place: &str, text: &str) -> String {
        format!(r#"<c r="{place}" t="inlineStr"><is><t>{text}</t></is></c>"#)
    }

    fn opened(bytes: Vec<u8>, options: ReadOptions) -> Result<Source> {
        open_reader(Cursor::new(bytes), Path::new("book.xlsx"), options)
    }

    fn read(source: Source) -> Table {
        let all = vec![Treatment::Code; source.names().len()];
        source.read(&all).unwrap()
    }

    fn cells(table: &Table, name: &str) -> Vec<String> {
        let coded = table.coded(name);
        let value = |code: u32| coded.values()[code as usize].clone().unwrap_or_default();
        coded.codes().iter().map(value).collect()
    }

    fn people() -> String {
        let header = [word("A1", "Größe"), word("B1", "Geburt"), word("C1", "Ort")].concat();
        let first = r#"<c r="A2"><v>1.75</v></c><c r="B2" s="1"><v>41999</v></c>"#.to_owned();
        let second = r#"<c r="A4"><v>180</v></c><c r="B4" s="1"><v>41999.5</v></c>"#.to_owned();
        format!(
            r#"<row r="1">{header}</row><row r="2">{first}{}</row><row r="4">{second}</row>"#,
            word("C2", "Köln")
        )
    }

    #[test]
    fn a_sheet_is_a_table_of_texts() {
        let source = opened(workbook(&[("Blatt", &people())]), ReadOptions::default()).unwrap();
        assert_eq!(source.names(), ["Größe", "Geburt", "Ort"]);
        assert_eq!((source.notes(), source.is_headless()), (&[][..], false));
        let table = read(source);
        assert_eq!(cells(&table, "Größe"), ["1.75", "180"]);
        assert_eq!(cells(&table, "Geburt"), ["2014-12-26", "2014-12-26T12:00:00"]);
        assert_eq!(cells(&table, "Ort"), ["Köln", ""]);
    }

    #[test]
    fn a_cover_sheet_is_passed_over() {
        let cover = format!(
            r#"<row r="1">{}</row><row r="3">{}</row>"#,
            word("A1", "Visits"),
            word("A3", "made in May")
        );
        let book = workbook(&[("Cover", &cover), ("Visits", &people())]);
        let source = opened(book, ReadOptions::default()).unwrap();
        assert_eq!(source.names(), ["Größe", "Geburt", "Ort"]);
        let said = source.notes()[0].to_string();
        assert!(said.contains("sheet `Visits` is read, the first with a table"), "{said}");
        let line = format!(r#"<row r="1">{}</row>"#, word("A1", "Visits"));
        let error = opened(workbook(&[("A", &line), ("B", &line)]), ReadOptions::default());
        let error = error.unwrap_err();
        assert!(error.to_string().contains("the sheets are `A`, `B`"), "{error}");
    }

    #[test]
    fn a_title_above_the_header_of_a_sheet_is_passed_over() {
        let row = |texts: &[&str]| {
            let cell = |text: &&str| format!("<c t=\"inlineStr\"><is><t>{text}</t></is></c>");
            format!("<row>{}</row>", texts.iter().map(cell).collect::<String>())
        };
        let rows =
            [&["Patients of 2024"][..], &[], &["Alter", "Ort", "PLZ"], &["34", "Halle", "06108"]];
        let rows: String = rows.iter().map(|texts| row(texts)).collect();
        let book = workbook(&[("Blatt", &rows)]);
        let source = opened(book, ReadOptions::default()).unwrap();
        assert_eq!((source.names().len(), source.notes()[0].code()), (3, "title-lines"));
    }

    #[test]
    fn a_sheet_is_chosen_by_its_name_or_is_the_first_with_cells() {
        let other =
            format!(r#"<row r="1">{}</row><row r="2">{}</row>"#, word("A1", "x"), word("A2", "y"));
        let book = || workbook(&[("leer", ""), ("a", &people()), ("b", &other)]);
        let first = opened(book(), ReadOptions::default()).unwrap();
        assert_eq!((first.names().len(), first.notes()[0].code()), (3, "first-sheet"));
        let by_name = |name: &str| ReadOptions { sheet: Some(name.into()), ..Default::default() };
        let second = opened(book(), by_name("b")).unwrap();
        assert_eq!((second.names(), second.notes()), (&["x".to_owned()][..], &[][..]));
        assert_eq!(opened(book(), by_name("c")).unwrap_err().code(), "unknown-sheet");
        let names =
            ReadOptions { sheet: Some("b".into()), names: vec!["v".into()], ..Default::default() };
        assert_eq!(cells(&read(opened(book(), names).unwrap()), "v"), ["x", "y"]);
    }

    #[test]
    fn an_archive_with_one_file_is_that_file() {
        let one = zipped(&[("data/", ""), ("data/t.csv", "a;b\n1;2\n"), ("__MACOSX/x", "?")]);
        assert_eq!(opened(one, ReadOptions::default()).unwrap().names(), ["a", "b"]);
        let two = zipped(&[("a.csv", "a\n1\n"), ("b.csv", "b\n1\n")]);
        assert_eq!(opened(two, ReadOptions::default()).unwrap_err().code(), "several-files");
        let mut cut = zipped(&[("a.csv", "a\n1\n")]);
        cut.truncate(20);
        assert_eq!(opened(cut, ReadOptions::default()).unwrap_err().code(), "damaged-file");
        assert_eq!(
            opened(OLE.to_vec(), ReadOptions::default()).unwrap_err().code(),
            "damaged-file"
        );
    }
}
