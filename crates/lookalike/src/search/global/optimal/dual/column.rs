//! One attribute in the dual: its candidate blocks with their costs, and its cheapest partition.

use crate::domain::scheme::Decision;
use crate::search::global::MOST_ATOMS;

/// Attributes whose blocks are sets take part in the dual up to this many blocks of the finest
/// partition: their cheapest partition takes 3^n steps.
pub(super) const MOST_OF_SETS: usize = 16;

/// Attributes whose blocks are intervals take part up to this many: one bit for each.
pub(super) const MOST_ON_A_LINE: usize = if MOST_ATOMS < 64 { MOST_ATOMS } else { 64 };

/// An attribute in the dual. Its elements are the blocks of the finest partition of a node; the
/// blocks of a partition are sets of elements, given by their bits. An attribute that takes no part
/// has one element.
#[derive(Debug)]
pub(super) struct Column {
    pub(super) count: usize,
    pub(super) is_of_sets: bool,
    /// The element of each entry.
    pub(super) of: Vec<u8>,
    /// The element of each atom; empty when the attribute takes no part.
    pub(super) rank: Vec<u8>,
    /// The atoms of each element, one bit for each.
    pub(super) atoms: Vec<u64>,
    /// For each element those that it may be joined with, itself included.
    pub(super) reach: Vec<u64>,
    /// The cost of each candidate without prices; infinite where it is not allowed. By `place`.
    pub(super) base: Vec<f64>,
    /// For each element the least sets that join it with another one that it may be joined with,
    /// and their costs.
    pub(super) ways_out: Vec<Vec<(f64, u64)>>,
}

/// A partition of an attribute: for each element the bits of its block.
pub(super) type Blocks = Vec<u64>;

/// The bits from one element to another, both included.
pub(super) fn interval(from: usize, to: usize) -> u64 {
    (u64::MAX >> (63 - (to - from))) << from
}

/// The elements of a set.
pub(super) fn members(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let first = set.trailing_zeros() as usize;
        (set != 0).then(|| {
            set &= set - 1;
            first
        })
    })
}

impl Column {
    /// An attribute that takes no part: every block is free.
    pub(super) fn apart(entries: usize) -> Column {
        Column {
            count: 1,
            is_of_sets: false,
            of: vec![0; entries],
            rank: Vec::new(),
            atoms: vec![u64::MAX],
            reach: vec![1],
            base: vec![0.0],
            ways_out: vec![Vec::new()],
        }
    }

    /// Finds the ways out of each element.
    pub(super) fn find_ways_out(&mut self) {
        let to = |one: usize, other: usize| {
            let block = if self.is_of_sets {
                1 << one | 1 << other
            } else {
                interval(one.min(other), one.max(other))
            };
            // Where the scheme allows no such block, one with more values costs more.
            (self.base[self.place(block)].min(f64::MAX), block)
        };
        let ways = |one: usize| {
            members(self.reach[one] & !(1 << one)).map(|other| to(one, other)).collect()
        };
        self.ways_out = (0..self.count).map(ways).collect();
    }

    /// Number of candidates, allowed or not.
    pub(super) fn places(count: usize, is_of_sets: bool) -> usize {
        if is_of_sets { 1 << count } else { count * count }
    }

    /// The place of a candidate among all.
    pub(super) fn place(&self, block: u64) -> usize {
        if self.is_of_sets {
            usize::try_from(block).expect("few elements")
        } else {
            let (from, to) = (block.trailing_zeros(), 63 - block.leading_zeros());
            from as usize * self.count + to as usize
        }
    }

    /// The costs without prices where pairs of elements are joined or kept apart.
    pub(super) fn restricted(&self, pairs: &[(usize, usize)], decision: Decision) -> Vec<f64> {
        let fits = |block: u64| {
            pairs.iter().all(|&(one, other)| {
                let (one, other) = (block >> one & 1, block >> other & 1);
                if decision == Decision::Joined { one == other } else { one + other < 2 }
            })
        };
        let mut base = self.base.clone();
        let mut restrict = |block: u64| {
            if !fits(block) {
                base[self.place(block)] = f64::INFINITY;
            }
        };
        if self.is_of_sets {
            (1..1u64 << self.count).for_each(restrict);
        } else {
            for from in 0..self.count {
                (from..self.count).for_each(|to| restrict(interval(from, to)));
            }
        }
        base
    }

    /// Number of buckets that prices are summed in.
    pub(super) fn buckets(&self) -> usize {
        let n = self.count;
        if self.is_of_sets { n << (n - 1) } else { n * n * n }
    }

    /// The bucket of a price that is lost when the block of an element is not inside a box.
    pub(super) fn bucket(&self, element: usize, side: u64) -> u32 {
        let n = self.count;
        let at = if self.is_of_sets {
            (element << (n - 1)) | without(usize::try_from(side).expect("few elements"), element)
        } else {
            let (lo, hi) = (side.trailing_zeros(), 63 - side.leading_zeros());
            (element * n + lo as usize) * n + hi as usize
        };
        u32::try_from(at).expect("at most 16 << 15 or 64^3 buckets")
    }

    /// The costs of all candidates under prices, which are summed by bucket and spoilt.
    pub(super) fn costs(&self, buckets: &mut [f64], costs: &mut Vec<f64>) {
        let n = self.count;
        costs.clear();
        costs.extend_from_slice(&self.base);
        if self.is_of_sets {
            self.costs_of_sets(buckets, costs);
            return;
        }
        for element in 0..n {
            let inside = &mut buckets[element * n * n..][..n * n];
            // Prices of boxes that contain an interval: begin no later and end no earlier.
            for lo in 0..=element {
                for hi in (element..n).rev() {
                    let mut sum = inside[lo * n + hi];
                    if lo > 0 {
                        sum += inside[(lo - 1) * n + hi];
                    }
                    if hi + 1 < n {
                        sum += inside[lo * n + hi + 1];
                    }
                    if lo > 0 && hi + 1 < n {
                        sum -= inside[(lo - 1) * n + hi + 1];
                    }
                    inside[lo * n + hi] = sum;
                }
            }
            let all = inside[element * n + element];
            for lo in 0..=element {
                for hi in element..n {
                    costs[lo * n + hi] -= all - inside[lo * n + hi];
                }
            }
        }
    }

    fn costs_of_sets(&self, buckets: &mut [f64], costs: &mut [f64]) {
        let n = self.count;
        let half = 1 << (n - 1);
        for element in 0..n {
            let inside = &mut buckets[element * half..][..half];
            for bit in 0..n - 1 {
                for pair in inside.chunks_exact_mut(2 << bit) {
                    let (below, above) = pair.split_at_mut(1 << bit);
                    below.iter_mut().zip(above).for_each(|(below, above)| *below += *above);
                }
            }
            let all = inside[0];
            let low = (1 << element) - 1;
            for (rest, inside) in inside.iter().enumerate() {
                let set = (rest & !low) << 1 | rest & low | 1 << element;
                costs[set] -= all - inside;
            }
        }
    }

    /// The cost of the cheapest partition, and its blocks.
    pub(super) fn cheapest(&self, costs: &[f64], memory: &mut Vec<f64>) -> (f64, Blocks) {
        let n = self.count;
        let mut blocks = vec![0; n];
        if self.is_of_sets {
            least_of_sets(costs, n, Extent::Whole, memory);
            let mut all = (1usize << n) - 1;
            let value = memory[all];
            while all != 0 {
                let set = best_set(costs, memory, all);
                for element in members(set as u64) {
                    blocks[element] = set as u64;
                }
                all ^= set;
            }
            return (value, blocks);
        }
        memory.clear();
        memory.resize(n + 1, f64::INFINITY);
        memory[0] = 0.0;
        let mut begins = vec![0; n];
        for to in 0..n {
            for from in (0..=to).rev() {
                let value = memory[from] + costs[from * n + to];
                if value < memory[to + 1] {
                    memory[to + 1] = value;
                    begins[to] = from;
                }
            }
        }
        let mut end = n;
        if memory[n].is_finite() {
            while end > 0 {
                let from = begins[end - 1];
                blocks[from..end].fill(interval(from, end - 1));
                end = from;
            }
        }
        (memory[n], blocks)
    }

    /// For every two elements the least cost of a partition that joins them, and of one that keeps
    /// them apart: a square, of which the part above the diagonal counts.
    pub(super) fn both_ways(&self, costs: &[f64], memory: &mut Vec<f64>) -> Vec<(f64, f64)> {
        let n = self.count;
        let mut ways = vec![(f64::INFINITY, f64::INFINITY); n * n];
        let mut take = |block: u64, value: f64| {
            for one in members(block) {
                for other in one + 1..n {
                    let way = &mut ways[one * n + other];
                    if block >> other & 1 == 1 {
                        way.0 = way.0.min(value);
                    } else {
                        way.1 = way.1.min(value);
                    }
                }
            }
        };
        if self.is_of_sets {
            least_of_sets(costs, n, Extent::All, memory);
            let all = (1usize << n) - 1;
            for set in (1..=all).filter(|&set| costs[set].is_finite()) {
                take(set as u64, costs[set] + memory[all ^ set]);
            }
            return ways;
        }
        let mut before = vec![f64::INFINITY; n + 1];
        let mut behind = vec![f64::INFINITY; n + 1];
        (before[0], behind[n]) = (0.0, 0.0);
        for to in 0..n {
            for from in 0..=to {
                before[to + 1] = before[to + 1].min(before[from] + costs[from * n + to]);
            }
        }
        for from in (0..n).rev() {
            for to in from..n {
                behind[from] = behind[from].min(costs[from * n + to] + behind[to + 1]);
            }
        }
        for from in 0..n {
            for to in from..n {
                take(interval(from, to), before[from] + costs[from * n + to] + behind[to + 1]);
            }
        }
        ways
    }
}

/// A set without one of its members, the bits above it moved down.
fn without(set: usize, element: usize) -> usize {
    let low = (1 << element) - 1;
    set >> 1 & !low | set & low
}

/// Which subsets are to be partitioned.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// Those that the cheapest partition of the whole set needs.
    Whole,
    All,
}

/// The least cost of a partition of each subset.
fn least_of_sets(costs: &[f64], count: usize, extent: Extent, least: &mut Vec<f64>) {
    let sets = 1usize << count;
    least.clear();
    least.resize(sets, f64::INFINITY);
    least[0] = 0.0;
    for all in 1..sets {
        // The first set that is taken from the whole has the first element.
        if extent == Extent::Whole && all & 1 == 1 && all != sets - 1 {
            continue;
        }
        let first = all & all.wrapping_neg();
        let others = all ^ first;
        let mut rest = others;
        let mut best = f64::INFINITY;
        loop {
            best = best.min(least[others ^ rest] + costs[rest | first]);
            if rest == 0 {
                break;
            }
            rest = (rest - 1) & others;
        }
        least[all] = best;
    }
}

/// The set that the cheapest partition of a subset begins with.
fn best_set(costs: &[f64], least: &[f64], all: usize) -> usize {
    let first = all & all.wrapping_neg();
    let others = all ^ first;
    let (mut rest, mut best) = (others, (f64::INFINITY, all));
    loop {
        let value = least[others ^ rest] + costs[rest | first];
        if value < best.0 {
            best = (value, rest | first);
        }
        if rest == 0 {
            return best.1;
        }
        rest = (rest - 1) & others;
    }
}
