//! What a global recoding costs, as sums over rows: what the search makes as small as it can.

use std::fmt;
use std::str::FromStr;

use crate::codes::{CodeRange, real};
use crate::domain::attribute::Attribute;
use crate::domain::scheme::{Shape, price};
use crate::problem::Problem;

/// What a search makes as small as it can.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cost {
    /// Certainty penalty: the weighted share of the domain that is shown instead of the value.
    #[default]
    Ncp,
    /// Hierarchical discernibility: how many rows a value is no longer told apart from.
    Hdm,
    /// Discernibility: squared class sizes.
    Dm,
    /// Levels risen in the hierarchies.
    Distortion,
}

impl Cost {
    /// Every cost.
    pub const ALL: [Cost; 4] = [Cost::Ncp, Cost::Hdm, Cost::Dm, Cost::Distortion];

    /// The name in configurations and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Cost::Ncp => "ncp",
            Cost::Hdm => "hdm",
            Cost::Dm => "dm",
            Cost::Distortion => "distortion",
        }
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Cost {
    type Err = String;

    fn from_str(text: &str) -> Result<Cost, String> {
        let names = || Cost::ALL.map(Cost::name).join(", ");
        let found = Cost::ALL.into_iter().find(|cost| cost.name() == text);
        found.ok_or_else(|| format!("there is no cost `{text}`; there are {}", names()))
    }
}

/// The price of rows under a cost. All sums are over rows and attributes; [`Costing::reported`]
/// divides them as the measure wants.
///
/// Apart from DM, the price of a row is the sum over attributes of something that depends on its
/// value and on its block alone, and never falls as the block grows. For HDM, with N_v rows of its
/// value and N_e of its block, that is (N_e - N_v) / (N - N_v), which is N_e a - N_v a with a = 1 /
/// (N - N_v): an entry of a class table keeps the sums of a for each attribute and the sum of all
/// N_v a.
#[derive(Debug)]
pub(crate) struct Costing<'a> {
    pub(crate) cost: Cost,
    attributes: &'a [Attribute],
    shapes: &'a [Shape],
    /// For each attribute and atom, how many rows of the whole table have it.
    pub(crate) rows_of: Vec<Vec<f64>>,
    /// For each attribute and code the factor a of HDM, and how many rows have the code.
    factors: Vec<Vec<(f64, f64)>>,
    rows: f64,
    /// The price of a row that is left out.
    pub(crate) full: f64,
    /// By attribute the most that a row can cost; nothing for DM.
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

    /// True when the price of a row is a sum over attributes.
    pub(crate) fn is_separable(&self) -> bool {
        self.cost != Cost::Dm
    }

    /// Adds what an entry keeps for this many rows with these codes.
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

    /// For each atom of an attribute the price of its block: rows of the block for HDM, of one row
    /// otherwise.
    pub(crate) fn prices(&self, at: usize, least: &[u32]) -> Vec<f64> {
        let mut prices = vec![0.0; least.len()];
        if self.cost == Cost::Hdm {
            for (atom, &first) in least.iter().enumerate() {
                prices[first as usize] += self.rows_of[at][atom];
            }
        } else if self.is_separable() {
            for first in 0..least.len() {
                if least[first] as usize == first {
                    let block: Vec<usize> = (first..least.len())
                        .filter(|&atom| least[atom] as usize == first)
                        .collect();
                    prices[first] = self.block_price(at, &block);
                }
            }
        }
        for atom in 0..least.len() {
            prices[atom] = prices[least[atom] as usize];
        }
        prices
    }

    /// The price of one block.
    pub(crate) fn block_price(&self, at: usize, block: &[usize]) -> f64 {
        let (attribute, shape) = (&self.attributes[at], &self.shapes[at]);
        match self.cost {
            Cost::Dm => 0.0,
            Cost::Hdm => block.iter().map(|&atom| self.rows_of[at][atom]).sum(),
            Cost::Ncp => attribute.weight * price(attribute, shape, block),
            Cost::Distortion => {
                let ends = CodeRange {
                    lo: shape.atoms[block[0]].lo,
                    hi: shape.atoms[block[block.len() - 1]].hi,
                };
                f64::from(attribute.levels_up(ends.lo, ends).0)
            }
        }
    }

    /// The price of all rows of an entry, if it is not left out; nothing for DM.
    pub(crate) fn of_entry(
        &self,
        prices: &[Vec<f64>],
        atoms: &[u32],
        rows: u32,
        sums: &[f64],
    ) -> f64 {
        let prices = prices.iter().zip(atoms).map(|(prices, &atom)| prices[atom as usize]);
        match self.cost {
            Cost::Dm => 0.0,
            Cost::Hdm => {
                prices.zip(sums).map(|(price, sum)| price * sum).sum::<f64>() - sums[sums.len() - 1]
            }
            Cost::Ncp | Cost::Distortion => f64::from(rows) * prices.sum::<f64>(),
        }
    }

    /// The measure itself, from a sum over rows.
    pub(crate) fn reported(&self, sum: f64) -> f64 {
        match self.cost {
            Cost::Dm | Cost::Ncp => sum,
            Cost::Hdm | Cost::Distortion if self.full > 0.0 => sum / (self.rows * self.full),
            Cost::Hdm | Cost::Distortion => 0.0,
        }
    }
}
