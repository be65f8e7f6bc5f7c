//! What was asked for: roles, kinds, weights, hierarchies, rules and limits, as plain data.
//!
//! The same structure is read from TOML and filled from command-line flags, and both the engine and
//! the audit start from it. Nothing here has seen the table yet; [`Request::roles`] meets its
//! column names, [`Problem::new`](crate::Problem::new) its cells.

mod column;
pub mod ratio;
mod rule;

pub use column::{
    ColumnRequest, DateSpec, DateUnit, Distance, HierarchySpec, IntervalsSpec, Kind, PrefixSpec,
    Recursive, Role, Share,
};
pub use rule::{ModelSpec, Roles, RuleSpec};
pub(crate) use rule::{did_you_mean, list};

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::request::ratio::Ratio;

/// The whole request.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Request {
    /// The form of this file; 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u32>,
    /// Every class has at least this many rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub k: Option<u64>,
    /// The algorithm's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub algorithm: Option<String>,
    /// Where ties are broken at random, from here; from the system's randomness if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// How many rounds the far-pair search of `top-down` and `bottom-up` takes, 3 when absent; how
    /// many tries `cluster` has for a cut, 15 when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rounds: Option<u32>,
    /// How many steps `auto` takes to improve what it has; when absent, as many as its time allows
    /// and as pay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
    /// Which partitions of a domain `optimal` may choose, for every column that does not say it:
    /// `bhs`, `ghs`, `gops`, `ops`, `gsps` or `sps`. When absent: `ops` for numbers without a
    /// hierarchy, `ghs` otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheme: Option<String>,
    /// What `optimal` and `incognito` make as small as they can: `ncp` (when absent), `hdm`, `dm`
    /// or `distortion`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<String>,
    /// Ask for, or expect, a release that is k-anonymous in the non-homogeneous sense only: rows
    /// that could be the same person need not show the same. The algorithm `ring` makes such
    /// releases and no other.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub non_homogeneous: bool,
    /// What happens to columns that no line names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rest: Option<Rest>,
    /// Texts that mean "missing" beside the empty cell, such as `?` or `NA`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// Where the table is and how to read it.
    pub input: Input,
    /// Where the release goes and how it shows ranges.
    pub output: Output,
    /// Role and treatment of each column.
    pub columns: BTreeMap<String, ColumnRequest>,
    /// Further k rules, each on its own columns.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<SubsetRule>,
    /// How much may be suppressed, how long the search may take.
    pub limits: Limits,
}

/// The columns that nobody named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Rest {
    /// Leave them out of the release.
    Drop,
    /// Publish them as they are.
    Keep,
}

/// Where the table is.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Input {
    /// The file; `-` is standard input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
    /// The CSV delimiter; guessed from the header when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delimiter: Option<char>,
}

/// Where the release goes.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Output {
    /// The file; `-` is standard output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
    /// How a range is written.
    pub publish: Publish,
    /// In which order the rows are written.
    pub order: Order,
    /// Publish the interval of the hierarchy that covers a numeric range, not its exact ends.
    pub snap: bool,
    /// Write text cells that a spreadsheet would run as a formula without the guarding apostrophe.
    pub raw_formulas: bool,
}

/// How a range of values is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Publish {
    /// `[20-30]`, the taxonomy's label, `*`.
    #[default]
    Label,
    /// As `Label`, but a flat attribute shows the set of its values, `{a,b}`. A release of rings
    /// shows labels instead: a row covers values that it does not list.
    Set,
    /// Ordered attributes become two typed columns, `age_min` and `age_max`.
    Bounds,
}

/// In which order the released rows stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// Sorted by the released values: says nothing about the source's order.
    #[default]
    Canonical,
    /// As in the source: whoever knows that order knows who is who.
    Input,
}

/// k on some of the quasi-identifiers only.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SubsetRule {
    /// Every class of these columns has at least this many rows.
    pub k: u64,
    /// The quasi-identifiers it is about.
    pub columns: Vec<String>,
}

/// How far the search may go.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// The share of rows that may be left out; none when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suppress: Option<Share>,
    /// How long the search may take, `90s` or `5m`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// The greatest loss of a release, as a share of the detail; one that loses more is not
    /// written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_loss: Option<Share>,
}

impl Request {
    /// Reads a TOML file; paths in it are taken from the folder it lies in.
    ///
    /// # Errors
    /// When the file cannot be read, is no TOML, or has a key that nobody knows.
    pub fn read(path: &Path) -> Result<Request> {
        let text = std::fs::read_to_string(path).map_err(|source| Error::io(path, source))?;
        let mut request = Request::parse(&text)
            .map_err(|error| Error::request(format!("{}: {error}", path.display())))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let from_here = |file: &mut PathBuf| {
            if *file != Path::new("-") {
                *file = folder.join(&*file);
            }
        };
        request.input.path.iter_mut().for_each(from_here);
        request.output.path.iter_mut().for_each(from_here);
        for column in request.columns.values_mut() {
            if let Some(HierarchySpec::File(file)) = &mut column.hierarchy {
                from_here(file);
            }
        }
        Ok(request)
    }

    /// Parses the text of a TOML configuration.
    ///
    /// # Errors
    /// When it is no TOML, has an unknown key, or a version that this program does not know.
    pub fn parse(text: &str) -> Result<Request> {
        let request: Request = toml::from_str(text).map_err(|error| match is_request(text) {
            true => Error::request(error.to_string().trim_end()),
            // A table that was named by mistake: the words of the error would quote a row.
            false => Error::request(
                "this is no request in TOML: no line says KEY = VALUE; lookalike init writes one",
            ),
        })?;
        match request.version {
            None | Some(1) => Ok(request),
            Some(version) => Err(Error::request(format!(
                "configuration version {version} is unknown; this program knows version 1"
            ))),
        }
    }

    /// The column's line, if it has one.
    pub fn column(&self, name: &str) -> Option<&ColumnRequest> {
        self.columns.get(name)
    }

    /// The share of rows that may be left out, 0 when nothing was said.
    ///
    /// # Errors
    /// When it is not below 1.
    pub fn suppress(&self) -> Result<Ratio> {
        let Share(share) =
            self.limits.suppress.unwrap_or(Share(Ratio::new(0, 1).expect("1 is not 0")));
        if share.num() >= share.den() {
            return Err(Error::request("suppress must lie below 100%: a release needs rows"));
        }
        Ok(share)
    }

    /// The greatest loss that a release may have, if one was named.
    ///
    /// # Errors
    /// When it is above 1.
    pub fn max_loss(&self) -> Result<Option<f64>> {
        match self.limits.max_loss {
            Some(Share(share)) if share.num() > share.den() => Err(Error::request(
                "max_loss is a share of the detail, at most 100%: for thirty percent write 30% or 0.3",
            )),
            share => Ok(share.map(|Share(share)| share.to_f64())),
        }
    }

    /// How many rounds or tries a search takes, if it was said.
    ///
    /// # Errors
    /// When it is 0.
    pub fn rounds(&self) -> Result<Option<u32>> {
        match self.rounds {
            Some(0) => Err(Error::request(
                "rounds is at least 1: without one there is nothing to choose from",
            )),
            rounds => Ok(rounds),
        }
    }

    /// How long the search may take.
    ///
    /// # Errors
    /// When the text is not a number with `ms`, `s`, `m` or `h`.
    pub fn time(&self) -> Result<Option<Duration>> {
        let Some(text) = &self.limits.time else { return Ok(None) };
        let bad = || Error::request("time is a number and a unit: 500ms, 60s, 5m, 1h");
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
/// True when some line could be one of a TOML file.
fn is_request(text: &str) -> bool {
    let is_key = |line: &str| {
        line.starts_with('[')
            || line.split_once('=').is_some_and(|(key, _)| !key.contains([',', ';', '\t']))
    };
    text.lines().map(str::trim).any(is_key)
}
