//! Each rule on a few rows, with the numbers that follow from its definition.

use super::super::super::{
    CountUnit, Origin, RuleVerdict, Verdict, audit, audit_against, audit_along, audit_persons,
    audit_plan, audit_rings, audit_table, measures,
};
use super::super::{request, table};
use crate::request::{Persons, Request};

fn origins(rows: u32) -> Vec<Origin> {
    (0..rows).map(|at| Origin { released: at, source: at, count: 1 }).collect()
}

/// Four patients in one class: A (flu, flu, gout), B (flu), C (gout), D (none, a missing cell).
const ONE_CLASS: [&str; 7] =
    ["id|age|dis", "A|20|flu", "A|20|flu", "A|21|gout", "B|22|flu", "C|23|gout", "D|24|"];

/// The verdict on [`ONE_CLASS`], all of it published as one class.
fn one_class(reading: &str, rule: &str) -> RuleVerdict {
    let text = format!(
        "k = 4\npersons = '{reading}'\n[columns]\nid = {{ role = 'person' }}\nage = {{ role = \
         'quasi' }}\ndis = {{ role = 'sensitive', {rule} }}"
    );
    let request = request(&text);
    let released: Vec<String> = std::iter::once("age|dis".to_string())
        .chain(
            ONE_CLASS[1..].iter().map(|row| format!("[20-24]|{}", row.split('|').nth(2).unwrap())),
        )
        .collect();
    let verdict =
        audit_persons(&table(&released), &table(&ONE_CLASS), &request, &origins(6)).unwrap();
    assert!(verdict.truth.as_ref().unwrap().holds(), "{:?}", verdict.truth);
    let k = &verdict.rules[0];
    assert_eq!(
        (k.rule.as_str(), k.worst, k.unit),
        ("k = 4 persons on age", 4.0, CountUnit::Persons)
    );
    verdict.rules.into_iter().nth(1).unwrap()
}

fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-6, "{found} is not {expected}");
}

#[test]
fn whole_persons_have_every_value_of_their_rows() {
    // flu: A and B; gout: A and C; missing: D. n = 4.
    let alpha = one_class("whole", "alpha = 0.5");
    assert_eq!(alpha.rule, "alpha = 0.5 on dis, counting persons");
    assert_eq!((alpha.worst, alpha.violations), (0.5, 0)); // 2 of 4
    let alpha = one_class("whole", "alpha = 0.49");
    assert_eq!((alpha.violations, alpha.rows), (1, 4));
    assert_eq!(
        alpha.examples[0].text,
        "4 persons, the most frequent value has 50 % (2 of 4), 49 % allowed"
    );
    // A, B and C have flu or gout: 3 of 4, and not 2 + 2.
    let named = one_class("whole", "alpha = 0.75, values = ['flu', 'gout']");
    assert_eq!((named.worst, named.violations), (0.75, 0));
    assert_eq!(one_class("whole", "l = 2").violations, 0); // 2 <= 4 / 2
    assert_eq!(one_class("whole", "l = 3").violations, 1); // 2 > 4 / 3
    // 2 < 4, but 2 + 2 = 4: flu and gout could be those of all four.
    assert_eq!(one_class("whole", "distinct = 2").violations, 0);
    let distinct = one_class("whole", "distinct = 3");
    assert_eq!((distinct.violations, distinct.worst), (1, 2.0));
    // c_1 = 2 < c (4 - 2) for c above 1.
    assert_eq!(one_class("whole", "recursive = { c = 1, l = 2 }").violations, 1);
    assert_eq!(one_class("whole", "recursive = { c = 1.1, l = 2 }").violations, 0);
    // l = 3: 4 - 2 - 2 = 0, and nothing is below 0.
    assert_eq!(one_class("whole", "recursive = { c = 1000, l = 3 }").violations, 1);
    // Parts: flu 1/2 + 1, gout 1/2 + 1, missing 1, of 4: 3/8, 3/8, 1/4.
    let entropy = -(2.0 * 0.375 * 0.375f64.ln() + 0.25 * 0.25f64.ln());
    near(one_class("whole", "entropy = 2.9").worst, entropy.exp());
    near(one_class("whole", "t = 0").worst, 0.0); // the class is the table
}

#[test]
fn rows_weigh_one_over_the_rows_of_their_person() {
    // A row of A weighs 1/3, the others 1: flu 2/3 + 1, gout 1/3 + 1, missing 1, of 4.
    let alpha = one_class("rows", "alpha = 0.41");
    assert_eq!(alpha.rule, "alpha = 0.41 on dis, rows weighted by person");
    near(alpha.worst, 5.0 / 12.0);
    assert_eq!(
        alpha.examples[0].text,
        "4 persons, the most frequent value has 41.67 %, 41 % allowed"
    );
    assert_eq!(alpha.examples[0].count, None, "weights are no number of persons");
    let named = one_class("rows", "alpha = 0.75, values = ['flu', 'gout']");
    assert_eq!((named.worst, named.violations), (0.75, 0));
    near(one_class("rows", "l = 2").worst, 12.0 / 5.0);
    assert_eq!(one_class("rows", "distinct = 3").violations, 0);
    // 5/3 < c (4 - 5/3): c above 5/7.
    assert_eq!(one_class("rows", "recursive = { c = 0.71, l = 2 }").violations, 1);
    assert_eq!(one_class("rows", "recursive = { c = 0.72, l = 2 }").violations, 0);
    let parts = [5.0 / 12.0, 4.0 / 12.0, 3.0 / 12.0f64];
    let entropy = -parts.iter().map(|part| part * part.ln()).sum::<f64>();
    near(one_class("rows", "entropy = 2.9").worst, entropy.exp());
}

/// Two classes: A (1, 1, 3) and B (2) in one; C (3) and D (3) in the other.
fn two_classes(keys: &str, reading: &str) -> f64 {
    let source = ["id|age|x", "A|20|1", "A|20|1", "A|20|3", "B|21|2", "C|40|3", "D|41|3"];
    let release =
        ["age|x", "[20-21]|1", "[20-21]|1", "[20-21]|3", "[20-21]|2", "[40-41]|3", "[40-41]|3"];
    let text = format!(
        "k = 2\npersons = '{reading}'\n[columns]\nid = {{ role = 'person' }}\nage = {{ role = \
         'quasi' }}\nx = {{ role = 'sensitive', t = 1, {keys} }}"
    );
    let verdict =
        audit_persons(&table(&release), &table(&source), &request(&text), &origins(6)).unwrap();
    assert!(verdict.holds(), "{verdict:?}");
    verdict.rules[1].worst
}

#[test]
fn the_distances_compare_parts_of_persons() {
    // Whole. Table: 1 has 1/2, 2 has 1, 3 has 1/2 + 2, of 4. First class: 1/2, 1, 1/2 of 2.
    // Shares 1/8, 1/4, 5/8 against 1/4, 1/2, 1/4 and 0, 0, 1: both differ by 3/8.
    near(two_classes("distance = 'equal'", "whole"), 0.375);
    // Ordered, steps of 1/2: |1/8| + |1/8 + 1/4| = 1/2 of 2 steps.
    near(two_classes("distance = 'ordered'", "whole"), 0.25);
    // Rows. Table: 1 has 2/3, 2 has 1, 3 has 1/3 + 2. Class one: 2/3, 1, 1/3 of 2.
    // 1/6, 1/4, 7/12 against 1/3, 1/2, 1/6: the surplus is 1/6 + 1/4.
    near(two_classes("distance = 'equal'", "rows"), 5.0 / 12.0);
    near(two_classes("distance = 'ordered'", "rows"), (1.0 / 6.0 + 5.0 / 12.0) / 2.0);
}

/// 400 patients with five visits each, published as they are.
#[test]
fn five_visits_of_one_patient_are_one_person() {
    let mut source = vec!["patient|age|zip".to_string()];
    let mut release = vec!["age|zip".to_string()];
    for row in 0..2000 {
        let patient = row / 5;
        source.push(format!("p{patient}|{}|{}", 18 + patient % 60, 20_000 + patient));
        release.push(format!("{}|{}", 18 + patient % 60, 20_000 + patient));
    }
    let rows = "k = 5\ncolumns.age.role = 'quasi'\ncolumns.zip.role = 'quasi'";
    assert!(audit(&table(&release), &request(rows)).unwrap().holds());
    let persons = request(&format!("{rows}\ncolumns.patient.role = 'person'"));
    let verdict =
        audit_persons(&table(&release), &table(&source), &persons, &origins(2000)).unwrap();
    assert!(!verdict.holds());
    let rule = &verdict.rules[0];
    assert_eq!((rule.violations, rule.rows, rule.worst), (400, 400, 1.0));
    assert_eq!(rule.examples[0].text, "1 person, 5 needed");
    let found = &verdict.measures;
    assert_eq!((found.rows, found.persons, found.k, found.uniques), (2000, Some(400), 1, 400));
    assert_eq!((found.risk.highest, found.uniques_share), (1.0, 1.0));
    let as_it_is = audit_table(&table(&source), &persons).unwrap();
    assert_eq!((as_it_is.rules[0].violations, as_it_is.leaks.len()), (400, 0));
    assert_eq!(measures(&table(&source), &persons).unwrap().k, 1);
}

#[test]
fn a_person_in_several_classes_counts_by_the_smallest() {
    let source = ["id|age", "A|1", "A|2", "B|2", "C|2", "C|2"];
    let request = request("columns.age.role = 'quasi'\ncolumns.id.role = 'person'");
    let found = measures(&table(&source), &request).unwrap();
    // Classes of one and of three persons; A is alone in the first.
    assert_eq!((found.k, found.classes, found.uniques, found.persons), (1, 2, 1, Some(3)));
    near(found.risk.average, (1.0 + 1.0 / 3.0 + 1.0 / 3.0) / 3.0);
    let bands: Vec<(u64, u64, u64)> =
        found.histogram.iter().map(|band| (band.from, band.classes, band.rows)).collect();
    assert_eq!(bands, [(1, 1, 1), (3, 1, 2)]);
    let verdict = audit_table(&table(&source), &Request { k: Some(1), ..request.clone() }).unwrap();
    let persons = verdict.persons.unwrap();
    assert_eq!((persons.reading, persons.split), (Persons::Rows, 1));
    let whole = Request { k: Some(1), persons: Some(Persons::Whole), ..request };
    assert!(!audit_table(&table(&source), &whole).unwrap().holds());
}

#[test]
fn a_count_makes_rows_and_no_persons() {
    let text = "k = 2\ncount = 'n'\ncolumns.age.role = 'quasi'\ncolumns.id.role = 'person'";
    let source = ["id|age|n", "A|20|3", "B|21|1", "A|21|1"];
    let release = ["age|n", "[20-21]|5"];
    let of = |source, count| Origin { released: 0, source, count };
    let check = |origins: &[Origin]| -> Verdict {
        audit_persons(&table(&release), &table(&source), &request(text), origins).unwrap()
    };
    let verdict = check(&[of(0, 3), of(1, 1), of(2, 1)]);
    assert!(verdict.holds() && verdict.measures.k == 2 && verdict.measures.rows == 5);
    assert!(!check(&[of(0, 4), of(1, 1)]).holds(), "the first row has three");
    assert!(!check(&[of(0, 3), of(1, 1)]).holds(), "five are released");
    // A source row in two origins of one released row is used twice over.
    assert!(!check(&[of(0, 2), of(0, 1), of(1, 1), of(2, 2)]).holds());
    assert!(check(&[of(0, 2), of(0, 1), of(1, 1), of(2, 1)]).holds());
}

#[test]
fn whole_persons_are_suppressed_by_persons_and_rows_by_rows() {
    // A has six rows, B, C and D one each; A is not released: 1 of 4 persons, 6 of 9 rows.
    let mut source = vec!["id|age".to_string()];
    source.extend((0..6).map(|_| "A|90".to_string()));
    source.extend(["B|20", "C|20", "D|20"].map(String::from));
    let release = ["age", "20", "20", "20"];
    let origins: Vec<Origin> =
        (0..3).map(|at| Origin { released: at, source: at + 6, count: 1 }).collect();
    let check = |share: &str, reading: &str| {
        let text = format!(
            "k = 3\npersons = '{reading}'\nlimits.suppress = '{share}'\ncolumns.age.role = \
             'quasi'\ncolumns.id.role = 'person'"
        );
        audit_persons(&table(&release), &table(&source), &request(&text), &origins).unwrap()
    };
    let whole = check("25%", "whole");
    assert!(whole.holds(), "{whole:?}");
    let said = &whole.truth.as_ref().unwrap().statements[0].text;
    assert!(
        said.starts_with("1 of 4 persons were suppressed with all their rows (6 rows)"),
        "{said}"
    );
    assert!(!check("24%", "whole").holds());
    assert!(check("67%", "rows").holds() && !check("66%", "rows").holds());
    let found = whole.persons.unwrap();
    assert_eq!((found.released, found.source), (3, Some(4)));
    assert!(found.meaning.contains("at least 3 persons"), "{}", found.meaning);
}

#[test]
fn without_origins_and_pseudonyms_persons_cannot_be_counted() {
    let request = request("k = 2\ncolumns.age.role = 'quasi'\ncolumns.id.role = 'person'");
    let (release, source) = (table(&["age", "20", "20"]), table(&["id|age", "A|20", "B|20"]));
    for error in [
        audit(&release, &request).unwrap_err(),
        audit_against(&release, &source, &request).unwrap_err(),
        audit_table(&release, &request).unwrap_err(),
        measures(&release, &request).unwrap_err(),
    ] {
        assert_eq!(error.code(), "persons-need-proof", "{error}");
    }
    assert!(audit_along(&release, &source, &request, &[0, 1]).unwrap().holds());
    assert!(!audit_along(&release, &source, &request, &[0, 0]).unwrap().holds());
    for error in [
        audit_rings(&release, &source, &request, None).unwrap_err(),
        audit_plan(&release, &source, &request).unwrap_err(),
        audit_persons(&release, &source, &super::super::request("k = 2"), &[]).unwrap_err(),
        audit(&release, &super::super::request("k = 2\npersons = 'rows'")).unwrap_err(),
        audit(&release, &request.clone().persons(Persons::Rows).pseudonyms()).unwrap_err(),
    ] {
        assert_eq!(error.code(), "bad-persons", "{error}");
    }
    let nobody = table(&["id|age", "A|20", "|20"]);
    let error = audit_persons(&release, &nobody, &request, &origins(2)).unwrap_err();
    assert_eq!((error.code(), error.place().row), ("no-person", Some(2)));
}

#[test]
fn pseudonyms_alone_count_persons_and_say_what_was_not_checked() {
    let request = request(
        "k = 2\noutput.pseudonyms = true\ncolumns.age.role = 'quasi'\ncolumns.id.role = 'person'",
    );
    let release = ["id|age", "71|[20-30]", "71|[20-30]", "9|[20-30]"];
    let source = ["id|age", "A|20", "A|30", "B|25"];
    let verdict = audit(&table(&release), &request).unwrap();
    assert!(verdict.holds() && verdict.measures.k == 2 && verdict.measures.rows == 3);
    assert_eq!(verdict.persons.unwrap().source, None);
    let against = audit_against(&table(&release), &table(&source), &request).unwrap();
    assert!(against.holds(), "{against:?}");
    let said = &against.persons.unwrap().statements[1].text;
    assert!(said.contains("that each is one person was not checked"), "{said}");
    // Three pseudonyms for two persons: no person of the source has this number of rows.
    let torn = ["id|age", "71|[20-30]", "70|[20-30]", "9|[20-30]"];
    assert!(!audit_against(&table(&torn), &table(&source), &request).unwrap().holds());
    // A person in two classes can be followed from one to the other.
    let split = ["id|age", "71|[20-25]", "71|[26-30]", "9|[20-25]", "8|[26-30]"];
    let verdict = audit(&table(&split), &request).unwrap();
    assert!(!verdict.holds() && verdict.rules[0].violations == 0);
    assert_eq!(verdict.persons.unwrap().split, 1);
    let lacking = audit(&table(&["age", "20"]), &request).unwrap_err();
    assert_eq!(lacking.code(), "table-lacks-column");
}
