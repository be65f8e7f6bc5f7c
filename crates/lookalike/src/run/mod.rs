//! The run that every face makes: plan, read, encode, bound, search, write, read back, audit,
//! publish. Nothing is published that did not pass the audit.
//!
//! | seam | choices |
//! |---|---|
//! | [`Input`] | a path, any reader ([`table::open_reader`]), any Arrow stream ([`table::from_batches`]) |
//! | target | a file, standard output ([`Run::to_file`]), memory ([`Run::in_memory`]), a [`Sink`] of the caller |
//! | watcher | a function that gets every [`Event`], and a [`Cancel`] to end the search or the run |
//!
//! A release in memory can have its labels as ordered dictionaries ([`Run::categories`]), and can be
//! written to a file later ([`ReleasedTable::to_file`]).
//!
//! [`table::open_reader`]: crate::table::open_reader
//! [`table::from_batches`]: crate::table::from_batches

mod audit;
mod cells;
mod coarsen;
mod codebook;
mod dictionaries;
mod forms;
mod in_memory;
mod in_time;
mod input;
mod lower_bound;
mod options;
mod publish;
mod purpose;
mod read;
mod report;
mod search;
mod table_to_file;
mod target;
mod warnings;
mod watch;
mod write;

pub use audit::{Verify, read_for_audit, read_source_for_audit, verify_plan};
pub use cells::{CellSize, cuts, domain_of_columns, merge_cells};
pub use coarsen::{coarsen, hash_secret};
pub use codebook::CodebookPage;
pub use forms::settle_forms;
pub use in_memory::{Audited, audit_outcome};
pub use in_time::{refuse_changing, solve_in_time};
pub use input::Input;
pub use lower_bound::{Effort, lower_bound, sharper};
pub use options::{USUAL_TIME, search_options, time_limit};
pub use purpose::settle_purpose;
pub use read::{headless, roles, without_names};
pub use report::{Found, FoundPersons, PublishedLoss, Report};
pub use target::{ReleasedTable, Sink, refuse_overlap};
pub use warnings::{has_rule, one_row, request_warnings};
pub use watch::{Cancel, Event, Progress, Stage};

use std::fmt;
use std::path::{Path, PathBuf};

use crate::domain::TableDomain;
use crate::error::{Error, Result};
use crate::release::recoding_file::RecodingFile;
use crate::release::tuple_plan::TupleName;
use crate::request::Request;
use crate::search::global::Techniques;
use crate::search::tuning::Tuning;
use crate::table::{Existing, TextDialect};

use self::target::Target;
use self::watch::{Clock, Watch};

/// Anonymizes a table into a file: searched, written, read back, verified, published.
///
/// # Example
/// ```
/// use lookalike::{Request, anonymize_file};
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let (data, safe) = (folder.path().join("data.csv"), folder.path().join("safe.csv"));
/// # std::fs::write(&data, "age,sex,illness\n34,f,flu\n36,f,gout\n51,m,flu\n58,m,cold\n").unwrap();
/// let request = Request::parse("k = 2\nrest = 'drop'\ncolumns.age.role = 'quasi'")?;
/// let report = anonymize_file(&data, &safe, &request)?;
/// assert_eq!((report.released(), report.verdict.measures.k), (4, 2));
/// # Ok::<(), lookalike::Error>(())
/// ```
///
/// # Errors
/// Those of [`Run::to_file`].
pub fn anonymize_file(
    input: impl Into<Input>,
    output: impl AsRef<Path>,
    request: &Request,
) -> Result<Report> {
    Run::new(request).to_file(input, output)
}

/// Anonymizes a table in memory: the batches that are returned are those that were audited.
///
/// # Example
/// ```
/// use lookalike::{Request, anonymize, table};
///
/// let request = Request::parse("k = 2\ncolumns.age.role = 'quasi'")?;
/// let source = table::open_text("age\n34\n36\n51\n58\n".into(), "ages".as_ref())?;
/// let released = anonymize(source, &request)?;
/// assert_eq!(released.batches.iter().map(|batch| batch.num_rows()).sum::<usize>(), 4);
/// # Ok::<(), lookalike::Error>(())
/// ```
///
/// # Errors
/// Those of [`Run::in_memory`].
pub fn anonymize(input: impl Into<Input>, request: &Request) -> Result<ReleasedTable> {
    Run::new(request).in_memory(input)
}

/// A run and its options. The methods without a result are options; the last call makes the run.
///
/// # Example
/// ```
/// use lookalike::run::{Effort, Event, Run};
/// use lookalike::{Request, table};
///
/// let request = Request::parse("k = 2\nseed = 7\ncolumns.age.role = 'quasi'")?;
/// let source = table::open_text("age\n34\n36\n51\n58\n".into(), "ages".as_ref())?;
/// let watch = |event: Event| if let Event::Stage(stage) = event { println!("{stage}") };
/// let released = Run::new(&request).bound(Effort::Full).watch(&watch).in_memory(source)?;
/// println!("{}", released.report);
/// # Ok::<(), lookalike::Error>(())
/// ```
#[must_use]
pub struct Run<'a> {
    request: Request,
    recoding: RecodingSource<'a>,
    bound: Effort,
    techniques: Techniques,
    tuning: Tuning,
    labels: LabelFormat,
    tuple_name: TupleName,
    proof: Option<SecretTarget>,
    recoding_copy: Option<SecretTarget>,
    codebook_page: Option<CodebookPage>,
    existing: Existing,
    verify: Verify,
    reads: Vec<PathBuf>,
    /// The dialect of a source that is text, where the release keeps it.
    dialect: Option<TextDialect>,
    cancel: Cancel,
    watch: Option<Watch<'a>>,
    /// The domain of the whole, where the table is a part of one.
    domain: Option<&'a TableDomain>,
}

impl fmt::Debug for Run<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run").field("request", &self.request).finish_non_exhaustive()
    }
}

/// What a run makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Product {
    Release,
    /// What is published for how many rows of each tuple.
    Plan,
}

/// The form of the labels in batches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LabelFormat {
    Texts,
    /// Ordered dictionaries.
    Categories,
}

/// Where a proof or a recoding goes, which is as secret as the table.
#[derive(Clone, Debug, PartialEq, Eq)]
enum SecretTarget {
    File(PathBuf),
    /// Beside the release in memory.
    Text,
}

impl SecretTarget {
    fn path(&self) -> Option<&Path> {
        match self {
            SecretTarget::File(path) => Some(path),
            SecretTarget::Text => None,
        }
    }
}

/// The source of the recoding.
#[derive(Clone, Copy, Debug)]
enum RecodingSource<'a> {
    Search,
    File(&'a RecodingFile),
}

impl<'a> Run<'a> {
    /// A run of this request, with the usual options.
    pub fn new(request: &Request) -> Run<'a> {
        Run {
            request: request.clone(),
            recoding: RecodingSource::Search,
            bound: Effort::default(),
            techniques: Techniques::default(),
            tuning: Tuning::default(),
            labels: LabelFormat::Texts,
            tuple_name: TupleName::Cells,
            proof: None,
            recoding_copy: None,
            codebook_page: None,
            existing: Existing::Keep,
            verify: Verify::default(),
            reads: Vec::new(),
            dialect: None,
            cancel: Cancel::default(),
            watch: None,
            domain: None,
        }
    }

    /// The effort for the lower bound on the loss; quick when absent.
    pub fn bound(self, bound: Effort) -> Run<'a> {
        Run { bound, ..self }
    }

    /// The techniques of the algorithm `optimal`.
    pub fn techniques(self, techniques: Techniques) -> Run<'a> {
        Run { techniques, ..self }
    }

    /// Other numbers than the tuned ones of the local searches, for experiments.
    pub fn tuning(self, tuning: Tuning) -> Run<'a> {
        Run { tuning, ..self }
    }

    /// Publishes the rows by a recoding that an earlier release has written, without a search.
    pub fn apply(mut self, file: &'a RecodingFile) -> Run<'a> {
        file.settle_kinds(&mut self.request);
        Run { recoding: RecodingSource::File(file), ..self }
    }

    /// Writes the proof of a release of `ring` to a file that only its owner can read.
    pub fn proof(self, path: impl Into<PathBuf>) -> Run<'a> {
        Run { proof: Some(SecretTarget::File(path.into())), ..self }
    }

    /// The release in memory has the text of that file in [`ReleasedTable::proof`].
    pub fn proof_text(self) -> Run<'a> {
        Run { proof: Some(SecretTarget::Text), ..self }
    }

    /// Writes the global recoding to a file that only its owner can read, for later rows.
    pub fn recoding(self, path: impl Into<PathBuf>) -> Run<'a> {
        Run { recoding_copy: Some(SecretTarget::File(path.into())), ..self }
    }

    /// The release in memory has the text of that file in [`ReleasedTable::recoding`].
    ///
    /// # Example
    /// ```
    /// use lookalike::{Request, release::recoding_file, run::Run, table};
    ///
    /// let request = Request::parse("k = 2\nalgorithm = 'incognito'\ncolumns.age.role = 'quasi'")?;
    /// let source = table::open_text("age\n34\n36\n51\n58\n".into(), "ages".as_ref())?;
    /// let released = Run::new(&request).recoding_text().in_memory(source)?;
    /// let recoding = recoding_file::parse(&released.recoding.expect("asked for"), &request)?;
    /// let later = table::open_text("age\n35\n35\n".into(), "ages".as_ref())?;
    /// assert_eq!(Run::new(&request).apply(&recoding).in_memory(later)?.report.released(), 2);
    /// # Ok::<(), lookalike::Error>(())
    /// ```
    pub fn recoding_text(self) -> Run<'a> {
        Run { recoding_copy: Some(SecretTarget::Text), ..self }
    }

    /// Where the request asks for a codebook, this page of it is written beside the release too.
    ///
    /// # Example
    /// ```
    /// use lookalike::{Request, run::Run};
    ///
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let (data, safe) = (folder.path().join("data.csv"), folder.path().join("safe.csv"));
    /// # std::fs::write(&data, "age\n34\n36\n51\n58\n").unwrap();
    /// let request = Request::parse("k = 2\noutput.codebook = true\ncolumns.age.role = 'quasi'")?;
    /// let page = |codebook: &lookalike::release::codebook::Codebook| format!("{codebook:?}");
    /// Run::new(&request).codebook_page(page).to_file(&data, &safe)?;
    /// assert!(folder.path().join("safe.codebook.json").exists());
    /// assert!(folder.path().join("safe.codebook.html").exists());
    /// # Ok::<(), lookalike::Error>(())
    /// ```
    pub fn codebook_page(self, page: CodebookPage) -> Run<'a> {
        Run { codebook_page: Some(page), ..self }
    }

    /// The files of the codebook that a release in this file would have; none where the request asks
    /// for none.
    pub fn codebook_files(&self, output: &Path) -> Vec<PathBuf> {
        match self.request.output.codebook {
            true => codebook::paths(output, self.codebook_page),
            false => Vec::new(),
        }
    }

    /// Columns of labels are ordered Arrow dictionaries, in memory and for a sink: every label of a
    /// released row once, in the order of the domain, the same dictionary in every batch. A missing
    /// cell has no key. Files have texts all the same.
    ///
    /// # Example
    /// ```
    /// use arrow_array::cast::AsArray;
    /// use lookalike::{Request, run::Run, table};
    ///
    /// let request = Request::parse("k = 2\ncolumns.age.role = 'quasi'")?;
    /// let source = table::open_text("age\n9\n9\n10\n12\n".into(), "ages".as_ref())?;
    /// let released = Run::new(&request).categories().in_memory(source)?;
    /// assert_eq!(released.schema.field(0).dict_is_ordered(), Some(true));
    /// let ages = released.batches[0].column(0).as_any_dictionary();
    /// let labels: Vec<_> = ages.values().as_string::<i32>().iter().flatten().collect();
    /// assert_eq!(labels, ["9", "[10-12]"]);
    /// # Ok::<(), lookalike::Error>(())
    /// ```
    pub fn categories(self) -> Run<'a> {
        Run { labels: LabelFormat::Categories, ..self }
    }

    /// A plan names each tuple by its row in the table of counts (`tuple`, from 1) and has no
    /// original cells. Two rows may then be the same tuple.
    ///
    /// # Example
    /// ```
    /// use lookalike::{Request, run::Run, table};
    ///
    /// let request = Request::parse("k = 2\ncount = 'n'\ncolumns.age.role = 'quasi'")?;
    /// let counts = table::open_text("age,n\n34,1\n36,3\n51,2\n".into(), "counts".as_ref())?;
    /// let plan = Run::new(&request).numbered().plan_in_memory(counts)?;
    /// let names: Vec<&str> = plan.schema.fields().iter().map(|field| field.name().as_str()).collect();
    /// assert_eq!(names, ["tuple", "published_age", "first_row", "last_row", "suppressed"]);
    /// # Ok::<(), lookalike::Error>(())
    /// ```
    pub fn numbered(self) -> Run<'a> {
        Run { tuple_name: TupleName::Number, ..self }
    }

    /// What happens to output files that are already there; they are kept, and the run refused,
    /// when absent.
    pub fn existing(self, existing: Existing) -> Run<'a> {
        Run { existing, ..self }
    }

    /// How much the audit of the written release checks.
    pub fn verify(self, verify: Verify) -> Run<'a> {
        Run { verify, ..self }
    }

    /// Further files that belong to the request, such as its TOML file: no output may replace
    /// them.
    pub fn also_reads(self, files: Vec<PathBuf>) -> Run<'a> {
        Run { reads: files, ..self }
    }

    /// A way to end the search or the run from another thread.
    pub fn cancel(self, cancel: &Cancel) -> Run<'a> {
        Run { cancel: cancel.clone(), ..self }
    }

    /// A function that gets every event of the run.
    pub fn watch(self, watch: &'a (dyn Fn(Event<'_>) + Sync)) -> Run<'a> {
        Run { watch: Some(watch), ..self }
    }

    /// Makes the run from the table to the file that the request names.
    ///
    /// # Errors
    /// As [`to_file`](Run::to_file), and when the request lacks one of them.
    pub fn configured(self) -> Result<Report> {
        let missing = |what: &str| {
            let reason = format!("the request names no {what} file: set `{what}.path`");
            Error::request("no-path", reason)
        };
        let input = self.request.input.path.clone().ok_or_else(|| missing("input"))?;
        let output = self.request.output.path.clone().ok_or_else(|| missing("output"))?;
        self.to_file(input, output)
    }

    /// Makes the run and publishes a file; `-` is standard output. The paths of the request are
    /// not used.
    ///
    /// # Errors
    /// When the request makes no sense, the table or a hierarchy is wrong, no release can satisfy
    /// the rules, time ran out before there was one, or a file cannot be read or written. Then
    /// there is no file under the name of the output, or the one that was there before.
    /// [`NotVerified`](crate::ErrorKind::NotVerified) would be a bug of this library.
    pub fn to_file(self, input: impl Into<Input>, output: impl AsRef<Path>) -> Result<Report> {
        let target = Target::File(output.as_ref().to_path_buf());
        Ok(self.make(input.into(), target, Product::Release)?.report)
    }

    /// Makes the run and returns the release. The paths of the request are not used.
    ///
    /// # Errors
    /// As [`to_file`](Run::to_file).
    pub fn in_memory(self, input: impl Into<Input>) -> Result<ReleasedTable> {
        self.make(input.into(), Target::Memory, Product::Release)
    }

    /// Makes the run and gives the release to the caller, batch by batch, who publishes it when
    /// the audit has passed. The paths of the request are not used.
    ///
    /// # Errors
    /// As [`to_file`](Run::to_file), and those of the sink.
    pub fn to_sink(self, input: impl Into<Input>, sink: Sink<'_>) -> Result<Report> {
        Ok(self.make(input.into(), Target::Sink(sink), Product::Release)?.report)
    }

    /// Makes a plan from a table of distinct tuples with counts (`count` in the request): what is
    /// published for how many rows of each tuple. Columns that the rules do not need may be absent.
    /// The file is as secret as the table, and only its owner can read it.
    ///
    /// # Errors
    /// As [`to_file`](Run::to_file), and when the request names no count column or two rows of the
    /// table are the same tuple.
    pub fn plan_to_file(self, counts: impl Into<Input>, plan: impl AsRef<Path>) -> Result<Report> {
        let target = Target::File(plan.as_ref().to_path_buf());
        Ok(self.make(counts.into(), target, Product::Plan)?.report)
    }

    /// The same plan in memory.
    ///
    /// # Example
    /// ```
    /// use lookalike::{Request, run::Run, table};
    ///
    /// let request = Request::parse("k = 2\ncount = 'n'\ncolumns.age.role = 'quasi'")?;
    /// let counts = table::open_text("age,n\n34,1\n36,3\n51,2\n".into(), "counts".as_ref())?;
    /// let plan = Run::new(&request).plan_in_memory(counts)?;
    /// let names: Vec<&str> = plan.schema.fields().iter().map(|field| field.name().as_str()).collect();
    /// assert_eq!(names, ["age", "published_age", "first_row", "last_row", "suppressed"]);
    /// # Ok::<(), lookalike::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`plan_to_file`](Run::plan_to_file).
    pub fn plan_in_memory(self, counts: impl Into<Input>) -> Result<ReleasedTable> {
        self.make(counts.into(), Target::Memory, Product::Plan)
    }

    /// The one run, whatever comes in and wherever it goes.
    fn make(mut self, input: Input, target: Target, product: Product) -> Result<ReleasedTable> {
        let plan = options::plan(&self, &input, &target, product)?;
        self.reads.extend(input.path().map(Path::to_path_buf));
        let mut clock = Clock::new(self.watch);
        clock.stage(Stage::Read);
        let read = read::read(&mut self, &plan, input)?;
        let found = search::search(&self, &plan, read, &mut clock)?;
        clock.stage(Stage::Write);
        let mut written = write::write(&self, &plan, found, target)?;
        clock.stage(Stage::Verify);
        let verdict = audit::audit(&self, &mut written)?;
        self.cancel.check()?;
        clock.stage(Stage::Publish);
        publish::publish(self, product, written, verdict, &mut clock)
    }
}
