//! Dates as people write them, by their parts: `dd.mm.yyyy`, `mm/dd/yyyy hh:mm`, `dd-mon-yyyy`.

use std::fmt;

use jiff::civil::{Date, DateTime};
use jiff::fmt::strtime::{self, BrokenDownTime};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// How dates are written. The parts are `d` or `dd`, `m`, `mm`, `mon` (the first letters of its
/// English name) or `month` (that name), `yy` or `yyyy`, then perhaps `hh:mm` or `hh:mm:ss`, with `ampm`
/// or without; between them points, slashes, dashes, commas or blanks. Two digits of a year mean 1930
/// to 2029.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct DateForm {
    parts: String,
    /// The same for `jiff`.
    format: String,
    has_time: bool,
}

/// A part for people, and for `jiff`; longer ones before those that they begin with.
const PARTS: [(&str, &str); 8] = [
    ("yyyy", "%Y"),
    ("yy", "%y"),
    ("month", "%B"),
    ("mon", "%b"),
    ("mm", "%m"),
    ("dd", "%d"),
    ("m", "%-m"),
    ("d", "%-d"),
];
const TIMES: [(&str, &str); 4] = [
    (" hh:mm:ss ampm", " %I:%M:%S %p"),
    (" hh:mm ampm", " %I:%M %p"),
    (" hh:mm:ss", " %H:%M:%S"),
    (" hh:mm", " %H:%M"),
];
/// Forms of dates that are tried when the texts of a column are to tell, without a time of day.
const USUAL: [&str; 18] = [
    "dd.mm.yyyy",
    "dd/mm/yyyy",
    "mm/dd/yyyy",
    "dd-mm-yyyy",
    "mm-dd-yyyy",
    "yyyy/mm/dd",
    "yyyy.mm.dd",
    "dd mm yyyy",
    "dd-mon-yyyy",
    "dd mon yyyy",
    "ddmonyyyy",
    "dd/mon/yyyy",
    "month dd, yyyy",
    "mon dd, yyyy",
    "month dd yyyy",
    "mon dd yyyy",
    "dd month yyyy",
    "dd. month yyyy",
];
/// Forms of dates with two digits of the year.
pub(super) const SHORT: [&str; 8] = [
    "dd.mm.yy",
    "dd/mm/yy",
    "mm/dd/yy",
    "dd-mm-yy",
    "mm-dd-yy",
    "dd-mon-yy",
    "yy/mm/dd",
    "yy-mm-dd",
];

impl DateForm {
    /// The usual forms, without a time of day and with one.
    pub(super) fn usual() -> impl Iterator<Item = DateForm> {
        let times = [""].into_iter().chain(TIMES.map(|(time, _)| time));
        times.flat_map(|time| {
            USUAL.iter().map(move |date| form(&format!("{date}{time}")).expect("a usual form"))
        })
    }

    /// The date in ISO 8601.
    pub(super) fn plain(&self, cell: &str) -> Option<String> {
        let cell = cell.trim();
        // A blank in a format of `jiff` is any number of blanks.
        if cell.contains(' ') != self.parts.contains(' ') {
            return None;
        }
        let parsed = BrokenDownTime::parse(&self.format, cell).ok()?;
        let date = match parsed.to_date().ok()? {
            // `jiff` has 1969 to 2068.
            date if self.is_short() && date.year() >= 2030 => other_year(date, -100)?,
            date => Some(date).filter(|date| (1000..=9999).contains(&date.year()))?,
        };
        if self.has_time {
            let moment = date.to_datetime(parsed.to_time().ok()?);
            return strtime::format("%Y-%m-%dT%H:%M:%S", moment).ok();
        }
        Some(date.to_string())
    }

    /// A date in ISO 8601 in this form; none for anything else.
    pub(super) fn local(&self, plain: &str) -> Option<String> {
        let moment: DateTime =
            plain.parse().ok().filter(|_| (plain.len() > 10) == self.has_time)?;
        let date = match moment.date() {
            date if !self.is_short() => date,
            date if !(1930..2030).contains(&date.year()) => return None,
            date if date.year() < 1969 => other_year(date, 100)?,
            date => date,
        };
        let local = strtime::format(&self.format, date.to_datetime(moment.time())).ok()?;
        // Seconds that the form does not write would be lost.
        let again: DateTime = self.plain(&local)?.parse().ok()?;
        (again == moment).then_some(local)
    }

    /// Years have two digits.
    fn is_short(&self) -> bool {
        self.format.contains("%y")
    }

    /// The same form without zeros before days and months.
    pub(super) fn unpadded(&self) -> DateForm {
        let (date, time) = self.parts.split_at(self.parts.find(" hh").unwrap_or(self.parts.len()));
        let bare = date.replace("dd", "d").replace("mm", "m");
        form(&(bare + time)).unwrap_or_else(|| self.clone())
    }

    /// The form with day and month exchanged; none where the order cannot be mistaken.
    pub(super) fn exchanged(&self) -> Option<DateForm> {
        let is_free = self.parts.contains(['/', '-']) && !self.parts.contains("mon");
        let date = self.parts.split(' ').next().unwrap_or_default();
        let other = match date {
            _ if !is_free || date.starts_with('y') => return None,
            _ if date.starts_with('d') => {
                date.replace('d', "x").replace('m', "d").replace('x', "m")
            }
            _ => date.replace('m', "x").replace('d', "m").replace('x', "d"),
        };
        form(&self.parts.replacen(date, &other, 1))
    }

    /// True for digits alone, as in `yyyymmdd`.
    pub(super) fn is_of_digits(&self) -> bool {
        !self.has_time
            && !self.parts.contains(|c: char| !"dmy".contains(c))
            && self.parts.len() == 8
    }

    /// Where the parts stand: `dmy`, `mdy` or `ymd`.
    pub(super) fn order(&self) -> String {
        let mut order: Vec<char> =
            self.parts.split(' ').next().unwrap_or_default().chars().collect();
        order.retain(|part| "dmy".contains(*part));
        order.dedup();
        order.into_iter().collect()
    }
}

fn other_year(date: Date, years: i16) -> Option<Date> {
    date.with().year(date.year() + years).build().ok()
}

/// The form that these parts say.
fn form(parts: &str) -> Option<DateForm> {
    let (date, time) = TIMES
        .iter()
        .find_map(|(part, format)| Some((parts.strip_suffix(part)?, Some(*format))))
        .unwrap_or((parts, None));
    let (mut rest, mut format) = (date, String::new());
    while let Some(first) = rest.chars().next() {
        if let Some((part, meaning)) = PARTS.iter().find(|(part, _)| rest.starts_with(part)) {
            format.push_str(meaning);
            rest = &rest[part.len()..];
        } else if ['.', '/', '-', ' ', ','].contains(&first) {
            format.push(first);
            rest = &rest[1..];
        } else {
            return None;
        }
    }
    let times = |letter: char| format.matches(letter).count();
    let is_whole = times('d') == 1
        && times('m') + times('b') + times('B') == 1
        && times('Y') + times('y') == 1;
    is_whole.then(|| DateForm {
        parts: parts.to_owned(),
        format: format + time.unwrap_or_default(),
        has_time: time.is_some(),
    })
}

impl fmt::Display for DateForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.parts)
    }
}

impl std::str::FromStr for DateForm {
    type Err = Error;

    fn from_str(text: &str) -> Result<DateForm> {
        form(&text.to_lowercase()).ok_or_else(|| {
            Error::request(
                "unknown-form",
                format!(
                    "`{text}` is no form of a date; write its parts, as in dd.mm.yyyy, mm/dd/yyyy, \
                     d-mon-yyyy, yyyymmdd or dd.mm.yyyy hh:mm"
                ),
            )
        })
    }
}

impl TryFrom<String> for DateForm {
    type Error = Error;

    fn try_from(text: String) -> Result<DateForm> {
        text.parse()
    }
}

impl From<DateForm> for String {
    fn from(form: DateForm) -> String {
        form.parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_read_by_its_parts() {
        for (form, cell, plain) in [
            ("dd.mm.yyyy", "26.12.2014", Some("2014-12-26")),
            ("dd.mm.yyyy", " 1.2.2014 ", Some("2014-02-01")),
            ("dd.mm.yyyy", "30.02.2014", None),
            ("dd.mm.yyyy", "26.12.14", None),
            ("dd.mm.yyyy", "26.12.2014 10:00", None),
            ("dd.mm.yyyy", "2014-12-26", None),
            ("mm/dd/yyyy", "12/26/2014", Some("2014-12-26")),
            ("dd/mm/yy", "26/12/29", Some("2029-12-26")),
            ("dd/mm/yy", "26/12/30", Some("1930-12-26")),
            ("dd/mm/yy", "29/02/00", Some("2000-02-29")),
            ("dd-mon-yyyy", "26-DEC-2014", Some("2014-12-26")),
            ("ddmonyyyy", "26dec2014", Some("2014-12-26")),
            ("yyyymmdd", "20141226", Some("2014-12-26")),
            ("month d, yyyy", "August 9, 2015", Some("2015-08-09")),
            ("month dd, yyyy", "August 09, 2015", Some("2015-08-09")),
            ("d month yyyy", "9 august 2015", Some("2015-08-09")),
            ("dd.mm.yyyy hh:mm", "26.12.2014 09:05", Some("2014-12-26T09:05:00")),
            ("m/d/yyyy hh:mm ampm", "1/2/2014 9:05 PM", Some("2014-01-02T21:05:00")),
            ("dd.mm.yyyy hh:mm:ss", "26.12.2014 09:05:07", Some("2014-12-26T09:05:07")),
        ] {
            let form: DateForm = form.parse().unwrap();
            assert_eq!(form.plain(cell).as_deref(), plain, "{form} {cell}");
        }
    }

    #[test]
    fn day_and_month_can_be_exchanged_where_both_orders_are_in_use() {
        let other =
            |text: &str| text.parse::<DateForm>().unwrap().exchanged().map(|f| f.to_string());
        assert_eq!(other("dd/mm/yyyy").as_deref(), Some("mm/dd/yyyy"));
        assert_eq!(other("m-d-yyyy hh:mm").as_deref(), Some("d-m-yyyy hh:mm"));
        for text in ["dd.mm.yyyy", "yyyy/mm/dd", "dd-mon-yyyy"] {
            assert_eq!(other(text), None, "{text}");
        }
        let unpadded = "dd/mm/yyyy hh:mm".parse::<DateForm>().unwrap().unpadded();
        assert_eq!((unpadded.to_string().as_str(), &*unpadded.order()), ("d/m/yyyy hh:mm", "dmy"));
    }
}
