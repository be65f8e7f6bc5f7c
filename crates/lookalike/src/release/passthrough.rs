//! The cells that are published unchanged: their places, their sizes in bytes, and the same cells
//! in a form that compares.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_row::{Row, RowConverter, Rows, SortField};
use arrow_schema::DataType;
use arrow_select::interleave::interleave;

use super::{BATCH, BYTES, Release, ReleasedColumn, gathering};
use crate::codes::RowId;
use crate::error::Result;

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

impl Release {
    /// The chunks of every passed-through column.
    pub(super) fn passthrough(&self) -> impl Iterator<Item = &[ArrayRef]> {
        self.columns.iter().filter_map(|column| match column {
            ReleasedColumn::Passthrough { chunks, .. } => Some(&chunks[..]),
            ReleasedColumn::Quasi { .. } => None,
        })
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
        self.passthrough().map(|chunks| bytes_of(&chunks[chunk], at)).sum()
    }

    /// The passed-through cells of some rows; none when no column is passed through.
    pub(super) fn comparable(&self, rows: &[RowId]) -> Result<Option<Comparable>> {
        let sorts: Vec<SortField> = self.columns.iter().filter_map(sort_field).collect();
        if sorts.is_empty() {
            return Ok(None);
        }
        let converter = RowConverter::new(sorts).map_err(gathering)?;
        let is_narrow = rows.len().saturating_mul(self.widest) <= BYTES;
        let cuts =
            if is_narrow { std::iter::once(0..rows.len()).collect() } else { self.parts(rows) };
        let (mut parts, starts) =
            (Vec::with_capacity(cuts.len()), cuts.iter().map(|part| part.start).collect());
        for part in cuts {
            let places: Vec<(usize, usize)> =
                rows[part].iter().map(|&row| self.place(row)).collect();
            let gather = |chunks: &[ArrayRef]| {
                let chunks: Vec<&dyn Array> = chunks.iter().map(AsRef::as_ref).collect();
                interleave(&chunks, &places)
            };
            let arrays = self
                .passthrough()
                .map(gather)
                .collect::<std::result::Result<Vec<_>, _>>()
                .map_err(gathering)?;
            parts.push(converter.convert_columns(&arrays).map_err(gathering)?);
        }
        Ok(Some(Comparable { converter, parts, starts }))
    }
}

fn sort_field(column: &ReleasedColumn) -> Option<SortField> {
    match column {
        ReleasedColumn::Passthrough { convert, .. } => Some(convert.clone()),
        ReleasedColumn::Quasi { .. } => None,
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
