//! The audit is tested with hand-made releases, with releases damaged in many ways, and against
//! slow definitions.

mod along;
mod by_hand;
mod counts;
mod cover;
mod format;
mod index;
mod mutations;
mod persons;
mod plan;
mod rings;
mod rules;

use arrow_schema::DataType;

use super::{Verdict, audit, audit_against};
use crate::request::Request;
use crate::table::{Coded, Column, Table};

/// A small generator with a seed: the same numbers for ever.
pub(super) struct Seeded(pub(super) u64);

impl Seeded {
    pub(super) fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((x ^ (x >> 31)) >> 33).unwrap() % n
    }
}

/// A table from lines of text, the names first, cells between `|`; an empty cell is missing.
fn table(lines: &[impl AsRef<str>]) -> Table {
    let cells: Vec<Vec<String>> = lines
        .iter()
        .map(|line| line.as_ref().split('|').map(|cell| cell.trim().to_string()).collect())
        .collect();
    table_of(&cells)
}

fn table_of(cells: &[Vec<String>]) -> Table {
    let (names, rows) = cells.split_first().unwrap();
    let column = |(at, name): (usize, &String)| Column {
        name: name.clone(),
        data_type: DataType::Utf8,
        coded: Some(coded(rows.iter().map(|row| row[at].as_str()))),
        passthrough: None,
    };
    Table::new(names.iter().enumerate().map(column).collect(), rows.len())
}

fn coded<'a>(cells: impl Iterator<Item = &'a str>) -> Coded {
    Coded::from_cells(cells.map(|text| Some(text).filter(|text| !text.is_empty())))
}

fn request(text: &str) -> Request {
    Request::parse(text).unwrap()
}

fn audited(release: &[&str], text: &str) -> Verdict {
    audit(&table(release), &request(text)).unwrap()
}

fn compared(release: &[&str], source: &[&str], text: &str) -> Verdict {
    audit_against(&table(release), &table(source), &request(text)).unwrap()
}
