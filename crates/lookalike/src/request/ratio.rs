//! Exact ratios, parsed from their text: `0.29` is 29/100, so a share is compared in integers.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::{Error, Result};

/// A ratio `num / den` of integers, `den > 0`, kept as it was written (not reduced).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ratio {
    num: u64,
    den: u64,
}

impl Ratio {
    /// The ratio `num / den`; none when `den` is 0.
    pub fn new(num: u64, den: u64) -> Option<Ratio> {
        (den > 0).then_some(Ratio { num, den })
    }

    /// The numerator.
    pub fn num(self) -> u64 {
        self.num
    }

    /// The denominator, never 0.
    pub fn den(self) -> u64 {
        self.den
    }

    /// The ratio as a floating-point number, for display and for logarithms only.
    #[allow(clippy::cast_precision_loss, reason = "for display")]
    pub fn to_f64(self) -> f64 {
        self.num as f64 / self.den as f64
    }

    /// `part / whole <= self`, exactly.
    pub fn at_least_share(self, part: u64, whole: u64) -> bool {
        u128::from(part) * u128::from(self.den) <= u128::from(self.num) * u128::from(whole)
    }
}

impl FromStr for Ratio {
    type Err = Error;

    /// Parses `0.29`, `.5`, `1`, `29%` or `29/100`.
    fn from_str(text: &str) -> Result<Ratio> {
        let bad = || {
            Error::request(
                "not-a-ratio",
                "not a ratio: write it as 0.25, 25% or 1/4, with at most 15 digits",
            )
        };
        let text = text.trim();
        if let Some((num, den)) = text.split_once('/') {
            let parse = |s: &str| s.trim().parse::<u64>().map_err(|_| bad());
            return Ratio::new(parse(num)?, parse(den)?).ok_or_else(bad);
        }
        let (text, hundred) = match text.strip_suffix('%') {
            Some(rest) => (rest.trim_end(), 100),
            None => (text, 1),
        };
        let (whole, part) = text.split_once('.').unwrap_or((text, ""));
        let digits = format!("{whole}{part}");
        if digits.is_empty() || digits.len() > 15 || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return Err(bad());
        }
        let num = digits.parse().map_err(|_| bad())?;
        let scale = u32::try_from(part.len()).map_err(|_| bad())?;
        Ratio::new(num, 10u64.pow(scale) * hundred).ok_or_else(bad)
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.to_f64())
    }
}

/// A [`Ratio`] in TOML: `0.29`, `"29%"` or `"29/100"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share(pub Ratio);

/// What is no share: beyond every limit, so every key refuses it.
const NO_SHARE: Ratio = Ratio { num: u64::MAX, den: 1 };

impl Share {
    /// True for the share of a number that is none, such as -1 or NaN.
    pub(super) fn is_none(self) -> bool {
        self.0 == NO_SHARE
    }
}

impl From<Ratio> for Share {
    fn from(ratio: Ratio) -> Share {
        Share(ratio)
    }
}

impl From<f64> for Share {
    /// The decimal fraction that the number is written as: `0.29` is 29/100. Of more than 15 digits
    /// the first 15 count; thirds are exact as a [`Ratio`]. A number below 0, NaN, and a number of
    /// more than 15 digits before the point are refused when the request is used.
    fn from(number: f64) -> Share {
        // The shortest text that is this number: the one that was written.
        let number = number + 0.0; // -0 is 0
        let text = number.to_string();
        let whole = text.split('.').next().map_or(0, str::len);
        let exact = text.parse().or_else(|_| format!("{number:.*}", 15 - whole.min(15)).parse());
        Share(exact.unwrap_or(NO_SHARE))
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_the_fraction_that_it_is_written_as() {
        for (number, num, den) in [
            (0.29, 29, 100),
            (0.1 + 0.2, 30_000_000_000_000, 100_000_000_000_000),
            (1.0 / 3.0, 33_333_333_333_333, 100_000_000_000_000),
            (12.0 + 1.0 / 3.0, 123_333_333_333_333, 10_000_000_000_000),
            (2.0, 2, 1),
            (0.0, 0, 1),
            (999_999_999_999_999.0, 999_999_999_999_999, 1),
            (1e-14, 1, 100_000_000_000_000),
        ] {
            assert_eq!(Share::from(number), Share(Ratio { num, den }), "{number}");
        }
        for number in [-0.5, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e15, 1e300] {
            assert!(Share::from(number).is_none(), "{number}");
        }
    }

    #[test]
    fn a_share_is_compared_exactly() {
        let alpha: Ratio = "0.29".parse().unwrap();
        assert!(alpha.at_least_share(29, 100), "in floating point 29 of 100 at 0.29 is rejected");
        assert!(!alpha.at_least_share(30, 100));
        let third: Ratio = "1/3".parse().unwrap();
        assert!(third.at_least_share(1, 3) && !third.at_least_share(2, 5));
    }

    #[test]
    fn every_spelling_parses_and_nonsense_does_not() {
        for (text, num, den) in [
            ("0.29", 29, 100),
            (".5", 5, 10),
            ("1", 1, 1),
            ("1%", 1, 100),
            ("2.5 %", 25, 1000),
            ("3/7", 3, 7),
        ] {
            assert_eq!(text.parse::<Ratio>().unwrap(), Ratio { num, den }, "{text}");
        }
        for text in ["", ".", "-1", "1/0", "a", "1e3", "0.1234567890123456", "NaN", "%"] {
            assert!(text.parse::<Ratio>().is_err(), "{text}");
        }
    }
}
