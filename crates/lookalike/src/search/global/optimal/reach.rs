//! The greatest size that a class can reach as far as one attribute decides, with all others as
//! coarse as they can be.
//!
//! One pass over the entries of a table, sorted by the coarsest classes and within them by the
//! blocks of one attribute, answers for all choices about this attribute at once which rows would
//! be suppressed if it were kept apart.

use super::Techniques;
use super::bound::{AttributeView, EntryBounds, NodeBounds};
use super::extra::SAFETY;
use crate::codes::real;
use crate::domain::scheme::ChoiceState;
use crate::search::global::{EntryClasses, Space, sorted};

/// The entries sorted by coarsest class, and within a class by their block of one attribute.
#[derive(Debug)]
pub(super) struct BlockRuns {
    order: Vec<u32>,
    runs: Vec<BlockRun>,
    /// The first run of each class, and one beyond the last.
    starts: Vec<u32>,
}

/// The entries of one coarsest class with one block.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockRun {
    pub(super) block: u32,
    pub(super) rows: u64,
    /// Its entries in the order: the first, and one beyond the last.
    from: u32,
    to: u32,
}

/// The rise of a bound when blocks are kept apart.
#[derive(Debug)]
pub(super) enum Gains {
    /// By place: when all blocks below it are kept apart from those at and above it.
    Places(Vec<f64>),
    /// For every two blocks: when the first is kept apart from the second.
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

impl BlockRuns {
    pub(super) fn new(bounds: &NodeBounds, at: usize, large: &EntryClasses) -> BlockRuns {
        let (table, fine) = (&bounds.table, &bounds.fine[at]);
        let block = |entry: usize| fine[table.atoms_of(entry)[at] as usize];
        // By block first, then by class: each pass keeps the order of the one before.
        let by_block = sorted(0..table.len(), |entry| block(entry) as usize, fine.len());
        let order = sorted(
            by_block.iter().map(|&entry| entry as usize),
            |entry| large.of[entry] as usize,
            large.sizes.len(),
        );
        let mut runs = BlockRuns {
            order,
            runs: Vec::with_capacity(table.len()),
            starts: Vec::with_capacity(large.sizes.len() + 1),
        };
        let mut last = (u32::MAX, u32::MAX);
        for (place, &entry) in (0..).zip(&runs.order) {
            let here = (large.of[entry as usize], block(entry as usize));
            if here.0 != last.0 {
                runs.starts.push(u32::try_from(runs.runs.len()).expect("fewer runs than rows"));
            }
            if here != last {
                runs.runs.push(BlockRun { block: here.1, rows: 0, from: place, to: place });
                last = here;
            }
            let run = runs.runs.last_mut().expect("one was pushed");
            run.rows += u64::from(table.rows[entry as usize]);
            run.to = place + 1;
        }
        runs.starts.push(u32::try_from(runs.runs.len()).expect("fewer runs than rows"));
        runs
    }

    /// The runs of each coarsest class, by block.
    pub(super) fn classes(&self) -> impl Iterator<Item = &[BlockRun]> {
        self.starts.windows(2).map(|pair| &self.runs[pair[0] as usize..pair[1] as usize])
    }

    /// The entries of a run.
    pub(super) fn entries(&self, run: &BlockRun) -> impl Iterator<Item = usize> + '_ {
        self.order[run.from as usize..run.to as usize].iter().map(|&entry| entry as usize)
    }

    /// Marks the entries whose class is too small as long as their block is not joined. In the
    /// schemes of sets, where a block can be joined with a part of its coarsest class only, also
    /// those that are suppressed in every partition.
    pub(super) fn mark(
        &self,
        space: &Space,
        techniques: &Techniques,
        state: &ChoiceState,
        bounds: &mut NodeBounds,
        at: usize,
    ) {
        let is_of_sets = space.choices.is_of_sets(at);
        for class in self.classes() {
            for run in class {
                let must_join = run.rows < space.least_rows && at < 64;
                let is_suppressed = is_of_sets
                    && techniques.both_sides
                    && within(space, state, at, class, run) < space.least_rows;
                if must_join || is_suppressed {
                    for entry in self.entries(run) {
                        bounds.entries[entry].must_join |= u64::from(must_join) << (at % 64);
                        bounds.entries[entry].is_suppressed |= is_suppressed;
                    }
                }
            }
        }
    }
}

/// The rise of the bound when blocks are kept apart, over the plain costs and over the ones with
/// the extra cost: infinite when more rows would be suppressed than `allowance`.
pub(super) fn gains(view: &AttributeView, allowance: u64) -> [Gains; 2] {
    let is_of_sets = view.space.choices.is_of_sets(view.at);
    let sums = if is_of_sets { pair_sums(view) } else { place_sums(view) };
    // Sums and differences of rows are exact; those of costs are rounded.
    let rounded = |which: usize| -> Vec<f64> {
        let of = |sum: &[f64; 3]| {
            if sum[2] > real(allowance) {
                f64::INFINITY
            } else {
                sum[which].max(0.0) * (1.0 - SAFETY)
            }
        };
        sums.iter().map(of).collect()
    };
    [0, 1].map(|which| {
        if is_of_sets {
            Gains::Pairs(view.bounds.fine[view.at].len(), rounded(which))
        } else {
            Gains::Places(rounded(which))
        }
    })
}

/// For every two blocks: the sums of `suppression_rise` over the runs of the first that become
/// too small without the second.
fn pair_sums(view: &AttributeView) -> Vec<[f64; 3]> {
    let AttributeView { space, state, bounds, runs, at } = *view;
    let atoms = bounds.fine[at].len();
    let mut sums = vec![[0.0; 3]; atoms * atoms];
    for class in runs.classes() {
        for run in class {
            let reach = within(space, state, at, class, run);
            for mate in class.iter().filter(|mate| {
                mate.block != run.block && reach - mate.rows.min(reach) < space.least_rows
            }) {
                let (block, other) = (run.block as usize, mate.block as usize);
                if space.choices.may_join(state, at, block, other) {
                    add(&mut sums[block * atoms + other], suppression_rise(view, run));
                }
            }
        }
    }
    sums
}

/// For every place between two blocks: the same over the runs on either side of it that become
/// too small without the other side.
fn place_sums(view: &AttributeView) -> Vec<[f64; 3]> {
    let least_rows = view.space.least_rows;
    // First as differences from place to place. Only the ends of a class can become too small.
    let mut sums = vec![[0.0; 3]; view.bounds.fine[view.at].len() + 2];
    for class in view.runs.classes().filter(|class| class.len() > 1) {
        let last = class.len() - 1;
        for is_from_above in [false, true] {
            let (mut rows, mut sum) = (0, [0.0; 3]);
            for step in 0..last {
                // The run that the sum takes in, and the two that the place lies between.
                let (run, left, right) = if is_from_above {
                    (last - step, last - step - 1, last - step)
                } else {
                    (step, step, step + 1)
                };
                rows += class[run].rows;
                if rows >= least_rows {
                    break;
                }
                add(&mut sum, suppression_rise(view, &class[run]));
                add(&mut sums[class[left].block as usize + 1], sum);
                add(&mut sums[class[right].block as usize + 1], sum.map(|sum| -sum));
            }
        }
    }
    for place in 1..sums.len() {
        let before = sums[place - 1];
        add(&mut sums[place], before);
    }
    sums
}

/// The rise of the plain bound and of the bound with the extra cost if a run were suppressed,
/// and its rows.
fn suppression_rise(view: &AttributeView, run: &BlockRun) -> [f64; 3] {
    let full = view.space.costing.full;
    let mut sum = [0.0; 3];
    for entry in view.runs.entries(run) {
        let EntryBounds { least, most, is_suppressed, must_join, shared_by, .. } =
            view.bounds.entries[entry];
        let rows = f64::from(view.bounds.table.rows[entry]);
        if !is_suppressed {
            let plain = rows * full - least;
            let extra = if shared_by == 0 {
                plain
            } else if must_join == 0 {
                (rows * full - most).max(0.0)
            } else {
                0.0
            };
            add(&mut sum, [plain, extra, rows]);
        }
    }
    sum
}

fn add(to: &mut [f64; 3], more: [f64; 3]) {
    to.iter_mut().zip(more).for_each(|(to, more)| *to += more);
}

/// The rows of a coarsest class that a block can be joined with, its own included.
fn within(
    space: &Space,
    state: &ChoiceState,
    at: usize,
    class: &[BlockRun],
    run: &BlockRun,
) -> u64 {
    let mates = class
        .iter()
        .filter(|mate| space.choices.may_join(state, at, run.block as usize, mate.block as usize));
    mates.map(|mate| mate.rows).sum()
}
