//! Every row of a release looks like at least k-1 others, the data stays as useful as it can, and the written file is proof. Rows are
//! counted: where a person has several, see [`profile::repeated_persons`].
//!
//! ```text
//! file ──io──▶ Table ──Problem::new──▶ Problem ──anonymize──▶ Recoding ──Release──▶ batches ──io──▶ file
//!                                                                                   file ──io──▶ Table ──audit──▶ Verdict
//! ```
//!
//! ```
//! use lookalike::{Algorithm, Budget, Config, Problem, Search, anonymize, audit, io, loss::loss, release::{Cells, Release}, rng::Key, table::Treatment};
//!
//! # fn main() -> lookalike::Result<()> {
//! # let folder = tempfile::tempdir().unwrap();
//! # let (data, safe) = (folder.path().join("data.csv"), folder.path().join("safe.csv"));
//! # std::fs::write(&data, "age,sex,illness\n34,f,flu\n36,f,gout\n51,m,flu\n58,m,cold\n").unwrap();
//! let config = Config::parse("k = 2\ncolumns.age.role = 'quasi'\ncolumns.sex.role = 'quasi'\ncolumns.illness.role = 'keep'")?;
//! let source = io::open(&data, None)?;
//! let roles = config.roles(source.names())?;
//! let table = source.read(&[Treatment::Code, Treatment::Code, Treatment::Carry])?;
//! let problem = Problem::new(&table, &roles, &config)?;
//! let outcome = anonymize(&problem, Search::new(Algorithm::Mondrian, 1), &Budget::unlimited());
//! assert!(loss(&problem, &outcome.recoding).gcp < 0.1);
//! let release = Release::new(&problem, &outcome.recoding, &table, &roles, &config, Key::from_system(), Cells::Text)?;
//! let pending = io::Pending::beside(&safe, false)?;
//! io::write(pending.file()?, &safe, io::file_type(&safe)?, release.schema(), release.batches(), |at| release.batch(at))?;
//! let mut released = io::open(pending.path(), None)?.read(&[Treatment::Code; 3])?;
//! audit::unguard(&mut released);
//! assert!(audit::audit(&released, &config)?.holds());
//! pending.publish()?;
//! # assert_eq!(std::fs::read_to_string(&safe).unwrap(), "age,sex,illness\n[34-36],f,flu\n[34-36],f,gout\n[51-58],m,cold\n[51-58],m,flu\n");
//! # Ok(())
//! # }
//! ```
#![deny(missing_docs)]

pub mod algorithm;
pub mod anonymize;
pub mod attribute;
pub mod audit;
pub mod bound;
mod boxes;
pub mod budget;
pub mod code;
pub mod config;
mod descent;
pub mod disclosure;
mod encode;
pub mod error;
mod ground;
mod guard;
mod halve;
pub mod hierarchy;
pub mod io;
pub mod loss;
mod nearest;
pub mod partition;
mod penalty;
pub mod privacy;
pub mod problem;
pub mod profile;
pub mod proof;
pub mod query;
pub mod ratio;
pub mod recode;
pub mod recoding_file;
pub mod release;
pub mod rng;
pub mod scheme;
mod show;
mod suppress;
pub mod synthetic;
pub mod table;
pub mod taxonomy;
#[cfg(test)]
mod testing;
mod tuples;
mod watched;

pub use algorithm::{Algorithm, Branching, Optimum, Search, Techniques};
pub use anonymize::{Outcome, Status, anonymize, anonymize_in_time};
pub use bound::{Bound, BoundKind, bound, tight};
pub use budget::Budget;
pub use config::Config;
pub use error::{Error, ErrorKind, Result};
pub use ground::Cost;
pub use halve::far_pair_shares;
pub use problem::Problem;

/// The Rust blocks of the project's README are run as documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
