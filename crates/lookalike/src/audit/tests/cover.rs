//! Every form of label, against every value it should and should not cover.

use super::super::cover::Cover;
use super::super::released_cell::ReleasedCell;
use super::{Seeded, coded, request};

/// Which of the values the label covers, one letter each: `y` or `n`.
fn covered(column: &str, values: &[&str], cell: ReleasedCell<'_>) -> String {
    let request =
        request(&format!("missing = [\"?\"]\n[columns]\nc = {{ role = \"quasi\"{column} }}"));
    let cover = Cover::new(
        &coded(values.iter().copied()),
        &[cell],
        &request.columns["c"],
        &request.missing,
    )
    .unwrap();
    (0..).zip(values).map(|(value, _)| if cover.covers(0, value) { 'y' } else { 'n' }).collect()
}

#[track_caller]
fn check(column: &str, values: &[&str], labels: &[(&str, &str)]) {
    for (label, expected) in labels {
        let cell = ReleasedCell::Label(Some(label).filter(|label| !label.is_empty()).copied());
        assert_eq!(covered(column, values, cell), *expected, "label `{label}` on {values:?}");
    }
}

#[test]
fn numbers_are_covered_by_intervals() {
    check(
        "",
        &["20", "25.5", "30", "-3", "", "?"],
        &[
            ("20", "ynnnnn"),
            ("20.0", "ynnnnn"),
            ("21", "nnnnnn"),
            ("[20-30]", "yyynnn"),
            ("[20-30)", "yynnnn"),
            ("[20 .. 30]", "yyynnn"),
            ("[25.5-30]", "nyynnn"),
            ("[25.6-30]", "nnynnn"),
            ("[-3 .. 20]", "ynnynn"),
            ("[-3 .. 20)", "nnnynn"),
            ("<20", "nnnynn"),
            ("<25.5", "ynnynn"),
            (">=25.5", "nyynnn"),
            ("[30-20]", "nnnnnn"),
            ("[20-]", "nnnnnn"),
            ("[20-30", "nnnnnn"),
            ("20-30", "nnnnnn"),
            ("(20-30]", "nnnnnn"),
            ("*", "yyyyyy"),
            ("", "nnnnyy"),
            ("?", "nnnnyy"),
            ("{20,30}", "ynynnn"),
            ("{20.0,\"\"}", "ynnnyy"),
            ("unknown", "nnnnnn"),
        ],
    );
}

#[test]
fn dates_are_covered_by_intervals_and_calendar_units() {
    let values = ["2024-03-17", "2024-12-31", "2019-01-01", ""];
    check(
        ", hierarchy = { date = [\"month\", \"quarter\", \"year\", \"decade\"] }",
        &values,
        &[
            ("2024-03-17", "ynnn"),
            ("2024-03", "ynnn"),
            ("2024-04", "nnnn"),
            ("2024-Q1", "ynnn"),
            ("2024-Q4", "nynn"),
            ("2024", "yynn"),
            ("2010s", "nnyn"),
            ("2020s", "yynn"),
            ("[2019-01-01 .. 2024-03-17]", "ynyn"),
            ("[2019-01-01 .. 2024-03-17)", "nnyn"),
            ("[2019-01-02 .. 2024-12-31]", "yynn"),
            ("<2024-03-17", "nnyn"),
            (">=2024-03-17", "yynn"),
            ("*", "yyyy"),
        ],
    );
    check("", &values, &[("2024", "nnnn"), ("2024-03", "nnnn"), ("2020s", "nnnn")]);
    check(
        ", hierarchy = { date = [\"day\"] }",
        &["2024-03-17 10:30:00", "2024-03-17T23:59:59", "2024-03-18 00:00:00"],
        &[
            ("2024-03-17", "yyn"),
            ("[2024-03-17 10:30:00 .. 2024-03-18 00:00:00)", "yyn"),
            ("2024-03-18", "nny"),
        ],
    );
}

#[test]
fn ordinal_labels_are_covered_by_their_place() {
    check(
        ", order = [\"none\", \"1st-4th\", \"5th-6th\", \"high\"]",
        &["none", "1st-4th", "5th-6th", "high", ""],
        &[
            ("1st-4th", "nynnn"),
            ("[1st-4th .. high]", "nyyyn"),
            ("[none .. 5th-6th]", "yyynn"),
            ("[none-high]", "yyyyn"),
            ("[none-1st-4th]", "yynnn"),
            ("[high-none]", "nnnnn"),
            ("[none .. low]", "nnnnn"),
            ("*", "yyyyy"),
        ],
    );
}

#[test]
fn an_interval_that_can_be_read_in_two_ways_covers_nothing() {
    check(
        ", order = [\"a\", \"a-b\", \"b-c\", \"c\"]",
        &["a", "a-b", "b-c", "c"],
        &[("[a-b-c]", "nnnn"), ("[a .. b-c]", "yyyn")],
    );
}

#[test]
fn categories_are_covered_by_sets_and_by_themselves() {
    check(
        "",
        &["a", "b", "c,d", "say \"x\"", "=1+1", "", "{a,b}"],
        &[
            ("a", "ynnnnnn"),
            ("{a,b}", "yynnnnn"),
            ("{\"{a,b}\"}", "nnnnnny"),
            ("{a,\"c,d\"}", "ynynnnn"),
            ("{\"say \"\"x\"\"\",b}", "nynynnn"),
            ("{\"\",b}", "nynnnyn"),
            ("{\"a\"}", "ynnnnnn"),
            ("{a,}", "nnnnnnn"),
            ("{a \"b\"", "nnnnnnn"),
            ("{\"a\"b}", "nnnnnnn"),
            ("{}", "nnnnnnn"),
            ("{=1+1}", "nnnnynn"),
            ("'=1+1", "nnnnnnn"),
            ("=1+1", "nnnnynn"),
            ("A", "nnnnnnn"),
            ("[a-b]", "nnnnnnn"),
        ],
    );
    check(
        ", kind = \"categorical\"",
        &["1", "2", "3"],
        &[("[1-3]", "nnn"), ("1.0", "nnn"), ("2", "nyn")],
    );
}

#[test]
fn prefixes_cover_texts_of_their_length() {
    check(
        ", hierarchy = { prefix = [4, 3] }",
        &["53712", "53799", "5371", "05371", ""],
        &[
            ("537**", "yynnn"),
            ("5371*", "ynnnn"),
            ("537*", "nnynn"),
            ("5****", "yynnn"),
            ("*****", "yynyn"),
            ("*", "yyyyy"),
            ("5371", "nnynn"),
            ("53*12", "nnnnn"),
        ],
    );
    check("", &["53712", "53799"], &[("537**", "nn")]);
}

#[test]
fn a_hierarchy_file_says_what_its_labels_cover() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("job.csv");
    std::fs::write(
        &file,
        "nurse;health;public;Any\nsurgeon;health;public;Any\n\
        teacher;school;public;Any\nactor;arts;arts;Any\n",
    )
    .unwrap();
    let column = format!(", hierarchy = {:?}", file.display().to_string());
    check(
        &column,
        &["nurse", "surgeon", "teacher", "actor", ""],
        &[
            ("health", "yynnn"),
            ("public", "yyynn"),
            ("arts", "nnnyn"),
            ("Any", "yyyyy"),
            ("nurse", "ynnnn"),
            ("{health,actor}", "yynyn"),
            ("police", "nnnnn"),
        ],
    );
    std::fs::write(&file, "nurse;health;Any\n?;not said;Any\n").unwrap();
    check(&column, &["nurse", "?", ""], &[("not said", "nyy"), ("health", "ynn"), ("Any", "yyy")]);
}

#[test]
fn bounds_cover_what_lies_between_and_say_what_is_missing() {
    let values = ["20", "30", "40", ""];
    for (min, max, missing, expected) in [
        (Some("20"), Some("30"), None, "yynn"),
        (Some("20.0"), Some("35"), Some("no"), "yynn"),
        (Some("20"), Some("30"), Some("yes"), "nnnn"),
        (Some("20"), Some("40"), Some("maybe"), "yyyy"),
        (Some("20"), Some("30"), Some("maybe"), "yyny"),
        (None, None, Some("maybe"), "yyyy"),
        (None, None, Some("yes"), "nnny"),
        (None, None, Some("no"), "nnnn"),
        (None, None, None, "nnny"),
        (Some("20"), None, None, "nnnn"),
        (None, Some("30"), Some("maybe"), "nnnn"),
        (Some("30"), Some("20"), None, "nnnn"),
        (Some("20"), Some("30"), Some(""), "nnnn"),
    ] {
        assert_eq!(
            covered("", &values, ReleasedCell::Bounds { min, max, missing }),
            expected,
            "{min:?} {max:?} {missing:?}"
        );
    }
    let order = ", order = [\"low\", \"middle\", \"high\"]";
    let cell = ReleasedCell::Bounds { min: Some("low"), max: Some("middle"), missing: None };
    assert_eq!(covered(order, &["low", "middle", "high"], cell), "yyn");
}

#[test]
fn the_tally_equals_one_test_after_another() {
    let mut seeded = Seeded(3);
    let values: Vec<String> =
        (0..20).map(|n| if n == 7 { String::new() } else { n.to_string() }).collect();
    let request = request("[columns]\nc = { role = \"quasi\" }");
    for _ in 0..200 {
        let labels: Vec<String> = (0..6)
            .map(|_| match seeded.below(5) {
                0 => "*".to_string(),
                1 => String::new(),
                2 => format!("{{{},\"\",{}}}", seeded.below(20), seeded.below(20)),
                _ => {
                    let lo = seeded.below(20);
                    format!("[{lo}-{}]", lo + seeded.below(8))
                }
            })
            .collect();
        let cells: Vec<ReleasedCell<'_>> =
            labels.iter().map(|label| ReleasedCell::Label(Some(label.as_str()))).collect();
        let cover = Cover::new(
            &coded(values.iter().map(String::as_str)),
            &cells,
            &request.columns["c"],
            &[],
        )
        .unwrap();
        let some: Vec<(u32, u64)> = (0..20)
            .filter(|_| seeded.below(2) == 0)
            .map(|code| (code, 1 + u64::from(code % 3)))
            .collect();
        let chosen: Vec<u32> = (0..6).filter(|_| seeded.below(3) > 0).collect();
        let (counts, reached) = cover.tally(&chosen, &some);
        for (cell, count) in chosen.iter().zip(counts) {
            assert_eq!(
                count,
                some.iter()
                    .filter(|(value, _)| cover.covers(*cell, *value))
                    .map(|(_, rows)| rows)
                    .sum::<u64>()
            );
        }
        for ((value, _), reached) in some.iter().zip(reached) {
            assert_eq!(reached, chosen.iter().any(|cell| cover.covers(*cell, *value)));
        }
    }
}
