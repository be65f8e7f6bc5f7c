//! Shares, sums, truths and faults, each worked out by hand.

use std::io::Write as _;

use super::super::{Workload, draw, summable, summarize};
use super::*;

/// Fails unless two numbers are the same but for rounding.
#[track_caller]
fn same(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-12, "{found}, expected {expected}");
}

const AGES: [&str; 4] = ["17", "25", "34", "90"];
const HEIGHTS: [&str; 4] = ["1.5", "1.62", "1.75", "2.0"];
const DAYS: [&str; 4] = ["2024-01-10", "2024-02-20", "2024-12-31", "2023-05-05"];

#[test]
fn whole_numbers_are_counted() {
    same(share(&AGES, "[20-29]", "", "[25, 40]"), 5.0 / 10.0);
    same(share(&AGES, "[20-29]", "", "[20, 29]"), 1.0);
    same(share(&AGES, "[20-29]", "", "[29, 29]"), 1.0 / 10.0);
    same(share(&AGES, "[20-29]", "", "[30, 40]"), 0.0);
    same(share(&AGES, "[20-29]", "", "[24.5, 26.5]"), 2.0 / 10.0);
    same(share(&AGES, "[20-29]", "", "{ from = 28 }"), 2.0 / 10.0);
    same(share(&AGES, "[20-29]", "", "{ to = \"20\" }"), 1.0 / 10.0);
    same(share(&AGES, "[20-29]", "", "25"), 1.0 / 10.0);
    same(share(&AGES, "[20-29]", "", "[\"25\", \"25.0\", \"28\", \"31\"]"), 2.0 / 10.0);
    same(share(&AGES, "25", "", "[25, 30]"), 1.0);
    same(share(&AGES, "25", "", "[26, 30]"), 0.0);
    same(share(&AGES, "*", "", "[17, 53]"), 37.0 / 74.0);
    same(share(&["-5", "5"], "[-5 .. 5]", "", "[-1, 0]"), 2.0 / 11.0);
}

#[test]
fn decimals_are_measured() {
    same(share(&HEIGHTS, "[1.5-2]", "", "[1.6, 1.7]"), 0.1 / 0.5);
    same(share(&HEIGHTS, "[1.5-2]", "", "[1.9, 9]"), 0.1 / 0.5);
    same(share(&HEIGHTS, "[1.5-2]", "", "1.62"), 0.0);
    same(share(&HEIGHTS, "1.62", "", "1.62"), 1.0);
    same(share(&HEIGHTS, "1.62", "", "[1.62, 1.7]"), 1.0);
    same(share(&HEIGHTS, "1.62", "", "[1.63, 1.7]"), 0.0);
    same(share(&HEIGHTS, "*", "", "[1.5, 1.6]"), 0.1 / 0.5);
}

#[test]
fn days_are_counted_and_times_are_measured() {
    same(share(&DAYS, "[2024-01-10 .. 2024-01-19]", "", "[2024-01-15, 2024-03-01]"), 5.0 / 10.0);
    same(share(&DAYS, "2024-01-10", "", "{ from = \"2024-01-10\", to = \"2024-01-10\" }"), 1.0);
    let times = ["2024-01-01T00:00:00", "2024-01-01T12:00:00"];
    same(
        share(
            &times,
            "[2024-01-01T00:00:00 .. 2024-01-01T12:00:00]",
            "",
            "[2024-01-01T03:00:00, 2024-01-02]",
        ),
        0.75,
    );
    same(share(&times, "2024-01-01T12:00:00", "", "[2024-01-01T12:00:00, 2024-01-02]"), 1.0);
}

#[test]
fn places_of_an_order_are_counted_even_those_that_no_row_has() {
    let order = ", order = [\"none\", \"school\", \"college\", \"degree\", \"doctor\"]";
    let source = ["school", "degree"];
    same(
        share(&source, "[school-degree]", order, "{ from = \"college\", to = \"doctor\" }"),
        2.0 / 3.0,
    );
    same(share(&source, "school", order, "[\"school\", \"doctor\"]"), 1.0);
    same(share(&source, "[school-degree]", order, "[\"school\", \"doctor\"]"), 1.0 / 3.0);
}

#[test]
fn intervals_of_a_hierarchy_are_read_and_open_ones_end_where_the_source_does() {
    let coded = ", hierarchy = { intervals = [5, 10], bottom = 20, top = 80 }";
    same(share(&AGES, "[20-24]", coded, "[24, 90]"), 1.0 / 5.0);
    same(share(&AGES, "<20", coded, "[18, 90]"), 2.0 / 3.0);
    same(share(&AGES, ">=80", coded, "[0, 81]"), 2.0 / 11.0);
    same(share(&AGES, "[30-39]", coded, "{ node = \"[30-34]\" }"), 5.0 / 10.0);
    same(share(&AGES, "*", coded, "{ node = \">=80\" }"), 11.0 / 74.0);
    let halves = ", hierarchy = { intervals = [2.5, 5] }";
    same(share(&AGES, "[22.5-25)", halves, "[24, 30]"), 1.0 / 2.0);
    same(share(&HEIGHTS, "[1.5-2)", ", hierarchy = { intervals = [0.5] }", "[1.6, 9]"), 0.4 / 0.5);
    same(
        share(&HEIGHTS, ">=1.7", ", hierarchy = { intervals = [0.5], top = 1.7 }", "[1.8, 9]"),
        0.2 / 0.3,
    );
}

#[test]
fn calendar_units_and_groups_of_a_file_have_the_ends_of_what_they_name() {
    let units = ", hierarchy = { date = [\"month\", \"quarter\", \"year\"] }";
    same(share(&DAYS, "2024-02", units, "[2024-02-20, 2024-03-31]"), 10.0 / 29.0);
    same(share(&DAYS, "2024-Q1", units, "{ node = \"2024-01\" }"), 31.0 / 91.0);
    same(share(&DAYS, "2024", units, "[2024-12-31, 2025-01-01]"), 1.0 / 366.0);
    let mut file = tempfile::NamedTempFile::new().unwrap();
    for age in 10..100 {
        writeln!(file, "{age};{};all", if age < 40 { "young" } else { "old" }).unwrap();
    }
    let line = format!(", kind = \"numeric\", hierarchy = {:?}", file.path());
    same(share(&AGES, "young", &line, "[30, 99]"), 10.0 / 30.0);
    same(share(&AGES, "[20-29]", &line, "{ node = \"old\" }"), 0.0);
    same(share(&AGES, "all", &line, "[10, 18]"), 9.0 / 90.0);
    same(share(&AGES, "*", &line, "[10, 18]"), 9.0 / 90.0);
}

#[test]
fn leaves_below_a_node_are_counted_even_those_that_no_row_has() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(
        b"state;public;*\nlocal;public;*\nfederal;public;*\nprivate;private;*\n\
        self;other;*\nnone;other;*\n",
    )
    .unwrap();
    let line = format!(", hierarchy = {:?}", file.path());
    let source = ["state", "private", "self"];
    same(share(&source, "public", &line, "\"state\""), 1.0 / 3.0);
    same(share(&source, "public", &line, "[\"state\", \"federal\", \"self\"]"), 2.0 / 3.0);
    same(share(&source, "public", &line, "{ node = \"public\" }"), 1.0);
    same(share(&source, "*", &line, "{ node = \"public\" }"), 3.0 / 6.0);
    same(share(&source, "state", &line, "{ node = \"other\" }"), 0.0);
    same(share(&source, "state", &line, "{ node = \"*\" }"), 1.0);
    let zips = ["53703", "53704", "53711", "60601"];
    let prefix = ", hierarchy = { prefix = [4, 2] }";
    same(share(&zips, "53***", prefix, "\"53711\""), 1.0 / 3.0);
    same(share(&zips, "53***", prefix, "{ node = \"5370*\" }"), 2.0 / 3.0);
}

#[test]
fn a_flat_column_has_the_values_of_the_source() {
    let towns = ["Bonn", "Kiel", "Ulm", "a,b", "'tis", "=1+1"];
    same(share(&towns, "*", "", "[\"Bonn\", \"Ulm\"]"), 2.0 / 6.0);
    same(share(&towns, "{Bonn,Kiel,\"a,b\"}", "", "[\"a,b\", \"Ulm\"]"), 1.0 / 3.0);
    same(share(&towns, "{Bonn,Kiel}", "", "{ node = \"*\" }"), 1.0);
    same(share(&towns, "'tis", "", "\"'tis\""), 1.0);
    same(share(&towns, "=1+1", "", "\"=1+1\""), 1.0);
    let braces = ["a", "b", "{a, b}"];
    same(share(&braces, "{a, b}", "", "\"a\""), 0.5);
    same(share(&braces, "{\"{a, b}\"}", "", "\"{a, b}\""), 1.0);
}

#[test]
fn the_missing_value_satisfies_what_names_it_and_nothing_else() {
    // Of `*` on an ordered column it has the weight of one of the values: 1/(2+1).
    let ages = ["20", "29", ""];
    same(share(&ages, "*", "", "[20, 29]"), 2.0 / 3.0);
    same(share(&ages, "*", "", "[20, 24]"), 2.0 / 3.0 * 0.5);
    same(share(&ages, "*", "", "\"\""), 1.0 / 3.0);
    same(share(&ages, "*", "", "[\"\", \"20\"]"), 1.0 / 3.0 + 2.0 / 3.0 * 0.1);
    same(share(&ages, "*", "", "{ node = \"*\" }"), 1.0);
    same(share(&ages, "", "", "{ from = 0 }"), 0.0);
    same(share(&ages, "", "", "\"\""), 1.0);
    same(share(&ages, "[20-29]", "", "\"\""), 0.0);
    same(value(&ages, "*", "", None), 2.0 / 3.0 * 24.5);
    same(value(&ages, "", "", None), 0.0);
    same(value(&ages, "*", "", Some("[\"\", \"20\"]")), 2.0 / 3.0 * 0.1 * 20.0);
    // In a tree it is a leaf.
    let towns = ["Bonn", "Ulm", ""];
    same(share(&towns, "*", "", "\"\""), 1.0 / 3.0);
    same(share(&towns, "{Bonn,\"\"}", "", "\"\""), 1.0 / 2.0);
    same(share(&towns, "", "", "[\"\", \"Ulm\"]"), 1.0);
    same(share(&towns, "*", "", "\"Bonn\""), 1.0 / 3.0);
    let marked = |condition: &str| {
        let request = "k = 1\nmissing = [\"?\"]\ncolumns.a.role = \"quasi\"";
        ask(
            &column(&["Bonn", "?"]),
            &column(&["*"]),
            request,
            &format!("[[query]]\nwhere.a = {condition}"),
        )
        .unwrap()[0]
            .estimate
    };
    same(marked("\"?\""), 0.5);
    same(marked("\"\""), 0.5);
}

#[test]
fn bounds_are_read_from_their_columns() {
    let source = column(&["20", "29", "40", ""]);
    let request = "k = 1\n[columns]\na = { role = \"quasi\" }\n[output]\npublish = \"bounds\"";
    let of = |release: &str, condition: &str| {
        ask(&source, release, request, &format!("[[query]]\nwhere = {{ a = {condition} }}"))
            .unwrap()[0]
            .estimate
    };
    let rows = "a_min,a_max,a_missing\n20,29,no\n20,29,no\n40,40,no\n,,yes\n,,maybe\n";
    same(of(rows, "[25, 40]"), 2.0 * 0.5 + 1.0 + 0.75 * 16.0 / 21.0);
    same(of(rows, "\"\""), 1.0 + 0.25);
    same(of("a_min,a_max\n20,29\n", "[20, 20]"), 0.1);
}

#[test]
fn a_sum_takes_the_middle_of_the_range_or_of_what_the_condition_leaves() {
    same(value(&AGES, "[20-29]", "", None), 24.5);
    same(value(&AGES, "[20-29]", "", Some("[25, 40]")), 0.5 * 27.0);
    same(value(&AGES, "[20-29]", "", Some("[\"21\", \"28\"]")), 0.1 * 21.0 + 0.1 * 28.0);
    same(value(&AGES, "[20-29]", "", Some("[30, 40]")), 0.0);
    same(value(&AGES, "34", "", Some("[30, 40]")), 34.0);
    same(value(&HEIGHTS, "[1.5-2]", "", None), 1.75);
    same(value(&HEIGHTS, "[1.5-2]", "", Some("[1.6, 1.7]")), 0.2 * 1.65);
    same(value(&["-10", "-1"], "[-10 .. -1]", "", None), -5.5);
}

const PATIENTS: &str =
    "age,town,ill,pay\n20,Bonn,flu,10.5\n25,Ulm,flu,20\n29,Ulm,gout,30\n40,Kiel,flu,\n";
const RELEASE: &str = "age,town,ill,pay\n[20-29],\"{Bonn,Ulm}\",flu,10.5\n\
    [20-29],\"{Bonn,Ulm}\",flu,20.0\n[20-29],\"{Bonn,Ulm}\",gout,30\n";
const COLUMNS: &str = "k = 1\n[columns]\nage = { role = \"quasi\" }\ntown = { role = \"quasi\" }\n\
    ill = { role = \"sensitive\" }\n\
                       pay = { role = \"keep\" }\n[output]\npublish = \"set\"";

#[test]
fn shares_multiply_kept_columns_are_exact_and_suppressed_rows_are_gone() {
    let queries = "[[query]]\n[[query]]\nwhere = { age = [20, 24], town = \"Ulm\", ill = \"flu\" \
        }\n[[query]]\nsum = \"age\"\n\
                   where = { town = \"Ulm\" }\n[[query]]\nsum = \"pay\"\nwhere = { age = [25, 50] \
                   }\n[[query]]\nwhere.pay = [10, 20]\n";
    let answers = ask(PATIENTS, RELEASE, COLUMNS, queries).unwrap();
    let expected = [
        (4.0, 3.0),
        (0.0, 2.0 * 0.5 * 0.5),
        (25.0 + 29.0, 3.0 * 0.5 * 24.5),
        (20.0 + 30.0, 0.5 * (10.5 + 20.0 + 30.0)),
        (2.0, 2.0),
    ];
    for (answer, (truth, estimate)) in answers.iter().zip(expected) {
        same(answer.truth, truth);
        same(answer.estimate, estimate);
    }
    assert_eq!(answers.len(), expected.len());
}

#[test]
fn a_kept_column_that_is_half_numbers_has_labels() {
    let cells: Vec<String> =
        (0..20).map(|n| n.to_string()).chain(["x", "*", ""].map(String::from)).collect();
    let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
    let table = format!("q,{}", column(&cells).replace('\n', "\n1,").trim_end_matches("1,"));
    let request = "k = 1\ncolumns.q.role = \"quasi\"\ncolumns.a.role = \"keep\"";
    let answers = ask(
        &table,
        &table,
        request,
        "[[query]]\nwhere.a = [\"x\", \"*\", \"7\"]\n[[query]]\nwhere.a = \"\"",
    )
    .unwrap();
    assert_eq!(
        answers,
        [Answer { truth: 3.0, estimate: 3.0 }, Answer { truth: 1.0, estimate: 1.0 }]
    );
}

#[test]
fn errors_are_relative_to_the_truth_and_summed_up() {
    let answer = |truth, estimate| Answer { truth, estimate };
    let summary = summarize(&[
        answer(10.0, 5.0),
        answer(-2.0, -4.0),
        answer(0.0, 3.0),
        answer(4.0, 4.0),
        answer(1.0, 1.1),
    ]);
    assert_eq!((summary.queries, summary.undefined), (5, 1));
    same(summary.mean_error.unwrap(), (0.5 + 1.0 + 0.0 + 0.1) / 4.0);
    same(summary.median_error.unwrap(), 0.3);
    same(summary.p90_error.unwrap(), 1.0);
    same(summary.mean_absolute.unwrap(), (5.0 + 2.0 + 3.0 + 0.0 + 0.1) / 5.0);
    let ten: Vec<Answer> = (1..=10).map(|n| answer(10.0, 10.0 + f64::from(n))).collect();
    same(summarize(&ten).p90_error.unwrap(), 0.9);
    same(summarize(&ten[..9]).median_error.unwrap(), 0.5);
    let none = summarize(&[answer(0.0, 1.0)]);
    assert_eq!(
        (none.mean_error, none.median_error, none.p90_error, none.mean_absolute),
        (None, None, None, Some(1.0))
    );
    assert_eq!(summarize(&[]).mean_absolute, None);
}

#[test]
fn faults_of_queries_are_reported_with_number_and_column() {
    let message =
        |query: &str| why(PATIENTS, RELEASE, COLUMNS, &format!("[[query]]\n[[query]]\n{query}"));
    for (query, expected) in [
        (
            "where.aeg = [20, 30]",
            "query 2: column `aeg` is not in the release (it has `age`, `town`, `ill`, `pay`); did \
             you mean `age`?",
        ),
        ("sum = \"wage\"", "query 2: column `wage` is not in the release"),
        ("sum = \"town\"", "query 2, column `town`: only numbers can be summed"),
        ("where.age = \"old\"", "query 2, column `age`: `old` is no number"),
        ("where.age = [30, 20]", "query 2, column `age`: the range runs backwards"),
        ("where.age.node = \"Old\"", "query 2, column `age`: `Old` is neither a group"),
        ("where.town = [1, 2]", "query 2, column `town`: the column is categorical"),
        ("where.town = \"Kleve\"", "query 2, column `town`: there is no value `Kleve`"),
        ("where.town = \"\"", "query 2, column `town`: the column has no missing values"),
        (
            "where.town = \"*\"",
            "query 2, column `town`: `*` is a group of its hierarchy: write { node = \"*\" }",
        ),
        (
            "where.town.node = \"South\"",
            "query 2, column `town`: there is no group `South`: the column has no hierarchy",
        ),
    ] {
        assert!(message(query).starts_with(expected), "{query}: {}", message(query));
    }
    let dated = |condition: &str| {
        let request = "k = 1\ncolumns.a.role = \"quasi\"";
        why(&column(&DAYS), &column(&["*"]), request, &format!("[[query]]\nwhere.a = {condition}"))
    };
    assert!(
        dated("[20, 30]").ends_with("`20` is no date such as 2024-03-17 or 2024-03-17T10:00:00")
    );
    let request = "k = 1\n[columns]\na = { role = \"quasi\", order = [\"x\", \"y\"] }";
    let error = why(&column(&["x"]), &column(&["x"]), request, "[[query]]\nwhere.a.from = \"z\"");
    assert!(error.ends_with("`z` is not in the order of the column"), "{error}");
}

#[test]
fn of_several_faults_the_first_is_reported() {
    let bad: String = (0..200).map(|n| format!("[[query]]\nwhere.town = \"no{n}\"\n")).collect();
    for _ in 0..20 {
        assert!(why(PATIENTS, RELEASE, COLUMNS, &bad).starts_with("query 1, "));
    }
}

#[test]
fn a_release_that_does_not_fit_is_reported_without_its_cells() {
    let damaged = [
        ("[20-29]", "[no-where]", "column `age`, data row 1"),
        ("Ulm}\",gout", "canary}\",gout", "column `town`, data row 3"),
        ("\"{Bonn,Ulm}\",flu,20", "canary,flu,20", "column `town`, data row 2"),
        ("flu,20.0", "canary,20.0", "column `ill`, data row 2"),
        ("30", "canary", "column `pay`, data row 3"),
    ];
    let all = "[[query]]\nwhere = { age = [1, 99], town = \"Ulm\", ill = \"flu\", pay = [0, 9] }";
    for (from, to, place) in damaged {
        let error = why(PATIENTS, &RELEASE.replacen(from, to, 1), COLUMNS, all);
        assert!(error.starts_with(&format!("the release, {place}: the cell ")), "{error}");
        assert!(!error.contains("canary") && !error.contains("where"), "{error}");
    }
    let without = RELEASE.replace("ill", "note");
    assert!(why(PATIENTS, &without, COLUMNS, all).contains("the release has no column `ill`"));
    let hidden = COLUMNS.replace("pay = { role = \"keep\" }", "pay = { role = \"identifier\" }");
    let error = why(
        PATIENTS,
        &RELEASE.replace(",pay", ",x"),
        &hidden.replace("k = 1", "k = 1\nrest = \"keep\""),
        all,
    );
    assert!(error.starts_with("query 1: column `pay` is not in the release"), "{error}");
    assert!(
        why("age,town,ill\n20,Ulm,flu\n", RELEASE, COLUMNS, all)
            .contains("the source has no column `pay`")
    );
    assert!(why("age,town,ill,pay\n", RELEASE, COLUMNS, all).contains("no rows"));
}

#[test]
fn drawn_queries_are_not_empty_and_do_not_depend_on_each_other() {
    let source = table(&crate::testing::random_table(5, 60));
    let request = Request::parse(
        "k = 1\n[columns]\nage = { role = \"quasi\" }\nheight = { role = \"quasi\" }\ncity = { \
         role = \"quasi\" }\nillness = { role = \"keep\" }",
    )
    .unwrap();
    let drawn = |queries, sum: Option<&str>, on: &[&str]| {
        let on = on.iter().map(ToString::to_string).collect();
        draw(
            &source,
            &request,
            &Workload { queries, seed: 3, sum: sum.map(String::from), on, conditions: None },
        )
        .unwrap()
    };
    let many = drawn(200, None, &[]);
    assert_eq!(drawn(20, None, &[]), many[..20]);
    assert!(
        many.iter()
            .all(|query| query.conditions.keys().eq(["age", "city", "height"])
                && query.sum.is_none())
    );
    let answers = answer(&source, &source, &request, &many).unwrap();
    assert!(answers.iter().all(|answer| answer.truth >= 1.0));
    let roots = many.iter().filter(|query| {
        query.conditions["city"] == super::super::Condition::Node { node: "*".to_string() }
    });
    assert!((70..130).contains(&roots.count()), "half of them are the one inner node");
    let sums = drawn(20, Some("age"), &["age", "city", "illness"]);
    assert!(sums.iter().all(|query| query.conditions.keys().eq(["city", "illness"])
        && query.sum.as_deref() == Some("age")));
    assert_eq!(summable(&source, &request).unwrap().as_deref(), Some("age"));
    for conditions in [1, 2, 3, 9] {
        let expected = conditions.min(3);
        let conditions = Some(conditions);
        let workload = Workload { queries: 90, seed: 3, conditions, ..Workload::default() };
        let some = draw(&source, &request, &workload).unwrap();
        assert!(some.iter().all(|query| query.conditions.len() == expected));
        for name in ["age", "city", "height"] {
            let times = some.iter().filter(|query| query.conditions.contains_key(name)).count();
            assert!(times >= 20 * expected, "each column comes up: {name} {times}");
        }
    }
    for (sum, on, expected) in [
        (
            None,
            "nothing",
            "column `nothing` is not in the release (it has `age`, `height`, `city`, `illness`)",
        ),
        (Some("city"), "age", "column `city` has no numbers"),
        (Some("age"), "age", "no column is left for conditions"),
    ] {
        let workload = Workload {
            queries: 1,
            seed: 1,
            sum: sum.map(String::from),
            on: vec![on.to_string()],
            conditions: None,
        };
        let error = draw(&source, &request, &workload).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn a_workload_that_finds_nothing_gives_up() {
    // A sum of zeros is 0 whatever the conditions say.
    let source = table("a,b\n0,x\n0,y\n");
    let request =
        Request::parse("k = 1\ncolumns.a.role = \"quasi\"\ncolumns.b.role = \"quasi\"").unwrap();
    let workload =
        Workload { queries: 5, seed: 1, sum: Some("a".to_string()), ..Workload::default() };
    let error = draw(&source, &request, &workload).unwrap_err().to_string();
    assert!(error.contains("10000 random queries in a row have the answer 0"), "{error}");
}

#[test]
fn the_conditions_of_a_query_are_written_as_they_are_read() {
    let text =
        "[[query]]\nsum = \"a\"\nwhere = { b = [1, 2], c = { node = \"x\" }, d = [\"y\", \"\"] }";
    let json = serde_json::to_value(&parsed(text)[0]).unwrap();
    let expected = serde_json::json!({ "sum": "a", "where": {
         "b": { "from": "1", "to": "2" }, "c": { "node": "x" }, "d": ["y", ""] } });
    assert_eq!(json, expected);
}
