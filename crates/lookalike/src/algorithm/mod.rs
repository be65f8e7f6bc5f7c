//! The list of algorithms. To add one: a file here, and in this file `mod`, variant, name, arm.

mod bottom_up;
mod mondrian;
mod specialize;
mod top_down;

use std::fmt;
use std::str::FromStr;

use rayon::prelude::*;

use crate::boxes::Aim;
use crate::budget::Budget;
use crate::code::CodeRange;
use crate::halve::{self, Block};
use crate::partition::{Partition, Piece, joined, rows};
use crate::penalty::Penalty;
use crate::privacy::{Privacy, Tally};
use crate::problem::Problem;
use crate::rng::Rng;

/// How classes are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Algorithm {
    /// Split at the median of the widest attribute; equal values stay together.
    #[default]
    Mondrian,
    /// The same, but rows at the median are dealt to both sides.
    MondrianRelaxed,
    /// Merge each group that does not hold with the one that costs least.
    BottomUp,
    /// The same, but a merge costs what one row of the union pays.
    BottomUpRow,
    /// Split at the two rows farthest apart, then mend the groups that do not hold.
    TopDown,
    /// The same, but a row goes where one row then pays less.
    TopDownRow,
    /// Specialize down the hierarchies, from everything as `*`, where the rows hold.
    Specialize,
}

impl Algorithm {
    /// Every algorithm, for tests, benches, help and tables.
    pub const ALL: [Algorithm; 7] = [
        Algorithm::Mondrian,
        Algorithm::MondrianRelaxed,
        Algorithm::BottomUp,
        Algorithm::BottomUpRow,
        Algorithm::TopDown,
        Algorithm::TopDownRow,
        Algorithm::Specialize,
    ];

    /// The name in configurations and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Algorithm::Mondrian => "mondrian",
            Algorithm::MondrianRelaxed => "mondrian-relaxed",
            Algorithm::BottomUp => "bottom-up",
            Algorithm::BottomUpRow => "bottom-up-row",
            Algorithm::TopDown => "top-down",
            Algorithm::TopDownRow => "top-down-row",
            Algorithm::Specialize => "specialize",
        }
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Algorithm {
    type Err = String;

    fn from_str(text: &str) -> Result<Algorithm, String> {
        let names = || Algorithm::ALL.map(Algorithm::name).join(", ");
        Algorithm::ALL
            .into_iter()
            .find(|algorithm| algorithm.name() == text)
            .ok_or_else(|| format!("there is no algorithm `{text}`; there are {}", names()))
    }
}

/// What to run, and from which seed.
#[derive(Clone, Copy, Debug)]
pub struct Search {
    /// How classes are found.
    pub algorithm: Algorithm,
    /// Where an algorithm draws lots, it draws them from here.
    pub seed: u64,
    /// How many times the search for two rows far apart starts again from the farthest it found.
    pub rounds: u32,
}

impl Search {
    /// This algorithm from this seed, with three rounds.
    pub fn new(algorithm: Algorithm, seed: u64) -> Search {
        Search { algorithm, seed, rounds: 3 }
    }
}

/// One call of an algorithm: cut these pieces into classes along these attributes so that each class holds. All pieces
/// together hold, so there is always an answer.
#[derive(Debug)]
pub(crate) struct Task<'a> {
    pub(crate) problem: &'a Problem,
    pub(crate) attributes: &'a [usize],
    pub(crate) privacy: &'a Privacy,
    /// Each tuple once.
    pub(crate) pieces: &'a [Piece],
    pub(crate) seed: u64,
    pub(crate) rounds: u32,
    pub(crate) budget: &'a Budget,
}

impl Task<'_> {
    /// True when these pieces as one class hold.
    fn holds(&self, tally: &mut Tally, pieces: &[Piece]) -> bool {
        if !self.privacy.needs_sensitive() {
            return rows(pieces) >= self.privacy.k();
        }
        tally.clear();
        self.problem.count_into(tally, pieces);
        self.privacy.holds(tally)
    }

    /// Moves the cheapest rows from a block to one that does not hold until it does. False when the lender would not hold then, or
    /// the budget is spent.
    fn lend(&self, penalty: &Penalty, tally: &mut Tally, lender: &mut Block, short: &mut Block) -> bool {
        let k = self.privacy.k();
        let both = lender.rows() + short.rows();
        let mut counted = 0;
        tally.clear();
        let is_lent = halve::lend(penalty, lender, short, |short| {
            self.problem.count_into(tally, &short.pieces[counted..]);
            counted = short.pieces.len();
            let lacking = k.saturating_sub(tally.size());
            match lacking {
                0 if self.privacy.holds(tally) => Some(0),
                _ if self.budget.is_spent() => None,
                _ => (both - tally.size() >= k + lacking.max(1)).then_some(lacking.max(1)),
            }
        });
        is_lent && self.holds(tally, &lender.pieces)
    }

    /// Classes out of groups that hold and of pieces that a search had no time for: these are taken in their order until they
    /// hold, and what is left in the end joins the class before, and that the one before, until all holds.
    fn sweep(&self, mut holding: Vec<Vec<Piece>>, mut left: Vec<Piece>) -> Partition {
        left.sort_unstable();
        let mut tally = self.problem.tally();
        let mut open: Vec<Piece> = Vec::new();
        for piece in left {
            open.push(piece);
            self.problem.count_into(&mut tally, &[piece]);
            if self.privacy.holds(&tally) {
                holding.push(std::mem::take(&mut open));
                tally.clear();
            }
        }
        while !open.is_empty() && !self.holds(&mut tally, &open) {
            open.append(&mut holding.pop().expect("all pieces together hold"));
        }
        let mut partition = Partition::default();
        for mut group in holding.into_iter().chain((!open.is_empty()).then_some(open)) {
            partition.push(joined(&mut group));
        }
        partition
    }
}

/// The attributes, those first on which rows differ most: whoever adds up penalties can stop early.
fn telling_first(problem: &Problem, attributes: &[usize], pieces: &[Piece]) -> Vec<usize> {
    let penalty = Penalty::new(problem.attributes(), attributes);
    // Some pairs, far from each other in the order of the pieces and not all equally far.
    let pairs =
        || (0..pieces.len().min(4096)).map(|at| (pieces[at * (pieces.len() / 4096).max(1)], pieces[at * 7919 % pieces.len()]));
    let differ = |at: usize| -> f64 {
        let code = |piece: Piece| CodeRange::one(problem.code(attributes[at], piece.tuple));
        pairs().map(|(one, other)| penalty.of(at, code(one).join(code(other)))).sum()
    };
    let mut order: Vec<(f64, usize)> = (0..attributes.len()).map(|at| (differ(at), attributes[at])).collect();
    order.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
    order.into_iter().map(|(_, attribute)| attribute).collect()
}

/// Groups of pieces and the exact range of each group on every attribute of the problem, group by group.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    pub(crate) partition: Partition,
    pub(crate) ranges: Vec<CodeRange>,
}

/// Runs the algorithm stage by stage on the given pieces, which together hold every rule.
pub(crate) fn run(problem: &Problem, search: Search, pieces: &[Piece], budget: &Budget) -> Groups {
    let width = problem.attributes().len();
    let all = problem.ranges(pieces);
    let mut groups = Groups { partition: Partition::default(), ranges: all };
    groups.partition.push(pieces.iter().copied());
    for (step, stage) in (0..).zip(problem.stages_in_order()) {
        // Each group of each stage draws its own lots.
        let seed_of = |group: usize| Rng::at(search.seed ^ step, group as u64).next_u64();
        let cut_group = |at: usize| {
            let shown = &groups.ranges[at * width..][..width];
            let attributes = match search.algorithm {
                Algorithm::Mondrian | Algorithm::MondrianRelaxed | Algorithm::Specialize => stage.attributes.clone(),
                _ => telling_first(problem, &stage.attributes, groups.partition.class(at)),
            };
            let task = Task {
                problem,
                attributes: &attributes,
                privacy: &stage.privacy,
                pieces: groups.partition.class(at),
                seed: seed_of(at),
                rounds: search.rounds,
                budget,
            };
            let cut = match search.algorithm {
                Algorithm::Mondrian => mondrian::mondrian(&task, mondrian::Ties::Together),
                Algorithm::MondrianRelaxed => mondrian::mondrian(&task, mondrian::Ties::Dealt),
                Algorithm::BottomUp => bottom_up::bottom_up(&task, Aim::Table),
                Algorithm::BottomUpRow => bottom_up::bottom_up(&task, Aim::Row),
                Algorithm::TopDown => top_down::top_down(&task, Aim::Table),
                Algorithm::TopDownRow => top_down::top_down(&task, Aim::Row),
                Algorithm::Specialize => specialize::specialize(&task),
            };
            let ranges_of = |class: usize| {
                let exact = problem.ranges(cut.class(class));
                let mut ranges = shown.to_vec();
                stage.attributes.iter().for_each(|&attribute| ranges[attribute] = exact[attribute]);
                ranges
            };
            let ranges: Vec<CodeRange> = (0..cut.len()).into_par_iter().flat_map_iter(ranges_of).collect();
            (cut, ranges)
        };
        let cuts: Vec<(Partition, Vec<CodeRange>)> = (0..groups.partition.len()).into_par_iter().map(cut_group).collect();
        groups = Groups::default();
        for (cut, ranges) in cuts {
            groups.partition.append(cut);
            groups.ranges.extend(ranges);
        }
    }
    groups
}

#[cfg(test)]
mod tests;
