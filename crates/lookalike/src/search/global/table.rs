//! Class tables: for every combination of blocks that occurs, how many rows have it. A coarser
//! table is rolled up from a finer one. A class here is an equivalence class: all rows of one
//! combination of blocks.

use crate::search::grouping::{GroupTable, hash};

/// Up to this many combinations, classes are found by their place in an array; beyond, by hashing.
const DENSE: u64 = 1 << 16;

/// The same, for each entry of the table: whichever of the two limits is greater.
const DENSE_AN_ENTRY: u64 = 8;

/// A place of the array without a class.
const NONE: u32 = u32::MAX;

/// Rows by their block on every attribute, and by their sensitive values where rules need them.
#[derive(Debug)]
pub(crate) struct ClassTable {
    pub(crate) width: usize,
    /// Entry by entry, for each attribute the least atom of the block.
    pub(crate) atoms: Vec<u32>,
    /// Rows of each entry.
    pub(crate) rows: Vec<u32>,
    /// Entry by entry, sums over its rows, as `Costing::sums` defines them. Empty for most costs.
    pub(crate) sums: Vec<f64>,
    /// For each entry the number of its combination of sensitive values; empty when no rule needs
    /// them.
    pub(crate) sensitive: Vec<u32>,
}

/// The class of each entry of a table.
#[derive(Debug, Default)]
pub(crate) struct EntryClasses {
    pub(crate) of: Vec<u32>,
    /// Rows of each class.
    pub(crate) sizes: Vec<u64>,
}

/// Memory that one thread reuses from table to table.
#[derive(Debug, Default)]
pub(crate) struct ClassBuffers {
    /// The class at each place of the array; everywhere `NONE` between two uses.
    ids: Vec<u32>,
    /// The places of `ids` in use.
    used: Vec<usize>,
    hashed: GroupTable<u64>,
    wide: GroupTable<u128>,
    /// For attribute after attribute, the number of each atom's block among the blocks.
    digits: Vec<u64>,
    classes: EntryClasses,
}

/// An attribute of more than one block, as a digit in the number of a combination.
struct Digit {
    attribute: usize,
    /// Its first place among the digits.
    from: usize,
    /// The product of the number of blocks of all attributes before.
    stride: u128,
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
        buffers: &mut ClassBuffers,
        classes: &mut EntryClasses,
    ) {
        let count = self.number(least, &[], buffers, &mut classes.of);
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
        buffers: &mut ClassBuffers,
        classes: &mut EntryClasses,
    ) {
        if self.sensitive.is_empty() {
            classes.of = (0..).take(self.len()).collect();
            classes.sizes = self.rows.iter().map(|&rows| u64::from(rows)).collect();
        } else {
            self.classify(least, buffers, classes);
        }
    }

    /// The table under a partition of each attribute.
    pub(crate) fn rolled_up(&self, least: &[Vec<u32>], buffers: &mut ClassBuffers) -> ClassTable {
        let mut classes = std::mem::take(&mut buffers.classes);
        let count = self.number(least, &self.sensitive, buffers, &mut classes.of);
        let sums = self.sums.len() / self.len().max(1);
        let mut table = ClassTable {
            width: self.width,
            atoms: Vec::with_capacity(count * self.width),
            rows: Vec::with_capacity(count),
            sums: vec![0.0; count * sums],
            sensitive: Vec::with_capacity(if self.sensitive.is_empty() { 0 } else { count }),
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
                table.sensitive.extend(self.sensitive.get(entry));
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
        buffers.classes = classes;
        table
    }

    /// Numbers the different combinations of blocks (and of sensitive values, if any are given) in
    /// the order in which they first occur, and returns how many there are.
    fn number(
        &self,
        least: &[Vec<u32>],
        sensitive: &[u32],
        buffers: &mut ClassBuffers,
        of: &mut Vec<u32>,
    ) -> usize {
        of.clear();
        let (digits, cells) = combinations(least, sensitive, &mut buffers.digits);
        let Ok(cells) = u64::try_from(cells) else {
            return self.number_wide(&digits, sensitive, buffers, of);
        };
        for (next, &Digit { from, stride, .. }) in (1..).zip(&digits) {
            let to = digits.get(next).map_or(buffers.digits.len(), |next| next.from);
            let stride = u64::try_from(stride).expect("at most the number of combinations");
            buffers.digits[from..to].iter_mut().for_each(|digit| *digit *= stride);
        }
        let summands = std::mem::take(&mut buffers.digits);
        let columns: Vec<(usize, &[u64])> =
            digits.iter().map(|digit| (digit.attribute, &summands[digit.from..])).collect();
        let key = |(entry, atoms): (usize, &[u32])| {
            let summands = columns.iter().map(|(at, summands)| summands[atoms[*at] as usize]);
            u64::from(sensitive.get(entry).copied().unwrap_or(0)) + summands.sum::<u64>()
        };
        let keys = self.atoms.chunks_exact(self.width).enumerate().map(key);
        let count = if cells <= DENSE.max(DENSE_AN_ENTRY * self.len() as u64) {
            number_dense(keys, cells, buffers, of)
        } else {
            buffers.hashed.clear(self.len());
            of.extend(keys.map(|key| buffers.hashed.group(key, hash(key))));
            buffers.hashed.len()
        };
        buffers.digits = summands;
        count
    }

    /// The same where the number of a combination needs more than 64 bits.
    fn number_wide(
        &self,
        digits: &[Digit],
        sensitive: &[u32],
        buffers: &mut ClassBuffers,
        of: &mut Vec<u32>,
    ) -> usize {
        let ClassBuffers { wide, digits: places, .. } = buffers;
        wide.clear(self.len());
        for (entry, atoms) in self.atoms.chunks_exact(self.width).enumerate() {
            let summand = |digit: &Digit| {
                u128::from(places[digit.from + atoms[digit.attribute] as usize]) * digit.stride
            };
            let key = u128::from(sensitive.get(entry).copied().unwrap_or(0))
                + digits.iter().map(summand).sum::<u128>();
            let [low, high] = [key & u128::from(u64::MAX), key >> 64]
                .map(|half| u64::try_from(half).expect("64 bits"));
            of.push(wide.group(key, hash(hash(low) ^ high)));
        }
        wide.len()
    }
}

/// The attributes of more than one block as digits, with the number of each atom's block in
/// `places`; and the number of combinations that they make with the sensitive values.
fn combinations(
    least: &[Vec<u32>],
    sensitive: &[u32],
    places: &mut Vec<u64>,
) -> (Vec<Digit>, u128) {
    let mut cells = sensitive.iter().max().map_or(1, |&most| u128::from(most) + 1);
    let mut digits = Vec::with_capacity(least.len());
    places.clear();
    for (attribute, least) in least.iter().enumerate() {
        let from = places.len();
        let mut blocks = 0;
        for (atom, &first) in least.iter().enumerate() {
            let is_first = first as usize == atom;
            let place = if is_first { blocks } else { places[from + first as usize] };
            blocks += u64::from(is_first);
            places.push(place);
        }
        if blocks > 1 {
            digits.push(Digit { attribute, from, stride: cells });
            cells = cells
                .checked_mul(u128::from(blocks))
                .expect("`Space::new` has checked that combinations can be counted");
        } else {
            places.truncate(from);
        }
    }
    (digits, cells)
}

/// Numbers keys below `cells` by their place in an array.
fn number_dense(
    keys: impl Iterator<Item = u64>,
    cells: u64,
    buffers: &mut ClassBuffers,
    of: &mut Vec<u32>,
) -> usize {
    let ClassBuffers { ids, used, .. } = buffers;
    let place = |key: u64| usize::try_from(key).expect("there are few cells");
    if ids.len() < place(cells) {
        ids.resize(place(cells), NONE);
    }
    used.clear();
    for key in keys {
        let id = &mut ids[place(key)];
        if *id == NONE {
            *id = u32::try_from(used.len()).expect("fewer classes than rows");
            used.push(place(key));
        }
        of.push(*id);
    }
    used.iter().for_each(|&place| ids[place] = NONE);
    used.len()
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

    /// Blocks and sensitive values of an entry.
    type EntryKey = (Vec<u32>, Option<u32>);

    /// By place, by hash, and by numbers of more than 64 bits.
    #[test]
    fn a_table_is_rolled_up_as_a_map_of_combinations_would_be() {
        for (width, atoms, entries) in
            [(2, 6, 300), (4, 40, 3_000), (16, 32, 2_000), (1, 1, 5), (3, 4, 0)]
        {
            for sensitive in [0, 3] {
                let mut rng = Rng::new(width as u64);
                let mut random = |count: usize, below: u64| -> Vec<u32> {
                    (0..count).map(|_| u32::try_from(rng.below(below)).unwrap()).collect()
                };
                // Few combinations, so that entries meet.
                let seeds = random(width * 50, atoms);
                let picks = random(entries, 50);
                let mut table = ClassTable {
                    width,
                    atoms: picks
                        .iter()
                        .flat_map(|&pick| seeds[pick as usize * width..][..width].to_vec())
                        .collect(),
                    rows: random(entries, 9),
                    sums: random(entries * 2, 100).into_iter().map(f64::from).collect(),
                    sensitive: if sensitive > 0 { random(entries, sensitive) } else { Vec::new() },
                };
                table
                    .atoms
                    .iter_mut()
                    .zip(random(entries * width, 20))
                    .for_each(|(atom, keep)| *atom *= u32::from(keep > 0));
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
                let mut expected: BTreeMap<EntryKey, (u32, Vec<f64>)> = BTreeMap::new();
                let mut sizes: BTreeMap<Vec<u32>, u64> = BTreeMap::new();
                for entry in 0..entries {
                    let (rows, sums) = expected
                        .entry((block_of(entry), table.sensitive.get(entry).copied()))
                        .or_insert_with(|| (0, vec![0.0; 2]));
                    *rows += table.rows[entry];
                    sums.iter_mut().zip(table.sums_of(entry)).for_each(|(sum, more)| *sum += more);
                    *sizes.entry(block_of(entry)).or_default() += u64::from(table.rows[entry]);
                }
                let mut buffers = ClassBuffers::default();
                for _ in 0..2 {
                    let rolled = table.rolled_up(&least, &mut buffers);
                    assert_eq!(rolled.len(), expected.len());
                    for entry in 0..rolled.len() {
                        let key =
                            (rolled.atoms_of(entry).to_vec(), rolled.sensitive.get(entry).copied());
                        assert_eq!(
                            expected[&key],
                            (rolled.rows[entry], rolled.sums_of(entry).to_vec())
                        );
                    }
                    let mut classes = EntryClasses::default();
                    table.classify(&least, &mut buffers, &mut classes);
                    assert_eq!((classes.of.len(), classes.sizes.len()), (entries, sizes.len()));
                    for (entry, &class) in classes.of.iter().enumerate() {
                        assert_eq!(classes.sizes[class as usize], sizes[&block_of(entry)]);
                    }
                }
            }
        }
    }
}
