//! The integers everything speaks: codes, row numbers, ranges of codes, and compact vectors of
//! codes.

/// A value of a column, numbered in value order (numbers) or tree order (categories).
pub type Code = u32;

/// A row of the source table, counted from 0.
pub type RowId = u32;

/// All codes from `lo` to `hi`, both included: the published range of a class on one attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CodeRange {
    /// The least code.
    pub lo: Code,
    /// The greatest code.
    pub hi: Code,
}

impl CodeRange {
    /// The range of one code.
    pub fn one(code: Code) -> CodeRange {
        CodeRange { lo: code, hi: code }
    }

    /// The smallest range that contains both.
    #[must_use]
    pub fn join(self, other: CodeRange) -> CodeRange {
        CodeRange { lo: self.lo.min(other.lo), hi: self.hi.max(other.hi) }
    }

    /// True when `code` lies in the range.
    pub fn contains(self, code: Code) -> bool {
        self.lo <= code && code <= self.hi
    }

    /// True when the range is one code.
    pub fn is_one(self) -> bool {
        self.lo == self.hi
    }
}

/// Rows by a number of theirs below `numbers`, rising for each: number n has
/// `rows[starts[n]..starts[n + 1]]` of the starts and rows that are returned. By counting, in linear
/// time.
pub(crate) fn rows_by_number(
    rows: usize,
    numbers: usize,
    number: impl Fn(usize) -> usize,
) -> (Vec<u32>, Vec<RowId>) {
    let mut starts = vec![0u32; numbers + 1];
    (0..rows).for_each(|row| starts[number(row) + 1] += 1);
    (0..numbers).for_each(|at| starts[at + 1] += starts[at]);
    let mut next = starts.clone();
    let mut sorted = vec![0; rows];
    for (id, row) in (0u32..).zip(0..rows) {
        let place = &mut next[number(row)];
        sorted[*place as usize] = id;
        *place += 1;
    }
    (starts, sorted)
}

/// A vector of codes in the narrowest width that holds its greatest one: a column of two hundred
/// values takes one byte per row, one of a million values four.
#[derive(Clone, Debug)]
pub enum Codes {
    /// Codes below 2^8.
    U8(Vec<u8>),
    /// Codes below 2^16.
    U16(Vec<u16>),
    /// Any code.
    U32(Vec<u32>),
}

impl Default for Codes {
    fn default() -> Codes {
        Codes::new()
    }
}

impl Codes {
    /// An empty vector, one byte wide until a code needs more.
    pub fn new() -> Codes {
        Codes::U8(Vec::new())
    }

    /// Appends a code, widening the vector if it must.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "each arm is guarded by the width of its codes"
    )]
    pub fn push(&mut self, code: Code) {
        match self {
            Codes::U8(v) if code < 1 << 8 => v.push(code as u8),
            Codes::U16(v) if code < 1 << 16 => v.push(code as u16),
            Codes::U32(v) => v.push(code),
            Codes::U8(v) if code < 1 << 16 => {
                *self = Codes::U16(v.iter().map(|&c| u16::from(c)).collect());
                self.push(code);
            }
            _ => {
                *self = Codes::U32(self.iter().collect());
                self.push(code);
            }
        }
    }

    /// Appends codes: faster than one by one.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "each arm is guarded by the greatest of the codes"
    )]
    pub fn append(&mut self, codes: &[Code]) {
        let greatest = codes.iter().copied().max().unwrap_or(0);
        match self {
            Codes::U8(v) if greatest < 1 << 8 => v.extend(codes.iter().map(|&code| code as u8)),
            Codes::U16(v) if greatest < 1 << 16 => v.extend(codes.iter().map(|&code| code as u16)),
            Codes::U32(v) => v.extend_from_slice(codes),
            _ => codes.iter().for_each(|&code| self.push(code)),
        }
    }

    /// The code at `index`. Panics beyond the end, like a slice.
    #[inline]
    pub fn get(&self, index: usize) -> Code {
        match self {
            Codes::U8(v) => Code::from(v[index]),
            Codes::U16(v) => Code::from(v[index]),
            Codes::U32(v) => v[index],
        }
    }

    /// The number of codes.
    pub fn len(&self) -> usize {
        match self {
            Codes::U8(v) => v.len(),
            Codes::U16(v) => v.len(),
            Codes::U32(v) => v.len(),
        }
    }

    /// True when there is no code.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The codes in order.
    pub fn iter(&self) -> impl Iterator<Item = Code> + '_ {
        (0..self.len()).map(|i| self.get(i))
    }

    /// The size of the codes in bytes.
    pub fn bytes(&self) -> usize {
        match self {
            Codes::U8(v) => v.len(),
            Codes::U16(v) => v.len() * 2,
            Codes::U32(v) => v.len() * 4,
        }
    }

    /// Frees the memory that was reserved for more codes.
    pub fn shrink_to_fit(&mut self) {
        match self {
            Codes::U8(v) => v.shrink_to_fit(),
            Codes::U16(v) => v.shrink_to_fit(),
            Codes::U32(v) => v.shrink_to_fit(),
        }
    }
}

impl FromIterator<Code> for Codes {
    fn from_iter<I: IntoIterator<Item = Code>>(codes: I) -> Codes {
        let mut all = Codes::new();
        codes.into_iter().for_each(|code| all.push(code));
        all
    }
}

/// A count of rows as a floating-point number.
#[allow(clippy::cast_precision_loss, reason = "counts of rows stay below 2^53")]
pub(crate) fn real(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_widen_as_needed_and_keep_their_values() {
        let values = [0, 255, 7, 256, 65_535, 3, 65_536, u32::MAX, 0];
        let codes: Codes = values.iter().copied().collect();
        assert!(matches!(codes, Codes::U32(_)));
        assert_eq!(codes.iter().collect::<Vec<_>>(), values);
        let narrow: Codes = [0, 255].into_iter().collect();
        assert_eq!((narrow.bytes(), narrow.len()), (2, 2));
        let middle: Codes = [1, 300].into_iter().collect();
        assert!(matches!(middle, Codes::U16(_)));
    }

    #[test]
    fn joining_ranges_takes_the_outer_ends() {
        let joined = CodeRange { lo: 3, hi: 5 }.join(CodeRange::one(1));
        assert_eq!(joined, CodeRange { lo: 1, hi: 5 });
        assert!(joined.contains(4) && !joined.contains(0) && !joined.is_one());
    }
}
