//! A plan: for every row of a table of distinct tuples with counts, what is published for how many
//! of its rows. Whoever has the rows themselves makes the release from it by a join.
//!
//! One row a piece: the original cells, the published ones, and which of the tuple's rows by
//! number. A plan is as secret as the table.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef, BooleanArray, Int64Array, RecordBatch};
use arrow_row::{OwnedRow, RowConverter, SortField};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use arrow_select::interleave::interleave;

use rustc_hash::FxHashSet;

use super::deal::{Dealt, deal};
use super::passthrough::without_empty;
use super::published::{PublishedColumn, published_columns};
use super::{BATCH, gathering};
use crate::codes::RowId;
use crate::error::{Error, Place, Result};
use crate::problem::Problem;
use crate::problem::recoding::Recoding;
use crate::request::{Request, Roles};
use crate::rng::Key;
use crate::table::{Column, Table};

/// The names of published columns begin with it.
const PUBLISHED: &str = "published_";
/// The number of the first row of a piece among the rows of its tuple, from 1.
const FIRST: &str = "first_row";
/// The number of its last row.
const LAST: &str = "last_row";
/// True where the rows of a piece are not released.
const SUPPRESSED: &str = "suppressed";

/// A plan that is ready to be written, batch by batch.
#[derive(Debug)]
pub struct TuplePlan {
    schema: SchemaRef,
    /// The cells of the original columns, chunk by chunk.
    originals: Vec<Vec<ArrayRef>>,
    /// The first row of each chunk.
    starts: Vec<usize>,
    published: Vec<PublishedColumn>,
    /// In the order of the table.
    pieces: Vec<PlannedPiece>,
}

/// Some rows of a tuple.
#[derive(Clone, Copy, Debug)]
struct PlannedPiece {
    row: RowId,
    class: Option<u32>,
    first: i64,
    last: i64,
}

impl TuplePlan {
    /// The plan of a recoding. The table has its quasi-identifiers coded and passed through, and a
    /// count column. Where only some rows of a tuple go to a class, the key decides how many of
    /// each row of the table.
    ///
    /// # Errors
    /// When cells cannot be gathered.
    pub fn new(
        problem: &Problem,
        recoding: &Recoding,
        table: &Table,
        roles: &Roles,
        request: &Request,
        key: Key,
    ) -> Result<TuplePlan> {
        let columns: Vec<_> = originals(table, roles).collect();
        let mut published = Vec::new();
        for at in 0..problem.attributes().len() {
            published.extend(published_columns(problem, recoding, at, request)?);
        }
        let original = |name: &str, data_type: &DataType| Field::new(name, data_type.clone(), true);
        let mut fields: Vec<Field> =
            columns.iter().map(|(column, _)| original(&column.name, &column.data_type)).collect();
        let prefixed = |column: &PublishedColumn| {
            let name = format!("{PUBLISHED}{}", column.field.name());
            Field::new(name, column.cells.data_type().clone(), true)
        };
        fields.extend(published.iter().map(prefixed));
        fields.extend([FIRST, LAST].map(|name| Field::new(name, DataType::Int64, false)));
        fields.push(Field::new(SUPPRESSED, DataType::Boolean, false));
        let originals: Vec<Vec<ArrayRef>> =
            columns.iter().map(|(_, chunks)| (*chunks).clone()).collect();
        let chunks = originals.first().map_or(&[][..], Vec::as_slice).iter();
        let starts =
            chunks.scan(0, |end, chunk| Some(std::mem::replace(end, *end + chunk.len()))).collect();
        let pieces = numbered(&deal(problem, recoding, table, roles, key)?);
        Ok(TuplePlan {
            schema: Arc::new(Schema::new(fields)),
            originals,
            starts,
            published,
            pieces,
        })
    }

    /// Names and types of its columns.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The number of pieces.
    pub fn rows(&self) -> usize {
        self.pieces.len()
    }

    /// The number of batches: [`batch`](TuplePlan::batch) takes numbers below it.
    pub fn batches(&self) -> usize {
        self.pieces.len().div_ceil(BATCH)
    }

    /// One batch of the plan, by its number, counted from 0.
    ///
    /// # Errors
    /// When cells cannot be gathered.
    pub fn batch(&self, index: usize) -> Result<RecordBatch> {
        let start = index * BATCH;
        let pieces = &self.pieces[start..(start + BATCH).min(self.pieces.len())];
        let place = |piece: &PlannedPiece| {
            let row = piece.row as usize;
            let chunk = self.starts.partition_point(|&start| start <= row) - 1;
            (chunk, row - self.starts[chunk])
        };
        let places: Vec<(usize, usize)> = pieces.iter().map(place).collect();
        let mut arrays = Vec::with_capacity(self.schema.fields().len());
        for chunks in &self.originals {
            let chunks: Vec<&dyn Array> = chunks.iter().map(AsRef::as_ref).collect();
            arrays.push(interleave(&chunks, &places).map_err(gathering)?);
        }
        for column in &self.published {
            arrays.push(column.of_classes(pieces.iter().map(|piece| piece.class))?);
        }
        let numbers = |number: fn(&PlannedPiece) -> i64| -> ArrayRef {
            Arc::new(pieces.iter().map(number).collect::<Int64Array>())
        };
        arrays.push(numbers(|piece| piece.first));
        arrays.push(numbers(|piece| piece.last));
        let suppressed: BooleanArray =
            pieces.iter().map(|piece| Some(piece.class.is_none())).collect();
        arrays.push(Arc::new(suppressed));
        RecordBatch::try_new(Arc::clone(&self.schema), arrays).map_err(gathering)
    }
}

/// Refuses a table in which two rows are the same tuple, for a join would find both, or in which a
/// column has a name that a plan needs.
///
/// # Errors
/// [`Data`](crate::ErrorKind::Data) with the second of the rows,
/// [`Request`](crate::ErrorKind::Request) with the column.
pub fn check_tuples(table: &Table, roles: &Roles) -> Result<()> {
    let columns: Vec<_> = originals(table, roles).collect();
    let is_own =
        |name: &str| [FIRST, LAST, SUPPRESSED].contains(&name) || name.starts_with(PUBLISHED);
    if let Some((taken, _)) = columns.iter().find(|(column, _)| is_own(&column.name)) {
        let name = &taken.name;
        let reason =
            format!("a plan needs the name `{name}`, which a column of the table has: rename it");
        return Err(Error::request("name-taken", reason).about_column(name));
    }
    let types =
        columns.iter().map(|(column, _)| SortField::new(column.data_type.clone())).collect();
    let converter = RowConverter::new(types).map_err(gathering)?;
    let chunks = columns.first().map_or(0, |(_, chunks)| chunks.len());
    let mut seen: FxHashSet<OwnedRow> = FxHashSet::default();
    for chunk in 0..chunks {
        let arrays: Vec<ArrayRef> =
            columns.iter().map(|(_, chunks)| as_compared(&chunks[chunk])).collect();
        for row in &converter.convert_columns(&arrays).map_err(gathering)? {
            if !seen.insert(row.owned()) {
                let row = seen.len() as u64 + 1;
                let reason = format!(
                    "data row {row} is the same tuple as a row before it (an empty text is missing): \
                     make the cells one in the table itself, then count"
                );
                let place = Place { row: Some(row), ..Place::default() };
                return Err(Error::data("tuple-twice", reason).about(place));
            }
        }
    }
    Ok(())
}

/// Cells that a text file or a join takes for one are one: empty texts and missing cells, the zeros
/// and the NaNs of floating-point numbers.
fn as_compared(cells: &ArrayRef) -> ArrayRef {
    match cells.data_type() {
        DataType::Float32 => {
            let one = |x: f32| if x.is_nan() { f32::NAN } else { x + 0.0 };
            Arc::new(cells.as_primitive::<Float32Type>().unary::<_, Float32Type>(one))
        }
        DataType::Float64 => {
            let one = |x: f64| if x.is_nan() { f64::NAN } else { x + 0.0 };
            Arc::new(cells.as_primitive::<Float64Type>().unary::<_, Float64Type>(one))
        }
        _ => without_empty(cells),
    }
}

/// The original columns of a plan, with their cells.
fn originals<'a>(
    table: &'a Table,
    roles: &'a Roles,
) -> impl Iterator<Item = (&'a Column, &'a Vec<ArrayRef>)> {
    let is_count = |column: &&Column| roles.count.as_ref() == Some(&column.name);
    let others = table.columns().iter().filter(move |column| !is_count(column));
    others.filter_map(|column| Some((column, column.passthrough.as_ref()?)))
}

/// Numbers the rows of each tuple from 1, piece by piece.
fn numbered(dealt: &[Dealt]) -> Vec<PlannedPiece> {
    let mut pieces: Vec<PlannedPiece> = Vec::with_capacity(dealt.len());
    for &Dealt { row, class, count } in dealt {
        let before = pieces.last().filter(|last| last.row == row).map_or(0, |last| last.last);
        let (first, last) = (before + 1, before + i64::from(count));
        pieces.push(PlannedPiece { row, class, first, last });
    }
    pieces
}
