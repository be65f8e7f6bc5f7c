//! Rules on a sensitive column as values: `[l_diversity(2), t_closeness(0.2)]`.

use super::ratio::Share;
use super::{ColumnRequest, Conflict, Distance, Recursive};

/// A rule on a sensitive column, for [`Request::sensitive`](super::Request::sensitive). A number out
/// of its range is refused when the request is used.
#[derive(Clone, Debug, PartialEq)]
pub struct SensitiveRule(Keys);

/// The keys of the column that a rule sets.
#[derive(Clone, Debug, PartialEq)]
enum Keys {
    L(u64),
    Distinct(u64),
    Entropy(Share),
    Recursive(Recursive),
    Alpha(Share, Option<Vec<String>>),
    T(Share, Option<Distance>),
}

/// No value fills more than 1/l of a class: l-diversity in frequency form.
pub fn l_diversity(l: u64) -> SensitiveRule {
    SensitiveRule(Keys::L(l))
}

/// At least this many different values in a class.
pub fn distinct(values: u64) -> SensitiveRule {
    SensitiveRule(Keys::Distinct(values))
}

/// The entropy of a class is at least the logarithm of this number, which is at least 1.
pub fn entropy(l: impl Into<Share>) -> SensitiveRule {
    SensitiveRule(Keys::Entropy(l.into()))
}

/// Recursive (c,l)-diversity: the count of the commonest value is less than c times the sum of the
/// counts from the l-th commonest on.
pub fn recursive(c: impl Into<Share>, l: u64) -> SensitiveRule {
    SensitiveRule(Keys::Recursive(Recursive { c: c.into(), l }))
}

/// No value fills more than this share of a class.
pub fn alpha(share: impl Into<Share>) -> SensitiveRule {
    SensitiveRule(Keys::Alpha(share.into(), None))
}

/// These values together fill at most this share of a class.
///
/// # Example
/// ```
/// use lookalike::{Request, alpha_of};
///
/// let request = Request::new(5)
///     .quasi_identifiers(["age"])
///     .sensitive("diagnosis", [alpha_of(0.2, ["HIV", "Hepatitis B"])]);
/// assert!(request.to_toml()?.contains("values = [\"HIV\", \"Hepatitis B\"]"));
/// # Ok::<(), lookalike::Error>(())
/// ```
pub fn alpha_of(
    share: impl Into<Share>,
    values: impl IntoIterator<Item: Into<String>>,
) -> SensitiveRule {
    let values = values.into_iter().map(Into::into).collect();
    SensitiveRule(Keys::Alpha(share.into(), Some(values)))
}

/// The values of a class are at most this far from those of the whole table, any two different
/// values being 1 apart.
pub fn t_closeness(t: impl Into<Share>) -> SensitiveRule {
    SensitiveRule(Keys::T(t.into(), None))
}

/// As [`t_closeness`], with another distance between two values.
pub fn t_closeness_with(t: impl Into<Share>, distance: Distance) -> SensitiveRule {
    SensitiveRule(Keys::T(t.into(), Some(distance)))
}

impl SensitiveRule {
    /// Sets the keys of a column. A second rule of one kind is a conflict: a column has one key a
    /// kind, and to forget either of them would be wrong.
    pub(super) fn add_to(self, column: &mut ColumnRequest) {
        let (key, is_set) = match &self.0 {
            Keys::L(_) => ("l", column.l.is_some()),
            Keys::Distinct(_) => ("distinct", column.distinct.is_some()),
            Keys::Entropy(_) => ("entropy", column.entropy.is_some()),
            Keys::Recursive(_) => ("recursive", column.recursive.is_some()),
            Keys::Alpha(..) => ("alpha", column.alpha.is_some()),
            Keys::T(..) => ("t", column.t.is_some()),
        };
        if is_set {
            column.conflict = Some(Conflict::Rules(key));
        }
        match self.0 {
            Keys::L(l) => column.l = Some(l),
            Keys::Distinct(values) => column.distinct = Some(values),
            Keys::Entropy(l) => column.entropy = Some(l),
            Keys::Recursive(recursive) => column.recursive = Some(recursive),
            Keys::Alpha(share, values) => (column.alpha, column.values) = (Some(share), values),
            Keys::T(t, distance) => (column.t, column.distance) = (Some(t), distance),
        }
    }
}
