//! Does the value of a published column give the value of a quasi-identifier? For every row, or
//! for a large share of the rows.
//!
//! Rows are grouped by the column. A quasi-identifier is certain in a group whose rows all have one
//! value of it. Small groups agree by chance: of independent columns, a group of s rows does so
//! with the probability p(s), the sum of the s-th powers of the shares of the values.

use rustc_hash::FxHashMap;

use super::uniqueness::RowOwners;
use crate::codes::{Code, RowId, real};
use crate::table::Coded;

/// The least number of disagreements expected by chance: only then does their absence count as
/// dependence.
pub(super) const EVIDENCE: f64 = 10.0;

/// Of a column with more values than this, only one in sixteen further values is checked (with all
/// of its rows).
const ALL_VALUES: usize = 1 << 16;

/// A group of fewer rows shows nothing: they agree by chance, or are nearly unique.
const FEW_ROWS: u64 = 3;

/// From this share of rows on, beyond what chance gives, a near-dependency is warned of.
const LARGE_SHARE: f64 = 0.1;

/// The excess over chance must be so many standard deviations: then even one group alone agrees by
/// chance with a probability of less than 1 %.
const DEVIATIONS: f64 = 10.0;

/// For p(s) only the most frequent values count: with s of at least three, the others hardly do.
const FREQUENT_VALUES: usize = 100;

/// A quasi-identifier and how its values are distributed.
pub(super) struct QuasiValues<'t> {
    pub(super) name: &'t String,
    coded: &'t Coded,
    /// The shares of the most frequent values, falling.
    shares: Vec<f64>,
    /// The probability that two random rows differ.
    pub(super) disagreement: f64,
}

impl<'t> QuasiValues<'t> {
    pub(super) fn new(name: &'t String, coded: &'t Coded, owners: &RowOwners<'_>) -> Self {
        let mut counts = vec![0; coded.values().len()];
        let codes = coded.codes().iter().enumerate();
        codes.for_each(|(row, code)| counts[code as usize] += owners.counts.of(row));
        let rows = real(owners.total(coded.codes().len()));
        let mut shares: Vec<f64> = counts.iter().map(|&count: &u64| real(count) / rows).collect();
        let disagreement = 1.0 - shares.iter().map(|share| share.powi(2)).sum::<f64>();
        shares.sort_unstable_by(|one, other| other.total_cmp(one));
        shares.truncate(FREQUENT_VALUES);
        QuasiValues { name, coded, shares, disagreement }
    }

    /// The probability that so many independent rows have one value.
    fn agreement(&self, rows: u64) -> f64 {
        self.shares.iter().map(|share| share.powf(real(rows))).sum::<f64>().min(1.0)
    }
}

/// How a published column depends on quasi-identifiers.
pub(super) struct Dependence {
    /// Different values among the rows that were checked.
    pub(super) values: u64,
    /// Rows that were checked; with a person key, each person once for each value.
    pub(super) checked: u64,
    /// The first quasi-identifier that the column determines.
    pub(super) determines: Option<usize>,
    /// Quasi-identifiers whose value is certain for a large share of the rows, with that share.
    pub(super) near: Vec<(usize, f64)>,
}

/// Groups the rows by the numbers of a column's cells, and looks at each quasi-identifier.
/// `by_person` are the rows with those of a person side by side, where rows have persons.
pub(super) fn dependence(
    keys: &[u64],
    quasi: &[QuasiValues<'_>],
    owners: &RowOwners<'_>,
    by_person: Option<&[RowId]>,
) -> Dependence {
    let mut found = Dependence { values: 0, checked: 0, determines: None, near: Vec::new() };
    for (block, part) in quasi.chunks(BLOCK).enumerate() {
        let groups = groups(keys, part, owners, by_person);
        found.values = groups.sizes.len() as u64;
        found.checked = groups.sizes.iter().sum();
        let repeats = real(found.checked - found.values);
        let everywhere = groups.certain.iter().fold(u64::MAX, |all, group| all & group);
        for (at, quasi) in part.iter().enumerate() {
            let place = block * BLOCK + at;
            let is_determined = everywhere >> at & 1 == 1;
            if is_determined && repeats * quasi.disagreement >= EVIDENCE {
                found.determines = found.determines.or(Some(place));
            } else if let Some(share) = near(&groups, at, quasi, found.checked) {
                found.near.push((place, share));
            }
        }
    }
    found
}

/// Quasi-identifiers whose certainty fits into one number.
const BLOCK: usize = 64;

/// The rows of each value of a column.
#[derive(Default)]
struct ValueGroups {
    sizes: Vec<u64>,
    /// A bit for each quasi-identifier: set while all rows of the group have one value of it.
    certain: Vec<u64>,
}

fn groups(
    keys: &[u64],
    quasi: &[QuasiValues<'_>],
    owners: &RowOwners<'_>,
    by_person: Option<&[RowId]>,
) -> ValueGroups {
    let all = u64::MAX >> (BLOCK - quasi.len());
    let mut found = ValueGroups::default();
    let mut group_of: FxHashMap<u64, u32> = FxHashMap::default();
    let mut first: Vec<Code> = Vec::new();
    // Person by person, so that the groups that a person has been counted in are at hand.
    let (mut last, mut counted): (Option<u32>, Vec<usize>) = (None, Vec::new());
    for at in 0..keys.len() {
        let row = by_person.map_or(at, |rows| rows[at] as usize);
        let key = keys[row];
        let next = u32::try_from(found.sizes.len()).expect("fewer values than rows");
        let is_checked = found.sizes.len() < ALL_VALUES || key >> 60 == 0;
        let group = match group_of.get(&key) {
            Some(&group) => group as usize,
            None if is_checked => {
                group_of.insert(key, next);
                first.extend(quasi.iter().map(|quasi| quasi.coded.codes().get(row)));
                found.sizes.push(0);
                found.certain.push(all);
                next as usize
            }
            None => continue,
        };
        found.sizes[group] += match owners.person(row) {
            None => owners.counts.of(row),
            // The rows of one person agree, and show nothing.
            Some(person) => {
                if last.replace(person) != Some(person) {
                    counted.clear();
                }
                let is_new = !counted.contains(&group);
                counted.extend(is_new.then_some(group));
                u64::from(is_new)
            }
        };
        let mut open = found.certain[group];
        while open != 0 {
            let at = open.trailing_zeros() as usize;
            open &= open - 1;
            if quasi[at].coded.codes().get(row) != first[group * quasi.len() + at] {
                found.certain[group] &= !(1 << at);
            }
        }
    }
    found
}

/// The share of rows whose value of the column gives that of the quasi-identifier; none unless it
/// is large, and larger than chance makes it.
fn near(groups: &ValueGroups, at: usize, quasi: &QuasiValues<'_>, rows: u64) -> Option<f64> {
    let sizes = groups.sizes.iter().zip(&groups.certain);
    let large = sizes.filter(|(size, _)| **size >= FEW_ROWS);
    let certain: u64 =
        large.clone().filter(|(_, group)| **group >> at & 1 == 1).map(|(size, _)| size).sum();
    let least = LARGE_SHARE * real(rows);
    if real(certain) < least {
        return None;
    }
    let mut agreement: FxHashMap<u64, f64> = FxHashMap::default();
    let (mut expected, mut variance) = (0.0, 0.0);
    for (&size, _) in large {
        let chance = *agreement.entry(size).or_insert_with(|| quasi.agreement(size));
        expected += real(size) * chance;
        variance += real(size).powi(2) * chance * (1.0 - chance);
    }
    let excess = real(certain) - expected;
    let is_large = excess >= least && excess >= DEVIATIONS * variance.sqrt();
    is_large.then(|| real(certain) / real(rows))
}
