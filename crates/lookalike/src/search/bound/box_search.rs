//! Branch and bound over the boxes around one group of equal rows, for the box that loses least.
//!
//! Seen from a group, an attribute is a chain of ever wider ranges around its value, each with its
//! loss: the value itself, the nodes above it, everything. A line is two chains, one a side, whose
//! losses add up. A box is a place on every chain (its floors), and another row is inside when on
//! each chain the first range that contains it loses no more than the floor. So the search knows
//! only the losses of other rows on each chain, and never looks at codes.
//!
//! A step of the search has floors and a list of candidates. Its goal removes those that no better
//! box contains; where fewer than k rows remain the step is over. Where fewer than k rows lie
//! within a floor, the floor rises. Else one chain is decided: either the box stays below a bar on
//! it, and candidates above leave, or its floor rises to the bar. When only lines are open, and no
//! more than two, a search over rectangles settles the rest.
//!
//! # Complexity
//! Exponential in the number of attributes in the worst case; every look at a candidate counts as
//! a step, and a search gives up when its patience, a number of steps, is spent.

use super::candidates::{CandidateDecision, Candidates, ChainCounts};
use super::least_box::LeastLoss;

/// A search over boxes, with buffers that the next search uses again.
#[derive(Debug, Default)]
pub(super) struct BoxSearch {
    pub(super) candidates: Candidates,
    /// The floors of the best box; empty when none was found.
    pub(super) best: Vec<f64>,
    pub(super) steps: u64,
    /// The search gives up after this many steps.
    pub(super) patience: u64,
    /// No box in the parts that were given up has a lesser value.
    pub(super) given_up: f64,
}

/// The state of a step after its goal removed candidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pruned {
    /// No better box is left.
    Over,
    /// The patience is spent.
    GivenUp,
    /// A chain is to be decided.
    Open,
}

impl BoxSearch {
    /// Prepares for the next search; candidates and list stay.
    pub(super) fn restart(&mut self) {
        self.best.clear();
        self.given_up = f64::INFINITY;
    }

    /// Looks for better boxes that have at least these floors, among the candidates of the list
    /// from `start` on, which have `total` rows.
    pub(super) fn step(
        &mut self,
        goal: &mut LeastLoss,
        start: usize,
        mut floors: Vec<f64>,
        mut total: u64,
    ) {
        let k = goal.k;
        let mut counts = ChainCounts::default();
        while total >= k {
            match goal.prune(self, start, &floors, &mut total) {
                Pruned::Over => return,
                Pruned::GivenUp => return self.give_up(goal, start, &floors),
                Pruned::Open => {}
            }
            self.candidates.count(start, &floors, &mut counts);
            if goal.raise(&self.candidates, start, &counts, &mut floors) {
                continue;
            }
            let (chain, bar) = match self.candidates.decide(start, &floors, &counts, total) {
                CandidateDecision::Rise { chain, bar } => (chain, bar),
                CandidateDecision::Settle(lines) => {
                    return self.settle(goal, start, &floors, &lines);
                }
            };
            let from = self.candidates.list.len();
            let rows = self.candidates.list_below(start, chain, bar);
            if rows >= k {
                self.step(goal, from, floors.clone(), rows);
            }
            self.candidates.list.truncate(from);
            floors[chain] = bar;
        }
    }

    /// Counts looks at the candidates of the list from `start` on; false when the patience is
    /// spent.
    pub(super) fn has_patience(&mut self, start: usize) -> bool {
        self.steps += (self.candidates.list.len() - start) as u64;
        self.steps <= self.patience
    }

    /// Gives up a step: its boxes are known by a lower bound alone.
    fn give_up(&mut self, goal: &mut LeastLoss, start: usize, floors: &[f64]) {
        let least = goal.lower_bound(&self.candidates, start, floors);
        self.given_up = self.given_up.min(least);
    }

    /// Finds the best box of a step in which only these lines, one or two, are open.
    fn settle(&mut self, goal: &mut LeastLoss, start: usize, floors: &[f64], lines: &[usize]) {
        let patience = self.patience.saturating_sub(self.steps);
        let found = goal.best_rectangle(&self.candidates, start, floors, lines, patience);
        self.steps += found.steps;
        if found.is_cut {
            self.give_up(goal, start, floors);
        }
        if let Some(sides) = found.sides {
            self.candidates.chains.set_rectangle(&mut self.best, floors, lines, sides);
        }
    }
}
