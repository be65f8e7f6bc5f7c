//! Decimal numbers as they are written: `0.05` is five hundredths, exactly.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::{Error, Result};

/// A decimal number: `digits` divided by ten to the power of `scale`. Two spellings of one number
/// are equal: trailing zeros are not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Decimal {
    digits: i128,
    scale: u32,
}

/// More digits than this are refused: sums and products of two numbers still fit.
const MOST_DIGITS: usize = 18;

impl Decimal {
    /// All digits as one whole number.
    pub fn digits(self) -> i128 {
        self.digits
    }

    /// How many of the digits stand behind the point; at most 18.
    pub fn scale(self) -> u32 {
        self.scale
    }

    /// True when it is less than the other.
    pub fn is_below(self, other: Decimal) -> bool {
        // Each has at most 18 digits, so both products fit.
        self.digits * 10_i128.pow(other.scale) < other.digits * 10_i128.pow(self.scale)
    }

    /// True when it is a multiple of a number above 0.
    pub fn is_multiple_of(self, step: Decimal) -> bool {
        let whole = self.digits * 10_i128.pow(step.scale);
        whole % (step.digits * 10_i128.pow(self.scale)) == 0
    }

    /// True above 0.
    pub fn is_positive(self) -> bool {
        self.digits > 0
    }
}

impl FromStr for Decimal {
    type Err = Error;

    /// Parses `100`, `-5`, `0.05`.
    fn from_str(text: &str) -> Result<Decimal> {
        let bad = || {
            Error::request(
                "not-a-decimal",
                "not a number: write it as 100 or 0.05, with at most 18 digits",
            )
        };
        let text = text.trim();
        let (sign, unsigned) = match text.strip_prefix('-') {
            Some(unsigned) => (-1, unsigned),
            None => (1, text),
        };
        let (whole, part) = unsigned.split_once('.').unwrap_or((unsigned, ""));
        let part = part.trim_end_matches('0');
        let digits = format!("{whole}{part}");
        let is_number = !whole.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        if !is_number || digits.len() > MOST_DIGITS {
            return Err(bad());
        }
        let digits: i128 = digits.parse().map_err(|_| bad())?;
        let scale = u32::try_from(part.len()).map_err(|_| bad())?;
        Ok(Decimal { digits: sign * digits, scale })
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.digits < 0 { "-" } else { "" };
        let scale = self.scale as usize;
        let digits = format!("{:0>width$}", self.digits.unsigned_abs(), width = scale + 1);
        let (whole, part) = digits.split_at(digits.len() - scale);
        let point = if part.is_empty() { "" } else { "." };
        write!(f, "{sign}{whole}{point}{part}")
    }
}

impl From<i32> for Decimal {
    fn from(number: i32) -> Decimal {
        Decimal { digits: i128::from(number), scale: 0 }
    }
}

impl<'de> Deserialize<'de> for Decimal {
    fn deserialize<D: Deserializer<'de>>(
        deserializer: D,
    ) -> std::result::Result<Decimal, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "a number such as 100 or 0.05")]
        enum Written {
            Whole(i64),
            Decimal(f64),
            Text(String),
        }
        // A float prints as its shortest text, which is the text that was written.
        let text = match Written::deserialize(deserializer)? {
            Written::Whole(number) => number.to_string(),
            Written::Decimal(number) => number.to_string(),
            Written::Text(text) => text,
        };
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl Serialize for Decimal {
    /// A whole number where it is one, else the exact text.
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match i64::try_from(self.digits) {
            Ok(whole) if self.scale == 0 => serializer.serialize_i64(whole),
            _ => serializer.collect_str(self),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decimal_is_written_as_it_is_read() {
        for (text, written) in [
            ("100", "100"),
            ("-5", "-5"),
            ("0.05", "0.05"),
            ("0.50", "0.5"),
            ("12.00", "12"),
            ("007", "7"),
            ("-0.25", "-0.25"),
            ("0", "0"),
        ] {
            assert_eq!(text.parse::<Decimal>().unwrap().to_string(), written, "{text}");
        }
        for text in ["", ".", "-", "1e3", "1,5", "x", ".5", "1234567890123456789", "NaN"] {
            assert!(text.parse::<Decimal>().is_err(), "{text}");
        }
    }
}
