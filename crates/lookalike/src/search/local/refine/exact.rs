//! The best of all partitions of a handful of rows, by going through all sets of them.

use super::pool::{Judge, Member, Part, Pool, make_room};
use crate::codes::{CodeRange, real};
use crate::domain::penalty::Penalty;

/// Makes the cheapest classes that hold out of all rows of the pool, of which there are few; says
/// how many.
///
/// O(3^n) for n rows: the class of the last row of each set is any part of it, and the rest is a
/// smaller set.
pub(super) fn exact(
    penalty: &Penalty,
    judge: &mut Judge,
    pool: &Pool,
    parts: &mut Vec<Part>,
) -> usize {
    let rows: Vec<u32> = (0..)
        .zip(&pool.pieces)
        .flat_map(|(at, piece)| std::iter::repeat_n(at, piece.count as usize))
        .collect();
    let costs = costs(penalty, judge, pool, &rows);
    let all = costs.len();
    let (mut least, mut class_of) = (vec![f64::INFINITY; all], vec![0; all]);
    least[0] = 0.0;
    for set in 1..all {
        let last = 1 << set.ilog2();
        let others = set ^ last;
        let mut some = others;
        loop {
            let cost = costs[some | last] + least[others ^ some];
            if cost < least[set] {
                (least[set], class_of[set]) = (cost, some | last);
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
        assert!(class > 0, "all rows of the pool hold together");
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

/// What every set of rows costs as a class; infinite if it does not hold.
fn costs(penalty: &Penalty, judge: &mut Judge, pool: &Pool, rows: &[u32]) -> Vec<f64> {
    let (all, width) = (1_usize << rows.len(), pool.width());
    let mut ranges: Vec<CodeRange> = vec![CodeRange::one(0); all * width];
    let mut costs = vec![f64::INFINITY; all];
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
        // A class of twice as many rows as it takes can be split, and then costs no more.
        if size < judge.least || judge.is_by_size() && size >= 2 * judge.least {
            continue;
        }
        members.clear();
        members.extend(
            (0..rows.len())
                .filter(|row| set >> row & 1 == 1)
                .map(|row| Member { at: rows[row], count: 1 }),
        );
        if judge.holds(pool, &members) {
            costs[set] = real(size) * penalty.of_box(&ranges[set * width..][..width]);
        }
    }
    costs
}
