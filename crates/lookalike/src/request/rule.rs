//! Roles and rules by column name: what the engine and the audit both start from.

use super::{ColumnRequest, Distance, Recursive, Request, Rest, Role, Share};
use crate::error::{Error, Result};
use crate::request::ratio::Ratio;

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

impl ModelSpec {
    /// The sensitive column that the rule is about.
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
    /// No value fills more than 1/l of the class: l-diversity in frequency form.
    Frequency {
        /// The sensitive column.
        column: String,
        /// How many values of equal count there could be.
        l: u64,
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

impl Request {
    /// Gives every column of the table its role.
    ///
    /// # Errors
    /// When a configured column is not in the table, a column has no role and `rest` is not
    /// settled, or no column is a quasi-identifier.
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
            return Err(Error::request(format!(
                "no role for {}: give each a role (--qi, --sensitive, --identifier, --keep, or [columns] in the configuration), \
                 or settle the rest with --rest drop or --rest keep",
                list(&unsettled)
            )));
        }
        if roles.quasi.is_empty() {
            return Err(Error::request(format!(
                "no quasi-identifier: name the columns that could be joined with outside data, --qi a,b,c; the table has {}",
                list(names)
            )));
        }
        Ok(roles)
    }

    /// Every rule that was asked for, on columns that exist and with parameters that make sense.
    ///
    /// # Errors
    /// When there is no rule at all, k is 0, alpha is not in (0, 1], or a rule stands on a column
    /// of another role.
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
                return Err(Error::request(format!(
                    "column `{name}` is sensitive: a weight belongs to a quasi-identifier"
                )));
            }
            if column.values.is_some() && column.alpha.is_none() {
                return Err(Error::request(format!(
                    "column `{name}` names values but no alpha: add alpha = 0.5 or drop the values"
                )));
            }
            if column.distance.is_some() && column.t.is_none() {
                return Err(Error::request(format!(
                    "column `{name}` names a distance but no t: add t = 0.2 or drop the distance"
                )));
            }
            let at = |key: &str| format!("{key} of column `{name}`");
            let column_name = || name.clone();
            if let Some(Share(alpha)) = column.alpha {
                if alpha.num() == 0 || alpha.num() > alpha.den() {
                    return Err(Error::request(format!(
                        "{} must lie above 0 and at most 1",
                        at("alpha")
                    )));
                }
                let values = column.values.clone().unwrap_or_default();
                if column.values.is_some() && values.is_empty() {
                    return Err(Error::request(format!(
                        "{} is an empty list: name a value or leave the key out",
                        at("values")
                    )));
                }
                push(ModelSpec::Alpha { column: column_name(), alpha, values });
            }
            if let Some(l) = column.l {
                push(ModelSpec::Frequency { column: column_name(), l: positive(l, &at("l"))? });
            }
            if let Some(l) = column.distinct {
                push(ModelSpec::Distinct {
                    column: column_name(),
                    l: positive(l, &at("distinct"))?,
                });
            }
            if let Some(Share(l)) = column.entropy {
                if l.num() < l.den() {
                    return Err(Error::request(format!("{} must be at least 1", at("entropy"))));
                }
                push(ModelSpec::Entropy { column: column_name(), l });
            }
            if let Some(Recursive { c: Share(c), l }) = column.recursive {
                if c.num() == 0 {
                    return Err(Error::request(format!(
                        "c in {} must be above 0",
                        at("recursive")
                    )));
                }
                push(ModelSpec::Recursive {
                    column: column_name(),
                    c,
                    l: positive(l, &at("recursive"))?,
                });
            }
            if let Some(Share(t)) = column.t {
                if t.num() > t.den() {
                    return Err(Error::request(format!("{} must lie between 0 and 1", at("t"))));
                }
                if self.limits.suppress.is_some_and(|Share(share)| share.num() > 0) {
                    return Err(Error::request(
                        "t-closeness measures each class against the whole table, so no row may be left out: drop --suppress or t",
                    ));
                }
                push(ModelSpec::Closeness {
                    column: column_name(),
                    t,
                    distance: column.distance.unwrap_or_default(),
                });
            }
        }
        for rule in &self.rules {
            for name in &rule.columns {
                if !roles.quasi.contains(name) {
                    return Err(Error::request(format!(
                        "a rule stands on column `{name}`, which is not a quasi-identifier; those are {}",
                        list(&roles.quasi)
                    )));
                }
            }
            if rule.columns.is_empty() {
                return Err(Error::request("a rule names no columns: columns = [\"a\", \"b\"]"));
            }
            rules.push(RuleSpec {
                columns: rule.columns.clone(),
                model: ModelSpec::K(positive(rule.k, "k of a rule")?),
            });
        }
        if rules.is_empty() {
            return Err(Error::request("no rule: say how many rows must look alike, -k 5"));
        }
        let unruled: Vec<String> = roles
            .quasi
            .iter()
            .filter(|name| !rules.iter().any(|rule| rule.columns.contains(name)))
            .cloned()
            .collect();
        if !unruled.is_empty() {
            return Err(Error::request(format!(
                "no rule is about {}, so it would be published as it is: add a rule on all quasi-identifiers (-k 5), or keep it",
                list(&unruled)
            )));
        }
        Ok(rules)
    }
}

/// The error for a name that is not in the table, with the likeliest column meant.
fn unknown_column(name: &str, known: &[String]) -> Error {
    let bounds = known.contains(&format!("{name}_min"));
    let hint = if bounds {
        "; it was published as bounds: use verify".to_string()
    } else {
        did_you_mean(name, known)
    };
    Error::request(format!("there is no column `{name}`{hint} (the table has {})", list(known)))
}

/// A hint at the name that was likely meant, empty when none is near.
pub(crate) fn did_you_mean(name: &str, known: &[String]) -> String {
    let near = known
        .iter()
        .map(|other| (distance(&other.trim().to_lowercase(), &name.trim().to_lowercase()), other))
        .min();
    match near {
        Some((steps, near)) if steps <= 2 && steps < name.len() => {
            format!("; did you mean `{near}`?")
        }
        _ => String::new(),
    }
}

/// How many letters must be changed, added or taken away to make one text the other.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.chars().enumerate() {
        let mut before = row[0];
        row[0] = i + 1;
        for (j, b) in other.iter().enumerate() {
            let change = before + usize::from(a != *b);
            before = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(before + 1);
        }
    }
    row[other.len()]
}

/// Sums of greater weights over many rows would not be exact.
const MOST_WEIGHT: f64 = 1e9;

/// Column names for a message: the first twelve, then how many more.
pub(crate) fn list(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(12).map(|name| format!("`{name}`")).collect();
    match names.len().saturating_sub(12) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

fn positive(number: u64, what: &str) -> Result<u64> {
    if number == 0 { Err(Error::request(format!("{what} must be at least 1"))) } else { Ok(number) }
}

fn refuse_sensitive_keys(name: &str, column: &ColumnRequest) -> Result<()> {
    let has_rule = column.alpha.is_some()
        || column.values.is_some()
        || column.l.is_some()
        || column.distinct.is_some()
        || column.entropy.is_some()
        || column.recursive.is_some()
        || column.t.is_some()
        || column.distance.is_some();
    if has_rule {
        return Err(Error::request(format!(
            "column `{name}` has a rule for a sensitive column but another role: set role = \"sensitive\" or drop the rule"
        )));
    }
    if column.role != Role::Quasi
        && (column.weight.is_some() || column.hierarchy.is_some() || column.order.is_some())
    {
        return Err(Error::request(format!(
            "column `{name}` has a weight, hierarchy or order but is no quasi-identifier: set role = \"quasi\" or drop them"
        )));
    }
    match column.weight {
        Some(weight) if !(0.0..=MOST_WEIGHT).contains(&weight) => Err(Error::request(format!(
            "weight of column `{name}` must be a number from 0 to {MOST_WEIGHT}"
        ))),
        _ => Ok(()),
    }
}
