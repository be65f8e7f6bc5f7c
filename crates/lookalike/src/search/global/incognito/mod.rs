//! Full-domain recoding: every value of an attribute at one level of its hierarchy. Finds all
//! minimal choices of levels that satisfy the rules, and the one of least cost.
//!
//! A node gives a level for each of some attributes. It satisfies the rules when all its
//! equivalence classes do: rows with equal values at these levels. When a level rises or an
//! attribute is removed, classes grow by union with others, and every rule is kept by union. So all
//! nodes above a node that satisfies the rules satisfy them too (generalization property), and a
//! node satisfies them only if its projections on fewer attributes do (subset property). The
//! subsets of the attributes are searched by size. The candidates of a subset are the nodes all of
//! whose projections satisfy the rules; they are tested from below, and nodes above one that
//! satisfies the rules are not tested. The rows are not read again: the class table of a node is
//! rolled up from the smallest one of its direct specializations, or from the table of the subset,
//! which is projected from that of all attributes. The minimal nodes are those that satisfy the
//! rules while none of their direct specializations does.
//!
//! Where suppression is allowed and class sizes alone decide, a node satisfies the rules when the
//! rows in classes that are too small are no more than allowed: their number never rises upwards,
//! so both properties remain. **Rules on sensitive values do not have this property**: a class that
//! satisfies them may be joined with one that does not and be suppressed with it, so that the
//! number can rise upwards. There only the mandatory rows are suppressed.
//!
//! Without suppression no cost falls upwards, so the node of least cost is a minimal one. Otherwise
//! a higher node may cost less, because it keeps more rows, and all nodes that satisfy the rules
//! are candidates: from below, without those whose lower bound is too high already. The lower bound
//! is the cost of the node if all rows were kept; a suppressed row costs no less. It never falls
//! upwards either.
//!
//! # Guarantee
//! A search that ends by itself finds all minimal nodes, and of all nodes that satisfy the rules
//! one of least cost. It is the best full-domain recoding ([`Optimum::is_proven`]) where class
//! sizes alone decide or no more rows may be suppressed; otherwise a recoding that suppresses more
//! rows might cost less. A search that is stopped returns a node that satisfies the rules, in the
//! worst case the highest one. Rules on several sets of columns are applied to the classes of all
//! columns together; then, and where suppression is mandatory, nothing is claimed to be proven.
//!
//! # Complexity
//! Time and space grow with the number of nodes over all subsets, the product of (levels + 1). A
//! test takes time proportional to the entries of the table that it is rolled up from. With more
//! nodes than [`MOST_NODES`] there is one greedy descent from the top instead, always to the direct
//! specialization of least cost.
//!
//! # References
//! K. LeFevre, D. J. DeWitt, R. Ramakrishnan: Incognito: Efficient Full-Domain k-Anonymity, SIGMOD
//! 2005. R. C.-W. Wong, J. Li, A. W.-C. Fu, K. Wang: (α, k)-Anonymity, KDD 2006, section 3: the
//! same search under another test (extended Incognito).
//!
//! # Departures from the papers
//! The nodes of a subset are bits in an array, so that join and prune are one step. The table of a
//! subset starts at the least levels of its candidates (their "super-roots"), and the first table
//! at the levels that each attribute needs alone.

mod cheapest;
mod lattice;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use rayon::prelude::*;

use self::lattice::{HeightTables, Lattice, kept};

use crate::domain::scheme::{Scheme, Shape};
use crate::problem::Problem;
use crate::search::budget::Budget;
use crate::search::global::{
    ClassBuffers, ClassTable, Cost, EntryClasses, Optimum, PartitionCost, Parts, Space, space,
};

/// With more nodes over all subsets there is one greedy descent instead of a search.
const MOST_NODES: usize = 1 << 24;

/// For each attribute its level, counted among the levels at which something changes.
type Levels = Vec<usize>;

/// Searches all full-domain recodings, whatever the columns' schemes.
pub(crate) fn incognito(problem: &Problem, cost: Cost, budget: &Budget) -> Optimum {
    let shapes = space::shapes(problem);
    let schemes = vec![Scheme::Bhs; shapes.len()];
    let Some((space, table)) = Space::new(problem, &shapes, &schemes, cost) else {
        return Optimum::of_one_block(problem, &shapes, cost);
    };
    let search = LatticeSearch::new(&space, budget);
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
        nodes: found.examined,
        levels: of_hierarchy(&found.best.levels),
        minimal: found.minimal.iter().map(of_hierarchy).collect(),
    }
}

/// The result of the search.
struct LatticeAnswer {
    best: BestNode,
    minimal: Vec<Levels>,
    /// Number of nodes whose rules were tested or whose cost was computed.
    examined: u64,
    /// False when the budget was spent, or there were too many nodes.
    is_at_end: bool,
}

/// The node of least cost so far.
#[derive(Clone)]
struct BestNode {
    cost: f64,
    levels: Levels,
}

/// The search itself.
struct LatticeSearch<'a> {
    space: &'a Space<'a>,
    /// For each attribute and level the partition, as the least atom of each atom's block.
    ladders: Vec<Parts>,
    /// The greatest number of rows in classes that do not satisfy the rules.
    limit: u64,
    budget: &'a Budget,
    /// Buffers that no thread uses now.
    spare_buffers: Mutex<Vec<ClassBuffers>>,
}

impl<'a> LatticeSearch<'a> {
    fn new(space: &'a Space<'a>, budget: &'a Budget) -> LatticeSearch<'a> {
        let limit = if space.is_by_size() { space.allowance } else { 0 };
        LatticeSearch {
            space,
            ladders: space.shapes.iter().map(Shape::ladder).collect(),
            limit,
            budget,
            spare_buffers: Mutex::default(),
        }
    }

    fn run(&self, table: &ClassTable) -> LatticeAnswer {
        let top: Levels = self.ladders.iter().map(|ladder| ladder.len() - 1).collect();
        let value = self.value(table, &top);
        debug_assert_eq!(value.suppressed, 0, "the whole table as one class satisfies the rules");
        let top = BestNode { cost: value.cost, levels: top };
        // Attributes with one level are the same in every node.
        let free: Vec<usize> =
            (0..self.ladders.len()).filter(|&at| self.ladders[at].len() > 1).collect();
        let all =
            free.iter().map(|&at| self.ladders[at].len() + 1).try_fold(1usize, usize::checked_mul);
        if all.is_none_or(|nodes| nodes > MOST_NODES) {
            return LatticeAnswer {
                best: self.descend(table, &vec![0; self.ladders.len()], top),
                minimal: Vec::new(),
                examined: 0,
                is_at_end: false,
            };
        }
        let Some((holds, tested)) = self.holding(&free, table) else {
            return LatticeAnswer { best: top, minimal: Vec::new(), examined: 0, is_at_end: false };
        };
        let lattice = Lattice::new(&free, &self.ladders);
        let is_minimal =
            |&node: &usize| holds[node] && !lattice.below(node).any(|below| holds[below]);
        let minimal: Vec<usize> = (0..lattice.len).filter(is_minimal).collect();
        let least = self.least(&lattice, &minimal);
        let table = self.with_buffers(|buffers| table.rolled_up(&self.parts(&least), buffers));
        let (best, valued, is_at_end) = if self.limit == 0 {
            self.cheapest_minimal(&lattice, &minimal, &table, top)
        } else {
            let start = self.descend(&table, &least, top);
            self.cheapest_of_all(&lattice, &holds, table, start)
        };
        let minimal = minimal.iter().map(|&node| self.levels(&lattice, node)).collect();
        LatticeAnswer { best, minimal, examined: tested + valued, is_at_end }
    }

    fn with_buffers<T>(&self, work: impl FnOnce(&mut ClassBuffers) -> T) -> T {
        let lock = || self.spare_buffers.lock().expect("no thread panics while holding the lock");
        let mut buffers = lock().pop().unwrap_or_default();
        let done = work(&mut buffers);
        lock().push(buffers);
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

    /// For each attribute the least level over the nodes.
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

    /// The cost of a node; infinite when it does not satisfy the rules.
    fn value(&self, table: &ClassTable, levels: &[usize]) -> PartitionCost {
        let mut value =
            self.with_buffers(|buffers| self.space.value(table, &self.parts(levels), buffers));
        if value.suppressed > self.limit {
            value.cost = f64::INFINITY;
        }
        value
    }

    /// For each node over all of these attributes whether it satisfies the rules, and the number of
    /// tested nodes over all subsets; none when the budget is spent.
    fn holding(&self, free: &[usize], table: &ClassTable) -> Option<(Vec<bool>, u64)> {
        // The test needs no costs.
        let ClassTable { width, atoms, rows, sensitive, .. } = table;
        let sums = Vec::new();
        let mut table = ClassTable {
            width: *width,
            atoms: atoms.clone(),
            rows: rows.clone(),
            sums,
            sensitive: sensitive.clone(),
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
                        .expect("one block of all values satisfies the rules");
                }
                table = self.with_buffers(|buffers| table.rolled_up(&self.parts(&least), buffers));
            }
        }
        Some((smaller.remove(free).expect("the last subset is that of all"), tested))
    }

    /// The same for one subset, from the results of the subsets with one attribute less.
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
        let mut tables = HeightTables { base, of: vec![None; lattice.len] };
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

    /// The table of the lattice's attributes alone at these levels.
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
        let wide = self.with_buffers(|buffers| table.rolled_up(&least, buffers));
        let narrow =
            |atoms: &[u32]| lattice.attributes.iter().map(|&at| atoms[at]).collect::<Vec<u32>>();
        ClassTable {
            width: lattice.attributes.len(),
            atoms: wide.atoms.chunks_exact(wide.width).flat_map(narrow).collect(),
            ..wide
        }
    }

    /// None when a node satisfies the rules, otherwise the table that its generalizations can be
    /// rolled up from.
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
        self.with_buffers(|buffers| {
            let rolled = source.rolled_up(&parts, buffers);
            let suppressed: u64 = if self.space.is_by_size() {
                rolled
                    .rows
                    .iter()
                    .map(|&rows| u64::from(rows))
                    .filter(|&rows| rows < self.space.least_rows)
                    .sum()
            } else {
                let mut classes = EntryClasses::default();
                rolled.classify(&parts, buffers, &mut classes);
                let holds = self.space.holding(&rolled, &classes);
                holds
                    .iter()
                    .zip(&classes.sizes)
                    .filter(|&(holds, _)| !holds)
                    .map(|(_, size)| size)
                    .sum()
            };
            (suppressed > self.limit).then(|| kept(source, rolled))
        })
    }
}
