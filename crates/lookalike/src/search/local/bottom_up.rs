//! Merge every undersized group with the group where that adds least loss, round by round.
//!
//! Every distinct tuple begins as a group. In a round each group that does not satisfy the rules
//! yet, in an order drawn once, looks for the other group whose union with it adds least loss, and
//! merges with it at once. After a round, groups with 2k rows or more are split again into as many
//! groups of k rows or more as they have room for, each cut in two by the rule of the top-down
//! method (see `boxes::split`). The rounds end when every group satisfies the rules.
//!
//! # Guarantee
//! Every class satisfies every rule. If k is the only rule, every group has k to 2k-1 rows, or
//! consists of equal rows.
//!
//! # Complexity
//! O(log k) rounds; in each, the partners of all groups are found through a tree, in practice in
//! O(n log n) for n groups, at worst in O(n^2) as in the paper. O(d n) space for d attributes.
//!
//! # Reference
//! J. Xu, W. Wang, J. Pei, X. Wang, B. Shi, A. Fu: Utility-Based Anonymization Using Local
//! Recoding, KDD 2006, figure 3 (figure 4 of the extended version).
//!
//! # Departures from the paper
//! Equal rows are one group from the start: these merges lose nothing. "Satisfies the rules" stands
//! for "has k rows". The penalty of a union, which the paper leaves open, is read as that of
//! the whole table (`Objective::Table`); DESIGN.md has the figures of the other reading. Ties:
//! fewer rows, then the earlier group.

use std::collections::VecDeque;

use rayon::prelude::*;

use crate::domain::penalty::Penalty;
use crate::problem::partition::{Partition, Piece, joined, rows};
use crate::problem::privacy::Tally;
use crate::rng::Rng;
use crate::search::boxes::nearest::{Partner, Tree};
use crate::search::boxes::split::{self, Block};
use crate::search::boxes::{Boxes, Objective};
use crate::search::task::Task;

/// No group follows.
const END: u32 = u32::MAX;

pub(crate) fn bottom_up(task: &Task, objective: Objective) -> Partition {
    let penalty = Penalty::new(task.problem.attributes(), task.attributes);
    let merger = Merger { task, penalty: &penalty, objective };
    let mut groups = merger.start();
    for round in 0.. {
        if groups.is_undersized.iter().all(|&undersized| !undersized) || task.budget.is_spent() {
            break;
        }
        let is_last = round > u64::from(task.tuning.bottom_up_late + task.privacy.k().ilog2());
        let links = merger.merge(&groups, is_last);
        groups = merger.settle(&groups, &links, round);
    }
    let (mut holding, mut left) = (Vec::new(), Vec::new());
    for (group, is_undersized) in groups.partition.iter().zip(&groups.is_undersized) {
        if *is_undersized { left.extend_from_slice(group) } else { holding.push(group.to_vec()) }
    }
    task.sweep(holding, left)
}

struct Merger<'a> {
    task: &'a Task<'a>,
    penalty: &'a Penalty,
    objective: Objective,
}

/// The groups between two rounds.
#[derive(Default)]
struct RoundGroups {
    partition: Partition,
    /// True for groups that break a rule.
    is_undersized: Vec<bool>,
}

/// Which groups are one after a round: each chain begins at its least group.
struct Links {
    next: Vec<u32>,
    is_first: Vec<bool>,
}

impl Links {
    /// The groups that are one with the first of them.
    fn of(&self, first: u32) -> impl Iterator<Item = usize> {
        let next = |&group: &u32| Some(self.next[group as usize]).filter(|&next| next != END);
        std::iter::successors(Some(first), next).map(|group| group as usize)
    }
}

impl Merger<'_> {
    /// A group for each set of equal rows, in an order that the seed decides.
    fn start(&self) -> RoundGroups {
        let Task { problem, attributes, pieces, .. } = *self.task;
        let mut groups = RoundGroups::default();
        let mut tally = problem.tally();
        for equal in split::shuffled(problem, attributes, &mut pieces.to_vec(), self.task.seed) {
            groups.partition.push(equal.iter().copied());
            groups.is_undersized.push(!self.task.holds(&mut tally, equal));
        }
        groups
    }

    fn boxes(&self, groups: &RoundGroups) -> Boxes<'_> {
        let of_group = |group: usize| self.task.ranges(groups.partition.class(group));
        let ranges = (0..groups.partition.len()).into_par_iter().flat_map_iter(of_group).collect();
        Boxes::of(self.penalty, ranges, groups.partition.iter().map(rows))
    }

    /// One round: every undersized group merges with its best partner, one after the other.
    ///
    /// They look for partners in batches, in parallel. When a group's turn comes and its partner
    /// has not changed meanwhile, no group that has not changed is better; those that have changed
    /// are few and looked at again. So the outcome is that of looking one after the other. In the
    /// last round a group that is still undersized has another turn.
    fn merge(&self, groups: &RoundGroups, is_last: bool) -> Links {
        let mut boxes = self.boxes(groups);
        let mut tree = Tree::build(&boxes);
        let mut links = Links { next: vec![END; boxes.len()], is_first: vec![true; boxes.len()] };
        let mut last: Vec<u32> = (0u32..).take(boxes.len()).collect();
        let mut is_undersized = groups.is_undersized.clone();
        let mut queue: VecDeque<u32> = (0u32..)
            .zip(&is_undersized)
            .filter(|&(_, &undersized)| undersized)
            .map(|(group, _)| group)
            .collect();
        let batch =
            if rayon::current_num_threads() == 1 { 1 } else { self.task.tuning.bottom_up_batch };
        let mut tally = self.task.problem.tally();
        while !queue.is_empty() && !self.task.budget.is_spent() {
            let turn: Vec<u32> = queue.drain(..batch.min(queue.len())).collect();
            let look = |&group: &u32| {
                if boxes.rows(group) > 0 && is_undersized[group as usize] {
                    tree.partner(&boxes, self.objective, group)
                } else {
                    None
                }
            };
            let partners: Vec<Option<Partner>> = if batch == 1 {
                turn.iter().map(look).collect()
            } else {
                turn.par_iter().map(look).collect()
            };
            let mut changed: Vec<u32> = Vec::new();
            for (&group, partner) in turn.iter().zip(partners) {
                // One group alone is everything, and satisfies the rules.
                let Some(partner) =
                    partner.filter(|_| boxes.rows(group) > 0 && is_undersized[group as usize])
                else {
                    continue;
                };
                let is_stale = changed.contains(&group)
                    || changed.contains(&partner.group)
                    || boxes.rows(partner.group) == 0;
                let best = if is_stale {
                    tree.partner(&boxes, self.objective, group)
                } else {
                    Some(Partner::best_of(&boxes, self.objective, group, partner, &changed))
                };
                let Some(partner) = best else { continue };
                let (into, merged) = (group.min(partner.group), group.max(partner.group));
                boxes.merge(merged, into);
                tree.remove(merged);
                tree.touch(&boxes, into);
                links.next[last[into as usize] as usize] = merged;
                links.is_first[merged as usize] = false;
                last[into as usize] = last[merged as usize];
                changed.push(into);
                // Before the last round the undersized groups are found when it is over: a group
                // that was has had its turn.
                if is_last {
                    tally.clear();
                    links.of(into).for_each(|group| {
                        self.task.problem.count_into(&mut tally, groups.partition.class(group))
                    });
                    is_undersized[into as usize] = !self.task.privacy.holds(&tally);
                    queue.extend(is_undersized[into as usize].then_some(into));
                }
            }
        }
        links
    }

    /// Joins the groups that were linked, splits those that have become too large, and finds out
    /// which groups satisfy the rules.
    fn settle(&self, groups: &RoundGroups, links: &Links, round: u64) -> RoundGroups {
        let firsts: Vec<u32> = (0u32..)
            .zip(&links.is_first)
            .filter(|&(_, &first)| first)
            .map(|(group, _)| group)
            .collect();
        let chunks: Vec<RoundGroups> = firsts
            .par_chunks(self.task.tuning.bottom_up_chunk)
            .map(|firsts| {
                let mut tally = self.task.problem.tally();
                let mut settled = RoundGroups::default();
                for &first in firsts {
                    let mut pieces: Vec<Piece> = links
                        .of(first)
                        .flat_map(|group| groups.partition.class(group))
                        .copied()
                        .collect();
                    let pieces: Vec<Piece> = joined(&mut pieces).collect();
                    let is_undersized = !self.task.holds(&mut tally, &pieces);
                    if is_undersized || rows(&pieces) < 2 * self.task.privacy.k() {
                        settled.push(&pieces, is_undersized);
                        continue;
                    }
                    let seed = Rng::at(self.task.seed ^ round, u64::from(first)).next_u64();
                    for part in self.split(pieces, seed, &mut tally) {
                        settled.push(&part.pieces, false);
                    }
                }
                settled
            })
            .collect();
        let mut all = RoundGroups::default();
        for chunk in chunks {
            all.partition.append(chunk.partition);
            all.is_undersized.extend(chunk.is_undersized);
        }
        all
    }

    /// Cuts a group into as many as k allows, as long as the parts satisfy the rules: one in two,
    /// each into its share of the number.
    fn split(&self, pieces: Vec<Piece>, seed: u64, tally: &mut Tally) -> Vec<Block> {
        let k = self.task.privacy.k();
        let whole = Block::shuffled(self.task.problem, self.task.attributes, pieces, seed);
        let (mut open, mut done) = (vec![(whole.rows() / k, whole)], Vec::new());
        while let Some((parts, block)) = open.pop() {
            let is_done = parts < 2 || self.task.budget.is_spent();
            let halves = if is_done {
                None
            } else {
                split::halves(self.penalty, self.objective, self.task.rounds, &block, 0)
            };
            let Some((mut one, mut other)) = halves else {
                done.push(block);
                continue;
            };
            // The share of parts for which the fewest rows have to change sides.
            let deficit = |parts: u64, half: &Block| (parts * k).saturating_sub(half.rows());
            let first = (1..parts)
                .min_by_key(|&first| deficit(first, &one).max(deficit(parts - first, &other)))
                .expect("two parts or more");
            for (parts, to_first) in [(first, true), (parts - first, false)] {
                let (donor, undersized) =
                    if to_first { (&mut other, &mut one) } else { (&mut one, &mut other) };
                split::lend(self.penalty, donor, undersized, |undersized| {
                    (!self.task.budget.is_spent()).then(|| deficit(parts, undersized))
                });
            }
            if self.task.holds(tally, &one.pieces) && self.task.holds(tally, &other.pieces) {
                open.push((parts - first, other));
                open.push((first, one));
            } else {
                done.push(block);
            }
        }
        done
    }
}

impl RoundGroups {
    fn push(&mut self, pieces: &[Piece], is_undersized: bool) {
        self.partition.push(pieces.iter().copied());
        self.is_undersized.push(is_undersized);
    }
}
