//! Rectangles over two lines around a point: what the two searches for the best one share.
//!
//! Places on a line are losses: below zero on the side of lesser values, above zero on the other,
//! zero for everything within the floors. The intervals of the line with fewer places (the outer
//! line) are visited from the point outwards; for each, the search looks for the best interval of
//! the other (the inner line).

/// A line of which only the floors of both sides are decided.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OpenLine {
    pub(super) floors: [f64; 2],
    /// The greatest loss of both sides together.
    pub(super) most: f64,
}

impl OpenLine {
    /// The loss of an interval with these sides.
    #[inline]
    pub(super) fn loss(&self, sides: [f64; 2]) -> f64 {
        (sides[0] + sides[1]).min(self.most)
    }
}

/// The result of a search for the best rectangle.
#[derive(Debug, Default)]
pub(super) struct BestRectangle {
    /// The loss of each side of each line; none when no rectangle is better than the best known.
    pub(super) sides: Option<[[f64; 2]; 2]>,
    /// Looks at a row.
    pub(super) steps: u64,
    /// True when the steps ran out: a better rectangle may exist.
    pub(super) is_cut: bool,
}

/// An interval of the outer line.
#[derive(Clone, Copy, Debug)]
pub(super) struct OuterInterval {
    /// Its first and last place, as numbers of places.
    pub(super) low: usize,
    pub(super) high: usize,
    /// The loss of both sides.
    pub(super) sides: [f64; 2],
    pub(super) loss: f64,
}

/// How to go on after an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Visit {
    /// With the next one.
    Next,
    /// No interval that contains this one is better.
    NoWider,
    /// No more steps are left.
    Cut,
}

/// Visits the intervals of a line between these places that contain zero: the lower end moves
/// outwards, and for each lower end the upper one. True when a visit ended in [`Visit::Cut`].
pub(super) fn visit_outwards(
    line: OpenLine,
    places: &[f64],
    mut visit: impl FnMut(OuterInterval) -> Visit,
) -> bool {
    let zero = zero_place(places);
    for low in (0..=zero).rev() {
        let less = line.floors[0].max(-places[low]);
        for (high, &place) in places.iter().enumerate().skip(zero) {
            let sides = [less, line.floors[1].max(place)];
            match visit(OuterInterval { low, high, sides, loss: line.loss(sides) }) {
                Visit::Next => {}
                Visit::Cut => return true,
                // With this lower end nothing is left, and so with those below it.
                Visit::NoWider if high == zero => return false,
                Visit::NoWider => break,
            }
        }
    }
    false
}

/// The number of the place zero.
pub(super) fn zero_place(places: &[f64]) -> usize {
    places.partition_point(|&place| place < 0.0)
}

/// The distinct places of some points and zero, rising.
pub(super) fn distinct_places(points: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut places: Vec<f64> = points.chain([0.0]).collect();
    places.sort_unstable_by(f64::total_cmp);
    places.dedup_by(|one, other| *one <= *other);
    places
}
