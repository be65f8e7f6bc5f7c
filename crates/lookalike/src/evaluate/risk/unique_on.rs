//! Who is unique on a set of columns: the individuals that are alone with their values there.
//!
//! Where the combinations of values are few they are counted in an array. Where they are many a
//! class has a fingerprint of 64 bits, the sum of random numbers of its values: two of a million
//! different combinations have the same one with a chance of 1 in 30 million, and then two
//! individuals count as not unique.

use super::Individuals;
use super::classes::{RiskClasses, SEVERAL};
use crate::audit::Fold;
use crate::codes::Codes;
use crate::rng::Rng;

/// Combinations of values are counted in an array while they are at most so many.
const DENSE: usize = 1 << 23;

/// Fingerprints are looked up in parts of about so many, which fit into a cache.
const PART: usize = 1 << 12;

/// A quasi-identifier, class by class.
#[derive(Debug)]
pub(super) struct KeyColumn {
    codes: Codes,
    /// For each code its random number.
    numbers: Vec<u64>,
}

impl KeyColumn {
    /// The quasi-identifier at a place; columns of bounds are one together.
    pub(super) fn new(classes: &RiskClasses<'_>, at: usize) -> KeyColumn {
        let of_quasi = classes.columns.iter().filter(|(quasi, _)| *quasi == at);
        let columns: Vec<_> = of_quasi
            .map(|(_, column)| {
                let code = |class: usize| column.codes().get(classes.first[class] as usize);
                (column.values().len(), code)
            })
            .collect();
        let number = classes.first.len();
        let (codes, values) = match &columns[..] {
            [(values, code)] => {
                let mut codes = Codes::new();
                codes.append(&(0..number).map(code).collect::<Vec<u32>>());
                (codes, *values)
            }
            _ => {
                let mut fold = Fold::new(number);
                fold.refine(&columns);
                let folded = fold.finish();
                (folded.of.into_iter().collect(), folded.sizes.len())
            }
        };
        // The numbers decide nothing but where a look-up begins.
        let mut rng = Rng::at(1, at as u64);
        KeyColumn { codes, numbers: (0..values).map(|_| rng.next_u64()).collect() }
    }

    /// Adds this column to keys as one more digit.
    fn add_digit(&self, keys: &mut [u32]) {
        let values = u32::try_from(self.numbers.len()).expect("fewer values than rows");
        let digit = |key: &mut u32, code: u32| *key = *key * values + code;
        match &self.codes {
            Codes::U8(all) => keys.iter_mut().zip(all).for_each(|(k, &c)| digit(k, c.into())),
            Codes::U16(all) => keys.iter_mut().zip(all).for_each(|(k, &c)| digit(k, c.into())),
            Codes::U32(all) => keys.iter_mut().zip(all).for_each(|(k, &c)| digit(k, c)),
        }
    }

    /// Changes fingerprints by the numbers of this column.
    fn change(&self, fingerprints: &mut [u64], how: fn(u64, u64) -> u64) {
        let numbers = &self.numbers;
        let each = |print: &mut u64, code: usize| *print = how(*print, numbers[code]);
        let prints = fingerprints.iter_mut();
        match &self.codes {
            Codes::U8(all) => prints.zip(all).for_each(|(p, &c)| each(p, c.into())),
            Codes::U16(all) => prints.zip(all).for_each(|(p, &c)| each(p, c.into())),
            Codes::U32(all) => prints.zip(all).for_each(|(p, &c)| each(p, c as usize)),
        }
    }
}

/// The classes of a table with their keys on any columns.
#[derive(Debug)]
pub(super) struct UniqueOn<'c> {
    columns: &'c [KeyColumn],
    owner: &'c [u32],
    /// The classes with one individual, ascending: only they can be unique on fewer columns.
    pub(super) candidates: Vec<u32>,
    /// For each class 1, or 2 where it has several individuals.
    number: Vec<u8>,
    counted: Individuals,
}

impl<'c> UniqueOn<'c> {
    pub(super) fn new(columns: &'c [KeyColumn], classes: &'c RiskClasses<'_>) -> UniqueOn<'c> {
        let candidates = (0..).zip(&classes.owner).filter(|(_, owner)| **owner != SEVERAL);
        UniqueOn {
            columns,
            owner: &classes.owner,
            candidates: candidates.map(|(class, _)| class).collect(),
            number: classes.owner.iter().map(|&owner| 1 + u8::from(owner == SEVERAL)).collect(),
            counted: classes.counted,
        }
    }

    /// A bit for each candidate: whether it is unique on the columns of the set.
    pub(super) fn on(&self, set: &[usize]) -> Vec<u64> {
        let values = |column: &usize| self.columns[*column].numbers.len();
        let combinations = set.iter().try_fold(1usize, |all, column| {
            all.checked_mul(values(column)).filter(|&all| all <= DENSE)
        });
        match combinations {
            Some(combinations) => self.by_array(set, combinations),
            None => {
                let mut fingerprints = vec![0; self.owner.len()];
                for &column in set {
                    self.columns[column].change(&mut fingerprints, u64::wrapping_add);
                }
                let mut is_unique = vec![false; self.owner.len()];
                self.by_fingerprint(&fingerprints, |class| is_unique[class as usize] = true);
                self.bits(|class| is_unique[class])
            }
        }
    }

    fn by_array(&self, set: &[usize], combinations: usize) -> Vec<u64> {
        let mut keys = vec![0u32; self.owner.len()];
        set.iter().for_each(|&column| self.columns[column].add_digit(&mut keys));
        if self.counted == Individuals::Persons {
            let mut owners = vec![NOBODY; combinations];
            for (&key, &owner) in keys.iter().zip(self.owner) {
                add(&mut owners[key as usize], owner);
            }
            return self.bits(|class| owners[keys[class] as usize] != SEVERAL);
        }
        // Nobody has two classes: to know 0, 1 or more is enough.
        let mut number = vec![0u8; combinations];
        for (&key, &more) in keys.iter().zip(&self.number) {
            let at = &mut number[key as usize];
            *at = at.saturating_add(more);
        }
        if !number.contains(&1) {
            return vec![0; self.candidates.len().div_ceil(64)];
        }
        self.bits(|class| number[keys[class] as usize] == 1)
    }

    /// Calls `see` for each class that is unique, part by part of the fingerprints, so that a table
    /// of owners stays in the cache.
    fn by_fingerprint(&self, fingerprints: &[u64], mut see: impl FnMut(u32)) {
        let parts = (fingerprints.len() / PART).next_power_of_two();
        let shift = 64 - parts.trailing_zeros();
        let part = |fingerprint: u64| {
            let high = fingerprint.checked_shr(shift).unwrap_or(0);
            usize::try_from(high).expect("few parts")
        };
        let mut ends = vec![0usize; parts + 1];
        fingerprints.iter().for_each(|&fingerprint| ends[part(fingerprint) + 1] += 1);
        (0..parts).for_each(|at| ends[at + 1] += ends[at]);
        let starts = ends.clone();
        let mut entries = vec![(0u64, 0u32, 0u32); fingerprints.len()];
        for ((class, &fingerprint), &owner) in (0..).zip(fingerprints).zip(self.owner) {
            let at = &mut ends[part(fingerprint)];
            entries[*at] = (fingerprint.max(1), class, owner);
            *at += 1;
        }
        let mut slots = Slots::default();
        for part in starts.windows(2).map(|ends| &entries[ends[0]..ends[1]]) {
            slots.clear_for(part.len());
            for &(fingerprint, _, owner) in part {
                let slot = slots.place(fingerprint);
                slots.fingerprints[slot] = fingerprint;
                add(&mut slots.owners[slot], owner);
            }
            for &(fingerprint, class, _) in part {
                if slots.owners[slots.place(fingerprint)] != SEVERAL {
                    see(class);
                }
            }
        }
    }

    fn bits(&self, is_unique: impl Fn(usize) -> bool) -> Vec<u64> {
        let word = |candidates: &[u32]| {
            (0..)
                .zip(candidates)
                .fold(0u64, |bits, (at, &class)| bits | u64::from(is_unique(class as usize)) << at)
        };
        self.candidates.chunks(64).map(word).collect()
    }

    /// The fingerprints on all columns.
    pub(super) fn fingerprints(&self) -> Vec<u64> {
        let mut all = vec![0; self.owner.len()];
        self.columns.iter().for_each(|column| column.change(&mut all, u64::wrapping_add));
        all
    }

    /// Individuals that are unique on all columns but one, by the fingerprints on all of them.
    pub(super) fn on_all_but(&self, column: usize, fingerprints: &[u64]) -> u64 {
        let mut others = fingerprints.to_vec();
        self.columns[column].change(&mut others, u64::wrapping_sub);
        let mut number = 0;
        self.by_fingerprint(&others, |_| number += 1);
        number
    }
}

/// The owner of a key that no class has.
const NOBODY: u32 = SEVERAL - 1;

/// A further owner of a key.
fn add(owner: &mut u32, other: u32) {
    *owner = if *owner == NOBODY || *owner == other { other } else { SEVERAL };
}

/// A hash table from fingerprints to owners, with open addressing; 0 is an empty slot.
#[derive(Default)]
struct Slots {
    fingerprints: Vec<u64>,
    owners: Vec<u32>,
}

impl Slots {
    fn clear_for(&mut self, keys: usize) {
        let slots = (keys + keys / 2 + 1).next_power_of_two();
        self.fingerprints.clear();
        self.fingerprints.resize(slots, 0);
        self.owners.clear();
        self.owners.resize(slots, NOBODY);
    }

    /// The slot that has the fingerprint, or the empty one where it belongs.
    fn place(&self, fingerprint: u64) -> usize {
        let mask = self.fingerprints.len() - 1;
        #[allow(clippy::cast_possible_truncation, reason = "the low bits are enough")]
        let mut at = fingerprint as usize & mask;
        while self.fingerprints[at] != fingerprint && self.fingerprints[at] != 0 {
            at = (at + 1) & mask;
        }
        at
    }
}
