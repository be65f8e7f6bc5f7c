//! The input of a privacy model: the size of a class and the count of each sensitive value in it.

use std::sync::Arc;

use super::counting::{Counting, PERSON_WEIGHT, PluralColumn, SharedCounting};
use crate::codes::Code;

/// The counts of one class.
///
/// Each sensitive column has a dense array of counts, one for each value, and a list of the values
/// that occur. Adding a row, reading a count and removing a row take O(1) for each column; `clear`
/// and the iterators take O(values that occur). The array takes 16 bytes for each value of the
/// domain, so a tally is filled, read and cleared again: do not keep one for each of a million
/// classes.
#[derive(Clone, Debug)]
pub struct Tally {
    size: u64,
    /// The size by weight.
    weight: u64,
    columns: Vec<ColumnCounts>,
    counting: SharedCounting,
}

/// The counts of one sensitive column.
#[derive(Clone, Debug)]
struct ColumnCounts {
    /// By code.
    counts: Vec<CodeCount>,
    /// The codes with a count above 0, each once.
    present: Vec<Code>,
    /// By code, where persons may have several values: the weight of each person shared out among
    /// the values of the person. Empty elsewhere.
    shared: Vec<u64>,
    shared_total: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct CodeCount {
    count: u64,
    /// Its index in `present`; undefined while the count is 0.
    place: u32,
}

impl Tally {
    /// An empty class; `domains` is the number of values of each sensitive column.
    pub fn new(domains: &[usize]) -> Tally {
        let columns = domains.iter().map(|&domain| ColumnCounts::new(domain, 0)).collect();
        Tally { size: 0, weight: 0, columns, counting: None }
    }

    /// An empty class that counts persons.
    pub fn of_persons(counting: &Arc<Counting>) -> Tally {
        let empty = |column: &PluralColumn| {
            let shared = if column.is_plural() { column.values } else { 0 };
            ColumnCounts::new(column.values, shared)
        };
        let columns = counting.columns.iter().map(empty).collect();
        Tally { size: 0, weight: 0, columns, counting: Some(Arc::clone(counting)) }
    }

    /// Adds `count` equal rows with these codes, one for each sensitive column. Panics if the
    /// number of codes is another, or a code is beyond its domain.
    pub fn add(&mut self, codes: &[Code], count: u32) {
        assert_eq!(codes.len(), self.columns.len(), "a row has one code for each sensitive column");
        self.size += u64::from(count);
        let weight = self.weight_of(codes, count);
        self.weight += weight;
        let Some(counting) = &self.counting else {
            let columns = self.columns.iter_mut().zip(codes);
            return columns.for_each(|(column, &code)| column.add(code, weight));
        };
        for ((column, plural), code) in self.columns.iter_mut().zip(&counting.columns).zip(codes) {
            let values = plural.values_of(code);
            values.iter().for_each(|&value| column.add(value, weight));
            column.share(values, weight, |all, part| all + part);
        }
    }

    /// Removes `count` equal rows with these codes. Panics if the class does not have that many.
    pub fn remove(&mut self, codes: &[Code], count: u32) {
        assert_eq!(codes.len(), self.columns.len(), "a row has one code for each sensitive column");
        self.size =
            self.size.checked_sub(u64::from(count)).expect("a class loses only rows that it has");
        let weight = self.weight_of(codes, count);
        self.weight -= weight;
        let Some(counting) = &self.counting else {
            let columns = self.columns.iter_mut().zip(codes);
            return columns.for_each(|(column, &code)| column.remove(code, weight));
        };
        for ((column, plural), code) in self.columns.iter_mut().zip(&counting.columns).zip(codes) {
            let values = plural.values_of(code);
            values.iter().for_each(|&value| column.remove(value, weight));
            column.share(values, weight, |all, part| all - part);
        }
    }

    /// The weight of equal rows: that of their person, or 1 each.
    fn weight_of(&self, codes: &[Code], count: u32) -> u64 {
        let weights = self.counting.as_ref().and_then(|counting| counting.weights.as_ref());
        let of_row = weights.zip(codes.last()).map_or(1, |(weights, &last)| weights[last as usize]);
        u64::from(count) * u64::from(of_row)
    }

    /// Removes all rows in O(values that occur).
    pub fn clear(&mut self) {
        self.size = 0;
        self.weight = 0;
        for column in &mut self.columns {
            for code in column.present.drain(..) {
                column.counts[code as usize].count = 0;
                if let Some(shared) = column.shared.get_mut(code as usize) {
                    *shared = 0;
                }
            }
            column.shared_total = 0;
        }
    }

    /// Rows of the class; persons, where all rows of a person are in one class.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The size by weight: what the counts of values are shares of.
    pub fn weight(&self) -> u64 {
        self.weight
    }

    /// The word for what is counted.
    pub(super) fn counted(&self) -> &'static str {
        match &self.counting {
            Some(counting) if !counting.is_weighted() => "persons",
            _ => "rows",
        }
    }

    /// The greatest weight of a row or person.
    pub fn unit(&self) -> u64 {
        let counting = self.counting.as_ref();
        if counting.is_some_and(|counting| counting.is_weighted()) { PERSON_WEIGHT } else { 1 }
    }

    /// The weight of the rows or persons of the class with this value.
    pub fn count(&self, column: usize, code: Code) -> u64 {
        self.columns[column].counts[code as usize].count
    }

    /// Number of different values in the class.
    pub fn distinct(&self, column: usize) -> u64 {
        self.columns[column].present.len() as u64
    }

    /// True when a person may have several values of this column: then the counts of the values add
    /// up to more than the persons.
    pub fn is_plural(&self, column: usize) -> bool {
        !self.columns[column].shared.is_empty()
    }

    /// The values that occur with their counts, in no particular order: sort them for output.
    pub fn present(&self, column: usize) -> impl Iterator<Item = (Code, u64)> + Clone + '_ {
        let column = &self.columns[column];
        column.present.iter().map(|&code| (code, column.counts[code as usize].count))
    }

    /// The distribution of the values that occur: each person's weight shared out among the values
    /// of the person. It adds up to [`Tally::shared_total`].
    pub fn shared(&self, column: usize) -> impl Iterator<Item = (Code, u64)> + Clone + '_ {
        let own = &self.columns[column];
        own.present.iter().map(move |&code| (code, self.shared_of(column, code)))
    }

    /// The part of a value in the distribution.
    pub fn shared_of(&self, column: usize, code: Code) -> u64 {
        let own = &self.columns[column];
        own.shared.get(code as usize).copied().unwrap_or(own.counts[code as usize].count)
    }

    /// The sum of the distribution.
    pub fn shared_total(&self, column: usize) -> u64 {
        if self.is_plural(column) { self.columns[column].shared_total } else { self.weight }
    }

    /// The part of one person in the distribution, at most.
    pub fn shared_unit(&self, column: usize) -> u64 {
        if self.is_plural(column) { PERSON_WEIGHT } else { self.unit() }
    }
}

impl ColumnCounts {
    fn new(values: usize, shared: usize) -> ColumnCounts {
        ColumnCounts {
            counts: vec![CodeCount::default(); values],
            present: Vec::new(),
            shared: vec![0; shared],
            shared_total: 0,
        }
    }

    /// Shares so many persons out among their values.
    fn share(&mut self, values: &[Code], persons: u64, change: impl Fn(u64, u64) -> u64) {
        if self.shared.is_empty() {
            return;
        }
        let part = persons * (PERSON_WEIGHT / values.len() as u64);
        for &value in values {
            let shared = &mut self.shared[value as usize];
            *shared = change(*shared, part);
            self.shared_total = change(self.shared_total, part);
        }
    }

    fn add(&mut self, code: Code, count: u64) {
        let of = &mut self.counts[code as usize];
        if of.count == 0 && count > 0 {
            of.place = u32::try_from(self.present.len())
                .expect("there are fewer present codes than codes");
            self.present.push(code);
        }
        of.count += count;
    }

    fn remove(&mut self, code: Code, count: u64) {
        let of = &mut self.counts[code as usize];
        of.count = of.count.checked_sub(count).expect("a class loses only rows that it has");
        if of.count == 0 && count > 0 {
            let place = of.place;
            self.present.swap_remove(place as usize);
            if let Some(&moved) = self.present.get(place as usize) {
                self.counts[moved as usize].place = place;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::privacy::tests::Random;

    fn sorted(tally: &Tally, column: usize) -> Vec<(Code, u64)> {
        let mut all: Vec<_> = tally.present(column).collect();
        all.sort_unstable();
        all
    }

    #[test]
    fn a_tally_equals_a_plain_list_of_rows_after_any_history() {
        let mut random = Random(7);
        let domains = [1, 4, 30];
        for _ in 0..200 {
            let mut tally = Tally::new(&domains);
            let mut rows: Vec<Vec<Code>> = Vec::new();
            for _ in 0..random.below(120) {
                match random.below(20) {
                    0 => {
                        tally.clear();
                        rows.clear();
                    }
                    1 if rows.len() < 100 => {
                        rows.iter().for_each(|row| tally.add(row, 1));
                        rows.extend(rows.clone());
                    }
                    2..8 if !rows.is_empty() => {
                        let row = rows.swap_remove(random.below(rows.len()));
                        tally.remove(&row, 1);
                    }
                    _ => {
                        let row: Vec<Code> =
                            domains.iter().map(|&domain| random.code(domain)).collect();
                        let count = random.below(3);
                        tally.add(&row, u32::try_from(count).unwrap());
                        rows.extend(std::iter::repeat_n(row, count));
                    }
                }
                assert_eq!(tally.size(), rows.len() as u64);
                for (column, &domain) in domains.iter().enumerate() {
                    let counts = (0..domain).map(|code| {
                        let code = Code::try_from(code).unwrap();
                        (code, rows.iter().filter(|row| row[column] == code).count() as u64)
                    });
                    let counts: Vec<_> = counts.collect();
                    assert!(counts.iter().all(|&(code, count)| tally.count(column, code) == count));
                    let present: Vec<_> =
                        counts.into_iter().filter(|&(_, count)| count > 0).collect();
                    assert_eq!(tally.distinct(column), present.len() as u64);
                    assert_eq!(sorted(&tally, column), present);
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "only rows that it has")]
    fn rows_that_are_not_there_cannot_be_taken_away() {
        let mut tally = Tally::new(&[2]);
        tally.add(&[0], 1);
        tally.remove(&[1], 1);
    }

    #[test]
    fn more_rows_than_32_bits_are_counted() {
        let mut tally = Tally::new(&[1]);
        tally.add(&[0], u32::MAX);
        tally.add(&[0], u32::MAX);
        assert_eq!(
            (tally.size(), tally.count(0, 0)),
            (2 * u64::from(u32::MAX), 2 * u64::from(u32::MAX))
        );
    }
}
