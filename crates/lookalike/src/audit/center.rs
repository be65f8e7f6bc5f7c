//! The middle of two bounds: `age_center` may say nothing that `age_min` and `age_max` do not say.
//! Every cell is computed anew, by the rules of docs/format.md, and a column that has another one is
//! a leak: it could distinguish rows of a class.

use rustc_hash::FxHashMap;

use super::coded;
use super::reading::{number, place_of_instant, present};
use super::snapped;
use super::surface::QuasiColumns;
use crate::error::Result;
use crate::request::Request;
use crate::table::Table;

/// Nanoseconds of a day, and of the finest time in a typed column.
const DAY: i128 = 86_400_000_000_000;
const MICROSECOND: i128 = 1_000;

/// A sentence for each column of middles or bounds that has other cells than it should.
pub(super) fn leaks(
    quasi: &[QuasiColumns],
    release: &Table,
    request: &Request,
) -> Result<Vec<String>> {
    let mut leaks = snapped::leaks(quasi, release, request)?;
    for columns in quasi {
        let QuasiColumns::Bounds { name, min, max, center: Some(center), .. } = columns else {
            continue;
        };
        let [min, max, middle] =
            [coded(release, min)?, coded(release, max)?, coded(release, center)?];
        let mut known: FxHashMap<[u32; 3], [bool; 2]> = FxHashMap::default();
        let mut wrong = [0u64; 2];
        for row in 0..release.rows() {
            let codes = [min, max, middle].map(|column| column.codes().get(row));
            let is_right = *known.entry(codes).or_insert_with(|| {
                let [min, max, middle] = [(min, codes[0]), (max, codes[1]), (middle, codes[2])]
                    .map(|(column, code)| {
                        present(column.values()[code as usize].as_deref(), &request.missing)
                    });
                [is_middle(min, max, middle), is_middle_day(min, max, middle)]
            });
            wrong.iter_mut().zip(is_right).for_each(|(wrong, right)| *wrong += u64::from(!right));
        }
        // A frame may have dates as times of midnight. One of the two holds for the whole column, so
        // that equal bounds have equal middles.
        let wrong = wrong[0].min(wrong[1]);
        if wrong > 0 {
            leaks.push(format!(
                "rows where `{center}` is not the middle of `{name}_min` and `{name}_max`: {wrong}"
            ));
        }
    }
    Ok(leaks)
}

/// True when the third cell is the middle of the others; where one of them is missing, it must be
/// missing too.
pub(super) fn is_middle(min: Option<&str>, max: Option<&str>, middle: Option<&str>) -> bool {
    let (Some(min), Some(max)) = (min, max) else { return middle.is_none() };
    let Some(middle) = middle else { return false };
    match (number(min), number(max)) {
        (Some(least), Some(greatest)) => {
            let whole = |text: &str| text.trim().parse::<i128>().ok();
            let expected = match (whole(min), whole(max)) {
                (Some(least), Some(greatest)) => half(least, greatest),
                _ => middle_of_decimals(least, greatest)
                    .unwrap_or_else(|| f64::midpoint(least, greatest)),
            };
            number(middle) == Some(expected)
        }
        _ => is_middle_instant(min, max, middle).unwrap_or(false),
    }
}

/// The same for times of midnight that stand for days.
fn is_middle_day(min: Option<&str>, max: Option<&str>, middle: Option<&str>) -> bool {
    let (Some(min), Some(max)) = (min, max) else { return middle.is_none() };
    let Some(middle) = middle else { return false };
    let days: Option<Vec<i128>> = [min, max, middle]
        .map(|text| place_of_instant(text).filter(|at| at % DAY == 0).map(|at| at / DAY))
        .into_iter()
        .collect();
    matches!(days.as_deref(), Some([min, max, middle]) if (min + max).div_euclid(2) == *middle)
}

/// Half of the sum of two whole numbers, rounded once.
#[allow(clippy::cast_precision_loss, reason = "that is the rounding")]
fn half(least: i128, greatest: i128) -> f64 {
    least.saturating_add(greatest) as f64 / 2.0
}

/// The number nearest to the middle of two decimals, by their digits; none where there are too many.
fn middle_of_decimals(least: f64, greatest: f64) -> Option<f64> {
    // Sign and digits, and how many of them stand after the point.
    let digits = |number: f64| {
        let text = number.to_string();
        let after = text.find('.').map_or(0, |point| text.len() - point - 1);
        let digits: String = text.chars().filter(|c| *c != '.').collect();
        Some((digits.parse::<i128>().ok()?, after, digits.len()))
    };
    let ((a, of_a, long_a), (b, of_b, long_b)) = (digits(least)?, digits(greatest)?);
    let after = of_a.max(of_b);
    if long_a + after - of_a > 30 || long_b + after - of_b > 30 {
        return None;
    }
    let raised =
        |number: i128, own: usize| Some(number * 10_i128.pow(u32::try_from(after - own).ok()?));
    // Half of a sum has one digit more: five times the sum, a tenth of the unit.
    let middle = 5 * (raised(a, of_a)? + raised(b, of_b)?);
    format!("{middle}e-{}", after + 1).parse().ok()
}

/// For dates the earlier of the days in the middle, for times the earlier microsecond. All three must
/// be dates, or all three times.
fn is_middle_instant(min: &str, max: &str, middle: &str) -> Option<bool> {
    let is_day = |text: &str| !text.contains(':');
    if is_day(min) != is_day(middle) || is_day(max) != is_day(middle) {
        return Some(false);
    }
    let unit = if is_day(middle) { DAY } else { MICROSECOND };
    let sum = place_of_instant(min)?.div_euclid(unit) + place_of_instant(max)?.div_euclid(unit);
    Some(place_of_instant(middle)? == sum.div_euclid(2) * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_numbers_dates_and_times_is_recognised_and_nothing_else() {
        let right = [
            ("20", "31", "25.5"),
            ("20", "20", "20.0"),
            ("-5", "2", "-1.5"),
            ("0.1", "0.3", "0.2"),
            ("50.1", "63.2", "56.65"),
            ("-1.05", "0.1", "-0.475"),
            ("1e-7", "3e-7", "2e-7"),
            ("1e308", "1.5e308", "1.25e308"),
            ("-1", "1", "-0.0"),
            ("2024-03-01", "2024-03-04", "2024-03-02"),
            ("1969-12-30", "1970-01-01", "1969-12-31"),
            ("1969-12-30", "1969-12-31", "1969-12-30"),
            ("2024-03-01T00:00:00", "2024-03-02T00:00:00", "2024-03-01T12:00:00"),
            ("2024-03-01T00:00:00Z", "2024-03-01T00:00:00.000001Z", "2024-03-01T00:00:00Z"),
        ];
        for (min, max, middle) in right {
            assert!(is_middle(Some(min), Some(max), Some(middle)), "{min} {max} {middle}");
            for other in ["25", "25.50000001", "2024-03-03", "2024-03-01T12:00:00.000001", "x"] {
                assert!(!is_middle(Some(min), Some(max), Some(other)), "{min} {max} {other}");
            }
            assert!(!is_middle(Some(min), Some(max), None));
            assert!(!is_middle(None, Some(max), Some(middle)));
            assert!(!is_middle(Some(min), None, Some(middle)));
        }
        assert!(is_middle(None, None, None) && !is_middle(None, None, Some("1")));
        assert!(!is_middle(Some("low"), Some("high"), Some("mid")));
        let midnight = |day: &str| format!("{day}T00:00:00");
        let [first, second, third] = ["2024-03-01", "2024-03-02", "2024-03-03"].map(midnight);
        let is_day = |middle: &str| is_middle_day(Some(&first), Some(&second), Some(middle));
        assert!(is_day(&first) && !is_day(&second) && !is_day("2024-03-01T12:00:00"));
        assert!(is_middle_day(Some(&first), Some(&third), Some(&second)));
        assert!(is_middle_day(None, None, None) && !is_middle_day(None, None, Some("1")));
        // A day is no time, even where it would be the middle.
        let noon = Some("2024-03-01T00:00:00");
        assert!(!is_middle(noon, noon, Some("2024-03-01")));
    }
}
