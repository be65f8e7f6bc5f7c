//! A first look at a table: the values of each column, its probable role, and the number of unique
//! rows.
//!
//! A suggestion is a guess with its reason; a person decides. Where a guess may be wrong, it errs
//! on the safe side: a column with an unknown name is suggested as a quasi-identifier or as an
//! identifier, and kept only when every row has the same value. Reasons mention names and counts,
//! never a cell.

mod far_codes;
mod keys;
mod mixed_dates;
mod persons;
mod plain;
mod rank;
mod roles;
mod words;

pub use far_codes::far_codes;
pub use mixed_dates::mixed_dates;
pub use persons::{person_columns, repeated_in, repeated_persons, similar_persons};
pub use plain::{Reading, Slip, read_plainly, text_among_numbers};
pub use rank::ranked;
pub(super) use roles::person_word;

use std::fmt::Write;

use arrow_schema::DataType;
use serde::Serialize;

use crate::codes::RowId;
use crate::domain::encode;
use crate::domain::kind::{Guess, guess};
use crate::domain::parse::number;
use crate::request::{Input, Kind, Role};
use crate::table::{Coded, Table};

/// The values of a column in numbers, and its probable role.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ColumnProfile {
    /// The column's name.
    pub name: String,
    /// Rows of the table.
    pub rows: u64,
    /// Rows without a value in this column.
    pub missing: u64,
    /// Distinct values, the missing one not counted.
    pub distinct: u64,
    /// The share of all rows whose value no other row has; missing values are not unique.
    pub unique_share: f64,
    /// The kind of its values by their form: numbers, dates, or labels.
    pub looks: Kind,
    /// The suggested role.
    pub role: Role,
    /// The reason for the suggestion, in words.
    pub reason: String,
    /// Suggested keys for its line in a configuration, in TOML, such as `hierarchy = { prefix =
    /// [4, 3, 2] }`.
    pub keys: Option<String>,
    /// Other keys that may be better.
    pub hint: Option<String>,
    /// It is dropped unless somebody decides otherwise: it costs more than it says.
    pub is_open: bool,
    /// The place of a suggested quasi-identifier, counted from 1: those first that others know first,
    /// within them those that make most rows unique.
    pub rank: Option<u32>,
    /// Of a quasi-identifier: the share of rows that are unique on the other suggested ones; of an
    /// open one, with it.
    pub unique_others: Option<f64>,
    /// Of a quasi-identifier: the share of rows that are unique on all suggested ones.
    pub unique_together: Option<f64>,
    /// The group of a quasi-identifier among those that others know.
    #[serde(skip)]
    pub group: usize,
    /// Rows with the most frequent value, which may be the missing one.
    #[serde(skip)]
    pub commonest: u64,
}

/// Profiles every column. All must be coded.
///
/// # Example
/// ```
/// # use lookalike::{evaluate::profile::profile, request::Role, table::{self, Treatment}};
/// let csv = "surname,age,diagnosis\nLee,34,flu\nKim,36,flu\nRoy,34,gout\n".to_string();
/// let table = table::open_text(csv, "data.csv".as_ref())?.read(&[Treatment::Code; 3])?;
/// let roles: Vec<Role> = profile(&table).iter().map(|column| column.role).collect();
/// assert_eq!(roles, [Role::Identifier, Role::Quasi, Role::Sensitive]);
/// # Ok::<(), lookalike::Error>(())
/// ```
pub fn profile(table: &Table) -> Vec<ColumnProfile> {
    let mut profiles: Vec<ColumnProfile> = table
        .columns()
        .iter()
        .map(|column| column_profile(&column.name, &column.data_type, table.coded(&column.name)))
        .collect();
    // A table has one sampling weight; its replicates would single every row out.
    let others = profiles.iter_mut().filter(|profile| profile.role == Role::Weight).skip(1);
    for profile in others {
        profile.role = Role::Identifier;
        profile.reason = "another weight of the survey: together they point at one row".to_string();
    }
    open_weights(&mut profiles);
    one_rule(&mut profiles);
    persons::suggest_key(&mut profiles);
    rank::rank(table, &mut profiles);
    profiles
}

fn column_profile(name: &str, data_type: &DataType, coded: &Coded) -> ColumnProfile {
    let mut counts = vec![0_u64; coded.values().len()];
    coded.codes().iter().for_each(|code| counts[code as usize] += 1);
    let (mut missing, mut distinct, mut alone) = (0, 0, 0);
    for (value, &count) in coded.values().iter().zip(&counts) {
        match value {
            None => missing += count,
            Some(_) => {
                distinct += u64::from(count > 0);
                alone += u64::from(count == 1);
            }
        }
    }
    let rows = coded.codes().len() as u64;
    let looks = looks(data_type, coded);
    let unique_share = share(alone, rows);
    let commonest = counts.iter().copied().max().unwrap_or(0);
    let (is_positive, is_no_scale) = positive_numbers(coded);
    let has_calendar = looks == Kind::Date && encode::has_calendar(name, coded);
    let suggested = roles::suggest(
        name,
        &roles::ColumnFacts {
            values: coded.values(),
            rows,
            missing,
            distinct,
            alone,
            commonest,
            looks,
            is_positive,
            is_no_scale,
            has_calendar,
        },
    );
    let roles::Suggested { role, mut reason, keys, group, is_open } = suggested;
    if let Guess::Slip(at) = guess(coded.values()) {
        reason += &format!("; looks numeric, but data row {} has text", coded.first_row()[at] + 1);
    }
    ColumnProfile {
        name: name.to_string(),
        rows,
        missing,
        distinct,
        unique_share,
        looks,
        role,
        reason,
        keys: keys.suggested,
        hint: keys.other,
        is_open,
        rank: None,
        unique_others: None,
        unique_together: None,
        group,
        commonest,
    }
}

/// A rule on one sensitive column, the one whose most frequent value is the rarest: each further rule
/// costs detail of all columns. On the others it is another way to write the line.
fn one_rule(profiles: &mut [ColumnProfile]) {
    let has_rule = |profile: &ColumnProfile| {
        profile.role == Role::Sensitive
            && !profile.is_open
            && profile.keys.as_deref() == Some(roles::SECOND_VALUE)
    };
    let ruled = (0..profiles.len()).filter(|&at| has_rule(&profiles[at]));
    let cheapest = ruled.min_by_key(|&at| profiles[at].commonest);
    for (at, profile) in profiles.iter_mut().enumerate() {
        if has_rule(profile) && Some(at) != cheapest {
            profile.hint = profile.keys.take();
        }
    }
}

/// A weight that many rows have for themselves points at one person as a name does: it is left out
/// unless somebody decides otherwise.
fn open_weights(profiles: &mut [ColumnProfile]) {
    for profile in profiles.iter_mut() {
        if profile.role == Role::Weight && profile.unique_share > FEW_OWN {
            profile.is_open = true;
            profile.reason += "; many rows have a value of their own, which points at one person: round it \
                               in the table before you take it in";
        }
    }
}

/// The share of rows with a weight of their own below which it is published.
const FEW_OWN: f64 = 0.01;

/// Whether all values are numbers above 0, and whether no scale for persons shows them: most have
/// at least three decimals, and some are below 1 or above 1,000.
fn positive_numbers(coded: &Coded) -> (bool, bool) {
    let values = || coded.values().iter().flatten();
    let numbers = || values().filter_map(|text| number(text));
    let decimals = |text: &String| text.trim().split_once('.').map_or(0, |(_, part)| part.len());
    let fine = values().filter(|text| decimals(text) >= 3).count();
    let is_beyond = numbers().any(|number| !(1.0..=1_000.0).contains(&number));
    let is_positive = numbers().filter(|number| *number > 0.0).count() == values().count();
    (is_positive, is_beyond && fine * 2 > values().count())
}

#[allow(clippy::cast_precision_loss, reason = "a share is for reading")]
fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// The kind that the search will use: numbers, dates or labels.
fn looks(data_type: &DataType, coded: &Coded) -> Kind {
    if data_type.is_numeric() {
        return Kind::Numeric;
    }
    if matches!(data_type, DataType::Date32 | DataType::Date64 | DataType::Timestamp(..)) {
        return Kind::Date;
    }
    match guess(coded.values()) {
        Guess::Kind(kind) => kind,
        // The user has to fix the cell or name the kind; the reason says so.
        Guess::Slip(_) => Kind::Numeric,
    }
}

/// Uniqueness of the rows of a table in some columns, or of the persons where a column names them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Uniqueness {
    /// The columns taken together.
    pub columns: Vec<String>,
    /// Rows of the table.
    pub rows: u64,
    /// Persons of the table; none where no column names them. Then all further numbers count
    /// persons, each once.
    pub persons: Option<u64>,
    /// Equivalence classes: distinct combinations of values.
    pub classes: u64,
    /// Rows whose combination no other row has; persons who are alone in one of their classes.
    pub uniques: u64,
    /// The share of unique rows.
    pub share: f64,
    /// Rows in the smallest class: the k that the table has already. 0 for an empty table.
    pub smallest: u64,
    /// Rows in classes of fewer than five rows; persons who are in such a class.
    pub below_five: u64,
}

/// Groups the rows by all these columns at once; a missing value is a value. `person` is the column
/// that names the person of a row, if there is one. Panics if a column is absent or was not coded.
///
/// Sorts the row numbers by one column after the other, keeping the order so far among equals, then
/// compares neighbours: exact, and linear in rows.
pub fn uniqueness(table: &Table, columns: &[String], person: Option<&str>) -> Uniqueness {
    let coded: Vec<&Coded> = columns.iter().map(|name| table.coded(name)).collect();
    let person = person.map(|name| table.coded(name));
    let rows = RowId::try_from(table.rows()).expect("row numbers have 32 bits");
    let mut order: Vec<RowId> = (0..rows).collect();
    let mut sorted = vec![0; table.rows()];
    // By person first: the rows of a person are then side by side in each class.
    for column in person.iter().chain(&coded) {
        // Counting sort, stable: where the rows of each code begin, then every row to its place.
        let mut next = vec![0_usize; column.values().len() + 1];
        column.codes().iter().for_each(|code| next[code as usize + 1] += 1);
        (1..next.len()).for_each(|code| next[code] += next[code - 1]);
        for &row in &order {
            let place = &mut next[column.codes().get(row as usize) as usize];
            sorted[*place] = row;
            *place += 1;
        }
        std::mem::swap(&mut order, &mut sorted);
    }
    let same = |a: &RowId, b: &RowId| {
        coded
            .iter()
            .all(|column| column.codes().get(*a as usize) == column.codes().get(*b as usize))
    };
    let (mut classes, mut uniques, mut below_five, mut smallest) = (0, 0, 0, u64::from(rows));
    // The smallest class of each person, up to five.
    let mut least = vec![5_u64; person.map_or(0, |person| person.values().len())];
    for class in order.chunk_by(same) {
        let size = match person {
            None => class.len() as u64,
            Some(person) => {
                let person_of = |row: &RowId| person.codes().get(*row as usize);
                let size = class.chunk_by(|a, b| person_of(a) == person_of(b)).count() as u64;
                for row in class.iter().filter(|_| size < 5) {
                    let least = &mut least[person_of(row) as usize];
                    *least = size.min(*least);
                }
                size
            }
        };
        classes += 1;
        if person.is_none() {
            uniques += u64::from(size == 1);
            below_five += if size < 5 { size } else { 0 };
        }
        smallest = smallest.min(size);
    }
    uniques += least.iter().filter(|least| **least == 1).count() as u64;
    below_five += least.iter().filter(|least| **least < 5).count() as u64;
    let persons = person.map(|person| person.values().len() as u64);
    let share = share(uniques, persons.unwrap_or(rows.into()));
    Uniqueness {
        columns: columns.to_vec(),
        rows: rows.into(),
        persons,
        classes,
        uniques,
        share,
        smallest,
        below_five,
    }
}

/// A configuration with a role for every column, and reasons and alternatives as comments.
/// `input` says where the table is, and how it was read; `reading` what was found in it.
pub fn to_toml(input: &Input, reading: &Reading, profiles: &[ColumnProfile]) -> String {
    let mut text = String::new();
    for warning in repeated_in(profiles).into_iter().chain(text_among_numbers(reading)) {
        text += &format!("# WARNING: {warning}\n");
    }
    text += "# Suggested roles: read each reason and decide.\n\
         #   quasi       could be joined with outside data: generalized\n\
         #   sensitive   must not be inferred: published as it is\n\
         #   identifier  names a person: dropped\n\
         #   person      names the person of each row: k counts persons; dropped\n\
         #   keep        published as it is\n\
         #   weight      sampling weight of a survey: published as it is\n\
         # A line that begins with #~ is another way to write the line above it: remove that line and #~.\n\
         version = 1\n\
         k = 5\n";
    let is_open = profiles.iter().any(|profile| profile.is_open) || !reading.skipped.is_empty();
    if is_open {
        text += "rest = \"drop\"  # columns without a line below\n";
    }
    if !reading.missing.is_empty() {
        let texts: Vec<String> = reading.missing.keys().map(|text| quoted(text)).collect();
        let cells: u64 = reading.missing.values().sum();
        writeln!(text, "missing = [{}]  # {cells} cells", texts.join(", ")).expect("room");
    }
    for name in &reading.codes {
        let name = key(name);
        writeln!(text, "# {name} has NA beside other codes of two letters: if it means missing, add it to `missing`")
            .expect("room");
    }
    text += &format!("\n{}", input_section(input));
    let has_steps = |profile: &ColumnProfile| {
        let keys = profile.keys.as_deref().unwrap_or_default();
        !profile.is_open && (keys.contains("date = ") || keys.contains("intervals = "))
    };
    let snap = "snap = true  # publish months, years and bands, not exact dates and ages; numbers \
                without a hierarchy keep exact ends\n";
    let snap = if profiles.iter().any(has_steps) { snap } else { "" };
    let path = released_name(input, reading).map(|name| format!("path = {}\n", quoted(&name)));
    let has_persons = profiles.iter().any(|profile| profile.role == Role::Person);
    let proof = beside(input, "proof.csv").filter(|_| has_persons);
    let why = "# whose row is whose: as secret as the table; verify and report read it";
    let proof = proof.map(|name| format!("proof = {}  {why}\n", quoted(&name)));
    let output = path.unwrap_or_default() + &proof.unwrap_or_default() + snap;
    if !output.is_empty() {
        text += &format!("[output]\n{output}\n");
    }
    text += "[columns]\n";
    let profiles = ranked(profiles);
    let keys: Vec<String> = profiles.iter().map(|profile| key(&profile.name)).collect();
    let width = keys.iter().map(|key| key.chars().count().min(30)).max().unwrap_or(0);
    let lines = |text: &mut String, is_wanted: &dyn Fn(&ColumnProfile) -> bool| {
        for (key, profile) in keys.iter().zip(&profiles).filter(|(_, profile)| is_wanted(profile)) {
            line(text, &format!("{key:width$}"), profile, reading);
        }
    };
    let ranked = profiles.iter().filter(|profile| profile.role == Role::Quasi && !profile.is_open);
    if ranked.count() > 1 {
        text += "# Quasi-identifiers, those first that others know first.\n";
    }
    lines(&mut text, &|profile| profile.role == Role::Quasi && !profile.is_open);
    lines(&mut text, &|profile| profile.role != Role::Quasi && !profile.is_open);
    if is_open {
        text += "\n# Drop or keep? These are dropped; remove #? in front of one to have it.\n";
        lines(&mut text, &|profile| profile.is_open);
        for name in &reading.skipped {
            let why = "lists or structures: nobody has looked for persons in it";
            writeln!(text, "#? {} = {{ role = \"keep\", reason = '{why}' }}", key(name))
                .expect("room");
        }
    }
    text
}

/// The name of the release beside the configuration: `patients-safe.csv`; none where the table has
/// no name.
fn released_name(input: &Input, reading: &Reading) -> Option<String> {
    let path = input.path.as_ref()?;
    let end = match path.extension().map(|end| end.to_ascii_lowercase()) {
        Some(end) if end == "parquet" || end == "pq" => "parquet",
        Some(end) if end == "arrow" || end == "feather" || end == "ipc" => "arrow",
        // A folder of Parquet files.
        None if reading.is_typed => "parquet",
        _ => "csv",
    };
    beside(input, &format!("safe.{end}"))
}

/// The name of a file beside the configuration, after that of the table: `patients-safe.csv`.
fn beside(input: &Input, end: &str) -> Option<String> {
    let path = input.path.as_ref().filter(|path| path.as_os_str() != "-")?;
    let name = path.file_name()?.to_string_lossy();
    let stem = |name: &str| name.split('.').next().unwrap_or_default().replace('*', "");
    // Of `visits/*.parquet` the folder has the name.
    let folder = path.parent().and_then(|folder| folder.file_name());
    let folder = folder.map(|folder| stem(&folder.to_string_lossy()));
    let of_all = folder.filter(|stem| !stem.is_empty()).unwrap_or("table".to_string());
    let own = match stem(&name) {
        own if !own.is_empty() => own,
        _ if name.contains('*') => of_all,
        _ => name.split('.').find(|part| !part.is_empty())?.to_string(),
    };
    Some(format!("{own}-{end}"))
}

/// The line of a column, and another way to write it.
fn line(text: &mut String, key: &str, profile: &ColumnProfile, reading: &Reading) {
    let is_rounded = profile.keys.as_ref().is_some_and(|keys| keys.contains("round = "));
    let has_form = is_rounded || matches!(profile.role, Role::Quasi | Role::Weight);
    let form = reading.forms.get(&profile.name).filter(|_| has_form);
    let form = form.map(|form| format!(", format = {}", quoted(&form.to_string())));
    let form = form.unwrap_or_default();
    let value = |keys: &Option<String>| {
        let keys = keys.as_ref().map(|keys| format!(", {keys}")).unwrap_or_default();
        let reason = literal(&profile.reason);
        format!("{{ role = \"{}\"{form}{keys}, reason = {reason} }}", profile.role.name())
    };
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    let shares = match (profile.unique_others, profile.unique_together) {
        (Some(with), Some(all)) if profile.is_open => {
            format!("  # unique rows: {} with it, {} without", percent(with), percent(all))
        }
        (Some(without), Some(all)) => {
            format!("  # unique rows: {} without it, {} with it", percent(without), percent(all))
        }
        _ => String::new(),
    };
    let mark = if profile.is_open { "#? " } else { "" };
    writeln!(text, "{mark}{key} = {}{shares}", value(&profile.keys)).expect("room");
    if profile.hint.is_some() && !profile.is_open {
        writeln!(text, "#~ {} = {}", key.trim_end(), value(&profile.hint)).expect("room");
    }
}

/// A TOML key: bare where that is allowed.
fn key(name: &str) -> String {
    let bare = !name.is_empty()
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    if bare { name.to_string() } else { quoted(name) }
}

/// The part of a configuration about the source; empty where there is nothing to say.
fn input_section(input: &Input) -> String {
    let names: Vec<String> = input.names.iter().map(|name| quoted(name)).collect();
    let keys = [
        ("path", input.path.as_ref().map(|path| quoted(&path.to_string_lossy()))),
        ("delimiter", input.delimiter.map(|delimiter| quoted(&delimiter.to_string()))),
        ("encoding", input.encoding.as_deref().map(quoted)),
        ("names", (!names.is_empty()).then(|| format!("[{}]", names.join(", ")))),
        ("header", input.header.then(|| "true".to_string())),
        ("sheet", input.sheet.as_deref().map(quoted)),
        ("decimal", input.decimal.map(|sign| quoted(&sign.to_string()))),
        ("thousands", input.thousands.map(|sign| quoted(&sign.to_string()))),
        ("date_format", input.date_format.as_ref().map(|form| quoted(&form.to_string()))),
    ];
    let lines = keys.into_iter().filter_map(|(key, value)| Some(format!("{key} = {}\n", value?)));
    let lines: String = lines.collect();
    if lines.is_empty() { lines } else { format!("[input]\n{lines}\n") }
}

/// A TOML string that is read as it stands, where it can be one.
fn literal(text: &str) -> String {
    let is_plain = !text.contains('\'') && !text.contains(char::is_control);
    if is_plain { format!("'{text}'") } else { quoted(text) }
}

/// A TOML string on one line, whatever is in it.
fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => {
                write!(quoted, "\\u{:04X}", u32::from(c)).expect("a string takes all")
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;

    use arrow_array::cast::AsArray;

    use super::*;
    use crate::request::Request;
    use crate::rng::Rng;
    use crate::synthetic::{Synthetic, batch};
    use crate::table::Column;

    fn at(path: &Path) -> Input {
        Input { path: Some(path.to_path_buf()), ..Input::default() }
    }

    fn column<'a>(name: &str, cells: impl IntoIterator<Item = &'a str>) -> Column {
        let cells = cells.into_iter().map(|cell| Some(cell).filter(|cell| !cell.is_empty()));
        let coded = Coded::from_cells(cells);
        Column {
            name: name.to_string(),
            data_type: DataType::Utf8,
            coded: Some(coded),
            passthrough: None,
        }
    }

    /// The cell of a row.
    type CellOfRow = fn(usize) -> String;

    /// Columns of 400 rows: a name, and a value for each row number.
    fn table(columns: &[(&str, CellOfRow)]) -> Table {
        let cells = |value: CellOfRow| (0..400).map(value).collect::<Vec<String>>();
        let column = |(name, value): &(&str, CellOfRow)| {
            column(name, cells(*value).iter().map(String::as_str))
        };
        Table::new(columns.iter().map(column).collect(), 400)
    }

    fn roles(profiles: &[ColumnProfile]) -> Vec<(&str, Role)> {
        profiles.iter().map(|profile| (profile.name.as_str(), profile.role)).collect()
    }

    fn label(row: usize) -> String {
        format!("label {}", row % 7)
    }

    fn code(row: usize) -> String {
        (row % 7 + 1).to_string()
    }

    fn own(row: usize) -> String {
        (row * 7_919 + 10_000).to_string()
    }

    #[test]
    fn the_columns_of_adult_get_sensible_roles() {
        let adult = table(&[
            ("age", |row| (17 + row % 60).to_string()),
            ("workclass", label),
            ("fnlwgt", own),
            ("education", label),
            ("education-num", code),
            ("marital-status", label),
            ("occupation", label),
            ("relationship", label),
            ("race", label),
            ("sex", label),
            ("capital-gain", code),
            ("capital-loss", code),
            ("hours-per-week", code),
            ("native-country", label),
            ("salary-class", label),
        ]);
        for (name, role) in roles(&profile(&adult)) {
            let expected = match name {
                "fnlwgt" => Role::Weight,
                "capital-gain" | "capital-loss" | "salary-class" => Role::Sensitive,
                _ => Role::Quasi,
            };
            assert_eq!(role, expected, "{name}");
        }
    }

    #[test]
    fn the_codes_of_the_community_survey_are_known() {
        let names = "STATE PUMA AGEP SEX RAC1P HISP CIT SCHL MAR COW ESR OCCP INDP WKHP MIL HICOV \
            DIS PINCP";
        let columns: Vec<(&str, CellOfRow)> =
            names.split(' ').map(|name| (name, code as CellOfRow)).collect();
        for profile in profile(&table(&columns)) {
            let expected = if ["HICOV", "DIS", "PINCP"].contains(&&*profile.name) {
                Role::Sensitive
            } else {
                Role::Quasi
            };
            assert_eq!(profile.role, expected, "{}", profile.name);
            assert!(profile.reason.contains("in its name"), "{}: {}", profile.name, profile.reason);
        }
    }

    #[test]
    fn words_are_found_in_names_of_any_spelling() {
        let cases = [
            ("firstName", Role::Identifier),
            ("Last Name", Role::Identifier),
            ("patient_id", Role::Identifier),
            ("PatientID", Role::Identifier),
            ("e-mail", Role::Identifier),
            ("name", Role::Identifier),
            ("name of patient", Role::Identifier),
            ("MRN", Role::Identifier),
            ("street", Role::Identifier),
            ("patient", Role::Identifier),
            ("doctor's notes", Role::Identifier),
            ("country_name", Role::Quasi),
            ("DateOfBirth", Role::Quasi),
            ("date_of_diagnosis", Role::Quasi),
            ("age at death", Role::Quasi),
            ("ZIPCode", Role::Quasi),
            ("zip5", Role::Quasi),
            ("number of children", Role::Quasi),
            ("number_of_tickets", Role::Quasi),
            ("HIVStatus", Role::Sensitive),
            ("icd10_code", Role::Sensitive),
            ("Diagnoses", Role::Sensitive),
            ("medications", Role::Sensitive),
            ("test result", Role::Sensitive),
            ("annualIncome", Role::Sensitive),
        ];
        for (name, role) in cases {
            assert_eq!(profile(&table(&[(name, label)]))[0].role, role, "{name}");
        }
    }

    #[test]
    fn unknown_names_are_judged_by_their_values() {
        let unknown = table(&[
            ("constant", |_| "x".to_string()),
            ("empty", |_| String::new()),
            ("half", |row| if row % 2 == 0 { String::new() } else { "x".to_string() }),
            ("few", label),
            ("texts", |row| format!("text {row}")),
            ("pairs", |row| format!("text {}", row * 3 / 5)),
            ("numbers", own),
            ("sparse", |row| if row % 2 == 0 { String::new() } else { format!("text {row}") }),
            ("days", |row| format!("2024-01-{:02}", row % 28 + 1)),
        ]);
        let expected = [
            ("constant", Role::Keep),
            ("empty", Role::Keep),
            ("half", Role::Quasi),
            ("few", Role::Quasi),
            ("texts", Role::Identifier),
            ("pairs", Role::Identifier),
            ("numbers", Role::Identifier),
            ("sparse", Role::Identifier),
            ("days", Role::Quasi),
        ];
        assert_eq!(roles(&profile(&unknown)), expected);
    }

    #[test]
    fn a_sensitive_text_that_nobody_shares_is_not_published() {
        let profiles = profile(&table(&[
            ("diagnosis", |row| format!("text {row}")),
            ("salary", own),
            ("treatment", |row| format!("2024-02-{:02}", 1 + row % 9)),
            ("country", |_| "US".into()),
        ]));
        assert_eq!(
            roles(&profiles),
            [
                ("diagnosis", Role::Identifier),
                ("salary", Role::Sensitive),
                ("treatment", Role::Quasi),
                ("country", Role::Keep)
            ]
        );
        assert!(profiles[1].is_open && profiles[1].reason.contains("take it in rounded"));
        let keys = profiles[1].keys.as_deref().unwrap_or_default();
        assert!(keys.starts_with("round = ") && keys.ends_with(", distinct = 2"), "{keys}");
    }

    #[test]
    fn a_number_of_a_claim_is_no_sensitive_value_but_a_code_of_a_diagnosis_is() {
        let profiles = profile(&table(&[
            ("claim_id", own),
            ("visit no", |row| (1_000 + row / 2 * 3 / 2).to_string()),
            ("test number", |row| format!("T{row}")),
            ("test number (of 7)", code),
            ("number of visits", own),
            ("diagnosis id", code),
        ]));
        use Role::{Identifier, Quasi, Sensitive};
        let found: Vec<Role> = profiles.iter().map(|profile| profile.role).collect();
        assert_eq!(found, [Identifier, Quasi, Identifier, Sensitive, Quasi, Sensitive]);
    }

    #[test]
    fn counts_are_of_values_and_of_rows() {
        let columns = vec![column("a", ["x", "", "y", "x", "", "z"])];
        let [a] = &profile(&Table::new(columns, 6))[..] else { panic!("one column") };
        assert_eq!((a.rows, a.missing, a.distinct), (6, 2, 3));
        assert!((a.unique_share - 2.0 / 6.0).abs() < 1e-12);
    }

    #[test]
    fn the_form_of_all_values_decides_what_a_column_looks_like() {
        let looks = |cells: &[&str]| {
            profile(&Table::new(vec![column("a", cells.iter().copied())], cells.len()))[0].looks
        };
        assert_eq!(looks(&["1", "-2.5", "", "1e3", "0", "0.5", "+4", " 7 "]), Kind::Numeric);
        for other in ["007", "00", "inf", "nan", "1,5", "-", "0x10", "2024-01-01"] {
            assert_eq!(looks(&["1", other]), Kind::Categorical, "{other}");
        }
        assert_eq!(looks(&["2024-02-29", "1899-12-31", ""]), Kind::Date);
        assert_eq!(
            looks(&[
                "2024-02-29T10:00:00",
                "2024-02-29 10:00:00.5",
                "2024-02-29T10:00:00Z",
                "2024-02-29T10:00+02:00"
            ]),
            Kind::Date
        );
        assert_eq!(looks(&["2023-02-29"]), Kind::Categorical);
        assert_eq!(looks(&["2024-02-29", "x"]), Kind::Categorical);
        assert_eq!(looks(&["", ""]), Kind::Categorical);
    }

    #[test]
    fn uniqueness_agrees_with_counting_tuples_of_text() {
        let mut rng = Rng::new(8);
        for (rows, values) in [(0, 1), (1, 1), (50, 2), (300, 5), (300, 300)] {
            let mut cells =
                || (0..rows).map(|_| rng.below(values).to_string()).collect::<Vec<String>>();
            let texts = [cells(), cells(), cells()];
            let names = ["a", "b", "c"];
            let columns = names
                .iter()
                .zip(&texts)
                .map(|(name, text)| column(name, text.iter().map(String::as_str)))
                .collect();
            let table = Table::new(columns, rows);
            for taken in [&names[..], &names[1..], &names[..1], &[]] {
                let mut counts: BTreeMap<Vec<&str>, u64> = BTreeMap::new();
                for row in 0..rows {
                    let of_interest =
                        names.iter().zip(&texts).filter(|(name, _)| taken.contains(name));
                    let tuple = of_interest.map(|(_, text)| text[row].as_str()).collect();
                    *counts.entry(tuple).or_default() += 1;
                }
                let columns: Vec<String> = taken.iter().map(ToString::to_string).collect();
                let found = uniqueness(&table, &columns, None);
                // Whoever has a row of their own is a person.
                let own: Vec<String> = (0..rows).map(|row| row.to_string()).collect();
                let id = column("id", own.iter().map(String::as_str));
                let named = Table::new(table.columns().iter().cloned().chain([id]).collect(), rows);
                let persons = uniqueness(&named, &columns, Some("id"));
                let alike = Uniqueness { persons: Some(rows as u64), ..found.clone() };
                assert_eq!(persons, alike);
                let below =
                    |limit: u64| counts.values().filter(|&&count| count < limit).sum::<u64>();
                assert_eq!(
                    (found.rows, found.classes, found.uniques),
                    (rows as u64, counts.len() as u64, below(2))
                );
                assert_eq!(
                    (found.below_five, found.smallest),
                    (below(5), counts.values().copied().min().unwrap_or(0))
                );
                assert!((found.share * rows as f64 - below(2) as f64).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn a_person_in_several_classes_counts_once() {
        let table = crate::testing::table("id,age\na,1\na,2\na,3\nb,3\nb,3\nc,4\n");
        let found = uniqueness(&table, &["age".to_string()], Some("id"));
        assert_eq!((found.persons, found.classes, found.smallest), (Some(3), 4, 1));
        // a is alone with 1 and with 2, c with 4; b is beside a.
        assert_eq!((found.uniques, found.below_five), (2, 3));
        assert!(found.share < 1.0);
    }

    #[test]
    fn the_configuration_parses_back_with_a_role_for_every_column() {
        let names = [
            "age",
            "zip code",
            "a.b",
            "say \"hi\"",
            "back\\slash",
            "größe",
            "",
            "tab\tnew\nline",
            "#x",
            "'",
            "1",
            "-",
            "education",
            "diagnosis",
            "date of birth",
            "\u{7f}\u{85}",
            "city",
        ];
        let columns: Vec<(&str, CellOfRow)> =
            names.iter().map(|name| (*name, label as CellOfRow)).collect();
        let mut table = table(&columns);
        table.columns_mut()[0] =
            column("age", (0..400).map(|row| if row % 2 == 0 { "31" } else { "7" }));
        table.columns_mut()[14] = column(
            "date of birth",
            (0..400).map(|row| if row % 2 == 0 { "1990-01-01" } else { "1980-12-31" }),
        );
        let profiles = profile(&table);
        let path = Path::new("C:\\my \"data\".csv");
        let text = to_toml(&at(path), &Reading::default(), &profiles);
        let request = Request::parse(&text).unwrap();
        assert_eq!(
            (request.version, request.k, request.input.path.as_deref()),
            (Some(1), Some(5), Some(path))
        );
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        let found = request.roles(&names).unwrap();
        assert_eq!(
            found.quasi.len() + found.sensitive.len() + found.keep.len() + found.dropped.len(),
            names.len()
        );
        assert!(profiles.iter().any(|profile| profile.is_open));
        for profile in &profiles {
            if profile.is_open {
                assert!(request.column(&profile.name).is_none(), "{}", profile.name);
                continue;
            }
            assert_eq!(
                request.column(&profile.name).unwrap().role,
                profile.role,
                "{}",
                profile.name
            );
        }
        request.rules(&found).unwrap();
        let has_reason = |line: &&str| line.contains("{ role") && line.contains("reason = ");
        let has_reason = |line: &&str| has_reason(line) && !line.starts_with("#~");
        assert_eq!(text.lines().filter(has_reason).count(), names.len());
    }

    #[test]
    fn every_hint_is_a_line_that_parses_too() {
        let mut columns = profile(&synthetic(Synthetic::Hospital));
        columns.extend(
            profile(&synthetic(Synthetic::Census))
                .into_iter()
                .filter(|column| column.hint.as_ref().is_some_and(|hint| hint.contains("order"))),
        );
        let text = to_toml(&at(Path::new("x.csv")), &Reading::default(), &columns);
        let mut lines: Vec<String> = Vec::new();
        for line in text.lines() {
            if let Some(better) = line.strip_prefix("#~ ") {
                lines.pop();
                lines.push(better.to_string());
            } else {
                lines.push(line.to_string());
            }
        }
        let request = Request::parse(&lines.join("\n")).unwrap();
        let names: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
        request.rules(&request.roles(&names).unwrap()).unwrap();
        for name in ["age", "zip", "admission"] {
            assert!(request.column(name).unwrap().hierarchy.is_some(), "{name}");
        }
        assert!(request.column("education").unwrap().order.is_some());
        assert!(request.column("diagnosis").unwrap().alpha.is_some());
    }

    #[test]
    fn a_release_has_the_name_and_the_type_of_its_table() {
        let name = |path: &str, is_typed: bool| {
            let reading = Reading { is_typed, ..Reading::default() };
            released_name(&at(Path::new(path)), &reading).unwrap_or_default()
        };
        assert_eq!(name("data/visits.csv.gz", false), "visits-safe.csv");
        assert_eq!(name("data/visits.parquet", true), "visits-safe.parquet");
        assert_eq!(name("../visits", true), "visits-safe.parquet");
        assert_eq!(name("visits/*.parquet", true), "visits-safe.parquet");
        assert_eq!(name("visits/part-*.parquet", true), "part--safe.parquet");
        assert_eq!(name("*.parquet", true), "table-safe.parquet");
    }

    #[test]
    fn one_sensitive_column_at_most_has_a_rule() {
        let profiles = profile(&table(&[
            ("diagnosis", |row| (row % 3).to_string()),
            ("treatment", |row| format!("drug {}", row % 9)),
            ("outcome", |row| (row % 5 / 2).to_string()),
            ("smoker", |row| (row % 2).to_string()),
        ]));
        let ruled: Vec<&str> = profiles
            .iter()
            .filter(|profile| profile.keys.as_deref() == Some("distinct = 2"))
            .map(|profile| profile.name.as_str())
            .collect();
        assert_eq!(ruled, ["treatment"]);
        let others = profiles.iter().filter(|profile| profile.name != "treatment");
        assert!(others.clone().count() == 3);
        assert!(others.into_iter().all(|it| it.hint.as_deref() == Some("distinct = 2")));
    }

    #[test]
    fn a_weight_that_rows_have_for_themselves_is_to_decide() {
        let few = |row: usize| format!("{}.25", 100 + row % 7);
        let profiles = profile(&table(&[("survey weight", few)]));
        assert_eq!((profiles[0].role, profiles[0].is_open), (Role::Weight, false));
        let profiles = profile(&table(&[("survey weight", own)]));
        assert_eq!((profiles[0].role, profiles[0].is_open), (Role::Weight, true));
        let text = to_toml(&Input::default(), &Reading::default(), &profiles);
        assert!(text.contains("#? \"survey weight\" = { role = \"weight\""), "{text}");
        for name in
            ["peso_amostral", "peso amostral", "ponderacao", "peso_muestral", "peso campionario"]
                .into_iter()
                .chain(["steekproefgewicht", "Ponderação"])
        {
            assert_eq!(profile(&table(&[(name, few)]))[0].role, Role::Weight, "{name}");
        }
        let fine = |row: usize| format!("{}.125", 900 + row % 200);
        assert_eq!(profile(&table(&[("waga", fine)]))[0].role, Role::Weight);
        assert_eq!(profile(&table(&[("waga", few)]))[0].role, Role::Quasi);
    }

    #[test]
    fn hints_suit_the_values() {
        let hint = |name, value| profile(&table(&[(name, value)]))[0].hint.clone();
        assert_eq!(hint("diagnosis", label).as_deref(), Some("alpha = 0.5"));
        // Three quarters of all rows share a value: no release could keep every class at one half.
        assert_eq!(
            hint("diagnosis", |row| (row % 4 / 3).to_string()).as_deref(),
            Some("distinct = 2")
        );
        assert_eq!(hint("diagnosis", |_| "x".to_string()), None);
        assert_eq!(hint("hours-per-week", code), None);
        assert_eq!(hint("home town", label).as_deref(), Some("hierarchy = \"home_town.csv\""));
    }

    #[test]
    fn suggested_keys_suit_the_values() {
        let keys = |name, value| profile(&table(&[(name, value)]))[0].keys.clone();
        let categorical = Some("kind = \"categorical\"".to_string());
        assert_eq!(keys("race", code), categorical);
        assert_eq!(keys("veterans benefits", |row| (row % 3).to_string()), categorical);
        assert_eq!(keys("distrito", |row| (row % 18 + 1).to_string()), categorical);
        assert_eq!(keys("hours-per-week", code), None);
        assert_eq!(keys("number of children", |row| (row % 3).to_string()), None);
        let age = "hierarchy = { intervals = [5, 10, 20] }";
        assert_eq!(keys("Alter", |row| (17 + row % 60).to_string()).as_deref(), Some(age));
        let day = |row: usize| format!("19{:02}-03-{:02}", 20 + row % 70, row % 28 + 1);
        let calendar = |unit: &str| Some(format!("hierarchy = {{ date = [\"{unit}\"] }}"));
        assert_eq!(keys("date of birth", day), calendar("year"));
        let day = |row: usize| format!("2023-{:02}-{:02}", row % 12 + 1, row % 28 + 1);
        assert_eq!(keys("admission", day), calendar("month"));
        assert_eq!(keys("visit", |row| format!("2023-03-{:02}", row % 28 + 1)), calendar("week"));
        let zip = |row: usize| format!("{:05}", row * 7919 % 300);
        assert_eq!(keys("PLZ", zip).as_deref(), Some("hierarchy = { prefix = [4, 3, 2] }"));
        // Fine codes go down to one character.
        let dutch = |row: usize| format!("{} AB", 1000 + row * 7919 % 300);
        let down = "hierarchy = { prefix = [4, 3, 2, 1] }";
        assert_eq!(keys("postcode", dutch).as_deref(), Some(down));
        let portuguese = |row: usize| format!("{}-{:03}", 1000 + row % 90, row % 7);
        assert_eq!(keys("código postal", portuguese).as_deref(), Some(down));
        // However few they are, they are no numbers.
        assert_eq!(keys("zip", |row| (53_703 + row % 3).to_string()), categorical);
        let level = |row: usize| ["High", "Low", "Medium"][row % 3].to_string();
        assert_eq!(
            keys("level", level).as_deref(),
            Some("order = [\"Low\", \"Medium\", \"High\"]")
        );
        let country = |row: usize| ["DE", "FR", "IT", "PL", "ES"][row % 5].to_string();
        assert_eq!(keys("pays", country).as_deref(), Some("hierarchy = \"builtin:countries\""));
        let other = |row: usize| ["DE", "FR", "IT", "PL", "Atlantis"][row % 5].to_string();
        assert_eq!(keys("pays", other), None);
    }

    #[test]
    fn names_in_eight_languages_are_understood() {
        use Role::{Identifier, Quasi, Sensitive};
        for (role, names) in [
            (Quasi, "Alter Geschlecht PLZ Größe Gewicht Familienstand Staatsangehörigkeit Beruf"),
            (Quasi, "né(e) sexe taille profession nationalité code_postal état_civil"),
            (Quasi, "fecha_de_nacimiento sexo edad código_postal nacionalidad estado_civil"),
            (Quasi, "data_di_nascita età sesso comune cittadinanza titolo_di_studio"),
            (Quasi, "geboortedatum leeftijd geslacht woonplaats burgerlijke_staat opleiding"),
            (Quasi, "data_de_nascimento idade profissão freguesia escolaridade"),
            (Quasi, "data_urodzenia wiek płeć województwo wykształcenie stan_cywilny"),
            (Quasi, "Concelho NPA Religione Religião Geloof Wyznanie Ethnie"),
            (Identifier, "Vorname Nachname Telefon Straße nom prénom apellidos cognome achternaam"),
            (Identifier, "sobrenome nazwisko PESEL codice_fiscale BSN DNI Burgerservicenummer"),
            (Sensitive, "Diagnose Einkommen Kosten maladie salaire enfermedad reddito inkomen"),
            (Sensitive, "doença choroba diagnóstico malattia ziekte revenu"),
            (Sensitive, "Patologia Rookt Schwanger"),
        ] {
            for name in names.split(' ') {
                assert_eq!(profile(&table(&[(name, label)]))[0].role, role, "{name}");
            }
        }
    }

    #[test]
    fn no_cell_appears_in_what_is_said() {
        let profiles = profile(&table(&[
            ("age", |row| format!("CANARY{}", row % 3)),
            ("diagnosis", |row| format!("CANARY{row}")),
            ("x", |_| "CANARY".into()),
            ("y", |row| format!("CANARY{row}")),
            ("education", |row| format!("CANARY{}", row % 9)),
        ]));
        assert!(
            !to_toml(&at(Path::new("in.csv")), &Reading::default(), &profiles).contains("CANARY")
        );
    }

    /// The first thousand rows of a made-up table.
    fn synthetic(kind: Synthetic) -> Table {
        let batch = batch(kind, 1, 0, 1_000);
        let schema = batch.schema();
        let columns = schema.fields().iter().zip(batch.columns()).map(|(field, cells)| {
            let texts = arrow_cast::cast(cells, &DataType::Utf8).unwrap();
            let texts: Vec<&str> =
                texts.as_string::<i32>().iter().map(Option::unwrap_or_default).collect();
            column(field.name(), texts)
        });
        Table::new(columns.collect(), 1_000)
    }

    #[test]
    fn the_made_up_tables_are_understood() {
        let hospital = profile(&synthetic(Synthetic::Hospital));
        let census = profile(&synthetic(Synthetic::Census));
        for profile in hospital.iter().chain(&census) {
            let expected = match profile.name.as_str() {
                "name" => Role::Identifier,
                "diagnosis" | "income" => Role::Sensitive,
                _ => Role::Quasi,
            };
            assert_eq!(profile.role, expected, "{}", profile.name);
        }
        let looks: Vec<Kind> = hospital[..6].iter().map(|profile| profile.looks).collect();
        use Kind::{Categorical, Date, Numeric};
        assert_eq!(looks, [Categorical, Numeric, Categorical, Categorical, Categorical, Date]);
    }
}
