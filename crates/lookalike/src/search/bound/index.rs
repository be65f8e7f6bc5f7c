//! Which groups are near a group: a tree over codes, one attribute a level.
//!
//! The attributes on which rows differ most stand at the top, so that what lies far away is left
//! early. The codes of a line are parted by their leading bits first and by the others further
//! down, below other attributes. A child says which codes its groups have on the attribute of its
//! level; the penalty never falls as a range grows, so the nearest of them says what joining any
//! group below costs at least on this attribute, and what the attributes on the way cost adds up.

use rayon::prelude::*;

use crate::codes::{Code, CodeRange, real};
use crate::domain::penalty::Penalty;
use crate::search::boxes::Boxes;
use crate::search::budget::Budget;

/// Up to this many groups are not parted further.
const LEAF: usize = if cfg!(test) { 2 } else { 4 };

/// The bits of a line's codes that one level looks at.
const BITS: u32 = if cfg!(test) { 1 } else { 4 };

/// From this many groups on they are sorted in parallel.
const PARALLEL: usize = 1 << 14;

/// Up to so many codes, what joining each of them costs is noted before a look around.
const NOTED: usize = 512;

/// Groups of equal rows, by where they stand in the tree: neighbours stand together.
#[derive(Debug)]
pub(crate) struct Index {
    levels: Vec<Level>,
    nodes: Vec<Node>,
    order: Vec<u32>,
    /// The codes of the groups, and how many rows they have.
    codes: Vec<Code>,
    rows: Vec<u64>,
    /// For each attribute how many codes there are.
    domains: Vec<usize>,
}

/// What parts the groups of a node: the codes of an attribute without their last bits.
#[derive(Clone, Copy, Debug)]
struct Level {
    at: usize,
    shift: u32,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    /// The codes of its groups on the attribute that parted them from their siblings.
    range: CodeRange,
    /// The level that parts its groups; for a leaf none.
    level: Option<u16>,
    /// Its children, or the places of a leaf's groups.
    first: u32,
    count: u32,
}

/// What it costs a group on each attribute to be joined with another code.
#[derive(Debug)]
pub(crate) struct Prices<'a> {
    penalty: &'a Penalty,
    own: &'a [CodeRange],
    /// Attribute by attribute, and where each one's begin; nothing where codes are many.
    noted: Vec<f64>,
    starts: Vec<usize>,
}

impl Prices<'_> {
    #[inline]
    pub(crate) fn of(&self, at: usize, code: Code) -> f64 {
        match self.noted[self.starts[at]..self.starts[at + 1]].get(code as usize) {
            Some(&price) => price,
            None => self.penalty.of(at, self.own[at].join(CodeRange::one(code))),
        }
    }
}

/// A look around, and what was paid on the way down.
struct Look<'a, S, L, M> {
    prices: &'a Prices<'a>,
    /// What joining the groups below costs at least on each attribute.
    paid: Vec<f64>,
    slack: f64,
    found: S,
    limit: L,
    meet: M,
}

impl Index {
    /// The index of all groups; none when the budget was spent meanwhile.
    pub(crate) fn build(boxes: &Boxes, budget: &Budget) -> Option<Index> {
        let width = boxes.penalty.width();
        let mut domains = vec![0; width];
        for group in (0u32..).take(boxes.len()) {
            for (domain, range) in domains.iter_mut().zip(boxes.ranges(group)) {
                *domain = (range.hi as usize + 1).max(*domain);
            }
        }
        let levels = levels(boxes, &domains);
        let mut order: Vec<u32> = (0u32..).take(boxes.len()).collect();
        let mut nodes = vec![Node {
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
            let Level { at: attribute, shift } = levels[level];
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
                nodes.push(Node { range, level: None, first: 0, count: size(run.len()) });
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

    /// What it costs a group to be joined with others.
    pub(crate) fn prices<'a>(&self, boxes: &'a Boxes<'a>, group: u32) -> Prices<'a> {
        let (penalty, own) = (boxes.penalty, boxes.ranges(group));
        let mut prices = Prices { penalty, own, noted: Vec::new(), starts: vec![0] };
        for (at, &domain) in self.domains.iter().enumerate() {
            let noted = (0u32..).take(if domain <= NOTED { domain } else { 0 });
            prices
                .noted
                .extend(noted.map(|code| penalty.of(at, own[at].join(CodeRange::one(code)))));
            prices.starts.push(prices.noted.len());
        }
        prices
    }

    /// Meets the place of every group whose union with the one of these prices costs a row less
    /// than `limit` after all that was met, itself among them, and of some others. Near ones tend
    /// to come first.
    pub(crate) fn within<S>(
        &self,
        prices: &Prices,
        found: S,
        limit: impl Fn(&S) -> f64,
        meet: impl FnMut(&mut S, usize),
    ) -> S {
        let (slack, paid) = (prices.penalty.rounding(), vec![0.0; self.domains.len()]);
        let mut look = Look { prices, paid, slack, found, limit, meet };
        self.descend(0, 0.0, &mut look);
        look.found
    }

    fn descend<S, L: Fn(&S) -> f64, M: FnMut(&mut S, usize)>(
        &self,
        at: usize,
        sum: f64,
        look: &mut Look<S, L, M>,
    ) {
        let node = self.nodes[at];
        let below = node.first as usize..(node.first + node.count) as usize;
        let Some(level) = node.level else {
            below.for_each(|place| (look.meet)(&mut look.found, place));
            return;
        };
        let attribute = self.levels[level as usize].at;
        let (own, before) = (look.prices.own[attribute].lo, look.paid[attribute]);
        // First the child that has the own code, if there is one.
        let same =
            below.start + self.nodes[below.clone()].partition_point(|child| child.range.hi < own);
        let same = (same < below.end && self.nodes[same].range.lo <= own).then_some(same);
        for child in same.into_iter().chain(below.filter(|&child| Some(child) != same)) {
            let CodeRange { lo, hi } = self.nodes[child].range;
            let pays = look.prices.of(attribute, own.clamp(lo, hi));
            let then = sum - before + pays;
            if then - look.slack < (look.limit)(&look.found) {
                look.paid[attribute] = pays;
                self.descend(child, then, look);
            }
        }
        look.paid[attribute] = before;
    }
}

/// The levels, those first on which groups differ most.
fn levels(boxes: &Boxes, domains: &[usize]) -> Vec<Level> {
    let width = boxes.penalty.width();
    let groups = boxes.len() as u64;
    // Some pairs, far from each other and not all equally far.
    let pairs = (0..groups.min(4096))
        .map(|at| (size_of(at * groups / groups.min(4096)), size_of(at * 7919 % groups)));
    let rank = |at: usize| {
        let (mut cost, mut equal, mut all) = (0.0, 1, 1);
        for (one, other) in pairs.clone() {
            let (one, other) = (boxes.ranges(one)[at], boxes.ranges(other)[at]);
            cost += boxes.penalty.of(at, one.join(other));
            equal += u64::from(one == other);
            all += 1;
        }
        let bits = (real(all) / real(equal)).log2();
        if bits > 0.0 { cost / bits } else { 0.0 }
    };
    let mut differ: Vec<(f64, usize)> = (0..width).map(|at| (rank(at), at)).collect();
    differ.sort_by(|one, other| other.0.total_cmp(&one.0));
    let bits = |at: usize| usize::BITS - (domains[at] - 1).leading_zeros();
    let first: Vec<Level> = differ
        .iter()
        .map(|&(_, at)| Level {
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
                .map(move |level| Level { shift: level.shift.saturating_sub(less), ..*level })
        })
        .collect()
}

pub(super) fn size(len: usize) -> u32 {
    u32::try_from(len).expect("there are fewer groups than rows")
}

fn size_of(place: u64) -> u32 {
    u32::try_from(place).expect("there are fewer groups than rows")
}
