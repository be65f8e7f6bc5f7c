//! Acts of the editor on the lines of a hierarchy: put values under a group, add or remove a level.

use std::path::{Path, PathBuf};

use lookalike::domain::hierarchy;
use lookalike::request::ColumnRequest;
use rustc_hash::FxHashMap;
use serde::Deserialize;

use crate::failure::{Answer, Failure};
use crate::hierarchies::{Lines, ROOT, present};
use crate::source::SourceTable;

/// The lines to begin an edit with: those of the hierarchy, and a line with an empty group for every
/// value that has none.
fn editable(
    source: &SourceTable,
    name: &str,
    line: &ColumnRequest,
    config: &Path,
) -> Answer<Lines> {
    let (mut lines, _) = present(source, name, line, config);
    let width = lines.iter().map(Vec::len).max().unwrap_or(3).max(3);
    let root = lines.iter().filter_map(|line| line.last()).find(|label| !label.is_empty());
    let root = root.cloned().unwrap_or(ROOT.to_string());
    let known: FxHashMap<String, ()> =
        lines.iter().filter_map(|line| Some((line.first()?.clone(), ()))).collect();
    let counts = source.counts(name)?;
    let coded = source.coded(name)?;
    let mut new: Vec<(&String, u64)> = coded
        .values()
        .iter()
        .zip(counts)
        .filter_map(|(value, &rows)| Some((value.as_ref()?, rows)))
        .filter(|(value, _)| !known.contains_key(*value))
        .collect();
    new.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    for (value, _) in new {
        let mut line = vec![String::new(); width];
        line[0].clone_from(value);
        line[width - 1].clone_from(&root);
        lines.push(line);
    }
    lines.iter_mut().for_each(|line| line.resize(width, root.clone()));
    Ok(lines)
}

/// One act of the editor.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Edit {
    /// Puts values under a group on a level, 1 is the one above the values.
    Put { values: Vec<String>, level: usize, group: String },
    /// Adds a level below the root; each value gets the group of the level below as its own.
    Add,
    /// Removes a level.
    Remove { level: usize },
}

/// The lines after an act.
pub(crate) fn edited(
    source: &SourceTable,
    name: &str,
    line: &ColumnRequest,
    config: &Path,
    edit: &Edit,
) -> Answer<Lines> {
    let mut lines = editable(source, name, line, config)?;
    let width = lines.first().map_or(3, Vec::len);
    let is_level = |level: usize| (1..width - 1).contains(&level);
    match edit {
        Edit::Put { values, level, group } => {
            let group = group.trim();
            if !is_level(*level) || group.is_empty() {
                return Err(Failure::bad(
                    "name a group, on a level between the values and the root",
                ));
            }
            // A group has one parent: what stands above it elsewhere stands above it here.
            let above: Option<Vec<String>> = lines
                .iter()
                .find(|line| line[*level] == group && !values.contains(&line[0]))
                .map(|line| line[level + 1..].to_vec());
            for line in lines.iter_mut().filter(|line| values.contains(&line[0])) {
                line[*level] = group.to_string();
                if let Some(above) = &above {
                    line[level + 1..].clone_from_slice(above);
                }
            }
        }
        Edit::Add => {
            for line in &mut lines {
                let below = line[width - 2].clone();
                line.insert(width - 1, below);
            }
        }
        Edit::Remove { level } if is_level(*level) && width > 3 => {
            lines.iter_mut().for_each(|line| drop(line.remove(*level)));
        }
        Edit::Remove { .. } => {
            return Err(Failure::bad("the last level stays: remove the hierarchy instead"));
        }
    }
    Ok(grouped(lines))
}

/// Lines of one group side by side, the groups as they came.
fn grouped(mut lines: Lines) -> Lines {
    let width = lines.first().map_or(0, Vec::len);
    for level in 1..width.saturating_sub(1) {
        let mut first: FxHashMap<String, usize> = FxHashMap::default();
        for (at, line) in lines.iter().enumerate() {
            first.entry(line[level].clone()).or_insert(at);
        }
        lines.sort_by_key(|line| (line[level].is_empty(), first[&line[level]]));
    }
    lines
}

/// The text of a hierarchy file.
pub(crate) fn file_text(lines: &Lines) -> String {
    hierarchy::rows_to_text(&[], lines)
}

/// The name of the file of a column, where it has none yet.
pub(crate) fn file_name(name: &str) -> PathBuf {
    let plain: String =
        name.chars().map(|c| if c.is_alphanumeric() || c == '-' { c } else { '_' }).collect();
    PathBuf::from(format!("{plain}.csv"))
}

#[cfg(test)]
mod tests {
    use lookalike::request::{HierarchySpec, Role};
    use serde_json::json;

    use super::*;
    use crate::hierarchies::{Part, view};

    fn source() -> SourceTable {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        let rows = ["nurse,31", "midwife,35", "welder,40", "nurse,52", "smith,60"];
        std::fs::write(&path, format!("job,age\n{}\n", rows.repeat(20).join("\n"))).unwrap();
        crate::source::read_new(&path, &Default::default()).unwrap().0
    }

    #[test]
    fn values_are_put_under_groups_level_by_level_and_groups_have_one_parent() {
        let source = source();
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("c.toml");
        let mut line = ColumnRequest::new(Role::Quasi);
        let put = |values: &[&str], level, group: &str| Edit::Put {
            values: values.iter().map(ToString::to_string).collect(),
            level,
            group: group.into(),
        };
        let mut act = |edit: &Edit| {
            let lines = edited(&source, "job", &line, &config, edit).unwrap();
            std::fs::write(folder.path().join("job.csv"), file_text(&lines)).unwrap();
            line.hierarchy = Some(HierarchySpec::File("job.csv".into()));
            view(&source, "job", &line, &config, &Part::default()).unwrap()
        };
        let first = act(&put(&["nurse", "midwife"], 1, "Health"));
        assert_eq!(
            (&first["covered"], &first["total"], &first["levels"]),
            (&json!(2), &json!(4), &json!(2))
        );
        assert!(!first["problems"].as_array().unwrap().is_empty(), "two values have no group");
        let whole = act(&put(&["welder", "smith"], 1, "Metal"));
        assert_eq!((&whole["covered"], &whole["problems"]), (&json!(4), &json!([])));
        act(&Edit::Add);
        act(&put(&["nurse", "midwife"], 2, "Services"));
        let moved = act(&put(&["smith"], 1, "Health"));
        let smith =
            moved["rows"].as_array().unwrap().iter().find(|row| row["value"] == "smith").unwrap();
        assert_eq!(smith["path"], json!(["Health", "Services", "*"]));
        let fewer = act(&Edit::Remove { level: 2 });
        assert_eq!((&fewer["levels"], &fewer["problems"]), (&json!(2), &json!([])));
        assert!(edited(&source, "job", &line, &config, &Edit::Remove { level: 1 }).is_err());
        assert!(edited(&source, "job", &line, &config, &put(&["smith"], 1, " ")).is_err());
    }
}
