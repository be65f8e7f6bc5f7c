//! Values that papers, manuals and other programs have published.

use super::super::special::{dis_suda, search};
use super::super::{classes::RiskClasses, individual_risk};
use super::{measured, near, request};
use crate::request::Request;
use crate::testing;

/// Table 4.1 of the practice guide: Benschop, Machingauta, Welch: Statistical Disclosure Control
/// for Microdata: A Practice Guide, IHSN and World Bank, chapter "Measuring risk".
const GUIDE: &str = "residence,gender,education,labor,weight
Urban,Female,Secondary incomplete,Employed,180
Urban,Female,Secondary incomplete,Employed,180
Urban,Female,Primary incomplete,Non-LF,215
Urban,Male,Secondary complete,Employed,76
Rural,Female,Secondary complete,Unemployed,186
Urban,Male,Secondary complete,Employed,76
Urban,Female,Primary complete,Non-LF,180
Urban,Male,Post-secondary,Unemployed,215
Urban,Female,Secondary incomplete,Non-LF,186
Urban,Female,Secondary incomplete,Non-LF,76
";

fn guide() -> String {
    let quasi = request("rest = 'drop'", &["residence", "gender", "education", "labor"]);
    format!("{quasi}weight = {{ role = 'weight' }}")
}

#[test]
fn individual_risks_are_those_of_the_practice_guide() {
    // Example 4.3 of the guide: f, F and the risk that sdcMicro prints.
    for (f, persons, risk) in [
        (2, 360.0, 0.005424520),
        (1, 215.0, 0.025096439),
        (2, 152.0, 0.012563425),
        (1, 186.0, 0.028247279),
        (1, 180.0, 0.029010932),
        (2, 262.0, 0.007403834),
    ] {
        #[allow(clippy::cast_precision_loss, reason = "1 or 2")]
        let p = f as f64 / persons;
        near(individual_risk(f, p), risk, 5e-10);
    }
    let found = measured(GUIDE, &guide(), None).unwrap().sample.unwrap();
    near(found.persons, 1570.0, 1e-12);
    near(found.journalist.highest, 0.029010932, 5e-10);
    let all = 2.0 * (0.005424520 + 0.012563425 + 0.007403834)
        + 2.0 * 0.025096439
        + 0.028247279
        + 0.029010932;
    near(found.expected, all, 1e-8);
}

#[test]
fn individual_risks_are_those_of_the_exact_method_of_sdcmicro() {
    // tests/testthat/test_indivRisk.R of sdcMicro, method "exact": f, the sum of the weights, risk.
    // With missing values a row has more matches there; f and the sums are then those of its keys.
    for (f, persons, risk) in [
        (3, 18.0 + 39.0 + 51.0, 0.01355297),
        (1, 45.5, 0.08579129),
        (1, 17.0, 0.17707583),
        (2, 92.0 + 8.0, 0.01877883),
        (1, 123.5, 0.03931625),
    ] {
        #[allow(clippy::cast_precision_loss, reason = "up to 3")]
        let p = f as f64 / persons;
        near(individual_risk(f, p), risk, 5e-8);
    }
    // The same through a table.
    let text = "A,B,C,w\n2,3,1,18\n3,3,3,45.5\n2,3,1,39\n2,3,2,17\n3,3,1,92\n3,3,1,8\n1,4,1,123.5\n\
                2,3,1,51\n";
    let toml = request("", &["A", "B", "C"]) + "w = { role = 'weight' }";
    let found = measured(text, &toml, None).unwrap().sample.unwrap();
    let all = 3.0 * 0.01355297 + 0.08579129 + 0.17707583 + 2.0 * 0.01877883 + 0.03931625;
    near(found.expected, all, 1e-6);
    near(found.journalist.highest, 0.17707583, 1e-8);
}

/// The scores of all rows, for sets of any size.
fn scores(text: &str, columns: &[&str]) -> (Vec<f64>, super::super::SpecialUniques) {
    let table = testing::table(text);
    let request = Request::parse(&request("rest = 'drop'", columns)).unwrap();
    let classes = RiskClasses::new(&table, &request).unwrap();
    let found = search(&classes, columns.len(), true, Some(0.01));
    let scores = super::columns::slow_scores(text, columns, columns.len());
    (scores, found)
}

#[test]
fn suda_scores_are_those_of_the_practice_guide_and_of_sdcmicro() {
    // Table 4.5 of the guide, and tests/testthat/test_suda2.R of sdcMicro ("suda2 sdc guideline").
    let (scores_of_rows, found) = scores(GUIDE, &["residence", "gender", "education", "labor"]);
    assert_eq!(scores_of_rows, [0.0, 0.0, 6.0, 0.0, 12.0, 0.0, 6.0, 10.0, 0.0, 0.0]);
    assert_eq!((found.uniques, found.special, found.highest_score), (4, 4, 12.0));
    near(found.mean_score, (6.0 + 12.0 + 6.0 + 10.0) / 4.0, 1e-12);
    // The guide lists the minimal sample uniques of record 5: one of size 1, three of size 2.
    assert_eq!(found.minimal, [4, 5, 0, 0]);
    // "suda2 book example" (Templ, Statistical Disclosure Control for Microdata, 2017).
    let book = "age,gender,income,education\n20s,male,50k+,highschool\n20s,male,50k+,highschool\n\
                20s,male,50k-,highschool\n20s,male,50k-,highschool\n20s,female,50k-,university\n\
                20s,female,50k-,highschool\n20s,female,50k-,middleschool\n\
                60s,male,50k-,university\n";
    let (scores_of_rows, found) = scores(book, &["age", "gender", "income", "education"]);
    assert_eq!(scores_of_rows[4..], [4.0, 2.0, 6.0, 8.0]);
    near(found.highest_score, 8.0, 1e-12);
    near(found.mean_score * 4.0, 20.0, 1e-12);
}

#[test]
fn shares_of_columns_are_those_of_sdcmicro() {
    // "suda2 simple example contribution" in test_suda2.R: 50, 37.5 and 37.5 percent.
    let (_, found) = scores("a,b,c\n2,0,0\n1,3,6\n1,0,0\n", &["a", "b", "c"]);
    let shares: Vec<f64> = found.columns.iter().map(|column| column.score_share).collect();
    assert_eq!(shares, [0.5, 0.375, 0.375]);
}

#[test]
fn dis_suda_is_that_of_the_practice_guide() {
    // Example 4.7 of the guide: scores and DIS-SUDA of sdcMicro with a sampling fraction of 0.01.
    // The scores there are of another scale; DIS-SUDA does not depend on the scale.
    let found = dis_suda(&[1.75, 3.25, 1.75, 2.75], (4, 3), 0.01, 4);
    for (is, should) in found.iter().zip([0.005120313, 0.010702061, 0.005120313, 0.008775093]) {
        near(*is, should, 5e-9);
    }
    let scaled = dis_suda(&[175.0, 325.0, 0.0, 175.0, 275.0], (4, 3), 0.01, 4);
    near(scaled[1], found[1], 1e-12);
    near(scaled[2], 0.0, 1e-12);
}

#[test]
fn prosecutor_risks_are_those_of_arx() {
    // TestRiskMetrics of ARX: seven rows in three classes after 2-anonymization: the highest risk
    // is 1/2, the mean is 3/7.
    let found = measured("a\n1\n1\n2\n2\n3\n3\n3\n", &request("", &["a"]), None).unwrap();
    near(found.prosecutor.highest, 0.5, 1e-12);
    near(found.prosecutor.average, 0.428_571_428_571_428_55, 1e-15);
}
