//! Numbers, dates and times from text: the engine's one parser.
//!
//! The encoding of a table, hierarchy files, calendar units, recoding files and bounds all read
//! their texts here. The audit has a parser of its own on purpose (`audit/reading.rs`): an error
//! here must not be repeated there.

use jiff::civil::{Date, DateTime, Time};

use crate::request::Kind;

/// Seconds of a day.
pub(crate) const DAY: f64 = 86_400.0;

const EPOCH: Date = Date::constant(1970, 1, 1);

/// The unit in which the dates of a column are counted from 1970-01-01T00:00:00 UTC on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimeScale {
    /// For a column of dates.
    Days,
    /// For a column with at least one time of day.
    Seconds,
}

impl TimeScale {
    /// Seconds if one of the texts has a time of day.
    pub(super) fn of(texts: &[String]) -> TimeScale {
        if texts.iter().any(|text| has_time(text)) { TimeScale::Seconds } else { TimeScale::Days }
    }
}

/// A finite number in decimal notation: `12`, `-0.5`, `+3`, `1e6`, with blanks around it or not.
pub(crate) fn number(text: &str) -> Option<f64> {
    // Rust also reads `inf` and `nan`, which no table means as numbers: neither is finite.
    text.trim().parse().ok().filter(|number: &f64| number.is_finite())
}

/// A number, or else a date or time on this scale: how a leaf of a hierarchy file is read. Negative
/// zero becomes zero.
pub(super) fn number_or_date(text: &str, scale: TimeScale) -> Option<f64> {
    number(text)
        .map(|number| number + 0.0)
        .or_else(|| utc(text).map(|moment| since_1970(moment, scale)))
}

/// A date of ten characters in days, any other date or time in seconds since 1970.
pub(super) fn instant(text: &str) -> Option<(TimeScale, f64)> {
    let text = text.trim();
    if text.len() == 10 {
        let date: Date = text.parse().ok()?;
        return Some((TimeScale::Days, f64::from(EPOCH.until(date).ok()?.get_days())));
    }
    let exact = nanoseconds(text)?;
    let seconds = i64::try_from(exact.div_euclid(1_000_000_000)).ok()?;
    let rest = i32::try_from(exact.rem_euclid(1_000_000_000)).ok()?;
    #[allow(clippy::cast_precision_loss, reason = "instants that become equal by this are refused")]
    Some((TimeScale::Seconds, seconds as f64 + f64::from(rest) / 1e9))
}

/// A date or time in seconds since 1970, as in a column that has both.
pub(crate) fn seconds(text: &str) -> Option<f64> {
    instant(text).map(|(scale, at)| if scale == TimeScale::Days { at * DAY } else { at })
}

/// A date or time in nanoseconds since 1970; a time without an offset is taken as UTC.
pub(crate) fn nanoseconds(text: &str) -> Option<i128> {
    // With an offset first: as a civil time, the offset would be ignored.
    let timestamp = match text.parse::<jiff::Timestamp>() {
        Ok(timestamp) => timestamp,
        Err(_) => jiff::tz::TimeZone::UTC.to_timestamp(text.parse::<DateTime>().ok()?).ok()?,
    };
    Some(timestamp.as_nanosecond())
}

/// One text for all spellings of a number or instant, and different texts for different ones; a
/// text that is neither is returned unchanged. `30`, `30.0` and `+3e1` have one spelling.
pub(crate) fn spelling(kind: Kind, text: &str) -> String {
    let one = match kind {
        Kind::Numeric => decimal(text.trim()),
        Kind::Date => nanoseconds(text.trim()).map(|instant| instant.to_string()),
        Kind::Ordinal | Kind::Categorical => None,
    };
    one.unwrap_or_else(|| text.to_string())
}

/// A text of the number or instant that has this [`spelling`].
pub(crate) fn respelt(kind: Kind, spelling: &str) -> String {
    let instant = |text: &str| jiff::Timestamp::from_nanosecond(text.parse().ok()?).ok();
    match kind {
        Kind::Numeric => spelling.replace(' ', "e"),
        Kind::Date => instant(spelling).map_or(spelling.to_string(), |instant| instant.to_string()),
        Kind::Ordinal | Kind::Categorical => spelling.to_string(),
    }
}

/// A decimal as its digits without zeros at either end, and the power of ten of the last one.
fn decimal(text: &str) -> Option<String> {
    number(text)?;
    let sign = if text.starts_with('-') { "-" } else { "" };
    let (mantissa, power) = text
        .trim_start_matches(['+', '-'])
        .split_once(['e', 'E'])
        .unwrap_or((text.trim_start_matches(['+', '-']), "0"));
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all: String = whole.chars().chain(part.chars()).collect();
    let ended = all.trim_end_matches('0');
    if ended.is_empty() {
        return Some("0".to_string());
    }
    let zeros = i64::try_from(all.len() - ended.len()).ok()?;
    let power = power
        .parse::<i64>()
        .ok()?
        .checked_add(zeros)?
        .checked_sub(i64::try_from(part.len()).ok()?)?;
    Some(format!("{sign}{} {power}", ended.trim_start_matches('0')))
}

/// True when a date is followed by a time of day.
pub(super) fn has_time(text: &str) -> bool {
    text.contains(['T', 't', ' '])
}

/// The date and time as they are written, in any time zone; a date is its midnight.
pub(super) fn as_written(text: &str) -> Option<DateTime> {
    let text = text.trim();
    text.strip_suffix(['Z', 'z']).unwrap_or(text).parse().ok()
}

/// The date and time in UTC; a time without an offset is taken as UTC.
pub(super) fn utc(text: &str) -> Option<DateTime> {
    let text = text.trim();
    // With an offset first: as a civil time, the offset would be ignored.
    match text.parse::<jiff::Timestamp>() {
        Ok(instant) => Some(instant.to_zoned(jiff::tz::TimeZone::UTC).datetime()),
        Err(_) => text.parse().ok(),
    }
}

/// Whole days, or seconds, from 1970 to this moment.
pub(super) fn since_1970(moment: DateTime, scale: TimeScale) -> f64 {
    let seconds = moment.duration_since(EPOCH.to_datetime(Time::midnight())).as_secs_f64();
    match scale {
        TimeScale::Days => (seconds / DAY).floor(),
        TimeScale::Seconds => seconds,
    }
}

/// The time zone of some times: none where none has an offset, the offset that all share, else UTC.
pub(super) fn zone(texts: &[String]) -> Option<String> {
    let offsets: Vec<Option<i32>> = texts.iter().map(|text| offset(text)).collect();
    match offsets.first() {
        _ if offsets.iter().all(Option::is_none) => None,
        Some(&Some(seconds))
            if seconds != 0
                && seconds % 60 == 0
                && offsets.iter().all(|&other| other == Some(seconds)) =>
        {
            let (sign, minutes) = (if seconds < 0 { '-' } else { '+' }, seconds.abs() / 60);
            Some(format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60))
        }
        _ => Some("UTC".to_string()),
    }
}

/// The offset from UTC that a time is written with, in seconds.
fn offset(text: &str) -> Option<i32> {
    let pieces = jiff::fmt::temporal::Pieces::parse(text).ok()?;
    pieces.offset().map(|offset| offset.to_numeric_offset().seconds())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_finite_and_in_decimal_notation() {
        for (text, expected) in
            [("12", 12.0), (" -0.5 ", -0.5), ("+3", 3.0), ("1e6", 1e6), (".5", 0.5), ("5.", 5.0)]
        {
            assert_eq!(number(text), Some(expected), "{text}");
        }
        for text in ["", " ", "inf", "-Infinity", "NaN", "1e999", "1,5", "0x10", "1 2", "e5", "+-1"]
        {
            assert_eq!(number(text), None, "{text}");
        }
    }

    #[test]
    fn all_spellings_of_a_number_are_one_and_no_two_numbers_share_one() {
        let one = |text: &str| spelling(Kind::Numeric, text);
        for same in [
            &["30", "30.0", "+30", " 3e1", "0.30E2", "030"][..],
            &["-0.5", "-.5", "-5e-1"],
            &["0", "-0", "0.000", "0e7"],
        ] {
            assert!(same.iter().all(|text| one(text) == one(same[0])), "{same:?}");
        }
        let all =
            ["1", "10", "100", "0.1", "-1", "11", "101", "9007199254740993", "9007199254740992"];
        for (at, first) in all.iter().enumerate() {
            assert!(all[..at].iter().all(|other| one(first) != one(other)), "{first}");
        }
        assert_eq!(one("many"), "many");
        assert_eq!(spelling(Kind::Categorical, "30.0"), "30.0");
    }

    #[test]
    fn dates_count_days_and_times_count_seconds() {
        assert_eq!(instant("1970-01-02"), Some((TimeScale::Days, 1.0)));
        assert_eq!(instant("1969-12-31"), Some((TimeScale::Days, -1.0)));
        assert_eq!(instant("1970-01-02T00:00:01.5"), Some((TimeScale::Seconds, 86_401.5)));
        assert_eq!(instant("1970-01-01 01:00:00+01:00"), Some((TimeScale::Seconds, 0.0)));
        assert_eq!(instant("1969-12-31T23:59:59.75Z"), Some((TimeScale::Seconds, -0.25)));
        assert_eq!((seconds("1970-01-02"), seconds("1970-01-02T00:00Z")), (Some(DAY), Some(DAY)));
        for text in ["17 March", "2024-02-30", "2024-13-01", "", "12"] {
            assert_eq!((instant(text), seconds(text)), (None, None), "{text}");
        }
    }

    #[test]
    fn a_time_without_an_offset_is_taken_as_utc() {
        let instants = ["2024-01-01T00:00:00", "2024-01-01T00:00:00Z", "2024-01-01T02:00:00+02:00"];
        assert!(instants.iter().all(|text| nanoseconds(text) == nanoseconds(instants[0])));
        assert!(instants.iter().all(|text| utc(text) == utc(instants[0])));
        assert_eq!(as_written(instants[2]).unwrap().hour(), 2, "as written, not in UTC");
        assert_eq!(nanoseconds("1970-01-01T00:00:00.000000001"), Some(1));
    }

    #[test]
    fn a_leaf_is_a_number_or_a_date_on_the_scale_of_its_column() {
        assert_eq!(number_or_date("-0", TimeScale::Days).map(f64::to_bits), Some(0));
        assert_eq!(number_or_date("1970-01-03", TimeScale::Days), Some(2.0));
        assert_eq!(number_or_date("1970-01-03", TimeScale::Seconds), Some(2.0 * DAY));
        assert_eq!(number_or_date("1970-01-03T12:00", TimeScale::Days), Some(2.0));
        assert_eq!(number_or_date("inf", TimeScale::Days), None);
    }

    #[test]
    fn the_zone_is_the_offset_that_all_times_share() {
        let zone =
            |texts: &[&str]| zone(&texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>());
        assert_eq!(zone(&["2024-03-01T00:30:00", "2024-03-01"]), None);
        assert_eq!(
            zone(&["2024-03-01T00:30:00+02:00", "2024-03-02 00:30:00+02:00"]).as_deref(),
            Some("+02:00")
        );
        assert_eq!(zone(&["2024-03-01T00:30:00-09:30"]).as_deref(), Some("-09:30"));
        assert_eq!(zone(&["2024-03-01T00:30:00Z"]).as_deref(), Some("UTC"));
        assert_eq!(
            zone(&["2024-03-01T00:30:00+02:00", "2024-03-01T00:30:00+01:00"]).as_deref(),
            Some("UTC")
        );
        assert_eq!(
            zone(&["2024-03-01T00:30:00+02:00", "2024-03-01T00:30:00"]).as_deref(),
            Some("UTC")
        );
    }
}
