//! What a class is to a privacy model: its size and how often each sensitive value occurs in it.

use crate::codes::Code;

/// The counts of one class.
///
/// Counts are kept densely, one cell a value of each sensitive column, with a list of the values
/// that occur: adding a row, asking for a count and taking a row away cost O(1) a column, and
/// everything else costs only what was added. The dense part takes 16 bytes a value, so a tally is
/// a workplace to fill, ask and clear; do not keep one for each of a million classes.
#[derive(Clone, Debug)]
pub struct Tally {
    size: u64,
    columns: Vec<Counts>,
}

#[derive(Clone, Debug)]
struct Counts {
    cells: Vec<Cell>,
    /// The codes with a count above 0, each once.
    present: Vec<Code>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    count: u64,
    /// Where the code stands in `present`; means nothing while the count is 0.
    place: u32,
}

impl Tally {
    /// An empty class; `domains` says how many values each sensitive column has.
    pub fn new(domains: &[usize]) -> Tally {
        let empty =
            |&domain: &usize| Counts { cells: vec![Cell::default(); domain], present: Vec::new() };
        Tally { size: 0, columns: domains.iter().map(empty).collect() }
    }

    /// Adds `count` equal rows with these codes, one a sensitive column. Panics if a column has no
    /// code, or one beyond its domain.
    pub fn add(&mut self, codes: &[Code], count: u32) {
        assert_eq!(codes.len(), self.columns.len(), "a row has one code for each sensitive column");
        self.size += u64::from(count);
        for (column, &code) in self.columns.iter_mut().zip(codes) {
            column.add(code, u64::from(count));
        }
    }

    /// Takes away `count` equal rows with these codes. Panics if the class does not have that many.
    pub fn remove(&mut self, codes: &[Code], count: u32) {
        assert_eq!(codes.len(), self.columns.len(), "a row has one code for each sensitive column");
        self.size =
            self.size.checked_sub(u64::from(count)).expect("a class loses only rows that it has");
        for (column, &code) in self.columns.iter_mut().zip(codes) {
            column.remove(code, u64::from(count));
        }
    }

    /// Adds all rows of another class over the same columns.
    pub fn merge(&mut self, other: &Tally) {
        assert_eq!(other.columns.len(), self.columns.len(), "both classes count the same columns");
        self.size += other.size;
        for (column, others) in self.columns.iter_mut().zip(&other.columns) {
            for &code in &others.present {
                column.add(code, others.cells[code as usize].count);
            }
        }
    }

    /// Takes away all rows, at the cost of the values that occurred.
    pub fn clear(&mut self) {
        self.size = 0;
        for column in &mut self.columns {
            for code in column.present.drain(..) {
                column.cells[code as usize].count = 0;
            }
        }
    }

    /// How many rows the class has.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// How many rows have this value.
    pub fn count(&self, column: usize, code: Code) -> u64 {
        self.columns[column].cells[code as usize].count
    }

    /// How many different values occur.
    pub fn distinct(&self, column: usize) -> u64 {
        self.columns[column].present.len() as u64
    }

    /// The values that occur with their counts, in no particular order: sort before showing them.
    pub fn present(&self, column: usize) -> impl Iterator<Item = (Code, u64)> + Clone + '_ {
        let column = &self.columns[column];
        column.present.iter().map(|&code| (code, column.cells[code as usize].count))
    }
}

impl Counts {
    fn add(&mut self, code: Code, count: u64) {
        let cell = &mut self.cells[code as usize];
        if cell.count == 0 && count > 0 {
            cell.place = u32::try_from(self.present.len())
                .expect("there are fewer present codes than codes");
            self.present.push(code);
        }
        cell.count += count;
    }

    fn remove(&mut self, code: Code, count: u64) {
        let cell = &mut self.cells[code as usize];
        cell.count = cell.count.checked_sub(count).expect("a class loses only rows that it has");
        if cell.count == 0 && count > 0 {
            let place = cell.place;
            self.present.swap_remove(place as usize);
            if let Some(&moved) = self.present.get(place as usize) {
                self.cells[moved as usize].place = place;
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
                        tally.merge(&tally.clone());
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
    fn merging_adds_the_counts_of_both() {
        let mut one = Tally::new(&[3]);
        one.add(&[0], 2);
        let mut other = Tally::new(&[3]);
        other.add(&[0], 1);
        other.add(&[2], 5);
        one.merge(&other);
        assert_eq!((one.size(), sorted(&one, 0)), (8, vec![(0, 3), (2, 5)]));
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
