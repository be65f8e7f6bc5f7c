//! Queries in TOML:
//!
//! ```toml
//! [[query]]
//! where = { age = [20, 30], sex = "Female", marital = { node = "Married" } }
//!
//! [[query]]
//! sum = "age"
//! where = { admission = { from = "2024-01-01", to = "2024-03-31" }, race = "White" }
//! ```
//!
//! Two numbers or two dates without quotes are a range, both ends included; so is `{ from = .., to
//! = .. }`, where one end may be absent and may be in quotes. Anything else is a value or a list
//! of values; `""` is the missing one.

use std::path::Path;

use toml::{Table, Value};

use super::{Condition, Query};
use crate::error::{Error, Result};

/// Reads a file of queries.
///
/// # Errors
/// When it cannot be read, is no TOML, or a query is not valid; the message names the query.
pub fn read(path: &Path) -> Result<Vec<Query>> {
    let text = std::fs::read_to_string(path).map_err(|source| Error::io(path, source))?;
    parse(&text).map_err(|error| error.at_file(path))
}

/// Reads the text of a file of queries.
///
/// # Example
/// ```
/// use lookalike::evaluate::query::{Condition, parse};
///
/// let queries = parse("[[query]]\nsum = 'age'\nwhere = { sex = 'f' }")?;
/// assert_eq!(queries[0].sum.as_deref(), Some("age"));
/// assert_eq!(queries[0].conditions["sex"], Condition::Values(vec!["f".to_string()]));
/// # Ok::<(), lookalike::Error>(())
/// ```
///
/// # Errors
/// When it is no TOML, or a query is not valid; the message names the query.
pub fn parse(text: &str) -> Result<Vec<Query>> {
    let mut file: Table = toml::from_str(text)
        .map_err(|error| Error::request("bad-toml", error.to_string().trim_end()))?;
    let queries = match file.remove("query") {
        Some(Value::Array(queries)) if !queries.is_empty() => queries,
        Some(_) => {
            return Err(Error::request(
                "bad-query",
                "`query` is no list: begin every query with a line [[query]]",
            ));
        }
        None => {
            return Err(Error::request(
                "no-query",
                "there is no query: begin every query with a line [[query]]",
            ));
        }
    };
    if let Some(key) = file.keys().next() {
        return Err(Error::request(
            "bad-query",
            format!("`{key}` is unknown here: a file of queries has [[query]] and nothing else"),
        ));
    }
    let query = |(number, value)| {
        query(value).map_err(|why| Error::request("bad-query", format!("query {number}{why}")))
    };
    (1..).zip(queries).map(query).collect()
}

/// One query; else the fault and its place in the query.
fn query(value: Value) -> std::result::Result<Query, String> {
    let Value::Table(mut keys) = value else {
        return Err(": begin it with a line [[query]]".to_string());
    };
    let sum = match keys.remove("sum") {
        None => None,
        Some(Value::String(column)) => Some(column),
        Some(_) => return Err(": sum is the name of a column in quotes, sum = \"age\"".to_string()),
    };
    let conditions =
        match keys.remove("where") {
            None => Table::new(),
            Some(Value::Table(conditions)) => conditions,
            Some(_) => return Err(
                ": where has a condition a column, where = { age = [20, 30], sex = \"Female\" }"
                    .to_string(),
            ),
        };
    if let Some(key) = keys.keys().next() {
        return Err(format!(": `{key}` is unknown: a query has `where` and `sum`"));
    }
    let condition = |(column, value): (String, Value)| match condition(&value) {
        Ok(condition) => Ok((column, condition)),
        Err(why) => Err(format!(", column `{column}`: {why}")),
    };
    Ok(Query {
        sum,
        conditions: conditions.into_iter().map(condition).collect::<std::result::Result<_, _>>()?,
    })
}

const FORMS: &str = "write a range [20, 30] or { from = \"a\", to = \"b\" }, values \"a\" or \
                     [\"a\", \"b\"], or a group { node = \"a\" }";

fn condition(value: &Value) -> std::result::Result<Condition, String> {
    let forms = || FORMS.to_string();
    match value {
        Value::Table(keys) => {
            if let (Some(Value::String(node)), 1) = (keys.get("node"), keys.len()) {
                return Ok(Condition::Node { node: node.clone() });
            }
            if keys.is_empty() || keys.keys().any(|key| key != "from" && key != "to") {
                return Err(forms());
            }
            let end =
                |key: &str| keys.get(key).map(|value| scalar(value).ok_or_else(forms)).transpose();
            Ok(Condition::Range { from: end("from")?, to: end("to")? })
        }
        Value::Array(items) if items.is_empty() => {
            Err("the list is empty: no row could satisfy it".to_string())
        }
        Value::Array(items) => {
            let texts = items.iter().map(scalar).collect::<Option<Vec<_>>>().ok_or_else(forms)?;
            let quoted = items.iter().filter(|item| matches!(item, Value::String(_))).count();
            match (quoted, &texts[..]) {
                (0, [from, to]) => {
                    Ok(Condition::Range { from: Some(from.clone()), to: Some(to.clone()) })
                }
                (0, _) => Err("a list without quotes is a range and has two ends, [20, 30]; put \
                               values in quotes"
                    .to_string()),
                (quoted, texts) if quoted == texts.len() => Ok(Condition::Values(texts.to_vec())),
                _ => Err("some of the list are in quotes, some are not: put values in quotes"
                    .to_string()),
            }
        }
        scalar_value => Ok(Condition::Values(vec![scalar(scalar_value).ok_or_else(forms)?])),
    }
}

/// The text of a value that is neither list nor table.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Integer(number) => Some(number.to_string()),
        Value::Float(number) => Some(number.to_string()),
        Value::Boolean(yes) => Some(yes.to_string()),
        Value::Datetime(moment) => Some(moment.to_string()),
        Value::Array(_) | Value::Table(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(condition: &str) -> Condition {
        parse(&format!("[[query]]\nwhere = {{ a = {condition} }}")).unwrap()[0].conditions["a"]
            .clone()
    }

    fn range(from: Option<&str>, to: Option<&str>) -> Condition {
        Condition::Range { from: from.map(String::from), to: to.map(String::from) }
    }

    #[test]
    fn every_form_is_read() {
        assert_eq!(one("[20, 30]"), range(Some("20"), Some("30")));
        assert_eq!(one("[2.5, 30]"), range(Some("2.5"), Some("30")));
        assert_eq!(one("[2024-01-01, 2024-03-31]"), range(Some("2024-01-01"), Some("2024-03-31")));
        assert_eq!(one("{ from = \"low\", to = \"high\" }"), range(Some("low"), Some("high")));
        assert_eq!(one("{ from = 2024-01-01 }"), range(Some("2024-01-01"), None));
        assert_eq!(one("{ to = 7 }"), range(None, Some("7")));
        assert_eq!(one("\"x\""), Condition::Values(vec!["x".to_string()]));
        assert_eq!(one("[\"x\", \"\"]"), Condition::Values(vec!["x".to_string(), String::new()]));
        assert_eq!(
            one("[\"2024-01-01\", \"2024-03-31\"]"),
            Condition::Values(vec!["2024-01-01".into(), "2024-03-31".into()])
        );
        assert_eq!(one("53703"), Condition::Values(vec!["53703".to_string()]));
        assert_eq!(one("true"), Condition::Values(vec!["true".to_string()]));
        assert_eq!(one("{ node = \"Married\" }"), Condition::Node { node: "Married".to_string() });
        let all = parse("[[query]]\nsum = \"a\"\n[[query]]\n").unwrap();
        assert_eq!(
            (all.len(), all[0].sum.as_deref(), all[1].clone()),
            (2, Some("a"), Query::default())
        );
    }

    #[test]
    fn the_example_of_the_documentation_is_read() {
        let page = include_str!("../../../../../docs/queries.md");
        let (_, example) = page.split_once("```toml\n").unwrap();
        let queries = parse(example.split_once("```").unwrap().0).unwrap();
        let columns: Vec<Vec<&String>> =
            queries.iter().map(|query| query.conditions.keys().collect()).collect();
        assert_eq!(
            columns,
            [vec!["age", "marital", "occupation", "sex"], vec!["admission", "race"]]
        );
        assert_eq!((queries[0].sum.as_deref(), queries[1].sum.as_deref()), (None, Some("age")));
    }

    #[test]
    fn faults_are_reported_with_their_place() {
        for (text, why) in [
            ("", "there is no query"),
            ("query = 5", "`query` is no list"),
            ("query = []", "`query` is no list"),
            ("query = [5]", "query 1: begin it"),
            ("queries = 5\n[[query]]", "`queries` is unknown here"),
            ("[[query]]\n[[query]]\nhaving = 1", "query 2: `having` is unknown"),
            ("[[query]]\nsum = 5", "query 1: sum is the name"),
            ("[[query]]\nwhere = 5", "query 1: where has a condition a column"),
            ("[[query]]\nwhere = { a = [] }", "query 1, column `a`: the list is empty"),
            ("[[query]]\nwhere = { a = [1, 2, 3] }", "query 1, column `a`: a list without quotes"),
            ("[[query]]\nwhere = { a = [1] }", "query 1, column `a`: a list without quotes"),
            ("[[query]]\nwhere = { a = [1, \"2\"] }", "query 1, column `a`: some of the list"),
            ("[[query]]\nwhere = { a = [[1], [2]] }", "query 1, column `a`: write a range"),
            ("[[query]]\nwhere = { a = {} }", "query 1, column `a`: write a range"),
            ("[[query]]\nwhere = { a = { node = 5 } }", "query 1, column `a`: write a range"),
            (
                "[[query]]\nwhere = { a = { node = \"x\", to = 5 } }",
                "query 1, column `a`: write a range",
            ),
            (
                "[[query]]\nwhere = { a = { from = [1], to = 5 } }",
                "query 1, column `a`: write a range",
            ),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
        assert!(
            parse("[[query]\n").unwrap_err().to_string().contains("TOML parse error at line 1")
        );
    }
}
