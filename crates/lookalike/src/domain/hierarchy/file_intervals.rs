//! A hierarchy file for numbers or dates: its groups become intervals.
//!
//! Leaves are matched by number (`30` is `30.0`), dates by date. Every group must be one interval:
//! no leaf of another group lies between two of its own.

use rustc_hash::FxHashSet;

use super::file::{CheckedTree, HierarchyFile, check, unlisted};
use super::{ANY, Ancestor, IntervalTree, IntervalTreeBuilder};
use crate::domain::parse::{TimeScale, number_or_date};
use crate::error::{Error, Result};

/// The tree of a hierarchy file for an ordered column with these sorted numbers and their texts.
/// Leaves that no row has only widen the ends of their ancestors. A leaf with an empty label is the
/// missing value, which has no place among numbers.
///
/// # Errors
/// When the file is no tree, a leaf is no number, a number of the column is no leaf, or a group is
/// not one interval.
pub fn file_intervals(
    file: &HierarchyFile,
    column: &str,
    numbers: &[f64],
    texts: &[String],
) -> Result<IntervalTree> {
    let checked = check(file)?;
    let leaves = leaves_by_number(file, &checked, column, TimeScale::of(texts))?;
    let ends = group_ends(file, &checked, &leaves)?;
    let CheckedTree { tree, leaf, .. } = &checked;
    let groups: FxHashSet<&str> =
        (0..leaf.len()).filter(|&at| !leaf[at]).map(|at| tree.labels[at].as_str()).collect();
    let mut made =
        IntervalTreeBuilder::new(&tree.labels[0], tree.levels[0], ends[0].unwrap_or(ANY));
    let mut unknown = 0;
    for (number, text) in numbers.iter().map(|number| number + 0.0).zip(texts) {
        let Ok(found) = leaves.binary_search_by(|(other, _)| other.total_cmp(&number)) else {
            unknown += 1;
            continue;
        };
        let (_, place) = leaves[found];
        if groups.contains(text.as_str()) {
            let why = "a group has the label that the data gives to this number: rename the group";
            return Err(Error::hierarchy("hierarchy-label-taken", why)
                .at_file(&file.place)
                .at_line(line_of(file, &checked, place)));
        }
        let ancestor = |place: usize| Ancestor {
            label: tree.labels[place].clone(),
            level: tree.levels[place],
            ends: ends[place].expect("a group of this number has ends"),
        };
        let path: Vec<Ancestor> =
            groups_above(&checked, place).filter(|&place| place != 0).map(ancestor).collect();
        made.leaf(text, number, &path);
    }
    if unknown > 0 {
        return Err(unlisted(file, column, &format!("a number of column `{column}`"), unknown));
    }
    Ok(made.build())
}

/// The number and the place of each leaf but the missing value, by rising number.
fn leaves_by_number(
    file: &HierarchyFile,
    checked: &CheckedTree,
    column: &str,
    scale: TimeScale,
) -> Result<Vec<(f64, usize)>> {
    let CheckedTree { tree, leaf, .. } = checked;
    let mut leaves: Vec<(f64, usize)> = Vec::new();
    for place in (0..leaf.len()).filter(|&place| leaf[place] && !tree.labels[place].is_empty()) {
        let label = &tree.labels[place];
        let Some(number) = number_or_date(label, scale) else {
            let why = format!("`{label}` is no number, but column `{column}` is numeric");
            return Err(Error::hierarchy("hierarchy-not-numeric", why)
                .at_file(&file.place)
                .at_line(line_of(file, checked, place)));
        };
        leaves.push((number, place));
    }
    leaves.sort_by(|a, b| a.0.total_cmp(&b.0));
    if let Some(pair) = leaves.windows(2).find(|pair| pair[0].0.total_cmp(&pair[1].0).is_eq()) {
        let lines = [pair[0].1, pair[1].1].map(|place| line_of(file, checked, place));
        let why =
            format!("the same number as on line {}: keep one of the two", lines[0].min(lines[1]));
        return Err(Error::hierarchy("hierarchy-number-twice", why)
            .at_file(&file.place)
            .at_line(lines[0].max(lines[1])));
    }
    Ok(leaves)
}

/// For each place the least and the greatest leaf below it; none where there is no number below.
fn group_ends(
    file: &HierarchyFile,
    checked: &CheckedTree,
    leaves: &[(f64, usize)],
) -> Result<Vec<Option<(f64, f64)>>> {
    let places = checked.leaf.len();
    let mut ends: Vec<Option<(f64, f64)>> = vec![None; places];
    // Leaves in value order: a group that was left may not be entered again.
    let mut latest: Vec<usize> = vec![0; places];
    for (rank, &(number, leaf)) in leaves.iter().enumerate() {
        for place in groups_above(checked, leaf) {
            if ends[place].is_some() && latest[place] + 1 != rank {
                let why = format!(
                    "`{}` is not one interval: the number of line {} lies within it",
                    checked.tree.labels[place],
                    line_of(file, checked, leaves[latest[place] + 1].1)
                );
                return Err(Error::hierarchy("hierarchy-not-an-interval", why)
                    .at_file(&file.place)
                    .at_line(line_of(file, checked, leaf)));
            }
            ends[place] = Some((ends[place].map_or(number, |(lo, _)| lo), number));
            latest[place] = rank;
        }
    }
    Ok(ends)
}

/// The places of the groups of a leaf, its parent first, the root last.
fn groups_above<'a>(checked: &'a CheckedTree, leaf: usize) -> impl Iterator<Item = usize> + 'a {
    let parent = |place: usize| (place != 0).then(|| checked.tree.parents[place] as usize);
    std::iter::successors(parent(leaf), move |&place| parent(place))
}

/// The line of the file that first has a place.
fn line_of(file: &HierarchyFile, checked: &CheckedTree, place: usize) -> u64 {
    file.lines[checked.rows[place]]
}

#[cfg(test)]
mod tests {
    use super::super::file::parse;
    use super::*;

    #[test]
    fn numbers_find_their_leaf_by_value() {
        let rows =
            parse("age.csv", b"0;[0-4];*\n4.0;[0-4];*\n 5;[5-9];*\n9;[5-9];*\n;none;*\n").unwrap();
        let made = file_intervals(
            &rows,
            "age",
            &[-0.0, 4.0, 9.0],
            &["-0".into(), "4".into(), "9.0".into()],
        )
        .unwrap();
        let tree = made.taxonomy();
        let labels: Vec<&str> = (0..3).map(|code| tree.leaf_label(code)).collect();
        assert_eq!(labels, ["-0", "4", "9.0"]);
        let above = |code| tree.parent(code).unwrap();
        assert_eq!((tree.label(above(0)), tree.label(above(2))), ("[0-4]", "[5-9]"));
        assert_eq!(
            (made.ends(above(2)), made.ends(2), made.ends(tree.root())),
            ((5.0, 9.0), (9.0, 9.0), (0.0, 9.0))
        );
        assert_eq!(tree.height(), 2);
    }

    #[test]
    fn dates_find_their_leaf_by_date() {
        let rows = parse("d.csv", b"1970-01-02;early;*\n1970-01-03;early;*\n").unwrap();
        let made = file_intervals(&rows, "born", &[1.0], &["1970-01-02".into()]).unwrap();
        assert_eq!(made.ends(made.taxonomy().parent(0).unwrap()), (1.0, 2.0));
    }

    #[test]
    fn a_file_that_does_not_fit_the_numbers_is_refused() {
        let refused = |text: &str, numbers: &[f64]| {
            let texts: Vec<String> = numbers.iter().map(f64::to_string).collect();
            file_intervals(&parse("age.csv", text.as_bytes()).unwrap(), "age", numbers, &texts)
                .unwrap_err()
                .to_string()
        };
        let gap = refused("1;X;*\n2;Y;*\n3;X;*\n", &[1.0]);
        assert!(
            gap.contains("line 3: `X` is not one interval: the number of line 2 lies within it"),
            "{gap}"
        );
        assert!(refused("1;X;*\nold;X;*\n", &[1.0]).contains("line 2: `old` is no number"));
        assert!(
            refused("1;X;*\n1.0;X;*\n", &[1.0]).contains("line 2: the same number as on line 1")
        );
        let unknown = refused("1;X;*\n2;X;*\n", &[1.0, 77.0]);
        assert!(
            unknown.contains("a number of column `age` is not in the file")
                && !unknown.contains("77"),
            "{unknown}"
        );
        assert!(refused("1.0;1;*\n2;1;*\n", &[1.0]).contains("rename the group"));
    }
}
