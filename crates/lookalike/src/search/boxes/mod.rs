//! Groups as boxes: what a group shows, how many rows it has, what its rows pay, and what joining
//! two groups costs.

pub(crate) mod descent;
pub(crate) mod nearest;
pub(crate) mod split;

use crate::codes::{Code, CodeRange, real};
use crate::domain::penalty::Penalty;

/// What a greedy step keeps low when it has a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Objective {
    /// The penalty of the whole table: what all rows of the union pay, less what they paid before.
    Table,
    /// The penalty of one row of the union.
    Row,
}

impl Objective {
    /// What it costs that `rows` more rows enter a group of `there` rows, each of which pays `now`
    /// and will pay `then`. What the entering rows paid before is left out: it is the same wherever
    /// they go.
    #[inline]
    pub(crate) fn value(self, rows: u64, there: u64, now: f64, then: f64) -> f64 {
        match self {
            Objective::Table => real(rows) * then + real(there) * (then - now),
            Objective::Row => then,
        }
    }
}

/// Groups by number. A group without rows is gone.
#[derive(Debug)]
pub(crate) struct Boxes<'a> {
    pub(crate) penalty: &'a Penalty,
    ranges: Vec<CodeRange>,
    rows: Vec<u32>,
    /// What one row of the group pays.
    own: Vec<f64>,
    /// Which values the rows of a group have on each attribute, each as one of 64 bits; empty where
    /// nobody asks.
    values: Vec<u64>,
}

/// The bit of a value: values of one bit cannot be told apart, values of different bits differ.
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

    /// Says which values the rows of a group have now.
    pub(crate) fn set_values(&mut self, group: u32, values: &[u64]) {
        let width = self.penalty.width();
        self.values[group as usize * width..][..width].copy_from_slice(values);
    }

    /// How many groups there are and were.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// What a group shows.
    #[inline]
    pub(crate) fn ranges(&self, group: u32) -> &[CodeRange] {
        let width = self.penalty.width();
        &self.ranges[group as usize * width..][..width]
    }

    /// How many rows a group has; 0 when it is gone.
    #[inline]
    pub(crate) fn rows(&self, group: u32) -> u64 {
        u64::from(self.rows[group as usize])
    }

    /// What one row of a group pays.
    #[inline]
    pub(crate) fn own(&self, group: u32) -> f64 {
        self.own[group as usize]
    }

    /// Says what a group shows now and how many rows it has.
    pub(crate) fn set(&mut self, group: u32, ranges: &[CodeRange], rows: u64) {
        let width = self.penalty.width();
        self.ranges[group as usize * width..][..width].copy_from_slice(ranges);
        self.rows[group as usize] = size(rows);
        self.own[group as usize] = self.penalty.of_box(ranges);
    }

    /// Takes all rows out of a group: it is gone.
    pub(crate) fn clear(&mut self, group: u32) {
        self.rows[group as usize] = 0;
    }

    /// Puts the rows of one group into another; the first is gone.
    pub(crate) fn merge(&mut self, gone: u32, into: u32) {
        let joined: Vec<CodeRange> = self
            .ranges(gone)
            .iter()
            .zip(self.ranges(into))
            .map(|(one, other)| one.join(*other))
            .collect();
        let rows = self.rows(gone) + self.rows(into);
        self.set(into, &joined, rows);
        self.clear(gone);
        if self.has_values() {
            let both: Vec<u64> =
                (0..joined.len()).map(|at| self.values(gone, at) | self.values(into, at)).collect();
            self.set_values(into, &both);
        }
    }

    /// What it costs to join two groups.
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
        // What the entering rows pay alone is never more than all of it.
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

fn size(rows: u64) -> u32 {
    u32::try_from(rows).expect("a table has fewer than 2^32 rows")
}
