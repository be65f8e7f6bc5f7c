//! Small releases written by hand, with the verdict they deserve.

use super::super::{AuditView, Method, measures, treatments, unguard};
use super::{audit, audit_against, audited, compared, request, table};
use crate::table::Treatment;

const ASKED: &str = "k = 2\n[columns]\nname = { role = \"identifier\" }\nage = { role = \"quasi\" \
    }\nzip = { role = \"quasi\", \
                     hierarchy = { prefix = [4, 3] } }\nill = { role = \"sensitive\", alpha = 0.5 \
                     }\nward = { role = \"keep\" }";
const SOURCE: [&str; 7] = [
    "name|age|zip|ill|ward",
    "ann|20|53711|flu|1",
    "bob|25|53712|hiv|1",
    "cid|31|53799|flu|2",
    "dan|39|53780|cough|2",
    "eve|31|53799|gout|3",
    "fay|20|53711|cough|3",
];
const RELEASE: [&str; 7] = [
    "age|zip|ill|ward",
    "[20-25]|5371*|flu|1",
    "[20-25]|5371*|hiv|1",
    "[20-25]|5371*|cough|3",
    "[31-39]|537**|flu|2",
    "[31-39]|537**|cough|2",
    "[31-39]|537**|gout|3",
];

#[test]
fn a_true_release_holds_and_is_measured() {
    let verdict = compared(&RELEASE, &SOURCE, ASKED);
    assert!(verdict.holds(), "{verdict:?}");
    let names: Vec<&str> = verdict.rules.iter().map(|rule| rule.rule.as_str()).collect();
    assert_eq!(names, ["k = 2 on age, zip", "alpha = 0.5 on ill"]);
    assert_eq!(
        (
            verdict.measures.rows,
            verdict.measures.classes,
            verdict.measures.k,
            verdict.measures.uniques
        ),
        (6, 2, 3, 0)
    );
    assert!((verdict.rules[1].worst - 1.0 / 3.0).abs() < 1e-12);
    let ill = &verdict.measures.sensitive[0];
    assert_eq!((ill.values, ill.distinct, ill.frequency, ill.t), (4, 3, 3, None));
    assert!((ill.entropy - 3.0).abs() < 1e-9 && (ill.t_equal - 1.0 / 6.0).abs() < 1e-12);
    let truth = verdict.truth.unwrap();
    assert_eq!((truth.rows_matched, truth.rows_undecided, truth.suppressed), (6, 0, 0));
    assert_eq!(truth.cells_checked, Method::ByMatching);
}

#[test]
fn a_verdict_becomes_json_without_any_value() {
    let mut release = RELEASE.to_vec();
    release[1] = "20|53711|hiv|1";
    let verdict = compared(&release, &SOURCE, ASKED);
    assert!(!verdict.holds());
    let json = serde_json::to_string(&verdict).unwrap();
    assert!(
        json.contains("\"by matching\"") && json.contains("\"text\":\"1 row, 2 needed\""),
        "{json}"
    );
    for value in ["hiv", "53711", "cough"] {
        assert!(!json.contains(value), "{json}");
    }
}

#[test]
fn small_classes_are_counted_named_and_banded() {
    let lines = ["age|ill", "1|a", "2|a", "1|b", "3|a", "2|b", "2|c", "4|x", "5|y", "6|z"];
    let asked = "k = 3\n[columns]\nage = { role = \"quasi\" }\nill = { role = \"sensitive\" }";
    let verdict = audited(&lines, asked);
    let rule = &verdict.rules[0];
    assert_eq!(
        (rule.violations, rule.rows, rule.worst, rule.measure),
        (5, 6, 1.0, "smallest class")
    );
    let examples: Vec<(u64, u64)> =
        rule.examples.iter().map(|class| (class.classes, class.size)).collect();
    assert_eq!(examples, [(4, 1), (1, 2)], "the worst first, those alike as one");
    let measured = measures(&table(&lines), &request(&asked["k = 3\n".len()..])).unwrap();
    let bands: Vec<(u64, Option<u64>, u64, u64)> =
        measured.histogram.iter().map(|b| (b.from, b.to, b.classes, b.rows)).collect();
    assert_eq!(bands, [(1, Some(1), 4, 4), (2, Some(2), 1, 2), (3, Some(4), 1, 3)]);
    assert_eq!((measured.uniques, measured.k, measured.risk.above), (4, 1, None));
    assert!((verdict.measures.risk.above.unwrap() - 6.0 / 9.0).abs() < 1e-12);
    assert!(
        (measured.risk.average - 6.0 / 9.0).abs() < 1e-12
            && (measured.risk.highest - 1.0).abs() < 1e-12
    );
}

/// Classes of 12, 4 and 3 rows; the first has 7 of one value, 3 of another and 2 of a third, the
/// second four values, the third one.
const UNEVEN: [&str; 20] = [
    "at|ill", "qA|sA", "qA|sA", "qA|sA", "qA|sA", "qA|sA", "qA|sA", "qA|sA", "qA|sB", "qA|sB",
    "qA|sB", "qA|sC", "qA|sC", "qB|sA", "qB|sB", "qB|sC", "qB|sD", "qC|sB", "qC|sB", "qC|sB",
];

#[test]
fn every_model_tells_its_failing_classes_by_size_and_share_and_leaves_out_those_that_hold() {
    let cases: [(&str, f64, &[&str]); 8] = [
        (
            "alpha = 0.5",
            0.5,
            &[
                "3 rows, the most frequent value has 100 % (3 of 3), 50 % allowed",
                "12 rows, the most frequent value has 58.33 % (7 of 12), 50 % allowed",
            ],
        ),
        (
            "alpha = 0.5, values = [\"sA\"]",
            0.5,
            &["12 rows, the named value has 58.33 % (7 of 12), 50 % allowed"],
        ),
        (
            "alpha = \"2/3\", values = [\"sA\", \"sC\"]",
            2.0 / 3.0,
            &["12 rows, the named values together have 75 % (9 of 12), 66.67 % allowed"],
        ),
        (
            "l = 2",
            2.0,
            &[
                "3 rows, the most frequent value has 100 % (3 of 3), 50 % allowed",
                "12 rows, the most frequent value has 58.33 % (7 of 12), 50 % allowed",
            ],
        ),
        (
            "distinct = 4",
            4.0,
            &["3 rows, 1 different value, 4 needed", "12 rows, 3 different values, 4 needed"],
        ),
        (
            "entropy = 2.7",
            2.7,
            &[
                "3 rows, an effective number of 1 values, 2.7 needed; the most frequent value has \
                 100 % (3 of 3)",
                "12 rows, an effective number of 2.6107 values, 2.7 needed; the most frequent \
                 value has 58.33 % (7 of 12)",
            ],
        ),
        (
            "recursive = { c = 2, l = 3 }",
            2.0,
            &[
                "3 rows, the most frequent value has 100 % (3 of 3), those from rank 3 on \
                 together 0 % (0 of 3): the ratio is unbounded, below 2 needed",
                "12 rows, the most frequent value has 58.33 % (7 of 12), those from rank 3 on \
                 together 16.67 % (2 of 12): the ratio is 3.5, below 2 needed",
            ],
        ),
        ("t = 0.3", 0.3, &["3 rows, the distance is 0.6316, 0.3 allowed"]),
    ];
    for (rule, limit, expected) in cases {
        let asked = format!(
            "[columns]\nat = {{ role = \"quasi\" }}\nill = {{ role = \"sensitive\", {rule} }}"
        );
        let verdict = audited(&UNEVEN, &asked);
        let [found] = &verdict.rules[..] else { panic!("one rule") };
        let texts: Vec<&str> = found.examples.iter().map(|class| class.text.as_str()).collect();
        assert_eq!(texts, expected, "{rule}");
        assert_eq!((found.violations, found.limit), (expected.len() as u64, limit), "{rule}");
        let json = serde_json::to_string(&verdict).unwrap();
        assert!(
            ["sA", "sB", "sC", "sD", "qA", "qB", "qC"].iter().all(|value| !json.contains(value)),
            "{json}"
        );
        let class = serde_json::to_value(&found.examples[0]).unwrap();
        let keys: Vec<&String> = class.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["classes", "count", "measure", "size", "tail", "text"]);
    }
}

#[test]
fn the_worst_failing_classes_do_not_depend_on_the_order_of_the_rows() {
    let mut lines: Vec<&str> = UNEVEN[1..].to_vec();
    let asked = "k = 13\n[columns]\nat = { role = \"quasi\" }\nill = { role = \"sensitive\", \
        recursive = { c = 0.1, l = 1 } }";
    let texts_of = |lines: &[&str]| {
        let verdict = audited(&[&UNEVEN[..1], lines].concat(), asked);
        verdict
            .rules
            .iter()
            .flat_map(|rule| rule.examples.iter().map(|class| class.text.clone()))
            .collect::<Vec<_>>()
    };
    let before = texts_of(&lines);
    assert_eq!(before.len(), 6);
    lines.reverse();
    assert_eq!(texts_of(&lines), before);
}

#[test]
fn a_rule_on_some_columns_counts_classes_of_these_alone() {
    let lines = ["age|zip", "1|a", "1|b", "2|c", "2|d", "2|e"];
    let asked = "k = 1\n[columns]\nage = { role = \"quasi\" }\nzip = { role = \"quasi\" }\n\
        [[rules]]\nk = 3\ncolumns = [\"age\"]";
    let verdict = audited(&lines, asked);
    let [_, on_age] = &verdict.rules[..] else { panic!("two rules") };
    assert_eq!((on_age.violations, on_age.rows, on_age.worst), (1, 2, 2.0));
    assert_eq!(on_age.rule, "k = 3 on age");
    assert_eq!(verdict.measures.classes, 5, "the measures are about all quasi-identifiers");
}

#[test]
fn columns_that_should_not_be_there_are_leaks_and_missing_ones_are_errors() {
    let with = |name: &str, config_text: &str| {
        let release: Vec<String> = RELEASE
            .iter()
            .enumerate()
            .map(|(i, line)| format!("{line}|{}", if i == 0 { name } else { "x" }))
            .collect();
        audit(&table(&release), &request(config_text))
    };
    let leaky = with("name", ASKED).unwrap();
    assert!(!leaky.holds() && leaky.leaks == ["identifier `name` is in the release"]);
    let dropped = format!("rest = \"drop\"\n{ASKED}");
    assert_eq!(with("other", &dropped).unwrap().leaks.len(), 1);
    assert!(with("other", &format!("rest = \"keep\"\n{ASKED}")).unwrap().holds());
    assert!(with("other", ASKED).unwrap_err().to_string().starts_with("no role for `other`"));
    for name in ["age", "ill"] {
        let renamed: Vec<String> =
            RELEASE.iter().map(|line| line.replace(name, "renamed")).collect();
        let error = audit(&table(&renamed), &request(&dropped)).unwrap_err().to_string();
        assert!(error.starts_with(&format!("the release has no column `{name}`")), "{error}");
    }
    let error = audit(&table(&RELEASE[..1]), &request(ASKED)).unwrap_err().to_string();
    assert!(error.contains("no rows"), "{error}");
}

#[test]
fn a_kept_column_must_be_the_sources_own() {
    let kept = format!("rest = \"keep\"\n{ASKED}");
    let with = |lines: &[&str], name: &str| -> Vec<String> {
        lines
            .iter()
            .enumerate()
            .map(|(i, line)| format!("{line}|{}", if i == 0 { name } else { "x" }))
            .collect()
    };
    let (release, source) = (with(&RELEASE, "extra"), with(&SOURCE, "extra"));
    assert!(audit_against(&table(&release), &table(&source), &request(&kept)).unwrap().holds());
    let added = audit_against(&table(&release), &table(&SOURCE), &request(&kept)).unwrap();
    assert!(!added.holds() && !added.truth.unwrap().carried_unchanged);
    let lost = audit_against(&table(&RELEASE), &table(&source), &request(&kept)).unwrap();
    assert!(!lost.holds() && !lost.truth.unwrap().carried_unchanged);
}

#[test]
fn bounds_are_one_quasi_identifier() {
    let asked = "k = 2\n[columns]\nage = { role = \"quasi\" }\nill = { role = \"sensitive\" }";
    let source = ["age|ill", "20|a", "25|b", "30|c", "|d", "|e", "|f"];
    let release = [
        "age_min|age_max|age_missing|ill",
        "20|25|no|a",
        "20|25|no|b",
        "||maybe|c",
        "||maybe|d",
        "||yes|e",
        "||yes|f",
    ];
    let verdict = compared(&release, &source, asked);
    assert!(verdict.holds() && verdict.measures.classes == 3, "{verdict:?}");
    assert_eq!(verdict.rules[0].rule, "k = 2 on age");
    for (row, line) in
        [(1, "21|25|no|a"), (3, "||yes|c"), (5, "20|30|no|e"), (2, "20|24|no|b"), (6, "||no|f")]
    {
        let mut damaged = release.to_vec();
        damaged[row] = line;
        assert_eq!(compared(&damaged, &source, asked).truth.unwrap().violations, 1, "{line}");
    }
    let halved: Vec<String> = release.iter().map(|line| line.replace("age_max", "other")).collect();
    assert!(
        audit(&table(&halved), &request(asked))
            .unwrap_err()
            .to_string()
            .contains("no column `age`")
    );
    // A unique bound makes a class of its own even where the other bound agrees.
    let mut unique = release.to_vec();
    unique[1] = "19|25|no|a";
    assert_eq!(audited(&unique, asked).rules[0].violations, 2);
}

#[test]
fn left_out_rows_are_counted_against_the_limit() {
    let verdict = compared(&RELEASE[..6], &SOURCE, ASKED);
    let truth = verdict.truth.as_ref().unwrap();
    assert!(
        !verdict.holds()
            && truth.violations == 0
            && truth.suppressed == 1
            && !truth.suppression_allowed
    );
    for (share, allowed) in [("1/6", true), ("16%", false), ("17%", true)] {
        let asked = format!("{ASKED}\n[limits]\nsuppress = \"{share}\"");
        assert_eq!(compared(&RELEASE[..6], &SOURCE, &asked).holds(), allowed, "{share}");
    }
    let mut more = RELEASE.to_vec();
    more.push(RELEASE[6]);
    let truth = compared(&more, &SOURCE, ASKED).truth.unwrap();
    assert!(truth.violations == 1 && !truth.carried_unchanged && !truth.suppression_allowed);
}

#[test]
fn in_input_order_rows_are_compared_one_by_one() {
    let asked = format!("{ASKED}\n[output]\norder = \"input\"");
    let ordered =
        [RELEASE[0], RELEASE[1], RELEASE[2], RELEASE[4], RELEASE[5], RELEASE[6], RELEASE[3]];
    let verdict = compared(&ordered, &SOURCE, &asked);
    assert!(verdict.holds(), "{verdict:?}");
    assert_eq!(verdict.truth.unwrap().cells_checked, Method::CellByCell);
    // The same rows in another order are true as a set, and false row by row.
    let truth = compared(&RELEASE, &SOURCE, &asked).truth.unwrap();
    assert!(truth.violations == 4 && !truth.carried_unchanged);
    assert!(compared(&RELEASE, &SOURCE, ASKED).holds());
}

#[test]
fn a_match_must_give_every_row_its_own_source_row() {
    let asked = "k = 1\n[columns]\nage = { role = \"quasi\" }\nill = { role = \"sensitive\" }";
    let source = ["age|ill", "1|a", "2|a", "3|a"];
    assert!(compared(&["age|ill", "[1-2]|a", "[1-2]|a", "[1-3]|a"], &source, asked).holds());
    // Each row covers some source row, and each source row is covered, but three rows share two.
    let truth =
        compared(&["age|ill", "[1-2]|a", "[1-2]|a", "[1-2]|a"], &source, asked).truth.unwrap();
    assert_eq!((truth.rows_matched, truth.violations), (2, 1));
    assert!(!compared(&["age|ill", "1|a", "1|a", "[1-3]|a"], &source, asked).holds());
}

#[test]
fn a_number_may_be_spelt_differently_only_between_typed_files() {
    let asked = "k = 1\n[columns]\nage = { role = \"quasi\" }\nward = { role = \"keep\" }";
    let (release, source) =
        (table(&["age|ward", "1|5", "2|007"]), table(&["age|ward", "1|5.0", "2|7"]));
    assert!(!audit_against(&release, &source, &request(asked)).unwrap().holds());
    let mut typed = source;
    typed.columns_mut()[1].data_type = arrow_schema::DataType::Float64;
    assert!(audit_against(&release, &typed, &request(asked)).unwrap().holds());
}

#[test]
fn guards_and_spellings_of_missing_are_no_change() {
    let asked = "k = 1\nmissing = [\"?\"]\n[columns]\nage = { role = \"quasi\" }\n\"=w\" = { role \
        = \"keep\" }";
    let holds = |release: &[&str]| {
        let mut release = table(release);
        unguard(&mut release);
        audit_against(&release, &table(&["age|=w", "|=a+b", "@x|'=c"]), &request(asked))
            .unwrap()
            .holds()
    };
    assert!(holds(&["age|'=w", "?|'=a+b", "'@x|''=c"]));
    assert!(!holds(&["age|'=w", "?|'=a+c", "'@x|''=c"]));
    assert!(
        !holds(&["age|'=w", "?|'=a+b", "'@x|'=c"]),
        "the source's own apostrophe is part of its cell"
    );
    assert!(holds(&["age|=w", "|=a+b", "@x|'=c"]), "a bare formula says that nothing was guarded");
}

#[test]
fn columns_that_the_audit_needs_are_coded_and_none_is_skipped() {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_string()).collect::<Vec<_>>();
    let asked = request(&format!("rest = \"drop\"\n{ASKED}"));
    let release = names(&["age_min", "age_max", "zip", "ill", "ward", "name", "new"]);
    use Treatment::{Code, Compare, PassThrough, Skip};
    assert_eq!(
        treatments(&release, &asked, AuditView::Release),
        [Code, Code, Code, Code, PassThrough, PassThrough, PassThrough]
    );
    assert_eq!(
        treatments(&release, &asked, AuditView::ReleaseAgainstSource),
        [Code, Code, Code, Code, Compare, Compare, Compare]
    );
    assert_eq!(
        treatments(&names(&["age", "name", "new", "ward"]), &asked, AuditView::Source),
        [Code, Skip, Skip, Compare]
    );
    let guarded = request("k = 2\n[columns]\n\"=a\" = { role = \"quasi\" }");
    assert_eq!(
        treatments(&names(&["'=a", "b"]), &guarded, AuditView::Release),
        [Code, PassThrough]
    );
    assert_eq!(
        treatments(&names(&["'=a_min", "'=a_max"]), &guarded, AuditView::Release),
        [Code, Code]
    );
}

#[test]
fn large_groups_are_matched_in_full() {
    // Twenty thousand classes with one passed-through column of four values: each group has
    // thousands of boxes and tuples.
    let mut seeded = super::Seeded(2);
    let mut source = vec!["a|b|c|ill".to_string()];
    let mut release = source.clone();
    for class in 0..20_000 {
        let (a, b, c) = (class % 100, class / 100 % 20, class / 2000);
        release.extend((0..3).map(|row| {
            format!("[{}-{}]|[{b}-{}]|{c}|{}", a * 3, a * 3 + 2, b + 1, (class + row) % 4)
        }));
        for row in 0..3 {
            source.push(format!(
                "{}|{}|{c}|{}",
                a * 3 + seeded.below(3),
                b + seeded.below(2),
                (class + row) % 4
            ));
        }
    }
    let asked = request(
        "k = 3\n[columns]\na = { role = \"quasi\" }\nb = { role = \"quasi\" }\nc = { role = \
         \"quasi\" }\nill = { role = \"sensitive\" }",
    );
    let (release, source) = (table(&release), table(&source));
    let verdict = audit_against(&release, &source, &asked).unwrap();
    assert!(verdict.holds());
    let truth = verdict.truth.unwrap();
    assert_eq!((truth.rows_matched, truth.rows_undecided), (60_000, 0), "{:?}", truth.statements);
}
