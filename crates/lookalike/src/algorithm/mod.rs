//! The list of algorithms. To add one: a file here, and in this file `mod`, variant, name, arm.

mod auto;
mod bottom_up;
mod cells;
mod cluster;
mod incognito;
mod mondrian;
mod optimal;
mod peel;
mod refine;
mod ring;
mod specialize;
mod top_down;

pub use optimal::{Branching, Optimum, Techniques};
pub(crate) use ring::Ring;

use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use crate::boxes::Aim;
use crate::budget::Budget;
use crate::code::{CodeRange, real};
use crate::ground::Cost;
use crate::halve::{self, Block};
use crate::partition::{Partition, Piece, joined, rows};
use crate::penalty::Penalty;
use crate::privacy::{Privacy, Tally};
use crate::problem::Problem;
use crate::rng::{Draws, Key, Rng};

/// How classes are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Algorithm {
    /// The best of the local ones below, improved as long as there is time and it pays.
    #[default]
    Auto,
    /// Split at the median of the widest attribute; equal values stay together.
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
    /// Take out what is dense, from fine to coarse.
    Peel,
    /// Split around two means; deal out what rules on sensitive values keep from being split.
    Cluster,
    /// Rows on rings, each with the box of those that follow: **not** homogeneous, see [`Algorithm::is_homogeneous`].
    Ring,
    /// Specialize down the hierarchies, from everything as `*`, where the rows hold.
    Specialize,
    /// Global recoding, exactly: of all partitions that the columns' schemes allow, those of least cost.
    Optimal,
    /// Global recoding, exactly: all values of a column at one level of its hierarchy, by search of the lattice of levels.
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

    /// True when rows that could be the same person show the same, so that classes of equal rows hold the rules. Otherwise every
    /// person is compatible with as many released rows as a class has, and every released row with as many persons, and the
    /// release needs another judge: [`audit::audit_rings`](crate::audit::audit_rings).
    pub fn is_homogeneous(self) -> bool {
        self != Algorithm::Ring
    }

    /// True when it goes on as long as there is time and it pays, so that the end of its time is no reason to call it stopped.
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

/// What to run, and from which seed.
#[derive(Clone, Copy, Debug)]
pub struct Search {
    /// How classes are found.
    pub algorithm: Algorithm,
    /// Where a search takes random turns, they come from here.
    pub seed: u64,
    /// What decides who is with whom where rows are dealt out at random.
    pub key: Key,
    /// How many times the search for two rows far apart starts again from the farthest it found, or how many tries `cluster` takes for
    /// each cut.
    pub rounds: u32,
    /// What a global recoding makes as small as it can.
    pub cost: Cost,
    /// How `optimal` goes about it.
    pub techniques: Techniques,
    /// How many steps `auto` takes to improve what it has; without a number, as long as it pays.
    pub steps: Option<u64>,
}

impl Search {
    /// This algorithm from this seed, with as many rounds as its paper takes: three, and fifteen for `cluster`.
    pub fn new(algorithm: Algorithm, seed: u64) -> Search {
        let rounds = if algorithm == Algorithm::Cluster { 15 } else { 3 };
        Search {
            algorithm,
            seed,
            key: Key::from_seed(seed),
            rounds,
            cost: Cost::default(),
            techniques: Techniques::default(),
            steps: None,
        }
    }
}

/// A search with this seed comes to a step without end.
#[cfg(test)]
pub(crate) const ENDLESS: u64 = 0xe4d1_e550;

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
    pub(crate) key: Key,
    pub(crate) rounds: u32,
    pub(crate) budget: &'a Budget,
}

impl Task<'_> {
    /// Keeps classes for whoever cannot wait for the end, with what they lose. A task of one of several stages has nobody who waits.
    fn keep(&self, loss: f64, classes: impl FnOnce() -> Partition) {
        let most: f64 = self.problem.attributes().iter().map(|attribute| attribute.weight).sum();
        let left_out = self.problem.row_count() - rows(self.pieces);
        self.budget.keep(loss + real(left_out) * most, || {
            let partition = classes();
            let ranges = partition.iter().flat_map(|class| self.problem.ranges(class)).collect();
            (partition, ranges)
        });
    }

    /// What is drawn for this task alone.
    fn draws(&self) -> Draws {
        self.key.draws(self.seed)
    }

    /// True when these pieces as one class hold.
    fn holds(&self, tally: &mut Tally, pieces: &[Piece]) -> bool {
        if !self.privacy.needs_sensitive() {
            return rows(pieces) >= self.privacy.k();
        }
        tally.clear();
        self.problem.count_into(tally, pieces);
        self.privacy.holds(tally)
    }

    /// The box around pieces, on the task's attributes.
    fn ranges(&self, pieces: &[Piece]) -> Vec<CodeRange> {
        let range = |&at: &usize| {
            let codes = pieces.iter().map(|piece| CodeRange::one(self.problem.code(at, piece.tuple)));
            codes.reduce(CodeRange::join).expect("there are rows")
        };
        self.attributes.iter().map(range).collect()
    }

    /// A group does not borrow more rows than this, but merges: k rows, or a few more under rules on shares, where it could take hundreds
    /// until it holds, to be found out by trying.
    fn longest_loan(&self) -> u64 {
        self.privacy.k().max(if cfg!(test) { 3 } else { 16 })
    }

    /// Moves the cheapest rows from a block to one that does not hold until it does. False when the lender would not hold then, when
    /// more rows than [`Task::longest_loan`] would have to move, or when the budget is spent.
    fn lend(&self, penalty: &Penalty, tally: &mut Tally, lender: &mut Block, short: &mut Block) -> bool {
        let k = self.privacy.k();
        let had = short.rows();
        let both = lender.rows() + had;
        let mut counted = 0;
        tally.clear();
        let is_lent = halve::lend(penalty, lender, short, |short| {
            self.problem.count_into(tally, &short.pieces[counted..]);
            counted = short.pieces.len();
            let lacking = k.saturating_sub(tally.size());
            match lacking {
                0 if self.privacy.holds(tally) => Some(0),
                _ if self.budget.is_spent() || tally.size() - had + lacking.max(1) > self.longest_loan() => None,
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

/// Cuts a set and its parts until nothing can be cut: large ones level by level, then each small one to its end, in parallel. `cut`
/// returns the parts that may be cut further and adds what is done; each thread has something to write on.
fn cut_to_the_end<S: Send, D: Send, T>(
    whole: S,
    scratch: impl Fn() -> T + Sync,
    is_large: impl Fn(&S) -> bool,
    cut: impl Fn(S, &mut T, &mut Vec<D>) -> Vec<S> + Sync,
) -> Vec<D> {
    let (mut large, mut small, mut all) = (vec![whole], Vec::new(), Vec::new());
    while !large.is_empty() {
        let cut_once = |scratch: &mut T, set: S| {
            let mut done = Vec::new();
            (cut(set, scratch, &mut done), done)
        };
        let cuts: Vec<(Vec<S>, Vec<D>)> = large.into_par_iter().map_init(&scratch, cut_once).collect();
        large = Vec::new();
        for (parts, done) in cuts {
            all.extend(done);
            for part in parts {
                if is_large(&part) { large.push(part) } else { small.push(part) }
            }
        }
    }
    let cut_on = |scratch: &mut T, set: S| {
        let (mut open, mut done) = (vec![set], Vec::new());
        while let Some(set) = open.pop() {
            open.extend(cut(set, scratch, &mut done));
        }
        done
    };
    let ends: Vec<Vec<D>> = small.into_par_iter().map_init(&scratch, cut_on).collect();
    all.extend(ends.into_iter().flatten());
    all
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

/// What goes through all stages before `auto` does, each in a part of the time at most: what is best for the first stage alone, which
/// is all that a search in stages looks at, need not be best in the end.
const STAGED: [Algorithm; 5] =
    [Algorithm::Mondrian, Algorithm::Cluster, Algorithm::TopDown, Algorithm::BottomUp, Algorithm::Peel];
const STAGED_PART: f64 = 0.1;

/// Runs the algorithm on the given pieces, which together hold every rule.
pub(crate) fn run(problem: &Problem, search: Search, pieces: &[Piece], budget: &Budget) -> Groups {
    if !search.algorithm.is_anytime() || problem.stages_in_order().len() == 1 {
        return run_stages(problem, search, pieces, budget);
    }
    let all: Vec<usize> = (0..problem.attributes().len()).collect();
    let penalty = Penalty::new(problem.attributes(), &all);
    let loss = |groups: &Groups| -> f64 {
        let boxes = groups.ranges.chunks_exact(all.len()).zip(groups.partition.iter());
        boxes.map(|(ranges, class)| real(rows(class)) * penalty.of_box(ranges)).sum()
    };
    let other = |algorithm: Algorithm| {
        let search = Search { algorithm, rounds: Search::new(algorithm, search.seed).rounds, ..search };
        run_stages(problem, search, pieces, &budget.part(STAGED_PART))
    };
    let found = STAGED.into_iter().map(other).chain(std::iter::once_with(|| run_stages(problem, search, pieces, budget)));
    let found = found.map(|groups| (loss(&groups), groups));
    found.min_by(|one, other| one.0.total_cmp(&other.0)).expect("there are some").1
}

/// Runs the algorithm stage by stage.
fn run_stages(problem: &Problem, search: Search, pieces: &[Piece], budget: &Budget) -> Groups {
    let width = problem.attributes().len();
    let all = problem.ranges(pieces);
    let mut groups = Groups { partition: Partition::default(), ranges: all };
    groups.partition.push(pieces.iter().copied());
    for (step, stage) in (0..).zip(problem.stages_in_order()) {
        // Stages share the time, and so do the groups of a stage by their rows.
        let stages_left = real(problem.stages_in_order().len() as u64 - step);
        let time = budget.part(1.0 / stages_left);
        // What one of several groups loses would tell a watcher nothing.
        let time = if problem.stages_in_order().len() > 1 { time.silent() } else { time };
        let waiting = AtomicU64::new(rows(pieces));
        let time_of = |group: &[Piece]| {
            let rows = rows(group);
            let all = waiting.fetch_sub(rows, Ordering::Relaxed);
            time.part(real(rows) / real(all) * real(rayon::current_num_threads() as u64))
        };
        // Steps too.
        let steps_of = |group: &[Piece]| {
            let share = real(rows(group)) / real(rows(pieces));
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a count")]
            search.steps.map(|steps| (real(steps) * share).ceil() as u64)
        };
        // Each group of each stage draws its own lots.
        let seed_of = |group: usize| Rng::at(search.seed ^ step, group as u64).next_u64();
        #[cfg(test)]
        let seed_of = |group: usize| if search.seed == ENDLESS { ENDLESS } else { seed_of(group) };
        let cut_group = |at: usize| {
            let shown = &groups.ranges[at * width..][..width];
            let attributes = match search.algorithm {
                Algorithm::Mondrian | Algorithm::MondrianRelaxed | Algorithm::Specialize => stage.attributes.clone(),
                _ => telling_first(problem, &stage.attributes, groups.partition.class(at)),
            };
            let time = time_of(groups.partition.class(at));
            let task = Task {
                problem,
                attributes: &attributes,
                privacy: &stage.privacy,
                pieces: groups.partition.class(at),
                seed: seed_of(at),
                key: search.key,
                rounds: search.rounds,
                budget: if search.algorithm.is_anytime() { &time } else { budget },
            };
            let cut = match search.algorithm {
                Algorithm::Auto => auto::auto(&task, steps_of(task.pieces)),
                Algorithm::Mondrian => mondrian::mondrian(&task, mondrian::Ties::Together),
                Algorithm::MondrianRelaxed => mondrian::mondrian(&task, mondrian::Ties::Dealt),
                Algorithm::BottomUp => bottom_up::bottom_up(&task, Aim::Table),
                Algorithm::BottomUpRow => bottom_up::bottom_up(&task, Aim::Row),
                Algorithm::TopDown => top_down::top_down(&task, Aim::Table),
                Algorithm::TopDownRow => top_down::top_down(&task, Aim::Row),
                Algorithm::Peel => peel::peel(&task),
                Algorithm::Cluster => cluster::cluster(&task),
                Algorithm::Ring => unreachable!("rings are no classes: see run_rings"),
                Algorithm::Specialize => specialize::specialize(&task),
                Algorithm::Optimal | Algorithm::Incognito => {
                    unreachable!("a global recoding is no partition of rows: see run_global")
                }
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

/// The best global recoding that the algorithm finds.
pub(crate) fn run_global(problem: &Problem, search: Search, budget: &Budget) -> Optimum {
    let mut found = match search.algorithm {
        Algorithm::Incognito => incognito::incognito(problem, search.cost, budget),
        _ => optimal::optimal(problem, search.cost, &search.techniques, search.seed, budget),
    };
    // Rules on fewer columns were asked of the classes of all, which is enough but more than was wanted; and which rows go without whom no
    // rule can be met was settled before the search. So nothing is known of the least that was asked for.
    if problem.stages_in_order().len() > 1 || !problem.trimmed().is_empty() {
        (found.is_proven, found.bound) = (false, 0.0);
    }
    found
}

/// Rings of the given pieces, which together hold every rule, and for each place the box that begins there. Every window holds the
/// rules on all columns, whatever columns a rule was asked for.
pub(crate) fn run_rings(
    problem: &Problem,
    search: Search,
    pieces: &[Piece],
    budget: &Budget,
    lot: impl Fn(u64) -> u64 + Sync,
) -> (Vec<Ring>, Vec<CodeRange>) {
    let all: Vec<usize> = (0..problem.attributes().len()).collect();
    let attributes = telling_first(problem, &all, pieces);
    let privacy = &problem.stages_in_order()[0].privacy;
    let Search { seed, key, rounds, .. } = search;
    let task = Task { problem, attributes: &attributes, privacy, pieces, seed, key, rounds, budget };
    let rings = ring::rings(&task, &top_down::top_down(&task, Aim::Table), lot);
    let boxes = |ring: &Ring| -> Vec<CodeRange> {
        let codes = |&at: &usize| ring.tuples.iter().map(|&tuple| problem.code(at, tuple)).collect::<Vec<_>>();
        let columns: Vec<Vec<CodeRange>> = all.iter().map(|at| ring::ranges(&codes(at), ring.window)).collect();
        (0..ring.tuples.len()).flat_map(|place| columns.iter().map(move |column| column[place])).collect()
    };
    let ranges = rings.par_iter().flat_map_iter(boxes).collect();
    (rings, ranges)
}

#[cfg(test)]
mod tests;
