//! The one error type: what went wrong, where, and the way out.
//!
//! Messages are lower case, name a place (file, row, column) and never the value of a cell: they
//! end in logs, and logs must not leak what we protect. A search that ran out of time with a
//! release in hand is not an error, it is a [`Status`](crate::Status).

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// What every fallible function of the library returns.
pub type Result<T> = std::result::Result<T, Error>;

/// Why an operation could not be done.
#[derive(Debug)]
pub struct Error(Box<ErrorKind>);

/// The kinds of failure; each maps to one exit code of the command line.
#[derive(Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The file system or a pipe said no.
    Io {
        /// The file, or `-` for a standard stream.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The table itself is wrong: ragged, not UTF-8, empty, text among numbers.
    Data {
        /// What and where, and the way out.
        why: String,
    },
    /// A hierarchy file or specification is wrong.
    Hierarchy {
        /// The file, or the column for a one-line specification.
        place: String,
        /// Line in the file, counted from 1; 0 when the fault has no line.
        line: u64,
        /// What is wrong there.
        why: String,
    },
    /// What was asked for makes no sense: an unknown column, k = 0, a column without a role.
    Request {
        /// What and where, and the way out.
        why: String,
    },
    /// Time or memory ran out before there was any release.
    Exhausted {
        /// What ran out, and the way out.
        why: String,
    },
    /// No release can satisfy the rules; the message names the nearest request that can be met.
    Infeasible {
        /// Which rule, and what is nearest.
        why: String,
    },
}

impl Error {
    /// The kind of failure.
    pub fn kind(&self) -> &ErrorKind {
        &self.0
    }

    /// True when the request cannot be met by any release of this table.
    pub fn is_infeasible(&self) -> bool {
        matches!(*self.0, ErrorKind::Infeasible { .. })
    }

    pub(crate) fn io(path: &Path, source: io::Error) -> Error {
        ErrorKind::Io { path: path.to_path_buf(), source }.into()
    }

    pub(crate) fn data(why: impl Into<String>) -> Error {
        ErrorKind::Data { why: why.into() }.into()
    }

    pub(crate) fn request(why: impl Into<String>) -> Error {
        ErrorKind::Request { why: why.into() }.into()
    }

    pub(crate) fn exhausted(why: impl Into<String>) -> Error {
        ErrorKind::Exhausted { why: why.into() }.into()
    }

    pub(crate) fn infeasible(why: impl Into<String>) -> Error {
        ErrorKind::Infeasible { why: why.into() }.into()
    }

    pub(crate) fn hierarchy(place: impl Into<String>, line: u64, why: impl Into<String>) -> Error {
        ErrorKind::Hierarchy { place: place.into(), line, why: why.into() }.into()
    }
}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Error {
        Error(Box::new(kind))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            ErrorKind::Io { path, source } => write!(f, "{}: {source}", path.display()),
            ErrorKind::Hierarchy { place, line: 0, why } => {
                write!(f, "hierarchy of {place}: {why}")
            }
            ErrorKind::Hierarchy { place, line, why } => {
                write!(f, "hierarchy {place}, line {line}: {why}")
            }
            ErrorKind::Data { why }
            | ErrorKind::Request { why }
            | ErrorKind::Infeasible { why }
            | ErrorKind::Exhausted { why } => f.write_str(why),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &*self.0 {
            ErrorKind::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}
