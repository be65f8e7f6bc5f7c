//! Make any partition better, as long as there is time: take a few neighbouring equivalence
//! classes, dissolve or keep them, exchange rows between them, and put back those that lose less.
//!
//! A step draws a class, with greater probability the more its rows lose, and a few classes that
//! lose little when they are joined with it or with one of its rows; these are found through a tree
//! over all classes. Their rows come into a pool (`pool`), where either new classes are made out of
//! them (`rebuild`) or the old ones stay; then rows are moved and exchanged between these until
//! nothing gets better (`polish`). For a handful of rows the best of all partitions is found
//! (`exact`). Merges and splits are rebuildings with fewer or more classes. The outcome
//! replaces the classes when it loses less, and, with a probability that falls to nothing as the
//! temperature does, when it loses a little more: so the search leaves arrangements that no single
//! step improves.
//!
//! # Guarantee
//! Every class satisfies every rule at any time, and the answer never loses more than the start.
//! Given the seed and a number of steps it is one and the same on any number of threads: steps are
//! taken in batches, all of a batch see the classes as they were before it, and classes that two of
//! them want belong to the first.
//!
//! # Complexity
//! A step takes about O(d k^2) for a few classes of k rows and d attributes, and a search in the
//! tree. O(d n) space.
//!
//! # Reference
//! Ours. Ruin and recreate is due to Schrimpf et al., Journal of Computational Physics 159 (2000),
//! accepting worse states to Kirkpatrick, Gelatt, Vecchi, Science 220 (1983).

mod exact;
mod leftover;
mod polish;
mod pool;
mod rebuild;

use rayon::prelude::*;

use crate::codes::{CodeRange, real};
use crate::domain::penalty::Penalty;
use crate::problem::partition::{Partition, Piece, joined, rows};
use crate::rng::Rng;
use crate::search::boxes::nearest::Seeker;
use crate::search::boxes::tree::BoxTree;
use crate::search::boxes::{Boxes, Objective};
use crate::search::budget::Budget;
use crate::search::ranges::total_loss;
use crate::search::task::Task;
use pool::{Member, Pool, PoolClass, RuleCheck, TupleCodes, equal, index};
use rebuild::BuildScratch;

/// Improves a partition of the task's pieces into classes that satisfy the rules, for as many steps
/// or, without a number, as long as the loss falls and the budget lasts.
pub(crate) fn refine(task: &Task, start: &Partition, steps: Option<u64>) -> Partition {
    if task.budget.is_spent() {
        return start.clone();
    }
    let penalty = Penalty::new(task.problem.attributes(), task.attributes);
    let mut search = Refinement::new(task, &penalty, start);
    let mut best = (search.loss(), search.classes.clone());
    let is_alone = start.len() == 1 && rows(start.class(0)) < 2 * task.privacy.k();
    if best.0 <= equal(&penalty) || is_alone {
        return start.clone();
    }
    let tuning = task.tuning;
    let usual = tuning.refine_least_steps.max(tuning.refine_steps * search.classes.len() as u64);
    // One long run at a high temperature ends lower than several short ones.
    let (mut planned, mut temperature) =
        (steps.unwrap_or(tuning.refine_longest * usual), tuning.refine_temperature);
    for run in 0.. {
        let before = best.0;
        search.run(
            Rng::at(task.seed, run),
            (planned, usual),
            temperature,
            &task.budget.part(1.0),
            &mut best,
        );
        if steps.is_some()
            || task.budget.is_spent()
            || best.0 > before * (1.0 - tuning.refine_worth)
        {
            break;
        }
        // The next run begins with the best, at a lower temperature.
        search.restart(&best.1);
        (planned, temperature) = (2 * planned, temperature / tuning.refine_cool_by);
    }
    search.partition(&best.1)
}

/// The classes as they are, with the index that finds neighbours among them.
struct Refinement<'a> {
    task: &'a Task<'a>,
    penalty: &'a Penalty,
    cells: TupleCodes,
    /// Empty ones are dissolved; those behind the boxes have come since the tree was built.
    classes: Vec<Vec<Piece>>,
    boxes: Boxes<'a>,
    tree: BoxTree,
    /// Places of dissolved classes.
    free: Vec<u32>,
    /// How often a class has changed since the tree was built.
    changes: usize,
}

/// The memory of one thread, used again for every step.
struct Workspace<'a> {
    rules: RuleCheck<'a>,
    pool: Pool,
    places: Vec<u32>,
    parts: Vec<PoolClass>,
    scratch: BuildScratch,
}

impl<'a> Refinement<'a> {
    fn new(task: &'a Task, penalty: &'a Penalty, start: &Partition) -> Refinement<'a> {
        let cells = TupleCodes::new(task);
        let class = |class: &[Piece]| {
            class
                .iter()
                .map(|&Piece { tuple, count }| Piece { tuple: cells.place(tuple), count })
                .collect()
        };
        let classes: Vec<Vec<Piece>> = start.iter().map(class).collect();
        let boxes = boxes(penalty, &cells, &classes);
        let tree = BoxTree::build(&boxes);
        Refinement { task, penalty, cells, classes, boxes, tree, free: Vec::new(), changes: 0 }
    }

    /// The loss of all rows.
    fn loss(&self) -> f64 {
        let known = (0..index(self.boxes.len()))
            .map(|class| (self.boxes.rows(class), self.boxes.own(class)));
        let new = self.classes[self.boxes.len()..]
            .iter()
            .map(|class| (rows(class), self.penalty.of_box(&self.cells.ranges(class))));
        total_loss(known) + total_loss(new)
    }

    fn class_loss(&self, class: u32) -> f64 {
        real(self.boxes.rows(class)) * self.boxes.own(class)
    }

    /// Begins anew with other classes of the same rows.
    fn restart(&mut self, classes: &[Vec<Piece>]) {
        self.classes = classes.to_vec();
        self.index();
    }

    /// Builds the tree over the classes that there are now.
    fn index(&mut self) {
        self.classes.retain(|class| !class.is_empty());
        self.boxes = boxes(self.penalty, &self.cells, &self.classes);
        self.tree = BoxTree::build(&self.boxes);
        self.free.clear();
        self.changes = 0;
    }

    /// Takes so many steps at a falling temperature, and keeps the best classes that were met. With
    /// `enough` steps the full temperature pays.
    fn run(
        &mut self,
        mut rng: Rng,
        (steps, enough): (u64, u64),
        temperature: f64,
        budget: &Budget,
        best: &mut (f64, Vec<Vec<Piece>>),
    ) {
        let tuning = self.task.tuning;
        let mean = best.0 / real(rows(self.task.pieces).max(1));
        let mut taken = 0;
        while taken < steps && !budget.is_spent() {
            // A run that keeps ahead of its time does not look at the clock: it is the same on
            // every machine. One that will not get through cools down by the clock, and the fewer
            // steps it can take, the lower its temperature.
            let (time, share) = (budget.share(), real(taken) / real(steps));
            let is_late = time > tuning.refine_early && share < time;
            let expected = if is_late { real(taken) / time } else { real(steps) };
            let pace = (expected / real(enough)).min(1.0);
            let share = if is_late { time } else { share };
            let cooled = (1.0 - share / tuning.refine_cooled).max(0.0);
            let may_lose = temperature * pace * mean * cooled;
            taken += self.batch(&mut rng, may_lose);
            let known = self.boxes.len();
            let is_stale =
                self.changes > known / tuning.refine_reindex_part + tuning.refine_reindex_changes;
            if is_stale || self.classes.len() > known + tuning.refine_reindex_new {
                self.index();
                self.keep(best);
            }
        }
        self.keep(best);
    }

    fn keep(&self, best: &mut (f64, Vec<Vec<Piece>>)) {
        let loss = self.loss();
        if loss < best.0 {
            *best = (loss, self.classes.clone());
            self.task.budget.report_loss(loss);
            self.task.keep(loss, || self.partition(&best.1));
        }
    }

    /// These classes in the tuples of the problem.
    fn partition(&self, classes: &[Vec<Piece>]) -> Partition {
        let mut partition = Partition::default();
        for class in classes.iter().filter(|class| !class.is_empty()) {
            let mut pieces: Vec<Piece> = class
                .iter()
                .map(|&Piece { tuple, count }| Piece { tuple: self.cells.tuple(tuple), count })
                .collect();
            partition.push(joined(&mut pieces));
        }
        partition
    }

    /// Some steps at the same time; returns their number. A step may lose `may_lose` in the mean.
    fn batch(&mut self, rng: &mut Rng, may_lose: f64) -> u64 {
        let tuning = self.task.tuning;
        let (size, most) = (tuning.refine_batch, self.penalty.most());
        let mut seeds: Vec<(u32, u64)> = Vec::with_capacity(size);
        // The first ones may all lose nothing: then any will do.
        for tries in 0..tuning.refine_most_draws * size as u64 {
            let class = index(rng.place(self.boxes.len()));
            let is_chosen = rng.unit() * most / tuning.refine_draw
                < self.boxes.own(class) + most / tuning.refine_draw_any;
            let is_any = tries > tuning.refine_draws * size as u64;
            if self.boxes.rows(class) > 0 && (is_chosen || is_any) {
                seeds.push((class, rng.next_u64()));
            }
            if seeds.len() == size {
                break;
            }
        }
        let mut chosen: Vec<Vec<u32>> =
            seeds.par_iter().map(|&(class, seed)| self.neighbours(class, seed)).collect();
        let mut taken: Vec<u32> = Vec::new();
        for classes in &mut chosen {
            // The first of them is where the step began: without it there is no step.
            let begins = classes[0];
            classes.retain(|class| !taken.contains(class) && !taken.contains(&begins));
            taken.extend_from_slice(classes);
        }
        let workspace = || Workspace {
            rules: RuleCheck::new(self.task, &self.cells),
            pool: Pool::default(),
            places: Vec::new(),
            parts: Vec::new(),
            scratch: BuildScratch::default(),
        };
        let solved: Vec<Option<Vec<NewClass>>> = chosen
            .par_iter()
            .zip(&seeds)
            .map_init(workspace, |workspace, (classes, &(_, seed))| {
                self.step(workspace, classes, Rng::at(seed, 1), may_lose)
            })
            .collect();
        for (classes, solved) in chosen.iter().zip(solved) {
            if let Some(parts) = solved {
                self.replace(classes, parts);
            }
        }
        // Those that others left no class to begin with are no steps.
        chosen.iter().filter(|classes| !classes.is_empty()).count().max(1) as u64
    }

    /// A class and a few others near to it or to one of its rows.
    fn neighbours(&self, class: u32, seed: u64) -> Vec<u32> {
        let mut rng = Rng::new(seed);
        let k = usize::try_from(self.task.privacy.k().max(1)).unwrap_or(usize::MAX);
        let tuning = self.task.tuning;
        let most = (tuning.pool_rows / k).min(tuning.pool_most).max(tuning.pool_least);
        let most = 1 + rng.place(most);
        let pieces = &self.classes[class as usize];
        let row: Vec<CodeRange>;
        let (rows, ranges) = if rng.below(2) == 0 {
            let piece = pieces[rng.place(pieces.len())];
            row = self.cells.row(piece.tuple).iter().map(|&code| CodeRange::one(code)).collect();
            (1, row.as_slice())
        } else {
            (self.boxes.rows(class), self.boxes.ranges(class))
        };
        let objective =
            if rng.unit() < tuning.refine_by_table { Objective::Table } else { Objective::Row };
        let seeker = Seeker { group: class, objective, rows, ranges, seed: rng.next_u64() };
        std::iter::once(class)
            .chain(self.tree.several(&self.boxes, &seeker, tuning.refine_noise, most))
            .collect()
    }

    /// Tries to improve some classes: the new ones, if they are to replace the old.
    fn step(
        &self,
        workspace: &mut Workspace,
        classes: &[u32],
        mut rng: Rng,
        may_lose: f64,
    ) -> Option<Vec<NewClass>> {
        #[cfg(test)]
        if self.task.seed == crate::search::task::ENDLESS {
            loop {
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
        }
        let before: f64 = classes.iter().map(|&class| self.class_loss(class)).sum();
        // One class alone can be split, if it is large enough.
        let is_small = |class: u32| self.boxes.rows(class) < 2 * workspace.rules.least;
        if before <= equal(self.penalty)
            || classes.is_empty()
            || classes.len() == 1 && is_small(classes[0])
        {
            return None;
        }
        let old = classes.iter().map(|&class| self.classes[class as usize].as_slice());
        workspace.pool.fill(&self.cells, old, &mut workspace.places);
        workspace.rules.forget();
        // Finding the neighbours takes as long as an attempt, so they are used more than once.
        let found = (0..self.task.tuning.refine_attempts).find_map(|_| {
            let made = self.attempt(workspace, classes, &mut rng)?;
            let after: f64 = workspace.parts[..made].iter().map(PoolClass::loss).sum();
            let accepted = -may_lose * (1.0 - rng.unit()).ln();
            let is_equal = (after - before).abs() < equal(self.penalty);
            (!is_equal && after <= before + accepted).then_some(made)
        });
        let Workspace { pool, parts, .. } = workspace;
        let piece = |member: &Member| Piece {
            tuple: pool.pieces[member.at as usize].tuple,
            count: member.count,
        };
        let class = |part: &PoolClass| NewClass {
            pieces: part.members.iter().map(piece).collect(),
            ranges: (0..pool.width()).map(|at| part.range(at)).collect(),
            rows: part.rows,
        };
        Some(parts[..found?].iter().map(class).collect())
    }

    /// Makes classes of the rows in the pool, which are those of these classes; returns their
    /// number, or none when some rows fit nowhere.
    fn attempt(&self, workspace: &mut Workspace, classes: &[u32], rng: &mut Rng) -> Option<usize> {
        let tuning = self.task.tuning;
        let Workspace { rules, pool, places, parts, scratch } = workspace;
        let in_pool = rows(&pool.pieces);
        let exact_share = if in_pool + 2 <= tuning.exact_rows { 1.0 } else { tuning.exact_share };
        if in_pool <= tuning.exact_rows && rng.unit() < exact_share {
            return Some(exact::exact(self.penalty, rules, pool, parts));
        }
        let made = if rng.unit() < tuning.refine_keep {
            parts.resize(parts.len().max(classes.len()), PoolClass::default());
            let mut next = places.iter();
            for (part, &class) in parts.iter_mut().zip(classes) {
                let members = self.classes[class as usize]
                    .iter()
                    .zip(&mut next)
                    .map(|(piece, &at)| Member { at, count: piece.count });
                part.set(self.penalty, pool, members);
            }
            classes.len()
        } else {
            rebuild::rebuild(self.penalty, rules, pool, rng, scratch, parts)?
        };
        polish::polish(self.penalty, rules, pool, &mut parts[..made]);
        Some(made)
    }

    /// Puts new classes in the place of old ones.
    fn replace(&mut self, old: &[u32], new: Vec<NewClass>) {
        let (kept, dissolved) = old.split_at(old.len().min(new.len()));
        let mut new = new.into_iter();
        for (&class, made) in kept.iter().zip(&mut new) {
            self.put(class, made);
            self.tree.touch(&self.boxes, class);
        }
        for &class in dissolved {
            self.boxes.clear(class);
            self.tree.remove(class);
            self.classes[class as usize].clear();
            self.free.push(class);
            self.changes += 1;
        }
        for made in new {
            let Some(class) = self.free.pop() else {
                self.classes.push(made.pieces);
                continue;
            };
            self.put(class, made);
            self.tree.revive(&self.boxes, class);
        }
    }

    fn put(&mut self, class: u32, made: NewClass) {
        self.boxes.set(class, &made.ranges, made.rows);
        self.classes[class as usize] = made.pieces;
        self.changes += 1;
    }
}

/// A class that comes out of a pool.
struct NewClass {
    pieces: Vec<Piece>,
    ranges: Vec<CodeRange>,
    rows: u64,
}

fn boxes<'a>(penalty: &'a Penalty, cells: &TupleCodes, classes: &[Vec<Piece>]) -> Boxes<'a> {
    let ranges = classes.par_iter().flat_map_iter(|class| cells.ranges(class)).collect();
    Boxes::of(penalty, ranges, classes.iter().map(|class| rows(class)))
}
