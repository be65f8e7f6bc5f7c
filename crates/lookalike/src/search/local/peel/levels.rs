//! The degrees of coarseness at which `peel` looks at an attribute.

use rustc_hash::FxHashMap;

use crate::codes::{Code, CodeRange, real};
use crate::domain::penalty::Penalty;
use crate::search::tuning::Tuning;

/// One way to look at an attribute.
pub(super) struct AttributeLevel {
    /// The group of each code.
    pub(super) groups: Vec<u32>,
    pub(super) count: u64,
    /// The mean loss of a row.
    pub(super) loss: f64,
}

/// The ways to look at an attribute, from the values themselves to anything, each coarser than the
/// one before or as coarse but set off.
pub(super) fn levels(
    tuning: &Tuning,
    penalty: &Penalty,
    at: usize,
    codes: usize,
    rows: impl Iterator<Item = (Code, u64)>,
) -> Vec<AttributeLevel> {
    let mut counts = vec![0; codes];
    rows.for_each(|(code, rows)| counts[code as usize] += rows);
    let codes: Vec<Code> =
        (0..).zip(&counts).filter(|&(_, &count)| count > 0).map(|(code, _)| code).collect();
    let all = real(counts.iter().sum::<u64>().max(1));
    let weight = penalty.weight(at);
    let mut found: Vec<AttributeLevel> = Vec::new();
    let mut add = |groups: Vec<u32>, window_share: f64| {
        if found.last().is_some_and(|last: &AttributeLevel| last.groups == groups) {
            return;
        }
        let mut ends: FxHashMap<u32, CodeRange> = FxHashMap::default();
        for &code in &codes {
            let one = CodeRange::one(code);
            ends.entry(groups[code as usize])
                .and_modify(|range| *range = range.join(one))
                .or_insert(one);
        }
        let loss_of = |&code: &Code| {
            real(counts[code as usize]) * penalty.of(at, ends[&groups[code as usize]])
        };
        let loss = codes.iter().map(loss_of).sum::<f64>() / all * window_share;
        let count = 1 + u64::from(groups.iter().copied().max().unwrap_or(0));
        found.push(AttributeLevel { groups, count, loss });
    };
    // Codes from the least on, as long as the range of the group loses no more than this; the first
    // group only half of it when set off.
    let windows = |most: f64, set_off: bool| {
        let (mut groups, mut group, mut first) = (vec![0; counts.len()], 0, None);
        for &code in &codes {
            let from: Code = *first.get_or_insert(code);
            let room = if set_off && group == 0 { most / 2.0 } else { most };
            if penalty.of(at, CodeRange { lo: from, hi: code }) > room {
                (group, first) = (group + 1, Some(code));
            }
            groups[code as usize] = group;
        }
        groups
    };
    add(windows(0.0, false), 1.0);
    if penalty.is_line(at) {
        for halving in (1..=tuning.peel_halvings).rev() {
            let most = weight * 0.5_f64.powi(halving);
            add(windows(most, false), tuning.peel_window_share);
            add(windows(most, true), tuning.peel_window_share);
        }
    } else if !penalty.is_flat(at) {
        let neighbours = codes.iter().flat_map(|&lo| {
            codes
                .iter()
                .take(tuning.peel_neighbours)
                .map(move |&hi| CodeRange { lo: lo.min(hi), hi: lo.max(hi) })
        });
        let mut losses: Vec<f64> = neighbours
            .map(|range| penalty.of(at, range))
            .filter(|&loss| loss > 0.0 && loss < weight)
            .collect();
        losses.sort_by(f64::total_cmp);
        losses.dedup();
        let most = losses.len().min(tuning.peel_levels);
        (1..=most)
            .for_each(|level| add(windows(losses[level * losses.len() / (most + 1)], false), 1.0));
    }
    add(vec![0; counts.len()], 1.0);
    found
}
