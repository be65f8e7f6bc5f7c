//! Rows as CSV text, quoted where they must be and only there.

use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch, StringArray};
use arrow_buffer::ArrowNativeType;
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{ArrowError, DataType, Schema};

use super::TextDialect;
use crate::table::read::csv::{eight, signs};

/// The names of the columns, as the first line of a file.
pub(crate) fn csv_header(schema: &Schema, dialect: TextDialect) -> Vec<u8> {
    let delimiter = dialect.delimiter;
    let mut text = Vec::new();
    let names = schema.fields().iter().map(|field| field.name().as_bytes());
    for (column, name) in names.enumerate() {
        if column > 0 {
            text.push(delimiter);
        }
        put(&mut text, name, delimiter);
    }
    end_row(&mut text, 0, dialect);
    text
}

/// The rows of a batch; a missing value is an empty cell.
///
/// # Errors
/// When a cell has no text form.
pub(crate) fn csv_text(batch: &RecordBatch, dialect: TextDialect) -> Result<Vec<u8>, ArrowError> {
    let delimiter = dialect.delimiter;
    let options = FormatOptions::default();
    let columns = batch
        .columns()
        .iter()
        .map(|array| match array.data_type() {
            DataType::Utf8 => Ok(CellWriter::Text(array.as_string())),
            _ => ArrayFormatter::try_new(array, &options).map(CellWriter::Other),
        })
        .collect::<Result<Vec<_>, _>>()?;
    let bytes = |cells: &CellWriter| match cells {
        CellWriter::Text(array) => array.value_offsets().last().map_or(0, |end| end.as_usize()),
        CellWriter::Other(_) => 8 * batch.num_rows(),
    };
    let mut text = Vec::with_capacity(
        columns.iter().map(bytes).sum::<usize>() + batch.num_rows() * (columns.len() + 1),
    );
    let mut cell = String::new();
    for row in 0..batch.num_rows() {
        let start = text.len();
        for (column, cells) in columns.iter().enumerate() {
            if column > 0 {
                text.push(delimiter);
            }
            match cells {
                CellWriter::Text(array) => put_text(&mut text, array, row, delimiter),
                CellWriter::Other(array) => {
                    cell.clear();
                    array.value(row).write(&mut cell)?;
                    put(&mut text, cell.as_bytes(), delimiter);
                }
            }
        }
        end_row(&mut text, start, dialect);
    }
    Ok(text)
}

/// The cells of a column.
enum CellWriter<'a> {
    Text(&'a StringArray),
    Other(ArrayFormatter<'a>),
}

/// Ends the row that started at `start`. One that has no bytes would be taken for a blank line.
fn end_row(text: &mut Vec<u8>, start: usize, dialect: TextDialect) {
    if text.len() == start {
        text.extend_from_slice(b"\"\"");
    }
    text.extend_from_slice(if dialect.is_crlf { b"\r\n" } else { b"\n" });
}

fn put_text(text: &mut Vec<u8>, array: &StringArray, row: usize, delimiter: u8) {
    // There may be bytes under a null.
    if array.is_null(row) {
        return;
    }
    let (data, offsets) = (array.value_data(), array.value_offsets());
    let (start, end) = (offsets[row].as_usize(), offsets[row + 1].as_usize());
    let length = end - start;
    if length >= 8 {
        put(text, &data[start..end], delimiter);
        return;
    }
    // Most cells are short: eight bytes are looked at and written, and what is too much is taken
    // back.
    let word = eight(data, start) & ((1 << (8 * length)) - 1);
    if signs(word, delimiter) != 0 {
        put(text, &data[start..end], delimiter);
        return;
    }
    let before = text.len();
    text.extend_from_slice(&word.to_le_bytes());
    text.truncate(before + length);
}

fn put(text: &mut Vec<u8>, cell: &[u8], delimiter: u8) {
    let is_plain =
        (0..cell.len()).step_by(8).all(|place| signs(eight(cell, place), delimiter) == 0);
    if is_plain {
        text.extend_from_slice(cell);
        return;
    }
    text.push(b'"');
    for part in cell.split_inclusive(|&byte| byte == b'"') {
        text.extend_from_slice(part);
        if part.ends_with(b"\"") {
            text.push(b'"');
        }
    }
    text.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Float64Array, Int64Array};

    #[test]
    fn the_text_is_that_of_the_csv_crate() {
        let odd = [
            "",
            "a",
            "a,b;c",
            "say \"no\"",
            "\"",
            "two\nlines",
            "\r",
            "tab\there",
            "ü|€",
            " x ",
            "seven77",
            "eight888",
            "nine99999",
            "sixteen bytes 16",
            "a longer text, with a comma",
            "a longer text\nand \"more\" of it",
            "\u{10ffff}",
            "#",
            "'",
        ];
        let mut state = 7_u64;
        let mut random = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            usize::try_from(state >> 33).unwrap() % below
        };
        for columns in 1..5 {
            for delimiter in [b',', b';', b'\t', b'|'] {
                let rows = 200;
                let texts: Vec<Vec<Option<&str>>> = (0..columns)
                    .map(|_| {
                        (0..rows).map(|_| (random(5) > 0).then(|| odd[random(odd.len())])).collect()
                    })
                    .collect();
                let mut expected =
                    csv::WriterBuilder::new().delimiter(delimiter).from_writer(Vec::new());
                for row in 0..rows {
                    expected
                        .write_record(texts.iter().map(|cells| cells[row].unwrap_or_default()))
                        .unwrap();
                }
                let arrays = texts.into_iter().enumerate().map(|(column, cells)| {
                    (format!("c{column}"), Arc::new(StringArray::from(cells)) as ArrayRef)
                });
                let batch = RecordBatch::try_from_iter(arrays).unwrap();
                let text = csv_text(&batch, TextDialect::plain(delimiter)).unwrap();
                assert!(text == expected.into_inner().unwrap(), "{columns} {delimiter}");
            }
        }
    }

    #[test]
    fn numbers_are_written_as_their_text_and_names_are_quoted() {
        let columns: [(&str, ArrayRef); 3] = [
            ("a \"b\"", Arc::new(Int64Array::from(vec![Some(-7), None]))),
            ("x,y", Arc::new(Float64Array::from(vec![Some(0.5), Some(1e300)]))),
            ("plain", Arc::new(StringArray::from(vec![Some("t"), None]))),
        ];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        assert_eq!(
            csv_header(&batch.schema(), TextDialect::plain(b',')),
            b"\"a \"\"b\"\"\",\"x,y\",plain\n"
        );
        assert_eq!(csv_text(&batch, TextDialect::plain(b',')).unwrap(), b"-7,0.5,t\n,1e300,\n");
        assert_eq!(csv_header(&Schema::empty(), TextDialect::plain(b',')), b"\"\"\n");
    }
}
