//! The input of a privacy model: the size of a class and the count of each sensitive value in it.

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
    columns: Vec<ColumnCounts>,
}

/// The counts of one sensitive column.
#[derive(Clone, Debug)]
struct ColumnCounts {
    /// By code.
    counts: Vec<CodeCount>,
    /// The codes with a count above 0, each once.
    present: Vec<Code>,
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
        let empty = |&domain: &usize| ColumnCounts {
            counts: vec![CodeCount::default(); domain],
            present: Vec::new(),
        };
        Tally { size: 0, columns: domains.iter().map(empty).collect() }
    }

    /// Adds `count` equal rows with these codes, one for each sensitive column. Panics if the
    /// number of codes is another, or a code is beyond its domain.
    pub fn add(&mut self, codes: &[Code], count: u32) {
        assert_eq!(codes.len(), self.columns.len(), "a row has one code for each sensitive column");
        self.size += u64::from(count);
        for (column, &code) in self.columns.iter_mut().zip(codes) {
            column.add(code, u64::from(count));
        }
    }

    /// Removes `count` equal rows with these codes. Panics if the class does not have that many.
    pub fn remove(&mut self, codes: &[Code], count: u32) {
        assert_eq!(codes.len(), self.columns.len(), "a row has one code for each sensitive column");
        self.size =
            self.size.checked_sub(u64::from(count)).expect("a class loses only rows that it has");
        for (column, &code) in self.columns.iter_mut().zip(codes) {
            column.remove(code, u64::from(count));
        }
    }

    /// Removes all rows in O(values that occur).
    pub fn clear(&mut self) {
        self.size = 0;
        for column in &mut self.columns {
            for code in column.present.drain(..) {
                column.counts[code as usize].count = 0;
            }
        }
    }

    /// Rows of the class.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Rows of the class with this value.
    pub fn count(&self, column: usize, code: Code) -> u64 {
        self.columns[column].counts[code as usize].count
    }

    /// Number of different values in the class.
    pub fn distinct(&self, column: usize) -> u64 {
        self.columns[column].present.len() as u64
    }

    /// The values that occur with their counts, in no particular order: sort them for output.
    pub fn present(&self, column: usize) -> impl Iterator<Item = (Code, u64)> + Clone + '_ {
        let column = &self.columns[column];
        column.present.iter().map(|&code| (code, column.counts[code as usize].count))
    }
}

impl ColumnCounts {
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
