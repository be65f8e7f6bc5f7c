//! Cut in two around two means, over and over, as long as both halves satisfy the rules; deal out
//! the sets that cannot be cut.
//!
//! Every value has a place on a line: numbers where they are, categories in the order of their
//! codes. A try puts each row to the nearer of two centres, moves the rows nearest to the
//! centre of a half of less than k rows to that half, and hands the means of the two halves to the
//! next try. The try whose halves lose least is kept.
//!
//! Under rules on sensitive values a set often cannot be cut by place, and yet is much larger than
//! it need be. Such a set is dealt out like cards: its rows are listed by sensitive value and go
//! round as many groups as can satisfy the rules.
//!
//! # Guarantee
//! Every class satisfies every rule: a cut or a deal is made only if all its parts do.
//!
//! # Complexity
//! O(r d n log n) time for n pieces, d attributes and r tries when the halves are of like size; O(d
//! n) space. Halves are independent and run in parallel.
//!
//! # Reference
//! X. He, H. Chen, Y. Chen, Y. Dong, P. Wang, Z. Huang: Clustering-Based k-Anonymity, PAKDD 2012,
//! figures 4 and 5.
//!
//! # Departures from the paper
//! Pieces of distinct tuples instead of rows: equal rows part only when some are transferred or
//! dealt out. One random order serves all tries (it only decides ties), and a try that would repeat
//! the last one ends them: the result is the same. Of the tries only those whose halves satisfy the
//! rules are compared; the paper looks at the best alone. The deal takes floor(n / max(k, l))
//! groups, not ceil(n / l), with which theorem 3 is wrong: ten rows and l = 3 would make groups of
//! 3, 3, 2 and 2 rows. Where so many break a rule, fewer are tried.

use crate::codes::{Code, CodeRange, real};
use crate::domain::attribute::Attribute;
use crate::domain::penalty::Penalty;
use crate::problem::partition::{Partition, Piece, joined, rows};
use crate::problem::privacy::Tally;
use crate::rng::Rng;
use crate::search::ranges::{range_of, total_loss};
use crate::search::task::{Next, Task, cut_to_the_end};

pub(crate) fn cluster(task: &Task) -> Partition {
    let places = task.attributes.iter().map(|&at| places(&task.problem.attributes()[at])).collect();
    let cutter = MeansCutter {
        task,
        penalty: Penalty::new(task.problem.attributes(), task.attributes),
        places,
    };
    let mut rng = Rng::new(task.seed);
    let mut pieces = task.pieces.to_vec();
    rng.shuffle(&mut pieces);
    let whole = ShuffledSet { pieces, seed: rng.next_u64() };
    let is_large = |set: &ShuffledSet| set.pieces.len() > task.tuning.cluster_parallel;
    let sets = cut_to_the_end(
        whole,
        Next::Last,
        || task.problem.tally(),
        is_large,
        |set, tally, done| cutter.cut(set, tally, done),
    );
    let mut partition = Partition::default();
    for mut set in sets {
        partition.push(joined(&mut set));
    }
    partition
}

/// Where each value of an attribute stands, so that the distance of two is their loss.
fn places(attribute: &Attribute) -> Vec<f64> {
    (0..).take(attribute.codes()).map(|code| attribute.weight * attribute.place(code)).collect()
}

/// Pieces in random order, and the seed of their further draws.
struct ShuffledSet {
    pieces: Vec<Piece>,
    seed: u64,
}

struct MeansCutter<'a> {
    task: &'a Task<'a>,
    penalty: Penalty,
    /// By attribute and code.
    places: Vec<Vec<f64>>,
}

/// The pieces of a set and where they stand, attribute by attribute, side by side.
struct Points<'a> {
    pieces: &'a [Piece],
    codes: Vec<Code>,
    places: Vec<f64>,
}

/// One way to part a set: how many rows of each piece are in the first half.
struct Try {
    first: Vec<u32>,
    halves: [Half; 2],
}

struct Half {
    rows: u64,
    ranges: Vec<CodeRange>,
    /// The mean place on each attribute.
    centre: Vec<f64>,
}

impl MeansCutter<'_> {
    /// Cuts a set in two halves that satisfy the rules. If there are none, the set is dealt out,
    /// and that is its end.
    fn cut(
        &self,
        set: ShuffledSet,
        tally: &mut Tally,
        done: &mut Vec<Vec<Piece>>,
    ) -> Vec<ShuffledSet> {
        let least = self.task.privacy.least_rows();
        if rows(&set.pieces) < 2 * least || self.task.budget.is_spent() {
            done.push(set.pieces);
            return Vec::new();
        }
        let points = self.points(&set.pieces);
        let ranges = points.ranges();
        // Equal rows cannot be parted any better. Under snap they may lose something all the
        // same: a value beyond top or bottom stands for all values there.
        if ranges.iter().all(|range| range.lo == range.hi) || self.penalty.of_box(&ranges) <= 0.0 {
            done.push(set.pieces);
            return Vec::new();
        }
        let mut rng = Rng::new(set.seed);
        match self.best_try(&points, &mut rng, tally) {
            Some(first) => {
                let part = |counts: &dyn Fn(usize) -> u32| {
                    let all = set
                        .pieces
                        .iter()
                        .enumerate()
                        .map(|(at, &piece)| Piece { count: counts(at), ..piece });
                    all.filter(|piece| piece.count > 0).collect::<Vec<Piece>>()
                };
                let halves = [part(&|at| first[at]), part(&|at| set.pieces[at].count - first[at])];
                halves.map(|pieces| ShuffledSet { pieces, seed: rng.next_u64() }).into()
            }
            // Where k alone decides, every try satisfies it.
            None => {
                done.extend(self.deal_out(set, tally));
                Vec::new()
            }
        }
    }

    fn points<'p>(&self, pieces: &'p [Piece]) -> Points<'p> {
        let mut codes = Vec::with_capacity(pieces.len() * self.places.len());
        for &attribute in self.task.attributes {
            codes.extend(pieces.iter().map(|piece| self.task.problem.code(attribute, piece.tuple)));
        }
        let columns = codes.chunks_exact(pieces.len()).zip(&self.places);
        let places = columns
            .flat_map(|(codes, places)| codes.iter().map(|&code| places[code as usize]))
            .collect();
        Points { pieces, codes, places }
    }

    /// The try whose halves lose least, of those whose halves satisfy the rules.
    fn best_try(&self, points: &Points, rng: &mut Rng, tally: &mut Tally) -> Option<Vec<u32>> {
        let count = points.pieces.len();
        let one = rng.place(count);
        // Sets of one tuple are not cut, so there is another.
        let other = (one + 1 + rng.place(count - 1)) % count;
        let mut centres = [one, other].map(|at| {
            points.places.chunks_exact(count).map(|column| column[at]).collect::<Vec<f64>>()
        });
        let mut best: Option<(f64, Vec<u32>)> = None;
        for _ in 0..self.task.rounds {
            let (first, has_ties) = points.assign(&centres, self.task.privacy.k());
            let tried = points.measure(first);
            let loss = |half: &Half| (half.rows, self.penalty.of_box(&half.ranges));
            let total = total_loss(tried.halves.iter().map(loss));
            if best.as_ref().is_none_or(|(least, _)| total < *least)
                && self.holds(points.pieces, &tried.first, tally)
            {
                best = Some((total, tried.first));
            }
            let next = tried.halves.map(|half| half.centre);
            if (next == centres && !has_ties) || self.task.budget.is_spent() {
                break;
            }
            centres = next;
        }
        best.map(|(_, first)| first)
    }

    /// True when both halves satisfy the rules.
    fn holds(&self, pieces: &[Piece], first: &[u32], tally: &mut Tally) -> bool {
        // Both have k rows: a half that lacked some has received them.
        !self.task.privacy.needs_sensitive()
            || [true, false].into_iter().all(|is_first| {
                tally.clear();
                for (piece, &first) in pieces.iter().zip(first) {
                    let count = if is_first { first } else { piece.count - first };
                    if count > 0 {
                        self.task.problem.count_into(tally, &[Piece { count, ..*piece }]);
                    }
                }
                self.task.privacy.holds(tally)
            })
    }

    /// As many groups as can be dealt out so that each satisfies the rules, or the set as it is.
    fn deal_out(
        &self,
        ShuffledSet { mut pieces, seed }: ShuffledSet,
        tally: &mut Tally,
    ) -> Vec<Vec<Piece>> {
        let problem = self.task.problem;
        let value = |piece: &Piece| {
            let mut codes = vec![0; problem.sensitive_columns()];
            problem.sensitive_codes(piece.tuple, &mut codes);
            codes
        };
        // Rows with one value stand in random order: in an order that others know, the place of a
        // person in it would disclose the value.
        let first = pieces.iter().map(|piece| piece.tuple).min().unwrap_or(0);
        self.task.key.draws(Rng::at(seed, u64::from(first)).next_u64()).shuffle(&mut pieces);
        pieces.sort_by_cached_key(value);
        let most = rows(&pieces) / self.task.privacy.least_rows();
        let mut groups = usize::try_from(most).expect("fewer groups than rows");
        while groups > 1 && !self.task.budget.is_spent() {
            let dealt = deal(&pieces, groups);
            if dealt.iter().all(|group| self.task.holds(tally, group)) {
                return dealt;
            }
            groups -= 1 + groups / self.task.tuning.deal_fewer;
        }
        vec![pieces]
    }
}

/// Rows in their order go to one group after the other, round and round.
fn deal(pieces: &[Piece], groups: usize) -> Vec<Vec<Piece>> {
    let mut dealt: Vec<Vec<Piece>> = vec![Vec::new(); groups];
    let mut next = 0;
    for piece in pieces {
        let count = piece.count as usize;
        for step in 0..count.min(groups) {
            // The rows step, step + groups, step + 2 groups ... of the piece.
            let rows =
                u32::try_from((count - step).div_ceil(groups)).expect("no more than the piece has");
            dealt[(next + step) % groups].push(Piece { count: rows, ..*piece });
        }
        next = (next + count) % groups;
    }
    dealt
}

impl Points<'_> {
    fn columns(&self) -> impl Iterator<Item = (&[Code], &[f64])> {
        let count = self.pieces.len();
        self.codes.chunks_exact(count).zip(self.places.chunks_exact(count))
    }

    /// The smallest box around all.
    fn ranges(&self) -> Vec<CodeRange> {
        self.columns().map(|(codes, _)| range_of(codes.iter().copied())).collect()
    }

    /// Rows to the nearer of two centres, ties to the half with fewer rows; then a half of less
    /// than k rows receives some. Also says whether there were ties.
    fn assign(&self, centres: &[Vec<f64>; 2], k: u64) -> (Vec<u32>, bool) {
        let mut distances = [vec![0.0; self.pieces.len()], vec![0.0; self.pieces.len()]];
        for (distances, centre) in distances.iter_mut().zip(centres) {
            for ((_, places), &centre) in self.columns().zip(centre) {
                distances
                    .iter_mut()
                    .zip(places)
                    .for_each(|(sum, &place)| *sum += (place - centre).abs());
            }
        }
        let mut sizes = [0, 0];
        let mut has_ties = false;
        let mut first: Vec<u32> = Vec::with_capacity(self.pieces.len());
        for ((piece, &one), &other) in self.pieces.iter().zip(&distances[0]).zip(&distances[1]) {
            let is_tie = one <= other && other <= one;
            has_ties |= is_tie;
            let is_first = one < other || (is_tie && sizes[0] <= sizes[1]);
            sizes[usize::from(!is_first)] += u64::from(piece.count);
            first.push(if is_first { piece.count } else { 0 });
        }
        for undersized in [0, 1] {
            if sizes[undersized] < k {
                self.transfer(
                    &mut first,
                    undersized == 0,
                    &distances[undersized],
                    k - sizes[undersized],
                );
            }
        }
        (first, has_ties)
    }

    /// Moves so many of the rows nearest to a half's centre to that half.
    fn transfer(&self, first: &mut [u32], to_first: bool, distances: &[f64], mut wanted: u64) {
        let has = |at: usize, first: &[u32]| {
            if to_first { self.pieces[at].count - first[at] } else { first[at] }
        };
        let mut donors: Vec<usize> =
            (0..self.pieces.len()).filter(|&at| has(at, first) > 0).collect();
        let nearest = |&one: &usize, &other: &usize| {
            distances[one].total_cmp(&distances[other]).then(one.cmp(&other))
        };
        // No more pieces than rows are wanted.
        let most = usize::try_from(wanted).map_or(donors.len(), |wanted| wanted.min(donors.len()));
        if most < donors.len() {
            donors.select_nth_unstable_by(most - 1, nearest);
            donors.truncate(most);
        }
        donors.sort_unstable_by(nearest);
        for at in donors {
            let count = u32::try_from(wanted).unwrap_or(u32::MAX).min(has(at, first));
            first[at] = if to_first { first[at] + count } else { first[at] - count };
            wanted -= u64::from(count);
        }
    }

    /// The size, box and centre of both halves, neither of which is empty.
    fn measure(&self, first: Vec<u32>) -> Try {
        let one: u64 = first.iter().map(|&count| u64::from(count)).sum();
        let sizes = [one, rows(self.pieces) - one];
        let mut halves = sizes.map(|rows| Half { rows, ranges: Vec::new(), centre: Vec::new() });
        for (codes, places) in self.columns() {
            let mut ranges = [CodeRange { lo: Code::MAX, hi: 0 }; 2];
            let mut sums = [0.0; 2];
            for ((&code, &place), (piece, &count)) in
                codes.iter().zip(places).zip(self.pieces.iter().zip(&first))
            {
                let counts = [count, piece.count - count];
                for ((range, sum), count) in ranges.iter_mut().zip(&mut sums).zip(counts) {
                    *sum += place * f64::from(count);
                    let CodeRange { lo, hi } = range;
                    *lo = (*lo).min(if count > 0 { code } else { Code::MAX });
                    *hi = (*hi).max(if count > 0 { code } else { 0 });
                }
            }
            for ((half, range), sum) in halves.iter_mut().zip(ranges).zip(sums) {
                half.ranges.push(range);
                half.centre.push(sum / real(half.rows));
            }
        }
        Try { first, halves }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::tests::{for_each_task, options, sorted, with_threads};
    use crate::testing;

    /// The method row by row from figure 4, counting everything anew; pieces stand for rows with
    /// equal codes.
    struct SlowClusters<'a> {
        task: &'a Task<'a>,
        penalty: Penalty,
    }

    impl SlowClusters<'_> {
        fn point(&self, piece: Piece) -> Vec<f64> {
            let place = |&at: &usize| {
                let attribute = &self.task.problem.attributes()[at];
                attribute.weight * attribute.place(self.task.problem.code(at, piece.tuple))
            };
            self.task.attributes.iter().map(place).collect()
        }

        fn mean(&self, half: &[Piece]) -> Vec<f64> {
            let mut sums = vec![0.0; self.task.attributes.len()];
            for &piece in half {
                sums.iter_mut()
                    .zip(self.point(piece))
                    .for_each(|(sum, place)| *sum += place * f64::from(piece.count));
            }
            sums.iter().map(|sum| sum / real(rows(half))).collect()
        }

        fn distance(&self, piece: Piece, centre: &[f64]) -> f64 {
            self.point(piece)
                .iter()
                .zip(centre)
                .map(|(place, centre)| (place - centre).abs())
                .fold(0.0, |sum, part| sum + part)
        }

        fn loss(&self, half: &[Piece]) -> f64 {
            let ranges = self.task.problem.ranges(half);
            real(rows(half))
                * self
                    .task
                    .attributes
                    .iter()
                    .enumerate()
                    .map(|(at, &of)| self.penalty.of(at, ranges[of]))
                    .sum::<f64>()
        }

        fn holds(&self, half: &[Piece]) -> bool {
            self.task.holds(&mut self.task.problem.tally(), half)
        }

        /// One try: the halves as they are after the transfer, each in the order of the set.
        fn halves(&self, set: &[Piece], centres: &[Vec<f64>; 2]) -> [Vec<Piece>; 2] {
            let mut halves = [Vec::new(), Vec::new()];
            for &piece in set {
                let [one, other] = [0, 1].map(|half| self.distance(piece, &centres[half]));
                let to = other < one || (other <= one && rows(&halves[0]) > rows(&halves[1]));
                halves[usize::from(to)].push(piece);
            }
            for undersized in [0, 1] {
                while rows(&halves[undersized]) < self.task.privacy.k() {
                    // The nearest row, the first in the set's order of equally near ones.
                    let rank = |piece: &Piece| {
                        let at = set.iter().position(|other| other.tuple == piece.tuple).unwrap();
                        (self.distance(*piece, &centres[undersized]), at)
                    };
                    let donor = &mut halves[1 - undersized];
                    let (at, _) = donor
                        .iter()
                        .enumerate()
                        .min_by(|(_, one), (_, other)| rank(one).partial_cmp(&rank(other)).unwrap())
                        .unwrap();
                    let row = Piece { count: 1, ..donor[at] };
                    donor[at].count -= 1;
                    donor.retain(|piece| piece.count > 0);
                    match halves[undersized].iter_mut().find(|piece| piece.tuple == row.tuple) {
                        Some(piece) => piece.count += 1,
                        None => halves[undersized].push(row),
                    }
                }
            }
            let place = |piece: &Piece| set.iter().position(|other| other.tuple == piece.tuple);
            halves.iter_mut().for_each(|half| half.sort_by_key(place));
            halves
        }

        fn cluster(&self, set: Vec<Piece>, seed: u64, done: &mut Vec<Vec<Piece>>) {
            let ranges = self.task.problem.ranges(&set);
            let is_alike = self.task.attributes.iter().all(|&at| ranges[at].lo == ranges[at].hi);
            if rows(&set) < 2 * self.task.privacy.least_rows() || is_alike || self.loss(&set) <= 0.0
            {
                done.push(set);
                return;
            }
            let mut rng = Rng::new(seed);
            let count = set.len();
            let one = rng.place(count);
            let other = (one + 1 + rng.place(count - 1)) % count;
            let mut centres = [one, other].map(|at| self.point(set[at]));
            let mut tries = Vec::new();
            for _ in 0..self.task.rounds {
                let halves = self.halves(&set, &centres);
                centres = [0, 1].map(|half| self.mean(&halves[half]));
                tries.push(halves);
            }
            tries.retain(|halves| halves.iter().all(|half| self.holds(half)));
            let loss = |halves: &[Vec<Piece>; 2]| self.loss(&halves[0]) + self.loss(&halves[1]);
            match tries.into_iter().min_by(|one, other| loss(one).total_cmp(&loss(other))) {
                Some([one, other]) => {
                    self.cluster(one, rng.next_u64(), done);
                    self.cluster(other, rng.next_u64(), done);
                }
                None => done.extend(self.deal_out(set, seed)),
            }
        }

        fn deal_out(&self, mut set: Vec<Piece>, seed: u64) -> Vec<Vec<Piece>> {
            let first = set.iter().map(|piece| u64::from(piece.tuple)).min().unwrap();
            self.task.key.draws(Rng::at(seed, first).next_u64()).shuffle(&mut set);
            let mut list: Vec<(Vec<Code>, usize, u32)> = Vec::new();
            for (place, piece) in set.iter().enumerate() {
                let mut sensitive = vec![0; self.task.problem.sensitive_columns()];
                self.task.problem.sensitive_codes(piece.tuple, &mut sensitive);
                list.extend((0..piece.count).map(|_| (sensitive.clone(), place, piece.tuple)));
            }
            list.sort();
            let mut groups = list.len() / usize::try_from(self.task.privacy.least_rows()).unwrap();
            while groups > 1 {
                let mut dealt = vec![Vec::new(); groups];
                list.iter().enumerate().for_each(|(at, row)| {
                    dealt[at % groups].push(Piece { tuple: row.2, count: 1 })
                });
                if dealt.iter().all(|group| self.holds(group)) {
                    return dealt;
                }
                groups -= 1 + groups / self.task.tuning.deal_fewer;
            }
            vec![set]
        }
    }

    #[test]
    fn it_makes_the_groups_that_the_figure_makes_row_by_row() {
        let (mut dealt, mut cut) = (0, 0);
        for_each_task(100, |task, what| {
            let task = &Task { rounds: 15, ..*task };
            let mut rng = Rng::new(task.seed);
            let mut pieces = task.pieces.to_vec();
            rng.shuffle(&mut pieces);
            let mut expected = Vec::new();
            let slow = SlowClusters {
                task,
                penalty: Penalty::new(task.problem.attributes(), task.attributes),
            };
            slow.cluster(pieces, rng.next_u64(), &mut expected);
            cut += usize::from(expected.len() > 1 && !task.privacy.needs_sensitive());
            dealt += usize::from(expected.len() > 1 && task.privacy.needs_sensitive());
            for threads in [1, 3] {
                let found = with_threads(threads, || cluster(task));
                assert_eq!(
                    sorted(found.iter().map(<[Piece]>::to_vec)),
                    sorted(expected.clone()),
                    "{threads} threads, {what}"
                );
            }
        });
        assert!(cut > 100 && dealt > 100, "{cut} and {dealt} tables were parted");
    }

    /// Rows with these sensitive values, one tuple a value.
    fn hand(values: &[u64]) -> Vec<Piece> {
        let count = |value: u32| values.iter().filter(|&&other| other == u64::from(value)).count();
        let pieces =
            (0..10).map(|tuple| Piece { tuple, count: u32::try_from(count(tuple)).unwrap() });
        pieces.filter(|piece| piece.count > 0).collect()
    }

    fn is_diverse(group: &[Piece], l: u64) -> bool {
        group.iter().all(|piece| u64::from(piece.count) * l <= rows(group))
    }

    #[test]
    fn as_many_groups_as_the_paper_deals_are_not_diverse_and_as_many_as_we_deal_always_are() {
        let ten = hand(&[0, 0, 0, 1, 1, 1, 2, 2, 2, 3]);
        assert_eq!(
            deal(&ten, 4).iter().map(|group| rows(group)).collect::<Vec<u64>>(),
            [3, 3, 2, 2]
        );
        assert!(!deal(&ten, 4).iter().all(|group| is_diverse(group, 3)), "ceil(10 / 3) groups");
        let mut rng = Rng::new(3);
        let (mut tables, mut failed) = (0, 0);
        for _ in 0..20_000 {
            let size = 2 + rng.below(40);
            let values: Vec<u64> = (0..size).map(|_| rng.below(10).min(rng.below(10))).collect();
            let (table, l) = (hand(&values), 2 + rng.below(5));
            if !is_diverse(&table, l) {
                continue;
            }
            tables += 1;
            let holds = |groups: u64| {
                deal(&table, usize::try_from(groups).unwrap())
                    .iter()
                    .all(|group| is_diverse(group, l))
            };
            assert!(holds(size / l), "{values:?}, l = {l}");
            failed += u32::from(!holds(size.div_ceil(l)));
        }
        assert!(
            tables > 5_000 && failed > tables / 2,
            "{failed} of {tables} fail with the paper's number of groups"
        );
    }

    #[test]
    fn a_deal_has_every_row_once_and_sizes_that_differ_by_one() {
        let pieces = [
            Piece { tuple: 3, count: 7 },
            Piece { tuple: 1, count: 1 },
            Piece { tuple: 2, count: 5 },
        ];
        for groups in 1..=13 {
            let dealt = deal(&pieces, groups);
            let sizes: Vec<u64> = dealt.iter().map(|group| rows(group)).collect();
            assert!(sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1, "{sizes:?}");
            let mut all: Vec<Piece> = dealt.concat();
            let mut expected = pieces;
            expected.sort_unstable();
            assert!(joined(&mut all).eq(expected));
        }
    }

    /// Whoever knows the table's quasi-identifiers and the method must not know which row of a
    /// value a group was dealt.
    #[test]
    fn the_deal_is_random_among_rows_of_one_value() {
        let rows = (0..60)
            .map(|row| format!("{row},{}\n", ["flu", "gout", "mumps"][row / 20]))
            .collect::<String>();
        let toml =
            "k = 3\n[columns]\nx = { role = \"quasi\" }\nill = { role = \"sensitive\", l = 3 }\n";
        let problem = testing::problem(&format!("x,ill\n{rows}"), toml).unwrap();
        let groups = |seed: u64| {
            let search = options(crate::Algorithm::Cluster, seed);
            let groups = crate::search::stages::run(
                &problem,
                search,
                &problem.pieces_without(&[]),
                &crate::Budget::unlimited(),
            );
            sorted(groups.partition.iter().map(<[Piece]>::to_vec))
        };
        assert!(groups(1).len() == 20 && groups(1) != groups(2) && groups(1) == groups(1));
    }

    #[test]
    fn k_and_l_together_are_met_in_small_groups_where_no_cut_does() {
        // Each place has one illness only, so that no cut in two by place is diverse.
        let rows = (0..60)
            .map(|row| format!("{},{}\n", row / 20 * 50, ["flu", "gout", "mumps"][row / 20]))
            .collect::<String>();
        for (k, most) in [(2, 3), (7, 12), (10, 12)] {
            let toml = format!(
                "k = {k}\n[columns]\nx = {{ role = \"quasi\" }}\nill = {{ role = \"sensitive\", l = 3 }}\n"
            );
            let problem = testing::problem(&format!("x,ill\n{rows}"), &toml).unwrap();
            let search = options(crate::Algorithm::Cluster, 1);
            let groups = crate::search::stages::run(
                &problem,
                search,
                &problem.pieces_without(&[]),
                &crate::Budget::unlimited(),
            );
            let sizes: Vec<u64> = groups.partition.iter().map(super::rows).collect();
            assert!(sizes.iter().all(|&size| size >= k && size <= most), "k = {k}: {sizes:?}");
        }
    }
}
