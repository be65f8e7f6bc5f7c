//! Figures as plain data: what was measured, as a CSV file and as a picture in the axes of the
//! paper.

use std::fmt::Write;

use crate::store::RunNumbers;
use lookalike_report::plot::{Axis, AxisScale, Plot, PlotPoint, Series, svg};

/// One figure of a paper.
#[derive(Debug)]
pub(crate) struct Figure {
    pub(crate) paper: &'static str,
    /// The name of its files.
    pub(crate) name: String,
    /// Which figure of the paper it is.
    pub(crate) of: &'static str,
    pub(crate) title: String,
    pub(crate) x: Quantity,
    pub(crate) y: Quantity,
    pub(crate) lines: Vec<FigureLine>,
}

/// The quantity on an axis.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quantity {
    /// The head of the column in the CSV file.
    pub(crate) column: &'static str,
    pub(crate) label: &'static str,
    pub(crate) scale: AxisScale,
}

/// A line of a figure.
#[derive(Clone, Debug)]
pub(crate) struct FigureLine {
    pub(crate) name: String,
    pub(crate) points: Vec<(f64, f64)>,
}

/// The runs of one method along one axis.
#[derive(Debug)]
pub(crate) struct RunSeries {
    pub(crate) name: String,
    pub(crate) runs: Vec<(f64, RunNumbers)>,
}

impl RunSeries {
    /// One number of every run that has it.
    pub(crate) fn points(&self, what: &str) -> Vec<(f64, f64)> {
        self.runs.iter().filter_map(|(x, numbers)| Some((*x, *numbers.get(what)?))).collect()
    }

    pub(crate) fn line(&self, what: &str) -> FigureLine {
        FigureLine { name: self.name.clone(), points: self.points(what) }
    }
}

impl Quantity {
    pub(crate) const fn new(
        column: &'static str,
        label: &'static str,
        scale: AxisScale,
    ) -> Quantity {
        Quantity { column, label, scale }
    }
}

pub(crate) const BY_K: Quantity = Quantity::new("k", "k", AxisScale::Log);
pub(crate) const SECONDS: Quantity =
    Quantity::new("seconds", "search time in seconds", AxisScale::Log);
pub(crate) const NCP: Quantity = Quantity::new("ncp", "certainty penalty", AxisScale::FromZero);
pub(crate) const C_DM: Quantity = Quantity::new("c_dm", "discernability penalty", AxisScale::Log);

impl Figure {
    /// The figure of one number of several series; the number is called like the column of the y
    /// axis.
    pub(crate) fn of(
        paper: &'static str,
        of: &'static str,
        name: &str,
        title: &str,
        sides: (Quantity, Quantity),
        all: &[RunSeries],
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
    pub(crate) fn csv(&self) -> String {
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

    pub(crate) fn picture(&self) -> String {
        let mut ticks: Vec<f64> =
            self.lines.iter().flat_map(|line| line.points.iter().map(|point| point.0)).collect();
        ticks.sort_by(f64::total_cmp);
        ticks.dedup();
        let axis = |side: Quantity, ticks: Vec<f64>| Axis {
            label: side.label.to_string(),
            scale: side.scale,
            ticks,
        };
        let point = |&(x, y): &(f64, f64)| PlotPoint { x, y, label: String::new() };
        let series = |line: &FigureLine| Series {
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
        let runs = |y: f64| {
            vec![(2.0, RunNumbers::from([("ncp".to_string(), y)])), (5.0, RunNumbers::new())]
        };
        let all = [("a", 1.5), ("b, c", 2.5)]
            .map(|(name, y)| RunSeries { name: name.to_string(), runs: runs(y) });
        let figure = Figure::of("xu2006", "figure 7", "penalty", "Penalty", (BY_K, NCP), &all);
        assert_eq!(figure.csv(), "series,k,ncp\na,2,1.5\n\"b, c\",2,2.5\n");
        let picture = figure.picture();
        assert!(
            picture.contains("b, c: 2, 2.5") && picture.contains("certainty penalty"),
            "{picture}"
        );
    }
}
