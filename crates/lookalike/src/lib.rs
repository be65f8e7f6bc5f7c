//! Every row of a release looks like at least k-1 others, the data stays as useful as it can, and
//! the written file is proof. Rows are counted: where a person has several, see
//! [`profile::repeated_persons`].
//!
//! ```text
//! file ──io──▶ Table ──Problem::new──▶ Problem ──anonymize──▶ Recoding ──Release──▶ batches ──io──▶ file
//!                                                                                   file ──io──▶ Table ──audit──▶ Verdict
//! ```
//!
//! ```
//! use lookalike::{Algorithm, Budget, Request, Problem, SearchOptions, solve, audit, table, evaluate::loss::loss, release::{Cells, Release}, rng::Key, table::Treatment};
//!
//! # fn main() -> lookalike::Result<()> {
//! # let folder = tempfile::tempdir().unwrap();
//! # let (data, safe) = (folder.path().join("data.csv"), folder.path().join("safe.csv"));
//! # std::fs::write(&data, "age,sex,illness\n34,f,flu\n36,f,gout\n51,m,flu\n58,m,cold\n").unwrap();
//! let request = Request::parse("k = 2\ncolumns.age.role = 'quasi'\ncolumns.sex.role = 'quasi'\ncolumns.illness.role = 'keep'")?;
//! let source = io::open(&data, None)?;
//! let roles = request.roles(source.names())?;
//! let table = source.read(&[Treatment::Code, Treatment::Code, Treatment::Carry])?;
//! let problem = Problem::new(&table, &roles, &request)?;
//! let outcome = solve(&problem, SearchOptions::new(Algorithm::Mondrian, 1), &Budget::unlimited());
//! assert!(loss(&problem, &outcome.recoding).gcp < 0.1);
//! let release = Release::new(&problem, &outcome.recoding, &table, &roles, &request, Key::from_system(), Cells::Text)?;
//! let pending = io::Pending::beside(&safe, io::Existing::Keep)?;
//! io::write(pending.file()?, &safe, io::file_type(&safe)?, release.schema(), release.batches(), |at| release.batch(at))?;
//! let mut released = io::open(pending.path(), None)?.read(&[Treatment::Code; 3])?;
//! audit::unguard(&mut released);
//! assert!(audit::audit(&released, &request)?.holds());
//! pending.publish()?;
//! # assert_eq!(std::fs::read_to_string(&safe).unwrap(), "age,sex,illness\n[34-36],f,flu\n[34-36],f,gout\n[51-58],m,cold\n[51-58],m,flu\n");
//! # Ok(())
//! # }
//! ```
#![deny(missing_docs)]

pub mod audit;
pub mod codes;
pub mod domain;
pub mod error;
pub mod evaluate;
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
pub use search::boxes::split::far_pair_shares;
pub use search::budget::Budget;
pub use search::global::{Branching, Cost, Optimum, Techniques};
pub use search::{Algorithm, Outcome, SearchOptions, Status, solve};

/// The Rust blocks of the project's README are run as documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
