//! Which version of a file this server knows, so that a change by another program is noticed, and not
//! written over.

use std::path::Path;
use std::time::SystemTime;

use sha2::{Digest, Sha256};

/// The tag of a text: a quarter of its SHA-256.
pub(crate) fn of_text(text: &str) -> String {
    of_bytes(text.as_bytes())
}

pub(crate) fn of_bytes(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// The tag of a small file, by its bytes; none where there is no file.
pub(crate) fn of_file(path: &Path) -> Option<String> {
    std::fs::read(path).ok().map(|bytes| of_bytes(&bytes))
}

/// A file as the system lists it: cheap to look at, also for a large table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    length: u64,
    modified: Option<SystemTime>,
}

/// The stamp of a file; none where there is no file.
pub(crate) fn stamp(path: &Path) -> Option<Stamp> {
    let about = std::fs::metadata(path).ok()?;
    Some(Stamp { length: about.len(), modified: about.modified().ok() })
}
