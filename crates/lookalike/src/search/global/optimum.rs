//! The result of a global search.

use crate::domain::scheme::{Generalization, Shape};
use crate::problem::Problem;
use crate::search::global::{Cost, space};

/// The best global recoding of a search, and what the search proved about it.
#[derive(Clone, Debug)]
pub struct Optimum {
    /// The published blocks of every attribute.
    pub generalization: Generalization,
    /// The objective that was minimized.
    pub cost: Cost,
    /// The cost of the recoding, in the unit of the objective.
    pub value: f64,
    /// A lower bound on the cost of every recoding of these schemes.
    pub bound: f64,
    /// True when no recoding of these schemes costs less.
    pub is_proven: bool,
    /// True when the search was stopped before its end.
    pub was_stopped: bool,
    /// Number of examined nodes of the search.
    pub nodes: u64,
    /// For `incognito` the level of each attribute in its hierarchy, in the problem's order;
    /// otherwise empty.
    pub levels: Vec<u32>,
    /// For `incognito` the minimal levels: all that satisfy the rules while no lower levels do.
    pub minimal: Vec<Vec<u32>>,
}

impl Optimum {
    /// Cost over bound; none when the bound is 0.
    pub fn gap(&self) -> Option<f64> {
        if self.is_proven { Some(1.0) } else { (self.bound > 0.0).then(|| self.value / self.bound) }
    }

    /// One block for each attribute: always valid, and the only answer where the combinations of
    /// values are too many to be counted.
    pub(crate) fn of_one_block(problem: &Problem, shapes: &[Shape], cost: Cost) -> Optimum {
        Optimum {
            generalization: space::generalization(problem, shapes, &space::one_block(shapes)),
            cost,
            value: f64::NAN,
            bound: 0.0,
            is_proven: false,
            was_stopped: true,
            nodes: 0,
            levels: Vec::new(),
            minimal: Vec::new(),
        }
    }
}
