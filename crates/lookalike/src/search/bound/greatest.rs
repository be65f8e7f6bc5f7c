//! The k greatest dual values of a list of rows, and of a range that grows.

/// The k greatest dual values of a list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Greatest {
    pub(super) sum: f64,
    pub(super) least: f64,
}

/// The k greatest values of a range that grows.
#[derive(Debug, Default)]
pub(super) struct Growing {
    /// Dual values with their rows, the greatest first: no more than needed for k rows.
    values: Vec<(f64, f64)>,
    rows: f64,
    sum: f64,
}

impl Growing {
    pub(super) fn clear(&mut self) {
        self.values.clear();
        (self.rows, self.sum) = (0.0, 0.0);
    }

    /// Adds dual values with their rows, the greatest first; true when some are among the k greatest.
    pub(super) fn grow(&mut self, k: f64, list: impl Iterator<Item = (f64, f64)>) -> bool {
        let mut has_changed = false;
        for (dual, rows) in list {
            if self.rows >= k && self.values.last().is_some_and(|last| dual <= last.0) {
                break;
            }
            let place = self.values.partition_point(|value| value.0 >= dual);
            self.values.insert(place, (dual, rows));
            (self.rows, self.sum) = (self.rows + rows, self.sum + rows * dual);
            has_changed = true;
            while let Some(&(dual, rows)) = self.values.last()
                && self.rows - rows >= k
            {
                self.values.pop();
                (self.rows, self.sum) = (self.rows - rows, self.sum - rows * dual);
            }
        }
        has_changed
    }

    pub(super) fn greatest(&self, k: f64) -> Option<Greatest> {
        let &(least, _) = self.values.last()?;
        (self.rows >= k).then_some(Greatest { sum: self.sum - (self.rows - k) * least, least })
    }
}
