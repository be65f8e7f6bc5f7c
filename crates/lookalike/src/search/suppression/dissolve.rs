//! Dissolving a class: the tuples that fit nowhere else are left out, the others join the classes
//! around, each where it adds least loss. So a single row that keeps a class wide can go although
//! the class has just k rows.

use super::path::{State, Step};
use crate::codes::{CodeRange, real};
use crate::problem::partition::Piece;
use crate::problem::privacy::Tally;
use crate::search::boxes::Objective;
use crate::search::boxes::nearest::Seeker;

/// Classes that a tuple may join: more are looked at where rules on sensitive values may forbid the
/// nearest one.
const NEAREST: usize = 1;
const NEAREST_UNDER_RULES: usize = 4;

/// A class that takes rows of another.
struct Taker {
    class: u32,
    ranges: Vec<CodeRange>,
    rows: u64,
    row_loss: f64,
    entered: Vec<Piece>,
}

/// The step that dissolves a class with the greatest gain for each row left out; none when that
/// gains nothing, or when all rows would be left out.
pub(super) fn dissolve(state: &State, class: u32, tally: &mut Tally) -> Option<Step> {
    let pieces = &state.classes[class as usize];
    if state.alive < 2 {
        return None;
    }
    let by_size = !state.privacy.needs_sensitive();
    let most = if by_size { NEAREST } else { NEAREST_UNDER_RULES };
    // For each tuple the classes that it may join, and what a row of it costs in the first.
    let mut cost: Vec<(f64, usize, Vec<u32>)> = Vec::with_capacity(pieces.len());
    for (at, piece) in pieces.iter().enumerate() {
        let (ranges, rows) = (state.row(piece.tuple), u64::from(piece.count));
        let objective = Objective::Table;
        let seeker = Seeker { group: class, objective, rows, ranges: &ranges, seed: 0 };
        let near = state.tree.several(&state.boxes, &seeker, 0.0, most);
        let &first = near.first()?;
        let then = state.boxes.penalty.of_join(&ranges, state.boxes.ranges(first));
        let value = objective.value(rows, state.boxes.rows(first), state.boxes.own(first), then);
        cost.push((value / real(rows), at, near));
    }
    // The dearest are left out first.
    cost.sort_by(|one, other| other.0.total_cmp(&one.0));
    let count = |at: usize| u64::from(pieces[at].count);
    let mut dealt: f64 = cost.iter().map(|&(each, at, _)| each * real(count(at))).sum();
    let (mut out, mut best) = (0, (f64::NEG_INFINITY, 0));
    for (number, &(each, at, _)) in cost.iter().enumerate().take(pieces.len() - 1) {
        dealt -= each * real(count(at));
        out += count(at);
        let gain = state.loss(class) - dealt - real(out) * state.price;
        let ratio = gain / real(out);
        if ratio > best.0 {
            best = (ratio, number + 1);
        }
    }
    let (left_out, joining) = cost.split_at(best.1);
    if left_out.is_empty() || best.0 <= state.nothing() {
        return None;
    }
    exactly(state, class, left_out, joining, tally)
}

/// The step with these pieces left out and those joining other classes, as it really comes out:
/// several may join one class.
fn exactly(
    state: &State,
    class: u32,
    left_out: &[(f64, usize, Vec<u32>)],
    joining: &[(f64, usize, Vec<u32>)],
    tally: &mut Tally,
) -> Option<Step> {
    let pieces = &state.classes[class as usize];
    let penalty = state.boxes.penalty;
    let mut takers: Vec<Taker> = Vec::new();
    let mut moves = Vec::with_capacity(joining.len());
    let mut added = 0.0;
    // Those that find a place most easily come first.
    for (_, at, near) in joining.iter().rev() {
        let piece = pieces[*at];
        let ranges = state.row(piece.tuple);
        let mut choice: Option<(f64, usize)> = None;
        for &to in near {
            let known = takers.iter().position(|taker| taker.class == to);
            let place = known.unwrap_or_else(|| {
                takers.push(Taker {
                    class: to,
                    ranges: state.boxes.ranges(to).to_vec(),
                    rows: state.boxes.rows(to),
                    row_loss: state.boxes.own(to),
                    entered: Vec::new(),
                });
                takers.len() - 1
            });
            let taker = &takers[place];
            let then = penalty.of_join(&ranges, &taker.ranges);
            let value =
                Objective::Table.value(u64::from(piece.count), taker.rows, taker.row_loss, then);
            let there = &state.classes[to as usize];
            let with = there.iter().chain(&taker.entered).chain(std::iter::once(&piece));
            if choice.is_none_or(|(best, _)| value < best) && state.holds(tally, with) {
                choice = Some((value, place));
            }
        }
        let (value, place) = choice?;
        let taker = &mut takers[place];
        taker.ranges.iter_mut().zip(&ranges).for_each(|(range, own)| *range = range.join(*own));
        taker.rows += u64::from(piece.count);
        taker.row_loss = penalty.of_box(&taker.ranges);
        taker.entered.push(piece);
        added += value;
        moves.push((*at, taker.class));
    }
    let out: Vec<usize> = left_out.iter().map(|&(_, at, _)| at).collect();
    let rows: u64 = out.iter().map(|&at| u64::from(pieces[at].count)).sum();
    let gain = state.loss(class) - added - real(rows) * state.price;
    (gain > state.nothing()).then_some(Step { gain, out, rows, moves })
}
