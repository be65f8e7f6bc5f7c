//! A first request for a table: the profile of its columns, a role for each, and the reason.

use lookalike::evaluate::profile::{self, ColumnProfile, Uniqueness};
use lookalike::forms::{Doubt, Given};
use lookalike::request::{Input, Role};
use lookalike::table::{Source, Table, Treatment};
use lookalike::{Error, Hint, Result, Warning};
use serde_json::{Value, json};

/// Suggested roles, and the numbers that they come from.
#[derive(Debug)]
pub struct Suggestion {
    /// The columns with their roles, in the order of the table. Where the first line may be a row, their
    /// names are numbers: `(column 1)`.
    pub columns: Vec<ColumnProfile>,
    /// Uniqueness on the suggested quasi-identifiers; none without any.
    pub quasi: Option<Uniqueness>,
    /// The request as TOML, with reasons as comments.
    pub toml: String,
    /// Set where the first line may be a row, not the header.
    pub header: Option<Warning>,
    /// Further warnings.
    pub warnings: Vec<Warning>,
}

impl Suggestion {
    /// As a JSON object with `toml`, `columns`, `quasi` and `warnings`; `words` writes hints.
    pub fn json(&self, words: impl Fn(&Hint) -> String) -> Value {
        let warnings = self.header.iter().chain(&self.warnings);
        let warnings: Vec<String> = warnings.map(|warning| warning.message(&words)).collect();
        json!({
            "version": 1,
            "toml": self.toml,
            "columns": self.columns,
            "quasi": self.quasi,
            "warnings": warnings,
        })
    }
}

/// The warning for a table whose first line may be a row.
pub fn header_warning(source: &Source) -> Option<Warning> {
    source.is_headless().then(|| {
        Warning::new(
            "header-may-be-row",
            "the first line may be a row, not the header (a name is a number or a date, or equals \
             a cell below it): if so, add a header line",
        )
        .hint(Hint::SetNames)
        .hint(Hint::TrustHeader)
    })
}

/// Profiles every column and suggests a role for each. `input` says for the request where the table is
/// and how it was read.
///
/// # Example
/// ```
/// use lookalike::{request::{Input, Role}, table};
/// use lookalike_report::suggest::suggest;
///
/// let csv = "surname,age,diagnosis\nLee,34,flu\nKim,36,flu\nRoy,34,gout\n";
/// let found = suggest(table::open_text(csv.into(), "t".as_ref())?, &Input::default())?;
/// assert_eq!(found.columns[0].role, Role::Identifier);
/// assert!(found.toml.contains("surname   = { role = \"identifier\", reason = "));
/// assert!(!found.toml.contains("path"), "the table has none");
/// # Ok::<(), lookalike::Error>(())
/// ```
///
/// # Errors
/// When the table cannot be read, has no rows, or its first line may be a row: its cells would be in the
/// request.
pub fn suggest(source: Source, input: &Input) -> Result<Suggestion> {
    if source.is_headless() {
        // The judgement of the whole table says more.
        let treatments = vec![Treatment::Code; source.names().len()];
        let error = Error::request(
            "perhaps-no-header",
            "the first line may be a row, not the header (a name is a number or a date, or equals \
             a cell below it), and its cells would be names in the request: if so, add a header line",
        );
        source.read(&treatments)?.check_header()?;
        return Err(error.hint(Hint::SetNames).hint(Hint::TrustHeader));
    }
    Ok(suggest_and_keep(source, input)?.0)
}

/// The same, and the table with plain numbers and dates, every column coded but those that have no
/// text: for a face that goes on to work with it.
///
/// # Errors
/// As [`suggest`], which also refuses a first line that only may be a row: this one has its cells in the
/// request, for a face that shows it to nobody but the owner of the table.
pub fn suggest_and_keep(source: Source, input: &Input) -> Result<(Suggestion, Table)> {
    let mut warnings = source.notes().to_vec();
    let header = header_warning(&source);
    let skipped: Vec<String> = source
        .names()
        .iter()
        .zip(source.data_types())
        .filter(|(_, data_type)| data_type.is_nested())
        .map(|(name, _)| name.clone())
        .collect();
    let treatment = |name: &String| match skipped.contains(name) {
        true => Treatment::Skip,
        false => Treatment::Code,
    };
    let all: Vec<Treatment> = source.names().iter().map(treatment).collect();
    let table = source.read(&all)?;
    let given = Given {
        decimal: input.decimal,
        thousands: input.thousands,
        date: input.date_format.clone(),
        is_of_others: false,
    };
    let (table, mut reading) = profile::read_plainly(table, &given);
    reading.skipped = skipped;
    warnings.extend(reading.doubts.iter().map(|(name, doubt)| doubt_warning(name, *doubt)));
    if table.rows() == 0 {
        let why = "the table has no rows: there is nothing to profile";
        return Err(Error::data("no-rows", why));
    }
    table.check_header()?;
    let mut columns = profile::profile(&table);
    let is_quasi = |column: &&ColumnProfile| column.role == Role::Quasi && !column.is_open;
    let names: Vec<String> =
        columns.iter().filter(is_quasi).map(|column| column.name.clone()).collect();
    let person = columns.iter().find(|column| column.role == Role::Person);
    warnings.extend(profile::similar_persons(&table, person.map(|column| &column.name)));
    let person = person.map(|column| column.name.as_str());
    let mut quasi = (!names.is_empty()).then(|| profile::uniqueness(&table, &names, person));
    let mut input = input.clone();
    if input.encoding.is_none() && warnings.iter().any(|note| note.code() == "read-as-windows-1252")
    {
        input.encoding = Some("windows-1252".to_string());
    }
    let toml = profile::to_toml(&input, &reading, &columns);
    if header.is_some() {
        hide_names(&mut columns, quasi.as_mut());
    }
    warnings.extend(profile::repeated_in(&columns));
    if header.is_none() {
        warnings.extend(profile::text_among_numbers(&reading));
        warnings.extend(profile::far_codes(&table));
        warnings.extend(profile::mixed_dates(&table));
    }
    Ok((Suggestion { columns, quasi, toml, header, warnings }, table))
}

/// The warning for a column that can be read in two ways.
fn doubt_warning(name: &str, doubt: Doubt) -> Warning {
    let (why, hint) = match doubt {
        Doubt::Comma => {
            ("its commas can be decimal commas or separators of thousands", Hint::SetDecimal)
        }
        Doubt::DayOrMonth => {
            ("its dates can have the day first or the month first", doubt.date_hint())
        }
        Doubt::Century(_) => ("the years of its dates have two digits", doubt.date_hint()),
    };
    Warning::new("form-unclear", format!("column `{name}` is taken for labels: {why}"))
        .about_column(name)
        .hint(hint)
}

/// Columns by their numbers: their names may be cells, which belong into the request alone.
fn hide_names(profiles: &mut [ColumnProfile], uniqueness: Option<&mut Uniqueness>) {
    let number = |at: usize| format!("(column {})", at + 1);
    if let Some(found) = uniqueness {
        for name in &mut found.columns {
            let at = profiles.iter().position(|profile| profile.name == *name);
            *name = number(at.expect("a column of the table"));
        }
    }
    profiles.iter_mut().enumerate().for_each(|(at, profile)| profile.name = number(at));
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use lookalike::table;

    use super::*;

    #[test]
    fn names_that_may_be_cells_are_in_the_toml_alone() {
        let csv = "Lee,2034,z\nKim,36,y\nRoy,51,y\nFox,58,x\n";
        let open = || table::open_text(csv.into(), Path::new("t")).unwrap();
        let refused = suggest(open(), &Input::default()).unwrap_err();
        assert_eq!(refused.code(), "perhaps-no-header");
        assert!(!refused.to_string().contains("Lee"), "{refused}");
        let found = suggest_and_keep(open(), &Input::default()).unwrap().0;
        assert!(found.header.is_some() && found.toml.contains("Lee"), "{}", found.toml);
        let mut object = found.json(Hint::words);
        assert_eq!(object["columns"][1]["name"], "(column 2)");
        assert_eq!(object["warnings"].as_array().unwrap().len(), 1);
        object["toml"] = Value::Null;
        assert!(!object.to_string().contains("Lee"), "{object}");
    }
}
