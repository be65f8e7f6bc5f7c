//! Every row of a release is indistinguishable from at least k-1 others, little detail is lost, and
//! the written file is verified by an independent audit. Rows are counted: where a person has
//! several, see [`evaluate::profile::repeated_persons`].
//!
//! # Five lines to a verified file
//! ```standalone_crate
//! # let folder = tempfile::tempdir().unwrap();
//! # std::env::set_current_dir(folder.path()).unwrap();
//! # std::fs::write("patients.csv", PATIENTS).unwrap();
//! use lookalike::{Request, anonymize_file, l_diversity};
//!
//! let request = Request::new(2).quasi_identifiers(["age", "zip", "sex"]).drop_others();
//! let request = request.sensitive("diagnosis", [l_diversity(2)]);
//! let report = anonymize_file("patients.csv", "safe.csv", &request)?;
//! println!("{report}"); // 2-anonymous, 4 of 4 rows, loss 13.7 % (GCP), 1.00 × the lower bound
//! # let said = "2-anonymous, 4 of 4 rows, loss 13.7 % (GCP), 1.00 × the lower bound";
//! # assert_eq!(report.to_string(), said);
//! # let safe = std::fs::read_to_string("safe.csv").unwrap();
//! # assert!(safe.starts_with("age,zip,sex,diagnosis\n[34-36],"), "{safe}");
//! # const PATIENTS: &str = "name,age,zip,sex,diagnosis\nAnn,34,53711,f,flu\nBea,36,53712,f,gout\n\
//! #                         Carl,51,53706,m,flu\nDan,58,53703,m,cold\n";
//! # Ok::<(), lookalike::Error>(())
//! ```
//! Exit without an error means: the written file was read back, satisfies every rule, and where
//! [`Report::is_compared`](run::Report::is_compared) says so every row of it stands for a row of
//! the source that it covers.
//!
//! # In memory
//! ```
//! use lookalike::{Request, anonymize, table};
//! # let reader = std::io::Cursor::new("age,sex\n34,f\n36,f\n51,m\n58,m\n");
//!
//! let request = Request::new(2).quasi_identifiers(["age", "sex"]);
//! let source = table::open_reader(reader, "upload".as_ref(), None)?; // or table::from_batches
//! let released = anonymize(source, &request)?;
//! for batch in &released.batches {
//!     println!("{} rows of {}", batch.num_rows(), released.report);
//! }
//! # Ok::<(), lookalike::Error>(())
//! ```
//! [`Run`] has all options: effort, verification, events, a way to end the search, a sink of the
//! caller. The `examples/` show each seam.
//!
//! # Rooms
//! In the order in which data passes through them: [`table`] reads rows, [`request`] has roles and
//! rules, [`domain`] the meaning of values, [`problem`] the question and the answer in codes,
//! [`search`] the algorithms, [`release`] makes rows again, [`audit`] verifies them, [`evaluate`]
//! measures loss and risk, [`run`] puts the steps together, [`synthetic`] makes tables up.
//!
//! ```text
//! file ─table─▶ Table ─Problem::new─▶ Problem ─solve─▶ Recoding ─Release─▶ batches ─table─▶ file
//!                                                    file ─table─▶ Table ─audit─▶ Verdict
//! ```
#![deny(missing_docs)]

pub mod audit;
pub mod codes;
pub mod domain;
pub mod error;
pub mod evaluate;
pub mod forms;
mod names;
pub mod numbers;
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

pub use error::{Error, ErrorKind, Hint, Place, Result, Warning};
pub use problem::Problem;
pub use problem::bound::{Bound, BoundKind};
pub use request::{
    HierarchySpec, Request, alpha, alpha_of, distinct, entropy, l_diversity, recursive,
    t_closeness, t_closeness_with,
};
pub use run::{Run, anonymize, anonymize_file};
pub use search::bound::{bound, tight};
pub use search::budget::Budget;
pub use search::{Algorithm, Outcome, SearchOptions, Status, solve};

/// The Rust blocks of the project's README are run as documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
