//! The rows of a few neighbouring classes side by side, and classes of them that take and give rows
//! without being measured anew.

use crate::codes::{Code, CodeRange, real};
use crate::domain::penalty::Penalty;
use crate::problem::partition::Piece;
use crate::problem::privacy::Tally;
use crate::search::ranges::{Ends, box_around};
use crate::search::task::Task;
use crate::search::tuning::Tuning;

/// Losses that differ by less are equal: sums of penalties are rounded.
pub(super) fn equal(penalty: &Penalty) -> f64 {
    1e-9 * penalty.most()
}

/// The tuples of a few classes, with their codes.
#[derive(Debug, Default)]
pub(super) struct Pool {
    /// Each tuple once, with all its rows in these classes.
    pub(super) pieces: Vec<Piece>,
    /// As many codes a tuple as there are attributes.
    cells: Vec<Code>,
    width: usize,
}

/// Some rows of a tuple of the pool.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    pub(super) at: u32,
    pub(super) count: u32,
}

/// Makes a class at a place no farther than the end, if there is none. Classes are used again, for
/// their memory.
pub(super) fn make_room(parts: &mut Vec<PoolClass>, place: usize) {
    if place == parts.len() {
        parts.push(PoolClass::default());
    }
}

/// A class made of rows of the pool.
#[derive(Clone, Debug, Default)]
pub(super) struct PoolClass {
    pub(super) members: Vec<Member>,
    pub(super) rows: u64,
    ends: Vec<Ends>,
    /// The loss of one row.
    pub(super) row_loss: f64,
    /// Grows with every change.
    pub(super) changes: u32,
}

impl Pool {
    /// Puts these classes into the pool in place of what was there. `places` has then, for each of
    /// their pieces in order, the number of its tuple in the pool.
    pub(super) fn fill<'c>(
        &mut self,
        cells: &TupleCodes,
        classes: impl Iterator<Item = &'c [Piece]>,
        places: &mut Vec<u32>,
    ) {
        self.width = cells.width;
        self.pieces.clear();
        self.cells.clear();
        places.clear();
        let mut order: Vec<(u32, u32, u32)> = (0u32..)
            .zip(classes.flatten())
            .map(|(place, piece)| (piece.tuple, place, piece.count))
            .collect();
        order.sort_unstable();
        places.resize(order.len(), 0);
        for (tuple, place, count) in order {
            match self.pieces.last_mut() {
                Some(last) if last.tuple == tuple => last.count += count,
                _ => {
                    self.pieces.push(Piece { tuple, count });
                    self.cells.extend_from_slice(cells.row(tuple));
                }
            }
            places[place as usize] = index(self.pieces.len() - 1);
        }
    }

    /// The codes of a tuple.
    #[inline]
    pub(super) fn row(&self, at: u32) -> &[Code] {
        &self.cells[at as usize * self.width..][..self.width]
    }

    pub(super) fn width(&self) -> usize {
        self.width
    }
}

/// The tuples of a task with their codes side by side. Within a refinement a tuple goes by its
/// place among these.
#[derive(Debug)]
pub(super) struct TupleCodes {
    /// Rising.
    tuples: Vec<u32>,
    codes: Vec<Code>,
    width: usize,
}

impl TupleCodes {
    pub(super) fn new(task: &Task) -> TupleCodes {
        let mut tuples: Vec<u32> = task.pieces.iter().map(|piece| piece.tuple).collect();
        tuples.sort_unstable();
        let codes = tuples
            .iter()
            .flat_map(|&tuple| task.attributes.iter().map(move |&at| task.problem.code(at, tuple)));
        TupleCodes { codes: codes.collect(), width: task.attributes.len(), tuples }
    }

    /// The place of a tuple.
    pub(super) fn place(&self, tuple: u32) -> u32 {
        index(self.tuples.binary_search(&tuple).expect("a tuple of the task"))
    }

    /// The tuple at a place.
    pub(super) fn tuple(&self, place: u32) -> u32 {
        self.tuples[place as usize]
    }

    #[inline]
    pub(super) fn row(&self, tuple: u32) -> &[Code] {
        &self.codes[tuple as usize * self.width..][..self.width]
    }

    /// The smallest box around some pieces.
    pub(super) fn ranges(&self, pieces: &[Piece]) -> Vec<CodeRange> {
        box_around(self.width, pieces.iter().map(|piece| self.row(piece.tuple)))
    }
}

impl PoolClass {
    /// Makes it the class of these members, each tuple once.
    pub(super) fn set(
        &mut self,
        penalty: &Penalty,
        pool: &Pool,
        members: impl Iterator<Item = Member>,
    ) {
        self.members.clear();
        self.members.extend(members);
        self.rows = self.members.iter().map(|member| u64::from(member.count)).sum();
        self.fit(penalty, pool);
    }

    fn fit(&mut self, penalty: &Penalty, pool: &Pool) {
        self.changes += 1;
        self.ends.clear();
        self.ends.resize(pool.width(), Ends::NONE);
        for member in &self.members {
            self.ends.iter_mut().zip(pool.row(member.at)).for_each(|(ends, &code)| ends.add(code));
        }
        self.measure(penalty);
    }

    fn measure(&mut self, penalty: &Penalty) {
        let is_empty = self.members.is_empty();
        self.row_loss = if is_empty {
            0.0
        } else {
            self.ends.iter().enumerate().map(|(at, ends)| penalty.of(at, ends.range())).sum()
        };
    }

    /// The loss of all rows.
    pub(super) fn loss(&self) -> f64 {
        real(self.rows) * self.row_loss
    }

    pub(super) fn range(&self, at: usize) -> CodeRange {
        self.ends[at].range()
    }

    /// Rows enter.
    pub(super) fn add(&mut self, penalty: &Penalty, pool: &Pool, member: Member) {
        self.rows += u64::from(member.count);
        self.changes += 1;
        if let Some(there) = self.members.iter_mut().find(|there| there.at == member.at) {
            there.count += member.count;
            return;
        }
        self.members.push(member);
        self.ends.iter_mut().zip(pool.row(member.at)).for_each(|(ends, &code)| ends.add(code));
        self.measure(penalty);
    }

    /// Rows of a member leave.
    pub(super) fn take(&mut self, penalty: &Penalty, pool: &Pool, member: usize, count: u32) {
        self.rows -= u64::from(count);
        if self.members[member].count > count {
            self.members[member].count -= count;
            self.changes += 1;
        } else {
            self.members.swap_remove(member);
            self.fit(penalty, pool);
        }
    }

    /// The loss of one row when a tuple has entered.
    #[inline]
    pub(super) fn row_loss_with(&self, penalty: &Penalty, row: &[Code]) -> f64 {
        let with =
            self.ends.iter().zip(row).map(|(ends, &code)| ends.range().join(CodeRange::one(code)));
        with.enumerate().map(|(at, range)| penalty.of(at, range)).sum()
    }

    /// The loss of one row when a tuple has left.
    #[inline]
    pub(super) fn row_loss_without(&self, penalty: &Penalty, row: &[Code]) -> f64 {
        if self.members.len() < 2 {
            return 0.0;
        }
        self.ends
            .iter()
            .zip(row)
            .enumerate()
            .map(|(at, (ends, &code))| penalty.of(at, ends.without(code)))
            .sum()
    }

    /// The loss of one row when one tuple has left and another has entered.
    #[inline]
    pub(super) fn row_loss_after(&self, penalty: &Penalty, left: &[Code], entered: &[Code]) -> f64 {
        if self.members.len() < 2 {
            // The tuple that has entered is alone, and may lose something even so: see
            // `Penalty::of`.
            return entered
                .iter()
                .enumerate()
                .map(|(at, &code)| penalty.of(at, CodeRange::one(code)))
                .sum();
        }
        let ranges = self.ends.iter().zip(left.iter().zip(entered));
        let ranges = ranges
            .map(|(ends, (&left, &entered))| ends.without(left).join(CodeRange::one(entered)));
        ranges.enumerate().map(|(at, range)| penalty.of(at, range)).sum()
    }

    /// The loss that so many rows of a tuple add when they enter: their own and the rise of the
    /// others'.
    #[inline]
    pub(super) fn loss_of_entry(&self, penalty: &Penalty, row: &[Code], count: u32) -> f64 {
        let then = self.row_loss_with(penalty, row);
        f64::from(count) * then + real(self.rows) * (then - self.row_loss)
    }
}

/// Checks whether classes satisfy the rules; with k alone by their size.
#[derive(Debug)]
pub(super) struct RuleCheck<'a> {
    task: &'a Task<'a>,
    cells: &'a TupleCodes,
    tally: Tally,
    /// Each class by its place as it was counted last, and how often it had changed then.
    counted: Vec<(u32, Tally)>,
    codes: Vec<Code>,
    /// Least class size in rows.
    pub(super) least: u64,
}

impl<'a> RuleCheck<'a> {
    pub(super) fn new(task: &'a Task, cells: &'a TupleCodes) -> RuleCheck<'a> {
        let codes = vec![0; task.problem.sensitive_columns()];
        let least = task.privacy.k().max(task.privacy.least_rows());
        RuleCheck { task, cells, tally: task.problem.tally(), counted: Vec::new(), codes, least }
    }

    /// Other rows are in the pool now.
    pub(super) fn forget(&mut self) {
        // A class that was set has changed.
        self.counted.iter_mut().for_each(|(changes, _)| *changes = 0);
    }

    pub(super) fn tuning(&self) -> &'a Tuning {
        self.task.tuning
    }

    /// True when there is no time to go on.
    pub(super) fn is_late(&self) -> bool {
        self.task.budget.is_spent()
    }

    /// True when the size says it all.
    pub(super) fn is_by_size(&self) -> bool {
        !self.task.privacy.needs_sensitive()
    }

    /// True when the class at a place satisfies the rules after some rows of a tuple have left and
    /// some of another have entered.
    pub(super) fn holds_after(
        &mut self,
        pool: &Pool,
        parts: &[PoolClass],
        place: usize,
        left: Option<Member>,
        entered: Option<Member>,
    ) -> bool {
        let part = &parts[place];
        let count = |member: Option<Member>| member.map_or(0, |member| u64::from(member.count));
        if part.rows + count(entered) < self.least + count(left) {
            return false;
        }
        if self.is_by_size() {
            return true;
        }
        while self.counted.len() <= place {
            self.counted.push((0, self.task.problem.tally()));
        }
        let (changes, mut tally) =
            std::mem::replace(&mut self.counted[place], (0, Tally::new(&[])));
        if changes != part.changes {
            tally.clear();
            part.members
                .iter()
                .for_each(|&member| tally.add(self.codes(pool, member.at), member.count));
        }
        entered.iter().for_each(|member| tally.add(self.codes(pool, member.at), member.count));
        left.iter().for_each(|member| tally.remove(self.codes(pool, member.at), member.count));
        let holds = self.task.privacy.holds(&tally);
        left.iter().for_each(|member| tally.add(self.codes(pool, member.at), member.count));
        entered.iter().for_each(|member| tally.remove(self.codes(pool, member.at), member.count));
        self.counted[place] = (part.changes, tally);
        holds
    }

    /// True when these members satisfy the rules as a class.
    pub(super) fn holds(&mut self, pool: &Pool, members: &[Member]) -> bool {
        if self.is_by_size() {
            return members.iter().map(|member| u64::from(member.count)).sum::<u64>() >= self.least;
        }
        self.count(pool, members);
        self.task.privacy.holds(&self.tally)
    }

    /// How far the members are from satisfying the rules; counts them for
    /// [`RuleCheck::lacks_with`].
    pub(super) fn lacks(&mut self, pool: &Pool, members: &[Member]) -> f64 {
        self.count(pool, members);
        self.task.privacy.lacks(&self.tally)
    }

    /// How far those that were counted last are from it together with one row of a tuple.
    pub(super) fn lacks_with(&mut self, pool: &Pool, at: u32) -> f64 {
        self.add(pool, Member { at, count: 1 });
        let lacks = self.task.privacy.lacks(&self.tally);
        self.tally.remove(&self.codes, 1);
        lacks
    }

    fn count(&mut self, pool: &Pool, members: &[Member]) {
        self.tally.clear();
        for &member in members {
            self.add(pool, member);
        }
    }

    fn add(&mut self, pool: &Pool, member: Member) {
        self.codes(pool, member.at);
        self.tally.add(&self.codes, member.count);
    }

    /// The sensitive codes of a tuple.
    fn codes(&mut self, pool: &Pool, at: u32) -> &[Code] {
        let tuple = self.cells.tuple(pool.pieces[at as usize].tuple);
        self.task.problem.sensitive_codes(tuple, &mut self.codes);
        &self.codes
    }
}

/// The number of a tuple or class.
pub(super) fn index(at: usize) -> u32 {
    u32::try_from(at).expect("a table has fewer than 2^32 rows")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;
    use crate::search::budget::Budget;
    use crate::search::tests::beyond::task;
    use crate::testing;

    /// These pieces by the places of their tuples.
    fn placed(cells: &TupleCodes, pieces: &[Piece]) -> Vec<Piece> {
        let place = |piece: &Piece| Piece { tuple: cells.place(piece.tuple), ..*piece };
        pieces.iter().map(place).collect()
    }

    fn rows(members: &[Member]) -> u64 {
        members.iter().map(|member| u64::from(member.count)).sum()
    }

    #[test]
    fn the_rules_on_a_class_that_changes_are_those_on_one_counted_anew() {
        let toml = "k = 2\nrest = \"drop\"\n[columns]\nage = { role = \"quasi\" }\ncity = { role = \"quasi\" }\n\
                    illness = { role = \"sensitive\", alpha = 0.6 }\n";
        let (budget, mut held, mut broken) = (Budget::unlimited(), 0, 0);
        for seed in 0..30 {
            let Ok(problem) = testing::problem(&testing::random_table(seed, 40), toml) else {
                continue;
            };
            let pieces = problem.pieces_without(&[]);
            let task = task(&problem, &pieces, &budget, seed);
            let (cells, penalty) =
                (TupleCodes::new(&task), Penalty::new(problem.attributes(), task.attributes));
            let class = placed(&cells, &pieces);
            let (mut pool, mut rules, mut rng) =
                (Pool::default(), RuleCheck::new(&task, &cells), Rng::new(seed));
            pool.fill(&cells, [&class[..]].into_iter(), &mut Vec::new());
            rules.forget();
            let mut parts = vec![PoolClass::default(); 2];
            let member = |at: u32| Member { at, count: pool.pieces[at as usize].count };
            let halves = [
                0..index(pool.pieces.len() / 2),
                index(pool.pieces.len() / 2)..index(pool.pieces.len()),
            ];
            for (part, half) in parts.iter_mut().zip(halves) {
                part.set(&penalty, &pool, half.map(member));
            }
            for _ in 0..60 {
                let from = rng.place(2);
                if parts[from].members.len() < 2 {
                    continue;
                }
                let place = rng.place(parts[from].members.len());
                let moved = parts[from].members[place];
                let rest: Vec<Member> = parts[from]
                    .members
                    .iter()
                    .copied()
                    .filter(|other| other.at != moved.at)
                    .collect();
                let more = [parts[1 - from].members.clone(), vec![moved]].concat();
                for (at, left, entered, then) in
                    [(from, Some(moved), None, rest), (1 - from, None, Some(moved), more)]
                {
                    let holds = rules.holds_after(&pool, &parts, at, left, entered);
                    let is_large = rows(&then) >= rules.least;
                    assert_eq!(holds, is_large && rules.holds(&pool, &then), "seed {seed}");
                    if holds { held += 1 } else { broken += 1 }
                }
                parts[from].take(&penalty, &pool, place, moved.count);
                parts[1 - from].add(&penalty, &pool, moved);
            }
        }
        assert!(held > 100 && broken > 100, "{held} {broken}");
    }

    #[test]
    fn the_loss_of_a_class_is_that_of_its_box_after_any_history() {
        let toml = "k = 2\nrest = \"drop\"\n[columns]\nage = { role = \"quasi\", weight = 2 }\nheight = { role = \"quasi\" }\ncity = { role = \"quasi\" }\n";
        let budget = Budget::unlimited();
        for seed in 0..40 {
            let problem = testing::problem(&testing::random_table(seed, 60), toml).unwrap();
            let pieces = problem.pieces_without(&[]);
            let task = task(&problem, &pieces, &budget, seed);
            let (cells, penalty) =
                (TupleCodes::new(&task), Penalty::new(problem.attributes(), task.attributes));
            let mut pool = Pool::default();
            let class = placed(&cells, &pieces);
            pool.fill(&cells, [&class[..20], &class[10..]].into_iter(), &mut Vec::new());
            assert_eq!(pool.pieces.len(), class.len());
            assert_eq!(
                pool.pieces[15].count,
                2 * class[15].count,
                "a tuple of both classes is there once"
            );
            let row_loss = |members: &[Member]| {
                let pieces: Vec<Piece> =
                    members.iter().map(|member| Piece { tuple: member.at, count: 1 }).collect();
                if pieces.is_empty() { 0.0 } else { penalty.of_box(&cells.ranges(&pieces)) }
            };
            let same = |one: f64, other: f64| {
                assert!((one - other).abs() < 1e-12, "seed {seed}: {one} and {other}")
            };
            let (mut rng, mut part) = (Rng::new(seed), PoolClass::default());
            part.set(&penalty, &pool, std::iter::empty());
            for _ in 0..80 {
                let at = index(usize::try_from(rng.below(pool.pieces.len() as u64)).unwrap());
                if part.members.len() < 2 || rng.below(2) == 0 {
                    part.add(&penalty, &pool, Member { at, count: 2 });
                } else {
                    let member = usize::try_from(rng.below(part.members.len() as u64)).unwrap();
                    part.take(
                        &penalty,
                        &pool,
                        member,
                        1 + u32::try_from(rng.below(2))
                            .unwrap()
                            .min(part.members[member].count - 1),
                    );
                }
                same(part.row_loss, row_loss(&part.members));
                assert_eq!(part.rows, rows(&part.members));
                let entering = Member { at, count: 1 };
                let with = [part.members.clone(), vec![entering]].concat();
                same(part.row_loss_with(&penalty, pool.row(at)), row_loss(&with));
                let Some(&leaving) = part.members.last() else { continue };
                let without = part.members[..part.members.len() - 1].to_vec();
                same(part.row_loss_without(&penalty, pool.row(leaving.at)), row_loss(&without));
                let after = [without, vec![entering]].concat();
                same(
                    part.row_loss_after(&penalty, pool.row(leaving.at), pool.row(at)),
                    row_loss(&after),
                );
            }
        }
    }
}
