//! A release in memory as a text file has it: cells as text, formulas guarded.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};

use super::formula_guard::FormulaGuard;
use super::{as_type, gathering, passthrough_nul, text_type};
use crate::error::{Error, Result};
use crate::forms::Form;
use crate::request::{Dialect, Request, Role};

/// Makes text cells of typed ones, as [`CellFormat::Text`](super::CellFormat::Text) does.
#[derive(Debug)]
pub(crate) struct TextCells {
    schema: SchemaRef,
    guard: FormulaGuard,
    /// The form of each column that has one.
    forms: Vec<Option<Form>>,
}

impl TextCells {
    /// For batches of this schema.
    ///
    /// # Errors
    /// [`Data`](crate::ErrorKind::Data) when a name has a NUL.
    pub(crate) fn new(schema: &Schema, request: &Request) -> Result<TextCells> {
        let guard = FormulaGuard::new(!request.output.raw_formulas);
        let (mut fields, mut forms) = (Vec::new(), Vec::new());
        for field in schema.fields() {
            if field.name().contains('\0') {
                return Err(has_nul(&field.name().replace('\0', "\\0")));
            }
            let form = form(request, field.name());
            let text = if form.is_some() { DataType::Utf8 } else { text_type(field.data_type()) };
            fields.push(Field::new(guard.name(field.name()), text, true));
            forms.push(form.cloned());
        }
        Ok(TextCells { schema: Arc::new(Schema::new(fields)), guard, forms })
    }

    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The cells of a batch as they are written.
    ///
    /// # Errors
    /// When a cell has no text form, or has a NUL.
    pub(crate) fn batch(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let column = |((cells, field), form): ((&ArrayRef, &Arc<Field>), &Option<Form>)| {
            let cells = match form {
                Some(form) => local(cells, Some(form))?,
                None => as_type(cells, field.data_type())?,
            };
            match passthrough_nul(std::slice::from_ref(&cells)) {
                Some(_) => Err(has_nul(field.name())),
                None => Ok(self.guard.apply(cells)),
            }
        };
        let columns = batch.columns().iter().zip(self.schema.fields()).zip(&self.forms).map(column);
        let columns = columns.collect::<Result<Vec<_>>>()?;
        RecordBatch::try_new(Arc::clone(&self.schema), columns).map_err(gathering)
    }
}

/// The form of a released column: that of its quasi-identifier, which may be published as bounds.
pub(super) fn form<'r>(request: &'r Request, name: &str) -> Option<&'r Form> {
    if request.output.dialect == Dialect::Plain {
        return None;
    }
    let is_quasi = |name: &&str| request.column(name).is_some_and(|line| line.role == Role::Quasi);
    let of_bound = ["_min", "_max", "_center"].into_iter().find_map(|end| name.strip_suffix(end));
    let quasi = [name].into_iter().chain(of_bound).find(is_quasi)?;
    request.column(quasi)?.format.as_ref()
}

/// The cells of a quasi-identifier as a text file has them, in the form of the column.
pub(super) fn local(cells: &ArrayRef, form: Option<&Form>) -> Result<ArrayRef> {
    let Some(form) = form else { return as_type(cells, &text_type(cells.data_type())) };
    let texts = as_type(cells, &DataType::Utf8)?;
    let local = |label: Option<&str>| label.map(|label| form.local_label(label));
    Ok(Arc::new(texts.as_string::<i32>().iter().map(local).collect::<StringArray>()))
}

/// The row of the release means nothing to its reader.
fn has_nul(name: &str) -> Error {
    let reason = "a name or a cell has a NUL, which no text file can have: write Parquet or Arrow \
                  instead, or take it out";
    Error::data("has-nul", reason).at_column(name)
}
