//! The answer of a search: equivalence classes, the published ranges of each, and the suppressed
//! rows.
//!
//! An equivalence class (class for short) has all rows with the same published quasi-identifiers. A
//! *local* recoding chooses the ranges of each class; a *global* one generalizes a value in the
//! same way wherever it occurs; the boxes of *rings* cover rows of other classes too.

use rayon::prelude::*;

use crate::codes::{Code, CodeRange};
use crate::domain::attribute::Attribute;
use crate::domain::scheme::{Blocks, Generalization};
use crate::problem::Problem;
use crate::problem::partition::{Partition, Piece, joined};

/// Classes as published, in canonical order, and the suppressed rows.
///
/// Invariant: no two classes have the same published values: groups that would are one class.
/// Classes are in the order of their published ranges, or of their blocks.
#[derive(Clone, Debug)]
pub struct Recoding {
    classes: Partition,
    /// One range for each attribute, class by class.
    ranges: Vec<CodeRange>,
    suppressed: Vec<Piece>,
    form: RecodingForm,
}

/// How the ranges of a recoding came about.
#[derive(Clone, Debug)]
enum RecodingForm {
    /// Each class has the smallest ranges that cover its rows.
    Local,
    /// Every value has one block wherever it occurs, and classes publish blocks.
    Global {
        /// The blocks of the search: the loss is computed by these.
        generalization: Generalization,
        /// The blocks as published: without members that only suppressed rows have.
        published: Generalization,
    },
    /// The boxes cover rows of other classes too, so they are wider than the rows of their class.
    Rings,
}

impl Recoding {
    /// The local recoding of any partition: each group gets the smallest ranges that cover its
    /// rows.
    pub fn of(problem: &Problem, groups: &Partition, suppressed: Vec<Piece>) -> Recoding {
        let ranges: Vec<CodeRange> =
            groups.iter().flat_map(|group| problem.ranges(group)).collect();
        Recoding::new(problem, groups, &ranges, suppressed)
    }

    /// Covers the ranges of each group (one for each attribute, group by group) by ranges that can
    /// be published, and merges groups with the same published ranges.
    pub(crate) fn new(
        problem: &Problem,
        groups: &Partition,
        ranges: &[CodeRange],
        suppressed: Vec<Piece>,
    ) -> Recoding {
        Recoding::merged(problem, groups, ranges, suppressed).0
    }

    /// As [`Recoding::new`], for boxes that cover rows of other groups too; also returns the class
    /// of each group.
    pub(crate) fn of_rings(
        problem: &Problem,
        groups: &Partition,
        ranges: &[CodeRange],
        suppressed: Vec<Piece>,
    ) -> (Recoding, Vec<u32>) {
        let (recoding, class_of) = Recoding::merged(problem, groups, ranges, suppressed);
        (Recoding { form: RecodingForm::Rings, ..recoding }, class_of)
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
        let mut published = Vec::with_capacity(covers.len());
        let mut class_of = vec![0; groups.len()];
        for (class, same) in (0..).zip(order.chunk_by(|&a, &b| box_of(a) == box_of(b))) {
            same.iter().for_each(|&group| class_of[group as usize] = class);
            classes.push(same.iter().flat_map(|&group| groups.class(group as usize)).copied());
            published.extend_from_slice(box_of(same[0]));
        }
        (Recoding { classes, ranges: published, suppressed, form: RecodingForm::Local }, class_of)
    }

    /// The global recoding by these blocks: classes that do not satisfy the rules are suppressed,
    /// and so are the rows of mandatory suppression. The labels are those of the blocks.
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
        let mut classes = Partition::default();
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
        let published = generalization.clone();
        let ranges = block_ranges(problem, &classes, &published);
        let form = RecodingForm::Global { generalization, published };
        Recoding { classes, ranges, suppressed, form }
    }

    /// The same with labels that disclose no suppressed row: no end of a range and no member of a
    /// set that only suppressed rows have.
    #[must_use]
    pub fn without_traces(mut self, problem: &Problem) -> Recoding {
        if self.suppressed.is_empty() {
            return self;
        }
        let RecodingForm::Global { generalization, published } = &mut self.form else {
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
        *published = Generalization { attributes };
        self.ranges = block_ranges(problem, &self.classes, published);
        self
    }

    /// The published blocks of a global recoding.
    pub fn published(&self) -> Option<&Generalization> {
        match &self.form {
            RecodingForm::Global { published, .. } => Some(published),
            RecodingForm::Local | RecodingForm::Rings => None,
        }
    }

    /// The blocks of a global recoding by which its loss is computed: with the values that only
    /// suppressed rows have.
    pub fn generalization(&self) -> Option<&Generalization> {
        match &self.form {
            RecodingForm::Global { generalization, .. } => Some(generalization),
            RecodingForm::Local | RecodingForm::Rings => None,
        }
    }

    /// The classes.
    pub fn classes(&self) -> &Partition {
        &self.classes
    }

    /// The published ranges of a class, one for each attribute.
    pub fn ranges(&self, class: usize) -> &[CodeRange] {
        let width = self.ranges.len() / self.classes.len().max(1);
        &self.ranges[class * width..][..width]
    }

    /// True when a box covers more than the rows of its class, so that it does not follow from
    /// their values.
    pub(crate) fn is_of_rings(&self) -> bool {
        matches!(self.form, RecodingForm::Rings)
    }

    /// The suppressed rows, each tuple at most once for a global recoding.
    pub fn suppressed(&self) -> &[Piece] {
        &self.suppressed
    }
}

/// The published ranges of the classes of a global recoding: the ends of their blocks.
fn block_ranges(
    problem: &Problem,
    classes: &Partition,
    published: &Generalization,
) -> Vec<CodeRange> {
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
    classes.iter().flat_map(of_class).collect()
}

/// The rings of a non-homogeneous release, place by place and ring after ring: which released row
/// could belong to which source row.
///
/// The box that begins at a place covers the rows of the ring's window from there on; it is
/// published with the other cells of the row `shift` places further on.
#[derive(Clone, Debug)]
pub struct Rings {
    /// The rings in order.
    pub rings: Vec<RingSize>,
    /// For each place the tuple of its row.
    pub tuples: Vec<u32>,
    /// For each place the class that publishes the box which begins there.
    pub classes: Vec<u32>,
}

/// The sizes of one ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingSize {
    /// The number of its places.
    pub places: usize,
    /// The number of places that a box covers.
    pub window: usize,
    /// The number of places from the beginning of a box to the row whose cells are published with
    /// it. Below the window; secret.
    pub shift: usize,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::scheme::Shape;
    use crate::testing;

    /// Ages 1 to 6, tuple by tuple; a hierarchy of intervals of 2 is published with `snap`.
    fn ages(snap: bool) -> Problem {
        let toml = format!(
            "k = 2\noutput.snap = {snap}\n\
             columns.age = {{ role = 'quasi', hierarchy = {{ intervals = [2], origin = 1 }} }}"
        );
        testing::problem("age\n1\n2\n3\n4\n5\n6\n", &toml).unwrap()
    }

    fn pieces(tuples: &[u32]) -> Vec<Piece> {
        tuples.iter().map(|&tuple| Piece { tuple, count: 1 }).collect()
    }

    fn groups(all: &[&[u32]]) -> Partition {
        let mut partition = Partition::default();
        all.iter().for_each(|group| partition.push(pieces(group)));
        partition
    }

    fn published(recoding: &Recoding) -> Vec<(Vec<u32>, CodeRange)> {
        let tuples = |class: &[Piece]| class.iter().map(|piece| piece.tuple).collect();
        (0..recoding.classes().len())
            .map(|class| (tuples(recoding.classes().class(class)), recoding.ranges(class)[0]))
            .collect()
    }

    fn range(lo: Code, hi: Code) -> CodeRange {
        CodeRange { lo, hi }
    }

    #[test]
    fn classes_are_sorted_by_range_and_equal_ranges_are_one_class() {
        let groups = groups(&[&[4, 5], &[0, 3], &[1, 2]]);
        let local = Recoding::of(&ages(false), &groups, Vec::new());
        assert_eq!(
            published(&local),
            [(vec![0, 3], range(0, 3)), (vec![1, 2], range(1, 2)), (vec![4, 5], range(4, 5))]
        );
        assert!(local.published().is_none() && local.generalization().is_none());
        assert!(!local.is_of_rings());
        // 1 and 4 have no common interval of 2, and neither have 2 and 3: both become the root.
        let snapped = Recoding::of(&ages(true), &groups, Vec::new());
        assert_eq!(
            published(&snapped),
            [(vec![0, 3, 1, 2], range(0, 5)), (vec![4, 5], range(4, 5))]
        );
    }

    #[test]
    fn boxes_of_rings_may_cover_other_rows_and_say_which_class_each_group_went_to() {
        let groups = groups(&[&[0], &[1], &[2]]);
        let boxes = [range(1, 2), range(0, 1), range(1, 2)];
        let (rings, class_of) = Recoding::of_rings(&ages(false), &groups, &boxes, pieces(&[3]));
        assert_eq!(published(&rings), [(vec![1], range(0, 1)), (vec![0, 2], range(1, 2))]);
        assert_eq!((class_of, rings.is_of_rings()), (vec![1, 0, 1], true));
        assert_eq!((rings.suppressed(), rings.published().is_none()), (&pieces(&[3])[..], true));
    }

    /// The blocks of one attribute, by the least code of the block of each code.
    fn blocks(attribute: &Attribute, least: &[u32]) -> Blocks {
        let codes: Vec<Code> = (0..).take(least.len()).collect();
        Blocks::new(attribute, &Shape::new(attribute, &codes), least)
    }

    #[test]
    fn a_global_recoding_suppresses_small_classes_and_hides_their_values() {
        let toml = "k = 2\nlimits.suppress = '50%'\ncolumns.a.role = 'quasi'\n\
                    columns.b.role = 'quasi'";
        let problem = testing::problem("a,b\n1,x\n1,x\n2,y\n3,x\n3,x\n", toml).unwrap();
        let [a, b] = problem.attributes() else { panic!("two attributes") };
        let generalization =
            Generalization { attributes: vec![blocks(a, &[0, 0, 2]), blocks(b, &[0, 1])] };
        let global = Recoding::global(&problem, generalization.clone());
        assert_eq!(published(&global), [(vec![0], range(0, 1)), (vec![2], range(2, 2))]);
        assert_eq!(global.suppressed(), pieces(&[1]));
        assert_eq!(global.published(), Some(&generalization));
        // Only the suppressed row has a = 2.
        let clean = global.without_traces(&problem);
        assert_eq!(published(&clean), [(vec![0], range(0, 0)), (vec![2], range(2, 2))]);
        assert_eq!(clean.generalization(), Some(&generalization), "the loss stays");
        assert_ne!(clean.published(), Some(&generalization));
        assert!(!clean.is_of_rings());
    }
}
