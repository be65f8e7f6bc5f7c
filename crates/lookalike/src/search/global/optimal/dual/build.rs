//! The dual of a node: its columns, the budgets of its entries, and the cost that needs no price.

use super::super::bound::NodeBounds;
use super::column::{Column, MOST_OF_SETS, MOST_ON_A_LINE, interval, members};
use crate::domain::scheme::ChoiceState;
use crate::search::global::{Parts, Space};

/// An open entry is charged for a block of this many times the cost of its block in the best
/// partition so far; the rest of its budget pays prices.
const CAP: f64 = 1.5;

/// And at least for this share of the cost of its coarsest block.
const LEAST_CAP: f64 = 0.05;

/// A node, and the best partition so far.
#[derive(Clone, Copy)]
pub(super) struct NodeView<'a> {
    pub(super) space: &'a Space<'a>,
    pub(super) state: &'a ChoiceState,
    pub(super) bounds: &'a NodeBounds,
    pub(super) guide: &'a Parts,
}

impl NodeView<'_> {
    /// True when an entry is in a class that satisfies the rules in every partition.
    pub(super) fn is_certain(&self, entry: usize) -> bool {
        let of = &self.bounds.entries[entry];
        of.holds && self.space.is_by_size() && !of.is_suppressed
    }

    /// True when an entry is suppressed in some partitions.
    fn is_open(&self, entry: usize) -> bool {
        let of = &self.bounds.entries[entry];
        !(of.is_suppressed || of.holds && self.space.is_by_size())
    }

    /// The weight of an entry in the cost of its block.
    fn weight(&self, at: usize, entry: usize) -> f64 {
        let rows = f64::from(self.bounds.table.rows[entry]);
        self.bounds.table.sums_of(entry).get(at).copied().unwrap_or(rows)
    }

    /// The budget of each entry: the rise of its cost if it is suppressed.
    pub(super) fn budgets(&self) -> Vec<f64> {
        let budget = |entry: usize| {
            if !self.is_open(entry) {
                0.0
            } else if self.space.allowance == 0 {
                f64::INFINITY
            } else {
                let rows = f64::from(self.bounds.table.rows[entry]);
                rows * self.space.costing.full - self.bounds.entries[entry].least
            }
        };
        (0..self.bounds.table.len()).map(budget).collect()
    }

    /// The atoms of each element of an attribute: its blocks in the finest partition.
    pub(super) fn elements(&self, at: usize) -> Vec<Vec<usize>> {
        let fine = &self.bounds.fine[at];
        let mut elements: Vec<Vec<usize>> = Vec::new();
        let mut rank = vec![0; fine.len()];
        for (atom, &first) in fine.iter().enumerate() {
            if first as usize == atom {
                rank[atom] = elements.len();
                elements.push(Vec::new());
            }
            elements[rank[first as usize]].push(atom);
        }
        elements
    }

    /// One attribute. What its blocks cost for open entries is taken from their budgets.
    pub(super) fn column(&self, at: usize, budgets: &mut [f64]) -> Column {
        let NodeView { space, state, bounds, .. } = *self;
        let is_of_sets = space.choices.is_of_sets(at);
        let elements = self.elements(at);
        let count = elements.len();
        let most = if is_of_sets { MOST_OF_SETS } else { MOST_ON_A_LINE };
        if count > most || bounds.fine[at].len() > 64 {
            return Column::apart(bounds.table.len());
        }
        let mut rank = vec![0u8; bounds.fine[at].len()];
        let mut atoms = vec![0u64; count];
        for (place, element) in (0u8..).zip(&elements) {
            for &atom in element {
                rank[atom] = place;
                atoms[place as usize] |= 1 << atom;
            }
        }
        let of = bounds.table.atoms.iter().skip(at).step_by(bounds.table.width);
        let of: Vec<u8> = of.map(|&atom| rank[atom as usize]).collect();
        let may_join = |one: usize, other: usize| {
            let (one, other) = (elements[one][0], elements[other][0]);
            if is_of_sets {
                space.choices.may_join(state, at, one, other)
            } else {
                bounds.coarse[at][one] == bounds.coarse[at][other]
            }
        };
        let reach = (0..count).map(|one| {
            (0..count).filter(|&other| may_join(one, other)).fold(0, |set, other| set | 1 << other)
        });
        let mut column = Column {
            count,
            is_of_sets,
            of,
            rank,
            atoms,
            reach: reach.collect(),
            base: Vec::new(),
            ways_out: Vec::new(),
        };
        column.base = if space.costing.is_separable() {
            let rises = self.rises(at, &column, &elements, budgets);
            let cost = |block: u64| -> f64 {
                if block.count_ones() == 1 {
                    return 0.0;
                }
                let atoms: Vec<usize> = (0..column.rank.len())
                    .filter(|&atom| block >> column.rank[atom] & 1 == 1)
                    .collect();
                let whole = space.costing.block_cost(at, &atoms);
                let rise = |element: usize| {
                    let Rise { own, certain, open, cap } = rises[element];
                    let rise = (whole - own).max(0.0);
                    certain * rise + if open > 0.0 { open * rise.min(cap) } else { 0.0 }
                };
                members(block).map(rise).sum()
            };
            self.base(at, &column, &elements, cost)
        } else {
            let pairs = self.pairs(at, &column);
            let cost = |block: u64| -> f64 {
                let of = |one: usize| {
                    members(block).map(|other| pairs[one * column.count + other]).sum::<f64>()
                };
                members(block).map(of).sum()
            };
            self.base(at, &column, &elements, cost)
        };
        column.find_ways_out();
        column
    }

    /// The cost of each candidate, infinite where the scheme or the node does not allow it.
    fn base(
        &self,
        at: usize,
        column: &Column,
        elements: &[Vec<usize>],
        cost: impl Fn(u64) -> f64,
    ) -> Vec<f64> {
        let count = column.count;
        let mut base = vec![f64::INFINITY; Column::places(count, column.is_of_sets)];
        let is_allowed =
            |block: u64| members(block).all(|element| block & !column.reach[element] == 0);
        if column.is_of_sets {
            let (scheme, shape) = (self.space.schemes[at], &self.space.shapes[at]);
            let atoms =
                |block: u64| members(block).fold(0, |atoms, element| atoms | column.atoms[element]);
            for block in (1..1u64 << count).filter(|&block| is_allowed(block)) {
                if scheme.allows_set(shape, atoms(block)) {
                    base[column.place(block)] = cost(block);
                }
            }
            return base;
        }
        for from in 0..count {
            for to in from..count {
                let block = interval(from, to);
                let last = elements.get(to + 1).map_or(column.rank.len(), |next| next[0]) - 1;
                let is_block =
                    from == to || self.space.interval_cost(at, elements[from][0], last).is_finite();
                if is_block && is_allowed(block) {
                    base[column.place(block)] = cost(block);
                }
            }
        }
        base
    }

    /// For each element what a rise of its block's cost costs, for costs that are sums over
    /// attributes.
    fn rises(
        &self,
        at: usize,
        column: &Column,
        elements: &[Vec<usize>],
        budgets: &mut [f64],
    ) -> Vec<Rise> {
        let costing = &self.space.costing;
        let guide = costing.block_costs(at, &self.guide[at]);
        let coarse = costing.block_costs(at, &self.bounds.coarse[at]);
        let rise = |element: &Vec<usize>| {
            let own = self.bounds.block_costs[at][element[0]];
            let most = (coarse[element[0]] - own).max(0.0);
            let cap = ((guide[element[0]] - own) * CAP).max(most * LEAST_CAP).min(most);
            let cap = if self.space.allowance == 0 { f64::INFINITY } else { cap };
            Rise { own, certain: 0.0, open: 0.0, cap }
        };
        let mut rises: Vec<Rise> = elements.iter().map(rise).collect();
        for (entry, &element) in column.of.iter().enumerate() {
            let rise = &mut rises[element as usize];
            if self.is_certain(entry) {
                rise.certain += self.weight(at, entry);
            } else if self.is_open(entry) {
                let weight = self.weight(at, entry);
                rise.open += weight;
                if rise.cap.is_finite() {
                    budgets[entry] = (budgets[entry] - weight * rise.cap).max(0.0);
                }
            }
        }
        rises
    }

    /// For every two elements the rows that come to share a class when they are joined, for DM:
    /// counted over pairs of entries that differ on this attribute alone.
    fn pairs(&self, at: usize, column: &Column) -> Vec<f64> {
        let table = &self.bounds.table;
        let count = column.count;
        let mut pairs = vec![0.0; count * count];
        let context = |entry: usize| {
            let atoms = table.atoms_of(entry);
            atoms[..at].iter().chain(&atoms[at + 1..])
        };
        let mut order: Vec<u32> = (0..).take(table.len()).collect();
        order.sort_unstable_by(|&one, &other| context(one as usize).cmp(context(other as usize)));
        let alike = |one: &u32, other: &u32| context(*one as usize).eq(context(*other as usize));
        for group in order.chunk_by(alike).filter(|group| group.len() > 1) {
            for entry in group.iter().map(|&entry| entry as usize) {
                if !self.is_certain(entry) {
                    continue;
                }
                let element = column.of[entry] as usize;
                for mate in group.iter().map(|&mate| mate as usize).filter(|&mate| mate != entry) {
                    let other = column.of[mate] as usize;
                    let rise = f64::from(table.rows[entry]) * f64::from(table.rows[mate]);
                    pairs[element * count + other] += rise;
                }
            }
        }
        pairs
    }
}

/// The rise of the cost of a block, seen from one of its elements.
struct Rise {
    /// The cost of the element alone.
    own: f64,
    /// The weight of entries that are never suppressed.
    certain: f64,
    /// The weight of open entries.
    open: f64,
    /// The rise that they are charged at most.
    cap: f64,
}
