//! The dictionaries of a release: a reader of cells sees only the labels that rows have, but whoever
//! gets the buffers gets all of them.

use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;

use crate::error::{Error, Result};

/// Checks that every column of labels has one dictionary, and that some row has each of its labels.
///
/// # Errors
/// [`NotVerified`](crate::ErrorKind::NotVerified) with the column where it is not so.
pub(super) fn check(batches: &[RecordBatch]) -> Result<()> {
    let Some(first) = batches.first() else { return Ok(()) };
    let schema = first.schema();
    for (at, field) in schema.fields().iter().enumerate() {
        if matches!(field.data_type(), DataType::Dictionary(..)) && !is_used(batches, at) {
            let reason = format!(
                "the dictionary of the released column `{}` has labels that no row has; the release \
                 is not published",
                field.name()
            );
            return Err(Error::not_verified(reason));
        }
    }
    Ok(())
}

/// True when all batches share the dictionary of a column, and their rows have all of it.
fn is_used(batches: &[RecordBatch], at: usize) -> bool {
    let dictionary = |batch: &RecordBatch| batch.column(at).as_any_dictionary().values().clone();
    let labels = dictionary(&batches[0]);
    let mut seen = vec![false; labels.len()];
    for batch in batches {
        let cells = batch.column(at).as_any_dictionary();
        if !cells.values().to_data().ptr_eq(&labels.to_data()) {
            return false;
        }
        if labels.is_empty() {
            continue;
        }
        let keys = cells.normalized_keys();
        match cells.keys().nulls() {
            None => keys.iter().for_each(|&key| seen[key] = true),
            Some(nulls) => nulls.valid_indices().for_each(|row| seen[keys[row]] = true),
        }
    }
    labels.null_count() == 0 && seen.into_iter().all(|is_seen| is_seen)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, DictionaryArray, Int32Array, StringArray};

    use super::*;

    #[test]
    fn a_label_that_no_row_has_is_found_also_under_a_null() {
        let labels: ArrayRef = Arc::new(StringArray::from(vec!["young", "old"]));
        let batch = |keys: &[Option<i32>], labels: &ArrayRef| {
            let keys = Int32Array::from(keys.to_vec());
            let cells = DictionaryArray::new(keys, Arc::clone(labels));
            RecordBatch::try_from_iter([("age", Arc::new(cells) as ArrayRef)]).unwrap()
        };
        let whole = [batch(&[Some(0)], &labels), batch(&[Some(1), None], &labels)];
        assert!(check(&whole).is_ok() && check(&[]).is_ok());
        let error = check(&whole[..1]).unwrap_err();
        assert_eq!(error.kind(), crate::ErrorKind::NotVerified);
        assert!(error.to_string().contains("`age`") && !error.to_string().contains("old"));
        let hidden = Int32Array::new(vec![0, 1].into(), Some(vec![true, false].into()));
        let cells: ArrayRef = Arc::new(DictionaryArray::new(hidden, Arc::clone(&labels)));
        assert!(check(&[RecordBatch::try_from_iter([("age", cells)]).unwrap()]).is_err());
        let other: ArrayRef = Arc::new(StringArray::from(vec!["young", "old"]));
        assert!(check(&[batch(&[Some(0)], &labels), batch(&[Some(1)], &other)]).is_err());
        let none: ArrayRef = Arc::new(StringArray::from(Vec::<&str>::new()));
        assert!(check(&[batch(&[None], &none)]).is_ok(), "every cell is missing");
    }
}
