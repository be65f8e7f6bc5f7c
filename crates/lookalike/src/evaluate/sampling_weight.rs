//! The sampling weight of a survey: how many persons of the population a row stands for.

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::DataType;

use crate::domain::parse::number;
use crate::error::{Error, Result};
use crate::table::{Coded, Column, Table};

/// The weight of each row: a number above 0.
///
/// # Example
/// ```
/// # use lookalike::{evaluate::sampling_weight::sampling_weights, table, table::Treatment};
/// let read = |csv: &str| {
///     let source = table::open_text(csv.into(), "survey.csv".as_ref())?;
///     sampling_weights(&source.read(&[Treatment::PassThrough; 2])?, "w")
/// };
/// assert_eq!(read("age,w\n30,12.5\n40,3\n")?, [12.5, 3.0]);
/// let error = read("age,w\n30,12.5\n40,0\n").unwrap_err();
/// assert_eq!((error.code(), error.place().row), ("not-a-weight", Some(2)));
/// # Ok::<(), lookalike::Error>(())
/// ```
///
/// # Errors
/// When a cell is missing, no number, or not above 0; when the table was read without the column.
pub fn sampling_weights(table: &Table, name: &str) -> Result<Vec<f64>> {
    let mut weights = Vec::with_capacity(table.rows());
    each_weight(column(table, name)?, |weight| weights.push(weight))?;
    Ok(weights)
}

/// Refuses a weight that is none.
pub(super) fn check_weights(table: &Table, name: &str) -> Result<()> {
    each_weight(column(table, name)?, |_| ())
}

fn column<'t>(table: &'t Table, name: &str) -> Result<&'t Column> {
    table.column(name).ok_or_else(|| {
        let reason = format!("the table has no sampling weight `{name}`, or it was not read");
        Error::data("table-lacks-column", reason).about_column(name)
    })
}

/// The weight of each value of a coded column.
///
/// # Errors
/// With the first row whose weight is none.
pub(super) fn value_weights(name: &str, coded: &Coded) -> Result<Vec<f64>> {
    let weight = |text: &Option<String>| number(text.as_ref()?).filter(is_weight);
    let weights: Vec<Option<f64>> = coded.values().iter().map(weight).collect();
    let faults = weights.iter().zip(coded.first_row()).filter(|(weight, _)| weight.is_none());
    match faults.map(|(_, &row)| row).min() {
        Some(row) => Err(not_a_weight(name, u64::from(row))),
        None => Ok(weights.into_iter().flatten().collect()),
    }
}

fn is_weight(weight: &f64) -> bool {
    weight.is_finite() && *weight > 0.0
}

fn not_a_weight(name: &str, row: u64) -> Error {
    let reason = "not a sampling weight; a weight is a number above 0, and no row is without";
    Error::data("not-a-weight", reason).at_row(name, row)
}

/// Calls `take` with the weight of each row, in order.
fn each_weight(column: &Column, mut take: impl FnMut(f64)) -> Result<()> {
    if let Some(coded) = &column.coded {
        let weights = value_weights(&column.name, coded)?;
        coded.codes().iter().for_each(|code| take(weights[code as usize]));
        return Ok(());
    }
    let mut row = 0;
    for chunk in column.passthrough.iter().flatten() {
        for weight in weights_of(chunk) {
            let weight = weight.filter(is_weight);
            take(weight.ok_or_else(|| not_a_weight(&column.name, row as u64))?);
            row += 1;
        }
    }
    Ok(())
}

/// The numbers of an array; none where a cell is missing or no number.
fn weights_of(cells: &ArrayRef) -> Vec<Option<f64>> {
    let options = CastOptions { safe: true, ..CastOptions::default() };
    let is_number = cells.data_type().is_numeric();
    let to = if is_number { DataType::Float64 } else { DataType::Utf8 };
    match cast_with_options(cells, &to, &options) {
        Ok(numbers) if is_number => numbers.as_primitive::<Float64Type>().iter().collect(),
        Ok(texts) => {
            let texts = texts.as_string::<i32>();
            texts.iter().map(|text| text.and_then(number)).collect()
        }
        Err(_) => vec![None; cells.len()],
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{Decimal128Array, Float64Array, Int64Array};

    use super::*;
    use crate::testing;

    #[test]
    fn a_cell_that_is_no_weight_is_named_by_its_row_and_never_shown() {
        for cell in ["0", "-1", "x7", "", "NaN", "inf", "1,5", "-0"] {
            let table = testing::table(&format!("age,w\n1,5\n2,0.5\n3,\"{cell}\"\n4,y\n"));
            let error = check_weights(&table, "w").unwrap_err();
            assert_eq!(
                error.to_string(),
                "column `w`, data row 3: not a sampling weight; a weight is a number above 0, and \
                 no row is without",
                "{cell}"
            );
        }
    }

    #[test]
    fn weights_may_be_typed() {
        let table = |cells: ArrayRef| {
            let data_type = cells.data_type().clone();
            let passthrough = Some(vec![cells]);
            let column = Column { name: "w".into(), data_type, coded: None, passthrough };
            Table::new(vec![column], 2)
        };
        let found = |cells: ArrayRef| sampling_weights(&table(cells), "w");
        let decimals = Decimal128Array::from(vec![150, 25]).with_precision_and_scale(9, 2);
        assert_eq!(found(Arc::new(decimals.unwrap())).unwrap(), [1.5, 0.25]);
        assert_eq!(found(Arc::new(Int64Array::from(vec![3, 4]))).unwrap(), [3.0, 4.0]);
        let error = found(Arc::new(Float64Array::from(vec![Some(3.0), None]))).unwrap_err();
        assert_eq!(error.place().row, Some(2));
    }
}
