//! What was asked for: roles, kinds, weights, hierarchies, rules and limits, as plain data.
//!
//! The same structure is read from TOML and filled from command-line flags, and both the engine and the audit start from it.
//! Nothing here has seen the table yet; [`Config::roles`] meets its column names, [`Problem::new`](crate::Problem::new) its cells.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::{Error, Result};
use crate::ratio::Ratio;

/// The whole request.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
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
    pub columns: BTreeMap<String, ColumnConfig>,
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
    /// As `Label`, but a flat attribute shows the set of its values, `{a,b}`.
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

/// What a column is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Could be joined with outside data: generalized.
    Quasi,
    /// Must not be inferred: published, its spread in each class is what the rules are about.
    Sensitive,
    /// Names a person: dropped.
    Identifier,
    /// Published as it is.
    Keep,
}

/// How the values of a quasi-identifier relate to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Numbers, ordered by value.
    Numeric,
    /// Dates or timestamps, ordered by time.
    Date,
    /// Labels in a given order.
    Ordinal,
    /// Unordered labels, under a taxonomy or all under one root.
    Categorical,
}

/// One column's line.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ColumnConfig {
    /// What the column is.
    pub role: Role,
    /// Quasi-identifiers: how values relate; found from the cells when absent. Sensitive: `numeric` orders t-closeness by value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// Quasi-identifiers: how much its loss counts; 1 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    /// What may be published instead of a value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hierarchy: Option<HierarchyConfig>,
    /// The labels of an ordinal column, least first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<Vec<String>>,
    /// Sensitive: no value (or, with `values`, not these together) fills more than this share of a class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alpha: Option<Share>,
    /// Sensitive: the values that `alpha` is about; all of them, one by one, when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<Vec<String>>,
    /// Sensitive: l-diversity in frequency form, no value in more than 1/l of a class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub l: Option<u64>,
    /// Sensitive: at least this many different values in a class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distinct: Option<u64>,
    /// Sensitive: the entropy of a class is at least the logarithm of this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entropy: Option<Share>,
    /// Sensitive: recursive (c,l)-diversity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recursive: Option<Recursive>,
    /// Sensitive: t-closeness, the greatest distance of a class to the whole table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub t: Option<Share>,
    /// Sensitive: the ground distance for `t`; `equal` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distance: Option<Distance>,
    /// Keep: publish it although it determines a quasi-identifier.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dependent: bool,
}

impl ColumnConfig {
    /// A column of that role with nothing else said.
    pub fn new(role: Role) -> ColumnConfig {
        ColumnConfig {
            role,
            kind: None,
            weight: None,
            hierarchy: None,
            order: None,
            alpha: None,
            values: None,
            l: None,
            distinct: None,
            entropy: None,
            recursive: None,
            t: None,
            distance: None,
            dependent: false,
        }
    }
}

/// The parameters of recursive (c,l)-diversity: the commonest value's count is below c times the counts from the l-th on.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Recursive {
    /// The factor c.
    pub c: Share,
    /// The rank l.
    pub l: u64,
}

/// How far apart two sensitive values are, for t-closeness.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Distance {
    /// Any two differ by 1.
    #[default]
    Equal,
    /// By how many values stand between them, in value or given order.
    Ordered,
    /// By how high their common ancestor is in the column's hierarchy.
    Hierarchical,
}

/// A hierarchy: a file in the ARX form, or one line.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(
    untagged,
    expecting = "a hierarchy is a file name in quotes, or { intervals = [5, 10] }, { prefix = [4, 3] } or { date = [\"month\", \"year\"] }"
)]
pub enum HierarchyConfig {
    /// No header, `;` or `,` between, a line a leaf: the value, then its ancestors up to the root.
    File(PathBuf),
    /// Widths of intervals, finest first, each a multiple of the one before.
    Intervals(IntervalsConfig),
    /// How many leading characters are kept, longest first: `53712`, `5371*`, `537**`.
    Prefix(PrefixConfig),
    /// Which calendar units, finest first.
    Date(DateConfig),
}

/// `{ intervals = [5, 10, 20], origin = 0, bottom = 20, top = 80 }`
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct IntervalsConfig {
    /// Widths, finest first, each a multiple of the one before.
    pub intervals: Vec<f64>,
    /// Where an interval begins.
    #[serde(default)]
    pub origin: f64,
    /// Bottom coding: everything below is one interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bottom: Option<f64>,
    /// Top coding: everything from here on is one interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top: Option<f64>,
}

/// `{ prefix = [4, 3, 2] }`
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PrefixConfig {
    /// How many leading characters are kept, longest first.
    pub prefix: Vec<usize>,
}

/// `{ date = ["month", "year", "decade"] }`
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct DateConfig {
    /// Calendar units, finest first.
    pub date: Vec<DateUnit>,
}

/// A calendar unit that dates are generalized to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DateUnit {
    /// `2024-03-17`; for timestamps.
    Day,
    /// `2024-03`
    Month,
    /// `2024-Q1`
    Quarter,
    /// `2024`
    Year,
    /// `2020s`
    Decade,
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
}

/// A [`Ratio`] in a configuration: `0.29`, `"29%"` or `"29/100"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share(pub Ratio);

impl<'de> Deserialize<'de> for Share {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Share, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "a ratio is a number such as 0.25, or a text such as \"25%\" or \"1/4\"")]
        enum Written {
            Whole(u64),
            Decimal(f64),
            Text(String),
        }
        // A float prints as its shortest text, which is the text that was written: 0.29 becomes 29/100 again.
        let text = match Written::deserialize(deserializer)? {
            Written::Whole(n) => n.to_string(),
            Written::Decimal(x) => x.to_string(),
            Written::Text(text) => text,
        };
        text.parse().map(Share).map_err(serde::de::Error::custom)
    }
}

impl Serialize for Share {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_str(&format!("{}/{}", self.0.num(), self.0.den()))
    }
}

/// The columns by role, each list in the table's order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Roles {
    /// Generalized.
    pub quasi: Vec<String>,
    /// Published and counted.
    pub sensitive: Vec<String>,
    /// Published as they are.
    pub keep: Vec<String>,
    /// Not published.
    pub dropped: Vec<String>,
}

/// One rule: what must hold on every class of these columns.
#[derive(Clone, Debug, PartialEq)]
pub struct RuleSpec {
    /// The quasi-identifiers whose published values make the classes.
    pub columns: Vec<String>,
    /// What must hold.
    pub model: ModelSpec,
}

/// What must hold on a class.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelSpec {
    /// At least this many rows.
    K(u64),
    /// These values together fill at most this share; with none named, every value alone.
    Alpha {
        /// The sensitive column.
        column: String,
        /// The greatest share.
        alpha: Ratio,
        /// The values, or none for all one by one.
        values: Vec<String>,
    },
    /// At least this many different values.
    Distinct {
        /// The sensitive column.
        column: String,
        /// How many.
        l: u64,
    },
    /// Entropy at least ln l.
    Entropy {
        /// The sensitive column.
        column: String,
        /// The effective number of values.
        l: Ratio,
    },
    /// Recursive (c,l)-diversity.
    Recursive {
        /// The sensitive column.
        column: String,
        /// The factor.
        c: Ratio,
        /// The rank.
        l: u64,
    },
    /// Earth mover's distance to the whole table at most t.
    Closeness {
        /// The sensitive column.
        column: String,
        /// The greatest distance.
        t: Ratio,
        /// The ground distance.
        distance: Distance,
    },
}

impl Config {
    /// Reads a TOML file; paths in it are taken from the folder it lies in.
    ///
    /// # Errors
    /// When the file cannot be read, is no TOML, or has a key that nobody knows.
    pub fn read(path: &Path) -> Result<Config> {
        let text = std::fs::read_to_string(path).map_err(|source| Error::io(path, source))?;
        let mut config = Config::parse(&text).map_err(|error| Error::config(format!("{}: {error}", path.display())))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let from_here = |file: &mut PathBuf| {
            if *file != Path::new("-") {
                *file = folder.join(&*file);
            }
        };
        config.input.path.iter_mut().for_each(from_here);
        config.output.path.iter_mut().for_each(from_here);
        for column in config.columns.values_mut() {
            if let Some(HierarchyConfig::File(file)) = &mut column.hierarchy {
                from_here(file);
            }
        }
        Ok(config)
    }

    /// Parses the text of a TOML configuration.
    ///
    /// # Errors
    /// When it is no TOML, has an unknown key, or a version that this program does not know.
    pub fn parse(text: &str) -> Result<Config> {
        let config: Config = toml::from_str(text).map_err(|error| Error::config(error.to_string().trim_end()))?;
        match config.version {
            None | Some(1) => Ok(config),
            Some(version) => {
                Err(Error::config(format!("configuration version {version} is unknown; this program knows version 1")))
            }
        }
    }

    /// The column's line, if it has one.
    pub fn column(&self, name: &str) -> Option<&ColumnConfig> {
        self.columns.get(name)
    }

    /// Gives every column of the table its role.
    ///
    /// # Errors
    /// When a configured column is not in the table, a column has no role and `rest` is not settled, or no column is a
    /// quasi-identifier.
    pub fn roles(&self, names: &[String]) -> Result<Roles> {
        for name in self.columns.keys() {
            if !names.contains(name) {
                return Err(unknown_column(name, names));
            }
        }
        let mut roles = Roles::default();
        let mut unsettled = Vec::new();
        for name in names {
            let list = match (self.columns.get(name).map(|column| column.role), self.rest) {
                (Some(Role::Quasi), _) => &mut roles.quasi,
                (Some(Role::Sensitive), _) => &mut roles.sensitive,
                (Some(Role::Keep), _) | (None, Some(Rest::Keep)) => &mut roles.keep,
                (Some(Role::Identifier), _) | (None, Some(Rest::Drop)) => &mut roles.dropped,
                (None, None) => &mut unsettled,
            };
            list.push(name.clone());
        }
        if !unsettled.is_empty() {
            return Err(Error::config(format!(
                "no role for {}: give each a role (--qi, --sensitive, --identifier, --keep, or [columns] in the configuration), \
                 or settle the rest with --rest drop or --rest keep",
                list(&unsettled)
            )));
        }
        if roles.quasi.is_empty() {
            return Err(Error::config(format!(
                "no quasi-identifier: name the columns that could be joined with outside data, --qi a,b,c; the table has {}",
                list(names)
            )));
        }
        Ok(roles)
    }

    /// Every rule that was asked for, on columns that exist and with parameters that make sense.
    ///
    /// # Errors
    /// When there is no rule at all, k is 0, alpha is not in (0, 1], or a rule stands on a column of another role.
    pub fn rules(&self, roles: &Roles) -> Result<Vec<RuleSpec>> {
        let mut rules = Vec::new();
        let mut push = |model| rules.push(RuleSpec { columns: roles.quasi.clone(), model });
        if let Some(k) = self.k {
            push(ModelSpec::K(positive(k, "k")?));
        }
        for (name, column) in &self.columns {
            if column.role != Role::Sensitive {
                refuse_sensitive_keys(name, column)?;
                continue;
            }
            if column.weight.is_some() {
                return Err(Error::config(format!("column `{name}` is sensitive: a weight belongs to a quasi-identifier")));
            }
            if column.values.is_some() && column.alpha.is_none() {
                return Err(Error::config(format!(
                    "column `{name}` names values but no alpha: add alpha = 0.5 or drop the values"
                )));
            }
            if column.distance.is_some() && column.t.is_none() {
                return Err(Error::config(format!(
                    "column `{name}` names a distance but no t: add t = 0.2 or drop the distance"
                )));
            }
            let at = |key: &str| format!("{key} of column `{name}`");
            let column_name = || name.clone();
            if let Some(Share(alpha)) = column.alpha {
                if alpha.num() == 0 || alpha.num() > alpha.den() {
                    return Err(Error::config(format!("{} must lie above 0 and at most 1", at("alpha"))));
                }
                let values = column.values.clone().unwrap_or_default();
                if column.values.is_some() && values.is_empty() {
                    return Err(Error::config(format!("{} is an empty list: name a value or leave the key out", at("values"))));
                }
                push(ModelSpec::Alpha { column: column_name(), alpha, values });
            }
            if let Some(l) = column.l {
                let alpha = Ratio::new(1, positive(l, &at("l"))?).expect("l is positive");
                push(ModelSpec::Alpha { column: column_name(), alpha, values: Vec::new() });
            }
            if let Some(l) = column.distinct {
                push(ModelSpec::Distinct { column: column_name(), l: positive(l, &at("distinct"))? });
            }
            if let Some(Share(l)) = column.entropy {
                if l.num() < l.den() {
                    return Err(Error::config(format!("{} must be at least 1", at("entropy"))));
                }
                push(ModelSpec::Entropy { column: column_name(), l });
            }
            if let Some(Recursive { c: Share(c), l }) = column.recursive {
                if c.num() == 0 {
                    return Err(Error::config(format!("c in {} must be above 0", at("recursive"))));
                }
                push(ModelSpec::Recursive { column: column_name(), c, l: positive(l, &at("recursive"))? });
            }
            if let Some(Share(t)) = column.t {
                if t.num() > t.den() {
                    return Err(Error::config(format!("{} must lie between 0 and 1", at("t"))));
                }
                if self.limits.suppress.is_some_and(|Share(share)| share.num() > 0) {
                    return Err(Error::config(
                        "t-closeness measures each class against the whole table, so no row may be left out: drop --suppress or t",
                    ));
                }
                push(ModelSpec::Closeness { column: column_name(), t, distance: column.distance.unwrap_or_default() });
            }
        }
        for rule in &self.rules {
            for name in &rule.columns {
                if !roles.quasi.contains(name) {
                    return Err(Error::config(format!(
                        "a rule stands on column `{name}`, which is not a quasi-identifier; those are {}",
                        list(&roles.quasi)
                    )));
                }
            }
            if rule.columns.is_empty() {
                return Err(Error::config("a rule names no columns: columns = [\"a\", \"b\"]"));
            }
            rules.push(RuleSpec { columns: rule.columns.clone(), model: ModelSpec::K(positive(rule.k, "k of a rule")?) });
        }
        if rules.is_empty() {
            return Err(Error::config("no rule: say how many lookalikes everyone needs, -k 5"));
        }
        Ok(rules)
    }

    /// The share of rows that may be left out, 0 when nothing was said.
    ///
    /// # Errors
    /// When it is not below 1.
    pub fn suppress(&self) -> Result<Ratio> {
        let Share(share) = self.limits.suppress.unwrap_or(Share(Ratio::new(0, 1).expect("1 is not 0")));
        if share.num() >= share.den() {
            return Err(Error::config("suppress must lie below 100%: a release needs rows"));
        }
        Ok(share)
    }

    /// How long the search may take.
    ///
    /// # Errors
    /// When the text is not a number with `ms`, `s`, `m` or `h`.
    pub fn time(&self) -> Result<Option<Duration>> {
        let Some(text) = &self.limits.time else { return Ok(None) };
        let bad = || Error::config("time is a number and a unit: 500ms, 60s, 5m, 1h");
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

/// The error for a name that is not in the table, with the likeliest column meant.
pub(crate) fn unknown_column(name: &str, known: &[String]) -> Error {
    let near = known.iter().find(|other| other.eq_ignore_ascii_case(name) || other.trim() == name.trim());
    let hint = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
    Error::config(format!("there is no column `{name}`{hint} (the table has {})", list(known)))
}

/// Column names for a message: the first twelve, then how many more.
pub(crate) fn list(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(12).map(|name| format!("`{name}`")).collect();
    match names.len().saturating_sub(12) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

fn positive(number: u64, what: &str) -> Result<u64> {
    if number == 0 { Err(Error::config(format!("{what} must be at least 1"))) } else { Ok(number) }
}

fn refuse_sensitive_keys(name: &str, column: &ColumnConfig) -> Result<()> {
    let has_rule = column.alpha.is_some()
        || column.values.is_some()
        || column.l.is_some()
        || column.distinct.is_some()
        || column.entropy.is_some()
        || column.recursive.is_some()
        || column.t.is_some()
        || column.distance.is_some();
    if has_rule {
        return Err(Error::config(format!(
            "column `{name}` has a rule for a sensitive column but another role: set role = \"sensitive\" or drop the rule"
        )));
    }
    if column.role != Role::Quasi && (column.weight.is_some() || column.hierarchy.is_some() || column.order.is_some()) {
        return Err(Error::config(format!(
            "column `{name}` has a weight, hierarchy or order but is no quasi-identifier: set role = \"quasi\" or drop them"
        )));
    }
    match column.weight {
        Some(weight) if !(weight.is_finite() && weight >= 0.0) => {
            Err(Error::config(format!("weight of column `{name}` must be a number of at least 0")))
        }
        _ => Ok(()),
    }
}
