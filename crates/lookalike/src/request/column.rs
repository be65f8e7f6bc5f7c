//! The request for one column: its role, how its values relate, its hierarchy, the rules on it.

use serde::{Deserialize, Serialize};

use super::decimal::Decimal;
use super::ratio::Share;
use super::{HierarchySpec, finite};
use crate::forms::Form;

/// The role of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// A quasi-identifier: could be joined with outside data, so it is generalized.
    Quasi,
    /// Must not be inferred of a person: published, with rules on its values in each class.
    Sensitive,
    /// Names a person: not published.
    Identifier,
    /// Insensitive: published unchanged.
    Keep,
    /// Names the person of each row, alone or with other such columns: rows of one person count as
    /// one person. Not published, or as a pseudonym.
    Person,
    /// The sampling weight of a survey: how many persons of the population a row stands for. For
    /// the risk; published unchanged, and never counted by a rule.
    Weight,
}

impl Role {
    /// The name in a request.
    pub fn name(self) -> &'static str {
        match self {
            Role::Quasi => "quasi",
            Role::Sensitive => "sensitive",
            Role::Identifier => "identifier",
            Role::Keep => "keep",
            Role::Person => "person",
            Role::Weight => "weight",
        }
    }
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

/// The request for one column: `age = { role = "quasi", weight = 2 }`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ColumnRequest {
    /// The column's role.
    pub role: Role,
    /// Quasi-identifiers: how values relate; guessed from the cells when absent. Sensitive columns:
    /// `numeric` and `date` make all spellings of a number or an instant one value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// Quasi-identifiers: the factor of its loss, from 0 to 10^9; 1 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none", serialize_with = "finite::some")]
    pub weight: Option<f64>,
    /// How its numbers or dates are written in a text file, such as `1.234,5` or `dd.mm.yyyy`; told
    /// by the cells when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<Form>,
    /// The values that may be published instead of the column's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hierarchy: Option<HierarchySpec>,
    /// The labels of an ordinal column, least first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<Vec<String>>,
    /// Quasi-identifiers: the scheme of `optimal` for this column, `bhs`, `ghs`, `gops`, `ops`,
    /// `gsps` or `sps`.
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
    /// Sensitive: the entropy of a class is at least the logarithm of this number, which is at
    /// least 1.
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
    /// Keep or sensitive: publish it although it determines a quasi-identifier.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dependent: bool,
    /// Keep or sensitive, numbers: published as the nearest multiple of this number; halves go away
    /// from 0. Rules count what is published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round: Option<Decimal>,
    /// Keep or sensitive, numbers: a greater number is published as this one. After `round`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top: Option<Decimal>,
    /// Keep or sensitive, numbers: a smaller number is published as this one. After `round`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bottom: Option<Decimal>,
    /// Identifier: published as a keyed hash of each value. No two rows may have the same value.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hash: bool,
    /// Why the column has its role: a text for the record of a release. No rule and no search looks
    /// at it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What a builder was asked for and a column cannot be; refused when the request is used.
    #[serde(skip)]
    pub conflict: Option<Conflict>,
}

/// Two wishes for one column that exclude each other. Only a builder can have them: a text with a
/// key twice is no TOML, and JSON with one is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conflict {
    /// It has keys but no role yet.
    NoRole,
    /// It has two roles.
    Roles(Role, Role),
    /// It has two rules of one kind; the key of the kind.
    Rules(&'static str),
    /// It was described twice as a whole.
    Columns,
}

impl ColumnRequest {
    /// True when the column itself is under a rule.
    pub fn has_rule(&self) -> bool {
        self.alpha.is_some()
            || self.l.is_some()
            || self.distinct.is_some()
            || self.entropy.is_some()
            || self.recursive.is_some()
            || self.t.is_some()
    }

    /// True when its numbers are rounded, or coded at the top or the bottom, before they are counted
    /// and published.
    pub fn is_coarsened(&self) -> bool {
        self.round.is_some() || self.top.is_some() || self.bottom.is_some()
    }

    /// How its numbers are published, in words; none where they are unchanged.
    ///
    /// ```
    /// # use lookalike::request::{ColumnRequest, Role};
    /// let pay = ColumnRequest {
    ///     round: Some(100.into()),
    ///     top: Some(900.into()),
    ///     ..ColumnRequest::new(Role::Keep)
    /// };
    /// let words = "rounded to multiples of 100; 900 stands for 900 and more";
    /// assert_eq!(pay.coarsening_words().as_deref(), Some(words));
    /// ```
    pub fn coarsening_words(&self) -> Option<String> {
        let round = self.round.map(|step| format!("rounded to multiples of {step}"));
        let bottom = self.bottom.map(|limit| format!("{limit} stands for {limit} and less"));
        let top = self.top.map(|limit| format!("{limit} stands for {limit} and more"));
        let words: Vec<String> = [round, bottom, top].into_iter().flatten().collect();
        (!words.is_empty()).then(|| words.join("; "))
    }

    /// A column with this role and no other key.
    pub fn new(role: Role) -> ColumnRequest {
        ColumnRequest {
            role,
            kind: None,
            weight: None,
            format: None,
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
            round: None,
            top: None,
            bottom: None,
            hash: false,
            reason: None,
            conflict: None,
        }
    }
}

/// The parameters of recursive (c,l)-diversity: the count of the commonest value is less than
/// c times the sum of the counts from the l-th commonest on.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Recursive {
    /// The factor c, above 0.
    pub c: Share,
    /// The rank l, at least 1.
    pub l: u64,
}

/// How far apart two sensitive values are, for t-closeness.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Distance {
    /// Any two different values are 1 apart.
    #[default]
    Equal,
    /// By how many places they are apart, in the order of the values or in the given order.
    Ordered,
    /// By the height of their lowest common ancestor in the column's hierarchy.
    Hierarchical,
}
