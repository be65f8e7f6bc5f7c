//! The certainty penalty of boxes of codes, weighted: what a greedy search asks a billion times.
//!
//! It says the same as [`Attribute::loss`] times the weight, from tables made once. Two laws that
//! searches rely on, also after rounding: a box inside another never costs more, and equal boxes
//! cost the same to the last bit.

use crate::codes::{Code, CodeRange, real};
use crate::domain::attribute::{Attribute, Domain};
use crate::domain::taxonomy::Taxonomy;

/// The penalties of some attributes, in the order in which they were chosen.
#[derive(Debug)]
pub(crate) struct Penalty {
    costs: Vec<Cost>,
    /// What an attribute costs at most.
    weights: Vec<f64>,
    rounding: f64,
}

/// What ranges of one attribute cost.
#[derive(Debug)]
enum Cost {
    /// One value costs nothing, more cost the weight.
    Flat(f64),
    /// As much as the values lie apart. A range that ends at `missing` and begins elsewhere costs
    /// the weight.
    Line { values: Vec<f64>, scale: f64, weight: f64, missing: Code },
    /// Any of the others with few values: what every range costs, and every value with any other.
    Table { codes: usize, ranges: Vec<f64>, steps: Vec<f64>, is_line: bool },
    /// What the lowest node that covers the range costs, and the weight where missing and present
    /// meet.
    Tree { nodes: Vec<TreeNode>, weight: f64, missing: Code },
}

#[derive(Debug)]
struct TreeNode {
    hi: Code,
    parent: u32,
    cost: f64,
}

/// A column of more values is not worth a table of all its ranges: it would not stay in the
/// processor's cache.
const FEW: usize = 128;

/// A code that no column has: for attributes without a missing value beside their line.
const NONE: Code = Code::MAX;

impl Penalty {
    /// The penalties of these of the attributes.
    pub(crate) fn new(attributes: &[Attribute], chosen: &[usize]) -> Penalty {
        let weights: Vec<f64> = chosen.iter().map(|&at| attributes[at].weight.abs()).collect();
        Penalty {
            costs: chosen
                .iter()
                .map(|&at| Cost::new(&attributes[at]).tabled(attributes[at].codes()))
                .collect(),
            rounding: weights.iter().sum::<f64>() * real(chosen.len() as u64) * 4.0 * f64::EPSILON,
            weights,
        }
    }

    /// By how much the penalty of a box may be off.
    pub(crate) fn rounding(&self) -> f64 {
        self.rounding
    }

    /// How many attributes there are: a box has one range for each.
    pub(crate) fn width(&self) -> usize {
        self.costs.len()
    }

    /// What an attribute costs at most.
    pub(crate) fn weight(&self, at: usize) -> f64 {
        self.weights[at]
    }

    /// What a row pays at most.
    pub(crate) fn most(&self) -> f64 {
        self.weights.iter().sum()
    }

    /// What a row pays on one attribute for showing this range. One value alone costs nothing, but
    /// for a snapped one beyond top or bottom: it is shown as all values there.
    #[inline]
    pub(crate) fn of(&self, at: usize, range: CodeRange) -> f64 {
        self.costs[at].of(range)
    }

    /// What a row pays at least on one attribute for showing a value and any other.
    #[inline]
    pub(crate) fn step(&self, at: usize, code: Code) -> f64 {
        self.costs[at].step(code)
    }

    /// True when values lie on a line, some nearer to each other than others.
    pub(crate) fn is_line(&self, at: usize) -> bool {
        matches!(self.costs[at], Cost::Line { .. } | Cost::Table { is_line: true, .. })
    }

    /// True when any two values of the attribute cost the same.
    pub(crate) fn is_flat(&self, at: usize) -> bool {
        matches!(self.costs[at], Cost::Flat(_))
    }

    /// What a row pays for showing this box.
    #[inline]
    pub(crate) fn of_box(&self, ranges: &[CodeRange]) -> f64 {
        self.costs.iter().zip(ranges).map(|(cost, &range)| cost.of(range)).sum()
    }

    /// What a row pays for showing the smallest box around two boxes.
    #[inline]
    pub(crate) fn of_join(&self, some: &[CodeRange], others: &[CodeRange]) -> f64 {
        self.costs
            .iter()
            .zip(some.iter().zip(others))
            .map(|(cost, (one, &other))| cost.of(one.join(other)))
            .sum()
    }

    /// What a row pays for showing the smallest box around a box and a row.
    #[inline]
    pub(crate) fn of_join_row(&self, ranges: &[CodeRange], row: &[Code]) -> f64 {
        let joined = ranges.iter().zip(row).map(|(range, &code)| range.join(CodeRange::one(code)));
        self.costs.iter().zip(joined).map(|(cost, range)| cost.of(range)).sum()
    }
}

impl Cost {
    fn new(attribute: &Attribute) -> Cost {
        // Without the sign that a zero may have.
        let weight = attribute.weight.abs();
        match &attribute.domain {
            Domain::Tree(tree) if tree.is_flat() => Cost::Flat(weight),
            Domain::Tree(tree) => Cost::of_tree(attribute, tree, NONE),
            Domain::Ordered(ordered) => {
                let values = ordered.values();
                let missing = if ordered.has_missing() { code(values.len()) } else { NONE };
                if let Some(intervals) = ordered.published() {
                    return Cost::of_tree(attribute, intervals.taxonomy(), missing);
                }
                let span = values
                    .last()
                    .zip(values.first())
                    .map_or(0.0, |(greatest, least)| greatest - least);
                let scale = if span > 0.0 { weight / span } else { 0.0 };
                Cost::Line { values: values.to_vec(), scale, weight, missing }
            }
        }
    }

    /// The same as a table, if that is small.
    fn tabled(self, codes: usize) -> Cost {
        if codes > FEW || matches!(self, Cost::Flat(_)) {
            return self;
        }
        let code = |index: usize| code(index);
        let of = |lo: usize, hi: usize| {
            if lo <= hi { self.of(CodeRange { lo: code(lo), hi: code(hi) }) } else { 0.0 }
        };
        let ranges = (0..codes)
            .flat_map(|lo| (0..codes).map(move |hi| (lo, hi)))
            .map(|(lo, hi)| of(lo, hi))
            .collect();
        let steps = (0..codes).map(|value| self.step(code(value))).collect();
        Cost::Table { codes, ranges, steps, is_line: matches!(self, Cost::Line { .. }) }
    }

    #[inline]
    fn step(&self, code: Code) -> f64 {
        match self {
            Cost::Flat(weight) => *weight,
            Cost::Table { steps, .. } => steps[code as usize],
            Cost::Line { weight, missing, .. } | Cost::Tree { weight, missing, .. }
                if code == *missing =>
            {
                *weight
            }
            Cost::Line { .. } => 0.0,
            Cost::Tree { nodes, .. } => nodes[nodes[code as usize].parent as usize].cost,
        }
    }

    fn of_tree(attribute: &Attribute, tree: &Taxonomy, missing: Code) -> Cost {
        let node = |node: u32| {
            let range = tree.range(node);
            TreeNode {
                hi: range.hi,
                parent: tree.parent(node).unwrap_or(node),
                cost: attribute.weight * attribute.loss(range),
            }
        };
        let nodes = (0u32..).take(tree.nodes()).map(node).collect();
        Cost::Tree { nodes, weight: attribute.weight, missing }
    }

    #[inline]
    fn of(&self, CodeRange { lo, hi }: CodeRange) -> f64 {
        match self {
            Cost::Table { codes, ranges, .. } => ranges[lo as usize * codes + hi as usize],
            Cost::Flat(_) | Cost::Line { .. } if lo == hi => 0.0,
            Cost::Tree { missing, .. } if lo == hi && hi == *missing => 0.0,
            Cost::Flat(weight) => *weight,
            Cost::Line { weight, missing, .. } | Cost::Tree { weight, missing, .. }
                if hi == *missing =>
            {
                *weight
            }
            // Never above the weight, which rounding could exceed by a bit.
            Cost::Line { values, scale, weight, .. } => {
                ((values[hi as usize] - values[lo as usize]) * scale).min(*weight)
            }
            Cost::Tree { nodes, .. } => {
                let mut node = &nodes[lo as usize];
                while node.hi < hi {
                    node = &nodes[node.parent as usize];
                }
                node.cost
            }
        }
    }
}

fn code(index: usize) -> Code {
    Code::try_from(index).expect("a column has fewer than 2^32 values")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Problem;
    use crate::testing;

    /// Numbers with gaps, with and without a missing value, snapped with open ends, ordinal, flat,
    /// a deep tree.
    fn problems() -> Vec<Problem> {
        let text = "a,b,c,d,e\n1,-3,x,lo,11\n2,4.5,,mid,12\n,7,y,hi,21\n30,-1,z,,22\n55,,z,lo,223\n80,7,z,lo,224\n";
        let toml = |age: &str, rest: &str| {
            format!(
                "k = 1\n{rest}[columns]\na = {{ role = \"quasi\", weight = 3{age} }}\nb = {{ role = \"quasi\", weight = 0.7 }}\nc = {{ role = \"quasi\" }}\n\
                 d = {{ role = \"quasi\", order = [\"lo\", \"mid\", \"hi\"] }}\ne = {{ role = \"quasi\", kind = \"categorical\", weight = 2, hierarchy = {{ prefix = [2, 1] }} }}\n"
            )
        };
        let steps = ", hierarchy = { intervals = [5, 20], bottom = 10, top = 50 }";
        vec![
            testing::problem(text, &toml("", "")).unwrap(),
            testing::problem(text, &toml(steps, "[output]\nsnap = true\n")).unwrap(),
            testing::problem("a,b,c,d,e\n7,,x,lo,1\n7,,x,lo,1\n", &toml("", "")).unwrap(),
        ]
    }

    #[test]
    fn it_is_the_weighted_loss_of_every_range() {
        for problem in problems() {
            let chosen: Vec<usize> = (0..problem.attributes().len()).rev().collect();
            let penalty = Penalty::new(problem.attributes(), &chosen);
            for (at, &attribute) in chosen.iter().enumerate() {
                let attribute = &problem.attributes()[attribute];
                let codes = code(attribute.codes());
                for lo in 0..codes {
                    for hi in lo..codes {
                        let range = CodeRange { lo, hi };
                        let expected = attribute.weight * attribute.loss(range);
                        let found = penalty.of(at, range);
                        assert!(
                            (found - expected).abs() < 1e-12,
                            "{} {range:?}: {found}, not {expected}",
                            attribute.name
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn a_range_inside_another_never_costs_more_to_the_last_bit() {
        for problem in problems() {
            let chosen: Vec<usize> = (0..problem.attributes().len()).collect();
            let penalty = Penalty::new(problem.attributes(), &chosen);
            for at in 0..penalty.width() {
                let codes = code(problem.attributes()[at].codes());
                for lo in 0..codes {
                    for hi in lo..codes {
                        let cost = penalty.of(at, CodeRange { lo, hi });
                        assert!(hi == lo || penalty.of(at, CodeRange { lo: lo + 1, hi }) <= cost);
                        assert!(hi == lo || penalty.of(at, CodeRange { lo, hi: hi - 1 }) <= cost);
                    }
                }
            }
        }
    }

    #[test]
    fn boxes_add_up_over_attributes() {
        let problem = &problems()[0];
        let penalty = Penalty::new(problem.attributes(), &[0, 1, 2, 3, 4]);
        let row = |tuple: u32| (0..5).map(|at| problem.code(at, tuple)).collect::<Vec<Code>>();
        let point =
            |tuple: u32| row(tuple).iter().map(|&code| CodeRange::one(code)).collect::<Vec<_>>();
        let joined: Vec<CodeRange> =
            point(0).iter().zip(point(3)).map(|(one, other)| one.join(other)).collect();
        let expected: f64 = (0..5).map(|at| penalty.of(at, joined[at])).sum();
        for found in [
            penalty.of_box(&joined),
            penalty.of_join(&point(0), &point(3)),
            penalty.of_join_row(&point(3), &row(0)),
        ] {
            assert!(found.to_bits() == expected.to_bits() && found > 0.0);
        }
    }
}
