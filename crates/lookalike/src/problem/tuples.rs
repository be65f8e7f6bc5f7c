//! The distinct tuples of a table: rows that agree in all quasi-identifiers and in all sensitive
//! columns under a rule.

use rayon::prelude::*;

use crate::codes::{Code, Codes, RowId};
use crate::rng::{Key, NUMBERING};
use crate::table::Coded;

/// Rows whose keys are packed at a time: few enough for the cache.
const PACKED: usize = 1 << 12;

/// A column of the table under new codes.
pub(super) struct Recoded<'a> {
    codes: &'a Codes,
    map: &'a [Code],
    bits: u32,
}

impl<'a> Recoded<'a> {
    pub(super) fn new(coded: &'a Coded, map: &'a [Code]) -> Recoded<'a> {
        Recoded::of(coded.codes(), map)
    }

    /// Codes under a map of their own.
    pub(super) fn of(codes: &'a Codes, map: &'a [Code]) -> Recoded<'a> {
        let greatest = map.iter().copied().max().unwrap_or(0);
        Recoded { codes, map, bits: u32::BITS - greatest.leading_zeros() }
    }

    /// Appends the code of each row to its key.
    fn pack(&self, keyed: &mut [(u64, RowId)]) {
        match self.codes {
            Codes::U8(codes) => self.pack_by(keyed, |row| usize::from(codes[row])),
            Codes::U16(codes) => self.pack_by(keyed, |row| usize::from(codes[row])),
            Codes::U32(codes) => self.pack_by(keyed, |row| codes[row] as usize),
        }
    }

    fn pack_by(&self, keyed: &mut [(u64, RowId)], code: impl Fn(usize) -> usize) {
        for (key, row) in keyed {
            *key = (*key << self.bits) | u64::from(self.map[code(*row as usize)]);
        }
    }

    #[inline]
    pub(super) fn code(&self, row: usize) -> Code {
        self.map[self.codes.get(row) as usize]
    }
}

/// The order of tuples that differ in sensitive values alone; tuples are numbered by their
/// quasi-identifiers first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Numbering {
    /// At random. Searches break ties by the number of a tuple: in the order of the values, the
    /// classes would disclose them.
    Random,
    /// By the codes of the sensitive values: for tests that name tuples by number.
    Sorted,
}

/// Row numbers, tuple by tuple; tuple t has `rows[starts[t]..starts[t + 1]]`.
pub(super) struct Tuples {
    pub(super) rows: Vec<RowId>,
    pub(super) starts: Vec<u32>,
}

impl Tuples {
    /// The distinct tuples of these columns, of which the first `quasi` are quasi-identifiers.
    pub(super) fn new(
        columns: &[Recoded],
        rows: usize,
        quasi: usize,
        numbering: Numbering,
        key: Key,
    ) -> Tuples {
        let tuples = distinct(columns, rows);
        if columns.len() == quasi || numbering == Numbering::Sorted {
            return tuples;
        }
        shuffled(&columns[..quasi], &tuples, key)
    }

    /// The code of each tuple on a column.
    pub(super) fn codes(&self, column: &Recoded) -> Codes {
        let firsts = &self.starts[..self.starts.len() - 1];
        firsts.iter().map(|&start| column.code(self.rows[start as usize] as usize)).collect()
    }

    /// The rows of each tuple, in order.
    fn iter(&self) -> impl Iterator<Item = &[RowId]> {
        self.starts.windows(2).map(|ends| &self.rows[ends[0] as usize..ends[1] as usize])
    }
}

/// The same tuples, those with equal quasi-identifiers in random order among themselves.
fn shuffled(quasi: &[Recoded], tuples: &Tuples, key: Key) -> Tuples {
    let mut draws = key.draws(NUMBERING);
    let mut order: Vec<&[RowId]> = tuples.iter().collect();
    let is_alike = |one: &&[RowId], other: &&[RowId]| {
        quasi.iter().all(|column| column.code(one[0] as usize) == column.code(other[0] as usize))
    };
    order.chunk_by_mut(is_alike).for_each(|alike| draws.shuffle(alike));
    let mut rows = Vec::with_capacity(tuples.rows.len());
    let mut starts = Vec::with_capacity(tuples.starts.len());
    starts.push(0);
    for tuple in order {
        rows.extend_from_slice(tuple);
        starts.push(u32::try_from(rows.len()).expect("the reader refuses more rows"));
    }
    Tuples { rows, starts }
}

/// Tuples in the order of their codes, their rows rising.
///
/// As many columns as fit are packed into 64 bits and sorted; while columns remain, the number of
/// the group found so far replaces the packed columns.
pub(super) fn distinct(columns: &[Recoded], rows: usize) -> Tuples {
    let rows_u32 = u32::try_from(rows).expect("the reader refuses more rows");
    let mut keyed: Vec<(u64, RowId)> = (0..rows_u32).map(|row| (0, row)).collect();
    let mut rest = columns;
    let mut group_bits = 0;
    while !rest.is_empty() {
        let mut free = u64::BITS - group_bits;
        let fit = rest
            .iter()
            .take_while(|column| free.checked_sub(column.bits).map(|left| free = left).is_some())
            .count();
        let (now, later) = rest.split_at(fit);
        // Column by column within a chunk: the width of the codes is asked once a chunk, not once a
        // cell.
        keyed.par_chunks_mut(PACKED).for_each(|keyed| {
            now.iter().for_each(|column| column.pack(keyed));
        });
        keyed.par_sort_unstable();
        rest = later;
        if !rest.is_empty() {
            let mut group = 0;
            let mut last = keyed[0].0;
            for (key, _) in &mut keyed {
                group += u64::from(*key != last);
                last = *key;
                *key = group;
            }
            group_bits = u64::BITS - group.leading_zeros();
        }
    }
    let mut starts = vec![0];
    starts.extend(
        (1..rows)
            .filter(|&at| keyed[at].0 != keyed[at - 1].0)
            .map(|at| u32::try_from(at).expect("below the rows")),
    );
    starts.push(rows_u32);
    Tuples { rows: keyed.into_iter().map(|(_, row)| row).collect(), starts }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    #[test]
    fn grouping_by_packed_keys_equals_grouping_by_whole_rows() {
        let mut rng = Rng::new(5);
        // Twelve columns of up to a million values need 240 bits: several rounds of packing.
        for widths in [&[3_u64, 2][..], &[1_000_000; 12], &[1, 70_000, 1, 5]] {
            let rows = 300;
            let tables: Vec<Coded> = widths
                .iter()
                .map(|&width| {
                    let few = rng.below(width).max(1);
                    let codes = (0..rows)
                        .map(|_| u32::try_from(rng.below(2) * (few - 1)).unwrap())
                        .collect();
                    let values = vec![None; usize::try_from(few).unwrap()];
                    Coded::from_parts(values, Vec::new(), codes)
                })
                .collect();
            let maps: Vec<Vec<Code>> =
                tables.iter().map(|coded| (0u32..).take(coded.values().len()).collect()).collect();
            let columns: Vec<Recoded> =
                tables.iter().zip(&maps).map(|(coded, map)| Recoded::new(coded, map)).collect();
            let found = distinct(&columns, rows);
            let key = |row: RowId| {
                columns.iter().map(|column| column.code(row as usize)).collect::<Vec<_>>()
            };
            let mut expected: Vec<RowId> = (0..u32::try_from(rows).unwrap()).collect();
            expected.sort_by_key(|&row| (key(row), row));
            assert_eq!(found.rows, expected);
            let groups: Vec<&[RowId]> = found.iter().collect();
            assert!(groups.iter().all(|group| group.iter().all(|&row| key(row) == key(group[0]))));
            assert!(groups.windows(2).all(|pair| key(pair[0][0]) < key(pair[1][0])));
        }
    }

    #[test]
    fn shuffling_keeps_the_order_of_the_quasi_identifiers() {
        let column = |codes: &[u32]| {
            Coded::from_parts(vec![None; 4], vec![0; 4], codes.iter().copied().collect())
        };
        // Five tuples: (0,0), (0,1), (0,2), (1,0), (1,3); the second has two rows.
        let (quasi, sensitive) = (column(&[1, 0, 0, 0, 1, 0]), column(&[3, 1, 0, 2, 0, 1]));
        let map = [0, 1, 2, 3];
        let columns = [Recoded::new(&quasi, &map), Recoded::new(&sensitive, &map)];
        let sorted = Tuples::new(&columns, 6, 1, Numbering::Sorted, Key::from_seed(1));
        assert_eq!((sorted.rows, sorted.starts), (vec![2, 1, 5, 3, 4, 0], vec![0, 1, 3, 4, 5, 6]));
        let mut orders = std::collections::BTreeSet::new();
        for seed in 0..200 {
            let tuples = Tuples::new(&columns, 6, 1, Numbering::Random, Key::from_seed(seed));
            let of_quasi: Vec<u32> = tuples.codes(&columns[0]).iter().collect();
            assert_eq!(of_quasi, [0, 0, 0, 1, 1]);
            orders.insert(tuples.codes(&columns[1]).iter().collect::<Vec<u32>>());
        }
        assert_eq!(orders.len(), 12, "all 3! times 2! orders come");
    }
}
