//! Take out dense regions, from fine to coarse: the rows left at each degree of coarseness are
//! those that could not be published finer.
//!
//! A *pattern* says for each attribute how coarsely it is looked at: a value itself, a node so high
//! in its hierarchy, a window so wide on its line, or anything. Patterns come in the order of the
//! mean loss of a row under them. Under each, the tuples still there are grouped by their published
//! values; every group that satisfies the rules becomes a class, whose ranges are then no wider
//! than its rows need, and is taken out. So outliers end in coarse classes with other outliers, and
//! widen no dense class. Tuples that no pattern takes join the class where they add least loss.
//! When time runs short the patterns end, and the rest is solved cell by cell.
//!
//! With few attributes all patterns are listed. With many there are too many: then patterns are
//! drawn at random from the tuples still there, each such that some tuple and its nearest
//! neighbours are one group.
//!
//! # Guarantee
//! Every class satisfies every rule.
//!
//! # Complexity
//! O(p n) for p patterns and n tuples at worst; a pattern only looks at tuples whose group would be
//! large enough if the lines were left out, mostly few. O(n) space for each choice of levels
//! without the lines.
//!
//! # Reference
//! Ours.

mod levels;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::cells;
use crate::codes::{Code, CodeRange, real};
use crate::domain::penalty::Penalty;
use crate::problem::partition::{Partition, Piece, joined, rows};
use crate::rng::Rng;
use crate::search::boxes::nearest::Seeker;
use crate::search::boxes::split;
use crate::search::boxes::tree::BoxTree;
use crate::search::boxes::{Boxes, Objective};
use crate::search::grouping::{GroupTable, hash};
use crate::search::task::Task;
use levels::{AttributeLevel, levels};

pub(crate) fn peel(task: &Task) -> Partition {
    let penalty = Penalty::new(task.problem.attributes(), task.attributes);
    let mut pieces = task.pieces.to_vec();
    let sets = split::shuffled(task.problem, task.attributes, &mut pieces, task.seed);
    let time = task.budget.part(task.tuning.peel_patterns_share);
    let patterns = Task { budget: &time, ..*task };
    let mut peeler = Peeler::new(&patterns, &penalty, &sets);
    match peeler.listed() {
        Some(patterns) => {
            for pattern in patterns {
                if peeler.alive_count == 0 || time.is_spent() {
                    break;
                }
                peeler.take(&pattern);
            }
        }
        None => peeler.draw(),
    }
    let left: Vec<Piece> = peeler.alive().flat_map(|set| sets[set as usize]).copied().collect();
    let mut tally = task.problem.tally();
    if !time.is_spent() || left.is_empty() || !task.holds(&mut tally, &left) {
        return peeler.end();
    }
    let mut partition = Partition::default();
    peeler.classes.into_iter().for_each(|mut class| partition.push(joined(&mut class)));
    partition.append(cells::in_cells(&Task { pieces: &left, ..*task }, &penalty));
    partition
}

/// Sets with the group that each is in under the levels of some attributes, and how many sets were
/// alive then.
#[derive(Default)]
struct HeadGroups {
    alive: usize,
    sets: Vec<(u32, u32)>,
}

/// The attributes with few levels, or the others, which are grouped within the groups of the first.
#[derive(Clone, Copy)]
enum Attributes {
    First,
    Second,
}

/// Sets of equal rows, and the classes made of some of them.
struct Peeler<'a> {
    task: &'a Task<'a>,
    penalty: &'a Penalty,
    sets: &'a [&'a [Piece]],
    /// The codes of each set, side by side.
    cells: Vec<Code>,
    rows: Vec<u64>,
    is_alive: Vec<bool>,
    alive_count: usize,
    levels: Vec<Vec<AttributeLevel>>,
    /// Attributes with few levels first; the others are looked at within the groups of these.
    first: Vec<usize>,
    second: Vec<usize>,
    /// For levels of the first attributes: sets whose group is large enough.
    kept: FxHashMap<Vec<u8>, HeadGroups>,
    /// From the group before and the levels' number to the group.
    groups: GroupTable<(u64, u32)>,
    classes: Vec<Vec<Piece>>,
    /// Least class size in rows.
    least: u64,
}

impl<'a> Peeler<'a> {
    fn new(task: &'a Task, penalty: &'a Penalty, sets: &'a [&'a [Piece]]) -> Peeler<'a> {
        let width = task.attributes.len();
        let codes = |set: &&[Piece]| {
            task.attributes
                .iter()
                .map(|&at| task.problem.code(at, set[0].tuple))
                .collect::<Vec<Code>>()
        };
        let cells: Vec<Code> = sets.iter().flat_map(codes).collect();
        let sizes: Vec<u64> = sets.iter().map(|set| rows(set)).collect();
        let levels: Vec<Vec<AttributeLevel>> = (0..width)
            .map(|at| {
                let codes = cells.iter().skip(at).step_by(width).copied();
                levels(
                    task.tuning,
                    penalty,
                    at,
                    task.problem.attributes()[task.attributes[at]].codes(),
                    codes.zip(sizes.iter().copied()),
                )
            })
            .collect();
        let mut order: Vec<usize> = (0..width).collect();
        order.sort_by_key(|&at| (levels[at].len(), at));
        let all: f64 = levels.iter().map(|levels| real(levels.len() as u64).ln()).sum();
        let mut half = 0.0;
        let (first, second) = order.into_iter().partition(|&at| {
            half += real(levels[at].len() as u64).ln();
            half <= all * task.tuning.peel_first_share
        });
        Peeler {
            task,
            penalty,
            sets,
            cells,
            rows: sizes,
            is_alive: vec![true; sets.len()],
            alive_count: sets.len(),
            levels,
            first,
            second,
            kept: FxHashMap::default(),
            groups: GroupTable::default(),
            classes: Vec::new(),
            least: task.privacy.k().max(task.privacy.least_rows()),
        }
    }

    fn row(&self, set: u32) -> &[Code] {
        let width = self.penalty.width();
        &self.cells[set as usize * width..][..width]
    }

    /// The sets that no class has.
    fn alive(&self) -> impl Iterator<Item = u32> {
        (0u32..).zip(&self.is_alive).filter(|&(_, &alive)| alive).map(|(set, _)| set)
    }

    /// The mean loss of a row under a pattern.
    fn mean_loss(&self, pattern: &[u8]) -> f64 {
        pattern
            .iter()
            .zip(&self.levels)
            .map(|(&level, levels)| levels[usize::from(level)].loss)
            .sum()
    }

    /// All patterns in order, unless they are too many.
    fn listed(&self) -> Option<Vec<Vec<u8>>> {
        let mut patterns: Vec<Vec<u8>> = vec![Vec::new()];
        for levels in &self.levels {
            if patterns.len() * levels.len() > self.task.tuning.peel_listed {
                return None;
            }
            let longer = |pattern: &Vec<u8>| {
                let pattern = pattern.clone();
                (0u8..).take(levels.len()).map(move |level| [pattern.as_slice(), &[level]].concat())
            };
            patterns = patterns.iter().flat_map(longer).collect();
        }
        self.sort(&mut patterns);
        Some(patterns)
    }

    /// Puts patterns in the order of their mean loss, each once.
    fn sort(&self, patterns: &mut Vec<Vec<u8>>) {
        let mut with_loss: Vec<(f64, Vec<u8>)> =
            patterns.drain(..).map(|pattern| (self.mean_loss(&pattern), pattern)).collect();
        with_loss.sort_by(|(one, pattern), (other, with)| {
            one.total_cmp(other).then_with(|| pattern.cmp(with))
        });
        patterns.extend(with_loss.into_iter().map(|(_, pattern)| pattern));
        patterns.dedup();
    }

    /// Rounds of patterns drawn from the tuples still there.
    fn draw(&mut self) {
        for round in 0.. {
            let alive: Vec<u32> = self.alive().collect();
            if alive.is_empty() || self.task.budget.is_spent() {
                return;
            }
            let mut rng = Rng::at(self.task.seed, 1 + round);
            let mut sample = alive.clone();
            rng.shuffle(&mut sample);
            sample.truncate(self.task.tuning.peel_sample);
            let drawn = &sample[..sample.len().min(self.task.tuning.peel_drawn)];
            let mut patterns: Vec<Vec<u8>> =
                drawn.par_iter().map(|&set| self.around(set, &sample, alive.len())).collect();
            self.sort(&mut patterns);
            self.kept.clear();
            for pattern in patterns {
                if self.task.budget.is_spent() {
                    return;
                }
                self.take(&pattern);
            }
            let worth = self.task.tuning.peel_worth * real(alive.len() as u64);
            if real((alive.len() - self.alive_count) as u64) < worth {
                return;
            }
        }
    }

    /// The finest pattern under which a set is one group with its nearest in a sample, as many as
    /// make a class in all that are there.
    fn around(&self, set: u32, sample: &[u32], alive: usize) -> Vec<u8> {
        let here: Vec<CodeRange> = self.row(set).iter().map(|&code| CodeRange::one(code)).collect();
        // So many rows of the sample stand for a class.
        let wanted = real(self.least) * real(sample.len() as u64) / real(alive.max(1) as u64);
        let wanted = wanted.max(real(self.rows[set as usize] + 1));
        let (mut ranges, mut found) = (here.clone(), 0);
        for (_, other) in self.nearest(&here, sample, wanted) {
            if real(found) >= wanted {
                break;
            }
            found += self.rows[other as usize];
            ranges
                .iter_mut()
                .zip(self.row(other))
                .for_each(|(range, &code)| *range = range.join(CodeRange::one(code)));
        }
        let level = |(range, levels): (&CodeRange, &Vec<AttributeLevel>)| {
            let is_one = |level: &AttributeLevel| {
                level.groups[range.lo as usize] == level.groups[range.hi as usize]
            };
            u8::try_from(levels.iter().position(is_one).expect("the last level is anything"))
                .expect("there are few levels")
        };
        ranges.iter().zip(&self.levels).map(level).collect()
    }

    /// The nearest sets of a sample by the loss of a row in a box with them, as many as have the
    /// wanted rows if each has one, the nearest first.
    fn nearest(&self, here: &[CodeRange], sample: &[u32], wanted: f64) -> Vec<(f64, u32)> {
        let is_before = |one: &(f64, u32), other: &(f64, u32)| {
            one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)).is_lt()
        };
        let mut near: Vec<(f64, u32)> = Vec::new();
        for &other in sample {
            let is_full = real(near.len() as u64) >= wanted;
            let limit = near.last().filter(|_| is_full).map_or(f64::INFINITY, |last| last.0);
            let mut loss = 0.0;
            for (at, (range, &code)) in here.iter().zip(self.row(other)).enumerate() {
                loss += self.penalty.of(at, range.join(CodeRange::one(code)));
                if loss > limit {
                    break;
                }
            }
            let found = (loss, other);
            if is_full && !near.last().is_some_and(|last| is_before(&found, last)) {
                continue;
            }
            if is_full {
                near.pop();
            }
            near.insert(near.partition_point(|before| is_before(before, &found)), found);
        }
        near
    }

    /// Takes out every group under a pattern that satisfies the rules.
    fn take(&mut self, pattern: &[u8]) {
        let head: Vec<u8> = self.first.iter().map(|&at| pattern[at]).collect();
        let mut kept = self.kept.remove(&head).unwrap_or_default();
        if kept.alive > self.task.tuning.peel_regroup * self.alive_count || kept.alive == 0 {
            kept = HeadGroups {
                alive: self.alive_count,
                sets: self.alive().map(|set| (set, 0)).collect(),
            };
            let (groups, sizes) = self.group(&kept.sets, Attributes::First, pattern);
            kept.sets.iter_mut().zip(&groups).for_each(|(set, &group)| set.1 = group);
            kept.sets.retain(|&(_, group)| sizes[group as usize] >= self.least);
        } else {
            kept.sets.retain(|&(set, _)| self.is_alive[set as usize]);
        }
        let (groups, sizes) = self.group(&kept.sets, Attributes::Second, pattern);
        self.take_groups(&kept.sets, &groups, &sizes);
        self.kept.insert(head, kept);
    }

    /// Makes classes of the groups that satisfy the rules.
    fn take_groups(&mut self, kept: &[(u32, u32)], groups: &[u32], sizes: &[u64]) {
        if sizes.iter().all(|&size| size < self.least) {
            return;
        }
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); sizes.len()];
        for (&(set, _), &group) in kept.iter().zip(groups) {
            if sizes[group as usize] >= self.least {
                members[group as usize].push(set);
            }
        }
        let mut tally = self.task.problem.tally();
        for sets in members.into_iter().filter(|sets| !sets.is_empty()) {
            let class: Vec<Piece> =
                sets.iter().flat_map(|&set| self.sets[set as usize]).copied().collect();
            if self.task.holds(&mut tally, &class) {
                self.alive_count -= sets.len();
                sets.iter().for_each(|&set| self.is_alive[set as usize] = false);
                self.classes.push(class);
            }
        }
    }

    /// Groups sets that are in one group already and are equal on some attributes under a pattern:
    /// the group of each set, and the rows of each group.
    fn group(
        &mut self,
        sets: &[(u32, u32)],
        attributes: Attributes,
        pattern: &[u8],
    ) -> (Vec<u32>, Vec<u64>) {
        let attributes = match attributes {
            Attributes::First => &self.first,
            Attributes::Second => &self.second,
        };
        let levels: Vec<(usize, &AttributeLevel)> =
            attributes.iter().map(|&at| (at, &self.levels[at][usize::from(pattern[at])])).collect();
        let width = self.penalty.width();
        let mut sizes: Vec<u64> = Vec::new();
        let mut groups = Vec::with_capacity(sets.len());
        self.groups.clear(sets.len());
        for &(set, before) in sets {
            let row = &self.cells[set as usize * width..][..width];
            // Two keys may happen to be equal only if there are very many groups: a class is none
            // the less what it is.
            let add = |key: u64, &(at, level): &(usize, &AttributeLevel)| {
                key.wrapping_mul(level.count)
                    .wrapping_add(u64::from(level.groups[row[at] as usize]))
            };
            let key = levels.iter().fold(0, add);
            let group = self.groups.group((key, before), hash(key ^ u64::from(before) << 32));
            if group as usize == sizes.len() {
                sizes.push(0);
            }
            sizes[group as usize] += self.rows[set as usize];
            groups.push(group);
        }
        (groups, sizes)
    }

    /// The sets that no pattern took join the class where they add least loss.
    fn end(mut self) -> Partition {
        let mut left: Vec<Piece> = Vec::new();
        let alive: Vec<u32> = self.alive().collect();
        let ranges = self.classes.iter().flat_map(|class| self.task.ranges(class)).collect();
        let mut boxes =
            Boxes::of(self.penalty, ranges, self.classes.iter().map(|class| rows(class)));
        let mut tree = BoxTree::build(&boxes);
        let mut tally = self.task.problem.tally();
        for set in alive {
            let ranges: Vec<CodeRange> =
                self.row(set).iter().map(|&code| CodeRange::one(code)).collect();
            let seeker = Seeker {
                group: u32::MAX,
                objective: Objective::Table,
                rows: self.rows[set as usize],
                ranges: &ranges,
                seed: 0,
            };
            let pieces = self.sets[set as usize];
            let found = if self.task.budget.is_spent() {
                Vec::new()
            } else {
                tree.several(&boxes, &seeker, 0.0, 1)
            };
            let taker = found.first().filter(|&&class| {
                let pieces = [self.classes[class as usize].as_slice(), pieces].concat();
                self.task.holds(&mut tally, &pieces)
            });
            let Some(&class) = taker else {
                left.extend_from_slice(pieces);
                continue;
            };
            self.classes[class as usize].extend_from_slice(pieces);
            let joined: Vec<CodeRange> = boxes
                .ranges(class)
                .iter()
                .zip(&ranges)
                .map(|(one, &other)| one.join(other))
                .collect();
            boxes.set(class, &joined, boxes.rows(class) + self.rows[set as usize]);
            tree.touch(&boxes, class);
        }
        let holding =
            self.classes.into_iter().map(|mut class| joined(&mut class).collect()).collect();
        self.task.sweep(holding, left)
    }
}
