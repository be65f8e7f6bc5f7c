//! Feasibility: whether any release can satisfy the rules, and which rows every release must
//! suppress.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use super::Problem;
use super::partition::Piece;
use super::privacy::Excess;
use crate::codes::Code;
use crate::error::{Error, Hint, Result, percent_up};
use crate::rng::{Key, MANDATORY};

/// The rows of mandatory suppression; none when the whole table as one class satisfies the rules.
///
/// Else as few rows as possible are suppressed: rows with a sensitive value that is too frequent,
/// those with the rarest quasi-identifiers first, at random among equally rare ones. (Of persons with
/// several values, those with the most frequent ones first: which are fewest nobody can know soon.) `names` are
/// the names of the sensitive columns under a rule.
///
/// # Errors
/// [`Infeasible`](crate::ErrorKind::Infeasible) when no suppression helps, or when it needs more
/// rows than the request allows.
pub(super) fn mandatory(problem: &Problem, names: &[String], key: Key) -> Result<Vec<Piece>> {
    let mut by_rarity = problem.pieces_without(&[]);
    let mut rest = problem.tally();
    problem.count_into(&mut rest, &by_rarity);
    let privacy = &problem.stages[0].privacy;
    if privacy.holds(&rest) {
        return Ok(Vec::new());
    }
    let infeasible = privacy.nearest(&rest, names);
    key.draws(MANDATORY).shuffle(&mut by_rarity);
    by_rarity.sort_by_key(|piece| piece.count);
    let mut suppressed: FxHashMap<u32, u32> = FxHashMap::default();
    let mut codes: Vec<Code> = vec![0; problem.sensitive.len()];
    while let Some(excess) = privacy.excess(&rest) {
        let taken = if rest.is_plural(excess.column) {
            // Persons with several frequent values first; half of them, then the counts are others.
            let excess = Excess { rows: excess.rows.div_ceil(2), ..excess };
            let frequent = |piece: &Piece| problem.sum_of_values(excess.column, piece.tuple, &rest);
            let mut by_values = by_rarity.clone();
            by_values.sort_by_key(|piece| Reverse(frequent(piece)));
            take(problem, excess, &by_values, &mut suppressed)
        } else {
            take(problem, excess, &by_rarity, &mut suppressed)
        };
        for piece in taken {
            problem.sensitive_codes(piece.tuple, &mut codes);
            rest.remove(&codes, piece.count);
        }
    }
    let is_plural = (0..problem.sensitive.len()).any(|column| rest.is_plural(column));
    let unproven = |error: Error| {
        let other = "remove persons with several values from the table: which of them to suppress \
                     was tried, not proved";
        if is_plural && problem.allowance > 0 { error.hint(Hint::plain(other)) } else { error }
    };
    if !privacy.holds(&rest) {
        return Err(unproven(why(infeasible)));
    }
    let needed: u64 = suppressed.values().map(|&count| u64::from(count)).sum();
    if needed > problem.allowance {
        let share = percent_up(needed, problem.row_count());
        let error = why(infeasible).hint(Hint::plain("set that value"));
        return Err(unproven(error.hint(Hint::AllowSuppression { share })));
    }
    let of_piece = |piece: &Piece| {
        suppressed.get(&piece.tuple).map(|&count| Piece { tuple: piece.tuple, count })
    };
    Ok(by_rarity.iter().filter_map(of_piece).collect())
}

/// The error that names the nearest request.
fn why(infeasible: Result<()>) -> Error {
    infeasible.expect_err("the rules are not satisfied by the whole table")
}

/// Takes the rows of an excess from the first pieces with its value that have some left, and
/// returns them.
fn take(
    problem: &Problem,
    excess: Excess,
    by_rarity: &[Piece],
    suppressed: &mut FxHashMap<u32, u32>,
) -> Vec<Piece> {
    let mut need = excess.rows;
    let mut taken = Vec::new();
    for piece in by_rarity {
        let before = suppressed.get(&piece.tuple).copied().unwrap_or(0);
        if need == 0
            || !problem.has_value(excess.column, piece.tuple, excess.code)
            || before == piece.count
        {
            continue;
        }
        let count = u32::try_from(need).unwrap_or(u32::MAX).min(piece.count - before);
        *suppressed.entry(piece.tuple).or_insert(0) += count;
        need -= u64::from(count);
        taken.push(Piece { tuple: piece.tuple, count });
    }
    taken
}
