//! The request: roles, kinds, weights, hierarchies, rules and limits, as plain data.
//!
//! The same structure is read from TOML or JSON, built method by method ([`Request::new`]) or filled
//! from command-line flags, and both the engine and the audit start from it. It knows no table: [`Request::roles`] checks it against the column
//! names, [`Problem::new`](crate::Problem::new) against the cells.

mod builder;
mod builtin;
mod column;
mod decimal;
mod effect;
mod finite;
mod hash_secret;
mod hierarchy;
mod json;
pub mod ratio;
mod risk;
mod roles;
mod rule;
mod sensitive_rule;
#[cfg(test)]
mod tests;

pub use builtin::{BUILTINS, Builtin};
pub use column::{ColumnRequest, Conflict, Distance, Kind, Recursive, Role};
pub use decimal::Decimal;
pub use hash_secret::HashSecret;
pub use hierarchy::{
    DateSpec, DateUnit, HierarchySpec, IntervalsSpec, PrefixSpec, RowsSpec, TextSpec,
};
pub use ratio::Share;
pub use risk::RiskRequest;
pub use roles::{PSEUDONYM, Roles};
pub(crate) use roles::{did_you_mean, list, list_for};
pub use rule::{ModelSpec, RuleSpec};
pub use sensitive_rule::{
    SensitiveRule, alpha, alpha_of, distinct, entropy, l_diversity, recursive, t_closeness,
    t_closeness_with,
};

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::error::{Error, Hint, Result};
use crate::forms::DateForm;
use crate::names::names;
use crate::request::ratio::Ratio;

/// Everything that can be asked for, in one structure: made by [`Request::new`] and the methods of a
/// builder, or read from TOML ([`Request::parse`]) or JSON ([`Request::from_json`]).
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Request {
    /// The version of the file format; 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u32>,
    /// Every class has at least this many rows; at least 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub k: Option<u64>,
    /// The algorithm's name, such as `auto` or `mondrian`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub algorithm: Option<String>,
    /// The seed of all random choices, to repeat a run; from the system's randomness when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Rounds of the far-pair search of `top-down` and `bottom-up`, 3 when absent; tries of
    /// `cluster` for a cut, 15 when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rounds: Option<u32>,
    /// Steps that `auto` takes to improve its release; when absent, as many as the time allows and
    /// as reduce the loss.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
    /// The scheme of `optimal`: the partitions of a domain that it may choose, for every column
    /// without a scheme of its own: `bhs`, `ghs`, `gops`, `ops`, `gsps` or `sps`. When absent:
    /// `ops` for numbers without a hierarchy, `ghs` otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheme: Option<String>,
    /// The cost that `optimal` and `incognito` minimize: `ncp` (when absent), `hdm`, `dm` or
    /// `distortion`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<String>,
    /// Ask for, or expect, a release that is k-anonymous in the non-homogeneous sense only: rows
    /// that could be the same person may differ in their published values. The algorithm `ring`
    /// makes such releases and no other.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub non_homogeneous: bool,
    /// The fate of columns without a role; refused when absent and there are some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rest: Option<Rest>,
    /// Publish the columns that `rest` keeps although many rows are unique on the columns that are
    /// published unchanged. Only with [`Rest::Keep`].
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub accept_unique: bool,
    /// Columns that the release is made for: weights of quasi-identifiers that the request does not
    /// give are set from what each tells about these columns. None when empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub purpose: Vec<String>,
    /// Texts that mean "missing" beside the empty cell, such as `?` or `NA`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// The column that says for how many rows each row of the table stands; each for itself when
    /// absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<String>,
    /// How the rows of one person are counted; by [`Persons::Whole`] or [`Persons::Rows`], as the
    /// table suggests, when absent. Only with a column that has the role [`Role::Person`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub persons: Option<Persons>,
    /// The source table and how to read it.
    pub input: Input,
    /// The target of the release and the form of its ranges.
    pub output: Output,
    /// The request for each column, by name.
    #[serde(deserialize_with = "columns")]
    pub columns: BTreeMap<String, ColumnRequest>,
    /// Further k rules, each on its own columns.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<SubsetRule>,
    /// Limits on suppression, time and loss.
    pub limits: Limits,
    /// What is known of the population, for measures of risk.
    #[serde(skip_serializing_if = "RiskRequest::is_empty")]
    pub risk: RiskRequest,
}

/// The fate of the columns without a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Rest {
    /// They are not published.
    Drop,
    /// They are published unchanged.
    Keep,
}

/// How the rows of one person are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Persons {
    /// All rows of a person are in one class. A person counts once, and has a value when one of
    /// the rows has it.
    Whole,
    /// Rows of one person may be in several classes. k counts the persons of a class; rules on
    /// shares count each row by one over the number of its person's rows.
    Rows,
}

impl Persons {
    /// The name in a request.
    pub fn name(self) -> &'static str {
        match self {
            Persons::Whole => "whole",
            Persons::Rows => "rows",
        }
    }
}

/// The source table.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Input {
    /// The file; `-` is standard input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
    /// The CSV delimiter; guessed from the header when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delimiter: Option<char>,
    /// The encoding of CSV, such as `windows-1252`; when absent UTF-8, UTF-16 by its first bytes, and
    /// Windows-1252 where the text is no UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoding: Option<String>,
    /// The names of the columns of CSV, or of a sheet, without a header line.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// The first line is the header, although it looks like a row.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub header: bool,
    /// The sheet of a workbook; the first one that has cells when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sheet: Option<String>,
    /// The sign before decimals in a text file, `.` or `,`; told by the cells of each column when
    /// absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decimal: Option<char>,
    /// The sign between groups of three digits, such as `.` or `,`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thousands: Option<char>,
    /// How dates are written in a text file, such as `dd.mm.yyyy`; told by the cells of each column
    /// when absent, and where they do not fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date_format: Option<DateForm>,
}

/// The target of the release, and its form.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Output {
    /// The file; `-` is standard output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
    /// The form of ranges.
    pub publish: Publish,
    /// The order of the rows.
    pub order: Order,
    /// Publish the interval of the hierarchy that covers a numeric range, not its exact ends.
    pub snap: bool,
    /// Write text cells that a spreadsheet would run as a formula without the guarding apostrophe.
    pub raw_formulas: bool,
    /// How a text file is written, and the numbers and dates in it.
    #[serde(skip_serializing_if = "Dialect::is_input")]
    pub dialect: Dialect,
    /// Publish a random number for each person in place of the person key; new numbers for each
    /// release. Only where all rows of a person are in one class.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub pseudonyms: bool,
    /// The file with the secret key of the hashes of identifiers; a new random key, which nobody
    /// keeps, when absent. With one key, one value has the same hash in every release.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hash_key: Option<PathBuf>,
    /// The bytes of that key, once they are known; part of no text.
    #[serde(skip)]
    pub hash_secret: Option<HashSecret>,
    /// The file for the proof of a release that cannot be verified without one: of persons, or of
    /// rings. The command line writes and reads it. It is as secret as the table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proof: Option<PathBuf>,
    /// Write a codebook beside the release: what each column has and how its cells are read.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub codebook: bool,
}

/// How a text file is written: what stands between cells, how lines end, the mark of UTF-8, decimal
/// commas, local dates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Dialect {
    /// As the source, where that is text.
    #[default]
    Input,
    /// Commas (tabs in a `.tsv` file), LF, UTF-8 without a mark, decimal points, ISO 8601.
    Plain,
}

impl Dialect {
    /// True for the usual one.
    pub fn is_input(&self) -> bool {
        *self == Dialect::Input
    }
}

names!(Dialect, "dialect", { Input => "input", Plain => "plain" });

/// How a range of values is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Publish {
    /// `[20-30]`, the label of a group in the hierarchy, or `*`.
    #[default]
    Label,
    /// As `Label`, but a column without a hierarchy is published as the set of the values in the
    /// class, `{a, b}`. A release of rings has labels instead: a row covers values that it does not
    /// list.
    Set,
    /// Ordered attributes become two typed columns, `age_min` and `age_max`.
    Bounds,
    /// As `Bounds`, and numbers and dates have the middle of the two as `age_center`.
    Center,
}

impl Publish {
    /// True where ordered attributes are published as columns of bounds.
    pub fn has_bounds(self) -> bool {
        matches!(self, Publish::Bounds | Publish::Center)
    }
}

/// The order of the released rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// Sorted by the released values: independent of the order of the source.
    #[default]
    Canonical,
    /// As in the source: anyone who knows that order can re-identify the rows.
    Input,
}

/// k on some of the quasi-identifiers only.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SubsetRule {
    /// Every class of these columns has at least this many rows.
    pub k: u64,
    /// Some of the quasi-identifiers, at least one.
    pub columns: Vec<String>,
}

/// Limits on suppression, time and loss.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// The share of rows that may be suppressed, below 1; none when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suppress: Option<Share>,
    /// The price of a suppressed row, from 0 to 1, as a share of the loss of a row that publishes
    /// nothing: a row is left out only where the published rows then lose less by more than that.
    /// A quarter when absent. For local algorithms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suppression_price: Option<Share>,
    /// The time limit of the search: `500ms`, `90s`, `5m` or `1h`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// The greatest loss of a release (GCP), from 0 to 1; a release with a greater loss is not
    /// written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_loss: Option<Share>,
}

impl Request {
    /// Reads a TOML file, or a JSON file where its name ends in `.json`; paths in it are relative to
    /// the folder of the file.
    ///
    /// # Errors
    /// When the file cannot be read, is no TOML or JSON, or has an unknown key.
    pub fn read(path: &Path) -> Result<Request> {
        let bytes = std::fs::read(path).map_err(|source| Error::io(path, source))?;
        let text = String::from_utf8(bytes).map_err(|_| {
            let why = "the request is not in UTF-8: save it as UTF-8 in the editor";
            Error::request("request-not-utf8", why).at_file(path)
        })?;
        let is_json = path.extension().is_some_and(|end| end == "json");
        let parsed = if is_json { Request::from_json(&text) } else { Request::parse(&text) };
        let mut request = parsed.map_err(|error| error.at_file(path))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let from_here = |file: &mut PathBuf| {
            if *file != Path::new("-") {
                *file = folder.join(&*file);
            }
        };
        request.input.path.iter_mut().for_each(from_here);
        request.output.path.iter_mut().for_each(from_here);
        request.output.hash_key.iter_mut().for_each(from_here);
        request.output.proof.iter_mut().for_each(from_here);
        request.risk.population.iter_mut().for_each(from_here);
        for column in request.columns.values_mut() {
            if let Some(HierarchySpec::File(file)) = &mut column.hierarchy {
                from_here(file);
            }
        }
        Ok(request)
    }

    /// Parses the text of a TOML configuration.
    ///
    /// # Example
    /// ```
    /// use lookalike::Request;
    ///
    /// let request = Request::parse(
    ///     "k = 5
    ///      [columns]
    ///      age = { role = 'quasi', hierarchy = { intervals = [5, 10] } }
    ///      illness = { role = 'sensitive', l = 2 }",
    /// )?;
    /// assert_eq!(request.k, Some(5));
    /// assert_eq!(request.column("illness").and_then(|column| column.l), Some(2));
    /// assert!(Request::parse("kay = 5").is_err(), "an unknown key is refused");
    /// # Ok::<(), lookalike::Error>(())
    /// ```
    ///
    /// # Errors
    /// When it is no TOML, has an unknown key, or a version other than 1.
    pub fn parse(text: &str) -> Result<Request> {
        let refused = |error: toml::de::Error| {
            if is_toml(text) {
                Error::request("bad-toml", plain_toml(error.to_string().trim_end()))
            } else {
                // Perhaps a table, named by mistake: the message of the parser would quote a row.
                Error::request(
                    "not-a-request",
                    "this is not a request in TOML: it has no line KEY = VALUE",
                )
                .hint(Hint::WriteRequest)
            }
        };
        let request: Request = toml::from_str(text).map_err(refused)?;
        request.of_known_version()
    }

    /// The request as TOML: [`Request::parse`] gives the same request.
    ///
    /// # Errors
    /// When a path is not UTF-8, a number is not finite, or a column has two roles or two rules of
    /// one kind.
    pub fn to_toml(&self) -> Result<String> {
        self.check_conflicts()?;
        toml::to_string(self).map_err(not_written)
    }

    fn of_known_version(self) -> Result<Request> {
        match self.version {
            None | Some(1) => Ok(self),
            Some(version) => Err(Error::request(
                "unknown-version",
                format!("configuration version {version} is unknown; this program knows version 1"),
            )),
        }
    }

    /// The hierarchy files that it names.
    pub fn hierarchy_files(&self) -> impl Iterator<Item = PathBuf> {
        let file = |column: &ColumnRequest| match &column.hierarchy {
            Some(HierarchySpec::File(path)) => Some(path.clone()),
            _ => None,
        };
        self.columns.values().filter_map(file)
    }

    /// The request for one column, if there is one.
    pub fn column(&self, name: &str) -> Option<&ColumnRequest> {
        self.columns.get(name)
    }

    /// The share of rows that may be suppressed, 0 when absent.
    ///
    /// # Errors
    /// When it is not below 1.
    pub fn suppress(&self) -> Result<Ratio> {
        let Share(share) =
            self.limits.suppress.unwrap_or(Share(Ratio::new(0, 1).expect("1 is not 0")));
        if share.num() >= share.den() {
            let percent = share.to_f64();
            let written = match percent {
                1.0..100.0 => {
                    format!("{percent} percent is written {percent}% or {}", percent / 100.0)
                }
                _ => "one percent is written 1% or 0.01".to_string(),
            };
            let reason = format!("suppress must be below 100%: a release needs rows; {written}");
            return Err(Error::request("bad-suppress", reason));
        }
        Ok(share)
    }

    /// The price of a suppressed row, from 0 to 1; none when absent.
    ///
    /// # Errors
    /// When it is above 1.
    pub fn suppression_price(&self) -> Result<Option<f64>> {
        match self.limits.suppression_price {
            Some(Share(price)) if price.num() > price.den() => Err(Error::request(
                "bad-suppression-price",
                "suppression_price is from 0 to 1: with 1 a suppressed row costs as much as a row \
                 that publishes nothing, with 0 nothing",
            )),
            price => Ok(price.map(|Share(price)| price.to_f64())),
        }
    }

    /// The greatest loss that a release may have, from 0 to 1; none when absent.
    ///
    /// # Errors
    /// When it is above 1.
    pub fn max_loss(&self) -> Result<Option<f64>> {
        match self.limits.max_loss {
            Some(Share(share)) if share.num() > share.den() => Err(Error::request(
                "bad-max-loss",
                "max_loss is a share of the detail, at most 100%: for thirty percent write 30% or \
                 0.3",
            )),
            share => Ok(share.map(|Share(share)| share.to_f64())),
        }
    }

    /// The rounds or tries of a search, at least 1; none when absent.
    ///
    /// # Errors
    /// When it is 0.
    pub fn rounds(&self) -> Result<Option<u32>> {
        match self.rounds {
            Some(0) => Err(Error::request("bad-rounds", "rounds must be at least 1")),
            rounds => Ok(rounds),
        }
    }

    /// The time limit of the search; none when absent.
    ///
    /// One decimal number and one unit, seconds when there is none. (Not by `SignedDuration` of
    /// jiff, which reads other texts too, such as `1h30m`, `PT5M` and `-5s`, and refuses a bare
    /// `60`.)
    ///
    /// # Errors
    /// When the text is not a number with `ms`, `s`, `m`, `h` or no unit.
    pub fn time(&self) -> Result<Option<Duration>> {
        let Some(text) = &self.limits.time else { return Ok(None) };
        let bad = || Error::request("bad-time", "time is a number and a unit: 500ms, 60s, 5m, 1h");
        let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
        let (number, unit) = text.split_at(split);
        let number: f64 = number.trim().parse().map_err(|_| bad())?;
        let unit = match unit {
            "ms" => 0.001,
            "s" | "" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            _ => return Err(bad()),
        };
        Duration::try_from_secs_f64(number * unit).map(Some).map_err(|_| bad())
    }
}

/// The columns by name. JSON may have a name twice, and the first of the two would be forgotten.
fn columns<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<BTreeMap<String, ColumnRequest>, D::Error> {
    struct ColumnsVisitor;
    impl<'de> Visitor<'de> for ColumnsVisitor {
        type Value = BTreeMap<String, ColumnRequest>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a map from the names of columns to their keys")
        }

        fn visit_map<M: MapAccess<'de>>(
            self,
            mut map: M,
        ) -> std::result::Result<Self::Value, M::Error> {
            let mut columns = BTreeMap::new();
            while let Some(name) = map.next_key()? {
                if columns.contains_key(&name) {
                    return Err(M::Error::custom("this column is named twice"));
                }
                columns.insert(name, map.next_value()?);
            }
            Ok(columns)
        }
    }
    deserializer.deserialize_map(ColumnsVisitor)
}

/// The error for a request that no text can say.
fn not_written(why: impl fmt::Display) -> Error {
    Error::request("unwritable-request", format!("the request cannot be written as text: {why}"))
}

/// The message of the TOML parser without words of programmers. A brace that is missing is noticed
/// on a later line only.
fn plain_toml(said: &str) -> String {
    let brace = match said.contains("inline table") {
        true => "; the line above may lack its closing brace }",
        false => "",
    };
    plain_types(said) + brace
}

/// The types of a parser in words: `expected u64` is a whole number.
fn plain_types(said: &str) -> String {
    let Some((before, expected)) = said.rsplit_once(", expected ") else {
        return said.to_string();
    };
    let quoted = if before.contains("string") { " without quotes" } else { "" };
    let expected = match expected {
        "u64" | "u32" | "usize" => format!("a whole number{quoted}"),
        "f64" => format!("a number{quoted}"),
        "a boolean" => format!("true or false{quoted}"),
        "a string" => "a text in quotes".to_string(),
        other => other.to_string(),
    };
    format!("{before}, expected {expected}")
}

/// True when some line could be one of a TOML file.
fn is_toml(text: &str) -> bool {
    let is_key = |line: &str| {
        line.starts_with('[')
            || line.split_once('=').is_some_and(|(key, _)| !key.contains([',', ';', '\t']))
    };
    text.lines().map(str::trim).any(is_key)
}
