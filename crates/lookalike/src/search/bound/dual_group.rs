//! A group of equal rows whose dual value is sought: the greatest value that the boxes seen so far
//! allow.

use crate::codes::real;

use super::top_k::TopK;

/// A group with fewer than k rows.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DualGroup {
    pub(super) rows: u64,
    pub(super) k: u64,
    /// The greatest dual value of its rows that no box seen so far forbids.
    pub(super) limit: f64,
}

/// The greatest dual values that k rows can have, at least one row of the group among them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct GreatestDuals {
    /// The sum of all k.
    pub(super) sum: f64,
    /// The least of them, the first row of the group not counted.
    pub(super) last: f64,
}

impl GreatestDuals {
    /// The sum if another value takes the place of the last one, unless it is greater.
    #[inline]
    pub(super) fn with(&self, value: f64) -> f64 {
        if value < self.last { self.sum - self.last + value } else { self.sum }
    }
}

impl DualGroup {
    /// The rows of a set of k rows beside one row of the group.
    pub(super) fn others(&self) -> usize {
        usize::try_from(self.k - 1).expect("no more than there are rows")
    }

    /// Clears `top` and adds all rows of the group but one.
    pub(super) fn start(&self, top: &mut TopK) {
        top.clear(self.others());
        top.add(self.limit, self.rows - 1);
    }

    /// The greatest dual value that a box of this loss allows; `others` are the greatest values of
    /// other rows in it.
    pub(super) fn allowed(&self, loss: f64, others: &TopK) -> f64 {
        let (k, values) = (self.k, others.values());
        let (mut least, mut sum) = (f64::INFINITY, others.sum());
        let mut left = values.len();
        for own in k - left as u64..=self.rows {
            least = least.min((real(k) * loss - sum) / real(own));
            left = left.saturating_sub(1);
            sum -= values.get(left).copied().unwrap_or_default();
        }
        least
    }

    /// Lowers the limit to what a box allows; true when that is less than before.
    #[inline]
    pub(super) fn lower(&mut self, loss: f64, others: &TopK) -> bool {
        let allowed = self.allowed(loss, others);
        let is_less = allowed < self.limit;
        if is_less {
            self.limit = allowed;
        }
        is_less
    }

    /// The greatest values of k rows, given other groups by falling dual value, with their rows;
    /// none if there are fewer than k rows.
    pub(super) fn greatest(
        &self,
        others: impl Iterator<Item = (f64, u64)>,
    ) -> Option<GreatestDuals> {
        let (mut left, mut own, mut sum) = (self.k - 1, self.rows - 1, self.limit);
        let mut last = self.limit;
        let mut take = |value: f64, rows: u64, left: &mut u64| {
            let rows = rows.min(*left);
            if rows > 0 {
                sum += real(rows) * value;
                last = value;
                *left -= rows;
            }
        };
        for (value, rows) in others {
            if value < self.limit && own > 0 {
                take(self.limit, own, &mut left);
                own = 0;
            }
            take(value, rows, &mut left);
            if left == 0 {
                break;
            }
        }
        take(self.limit, own, &mut left);
        (left == 0).then_some(GreatestDuals { sum, last })
    }
}
