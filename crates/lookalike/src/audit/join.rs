//! Which box covers which tuple: found column by column, so that one test serves all boxes and
//! tuples that agree in the columns before.

use std::borrow::Cow;

use super::classes::Fold;
use super::cover::Cover;
use crate::codes::{Codes, RowId};

/// One quasi-identifier on both sides.
#[derive(Debug)]
pub(super) struct Quasi<'a> {
    /// For each released row the code of its cell.
    pub(super) cells: Cow<'a, Codes>,
    /// The number of distinct cells.
    pub(super) distinct_cells: usize,
    /// For each source row the code of its value.
    pub(super) values: &'a Codes,
    /// The number of distinct values.
    pub(super) distinct_values: usize,
    /// Which cell covers which value.
    pub(super) cover: Cover,
}

/// The distinct combinations of a table, numbered in lexicographic order of their codes.
#[derive(Debug)]
pub(super) struct Combinations {
    /// For each row its combination.
    pub(super) of: Vec<u32>,
    /// For each combination its first row.
    pub(super) first: Vec<RowId>,
}

pub(super) fn combinations(columns: &[(&Codes, usize)], rows: usize) -> Combinations {
    let mut fold = Fold::new(rows);
    let codes: Vec<_> = columns
        .iter()
        .map(|(codes, different)| (*different, |row: usize| codes.get(row)))
        .collect();
    fold.refine(&codes);
    let mut classes = fold.finish();
    let mut order: Vec<u32> = (0..).zip(&classes.sizes).map(|(class, _)| class).collect();
    let row = |class: u32| classes.first[class as usize] as usize;
    let codes = |class: u32| columns.iter().map(move |(codes, _)| codes.get(row(class)));
    order.sort_unstable_by(|&a, &b| codes(a).cmp(codes(b)));
    let first = order.iter().map(|&class| classes.first[class as usize]).collect();
    let mut place = vec![0; order.len()];
    for (at, &class) in (0..).zip(&order) {
        place[class as usize] = at;
    }
    classes.of.iter_mut().for_each(|class| *class = place[*class as usize]);
    Combinations { of: classes.of, first }
}

/// Boxes or tuples of one group: combination and number of rows, ascending by combination.
pub(super) type CombinationCounts = Vec<(u32, u64)>;

/// The distinct combinations of some rows, each with the number of rows it stands for.
pub(super) fn count_combinations(
    rows: impl ExactSizeIterator<Item = (u32, u32)>,
    combinations: usize,
) -> CombinationCounts {
    if rows.len() > combinations / 4 {
        let mut counts = vec![0u64; combinations];
        rows.for_each(|(at, count)| counts[at as usize] += u64::from(count));
        return (0..).zip(counts).filter(|&(_, rows)| rows > 0).collect();
    }
    let mut rows: Vec<(u32, u32)> = rows.collect();
    rows.sort_unstable();
    let sum = |run: &[(u32, u32)]| run.iter().map(|&(_, count)| u64::from(count)).sum();
    rows.chunk_by(|a, b| a.0 == b.0).map(|run| (run[0].0, sum(run))).collect()
}

/// Which tuples of one group its boxes cover.
#[derive(Debug, Default)]
pub(super) struct Coverage {
    /// For each box the number of source rows that it covers.
    pub(super) covered: Vec<u64>,
    /// For each tuple whether a box covers it.
    pub(super) reached: Vec<bool>,
    /// Pairs of box and tuple, by their places in the group; none when there are too many.
    pub(super) edges: Option<Vec<(u32, u32)>>,
}

/// The search for pairs within one group, and its remaining budget.
pub(super) struct Join<'a> {
    /// In the order in which the combinations were sorted.
    pub(super) quasi: &'a [Quasi<'a>],
    pub(super) boxes: &'a Combinations,
    pub(super) tuples: &'a Combinations,
    /// Coverage tests that are left for the whole audit.
    pub(super) tests: u64,
    /// The most pairs of one group that are kept.
    pub(super) edges: usize,
}

/// Combinations from `from` to below `to` of a group, which agree in all columns before the current
/// one.
#[derive(Clone, Copy)]
struct EqualRun {
    from: usize,
    to: usize,
}

impl Join<'_> {
    /// The coverage of a group; none when the tests ran out.
    pub(super) fn pairs(
        &mut self,
        boxes: &CombinationCounts,
        tuples: &CombinationCounts,
    ) -> Option<Coverage> {
        let mut found = Coverage {
            covered: vec![0; boxes.len()],
            reached: vec![false; tuples.len()],
            edges: Some(Vec::new()),
        };
        let all = (EqualRun { from: 0, to: boxes.len() }, EqualRun { from: 0, to: tuples.len() });
        self.descend(0, boxes, tuples, all, &mut found).then_some(found)
    }

    fn descend(
        &mut self,
        depth: usize,
        boxes: &CombinationCounts,
        tuples: &CombinationCounts,
        within: (EqualRun, EqualRun),
        found: &mut Coverage,
    ) -> bool {
        let Some(quasi) = self.quasi.get(depth) else {
            // Combinations are distinct, so one box and one tuple are left here.
            let (b, t) = (within.0.from, within.1.from);
            found.covered[b] += tuples[t].1;
            found.reached[t] = true;
            if found.edges.as_ref().is_some_and(|edges| edges.len() >= self.edges) {
                found.edges = None;
            }
            if let (Some(edges), Ok(b), Ok(t)) =
                (&mut found.edges, u32::try_from(b), u32::try_from(t))
            {
                edges.push((b, t));
            }
            return true;
        };
        let cell = |at: usize| quasi.cells.get(self.boxes.first[boxes[at].0 as usize] as usize);
        let value = |at: usize| quasi.values.get(self.tuples.first[tuples[at].0 as usize] as usize);
        let mut from = within.0.from;
        let mut cells = Vec::new();
        while from < within.0.to {
            let to = end_of_run(from, within.0.to, cell);
            cells.push((cell(from), EqualRun { from, to }));
            from = to;
        }
        let mut pairs = Vec::new();
        let mut from = within.1.from;
        while from < within.1.to {
            let run = EqualRun { from, to: end_of_run(from, within.1.to, value) };
            let code = value(from);
            if self.tests < cells.len() as u64 {
                self.tests = 0;
                return false;
            }
            self.tests -= cells.len() as u64;
            pairs.extend(
                cells
                    .iter()
                    .filter(|(cell, _)| quasi.cover.covers(*cell, code))
                    .map(|&(_, cells)| (cells, run)),
            );
            from = run.to;
        }
        pairs.into_iter().all(|pair| self.descend(depth + 1, boxes, tuples, pair, found))
    }
}

/// The end of the run of equal codes that begins at `from`, by steps of doubling length.
fn end_of_run(from: usize, to: usize, code: impl Fn(usize) -> u32) -> usize {
    let same = code(from);
    let (mut equal, mut step) = (from, 1);
    while equal + step < to && code(equal + step) == same {
        equal += step;
        step *= 2;
    }
    let (mut lo, mut hi) = (equal + 1, (equal + step).min(to));
    while lo < hi {
        let middle = lo + (hi - lo) / 2;
        if code(middle) == same {
            lo = middle + 1;
        } else {
            hi = middle;
        }
    }
    lo
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_run_is_found_at_any_length() {
        for length in 1..40 {
            for rest in 0..3 {
                let codes: Vec<u32> =
                    std::iter::repeat_n(5, length).chain(std::iter::repeat_n(9, rest)).collect();
                assert_eq!(end_of_run(0, codes.len(), |at| codes[at]), length);
                assert_eq!(end_of_run(length / 2, codes.len(), |at| codes[at]), length);
            }
        }
    }

    #[test]
    fn combinations_are_numbered_in_lexicographic_order() {
        let first: Codes = [2, 0, 2, 1, 0].into_iter().collect();
        let second: Codes = [0, 9, 0, 3, 1].into_iter().collect();
        let all = combinations(&[(&first, 3), (&second, 10)], 5);
        assert_eq!(all.of, [3, 1, 3, 2, 0]);
        assert_eq!(all.first, [4, 1, 3, 0]);
        let rows: Vec<(u32, u32)> = all.of.iter().copied().zip([1, 1, 5, 2, 1]).collect();
        for combinations in [4, 100] {
            let counts = count_combinations(rows.iter().copied(), combinations);
            assert_eq!(counts, [(0, 1), (1, 1), (2, 2), (3, 6)]);
        }
    }
}
