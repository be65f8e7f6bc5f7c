//! A table in memory: some columns coded (distinct values once, a narrow code a row), some carried
//! as they came.

mod build;
mod coded;
mod count;
mod plain;
mod read;
mod write;

pub use build::in_memory;
pub use read::{Source, open, open_text, text};
pub use write::pending::{
    Access, Pending, Stream, Written, give_up, real_place, to_stream, undisturbed,
};
pub use write::{Compression, FileType, Format, check_columns, check_types, file_type, write};

#[cfg(test)]
pub(crate) use write::csv::{csv_header, csv_text};

use arrow_array::ArrayRef;
use arrow_schema::DataType;

use crate::codes::{Codes, RowId};
use crate::error::{Error, Result};

/// What the reader does with a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Treatment {
    /// Code its values; the text of each row can be had from the dictionary.
    Code,
    /// Code its values so that they can be told apart: by their text, or where their type has none
    /// by their bytes.
    Compare,
    /// Keep its cells as they came, unparsed.
    Carry,
    /// Both: a sensitive column is counted and published.
    CodeAndCarry,
    /// Do not even decode it.
    Skip,
}

/// The distinct values of a column and, for each row, which one it has.
///
/// Invariant: every code is below `values.len()`, the values are distinct, and `first_row[c]` is
/// the least row with code `c`.
#[derive(Clone, Debug)]
pub struct Coded {
    /// The distinct values in order of first appearance; `None` is a missing value (null, or an
    /// empty CSV cell).
    pub values: Vec<Option<String>>,
    /// For each value the first row that has it: errors name a row, never a value.
    pub first_row: Vec<RowId>,
    /// For each row its value's place in `values`.
    pub codes: Codes,
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
    pub carried: Option<Vec<ArrayRef>>,
}

/// How many different values a column has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    /// The column's name.
    pub name: String,
    /// Rows with a value.
    pub present: u64,
    /// How many different values they have.
    pub distinct: u64,
    /// False when that is estimated from a sample of the values.
    pub is_exact: bool,
}

/// Columns of equal length.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// The columns that were not skipped, in file order.
    pub columns: Vec<Column>,
    /// How many rows each of them has.
    pub rows: usize,
}

impl Table {
    /// The column of that name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// Refuses a table whose header is a row: the names of most coded columns are cells of those
    /// columns.
    ///
    /// # Errors
    /// [`Data`](crate::ErrorKind::Data) then.
    pub fn check_header(&self) -> Result<()> {
        let coded = self.columns.iter().filter_map(|column| Some((column, column.coded.as_ref()?)));
        let is_cell = |(column, coded): &(&Column, &Coded)| {
            coded.values.iter().flatten().any(|value| *value == column.name)
        };
        if 2 * coded.clone().filter(is_cell).count() <= coded.count() {
            return Ok(());
        }
        Err(Error::data(
            "the first line looks like a row, not like names (most columns have a cell that equals their name): put a line with the \
             names of the columns first",
        ))
    }

    /// The codes of the column of that name; panics if it is absent or was not coded.
    pub fn coded(&self, name: &str) -> &Coded {
        self.column(name)
            .and_then(|column| column.coded.as_ref())
            .expect("the reader was asked to code this column")
    }
}
