//! The weighted certainty penalty of boxes of codes, made for searches that ask a billion times.
//!
//! It is [`Attribute::loss`] times the weight, from tables made once. Searches rely on two laws,
//! also after rounding: a box inside another never loses more, and equal boxes lose the same to the
//! last bit.

use crate::codes::{Code, CodeRange, real};
use crate::domain::attribute::{Attribute, Domain, Ordered};
use crate::domain::taxonomy::Taxonomy;

/// The penalties of some attributes, in the order in which they were chosen.
#[derive(Debug)]
pub(crate) struct Penalty {
    losses: Vec<RangeLoss>,
    /// The greatest loss on each attribute.
    weights: Vec<f64>,
    rounding: f64,
}

/// The loss of the ranges of one attribute.
#[derive(Debug)]
enum RangeLoss {
    /// One value has no loss, more lose the weight.
    Flat(f64),
    /// The distance of the two ends. A range that ends at `missing` and begins elsewhere loses the
    /// weight.
    Line { values: Vec<f64>, scale: f64, weight: f64, missing: Code },
    /// The distance from the begin of the first unit to the end of the last. A range that ends at
    /// `missing` and begins elsewhere loses the weight.
    Run { begins: Vec<f64>, ends: Vec<f64>, scale: f64, weight: f64, missing: Code },
    /// Any of the others with few values: the loss of every range, and the least loss of every
    /// value with another.
    Table { codes: usize, ranges: Vec<f64>, steps: Vec<f64>, is_line: bool },
    /// The loss of the lowest node that covers the range, and the weight where missing and present
    /// meet.
    Tree { nodes: Vec<TreeNode>, weight: f64, missing: Code },
}

#[derive(Debug)]
struct TreeNode {
    hi: Code,
    parent: u32,
    loss: f64,
}

/// An attribute with at most this many values gets a table of all its ranges, in bytes eight times
/// the square of them; a larger one would not stay in the processor's cache.
const FEW: usize = 128;

/// A code that no column has: for attributes without a missing value beside their line.
const NONE: Code = Code::MAX;

impl Penalty {
    /// The penalties of these of the attributes.
    pub(crate) fn new(attributes: &[Attribute], chosen: &[usize]) -> Penalty {
        let weights: Vec<f64> = chosen.iter().map(|&at| attributes[at].weight.abs()).collect();
        Penalty {
            losses: chosen
                .iter()
                .map(|&at| RangeLoss::new(&attributes[at]).tabled(attributes[at].codes()))
                .collect(),
            rounding: weights.iter().sum::<f64>() * real(chosen.len() as u64) * 4.0 * f64::EPSILON,
            weights,
        }
    }

    /// The greatest rounding error of the penalty of a box.
    pub(crate) fn rounding(&self) -> f64 {
        self.rounding
    }

    /// The number of attributes: a box has one range for each.
    pub(crate) fn width(&self) -> usize {
        self.losses.len()
    }

    /// The greatest loss of a row on an attribute.
    pub(crate) fn weight(&self, at: usize) -> f64 {
        self.weights[at]
    }

    /// The greatest loss of a row: that of a suppressed one.
    pub(crate) fn most(&self) -> f64 {
        self.weights.iter().sum()
    }

    /// The loss of a row on one attribute with this range. One value alone has none, but for a
    /// snapped one beyond top or bottom: it is published as all values there.
    #[inline]
    pub(crate) fn of(&self, at: usize, range: CodeRange) -> f64 {
        self.losses[at].of(range)
    }

    /// The least loss of a row on one attribute with a range of this value and any other.
    #[inline]
    pub(crate) fn step(&self, at: usize, code: Code) -> f64 {
        self.losses[at].step(code)
    }

    /// True when values lie on a line, some nearer to each other than others.
    pub(crate) fn is_line(&self, at: usize) -> bool {
        matches!(
            self.losses[at],
            RangeLoss::Line { .. } | RangeLoss::Run { .. } | RangeLoss::Table { is_line: true, .. }
        )
    }

    /// True when any two values of the attribute lose the same.
    pub(crate) fn is_flat(&self, at: usize) -> bool {
        matches!(self.losses[at], RangeLoss::Flat(_))
    }

    /// The loss of a row in this box.
    #[inline]
    pub(crate) fn of_box(&self, ranges: &[CodeRange]) -> f64 {
        self.losses.iter().zip(ranges).map(|(loss, &range)| loss.of(range)).sum()
    }

    /// The loss of a row in the smallest box around two boxes.
    #[inline]
    pub(crate) fn of_join(&self, some: &[CodeRange], others: &[CodeRange]) -> f64 {
        self.losses
            .iter()
            .zip(some.iter().zip(others))
            .map(|(loss, (one, &other))| loss.of(one.join(other)))
            .sum()
    }

    /// The loss of a row in the smallest box around a box and a row.
    #[inline]
    pub(crate) fn of_join_row(&self, ranges: &[CodeRange], row: &[Code]) -> f64 {
        let joined = ranges.iter().zip(row).map(|(range, &code)| range.join(CodeRange::one(code)));
        self.losses.iter().zip(joined).map(|(loss, range)| loss.of(range)).sum()
    }
}

impl RangeLoss {
    fn new(attribute: &Attribute) -> RangeLoss {
        // Without the sign that a zero may have.
        let weight = attribute.weight.abs();
        match &attribute.domain {
            Domain::Tree(tree) if tree.is_flat() => RangeLoss::Flat(weight),
            Domain::Tree(tree) => RangeLoss::of_tree(attribute, tree, NONE),
            Domain::Ordered(ordered) => {
                let values = ordered.values();
                let missing = if ordered.has_missing() { code(values.len()) } else { NONE };
                let span = values
                    .last()
                    .zip(values.first())
                    .map_or(0.0, |(greatest, least)| greatest - least);
                let scale = if span > 0.0 { weight / span } else { 0.0 };
                if ordered.has_runs() {
                    return RangeLoss::of_runs(ordered, scale, weight, missing);
                }
                if let Some(intervals) = ordered.published() {
                    return RangeLoss::of_tree(attribute, intervals.taxonomy(), missing);
                }
                RangeLoss::Line { values: values.to_vec(), scale, weight, missing }
            }
        }
    }

    /// The same as a table, if that is small.
    fn tabled(self, codes: usize) -> RangeLoss {
        if codes > FEW || matches!(self, RangeLoss::Flat(_)) {
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
        let is_line = matches!(self, RangeLoss::Line { .. } | RangeLoss::Run { .. });
        RangeLoss::Table { codes, ranges, steps, is_line }
    }

    #[inline]
    fn step(&self, code: Code) -> f64 {
        match self {
            RangeLoss::Flat(weight) => *weight,
            RangeLoss::Table { steps, .. } => steps[code as usize],
            RangeLoss::Line { weight, missing, .. }
            | RangeLoss::Run { weight, missing, .. }
            | RangeLoss::Tree { weight, missing, .. }
                if code == *missing =>
            {
                *weight
            }
            RangeLoss::Line { .. } | RangeLoss::Run { .. } => 0.0,
            RangeLoss::Tree { nodes, .. } => nodes[nodes[code as usize].parent as usize].loss,
        }
    }

    /// The ends of the unit of each value, within the values of the column.
    fn of_runs(ordered: &Ordered, scale: f64, weight: f64, missing: Code) -> RangeLoss {
        let values = ordered.values();
        let (least, greatest) =
            values.first().zip(values.last()).map_or((0.0, 0.0), |(least, most)| (*least, *most));
        let ends = |at: usize| {
            let unit = ordered.unit_ends(code(at));
            (unit.0.max(least), unit.1.min(greatest))
        };
        let (begins, ends) = (0..values.len()).map(ends).unzip();
        RangeLoss::Run { begins, ends, scale, weight, missing }
    }

    fn of_tree(attribute: &Attribute, tree: &Taxonomy, missing: Code) -> RangeLoss {
        let node = |node: u32| {
            let range = tree.range(node);
            TreeNode {
                hi: range.hi,
                parent: tree.parent(node).unwrap_or(node),
                loss: attribute.weight * attribute.loss(range),
            }
        };
        let nodes = (0u32..).take(tree.nodes()).map(node).collect();
        RangeLoss::Tree { nodes, weight: attribute.weight, missing }
    }

    #[inline]
    fn of(&self, CodeRange { lo, hi }: CodeRange) -> f64 {
        match self {
            RangeLoss::Table { codes, ranges, .. } => ranges[lo as usize * codes + hi as usize],
            RangeLoss::Flat(_) | RangeLoss::Line { .. } | RangeLoss::Run { .. } if lo == hi => 0.0,
            RangeLoss::Tree { missing, .. } if lo == hi && hi == *missing => 0.0,
            RangeLoss::Flat(weight) => *weight,
            RangeLoss::Line { weight, missing, .. }
            | RangeLoss::Run { weight, missing, .. }
            | RangeLoss::Tree { weight, missing, .. }
                if hi == *missing =>
            {
                *weight
            }
            RangeLoss::Run { begins, ends, scale, weight, .. } => {
                ((ends[hi as usize] - begins[lo as usize]) * scale).min(*weight)
            }
            // Never above the weight, which rounding could exceed by a bit.
            RangeLoss::Line { values, scale, weight, .. } => {
                ((values[hi as usize] - values[lo as usize]) * scale).min(*weight)
            }
            RangeLoss::Tree { nodes, .. } => {
                let mut node = &nodes[lo as usize];
                while node.hi < hi {
                    node = &nodes[node.parent as usize];
                }
                node.loss
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
            runs(20),
            runs(200),
        ]
    }

    /// Dates of months, published in runs, few of them and too many for a table.
    fn runs(count: i64) -> Problem {
        let day = |at: i64| jiff::civil::date(2021, 1, 29) + jiff::Span::new().days(at * 5);
        let rows: String = (0..count).map(|at| format!("{},x\n", day(at))).collect();
        let toml = "k = 1\noutput.snap = true\ncolumns.b.role = 'quasi'\n\
                    columns.a = { role = 'quasi', weight = 2, hierarchy = { date = ['month'] } }";
        testing::problem(&format!("a,b\n{rows},x\n"), toml).unwrap()
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
    fn a_range_inside_another_never_loses_more_to_the_last_bit() {
        for problem in problems() {
            let chosen: Vec<usize> = (0..problem.attributes().len()).collect();
            let penalty = Penalty::new(problem.attributes(), &chosen);
            for at in 0..penalty.width() {
                let codes = code(problem.attributes()[at].codes());
                for lo in 0..codes {
                    for hi in lo..codes {
                        let loss = penalty.of(at, CodeRange { lo, hi });
                        assert!(hi == lo || penalty.of(at, CodeRange { lo: lo + 1, hi }) <= loss);
                        assert!(hi == lo || penalty.of(at, CodeRange { lo, hi: hi - 1 }) <= loss);
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
