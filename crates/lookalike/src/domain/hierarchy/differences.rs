//! A tree beside the values of a column: values without a line, lines without a row, and pairs of
//! both that are probably one misspelt value.

use rustc_hash::FxHashSet;

use crate::domain::parse::number;
use crate::domain::taxonomy::Taxonomy;

/// Most pairs of texts that are compared letter by letter.
const MOST_PAIRS: usize = 10_000_000;

/// What a tree and a column do not have in common.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Differences {
    /// Values of the column that the tree has not, sorted. They are cells: not for a log.
    pub missing: Vec<String>,
    /// Values of the tree that no row has, in its order.
    pub unused: Vec<String>,
    /// Probably misspelt: a value of the tree that no row has, and the value of the column that it
    /// nearly is, by their places in the lists above.
    pub misspelt: Vec<(usize, usize)>,
}

/// Compares the leaves of a tree with the distinct values of a column, by text and by number (`30`
/// is `30.0`).
pub fn differences(tree: &Taxonomy, values: &[Option<String>]) -> Differences {
    let leaves = u32::try_from(tree.leaves()).expect("codes have 32 bits");
    let place = |text: &str| number(text).map(|number| (number + 0.0).to_bits());
    let numbers: FxHashSet<u64> =
        (0..leaves).filter_map(|leaf| place(tree.leaf_label(leaf))).collect();
    let codes = tree.codes(values);
    let mut missing: Vec<String> = values
        .iter()
        .zip(&codes)
        .filter(|(_, code)| code.is_none())
        .filter_map(|(value, _)| value.as_ref())
        .filter(|text| place(text).is_none_or(|place| !numbers.contains(&place)))
        .cloned()
        .collect();
    missing.sort_unstable();
    let used: FxHashSet<u32> = codes.into_iter().flatten().collect();
    let used_numbers: FxHashSet<u64> =
        values.iter().flatten().filter_map(|text| place(text)).collect();
    let is_unused = |leaf: &u32| {
        let label = tree.leaf_label(*leaf);
        let same_number = place(label).is_some_and(|place| used_numbers.contains(&place));
        !label.is_empty() && !used.contains(leaf) && !same_number
    };
    let unused: Vec<String> =
        (0..leaves).filter(is_unused).map(|leaf| tree.leaf_label(leaf).to_string()).collect();
    let misspelt = misspelt(&unused, &missing);
    Differences { missing, unused, misspelt }
}

/// For each unused label the nearest missing value, where they differ in at most two letters and in
/// less than a third of them.
fn misspelt(unused: &[String], missing: &[String]) -> Vec<(usize, usize)> {
    if unused.len().saturating_mul(missing.len()) > MOST_PAIRS {
        return Vec::new();
    }
    let distance = |label: &str, value: &str| {
        let (label, value) = (label.trim().to_lowercase(), value.trim().to_lowercase());
        let letters = label.chars().count().max(value.chars().count());
        let far = label.chars().count().abs_diff(value.chars().count()) > 2;
        let is_number = number(&label).is_some() || number(&value).is_some();
        let apart = if far || is_number { 3 } else { strsim::levenshtein(&label, &value) };
        (apart <= 2 && 3 * apart < letters).then_some(apart)
    };
    let nearest = |(at, label): (usize, &String)| {
        let near = missing.iter().enumerate();
        let near = near.filter_map(|(value, text)| Some((distance(label, text)?, value)));
        near.min().map(|(_, value)| (at, value))
    };
    unused.iter().enumerate().filter_map(nearest).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{file, taxonomy};
    use super::*;

    #[test]
    fn lines_without_a_row_and_values_without_a_line_are_found_and_paired() {
        let file = file::parse("w.csv", b"Private;X;*\nLocal-gov;X;*\n30;Y;*\nid;Y;*\n;*;*\n");
        let tree = taxonomy(&file.unwrap(), "w", &[], &[]).unwrap();
        let values = ["private", "Locl-gov", "30.0", "31", "ie"].map(|text| Some(text.to_string()));
        let found = differences(&tree, &values);
        assert_eq!(found.missing, ["31", "Locl-gov", "ie", "private"]);
        assert_eq!(found.unused, ["Private", "Local-gov", "id"]);
        assert_eq!(found.misspelt, [(0, 3), (1, 1)], "two letters are too few to compare");
    }
}
