//! The cells of a problem: which groups of rows the sharper bound looks at, on which ranges.

use rustc_hash::FxHashMap;

use crate::codes::{Code, real};
use crate::domain::penalty::Penalty;
use crate::problem::Problem;

use super::cell_scan::{CellSpace, ValueShares};
use super::published_ranges::published_ranges;

/// Bins of the lines of a space: of the last, and of each other one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bins {
    last: usize,
    others: usize,
}

/// Bins of the last line and of the others, from coarse to fine, for one, two and more lines: each
/// line more multiplies the cells by the square of its bins.
const BINS: [(usize, usize); 3] = [(8, 5), (24, 10), (128, 24)];

/// The spaces to go through, the finest last. Those that are no coarser than it are left out, and so
/// are all coarse ones where there are not two lines: the finest is quick enough then, and its own
/// start is nearer than the end of a coarse one.
pub(super) fn resolutions(problem: &Problem, penalty: &Penalty) -> Vec<Bins> {
    let mut lines: Vec<usize> = (0..penalty.width())
        .filter(|&at| is_line(problem, at))
        .map(|at| problem.attributes()[at].codes())
        .collect();
    lines.sort_unstable();
    let most = lines.last().copied().unwrap_or(1);
    let before = lines.iter().rev().nth(1).copied().unwrap_or(1);
    let crowded = lines.len().saturating_sub(2);
    let coarsest = if lines.len() < 2 { BINS.len() - 1 } else { 0 };
    let mut found = Vec::new();
    for &(last, others) in &BINS[coarsest..] {
        let bins = Bins { last, others: (others >> crowded.min(4)).max(2) };
        found.push(bins);
        if last >= most && bins.others >= before {
            break;
        }
    }
    found
}

fn is_line(problem: &Problem, at: usize) -> bool {
    use crate::domain::attribute::Domain;
    matches!(&problem.attributes()[at].domain, Domain::Ordered(line) if line.published().is_none())
}

/// The space of a problem with so many bins; none where its ranges are too many for tables.
pub(super) fn cell_space(problem: &Problem, penalty: &Penalty, bins: Bins) -> Option<CellSpace> {
    let order = order(problem, penalty);
    let (shares, values) = shares(problem);
    let mut starts: Vec<u32> = Vec::new();
    let (mut rows, mut value) = (Vec::<f64>::new(), Vec::<Option<u32>>::new());
    // Tuples are sorted by quasi-identifiers: those that differ in sensitive values alone follow
    // each other. Of these, the ones with the same ruled value are one group.
    let mut here: FxHashMap<Option<u32>, usize> = FxHashMap::default();
    for tuple in (0u32..).take(problem.tuples()) {
        let is_same = starts.last().is_some_and(|&before| {
            (0..penalty.width()).all(|at| problem.code(at, before) == problem.code(at, tuple))
        });
        if !is_same {
            here.clear();
        }
        let own = values.as_ref().and_then(|values| values[tuple as usize]);
        let group = *here.entry(own).or_insert_with(|| {
            starts.push(tuple);
            rows.push(0.0);
            value.push(own);
            rows.len() - 1
        });
        rows[group] += real(u64::from(problem.count(tuple)));
    }
    let last = order.last().copied();
    let (mut ranges, mut places) = (Vec::new(), Vec::new());
    for &at in &order {
        let most = if Some(at) == last { bins.last } else { bins.others };
        let (published, place_of) = published_ranges(&problem.attributes()[at], penalty, at, most)?;
        let place = |&tuple: &u32| place_of[problem.code(at, tuple) as usize];
        places.push(starts.iter().map(place).collect());
        ranges.push(published);
    }
    let k = least_size(problem);
    let shares = shares.map(|(alpha, values)| ValueShares { value, values, most: alpha * k });
    Some(CellSpace { ranges, places, rows, k, shares })
}

/// The attributes in the order in which cells are cut: trees before lines, those first whose ranges
/// above a value cost most, because their loss ends a visit early; the longest line last, because
/// there a range grows bin by bin.
fn order(problem: &Problem, penalty: &Penalty) -> Vec<usize> {
    let step = |at: usize| {
        let codes = u32::try_from(problem.attributes()[at].codes()).expect("codes are 32 bits");
        (0..codes).map(|code: Code| penalty.step(at, code)).sum::<f64>() / f64::from(codes)
    };
    let key = |&at: &usize| match is_line(problem, at) {
        true => real(problem.attributes()[at].codes() as u64),
        false => -step(at) - 1.0,
    };
    let mut order: Vec<usize> = (0..penalty.width()).collect();
    order.sort_by(|one, other| key(one).total_cmp(&key(other)));
    order
}

/// The least rows of a class.
fn least_size(problem: &Problem) -> f64 {
    let last = problem.stages_in_order().last();
    real(problem.k().max(last.map_or(1, |stage| stage.privacy.least_rows())))
}

/// The strictest rule on the share of a value, if one is part of the bound: the share and the number
/// of values, and for each tuple its value.
#[allow(clippy::type_complexity, reason = "two results of one look at the rules")]
fn shares(problem: &Problem) -> (Option<(f64, usize)>, Option<Vec<Option<u32>>>) {
    let [stage] = problem.stages_in_order() else { return (None, None) };
    let Some((column, alpha, together)) = stage.privacy.strictest_share() else {
        return (None, None);
    };
    if problem.counts_persons() {
        return (None, None);
    }
    let mut codes = vec![0; problem.sensitive_columns()];
    let mut values = 0;
    let mut value = |tuple: u32| {
        problem.sensitive_codes(tuple, &mut codes);
        let value = match together {
            None => Some(codes[column]),
            Some(together) => together.contains(&codes[column]).then_some(0),
        };
        values = values.max(value.map_or(0, |value| value as usize + 1));
        value
    };
    let of_tuples = (0u32..).take(problem.tuples()).map(&mut value).collect();
    // Rounded up: a share that is a little too great only makes the bound weaker.
    (Some((alpha.to_f64() * (1.0 + 1e-12), values)), Some(of_tuples))
}
