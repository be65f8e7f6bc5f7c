//! Released rows placed on source rows of one group, box by box: a greatest flow whose edges are
//! never listed.
//!
//! A box asks the index for tuples that it covers and that still have room: small boxes first. Rows
//! that are left are placed along chains: a box takes over part of a tuple from another box, which
//! moves on. Chains are searched from all boxes with rows left at once; a tuple that was seen once
//! is taken out of the index until the round ends, so that a round looks at every tuple and every
//! box once at most, however many pairs there are. A round without any chain proves that no more
//! rows can be placed.
//!
//! # Complexity
//! Memory for boxes and tuples, none for pairs. A few rounds in practice, each with one question to
//! the index for each box that it reaches.
//!
//! # Reference
//! J. Hopcroft, R. Karp, An n^(5/2) algorithm for maximum matchings in bipartite graphs, SIAM J.
//! Comput. 1973; A. Efrat, A. Itai, M. Katz, Geometry helps in bottleneck matching and related
//! problems, Algorithmica 2001 (an index in place of the edges).

use std::collections::VecDeque;
use std::ops::ControlFlow;

use super::tuple_index::{BoxQuery, Subset, TupleIndex};

/// What became of the released rows of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Placed {
    /// Rows with a source row of their own.
    pub(super) rows: u64,
    /// Rows for which there is none.
    pub(super) without: u64,
    /// Rows for which the search was ended before either was known.
    pub(super) undecided: u64,
}

/// Rows of a box on a tuple; the next of the same tuple.
#[derive(Clone, Copy, Debug)]
struct Share {
    of_box: u32,
    rows: u32,
    next: u32,
}

/// How a box was reached: its share of the tuple that another box covers too.
#[derive(Clone, Copy, Debug)]
struct Reached {
    share: u32,
    tuple: u32,
    from: u32,
}

const NONE: u32 = u32::MAX;

struct Placement<'a> {
    index: &'a TupleIndex<'a>,
    /// For each box a released row that has it.
    rows: &'a [u32],
    /// Rows that each box still has to place, and rows that each tuple can still take.
    supply: Vec<u32>,
    room: Vec<u32>,
    /// Tuples with room, and tuples that this round has not seen.
    free: Subset,
    unseen: Subset,
    seen: Vec<u32>,
    first_share: Vec<u32>,
    shares: Vec<Share>,
    /// For each box how this round reached it; itself where it was not reached by a tuple.
    reached: Vec<Option<Reached>>,
    is_reached: Vec<bool>,
    boxes_reached: Vec<u32>,
    /// Rows that are known to have no place.
    without: u64,
    steps: u64,
}

/// Places the rows of the boxes on tuples that they cover, as many as possible. `order` has the
/// boxes that cover the least first. After so many `steps` the search ends.
pub(super) fn place(
    index: &TupleIndex<'_>,
    boxes: (&[u32], Vec<u32>),
    room: &[u32],
    order: &[u32],
    steps: u64,
) -> Placed {
    let (rows, supply) = boxes;
    let all = supply.iter().map(|&rows| u64::from(rows)).sum::<u64>();
    let everything = index.everything();
    let mut placement = Placement {
        index,
        rows,
        room: index.tuple.iter().map(|&tuple| room[tuple as usize]).collect(),
        free: everything.clone(),
        unseen: everything,
        seen: Vec::new(),
        first_share: vec![NONE; room.len()],
        shares: Vec::with_capacity(supply.len()),
        reached: vec![None; supply.len()],
        is_reached: vec![false; supply.len()],
        boxes_reached: Vec::new(),
        without: 0,
        supply,
        steps,
    };
    // Whatever has no place yet when the search is ended is undecided.
    let _ended = placement.run(order);
    let undecided = placement.supply.iter().map(|&rows| u64::from(rows)).sum::<u64>();
    let without = placement.without;
    Placed { rows: all - without - undecided, without, undecided }
}

impl Placement<'_> {
    /// Places rows until each is placed or known to have no place; none when the steps ran out.
    fn run(&mut self, order: &[u32]) -> Option<()> {
        for &b in order {
            self.place_directly(b)?;
        }
        let mut open: Vec<u32> =
            order.iter().copied().filter(|&b| self.supply[b as usize] > 0).collect();
        while !open.is_empty() {
            let found = self.search(&open)?;
            self.end_round();
            if !found {
                // No box with rows left reaches a tuple with room: none of them has a place.
                let left = open.iter().map(|&b| std::mem::take(&mut self.supply[b as usize]));
                self.without = left.map(u64::from).sum();
            }
            open.retain(|&b| self.supply[b as usize] > 0);
        }
        Some(())
    }

    fn query(&self, b: u32) -> Option<BoxQuery> {
        self.index.query(self.rows[b as usize] as usize)
    }

    fn spend(&mut self, steps: u64) -> Option<()> {
        self.steps = self.steps.checked_sub(steps)?;
        Some(())
    }

    /// Places rows of a box on tuples with room.
    fn place_directly(&mut self, b: u32) -> Option<()> {
        let Some(query) = self.query(b) else { return Some(()) };
        let mut wanted = self.supply[b as usize];
        let mut taken = Vec::new();
        let room = &self.room;
        let steps = self.index.covered(&query, &self.free, |tuple| {
            let rows = wanted.min(room[tuple as usize]);
            wanted -= rows;
            taken.push((tuple, rows));
            if wanted == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        for (tuple, rows) in taken {
            self.put(b, tuple, rows);
            self.fill(tuple, rows);
        }
        self.supply[b as usize] = wanted;
        self.spend(steps)
    }

    /// Adds rows of a box to a tuple.
    fn put(&mut self, of_box: u32, tuple: u32, rows: u32) {
        let first = self.first_share[tuple as usize];
        let mut at = first;
        for _ in 0..4 {
            match self.shares.get_mut(at as usize) {
                Some(share) if share.of_box == of_box => return share.rows += rows,
                Some(share) => at = share.next,
                None => break,
            }
        }
        self.first_share[tuple as usize] =
            u32::try_from(self.shares.len()).expect("fewer shares than rows");
        self.shares.push(Share { of_box, rows, next: first });
    }

    /// Takes room of a tuple.
    fn fill(&mut self, tuple: u32, rows: u32) {
        self.room[tuple as usize] -= rows;
        if self.room[tuple as usize] == 0 {
            self.index.remove(&mut self.free, tuple);
        }
    }

    /// Searches chains from all boxes with rows left to tuples with room, nearest first and from
    /// all of them at once; true when one was found.
    fn search(&mut self, open: &[u32]) -> Option<bool> {
        let mut found = false;
        // Each box with the root of its chain.
        let mut queue: VecDeque<(u32, u32)> = open.iter().map(|&root| (root, root)).collect();
        open.iter().for_each(|&root| self.reach(root, None));
        while let Some((b, root)) = queue.pop_front() {
            // All rows of its root are placed: the next round looks further.
            if self.supply[root as usize] == 0 {
                continue;
            }
            let Some(query) = self.query(b) else { continue };
            found |= self.place_along(root, b, &query)?;
            if self.supply[root as usize] == 0 {
                continue;
            }
            let mut tuples = Vec::new();
            let steps = self.index.covered(&query, &self.unseen, |tuple| {
                tuples.push(tuple);
                ControlFlow::Continue(())
            });
            self.spend(steps)?;
            for &tuple in &tuples {
                self.index.remove(&mut self.unseen, tuple);
                let mut at = self.first_share[tuple as usize];
                while let Some(&share) = self.shares.get(at as usize) {
                    self.spend(1)?;
                    if share.rows > 0 && !self.is_reached[share.of_box as usize] {
                        let reached = Reached { share: at, tuple, from: b };
                        self.reach(share.of_box, Some(reached));
                        queue.push_back((share.of_box, root));
                    }
                    at = share.next;
                }
            }
            self.seen.append(&mut tuples);
        }
        Some(found)
    }

    fn reach(&mut self, b: u32, how: Option<Reached>) {
        self.reached[b as usize] = how;
        self.is_reached[b as usize] = true;
        self.boxes_reached.push(b);
    }

    /// Moves rows along the chain from the root to box `b`, as many as the tuples with room that it
    /// covers can take.
    fn place_along(&mut self, root: u32, b: u32, query: &BoxQuery) -> Option<bool> {
        let mut found = false;
        loop {
            let mut end = NONE;
            let steps = self.index.covered(query, &self.free, |tuple| {
                end = tuple;
                ControlFlow::Break(())
            });
            self.spend(steps)?;
            if end == NONE {
                return Some(found);
            }
            let mut rows = self.supply[root as usize].min(self.room[end as usize]);
            let mut at = b;
            while let Some(reached) = self.reached[at as usize] {
                rows = rows.min(self.shares[reached.share as usize].rows);
                at = reached.from;
            }
            if rows == 0 {
                // The chain was used up by an earlier one.
                return Some(found);
            }
            found = true;
            self.put(b, end, rows);
            self.fill(end, rows);
            let mut at = b;
            while let Some(reached) = self.reached[at as usize] {
                self.shares[reached.share as usize].rows -= rows;
                self.put(reached.from, reached.tuple, rows);
                at = reached.from;
            }
            self.supply[root as usize] -= rows;
        }
    }

    fn end_round(&mut self) {
        for tuple in std::mem::take(&mut self.seen) {
            self.index.add(&mut self.unseen, tuple);
        }
        for b in self.boxes_reached.drain(..) {
            self.is_reached[b as usize] = false;
        }
    }
}
