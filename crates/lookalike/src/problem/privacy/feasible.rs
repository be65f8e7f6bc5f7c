//! Before any search: whether the rules can be met at all, the nearest request that can be, and the
//! rows to suppress.
//!
//! A table can be released exactly when the whole table as one class satisfies the rules, by the
//! union law on [`Privacy::holds`].

use super::{
    LN_UNIT, Model, Privacy, Tally, count_together, entropy_holds, entropy_units, recursive_holds,
    top_and_tail,
};
use crate::codes::Code;
use crate::error::{Error, Hint, Result};
use crate::request::ratio::Ratio;

/// A sensitive value that is too frequent in the whole table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Excess {
    /// The sensitive column.
    pub column: usize,
    /// The value; of several that are counted together, the most frequent.
    pub code: Code,
    /// The least number of its rows or persons to suppress, never 0.
    pub rows: u64,
}

/// Suggested parameters are rounded to millionths.
const MILLION: u64 = 1_000_000;

impl Privacy {
    /// Accepts the whole table as one class, or gives for each rule that fails the nearest feasible
    /// parameter. `names` are the names of the sensitive columns. Every suggested parameter can
    /// itself be met.
    ///
    /// # Errors
    /// [`Infeasible`](crate::ErrorKind::Infeasible) when the whole table does not satisfy the
    /// rules: then no release of it does.
    pub fn nearest(&self, whole: &Tally, names: &[String]) -> Result<()> {
        if whole.size() == 0 {
            return Err(Error::infeasible("infeasible-rules", "the table has no rows to release"));
        }
        let of_persons = self.models.iter().any(|model| matches!(model, Model::Persons { .. }));
        // Where persons are counted, nobody asked for so many rows.
        let is_asked = |model: &&Model| !(of_persons && matches!(model, Model::K(_)));
        let failing = self.models.iter().filter(|model| !self.model_holds(model, whole));
        let failing = failing.filter(is_asked);
        let failing: Vec<&Model> = failing.collect();
        if failing.is_empty() {
            return Ok(());
        }
        let why: Vec<String> = failing.iter().map(|model| nearest(model, whole, names)).collect();
        let error = Error::infeasible("infeasible-rules", why.join("; "));
        // A rule on all values fails on a common one, which often needs no protection.
        let too_common = failing.iter().find_map(|model| match model {
            Model::Alpha { column, values: None, .. } => Some(names[*column].clone()),
            _ => None,
        });
        Err(too_common
            .into_iter()
            .fold(error, |error, column| error.hint(Hint::ProtectValues { column })))
    }

    /// When the whole table does not satisfy the rules but would after suppression: a value that is
    /// too frequent, and the least number of its rows to suppress. None when the rules are
    /// satisfied, or when no suppression can help (too few rows or too few values).
    ///
    /// For alpha and recursive, every subset of the table that satisfies the rule is without at
    /// least these rows of this value. For entropy, and for values that are counted together, this
    /// is true of some largest such subset. So suppressing them and asking again, until the answer
    /// is none, suppresses no row too many for one rule; two rounds for each value suffice. Persons
    /// with several values, and rows that weigh less than a person, take more rounds, and perhaps a
    /// few persons too many.
    pub fn excess(&self, whole: &Tally) -> Option<Excess> {
        let failing: Vec<&Model> =
            self.models.iter().filter(|model| !self.model_holds(model, whole)).collect();
        // Suppression for one failing rule is in vain if it cannot help another one.
        let ways: Option<Vec<Excess>> =
            failing.into_iter().map(|model| excess(model, whole)).collect();
        ways?.into_iter().next()
    }
}

fn excess(model: &Model, whole: &Tally) -> Option<Excess> {
    match model {
        Model::Distinct { column, .. } if whole.is_plural(*column) => some_of_most(*column, whole),
        Model::Recursive { column, .. } | Model::Entropy { column, .. }
            if is_uneven(whole, *column) =>
        {
            some_of_most(*column, whole)
        }
        // Suppression cannot add rows or values; closeness is measured against all rows, so none of
        // them may be suppressed.
        Model::K(_) | Model::Persons { .. } | Model::Distinct { .. } | Model::Closeness { .. } => {
            None
        }
        Model::Alpha { column, alpha, values: Some(values) } => {
            let together = count_together(whole, *column, values);
            let named = values.iter().map(|&code| (code, whole.count(*column, code)));
            above(*column, *alpha, together, most_frequent(named)?, whole)
        }
        Model::Alpha { column, alpha, values: None } if is_uneven(whole, *column) => {
            let most = most_frequent(whole.present(*column))?;
            above(*column, *alpha, most.1, most, whole)
        }
        Model::Alpha { column, alpha, values: None } => cut(*column, whole, 0, |counts| {
            alpha.at_least_share(counts.iter().copied().max().unwrap_or(0), counts.iter().sum())
        }),
        Model::Recursive { column, c, l } => cut(*column, whole, 0, |counts| {
            let size = counts.iter().sum();
            recursive_holds(*c, top_and_tail(*l, size, counts.iter().copied()))
        }),
        // Between two levels some of the greatest counts may stay: see `cut`.
        Model::Entropy { column, l } => cut(*column, whole, 1, |counts| {
            entropy_holds(*l, counts.iter().sum(), counts.iter().copied())
        }),
    }
}

/// True where persons have several values, or rows weigh less than a person: then no cut through all
/// counts says which rows to suppress.
fn is_uneven(whole: &Tally, column: usize) -> bool {
    whole.is_plural(column) || whole.unit() > 1
}

/// In so many steps at least the most frequent value is suppressed where no formula says how much of
/// it.
const ROUNDS: u64 = 200;

/// Of a value, or values counted together, with a greater share than alpha: the rows of the most
/// frequent one to suppress.
fn above(
    column: usize,
    alpha: Ratio,
    together: u64,
    (code, count): (Code, u64),
    whole: &Tally,
) -> Option<Excess> {
    if together == whole.weight() {
        return None;
    }
    let (num, den, size) =
        (u128::from(alpha.num()), u128::from(alpha.den()), u128::from(whole.weight()));
    // The least r with (together - r) / (size - r) <= alpha; alpha is below 1, or the rule would be
    // satisfied.
    let weight = (u128::from(together) * den - num * size).div_ceil(den - num);
    let weight = u64::try_from(weight).unwrap_or(u64::MAX).min(count);
    Some(some_of(column, code, weight, whole))
}

/// A small part of the most frequent value; none when everybody has it.
fn some_of_most(column: usize, whole: &Tally) -> Option<Excess> {
    let (code, count) = most_frequent(whole.present(column))?;
    (count < whole.weight()).then(|| some_of(column, code, count / ROUNDS, whole))
}

/// The rows of a value that have this weight, if each weighs as much as it can.
fn some_of(column: usize, code: Code, weight: u64, whole: &Tally) -> Excess {
    Excess { column, code, rows: weight.div_ceil(whole.unit()).max(1) }
}

/// Cuts all counts down to a common level, the greatest that satisfies the rule, and returns how
/// far the most frequent value is above it. The cut gives the most even distribution after
/// suppressing that many rows, and a lower level a more even one, so if level 1 does not satisfy
/// the rule, nothing does. `spare` is 1 for a rule that some counts one above the level may still
/// satisfy.
fn cut(column: usize, whole: &Tally, spare: u64, holds: impl Fn(&[u64]) -> bool) -> Option<Excess> {
    let (code, count) = most_frequent(whole.present(column))?;
    let holds_at = |level: u64| {
        holds(&whole.present(column).map(|(_, count)| count.min(level)).collect::<Vec<u64>>())
    };
    let level = greatest(count - 1, holds_at)?;
    Some(Excess { column, code, rows: (count - level - spare).max(1) })
}

fn most_frequent(counts: impl Iterator<Item = (Code, u64)>) -> Option<(Code, u64)> {
    counts.max_by_key(|&(code, count)| (count, std::cmp::Reverse(code)))
}

/// The message for a rule that fails on the whole table, with the nearest parameter that does not.
fn nearest(model: &Model, whole: &Tally, names: &[String]) -> String {
    let (size, rows) = (whole.weight(), whole.counted());
    match model {
        Model::K(k) => {
            let size = whole.size();
            format!(
                "k = {k} cannot be met: the table has {size} {rows}, so the largest feasible k is \
                 {size}"
            )
        }
        Model::Persons { column, k } => {
            let persons = whole.distinct(*column);
            format!(
                "k = {k} cannot be met: the table has {persons} persons, so the largest feasible k \
                 is {persons}"
            )
        }
        Model::Alpha { column, alpha, values } => {
            let (who, part) = match values {
                Some(values) => ("the named values fill", count_together(whole, *column, values)),
                None => (
                    "one value fills",
                    most_frequent(whole.present(*column)).map_or(0, |(_, count)| count),
                ),
            };
            let divisor = gcd(part, size);
            // Weights are of no interest to a reader, shares of them are.
            let filled = if whole.unit() > 1 {
                format!(
                    "{} of the weight of the rows",
                    decimal(millionths(part, size, Rounding::Up))
                )
            } else {
                format!("{part} of {size} {rows}")
            };
            let mut why = format!(
                "alpha = {alpha} on column `{}` cannot be met: {who} {filled}, so the smallest \
                 feasible alpha is {}/{} (or {})",
                names[*column],
                part / divisor,
                size / divisor,
                decimal(millionths(part, size, Rounding::Up)),
            );
            if values.is_none() && alpha.num() == 1 {
                why += &format!(
                    "; as l-diversity, l = {} cannot be met and the greatest feasible l is {}",
                    alpha.den(),
                    size / part
                );
            }
            why
        }
        Model::Distinct { column, l } => {
            let (name, have) = (&names[*column], whole.distinct(*column));
            if whole.is_plural(*column) {
                let counts = || whole.present(*column).map(|(_, count)| count);
                let has_tail = |l| top_and_tail(l, whole.weight(), counts()).1 > 0;
                let most = greatest(have, has_tail).unwrap_or(0);
                return format!(
                    "distinct l = {l} on column `{name}` cannot be met: persons have several values \
                     there, and {most} of them may be all that is needed to have one of each \
                     person, so the greatest feasible l is {most}"
                );
            }
            format!(
                "distinct l = {l} on column `{name}` cannot be met: it has {have} different \
                 values, so the greatest feasible l is {have}"
            )
        }
        Model::Entropy { column, l } => {
            let best = decimal(greatest_entropy_l(*column, whole));
            let name = &names[*column];
            format!(
                "entropy l = {l} on column `{name}` cannot be met by the whole table: the greatest \
                 feasible l is {best}"
            )
        }
        Model::Recursive { column, c, l } => {
            recursive_nearest(*c, *l, *column, whole, &names[*column])
        }
        Model::Closeness { column, t, .. } => {
            let name = &names[*column];
            format!(
                "t = {t} on column `{name}` cannot be met: all rows as one class are farther from \
                 the table that classes are measured against; take more of its rows"
            )
        }
    }
}

/// The greatest feasible l in millionths, rounded down so that it can itself be met.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "the entropy of 2^32 rows is below 23, and the result is checked before it is returned"
)]
fn greatest_entropy_l(column: usize, whole: &Tally) -> u128 {
    let counts = || whole.shared(column).map(|(_, part)| part);
    let size = whole.shared_total(column);
    let entropy = entropy_units(size, counts()) as f64 / LN_UNIT / size as f64;
    let mut best = (entropy.exp() * MILLION as f64).ceil() as u64;
    let holds =
        |l| entropy_holds(Ratio::new(l, MILLION).expect("a million is not 0"), size, counts());
    while best > MILLION && !holds(best) {
        best -= 1;
    }
    u128::from(best)
}

fn recursive_nearest(c: Ratio, l: u64, column: usize, whole: &Tally, name: &str) -> String {
    let counts = || whole.present(column).map(|(_, count)| count);
    let least_c = |l| {
        let (top, tail) = top_and_tail(l, whole.weight(), counts());
        (tail > 0).then(|| {
            let above = decimal(millionths(top, tail, Rounding::Above));
            let divisor = if whole.unit() > 1 { gcd(top, tail) } else { 1 };
            let (top, tail) = (top / divisor, tail / divisor);
            format!("with l = {l}, c must be above {top}/{tail}, such as {above}")
        })
    };
    let have = whole.distinct(column);
    let few = || match whole.is_plural(column) {
        true => format!("with l = {l} no c is feasible, as persons have several values"),
        false => format!("with l = {l} no c is feasible, as it has {have} different values"),
    };
    let mut ways = vec![least_c(l).unwrap_or_else(few)];
    // The tail shrinks as l grows, so a table that satisfies one l satisfies all smaller ones.
    match greatest(have.min(l), |l| recursive_holds(c, top_and_tail(l, whole.weight(), counts()))) {
        Some(l) => ways.push(format!("with c = {c} the greatest feasible l is {l}")),
        None if l > 1 => ways.extend(least_c(1)),
        None => {}
    }
    format!("recursive c = {c}, l = {l} on column `{name}` cannot be met: {}", ways.join("; "))
}

/// The greatest number from 1 to `most` for which `holds` is true, if it is true for all smaller
/// ones; by bisection.
fn greatest(most: u64, holds: impl Fn(u64) -> bool) -> Option<u64> {
    let (mut low, mut high) = (0, most + 1);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if holds(middle) { low = middle } else { high = middle }
    }
    (low > 0).then_some(low)
}

#[derive(Clone, Copy)]
enum Rounding {
    /// To the least millionth that is not below the number.
    Up,
    /// To the least millionth that is above the number.
    Above,
}

fn millionths(part: u64, whole: u64, rounding: Rounding) -> u128 {
    let (scaled, whole) = (u128::from(part) * u128::from(MILLION), u128::from(whole));
    match rounding {
        Rounding::Up => scaled.div_ceil(whole),
        Rounding::Above => scaled / whole + 1,
    }
}

fn decimal(millionths: u128) -> String {
    let million = u128::from(MILLION);
    let text = format!("{}.{:06}", millionths / million, millionths % million);
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
