//! The classes that break a rule, described by sizes and shares only.

use std::cmp::Ordering;

use super::rules::written;
use super::{ClassExcerpt, CountUnit};
use crate::request::ModelSpec;
use crate::request::ratio::Ratio;

/// The most kinds of classes that are reported for a broken rule.
const MOST: usize = 5;

/// The numbers of a class under one rule.
#[derive(Debug)]
pub(super) struct Case {
    /// The number of classes with exactly these numbers.
    pub(super) classes: u64,
    pub(super) size: u64,
    /// The counts are shares of this: the size, or a sum of weights.
    pub(super) whole: u64,
    pub(super) measure: f64,
    pub(super) count: Option<u64>,
    pub(super) tail: Option<u64>,
}

/// Keeps a class if it is among the worst: by its measure, then by size, smallest first, then by
/// the count of its most frequent value. Classes that agree in all of these are kept as one; a case
/// that once left the list cannot come back, so they are counted in full.
pub(super) fn keep(worst: &mut Vec<Case>, case: Case, worse: fn(f64, f64) -> bool) {
    let order =
        |a: &Case, b: &Case| match (worse(a.measure, b.measure), worse(b.measure, a.measure)) {
            (true, _) => Ordering::Less,
            (_, true) => Ordering::Greater,
            _ => a.size.cmp(&b.size).then(b.count.cmp(&a.count)),
        };
    match worst.binary_search_by(|kept| order(kept, &case)) {
        Ok(place) => worst[place].classes += case.classes,
        Err(place) if place < MOST => {
            worst.truncate(MOST - 1);
            worst.insert(place, case);
        }
        Err(_) => {}
    }
}

/// The report on a class, in numbers and in words.
pub(super) fn excerpt(model: &ModelSpec, case: &Case, unit: CountUnit) -> ClassExcerpt {
    let &Case { classes, size, whole, measure, count, tail } = case;
    // A sum of weights is no number of rows or persons.
    let is_count = whole == size;
    let (count, tail) = (count.filter(|_| is_count), tail.filter(|_| is_count));
    ClassExcerpt { classes, size, measure, count, tail, text: in_words(model, case, unit) }
}

fn in_words(model: &ModelSpec, case: &Case, unit: CountUnit) -> String {
    let (size, whole) = (case.size, case.whole);
    let rows = unit.counted(size);
    let measure = decimal(case.measure);
    let share = |count: Option<u64>| {
        let count = count.unwrap_or(0);
        let counts = if whole == size { format!(" ({count} of {size})") } else { String::new() };
        format!("{}{counts}", percent(count, whole))
    };
    let most = share(case.count);
    match model {
        ModelSpec::K(k) => format!("{rows}, {k} needed"),
        ModelSpec::Alpha { alpha, values, .. } => {
            let who = match values.len() {
                0 => "the most frequent value has",
                1 => "the named value has",
                _ => "the named values together have",
            };
            format!("{rows}, {who} {most}, {} allowed", percent(alpha.num(), alpha.den()))
        }
        ModelSpec::Frequency { l, .. } => {
            format!("{rows}, the most frequent value has {most}, {} allowed", percent(1, *l))
        }
        ModelSpec::Distinct { l, .. } => {
            let values = if measure == "1" { "value" } else { "values" };
            format!("{rows}, {measure} different {values}, {l} needed")
        }
        ModelSpec::Entropy { l, .. } => {
            format!(
                "{rows}, an effective number of {measure} values, {} needed; the most frequent \
                 value has {most}",
                written(*l)
            )
        }
        ModelSpec::Recursive { c, l, .. } => format!(
            "{rows}, the most frequent value has {most}, those from rank {l} on together {}: the \
             ratio is {measure}, below {} needed",
            share(case.tail),
            written(*c)
        ),
        ModelSpec::Closeness { t, .. } => {
            format!("{rows}, the distance is {measure}, {} allowed", written(*t))
        }
    }
}

/// `58.33 %`
fn percent(part: u64, whole: u64) -> String {
    let share = Ratio::new(part, whole).map_or(0.0, Ratio::to_f64);
    format!("{} %", without_zeros(format!("{:.2}", share * 100.0)))
}

fn decimal(number: f64) -> String {
    if number.is_finite() { without_zeros(format!("{number:.4}")) } else { "unbounded".to_string() }
}

/// `0.5000` as `0.5`.
fn without_zeros(text: String) -> String {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_string()
    } else {
        text
    }
}
