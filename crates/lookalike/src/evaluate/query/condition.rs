//! The meaning of a condition in its column.

use super::Condition;
use super::field::QueryField;
use super::weigh::Test;
use crate::audit::{ValueScale, present};
use crate::domain::attribute::Domain;
use crate::domain::label::ANY;
use crate::domain::taxonomy::Taxonomy;

impl QueryField<'_> {
    /// The test of a condition on this column, or why there is none.
    pub(super) fn test(&self, condition: &Condition) -> std::result::Result<Test, String> {
        match &self.domain {
            Domain::Ordered(_) => self.spans(condition),
            Domain::Tree(tree) => self.wanted(condition, tree).map(Test::Leaves),
        }
    }

    fn spans(&self, condition: &Condition) -> std::result::Result<Test, String> {
        let number = |text: &String| {
            let number = self.scale().place(text).and_then(|place| self.number(place));
            number.ok_or_else(|| match self.scale() {
                ValueScale::Numbers => format!("`{text}` is no number"),
                ValueScale::Instants => {
                    format!("`{text}` is no date such as 2024-03-17 or 2024-03-17T10:00:00")
                }
                _ => format!("`{text}` is not in the order of the column"),
            })
        };
        let mut missing = false;
        let mut spans: Vec<(f64, f64)> = Vec::new();
        match condition {
            Condition::Range { from, to } => {
                let from = from.as_ref().map_or(Ok(f64::NEG_INFINITY), number)?;
                let to = to.as_ref().map_or(Ok(f64::INFINITY), number)?;
                if from > to {
                    return Err("the range runs backwards: give the lesser end first".to_string());
                }
                spans.push((from, to));
            }
            Condition::Values(values) => {
                for text in values {
                    match present(Some(text), self.spellings) {
                        None => missing = true,
                        Some(_) => spans.push((number(text)?, number(text)?)),
                    }
                }
                spans.sort_by(|a, b| a.0.total_cmp(&b.0));
                // The same number in two spellings is one value.
                spans.dedup_by(|a, b| a.0 <= b.0);
            }
            Condition::Node { node } if node == ANY => {
                missing = true;
                spans.push((f64::NEG_INFINITY, f64::INFINITY));
            }
            Condition::Node { node } => {
                let ends = self.ends_of_label(node).filter(|(lo, hi)| lo <= hi);
                spans.push(ends.ok_or_else(|| {
                    format!(
                        "`{node}` is neither a group of the column's hierarchy nor an interval \
                         such as [20-29]"
                    )
                })?);
            }
        }
        Ok(Test::Spans { spans, missing })
    }

    fn wanted(
        &self,
        condition: &Condition,
        tree: &Taxonomy,
    ) -> std::result::Result<Vec<bool>, String> {
        let mut wanted = vec![false; tree.leaves()];
        match condition {
            Condition::Range { .. } => {
                return Err("the column is categorical, it has no ranges: name values in quotes, \
                     [\"a\", \"b\"], or a group of its hierarchy, { node = \"...\" }"
                    .to_string());
            }
            Condition::Values(values) => {
                for text in values {
                    let leaf = self.leaf(text).ok_or_else(|| match text.as_str() {
                        "" => "the column has no missing values".to_string(),
                        text if self.inner.contains_key(text) => {
                            format!(
                                "`{text}` is a group of its hierarchy: write {{ node = \"{text}\" \
                                 }}"
                            )
                        }
                        text => format!(
                            "there is no value `{text}`, neither in the source nor in a hierarchy \
                             of the column"
                        ),
                    })?;
                    wanted[leaf as usize] = true;
                }
            }
            Condition::Node { node } => {
                let known = self
                    .inner
                    .get(node)
                    .or_else(|| self.leaves.get(node).filter(|_| !node.is_empty()))
                    .copied();
                let node =
                    known.or_else(|| (node == ANY).then(|| tree.root())).ok_or_else(|| {
                        if tree.is_flat() {
                            format!(
                                "there is no group `{node}`: the column has no hierarchy, its only \
                             group is `{ANY}`"
                            )
                        } else {
                            format!("there is no group `{node}` in the hierarchy of the column")
                        }
                    })?;
                let range = tree.range(node);
                wanted[range.lo as usize..=range.hi as usize].fill(true);
            }
        }
        Ok(wanted)
    }
}
