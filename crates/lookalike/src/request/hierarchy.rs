//! Hierarchies as they are asked for: the name of a file, or intervals, prefixes or calendar units
//! in one line. [`crate::domain::hierarchy`] makes trees of them.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The hierarchy of a column: the values that may be published instead of its own.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(
    untagged,
    expecting = "a hierarchy is a file name in quotes, or { intervals = [5, 10] }, \
                 { prefix = [4, 3] } or { date = [\"month\", \"year\"] }"
)]
pub enum HierarchySpec {
    /// A file in the form of ARX: no header, `;`, tab or `,` between the columns, one line for each
    /// value with its ancestors up to the root.
    File(PathBuf),
    /// Widths of intervals, finest first, each a multiple of the one before.
    Intervals(IntervalsSpec),
    /// How many leading characters are kept, longest first: `53712`, `5371*`, `537**`.
    Prefix(PrefixSpec),
    /// Calendar units, finest first: `2024-03`, `2024`, `2020s`.
    Date(DateSpec),
}

/// `{ intervals = [5, 10, 20], origin = 0, bottom = 20, top = 80 }`
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct IntervalsSpec {
    /// Widths, finest first, each a multiple of the one before.
    pub intervals: Vec<f64>,
    /// A number at which an interval begins; 0 when absent.
    #[serde(default)]
    pub origin: f64,
    /// Bottom coding: all numbers below this one are one interval, `<20`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bottom: Option<f64>,
    /// Top coding: all numbers from this one on are one interval, `>=80`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top: Option<f64>,
}

/// `{ prefix = [4, 3, 2] }`
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PrefixSpec {
    /// Numbers of leading characters that are kept, longest first, each at least 1.
    pub prefix: Vec<usize>,
}

/// `{ date = ["month", "year", "decade"] }`
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct DateSpec {
    /// Calendar units, finest first, each once.
    pub date: Vec<DateUnit>,
}

/// A calendar unit that dates are generalized to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DateUnit {
    /// `2024-03-17`; for timestamps.
    Day,
    /// `2024-03`
    Month,
    /// `2024-Q1`
    Quarter,
    /// `2024`
    Year,
    /// `2020s`
    Decade,
}
