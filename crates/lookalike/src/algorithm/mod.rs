//! The list of algorithms. To add one: a file here, and in this file `mod`, variant, name, arm.

mod mondrian;

use std::fmt;
use std::str::FromStr;

use rayon::prelude::*;

use crate::budget::Budget;
use crate::code::CodeRange;
use crate::partition::{Partition, Piece};
use crate::privacy::Privacy;
use crate::problem::Problem;

/// How classes are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Algorithm {
    /// Split at the median of the widest attribute; equal values stay together.
    #[default]
    Mondrian,
    /// The same, but rows at the median are dealt to both sides.
    MondrianRelaxed,
}

impl Algorithm {
    /// Every algorithm, for tests, benches, help and tables.
    pub const ALL: [Algorithm; 2] = [Algorithm::Mondrian, Algorithm::MondrianRelaxed];

    /// The name in configurations and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Algorithm::Mondrian => "mondrian",
            Algorithm::MondrianRelaxed => "mondrian-relaxed",
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

/// One call of an algorithm: cut these pieces into classes along these attributes so that each class holds. All pieces
/// together hold, so there is always an answer.
#[derive(Debug)]
pub(crate) struct Task<'a> {
    pub(crate) problem: &'a Problem,
    pub(crate) attributes: &'a [usize],
    pub(crate) privacy: &'a Privacy,
    pub(crate) pieces: &'a [Piece],
}

/// Groups of pieces and the exact range of each group on every attribute of the problem, group by group.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    pub(crate) partition: Partition,
    pub(crate) ranges: Vec<CodeRange>,
}

/// Runs the algorithm stage by stage on the given pieces, which together hold every rule.
pub(crate) fn run(problem: &Problem, algorithm: Algorithm, pieces: &[Piece], budget: &Budget) -> Groups {
    let width = problem.attributes().len();
    let all = problem.ranges(pieces);
    let mut groups = Groups { partition: Partition::default(), ranges: all };
    groups.partition.push(pieces.iter().copied());
    for stage in problem.stages_in_order() {
        let cut_group = |at: usize| {
            let shown = &groups.ranges[at * width..][..width];
            let task =
                Task { problem, attributes: &stage.attributes, privacy: &stage.privacy, pieces: groups.partition.class(at) };
            let cut = match algorithm {
                Algorithm::Mondrian => mondrian::mondrian(&task, mondrian::Ties::Together, budget),
                Algorithm::MondrianRelaxed => mondrian::mondrian(&task, mondrian::Ties::Dealt, budget),
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
