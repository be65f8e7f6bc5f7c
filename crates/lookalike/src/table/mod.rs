//! A table in memory and on disk: some columns coded (distinct values once, a narrow code a row),
//! some passed through as they came. This room knows no privacy.

mod build;
mod coded;
mod count;
mod headless;
mod plain;
mod read;
mod write;

pub use build::{coded_throughout, in_memory};
pub use coded::Coded;
pub use read::{ReadOptions, Source, from_batches, open, open_reader, open_text, text};
pub(crate) use read::{is_lasting, parts};
pub use write::pending::{
    Access, Existing, Pending, PublishedFiles, StdoutState, give_up, real_place, take_leftovers,
    to_stream, undisturbed, write_text,
};
pub use write::{
    Compression, FileType, Format, TextDialect, check_columns, check_types, file_type, write,
};

#[cfg(test)]
pub(crate) use write::csv::{csv_header, csv_text};

use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;

use crate::error::{Error, Hint, Result};

/// How the reader treats a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Treatment {
    /// Code its values; the text of each row can be had from the dictionary.
    Code,
    /// Code its values so that they can be distinguished: by their text, or where their type has
    /// none by their bytes.
    Compare,
    /// Pass its cells through as they came, unparsed.
    PassThrough,
    /// Both: a sensitive column is counted and published.
    CodeAndPassThrough,
    /// Do not even decode it.
    Skip,
}

/// One column of a [`Table`].
#[derive(Clone, Debug)]
pub struct Column {
    /// The column's name, unique in its table.
    pub name: String,
    /// The type in the file it came from; `Utf8` for CSV. Dictionaries count as their values.
    pub data_type: DataType,
    /// The codes, if the reader was asked for them.
    pub coded: Option<Coded>,
    /// The cells as they came, batch by batch, if the reader was asked for them. All batches of a
    /// table have the same row boundaries. Dictionary arrays are unpacked, so that no value that no
    /// row has can travel along.
    pub passthrough: Option<Vec<ArrayRef>>,
}

/// How many different values a column has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DistinctCount {
    /// The column's name.
    pub name: String,
    /// Rows with a value.
    pub present: u64,
    /// Different values among them; at most `present`.
    pub distinct: u64,
    /// False when that is estimated from a sample of the values.
    pub is_exact: bool,
}

/// Columns of equal length: those that were not skipped, in file order.
#[derive(Clone, Debug, Default)]
pub struct Table {
    columns: Vec<Column>,
    rows: usize,
    /// Its cells were text.
    is_text: bool,
    /// Its names were a line of that text, and nobody says that it is the header.
    may_be_headless: bool,
    /// Columns of a sheet with numbers that have a fraction: they are plain as they are.
    numbers: Vec<String>,
}

impl Table {
    /// A table of `rows` rows; there may be rows without any column.
    ///
    /// # Panics
    /// When a column has another number of rows.
    pub fn new(columns: Vec<Column>, rows: usize) -> Table {
        for column in &columns {
            let coded = column.coded.as_ref().map(|coded| coded.codes().len());
            let passthrough = column.passthrough.as_ref();
            let passthrough = passthrough.map(|parts| parts.iter().map(|part| part.len()).sum());
            let is_whole = coded.into_iter().chain(passthrough).all(|length: usize| length == rows);
            assert!(is_whole, "all columns of a table have its number of rows");
        }
        Table { columns, rows, is_text: false, may_be_headless: false, numbers: Vec::new() }
    }

    /// True when its cells were text in a file: CSV, or a sheet.
    pub fn is_text(&self) -> bool {
        self.is_text
    }

    /// The same table, whose cells were text; its first line may be a row unless the header is sure.
    pub(crate) fn of_text(self, may_be_headless: bool) -> Table {
        Table { is_text: true, may_be_headless, ..self }
    }

    /// The same table, of a sheet in which these columns have numbers with a fraction.
    pub(crate) fn with_numbers(self, numbers: Vec<String>) -> Table {
        Table { numbers, ..self }
    }

    /// True for a column whose numbers and dates may be written as people write them: one of a text
    /// file, or of a sheet whose cells are texts.
    pub(crate) fn may_have_form(&self, name: &str) -> bool {
        self.is_text && !self.numbers.iter().any(|other| other == name)
    }

    /// The columns, in file order.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Whoever changes a column keeps its length.
    pub(crate) fn columns_mut(&mut self) -> &mut [Column] {
        &mut self.columns
    }

    /// How many rows each column has.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Takes the codes out, once they are not needed here any more: the table that is returned has
    /// them, and shares the cells that are passed through.
    pub fn take_codes(&mut self) -> Table {
        let with_codes = |column: &mut Column| Column {
            name: column.name.clone(),
            data_type: column.data_type.clone(),
            coded: column.coded.take(),
            passthrough: column.passthrough.clone(),
        };
        Table {
            columns: self.columns.iter_mut().map(with_codes).collect(),
            rows: self.rows,
            is_text: self.is_text,
            may_be_headless: self.may_be_headless,
            numbers: self.numbers.clone(),
        }
    }

    /// The same table with these columns in the place of those of their names.
    pub(crate) fn with_columns(mut self, columns: Vec<Column>) -> Table {
        for column in columns {
            let place = self.columns.iter_mut().find(|other| other.name == column.name);
            *place.expect("a column of the table") = column;
        }
        self
    }

    /// The table of some of its rows, in order: to train on a part and to test on the rest.
    ///
    /// # Panics
    /// When there is not one answer for each row.
    pub fn of_rows(&self, is_kept: &[bool]) -> Table {
        assert_eq!(is_kept.len(), self.rows, "one answer for each row");
        let of_column = |column: &Column| {
            let coded = column.coded.as_ref().map(|coded| coded.of_rows(is_kept));
            let passthrough = column.passthrough.as_ref().map(|parts| kept_cells(parts, is_kept));
            let (name, data_type) = (column.name.clone(), column.data_type.clone());
            Column { name, data_type, coded, passthrough }
        };
        let columns = self.columns.iter().map(of_column).collect();
        let rows = is_kept.iter().filter(|is_kept| **is_kept).count();
        let Table { is_text, may_be_headless, .. } = *self;
        Table { columns, rows, is_text, may_be_headless, numbers: self.numbers.clone() }
    }

    /// The column of that name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// Refuses a text file whose first line is very probably a row: names of coded columns are values of
    /// those columns, numbers among numbers, or dates among dates. The names of all other tables are part
    /// of a schema.
    ///
    /// # Errors
    /// [`Data`](crate::ErrorKind::Data) then.
    pub fn check_header(&self) -> Result<()> {
        if !self.may_be_headless {
            return Ok(());
        }
        let coded = self.columns.iter().filter_map(|column| {
            let coded = column.coded.as_ref()?;
            Some((column.name.as_str(), coded.values().iter().flatten().map(String::as_str)))
        });
        if !headless::signs(coded).are_of_a_row() {
            return Ok(());
        }
        Err(Error::data(
            "no-header",
            "the first line looks like a row, not like names (its cells are numbers or dates above \
             numbers or dates, or come again in their columns)",
        )
        .hint(Hint::SetNames)
        .hint(Hint::TrustHeader))
    }

    /// The codes of the column of that name; panics if it is absent or was not coded.
    pub fn coded(&self, name: &str) -> &Coded {
        self.column(name)
            .and_then(|column| column.coded.as_ref())
            .expect("the reader was asked to code this column")
    }
}

/// The cells of some of the rows, in batches as before.
fn kept_cells(parts: &[ArrayRef], is_kept: &[bool]) -> Vec<ArrayRef> {
    let mut rest = is_kept;
    let of_part = |part: &ArrayRef| {
        let (of_part, others) = rest.split_at(part.len());
        rest = others;
        let cells = arrow_select::filter::filter(part, &of_part.to_vec().into());
        cells.expect("one answer for each cell")
    };
    parts.iter().map(of_part).collect()
}
