//! Every row of a release is indistinguishable from at least k-1 others, little detail is lost, and
//! the written file is verified by an independent audit. Rows are counted: where a person has
//! several, see [`evaluate::profile::repeated_persons`].
//!
//! The rooms, in the order in which data passes through them: [`table`] reads rows, [`request`] has
//! roles and rules, [`domain`] the meaning of values, [`problem`] the question and the answer in
//! codes, [`search`] the algorithms, [`release`] makes rows again, [`audit`] verifies them,
//! [`evaluate`] measures loss and risk, [`run`] puts the steps together, [`synthetic`] makes tables
//! up.
//!
//! ```text
//! file ─table─▶ Table ─Problem::new─▶ Problem ─solve─▶ Recoding ─Release─▶ batches ─table─▶ file
//!                                                    file ─table─▶ Table ─audit─▶ Verdict
//! ```
//!
//! ```
//! use lookalike::evaluate::loss::loss;
//! use lookalike::release::{CellFormat, Release};
//! use lookalike::rng::Key;
//! use lookalike::table::{self, Existing, Pending, Treatment};
//! use lookalike::{Algorithm, Budget, Problem, Request, SearchOptions, audit, solve};
//!
//! # fn main() -> lookalike::Result<()> {
//! # let folder = tempfile::tempdir().unwrap();
//! # let (data, safe) = (folder.path().join("data.csv"), folder.path().join("safe.csv"));
//! # std::fs::write(&data, "age,sex,illness\n34,f,flu\n36,f,gout\n51,m,flu\n58,m,cold\n").unwrap();
//! let request = Request::parse(
//!     "k = 2\n\
//!      columns.age.role = 'quasi'\n\
//!      columns.sex.role = 'quasi'\n\
//!      columns.illness.role = 'keep'",
//! )?;
//! let source = table::open(&data, None)?;
//! let roles = request.roles(source.names())?;
//! let table = source.read(&[Treatment::Code, Treatment::Code, Treatment::PassThrough])?;
//! let problem = Problem::new(&table, &roles, &request)?;
//! let outcome = solve(&problem, SearchOptions::new(Algorithm::Mondrian, 1), &Budget::unlimited());
//! let recoding = &outcome.recoding;
//! assert!(loss(&problem, recoding).gcp < 0.1);
//! let (key, text) = (Key::from_system(), CellFormat::Text);
//! let release = Release::new(&problem, recoding, &table, &roles, &request, key, text)?;
//! let pending = Pending::beside(&safe, Existing::Keep)?;
//! let (file, file_type) = (pending.file()?, table::file_type(&safe)?);
//! let batch = |at| release.batch(at);
//! table::write(file, &safe, file_type, release.schema(), release.batches(), batch)?;
//! let mut released = table::open(pending.path(), None)?.read(&[Treatment::Code; 3])?;
//! audit::unguard(&mut released);
//! assert!(audit::audit(&released, &request)?.holds());
//! pending.publish()?;
//! # let written = "age,sex,illness\n[34-36],f,flu\n[34-36],f,gout\n[51-58],m,cold\n[51-58],m,flu\n";
//! # assert_eq!(std::fs::read_to_string(&safe).unwrap(), written);
//! # Ok(())
//! # }
//! ```
#![deny(missing_docs)]

pub mod audit;
pub mod codes;
pub mod domain;
pub mod error;
pub mod evaluate;
mod names;
pub mod problem;
pub mod release;
pub mod request;
pub mod rng;
pub mod run;
pub mod search;
pub mod synthetic;
pub mod table;
#[cfg(test)]
mod testing;

pub use error::{Error, ErrorKind, Result};
pub use problem::Problem;
pub use problem::bound::{Bound, BoundKind};
pub use request::Request;
pub use search::bound::{bound, tight};
pub use search::budget::Budget;
pub use search::{Algorithm, Outcome, SearchOptions, Status, solve};

/// The Rust blocks of the project's README are run as documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
