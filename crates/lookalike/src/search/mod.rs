//! Finds answers: the only room that may take long. It knows no files, no tables and no text.
//!
//! [`Algorithm`] is the list of algorithms. To add one:
//!
//! 1. a file in `local/` or `global/` and its `mod` line in the `mod.rs` beside it;
//! 2. here: a variant, its place in [`Algorithm::ALL`] and its name; [`Algorithm::is_global`],
//!    [`Algorithm::is_anytime`] or [`Algorithm::is_homogeneous`] if one of them is about it;
//! 3. the arm that calls it: `cut_group` in `stages.rs`, or `run_global` for a global recoding;
//! 4. a row in README.md, which a test demands, and its name in docs/configuration.md.
//!
//! Command line, contract tests and oracles then have it from [`Algorithm::ALL`]. Its tuned numbers
//! go into [`tuning`].

pub mod bound;
pub(crate) mod boxes;
pub mod budget;
pub mod cuts;
pub mod global;
mod grouping;
mod local;
mod outcome;
mod ranges;
mod stages;
mod suppression;
mod task;
#[cfg(test)]
mod tests;
pub mod tuning;

pub use boxes::split::far_pair_shares;
pub(crate) use outcome::from_kept;
pub use outcome::{Outcome, Status, solve};
#[cfg(test)]
pub(crate) use task::ENDLESS;

use std::fmt;
use std::str::FromStr;

use crate::rng::Key;

use global::{Cost, Techniques};
use tuning::Tuning;

/// The algorithm that finds the equivalence classes.
///
/// # Example
/// ```
/// use lookalike::Algorithm;
///
/// let algorithm: Algorithm = "top-down".parse().unwrap();
/// assert_eq!(algorithm, Algorithm::TopDown);
/// assert!(algorithm.is_homogeneous() && !algorithm.is_global());
/// assert!(Algorithm::ALL.contains(&algorithm));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Algorithm {
    /// The best of the local ones below, improved as long as there is time and the loss falls.
    #[default]
    Auto,
    /// Split at the median of the widest attribute; equal values stay together.
    Mondrian,
    /// The same, but rows at the median are dealt to both sides.
    MondrianRelaxed,
    /// Merge each undersized group with the group where that adds least loss.
    BottomUp,
    /// The same, but by the loss of one row of the union, not of the whole table.
    BottomUpRow,
    /// Split at the two rows farthest apart, then adjust the undersized groups.
    TopDown,
    /// The same, but a row goes where one row then loses less.
    TopDownRow,
    /// Take out dense regions, from fine to coarse.
    Peel,
    /// Split around two means; deal out the sets that rules on sensitive values keep from being
    /// split.
    Cluster,
    /// Rows on rings, each with the box of those that follow: **not** homogeneous, see
    /// [`Algorithm::is_homogeneous`].
    Ring,
    /// Specialize down the hierarchies, from everything as `*`, where the rows satisfy the rules.
    Specialize,
    /// Global recoding, exactly: of all partitions that the columns' schemes allow, those of least
    /// cost.
    Optimal,
    /// Global recoding, exactly: all values of a column at one level of its hierarchy, by search of
    /// the lattice of levels.
    Incognito,
}

impl Algorithm {
    /// Every algorithm, for tests, benches, help and tables.
    pub const ALL: [Algorithm; 13] = [
        Algorithm::Auto,
        Algorithm::Mondrian,
        Algorithm::MondrianRelaxed,
        Algorithm::BottomUp,
        Algorithm::BottomUpRow,
        Algorithm::TopDown,
        Algorithm::TopDownRow,
        Algorithm::Peel,
        Algorithm::Cluster,
        Algorithm::Ring,
        Algorithm::Specialize,
        Algorithm::Optimal,
        Algorithm::Incognito,
    ];

    /// Every algorithm whose releases are homogeneous.
    pub fn homogeneous() -> impl Iterator<Item = Algorithm> {
        Algorithm::ALL.into_iter().filter(|algorithm| algorithm.is_homogeneous())
    }

    /// The name in configurations and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Algorithm::Auto => "auto",
            Algorithm::Mondrian => "mondrian",
            Algorithm::MondrianRelaxed => "mondrian-relaxed",
            Algorithm::BottomUp => "bottom-up",
            Algorithm::BottomUpRow => "bottom-up-row",
            Algorithm::TopDown => "top-down",
            Algorithm::TopDownRow => "top-down-row",
            Algorithm::Peel => "peel",
            Algorithm::Cluster => "cluster",
            Algorithm::Ring => "ring",
            Algorithm::Specialize => "specialize",
            Algorithm::Optimal => "optimal",
            Algorithm::Incognito => "incognito",
        }
    }

    /// True when rows that could be the same person are indistinguishable, so that classes of equal
    /// rows satisfy the rules. Otherwise every person is compatible with as many released rows as a
    /// class has, and every released row with as many persons, and the release needs another audit:
    /// [`audit::audit_rings`](crate::audit::audit_rings).
    pub fn is_homogeneous(self) -> bool {
        self != Algorithm::Ring
    }

    /// True when it goes on as long as there is time and the loss falls, so that the end of its
    /// time is no reason to call it stopped.
    pub fn is_anytime(self) -> bool {
        self == Algorithm::Auto
    }

    /// True when a value is always published the same way.
    pub fn is_global(self) -> bool {
        matches!(self, Algorithm::Optimal | Algorithm::Incognito)
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

/// The price of a suppressed row when nobody sets one: docs/decisions/0037-suppression-price.md.
pub const USUAL_SUPPRESSION_PRICE: f64 = 0.25;

/// The algorithm to run, its seed and its parameters.
///
/// # Example
/// ```
/// use lookalike::{Algorithm, SearchOptions};
///
/// let usual = SearchOptions::new(Algorithm::Auto, 7);
/// assert_eq!((usual.rounds, usual.steps), (3, None));
/// let repeatable = SearchOptions { steps: Some(10_000), ..usual };
/// assert_eq!(repeatable.seed, 7);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct SearchOptions {
    /// The algorithm that finds the classes.
    pub algorithm: Algorithm,
    /// The seed of everything that a search decides at random.
    pub seed: u64,
    /// The key of the draws that an outsider must not be able to repeat: which rows are dealt out
    /// or suppressed among equals.
    pub key: Key,
    /// How many times the search for two rows far apart starts again from the farthest it found, or
    /// how many tries `cluster` takes for each cut.
    pub rounds: u32,
    /// The cost that a global recoding minimizes.
    pub cost: Cost,
    /// The techniques of the search of `optimal`.
    pub techniques: Techniques,
    /// Steps that `auto` takes to improve its classes; without a number, as long as the loss falls.
    pub steps: Option<u64>,
    /// The price of a suppressed row as a share of the loss of a row that publishes nothing, from 0
    /// to 1. It decides which rows a local search leaves out; the loss of a release counts each of
    /// them in full all the same.
    pub suppression_price: f64,
    /// The tuned numbers of the local searches.
    pub tuning: Tuning,
}

impl SearchOptions {
    /// This algorithm from this seed, with as many rounds as its paper takes: three, and fifteen
    /// for `cluster`.
    pub fn new(algorithm: Algorithm, seed: u64) -> SearchOptions {
        let rounds = if algorithm == Algorithm::Cluster { 15 } else { 3 };
        SearchOptions {
            algorithm,
            seed,
            key: Key::from_seed(seed),
            rounds,
            cost: Cost::default(),
            techniques: Techniques::default(),
            steps: None,
            suppression_price: USUAL_SUPPRESSION_PRICE,
            tuning: Tuning::default(),
        }
    }
}
