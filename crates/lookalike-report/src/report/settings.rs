//! The settings of a request in words, for the record: what was asked for, and how the table was to
//! be read. The public edition has those alone that the release shows anyway.

use lookalike::request::{ColumnRequest, HierarchySpec, Order, Persons, Publish, Rest, Share};
use lookalike::{Algorithm, Request};
use serde_json::Value;

use super::counts::CountPolicy;
use lookalike::numbers::{count, percent};

/// What is set, and to what.
pub(super) type Setting = (&'static str, String);

/// The settings that are not about one column.
pub(super) fn settings(request: &Request, rules: &[String], policy: CountPolicy) -> Vec<Setting> {
    let mut list: Vec<Setting> = Vec::new();
    if !rules.is_empty() {
        list.push(("rules", rules.join("; ")));
    }
    list.push(("rows that may be suppressed", share(request.limits.suppress, "none")));
    if request.limits.max_loss.is_some() {
        list.push(("greatest loss to accept", share(request.limits.max_loss, "any")));
    }
    if request.has_persons() {
        let how = match request.persons {
            None => "persons, as the table suggests",
            Some(Persons::Whole) => "persons; all rows of a person are in one class",
            Some(Persons::Rows) => "persons; their rows may be in several classes",
        };
        list.push(("counted are", how.to_string()));
    }
    if let Some(column) = &request.count {
        list.push(("column of counts", column.clone()));
    }
    if !request.purpose.is_empty() {
        list.push((
            "purpose: weights of columns by what they tell about",
            request.purpose.join(", "),
        ));
    }
    list.push(("form of ranges", form(request)));
    list.push(("order of rows", order(request).to_string()));
    if policy == CountPolicy::Exact {
        list.extend(internal(request));
    }
    list
}

fn share(share: Option<Share>, none: &str) -> String {
    share.map_or(none.to_string(), |Share(share)| percent(share.to_f64()))
}

fn form(request: &Request) -> String {
    let form = match request.output.publish {
        Publish::Label => "labels such as [20-30]",
        Publish::Set => "sets of values where a column has no hierarchy, else labels",
        Publish::Bounds => "two columns, the least and the greatest value",
        Publish::Center => "three columns, the least and the greatest value and their middle",
    };
    let ends = match request.output.snap {
        true => "intervals of the hierarchies (snap)",
        false => "their ends are values that occur in the class",
    };
    format!("{form}; {ends}")
}

fn order(request: &Request) -> &'static str {
    match request.output.order {
        Order::Canonical => "sorted by the published values",
        Order::Input => "as in the source",
    }
}

/// How the release was to be found and the source to be read.
fn internal(request: &Request) -> Vec<Setting> {
    let mut search = match &request.algorithm {
        Some(name) => name.clone(),
        None => format!("{} (the default)", Algorithm::Auto.name()),
    };
    let limits = [
        ("steps", request.steps.map(count)),
        ("time", request.limits.time.clone()),
        ("rounds", request.rounds.map(|rounds| count(rounds.into()))),
        ("scheme", request.scheme.clone()),
        ("cost", request.cost.clone()),
    ];
    for (what, value) in limits {
        if let Some(value) = value {
            search += &format!(", {what} {value}");
        }
    }
    let seed = match request.seed {
        Some(_) => "set in the request; it is secret and not printed",
        None => "none: random numbers come from the system",
    };
    let missing = match request.missing.is_empty() {
        true => "the empty cell".to_string(),
        false => format!("the empty cell and {}", quoted(&request.missing)),
    };
    let rest = match request.rest {
        None => "there are none",
        Some(Rest::Drop) => "dropped",
        Some(Rest::Keep) => "kept unchanged",
    };
    let formulas = match request.output.raw_formulas {
        true => "published as they are",
        false => "with an apostrophe before them in text files",
    };
    vec![
        ("search", search),
        ("seed", seed.to_string()),
        ("cells that mean missing", missing),
        ("columns without a role of their own", rest.to_string()),
        ("cells that look like formulas", formulas.to_string()),
        ("reading of the source", reading(request)),
    ]
}

/// Every key of `[input]` but the path, so that a new one is not forgotten.
fn reading(request: &Request) -> String {
    let Ok(Value::Object(keys)) = serde_json::to_value(&request.input) else {
        return String::new();
    };
    let set: Vec<String> = keys
        .iter()
        .filter(|(key, _)| *key != "path")
        .map(|(key, value)| format!("{key} = {value}"))
        .collect();
    match set.is_empty() {
        true => "as found in the file".to_string(),
        false => format!("{}; the rest as found in the file", set.join(", ")),
    }
}

fn quoted(texts: &[String]) -> String {
    texts.iter().map(|text| format!("`{text}`")).collect::<Vec<_>>().join(", ")
}

/// The keys of a column except its role and reason: `hierarchy: prefixes of 4, 3 characters`.
pub(super) fn of_column(column: &ColumnRequest, policy: CountPolicy) -> String {
    let Ok(Value::Object(keys)) = serde_json::to_value(column) else { return String::new() };
    let mut said = Vec::new();
    for (key, value) in &keys {
        said.push(match (key.as_str(), value) {
            ("role" | "reason", _) => continue,
            // It says that the column determines another one in the source.
            ("dependent", _) if policy != CountPolicy::Exact => continue,
            ("hierarchy", _) => match &column.hierarchy {
                Some(spec) => format!("hierarchy: {}", hierarchy(spec, policy)),
                None => continue,
            },
            ("order" | "values", Value::Array(labels)) => format!("{key}: {}", labels.len()),
            (_, Value::String(text)) => format!("{key}: {text}"),
            (_, value) => format!("{key}: {value}"),
        });
    }
    said.join("; ")
}

fn hierarchy(spec: &HierarchySpec, policy: CountPolicy) -> String {
    let list = |items: Vec<String>| items.join(", ");
    match spec {
        HierarchySpec::File(path) if policy == CountPolicy::Exact => {
            format!("file {}", path.display())
        }
        HierarchySpec::File(path) => {
            let name = path.file_name().unwrap_or_default();
            format!("file {}", name.to_string_lossy())
        }
        HierarchySpec::Intervals(spec) => {
            let mut said = format!(
                "intervals of {}",
                list(spec.intervals.iter().map(f64::to_string).collect())
            );
            let ends = [("from", Some(spec.origin)), ("below", spec.bottom), ("above", spec.top)];
            for (what, end) in ends {
                if let Some(end) = end.filter(|&end| what != "from" || end != 0.0) {
                    said += &format!(", {what} {end}");
                }
            }
            said
        }
        HierarchySpec::Prefix(spec) => {
            let lengths = list(spec.prefix.iter().map(usize::to_string).collect());
            format!("prefixes of {lengths} characters")
        }
        HierarchySpec::Date(spec) => {
            let Ok(Value::Array(units)) = serde_json::to_value(&spec.date) else {
                return "calendar".to_string();
            };
            list(units.iter().filter_map(Value::as_str).map(String::from).collect())
        }
        HierarchySpec::Rows(spec) => {
            format!("{} rows in the request", count(spec.rows.len() as u64))
        }
        HierarchySpec::Text(_) => "a text in the request".to_string(),
        HierarchySpec::Builtin(builtin) => format!("ready-made, {}", builtin.name()),
    }
}
