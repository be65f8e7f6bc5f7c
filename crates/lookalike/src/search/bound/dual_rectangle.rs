//! The rectangle over two lines that allows a group the least dual value.
//!
//! For every interval of the outer line (`rectangle.rs`) the intervals of the inner line are grown
//! on both sides, and with them the greatest dual values of the rows within.

use crate::codes::real;

use super::dual_group::DualGroup;
use super::rectangle::{BestRectangle, OpenLine, Visit, distinct_places, visit_outwards};
use super::top_k::TopK;

#[derive(Clone, Copy, Debug)]
struct DualPoint {
    places: [f64; 2],
    dual: f64,
    rows: u64,
}

/// Rows in the plane, and buffers that the next search uses again.
#[derive(Debug, Default)]
pub(super) struct DualRectangle {
    /// By falling dual value.
    points: Vec<DualPoint>,
    /// The same by place on the inner line.
    sorted: Vec<DualPoint>,
    /// Those of the sorted ones that lie within the outer interval.
    strip: Vec<DualPoint>,
    /// The greatest values from the lower end of the inner interval to zero, and in all of it.
    top_below: TopK,
    top: TopK,
}

impl DualRectangle {
    pub(super) fn clear(&mut self) {
        self.points.clear();
    }

    /// Adds rows at a place; they come by falling dual value.
    pub(super) fn add(&mut self, places: [f64; 2], dual: f64, rows: u64) {
        self.points.push(DualPoint { places, dual, rows });
    }

    /// The rectangle that allows the group least, if less than its limit, which is lowered;
    /// `rest` is the loss on all other attributes. The search ends after about `patience` steps.
    pub(super) fn run(
        &mut self,
        lines: [OpenLine; 2],
        rest: f64,
        group: &mut DualGroup,
        patience: u64,
    ) -> BestRectangle {
        let mut best = BestRectangle::default();
        let Some(greatest) =
            group.greatest(self.points.iter().map(|point| (point.dual, point.rows)))
        else {
            return best;
        };
        let places =
            [0, 1].map(|line| distinct_places(self.points.iter().map(|point| point.places[line])));
        let outer = usize::from(places[1].len() < places[0].len());
        let (inner, places) = (1 - outer, &places[outer]);
        self.sorted.clone_from(&self.points);
        self.sorted.sort_by(|one, other| one.places[inner].total_cmp(&other.places[inner]));
        let k = real(group.k);
        let least_inner = lines[inner].loss(lines[inner].floors);
        best.is_cut = visit_outwards(lines[outer], places, |interval| {
            let loss = rest + interval.loss;
            if k * (loss + least_inner) >= greatest.sum {
                return Visit::NoWider;
            }
            best.steps += self.points.len() as u64;
            if best.steps > patience {
                return Visit::Cut;
            }
            let ends = places[interval.low]..=places[interval.high];
            let is_within = |point: &&DualPoint| ends.contains(&point.places[outer]);
            let values = self.points.iter().filter(is_within).map(|point| (point.dual, point.rows));
            let Some(greatest) = group.greatest(values) else { return Visit::Next };
            if k * (loss + least_inner) >= greatest.sum {
                return Visit::Next;
            }
            self.strip.clear();
            self.strip.extend(self.sorted.iter().filter(is_within));
            let grown = self.grow(lines[inner], inner, loss, greatest.sum, group, &mut best.steps);
            if let Some(sides) = grown {
                let mut both = [interval.sides; 2];
                both[inner] = sides;
                best.sides = Some(both);
            }
            Visit::Next
        });
        best
    }

    /// The same for one interval of the outer line; with it and all other attributes the loss is
    /// `loss`, and `most` is the greatest sum of the dual values of k rows within it.
    fn grow(
        &mut self,
        line: OpenLine,
        inner: usize,
        loss: f64,
        most: f64,
        group: &mut DualGroup,
        steps: &mut u64,
    ) -> Option<[f64; 2]> {
        let (strip, k) = (&self.strip, real(group.k));
        let place = |at: usize| strip[at].places[inner];
        let mut low = strip.partition_point(|point| point.places[inner] < 0.0);
        let zero = strip.partition_point(|point| point.places[inner] <= 0.0);
        self.top_below.clear(group.others());
        strip[low..zero].iter().for_each(|point| self.top_below.add(point.dual, point.rows));
        let (mut less, mut best) = (line.floors[0], None);
        while k * (loss + line.loss([less, line.floors[1]])) < most {
            self.top.copy(&self.top_below);
            let (mut high, mut more) = (zero, line.floors[1]);
            loop {
                *steps += 1;
                let loss = loss + line.loss([less, more]);
                if k * loss >= most {
                    break;
                }
                if group.lower(loss, &self.top) {
                    best = Some([less, more]);
                }
                if high == strip.len() {
                    break;
                }
                let next = place(high);
                more = line.floors[1].max(next);
                while high < strip.len() && place(high) <= next {
                    self.top.add(strip[high].dual, strip[high].rows);
                    high += 1;
                }
            }
            if low == 0 {
                break;
            }
            let next = place(low - 1);
            less = line.floors[0].max(-next);
            while low > 0 && place(low - 1) >= next {
                low -= 1;
                self.top_below.add(strip[low].dual, strip[low].rows);
            }
        }
        best
    }
}
