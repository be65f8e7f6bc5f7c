//! How little any partition can cost that is at least as coarse as one and at most as coarse as
//! another.
//!
//! A row whose class is too small even in the coarsest partition is left out whatever is chosen,
//! and costs the full price. Any other costs at least what it does in the finest one: prices never
//! fall as blocks grow, and for DM a class has at least as many rows as the rules ask for. What the
//! rows must pay beyond that, because their classes do not hold yet, is reckoned in `charge.rs`.

use std::sync::Arc;

use super::charge::{self, Charge};
use super::reach::{Gains, Runs};
use super::{Branching, Techniques};
use crate::codes::real;
use crate::domain::scheme::{State, Verdict};
use crate::search::global::{ClassTable, Classes, Parts, Scratch, Space, Value};

/// A state of the choices, looked at from both sides.
#[derive(Debug)]
pub(super) struct Look {
    /// The classes of the finest partition.
    pub(super) table: Arc<ClassTable>,
    pub(super) fine: Parts,
    pub(super) coarse: Parts,
    pub(super) prices: Vec<Vec<f64>>,
    /// By entry.
    pub(super) entries: Vec<Entry>,
    /// The bound without the charge.
    plain: f64,
    pub(super) bound: f64,
    charges: Vec<Charge>,
    /// By attribute, how much the plain bound rises when a choice is kept apart, and the one with
    /// the charge.
    gains: Vec<[Gains; 2]>,
    /// What the finest and the coarsest partition cost.
    pub(super) finest: Value,
    pub(super) coarsest: Value,
}

/// What is known of an entry of the table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// The least that it costs, beside the charge.
    pub(super) price: f64,
    /// What it costs in the coarsest partition, if it is not left out: the most that it can be made
    /// to pay.
    pub(super) most: f64,
    /// Its class holds in the finest partition.
    pub(super) holds: bool,
    /// It is left out in every partition.
    pub(super) is_lost: bool,
    /// The attributes on which its block must be joined, or it is left out; a bit each.
    pub(super) must: u64,
    /// The attributes that it may be charged for, and how much for each: together that is what
    /// leaving it out costs.
    pub(super) charged: u64,
    pub(super) share: f64,
}

impl Look {
    pub(super) fn at(
        space: &Space,
        techniques: &Techniques,
        table: &ClassTable,
        state: &State,
        best: f64,
        scratch: &mut Scratch,
    ) -> Look {
        let width = space.shapes.len();
        let (fine, coarse) =
            (space.choices.all_blocks(state, false), space.choices.all_blocks(state, true));
        let table = table.rolled_up(&fine, scratch);
        let prices = space.prices(&fine);
        let (mut small, mut large) = (Classes::default(), Classes::default());
        table.classify_all(&fine, scratch, &mut small);
        table.classify(&coarse, scratch, &mut large);
        let holds = space.holding(&table, &small);
        let finest = space.value_of(&table, &prices, &small, &holds);
        let dearest = space.prices(&coarse);
        let coarsest = space.value_of(&table, &dearest, &large, &space.holding(&table, &large));

        let entry = |at: usize| {
            let size = small.sizes[small.of[at] as usize];
            let priced = |prices: &[Vec<f64>]| {
                space.costing.of_entry(
                    prices,
                    table.atoms_of(at),
                    table.rows[at],
                    table.sums_of(at),
                )
            };
            let least = f64::from(table.rows[at]) * real(size.max(space.least_rows));
            let is_separable = space.costing.is_separable();
            Entry {
                price: if is_separable { priced(&prices) } else { least },
                most: if is_separable { priced(&dearest) } else { least },
                holds: holds[small.of[at] as usize],
                is_lost: techniques.both_sides
                    && large.sizes[large.of[at] as usize] < space.least_rows,
                must: 0,
                charged: 0,
                share: 0.0,
            }
        };
        let entries = (0..table.len()).map(entry).collect();
        let (charges, gains) = (Vec::new(), Vec::new());
        let table = Arc::new(table);
        let mut look = Look {
            table,
            fine,
            coarse,
            prices,
            entries,
            plain: 0.0,
            bound: 0.0,
            charges,
            gains,
            finest,
            coarsest,
        };
        let runs: Vec<Runs> = (0..width).map(|at| Runs::new(&look, at, &large)).collect();
        for (at, runs) in runs.iter().enumerate() {
            runs.mark(space, techniques, state, &mut look, at);
        }
        let lost_rows = look.add_up(space);
        let cannot = lost_rows > space.allowance
            || (!space.is_by_size() && space.allowance == 0 && coarsest.left_out > 0);
        if cannot {
            (look.plain, look.bound) = (f64::INFINITY, f64::INFINITY);
        }
        if super::is_no_better(look.bound, best.min(finest.cost).min(coarsest.cost)) {
            return look;
        }
        look.charges = (0..width)
            .map(|at| charge::charge(space, techniques, state, &look, at, &runs[at]))
            .collect();
        look.bound += look.charges.iter().map(Charge::sum).sum::<f64>();
        if techniques.useful || techniques.branching == Branching::Halves {
            let left = space.allowance - lost_rows;
            look.gains = runs
                .iter()
                .enumerate()
                .map(|(at, runs)| runs.gains(space, state, &look, at, left))
                .collect();
        }
        look
    }

    /// Sums up the plain bound, shares out what leaving rows out costs, and counts the rows that
    /// are lost.
    fn add_up(&mut self, space: &Space) -> u64 {
        let mut lost_rows = 0;
        self.plain = space.mandatory;
        let all = u64::MAX >> 64usize.saturating_sub(space.shapes.len());
        for (entry, &rows) in self.entries.iter_mut().zip(&self.table.rows) {
            let full = f64::from(rows) * space.costing.full;
            lost_rows += u64::from(if entry.is_lost { rows } else { 0 });
            self.plain += if entry.is_lost { full } else { entry.price };
            // With sensitive rules a class that holds may yet be left out, with others that do not.
            if entry.is_lost || (entry.holds && (space.is_by_size() || space.allowance == 0)) {
                continue;
            }
            if space.allowance == 0 {
                // Where nothing may be left out a share only says that there are rows.
                (entry.charged, entry.share) = (entry.must, f64::from(rows));
            } else {
                entry.charged = if entry.must == 0 { all } else { entry.must };
                entry.share = (full - entry.price) / f64::from(entry.charged.count_ones());
            }
        }
        self.bound = self.plain;
        lost_rows
    }

    /// How much keeping a choice apart may raise the bound: no bound, since what is charged may be
    /// counted twice, but better to choose by.
    pub(super) fn guess(&self, space: &Space, choice: u32) -> f64 {
        let at = space.choices.attribute(choice);
        let block = |atom: u32| self.fine[at][atom as usize];
        let gain = |&(one, other): &(u32, u32)| self.gains[at][0].of(block(one), block(other));
        space.choices.links(choice).iter().map(gain).fold(0.0, f64::max)
    }

    /// A bound for when this choice too is made.
    pub(super) fn probe(&self, space: &Space, state: &State, choice: u32, verdict: Verdict) -> f64 {
        let at = space.choices.attribute(choice);
        let links = space
            .choices
            .links(choice)
            .iter()
            .map(|&(one, other)| (self.fine[at][one as usize], self.fine[at][other as usize]));
        let links = links.filter(|(one, other)| one != other);
        match verdict {
            Verdict::Joined => {
                let mut next = state.clone();
                if !space.choices.settle(&mut next, choice, verdict) {
                    return f64::INFINITY;
                }
                let blocks = space.choices.blocks(&next, at, false);
                let charged = links
                    .map(|(one, other)| self.charges[at].joined(one, other))
                    .fold(0.0, f64::max);
                (self.bound + charged)
                    .max(self.plain + self.charges[at].rise(space, self, at, &blocks))
            }
            Verdict::Apart => {
                let mut bound = self.bound;
                for (one, other) in links {
                    let [plain, charged] = &self.gains[at];
                    bound = bound.max(self.plain + plain.of(one, other));
                    bound = bound.max(
                        self.bound + charged.of(one, other).max(self.charges[at].apart(one, other)),
                    );
                }
                bound
            }
        }
    }
}
