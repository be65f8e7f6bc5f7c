//! Class tables: for every combination of blocks that occurs, how many rows have it. A coarser
//! table is rolled up from a finer one.

use rustc_hash::FxHashMap;

/// Up to this many cells, or this many an entry, classes are found by their place in an array;
/// beyond, by hashing.
const DENSE: u64 = 1 << 16;
const DENSE_AN_ENTRY: u64 = 8;

const NONE: u32 = u32::MAX;

/// Rows by what they have on every attribute, and by their sensitive values where rules look at
/// them.
#[derive(Debug)]
pub(crate) struct ClassTable {
    pub(crate) width: usize,
    /// Entry by entry, for each attribute the least atom of the block.
    pub(crate) atoms: Vec<u32>,
    /// Rows of each entry.
    pub(crate) rows: Vec<u32>,
    /// Entry by entry, sums over its rows: the costing knows of what. May be empty.
    pub(crate) sums: Vec<f64>,
    /// For each entry the combination of sensitive values; empty when no rule looks at them.
    pub(crate) secrets: Vec<u32>,
}

/// Which class each entry of a table belongs to.
#[derive(Debug, Default)]
pub(crate) struct Classes {
    pub(crate) of: Vec<u32>,
    /// Rows of each class.
    pub(crate) sizes: Vec<u64>,
}

/// What a thread writes on.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// The class at each place, of the array or of the hash table; everywhere `NONE` between two
    /// uses.
    ids: Vec<u32>,
    /// The combination of each class, as a number.
    keys: Vec<u64>,
    wide: FxHashMap<u128, u32>,
    /// What an atom adds to the number of its combination, for attribute after attribute.
    steps: Vec<u64>,
    classes: Classes,
}

impl ClassTable {
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(crate) fn atoms_of(&self, entry: usize) -> &[u32] {
        &self.atoms[entry * self.width..][..self.width]
    }

    pub(crate) fn sums_of(&self, entry: usize) -> &[f64] {
        if self.sums.is_empty() {
            return &[];
        }
        let width = self.sums.len() / self.len();
        &self.sums[entry * width..][..width]
    }

    /// Finds the classes under a partition of each attribute: for each atom the least one of its
    /// block.
    pub(crate) fn classify(
        &self,
        least: &[Vec<u32>],
        scratch: &mut Scratch,
        classes: &mut Classes,
    ) {
        let count = self.number(least, &[], scratch, &mut classes.of);
        classes.sizes.clear();
        classes.sizes.resize(count, 0);
        for (&class, &rows) in classes.of.iter().zip(&self.rows) {
            classes.sizes[class as usize] += u64::from(rows);
        }
    }

    /// The same for a table that was rolled up to this very partition.
    pub(crate) fn classify_all(
        &self,
        least: &[Vec<u32>],
        scratch: &mut Scratch,
        classes: &mut Classes,
    ) {
        if self.secrets.is_empty() {
            classes.of = (0..).take(self.len()).collect();
            classes.sizes = self.rows.iter().map(|&rows| u64::from(rows)).collect();
        } else {
            self.classify(least, scratch, classes);
        }
    }

    /// The table under a partition of each attribute.
    pub(crate) fn rolled_up(&self, least: &[Vec<u32>], scratch: &mut Scratch) -> ClassTable {
        let mut classes = std::mem::take(&mut scratch.classes);
        let count = self.number(least, &self.secrets, scratch, &mut classes.of);
        let sums = self.sums.len() / self.len().max(1);
        let mut table = ClassTable {
            width: self.width,
            atoms: Vec::with_capacity(count * self.width),
            rows: Vec::with_capacity(count),
            sums: vec![0.0; count * sums],
            secrets: Vec::with_capacity(if self.secrets.is_empty() { 0 } else { count }),
        };
        for (entry, (&class, &rows)) in classes.of.iter().zip(&self.rows).enumerate() {
            if class as usize == table.rows.len() {
                table.atoms.extend(
                    self.atoms_of(entry)
                        .iter()
                        .zip(least)
                        .map(|(&atom, least)| least[atom as usize]),
                );
                table.rows.push(rows);
                table.secrets.extend(self.secrets.get(entry));
            } else {
                table.rows[class as usize] += rows;
            }
        }
        if sums > 0 {
            for (&class, own) in classes.of.iter().zip(self.sums.chunks_exact(sums)) {
                table.sums[class as usize * sums..][..sums]
                    .iter_mut()
                    .zip(own)
                    .for_each(|(sum, more)| *sum += more);
            }
        }
        scratch.classes = classes;
        table
    }

    /// Numbers the different combinations of blocks (and of the secrets, if any are given) in the
    /// order in which they first occur, and says how many there are.
    fn number(
        &self,
        least: &[Vec<u32>],
        secrets: &[u32],
        scratch: &mut Scratch,
        of: &mut Vec<u32>,
    ) -> usize {
        let Scratch { ids, keys, wide, steps, .. } = scratch;
        of.clear();
        let mut cells = secrets.iter().max().map_or(1, |&most| u128::from(most) + 1);
        // The attributes with more than one block, each with its first place among the steps and
        // what a block adds.
        let mut telling: Vec<(usize, usize, u128)> = Vec::with_capacity(self.width);
        steps.clear();
        for (at, least) in least.iter().enumerate() {
            let from = steps.len();
            let mut blocks = 0;
            for (atom, &first) in least.iter().enumerate() {
                let place =
                    if first as usize == atom { blocks } else { steps[from + first as usize] };
                blocks += u64::from(first as usize == atom);
                steps.push(place);
            }
            if blocks > 1 {
                telling.push((at, from, cells));
                cells = cells
                    .checked_mul(u128::from(blocks))
                    .expect("the door has seen to it that combinations can be counted");
            } else {
                steps.truncate(from);
            }
        }
        let secret = |entry: usize| secrets.get(entry).copied().unwrap_or(0);
        let rows = self.atoms.chunks_exact(self.width).enumerate();
        let Ok(cells) = u64::try_from(cells) else {
            let step = |atoms: &[u32], (at, from, stride): (usize, usize, u128)| {
                u128::from(steps[from + atoms[at] as usize]) * stride
            };
            wide.clear();
            for (entry, atoms) in rows {
                let key = u128::from(secret(entry))
                    + telling.iter().map(|&telling| step(atoms, telling)).sum::<u128>();
                let next = u32::try_from(wide.len()).expect("fewer classes than rows");
                of.push(*wide.entry(key).or_insert(next));
            }
            return wide.len();
        };
        for (next, &(_, from, stride)) in (1..).zip(&telling) {
            let to = telling.get(next).map_or(steps.len(), |&(_, to, _)| to);
            let stride = u64::try_from(stride).expect("no more than all cells");
            steps[from..to].iter_mut().for_each(|step| *step *= stride);
        }
        let telling: Vec<(usize, &[u64])> =
            telling.iter().map(|&(at, from, _)| (at, &steps[from..])).collect();
        let key = |entry: usize, atoms: &[u32]| {
            let steps = telling.iter().map(|(at, steps)| steps[atoms[*at] as usize]);
            u64::from(secret(entry)) + steps.sum::<u64>()
        };
        keys.clear();
        let is_dense = cells <= DENSE.max(DENSE_AN_ENTRY * self.len() as u64);
        let places =
            if is_dense { cells } else { (2 * self.len() as u64).next_power_of_two().max(2) };
        let places = usize::try_from(places).expect("few");
        if ids.len() < places {
            ids.resize(places, NONE);
        }
        let next = |keys: &[u64]| u32::try_from(keys.len()).expect("fewer classes than rows");
        if is_dense {
            let place = |key: u64| usize::try_from(key).expect("there are few cells");
            for (entry, atoms) in rows {
                let key = key(entry, atoms);
                let id = &mut ids[place(key)];
                if *id == NONE {
                    *id = next(keys);
                    keys.push(key);
                }
                of.push(*id);
            }
            keys.iter().for_each(|&key| ids[place(key)] = NONE);
        } else {
            let (ids, shift) = (&mut ids[..places], 64 - places.ilog2());
            for (entry, atoms) in rows {
                let key = key(entry, atoms);
                // The upper bits of a product with an odd number near 2^64 / the golden ratio are
                // spread best.
                let mut place = usize::try_from(key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> shift)
                    .expect("few places");
                while ids[place] != NONE && keys[ids[place] as usize] != key {
                    place = (place + 1) & (places - 1);
                }
                if ids[place] == NONE {
                    ids[place] = next(keys);
                    keys.push(key);
                }
                of.push(ids[place]);
            }
            ids.fill(NONE);
        }
        keys.len()
    }
}

/// Entries by a key below `keys`, those of one key in the order in which they come.
pub(crate) fn sorted(
    entries: impl Iterator<Item = usize> + Clone,
    key: impl Fn(usize) -> usize,
    keys: usize,
) -> Vec<u32> {
    let mut starts = vec![0usize; keys + 1];
    let mut count = 0;
    for entry in entries.clone() {
        starts[key(entry) + 1] += 1;
        count += 1;
    }
    (1..starts.len()).for_each(|at| starts[at] += starts[at - 1]);
    let mut order = vec![0; count];
    for entry in entries {
        let place = &mut starts[key(entry)];
        order[*place] = u32::try_from(entry).expect("fewer entries than rows");
        *place += 1;
    }
    order
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::rng::Rng;

    /// Blocks and secret of an entry.
    type Key = (Vec<u32>, Option<u32>);

    /// By place, by hash, and by numbers of more than 64 bits.
    #[test]
    fn a_table_is_rolled_up_as_a_map_of_combinations_would_be() {
        for (width, atoms, entries) in
            [(2, 6, 300), (4, 40, 3_000), (16, 32, 2_000), (1, 1, 5), (3, 4, 0)]
        {
            for secrets in [0, 3] {
                let mut rng = Rng::new(width as u64);
                let mut lots = |count: usize, below: u64| -> Vec<u32> {
                    (0..count).map(|_| u32::try_from(rng.below(below)).unwrap()).collect()
                };
                // Few combinations, so that entries meet.
                let seeds = lots(width * 50, atoms);
                let picks = lots(entries, 50);
                let mut table = ClassTable {
                    width,
                    atoms: picks
                        .iter()
                        .flat_map(|&pick| seeds[pick as usize * width..][..width].to_vec())
                        .collect(),
                    rows: lots(entries, 9),
                    sums: lots(entries * 2, 100).into_iter().map(f64::from).collect(),
                    secrets: if secrets > 0 { lots(entries, secrets) } else { Vec::new() },
                };
                table
                    .atoms
                    .iter_mut()
                    .zip(lots(entries * width, 20))
                    .for_each(|(atom, lot)| *atom *= u32::from(lot > 0));
                let mut least: Vec<Vec<u32>> = Vec::new();
                for at in 0..width {
                    let step = if at % 3 == 1 { 2 } else { 1 };
                    least.push(
                        (0..u32::try_from(atoms).unwrap())
                            .map(|atom| if at % 5 == 4 { 0 } else { atom / step * step })
                            .collect(),
                    );
                }
                let block_of = |entry: usize| -> Vec<u32> {
                    table
                        .atoms_of(entry)
                        .iter()
                        .zip(&least)
                        .map(|(&atom, least)| least[atom as usize])
                        .collect()
                };
                let mut expected: BTreeMap<Key, (u32, Vec<f64>)> = BTreeMap::new();
                let mut sizes: BTreeMap<Vec<u32>, u64> = BTreeMap::new();
                for entry in 0..entries {
                    let (rows, sums) = expected
                        .entry((block_of(entry), table.secrets.get(entry).copied()))
                        .or_insert_with(|| (0, vec![0.0; 2]));
                    *rows += table.rows[entry];
                    sums.iter_mut().zip(table.sums_of(entry)).for_each(|(sum, more)| *sum += more);
                    *sizes.entry(block_of(entry)).or_default() += u64::from(table.rows[entry]);
                }
                let mut scratch = Scratch::default();
                for _ in 0..2 {
                    let rolled = table.rolled_up(&least, &mut scratch);
                    assert_eq!(rolled.len(), expected.len());
                    for entry in 0..rolled.len() {
                        let key =
                            (rolled.atoms_of(entry).to_vec(), rolled.secrets.get(entry).copied());
                        assert_eq!(
                            expected[&key],
                            (rolled.rows[entry], rolled.sums_of(entry).to_vec())
                        );
                    }
                    let mut classes = Classes::default();
                    table.classify(&least, &mut scratch, &mut classes);
                    assert_eq!((classes.of.len(), classes.sizes.len()), (entries, sizes.len()));
                    for (entry, &class) in classes.of.iter().enumerate() {
                        assert_eq!(classes.sizes[class as usize], sizes[&block_of(entry)]);
                    }
                }
            }
        }
    }
}
