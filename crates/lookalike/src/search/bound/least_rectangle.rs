//! The rectangle over two lines with the least loss that contains a point and at least k rows.
//!
//! For every interval of the outer line two pointers run over the inner line (`rectangle.rs`). The
//! rows at each place of the inner line are counted along while the outer interval grows.

use super::rectangle::{
    BestRectangle, OpenLine, OuterInterval, Visit, distinct_places, visit_outwards, zero_place,
};

/// Rows in the plane, and buffers that the next search uses again.
#[derive(Debug, Default)]
pub(super) struct LeastRectangle {
    /// Places on both lines, and rows.
    points: Vec<([f64; 2], u64)>,
    /// The places of the inner line, rising, and the rows at each within the outer interval.
    places: Vec<f64>,
    rows: Vec<u64>,
    total: u64,
    /// The same without the outer line's places above zero.
    rows_below: Vec<u64>,
    /// For each point the number of its place on the inner line.
    place_of: Vec<usize>,
    /// For each place of the outer line the first of its points.
    firsts: Vec<usize>,
}

impl LeastRectangle {
    pub(super) fn clear(&mut self) {
        self.points.clear();
    }

    pub(super) fn add(&mut self, places: [f64; 2], rows: u64) {
        self.points.push((places, rows));
    }

    /// The rectangle of at least k rows that loses least, if less than `limit`, which then becomes
    /// its loss. The search ends after about `patience` steps.
    pub(super) fn run(
        &mut self,
        lines: [OpenLine; 2],
        k: u64,
        limit: &mut f64,
        patience: u64,
    ) -> BestRectangle {
        let (outer, outer_places) = self.arrange();
        let (inner, zero) = (1 - outer, zero_place(&outer_places));
        let least_inner = lines[inner].loss(lines[inner].floors);
        let mut best = BestRectangle::default();
        best.is_cut = visit_outwards(lines[outer], &outer_places, |interval| {
            if interval.loss + least_inner >= *limit {
                return Visit::NoWider;
            }
            self.count(interval, zero);
            if self.total < k {
                return Visit::Next;
            }
            best.steps += self.places.len() as u64;
            if best.steps > patience {
                return Visit::Cut;
            }
            if let Some((loss, sides)) = self.slide(lines[inner], k, *limit - interval.loss) {
                *limit = interval.loss + loss;
                let mut both = [interval.sides; 2];
                both[inner] = sides;
                best.sides = Some(both);
            }
            Visit::Next
        });
        best
    }

    /// Sorts the points by the line with fewer places. Returns that line and its places.
    fn arrange(&mut self) -> (usize, Vec<f64>) {
        let [first, second] =
            [0, 1].map(|line| distinct_places(self.points.iter().map(|point| point.0[line])));
        let (outer, outer_places, inner_places) =
            if first.len() <= second.len() { (0, first, second) } else { (1, second, first) };
        self.places = inner_places;
        self.points.sort_unstable_by(|one, other| one.0[outer].total_cmp(&other.0[outer]));
        self.place_of.clear();
        self.place_of.extend(
            self.points
                .iter()
                .map(|point| self.places.partition_point(|&other| other < point.0[1 - outer])),
        );
        self.firsts.clear();
        self.firsts.push(0);
        let mut first = 0;
        for &place in &outer_places {
            let here = self.points[first..].iter().take_while(|point| point.0[outer] <= place);
            first += here.count();
            self.firsts.push(first);
        }
        self.rows_below.clear();
        self.rows_below.resize(self.places.len(), 0);
        (outer, outer_places)
    }

    /// Brings the counts from the interval visited before to this one.
    fn count(&mut self, OuterInterval { low, high, .. }: OuterInterval, zero: usize) {
        let points_at = |place: usize| self.firsts[place]..self.firsts[place + 1];
        if high > zero {
            for at in points_at(high) {
                self.rows[self.place_of[at]] += self.points[at].1;
                self.total += self.points[at].1;
            }
        } else {
            for at in points_at(low) {
                self.rows_below[self.place_of[at]] += self.points[at].1;
            }
            self.rows.clone_from(&self.rows_below);
            self.total = self.rows.iter().sum();
        }
    }

    /// The interval of the inner line with at least k rows that loses least, if less than `limit`.
    fn slide(&self, line: OpenLine, k: u64, mut limit: f64) -> Option<(f64, [f64; 2])> {
        let (places, rows) = (&self.places, &self.rows);
        let zero = zero_place(places);
        let mut high = zero;
        let mut inside = rows[zero];
        while inside < k && high + 1 < places.len() {
            high += 1;
            inside += rows[high];
        }
        let mut best = None;
        for low in (0..=zero).rev() {
            if low < zero {
                inside += rows[low];
            }
            while high > zero && inside - rows[high] >= k {
                inside -= rows[high];
                high -= 1;
            }
            let sides = [line.floors[0].max(-places[low]), line.floors[1].max(places[high])];
            if line.loss([sides[0], line.floors[1]]) >= limit {
                break;
            }
            let loss = line.loss(sides);
            if inside >= k && loss < limit {
                limit = loss;
                best = Some((loss, sides));
            }
        }
        best
    }
}
