//! The rules of a request: privacy models on columns, by name.
//!
//! The engine and the audit both start from [`Request::rules`]; a rule that it forgot would be
//! forgotten by both, so a test sets every key and looks for its rule in the audit's verdict.

use super::effect::check_effect;
use super::ratio::{Ratio, Share};
use super::roles::list;
use super::{ColumnRequest, Distance, Recursive, Request, Role, Roles, SubsetRule};
use crate::error::{Error, Hint, Result};

/// One rule: a privacy model that every equivalence class of these columns must satisfy.
#[derive(Clone, Debug, PartialEq)]
pub struct RuleSpec {
    /// The quasi-identifiers whose published values make the classes.
    pub columns: Vec<String>,
    /// The condition on each class.
    pub model: ModelSpec,
}

impl ModelSpec {
    /// The sensitive column that the rule is about; none for k.
    pub fn column(&self) -> Option<&String> {
        match self {
            ModelSpec::K(_) => None,
            ModelSpec::Alpha { column, .. }
            | ModelSpec::Frequency { column, .. }
            | ModelSpec::Distinct { column, .. }
            | ModelSpec::Entropy { column, .. }
            | ModelSpec::Recursive { column, .. }
            | ModelSpec::Closeness { column, .. } => Some(column),
        }
    }
}

/// A privacy model: the condition on one class.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelSpec {
    /// At least this many rows.
    K(u64),
    /// These values together fill at most this share; with none named, every value alone.
    Alpha {
        /// The sensitive column.
        column: String,
        /// The greatest share, above 0 and at most 1.
        alpha: Ratio,
        /// The values that are counted together; empty: each value alone.
        values: Vec<String>,
    },
    /// No value fills more than 1/l of the class: l-diversity in frequency form.
    Frequency {
        /// The sensitive column.
        column: String,
        /// At least 1.
        l: u64,
    },
    /// At least this many different values.
    Distinct {
        /// The sensitive column.
        column: String,
        /// The least number of different values, at least 1.
        l: u64,
    },
    /// Entropy at least ln l.
    Entropy {
        /// The sensitive column.
        column: String,
        /// The least effective number of values, at least 1.
        l: Ratio,
    },
    /// Recursive (c,l)-diversity.
    Recursive {
        /// The sensitive column.
        column: String,
        /// The factor, above 0.
        c: Ratio,
        /// The rank, at least 1.
        l: u64,
    },
    /// Earth mover's distance to the whole table at most t.
    Closeness {
        /// The sensitive column.
        column: String,
        /// The greatest distance, from 0 to 1.
        t: Ratio,
        /// The ground distance.
        distance: Distance,
    },
}

impl Request {
    /// Every rule of the request, on columns that exist and with parameters in their range.
    ///
    /// # Errors
    /// When there is no rule, a parameter is out of its range, a rule is on a column of another
    /// role, or a quasi-identifier is under no rule.
    pub fn rules(&self, roles: &Roles) -> Result<Vec<RuleSpec>> {
        self.check_conflicts()?;
        let mut models: Vec<ModelSpec> = Vec::new();
        if let Some(k) = self.k {
            models.push(ModelSpec::K(least_k(k)?));
        }
        for (name, column) in &self.columns {
            if column.role == Role::Sensitive {
                check_sensitive(name, column)?;
                models.extend(alpha(name, column)?);
                models.extend(frequency(name, column)?);
                models.extend(distinct(name, column)?);
                models.extend(entropy(name, column)?);
                models.extend(recursive(name, column)?);
                models.extend(closeness(name, column, self)?);
            } else {
                check_other(name, column)?;
            }
            check_effect(name, column)?;
        }
        let on_all = |model| RuleSpec { columns: roles.quasi.clone(), model };
        let mut rules: Vec<RuleSpec> = models.into_iter().map(on_all).collect();
        for rule in &self.rules {
            rules.push(on_subset(rule, roles)?);
        }
        if rules.is_empty() {
            return Err(Error::request("no-rule", "no rule").hint(Hint::SetK));
        }
        refuse_unruled(&rules, roles)?;
        Ok(rules)
    }
}

/// Refuses keys of a sensitive column that have no effect there, or none without another key.
fn check_sensitive(name: &str, column: &ColumnRequest) -> Result<()> {
    let why = if column.weight.is_some() {
        "is sensitive: a weight belongs to a quasi-identifier"
    } else if column.values.is_some() && column.alpha.is_none() {
        "names values but no alpha: add alpha = 0.5 or remove the values"
    } else if column.distance.is_some() && column.t.is_none() {
        "names a distance but no t: add t = 0.2 or remove the distance"
    } else {
        return Ok(());
    };
    Err(Error::request("key-without-effect", format!("column `{name}` {why}")).about_column(name))
}

/// Sums of greater weights over many rows would not be exact.
const MOST_WEIGHT: f64 = 1e9;

/// Refuses rules on a column that is not sensitive, and keys of quasi-identifiers on other columns.
fn check_other(name: &str, column: &ColumnRequest) -> Result<()> {
    let has_rule = column.alpha.is_some()
        || column.values.is_some()
        || column.l.is_some()
        || column.distinct.is_some()
        || column.entropy.is_some()
        || column.recursive.is_some()
        || column.t.is_some()
        || column.distance.is_some();
    if has_rule {
        return Err(Error::request(
            "rule-needs-sensitive",
            format!(
                "column `{name}` has a rule for a sensitive column but another role: set role = \
                 \"sensitive\" or remove the rule"
            ),
        )
        .about_column(name));
    }
    if column.role != Role::Quasi
        && (column.weight.is_some() || column.hierarchy.is_some() || column.order.is_some())
    {
        return Err(Error::request(
            "key-needs-quasi",
            format!(
                "column `{name}` has a weight, hierarchy or order but is no quasi-identifier: set \
                 role = \"quasi\" or remove them"
            ),
        )
        .about_column(name));
    }
    match column.weight {
        Some(weight) if !(0.0..=MOST_WEIGHT).contains(&weight) => Err(Error::request(
            "bad-rule-value",
            format!("weight of column `{name}` must be a number from 0 to {MOST_WEIGHT}"),
        )
        .about_column(name)),
        _ => Ok(()),
    }
}

fn alpha(name: &str, column: &ColumnRequest) -> Result<Option<ModelSpec>> {
    let Some(Share(alpha)) = column.alpha else { return Ok(None) };
    if alpha.num() == 0 || alpha.num() > alpha.den() {
        return Err(out_of_range("alpha", name, "must be above 0 and at most 1"));
    }
    if column.values.as_ref().is_some_and(Vec::is_empty) {
        let why = "is an empty list: name a value or remove the key";
        return Err(out_of_range("values", name, why));
    }
    let values = column.values.clone().unwrap_or_default();
    Ok(Some(ModelSpec::Alpha { column: name.to_string(), alpha, values }))
}

fn frequency(name: &str, column: &ColumnRequest) -> Result<Option<ModelSpec>> {
    let Some(l) = column.l else { return Ok(None) };
    let l = positive(l, &key_of("l", name))?;
    Ok(Some(ModelSpec::Frequency { column: name.to_string(), l }))
}

fn distinct(name: &str, column: &ColumnRequest) -> Result<Option<ModelSpec>> {
    let Some(l) = column.distinct else { return Ok(None) };
    let l = positive(l, &key_of("distinct", name))?;
    Ok(Some(ModelSpec::Distinct { column: name.to_string(), l }))
}

fn entropy(name: &str, column: &ColumnRequest) -> Result<Option<ModelSpec>> {
    let Some(share @ Share(l)) = column.entropy else { return Ok(None) };
    if l.num() < l.den() || share.is_none() {
        return Err(out_of_range("entropy", name, "must be at least 1"));
    }
    Ok(Some(ModelSpec::Entropy { column: name.to_string(), l }))
}

fn recursive(name: &str, column: &ColumnRequest) -> Result<Option<ModelSpec>> {
    let Some(Recursive { c: share @ Share(c), l }) = column.recursive else { return Ok(None) };
    if c.num() == 0 || share.is_none() {
        return Err(Error::request(
            "bad-rule-value",
            format!("c in {} must be above 0", key_of("recursive", name)),
        )
        .about_column(name));
    }
    let l = positive(l, &key_of("recursive", name))?;
    Ok(Some(ModelSpec::Recursive { column: name.to_string(), c, l }))
}

fn closeness(name: &str, column: &ColumnRequest, request: &Request) -> Result<Option<ModelSpec>> {
    let Some(Share(t)) = column.t else { return Ok(None) };
    if t.num() > t.den() {
        return Err(out_of_range("t", name, "must be from 0 to 1"));
    }
    if request.limits.suppress.is_some_and(|Share(share)| share.num() > 0) {
        return Err(Error::request(
            "closeness-with-suppression",
            "t-closeness compares each class with the whole table, so no row may be suppressed",
        )
        .about_column(name)
        .hint(Hint::RemoveSuppression)
        .hint(Hint::plain("remove t")));
    }
    let distance = column.distance.unwrap_or_default();
    Ok(Some(ModelSpec::Closeness { column: name.to_string(), t, distance }))
}

/// k on some of the quasi-identifiers.
fn on_subset(rule: &SubsetRule, roles: &Roles) -> Result<RuleSpec> {
    for name in &rule.columns {
        if !roles.quasi.contains(name) {
            return Err(Error::request(
                "rule-on-other-column",
                format!(
                    "a rule names column `{name}`, which is not a quasi-identifier; those are {}",
                    list(&roles.quasi)
                ),
            )
            .about_column(name));
        }
    }
    if rule.columns.is_empty() {
        return Err(Error::request(
            "rule-without-columns",
            "a rule names no columns: columns = [\"a\", \"b\"]",
        ));
    }
    let model = ModelSpec::K(positive(rule.k, "k of a rule")?);
    Ok(RuleSpec { columns: rule.columns.clone(), model })
}

/// A quasi-identifier without a rule would be published unchanged.
fn refuse_unruled(rules: &[RuleSpec], roles: &Roles) -> Result<()> {
    let has_rule = |name: &String| rules.iter().any(|rule| rule.columns.contains(name));
    let unruled: Vec<String> = roles.quasi.iter().filter(|name| !has_rule(name)).cloned().collect();
    if unruled.is_empty() {
        return Ok(());
    }
    Err(Error::request(
        "column-without-rule",
        format!("no rule is about {}, so it would be published unchanged", list(&unruled)),
    )
    .hint(Hint::SetK)
    .hint(Hint::plain("give it the role keep")))
}

/// A key of a column for a message.
fn key_of(key: &str, name: &str) -> String {
    format!("{key} of column `{name}`")
}

fn out_of_range(key: &str, name: &str, why: &str) -> Error {
    Error::request("bad-rule-value", format!("{} {why}", key_of(key, name))).about_column(name)
}

fn least_k(k: u64) -> Result<u64> {
    if k == 0 {
        let reason = "k must be at least 1, and 1 protects nobody: use at least 2, better 5";
        return Err(Error::request("bad-rule-value", reason));
    }
    Ok(k)
}

fn positive(number: u64, what: &str) -> Result<u64> {
    if number == 0 {
        Err(Error::request("bad-rule-value", format!("{what} must be at least 1")))
    } else {
        Ok(number)
    }
}
