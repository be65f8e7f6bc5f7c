//! Whole text files: all of a text is written, or nothing.

use std::io::Write;
use std::path::Path;

use lookalike::table::{Access, Pending};
use lookalike::{Error, ErrorKind, Result};

/// Writes a text to a new file with the usual permissions; `-` is standard output.
///
/// # Errors
/// [`Request`](ErrorKind::Request) when the file exists and `force` is false,
/// [`Io`](ErrorKind::Io) when it cannot be written.
pub fn write_text(path: &Path, force: bool, text: &str) -> Result<()> {
    write(path, force, Access::Usual, text)
}

/// Writes a text that is as secret as the table: only the owner of the file can read it.
///
/// # Errors
/// As [`write_text`].
pub fn write_secret(path: &Path, force: bool, text: &str) -> Result<()> {
    write(path, force, Access::Owner, text)
}

fn write(path: &Path, force: bool, access: Access, text: &str) -> Result<()> {
    let pending = Pending::with_access(path, force, access)?;
    let failed = |source| Error::from(ErrorKind::Io { path: path.to_path_buf(), source });
    pending.file()?.write_all(text.as_bytes()).map_err(failed)?;
    pending.publish()
}
