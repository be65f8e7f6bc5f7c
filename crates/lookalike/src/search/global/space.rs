//! The search space of global recodings: the choices, the class table of single values, the rules,
//! and the exact cost of a partition.

use crate::codes::{Code, CodeRange};
use crate::domain::scheme::{Blocks, Choices, Generalization, Scheme, Shape};
use crate::problem::Problem;
use crate::problem::partition::{self, Piece};
use crate::problem::privacy::{Privacy, Tally};
use crate::search::global::cost::{Cost, Costing};
use crate::search::global::table::{ClassBuffers, ClassTable, EntryClasses, sorted};

/// For each attribute and atom the least atom of its block: a partition of every domain.
pub(crate) type Parts = Vec<Vec<u32>>;

/// The constant data of one search.
#[derive(Debug)]
pub(crate) struct Space<'a> {
    problem: &'a Problem,
    pub(crate) privacy: &'a Privacy,
    pub(crate) shapes: &'a [Shape],
    pub(crate) schemes: Vec<Scheme>,
    pub(crate) choices: Choices,
    pub(crate) costing: Costing<'a>,
    /// The sensitive values of each combination, by its number in the class table.
    sensitive: Vec<Vec<Code>>,
    /// Rows that may be suppressed beside the mandatory ones.
    pub(crate) allowance: u64,
    /// The cost of the rows whose suppression is mandatory.
    pub(crate) mandatory: f64,
    /// No class of fewer rows satisfies the rules.
    pub(crate) least_rows: u64,
    /// For each attribute the cost of every interval of atoms, a square, infinite where the scheme
    /// has no such block; empty for sets and for more than `MOST_ATOMS` atoms.
    intervals: Vec<Vec<f64>>,
}

/// Attributes of more atoms have no table of interval costs and no extra cost in the bound.
pub(crate) const MOST_ATOMS: usize = 128;

/// The cost of a partition.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PartitionCost {
    /// Infinite when more rows would be suppressed than the allowance.
    pub(crate) cost: f64,
    /// The cost if the allowance were unlimited.
    pub(crate) unlimited: f64,
    /// Rows of classes that do not satisfy the rules.
    pub(crate) suppressed: u64,
}

impl<'a> Space<'a> {
    /// The space and the finest class table; none when there are 2^128 combinations of values or
    /// more.
    pub(crate) fn new(
        problem: &'a Problem,
        shapes: &'a [Shape],
        schemes: &[Scheme],
        cost: Cost,
    ) -> Option<(Space<'a>, ClassTable)> {
        let mandatory = partition::rows(problem.mandatory());
        let privacy = &problem.stages_in_order()[0].privacy;
        let costing = Costing::new(problem, shapes, cost);
        let pieces = problem.pieces_without(problem.mandatory());
        let (table, sensitive) = finest(problem, shapes, &costing, privacy, &pieces);
        let cells = shapes.iter().map(|shape| shape.atoms.len()).chain([sensitive.len().max(1)]);
        cells.map(|cells| cells as u128).try_fold(1u128, u128::checked_mul)?;
        let pairs: Vec<(Scheme, &Shape)> = schemes.iter().copied().zip(shapes).collect();
        let choices = Choices::new(&pairs);
        let interval = |at: usize, atoms: usize, cell: usize| {
            let (from, to) = (cell / atoms, cell % atoms);
            let is_valid = from <= to && schemes[at].allows_interval(&shapes[at], from, to);
            if is_valid {
                costing.block_cost(at, &(from..=to).collect::<Vec<_>>())
            } else {
                f64::INFINITY
            }
        };
        let intervals = |(at, shape): (usize, &Shape)| {
            let atoms = if choices.is_of_sets(at) { 0 } else { shape.atoms.len() };
            if atoms <= MOST_ATOMS {
                (0..atoms * atoms).map(|cell| interval(at, atoms, cell)).collect()
            } else {
                Vec::new()
            }
        };
        let intervals = shapes.iter().enumerate().map(intervals).collect();
        let space = Space {
            problem,
            intervals,
            privacy,
            shapes,
            schemes: schemes.to_vec(),
            choices,
            sensitive,
            allowance: problem.allowance() - mandatory,
            mandatory: costing.full * crate::codes::real(mandatory),
            least_rows: privacy.least_rows(),
            costing,
        };
        Some((space, table))
    }

    /// The cost of a block from one atom to another, both included; infinite when the scheme has no
    /// such block.
    pub(crate) fn interval_cost(&self, at: usize, from: usize, to: usize) -> f64 {
        self.intervals[at][from * self.shapes[at].atoms.len() + to]
    }

    /// True when the size of a class alone decides whether it satisfies the rules.
    pub(crate) fn is_by_size(&self) -> bool {
        !self.privacy.needs_sensitive()
    }

    /// For each class whether it satisfies the rules.
    pub(crate) fn holding(&self, table: &ClassTable, classes: &EntryClasses) -> Vec<bool> {
        if self.is_by_size() {
            return classes.sizes.iter().map(|&size| size >= self.least_rows).collect();
        }
        let mut tally: Tally = self.problem.tally();
        let mut holds = |entries: &[u32]| {
            if classes.sizes[classes.of[entries[0] as usize] as usize] < self.least_rows {
                return false;
            }
            tally.clear();
            for entry in entries.iter().map(|&entry| entry as usize) {
                tally.add(&self.sensitive[table.sensitive[entry] as usize], table.rows[entry]);
            }
            self.privacy.holds(&tally)
        };
        let class = |entry: usize| classes.of[entry];
        let order = sorted(0..table.len(), |entry| class(entry) as usize, classes.sizes.len());
        order.chunk_by(|&a, &b| class(a as usize) == class(b as usize)).map(&mut holds).collect()
    }

    /// The cost of each attribute's blocks.
    pub(crate) fn block_costs(&self, parts: &Parts) -> Vec<Vec<f64>> {
        (0..parts.len()).map(|at| self.costing.block_costs(at, &parts[at])).collect()
    }

    /// The exact cost of a partition; the table must not be coarser.
    pub(crate) fn value(
        &self,
        table: &ClassTable,
        parts: &Parts,
        buffers: &mut ClassBuffers,
    ) -> PartitionCost {
        let mut classes = EntryClasses::default();
        table.classify(parts, buffers, &mut classes);
        self.value_of(table, &self.block_costs(parts), &classes, &self.holding(table, &classes))
    }

    /// The same with known classes, where `holds` says which of them satisfy the rules.
    pub(crate) fn value_of(
        &self,
        table: &ClassTable,
        block_costs: &[Vec<f64>],
        classes: &EntryClasses,
        holds: &[bool],
    ) -> PartitionCost {
        let (mut unlimited, mut suppressed) = (self.mandatory, 0);
        for entry in 0..table.len() {
            let (class, rows) = (classes.of[entry] as usize, table.rows[entry]);
            if !holds[class] {
                suppressed += u64::from(rows);
                unlimited += f64::from(rows) * self.costing.full;
            } else if self.costing.is_separable() {
                unlimited += self.costing.entry_cost(
                    block_costs,
                    table.atoms_of(entry),
                    rows,
                    table.sums_of(entry),
                );
            } else {
                unlimited += f64::from(rows) * crate::codes::real(classes.sizes[class]);
            }
        }
        PartitionCost {
            cost: if suppressed <= self.allowance { unlimited } else { f64::INFINITY },
            unlimited,
            suppressed,
        }
    }
}

/// The partition with one block for each attribute.
pub(crate) fn one_block(shapes: &[Shape]) -> Parts {
    shapes.iter().map(|shape| vec![0; shape.atoms.len()]).collect()
}

/// The published blocks of a partition.
pub(crate) fn generalization(problem: &Problem, shapes: &[Shape], parts: &Parts) -> Generalization {
    let attributes = problem.attributes().iter().zip(shapes).zip(parts);
    Generalization {
        attributes: attributes
            .map(|((attribute, shape), parts)| Blocks::new(attribute, shape, parts))
            .collect(),
    }
}

/// The tree over the values that occur, for each attribute.
pub(crate) fn shapes(problem: &Problem) -> Vec<Shape> {
    let pieces = problem.pieces_without(&[]);
    let shape = |(at, attribute): (usize, &crate::domain::attribute::Attribute)| {
        let mut present = vec![false; attribute.codes()];
        pieces.iter().for_each(|piece| present[problem.code(at, piece.tuple) as usize] = true);
        let codes: Vec<Code> =
            (0..).zip(present).filter(|&(_, present)| present).map(|(code, _)| code).collect();
        Shape::new(attribute, &codes)
    };
    problem.attributes().iter().enumerate().map(shape).collect()
}

/// The class table of single atoms, and the combinations of sensitive values by the numbers that
/// its entries have.
fn finest(
    problem: &Problem,
    shapes: &[Shape],
    costing: &Costing,
    privacy: &Privacy,
    pieces: &[Piece],
) -> (ClassTable, Vec<Vec<Code>>) {
    let mut atom_of: Vec<Vec<u32>> =
        problem.attributes().iter().map(|attribute| vec![0; attribute.codes()]).collect();
    for (atom_of, shape) in atom_of.iter_mut().zip(shapes) {
        for (atom, &CodeRange { lo, hi }) in (0..).zip(&shape.atoms) {
            atom_of[lo as usize..=hi as usize].fill(atom);
        }
    }
    let mut table = ClassTable {
        width: shapes.len(),
        atoms: Vec::with_capacity(pieces.len() * shapes.len()),
        rows: pieces.iter().map(|piece| piece.count).collect(),
        sums: Vec::new(),
        sensitive: Vec::new(),
    };
    let mut sensitive: Vec<Vec<Code>> = Vec::new();
    let mut known = rustc_hash::FxHashMap::default();
    let mut codes = vec![0; problem.sensitive_columns()];
    for piece in pieces {
        let code = |at: usize| problem.code(at, piece.tuple);
        table.atoms.extend(atom_of.iter().enumerate().map(|(at, atoms)| atoms[code(at) as usize]));
        costing.sums((0..shapes.len()).map(code), piece.count, &mut table.sums);
        if privacy.needs_sensitive() {
            problem.sensitive_codes(piece.tuple, &mut codes);
            let next = u32::try_from(sensitive.len()).expect("fewer combinations than rows");
            let number = *known.entry(codes.clone()).or_insert_with(|| {
                sensitive.push(codes.clone());
                next
            });
            table.sensitive.push(number);
        }
    }
    (table, sensitive)
}
