//! Random true releases, damaged in many ways; an oracle written independently says which of them
//! still hold.

use std::collections::BTreeMap;

use super::super::source_check::{self, CheckLimits, LIMITS};
use super::{Request, Seeded, audit_against, request, table_of};

pub(super) type TestRows = Vec<Vec<String>>;

/// age, zip, job and pet are quasi-identifiers, ill is sensitive, ward is kept.
pub(super) const NAMES: [&str; 6] = ["age", "zip", "job", "pet", "ill", "ward"];
pub(super) const QUASI: usize = 4;
const JOBS: [(&str, &str); 5] = [
    ("nurse", "health"),
    ("surgeon", "health"),
    ("teacher", "school"),
    ("coach", "school"),
    ("actor", "arts"),
];
const PETS: [&str; 3] = ["cat", "dog,big", "eel"];

pub(super) fn asked(folder: &std::path::Path, extra: &str) -> Request {
    let file = folder.join("job.csv");
    let lines: String = JOBS.iter().map(|(job, field)| format!("{job};{field};any\n")).collect();
    std::fs::write(&file, lines).unwrap();
    request(&format!(
        "k = 2\nmissing = [\"?\"]\n[columns]\nage = {{ role = \"quasi\" }}\nzip = {{ role = \
         \"quasi\", hierarchy = {{ prefix = [2, 1] }} }}\n\
         job = {{ role = \"quasi\", hierarchy = {:?} }}\npet = {{ role = \"quasi\" }}\n\
         ill = {{ role = \"sensitive\", alpha = \"2/3\" }}\nward = {{ role = \"keep\" }}\n{extra}",
        file.display().to_string()
    ))
}

pub(super) fn source(seeded: &mut Seeded, rows: usize) -> TestRows {
    let mut row = || {
        let age = if seeded.below(6) == 0 {
            ["", "?"][seeded.below(2)].to_string()
        } else {
            (20 + seeded.below(6)).to_string()
        };
        let zip = format!("1{}{}", seeded.below(2), seeded.below(3));
        let pet = if seeded.below(7) == 0 { "" } else { PETS[seeded.below(3)] };
        let job = JOBS[seeded.below(5)].0;
        vec![
            age,
            zip,
            job.into(),
            pet.into(),
            ["flu", "hiv"][seeded.below(2)].into(),
            seeded.below(2).to_string(),
        ]
    };
    (0..rows).map(|_| row()).collect()
}

fn gone(text: &str) -> bool {
    text.is_empty() || text == "?"
}

/// What a class shows, column by column.
pub(super) fn shown(class: &[Vec<String>], loose: bool) -> Vec<String> {
    let column = |at: usize| class.iter().map(|row| row[at].as_str()).collect::<Vec<_>>();
    let ages = column(0);
    let mut known: Vec<u32> =
        ages.iter().filter(|age| !gone(age)).map(|age| age.parse().unwrap()).collect();
    known.sort_unstable();
    let age = match (known.len(), known.first(), known.last()) {
        (0, ..) => String::new(),
        (n, ..) if n < ages.len() => "*".into(),
        (_, Some(lo), Some(hi)) if loose => format!("[{lo}-{})", hi + 1),
        (_, Some(lo), Some(hi)) if lo == hi => lo.to_string(),
        (_, lo, hi) => format!("[{}-{}]", lo.unwrap(), hi.unwrap()),
    };
    let zips = column(1);
    let kept = (0..=3).rev().find(|&n| zips.iter().all(|zip| zip[..n] == zips[0][..n])).unwrap();
    let zip = format!("{}{}", &zips[0][..kept], "*".repeat(3 - kept));
    let jobs = column(2);
    let field = |job: &str| JOBS.iter().find(|(name, _)| *name == job).unwrap().1;
    let job = if jobs.iter().all(|job| *job == jobs[0]) {
        jobs[0]
    } else if jobs.iter().all(|job| field(job) == field(jobs[0])) {
        field(jobs[0])
    } else {
        "any"
    };
    let mut pets = column(3);
    pets.sort_unstable();
    pets.dedup();
    let quoted = |pet: &&str| {
        if pet.is_empty() || pet.contains(',') { format!("\"{pet}\"") } else { (*pet).to_string() }
    };
    let pet = match pets.len() {
        1 => pets[0].to_string(),
        _ => format!("{{{}}}", pets.iter().map(quoted).collect::<Vec<_>>().join(",")),
    };
    vec![age, zip, job.to_string(), pet]
}

/// A release of the rows: classes of consecutive rows after a shuffle.
pub(super) fn release(seeded: &mut Seeded, source: &TestRows) -> TestRows {
    let mut left = source.clone();
    let mut all = TestRows::new();
    while !left.is_empty() {
        let size = if left.len() < 4 { left.len() } else { 2 + seeded.below(2) };
        let class: TestRows =
            (0..size).map(|_| left.swap_remove(seeded.below(left.len()))).collect();
        let cells = shown(&class, seeded.below(4) == 0);
        all.extend(
            class.iter().map(|row| cells.iter().chain(&row[QUASI..]).cloned().collect::<Vec<_>>()),
        );
    }
    all.sort();
    all
}

/// The oracle's reading of a label: only the forms made here, each spelt out.
pub(super) fn stands_for(column: usize, label: &str, value: &str) -> bool {
    if label == "*" {
        return true;
    }
    if gone(label) || gone(value) && column != 3 && label != "any" {
        return gone(label) && gone(value);
    }
    match column {
        0 => match label.strip_prefix('[') {
            None => {
                label.parse::<f64>().ok() == value.parse::<f64>().ok()
                    && label.parse::<f64>().is_ok()
            }
            Some(ends) => {
                let (lo, hi) = ends[..ends.len() - 1].split_once('-').unwrap();
                let (lo, hi): (u32, u32) = (lo.parse().unwrap(), hi.parse().unwrap());
                (lo..if ends.ends_with(']') { hi + 1 } else { hi })
                    .contains(&value.parse().unwrap())
            }
        },
        1 => {
            label.len() == value.len()
                && label.chars().zip(value.chars()).all(|(l, v)| l == '*' || l == v)
        }
        2 => label == value || label == "any" || JOBS.contains(&(value, label)),
        _ if label.starts_with('{') => {
            let inside = label[1..label.len() - 1].replace("\"dog,big\"", "dog-big");
            let value = value.replace("dog,big", "dog-big");
            inside.split(',').any(|member| member == value || (member == "\"\"" && gone(&value)))
        }
        _ => label == value || (gone(label) && gone(value)),
    }
}

/// Tries every way to give the released rows source rows of their own.
fn assignable(released: &[Vec<String>], source: &TestRows, used: &mut Vec<bool>) -> bool {
    let Some((row, rest)) = released.split_first() else { return true };
    (0..source.len()).any(|at| {
        let fits = !used[at]
            && row[QUASI..] == source[at][QUASI..]
            && (0..QUASI).all(|c| stands_for(c, &row[c], &source[at][c]));
        fits && {
            used[at] = true;
            let all = assignable(rest, source, used);
            used[at] = false;
            all
        }
    })
}

fn true_to(released: &TestRows, source: &TestRows) -> bool {
    released.len() <= source.len() && assignable(released, source, &mut vec![false; source.len()])
}

fn private(released: &TestRows) -> bool {
    let mut classes: BTreeMap<&[String], Vec<&str>> = BTreeMap::new();
    released.iter().for_each(|row| classes.entry(&row[..QUASI]).or_default().push(&row[4]));
    classes.values().all(|ills| {
        let most = ["flu", "hiv"]
            .iter()
            .map(|ill| ills.iter().filter(|other| other == &ill).count())
            .max()
            .unwrap();
        ills.len() >= 2 && 3 * most <= 2 * ills.len()
    })
}

pub(super) const MUTATIONS: usize = 13;

/// Spoils a release in one of many ways.
pub(super) fn mutate(seeded: &mut Seeded, kind: usize, released: &mut TestRows, source: &TestRows) {
    let row = seeded.below(released.len());
    let other = seeded.below(released.len());
    let column = seeded.below(QUASI);
    match kind {
        0 => {}
        1 => released[row][column] = source[seeded.below(source.len())][column].clone(),
        2 => {
            let lo = 20 + seeded.below(6);
            released[row][0] = format!("[{lo}-{}]", lo + seeded.below(3));
        }
        3 => {
            let cells = released[other][..QUASI].to_vec();
            released[row][..QUASI].clone_from_slice(&cells);
        }
        4 => drop(released.remove(row)),
        5 => released.push(released[row].clone()),
        6 => {
            let ill = released[other][4].clone();
            released[other][4] = std::mem::replace(&mut released[row][4], ill);
        }
        7 => released[row][5] = seeded.below(3).to_string(),
        8 => released[row][[0, 3][seeded.below(2)]] = String::new(),
        9 => released[row][column] = ["nobody", "199", "police", "{cow}"][column].to_string(),
        10 => {
            let cell = released[other][column].clone();
            released[other][column] = std::mem::replace(&mut released[row][column], cell);
        }
        11 => released[row][column] = "*".to_string(),
        _ => {
            // A whole class narrowed: still private, perhaps no longer true.
            let old = released[row][column].clone();
            let new = source[seeded.below(source.len())][column].clone();
            released
                .iter_mut()
                .filter(|row| row[column] == old)
                .for_each(|row| row[column].clone_from(&new));
        }
    }
}

pub(super) fn named(rows: &TestRows) -> Vec<Vec<String>> {
    std::iter::once(NAMES.iter().map(|name| (*name).to_string()).collect())
        .chain(rows.iter().cloned())
        .collect()
}

#[test]
fn the_audit_agrees_with_the_oracle_on_every_damaged_release() {
    let folder = tempfile::tempdir().unwrap();
    let mut seeded = Seeded(2024);
    let (strict, lenient) =
        (asked(folder.path(), ""), asked(folder.path(), "[limits]\nsuppress = \"20%\""));
    let mut rejected = [0; MUTATIONS];
    let mut untrue = [0; MUTATIONS];
    let mut held = 0;
    let mut undecided = 0;
    for round in 0..6500 {
        let kind = round % MUTATIONS;
        let rows = 4 + seeded.below(4);
        let originals = source(&mut seeded, rows);
        let mut released = release(&mut seeded, &originals);
        assert!(true_to(&released, &originals), "the oracle knows its own releases");
        mutate(&mut seeded, kind, &mut released, &originals);
        let request = if seeded.below(2) == 0 { &strict } else { &lenient };
        let allowed = originals.len() >= released.len()
            && (originals.len() == released.len()
                || (std::ptr::eq(request, &lenient)
                    && 5 * (originals.len() - released.len()) <= originals.len()));
        let (release, source) = (table_of(&named(&released)), table_of(&named(&originals)));
        let verdict = audit_against(&release, &source, request).unwrap();
        let truth = verdict.truth.as_ref().unwrap();
        let place = || format!("mutation {kind}\n{released:?}\n{originals:?}\n{verdict:?}");
        let is_true = true_to(&released, &originals);
        assert_eq!(truth.violations == 0 && truth.carried_unchanged, is_true, "{}", place());
        assert_eq!(truth.suppression_allowed, allowed, "{}", place());
        assert_eq!(
            verdict.rules.iter().all(|rule| rule.violations == 0),
            private(&released),
            "{}",
            place()
        );
        assert_eq!(verdict.holds(), is_true && allowed && private(&released), "{}", place());
        held += usize::from(verdict.holds());
        untrue[kind] += usize::from(!is_true);
        rejected[kind] += usize::from(!verdict.holds());
        // The index finds exactly what the list of all pairs finds.
        let by_index = CheckLimits { pairs: 0, ..LIMITS };
        let found = source_check::check(&release, &source, request, by_index).unwrap();
        assert_eq!(
            (found.rows_matched, found.violations, found.rows_undecided),
            (truth.rows_matched, truth.violations, 0),
            "{}",
            place()
        );
        assert_eq!(found.statements, truth.statements);
        // An ended search rejects nothing that is true, and says what it did not decide.
        let ended = CheckLimits { pairs: 0, steps: round as u64 % 40, steps_per_row: 0 };
        let found = source_check::check(&release, &source, request, ended).unwrap();
        assert!(found.violations <= truth.violations && found.rows_matched <= truth.rows_matched);
        assert_eq!(
            found.rows_matched + found.rows_undecided + found.violations,
            released.len() as u64
        );
        let said = |finding| found.statements.iter().any(|said| said.finding == finding);
        assert_eq!(said(super::super::Finding::Partly), found.rows_undecided > 0);
        undecided += usize::from(found.rows_undecided > 0);
    }
    assert!(undecided > 500, "{undecided}");
    assert!(held > 300, "{held}");
    assert_eq!(untrue[0], 0);
    assert!(
        (1..MUTATIONS).filter(|kind| ![4, 11].contains(kind)).all(|kind| untrue[kind] > 60),
        "{untrue:?}"
    );
    assert!((1..MUTATIONS).all(|kind| rejected[kind] > 200), "{rejected:?}");
}

#[test]
fn in_input_order_the_audit_agrees_with_a_comparison_of_each_row() {
    let folder = tempfile::tempdir().unwrap();
    let request = asked(folder.path(), "[output]\norder = \"input\"");
    let mut seeded = Seeded(31);
    let mut damaged = 0;
    for round in 0..1500 {
        let originals = source(&mut seeded, 6);
        let classes = [shown(&originals[..3], false), shown(&originals[3..], false)];
        let mut released: TestRows = originals
            .iter()
            .enumerate()
            .map(|(at, row)| classes[at / 3].iter().chain(&row[QUASI..]).cloned().collect())
            .collect();
        let kind = [0, 1, 2, 3, 6, 7, 8, 9, 10, 11, 12][round % 11];
        mutate(&mut seeded, kind, &mut released, &originals);
        let agrees = |(row, original): (&Vec<String>, &Vec<String>)| {
            row[QUASI..] == original[QUASI..]
                && (0..QUASI).all(|c| stands_for(c, &row[c], &original[c]))
        };
        let wrong = released.iter().zip(&originals).filter(|pair| !agrees(*pair)).count();
        let truth = source_check::check(
            &table_of(&named(&released)),
            &table_of(&named(&originals)),
            &request,
            LIMITS,
        )
        .unwrap();
        assert_eq!(truth.violations, wrong as u64, "mutation {kind}\n{released:?}\n{originals:?}");
        damaged += usize::from(wrong > 0);
    }
    assert!(damaged > 500, "{damaged}");
}
