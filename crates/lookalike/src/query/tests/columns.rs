//! Columns counted by hand.

use crate::config::Config;
use crate::query::{Bin, Detail, Look, certainty, columns};
use crate::testing::table;

fn look(source: &str, release: &str, line: &str, look: Look) -> Detail {
    let config = Config::parse(&format!("k = 2\n[columns]\na = {{ role = \"quasi\"{line} }}")).unwrap();
    columns(&table(source), &table(release), &config, look).unwrap().remove(0)
}

fn bin(label: &str, before: u64, after: f64) -> Bin {
    Bin { label: Some(label.to_string()).filter(|label| label != "other"), before, after }
}

#[test]
fn ranges_lose_their_length_and_spread_evenly() {
    let source = "a\n1\n1\n2\n3\n5\n";
    let found = look(source, "a\n1\n1\n[2-3]\n[2-3]\n", "", Look::Everything);
    assert!((found.ncp - 2.0 * 0.25).abs() < 1e-12 && found.generalized == 2, "{found:?}");
    let expected = [bin("1", 2, 2.0), bin("2", 1, 1.0), bin("3", 1, 1.0), bin("4", 0, 0.0), bin("5", 1, 0.0)];
    assert_eq!(found.bins, expected);
    // The row that is not in the release lost everything.
    let lost = certainty(&[found], 5, 4);
    assert!((lost.ncp - 1.5).abs() < 1e-12 && (lost.gcp - 0.3).abs() < 1e-12, "{lost:?}");
}

#[test]
fn groups_and_sets_lose_the_share_of_their_leaves() {
    let source = "a\nx\nx\nx\ny\nz\n";
    let found = look(source, "a\nx\nx\n*\n\"{y, z}\"\n\"{y, z}\"\n", "", Look::Everything);
    assert!((found.ncp - (1.0 + 2.0 * 2.0 / 3.0)).abs() < 1e-12 && found.generalized == 3, "{found:?}");
    let third = 1.0 / 3.0;
    let expected = [bin("x", 3, 2.0 + third), bin("y", 1, 1.0 + third), bin("z", 1, 1.0 + third)];
    for (found, expected) in found.bins.iter().zip(&expected) {
        assert_eq!((&found.label, found.before), (&expected.label, expected.before));
        assert!((found.after - expected.after).abs() < 1e-12, "{found:?}");
    }
}

#[test]
fn for_everybody_rare_and_unpublished_values_are_others() {
    let source = "a\nx\nx\nx\nx\nv\nv\nv\ny\nz\n";
    let release = "a\nx\nx\nx\nx\nv\nv\nv\n*\n*\n";
    let found = look(source, release, "", Look::Published { least: 2 });
    // Of `*` a third is x, a third v, a third any of the others: how many these are is not told.
    let third = 2.0 / 3.0;
    let expected = [bin("x", 4, 4.0 + third), bin("v", 3, 3.0 + third), bin("other", 2, third)];
    assert_eq!(found.bins, expected);
    // Others that would be too few take the rarest value with them.
    let found = look(source, release, "", Look::Published { least: 3 });
    assert_eq!(found.bins.iter().map(|bin| bin.before).collect::<Vec<_>>(), [4, 5]);
    assert!(look("a\nx\ny\n", "a\n*\n*\n", "", Look::Published { least: 2 }).bins.is_empty());
}

#[test]
fn for_everybody_bins_are_large_and_their_ends_are_open() {
    let source = "a\n1\n1\n2\n3\n3\n4\n4\n900\n";
    let release = "a\n[1-2]\n[1-2]\n[1-2]\n[3-4]\n[3-4]\n[3-4]\n[3-4]\n*\n";
    let found = look(source, release, "", Look::Published { least: 2 });
    let labels: Vec<_> = found.bins.iter().map(|bin| bin.label.as_deref().unwrap()).collect();
    assert_eq!(labels, ["below 2", "2 – 3", "from 4"]);
    assert_eq!(found.bins.iter().map(|bin| bin.before).collect::<Vec<_>>(), [2, 3, 3], "the great one is in the last");
    let order = ", order = [\"p\", \"q\", \"r\", \"s\"]";
    let found = look("a\np\np\nq\nr\nr\ns\ns\n", "a\np\np\n[p-r]\n[p-r]\n[p-r]\ns\ns\n", order, Look::Published { least: 2 });
    let labels: Vec<_> = found.bins.iter().map(|bin| bin.label.as_deref().unwrap()).collect();
    assert_eq!(labels, ["below r", "r", "from s"], "q is not published");
}
