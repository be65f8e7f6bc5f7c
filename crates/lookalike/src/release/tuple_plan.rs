//! A plan: for every row of a table of distinct tuples with counts, what is published for how many
//! of its rows. Whoever has the rows themselves makes the release from it by a join.
//!
//! One row a piece: the original cells, the published ones, and which of the tuple's rows by
//! number. A plan is as secret as the table.

use std::hash::{DefaultHasher, Hasher};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef, BooleanArray, Int64Array, RecordBatch};
use arrow_row::{OwnedRow, RowConverter, SortField};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use arrow_select::interleave::interleave;

use rayon::prelude::*;
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
/// The row of the table of tuples, where a plan has no original cells.
const TUPLE: &str = "tuple";
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
    name: TupleName,
}

/// How a plan names the tuple of a piece.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TupleName {
    /// By its original cells.
    #[default]
    Cells,
    /// By its row in the table of tuples, from 1, in the column `tuple`.
    Number,
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
        name: TupleName,
    ) -> Result<TuplePlan> {
        let columns: Vec<_> = match name {
            TupleName::Cells => originals(table, roles).collect(),
            TupleName::Number => Vec::new(),
        };
        let mut published = Vec::new();
        for at in 0..problem.attributes().len() {
            published.extend(published_columns(problem, recoding, at, request)?);
        }
        let original = |name: &str, data_type: &DataType| Field::new(name, data_type.clone(), true);
        let mut fields: Vec<Field> =
            columns.iter().map(|(column, _)| original(&column.name, &column.data_type)).collect();
        if name == TupleName::Number {
            fields.push(Field::new(TUPLE, DataType::Int64, false));
        }
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
            name,
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
        let numbers = |number: fn(&PlannedPiece) -> i64| -> ArrayRef {
            Arc::new(pieces.iter().map(number).collect::<Int64Array>())
        };
        let mut arrays = Vec::with_capacity(self.schema.fields().len());
        if self.name == TupleName::Number {
            arrays.push(numbers(|piece| i64::from(piece.row) + 1));
        }
        let place = |piece: &PlannedPiece| {
            let row = piece.row as usize;
            let chunk = self.starts.partition_point(|&start| start <= row) - 1;
            (chunk, row - self.starts[chunk])
        };
        let places: Vec<(usize, usize)> = match &self.originals[..] {
            [] => Vec::new(),
            _ => pieces.iter().map(place).collect(),
        };
        for chunks in &self.originals {
            let chunks: Vec<&dyn Array> = chunks.iter().map(AsRef::as_ref).collect();
            arrays.push(interleave(&chunks, &places).map_err(gathering)?);
        }
        for column in &self.published {
            arrays.push(column.of_classes(pieces.iter().map(|piece| piece.class))?);
        }
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
    let is_own = |name: &str| {
        [TUPLE, FIRST, LAST, SUPPRESSED].contains(&name) || name.starts_with(PUBLISHED)
    };
    if let Some((taken, _)) = columns.iter().find(|(column, _)| is_own(&column.name)) {
        let name = &taken.name;
        let reason =
            format!("a plan needs the name `{name}`, which a column of the table has: rename it");
        return Err(Error::request("name-taken", reason).about_column(name));
    }
    let types =
        columns.iter().map(|(column, _)| SortField::new(column.data_type.clone())).collect();
    let converter = RowConverter::new(types).map_err(gathering)?;
    match twice(&converter, &columns, hash)? {
        None => Ok(()),
        Some(row) => {
            let reason = format!(
                "data row {row} is the same tuple as a row before it (an empty text is missing): make \
                 the cells one in the table itself, then count"
            );
            let place = Place { row: Some(row), ..Place::default() };
            Err(Error::data("tuple-twice", reason).about(place))
        }
    }
}

/// A hash of the bytes of a row.
fn hash(row: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(row);
    hasher.finish()
}

/// The first row, by its number from 1, that is the same as a row before it.
///
/// All rows side by side would take gigabytes, so a first pass has a hash of each, and a second one
/// compares the rows whose hash occurs twice: few, unless rows are the same.
fn twice(
    converter: &RowConverter,
    columns: &[(&Column, &Vec<ArrayRef>)],
    hash: fn(&[u8]) -> u64,
) -> Result<Option<u64>> {
    let slices = slices(columns.first().map_or(&[][..], |(_, chunks)| chunks.as_slice()));
    let rows_of = |slice: &RowSlice| {
        let cells = |(_, chunks): &(&Column, &Vec<ArrayRef>)| {
            as_compared(&chunks[slice.chunk].slice(slice.start, slice.rows))
        };
        let arrays: Vec<ArrayRef> = columns.iter().map(cells).collect();
        converter.convert_columns(&arrays).map_err(gathering)
    };
    let hashes = |slice: &RowSlice| -> Result<Vec<u64>> {
        Ok(rows_of(slice)?.iter().map(|row| hash(row.as_ref())).collect())
    };
    let hashes: Vec<Vec<u64>> = slices.par_iter().map(hashes).collect::<Result<_>>()?;
    let mut hashes = hashes.concat();
    hashes.par_sort_unstable();
    let pairs = hashes.windows(2).filter(|pair| pair[0] == pair[1]);
    let suspected: FxHashSet<u64> = pairs.map(|pair| pair[0]).collect();
    drop(hashes);
    if suspected.is_empty() {
        return Ok(None);
    }
    let mut seen: FxHashSet<OwnedRow> = FxHashSet::default();
    let mut number = 0;
    for slice in &slices {
        for row in &rows_of(slice)? {
            number += 1;
            if suspected.contains(&hash(row.as_ref())) && !seen.insert(row.owned()) {
                return Ok(Some(number));
            }
        }
    }
    Ok(None)
}

/// Some rows of a chunk.
struct RowSlice {
    chunk: usize,
    start: usize,
    rows: usize,
}

/// All rows of the chunks, in order, a few at a time.
fn slices(chunks: &[ArrayRef]) -> Vec<RowSlice> {
    let of_chunk = |(chunk, cells): (usize, &ArrayRef)| {
        let all = cells.len();
        let starts = (0..all).step_by(BATCH);
        starts.map(move |start| RowSlice { chunk, start, rows: BATCH.min(all - start) })
    };
    chunks.iter().enumerate().flat_map(of_chunk).collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;
    use crate::testing;

    /// The first row that equals one before it, by looking at all pairs.
    fn slow(rows: &[(String, String)]) -> Option<u64> {
        let is_twice = |&at: &usize| rows[..at].contains(&rows[at]);
        (0..rows.len()).find(is_twice).map(|at| at as u64 + 1)
    }

    #[test]
    fn the_first_tuple_that_is_there_twice_is_found_whatever_the_hashes_are() {
        let hashes: [fn(&[u8]) -> u64; 3] =
            [hash, |_| 7, |row| row.iter().map(|&byte| u64::from(byte)).sum::<u64>() % 5];
        let mut rng = Rng::new(3);
        let (mut found, mut none) = (0, 0);
        for _ in 0..200 {
            let cells = 1 + rng.below(6);
            let pick = |rng: &mut Rng| match rng.below(cells) {
                0 => String::new(),
                number => number.to_string(),
            };
            let rows: Vec<(String, String)> =
                (0..1 + rng.below(5)).map(|_| (pick(&mut rng), pick(&mut rng))).collect();
            let lines: String = rows.iter().map(|(a, b)| format!("{a},{b},1\n")).collect();
            let table = testing::table(&format!("a,b,n\n{lines}"));
            let roles = Roles { count: Some("n".into()), ..Roles::default() };
            let columns: Vec<_> = originals(&table, &roles).collect();
            let types = vec![SortField::new(DataType::Utf8), SortField::new(DataType::Utf8)];
            let converter = RowConverter::new(types).unwrap();
            for hash in hashes {
                assert_eq!(twice(&converter, &columns, hash).unwrap(), slow(&rows), "{rows:?}");
            }
            *(if slow(&rows).is_some() { &mut found } else { &mut none }) += 1;
        }
        assert!(found > 40 && none > 40, "{found} and {none}");
    }

    #[test]
    fn slices_have_every_row_once_and_in_order() {
        let cells = |rows: usize| Arc::new(Int64Array::from(vec![0; rows])) as ArrayRef;
        let chunks = [cells(2 * BATCH + 1), cells(0), cells(BATCH), cells(3)];
        let found: Vec<(usize, usize, usize)> =
            slices(&chunks).iter().map(|slice| (slice.chunk, slice.start, slice.rows)).collect();
        let first = [(0, 0, BATCH), (0, BATCH, BATCH), (0, 2 * BATCH, 1)];
        assert_eq!(found, [&first[..], &[(2, 0, BATCH), (3, 0, 3)]].concat());
    }
}
