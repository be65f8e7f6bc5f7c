//! Arrays that hold the values of their rows and nothing else.
//!
//! An Arrow array may carry more than its rows show: dictionary entries that no row uses, bytes
//! under a null, neighbours in a buffer that several arrays share, metadata of a nested field. None
//! of it may travel into a release.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Date64Type;
use arrow_array::{Array, ArrayRef, StringArray};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_row::{Row, RowConverter, SortField};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Schema, SchemaRef};

/// The type with every dictionary and run replaced by what it stands for, dates in milliseconds by
/// dates in days, and without metadata of nested fields.
pub(super) fn plain_type(data_type: &DataType) -> DataType {
    match data_type {
        DataType::Dictionary(_, values) => plain_type(values),
        DataType::RunEndEncoded(_, values) => plain_type(values.data_type()),
        DataType::Date64 => DataType::Date32,
        DataType::List(item) => DataType::List(plain_field(item)),
        DataType::LargeList(item) => DataType::LargeList(plain_field(item)),
        DataType::FixedSizeList(item, size) => DataType::FixedSizeList(plain_field(item), *size),
        DataType::Map(entries, sorted) => DataType::Map(plain_field(entries), *sorted),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(plain_field).collect()),
        other => other.clone(),
    }
}

fn plain_field(field: &FieldRef) -> FieldRef {
    Arc::new(Field::new(field.name(), plain_type(field.data_type()), field.is_nullable()))
}

/// The schema of plain columns, without metadata.
pub(super) fn plain_schema(schema: &Schema) -> SchemaRef {
    Arc::new(Schema::new(schema.fields().iter().map(plain_field).collect::<Vec<_>>()))
}

const MILLISECONDS_OF_A_DAY: i64 = 86_400_000;

/// Unpacks dictionaries and runs; an array without them is returned as it is.
pub(super) fn unpack(array: ArrayRef) -> Result<ArrayRef, ArrowError> {
    let data_type = plain_type(array.data_type());
    if let Some(dates) = array.as_primitive_opt::<Date64Type>()
        && dates.iter().flatten().any(|date| date % MILLISECONDS_OF_A_DAY != 0)
    {
        return Err(ArrowError::CastError("a date is not a whole day".into()));
    }
    if *array.data_type() == data_type { Ok(array) } else { cast(&array, &data_type) }
}

/// A cast that fails rather than making a value missing.
pub(super) fn cast(array: &ArrayRef, to: &DataType) -> Result<ArrayRef, ArrowError> {
    cast_with_options(array, to, &CastOptions { safe: false, ..CastOptions::default() })
}

/// True when [`rebuild`] can be used, and a table with such a column can be sorted.
pub(super) fn is_supported(data_type: &DataType) -> bool {
    RowConverter::supports_fields(&[SortField::new(data_type.clone())])
}

/// The same values in buffers of their own. Going through the row format is slower than copying the
/// buffers, but it takes the values one by one and knows every type.
pub(super) fn rebuild(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let converter = RowConverter::new(vec![SortField::new(array.data_type().clone())])?;
    let rows = converter.convert_columns(std::slice::from_ref(array))?;
    let rebuilt = converter.convert_rows(&rows)?.swap_remove(0);
    if rebuilt.data_type() == array.data_type() {
        Ok(rebuilt)
    } else {
        cast(&rebuilt, array.data_type())
    }
}

/// A text for each value, equal where the values are; it is no number, date or formula.
pub(super) fn bytes(array: &ArrayRef) -> Result<StringArray, ArrowError> {
    let converter = RowConverter::new(vec![SortField::new(array.data_type().clone())])?;
    let rows = converter.convert_columns(std::slice::from_ref(array))?;
    let digit = |half: u8| char::from(b"0123456789abcdef"[usize::from(half)]);
    let text = |row: Row<'_>| {
        "bytes "
            .chars()
            .chain(row.as_ref().iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]))
            .collect::<String>()
    };
    Ok(rows.iter().enumerate().map(|(at, row)| array.is_valid(at).then(|| text(row))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::builder::{ListBuilder, StringBuilder, StringDictionaryBuilder};
    use arrow_array::types::{Int32Type, Int64Type};
    use arrow_array::{BooleanArray, Float64Array, Int64Array, StringViewArray, StructArray};
    use arrow_buffer::{NullBuffer, ScalarBuffer};

    #[test]
    fn bytes_under_a_null_do_not_depend_on_what_was_there() {
        let under = |secret: i64| {
            let array = Int64Array::new(
                ScalarBuffer::from(vec![7, secret, 9]),
                Some(NullBuffer::from(vec![true, false, true])),
            );
            let rebuilt = rebuild(&(Arc::new(array) as ArrayRef)).unwrap();
            assert_eq!(
                rebuilt.as_primitive::<Int64Type>(),
                &Int64Array::from(vec![Some(7), None, Some(9)])
            );
            rebuilt.as_primitive::<Int64Type>().values()[1]
        };
        assert_eq!(under(4711), under(0));
    }

    #[test]
    fn a_slice_of_views_lets_go_of_its_neighbours() {
        let views: StringViewArray =
            (0..100).map(|i| Some(format!("a long text with the number {i}"))).collect();
        let slice: ArrayRef = Arc::new(views.slice(3, 2));
        let rebuilt = rebuild(&slice).unwrap();
        assert_eq!(&rebuilt, &slice);
        let bytes: usize =
            rebuilt.as_string_view().data_buffers().iter().map(|buffer| buffer.len()).sum();
        assert!(bytes < 100, "{bytes}");
    }

    #[test]
    fn every_kind_of_column_is_rebuilt_to_equal_values_and_type() {
        let mut lists = ListBuilder::new(StringBuilder::new());
        lists.append_value([Some("x"), None]);
        lists.append_null();
        lists.append_value(Vec::<Option<&str>>::new());
        let text: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), None, Some("")]));
        let fields = vec![Field::new("t", DataType::Utf8, true)];
        let columns: [ArrayRef; 5] = [
            Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)])),
            Arc::new(Float64Array::from(vec![Some(-0.0), None, Some(f64::INFINITY)])),
            Arc::new(lists.finish()),
            Arc::new(StructArray::new(fields.into(), vec![text.clone()], None)),
            text,
        ];
        for column in columns {
            assert_eq!(&rebuild(&column).unwrap(), &column);
        }
    }

    #[test]
    fn dictionaries_inside_lists_are_unpacked_too() {
        let mut lists = ListBuilder::new(StringDictionaryBuilder::<Int32Type>::new());
        lists.append_value([Some("x"), Some("y"), Some("x")]);
        let unpacked = unpack(Arc::new(lists.finish())).unwrap();
        assert_eq!(
            unpacked.data_type(),
            &DataType::List(Arc::new(Field::new_list_field(DataType::Utf8, true)))
        );
        assert_eq!(
            unpacked.as_list::<i32>().value(0).as_string::<i32>(),
            &StringArray::from(vec!["x", "y", "x"])
        );
    }
}
