//! The box around some rows, its ends, and the loss of all rows under their boxes: what every local
//! search computes.

use crate::codes::{Code, CodeRange, real};

/// The smallest range of some codes, of which there must be one.
#[inline]
pub(crate) fn range_of(codes: impl IntoIterator<Item = Code>) -> CodeRange {
    codes.into_iter().map(CodeRange::one).reduce(CodeRange::join).expect("there are rows")
}

/// The smallest box around some rows, of which there must be one: their first `width` codes.
#[inline]
pub(crate) fn box_around<'a>(
    width: usize,
    mut rows: impl Iterator<Item = &'a [Code]>,
) -> Vec<CodeRange> {
    let first = rows.next().expect("there are rows");
    let mut ranges: Vec<CodeRange> =
        first[..width].iter().map(|&code| CodeRange::one(code)).collect();
    for row in rows {
        for (range, &code) in ranges.iter_mut().zip(row) {
            *range = range.join(CodeRange::one(code));
        }
    }
    ranges
}

/// The loss of all rows of some classes, each given by its rows and the loss of one of them. Summed
/// in the order given, so that it is the same to the last bit on any number of threads.
#[inline]
pub(crate) fn total_loss(classes: impl IntoIterator<Item = (u64, f64)>) -> f64 {
    classes.into_iter().map(|(rows, row_loss)| real(rows) * row_loss).sum()
}

/// The two least and the two greatest codes of a class on an attribute, one for each tuple: enough
/// to know the range when one tuple leaves. The greatest are kept plus one, so that 0 means none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ends {
    low: [Code; 2],
    high: [Code; 2],
}

impl Ends {
    /// Of no tuple.
    pub(crate) const NONE: Ends = Ends { low: [Code::MAX; 2], high: [0; 2] };

    #[inline]
    pub(crate) fn add(&mut self, code: Code) {
        let [least, second] = self.low;
        self.low = if code < least { [code, least] } else { [least, second.min(code)] };
        let [most, next] = self.high;
        self.high = if code + 1 > most { [code + 1, most] } else { [most, next.max(code + 1)] };
    }

    /// The range of all tuples, of which there must be one.
    #[inline]
    pub(crate) fn range(self) -> CodeRange {
        CodeRange { lo: self.low[0], hi: self.high[0] - 1 }
    }

    /// True when the code is an end that no other tuple has.
    #[cfg(test)]
    pub(crate) fn is_alone(self, code: Code) -> bool {
        (code == self.low[0] && self.low[1] > code)
            || (code + 1 == self.high[0] && self.high[1] < code + 1)
    }

    /// The range with one tuple less, which has this code; there must be another tuple.
    #[inline]
    pub(crate) fn without(self, code: Code) -> CodeRange {
        let lo = if code == self.low[0] { self.low[1] } else { self.low[0] };
        let hi = if code + 1 == self.high[0] { self.high[1] } else { self.high[0] };
        CodeRange { lo, hi: hi - 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    #[test]
    fn the_ends_know_the_range_without_any_one_tuple() {
        let mut rng = Rng::new(1);
        let mut alone = 0;
        for _ in 0..500 {
            let codes: Vec<Code> =
                (0..2 + rng.place(6)).map(|_| Code::try_from(rng.below(5)).unwrap()).collect();
            let mut ends = Ends::NONE;
            codes.iter().for_each(|&code| ends.add(code));
            let rows = || codes.iter().map(std::slice::from_ref);
            assert_eq!(ends.range(), range_of(codes.iter().copied()));
            assert_eq!(box_around(1, rows()), [ends.range()]);
            for (at, &code) in codes.iter().enumerate() {
                let others = codes.iter().enumerate().filter(|&(other, _)| other != at);
                let without = range_of(others.map(|(_, &code)| code));
                assert_eq!(ends.without(code), without, "{codes:?} without {code}");
                assert_eq!(ends.is_alone(code), without != ends.range(), "{codes:?}, {code}");
                alone += u32::from(ends.is_alone(code));
            }
        }
        assert!(alone > 100);
    }

    #[test]
    fn the_total_loss_is_that_of_every_row() {
        assert!((total_loss([(3, 0.5), (2, 0.25), (7, 0.0)]) - 2.0).abs() < 1e-12);
    }
}
