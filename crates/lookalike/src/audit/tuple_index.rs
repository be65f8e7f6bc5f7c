//! An index over the tuples of a group: which of them a box covers, without a test of each pair.
//!
//! Every column's values are put in an order in which the values of most released cells lie side by
//! side: ranges by rank, groups of a hierarchy next to each other. A tuple is then a point, a box
//! nearly a box, and a k-d tree over the points answers. Where a cell's values do not lie side by
//! side (a set), a mask of 64 parts of the column and at last the cell itself decide.
//!
//! The tree is cut where the fewest boxes are cut: of all columns and places, where the pairs of box
//! and tuple that are left to test on both sides are fewest. The boxes of a partition lie on one
//! side or the other, and each meets few leaves.
//!
//! # Complexity
//! Built in O(n log n) for each column; four bytes for each cell of a tuple. A question looks at the
//! nodes that the box meets, and not at those whose tuples are all gone.
//!
//! # Reference
//! J. L. Bentley, Multidimensional binary search trees used for associative searching, CACM 1975.

use std::ops::ControlFlow;

use super::column_order::{ColumnOrder, part};
use super::join::Quasi;

/// The most tuples of a leaf.
const LEAF: usize = 8;

/// A k-d tree over the tuples of one group, which are numbered in its order.
#[derive(Debug)]
pub(super) struct TupleIndex<'a> {
    orders: &'a [ColumnOrder],
    quasi: &'a [Quasi<'a>],
    /// For each tuple its number in the group, in the order of the tree.
    pub(super) tuple: Vec<u32>,
    /// For each tuple, in the order of the tree, its position in each column.
    positions: Vec<u32>,
    nodes: Vec<IndexNode>,
    /// For each node and column the least and the greatest position, and the parts it has.
    extents: Vec<Extent>,
    /// For each tuple, in the order of the tree, its leaf.
    leaf: Vec<u32>,
}

/// Tuples from `from` to below `to`. The first child of a node comes next.
#[derive(Clone, Copy, Debug)]
struct IndexNode {
    from: u32,
    to: u32,
    /// 0 for a leaf.
    second: u32,
    parent: u32,
}

#[derive(Clone, Copy, Debug)]
struct Extent {
    least: u32,
    greatest: u32,
    parts: u64,
}

/// Some of the tuples of an index.
#[derive(Clone, Debug)]
pub(super) struct Subset {
    /// For each node the number of its tuples in the subset.
    counts: Vec<u32>,
    is_member: Vec<bool>,
}

/// One column of a box that does not cover everything.
#[derive(Clone, Copy, Debug)]
struct Constraint {
    column: usize,
    cell: u32,
    lo: u32,
    hi: u32,
    /// All parts where the positions from `lo` to below `hi` are all covered.
    parts: u64,
    is_exact: bool,
}

/// A box as the index understands it.
#[derive(Clone, Debug, Default)]
pub(super) struct BoxQuery {
    constraints: Vec<Constraint>,
}

impl<'a> TupleIndex<'a> {
    /// `first_rows` has for each tuple a source row that has it, `box_rows` for each box a released
    /// row.
    pub(super) fn new(
        quasi: &'a [Quasi<'a>],
        orders: &'a [ColumnOrder],
        first_rows: &[u32],
        box_rows: &[u32],
    ) -> TupleIndex<'a> {
        let columns = quasi.len();
        let mut points = Vec::with_capacity(first_rows.len() * columns);
        for &row in first_rows {
            let of = |(quasi, order): (&Quasi<'_>, &ColumnOrder)| {
                order.position[quasi.values.get(row as usize) as usize]
            };
            points.extend(quasi.iter().zip(orders).map(of));
        }
        let mut tuple: Vec<u32> = (0..).zip(first_rows).map(|(tuple, _)| tuple).collect();
        let mut index = TupleIndex {
            orders,
            quasi,
            tuple: Vec::new(),
            positions: Vec::new(),
            nodes: Vec::new(),
            extents: Vec::new(),
            leaf: vec![0; first_rows.len()],
        };
        let boxes = BoxSpans::new(quasi, orders, box_rows);
        index.build(&points, &mut tuple, &boxes);
        index.positions = Vec::with_capacity(points.len());
        for &tuple in &tuple {
            let at = tuple as usize * columns;
            index.positions.extend_from_slice(&points[at..at + columns]);
        }
        index.tuple = tuple;
        index
    }

    fn build(&mut self, points: &[u32], tuples: &mut [u32], boxes: &BoxSpans) {
        let columns = self.orders.len();
        let narrow = |n: usize| u32::try_from(n).expect("there are fewer tuples than rows");
        // What is to become a node, the next one last.
        let mut open = vec![OpenNode {
            from: 0,
            to: tuples.len(),
            parent: 0,
            is_second: false,
            boxes: (0..narrow(boxes.number)).collect(),
        }];
        while let Some(OpenNode { from, to, parent, is_second, boxes: mut meeting }) = open.pop() {
            let node = narrow(self.nodes.len());
            if is_second {
                self.nodes[parent as usize].second = node;
            }
            let (from32, to32) = (narrow(from), narrow(to));
            self.nodes.push(IndexNode { from: from32, to: to32, second: 0, parent });
            let extents = (0..columns).map(|column| self.extent(points, &tuples[from..to], column));
            let extents: Vec<Extent> = extents.collect();
            self.extents.extend_from_slice(&extents);
            boxes.keep_meeting(&extents, to - from, &mut meeting);
            let within = &mut tuples[from..to];
            let best = best_cut(points, within, &extents, boxes, &meeting);
            let cut = match best {
                _ if to - from <= LEAF => None,
                None => self.cut_in_half(points, within, &extents),
                Some((column, limit)) => {
                    let position = |tuple: u32| points[tuple as usize * columns + column];
                    Some(divide(within, |tuple| position(tuple) < limit))
                }
            };
            let Some(cut) = cut else {
                self.leaf[from..to].fill(node);
                continue;
            };
            let cut = from + cut;
            let second =
                OpenNode { from: cut, to, parent: node, is_second: true, boxes: meeting.clone() };
            open.push(second);
            open.push(OpenNode { from, to: cut, parent: node, is_second: false, boxes: meeting });
        }
    }

    /// A cut in the middle of the column with the widest spread; none when all tuples are equal.
    #[allow(clippy::cast_precision_loss, reason = "spreads are compared, and nothing else")]
    fn cut_in_half(&self, points: &[u32], tuples: &mut [u32], extents: &[Extent]) -> Option<usize> {
        let columns = extents.len();
        let spread = |column: usize| {
            let extent = extents[column];
            f64::from(extent.greatest - extent.least) / self.orders[column].value.len() as f64
        };
        let column = (0..columns).max_by(|&a, &b| spread(a).total_cmp(&spread(b)))?;
        if extents[column].least == extents[column].greatest {
            return None;
        }
        Some(halve(tuples, |tuple| points[tuple as usize * columns + column]))
    }

    fn extent(&self, points: &[u32], tuples: &[u32], column: usize) -> Extent {
        let values = self.orders[column].value.len();
        let mut extent = Extent { least: u32::MAX, greatest: 0, parts: 0 };
        for &tuple in tuples {
            let position = points[tuple as usize * self.orders.len() + column];
            extent.least = extent.least.min(position);
            extent.greatest = extent.greatest.max(position);
            extent.parts |= part(position, values);
        }
        extent
    }

    /// The box with these cells; none when a cell of it covers nothing.
    pub(super) fn query(&self, released_row: usize) -> Option<BoxQuery> {
        let mut constraints = Vec::with_capacity(self.quasi.len());
        for (column, (quasi, order)) in self.quasi.iter().zip(self.orders).enumerate() {
            let cell = quasi.cells.get(released_row);
            let span = order.spans[cell as usize];
            if span.lo == span.hi {
                return None;
            }
            if span.is_exact && span.lo == 0 && span.hi as usize == order.value.len() {
                continue;
            }
            let parts = if span.is_exact { u64::MAX } else { span.parts };
            let (lo, hi, is_exact) = (span.lo, span.hi, span.is_exact);
            constraints.push(Constraint { column, cell, lo, hi, parts, is_exact });
        }
        Some(BoxQuery { constraints })
    }

    /// All tuples.
    pub(super) fn everything(&self) -> Subset {
        let counts = self.nodes.iter().map(|node| node.to - node.from).collect();
        Subset { counts, is_member: vec![true; self.tuple.len()] }
    }

    pub(super) fn remove(&self, subset: &mut Subset, tuple: u32) {
        subset.is_member[tuple as usize] = false;
        self.walk_up(tuple, |node| subset.counts[node] -= 1);
    }

    pub(super) fn add(&self, subset: &mut Subset, tuple: u32) {
        subset.is_member[tuple as usize] = true;
        self.walk_up(tuple, |node| subset.counts[node] += 1);
    }

    fn walk_up(&self, tuple: u32, mut see: impl FnMut(usize)) {
        let mut node = self.leaf[tuple as usize];
        loop {
            see(node as usize);
            if node == 0 {
                return;
            }
            node = self.nodes[node as usize].parent;
        }
    }

    /// Calls `see` for the tuples of the subset that the box covers, until it breaks; returns the
    /// number of nodes and tuples that were looked at.
    pub(super) fn covered(
        &self,
        query: &BoxQuery,
        subset: &Subset,
        mut see: impl FnMut(u32) -> ControlFlow<()>,
    ) -> u64 {
        let columns = self.orders.len();
        let mut steps = 0;
        let mut open = vec![0u32];
        while let Some(at) = open.pop() {
            steps += 1;
            if subset.counts[at as usize] == 0 {
                continue;
            }
            let extents = &self.extents[at as usize * columns..][..columns];
            let meets = |is: &Constraint| {
                let extent = extents[is.column];
                extent.least < is.hi && is.lo <= extent.greatest && extent.parts & is.parts != 0
            };
            if !query.constraints.iter().all(meets) {
                continue;
            }
            let node = self.nodes[at as usize];
            if node.second > 0 {
                open.extend([node.second, at + 1]);
                continue;
            }
            for tuple in node.from..node.to {
                steps += 1;
                if subset.is_member[tuple as usize]
                    && self.covers(query, tuple)
                    && see(tuple).is_break()
                {
                    return steps;
                }
            }
        }
        steps
    }

    fn covers(&self, query: &BoxQuery, tuple: u32) -> bool {
        let columns = self.orders.len();
        let positions = &self.positions[tuple as usize * columns..][..columns];
        query.constraints.iter().all(|is| {
            let position = positions[is.column];
            let value = || self.orders[is.column].value[position as usize];
            is.lo <= position
                && position < is.hi
                && (is.is_exact || self.quasi[is.column].cover.covers(is.cell, value()))
        })
    }
}

/// A part of the tree that is still to be built.
struct OpenNode {
    from: usize,
    to: usize,
    parent: u32,
    is_second: bool,
    /// The boxes that its parent meets, or some of them.
    boxes: Vec<u32>,
}

/// For each box and column the positions that it covers, from the first to the last.
struct BoxSpans {
    number: usize,
    columns: usize,
    ends: Vec<(u32, u32)>,
}

impl BoxSpans {
    fn new(quasi: &[Quasi<'_>], orders: &[ColumnOrder], box_rows: &[u32]) -> BoxSpans {
        let mut ends = Vec::with_capacity(box_rows.len() * quasi.len());
        for &row in box_rows {
            for (quasi, order) in quasi.iter().zip(orders) {
                let span = order.spans[quasi.cells.get(row as usize) as usize];
                // A box that covers nothing is before all positions that it could meet.
                ends.push(if span.lo < span.hi { (span.lo, span.hi - 1) } else { (u32::MAX, 0) });
            }
        }
        BoxSpans { number: box_rows.len(), columns: quasi.len(), ends }
    }

    fn of(&self, b: u32) -> &[(u32, u32)] {
        &self.ends[b as usize * self.columns..][..self.columns]
    }

    /// Keeps the boxes that meet a node; of more than its tuples a sample.
    fn keep_meeting(&self, extents: &[Extent], tuples: usize, boxes: &mut Vec<u32>) {
        boxes.retain(|&b| {
            let meets = |(&(lo, hi), extent): (&(u32, u32), &Extent)| {
                lo <= extent.greatest && extent.least <= hi
            };
            self.of(b).iter().zip(extents).all(meets)
        });
        let most = tuples.max(4 * LEAF);
        if boxes.len() > most {
            let step = boxes.len().div_ceil(most);
            *boxes = boxes.iter().copied().step_by(step).collect();
        }
    }
}

/// The most places of a column at which a cut is tried.
const PLACES: usize = 128;

/// The column and the position before which a cut leaves the fewest pairs of box and tuple to test;
/// none when no cut leaves clearly fewer.
fn best_cut(
    points: &[u32],
    tuples: &[u32],
    extents: &[Extent],
    boxes: &BoxSpans,
    meeting: &[u32],
) -> Option<(usize, u32)> {
    let columns = extents.len();
    let (all_tuples, all_boxes) = (tuples.len() as u64, meeting.len() as u64);
    // One pair in twenty at least must go.
    let mut least = all_tuples * all_boxes / 20 * 19;
    let mut best = None;
    for (column, extent) in extents.iter().enumerate().filter(|(_, e)| e.least < e.greatest) {
        let width = u64::from(extent.greatest - extent.least) + 1;
        let places = width.min(PLACES as u64);
        let place = |position: u32| {
            let position = position.clamp(extent.least, extent.greatest) - extent.least;
            usize::try_from(u64::from(position) * places / width).expect("there are few places")
        };
        let mut at = [(0u64, 0u64, 0u64); PLACES];
        for &tuple in tuples {
            at[place(points[tuple as usize * columns + column])].0 += 1;
        }
        for &b in meeting {
            let (lo, hi) = boxes.of(b)[column];
            at[place(lo)].1 += 1;
            at[place(hi)].2 += 1;
        }
        let (mut before, mut begun, mut ended) = (0, 0, 0);
        for next in 1..places {
            let (tuples, begins, ends) = at[usize::try_from(next - 1).expect("few places")];
            (before, begun, ended) = (before + tuples, begun + begins, ended + ends);
            let pairs = before * begun + (all_tuples - before) * (all_boxes - ended);
            if pairs < least && before > 0 && before < all_tuples {
                least = pairs;
                let position = u32::try_from((next * width).div_ceil(places)).expect("a position");
                best = Some((column, extent.least + position));
            }
        }
    }
    best
}

/// Puts the tuples of the first part before the others and returns how many there are.
fn divide(tuples: &mut [u32], is_first: impl Fn(u32) -> bool) -> usize {
    let mut cut = 0;
    for at in 0..tuples.len() {
        if is_first(tuples[at]) {
            tuples.swap(cut, at);
            cut += 1;
        }
    }
    cut
}

/// Puts the tuples below some position before the others, about half of them, and returns how many:
/// equal positions stay together. There are at least two positions.
fn halve(tuples: &mut [u32], position: impl Fn(u32) -> u32) -> usize {
    let middle = tuples.len() / 2;
    let (_, &mut pivot, _) = tuples.select_nth_unstable_by_key(middle, |&tuple| position(tuple));
    let pivot = position(pivot);
    let below = tuples.iter().filter(|&&tuple| position(tuple) < pivot).count();
    let up_to = tuples.iter().filter(|&&tuple| position(tuple) <= pivot).count();
    let with_pivot = below == 0 || (up_to < tuples.len() && up_to - middle < middle - below);
    let limit = if with_pivot { pivot + 1 } else { pivot };
    divide(tuples, |tuple| position(tuple) < limit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::tests::Seeded;

    #[test]
    fn halves_are_both_there_and_share_no_position() {
        let mut seeded = Seeded(3);
        for _ in 0..2000 {
            let n = 2 + seeded.below(30);
            let values = 2 + seeded.below(6);
            let mut place: Vec<u32> =
                (0..n).map(|_| u32::try_from(seeded.below(values)).unwrap()).collect();
            (place[0], place[1]) = (0, 1);
            let mut tuples: Vec<u32> = (0..).take(n).collect();
            let cut = halve(&mut tuples, |tuple| place[tuple as usize]);
            let (first, second) = tuples.split_at(cut);
            assert!(!first.is_empty() && !second.is_empty());
            let of = |tuple: &u32| place[*tuple as usize];
            assert!(first.iter().map(of).max() < second.iter().map(of).min());
            tuples.sort_unstable();
            assert!(tuples.iter().copied().eq((0..).take(n)));
        }
    }
}
