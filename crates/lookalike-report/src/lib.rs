//! What is known about a table and its release, as data and as pages: [`check()`](check::check),
//! [`verify()`](verify::verify), [`compare()`](compare::compare), [`query()`](query::query),
//! [`report()`](report::report), [`explain()`](explain::explain), and a first request by [`suggest()`](suggest::suggest).
//!
//! The crate prints nothing, reads no flags and names none: the command line and the Python package
//! call the same functions. Tables come as an opened [`Source`](lookalike::table::Source) where
//! there is one, and as an [`Input`](lookalike::run::Input) (a path or a source) where there are
//! two, which are opened one after the other. Results are plain data; `json` gives the objects of
//! the command's JSON output, with hints in the words of the caller.
//!
//! Work is divided by rayon in the pool of the caller (`ThreadPool::install`).
//!
//! # Example
//! ```
//! use lookalike::{Hint, Request, table};
//! use lookalike_report::check::check;
//!
//! let source = table::open_text("age\n34\n34\n51\n".into(), "ages".as_ref())?;
//! let request = Request::parse("k = 2\ncolumns.age.role = 'quasi'")?;
//! let found = check(source, &request)?;
//! assert!(!found.holds());
//! assert_eq!(found.json(Hint::words)["measures"]["k"], 1);
//! # Ok::<(), lookalike::Error>(())
//! ```
#![deny(missing_docs)]

pub mod check;
pub mod codebook;
pub mod compare;
mod event;
pub mod explain;
pub mod plot;
pub mod proof;
pub mod query;
mod random_queries;
pub mod report;
mod risk;
pub mod suggest;
pub mod verify;
pub mod words;

pub use event::{Event, SearchStep};
