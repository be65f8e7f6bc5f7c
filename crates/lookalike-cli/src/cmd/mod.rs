//! One file a command; each `run` does what was typed and says how it went.

pub(crate) mod anonymize;
pub(crate) mod apply;
pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod complete;
pub(crate) mod demo;
pub(crate) mod hierarchy;
pub(crate) mod init;
pub(crate) mod query;
pub(crate) mod report;
pub(crate) mod reproduce;
pub(crate) mod synth;
pub(crate) mod verify;

use std::io::Write;
use std::path::Path;

use lookalike::table::{Access, Existing, Pending};
use lookalike::{Error, ErrorKind, Result};

/// Writes a text to a file that those may read who may read any new file, all of it or nothing; `-`
/// is standard output.
pub(crate) fn write_text(path: &Path, existing: Existing, text: &str) -> Result<()> {
    write(path, existing, Access::Usual, text)
}

/// The same for what is as secret as the table: only its owner can read it.
pub(crate) fn write_secret(path: &Path, existing: Existing, text: &str) -> Result<()> {
    write(path, existing, Access::Owner, text)
}

fn write(path: &Path, existing: Existing, access: Access, text: &str) -> Result<()> {
    let pending = Pending::with_access(path, existing, access)?;
    let failed = |source| Error::from(ErrorKind::Io { path: path.to_path_buf(), source });
    pending.file()?.write_all(text.as_bytes()).map_err(failed)?;
    pending.publish()
}
