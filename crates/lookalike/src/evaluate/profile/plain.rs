//! A table as it is read: forms of numbers and dates found, texts for "missing" found.

use std::collections::BTreeMap;

use crate::evaluate::missing_texts::{is_certain, unnamed};
use crate::forms::{Doubt, Form, Found, Given, Wanted, find_all};
use crate::table::Table;

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
}

/// The table with plain numbers and dates and with missing cells, as far as that can be told.
pub fn read_plainly(mut table: Table, given: &Given) -> (Table, Reading) {
    let mut reading = Reading::default();
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
        for (found, column) in find_all(&columns, given).into_iter().zip(table.columns()) {
            match found {
                Found::Plain => {}
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
    for column in table.columns() {
        let Some(coded) = &column.coded else { continue };
        let among_values = unnamed(coded, &[]);
        let mut counts = vec![0_u64; coded.values().len()];
        coded.codes().iter().for_each(|code| counts[code as usize] += 1);
        for (value, count) in coded.values().iter().zip(counts) {
            let Some(text) = value.as_deref().map(str::trim) else { continue };
            if is_certain(text) || among_values.contains_key(text) {
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
    (table, reading)
}
