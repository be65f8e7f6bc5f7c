//! How many different values a column has that is not read otherwise, in little memory: exact up to
//! a limit, from a sample of the values beyond.

use std::hash::BuildHasher;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_buffer::ArrowNativeType;
use arrow_row::{RowConverter, SortField};
use arrow_schema::{ArrowError, DataType};
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::codes::real;
use crate::table::DistinctCount;

/// So many values are distinguished before only half of those that come are looked at, then a quarter,
/// and so on.
const MOST: usize = 1 << 16;

/// Counts values by their hashes. Of a value that is looked at all rows are counted, so the mean
/// number of rows a value has is not biased.
pub(super) struct Counter {
    rows_of: FxHashMap<u64, u64>,
    /// Values with a greater hash are not looked at.
    limit: u64,
    present: u64,
}

impl Counter {
    pub(super) fn new() -> Counter {
        Counter { rows_of: FxHashMap::default(), limit: u64::MAX, present: 0 }
    }

    /// Counts the cells of the next rows.
    pub(super) fn extend(&mut self, cells: &ArrayRef) -> Result<(), ArrowError> {
        if *cells.data_type() == DataType::Utf8 {
            let cells = cells.as_string::<i32>();
            let ends = cells.value_offsets().windows(2).enumerate();
            let places = ends
                .filter(|&(at, _)| cells.is_valid(at))
                .map(|(_, ends)| (ends[0].as_usize(), ends[1].as_usize()));
            self.texts(cells.value_data(), places);
            return Ok(());
        }
        let converter = RowConverter::new(vec![SortField::new(cells.data_type().clone())])?;
        let rows = converter.convert_columns(std::slice::from_ref(cells))?;
        for (_, row) in rows.iter().enumerate().filter(|(at, _)| !cells.is_null(*at)) {
            self.add(FxBuildHasher.hash_one(row.as_ref()));
        }
        Ok(())
    }

    /// Counts cells that lie in a text, given by start and end; an empty one is missing.
    pub(super) fn texts(&mut self, text: &[u8], cells: impl Iterator<Item = (usize, usize)>) {
        for (start, end) in cells.filter(|(start, end)| start < end) {
            self.add(FxBuildHasher.hash_one(&text[start..end]));
        }
    }

    fn add(&mut self, hash: u64) {
        self.present += 1;
        // The high bits decide who is looked at: mix them well (the finalizer of splitmix64).
        let hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let hash = hash ^ (hash >> 31);
        if hash > self.limit {
            return;
        }
        *self.rows_of.entry(hash).or_insert(0) += 1;
        if self.rows_of.len() > MOST {
            self.limit /= 2;
            let limit = self.limit;
            self.rows_of.retain(|&hash, _| hash <= limit);
        }
    }

    pub(super) fn finish(self, name: String) -> DistinctCount {
        let (values, rows) = (self.rows_of.len() as u64, self.rows_of.values().sum::<u64>());
        let is_exact = self.limit == u64::MAX;
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "at most the number of rows"
        )]
        let distinct = match rows {
            _ if is_exact => values,
            0 => 0,
            _ => (real(self.present) * real(values) / real(rows)).round() as u64,
        };
        DistinctCount { name, present: self.present, distinct, is_exact }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{Int64Array, StringArray};
    use std::sync::Arc;

    fn counted(arrays: &[ArrayRef]) -> DistinctCount {
        let mut counter = Counter::new();
        arrays.iter().for_each(|array| counter.extend(array).unwrap());
        counter.finish("id".into())
    }

    #[test]
    fn few_values_are_counted_exactly_and_missing_ones_not() {
        let texts: ArrayRef =
            Arc::new(StringArray::from(vec![Some("a"), None, Some("b"), Some("a"), Some("")]));
        let DistinctCount { present, distinct, is_exact, .. } = counted(&[texts.clone(), texts]);
        assert_eq!((present, distinct, is_exact), (6, 2, true));
        let numbers: ArrayRef = Arc::new(Int64Array::from(vec![Some(7), None, Some(7), Some(8)]));
        let DistinctCount { present, distinct, is_exact, .. } = counted(&[numbers]);
        assert_eq!((present, distinct, is_exact), (3, 2, true));
    }

    #[test]
    fn many_values_are_estimated_and_unique_ones_stay_unique() {
        let column = |rows: i64, each: i64| -> Vec<ArrayRef> {
            (0..10)
                .map(|batch| {
                    Arc::new(Int64Array::from_iter_values(
                        (0..rows / 10).map(|i| (batch * rows / 10 + i) / each),
                    )) as ArrayRef
                })
                .collect()
        };
        let unique = counted(&column(1_000_000, 1));
        assert_eq!(
            (unique.present, unique.distinct, unique.is_exact),
            (1_000_000, 1_000_000, false)
        );
        let five = counted(&column(1_000_000, 5));
        assert!((199_000..201_000).contains(&five.distinct), "{five:?}");
    }
}
