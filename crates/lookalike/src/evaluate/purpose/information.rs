//! Information in a table of counts, in nats.

use crate::codes::real;

/// Counts of rows: by group of a column, by outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) outcomes: usize,
    /// Group by group.
    pub(super) rows: Vec<u64>,
}

impl Counts {
    pub(super) fn new(groups: usize, outcomes: usize) -> Counts {
        Counts { outcomes, rows: vec![0; groups * outcomes] }
    }

    pub(super) fn add(&mut self, group: u32, outcome: u32, rows: u64) {
        self.rows[group as usize * self.outcomes + outcome as usize] += rows;
    }

    /// The same counts with groups taken together: for each group the number of its new one.
    pub(super) fn coarser(&self, groups: &[u32]) -> Counts {
        let mut coarser = Counts { outcomes: self.outcomes, rows: vec![0; self.rows.len()] };
        for (rows, &group) in self.rows.chunks(self.outcomes).zip(groups) {
            let sums = &mut coarser.rows[group as usize * self.outcomes..][..self.outcomes];
            sums.iter_mut().zip(rows).for_each(|(sum, rows)| *sum += rows);
        }
        coarser
    }

    fn of_groups(&self) -> impl Iterator<Item = u64> + '_ {
        self.rows.chunks(self.outcomes).map(|rows| rows.iter().sum())
    }

    fn of_outcomes(&self) -> impl Iterator<Item = u64> + '_ {
        let of = |outcome| self.rows.iter().skip(outcome).step_by(self.outcomes).sum();
        (0..self.outcomes).map(of)
    }

    /// The entropy of the outcomes.
    pub(super) fn uncertainty(&self) -> f64 {
        entropy(self.of_outcomes()).0
    }

    /// The mutual information of group and outcome, at least 0: that of the counts, less what chance
    /// adds to it (Miller and Madow), which is more for more groups.
    pub(super) fn information(&self) -> f64 {
        let (groups, outcomes) = (entropy(self.of_groups()), entropy(self.of_outcomes()));
        let both = entropy(self.rows.iter().copied());
        let rows: u64 = self.rows.iter().sum();
        let plain = groups.0 + outcomes.0 - both.0;
        let bias = (both.1 - groups.1 - outcomes.1 + 1.0) / (2.0 * real(rows).max(1.0));
        (plain - bias.max(0.0)).max(0.0)
    }
}

/// The entropy of counts, and how many of them are above 0.
fn entropy(counts: impl Iterator<Item = u64>) -> (f64, f64) {
    let (mut sum, mut all, mut present) = (0.0, 0, 0.0);
    for count in counts.filter(|&count| count > 0) {
        sum += real(count) * real(count).ln();
        all += count;
        present += 1.0;
    }
    (if all > 0 { real(all).ln() - sum / real(all) } else { 0.0 }, present)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    fn counts(rows: &[&[u64]]) -> Counts {
        Counts { outcomes: rows[0].len(), rows: rows.concat() }
    }

    /// The sum over cells of p(x,y) ln(p(x,y) / p(x) p(y)), and the correction by its definition.
    fn slow(rows: &[Vec<u64>]) -> f64 {
        let all: u64 = rows.iter().flatten().sum();
        let share = |count: u64| real(count) / real(all);
        let columns: Vec<u64> =
            (0..rows[0].len()).map(|y| rows.iter().map(|row| row[y]).sum()).collect();
        let (mut sum, mut cells) = (0.0, 0.0);
        for row in rows {
            for (y, &count) in row.iter().enumerate().filter(|(_, count)| **count > 0) {
                let apart = share(row.iter().sum()) * share(columns[y]);
                sum += share(count) * (share(count) / apart).ln();
                cells += 1.0;
            }
        }
        let some =
            |counts: Vec<u64>| real(counts.iter().filter(|count| **count > 0).count() as u64);
        let groups = some(rows.iter().map(|row| row.iter().sum()).collect());
        let bias = (cells - groups - some(columns) + 1.0) / (2.0 * real(all));
        (sum - bias.max(0.0)).max(0.0)
    }

    #[test]
    fn by_hand() {
        // Independent: nothing, however many rows.
        assert!(counts(&[&[30, 30], &[50, 50]]).information() < 1e-12);
        // The group is the outcome: ln 2, and no cell beyond those that must be there.
        let sure = counts(&[&[50, 0], &[0, 50]]);
        let ln2 = std::f64::consts::LN_2;
        assert!((sure.information() - ln2).abs() < 1e-12, "2 cells - 2 - 2 + 1 < 0");
        assert!((sure.uncertainty() - ln2).abs() < 1e-12);
        // 3/4 and 1/4: ln 2 - h(1/4), less 1 / (2 * 8).
        let some = counts(&[&[3, 1], &[1, 3]]);
        let h = -(0.75f64 * 0.75f64.ln() + 0.25 * 0.25f64.ln());
        assert!((some.information() - (ln2 - h - 1.0 / 16.0)).abs() < 1e-12);
        assert!(some.coarser(&[0, 0]).information() < 1e-12, "one group says nothing");
        assert!(counts(&[&[0, 0]]).information() < 1e-12);
    }

    #[test]
    fn as_the_definition_on_random_counts() {
        for seed in 0..300 {
            let mut rng = Rng::new(seed);
            let (groups, outcomes) = (1 + rng.place(6), 1 + rng.place(4));
            let mut row = || (0..outcomes).map(|_| rng.below(9)).collect::<Vec<u64>>();
            let mut rows: Vec<Vec<u64>> = (0..groups).map(|_| row()).collect();
            rows[0][0] += 1;
            let fast = Counts { outcomes, rows: rows.concat() }.information();
            assert!((fast - slow(&rows)).abs() < 1e-9, "{rows:?}");
        }
    }
}
