//! The comparison by matching: each released row must get a source row of its own that it covers.

use std::sync::OnceLock;

use rayon::prelude::*;

use super::classes::{Fold, RowClasses};
use super::column_order::{ColumnOrder, column_order};
use super::join::{
    CombinationCounts, Combinations, Coverage, Join, Quasi, combinations, count_combinations,
};
use super::matching::greatest;
use super::placement::{Placed, place};
use super::row_counts::RowCounts;
use super::source_check::{CheckLimits, Finding, Passthrough, SourceCheck};
use super::tuple_index::TupleIndex;
use crate::codes::Codes;

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

/// Matches released rows with source rows, group by group of equal passed-through cells.
pub(super) fn by_matching(
    quasi: &mut [Quasi<'_>],
    passthrough: &[Passthrough<'_>],
    rows: (usize, usize),
    row_counts: &(RowCounts<'_>, RowCounts<'_>),
    limits: CheckLimits,
    truth: &mut SourceCheck,
) {
    // The column that rules out most pairs comes first.
    quasi.sort_by_cached_key(|quasi| reach(quasi).pairs);
    let quasi = &*quasi;
    let columns: Vec<(&Codes, usize)> =
        quasi.iter().map(|quasi| (&*quasi.cells, quasi.distinct_cells)).collect();
    let boxes = combinations(&columns, rows.0);
    let columns: Vec<(&Codes, usize)> =
        quasi.iter().map(|quasi| (quasi.values, quasi.distinct_values)).collect();
    let tuples = combinations(&columns, rows.1);
    let groups = by_passthrough(passthrough, rows);
    let members = groups.rows();
    // Large groups first: no thread waits long for the last one.
    let mut order: Vec<usize> = (0..groups.sizes.len()).collect();
    order.sort_by_key(|&group| std::cmp::Reverse(groups.sizes[group]));
    drop(groups);
    let tables = Tables { quasi, boxes, tuples, limits };
    let index = OnceLock::new();
    let of_group = |group: usize| {
        let all = members.of(group);
        let (originals, released) =
            all.split_at(all.partition_point(|&row| (row as usize) < rows.1));
        if released.is_empty() {
            return GroupMatch::default();
        }
        let box_of = |row: &u32| {
            let row = *row as usize - rows.1;
            (tables.boxes.of[row], row_counts.0.of(row))
        };
        let tuple_of =
            |row: &u32| (tables.tuples.of[*row as usize], row_counts.1.of(*row as usize));
        let boxes = count_combinations(released.iter().map(box_of), tables.boxes.first.len());
        let tuples = count_combinations(originals.iter().map(tuple_of), tables.tuples.first.len());
        tables.match_group(&boxes, &tuples, &index)
    };
    let found = order
        .into_par_iter()
        .with_max_len(1)
        .map(of_group)
        .reduce(GroupMatch::default, GroupMatch::plus);
    truth.rows_matched = found.placed.rows;
    truth.violations = found.placed.without;
    truth.rows_undecided = found.placed.undecided;
    state_matching(truth, found.changed);
}

/// The findings on a group, or on several.
#[derive(Clone, Copy, Debug, Default)]
struct GroupMatch {
    placed: Placed,
    /// Released rows beyond the source rows with the same passed-through cells.
    changed: u64,
}

impl GroupMatch {
    fn plus(self, other: GroupMatch) -> GroupMatch {
        let (a, b) = (self.placed, other.placed);
        GroupMatch {
            placed: Placed {
                rows: a.rows + b.rows,
                without: a.without + b.without,
                undecided: a.undecided + b.undecided,
            },
            changed: self.changed + other.changed,
        }
    }
}

/// Both tables in combinations.
struct Tables<'a> {
    /// In the order in which the combinations were sorted.
    quasi: &'a [Quasi<'a>],
    boxes: Combinations,
    tuples: Combinations,
    limits: CheckLimits,
}

/// What the index needs of the columns, whatever the group.
struct IndexColumns {
    orders: Vec<ColumnOrder>,
    /// For each column and cell the logarithm of its share of the source rows.
    shares: Vec<Vec<f32>>,
}

impl Tables<'_> {
    fn match_group(
        &self,
        boxes: &CombinationCounts,
        tuples: &CombinationCounts,
        index: &OnceLock<IndexColumns>,
    ) -> GroupMatch {
        let sum = |all: &CombinationCounts| all.iter().map(|&(_, rows)| rows).sum::<u64>();
        let (released, originals) = (sum(boxes), sum(tuples));
        let pairs = (boxes.len() as u64).saturating_mul(tuples.len() as u64);
        let placed = if pairs <= self.limits.pairs {
            self.by_pairs(boxes, tuples, released)
        } else {
            self.by_index(boxes, tuples, index.get_or_init(|| IndexColumns::new(self.quasi)))
        };
        GroupMatch { placed, changed: released.saturating_sub(originals) }
    }

    /// All pairs are listed.
    fn by_pairs(
        &self,
        boxes: &CombinationCounts,
        tuples: &CombinationCounts,
        released: u64,
    ) -> Placed {
        let mut join = Join {
            quasi: self.quasi,
            boxes: &self.boxes,
            tuples: &self.tuples,
            tests: u64::MAX,
            edges: usize::MAX,
        };
        let rows = match join.pairs(boxes, tuples) {
            Some(Coverage { edges: Some(edges), .. }) => matched(boxes, tuples, &edges),
            _ => 0,
        };
        Placed { rows, without: released - rows, undecided: 0 }
    }

    /// No pair is listed.
    fn by_index(
        &self,
        boxes: &CombinationCounts,
        tuples: &CombinationCounts,
        columns: &IndexColumns,
    ) -> Placed {
        let narrow = |rows: u64| u32::try_from(rows).expect("a table has 32 bits of rows");
        let first = |of: &Combinations, all: &CombinationCounts| {
            all.iter().map(|&(at, _)| of.first[at as usize]).collect::<Vec<u32>>()
        };
        let counts =
            |all: &CombinationCounts| all.iter().map(|&(_, rows)| narrow(rows)).collect::<Vec<_>>();
        let rows = first(&self.boxes, boxes);
        let share = |b: u32| {
            let row = rows[b as usize] as usize;
            let cells = self.quasi.iter().map(|quasi| quasi.cells.get(row) as usize);
            columns.shares.iter().zip(cells).map(|(shares, cell)| shares[cell]).sum::<f32>()
        };
        let mut order: Vec<(f32, u32)> = (0..).zip(&rows).map(|(b, _)| (share(b), b)).collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let order: Vec<u32> = order.into_iter().map(|(_, b)| b).collect();
        let first_rows = first(&self.tuples, tuples);
        let index = TupleIndex::new(self.quasi, &columns.orders, &first_rows, &rows);
        drop(first_rows);
        let supply = counts(boxes);
        let released: u64 = boxes.iter().map(|&(_, rows)| rows).sum();
        let more = self.limits.steps_per_row.saturating_mul(released);
        let steps = self.limits.steps.saturating_add(more);
        place(&index, (&rows, supply), &counts(tuples), &order, steps)
    }
}

impl IndexColumns {
    fn new(quasi: &[Quasi<'_>]) -> IndexColumns {
        IndexColumns {
            orders: quasi.iter().map(|quasi| column_order(&quasi.cover)).collect(),
            shares: quasi.iter().map(|quasi| reach(quasi).shares).collect(),
        }
    }
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

fn state_matching(truth: &mut SourceCheck, changed: u64) {
    let rows = if truth.rows_undecided == 0 { "released row" } else { "other released row" };
    if truth.rows_undecided > 0 {
        truth.state(
            Finding::Partly,
            format!(
                "for {} released rows it was not decided whether each has a source row of its own \
                 that it covers: the search for one takes too long",
                truth.rows_undecided
            ),
        );
    }
    truth.conclude(
        changed,
        &format!(
            "every {rows} was matched with a source row of its own that it covers and that has its \
             other cells"
        ),
    );
}

/// What the cells of a column cover of the source.
struct ColumnReach {
    /// Pairs of a released row and a source row that it covers in this column.
    pairs: u128,
    /// For each cell the logarithm of its share of the source rows.
    shares: Vec<f32>,
}

#[allow(
    clippy::cast_precision_loss,
    reason = "shares decide where to look first, and nothing else"
)]
fn reach(quasi: &Quasi<'_>) -> ColumnReach {
    let mut rows_of_cell = vec![0u64; quasi.distinct_cells];
    quasi.cells.iter().for_each(|cell| rows_of_cell[cell as usize] += 1);
    let mut rows_of_value = vec![0u64; quasi.distinct_values];
    quasi.values.iter().for_each(|value| rows_of_value[value as usize] += 1);
    let cells: Vec<u32> = (0..).zip(&rows_of_cell).map(|(cell, _)| cell).collect();
    let values: CombinationCounts = (0..).zip(rows_of_value).collect();
    let (covered, _) = quasi.cover.tally(&cells, &values);
    let pairs = covered
        .iter()
        .zip(&rows_of_cell)
        .map(|(&covered, &rows)| u128::from(covered) * u128::from(rows))
        .sum();
    let source_rows = quasi.values.len();
    ColumnReach {
        pairs,
        shares: covered.iter().map(|&rows| (rows as f32 / source_rows as f32).ln()).collect(),
    }
}
