//! Logistic regression on cells of several values: a row's score for an outcome is the sum, over the
//! columns, of the effects of the column's groups, each by its share of the cell.
//!
//! # How it works
//! The penalized likelihood is maximized by a fixed number of steps without a line search: the
//! gradient over an upper bound of the curvature, with momentum. For a columns and mass m of a group
//! (the sum of its shares over all rows) the curvature is at most a m / 2, because the scores of the
//! columns add up (Cauchy-Schwarz) and a cell is an average of its groups (Jensen). No step can
//! overshoot, so the same rows give the same model on every machine and in any order of threads.
//!
//! # Complexity
//! O(steps (d (a + o) + s)), with d distinct rows, o outcomes and s shares of all distinct cells.
//!
//! # Reference
//! Böhning: Multinomial Logistic Regression Algorithm, AISM 1992 (the bound 1/2). Nesterov: A Method
//! of Solving a Convex Programming Problem with Convergence Rate O(1/k²), 1983.

use std::collections::BTreeMap;

use crate::codes::real;
use crate::evaluate::query::GroupShares;

/// Steps of every fit.
const STEPS: u32 = 150;
/// The penalty: as if every effect were drawn towards 0 by so many rows.
const RIDGE: f64 = 1.0;

/// A fitted model.
#[derive(Clone, Debug)]
pub(super) struct Model {
    outcomes: usize,
    /// The logarithm of each outcome's share.
    base: Vec<f64>,
    /// By column: for each group its effect on each outcome.
    effects: Vec<Vec<f64>>,
}

/// Rows with equal cells and equal outcome.
struct DistinctRow {
    cells: Vec<u32>,
    outcome: usize,
    rows: f64,
}

/// Fits a model to the rows that are named, each with its number of rows. `outcome` has one group in
/// every cell.
pub(super) fn fit(
    columns: &[GroupShares],
    outcome: &GroupShares,
    rows: impl Iterator<Item = (usize, u64)>,
) -> Model {
    let outcomes = outcome.groups;
    let rows = distinct(columns, outcome, rows);
    let mut share = vec![RIDGE / real(outcomes as u64); outcomes];
    rows.iter().for_each(|row| share[row.outcome] += row.rows);
    let all: f64 = share.iter().sum();
    let base = share.iter().map(|rows| (rows / all).ln()).collect();
    let effects: Vec<Vec<f64>> =
        columns.iter().map(|column| vec![0.0; column.groups * outcomes]).collect();
    let curvature = curvatures(columns, &rows);
    let mut model = Model { outcomes, base, effects: effects.clone() };
    let (mut last, mut ahead, mut momentum) = (effects.clone(), effects, 1.0f64);
    for _ in 0..STEPS {
        model.effects = ahead;
        let gradient = gradient(&model, columns, &rows);
        let mut next = model.effects.clone();
        for (at, effects) in next.iter_mut().enumerate() {
            for (place, effect) in effects.iter_mut().enumerate() {
                *effect += gradient[at][place] / curvature[at][place / outcomes];
            }
        }
        let grown = f64::midpoint(1.0, (1.0 + 4.0 * momentum * momentum).sqrt());
        let push = (momentum - 1.0) / grown;
        let pushed = |(next, last): (&Vec<f64>, &Vec<f64>)| {
            next.iter().zip(last).map(|(next, last)| next + push * (next - last)).collect()
        };
        ahead = next.iter().zip(&last).map(pushed).collect();
        (last, momentum) = (next, grown);
    }
    model.effects = last;
    model
}

fn distinct(
    columns: &[GroupShares],
    outcome: &GroupShares,
    rows: impl Iterator<Item = (usize, u64)>,
) -> Vec<DistinctRow> {
    let mut found: BTreeMap<(Vec<u32>, u32), u64> = BTreeMap::new();
    for (row, count) in rows {
        let cells = columns.iter().map(|column| column.of_rows.get(row)).collect();
        *found.entry((cells, outcome_of(outcome, row))).or_default() += count;
    }
    let row = |((cells, outcome), rows): ((Vec<u32>, u32), u64)| DistinctRow {
        cells,
        outcome: outcome as usize,
        rows: real(rows),
    };
    found.into_iter().map(row).collect()
}

/// The outcome of a row.
pub(super) fn outcome_of(outcome: &GroupShares, row: usize) -> u32 {
    outcome.cells[outcome.of_rows.get(row) as usize][0].0
}

/// For each group of each column an upper bound of the curvature.
fn curvatures(columns: &[GroupShares], rows: &[DistinctRow]) -> Vec<Vec<f64>> {
    let width = real(columns.len() as u64);
    let of_column = |(at, column): (usize, &GroupShares)| {
        let mut mass = vec![0.0; column.groups];
        for row in rows {
            for &(group, share) in &column.cells[row.cells[at] as usize] {
                mass[group as usize] += share * row.rows;
            }
        }
        mass.iter().map(|mass| width * mass / 2.0 + RIDGE).collect()
    };
    columns.iter().enumerate().map(of_column).collect()
}

/// The gradient of the penalized likelihood, shaped as the effects.
fn gradient(model: &Model, columns: &[GroupShares], rows: &[DistinctRow]) -> Vec<Vec<f64>> {
    let outcomes = model.outcomes;
    let scores = model.cell_scores(columns);
    let mut of_cells: Vec<Vec<f64>> = scores.iter().map(|cells| vec![0.0; cells.len()]).collect();
    let mut chance = vec![0.0; outcomes];
    for row in rows {
        model.chances(&scores, &row.cells, &mut chance);
        for (at, &cell) in row.cells.iter().enumerate() {
            let sums = &mut of_cells[at][cell as usize * outcomes..][..outcomes];
            for (outcome, sum) in sums.iter_mut().enumerate() {
                let is = f64::from(u8::from(outcome == row.outcome));
                *sum += row.rows * (is - chance[outcome]);
            }
        }
    }
    let of_column = |(column, sums): (&GroupShares, &Vec<f64>)| {
        let mut gradient = vec![0.0; column.groups * outcomes];
        for (cell, shares) in column.cells.iter().enumerate() {
            for &(group, share) in shares {
                for outcome in 0..outcomes {
                    gradient[group as usize * outcomes + outcome] +=
                        share * sums[cell * outcomes + outcome];
                }
            }
        }
        gradient
    };
    let mut gradient: Vec<Vec<f64>> = columns.iter().zip(&of_cells).map(of_column).collect();
    for (gradient, effects) in gradient.iter_mut().zip(&model.effects) {
        gradient.iter_mut().zip(effects).for_each(|(slope, effect)| *slope -= RIDGE * effect);
    }
    gradient
}

impl Model {
    /// For each column and cell its part of the score of each outcome.
    pub(super) fn cell_scores(&self, columns: &[GroupShares]) -> Vec<Vec<f64>> {
        let of_column = |(column, effects): (&GroupShares, &Vec<f64>)| {
            let mut scores = vec![0.0; column.cells.len() * self.outcomes];
            for (cell, shares) in column.cells.iter().enumerate() {
                for &(group, share) in shares {
                    for outcome in 0..self.outcomes {
                        scores[cell * self.outcomes + outcome] +=
                            share * effects[group as usize * self.outcomes + outcome];
                    }
                }
            }
            scores
        };
        columns.iter().zip(&self.effects).map(of_column).collect()
    }

    /// The probability of each outcome of a row with these cells.
    pub(super) fn chances(&self, scores: &[Vec<f64>], cells: &[u32], chance: &mut [f64]) {
        chance.copy_from_slice(&self.base);
        for (of_cells, &cell) in scores.iter().zip(cells) {
            let of_cell = &of_cells[cell as usize * self.outcomes..][..self.outcomes];
            chance.iter_mut().zip(of_cell).for_each(|(sum, score)| *sum += score);
        }
        let most = chance.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        chance.iter_mut().for_each(|score| *score = (*score - most).exp());
        let all: f64 = chance.iter().sum();
        chance.iter_mut().for_each(|chance| *chance /= all);
    }
}
