//! Columns of dates in several forms: as labels nothing of them would be left but `*`.

use crate::domain::kind::{Guess, guess};
use crate::domain::parse::seconds;
use crate::error::{Hint, Warning};
use crate::forms::{Doubt, Form, Found, Given, Wanted, find};
use crate::request::Kind;
use crate::table::{Coded, Table};

/// Different texts from which on a column is looked at, and how many of them are read.
const ENOUGH: usize = 10;
const SAMPLE: usize = 200;

/// A warning for each column that is taken for labels although its texts are dates.
pub fn mixed_dates(table: &Table) -> Vec<Warning> {
    let columns = table.columns().iter();
    let is_mixed =
        |coded: &Coded| guess(coded.values()) == Guess::Kind(Kind::Categorical) && are_dates(coded);
    let mixed = columns.filter(|column| column.coded.as_ref().is_some_and(is_mixed));
    let warning = |name: &String| {
        let why = format!("column `{name}` is taken for labels: its dates have no form in common");
        let hint = Hint::plain("write all dates of the column in one form, such as 2014-12-26");
        Warning::new("mixed-dates", why).about_column(name).hint(hint)
    };
    mixed.map(|column| warning(&column.name)).collect()
}

/// True when four texts of five are dates, each in some form.
fn are_dates(coded: &Coded) -> bool {
    let texts: Vec<&str> = coded.values().iter().flatten().map(|text| text.trim()).collect();
    let sample = texts.iter().step_by(texts.len().div_ceil(SAMPLE).max(1));
    let is_date = |text: &&&str| {
        seconds(text).is_some()
            || matches!(
                find(&[**text], Wanted::Either, &Given::default()),
                Found::Form(Form::Date(_)) | Found::Doubt(Doubt::DayOrMonth | Doubt::Century(_))
            )
    };
    let dates = sample.clone().filter(is_date).count();
    texts.len() >= ENOUGH && 5 * dates >= 4 * sample.count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_in_several_forms_are_said_and_others_are_not() {
        let said = |text: &dyn Fn(usize) -> String| {
            let rows: String = (1..25).map(|row| format!("{}\n", text(row))).collect();
            let table = crate::testing::table(&format!("seen\n{rows}")).of_text(false);
            mixed_dates(&super::super::read_plainly(table, &Given::default()).0).len()
        };
        let mixed = |row: usize| match row % 3 {
            0 => format!("{row:02}.03.2024"),
            1 => format!("2024-03-{row:02}"),
            _ => format!("\"March {row}, 2024\""),
        };
        assert_eq!(said(&mixed), 1);
        assert_eq!(said(&|row| format!("{row:02}.03.2024")), 0);
        assert_eq!(said(&|row| format!("2024-03-{row:02}")), 0);
        assert_eq!(said(&|row| format!("{row}/{row}/2024 in the morning")), 0);
        assert_eq!(said(&|row| format!("ward {row}")), 0);
        assert_eq!(said(&|row| if row % 2 == 0 { mixed(row) } else { format!("ward {row}") }), 0);
    }
}
