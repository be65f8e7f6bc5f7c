//! Intervals for numbers: `[20-24]`, `[20-29]`, `[20-39]`, `*`, with bottom and top coding: all
//! numbers below or above a limit in one interval.

use super::{ANY, Ancestor, IntervalTree, IntervalTreeBuilder, ROOT, fault, level};
use crate::error::Result;
use crate::request::IntervalsSpec;

/// Whole numbers up to here are exact in floating point, and so are sums of two of them.
const EXACT: f64 = 4_503_599_627_370_496.0;

/// How many decimals a width or the origin may have.
const DECIMALS: i32 = 9;

/// Widths and origin as whole multiples of the last decimal place, so that ends are exact: three
/// times 0.1 is 0.3.
struct IntervalGrid {
    /// How many of these units are one.
    units: f64,
    origin: i64,
    widths: Vec<i64>,
}

/// The tree of intervals over the sorted distinct numbers of a column; `texts` are how the data
/// writes them.
///
/// Where all numbers, widths and limits are whole the label has the last number of the interval,
/// `[20-24]`; else the interval is half-open, `[20-25)`. The text ` .. ` replaces the dash where an
/// end is negative. Bottom and top coding, `<20` and `>=80`, are one step below the root, and
/// intervals that reach beyond are cut there.
///
/// # Errors
/// When the widths are not rising multiples of each other, a limit makes no sense, or a number is
/// too large to be placed exactly.
pub fn intervals(
    column: &str,
    request: &IntervalsSpec,
    numbers: &[f64],
    texts: &[String],
) -> Result<IntervalTree> {
    let grid = grid(column, request)?;
    let limits = || request.bottom.iter().chain(&request.top);
    if !limits().all(|limit| limit.is_finite())
        || matches!((request.bottom, request.top), (Some(b), Some(t)) if b > t)
    {
        return Err(fault(
            column,
            "bottom and top must be numbers, and bottom may not lie above top",
        ));
    }
    if !numbers.iter().all(|number| (number * grid.units).abs() <= EXACT) {
        return Err(fault(
            column,
            "a number is too large for intervals: beyond 2^52 units of the last decimal, use a \
             file",
        ));
    }
    let whole =
        grid.units < 2.0 && numbers.iter().chain(limits()).all(|number| number.fract() == 0.0);
    // The last number of an interval that ends before this one.
    let last = |end: f64| if whole { end - 1.0 } else { end };
    let mut tree = IntervalTreeBuilder::new(ROOT, level(grid.widths.len() + 1), ANY);
    for (&number, text) in numbers.iter().zip(texts) {
        let path = match (request.bottom, request.top) {
            (Some(bottom), _) if number < bottom => {
                vec![Ancestor {
                    label: format!("<{}", bottom + 0.0),
                    level: 1,
                    ends: (f64::NEG_INFINITY, last(bottom)),
                }]
            }
            (_, Some(top)) if number >= top => {
                vec![Ancestor {
                    label: format!(">={}", top + 0.0),
                    level: 1,
                    ends: (top, f64::INFINITY),
                }]
            }
            (bottom, top) => {
                let mut path: Vec<Ancestor> = Vec::new();
                let fine = grid.begin(number);
                for (step, &width) in grid.widths.iter().enumerate() {
                    let begin = grid.origin + (fine - grid.origin).div_euclid(width) * width;
                    let lo = grid.end(begin).max(bottom.unwrap_or(f64::NEG_INFINITY)) + 0.0;
                    let hi = last(grid.end(begin + width).min(top.unwrap_or(f64::INFINITY))) + 0.0;
                    let label = label(lo, hi, whole);
                    // One whole number is its leaf, and two widths cut by the same limits are one
                    // interval.
                    if (!whole || lo < hi) && path.last().is_none_or(|finer| finer.label != label) {
                        path.push(Ancestor { label, level: level(step + 1), ends: (lo, hi) });
                    }
                }
                path
            }
        };
        tree.leaf(text, number, &path);
    }
    Ok(tree.build())
}

fn label(lo: f64, hi: f64, closed: bool) -> String {
    let between = if lo < 0.0 || hi < 0.0 { " .. " } else { "-" };
    let end = if closed { ']' } else { ')' };
    format!("[{lo}{between}{hi}{end}")
}

impl IntervalGrid {
    /// The number at a place of the grid: the nearest to its decimal notation, which is what the
    /// data's text becomes too.
    #[allow(clippy::cast_precision_loss, reason = "places stay within the exact whole numbers")]
    fn end(&self, place: i64) -> f64 {
        place as f64 / self.units
    }

    /// Where the finest interval with this number begins.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        reason = "the caller keeps numbers below 2^52 units"
    )]
    fn begin(&self, number: f64) -> i64 {
        let width = self.widths[0];
        let steps = ((number * self.units - self.origin as f64) / width as f64).floor() as i64;
        let mut begin = self.origin + steps * width;
        // The quotient may be rounded over an end.
        while number < self.end(begin) {
            begin -= width;
        }
        while number >= self.end(begin + width) {
            begin += width;
        }
        begin
    }
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "every number is checked to be whole and below 2^52 first"
)]
fn grid(column: &str, request: &IntervalsSpec) -> Result<IntervalGrid> {
    if request.intervals.is_empty() {
        return Err(fault(column, "no widths: intervals = [5, 10, 20]"));
    }
    if !request.intervals.iter().all(|&width| width > 0.0 && width.is_finite()) {
        return Err(fault(column, "the width of an interval must be above 0"));
    }
    let all = || request.intervals.iter().chain([&request.origin]);
    let exact = |units: f64| {
        all().all(|&number| ((number * units).round() / units).total_cmp(&number).is_eq())
    };
    let units = (0..=DECIMALS).map(|decimals| 10_f64.powi(decimals)).find(|&units| exact(units));
    let Some(units) = units.filter(|units| all().all(|number| (number * units).abs() <= EXACT))
    else {
        return Err(fault(
            column,
            format!(
                "widths and origin may have {DECIMALS} decimals, and no more than 15 digits in all"
            ),
        ));
    };
    let place = |number: f64| (number * units).round() as i64;
    let widths: Vec<i64> = request.intervals.iter().map(|&width| place(width)).collect();
    if let Some(step) =
        widths.windows(2).position(|pair| pair[1] <= pair[0] || pair[1] % pair[0] != 0)
    {
        let (fine, coarse) = (request.intervals[step], request.intervals[step + 1]);
        return Err(fault(
            column,
            format!(
                "width {coarse} is no multiple of {fine}: give widths finest first, such as 5, \
                 10, 20"
            ),
        ));
    }
    Ok(IntervalGrid { units, origin: place(request.origin), widths })
}

#[cfg(test)]
mod tests {
    use super::super::to_rows;
    use super::*;

    fn request(widths: &[f64]) -> IntervalsSpec {
        IntervalsSpec { intervals: widths.to_vec(), origin: 0.0, bottom: None, top: None }
    }

    fn tree(request: &IntervalsSpec, numbers: &[f64]) -> IntervalTree {
        let texts: Vec<String> = numbers.iter().map(f64::to_string).collect();
        intervals("age", request, numbers, &texts).unwrap()
    }

    fn rows(request: &IntervalsSpec, numbers: &[f64]) -> Vec<String> {
        to_rows(&tree(request, numbers).taxonomy).iter().map(|row| row.join(";")).collect()
    }

    #[test]
    fn whole_numbers_show_their_first_and_last() {
        let rows = rows(&request(&[5.0, 10.0, 20.0]), &[20.0, 24.0, 25.0, 39.0, 40.0]);
        let expected = [
            "20;[20-24];[20-29];[20-39];*",
            "24;[20-24];[20-29];[20-39];*",
            "25;[25-29];[20-29];[20-39];*",
            "39;[35-39];[30-39];[20-39];*",
            "40;[40-44];[40-49];[40-59];*",
        ];
        assert_eq!(rows, expected);
    }

    #[test]
    fn decimals_are_half_open_and_their_ends_exact() {
        assert_eq!(rows(&request(&[5.0]), &[24.5, 25.0]), ["24.5;[20-25);*", "25;[25-30);*"]);
        let tenths: Vec<f64> = (0..40).map(|tenth| f64::from(tenth) / 10.0).collect();
        for (tenth, row) in rows(&request(&[0.1, 0.5]), &tenths).iter().enumerate() {
            let (tenth, half) = (
                f64::from(u32::try_from(tenth).unwrap()),
                f64::from(u32::try_from(tenth / 5).unwrap()),
            );
            let fine = format!("[{}-{})", tenth / 10.0, (tenth + 1.0) / 10.0);
            assert_eq!(
                *row,
                format!("{};{fine};[{}-{});*", tenth / 10.0, half / 2.0, (half + 1.0) / 2.0)
            );
        }
    }

    #[test]
    fn negative_ends_are_told_from_dashes() {
        assert_eq!(
            rows(&request(&[5.0]), &[-5.0, -1.0, 0.0]),
            ["-5;[-5 .. -1];*", "-1;[-5 .. -1];*", "0;[0-4];*"]
        );
        assert_eq!(rows(&request(&[5.0]), &[-0.5]), ["-0.5;[-5 .. 0);*"]);
    }

    #[test]
    fn limits_swallow_what_lies_beyond_and_cut_intervals() {
        let mut request = request(&[5.0, 10.0]);
        (request.bottom, request.top) = (Some(28.0), Some(43.0));
        let numbers = [3.0, 27.0, 28.0, 29.0, 30.0, 42.0, 43.0, 99.0];
        let made = tree(&request, &numbers);
        let expected = [
            "3;<28;<28;*",
            "27;<28;<28;*",
            "28;[28-29];[28-29];*",
            "29;[28-29];[28-29];*",
            "30;[30-34];[30-39];*",
            "42;[40-42];[40-42];*",
            "43;>=43;>=43;*",
            "99;>=43;>=43;*",
        ];
        assert_eq!(rows(&request, &numbers), expected);
        let ends = |code| made.ends[made.taxonomy.parent(code).unwrap() as usize];
        assert_eq!(ends(0), (f64::NEG_INFINITY, 27.0));
        assert_eq!(ends(2), (28.0, 29.0));
        assert_eq!(ends(7), (43.0, f64::INFINITY));
        assert_eq!(made.ends[4], (30.0, 30.0));
    }

    #[test]
    fn an_interval_of_one_whole_number_is_the_number() {
        assert_eq!(rows(&request(&[1.0, 2.0]), &[4.0, 5.0]), ["4;4;[4-5];*", "5;5;[4-5];*"]);
    }

    #[test]
    fn every_number_lies_within_the_ends_of_all_its_intervals() {
        let mut request = request(&[0.3, 0.9, 8.1]);
        request.origin = -0.2;
        let numbers: Vec<f64> = (-400..400).map(|n| f64::from(n) / 30.0).collect();
        let made = tree(&request, &numbers);
        for (code, &number) in numbers.iter().enumerate() {
            let mut node = u32::try_from(code).unwrap();
            assert_eq!(made.ends[code], (number, number));
            while let Some(parent) = made.taxonomy.parent(node) {
                let (lo, hi) = made.ends[parent as usize];
                assert!(lo <= number && number < hi, "{number} in {}", made.taxonomy.label(parent));
                node = parent;
            }
        }
    }

    #[test]
    fn widths_that_do_not_nest_are_refused() {
        for widths in [
            &[5.0, 12.0][..],
            &[5.0, 5.0],
            &[10.0, 5.0],
            &[0.0],
            &[-5.0],
            &[f64::NAN],
            &[],
            &[1e300],
            &[1.0 / 3.0],
        ] {
            let error = intervals("age", &request(widths), &[1.0], &["1".into()]).unwrap_err();
            assert!(error.to_string().starts_with("hierarchy of column `age`: "), "{error}");
        }
        let crossed = IntervalsSpec { bottom: Some(9.0), top: Some(3.0), ..request(&[5.0]) };
        assert!(intervals("age", &crossed, &[1.0], &["1".into()]).is_err());
        let error =
            intervals("age", &request(&[5.0]), &[1e17], &["1e17".into()]).unwrap_err().to_string();
        assert!(error.contains("too large") && !error.contains("1e17"), "{error}");
    }
}
