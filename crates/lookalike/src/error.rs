//! The one error type: what is wrong, where, and the way out.
//!
//! Messages are lower case, name a place (file, row, column) and never the value of a cell: they
//! end in logs, and logs must not disclose what the release protects. A search that ran out of time
//! with a release in hand is not an error, it is a [`Status`](crate::Status).

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// The result of every fallible function of the library.
pub type Result<T> = std::result::Result<T, Error>;

/// Why an operation could not be done.
#[derive(Debug)]
pub struct Error(Box<ErrorKind>);

/// The kinds of failure; each maps to one exit code of the command line.
#[derive(Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A file or a pipe could not be read or written.
    Io {
        /// The file, or `-` for a standard stream.
        path: PathBuf,
        /// The error of the system.
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
        /// What is wrong there, and the way out.
        why: String,
    },
    /// The request makes no sense: an unknown column, k = 0, a column without a role.
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

/// A share for a message, as a percentage with two decimals, rounded up so that it suffices: 1 of 3
/// is `33.34%`.
pub(crate) fn percent_up(part: u64, whole: u64) -> String {
    let hundredths = (u128::from(part) * 10_000).div_ceil(u128::from(whole));
    format!("{}.{:02}%", hundredths / 100, hundredths % 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_names_the_place_and_keeps_its_source() {
        let error = Error::hierarchy("city.csv", 3, "column 2 is empty");
        assert_eq!(error.to_string(), "hierarchy city.csv, line 3: column 2 is empty");
        let error = Error::hierarchy("column `age`", 0, "no widths");
        assert_eq!(error.to_string(), "hierarchy of column `age`: no widths");
        let error = Error::io(Path::new("a.csv"), io::Error::other("disk full"));
        assert_eq!(error.to_string(), "a.csv: disk full");
        assert!(std::error::Error::source(&error).is_some() && !error.is_infeasible());
        assert!(Error::infeasible("k = 9 cannot be met").is_infeasible());
    }

    #[test]
    fn a_percentage_that_is_rounded_up_suffices() {
        assert_eq!(percent_up(1, 3), "33.34%");
        assert_eq!(percent_up(1, 2), "50.00%");
        assert_eq!(percent_up(1, 1_000_000), "0.01%");
        assert_eq!((percent_up(0, 7), percent_up(7, 7)), ("0.00%".into(), "100.00%".into()));
        assert_eq!(percent_up(u64::MAX, u64::MAX), "100.00%");
    }
}
