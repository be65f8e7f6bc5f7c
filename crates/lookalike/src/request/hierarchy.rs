//! Hierarchies as they are asked for: the name of a file, its text, its rows, a ready-made one, or
//! intervals, prefixes or calendar units in one line. [`crate::domain::hierarchy`] makes trees of them.

use std::fmt;
use std::path::PathBuf;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::builtin::{self, Builtin};
use super::finite;

/// The hierarchy of a column: the values that may be published instead of its own.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum HierarchySpec {
    /// A file in the form of ARX: no header, `;`, tab or `,` between the columns, one line for each
    /// value with its ancestors up to the root.
    File(PathBuf),
    /// Widths of intervals, finest first, each a multiple of the one before.
    Intervals(IntervalsSpec),
    /// How many leading characters are kept, longest first: `53712`, `5371*`, `537**`.
    Prefix(PrefixSpec),
    /// Calendar units, finest first: `2024-03`, `2024`, `2020s`.
    Date(DateSpec),
    /// The lines of a hierarchy file as lists: each value, then its ancestors up to the root.
    Rows(RowsSpec),
    /// The text of a hierarchy file.
    Text(TextSpec),
    /// A ready-made hierarchy, `builtin:countries`: it has a line for each value that it knows.
    Builtin(Builtin),
}

impl HierarchySpec {
    /// The hierarchy in a file.
    pub fn file(path: impl Into<PathBuf>) -> HierarchySpec {
        HierarchySpec::File(path.into())
    }

    /// Intervals of these widths, finest first, from 0 on.
    pub fn intervals(widths: impl IntoIterator<Item = f64>) -> HierarchySpec {
        let intervals = widths.into_iter().collect();
        HierarchySpec::Intervals(IntervalsSpec { intervals, origin: 0.0, bottom: None, top: None })
    }

    /// Prefixes of these lengths, longest first.
    pub fn prefix(lengths: impl IntoIterator<Item = usize>) -> HierarchySpec {
        HierarchySpec::Prefix(PrefixSpec { prefix: lengths.into_iter().collect() })
    }

    /// Calendar units, finest first.
    pub fn dates(units: impl IntoIterator<Item = DateUnit>) -> HierarchySpec {
        HierarchySpec::Date(DateSpec { date: units.into_iter().collect() })
    }

    /// A row for each value: the value, then its ancestors up to the root.
    ///
    /// # Example
    /// ```
    /// use lookalike::HierarchySpec;
    ///
    /// let city = HierarchySpec::rows([["Bonn", "West", "*"], ["Ulm", "South", "*"]]);
    /// assert_ne!(city, HierarchySpec::text("Bonn;West;*\nUlm;South;*\n"), "but it means the same");
    /// ```
    pub fn rows<Row>(rows: impl IntoIterator<Item = Row>) -> HierarchySpec
    where
        Row: IntoIterator<Item: Into<String>>,
    {
        let row = |row: Row| row.into_iter().map(Into::into).collect();
        HierarchySpec::Rows(RowsSpec { rows: rows.into_iter().map(row).collect() })
    }

    /// The text of a hierarchy file.
    pub fn text(text: impl Into<String>) -> HierarchySpec {
        HierarchySpec::Text(TextSpec { text: text.into() })
    }

    /// The ready-made hierarchy of this name (see [`BUILTINS`](super::BUILTINS)); none when there is
    /// no such name.
    ///
    /// # Example
    /// ```
    /// use lookalike::HierarchySpec;
    ///
    /// assert!(HierarchySpec::builtin("countries").is_some());
    /// assert_eq!(HierarchySpec::builtin("age"), Some(HierarchySpec::intervals([5.0, 10.0, 20.0])));
    /// assert_eq!(HierarchySpec::builtin("planets"), None);
    /// ```
    pub fn builtin(name: &str) -> Option<HierarchySpec> {
        builtin::named(&format!("{}{name}", builtin::PREFIX))?.ok()
    }

    /// The hierarchy of a text: a ready-made one (`builtin:countries`) or the name of a file.
    ///
    /// # Errors
    /// Why there is none: no ready-made one has this name.
    pub fn from_text(text: &str) -> std::result::Result<HierarchySpec, String> {
        builtin::named(text).unwrap_or_else(|| Ok(HierarchySpec::file(text)))
    }

    /// True when it lists values with their ancestors: a file, its text or its rows, or a
    /// ready-made one.
    pub(crate) fn lists_values(&self) -> bool {
        match self {
            HierarchySpec::File(_)
            | HierarchySpec::Rows(_)
            | HierarchySpec::Text(_)
            | HierarchySpec::Builtin(_) => true,
            HierarchySpec::Intervals(_) | HierarchySpec::Prefix(_) | HierarchySpec::Date(_) => {
                false
            }
        }
    }
}

impl<'de> Deserialize<'de> for HierarchySpec {
    fn deserialize<D: Deserializer<'de>>(
        deserializer: D,
    ) -> std::result::Result<HierarchySpec, D::Error> {
        deserializer.deserialize_any(HierarchyVisitor)
    }
}

/// A hierarchy is a text, or a map with one of the keys below. (An untagged enum would not name a
/// key that is unknown.)
struct HierarchyVisitor;

impl<'de> Visitor<'de> for HierarchyVisitor {
    type Value = HierarchySpec;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a hierarchy: {FORMS}")
    }

    fn visit_str<E: serde::de::Error>(self, path: &str) -> std::result::Result<HierarchySpec, E> {
        HierarchySpec::from_text(path).map_err(E::custom)
    }

    fn visit_map<M: MapAccess<'de>>(self, map: M) -> std::result::Result<HierarchySpec, M::Error> {
        let keys = HierarchyKeys::deserialize(MapAccessDeserializer::new(map))?;
        let HierarchyKeys { intervals, origin, bottom, top, prefix, date, rows, text } = keys;
        let has_ends = origin.is_some() || bottom.is_some() || top.is_some();
        match (intervals, prefix, date, rows, text) {
            (Some(intervals), None, None, None, None) => {
                let origin = origin.unwrap_or_default();
                Ok(HierarchySpec::Intervals(IntervalsSpec { intervals, origin, bottom, top }))
            }
            _ if has_ends => {
                Err(M::Error::custom("origin, bottom and top belong to a hierarchy of intervals"))
            }
            (None, Some(prefix), None, None, None) => {
                Ok(HierarchySpec::Prefix(PrefixSpec { prefix }))
            }
            (None, None, Some(date), None, None) => Ok(HierarchySpec::Date(DateSpec { date })),
            (None, None, None, Some(rows), None) => Ok(HierarchySpec::Rows(RowsSpec { rows })),
            (None, None, None, None, Some(text)) => Ok(HierarchySpec::Text(TextSpec { text })),
            _ => Err(M::Error::custom(format!("a hierarchy is one of: {FORMS}"))),
        }
    }
}

const FORMS: &str = "a file name in quotes, \"builtin:countries\", { intervals = [5, 10] }, { prefix = [4, 3] }, \
                     { date = [\"month\", \"year\"] }, { rows = [[\"a\", \"x\", \"*\"]] } or \
                     { text = \"a;x;*\" }";

/// All keys of all hierarchies that are maps.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HierarchyKeys {
    intervals: Option<Vec<f64>>,
    origin: Option<f64>,
    bottom: Option<f64>,
    top: Option<f64>,
    prefix: Option<Vec<usize>>,
    date: Option<Vec<DateUnit>>,
    rows: Option<Vec<Vec<String>>>,
    text: Option<String>,
}

/// `{ intervals = [5, 10, 20], origin = 0, bottom = 20, top = 80 }`
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct IntervalsSpec {
    /// Widths, finest first, each a multiple of the one before.
    #[serde(serialize_with = "finite::all")]
    pub intervals: Vec<f64>,
    /// A number at which an interval begins; 0 when absent.
    #[serde(serialize_with = "finite::one")]
    pub origin: f64,
    /// Bottom coding: all numbers below this one are one interval, `<20`.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "finite::some")]
    pub bottom: Option<f64>,
    /// Top coding: all numbers from this one on are one interval, `>=80`.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "finite::some")]
    pub top: Option<f64>,
}

/// `{ prefix = [4, 3, 2] }`
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PrefixSpec {
    /// Numbers of leading characters that are kept, longest first, each at least 1.
    pub prefix: Vec<usize>,
}

/// `{ date = ["month", "year", "decade"] }`
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DateSpec {
    /// Calendar units, finest first, each once.
    pub date: Vec<DateUnit>,
}

/// `{ rows = [["a", "x", "*"], ["b", "x", "*"]] }`
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RowsSpec {
    /// Each row as a line of a hierarchy file: the value, then its ancestors up to the root.
    pub rows: Vec<Vec<String>>,
}

/// `{ text = "a;x;*\nb;x;*\n" }`
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TextSpec {
    /// The text of a hierarchy file.
    pub text: String,
}

/// A calendar unit that dates are generalized to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DateUnit {
    /// `2024-03-17`; for timestamps.
    Day,
    /// `2024-W09`, from Monday to Sunday (ISO 8601). Weeks lie in no month; a year above them is the
    /// ISO year, `2024-W**`.
    Week,
    /// `2024-03`
    Month,
    /// `2024-Q1`
    Quarter,
    /// `2024-H1`
    HalfYear,
    /// `2024`
    Year,
    /// `2020-2024`
    FiveYears,
    /// `2020s`
    Decade,
}
