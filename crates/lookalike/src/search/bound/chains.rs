//! A group of equal rows seen as chains of ever wider ranges around its values, and how their
//! losses add up.

use crate::search::boxes::Boxes;

use super::rectangle::OpenLine;

/// The chains of one group: those of the attributes with one chain first, then two for each line.
#[derive(Debug, Default)]
pub(super) struct Chains {
    /// The attributes with one chain.
    pub(super) single: Vec<usize>,
    /// The attributes with two chains, the side of lesser values first, and the greatest loss of
    /// both sides together.
    pub(super) lines: Vec<(usize, f64)>,
}

impl Chains {
    /// Takes the chains of another group.
    pub(super) fn set_group(&mut self, boxes: &Boxes, group: u32) {
        let penalty = boxes.penalty;
        self.single.clear();
        self.lines.clear();
        for (at, &range) in boxes.ranges(group).iter().enumerate() {
            // A missing value is no place on the line: with any other value the loss is the
            // weight.
            if penalty.is_line(at) && penalty.step(at, range.lo) <= 0.0 {
                self.lines.push((at, penalty.weight(at)));
            } else {
                self.single.push(at);
            }
        }
    }

    /// The floors of the group itself.
    pub(super) fn own_floors(&self, boxes: &Boxes, group: u32) -> Vec<f64> {
        let ranges = boxes.ranges(group);
        let single = self.single.iter().map(|&at| boxes.penalty.of(at, ranges[at]));
        single.chain(self.lines.iter().flat_map(|_| [0.0; 2])).collect()
    }

    /// The number of chains.
    pub(super) fn len(&self) -> usize {
        self.single.len() + 2 * self.lines.len()
    }

    /// The loss of a box with these floors.
    pub(super) fn loss(&self, floors: &[f64]) -> f64 {
        self.joined(floors, floors)
    }

    /// The loss of a box with these floors when it is widened to contain a row with these losses.
    #[inline]
    pub(super) fn joined(&self, floors: &[f64], losses: &[f64]) -> f64 {
        let (single, sides) = floors.split_at(self.single.len());
        let (of_single, of_sides) = losses.split_at(self.single.len());
        let mut sum = 0.0;
        for (floor, loss) in single.iter().zip(of_single) {
            sum += greater(*floor, *loss);
        }
        let pairs = sides.chunks_exact(2).zip(of_sides.chunks_exact(2));
        for ((floor, loss), (_, most)) in pairs.zip(&self.lines) {
            let both = greater(floor[0], loss[0]) + greater(floor[1], loss[1]);
            sum += if both < *most { both } else { *most };
        }
        sum
    }
}

/// When at most two lines are open and everything else is decided: the two lines as a plane.
impl Chains {
    /// The first of the two chains of a line.
    pub(super) fn sides(&self, line: usize) -> usize {
        self.single.len() + 2 * line
    }

    /// The loss of a box with these floors on all attributes but these lines.
    pub(super) fn loss_beside(&self, floors: &[f64], lines: &[usize]) -> f64 {
        (0..self.lines.len())
            .filter(|line| !lines.contains(line))
            .map(|line| {
                (floors[self.sides(line)] + floors[self.sides(line) + 1]).min(self.lines[line].1)
            })
            .chain(floors[..self.single.len()].iter().copied())
            .sum()
    }

    /// The two lines with their floors; where only one is open, the second has no loss.
    pub(super) fn open_lines(&self, floors: &[f64], lines: &[usize]) -> [OpenLine; 2] {
        let open_line = |line: usize| {
            let at = self.sides(line);
            OpenLine { floors: [floors[at], floors[at + 1]], most: self.lines[line].1 }
        };
        let second = lines.get(1).map_or(OpenLine::default(), |&line| open_line(line));
        [open_line(lines[0]), second]
    }

    /// The place of a row with these losses on the two lines.
    pub(super) fn places(&self, floors: &[f64], lines: &[usize], losses: &[f64]) -> [f64; 2] {
        let place = |line: usize| {
            let at = self.sides(line);
            if losses[at] > floors[at] {
                -losses[at]
            } else if losses[at + 1] > floors[at + 1] {
                losses[at + 1]
            } else {
                0.0
            }
        };
        [place(lines[0]), lines.get(1).map_or(0.0, |&line| place(line))]
    }

    /// Sets `best` to the floors, with the sides of a rectangle on these lines.
    pub(super) fn set_rectangle(
        &self,
        best: &mut Vec<f64>,
        floors: &[f64],
        lines: &[usize],
        sides: [[f64; 2]; 2],
    ) {
        best.clear();
        best.extend_from_slice(floors);
        for (&line, sides) in lines.iter().zip(sides) {
            best[self.sides(line)..][..2].copy_from_slice(&sides);
        }
    }
}

/// The greater of two losses. A loss is never NaN, which makes this faster than [`f64::max`].
#[inline]
fn greater(one: f64, other: f64) -> f64 {
    if one > other { one } else { other }
}
