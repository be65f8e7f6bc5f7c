//! The order in which rows are left out: at each step what gains most for each row, at random among
//! equals, until the next step would exceed the allowance.

use std::collections::BinaryHeap;

use rayon::prelude::*;

use super::{dissolve, ends};
use crate::codes::{CodeRange, real};
use crate::domain::penalty::Penalty;
use crate::problem::Problem;
use crate::problem::partition::{Partition, Piece, joined, rows};
use crate::problem::privacy::{Privacy, Tally};
use crate::rng::Draws;
use crate::search::SearchOptions;
use crate::search::boxes::Boxes;
use crate::search::boxes::tree::BoxTree;
use crate::search::budget::Budget;
use crate::search::stages::RangedClasses;
use crate::search::tuning::Tuning;

/// Steps that are worked out at the same time.
const BATCH: usize = 64;

/// The classes as they are while rows are left out of them.
pub(super) struct State<'a> {
    pub(super) problem: &'a Problem,
    pub(super) privacy: &'a Privacy,
    pub(super) tuning: &'a Tuning,
    /// The price of a suppressed row, as a loss.
    pub(super) price: f64,
    /// Each tuple of a class once. An empty one has been left out or dissolved.
    pub(super) classes: Vec<Vec<Piece>>,
    pub(super) boxes: Boxes<'a>,
    pub(super) tree: BoxTree,
    /// Classes that have rows.
    pub(super) alive: usize,
}

/// What one step leaves out of a class, and what becomes of its other rows.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Step {
    /// The fall of the objective.
    pub(super) gain: f64,
    /// Places of the pieces of the class that are left out.
    pub(super) out: Vec<usize>,
    /// The rows of these.
    pub(super) rows: u64,
    /// For each place of another piece, the class that it joins. Empty when they stay.
    pub(super) moves: Vec<(usize, u32)>,
}

impl Step {
    /// The gain for each row.
    pub(super) fn ratio(&self) -> f64 {
        self.gain / real(self.rows)
    }

    /// The better of two steps: by the gain for each row, then the first.
    pub(super) fn better(one: Option<Step>, other: Option<Step>) -> Option<Step> {
        match (one, other) {
            (Some(one), Some(other)) => Some(if other.ratio() > one.ratio() { other } else { one }),
            (one, other) => one.or(other),
        }
    }
}

/// A step that a class offers. Ordered by the gain for each row, then by the random rank of the
/// class.
#[derive(Debug)]
struct Offer {
    ratio: f64,
    rank: u64,
    class: u32,
    /// How often the class had changed.
    version: u32,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// Depends on the class alone.
    Own(Step),
    /// Dissolving the class gains no more than this.
    AtMost,
    /// Dissolving the class gains this, unless its neighbours have changed.
    Dissolved,
}

impl PartialEq for Offer {
    fn eq(&self, other: &Offer) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Offer {}

impl Ord for Offer {
    fn cmp(&self, other: &Offer) -> std::cmp::Ordering {
        // A step that is known comes before one that is not worked out.
        let known = |offer: &Offer| match offer.kind {
            Kind::AtMost => 2,
            Kind::Own(_) => 1,
            Kind::Dissolved => 0,
        };
        self.ratio
            .total_cmp(&other.ratio)
            .then(known(self).cmp(&known(other)))
            .then(self.rank.cmp(&other.rank))
            .then(other.class.cmp(&self.class))
    }
}

impl PartialOrd for Offer {
    fn partial_cmp(&self, other: &Offer) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// Leaves rows out of the classes as long as that gains and is allowed; also returns these rows.
pub(super) fn lighten(
    problem: &Problem,
    penalty: &Penalty,
    search: SearchOptions,
    start: &RangedClasses,
    allowance: u64,
    draws: &mut Draws,
    budget: &Budget,
) -> (RangedClasses, Vec<Piece>) {
    let mut state = State::new(problem, penalty, &search, start, draws);
    let ranks: Vec<u64> = state.classes.iter().map(|_| draws.next_u64()).collect();
    let mut versions = vec![0u32; state.classes.len()];
    let all: Vec<u32> = (0u32..).take(state.classes.len()).collect();
    let mut heap: BinaryHeap<Offer> = state.offers(&all, &ranks, &versions).into();
    let (mut suppressed, mut left) = (Vec::new(), allowance);
    while let Some(offer) = heap.pop() {
        if budget.is_spent() {
            break;
        }
        let class = offer.class as usize;
        if offer.version != versions[class] {
            continue;
        }
        let step = match offer.kind {
            Kind::Own(step) => step,
            Kind::AtMost => {
                let first = offer.class;
                let mut batch = vec![first];
                while batch.len() < BATCH
                    && heap.peek().is_some_and(|next| matches!(next.kind, Kind::AtMost))
                {
                    let next = heap.pop().expect("it was there");
                    if next.version == versions[next.class as usize] {
                        batch.push(next.class);
                    }
                }
                heap.extend(state.dissolutions(&batch, &ranks, &versions));
                continue;
            }
            Kind::Dissolved => {
                let mut tally = problem.tally();
                match dissolve::dissolve(&state, offer.class, &mut tally) {
                    Some(step) if step.ratio() >= offer.ratio => step,
                    // Its neighbours have changed.
                    Some(step) => {
                        heap.push(Offer { ratio: step.ratio(), ..offer });
                        continue;
                    }
                    None => continue,
                }
            }
        };
        if step.rows == rows(&state.classes[class]) && state.alive == 1 {
            continue; // a release needs rows
        }
        if step.rows > left {
            if let Some((class, step)) = state.last_step(left, &ranks) {
                state.take(class, &step, &mut suppressed);
            }
            break;
        }
        left -= step.rows;
        let mut touched = state.take(offer.class, &step, &mut suppressed);
        touched.iter().for_each(|&class| versions[class as usize] += 1);
        touched.retain(|&class| !state.classes[class as usize].is_empty());
        heap.extend(state.offers(&touched, &ranks, &versions));
    }
    (state.published(), suppressed)
}

impl<'a> State<'a> {
    fn new(
        problem: &'a Problem,
        penalty: &'a Penalty,
        search: &'a SearchOptions,
        start: &RangedClasses,
        draws: &mut Draws,
    ) -> State<'a> {
        let class = |class: &[Piece]| joined(&mut class.to_vec()).collect();
        let mut classes: Vec<Vec<Piece>> = start.partition.iter().map(class).collect();
        // Of equal tuples the first is taken.
        classes.iter_mut().for_each(|class| draws.shuffle(class));
        let boxes =
            Boxes::of(penalty, start.ranges.clone(), classes.iter().map(|class| rows(class)));
        let tree = BoxTree::build(&boxes);
        State {
            problem,
            privacy: &problem.stages_in_order()[0].privacy,
            tuning: &search.tuning,
            price: search.suppression_price * penalty.most(),
            alive: classes.len(),
            classes,
            boxes,
            tree,
        }
    }

    /// Gains of less are rounding.
    pub(super) fn nothing(&self) -> f64 {
        1e-9 * self.boxes.penalty.most()
    }

    /// The loss of all rows of a class.
    pub(super) fn loss(&self, class: u32) -> f64 {
        real(self.boxes.rows(class)) * self.boxes.own(class)
    }

    /// The box of a tuple: one value on each attribute, unless it changes over the rows of a person.
    pub(super) fn row(&self, tuple: u32) -> Vec<CodeRange> {
        self.problem.ranges(&[Piece { tuple, count: 1 }])
    }

    /// True when these pieces satisfy the rules as one class.
    pub(super) fn holds<'p>(
        &self,
        tally: &mut Tally,
        pieces: impl Iterator<Item = &'p Piece> + Clone,
    ) -> bool {
        let size: u64 = pieces.clone().map(|piece| u64::from(piece.count)).sum();
        if size < self.privacy.k() {
            return false;
        }
        if !self.privacy.needs_sensitive() {
            return true;
        }
        tally.clear();
        pieces.for_each(|piece| self.problem.count_into(tally, std::slice::from_ref(piece)));
        self.privacy.holds(tally)
    }

    /// What these classes offer.
    fn offers(&self, classes: &[u32], ranks: &[u64], versions: &[u32]) -> Vec<Offer> {
        let of_class = |tally: &mut Tally, &class: &u32| {
            let of = |ratio: f64, kind: Kind| {
                let at = class as usize;
                Offer { ratio, rank: ranks[at], class, version: versions[at], kind }
            };
            let own = Step::better(ends::step(self, class, u64::MAX, tally), self.whole(class));
            let own = own.map(|step| of(step.ratio(), Kind::Own(step)));
            // At best one row is left out, and the others lose nothing where they go.
            let most = self.loss(class) - self.price;
            let is_small = self.classes[class as usize].len() <= self.tuning.dissolve_tuples;
            let dissolved = (is_small && most > self.nothing()).then(|| of(most, Kind::AtMost));
            [own, dissolved]
        };
        let offers: Vec<[Option<Offer>; 2]> =
            classes.par_iter().map_init(|| self.problem.tally(), of_class).collect();
        offers.into_iter().flatten().flatten().collect()
    }

    /// The offers of these classes to dissolve, worked out.
    fn dissolutions(&self, classes: &[u32], ranks: &[u64], versions: &[u32]) -> Vec<Offer> {
        let of_class = |tally: &mut Tally, &class: &u32| {
            let (ratio, at) = (dissolve::dissolve(self, class, tally)?.ratio(), class as usize);
            let (rank, version) = (ranks[at], versions[at]);
            Some(Offer { ratio, rank, class, version, kind: Kind::Dissolved })
        };
        let offers: Vec<Option<Offer>> =
            classes.par_iter().map_init(|| self.problem.tally(), of_class).collect();
        offers.into_iter().flatten().collect()
    }

    /// The whole class.
    fn whole(&self, class: u32) -> Option<Step> {
        let rows = self.boxes.rows(class);
        let gain = real(rows) * (self.boxes.own(class) - self.price);
        let out = (0..self.classes[class as usize].len()).collect();
        (gain > self.nothing()).then_some(Step { gain, out, rows, moves: Vec::new() })
    }

    /// The step of at most so many rows that gains most; of those of one class alone, which gain no
    /// more for each row than the first of the order.
    fn last_step(&self, most: u64, ranks: &[u64]) -> Option<(u32, Step)> {
        let of_class = |tally: &mut Tally, class: u32| {
            let whole = self.whole(class).filter(|step| step.rows <= most && self.alive > 1);
            let step = match (ends::step(self, class, most, tally), whole) {
                (Some(one), Some(other)) if one.gain >= other.gain => one,
                (one, other) => other.or(one)?,
            };
            Some((class, step))
        };
        if most == 0 {
            return None;
        }
        let steps: Vec<Option<(u32, Step)>> = (0u32..)
            .take(self.classes.len())
            .collect::<Vec<u32>>()
            .into_par_iter()
            .map_init(
                || self.problem.tally(),
                |tally, class| {
                    if self.classes[class as usize].is_empty() {
                        return None;
                    }
                    of_class(tally, class)
                },
            )
            .collect();
        steps.into_iter().flatten().max_by(|(class, step), (other, than)| {
            step.gain
                .total_cmp(&than.gain)
                .then(ranks[*class as usize].cmp(&ranks[*other as usize]))
        })
    }

    /// Takes a step; returns the classes that it changed.
    fn take(&mut self, class: u32, step: &Step, suppressed: &mut Vec<Piece>) -> Vec<u32> {
        let old = std::mem::take(&mut self.classes[class as usize]);
        let mut is_out = vec![false; old.len()];
        for &at in &step.out {
            is_out[at] = true;
            suppressed.push(old[at]);
        }
        let mut touched = vec![class];
        for &(at, to) in &step.moves {
            is_out[at] = true;
            let pieces = &mut self.classes[to as usize];
            match pieces.iter_mut().find(|there| there.tuple == old[at].tuple) {
                Some(there) => there.count += old[at].count,
                None => pieces.push(old[at]),
            }
            if !touched.contains(&to) {
                touched.push(to);
            }
        }
        let rest = (0..).zip(old).filter(|&(at, _)| !is_out[at]).map(|(_, piece)| piece);
        self.classes[class as usize] = rest.collect();
        for &class in &touched {
            let pieces = &self.classes[class as usize];
            if pieces.is_empty() {
                self.boxes.clear(class);
                self.tree.remove(class);
                self.alive -= 1;
            } else {
                self.boxes.set(class, &self.problem.ranges(pieces), rows(pieces));
                self.tree.touch(&self.boxes, class);
            }
        }
        touched
    }

    /// The classes that have rows.
    fn published(&self) -> RangedClasses {
        let mut all = RangedClasses { partition: Partition::default(), ranges: Vec::new() };
        for class in self.classes.iter().filter(|class| !class.is_empty()) {
            all.ranges.extend(self.problem.ranges(class));
            all.partition.push(class.iter().copied());
        }
        all
    }
}
