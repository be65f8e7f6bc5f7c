#![doc = include_str!("../README.md")]
#![deny(missing_docs)]

pub mod algorithm;
pub mod anonymize;
pub mod attribute;
pub mod audit;
pub mod budget;
pub mod code;
pub mod config;
pub mod disclosure;
mod encode;
pub mod error;
pub mod hierarchy;
pub mod io;
pub mod loss;
pub mod partition;
pub mod privacy;
pub mod problem;
pub mod profile;
pub mod ratio;
pub mod recode;
pub mod release;
pub mod rng;
mod show;
mod suppress;
pub mod synthetic;
pub mod table;
pub mod taxonomy;
#[cfg(test)]
mod testing;

pub use algorithm::Algorithm;
pub use anonymize::{Outcome, Status, anonymize};
pub use budget::Budget;
pub use config::Config;
pub use error::{Error, ErrorKind, Result};
pub use problem::Problem;
