//! How the audit reads the text of a cell: numbers, instants, missing values.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;

/// The finite number that a text spells.
pub(super) fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    let number: f64 = text.parse().ok()?;
    // Rust also reads "inf" and "nan", which are no numbers in a table.
    (number.is_finite() && text.bytes().any(|b| b.is_ascii_digit())).then_some(number)
}

/// A number's place among all numbers, as an integer.
pub(super) fn place_of_number(text: &str) -> Option<i128> {
    // The bits of two positive floats compare like the floats; those of two negative ones the other
    // way round.
    let bits = (number(text)? + 0.0).to_bits();
    let magnitude = i128::from(bits & (u64::MAX >> 1));
    Some(if bits >> 63 == 1 { -magnitude } else { magnitude })
}

/// The number at a place: the way back from [`place_of_number`].
pub(crate) fn number_at(place: i128) -> Option<f64> {
    let magnitude = f64::from_bits(u64::try_from(place.unsigned_abs()).ok()?);
    Some(if place < 0 { -magnitude } else { magnitude })
}

/// A decimal in one spelling: `5`, `5.0` and `0.5e1` become the same text, and no two different
/// numbers do.
pub(super) fn exact_number(text: &str) -> Option<String> {
    number(text)?;
    let text = text.trim().to_ascii_lowercase();
    let (sign, text) = match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text.strip_prefix('+').unwrap_or(&text)),
    };
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{part}");
    let significant = digits.trim_end_matches('0');
    if significant.is_empty() {
        return Some("0".to_string());
    }
    let exponent: i64 = exponent.parse().ok()?;
    let shift =
        i64::try_from(digits.len() - significant.len()).ok()? - i64::try_from(part.len()).ok()?;
    let significant = significant.trim_start_matches('0');
    Some(format!("{sign}{significant}e{}", exponent.checked_add(shift)?))
}

/// The date and time that an ISO text spells; a date is its midnight, a time with an offset is
/// taken to UTC.
pub(super) fn date_time(text: &str) -> Option<DateTime> {
    let text = text.trim();
    // With an offset first: a civil time would ignore the offset.
    let instant =
        text.parse::<Timestamp>().map(|instant| instant.to_zoned(TimeZone::UTC).datetime());
    instant.or_else(|_| text.parse()).ok()
}

/// The day in an ISO text, whatever its time zone.
pub(super) fn day_in(text: &str) -> Option<Date> {
    let text = text.trim();
    let local: DateTime = text.trim_end_matches(['Z', 'z']).parse().ok()?;
    Some(local.date())
}

/// An instant's place in time, in nanoseconds.
pub(super) fn place_of_instant(text: &str) -> Option<i128> {
    let epoch = Date::constant(1970, 1, 1).to_datetime(jiff::civil::Time::midnight());
    Some(date_time(text)?.duration_since(epoch).as_nanos())
}

/// True when the cell is missing, in whatever spelling.
pub(super) fn is_missing(text: &str, missing: &[String]) -> bool {
    text.is_empty() || missing.iter().any(|spelling| spelling.trim() == text.trim())
}

/// The cell's text; none when the cell is missing, in whatever spelling.
pub(crate) fn present<'a>(cell: Option<&'a str>, missing: &[String]) -> Option<&'a str> {
    cell.filter(|text| !is_missing(text, missing))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_and_words_are_not() {
        for (text, value) in
            [("5", 5.0), ("-2.5", -2.5), ("+1e3", 1000.0), (" 7 ", 7.0), (".5", 0.5), ("-0", 0.0)]
        {
            assert_eq!(number(text), Some(value), "{text}");
        }
        for text in ["", "inf", "NaN", "-infinity", "1,000", "0x10", "12a", "1e999"] {
            assert_eq!(number(text), None, "{text}");
        }
    }

    #[test]
    fn places_are_in_the_order_of_the_numbers() {
        let ascending =
            ["-1e300", "-2.5", "-2", "-1e-300", "0", "1e-300", "1", "1.5", "2", "1e300"];
        assert!(
            ascending.windows(2).all(|pair| place_of_number(pair[0]) < place_of_number(pair[1]))
        );
        assert_eq!(place_of_number("-0.0"), place_of_number("0"));
        assert_eq!(place_of_number("5.0"), place_of_number("5"));
        for text in ascending {
            assert_eq!(place_of_number(text).and_then(number_at), number(text), "{text}");
        }
    }

    #[test]
    fn one_number_has_one_exact_spelling_and_two_have_two() {
        for group in [
            ["5", "5.0", "0.5e1"],
            ["-1200", "-1.2e3", "-1200.00"],
            ["0", "-0.0", "0e7"],
            ["0.05", "5e-2", "+00.050"],
        ] {
            assert!(
                group.iter().all(|text| exact_number(text) == exact_number(group[0])),
                "{group:?}"
            );
        }
        assert_ne!(
            exact_number("9007199254740993"),
            exact_number("9007199254740992"),
            "equal as floating-point numbers"
        );
        assert_ne!(exact_number("5"), exact_number("-5"));
        assert_ne!(exact_number("5"), exact_number("50"));
        assert_eq!(exact_number("five"), None);
    }

    #[test]
    fn instants_are_read_with_and_without_time_and_offset() {
        let midnight = place_of_instant("2024-03-17").unwrap();
        assert_eq!(place_of_instant("2024-03-17 00:00:00"), Some(midnight));
        assert_eq!(place_of_instant("2024-03-17T00:00:00Z"), Some(midnight));
        assert_eq!(place_of_instant("2024-03-17T02:00:00+02:00"), Some(midnight));
        assert!(place_of_instant("2024-03-17T00:00:00.000001").unwrap() > midnight);
        assert!(place_of_instant("1969-12-31").unwrap() < 0);
        assert_eq!(place_of_instant("2024-03"), None);
        assert_eq!(place_of_instant("2024-02-30"), None);
    }

    #[test]
    fn texts_that_mean_missing_are_not_present() {
        assert_eq!(present(Some("?"), &["?".to_string()]), None);
        assert_eq!(present(Some(" ? "), &["?".to_string()]), None);
        assert_eq!(present(Some(""), &[]), None);
        assert_eq!(present(Some("?"), &[]), Some("?"));
    }
}
