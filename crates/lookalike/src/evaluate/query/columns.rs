//! Quasi-identifiers one by one, in the source and in the released cells: the loss of each, and the
//! distribution of its values.
//!
//! # Loss of a released cell
//! The certainty penalty of the cell as written, 0 for one value and 1 for any value: of a range
//! its length over that of the column, of a node or a set the share of the leaves below it. The
//! loss of a suppressed row is 1 in every column. Labels and bounds have the same loss as in
//! [`loss`](crate::evaluate::loss::loss). A set of a local recoding has a smaller one: the search
//! counts the node above its values, the file lists the values.
//!
//! # Distribution of values
//! A released row counts in each bin with the share of its cell that lies there.

use super::Weighting;
use super::field::{QueryField, WrittenExtent};
use super::released;
use super::weigh::{Extent, Grain, Test, weights};
use crate::audit::{QuasiColumns, ReleasedCell, cells, coded, surface};
use crate::codes::real;
use crate::domain::attribute::{Domain, Ordered, Unit};
use crate::domain::taxonomy::Taxonomy;
use crate::error::Result;
use crate::problem::CountColumn;
use crate::request::Request;
use crate::table::Table;

/// A quasi-identifier in source and release: its loss and its distribution.
#[derive(Clone, Debug)]
pub struct Detail {
    /// The name of the column.
    pub name: String,
    /// The weight of its loss.
    pub weight: f64,
    /// The form of its released cells, in words.
    pub kind: &'static str,
    /// The sum of the certainty penalties of its released cells, without the weight.
    pub ncp: f64,
    /// Released cells with more than one value.
    pub generalized: u64,
    /// The distribution of its values.
    pub bins: Vec<Bin>,
}

/// One bar of a distribution: some values of a column.
#[derive(Clone, Debug, PartialEq)]
pub struct Bin {
    /// The values in words; none for the bin of all other values.
    pub label: Option<String>,
    /// Rows of the source with these values.
    pub before: u64,
    /// Released rows, each counted with the share of its cell that lies in the bin.
    pub after: f64,
}

/// The loss of a release by its written cells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Certainty {
    /// The sum of the weighted penalties over rows and columns.
    pub ncp: f64,
    /// `ncp` over its greatest value, between 0 and 1.
    pub gcp: f64,
}

/// The most bins of a category, and about the most of an ordered column.
const CATEGORIES: usize = 12;
const STRETCHES: f64 = 20.0;

/// The loss and the distribution of every quasi-identifier, in the order of the release.
///
/// The tables are read as for [`answer`](super::answer).
///
/// # Errors
/// When a cell of the release cannot be read, or when the two tables do not fit the request.
pub fn columns(source: &Table, release: &Table, request: &Request) -> Result<Vec<Detail>> {
    surface(release, request)?
        .quasi
        .iter()
        .map(|columns| detail(columns, source, release, request))
        .collect()
}

/// The loss of a release over all columns; the penalty of a suppressed row is 1 in every column.
pub fn certainty(columns: &[Detail], source_rows: u64, released_rows: u64) -> Certainty {
    let suppressed = real(source_rows.saturating_sub(released_rows));
    let ncp = columns.iter().map(|column| column.weight * (column.ncp + suppressed)).sum();
    let most = real(source_rows) * columns.iter().map(|column| column.weight).sum::<f64>();
    Certainty { ncp, gcp: if most > 0.0 { ncp / most } else { 0.0 } }
}

fn detail(
    columns: &QuasiColumns,
    source: &Table,
    release: &Table,
    request: &Request,
) -> Result<Detail> {
    let name = columns.name();
    let field = QueryField::new(name, source, request)?;
    let (of, written) = cells(columns, release)?;
    let mut rows = vec![0u64; written.len()];
    let counts = CountColumn::new(release, request.count.as_ref())?;
    of.iter().enumerate().for_each(|(row, cell)| rows[cell as usize] += counts.of(row));
    let extents = released(&field, columns, release)?.0;
    let mut before = vec![0u64; field.values().len()];
    let counts = CountColumn::new(source, request.count.as_ref())?;
    for (row, value) in coded(source, name)?.codes().iter().enumerate() {
        before[field.codes[value as usize] as usize] += counts.of(row);
    }
    let (mut ncp, mut generalized) = (0.0, 0);
    for ((cell, extent), &rows) in written.iter().zip(&extents).zip(&rows) {
        let (penalty, is_one) = cell_loss(&field, *cell, extent);
        ncp += real(rows) * penalty;
        generalized += if is_one { 0 } else { rows };
    }
    let bins = match &field.domain {
        Domain::Tree(tree) => leaves(tree, (&extents, &rows), &before),
        Domain::Ordered(ordered) => stretches(&field, ordered, (&extents, &rows), &before),
    };
    let kind = match &field.domain {
        Domain::Tree(tree) if tree.is_flat() => "categories, or any",
        Domain::Tree(_) => "categories and their groups",
        Domain::Ordered(ordered) => match ordered.unit() {
            Unit::Whole | Unit::Decimal => "ranges of numbers",
            Unit::Day | Unit::Second => "ranges of dates",
            Unit::Place => "ranges of ordered labels",
        },
    };
    let weight = request.column(name).and_then(|column| column.weight).unwrap_or(1.0);
    Ok(Detail { name: name.to_string(), weight, kind, ncp, generalized, bins })
}

/// The penalty of a released cell, and whether it is one value.
pub(super) fn cell_loss(
    field: &QueryField<'_>,
    cell: ReleasedCell<'_>,
    extent: &Extent,
) -> (f64, bool) {
    match (&field.domain, extent) {
        (Domain::Tree(tree), Extent::Leaves(ranges)) => {
            let leaves = ranges.iter().map(|range| u64::from(range.hi - range.lo) + 1).sum::<u64>();
            let penalty = if leaves == 1 { 0.0 } else { real(leaves) / real(tree.leaves() as u64) };
            (penalty, leaves == 1)
        }
        (Domain::Ordered(ordered), _) => {
            field.written(cell).map_or((1.0, false), |written| penalty(written, ordered))
        }
        _ => unreachable!("a tree has leaves"),
    }
}

/// The penalty of a cell of an ordered column, and whether it is one value.
fn penalty(written: WrittenExtent, ordered: &Ordered) -> (f64, bool) {
    let (least, greatest) = ordered
        .values()
        .first()
        .copied()
        .zip(ordered.values().last().copied())
        .unwrap_or((0.0, 0.0));
    match written {
        WrittenExtent::Missing => (0.0, true),
        WrittenExtent::Any if ordered.has_missing() || greatest > least => (1.0, false),
        WrittenExtent::Any => (0.0, false),
        WrittenExtent::Ends(lo, hi) if greatest > least => {
            (((hi.min(greatest) - lo.max(least)) / (greatest - least)).max(0.0), lo >= hi)
        }
        WrittenExtent::Ends(lo, hi) => (0.0, lo >= hi),
    }
}

/// Bins of a category: the most frequent leaves, and the others together.
fn leaves(tree: &Taxonomy, (extents, rows): (&[Extent], &[u64]), before: &[u64]) -> Vec<Bin> {
    let all = tree.leaves();
    let mut after = vec![0.0; all];
    for (extent, &rows) in extents.iter().zip(rows) {
        let Extent::Leaves(ranges) = extent else { continue };
        let within: Vec<usize> =
            ranges.iter().flat_map(|range| range.lo as usize..=range.hi as usize).collect();
        within.iter().for_each(|&leaf| after[leaf] += real(rows) / real(within.len() as u64));
    }
    let mut leaves: Vec<usize> = (0..all).collect();
    leaves.sort_by_key(|&leaf| (std::cmp::Reverse(before[leaf]), leaf));
    let others = leaves.split_off(if all <= CATEGORIES + 1 { all } else { CATEGORIES });
    let bin = |&leaf: &usize| {
        let label = tree.label(u32::try_from(leaf).unwrap_or(0));
        let label = if label.is_empty() { "(missing)" } else { label };
        Bin { label: Some(label.to_string()), before: before[leaf], after: after[leaf] }
    };
    let mut bins: Vec<Bin> = leaves.iter().map(bin).collect();
    let (before, after) = (
        others.iter().map(|&leaf| before[leaf]).sum(),
        others.iter().map(|&leaf| after[leaf]).sum(),
    );
    if before > 0 || after > 0.0 {
        bins.push(Bin { label: None, before, after });
    }
    bins
}

/// Bins of an ordered column, ascending, and one for the missing values.
fn stretches(
    field: &QueryField<'_>,
    ordered: &Ordered,
    (extents, rows): (&[Extent], &[u64]),
    before: &[u64],
) -> Vec<Bin> {
    let values = field.values();
    let starts = starts(ordered.unit(), field.ends);
    let count = |spans: Vec<(f64, f64)>, missing: bool| {
        let test = Test::Spans { spans, missing };
        let sum = |extents: &[Extent], rows: &[u64]| {
            let weights = weights(extents, Some(&test), Weighting::Share);
            weights.iter().zip(rows).map(|(weight, &rows)| weight * real(rows)).sum::<f64>()
        };
        (sum(&values, before), sum(extents, rows))
    };
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "whole rows were summed up"
    )]
    let whole = |number: f64| number.round() as u64;
    let mut bins = Vec::new();
    for (at, &lo) in starts.iter().enumerate() {
        let end = starts.get(at + 1).copied();
        let from = if at == 0 { f64::NEG_INFINITY } else { lo };
        let to = match (end, grain(ordered.unit())) {
            (None, _) => f64::INFINITY,
            (Some(end), Grain::Points) => end - 1.0,
            (Some(end), Grain::Length) => end.next_down(),
        };
        let (before, after) = count(vec![(from, to)], false);
        let label = stretch(field, ordered.unit(), lo, end.unwrap_or(lo + step_of(&starts)));
        bins.push(Bin { label: Some(label), before: whole(before), after });
    }
    let (before, after) = count(Vec::new(), true);
    if ordered.has_missing() && before > 0.0 {
        bins.push(Bin { label: Some("(missing)".to_string()), before: whole(before), after });
    }
    bins
}

fn grain(unit: Unit) -> Grain {
    if matches!(unit, Unit::Decimal | Unit::Second) { Grain::Length } else { Grain::Points }
}

fn step_of(starts: &[f64]) -> f64 {
    if let [first, second, ..] = starts { second - first } else { 1.0 }
}

/// The first points of the bins: round numbers, at most about twenty.
fn starts(unit: Unit, (lo, hi): (f64, f64)) -> Vec<f64> {
    let width = match grain(unit) {
        Grain::Points => hi - lo + 1.0,
        Grain::Length => hi - lo,
    };
    if width <= 0.0 || !width.is_finite() {
        return vec![lo];
    }
    let least = width / STRETCHES;
    let power = 10f64.powf(least.log10().floor());
    let round = [1.0, 2.0, 5.0, 10.0]
        .map(|digit| digit * power)
        .into_iter()
        .find(|step| *step >= least * 0.999);
    let step = match unit {
        Unit::Place | Unit::Day => least.ceil().max(1.0),
        Unit::Second => least,
        Unit::Whole => round.unwrap_or(least).max(1.0),
        Unit::Decimal => round.unwrap_or(least),
    };
    let first =
        if matches!(unit, Unit::Whole | Unit::Decimal) { (lo / step).floor() * step } else { lo };
    let mut starts = Vec::new();
    let mut at = 0u32;
    loop {
        let start = first + f64::from(at) * step;
        let is_past = start > hi || (grain(unit) == Grain::Length && start >= hi);
        if (is_past && !starts.is_empty()) || at > 64 {
            return starts;
        }
        starts.push(start);
        at += 1;
    }
}

fn stretch(field: &QueryField<'_>, unit: Unit, lo: f64, end: f64) -> String {
    let hi = match grain(unit) {
        Grain::Points => (end - 1.0).min(field.ends.1),
        Grain::Length => end,
    };
    let first = written(field, unit, lo);
    if hi <= lo { first } else { format!("{first} – {}", written(field, unit, hi)) }
}

fn written(field: &QueryField<'_>, unit: Unit, point: f64) -> String {
    match unit {
        Unit::Second => field.text((point / 86_400.0).floor()),
        Unit::Decimal => {
            format!("{point:.6}").trim_end_matches('0').trim_end_matches('.').to_string()
        }
        _ => field.text(point),
    }
}
