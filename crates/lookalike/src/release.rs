//! From codes back to cells: the columns of the released table, made batch by batch, so that a release never stands in memory
//! as a whole.
//!
//! Nothing of the source travels along unless it is meant to: every array is rebuilt from the values it shows, rows stand in
//! the order of what they show, and where only some of the rows of a tuple go to a class, which ones they are is drawn at random
//! under a key, all choices equally likely; where they stood in the source does not matter.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::{Array, ArrayRef, RecordBatch, StringArray, UInt32Array};
use arrow_cast::cast;
use arrow_row::{RowConverter, Rows, SortField};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use arrow_select::interleave::interleave;
use arrow_select::take::take;

use crate::code::{Codes, RowId};
use crate::config::{Config, Order, Roles};
use crate::encode::number;
use crate::error::{Error, Result};
use crate::partition::{self, Piece};
use crate::problem::Problem;
use crate::recode::Recoding;
use crate::rng::{Draws, Key};
use crate::show::{self, Shown};
use crate::table::Table;

/// Rows of a batch, unless one class alone has more.
const BATCH: usize = 1 << 16;

/// The stream of draws that says which rows of a tuple go where.
const DEALING: u64 = 0;

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

/// Keeps spreadsheets from running text cells as formulas: they get an apostrophe in front.
#[derive(Debug)]
struct Guard {
    on: bool,
    cells: AtomicU64,
}

impl Release {
    /// Lays out the release. Where only some of a tuple's rows go to a class, the key decides which; for rings the system does, whatever
    /// the key, because they keep what they promise only if nobody can repeat it.
    ///
    /// # Errors
    /// When the carried cells cannot be gathered.
    pub fn new(
        problem: &Problem,
        recoding: &Recoding,
        table: &Table,
        roles: &Roles,
        config: &Config,
        key: Key,
        cells: Cells,
    ) -> Result<Release> {
        let guard = Guard { on: cells == Cells::Text && !config.output.raw_formulas, cells: AtomicU64::new(0) };
        let mut fields = Vec::new();
        let mut columns = Vec::new();
        let mut starts = vec![0];
        for column in &table.columns {
            if let Some(at) = roles.quasi.iter().position(|name| *name == column.name) {
                for Shown { field, cells, of_class } in show::columns(problem, recoding, at, config.output.publish) {
                    fields.push(field);
                    columns.push(ReleasedColumn::Quasi { cells, of_class });
                }
            } else if let (Some(chunks), false) = (&column.carried, roles.dropped.contains(&column.name)) {
                let wide_text = matches!(column.data_type, DataType::LargeUtf8 | DataType::Utf8View);
                let shown = if wide_text && cells == Cells::Text { DataType::Utf8 } else { column.data_type.clone() };
                fields.push(Field::new(&column.name, shown, true));
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
        };
        let key = if recoding.is_of_rings() { Key::from_system() } else { key };
        release.lay_out(problem, recoding, key)?;
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
        self.guard.cells.load(Ordering::Relaxed)
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
                    if array.data_type() == field.data_type() {
                        array
                    } else {
                        cast(&array, field.data_type()).map_err(gathering)?
                    }
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
    fn lay_out(&mut self, problem: &Problem, recoding: &Recoding, key: Key) -> Result<()> {
        let mut deal = Deal::new(self, problem, recoding, key)?;
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

/// The rows of tuples of which only some go to a class, each tuple's in random order.
struct Deal {
    tuples: Vec<u32>,
    rows: Vec<RowId>,
    /// Where each tuple's rows start, and how far they are dealt.
    next: Vec<usize>,
}

impl Deal {
    fn new(release: &Release, problem: &Problem, recoding: &Recoding, key: Key) -> Result<Deal> {
        let pieces = recoding.classes().iter().flatten().chain(recoding.suppressed());
        let mut tuples: Vec<u32> =
            pieces.filter(|piece| piece.count < problem.count(piece.tuple)).map(|piece| piece.tuple).collect();
        tuples.sort_unstable();
        tuples.dedup();
        let mut deal = Deal { rows: Vec::new(), next: Vec::with_capacity(tuples.len()), tuples };
        let mut draws = key.draws(DEALING);
        let mut from = 0;
        for at in 0..deal.tuples.len() {
            deal.next.push(deal.rows.len());
            deal.rows.extend_from_slice(problem.rows_of(deal.tuples[at]));
            if deal.rows.len() - deal.next[from] >= BATCH || at + 1 == deal.tuples.len() {
                deal.shuffle(release, from, &mut draws)?;
                from = at + 1;
            }
        }
        Ok(deal)
    }

    /// Puts the rows of the tuples from `from` on in random order, each tuple's among themselves. They are sorted by their cells first, so
    /// that the order of the source has no part in it.
    fn shuffle(&mut self, release: &Release, from: usize, draws: &mut Draws) -> Result<()> {
        let start = self.next[from];
        let Some((_, cells)) = release.comparable(&self.rows[start..])? else { return Ok(()) };
        for (at, &begin) in self.next.iter().enumerate().skip(from) {
            let end = self.next.get(at + 1).copied().unwrap_or(self.rows.len());
            let mut places: Vec<usize> = (begin - start..end - start).collect();
            places.sort_unstable_by(|&a, &b| cells.row(a).cmp(&cells.row(b)).then(a.cmp(&b)));
            draws.shuffle(&mut places);
            let dealt: Vec<RowId> = places.iter().map(|&place| self.rows[start + place]).collect();
            self.rows[begin..end].copy_from_slice(&dealt);
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

impl Guard {
    fn apply(&self, array: ArrayRef) -> ArrayRef {
        match array.as_any().downcast_ref::<StringArray>() {
            Some(texts) if self.on && texts.iter().flatten().any(is_formula) => {
                let count = texts.iter().flatten().filter(|text| is_formula(text)).count();
                self.cells.fetch_add(count as u64, Ordering::Relaxed);
                let safe = |text: &str| if is_formula(text) { format!("'{text}") } else { text.to_string() };
                Arc::new(texts.iter().map(|cell| cell.map(safe)).collect::<StringArray>())
            }
            _ => array,
        }
    }
}

/// True for a text that a spreadsheet would run, and for one that a guard would turn another into: different cells must stay
/// different.
fn is_formula(text: &str) -> bool {
    match text.strip_prefix('\'') {
        Some(rest) => is_formula(rest),
        None => text.starts_with(['=', '@', '\t', '\r']) || (text.starts_with(['+', '-']) && number(text).is_none()),
    }
}

#[allow(clippy::needless_pass_by_value, reason = "for map_err")]
fn gathering(error: arrow_schema::ArrowError) -> Error {
    Error::data(format!("cannot gather the carried columns: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_guarded_numbers_are_not_and_different_cells_stay_different() {
        let cells = ["=1+1", "'=1+1", "@x", "-5", "+4.2", "-x", "'tis", "a=b", "'-5"];
        let guard = Guard { on: true, cells: AtomicU64::new(0) };
        let guarded = guard.apply(Arc::new(StringArray::from(cells.to_vec())));
        let guarded: Vec<&str> = guarded.as_any().downcast_ref::<StringArray>().unwrap().iter().flatten().collect();
        assert_eq!(guarded, ["'=1+1", "''=1+1", "'@x", "-5", "+4.2", "'-x", "'tis", "a=b", "'-5"]);
        assert_eq!(guard.cells.load(Ordering::Relaxed), 4);
    }
}
