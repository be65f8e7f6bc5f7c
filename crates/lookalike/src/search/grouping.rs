//! Numbers keys in the order in which they first occur: the grouping of rows by equal codes.
//!
//! Open addressing with linear probing, at most half full. Every slot keeps the round in which it
//! was written, so that the table is emptied by the next round's number, without a pass over it.
//! The numbers depend on the order of the keys alone, never on the hash.

/// An odd number near 2^64 / the golden ratio. The high bits of a product with it are spread well
/// over the slots.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// The hash of a key of 64 bits.
#[inline]
pub(crate) fn hash(key: u64) -> u64 {
    key.wrapping_mul(SPREAD)
}

/// A table from keys to group numbers, reused from round to round.
#[derive(Debug, Default)]
pub(crate) struct GroupTable<K> {
    slots: Vec<GroupSlot<K>>,
    /// How many of the slots this round uses: a power of two, at least 2.
    places: usize,
    /// Slots of an earlier round are free.
    round: u32,
    /// Groups of this round.
    groups: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct GroupSlot<K> {
    key: K,
    group: u32,
    round: u32,
}

impl<K: Copy + Default + Eq> GroupTable<K> {
    /// Empties the table and makes room for so many different keys.
    pub(crate) fn clear(&mut self, keys: usize) {
        self.round += 1;
        self.groups = 0;
        self.places = (2 * keys).next_power_of_two().max(2);
        if self.slots.len() < self.places {
            self.slots = vec![GroupSlot::default(); self.places];
        }
    }

    /// The group of a key; a new key opens the next group. Equal keys must come with equal hashes.
    #[inline]
    pub(crate) fn group(&mut self, key: K, hash: u64) -> u32 {
        let slots = &mut self.slots[..self.places];
        let mask = slots.len() - 1;
        let shift = 64 - self.places.ilog2();
        let mut place = usize::try_from(hash >> shift).expect("fewer places than memory");
        loop {
            let slot = &mut slots[place & mask];
            if slot.round != self.round {
                let group = self.groups;
                *slot = GroupSlot { key, group, round: self.round };
                self.groups += 1;
                return group;
            }
            if slot.key == key {
                return slot.group;
            }
            place += 1;
        }
    }

    /// Groups since the table was last emptied.
    pub(crate) fn len(&self) -> usize {
        self.groups as usize
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::rng::Rng;

    #[test]
    fn keys_are_numbered_as_they_first_occur_in_every_round_whatever_their_hashes() {
        let mut rng = Rng::new(3);
        let mut table: GroupTable<(u64, u32)> = GroupTable::default();
        for round in 0..300 {
            let keys = usize::try_from(rng.below(200)).unwrap();
            let domain = 1 + rng.below(300);
            table.clear(keys);
            let mut expected = BTreeMap::new();
            for _ in 0..keys {
                let key = (rng.below(domain), u32::try_from(rng.below(3)).unwrap());
                let next = u32::try_from(expected.len()).unwrap();
                // In every third round all keys meet in the last slot and go on from the first.
                let hash = if round % 3 == 0 { u64::MAX } else { hash(key.0) };
                assert_eq!(table.group(key, hash), *expected.entry(key).or_insert(next));
            }
            assert_eq!(table.len(), expected.len());
        }
    }
}
