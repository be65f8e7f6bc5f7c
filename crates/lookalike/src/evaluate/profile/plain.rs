//! A table as it is read: forms of numbers and dates found, texts for "missing" found.

use std::collections::BTreeMap;

use crate::domain::kind::{Guess, guess};
use crate::domain::parse::number;
use crate::error::{Hint, Warning};
use crate::evaluate::missing_texts::{is_certain, unnamed};
use crate::forms::{Doubt, Form, Found, Given, Wanted, find_all, text_among};
use crate::table::{Coded, Table};

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// Columns with a form.
    pub forms: BTreeMap<String, Form>,
    /// Columns that can be read in two ways.
    pub doubts: Vec<(String, Doubt)>,
    /// Texts that mean "missing", with the number of cells.
    pub missing: BTreeMap<String, u64>,
    /// Columns of lists and structures, which have no profile.
    pub skipped: Vec<String>,
    /// Columns of numbers or dates with a few other texts.
    pub slips: Vec<Slip>,
    /// Columns of codes of two letters, where `NA` is probably one of them.
    pub codes: Vec<String>,
    /// The columns have types, as in Parquet.
    pub is_typed: bool,
}

/// A column of numbers or dates with a few other texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slip {
    /// The column.
    pub column: String,
    /// Cells with such a text.
    pub cells: u64,
    /// The first of them, counted from 0.
    pub row: u64,
    /// It is the last row of the table, and most of its cells are empty.
    pub is_total: bool,
}

/// The warnings for texts among numbers and dates. A total below the table is one for all its columns.
pub fn text_among_numbers(reading: &Reading) -> Vec<Warning> {
    let is_total = |slip: &&Slip| slip.is_total && slip.cells == 1;
    let total: Vec<&Slip> = reading.slips.iter().filter(is_total).collect();
    let total = total.first().map(|first| {
        let names: Vec<String> = total.iter().map(|slip| format!("`{}`", slip.column)).collect();
        let why = format!(
            "the last row (data row {}) looks like a total: most of its cells are empty, and it has \
             text among the numbers or dates of {}; such a table is refused",
            first.row + 1,
            names.join(", ")
        );
        Warning::new("total-row", why).hint(Hint::plain("remove the row from the table"))
    });
    let others = reading.slips.iter().filter(|slip| !is_total(slip)).map(|slip| {
        let cells = if slip.cells == 1 { "cell has" } else { "cells have" };
        let why = format!(
            "column `{}` holds numbers or dates, but {} {cells} text, the first in data row {}: such \
             a table is refused",
            slip.column,
            slip.cells,
            slip.row + 1
        );
        let kind = Hint::SetKind { column: slip.column.clone(), kind: "categorical".into() };
        Warning::new("text-in-number-column", why)
            .about_column(&slip.column)
            .hint(Hint::plain("fix the cell"))
            .hint(Hint::NameMissing { texts: Vec::new() })
            .hint(kind)
    });
    total.into_iter().chain(others).collect()
}

/// The cells of a column that are odd.
fn slip(column: &str, table: &Table, is_odd: impl Fn(&str) -> bool) -> Option<Slip> {
    let coded = table.coded(column);
    let is_odd: Vec<bool> =
        coded.values().iter().map(|value| value.as_deref().is_some_and(&is_odd)).collect();
    let mut rows = (0_u64..).zip(coded.codes().iter()).filter(|(_, code)| is_odd[*code as usize]);
    let (row, _) = rows.next()?;
    let cells = 1 + rows.count() as u64;
    let last = table.rows() - 1;
    let is_empty = |coded: &Coded| {
        let value = coded.values()[coded.codes().get(last) as usize].as_deref();
        value.is_none_or(|text| text.trim().is_empty())
    };
    let read = || table.columns().iter().filter_map(|column| column.coded.as_ref());
    let empty = read().filter(|coded| is_empty(coded)).count();
    let is_total = row == last as u64 && empty * 2 > read().count();
    Some(Slip { column: column.to_string(), cells, row, is_total })
}

/// True where `NA` is probably a code: more than one row in fifty has it, and all other values are two
/// capital letters.
fn is_code(coded: &Coded, text: &str, count: u64) -> bool {
    let mut others =
        coded.values().iter().flatten().map(|text| text.trim()).filter(|other| *other != text);
    text == "NA"
        && count * 50 > coded.codes().len() as u64
        && others.clone().count() >= FEW_CODES
        && others.all(|other| other.len() == 2 && other.bytes().all(|b| b.is_ascii_uppercase()))
}

/// So many different codes beside `NA` make it one.
const FEW_CODES: usize = 3;

/// The table with plain numbers and dates and with missing cells, as far as that can be told.
pub fn read_plainly(mut table: Table, given: &Given) -> (Table, Reading) {
    let mut reading = Reading { is_typed: !table.is_text(), ..Reading::default() };
    if table.is_text() {
        let texts = |column: &crate::table::Column| -> Vec<String> {
            if !table.may_have_form(&column.name) {
                return Vec::new();
            }
            let values = column.coded.iter().flat_map(|coded| coded.values()).flatten();
            values.cloned().collect()
        };
        let all: Vec<Vec<String>> = table.columns().iter().map(texts).collect();
        let columns: Vec<(Vec<&str>, Wanted)> = all
            .iter()
            .map(|texts| (texts.iter().map(String::as_str).collect(), Wanted::Either))
            .collect();
        let found = find_all(&columns, given);
        for ((found, column), (texts, wanted)) in
            found.into_iter().zip(table.columns()).zip(&columns)
        {
            match found {
                Found::Plain => {
                    if let Some((_, odd)) = text_among(texts, *wanted, given) {
                        reading
                            .slips
                            .extend(slip(&column.name, &table, |text| odd.contains(&text)));
                    }
                }
                Found::Form(form) => drop(reading.forms.insert(column.name.clone(), form)),
                Found::Doubt(doubt) => reading.doubts.push((column.name.clone(), doubt)),
            }
        }
        for column in table.columns_mut() {
            let Some(form) = reading.forms.get(&column.name) else { continue };
            column.coded =
                column.coded.as_ref().map(|coded| coded.respelt(|text| form.plain(text)));
        }
    }
    let mut codes = Vec::new();
    for column in table.columns() {
        let Some(coded) = &column.coded else { continue };
        let among_values = unnamed(coded, &[]);
        let mut counts = vec![0_u64; coded.values().len()];
        coded.codes().iter().for_each(|code| counts[code as usize] += 1);
        for (value, count) in coded.values().iter().zip(counts) {
            let Some(text) = value.as_deref().map(str::trim) else { continue };
            if is_code(coded, text, count) {
                codes.push(column.name.clone());
            } else if is_certain(text) || among_values.contains_key(text) {
                *reading.missing.entry(text.to_owned()).or_default() += count;
            }
        }
    }
    if !reading.missing.is_empty() {
        for column in table.columns_mut() {
            let is_missing =
                |text: &str| reading.missing.contains_key(text.trim()).then(String::new);
            column.coded = column.coded.as_ref().map(|coded| coded.respelt(is_missing));
        }
    }
    reading.codes = codes;
    for column in table.columns() {
        let Some(coded) = &column.coded else { continue };
        if matches!(guess(coded.values()), Guess::Slip(_)) {
            reading.slips.extend(slip(&column.name, &table, |text| number(text).is_none()));
        }
    }
    (table, reading)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(csv: &str) -> Reading {
        read_plainly(crate::testing::table(csv), &Given::default()).1
    }

    #[test]
    fn text_among_numbers_is_said_and_a_total_is_called_one() {
        let rows = |last: &str| {
            let mut csv = "age;height;sex;city\n".replace(';', ",");
            (0..60).for_each(|row| csv += &format!("{},{}.5,f,x\n", 20 + row, 150 + row));
            csv + last
        };
        assert!(text_among_numbers(&reading(&rows(""))).is_empty());
        let said = text_among_numbers(&reading(&rows("secret,,,\n")));
        assert_eq!((said.len(), said[0].code()), (1, "total-row"));
        assert!(said[0].to_string().contains("data row 61"), "{}", said[0]);
        let said = text_among_numbers(&reading(&rows("secret,1,f,x\n20,1,f,x\n")));
        let words = said[0].to_string();
        assert_eq!((said.len(), said[0].code()), (1, "text-in-number-column"));
        assert!(
            words.contains("column `age`")
                && words.contains("1 cell has text, the first in data row 61"),
            "{words}"
        );
        assert!(!words.contains("secret"), "{words}");
    }

    #[test]
    fn na_among_codes_of_two_letters_is_asked() {
        let provinces = |share: usize| {
            let mut csv = "provincia\n".to_string();
            let code = |row: usize| {
                if row.is_multiple_of(share) { "NA" } else { ["MI", "RM", "TO"][row % 3] }
            };
            (0..400).for_each(|row| csv += &format!("{}\n", code(row)));
            reading(&csv)
        };
        let often = provinces(10);
        assert_eq!((often.codes, often.missing.len()), (vec!["provincia".to_string()], 0));
        let rarely = provinces(100);
        assert_eq!((rarely.codes.len(), rarely.missing.len()), (0, 1));
    }
}
