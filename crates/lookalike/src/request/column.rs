//! One column's line: its role, how its values relate, its hierarchy, the rules on it.

use std::path::PathBuf;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::request::ratio::Ratio;

/// What a column is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Could be joined with outside data: generalized.
    Quasi,
    /// Must not be inferred: published, its spread in each class is what the rules are about.
    Sensitive,
    /// Names a person: dropped.
    Identifier,
    /// Published as it is.
    Keep,
}

/// How the values of a quasi-identifier relate to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Numbers, ordered by value.
    Numeric,
    /// Dates or timestamps, ordered by time.
    Date,
    /// Labels in a given order.
    Ordinal,
    /// Unordered labels, under a taxonomy or all under one root.
    Categorical,
}

/// One column's line.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ColumnRequest {
    /// What the column is.
    pub role: Role,
    /// Quasi-identifiers: how values relate; found from the cells when absent. Sensitive: `numeric`
    /// orders t-closeness by value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// Quasi-identifiers: how much its loss counts; 1 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    /// What may be published instead of a value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hierarchy: Option<HierarchySpec>,
    /// The labels of an ordinal column, least first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<Vec<String>>,
    /// Quasi-identifiers: which partitions of its values `optimal` may choose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheme: Option<String>,
    /// Sensitive: no value (or, with `values`, not these together) fills more than this share of a
    /// class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alpha: Option<Share>,
    /// Sensitive: the values that `alpha` is about; all of them, one by one, when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<Vec<String>>,
    /// Sensitive: l-diversity in frequency form, no value in more than 1/l of a class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub l: Option<u64>,
    /// Sensitive: at least this many different values in a class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distinct: Option<u64>,
    /// Sensitive: the entropy of a class is at least the logarithm of this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entropy: Option<Share>,
    /// Sensitive: recursive (c,l)-diversity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recursive: Option<Recursive>,
    /// Sensitive: t-closeness, the greatest distance of a class to the whole table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub t: Option<Share>,
    /// Sensitive: the ground distance for `t`; `equal` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distance: Option<Distance>,
    /// Keep: publish it although it determines a quasi-identifier.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dependent: bool,
}

impl ColumnRequest {
    /// A column of that role with nothing else said.
    pub fn new(role: Role) -> ColumnRequest {
        ColumnRequest {
            role,
            kind: None,
            weight: None,
            hierarchy: None,
            order: None,
            scheme: None,
            alpha: None,
            values: None,
            l: None,
            distinct: None,
            entropy: None,
            recursive: None,
            t: None,
            distance: None,
            dependent: false,
        }
    }
}

/// The parameters of recursive (c,l)-diversity: the commonest value's count is below c times the
/// counts from the l-th on.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Recursive {
    /// The factor c.
    pub c: Share,
    /// The rank l.
    pub l: u64,
}

/// How far apart two sensitive values are, for t-closeness.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Distance {
    /// Any two differ by 1.
    #[default]
    Equal,
    /// By how many values stand between them, in value or given order.
    Ordered,
    /// By how high their common ancestor is in the column's hierarchy.
    Hierarchical,
}

/// A hierarchy: a file in the ARX form, or one line.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(
    untagged,
    expecting = "a hierarchy is a file name in quotes, or { intervals = [5, 10] }, { prefix = [4, 3] } or { date = [\"month\", \"year\"] }"
)]
pub enum HierarchySpec {
    /// No header, `;` or `,` between, a line a leaf: the value, then its ancestors up to the root.
    File(PathBuf),
    /// Widths of intervals, finest first, each a multiple of the one before.
    Intervals(IntervalsSpec),
    /// How many leading characters are kept, longest first: `53712`, `5371*`, `537**`.
    Prefix(PrefixSpec),
    /// Which calendar units, finest first.
    Date(DateSpec),
}

/// `{ intervals = [5, 10, 20], origin = 0, bottom = 20, top = 80 }`
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct IntervalsSpec {
    /// Widths, finest first, each a multiple of the one before.
    pub intervals: Vec<f64>,
    /// Where an interval begins.
    #[serde(default)]
    pub origin: f64,
    /// Bottom coding: everything below is one interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bottom: Option<f64>,
    /// Top coding: everything from here on is one interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top: Option<f64>,
}

/// `{ prefix = [4, 3, 2] }`
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PrefixSpec {
    /// How many leading characters are kept, longest first.
    pub prefix: Vec<usize>,
}

/// `{ date = ["month", "year", "decade"] }`
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct DateSpec {
    /// Calendar units, finest first.
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

/// A [`Ratio`] in a configuration: `0.29`, `"29%"` or `"29/100"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share(pub Ratio);

impl<'de> Deserialize<'de> for Share {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Share, D::Error> {
        #[derive(Deserialize)]
        #[serde(
            untagged,
            expecting = "a ratio is a number such as 0.25, or a text such as \"25%\" or \"1/4\""
        )]
        enum Written {
            Whole(u64),
            Decimal(f64),
            Text(String),
        }
        // A float prints as its shortest text, which is the text that was written: 0.29 becomes
        // 29/100 again.
        let text = match Written::deserialize(deserializer)? {
            Written::Whole(n) => n.to_string(),
            Written::Decimal(x) => x.to_string(),
            Written::Text(text) => text,
        };
        text.parse().map(Share).map_err(serde::de::Error::custom)
    }
}

impl Serialize for Share {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_str(&format!("{}/{}", self.0.num(), self.0.den()))
    }
}
