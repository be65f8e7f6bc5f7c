//! The partition of least loss of a handful of rows, by going through all sets of them.

use super::pool::{Member, Pool, PoolClass, RuleCheck, make_room};
use crate::codes::{CodeRange, real};
use crate::domain::penalty::Penalty;

/// Makes classes of least total loss out of all rows of the pool, of which there are few, each of
/// which satisfies the rules; returns their number.
///
/// O(3^n) for n rows: the class of the last row of each set is any part of it, and the rest is a
/// smaller set.
pub(super) fn exact(
    penalty: &Penalty,
    rules: &mut RuleCheck,
    pool: &Pool,
    parts: &mut Vec<PoolClass>,
) -> usize {
    let rows: Vec<u32> = (0..)
        .zip(&pool.pieces)
        .flat_map(|(at, piece)| std::iter::repeat_n(at, piece.count as usize))
        .collect();
    let losses = losses(penalty, rules, pool, &rows);
    let all = losses.len();
    let (mut least, mut class_of) = (vec![f64::INFINITY; all], vec![0; all]);
    least[0] = 0.0;
    for set in 1..all {
        let last = 1 << set.ilog2();
        let others = set ^ last;
        let mut some = others;
        loop {
            let loss = losses[some | last] + least[others ^ some];
            if loss < least[set] {
                (least[set], class_of[set]) = (loss, some | last);
            }
            if some == 0 {
                break;
            }
            some = (some - 1) & others;
        }
    }
    let (mut made, mut left) = (0, all - 1);
    while left > 0 {
        let class: usize = class_of[left];
        assert!(class > 0, "all rows of the pool together satisfy the rules");
        let mut members: Vec<Member> = Vec::new();
        for (_, &at) in rows.iter().enumerate().filter(|(row, _)| class >> row & 1 == 1) {
            match members.last_mut() {
                Some(last) if last.at == at => last.count += 1,
                _ => members.push(Member { at, count: 1 }),
            }
        }
        make_room(parts, made);
        parts[made].set(penalty, pool, members.into_iter());
        made += 1;
        left ^= class;
    }
    made
}

/// The loss of every set of rows as a class; infinite if it breaks a rule.
fn losses(penalty: &Penalty, rules: &mut RuleCheck, pool: &Pool, rows: &[u32]) -> Vec<f64> {
    let (all, width) = (1_usize << rows.len(), pool.width());
    let mut ranges: Vec<CodeRange> = vec![CodeRange::one(0); all * width];
    let mut losses = vec![f64::INFINITY; all];
    let mut members: Vec<Member> = Vec::new();
    for set in 1..all {
        let last = set.ilog2() as usize;
        let others = set ^ 1 << last;
        for (at, &code) in pool.row(rows[last]).iter().enumerate() {
            let one = CodeRange::one(code);
            ranges[set * width + at] =
                if others == 0 { one } else { ranges[others * width + at].join(one) };
        }
        let size = u64::from(set.count_ones());
        // A class of twice as many rows as it takes can be split, and then loses no more.
        if size < rules.least || rules.is_by_size() && size >= 2 * rules.least {
            continue;
        }
        members.clear();
        members.extend(
            (0..rows.len())
                .filter(|row| set >> row & 1 == 1)
                .map(|row| Member { at: rows[row], count: 1 }),
        );
        if rules.holds(pool, &members) {
            losses[set] = real(size) * penalty.of_box(&ranges[set * width..][..width]);
        }
    }
    losses
}
