//! Numbers about the table before any search: unique rows, rows below k, rows in classes that break a
//! rule, whether a request can be met at all, and how many rows a person could be.
//!
//! They answer while somebody types, on millions of rows: every value has a random number, the sum of
//! those of a row is the number of its combination, and rows with equal numbers are a class. The sum
//! without one column is the number of the combination without it. Two combinations share a number
//! with a chance of one in 10^19: nothing is published by these numbers.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_schema::DataType;
use lookalike::audit;
use lookalike::request::{ColumnRequest, HierarchySpec, Kind, Role};
use lookalike::table::{Coded, Column, Table};
use lookalike::{Problem, Request};
use rayon::prelude::*;
use serde_json::{Value, json};

use crate::failure::{Answer, Failure};
use crate::source::SourceTable;

/// Rows of which unique ones are counted column by column; of more, the first so many of a random
/// order would be another question, so evenly spaced ones.
const SAMPLED: usize = 200_000;

/// Rules on sensitive columns are evaluated while somebody types up to so many rows.
const JUDGED: usize = 300_000;

/// With more quasi-identifiers, leaving out each of them says little and takes long.
const MOST_COLUMNS: usize = 14;

/// The classes of some columns.
#[derive(Debug)]
pub(crate) struct Classes {
    /// Rows, or different persons, of each class; ascending.
    sizes: Vec<u32>,
    /// Rows that are unique on each column alone, and on all others without it.
    alone: Vec<usize>,
    without: Vec<usize>,
    /// The rows in which these were counted.
    counted: usize,
}

/// So many sets of columns have their classes at hand.
const KNOWN: usize = 4;

/// The classes of these columns; those of the last calls are at hand.
fn classes(source: &SourceTable, quasi: &[String], person: &[String]) -> Answer<Arc<Classes>> {
    let key: Vec<String> = quasi.iter().chain([&String::new()]).chain(person).cloned().collect();
    let last = || source.classes.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some((_, found)) = last().iter().find(|(known, _)| *known == key) {
        return Ok(Arc::clone(found));
    }
    let rows = source.table.rows();
    let coded =
        |names: &[String]| names.iter().map(|name| source.coded(name)).collect::<Answer<Vec<_>>>();
    let (columns, persons) = (coded(quasi)?, coded(person)?);
    let of_person = (!persons.is_empty()).then(|| sums(&persons, rows, 1));
    let mut sizes = class_sizes(sums(&columns, rows, 1), of_person.as_deref());
    sizes.sort_unstable();
    let step = rows.div_ceil(SAMPLED).max(1);
    let (alone, without) = match quasi.len() <= MOST_COLUMNS {
        true => by_column(&columns, rows, step),
        false => Default::default(),
    };
    let found = Arc::new(Classes { sizes, alone, without, counted: rows.div_ceil(step) });
    let mut known = last();
    known.insert(0, (key, Arc::clone(&found)));
    known.truncate(KNOWN);
    Ok(found)
}

/// The measures of a request on a table.
pub(crate) fn measure(source: &SourceTable, request: &Request) -> Answer<Value> {
    let table = &source.table;
    let with_role = |role: Role| {
        let is_it = move |name: &&String| {
            request.column(name).is_some_and(|line: &ColumnRequest| line.role == role)
        };
        table.columns().iter().map(|column| &column.name).filter(is_it).cloned().collect()
    };
    let quasi: Vec<String> = with_role(Role::Quasi);
    let person: Vec<String> = with_role(Role::Person);
    let k = request.k.unwrap_or(1);
    let mut answer = json!({
        "rows": table.rows(), "quasi": quasi, "k": request.k, "classes": null, "smallest": null,
        "unique": null, "below_k": null, "alone": [], "without": [], "counted": 0, "rules": [],
        "feasible": null, "why": null, "unit": if person.is_empty() { "rows" } else { "persons" },
        "warnings": [], "error": null,
    });
    if quasi.is_empty() {
        answer["why"] = json!("no column is a quasi-identifier yet");
        return Ok(answer);
    }
    let found = classes(source, &quasi, &person)?;
    answer["classes"] = json!(found.sizes.len());
    answer["smallest"] = json!(found.sizes.first());
    answer["unique"] = json!(found.sizes.partition_point(|&size| size <= 1));
    let below = found.sizes.partition_point(|&size| u64::from(size) < k);
    answer["below_k"] =
        json!(found.sizes[..below].iter().map(|&size| u64::from(size)).sum::<u64>());
    if quasi.len() <= MOST_COLUMNS {
        let named = |unique: &[usize]| -> Vec<Value> {
            let lines = quasi.iter().zip(unique);
            lines.map(|(column, unique)| json!({ "column": column, "unique": unique })).collect()
        };
        answer["alone"] = json!(named(&found.alone));
        answer["without"] = json!(named(&found.without));
        answer["counted"] = json!(found.counted);
    }
    match feasible(source, request, &quasi) {
        Ok(()) => answer["feasible"] = json!(true),
        Err(failure) => {
            answer["feasible"] = json!(false);
            answer["why"] = json!(failure.message);
        }
    }
    let is_judged = table.rows() <= JUDGED && answer["feasible"] == json!(true);
    let verdict = is_judged.then(|| audit::audit_table(table, &settled(source, request)).ok());
    if let Some(verdict) = verdict.flatten() {
        let line = |rule: &audit::RuleVerdict| json!({ "rule": rule.rule, "rows": rule.rows, "holds": rule.violations == 0 });
        answer["rules"] = json!(verdict.rules.iter().map(line).collect::<Vec<Value>>());
    }
    Ok(answer)
}

/// The request with a fate for every column, so that it can be measured while roles are open.
fn settled(source: &SourceTable, request: &Request) -> Request {
    let mut request = request.clone();
    request.rest.get_or_insert(lookalike::request::Rest::Drop);
    let is_there = |name: &String| source.table.column(name).is_some();
    request.columns.retain(|name, _| is_there(name));
    request
}

/// For every step-th row the sum of the random numbers of its values.
fn sums(columns: &[&Coded], rows: usize, step: usize) -> Vec<u64> {
    let numbers: Vec<Vec<u64>> =
        columns.iter().enumerate().map(|(at, column)| numbers(column, at)).collect();
    let mut sums = vec![0_u64; rows.div_ceil(step)];
    // Block by block, so that the sums stay near the processor.
    sums.par_chunks_mut(BLOCK).enumerate().for_each(|(block, sums)| {
        for (column, of_code) in columns.iter().zip(&numbers) {
            for (place, sum) in sums.iter_mut().enumerate() {
                let row = (block * BLOCK + place) * step;
                *sum = sum.wrapping_add(of_code[column.codes().get(row) as usize]);
            }
        }
    });
    sums
}

/// Rows of a block.
const BLOCK: usize = 1 << 14;

/// A random number for each value of a column.
fn numbers(column: &Coded, at: usize) -> Vec<u64> {
    let seed = (at as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (0..column.values().len() as u64).map(|code| mixed(code.wrapping_add(seed))).collect()
}

/// Every bit of a number changes every bit of the result (the last steps of splitmix64).
fn mixed(number: u64) -> u64 {
    let z = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The sizes of the classes: rows, or different persons.
fn class_sizes(mut numbers: Vec<u64>, person: Option<&[u64]>) -> Vec<u32> {
    let size = |class: usize| u32::try_from(class).unwrap_or(u32::MAX);
    match person {
        None => {
            numbers.par_sort_unstable();
            numbers.chunk_by(|a, b| a == b).map(|class| size(class.len())).collect()
        }
        Some(person) => {
            let mut pairs: Vec<(u64, u64)> =
                numbers.into_iter().zip(person.iter().copied()).collect();
            pairs.par_sort_unstable();
            pairs.dedup();
            pairs.chunk_by(|a, b| a.0 == b.0).map(|class| size(class.len())).collect()
        }
    }
}

/// Unique rows on each column alone, and on all others without it, of every step-th row.
fn by_column(columns: &[&Coded], rows: usize, step: usize) -> (Vec<usize>, Vec<usize>) {
    let all = sums(columns, rows, step);
    let unique = |numbers: Vec<u64>| {
        class_sizes(numbers, None).into_iter().filter(|&size| size == 1).count()
    };
    let of = |at: usize| {
        let of_code = numbers(columns[at], at);
        let own = |place: usize| of_code[columns[at].codes().get(place * step) as usize];
        let alone: Vec<u64> = (0..all.len()).map(own).collect();
        let without = all.iter().zip(&alone).map(|(sum, own)| sum.wrapping_sub(*own)).collect();
        let without = if columns.len() > 1 { unique(without) } else { 0 };
        (unique(alone), without)
    };
    (0..columns.len()).into_par_iter().map(of).unzip()
}

/// True when some release satisfies the rules, for all that can be seen without the
/// quasi-identifiers: the table as one class. The sentence is that of the library.
fn feasible(source: &SourceTable, request: &Request, quasi: &[String]) -> Answer<()> {
    let mut request = settled(source, request);
    // The real columns are checked for their rules and keys, then one constant stands for them.
    let names: Vec<String> =
        source.table.columns().iter().map(|column| column.name.clone()).collect();
    request.rules(&request.roles(&names)?)?;
    let first = &quasi[0];
    request.rules.clear();
    request.persons = None;
    request.output.pseudonyms = false;
    request.output.hash_key = None;
    request.count = None;
    request.accept_unique = false;
    let has_rule = |line: &&ColumnRequest| line.role == Role::Sensitive && line.has_rule();
    let ruled = request.columns.iter().filter(|(_, line)| has_rule(line));
    let mut checks: Vec<Option<String>> = ruled.map(|(name, _)| Some(name.clone())).collect();
    checks.push(None);
    checks.iter().try_for_each(|name| as_one_class(source, &request, first, name.as_deref()))
}

/// The column that counts rows in a table of values.
const COUNT: &str = "lookalike rows of a value";

/// Tests k and the rules on one sensitive column on the whole table as one class: its values and
/// their rows are all that matters.
fn as_one_class(
    source: &SourceTable,
    request: &Request,
    quasi: &str,
    sensitive: Option<&str>,
) -> Answer<()> {
    let mut request = request.clone();
    request.columns.retain(|name, _| Some(name.as_str()) == sensitive);
    request.columns.insert(quasi.to_string(), ColumnRequest::new(Role::Quasi));
    request.count = Some(COUNT.to_string());
    let (values, rows) = match sensitive {
        Some(name) => {
            (Some((name, source.coded(name)?.values().to_vec())), source.counts(name)?.to_vec())
        }
        None => (None, vec![source.table.rows() as u64]),
    };
    let column = |name: &str, coded: Coded| Column {
        name: name.to_string(),
        data_type: DataType::Utf8,
        coded: Some(coded),
        passthrough: None,
    };
    let counts: Vec<String> = rows.iter().map(ToString::to_string).collect();
    let constant = Coded::from_cells(std::iter::repeat_n(Some("x"), rows.len()));
    let counted = Coded::from_cells(counts.iter().map(|count| Some(count.as_str())));
    let mut columns = vec![column(quasi, constant), column(COUNT, counted)];
    if let Some((name, values)) = values {
        columns.push(column(name, Coded::from_cells(values.iter().map(Option::as_deref))));
    }
    let names: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
    let table = Table::new(columns, rows.len());
    Problem::new(&table, &request.roles(&names)?, &request)?;
    Ok(())
}

/// How many rows have these values: a text is the beginning of a label, or equals a number.
pub(crate) fn find(
    source: &SourceTable,
    request: &Request,
    values: &BTreeMap<String, String>,
) -> Answer<Value> {
    let mut wanted: Vec<(&Coded, Vec<bool>)> = Vec::new();
    for (name, text) in values.iter().filter(|(_, text)| !text.trim().is_empty()) {
        let coded = source.coded(name)?;
        let text = text.trim().to_lowercase();
        // Codes of places are labels, though they look like numbers.
        let profile = source.profiles.iter().find(|profile| profile.name == *name);
        let is_label = request.column(name).is_some_and(|line| {
            line.kind == Some(Kind::Categorical)
                || matches!(line.hierarchy, Some(HierarchySpec::Prefix(_)))
        }) || profile.is_some_and(|profile| profile.looks == Kind::Categorical);
        let as_number = text.replace(',', ".").parse::<f64>().ok().filter(|_| !is_label);
        let is_number = |value: &str| value.trim().parse::<f64>().ok();
        let fits = |value: &Option<String>| {
            let Some(value) = value else { return false };
            match (as_number, is_number(value)) {
                (Some(wanted), Some(number)) => (wanted - number).abs() < f64::EPSILON,
                _ => value.to_lowercase().starts_with(&text),
            }
        };
        wanted.push((coded, coded.values().iter().map(fits).collect()));
    }
    if wanted.is_empty() {
        return Err(Failure::bad("give at least one value to look for"));
    }
    let is_match =
        |row: &usize| wanted.iter().all(|(coded, fits)| fits[coded.codes().get(*row) as usize]);
    let rows = (0..source.table.rows()).into_par_iter().filter(is_match).count();
    Ok(json!({ "rows": rows, "of": source.table.rows() }))
}

/// The values of a column with their rows, some at a time.
pub(crate) fn values(
    source: &SourceTable,
    name: &str,
    find: &str,
    (from, limit): (usize, usize),
    by_value: bool,
) -> Answer<Value> {
    let coded = source.coded(name)?;
    let counts = source.counts(name)?;
    let wanted = find.to_lowercase();
    let is_found = |value: &Option<String>| {
        value.as_ref().is_none_or(|text| text.to_lowercase().contains(&wanted))
    };
    let mut found: Vec<(&Option<String>, u64)> = coded
        .values()
        .iter()
        .zip(counts)
        .filter(|(value, _)| find.is_empty() || is_found(value))
        .map(|(value, &rows)| (value, rows))
        .collect();
    match by_value {
        true => found.sort_by(|a, b| a.0.cmp(b.0)),
        false => found.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0))),
    }
    let line = |(value, rows): &(&Option<String>, u64)| json!({ "value": value, "rows": rows });
    let page: Vec<Value> = found.iter().skip(from).take(limit.min(500)).map(line).collect();
    Ok(json!({ "total": coded.values().len(), "found": found.len(), "values": page }))
}

/// Every column with its profile, its role now, and some typical values.
pub(crate) fn columns(
    source: &SourceTable,
    request: &Request,
    config: &std::path::Path,
) -> Answer<Value> {
    let mut lines = Vec::new();
    for profile in &source.profiles {
        let line = request.column(&profile.name);
        lines.push(json!({
            "name": profile.name,
            "kind": line.and_then(|line| line.kind).unwrap_or(profile.looks),
            "distinct": profile.distinct, "missing": profile.missing, "unique": profile.unique_share,
            "suggested": profile.role, "reason": line.and_then(|line| line.reason.clone()).unwrap_or(profile.reason.clone()),
            "open": profile.is_open, "rank": profile.rank, "role": line.map(|line| line.role),
            "hierarchy": crate::hierarchies::summary(source, request, &profile.name, config),
            "examples": source.examples(&profile.name),
            "settings": source.suggested(&profile.name),
        }));
    }
    let is_undecided = |name: &&String| request.column(name).is_none() && request.rest.is_none();
    let names = source.profiles.iter().map(|profile| &profile.name);
    let undecided: Vec<&String> = names.filter(is_undecided).collect();
    Ok(json!({ "columns": lines, "undecided": undecided }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;
    use std::fmt::Write as _;

    fn source(text: &str) -> SourceTable {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        std::fs::write(&path, text).unwrap();
        crate::source::read_new(&path, &Default::default()).unwrap().0
    }

    fn people(rows: usize) -> String {
        let mut text = "age,sex,zip,illness,pid\n".to_string();
        for row in 0..rows {
            let (age, zip) = (20 + row * row % 37, 53700 + row * 7 % 11);
            let ill = ["flu", "gout", "cold"][row * 5 % 3];
            writeln!(
                text,
                "{age},{},{zip},{ill},{}",
                if row % 2 == 0 { "f" } else { "m" },
                row / 2
            )
            .unwrap();
        }
        text
    }

    /// The same numbers by maps of texts.
    fn slow(text: &str, columns: &[usize], person: Option<usize>) -> (usize, usize) {
        let mut classes: HashMap<Vec<&str>, Vec<&str>> = HashMap::new();
        for (row, line) in text.lines().skip(1).enumerate() {
            let cells: Vec<&str> = line.split(',').collect();
            let key = columns.iter().map(|&at| cells[at]).collect();
            let own = person.map_or_else(
                || Box::leak(row.to_string().into_boxed_str()) as &str,
                |at| cells[at],
            );
            classes.entry(key).or_default().push(own);
        }
        let size = |class: &Vec<&str>| class.iter().collect::<std::collections::HashSet<_>>().len();
        (classes.len(), classes.values().filter(|class| size(class) == 1).count())
    }

    #[test]
    fn classes_and_unique_rows_are_those_of_plain_maps() {
        let text = people(500);
        let table = source(&text);
        let request = |keys: &str| {
            Request::parse(&format!("k = 3\nrest = 'drop'\n[columns]\n{keys}")).unwrap()
        };
        let all = "age = { role = 'quasi' }\nsex = { role = 'quasi' }\nzip = { role = 'quasi' }";
        let found = measure(&table, &request(all)).unwrap();
        let (classes, unique) = slow(&text, &[0, 1, 2], None);
        assert_eq!(
            (found["classes"].as_u64(), found["unique"].as_u64()),
            (Some(classes as u64), Some(unique as u64))
        );
        for (at, name) in ["age", "sex", "zip"].iter().enumerate() {
            let others: Vec<usize> = (0..3).filter(|&other| other != at).collect();
            assert_eq!(found["without"][at]["unique"], slow(&text, &others, None).1, "{name}");
            assert_eq!(found["alone"][at]["unique"], slow(&text, &[at], None).1, "{name}");
        }
        let persons =
            measure(&table, &request(&format!("{all}\npid = {{ role = 'person' }}"))).unwrap();
        let (classes, unique) = slow(&text, &[0, 1, 2], Some(4));
        assert_eq!(
            (persons["classes"].as_u64(), persons["unique"].as_u64()),
            (Some(classes as u64), Some(unique as u64))
        );
        assert_eq!(persons["unit"], "persons");
    }

    #[test]
    fn what_no_release_can_meet_is_said_with_the_feasible_number() {
        let table = source(&people(60));
        let of = |toml: &str| measure(&table, &Request::parse(toml).unwrap()).unwrap();
        let columns = "[columns]\nage = { role = 'quasi' }\nillness = { role = 'sensitive'";
        assert_eq!(of(&format!("k = 60\n{columns} }}"))["feasible"], true);
        let refused = of(&format!("k = 61\n{columns} }}"));
        assert_eq!(refused["feasible"], false);
        assert!(refused["why"].as_str().unwrap().contains("60"), "{refused}");
        assert_eq!(of(&format!("k = 2\n{columns}, l = 3 }}"))["feasible"], true);
        let refused = of(&format!("k = 2\n{columns}, l = 4 }}"));
        assert!(refused["why"].as_str().unwrap().contains('3'), "{refused}");
        let judged = of(&format!("k = 2\n{columns}, distinct = 2 }}"));
        assert_eq!(judged["rules"].as_array().unwrap().len(), 2, "{judged}");
        let wrong = of(&format!("k = 2\n{columns}, weight = 3 }}"));
        assert_eq!(wrong["feasible"], false, "a key without effect");
    }

    #[test]
    fn a_person_is_found_by_numbers_and_by_the_beginning_of_labels() {
        let table = source(&people(60));
        let rows = |pairs: &[(&str, &str)]| {
            let values =
                pairs.iter().map(|(name, text)| (name.to_string(), text.to_string())).collect();
            find(&table, &Request::default(), &values).map(|found| found["rows"].as_u64().unwrap())
        };
        let expected = people(60).lines().filter(|line| line.starts_with("20,f,")).count() as u64;
        assert_eq!(rows(&[("age", "20"), ("sex", "F")]).unwrap(), expected);
        assert_eq!(rows(&[("illness", "g")]).unwrap(), 20);
        assert_eq!(rows(&[("age", "2")]).unwrap(), 0, "a number is no beginning");
        let codes =
            Request::parse("columns.zip = { role = 'quasi', hierarchy = { prefix = [3] } }")
                .unwrap();
        let of_zip =
            |text: &str| find(&table, &codes, &BTreeMap::from([("zip".into(), text.into())]));
        assert_eq!(of_zip("537").unwrap()["rows"], 60, "the beginning of a code");
        assert!(rows(&[("age", " ")]).is_err() && rows(&[("no", "1")]).is_err());
    }
}
