//! Figures as plain data: what was measured, as a CSV file and as a picture in the axes of the
//! paper.

use std::fmt::Write;

use super::store::Numbers;
use crate::plot::{Axis, Plot, Point, Scale, Series, svg};

/// One figure of a paper.
#[derive(Debug)]
pub(super) struct Figure {
    pub(super) paper: &'static str,
    /// The name of its files.
    pub(super) name: String,
    /// Which figure of the paper it is.
    pub(super) of: &'static str,
    pub(super) title: String,
    pub(super) x: Side,
    pub(super) y: Side,
    pub(super) lines: Vec<Line>,
}

/// What one axis shows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Side {
    /// The head of the column in the CSV file.
    pub(super) column: &'static str,
    pub(super) label: &'static str,
    pub(super) scale: Scale,
}

/// A line of a figure.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) name: String,
    pub(super) points: Vec<(f64, f64)>,
}

/// The runs of one method along one axis.
#[derive(Debug)]
pub(super) struct Sweep {
    pub(super) name: String,
    pub(super) runs: Vec<(f64, Numbers)>,
}

impl Sweep {
    /// One number of every run that has it.
    pub(super) fn points(&self, what: &str) -> Vec<(f64, f64)> {
        self.runs.iter().filter_map(|(x, numbers)| Some((*x, *numbers.get(what)?))).collect()
    }

    pub(super) fn line(&self, what: &str) -> Line {
        Line { name: self.name.clone(), points: self.points(what) }
    }
}

impl Side {
    pub(super) const fn new(column: &'static str, label: &'static str, scale: Scale) -> Side {
        Side { column, label, scale }
    }
}

pub(super) const BY_K: Side = Side::new("k", "k", Scale::Log);
pub(super) const SECONDS: Side = Side::new("seconds", "search time in seconds", Scale::Log);
pub(super) const NCP: Side = Side::new("ncp", "certainty penalty", Scale::FromZero);
pub(super) const C_DM: Side = Side::new("c_dm", "discernability penalty", Scale::Log);

impl Figure {
    /// The figure of one number of several series; the number is called like the column of the y
    /// axis.
    pub(super) fn of(
        paper: &'static str,
        of: &'static str,
        name: &str,
        title: &str,
        sides: (Side, Side),
        all: &[Sweep],
    ) -> Figure {
        let lines = all.iter().map(|series| series.line(sides.1.column)).collect();
        Figure {
            paper,
            name: name.to_string(),
            of,
            title: title.to_string(),
            x: sides.0,
            y: sides.1,
            lines,
        }
    }

    /// A line a point.
    pub(super) fn csv(&self) -> String {
        let mut text = format!("series,{},{}\n", self.x.column, self.y.column);
        for line in &self.lines {
            let name = if line.name.contains(',') {
                format!("\"{}\"", line.name)
            } else {
                line.name.clone()
            };
            for (x, y) in &line.points {
                writeln!(text, "{name},{x},{y}").expect("a string takes everything");
            }
        }
        text
    }

    pub(super) fn picture(&self) -> String {
        let mut ticks: Vec<f64> =
            self.lines.iter().flat_map(|line| line.points.iter().map(|point| point.0)).collect();
        ticks.sort_by(f64::total_cmp);
        ticks.dedup();
        let axis = |side: Side, ticks: Vec<f64>| Axis {
            label: side.label.to_string(),
            scale: side.scale,
            ticks,
        };
        let point = |&(x, y): &(f64, f64)| Point { x, y, label: String::new() };
        let series = |line: &Line| Series {
            name: line.name.clone(),
            is_joined: true,
            points: line.points.iter().map(point).collect(),
        };
        svg(&Plot {
            title: self.title.clone(),
            x_axis: axis(self.x, ticks),
            y_axis: axis(self.y, Vec::new()),
            series: self.lines.iter().map(series).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_has_a_line_and_a_marker_for_each_point() {
        let runs =
            |y: f64| vec![(2.0, Numbers::from([("ncp".to_string(), y)])), (5.0, Numbers::new())];
        let all = [("a", 1.5), ("b, c", 2.5)]
            .map(|(name, y)| Sweep { name: name.to_string(), runs: runs(y) });
        let figure = Figure::of("xu2006", "figure 7", "penalty", "Penalty", (BY_K, NCP), &all);
        assert_eq!(figure.csv(), "series,k,ncp\na,2,1.5\n\"b, c\",2,2.5\n");
        let picture = figure.picture();
        assert!(
            picture.contains("b, c: 2, 2.5") && picture.contains("certainty penalty"),
            "{picture}"
        );
    }
}
