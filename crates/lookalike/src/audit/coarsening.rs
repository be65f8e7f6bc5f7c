//! Rounded numbers, and numbers coded at the top and the bottom: computed anew from the source, and
//! looked for in the release.
//!
//! Numbers are sign, digits and exponent, as [`exact_number`] spells them: no code of the domain is
//! used.

use super::present;
use super::reading::exact_number;
use crate::request::{ColumnRequest, Decimal, Request};
use crate::table::Table;

/// The one spelling of the number that is published for a number of the source; none for what is no
/// number.
pub(super) fn coarsened(text: &str, column: &ColumnRequest) -> Option<String> {
    let mut value = Parts::of(text)?;
    if let Some(step) = column.round {
        value = value.rounded(Parts::of_limit(step)?)?;
    }
    for (limit, is_beyond) in [(column.bottom, -1), (column.top, 1)] {
        let Some(limit) = limit.and_then(Parts::of_limit) else { continue };
        let (one, other) = value.with_same_exponent(limit)?;
        if (one - other).signum() == is_beyond {
            value = limit;
        }
    }
    exact_number(&format!("{}e{}", value.digits, value.exponent))
}

/// `digits` times ten to the power of `exponent`.
#[derive(Clone, Copy)]
struct Parts {
    digits: i128,
    exponent: i32,
}

impl Parts {
    fn of(text: &str) -> Option<Parts> {
        let exact = exact_number(text)?;
        let (digits, exponent) = exact.split_once('e').unwrap_or((&exact, "0"));
        Some(Parts { digits: digits.parse().ok()?, exponent: exponent.parse().ok()? })
    }

    fn of_limit(limit: Decimal) -> Option<Parts> {
        Parts::of(&limit.to_string())
    }

    fn with_same_exponent(self, other: Parts) -> Option<(i128, i128)> {
        let least = self.exponent.min(other.exponent);
        let at_least = |parts: Parts| {
            let zeros = u32::try_from(parts.exponent - least).ok()?;
            parts.digits.checked_mul(10_i128.checked_pow(zeros)?)
        };
        Some((at_least(self)?, at_least(other)?))
    }

    /// The nearest multiple of the step, the farther from 0 of two.
    fn rounded(self, step: Parts) -> Option<Parts> {
        let (value, step_digits) = self.with_same_exponent(step)?;
        let (whole, rest) = (value / step_digits, value % step_digits);
        let is_up = rest.checked_abs()?.checked_mul(2)? >= step_digits;
        let times = if is_up { whole + value.signum() } else { whole };
        let digits = times.checked_mul(step_digits)?;
        Some(Parts { digits, exponent: self.exponent.min(step.exponent) })
    }
}

/// True for a cell that is published as it is: a float that is no number.
pub(super) fn is_nan(text: &str) -> bool {
    text == "NaN"
}

/// Columns of a release with numbers that are finer than the request allows; a sentence each.
pub(super) fn leaks(release: &Table, request: &Request) -> Vec<String> {
    let mut leaks = Vec::new();
    for (name, line) in request.columns.iter().filter(|(_, line)| line.is_coarsened()) {
        let Some(coded) = release.column(name).and_then(|column| column.coded.as_ref()) else {
            continue;
        };
        let is_fine = |value: &&Option<String>| {
            let Some(text) = present(value.as_deref(), &request.missing) else { return false };
            // A number that is coarse already stays what it is.
            !is_nan(text)
                && coarsened(text, line).is_none_or(|coarse| exact_number(text) != Some(coarse))
        };
        let fine = coded.values().iter().filter(is_fine).count();
        if fine > 0 {
            leaks.push(format!(
                "column `{name}` has {fine} different values that are not rounded, or lie beyond its \
                 top or bottom, as the request wants"
            ));
        }
    }
    leaks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::coarsening::Coarsening;
    use crate::request::Role;
    use crate::rng::Rng;

    #[test]
    fn the_audit_and_the_domain_agree_on_numbers_of_all_kinds() {
        let mut rng = Rng::new(7);
        let limit = |text: &str| Some(text.parse().unwrap());
        let column = |round, bottom, top| ColumnRequest {
            round,
            bottom,
            top,
            ..ColumnRequest::new(Role::Keep)
        };
        let columns = [
            column(limit("100"), None, None),
            column(limit("0.05"), limit("-2.5"), limit("40")),
            column(None, limit("-3"), limit("7.25")),
            column(limit("7"), None, limit("70")),
            column(None, None, limit("0")),
            column(limit("2.5"), limit("0"), None),
        ];
        let mut different = 0;
        for _ in 0..20_000 {
            let digits = rng.below(2_000_000);
            let digits = if rng.below(2) == 0 { digits } else { digits / 25_000 * 25 };
            let sign = ["", "-", "+"][rng.place(3)];
            let text = match rng.below(4) {
                0 => format!("{sign}{digits}"),
                1 => format!("{sign}{}.{:03}", digits / 1000, digits % 1000),
                2 => format!("{sign}{digits}e-{}", rng.below(6)),
                _ => format!("{sign}0{}.{:02}0", digits / 100, digits % 100),
            };
            for line in &columns {
                let domain = Coarsening::of(line).unwrap().text(&text).unwrap();
                let audit = coarsened(&text, line).unwrap();
                assert_eq!(exact_number(&domain), Some(audit.clone()), "{text} {line:?}");
                assert_eq!(coarsened(&domain, line), Some(audit), "twice is once: {text}");
                different += u32::from(exact_number(&text) != exact_number(&domain));
            }
        }
        assert!(different > 50_000, "{different}");
    }

    #[test]
    fn numbers_that_are_finer_than_asked_for_are_leaks() {
        let request = Request::parse(
            "k = 1\n[columns]\nage = { role = 'quasi' }\npay = { role = 'keep', round = 100, top = 900 }",
        )
        .unwrap();
        let read = |pay: &str| {
            let text = format!("age,pay\n30,100\n30,\n30,{pay}\n");
            crate::testing::table(&text)
        };
        for pay in ["0", "900", "900.0", "-100", "9e2"] {
            assert!(leaks(&read(pay), &request).is_empty(), "{pay}");
        }
        for pay in ["101", "1000", "900.01", "many"] {
            assert_eq!(leaks(&read(pay), &request).len(), 1, "{pay}");
        }
    }
}
