//! The distinct rows of a table, as far as the rules look: tuples, numbered in the order of their
//! codes.

use rayon::prelude::*;

use crate::codes::{Code, Codes, RowId};
use crate::rng::{Key, NUMBERING};
use crate::table::Coded;

/// Rows whose keys are packed at a time: few enough for the cache.
const PACKED: usize = 1 << 12;

/// A column of the table under new codes.
pub(crate) struct Recoded<'a> {
    codes: &'a Codes,
    map: &'a [Code],
    bits: u32,
}

impl<'a> Recoded<'a> {
    pub(crate) fn new(coded: &'a Coded, map: &'a [Code]) -> Recoded<'a> {
        let greatest = map.iter().copied().max().unwrap_or(0);
        Recoded { codes: coded.codes(), map, bits: u32::BITS - greatest.leading_zeros() }
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
    pub(crate) fn code(&self, row: usize) -> Code {
        self.map[self.codes.get(row) as usize]
    }
}

/// Puts the tuples that differ in sensitive values alone in random order among themselves. Searches
/// break ties by the number of a tuple: in the order of the values, who is with whom would show
/// them.
pub(crate) fn renumbered(
    quasi: &[Recoded],
    rows: &[RowId],
    starts: &[u32],
    key: Key,
) -> (Vec<RowId>, Vec<u32>) {
    let mut draws = key.draws(NUMBERING);
    let mut tuples: Vec<&[RowId]> =
        starts.windows(2).map(|ends| &rows[ends[0] as usize..ends[1] as usize]).collect();
    let is_alike = |one: &&[RowId], other: &&[RowId]| {
        quasi.iter().all(|column| column.code(one[0] as usize) == column.code(other[0] as usize))
    };
    tuples.chunk_by_mut(is_alike).for_each(|alike| draws.shuffle(alike));
    let (mut new_rows, mut new_starts) =
        (Vec::with_capacity(rows.len()), Vec::with_capacity(starts.len()));
    new_starts.push(0);
    for tuple in tuples {
        new_rows.extend_from_slice(tuple);
        new_starts.push(u32::try_from(new_rows.len()).expect("the reader refuses more rows"));
    }
    (new_rows, new_starts)
}

/// Row numbers grouped by equal codes, groups in code order, and where each group starts.
///
/// As many columns as fit are packed into 64 bits and sorted; where more are left, the groups found
/// so far take the place of the columns they came from.
pub(crate) fn distinct(columns: &[Recoded], rows: usize) -> (Vec<RowId>, Vec<u32>) {
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
    (keyed.into_iter().map(|(_, row)| row).collect(), starts)
}
