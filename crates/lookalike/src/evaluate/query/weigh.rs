//! What a cell says of a column, and what share of that satisfies a condition.

use super::Part;
use crate::codes::{CodeRange, real};

/// What a cell says.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Reach {
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

/// How much of a line there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grain {
    /// Whole numbers, days, places: they are counted. The ends of a span are points.
    Points,
    /// Anything between: it is measured.
    Length,
}

/// A condition, met with its column.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Test {
    /// Any of these stretches, both ends included, or missing. No two overlap.
    Spans { spans: Vec<(f64, f64)>, missing: bool },
    /// By leaf, whether it is wanted.
    Leaves(Vec<bool>),
}

/// For each cell the share of it that satisfies the test, or for the summed column that share times
/// its mean value.
pub(super) fn weights(reaches: &[Reach], test: Option<&Test>, part: Part) -> Vec<f64> {
    match test {
        Some(Test::Leaves(wanted)) => {
            let mut before = vec![0];
            before.extend(wanted.iter().scan(0, |sum, wanted| {
                *sum += u32::from(*wanted);
                Some(*sum)
            }));
            let inside =
                |range: &CodeRange| before[range.hi as usize + 1] - before[range.lo as usize];
            reaches.iter().map(|reach| among(reach, inside)).collect()
        }
        Some(Test::Spans { spans, missing }) => {
            reaches.iter().map(|reach| within(reach, spans, *missing, part)).collect()
        }
        None => {
            let anywhere = [(f64::NEG_INFINITY, f64::INFINITY)];
            reaches.iter().map(|reach| within(reach, &anywhere, true, part)).collect()
        }
    }
}

fn among(reach: &Reach, inside: impl Fn(&CodeRange) -> u32) -> f64 {
    let Reach::Leaves(ranges) = reach else { unreachable!("a tree has leaves") };
    let count = |of: &dyn Fn(&CodeRange) -> u32| {
        ranges.iter().map(|range| u64::from(of(range))).sum::<u64>()
    };
    real(count(&inside)) / real(count(&|range| range.hi - range.lo + 1))
}

fn within(reach: &Reach, spans: &[(f64, f64)], with_missing: bool, part: Part) -> f64 {
    let Reach::Span { lo, hi, missing, grain } = *reach else { unreachable!("a line has spans") };
    let weigh = |&span: &(f64, f64)| {
        let (share, middle) = overlap((lo, hi), span, grain);
        match part {
            Part::Share => share,
            Part::Value => share * middle,
        }
    };
    let present =
        if missing < 1.0 { (1.0 - missing) * spans.iter().map(weigh).sum::<f64>() } else { 0.0 };
    // A missing value adds nothing to a sum.
    let absent = if with_missing && part == Part::Share { missing } else { 0.0 };
    present + absent
}

/// The share of the cell that lies in the span, and the middle of what does.
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
        // A single value has no length; here it is in.
        Grain::Length if cell.0 >= cell.1 => 1.0,
        Grain::Length => (hi - lo) / (cell.1 - cell.0),
    };
    (share, f64::midpoint(lo, hi))
}
