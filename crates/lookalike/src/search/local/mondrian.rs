//! Split at the median of the widest attribute while both halves satisfy the rules.
//!
//! A set of rows is cut in two at the median of the attribute on which it is widest (weighted,
//! normalized); if one of the halves would break a rule, the next widest attribute is tried; if
//! none can be cut, the set is a class. Categories are taken in tree order. Medians come from
//! counting codes, not from sorting rows.
//!
//! # Guarantee
//! Every class satisfies every rule, because no cut is made after which a half breaks one. With
//! `Ties::Together` rows that agree on every attribute land in one class (strict); with
//! `Ties::Dealt` rows at the median fill both sides evenly (relaxed).
//!
//! # Complexity
//! O(d n log(n/k)) time for n distinct tuples and d attributes, O(d n) space; halves are
//! independent and run in parallel.
//!
//! # Reference
//! K. LeFevre, D. DeWitt, R. Ramakrishnan: Mondrian Multidimensional K-Anonymity, ICDE 2006.
//!
//! # Departures from the paper
//! Distinct tuples with counts instead of rows. Widths are weighted. Of the two cuts next to the
//! median row the better balanced one is taken, where the paper always cuts behind the median, so
//! that a half is never empty.

use rayon::prelude::*;

use crate::codes::{Code, CodeRange};
use crate::problem::partition::{Partition, Piece};
use crate::problem::privacy::Tally;
use crate::search::ranges::box_around;
use crate::search::task::{Next, Task, cut_to_the_end};

/// What happens to rows at the median.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ties {
    /// They stay together on one side (strict).
    Together,
    /// They are dealt to both sides so that these are equal (relaxed).
    Dealt,
}

pub(crate) fn mondrian(task: &Task, ties: Ties) -> Partition {
    let problem = task.problem;
    let sensitive = if task.privacy.needs_sensitive() { problem.sensitive_columns() } else { 0 };
    let width = task.attributes.len() + sensitive;
    let cells: Vec<Code> = task
        .pieces
        .par_chunks(task.tuning.mondrian_parallel)
        .flat_map_iter(|pieces| {
            let mut rows = Vec::with_capacity(width * pieces.len());
            let mut codes = vec![0; sensitive];
            for piece in pieces {
                rows.extend(
                    task.attributes.iter().map(|&attribute| problem.code(attribute, piece.tuple)),
                );
                problem.sensitive_codes(piece.tuple, &mut codes);
                rows.extend_from_slice(&codes);
            }
            rows
        })
        .collect();
    let cutter = MedianCutter { task, ties, width, least: task.privacy.k() };
    let done = cut_to_the_end(
        RowSet { pieces: task.pieces.to_vec(), cells },
        Next::First,
        || MedianScratch::new(task),
        |block: &RowSet| block.pieces.len() > task.tuning.mondrian_parallel,
        |block, scratch, done: &mut Vec<FlatClasses>| match cutter.halves(&block, scratch) {
            Some((left, right)) => vec![left, right],
            None => {
                if done.is_empty() {
                    done.push(FlatClasses::default());
                }
                done[0].push(&block);
                Vec::new()
            }
        },
    );
    let pieces: Vec<Piece> = done.iter().flat_map(|part| &part.pieces).copied().collect();
    let sizes: Vec<u32> = done.iter().flat_map(|part| &part.sizes).copied().collect();
    Partition::from_sizes(pieces, &sizes)
}

/// A set of rows: pieces, and beside each the codes of the task's attributes, then its sensitive
/// codes.
struct RowSet {
    pieces: Vec<Piece>,
    cells: Vec<Code>,
}

/// Classes: their pieces one after the other, and how many pieces each has.
#[derive(Default)]
struct FlatClasses {
    pieces: Vec<Piece>,
    sizes: Vec<u32>,
}

impl FlatClasses {
    fn push(&mut self, class: &RowSet) {
        self.pieces.extend_from_slice(&class.pieces);
        self.sizes.push(u32::try_from(class.pieces.len()).expect("fewer pieces than rows"));
    }
}

/// The memory of one thread that looks for a cut.
struct MedianScratch {
    counts: Vec<u64>,
    tally: Tally,
}

impl MedianScratch {
    fn new(task: &Task) -> MedianScratch {
        MedianScratch { counts: Vec::new(), tally: task.problem.tally() }
    }
}

struct MedianCutter<'a> {
    task: &'a Task<'a>,
    ties: Ties,
    width: usize,
    /// No class may have fewer rows.
    least: u64,
}

impl MedianCutter<'_> {
    /// The two sides of the first cut after which both satisfy the rules, widest attribute first.
    fn halves(&self, block: &RowSet, scratch: &mut MedianScratch) -> Option<(RowSet, RowSet)> {
        let total: u64 = block.pieces.iter().map(|piece| u64::from(piece.count)).sum();
        if total < 2 * self.least || self.task.budget.is_spent() {
            return None;
        }
        let ranges = self.ranges(block);
        let mut widest: Vec<(f64, usize)> = Vec::with_capacity(ranges.len());
        for (at, range) in ranges.iter().enumerate().filter(|(_, range)| !range.is_one()) {
            let attribute = &self.task.problem.attributes()[self.task.attributes[at]];
            widest.push((attribute.weight * attribute.width(*range), at));
        }
        widest.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        for (_, at) in widest {
            let Some(cut) = self.median(block, at, ranges[at], total, &mut scratch.counts) else {
                continue;
            };
            let (left, right) = self.split(block, at, &cut);
            if self.holds(&left, &mut scratch.tally) && self.holds(&right, &mut scratch.tally) {
                return Some((left, right));
            }
        }
        None
    }

    /// Above so many pieces a set is measured and cut in parallel too: there are few of that size.
    fn large(&self) -> usize {
        self.task.tuning.mondrian_large
    }

    fn ranges(&self, block: &RowSet) -> Vec<CodeRange> {
        let of_rows =
            |cells: &[Code]| box_around(self.task.attributes.len(), cells.chunks_exact(self.width));
        let join = |a: Vec<CodeRange>, b: Vec<CodeRange>| {
            a.iter().zip(&b).map(|(a, b)| a.join(*b)).collect()
        };
        block
            .cells
            .par_chunks(self.width * self.large())
            .map(of_rows)
            .reduce_with(join)
            .expect("a block has rows")
    }

    /// Where to cut so that the halves are as equal as can be; none when a half would have too few
    /// rows.
    fn median(
        &self,
        block: &RowSet,
        at: usize,
        range: CodeRange,
        total: u64,
        counts: &mut Vec<u64>,
    ) -> Option<MedianCut> {
        let tuning = self.task.tuning;
        let sorted: Vec<(Code, u64)> = if ((range.hi - range.lo) as usize)
            < tuning.mondrian_count * block.pieces.len() + tuning.mondrian_count_least
        {
            counts.clear();
            counts.resize((range.hi - range.lo) as usize + 1, 0);
            self.count(block, at, range.lo, counts);
            (range.lo..).zip(counts.iter().copied()).filter(|&(_, count)| count > 0).collect()
        } else {
            // A wide domain and few rows: sorting the rows costs less than counting every code
            // between them.
            let row_codes = block.cells.chunks_exact(self.width).map(|row| row[at]);
            let mut rows: Vec<(Code, u64)> =
                row_codes.zip(block.pieces.iter().map(|piece| u64::from(piece.count))).collect();
            rows.sort_unstable();
            rows
        };
        let mut before = 0;
        let (mut code, mut count) = (range.lo, 0);
        for same in sorted.chunk_by(|a, b| a.0 == b.0) {
            (code, count) = (same[0].0, same.iter().map(|(_, count)| count).sum());
            if 2 * (before + count) >= total {
                break;
            }
            before += count;
        }
        // The median row has this code: the cut is before it, behind it, or through it.
        let cut = match self.ties {
            Ties::Dealt => {
                MedianCut { code, of_code: total.div_ceil(2) - before, left: total.div_ceil(2) }
            }
            Ties::Together if total - 2 * before <= 2 * (before + count) - total => {
                MedianCut { code, of_code: 0, left: before }
            }
            Ties::Together => MedianCut { code, of_code: count, left: before + count },
        };
        (cut.left >= self.least && total - cut.left >= self.least).then_some(cut)
    }

    /// Adds the rows of each code on an attribute to its count.
    fn count(&self, block: &RowSet, at: usize, least: Code, counts: &mut [u64]) {
        let add = |counts: &mut [u64], (cells, pieces): (&[Code], &[Piece])| {
            for (row, piece) in cells.chunks_exact(self.width).zip(pieces) {
                counts[(row[at] - least) as usize] += u64::from(piece.count);
            }
        };
        if block.pieces.len() < 2 * self.large() {
            add(counts, (&block.cells, &block.pieces));
            return;
        }
        let chunks = block
            .cells
            .par_chunks(self.width * self.large())
            .zip(block.pieces.par_chunks(self.large()));
        let parts: Vec<Vec<u64>> = chunks
            .map(|chunk| {
                let mut part = vec![0; counts.len()];
                add(&mut part, chunk);
                part
            })
            .collect();
        for part in parts {
            counts.iter_mut().zip(part).for_each(|(count, more)| *count += more);
        }
    }

    fn split(&self, block: &RowSet, at: usize, cut: &MedianCut) -> (RowSet, RowSet) {
        self.split_rows(&block.cells, &block.pieces, at, cut.code, cut.of_code)
    }

    /// Rows below the code to the left, above it to the right, and of those at it the first
    /// `of_code` to the left.
    fn split_rows(
        &self,
        cells: &[Code],
        pieces: &[Piece],
        at: usize,
        code: Code,
        mut of_code: u64,
    ) -> (RowSet, RowSet) {
        if pieces.len() >= 2 * self.large() {
            let middle = pieces.len() / 2;
            let ((cells, more_cells), (pieces, more_pieces)) =
                (cells.split_at(middle * self.width), pieces.split_at(middle));
            let rows_at =
                cells.chunks_exact(self.width).zip(pieces).filter(|(row, _)| row[at] == code);
            let first: u64 =
                rows_at.map(|(_, piece)| u64::from(piece.count)).sum::<u64>().min(of_code);
            let ((mut left, mut right), more) = rayon::join(
                || self.split_rows(cells, pieces, at, code, first),
                || self.split_rows(more_cells, more_pieces, at, code, of_code - first),
            );
            for (side, more) in [(&mut left, more.0), (&mut right, more.1)] {
                side.pieces.extend_from_slice(&more.pieces);
                side.cells.extend_from_slice(&more.cells);
            }
            return (left, right);
        }
        // Room for all on either side: pages that stay untouched cost nothing, growing by doubling
        // would copy.
        let half = || RowSet {
            pieces: Vec::with_capacity(pieces.len()),
            cells: Vec::with_capacity(cells.len()),
        };
        let (mut left, mut right) = (half(), half());
        for (row, &piece) in cells.chunks_exact(self.width).zip(pieces) {
            let to_left = match row[at].cmp(&code) {
                std::cmp::Ordering::Less => piece.count,
                std::cmp::Ordering::Greater => 0,
                std::cmp::Ordering::Equal => {
                    let some = u32::try_from(of_code).unwrap_or(u32::MAX).min(piece.count);
                    of_code -= u64::from(some);
                    some
                }
            };
            for (side, count) in [(&mut left, to_left), (&mut right, piece.count - to_left)] {
                if count > 0 {
                    side.pieces.push(Piece { count, ..piece });
                    side.cells.extend_from_slice(row);
                }
            }
        }
        (left, right)
    }

    fn holds(&self, side: &RowSet, tally: &mut Tally) -> bool {
        if !self.task.privacy.needs_sensitive() {
            // The cut has seen to the sizes.
            return true;
        }
        tally.clear();
        for (row, piece) in side.cells.chunks_exact(self.width).zip(&side.pieces) {
            tally.add(&row[self.task.attributes.len()..], piece.count);
        }
        self.task.privacy.holds(tally)
    }
}

/// Rows below `code` and `of_code` of the rows at it go left, `left` in all.
struct MedianCut {
    code: Code,
    of_code: u64,
    left: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Problem;
    use crate::search::Algorithm;
    use crate::search::budget::Budget;
    use crate::search::stages::run;
    use crate::search::tests::options;
    use crate::testing;

    const QUASI: &str = "[columns]\nage = { role = \"quasi\", weight = 2 }\nheight = { role = \"quasi\" }\ncity = { role = \"quasi\" }\n";

    /// One row at a time, sorted at every step, rules by their definition.
    fn slow(
        problem: &Problem,
        rows: Vec<u32>,
        k: usize,
        l: Option<usize>,
        ties: Ties,
        classes: &mut Vec<Vec<u32>>,
    ) {
        let tuple_of =
            |row: u32| (0u32..).find(|&tuple| problem.rows_of(tuple).contains(&row)).unwrap();
        let illness = |row: u32| {
            let mut code = [0];
            problem.sensitive_codes(tuple_of(row), &mut code[..problem.sensitive_columns().min(1)]);
            code[0]
        };
        let holds = |side: &[u32]| {
            let most = side
                .iter()
                .map(|&a| side.iter().filter(|&&b| illness(a) == illness(b)).count())
                .max()
                .unwrap_or(0);
            side.len() >= k && l.is_none_or(|l| most * l <= side.len())
        };
        let code = |row: u32, at: usize| problem.code(at, tuple_of(row));
        let range = |at: usize| CodeRange {
            lo: rows.iter().map(|&row| code(row, at)).min().unwrap(),
            hi: rows.iter().map(|&row| code(row, at)).max().unwrap(),
        };
        let width =
            |at: usize| problem.attributes()[at].weight * problem.attributes()[at].width(range(at));
        let mut order: Vec<usize> =
            (0..problem.attributes().len()).filter(|&at| !range(at).is_one()).collect();
        order.sort_by(|&a, &b| width(b).total_cmp(&width(a)).then(a.cmp(&b)));
        for at in order {
            let mut sorted = rows.clone();
            sorted.sort_by_key(|&row| (code(row, at), tuple_of(row)));
            let half = sorted.len().div_ceil(2);
            let median = code(sorted[half - 1], at);
            let cut = match ties {
                Ties::Dealt => half,
                Ties::Together => {
                    let before = sorted.iter().filter(|&&row| code(row, at) < median).count();
                    let behind = sorted.iter().filter(|&&row| code(row, at) <= median).count();
                    if sorted.len() - 2 * before <= 2 * behind - sorted.len() {
                        before
                    } else {
                        behind
                    }
                }
            };
            let (left, right) = sorted.split_at(cut);
            if holds(left) && holds(right) {
                slow(problem, left.to_vec(), k, l, ties, classes);
                slow(problem, right.to_vec(), k, l, ties, classes);
                return;
            }
        }
        classes.push(rows);
    }

    /// The classes as sorted lists of tuples, a row each.
    fn as_tuples(problem: &Problem, classes: &[Vec<u32>]) -> Vec<Vec<u32>> {
        let tuple_of =
            |row: u32| (0u32..).find(|&tuple| problem.rows_of(tuple).contains(&row)).unwrap();
        let mut all: Vec<Vec<u32>> =
            classes.iter().map(|class| class.iter().map(|&row| tuple_of(row)).collect()).collect();
        all.iter_mut().for_each(|class| class.sort_unstable());
        all.sort();
        all
    }

    #[test]
    fn counting_gives_the_classes_that_sorting_rows_gives() {
        for seed in 0..60 {
            for (k, l) in [(1, None), (2, None), (3, Some(2)), (7, None)] {
                let sensitive = l.map_or(String::new(), |l| {
                    format!("illness = {{ role = \"sensitive\", l = {l} }}\n")
                });
                let toml = format!("k = {k}\nrest = \"drop\"\n{QUASI}{sensitive}");
                let Ok(problem) = testing::problem(&testing::random_table(seed, 10 + seed), &toml)
                else {
                    continue;
                };
                for (algorithm, ties) in [
                    (Algorithm::Mondrian, Ties::Together),
                    (Algorithm::MondrianRelaxed, Ties::Dealt),
                ] {
                    let mut expected = Vec::new();
                    slow(
                        &problem,
                        (0..u32::try_from(10 + seed).unwrap()).collect(),
                        k,
                        l,
                        ties,
                        &mut expected,
                    );
                    let found = run(
                        &problem,
                        options(algorithm, 1),
                        &problem.pieces_without(&[]),
                        &Budget::unlimited(),
                    );
                    let mut classes: Vec<Vec<u32>> = Vec::new();
                    for class in found.partition.iter() {
                        let mut tuples: Vec<u32> = class
                            .iter()
                            .flat_map(|piece| {
                                std::iter::repeat_n(piece.tuple, piece.count as usize)
                            })
                            .collect();
                        tuples.sort_unstable();
                        classes.push(tuples);
                    }
                    classes.sort();
                    assert_eq!(
                        classes,
                        as_tuples(&problem, &expected),
                        "seed {seed}, k {k}, {algorithm}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_spent_budget_leaves_one_class() {
        let problem = testing::problem(
            &testing::random_table(1, 50),
            &format!("k = 2\nrest = \"drop\"\n{QUASI}"),
        )
        .unwrap();
        let spent = Budget::new(Some(std::time::Duration::ZERO), std::sync::Arc::default());
        assert_eq!(
            run(&problem, options(Algorithm::Mondrian, 1), &problem.pieces_without(&[]), &spent)
                .partition
                .len(),
            1
        );
    }

    #[test]
    fn a_domain_far_wider_than_the_rows_is_cut_at_its_median() {
        let text: String = (0..40u64).map(|row| format!("{}\n", row * row * 1_000_003)).collect();
        let problem = testing::problem(
            &format!("x\n{text}"),
            "k = 10\ncolumns = { x = { role = \"quasi\" } }",
        )
        .unwrap();
        let sizes: Vec<usize> = run(
            &problem,
            options(Algorithm::Mondrian, 1),
            &problem.pieces_without(&[]),
            &Budget::unlimited(),
        )
        .partition
        .iter()
        .map(<[_]>::len)
        .collect();
        assert_eq!(sizes, [10, 10, 10, 10]);
    }
}
