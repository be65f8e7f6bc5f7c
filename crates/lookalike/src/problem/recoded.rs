//! The same question with other codes on an attribute: what if its values were coarser, or not
//! there?

use super::Problem;
use crate::codes::{Code, Codes};

impl Problem {
    /// The same with each code of an attribute replaced by another one of it. Values that become
    /// the same code lose nothing together, so with one code for all the attribute has no part in
    /// any loss. Tuples that become equal stay apart.
    ///
    /// Where the attribute changes over the rows of persons, the middle value of each stands for
    /// all.
    #[must_use]
    pub fn recoded(&self, attribute: usize, to: &[Code]) -> Problem {
        let mut other = self.clone();
        let codes =
            (0u32..).take(self.tuples()).map(|tuple| to[self.code(attribute, tuple) as usize]);
        other.cells[attribute] = codes.collect::<Codes>();
        other.extents.retain(|extent| extent.attribute != attribute);
        other
    }
}
