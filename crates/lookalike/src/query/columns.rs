//! Quasi-identifiers one by one, in the source and as the released cells show them: what each lost, and how its values spread.
//!
//! # What a released cell lost
//! The certainty penalty of what the file says, 0 for one value and 1 for anything at all: of a range its length over that of the column,
//! of a node or a set the share of the leaves below it. A row that is not in the release lost everything. Labels and bounds cost what
//! [`loss`](crate::loss::loss) charged for them. A set of a local recoding costs less than was charged: the search counts the node
//! above its values, the file lists the values.
//!
//! # How values spread
//! A released row counts in each bin with the share of its cell that lies there. With [`Look::Published`] bins show nothing that the release
//! does not: ends and labels are those of released cells, values that it does not show are in the outer bins or with the others, and every
//! bin has at least so many rows of the source.

use rustc_hash::FxHashSet;

use super::Part;
use super::field::{Field, Raw};
use super::released;
use super::weigh::{Grain, Reach, Test, weights};
use crate::attribute::{Domain, Ordered, Unit};
use crate::audit::{Cell, Shown, cells, coded, members, surface};
use crate::code::real;
use crate::config::Config;
use crate::error::Result;
use crate::table::Table;
use crate::taxonomy::Taxonomy;

/// A quasi-identifier in source and release.
#[derive(Clone, Debug)]
pub struct Detail {
    /// The column.
    pub name: String,
    /// How much its loss counts.
    pub weight: f64,
    /// What its released cells show.
    pub kind: &'static str,
    /// The certainty penalty of its released cells, summed up and not weighted.
    pub ncp: f64,
    /// Released cells that show more than one value.
    pub generalized: u64,
    /// How its values spread; empty when nothing may be told.
    pub bins: Vec<Bin>,
}

/// Some values of a column.
#[derive(Clone, Debug, PartialEq)]
pub struct Bin {
    /// Which; none for those that are not told apart.
    pub label: Option<String>,
    /// Rows of the source.
    pub before: u64,
    /// Rows of the release, by shares.
    pub after: f64,
}

/// What bins may show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// All values of the source.
    Everything,
    /// What the release shows, in bins of at least so many rows of the source.
    Published {
        /// That many.
        least: u64,
    },
}

/// What a release lost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Certainty {
    /// The weighted penalty over rows and columns.
    pub ncp: f64,
    /// The same over its greatest value.
    pub gcp: f64,
}

/// The most bars of a category, and about the most of a line.
const CATEGORIES: usize = 12;
const STRETCHES: f64 = 20.0;

/// Looks at every quasi-identifier, in the order of the release.
///
/// The tables are read as for [`answer`](super::answer).
///
/// # Errors
/// When a cell of the release cannot be read, or when the two tables do not fit the configuration.
pub fn columns(source: &Table, release: &Table, config: &Config, look: Look) -> Result<Vec<Detail>> {
    surface(release, config)?.quasi.iter().map(|shown| detail(shown, source, release, config, look)).collect()
}

/// What a release lost in all: every row of the source that it does not have lost everything.
pub fn certainty(columns: &[Detail], source_rows: u64, released_rows: u64) -> Certainty {
    let gone = real(source_rows.saturating_sub(released_rows));
    let ncp = columns.iter().map(|column| column.weight * (column.ncp + gone)).sum();
    let most = real(source_rows) * columns.iter().map(|column| column.weight).sum::<f64>();
    Certainty { ncp, gcp: if most > 0.0 { ncp / most } else { 0.0 } }
}

fn detail(shown: &Shown, source: &Table, release: &Table, config: &Config, look: Look) -> Result<Detail> {
    let name = shown.name();
    let mut field = Field::new(name, source, config)?;
    let (of, said) = cells(shown, release)?;
    let mut rows = vec![0u64; said.len()];
    of.iter().for_each(|cell| rows[cell as usize] += 1);
    let ends = published_ends(&field, &said);
    if let (Look::Published { .. }, Some(ends), Domain::Ordered(_)) = (look, ends, &field.domain) {
        // Where a cell says anything at all, the ends of the source are not told.
        field.ends = ends;
    }
    let reaches = released(&field, shown, release)?.0;
    let mut before = vec![0u64; field.values().len()];
    coded(source, name)?.codes.iter().for_each(|value| before[field.codes[value as usize] as usize] += 1);
    let (mut ncp, mut generalized) = (0.0, 0);
    for ((cell, reach), &rows) in said.iter().zip(&reaches).zip(&rows) {
        let (penalty, is_one) = match (&field.domain, reach) {
            (Domain::Tree(tree), Reach::Leaves(ranges)) => {
                let leaves = ranges.iter().map(|range| u64::from(range.hi - range.lo) + 1).sum::<u64>();
                (if leaves == 1 { 0.0 } else { real(leaves) / real(tree.leaves() as u64) }, leaves == 1)
            }
            (Domain::Ordered(ordered), _) => field.raw(*cell).map_or((1.0, false), |raw| penalty(raw, ordered)),
            _ => unreachable!("a tree has leaves"),
        };
        ncp += real(rows) * penalty;
        generalized += if is_one { 0 } else { rows };
    }
    let bins = match &field.domain {
        Domain::Tree(tree) => leaves(&field, tree, &said, (&reaches, &rows), &before, look),
        Domain::Ordered(ordered) => match look {
            Look::Published { .. } if ends.is_none() => Vec::new(),
            _ => stretches(&field, ordered, &said, (&reaches, &rows), &before, look),
        },
    };
    let kind = match &field.domain {
        Domain::Tree(tree) if tree.is_flat() => "categories, or any",
        Domain::Tree(_) => "categories and their groups",
        Domain::Ordered(Ordered { unit: Unit::Whole | Unit::Decimal, .. }) => "ranges of numbers",
        Domain::Ordered(Ordered { unit: Unit::Day | Unit::Second, .. }) => "ranges of dates",
        Domain::Ordered(Ordered { unit: Unit::Place, .. }) => "ranges of ordered labels",
    };
    let weight = config.column(name).and_then(|column| column.weight).unwrap_or(1.0);
    Ok(Detail { name: name.to_string(), weight, kind, ncp, generalized, bins })
}

/// The penalty of a cell of an ordered column, and whether it shows one value.
fn penalty(raw: Raw, ordered: &Ordered) -> (f64, bool) {
    let (least, greatest) = ordered.values.first().copied().zip(ordered.values.last().copied()).unwrap_or((0.0, 0.0));
    match raw {
        Raw::Missing => (0.0, true),
        Raw::Any if ordered.missing || greatest > least => (1.0, false),
        Raw::Any => (0.0, false),
        Raw::Ends(lo, hi) if greatest > least => (((hi.min(greatest) - lo.max(least)) / (greatest - least)).max(0.0), lo >= hi),
        Raw::Ends(lo, hi) => (0.0, lo >= hi),
    }
}

/// The least and the greatest end that some released cell tells.
fn published_ends(field: &Field<'_>, said: &[Cell<'_>]) -> Option<(f64, f64)> {
    let told = said.iter().filter_map(|&cell| match field.raw(cell) {
        Some(Raw::Ends(lo, hi)) => Some([lo, hi]),
        _ => None,
    });
    let told: Vec<f64> = told.flatten().filter(|end| end.is_finite()).collect();
    let least = told.iter().copied().min_by(f64::total_cmp)?;
    let greatest = told.iter().copied().max_by(f64::total_cmp)?;
    Some((least, greatest))
}

/// Bars of a category: the commonest leaves, and the others together.
fn leaves(
    field: &Field<'_>,
    tree: &Taxonomy,
    said: &[Cell<'_>],
    (reaches, rows): (&[Reach], &[u64]),
    before: &[u64],
    look: Look,
) -> Vec<Bin> {
    let all = tree.leaves();
    let texts = texts(field, said);
    let is_told: Vec<bool> =
        (0u32..).take(all).map(|leaf| look == Look::Everything || texts.contains(tree.label(leaf))).collect();
    // One place for each leaf that is told, and the last for all that are not.
    let mut after = vec![0.0; all + 1];
    for (reach, &rows) in reaches.iter().zip(rows) {
        let Reach::Leaves(ranges) = reach else { continue };
        let within = ranges.iter().flat_map(|range| range.lo as usize..=range.hi as usize);
        let mut places: Vec<usize> = within.map(|leaf| if is_told[leaf] { leaf } else { all }).collect();
        places.sort_unstable();
        places.dedup();
        places.iter().for_each(|&place| after[place] += real(rows) / real(places.len() as u64));
    }
    let mut shown: Vec<usize> = (0..all).filter(|&leaf| is_told[leaf]).collect();
    shown.sort_by_key(|&leaf| (std::cmp::Reverse(before[leaf]), leaf));
    let least = match look {
        Look::Everything => 0,
        Look::Published { least } => least,
    };
    let enough = shown.iter().take_while(|&&leaf| before[leaf] >= least).count();
    let mut kept = if shown.len() <= CATEGORIES + 1 { enough } else { enough.min(CATEGORIES) };
    // What is not shown must be many, or nobody.
    loop {
        let others = (0..all).filter(|leaf| !shown[..kept].contains(leaf)).collect::<Vec<_>>();
        let together = others.iter().map(|&leaf| before[leaf]).sum::<u64>();
        if kept > 0 && !others.is_empty() && together < least {
            kept -= 1;
            continue;
        }
        let bin = |&leaf: &usize| {
            let label = tree.label(u32::try_from(leaf).unwrap_or(0));
            let label = if label.is_empty() { "(missing)" } else { label };
            Bin { label: Some(label.to_string()), before: before[leaf], after: after[leaf] }
        };
        let mut bins: Vec<Bin> = shown[..kept].iter().map(bin).collect();
        let rest = after[all] + others.iter().map(|&leaf| after[leaf]).sum::<f64>();
        if !others.is_empty() && (together > 0 || rest > 0.0) && (kept > 0 || look == Look::Everything) {
            bins.push(Bin { label: None, before: together, after: rest });
        }
        return bins;
    }
}

/// Every label that a released cell has: values, groups, members of sets.
fn texts(field: &Field<'_>, said: &[Cell<'_>]) -> FxHashSet<String> {
    let mut texts = FxHashSet::default();
    for cell in said {
        let Cell::Label(text) = cell else { continue };
        let text = field.present(*text).unwrap_or_default();
        texts.insert(text.to_string());
        texts.extend(text.strip_prefix('\'').map(String::from));
        texts.extend(members(text).into_iter().flatten().map(Option::unwrap_or_default));
    }
    texts
}

/// Bars of a line, left to right, and one for what is missing.
fn stretches(
    field: &Field<'_>,
    ordered: &Ordered,
    said: &[Cell<'_>],
    (reaches, rows): (&[Reach], &[u64]),
    before: &[u64],
    look: Look,
) -> Vec<Bin> {
    let values = field.values();
    let starts = match (ordered.unit, look) {
        (Unit::Place, Look::Published { .. }) => told_places(field, said),
        _ => starts(ordered.unit, field.ends),
    };
    let count = |spans: Vec<(f64, f64)>, missing: bool| {
        let test = Test::Spans { spans, missing };
        let sum = |reaches: &[Reach], rows: &[u64]| {
            let weights = weights(reaches, Some(&test), Part::Share);
            weights.iter().zip(rows).map(|(weight, &rows)| weight * real(rows)).sum::<f64>()
        };
        (sum(&values, before), sum(reaches, rows))
    };
    let last = starts.len().saturating_sub(1);
    let mut bins: Vec<(f64, f64, f64, f64)> = Vec::new();
    for (at, &lo) in starts.iter().enumerate() {
        let end = starts.get(at + 1).copied().unwrap_or(f64::INFINITY);
        let from = if at == 0 { f64::NEG_INFINITY } else { lo };
        let to = match grain(ordered.unit) {
            Grain::Points => end - 1.0,
            Grain::Length => end.next_down(),
        };
        let (before, after) = count(vec![(from, if at == last { f64::INFINITY } else { to })], false);
        bins.push((lo, end, before, after));
    }
    let least = match look {
        Look::Everything => 0.0,
        Look::Published { least } => real(least),
    };
    let mut merged: Vec<(f64, f64, f64, f64)> = Vec::new();
    for bin in bins {
        match merged.last_mut() {
            Some(last) if last.2 < least => *last = (last.0, bin.1, last.2 + bin.2, last.3 + bin.3),
            _ => merged.push(bin),
        }
    }
    // The last one may be short of rows still.
    if let Some(short) = merged.pop_if(|last| last.2 < least) {
        match merged.last_mut() {
            Some(last) => *last = (last.0, short.1, last.2 + short.2, last.3 + short.3),
            None => return Vec::new(),
        }
    }
    let is_open = look != Look::Everything;
    let ends = merged.len().saturating_sub(1);
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole rows were summed up")]
    let whole = |number: f64| number.round() as u64;
    let bin = |(at, &(lo, end, before, after)): (usize, &(f64, f64, f64, f64))| {
        let label = match (at, ordered.unit) {
            _ if is_open && ends == 0 => "all".to_string(),
            (at, _) if is_open && at == ends => format!("from {}", written(field, ordered.unit, lo)),
            (_, Unit::Place) if is_open && at > 0 && end - lo > 1.0 => {
                // Only its first place is surely one whose label was told.
                format!("{} to below {}", written(field, ordered.unit, lo), written(field, ordered.unit, end))
            }
            (0, _) if is_open => format!("below {}", written(field, ordered.unit, end)),
            _ => stretch(field, ordered.unit, lo, if end.is_finite() { end } else { lo + step_of(&starts) }),
        };
        Bin { label: Some(label), before: whole(before), after }
    };
    let mut bins: Vec<Bin> = merged.iter().enumerate().map(bin).collect();
    let (before, after) = count(Vec::new(), true);
    if ordered.missing && before > 0.0 && before >= least {
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

/// Where bins begin: round numbers, at most about twenty.
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
    let round = [1.0, 2.0, 5.0, 10.0].map(|digit| digit * power).into_iter().find(|step| *step >= least * 0.999);
    let step = match unit {
        Unit::Place | Unit::Day => least.ceil().max(1.0),
        Unit::Second => least,
        Unit::Whole => round.unwrap_or(least).max(1.0),
        Unit::Decimal => round.unwrap_or(least),
    };
    let first = if matches!(unit, Unit::Whole | Unit::Decimal) { (lo / step).floor() * step } else { lo };
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

/// The places of an order whose labels some released cell tells.
fn told_places(field: &Field<'_>, said: &[Cell<'_>]) -> Vec<f64> {
    let told = said.iter().filter_map(|&cell| match field.raw(cell) {
        Some(Raw::Ends(lo, hi)) => Some([lo, hi]),
        _ => None,
    });
    let mut places: Vec<f64> = told.flatten().filter(|end| end.is_finite()).collect();
    places.sort_by(f64::total_cmp);
    places.dedup_by(|later, earlier| *later <= *earlier);
    places
}

fn stretch(field: &Field<'_>, unit: Unit, lo: f64, end: f64) -> String {
    let hi = match grain(unit) {
        Grain::Points => (end - 1.0).min(field.ends.1),
        Grain::Length => end,
    };
    let first = written(field, unit, lo);
    if hi <= lo { first } else { format!("{first} – {}", written(field, unit, hi)) }
}

fn written(field: &Field<'_>, unit: Unit, point: f64) -> String {
    match unit {
        Unit::Second => field.text((point / 86_400.0).floor()),
        Unit::Decimal => format!("{point:.6}").trim_end_matches('0').trim_end_matches('.').to_string(),
        _ => field.text(point),
    }
}
