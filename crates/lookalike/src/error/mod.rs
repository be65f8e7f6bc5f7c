//! Errors and warnings as plain data: what is wrong, where, and the ways out.
//!
//! Every error has a kind (what failed: each is one exit code of the command line), a code (a
//! stable name that a program can match; `docs/errors.md` lists them), a place, a reason and hints.
//! The reason is a sentence that fits every face; the [hints](Hint) are data, which each face words
//! in its own way. `Display` uses the words of the library.
//!
//! Messages are lower case, name a place (file, row, column) and never the value of a cell: they
//! end in logs, and logs must not disclose what the release protects. A search that ran out of time
//! with a release in hand is not an error, it is a [`Status`](crate::Status).

mod hint;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

pub use hint::Hint;
use serde::{Serialize, Serializer};

/// The result of every fallible function of the library.
pub type Result<T> = std::result::Result<T, Error>;

/// Why an operation could not be done.
///
/// # Example
/// ```
/// use lookalike::{ErrorKind, Request};
///
/// let error = Request::parse("k = 2\nlimits.time = 'soon'")?.time().unwrap_err();
/// assert_eq!((error.kind(), error.code()), (ErrorKind::Request, "bad-time"));
/// assert_eq!(error.to_string(), "time is a number and a unit: 500ms, 60s, 5m, 1h");
/// # Ok::<(), lookalike::Error>(())
/// ```
#[derive(Debug)]
pub struct Error(Box<Failure>);

/// What failed; each kind is one exit code of the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ErrorKind {
    /// A file or a pipe could not be read or written.
    Io,
    /// The table itself is wrong: ragged, not UTF-8, empty, text among numbers.
    Data,
    /// A hierarchy file or specification is wrong.
    Hierarchy,
    /// The request makes no sense: an unknown column, k = 0, a column without a role.
    Request,
    /// Time or memory ran out before there was any release.
    Exhausted,
    /// No release can satisfy the rules; the reason names the nearest request that can be met.
    Infeasible,
    /// The caller abandoned the run.
    Interrupted,
    /// A bug of this library: a written release did not pass the audit. It was not published.
    NotVerified,
}

/// Where the fault is, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Place {
    /// The file; `-` is a standard stream.
    #[serde(serialize_with = "displayed", skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// The line in the file, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The column of the table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// The row of the table, counted from 1 without the header.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row: Option<u64>,
}

fn displayed<S: Serializer>(
    file: &Option<PathBuf>,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    file.as_ref().map(|file| file.display().to_string()).serialize(serializer)
}

/// What an error and a warning have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Notice {
    code: &'static str,
    place: Place,
    /// True when the message begins with the file; else the reason names it.
    leads_with_file: bool,
    /// True when the message begins with line, column and row; else the reason names them.
    leads_with_spot: bool,
    reason: String,
    hints: Vec<Hint>,
}

#[derive(Debug)]
struct Failure {
    kind: ErrorKind,
    notice: Notice,
    source: Option<io::Error>,
}

impl Notice {
    fn new(code: &'static str, reason: impl Into<String>) -> Notice {
        Notice {
            code,
            place: Place::default(),
            leads_with_file: false,
            leads_with_spot: false,
            reason: reason.into(),
            hints: Vec::new(),
        }
    }

    /// The place before the reason, with its colon; empty where the reason names the place.
    fn lead(&self, kind: Option<ErrorKind>) -> String {
        let Place { file, line, column, row } = &self.place;
        let file = file.as_ref().filter(|_| self.leads_with_file);
        let file = file.map(|file| file.display().to_string());
        let spot = |part: Option<String>| part.filter(|_| self.leads_with_spot);
        let line = spot(line.map(|line| format!("line {line}")));
        let column = spot(column.as_ref().map(|column| format!("column `{column}`")));
        let row = spot(row.map(|row| format!("data row {row}")));
        let has_line = line.is_some();
        let parts: Vec<String> = [file, line, column, row].into_iter().flatten().collect();
        match (parts.is_empty(), kind) {
            (true, _) => String::new(),
            (false, Some(ErrorKind::Hierarchy)) if has_line => {
                format!("hierarchy {}: ", parts.join(", "))
            }
            (false, Some(ErrorKind::Hierarchy)) => format!("hierarchy of {}: ", parts.join(", ")),
            (false, _) => format!("{}: ", parts.join(", ")),
        }
    }

    fn message(&self, kind: Option<ErrorKind>, words: impl Fn(&Hint) -> String) -> String {
        let what = self.lead(kind) + &self.reason;
        let ways: Vec<String> = self.hints.iter().map(words).collect();
        match (ways.is_empty(), what.contains(": ")) {
            (true, _) => what,
            (false, true) => format!("{what}; {}", hint::alternatives(&ways)),
            (false, false) => format!("{what}: {}", hint::alternatives(&ways)),
        }
    }
}

impl Error {
    fn new(kind: ErrorKind, code: &'static str, reason: impl Into<String>) -> Error {
        Error(Box::new(Failure { kind, notice: Notice::new(code, reason), source: None }))
    }

    /// What failed.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The stable name of this fault, such as `no-rows`.
    pub fn code(&self) -> &'static str {
        self.0.notice.code
    }

    /// Where it is, as far as it is known.
    pub fn place(&self) -> &Place {
        &self.0.notice.place
    }

    /// What is wrong, in words that fit every face.
    pub fn reason(&self) -> &str {
        &self.0.notice.reason
    }

    /// Ways out: alternatives, the likeliest first.
    pub fn hints(&self) -> &[Hint] {
        &self.0.notice.hints
    }

    /// The whole message: place, reason and hints, these in the words of a face.
    pub fn message(&self, words: impl Fn(&Hint) -> String) -> String {
        self.0.notice.message(Some(self.0.kind), words)
    }

    /// True when the request cannot be met by any release of this table.
    pub fn is_infeasible(&self) -> bool {
        self.0.kind == ErrorKind::Infeasible
    }

    /// True when standard output was closed by its reader.
    pub fn is_closed_output(&self) -> bool {
        self.code() == "broken-pipe" && self.place().file.as_deref() == Some(Path::new("-"))
    }

    /// A file or a stream that could not be read or written; the code follows from the error of the
    /// system.
    pub fn io(path: impl AsRef<Path>, source: io::Error) -> Error {
        let code = match source.kind() {
            io::ErrorKind::NotFound => "not-found",
            io::ErrorKind::PermissionDenied => "permission-denied",
            io::ErrorKind::ReadOnlyFilesystem => "read-only",
            io::ErrorKind::IsADirectory => "is-a-folder",
            io::ErrorKind::StorageFull => "disk-full",
            io::ErrorKind::BrokenPipe => "broken-pipe",
            _ => "io",
        };
        let reason = match source.kind() {
            // In the words of the system alone: others may say more.
            io::ErrorKind::NotFound if source.raw_os_error().is_some() => {
                "there is no such file or folder".to_string()
            }
            _ => source.to_string(),
        };
        let mut error = Error::new(ErrorKind::Io, code, reason).at_file(path);
        error.0.source = Some(source);
        error
    }

    /// A table that is wrong.
    pub fn data(code: &'static str, reason: impl Into<String>) -> Error {
        Error::new(ErrorKind::Data, code, reason)
    }

    /// A request that makes no sense.
    pub fn request(code: &'static str, reason: impl Into<String>) -> Error {
        Error::new(ErrorKind::Request, code, reason)
    }

    /// A wrong hierarchy.
    pub fn hierarchy(code: &'static str, reason: impl Into<String>) -> Error {
        Error::new(ErrorKind::Hierarchy, code, reason)
    }

    /// Time or memory that ran out.
    pub fn exhausted(code: &'static str, reason: impl Into<String>) -> Error {
        Error::new(ErrorKind::Exhausted, code, reason)
    }

    /// A request that no release can meet.
    pub fn infeasible(code: &'static str, reason: impl Into<String>) -> Error {
        Error::new(ErrorKind::Infeasible, code, reason)
    }

    /// A run that its caller abandoned.
    pub fn interrupted() -> Error {
        Error::new(ErrorKind::Interrupted, "interrupted", "the run was stopped by its caller")
    }

    /// A written release that did not pass the audit.
    pub fn not_verified(reason: impl Into<String>) -> Error {
        Error::new(ErrorKind::NotVerified, "not-verified", reason)
    }

    /// The same error in a file, which the message names first.
    #[must_use]
    pub fn at_file(mut self, path: impl AsRef<Path>) -> Error {
        self.0.notice.place.file = Some(path.as_ref().to_path_buf());
        self.0.notice.leads_with_file = true;
        self
    }

    /// The same error on a line of its file, which the message names first; 0 stands for none.
    #[must_use]
    pub fn at_line(mut self, line: u64) -> Error {
        self.0.notice.place.line = (line > 0).then_some(line);
        self.0.notice.leads_with_spot = true;
        self
    }

    /// The same error in a column, which the message names first.
    #[must_use]
    pub fn at_column(mut self, column: impl Into<String>) -> Error {
        self.0.notice.place.column = Some(column.into());
        self.0.notice.leads_with_spot = true;
        self
    }

    /// The same error in a cell, which the message names first; rows are counted from 0 here.
    #[must_use]
    pub fn at_row(mut self, column: impl Into<String>, row: impl Into<u64>) -> Error {
        self.0.notice.place.row = Some(row.into() + 1);
        self.at_column(column)
    }

    /// The same error with a place that its reason names; parts that are absent here stay.
    #[must_use]
    pub fn about(mut self, place: Place) -> Error {
        let known = &mut self.0.notice.place;
        known.file = place.file.or(known.file.take());
        known.line = place.line.or(known.line);
        known.column = place.column.or(known.column.take());
        known.row = place.row.or(known.row);
        self
    }

    /// The same error about a file that its reason names.
    #[must_use]
    pub fn about_file(self, path: impl AsRef<Path>) -> Error {
        self.about(Place { file: Some(path.as_ref().to_path_buf()), ..Place::default() })
    }

    /// The same error about a column that its reason names.
    #[must_use]
    pub fn about_column(self, column: impl Into<String>) -> Error {
        self.about(Place { column: Some(column.into()), ..Place::default() })
    }

    /// The same error with another code and reason; kind, place, hints and source stay.
    #[must_use]
    pub fn because(mut self, code: &'static str, reason: impl Into<String>) -> Error {
        self.0.notice.code = code;
        self.0.notice.reason = reason.into();
        self
    }

    /// The same error with one more way out.
    #[must_use]
    pub fn hint(mut self, hint: Hint) -> Error {
        self.0.notice.hints.push(hint);
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message(Hint::words))
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_ref().map(|source| source as &(dyn std::error::Error + 'static))
    }
}

/// As an object with `kind`, `code`, `place`, `reason` and `hints`.
impl Serialize for Error {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Plain<'a> {
            kind: ErrorKind,
            code: &'static str,
            place: &'a Place,
            reason: &'a str,
            hints: &'a [Hint],
        }
        let Notice { code, place, reason, hints, .. } = &self.0.notice;
        Plain { kind: self.0.kind, code, place, reason, hints }.serialize(serializer)
    }
}

/// Something that the user should know before a release is published; the run goes on.
///
/// # Example
/// ```
/// use lookalike::evaluate::profile::repeated_persons;
/// use lookalike::table::DistinctCount;
///
/// let visits = DistinctCount { name: "ssn".into(), present: 90, distinct: 30, is_exact: true };
/// let warning = repeated_persons(&visits).unwrap();
/// assert_eq!(warning.code(), "rows-not-persons");
/// assert_eq!(warning.place().column.as_deref(), Some("ssn"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning(Notice);

impl Warning {
    /// A warning with a stable code; the reason names the place.
    pub fn new(code: &'static str, reason: impl Into<String>) -> Warning {
        Warning(Notice::new(code, reason))
    }

    /// The stable name of this warning, such as `sensitive-without-rule`.
    pub fn code(&self) -> &'static str {
        self.0.code
    }

    /// What it is about, as far as that is a column.
    pub fn place(&self) -> &Place {
        &self.0.place
    }

    /// What the user should know, in words that fit every face.
    pub fn reason(&self) -> &str {
        &self.0.reason
    }

    /// Ways out: alternatives, the likeliest first.
    pub fn hints(&self) -> &[Hint] {
        &self.0.hints
    }

    /// The whole message, with the hints in the words of a face.
    pub fn message(&self, words: impl Fn(&Hint) -> String) -> String {
        self.0.message(None, words)
    }

    /// The same warning about a column that its reason names.
    #[must_use]
    pub fn about_column(mut self, column: impl Into<String>) -> Warning {
        self.0.place.column = Some(column.into());
        self
    }

    /// The same warning with one more way out.
    #[must_use]
    pub fn hint(mut self, hint: Hint) -> Warning {
        self.0.hints.push(hint);
        self
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message(Hint::words))
    }
}

/// As an object with `code`, `place`, `reason` and `hints`.
impl Serialize for Warning {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Plain<'a> {
            code: &'static str,
            place: &'a Place,
            reason: &'a str,
            hints: &'a [Hint],
        }
        let Notice { code, place, reason, hints, .. } = &self.0;
        Plain { code, place, reason, hints }.serialize(serializer)
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
        let error = Error::hierarchy("h", "column 2 is empty").at_file("city.csv").at_line(3);
        assert_eq!(error.to_string(), "hierarchy city.csv, line 3: column 2 is empty");
        assert_eq!(error.place().line, Some(3));
        let error = Error::hierarchy("h", "it is empty").at_file("city.csv").at_line(0);
        assert_eq!(error.to_string(), "hierarchy of city.csv: it is empty");
        let error = Error::hierarchy("h", "no widths").at_column("age");
        assert_eq!(error.to_string(), "hierarchy of column `age`: no widths");
        let error = Error::data("d", "no number").at_row("age", 6u32);
        assert_eq!(error.to_string(), "column `age`, data row 7: no number");
        assert_eq!(
            error.at_file("a.csv").to_string(),
            "a.csv, column `age`, data row 7: no number"
        );
        let error = Error::io("a.csv", io::Error::other("disk full"));
        assert_eq!(error.to_string(), "a.csv: disk full");
        assert!(std::error::Error::source(&error).is_some() && !error.is_infeasible());
        assert!(Error::infeasible("i", "k = 9 cannot be met").is_infeasible());
    }

    #[test]
    fn a_place_that_the_reason_names_is_data_and_not_said_twice() {
        let error = Error::request("r", "column `age` has no order").about_column("age");
        assert_eq!(error.to_string(), "column `age` has no order");
        assert_eq!(error.place().column.as_deref(), Some("age"));
        let in_file = error.at_file("c.toml");
        assert_eq!(in_file.to_string(), "c.toml: column `age` has no order");
        assert_eq!(in_file.place().column.as_deref(), Some("age"), "the column stays");
        let place = Place { line: Some(3), row: Some(2), ..Place::default() };
        let error = Error::data("d", "row 2 (line 3) is short").about(place.clone());
        assert_eq!(
            (error.to_string().as_str(), error.place()),
            ("row 2 (line 3) is short", &place)
        );
    }

    #[test]
    fn each_face_words_the_hints_and_alternatives_are_one_phrase() {
        let error = Error::data("d", "not a number").hint(Hint::plain("fix the cell"));
        assert_eq!(error.to_string(), "not a number: fix the cell");
        let error = error.at_column("age").hint(Hint::NameMissing { texts: Vec::new() });
        assert_eq!(error.message(|_| "a".into()), "column `age`: not a number; a or a");
        assert_eq!(
            error.message(|_| "a or b".into()),
            "column `age`: not a number; a or b, or a or b"
        );
        let error = error.hint(Hint::SetDelimiter);
        let letter = |hint: &Hint| match hint {
            Hint::Plain { words } => words.clone(),
            Hint::NameMissing { .. } => "b".into(),
            _ => "c".into(),
        };
        assert_eq!(error.message(letter), "column `age`: not a number; fix the cell, b, or c");
        let warning = Warning::new("w", "no rule").hint(Hint::SetK).hint(Hint::plain("drop it"));
        assert_eq!(
            warning.message(|hint| hint.words().replace('`', "'")),
            "no rule: set 'k', the number of rows that must look alike, or drop it"
        );
    }

    #[test]
    fn the_error_of_the_system_gives_the_code() {
        let code = |kind: io::ErrorKind| Error::io("f", kind.into()).code();
        assert_eq!(code(io::ErrorKind::NotFound), "not-found");
        assert_eq!(code(io::ErrorKind::StorageFull), "disk-full");
        assert_eq!(code(io::ErrorKind::TimedOut), "io");
        let other =
            Error::io("f", io::ErrorKind::NotFound.into()).because("no-file", "where is it");
        assert_eq!((other.code(), other.to_string().as_str()), ("no-file", "f: where is it"));
        assert!(std::error::Error::source(&other).is_some(), "the source stays");
    }

    #[test]
    fn as_json_an_error_is_its_data() {
        let error = Error::request("no-role", "no role for `zip`")
            .about_column("zip")
            .hint(Hint::GiveRole { columns: vec!["zip".into()] })
            .hint(Hint::SettleRest);
        let json = serde_json::json!({
            "kind": "request",
            "code": "no-role",
            "place": { "column": "zip" },
            "reason": "no role for `zip`",
            "hints": [{ "way": "give-role", "columns": ["zip"] }, { "way": "settle-rest" }],
        });
        assert_eq!(serde_json::to_value(&error).unwrap(), json);
        let kind = serde_json::to_value(ErrorKind::NotVerified).unwrap();
        assert_eq!(kind, "not-verified");
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
