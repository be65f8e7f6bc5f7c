//! What searches over global recodings stand on: the choices, the class table of single values, the
//! rules, and the exact cost of a partition.

use crate::codes::{Code, CodeRange};
use crate::domain::scheme::{Blocks, Choices, Generalization, Scheme, Shape};
use crate::problem::Problem;
use crate::problem::partition::{self, Piece};
use crate::problem::privacy::{Privacy, Tally};
use crate::search::global::cost::{Cost, Costing};
use crate::search::global::table::{ClassTable, Classes, Scratch, sorted};

/// For each attribute and atom the least atom of its block: a partition of every domain.
pub(crate) type Parts = Vec<Vec<u32>>;

/// Everything that stays the same during a search.
#[derive(Debug)]
pub(crate) struct Space<'a> {
    problem: &'a Problem,
    pub(crate) privacy: &'a Privacy,
    pub(crate) shapes: &'a [Shape],
    pub(crate) schemes: Vec<Scheme>,
    pub(crate) choices: Choices,
    pub(crate) costing: Costing<'a>,
    /// Sensitive values by the combination's number.
    secrets: Vec<Vec<Code>>,
    /// How many rows may be left out beside those that must be.
    pub(crate) allowance: u64,
    /// What the rows cost that must be left out.
    pub(crate) mandatory: f64,
    /// No class of fewer rows holds.
    pub(crate) least_rows: u64,
    /// For each attribute the price of every interval of atoms, a square, infinite where the scheme
    /// has no such block; empty for sets and where there are too many.
    intervals: Vec<Vec<f64>>,
}

/// Prices of intervals are kept of so many atoms at most.
pub(crate) const MOST_IN_INTERVALS: usize = 128;

/// What a partition costs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Value {
    /// Infinite when more rows would be left out than may be.
    pub(crate) cost: f64,
    /// The same if any number of rows could be left out.
    pub(crate) lax: f64,
    pub(crate) left_out: u64,
}

impl<'a> Space<'a> {
    /// The space and the finest class table; none when combinations of values are too many to be
    /// counted.
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
        let (table, secrets) = finest(problem, shapes, &costing, privacy, &pieces);
        let cells = shapes.iter().map(|shape| shape.atoms.len()).chain([secrets.len().max(1)]);
        cells.map(|cells| cells as u128).try_fold(1u128, u128::checked_mul)?;
        let pairs: Vec<(Scheme, &Shape)> = schemes.iter().copied().zip(shapes).collect();
        let choices = Choices::new(&pairs);
        let interval = |at: usize, atoms: usize, cell: usize| {
            let (from, to) = (cell / atoms, cell % atoms);
            let is_valid = from <= to && schemes[at].allows_interval(&shapes[at], from, to);
            if is_valid {
                costing.block_price(at, &(from..=to).collect::<Vec<_>>())
            } else {
                f64::INFINITY
            }
        };
        let intervals = |(at, shape): (usize, &Shape)| {
            let atoms = if choices.is_of_sets(at) { 0 } else { shape.atoms.len() };
            if atoms <= MOST_IN_INTERVALS {
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
            secrets,
            allowance: problem.allowance() - mandatory,
            mandatory: costing.full * crate::codes::real(mandatory),
            least_rows: privacy.least_rows(),
            costing,
        };
        Some((space, table))
    }

    /// The price of a block from one atom to another; infinite when there is no such block.
    pub(crate) fn interval_price(&self, at: usize, from: usize, to: usize) -> f64 {
        self.intervals[at][from * self.shapes[at].atoms.len() + to]
    }

    /// True when classes are judged by their sizes alone.
    pub(crate) fn is_by_size(&self) -> bool {
        !self.privacy.needs_sensitive()
    }

    /// For each class whether it holds.
    pub(crate) fn holding(&self, table: &ClassTable, classes: &Classes) -> Vec<bool> {
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
                tally.add(&self.secrets[table.secrets[entry] as usize], table.rows[entry]);
            }
            self.privacy.holds(&tally)
        };
        let class = |entry: usize| classes.of[entry];
        let order = sorted(0..table.len(), |entry| class(entry) as usize, classes.sizes.len());
        order.chunk_by(|&a, &b| class(a as usize) == class(b as usize)).map(&mut holds).collect()
    }

    /// The price of each attribute's blocks.
    pub(crate) fn prices(&self, parts: &Parts) -> Vec<Vec<f64>> {
        (0..parts.len()).map(|at| self.costing.prices(at, &parts[at])).collect()
    }

    /// What a partition costs exactly; the table must not be coarser than it.
    pub(crate) fn value(&self, table: &ClassTable, parts: &Parts, scratch: &mut Scratch) -> Value {
        let mut classes = Classes::default();
        table.classify(parts, scratch, &mut classes);
        self.value_of(table, &self.prices(parts), &classes, &self.holding(table, &classes))
    }

    /// The same where the classes are known, and which of them hold.
    pub(crate) fn value_of(
        &self,
        table: &ClassTable,
        prices: &[Vec<f64>],
        classes: &Classes,
        holds: &[bool],
    ) -> Value {
        let (mut lax, mut left_out) = (self.mandatory, 0);
        for entry in 0..table.len() {
            let (class, rows) = (classes.of[entry] as usize, table.rows[entry]);
            if !holds[class] {
                left_out += u64::from(rows);
                lax += f64::from(rows) * self.costing.full;
            } else if self.costing.is_separable() {
                lax += self.costing.of_entry(
                    prices,
                    table.atoms_of(entry),
                    rows,
                    table.sums_of(entry),
                );
            } else {
                lax += f64::from(rows) * crate::codes::real(classes.sizes[class]);
            }
        }
        Value { cost: if left_out <= self.allowance { lax } else { f64::INFINITY }, lax, left_out }
    }
}

/// All atoms of every attribute together.
pub(crate) fn one_block(shapes: &[Shape]) -> Parts {
    shapes.iter().map(|shape| vec![0; shape.atoms.len()]).collect()
}

/// What is published under a partition.
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

/// The class table of single atoms, and the combinations of sensitive values that its entries
/// number.
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
        secrets: Vec::new(),
    };
    let mut secrets: Vec<Vec<Code>> = Vec::new();
    let mut known = rustc_hash::FxHashMap::default();
    let mut codes = vec![0; problem.sensitive_columns()];
    for piece in pieces {
        let code = |at: usize| problem.code(at, piece.tuple);
        table.atoms.extend(atom_of.iter().enumerate().map(|(at, atoms)| atoms[code(at) as usize]));
        costing.sums((0..shapes.len()).map(code), piece.count, &mut table.sums);
        if privacy.needs_sensitive() {
            problem.sensitive_codes(piece.tuple, &mut codes);
            let next = u32::try_from(secrets.len()).expect("fewer combinations than rows");
            let number = *known.entry(codes.clone()).or_insert_with(|| {
                secrets.push(codes.clone());
                next
            });
            table.secrets.push(number);
        }
    }
    (table, secrets)
}
