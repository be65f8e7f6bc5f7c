//! From groups of rows to what each class shows.

use rayon::prelude::*;

use crate::code::CodeRange;
use crate::partition::{Partition, Piece};
use crate::problem::Problem;

/// Classes as published, in canonical order, and the rows that are left out.
///
/// Invariant: no two classes show the same: groups that would are one class. Classes stand in the order of what they show.
#[derive(Clone, Debug)]
pub struct Recoding {
    classes: Partition,
    shown: Vec<CodeRange>,
    suppressed: Vec<Piece>,
    /// True when the boxes lie over other rows than those of the class, so that its values say less than its box.
    is_of_rings: bool,
}

impl Recoding {
    /// What the groups of any partition show: each the smallest ranges that cover its rows.
    pub fn of(problem: &Problem, groups: &Partition, suppressed: Vec<Piece>) -> Recoding {
        let ranges: Vec<CodeRange> = groups.iter().flat_map(|group| problem.ranges(group)).collect();
        Recoding::new(problem, groups, &ranges, suppressed)
    }

    /// Covers the range of each group (one an attribute, group by group) by what can be published, and merges groups that
    /// show the same.
    pub(crate) fn new(problem: &Problem, groups: &Partition, ranges: &[CodeRange], suppressed: Vec<Piece>) -> Recoding {
        Recoding::merged(problem, groups, ranges, suppressed).0
    }

    /// The same for boxes that lie over more rows than their own; also says which class each group went to.
    pub(crate) fn of_rings(
        problem: &Problem,
        groups: &Partition,
        ranges: &[CodeRange],
        suppressed: Vec<Piece>,
    ) -> (Recoding, Vec<u32>) {
        let (recoding, class_of) = Recoding::merged(problem, groups, ranges, suppressed);
        (Recoding { is_of_rings: true, ..recoding }, class_of)
    }

    fn merged(problem: &Problem, groups: &Partition, ranges: &[CodeRange], suppressed: Vec<Piece>) -> (Recoding, Vec<u32>) {
        let width = problem.attributes().len();
        let cover = |(at, &range): (usize, &CodeRange)| problem.attributes()[at % width].cover(range);
        let covers: Vec<CodeRange> = ranges.par_iter().enumerate().map(cover).collect();
        let box_of = |group: u32| &covers[group as usize * width..][..width];
        let mut order: Vec<u32> = (0u32..).take(groups.len()).collect();
        order.par_sort_unstable_by(|&a, &b| box_of(a).cmp(box_of(b)).then(a.cmp(&b)));
        let mut classes = Partition::default();
        let mut shown = Vec::with_capacity(covers.len());
        let mut class_of = vec![0; groups.len()];
        for (class, same) in (0..).zip(order.chunk_by(|&a, &b| box_of(a) == box_of(b))) {
            same.iter().for_each(|&group| class_of[group as usize] = class);
            classes.push(same.iter().flat_map(|&group| groups.class(group as usize)).copied());
            shown.extend_from_slice(box_of(same[0]));
        }
        (Recoding { classes, shown, suppressed, is_of_rings: false }, class_of)
    }

    /// The classes.
    pub fn classes(&self) -> &Partition {
        &self.classes
    }

    /// What a class shows, one range an attribute.
    pub fn shown(&self, class: usize) -> &[CodeRange] {
        let width = self.shown.len() / self.classes.len().max(1);
        &self.shown[class * width..][..width]
    }

    /// True when a box covers more than the rows of its class, so that it cannot be told by their values.
    pub(crate) fn is_of_rings(&self) -> bool {
        self.is_of_rings
    }

    /// The rows that are left out.
    pub fn suppressed(&self) -> &[Piece] {
        &self.suppressed
    }
}

/// The rings of a non-homogeneous release, place by place and ring after ring: who could be whose.
///
/// The box that begins at a place covers the rows of the ring's window from there on; it is published with the other cells of the row
/// that stands `shift` places on.
#[derive(Clone, Debug)]
pub struct Rings {
    /// The rings in order.
    pub rings: Vec<RingSize>,
    /// For each place the tuple of its row.
    pub tuples: Vec<u32>,
    /// For each place the class that shows the box which begins there.
    pub classes: Vec<u32>,
}

/// One ring, but for its places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingSize {
    /// How many places it has.
    pub places: usize,
    /// How many of them a box covers.
    pub window: usize,
    /// How many places on the row stands whose cells go with a box. Below the window; a secret.
    pub shift: usize,
}
