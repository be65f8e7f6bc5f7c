//! Moving and exchanging rows between the few classes of a pool until nothing gets better.

use super::pool::{Member, Pool, PoolClass, RuleCheck, equal};
use crate::codes::real;
use crate::domain::penalty::Penalty;

/// After so many looks at a tuple the clock is read. No tuned number: it only bounds how late a
/// search ends.
const PATIENCE: u32 = 64;

/// Lowers the total loss of the classes by moves and exchanges. They all satisfy the rules before
/// and after, and whenever time runs out.
///
/// It ends: a move or an exchange after which the two classes do not lose less, whatever was
/// expected of it, is the last one between them in its turn, and turns are limited.
pub(super) fn polish(
    penalty: &Penalty,
    rules: &mut RuleCheck,
    pool: &Pool,
    parts: &mut [PoolClass],
) {
    let mut seen = vec![(u32::MAX, u32::MAX); parts.len() * parts.len()];
    for _ in 0..rules.tuning().polish_rounds {
        let mut is_better = false;
        for from in 0..parts.len() {
            is_better |= move_out(penalty, rules, pool, parts, from);
        }
        for from in 0..parts.len() {
            for to in (0..parts.len()).filter(|&to| to != from) {
                // A pair is looked at again when one of the two has changed.
                loop {
                    let now = (parts[from].changes, parts[to].changes);
                    if std::mem::replace(&mut seen[from * parts.len() + to], now) == now
                        || !exchange(penalty, rules, pool, parts, from, to)
                    {
                        break;
                    }
                    is_better = true;
                }
            }
        }
        if !is_better {
            return;
        }
    }
}

/// Moves tuples out of a class that can spare rows to where they lose less.
fn move_out(
    penalty: &Penalty,
    rules: &mut RuleCheck,
    pool: &Pool,
    parts: &mut [PoolClass],
    from: usize,
) -> bool {
    let (mut member, mut looks, mut is_better) = (0, 0_u32, false);
    while member < parts[from].members.len() && parts[from].rows > rules.least {
        if looks.is_multiple_of(PATIENCE) && rules.is_late() {
            return false;
        }
        looks += 1;
        let Member { at, count } = parts[from].members[member];
        let spare = u32::try_from(parts[from].rows - rules.least).unwrap_or(u32::MAX);
        let moved = Member { at, count: count.min(spare) };
        let row = pool.row(at);
        let part = &parts[from];
        let gain = if moved.count == count {
            part.loss() - real(part.rows - u64::from(count)) * part.row_loss_without(penalty, row)
        } else {
            f64::from(moved.count) * part.row_loss
        };
        let mut best = (equal(penalty), None);
        if gain > best.0 && rules.holds_after(pool, parts, from, Some(moved), None) {
            for to in (0..parts.len()).filter(|&to| to != from) {
                let saved = gain - parts[to].loss_of_entry(penalty, row, moved.count);
                if saved > best.0 && rules.holds_after(pool, parts, to, None, Some(moved)) {
                    best = (saved, Some(to));
                }
            }
        }
        let Some(to) = best.1 else {
            member += 1;
            continue;
        };
        let before = parts[from].loss() + parts[to].loss();
        parts[from].take(penalty, pool, member, moved.count);
        parts[to].add(penalty, pool, moved);
        if parts[from].loss() + parts[to].loss() >= before {
            return false;
        }
        is_better = true;
    }
    is_better
}

/// Exchanges tuples of one class without which its other rows lose less for rows of another class.
fn exchange(
    penalty: &Penalty,
    rules: &mut RuleCheck,
    pool: &Pool,
    parts: &mut [PoolClass],
    from: usize,
    to: usize,
) -> bool {
    let (mut member, mut looks, mut is_better) = (0, 0_u32, false);
    while member < parts[from].members.len() && parts[from].members.len() > 1 {
        if looks.is_multiple_of(PATIENCE) && rules.is_late() {
            return false;
        }
        looks += 1;
        let (one, other) = (&parts[from], &parts[to]);
        let leaving = one.members[member];
        let row = pool.row(leaving.at);
        let without = one.row_loss_without(penalty, row);
        if without >= one.row_loss - equal(penalty) {
            member += 1;
            continue;
        }
        let now = one.loss() + other.loss();
        let least = (rules.least + u64::from(leaving.count)).saturating_sub(one.rows).max(1);
        let with = other.row_loss_with(penalty, row);
        let mut best = (equal(penalty), None);
        for (place, there) in other.members.iter().enumerate() {
            if there.at == leaving.at || u64::from(there.count) < least {
                continue;
            }
            let coming = pool.row(there.at);
            // As few of its rows as are needed, or all.
            let few = u32::try_from(least).unwrap_or(u32::MAX);
            for count in [few, there.count].into_iter().take(if few == there.count { 1 } else { 2 })
            {
                let is_whole = count == there.count;
                let Some(rows_there) =
                    (other.rows + u64::from(leaving.count)).checked_sub(u64::from(count))
                else {
                    continue;
                };
                let (rows_here, rows_there) = (
                    real(one.rows - u64::from(leaving.count) + u64::from(count)),
                    real(rows_there),
                );
                let room = now - best.0;
                if rows_here * without + if is_whole { 0.0 } else { rows_there * with } >= room {
                    continue;
                }
                let here = rows_here * one.row_loss_after(penalty, row, coming);
                if here >= room {
                    continue;
                }
                let loss_there =
                    if is_whole { other.row_loss_after(penalty, coming, row) } else { with };
                let loss = here + rows_there * loss_there;
                let coming = Member { at: there.at, count };
                if loss < room
                    && rules.holds_after(pool, parts, from, Some(leaving), Some(coming))
                    && rules.holds_after(pool, parts, to, Some(coming), Some(leaving))
                {
                    best = (now - loss, Some((place, coming)));
                }
            }
        }
        let Some((place, coming)) = best.1 else {
            member += 1;
            continue;
        };
        parts[from].take(penalty, pool, member, leaving.count);
        parts[to].take(penalty, pool, place, coming.count);
        parts[from].add(penalty, pool, coming);
        parts[to].add(penalty, pool, leaving);
        if parts[from].loss() + parts[to].loss() >= now {
            return false;
        }
        is_better = true;
    }
    is_better
}
