//! Where the release of a run goes, and which files it must not replace.

use std::fmt;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

use crate::error::{Error, Place, Result};
use crate::release::codebook::Codebook;
use crate::request::Request;
use crate::table::{self, Source, TextDialect};

use super::Product;
use super::codebook::CodebookPage;
use super::report::Report;

/// The target of a run.
pub(super) enum Target<'a> {
    /// `-` is standard output.
    File(PathBuf),
    Memory,
    Sink(Sink<'a>),
}

/// A release in memory: these batches were audited. They have the values of the released rows and
/// nothing else of the source. A plan has original values: it is as secret as the table.
#[derive(Debug)]
pub struct ReleasedTable {
    /// Names and types of the columns.
    pub schema: SchemaRef,
    /// The rows in the order of the release, or of the tuples; empty where they went elsewhere.
    pub batches: Vec<RecordBatch>,
    /// The numbers of the run.
    pub report: Report,
    /// The text of the recoding file, where the run was asked for it and recodes globally. It lists
    /// values of the table.
    pub recoding: Option<String>,
    /// The text of the proof, where the run was asked for it. It is as secret as the table.
    pub proof: Option<String>,
    /// The codebook, where the request asks for one: it says nothing that the release does not say.
    pub codebook: Option<Codebook>,
    pub(super) run: MadeBy,
}

/// The run that made a table.
#[derive(Debug)]
pub(super) struct MadeBy {
    pub(super) product: Product,
    /// As the run understood it.
    pub(super) request: Request,
    /// The dialect of its source, where the release keeps it.
    pub(super) dialect: Option<TextDialect>,
    /// The files that the run read, and those of its request: none may be replaced.
    pub(super) reads: Vec<PathBuf>,
    pub(super) codebook_page: Option<CodebookPage>,
}

/// A place of the caller for the release, such as a table of a database: it gets the batches in
/// order, gives them back to be audited, and publishes them when the audit has passed. Where the
/// run fails, the sink is dropped without publishing: the caller then removes what was written.
///
/// # Example
/// ```
/// use std::cell::RefCell;
///
/// use lookalike::run::{Run, Sink};
/// use lookalike::{Request, table};
///
/// let (staging, published) = (RefCell::new(Vec::new()), RefCell::new(false));
/// let sink = Sink::new(
///     |batch| Ok(staging.borrow_mut().push(batch.clone())),
///     || Ok(*published.borrow_mut() = true),
/// );
/// let request = Request::parse("k = 2\ncolumns.age.role = 'quasi'")?;
/// let source = table::open_text("age\n34\n36\n51\n58\n".into(), "ages".as_ref())?;
/// Run::new(&request).to_sink(source, sink)?;
/// assert!(*published.borrow() && staging.borrow().len() == 1);
/// # Ok::<(), lookalike::Error>(())
/// ```
pub struct Sink<'a> {
    write: WriteBatch<'a>,
    read_back: Option<ReadBack<'a>>,
    publish: Publish<'a>,
}

type WriteBatch<'a> = Box<dyn FnMut(&RecordBatch) -> Result<()> + 'a>;
type ReadBack<'a> = Box<dyn FnOnce() -> Result<Source> + 'a>;
type Publish<'a> = Box<dyn FnOnce() -> Result<()> + 'a>;

impl fmt::Debug for Sink<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sink").field("reads_back", &self.reads_back()).finish_non_exhaustive()
    }
}

impl<'a> Sink<'a> {
    /// `write` gets every batch; `publish` is called once, when the audit has passed. The batches
    /// themselves are audited.
    pub fn new(
        write: impl FnMut(&RecordBatch) -> Result<()> + 'a,
        publish: impl FnOnce() -> Result<()> + 'a,
    ) -> Sink<'a> {
        Sink { write: Box::new(write), read_back: None, publish: Box::new(publish) }
    }

    /// The audit reads what `read_back` opens, instead of the batches: what a database made of
    /// them, for example.
    #[must_use]
    pub fn reading_back(self, read_back: impl FnOnce() -> Result<Source> + 'a) -> Sink<'a> {
        Sink { read_back: Some(Box::new(read_back)), ..self }
    }

    pub(super) fn reads_back(&self) -> bool {
        self.read_back.is_some()
    }

    pub(super) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        (self.write)(batch)
    }

    /// The written rows, if the sink can give them back and has not yet.
    pub(super) fn read_back(&mut self) -> Option<Result<Source>> {
        self.read_back.take().map(|read_back| read_back())
    }

    pub(super) fn publish(self) -> Result<()> {
        (self.publish)()
    }
}

/// Refuses an output that is the input, another file that is read, or another output, under any
/// name: an older output may be replaced, nothing else. Each output has a name for messages.
///
/// # Errors
/// [`Request`](crate::ErrorKind::Request) then.
pub fn refuse_overlap(
    input: Option<&Path>,
    reads: &[PathBuf],
    outputs: &[(&str, &Path)],
) -> Result<()> {
    for (at, &(what, path)) in outputs.iter().enumerate() {
        let input = input
            .map(|input| if input == Path::new("-") { Path::new("/dev/stdin") } else { input });
        if input.is_some_and(|input| is_one(input, path)) {
            let reason = format!("{} is the input itself: choose another output", path.display());
            return Err(Error::request("output-is-input", reason).about(in_file(path)));
        }
        let is_part = |input: &Path| table::parts(input).iter().any(|part| is_one(part, path));
        let is_beside = |input: &Path| {
            let folder = path.parent().filter(|folder| *folder != Path::new(""));
            let folder = folder.unwrap_or(Path::new("."));
            input.is_dir()
                && !table::parts(input).is_empty()
                && table::real_place(input) == table::real_place(folder)
        };
        if input.is_some_and(|input| is_part(input) || is_beside(input)) {
            let reason = format!(
                "{} is in the folder of the input, which is read as a whole: choose another folder",
                path.display()
            );
            return Err(Error::request("output-is-input", reason).about(in_file(path)));
        }
        if reads.iter().any(|read| is_one(read, path)) {
            let reason = format!(
                "{what} {} is an input file of the request: choose another output",
                path.display()
            );
            return Err(Error::request("output-is-input", reason).about(in_file(path)));
        }
        if let Some((other, _)) = outputs[..at].iter().find(|(_, other)| is_one(other, path)) {
            let reason = format!("{other} and {what} name the same file: choose two files");
            return Err(Error::request("outputs-overlap", reason).about(in_file(path)));
        }
    }
    Ok(())
}

fn in_file(path: &Path) -> Place {
    Place { file: Some(path.to_path_buf()), ..Place::default() }
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
