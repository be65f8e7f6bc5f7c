//! The cost of a global recoding as a sum over rows: the objective of the exact searches.

use crate::codes::{CodeRange, real};
use crate::domain::attribute::Attribute;
use crate::domain::scheme::{Shape, block_loss};
use crate::names::names;
use crate::problem::Problem;

/// The objective of the global searches, to be minimized.
///
/// # Example
/// ```
/// use lookalike::search::global::Cost;
///
/// let cost: Cost = "hdm".parse()?;
/// assert_eq!(cost, Cost::Hdm);
/// assert_eq!(Cost::ALL.map(Cost::name), ["ncp", "hdm", "dm", "distortion"]);
/// assert!("nothing".parse::<Cost>().is_err());
/// # Ok::<(), lookalike::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cost {
    /// Normalized certainty penalty: the weighted share of the domain that the published value
    /// covers.
    #[default]
    Ncp,
    /// Hierarchical discernibility: the number of rows that a value can no longer be distinguished
    /// from.
    Hdm,
    /// Discernibility: squared class sizes.
    Dm,
    /// Distortion: generalization levels in the hierarchies.
    Distortion,
}

names!(Cost, "cost", {
    Ncp => "ncp",
    Hdm => "hdm",
    Dm => "dm",
    Distortion => "distortion",
});

/// The cost of rows, blocks and entries. All sums are over rows and attributes;
/// [`Costing::reported`] divides them as the measure's definition requires.
///
/// Except for DM, the cost of a row is a sum over attributes. A summand depends on the row's value
/// and its block alone, and never falls as the block grows. For HDM, with N_v rows of the value and
/// N_e of the block, it is (N_e - N_v) / (N - N_v), which is N_e a - N_v a with a = 1 / (N - N_v):
/// an entry of a class table keeps the sums of a for each attribute and the sum of all N_v a.
#[derive(Debug)]
pub(crate) struct Costing<'a> {
    pub(crate) cost: Cost,
    attributes: &'a [Attribute],
    shapes: &'a [Shape],
    /// For each attribute and atom, its rows in the whole table.
    pub(crate) rows_of: Vec<Vec<f64>>,
    /// For each attribute and code the factor a of HDM, and the rows of the code.
    factors: Vec<Vec<(f64, f64)>>,
    rows: f64,
    /// The cost of a suppressed row.
    pub(crate) full: f64,
    /// For each attribute the greatest cost of a row; 0 for DM.
    pub(crate) full_of: Vec<f64>,
}

impl<'a> Costing<'a> {
    pub(crate) fn new(problem: &'a Problem, shapes: &'a [Shape], cost: Cost) -> Costing<'a> {
        let attributes = problem.attributes();
        let mut counts: Vec<Vec<u64>> =
            attributes.iter().map(|attribute| vec![0; attribute.codes()]).collect();
        for tuple in (0u32..).take(problem.tuples()) {
            for (at, counts) in counts.iter_mut().enumerate() {
                counts[problem.code(at, tuple) as usize] += u64::from(problem.count(tuple));
            }
        }
        let sum = |counts: &[u64], CodeRange { lo, hi }: CodeRange| {
            real(counts[lo as usize..=hi as usize].iter().sum())
        };
        let rows_of = counts
            .iter()
            .zip(shapes)
            .map(|(counts, shape)| shape.atoms.iter().map(|&atom| sum(counts, atom)).collect());
        let rows = problem.row_count();
        let factor =
            |&count: &u64| (if count < rows { 1.0 / real(rows - count) } else { 0.0 }, real(count));
        let full_of = |attribute: &Attribute| match cost {
            Cost::Dm => 0.0,
            Cost::Hdm => 1.0,
            Cost::Ncp => attribute.weight,
            Cost::Distortion => f64::from(attribute.levels_up(0, CodeRange::one(0)).1),
        };
        let full_of: Vec<f64> = attributes.iter().map(full_of).collect();
        let full = if cost == Cost::Dm { real(rows) } else { full_of.iter().sum() };
        Costing {
            cost,
            attributes,
            shapes,
            rows_of: rows_of.collect(),
            factors: counts.iter().map(|counts| counts.iter().map(factor).collect()).collect(),
            rows: real(rows),
            full,
            full_of,
        }
    }

    /// True when the cost of a row is a sum over attributes.
    pub(crate) fn is_separable(&self) -> bool {
        self.cost != Cost::Dm
    }

    /// Appends the sums of an entry for this many rows with these codes.
    pub(crate) fn sums(&self, codes: impl Iterator<Item = u32>, rows: u32, sums: &mut Vec<f64>) {
        if self.cost == Cost::Hdm {
            let mut own = 0.0;
            for (factors, code) in self.factors.iter().zip(codes) {
                let (factor, count) = factors[code as usize];
                sums.push(f64::from(rows) * factor);
                own += f64::from(rows) * factor * count;
            }
            sums.push(own);
        }
    }

    /// For each atom of an attribute the cost of its block: the rows of the block for HDM,
    /// otherwise the cost of one row.
    pub(crate) fn block_costs(&self, at: usize, least: &[u32]) -> Vec<f64> {
        let mut block_costs = vec![0.0; least.len()];
        if self.cost == Cost::Hdm {
            for (atom, &first) in least.iter().enumerate() {
                block_costs[first as usize] += self.rows_of[at][atom];
            }
        } else if self.is_separable() {
            for first in 0..least.len() {
                if least[first] as usize == first {
                    let block: Vec<usize> = (first..least.len())
                        .filter(|&atom| least[atom] as usize == first)
                        .collect();
                    block_costs[first] = self.block_cost(at, &block);
                }
            }
        }
        for atom in 0..least.len() {
            block_costs[atom] = block_costs[least[atom] as usize];
        }
        block_costs
    }

    /// The cost of one block, in the same unit.
    pub(crate) fn block_cost(&self, at: usize, block: &[usize]) -> f64 {
        let (attribute, shape) = (&self.attributes[at], &self.shapes[at]);
        match self.cost {
            Cost::Dm => 0.0,
            Cost::Hdm => block.iter().map(|&atom| self.rows_of[at][atom]).sum(),
            Cost::Ncp => attribute.weight * block_loss(attribute, shape, block),
            Cost::Distortion => {
                let ends = CodeRange {
                    lo: shape.atoms[block[0]].lo,
                    hi: shape.atoms[block[block.len() - 1]].hi,
                };
                f64::from(attribute.levels_up(ends.lo, ends).0)
            }
        }
    }

    /// The cost of all rows of an entry that is not suppressed; 0 for DM.
    pub(crate) fn entry_cost(
        &self,
        block_costs: &[Vec<f64>],
        atoms: &[u32],
        rows: u32,
        sums: &[f64],
    ) -> f64 {
        let block_costs =
            block_costs.iter().zip(atoms).map(|(block_costs, &atom)| block_costs[atom as usize]);
        match self.cost {
            Cost::Dm => 0.0,
            Cost::Hdm => {
                block_costs.zip(sums).map(|(cost, sum)| cost * sum).sum::<f64>()
                    - sums[sums.len() - 1]
            }
            Cost::Ncp | Cost::Distortion => f64::from(rows) * block_costs.sum::<f64>(),
        }
    }

    /// The measure as reported, from a sum over rows.
    pub(crate) fn reported(&self, sum: f64) -> f64 {
        match self.cost {
            Cost::Dm | Cost::Ncp => sum,
            Cost::Hdm | Cost::Distortion if self.full > 0.0 => sum / (self.rows * self.full),
            Cost::Hdm | Cost::Distortion => 0.0,
        }
    }
}
