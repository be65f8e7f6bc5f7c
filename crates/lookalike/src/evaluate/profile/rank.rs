//! Which quasi-identifiers are worth having: what each adds to the unique rows, which ones say the
//! same, and how many are enough.
//!
//! Every quasi-identifier costs detail of all others. The first are those that others know first of
//! a person, within them those that make most rows unique. What is beyond a few, and what another
//! column says already, is left open: it is dropped unless somebody decides otherwise.

use super::ColumnProfile;
use super::roles::UNKNOWN;
use crate::codes::RowId;
use crate::domain::parse::{number, seconds};
use crate::request::{Kind, Role};
use crate::table::{Coded, Table};

/// So many quasi-identifiers are suggested at most.
const ENOUGH: usize = 10;
/// So many with names that say what they are make the others unnecessary, where there are too many.
const FEW: usize = 3;
/// Shares of unique rows are counted in at most so many rows, taken at equal distances.
const SAMPLE: usize = 200_000;
/// Numbers and dates with more values than this are counted in as many bands.
const BANDS: u64 = 60;
/// A column says what another one says also where one row in so many, at most, has no value in it.
const MOSTLY_THERE: usize = 10;
/// Labels with more values than this are too fine without a hierarchy.
const FINE: u64 = 50;

/// Ranks the quasi-identifiers and opens those that are not needed.
pub(super) fn rank(table: &Table, profiles: &mut [ColumnProfile]) {
    let is_candidate = |profile: &ColumnProfile| profile.role == Role::Quasi && !profile.is_open;
    nested(table, profiles);
    let rows = sampled(table, profiles);
    let mut candidates: Vec<usize> =
        (0..profiles.len()).filter(|&at| is_candidate(&profiles[at])).collect();
    let bands: Vec<Vec<u32>> = profiles
        .iter()
        .map(|profile| if profile.role == Role::Quasi { bands(table, profile) } else { Vec::new() })
        .collect();
    let add =
        |sums: &mut [u64], at: usize, sign: fn(u64, u64) -> u64, profiles: &[ColumnProfile]| {
            let coded = table.coded(&profiles[at].name);
            for (sum, &row) in sums.iter_mut().zip(&rows) {
                *sum = sign(*sum, mixed(at, bands[at][coded.codes().get(row as usize) as usize]));
            }
        };
    // What each adds to all the others decides the order within a group.
    let mut all = vec![0_u64; rows.len()];
    candidates.iter().for_each(|&at| add(&mut all, at, u64::wrapping_add, profiles));
    for &at in &candidates {
        let mut without = all.clone();
        add(&mut without, at, u64::wrapping_sub, profiles);
        profiles[at].unique_others = Some(unique(without));
    }
    let without = |at: usize| profiles[at].unique_others.unwrap_or_default();
    candidates.sort_by(|&a, &b| {
        let by_group = profiles[a].group.cmp(&profiles[b].group);
        by_group.then(without(a).total_cmp(&without(b))).then(a.cmp(&b))
    });
    // Where there are too many, a name that says nothing is no reason to have a column.
    let named = candidates.iter().filter(|&&at| profiles[at].group < UNKNOWN).count();
    let enough = match candidates.len() > ENOUGH && named >= FEW {
        true => named.min(ENOUGH),
        false => ENOUGH,
    };
    for &at in candidates.iter().skip(enough) {
        profiles[at].is_open = true;
        profiles[at].reason += &format!("; {enough} quasi-identifiers are better known to others");
    }
    candidates.truncate(enough);
    // Of those that stay: the share without each. Of the open ones: the share with each.
    let mut kept = vec![0_u64; rows.len()];
    candidates.iter().for_each(|&at| add(&mut kept, at, u64::wrapping_add, profiles));
    let share = unique(kept.clone());
    for at in 0..profiles.len() {
        let is_kept = candidates.contains(&at);
        if profiles[at].role != Role::Quasi {
            continue;
        }
        let mut others = kept.clone();
        if !is_kept {
            add(&mut others, at, u64::wrapping_add, profiles);
        } else {
            add(&mut others, at, u64::wrapping_sub, profiles);
        }
        profiles[at].unique_others = Some(unique(others));
    }
    for profile in profiles.iter_mut().filter(|profile| profile.role == Role::Quasi) {
        profile.unique_together = Some(share);
    }
    for (rank, &at) in (1..).zip(&candidates) {
        profiles[at].rank = Some(rank);
    }
}

/// The profiles as they are shown: quasi-identifiers in their order, then what is published, then
/// what is not; what is open before the sensitive columns.
pub fn ranked(profiles: &[ColumnProfile]) -> Vec<&ColumnProfile> {
    let place = |profile: &ColumnProfile| match profile.role {
        Role::Quasi => (u8::from(profile.is_open), profile.rank),
        Role::Sensitive => (2, None),
        Role::Keep | Role::Weight => (3, None),
        Role::Person | Role::Identifier => (4, None),
    };
    let mut ranked: Vec<&ColumnProfile> = profiles.iter().collect();
    ranked.sort_by_key(|profile| place(profile));
    ranked
}

/// The rows to count in: one of each person where a column names persons.
fn sampled(table: &Table, profiles: &[ColumnProfile]) -> Vec<RowId> {
    let person = profiles.iter().find(|profile| profile.role == Role::Person);
    let rows: Vec<RowId> = match person {
        Some(person) => table.coded(&person.name).first_row().to_vec(),
        None => (0..RowId::try_from(table.rows()).expect("row numbers have 32 bits")).collect(),
    };
    let step = rows.len().div_ceil(SAMPLE).max(1);
    rows.into_iter().step_by(step).collect()
}

/// For each value of a column what is counted: the value, or of numbers and dates with many values
/// the band. To the day and the gram everybody is unique, and no column would tell more than another.
fn bands(table: &Table, profile: &ColumnProfile) -> Vec<u32> {
    let coded = table.coded(&profile.name);
    let of = |text: &String| match profile.looks {
        Kind::Numeric => number(text),
        Kind::Date => seconds(text),
        Kind::Ordinal | Kind::Categorical => None,
    };
    let values: Vec<Option<f64>> =
        coded.values().iter().map(|value| value.as_ref().and_then(of)).collect();
    let numbers = || values.iter().flatten().copied();
    let (least, most) = (numbers().fold(f64::MAX, f64::min), numbers().fold(f64::MIN, f64::max));
    if profile.distinct <= BANDS || most <= least {
        return (0..).take(coded.values().len()).collect();
    }
    #[allow(clippy::cast_precision_loss, reason = "a few dozen")]
    let width = (most - least) / BANDS as f64;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few dozen")]
    let band =
        |value: &Option<f64>| value.map_or(0, |number| 1 + ((number - least) / width) as u32);
    values.iter().map(band).collect()
}

/// A number for a value of a column; sums of them stand for tuples.
fn mixed(column: usize, code: u32) -> u64 {
    let mut bits =
        ((column as u64 + 1) << 32 | u64::from(code)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// The share of tuples that no other row has.
fn unique(mut tuples: Vec<u64>) -> f64 {
    tuples.sort_unstable();
    let alone = tuples.chunk_by(|a, b| a == b).filter(|equal| equal.len() == 1).count();
    super::share(alone as u64, tuples.len() as u64)
}

/// Opens columns that another one determines: `education-num` beside `education`, `STATE` beside a
/// zip code; of labels with very many values the coarser column stays.
fn nested(table: &Table, profiles: &mut [ColumnProfile]) {
    let rows = table.rows() as u64;
    for a in 0..profiles.len() {
        for b in 0..profiles.len() {
            let (fine, coarse) = (&profiles[a], &profiles[b]);
            let is_pair = |profile: &ColumnProfile| {
                profile.role == Role::Quasi && !profile.is_open && profile.distinct > 1
            };
            // Where hardly a value repeats, it determines everything.
            let is_telling = fine.distinct * 4 <= rows && rows >= 50;
            if a == b || !is_pair(fine) || !is_pair(coarse) || !is_telling {
                continue;
            }
            let (of_fine, of_coarse) = (table.coded(&fine.name), table.coded(&coarse.name));
            if fine.distinct < coarse.distinct || !determines(of_fine, of_coarse) {
                continue;
            }
            let is_same = fine.distinct == coarse.distinct;
            let is_line = |profile: &ColumnProfile| {
                matches!(profile.looks, Kind::Numeric | Kind::Date)
                    && profile.keys.as_deref() != Some("kind = \"categorical\"")
            };
            let is_too_fine = !is_line(fine)
                && fine.distinct > FINE
                && fine.keys.as_deref().is_none_or(|keys| !keys.contains("hierarchy"));
            let (fine_name, coarse_name) = (fine.name.clone(), coarse.name.clone());
            if is_same && !is_line(fine) && is_line(coarse) {
                // The labels, in the order of the numbers.
                if let Some(order) = order_by(of_fine, of_coarse) {
                    profiles[a].keys = Some(order);
                    profiles[a].hint = None;
                    profiles[a].reason += &format!("; in the order of `{coarse_name}`");
                }
                open(&mut profiles[b], &format!("says the same as `{fine_name}`"));
            } else if is_same && is_line(fine) && !is_line(coarse) {
                // Comes again with the columns exchanged.
            } else if is_too_fine {
                open(&mut profiles[a], &format!("each value lies in one of `{coarse_name}`"));
            } else {
                open(&mut profiles[b], &format!("`{fine_name}` says it already"));
            }
        }
    }
}

fn open(profile: &mut ColumnProfile, why: &str) {
    profile.is_open = true;
    profile.reason += &format!("; {why}");
}

/// True when rows with equal values in one column have equal values in the other. Rows without a value
/// in the first do not count, if they are few.
fn determines(of: &Coded, other: &Coded) -> bool {
    let is_missing = |code: u32| of.values()[code as usize].is_none();
    let missing = of.codes().iter().filter(|&code| is_missing(code)).count();
    if missing * MOSTLY_THERE > of.codes().len() {
        return false;
    }
    let mut found: Vec<Option<u32>> = vec![None; of.values().len()];
    of.codes()
        .iter()
        .zip(other.codes().iter())
        .all(|(a, b)| is_missing(a) || *found[a as usize].get_or_insert(b) == b)
}

/// An order of labels, by the numbers of a column that says the same.
fn order_by(labels: &Coded, numbers: &Coded) -> Option<String> {
    let mut pairs: Vec<(f64, &str)> = Vec::new();
    for (value, &row) in labels.values().iter().zip(labels.first_row()) {
        let Some(label) = value else { continue };
        let text = numbers.values()[numbers.codes().get(row as usize) as usize].as_ref()?;
        // As it stands in the cells, blanks too: files with `, ` between cells have labels that begin with one.
        pairs.push((number(text)?, label.as_str()));
    }
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
    let reads_like_range = |label: &str| {
        let label = label.trim();
        label == "*" || label.starts_with(['[', '{']) || label.contains(" .. ") || label.is_empty()
    };
    if pairs.len() < 3 || pairs.iter().any(|(_, label)| reads_like_range(label)) {
        return None;
    }
    let labels: Vec<String> = pairs.iter().map(|(_, label)| super::quoted(label)).collect();
    Some(format!("order = [{}]", labels.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::profile::profile;

    /// Names of the columns that stay, and of those that are open.
    fn ranked(csv: &str) -> (Vec<String>, Vec<String>) {
        let table = crate::testing::table(csv);
        let profiles = profile(&table);
        let names = |is_open: bool| {
            let some = super::ranked(&profiles).into_iter();
            let some = some.filter(|profile| profile.role == Role::Quasi);
            let some = some.filter(|profile| profile.is_open == is_open);
            some.map(|profile| profile.name.clone()).collect()
        };
        (names(false), names(true))
    }

    #[test]
    fn what_another_column_says_is_open() {
        let mut csv = "education,education-num,age,state,puma\n".to_string();
        for row in 0..400 {
            let level = row * 7 % 4;
            let puma = row * 13 % 90;
            let label = ["school", "college", "master", "doctor"][level];
            csv += &format!("{label},{level},{},S{},P{puma:03}\n", 20 + row % 37, puma / 10);
        }
        let (kept, open) = ranked(&csv);
        assert_eq!(kept, ["age", "state", "education"]);
        assert_eq!(open, ["education-num", "puma"]);
        // A coarser copy of a column with some cells missing.
        let groups = |one_in: usize| {
            let mut csv = "age,age_group,country\n".to_string();
            for row in 0..400 {
                let age =
                    if row % one_in == 0 { String::new() } else { (20 + row % 37).to_string() };
                csv += &format!("{age},{}0s,US\n", 2 + row % 37 / 10);
            }
            ranked(&csv)
        };
        assert_eq!(groups(40), (vec!["age".to_string()], vec!["age_group".to_string()]));
        assert_eq!(groups(4).0, ["age", "age_group"]);
        let profiles = profile(&crate::testing::table(&csv));
        let education = profiles.iter().find(|profile| profile.name == "education").unwrap();
        let order = "order = [\"school\", \"college\", \"master\", \"doctor\"]";
        assert_eq!(education.keys.as_deref(), Some(order));
    }

    #[test]
    fn an_order_has_the_labels_as_the_cells_have_them() {
        let mut csv = "education,education-num,age\n".to_string();
        for row in 0..400 {
            let level = row * 7 % 4;
            let label = ["school", "college", "master", "doctor"][level];
            csv += &format!(" {label}, {level}, {}\n", 20 + row % 37);
        }
        let profiles = profile(&crate::testing::table(&csv));
        let education = profiles.iter().find(|profile| profile.name == "education").unwrap();
        let order = "order = [\" school\", \" college\", \" master\", \" doctor\"]";
        assert_eq!(education.keys.as_deref(), Some(order));
    }

    #[test]
    fn the_natural_few_come_first_and_ten_are_enough() {
        let names: Vec<String> = (0..12).map(|at| format!("feature {at}")).collect();
        let mut csv = format!("{},sex,age\n", names.join(","));
        for row in 0..300 {
            let cells: Vec<String> =
                (0..12).map(|at| (mixed(at, row as u32) % (at as u64 + 3)).to_string()).collect();
            csv += &format!(
                "{},{},{}\n",
                cells.join(","),
                ["f", "m"][usize::from(mixed(99, row as u32) & 1 == 0)],
                20 + row % 50
            );
        }
        let (kept, open) = ranked(&csv);
        assert!(["age", "sex"].iter().all(|name| kept[..2].contains(&(*name).to_string())));
        assert_eq!((kept.len(), open.len()), (10, 4));
        // With three that say what they are, the others are not needed.
        let (kept, open) = ranked(&csv.replacen("feature 11", "race", 1));
        assert_eq!((kept.len(), open.len()), (3, 11));
    }

    #[test]
    fn shares_of_unique_rows_are_those_of_tuples() {
        let csv = "age,sex\n1,f\n1,f\n2,f\n2,m\n";
        let profiles = profile(&crate::testing::table(csv));
        let found: Vec<(f64, f64)> = profiles
            .iter()
            .map(|profile| (profile.unique_others.unwrap(), profile.unique_together.unwrap()))
            .collect();
        // Of the sexes alone one row is unique, of the ages none; of both two.
        assert_eq!(profiles[0].name, "age");
        assert_eq!(found, [(0.25, 0.5), (0.0, 0.5)]);
    }
}
