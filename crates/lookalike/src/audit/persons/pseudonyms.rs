//! Pseudonyms against the source: one for each person, and none that shows the person key.

use super::key::persons_of;
use super::{Origin, PersonsVerdict};
use crate::audit::classes::RowClasses;
use crate::audit::reading::{exact_number, place_of_number};
use crate::audit::source_check::{Finding, Statement};
use crate::audit::{coded, present};
use crate::codes::RowId;
use crate::error::{Error, Result};
use crate::request::Request;
use crate::table::Table;

/// The persons that the pseudonyms of a release stand for.
///
/// # Errors
/// When the release has no such column, or a row has no pseudonym.
pub(super) fn of_release(release: &Table, column: &str, request: &Request) -> Result<RowClasses> {
    if release.column(column).is_none() {
        let reason = format!("the release has no column `{column}` with the pseudonyms");
        return Err(Error::data("table-lacks-column", reason).about_column(column));
    }
    persons_of(release, &[column.to_string()], &request.missing)
}

const NONE: u32 = u32::MAX;

/// For each person the pseudonym; none for a person without a row. Faults are stated: a pseudonym
/// of two persons, a person with two pseudonyms.
pub(super) fn one_to_one(
    pseudonyms: &RowClasses,
    persons: &RowClasses,
    origins: &[Origin],
    verdict: &mut PersonsVerdict,
) -> Option<Vec<Option<u32>>> {
    let mut of_person = vec![NONE; persons.sizes.len()];
    let mut of_pseudonym = vec![NONE; pseudonyms.sizes.len()];
    let mut shared = vec![false; pseudonyms.sizes.len()];
    let mut several = vec![false; persons.sizes.len()];
    for origin in origins {
        let pseudonym = pseudonyms.of[origin.released as usize];
        let person = persons.of[origin.source as usize];
        shared[pseudonym as usize] |= differs(&mut of_pseudonym[pseudonym as usize], person);
        several[person as usize] |= differs(&mut of_person[person as usize], pseudonym);
    }
    let count = |faults: &[bool]| faults.iter().filter(|fault| **fault).count();
    let (shared, several) = (count(&shared), count(&several));
    let mut broken = |text: String| {
        verdict.statements.push(Statement { finding: Finding::Broken, text });
    };
    if shared > 0 {
        broken(format!("{shared} pseudonyms stand for more than one person"));
    }
    if several > 0 {
        broken(format!("{several} persons have more than one pseudonym"));
    }
    if shared + several > 0 {
        return None;
    }
    let text = "every person has one pseudonym, and every pseudonym is of one person".to_string();
    verdict.statements.push(Statement { finding: Finding::Ok, text });
    Some(of_person.into_iter().map(|one| Some(one).filter(|&one| one != NONE)).collect())
}

/// Sets an empty slot; true when the slot has another number.
fn differs(slot: &mut u32, number: u32) -> bool {
    if *slot == NONE {
        *slot = number;
    }
    *slot != number
}

/// So many persons do not get their own key by chance, nor do the pseudonyms of so many persons lie
/// in the order of the key: the chance of either is below one in a million.
const TOO_MANY: usize = 10;

/// The greatest rank correlation of random numbers, in standard deviations: one in 500 million is
/// beyond it.
const CORRELATION: f64 = 6.0;

/// Pseudonyms that show the person key: they are the key, or follow its order or that of the
/// source.
///
/// Random numbers do neither but by chance. Of fewer than ten persons nothing can be said.
pub(super) fn leaks(
    (release, column, pseudonyms): (&Table, &str, &RowClasses),
    (source, persons): (&Table, &RowClasses),
    of_person: &[Option<u32>],
    request: &Request,
) -> Result<Vec<String>> {
    let first_rows = |(&first, &one): (&RowId, &Option<u32>)| {
        one.map(|pseudonym| (first, pseudonyms.first[pseudonym as usize]))
    };
    // Persons in the order of their first rows.
    let (originals, released): (Vec<RowId>, Vec<RowId>) =
        persons.first.iter().zip(of_person).filter_map(first_rows).unzip();
    let shown = texts(release, column, &released, request)?;
    let mut keys = Vec::new();
    let mut leaks = Vec::new();
    for name in request.person_key() {
        let cells = texts(source, &name, &originals, request)?;
        let same =
            cells.iter().zip(&shown).filter(|(cell, shown)| is_same(**cell, **shown)).count();
        if same >= TOO_MANY {
            leaks.push(format!("{same} pseudonyms are cells of the person key `{name}`"));
        }
        keys.push(cells);
    }
    let order = ranks(&[shown]);
    if is_followed(&ranks(&keys), &order) {
        leaks.push("the pseudonyms follow the order of the person key".to_string());
    }
    if is_followed(&(0..order.len()).collect::<Vec<_>>(), &order) {
        leaks.push("the pseudonyms follow the order of the persons in the source".to_string());
    }
    Ok(leaks)
}

/// The texts of a column in these rows; none where the cell is missing.
fn texts<'a>(
    table: &'a Table,
    column: &str,
    rows: &[RowId],
    request: &Request,
) -> Result<Vec<Option<&'a str>>> {
    let coded = coded(table, column)?;
    let text = |&row: &RowId| {
        let cell = &coded.values()[coded.codes().get(row as usize) as usize];
        present(cell.as_deref(), &request.missing)
    };
    Ok(rows.iter().map(text).collect())
}

/// True for one text, or two spellings of one number.
fn is_same(one: Option<&str>, other: Option<&str>) -> bool {
    let (Some(one), Some(other)) = (one, other) else { return false };
    one == other || exact_number(one).is_some_and(|number| exact_number(other) == Some(number))
}

/// For each person the place in the order of these columns: numbers by value, texts by letters.
fn ranks(columns: &[Vec<Option<&str>>]) -> Vec<usize> {
    let key = |cells: &Vec<Option<&str>>| {
        let places: Option<Vec<i128>> =
            cells.iter().map(|cell| cell.map_or(Some(i128::MIN), place_of_number)).collect();
        places.unwrap_or_else(|| {
            let mut sorted: Vec<&Option<&str>> = cells.iter().collect();
            sorted.sort_unstable();
            sorted.dedup();
            let place = |cell| sorted.partition_point(|other| *other < cell);
            cells.iter().map(|cell| i128::try_from(place(cell)).unwrap_or(i128::MAX)).collect()
        })
    };
    let keys: Vec<Vec<i128>> = columns.iter().map(key).collect();
    let mut order: Vec<usize> = (0..columns[0].len()).collect();
    order.sort_by_key(|&person| keys.iter().map(|key| key[person]).collect::<Vec<_>>());
    let mut ranks = vec![0; order.len()];
    order.into_iter().enumerate().for_each(|(rank, person)| ranks[person] = rank);
    ranks
}

/// True when one order follows the other, forwards or backwards: as a whole, or by Spearman's rank
/// correlation, whose standard deviation is one over the root of the number of persons less one.
#[allow(clippy::cast_precision_loss, reason = "a correlation is a float")]
fn is_followed(ranks: &[usize], others: &[usize]) -> bool {
    let persons = ranks.len();
    if persons < TOO_MANY {
        return false;
    }
    let pairs = || ranks.iter().zip(others);
    if pairs().all(|(a, b)| a == b) || pairs().all(|(a, b)| a + b + 1 == persons) {
        return true;
    }
    let squares: f64 = pairs().map(|(&a, &b)| (a.abs_diff(b) as f64).powi(2)).sum();
    let n = persons as f64;
    let correlation = 1.0 - 6.0 * squares / (n * (n * n - 1.0));
    correlation.abs() * (n - 1.0).sqrt() > CORRELATION
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::tests::Seeded;

    #[test]
    fn random_orders_follow_nothing_and_shifted_ones_do() {
        let mut seeded = Seeded(3);
        for persons in [10, 30, 60, 1000] {
            let straight: Vec<usize> = (0..persons).collect();
            for _ in 0..200 {
                let mut random = straight.clone();
                (1..persons).for_each(|at| random.swap(at, seeded.below(at + 1)));
                assert!(!is_followed(&straight, &random), "{persons}");
            }
            let back: Vec<usize> = (0..persons).rev().collect();
            assert!(is_followed(&straight, &straight) && is_followed(&straight, &back));
            // Nearly in order: neighbours are exchanged.
            let mut near = straight.clone();
            near.chunks_exact_mut(2).for_each(|pair| pair.swap(0, 1));
            assert_eq!(is_followed(&straight, &near), persons >= 60, "{persons}");
        }
        assert!(!is_followed(&[0, 1, 2], &[0, 1, 2]), "three persons prove nothing");
    }

    #[test]
    fn numbers_are_ranked_by_value_and_texts_by_letters() {
        let cells = |texts: &[&'static str]| texts.iter().map(|text| Some(*text)).collect();
        assert_eq!(ranks(&[cells(&["10", "9", "1e2"])]), [1, 0, 2]);
        assert_eq!(ranks(&[cells(&["p10", "p9", "a"])]), [1, 2, 0]);
        assert_eq!(ranks(&[cells(&["a", "b", "a"]), cells(&["2", "1", "1"])]), [1, 2, 0]);
        assert!(is_same(Some("7"), Some("7.0")) && !is_same(Some("7"), Some("70")));
        assert!(!is_same(None, None));
    }
}
