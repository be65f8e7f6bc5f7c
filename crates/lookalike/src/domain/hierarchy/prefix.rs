//! Masked codes: 53712, 5371*, 537**, `*`.
//!
//! A mask keeps the number of characters, so codes of different length never meet below the root.
//! Two masks can only be equal if they hide the same positions of codes with the same kept
//! characters: a code that has a `*` of its own where a mask may put one, or that is `*` alone like
//! the root, would break this and is refused.

use super::{ANY, Ancestor, IntervalTreeBuilder, ROOT, fault, level};
use crate::codes::RowId;
use crate::domain::taxonomy::Taxonomy;
use crate::error::Result;

/// The tree of prefixes of these `lengths`, longest first, over the distinct values of a column.
/// Values are in order of length, then of text; a missing value comes last. `first_row` has the
/// first row of each value.
///
/// # Errors
/// When the lengths do not fall or end at 0, or a value looks like a mask.
pub fn prefix(
    column: &str,
    lengths: &[usize],
    values: &[Option<String>],
    first_row: &[RowId],
) -> Result<Taxonomy> {
    assert_eq!(values.len(), first_row.len(), "every value has a first row");
    let (Some(&shortest), true) =
        (lengths.last(), lengths.windows(2).all(|pair| pair[0] > pair[1]))
    else {
        return Err(fault(
            column,
            "lengths of a prefix are given longest first, each once: prefix = [4, 3, 2]",
        ));
    };
    if shortest == 0 {
        return Err(fault(
            column,
            "a prefix keeps at least one character; the root `*` is above it anyway",
        ));
    }
    let masked = |value: &str| {
        value == ROOT || value.chars().skip(shortest).any(|character| character == '*')
    };
    let missing = |value: &Option<String>| value.as_deref().unwrap_or("").is_empty();
    if let Some((_, row)) = values
        .iter()
        .zip(first_row)
        .filter(|(value, _)| value.as_deref().is_some_and(masked))
        .min_by_key(|v| v.1)
    {
        let row = u64::from(*row) + 1;
        return Err(fault(
            column,
            format!(
                "the value in data row {row} has a `*` of its own where a mask puts one: use a file"
            ),
        ));
    }

    let mut sorted: Vec<(usize, &str)> = values
        .iter()
        .filter(|value| !missing(value))
        .flatten()
        .map(|value| (value.chars().count(), value.as_str()))
        .collect();
    sorted.sort_unstable();
    let mut tree = IntervalTreeBuilder::new(ROOT, level(lengths.len() + 1), ANY);
    for (count, value) in sorted {
        let hidden = lengths.iter().enumerate().filter(|&(_, &length)| length < count);
        let path: Vec<Ancestor> = hidden
            .map(|(step, &length)| {
                let label = value
                    .chars()
                    .take(length)
                    .chain(std::iter::repeat_n('*', count - length))
                    .collect();
                Ancestor { label, level: level(step + 1), ends: ANY }
            })
            .collect();
        tree.leaf(value, 0.0, &path);
    }
    if values.iter().any(missing) {
        tree.leaf("", 0.0, &[]);
    }
    Ok(tree.build().into_taxonomy())
}

#[cfg(test)]
mod tests {
    use super::super::to_rows;
    use super::*;
    use crate::domain::taxonomy::tests::Dice;

    fn tree(lengths: &[usize], values: &[&str]) -> Result<Taxonomy> {
        let values: Vec<Option<String>> =
            values.iter().map(|value| Some((*value).to_owned())).collect();
        let rows: Vec<RowId> =
            (0..u32::try_from(values.len()).unwrap()).map(|row| row * 10).collect();
        prefix("zip", lengths, &values, &rows)
    }

    #[test]
    fn the_rest_of_a_code_is_masked() {
        let tree = tree(&[4, 3], &["53712", "53711", "", "53721", "60601"]).unwrap();
        let rows: Vec<String> = to_rows(&tree).iter().map(|row| row.join(";")).collect();
        assert_eq!(
            rows,
            [
                "53711;5371*;537**;*",
                "53712;5371*;537**;*",
                "53721;5372*;537**;*",
                "60601;6060*;606**;*",
                ";;;*"
            ]
        );
    }

    #[test]
    fn codes_of_different_length_meet_at_the_root_only() {
        let tree = tree(&[3, 1], &["äöü", "äö", "äöüß", "äöüx", "äöüßx"]).unwrap();
        let rows: Vec<String> = to_rows(&tree).iter().map(|row| row.join(";")).collect();
        assert_eq!(
            rows,
            [
                "äö;äö;ä*;*",
                "äöü;äöü;ä**;*",
                "äöüx;äöü*;ä***;*",
                "äöüß;äöü*;ä***;*",
                "äöüßx;äöü**;ä****;*"
            ]
        );
    }

    #[test]
    fn no_two_nodes_share_a_label_even_where_values_have_stars() {
        let mut dice = Dice(7);
        let mut accepted = 0;
        for _ in 0..3000 {
            let mut values: Vec<String> = (0..4)
                .map(|_| {
                    (0..=dice.roll(4)).map(|_| ['a', 'b', '*'][dice.roll(3) as usize]).collect()
                })
                .collect();
            values.sort();
            values.dedup();
            let values: Vec<&str> = values.iter().map(String::as_str).collect();
            let Ok(tree) = tree(&[3, 2], &values) else { continue };
            accepted += 1;
            let mut labels: Vec<&str> = (0..=tree.root()).map(|node| tree.label(node)).collect();
            labels.sort_unstable();
            assert!(labels.windows(2).all(|pair| pair[0] != pair[1]), "{values:?}: {labels:?}");
        }
        assert!(accepted > 100, "{accepted}");
    }

    #[test]
    fn a_value_that_looks_like_a_mask_is_refused_by_its_row() {
        for value in ["5371*", "*", "537*2"] {
            let error = tree(&[4, 3], &["53712", value]).unwrap_err().to_string();
            assert!(error.contains("data row 11"), "{error}");
            assert!(value == "*" || !error.contains(value), "{error}");
        }
        assert!(tree(&[4, 3], &["5*712"]).is_ok(), "a star that is never masked harms nobody");
    }

    #[test]
    fn lengths_that_do_not_fall_are_refused() {
        for lengths in [&[][..], &[3, 3], &[2, 3], &[2, 0], &[0]] {
            assert!(tree(lengths, &["53712"]).is_err(), "{lengths:?}");
        }
    }
}
