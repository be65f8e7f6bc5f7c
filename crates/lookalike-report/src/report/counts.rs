//! Counts of the source, as an edition may publish them.

use lookalike::numbers::count;

/// The precision of counts of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CountPolicy {
    /// Exact, for the internal edition.
    Exact,
    /// For the public edition: counts below this number are hidden, others are rounded, because
    /// together with the release an exact count would disclose single rows. For the same reason the
    /// edition has nothing that compares values of the source with published ones: no loss, which
    /// depends on the range of a column, no bound and no distribution.
    Guarded(u64),
}

/// Counts are rounded to multiples of k, or of this where k is less: half of 2 or 3 rows would be
/// exact.
const GRAIN: u64 = 10;

/// A count of rows of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SourceCount {
    Exact(u64),
    About(u64),
    /// Fewer than this number.
    Below(u64),
}

impl CountPolicy {
    pub(super) fn count(self, number: u64) -> SourceCount {
        match self {
            CountPolicy::Exact => SourceCount::Exact(number),
            CountPolicy::Guarded(least) if number < least => SourceCount::Below(least),
            CountPolicy::Guarded(least) => {
                let grain = least.max(GRAIN);
                SourceCount::About(((number + grain / 2) / grain * grain).max(grain))
            }
        }
    }

    /// A share or penalty that depends on the source: two digits in the public edition.
    pub(super) fn rough(self, number: f64) -> f64 {
        match self {
            CountPolicy::Exact => number,
            CountPolicy::Guarded(_) => digits(number),
        }
    }
}

impl SourceCount {
    /// The length of its bar.
    pub(super) fn length(self) -> f64 {
        #[allow(clippy::cast_precision_loss, reason = "for display")]
        match self {
            SourceCount::Exact(number) | SourceCount::About(number) => number as f64,
            SourceCount::Below(_) => 0.0,
        }
    }

    pub(super) fn text(self) -> String {
        match self {
            SourceCount::Exact(number) => count(number),
            SourceCount::About(number) => format!("≈ {}", count(number)),
            SourceCount::Below(least) => format!("< {}", count(least)),
        }
    }
}

/// Two significant digits.
fn digits(number: f64) -> f64 {
    if number == 0.0 || !number.is_finite() {
        return number;
    }
    let power = 10f64.powf(1.0 - number.abs().log10().floor());
    (number * power).round() / power
}
