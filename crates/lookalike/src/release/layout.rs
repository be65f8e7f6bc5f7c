//! The layout of a release: which source row goes to which class, and which rows make a batch.

use std::cmp::Ordering;
use std::ops::Range;

use rayon::prelude::*;

use super::deal::{self, Dealt, RowDeal};
use super::pseudonyms::Pseudonyms;
use super::{BATCH, BYTES, Release};
use crate::audit::Origin;
use crate::codes::RowId;
use crate::error::Result;
use crate::problem::Problem;
use crate::problem::partition;
use crate::problem::recoding::Recoding;
use crate::request::{Order, Request};
use crate::rng::Key;

impl Release {
    /// Decides which source row goes to which class, and cuts the rows into batches.
    pub(super) fn lay_out(
        &mut self,
        problem: &Problem,
        recoding: &Recoding,
        request: &Request,
        key: Key,
    ) -> Result<()> {
        if problem.is_counted() {
            return self.lay_out_counted(deal::of_units(problem, recoding, &self.passed, key)?);
        }
        if let Some(persons) = problem.whole_persons() {
            let mut dealt = deal::of_persons(problem, recoding, &self.passed, key)?;
            dealt.retain(|piece| piece.class.is_some());
            if request.output.pseudonyms {
                let released = dealt.iter().map(|piece| piece.row);
                self.pseudonyms = Pseudonyms::new(persons, released, request, key);
            }
            if self.sources.is_some() {
                return self.lay_out_counted(dealt);
            }
            return self.lay_out_persons(dealt);
        }
        let mut deal = RowDeal::new(&self.passed, problem, recoding, key)?;
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
        self.put_in_batches()
    }

    /// Lays out the rows of whole persons.
    fn lay_out_persons(&mut self, mut dealt: Vec<Dealt>) -> Result<()> {
        dealt.sort_unstable_by_key(|piece| (piece.class, piece.row));
        self.rows = dealt.iter().map(|piece| piece.row).collect();
        self.classes = dealt.iter().filter_map(|piece| piece.class).collect();
        self.put_in_batches()
    }

    fn put_in_batches(&mut self) -> Result<()> {
        match self.order {
            Order::Canonical => self.cut_classes()?,
            Order::Input => {
                let mut both: Vec<(RowId, u32)> =
                    self.rows.iter().copied().zip(self.classes.iter().copied()).collect();
                both.sort_unstable();
                (self.rows, self.classes) = both.into_iter().unzip();
                self.batches =
                    self.passed.parts(&self.rows).into_iter().map(|part| (part, true)).collect();
            }
        }
        Ok(())
    }

    /// Makes one row of those that show the same, with the sum of their counts.
    fn lay_out_counted(&mut self, mut dealt: Vec<Dealt>) -> Result<()> {
        dealt.retain(|piece| piece.class.is_some());
        dealt.sort_unstable_by_key(|piece| (piece.class, piece.row));
        let mut start = 0;
        while start < dealt.len() {
            let mut end = (start + BATCH).min(dealt.len());
            while end < dealt.len() && dealt[end].class == dealt[end - 1].class {
                end += 1;
            }
            self.merge(&dealt[start..end])?;
            start = end;
        }
        self.batches = self.passed.parts(&self.rows).into_iter().map(|part| (part, true)).collect();
        Ok(())
    }

    /// Adds the rows of whole classes: in order, equal ones as one row.
    fn merge(&mut self, dealt: &[Dealt]) -> Result<()> {
        let rows: Vec<RowId> = dealt.iter().map(|piece| piece.row).collect();
        let cells = self.passed.comparable(&rows)?;
        let compared = |a: usize, b: usize| {
            let by_cells = || cells.as_ref().map(|cells| cells.row(a).cmp(&cells.row(b)));
            let by_class = dealt[a].class.cmp(&dealt[b].class);
            let shown = by_class.then_with(|| by_cells().unwrap_or(Ordering::Equal));
            shown.then_with(|| self.pseudonyms.compared(rows[a], rows[b]))
        };
        let mut order: Vec<usize> = (0..dealt.len()).collect();
        order.par_sort_unstable_by(|&a, &b| compared(a, b).then(a.cmp(&b)));
        let alike: Vec<&[usize]> = order.chunk_by(|&a, &b| compared(a, b).is_eq()).collect();
        for same in alike {
            if let Some(sources) = &mut self.sources {
                let released = RowId::try_from(self.rows.len()).expect("no more rows than a table");
                sources.extend(same.iter().map(|&at| {
                    let Dealt { row: source, count, .. } = dealt[at];
                    Origin { released, source, count }
                }));
            }
            self.rows.push(dealt[same[0]].row);
            self.classes.extend(dealt[same[0]].class);
            self.counts.push(same.iter().map(|&at| dealt[at].count).sum());
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
            let bytes: usize =
                self.rows[class.clone()].iter().map(|&row| self.passed.bytes(row)).sum();
            let is_large = size > BATCH || bytes > BYTES;
            if start < end && (is_large || sum + bytes > BYTES) {
                self.batches.push((start..end, false));
                (start, sum) = (end, 0);
            }
            (end, sum) = (class.end, sum + bytes);
            if is_large {
                self.put_in_order(class.clone())?;
                let parts = self.passed.parts(&self.rows[class.clone()]);
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
        let rows = &self.rows[here.clone()];
        let cells = self.passed.comparable(rows)?;
        let mut order: Vec<usize> = (0..here.len()).collect();
        let compared = |a, b| self.compared(cells.as_ref(), rows, a, b);
        order.par_sort_unstable_by(|&a, &b| compared(a, b).then(a.cmp(&b)));
        let ordered: Vec<RowId> = order.iter().map(|&at| self.rows[here.start + at]).collect();
        self.rows[here].copy_from_slice(&ordered);
        Ok(())
    }
}
