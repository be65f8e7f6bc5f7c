//! The groups near a group: a tree over codes, one attribute a level.
//!
//! The attributes on which rows differ most stand at the top, so that groups far away are skipped
//! early. The codes of a line are parted by their leading bits first and by the others further
//! down, below other attributes. A child has the range of its groups' codes on the attribute of its
//! level; the penalty never falls as a range grows, so the nearest code of the range gives a lower
//! bound on the loss with any group below on this attribute, and these bounds add up on the way
//! down.

use rayon::prelude::*;

use crate::codes::{Code, CodeRange, real};
use crate::domain::penalty::Penalty;
use crate::search::boxes::{Boxes, Spacing, sample_pairs};
use crate::search::budget::Budget;

/// Groups in a leaf: so many are not parted further. Greater: a smaller tree, less pruning.
const LEAF: usize = if cfg!(test) { 2 } else { 4 };

/// The bits of a line's codes that one level parts by.
const BITS: u32 = if cfg!(test) { 1 } else { 4 };

/// A node with more groups is sorted in parallel.
const PARALLEL: usize = 1 << 14;

/// On an attribute with at most this many codes, the losses with all of them are tabled before a
/// search. Greater: a longer start of each search, a quicker look at each group.
const TABLED: usize = 512;

/// Groups of equal rows, by where they stand in the tree: neighbours stand together.
#[derive(Debug)]
pub(crate) struct Index {
    levels: Vec<IndexLevel>,
    nodes: Vec<IndexNode>,
    order: Vec<u32>,
    /// The codes and the rows of the groups.
    codes: Vec<Code>,
    rows: Vec<u64>,
    /// The number of codes of each attribute.
    domains: Vec<usize>,
}

/// The key that parts the groups of a node: the codes of an attribute without their last bits.
#[derive(Clone, Copy, Debug)]
struct IndexLevel {
    at: usize,
    shift: u32,
}

#[derive(Clone, Copy, Debug)]
struct IndexNode {
    /// The codes of its groups on the attribute that parted them from their siblings.
    range: CodeRange,
    /// The level that parts its groups; for a leaf none.
    level: Option<u16>,
    /// Its children, or the places of a leaf's groups.
    first: u32,
    count: u32,
}

/// The loss of a group on each attribute when it is joined with another code.
#[derive(Debug)]
pub(crate) struct JoinLosses<'a> {
    penalty: &'a Penalty,
    own: &'a [CodeRange],
    /// The losses with every code, attribute by attribute, and where each attribute starts; none
    /// for an attribute with many codes.
    tabled: Vec<f64>,
    starts: Vec<usize>,
}

impl JoinLosses<'_> {
    // The inner loop of every walk; with several callers it would not be inlined.
    #[inline(always)]
    pub(crate) fn of(&self, at: usize, code: Code) -> f64 {
        match self.tabled[self.starts[at]..self.starts[at + 1]].get(code as usize) {
            Some(&loss) => loss,
            None => self.penalty.of(at, self.own[at].join(CodeRange::one(code))),
        }
    }
}

/// A walk down the tree.
struct Walk<'a, S, L, M> {
    joins: &'a JoinLosses<'a>,
    /// Lower bounds on the loss with the groups below, by attribute.
    least: Vec<f64>,
    rounding: f64,
    found: S,
    limit: L,
    visit: M,
}

impl Index {
    /// The index of all groups; none when the budget was spent meanwhile.
    pub(crate) fn build(boxes: &Boxes, budget: &Budget) -> Option<Index> {
        let domains = domains(boxes);
        let levels = levels(boxes, &domains);
        let mut order: Vec<u32> = (0u32..).take(boxes.len()).collect();
        let mut nodes = vec![IndexNode {
            range: CodeRange::one(0),
            level: None,
            first: 0,
            count: size(order.len()),
        }];
        let mut keyed = Vec::new();
        let mut open = vec![(0, 0, 0)];
        while let Some((at, level, begin)) = open.pop() {
            let count = nodes[at].count as usize;
            if (count > PARALLEL || nodes.len().is_multiple_of(1 << 10)) && budget.is_spent() {
                return None;
            }
            if count <= LEAF || level == levels.len() {
                nodes[at].first = size(begin);
                continue;
            }
            let groups = &mut order[begin..begin + count];
            let IndexLevel { at: attribute, shift } = levels[level];
            keyed.clear();
            keyed.extend(groups.iter().map(|&group| (boxes.ranges(group)[attribute].lo, group)));
            if count > PARALLEL {
                keyed.par_sort_unstable()
            } else {
                keyed.sort_unstable()
            }
            groups.iter_mut().zip(&keyed).for_each(|(group, keyed)| *group = keyed.1);
            let first = nodes.len();
            let mut begin = begin;
            for run in keyed.chunk_by(|one, other| one.0 >> shift == other.0 >> shift) {
                let range = CodeRange { lo: run[0].0, hi: run[run.len() - 1].0 };
                open.push((nodes.len(), level + 1, begin));
                nodes.push(IndexNode { range, level: None, first: 0, count: size(run.len()) });
                begin += run.len();
            }
            nodes[at].level = Some(u16::try_from(level).expect("there are few attributes"));
            nodes[at].first = size(first);
            nodes[at].count = size(nodes.len() - first);
        }
        let codes = order
            .iter()
            .flat_map(|&group| boxes.ranges(group).iter().map(|range| range.lo))
            .collect();
        let rows = order.iter().map(|&group| boxes.rows(group)).collect();
        Some(Index { levels, nodes, order, codes, rows, domains })
    }

    /// The group at a place, and its rows.
    #[inline]
    pub(crate) fn group(&self, place: usize) -> (u32, u64) {
        (self.order[place], self.rows[place])
    }

    /// The codes of the group at a place.
    #[inline]
    pub(crate) fn codes(&self, place: usize) -> &[Code] {
        &self.codes[place * self.domains.len()..][..self.domains.len()]
    }

    /// The losses of a group with others.
    pub(crate) fn joins<'a>(&self, boxes: &'a Boxes<'a>, group: u32) -> JoinLosses<'a> {
        let (penalty, own) = (boxes.penalty, boxes.ranges(group));
        let mut joins = JoinLosses { penalty, own, tabled: Vec::new(), starts: vec![0] };
        for (at, &domain) in self.domains.iter().enumerate() {
            let codes = (0u32..).take(if domain <= TABLED { domain } else { 0 });
            joins
                .tabled
                .extend(codes.map(|code| penalty.of(at, own[at].join(CodeRange::one(code)))));
            joins.starts.push(joins.tabled.len());
        }
        joins
    }

    /// Visits the place of every group whose union with the one of these losses loses less than
    /// `limit` (which may fall during the walk), itself among them, and of some others. Near ones
    /// tend to come first.
    pub(crate) fn within<S>(
        &self,
        joins: &JoinLosses,
        found: S,
        limit: impl Fn(&S) -> f64,
        visit: impl FnMut(&mut S, usize),
    ) -> S {
        let (rounding, least) = (joins.penalty.rounding(), vec![0.0; self.domains.len()]);
        let mut walk = Walk { joins, least, rounding, found, limit, visit };
        self.descend(0, 0.0, &mut walk);
        walk.found
    }

    fn descend<S, L: Fn(&S) -> f64, M: FnMut(&mut S, usize)>(
        &self,
        at: usize,
        sum: f64,
        walk: &mut Walk<S, L, M>,
    ) {
        let node = self.nodes[at];
        let below = node.first as usize..(node.first + node.count) as usize;
        let Some(level) = node.level else {
            below.for_each(|place| (walk.visit)(&mut walk.found, place));
            return;
        };
        let attribute = self.levels[level as usize].at;
        let (own, before) = (walk.joins.own[attribute].lo, walk.least[attribute]);
        // First the child that has the own code, if there is one.
        let same =
            below.start + self.nodes[below.clone()].partition_point(|child| child.range.hi < own);
        let same = (same < below.end && self.nodes[same].range.lo <= own).then_some(same);
        for child in same.into_iter().chain(below.filter(|&child| Some(child) != same)) {
            let CodeRange { lo, hi } = self.nodes[child].range;
            let loss = walk.joins.of(attribute, own.clamp(lo, hi));
            let then = sum - before + loss;
            if then - walk.rounding < (walk.limit)(&walk.found) {
                walk.least[attribute] = loss;
                self.descend(child, then, walk);
            }
        }
        walk.least[attribute] = before;
    }
}

/// The number of codes of each attribute.
fn domains(boxes: &Boxes) -> Vec<usize> {
    let mut domains = vec![0; boxes.penalty.width()];
    for group in (0u32..).take(boxes.len()) {
        for (domain, range) in domains.iter_mut().zip(boxes.ranges(group)) {
            *domain = (range.hi as usize + 1).max(*domain);
        }
    }
    domains
}

/// The levels, those first on which groups differ most.
fn levels(boxes: &Boxes, domains: &[usize]) -> Vec<IndexLevel> {
    let width = boxes.penalty.width();
    let pairs =
        sample_pairs(boxes.len(), Spacing::Even).map(|(one, other)| (size(one), size(other)));
    let rank = |at: usize| {
        let (mut loss, mut equal, mut all) = (0.0, 1, 1);
        for (one, other) in pairs.clone() {
            let (one, other) = (boxes.ranges(one)[at], boxes.ranges(other)[at]);
            loss += boxes.penalty.of(at, one.join(other));
            equal += u64::from(one == other);
            all += 1;
        }
        let bits = (real(all) / real(equal)).log2();
        if bits > 0.0 { loss / bits } else { 0.0 }
    };
    let mut differ: Vec<(f64, usize)> = (0..width).map(|at| (rank(at), at)).collect();
    differ.sort_by(|one, other| other.0.total_cmp(&one.0));
    let bits = |at: usize| usize::BITS - (domains[at] - 1).leading_zeros();
    let first: Vec<IndexLevel> = differ
        .iter()
        .map(|&(_, at)| IndexLevel {
            at,
            shift: if boxes.penalty.is_line(at) { bits(at).saturating_sub(BITS) } else { 0 },
        })
        .collect();
    let rounds = (0..=Code::BITS / BITS).map(|round| round * BITS);
    rounds
        .flat_map(|less| {
            first
                .iter()
                .filter(move |level| less == 0 || level.shift + BITS > less)
                .map(move |level| IndexLevel { shift: level.shift.saturating_sub(less), ..*level })
        })
        .collect()
}

pub(super) fn size(len: usize) -> u32 {
    u32::try_from(len).expect("there are fewer groups than rows")
}
