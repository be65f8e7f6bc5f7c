//! Label columns as Arrow dictionaries: every label once, in the order of the domain, and a key for
//! each row.
//!
//! A dictionary goes wherever its column goes, whoever reads it: it has the labels that released rows
//! have, and no other.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, DictionaryArray, Int32Array, StringArray};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, Field};

use super::gathering;
use super::published::PublishedColumn;
use crate::error::Result;

/// A column of labels.
#[derive(Debug)]
pub(super) struct Categories {
    /// The labels of the released rows, in the order of the domain.
    labels: ArrayRef,
    /// For each class the key of its label; [`MISSING`] where its cell is missing, and for classes
    /// without released rows.
    key_of_class: Vec<i32>,
    has_missing: bool,
}

/// No key of any label.
const MISSING: i32 = -1;

impl Categories {
    /// The labels of a column that classes with released rows have.
    ///
    /// # Panics
    /// When the cells are not text.
    pub(super) fn new(column: &PublishedColumn, is_released: &[bool]) -> Categories {
        let cells = column.cells.as_string::<i32>();
        let cell_of = |class: usize| column.of_class.get(class) as usize;
        let present = |class: &usize| is_released[*class] && cells.is_valid(cell_of(*class));
        let classes = 0..is_released.len();
        // The first cell of each place that is shown.
        let places = column.places.iter().max().map_or(0, |&last| last as usize + 1);
        let mut shown: Vec<Option<usize>> = vec![None; places];
        for class in classes.clone().filter(present) {
            let cell = cell_of(class);
            shown[column.places[cell] as usize].get_or_insert(cell);
        }
        let labels: StringArray =
            shown.iter().flatten().map(|&cell| Some(cells.value(cell))).collect();
        let mut keys = vec![MISSING; places];
        let with_label = (0..places).filter(|&place| shown[place].is_some());
        (0..).zip(with_label).for_each(|(key, place)| keys[place] = key);
        let key = |class: usize| match present(&class) {
            true => keys[column.places[cell_of(class)] as usize],
            false => MISSING,
        };
        let key_of_class: Vec<i32> = classes.clone().map(key).collect();
        let mut released = classes.filter(|&class| is_released[class]);
        let has_missing = released.any(|class| key_of_class[class] == MISSING);
        Categories { labels: Arc::new(labels), key_of_class, has_missing }
    }

    /// The cells of some classes, one after the other.
    ///
    /// # Errors
    /// When they cannot be gathered.
    pub(super) fn of_classes(&self, classes: &[u32]) -> Result<ArrayRef> {
        let key = |&class: &u32| self.key_of_class[class as usize];
        let (keys, nulls) = if self.has_missing {
            let present = classes.iter().map(|class| key(class) != MISSING);
            // Under a missing cell is always the same key.
            let keys: Vec<i32> = classes.iter().map(|class| key(class).max(0)).collect();
            (keys, Some(NullBuffer::from_iter(present)))
        } else {
            (classes.iter().map(key).collect(), None)
        };
        let keys = Int32Array::new(keys.into(), nulls.filter(|nulls| nulls.null_count() > 0));
        let cells = DictionaryArray::try_new(keys, Arc::clone(&self.labels)).map_err(gathering)?;
        Ok(Arc::new(cells))
    }
}

/// The field of a column of labels.
pub(super) fn field(name: &str) -> Field {
    let (keys, labels) = (Box::new(DataType::Int32), Box::new(DataType::Utf8));
    Field::new(name, DataType::Dictionary(keys, labels), true).with_dict_is_ordered(true)
}
