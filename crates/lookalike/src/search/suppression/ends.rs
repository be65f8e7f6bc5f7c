//! Leaving tuples out of a class that stays: all at one end of its box, or all but those with the
//! most frequent value of an attribute.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::path::{State, Step};
use crate::codes::{CodeRange, real};
use crate::problem::partition::Piece;
use crate::problem::privacy::Tally;

/// The best such step of at most so many rows: without a limit by the gain for each row, otherwise
/// by the gain.
pub(super) fn step(state: &State, class: u32, most: u64, tally: &mut Tally) -> Option<Step> {
    let pieces = &state.classes[class as usize];
    if !(2..=state.tuning.suppress_tuples).contains(&pieces.len()) {
        return None;
    }
    let spare = state.boxes.rows(class).saturating_sub(state.privacy.k()).min(most);
    if spare == 0 {
        return None;
    }
    let all: Vec<Vec<CodeRange>> = pieces.iter().map(|piece| state.row(piece.tuple)).collect();
    let mut best: Option<Step> = None;
    let mut seen: Vec<Vec<usize>> = Vec::new();
    for (at, &whole) in state.boxes.ranges(class).iter().enumerate() {
        let range = |piece: usize| all[piece][at];
        let low = places(pieces, |piece| range(piece).lo == whole.lo);
        let high = places(pieces, |piece| range(piece).hi == whole.hi);
        let common = most_frequent(pieces, range);
        let others = places(pieces, |piece| range(piece) != common);
        for out in [low, high, others] {
            let rows: u64 = out.iter().map(|&place| u64::from(pieces[place].count)).sum();
            if out.is_empty() || rows > spare || seen.contains(&out) {
                continue;
            }
            let gain = gain(state, class, &all, &out, rows);
            let step = Step { gain, out, rows, moves: Vec::new() };
            let is_better = best.as_ref().is_none_or(|best| match most {
                u64::MAX => step.ratio() > best.ratio(),
                _ => step.gain > best.gain,
            });
            seen.push(step.out.clone());
            if step.gain > state.nothing() && is_better && stays(state, pieces, &step.out, tally) {
                best = Some(step);
            }
        }
    }
    best
}

fn places(pieces: &[Piece], is_chosen: impl Fn(usize) -> bool) -> Vec<usize> {
    (0..pieces.len()).filter(|&place| is_chosen(place)).collect()
}

/// The value of most rows; of equally frequent ones the one that comes first.
fn most_frequent(pieces: &[Piece], range: impl Fn(usize) -> CodeRange) -> CodeRange {
    let mut counts: BTreeMap<CodeRange, (u64, Reverse<usize>)> = BTreeMap::new();
    for (place, piece) in pieces.iter().enumerate() {
        counts.entry(range(place)).or_insert((0, Reverse(place))).0 += u64::from(piece.count);
    }
    *counts.iter().max_by_key(|(_, count)| **count).expect("a class has rows").0
}

/// True for the places that are left out.
fn marked(places: usize, out: &[usize]) -> Vec<bool> {
    let mut is_out = vec![false; places];
    out.iter().for_each(|&place| is_out[place] = true);
    is_out
}

/// The fall of the objective when these pieces are left out.
fn gain(state: &State, class: u32, all: &[Vec<CodeRange>], out: &[usize], rows: u64) -> f64 {
    let is_out = marked(all.len(), out);
    let mut kept = (0..all.len()).filter(|&place| !is_out[place]);
    let mut ranges = all[kept.next().expect("some stay")].clone();
    for place in kept {
        ranges.iter_mut().zip(&all[place]).for_each(|(range, other)| *range = range.join(*other));
    }
    let rest = real(state.boxes.rows(class) - rows) * state.boxes.penalty.of_box(&ranges);
    state.loss(class) - rest - real(rows) * state.price
}

/// True when the class satisfies the rules without these pieces.
fn stays(state: &State, pieces: &[Piece], out: &[usize], tally: &mut Tally) -> bool {
    let is_out = marked(pieces.len(), out);
    let kept = pieces.iter().zip(&is_out).filter(|(_, is_out)| !**is_out);
    state.holds(tally, kept.map(|(piece, _)| piece))
}
