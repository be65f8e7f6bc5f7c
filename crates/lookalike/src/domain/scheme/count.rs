//! How many partitions of a domain a scheme allows.

use super::{Scheme, Shape};

/// The count, unless it has more than 128 bits.
pub(super) fn count(scheme: Scheme, shape: &Shape) -> Option<u128> {
    match scheme {
        Scheme::Bhs => Some(shape.levels().len() as u128 + 1),
        Scheme::Ops => 1u128.checked_shl(u32::try_from(shape.atoms.len().saturating_sub(1)).ok()?),
        Scheme::Sps => bell(shape.atoms.len()),
        Scheme::Ghs => by_node(shape, |below| product(below)?.checked_add(1)),
        Scheme::Gops => by_node(shape, intervals),
        Scheme::Gsps => by_node(shape, sets),
    }
}

/// Counts each inner node from the counts of its children; an atom counts 1.
fn by_node(shape: &Shape, node: impl Fn(&[u128]) -> Option<u128>) -> Option<u128> {
    let mut counts: Vec<u128> = Vec::with_capacity(shape.inner.len());
    for inner in &shape.inner {
        let below: Vec<u128> = inner
            .children
            .iter()
            .map(|child| child.inner.map_or(1, |inner| counts[inner as usize]))
            .collect();
        counts.push(node(&below)?);
    }
    Some(counts.last().copied().unwrap_or(1))
}

fn product(below: &[u128]) -> Option<u128> {
    below.iter().try_fold(1u128, |all, &one| all.checked_mul(one))
}

/// Children in a row fall into runs: one alone is as it likes, two and more together are whole.
fn intervals(below: &[u128]) -> Option<u128> {
    // Of the first so many children: all ways.
    let mut ways = vec![1u128];
    for (at, &alone) in below.iter().enumerate() {
        let runs = ways[..at].iter().try_fold(0u128, |sum, &before| sum.checked_add(before))?;
        ways.push(ways[at].checked_mul(alone)?.checked_add(runs)?);
    }
    ways.last().copied()
}

/// Children fall into sets: one alone is as it likes, two and more together are whole.
fn sets(below: &[u128]) -> Option<u128> {
    // How many ways the rest is as it likes, by how many are together with others: elementary
    // symmetric sums.
    let mut alone = vec![1u128];
    for &ways in below {
        let mut next = vec![0u128; alone.len() + 1];
        for (together, &before) in alone.iter().enumerate() {
            next[together] = next[together].checked_add(before.checked_mul(ways)?)?;
            next[together + 1] = next[together + 1].checked_add(before)?;
        }
        alone = next;
    }
    // Partitions of n things without a part of one: those of n + 1 things in which the last is with
    // another, shifted: B(n) = a(n) + a(n + 1).
    let mut all = 0u128;
    let mut without_ones = 1u128;
    for (together, &ways) in alone.iter().enumerate() {
        all = all.checked_add(ways.checked_mul(without_ones)?)?;
        without_ones = bell(together)?.checked_sub(without_ones)?;
    }
    Some(all)
}

/// In how many ways a set of so many things falls into parts.
fn bell(things: usize) -> Option<u128> {
    let mut row = vec![1u128];
    for _ in 0..things {
        let mut next = vec![*row.last().expect("a row is never empty")];
        for &above in &row {
            next.push(next.last().expect("it has a first").checked_add(above)?);
        }
        row = next;
    }
    row.first().copied()
}
