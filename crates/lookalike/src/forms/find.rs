//! The form of a column, told by its texts.
//!
//! A form is the column's where every text fits it. Where two forms with different meanings fit, the
//! rest of the file decides, or what the request says; else it is asked.

use super::date::SHORT;
use super::missing::is_missing;
use super::{DateForm, Form, NumberForm};
use crate::error::Hint;

/// What is known of the forms of a file beside the texts of a column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Given {
    /// The sign before decimals.
    pub decimal: Option<char>,
    /// The sign between groups of three digits.
    pub thousands: Option<char>,
    /// The form of dates.
    pub date: Option<DateForm>,
    /// The decimal sign is that of other columns.
    pub is_of_others: bool,
}

/// What the texts of a column say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// They are plain, or neither numbers nor dates.
    Plain,
    /// Every text has this form.
    Form(Form),
    /// Every text has either of two forms, with two meanings.
    Doubt(Doubt),
}

/// The values that are looked for in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Numbers alone.
    Numbers,
    /// Dates alone.
    Dates,
    /// Numbers, else dates.
    Either,
}

/// Two readings of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// `1,234` is a thousand or a little more than one.
    Comma,
    /// `05/06/2014` is in May or in June.
    DayOrMonth,
    /// `26.12.14` has no century; the form that fits.
    Century(&'static str),
}

impl Doubt {
    /// The way out for dates, with the forms that fit.
    pub fn date_hint(self) -> Hint {
        let forms = match self {
            Doubt::Century(form) => vec![form.to_owned()],
            Doubt::Comma | Doubt::DayOrMonth => vec!["dd/mm/yyyy".into(), "mm/dd/yyyy".into()],
        };
        Hint::SetDateFormat { forms }
    }
}

/// The form of a column. `texts` are its distinct ones without those that the request calls missing;
/// common texts for missing do not count.
pub fn find(texts: &[&str], wanted: Wanted, given: &Given) -> Found {
    let texts: Vec<&str> = texts
        .iter()
        .map(|text| text.trim())
        .filter(|text| !text.is_empty() && !is_missing(text))
        .collect();
    if texts.is_empty() {
        return Found::Plain;
    }
    match wanted {
        Wanted::Numbers => number(&texts, given),
        Wanted::Dates => date(&texts, given, true),
        Wanted::Either => match number(&texts, given) {
            Found::Plain => date(&texts, given, false),
            found => found,
        },
    }
}

/// The forms of the columns of a file. One program wrote the whole file: where a column is in doubt,
/// the others tell.
pub fn find_all(columns: &[(Vec<&str>, Wanted)], given: &Given) -> Vec<Found> {
    let mut given = given.clone();
    let look = |(texts, wanted): &(Vec<&str>, Wanted), given: &Given| find(texts, *wanted, given);
    let mut found: Vec<Found> = columns.iter().map(|column| look(column, &given)).collect();
    for (found, (texts, _)) in found.iter().zip(columns) {
        match found {
            Found::Form(Form::Number(form)) => {
                let is_seen = texts.iter().any(|text| text.contains(form.decimal));
                if is_seen && given.decimal.is_none() {
                    given.decimal = Some(form.decimal);
                    given.is_of_others = true;
                }
            }
            Found::Form(Form::Date(form)) => given.date = given.date.or_else(|| Some(form.clone())),
            Found::Plain | Found::Doubt(_) => {}
        }
    }
    for (found, column) in found.iter_mut().zip(columns) {
        if !matches!(found, Found::Form(_)) {
            *found = look(column, &given);
        }
    }
    found
}

/// Different local numbers or dates of a column for each other text among them: then the texts are
/// slips, or mean missing.
const SLIP: usize = 10;

/// A few texts without a digit among local numbers or dates: the form of the others, and these texts.
pub fn text_among<'t>(
    texts: &[&'t str],
    wanted: Wanted,
    given: &Given,
) -> Option<(Form, Vec<&'t str>)> {
    let (others, odd): (Vec<&str>, Vec<&str>) = texts
        .iter()
        .filter(|text| !is_missing(text) && !text.trim().is_empty())
        .partition(|text| text.contains(|c: char| c.is_ascii_digit()));
    if odd.is_empty() || others.len() < SLIP * odd.len() {
        return None;
    }
    match find(&others, wanted, given) {
        Found::Form(form) => Some((form, odd)),
        Found::Plain | Found::Doubt(_) => None,
    }
}

fn number(texts: &[&str], given: &Given) -> Found {
    let fits = |form: &NumberForm| texts.iter().all(|text| form.plain(text).is_some());
    let is_allowed = |form: &NumberForm| {
        given.decimal.is_none_or(|sign| sign == form.decimal)
            && given.thousands != Some(form.decimal)
            && given.thousands.is_none_or(|sign| form.thousands.is_none_or(|own| own == sign))
    };
    let (of_points, of_commas) = (
        NumberForm { decimal: ',', thousands: Some('.') },
        NumberForm { decimal: '.', thousands: Some(',') },
    );
    // Exponents are plain.
    if texts.iter().all(|text| text.parse::<f64>().is_ok()) {
        // 1.234 in a file of decimal commas: one program wrote it, so points part thousands.
        let is_told = given.decimal == Some(',') || given.thousands == Some('.');
        let has_points = texts.iter().any(|text| text.contains('.'));
        return match is_told && has_points && fits(&of_points) {
            true => Found::Form(Form::Number(of_points)),
            false => Found::Plain,
        };
    }
    let forms: Vec<NumberForm> = NumberForm::ALL.into_iter().filter(fits).collect();
    let comma = NumberForm { decimal: ',', thousands: None };
    if forms.contains(&comma)
        && forms.contains(&of_commas)
        && given.decimal.is_none()
        && given.thousands != Some(',')
    {
        return Found::Doubt(Doubt::Comma);
    }
    match forms.into_iter().filter(|form| *form != NumberForm::PLAIN).find(is_allowed) {
        Some(form) => Found::Form(Form::Number(form)),
        None => Found::Plain,
    }
}

fn date(texts: &[&str], given: &Given, is_asked: bool) -> Found {
    let fits = |form: &DateForm| texts.iter().all(|text| form.plain(text).is_some());
    let is_digits = texts.iter().all(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    if is_digits {
        let given = given.date.as_ref().filter(|form| form.is_of_digits() && fits(form));
        let whole: DateForm = "yyyymmdd".parse().expect("a form of digits");
        let is_date = is_asked || (texts.len() >= MANY_DATES && texts.iter().all(is_recent));
        return match given {
            Some(form) => Found::Form(Form::Date(form.clone())),
            None if is_date && fits(&whole) => Found::Form(Form::Date(whole)),
            None => Found::Plain,
        };
    }
    if let Some(form) = given.date.as_ref().filter(|form| fits(form)) {
        return Found::Form(Form::Date(padding(form, texts)));
    }
    let Some(form) = DateForm::usual().find(fits) else {
        let is_of = |form: &&str| fits(&form.parse().expect("a form of short years"));
        let short = SHORT.into_iter().find(is_of);
        return short.map_or(Found::Plain, |form| Found::Doubt(Doubt::Century(form)));
    };
    match form.exchanged().filter(fits) {
        None => Found::Form(Form::Date(padding(&form, texts))),
        Some(other) => match &given.date {
            Some(given) if given.order() == form.order() => {
                Found::Form(Form::Date(padding(&form, texts)))
            }
            Some(given) if given.order() == other.order() => {
                Found::Form(Form::Date(padding(&other, texts)))
            }
            _ => Found::Doubt(Doubt::DayOrMonth),
        },
    }
}

/// So many different numbers that are all dates of our time are no numbers: of those of eight digits
/// one in three hundred is a day.
const MANY_DATES: usize = 10;

/// Eight digits that begin with a year from 1900 to 2099.
fn is_recent(text: &&str) -> bool {
    text.len() == 8 && (text.starts_with("19") || text.starts_with("20"))
}

/// The form with zeros before days and months, or without, as the texts have them.
fn padding(form: &DateForm, texts: &[&str]) -> DateForm {
    let writes = |form: &DateForm| {
        texts.iter().all(|text| {
            form.plain(text).and_then(|plain| form.local(&plain)).as_deref() == Some(text)
        })
    };
    let bare = form.unpadded();
    if !writes(form) && writes(&bare) { bare } else { form.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(texts: &[&str], given: &Given) -> String {
        match find(texts, Wanted::Either, given) {
            Found::Plain => "plain".to_owned(),
            Found::Form(form) => form.to_string(),
            Found::Doubt(doubt) => format!("{doubt:?}"),
        }
    }

    #[test]
    fn the_form_is_the_one_that_every_text_fits() {
        for (texts, form) in [
            (&["12", "1.5", "-3", "1e6"][..], "plain"),
            (&["a", "1,5"], "plain"),
            (&["", "NA", "?"], "plain"),
            (&["170,5", "182", "NA"], "1234,5"),
            (&["1.234,5", "17"], "1.234,5"),
            (&["1.234.567", "12"], "1.234,5"),
            (&["1,234.5", "17"], "1,234.5"),
            (&["1,234,567"], "1,234.5"),
            (&["1,234", "0,5"], "1234,5"),
            (&["1,234", "17"], "Comma"),
            (&["1.234", "17"], "plain"),
            (&["1 234,5", "2 000"], "1 234,5"),
            (&["1'234.50"], "1'234.5"),
            (&["01234", "56789"], "plain"),
            (&["2014-12-26"], "plain"),
            (&["26.12.2014", "01.02.2013"], "dd.mm.yyyy"),
            (&["26.12.2014", "1.2.2013"], "d.m.yyyy"),
            (&["05.06.2014"], "dd.mm.yyyy"),
            (&["05/06/2014", "01/02/2013"], "DayOrMonth"),
            (&["05/06/2014", "13/02/2013"], "dd/mm/yyyy"),
            (&["05/06/2014", "02/13/2013"], "mm/dd/yyyy"),
            (&["05/13/2014", "13/02/2013"], "plain"),
            (&["2014/12/26"], "yyyy/mm/dd"),
            (&["August 9, 2015", "May 11, 2015"], "month d, yyyy"),
            (&["August 09, 2015"], "month dd, yyyy"),
            (&["9 August 2015", "11 May 2015"], "d month yyyy"),
            (&["26-Dec-2014", "01-JAN-2015"], "dd-mon-yyyy"),
            (&["26DEC2014"], "ddmonyyyy"),
            (&["26.12.14", "01.02.13"], "Century(\"dd.mm.yy\")"),
            (&["26.12.2014 09:30", "01.02.2013 00:00"], "dd.mm.yyyy hh:mm"),
            (&["12/26/2014 9:30:00 AM"], "mm/dd/yyyy hh:mm:ss ampm"),
            (&["20141226"], "plain"),
        ] {
            assert_eq!(found(texts, &Given::default()), form, "{texts:?}");
        }
    }

    #[test]
    fn what_is_given_settles_a_doubt() {
        let given = |decimal, thousands, date: Option<&str>| Given {
            decimal,
            thousands,
            date: date.map(|form| form.parse().unwrap()),
            is_of_others: false,
        };
        for (texts, given, form) in [
            (&["1,234"][..], given(Some(','), None, None), "1234,5"),
            (&["1,234"], given(Some('.'), None, None), "1,234.5"),
            (&["1,234"], given(None, Some(','), None), "1,234.5"),
            (&["1.234"], given(Some(','), None, None), "1.234,5"),
            (&["1.234"], given(None, Some('.'), None), "1.234,5"),
            (&["1.5"], given(Some(','), None, None), "plain"),
            (&["05/06/2014"], given(None, None, Some("mm/dd/yyyy")), "mm/dd/yyyy"),
            (&["05-06-2014"], given(None, None, Some("dd/mm/yyyy")), "dd-mm-yyyy"),
            (&["05/13/2014"], given(None, None, Some("dd/mm/yyyy")), "mm/dd/yyyy"),
            (&["26.12.14"], given(None, None, Some("dd.mm.yy")), "dd.mm.yy"),
        ] {
            assert_eq!(found(texts, &given), form, "{texts:?} {given:?}");
        }
        let forms = |columns: &[&[&str]]| -> Vec<String> {
            let columns: Vec<(Vec<&str>, Wanted)> =
                columns.iter().map(|texts| (texts.to_vec(), Wanted::Either)).collect();
            let shown = |found: Found| match found {
                Found::Form(form) => form.to_string(),
                other => format!("{other:?}"),
            };
            find_all(&columns, &Given::default()).into_iter().map(shown).collect()
        };
        assert_eq!(forms(&[&["1,5"], &["1.234", "987"]]), ["1234,5", "1.234,5"]);
        assert_eq!(forms(&[&["1,5"], &["1.234", "0.987"]]), ["1234,5", "Plain"]);
        assert_eq!(forms(&[&["1,5"], &["1.234", "5.678"]]), ["1234,5", "1.234,5"]);
        assert_eq!(forms(&[&["1,5"], &["1.234", "5.6789"]]), ["1234,5", "Plain"]);
        assert_eq!(forms(&[&["1", "x"], &["1.234", "5.678"]]), ["Plain", "Plain"]);
        assert_eq!(forms(&[&["1,5"], &["1,234"]]), ["1234,5", "1234,5"]);
        assert_eq!(forms(&[&["13/02/2014"], &["05/06/2014"]]), ["dd/mm/yyyy", "dd/mm/yyyy"]);
        let digits = given(None, None, Some("yyyymmdd"));
        assert!(matches!(find(&["20141226"], Wanted::Either, &digits), Found::Form(_)));
        assert_eq!(find(&["20141299"], Wanted::Either, &digits), Found::Plain);
        assert_eq!(find(&["20141226"], Wanted::Numbers, &digits), Found::Plain);
        // Many numbers that are all days.
        let days: Vec<String> = (1..=12).map(|month| format!("2014{month:02}17")).collect();
        let days: Vec<&str> = days.iter().map(String::as_str).collect();
        assert_eq!(found(&days, &Given::default()), "yyyymmdd");
        assert_eq!(found(&[&days[..], &["20140230"]].concat(), &Given::default()), "plain");
        assert!(matches!(find(&["20141226"], Wanted::Dates, &digits), Found::Form(_)));
        assert_eq!(find(&["26.12.2014"], Wanted::Numbers, &digits), Found::Plain);
    }
}
