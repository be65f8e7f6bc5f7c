//! Tables with a count column: the same verdict as for the table with each row written out, and
//! every fault in the counts.

use std::collections::BTreeMap;

use super::super::{
    AuditView, SourceCheck, Verdict, audit, audit_against, audit_along, audit_rings, measures,
    treatments,
};
use super::mutations::{MUTATIONS, NAMES, TestRows, asked, mutate, release, source};
use super::{Request, Seeded, request, table, table_of};
use crate::table::Treatment;

/// The rows with a count each: equal rows together, or now and then cut in two.
fn grouped(seeded: &mut Seeded, rows: &TestRows) -> Vec<Vec<String>> {
    let mut groups: BTreeMap<&Vec<String>, usize> = BTreeMap::new();
    rows.iter().for_each(|row| *groups.entry(row).or_default() += 1);
    let mut all = Vec::new();
    for (row, count) in groups {
        let first = if count > 1 && seeded.below(4) == 0 { 1 } else { count };
        for part in [first, count - first].into_iter().filter(|&part| part > 0) {
            all.push(row.iter().cloned().chain([part.to_string()]).collect());
        }
    }
    // In any order.
    for at in (1..all.len()).rev() {
        all.swap(at, seeded.below(at + 1));
    }
    all
}

fn named(rows: &[Vec<String>], count: bool) -> Vec<Vec<String>> {
    let names = NAMES.iter().copied().chain(count.then_some("n")).map(String::from).collect();
    std::iter::once(names).chain(rows.iter().cloned()).collect()
}

#[track_caller]
fn assert_alike(single: &Verdict, counted: &Verdict) {
    let (a, b) = (&single.measures, &counted.measures);
    assert_eq!((a.rows, a.classes, a.k, a.uniques), (b.rows, b.classes, b.k, b.uniques));
    assert_eq!(a.histogram, b.histogram);
    assert_eq!(a.risk.at_risk, b.risk.at_risk);
    let near = |a: f64, b: f64| (a.is_infinite() && b.is_infinite()) || (a - b).abs() < 1e-9;
    assert!(near(a.risk.highest, b.risk.highest) && near(a.risk.average, b.risk.average));
    assert_eq!(a.risk.above, b.risk.above);
    assert!(near(a.uniques_share, b.uniques_share));
    for (a, b) in a.sensitive.iter().zip(&b.sensitive) {
        assert_eq!((a.values, a.distinct, a.frequency), (b.values, b.distinct, b.frequency));
        assert!(near(a.entropy, b.entropy) && near(a.alpha, b.alpha), "{a:?} {b:?}");
        assert!(near(a.t_equal, b.t_equal), "{a:?} {b:?}");
        assert_eq!(a.t.is_some(), b.t.is_some());
        assert!(a.t.zip(b.t).is_none_or(|(a, b)| near(a, b)), "{a:?} {b:?}");
    }
    assert_eq!(single.rules.len(), counted.rules.len());
    for (a, b) in single.rules.iter().zip(&counted.rules) {
        assert_eq!((&a.rule, a.violations, a.rows), (&b.rule, b.violations, b.rows));
        assert!(near(a.worst, b.worst), "{a:?} {b:?}");
        let texts = |rule: &super::super::RuleVerdict| {
            rule.examples.iter().map(|case| (case.classes, case.text.clone())).collect::<Vec<_>>()
        };
        assert_eq!(texts(a), texts(b));
    }
    match (&single.truth, &counted.truth) {
        (Some(a), Some(b)) => assert_same_truth(a, b),
        (a, b) => assert!(a.is_none() && b.is_none()),
    }
    assert_eq!(single.holds(), counted.holds());
}

#[track_caller]
fn assert_same_truth(a: &SourceCheck, b: &SourceCheck) {
    assert_eq!(
        (a.suppressed, a.suppression_allowed, a.rows_matched, a.violations, a.carried_unchanged),
        (b.suppressed, b.suppression_allowed, b.rows_matched, b.violations, b.carried_unchanged)
    );
    assert_eq!(a.statements, b.statements);
}

/// All rules at once, on columns with few values.
const RULES: [&str; 8] = [
    "alpha = 0.6",
    "alpha = 0.5, values = ['1', '2']",
    "l = 2",
    "distinct = 2",
    "entropy = 1.5",
    "recursive = { c = 2, l = 2 }",
    "t = 0.3, distance = 'equal'",
    "t = 0.3, distance = 'ordered'",
];

#[test]
fn every_rule_and_measure_counts_rows_by_their_counts() {
    let mut seeded = Seeded(17);
    let mut broken = [0; RULES.len() + 2];
    let mut held = [0; RULES.len() + 2];
    for round in 0..800 {
        let rule = round % RULES.len();
        let rows = 1 + seeded.below(30);
        let mut row = || {
            let cell = |n: usize| n.to_string();
            let zip = seeded.below(2);
            vec![cell(seeded.below(3)), cell(zip), cell(seeded.below(4))]
        };
        let rows: TestRows = (0..rows).map(|_| row()).collect();
        let text = format!(
            "k = 3\nrules = [{{ k = 6, columns = ['zip'] }}]\n[columns]\nage = {{ role = 'quasi' \
             }}\nzip = {{ role = 'quasi' }}\nill = {{ role = 'sensitive', {} }}",
            RULES[rule]
        );
        let header = |count: bool| {
            ["age", "zip", "ill"].into_iter().chain(count.then_some("n")).map(String::from)
        };
        let single: Vec<Vec<String>> =
            std::iter::once(header(false).collect()).chain(rows.iter().cloned()).collect();
        let counted: Vec<Vec<String>> =
            std::iter::once(header(true).collect()).chain(grouped(&mut seeded, &rows)).collect();
        let plain = request(&text);
        let with = Request { count: Some("n".into()), ..plain.clone() };
        let (single, counted) = (table_of(&single), table_of(&counted));
        let verdict = audit(&single, &plain).unwrap();
        assert_alike(&verdict, &audit(&counted, &with).unwrap());
        assert_eq!(measures(&counted, &with).unwrap().rows, rows.len() as u64);
        for (at, verdict) in verdict.rules.iter().enumerate() {
            let at = if at < 2 { at } else { rule + 2 };
            broken[at] += usize::from(verdict.violations > 0);
            held[at] += usize::from(verdict.violations == 0);
        }
    }
    assert!(broken.iter().all(|&n| n > 15) && held.iter().all(|&n| n > 3), "{broken:?} {held:?}");
}

#[test]
fn the_truth_of_counted_tables_is_that_of_the_rows_written_out() {
    let folder = tempfile::tempdir().unwrap();
    let (strict, lenient) =
        (asked(folder.path(), ""), asked(folder.path(), "[limits]\nsuppress = \"20%\""));
    let mut seeded = Seeded(170);
    let (mut held, mut untrue, mut merged) = (0, 0, 0);
    for round in 0..3900 {
        let kind = round % MUTATIONS;
        let rows = 4 + seeded.below(8);
        let mut originals = source(&mut seeded, rows);
        // Equal rows, so that counts have something to say.
        for _ in 0..rows / 2 {
            let (from, to) = (seeded.below(rows), seeded.below(rows));
            originals[to] = originals[from].clone();
        }
        let mut released = release(&mut seeded, &originals);
        mutate(&mut seeded, kind, &mut released, &originals);
        let plain = if seeded.below(2) == 0 { &strict } else { &lenient };
        let with = Request { count: Some("n".into()), ..plain.clone() };
        let of_single = |rows: &TestRows| table_of(&named(rows, false));
        let verdict = audit_against(&of_single(&released), &of_single(&originals), plain).unwrap();
        let counted_release = grouped(&mut seeded, &released);
        let counted_source = grouped(&mut seeded, &originals);
        merged += usize::from(counted_release.len() < counted_source.len());
        let counted = audit_against(
            &table_of(&named(&counted_release, true)),
            &table_of(&named(&counted_source, true)),
            &with,
        )
        .unwrap();
        assert_alike(&verdict, &counted);
        held += usize::from(verdict.holds());
        untrue += usize::from(verdict.truth.is_some_and(|truth| truth.violations > 0));
    }
    assert!(held > 100 && untrue > 800 && merged > 200, "{held} {untrue} {merged}");
}

const ASKED: &str = "k = 2\ncount = 'n'\n[columns]\nage = { role = 'quasi' }\nward = { role = \
                     'keep' }\n";
const SOURCE: [&str; 5] = ["age|n|ward", "34|2|a", "37|1|b", "51|3|a", "58|1|a"];
const RELEASE: [&str; 4] = ["age|n|ward", "[34-37]|2|a", "[34-37]|1|b", "[51-58]|4|a"];

#[test]
fn faults_in_the_counts_are_found() {
    let of = |release: &[&str]| {
        audit_against(&table(release), &table(&SOURCE), &request(ASKED)).unwrap()
    };
    let good = of(&RELEASE);
    assert!(good.holds() && good.measures.rows == 7 && good.measures.k == 3, "{good:?}");
    let with = |at: usize, row: &'static str| {
        let mut release = RELEASE;
        release[at] = row;
        of(&release).truth.unwrap()
    };
    // One too many, one too few, one shifted to another class, one to another ward.
    assert!(!with(1, "[34-37]|3|a").suppression_allowed);
    let few = with(3, "[51-58]|3|a");
    assert!(few.suppressed == 1 && !few.suppression_allowed && few.violations == 0);
    let mut shifted = RELEASE;
    (shifted[1], shifted[3]) = ("[34-37]|3|a", "[51-58]|3|a");
    let truth = of(&shifted).truth.unwrap();
    assert!(truth.suppressed == 0 && truth.violations == 1 && truth.carried_unchanged, "{truth:?}");
    let mut shifted = RELEASE;
    (shifted[1], shifted[2]) = ("[34-37]|1|a", "[34-37]|2|b");
    let truth = of(&shifted).truth.unwrap();
    assert!(truth.violations == 1 && !truth.carried_unchanged, "{truth:?}");
    // A class of one row that stands for one.
    let mut small = RELEASE;
    (small[1], small[2]) = ("[34-37]|1|a", "34|1|a");
    assert_eq!(of(&small).rules[0].violations, 2);
}

#[test]
fn a_count_column_is_read_in_every_view_and_has_no_role() {
    let request = request(&format!("{ASKED}[limits]\nsuppress = '10%'\n"));
    let names = ["age", "n", "ward"].map(String::from);
    for view in [AuditView::Release, AuditView::ReleaseAgainstSource, AuditView::Source] {
        assert_eq!(treatments(&names, &request, view)[1], Treatment::Code);
    }
    // Neither dropped nor kept with the rest, and no bound of a quasi-identifier.
    for rest in ["drop", "keep"] {
        let text = format!("rest = '{rest}'\n{}", ASKED.replace("'n'", "'age_min'"));
        let table = table(&["age|age_min|age_max|ward", "1|2|3|a", "1|1|4|a"]);
        let verdict = audit(&table, &super::request(&text)).unwrap();
        assert_eq!(verdict.measures.rows, 3);
        assert_eq!(verdict.leaks.len(), usize::from(rest == "drop"), "{:?}", verdict.leaks);
    }
}

#[test]
fn what_is_no_count_is_refused_with_column_and_row() {
    let refused = |release: &[&str], source: &[&str]| {
        let error = audit_against(&table(release), &table(source), &request(ASKED)).unwrap_err();
        error.to_string()
    };
    for cell in ["", "0", "-1", "1.5", "x", "?", "4294967296"] {
        let row = format!("[34-37]|{cell}|b");
        let mut release = RELEASE.to_vec();
        release[2] = &row;
        let error = refused(&release, &SOURCE);
        assert!(error.contains("row 2") && error.contains("`n`"), "{error}");
        assert!(cell.len() < 3 || !error.contains(cell), "{error}");
        let row = format!("37|{cell}|b");
        let mut source = SOURCE.to_vec();
        source[3] = &row;
        assert!(refused(&RELEASE, &source).contains("row 3"));
    }
    let mut release = RELEASE;
    release[1] = "[34-37]|4294967295|a";
    assert!(refused(&release, &SOURCE).contains("add up to more than 4,294,967,295"));
    assert!(refused(&["age|ward", "34|a"], &SOURCE).contains("no count column `n`"));
    assert!(refused(&RELEASE, &["age|ward", "34|a"]).contains("the source has no count column"));

    let (release, source) = (table(&RELEASE), table(&SOURCE));
    let error = audit_along(&release, &source, &request(ASKED), &[0, 1, 2]).unwrap_err();
    assert!(error.to_string().contains("origins are of single rows"), "{error}");
    assert!(audit_rings(&release, &source, &request(ASKED), None).is_err());
}
