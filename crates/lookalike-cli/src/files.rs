//! The files that a command reads beside its tables.

use std::path::PathBuf;

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
