//! The privacy rules: one predicate on the counts of an equivalence class (class for short).
//!
//! # A new rule
//! A rule is named in the request, translated to codes, decided here for the search, and decided
//! again by the audit from the published text. These files change, in this order:
//!
//! 1. `request/column.rs`: the key of the request file, a field of `ColumnRequest`.
//! 2. `request/rule.rs`: a variant of `ModelSpec`, its sensitive column, the check of its parameters
//!    in `Request::rules`, and its key in `check_other`, which refuses it on other columns.
//! 3. `problem/sensitive_rules.rs`: from names to codes, from `ModelSpec` to [`Model`].
//! 4. This file: a variant of [`Model`], its arms in `model_holds` and [`Privacy::least_rows`], and
//!    the reason why it obeys the union law of [`Privacy::holds`].
//! 5. `deficit.rs` and `feasible.rs` beside this file: how far a class is from the rule, and the
//!    nearest request that can be met.
//! 6. `tests.rs` beside this file: the rule by its definition, in `margin` and `random_models`; the
//!    laws are then tested for it too.
//! 7. `audit/rules.rs` and `audit/excerpt.rs`: the same rule once more, and its words, without any
//!    code of this room.
//! 8. `lookalike-cli`, `args.rs` and `request.rs` (the flag, and `has_rule`), docs/configuration.md.
//! 9. `bench/fuzzing/{request,flags,verifier}.py`: random requests with the rule, and a third
//!    evaluation of it.
//!
//! No `match` that decides a rule has a wildcard: once `ModelSpec` and [`Model`] have the variant,
//! the compiler names the places in 3 to 5 and in 7.
//!
//! # Complexity
//! k takes O(1). Alpha, distinct, entropy, recursive and t with equal distances take O(values that
//! occur in the class); t with ordered distances takes O(domain), with hierarchical ones O(domain
//! and its tree).
//!
//! # References
//! (alpha,k): Wong, Li, Fu, Wang, KDD 2006. Frequency l: He et al., PAKDD 2012, definition 3.
//! Distinct, entropy and recursive l: Machanavajjhala, Gehrke, Kifer, Venkitasubramaniam, ICDE
//! 2006. t-closeness: Li, Li, Venkatasubramanian, ICDE 2007.

mod counting;
mod deficit;
mod feasible;
mod tally;

pub use counting::{CodeSets, Counting, PERSON_WEIGHT, PluralColumn};
pub use feasible::Excess;
pub use tally::Tally;

use crate::codes::{Code, CodeRange};
use crate::request::ratio::Ratio;

/// A rule on one class. `column` is the index of a sensitive column in the [`Tally`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Model {
    /// At least this many rows; persons, where all rows of a person are in one class.
    K(u64),
    /// Rows of at least this many different persons.
    Persons {
        /// The column of the tally that has the person of each row.
        column: usize,
        /// The least number of persons.
        k: u64,
    },
    /// No value, or not these values together, fills more than a share of the class.
    Alpha {
        /// The sensitive column.
        column: usize,
        /// The greatest share, 0 to 1.
        alpha: Ratio,
        /// The values that are counted together, each once; with none, every value is counted
        /// alone.
        values: Option<Vec<Code>>,
    },
    /// At least `l` different values.
    Distinct {
        /// The sensitive column.
        column: usize,
        /// The least number of different values.
        l: u64,
    },
    /// The entropy of the values is at least ln l.
    Entropy {
        /// The sensitive column.
        column: usize,
        /// The effective number of values, at least 1.
        l: Ratio,
    },
    /// Recursive (c,l)-diversity: the greatest count is below `c` times the sum of the l-th
    /// greatest and all smaller ones.
    Recursive {
        /// The sensitive column.
        column: usize,
        /// The factor.
        c: Ratio,
        /// The rank, at least 1.
        l: u64,
    },
    /// The earth mover's distance between the values of the class and those of the whole table is
    /// at most `t`.
    Closeness {
        /// The sensitive column.
        column: usize,
        /// The greatest distance, 0 to 1.
        t: Ratio,
        /// The distance of two values.
        ground: GroundDistance,
    },
}

/// The distance of two values of a sensitive column, 0 to 1: the ground distance of the earth
/// mover's distance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GroundDistance {
    /// Any two differ by 1.
    Equal,
    /// The difference of their ranks over the greatest one. Codes are in value order; a value
    /// without rows has no rank.
    Ordered,
    /// The height of their lowest common ancestor over the height of the root.
    Hierarchical {
        /// The inner nodes, children before parents and from left to right, so that the root comes
        /// last. The codes are the leaves, at height 0, in tree order. The root covers every code
        /// of the column, even if it is the only inner node.
        nodes: Vec<GroundNode>,
    },
}

/// An inner node of a [`GroundDistance::Hierarchical`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroundNode {
    /// The codes below it.
    pub range: CodeRange,
    /// Its height, at least 1 and never below a child's height.
    pub height: u32,
}

/// All rules of one set of classes, together with the counts of the whole table.
#[derive(Clone, Debug)]
pub struct Privacy {
    models: Vec<Model>,
    /// The count of each value of each sensitive column in the whole table: closeness compares with
    /// them.
    totals: Vec<Vec<u64>>,
    /// The sum of each column's counts.
    sums: Vec<u64>,
}

impl Privacy {
    /// These models, all of which must be satisfied, on a table with these counts: for each
    /// sensitive column one count for each code. The counts may be empty if no model has a column.
    pub fn new(models: Vec<Model>, totals: Vec<Vec<u64>>) -> Privacy {
        let sums = totals.iter().map(|column| column.iter().sum()).collect();
        Privacy { models, totals, sums }
    }

    /// True when the class satisfies every model. An empty class satisfies none.
    ///
    /// **The union law: if two classes satisfy a model, so does their union.** Every algorithm
    /// relies on it, and it implies that a table can be released exactly when the whole table as
    /// one class satisfies the rules. A model without this property must not be added. Why it is
    /// true:
    ///
    /// - k: sizes add up.
    /// - persons: a union has every person of both classes.
    /// - alpha: the share in a union lies between the shares in its two classes.
    /// - distinct: a union has every value of both classes.
    /// - entropy: it is concave, so the entropy of a mixture is at least the weighted mean of the
    ///   entropies. (Logarithms are rounded: see `ENTROPY_TOLERANCE`.)
    /// - recursive: the greatest count of a union is at most the sum of the two greatest counts,
    ///   and the same is true of the sum of the l - 1 greatest, so the tail is at least the sum of
    ///   the two tails.
    /// - closeness: the two transports together are a transport for the union, so the distance is
    ///   at most the weighted mean of the distances.
    ///
    /// Persons with several values count for each of them; all their rows are in one class, so the
    /// persons of a union are those of both classes and every count adds up. Alpha stays a share of
    /// persons. For distinct and recursive the tail is the persons without the l - 1 most frequent
    /// values, counted as if nobody had two of these: never more than there are, and for persons of
    /// one value each just the rarer values. Entropy and closeness look at the distribution in which
    /// every person weighs the same. Weights of rows are fixed before the search, so they add up
    /// like counts.
    ///
    /// All models but entropy are decided in integers, for tables of up to 2^32 rows.
    pub fn holds(&self, class: &Tally) -> bool {
        class.size() > 0 && self.models.iter().all(|model| self.model_holds(model, class))
    }

    /// The greatest k of the rules, at least 1.
    pub fn k(&self) -> u64 {
        let ks = self.models.iter().map(|model| if let Model::K(k) = model { *k } else { 1 });
        ks.fold(1, u64::max)
    }

    /// A lower bound on the rows of any class that satisfies the rules, at least 1.
    pub fn least_rows(&self) -> u64 {
        let least = self.models.iter().map(|model| match model {
            Model::K(k) | Model::Persons { k, .. } => *k,
            Model::Alpha { alpha, values: None, .. } if alpha.num() > 0 => {
                alpha.den().div_ceil(alpha.num())
            }
            Model::Distinct { l, .. } | Model::Recursive { l, .. } => *l,
            Model::Alpha { .. } | Model::Entropy { .. } | Model::Closeness { .. } => 1,
        });
        least.fold(1, u64::max)
    }

    /// The rule on the share of a value that allows least: its column, the share, and the values
    /// that are counted together, or none where each is counted alone.
    pub(crate) fn strictest_share(&self) -> Option<(usize, Ratio, Option<&[Code]>)> {
        let shares = self.models.iter().filter_map(|model| match model {
            Model::Alpha { column, alpha, values } => Some((*column, *alpha, values.as_deref())),
            _ => None,
        });
        shares.min_by(|one, other| one.1.to_f64().total_cmp(&other.1.to_f64()))
    }

    /// False when the size of a class alone decides, so that sensitive values need not be counted.
    pub fn needs_sensitive(&self) -> bool {
        self.models.iter().any(|model| !matches!(model, Model::K(_)))
    }

    fn model_holds(&self, model: &Model, class: &Tally) -> bool {
        let counts = |column| class.present(column).map(|(_, count)| count);
        match model {
            Model::K(k) => class.size() >= *k,
            Model::Persons { column, k } => class.distinct(*column) >= *k,
            Model::Alpha { column, alpha, values: None } => {
                alpha.at_least_share(counts(*column).max().unwrap_or(0), class.weight())
            }
            Model::Alpha { column, alpha, values: Some(values) } => {
                alpha.at_least_share(count_together(class, *column, values), class.weight())
            }
            Model::Distinct { column, l } if class.is_plural(*column) => {
                top_and_tail(*l, class.weight(), counts(*column)).1 > 0
            }
            Model::Distinct { column, l } => class.distinct(*column) >= *l,
            Model::Entropy { column, l } => {
                let shared = class.shared(*column).map(|(_, part)| part);
                entropy_holds(*l, class.shared_total(*column), shared)
            }
            Model::Recursive { column, c, l } => {
                recursive_holds(*c, top_and_tail(*l, class.weight(), counts(*column)))
            }
            Model::Closeness { column, t, ground } => {
                let (work, longest) = self.distance(*column, ground, class);
                product_at_most((work, t.den()), (longest, t.num()))
            }
        }
    }

    /// The earth mover's distance of a class to the whole table as an exact fraction, 0/0 when
    /// there is only one value.
    ///
    /// A value with c of n rows in the class and C of N in the table has a surplus of c N - C n, in
    /// units of 1 / (n N).
    fn distance(&self, column: usize, ground: &GroundDistance, class: &Tally) -> (u128, u128) {
        let totals = &self.totals[column];
        let (rows, size) = (self.sums[column], class.shared_total(column));
        let surplus = |count: u64, total: u64| {
            i128::from(count) * i128::from(rows) - i128::from(total) * i128::from(size)
        };
        let earth = u128::from(rows) * u128::from(size);
        match ground {
            GroundDistance::Equal => {
                let too_much =
                    |(code, count)| surplus(count, totals[code as usize]).max(0).unsigned_abs();
                (class.shared(column).map(too_much).sum(), earth)
            }
            GroundDistance::Ordered => {
                let (mut work, mut carried, mut steps) = (0, 0, 0_u128);
                for (code, &total) in (0..).zip(totals).filter(|&(_, &total)| total > 0) {
                    carried += surplus(class.shared_of(column, code), total);
                    work += carried.unsigned_abs();
                    steps += 1;
                }
                (work, earth * steps.saturating_sub(1))
            }
            GroundDistance::Hierarchical { nodes } => {
                let surplus = (0..)
                    .zip(totals)
                    .map(|(code, &total)| (code, surplus(class.shared_of(column, code), total)));
                (
                    work_in_tree(nodes, surplus),
                    earth * nodes.last().map_or(0, |root| u128::from(root.height)),
                )
            }
        }
    }
}

/// The work of a transport that levels out the surplus of every leaf, in units of height: at each
/// node the surpluses and deficits of its children cancel as far as possible, and the rest goes up.
fn work_in_tree(nodes: &[GroundNode], leaves: impl Iterator<Item = (Code, i128)>) -> u128 {
    let mut leaves = leaves.peekable();
    // Subtrees whose parent comes later: their least code and their remaining surplus.
    let mut open: Vec<(Code, i128)> = Vec::new();
    let mut work = 0;
    for node in nodes {
        while let Some(leaf) = leaves.next_if(|&(code, _)| code <= node.range.hi) {
            open.push(leaf);
        }
        let (mut too_much, mut too_little) = (0, 0);
        while let Some((_, surplus)) = open.pop_if(|&mut (code, _)| code >= node.range.lo) {
            too_much += surplus.max(0);
            too_little -= surplus.min(0);
        }
        work += u128::from(node.height) * too_much.min(too_little).unsigned_abs();
        open.push((node.range.lo, too_much - too_little));
    }
    // A leaf outside the root would be missing from the distance, and a class could pass wrongly.
    assert!(
        leaves.next().is_none() && open.len() <= 1,
        "the last ground node is the root and covers every code"
    );
    work
}

fn count_together(class: &Tally, column: usize, values: &[Code]) -> u64 {
    values.iter().map(|&code| class.count(column, code)).sum()
}

/// The greatest count, and what the l - 1 greatest leave of the weight: for values that exclude each
/// other, the sum of the l-th greatest and all smaller ones.
fn top_and_tail(l: u64, weight: u64, counts: impl Iterator<Item = u64>) -> (u64, u64) {
    let mut counts: Vec<u64> = counts.collect();
    let top = counts.iter().copied().max().unwrap_or(0);
    let head: u64 = match usize::try_from(l.saturating_sub(1)) {
        Ok(0) => 0,
        Ok(head) if head < counts.len() => {
            let (greater, least, _) = counts.select_nth_unstable_by(head - 1, |a, b| b.cmp(a));
            greater.iter().sum::<u64>() + *least
        }
        _ => counts.iter().sum(),
    };
    (top, weight.saturating_sub(head))
}

fn recursive_holds(c: Ratio, (top, tail): (u64, u64)) -> bool {
    u128::from(top) * u128::from(c.den()) < u128::from(c.num()) * u128::from(tail)
}

/// The unit of logarithms is 2^-48: the precision of `f64` at ln 2^32, the logarithm of the longest
/// table.
const LN_UNIT: f64 = 281_474_976_710_656.0;

/// The entropy may be below its limit by so many units of logarithm, about 3e-14 in all. A
/// logarithm has an error of at most one unit, and of a half more once it is rounded, and three of
/// them meet: that of the class size, the mean of those of the counts, and that of l. Without the
/// tolerance, three equally frequent values would not have entropy ln 3. It is no wider: at l = 3 a
/// class of 3 million rows that is one row off an equal split is still rejected.
const ENTROPY_TOLERANCE: i128 = 8;

/// The logarithm in whole units: sums of integers do not depend on the order of their terms.
#[allow(
    clippy::cast_possible_truncation,
    reason = "the logarithm of a 64-bit number is below 45, so the product is below 2^54"
)]
fn ln_units(x: f64) -> i128 {
    (x.ln() * LN_UNIT).round() as i128
}

/// The size times the entropy, in units of logarithm: n ln n minus the sum of c ln c.
#[allow(clippy::cast_precision_loss, reason = "counts are below 2^53")]
fn entropy_units(size: u64, counts: impl Iterator<Item = u64>) -> i128 {
    let weighted = |count: u64| i128::from(count) * ln_units(count as f64);
    weighted(size) - counts.map(weighted).sum::<i128>()
}

fn entropy_holds(l: Ratio, size: u64, counts: impl Iterator<Item = u64>) -> bool {
    entropy_units(size, counts) >= i128::from(size) * (ln_units(l.to_f64()) - ENTROPY_TOLERANCE)
}

/// a b <= c d for `(a, b)` and `(c, d)`, in 192 bits.
fn product_at_most(left: (u128, u64), right: (u128, u64)) -> bool {
    let wide = |(a, b): (u128, u64)| {
        let low = (a & u128::from(u64::MAX)) * u128::from(b);
        ((a >> 64) * u128::from(b) + (low >> 64), low & u128::from(u64::MAX))
    };
    wide(left) <= wide(right)
}

#[cfg(test)]
mod tests;
