//! The deficit of a class: how far it is from satisfying the rules. A search that adds rows to a
//! class uses it to find the rows that help.

use super::{
    ENTROPY_TOLERANCE, LN_UNIT, Model, Privacy, Tally, count_together, entropy_units, ln_units,
    top_and_tail,
};
use crate::codes::real;
use crate::request::ratio::Ratio;

impl Privacy {
    /// The greatest deficit over all rules, roughly in rows. Of two rows that could be added to a
    /// class below the rules, the one that leaves the smaller deficit brings the class nearer to
    /// them. At most 0, up to rounding, for a class that satisfies the rules; the decision is made
    /// by [`Privacy::holds`] alone.
    ///
    /// - k, persons, distinct: the missing rows, persons or values.
    /// - alpha: the rows missing from the other values.
    /// - recursive: the rows missing from the tail, and the values missing before there is a tail.
    /// - entropy: the size times the missing entropy.
    /// - closeness: the rows that would have to change their value, beyond the allowed share.
    pub(crate) fn deficit(&self, class: &Tally) -> f64 {
        self.models
            .iter()
            .map(|model| self.model_deficit(model, class))
            .fold(f64::NEG_INFINITY, f64::max)
    }

    /// For a class that does not satisfy the rules: a lower bound on the rows to add, whatever rows
    /// they are; at least 1.
    pub(crate) fn least_deficit(&self, class: &Tally) -> u64 {
        let deficits = self.models.iter().map(|model| match model {
            Model::K(k) => k.saturating_sub(class.size()),
            Model::Persons { column, k } => k.saturating_sub(class.distinct(*column)),
            Model::Alpha { column, alpha, values } => {
                let most = || class.present(*column).map(|(_, count)| count).max().unwrap_or(0);
                let part = values
                    .as_ref()
                    .map_or_else(most, |values| count_together(class, *column, values));
                let size = (u128::from(part) * u128::from(alpha.den()))
                    .div_ceil(u128::from(alpha.num().max(1)));
                let weight = u64::try_from(size).unwrap_or(u64::MAX).saturating_sub(class.weight());
                weight.div_ceil(class.unit())
            }
            Model::Distinct { column, l } if class.is_plural(*column) => {
                // Each further person adds one to the persons, and nothing to the head at best.
                let counts = class.present(*column).map(|(_, count)| count);
                (head(*l, counts) + 1).saturating_sub(class.size())
            }
            Model::Distinct { column, l } => l.saturating_sub(class.distinct(*column)),
            Model::Entropy { .. } | Model::Recursive { .. } | Model::Closeness { .. } => 1,
        });
        deficits.fold(1, u64::max)
    }

    #[allow(
        clippy::cast_precision_loss,
        reason = "a measure to compare with itself, never a decision about a class"
    )]
    fn model_deficit(&self, model: &Model, class: &Tally) -> f64 {
        let counts = |column| class.present(column).map(|(_, count)| count);
        let (weight, unit) = (real(class.weight()), real(class.unit()));
        match model {
            Model::K(k) => real(*k) - real(class.size()),
            Model::Persons { column, k } => real(*k) - real(class.distinct(*column)),
            Model::Alpha { column, alpha, values: None } => {
                (over(counts(*column).max().unwrap_or(0), *alpha) - weight) / unit
            }
            Model::Alpha { column, alpha, values: Some(values) } => {
                (over(count_together(class, *column, values), *alpha) - weight) / unit
            }
            Model::Distinct { column, l } if class.is_plural(*column) => {
                real(head(*l, counts(*column))) + 1.0 - weight
            }
            Model::Distinct { column, l } => real(*l) - real(class.distinct(*column)),
            Model::Entropy { column, l } => {
                let total = class.shared_total(*column);
                let shared = class.shared(*column).map(|(_, part)| part);
                let least = i128::from(total) * (ln_units(l.to_f64()) - ENTROPY_TOLERANCE);
                let missing = (least - entropy_units(total, shared)) as f64 / LN_UNIT;
                missing / real(class.shared_unit(*column))
            }
            Model::Recursive { column, c, l } => {
                let (top, tail) = top_and_tail(*l, class.weight(), counts(*column));
                (over(top, *c) - real(tail)) / unit
                    + real((l - 1).saturating_sub(class.distinct(*column)))
            }
            Model::Closeness { column, t, ground } => {
                let (work, longest) = self.distance(*column, ground, class);
                let distance = if longest > 0 { work as f64 / longest as f64 } else { 0.0 };
                weight / unit * (distance - t.to_f64())
            }
        }
    }
}

/// The sum of the l - 1 greatest counts.
fn head(l: u64, counts: impl Iterator<Item = u64>) -> u64 {
    u64::MAX - top_and_tail(l, u64::MAX, counts).1
}

/// The size of which `part` is this share.
fn over(part: u64, share: Ratio) -> f64 {
    if part == 0 { 0.0 } else { real(part) / share.to_f64() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::privacy::tests::{Random, class, random_counts, random_models};

    /// By brute force: all ways to add a few rows.
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
                let least = privacy.least_deficit(&class(&counts));
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
