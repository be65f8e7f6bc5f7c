//! A table in several Parquet files: a folder, or a name with `*` in it.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// The files that a path names, in the order of their names; none where it names one file. A `*` in
/// the name of the file stands for any characters. Names that begin with a point or an underscore
/// are of the programs that write such folders.
///
/// # Errors
/// When a folder cannot be listed, has no Parquet files, or is partitioned: then values of a column
/// stand in the names of its folders, and would be lost.
pub(crate) fn files(path: &Path) -> Result<Option<Vec<PathBuf>>> {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    let pattern = name.filter(|name| name.contains('*') && !path.exists());
    let folder = match &pattern {
        Some(_) => {
            path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."))
        }
        None if path.is_dir() => path,
        None => return Ok(None),
    };
    let failed = |source| Error::io(folder, source);
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with(['.', '_']) {
            continue;
        }
        if entry.path().is_dir() {
            if pattern.is_none() && name.contains('=') {
                let why = "the folder is partitioned: values of a column stand in the names of its \
                           folders, and would be lost; write the table without partitions";
                return Err(Error::data("partitioned-folder", why).at_file(folder));
            }
            continue;
        }
        let is_wanted = match &pattern {
            Some(pattern) => fits(pattern, &name),
            None => is_parquet(&name),
        };
        if is_wanted {
            found.push(entry.path());
        }
    }
    found.sort();
    if found.is_empty() {
        let why = match pattern {
            Some(_) => "no file has such a name",
            None => "the folder has no Parquet files: name one file of it",
        };
        return Err(Error::data("no-files", why).at_file(path));
    }
    Ok(Some(found))
}

fn is_parquet(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.ends_with(".parquet") || name.ends_with(".pq")
}

/// True when a name fits a pattern with `*` in it.
fn fits(pattern: &str, name: &str) -> bool {
    let parts: Vec<&str> = pattern.split('*').collect();
    let [first, middle @ .., last] = &parts[..] else { return pattern == name };
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_characters() {
        for (pattern, name, expected) in [
            ("*.parquet", "a.parquet", true),
            ("part-*-x.parquet", "part-001-x.parquet", true),
            ("part-*-*.pq", "part-1-2.pq", true),
            ("part-*-*.pq", "part-1.pq", false),
            ("a*a", "a", false),
            ("a*", "b", false),
            ("*", "anything", true),
        ] {
            assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn a_folder_names_its_parquet_files_and_one_file_names_itself() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["b.parquet", "a.pq", "_SUCCESS", ".hidden.parquet", "notes.txt"] {
            std::fs::write(at(name), "x").unwrap();
        }
        let found = |path: &Path| files(path).map(|found| found.map(|found| found.len()));
        assert_eq!(files(folder.path()).unwrap().unwrap(), [at("a.pq"), at("b.parquet")]);
        assert_eq!(found(&at("a.pq")).unwrap(), None);
        assert_eq!(found(&at("*.parquet")).unwrap(), Some(1));
        assert_eq!(found(&at("*.csv")).unwrap_err().code(), "no-files");
        std::fs::create_dir(at("state=5")).unwrap();
        assert_eq!(found(folder.path()).unwrap_err().code(), "partitioned-folder");
    }
}
