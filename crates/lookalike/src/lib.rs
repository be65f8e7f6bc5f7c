//! Every person in a table gets at least k-1 lookalikes.

pub mod code;
pub mod config;
pub mod error;
pub mod profile;
pub mod ratio;
pub mod rng;
pub mod synthetic;
pub mod table;

pub use error::{Error, ErrorKind, Result};

/// Placeholder until the search exists.
#[derive(Clone, Copy, Debug)]
pub enum Status {
    /// No proof of quality.
    Heuristic,
}

/// Placeholder until the door exists.
#[derive(Debug)]
pub struct Problem;
impl Problem {
    /// Placeholder.
    pub fn new() -> Problem {
        Problem
    }
}
