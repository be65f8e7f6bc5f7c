//! What a class counts when rows are not persons: persons with several values, or rows that weigh
//! less than a person.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::codes::Code;

/// The weight of a person that is shared out among values or rows: the least common multiple of 1
/// to 16, so that up to sixteen equal parts are exact. Further parts are rounded down.
pub const PERSON_WEIGHT: u64 = 720_720;

/// Sets of at least two codes, each in ascending order and each set once.
#[derive(Clone, Debug)]
pub struct CodeSets {
    codes: Vec<Code>,
    starts: Vec<u32>,
}

impl Default for CodeSets {
    fn default() -> CodeSets {
        CodeSets { codes: Vec::new(), starts: vec![0] }
    }
}

impl CodeSets {
    /// True when there is no set.
    pub fn is_empty(&self) -> bool {
        self.starts.len() == 1
    }

    /// The codes of a set, by its number.
    pub fn get(&self, set: usize) -> &[Code] {
        &self.codes[self.starts[set] as usize..self.starts[set + 1] as usize]
    }

    fn push(&mut self, set: &[Code]) -> usize {
        self.codes.extend_from_slice(set);
        self.starts.push(u32::try_from(self.codes.len()).expect("fewer codes than rows"));
        self.starts.len() - 2
    }
}

/// A column in which a person has one code or several. A code below the number of values is that
/// value; each further code is a set of values.
#[derive(Clone, Debug, Default)]
pub struct PluralColumn {
    /// The number of values.
    pub values: usize,
    /// The sets of values.
    pub sets: CodeSets,
    numbers: FxHashMap<Box<[Code]>, Code>,
}

impl PluralColumn {
    /// A column of so many values, without sets so far.
    pub fn new(values: usize) -> PluralColumn {
        PluralColumn { values, ..PluralColumn::default() }
    }

    /// The code of some values, at least one; sorts them.
    pub fn code_of(&mut self, values: &mut Vec<Code>) -> Code {
        values.sort_unstable();
        values.dedup();
        if let [one] = values[..] {
            return one;
        }
        if let Some(&code) = self.numbers.get(&values[..]) {
            return code;
        }
        let set = self.sets.push(values);
        let code = Code::try_from(self.values + set).expect("fewer sets than rows");
        self.numbers.insert(values.as_slice().into(), code);
        code
    }

    /// True when some person has several values.
    pub fn is_plural(&self) -> bool {
        !self.sets.is_empty()
    }

    /// The values of a code: itself, or those of its set, ascending.
    pub fn values_of<'a>(&'a self, code: &'a Code) -> &'a [Code] {
        match (*code as usize).checked_sub(self.values) {
            None => std::slice::from_ref(code),
            Some(set) => self.sets.get(set),
        }
    }
}

/// How the rows or persons of a class are counted.
#[derive(Clone, Debug)]
pub struct Counting {
    /// The sensitive columns.
    pub columns: Vec<PluralColumn>,
    /// The weight of a row of each person, where the last column is the person; none where every
    /// row or person counts once.
    pub weights: Option<Vec<u32>>,
}

impl Counting {
    /// The weights of persons with so many rows each.
    pub fn weights_of(rows: impl Iterator<Item = u64>) -> Vec<u32> {
        let weight = |rows: u64| u32::try_from((PERSON_WEIGHT / rows).max(1)).expect("below 2^20");
        rows.map(weight).collect()
    }

    /// True when rows weigh less than a person.
    pub fn is_weighted(&self) -> bool {
        self.weights.is_some()
    }
}

/// How a tally counts; none where every row counts once and has one value in each column.
pub(super) type SharedCounting = Option<Arc<Counting>>;
