//! Where to cut: between the classes of a sample, where those that cross lose least.

use std::cmp::Reverse;

use super::{Cut, CutCondition, CutNode, CutSide, Cuts};
use crate::codes::{Code, CodeRange, real};
use crate::domain::attribute::{Attribute, Domain, Unit};
use crate::problem::Problem;
use crate::search::budget::Budget;
use crate::search::{Algorithm, SearchOptions, solve};

/// The size of cells.
///
/// # Example
/// ```
/// use lookalike::search::cuts::CellSize;
///
/// // A sample of any size stands for 20 million tuples; cells have about a million at most.
/// let size = CellSize { tuples: 1_000_000, whole: 20_000_000 };
/// assert!(size.whole / size.tuples >= 2);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellSize {
    /// About so many distinct tuples are in a cell at most, at least 1. A quarter more is not cut.
    pub tuples: u64,
    /// The number of distinct tuples of the whole table; not below those of the sample.
    pub whole: u64,
}

/// A cell of up to so many times the wanted size is not cut.
const SLACK: f64 = 1.25;

/// How much of its part of the tuples a side of a cut may have, at least and at most; the next where
/// no cut is within one of them. Without the first number, slivers that no class crosses would be cut
/// off one after the other.
const LOADS: [(f64, f64); 4] = [(0.5, 1.25), (0.4, 1.6), (0.2, 2.5), (0.0, f64::INFINITY)];

/// No leaf is deeper: readers of JSON have their limits.
const MOST_DEPTH: u32 = 60;

/// The cells of a table by a sample of its tuples. `problem` has the sample under the domain of the
/// whole table and a rule k, which should be the smaller, the fewer of all tuples the sample has.
///
/// The same sample and seed give the same cells, on any number of threads.
pub fn cuts(problem: &Problem, size: CellSize, seed: u64) -> Cuts {
    let scale = real(size.whole.max(1)) / real(problem.tuples() as u64).max(1.0);
    let wanted = real(size.tuples.max(1)) / scale.max(1.0);
    if real(problem.tuples() as u64) <= wanted * SLACK {
        return Cuts::new(CutNode::Cell { cell: 0 });
    }
    let options = SearchOptions { steps: Some(0), ..SearchOptions::new(Algorithm::Auto, seed) };
    let recoding = solve(problem, options, &Budget::unlimited()).recoding;
    let mut pieces = Vec::new();
    for (class, members) in (0u32..).zip(recoding.classes().iter()) {
        let ranges = recoding.ranges(class as usize);
        let row_loss = loss(problem.attributes(), ranges);
        pieces.extend(members.iter().map(|piece| SampledPiece {
            tuple: piece.tuple,
            class,
            loss: row_loss * f64::from(piece.count),
        }));
    }
    Cuts::new(cut(problem, pieces, wanted, 0))
}

/// A tuple of the sample, or some of its rows.
#[derive(Clone, Copy, Debug)]
struct SampledPiece {
    tuple: u32,
    class: u32,
    /// Of all its rows.
    loss: f64,
}

/// The weighted loss of a row of a class.
fn loss(attributes: &[Attribute], ranges: &[CodeRange]) -> f64 {
    let of =
        |(attribute, &range): (&Attribute, &CodeRange)| attribute.weight * attribute.loss(range);
    attributes.iter().zip(ranges).map(of).sum()
}

/// Cuts pieces, which are in the order of their classes, until no cell is too large.
fn cut(problem: &Problem, pieces: Vec<SampledPiece>, wanted: f64, depth: u32) -> CutNode {
    let parts = real(pieces.len() as u64) / wanted;
    let is_done = parts <= SLACK || depth == MOST_DEPTH;
    let best = if is_done { None } else { best(problem, &pieces, parts) };
    let Some(SampleCut { attribute, is_left, .. }) = best else {
        return CutNode::Cell { cell: 0 };
    };
    let is_here = |piece: &SampledPiece| is_left[problem.code(attribute, piece.tuple) as usize];
    let (left, right): (Vec<_>, Vec<_>) = pieces.into_iter().partition(is_here);
    let (left, right) = rayon::join(
        || cut(problem, left, wanted, depth + 1),
        || cut(problem, right, wanted, depth + 1),
    );
    condition(&problem.attributes()[attribute], &is_left, left, right)
}

/// A cut of a set of pieces.
#[derive(Debug)]
struct SampleCut {
    attribute: usize,
    /// For each code of the attribute the side.
    is_left: Vec<bool>,
    cost: CutCost,
}

/// The less, the better.
#[derive(Clone, Copy, Debug)]
struct CutCost {
    /// The first of [`LOADS`] that it is within.
    load: usize,
    /// The loss of the classes that have rows on both sides.
    crossing: f64,
    /// The distance of the two sides from equal sizes.
    imbalance: f64,
}

impl CutCost {
    fn is_below(self, other: CutCost) -> bool {
        let by_loss = self.crossing.total_cmp(&other.crossing);
        let by_size = self.imbalance.total_cmp(&other.imbalance);
        // Where no cut is near the wanted sizes, sizes decide.
        let is_last = self.load == LOADS.len() - 1;
        let within = if is_last { by_size.then(by_loss) } else { by_loss.then(by_size) };
        self.load.cmp(&other.load).then(within).is_lt()
    }
}

/// The cut with the least loss of classes that cross it, of those whose sides can both be cut into
/// cells of about equal size. None when all tuples are equal.
fn best(problem: &Problem, pieces: &[SampledPiece], parts: f64) -> Option<SampleCut> {
    let mut best: Option<SampleCut> = None;
    for attribute in 0..problem.attributes().len() {
        for order in orders(problem, attribute, pieces) {
            let found = best_of_order(problem, attribute, pieces, &order, parts);
            best = match (best, found) {
                (Some(old), Some(new)) if !new.cost.is_below(old.cost) => Some(old),
                (old, new) => new.or(old),
            };
        }
    }
    best
}

/// Orders of the codes of an attribute, each as the rank of every code: a cut has a first part of
/// one of them on its left.
fn orders(problem: &Problem, attribute: usize, pieces: &[SampledPiece]) -> Vec<Vec<u32>> {
    let domain = &problem.attributes()[attribute].domain;
    let codes = problem.attributes()[attribute].codes();
    let by_code: Vec<u32> = (0u32..).take(codes).collect();
    match domain {
        // A missing value may go with the greatest values or with the least.
        Domain::Ordered(ordered) if ordered.has_missing() && ordered.unit() != Unit::Place => {
            let last = codes - 1;
            let missing_first =
                by_code.iter().map(|&code| if code as usize == last { 0 } else { code + 1 });
            vec![missing_first.collect(), by_code]
        }
        Domain::Tree(tree) if tree.is_flat() => {
            let mut rows = vec![0u64; codes];
            pieces
                .iter()
                .for_each(|piece| rows[problem.code(attribute, piece.tuple) as usize] += 1);
            let mut by_size: Vec<usize> = (0..codes).collect();
            by_size.sort_by_key(|&code| (Reverse(rows[code]), code));
            let mut ranks = vec![0; codes];
            (0u32..).zip(by_size).for_each(|(rank, code)| ranks[code] = rank);
            vec![ranks, by_code]
        }
        _ => vec![by_code],
    }
}

fn best_of_order(
    problem: &Problem,
    attribute: usize,
    pieces: &[SampledPiece],
    rank_of: &[u32],
    parts: f64,
) -> Option<SampleCut> {
    let ranks = rank_of.len();
    let mut tuples = vec![0u64; ranks];
    // The loss of classes that begin at a rank, less that of those that end there.
    let mut crossing = vec![0.0; ranks];
    for class in pieces.chunk_by(|one, other| one.class == other.class) {
        let (mut least, mut greatest, mut loss) = (usize::MAX, 0, 0.0);
        for piece in class {
            let rank = rank_of[problem.code(attribute, piece.tuple) as usize] as usize;
            tuples[rank] += 1;
            (least, greatest) = (least.min(rank), greatest.max(rank));
            loss += piece.loss;
        }
        crossing[least] += loss;
        crossing[greatest] -= loss;
    }
    let mut best: Option<(usize, CutCost)> = None;
    let (mut before, mut crossed) = (0, 0.0);
    let all = pieces.len() as u64;
    for rank in 0..ranks {
        before += tuples[rank];
        crossed += crossing[rank];
        let is_empty = tuples[rank] == 0 || before == all;
        if is_empty || !is_condition(&problem.attributes()[attribute], rank_of, rank) {
            continue;
        }
        let share = real(before) / real(all);
        let (load, imbalance) = (load(share, parts), (share - 0.5).abs());
        let cost = CutCost { load, crossing: crossed, imbalance };
        if best.is_none_or(|(_, old)| cost.is_below(old)) {
            best = Some((rank, cost));
        }
    }
    let (last, cost) = best?;
    let is_left = rank_of.iter().map(|&rank| rank as usize <= last).collect();
    Some(SampleCut { attribute, is_left, cost })
}

/// The first of the loads that both sides are within, when a side with this share of the tuples is
/// cut into its part of the cells.
fn load(share: f64, parts: f64) -> usize {
    let whole = parts.round().max(2.0);
    let left = (share * whole).round().clamp(1.0, whole - 1.0);
    let loads = [share * whole / left, (1.0 - share) * whole / (whole - left)];
    let is_within =
        |&(least, most): &(f64, f64)| loads.iter().all(|&load| (least..=most).contains(&load));
    LOADS.iter().position(is_within).unwrap_or(LOADS.len() - 1)
}

/// False for a first part of an order that is no condition: the missing value alone, which goes
/// with the values of one side.
fn is_condition(attribute: &Attribute, rank_of: &[u32], rank: usize) -> bool {
    match &attribute.domain {
        Domain::Ordered(ordered) if ordered.has_missing() => {
            rank > 0 || rank_of[ordered.values().len()] != 0
        }
        _ => true,
    }
}

/// The node of a cut, with a list of values that is as short as can be.
fn condition(attribute: &Attribute, is_left: &[bool], left: CutNode, right: CutNode) -> CutNode {
    let column = attribute.name.clone();
    let side = |is_left: bool| if is_left { CutSide::Left } else { CutSide::Right };
    let (texts, missing): (Vec<&str>, Option<usize>) = match &attribute.domain {
        Domain::Ordered(ordered) => {
            let missing = ordered.has_missing().then_some(ordered.values().len());
            (ordered.texts().iter().map(String::as_str).collect(), missing)
        }
        Domain::Tree(tree) => {
            let texts: Vec<&str> =
                (0..).take(tree.leaves()).map(|code: Code| tree.leaf_label(code)).collect();
            let missing = texts.iter().position(|text| text.is_empty());
            (texts, missing)
        }
    };
    let missing_is_left = missing.is_some_and(|code| is_left[code]);
    let unit = attribute.domain.unit().filter(|&unit| unit != Unit::Place);
    if let Some(unit) = unit {
        let last = (0..texts.len()).rev().find(|&code| is_left[code]);
        let limit = texts[last.expect("a cut has values on its left")].to_string();
        let condition = match unit {
            Unit::Whole | Unit::Decimal | Unit::Place => CutCondition::Number { limit },
            Unit::Day => CutCondition::Date { limit },
            Unit::Second => CutCondition::Time { limit },
        };
        let missing = side(missing_is_left);
        return CutNode::Cut(Box::new(Cut { column, condition, missing, left, right }));
    }
    let listed = |wanted: bool| {
        let codes = (0..texts.len()).filter(|&code| is_left[code] == wanted);
        let present = codes.filter(|&code| Some(code) != missing);
        present.map(|code| texts[code].to_string()).collect::<Vec<String>>()
    };
    let (of_left, of_right) = (listed(true), listed(false));
    if of_left.len() <= of_right.len() {
        let condition = CutCondition::Values { values: of_left };
        let missing = side(missing_is_left);
        return CutNode::Cut(Box::new(Cut { column, condition, missing, left, right }));
    }
    let condition = CutCondition::Values { values: of_right };
    // A value that neither list has would be on the other side than before; the domain has none.
    let missing = side(!missing_is_left && missing.is_some());
    CutNode::Cut(Box::new(Cut { column, condition, missing, left: right, right: left }))
}
