//! Coarse cells of a table that is too large for one machine: conditions on one column each, in a
//! binary tree, so that an engine can say of every row which cell it is in.
//!
//! Each cell is solved by itself under the domain of the whole table. A class never crosses a cut,
//! so a cut is good where few classes would: a sample of the tuples is solved, and the tree is cut
//! where the classes that cross lose least (`choose`). Exact counts then decide: cells that do not
//! satisfy the rules on their own are united with others (`merge`).
//!
//! # Guarantee
//! Every row is in exactly one cell, whatever its values: also values that the sample does not
//! have, and missing ones. After `merge` every cell can be released on its own.
//!
//! # Complexity
//! That of the search on the sample, and O(d n) for each level of the tree, with n tuples of the
//! sample and d attributes.
//!
//! # Reference
//! Ours. Cells by cuts on a sample, in a cluster: S. De Capitani di Vimercati et al.: Scalable
//! Distributed Data Anonymization for Large Datasets, IEEE Transactions on Big Data, 2023.

mod choose;
mod merge;
#[cfg(test)]
mod tests;

pub use choose::{CellSize, cuts};
pub(crate) use merge::merge;

use serde::{Deserialize, Serialize};

use crate::domain::parse::{nanoseconds, number};
use crate::error::{Error, Result};

/// The cells of a table: a tree of conditions whose leaves are the numbers of cells.
///
/// It has values of the table: it must be kept as secret as the table.
///
/// # Example
/// ```
/// use lookalike::search::cuts::Cuts;
///
/// let text = r#"{"version": 1, "cells": 2, "tree": {
///     "column": "age", "kind": "number", "limit": "39", "missing": "right",
///     "left": {"cell": 0}, "right": {"cell": 1}}}"#;
/// let cuts = Cuts::from_json(text)?;
/// assert_eq!(cuts.cells(), 2);
/// let cell_of = |age: Option<&str>| cuts.cell_of(|_| age.map(String::from));
/// assert_eq!([Some("39"), Some("39.5"), None].map(cell_of), [0, 1, 1]);
/// # Ok::<(), lookalike::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(try_from = "StoredCuts", into = "StoredCuts")]
pub struct Cuts {
    /// Invariant: every number below is in a leaf.
    cells: u32,
    /// The rows of each cell, where exact counts are known.
    rows: Option<Vec<u64>>,
    tree: CutNode,
}

/// The stored form, which may be damaged.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct StoredCuts {
    version: u32,
    cells: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rows: Option<Vec<u64>>,
    tree: CutNode,
}

/// A node of the tree.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(untagged)]
pub enum CutNode {
    /// A leaf. Several may be of one cell.
    Cell {
        /// The number of the cell.
        cell: u32,
    },
    /// A condition on a column.
    Cut(Box<Cut>),
}

/// A condition: rows that meet it go left, all others right.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Cut {
    /// The column.
    pub column: String,
    /// The values that go left.
    #[serde(flatten)]
    pub condition: CutCondition,
    /// Where missing values go.
    pub missing: CutSide,
    /// The rows that meet the condition.
    pub left: CutNode,
    /// All others.
    pub right: CutNode,
}

/// The values that meet a condition.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum CutCondition {
    /// Numbers up to a limit.
    Number {
        /// In decimal notation.
        limit: String,
    },
    /// Days up to a limit.
    Date {
        /// As in 2024-03-17.
        limit: String,
    },
    /// Instants up to a limit.
    Time {
        /// A date or a time in ISO notation.
        limit: String,
    },
    /// Any of these values.
    Values {
        /// The texts of the values.
        values: Vec<String>,
    },
}

/// One of the two sides of a cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CutSide {
    /// With the values that meet the condition.
    Left,
    /// With those that do not.
    Right,
}

impl Cuts {
    /// The cells of a tree, numbered from 0 by leaf.
    fn new(tree: CutNode) -> Cuts {
        let mut cells = 0;
        let tree = tree.renumbered(&mut |_| {
            cells += 1;
            cells - 1
        });
        Cuts { cells, rows: None, tree }
    }

    /// Reads cuts that [`to_json`](Cuts::to_json) wrote.
    ///
    /// # Errors
    /// [`Request`](crate::ErrorKind::Request) when the text is none. It has values of the table, so
    /// the error does not say where.
    pub fn from_json(text: &str) -> Result<Cuts> {
        let reason = "these are no cuts of a table, or they are damaged: make them anew";
        serde_json::from_str(text).map_err(|_| Error::request("not-cuts", reason))
    }

    /// The cuts as JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a tree of texts and numbers")
    }

    /// The number of cells, at least 1; they are numbered from 0.
    pub fn cells(&self) -> u32 {
        self.cells
    }

    /// The rows of each cell, where exact counts are known.
    pub fn rows(&self) -> Option<&[u64]> {
        self.rows.as_deref()
    }

    /// The root.
    pub fn tree(&self) -> &CutNode {
        &self.tree
    }

    /// The cell of a row, by the texts of its values: none where one is missing.
    pub fn cell_of(&self, value: impl Fn(&str) -> Option<String>) -> u32 {
        let mut node = &self.tree;
        loop {
            match node {
                CutNode::Cell { cell } => return *cell,
                CutNode::Cut(cut) => {
                    let side = match value(&cut.column) {
                        None => cut.missing,
                        Some(text) if cut.condition.is_met(&text) => CutSide::Left,
                        Some(_) => CutSide::Right,
                    };
                    node = if side == CutSide::Left { &cut.left } else { &cut.right };
                }
            }
        }
    }
}

impl CutCondition {
    /// True when a value, which is not missing, meets the condition.
    fn is_met(&self, text: &str) -> bool {
        let numbers = |limit: &str| Some(number(text)? <= number(limit)?);
        let instants = |limit: &str| Some(nanoseconds(text.trim())? <= nanoseconds(limit.trim())?);
        match self {
            CutCondition::Number { limit } => numbers(limit).unwrap_or(false),
            CutCondition::Date { limit } | CutCondition::Time { limit } => {
                instants(limit).unwrap_or(false)
            }
            CutCondition::Values { values } => values.iter().any(|value| value == text),
        }
    }

    /// False for a limit that is none.
    fn is_whole(&self) -> bool {
        match self {
            CutCondition::Number { limit } => number(limit).is_some(),
            CutCondition::Date { limit } | CutCondition::Time { limit } => {
                nanoseconds(limit.trim()).is_some()
            }
            CutCondition::Values { .. } => true,
        }
    }
}

impl CutNode {
    /// The same tree with other numbers of cells; a cut between two leaves of one cell is none.
    fn renumbered(self, number: &mut impl FnMut(u32) -> u32) -> CutNode {
        match self {
            CutNode::Cell { cell } => CutNode::Cell { cell: number(cell) },
            CutNode::Cut(cut) => {
                let (left, right) = (cut.left.renumbered(number), cut.right.renumbered(number));
                match (&left, &right) {
                    (CutNode::Cell { cell }, CutNode::Cell { cell: other }) if cell == other => {
                        left
                    }
                    _ => CutNode::Cut(Box::new(Cut { left, right, ..*cut })),
                }
            }
        }
    }

    /// The cells of the leaves, from left to right.
    fn leaves(&self, found: &mut Vec<u32>) {
        match self {
            CutNode::Cell { cell } => found.push(*cell),
            CutNode::Cut(cut) => {
                cut.left.leaves(found);
                cut.right.leaves(found);
            }
        }
    }

    /// False when a limit of the tree is none.
    fn is_whole(&self) -> bool {
        match self {
            CutNode::Cell { .. } => true,
            CutNode::Cut(cut) => {
                cut.condition.is_whole() && cut.left.is_whole() && cut.right.is_whole()
            }
        }
    }
}

impl From<Cuts> for StoredCuts {
    fn from(Cuts { cells, rows, tree }: Cuts) -> StoredCuts {
        StoredCuts { version: 1, cells, rows, tree }
    }
}

impl TryFrom<StoredCuts> for Cuts {
    type Error = String;

    fn try_from(stored: StoredCuts) -> std::result::Result<Cuts, String> {
        let StoredCuts { version, cells, rows, tree } = stored;
        if version != 1 {
            return Err(format!("version {version} of cuts is unknown"));
        }
        let mut found = Vec::new();
        tree.leaves(&mut found);
        found.sort_unstable();
        found.dedup();
        if !found.iter().copied().eq(0..cells) {
            return Err("the leaves of the cuts are not their cells".into());
        }
        if rows.as_ref().is_some_and(|rows| rows.len() != cells as usize) {
            return Err("the cuts do not have the rows of each cell".into());
        }
        if !tree.is_whole() {
            return Err("a limit of the cuts is neither a number nor a time".into());
        }
        Ok(Cuts { cells, rows, tree })
    }
}
