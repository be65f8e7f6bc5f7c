//! From codes back to cells: the columns of the released table, made batch by batch, so that a
//! release never stands in memory as a whole.
//!
//! Nothing of the source travels along unless it is meant to: every array is rebuilt from the
//! values it shows, rows stand in the order of what they show, and where only some of the rows of a
//! tuple go to a class, which ones they are is drawn at random under a key, all choices equally
//! likely; where they stood in the source does not matter.

pub(crate) mod guard;
pub mod proof;
pub(crate) mod published;
pub mod recoding_file;

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, UInt32Array};
use arrow_cast::{CastOptions, can_cast_types, cast_with_options};
use arrow_row::{Row, RowConverter, Rows, SortField};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use arrow_select::interleave::interleave;
use arrow_select::take::take;
use rayon::prelude::*;

use self::published::Shown;
use crate::codes::{Codes, RowId};
use crate::error::{Error, Result};
use crate::problem::Problem;
use crate::problem::partition::{self, Piece};
use crate::problem::recoding::Recoding;
use crate::release::guard::Guard;
use crate::request::{Order, Request, Roles};
use crate::rng::{DEALING, Draws, Key};
use crate::table::Table;

/// Rows of a batch: whole classes as far as they go, and a larger class in parts.
const BATCH: usize = if cfg!(test) { 8 } else { 1 << 16 };

/// About as many bytes of carried cells are gathered at a time. Arrow counts the bytes of a text
/// column up to 2^31.
const BYTES: usize = if cfg!(test) { 200 } else { 1 << 28 };

/// A release that is ready to be written, batch by batch.
#[derive(Debug)]
pub struct Release {
    schema: SchemaRef,
    columns: Vec<ReleasedColumn>,
    /// Source rows in the order of the release.
    rows: Vec<RowId>,
    /// For each of `rows` its class.
    classes: Vec<u32>,
    /// Where each batch lies in `rows`, and whether its rows stand in their last order already.
    batches: Vec<(Range<usize>, bool)>,
    /// Which source row each carried batch starts with.
    starts: Vec<usize>,
    /// The most bytes that the carried cells of one row have.
    widest: usize,
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

/// The carried cells of some rows as rows that compare and hold values only, no bytes under nulls;
/// in parts of not too many bytes.
struct Comparable {
    converter: RowConverter,
    parts: Vec<Rows>,
    /// Which of the rows each part starts with.
    starts: Vec<usize>,
}

impl Comparable {
    fn row(&self, at: usize) -> Row<'_> {
        if let [all] = &self.parts[..] {
            return all.row(at);
        }
        let part = self.starts.partition_point(|&start| start <= at) - 1;
        self.parts[part].row(at - self.starts[part])
    }
}

impl Release {
    /// Lays out the release. Where only some of a tuple's rows go to a class, the key decides
    /// which; for rings the system does, whatever the key, because they keep what they promise only
    /// if nobody can repeat it.
    ///
    /// # Errors
    /// When the carried cells cannot be gathered.
    pub fn new(
        problem: &Problem,
        recoding: &Recoding,
        table: &Table,
        roles: &Roles,
        request: &Request,
        key: Key,
        cells: Cells,
    ) -> Result<Release> {
        let guard = Guard::new(cells == Cells::Text && !request.output.raw_formulas);
        let as_text = cells == Cells::Text;
        let mut fields = Vec::new();
        let mut columns = Vec::new();
        let mut starts = vec![0];
        for column in table.columns() {
            if let Some(at) = roles.quasi.iter().position(|name| *name == column.name) {
                for Shown { field, cells, of_class } in
                    published::columns(problem, recoding, at, request)?
                {
                    let cells = if as_text {
                        as_type(&cells, &text_type(cells.data_type()))?
                    } else {
                        cells
                    };
                    fields.push(Field::new(
                        guard.name(field.name()),
                        cells.data_type().clone(),
                        true,
                    ));
                    columns.push(ReleasedColumn::Quasi { cells, of_class });
                }
            } else if let (Some(chunks), false) =
                (&column.carried, roles.dropped.contains(&column.name))
            {
                let shown =
                    if as_text { text_type(&column.data_type) } else { column.data_type.clone() };
                fields.push(Field::new(guard.name(&column.name), shown, true));
                let convert = SortField::new(column.data_type.clone());
                starts = chunks
                    .iter()
                    .scan(0, |end, chunk| Some(std::mem::replace(end, *end + chunk.len())))
                    .collect();
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
            widest: 0,
            order: request.output.order,
            guard,
        };
        release.widest =
            release.carried().map(|chunks| chunks.iter().map(widest).max().unwrap_or(0)).sum();
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
        self.guard.cells()
    }

    /// One batch of the release.
    ///
    /// # Errors
    /// When the carried cells cannot be gathered.
    pub fn batch(&self, index: usize) -> Result<RecordBatch> {
        let (here, is_ordered) = self.batches[index].clone();
        let classes = &self.classes[here.clone()];
        let mut carried = match self.comparable(&self.rows[here])? {
            None => Vec::new(),
            Some(cells) => {
                let order = self.order_within(classes, &cells, is_ordered);
                cells
                    .converter
                    .convert_rows(order.iter().map(|&at| cells.row(at)))
                    .map_err(gathering)?
            }
        };
        carried.reverse();
        let mut arrays = Vec::with_capacity(self.columns.len());
        for (column, field) in self.columns.iter().zip(self.schema.fields()) {
            let array = match column {
                ReleasedColumn::Quasi { cells, of_class } => {
                    let indices: UInt32Array =
                        classes.iter().map(|&class| of_class.get(class as usize)).collect();
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
    fn order_within(&self, classes: &[u32], cells: &Comparable, is_ordered: bool) -> Vec<usize> {
        let mut order: Vec<usize> = (0..classes.len()).collect();
        if !is_ordered {
            // A batch has whole classes, in order: only within a class do the other cells decide.
            for class in order.chunk_by_mut(|&a, &b| classes[a] == classes[b]) {
                class.sort_unstable_by(|&a, &b| cells.row(a).cmp(&cells.row(b)));
            }
        }
        order
    }

    /// For each written row, in order, the source row whose other cells it has, and its class.
    pub(crate) fn written(&self) -> Result<Vec<(RowId, u32)>> {
        let mut written = Vec::with_capacity(self.rows.len());
        for (here, is_ordered) in &self.batches {
            let (rows, classes) = (&self.rows[here.clone()], &self.classes[here.clone()]);
            let order = match self.comparable(rows)? {
                None => (0..rows.len()).collect(),
                Some(cells) => self.order_within(classes, &cells, *is_ordered),
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
                self.rows.extend_from_slice(
                    deal.take(piece).unwrap_or_else(|| problem.rows_of(piece.tuple)),
                );
            }
            self.classes.resize(self.rows.len(), class);
        }
        match self.order {
            Order::Canonical => self.cut_classes()?,
            Order::Input => {
                let mut both: Vec<(RowId, u32)> =
                    self.rows.iter().copied().zip(self.classes.iter().copied()).collect();
                both.sort_unstable();
                (self.rows, self.classes) = both.into_iter().unzip();
                self.batches =
                    self.parts(&self.rows).into_iter().map(|part| (part, true)).collect();
            }
        }
        Ok(())
    }

    /// Cuts the rows into batches of whole classes. A class that is too large for one is put in its
    /// last order here and cut anywhere.
    fn cut_classes(&mut self) -> Result<()> {
        let sizes: Vec<usize> = self.classes.chunk_by(|a, b| a == b).map(<[u32]>::len).collect();
        let (mut start, mut end, mut sum) = (0, 0, 0);
        for size in sizes {
            let class = end..end + size;
            let bytes: usize = self.rows[class.clone()].iter().map(|&row| self.bytes(row)).sum();
            let is_large = size > BATCH || bytes > BYTES;
            if start < end && (is_large || sum + bytes > BYTES) {
                self.batches.push((start..end, false));
                (start, sum) = (end, 0);
            }
            (end, sum) = (class.end, sum + bytes);
            if is_large {
                self.put_in_order(class.clone())?;
                let parts = self.parts(&self.rows[class.clone()]);
                let parts = parts
                    .into_iter()
                    .map(|part| (class.start + part.start..class.start + part.end, true));
                self.batches.extend(parts);
                (start, sum) = (end, 0);
            } else if end - start >= BATCH {
                self.batches.push((start..end, false));
                (start, sum) = (end, 0);
            }
        }
        if start < end {
            self.batches.push((start..end, false));
        }
        Ok(())
    }

    /// Sorts rows by their carried cells.
    fn put_in_order(&mut self, here: Range<usize>) -> Result<()> {
        let Some(cells) = self.comparable(&self.rows[here.clone()])? else { return Ok(()) };
        let mut order: Vec<usize> = (0..here.len()).collect();
        order.par_sort_unstable_by(|&a, &b| cells.row(a).cmp(&cells.row(b)).then(a.cmp(&b)));
        let ordered: Vec<RowId> = order.iter().map(|&at| self.rows[here.start + at]).collect();
        self.rows[here].copy_from_slice(&ordered);
        Ok(())
    }

    /// The chunks of every carried column.
    fn carried(&self) -> impl Iterator<Item = &[ArrayRef]> {
        self.columns.iter().filter_map(|column| match column {
            ReleasedColumn::Carried { chunks, .. } => Some(&chunks[..]),
            ReleasedColumn::Quasi { .. } => None,
        })
    }

    /// Where a source row stands: its chunk and its place there.
    fn place(&self, row: RowId) -> (usize, usize) {
        let chunk = self.starts.partition_point(|&start| start <= row as usize) - 1;
        (chunk, row as usize - self.starts[chunk])
    }

    /// How many bytes the carried cells of a source row have, about; 0 where no row has so many
    /// that it matters.
    fn bytes(&self, row: RowId) -> usize {
        if self.widest.saturating_mul(2 * BATCH) <= BYTES {
            return 0;
        }
        let (chunk, at) = self.place(row);
        self.carried().map(|chunks| bytes_of(&chunks[chunk], at)).sum()
    }

    /// Cuts rows into parts, each of which can be gathered at a time.
    fn parts(&self, rows: &[RowId]) -> Vec<Range<usize>> {
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

    /// The carried cells of some rows; none when nothing is carried.
    fn comparable(&self, rows: &[RowId]) -> Result<Option<Comparable>> {
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
                .carried()
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
        ReleasedColumn::Carried { convert, .. } => Some(convert.clone()),
        ReleasedColumn::Quasi { .. } => None,
    }
}

/// How many bytes a cell has, about.
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

/// The most bytes that a cell has, about.
fn widest(array: &ArrayRef) -> usize {
    let longest = |lengths: &mut dyn Iterator<Item = usize>| lengths.max().unwrap_or(0);
    match array.data_type() {
        DataType::Utf8 => longest(&mut array.as_string::<i32>().offsets().lengths()),
        DataType::LargeUtf8 => longest(&mut array.as_string::<i64>().offsets().lengths()),
        DataType::Binary => longest(&mut array.as_binary::<i32>().offsets().lengths()),
        DataType::LargeBinary => longest(&mut array.as_binary::<i64>().offsets().lengths()),
        _ => bytes_of(array, 0),
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
        let mut tuples: Vec<u32> = pieces
            .filter(|piece| piece.count < problem.count(piece.tuple))
            .map(|piece| piece.tuple)
            .collect();
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

    /// Puts the rows of the tuples from `from` on in random order, each tuple's among themselves.
    /// They are sorted by their cells first, so that the order of the source has no part in it.
    fn shuffle(&mut self, release: &Release, from: usize, draws: &mut Draws) -> Result<()> {
        let start = self.next[from];
        let cells = release.comparable(&self.rows[start..])?;
        for (at, &begin) in self.next.iter().enumerate().skip(from) {
            let end = self.next.get(at + 1).copied().unwrap_or(self.rows.len());
            let mut places: Vec<usize> = (begin - start..end - start).collect();
            if let Some(cells) = &cells {
                places.sort_unstable_by(|&a, &b| cells.row(a).cmp(&cells.row(b)).then(a.cmp(&b)));
            }
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

/// Refuses what no text file can hold before anything is searched for: a NUL, which no reader of
/// text takes.
///
/// # Errors
/// [`Data`](crate::ErrorKind::Data) then, with column and row.
pub fn check_text(table: &Table, roles: &Roles) -> Result<()> {
    let released = |name: &String| {
        [&roles.quasi, &roles.sensitive, &roles.keep].into_iter().any(|names| names.contains(name))
    };
    let way_out = "which no text file can have: write Parquet or Arrow instead, or take it out";
    for column in table.columns().iter().filter(|column| released(&column.name)) {
        if column.name.contains('\0') {
            return Err(Error::data(format!(
                "the name of column `{}` has a NUL, {way_out}",
                column.name.replace('\0', "\\0")
            )));
        }
        let row = match (&column.carried, &column.coded) {
            (Some(chunks), _) => carried_nul(chunks),
            (None, Some(coded)) => {
                let nul = |(value, _): &(&Option<String>, &RowId)| {
                    value.as_ref().is_some_and(|text| text.contains('\0'))
                };
                coded
                    .values()
                    .iter()
                    .zip(coded.first_row())
                    .filter(nul)
                    .map(|(_, &row)| row as usize)
                    .min()
            }
            (None, None) => None,
        };
        if let Some(row) = row {
            return Err(Error::data(format!(
                "column `{}`, data row {}: the cell has a NUL, {way_out}",
                column.name,
                row + 1
            )));
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
            DataType::Utf8 if chunk.as_string::<i32>().value_data().contains(&0) => {
                chunk.as_string::<i32>().iter().position(nul)
            }
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

/// The type that a column has in a text file: text where a cell could begin like a formula (`-inf`,
/// a year before 0), so that the guard sees what is written.
fn text_type(data_type: &DataType) -> DataType {
    let is_harmless =
        data_type.is_integer() || data_type.is_decimal() || *data_type == DataType::Boolean;
    // What has no text form is refused when the file is written.
    let has_text = !data_type.is_nested()
        && !data_type.is_binary()
        && can_cast_types(data_type, &DataType::Utf8);
    if has_text && !is_harmless { DataType::Utf8 } else { data_type.clone() }
}

/// A cast that fails rather than making a cell missing. The library's own words would quote the
/// cell.
fn as_type(cells: &ArrayRef, to: &DataType) -> Result<ArrayRef> {
    if cells.data_type() == to {
        return Ok(cells.clone());
    }
    let options = CastOptions { safe: false, ..CastOptions::default() };
    let fault = |_| {
        Error::data(format!(
            "a cell of type {} cannot be written as text: write Parquet instead",
            cells.data_type()
        ))
    };
    cast_with_options(cells, to, &options).map_err(fault)
}

#[allow(clippy::needless_pass_by_value, reason = "for map_err")]
fn gathering(error: arrow_schema::ArrowError) -> Error {
    Error::data(format!("cannot gather the carried columns: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows of a release, class by class, as its batches have them.
    fn released(text: &str, toml: &str) -> (Vec<usize>, Vec<(String, String)>) {
        let table = crate::testing::table(text);
        let (roles, request) = crate::testing::request(&table, toml);
        let problem = Problem::new(&table, &roles, &request).unwrap();
        let search = crate::SearchOptions::new(crate::Algorithm::Mondrian, 1);
        let recoding = crate::search::solve(&problem, search, &crate::Budget::unlimited()).recoding;
        let release = Release::new(
            &problem,
            &recoding,
            &table,
            &roles,
            &request,
            Key::from_seed(1),
            Cells::Typed,
        )
        .unwrap();
        let (mut sizes, mut rows) = (Vec::new(), Vec::new());
        for at in 0..release.batches() {
            let batch = release.batch(at).unwrap();
            sizes.push(batch.num_rows());
            let cell = |column: usize, row: usize| {
                batch.column(column).as_string::<i32>().value(row).to_string()
            };
            rows.extend((0..batch.num_rows()).map(|row| (cell(0, row), cell(1, row))));
        }
        (sizes, rows)
    }

    #[test]
    fn a_class_that_is_larger_than_a_batch_is_written_in_parts_in_the_same_order() {
        for (wide, order) in [(1, "canonical"), (90, "canonical"), (30, "canonical"), (90, "input")]
        {
            // Two small classes, one of thirty rows, one of nine, in an order that is not theirs;
            // notes of all lengths up to `wide`.
            let classes = [(1, 3), (2, 30), (3, 4), (4, 9)];
            let all =
                classes.iter().flat_map(|&(a, size)| (0..size).map(move |row| (a, row * 7 % size)));
            let all: Vec<(usize, String)> =
                all.map(|(a, row)| (a, format!("{}{row}", "x".repeat(row * 11 % wide)))).collect();
            let text: String = all.iter().map(|(a, note)| format!("{a},{note}\n")).collect();
            let toml = format!(
                "k = 3\n[output]\norder = \"{order}\"\n[columns]\na = {{ role = \"quasi\" }}\nnote = {{ role = \"keep\" }}\n"
            );
            let (sizes, rows) = released(&format!("a,note\n{text}"), &toml);
            let mut expected: Vec<(String, String)> =
                all.into_iter().map(|(a, note)| (a.to_string(), note)).collect();
            if order == "canonical" {
                expected.sort();
            }
            assert_eq!(rows, expected, "{wide} {order}");
            assert!(sizes.iter().all(|&size| size <= 2 * BATCH), "{sizes:?}");
            let bytes =
                |rows: &[(String, String)]| rows.iter().map(|(_, note)| note.len()).sum::<usize>();
            let mut rest = &rows[..];
            for size in sizes {
                assert!(bytes(&rest[..size]) <= BYTES, "{wide} {order}");
                rest = &rest[size..];
            }
        }
    }
}
