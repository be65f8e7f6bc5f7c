//! The cells that are published unchanged: their places, their sizes in bytes, and the same cells
//! in a form that compares.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, LargeStringArray, StringArray, StringViewArray};
use arrow_row::{Row, RowConverter, Rows, SortField};
use arrow_schema::DataType;
use arrow_select::interleave::interleave;

use super::{BATCH, BYTES, gathering};
use crate::codes::RowId;
use crate::error::Result;
use crate::request::Roles;
use crate::table::{Column, Table};

/// The passed-through cells of some rows in Arrow's row format, which compares and has no bytes
/// under nulls; in parts of limited size.
pub(super) struct Comparable {
    pub(super) converter: RowConverter,
    parts: Vec<Rows>,
    /// For each part the number of its first row.
    starts: Vec<usize>,
}

impl Comparable {
    pub(super) fn row(&self, at: usize) -> Row<'_> {
        if let [all] = &self.parts[..] {
            return all.row(at);
        }
        let part = self.starts.partition_point(|&start| start <= at) - 1;
        self.parts[part].row(at - self.starts[part])
    }
}

/// The passed-through columns of a table.
#[derive(Debug)]
pub(super) struct PassedThrough {
    /// For each column its cells, chunk by chunk.
    columns: Vec<Vec<ArrayRef>>,
    /// For each column how its cells are compared.
    sorts: Vec<SortField>,
    /// The first row of each chunk.
    starts: Vec<usize>,
    /// The most bytes that the cells of one row have, about.
    widest: usize,
}

impl PassedThrough {
    pub(super) fn new(table: &Table, roles: &Roles) -> PassedThrough {
        let (mut columns, mut sorts): (Vec<Vec<ArrayRef>>, Vec<SortField>) = Default::default();
        for column in table.columns() {
            if let Some(chunks) = passed_through(column, roles) {
                columns.push(chunks.to_vec());
                sorts.push(SortField::new(column.data_type.clone()));
            }
        }
        let starts = columns.last().map_or(vec![0], |chunks| {
            chunks
                .iter()
                .scan(0, |end, chunk| Some(std::mem::replace(end, *end + chunk.len())))
                .collect()
        });
        let widest = columns.iter().map(|chunks| chunks.iter().map(widest).max().unwrap_or(0));
        let widest = widest.sum();
        PassedThrough { columns, sorts, starts, widest }
    }

    /// The same for a text file, in which an empty text is a missing cell.
    pub(super) fn in_text(mut self) -> PassedThrough {
        let chunks = self.columns.iter_mut().flatten();
        chunks.for_each(|chunk| *chunk = without_empty(chunk));
        self
    }

    /// The place of a source row: its chunk, and its number there.
    fn place(&self, row: RowId) -> (usize, usize) {
        let chunk = self.starts.partition_point(|&start| start <= row as usize) - 1;
        (chunk, row as usize - self.starts[chunk])
    }

    /// The bytes of a source row's passed-through cells, about; 0 where even the widest rows are
    /// narrow enough for any batch.
    pub(super) fn bytes(&self, row: RowId) -> usize {
        if self.widest.saturating_mul(2 * BATCH) <= BYTES {
            return 0;
        }
        let (chunk, at) = self.place(row);
        self.columns.iter().map(|chunks| bytes_of(&chunks[chunk], at)).sum()
    }

    /// Cuts rows into parts that are small enough to be gathered at once.
    pub(super) fn parts(&self, rows: &[RowId]) -> Vec<Range<usize>> {
        let (mut parts, mut start, mut sum) = (Vec::new(), 0, 0);
        for (at, &row) in rows.iter().enumerate() {
            let own = self.bytes(row);
            if at > start && (at - start >= BATCH || sum + own > BYTES) {
                parts.push(start..at);
                (start, sum) = (at, 0);
            }
            sum += own;
        }
        parts.push(start..rows.len());
        parts
    }

    /// The passed-through cells of some rows; none when no column is passed through.
    pub(super) fn comparable(&self, rows: &[RowId]) -> Result<Option<Comparable>> {
        if self.sorts.is_empty() {
            return Ok(None);
        }
        let converter = RowConverter::new(self.sorts.clone()).map_err(gathering)?;
        let is_narrow = rows.len().saturating_mul(self.widest) <= BYTES;
        let cuts =
            if is_narrow { std::iter::once(0..rows.len()).collect() } else { self.parts(rows) };
        let (mut parts, starts) =
            (Vec::with_capacity(cuts.len()), cuts.iter().map(|part| part.start).collect());
        for part in cuts {
            let places: Vec<(usize, usize)> =
                rows[part].iter().map(|&row| self.place(row)).collect();
            let gather = |chunks: &Vec<ArrayRef>| {
                let chunks: Vec<&dyn Array> = chunks.iter().map(AsRef::as_ref).collect();
                interleave(&chunks, &places)
            };
            let arrays = self
                .columns
                .iter()
                .map(gather)
                .collect::<std::result::Result<Vec<_>, _>>()
                .map_err(gathering)?;
            parts.push(converter.convert_columns(&arrays).map_err(gathering)?);
        }
        Ok(Some(Comparable { converter, parts, starts }))
    }
}

/// The cells of a column that is published unchanged.
pub(super) fn passed_through<'t>(column: &'t Column, roles: &Roles) -> Option<&'t [ArrayRef]> {
    let is_other = [&roles.quasi, &roles.dropped].into_iter().flatten().chain(&roles.count);
    if is_other.into_iter().any(|name| *name == column.name) {
        return None;
    }
    column.passthrough.as_deref()
}

/// The cells with empty texts as missing ones.
pub(super) fn without_empty(cells: &ArrayRef) -> ArrayRef {
    let present = |text: Option<&str>| text.filter(|text| !text.is_empty()).map(String::from);
    match cells.data_type() {
        DataType::Utf8 => {
            let texts = cells.as_string::<i32>().iter().map(present);
            Arc::new(texts.collect::<StringArray>())
        }
        DataType::LargeUtf8 => {
            let texts = cells.as_string::<i64>().iter().map(present);
            Arc::new(texts.collect::<LargeStringArray>())
        }
        DataType::Utf8View => {
            let texts = cells.as_string_view().iter().map(present);
            Arc::new(texts.collect::<StringViewArray>())
        }
        _ => cells.clone(),
    }
}

/// The bytes of a cell, about.
fn bytes_of(array: &ArrayRef, at: usize) -> usize {
    match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().value(at).len(),
        DataType::LargeUtf8 => array.as_string::<i64>().value(at).len(),
        DataType::Binary => array.as_binary::<i32>().value(at).len(),
        DataType::LargeBinary => array.as_binary::<i64>().value(at).len(),
        data_type => data_type
            .primitive_width()
            .unwrap_or_else(|| array.get_buffer_memory_size() / array.len().max(1)),
    }
}

/// The bytes of the widest cell, about.
pub(super) fn widest(array: &ArrayRef) -> usize {
    let longest = |lengths: &mut dyn Iterator<Item = usize>| lengths.max().unwrap_or(0);
    match array.data_type() {
        DataType::Utf8 => longest(&mut array.as_string::<i32>().offsets().lengths()),
        DataType::LargeUtf8 => longest(&mut array.as_string::<i64>().offsets().lengths()),
        DataType::Binary => longest(&mut array.as_binary::<i32>().offsets().lengths()),
        DataType::LargeBinary => longest(&mut array.as_binary::<i64>().offsets().lengths()),
        _ => bytes_of(array, 0),
    }
}
