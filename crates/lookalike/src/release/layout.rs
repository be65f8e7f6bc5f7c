//! The layout of a release: which source row goes to which class, and which rows make a batch.

use std::ops::Range;

use rayon::prelude::*;

use super::{BATCH, BYTES, Release};
use crate::codes::RowId;
use crate::error::Result;
use crate::problem::Problem;
use crate::problem::partition::{self, Piece};
use crate::problem::recoding::Recoding;
use crate::request::Order;
use crate::rng::{DEALING, Draws, Key};

impl Release {
    /// Decides which source row goes to which class, and cuts the rows into batches.
    pub(super) fn lay_out(
        &mut self,
        problem: &Problem,
        recoding: &Recoding,
        key: Key,
    ) -> Result<()> {
        let mut deal = Deal::new(self, problem, recoding, key)?;
        let released = problem.row_count() - partition::rows(recoding.suppressed());
        self.rows.reserve_exact(usize::try_from(released).expect("rows fit in memory"));
        self.classes.reserve_exact(self.rows.capacity());
        for (class, pieces) in (0u32..).zip(recoding.classes().iter()) {
            for &piece in pieces {
                self.rows.extend_from_slice(
                    deal.take(piece).unwrap_or_else(|| problem.rows_of(piece.tuple)),
                );
            }
            self.classes.resize(self.rows.len(), class);
        }
        match self.order {
            Order::Canonical => self.cut_classes()?,
            Order::Input => {
                let mut both: Vec<(RowId, u32)> =
                    self.rows.iter().copied().zip(self.classes.iter().copied()).collect();
                both.sort_unstable();
                (self.rows, self.classes) = both.into_iter().unzip();
                self.batches =
                    self.parts(&self.rows).into_iter().map(|part| (part, true)).collect();
            }
        }
        Ok(())
    }

    /// Cuts the rows into batches of whole classes. A class that is too large for one batch gets
    /// its final order here and is cut anywhere.
    fn cut_classes(&mut self) -> Result<()> {
        let sizes: Vec<usize> = self.classes.chunk_by(|a, b| a == b).map(<[u32]>::len).collect();
        let (mut start, mut end, mut sum) = (0, 0, 0);
        for size in sizes {
            let class = end..end + size;
            let bytes: usize = self.rows[class.clone()].iter().map(|&row| self.bytes(row)).sum();
            let is_large = size > BATCH || bytes > BYTES;
            if start < end && (is_large || sum + bytes > BYTES) {
                self.batches.push((start..end, false));
                (start, sum) = (end, 0);
            }
            (end, sum) = (class.end, sum + bytes);
            if is_large {
                self.put_in_order(class.clone())?;
                let parts = self.parts(&self.rows[class.clone()]);
                let parts = parts
                    .into_iter()
                    .map(|part| (class.start + part.start..class.start + part.end, true));
                self.batches.extend(parts);
                (start, sum) = (end, 0);
            } else if end - start >= BATCH {
                self.batches.push((start..end, false));
                (start, sum) = (end, 0);
            }
        }
        if start < end {
            self.batches.push((start..end, false));
        }
        Ok(())
    }

    /// Sorts rows by their passed-through cells.
    fn put_in_order(&mut self, here: Range<usize>) -> Result<()> {
        let Some(cells) = self.comparable(&self.rows[here.clone()])? else { return Ok(()) };
        let mut order: Vec<usize> = (0..here.len()).collect();
        order.par_sort_unstable_by(|&a, &b| cells.row(a).cmp(&cells.row(b)).then(a.cmp(&b)));
        let ordered: Vec<RowId> = order.iter().map(|&at| self.rows[here.start + at]).collect();
        self.rows[here].copy_from_slice(&ordered);
        Ok(())
    }

    /// Cuts rows into parts that are small enough to be gathered at once.
    pub(super) fn parts(&self, rows: &[RowId]) -> Vec<Range<usize>> {
        let (mut parts, mut start, mut sum) = (Vec::new(), 0, 0);
        for (at, &row) in rows.iter().enumerate() {
            let own = self.bytes(row);
            if at > start && (at - start >= BATCH || sum + own > BYTES) {
                parts.push(start..at);
                (start, sum) = (at, 0);
            }
            sum += own;
        }
        parts.push(start..rows.len());
        parts
    }
}

/// The rows of tuples that are split over several classes, each tuple's rows in random order.
struct Deal {
    tuples: Vec<u32>,
    rows: Vec<RowId>,
    /// For each tuple the place of its next row that has no class yet.
    next: Vec<usize>,
}

impl Deal {
    fn new(release: &Release, problem: &Problem, recoding: &Recoding, key: Key) -> Result<Deal> {
        let pieces = recoding.classes().iter().flatten().chain(recoding.suppressed());
        let mut tuples: Vec<u32> = pieces
            .filter(|piece| piece.count < problem.count(piece.tuple))
            .map(|piece| piece.tuple)
            .collect();
        tuples.sort_unstable();
        tuples.dedup();
        let mut deal = Deal { rows: Vec::new(), next: Vec::with_capacity(tuples.len()), tuples };
        let mut draws = key.draws(DEALING);
        let mut from = 0;
        for at in 0..deal.tuples.len() {
            deal.next.push(deal.rows.len());
            deal.rows.extend_from_slice(problem.rows_of(deal.tuples[at]));
            if deal.rows.len() - deal.next[from] >= BATCH || at + 1 == deal.tuples.len() {
                deal.shuffle(release, from, &mut draws)?;
                from = at + 1;
            }
        }
        Ok(deal)
    }

    /// Puts the rows of the tuples from `from` on in random order, each tuple's among themselves.
    /// They are sorted by their cells first, so that the order of the source has no influence.
    fn shuffle(&mut self, release: &Release, from: usize, draws: &mut Draws) -> Result<()> {
        let start = self.next[from];
        let cells = release.comparable(&self.rows[start..])?;
        for (at, &begin) in self.next.iter().enumerate().skip(from) {
            let end = self.next.get(at + 1).copied().unwrap_or(self.rows.len());
            let mut places: Vec<usize> = (begin - start..end - start).collect();
            if let Some(cells) = &cells {
                places.sort_unstable_by(|&a, &b| cells.row(a).cmp(&cells.row(b)).then(a.cmp(&b)));
            }
            draws.shuffle(&mut places);
            let dealt: Vec<RowId> = places.iter().map(|&place| self.rows[start + place]).collect();
            self.rows[begin..end].copy_from_slice(&dealt);
        }
        Ok(())
    }

    /// The next rows of a tuple; none when all of its rows go to one class.
    fn take(&mut self, piece: Piece) -> Option<&[RowId]> {
        let at = self.tuples.binary_search(&piece.tuple).ok()?;
        let begin = self.next[at];
        self.next[at] += piece.count as usize;
        Some(&self.rows[begin..self.next[at]])
    }
}
