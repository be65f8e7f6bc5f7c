//! The rows of a pool that no new class took join the classes that there are.

use super::pool::{Member, Pool, PoolClass, RuleCheck};
use crate::domain::penalty::Penalty;

/// Puts each of these tuples into the class where it adds least loss, or where the rules forbid
/// that, all that are left into one class; false when they fit nowhere.
pub(super) fn deal_rest(
    penalty: &Penalty,
    rules: &mut RuleCheck,
    pool: &Pool,
    rest: &[Member],
    parts: &mut [PoolClass],
) -> bool {
    for (at, &member) in rest.iter().enumerate() {
        let row = pool.row(member.at);
        let mut best = (f64::INFINITY, None);
        for (to, part) in parts.iter().enumerate() {
            let loss = part.loss_of_entry(penalty, row, member.count);
            if loss < best.0 && rules.holds_after(pool, parts, to, None, Some(member)) {
                best = (loss, Some(to));
            }
        }
        let Some(to) = best.1 else {
            return put_together(penalty, rules, pool, &rest[at..], parts);
        };
        parts[to].add(penalty, pool, member);
    }
    true
}

/// Puts all of these into the class where they add least loss, of those that then satisfy the
/// rules; false when there is none.
fn put_together(
    penalty: &Penalty,
    rules: &mut RuleCheck,
    pool: &Pool,
    rest: &[Member],
    parts: &mut [PoolClass],
) -> bool {
    let mut best: Option<(f64, usize, PoolClass)> = None;
    for (to, part) in parts.iter().enumerate() {
        let mut with = part.clone();
        rest.iter().for_each(|&member| with.add(penalty, pool, member));
        let added = with.loss() - part.loss();
        if best.as_ref().is_none_or(|best| added < best.0) && rules.holds(pool, &with.members) {
            best = Some((added, to, with));
        }
    }
    let Some((_, to, with)) = best else { return false };
    parts[to] = with;
    true
}
