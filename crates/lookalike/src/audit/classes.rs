//! Equivalence classes: rows with equal cells, counted exactly.
//!
//! Columns are folded in one after the other: a row's class so far and its codes in the next
//! columns make a pair, and each different pair is a new class. Pairs are compared as they are,
//! never by a hash alone, so two classes are never confused. A row that follows an equal row, as
//! nearly all do in canonical order, takes a comparison and no look-up.

use rustc_hash::FxHashMap;

use crate::codes::RowId;

/// The class of every row; classes are numbered by their first row.
#[derive(Debug)]
pub(crate) struct RowClasses {
    pub(crate) of: Vec<u32>,
    pub(crate) sizes: Vec<u32>,
    pub(crate) first: Vec<RowId>,
}

/// The rows of each class side by side.
#[derive(Debug)]
pub(super) struct ClassRows {
    starts: Vec<RowId>,
    rows: Vec<RowId>,
}

/// A grouping under construction: all rows are in one class until columns are folded in.
#[derive(Debug)]
pub(crate) struct Fold {
    of: Vec<u32>,
    classes: u32,
}

const NONE: u32 = u32::MAX;

impl Fold {
    pub(crate) fn new(rows: usize) -> Fold {
        Fold { of: vec![0; rows], classes: 1 }
    }

    /// Splits every class by columns, each with its number of different codes and the code of a
    /// row.
    pub(crate) fn refine(&mut self, columns: &[(usize, impl Fn(usize) -> u32)]) {
        let mut rest = columns;
        while !rest.is_empty() {
            // While a table of all pairs is no larger than the rows themselves, look-up is an
            // index; beyond, a hash map. Either way as many columns as fit are taken at once, as
            // digits of one number.
            let room = self.of.len().max(1 << 16) / self.classes as usize;
            let (direct, digits) = digits(rest, room);
            let (taken, different) =
                if direct > 0 { (direct, digits) } else { self::digits(rest, 1 << 32) };
            let (batch, after) = rest.split_at(taken.max(1));
            let code = |row: usize| {
                batch.iter().fold(0, |number, (distinct, code)| {
                    number * *distinct as u64 + u64::from(code(row))
                })
            };
            if direct > 0 {
                let mut table = vec![NONE; self.classes as usize * different];
                let at = |class: u32, code: u64| {
                    class as usize * different
                        + usize::try_from(code).expect("codes are below their number")
                };
                self.split(code, |class, code, next| number(&mut table[at(class, code)], next));
            } else {
                let mut map: FxHashMap<u64, u32> = FxHashMap::default();
                self.split(code, |class, code, next| {
                    number(map.entry(u64::from(class) << 32 | code).or_insert(NONE), next)
                });
            }
            rest = after;
        }
    }

    /// Gives every row the class that `class_of` returns for its present class and its code.
    fn split(
        &mut self,
        code: impl Fn(usize) -> u64,
        mut class_of: impl FnMut(u32, u64, u32) -> u32,
    ) {
        let mut classes = 0;
        let mut last = None;
        let mut last_class = 0;
        for (row, class) in self.of.iter_mut().enumerate() {
            let pair = (*class, code(row));
            if last != Some(pair) {
                last = Some(pair);
                last_class = class_of(pair.0, pair.1, classes);
                classes = classes.max(last_class + 1);
            }
            *class = last_class;
        }
        self.classes = classes;
    }

    pub(crate) fn finish(self) -> RowClasses {
        let mut sizes = vec![0u32; self.classes as usize];
        let mut first = vec![NONE; self.classes as usize];
        for (row, &class) in (0..).zip(&self.of) {
            sizes[class as usize] += 1;
            first[class as usize] = first[class as usize].min(row);
        }
        RowClasses { of: self.of, sizes, first }
    }
}

/// How many of the columns fit into one number below `room`, and how many such numbers there are.
fn digits(columns: &[(usize, impl Fn(usize) -> u32)], room: usize) -> (usize, usize) {
    let (mut taken, mut numbers) = (0, 1usize);
    for (distinct, _) in columns {
        match numbers.checked_mul((*distinct).max(1)) {
            Some(more) if more <= room => (taken, numbers) = (taken + 1, more),
            _ => break,
        }
    }
    (taken, numbers)
}

/// The number in the slot; an empty slot takes the next free number.
fn number(slot: &mut u32, next: u32) -> u32 {
    if *slot == NONE {
        *slot = next;
    }
    *slot
}

impl RowClasses {
    pub(super) fn rows(&self) -> ClassRows {
        let mut starts = Vec::with_capacity(self.sizes.len() + 1);
        let mut end = 0;
        starts.push(end);
        starts.extend(self.sizes.iter().map(|size| {
            end += size;
            end
        }));
        let mut next = starts.clone();
        let mut rows = vec![0; self.of.len()];
        for (row, &class) in (0..).zip(&self.of) {
            let at = &mut next[class as usize];
            rows[*at as usize] = row;
            *at += 1;
        }
        ClassRows { starts, rows }
    }
}

impl ClassRows {
    /// The rows of a class, in the order of the table.
    pub(super) fn of(&self, class: usize) -> &[RowId] {
        &self.rows[self.starts[class] as usize..self.starts[class + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::audit::tests::Seeded;

    #[test]
    fn classes_equal_those_of_a_plain_map_in_any_order_and_at_any_width() {
        let mut seeded = Seeded(7);
        for round in 0..60 {
            let rows = 1 + seeded.below(400);
            let columns = 1 + seeded.below(4);
            let distinct = [2, 5, 300, 70_000][round % 4];
            let mut table: Vec<Vec<u32>> = (0..rows)
                .map(|_| {
                    (0..columns)
                        .map(|_| u32::try_from(seeded.below(distinct)).unwrap() / 3)
                        .collect()
                })
                .collect();
            if round % 3 == 0 {
                table.sort();
            }
            let mut fold = Fold::new(rows);
            let table = &table;
            let codes: Vec<_> = (0..columns)
                .map(|column| (distinct, move |row: usize| table[row][column]))
                .collect();
            fold.refine(&codes);
            let classes = fold.finish();
            let mut plain: BTreeMap<&[u32], Vec<u32>> = BTreeMap::new();
            (0..).zip(table).for_each(|(row, cells)| plain.entry(cells).or_default().push(row));
            assert_eq!(plain.len(), classes.sizes.len());
            let sides = classes.rows();
            for members in plain.values() {
                let class = classes.of[members[0] as usize] as usize;
                assert_eq!(sides.of(class), members);
                assert_eq!(
                    (classes.first[class], classes.sizes[class] as usize),
                    (members[0], members.len())
                );
            }
            assert!(classes.first.is_sorted(), "classes are numbered by their first row");
        }
    }
}
