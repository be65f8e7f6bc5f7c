//! Cut in two at the two rows that lie farthest apart, as long as a half holds; then see to the
//! rest.
//!
//! A set of rows is cut into two compact halves (see `halve`). Halves that hold are cut further; a
//! half that does not hold is left over. When nothing can be cut any more, each left-over group is
//! adjusted in the cheaper of two ways: it borrows the rows that suit it best from one group that
//! can spare them, or it joins the group for which that costs least.
//!
//! # Guarantee
//! Every class holds every rule: the adjustment ends when no group is left that does not.
//!
//! # Complexity
//! O(r d n log n) time for n pieces, d attributes and r rounds of the far-pair search when the
//! halves are of like size, O(n^2) at worst; O(d n) space. Halves are independent and run in
//! parallel. The adjustment looks for partners and lenders through a tree.
//!
//! # Reference
//! J. Xu, W. Wang, J. Pei, X. Wang, B. Shi, A. Fu: Utility-Based Anonymization Using Local
//! Recoding, KDD 2006, figure 4 (figure 5 of the extended version).
//!
//! # Departures from the paper
//! Pieces of distinct tuples instead of rows: equal rows part only when some are lent. One random
//! order serves all cuts, and the first row in it is where the far-pair search starts. "Holds"
//! stands for "has k rows". What the paper leaves open, where a row "leads to lower penalty", is
//! read as the penalty of the whole table (`Objective::Table`); DESIGN.md has the figures of the
//! other reading.

use std::collections::VecDeque;

use rayon::prelude::*;

use crate::codes::{CodeRange, real};
use crate::domain::penalty::Penalty;
use crate::problem::partition::Partition;
use crate::problem::privacy::Tally;
use crate::rng::Rng;
use crate::search::boxes::nearest::{Partner, Tree};
use crate::search::boxes::split::{self, Block};
use crate::search::boxes::{Boxes, Objective, bit};
use crate::search::task::{Next, Task, cut_to_the_end};

pub(crate) fn top_down(task: &Task, objective: Objective) -> Partition {
    let penalty = Penalty::new(task.problem.attributes(), task.attributes);
    let whole = Block::shuffled(task.problem, task.attributes, task.pieces.to_vec(), task.seed);
    let cutter = Cutter { task, penalty: &penalty, objective };
    let is_large = |block: &Block| block.pieces.len() > task.tuning.top_down_parallel;
    let groups = cut_to_the_end(
        whole,
        Next::Last,
        || task.problem.tally(),
        is_large,
        |block, tally, done| cutter.cut(block, tally, done),
    );
    let (short, holding): (Vec<Group>, Vec<Group>) =
        cutter.adjust(groups).into_iter().partition(|group| group.is_short);
    let pieces = |groups: Vec<Group>| groups.into_iter().map(|group| group.block.pieces);
    task.sweep(pieces(holding).collect(), pieces(short).flatten().collect())
}

/// What the cutting leaves.
struct Group {
    block: Block,
    /// It does not hold.
    is_short: bool,
}

struct Cutter<'a> {
    task: &'a Task<'a>,
    penalty: &'a Penalty,
    objective: Objective,
}

impl Cutter<'_> {
    /// Cuts a set that holds in two. Returns the halves that hold; the set itself if none does, and
    /// a half that does not, are done.
    fn cut(&self, block: Block, tally: &mut Tally, done: &mut Vec<Group>) -> Vec<Block> {
        let Some(halves) = self.halves(&block, tally) else {
            done.push(Group { block, is_short: false });
            return Vec::new();
        };
        let mut holding = Vec::new();
        for (half, holds) in halves {
            if holds {
                holding.push(half)
            } else {
                done.push(Group { block: half, is_short: true })
            }
        }
        holding
    }

    /// Two halves of which at least one holds, and which of them do.
    fn halves(&self, block: &Block, tally: &mut Tally) -> Option<[(Block, bool); 2]> {
        let Task { privacy, budget, rounds, tuning, .. } = *self.task;
        // Where k alone decides, a half of a set of 2k rows holds. Under other rules a cut may be
        // unlucky: others are tried.
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

    /// How many rows a set lacks at the least if it does not hold, which the tally then tells.
    fn lacking(&self, block: &Block, tally: &mut Tally) -> u64 {
        tally.clear();
        self.task.problem.count_into(tally, &block.pieces);
        self.task.privacy.least_lacking(tally)
    }

    /// Sees to the groups that do not hold, in an order that the seed decides. Leaves some only
    /// when the budget is spent.
    fn adjust(&self, mut groups: Vec<Group>) -> Vec<Group> {
        groups.sort_by_cached_key(|group| group.block.pieces.iter().map(|piece| piece.tuple).min());
        let (blocks, is_short): (Vec<Block>, Vec<bool>) =
            groups.into_iter().map(|group| (group.block, group.is_short)).unzip();
        let ranges = blocks.iter().flat_map(Block::ranges).collect();
        let boxes = Boxes::of(self.penalty, ranges, blocks.iter().map(Block::rows))
            .with_values(blocks.iter().flat_map(Block::values).collect());
        let tree = Tree::build(&boxes);
        let mut tally = self.task.problem.tally();
        let mut short: Vec<u32> =
            (0u32..).zip(&is_short).filter(|&(_, &short)| short).map(|(group, _)| group).collect();
        Rng::at(self.task.seed, 1).shuffle(&mut short);
        let lacking = blocks
            .iter()
            .zip(&is_short)
            .map(|(block, &short)| if short { self.lacking(block, &mut tally) } else { 0 });
        let lacking = lacking.collect();
        let mut adjustment =
            Adjustment { cutter: self, blocks, is_short, lacking, boxes, tree, tally };
        adjustment.mend_all(short.into());
        let groups = adjustment.blocks.into_iter().zip(adjustment.is_short);
        groups
            .filter(|(block, _)| !block.pieces.is_empty())
            .map(|(block, is_short)| Group { block, is_short })
            .collect()
    }
}

/// Groups on their way to holding, all of them.
struct Adjustment<'a> {
    cutter: &'a Cutter<'a>,
    blocks: Vec<Block>,
    /// Groups that do not hold.
    is_short: Vec<bool>,
    /// How many rows each of them lacks at the least.
    lacking: Vec<u64>,
    boxes: Boxes<'a>,
    tree: Tree,
    tally: Tally,
}

/// What a group that does not hold sees when it looks around.
struct View {
    partner: Partner,
    /// What joining the partner costs the whole table.
    merged: f64,
    /// The best loan, if it costs less than that.
    loan: Option<Loan>,
}

/// Rows that a group can have from another.
#[derive(Clone, Copy, PartialEq)]
struct Loan {
    /// What a row of the borrower will pay.
    pays: f64,
    lender: u32,
}

impl Loan {
    /// The one that leaves less to pay comes first, then the one of the earlier group.
    fn is_before(&self, other: &Loan) -> bool {
        self.pays < other.pays || (self.pays <= other.pays && self.lender < other.lender)
    }
}

impl Adjustment<'_> {
    /// Lets the groups borrow or merge, one after the other, until all hold or the budget is spent.
    ///
    /// They look around in batches, in parallel; when a group's turn comes, what has changed since
    /// then is looked at again. So the outcome is that of looking one after the other.
    fn mend_all(&mut self, mut queue: VecDeque<u32>) {
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
                self.is_short[group as usize].then(|| self.look(group, tally))
            };
            let views: Vec<Option<View>> = match turn.as_slice() {
                [group] => vec![look(&mut own, group)],
                many => many.par_iter().map_init(tally, look).collect(),
            };
            let mut changed = Vec::new();
            for (group, view) in turn.into_iter().zip(views) {
                if !self.is_short[group as usize] {
                    continue;
                }
                // One that held when the batch began may have been made short by one that joined
                // it.
                let view = view.unwrap_or_else(|| self.look(group, &mut own));
                queue.extend(self.mend(group, &view, &mut changed));
                since += 1;
            }
            // As groups change, the tree says less and less of them.
            if since >= rebuild {
                self.tree = Tree::build(&self.boxes);
                since = 0;
            }
        }
    }

    fn look(&self, group: u32, tally: &mut Tally) -> View {
        // One group alone is everything, and holds.
        let partner = self
            .tree
            .partner(&self.boxes, self.cutter.objective, group)
            .expect("a group that does not hold is not alone");
        let merged = self.boxes.value(Objective::Table, group, partner.group);
        View { partner, merged, loan: self.loan(group, merged, tally) }
    }

    /// What a group sees that looked around before others changed.
    fn look_again(&self, group: u32, view: &View, changed: &[u32], tally: &mut Tally) -> View {
        let has_changed = |group: &u32| changed.contains(group);
        if has_changed(&group) || has_changed(&view.partner.group) {
            return self.look(group, tally);
        }
        let partner =
            Partner::best_of(&self.boxes, self.cutter.objective, group, view.partner, changed);
        let merged = self.boxes.value(Objective::Table, group, partner.group);
        // A loan that cost too much beside another merger may not do so now.
        if view.loan.map_or(merged > view.merged, |loan| has_changed(&loan.lender)) {
            return View { partner, merged, loan: self.loan(group, merged, tally) };
        }
        let mut loan = view.loan;
        for &lender in changed.iter().filter(|&&other| self.boxes.rows(other) > 0) {
            self.try_loan(group, lender, self.limit(group, merged), &mut loan, tally);
        }
        View { partner, merged, loan: loan.filter(|loan| loan.pays < self.limit(group, merged)) }
    }

    /// Lets a group borrow or merge, whichever costs less. Notes which groups change, and returns
    /// one that has to be seen to again.
    fn mend(&mut self, group: u32, view: &View, changed: &mut Vec<u32>) -> Option<u32> {
        let mut tally = std::mem::replace(&mut self.tally, Tally::new(&[]));
        let View { partner: Partner { group: partner, .. }, loan, .. } =
            self.look_again(group, view, changed, &mut tally);
        self.is_short[group as usize] = false;
        if let Some(Loan { lender, .. }) = loan {
            // It was tried: only a budget that was spent meanwhile can forbid it, and then nobody
            // is seen to any more.
            let lent = self.lent(group, lender, &mut tally);
            self.is_short[group as usize] = lent.is_none();
            if let Some((left, borrowed)) = lent {
                self.replace(group, borrowed);
                self.replace(lender, left);
                self.is_short[lender as usize] = false;
                changed.extend([group, lender]);
            }
        } else {
            let block = std::mem::take(&mut self.blocks[group as usize]);
            self.blocks[partner as usize].append(block);
            self.boxes.merge(group, partner);
            self.tree.remove(group);
            self.tree.touch(&self.boxes, partner);
            self.lacking[partner as usize] =
                self.cutter.lacking(&self.blocks[partner as usize], &mut tally);
            self.is_short[partner as usize] = !self.cutter.task.privacy.holds(&tally);
            changed.extend([group, partner]);
        }
        self.tally = tally;
        (loan.is_none() && self.is_short[partner as usize]).then_some(partner)
    }

    /// The loan that leaves the borrower with the least to pay, of all groups that can spare rows;
    /// none when merging costs less.
    fn loan(&self, group: u32, merged: f64, tally: &mut Tally) -> Option<Loan> {
        if self.lacking[group as usize] > self.cutter.task.longest_loan() {
            return None;
        }
        let limit = self.limit(group, merged);
        let spare = self.spare(group);
        let contents = |at: usize| {
            let contents = self.tree.contents(at, self.cutter.penalty.width());
            contents.iter().map(|content| (content.range, content.values))
        };
        let bound = |best: &Option<Loan>, at: usize| match self.tree.node(at).most_rows > spare {
            true => self.least(group, contents(at), best.map_or(limit, |best| best.pays)),
            false => f64::INFINITY,
        };
        let skips = |best: &Option<Loan>, pays: f64, at: usize| match best {
            None => pays >= limit,
            Some(best) => !Loan { pays, lender: self.tree.node(at).least_group }.is_before(best),
        };
        let mut best = None;
        self.tree.seek(&self.boxes, &mut best, &bound, &skips, &mut |best, lender| {
            self.try_loan(group, lender, limit, best, tally);
        });
        best
    }

    /// With more than that to pay for each of its rows, a group had better merge: the two measures
    /// that the paper compares are what all its rows pay after the loan and what merging costs.
    fn limit(&self, group: u32, merged: f64) -> f64 {
        merged / real(self.cutter.task.privacy.k().max(self.boxes.rows(group) + 1))
    }

    /// A group with more rows than this can lend to another: it has to keep k.
    fn spare(&self, group: u32) -> u64 {
        let k = self.cutter.task.privacy.k();
        (2 * k).saturating_sub(self.boxes.rows(group)).max(k + self.lacking[group as usize] - 1)
    }

    /// Where the rows of a group lie and which values they have, attribute by attribute.
    fn reach(&self, group: u32) -> impl Iterator<Item = (CodeRange, u64)> {
        self.boxes
            .ranges(group)
            .iter()
            .enumerate()
            .map(move |(at, &range)| (range, self.boxes.values(group, at)))
    }

    /// What a row of a group pays at least once it has taken in one that lies in a box and has some
    /// of these values; when that is more than `limit`, perhaps less than it could say.
    fn least(&self, group: u32, there: impl Iterator<Item = (CodeRange, u64)>, limit: f64) -> f64 {
        let penalty = self.cutter.penalty;
        let mut pays = 0.0;
        for ((at, range), (all, values)) in self.boxes.ranges(group).iter().enumerate().zip(there) {
            pays += match range.is_one()
                && (values & bit(range.lo) == 0 || !all.contains(range.lo))
                && penalty.is_flat(at)
            {
                true => penalty.step(at, range.lo),
                false => {
                    penalty.of(at, CodeRange { lo: range.lo.min(all.hi), hi: range.hi.max(all.lo) })
                }
            };
            if pays > limit {
                break;
            }
        }
        pays
    }

    /// Takes a group's loan for the best if it is.
    fn try_loan(
        &self,
        group: u32,
        lender: u32,
        limit: f64,
        best: &mut Option<Loan>,
        tally: &mut Tally,
    ) {
        if lender == group || self.boxes.rows(lender) <= self.spare(group) {
            return;
        }
        let pays = self.least(group, self.reach(lender), best.map_or(limit, |best| best.pays));
        if best.map_or(pays >= limit, |best| !Loan { pays, lender }.is_before(&best)) {
            return;
        }
        if let Some((_, borrowed)) = self.lent(group, lender, tally) {
            let loan = Loan { pays: self.cutter.penalty.of_box(&borrowed.ranges()), lender };
            if best.map_or(loan.pays < limit, |best| loan.is_before(&best)) {
                *best = Some(loan);
            }
        }
    }

    /// What is left of the lender and what the borrower has after a loan; none when the lender
    /// cannot spare the rows.
    fn lent(&self, group: u32, lender: u32, tally: &mut Tally) -> Option<(Block, Block)> {
        let (mut left, mut borrowed) =
            (self.blocks[lender as usize].clone(), self.blocks[group as usize].clone());
        self.cutter
            .task
            .lend(self.cutter.penalty, tally, &mut left, &mut borrowed)
            .then_some((left, borrowed))
    }

    fn replace(&mut self, group: u32, block: Block) {
        self.boxes.set(group, &block.ranges(), block.rows());
        self.boxes.set_values(group, &block.values());
        self.tree.touch(&self.boxes, group);
        self.blocks[group as usize] = block;
    }
}
