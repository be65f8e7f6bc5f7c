//! How many rows a class can come to, as far as one attribute has a say, all others being as coarse
//! as they can be.
//!
//! One pass over the entries of a table, sorted by the coarsest classes and in each by the blocks
//! of one attribute, answers for all choices about this attribute at once which rows would be lost
//! if it were kept apart.

use super::Techniques;
use super::bound::{Entry, Look};
use crate::codes::real;
use crate::domain::scheme::State;
use crate::search::global::{Classes, Space, sorted};

/// The entries by coarsest class, and in each by their block of one attribute.
#[derive(Debug)]
pub(super) struct Runs {
    order: Vec<u32>,
    parts: Vec<Part>,
    /// Where the parts of each class begin, and where the last ones end.
    starts: Vec<u32>,
}

/// Entries of one class that have one block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) block: u32,
    pub(super) rows: u64,
    /// Where its entries begin and end.
    from: u32,
    to: u32,
}

/// By how much a bound rises when blocks are kept apart.
#[derive(Debug)]
pub(super) enum Gains {
    /// When all blocks below a place are kept from those at and above it, by the place.
    Places(Vec<f64>),
    /// When one block is kept from another: block by block.
    Pairs(usize, Vec<f64>),
}

impl Gains {
    pub(super) fn of(&self, one: u32, other: u32) -> f64 {
        match self {
            Gains::Places(gains) => gains[one.max(other) as usize],
            Gains::Pairs(width, gains) => {
                gains[one as usize * width + other as usize]
                    + gains[other as usize * width + one as usize]
            }
        }
    }
}

impl Runs {
    pub(super) fn new(look: &Look, at: usize, large: &Classes) -> Runs {
        let (table, fine) = (&look.table, &look.fine[at]);
        let block = |entry: usize| fine[table.atoms_of(entry)[at] as usize];
        // By block first, then by class: each pass keeps the order of the one before.
        let by_block = sorted(0..table.len(), |entry| block(entry) as usize, fine.len());
        let order = sorted(
            by_block.iter().map(|&entry| entry as usize),
            |entry| large.of[entry] as usize,
            large.sizes.len(),
        );
        let mut runs = Runs {
            order,
            parts: Vec::with_capacity(table.len()),
            starts: Vec::with_capacity(large.sizes.len() + 1),
        };
        let mut last = (u32::MAX, u32::MAX);
        for (place, &entry) in (0..).zip(&runs.order) {
            let here = (large.of[entry as usize], block(entry as usize));
            if here.0 != last.0 {
                runs.starts.push(u32::try_from(runs.parts.len()).expect("fewer parts than rows"));
            }
            if here != last {
                runs.parts.push(Part { block: here.1, rows: 0, from: place, to: place });
                last = here;
            }
            let part = runs.parts.last_mut().expect("one was pushed");
            part.rows += u64::from(table.rows[entry as usize]);
            part.to = place + 1;
        }
        runs.starts.push(u32::try_from(runs.parts.len()).expect("fewer parts than rows"));
        runs
    }

    /// The parts of each coarsest class, by block.
    pub(super) fn classes(&self) -> impl Iterator<Item = &[Part]> {
        self.starts.windows(2).map(|pair| &self.parts[pair[0] as usize..pair[1] as usize])
    }

    /// The entries of a part.
    pub(super) fn entries(&self, part: &Part) -> impl Iterator<Item = usize> + '_ {
        self.order[part.from as usize..part.to as usize].iter().map(|&entry| entry as usize)
    }

    /// Notes which entries stay too small as long as their block is not joined, and in the schemes
    /// of sets, where a block may be joined only with some of its coarsest class, which are lost.
    pub(super) fn mark(
        &self,
        space: &Space,
        techniques: &Techniques,
        state: &State,
        look: &mut Look,
        at: usize,
    ) {
        let is_of_sets = space.choices.is_of_sets(at);
        for class in self.classes() {
            for part in class {
                let must = part.rows < space.least_rows && at < 64;
                let is_lost = is_of_sets
                    && techniques.both_sides
                    && within(space, state, at, class, part) < space.least_rows;
                if must || is_lost {
                    for entry in self.entries(part) {
                        look.entries[entry].must |= u64::from(must) << (at % 64);
                        look.entries[entry].is_lost |= is_lost;
                    }
                }
            }
        }
    }

    /// What every choice gains when it is kept apart, over the plain prices and over the charged
    /// ones: infinity when more rows would be lost than are left.
    pub(super) fn gains(
        &self,
        space: &Space,
        state: &State,
        look: &Look,
        at: usize,
        left: u64,
    ) -> [Gains; 2] {
        // What a part would cost more if it were left out, over the plain price and over the
        // charge, and its rows.
        let gain = |part: &Part| -> [f64; 3] {
            let mut sum = [0.0; 3];
            for entry in self.entries(part) {
                let Entry { price, most, is_lost, must, charged, .. } = look.entries[entry];
                let rows = f64::from(look.table.rows[entry]);
                if !is_lost {
                    let more = rows * space.costing.full - price;
                    let charged = match () {
                        () if charged == 0 => more,
                        () if must == 0 => (rows * space.costing.full - most).max(0.0),
                        () => 0.0,
                    };
                    sum = [sum[0] + more, sum[1] + charged, sum[2] + rows];
                }
            }
            sum
        };
        let atoms = look.fine[at].len();
        let mut sums =
            vec![[0.0; 3]; if space.choices.is_of_sets(at) { atoms * atoms } else { atoms + 2 }];
        let add = |to: &mut [f64; 3], more: [f64; 3], sign: f64| {
            to.iter_mut().zip(more).for_each(|(to, more)| *to += sign * more)
        };
        if space.choices.is_of_sets(at) {
            for class in self.classes() {
                for part in class {
                    let reach = within(space, state, at, class, part);
                    for mate in class.iter().filter(|mate| {
                        mate.block != part.block && reach - mate.rows.min(reach) < space.least_rows
                    }) {
                        if space.choices.may_join(
                            state,
                            at,
                            part.block as usize,
                            mate.block as usize,
                        ) {
                            add(
                                &mut sums[part.block as usize * atoms + mate.block as usize],
                                gain(part),
                                1.0,
                            );
                        }
                    }
                }
            }
        } else {
            // Differences from place to place. Only the ends of a class can become too small.
            for class in self.classes().filter(|class| class.len() > 1) {
                for is_from_above in [false, true] {
                    let (mut rows, mut sum) = (0, [0.0; 3]);
                    for step in 0..class.len() - 1 {
                        let at = if is_from_above { class.len() - 1 - step } else { step };
                        rows += class[at].rows;
                        if rows >= space.least_rows {
                            break;
                        }
                        add(&mut sum, gain(&class[at]), 1.0);
                        let pair = if is_from_above {
                            [class[at - 1], class[at]]
                        } else {
                            [class[at], class[at + 1]]
                        };
                        add(&mut sums[pair[0].block as usize + 1], sum, 1.0);
                        add(&mut sums[pair[1].block as usize + 1], sum, -1.0);
                    }
                }
            }
            for place in 1..sums.len() {
                let before = sums[place - 1];
                add(&mut sums[place], before, 1.0);
            }
        }
        // Sums and differences of rows are exact; those of prices are not quite.
        let rounded = |which: usize| -> Vec<f64> {
            let of = |sum: &[f64; 3]| {
                if sum[2] > real(left) { f64::INFINITY } else { sum[which].max(0.0) * (1.0 - 1e-9) }
            };
            sums.iter().map(of).collect()
        };
        if space.choices.is_of_sets(at) {
            [0, 1].map(|which| Gains::Pairs(atoms, rounded(which)))
        } else {
            [0, 1].map(|which| Gains::Places(rounded(which)))
        }
    }
}

/// Rows of a coarsest class that a block may come together with, its own among them.
fn within(space: &Space, state: &State, at: usize, class: &[Part], part: &Part) -> u64 {
    let mates = class
        .iter()
        .filter(|mate| space.choices.may_join(state, at, part.block as usize, mate.block as usize));
    mates.map(|mate| mate.rows).sum()
}
