//! Where the table of a run comes from.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::error::Result;
use crate::request;
use crate::table::{self, ReadOptions, Source};

/// The table of a run: a path (`-` is standard input), or an opened [`Source`].
///
/// ```
/// use lookalike::run::Input;
/// use lookalike::table;
///
/// let _file: Input = "patients.csv".into();
/// let _rows: Input = table::open_text("age\n34\n".into(), "ages".as_ref())?.into();
/// # Ok::<(), lookalike::Error>(())
/// ```
#[derive(Debug)]
pub struct Input(pub(super) InputPlace);

#[derive(Debug)]
pub(super) enum InputPlace {
    Path(PathBuf),
    Source(Box<Source>),
}

impl From<Source> for Input {
    fn from(source: Source) -> Input {
        Input(InputPlace::Source(Box::new(source)))
    }
}

impl From<PathBuf> for Input {
    fn from(path: PathBuf) -> Input {
        Input(InputPlace::Path(path))
    }
}

impl From<&PathBuf> for Input {
    fn from(path: &PathBuf) -> Input {
        Input::from(path.clone())
    }
}

impl From<&Path> for Input {
    fn from(path: &Path) -> Input {
        Input::from(path.to_path_buf())
    }
}

impl From<&str> for Input {
    fn from(path: &str) -> Input {
        Input::from(PathBuf::from(path))
    }
}

impl Input {
    /// The path; none for an opened source.
    pub(super) fn path(&self) -> Option<&Path> {
        match &self.0 {
            InputPlace::Path(path) => Some(path),
            InputPlace::Source(_) => None,
        }
    }

    /// The path, where the table can be read from it a second time.
    pub(super) fn lasting(&self) -> Option<&Path> {
        self.path().filter(|path| table::is_lasting(path))
    }

    /// The path of a table in one file.
    pub fn regular_file(&self) -> Option<&Path> {
        self.path().filter(|path| std::fs::metadata(path).is_ok_and(|about| about.is_file()))
    }

    /// Opens the table; the options are for a path alone.
    ///
    /// # Errors
    /// As [`table::open`].
    pub fn open(self, options: impl Into<ReadOptions>) -> Result<Source> {
        match self.0 {
            InputPlace::Path(path) => table::open(&path, options),
            InputPlace::Source(source) => Ok(*source),
        }
    }
}

impl From<&request::Input> for ReadOptions {
    fn from(input: &request::Input) -> ReadOptions {
        ReadOptions {
            delimiter: input.delimiter,
            encoding: input.encoding.clone(),
            names: input.names.clone(),
            header: input.header,
            sheet: input.sheet.clone(),
        }
    }
}

/// The table, for a second reading.
#[derive(Debug)]
pub(super) struct InputFile {
    pub(super) path: PathBuf,
    stamp: Stamp,
}

/// Length and time of the last change of each file: they differ after somebody wrote to one.
type Stamp = Vec<Option<(u64, Option<SystemTime>)>>;

impl InputFile {
    /// Before the first reading.
    pub(super) fn new(path: &Path) -> InputFile {
        InputFile { path: path.to_path_buf(), stamp: stamp(path) }
    }

    /// True when somebody wrote to it since.
    pub(super) fn is_changed(&self) -> bool {
        stamp(&self.path) != self.stamp
    }
}

fn stamp(path: &Path) -> Stamp {
    let of = |path: &Path| {
        std::fs::metadata(path).ok().map(|about| (about.len(), about.modified().ok()))
    };
    let parts = table::parts(path);
    if parts.is_empty() { vec![of(path)] } else { parts.iter().map(|part| of(part)).collect() }
}
