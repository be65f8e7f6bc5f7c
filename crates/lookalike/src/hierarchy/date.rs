//! Calendar units for dates: 2024-03-17, 2024-03, 2024-Q1, 2024, 2020s, `*`.

use jiff::civil::{Date, DateTime};

use super::{ANY, ROOT, Step, Steps, Trunk, fault, level};
use crate::config::{DateConfig, DateUnit};
use crate::error::Result;

const EPOCH: Date = Date::constant(1970, 1, 1);

/// The tree of calendar units over the sorted distinct dates of a column. `numbers` count days since 1970, or seconds where the
/// `texts` have a time of day.
///
/// # Errors
/// When the units do not become coarser, or a text is no date.
pub fn date_steps(column: &str, config: &DateConfig, numbers: &[f64], texts: &[String]) -> Result<Steps> {
    let units = &config.date;
    if units.is_empty() || !units.windows(2).all(|pair| pair[0] < pair[1]) {
        return Err(fault(column, "calendar units are given finest first, each once: date = [\"month\", \"year\", \"decade\"]"));
    }
    let with_time = texts.iter().any(|text| has_time(text));
    let whole = numbers.iter().all(|number| number.fract() == 0.0);
    let mut trunk = Trunk::new(ROOT, level(units.len() + 1), ANY);
    for (&number, text) in numbers.iter().zip(texts) {
        // A text with the offset of a time zone has another day than its number: its units would not lie in order.
        let agrees = |moment: &DateTime| (self::number(*moment, with_time) - number).abs() < 0.01;
        let Some(moment) = moment(text).filter(agrees) else {
            let why = "a value is no date such as 2024-03-17 or 2024-03-17T10:00:00, without a time zone: use a file";
            return Err(fault(column, why));
        };
        let mut path: Vec<Step> = Vec::new();
        for (step, &unit) in units.iter().enumerate() {
            let (label, first, last) = calendar(moment.date(), unit);
            // The day of a date is the date.
            if label != *text {
                path.push(Step { label, level: level(step + 1), ends: ends(first, last, with_time, whole) });
            }
        }
        trunk.leaf(text, number, &path);
    }
    Ok(trunk.grow())
}

/// True when a date is followed by a time of day.
pub(super) fn has_time(text: &str) -> bool {
    text.contains(['T', 't', ' '])
}

/// The date in a text, at midnight when it has no time; in UTC if it says so.
pub(super) fn moment(text: &str) -> Option<DateTime> {
    text.strip_suffix('Z').unwrap_or(text).parse().ok()
}

/// Days since 1970, or seconds for a column with times.
pub(super) fn number(moment: DateTime, with_time: bool) -> f64 {
    let seconds = moment.duration_since(EPOCH.to_datetime(jiff::civil::Time::midnight())).as_secs_f64();
    if with_time { seconds } else { (seconds / 86_400.0).floor() }
}

/// The first and last day as ends: closed where all numbers are whole, else the last one open.
fn ends(first: Date, last: Date, with_time: bool, whole: bool) -> (f64, f64) {
    let day = |date: Date| number(date.to_datetime(jiff::civil::Time::midnight()), with_time);
    let length = if with_time { 86_400.0 } else { 1.0 };
    (day(first), day(last) + if whole { length - 1.0 } else { length })
}

/// The unit that a date lies in: its label, its first and its last day.
fn calendar(date: Date, unit: DateUnit) -> (String, Date, Date) {
    let year = date.year();
    let months = |year: i16, first: i8, last: i8| {
        let day_one = |month| Date::new(year, month, 1).expect("a month of a year that dates can have");
        (day_one(first), day_one(last).last_of_month())
    };
    match unit {
        DateUnit::Day => (date.to_string(), date, date),
        DateUnit::Month => (format!("{year:04}-{:02}", date.month()), date.first_of_month(), date.last_of_month()),
        DateUnit::Quarter => {
            let quarter = (date.month() - 1) / 3 + 1;
            let (first, last) = months(year, quarter * 3 - 2, quarter * 3);
            (format!("{year:04}-Q{quarter}"), first, last)
        }
        DateUnit::Year => {
            let (first, last) = months(year, 1, 12);
            (format!("{year:04}"), first, last)
        }
        DateUnit::Decade => {
            let begin = year.div_euclid(10) * 10;
            let (first, _) = months(begin.max(Date::MIN.year()), 1, 1);
            let (_, last) = months(begin + 9, 12, 12);
            (format!("{begin:04}s"), first, last)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::to_rows;
    use super::*;

    use DateUnit::{Day, Decade, Month, Quarter, Year};

    fn steps(units: &[DateUnit], texts: &[&str]) -> Result<Steps> {
        let with_time = texts.iter().any(|text| has_time(text));
        let numbers: Vec<f64> = texts.iter().map(|text| moment(text).map_or(0.0, |m| number(m, with_time))).collect();
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        date_steps("born", &DateConfig { date: units.to_vec() }, &numbers, &texts)
    }

    fn rows(units: &[DateUnit], texts: &[&str]) -> Vec<String> {
        to_rows(&steps(units, texts).unwrap().taxonomy).iter().map(|row| row.join(";")).collect()
    }

    #[test]
    fn dates_rise_from_month_to_decade() {
        let rows = rows(&[Month, Quarter, Year, Decade], &["1969-12-31", "2024-03-17", "2024-04-01"]);
        let expected = [
            "1969-12-31;1969-12;1969-Q4;1969;1960s;*",
            "2024-03-17;2024-03;2024-Q1;2024;2020s;*",
            "2024-04-01;2024-04;2024-Q2;2024;2020s;*",
        ];
        assert_eq!(rows, expected);
    }

    #[test]
    fn the_day_of_a_date_is_the_date_and_of_a_timestamp_a_step() {
        assert_eq!(rows(&[Day, Year], &["2024-03-17"]), ["2024-03-17;2024-03-17;2024;*"]);
        assert_eq!(
            rows(&[Day, Year], &["2024-03-17T00:00:00", "2024-03-17T10:00:00"]),
            ["2024-03-17T00:00:00;2024-03-17;2024;*", "2024-03-17T10:00:00;2024-03-17;2024;*"]
        );
    }

    #[test]
    fn ends_are_the_first_and_last_day_or_second() {
        let ends_above_first = |made: Steps| made.ends[made.taxonomy.parent(0).unwrap() as usize];
        assert_eq!(ends_above_first(steps(&[Year], &["1970-02-03"]).unwrap()), (0.0, 364.0));
        assert_eq!(ends_above_first(steps(&[Month], &["1972-02-03"]).unwrap()), (761.0, 789.0));
        assert_eq!(ends_above_first(steps(&[Day], &["1970-01-02T03:00:00"]).unwrap()), (86_400.0, 172_799.0));
        assert_eq!(ends_above_first(steps(&[Day], &["1970-01-02T03:00:00.5"]).unwrap()), (86_400.0, 172_800.0));
        let far = steps(&[Decade], &["-009999-01-01", "9999-12-31"]).unwrap();
        assert_eq!(far.ends[far.taxonomy.parent(1).unwrap() as usize], (far.ends[1].0 - 3651.0, far.ends[1].1));
    }

    #[test]
    fn every_date_lies_within_the_ends_of_all_its_units() {
        let dates: Vec<String> = EPOCH.series(jiff::Span::new().days(13)).take(2000).map(|date| date.to_string()).collect();
        let texts: Vec<&str> = dates.iter().map(String::as_str).collect();
        let made = steps(&[Month, Quarter, Year, Decade], &texts).unwrap();
        for code in 0..made.taxonomy.leaves() {
            let mut node = u32::try_from(code).unwrap();
            while let Some(parent) = made.taxonomy.parent(node) {
                let ((lo, hi), (inner_lo, inner_hi)) = (made.ends[parent as usize], made.ends[node as usize]);
                assert!(lo <= inner_lo && inner_hi <= hi, "{}", made.taxonomy.label(parent));
                node = parent;
            }
        }
    }

    #[test]
    fn units_out_of_order_and_texts_that_are_no_dates_are_refused() {
        assert!(steps(&[Year, Month], &["2024-03-17"]).is_err());
        assert!(steps(&[Year, Year], &["2024-03-17"]).is_err());
        assert!(steps(&[], &["2024-03-17"]).is_err());
        let error = steps(&[Year], &["17 March"]).unwrap_err().to_string();
        assert!(error.contains("`born`") && !error.contains("March"), "{error}");
        let shifted = DateConfig { date: vec![Day] };
        assert!(date_steps("born", &shifted, &[79_200.0], &["1970-01-02T00:00:00+02:00".into()]).is_err());
        assert!(date_steps("born", &shifted, &[86_400.0], &["1970-01-02T00:00:00Z".into()]).is_ok());
    }
}
