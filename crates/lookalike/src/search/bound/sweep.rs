//! The cheapest rectangle over two lines that has a given point and at least k rows.
//!
//! Places on a line are prices: below zero on the side of lesser values, above zero on the other,
//! zero for all that lies within what is paid already. For every interval of the line with fewer
//! places, from the point outwards, two pointers run over the other line.

/// Rows in the plane, and what a run sets aside for the next.
#[derive(Debug, Default)]
pub(super) struct Sweep {
    points: Vec<([f64; 2], u64)>,
    /// The places of the inner line, rising, and the rows at each within the outer interval.
    places: Vec<f64>,
    rows: Vec<u64>,
    /// The same with nothing of the outer line's greater values.
    rows_below: Vec<u64>,
    /// For each point, its place on the inner line.
    place_of: Vec<usize>,
}

/// A line: what its two sides cost already, and the most that they cost together.
pub(super) type Line = ([f64; 2], f64);

/// What came of a run.
#[derive(Debug, Default)]
pub(super) struct Swept {
    /// The price of the best rectangle, and what each side of each line costs.
    pub(super) best: Option<(f64, [[f64; 2]; 2])>,
    /// How much was looked at.
    pub(super) steps: u64,
    /// True when that was too much and a better rectangle may have been missed.
    pub(super) is_cut: bool,
}

impl Sweep {
    pub(super) fn clear(&mut self) {
        self.points.clear();
    }

    /// Rows at a place.
    pub(super) fn add(&mut self, places: [f64; 2], rows: u64) {
        self.points.push((places, rows));
    }

    /// The cheapest rectangle below `limit`, in about so many steps.
    pub(super) fn run(&mut self, lines: [Line; 2], k: u64, mut limit: f64, patience: u64) -> Swept {
        let [first, second] = [self.places_on(0), self.places_on(1)];
        let (outer, outer_places) =
            if first.len() <= second.len() { (0, first) } else { (1, second.clone()) };
        let inner = 1 - outer;
        self.places = if inner == 0 { self.places_on(0) } else { second };
        self.points.sort_unstable_by(|one, other| one.0[outer].total_cmp(&other.0[outer]));
        let index = |places: &[f64], place: f64| places.partition_point(|&other| other < place);
        self.place_of.clear();
        self.place_of.extend(self.points.iter().map(|point| index(&self.places, point.0[inner])));
        let zero = index(&outer_places, 0.0);
        // The points on each place of the outer line.
        let mut from = vec![0; outer_places.len() + 1];
        for (at, &place) in outer_places.iter().enumerate() {
            from[at + 1] = from[at]
                + self.points[from[at]..]
                    .iter()
                    .take_while(|point| point.0[outer] <= place)
                    .count();
        }
        self.rows_below.clear();
        self.rows_below.resize(self.places.len(), 0);
        let (floors, most) = lines[outer];
        let least_inner = price(lines[inner], lines[inner].0);
        let mut swept = Swept::default();
        for low in (0..=zero).rev() {
            for at in from[low]..from[low + 1] {
                self.rows_below[self.place_of[at]] += self.points[at].1;
            }
            let less = floors[0].max(-outer_places[low]);
            if price((floors, most), [less, floors[1]]) + least_inner >= limit {
                break;
            }
            self.rows.clone_from(&self.rows_below);
            let mut total: u64 = self.rows.iter().sum();
            for high in zero..outer_places.len() {
                if high > zero {
                    for at in from[high]..from[high + 1] {
                        self.rows[self.place_of[at]] += self.points[at].1;
                        total += self.points[at].1;
                    }
                }
                let more = floors[1].max(outer_places[high]);
                let paid = price((floors, most), [less, more]);
                if paid + least_inner >= limit {
                    break;
                }
                if total < k {
                    continue;
                }
                swept.steps += self.places.len() as u64;
                if swept.steps > patience {
                    swept.is_cut = true;
                    return swept;
                }
                if let Some((price, ends)) = self.slide(lines[inner], k, limit - paid) {
                    limit = paid + price;
                    let mut both = [[less, more]; 2];
                    both[inner] = ends;
                    swept.best = Some((limit, both));
                }
            }
        }
        swept
    }

    /// The cheapest interval of the inner line.
    fn slide(&self, line: Line, k: u64, mut limit: f64) -> Option<(f64, [f64; 2])> {
        let (places, rows) = (&self.places, &self.rows);
        let zero = places.partition_point(|&place| place < 0.0);
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
            let ends = [line.0[0].max(-places[low]), line.0[1].max(places[high])];
            if price(line, [ends[0], line.0[1]]) >= limit {
                break;
            }
            let price = price(line, ends);
            if inside >= k && price < limit {
                limit = price;
                best = Some((price, ends));
            }
        }
        best
    }

    fn places_on(&self, line: usize) -> Vec<f64> {
        let mut places: Vec<f64> =
            self.points.iter().map(|point| point.0[line]).chain([0.0]).collect();
        places.sort_unstable_by(f64::total_cmp);
        places.dedup_by(|one, other| *one <= *other);
        places
    }
}

/// What a line costs with these sides.
pub(super) fn price((_, most): Line, sides: [f64; 2]) -> f64 {
    (sides[0] + sides[1]).min(most)
}
