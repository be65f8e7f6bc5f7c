//! Start with everything generalized to the root and specialize down the hierarchies where the rows
//! satisfy the rules.
//!
//! Rows that share a node on every attribute are a group. A group is specialized along one
//! attribute: its rows go to the children of its node. Branches that satisfy the rules stay, rows
//! of the others are pushed back. If the rest at the node breaks a rule, rows are un-specialized
//! from the branches, as long as these satisfy the rules: those first that could not be specialized
//! much further down the attribute. If that does not suffice, whole branches go back, smallest
//! first. Of all attributes the one is taken that specializes most rows, then the one with fewest
//! branches, then the first. Branches and the rest are groups again.
//!
//! # Guarantee
//! Every class satisfies every rule: branches and rest do, or the step is not made. It ends, as
//! each step takes rows a level down.
//!
//! # Complexity
//! O(d n) time for a step of a group of n pieces along d attributes, and O(h n) more where rows are
//! un-specialized along a tree of height h; O(n) space. A row takes part in at most as many steps
//! that move it as its trees have levels. Groups are independent and run in parallel.
//!
//! # Reference
//! R. Wong, J. Li, A. Fu, K. Wang: (α, k)-Anonymity: An Enhanced k-Anonymity Model for
//! Privacy-Preserving Data Publishing, KDD 2006, section 4.
//!
//! # Departures from the paper
//! "Satisfies the rules" stands for "is (α,k)-anonymous". Pieces of distinct tuples instead of
//! rows: rows of one tuple may part. A row is un-specialized only if the rest then lacks less
//! (`Privacy::lacks`): a row with a value that is too frequent there already would be no help.
//! Among rows that go equally deep, those of the left branch come first, in random order. Published
//! is the smallest cover of the rows of a group, never coarser than its nodes. Numbers without a
//! hierarchy are halved.

use std::cmp::Reverse;
use std::ops::Range;

use rayon::prelude::*;

use rustc_hash::FxHashMap;

use crate::codes::Code;
use crate::problem::partition::{Partition, Piece, joined, rows};
use crate::problem::privacy::Tally;
use crate::search::boxes::descent::{Descent, Node, ROOT};
use crate::search::task::{Next, Task, cut_to_the_end};

pub(crate) fn specialize(task: &Task) -> Partition {
    let attributes = task.problem.attributes();
    let descents: Vec<Descent> =
        task.attributes.iter().map(|&at| Descent::of(&attributes[at])).collect();
    let mut draws = task.draws();
    let ranks = task.pieces.iter().map(|piece| (piece.tuple, draws.next_u64())).collect();
    let specializer = Specializer { task, descents, ranks };
    let whole =
        NodeGroup { pieces: task.pieces.to_vec(), nodes: vec![ROOT; task.attributes.len()] };
    let is_large = |group: &NodeGroup| group.pieces.len() > task.tuning.specialize_parallel;
    let groups = cut_to_the_end(
        whole,
        Next::Last,
        || specializer.scratch(),
        is_large,
        |group, scratch, done| {
            specializer.specialize(group, scratch).unwrap_or_else(|group| {
                done.push(group.pieces);
                Vec::new()
            })
        },
    );
    let mut partition = Partition::default();
    for pieces in groups {
        partition.push(pieces);
    }
    partition
}

/// Rows that share a node on every attribute of the task. They satisfy the rules; their pieces are
/// in the order of the tuples, each once.
struct NodeGroup {
    pieces: Vec<Piece>,
    nodes: Vec<Node>,
}

/// The pieces of a group, branch by branch from left to right, in each in the order of the tuples.
struct Dealt {
    pieces: Vec<Piece>,
    branches: Vec<DealtBranch>,
}

/// Rows below one child of a node.
struct DealtBranch {
    node: Node,
    places: Range<usize>,
    rows: u64,
    /// False once its rows are pushed back.
    stays: bool,
}

/// How good a step is, the best first: how many rows it specializes, into how many branches, along
/// which attribute.
type Rank = (Reverse<u64>, usize, usize);

/// A group specialized along one attribute.
struct Specialization {
    rank: Rank,
    branches: Vec<(Node, Vec<Piece>)>,
    /// Those that stay where they are.
    left: Vec<Piece>,
}

/// The memory of one thread.
struct DealScratch {
    /// By child of a node, how many pieces it has; all 0 between two uses.
    counts: Vec<usize>,
    /// By code, how many levels its rows can go on down.
    levels: Vec<u32>,
    tally: Tally,
    left: Tally,
}

struct Specializer<'a> {
    task: &'a Task<'a>,
    /// One an attribute of the task.
    descents: Vec<Descent>,
    /// The place of each tuple in a random order.
    ranks: FxHashMap<u32, u64>,
}

impl Specializer<'_> {
    fn scratch(&self) -> DealScratch {
        let tally = || self.task.problem.tally();
        let widest = self.descents.iter().map(Descent::widest).max().unwrap_or(0);
        let codes = self
            .task
            .attributes
            .iter()
            .map(|&at| self.task.problem.attributes()[at].codes())
            .max()
            .unwrap_or(0);
        DealScratch {
            counts: vec![0; widest],
            levels: vec![0; codes],
            tally: tally(),
            left: tally(),
        }
    }

    /// The groups that a group becomes along the best attribute, or the group if there is none.
    fn specialize(
        &self,
        mut group: NodeGroup,
        scratch: &mut DealScratch,
    ) -> Result<Vec<NodeGroup>, NodeGroup> {
        if self.task.budget.is_spent() {
            return Err(group);
        }
        // Steps that take all rows into one branch come before all others and change nothing: they
        // are made at once.
        let settled = |at: usize, group: &NodeGroup| {
            self.descents[at].settle(group.nodes[at], self.task.range(at, &group.pieces))
        };
        let is_open = |at: &usize, group: &NodeGroup| {
            !self.descents[*at].children(group.nodes[*at]).is_empty()
        };
        for at in (0..group.nodes.len()).filter(|at| is_open(at, &group)).collect::<Vec<_>>() {
            group.nodes[at] = settled(at, &group);
        }
        let open: Vec<usize> = (0..group.nodes.len()).filter(|at| is_open(at, &group)).collect();
        let promises: Vec<Option<Rank>> =
            if group.pieces.len() > self.task.tuning.specialize_parallel {
                open.into_par_iter()
                    .map_init(|| self.scratch(), |scratch, at| self.promise(&group, at, scratch))
                    .collect()
            } else {
                open.into_iter().map(|at| self.promise(&group, at, scratch)).collect()
            };
        let mut promises: Vec<Rank> = promises.into_iter().flatten().collect();
        promises.sort_unstable();
        let mut best: Option<Specialization> = None;
        for promise in promises {
            if best.as_ref().is_some_and(|best| best.rank < promise) {
                break;
            }
            let step = self.step(&group, promise.2, scratch);
            if !step.branches.is_empty() && best.as_ref().is_none_or(|best| step.rank < best.rank) {
                best = Some(step);
            }
        }
        let Some(Specialization { rank: (_, _, at), branches, left }) = best else {
            return Err(group);
        };
        let below = |(node, pieces)| {
            let mut nodes = group.nodes.clone();
            nodes[at] = node;
            NodeGroup { pieces, nodes }
        };
        let mut groups: Vec<NodeGroup> = branches.into_iter().map(below).collect();
        if !left.is_empty() {
            groups.push(NodeGroup { pieces: left, nodes: group.nodes });
        }
        Ok(groups)
    }

    fn code(&self, at: usize, piece: &Piece) -> Code {
        self.task.problem.code(self.task.attributes[at], piece.tuple)
    }

    /// Deals pieces to the children of their node and finds the branches that satisfy the rules.
    fn deal(&self, at: usize, node: Node, pieces: &[Piece], scratch: &mut DealScratch) -> Dealt {
        let descent = &self.descents[at];
        let children = descent.children(node);
        let places: Vec<u32> = pieces
            .iter()
            .map(|piece| descent.child(node, self.code(at, piece)) - children.start)
            .collect();
        let mut present = Vec::new();
        for &place in &places {
            let count = &mut scratch.counts[place as usize];
            if *count == 0 {
                present.push(place);
            }
            *count += 1;
        }
        present.sort_unstable();
        let mut end = 0;
        let mut ranges = Vec::with_capacity(present.len());
        for &place in &present {
            let start = end;
            end += scratch.counts[place as usize];
            scratch.counts[place as usize] = start;
            ranges.push((children.start + place, start..end));
        }
        let mut dealt = pieces.to_vec();
        for (piece, &place) in pieces.iter().zip(&places) {
            let next = &mut scratch.counts[place as usize];
            dealt[*next] = *piece;
            *next += 1;
        }
        present.iter().for_each(|&place| scratch.counts[place as usize] = 0);
        let branch = |(node, places): (Node, Range<usize>)| {
            let pieces = &dealt[places.clone()];
            let rows = rows(pieces);
            let stays =
                rows >= self.task.privacy.k() && self.task.holds(&mut scratch.tally, pieces);
            DealtBranch { node, places, rows, stays }
        };
        let branches = ranges.into_iter().map(branch).collect();
        Dealt { pieces: dealt, branches }
    }

    /// A rank that no step along an attribute is before; none when no branch satisfies the rules.
    fn promise(&self, group: &NodeGroup, at: usize, scratch: &mut DealScratch) -> Option<Rank> {
        let dealt = self.deal(at, group.nodes[at], &group.pieces, scratch);
        let (staying, left): (Vec<&DealtBranch>, Vec<&DealtBranch>) =
            dealt.branches.iter().partition(|branch| branch.stays);
        let rows =
            |branches: &[&DealtBranch]| branches.iter().map(|branch| branch.rows).sum::<u64>();
        match (staying.as_slice(), left.as_slice()) {
            ([], _) => None,
            (staying, []) => Some((Reverse(rows(staying)), staying.len(), at)),
            // At least k rows are left in the end. Branches that cannot spare rows may go back, so
            // there may be fewer.
            (staying, left) => {
                let all = rows(staying) + rows(left);
                let most = all.saturating_sub(self.task.privacy.k().max(rows(left)));
                (most > 0).then_some((Reverse(most), 0, at))
            }
        }
    }

    /// Specializes a group along an attribute.
    fn step(&self, group: &NodeGroup, at: usize, scratch: &mut DealScratch) -> Specialization {
        let mut dealt = self.deal(at, group.nodes[at], &group.pieces, scratch);
        let pushed = dealt.branches.iter().filter(|branch| !branch.stays);
        let mut left: Vec<Piece> =
            pushed.flat_map(|branch| &dealt.pieces[branch.places.clone()]).copied().collect();
        if !left.is_empty() {
            scratch.left.clear();
            self.task.problem.count_into(&mut scratch.left, &left);
            self.unspecialize(at, &mut dealt, &mut left, scratch);
            self.push_back(&mut dealt, &mut left, scratch);
        }
        let pieces = |places: &Range<usize>| {
            dealt.pieces[places.clone()].iter().filter(|piece| piece.count > 0)
        };
        let staying = dealt.branches.iter().filter(|branch| branch.stays);
        let rows = staying.clone().map(|branch| branch.rows).sum();
        let branches: Vec<(Node, Vec<Piece>)> = staying
            .map(|branch| (branch.node, pieces(&branch.places).copied().collect()))
            .collect();
        Specialization {
            rank: (Reverse(rows), branches.len(), at),
            branches,
            left: joined(&mut left).collect(),
        }
    }

    /// Moves rows from the branches to the rest until that satisfies the rules, or no row is left
    /// that helps and can be spared.
    fn unspecialize(
        &self,
        at: usize,
        dealt: &mut Dealt,
        left: &mut Vec<Piece>,
        scratch: &mut DealScratch,
    ) {
        if self.task.privacy.holds(&scratch.left) {
            return;
        }
        let mut counted = None;
        for place in self.shallow_first(at, dealt, scratch) {
            let of = dealt.branches.partition_point(|branch| branch.places.end <= place);
            let branch = &mut dealt.branches[of];
            if counted != Some(of) {
                scratch.tally.clear();
                self.task
                    .problem
                    .count_into(&mut scratch.tally, &dealt.pieces[branch.places.clone()]);
                counted = Some(of);
            }
            let piece = &mut dealt.pieces[place];
            let count = self.spare(*piece, &mut scratch.tally, &mut scratch.left);
            if count > 0 {
                left.push(Piece { count, ..*piece });
                piece.count -= count;
                branch.rows -= u64::from(count);
                if self.task.privacy.holds(&scratch.left) {
                    return;
                }
            }
        }
    }

    /// The places of the pieces of branches that stay, those first that can go down fewer levels of
    /// the attribute, counted over the rows of the branch.
    fn shallow_first(&self, at: usize, dealt: &Dealt, scratch: &mut DealScratch) -> Vec<usize> {
        let staying = || dealt.branches.iter().filter(|branch| branch.stays);
        let mut open: Vec<(Node, u32, Vec<Piece>)> = staying()
            .map(|branch| (branch.node, 0, dealt.pieces[branch.places.clone()].to_vec()))
            .collect();
        while let Some((node, level, pieces)) = open.pop() {
            if self.descents[at].children(node).is_empty() {
                scratch.levels[self.code(at, &pieces[0]) as usize] = level;
                continue;
            }
            let below = self.deal(at, node, &pieces, scratch);
            for branch in below.branches {
                let pieces = &below.pieces[branch.places];
                if branch.stays {
                    open.push((branch.node, level + 1, pieces.to_vec()));
                } else {
                    pieces
                        .iter()
                        .for_each(|piece| scratch.levels[self.code(at, piece) as usize] = level);
                }
            }
        }
        let level = |place: usize| scratch.levels[self.code(at, &dealt.pieces[place]) as usize];
        // At random, not by tuple: with a known order, a row that was passed over would disclose
        // that its value was no help.
        let rank = |place: usize| self.ranks[&dealt.pieces[place].tuple];
        let mut order: Vec<(u32, usize, u64, usize)> = (0..)
            .zip(staying())
            .flat_map(|(branch, staying)| staying.places.clone().map(move |place| (branch, place)))
            .map(|(branch, place)| (level(place), branch, rank(place), place))
            .collect();
        order.sort_unstable();
        order.into_iter().map(|(_, _, _, place)| place).collect()
    }

    /// Moves rows of a piece from one class to another that breaks a rule, as long as they help it
    /// and the first class satisfies the rules. Returns how many.
    fn spare(&self, piece: Piece, from: &mut Tally, to: &mut Tally) -> u32 {
        let privacy = self.task.privacy;
        let mut codes = vec![0; self.task.problem.sensitive_columns()];
        self.task.problem.sensitive_codes(piece.tuple, &mut codes);
        let mut lacks = privacy.lacks(to);
        for taken in 0..piece.count {
            from.remove(&codes, 1);
            to.add(&codes, 1);
            let then = privacy.lacks(to);
            if then >= lacks || !privacy.holds(from) {
                from.add(&codes, 1);
                to.remove(&codes, 1);
                return taken;
            }
            if privacy.holds(to) {
                return taken + 1;
            }
            lacks = then;
        }
        piece.count
    }

    /// Gives up branches, those with fewest rows first, until the rest satisfies the rules: all
    /// together do.
    fn push_back(&self, dealt: &mut Dealt, left: &mut Vec<Piece>, scratch: &mut DealScratch) {
        let Dealt { pieces, branches } = dealt;
        let mut smallest_first: Vec<&mut DealtBranch> =
            branches.iter_mut().filter(|branch| branch.stays).collect();
        smallest_first.sort_by_key(|branch| branch.rows);
        for branch in smallest_first {
            if self.task.privacy.holds(&scratch.left) {
                return;
            }
            let back = &pieces[branch.places.clone()];
            self.task.problem.count_into(&mut scratch.left, back);
            left.extend(back.iter().filter(|piece| piece.count > 0));
            branch.stays = false;
        }
    }
}
