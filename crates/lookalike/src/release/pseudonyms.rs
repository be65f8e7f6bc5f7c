//! Pseudonyms: a random number for each released person in place of the person key.
//!
//! The numbers are 1 to the number of released persons, in random order under the key of the run and
//! the request: a release with other rules or another seed has other numbers.

use std::cmp::Ordering;
use std::hash::BuildHasher;

use rustc_hash::FxBuildHasher;

use crate::codes::RowId;
use crate::problem::PersonRows;
use crate::request::Request;
use crate::rng::{Key, PSEUDONYMS};

/// The pseudonym of each row's person; empty where none are published.
#[derive(Debug, Default)]
pub(super) struct Pseudonyms {
    /// By row of the table; 0 for rows that are not released.
    of_row: Vec<u32>,
}

impl Pseudonyms {
    /// Pseudonyms for the persons of the released rows.
    pub(super) fn new(
        persons: &PersonRows,
        released: impl Iterator<Item = RowId>,
        request: &Request,
        key: Key,
    ) -> Pseudonyms {
        let person_of = persons.of_rows();
        let mut number = vec![0; persons.len()];
        released.for_each(|row| number[person_of.get(row as usize) as usize] = 1);
        let is_released = |person: &u32| number[*person as usize] > 0;
        let mut order: Vec<u32> = (0u32..).take(persons.len()).filter(is_released).collect();
        let mut rules = request.clone();
        rules.input.path = None;
        rules.output.path = None;
        let rules = rules.to_toml().unwrap_or_default();
        key.draws(FxBuildHasher.hash_one((PSEUDONYMS, rules))).shuffle(&mut order);
        (1..).zip(order).for_each(|(pseudonym, person)| number[person as usize] = pseudonym);
        let of_row = person_of.iter().map(|person| number[person as usize]).collect();
        Pseudonyms { of_row }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.of_row.is_empty()
    }

    pub(super) fn of(&self, row: RowId) -> i64 {
        i64::from(self.of_row[row as usize])
    }

    /// The order of two rows by their pseudonyms.
    pub(super) fn compared(&self, one: RowId, other: RowId) -> Ordering {
        let of = |row: RowId| self.of_row.get(row as usize);
        of(one).cmp(&of(other))
    }
}
