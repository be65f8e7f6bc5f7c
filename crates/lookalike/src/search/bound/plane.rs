//! A group of equal rows, what it can be asked for, and the rectangle over two lines that allows it
//! least.
//!
//! Places on a line are prices as in `sweep.rs`. For every interval of one line, from the group
//! outwards, the intervals of the other are grown on both sides, and with them the greatest values
//! of the rows within.

use crate::codes::real;

use super::sweep::{Line, price};
use super::tops::Tops;

/// A group that has fewer than k rows.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Group {
    pub(super) rows: u64,
    pub(super) k: u64,
    /// What its rows can be asked for, by the boxes that were seen.
    pub(super) allowed: f64,
}

/// The greatest values that k rows can have, the group among them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Greatest {
    /// All k together.
    pub(super) sum: f64,
    /// The least of them that is not the group's first row.
    pub(super) last: f64,
}

impl Greatest {
    /// All k together if another value takes the place of the last one, unless it is greater.
    #[inline]
    pub(super) fn with(&self, value: f64) -> f64 {
        if value < self.last { self.sum - self.last + value } else { self.sum }
    }
}

impl Group {
    /// How many rows beside one of the group a set has.
    pub(super) fn others(&self) -> usize {
        usize::try_from(self.k - 1).expect("no more than there are rows")
    }

    /// Begins with the rows of the group but one.
    pub(super) fn start(&self, tops: &mut Tops) {
        tops.clear(self.others());
        tops.add(self.allowed, self.rows - 1);
    }

    /// What the rows may be asked for if the k rows are in a box of this price, whose greatest
    /// other values these are.
    pub(super) fn value(&self, price: f64, others: &Tops) -> f64 {
        let (k, values) = (self.k, others.values());
        let (mut least, mut sum) = (f64::INFINITY, others.sum());
        let mut left = values.len();
        for own in k - left as u64..=self.rows {
            least = least.min((real(k) * price - sum) / real(own));
            left = left.saturating_sub(1);
            sum -= values.get(left).copied().unwrap_or_default();
        }
        least
    }

    /// Takes note of a box; true when it allows less than those before.
    #[inline]
    pub(super) fn learn(&mut self, price: f64, others: &Tops) -> bool {
        let value = self.value(price, others);
        let is_less = value < self.allowed;
        if is_less {
            self.allowed = value;
        }
        is_less
    }

    /// The greatest values among others that come by falling value, with their rows; none if there
    /// are fewer than k rows.
    pub(super) fn greatest(&self, others: impl Iterator<Item = (f64, u64)>) -> Option<Greatest> {
        let (mut left, mut own, mut sum) = (self.k - 1, self.rows - 1, self.allowed);
        let mut last = self.allowed;
        let mut take = |value: f64, rows: u64, left: &mut u64| {
            let rows = rows.min(*left);
            if rows > 0 {
                sum += real(rows) * value;
                last = value;
                *left -= rows;
            }
        };
        for (value, rows) in others {
            if value < self.allowed && own > 0 {
                take(self.allowed, own, &mut left);
                own = 0;
            }
            take(value, rows, &mut left);
            if left == 0 {
                break;
            }
        }
        take(self.allowed, own, &mut left);
        (left == 0).then_some(Greatest { sum, last })
    }
}

#[derive(Clone, Copy, Debug)]
struct Point {
    places: [f64; 2],
    asked: f64,
    rows: u64,
}

/// Rows in the plane, and what a run sets aside for the next.
#[derive(Debug, Default)]
pub(super) struct Plane {
    /// By falling value.
    points: Vec<Point>,
    /// The same by place on the inner line.
    sorted: Vec<Point>,
    /// Those of the sorted ones that lie within the outer interval.
    strip: Vec<Point>,
    low: Tops,
    tops: Tops,
}

/// What came of a run.
#[derive(Debug, Default)]
pub(super) struct Planed {
    /// What each side of each line costs in the best rectangle.
    pub(super) best: Option<[[f64; 2]; 2]>,
    /// How much was looked at.
    pub(super) steps: u64,
    /// True when that was too much and a better rectangle may have been missed.
    pub(super) is_cut: bool,
}

impl Plane {
    pub(super) fn clear(&mut self) {
        self.points.clear();
    }

    /// Rows at a place, by falling value.
    pub(super) fn add(&mut self, places: [f64; 2], asked: f64, rows: u64) {
        self.points.push(Point { places, asked, rows });
    }

    /// The rectangle that allows the group least, if less than what is known; `rest` is what other
    /// attributes cost.
    pub(super) fn run(
        &mut self,
        lines: [Line; 2],
        rest: f64,
        group: &mut Group,
        patience: u64,
    ) -> Planed {
        let mut planed = Planed::default();
        let Some(greatest) =
            group.greatest(self.points.iter().map(|point| (point.asked, point.rows)))
        else {
            return planed;
        };
        let places = [0, 1].map(|line| self.places_on(line));
        let outer = usize::from(places[1].len() < places[0].len());
        let inner = 1 - outer;
        self.sorted.clone_from(&self.points);
        self.sorted.sort_by(|one, other| one.places[inner].total_cmp(&other.places[inner]));
        let zero = places[outer].partition_point(|&place| place < 0.0);
        let (floors, k) = (lines[outer].0, real(group.k));
        let least_inner = price(lines[inner], lines[inner].0);
        for low in (0..=zero).rev() {
            let less = floors[0].max(-places[outer][low]);
            for high in zero..places[outer].len() {
                let more = floors[1].max(places[outer][high]);
                let paid = rest + price(lines[outer], [less, more]);
                if k * (paid + least_inner) >= greatest.sum {
                    break;
                }
                planed.steps += self.points.len() as u64;
                if planed.steps > patience {
                    planed.is_cut = true;
                    return planed;
                }
                let interval = places[outer][low]..=places[outer][high];
                let within = |point: &&Point| interval.contains(&point.places[outer]);
                let values =
                    self.points.iter().filter(within).map(|point| (point.asked, point.rows));
                let Some(greatest) = group.greatest(values) else { continue };
                if k * (paid + least_inner) >= greatest.sum {
                    continue;
                }
                self.strip.clear();
                self.strip.extend(self.sorted.iter().filter(within));
                if let Some(ends) =
                    self.grow(lines[inner], inner, paid, greatest.sum, group, &mut planed.steps)
                {
                    let mut both = [[less, more]; 2];
                    both[inner] = ends;
                    planed.best = Some(both);
                }
            }
        }
        planed
    }

    /// The same for one interval of the outer line, which is paid for.
    fn grow(
        &mut self,
        line: Line,
        inner: usize,
        paid: f64,
        most: f64,
        group: &mut Group,
        steps: &mut u64,
    ) -> Option<[f64; 2]> {
        let (strip, k) = (&self.strip, real(group.k));
        let place = |at: usize| strip[at].places[inner];
        let mut low = strip.partition_point(|point| point.places[inner] < 0.0);
        let zero = strip.partition_point(|point| point.places[inner] <= 0.0);
        self.low.clear(group.others());
        strip[low..zero].iter().for_each(|point| self.low.add(point.asked, point.rows));
        let (mut less, mut best) = (line.0[0], None);
        while k * (paid + price(line, [less, line.0[1]])) < most {
            self.tops.copy(&self.low);
            let (mut high, mut more) = (zero, line.0[1]);
            loop {
                *steps += 1;
                let price = paid + price(line, [less, more]);
                if k * price >= most {
                    break;
                }
                if group.learn(price, &self.tops) {
                    best = Some([less, more]);
                }
                if high == strip.len() {
                    break;
                }
                let next = place(high);
                more = line.0[1].max(next);
                while high < strip.len() && place(high) <= next {
                    self.tops.add(strip[high].asked, strip[high].rows);
                    high += 1;
                }
            }
            if low == 0 {
                break;
            }
            let next = place(low - 1);
            less = line.0[0].max(-next);
            while low > 0 && place(low - 1) >= next {
                low -= 1;
                self.low.add(strip[low].asked, strip[low].rows);
            }
        }
        best
    }

    fn places_on(&self, line: usize) -> Vec<f64> {
        let mut places: Vec<f64> =
            self.points.iter().map(|point| point.places[line]).chain([0.0]).collect();
        places.sort_unstable_by(f64::total_cmp);
        places.dedup_by(|one, other| *one <= *other);
        places
    }
}
