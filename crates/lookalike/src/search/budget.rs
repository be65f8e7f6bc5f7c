//! How long a search may go on: a deadline and a flag that Ctrl-C sets, and the best loss so far.
//! The only module that reads the clock.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::codes::CodeRange;
use crate::problem::partition::Partition;

/// A deadline and a cancel flag; a search asks it now and then and stops with what it has.
#[derive(Clone, Debug)]
pub struct Budget {
    begun: Instant,
    deadline: Option<Instant>,
    cancel: Arc<AtomicBool>,
    /// The bits of the least loss that a search has reported.
    best: Arc<AtomicU64>,
    /// The best classes so far, where the caller may have to use them before the search has ended.
    kept: Option<Arc<Mutex<Option<BestSoFar>>>>,
}

/// Classes that satisfy every rule, kept before the search has ended.
#[derive(Debug)]
pub(crate) struct BestSoFar {
    /// Their loss, each row that is in none of them counted in full.
    pub(crate) loss: f64,
    pub(crate) partition: Partition,
    /// The ranges of each class, as many as there are attributes.
    pub(crate) ranges: Vec<CodeRange>,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget::new(None, Arc::default())
    }
}

impl Budget {
    /// No deadline, and no flag that anybody can set.
    pub fn unlimited() -> Budget {
        Budget::default()
    }

    /// From now on at most this long, or until the flag is set.
    pub fn new(time: Option<Duration>, cancel: Arc<AtomicBool>) -> Budget {
        let begun = Instant::now();
        let deadline = time.and_then(|time| begun.checked_add(time));
        Budget {
            begun,
            deadline,
            cancel,
            best: Arc::new(AtomicU64::new(f64::INFINITY.to_bits())),
            kept: None,
        }
    }

    /// The same, but the classes that a search keeps can be taken before it has ended.
    #[must_use]
    pub(crate) fn keeping(&self) -> Budget {
        Budget { kept: Some(Arc::default()), ..self.clone() }
    }

    /// True when the search should stop.
    pub fn is_spent(&self) -> bool {
        self.is_cancelled() || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// True when the flag is set: the search should end before its time.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }

    /// Share of the time that has passed, from 0 to 1; 0 as long as there is no deadline.
    pub fn share(&self) -> f64 {
        let Some(deadline) = self.deadline else { return 0.0 };
        let whole = deadline.duration_since(self.begun).as_secs_f64();
        if whole > 0.0 { (self.begun.elapsed().as_secs_f64() / whole).min(1.0) } else { 1.0 }
    }

    /// Time that is left, if there is a deadline.
    pub fn left(&self) -> Option<Duration> {
        Some(self.deadline?.saturating_duration_since(Instant::now()))
    }

    /// A share of the time that is left, from now on.
    #[must_use]
    pub fn part(&self, share: f64) -> Budget {
        let now = Instant::now();
        let left = self
            .deadline
            .map(|deadline| deadline.saturating_duration_since(now).mul_f64(share.clamp(0.0, 1.0)));
        Budget { begun: now, deadline: left.map(|left| now + left), ..self.clone() }
    }

    /// The same time, but nothing is reported or kept.
    #[must_use]
    pub fn silent(&self) -> Budget {
        Budget { best: Budget::default().best, kept: None, ..self.clone() }
    }

    /// Keeps classes for a caller who cannot wait for the end of the search, if there is one and
    /// these lose less than any before. They must be classes of the whole problem.
    pub(crate) fn keep(&self, loss: f64, classes: impl FnOnce() -> (Partition, Vec<CodeRange>)) {
        let Some(kept) = &self.kept else { return };
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.as_ref().is_none_or(|kept| loss < kept.loss) {
            let (partition, ranges) = classes();
            *kept = Some(BestSoFar { loss, partition, ranges });
        }
    }

    /// Takes the classes that were kept.
    pub(crate) fn take(&self) -> Option<BestSoFar> {
        self.kept.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Time since the search should have stopped; none when it may go on. The flag has no clock:
    /// the caller remembers when it was first seen set.
    pub(crate) fn overdue(&self, cancelled_since: &mut Option<Instant>) -> Option<Duration> {
        if self.is_cancelled() {
            cancelled_since.get_or_insert_with(Instant::now);
        }
        let since = [*cancelled_since, self.deadline].into_iter().flatten().min()?;
        Instant::now().checked_duration_since(since)
    }

    /// Reports the loss of the best classes so far, for progress displays.
    pub fn report_loss(&self, loss: f64) {
        self.best.store(loss.to_bits(), Ordering::Relaxed);
    }

    /// The last loss that a search has reported, if one has.
    pub fn reported_loss(&self) -> Option<f64> {
        Some(f64::from_bits(self.best.load(Ordering::Relaxed))).filter(|loss| loss.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_begins_now_and_ends_with_the_whole_at_the_latest() {
        let whole = Budget::new(Some(Duration::from_secs(1000)), Arc::default());
        let half = whole.part(0.5);
        assert!(half.deadline < whole.deadline && half.share() < 0.01 && !half.is_spent());
        assert!(whole.part(7.0).deadline <= whole.deadline);
        let spent = Budget::new(Some(Duration::ZERO), Arc::default());
        assert!(spent.is_spent() && spent.share() >= 1.0 && spent.part(1.0).is_spent());
        assert!(Budget::unlimited().part(0.5).deadline.is_none());
    }

    #[test]
    fn a_part_is_cancelled_with_the_whole_and_reports_to_it() {
        let flag = Arc::new(AtomicBool::new(false));
        let whole = Budget::new(None, flag.clone());
        let part = whole.part(0.5);
        assert!(whole.reported_loss().is_none());
        part.report_loss(7.0);
        assert_eq!(whole.reported_loss(), Some(7.0));
        whole.silent().report_loss(8.0);
        assert_eq!(whole.reported_loss(), Some(7.0));
        flag.store(true, Ordering::Relaxed);
        assert!(part.is_spent() && part.is_cancelled());
    }
}
