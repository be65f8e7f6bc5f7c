//! The classes of a table for measures of risk: their sizes in rows, or in persons where the table
//! has a person key, and the sums of their sampling weights.

use super::Individuals;
use crate::audit::{Fold, coded, surface};
use crate::codes::{Code, RowId, real};
use crate::error::Result;
use crate::evaluate::person_of_row::person_of_row;
use crate::evaluate::sampling_weight::value_weights;
use crate::problem::CountColumn;
use crate::request::{Request, Role};
use crate::table::{Coded, Table};

/// The owner of a class with several individuals.
pub(super) const SEVERAL: u32 = u32::MAX;

/// Rows with equal quasi-identifiers, as they stand in the table.
#[derive(Debug)]
pub(super) struct RiskClasses<'t> {
    /// The cells of the quasi-identifiers, each with the quasi-identifier that it belongs to: a
    /// released one may have two or three.
    pub(super) columns: Vec<(usize, &'t Coded)>,
    /// The quasi-identifiers.
    pub(super) names: Vec<String>,
    /// For each class its first row.
    pub(super) first: Vec<RowId>,
    /// For each class its rows by their counts, or its persons.
    pub(super) sizes: Vec<u64>,
    /// For each class its one individual, or [`SEVERAL`].
    pub(super) owner: Vec<u32>,
    /// For each class the sum of the weights of its individuals.
    pub(super) weights: Option<Vec<f64>>,
    pub(super) counted: Individuals,
}

impl<'t> RiskClasses<'t> {
    /// # Errors
    /// As [`audit`](crate::audit::audit); when a weight cannot be read, or a row has no person.
    pub(super) fn new(table: &'t Table, request: &Request) -> Result<RiskClasses<'t>> {
        let surface = surface(table, request)?;
        let mut columns = Vec::new();
        for (at, quasi) in surface.quasi.iter().enumerate() {
            for name in quasi.columns() {
                columns.push((at, coded(table, name)?));
            }
        }
        let classes = fold(table.rows(), columns.iter().map(|(_, column)| *column));
        let counts = CountColumn::new(table, request.count.as_ref())?;
        let is_weight = |name: &&String| request.columns[*name].role == Role::Weight;
        let weight = request.columns.keys().find(is_weight);
        let weight = weight.filter(|name| table.column(name).is_some());
        let weight = weight.map(|name| weights(table, name)).transpose()?;
        let persons = person_of_row(table, request);
        let mut found = RiskClasses {
            columns,
            names: surface.roles.quasi.clone(),
            sizes: vec![0; classes.first.len()],
            owner: Vec::new(),
            weights: weight.as_ref().map(|_| vec![0.0; classes.first.len()]),
            first: classes.first,
            counted: Individuals::Rows,
        };
        match persons {
            None => found.count_rows(&classes.of, &counts, weight.as_ref()),
            Some(person) => found.count_persons(&classes.of, &person, weight.as_ref()),
        }
        Ok(found)
    }

    fn count_rows(
        &mut self,
        of: &[u32],
        counts: &CountColumn<'_>,
        weight: Option<&(&Coded, Vec<f64>)>,
    ) {
        for (row, &class) in of.iter().enumerate() {
            self.sizes[class as usize] += counts.of(row);
        }
        if let (Some(sums), Some((column, weight))) = (&mut self.weights, weight) {
            for (row, &class) in of.iter().enumerate() {
                let each = weight[column.codes().get(row) as usize];
                sums[class as usize] += each * real(counts.of(row));
            }
        }
        let owner = |(class, &size): (u32, &u64)| if size == 1 { class } else { SEVERAL };
        self.owner = (0..).zip(&self.sizes).map(owner).collect();
    }

    /// A person counts once in a class, with the mean weight of its rows there.
    fn count_persons(&mut self, of: &[u32], person: &[u32], weight: Option<&(&Coded, Vec<f64>)>) {
        self.counted = Individuals::Persons;
        self.owner = vec![SEVERAL; self.sizes.len()];
        let mut rows: Vec<(u32, u32, RowId)> = (0..)
            .zip(of)
            .zip(person)
            .map(|((row, &class), &person)| (class, person, row))
            .collect();
        rows.sort_unstable();
        for group in rows.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let (class, person, _) = group[0];
            let class = class as usize;
            self.sizes[class] += 1;
            self.owner[class] = if self.sizes[class] == 1 { person } else { SEVERAL };
            if let (Some(sums), Some((column, weight))) = (&mut self.weights, weight) {
                let each = |row: RowId| weight[column.codes().get(row as usize) as usize];
                let sum: f64 = group.iter().map(|&(.., row)| each(row)).sum();
                sums[class] += sum / real(group.len() as u64);
            }
        }
    }
}

/// The class and the first row of each class.
struct Folded {
    of: Vec<u32>,
    first: Vec<RowId>,
}

fn fold<'t>(rows: usize, columns: impl Iterator<Item = &'t Coded>) -> Folded {
    let mut fold = Fold::new(rows);
    let column = |column: &'t Coded| {
        (column.values().len(), move |row: usize| -> Code { column.codes().get(row) })
    };
    fold.refine(&columns.map(column).collect::<Vec<_>>());
    let classes = fold.finish();
    Folded { of: classes.of, first: classes.first }
}

/// A column of sampling weights, and the weight of each of its values.
fn weights<'t>(table: &'t Table, name: &str) -> Result<(&'t Coded, Vec<f64>)> {
    let column = coded(table, name)?;
    Ok((column, value_weights(name, column)?))
}
