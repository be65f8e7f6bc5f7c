//! The kind of a column: as the request says, or guessed from its texts.

use super::encode::{ColumnSpec, categorical};
use super::hierarchy;
use super::parse::{instant, number, spelling};
use crate::codes::RowId;
use crate::error::{Error, Hint, Result};
use crate::request::{ColumnRequest, HierarchySpec, Kind, Role};

/// The kind of a quasi-identifier: the request's `kind`, else the one that its `order` or
/// `hierarchy` needs, else a guess. `first_row` has the first row of each value.
pub(super) fn kind(
    spec: ColumnSpec,
    values: &[Option<String>],
    first_row: &[RowId],
) -> Result<Kind> {
    let column = spec.column;
    if let Some(kind) = column.and_then(|column| column.kind) {
        return Ok(kind);
    }
    if column.is_some_and(|column| column.order.is_some()) {
        return Ok(Kind::Ordinal);
    }
    match column.and_then(|column| column.hierarchy.as_ref()) {
        Some(HierarchySpec::Intervals(_)) => return Ok(Kind::Numeric),
        Some(HierarchySpec::Date(_)) => return Ok(Kind::Date),
        Some(HierarchySpec::Prefix(_) | HierarchySpec::Builtin(_)) => {
            return Ok(Kind::Categorical);
        }
        Some(
            listed @ (HierarchySpec::File(_) | HierarchySpec::Rows(_) | HierarchySpec::Text(_)),
        ) => return Ok(kind_of_listed(spec, listed, values)),
        None => {}
    }
    match guess(values) {
        Guess::Kind(kind) => Ok(kind),
        Guess::Slip(at) => {
            Err(Error::data("text-among-numbers", "text in a column that looks numeric")
                .at_row(spec.name, first_row[at])
                .hint(Hint::plain("fix the cell"))
                .hint(Hint::NameMissing { texts: Vec::new() })
                .hint(categorical(spec)))
        }
    }
}

/// The kind of a column whose hierarchy lists its values. A quasi-identifier of numbers stays numeric
/// where every group is an interval of numbers and has a label with a digit, such as `20-29`. Groups
/// with other names are those of codes: 1 and 2 are `Private`.
fn kind_of_listed(spec: ColumnSpec, listed: &HierarchySpec, values: &[Option<String>]) -> Kind {
    let is_quasi = spec.column.is_some_and(|column| column.role == Role::Quasi);
    if !is_quasi || guess(values) != Guess::Kind(Kind::Numeric) {
        return Kind::Categorical;
    }
    // What is wrong with it is said where its tree is made.
    let Ok(file) = hierarchy::listed(listed, spec.name, spec.missing) else {
        return Kind::Categorical;
    };
    let parsed = values.iter().flatten().filter_map(|text| Some((number(text)?, text.trim())));
    let mut parsed: Vec<(f64, &str)> = parsed.collect();
    parsed.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.len().cmp(&b.1.len())));
    let (mut numbers, mut texts): (Vec<f64>, Vec<String>) = (Vec::new(), Vec::new());
    for (number, text) in parsed {
        match (numbers.last(), texts.last()) {
            (Some(&last), Some(spelt)) if number <= last => {
                // More digits than can be computed with.
                if spelling(Kind::Numeric, text) != spelling(Kind::Numeric, spelt) {
                    return Kind::Categorical;
                }
            }
            _ => {
                numbers.push(number);
                texts.push(text.to_string());
            }
        }
    }
    let Ok(tree) = hierarchy::file_intervals(&file, spec.name, &numbers, &texts) else {
        return Kind::Categorical;
    };
    let tree = tree.into_taxonomy();
    let mut groups = (u32::try_from(tree.leaves()).expect("codes have 32 bits")..tree.root())
        .map(|node| tree.label(node))
        .peekable();
    let has_digit = |label: &str| label.bytes().any(|byte| byte.is_ascii_digit());
    match groups.peek().is_some() && groups.all(has_digit) {
        true => Kind::Numeric,
        false => Kind::Categorical,
    }
}

/// The kind that the request says; categorical where it says none. A sensitive column has this
/// kind: its texts are never guessed at.
pub(crate) fn requested(spec: ColumnSpec) -> Kind {
    let of_hierarchy = |column: &ColumnRequest| match column.hierarchy {
        Some(HierarchySpec::Intervals(_)) => Some(Kind::Numeric),
        Some(HierarchySpec::Date(_)) => Some(Kind::Date),
        _ => None,
    };
    let of = |column: &ColumnRequest| {
        column.kind.or(if column.order.is_some() { None } else { of_hierarchy(column) })
    };
    spec.column.and_then(of).unwrap_or(Kind::Categorical)
}

/// The kind that the values of a column look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Guess {
    /// All values agree.
    Kind(Kind),
    /// At least nine in ten values are numbers; the first that is none is at this place.
    Slip(usize),
}

/// Guesses the kind of a column from its distinct values.
pub(crate) fn guess(values: &[Option<String>]) -> Guess {
    let texts = || values.iter().flatten();
    let count = texts().count();
    let numbers = texts().filter(|text| number(text).is_some()).count();
    // 02139 is a code, not a number: as a number it would lose its zero.
    let padded = texts().any(|text| {
        text.len() > 1 && text.starts_with('0') && text.bytes().all(|b| b.is_ascii_digit())
    });
    if count == 0 || padded {
        Guess::Kind(Kind::Categorical)
    } else if numbers == count {
        Guess::Kind(Kind::Numeric)
    } else if numbers * 10 >= count * 9 {
        let slip = values
            .iter()
            .position(|value| value.as_ref().is_some_and(|text| number(text).is_none()));
        Guess::Slip(slip.expect("some value is no number"))
    } else if texts().all(|text| instant(text).is_some()) {
        Guess::Kind(Kind::Date)
    } else {
        Guess::Kind(Kind::Categorical)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Request;

    fn guessed(values: &[&str]) -> Guess {
        let value = |text: &&str| Some((*text).to_string()).filter(|text| !text.is_empty());
        guess(&values.iter().map(value).collect::<Vec<_>>())
    }

    #[test]
    fn a_column_is_guessed_from_all_its_values() {
        use Kind::{Categorical, Date, Numeric};
        for (values, expected) in [
            (&["1", "2.5", "-3", ""][..], Numeric),
            (&["2024-03-17", "2024-03-17T10:00:00"], Date),
            (&["2024-03-17", "soon"], Categorical),
            (&["02139", "10001"], Categorical),
            (&["0", "0.5"], Numeric),
            (&["red", "blue"], Categorical),
            (&["", ""], Categorical),
            (&[], Categorical),
        ] {
            assert_eq!(guessed(values), Guess::Kind(expected), "{values:?}");
        }
    }

    #[test]
    fn one_text_among_nine_numbers_is_a_slip_and_among_eight_it_is_not() {
        assert_eq!(guessed(&["1", "2", "x", "3", "4", "5", "6", "7", "8", "9"]), Guess::Slip(2));
        let eight = ["1", "2", "x", "3", "4", "5", "6", "7", "8"];
        assert_eq!(guessed(&eight), Guess::Kind(Kind::Categorical));
    }

    #[test]
    fn what_the_request_says_goes_before_the_guess() {
        let kind_of = |keys: &str| {
            let toml = format!("[columns]\nv = {{ role = \"quasi\"{keys} }}");
            let request = Request::parse(&toml).unwrap();
            let spec = ColumnSpec::new("v", &request);
            let values = ["1", "2"].map(|text| Some(text.to_string()));
            (kind(spec, &values, &[0, 1]).unwrap(), requested(spec))
        };
        use Kind::{Categorical, Date, Numeric, Ordinal};
        assert_eq!(kind_of(""), (Numeric, Categorical));
        assert_eq!(kind_of(", kind = \"categorical\""), (Categorical, Categorical));
        assert_eq!(kind_of(", order = [\"1\", \"2\"]"), (Ordinal, Categorical));
        assert_eq!(kind_of(", hierarchy = \"v.csv\""), (Categorical, Categorical));
        assert_eq!(kind_of(", hierarchy = { prefix = [1] }"), (Categorical, Categorical));
        assert_eq!(kind_of(", hierarchy = { rows = [] }"), (Categorical, Categorical));
        assert_eq!(kind_of(", hierarchy = { text = \"\" }"), (Categorical, Categorical));
        let with = |first: &str, second: &str| {
            kind_of(&format!(", hierarchy = {{ text = '''1;{first};*\n2;{second};*''' }}")).0
        };
        assert_eq!(with("1-1", "2-3"), Numeric, "the groups are intervals");
        assert_eq!(with("male", "female"), Categorical, "the numbers are codes");
        assert_eq!(with("*", "*"), Categorical, "there are no groups");
        assert_eq!(kind_of(", hierarchy = { text = '''1;5;*\n2;6;*\n1.5;5;*''' }").0, Numeric);
        assert_eq!(kind_of(", hierarchy = { text = '''1;5;*\n1.5;6;*\n2;5;*''' }").0, Categorical);
        assert_eq!(kind_of(", hierarchy = { text = '''1;5;*''' }").0, Categorical, "2 has no line");
        assert_eq!(kind_of(", hierarchy = { intervals = [5] }"), (Numeric, Numeric));
        assert_eq!(kind_of(", hierarchy = { date = [\"year\"] }"), (Date, Date));
        assert_eq!(kind_of(", kind = \"date\", hierarchy = \"v.csv\""), (Date, Date));
    }
}
