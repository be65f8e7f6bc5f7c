//! From codes back to cells: the columns of the released table, made batch by batch, so that a release never stands in memory
//! as a whole.
//!
//! Nothing of the source travels along unless it is meant to: every array is rebuilt from the values it shows, rows stand in
//! the order of what they show, and where only some of the rows of a tuple go to a class, which ones they are depends on
//! their content and the seed (for rings on the system's randomness), not on where they stood in the source.

use std::hash::BuildHasher;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, UInt32Array};
use arrow_cast::{CastOptions, can_cast_types, cast_with_options};
use arrow_row::{RowConverter, Rows, SortField};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use arrow_select::interleave::interleave;
use arrow_select::take::take;
use rustc_hash::FxBuildHasher;

use crate::code::{Codes, RowId};
use crate::config::{Config, Order, Roles};
use crate::error::{Error, Result};
use crate::guard::Guard;
use crate::partition::{self, Piece};
use crate::problem::Problem;
use crate::recode::Recoding;
use crate::rng;
use crate::show::{self, Shown};
use crate::table::Table;

/// Rows of a batch, unless one class alone has more.
const BATCH: usize = 1 << 16;

/// A release that is ready to be written, batch by batch.
#[derive(Debug)]
pub struct Release {
    schema: SchemaRef,
    columns: Vec<ReleasedColumn>,
    /// Source rows in the order of the release.
    rows: Vec<RowId>,
    /// For each of `rows` its class.
    classes: Vec<u32>,
    /// Where each batch lies in `rows`.
    batches: Vec<Range<usize>>,
    /// Which source row each carried batch starts with.
    starts: Vec<usize>,
    order: Order,
    guard: Guard,
    deal: Dealing,
}

/// Who decides which rows of a tuple go where.
#[derive(Clone, Copy, Debug)]
enum Dealing {
    /// Their content and the seed.
    BySeed,
    /// The system's randomness: rings keep what they promise only if nobody can know.
    BySystem,
}

/// What kind of file the cells go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cells {
    /// Text, which a spreadsheet may open: cells that it would run as formulas are guarded.
    Text,
    /// Typed.
    Typed,
}

#[derive(Debug)]
enum ReleasedColumn {
    /// What each class shows: the distinct cells, and which of them.
    Quasi { cells: ArrayRef, of_class: Codes },
    /// The source's cells, batch by batch.
    Carried { chunks: Vec<ArrayRef>, convert: SortField },
}

impl Release {
    /// Lays out the release.
    ///
    /// # Errors
    /// When the carried cells cannot be gathered.
    pub fn new(
        problem: &Problem,
        recoding: &Recoding,
        table: &Table,
        roles: &Roles,
        config: &Config,
        seed: u64,
        cells: Cells,
    ) -> Result<Release> {
        let guard = Guard::new(cells == Cells::Text && !config.output.raw_formulas);
        let as_text = cells == Cells::Text;
        let mut fields = Vec::new();
        let mut columns = Vec::new();
        let mut starts = vec![0];
        for column in &table.columns {
            if let Some(at) = roles.quasi.iter().position(|name| *name == column.name) {
                for Shown { field, cells, of_class } in show::columns(problem, recoding, at, config)? {
                    let cells = if as_text { as_type(&cells, &text_type(cells.data_type()))? } else { cells };
                    fields.push(Field::new(guard.name(field.name()), cells.data_type().clone(), true));
                    columns.push(ReleasedColumn::Quasi { cells, of_class });
                }
            } else if let (Some(chunks), false) = (&column.carried, roles.dropped.contains(&column.name)) {
                let shown = if as_text { text_type(&column.data_type) } else { column.data_type.clone() };
                fields.push(Field::new(guard.name(&column.name), shown, true));
                let convert = SortField::new(column.data_type.clone());
                starts = chunks.iter().scan(0, |end, chunk| Some(std::mem::replace(end, *end + chunk.len()))).collect();
                columns.push(ReleasedColumn::Carried { chunks: chunks.clone(), convert });
            }
        }
        let mut release = Release {
            schema: Arc::new(Schema::new(fields)),
            columns,
            rows: Vec::new(),
            classes: Vec::new(),
            batches: Vec::new(),
            starts,
            order: config.output.order,
            guard,
            deal: if recoding.is_of_rings() { Dealing::BySystem } else { Dealing::BySeed },
        };
        release.lay_out(problem, recoding, seed)?;
        Ok(release)
    }

    /// The released columns.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// How many rows are released.
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// How many batches there are.
    pub fn batches(&self) -> usize {
        self.batches.len()
    }

    /// How many cells got an apostrophe so far.
    pub fn guarded(&self) -> u64 {
        self.guard.cells()
    }

    /// One batch of the release.
    ///
    /// # Errors
    /// When the carried cells cannot be gathered.
    pub fn batch(&self, index: usize) -> Result<RecordBatch> {
        let here = self.batches[index].clone();
        let classes = &self.classes[here.clone()];
        let mut carried = match self.comparable(&self.rows[here])? {
            None => Vec::new(),
            Some((converter, rows)) => {
                let order = self.order_within(classes, &rows);
                converter.convert_rows(order.iter().map(|&at| rows.row(at))).map_err(gathering)?
            }
        };
        carried.reverse();
        let mut arrays = Vec::with_capacity(self.columns.len());
        for (column, field) in self.columns.iter().zip(self.schema.fields()) {
            let array = match column {
                ReleasedColumn::Quasi { cells, of_class } => {
                    let indices: UInt32Array = classes.iter().map(|&class| of_class.get(class as usize)).collect();
                    take(cells, &indices, None).map_err(gathering)?
                }
                ReleasedColumn::Carried { .. } => {
                    let array = carried.pop().expect("one array a carried column");
                    as_type(&array, field.data_type())?
                }
            };
            arrays.push(self.guard.apply(array));
        }
        RecordBatch::try_new(Arc::clone(&self.schema), arrays).map_err(gathering)
    }

    /// In which order the rows of a batch are written.
    fn order_within(&self, classes: &[u32], rows: &Rows) -> Vec<usize> {
        let mut order: Vec<usize> = (0..classes.len()).collect();
        if self.order == Order::Canonical {
            // A batch has whole classes, in order: only within a class do the other cells decide.
            for class in order.chunk_by_mut(|&a, &b| classes[a] == classes[b]) {
                class.sort_unstable_by(|&a, &b| rows.row(a).cmp(&rows.row(b)));
            }
        }
        order
    }

    /// For each written row, in order, the source row whose other cells it has, and its class.
    pub(crate) fn written(&self) -> Result<Vec<(RowId, u32)>> {
        let mut written = Vec::with_capacity(self.rows.len());
        for here in &self.batches {
            let (rows, classes) = (&self.rows[here.clone()], &self.classes[here.clone()]);
            let order = match self.comparable(rows)? {
                None => (0..rows.len()).collect(),
                Some((_, cells)) => self.order_within(classes, &cells),
            };
            written.extend(order.into_iter().map(|at| (rows[at], classes[at])));
        }
        Ok(written)
    }

    /// Decides which row goes where.
    fn lay_out(&mut self, problem: &Problem, recoding: &Recoding, seed: u64) -> Result<()> {
        let mut deal = Deal::new(self, problem, recoding, seed)?;
        let released = problem.row_count() - partition::rows(recoding.suppressed());
        self.rows.reserve_exact(usize::try_from(released).expect("rows fit in memory"));
        self.classes.reserve_exact(self.rows.capacity());
        for (class, pieces) in (0u32..).zip(recoding.classes().iter()) {
            for &piece in pieces {
                self.rows.extend_from_slice(deal.take(piece).unwrap_or_else(|| problem.rows_of(piece.tuple)));
            }
            self.classes.resize(self.rows.len(), class);
        }
        match self.order {
            Order::Canonical => {
                let mut start = 0;
                let mut end = 0;
                for class in self.classes.chunk_by(|a, b| a == b) {
                    end += class.len();
                    if end - start >= BATCH {
                        self.batches.push(start..end);
                        start = end;
                    }
                }
                if start < end {
                    self.batches.push(start..end);
                }
            }
            Order::Input => {
                let mut both: Vec<(RowId, u32)> = self.rows.iter().copied().zip(self.classes.iter().copied()).collect();
                both.sort_unstable();
                (self.rows, self.classes) = both.into_iter().unzip();
                self.batches = (0..self.rows.len()).step_by(BATCH).map(|at| at..(at + BATCH).min(self.rows.len())).collect();
            }
        }
        Ok(())
    }

    /// The carried cells of some rows as rows that compare and hold values only, no bytes under nulls; none when nothing is
    /// carried.
    fn comparable(&self, rows: &[RowId]) -> Result<Option<(RowConverter, Rows)>> {
        let place = |row: &RowId| {
            let chunk = self.starts.partition_point(|&start| start <= *row as usize) - 1;
            (chunk, *row as usize - self.starts[chunk])
        };
        let places: Vec<(usize, usize)> = rows.iter().map(place).collect();
        let (mut arrays, mut sorts) = (Vec::new(), Vec::new());
        for column in &self.columns {
            let ReleasedColumn::Carried { chunks, convert } = column else { continue };
            let chunks: Vec<&dyn Array> = chunks.iter().map(AsRef::as_ref).collect();
            arrays.push(interleave(&chunks, &places).map_err(gathering)?);
            sorts.push(convert.clone());
        }
        if arrays.is_empty() {
            return Ok(None);
        }
        let converter = RowConverter::new(sorts).map_err(gathering)?;
        let rows = converter.convert_columns(&arrays).map_err(gathering)?;
        Ok(Some((converter, rows)))
    }
}

/// The rows of tuples of which only some go to a class, each tuple's in an order that depends on their content and the seed
/// alone.
struct Deal {
    tuples: Vec<u32>,
    rows: Vec<RowId>,
    /// Where each tuple's rows start, and how far they are dealt.
    next: Vec<usize>,
}

impl Deal {
    fn new(release: &Release, problem: &Problem, recoding: &Recoding, seed: u64) -> Result<Deal> {
        let pieces = recoding.classes().iter().flatten().chain(recoding.suppressed());
        let mut tuples: Vec<u32> =
            pieces.filter(|piece| piece.count < problem.count(piece.tuple)).map(|piece| piece.tuple).collect();
        tuples.sort_unstable();
        tuples.dedup();
        let mut deal = Deal { rows: Vec::new(), next: Vec::with_capacity(tuples.len()), tuples };
        let mut from = 0;
        for at in 0..deal.tuples.len() {
            deal.next.push(deal.rows.len());
            deal.rows.extend_from_slice(problem.rows_of(deal.tuples[at]));
            if deal.rows.len() - deal.next[from] >= BATCH || at + 1 == deal.tuples.len() {
                deal.shuffle(release, from, seed)?;
                from = at + 1;
            }
        }
        Ok(deal)
    }

    /// Orders the rows of the tuples from `from` on, each tuple's by a hash of its own of their cells, so that no order of values is
    /// common to tuples; equal rows are interchangeable.
    fn shuffle(&mut self, release: &Release, from: usize, seed: u64) -> Result<()> {
        let start = self.next[from];
        let Some((_, cells)) = release.comparable(&self.rows[start..])? else { return Ok(()) };
        for (at, &begin) in self.next.iter().enumerate().skip(from) {
            let end = self.next.get(at + 1).copied().unwrap_or(self.rows.len());
            let mut places: Vec<usize> = (begin - start..end - start).collect();
            places
                .sort_unstable_by(|&a, &b| cells.row(a).cmp(&cells.row(b)).then(self.rows[start + a].cmp(&self.rows[start + b])));
            let mut keyed: Vec<(u64, RowId)> = Vec::with_capacity(places.len());
            for equal in places.chunk_by(|&a, &b| cells.row(a) == cells.row(b)) {
                for (copy, &place) in equal.iter().enumerate() {
                    let key = match release.deal {
                        Dealing::BySeed => FxBuildHasher.hash_one((seed, self.tuples[at], cells.row(place).as_ref(), copy)),
                        Dealing::BySystem => rng::seed_from_system(),
                    };
                    keyed.push((key, self.rows[start + place]));
                }
            }
            keyed.sort_by_key(|&(key, _)| key);
            self.rows[begin..end].iter_mut().zip(keyed).for_each(|(row, (_, dealt))| *row = dealt);
        }
        Ok(())
    }

    /// The next rows of a tuple; none when all of its rows are in one place.
    fn take(&mut self, piece: Piece) -> Option<&[RowId]> {
        let at = self.tuples.binary_search(&piece.tuple).ok()?;
        let begin = self.next[at];
        self.next[at] += piece.count as usize;
        Some(&self.rows[begin..self.next[at]])
    }
}

/// Refuses what no text file can hold before anything is searched for: a NUL, which no reader of text takes.
///
/// # Errors
/// [`Data`](crate::ErrorKind::Data) then, with column and row.
pub fn check_text(table: &Table, roles: &Roles) -> Result<()> {
    let released = |name: &String| [&roles.quasi, &roles.sensitive, &roles.keep].into_iter().any(|names| names.contains(name));
    let way_out = "which no text file can have: write Parquet or Arrow instead, or take it out";
    for column in table.columns.iter().filter(|column| released(&column.name)) {
        if column.name.contains('\0') {
            return Err(Error::data(format!("the name of column `{}` has a NUL, {way_out}", column.name.replace('\0', "\\0"))));
        }
        let row = match (&column.carried, &column.coded) {
            (Some(chunks), _) => carried_nul(chunks),
            (None, Some(coded)) => {
                let nul = |(value, _): &(&Option<String>, &RowId)| value.as_ref().is_some_and(|text| text.contains('\0'));
                coded.values.iter().zip(&coded.first_row).filter(nul).map(|(_, &row)| row as usize).min()
            }
            (None, None) => None,
        };
        if let Some(row) = row {
            return Err(Error::data(format!("column `{}`, data row {}: the cell has a NUL, {way_out}", column.name, row + 1)));
        }
    }
    Ok(())
}

/// The first row of a text column that has a NUL.
fn carried_nul(chunks: &[ArrayRef]) -> Option<usize> {
    let mut first = 0;
    for chunk in chunks {
        let nul = |text: Option<&str>| text.is_some_and(|text| text.contains('\0'));
        let at = match chunk.data_type() {
            // All bytes at once; only a batch that has one is looked at cell by cell.
            DataType::Utf8 if chunk.as_string::<i32>().value_data().contains(&0) => chunk.as_string::<i32>().iter().position(nul),
            DataType::LargeUtf8 => chunk.as_string::<i64>().iter().position(nul),
            DataType::Utf8View => chunk.as_string_view().iter().position(nul),
            _ => None,
        };
        if let Some(at) = at {
            return Some(first + at);
        }
        first += chunk.len();
    }
    None
}

/// The type that a column has in a text file: text where a cell could begin like a formula (`-inf`, a year before 0), so that the
/// guard sees what is written.
fn text_type(data_type: &DataType) -> DataType {
    let is_harmless = data_type.is_integer() || data_type.is_decimal() || *data_type == DataType::Boolean;
    // What has no text form is refused when the file is written.
    let has_text = !data_type.is_nested() && !data_type.is_binary() && can_cast_types(data_type, &DataType::Utf8);
    if has_text && !is_harmless { DataType::Utf8 } else { data_type.clone() }
}

/// A cast that fails rather than making a cell missing. The library's own words would quote the cell.
fn as_type(cells: &ArrayRef, to: &DataType) -> Result<ArrayRef> {
    if cells.data_type() == to {
        return Ok(cells.clone());
    }
    let options = CastOptions { safe: false, ..CastOptions::default() };
    let fault = |_| Error::data(format!("a cell of type {} cannot be written as text: write Parquet instead", cells.data_type()));
    cast_with_options(cells, to, &options).map_err(fault)
}

#[allow(clippy::needless_pass_by_value, reason = "for map_err")]
fn gathering(error: arrow_schema::ArrowError) -> Error {
    Error::data(format!("cannot gather the carried columns: {error}"))
}
