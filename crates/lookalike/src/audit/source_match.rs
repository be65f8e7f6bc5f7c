//! The comparison by matching: each released row must get a source row of its own that it covers.

use super::classes::{Fold, RowClasses};
use super::join::{
    CombinationCounts, Combinations, Coverage, Join, Quasi, combinations, count_combinations,
};
use super::matching::greatest;
use super::source_check::{CheckLimits, Finding, Passthrough, SourceCheck};
use crate::codes::Codes;

/// Which source rows of a group are in the release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReleasedPart {
    AllRows,
    SomeRows,
}

/// The rows of both tables grouped by their passed-through cells: source rows first, released rows
/// after them.
pub(super) fn by_passthrough(
    passthrough: &[Passthrough<'_>],
    (released, originals): (usize, usize),
) -> RowClasses {
    let mut fold = Fold::new(originals + released);
    let code = |column: &Passthrough<'_>, row: usize| match row.checked_sub(originals) {
        None => column.in_source(row),
        Some(row) => column.in_release(row),
    };
    fold.refine(
        &passthrough
            .iter()
            .map(|column| (column.distinct, move |row: usize| code(column, row)))
            .collect::<Vec<_>>(),
    );
    fold.finish()
}

/// Matches released rows with source rows, group by group of equal passed-through cells. Where that
/// takes too long, necessary conditions are checked instead.
pub(super) fn by_matching(
    quasi: &mut [Quasi<'_>],
    passthrough: &[Passthrough<'_>],
    rows: (usize, usize),
    limits: CheckLimits,
    truth: &mut SourceCheck,
) {
    // The column that rules out most pairs comes first.
    quasi.sort_by_cached_key(|quasi| selectivity(quasi));
    let columns: Vec<(&Codes, usize)> =
        quasi.iter().map(|quasi| (&*quasi.cells, quasi.distinct_cells)).collect();
    let boxes = combinations(&columns, rows.0);
    let columns: Vec<(&Codes, usize)> =
        quasi.iter().map(|quasi| (quasi.values, quasi.distinct_values)).collect();
    let tuples = combinations(&columns, rows.1);
    let groups = by_passthrough(passthrough, rows);
    let members = groups.rows();
    let mut join =
        Join { quasi, boxes: &boxes, tuples: &tuples, tests: limits.tests, edges: limits.edges };
    let mut changed = 0;
    let mut bounded_groups = 0u64;
    for group in small_first(&groups) {
        let all = members.of(group);
        let (originals, released) =
            all.split_at(all.partition_point(|&row| (row as usize) < rows.1));
        if released.is_empty() {
            continue;
        }
        changed += (released.len() as u64).saturating_sub(originals.len() as u64);
        let box_of = |row: &u32| boxes.of[*row as usize - rows.1];
        let box_counts = count_combinations(released.iter().map(box_of).collect());
        let tuple_of = |row: &u32| tuples.of[*row as usize];
        let tuple_counts = count_combinations(originals.iter().map(tuple_of).collect());
        match join.pairs(&box_counts, &tuple_counts) {
            Some(Coverage { edges: Some(edges), .. }) => {
                let matched = matched(&box_counts, &tuple_counts, &edges);
                truth.rows_matched += matched;
                truth.violations += released.len() as u64 - matched;
            }
            found => {
                bounded_groups += 1;
                truth.rows_only_bounded += released.len() as u64;
                let part = if released.len() == originals.len() {
                    ReleasedPart::AllRows
                } else {
                    ReleasedPart::SomeRows
                };
                truth.violations += match found {
                    Some(found) => unmatched(&box_counts, &tuple_counts, &found, part),
                    None => {
                        let of_boxes = (&boxes, &box_counts);
                        let of_tuples = (&tuples, &tuple_counts);
                        column_by_column(quasi, of_boxes, of_tuples, part)
                            .max(sample(quasi, of_boxes, of_tuples, part))
                    }
                };
            }
        }
    }
    state_matching(truth, bounded_groups, changed);
}

/// The most rows of a group that can be matched.
fn matched(
    box_counts: &CombinationCounts,
    tuple_counts: &CombinationCounts,
    edges: &[(u32, u32)],
) -> u64 {
    let count = |all: &CombinationCounts| all.iter().map(|&(_, rows)| rows).collect::<Vec<u64>>();
    match (edges, &**box_counts, &**tuple_counts) {
        ([], ..) => 0,
        // The usual case of a nearly unique passed-through column.
        ([_], [(_, supply)], [(_, room)]) => *supply.min(room),
        _ => greatest(count(box_counts), count(tuple_counts), edges),
    }
}

fn state_matching(truth: &mut SourceCheck, bounded_groups: u64, changed: u64) {
    if bounded_groups > 0 {
        truth.state(
            Finding::Partly,
            format!(
                "for {} released rows in {bounded_groups} groups of equal other cells no full \
                 match was searched (too many pairs): there it was checked that enough source rows \
                 are covered and none is left uncovered, in the largest groups column by column \
                 for all and in full for a sample",
                truth.rows_only_bounded
            ),
        );
    }
    let rows = if truth.rows_only_bounded == 0 { "released row" } else { "other released row" };
    truth.conclude(
        changed,
        &format!(
            "every {rows} was matched with a source row of its own that it covers and that has its \
             other cells"
        ),
    );
}

/// Small groups first, so that a large group that uses up the tests leaves no small one unmatched.
fn small_first(groups: &RowClasses) -> Vec<usize> {
    let mut order: Vec<usize> = (0..groups.sizes.len()).collect();
    order.sort_by_key(|&group| groups.sizes[group]);
    order
}

/// The number of pairs of a released row and a source row that it covers in this column.
fn selectivity(quasi: &Quasi<'_>) -> u128 {
    let mut rows_of_cell = vec![0u64; quasi.distinct_cells];
    quasi.cells.iter().for_each(|cell| rows_of_cell[cell as usize] += 1);
    let mut rows_of_value = vec![0u64; quasi.distinct_values];
    quasi.values.iter().for_each(|value| rows_of_value[value as usize] += 1);
    let cells: Vec<u32> = (0..).zip(&rows_of_cell).map(|(cell, _)| cell).collect();
    let values: CombinationCounts = (0..).zip(rows_of_value).collect();
    let (covered, _) = quasi.cover.tally(&cells, &values);
    covered
        .iter()
        .zip(&rows_of_cell)
        .map(|(&covered, &rows)| u128::from(covered) * u128::from(rows))
        .sum()
}

/// Rows that cannot be matched, box by box and tuple by tuple: released rows beyond the source rows
/// that their box covers, and, where all rows are released, source rows that no box covers.
fn unmatched(
    box_counts: &CombinationCounts,
    tuple_counts: &CombinationCounts,
    found: &Coverage,
    part: ReleasedPart,
) -> u64 {
    let boxes: u64 = box_counts
        .iter()
        .zip(&found.covered)
        .map(|((_, rows), covered)| rows.saturating_sub(*covered))
        .sum();
    let tuples: u64 = tuple_counts
        .iter()
        .zip(&found.reached)
        .filter(|(_, reached)| part == ReleasedPart::AllRows && !**reached)
        .map(|((_, rows), _)| rows)
        .sum();
    boxes + tuples
}

/// The most coverage tests for a sample of released rows, and for one of source rows.
const SAMPLE: usize = 50_000_000;

/// The number of rows that fail the necessary conditions, in full, for boxes and tuples taken at
/// equal steps.
fn sample(
    quasi: &[Quasi<'_>],
    box_counts: (&Combinations, &CombinationCounts),
    tuple_counts: (&Combinations, &CombinationCounts),
    part: ReleasedPart,
) -> u64 {
    let ((boxes, box_counts), (tuples, tuple_counts)) = (box_counts, tuple_counts);
    let covers = |b: u32, tuple: u32| {
        let (released, original) =
            (boxes.first[b as usize] as usize, tuples.first[tuple as usize] as usize);
        quasi
            .iter()
            .all(|quasi| quasi.cover.covers(quasi.cells.get(released), quasi.values.get(original)))
    };
    let step = |all: &CombinationCounts, others: &CombinationCounts| {
        all.len().div_ceil((SAMPLE / others.len().max(1)).max(20)).max(1)
    };
    let unmatched = box_counts.iter().step_by(step(box_counts, tuple_counts)).map(|&(b, rows)| {
        let room: u64 = tuple_counts
            .iter()
            .filter(|&&(tuple, _)| covers(b, tuple))
            .map(|&(_, rows)| rows)
            .sum();
        rows.saturating_sub(room)
    });
    let unmatched: u64 = unmatched.sum();
    let uncovered = tuple_counts
        .iter()
        .step_by(step(tuple_counts, box_counts))
        .filter(|_| part == ReleasedPart::AllRows);
    let uncovered: u64 = uncovered
        .filter(|&&(tuple, _)| !box_counts.iter().any(|&(b, _)| covers(b, tuple)))
        .map(|&(_, rows)| rows)
        .sum();
    unmatched.max(uncovered)
}

/// The same conditions in each column alone: much weaker, and fast at any size. The worst column
/// counts.
fn column_by_column(
    quasi: &[Quasi<'_>],
    box_counts: (&Combinations, &CombinationCounts),
    tuple_counts: (&Combinations, &CombinationCounts),
    part: ReleasedPart,
) -> u64 {
    let worst = quasi.iter().map(|quasi| {
        let codes = |codes: &Codes, (all, counted): (&Combinations, &CombinationCounts)| {
            let mut list: CombinationCounts = counted
                .iter()
                .map(|&(at, rows)| (codes.get(all.first[at as usize] as usize), rows))
                .collect();
            list.sort_unstable();
            list.chunk_by(|a, b| a.0 == b.0)
                .map(|run| (run[0].0, run.iter().map(|(_, rows)| rows).sum()))
                .collect::<CombinationCounts>()
        };
        let cell_counts = codes(&quasi.cells, box_counts);
        let value_counts = codes(quasi.values, tuple_counts);
        let cells: Vec<u32> = cell_counts.iter().map(|&(cell, _)| cell).collect();
        let (covered, reached) = quasi.cover.tally(&cells, &value_counts);
        unmatched(&cell_counts, &value_counts, &Coverage { covered, reached, edges: None }, part)
    });
    worst.max().unwrap_or(0)
}
