//! Weights and models on small tables.

use super::*;
use crate::request::Request;
use crate::rng::Rng;
use crate::table::Table;
use crate::testing;

/// `degree` decides the pay in nine of ten rows, `age` says a little, `sex` nothing.
fn people(rows: u64) -> String {
    let mut rng = Rng::new(7);
    let mut text = "age,degree,sex,pay\n".to_string();
    for _ in 0..rows {
        let degree = ["none", "school", "college", "doctor"][rng.place(4)];
        let is_high = (degree == "college" || degree == "doctor") != (rng.below(10) == 0);
        let age = 20 + rng.below(30) + if is_high { 10 } else { 0 };
        let (sex, pay) = (["f", "m"][rng.place(2)], if is_high { "high" } else { "low" });
        text += &format!("{age},{degree},{sex},{pay}\n");
    }
    text
}

const REQUEST: &str = "k = 2
    purpose = ['pay']
    [columns]
    age = { role = 'quasi' }
    degree = { role = 'quasi', hierarchy = { rows = [['none', 'low', '*'], ['school', 'low', '*'],
        ['college', 'up', '*'], ['doctor', 'up', '*']] } }
    sex = { role = 'quasi' }
    pay = { role = 'sensitive' }";

fn found(table: &Table, toml: &str) -> Vec<PurposeWeight> {
    let (roles, request) = testing::request(table, toml);
    weights(table, &roles, &request).unwrap()
}

#[test]
fn a_column_weighs_what_it_tells() {
    let list = found(&testing::table(&people(2_000)), REQUEST);
    let names: Vec<&str> = list.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["age", "degree", "sex"]);
    let [age, degree, sex] = &list[..] else { panic!("three columns") };
    assert!(degree.information > 0.5 && degree.information > age.information, "{list:?}");
    assert!(sex.information < 0.01 && sex.weight < 0.2 && sex.weight > 0.0, "{list:?}");
    let mean = list.iter().map(|one| one.weight).sum::<f64>() / 3.0;
    assert!((mean - 1.0).abs() < 0.03, "two digits each: {list:?}");
}

#[test]
fn the_worth_is_information_over_loss_at_each_level() {
    // The group alone tells the pay: ln 2 is lost with the whole column (loss 1), nothing with the
    // level below (loss 1/2). The mean of ln 2 and 0, over ln 2, is one half; the flat column that
    // tells as much has one level, and 1. Four and four rows: no correction (2 cells, 2 groups).
    let rows = "none,a,low\nschool,a,low\ncollege,b,high\ndoctor,b,high\n";
    let text = format!("degree,flat,pay\n{}", rows.repeat(50));
    let toml = REQUEST.replace("age = { role = 'quasi' }\n", "").replace("sex", "flat");
    let list = found(&testing::table(&text), &toml);
    let ratio = list[0].weight / list[1].weight;
    assert!((ratio - 0.5).abs() < 0.02, "{list:?}");
}

#[test]
fn a_weight_that_is_given_stays_and_the_others_have_the_mean_1() {
    let toml = REQUEST.replace("age = { role = 'quasi' }", "age = { role = 'quasi', weight = 9 }");
    let list = found(&testing::table(&people(500)), &toml);
    assert!(list[0].is_given && (list[0].weight - 9.0).abs() < 1e-12, "{list:?}");
    let others = list[1].weight + list[2].weight;
    assert!(!list[1].is_given && (others - 2.0).abs() < 0.06, "{list:?}");
}

#[test]
fn without_anything_to_tell_all_weights_are_1() {
    let text = format!("age,degree,sex,pay\n{}", "30,none,f,low\n40,none,m,low\n".repeat(9));
    let list = found(&testing::table(&text), REQUEST);
    let is_equal = |one: &PurposeWeight| (one.weight - 1.0).abs() < 1e-12 && one.information <= 0.0;
    assert!(list.iter().all(is_equal), "{list:?}");
}

#[test]
fn the_order_of_rows_and_how_they_are_counted_do_not_matter() {
    let text = people(300);
    let (head, rows) = text.split_once('\n').unwrap();
    let mut lines: Vec<&str> = rows.lines().collect();
    let list = found(&testing::table(&text), REQUEST);
    lines.reverse();
    let reversed = format!("{head}\n{}\n", lines.join("\n"));
    assert_eq!(found(&testing::table(&reversed), REQUEST), list);
    lines.sort_unstable();
    let mut counted = format!("{head},n\n");
    for equal in lines.chunk_by(|one, other| one == other) {
        counted += &format!("{},{}\n", equal[0], equal.len());
    }
    let toml = format!("count = 'n'\n{REQUEST}");
    assert_eq!(found(&testing::table(&counted), &toml), list);
}

#[test]
fn a_purpose_is_in_the_release_unchanged() {
    let table = testing::table(&people(10));
    let names: Vec<String> = table.columns().iter().map(|column| column.name.clone()).collect();
    for (from, to, said) in [
        ("['pay']", "['wage']", "there is no column `wage`"),
        ("['pay']", "['age']", "column `age` is a quasi-identifier"),
        ("['pay']", "['pay', 'pay']", "column `pay` is named twice"),
        ("pay = { role = 'sensitive' }", "pay = { role = 'identifier' }", "is not in the release"),
    ] {
        let request = Request::parse(&REQUEST.replace(from, to)).unwrap();
        let error = request.roles(&names).unwrap_err();
        assert!(error.to_string().contains(said), "{error}");
        let code = if to == "['wage']" { "unknown-column" } else { "bad-purpose" };
        assert_eq!(error.code(), code);
    }
    let kept = REQUEST.replace("'sensitive'", "'keep'");
    assert_eq!(found(&table, &kept), found(&table, REQUEST));
}

#[test]
fn numbers_are_above_the_median_or_not_and_rare_labels_are_one() {
    let mut text = "age,degree,sex,pay\n".to_string();
    for row in 0..100 {
        text += &format!("{},none,f,{}\n", row, 1000 + row * 10);
    }
    let table = testing::table(&text);
    let (roles, request) = testing::request(&table, REQUEST);
    let scores = scores(&table, &table, &roles, &request, None).unwrap();
    assert_eq!((scores[0].outcomes, scores[0].commonest), (2, 0.5));
    assert!(scores[0].source.unwrap().auc > 0.99, "age decides: {scores:?}");
    let labels = text.replace(",f,1", ",f,x");
    let table = testing::table(&labels);
    let scores = super::scores(&table, &table, &roles, &request, None).unwrap();
    assert_eq!((scores[0].outcomes, scores[0].commonest), (20, 0.81));
}

#[test]
fn a_release_of_single_values_is_as_good_as_its_source_and_one_of_stars_is_chance() {
    let source = testing::table(&people(600));
    let (roles, request) = testing::request(&source, REQUEST);
    let same = scores(&source, &source, &roles, &request, None).unwrap();
    let [one] = &same[..] else { panic!("one purpose") };
    assert_eq!(one.source, one.release);
    let score = one.source.unwrap();
    assert!(score.accuracy > 0.85 && score.auc > 0.9, "{score:?}");

    let mut stars = "age,degree,sex,pay\n".to_string();
    let mut halves = stars.clone();
    for row in people(600).lines().skip(1) {
        let cells: Vec<&str> = row.split(',').collect();
        stars += &format!("*,*,*,{}\n", cells[3]);
        let is_up = ["college", "doctor"].contains(&cells[1]);
        halves += &format!("*,{},*,{}\n", if is_up { "up" } else { "low" }, cells[3]);
    }
    let release = |text: &str| {
        let list = scores(&source, &testing::table(text), &roles, &request, None).unwrap();
        list[0].release.unwrap()
    };
    let nothing = release(&stars);
    assert!(nothing.auc < 0.75, "the spread of `*` is even, not the source's: {nothing:?}");
    let coarse = release(&halves);
    assert!(coarse.accuracy > 0.85, "the group is enough: {coarse:?}");
}

#[test]
fn tested_rows_are_not_trained_on() {
    let source = testing::table(&people(400));
    let (roles, request) = testing::request(&source, REQUEST);
    let folds = fold_of_rows(&source, &request, 1);
    assert_eq!(folds, fold_of_rows(&source, &request, 1));
    assert!((0..SPLITS).all(|fold| folds.iter().filter(|&&of| of == fold).count() > 50));
    let is_tested: Vec<bool> = folds.iter().map(|&fold| fold == 0).collect();
    let is_kept: Vec<bool> = is_tested.iter().map(|is_tested| !is_tested).collect();
    let part = source.of_rows(&is_kept);
    let scored = scores(&source, &part, &roles, &request, Some(&is_tested)).unwrap();
    assert_eq!(scored[0].source, scored[0].release, "the release is the trained rows");
    // Tested rows with other outcomes change what is measured, not what is learnt: the model of the
    // source stays that of the release, which does not have these rows.
    let lines: Vec<String> = people(400).lines().map(String::from).collect();
    let mut turned = vec![lines[0].clone()];
    for (line, is_tested) in lines[1..].iter().zip(&is_tested) {
        let other = if line.ends_with("high") {
            line.replace("high", "low")
        } else {
            line.replace("low", "high")
        };
        turned.push(if *is_tested { other } else { line.clone() });
    }
    let turned = testing::table(&(turned.join("\n") + "\n"));
    let scored = scores(&turned, &part, &roles, &request, Some(&is_tested)).unwrap();
    assert_eq!(scored[0].source, scored[0].release);
    assert!(scored[0].source.unwrap().accuracy < 0.2, "{scored:?}");
}
