use std::collections::BTreeMap;

use super::*;
use crate::domain::hierarchy::{outline, rows_to_text, taxonomy};
use crate::table::{self, Treatment};

fn read(text: &str) -> Table {
    let source = table::open_text(text.to_string(), "t.csv".as_ref()).unwrap();
    let treatments = vec![Treatment::Code; source.names().len()];
    source.read(&treatments).unwrap()
}

fn suggested(text: &str, column: &str) -> Suggestion {
    let made = suggest(&read(text), column, &["?".to_string()]).unwrap();
    is_a_hierarchy(&made);
    made
}

/// Every line ends in the root, every label has one parent, and the file is read as a tree.
fn is_a_hierarchy(made: &Suggestion) {
    let mut parents: BTreeMap<&str, &str> = BTreeMap::new();
    for row in &made.rows {
        assert_eq!((row.len(), row[row.len() - 1].as_str()), (made.rows[0].len(), "*"));
        for pair in row.windows(2).filter(|pair| pair[0] != pair[1]) {
            assert_eq!(parents.insert(&pair[0], &pair[1]).unwrap_or(&pair[1]), pair[1], "{row:?}");
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("h.csv");
    std::fs::write(&path, rows_to_text(&["suggested".to_string()], &made.rows)).unwrap();
    let file = crate::domain::hierarchy::read(&path).unwrap();
    let tree = taxonomy(&file, "c", &[], &[]).unwrap();
    assert_eq!(tree.leaves(), made.rows.len(), "{}", outline(&tree, 99));
}

fn lines(made: &Suggestion) -> Vec<String> {
    made.rows.iter().map(|row| row.join(";")).collect()
}

#[test]
fn values_in_an_order_are_grouped_with_their_neighbours() {
    let made = suggested("c\n5th-6th\n1st-4th\n9th\n7th-8th\n10th\n11th\n", "c");
    assert_eq!(made.by, GroupedBy::Order);
    let leaves: Vec<&str> = made.rows.iter().map(|row| row[0].as_str()).collect();
    assert_eq!(leaves, ["1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th"]);
    assert!(made.rows[0].contains(&"1st-4th .. 9th".to_string()), "{:?}", lines(&made));
    let made = suggested("c\nhigh\nlow\nmedium\n", "c");
    assert_eq!(lines(&made), ["low;low .. medium;*", "medium;low .. medium;*", "high;high;*"]);
    let made = suggested("c\n20-29\n<20\n>=40\n30-39\n", "c");
    assert_eq!((made.by, made.rows[0][0].as_str()), (GroupedBy::Order, "<20"));
}

#[test]
fn a_column_of_numbers_that_goes_with_the_values_orders_them() {
    let made = suggested("c,n\nprimary,1\ncollege,3\nschool,2\ndoctor,4\nschool,2\n", "c");
    assert_eq!(made.by, GroupedBy::OrderOf("n".into()));
    let leaves: Vec<&str> = made.rows.iter().map(|row| row[0].as_str()).collect();
    assert_eq!(leaves, ["primary", "school", "college", "doctor"]);
}

#[test]
fn codes_are_grouped_by_their_first_characters() {
    let made = suggested("c\nA01\nA02\nB11\nB12\nB21\n", "c");
    assert_eq!(made.by, GroupedBy::Prefix);
    assert_eq!(
        lines(&made),
        ["A01;A0*;A0*;*", "A02;A0*;A0*;*", "B11;B1*;B**;*", "B12;B1*;B**;*", "B21;B21;B**;*"]
    );
}

#[test]
fn common_words_group_values_and_never_married_is_not_married() {
    let values = ["Married-civ-spouse", "Married-spouse-absent", "Never-married", "Widowed"];
    let text: String = values.iter().map(|value| format!("{value},x\n{value},y\n")).collect();
    let made = suggested(&format!("c,o\n{text}"), "c");
    assert_eq!(made.by, GroupedBy::Words);
    let group = |value: &str| made.rows.iter().find(|row| row[0] == value).unwrap()[1].clone();
    assert_eq!(group(values[0]), group(values[1]));
    assert_eq!(group("Never-married"), "Never-married");
    assert!(group(values[0]).ends_with(" (2 values)"), "{:?}", lines(&made));
}

/// Red and blue are with x, green and gold with y.
fn colours(reversed: bool) -> String {
    let mut rows: Vec<String> = Vec::new();
    for (colour, count, with) in
        [("red", 40, "x"), ("blue", 30, "x"), ("green", 20, "y"), ("gold", 5, "y")]
    {
        rows.extend((0..count).map(|at| {
            let with = if at % 10 == 0 { "z" } else { with };
            format!("{colour},{with},{}", 20 + at % 7)
        }));
    }
    if reversed {
        rows.reverse();
    }
    format!("c,o,age\n{}\n", rows.join("\n"))
}

#[test]
fn values_with_similar_rows_come_together_whatever_the_order_of_the_rows() {
    let made = suggested(&colours(false), "c");
    assert_eq!(made.by, GroupedBy::Company);
    let top = |value: &str| {
        let row = made.rows.iter().find(|row| row[0] == value).unwrap();
        row[row.len() - 2].clone()
    };
    assert_eq!((top("red"), top("green")), ("red | blue".into(), "green | gold".into()));
    assert_eq!(suggested(&colours(true), "c"), made);
}

#[test]
fn what_has_better_hierarchies_or_nothing_to_group_is_refused() {
    for (text, word) in [
        ("c\n1\n2\n3\n", "intervals"),
        ("c\n2024-01-01\n2024-01-02\n2024-02-02\n", "calendar units"),
        ("c\nf\nm\n?\n", "fewer than three"),
    ] {
        let error = suggest(&read(text), "c", &["?".to_string()]).unwrap_err();
        assert_eq!(error.code(), "nothing-to-suggest");
        assert!(error.to_string().contains(word), "{error}");
    }
    let many: String = (0..501).map(|at| format!("v{}w\n", at * 7919)).collect();
    assert!(suggest(&read(&format!("c\n{many}")), "c", &[]).is_err());
}

#[test]
fn labels_that_would_mean_two_things_get_a_number() {
    let made = suggested("c,o\na,x\nb,x\na | b,y\nc,y\nd,y\ne,x\n", "c");
    let long = "a value with more letters than a label may take from it".to_string();
    let text = format!("c,o\n{long}1 x,x\n{long}2 y,x\n{{b}},y\nzz,y\n");
    assert_eq!((made.rows.len(), suggested(&text, "c").rows.len()), (6, 4));
}
