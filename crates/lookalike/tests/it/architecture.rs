//! Which room may use which. The borders keep the audit apart from the search, and the search apart
//! from files and text. Every `use` tree, path and macro of a file is read as Rust reads it.

use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};

/// For each room, the rooms that it may use beside itself and [`SHARED`].
const MAY_USE: [(&str, &[&str]); 10] = [
    ("table", &[]),
    ("request", &[]),
    ("domain", &["table", "request"]),
    ("problem", &["table", "request", "domain"]),
    ("search", &["request", "domain", "problem"]),
    ("audit", &["table", "request"]),
    ("release", &["table", "request", "domain", "problem", "audit"]),
    ("evaluate", &["table", "request", "domain", "problem", "audit"]),
    ("run", &["table", "request", "domain", "problem", "search", "release", "audit", "evaluate"]),
    ("synthetic", &[]),
];

/// Files at the top that every room may use.
const SHARED: [&str; 6] = ["codes", "error", "forms", "names", "numbers", "rng"];

/// Local algorithms that are made of others; the rest do not name each other.
const MADE_OF_OTHERS: [&str; 3] = ["auto", "cells", "peel"];

/// Crates that only some rooms may name.
const CRATES: [(&[&str], &[&str]); 2] = [
    (&["parquet", "arrow_ipc", "csv_core", "flate2", "zstd"], &["table"]),
    (
        &["arrow_array", "arrow_buffer", "arrow_cast", "arrow_row", "arrow_schema", "arrow_select"],
        &["table", "problem", "release", "audit", "evaluate", "run", "synthetic"],
    ),
];

/// The paths that a file names, its tests apart, resolved from the top of the crate where they
/// begin with `crate`, `self` or `super`.
struct Named {
    module: Vec<String>,
    inside: Vec<Vec<String>>,
    outside: Vec<Vec<String>>,
    macros: Vec<String>,
}

impl Named {
    /// `module` is the place of the file in the crate: `["search", "local", "peel"]`.
    fn in_file(module: &[&str], source: &str) -> Named {
        let module = module.iter().map(|part| part.to_string()).collect();
        let mut named =
            Named { module, inside: Vec::new(), outside: Vec::new(), macros: Vec::new() };
        named.visit_file(&syn::parse_file(source).expect("the compiler has read it"));
        named
    }

    fn add(&mut self, path: Vec<String>) {
        let mut from = match path[0].as_str() {
            "crate" => Vec::new(),
            "self" | "super" => self.module.clone(),
            _ => return self.outside.push(path),
        };
        for part in path {
            match part.as_str() {
                "crate" | "self" => {}
                "super" => drop(from.pop()),
                _ => from.push(part),
            }
        }
        self.inside.push(from);
    }

    fn add_tree(&mut self, before: &[String], tree: &syn::UseTree) {
        let with = |ident: &syn::Ident| [before, &[ident.to_string()]].concat();
        match tree {
            syn::UseTree::Path(path) => self.add_tree(&with(&path.ident), &path.tree),
            syn::UseTree::Name(name) => self.add(with(&name.ident)),
            syn::UseTree::Rename(rename) => self.add(with(&rename.ident)),
            syn::UseTree::Glob(_) => self.add(before.to_vec()),
            syn::UseTree::Group(group) => {
                group.items.iter().for_each(|tree| self.add_tree(before, tree));
            }
        }
    }
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    let is_test = |attribute: &syn::Attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args::<syn::Path>().is_ok_and(|path| path.is_ident("test"))
    };
    attributes.iter().any(is_test)
}

impl<'ast> Visit<'ast> for Named {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_test(&item.attrs) && item.content.is_some() {
            self.module.push(item.ident.to_string());
            visit::visit_item_mod(self, item);
            self.module.pop();
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        if !is_test(&item.attrs) {
            self.add_tree(&[], &item.tree);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.add(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.macros.extend(call.path.get_ident().map(ToString::to_string));
        let text = call.tokens.to_string().replace(" :: ", "::");
        let is_of_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
        for path in text.split(|c| !is_of_path(c)).filter(|word| word.contains("::")) {
            self.add(path.split("::").map(ToString::to_string).collect());
        }
        visit::visit_macro(self, call);
    }
}

/// Everything in a file that its room may not name.
fn breaches(module: &[&str], source: &str) -> Vec<String> {
    let named = Named::in_file(module, source);
    let room = module[0];
    let allowed = MAY_USE.iter().find(|(name, _)| *name == room).expect("every room has a line").1;
    let is_allowed = |used: &str| {
        used == room || SHARED.contains(&used) || allowed.contains(&used) || used.is_empty()
    };
    let mut found = Vec::new();
    for path in &named.inside {
        let first = path.first().map_or("", String::as_str);
        if !is_allowed(first) {
            found.push(format!("{room} uses {}", path.join("::")));
        }
        if let ["search", "local", own, ..] = module {
            let other = path.strip_prefix(&["search".to_string(), "local".to_string()]);
            let other = other.and_then(<[String]>::first).filter(|other| {
                other.as_str() != *own && other.starts_with(|c: char| c.is_lowercase())
            });
            if let Some(other) = other.filter(|_| !MADE_OF_OTHERS.contains(own)) {
                found.push(format!("the algorithm {own} uses {other}"));
            }
        }
    }
    for path in &named.outside {
        for (crates, rooms) in CRATES {
            if crates.contains(&path[0].as_str()) && !rooms.contains(&room) {
                found.push(format!("{room} names the crate {}", path[0]));
            }
        }
        let makes_files = path.ends_with(&["File".to_string(), "create".to_string()]);
        if makes_files && room != "table" {
            found.push(format!("{room} makes files"));
        }
    }
    if named.macros.iter().any(|name| name == "println") {
        found.push(format!("{room} prints"));
    }
    found
}

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut all: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    all.sort();
    let (folders, mut files): (Vec<_>, Vec<_>) = all.into_iter().partition(|path| path.is_dir());
    // Tables stand beside the files that read them.
    files.retain(|path| path.extension().is_some_and(|end| end == "rs"));
    files.extend(folders.iter().flat_map(|folder| self::files(folder)));
    files
}

fn is_of_tests(path: &Path) -> bool {
    path.iter().any(|part| part.to_str().unwrap().contains("test"))
}

#[test]
fn rooms_use_only_rooms_below_them() {
    let mut seen = Vec::new();
    for path in files(&source()) {
        let inside = path.strip_prefix(source()).unwrap().with_extension("");
        let mut module: Vec<&str> = inside.iter().map(|part| part.to_str().unwrap()).collect();
        if module.last() == Some(&"mod") {
            module.pop();
        }
        let is_at_the_top = ["lib", "testing"].contains(&module[0]) || SHARED.contains(&module[0]);
        if is_at_the_top || is_of_tests(&inside) {
            continue;
        }
        seen.push(module[0].to_string());
        let breaches = breaches(&module, &std::fs::read_to_string(&path).unwrap());
        assert!(breaches.is_empty(), "{}: {}", path.display(), breaches.join(", "));
    }
    for (room, _) in MAY_USE {
        assert!(seen.iter().any(|name| name == room), "{room} is gone: delete its line");
    }
}

#[test]
fn every_way_to_name_a_forbidden_room_is_seen() {
    let planted = [
        (&["audit", "truth"][..], "use crate::problem::Problem;"),
        (&["audit", "truth"], "use crate::{error::Error, problem::{Problem, privacy}};"),
        (&["audit", "truth"], "use super::super::problem as other;"),
        (&["audit"], "use super::{error, problem};"),
        (&["audit", "truth"], "fn f() { let _ = crate::search::solve; }"),
        (&["audit", "truth"], "fn f() { assert!(crate::search::solve()); }"),
        (&["audit", "truth"], "fn f(_: &crate::domain::attribute::Attribute) {}"),
        (&["audit", "truth"], "mod inner { use super::super::super::release; }"),
        (&["audit", "truth"], "use crate::Problem;"),
        (&["audit", "truth"], "use crate::*; use crate::search::*;"),
        (&["search", "local", "ring"], "use super::{Task, mondrian};"),
        (&["search", "local", "ring"], "use super::mondrian::{self, Ties};"),
        (&["search", "local", "refine", "pool"], "use super::super::cells;"),
        (&["search", "local", "ring"], "use crate::search::{task::Task, local::cells};"),
        (&["search", "task"], "use crate::table::Table;"),
        (&["search", "task"], "use arrow_array::Array;"),
        (&["release"], "fn f() { std::fs::File::create(\"x\"); }"),
        (&["release"], "fn f() { println!(\"x\"); }"),
    ];
    for (module, text) in planted {
        assert!(!breaches(module, text).is_empty(), "{module:?} with {text} went unseen");
    }
    let allowed = [
        (&["audit", "truth"][..], "use crate::table::Table; use super::classes::{Fold, Rows};"),
        (&["audit"], "#[cfg(test)] mod tests { use crate::problem::Problem; }"),
        (&["search", "local", "auto"], "use super::{cells, mondrian};"),
        (&["search", "local", "refine", "pool"], "use super::rebuild; use crate::rng::Rng;"),
    ];
    for (module, text) in allowed {
        assert_eq!(breaches(module, text), [""; 0], "{module:?} with {text}");
    }
}

/// The lines of code of a file: neither tests nor comments nor empty lines.
fn lines(path: &Path) -> usize {
    let text = std::fs::read_to_string(path).unwrap();
    let tests = text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len());
    let is_code = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with("//");
    text[..tests].lines().filter(is_code).count()
}

#[test]
fn files_stay_short_enough_to_read() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for path in files(&crates).into_iter().filter(|path| path.extension() == Some("rs".as_ref())) {
        let lines = lines(&path);
        let is_of_tests = is_of_tests(path.strip_prefix(&crates).unwrap());
        assert!(is_of_tests || lines <= 400, "{}: {lines} lines of code", path.display());
    }
}

#[test]
fn every_algorithm_has_its_row_in_the_documents() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/algorithms.md");
    let page = std::fs::read_to_string(page).unwrap();
    for algorithm in lookalike::Algorithm::ALL {
        assert!(page.contains(&format!("| `{algorithm}` |")), "{algorithm} has no row");
    }
}
