//! Numbers the distinct values of one column as they appear.

use std::hash::{BuildHasher, Hasher};

use arrow_array::StringArray;
use rustc_hash::FxBuildHasher;

use crate::code::{Code, Codes, RowId};
use crate::table::Coded;

const FREE: Code = Code::MAX;

/// A [`Coded`] column while it grows, with the table that finds the code of a text.
///
/// The table holds codes and a part of each hash, never a second copy of the text: a column of ten million distinct values costs
/// eight to sixteen bytes for each beside the values themselves.
pub(super) struct Interner {
    coded: Coded,
    missing: Option<Code>,
    /// Open addressing with linear probing, at most half full, a power of two long.
    slots: Vec<Slot>,
}

#[derive(Clone, Copy)]
struct Slot {
    code: Code,
    tag: u32,
}

impl Interner {
    pub(super) fn new() -> Interner {
        Interner {
            coded: Coded { values: Vec::new(), first_row: Vec::new(), codes: Codes::new() },
            missing: None,
            slots: vec![Slot { code: FREE, tag: 0 }; 64],
        }
    }

    /// Codes the cells of the next rows, of which the first is row `first`. The caller sees to it that row numbers fit.
    pub(super) fn extend(&mut self, cells: &StringArray, first: usize) {
        let mut last: Option<(&str, Code)> = None;
        for (row, cell) in (first..).zip(cells) {
            let code = match cell {
                None => match self.missing {
                    Some(code) => code,
                    None => {
                        let code = self.append(None, row);
                        self.missing = Some(code);
                        code
                    }
                },
                // Sorted and skewed columns repeat themselves.
                Some(text) => match last {
                    Some((same, code)) if same == text => code,
                    _ => {
                        let code = self.code(text, row);
                        last = Some((text, code));
                        code
                    }
                },
            };
            self.coded.codes.push(code);
        }
    }

    pub(super) fn finish(mut self) -> Coded {
        self.coded.codes.shrink_to_fit();
        self.coded.values.shrink_to_fit();
        self.coded.first_row.shrink_to_fit();
        self.coded
    }

    fn code(&mut self, text: &str, row: usize) -> Code {
        let hash = hash(text);
        let tag = tag(hash);
        let mut at = self.home(hash);
        while self.slots[at].code != FREE {
            let slot = self.slots[at];
            if slot.tag == tag && self.coded.values[slot.code as usize].as_deref() == Some(text) {
                return slot.code;
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
        let code = self.append(Some(text), row);
        self.slots[at] = Slot { code, tag };
        if self.coded.values.len() * 2 > self.slots.len() {
            self.grow();
        }
        code
    }

    fn append(&mut self, value: Option<&str>, row: usize) -> Code {
        let next = |n: usize| u32::try_from(n).expect("the reader stops before row numbers run out");
        let code: Code = next(self.coded.values.len());
        let row: RowId = next(row);
        self.coded.values.push(value.map(str::to_owned));
        self.coded.first_row.push(row);
        code
    }

    fn grow(&mut self) {
        self.slots = vec![Slot { code: FREE, tag: 0 }; self.slots.len() * 2];
        for (code, value) in (0..).zip(&self.coded.values) {
            let Some(text) = value else { continue };
            let hash = hash(text);
            let mut at = self.home(hash);
            while self.slots[at].code != FREE {
                at = (at + 1) & (self.slots.len() - 1);
            }
            self.slots[at] = Slot { code, tag: tag(hash) };
        }
    }

    /// Where the search for a hash begins.
    #[allow(clippy::cast_possible_truncation, reason = "only the low bits are wanted")]
    fn home(&self, hash: u64) -> usize {
        hash as usize & (self.slots.len() - 1)
    }
}

fn hash(text: &str) -> u64 {
    let mut hasher = FxBuildHasher.build_hasher();
    hasher.write(text.as_bytes());
    hasher.finish()
}

fn tag(hash: u64) -> u32 {
    u32::try_from(hash >> 32).expect("half of the bits are left")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_number_the_values_in_order_of_first_appearance() {
        let mut interner = Interner::new();
        interner.extend(&StringArray::from(vec![Some("b"), None, Some("a"), Some("b")]), 0);
        interner.extend(&StringArray::from(vec![None, Some("c"), Some("c"), Some("a")]), 4);
        let coded = interner.finish();
        let value = |text: &str| Some(text.to_owned());
        assert_eq!(coded.values, [value("b"), None, value("a"), value("c")]);
        assert_eq!(coded.first_row, [0, 1, 2, 5]);
        assert_eq!(coded.codes.iter().collect::<Vec<_>>(), [0, 1, 2, 0, 1, 3, 3, 2]);
    }

    #[test]
    fn an_empty_text_is_not_a_missing_value() {
        let mut interner = Interner::new();
        interner.extend(&StringArray::from(vec![Some(""), None, Some("")]), 0);
        assert_eq!(interner.finish().codes.iter().collect::<Vec<_>>(), [0, 1, 0]);
    }

    #[test]
    fn a_column_of_distinct_values_keeps_them_apart_while_the_table_grows() {
        let texts: Vec<String> = (0..20_000).map(|i| format!("value {}", i * 7)).collect();
        let mut interner = Interner::new();
        interner.extend(&StringArray::from_iter_values(&texts), 0);
        interner.extend(&StringArray::from_iter_values(texts.iter().rev()), texts.len());
        let coded = interner.finish();
        assert_eq!(coded.values.len(), texts.len());
        assert!(coded.codes.iter().eq((0..20_000).chain((0..20_000).rev())));
    }
}
