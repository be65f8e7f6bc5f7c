//! How long a search may go on: a deadline and a flag that Ctrl-C sets. The only module that reads the clock.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A deadline and a cancel flag; a search asks it now and then and stops with what it has.
#[derive(Clone, Debug, Default)]
pub struct Budget {
    deadline: Option<Instant>,
    cancel: Arc<AtomicBool>,
}

impl Budget {
    /// No deadline, nobody to cancel.
    pub fn unlimited() -> Budget {
        Budget::default()
    }

    /// From now on at most this long, or until somebody sets the flag.
    pub fn new(time: Option<Duration>, cancel: Arc<AtomicBool>) -> Budget {
        Budget { deadline: time.and_then(|time| Instant::now().checked_add(time)), cancel }
    }

    /// True when the search should stop.
    pub fn is_spent(&self) -> bool {
        self.cancel.load(Ordering::Relaxed) || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}
