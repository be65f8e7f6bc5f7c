//! The prices of a node's cuts, kept for the nodes below it.

use super::Dual;
use super::column::{Column, members};

/// Cuts with their prices, in terms of atoms.
#[derive(Debug, Default)]
pub(crate) struct Prices {
    /// Cut by cut, for each attribute an atom of the entry.
    atoms: Vec<u8>,
    /// Cut by cut, for each attribute the atoms of the box.
    sides: Vec<u64>,
    prices: Vec<f64>,
    /// Pair by pair, for each attribute an atom of the one entry, then for each of the other.
    pairs: Vec<u8>,
    pair_prices: Vec<f64>,
}

impl Dual {
    /// The prices, for the nodes below this one.
    pub(in super::super) fn prices(&self) -> Prices {
        let width = self.columns.len();
        let mut all = Prices::default();
        for (cut, &price) in self.cuts.prices.iter().enumerate() {
            let entry = self.cuts.entry[cut] as usize;
            for (at, column) in self.columns.iter().enumerate() {
                all.atoms.push(column.atom(entry));
                let side = self.cuts.sides[cut * width + at];
                all.sides.push(members(side).fold(0, |atoms, of| atoms | column.atoms[of]));
            }
            all.prices.push(price);
        }
        let priced = self.pairs.prices.iter().zip(&self.pairs.entries);
        for (&price, &(one, other)) in priced.filter(|(price, _)| **price > 0.0) {
            for entry in [one as usize, other as usize] {
                all.pairs.extend(self.columns.iter().map(|column| column.atom(entry)));
            }
            all.pair_prices.push(price);
        }
        all
    }

    /// Takes over the prices of the node above. Cuts that hold in all partitions are dropped.
    pub(super) fn take(&mut self, prices: &Prices) {
        let width = self.columns.len();
        let entries: Vec<u8> = (0..self.rows.len())
            .flat_map(|entry| self.columns.iter().map(move |column| column.of[entry]))
            .collect();
        let entry_of: rustc_hash::FxHashMap<&[u8], usize> =
            entries.chunks_exact(width).enumerate().map(|(entry, of)| (of, entry)).collect();
        let mut known: rustc_hash::FxHashMap<(usize, Vec<u64>), usize> =
            rustc_hash::FxHashMap::default();
        let (mut of, mut sides) = (vec![0; width], vec![0; width]);
        for (cut, &price) in prices.prices.iter().enumerate() {
            for (at, column) in self.columns.iter().enumerate() {
                of[at] = column.element(prices.atoms[cut * width + at]);
                sides[at] =
                    column.inside(prices.sides[cut * width + at]) & column.reach[of[at] as usize];
            }
            let leaves = (0..width).any(|at| sides[at] >> of[at] & 1 == 0);
            let Some(&entry) = entry_of.get(of.as_slice()).filter(|_| !leaves) else { continue };
            if self.budgets[entry] > 0.0 {
                let next = self.cuts.len();
                let cut = *known.entry((entry, sides.clone())).or_insert(next);
                if cut == next {
                    self.cuts.push(&self.columns, entry, &sides, price);
                } else {
                    self.cuts.prices[cut] += price;
                }
            }
        }
        let places = (0..).zip(&self.pairs.entries).map(|(place, &entries)| (entries, place));
        let place_of: rustc_hash::FxHashMap<(u32, u32), usize> = places.collect();
        for (pair, &price) in prices.pairs.chunks_exact(2 * width).zip(&prices.pair_prices) {
            let number = |atoms: &[u8]| {
                let of: Vec<u8> = self
                    .columns
                    .iter()
                    .zip(atoms)
                    .map(|(column, &atom)| column.element(atom))
                    .collect();
                entry_of.get(of.as_slice()).and_then(|&entry| u32::try_from(entry).ok())
            };
            let (one, other) = pair.split_at(width);
            if let (Some(one), Some(other)) = (number(one), number(other))
                && let Some(&place) = place_of.get(&(one.min(other), one.max(other)))
            {
                let most = self.pairs.most[place];
                let known = &mut self.pairs.prices[place];
                *known = (*known + price).min(most);
            }
        }
    }
}

impl Column {
    /// An atom of an entry.
    fn atom(&self, entry: usize) -> u8 {
        let atoms = self.atoms[self.of[entry] as usize];
        u8::try_from(atoms.trailing_zeros()).expect("at most 64")
    }

    /// The element of an atom.
    fn element(&self, atom: u8) -> u8 {
        if self.rank.is_empty() { 0 } else { self.rank[atom as usize] }
    }

    /// The elements whose atoms are all in a set; for intervals around the same element, again an
    /// interval.
    fn inside(&self, side: u64) -> u64 {
        let is_inside = |&(_, atoms): &(usize, &u64)| atoms & !side == 0;
        let elements = self.atoms.iter().enumerate().filter(is_inside);
        elements.fold(0, |set, (element, _)| set | 1 << element)
    }
}
