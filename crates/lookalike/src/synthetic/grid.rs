//! Points of a grid: independent columns of whole numbers from 1 to 16, uniformly or normally
//! distributed.
//!
//! The normal distribution is cut off at the ends of the domain. Its weights are rounded to whole
//! millionths of the greatest, so that the last digit of an exponential has no effect.
//!
//! # Reference
//! Xu, Wang, Pei, Wang, Shi, Fu: Utility-Based Anonymization Using Local Recoding, KDD 2006,
//! section 5.3 of the extended version.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};

use super::{Pick, row_generators};

/// The number of values of a column.
const NUMBERS: u8 = 16;
/// The weight that a number in the very middle would have.
const MOST: f64 = 1e6;

/// The distribution of the points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointGrid {
    /// The number of columns: `a1`, `a2` and so on.
    pub columns: usize,
    /// The standard deviation around the middle of the domain, above 0; none for the uniform
    /// distribution.
    pub sigma: Option<f64>,
}

impl PointGrid {
    pub(super) const UNIFORM: PointGrid = PointGrid { columns: 4, sigma: None };
    pub(super) const GAUSSIAN: PointGrid = PointGrid { columns: 4, sigma: Some(1.0) };

    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 0 and a million"
    )]
    fn weights(&self) -> Vec<u64> {
        let middle = (1.0 + f64::from(NUMBERS)) / 2.0;
        let weight = |number: u8| match self.sigma {
            None => 1,
            Some(sigma) => {
                let away = (f64::from(number) - middle) / sigma;
                (MOST * (-away * away / 2.0).exp()).round() as u64
            }
        };
        (1..=NUMBERS).map(weight).collect()
    }
}

/// The names and types of the columns of the grid.
pub fn grid_schema(grid: &PointGrid) -> SchemaRef {
    let fields: Vec<Field> =
        (1..=grid.columns).map(|at| Field::new(format!("a{at}"), DataType::Int64, false)).collect();
    Arc::new(Schema::new(fields))
}

/// The `rows` points that begin with row `first_row`, counted from 0. Panics when the standard
/// deviation is so small that no number has any weight.
pub fn grid_batch(grid: &PointGrid, seed: u64, first_row: u64, rows: usize) -> RecordBatch {
    let pick = Pick::new(&grid.weights());
    let mut columns = vec![Vec::with_capacity(rows); grid.columns];
    for mut rng in row_generators(seed, first_row, rows) {
        for column in &mut columns {
            column.push(1 + i64::try_from(pick.draw(&mut rng)).expect("a place below 16"));
        }
    }
    let arrays =
        columns.into_iter().map(|column| Arc::new(Int64Array::from(column)) as ArrayRef).collect();
    RecordBatch::try_new(grid_schema(grid), arrays).expect("columns of equal length")
}

#[cfg(test)]
mod tests {
    use arrow_array::cast::AsArray;
    use arrow_array::types::Int64Type;

    use super::*;

    fn numbers(grid: PointGrid) -> Vec<i64> {
        let batch = grid_batch(&grid, 5, 0, 20_000);
        assert_eq!(batch.num_columns(), grid.columns);
        batch.column(0).as_primitive::<Int64Type>().values().to_vec()
    }

    #[test]
    fn numbers_fill_the_domain_evenly_or_crowd_around_its_middle() {
        let of = |sigma| numbers(PointGrid { columns: 3, sigma });
        let share = |numbers: &[i64], from: i64, to: i64| {
            numbers.iter().filter(|number| (from..=to).contains(*number)).count() as f64
                / numbers.len() as f64
        };
        let even = of(None);
        assert!(
            (share(&even, 1, 4) - 0.25).abs() < 0.02 && even.contains(&1) && even.contains(&16)
        );
        // Of a normal distribution 68.3 % lie within one standard deviation and half a number on
        // each side: 7 to 10 at sigma 2.
        let bell = of(Some(2.0));
        assert!((share(&bell, 7, 10) - 0.683).abs() < 0.02, "{}", share(&bell, 7, 10));
        assert!(share(&of(Some(1.0)), 7, 10) > 0.94);
        assert!(bell.iter().all(|number| (1..=16).contains(number)));
    }

    #[test]
    fn a_further_column_does_not_change_the_ones_before() {
        assert_eq!(
            numbers(PointGrid { columns: 1, sigma: None })[0],
            numbers(PointGrid { columns: 4, sigma: None })[0]
        );
    }
}
