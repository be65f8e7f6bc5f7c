//! Groups as boxes: the ranges of a group, its rows, their loss, and the loss of joining two
//! groups.

pub(crate) mod descent;
pub(crate) mod nearest;
pub(crate) mod split;
pub(crate) mod tree;

use crate::codes::{Code, CodeRange, real};
use crate::domain::penalty::Penalty;

/// The value that a greedy step minimizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Objective {
    /// The penalty of the whole table: the total loss that the union adds.
    Table,
    /// The loss of one row of the union.
    Row,
}

impl Objective {
    /// The value of joining `rows` more rows to a group of `there` rows, whose row loss rises from
    /// `now` to `then`. The loss of the entering rows before is not subtracted: it is the same
    /// wherever they go.
    #[inline]
    pub(crate) fn value(self, rows: u64, there: u64, now: f64, then: f64) -> f64 {
        match self {
            Objective::Table => real(rows) * then + real(there) * (then - now),
            Objective::Row => then,
        }
    }
}

/// Groups by number. A group without rows does not exist any more.
#[derive(Debug)]
pub(crate) struct Boxes<'a> {
    pub(crate) penalty: &'a Penalty,
    ranges: Vec<CodeRange>,
    rows: Vec<u32>,
    /// The loss of one row of each group.
    own: Vec<f64>,
    /// The values of the rows of a group on each attribute, each as one of 64 bits; empty where
    /// they are not needed.
    values: Vec<u64>,
}

/// The bit of a value: values with different bits differ, values with the same bit may differ.
#[inline]
pub(crate) fn bit(code: Code) -> u64 {
    1 << (code % 64)
}

impl<'a> Boxes<'a> {
    /// Groups with these rows and ranges, ranges group by group.
    pub(crate) fn of(
        penalty: &'a Penalty,
        ranges: Vec<CodeRange>,
        rows: impl Iterator<Item = u64>,
    ) -> Boxes<'a> {
        let rows = rows.map(size).collect();
        let own =
            ranges.chunks_exact(penalty.width()).map(|ranges| penalty.of_box(ranges)).collect();
        Boxes { penalty, ranges, rows, own, values: Vec::new() }
    }

    /// The same with the values that their rows have, attribute by attribute and group by group.
    pub(crate) fn with_values(self, values: Vec<u64>) -> Boxes<'a> {
        Boxes { values, ..self }
    }

    /// True when it is known which values the rows of the groups have.
    pub(crate) fn has_values(&self) -> bool {
        !self.values.is_empty()
    }

    /// The values that the rows of a group have on an attribute, where that is known.
    #[inline]
    pub(crate) fn values(&self, group: u32, at: usize) -> u64 {
        self.values[group as usize * self.penalty.width() + at]
    }

    /// Sets the values of the rows of a group.
    pub(crate) fn set_values(&mut self, group: u32, values: &[u64]) {
        let width = self.penalty.width();
        self.values[group as usize * width..][..width].copy_from_slice(values);
    }

    /// The number of groups, with those that have no rows any more.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The ranges of a group, one an attribute.
    #[inline]
    pub(crate) fn ranges(&self, group: u32) -> &[CodeRange] {
        let width = self.penalty.width();
        &self.ranges[group as usize * width..][..width]
    }

    /// The rows of a group; 0 when it does not exist any more.
    #[inline]
    pub(crate) fn rows(&self, group: u32) -> u64 {
        u64::from(self.rows[group as usize])
    }

    /// The loss of one row of a group.
    #[inline]
    pub(crate) fn own(&self, group: u32) -> f64 {
        self.own[group as usize]
    }

    /// Sets the ranges and the rows of a group.
    pub(crate) fn set(&mut self, group: u32, ranges: &[CodeRange], rows: u64) {
        let width = self.penalty.width();
        self.ranges[group as usize * width..][..width].copy_from_slice(ranges);
        self.rows[group as usize] = size(rows);
        self.own[group as usize] = self.penalty.of_box(ranges);
    }

    /// Removes all rows of a group.
    pub(crate) fn clear(&mut self, group: u32) {
        self.rows[group as usize] = 0;
    }

    /// Moves all rows of one group into another.
    pub(crate) fn merge(&mut self, from: u32, into: u32) {
        let joined: Vec<CodeRange> = self
            .ranges(from)
            .iter()
            .zip(self.ranges(into))
            .map(|(one, other)| one.join(*other))
            .collect();
        let rows = self.rows(from) + self.rows(into);
        self.set(into, &joined, rows);
        self.clear(from);
        if self.has_values() {
            let both: Vec<u64> =
                (0..joined.len()).map(|at| self.values(from, at) | self.values(into, at)).collect();
            self.set_values(into, &both);
        }
    }

    /// The value of joining two groups.
    #[inline]
    pub(crate) fn value(&self, objective: Objective, group: u32, with: u32) -> f64 {
        let then = self.penalty.of_join(self.ranges(group), self.ranges(with));
        objective.value(self.rows(group), self.rows(with), self.own(with), then)
    }

    /// The same if it is at most `limit`, else any number above.
    #[inline]
    pub(crate) fn value_up_to(
        &self,
        objective: Objective,
        group: u32,
        with: u32,
        limit: f64,
    ) -> f64 {
        let (rows, there, now) = (self.rows(group), self.rows(with), self.own(with));
        // The loss of the entering rows alone is never more than all of it.
        let (factor, mut then) =
            (if objective == Objective::Table { real(rows) } else { 1.0 }, 0.0);
        for (at, (one, other)) in self.ranges(group).iter().zip(self.ranges(with)).enumerate() {
            then += self.penalty.of(at, one.join(*other));
            if factor * then > limit {
                return f64::INFINITY;
            }
        }
        objective.value(rows, there, now, then)
    }
}

/// Pairs in the sample of [`sample_pairs`] at most. Greater: a better estimate of how much rows
/// differ on an attribute, more time before a search.
const SAMPLED: usize = 4096;

/// The step between the second things of two neighbouring pairs: a prime, so that few pairs are
/// equally far apart.
const STRIDE: usize = 7919;

/// The places of the first things of a sample of pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spacing {
    /// A whole number of places apart: the last few places of many are never first.
    Whole,
    /// Spread over all places.
    Even,
}

/// A sample of pairs of `count` things, far from each other in their order and not all equally far.
pub(crate) fn sample_pairs(
    count: usize,
    spacing: Spacing,
) -> impl Iterator<Item = (usize, usize)> + Clone {
    let sampled = count.min(SAMPLED);
    (0..sampled).map(move |at| {
        let first = match spacing {
            Spacing::Whole => at * (count / SAMPLED).max(1),
            Spacing::Even => at * count / sampled,
        };
        (first, at * STRIDE % count)
    })
}

fn size(rows: u64) -> u32 {
    u32::try_from(rows).expect("a table has fewer than 2^32 rows")
}
