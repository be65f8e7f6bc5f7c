//! From codes back to cells: the columns of the released table, made batch by batch, so that a
//! release is never in memory as a whole.
//!
//! Nothing of the source is published by accident: every array is rebuilt from the values it
//! publishes, rows are sorted by their published values, and where only some rows of a tuple go to
//! a class, the choice is random under a key, all choices equally likely; their place in the source
//! has no influence.

pub(crate) mod bounds;
mod categories;
pub mod codebook;
mod deal;
pub(crate) mod formula_guard;
mod layout;
pub mod origins_file;
mod passthrough;
pub mod proof;
mod pseudonyms;
pub(crate) mod published;
pub mod recoding_file;
pub(crate) mod text_cells;
pub mod tuple_plan;

pub use deal::{Dealt, deal};
pub use published::{PublishedColumn, published_columns};

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, Int64Array, RecordBatch, UInt32Array};
use arrow_cast::{CastOptions, can_cast_types, cast_with_options};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use arrow_select::take::take;

use self::categories::Categories;
use self::formula_guard::FormulaGuard;
use self::passthrough::{Comparable, PassedThrough, passed_through};
use self::pseudonyms::Pseudonyms;
use crate::audit::Origin;
use crate::codes::{Codes, RowId};
use crate::error::{Error, Result};
use crate::problem::Problem;
use crate::problem::recoding::Recoding;
use crate::request::{Order, Request, Roles};
use crate::rng::Key;
use crate::table::{Column, Table};

/// Rows of a batch: as many whole classes as fit; a larger class is cut.
const BATCH: usize = if cfg!(test) { 8 } else { 1 << 16 };

/// Bytes of passed-through cells that are gathered at a time, about. Arrow counts the bytes of a
/// text column up to 2^31.
const BYTES: usize = if cfg!(test) { 200 } else { 1 << 28 };

/// A release that is ready to be written, batch by batch: its columns, and the order of its rows.
#[derive(Debug)]
pub struct Release {
    schema: SchemaRef,
    columns: Vec<ReleasedColumn>,
    /// Source rows in the order of the release.
    rows: Vec<RowId>,
    /// For each of `rows` its class.
    classes: Vec<u32>,
    /// For each of `rows` the number of rows it stands for; empty where the source has no counts.
    counts: Vec<u32>,
    /// For each batch its part of `rows`, and whether these are in their final order already.
    batches: Vec<(Range<usize>, bool)>,
    passed: PassedThrough,
    order: Order,
    guard: FormulaGuard,
    /// The number of each person that is published in place of the key.
    pseudonyms: Pseudonyms,
    /// Where rows that show the same are one row, and persons count: the source rows of each.
    sources: Option<Vec<Origin>>,
    /// For each batch the source rows of its rows, where they are recorded.
    origins: Option<Vec<OnceLock<Vec<RowId>>>>,
}

/// The format of the released cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellFormat {
    /// Text, for files that a spreadsheet may open: cells that it would run as formulas get an
    /// apostrophe.
    Text,
    /// The types of the source, for Parquet, Arrow and memory.
    Typed,
    /// The same, but columns of labels are ordered Arrow dictionaries, in memory: the labels of the
    /// released rows in the order of the domain, the same for every batch.
    Categories,
}

#[derive(Debug)]
enum ReleasedColumn {
    /// The distinct published cells, and for each class which of them it has.
    Quasi { cells: ArrayRef, of_class: Codes },
    /// Labels as a dictionary.
    Labels(Categories),
    /// The source's cells.
    Passthrough,
    /// The number of rows that each row stands for.
    Count,
    /// The pseudonym of the person.
    Pseudonym,
}

impl Release {
    /// Lays out the release. Where only some of a tuple's rows go to a class, the key decides
    /// which. With a count column, rows that show the same are one row with the sum of their
    /// counts. Rings ignore the key and take random numbers of the system: their guarantee needs a
    /// choice that nobody can repeat.
    ///
    /// # Example
    /// ```
    /// # use lookalike::{*, release::{CellFormat, Release}, rng::Key, table::Treatment};
    /// # let csv = "age,illness\n34,flu\n36,gout\n51,flu\n58,cold\n".to_string();
    /// # let request = Request::parse("k = 2\nrest = 'keep'\ncolumns.age.role = 'quasi'")?;
    /// let source = table::open_text(csv, "data.csv".as_ref())?;
    /// let roles = request.roles(source.names())?;
    /// let table = source.read(&[Treatment::Code, Treatment::PassThrough])?;
    /// let problem = Problem::new(&table, &roles, &request)?;
    /// let options = SearchOptions::new(Algorithm::Mondrian, 1);
    /// let recoding = solve(&problem, options, &Budget::unlimited()).recoding;
    /// let (key, format) = (Key::from_system(), CellFormat::Text);
    /// let release = Release::new(&problem, &recoding, &table, &roles, &request, key, format)?;
    /// assert_eq!((release.rows(), release.batch(0)?.num_columns()), (4, 2));
    /// # Ok::<(), lookalike::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the passed-through cells cannot be gathered, and for rings of a table with counts.
    pub fn new(
        problem: &Problem,
        recoding: &Recoding,
        table: &Table,
        roles: &Roles,
        request: &Request,
        key: Key,
        cells: CellFormat,
    ) -> Result<Release> {
        refuse_unhashed(table, roles, request)?;
        let guard = FormulaGuard::new(cells == CellFormat::Text && !request.output.raw_formulas);
        let as_text = cells == CellFormat::Text;
        let mut fields = Vec::new();
        let mut columns = Vec::new();
        let mut labels: Vec<(usize, PublishedColumn)> = Vec::new();
        let pseudonym = request.pseudonym_column();
        let is_first_of_key = |name: &String| roles.person.first() == Some(name);
        for column in table.columns() {
            if let Some(at) = roles.quasi.iter().position(|name| *name == column.name) {
                let form = text_cells::form(request, &column.name);
                for column in published_columns(problem, recoding, at, request)? {
                    if cells == CellFormat::Categories
                        && *column.field.data_type() == DataType::Utf8
                    {
                        fields.push(categories::field(column.field.name()));
                        // Which labels there are is known when the rows are laid out.
                        labels.push((columns.len(), column));
                        columns.push(ReleasedColumn::Passthrough);
                        continue;
                    }
                    let PublishedColumn { field, cells, of_class, .. } = column;
                    let cells = if as_text { text_cells::local(&cells, form)? } else { cells };
                    fields.push(Field::new(
                        guard.name(field.name()),
                        cells.data_type().clone(),
                        true,
                    ));
                    columns.push(ReleasedColumn::Quasi { cells, of_class });
                }
            } else if passed_through(column, roles).is_some() {
                let written =
                    if as_text { text_type(&column.data_type) } else { column.data_type.clone() };
                fields.push(Field::new(guard.name(&column.name), written, true));
                columns.push(ReleasedColumn::Passthrough);
            } else if let Some(name) = pseudonym.as_ref().filter(|_| is_first_of_key(&column.name))
            {
                fields.push(Field::new(guard.name(name), DataType::Int64, true));
                columns.push(ReleasedColumn::Pseudonym);
            } else if roles.count.as_ref() == Some(&column.name) {
                fields.push(Field::new(guard.name(&column.name), DataType::Int64, true));
                columns.push(ReleasedColumn::Count);
            }
        }
        if problem.is_counted() && recoding.is_of_rings() {
            let reason = "a table with a count column has no release of rings";
            return Err(Error::request("counted-rings", reason));
        }
        let passed = PassedThrough::new(table, roles);
        // Rows that show the same are one row: in a text file, an empty text shows nothing.
        let passed = if as_text && roles.count.is_some() { passed.in_text() } else { passed };
        let mut release = Release {
            schema: Arc::new(Schema::new(fields)),
            columns,
            rows: Vec::new(),
            classes: Vec::new(),
            counts: Vec::new(),
            batches: Vec::new(),
            passed,
            order: request.output.order,
            guard,
            pseudonyms: Pseudonyms::default(),
            sources: (roles.count.is_some() && problem.persons().is_some()).then(Vec::new),
            origins: None,
        };
        let key = if recoding.is_of_rings() { Key::from_system() } else { key };
        release.lay_out(problem, recoding, request, key)?;
        let mut is_released = vec![false; recoding.classes().len()];
        release.classes.iter().for_each(|&class| is_released[class as usize] = true);
        for (at, column) in labels {
            release.columns[at] = ReleasedColumn::Labels(Categories::new(&column, &is_released));
        }
        Ok(release)
    }

    /// Names and types of the released columns.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The number of released rows; with a count column, of rows that show something else.
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// The number of batches: [`batch`](Release::batch) takes numbers below it.
    pub fn batches(&self) -> usize {
        self.batches.len()
    }

    /// The number of cells, in the batches made so far, that got an apostrophe.
    pub fn guarded(&self) -> u64 {
        self.guard.cells()
    }

    /// From now on, [`batch`](Release::batch) records which source row each row stands for.
    pub(crate) fn record_origins(&mut self) {
        self.origins = Some(vec![OnceLock::new(); self.batches.len()]);
    }

    /// For each row of the release its source row, as far as batches were made and recorded.
    pub(crate) fn origins(&mut self) -> Vec<RowId> {
        let recorded = self.origins.take().into_iter().flatten();
        recorded.filter_map(OnceLock::into_inner).flatten().collect()
    }

    /// For each row of the release the source rows that it stands for, as far as batches were made
    /// and recorded.
    pub(crate) fn sources(&mut self) -> Vec<Origin> {
        self.sources.take().unwrap_or_else(|| {
            let origins = (0..).zip(self.origins());
            origins.map(|(released, source)| Origin { released, source, count: 1 }).collect()
        })
    }

    /// One batch of the release, by its number, counted from 0. Batches can be made in any order
    /// and at the same time.
    ///
    /// # Errors
    /// When the passed-through cells cannot be gathered.
    pub fn batch(&self, index: usize) -> Result<RecordBatch> {
        let (here, is_ordered) = self.batches[index].clone();
        let classes = &self.classes[here.clone()];
        let rows = &self.rows[here.clone()];
        let record = |order: &[usize]| {
            if let Some(origins) = &self.origins {
                let _ = origins[index].set(order.iter().map(|&at| rows[at]).collect());
            }
        };
        let cells = self.passed.comparable(rows)?;
        let order = self.order_within(rows, classes, cells.as_ref(), is_ordered);
        record(&order);
        let mut passed = match cells {
            None => Vec::new(),
            Some(cells) => cells
                .converter
                .convert_rows(order.iter().map(|&at| cells.row(at)))
                .map_err(gathering)?,
        };
        passed.reverse();
        let mut arrays = Vec::with_capacity(self.columns.len());
        for (column, field) in self.columns.iter().zip(self.schema.fields()) {
            let array = match column {
                ReleasedColumn::Quasi { cells, of_class } => {
                    let indices: UInt32Array =
                        classes.iter().map(|&class| of_class.get(class as usize)).collect();
                    take(cells, &indices, None).map_err(gathering)?
                }
                ReleasedColumn::Labels(labels) => labels.of_classes(classes)?,
                ReleasedColumn::Passthrough => {
                    let array = passed.pop().expect("one array a passed-through column");
                    as_type(&array, field.data_type())?
                }
                ReleasedColumn::Pseudonym => {
                    let numbers = order.iter().map(|&at| self.pseudonyms.of(rows[at]));
                    Arc::new(numbers.collect::<Int64Array>())
                }
                ReleasedColumn::Count => {
                    let counts = self.counts[here.clone()].iter();
                    Arc::new(counts.map(|&count| i64::from(count)).collect::<Int64Array>())
                }
            };
            arrays.push(self.guard.apply(array));
        }
        RecordBatch::try_new(Arc::clone(&self.schema), arrays).map_err(gathering)
    }

    /// The order in which the rows of a batch are written.
    fn order_within(
        &self,
        rows: &[RowId],
        classes: &[u32],
        cells: Option<&Comparable>,
        is_ordered: bool,
    ) -> Vec<usize> {
        let mut order: Vec<usize> = (0..classes.len()).collect();
        if !is_ordered && (cells.is_some() || !self.pseudonyms.is_empty()) {
            // A batch has whole classes, in order: only within a class do the passed-through cells
            // decide.
            for class in order.chunk_by_mut(|&a, &b| classes[a] == classes[b]) {
                class.sort_unstable_by(|&a, &b| self.compared(cells, rows, a, b));
            }
        }
        order
    }

    /// The order of two rows of a class by what they show: passed-through cells, then pseudonyms.
    fn compared(&self, cells: Option<&Comparable>, rows: &[RowId], a: usize, b: usize) -> Ordering {
        let by_cells = cells.map_or(Ordering::Equal, |cells| cells.row(a).cmp(&cells.row(b)));
        by_cells.then_with(|| self.pseudonyms.compared(rows[a], rows[b]))
    }

    /// The source rows of the release, the class of each, and the number of rows that each stands
    /// for; empty where each stands for itself.
    pub(crate) fn placed(&self) -> (&[RowId], &[u32], &[u32]) {
        (&self.rows, &self.classes, &self.counts)
    }

    /// For each written row, in order, the source row of its passed-through cells, and its class.
    pub(crate) fn written(&self) -> Result<Vec<(RowId, u32)>> {
        let mut written = Vec::with_capacity(self.rows.len());
        for (here, is_ordered) in &self.batches {
            let (rows, classes) = (&self.rows[here.clone()], &self.classes[here.clone()]);
            let cells = self.passed.comparable(rows)?;
            let order = self.order_within(rows, classes, cells.as_ref(), *is_ordered);
            written.extend(order.into_iter().map(|at| (rows[at], classes[at])));
        }
        Ok(written)
    }
}

/// Refuses a table with a NUL in a released cell or name, before the search: readers of text files
/// do not accept it.
///
/// # Errors
/// [`Data`](crate::ErrorKind::Data) with column and row of the first NUL.
pub fn check_text(table: &Table, roles: &Roles) -> Result<()> {
    let released = |name: &String| {
        let published = [&roles.quasi, &roles.sensitive, &roles.keep].into_iter().flatten();
        published.chain(&roles.count).any(|other| other == name)
    };
    let way_out = "which no text file can have: write Parquet or Arrow instead, or take it out";
    for column in table.columns().iter().filter(|column| released(&column.name)) {
        if column.name.contains('\0') {
            return Err(Error::data(
                "has-nul",
                format!(
                    "the name of column `{}` has a NUL, {way_out}",
                    column.name.replace('\0', "\\0")
                ),
            ));
        }
        let row = match (&column.passthrough, &column.coded) {
            (Some(chunks), _) => passthrough_nul(chunks),
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
            return Err(Error::data("has-nul", format!("the cell has a NUL, {way_out}"))
                .at_row(&column.name, row as u64));
        }
    }
    Ok(())
}

/// Refuses to publish identifiers that are to be hashed and were not: a run hashes them when it has
/// read the table.
fn refuse_unhashed(table: &Table, roles: &Roles, request: &Request) -> Result<()> {
    let is_hashed = |column: &&Column| roles.hashed.contains(&column.name);
    match table.columns().iter().find(is_hashed) {
        Some(column) if request.output.hash_secret.is_none() => {
            let reason = "the identifiers were not hashed: make the release with a run";
            Err(Error::request("not-hashed", reason).at_column(&column.name))
        }
        _ => Ok(()),
    }
}

/// The first row of a text column that has a NUL.
fn passthrough_nul(chunks: &[ArrayRef]) -> Option<usize> {
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
/// a year before 0), so that the guard sees the written text.
fn text_type(data_type: &DataType) -> DataType {
    let is_harmless =
        data_type.is_integer() || data_type.is_decimal() || *data_type == DataType::Boolean;
    // Types without a text form are refused when the file is written.
    let has_text = !data_type.is_nested()
        && !data_type.is_binary()
        && can_cast_types(data_type, &DataType::Utf8);
    if has_text && !is_harmless { DataType::Utf8 } else { data_type.clone() }
}

/// A cast that fails instead of making a cell missing. Arrow's own message would quote the cell.
fn as_type(cells: &ArrayRef, to: &DataType) -> Result<ArrayRef> {
    if cells.data_type() == to {
        return Ok(cells.clone());
    }
    let options = CastOptions { safe: false, ..CastOptions::default() };
    let fault = |_| {
        Error::data(
            "cannot-write",
            format!(
                "a cell of type {} cannot be written as text: write Parquet instead",
                cells.data_type()
            ),
        )
    };
    cast_with_options(cells, to, &options).map_err(fault)
}

#[allow(clippy::needless_pass_by_value, reason = "for map_err")]
fn gathering(error: arrow_schema::ArrowError) -> Error {
    Error::data("cannot-gather", format!("cannot gather the passed-through columns: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows of a release, class by class, as its batches have them.
    fn released(text: &str, toml: &str) -> (Vec<usize>, Vec<(String, String)>) {
        let table = crate::testing::table(text);
        let (roles, request) = crate::testing::request(&table, toml);
        let problem = crate::testing::problem_of(&table, &roles, &request).unwrap();
        let search = crate::SearchOptions::new(crate::Algorithm::Mondrian, 1);
        let recoding = crate::search::solve(&problem, search, &crate::Budget::unlimited()).recoding;
        let release = Release::new(
            &problem,
            &recoding,
            &table,
            &roles,
            &request,
            Key::from_seed(1),
            CellFormat::Typed,
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
                "k = 3\n[output]\norder = \"{order}\"\n[columns]\na = {{ role = \"quasi\" }}\n\
                 note = {{ role = \"keep\" }}\n"
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
