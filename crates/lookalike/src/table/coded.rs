//! A coded column, and the numbering of its distinct values as they appear.

use std::hash::{BuildHasher, Hasher};

use arrow_array::{Array, StringArray};
use arrow_buffer::ArrowNativeType;
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::codes::{Code, Codes, RowId};

/// The distinct values of a column and, for each row, which one it has.
///
/// Invariant: every code is below the number of values, the values are distinct, and the first row
/// of a value is the least row with its code.
#[derive(Clone, Debug)]
pub struct Coded {
    values: Vec<Option<String>>,
    first_row: Vec<RowId>,
    codes: Codes,
}

impl Coded {
    /// Codes cells that are at hand; `None` is a missing value.
    ///
    /// ```
    /// # use lookalike::table::Coded;
    /// let coded = Coded::from_cells([Some("b"), None, Some("a"), Some("b")]);
    /// assert_eq!(coded.values(), [Some("b".to_owned()), None, Some("a".to_owned())]);
    /// assert_eq!(coded.first_row(), [0, 1, 2]);
    /// assert!(coded.codes().iter().eq([0, 1, 2, 0]));
    /// ```
    ///
    /// # Panics
    /// When there are more cells than row numbers.
    pub fn from_cells<'a>(cells: impl IntoIterator<Item = Option<&'a str>>) -> Coded {
        let mut interner = Interner::new();
        for (row, cell) in cells.into_iter().enumerate() {
            let place = cell.map(|cell| (0, cell.len()));
            interner.extend(cell.unwrap_or_default().as_bytes(), std::iter::once(place), row);
        }
        interner.finish()
    }

    /// The parts together; the caller keeps the invariant as far as anybody looks.
    pub(crate) fn from_parts(
        values: Vec<Option<String>>,
        first_row: Vec<RowId>,
        codes: Codes,
    ) -> Coded {
        debug_assert!(codes.iter().all(|code| (code as usize) < values.len()));
        Coded { values, first_row, codes }
    }

    /// The distinct values in order of first appearance; `None` is a missing value (null, or an
    /// empty CSV cell).
    pub fn values(&self) -> &[Option<String>] {
        &self.values
    }

    /// Whoever changes values keeps them distinct.
    pub(crate) fn values_mut(&mut self) -> &mut [Option<String>] {
        &mut self.values
    }

    /// The same column with other texts for its values; texts that become equal are one value, and
    /// one that becomes empty is missing.
    pub(crate) fn respelt(&self, text: impl Fn(&str) -> Option<String>) -> Coded {
        let mut places: FxHashMap<Option<String>, Code> = FxHashMap::default();
        let mut coded = Coded::from_parts(Vec::new(), Vec::new(), Codes::new());
        let mut code_of = Vec::with_capacity(self.values.len());
        for (value, &row) in self.values.iter().zip(&self.first_row) {
            let other = match value.as_ref().map(|old| (old, text(old))) {
                None => None,
                Some((_, Some(new))) => Some(new).filter(|new| !new.is_empty()),
                Some((old, None)) => Some(old.clone()),
            };
            let next = Code::try_from(coded.values.len()).expect("no more values than before");
            let code = *places.entry(other).or_insert_with_key(|other| {
                coded.values.push(other.clone());
                coded.first_row.push(row);
                next
            });
            coded.first_row[code as usize] = coded.first_row[code as usize].min(row);
            code_of.push(code);
        }
        if coded.values.len() == self.values.len() {
            // Each kept its place.
            return Coded { codes: self.codes.clone(), ..coded };
        }
        let codes: Vec<Code> = self.codes.iter().map(|code| code_of[code as usize]).collect();
        coded.codes.append(&codes);
        coded.codes.shrink_to_fit();
        coded
    }

    /// The codes of some of the rows, in order; values that none of them has are gone.
    pub(super) fn of_rows(&self, is_kept: &[bool]) -> Coded {
        let mut new_of: Vec<Option<Code>> = vec![None; self.values.len()];
        let mut coded = Coded::from_parts(Vec::new(), Vec::new(), Codes::new());
        let kept = self.codes.iter().zip(is_kept).filter(|(_, is_kept)| **is_kept);
        for (row, (code, _)) in (0u32..).zip(kept) {
            let new = *new_of[code as usize].get_or_insert_with(|| {
                coded.values.push(self.values[code as usize].clone());
                coded.first_row.push(row);
                Code::try_from(coded.values.len() - 1).expect("no more values than before")
            });
            coded.codes.push(new);
        }
        coded
    }

    /// For each value the first row that has it: errors name a row, never a value.
    pub fn first_row(&self) -> &[RowId] {
        &self.first_row
    }

    /// For each row its value's place among the values.
    pub fn codes(&self) -> &Codes {
        &self.codes
    }
}

/// The longest text, in bytes, that is its own key.
const SHORT: usize = 8;

/// A [`Coded`] column while it grows, with what finds the code of a text.
///
/// Most cells of most tables are short: those are looked up by their bytes as one number, without a
/// look at the text that was stored. Longer ones are looked up by their hash and compared. No text
/// is stored twice.
pub(super) struct Interner {
    coded: Coded,
    missing: Option<Code>,
    short: FxHashMap<u64, Code>,
    long: FxHashMap<u64, Code>,
    /// Long texts whose hash another text had before them.
    clashing: FxHashMap<Vec<u8>, Code>,
    /// The codes of the rows of a batch; empty between batches.
    batch: Vec<Code>,
}

impl Interner {
    pub(super) fn new() -> Interner {
        Interner {
            coded: Coded::from_parts(Vec::new(), Vec::new(), Codes::new()),
            missing: None,
            short: FxHashMap::default(),
            long: FxHashMap::default(),
            clashing: FxHashMap::default(),
            batch: Vec::new(),
        }
    }

    /// Codes the cells of the next rows, of which the first is row `first`. The caller sees to it
    /// that row numbers fit.
    pub(super) fn extend_array(&mut self, cells: &StringArray, first: usize) {
        let ends = cells.value_offsets().windows(2).enumerate();
        let places = ends.map(|(at, ends)| {
            cells.is_valid(at).then_some((ends[0].as_usize(), ends[1].as_usize()))
        });
        self.extend(cells.value_data(), places, first);
    }

    /// The same for cells that lie in a text: start and end of each, none where it is missing.
    pub(super) fn extend(
        &mut self,
        text: &[u8],
        cells: impl Iterator<Item = Option<(usize, usize)>>,
        first: usize,
    ) {
        // Sorted and skewed columns repeat themselves.
        let mut last_short = None;
        let mut last_long: Option<(&[u8], Code)> = None;
        let mut codes = std::mem::take(&mut self.batch);
        codes.extend((first..).zip(cells).map(|(row, cell)| match cell {
            None => self.missing_code(row),
            Some((start, end)) if end - start <= SHORT => {
                let key = short_key(text, start, end);
                match last_short {
                    Some((same, code)) if same == key => code,
                    _ => {
                        let code = self.short_code(key, &text[start..end], row);
                        last_short = Some((key, code));
                        code
                    }
                }
            }
            Some((start, end)) => {
                let cell = &text[start..end];
                match last_long {
                    Some((same, code)) if same == cell => code,
                    _ => {
                        let code = self.long_code(hash(cell), cell, row);
                        last_long = Some((cell, code));
                        code
                    }
                }
            }
        }));
        self.coded.codes.append(&codes);
        codes.clear();
        self.batch = codes;
    }

    /// The same for the keys of a dictionary of texts; none where a cell is missing. Texts that no
    /// row has are not looked at.
    pub(super) fn extend_keys(
        &mut self,
        texts: &StringArray,
        keys: impl Iterator<Item = Option<usize>>,
        first: usize,
    ) {
        let mut known: Vec<Option<Code>> = vec![None; texts.len()];
        let mut codes = std::mem::take(&mut self.batch);
        codes.extend((first..).zip(keys).map(|(row, key)| {
            match key.filter(|&key| texts.is_valid(key)) {
                None => self.missing_code(row),
                Some(key) => *known[key].get_or_insert_with(|| {
                    let text = texts.value(key).as_bytes();
                    if text.len() <= SHORT {
                        self.short_code(short_key(text, 0, text.len()), text, row)
                    } else {
                        self.long_code(hash(text), text, row)
                    }
                }),
            }
        }));
        self.coded.codes.append(&codes);
        codes.clear();
        self.batch = codes;
    }

    pub(super) fn finish(mut self) -> Coded {
        self.coded.codes.shrink_to_fit();
        self.coded.values.shrink_to_fit();
        self.coded.first_row.shrink_to_fit();
        self.coded
    }

    fn missing_code(&mut self, row: usize) -> Code {
        match self.missing {
            Some(code) => code,
            None => *self.missing.insert(append(&mut self.coded, None, row)),
        }
    }

    fn short_code(&mut self, key: u64, text: &[u8], row: usize) -> Code {
        *self.short.entry(key).or_insert_with(|| append(&mut self.coded, Some(text), row))
    }

    fn long_code(&mut self, hash: u64, text: &[u8], row: usize) -> Code {
        let coded = &mut self.coded;
        let code = *self.long.entry(hash).or_insert_with(|| append(coded, Some(text), row));
        if self.coded.values[code as usize].as_ref().map(String::as_bytes) == Some(text) {
            return code;
        }
        match self.clashing.get(text) {
            Some(&code) => code,
            None => {
                let code = append(&mut self.coded, Some(text), row);
                self.clashing.insert(text.to_owned(), code);
                code
            }
        }
    }
}

fn append(coded: &mut Coded, value: Option<&[u8]>, row: usize) -> Code {
    let narrow = |n: usize| u32::try_from(n).expect("the reader stops before row numbers run out");
    let code: Code = narrow(coded.values.len());
    let row: RowId = narrow(row);
    let text = |bytes| std::str::from_utf8(bytes).expect("cells are cut out of checked text");
    coded.values.push(value.map(|value| text(value).to_owned()));
    coded.first_row.push(row);
    code
}

/// A short text as a number, different for different texts: the bytes, and above them a mark that
/// tells the length. The mark is a byte that no UTF-8 text has, so it cannot be taken for the
/// eighth byte of a text.
fn short_key(bytes: &[u8], start: usize, end: usize) -> u64 {
    let length = end - start;
    let word = match bytes.get(start..start + 8).and_then(|eight| eight.first_chunk()) {
        Some(&eight) => u64::from_le_bytes(eight),
        None => {
            let mut eight = [0; 8];
            eight[..length].copy_from_slice(&bytes[start..end]);
            u64::from_le_bytes(eight)
        }
    };
    if length == SHORT {
        word
    } else {
        word & ((1 << (8 * length)) - 1) | (0xf8 + length as u64) << 56
    }
}

fn hash(text: &[u8]) -> u64 {
    let mut hasher = FxBuildHasher.build_hasher();
    hasher.write(text);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_number_the_values_in_order_of_first_appearance() {
        let mut interner = Interner::new();
        interner.extend_array(&StringArray::from(vec![Some("b"), None, Some("a"), Some("b")]), 0);
        interner.extend_array(&StringArray::from(vec![None, Some("c"), Some("c"), Some("a")]), 4);
        let coded = interner.finish();
        let value = |text: &str| Some(text.to_owned());
        assert_eq!(coded.values, [value("b"), None, value("a"), value("c")]);
        assert_eq!(coded.first_row, [0, 1, 2, 5]);
        assert_eq!(coded.codes.iter().collect::<Vec<_>>(), [0, 1, 2, 0, 1, 3, 3, 2]);
    }

    #[test]
    fn texts_that_become_equal_are_one_value() {
        let coded = Coded::from_cells([Some("1.5"), None, Some("1,5"), Some("2"), Some("1.5")]);
        let value = |text: &str| Some(text.to_owned());
        let one = coded.respelt(|text| text.contains(',').then(|| text.replace(',', ".")));
        assert_eq!(one.values, [value("1.5"), None, value("2")]);
        assert_eq!(one.first_row, [0, 1, 3]);
        assert_eq!(one.codes.iter().collect::<Vec<_>>(), [0, 1, 0, 2, 0]);
        let other = coded.respelt(|text| Some(format!("{text}0")));
        assert_eq!(other.values, [value("1.50"), None, value("1,50"), value("20")]);
        assert!(other.codes.iter().eq(coded.codes.iter()));
    }

    #[test]
    fn keys_are_coded_as_their_texts_are() {
        let texts = StringArray::from(vec![
            Some("unused"),
            Some("a long text of many bytes"),
            None,
            Some("a"),
            Some(""),
            Some("a"),
        ]);
        let keys = [Some(3), None, Some(1), Some(5), Some(2), Some(4), Some(1), Some(3)];
        let (mut by_key, mut by_text) = (Interner::new(), Interner::new());
        let cells: StringArray = keys
            .iter()
            .map(|key| key.filter(|&key| texts.is_valid(key)).map(|key| texts.value(key)))
            .collect();
        for first in [0, keys.len()] {
            by_key.extend_keys(&texts, keys.into_iter(), first);
            by_text.extend_array(&cells, first);
        }
        let (by_key, by_text) = (by_key.finish(), by_text.finish());
        assert_eq!(by_key.values(), by_text.values());
        assert_eq!(by_key.first_row(), by_text.first_row());
        assert!(by_key.codes().iter().eq(by_text.codes().iter()));
        assert_eq!(by_key.values().len(), 4);
    }

    #[test]
    fn an_empty_text_is_not_a_missing_value() {
        let mut interner = Interner::new();
        interner.extend_array(&StringArray::from(vec![Some(""), None, Some("")]), 0);
        assert_eq!(interner.finish().codes.iter().collect::<Vec<_>>(), [0, 1, 0]);
    }

    #[test]
    fn short_texts_have_different_keys_wherever_they_stand() {
        let texts = [
            "",
            "a",
            "aa",
            "a\0",
            "\0",
            "\0\0",
            "1234567",
            "12345678",
            "123456\u{7ff}",
            "ü",
            "\u{10ffff}\u{10ffff}",
            "abcd\u{10ffff}",
        ];
        let mut keys = std::collections::BTreeSet::new();
        for text in texts {
            let alone = short_key(text.as_bytes(), 0, text.len());
            let among = format!("xyz{text}uvw and more");
            assert_eq!(short_key(among.as_bytes(), 3, 3 + text.len()), alone);
            assert!(keys.insert(alone), "{text:?}");
        }
    }

    #[test]
    fn texts_with_the_same_hash_stay_apart() {
        let mut interner = Interner::new();
        let codes = ["first", "second", "third", "second", "first", "third"]
            .map(|text| interner.long_code(42, text.as_bytes(), 0));
        assert_eq!(codes, [0, 1, 2, 1, 0, 2]);
    }

    #[test]
    fn a_column_of_distinct_values_keeps_them_apart() {
        let texts: Vec<String> =
            (0..20_000).map(|i| format!("{}{}", "x".repeat(i % 5), i * 701)).collect();
        let mut interner = Interner::new();
        interner.extend_array(&StringArray::from_iter_values(&texts), 0);
        interner.extend_array(&StringArray::from_iter_values(texts.iter().rev()), texts.len());
        let coded = interner.finish();
        assert_eq!(coded.values.len(), texts.len());
        assert!(coded.codes.iter().eq((0..20_000).chain((0..20_000).rev())));
    }
}
