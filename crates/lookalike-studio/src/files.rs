//! The files below the folder that the studio was started with.

use std::path::{Component, Path, PathBuf};

use axum::http::StatusCode;
use lookalike::Request;
use lookalike::request::HierarchySpec;
use serde_json::{Value, json};

use crate::failure::{Answer, Failure};

/// The place of a path that came from the page: below the folder, every link and `..` followed as the
/// system follows them. The file need not be there, its folder must.
pub(crate) fn below(folder: &Path, path: &Path) -> Answer<PathBuf> {
    let outside = || {
        let why = "the file is not below the folder that the studio was started with: start it with \
                   another folder";
        Failure::new(StatusCode::FORBIDDEN, "outside-of-folder", why)
    };
    let is_plain = |part: Component| matches!(part, Component::Normal(_) | Component::CurDir);
    let relative = path.strip_prefix(folder).unwrap_or(path);
    match real_place(&folder.join(path)) {
        Some(real) if real.starts_with(folder) => Ok(real),
        None if relative.components().all(is_plain) => {
            Err(Failure::not_found("there is no such folder"))
        }
        // Whether a file elsewhere is there is not said.
        _ => Err(outside()),
    }
}

/// The path without links; of a file that is not there, that of its folder with its name.
fn real_place(path: &Path) -> Option<PathBuf> {
    if let Ok(real) = std::fs::canonicalize(path) {
        return Some(real);
    }
    // A link to a place where nothing is could be followed later.
    if path.is_symlink() {
        return None;
    }
    Some(std::fs::canonicalize(path.parent()?).ok()?.join(path.file_name()?))
}

/// The path as the page shows it.
pub(crate) fn shown(folder: &Path, path: &Path) -> String {
    path.strip_prefix(folder).unwrap_or(path).display().to_string()
}

/// Refuses a request from the page that names a file outside of the folder. Its paths are relative to
/// the folder of the configuration.
pub(crate) fn check_paths(folder: &Path, config: &Path, request: &Request) -> Answer<()> {
    let output = &request.output;
    let mut tables = request.input.path.iter().chain(&output.path).chain(&output.proof);
    tables.try_for_each(|path| beside(folder, config, path).map(drop))?;
    check_named(folder, config, request)
}

/// The same of the files that are read beside the table.
pub(crate) fn check_named(folder: &Path, config: &Path, request: &Request) -> Answer<()> {
    named(request).iter().try_for_each(|path| beside(folder, config, path).map(drop))
}

/// The place of a path that is relative to the folder of the configuration.
pub(crate) fn beside(folder: &Path, config: &Path, path: &Path) -> Answer<PathBuf> {
    below(folder, &config.parent().unwrap_or(folder).join(path))
}

/// The files beside the table that a request names, as it names them.
pub(crate) fn named(request: &Request) -> Vec<PathBuf> {
    let others = request.output.hash_key.iter().chain(&request.risk.population);
    request.hierarchy_files().chain(others.cloned()).collect()
}

/// The request with the paths of its hierarchies from the folder of its configuration.
pub(crate) fn from_config(config: &Path, mut request: Request) -> Request {
    let base = config.parent().unwrap_or(Path::new(""));
    for line in request.columns.values_mut() {
        if let Some(HierarchySpec::File(path)) = &mut line.hierarchy {
            *path = base.join(&*path);
        }
    }
    request
}

const TABLES: [&str; 14] = [
    "csv", "tsv", "txt", "gz", "zst", "zip", "parquet", "pq", "arrow", "feather", "ipc", "xlsx",
    "xls", "ods",
];

/// The tables, configurations and folders in a folder.
pub(crate) fn list(folder: &Path, under: &str) -> Answer<Value> {
    let here = below(folder, Path::new(under))?;
    let entries =
        std::fs::read_dir(&here).map_err(|_| Failure::not_found("there is no such folder"))?;
    let mut found: Vec<(u8, String, Value)> = Vec::new();
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Ok(about) = std::fs::metadata(entry.path()) else { continue };
        let end = Path::new(&name).extension().map(|end| end.to_string_lossy().to_lowercase());
        let (rank, kind) = match end.as_deref() {
            _ if name.starts_with('.') => continue,
            _ if about.is_dir() => (2, "folder"),
            Some("toml") => (0, "config"),
            Some(end) if TABLES.contains(&end) => (1, "table"),
            _ => continue,
        };
        let size = if about.is_dir() { 0 } else { about.len() };
        let line = json!({ "name": name, "kind": kind, "size": size });
        found.push((rank, name, line));
    }
    found.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
    let entries: Vec<Value> = found.into_iter().map(|(_, _, line)| line).collect();
    Ok(json!({ "folder": under, "entries": entries }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_below_the_folder_are_found() {
        let outer = tempfile::tempdir().unwrap();
        let root = std::fs::canonicalize(outer.path()).unwrap();
        let folder = root.join("data");
        std::fs::create_dir_all(folder.join("sub")).unwrap();
        std::fs::write(root.join("secret.csv"), "a\n1\n").unwrap();
        std::fs::write(folder.join("a.csv"), "a\n1\n").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(root.join("secret.csv"), folder.join("link.csv")).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(&root, folder.join("up")).unwrap();
        std::fs::create_dir(root.join("other")).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(root.join("other"), folder.join("deep")).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(root.join("no/new.csv"), folder.join("nowhere.csv")).unwrap();
        for good in ["a.csv", "./a.csv", "sub/new.csv", "new.csv", "sub/../a.csv"] {
            assert!(below(&folder, Path::new(good)).is_ok(), "{good}");
        }
        assert!(below(&folder, &folder.join("a.csv")).is_ok());
        let bad = [
            "../secret.csv",
            "sub/../../secret.csv",
            "/etc/passwd",
            "link.csv",
            "up/secret.csv",
            // Without its `..` this would be a file of the folder.
            "deep/../secret.csv",
            "nowhere.csv",
            "no/x.csv",
            "no/../../secret.csv",
            "..",
        ];
        for bad in bad {
            assert!(below(&folder, Path::new(bad)).is_err(), "{bad}");
        }
        let request = |toml: &str| Request::parse(toml).unwrap();
        let config = folder.join("sub/c.toml");
        let check = |toml: &str| check_paths(&folder, &config, &request(toml)).is_ok();
        assert!(check("input.path = '../a.csv'") && check("output.path = 'safe.csv'"));
        assert!(!check("input.path = '../../secret.csv'") && !check("input.path = '/etc/passwd'"));
        assert!(!check("columns.a = { role = 'quasi', hierarchy = '../../h.csv' }"));
        assert!(!check("output.hash_key = '../link.csv'"));
        assert!(!check("columns.a = { role = 'quasi', hierarchy = '../deep/../secret.csv' }"));
        let entries = list(&folder, "").unwrap();
        assert_eq!(entries["entries"][0]["name"], "a.csv");
        assert!(list(&folder, "..").is_err());
    }
}
