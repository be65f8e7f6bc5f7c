//! News of a comparison or a report that goes on.

use lookalike::{Algorithm, Error, Hint, Warning};

/// News of a comparison or a report, which goes on.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A search of a comparison begins.
    Search(SearchStep),
    /// A warning about the request or the table.
    Warning(&'a Warning),
    /// There are no random queries, for this reason: on a wide table hardly any query has an answer
    /// above 0. All other measurements are made.
    NoQueries(&'a Error),
}

/// The search of a comparison that begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchStep {
    /// Its number, counted from 1.
    pub number: usize,
    /// The number of all searches.
    pub searches: usize,
    /// The algorithm.
    pub algorithm: Algorithm,
    /// The value of k; none for rules without k.
    pub k: Option<u64>,
}

impl Event<'_> {
    /// The stable code of a warning, and its message with the hints in the words of a face; none
    /// for other news.
    ///
    /// # Example
    /// ```
    /// use lookalike::{Error, Hint};
    /// use lookalike_report::Event;
    ///
    /// let error = Error::request("no-numbers", "no column can be queried");
    /// let (code, message) = Event::NoQueries(&error).warning(Hint::words).expect("a warning");
    /// assert_eq!((code, message.as_str()), ("no-numbers", "no random queries: no column can be queried"));
    /// ```
    pub fn warning(&self, words: impl Fn(&Hint) -> String) -> Option<(&'static str, String)> {
        match self {
            Event::Search(_) => None,
            Event::Warning(warning) => Some((warning.code(), warning.message(words))),
            Event::NoQueries(error) => {
                Some((error.code(), format!("no random queries: {}", error.message(words))))
            }
        }
    }
}
