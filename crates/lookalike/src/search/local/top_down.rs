//! Cut in two at the two rows that lie farthest apart, as long as a half satisfies the rules; then
//! adjust the undersized groups.
//!
//! A set of rows is cut into two compact halves (see `boxes::split`). Halves that satisfy the rules
//! are cut further; a half that does not is an undersized group. When nothing can be cut any more,
//! each undersized group is adjusted in the one of two ways that loses less: it takes over the rows
//! that suit it best from one donor that can spare them, or it joins the group where it adds least
//! loss.
//!
//! # Guarantee
//! Every class satisfies every rule: the adjustment ends when no undersized group is left.
//!
//! # Complexity
//! O(r d n log n) time for n pieces, d attributes and r rounds of the far-pair search when the
//! halves are of like size, O(n^2) at worst; O(d n) space. Halves are independent and run in
//! parallel. The adjustment looks for partners and donors through a tree.
//!
//! # Reference
//! J. Xu, W. Wang, J. Pei, X. Wang, B. Shi, A. Fu: Utility-Based Anonymization Using Local
//! Recoding, KDD 2006, figure 4 (figure 5 of the extended version).
//!
//! # Departures from the paper
//! Pieces of distinct tuples instead of rows: equal rows part only when some are transferred. One
//! random order serves all cuts, and the first row in it is where the far-pair search starts.
//! "Satisfies the rules" stands for "has k rows". The paper's "leads to lower penalty" is read as
//! the penalty of the whole table (`Objective::Table`); DESIGN.md has the figures of the other
//! reading.

use std::collections::VecDeque;

use rayon::prelude::*;

use crate::codes::{CodeRange, real};
use crate::domain::penalty::Penalty;
use crate::problem::partition::Partition;
use crate::problem::privacy::Tally;
use crate::rng::Rng;
use crate::search::boxes::nearest::Partner;
use crate::search::boxes::split::{self, Block};
use crate::search::boxes::tree::BoxTree;
use crate::search::boxes::{Boxes, Objective, bit};
use crate::search::task::{Next, Task, cut_to_the_end};

pub(crate) fn top_down(task: &Task, objective: Objective) -> Partition {
    let penalty = Penalty::new(task.problem.attributes(), task.attributes);
    let whole = Block::shuffled(task.problem, task.attributes, task.pieces.to_vec(), task.seed);
    let cutter = PairCutter { task, penalty: &penalty, objective };
    let is_large = |block: &Block| block.pieces.len() > task.tuning.top_down_parallel;
    let groups = cut_to_the_end(
        whole,
        Next::Last,
        || task.problem.tally(),
        is_large,
        |block, tally, done| cutter.cut(block, tally, done),
    );
    let (undersized, holding): (Vec<CutGroup>, Vec<CutGroup>) =
        cutter.adjust(groups).into_iter().partition(|group| group.is_undersized);
    let pieces = |groups: Vec<CutGroup>| groups.into_iter().map(|group| group.block.pieces);
    task.sweep(pieces(holding).collect(), pieces(undersized).flatten().collect())
}

/// A set that is not cut further.
struct CutGroup {
    block: Block,
    /// It breaks a rule.
    is_undersized: bool,
}

struct PairCutter<'a> {
    task: &'a Task<'a>,
    penalty: &'a Penalty,
    objective: Objective,
}

impl PairCutter<'_> {
    /// Cuts a set in two. Returns the halves that satisfy the rules; the set itself if none does,
    /// and a half that does not, are done.
    fn cut(&self, block: Block, tally: &mut Tally, done: &mut Vec<CutGroup>) -> Vec<Block> {
        let Some(halves) = self.halves(&block, tally) else {
            done.push(CutGroup { block, is_undersized: false });
            return Vec::new();
        };
        let mut holding = Vec::new();
        for (half, holds) in halves {
            if holds {
                holding.push(half)
            } else {
                done.push(CutGroup { block: half, is_undersized: true })
            }
        }
        holding
    }

    /// Two halves of which at least one satisfies the rules, and which of them do.
    fn halves(&self, block: &Block, tally: &mut Tally) -> Option<[(Block, bool); 2]> {
        let Task { privacy, budget, rounds, tuning, .. } = *self.task;
        // Where k alone decides, a half of a set of 2k rows has k. Under other rules a cut may
        // fail: others are tried.
        let most = if privacy.needs_sensitive() { tuning.top_down_tries } else { 1 };
        let tries = if block.rows() <= privacy.k() { 0 } else { most };
        for from in (0..tries).map(|at| at * block.pieces.len() / tuning.top_down_tries) {
            if budget.is_spent() {
                return None;
            }
            let (one, other) = split::halves(self.penalty, self.objective, rounds, block, from)?;
            let [first, second] = [&one, &other].map(|half| self.task.holds(tally, &half.pieces));
            if first || second {
                return Some([(one, first), (other, second)]);
            }
        }
        None
    }

    /// The least number of rows that a set lacks; the tally has then counted it.
    fn deficit(&self, block: &Block, tally: &mut Tally) -> u64 {
        tally.clear();
        self.task.problem.count_into(tally, &block.pieces);
        self.task.privacy.least_deficit(tally)
    }

    /// Adjusts the undersized groups, in random order. Leaves some only when the budget is spent.
    fn adjust(&self, mut groups: Vec<CutGroup>) -> Vec<CutGroup> {
        groups.sort_by_cached_key(|group| group.block.pieces.iter().map(|piece| piece.tuple).min());
        let (blocks, is_undersized): (Vec<Block>, Vec<bool>) =
            groups.into_iter().map(|group| (group.block, group.is_undersized)).unzip();
        let ranges = blocks.iter().flat_map(Block::ranges).collect();
        let boxes = Boxes::of(self.penalty, ranges, blocks.iter().map(Block::rows))
            .with_values(blocks.iter().flat_map(Block::values).collect());
        let tree = BoxTree::build(&boxes);
        let mut tally = self.task.problem.tally();
        let mut undersized: Vec<u32> = (0u32..)
            .zip(&is_undersized)
            .filter(|&(_, &undersized)| undersized)
            .map(|(group, _)| group)
            .collect();
        Rng::at(self.task.seed, 1).shuffle(&mut undersized);
        let deficits = blocks.iter().zip(&is_undersized).map(|(block, &undersized)| {
            if undersized { self.deficit(block, &mut tally) } else { 0 }
        });
        let deficits = deficits.collect();
        let mut adjustment =
            Adjustment { cutter: self, blocks, is_undersized, deficits, boxes, tree, tally };
        adjustment.adjust_all(undersized.into());
        let groups = adjustment.blocks.into_iter().zip(adjustment.is_undersized);
        groups
            .filter(|(block, _)| !block.pieces.is_empty())
            .map(|(block, is_undersized)| CutGroup { block, is_undersized })
            .collect()
    }
}

/// All groups, of which fewer and fewer are undersized.
struct Adjustment<'a> {
    cutter: &'a PairCutter<'a>,
    blocks: Vec<Block>,
    is_undersized: Vec<bool>,
    /// The least number of rows that each group lacks; 0 when it satisfies the rules.
    deficits: Vec<u64>,
    boxes: Boxes<'a>,
    tree: BoxTree,
    tally: Tally,
}

/// The partner and the donor that are best for an undersized group.
struct PartnerAndDonor {
    partner: Partner,
    /// The loss that joining the partner adds to the whole table.
    merged: f64,
    /// The best transfer, if it loses less than that.
    transfer: Option<Transfer>,
}

/// Rows that a group can take over from another.
#[derive(Clone, Copy, PartialEq)]
struct Transfer {
    /// The loss of a row of the undersized group afterwards.
    row_loss: f64,
    donor: u32,
}

impl Transfer {
    /// The one with less loss comes first, then the one of the earlier group.
    fn is_before(&self, other: &Transfer) -> bool {
        self.row_loss < other.row_loss
            || (self.row_loss <= other.row_loss && self.donor < other.donor)
    }
}

impl Adjustment<'_> {
    /// Lets the groups take over rows or merge, one after the other, until all satisfy the rules or
    /// the budget is spent.
    ///
    /// They look for partners and donors in batches, in parallel; when a group's turn comes, what
    /// has changed since then is looked at again. So the outcome is that of looking one after the
    /// other.
    fn adjust_all(&mut self, mut queue: VecDeque<u32>) {
        let task = self.cutter.task;
        let tuning = task.tuning;
        let rebuild = tuning
            .adjust_rebuild
            .min(queue.len() / tuning.adjust_rebuild_part)
            .max(tuning.adjust_rebuild_least);
        let batch = if rayon::current_num_threads() == 1 { 1 } else { tuning.adjust_batch };
        let tally = || task.problem.tally();
        let mut own = tally();
        let mut since = 0;
        while !queue.is_empty() && !task.budget.is_spent() {
            let turn: Vec<u32> = queue.drain(..batch.min(queue.len())).collect();
            let look = |tally: &mut Tally, &group: &u32| {
                self.is_undersized[group as usize].then(|| self.look(group, tally))
            };
            let choices: Vec<Option<PartnerAndDonor>> = match turn.as_slice() {
                [group] => vec![look(&mut own, group)],
                many => many.par_iter().map_init(tally, look).collect(),
            };
            let mut changed = Vec::new();
            for (group, seen) in turn.into_iter().zip(choices) {
                if !self.is_undersized[group as usize] {
                    continue;
                }
                // A group that was not undersized when the batch began may have become so when
                // another joined it.
                let choices = seen.unwrap_or_else(|| self.look(group, &mut own));
                queue.extend(self.adjust_one(group, &choices, &mut changed));
                since += 1;
            }
            // As groups change, the tree finds them less and less well.
            if since >= rebuild {
                self.tree = BoxTree::build(&self.boxes);
                since = 0;
            }
        }
    }

    fn look(&self, group: u32, tally: &mut Tally) -> PartnerAndDonor {
        // One group alone is everything, and satisfies the rules.
        let partner = self
            .tree
            .partner(&self.boxes, self.cutter.objective, group)
            .expect("an undersized group is not alone");
        let merged = self.boxes.value(Objective::Table, group, partner.group);
        PartnerAndDonor { partner, merged, transfer: self.transfer(group, merged, tally) }
    }

    /// The best choices of a group that looked before others changed.
    fn look_again(
        &self,
        group: u32,
        choices: &PartnerAndDonor,
        changed: &[u32],
        tally: &mut Tally,
    ) -> PartnerAndDonor {
        let has_changed = |group: &u32| changed.contains(group);
        if has_changed(&group) || has_changed(&choices.partner.group) {
            return self.look(group, tally);
        }
        let partner =
            Partner::best_of(&self.boxes, self.cutter.objective, group, choices.partner, changed);
        let merged = self.boxes.value(Objective::Table, group, partner.group);
        // A transfer that lost too much beside another merger may not do so now.
        if choices.transfer.map_or(merged > choices.merged, |transfer| has_changed(&transfer.donor))
        {
            return PartnerAndDonor {
                partner,
                merged,
                transfer: self.transfer(group, merged, tally),
            };
        }
        let mut transfer = choices.transfer;
        for &donor in changed.iter().filter(|&&other| self.boxes.rows(other) > 0) {
            self.try_transfer(group, donor, self.limit(group, merged), &mut transfer, tally);
        }
        PartnerAndDonor {
            partner,
            merged,
            transfer: transfer.filter(|transfer| transfer.row_loss < self.limit(group, merged)),
        }
    }

    /// Lets a group take over rows or merge, whichever loses less. Notes which groups change, and
    /// returns one that has to be adjusted again.
    fn adjust_one(
        &mut self,
        group: u32,
        choices: &PartnerAndDonor,
        changed: &mut Vec<u32>,
    ) -> Option<u32> {
        let mut tally = std::mem::replace(&mut self.tally, Tally::new(&[]));
        let PartnerAndDonor { partner: Partner { group: partner, .. }, transfer, .. } =
            self.look_again(group, choices, changed, &mut tally);
        self.is_undersized[group as usize] = false;
        if let Some(Transfer { donor, .. }) = transfer {
            // It was tried: only a budget that was spent meanwhile can forbid it, and then no group
            // is adjusted any more.
            let moved = self.moved(group, donor, &mut tally);
            self.is_undersized[group as usize] = moved.is_none();
            if let Some((left, received)) = moved {
                self.replace(group, received);
                self.replace(donor, left);
                self.is_undersized[donor as usize] = false;
                changed.extend([group, donor]);
            }
        } else {
            let block = std::mem::take(&mut self.blocks[group as usize]);
            self.blocks[partner as usize].append(block);
            self.boxes.merge(group, partner);
            self.tree.remove(group);
            self.tree.touch(&self.boxes, partner);
            self.deficits[partner as usize] =
                self.cutter.deficit(&self.blocks[partner as usize], &mut tally);
            self.is_undersized[partner as usize] = !self.cutter.task.privacy.holds(&tally);
            changed.extend([group, partner]);
        }
        self.tally = tally;
        (transfer.is_none() && self.is_undersized[partner as usize]).then_some(partner)
    }

    /// The transfer after which a row of the group loses least, of all donors that can spare rows;
    /// none when merging loses less.
    fn transfer(&self, group: u32, merged: f64, tally: &mut Tally) -> Option<Transfer> {
        if self.deficits[group as usize] > self.cutter.task.longest_transfer() {
            return None;
        }
        let limit = self.limit(group, merged);
        let spare = self.spare(group);
        let contents = |at: usize| {
            let contents = self.tree.contents(at, self.cutter.penalty.width());
            contents.iter().map(|content| (content.range, content.values))
        };
        let bound = |best: &Option<Transfer>, at: usize| {
            if self.tree.node(at).most_rows > spare {
                self.least(group, contents(at), best.map_or(limit, |best| best.row_loss))
            } else {
                f64::INFINITY
            }
        };
        let skips = |best: &Option<Transfer>, row_loss: f64, at: usize| match best {
            None => row_loss >= limit,
            Some(best) => {
                !Transfer { row_loss, donor: self.tree.node(at).least_group }.is_before(best)
            }
        };
        let mut best = None;
        self.tree.seek(&self.boxes, &mut best, &bound, &skips, &mut |best, donor| {
            self.try_transfer(group, donor, limit, best, tally);
        });
        best
    }

    /// A group whose rows would lose more than this had better merge: the two measures that the
    /// paper compares are the loss of all its rows after the transfer and the loss that merging
    /// adds.
    fn limit(&self, group: u32, merged: f64) -> f64 {
        merged / real(self.cutter.task.privacy.k().max(self.boxes.rows(group) + 1))
    }

    /// A group with more rows than this can be the donor of another: it has to keep k.
    fn spare(&self, group: u32) -> u64 {
        let k = self.cutter.task.privacy.k();
        (2 * k).saturating_sub(self.boxes.rows(group)).max(k + self.deficits[group as usize] - 1)
    }

    /// Where the rows of a group lie and which values they have, attribute by attribute.
    fn reach(&self, group: u32) -> impl Iterator<Item = (CodeRange, u64)> {
        self.boxes
            .ranges(group)
            .iter()
            .enumerate()
            .map(move |(at, &range)| (range, self.boxes.values(group, at)))
    }

    /// A lower bound on the loss of a row of a group once it has taken in one that lies in a box
    /// and has some of these values; above `limit` it may be weaker than it could be.
    fn least(&self, group: u32, there: impl Iterator<Item = (CodeRange, u64)>, limit: f64) -> f64 {
        let penalty = self.cutter.penalty;
        let mut row_loss = 0.0;
        for ((at, range), (all, values)) in self.boxes.ranges(group).iter().enumerate().zip(there) {
            let is_elsewhere = range.is_one()
                && (values & bit(range.lo) == 0 || !all.contains(range.lo))
                && penalty.is_flat(at);
            row_loss += if is_elsewhere {
                penalty.step(at, range.lo)
            } else {
                penalty.of(at, CodeRange { lo: range.lo.min(all.hi), hi: range.hi.max(all.lo) })
            };
            if row_loss > limit {
                break;
            }
        }
        row_loss
    }

    /// Takes the transfer from a donor for the best if it is.
    fn try_transfer(
        &self,
        group: u32,
        donor: u32,
        limit: f64,
        best: &mut Option<Transfer>,
        tally: &mut Tally,
    ) {
        if donor == group || self.boxes.rows(donor) <= self.spare(group) {
            return;
        }
        let row_loss =
            self.least(group, self.reach(donor), best.map_or(limit, |best| best.row_loss));
        if best.map_or(row_loss >= limit, |best| !Transfer { row_loss, donor }.is_before(&best)) {
            return;
        }
        if let Some((_, received)) = self.moved(group, donor, tally) {
            let transfer =
                Transfer { row_loss: self.cutter.penalty.of_box(&received.ranges()), donor };
            if best.map_or(transfer.row_loss < limit, |best| transfer.is_before(&best)) {
                *best = Some(transfer);
            }
        }
    }

    /// The donor and the undersized group after a transfer; none when the donor cannot spare the
    /// rows.
    fn moved(&self, group: u32, donor: u32, tally: &mut Tally) -> Option<(Block, Block)> {
        let (mut left, mut received) =
            (self.blocks[donor as usize].clone(), self.blocks[group as usize].clone());
        self.cutter
            .task
            .transfer(self.cutter.penalty, tally, &mut left, &mut received)
            .then_some((left, received))
    }

    fn replace(&mut self, group: u32, block: Block) {
        self.boxes.set(group, &block.ranges(), block.rows());
        self.boxes.set_values(group, &block.values());
        self.tree.touch(&self.boxes, group);
        self.blocks[group as usize] = block;
    }
}
