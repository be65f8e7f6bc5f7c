//! Releases that are not homogeneous: the search for disjoint ways against brute force, and proofs
//! damaged in many ways.

use super::super::{Proof, ProofRing, audit_rings};
use super::{Seeded, table};
use crate::error::Hint;
use crate::table::Table;

/// The greatest number of ways to give all rows to all persons of which no two have a pair in
/// common, by trying all.
fn brute(covers: &[Vec<bool>], used: &mut Vec<Vec<bool>>) -> u64 {
    fn ways(
        row: usize,
        free: &mut Vec<bool>,
        covers: &[Vec<bool>],
        used: &[Vec<bool>],
        way: &mut Vec<usize>,
        all: &mut Vec<Vec<usize>>,
    ) {
        if row == covers.len() {
            all.push(way.clone());
            return;
        }
        for person in 0..free.len() {
            if free[person] && covers[row][person] && !used[row][person] {
                free[person] = false;
                way.push(person);
                ways(row + 1, free, covers, used, way, all);
                way.pop();
                free[person] = true;
            }
        }
    }
    let mut all = Vec::new();
    ways(0, &mut vec![true; covers.len()], covers, used, &mut Vec::new(), &mut all);
    let mut best = 0;
    for way in all {
        way.iter().enumerate().for_each(|(row, &person)| used[row][person] = true);
        best = best.max(1 + brute(covers, used));
        way.iter().enumerate().for_each(|(row, &person)| used[row][person] = false);
    }
    best
}

#[test]
fn without_a_proof_as_many_disjoint_ways_are_found_as_there_are() {
    let mut seeded = Seeded(5);
    let mut seen = [0; 5];
    for _ in 0..600 {
        let rows = 2 + seeded.below(3);
        let ages: Vec<usize> = (0..rows).map(|_| 10 + seeded.below(4)).collect();
        // Every row covers the person in its place and some more.
        let boxes: Vec<(usize, usize)> = ages
            .iter()
            .map(|&age| (age - seeded.below(3).min(age - 10), age + seeded.below(3)))
            .collect();
        let source = table(
            &[vec!["age".to_string()], ages.iter().map(ToString::to_string).collect()].concat(),
        );
        let shown = boxes
            .iter()
            .map(|(lo, hi)| if lo == hi { lo.to_string() } else { format!("[{lo}-{hi}]") });
        let release = table(&[vec!["age".to_string()], shown.collect()].concat());
        let covers: Vec<Vec<bool>> = boxes
            .iter()
            .map(|(lo, hi)| ages.iter().map(|age| lo <= age && age <= hi).collect())
            .collect();
        let expected = brute(&covers, &mut vec![vec![false; rows]; rows]);
        seen[usize::try_from(expected).unwrap()] += 1;
        for k in 1..=u64::try_from(rows).unwrap() {
            let request = super::request(&format!(
                "k = {k}\nnon_homogeneous = true\ncolumns.age = {{ role = \"quasi\" }}\n"
            ));
            let verdict = audit_rings(&release, &source, &request, None).unwrap();
            assert_eq!(
                verdict.non_homogeneous.as_ref().unwrap().candidates,
                expected.min(k),
                "{ages:?} {boxes:?}"
            );
            assert_eq!(verdict.holds(), expected >= k, "{ages:?} {boxes:?} {verdict:?}");
        }
    }
    assert!(seen[1..].iter().all(|&times| times > 5), "all answers must occur: {seen:?}");
}

const SIX: [&str; 7] = ["age|ill", "20|a", "21|b", "22|c", "60|d", "63|e", "66|f"];

const SIX_RELEASED: [&str; 7] =
    ["age|ill", "[20-21]|b", "[21-22]|c", "[20-22]|a", "[60-63]|e", "[63-66]|f", "[60-66]|d"];

/// Six persons on two rings of three, windows of two, each box with the illness of the second
/// person that it covers.
fn six() -> (Table, Table, Proof) {
    let source = table(&SIX);
    let release = table(&SIX_RELEASED);
    let ring = ProofRing { places: 3, window: 2 };
    (
        source,
        release,
        Proof { rings: vec![ring, ring], persons: (0..6).collect(), released: (0..6).collect() },
    )
}

fn request(rule: &str) -> crate::Request {
    super::request(&format!(
        "{rule}\nnon_homogeneous = true\ncolumns.age = {{ role = \"quasi\" }}\ncolumns.ill = {{ \
         role = \"sensitive\" }}\n"
    ))
}

#[test]
fn a_proof_is_believed_only_as_far_as_the_rows_bear_it_out() {
    let (source, release, proof) = six();
    let holds = |release: &Table, proof: &Proof, k: u64| {
        audit_rings(release, &source, &request(&format!("k = {k}")), Some(proof))
            .map(|verdict| verdict.holds())
    };
    assert!(holds(&release, &proof, 2).unwrap());
    assert!(!holds(&release, &proof, 3).unwrap(), "windows of two do not make three");
    let whole = Proof { rings: vec![ProofRing { places: 3, window: 3 }; 2], ..proof.clone() };
    assert!(!holds(&release, &whole, 3).unwrap(), "the boxes do not cover three persons");

    let narrow = table(&[
        "age|ill",
        "21|b",
        "[21-22]|c",
        "[20-22]|a",
        "[60-63]|e",
        "[63-66]|f",
        "[60-66]|d",
    ]);
    assert!(!holds(&narrow, &proof, 2).unwrap(), "one person is not covered any more");
    let exchanged = table(&[
        "age|ill",
        "[20-21]|b",
        "[21-22]|c",
        "[20-22]|a",
        "[60-63]|e",
        "[63-66]|d",
        "[60-66]|f",
    ]);
    assert!(
        !holds(&exchanged, &proof, 2).unwrap(),
        "the rows of the second ring were not shifted alike"
    );
    let changed = table(&[
        "age|ill",
        "[20-21]|b",
        "[21-22]|c",
        "[20-22]|a",
        "[60-63]|e",
        "[63-66]|f",
        "[60-66]|x",
    ]);
    assert!(!holds(&changed, &proof, 2).unwrap(), "a cell that the source does not have");
    let swapped = Proof { persons: vec![0, 1, 3, 2, 4, 5], ..proof.clone() };
    assert!(!holds(&release, &swapped, 2).unwrap(), "persons on the wrong ring");
}

#[test]
fn a_proof_of_something_else_is_refused() {
    let (source, release, proof) = six();
    let ring = |places: usize, window: usize| ProofRing { places, window };
    let damaged = [
        Proof { persons: vec![0, 1, 1, 3, 4, 5], ..proof.clone() },
        Proof { released: vec![0, 1, 2, 3, 4, 4], ..proof.clone() },
        Proof { released: vec![0, 1, 2, 3, 4, 6], ..proof.clone() },
        Proof {
            persons: vec![0, 1, 2, 3, 4],
            released: vec![0, 1, 2, 3, 4],
            rings: vec![ring(3, 2), ring(2, 2)],
        },
        Proof { rings: vec![ring(3, 2)], ..proof.clone() },
        Proof { rings: vec![ring(3, 2), ring(3, 0)], ..proof.clone() },
        Proof { rings: vec![ring(3, 2), ring(3, 4)], ..proof.clone() },
        Proof { rings: vec![ring(3, 2), ring(usize::MAX, 2)], ..proof.clone() },
        Proof::default(),
    ];
    for proof in damaged {
        let refused = audit_rings(&release, &source, &request("k = 2"), Some(&proof)).unwrap_err();
        assert!(refused.to_string().contains("does not belong to this release"), "{refused}");
    }
}

#[test]
fn rules_on_sensitive_values_are_checked_on_the_values_that_each_person_could_have() {
    let (source, release, proof) = six();
    let toml = |rule: &str| {
        super::request(&format!(
            "k = 2\nnon_homogeneous = true\ncolumns.age = {{ role = \"quasi\" }}\ncolumns.ill = \
             {{ role = \"sensitive\", {rule} }}\n"
        ))
    };
    let audited = |release: &Table, source: &Table, rule: &str| {
        audit_rings(release, source, &toml(rule), Some(&proof)).unwrap()
    };
    assert!(audited(&release, &source, "l = 2").holds());
    assert!(!audited(&release, &source, "distinct = 3").holds(), "windows of two have two values");
    // Two persons side by side with one illness: one window has no other.
    let same = |cells: &[&str]| {
        table(&cells.iter().map(|cell| cell.replace("|c", "|b")).collect::<Vec<_>>())
    };
    let source = same(&SIX);
    let release = same(&SIX_RELEASED);
    let verdict = audited(&release, &source, "l = 2");
    assert!(!verdict.holds() && verdict.truth.as_ref().unwrap().holds(), "{verdict:?}");
    assert_eq!(verdict.rules.iter().map(|rule| rule.violations).collect::<Vec<_>>(), [0, 1]);
    let why = audit_rings(&release, &source, &toml("l = 2"), None).unwrap_err();
    assert_eq!((why.code(), why.hints()), ("needs-proof", &[Hint::UseProof][..]), "{why}");
}

#[test]
fn suppressed_rows_need_a_proof_and_their_share_is_checked() {
    let (_, release, proof) = six();
    let source = table(&["age|ill", "20|a", "21|b", "22|c", "60|d", "63|e", "66|f", "99|g"]);
    let why = audit_rings(&release, &source, &request("k = 2"), None).unwrap_err();
    assert_eq!((why.code(), why.hints()), ("needs-proof", &[Hint::UseProof][..]), "{why}");
    assert!(
        !audit_rings(&release, &source, &request("k = 2"), Some(&proof)).unwrap().holds(),
        "nothing may be suppressed"
    );
    let allowed = request("k = 2\nlimits.suppress = \"20%\"");
    assert!(audit_rings(&release, &source, &allowed, Some(&proof)).unwrap().holds());
}
