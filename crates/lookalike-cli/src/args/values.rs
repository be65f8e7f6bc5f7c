//! Values of flags: from a text to a checked value.

use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use lookalike::forms::DateForm;
use lookalike::request::{Dialect, Persons, Publish, Rest};
use lookalike::run::{Effort, Verify};
use lookalike::search::global::Branching;
use serde::de::DeserializeOwned;

use crate::request::named;

/// `COLUMN=VALUE`, cut at the first equals sign.
#[derive(Clone, Debug)]
pub(crate) struct ColumnValue {
    pub(crate) column: String,
    pub(crate) value: String,
}

impl FromStr for ColumnValue {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<ColumnValue, &'static str> {
        let (column, value) = text.split_once('=').ok_or("write it as COLUMN=VALUE")?;
        Ok(ColumnValue { column: column.to_string(), value: value.to_string() })
    }
}

/// `K:COLUMN,COLUMN`
#[derive(Clone, Debug)]
pub(crate) struct KOn {
    pub(crate) k: u64,
    pub(crate) columns: Vec<String>,
}

impl FromStr for KOn {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<KOn, &'static str> {
        let bad = "write it as K:COLUMN,COLUMN, for example 1000:state,county";
        let (k, columns) = text.split_once(':').ok_or(bad)?;
        Ok(KOn {
            k: k.parse().map_err(|_| bad)?,
            columns: columns.split(',').map(String::from).collect(),
        })
    }
}

/// A whole number, in words of people.
pub(super) fn whole<T: FromStr>(text: &str) -> Result<T, &'static str> {
    text.parse().map_err(|_| "write a whole number, such as 5")
}

/// A number of rows.
pub(super) fn rows(text: &str) -> Result<u64, &'static str> {
    text.parse().map_err(|_| "write a whole number from 1 on, such as 5")
}

pub(super) fn branching() -> impl TypedValueParser<Value = Branching> {
    PossibleValuesParser::new(["halves", "bottom-up", "top-down"]).map(|text| match text.as_str() {
        "bottom-up" => Branching::BottomUp,
        "top-down" => Branching::TopDown,
        _ => Branching::Halves,
    })
}

/// The effort of the audit.
pub(super) fn verify_effort() -> impl TypedValueParser<Value = Verify> {
    one_of(Verify::ALL.map(Verify::name))
}

pub(super) fn effort() -> impl TypedValueParser<Value = Effort> {
    one_of(Effort::ALL.map(Effort::name))
}

/// One of these names of a closed set.
fn one_of<T, const N: usize>(names: [&'static str; N]) -> impl TypedValueParser<Value = T>
where
    T: FromStr<Err = lookalike::Error> + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(names).try_map(|name| name.parse::<T>())
}

pub(super) fn rest() -> impl TypedValueParser<Value = Rest> {
    PossibleValuesParser::new(["drop", "keep"]).map(known)
}

pub(super) fn persons() -> impl TypedValueParser<Value = Persons> {
    PossibleValuesParser::new(["whole", "rows"]).map(known)
}

pub(super) fn publish() -> impl TypedValueParser<Value = Publish> {
    PossibleValuesParser::new(["label", "set", "bounds", "center"]).map(known)
}

pub(super) fn dialect() -> impl TypedValueParser<Value = Dialect> {
    PossibleValuesParser::new(["input", "plain"]).map(known)
}

pub(super) fn decimal(text: &str) -> Result<char, &'static str> {
    match text {
        "." => Ok('.'),
        "," => Ok(','),
        _ => Err("write . or ,"),
    }
}

pub(super) fn thousands(text: &str) -> Result<char, &'static str> {
    match text {
        "." => Ok('.'),
        "," => Ok(','),
        "'" => Ok('\''),
        " " | "blank" => Ok(' '),
        _ => Err("write . or , or ' or blank"),
    }
}

pub(super) fn date_form(text: &str) -> Result<DateForm, String> {
    text.parse().map_err(|error: lookalike::Error| error.reason().to_string())
}

/// The value of an enum by its name, which the parser has checked.
#[expect(clippy::needless_pass_by_value, reason = "the parser hands its text over")]
pub(super) fn known<T: DeserializeOwned>(name: String) -> T {
    named(&name).expect("one of the possible values")
}

pub(super) fn delimiter(text: &str) -> Result<char, &'static str> {
    let mut chars = text.chars();
    match (text, chars.next(), chars.next()) {
        ("tab" | "\\t", _, _) => Ok('\t'),
        (_, Some(delimiter), None) => Ok(delimiter),
        _ => Err("write one character, or tab"),
    }
}
