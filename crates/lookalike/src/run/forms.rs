//! Numbers and dates as people write them: their form is found in the source and put into the
//! request, and what is read becomes plain.
//!
//! Only columns whose values are computed with have a form: quasi-identifiers, and sensitive columns
//! and weights that are numbers or dates. A column with a hierarchy file is left as it is, because
//! the file lists its values. Search and audit see plain numbers and dates; the cells that are
//! published unchanged never pass here.

use crate::error::{Error, Hint, Result, Warning};
use crate::evaluate::missing_texts::refuse_missing_texts;
use crate::forms::{Doubt, Form, Found, Given, Wanted, find_all, text_among};
use crate::request::{ColumnRequest, Distance, HierarchySpec, Kind, Request, Role};
use crate::table::{Column, Table};

/// Finds the forms of a source that is text, and makes the texts of its columns plain. The request
/// has the forms from then on. The warnings name those that were found.
///
/// # Example
/// ```
/// use lookalike::table::{self, Treatment};
/// use lookalike::{Request, run::settle_forms};
///
/// let text = "height;born\n170,5;26.12.2014\n182;03.01.2015\n";
/// let source = table::open_reader(text.as_bytes(), "t.csv".as_ref(), None)?;
/// let mut table = source.read(&[Treatment::Code; 2])?;
/// let mut request = Request::new(2).quasi_identifiers(["height", "born"]);
/// settle_forms(&mut table, &mut request)?;
/// assert_eq!(table.coded("height").values()[0].as_deref(), Some("170.5"));
/// assert_eq!(table.coded("born").values()[0].as_deref(), Some("2014-12-26"));
/// assert_eq!(request.columns["born"].format.as_ref().unwrap().to_string(), "dd.mm.yyyy");
/// # Ok::<(), lookalike::Error>(())
/// ```
///
/// # Errors
/// When a column can be read in two ways and nothing tells which is meant, and when common texts for
/// "missing" stand among numbers or dates and the request does not name them.
pub fn settle_forms(table: &mut Table, request: &mut Request) -> Result<Vec<Warning>> {
    if !table.is_text() {
        refuse_missing_texts(table, request)?;
        return Ok(Vec::new());
    }
    let found = found_forms(table, request)?;
    for (name, form) in &found {
        let column = request.columns.get_mut(name).expect("a column of the request");
        column.format = Some(form.clone());
    }
    plain_cells(table, request);
    refuse_missing_texts(table, request)?;
    Ok(forms_warning(&found).into_iter().collect())
}

/// Makes the cells of a source plain, in the forms that the request has.
pub(super) fn plain_cells(table: &mut Table, request: &Request) {
    if !table.is_text() {
        return;
    }
    for column in table.columns_mut() {
        let form = request.column(&column.name).and_then(|line| line.format.as_ref());
        make_plain(column, form, Form::plain);
    }
}

/// The same for the labels of a release.
pub(super) fn plain_labels(table: &mut Table, request: &Request) {
    if !table.is_text() {
        return;
    }
    for column in table.columns_mut() {
        let is_quasi =
            |name: &&str| request.column(name).is_some_and(|line| line.role == Role::Quasi);
        let of_bound =
            ["_min", "_max", "_center"].into_iter().find_map(|end| column.name.strip_suffix(end));
        let name = [column.name.as_str()].into_iter().chain(of_bound).find(is_quasi);
        let name = name.map(ToOwned::to_owned);
        let form = |name: &str| request.column(name).and_then(|line| line.format.as_ref());
        match name {
            Some(name) => {
                make_plain(column, form(&name), |form, label| Some(form.plain_label(label)));
            }
            None => {
                let form = form(&column.name);
                make_plain(column, form, Form::plain);
            }
        }
    }
}

fn make_plain(
    column: &mut Column,
    form: Option<&Form>,
    plain: impl Fn(&Form, &str) -> Option<String>,
) {
    if let (Some(form), Some(coded)) = (form, &column.coded) {
        column.coded = Some(coded.respelt(|text| plain(form, text)));
    }
}

/// The forms of the columns that have one and do not say so.
fn found_forms<'t>(table: &'t Table, request: &Request) -> Result<Vec<(String, Form)>> {
    let decimal_comma = |line: &&ColumnRequest| match &line.format {
        Some(Form::Number(form)) => form.decimal == ',',
        _ => false,
    };
    // What the request says of other columns tells of this one too.
    let of_others = request.columns.values().find(decimal_comma).map(|_| ',');
    let given = Given {
        decimal: request.input.decimal.or(of_others),
        thousands: request.input.thousands,
        date: request.input.date_format.clone(),
        is_of_others: request.input.decimal.is_none() && of_others.is_some(),
    };
    let is_open = |column: &&Column| {
        request.column(&column.name).is_some_and(|line| line.format.is_none())
            && column.coded.is_some()
            && table.may_have_form(&column.name)
    };
    let columns: Vec<(&'t Column, Wanted)> = table
        .columns()
        .iter()
        .filter(is_open)
        .filter_map(|column| Some((column, wanted(request.column(&column.name)?)?)))
        .collect();
    let texts = |column: &'t Column| -> Vec<&'t str> {
        let values = column.coded.iter().flat_map(|coded| coded.values()).flatten();
        let is_present =
            |text: &&str| !request.missing.iter().any(|marker| marker.trim() == text.trim());
        values.map(String::as_str).filter(is_present).collect()
    };
    let of_columns: Vec<(Vec<&str>, Wanted)> =
        columns.iter().map(|(column, wanted)| (texts(column), *wanted)).collect();
    let found = find_all(&of_columns, &given);
    let mut forms = Vec::new();
    for (at, (found, (column, _))) in found.into_iter().zip(columns).enumerate() {
        match found {
            Found::Plain => refuse_text_among(column, &of_columns[at], &given)?,
            Found::Form(form) => forms.push((column.name.clone(), form)),
            Found::Doubt(doubt) => return Err(doubtful(&column.name, doubt)),
        }
    }
    Ok(forms)
}

/// A few texts without a digit would make a column of local numbers or dates a column of labels: they
/// are asked for, as text among plain numbers is.
fn refuse_text_among(
    column: &Column,
    (texts, wanted): &(Vec<&str>, Wanted),
    given: &Given,
) -> Result<()> {
    let Some((form, odd)) = text_among(texts, *wanted, given) else { return Ok(()) };
    let coded = column.coded.as_ref().expect("a column that was looked at");
    let is_odd = |row: &usize| {
        let text = coded.values()[coded.codes().get(*row) as usize].as_deref();
        text.is_some_and(|text| odd.contains(&text))
    };
    let row = (0..coded.codes().len()).find(is_odd).unwrap_or_default();
    let why = format!("text in a column whose other values read as {form}");
    let categorical = Hint::SetKind { column: column.name.clone(), kind: "categorical".into() };
    Err(Error::data("text-among-numbers", why)
        .at_row(&column.name, row as u64)
        .hint(Hint::plain("fix the cell"))
        .hint(Hint::NameMissing { texts: Vec::new() })
        .hint(categorical))
}

/// What is looked for in a column: nothing where its texts are values of their own.
fn wanted(column: &ColumnRequest) -> Option<Wanted> {
    let of_hierarchy = match &column.hierarchy {
        None => None,
        Some(HierarchySpec::Intervals(_)) => Some(Wanted::Numbers),
        Some(HierarchySpec::Date(_)) => Some(Wanted::Dates),
        Some(_) => return None,
    };
    let of_kind = match column.kind {
        None => of_hierarchy,
        Some(Kind::Numeric) => Some(Wanted::Numbers),
        Some(Kind::Date) => Some(Wanted::Dates),
        Some(Kind::Ordinal | Kind::Categorical) => return None,
    };
    if column.is_coarsened() {
        return Some(Wanted::Numbers);
    }
    match column.role {
        Role::Quasi if column.order.is_none() => Some(of_kind.unwrap_or(Wanted::Either)),
        Role::Weight => Some(Wanted::Numbers),
        Role::Sensitive if column.order.is_none() => {
            let is_ordered = column.distance == Some(Distance::Ordered);
            of_kind.or(is_ordered.then_some(Wanted::Either))
        }
        _ => None,
    }
}

fn doubtful(name: &str, doubt: Doubt) -> Error {
    let error = match doubt {
        Doubt::Comma => Error::data(
            "number-form-unclear",
            "every comma stands before three digits: it can be a decimal comma or a separator of \
             thousands",
        )
        .hint(Hint::SetDecimal),
        Doubt::DayOrMonth => Error::data(
            "date-form-unclear",
            "no day is above 12: the dates can have the day first or the month first",
        )
        .hint(doubt.date_hint()),
        Doubt::Century(_) => Error::data(
            "date-form-unclear",
            "the years of the dates have two digits: no century is written",
        )
        .hint(doubt.date_hint()),
    };
    let categorical = Hint::SetKind { column: name.into(), kind: "categorical".into() };
    error.at_column(name).hint(categorical)
}

/// One sentence for the forms that were found.
fn forms_warning(found: &[(String, Form)]) -> Option<Warning> {
    let mut by_form: Vec<(String, Vec<String>)> = Vec::new();
    for (name, form) in found {
        let (form, name) = (form.to_string(), format!("`{name}`"));
        match by_form.iter_mut().find(|(other, _)| *other == form) {
            Some((_, names)) => names.push(name),
            None => by_form.push((form, vec![name])),
        }
    }
    let parts: Vec<String> =
        by_form.iter().map(|(form, names)| format!("{} as {form}", names.join(", "))).collect();
    (!parts.is_empty()).then(|| {
        Warning::new(
            "read-in-local-form",
            format!("numbers and dates are read by their form: {}", parts.join("; ")),
        )
    })
}
