//! A column cut into groups of values, and the share of each group in a cell: what a model reads. A
//! cell of several values is spread over them evenly, as in a query, or as often as the other cells of
//! the column let one expect.

use super::field::QueryField;
use super::weigh::{Extent, Grain, Test, weights};
use super::{Weighting, released};
use crate::audit::{QuasiColumns, ReleasedCell, coded, surface};
use crate::codes::{Code, Codes, real};
use crate::domain::attribute::{Domain, Ordered, Unit};
use crate::domain::label::ANY;
use crate::error::Result;
use crate::problem::CountColumn;
use crate::request::Request;
use crate::table::Table;

/// A column of source and release, cut into groups of values.
#[derive(Debug)]
pub(in crate::evaluate) struct ColumnGroups<'a> {
    field: QueryField<'a>,
    /// For each code of the domain its group.
    group_of: Vec<u32>,
    groups: usize,
}

/// The cells of a column, each as shares of groups.
#[derive(Clone, Debug)]
pub(in crate::evaluate) struct GroupShares {
    pub(in crate::evaluate) groups: usize,
    /// For each cell its groups, each with a share above 0; the shares of a cell add up to 1.
    pub(in crate::evaluate) cells: Vec<Vec<(u32, f64)>>,
    /// For each row its cell.
    pub(in crate::evaluate) of_rows: Codes,
    /// The share of each group in a cell of any value, where that can be.
    even: Vec<(u32, f64)>,
}

/// Rounds of the estimate of how frequent the groups are.
const ROUNDS: usize = 20;

impl GroupShares {
    /// Spreads each cell over its groups by their frequency in the column. That is estimated from the
    /// column alone, by expectation and maximization (Dempster, Laird, Rubin 1977): the masses of the
    /// groups spread the cells, and the cells make the masses. `rows_of` has the number of rows that
    /// each row stands for.
    pub(in crate::evaluate) fn spread_by_frequency(&mut self, rows_of: impl Fn(usize) -> u64) {
        let mut rows = vec![0; self.cells.len()];
        self.of_rows.iter().enumerate().for_each(|(row, cell)| rows[cell as usize] += rows_of(row));
        let mut even = vec![0.0; self.groups];
        self.even.iter().for_each(|&(group, share)| even[group as usize] = share);
        let evenly = self.cells.clone();
        for _ in 0..ROUNDS {
            let mut mass = vec![0.0; self.groups];
            for (cell, &rows) in self.cells.iter().zip(&rows) {
                cell.iter().for_each(|&(group, share)| mass[group as usize] += share * real(rows));
            }
            for (cell, evenly) in
                self.cells.iter_mut().zip(&evenly).filter(|(cell, _)| cell.len() > 1)
            {
                for (one, &(group, share)) in cell.iter_mut().zip(evenly) {
                    // How much more frequent the group is than its size would have it.
                    let even = even[group as usize];
                    one.1 = if even > 0.0 { share * mass[group as usize] / even } else { share };
                }
                let all: f64 = cell.iter().map(|(_, share)| share).sum();
                match all > 0.0 {
                    true => cell.iter_mut().for_each(|(_, share)| *share /= all),
                    false => cell.clone_from(evenly),
                }
            }
        }
    }
}

/// Groups of an ordered quasi-identifier, about, beside the missing value.
const STRETCHES: usize = 60;
/// Groups of other columns, the last for all rarer values.
const LABELS: usize = 250;
/// Values of a purpose, the last for all rarer ones.
const OUTCOMES: usize = 20;
/// A purpose of more different numbers is above its median, or not.
const FEW_NUMBERS: usize = 10;

impl<'a> ColumnGroups<'a> {
    /// The groups of a quasi-identifier: its values, or about so many rows in each stretch.
    ///
    /// # Errors
    /// When the source does not fit the request.
    pub(in crate::evaluate) fn of_quasi(
        name: &'a str,
        source: &Table,
        request: &'a Request,
    ) -> Result<ColumnGroups<'a>> {
        ColumnGroups::new(name, source, request, |ordered, rows| match ordered {
            Some(ordered) => stretches(ordered, rows, STRETCHES),
            None => frequent(rows, LABELS),
        })
    }

    /// The groups of a purpose: its values, or of a number with many of them those above the median
    /// and the others.
    ///
    /// # Errors
    /// When the source does not fit the request.
    pub(in crate::evaluate) fn of_purpose(
        name: &'a str,
        source: &Table,
        request: &'a Request,
    ) -> Result<ColumnGroups<'a>> {
        ColumnGroups::new(name, source, request, |ordered, rows| match ordered {
            Some(ordered) if ordered.unit() != Unit::Place && rows.len() > FEW_NUMBERS => {
                stretches(ordered, rows, 2)
            }
            _ => frequent(rows, OUTCOMES),
        })
    }

    /// `group` gets the rows of each code.
    fn new(
        name: &'a str,
        source: &Table,
        request: &'a Request,
        group: impl Fn(Option<&Ordered>, &[u64]) -> Vec<u32>,
    ) -> Result<ColumnGroups<'a>> {
        let field = QueryField::new(name, source, request)?;
        let counts = CountColumn::new(source, request.count.as_ref())?;
        let mut rows = vec![0; field.values().len()];
        for (row, value) in coded(source, name)?.codes().iter().enumerate() {
            rows[field.codes[value as usize] as usize] += counts.of(row);
        }
        let group_of = match &field.domain {
            Domain::Ordered(ordered) => group(Some(ordered), &rows),
            Domain::Tree(_) => group(None, &rows),
        };
        let groups = group_of.iter().max().map_or(0, |&last| last as usize + 1);
        Ok(ColumnGroups { field, group_of, groups })
    }

    /// The cells of the source.
    ///
    /// # Errors
    /// When the source has no codes of the column.
    pub(in crate::evaluate) fn of_source(&self, source: &Table) -> Result<GroupShares> {
        let codes = coded(source, self.field.name)?.codes();
        let of_rows = codes.iter().map(|value| self.field.codes[value as usize]).collect();
        let cells = self.group_of.iter().map(|&group| vec![(group, 1.0)]).collect();
        Ok(GroupShares { groups: self.groups, cells, of_rows, even: Vec::new() })
    }

    /// The cells of a release of that source.
    ///
    /// # Errors
    /// When a cell cannot be read, or the release does not fit the request.
    pub(in crate::evaluate) fn of_release(
        &self,
        release: &Table,
        request: &Request,
    ) -> Result<GroupShares> {
        let surface = surface(release, request)?;
        let quasi = surface.quasi.iter().find(|quasi| quasi.name() == self.field.name);
        let label = QuasiColumns::Label(self.field.name.to_string());
        let (mut extents, of_rows) = released(&self.field, quasi.unwrap_or(&label), release)?;
        let any = self.field.extent(ReleasedCell::Label(Some(ANY)));
        let has_any = any.is_some();
        extents.extend(any);
        let mut cells: Vec<Vec<(u32, f64)>> = match &self.field.domain {
            Domain::Tree(_) => extents.iter().map(|extent| self.leaves(extent)).collect(),
            Domain::Ordered(ordered) => self.spans(&extents, ordered),
        };
        let even = if has_any { cells.pop().unwrap_or_default() } else { Vec::new() };
        Ok(GroupShares { groups: self.groups, cells, of_rows, even })
    }

    fn leaves(&self, extent: &Extent) -> Vec<(u32, f64)> {
        let Extent::Leaves(ranges) = extent else { unreachable!("a tree has leaves") };
        let mut leaves = vec![0; self.groups];
        for range in ranges {
            for leaf in range.lo..=range.hi {
                leaves[self.group_of[leaf as usize] as usize] += 1;
            }
        }
        let all = real(leaves.iter().sum());
        let shares = (0..).zip(leaves).filter(|&(_, leaves)| leaves > 0);
        shares.map(|(group, leaves)| (group, real(leaves) / all)).collect()
    }

    /// A group takes the line from its least value up to that of the next group.
    fn spans(&self, extents: &[Extent], ordered: &Ordered) -> Vec<Vec<(u32, f64)>> {
        let values = ordered.values();
        let is_points =
            matches!(self.field.values().first(), Some(Extent::Span { grain: Grain::Points, .. }));
        let starts = |group: u32| self.group_of.iter().position(|&of| of == group);
        let mut cells = vec![Vec::new(); extents.len()];
        for group in (0..).take(self.groups) {
            let first = starts(group).unwrap_or(0);
            let test = if first == values.len() {
                Test::Spans { spans: Vec::new(), missing: true }
            } else {
                let from = if first == 0 { f64::NEG_INFINITY } else { values[first] };
                let next = starts(group + 1).and_then(|next| values.get(next));
                let to = match next {
                    None => f64::INFINITY,
                    Some(next) if is_points => next - 1.0,
                    Some(next) => next.next_down(),
                };
                Test::Spans { spans: vec![(from, to)], missing: false }
            };
            let shares = weights(extents, Some(&test), Weighting::Share);
            let inside = cells.iter_mut().zip(shares).filter(|(_, share)| *share > 0.0);
            inside.for_each(|(cell, share)| cell.push((group, share)));
        }
        cells
    }
}

/// Stretches of neighbouring values with about as many rows each, at most so many; the missing value
/// is a group of its own.
fn stretches(ordered: &Ordered, rows: &[u64], most: usize) -> Vec<u32> {
    let present = ordered.values().len();
    let all: u64 = rows[..present].iter().sum();
    let (mut group_of, mut before, mut last) = (Vec::new(), 0, None);
    let mut next = 0;
    for &some in &rows[..present] {
        // The stretch in which the middle of the value's rows lies.
        let place = (2 * before + some) * most as u64 / (2 * all).max(1);
        if last.is_some_and(|last| last != place) {
            next += 1;
        }
        last = Some(place);
        group_of.push(next);
        before += some;
    }
    let missing = if present == 0 { 0 } else { next + 1 };
    group_of.extend(ordered.has_missing().then_some(missing));
    group_of
}

/// Each of the most frequent values is a group, and all others are one.
fn frequent(rows: &[u64], most: usize) -> Vec<u32> {
    let mut codes: Vec<usize> = (0..rows.len()).collect();
    codes.sort_by_key(|&code| (std::cmp::Reverse(rows[code]), code));
    let mut group_of = vec![0; rows.len()];
    for (place, code) in codes.into_iter().enumerate() {
        group_of[code] = Code::try_from(place.min(most - 1)).expect("few groups");
    }
    group_of
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_spread_as_the_others_let_one_expect() {
        // Six exact rows of the first group, two of the second, and four of either.
        let cells = vec![vec![(0, 1.0)], vec![(1, 1.0)], vec![(0, 0.5), (1, 0.5)]];
        let of_rows: Codes = [0, 0, 0, 0, 0, 0, 1, 1, 2, 2, 2, 2].into_iter().collect();
        let even = vec![(0, 0.5), (1, 0.5)];
        let mut column = GroupShares { groups: 2, cells: cells.clone(), of_rows, even };
        column.spread_by_frequency(|_| 1);
        let shares = &column.cells[2];
        assert!(
            (shares[0].1 - 0.75).abs() < 1e-6 && (shares[1].1 - 0.25).abs() < 1e-6,
            "{shares:?}"
        );
        assert_eq!(column.cells[..2], cells[..2], "exact cells stay");
        // Without exact cells nothing is known: evenly.
        let mut column = GroupShares {
            cells: vec![cells[2].clone()],
            of_rows: [0].into_iter().collect(),
            ..column
        };
        column.spread_by_frequency(|_| 1);
        assert_eq!(column.cells[0], cells[2]);
    }
}
