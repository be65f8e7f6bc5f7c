//! From groups of rows to what each class shows.

use rayon::prelude::*;

use crate::codes::{Code, CodeRange};
use crate::domain::attribute::Attribute;
use crate::domain::scheme::{Blocks, Generalization};
use crate::problem::Problem;
use crate::problem::partition::{Partition, Piece, joined};

/// Classes as published, in canonical order, and the rows that are left out.
///
/// Invariant: no two classes show the same: groups that would are one class. Classes stand in the
/// order of what they show.
#[derive(Clone, Debug)]
pub struct Recoding {
    classes: Partition,
    shown: Vec<CodeRange>,
    suppressed: Vec<Piece>,
    /// What is done to each value, when that is the same everywhere: then the classes show blocks,
    /// not ranges.
    generalization: Option<Generalization>,
    /// How its blocks are published.
    published: Option<Generalization>,
    /// True when the boxes lie over other rows than those of the class, so that its values say less
    /// than its box.
    is_of_rings: bool,
}

impl Recoding {
    /// What the groups of any partition show: each the smallest ranges that cover its rows.
    pub fn of(problem: &Problem, groups: &Partition, suppressed: Vec<Piece>) -> Recoding {
        let ranges: Vec<CodeRange> =
            groups.iter().flat_map(|group| problem.ranges(group)).collect();
        Recoding::new(problem, groups, &ranges, suppressed)
    }

    /// Covers the range of each group (one an attribute, group by group) by what can be published,
    /// and merges groups that show the same.
    pub(crate) fn new(
        problem: &Problem,
        groups: &Partition,
        ranges: &[CodeRange],
        suppressed: Vec<Piece>,
    ) -> Recoding {
        Recoding::merged(problem, groups, ranges, suppressed).0
    }

    /// The same for boxes that lie over more rows than their own; also says which class each group
    /// went to.
    pub(crate) fn of_rings(
        problem: &Problem,
        groups: &Partition,
        ranges: &[CodeRange],
        suppressed: Vec<Piece>,
    ) -> (Recoding, Vec<u32>) {
        let (recoding, class_of) = Recoding::merged(problem, groups, ranges, suppressed);
        (Recoding { is_of_rings: true, ..recoding }, class_of)
    }

    fn merged(
        problem: &Problem,
        groups: &Partition,
        ranges: &[CodeRange],
        suppressed: Vec<Piece>,
    ) -> (Recoding, Vec<u32>) {
        let width = problem.attributes().len();
        let cover =
            |(at, &range): (usize, &CodeRange)| problem.attributes()[at % width].cover(range);
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
        (
            Recoding {
                classes,
                shown,
                suppressed,
                generalization: None,
                published: None,
                is_of_rings: false,
            },
            class_of,
        )
    }

    /// What is published when every value has its block: rows of classes that do not hold are left
    /// out, and those that must be. The labels are those of the blocks.
    pub fn global(problem: &Problem, generalization: Generalization) -> Recoding {
        let width = problem.attributes().len();
        let pieces = problem.pieces_without(problem.mandatory());
        let block = |at: usize, piece: &Piece| {
            generalization.attributes[at].of_code[problem.code(at, piece.tuple) as usize]
                .expect("every value that occurs has a block")
        };
        let blocks: Vec<u32> = pieces
            .iter()
            .flat_map(|piece| (0..width).map(move |at| (at, piece)))
            .map(|(at, piece)| block(at, piece))
            .collect();
        let blocks_of = |at: usize| &blocks[at * width..][..width];
        let mut order: Vec<usize> = (0..pieces.len()).collect();
        order.par_sort_unstable_by(|&a, &b| blocks_of(a).cmp(blocks_of(b)).then(a.cmp(&b)));
        let privacy = &problem.stages_in_order()[0].privacy;
        let mut tally = problem.tally();
        let mut suppressed = problem.mandatory().to_vec();
        let (mut classes, shown) = (Partition::default(), Vec::new());
        for same in order.chunk_by(|&a, &b| blocks_of(a) == blocks_of(b)) {
            let class: Vec<Piece> = same.iter().map(|&at| pieces[at]).collect();
            tally.clear();
            problem.count_into(&mut tally, &class);
            if privacy.holds(&tally) {
                classes.push(class);
            } else {
                suppressed.extend(class);
            }
        }
        suppressed = joined(&mut suppressed).collect();
        let published = Some(generalization.clone());
        let recoding = Recoding {
            classes,
            shown,
            suppressed,
            generalization: Some(generalization),
            published,
            is_of_rings: false,
        };
        recoding.with_ranges(problem)
    }

    /// The same with labels that say no more than the released rows have: no end of a range and no
    /// member of a set that only rows have which are left out.
    #[must_use]
    pub fn without_traces(mut self, problem: &Problem) -> Recoding {
        let Some(generalization) =
            self.generalization.as_ref().filter(|_| !self.suppressed.is_empty())
        else {
            return self;
        };
        let blocks = |(at, (attribute, blocks)): (usize, (&Attribute, &Blocks))| {
            let pieces = (0..self.classes.len()).flat_map(|class| self.classes.class(class));
            let mut codes: Vec<Code> = pieces.map(|piece| problem.code(at, piece.tuple)).collect();
            codes.sort_unstable();
            codes.dedup();
            blocks.restricted(attribute, &codes)
        };
        let attributes = problem
            .attributes()
            .iter()
            .zip(&generalization.attributes)
            .enumerate()
            .map(blocks)
            .collect();
        self.published = Some(Generalization { attributes });
        self.with_ranges(problem)
    }

    /// What the classes of a global recoding show as ranges: the ends of their blocks.
    fn with_ranges(mut self, problem: &Problem) -> Recoding {
        let published = self.published.as_ref().expect("a global recoding");
        let range = |class: &[Piece], at: usize, attribute: &Attribute| {
            let block = published.attributes[at]
                .of(problem.code(at, class[0].tuple))
                .expect("every released value has a block");
            attribute.cover(block.ends)
        };
        let of_class = |class| {
            problem
                .attributes()
                .iter()
                .enumerate()
                .map(move |(at, attribute)| range(class, at, attribute))
        };
        self.shown = self.classes.iter().flat_map(of_class).collect();
        self
    }

    /// How each value is published, if that is the same everywhere.
    pub fn published(&self) -> Option<&Generalization> {
        self.published.as_ref()
    }

    /// What is done to each value, if that is the same everywhere: what it costs is reckoned by
    /// this.
    pub fn generalization(&self) -> Option<&Generalization> {
        self.generalization.as_ref()
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

    /// True when a box covers more than the rows of its class, so that it cannot be told by their
    /// values.
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
/// The box that begins at a place covers the rows of the ring's window from there on; it is
/// published with the other cells of the row that stands `shift` places on.
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
