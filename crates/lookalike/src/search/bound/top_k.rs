//! The k greatest of many values, and their sum.

/// The greatest values that were added, at most `most` of them, and their sum.
#[derive(Clone, Debug, Default)]
pub(super) struct TopK {
    /// Sorted, the greatest first.
    values: Vec<f64>,
    most: usize,
    sum: f64,
}

impl TopK {
    /// Removes all values; from now on the `most` greatest are kept.
    pub(super) fn clear(&mut self, most: usize) {
        self.values.clear();
        (self.most, self.sum) = (most, 0.0);
    }

    /// Takes the values of another.
    pub(super) fn copy(&mut self, other: &TopK) {
        self.values.clone_from(&other.values);
        (self.most, self.sum) = (other.most, other.sum);
    }

    /// Adds a value, `times` times.
    pub(super) fn add(&mut self, value: f64, times: u64) {
        for _ in 0..times.min(self.most as u64) {
            if self.values.len() == self.most {
                let last = self.values[self.most - 1];
                if last >= value {
                    return;
                }
                self.values.pop();
                self.sum -= last;
            }
            let place = self.values.partition_point(|&other| other >= value);
            self.values.insert(place, value);
            self.sum += value;
        }
    }

    /// True when `most` values were added.
    pub(super) fn is_full(&self) -> bool {
        self.values.len() == self.most
    }

    pub(super) fn sum(&self) -> f64 {
        self.sum
    }

    /// The values, the greatest first.
    pub(super) fn values(&self) -> &[f64] {
        &self.values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_what_sorting_gives() {
        let mut rng = crate::rng::Rng::new(3);
        for most in 0..9 {
            let (mut top, mut all) = (TopK::default(), Vec::new());
            top.clear(most);
            for _ in 0..30 {
                let (value, times) =
                    (f64::from(u32::try_from(rng.below(20)).unwrap()), rng.below(4));
                top.add(value, times);
                all.extend((0..times).map(|_| value));
                all.sort_by(|one, other| f64::total_cmp(other, one));
                assert_eq!(top.values(), &all[..most.min(all.len())]);
                assert!((top.sum() - all.iter().take(most).sum::<f64>()).abs() < 1e-9);
                assert_eq!(top.is_full(), all.len() >= most);
            }
        }
    }
}
