//! Columns counted by hand.

use crate::evaluate::query::{Bin, Detail, certainty, columns};
use crate::request::Request;
use crate::testing::table;

fn look(source: &str, release: &str) -> Detail {
    let request = Request::parse("k = 2\n[columns]\na = { role = \"quasi\" }").unwrap();
    columns(&table(source), &table(release), &request).unwrap().remove(0)
}

fn bin(label: &str, before: u64, after: f64) -> Bin {
    Bin { label: Some(label.to_string()), before, after }
}

#[test]
fn ranges_lose_their_length_and_spread_evenly() {
    let source = "a\n1\n1\n2\n3\n5\n";
    let found = look(source, "a\n1\n1\n[2-3]\n[2-3]\n");
    assert!((found.ncp - 2.0 * 0.25).abs() < 1e-12 && found.generalized == 2, "{found:?}");
    let expected =
        [bin("1", 2, 2.0), bin("2", 1, 1.0), bin("3", 1, 1.0), bin("4", 0, 0.0), bin("5", 1, 0.0)];
    assert_eq!(found.bins, expected);
    // The row that is not in the release lost everything.
    let lost = certainty(&[found], 5, 4);
    assert!((lost.ncp - 1.5).abs() < 1e-12 && (lost.gcp - 0.3).abs() < 1e-12, "{lost:?}");
}

#[test]
fn groups_and_sets_lose_the_share_of_their_leaves() {
    let source = "a\nx\nx\nx\ny\nz\n";
    let found = look(source, "a\nx\nx\n*\n\"{y, z}\"\n\"{y, z}\"\n");
    assert!(
        (found.ncp - (1.0 + 2.0 * 2.0 / 3.0)).abs() < 1e-12 && found.generalized == 3,
        "{found:?}"
    );
    let third = 1.0 / 3.0;
    let expected = [bin("x", 3, 2.0 + third), bin("y", 1, 1.0 + third), bin("z", 1, 1.0 + third)];
    for (found, expected) in found.bins.iter().zip(&expected) {
        assert_eq!((&found.label, found.before), (&expected.label, expected.before));
        assert!((found.after - expected.after).abs() < 1e-12, "{found:?}");
    }
}
