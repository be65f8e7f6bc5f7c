//! A release in memory as a text file has it: cells as text, formulas guarded.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{Field, Schema, SchemaRef};

use super::formula_guard::FormulaGuard;
use super::{as_type, gathering, passthrough_nul, text_type};
use crate::error::{Error, Result};
use crate::request::Request;

/// Makes text cells of typed ones, as [`CellFormat::Text`](super::CellFormat::Text) does.
#[derive(Debug)]
pub(crate) struct TextCells {
    schema: SchemaRef,
    guard: FormulaGuard,
}

impl TextCells {
    /// For batches of this schema.
    ///
    /// # Errors
    /// [`Data`](crate::ErrorKind::Data) when a name has a NUL.
    pub(crate) fn new(schema: &Schema, request: &Request) -> Result<TextCells> {
        let guard = FormulaGuard::new(!request.output.raw_formulas);
        let mut fields = Vec::new();
        for field in schema.fields() {
            if field.name().contains('\0') {
                return Err(has_nul(&field.name().replace('\0', "\\0")));
            }
            fields.push(Field::new(guard.name(field.name()), text_type(field.data_type()), true));
        }
        Ok(TextCells { schema: Arc::new(Schema::new(fields)), guard })
    }

    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The cells of a batch as they are written.
    ///
    /// # Errors
    /// When a cell has no text form, or has a NUL.
    pub(crate) fn batch(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let column = |(cells, field): (&ArrayRef, &Arc<Field>)| {
            let cells = as_type(cells, field.data_type())?;
            match passthrough_nul(std::slice::from_ref(&cells)) {
                Some(_) => Err(has_nul(field.name())),
                None => Ok(self.guard.apply(cells)),
            }
        };
        let columns = batch.columns().iter().zip(self.schema.fields()).map(column);
        let columns = columns.collect::<Result<Vec<_>>>()?;
        RecordBatch::try_new(Arc::clone(&self.schema), columns).map_err(gathering)
    }
}

/// The row of the release means nothing to its reader.
fn has_nul(name: &str) -> Error {
    let reason = "a name or a cell has a NUL, which no text file can have: write Parquet or Arrow \
                  instead, or take it out";
    Error::data("has-nul", reason).at_column(name)
}
