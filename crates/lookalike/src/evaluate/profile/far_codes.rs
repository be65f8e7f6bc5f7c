//! Numbers that often stand for a missing answer: 99 among 0 to 3, -1 among ages, 99 among words.

use crate::domain::parse::number;
use crate::error::{Hint, Warning};
use crate::table::{Coded, Table};

/// Codes that questionnaires have for "no answer".
const CODES: [f64; 13] =
    [9.0, 77.0, 88.0, 97.0, 98.0, 99.0, 999.0, 9999.0, -1.0, -8.0, -9.0, -99.0, -999.0];
/// Answers with at most so many values are a scale, on which the code may be near.
const SCALE: usize = 12;
/// A code is at least so many steps of the scale, or so many times the range of other numbers, away.
const FAR: f64 = 3.0;

/// The warning about columns in which such codes stand apart from all other values.
pub fn far_codes(table: &Table) -> Option<Warning> {
    let columns = table.columns().iter();
    let coded = columns.filter_map(|column| Some((&column.name, column.coded.as_ref()?)));
    let place = |(name, coded): (&String, &Coded)| {
        let (codes, cells) = codes_of(coded)?;
        let rows = if cells == 1 { "row" } else { "rows" };
        Some(format!("{} in {cells} {rows} of `{name}`", codes.join(" or ")))
    };
    let places: Vec<String> = coded.filter_map(place).collect();
    let why = format!(
        "numbers that stand apart from all other values of their column and may mean that there is none: {}",
        places.join(", ")
    );
    let hint = Hint::plain("if so, empty these cells in the table: means are wrong with them");
    (!places.is_empty()).then(|| Warning::new("missing-as-number", why).hint(hint))
}

/// The codes of a column that stand apart, and the number of their cells.
fn codes_of(coded: &Coded) -> Option<(Vec<String>, u64)> {
    let values =
        || (0u32..).zip(coded.values()).filter_map(|(at, value)| Some((at, value.as_ref()?)));
    let is_code = |text: &str| number(text).is_some_and(|value| CODES.contains(&value));
    let codes: Vec<(u32, f64)> = values()
        .filter(|(_, text)| is_code(text))
        .filter_map(|(at, text)| Some((at, number(text)?)))
        .collect();
    if codes.is_empty() {
        return None;
    }
    let others = || values().filter(|(_, text)| !is_code(text));
    let mut numbers: Vec<f64> = others().filter_map(|(_, text)| number(text)).collect();
    numbers.sort_by(f64::total_cmp);
    let count = others().count();
    let is_apart = |value: f64| match (numbers.first(), numbers.last()) {
        // Among words.
        (None, _) => count >= 3,
        (Some(&least), Some(&most)) if numbers.len() == count && count >= 2 => {
            let steps = numbers.windows(2).map(|pair| pair[1] - pair[0]);
            let step = steps.fold(0.0, f64::max);
            let is_scale = count <= SCALE && most <= 20.0;
            let far = if is_scale { FAR * step } else { FAR * (most - least) };
            (value < 0.0 && least >= 0.0) || (value > 0.0 && value - most >= far)
        }
        _ => false,
    };
    let apart: Vec<(u32, f64)> = codes.into_iter().filter(|&(_, value)| is_apart(value)).collect();
    let cells =
        coded.codes().iter().filter(|&code| apart.iter().any(|&(at, _)| at == code)).count();
    let shown = apart.iter().map(|(_, value)| value.to_string()).collect();
    (!apart.is_empty()).then_some((shown, cells as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_that_stands_apart_is_said_with_its_cells() {
        let said = |values: &str| {
            let csv = format!("answer\n{}\n", values.replace(' ', "\n"));
            far_codes(&crate::testing::table(&csv)).map(|warning| warning.reason().to_string())
        };
        let found = said("0 1 2 3 1 99 2 99").unwrap();
        assert!(found.ends_with(": 99 in 2 rows of `answer`"), "{found}");
        assert!(said("1 2 3 4 5 9 3").unwrap().contains("9 in 1 row of"));
        assert!(said("20 33 61 45 -1 38 95").unwrap().contains("-1"));
        assert!(said("20 33 61 45 999 38 95").unwrap().contains("999"));
        assert!(said("agree disagree neutral 99 agree").unwrap().contains("99"));
        assert!(said("0 1 97 98 99 2").unwrap().contains("97 or 98 or 99"));
        // An age, a count, a difference and a score are what they are.
        for plain in
            ["20 33 61 45 99 38 95", "5 6 7 8 9 4", "-3 2 -1 5", "88 76 97 50", "9 9 9", "a b 7"]
        {
            assert_eq!(said(plain), None, "{plain}");
        }
    }
}
