//! The greedy algorithms straight from their pseudo-code, by full scans over all groups, and that
//! the fast ones do the same.

pub(super) mod beyond;
mod full_domain;
mod global;
mod specialized;

use crate::codes::{Code, CodeRange, real};
use crate::domain::penalty::Penalty;
use crate::problem::Problem;
use crate::problem::partition::{Partition, Piece, joined, rows};
use crate::problem::privacy::Tally;
use crate::rng::{Key, Rng};
use crate::search::boxes::Objective;
use crate::search::boxes::split::Block;
use crate::search::budget::Budget;
use crate::search::global::{Branching, Cost, Techniques};
use crate::search::local::{
    auto, bottom_up, cluster, mondrian, peel, refine, specialize, top_down,
};
use crate::search::stages::{STAGED, run, run_global};
use crate::search::task::{Task, discriminating_first};
use crate::search::tuning::Tuning;
use crate::search::{Algorithm, SearchOptions};
use crate::testing;

/// What the tests of searches run with, so that tiny tables take the paths of large ones.
pub(super) static TINY: Tuning = Tuning::tiny();

/// An algorithm with the tiny numbers.
pub(super) fn options(algorithm: Algorithm, seed: u64) -> SearchOptions {
    SearchOptions { tuning: TINY, ..SearchOptions::new(algorithm, seed) }
}

/// A group in the slow algorithms: pieces in the order in which they came.
type Pieces = Vec<Piece>;

/// The slow algorithms: losses and rules are computed anew from the pieces at every question.
struct FullScans<'a> {
    task: &'a Task<'a>,
    penalty: Penalty,
    objective: Objective,
}

impl FullScans<'_> {
    fn row(&self, piece: Piece) -> Vec<Code> {
        self.task.attributes.iter().map(|&at| self.task.problem.code(at, piece.tuple)).collect()
    }

    /// The loss of one row of the group.
    fn row_loss(&self, pieces: impl IntoIterator<Item = Piece>) -> f64 {
        let rows: Vec<Vec<Code>> = pieces.into_iter().map(|piece| self.row(piece)).collect();
        let range = |at: usize| CodeRange {
            lo: rows.iter().map(|row| row[at]).min().unwrap(),
            hi: rows.iter().map(|row| row[at]).max().unwrap(),
        };
        (0..self.task.attributes.len()).map(|at| self.penalty.of(at, range(at))).sum()
    }

    fn row_loss_of_both(&self, one: &[Piece], other: &[Piece]) -> f64 {
        self.row_loss(one.iter().chain(other).copied())
    }

    /// The loss that a group adds when it enters another.
    fn loss_of_entry(&self, group: &[Piece], other: &[Piece]) -> f64 {
        let then = self.row_loss_of_both(group, other);
        match self.objective {
            Objective::Row => then,
            Objective::Table => {
                real(rows(group)) * then
                    + real(rows(other)) * (then - self.row_loss(other.iter().copied()))
            }
        }
    }

    fn holds(&self, pieces: &[Piece]) -> bool {
        let mut tally = self.task.problem.tally();
        self.task.problem.count_into(&mut tally, pieces);
        self.task.privacy.holds(&tally)
    }

    /// The group where another adds least loss, of those that are not empty: least loss, fewest
    /// rows, first.
    fn nearest(&self, groups: &[Pieces], group: usize) -> usize {
        let others = (0..groups.len()).filter(|&other| other != group && !groups[other].is_empty());
        let rank = |&other: &usize| {
            (self.loss_of_entry(&groups[group], &groups[other]), rows(&groups[other]), other)
        };
        others.min_by(|one, other| rank(one).partial_cmp(&rank(other)).unwrap()).unwrap()
    }

    fn halves(&self, set: &[Piece], start: usize) -> Option<(Pieces, Pieces)> {
        let farthest = |from: usize| {
            let apart: Vec<f64> =
                set.iter().map(|&piece| self.row_loss([set[from], piece])).collect();
            let most = apart.iter().copied().fold(0.0, f64::max);
            (apart.iter().position(|&apart| apart >= most).unwrap(), most)
        };
        let (mut pair, mut apart) = ((start, start), 0.0);
        for _ in 0..self.task.rounds {
            let (next, distance) = farthest(pair.1);
            if distance > apart {
                (pair, apart) = ((pair.1, next), distance);
            } else {
                break;
            }
        }
        if pair.0 == pair.1 {
            return None;
        }
        let (mut one, mut other) = (vec![set[pair.0]], vec![set[pair.1]]);
        for (at, &piece) in set.iter().enumerate() {
            if at != pair.0 && at != pair.1 {
                let (first, second) =
                    (self.loss_of_entry(&[piece], &one), self.loss_of_entry(&[piece], &other));
                let is_first = match at.checked_sub(1).map(|before| set[before]) {
                    Some(before) if self.row(before) == self.row(piece) => one.contains(&before),
                    _ => first < second || (first <= second && rows(&one) <= rows(&other)),
                };
                if is_first { one.push(piece) } else { other.push(piece) }
            }
        }
        Some((one, other))
    }

    /// Moves rows of the tuple that adds least loss until nothing is wanted; none when the donor
    /// cannot.
    fn transfer(
        &self,
        donor: &[Piece],
        undersized: &[Piece],
        wanted: impl Fn(&[Piece], &[Piece]) -> Option<u64>,
    ) -> Option<(Pieces, Pieces)> {
        let (mut donor, mut undersized) = (donor.to_vec(), undersized.to_vec());
        loop {
            let need = wanted(&donor, &undersized)?;
            if need == 0 {
                return Some((donor, undersized));
            }
            let losses: Vec<f64> =
                donor.iter().map(|&piece| self.row_loss_of_both(&undersized, &[piece])).collect();
            let least = losses.iter().copied().fold(f64::INFINITY, f64::min);
            let at = losses.iter().position(|&loss_of_entry| loss_of_entry <= least)?;
            let count = u32::try_from(need).unwrap().min(donor[at].count);
            undersized.push(Piece { count, ..donor[at] });
            donor[at].count -= count;
            donor.retain(|piece| piece.count > 0);
        }
    }

    /// The recursion of the paper: sets that cannot be cut, and undersized sets.
    fn cut(&self, set: &[Piece], done: &mut Vec<Pieces>) {
        let most =
            if self.task.privacy.needs_sensitive() { self.task.tuning.top_down_tries } else { 1 };
        let tries = if rows(set) <= self.task.privacy.k() { 0 } else { most };
        let halves = (0..tries)
            .filter_map(|at| self.halves(set, at * set.len() / self.task.tuning.top_down_tries));
        match halves.into_iter().find(|(one, other)| self.holds(one) || self.holds(other)) {
            Some((one, other)) => {
                for half in [one, other] {
                    if self.holds(&half) { self.cut(&half, done) } else { done.push(half) }
                }
            }
            None => done.push(set.to_vec()),
        }
    }

    fn top_down(&self) -> Vec<Pieces> {
        let k = self.task.privacy.k();
        let all = self.shuffled(self.task.pieces, self.task.seed).concat();
        let mut groups = Vec::new();
        self.cut(&all, &mut groups);
        groups.sort_by_key(|group| group.iter().map(|piece| piece.tuple).min());
        let mut queue: Vec<usize> =
            (0..groups.len()).filter(|&group| !self.holds(&groups[group])).collect();
        Rng::at(self.task.seed, 1).shuffle(&mut queue);
        let mut at = 0;
        while at < queue.len() {
            let group = queue[at];
            at += 1;
            if groups[group].is_empty() || self.holds(&groups[group]) {
                continue;
            }
            let partner = self.nearest(&groups, group);
            let then = self.row_loss_of_both(&groups[group], &groups[partner]);
            let before = self.row_loss(groups[partner].iter().copied());
            let merged =
                real(rows(&groups[group])) * then + real(rows(&groups[partner])) * (then - before);
            let limit = merged / real(k.max(rows(&groups[group]) + 1));
            let mut best: Option<(f64, usize, Pieces, Pieces)> = None;
            for donor in 0..groups.len() {
                if donor == group
                    || groups[donor].is_empty()
                    || rows(&groups[donor]) + rows(&groups[group]) <= 2 * k
                {
                    continue;
                }
                let wanted = |donor: &[Piece], undersized: &[Piece]| {
                    let deficit =
                        k.saturating_sub(rows(undersized)).max(u64::from(!self.holds(undersized)));
                    let is_too_much = rows(undersized) - rows(&groups[group]) + deficit
                        > self.task.longest_transfer();
                    (deficit == 0 || (rows(donor) >= k + deficit && !is_too_much))
                        .then_some(deficit)
                };
                let moved = self.transfer(&groups[donor], &groups[group], wanted);
                if let Some((left, received)) = moved.filter(|(left, _)| self.holds(left)) {
                    let row_loss = self.row_loss(received.iter().copied());
                    if row_loss < best.as_ref().map_or(limit, |best| best.0) {
                        best = Some((row_loss, donor, left, received));
                    }
                }
            }
            if let Some((_, donor, left, received)) = best {
                groups[donor] = left;
                groups[group] = received;
            } else {
                let joining = std::mem::take(&mut groups[group]);
                groups[partner].extend(joining);
                if !self.holds(&groups[partner]) {
                    queue.push(partner);
                }
            }
        }
        groups.retain(|group| !group.is_empty());
        groups
    }

    /// Groups of k rows or more, as many as there is room for.
    fn split(&self, group: &[Piece], parts: u64, done: &mut Vec<Pieces>) {
        let k = self.task.privacy.k();
        let halves = if parts < 2 { None } else { self.halves(group, 0) };
        let Some((one, other)) = halves else { return done.push(group.to_vec()) };
        let lacks = |parts: u64, rows: u64| (parts * k).saturating_sub(rows);
        let moved = |first: &u64| lacks(*first, rows(&one)) + lacks(parts - first, rows(&other));
        let first = (1..parts).min_by_key(moved).unwrap();
        let (other, one) = self
            .transfer(&other, &one, |_, undersized| Some(lacks(first, rows(undersized))))
            .unwrap();
        let (one, other) = self
            .transfer(&one, &other, |_, undersized| Some(lacks(parts - first, rows(undersized))))
            .unwrap();
        if self.holds(&one) && self.holds(&other) {
            self.split(&one, first, done);
            self.split(&other, parts - first, done);
        } else {
            done.push(group.to_vec());
        }
    }

    /// Equal pieces together, these sets in random order.
    fn shuffled(&self, pieces: &[Piece], seed: u64) -> Vec<Pieces> {
        let mut sets: Vec<Pieces> = Vec::new();
        for &piece in pieces {
            match sets.iter_mut().find(|set| self.row(set[0]) == self.row(piece)) {
                Some(set) => set.push(piece),
                None => sets.push(vec![piece]),
            }
        }
        Rng::new(seed).shuffle(&mut sets);
        sets
    }

    fn bottom_up(&self) -> Vec<Pieces> {
        let k = self.task.privacy.k();
        let mut groups = self.shuffled(self.task.pieces, self.task.seed);
        for round in 0.. {
            let undersized: Vec<bool> = groups.iter().map(|group| !self.holds(group)).collect();
            if !undersized.contains(&true) {
                break;
            }
            let is_last = round > u64::from(self.task.tuning.bottom_up_late + k.ilog2());
            let mut queue: std::collections::VecDeque<usize> =
                (0..groups.len()).filter(|&group| undersized[group]).collect();
            while let Some(group) = queue.pop_front() {
                if groups[group].is_empty() || (is_last && self.holds(&groups[group])) {
                    continue;
                }
                let partner = self.nearest(&groups, group);
                let joining = std::mem::take(&mut groups[group.max(partner)]);
                let union = group.min(partner);
                groups[union].extend(joining);
                if is_last && !self.holds(&groups[union]) {
                    queue.push_back(union);
                }
            }
            let mut next = Vec::new();
            for (at, mut group) in
                groups.into_iter().enumerate().filter(|(_, group)| !group.is_empty())
            {
                let pieces: Pieces = joined(&mut group).collect();
                if !self.holds(&pieces) || rows(&pieces) < 2 * k {
                    next.push(pieces);
                    continue;
                }
                let seed = Rng::at(self.task.seed ^ round, at as u64).next_u64();
                let pieces = self.shuffled(&pieces, seed).concat();
                self.split(&pieces, rows(&pieces) / k, &mut next);
            }
            groups = next;
        }
        groups
    }
}

const REQUESTS: [&str; 8] = [
    "k = 3\nrest = \"drop\"\n[columns]\nage = { role = \"quasi\", weight = 2 }\nheight = { role = \"quasi\" }\ncity = { role = \"quasi\" }\n",
    "k = 2\nrest = \"drop\"\n[columns]\nage = { role = \"quasi\" }\nheight = { role = \"quasi\", kind = \"categorical\", hierarchy = { prefix = [2, 1] } }\ncity = { role = \"quasi\", weight = 0.5 }\n",
    "k = 5\nrest = \"drop\"\n[output]\nsnap = true\n[columns]\nage = { role = \"quasi\", hierarchy = { intervals = [3, 6], top = 29 } }\ncity = { role = \"quasi\" }\n",
    "k = 4\nrest = \"drop\"\n[columns]\nage = { role = \"quasi\" }\nheight = { role = \"quasi\", weight = 0 }\ncity = { role = \"quasi\" }\nillness = { role = \"sensitive\", l = 2 }\n",
    "k = 2\nrest = \"drop\"\n[columns]\nage = { role = \"quasi\" }\ncity = { role = \"quasi\" }\nillness = { role = \"sensitive\", distinct = 2, t = 0.5 }\n",
    "k = 2\nrest = \"drop\"\n[columns]\nage = { role = \"quasi\" }\nheight = { role = \"quasi\" }\nillness = { role = \"sensitive\", alpha = 0.6 }\n",
    "k = 7\nrest = \"drop\"\nrounds = 1\n[columns]\nage = { role = \"quasi\" }\nheight = { role = \"quasi\" }\n",
    "k = 3\nrest = \"drop\"\n[columns]\nage = { role = \"quasi\" }\nheight = { role = \"quasi\" }\nillness = { role = \"sensitive\", entropy = 1.5, recursive = { c = 4, l = 2 } }\ncity = { role = \"sensitive\", alpha = 0.7, values = [\"Ulm\", \"Bonn\"] }\n",
];

pub(super) fn sorted(groups: impl IntoIterator<Item = Pieces>) -> Vec<Pieces> {
    let mut all: Vec<Pieces> =
        groups.into_iter().map(|mut group| joined(&mut group).collect()).collect();
    all.sort();
    all
}

/// Every random table under every request that it can meet.
pub(super) fn for_each_task(tables: u64, mut check: impl FnMut(&Task, &str)) {
    let mut met = 0;
    for seed in 0..tables {
        for request in REQUESTS {
            let Ok(problem) =
                testing::problem(&testing::random_table(seed, 5 + 3 * (seed % 25)), request)
            else {
                continue;
            };
            met += 1;
            let stage = &problem.stages_in_order()[0];
            let pieces = problem.pieces_without(&[]);
            let attributes = discriminating_first(&problem, &stage.attributes, &pieces, &TINY);
            let rounds = 1 + u32::from(!request.contains("rounds")) * 2;
            let (privacy, budget) = (&stage.privacy, &Budget::unlimited());
            let task = Task {
                problem: &problem,
                attributes: &attributes,
                privacy,
                pieces: &pieces,
                seed,
                key: Key::from_seed(seed),
                rounds,
                budget,
                tuning: &TINY,
            };
            check(&task, &format!("table {seed}, {request}"));
        }
    }
    assert!(met > tables * 4, "{met} of {tables} tables met a request");
}

pub(super) fn with_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

/// The fast algorithm makes the groups of the slow one, in both readings, with any number of
/// threads.
fn makes_the_groups_of(
    slow: impl Fn(&FullScans) -> Vec<Pieces>,
    fast: impl Fn(&Task, Objective) -> Partition + Sync,
) {
    for_each_task(100, |task, what| {
        for objective in [Objective::Table, Objective::Row] {
            let penalty = Penalty::new(task.problem.attributes(), task.attributes);
            let expected = sorted(slow(&FullScans { task, penalty, objective }));
            for threads in [1, 3] {
                let found = with_threads(threads, || fast(task, objective));
                assert_eq!(
                    sorted(found.iter().map(<[Piece]>::to_vec)),
                    expected,
                    "{objective:?}, {threads} threads, {what}"
                );
            }
        }
    });
}

#[test]
fn bottom_up_makes_the_groups_that_full_scans_make() {
    makes_the_groups_of(|slow| slow.bottom_up(), bottom_up::bottom_up);
}

#[test]
fn top_down_makes_the_groups_that_full_scans_make() {
    makes_the_groups_of(|slow| slow.top_down(), top_down::top_down);
}

/// With k as the only rule.
#[test]
fn bottom_up_leaves_no_group_of_2k_rows_or_more_unless_its_rows_are_equal() {
    let mut large = 0;
    for_each_task(40, |task, what| {
        if task.privacy.needs_sensitive() {
            return;
        }
        for group in bottom_up::bottom_up(task, Objective::Table).iter() {
            let k = task.privacy.k();
            assert!(rows(group) >= k, "{what}");
            let penalty = Penalty::new(task.problem.attributes(), task.attributes);
            let is_equal = penalty
                .of_box(&Block::new(task.problem, task.attributes, group.to_vec()).ranges())
                <= 0.0;
            assert!(rows(group) < 2 * k || is_equal, "{what}: {} rows", rows(group));
            large += u32::from(rows(group) > k);
        }
    });
    assert!(large > 100, "{large}: the bound was never near");
}

#[test]
fn a_search_that_is_stopped_leaves_classes_that_satisfy_the_rules() {
    let spent = Budget::new(Some(std::time::Duration::ZERO), std::sync::Arc::default());
    for_each_task(20, |task, what| {
        let task = &Task { budget: &spent, ..*task };
        let searches = [
            bottom_up::bottom_up(task, Objective::Table),
            top_down::top_down(task, Objective::Table),
            specialize::specialize(task),
            cluster::cluster(task),
            peel::peel(task),
            auto::auto(task, None),
        ];
        for partition in searches {
            let mut tally = task.problem.tally();
            assert!(partition.iter().all(|group| task.holds(&mut tally, group)), "{what}");
            assert_eq!(partition.iter().map(rows).sum::<u64>(), rows(task.pieces), "{what}");
        }
    });
}

#[test]
fn another_seed_gives_other_groups_and_the_same_seed_the_same() {
    let problem = testing::problem(&testing::random_table(5, 300), REQUESTS[0]).unwrap();
    for algorithm in [Algorithm::BottomUp, Algorithm::TopDown, Algorithm::Cluster, Algorithm::Auto]
    {
        let groups = |seed: u64| {
            let groups = run(
                &problem,
                SearchOptions { steps: Some(50), ..options(algorithm, seed) },
                &problem.pieces_without(&[]),
                &Budget::unlimited(),
            );
            sorted(groups.partition.iter().map(<[Piece]>::to_vec))
        };
        assert_eq!(groups(1), groups(1), "{algorithm}");
        assert_ne!(groups(1), groups(2), "{algorithm}");
    }
}

/// The rows of each class, by the value of the only column.
fn by_value(values: &[u32], k: u64) -> Vec<Vec<(u32, u32)>> {
    let text: String = values.iter().map(|value| format!("{value}\n")).collect();
    let problem = testing::problem(
        &format!("x\n{text}"),
        &format!("k = {k}\ncolumns = {{ x = {{ role = \"quasi\" }} }}"),
    )
    .unwrap();
    let groups = run(
        &problem,
        options(Algorithm::TopDown, 1),
        &problem.pieces_without(&[]),
        &Budget::unlimited(),
    );
    let value = |piece: &Piece| (values[problem.rows_of(piece.tuple)[0] as usize], piece.count);
    let mut all: Vec<Vec<(u32, u32)>> =
        groups.partition.iter().map(|group| group.iter().map(value).collect()).collect();
    all.sort();
    all
}

#[test]
fn a_group_that_is_short_borrows_from_one_that_can_spare_rows() {
    // Two rows lack one. Seven equal rows can spare it (more than 2k - 2 = 4): all of them would
    // pay if the groups merged.
    assert_eq!(
        by_value(&[1, 1, 1, 1, 1, 1, 1, 2, 2, 90, 90, 90], 3),
        [vec![(1, 1), (2, 2)], vec![(1, 6)], vec![(90, 3)]]
    );
}

#[test]
fn a_group_that_is_short_merges_where_nobody_can_spare_rows() {
    assert_eq!(by_value(&[1, 1, 1, 1, 2, 2, 90, 90, 90], 3), [vec![(1, 4), (2, 2)], vec![(90, 3)]]);
}
