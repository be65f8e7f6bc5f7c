//! The files that a command reads beside its tables, and files that are not there.

use std::path::{Path, PathBuf};

use lookalike::Request;

use crate::args::{ColumnArgs, RequestFlags};

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
    files
        .iter()
        .cloned()
        .chain(orders)
        .chain(configs.into_iter().flat_map(Request::hierarchy_files))
        .collect()
}

/// The file of the same folder whose name differs by at most two letters; none when there is none.
/// Names that differ in their case alone come first.
pub(crate) fn near(missing: &Path) -> Option<PathBuf> {
    let name = missing.file_name()?.to_str()?;
    let folder = missing.parent().filter(|folder| *folder != Path::new(""));
    let entries = std::fs::read_dir(folder.unwrap_or(Path::new("."))).ok()?;
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let distance =
        |other: &String| strsim::levenshtein(&other.to_lowercase(), &name.to_lowercase());
    let (letters, near) = names.map(|other| (distance(&other), other)).min()?;
    // Two short names are near without being meant.
    let stem = missing.file_stem()?.to_str()?.chars().count();
    (letters <= 2 && 3 * letters < stem).then(|| missing.with_file_name(near))
}
