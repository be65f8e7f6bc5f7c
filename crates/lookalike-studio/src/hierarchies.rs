//! A hierarchy as a table: a line a value, a column a level. There is one hierarchy, that of the
//! configuration; where it is a file, the page shows and writes that file.

use std::collections::BTreeMap;
use std::path::Path;

use lookalike::domain::attribute::Domain;
use lookalike::domain::hierarchy::{self, Differences};
use lookalike::domain::taxonomy::Taxonomy;
use lookalike::evaluate::suggested_hierarchy::{self, GroupedBy};
use lookalike::request::{BUILTINS, ColumnRequest, HierarchySpec, Kind, Rest, Role, RowsSpec};
use lookalike::{Problem, Request};
use rustc_hash::FxHashMap;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::failure::{Answer, Failure};
use crate::source::SourceTable;

/// The lines of a hierarchy: a value and its groups, the root last. An empty group is still to be
/// filled in.
pub(crate) type Lines = Vec<Vec<String>>;

/// The root of hierarchies that begin here.
pub(crate) const ROOT: &str = "*";

/// What part of the lines a page asks for.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Part {
    pub(crate) find: String,
    pub(crate) from: usize,
    pub(crate) limit: Option<usize>,
    pub(crate) only: String,
}

/// The tree of a column under a hierarchy; none of a column without one.
fn tree(
    source: &SourceTable,
    name: &str,
    line: &ColumnRequest,
    config: &Path,
) -> Answer<Option<Taxonomy>> {
    let Some(spec) = &line.hierarchy else { return Ok(None) };
    let spec = from_folder(spec, config);
    if let HierarchySpec::File(path) = &spec {
        return Ok(Some(hierarchy::taxonomy(&hierarchy::read(path)?, "", &[], &[])?));
    }
    let mut request = Request { k: Some(1), rest: Some(Rest::Drop), ..Request::default() };
    let kind = line.kind.or(match spec {
        HierarchySpec::Prefix(_) => Some(Kind::Categorical),
        _ => None,
    });
    let alone = ColumnRequest { kind, hierarchy: Some(spec), ..ColumnRequest::new(Role::Quasi) };
    request.columns.insert(name.to_string(), alone);
    let table = source.distinct(name)?;
    let problem = Problem::new(&table, &request.roles(&[name.to_string()])?, &request)?;
    Ok(match &problem.attributes()[0].domain {
        Domain::Tree(tree) => Some(tree.clone()),
        Domain::Ordered(ordered) => ordered.intervals().map(|tree| tree.taxonomy().clone()),
    })
}

/// Files are relative to the folder of the configuration.
fn from_folder(spec: &HierarchySpec, config: &Path) -> HierarchySpec {
    match spec {
        HierarchySpec::File(path) => {
            HierarchySpec::File(config.parent().unwrap_or(Path::new("")).join(path))
        }
        other => other.clone(),
    }
}

/// The lines of a tree, as its file has them.
fn lines_of(tree: &Taxonomy) -> Lines {
    cells(&hierarchy::to_text(tree), ';')
}

/// The cells of a text with quotes.
fn cells(text: &str, delimiter: char) -> Lines {
    let mut lines: Lines = Vec::new();
    let (mut line, mut cell, mut is_quoted) = (Vec::new(), String::new(), false);
    let mut signs = text.chars().peekable();
    while let Some(sign) = signs.next() {
        match sign {
            '"' if is_quoted && signs.peek() == Some(&'"') => {
                cell.push('"');
                signs.next();
            }
            '"' if is_quoted || cell.is_empty() => is_quoted = !is_quoted,
            '\r' if !is_quoted => {}
            '\n' if !is_quoted => {
                line.push(std::mem::take(&mut cell));
                lines.push(std::mem::take(&mut line));
            }
            sign if sign == delimiter && !is_quoted => line.push(std::mem::take(&mut cell)),
            sign => cell.push(sign),
        }
    }
    if !cell.is_empty() || !line.is_empty() {
        line.push(cell);
        lines.push(line);
    }
    let is_there = |line: &Vec<String>| !(line.len() == 1 && line[0].trim().is_empty());
    lines.retain(|line| is_there(line) && !line[0].starts_with("# "));
    lines
}

/// The lines of the column's hierarchy now, and what is wrong with it. A file that is no tree is shown
/// as it is written.
pub(crate) fn present(
    source: &SourceTable,
    name: &str,
    line: &ColumnRequest,
    config: &Path,
) -> (Lines, Vec<String>) {
    match tree(source, name, line, config) {
        Ok(None) => (Vec::new(), Vec::new()),
        Ok(Some(tree)) => (lines_of(&tree), Vec::new()),
        Err(failure) => {
            let raw = match line.hierarchy.as_ref().map(|spec| from_folder(spec, config)) {
                Some(HierarchySpec::File(path)) => {
                    std::fs::read_to_string(path).unwrap_or_default()
                }
                _ => String::new(),
            };
            (cells(&raw, ';'), vec![failure.message])
        }
    }
}

/// One word about the hierarchy of a column, for the list of columns.
pub(crate) fn summary(source: &SourceTable, request: &Request, name: &str, config: &Path) -> Value {
    let Some(line) = request.column(name) else { return json!({ "state": "none", "text": "" }) };
    let Some(spec) = &line.hierarchy else { return json!({ "state": "none", "text": "" }) };
    let text = spec_words(spec);
    let HierarchySpec::File(_) = spec else { return json!({ "state": "whole", "text": text }) };
    let (lines, problems) = present(source, name, line, config);
    let missing = missing(source, name, &lines).unwrap_or_default();
    let state = match (problems.is_empty(), missing) {
        (false, _) => "broken",
        (true, 0) => "whole",
        _ => "partly",
    };
    json!({ "state": state, "text": text, "missing": missing })
}

fn spec_words(spec: &HierarchySpec) -> String {
    let list = |numbers: Vec<String>| numbers.join(", ");
    match spec {
        HierarchySpec::File(path) => path.display().to_string(),
        HierarchySpec::Intervals(spec) => {
            format!(
                "intervals of {}",
                list(spec.intervals.iter().map(ToString::to_string).collect())
            )
        }
        HierarchySpec::Prefix(spec) => {
            format!(
                "first {} characters",
                list(spec.prefix.iter().map(ToString::to_string).collect())
            )
        }
        HierarchySpec::Date(_) => "calendar".to_string(),
        HierarchySpec::Builtin(builtin) => format!("{builtin:?}").to_lowercase(),
        _ => "groups in the configuration".to_string(),
    }
}

/// Values of the column that no line has, or whose line has an empty group.
fn missing(source: &SourceTable, name: &str, lines: &Lines) -> Answer<usize> {
    let by_value = by_value(lines);
    let values = source.coded(name)?.values().iter().flatten();
    Ok(values
        .filter(|value| !by_value.get(value.as_str()).is_some_and(|line| is_filled(line)))
        .count())
}

fn by_value(lines: &Lines) -> FxHashMap<&str, &Vec<String>> {
    lines.iter().filter_map(|line| Some((line.first()?.as_str(), line))).collect()
}

fn is_filled(line: &[String]) -> bool {
    line.len() > 1 && line.iter().all(|label| !label.trim().is_empty())
}

/// The hierarchy as a page shows it.
pub(crate) fn view(
    source: &SourceTable,
    name: &str,
    line: &ColumnRequest,
    config: &Path,
    part: &Part,
) -> Answer<Value> {
    let (lines, problems) = present(source, name, line, config);
    let mut view = lines_view(source, name, &lines, &problems, part)?;
    view["column"] = json!(name);
    view["kind"] = json!(line.kind);
    view["spec"] = json!(line.hierarchy);
    view["source"] = json!(match &line.hierarchy {
        None => "none",
        Some(HierarchySpec::Intervals(_)) => "intervals",
        Some(HierarchySpec::Prefix(_)) => "prefix",
        Some(HierarchySpec::Date(_)) => "date",
        Some(HierarchySpec::Builtin(_)) => "builtin",
        Some(HierarchySpec::File(_)) => "file",
        Some(_) => "rows",
    });
    view["file"] = json!(match &line.hierarchy {
        Some(HierarchySpec::File(path)) => Some(path.display().to_string()),
        _ => None,
    });
    view["builtins"] = json!(
        BUILTINS
            .iter()
            .map(|(name, about)| json!({ "name": format!("builtin:{name}"), "about": about }))
            .collect::<Vec<Value>>()
    );
    if let Ok(Some(tree)) = tree(source, name, line, config) {
        let Differences { unused, missing, misspelt } =
            hierarchy::differences(&tree, source.coded(name)?.values());
        let is_file = matches!(line.hierarchy, Some(HierarchySpec::File(_)));
        view["unused"] = json!(if is_file { unused.len() } else { 0 });
        let pair = |&(label, value): &(usize, usize)| json!({ "label": unused[label], "value": missing[value] });
        view["misspelt"] = json!(misspelt.iter().take(20).map(pair).collect::<Vec<Value>>());
    }
    Ok(view)
}

/// Lines with rows and coverage, and the sizes of the groups of each level.
fn lines_view(
    source: &SourceTable,
    name: &str,
    lines: &Lines,
    problems: &[String],
    part: &Part,
) -> Answer<Value> {
    let counts = source.counts(name)?;
    let coded = source.coded(name)?;
    let by_value = by_value(lines);
    let levels = lines.iter().map(Vec::len).max().unwrap_or(1).saturating_sub(1);
    let find = part.find.to_lowercase();
    let mut rows: Vec<(&str, u64, Vec<&str>, bool)> = Vec::new();
    let mut sizes: Vec<BTreeMap<&str, u64>> = vec![BTreeMap::new(); levels];
    let mut covered = 0;
    for (value, &count) in coded.values().iter().zip(counts) {
        let Some(value) = value else { continue };
        let path: Vec<&str> = by_value
            .get(value.as_str())
            .map(|line| line.iter().skip(1).map(String::as_str).collect())
            .unwrap_or_default();
        let is_missing =
            path.len() < levels.max(1) || path.iter().any(|label| label.trim().is_empty());
        covered += u64::from(!is_missing);
        for (size, label) in sizes.iter_mut().zip(&path).filter(|(_, label)| !label.is_empty()) {
            *size.entry(label).or_default() += count;
        }
        let is_found = find.is_empty()
            || value.to_lowercase().contains(&find)
            || path.iter().any(|label| label.to_lowercase().contains(&find));
        if is_found && (part.only != "missing" || is_missing) {
            rows.push((value, count, path, is_missing));
        }
    }
    // In the order of the file, so that groups stand together; values without a line come last.
    let place: FxHashMap<&str, usize> =
        lines.iter().enumerate().map(|(at, line)| (line[0].as_str(), at)).collect();
    rows.sort_by_key(|row| {
        (place.get(row.0).copied().unwrap_or(usize::MAX), std::cmp::Reverse(row.1))
    });
    let found = rows.len();
    let total = coded.values().iter().flatten().count();
    let page: Vec<Value> = rows
        .into_iter()
        .skip(part.from)
        .take(part.limit.unwrap_or(200).min(500))
        .map(|(value, rows, path, missing)| {
            json!({ "value": value, "rows": rows, "path": path, "missing": missing })
        })
        .collect();
    let sizes: Vec<Vec<Value>> = sizes
        .into_iter()
        .map(|level| {
            let mut level: Vec<(&str, u64)> = level.into_iter().collect();
            level.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
            level
                .iter()
                .take(60)
                .map(|(label, rows)| json!({ "label": label, "rows": rows }))
                .collect()
        })
        .collect();
    Ok(json!({
        "levels": levels, "rows": page, "from": part.from, "found": found, "total": total,
        "covered": covered, "problems": problems, "unused": 0, "misspelt": [], "sizes": sizes,
    }))
}

/// What a specification or lines would make, without saving them.
pub(crate) fn preview(
    source: &SourceTable,
    name: &str,
    line: &ColumnRequest,
    config: &Path,
    body: &Value,
) -> Answer<Value> {
    let part = Part { limit: Some(100), ..Part::default() };
    if let Some(rows) = body.get("rows") {
        let lines: Lines = parsed(rows)?;
        let problems = problems(source, name, line, &lines);
        return lines_view(source, name, &lines, &problems, &part);
    }
    let spec: Option<HierarchySpec> = parsed(body.get("spec").unwrap_or(&Value::Null))?;
    let line = ColumnRequest { hierarchy: spec, ..line.clone() };
    view(source, name, &line, config, &part)
}

/// What is wrong with lines as the hierarchy of the column.
fn problems(source: &SourceTable, name: &str, line: &ColumnRequest, lines: &Lines) -> Vec<String> {
    if lines.iter().any(|line| !is_filled(line)) {
        return vec!["some values have no group yet".to_string()];
    }
    let rows = HierarchySpec::Rows(RowsSpec { rows: lines.clone() });
    let line = ColumnRequest { hierarchy: Some(rows), ..line.clone() };
    match tree(source, name, &line, Path::new("")) {
        Ok(_) => Vec::new(),
        Err(failure) => vec![failure.message],
    }
}

pub(crate) fn parsed<T: for<'de> Deserialize<'de>>(value: &Value) -> Answer<T> {
    T::deserialize(value)
        .map_err(|error| Failure::bad(format!("the page sent what cannot be read: {error}")))
}

/// A hierarchy made from the table, to be looked at.
pub(crate) fn suggest(source: &SourceTable, name: &str, missing: &[String]) -> Answer<Value> {
    source.coded(name)?;
    let made = suggested_hierarchy::suggest(&source.table, name, missing)?;
    let how = match &made.by {
        GroupedBy::Order => "neighbours in the order of the values".to_string(),
        GroupedBy::OrderOf(column) => format!("neighbours in the order of column {column}"),
        GroupedBy::Prefix => "values with the same first characters".to_string(),
        GroupedBy::Words => "values with a common word, then values with similar rows".to_string(),
        GroupedBy::Company => "values with similar rows in the other columns".to_string(),
    };
    Ok(json!({ "rows": made.rows, "how": how }))
}

/// What pasted or imported lines would change.
pub(crate) fn compare(
    source: &SourceTable,
    name: &str,
    line: &ColumnRequest,
    config: &Path,
    text: &str,
) -> Answer<Value> {
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let delimiter = ['\t', ';', ','].into_iter().find(|&sign| first.contains(sign)).unwrap_or(';');
    let mut new = cells(text, delimiter);
    let width = new.iter().map(Vec::len).max().unwrap_or(0);
    if width < 2 {
        return Err(Failure::bad("paste at least two columns: the value, and its group"));
    }
    let is_root = |label: &String| new.iter().all(|line| line.last() == Some(label));
    if !new[0].last().is_some_and(is_root) || width == 2 {
        new.iter_mut().for_each(|line| line.push(ROOT.to_string()));
    }
    let (old, _) = present(source, name, line, config);
    let (old, by_new) = (by_value(&old), by_value(&new));
    let values: Vec<&String> = source.coded(name)?.values().iter().flatten().collect();
    let count = |is_it: &dyn Fn(&str) -> bool| values.iter().filter(|value| is_it(value)).count();
    let changed =
        count(&|value| matches!((old.get(value), by_new.get(value)), (Some(a), Some(b)) if a != b));
    let added = count(&|value| !old.contains_key(value) && by_new.contains_key(value));
    let gone = count(&|value| old.contains_key(value) && !by_new.contains_key(value));
    let without = count(&|value| !by_new.contains_key(value));
    let mut problems = problems(source, name, line, &new);
    if without > 0 {
        problems.push(format!("{without} values of the column have no line"));
    }
    Ok(json!({ "rows": new, "changed": changed, "new": added, "gone": gone, "problems": problems }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source() -> SourceTable {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        let rows = ["nurse,31", "midwife,35", "welder,40", "nurse,52", "smith,60"];
        std::fs::write(&path, format!("job,age\n{}\n", rows.repeat(20).join("\n"))).unwrap();
        crate::source::read_new(&path, &Default::default()).unwrap().0
    }

    #[test]
    fn specifications_are_previewed_and_pasted_lines_compared() {
        let source = source();
        let (config, line) = (Path::new("/nowhere/c.toml"), ColumnRequest::new(Role::Quasi));
        let spec = json!({ "spec": { "intervals": [5, 10] } });
        let shown = preview(&source, "age", &line, config, &spec).unwrap();
        assert_eq!(shown["rows"][0]["path"], json!(["[30-34]", "[30-39]", "*"]));
        assert_eq!(shown["sizes"][1][0], json!({ "label": "[30-39]", "rows": 40 }));
        let wrong = preview(&source, "job", &line, config, &spec).unwrap();
        assert!(!wrong["problems"].as_array().unwrap().is_empty(), "labels have no intervals");
        let pasted = "nurse\tHealth\nmidwife\tHealth\nwelder\tMetal\n";
        let found = compare(&source, "job", &line, config, pasted).unwrap();
        assert_eq!((&found["new"], &found["changed"]), (&json!(3), &json!(0)));
        assert_eq!(found["rows"][0], json!(["nurse", "Health", "*"]));
        assert!(found["problems"].to_string().contains("1 values of the column have no line"));
        assert!(compare(&source, "job", &line, config, "one column\n").is_err());
        let made = suggest(&source, "job", &[]).unwrap();
        assert_eq!(made["rows"].as_array().unwrap().len(), 4, "{made}");
        assert!(suggest(&source, "age", &[]).is_err(), "numbers need no groups");
    }

    #[test]
    fn quoted_cells_are_read() {
        let lines = cells("a;\"b;\"\"c\"\"\";*\r\n# note\n\nd;e;*", ';');
        assert_eq!(lines, [["a", "b;\"c\"", "*"], ["d", "e", "*"]]);
    }
}
