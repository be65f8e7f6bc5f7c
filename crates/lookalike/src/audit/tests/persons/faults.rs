//! Planted faults, one at a time: each must be found.

use super::super::super::{Origin, Verdict, audit, audit_against, audit_persons};
use super::super::{Seeded, table, table_of};
use super::made::{COLUMNS, Case, QUASI, case, form};
use crate::request::{Persons, Request};

/// A case that holds at k = 2, and the request.
fn good(seeded: &mut Seeded, number: usize, suppress: bool) -> (Case, Request) {
    loop {
        let people = 4 + seeded.below(5);
        let case = case(seeded, form(number), people, suppress);
        let top = if suppress { "k = 2\nlimits.suppress = '25%'" } else { "k = 2" };
        let request = case.request(top, ["", ", kind = 'numeric'", ""]);
        if case.audited(&request).holds() {
            return (case, request);
        }
    }
}

fn said(verdict: &Verdict) -> String {
    let persons = verdict.persons.iter().flat_map(|persons| &persons.statements);
    let truth = verdict.truth.iter().flat_map(|truth| &truth.statements);
    let texts: Vec<&str> = persons.chain(truth).map(|said| said.text.as_str()).collect();
    texts.join("; ")
}

/// A released row of another class than this one.
fn elsewhere(case: &Case, row: usize) -> Option<usize> {
    (0..case.release.len())
        .find(|&other| case.release[other][..QUASI] != case.release[row][..QUASI])
}

/// The person of a released row: of the first of its origins.
fn person(case: &Case, row: usize) -> usize {
    let origin = case.origins.iter().find(|origin| origin.released as usize == row).unwrap();
    case.persons[origin.source as usize]
}

/// Released rows of a person.
fn rows_of(case: &Case, own: usize) -> usize {
    (0..case.release.len()).filter(|&row| person(case, row) == own).count()
}

#[test]
fn a_row_in_another_class_or_with_another_cell_is_found() {
    let mut seeded = Seeded(7);
    let (mut moved, mut split) = (0, 0);
    for round in 0..400 {
        let (case, request) = good(&mut seeded, round, false);
        let row = seeded.below(case.release.len());
        // A passed-through cell, and a sensitive one.
        for column in [QUASI, COLUMNS.len() - 1] {
            let mut wrong = case.clone();
            wrong.release[row][column] = "other".to_string();
            assert!(!wrong.audited(&request).holds(), "{wrong:?}");
        }
        let Some(other) = elsewhere(&case, row) else { continue };
        let mut wrong = case.clone();
        let cells = wrong.release[other][..QUASI].to_vec();
        wrong.release[row][..QUASI].clone_from_slice(&cells);
        let verdict = wrong.audited(&request);
        let covers = verdict.truth.as_ref().unwrap().violations == 0;
        moved += usize::from(!covers);
        if covers && case.form.reading == Persons::Whole && rows_of(&case, person(&case, row)) > 1 {
            assert!(!verdict.holds() && verdict.persons.as_ref().unwrap().split == 1, "{wrong:?}");
            assert!(
                said(&verdict).contains("1 persons have rows in several classes"),
                "{verdict:?}"
            );
            split += 1;
        } else if !covers {
            assert!(!verdict.holds());
        }
    }
    assert!(moved > 20 && split > 20, "{moved} {split}");
}

#[test]
fn every_fault_of_the_origins_is_found() {
    let mut seeded = Seeded(8);
    let mut swapped = 0;
    for round in 0..400 {
        let (case, request) = good(&mut seeded, round, false);
        let at = seeded.below(case.origins.len());
        let mut dropped = case.clone();
        dropped.origins.remove(at);
        assert!(dropped.origins.is_empty() || !dropped.audited(&request).holds(), "{dropped:?}");
        let mut doubled = case.clone();
        doubled.origins.push(case.origins[at]);
        assert!(!doubled.audited(&request).holds(), "{doubled:?}");
        let mut more = case.clone();
        more.origins[at].count += 1;
        assert!(!more.audited(&request).holds(), "{more:?}");
        if case.origins[at].count > 1 {
            let mut fewer = case.clone();
            fewer.origins[at].count -= 1;
            assert!(!fewer.audited(&request).holds(), "{fewer:?}");
        }
        // One source row for two released rows.
        let other = seeded.below(case.origins.len());
        let mut used = case.clone();
        used.origins[at].source = case.origins[other].source;
        if used.origins[at].source != case.origins[at].source {
            assert!(!used.audited(&request).holds(), "{used:?}");
        }
        // Exchanged: a fault where the rows are not the same, or of other persons.
        let mut exchanged = case.clone();
        let (one, two) = (case.origins[at], case.origins[other]);
        if one.count == two.count && one.source != two.source {
            exchanged.origins[at].source = two.source;
            exchanged.origins[other].source = one.source;
            let cells = |origin: Origin| {
                case.source[origin.source as usize][case.form.key.len() + QUASI..].to_vec()
            };
            let verdict = exchanged.audited(&request);
            let rest = usize::from(case.form.counted);
            let shown = |origin| cells(origin)[..cells(origin).len() - rest].to_vec();
            if shown(one) != shown(two) {
                assert!(!verdict.holds(), "{exchanged:?}");
                swapped += 1;
            }
        }
        for (released, source, count) in [(u32::MAX, 0, 1), (0, u32::MAX, 1), (0, 0, 0)] {
            let mut other = case.clone();
            other.origins[at] = Origin { released, source, count };
            let (release, source) = (other.release_table(), other.source_table());
            let error = audit_persons(&release, &source, &request, &other.origins).unwrap_err();
            assert_eq!(error.code(), "other-origins");
        }
    }
    assert!(swapped > 60, "{swapped}");
}

#[test]
fn counts_that_do_not_add_up_are_found() {
    let mut seeded = Seeded(9);
    for round in (0..200).filter(|round| form(*round).counted) {
        let (case, request) = good(&mut seeded, round, false);
        let row = seeded.below(case.release.len());
        let count = case.count(&case.release[row]);
        for wrong in [count + 1, count - 1].into_iter().filter(|count| *count > 0) {
            let mut other = case.clone();
            *other.release[row].last_mut().unwrap() = wrong.to_string();
            let verdict = other.audited(&request);
            assert!(!verdict.holds() && said(&verdict).contains("do not add up"), "{verdict:?}");
        }
        let at = seeded.below(case.source.len());
        let count = case.count(&case.source[at]);
        let mut other = case.clone();
        *other.source[at].last_mut().unwrap() = (count + 1).to_string();
        assert!(!other.audited(&request).holds(), "a row of the source is not released");
    }
}

#[test]
fn persons_in_part_and_too_many_suppressed_are_found() {
    let mut seeded = Seeded(10);
    let (mut partial, mut too_many) = (0, 0);
    for round in 0..600 {
        let (case, request) = good(&mut seeded, round, true);
        let row = seeded.below(case.release.len());
        let own = person(&case, row);
        // One row less, its origins too.
        let mut fewer = case.clone();
        fewer.release.remove(row);
        fewer.origins.retain(|origin| origin.released as usize != row);
        for origin in &mut fewer.origins {
            origin.released -= u32::from(origin.released as usize > row);
        }
        if fewer.release.is_empty() {
            continue;
        }
        let verdict = fewer.audited(&request);
        if case.form.reading == Persons::Whole && rows_of(&case, own) > 1 {
            assert!(!verdict.holds(), "{fewer:?}");
            assert!(verdict.persons.as_ref().unwrap().partial.unwrap() > 0);
            partial += 1;
        }
        // All rows of other persons gone, until more than a quarter is.
        let mut persons: Vec<usize> = case.persons.clone();
        persons.sort_unstable();
        persons.dedup();
        let strict = Request { limits: Default::default(), ..request.clone() };
        let is_complete = verdict.truth.as_ref().unwrap().suppressed == 0;
        if !is_complete {
            assert!(!fewer.audited(&strict).holds(), "no row may be suppressed: {fewer:?}");
            too_many += 1;
        }
    }
    assert!(partial > 60 && too_many > 300, "{partial} {too_many}");
}

#[test]
fn every_fault_of_the_pseudonyms_is_found() {
    let mut seeded = Seeded(11);
    let (mut shared, mut several) = (0, 0);
    for round in (0..800).filter(|round| form(*round).pseudonyms) {
        let (case, request) = good(&mut seeded, round, false);
        let (a, b) = (seeded.below(case.release.len()), seeded.below(case.release.len()));
        let at = COLUMNS.len();
        let (own, other) = (case.release[a][at].clone(), case.release[b][at].clone());
        // Two persons with one pseudonym.
        if own != other {
            let mut merged = case.clone();
            for row in merged.release.iter_mut().filter(|row| row[at] == own) {
                row[at].clone_from(&other);
            }
            let verdict = merged.audited(&request);
            assert!(!verdict.holds(), "{merged:?}");
            assert!(said(&verdict).contains("stand for more than one person"), "{verdict:?}");
            shared += 1;
        }
        // A person with two pseudonyms: without origins the numbers of rows show it.
        let mut torn = case.clone();
        torn.release[a][at] = "5000".to_string();
        let verdict = torn.audited(&request);
        if case.release.iter().filter(|row| row[at] == own).count() > 1 {
            assert!(!verdict.holds(), "{torn:?}");
            assert!(said(&verdict).contains("more than one pseudonym"), "{verdict:?}");
            let (release, source) = (torn.release_table(), torn.source_table());
            let against = audit_against(&release, &source, &request).unwrap();
            assert!(!against.holds(), "{against:?}");
            several += 1;
        }
        // A row without a pseudonym, and a release without the column.
        torn.release[a][at].clear();
        let error = audit(&torn.release_table(), &request).unwrap_err();
        assert_eq!((error.code(), error.place().row), ("no-person", Some(a as u64 + 1)));
    }
    assert!(shared > 60 && several > 60, "{shared} {several}");
}

/// Forty persons with two rows each, whose pseudonyms are as given.
fn of_forty(pseudonym: impl Fn(usize) -> usize) -> Verdict {
    let row = |cells: [String; 2]| cells.to_vec();
    let header = [vec![row(["id".into(), "age".into()])], Vec::new()].concat();
    // The key is neither in the order of the rows nor in that of the pseudonyms.
    let key = |person: usize| 100 + person * 17 % 40;
    let source = (0..80).map(|at| row([key(at / 2).to_string(), (20 + at % 7).to_string()]));
    let release = (0..80).map(|at| row([pseudonym(at / 2).to_string(), "[20-26]".to_string()]));
    let source: Vec<Vec<String>> = header.iter().cloned().chain(source).collect();
    let release: Vec<Vec<String>> = header.iter().cloned().chain(release).collect();
    let request = Request::parse(
        "k = 5\noutput.pseudonyms = true\ncolumns.id.role = 'person'\ncolumns.age.role = 'quasi'",
    );
    let origins: Vec<Origin> =
        (0..80).map(|at| Origin { released: at, source: at, count: 1 }).collect();
    audit_persons(&table_of(&release), &table_of(&source), &request.unwrap(), &origins).unwrap()
}

#[test]
fn pseudonyms_that_show_the_key_are_leaks() {
    let good = of_forty(|person| (person * 23 + 11) % 41);
    assert!(good.holds(), "{:?} {:?}", good.leaks, good.persons);
    let leak = |verdict: Verdict| {
        assert!(!verdict.holds());
        verdict.leaks.join("; ")
    };
    let key = |person: usize| 100 + person * 17 % 40;
    let same = leak(of_forty(key));
    assert!(same.contains("40 pseudonyms are cells of the person key `id`"), "{same}");
    // Ten of them are enough, nine are not.
    let some = |most: usize| {
        move |person: usize| if person < most { key(person) } else { (person * 23 + 11) % 41 }
    };
    assert!(leak(of_forty(some(10))).starts_with("10 pseudonyms are"));
    assert!(of_forty(some(9)).holds());
    let hidden = leak(of_forty(|person| 3 * key(person) + 1_000));
    assert_eq!(hidden, "the pseudonyms follow the order of the person key");
    let in_order = leak(of_forty(|person| person + 1));
    assert_eq!(in_order, "the pseudonyms follow the order of the persons in the source");
    let backwards = leak(of_forty(|person| 500 - person));
    assert_eq!(backwards, "the pseudonyms follow the order of the persons in the source");
}

#[test]
fn the_key_in_the_release_is_a_leak() {
    let request = Request::parse(
        "k = 2\ncolumns.age.role = 'quasi'\ncolumns.id.role = 'person'\ncolumns.site.role = 'person'",
    )
    .unwrap();
    let source = table(&["id|site|age", "1|x|20", "1|x|21", "2|x|22", "1|y|23"]);
    let origins: Vec<Origin> =
        (0..4).map(|at| Origin { released: at, source: at, count: 1 }).collect();
    let range = ["[20-23]"; 4];
    let good: Vec<String> =
        std::iter::once("age".to_string()).chain(range.map(String::from)).collect();
    assert!(audit_persons(&table(&good), &source, &request, &origins).unwrap().holds());
    let leaky = table(&["id|age", "1|[20-23]", "1|[20-23]", "2|[20-23]", "1|[20-23]"]);
    let verdict = audit_persons(&leaky, &source, &request, &origins).unwrap();
    assert_eq!(verdict.leaks, ["person key `id` is in the release"]);
    // With pseudonyms in the column `person`, the parts of the key stay leaks.
    let request = request.pseudonyms();
    let leaky =
        table(&["site|person|age", "x|8|[20-23]", "x|8|[20-23]", "x|3|[20-23]", "y|5|[20-23]"]);
    let verdict = audit_persons(&leaky, &source, &request, &origins).unwrap();
    assert_eq!(verdict.leaks, ["person key `site` is in the release"]);
    assert_eq!(verdict.measures.k, 3);
}
