//! Is the first line of a text file a row, not the header?

/// How many values of a column its form is judged by.
const SAMPLE: usize = 200;
/// So many numbers that only rise are names, as in a table with a column for each wavelength.
const RISING: usize = 6;

/// A name that has the form of a number, as a cell would have: `34`, `-1.5`, `1.234,5`.
fn is_number(name: &str) -> bool {
    let name = name.trim();
    let digits = name.strip_prefix(['-', '+']).unwrap_or(name);
    digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.chars().all(|c| c.is_ascii_digit() || ".,' ".contains(c))
        || name.contains(|c: char| c.is_ascii_digit()) && name.parse::<f64>().is_ok()
}

/// A name that has the form of a date.
fn is_date(name: &str) -> bool {
    let name = name.trim();
    name.len() >= 8 && name.chars().all(|c| c.is_ascii_digit() || "-/.:T ".contains(c))
}

/// True when a name has the form of a number or a date.
pub(super) fn reads_like_cells(names: &[String]) -> bool {
    names.iter().any(|name| is_number(name) || is_date(name))
}

/// What the first line says against itself, with the values of each column below it.
pub(super) struct Signs {
    /// Columns.
    columns: usize,
    /// Names that are numbers or dates, in columns of numbers or dates.
    forms: usize,
    /// Names that are values of their own column, which has others too.
    values: usize,
    /// Names that are the one value of their own column: a box that was ticked, where nothing else speaks
    /// against the header.
    ticks: usize,
}

impl Signs {
    /// True when the first line is very probably a row.
    pub(super) fn are_of_a_row(&self) -> bool {
        let Signs { columns, forms, values, ticks } = *self;
        let all = forms + values;
        all > 1 || (all > 0 && 2 * (all + ticks) > columns) || (forms > 0 && 2 * forms >= columns)
    }
}

/// The signs of a table: the name of each column, and its different values.
pub(super) fn signs<'a, V>(columns: impl IntoIterator<Item = (&'a str, V)>) -> Signs
where
    V: Iterator<Item = &'a str> + Clone,
{
    let columns: Vec<(&str, V)> = columns.into_iter().collect();
    let counted = counted_names(columns.iter().map(|(name, _)| *name));
    let mut signs = Signs { columns: columns.len(), forms: 0, values: 0, ticks: 0 };
    for (name, values) in columns {
        if is_number(name) && counted {
            continue;
        }
        if !values.clone().any(|value| value == name) {
            signs.forms += usize::from(is_among(name, &values));
        } else if values.clone().any(|value| value != name) {
            signs.values += 1;
        } else {
            signs.ticks += 1;
        }
    }
    signs
}

/// True for a number among numbers, and for a date among dates. A year is the name of a column of
/// other numbers.
fn is_among<'a>(name: &str, values: &(impl Iterator<Item = &'a str> + Clone)) -> bool {
    let mostly = |form: fn(&str) -> bool| {
        let sample = values.clone().take(SAMPLE);
        let (all, with) =
            sample.fold((0, 0), |(all, with), value| (all + 1, with + usize::from(form(value))));
        all > 0 && 5 * with >= 4 * all
    };
    if is_year(name) {
        return mostly(is_year);
    }
    (is_number(name) && mostly(is_number)) || (is_date(name) && mostly(is_date))
}

fn is_year(text: &str) -> bool {
    let text = text.trim();
    text.len() == 4 && text.parse::<u16>().is_ok_and(|year| (1800..=2200).contains(&year))
}

/// True when the names that are numbers count something: equal steps, or many that only rise.
fn counted_names<'a>(names: impl Iterator<Item = &'a str>) -> bool {
    let numbers: Vec<f64> = names.filter_map(|name| name.trim().parse().ok()).collect();
    let mut steps = numbers.windows(2).map(|pair| pair[1] - pair[0]);
    let Some(first) = steps.clone().next().filter(|&step| step > 0.0) else { return false };
    let is_even = steps.clone().all(|step| (step - first).abs() < 1e-9 * first.abs().max(1.0));
    is_even || (numbers.len() >= RISING && steps.all(|step| step > 0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The signs of a table as text.
    fn is_row(text: &str) -> bool {
        let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(';').collect()).collect();
        let values = |at: usize| rows[1..].iter().map(move |row| row[at]).filter(|v| !v.is_empty());
        signs(rows[0].iter().enumerate().map(|(at, name)| (*name, values(at)))).are_of_a_row()
    }

    #[test]
    fn a_row_on_top_is_told_by_its_forms_and_by_values_that_come_again() {
        for (text, expected) in [
            (
                "Zylinska;1901-02-03;98765;rare\nHuber;1987-03-21;10019;flu\nKern;1987-02-10;10015;flu\n",
                true,
            ),
            ("Lee;34;x\nKim;36;y\nRoy;51;x\n", true),
            ("Lee;34\nKim;36\nRoy;51\n", true),
            ("34\n36\n51\n", true),
            ("Lee;1.234,5;03.02.1901\nKim;36,0;01.01.1950\n", true),
            ("Lee;f;flu\nKim;f;gout\nRoy;m;flu\n", true),
            ("Lee;1984;Rome\nKim;1990;Oslo\nRoy;1951;Rome\n", true),
            ("name;age;sex\nLee;34;f\nKim;36;m\n", false),
            ("country;2010;2011;2012\nA;2010;7;9\nB;2011;2;4\n", false),
            ("country;2010;2015;2017\nA;50;7;9\nB;60;2;4\n", false),
            ("country;2020-01-22;2020-01-23\nA;5;7\nB;6;2\n", false),
            ("id;0;1;2\na;0;1;0\nb;1;0;1\n", false),
            ("id;400.1;401.3;405.2;410.0;411.7;430.5\na;1.5;2;3;4;5;6\nb;2;2;3;4;5;6\n", false),
            ("x;y\nx;1\nx;y\n", true),
            ("name;Red;Blue;Green\nLee;Red;;Green\nKim;;Blue;Green\n", false),
            ("code;other;sex\na;x;f\nb;other;m\n", false),
            ("name;age\n", false),
        ] {
            assert_eq!(is_row(text), expected, "{text}");
        }
    }
}
