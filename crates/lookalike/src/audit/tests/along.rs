//! The comparison along origins: against each row's own comparison, against the matching, and with
//! every fault that a record of origins can have.

use super::super::{Finding, Method, SourceCheck, audit_against, audit_along};
use super::mutations::{
    MUTATIONS, QUASI, TestRows, asked, mutate, named, shown, source, stands_for,
};
use super::{Request, Seeded, request, table, table_of};

/// A release of the rows with the origin of each of its rows.
fn release(seeded: &mut Seeded, source: &TestRows) -> (TestRows, Vec<u32>) {
    let mut left: Vec<usize> = (0..source.len()).collect();
    let mut all = Vec::new();
    while !left.is_empty() {
        let size = if left.len() < 4 { left.len() } else { 2 + seeded.below(2) };
        let origins: Vec<usize> =
            (0..size).map(|_| left.swap_remove(seeded.below(left.len()))).collect();
        let class: TestRows = origins.iter().map(|&at| source[at].clone()).collect();
        let cells = shown(&class, seeded.below(4) == 0);
        all.extend(class.iter().zip(origins).map(|(row, at)| {
            let row: Vec<String> = cells.iter().chain(&row[QUASI..]).cloned().collect();
            (row, u32::try_from(at).unwrap())
        }));
    }
    all.sort();
    all.into_iter().unzip()
}

fn along(released: &TestRows, source: &TestRows, request: &Request, origin: &[u32]) -> SourceCheck {
    let (release, source) = (table_of(&named(released)), table_of(&named(source)));
    let verdict = audit_along(&release, &source, request, origin).unwrap();
    let truth = verdict.truth.unwrap();
    assert_eq!(truth.cells_checked, Method::AlongOrigins);
    assert_eq!(truth.rows_matched + truth.violations, released.len() as u64);
    assert_eq!(truth.rows_undecided, 0);
    let broken = truth.statements.iter().any(|said| said.finding == Finding::Broken);
    assert_eq!(broken, !truth.holds(), "{truth:?}");
    truth
}

#[test]
fn it_finds_what_a_comparison_of_each_row_finds_and_never_less_than_the_matching() {
    let folder = tempfile::tempdir().unwrap();
    let (strict, lenient) =
        (asked(folder.path(), ""), asked(folder.path(), "[limits]\nsuppress = \"20%\""));
    let mut seeded = Seeded(41);
    let (mut held, mut stricter, mut untrue) = (0, 0, [0; MUTATIONS]);
    for round in 0..5200 {
        let kind = round % MUTATIONS;
        let rows = 4 + seeded.below(4);
        let originals = source(&mut seeded, rows);
        let (mut released, mut origin) = release(&mut seeded, &originals);
        match kind {
            4 => {
                let row = seeded.below(released.len());
                released.remove(row);
                origin.remove(row);
            }
            5 => {
                let row = seeded.below(released.len());
                released.push(released[row].clone());
                origin.push(origin[row]);
            }
            _ => mutate(&mut seeded, kind, &mut released, &originals),
        }
        let request = if seeded.below(2) == 0 { &strict } else { &lenient };
        let agrees = |(row, at): (&Vec<String>, &u32)| {
            let original = &originals[*at as usize];
            row[QUASI..] == original[QUASI..]
                && (0..QUASI).all(|c| stands_for(c, &row[c], &original[c]))
        };
        let wrong = released.iter().zip(&origin).filter(|pair| !agrees(*pair)).count() as u64
            + u64::from(kind == 5);
        let truth = along(&released, &originals, request, &origin);
        assert_eq!(truth.violations, wrong, "mutation {kind}\n{released:?}\n{originals:?}");
        let (release, source) = (table_of(&named(&released)), table_of(&named(&originals)));
        let matching = audit_against(&release, &source, request).unwrap().truth.unwrap();
        assert!(!truth.holds() || matching.holds(), "mutation {kind}: {truth:?} {matching:?}");
        assert_eq!(truth.suppression_allowed, matching.suppression_allowed);
        assert_eq!(truth.suppressed, matching.suppressed);
        if kind == 0 {
            assert!(truth.holds() && matching.holds());
        }
        held += usize::from(truth.holds());
        stricter += usize::from(!truth.holds() && matching.holds());
        untrue[kind] += usize::from(wrong > 0);
    }
    assert!(held > 600 && stricter > 20, "{held} held, {stricter} by the matching alone");
    assert!((1..MUTATIONS).all(|kind| [4, 11].contains(&kind) || untrue[kind] > 60), "{untrue:?}");
}

#[test]
fn every_fault_of_a_record_of_origins_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let request = asked(folder.path(), "");
    let mut seeded = Seeded(5);
    let (mut swapped, mut doubled) = (0, 0);
    for _ in 0..300 {
        let originals = source(&mut seeded, 8);
        let (released, origin) = release(&mut seeded, &originals);
        assert!(along(&released, &originals, &request, &origin).holds());
        let (a, b) = (seeded.below(8), seeded.below(8));
        // Swapped: a fault exactly where the rows are not the same for what was published.
        let mut other = origin.clone();
        other.swap(a, b);
        let fits = |row: usize| {
            let original = &originals[other[row] as usize];
            released[row][QUASI..] == original[QUASI..]
                && (0..QUASI).all(|c| stands_for(c, &released[row][c], &original[c]))
        };
        let holds = (0..8).all(fits);
        assert_eq!(along(&released, &originals, &request, &other).holds(), holds);
        swapped += usize::from(!holds);
        // Doubled: always a fault, whatever the row shows.
        if a != b {
            let mut other = origin.clone();
            other[a] = other[b];
            assert!(!along(&released, &originals, &request, &other).holds());
            doubled += 1;
        }
        for beyond in [8, 9, u32::MAX] {
            let mut other = origin.clone();
            other[a] = beyond;
            assert_eq!(along(&released, &originals, &request, &other).violations, 1);
        }
    }
    assert!(swapped > 100 && doubled > 200, "{swapped} {doubled}");
}

const SOURCE: [&str; 5] = ["age|ward", "34|a", "37|b", "51|a", "58|b"];
const RELEASE: [&str; 5] = ["age|ward", "[34-37]|a", "[34-37]|b", "[51-58]|a", "[51-58]|b"];

fn by_hand(release: &[&str], text: &str, origin: &[u32]) -> SourceCheck {
    let text =
        format!("k = 2\n{text}\n[columns]\nage = {{ role = 'quasi' }}\nward = {{ role = 'keep' }}");
    let verdict = audit_along(&table(release), &table(&SOURCE), &request(&text), origin).unwrap();
    verdict.truth.unwrap()
}

#[test]
fn the_statements_name_the_fault() {
    let good = by_hand(&RELEASE, "", &[0, 1, 2, 3]);
    assert!(good.holds() && good.rows_matched == 4);
    assert!(good.statements[1].text.starts_with("row by row along the origins"), "{good:?}");

    let said = |truth: &SourceCheck| {
        let broken = truth.statements.iter().filter(|said| said.finding == Finding::Broken);
        broken.map(|said| said.text.clone()).collect::<Vec<_>>().join("; ")
    };
    let swapped = by_hand(&RELEASE, "", &[1, 0, 2, 3]);
    assert!(!swapped.carried_unchanged && swapped.violations == 2);
    assert!(said(&swapped).contains("2 released rows do not have the other cells"), "{swapped:?}");
    let uncovered = by_hand(&RELEASE, "", &[2, 1, 0, 3]);
    assert!(uncovered.carried_unchanged && uncovered.violations == 2);
    assert!(said(&uncovered).contains("2 released rows do not cover"), "{uncovered:?}");
    let doubled = by_hand(&RELEASE, "", &[0, 1, 2, 1]);
    assert!(said(&doubled).contains("for 1 released rows the recorded origin"), "{doubled:?}");

    // A lost column, and more suppressed rows than the request allows.
    let lost = by_hand(&["age", "[34-37]", "[34-37]", "[51-58]", "[51-58]"], "", &[0, 1, 2, 3]);
    assert!(!lost.holds() && said(&lost).contains("`ward`"), "{lost:?}");
    let few = by_hand(&RELEASE[..3], "", &[0, 1]);
    assert!(!few.holds() && few.suppressed == 2 && few.violations == 0);
    let half = "limits.suppress = '50%'";
    assert!(by_hand(&RELEASE[..3], half, &[0, 1]).holds());
    assert!(!by_hand(&RELEASE[..3], "limits.suppress = '49%'", &[0, 1]).holds());

    // In the order of the source the origins ascend.
    let input = "output.order = 'input'\nlimits.suppress = '50%'";
    let turned = ["age|ward", "[34-37]|b", "[34-37]|a", "[51-58]|a", "[51-58]|b"];
    assert!(by_hand(&turned, "", &[1, 0, 2, 3]).holds());
    assert_eq!(by_hand(&turned, input, &[1, 0, 2, 3]).violations, 1);
    assert!(by_hand(&RELEASE, input, &[0, 1, 2, 3]).holds());
    assert!(by_hand(&["age|ward", "[34-37]|b", "[34-51]|a"], input, &[1, 2]).holds());
}

#[test]
fn origins_of_another_release_are_an_error() {
    let request = request("k = 2\ncolumns.age.role = 'quasi'\nrest = 'keep'");
    for origin in [&[0, 1, 2][..], &[0, 1, 2, 3, 3]] {
        let error = audit_along(&table(&RELEASE), &table(&SOURCE), &request, origin).unwrap_err();
        assert!(error.to_string().contains("origins for 4 released rows"), "{error}");
    }
}
