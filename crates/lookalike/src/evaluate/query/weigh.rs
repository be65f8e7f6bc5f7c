//! The extent of a cell in its column, and the share of it that satisfies a condition.

use super::Weighting;
use crate::codes::{CodeRange, real};

/// The extent of a cell: the values that it allows.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Extent {
    /// On an ordered column: from `lo` to `hi`, or missing.
    Span {
        lo: f64,
        hi: f64,
        /// The share of the cell that is the missing value: 0, 1, or between where it may be
        /// either.
        missing: f64,
        grain: Grain,
    },
    /// These leaves: one range for a node, one a value for a set.
    Leaves(Vec<CodeRange>),
}

/// How the size of a span is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grain {
    /// As a number of points: whole numbers, days, places. The ends of a span are points.
    Points,
    /// As a length: decimals, instants.
    Length,
}

/// A condition in the terms of its column.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Test {
    /// Any of these spans, both ends included, or missing. No two overlap.
    Spans { spans: Vec<(f64, f64)>, missing: bool },
    /// For each leaf whether it satisfies the condition.
    Leaves(Vec<bool>),
}

/// For each cell the share of it that satisfies the test, or for the summed column that share times
/// its mean value.
pub(super) fn weights(extents: &[Extent], test: Option<&Test>, weighting: Weighting) -> Vec<f64> {
    match test {
        Some(Test::Leaves(wanted)) => {
            let mut before = vec![0];
            before.extend(wanted.iter().scan(0, |sum, wanted| {
                *sum += u32::from(*wanted);
                Some(*sum)
            }));
            let inside =
                |range: &CodeRange| before[range.hi as usize + 1] - before[range.lo as usize];
            extents.iter().map(|extent| among(extent, inside)).collect()
        }
        Some(Test::Spans { spans, missing }) => {
            extents.iter().map(|extent| within(extent, spans, *missing, weighting)).collect()
        }
        None => {
            let anywhere = [(f64::NEG_INFINITY, f64::INFINITY)];
            extents.iter().map(|extent| within(extent, &anywhere, true, weighting)).collect()
        }
    }
}

fn among(extent: &Extent, inside: impl Fn(&CodeRange) -> u32) -> f64 {
    let Extent::Leaves(ranges) = extent else { unreachable!("a tree has leaves") };
    let count = |of: &dyn Fn(&CodeRange) -> u32| {
        ranges.iter().map(|range| u64::from(of(range))).sum::<u64>()
    };
    real(count(&inside)) / real(count(&|range| range.hi - range.lo + 1))
}

fn within(extent: &Extent, spans: &[(f64, f64)], with_missing: bool, weighting: Weighting) -> f64 {
    let Extent::Span { lo, hi, missing, grain } = *extent else { unreachable!("a line has spans") };
    let weigh = |&span: &(f64, f64)| {
        let (share, middle) = overlap((lo, hi), span, grain);
        match weighting {
            Weighting::Share => share,
            Weighting::Value => share * middle,
        }
    };
    let present =
        if missing < 1.0 { (1.0 - missing) * spans.iter().map(weigh).sum::<f64>() } else { 0.0 };
    // A missing value adds nothing to a sum.
    let absent = if with_missing && weighting == Weighting::Share { missing } else { 0.0 };
    present + absent
}

/// The share of the cell that lies in the span, and the middle of the overlap.
fn overlap(cell: (f64, f64), span: (f64, f64), grain: Grain) -> (f64, f64) {
    let (from, to) = match grain {
        Grain::Points => (span.0.ceil(), span.1.floor()),
        Grain::Length => span,
    };
    let (lo, hi) = (cell.0.max(from), cell.1.min(to));
    if lo > hi {
        return (0.0, 0.0);
    }
    let share = match grain {
        Grain::Points => (hi - lo + 1.0) / (cell.1 - cell.0 + 1.0),
        // A single value has no length; here it lies in the span.
        Grain::Length if cell.0 >= cell.1 => 1.0,
        Grain::Length => (hi - lo) / (cell.1 - cell.0),
    };
    (share, f64::midpoint(lo, hi))
}
