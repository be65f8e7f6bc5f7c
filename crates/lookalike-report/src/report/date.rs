//! The date of a record: a day in UTC. A page with a clock in it would be another one each time; with
//! a day it is the same all day, and with a given day always.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use lookalike::{Error, Result};

/// The environment variable that gives the time of a build that can be repeated, in seconds since
/// 1970 (<https://reproducible-builds.org/specs/source-date-epoch/>).
const EPOCH: &str = "SOURCE_DATE_EPOCH";

/// The day on which a record was made, in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordDate(Date);

impl RecordDate {
    /// Today; where `SOURCE_DATE_EPOCH` is set, the day that it gives.
    ///
    /// # Errors
    /// When `SOURCE_DATE_EPOCH` is no number of seconds.
    pub fn today() -> Result<RecordDate> {
        let day = |time: Timestamp| RecordDate(time.to_zoned(TimeZone::UTC).date());
        let Some(text) = std::env::var_os(EPOCH).filter(|text| !text.is_empty()) else {
            return Ok(day(Timestamp::now()));
        };
        let seconds = text.to_str().and_then(|text| text.parse().ok());
        let time = seconds.and_then(|seconds| Timestamp::from_second(seconds).ok());
        time.map(day).ok_or_else(|| {
            Error::request("bad-date", format!("{EPOCH} is a number of seconds since 1970"))
        })
    }
}

/// `2026-11-18`
impl FromStr for RecordDate {
    type Err = Error;

    fn from_str(text: &str) -> Result<RecordDate> {
        let bad = |_| Error::request("bad-date", "a date is written as 2026-11-18");
        text.parse().map(RecordDate).map_err(bad)
    }
}

impl fmt::Display for RecordDate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_a_day() {
        let date: RecordDate = "2026-11-18".parse().unwrap();
        assert_eq!(date.to_string(), "2026-11-18");
        for bad in ["18.11.2026", "2026-02-30", "yesterday", ""] {
            assert_eq!(bad.parse::<RecordDate>().unwrap_err().code(), "bad-date", "{bad}");
        }
        assert!(RecordDate::today().is_ok());
    }
}
