//! The options of a call, which cross as JSON.

use std::str::FromStr;

use lookalike::run::{Effort, Verify};
use lookalike::{Error, Result};
use lookalike_report::report::{Edition, RecordDate};
use serde::Deserialize;

/// What Ctrl-C does to a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum OnInterrupt {
    /// The call raises `KeyboardInterrupt`.
    #[default]
    Raise,
    /// The best release so far is verified and returned.
    Keep,
}

/// More threads than any machine has cores would only fill its memory.
const MOST_THREADS: usize = 1_024;

/// The options of all functions; each uses its own.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Options {
    pub(crate) threads: Option<usize>,
    pub(crate) on_interrupt: OnInterrupt,
    pub(crate) bound: Option<String>,
    pub(crate) verify: Option<String>,
    /// The text of the recoding file is wanted.
    pub(crate) recoding: bool,
    /// The text of the proof file is wanted.
    pub(crate) with_proof: bool,
    /// The text of a proof file.
    pub(crate) proof: Option<String>,
    pub(crate) force: bool,
    /// The release is a plan.
    pub(crate) plan: bool,
    /// A plan names each tuple by its row in the table of counts.
    pub(crate) numbered: bool,
    /// The text of the domain of the whole table.
    pub(crate) domain: Option<String>,
    /// The most tuples of a cell, about.
    pub(crate) tuples: Option<u64>,
    /// The tuples of the whole table.
    pub(crate) whole: Option<u64>,
    pub(crate) k: Vec<u64>,
    pub(crate) algorithms: Vec<String>,
    pub(crate) edition: EditionName,
    /// The day of a record; today when absent.
    pub(crate) date: Option<String>,
    /// The text of a file of queries.
    pub(crate) queries: Option<String>,
    /// The number of random queries.
    pub(crate) random: Option<u64>,
    pub(crate) on: Vec<String>,
    pub(crate) sum: Option<String>,
    pub(crate) seed: Option<u64>,
    /// Every query with its true answer.
    pub(crate) each: bool,
}

/// Who reads a report.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum EditionName {
    #[default]
    Internal,
    Public,
}

impl From<EditionName> for Edition {
    fn from(name: EditionName) -> Edition {
        match name {
            EditionName::Internal => Edition::Internal,
            EditionName::Public => Edition::Public,
        }
    }
}

impl Options {
    pub(crate) fn parse(text: &str) -> Result<Options> {
        // The text is made by the Python half, which checks types: place and value mean nothing to a
        // caller.
        let fault = |_| Error::request("bad-option", "an argument is of the wrong type");
        let options: Options = serde_json::from_str(text).map_err(fault)?;
        if options.threads.is_some_and(|threads| !(1..=MOST_THREADS).contains(&threads)) {
            let reason = format!("threads is a whole number from 1 to {MOST_THREADS}");
            return Err(Error::request("bad-option", reason));
        }
        Ok(options)
    }

    /// The effort for the lower bound.
    pub(crate) fn bound(&self) -> Result<Effort> {
        self.bound.as_deref().map_or(Ok(Effort::default()), Effort::from_str)
    }

    /// The day of a record.
    pub(crate) fn date(&self) -> Result<RecordDate> {
        self.date.as_deref().map_or_else(RecordDate::today, RecordDate::from_str)
    }

    /// How much the audit checks.
    pub(crate) fn verify(&self) -> Result<Verify> {
        self.verify.as_deref().map_or(Ok(Verify::default()), Verify::from_str)
    }
}
