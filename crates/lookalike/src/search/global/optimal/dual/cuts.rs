//! Boxes with too few rows, and the prices that rows have to pay as long as they are inside.

use super::column::{Blocks, Column, members};

/// A box with fewer rows than the rules require, around one entry: the entry is suppressed, or its
/// block on one of the attributes is not inside the box.
#[derive(Debug, Default)]
pub(super) struct Cuts {
    pub(super) entry: Vec<u32>,
    /// Cut by cut, for each column the elements of the box.
    pub(super) sides: Vec<u64>,
    pub(super) buckets: Vec<u32>,
    pub(super) prices: Vec<f64>,
}

impl Cuts {
    pub(super) fn len(&self) -> usize {
        self.entry.len()
    }

    pub(super) fn push(&mut self, columns: &[Column], entry: usize, sides: &[u64], price: f64) {
        self.entry.push(u32::try_from(entry).expect("fewer entries than rows"));
        self.sides.extend_from_slice(sides);
        for (column, &side) in columns.iter().zip(sides) {
            self.buckets.push(column.bucket(column.of[entry] as usize, side));
        }
        self.prices.push(price);
    }

    /// Keeps the cuts with a price.
    pub(super) fn purge(&mut self, width: usize) {
        let mut kept = 0;
        for cut in 0..self.len() {
            if self.prices[cut] > 0.0 {
                self.entry[kept] = self.entry[cut];
                self.prices[kept] = self.prices[cut];
                self.sides.copy_within(cut * width..(cut + 1) * width, kept * width);
                self.buckets.copy_within(cut * width..(cut + 1) * width, kept * width);
                kept += 1;
            }
        }
        self.entry.truncate(kept);
        self.prices.truncate(kept);
        self.sides.truncate(kept * width);
        self.buckets.truncate(kept * width);
    }
}

/// The blocks of recent partitions with their weights, which sum up to 1 for each element.
#[derive(Debug)]
pub(super) struct Average {
    blocks: Vec<Vec<(u64, f64)>>,
}

impl Average {
    pub(super) fn new(columns: usize) -> Average {
        Average { blocks: vec![Vec::new(); columns] }
    }

    /// Takes in a partition of each column with a weight.
    pub(super) fn add(&mut self, partitions: &[Blocks], weight: f64) {
        for (blocks, partition) in self.blocks.iter_mut().zip(partitions) {
            let weight = if blocks.is_empty() { 1.0 } else { weight };
            blocks.iter_mut().for_each(|block| block.1 *= 1.0 - weight);
            for (element, &block) in partition.iter().enumerate() {
                if block.trailing_zeros() as usize == element {
                    match blocks.iter_mut().find(|known| known.0 == block) {
                        Some(known) => known.1 += weight,
                        None => blocks.push((block, weight)),
                    }
                }
            }
            blocks.retain(|block| block.1 > 1e-3);
        }
    }
}

/// For each column and element the entries that have it, one bit for each.
#[derive(Debug)]
pub(super) struct Occurrences {
    words: usize,
    of: Vec<Vec<Vec<u64>>>,
    rows: Vec<u32>,
    pub(super) least_rows: u64,
}

/// A box that grows as long as it has too few rows.
struct GrowingBox<'a> {
    all: &'a Occurrences,
    sides: Vec<u64>,
    inside: Vec<Vec<u64>>,
    rows: u64,
}

impl Occurrences {
    pub(super) fn new(columns: &[Column], rows: &[u32], least_rows: u64) -> Occurrences {
        let words = rows.len().div_ceil(64);
        let of = columns
            .iter()
            .map(|column| {
                let mut bits = vec![vec![0u64; words]; column.count];
                for (entry, &element) in column.of.iter().enumerate() {
                    bits[element as usize][entry / 64] |= 1 << (entry % 64);
                }
                bits
            })
            .collect();
        Occurrences { words, of, rows: rows.to_vec(), least_rows }
    }
}

impl GrowingBox<'_> {
    /// The rows inside.
    fn count(&self) -> u64 {
        let word = |word: usize| self.inside.iter().fold(u64::MAX, |bits, of| bits & of[word]);
        let rows = |at: usize| {
            members(word(at)).map(|bit| u64::from(self.all.rows[at * 64 + bit])).sum::<u64>()
        };
        (0..self.all.words).map(rows).sum()
    }

    /// Extends the box on a column unless it would have enough rows.
    fn extend(&mut self, at: usize, more: u64) -> bool {
        let added = more & !self.sides[at];
        if added == 0 {
            return true;
        }
        let mut rows = self.rows;
        for word in 0..self.all.words {
            let mut here =
                members(added).fold(0, |bits, element| bits | self.all.of[at][element][word]);
            if here == 0 {
                continue;
            }
            for (other, inside) in self.inside.iter().enumerate() {
                if other != at {
                    here &= inside[word];
                }
            }
            while here != 0 {
                rows += u64::from(self.all.rows[word * 64 + here.trailing_zeros() as usize]);
                here &= here - 1;
            }
            if rows >= self.all.least_rows {
                return false;
            }
        }
        self.rows = rows;
        self.sides[at] |= added;
        for element in members(added) {
            for (inside, more) in self.inside[at].iter_mut().zip(&self.all.of[at][element]) {
                *inside |= more;
            }
        }
        true
    }
}

/// A box around an entry that contains as much of the average partition as possible, and cannot be
/// extended; and the weight of the average that is not inside. `turn` varies the order.
pub(super) fn grown_box(
    columns: &[Column],
    all: &Occurrences,
    average: &Average,
    entry: usize,
    turn: usize,
) -> Option<(Vec<u64>, f64)> {
    let element = |at: usize| columns[at].of[entry] as usize;
    let mut grown = GrowingBox {
        all,
        sides: (0..columns.len()).map(|at| 1 << element(at)).collect(),
        inside: (0..columns.len()).map(|at| all.of[at][element(at)].clone()).collect(),
        rows: 0,
    };
    grown.rows = grown.count();
    if grown.rows >= all.least_rows {
        return None;
    }
    let mut wanted: Vec<(f64, usize, u64)> = Vec::new();
    for (at, blocks) in average.blocks.iter().enumerate() {
        let here = blocks.iter().filter(|block| block.0 >> element(at) & 1 == 1);
        wanted.extend(here.map(|&(block, weight)| (weight, at, block)));
    }
    wanted.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
    let mut escaping = 0.0;
    for (weight, at, block) in wanted {
        if !grown.extend(at, block & columns[at].reach[element(at)]) {
            escaping += weight;
        }
    }
    // Then the blocks that cost least: they are the easiest ways out of the box.
    let mut rest: Vec<(f64, usize, u64)> = Vec::new();
    for (at, column) in columns.iter().enumerate() {
        let side = grown.sides[at];
        let ways = column.ways_out[element(at)].iter();
        rest.extend(ways.filter(|way| way.1 & !side != 0).map(|&(cost, block)| (cost, at, block)));
    }
    rest.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
    if turn % 2 == 1 {
        rest.sort_by_key(|way| (way.1 + turn / 2) % columns.len());
    }
    for (_, at, block) in rest {
        grown.extend(at, block);
    }
    Some((grown.sides, escaping))
}

impl Average {
    /// The weight of the blocks that have both of two elements of a column.
    pub(super) fn joined(&self, at: usize, one: usize, other: usize) -> f64 {
        let both = |block: &&(u64, f64)| block.0 >> one & block.0 >> other & 1 == 1;
        self.blocks[at].iter().filter(both).map(|block| block.1).sum()
    }
}
