//! Numbers that are published coarser than they are: rounded, coded at the top and the bottom.
//!
//! Exact in decimals: the text of a number is taken as it is written, never as a float. One number
//! has one text afterwards, however it was spelt before, so no spelling tells rows apart.

use crate::request::{ColumnRequest, Decimal};

/// How the numbers of a column are made coarser: the nearest multiple of `round` (halves away from
/// 0), then not below `bottom` and not above `top`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Coarsening {
    round: Option<Number>,
    bottom: Option<Number>,
    top: Option<Number>,
}

/// `digits` divided by ten to the power of `scale`.
#[derive(Clone, Copy, Debug)]
struct Number {
    digits: i128,
    scale: u32,
}

impl From<Decimal> for Number {
    fn from(decimal: Decimal) -> Number {
        Number { digits: decimal.digits(), scale: decimal.scale() }
    }
}

impl Coarsening {
    /// The coarsening that a column asks for, if it asks for one.
    pub(crate) fn of(column: &ColumnRequest) -> Option<Coarsening> {
        let of = |limit: Option<Decimal>| limit.map(Number::from);
        let (round, bottom, top) = (of(column.round), of(column.bottom), of(column.top));
        column.is_coarsened().then_some(Coarsening { round, bottom, top })
    }

    /// The text that is published for a number; none for what is no number, or has more digits than
    /// can be computed with.
    pub(crate) fn text(self, number: &str) -> Option<String> {
        let mut number = parse(number)?;
        if let Some(step) = self.round {
            number = nearest(number, step)?;
        }
        if let Some(bottom) = self.bottom {
            number = if is_less(number, bottom)? { bottom } else { number };
        }
        if let Some(top) = self.top {
            number = if is_less(top, number)? { top } else { number };
        }
        Some(written(number))
    }
}

/// Reads `12`, `-0.50`, `+7`, `.5`, `1e3`.
fn parse(text: &str) -> Option<Number> {
    let text = text.trim();
    let (sign, text) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{part}");
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let significant = digits.trim_start_matches('0');
    let digits: i128 = if significant.is_empty() { 0 } else { significant.parse().ok()? };
    let exponent: i32 = exponent.parse().ok()?;
    let scale = i32::try_from(part.len()).ok()?.checked_sub(exponent)?;
    let number = match u32::try_from(scale) {
        Ok(scale) => Number { digits: sign * digits, scale },
        Err(_) if digits == 0 => Number { digits: 0, scale: 0 },
        Err(_) => {
            let zeros = 10_i128.checked_pow(scale.unsigned_abs())?;
            Number { digits: (sign * digits).checked_mul(zeros)?, scale: 0 }
        }
    };
    Some(without_zeros(number))
}

/// The same number without zeros at its end.
fn without_zeros(mut number: Number) -> Number {
    while number.scale > 0 && number.digits % 10 == 0 {
        number = Number { digits: number.digits / 10, scale: number.scale - 1 };
    }
    number
}

/// The digits of two numbers of one scale, and that scale.
fn together(one: Number, other: Number) -> Option<(i128, i128, u32)> {
    let scale = one.scale.max(other.scale);
    let digits = |n: Number| n.digits.checked_mul(10_i128.checked_pow(scale - n.scale)?);
    Some((digits(one)?, digits(other)?, scale))
}

/// The nearest multiple of a step above 0; of two the one that is farther from 0.
fn nearest(number: Number, step: Number) -> Option<Number> {
    let (number, step, scale) = together(number, step)?;
    let half_up = number.abs().checked_mul(2)?.checked_add(step)? / step.checked_mul(2)?;
    let digits = number.signum() * half_up.checked_mul(step)?;
    Some(without_zeros(Number { digits, scale }))
}

fn is_less(one: Number, other: Number) -> Option<bool> {
    let (one, other, _) = together(one, other)?;
    Some(one < other)
}

fn written(number: Number) -> String {
    let scale = number.scale as usize;
    let digits = format!("{:0>width$}", number.digits.unsigned_abs(), width = scale + 1);
    let (whole, part) = digits.split_at(digits.len() - scale);
    let sign = if number.digits < 0 { "-" } else { "" };
    let point = if part.is_empty() { "" } else { "." };
    format!("{sign}{whole}{point}{part}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Role;

    fn coarsening(round: &str, bottom: &str, top: &str) -> Coarsening {
        let limit = |text: &str| (!text.is_empty()).then(|| text.parse().unwrap());
        let column = ColumnRequest {
            round: limit(round),
            bottom: limit(bottom),
            top: limit(top),
            ..ColumnRequest::new(Role::Keep)
        };
        Coarsening::of(&column).unwrap()
    }

    #[test]
    fn numbers_are_rounded_to_the_nearest_multiple_and_halves_go_away_from_zero() {
        for (step, number, published) in [
            ("100", "149", "100"),
            ("100", "150", "200"),
            ("100", "-150", "-200"),
            ("100", "-149.99", "-100"),
            ("100", "0", "0"),
            ("100", "-0", "0"),
            ("0.05", "1.0249", "1"),
            ("0.05", "1.025", "1.05"),
            ("0.5", "12.25", "12.5"),
            ("5", "1e3", "1000"),
            ("5", "1.25E1", "15"),
            ("5", "+7.5", "10"),
            ("7", "10.5", "14"),
            ("1000", "499", "0"),
            ("3", ".5", "0"),
        ] {
            let said = coarsening(step, "", "").text(number);
            assert_eq!(said.as_deref(), Some(published), "{number} to {step}");
        }
    }

    #[test]
    fn limits_come_after_rounding_and_one_number_has_one_spelling() {
        let coded = coarsening("", "18", "90");
        for (number, published) in [
            ("12", "18"),
            ("18.0", "18"),
            ("0018", "18"),
            ("18.10", "18.1"),
            ("89.99", "89.99"),
            ("90.01", "90"),
            ("1e9", "90"),
            ("-5", "18"),
        ] {
            assert_eq!(coded.text(number).as_deref(), Some(published), "{number}");
        }
        assert_eq!(coarsening("20", "", "90").text("99").as_deref(), Some("90"));
        assert_eq!(coarsening("20", "", "90").text("88").as_deref(), Some("80"));
    }

    #[test]
    fn what_is_no_number_or_has_too_many_digits_is_none() {
        for text in ["", "x", "1,5", "1.2.3", "-", ".", "e5", "NaN", "inf", "1e99", "0x10", "--1"] {
            assert_eq!(coarsening("10", "", "").text(text), None, "{text}");
        }
        let long = "9".repeat(39);
        assert_eq!(coarsening("10", "", "").text(&long), None);
        assert_eq!(coarsening("10", "", "").text("0e99").as_deref(), Some("0"));
    }
}
