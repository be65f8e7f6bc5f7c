//! Full-domain recoding: every value of an attribute at one level of its hierarchy, and of all such
//! choices of levels those that hold.
//!
//! A node says for each of some attributes at which level it stands. It holds when every class of
//! rows that show the same holds. Classes only grow, by union with others, when a level rises or an
//! attribute is left out of sight, and every privacy model is kept by union: above a node that
//! holds all nodes hold (generalization property), and a node holds only if its projections on
//! fewer attributes do (subset property). So subsets of the attributes are gone through by size.
//! The candidates of a subset are the nodes all of whose projections hold; they are tested from
//! below, and what lies above one that holds is not tested. Nobody looks at rows again: the class
//! table of a node is rolled up from the smallest one of its direct specializations, or from the
//! table of the subset, which is projected from that of all attributes. The minimal nodes are those
//! that hold and of which no direct specialization does.
//!
//! Where rows may be left out and sizes alone decide, a node holds when the rows in classes that
//! are too small are no more than may be left out: they never get more upwards, so both properties
//! stand. **Rules on sensitive values do not have that**: a class that holds may be joined with one
//! that does not and be lost with it, so left-out rows can get more upwards. There only rows are
//! left out without which no release could hold, and the answer is not called proven if more could
//! be.
//!
//! No cost falls upwards as long as nothing is left out, so that the cheapest node is a minimal
//! one. Otherwise a higher node may be cheaper, as it keeps more rows, and all nodes that hold are
//! candidates: from below, without those whose floor is too high already. A floor is what a node
//! would cost if all rows were kept; one that is left out costs no less. It never falls upwards
//! either.
//!
//! # References
//! K. LeFevre, D. J. DeWitt, R. Ramakrishnan: Incognito: Efficient Full-Domain k-Anonymity, SIGMOD
//! 2005. R. C.-W. Wong, J. Li, A. W.-C. Fu, K. Wang: (α, k)-Anonymity, KDD 2006, section 3: the
//! same search under another test (extended Incognito). Where we depart from them: nodes of a
//! subset are bits in an array, so that join and prune are one step; a subset's table starts at the
//! least levels of its candidates (their "super-roots"), and the first one at the levels that each
//! attribute needs alone.
//!
//! # Complexity
//! Time and space grow with the number of nodes over all subsets, the product of (levels + 1); a
//! test costs as many steps as the table has entries from which it is rolled up. With more nodes
//! than [`MOST_NODES`] one way is gone down from the top, always to the cheapest direct
//! specialization that holds.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use rayon::prelude::*;

use crate::codes::real;
use crate::domain::scheme::{Scheme, Shape};
use crate::problem::Problem;
use crate::search::budget::Budget;
use crate::search::global::Optimum;
use crate::search::global::{ClassTable, Classes, Cost, Parts, Scratch, Space, Value, space};

/// More nodes over all subsets are not searched.
const MOST_NODES: usize = 1 << 24;

/// As many minimal nodes are valued before the best of them is known, whatever the number of
/// threads.
const BATCH: usize = 16;

/// A floor that is below the least cost by less than this share is rounding.
const ROUNDING: f64 = 1e-12;

/// For each attribute its level, counted among those at which something changes.
type Levels = Vec<usize>;

/// Searches all full-domain recodings, whatever the columns' schemes.
pub(crate) fn incognito(problem: &Problem, cost: Cost, budget: &Budget) -> Optimum {
    let shapes = space::shapes(problem);
    let schemes = vec![Scheme::Bhs; shapes.len()];
    let Some((space, table)) = Space::new(problem, &shapes, &schemes, cost) else {
        return Optimum::of_one_block(problem, &shapes, cost);
    };
    let search = Search::new(&space, budget);
    let found = search.run(&table);
    let of_hierarchy = |levels: &Levels| -> Vec<u32> {
        let level =
            |(shape, &at): (&Shape, &usize)| if at == 0 { 0 } else { shape.levels()[at - 1] };
        shapes.iter().zip(levels).map(level).collect()
    };
    let is_proven = found.is_at_end && (space.is_by_size() || space.allowance == 0);
    let value = space.costing.reported(found.best.cost);
    Optimum {
        generalization: space::generalization(problem, &shapes, &search.parts(&found.best.levels)),
        cost,
        value,
        bound: if is_proven { value } else { space.costing.reported(space.mandatory) },
        is_proven,
        was_stopped: !found.is_at_end,
        nodes: found.looked_at,
        levels: of_hierarchy(&found.best.levels),
        minimal: found.minimal.iter().map(of_hierarchy).collect(),
    }
}

/// What a search comes back with.
struct Found {
    best: Best,
    minimal: Vec<Levels>,
    /// How many nodes were tested or valued.
    looked_at: u64,
    /// False when the budget was spent, or there were too many nodes.
    is_at_end: bool,
}

/// The cheapest node so far.
#[derive(Clone)]
struct Best {
    cost: f64,
    levels: Levels,
}

/// The nodes over some attributes, numbered so that whoever stands above another has the greater
/// number.
struct Lattice {
    attributes: Vec<usize>,
    /// How many levels each attribute has, and by how much the number grows from one to the next.
    sizes: Vec<usize>,
    strides: Vec<usize>,
    len: usize,
}

impl Lattice {
    fn new(attributes: &[usize], ladders: &[Parts]) -> Lattice {
        let sizes: Vec<usize> = attributes.iter().map(|&at| ladders[at].len()).collect();
        let strides = (0..sizes.len()).map(|at| sizes[at + 1..].iter().product()).collect();
        Lattice { attributes: attributes.to_vec(), len: sizes.iter().product(), sizes, strides }
    }

    fn level(&self, node: usize, at: usize) -> usize {
        node / self.strides[at] % self.sizes[at]
    }

    fn height(&self, node: usize) -> usize {
        (0..self.sizes.len()).map(|at| self.level(node, at)).sum()
    }

    /// The direct specializations.
    fn below(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.sizes.len())
            .filter(move |&at| self.level(node, at) > 0)
            .map(move |at| node - self.strides[at])
    }

    /// The same node in the lattice that lacks one of the attributes.
    fn without(&self, node: usize, at: usize) -> usize {
        node / self.strides[at] / self.sizes[at] * self.strides[at] + node % self.strides[at]
    }

    fn by_height(&self, nodes: impl Iterator<Item = usize>) -> Vec<Vec<usize>> {
        let mut heights =
            vec![Vec::new(); self.sizes.iter().map(|size| size - 1).sum::<usize>() + 1];
        nodes.for_each(|node| heights[self.height(node)].push(node));
        heights
    }
}

/// The class tables of the nodes of one height, for those of the next.
struct Tables {
    base: Arc<ClassTable>,
    of: Vec<Option<Arc<ClassTable>>>,
}

impl Tables {
    /// The smallest table from which a node can be rolled up.
    fn source(&self, lattice: &Lattice, node: usize) -> &Arc<ClassTable> {
        lattice
            .below(node)
            .filter_map(|below| self.of[below].as_ref())
            .min_by_key(|table| table.len())
            .unwrap_or(&self.base)
    }

    fn forget(&mut self, nodes: &[usize]) {
        nodes.iter().for_each(|&node| self.of[node] = None);
    }
}

/// What the tables above will be rolled up from: the new table only if it is worth its memory.
fn kept(source: &Arc<ClassTable>, rolled: ClassTable) -> Arc<ClassTable> {
    if rolled.len() * 4 <= source.len() * 3 { Arc::new(rolled) } else { Arc::clone(source) }
}

struct Search<'a> {
    space: &'a Space<'a>,
    /// For each attribute and level the least atom of each atom's block.
    ladders: Vec<Parts>,
    /// How many rows classes may have together that do not hold.
    limit: u64,
    budget: &'a Budget,
    /// To write on, for as many threads as there are.
    scratches: Mutex<Vec<Scratch>>,
}

impl<'a> Search<'a> {
    fn new(space: &'a Space<'a>, budget: &'a Budget) -> Search<'a> {
        let limit = if space.is_by_size() { space.allowance } else { 0 };
        Search {
            space,
            ladders: space.shapes.iter().map(Shape::ladder).collect(),
            limit,
            budget,
            scratches: Mutex::default(),
        }
    }

    fn run(&self, table: &ClassTable) -> Found {
        let top: Levels = self.ladders.iter().map(|ladder| ladder.len() - 1).collect();
        let value = self.value(table, &top);
        debug_assert_eq!(value.left_out, 0, "everything in one class holds");
        let top = Best { cost: value.cost, levels: top };
        // Those with one level are the same in every node.
        let free: Vec<usize> =
            (0..self.ladders.len()).filter(|&at| self.ladders[at].len() > 1).collect();
        let all =
            free.iter().map(|&at| self.ladders[at].len() + 1).try_fold(1usize, usize::checked_mul);
        if all.is_none_or(|nodes| nodes > MOST_NODES) {
            return Found {
                best: self.descend(table, &vec![0; self.ladders.len()], top),
                minimal: Vec::new(),
                looked_at: 0,
                is_at_end: false,
            };
        }
        let Some((holds, tested)) = self.holding(&free, table) else {
            return Found { best: top, minimal: Vec::new(), looked_at: 0, is_at_end: false };
        };
        let lattice = Lattice::new(&free, &self.ladders);
        let is_minimal =
            |&node: &usize| holds[node] && !lattice.below(node).any(|below| holds[below]);
        let minimal: Vec<usize> = (0..lattice.len).filter(is_minimal).collect();
        let least = self.least(&lattice, &minimal);
        let table = self.with_scratch(|scratch| table.rolled_up(&self.parts(&least), scratch));
        let (best, valued, is_at_end) = if self.limit == 0 {
            self.cheapest_of(&lattice, &minimal, &table, top)
        } else {
            let start = self.descend(&table, &least, top);
            self.cheapest(&lattice, &holds, table, start)
        };
        let minimal = minimal.iter().map(|&node| self.levels(&lattice, node)).collect();
        Found { best, minimal, looked_at: tested + valued, is_at_end }
    }

    fn with_scratch<T>(&self, work: impl FnOnce(&mut Scratch) -> T) -> T {
        let lock = || self.scratches.lock().expect("nobody panics while holding it");
        let mut scratch = lock().pop().unwrap_or_default();
        let done = work(&mut scratch);
        lock().push(scratch);
        done
    }

    /// The levels of all attributes at a node.
    fn levels(&self, lattice: &Lattice, node: usize) -> Levels {
        let mut levels = vec![0; self.ladders.len()];
        lattice
            .attributes
            .iter()
            .enumerate()
            .for_each(|(at, &attribute)| levels[attribute] = lattice.level(node, at));
        levels
    }

    /// For each attribute the least level that one of the nodes has.
    fn least(&self, lattice: &Lattice, nodes: &[usize]) -> Levels {
        let mut least = vec![0; self.ladders.len()];
        for (at, &attribute) in lattice.attributes.iter().enumerate() {
            least[attribute] = nodes.iter().map(|&node| lattice.level(node, at)).min().unwrap_or(0);
        }
        least
    }

    fn parts(&self, levels: &[usize]) -> Parts {
        self.ladders.iter().zip(levels).map(|(ladder, &level)| ladder[level].clone()).collect()
    }

    /// What a node costs; infinite when it does not hold.
    fn value(&self, table: &ClassTable, levels: &[usize]) -> Value {
        let mut value =
            self.with_scratch(|scratch| self.space.value(table, &self.parts(levels), scratch));
        if value.left_out > self.limit {
            value.cost = f64::INFINITY;
        }
        value
    }

    /// Which nodes over all of these attributes hold, and how many nodes over any of them were
    /// tested; none when the budget is spent.
    fn holding(&self, free: &[usize], table: &ClassTable) -> Option<(Vec<bool>, u64)> {
        // Whether a node holds does not depend on costs.
        let ClassTable { width, atoms, rows, secrets, .. } = table;
        let sums = Vec::new();
        let mut table = ClassTable {
            width: *width,
            atoms: atoms.clone(),
            rows: rows.clone(),
            sums,
            secrets: secrets.clone(),
        };
        let mut smaller: BTreeMap<Vec<usize>, Vec<bool>> =
            BTreeMap::from([(Vec::new(), vec![true])]);
        let mut tested = 0;
        for size in 1..=free.len() {
            let longer = |subset: &Vec<usize>| {
                let last = subset.last().copied();
                let behind = free.iter().filter(move |&&at| last.is_none_or(|last| last < at));
                behind.map(|&at| [subset.as_slice(), &[at]].concat()).collect::<Vec<_>>()
            };
            let subsets: Vec<Vec<usize>> = smaller.keys().flat_map(longer).collect();
            let search = |subset: &Vec<usize>| self.holding_in(subset, &smaller, &table);
            let found =
                subsets.par_iter().map(search).collect::<Option<Vec<(Vec<bool>, u64)>>>()?;
            tested += found.iter().map(|(_, tested)| tested).sum::<u64>();
            smaller = subsets
                .into_iter()
                .zip(found)
                .map(|(subset, (holds, _))| (subset, holds))
                .collect();
            if size == 1 {
                let mut least = vec![0; self.ladders.len()];
                for (subset, holds) in &smaller {
                    least[subset[0]] = holds
                        .iter()
                        .position(|&holds| holds)
                        .expect("one block of all values holds");
                }
                table = self.with_scratch(|scratch| table.rolled_up(&self.parts(&least), scratch));
            }
        }
        Some((smaller.remove(free).expect("the last subset is that of all"), tested))
    }

    /// Which nodes over these attributes hold, if it is known which do over all but one of them.
    fn holding_in(
        &self,
        subset: &[usize],
        smaller: &BTreeMap<Vec<usize>, Vec<bool>>,
        table: &ClassTable,
    ) -> Option<(Vec<bool>, u64)> {
        let lattice = Lattice::new(subset, &self.ladders);
        let others = |at: usize| &smaller[&[&subset[..at], &subset[at + 1..]].concat()];
        let projections: Vec<&Vec<bool>> = (0..subset.len()).map(others).collect();
        let is_candidate =
            |&node: &usize| (0..subset.len()).all(|at| projections[at][lattice.without(node, at)]);
        let candidates: Vec<usize> = (0..lattice.len).filter(is_candidate).collect();
        let mut holds = vec![false; lattice.len];
        let base = Arc::new(self.projected(table, &lattice, &self.least(&lattice, &candidates)));
        let mut tables = Tables { base, of: vec![None; lattice.len] };
        let (mut before, mut tested) = (Vec::new(), 0);
        for nodes in lattice.by_height(candidates.into_iter()) {
            let (above, open): (Vec<usize>, Vec<usize>) =
                nodes.into_iter().partition(|&node| lattice.below(node).any(|below| holds[below]));
            above.into_iter().for_each(|node| holds[node] = true);
            let test = |&node: &usize| {
                (!self.budget.is_spent())
                    .then(|| self.failing(&lattice, node, tables.source(&lattice, node)))
            };
            let outcomes =
                open.par_iter().map(test).collect::<Option<Vec<Option<Arc<ClassTable>>>>>()?;
            tested += open.len() as u64;
            tables.forget(&before);
            for (&node, table) in open.iter().zip(outcomes) {
                holds[node] = table.is_none();
                tables.of[node] = table;
            }
            before = open;
        }
        Some((holds, tested))
    }

    /// The table of the lattice's attributes alone at their levels: all values of the others are
    /// one.
    fn projected(&self, table: &ClassTable, lattice: &Lattice, levels: &[usize]) -> ClassTable {
        let is_seen = |at: &usize| lattice.attributes.contains(at);
        let least = |at: usize| {
            if is_seen(&at) {
                self.ladders[at][levels[at]].clone()
            } else {
                vec![0; self.ladders[at][0].len()]
            }
        };
        let least: Parts = (0..self.ladders.len()).map(least).collect();
        let wide = self.with_scratch(|scratch| table.rolled_up(&least, scratch));
        let narrow =
            |atoms: &[u32]| lattice.attributes.iter().map(|&at| atoms[at]).collect::<Vec<u32>>();
        ClassTable {
            width: lattice.attributes.len(),
            atoms: wide.atoms.chunks_exact(wide.width).flat_map(narrow).collect(),
            ..wide
        }
    }

    /// None when a node holds, else what its generalizations can be rolled up from.
    fn failing(
        &self,
        lattice: &Lattice,
        node: usize,
        source: &Arc<ClassTable>,
    ) -> Option<Arc<ClassTable>> {
        let parts: Parts = lattice
            .attributes
            .iter()
            .enumerate()
            .map(|(at, &of)| self.ladders[of][lattice.level(node, at)].clone())
            .collect();
        self.with_scratch(|scratch| {
            let rolled = source.rolled_up(&parts, scratch);
            let left_out: u64 = if self.space.is_by_size() {
                rolled
                    .rows
                    .iter()
                    .map(|&rows| u64::from(rows))
                    .filter(|&rows| rows < self.space.least_rows)
                    .sum()
            } else {
                let mut classes = Classes::default();
                rolled.classify(&parts, scratch, &mut classes);
                let holds = self.space.holding(&rolled, &classes);
                holds
                    .iter()
                    .zip(&classes.sizes)
                    .filter(|&(holds, _)| !holds)
                    .map(|(_, size)| size)
                    .sum()
            };
            (left_out > self.limit).then(|| kept(source, rolled))
        })
    }

    /// From the top always to the cheapest direct specialization that holds, as long as it costs no
    /// more; no further than the table goes.
    fn descend(&self, table: &ClassTable, least: &[usize], top: Best) -> Best {
        let mut best = top;
        loop {
            let below = |at: usize| {
                let mut levels = best.levels.clone();
                levels[at] = levels[at]
                    .checked_sub(1)
                    .filter(|&level| level >= least[at] && !self.budget.is_spent())?;
                Some(Best { cost: self.value(table, &levels).cost, levels })
            };
            let next: Vec<Option<Best>> =
                (0..best.levels.len()).into_par_iter().map(below).collect();
            match next.into_iter().flatten().min_by(|one, other| one.cost.total_cmp(&other.cost)) {
                Some(next) if next.cost <= best.cost => best = next,
                _ => return best,
            }
        }
    }

    /// For each attribute of the lattice and each level, the price of all rows as if none were left
    /// out; and what all have in common.
    fn floors(&self, lattice: &Lattice, table: &ClassTable) -> (f64, Vec<Vec<f64>>) {
        let costing = &self.space.costing;
        if !costing.is_separable() {
            return (0.0, lattice.sizes.iter().map(|&levels| vec![0.0; levels]).collect());
        }
        let prices = |at: usize, level: usize| costing.prices(at, &self.ladders[at][level]);
        let alone: Vec<Vec<f64>> =
            self.ladders.iter().map(|ladder| vec![0.0; ladder[0].len()]).collect();
        let of = |prices: &[Vec<f64>]| -> f64 {
            (0..table.len())
                .map(|entry| {
                    costing.of_entry(
                        prices,
                        table.atoms_of(entry),
                        table.rows[entry],
                        table.sums_of(entry),
                    )
                })
                .sum()
        };
        let nothing = of(&alone);
        let floor = |&at: &usize| {
            let with = |level: usize| {
                let mut all = alone.clone();
                all[at] = prices(at, level);
                of(&all) - nothing
            };
            (0..self.ladders[at].len()).map(with).collect::<Vec<f64>>()
        };
        let fixed = (0..self.ladders.len()).filter(|at| !lattice.attributes.contains(at));
        let fixed: f64 = fixed.map(|at| floor(&at).iter().sum::<f64>()).sum();
        (self.space.mandatory + nothing + fixed, lattice.attributes.iter().map(floor).collect())
    }

    /// The cheapest of these nodes, in the order of their floors, how many were valued, and whether
    /// all were that could be.
    fn cheapest_of(
        &self,
        lattice: &Lattice,
        nodes: &[usize],
        table: &ClassTable,
        top: Best,
    ) -> (Best, u64, bool) {
        let (common, floors) = self.floors(lattice, table);
        let floor = |node: usize| {
            common + (0..floors.len()).map(|at| floors[at][lattice.level(node, at)]).sum::<f64>()
        };
        let mut order: Vec<(f64, usize)> = nodes.iter().map(|&node| (floor(node), node)).collect();
        order.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
        let (mut best, mut valued) = (None::<Best>, 0);
        for batch in order.chunks(BATCH) {
            if self.budget.is_spent() {
                return (best.unwrap_or(top), valued, false);
            }
            let least = best.as_ref().map_or(f64::INFINITY, |best| best.cost * (1.0 - ROUNDING));
            let value = |&(_, node): &(f64, usize)| {
                let levels = self.levels(lattice, node);
                Best { cost: self.value(table, &levels).cost, levels }
            };
            let values: Vec<Best> =
                batch.par_iter().filter(|(floor, _)| *floor < least).map(value).collect();
            valued += values.len() as u64;
            for value in values {
                best = Some(best.filter(|best| best.cost <= value.cost).unwrap_or(value));
            }
        }
        (best.unwrap_or(top), valued, true)
    }

    /// The cheapest of all nodes that hold when rows may be left out and classes are judged by
    /// their sizes.
    fn cheapest(
        &self,
        lattice: &Lattice,
        holds: &[bool],
        table: ClassTable,
        mut best: Best,
    ) -> (Best, u64, bool) {
        let (common, floors) = self.floors(lattice, &table);
        let mut tables = Tables { base: Arc::new(table), of: vec![None; lattice.len] };
        // What is known of each node's floor.
        let mut known = vec![0.0f64; lattice.len];
        let (mut before, mut valued) = (Vec::new(), 0);
        for mut nodes in lattice.by_height((0..lattice.len).filter(|&node| holds[node])) {
            for &node in &nodes {
                let own = common
                    + (0..floors.len()).map(|at| floors[at][lattice.level(node, at)]).sum::<f64>();
                known[node] = lattice.below(node).map(|below| known[below]).fold(own, f64::max);
            }
            nodes.retain(|&node| known[node] < best.cost * (1.0 - ROUNDING));
            let value = |&node: &usize| {
                let source = tables.source(lattice, node);
                (!self.budget.is_spent()).then(|| self.valued(&self.levels(lattice, node), source))
            };
            let Some(values) =
                nodes.par_iter().map(value).collect::<Option<Vec<(Value, f64, Arc<ClassTable>)>>>()
            else {
                return (best, valued, false);
            };
            valued += nodes.len() as u64;
            tables.forget(&before);
            for (&node, (value, floor, table)) in nodes.iter().zip(values) {
                if value.cost < best.cost {
                    best = Best { cost: value.cost, levels: self.levels(lattice, node) };
                }
                known[node] = known[node].max(floor);
                tables.of[node] = Some(table);
            }
            before = nodes;
        }
        (best, valued, true)
    }

    /// What a node costs, what all above it cost at least under DM, and what they can be rolled up
    /// from.
    fn valued(&self, levels: &[usize], source: &Arc<ClassTable>) -> (Value, f64, Arc<ClassTable>) {
        let parts = self.parts(levels);
        let rolled = self.with_scratch(|scratch| source.rolled_up(&parts, scratch));
        let size = |&rows: &u32| f64::from(rows) * real(u64::from(rows).max(self.space.least_rows));
        let floor = if self.space.costing.is_separable() {
            0.0
        } else {
            rolled.rows.iter().map(size).sum()
        };
        let mut classes = Classes::default();
        self.with_scratch(|scratch| rolled.classify_all(&parts, scratch, &mut classes));
        let holds = self.space.holding(&rolled, &classes);
        let value = self.space.value_of(&rolled, &self.space.prices(&parts), &classes, &holds);
        (value, floor, kept(source, rolled))
    }
}
