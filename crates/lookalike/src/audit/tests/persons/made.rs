//! Small random tables with repeated persons, and true releases of them.

use std::collections::BTreeMap;

use super::super::super::{Origin, Verdict, audit_persons};
use super::super::{Seeded, request, table_of};
use crate::request::{Persons, Request};
use crate::table::Table;

/// The columns of every source after the key: two quasi-identifiers, three sensitive columns, a
/// kept one; then perhaps `n`, the counts.
pub(super) const COLUMNS: [&str; 6] = ["age", "zip", "s", "grade", "tree", "ward"];
/// The first column of a released row that is not a quasi-identifier.
pub(super) const QUASI: usize = 2;

/// The form of a case.
#[derive(Clone, Copy, Debug)]
pub(super) struct Form {
    pub(super) reading: Persons,
    pub(super) key: &'static [&'static str],
    pub(super) counted: bool,
    pub(super) pseudonyms: bool,
}

/// A source, a release of it, and the origins.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) form: Form,
    /// The person of each source row, as a number.
    pub(super) persons: Vec<usize>,
    /// Without header: key cells, [`COLUMNS`], count.
    pub(super) source: Vec<Vec<String>>,
    /// Without header: [`COLUMNS`], pseudonym, count.
    pub(super) release: Vec<Vec<String>>,
    pub(super) origins: Vec<Origin>,
}

impl Case {
    /// The names of the released columns.
    pub(super) fn released_names(&self) -> Vec<String> {
        let mut names = COLUMNS.map(String::from).to_vec();
        if self.form.pseudonyms {
            let one = self.form.key.len() == 1;
            names.push(if one { self.form.key[0] } else { "person" }.to_string());
        }
        names.extend(self.form.counted.then(|| "n".to_string()));
        names
    }

    pub(super) fn release_table(&self) -> Table {
        table_of(&[vec![self.released_names()], self.release.clone()].concat())
    }

    pub(super) fn source_table(&self) -> Table {
        let mut names: Vec<String> = self.form.key.iter().map(|name| name.to_string()).collect();
        names.extend(COLUMNS.map(String::from));
        names.extend(self.form.counted.then(|| "n".to_string()));
        table_of(&[vec![names], self.source.clone()].concat())
    }

    /// The request of this form with further lines: keys of the top, and keys of the sensitive
    /// columns.
    pub(super) fn request(&self, top: &str, sensitive: [&str; 3]) -> Request {
        let mut text = format!("persons = '{}'\n{top}\n", self.form.reading.name());
        if self.form.counted {
            text += "count = 'n'\n";
        }
        if self.form.pseudonyms {
            text += "output.pseudonyms = true\n";
        }
        text += "[columns]\nage = { role = 'quasi' }\nzip = { role = 'quasi' }\nward = { role = \
                 'keep' }\n";
        for (name, keys) in COLUMNS[QUASI..].iter().zip(sensitive) {
            text += &format!("{name} = {{ role = 'sensitive'{keys} }}\n");
        }
        for name in self.form.key {
            text += &format!("{name} = {{ role = 'person' }}\n");
        }
        request(&text)
    }

    pub(super) fn audited(&self, request: &Request) -> Verdict {
        audit_persons(&self.release_table(), &self.source_table(), request, &self.origins).unwrap()
    }

    /// The number of rows of a released or source row.
    pub(super) fn count(&self, row: &[String]) -> u32 {
        if self.form.counted { row.last().unwrap().parse().unwrap() } else { 1 }
    }
}

/// The key cells of a person; in two columns, some of them missing.
fn key(form: Form, person: usize) -> Vec<String> {
    match form.key.len() {
        1 => vec![format!("p{person}")],
        _ => {
            let cells =
                [("a", "1"), ("a", "2"), ("a", ""), ("", "1"), ("b", "1"), ("", "a"), ("b", "")];
            let (one, other) = cells[person % cells.len()];
            let round = person / cells.len();
            let or_none = |text: &str| {
                if text.is_empty() { String::new() } else { format!("{text}{round}") }
            };
            vec![or_none(one), or_none(other)]
        }
    }
}

fn pick(seeded: &mut Seeded, texts: &[&str]) -> String {
    texts[seeded.below(texts.len())].to_string()
}

/// A random case. `suppress` allows that persons or rows are not released.
pub(super) fn case(seeded: &mut Seeded, form: Form, people: usize, suppress: bool) -> Case {
    let rows = people + seeded.below(2 * people + 1);
    let mut persons: Vec<usize> = (0..rows).map(|_| seeded.below(people)).collect();
    persons[0] = 0;
    let steady = seeded.below(3) == 0;
    let source: Vec<Vec<String>> = persons
        .iter()
        .map(|&person| {
            let mut row = key(form, person);
            let age = if steady { person % 4 } else { seeded.below(4) };
            row.push((20 + age).to_string());
            row.push(pick(seeded, &["x", "x", "y"]));
            row.push(pick(seeded, &["u", "u", "v", "w", ""]));
            row.push(pick(seeded, &["1", "2", "3", "1.0"]));
            row.push(pick(seeded, &["a1", "a2", "b1", "b2"]));
            row.push(pick(seeded, &["n", "s"]));
            row.extend(form.counted.then(|| (1 + seeded.below(3)).to_string()));
            row
        })
        .collect();
    let groups = 1 + seeded.below(3);
    let place = |seeded: &mut Seeded| {
        let is_gone = suppress && seeded.below(8) == 0;
        (!is_gone).then(|| seeded.below(groups))
    };
    let of_person: Vec<Option<usize>> = (0..people).map(|_| place(seeded)).collect();
    // Every unit of every row: source row and group.
    let mut units: Vec<(usize, usize)> = Vec::new();
    let mut case = Case { form, persons, source, release: Vec::new(), origins: Vec::new() };
    for (at, row) in case.source.iter().enumerate() {
        for _ in 0..case.count(row) {
            let group = match form.reading {
                Persons::Whole => of_person[case.persons[at]],
                Persons::Rows => place(seeded),
            };
            units.extend(group.map(|group| (at, group)));
        }
    }
    if units.is_empty() {
        return self::case(seeded, form, people, suppress);
    }
    publish(seeded, &mut case, &units);
    case
}

/// Publishes the units: each group shows the range of its ages and one zip or any.
fn publish(seeded: &mut Seeded, case: &mut Case, units: &[(usize, usize)]) {
    let keys = case.form.key.len();
    let mut cells: BTreeMap<usize, [String; 2]> = BTreeMap::new();
    let mut groups: Vec<usize> = units.iter().map(|unit| unit.1).collect();
    groups.sort_unstable();
    groups.dedup();
    for group in groups {
        let members = || units.iter().filter(|unit| unit.1 == group).map(|unit| unit.0);
        let ages = || members().map(|at| case.source[at][keys].clone());
        let (lo, hi) = (ages().min().unwrap(), ages().max().unwrap());
        let age = match seeded.below(5) {
            0 => "*".to_string(),
            _ if lo == hi => lo,
            _ => format!("[{lo}-{hi}]"),
        };
        let mut zips: Vec<String> = members().map(|at| case.source[at][keys + 1].clone()).collect();
        zips.sort();
        zips.dedup();
        let zip = if zips.len() == 1 { zips.remove(0) } else { "*".to_string() };
        cells.insert(group, [age, zip]);
    }
    let mut pseudonyms: Vec<usize> = (0..case.persons.len()).collect();
    (1..pseudonyms.len()).for_each(|at| pseudonyms.swap(at, seeded.below(at + 1)));
    let shown = |&(at, group): &(usize, usize)| {
        let mut row = cells[&group].to_vec();
        row.extend_from_slice(&case.source[at][keys + QUASI..keys + COLUMNS.len()]);
        if case.form.pseudonyms {
            row.push((1000 + pseudonyms[case.persons[at]]).to_string());
        }
        row
    };
    let mut released: Vec<(Vec<String>, BTreeMap<usize, u32>)> = Vec::new();
    for unit in units {
        let row = shown(unit);
        let known = released.iter().position(|(other, _)| case.form.counted && *other == row);
        let at = known.unwrap_or_else(|| {
            released.push((row, BTreeMap::new()));
            released.len() - 1
        });
        *released[at].1.entry(unit.0).or_default() += 1;
    }
    (1..released.len()).for_each(|at| released.swap(at, seeded.below(at + 1)));
    for (mut row, from) in released {
        let number = u32::try_from(case.release.len()).unwrap();
        if case.form.counted {
            row.push(from.values().sum::<u32>().to_string());
        }
        case.release.push(row);
        case.origins.extend(from.into_iter().map(|(at, count)| Origin {
            released: number,
            source: u32::try_from(at).unwrap(),
            count,
        }));
    }
    let mut shuffled = std::mem::take(&mut case.origins);
    (1..shuffled.len()).for_each(|at| shuffled.swap(at, seeded.below(at + 1)));
    case.origins = shuffled;
}

/// All forms, one after the other.
pub(super) fn form(number: usize) -> Form {
    let reading = if number.is_multiple_of(2) { Persons::Whole } else { Persons::Rows };
    Form {
        reading,
        key: if (number / 2).is_multiple_of(2) { &["id"] } else { &["id", "site"] },
        counted: (number / 4).is_multiple_of(2),
        pseudonyms: reading == Persons::Whole && (number / 8).is_multiple_of(2),
    }
}
