//! How far a class is from holding, so that a search that adds rows to it can tell which rows help.

use super::{
    ENTROPY_TOLERANCE, LN_UNIT, Model, Privacy, Tally, count_together, entropy_units, ln_units,
    top_and_tail,
};
use crate::codes::real;
use crate::request::ratio::Ratio;

impl Privacy {
    /// What the rule lacks that lacks most, about in rows. Of two rows that could be added to a
    /// class that does not hold, the one that makes this less brings it nearer to holding. At most
    /// 0 for a class that holds, but for rounding; whether a class holds is for [`Privacy::holds`]
    /// to say.
    ///
    /// - k, distinct: the rows or values that are missing.
    /// - alpha: the rows that other values must have more.
    /// - recursive: the rows that the rare values must have more, and the values there must be
    ///   before any is rare.
    /// - entropy: the size times what the entropy is short of.
    /// - closeness: the rows that would have to change their value, beyond those that may.
    pub(crate) fn lacks(&self, class: &Tally) -> f64 {
        self.models
            .iter()
            .map(|model| self.model_lacks(model, class))
            .fold(f64::NEG_INFINITY, f64::max)
    }

    /// A class that does not hold cannot before so many rows are added to it, whatever they are; at
    /// least 1.
    pub(crate) fn least_lacking(&self, class: &Tally) -> u64 {
        let lacking = self.models.iter().map(|model| match model {
            Model::K(k) => k.saturating_sub(class.size()),
            Model::Alpha { column, alpha, values } => {
                let most = || class.present(*column).map(|(_, count)| count).max().unwrap_or(0);
                let part = values
                    .as_ref()
                    .map_or_else(most, |values| count_together(class, *column, values));
                let size = (u128::from(part) * u128::from(alpha.den()))
                    .div_ceil(u128::from(alpha.num().max(1)));
                u64::try_from(size).unwrap_or(u64::MAX).saturating_sub(class.size())
            }
            Model::Distinct { column, l } => l.saturating_sub(class.distinct(*column)),
            Model::Entropy { .. } | Model::Recursive { .. } | Model::Closeness { .. } => 1,
        });
        lacking.fold(1, u64::max)
    }

    #[allow(
        clippy::cast_precision_loss,
        reason = "a measure to compare with itself, no decision about a class"
    )]
    fn model_lacks(&self, model: &Model, class: &Tally) -> f64 {
        let counts = |column| class.present(column).map(|(_, count)| count);
        let size = real(class.size());
        match model {
            Model::K(k) => real(*k) - size,
            Model::Alpha { column, alpha, values: None } => {
                over(counts(*column).max().unwrap_or(0), *alpha) - size
            }
            Model::Alpha { column, alpha, values: Some(values) } => {
                over(count_together(class, *column, values), *alpha) - size
            }
            Model::Distinct { column, l } => real(*l) - real(class.distinct(*column)),
            Model::Entropy { column, l } => {
                let least = i128::from(class.size()) * (ln_units(l.to_f64()) - ENTROPY_TOLERANCE);
                (least - entropy_units(class.size(), counts(*column))) as f64 / LN_UNIT
            }
            Model::Recursive { column, c, l } => {
                let (top, tail) = top_and_tail(*l, counts(*column));
                over(top, *c) - real(tail) + real((l - 1).saturating_sub(class.distinct(*column)))
            }
            Model::Closeness { column, t, ground } => {
                let (work, longest) = self.distance(*column, ground, class);
                let distance = if longest > 0 { work as f64 / longest as f64 } else { 0.0 };
                size * (distance - t.to_f64())
            }
        }
    }
}

/// The number of which `part` is this share.
fn over(part: u64, share: Ratio) -> f64 {
    if part == 0 { 0.0 } else { real(part) / share.to_f64() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::privacy::tests::{Random, class, random_counts, random_models};

    /// By trying: all ways to add a few rows.
    fn can_hold_with(privacy: &Privacy, counts: &[u64], rows: u64, from: usize) -> bool {
        if rows == 0 {
            return privacy.holds(&class(counts));
        }
        (from..counts.len()).any(|value| {
            let mut more = counts.to_vec();
            more[value] += 1;
            can_hold_with(privacy, &more, rows - 1, value)
        })
    }

    #[test]
    fn no_class_holds_with_fewer_rows_added_or_fewer_rows_at_all_than_is_said() {
        let mut random = Random(21);
        let (mut tight, mut small) = (0, 0);
        for _ in 0..400 {
            let domain = 1 + random.below(4);
            let totals: Vec<u64> =
                random_counts(&mut random, domain).iter().map(|count| count + 5).collect();
            let models = random_models(&mut random, domain);
            let counts = random_counts(&mut random, domain);
            for model in models {
                let privacy = Privacy::new(vec![model], vec![totals.clone()]);
                if counts.iter().sum::<u64>() > 0 && privacy.holds(&class(&counts)) {
                    assert!(
                        counts.iter().sum::<u64>() >= privacy.least_rows(),
                        "{privacy:?} {counts:?}"
                    );
                    small += u32::from(counts.iter().sum::<u64>() == privacy.least_rows());
                    continue;
                }
                let least = privacy.least_lacking(&class(&counts));
                assert!(least > 0);
                for rows in 1..least.min(6) {
                    assert!(
                        !can_hold_with(&privacy, &counts, rows, 0),
                        "{privacy:?} {counts:?}: {rows} do, not {least}"
                    );
                }
                tight += u32::from(
                    (2..6).contains(&least) && can_hold_with(&privacy, &counts, least, 0),
                );
            }
        }
        assert!(tight > 50 && small > 20, "{tight} and {small} times it was as near as could be");
    }
}
