//! Calendar units for dates: 2024-03-17, 2024-03, 2024-Q1, 2024, 2020s, `*`; or weeks, which lie in
//! no month and no calendar year: 2024-03-17, 2024-W11, 2024-W**, `*`. An ISO year has whole weeks:
//! 2024-12-30 is a day of 2025-W01, so above weeks the label of a year is not `2025`.

use jiff::civil::{Date, DateTime, ISOWeekDate, Time};

use super::{ANY, Ancestor, IntervalTree, IntervalTreeBuilder, ROOT, fault, level};
use crate::domain::parse::{DAY, TimeScale, as_written, has_time, since_1970};
use crate::error::Result;
use crate::request::{DateSpec, DateUnit};

/// The greatest end of a unit.
#[derive(Clone, Copy)]
enum UpperEnd {
    /// Its last day or second, where all numbers are whole.
    Last,
    /// The first day or second after it.
    Open,
}

/// The tree of calendar units over the sorted distinct dates of a column. `numbers` count days
/// since 1970, or seconds where the `texts` have a time of day.
///
/// The calendar is that of the texts as written: `2024-03-01T00:30:00+02:00` lies in March,
/// although it is still February in UTC.
///
/// # Errors
/// When the units do not become coarser, a text is no date, or the dates as written are not in the
/// order of time.
pub fn date_intervals(
    column: &str,
    request: &DateSpec,
    numbers: &[f64],
    texts: &[String],
) -> Result<IntervalTree> {
    let units = &request.date;
    let scale = TimeScale::of(texts);
    let moments = moments(column, units, scale, texts)?;
    let is_whole = numbers.iter().all(|number| number.fract() == 0.0);
    let upper = if is_whole { UpperEnd::Last } else { UpperEnd::Open };
    let (least, greatest) = ahead_of_utc(&moments, scale, numbers);
    let mut tree = IntervalTreeBuilder::new(ROOT, level(units.len() + 1), ANY);
    for ((&number, text), moment) in numbers.iter().zip(texts).zip(&moments) {
        let mut path: Vec<Ancestor> = Vec::new();
        for (step, &unit) in units.iter().enumerate() {
            let (label, first, last) = match unit {
                DateUnit::Year if units.contains(&DateUnit::Week) => iso_year(moment.date()),
                unit => calendar(moment.date(), unit),
            };
            // The day of a date is the date.
            if label != *text {
                let (lo, hi) = ends(first, last, scale, upper);
                let ends = (lo - greatest, hi - least);
                path.push(Ancestor { label, level: level(step + 1), ends });
            }
        }
        tree.leaf(text, number, &path);
    }
    Ok(tree.build())
}

/// The dates as written, which must fit the units and be in the order of time.
fn moments(
    column: &str,
    units: &[DateUnit],
    scale: TimeScale,
    texts: &[String],
) -> Result<Vec<DateTime>> {
    if units.is_empty() || !units.windows(2).all(|pair| pair[0] < pair[1]) {
        return Err(fault(
            column,
            "calendar units are given finest first, each once: date = [\"month\", \"year\", \
             \"decade\"]",
        ));
    }
    let beside_weeks = [
        DateUnit::Month,
        DateUnit::Quarter,
        DateUnit::HalfYear,
        DateUnit::FiveYears,
        DateUnit::Decade,
    ];
    if units.contains(&DateUnit::Week) && units.iter().any(|unit| beside_weeks.contains(unit)) {
        return Err(fault(
            column,
            "a week can lie in two months, quarters or decades: beside week write day or year \
             only, date = [\"week\", \"year\"], or leave out week",
        ));
    }
    if scale == TimeScale::Seconds
        && units[0] == DateUnit::Day
        && !texts.iter().all(|text| has_time(text))
    {
        let why = "some values have a time of day and some have none, so that a day and its \
                   midnight would have the same label: write all with a time, or remove the unit \
                   day";
        return Err(fault(column, why));
    }
    let moments: Option<Vec<DateTime>> = texts.iter().map(|text| as_written(text)).collect();
    let Some(moments) = moments else {
        return Err(fault(
            column,
            "a value is no date such as 2024-03-17 or 2024-03-17T10:00:00: use a file",
        ));
    };
    let unit_of = |moment: &DateTime| calendar(moment.date(), units[0]).1;
    if !moments.windows(2).all(|pair| unit_of(&pair[0]) <= unit_of(&pair[1])) {
        let why = "times have different offsets from UTC, and their calendar days are not in the \
                   order of time: convert the column to one time zone";
        return Err(fault(column, why));
    }
    Ok(moments)
}

/// The least and the greatest number of seconds by which the clocks of the texts are ahead of UTC:
/// the ends of a unit are in UTC.
fn ahead_of_utc(moments: &[DateTime], scale: TimeScale, numbers: &[f64]) -> (f64, f64) {
    let ahead = |(moment, number): (&DateTime, &f64)| match scale {
        TimeScale::Days => 0.0,
        TimeScale::Seconds => since_1970(*moment, scale) - number,
    };
    let clocks = || moments.iter().zip(numbers).map(ahead);
    (clocks().fold(f64::INFINITY, f64::min), clocks().fold(f64::NEG_INFINITY, f64::max))
}

/// The first and the last day of a unit as ends.
fn ends(first: Date, last: Date, scale: TimeScale, upper: UpperEnd) -> (f64, f64) {
    let begin = |date: Date| since_1970(date.to_datetime(Time::midnight()), scale);
    let length = match scale {
        TimeScale::Days => 1.0,
        TimeScale::Seconds => DAY,
    };
    match upper {
        UpperEnd::Last => (begin(first), begin(last) + (length - 1.0)),
        UpperEnd::Open => (begin(first), begin(last) + length),
    }
}

/// The unit that a date lies in: its label, its first and its last day.
fn calendar(date: Date, unit: DateUnit) -> (String, Date, Date) {
    let year = date.year();
    let months = |year: i16, first: i8, last: i8| {
        let day_one =
            |month| Date::new(year, month, 1).expect("a month of a year that dates can have");
        (day_one(first), day_one(last).last_of_month())
    };
    let years = |count: i16| {
        let begin = year.div_euclid(count) * count;
        let (first, _) = months(begin.max(Date::MIN.year()), 1, 1);
        let (_, last) = months(begin + count - 1, 12, 12);
        (begin, first, last)
    };
    match unit {
        DateUnit::Day => (date.to_string(), date, date),
        DateUnit::Week => {
            let week = date.iso_week_date();
            let (first, last) = days(week.first_of_week().ok(), week.last_of_week().ok());
            (format!("{:04}-W{:02}", week.year(), week.week()), first, last)
        }
        DateUnit::Month => {
            (format!("{year:04}-{:02}", date.month()), date.first_of_month(), date.last_of_month())
        }
        DateUnit::Quarter => {
            let quarter = (date.month() - 1) / 3 + 1;
            let (first, last) = months(year, quarter * 3 - 2, quarter * 3);
            (format!("{year:04}-Q{quarter}"), first, last)
        }
        DateUnit::HalfYear => {
            let half = (date.month() - 1) / 6 + 1;
            let (first, last) = months(year, half * 6 - 5, half * 6);
            (format!("{year:04}-H{half}"), first, last)
        }
        DateUnit::Year => {
            let (first, last) = months(year, 1, 12);
            (format!("{year:04}"), first, last)
        }
        DateUnit::FiveYears => {
            let (begin, first, last) = years(5);
            (format!("{begin:04}-{:04}", begin + 4), first, last)
        }
        DateUnit::Decade => {
            let (begin, first, last) = years(10);
            (format!("{begin:04}s"), first, last)
        }
    }
}

/// The year of whole weeks that a date lies in.
fn iso_year(date: Date) -> (String, Date, Date) {
    let week = date.iso_week_date();
    let (first, last) = days(week.first_of_year().ok(), week.last_of_year().ok());
    (format!("{:04}-W**", week.year()), first, last)
}

/// The first and the last day; the ends of the calendar where it has no such day.
fn days(first: Option<ISOWeekDate>, last: Option<ISOWeekDate>) -> (Date, Date) {
    (first.map_or(Date::MIN, ISOWeekDate::date), last.map_or(Date::MAX, ISOWeekDate::date))
}

#[cfg(test)]
mod tests {
    use super::super::to_rows;
    use super::*;
    use crate::domain::parse::utc;

    use DateUnit::{Day, Decade, FiveYears, HalfYear, Month, Quarter, Week, Year};

    fn tree(units: &[DateUnit], texts: &[&str]) -> Result<IntervalTree> {
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        let scale = TimeScale::of(&texts);
        let numbers: Vec<f64> =
            texts.iter().map(|text| utc(text).map_or(0.0, |m| since_1970(m, scale))).collect();
        date_intervals("born", &DateSpec { date: units.to_vec() }, &numbers, &texts)
    }

    fn rows(units: &[DateUnit], texts: &[&str]) -> Vec<String> {
        to_rows(&tree(units, texts).unwrap().taxonomy).iter().map(|row| row.join(";")).collect()
    }

    #[test]
    fn dates_rise_from_month_to_decade() {
        let rows =
            rows(&[Month, Quarter, Year, Decade], &["1969-12-31", "2024-03-17", "2024-04-01"]);
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
        let ends_above_first =
            |made: IntervalTree| made.ends[made.taxonomy.parent(0).unwrap() as usize];
        assert_eq!(ends_above_first(tree(&[Year], &["1970-02-03"]).unwrap()), (0.0, 364.0));
        assert_eq!(ends_above_first(tree(&[Month], &["1972-02-03"]).unwrap()), (761.0, 789.0));
        assert_eq!(
            ends_above_first(tree(&[Day], &["1970-01-02T03:00:00"]).unwrap()),
            (86_400.0, 172_799.0)
        );
        assert_eq!(
            ends_above_first(tree(&[Day], &["1970-01-02T03:00:00.5"]).unwrap()),
            (86_400.0, 172_800.0)
        );
        let far = tree(&[Decade], &["-009999-01-01", "9999-12-31"]).unwrap();
        assert_eq!(
            far.ends[far.taxonomy.parent(1).unwrap() as usize],
            (far.ends[1].0 - 3651.0, far.ends[1].1)
        );
    }

    #[test]
    fn every_date_lies_within_the_ends_of_all_its_units() {
        let dates: Vec<String> = Date::constant(1970, 1, 1)
            .series(jiff::Span::new().days(13))
            .take(2000)
            .map(|date| date.to_string())
            .collect();
        let texts: Vec<&str> = dates.iter().map(String::as_str).collect();
        let made = tree(&[Month, Quarter, HalfYear, Year, FiveYears, Decade], &texts).unwrap();
        for code in 0..made.taxonomy.leaves() {
            let mut node = u32::try_from(code).unwrap();
            while let Some(parent) = made.taxonomy.parent(node) {
                let ((lo, hi), (inner_lo, inner_hi)) =
                    (made.ends[parent as usize], made.ends[node as usize]);
                assert!(lo <= inner_lo && inner_hi <= hi, "{}", made.taxonomy.label(parent));
                node = parent;
            }
        }
    }

    #[test]
    fn weeks_lie_in_iso_years_and_in_nothing_else() {
        let made = rows(&[Week, Year], &["2021-01-03", "2024-03-03", "2024-12-30", "2026-12-31"]);
        let expected = [
            "2021-01-03;2020-W53;2020-W**;*",
            "2024-03-03;2024-W09;2024-W**;*",
            "2024-12-30;2025-W01;2025-W**;*",
            "2026-12-31;2026-W53;2026-W**;*",
        ];
        assert_eq!(made, expected);
        let tree_of = |units: &[DateUnit]| tree(units, &["1970-01-01", "1970-01-07"]).unwrap();
        let weeks = tree_of(&[Week, Year]);
        let week = weeks.taxonomy.parent(0).unwrap();
        assert_eq!(weeks.ends(week), (-3.0, 3.0), "Monday to Sunday");
        assert_eq!(weeks.ends(weeks.taxonomy.parent(week).unwrap()), (-3.0, 367.0));
        for units in
            [&[Week, Month][..], &[Week, Quarter, Year], &[Week, Year, Decade], &[Week, HalfYear]]
        {
            let error = tree(units, &["2024-03-17"]).unwrap_err().to_string();
            assert!(error.contains("a week can lie in two months"), "{error}");
        }
        assert!(
            tree(&[Day, Week], &["-009999-01-01", "9999-12-31"]).is_ok(),
            "all of the calendar"
        );
    }

    #[test]
    fn units_out_of_order_and_texts_that_are_no_dates_are_refused() {
        assert!(tree(&[Year, Month], &["2024-03-17"]).is_err());
        assert!(tree(&[Year, Year], &["2024-03-17"]).is_err());
        assert!(tree(&[], &["2024-03-17"]).is_err());
        let error = tree(&[Year], &["17 March"]).unwrap_err().to_string();
        assert!(error.contains("`born`") && !error.contains("March"), "{error}");
        assert!(
            tree(&[Day], &["2024-03-17", "2024-03-17T10:00:00"]).is_err(),
            "a day and its midnight would have one label"
        );
        assert!(tree(&[Month], &["2024-03-17", "2024-03-17T10:00:00"]).is_ok());
    }

    #[test]
    fn the_calendar_is_that_of_the_text_as_written() {
        let berlin =
            ["2024-02-29T23:30:00+01:00", "2024-03-01T00:30:00+01:00", "2024-07-01T00:00:00+02:00"];
        let expected = [
            "2024-02-29T23:30:00+01:00;2024-02;*",
            "2024-03-01T00:30:00+01:00;2024-03;*",
            "2024-07-01T00:00:00+02:00;2024-07;*",
        ];
        assert_eq!(rows(&[Month], &berlin), expected);
        let made = tree(&[Month], &berlin).unwrap();
        for code in 0..3 {
            let node = made.taxonomy.parent(code).unwrap() as usize;
            let number = made.ends[code as usize].0;
            assert!(made.ends[node].0 <= number && number <= made.ends[node].1, "{:?}", made.ends);
        }
        // The second is earlier and has the later day.
        let error = tree(&[Day], &["2024-03-01T00:30:00+02:00", "2024-02-29T23:00:00Z"])
            .unwrap_err()
            .to_string();
        assert!(error.contains("not in the order of time"), "{error}");
    }
}
