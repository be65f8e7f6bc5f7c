//! Merge every group that does not hold with the group for which that costs least, round by round.
//!
//! Every distinct tuple begins as a group. In a round each group that does not hold yet, in an
//! order drawn once, looks for the other group with which it costs least to be one, and merges with
//! it at once. After a round, groups with 2k rows or more are split again into as many groups of k
//! rows or more as they have room for, each cut in two by the rule of the top-down method (see
//! `halve`). The rounds end when every group holds.
//!
//! # Guarantee
//! Every class holds every rule. If k is the only rule, every group has k to 2k-1 rows, or consists
//! of equal rows.
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
//! Equal rows are one group from the start: these merges cost nothing. "Holds" stands for "has k
//! rows". What the paper leaves open, when a union "has the smallest penalty", is read as that of
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
        if groups.is_short.iter().all(|&short| !short) || task.budget.is_spent() {
            break;
        }
        let is_last = round > u64::from(task.tuning.bottom_up_late + task.privacy.k().ilog2());
        let links = merger.merge(&groups, is_last);
        groups = merger.settle(&groups, &links, round);
    }
    let (mut holding, mut left) = (Vec::new(), Vec::new());
    for (group, is_short) in groups.partition.iter().zip(&groups.is_short) {
        if *is_short { left.extend_from_slice(group) } else { holding.push(group.to_vec()) }
    }
    task.sweep(holding, left)
}

struct Merger<'a> {
    task: &'a Task<'a>,
    penalty: &'a Penalty,
    objective: Objective,
}

/// Groups between two rounds.
#[derive(Default)]
struct Groups {
    partition: Partition,
    /// Groups that do not hold.
    is_short: Vec<bool>,
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
    fn start(&self) -> Groups {
        let Task { problem, attributes, pieces, .. } = *self.task;
        let mut groups = Groups::default();
        let mut tally = problem.tally();
        for equal in split::shuffled(problem, attributes, &mut pieces.to_vec(), self.task.seed) {
            groups.partition.push(equal.iter().copied());
            groups.is_short.push(!self.task.holds(&mut tally, equal));
        }
        groups
    }

    fn boxes(&self, groups: &Groups) -> Boxes<'_> {
        let of_group = |group: usize| self.task.ranges(groups.partition.class(group));
        let ranges = (0..groups.partition.len()).into_par_iter().flat_map_iter(of_group).collect();
        Boxes::of(self.penalty, ranges, groups.partition.iter().map(rows))
    }

    /// One round: every group that does not hold merges with its best partner, one after the other.
    ///
    /// They look for partners in batches, in parallel. When a group's turn comes and its partner
    /// has not changed meanwhile, no group that has not changed is better; those that have changed
    /// are few and looked at again. So the outcome is that of looking one after the other. In the
    /// last round a group that still does not hold has another turn.
    fn merge(&self, groups: &Groups, is_last: bool) -> Links {
        let mut boxes = self.boxes(groups);
        let mut tree = Tree::build(&boxes);
        let mut links = Links { next: vec![END; boxes.len()], is_first: vec![true; boxes.len()] };
        let mut last: Vec<u32> = (0u32..).take(boxes.len()).collect();
        let mut is_short = groups.is_short.clone();
        let mut queue: VecDeque<u32> =
            (0u32..).zip(&is_short).filter(|&(_, &short)| short).map(|(group, _)| group).collect();
        let batch =
            if rayon::current_num_threads() == 1 { 1 } else { self.task.tuning.bottom_up_batch };
        let mut tally = self.task.problem.tally();
        while !queue.is_empty() && !self.task.budget.is_spent() {
            let turn: Vec<u32> = queue.drain(..batch.min(queue.len())).collect();
            let look = |&group: &u32| match boxes.rows(group) > 0 && is_short[group as usize] {
                true => tree.partner(&boxes, self.objective, group),
                false => None,
            };
            let partners: Vec<Option<Partner>> = if batch == 1 {
                turn.iter().map(look).collect()
            } else {
                turn.par_iter().map(look).collect()
            };
            let mut changed: Vec<u32> = Vec::new();
            for (&group, partner) in turn.iter().zip(partners) {
                // One group alone is everything, and holds.
                let Some(partner) =
                    partner.filter(|_| boxes.rows(group) > 0 && is_short[group as usize])
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
                let (into, gone) = (group.min(partner.group), group.max(partner.group));
                boxes.merge(gone, into);
                tree.remove(gone);
                tree.touch(&boxes, into);
                links.next[last[into as usize] as usize] = gone;
                links.is_first[gone as usize] = false;
                last[into as usize] = last[gone as usize];
                changed.push(into);
                // Before the last round who is short is found out when it is over: a group that was
                // has had its turn.
                if is_last {
                    tally.clear();
                    links.of(into).for_each(|group| {
                        self.task.problem.count_into(&mut tally, groups.partition.class(group))
                    });
                    is_short[into as usize] = !self.task.privacy.holds(&tally);
                    queue.extend(is_short[into as usize].then_some(into));
                }
            }
        }
        links
    }

    /// Puts together what was linked, splits what has become too large, and finds out which groups
    /// hold.
    fn settle(&self, groups: &Groups, links: &Links, round: u64) -> Groups {
        let firsts: Vec<u32> = (0u32..)
            .zip(&links.is_first)
            .filter(|&(_, &first)| first)
            .map(|(group, _)| group)
            .collect();
        let chunks: Vec<Groups> = firsts
            .par_chunks(self.task.tuning.bottom_up_chunk)
            .map(|firsts| {
                let mut tally = self.task.problem.tally();
                let mut settled = Groups::default();
                for &first in firsts {
                    let mut pieces: Vec<Piece> = links
                        .of(first)
                        .flat_map(|group| groups.partition.class(group))
                        .copied()
                        .collect();
                    let pieces: Vec<Piece> = joined(&mut pieces).collect();
                    let is_short = !self.task.holds(&mut tally, &pieces);
                    if is_short || rows(&pieces) < 2 * self.task.privacy.k() {
                        settled.push(&pieces, is_short);
                        continue;
                    }
                    let lots = Rng::at(self.task.seed ^ round, u64::from(first)).next_u64();
                    for part in self.split(pieces, lots, &mut tally) {
                        settled.push(&part.pieces, false);
                    }
                }
                settled
            })
            .collect();
        let mut all = Groups::default();
        for chunk in chunks {
            all.partition.append(chunk.partition);
            all.is_short.extend(chunk.is_short);
        }
        all
    }

    /// Cuts a group that holds into as many as k allows, as long as the parts hold: one in two,
    /// each into its share of the number.
    fn split(&self, pieces: Vec<Piece>, lots: u64, tally: &mut Tally) -> Vec<Block> {
        let k = self.task.privacy.k();
        let whole = Block::shuffled(self.task.problem, self.task.attributes, pieces, lots);
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
            let lacks = |parts: u64, half: &Block| (parts * k).saturating_sub(half.rows());
            let first = (1..parts)
                .min_by_key(|&first| lacks(first, &one).max(lacks(parts - first, &other)))
                .expect("two parts or more");
            for (parts, to_first) in [(first, true), (parts - first, false)] {
                let (lender, short) =
                    if to_first { (&mut other, &mut one) } else { (&mut one, &mut other) };
                split::lend(self.penalty, lender, short, |short| {
                    (!self.task.budget.is_spent()).then(|| lacks(parts, short))
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

impl Groups {
    fn push(&mut self, pieces: &[Piece], is_short: bool) {
        self.partition.push(pieces.iter().copied());
        self.is_short.push(is_short);
    }
}
