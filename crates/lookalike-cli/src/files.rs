//! The files of a command: no input is replaced, and no two outputs have the same name.

use std::path::{Path, PathBuf};

use lookalike::request::HierarchySpec;
use lookalike::{Request, Result, table};

use crate::args::{ColumnArgs, RequestFlags};
use crate::request::usage;
use crate::show;

/// A file that a command writes, and the flag that names it.
pub(crate) type OutputFile<'a> = (&'static str, &'a Path);

/// The files that a request reads in addition to its tables.
pub(crate) fn of_request(flags: &RequestFlags, request: &Request) -> Vec<PathBuf> {
    read_by(flags.config.as_slice(), &flags.columns, [request])
}

/// The files that configurations come from, and the orders and hierarchies that they name.
pub(crate) fn read_by<'a>(
    files: &[PathBuf],
    columns: &ColumnArgs,
    configs: impl IntoIterator<Item = &'a Request>,
) -> Vec<PathBuf> {
    let orders = columns.order.iter().map(|pair| PathBuf::from(&pair.value));
    files.iter().cloned().chain(orders).chain(configs.into_iter().flat_map(hierarchies)).collect()
}

/// The hierarchy files of a configuration.
fn hierarchies(request: &Request) -> impl Iterator<Item = PathBuf> {
    let file = |hierarchy: &HierarchySpec| match hierarchy {
        HierarchySpec::File(path) => Some(path.clone()),
        _ => None,
    };
    request.columns.values().filter_map(move |column| column.hierarchy.as_ref().and_then(file))
}

/// Refuses an output that is the input, another file that is read, or another output, under any
/// name: `--force` may replace an older output, nothing else.
pub(crate) fn refuse_overlap(
    input: &Path,
    reads: &[PathBuf],
    outputs: &[OutputFile],
) -> Result<()> {
    for (at, &(flag, path)) in outputs.iter().enumerate() {
        let input = if input == Path::new("-") { Path::new("/dev/stdin") } else { input };
        if is_one(input, path) {
            return Err(usage(format!(
                "{} is the input itself: choose another output",
                show::path(path)
            )));
        }
        if reads.iter().any(|read| is_one(read, path)) {
            return Err(usage(format!(
                "{flag} {} is an input file of the request: choose another output",
                show::path(path)
            )));
        }
        if let Some((other, _)) = outputs[..at].iter().find(|(_, other)| is_one(other, path)) {
            return Err(usage(format!("{other} and {flag} name the same file: choose two files")));
        }
    }
    Ok(())
}

/// True when two paths lead to one place, or to one file.
fn is_one(one: &Path, other: &Path) -> bool {
    // Standard output may be a file too.
    let stream = |path: &Path| {
        if path == Path::new("-") { PathBuf::from("/dev/stdout") } else { path.to_path_buf() }
    };
    let (one, other) = (stream(one), stream(other));
    if !is_plain(&one) || !is_plain(&other) {
        return false;
    }
    match (table::real_place(&one), table::real_place(&other)) {
        (Some(one), Some(other)) => one == other || is_same_file(&one, &other),
        _ => false,
    }
}

/// True for a file, and for a name that is still free.
fn is_plain(path: &Path) -> bool {
    std::fs::metadata(path).map_or(true, |about| about.is_file())
}

/// Two names of one file.
#[cfg(unix)]
fn is_same_file(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let id = |path: &Path| std::fs::metadata(path).ok().map(|about| (about.dev(), about.ino()));
    id(one).is_some_and(|found| id(other) == Some(found))
}

#[cfg(not(unix))]
fn is_same_file(_: &Path, _: &Path) -> bool {
    false
}
